-- Aliases of a select list are not known in derived tables and common table expressions inside it.
create table t(pk int primary key, f float, i int default 5);
insert into t values (1,0.8,1),(2,1.5,2),(3,1.5,1);
create table x(a int, b int, c int);
insert into x values (1,2,3),(1,3,4),(2,2,5);
create table y(a int, d int);
insert into y values (1,7),(2,8);
create table ct as select a, a from x;
select 'foo' as foo, (select dt.b from (select 1 as a, foo as b) dt);
select 'foo' as foo, (select dt.b from (select 1 as a, foo as b from y) dt limit 1);
select 'foo' as foo, (select dt.b from (select 1 as a, foo as b from y limit 1) dt);
select 'foo' as foo, (select foo), (select foo from y limit 1), exists (select 1 from y where foo = 'foo');
select 'foo' as foo, (select (select foo));
select 'foo' as foo, (with c as (select foo as b) select b from c);
select pk k, (select dt.b from (select pk as b) dt) from t;
select 'foo' as foo, (select b from (select 1 a) d, lateral (select foo as b) dt);
-- A constant of a merged derived table is no column of GROUP BY.
CREATE TABLE having_constants (a INT PRIMARY KEY, b INT);
INSERT INTO having_constants VALUES (1, 1), (2, 2);
SELECT 1 FROM (SELECT 'b' c1 FROM having_constants) q1 GROUP BY LEFT(q1.c1, 1) HAVING (q1.c1);
SELECT 1 FROM (SELECT 'b' c1 FROM having_constants) q1 GROUP BY q1.c1 HAVING q1.c1 = 'b';
SELECT 1 FROM (SELECT 'b' c1, a FROM having_constants) q1 GROUP BY q1.a HAVING q1.c1 = 'b';
SELECT q1.c1 FROM (SELECT 'b' c1, a FROM having_constants) q1 GROUP BY q1.a HAVING q1.c1 = 'b';
SELECT q1.a FROM (SELECT 'b' c1, a FROM having_constants) q1 GROUP BY q1.a HAVING q1.a > 1;
SELECT 1 FROM (SELECT 'b' c1 FROM having_constants LIMIT 9) q1 GROUP BY q1.c1 HAVING q1.c1 = 'b';
SELECT 1 FROM (SELECT DISTINCT 'b' c1 FROM having_constants) q1 GROUP BY q1.c1 HAVING q1.c1 = 'b';
