-- FIELD takes dates and times for texts where all others are texts or times too; so does CASE with a text.
create table d (id int, d date, dt datetime, t varchar(20), tm time);
insert into d values (1,'2020-01-01','2020-01-01 01:02:03','abc','10:10:10');
insert into d values (2,'2020-01-02','2020-01-02 01:02:03','2020-01-02','11:11:11');
select field(d, '2020-1-1'), field(d, '20200101', '2020-01-01'), field(dt, '2020-1-1 1:2:3'), field('2020-01-01', d), field(d, 'x') from d;
select field(d, t), field(t, d), field(d, null, '2020-01-01'), field(null, d), field(d, t, concat(d)) from d;
select field(tm, '10:10:10'), field(tm, '101010'), field(tm, 'abc'), field(tm, tm) from d;
select field(d, dt), field(d, dt, d), field(d, date'2020-01-01'), field(dt, date'2020-01-01', timestamp'2020-01-01 01:02:03') from d;
select field(d, 20200101), field(tm, 101010), field(d, 20200101, 2) from d;
select id from d order by field(d, '2020-01-02', '2020-01-01');
select case '2020-1-1' when d then 1 end, case d when '2020-1-1' then 1 end, case '20200101' when d then 1 end, case t when d then 1 end from d;
select case '2020-1-1' when dt then 1 end, case dt when '2020-1-1 1:2:3' then 1 end from d;
select case '101010' when tm then 1 else 0 end, case '10:10:10' when tm then 1 else 0 end from d;
select case 'abc' when d then 1 else 3 end from d;
-- A text that is no date gets a warning, and the other branches count.
select case d when 'abc' then 1 when '2020-01-01' then 2 else 3 end from d where id = 1;
select case dt when 'abc' then 1 when '2020-01-01 01:02:03' then 2 else 3 end from d where id = 1;
select case d when '2020-01-01 10:00:00' then 2 else 3 end, case d when '2020-01-01 00:00:00' then 2 else 3 end from d;
select case date'2020-01-01' when 'abc' then 1 end;
select case when d = 'abc' then 1 end from d;
select nullif(d, 'abc') from d;
-- A text that is computed counts with its time beside a DATE that is one for all rows, and by its date beside a column.
select concat(dt) = date'2020-01-01', concat(dt) <= date'2020-01-01', date'2020-01-01' < concat(dt) from d;
select concat(dt) = d, concat(dt) <= d, concat(dt) = d + interval 0 day, concat(dt) = date(dt) from d;
select coalesce(dt, 'x') <= cast('2020-01-01' as date), if(id = 1, '20-1-1 00:00:00', dt) <= date'2020-01-01' from d;
select concat(dt) = last_day('2020-01-01'), concat(dt) = (select d from d where id = 1), concat(dt) = any (select d from d) from d;
select concat(curdate(), ' 10:10:10') > curdate(), concat(curdate(), ' 10:10:10') = curdate();
select concat(dt) in (date'2020-01-01'), concat(dt) in (d), concat(dt) <=> date'2020-01-01', nullif(concat(dt), date'2020-01-01') from d;
select (concat(dt), 1) = (date'2020-01-01', 1), (concat(dt), 1) = (d, 1) from d;
set @d = date'2020-01-01';
select concat(dt) = @d, concat(dt) > @d from d;
select id from d where concat(dt) = date'2020-01-01';
