-- Error 1442: functions and triggers may not change a table that the statement around them uses, in
-- whichever of its expressions.
create table t (a int);
insert into t values (1),(2);
create table u (a int);
-- body
create function f() returns int begin insert into t values (10); return 1; end;;
-- body
create function g() returns int begin declare n int; select count(*) into n from t; return n; end;;
-- body
create function h() returns int begin update u set a=a+1; return 1; end;;
do f();
do f(), (select count(*) from t);
do (select count(*) from t), f();
set @x = f();
set @x = f() + (select count(*) from t);
set @x = (select count(*) from t where a = f());
set @x = f(), @y = (select count(*) from t);
set @y = (select count(*) from t), @x = f();
select f();
select f() from t;
select f(), (select count(*) from t);
select f() from u;
select f() where exists (select 1 from t);
select * from u where a = f();
select f() from t as x;
select f(), g();
select g(), f();
do f(), g();
set @x = f() + g();
select h() from t;
select h() from u;
insert into u select f() from t;
insert into u select f();
insert into u values (f());
insert into t values (f());
insert into u values (h());
update t set a=f();
update u set a=f();
update u set a=h();
delete from t where a=f();
delete from u where a=f();
delete from u where a=h();
update t join u set u.a=f();
select h() union select a from u;
select f() union select 1;
with c as (select a from t) select f() from c;
create view v as select a from t;
select f() from v;
select f(), (select count(*) from v);
create view vf as select f() x;
select * from vf;
select * from vf, t;
select * from vf where exists (select 1 from t);
-- body
create procedure p() begin declare x int; set x = f() + (select count(*) from t); end;;
call p();
-- body
create procedure p2() begin if f() = 1 and exists (select 1 from t) then select 1; end if; end;;
call p2();
-- body
create procedure p3() begin declare c cursor for select f() from t; open c; end;;
call p3();
-- body
create procedure p4(x int) select x;;
call p4((select count(*) from t) + f());
-- body
create trigger tr before insert on u for each row set new.a = f();;
insert into u values (1);
insert into u select a from t;
insert into u values ((select max(a) from t));
-- body
create trigger tr2 after insert on u for each row insert into t values (5);;
insert into u values (1);
insert into u select a from t;
insert into u values ((select max(a) from t));
insert into u select 1 from v;
replace into u values (1);
drop trigger tr;
insert into u values (1);
insert into u select a from t;
insert into u values (1), ((select count(*) from t));
insert into t select a from u;
insert into u values (g());
-- body
create trigger tr3 after update on u for each row delete from t;;
update u set a=1;
update u set a=(select count(*) from t);
update u, t set u.a=1;
update u join t set t.a=1;
update u set a=2 where a in (select a from t);
-- body
create trigger tr4 after delete on u for each row update t set a=1;;
delete from u where a in (select a from t);
delete u from u, t;
delete t from u, t;
delete from u;
select count(*) from t;
select * from t;
-- body
create trigger trs before insert on t for each row insert into t values (1);;
insert into t values (7);
drop trigger trs;
-- body
create trigger trs before insert on t for each row set new.a = (select count(*) from t);;
insert into t values (7);
insert into t select 1;
drop trigger trs;
-- body
create trigger trs before update on t for each row set new.a = f();;
update t set a = 3;
drop trigger trs;
-- body
create trigger trs before update on t for each row set new.a = g();;
update t set a = 3;
drop trigger trs;
-- body
create function k() returns int begin call pk(); return 1; end;;
create procedure pk() insert into t values (4);
do k(), (select count(*) from t);
select k() from t;
create temporary table tt (a int);
-- body
create function m() returns int begin insert into tt values (1); return 1; end;;
do m();
select count(*) from tt;
prepare s from 'select f() from t';
execute s;
prepare s from 'do f(), (select count(*) from t)';
execute s;
select f() into @z from t limit 1;
select f() into @z;
create table ct as select f() x;
create table ct as select f() x from t;
drop table t, u;
drop view v;
drop function f;
drop procedure p;
create table t (a int);
insert into t values (1),(2);
create table u (a int);
-- body
create function f() returns int begin insert into t values (10); return 1; end;;
-- body
create procedure p(x int, y int) select x, y;;
-- body
create procedure po(x int, out y int) set y = x;;
create view v as select a from t;
select 1;
call p(f(), (select count(*) from t));
call p((select count(*) from v), f());
select 1;
select 1;
call po(f(), 5);
call po((select count(*) from t), @z);
select @z > 0;
set @a = (select count(*) from v), @b = f();
set @a = (select count(*) from u), @b = f();
set @a = (select count(*) from u), @b = f(), @@session.sort_buffer_size = 100000;
do (select count(*) from u), f();
do f(), f();
do (with c as (select a from t) select count(*) from c), f();
select f() into @z;
select f(), a into @z, @y from t limit 1;
select f() into @z from u;
select f() into @z from v limit 1;
insert into u values (1);
select f() into @z from u;
-- body
create procedure q() begin declare x int; set x = f(), @y = (select count(*) from t); select f() into x; select f() into x from t limit 1; end;;
call q();
-- body
create procedure q2() begin call p(f(), (select count(*) from t)); end;;
call q2();
