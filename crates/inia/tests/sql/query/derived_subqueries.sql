-- What becomes of subqueries: the same rows whether they are joined or run for each row.

-- Scalar subqueries with aggregates, whose rows are groups of another table.
create table p (id int, k int, x int, name varchar(10) collate utf8mb4_0900_ai_ci);
create table l (id int primary key, k int, q int, d decimal(6, 2), name varchar(10) collate utf8mb4_0900_ai_ci, big bigint);
create table keyed (id int primary key, k int, q int, key (k));
insert into p values (1, 1, 10, 'a'), (2, 1, 1, 'A'), (3, 2, 5, 'b'), (4, null, 7, null), (5, 9, 0, 'c');
insert into l values (1, 1, 4, 1.5, 'a', 1), (2, 1, 8, 2.5, 'A', 2), (3, 2, null, null, 'B', 3), (4, null, 3, 1, null, null), (5, 2, 6, 0.25, 'á', 1);
insert into keyed select id, k, q from l;

-- A comparison with an expression over the aggregate rejects rows without a group: an inner join.
select id from p where x > (select 0.5 * avg(q) from l where l.k = p.k) order by id;

-- Without a group COUNT is 0, the others are NULL, and expressions say what becomes of that.
select id, (select count(*) from l where l.k = p.k) c, (select sum(q) from l where l.k = p.k) s, (select ifnull(max(q), -1) + count(q) from l where l.k = p.k) m from p order by id;
select id, (select bit_and(q) from l where l.k = p.k) b, (select group_concat(q order by q) from l where l.k = p.k) g from p order by id;
select id from p where (select count(*) from l where l.k = p.k) = 0 order by id;

-- Outer columns in the expression over the aggregates, and conditions on the subquery alone.
select id, (select sum(q) * p.x + count(*) from l where l.k = p.k and l.d < 2) s from p order by id;

-- Groups compare as the equality does: by the collation, and by several columns.
select id, (select count(*) from l where l.name = p.name) c from p order by id;
select id, (select sum(l.q) from l where l.k = p.k and l.name = p.name) c from p order by id;

-- An expression over the subquery's columns is a key; so is one over those of the row around.
select id, (select sum(q) from l where l.k + 1 = p.k * 2) s from p order by id;

-- HAVING, GROUP BY and aggregates of the SELECT around read the value of their rows.
select k, (select count(*) from l where l.k = p.k) c, sum(x) from p group by k having sum(x) > (select count(*) from l where l.k = p.k) order by k;
select sum((select count(*) from l where l.k = p.k)) s from p;

-- Joins inside, and a subquery in a subquery.
select id from p where x < (select sum(l.q) from l join keyed on keyed.id = l.id where l.k = p.k) order by id;
select id from p where k in (select k from l where q < (select avg(q) + 3 from keyed where keyed.k = l.k)) order by id;

-- A part of a larger condition.
select id from p where x = 0 or x > (select min(q) from l where l.k = p.k) order by id;

-- What stays: an equality that compares other values than groups hold, other comparisons, and

-- more than one row.
select id, (select count(*) from l where l.k < p.k) c from p order by id;
select id, (select q from l where l.k = p.k order by q limit 1) c from p order by id;
select id, (select count(*) from l where l.k = p.k having count(*) > 1) c from p order by id;
select id, (select sum(l.q + p.x) from l where l.k = p.k) c from p order by id;

-- Unless it is told, the cheaper plan is taken: few rows with an index look up.
select id from p where x > (select avg(q) from keyed where keyed.k = p.k) and id = 1;
insert into p select 5 + a.id * 5 + b.id, a.id, b.id, 'z' from p a, p b;
insert into l select 5 + a.id * 5 + b.id, a.id, b.id, 1, 'z', 1 from p a, l b where a.id < 100;
select count(*) from p where x > (select avg(q) from l where l.k = p.k);
select id, (select count(*) from l where l.k = p.k) c from p order by id limit 2;

drop table p, l, keyed;

-- Conditions about groups of the row around.
create table o (id int, k int, x int);
create table l (id int primary key, k int, s int, q int);
insert into o values (1, 1, 4), (2, 1, 8), (3, 2, null), (4, null, 3), (5, 9, 0);
insert into l values (1, 1, 1, 4), (2, 1, 1, 8), (3, 1, 2, 3), (4, 2, 1, null), (5, 2, 2, 5), (6, null, 1, 3), (7, null, 1, 3);

-- EXISTS over groups of the row around: its equality is one more key.
select id from o where exists (select s from l where l.k = o.k group by s having count(*) > 1) order by id;
select id from o where not exists (select s from l where l.k = o.k group by s having count(*) > 1) order by id;

-- IN over aggregates of such groups; NOT IN where they may be NULL.
select id from o where x in (select max(q) from l where l.k = o.k group by s) order by id;
select id from o where x not in (select max(q) from l where l.k = o.k group by s) order by id;
select id from o where 2 in (select count(*) from l where l.k = o.k and l.id < 7 group by s) order by id;

-- What stays: other comparisons with the row around, and one group for all rows.
select id from o where exists (select s from l where l.k < o.k group by s having count(*) > 1) order by id;
select id from o where x in (select max(q) from l where l.k = o.k) order by id;

-- EXISTS with a LIMIT that lets a row through asks for a row; ORDER BY says nothing there.
select id from o where exists (select 1 from l where l.k = o.k order by l.q limit 1) order by id;
select id from o where exists (select 1 from l where l.k = o.k limit 0) order by id;
select id from o where exists (select 1 from l where l.k = o.k limit 1, 1) order by id;

drop table o, l;

-- IN over rows that are the same for all rows around.
create table o (id int primary key, c int, name varchar(10) collate utf8mb4_0900_ai_ci, key (name));
create table l (id int primary key, o int, q int, name varchar(10) collate utf8mb4_0900_ai_ci);
insert into o select n, n % 7, concat('n', n % 50) from (with recursive r as (select 1 n union all select n + 1 from r where n < 500) select n from r) t;
insert into l select id, id div 4, id % 10, concat('N', id % 3) from o;
insert into l values (1000, null, 100, null), (1001, 3, 100, null), (1002, 5, 90, 'x');

-- Few groups find their rows by the key.
select id, c from o where id in (select o from l group by o having sum(q) > 50) order by id;
select id from o where id in (select o from l where id > 1000) order by id;

-- They are distinct as the comparison holds them different: two values of a column without case.
select count(*) from o where name in (select name from l where id < 4);

-- The operands of UNION are distinct; those of UNION ALL are looked up for each row.
select id from o where id in (select o from l where id > 1000 union select q from l where id = 9) order by id;
select id from o where id in (select o from l where id > 1000 union all select q from l where id = 9) order by id;

-- Rows of several columns; and an order that says nothing.
select id from o where (id, c) in (select o, max(q) from l where id < 20 group by o) order by id;
select id from o where id in (select o from l where id > 1000 order by q) order by id;

-- A comparison of other values than the subquery's own stays a condition.

-- Many rows are compared as they come.
select count(*) from o where c in (select q from l);

drop table o, l;

-- Semi joins with unique keys.
create table orders (id int primary key, day int, code varchar(5), other int, unique (code), key (day));
create table parts (a int, b int, c int, primary key (a, b));
create table items (id int primary key, order_id int, a int, b int, code varchar(5), key (order_id));
insert into orders values (1, 3, 'x', 1), (2, 3, null, 1), (3, 4, 'z', null);
insert into parts values (1, 1, 0), (1, 2, 0), (2, 2, 5);
insert into items values (1, 1, 1, 1, 'x'), (2, 1, 1, 2, null), (3, 2, 2, 1, 'Z'), (4, 3, 2, 2, 'y'), (5, null, null, 1, null), (6, 1, 1, 1, null);

-- One order matches at most: the few orders of a day come first, or the items.
select id from items l where exists (select 1 from orders o where o.id = l.order_id and o.day = 4) order by id;
select id from items l where order_id in (select id from orders where other > 0) order by id;
select id from items l where code in (select code from orders) order by id;

-- All columns of the key are needed.
select id from items l where exists (select 1 from parts p where p.a = l.a and p.b = l.b) order by id;
select id from items l where exists (select 1 from parts p where p.a = l.a) order by id;
select id from items l where exists (select 1 from parts p where p.a = l.a and p.b = 2) order by id;

-- A comparison of other values than the key tells apart: several rows may match.
select id from items l where not exists (select 1 from orders o where o.id = l.order_id) order by id;

drop table orders, parts, items;
