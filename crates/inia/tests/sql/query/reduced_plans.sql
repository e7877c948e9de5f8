-- Conditions that are checked earlier, and what is left out of plans: the same rows as written.

-- Conditions into derived tables.
create table c (id int primary key, name varchar(10) collate utf8mb4_0900_ai_ci, key (name));
create table o (id int primary key, c int, x int, d date, s varchar(10) collate utf8mb4_0900_ai_ci, key (c));
insert into c values (1, 'a'), (2, 'A'), (3, 'b'), (4, null);
insert into o values (1, 1, 5, '2020-01-01', 'a'), (2, 1, 7, '2020-02-01', 'A'), (3, 2, 1, '2021-01-01', 'b'), (4, 3, null, null, null), (5, null, 3, '2020-01-01', 'b');

-- Below GROUP BY: conditions on what rows are grouped by.
select * from (select c, sum(x) s from o group by c) t where c = 1;
select * from (select c, sum(x) s from o group by c) t where c > 1 and s is not null order by c;
select * from (select year(d) y, count(*) n from o group by year(d)) t where y = 2020;

-- A constant that an equality of the join carries over, to either side.
select c.name, t.s from c join (select c, sum(x) s from o group by c) t on t.c = c.id where c.id = 2;
select c.name, t.s from c left join (select c, sum(x) s from o group by c) t on t.c = c.id where c.id = 4;
select c.name, t.s from c left join (select c, sum(x) s from o group by c) t on t.c = c.id and t.c > 1 order by c.id;

-- A condition on the left join's right side rejects NULL: an inner join.
select c.id, t.s from c left join (select c, sum(x) s from o group by c) t on t.c = c.id where t.c = 1;

-- What differs among values that a grouping holds equal is checked behind it.
select * from (select s, count(*) n from o group by s) t where s = 'A';
select * from (select distinct s, c from o) t where s = 'a' and c = 1;

-- DISTINCT, UNION and the partitions of windows.
select * from (select c, x from o where id < 4 union select id, 0 from c) t where c = 1 order by x;
select * from (select c, x from o union all select id, x from o) t where c = 2 order by x;
select * from (select c, x from o union all select id, 1.5 from o) t where x > 4 order by c, x;
select * from (select c, x, row_number() over (partition by c order by x) n from o) t where c = 1 and n = 1;
select * from (select c, x, row_number() over (order by x) n from o) t where c = 1 order by x;

-- Derived tables in derived tables, views, and common table expressions that are read once.
select * from (select c, max(s) m from (select c, d, sum(x) s from o group by c, d) i group by c) t where c = 1;
create view v as select c, count(*) n from o group by c;
select * from v where c = 1;
select c.id, v.n from c, v where v.c = c.id and c.id in (1, 3) and c.id < 3;
with w as (select c, count(*) n from o group by c) select * from w where c = 1;
with w as (select c, count(*) n from o group by c) select * from w where c = 1 union all select * from w where c = 2;

-- What stays: conditions behind a LIMIT, of functions that vary, of several tables, of aggregates.
select * from (select c, sum(x) s from o group by c order by c limit 2) t where c = 1;
select count(*) from (select c, rand() r from o group by c) t where c = 1;
select t.c from c join (select c, sum(x) s from o group by c) t where t.s > c.id + 5 order by t.c;
select c from (select c, sum(x) s from o group by c) t where s > 3 order by c;

drop view v;
drop table c, o;

-- Columns that nobody reads.
create table o (id int primary key, c int, x int, d decimal(8, 2), key (c, x));
insert into o values (1, 1, 5, 1.5), (2, 1, 7, 2), (3, 2, 1, null), (4, 3, null, 9);

-- The index has all that is left.
select c from (select c, sum(d) s, max(x) m from o group by c) t order by c;
select m from (select c, sum(d) s, max(x) m from o group by c) t order by m;
select count(*) from (select sum(d) s, max(x) m from o) t;
select c from (select c, d from o union all select x, d from o) t order by c;

-- Distinct rows differ in any column, and a LIMIT goes by what it sorts.
select c from (select distinct c, d from o) t order by c;
select c from (select c, d from o union select x, d from o) t order by c;
select c from (select c, count(*) n from o group by c order by n limit 2) t order by c;

-- As if they were not written.
select c from (select c from o group by c) t order by c;

drop table o;

-- Conditions of HAVING.
create table o (id int primary key, c int, x int, s varchar(10) collate utf8mb4_0900_ai_ci, key (c));
insert into o values (1, 1, 5, 'a'), (2, 1, 7, 'A'), (3, 2, 1, 'b'), (4, 3, null, null);
select c, sum(x) from o group by c having c = 1 and sum(x) > 3;
select c, count(*) n from o group by c having n > 1 or c = 2 order by c;
select id, x from o having x > 4 order by id;
select count(*), max(c) from o having count(*) > 10;
select s, count(*) from o group by s having s = 'A';

-- A condition that differs within a group, and one on the totals of ROLLUP.
select s, count(*) from o group by s having binary s = 'A';
select c, count(*) from o group by c with rollup having c = 1;

drop table o;

-- What is said without need.
create table c (id int primary key, name varchar(10) collate utf8mb4_0900_ai_ci, code int, unique (code));
create table o (id int primary key, c int, x int, s varchar(10) collate utf8mb4_0900_ai_ci);
insert into c values (1, 'a', 7), (2, 'A', null), (3, 'b', 8);
insert into o values (1, 1, 5, 'a'), (2, 1, 5, 'A'), (3, 2, 1, 'b'), (4, null, 1, null), (5, 9, 3, 'b');

-- DISTINCT where the select list has a key of each table, or equalities lead to one.
select distinct id, x from o order by id;
select distinct o.id, c.name from o join c on c.id = o.c order by 1;
select distinct o.id, c.name from o left join c on c.id = o.c order by 1;
select distinct c.code from c join o on o.id = c.code order by 1;
select distinct x, count(*) from o group by x order by x;
select distinct c from o where id = 3;

-- It stays where rows may be the same.
select distinct o.id from o join c on c.id > o.c order by 1;
create table h (k int not null);
insert into h values (1), (2), (1);
select distinct k from h order by k;
select distinct k from (select x k from o where x > 1 union all select x from o) t order by k;
drop table h;
select distinct code from c order by 1;
select distinct count(*) from o group by x;
select distinct o.c from o left join c on c.id = o.c order by 1;

-- Keys of GROUP BY that others determine.
select o.id, o.x, c.name, sum(o.x) from o join c on c.id = o.c group by o.id, o.x, c.name order by o.id;
select x, s, count(*) from o group by x, s order by x, s;
select c, x, count(*) from o where x = 5 group by c, x;
select x, count(*) from o where x = 77 group by x;

-- Keys of ORDER BY that are there twice, or that those before them determine.
select id, x from o where x = 5 order by x, id, s, id;
select s from o order by s, s desc, x;
select 5 five, x from o order by five, x;
select x from o where id = 3 order by x;

-- Left joins with a unique key of which nothing is read.
select o.id from o left join c on c.id = o.c order by o.id;
select count(*) from o left join c on c.id = o.c and c.name = 'a';
select o.id from o left join c on c.id = o.c left join c d on d.code = o.x order by o.id;
select o.id from o left join c on c.id = o.c left join c d on d.id = c.code order by o.id;

-- They stay where something is read, or where rows may match several times.
select o.id from o left join c on c.id = o.c where c.id is null order by o.id;
select o.id from o left join c on c.id = o.c join c d on d.id = c.id order by o.id;
select o.id from o left join c on c.name = o.s order by o.id;

-- ORDER BY of a derived table without LIMIT, where the SELECT around it joins, groups or sorts.
select max(x) from (select x from o group by x order by x) t;
select t.x, c.id from (select x, count(*) n from o group by x order by n) t join c on c.id = t.n order by 1, 2;
select x from (select x from o group by x order by x desc limit 1) t order by x;
select x from (select x from o union select id from c order by 1) t order by x desc;

drop table c, o;
