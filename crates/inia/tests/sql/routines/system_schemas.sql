-- Routines in schemas that the server computes.

create procedure information_schema.p() select 1;
create function information_schema.f() returns int deterministic return 1;
create procedure performance_schema.p() select 1;
-- differs: those of the schema `mysql` can be read and dumped, but not written
create procedure mysql.suites_p() select 1;
-- differs: those of the schema `mysql` can be read and dumped, but not written
drop procedure mysql.suites_p;
select 1;
