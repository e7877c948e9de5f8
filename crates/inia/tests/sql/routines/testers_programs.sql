-- Triggers, procedures, cursors and conditions as a tester tries them.
-- body
create table t(a int primary key, b int); create;;
create table t(a int primary key, b int);
create table l(m varchar(200));
create trigger t1 before insert on t for each row set new.b=new.a*2;
create trigger t1 after insert on t for each row insert into l values('x');
create trigger if not exists t1 after insert on t for each row insert into l values('x');
create trigger t2 after insert on t for each row insert into l values(concat('ai ',new.a));
create trigger t3 after insert on t for each row precedes t2 insert into l values('first');
create trigger t4 after insert on t for each row follows nosuch insert into l values('first');
create trigger t4 after insert on t for each row follows t1 insert into l values('first');
insert into t(a) values(1),(2);
select * from l;
create trigger t5 after insert on t for each row set new.b=1;
create trigger t5 after update on t for each row set old.b=1;
create trigger t5 before insert on t for each row set @x=old.b;
create trigger t5 after delete on t for each row set @x=new.b;
create trigger t5 before update on t for each row set new.zz=1;
create trigger t5 before update on t for each row set @a=new.zz;
create trigger t5 before update on nosuch for each row set @a=1;
create trigger t5 before update on t for each row select 1;
-- body
create trigger t5 before update on t for each row begin commit; end;;
create trigger t5 before update on t for each row return 1;
create trigger t5 before update on t for each row call nosuch();
update t set b=1;
drop trigger t5;
-- body
create trigger t6 before update on t for each row begin if new.b<0 then signal sqlstate '45000' set message_text='neg', mysql_errno=1234; end if; set new.b=new.b+old.b; end;;
update t set b=10;
select * from t;
update t set b=-5 where a=2;
update ignore t set b=-5 where a=2;
show warnings;
create trigger t7 before delete on t for each row insert into t values(100,1);
delete from t;
drop trigger t7;
drop trigger nosuch;
drop trigger if exists nosuch;
select trigger_name,event_manipulation,action_order,action_statement,action_timing,action_condition,sql_mode,definer from information_schema.triggers where trigger_schema='diff' order by 1;
replace into t values(1,5);
insert into t values(1,5) on duplicate key update b=7;
select * from t;
truncate t;
insert ignore into t values(1,1),(1,2),(2,2);
select * from l;
create view v as select * from t;
create trigger tv before insert on v for each row set @a=1;
create temporary table tt(a int);
create trigger tv before insert on tt for each row set @a=1;
create trigger mysql.x before insert on t for each row set @a=1;
create trigger nosuchdb.x before insert on t for each row set @a=1;
create trigger x before insert on mysql.user for each row set @a=1;
create trigger x before insert on information_schema.tables for each row set @a=1;
create definer=nosuch@localhost trigger x before insert on t for each row set @a=1;
insert into t values(50,1);
drop trigger x;
alter table t rename to tx;
insert into tx values(99,1);
drop table tx;
-- body
create procedure p1(in a int, out b int, inout c int) begin set b=a+c; set c=c+1; end;;
set @c=5;
call p1(1,@b,@c);
select @b,@c;
call p1(1,2,3);
call p1(1);
call p1(1,@a,@b,@c);
call p1;
call nosuch();
call nosuchdb.x();
create procedure p1() select 1;
create procedure if not exists p1() select 1;
-- body
create procedure p2() begin declare a int; declare a int; end;;
-- body
create procedure p2() begin select 1; declare a int; end;;
-- body
create procedure p2() begin declare c cursor for select 1; declare a int; end;;
-- body
create procedure p2() begin declare exit handler for sqlexception select 1; declare c cursor for select 1; end;;
-- body
create procedure p2() begin declare exit handler for nosuch select 1; end;;
-- body
create procedure p2() begin declare x condition for 0; end;;
-- body
create procedure p2() begin declare x condition for '00000'; end;;
-- body
create procedure p2() begin declare x condition for sqlstate '00000'; end;;
-- body
create procedure p2() begin declare x condition for sqlstate 'abc'; end;;
-- body
create procedure p2() begin declare exit handler for sqlexception select 1; declare exit handler for sqlexception select 2; end;;
-- body
create procedure p2() begin open nosuch; end;;
-- body
create procedure p2() begin fetch nosuch into a; end;;
create procedure p2() leave x;
create procedure p2() iterate x;
-- body
create procedure p2() x: begin iterate x; end;;
-- body
create procedure p2() x: begin x: begin end; end;;
create procedure p2() x: begin end y;
create procedure p2() return 1;
-- body
create procedure p2() begin set nosuch=1; end;;
create procedure p2() use diff;
create procedure p2() load data infile 'x' into table t;
create procedure p2() lock tables t read;
create procedure p2() alter view v as select 1;
create procedure p2() create procedure x() select 1;
create function p2() returns int select 1;
create function p2() returns int begin end;
-- body
create function p2() returns int deterministic begin declare a int; set a=1; end;;
select p2();
drop function p2;
create function f1(a int) returns varchar(5) deterministic return 'abcdefgh';
create function f2(in a int) returns int deterministic return 1;
create function f2(a int, a int) returns int deterministic return 1;
create function f2(a int) returns int return 1;
-- body
create function f2(a int) returns int deterministic begin select 1; return 1; end;;
-- body
create function f2(a int) returns int deterministic begin commit; return 1; end;;
-- body
create function f2(a int) returns int deterministic begin prepare s from 'select 1'; return 1; end;;
-- body
create function f2(a int) returns int deterministic begin call p1(1,@a,@b); return @a; end;;
create function f2(a int) returns int deterministic return f2(a-1);
select f2(1);
select f2();
select f2('abc');
select nosuch(1);
select diff.nosuch(1);
create function abs(a int) returns int deterministic return 1;
create function version() returns int deterministic return 1;
show warnings;
create function diff.concat(a int) returns int deterministic return 1;
create function now() returns int deterministic return 1;
create function count(a int) returns int deterministic return 1;
drop function abs;
drop function diff.concat;
drop function nosuch;
drop function if exists nosuch;
drop procedure if exists nosuch;
alter procedure nosuch comment 'x';
alter procedure p1 comment 'x' sql security invoker reads sql data;
show create procedure p1;
show procedure code p1;
select * from information_schema.parameters where specific_schema='diff' order by 3,4;
-- body
create procedure c1() begin declare d int default 0; declare x int; declare c cursor for select a from t union select 2; declare continue handler for not found set d=1; open c; l: loop fetch c into x; if d then leave l; end if; select x; end loop; close c; end;;
create table t(a int);
insert into t values(1),(2),(3);
call c1();
-- body
create procedure c2() begin declare x int; declare c cursor for select a from t; fetch c into x; end;;
call c2();
-- body
create procedure c3() begin declare x int; declare c cursor for select a from t; open c; open c; end;;
call c3();
-- body
create procedure c4() begin declare x int; declare c cursor for select a,a from t; open c; fetch c into x; end;;
call c4();
-- body
create procedure c5() begin declare c cursor for select a from t; close c; end;;
call c5();
-- body
create procedure c6() begin declare x int; declare c cursor for select a from t where a>100; open c; fetch c into x; end;;
call c6();
create procedure s1() signal sqlstate '45000';
call s1();
create procedure s2() signal sqlstate '01000' set message_text='warn', mysql_errno=5;
call s2();
create procedure s3() signal sqlstate '02000';
call s3();
call s4();
select @a,@b,@c,@d,@e;
resignal;
signal nosuch;
signal sqlstate '45000' set message_text='abc', mysql_errno=0;
signal sqlstate '45000' set mysql_errno=70000;
signal sqlstate '45000' set message_text=null;
signal sqlstate '45000' set nosuch='x';
signal sqlstate '45000' set message_text='a', message_text='b';
signal sqlstate '4500';
signal sqlstate '00000';
get diagnostics @n=number, @r=row_count;
select @n,@r;
get diagnostics condition 5 @x=message_text;
-- body
create procedure cs() begin case 1 when 2 then select 1; end case; end;;
call cs();
-- body
create procedure r1(n int) begin if n>0 then call r1(n-1); end if; end;;
set max_sp_recursion_depth=1;
set max_sp_recursion_depth=default;
-- body
create procedure sc() begin declare a int default 1; begin declare a int default 2; select a; end; select a; end;;
call sc();
-- body
create procedure ty() begin declare a tinyint; set a=1000; end;;
call ty();
-- body
create procedure ty2() begin declare a date default 'abc'; end;;
call ty2();
-- body
create procedure ty3() begin declare a varchar(3) default 'abcd'; select a; end;;
call ty3();
-- body
create procedure dyn() begin set @s='select 1+1'; prepare q from @s; execute q; deallocate prepare q; end;;
call dyn();
create procedure lim(n int) select a from t order by a limit n;
call lim(2);
call lim(null);
-- body
create procedure si() begin declare x int; declare y int; select 1,2 into x; end;;
-- body
create procedure si() begin declare x int; select a into x from t; end;;
call si();
-- body
create procedure si2() begin declare x int default 7; select a into x from t where a>100; select x; end;;
call si2();
select a into @q from t;
select a into @q from t where a=77;
select 1,2 into @q;
select 1 into nosuchvar;
drop procedure c1;
drop procedure c1;
