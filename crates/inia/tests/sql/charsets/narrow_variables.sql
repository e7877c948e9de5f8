-- Variables of stored programs, and parameters that are stored in columns of fewer characters.
create table t (id int primary key, l varchar(30) character set latin1, u varchar(30) character set utf8mb3, key(l));
insert into t values (1,'abc','?'),(2,'???','?');
-- body
create procedure p(v varchar(30) character set utf8mb4) begin select id from t where l = v; select id from t where l in (v, 'x'); select id from t where u=v; end;;
call p('مرح');
call p('abc');
call p('😀');
-- body
create procedure p2(v varchar(30) character set utf8mb4) begin set @q = v; prepare s from 'select id from t where l = ?'; execute s using @q; end;;
call p2('abc');
call p2('مرح');
-- body
create procedure p3() begin declare v varchar(30) character set utf8mb4 default 'مرح'; update t set id = id + 100 where l = v; delete from t where l = v; end;;
call p3();
select * from t;
-- body
create procedure p4(v varchar(30) character set latin1) begin select v, id from t where l = v; end;;
call p4('مرح');
-- body
create procedure p5(v varchar(30) character set utf8mb4) begin update t set l = v where id = 1; end;;
call p5('مرح');
prepare s from 'select id from t where u = ?';
set @e = '😀';
execute s using @e;
prepare s from 'insert into t (id,l) values (77, ?)';
execute s using @e;
set sql_mode='';
execute s using @e;
prepare s from 'insert ignore into t (id,l) values (78, ?)';
execute s using @e;
prepare s from 'insert ignore into t (id,u) values (79, ?)';
execute s using @e;
prepare s from 'update t set l = ?';
execute s using @e;
prepare s from 'update t set l = concat(?,"")';
execute s using @e;
prepare s from 'insert into t (id,l) select 80, ?';
prepare s from 'insert into t (id,l) values (81, concat(?,"x"))';
execute s using @e;
prepare s from 'insert into t (id,l) values (1, "a") on duplicate key update l = ?';
execute s using @e;
