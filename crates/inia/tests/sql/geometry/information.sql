-- Reference systems and units.
SELECT COUNT(*) > 5000 FROM information_schema.st_spatial_reference_systems;
SELECT * FROM information_schema.st_spatial_reference_systems WHERE srs_id IN (0, 4326, 3857, 32632, 6956) ORDER BY srs_id;
SELECT * FROM information_schema.st_units_of_measure ORDER BY unit_name;
SELECT COUNT(*) FROM information_schema.st_spatial_reference_systems WHERE definition LIKE 'GEOGCS%';
SELECT SUM(CRC32(definition)), SUM(CRC32(srs_name)) FROM information_schema.st_spatial_reference_systems;
SHOW VARIABLES LIKE 'have_geometry';
SHOW VARIABLES LIKE 'max_points_in_geometry';
