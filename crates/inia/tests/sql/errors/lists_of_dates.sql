-- A constant that is no date is an error beside a date, and a warning in a list of several.

create table dt(d date, t datetime, k int primary key);
insert into dt values ('2020-01-01','2020-01-01 10:00:00',1),(null,null,2);
select k from dt where d in ('xx');
select k from dt where d in ('xx','2020-01-01');
select k from dt where d not in ('xx','2020-01-01');
select k from dt where d not in ('xx','2021-01-01');
select k from dt where d in ('xx', '2020-01-01', '2020-01-02', '2020-01-03');
select k from dt where t in ('xx','2020-01-01 10:00:00');
select k from dt where d in ('xx', null);
delete from dt where d in ('xx','2021-01-01');
update dt set k = 5 where d in ('xx','2021-01-01');
delete ignore from dt where d in ('xx','2021-01-01');
select * from dt order by k;
select case json_extract('{"a":"1"}','$.a') when 1 then 1 else 0 end, case json_extract('{"a":1}','$.a') when '1' then 1 else 0 end,
  case json_extract('{"a":1.5}','$.a') when 1.5 then 1 else 0 end, case cast('true' as json) when true then 1 else 0 end,
  case 1 when cast('"1"' as json) then 1 else 0 end, case cast('1' as json) when 1 then 'a' when '1' then 'b' end;
