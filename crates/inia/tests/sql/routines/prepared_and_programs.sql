-- Prepared statements with LIMIT and variables that come out, stored programs' control flow, conditions, functions and triggers.
create table p (id int primary key, a int, s varchar(10));
insert into p values (1,1,'a'),(2,2,'b'),(3,3,'c'),(4,4,'d');
prepare s from 'select id from p order by id limit ?';
set @n = 2;
execute s using @n;
set @n = '2';
execute s using @n;
set @n = 1.5;
execute s using @n;
set @n = null;
execute s using @n;
set @n = -1;
execute s using @n;
set @n = 'x';
execute s using @n;
set @n = 0;
execute s using @n;
prepare s from 'select id from p order by id limit ?, ?';
set @a = 1, @b = 2;
execute s using @a, @b;
prepare s from 'select id from p order by id limit ? offset ?';
execute s using @a, @b;
execute s using @a;
execute s;
execute nix;
prepare s from 'select';
execute s using @a;
prepare s from 'select ? + ?, ?, concat(?, 1)';
execute s using @a, @b, @a, @b;
prepare s from 'insert into p values (?, ?, ?)';
set @i = 5, @v = 6, @t = 'e';
execute s using @i, @v, @t;
execute s using @i, @v, @t;
set @i = 6, @t = 'toolongtext';
execute s using @i, @v, @t;
prepare s from 'update p set a = a + ? where id = ? limit ?';
execute s using @a, @b, @a;
prepare s from 'delete from p where id > ? order by id desc limit ?';
execute s using @b, @a;
select * from p;
prepare s from 'select * from p where id in (?, ?) and s like ? order by ?';
set @l = '%';
execute s using @a, @b, @l, @a;
prepare s from 'select count(*) from p group by ? having count(*) > ?';
execute s using @a, @a;
prepare s from 'show tables like ?';
prepare s from 'create table pp (a int default ?)';
prepare s from 'set @x = ?';
execute s using @a;
select @x;
-- body
create procedure pr(inout x int) begin set x = x * 2; end;;
prepare s from 'call pr(?)';
execute s using @b;
select @b;
prepare s from 'call pr(5)';
prepare s from 'prepare t from "select 1"';
prepare s from 'select 1; select 2';
prepare s from '';
prepare s from @nix;
set @q = 'select 7';
prepare s from @q;
execute s;
execute immediate 'select 1';
deallocate prepare s;
deallocate prepare s;
drop prepare nix;
prepare s from 'alter table p add column z int default 1';
execute s;
execute s;
prepare s from 'select * from p where id = ?';
execute s using @a;
alter table p drop z;
execute s using @a;
drop table p;
execute s using @a;
-- body
create procedure d1() begin declare i int default 0; l1: loop set i = i + 1; if i = 3 then iterate l1; end if; if i > 5 then leave l1; end if; select i; end loop l1; end;;
call d1();
-- body
create procedure d2(n int) begin declare c int default 0; while n > 0 do set c = c + n; set n = n - 1; end while; select c; repeat set c = c - 1; until c < 3 end repeat; select c; end;;
call d2(4);
-- body
create procedure d3() begin declare v int; declare done int default 0; declare cur cursor for select 1 union select 2; declare continue handler for not found set done = 1; open cur; r: loop fetch cur into v; if done then leave r; end if; select v; end loop; close cur; end;;
call d3();
-- body
create procedure d4() begin declare cur cursor for select 1; fetch cur into @z; end;;
call d4();
-- body
create procedure d5() begin declare cur cursor for select 1, 2; open cur; open cur; end;;
call d5();
-- body
create procedure d6() begin declare a int; declare cur cursor for select 1, 2; open cur; fetch cur into a; end;;
call d6();
-- body
create procedure d7() begin declare exit handler for sqlexception begin get diagnostics condition 1 @e = mysql_errno, @m = message_text, @s = returned_sqlstate; select @e, @m, @s; end; select * from nix; select 'not reached'; end;;
call d7();
-- body
create procedure d8() begin declare continue handler for 1146 select 'caught'; select * from nix; select 'after'; end;;
call d8();
-- body
create procedure d9() begin declare my condition for sqlstate '45000'; declare exit handler for my select 'my'; signal my set message_text = 'hello', mysql_errno = 5000; end;;
call d9();
-- body
create procedure d10() begin signal sqlstate '45000' set message_text = 'boom', mysql_errno = 1234; end;;
call d10();
-- body
create procedure d11() begin signal sqlstate '01000' set message_text = 'warn'; select 1; end;;
call d11();
-- body
create procedure d12() begin declare exit handler for sqlexception begin resignal set message_text = 'again'; end; select * from nix; end;;
call d12();
create procedure d13() resignal;
call d13();
-- body
create procedure d14(out a int, inout b int, c int) begin set a = 1, b = b + 1, c = 5; end;;
set @a = 9, @b = 1;
call d14(@a, @b, 3);
select @a, @b;
call d14(1, @b, 3);
call d14(@a);
-- body
create procedure d15() begin declare x int default 'abc'; select x; end;;
call d15();
-- body
create procedure d16() begin declare x tinyint; set x = 300; select x; end;;
call d16();
-- body
create procedure d17() begin declare x, y int default 5; declare x int; end;;
-- body
create procedure d18() begin set nix = 5; end;;
-- body
create procedure d19() begin leave nix; end;;
-- body
create procedure d20() begin declare continue handler for sqlstate '00000' select 1; end;;
-- body
create procedure d21() begin select 1; declare x int; end;;
-- body
create procedure d22() begin case 5 when 1 then select 1; end case; end;;
call d22();
-- body
create procedure d23(x int) begin case when x > 1 then select 'big'; when x = 1 then select 'one'; else begin end; end case; case x when 1 then select 1; else select 2; end case; end;;
call d23(1);
call d23(0);
-- body
create procedure d24(n int) begin if n > 0 then call d24(n - 1); end if; end;;
call d24(2);
set max_sp_recursion_depth = 5;
call d24(3);
call d24(10);
set max_sp_recursion_depth = default;
-- body
create function ff1(x int) returns varchar(5) deterministic begin if x > 3 then return 'toolong'; end if; return x; end;;
-- body
create function ff2() returns int begin return 1; end;;
-- body
create function ff3() returns int deterministic begin declare x int; end;;
-- body
create function ff3() returns int deterministic begin select 1; return 1; end;;
-- body
create function ff3(x int) returns int deterministic begin if x then return 1; end if; end;;
select ff3(0);
-- body
create function ff4() returns int reads sql data begin declare c int; select count(*) into c from nix; return c; end;;
select ff4();
create function ff5() returns int deterministic return (select 1 union select 2);
select ff5();
create function ff6(x int) returns int deterministic return x;
select ff6('a'), ff6(1.6), ff6(null);
select ff6();
select ff6(1, 2);
select nixf(1);
-- body
create procedure d25() begin declare v int; select 1, 2 into v; end;;
-- body
create procedure d26() begin declare v int; select 1 union select 2 into v; end;;
call d26();
-- body
create procedure d27() begin declare v int; select 5 from dual where 0 into v; select v; end;;
call d27();
-- body
create procedure d28() begin start transaction; savepoint a; rollback to a; commit; select row_count(), last_insert_id(); end;;
call d28();
-- body
create procedure d29() begin prepare s from 'select 1'; execute s; deallocate prepare s; end;;
call d29();
-- body
create procedure d30() begin declare i int; set @@session.sql_mode = ''; set i = 'x'; select i, @@sql_mode; end;;
call d30();
select @@sql_mode = '';
create trigger tr1 before insert on nix for each row set @a = 1;
create table tt (id int auto_increment primary key, a int, b int);
create trigger tr1 before insert on tt for each row set new.b = new.a * 2;
create trigger tr2 after insert on tt for each row insert into tt values (null, 1, 1);
insert into tt (a) values (1);
drop trigger tr2;
insert into tt (a) values (1), (2);
select * from tt;
-- body
create trigger tr3 before update on tt for each row begin if new.a < 0 then signal sqlstate '45000' set message_text = 'neg'; end if; set new.b = old.b + 1; end;;
update tt set a = -1;
update tt set a = 5 where id > 2;
select * from tt;
create trigger tr4 before delete on tt for each row set new.a = 1;
create trigger tr4 after update on tt for each row set new.a = 1;
create trigger tr4 before insert on tt for each row follows tr1 set new.b = new.b + 100;
insert into tt (a) values (7);
select * from tt order by id desc limit 1;
create trigger tr1 before insert on tt for each row set @a = 1;
drop trigger nix;
drop trigger if exists nix;
call nix();
drop procedure nix;
drop procedure if exists nix;
alter procedure d1 comment 'x' sql security invoker;
alter procedure nix comment 'x';
prepare s from 'call nix()';
prepare s from 'call diff.nix(?)';
prepare s from 'call nixdb.nix(1)';
create procedure pq() select 1;
prepare s from 'call pq()';
execute s;
drop procedure pq;
execute s;
