-- JSON documents as conditions and numbers.
create table j(d json, k json, s varchar(20));
insert into j values('{"a":1}','[1]','x'),('"abc"','1e100','{}'),('[1]','true','"q"');
select d=1, d>0 from j;
select * from j where d;
select * from j where not d;
select * from j where d->'$.a';
select cast('[1]' as json) and 1;
select * from j x join j y on x.d;
select count(*) from j having json_arrayagg(d);
set @j=cast('[1]' as json);
select d is true, d is false from j;
