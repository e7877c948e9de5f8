create table t(a int auto_increment primary key, b int, c varchar(5) not null, d int not null, ts timestamp not null default current_timestamp on update current_timestamp, u int unsigned not null, y year, f float, s set('a'), key(b));

-- Operands of set operations give their columns to a temporary table.
select a, b, c, d, ts, u, y, f from t union select a, b, c, d, ts, u, y, f from t;
select a, b + 1, concat(c), d from t union all select 1, 2, 'x', null;
(select a from t order by a limit 1) union all (select b from t);
select a, ts from t union all select a, ts from t limit 1;

-- So do functions over windows: what is no constant comes from there.
select a, b, c, ts, y, s, row_number() over (), a + 1, concat(c), 'x', 1, max(b) over (order by a) from t;
select a, sum(d) over (partition by b) as total from t where a > 5 order by total;

-- Above WITH ROLLUP a column is a value of the group.
select a, b, c, count(*), b + 1 from t group by a, b, c with rollup;
