create table t(pk int primary key, f float, i int default 5);
insert into t values (1,0.8,1),(2,1.5,2),(3,1.5,1);
create table x(a int, b int, c int);
insert into x values (1,2,3),(1,3,4),(2,2,5);

-- Rows of VALUES all have as many values as the first.
insert into t(pk) values (10),(11),();
insert into t values (10,1,1),();
insert into t values (),(10,1,1);
insert into t() values (1);
insert into t() values (),(1);
insert into t(pk) values ();
insert into t values ();
insert into x values (),();
insert into x() values (),();
insert into x() values (1,2,3);
insert into x values (1,2,3),(1,2);
insert into x values (1,2),(1,2,3);
insert into x(a) values (1,2);
insert into x(a,b) select 1;
insert into x values row(1,2,3),row();
insert into x values row(),row();
insert into x values row();
replace into x values (),(1);
insert ignore into x values (),(1);
insert into x set a=1 on duplicate key update a=2;
insert into x values (1,2,3),(4) on duplicate key update a=1;
prepare s from 'insert into x values (?,?,?),()';
