create table dt(d date, t datetime, ts timestamp null, v varchar(20), key(d));

-- No row is looked at: the constant is wrong whatever there is.
select * from dt where d >= 'not a valid date';
select * from dt where t = 'xx';
select * from dt where ts = 'xx';
select * from dt where 'xx' <=> d;
select d = 'xx' from dt;
select * from dt where d = 'xx' and 0;
select * from dt where 0 and d = 'xx';
select * from dt where d = 'xx' or 1;
select * from dt where d in ('xx');
select * from dt where d = concat('x','x');
select * from dt where d = '2020-02-30';
select * from dt where d = '';
select * from dt where date(t) > 'xx';
select * from dt where cast(v as date) = 'xx';
select * from dt where now() > 'xx';
select * from dt having d = 'xx';
select count(*) from dt group by d having d > 'xx';
select * from dt order by d = 'xx';
select * from dt a join dt b on a.d = b.d and b.t = 'xx';
select * from dt a left join dt b on a.d = b.d and b.t = 'xx';
select * from (select d from dt limit 1) x where d = 'xx';
select 1 from dt where exists (select 1 from dt x where x.d = 'xx');
explain select * from dt where d = 'xx';
create view dv as select * from dt where d = 'xx';
select * from dv;

-- These are dates.
select * from dt where d = '20200101' or d = '2020-01-01 10:00:00' or t > '2020-1-1';
