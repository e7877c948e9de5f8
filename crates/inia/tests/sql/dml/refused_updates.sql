-- Rows that INSERT IGNORE … ON DUPLICATE KEY UPDATE may not change stay as they are, with a warning.

create table chk(a int primary key, b int check (b < 10), c int);
insert into chk values (1,1,1),(2,2,2);
insert ignore into chk values (1,1,1) on duplicate key update b = 20;
insert ignore into chk values (1,1,1),(2,2,2),(3,3,3) on duplicate key update b = 20;
insert ignore into chk values (1,1,1),(4,40,4) on duplicate key update b = 5;
insert ignore into chk values (1,1,1) on duplicate key update b = 5;
insert ignore into chk values (1,1,1) on duplicate key update c = 7, b = 30;
insert ignore into chk select 1,1,1 on duplicate key update b = 20;
select * from chk order by a;
create table uq(a int primary key, b int unique);
insert into uq values (1,1),(2,2);
insert ignore into uq values (1,1) on duplicate key update b = 2;
insert ignore into uq values (1,1),(2,5) on duplicate key update b = b + 1;
select * from uq order by a;
create table parent(a int primary key);
insert into parent values (1);
create table child(a int primary key, p int, foreign key(p) references parent(a));
insert into child values (1,1);
insert ignore into child values (1,1) on duplicate key update p = 5;
insert ignore into child values (2,7),(1,1) on duplicate key update p = 5;
select * from child;
