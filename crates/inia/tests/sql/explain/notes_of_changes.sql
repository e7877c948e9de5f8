-- Note 1003 of statements that change rows.

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

EXPLAIN update t set b = 3 where a = 4;
EXPLAIN update t set b = b + 1 where b > 4;
EXPLAIN update t set b = b + 1, c = 'x' where b > 4 order by a limit 3;
EXPLAIN update t set b = 4;
EXPLAIN update t x join u y on x.a = y.a set x.b = y.id where y.id > 3;
EXPLAIN update t, u set t.b = 1, u.n = 'x' where t.a = u.id;
EXPLAIN update t set b = default;
EXPLAIN delete from t;
EXPLAIN delete from t where a = 3;
EXPLAIN delete from t where b > 3 order by a limit 2;
EXPLAIN delete t from t join u on t.a = u.id where u.a > 3;
EXPLAIN delete from x, y using t x join u y on x.a = y.a;
EXPLAIN insert into u values (1000, 2, 'x');
EXPLAIN insert into u (id, n) values (1000, 'x'), (1001, 'y');
EXPLAIN insert into u set id = 5, n = 'z';
EXPLAIN insert into u select a, b, c from t where b > 3;
EXPLAIN insert into u (id, n) select a, c from t;
EXPLAIN insert into u values (1000, 2, 'x') as new on duplicate key update a = new.a + 1;
EXPLAIN insert into u select a, b, c from t on duplicate key update n = 'q';
EXPLAIN insert ignore into u values (1, 2, 'x');
EXPLAIN insert low_priority into u values (1, 2, 'x');
EXPLAIN replace into u values (1000, 2, 'x');
EXPLAIN replace into u select a, b, c from t;
EXPLAIN insert into u select a, b, c from t union select 1,2,'x';
EXPLAIN delete from v where a = 3;
EXPLAIN update v set a = a + 1000 where a > 4;
EXPLAIN insert into e1 values (1);
EXPLAIN insert into e1 () values ();
EXPLAIN insert into e1 values (default), (1+2), ((select max(a) from t));
EXPLAIN insert into e1 with q as (select 1 as i) select i from q;
EXPLAIN insert into e1 values row(3);
EXPLAIN update ignore t set b = 1 where a > 5;
EXPLAIN update low_priority t set b = 1 where a > 5;
EXPLAIN delete quick ignore from t where a > 5;
