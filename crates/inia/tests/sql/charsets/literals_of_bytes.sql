-- Strings of a client that says SET NAMES binary are bytes, however often the statement comes, and
-- sjis keeps the backslash of one byte.

create table t(id int primary key auto_increment, l varchar(10) character set latin1, u varchar(10), b varbinary(10));
set names binary;
insert into t(l, u, b) values ('ë', 'ë', 'ë');
insert into t(l, u, b) values ('ë', 'ë', 'ë');
insert into t(l, u, b) values ('ë', 'ë', 'ë');
insert into t(l, u, b) values ('ë', 'ë', 'ë'), ('x', 'x', 'x');
select id, hex(l), hex(u), hex(b) from t order by id;
select count(*) from t where l = 'X';
select count(*) from t where u = 'ë';
select 'a' = 'A', collation('a'), hex(concat('é', u)) from t where id = 1;
update t set l = 'é' where id = 1;
select hex(l) from t where id = 1;
set names utf8mb4;
select id, l, u from t order by id;
create table s(id int primary key auto_increment, a varchar(10) character set sjis);
set names sjis;
insert into s(a) values ('a\\b'), ('\\');
select a, hex(a), length(a) from s order by id;
select a from s where a = '\\';
set names utf8mb4;
select a from s order by id;
