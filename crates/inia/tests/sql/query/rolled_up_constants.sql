-- WITH ROLLUP over constants: in the total row they are NULL for HAVING, ORDER BY and the select list, too.
create table t(pk int primary key, f float, i int default 5);
insert into t values (1,0.8,1),(2,1.5,2);
select 'a' x, 'a', concat('a'), concat('a','b'), 'a' is null, max(i) from t group by 'a' with rollup;
select 10.005+1, 10.005 is null, max(i) from t group by 10.005 with rollup;
select 'v' x, max(i) m from t group by x with rollup having x > 'a' order by x;
select 5 x, 6 y, max(i) m from t group by x, y with rollup having y is not null;
select 5 x, 6 y, max(i) m from t group by x, y with rollup having x is null or y is null;
select 5 x, if(x, 1, 2), ifnull(5, 'none'), coalesce(x, 'none') from t group by x with rollup;
select null x, max(i) from t group by x with rollup having x is null;
select 'v' x, max(i) from t group by x with rollup order by x is null, x;
select 'v' x, max(i) from t group by x with rollup order by ifnull(x, 'z') desc;
select 5 x, max(i) from t group by 1+4 with rollup;
select 5 x, 1+4 y, max(i) from t group by 1+4 with rollup having y is not null;
select i*0 x, 1 y from t group by i*0 with rollup having x is not null;
