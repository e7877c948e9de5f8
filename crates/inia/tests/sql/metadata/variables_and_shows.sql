-- Columns of user variables, of system variables, of doubles and of SHOW statements.

set @b = 'xy', @a = 1, @d = 1.5, @f = 1e0;
select @b, @a, @d, @f, concat(@b) c, hex(@b) h, lpad(@b, 3, 'x') l, @b collate utf8mb4_bin n, max(@b) m, @none;
select @b, @a union select 'x', 1;
select @@sql_mode, @@autocommit, @@global.net_retry_count, @@character_set_results, current_role();
create table y as select @b, @d, @@sql_mode, concat(@b) c, hex(@b) h;
select * from y;
create table r(d double, f float, e double(10, 2), u double unsigned);
select * from r;
select d + 1, f + 1, -d, ifnull(d, 1), coalesce(d, f), (select d from r), d from r;
select max(d), sum(d), avg(f), max(f) from r;
select d from r union select f from r;
show create table r;
create view w as select d from r;
show create view w;
show create database diff;
create procedure p() select 1;
show create procedure p;
create trigger t before insert on r for each row set @x = 1;
create event e on schedule every 1 day do select 1;
show create event e;
drop event e;
xa recover;
checksum table r;
show replica status;
show master status;
select statement_digest_text('select 1');
