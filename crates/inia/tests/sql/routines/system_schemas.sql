-- Routines in schemas that the server computes.

create procedure information_schema.p() select 1;
create function information_schema.f() returns int deterministic return 1;
create procedure performance_schema.p() select 1;
create procedure mysql.suites_p() select 1;
drop procedure mysql.suites_p;
select 1;
