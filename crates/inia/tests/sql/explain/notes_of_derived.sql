-- Note 1003 of views, derived tables, common table expressions and set operations.

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

EXPLAIN select * from v;
EXPLAIN select * from v where a = 5;
EXPLAIN select * from vg where c > 3;
EXPLAIN select * from (select a, b from t where b > 1) q where q.a > 4;
EXPLAIN select * from (select b, count(*) n from t group by b) q where q.n > 4;
EXPLAIN select a from t union select a from u;
EXPLAIN select a from t union all select a from u order by a limit 3;
EXPLAIN select * from (select a, b from t order by b limit 5) q;
EXPLAIN select q.a+1 from (select a+b as a from t) q where q.a > 5;
EXPLAIN select * from (select b from t union select a from u) q;
EXPLAIN select * from (select b from t union all select a from u) q where b > 3;
EXPLAIN select a from t union select a from u order by 1;
EXPLAIN select a from t union select a from u union all select x from e1;
EXPLAIN select 1 union select 2;
EXPLAIN values row(1,2), row(3,4);
EXPLAIN table e1;
EXPLAIN select a from t union all select a from u union select x from e1;
EXPLAIN select a from t union select a from u union select x from e1;
EXPLAIN select a from t union all select a from u union all select x from e1;
EXPLAIN select avg(b) from (select b from t limit 10) q;
