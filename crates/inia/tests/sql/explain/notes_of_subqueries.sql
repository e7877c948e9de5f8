-- Note 1003 of subqueries: semi and anti joins, and those that stay.

CREATE table t (a int primary key, b int, c varchar(20), d date, e decimal(10,2), key(b)) ;
CREATE table u (id int primary key, a int, n varchar(10) not null, key(a));
CREATE table e0 (x int);
CREATE table e1 (x int); insert into e1 values (7);
INSERT into t with recursive q(i) as (select 1 union all select i+1 from q where i<200) select i, i%20, concat('n',i), '2020-01-01' + interval i day, i/3 from q;
INSERT into u with recursive q(i) as (select 1 union all select i+1 from q where i<300) select i, i%50, concat('n',i) from q;
CREATE view v as select a, b+1 as b1 from t where b > 3;
CREATE view vg as select b, count(*) as c from t group by b;
ANALYZE table t,u,e0,e1;

-- rows: not compared

EXPLAIN select * from t where a not in (select a from u);
EXPLAIN select * from t where a = (select max(id) from u where u.a = t.a);
EXPLAIN select (select count(*) from u where u.a = t.a) from t;
EXPLAIN with recursive q(i) as (select 1 union all select i+1 from q where i<200) select * from q;
EXPLAIN select (select 1);
EXPLAIN select (select 1), (select a from t where a=3), (select b from t limit 1);
EXPLAIN select * from t where b in (select a from u group by a having count(*) > 3);
EXPLAIN select * from t where b in (select max(a) from u);
EXPLAIN select * from t where b in (select a from u union select x from e1);
EXPLAIN select * from t where b in (select 1);
EXPLAIN select * from t where b > any (select a from u);
EXPLAIN select * from t where b > all (select a from u);
EXPLAIN select * from t where b <> all (select a from u);
EXPLAIN select * from t where exists (select 1 from u where u.id = t.b and u.n = 'x');
EXPLAIN select * from t where exists (select 1 from u where u.id > t.b);
EXPLAIN select * from t where not exists (select 1 from u where u.id = t.b and u.n = 'x');
EXPLAIN select * from t where a > 3 or b in (select a from u where id > 5);
EXPLAIN select * from t where a > 3 or exists (select 1 from u where u.a = t.b);
EXPLAIN select *, b in (select a from u) from t;
EXPLAIN select *, exists (select 1 from u where u.a = t.b) from t;
EXPLAIN select * from t where b > (select avg(a) from u);
EXPLAIN select * from t where b > (select avg(a) from u where u.id = t.a);
EXPLAIN select * from t where b = (select a from u where id = 7);
EXPLAIN select * from t where (a, b) = (select id, a from u where id = 3);
EXPLAIN select b, (select max(id) from u where u.a = t.b) m from t having m > 3;
EXPLAIN select b, count(*) from t group by b having count(*) > (select count(*) from e1);
EXPLAIN select * from t order by (select max(id) from u where u.a = t.b);
EXPLAIN select q.* from t, lateral (select max(id) m from u where u.a = t.b) q;
EXPLAIN with q as (select b, count(*) c from t group by b) select * from q;
EXPLAIN with q as (select b, count(*) c from t group by b) select * from q x join q y on x.b = y.b;
EXPLAIN with q(m, n) as (select b, count(*) c from t group by b) select * from q where n > 3;
EXPLAIN with recursive q(i) as (select 1 union all select i+1 from q where i<200) select * from q join t on t.a = q.i;
EXPLAIN (select a from t order by b limit 3) union all (select a from u limit 2);
EXPLAIN (select a from t) union (select a from u) limit 4;
EXPLAIN (select a from t) union all (select a from u order by a limit 3);
EXPLAIN select a from t where b = 3 and a in (select id from u where n = 'x');
EXPLAIN select t.a, (select max(u.id) from u where u.a = t.a) from t where t.b = 3 order by 2;
EXPLAIN select * from t where a not in (select id from u where id > 5);
EXPLAIN select u.n from u where id in (select a from t where b = 3);
