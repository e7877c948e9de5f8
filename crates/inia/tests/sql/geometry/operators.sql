-- Buffers, hulls, simpler lines, distances and places along lines.
select st_astext(st_buffer(point(0,0),1));
select st_astext(st_buffer(point(0,0),1,st_buffer_strategy('point_square')));
select st_astext(st_buffer(point(0,0),1,st_buffer_strategy('point_circle',8)));
-- differs: buffers of lines and polygons, and simpler polygons, have other points
select st_astext(st_buffer(linestring(point(0,0),point(10,0)),1,st_buffer_strategy('end_flat')));
-- differs: buffers of lines and polygons, and simpler polygons, have other points
select st_astext(st_buffer(linestring(point(0,0),point(10,0)),1,st_buffer_strategy('end_round',8)));
-- differs: buffers of lines and polygons, and simpler polygons, have other points
select st_astext(st_buffer(st_geomfromtext('POLYGON((0 0,10 0,10 10,0 10,0 0))'),1,st_buffer_strategy('join_miter',10)));
-- differs: buffers of lines and polygons, and simpler polygons, have other points
select st_astext(st_buffer(st_geomfromtext('POLYGON((0 0,10 0,10 10,0 10,0 0))'),-1));
-- differs: buffers of lines and polygons, and simpler polygons, have other points
select st_astext(st_buffer(st_geomfromtext('POLYGON((0 0,10 0,10 10,0 10,0 0))'),1,st_buffer_strategy('join_round',8)));
-- differs: buffers of lines and polygons, and simpler polygons, have other points
select st_astext(st_buffer(st_geomfromtext('LINESTRING(0 0,10 0,10 10)'),1,st_buffer_strategy('join_miter',10),st_buffer_strategy('end_flat')));
select st_astext(st_buffer(point(0,0),-1));
select st_astext(st_buffer(point(1,1),0));
select hex(st_buffer_strategy('point_square')), hex(st_buffer_strategy('end_round',8)),hex(st_buffer_strategy('end_flat')),hex(st_buffer_strategy('join_round',8)),hex(st_buffer_strategy('join_miter',8)),hex(st_buffer_strategy('point_circle',8));
select hex(st_buffer_strategy('foo',8));
select hex(st_buffer_strategy('end_round'));
select hex(st_buffer_strategy('end_flat',1));
select hex(st_buffer_strategy('point_circle',-1));
select st_astext(st_convexhull(st_geomfromtext('MULTIPOINT(0 0,1 0,1 1,0 1,0.5 0.5)'))), st_astext(st_convexhull(point(1,1))), st_astext(st_convexhull(st_geomfromtext('LINESTRING(0 0,1 1,2 2)'))), st_astext(st_convexhull(geometrycollection()));
select st_astext(st_simplify(st_geomfromtext('LINESTRING(0 0,0 1,1 1,1 2,2 2,2 3,3 3)'),0.5)), st_astext(st_simplify(st_geomfromtext('LINESTRING(0 0,0 1,1 1,1 2,2 2,2 3,3 3)'),1));
select st_simplify(point(1,1),0);
select st_simplify(point(1,1),-1);
-- differs: buffers of lines and polygons, and simpler polygons, have other points
select st_astext(st_simplify(st_geomfromtext('POLYGON((0 0,9 0,9 1,9 9,0 9,0 0))'),1)), st_astext(st_simplify(st_geomfromtext('POLYGON((0 0,1 0,1 1,0 1,0 0))'),10));
select st_astext(st_validate(st_geomfromtext('POLYGON((0 0,0 1,1 1,1 0,0 0))'))), st_astext(st_validate(st_geomfromtext('POLYGON((0 0,2 2,2 0,0 2,0 0))'))), st_astext(st_validate(st_geomfromtext('POLYGON((0 0,1 0,1 1,0 1,0 0))')));
select st_astext(st_makeenvelope(point(0,0),point(1,1))),st_astext(st_makeenvelope(point(1,1),point(0,0))),st_astext(st_makeenvelope(point(0,0),point(0,1))),st_astext(st_makeenvelope(point(0,0),point(0,0)));
select st_makeenvelope(point(0,0),linestring(point(0,0),point(1,1)));
select st_astext(st_swapxy(st_geomfromtext('LINESTRING(0 1,2 3)')));
select st_distance_sphere(point(0,0),point(1,1),-1);
select st_distance_sphere(point(0,0),linestring(point(1,1),point(2,2)));
select st_distance_sphere(point(200,0),point(1,1));
select st_distance(point(0,0),linestring(point(1,0),point(0,1))), st_distance(st_geomfromtext('POLYGON((0 0,9 0,9 9,0 9,0 0))'),point(5,5)), st_distance(geometrycollection(),point(1,1));
select st_hausdorffdistance(st_geomfromtext('LINESTRING(0 0,100 0,10 100,10 100)'),st_geomfromtext('LINESTRING(0 100,0 10,80 10)')), st_frechetdistance(st_geomfromtext('LINESTRING(0 0,0 5,5 5)'),st_geomfromtext('LINESTRING(0 1,0 6,3 3,5 6)'));
select st_hausdorffdistance(point(1,1),st_geomfromtext('LINESTRING(0 100,0 10,80 10)'));
select st_frechetdistance(point(1,1),st_geomfromtext('LINESTRING(0 100,0 10,80 10)'));
select st_hausdorffdistance(point(1,1),st_geomfromtext('MULTIPOINT(0 100,0 10,80 10)')), st_hausdorffdistance(st_geomfromtext('LINESTRING(0 0,1 1)'),st_geomfromtext('MULTILINESTRING((0 0,5 5),(7 7,1 1))'));
select st_astext(st_lineinterpolatepoint(st_geomfromtext('LINESTRING(0 0,0 5,5 5)'),.75)), st_astext(st_lineinterpolatepoints(st_geomfromtext('LINESTRING(0 0,0 5,5 5)'),.25)), st_astext(st_pointatdistance(st_geomfromtext('LINESTRING(0 0,0 5,5 5)'),6));
select st_lineinterpolatepoint(st_geomfromtext('LINESTRING(0 0,0 5,5 5)'),1.5);
select st_pointatdistance(st_geomfromtext('LINESTRING(0 0,0 5,5 5)'),60);
select st_lineinterpolatepoint(point(1,1),.5);
select st_astext(st_collect(st_geomfromtext('POINT(1 1)'))), st_astext(st_collect(distinct point(1,1))), st_collect(null);
SELECT st_astext(st_lineinterpolatepoints(st_geomfromtext('LINESTRING(0 0,0 10)'),1)), st_astext(st_lineinterpolatepoints(st_geomfromtext('LINESTRING(0 0,0 10)'),.6));
select st_astext(st_lineinterpolatepoint(st_geomfromtext('LINESTRING(0 0,0 0)'),.5)), st_astext(st_lineinterpolatepoints(st_geomfromtext('LINESTRING(0 0,0 0)'),.5));
select hex(st_buffer_strategy('point_circle', 65537));
