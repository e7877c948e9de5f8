-- Note 1003 of statements with optimizer hints.

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

EXPLAIN select /*+ no_index(t b) */ a from t where b = 3;
EXPLAIN select /*+ index(t b) bnl(t) */ a from t where b = 3;
EXPLAIN select /*+ bnl(t, u) hash_join(t) */ t.a from t join u using (a);
EXPLAIN select /*+ join_order(t, u) */ t.a from t join u using (a);
EXPLAIN select /*+ join_fixed_order() */ t.a from t join u using (a);
EXPLAIN select /*+ qb_name(qq) join_prefix(t@qq) bnl() */ t.a from t join u using (a);
EXPLAIN select /*+ mrr(t b) no_icp(t b) no_range_optimization(t b, primary) */ a from t where b = 3;
EXPLAIN select /*+ no_merge(q) */ * from (select a from t) q;
EXPLAIN select /*+ no_merge() */ * from (select a from t) q;
EXPLAIN select /*+ index(t) index_merge(t b) */ a from t where b = 3;
EXPLAIN select /*+ index(t b, primary) order_index(t b) */ a from t where b = 3;
EXPLAIN update /*+ no_index(t b) */ t set b = 4 where b = 3;
EXPLAIN delete /*+ bnl(t) */ t from t join u using (a);
