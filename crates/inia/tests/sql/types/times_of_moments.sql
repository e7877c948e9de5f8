-- A whole moment in a TIME column, and a TIME in a DATE column.
set sql_mode='';
create table t (id int auto_increment primary key, tm time(2), d date);
insert into t (tm) values ('2024-13-01 25:61:61'),('2024-12-01 25:61:61'),('2024-12-01 20:61:61'),('2024-12-01 20:11:61'),('2024-12-41 20:11:11'),('2024-12-01 20:11:11'),('1970-01-01 00:00:00'),('2024-12-01'),('2024-13-01'),('20241201'),('20241201101112'),('2024-12-01T10:11:12'),('2024-12-01 10'),('2024-12-01 10:11'),('0000-00-00 10:11:12'),('2024-00-00 10:11:12'),('24-12-01 10:11:12'),('2024/12/01 10:11:12'),('2024-13-01 10:11:12x'),('2024-1'),('1 10:11:12'),('2024-12-01 x'),('12-13-14'),('12-13-14 10:11:12'),('2024-12-01 00:00:00'),('20241301101112'),('99991231235959'),('2024-12-01 10:11:12.5'),('2024-02-30 10:11:12');
select id, tm from t;
insert into t (d) values (TIME'10:11:12.567'), (TIME'00:00:00'), (TIME'-10:11:12'), (cast('10:11:12' as time)), (TIME'838:00:00');
insert into t (d) select tm from t where tm is not null;
insert into t (d) select cast(tm as time) from t where id = 3;
insert into t (tm) values (timestamp'2024-12-01 10:11:12'), (date'2024-12-01'), (timestamp'1970-01-01 00:00:00'), (20241201101112);
insert into t (tm) select timestamp(d) from t where d is not null;
set sql_mode=default;
insert into t (tm) values ('2024-12-01 10:11:12');
insert into t (tm) values ('2024-13-01 10:11:12');
insert into t (tm) values ('1970-01-01 00:00:00');
insert into t (d) values (TIME'10:11:12.567');
insert into t (d) values (cast('10:11:12' as time));
select cast('2024-13-01 25:61:61' as time), time('2024-13-01 10:11:12'), '2024-13-01 10:11:12' = time'00:20:24', time_to_sec('2024-13-01 10:11:12'), hour('2024-13-01 10:11:12');
