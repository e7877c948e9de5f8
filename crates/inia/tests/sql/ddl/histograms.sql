-- ANALYZE TABLE … UPDATE HISTOGRAM and DROP HISTOGRAM: results, and what other statements keep.
create table t (id int primary key, u int unique, u2 int, k2 int, i int, d decimal(8,2), f double,
  fl float, dt date, tm time(2), dtm datetime(3), ts timestamp null, y year, e enum('x','y','z'),
  s set('p','q','r'), bi bit(5), v varchar(30), l varchar(30) charset latin1, vb varbinary(20),
  tx text, bl blob, b bigint unsigned, j json, gv int generated always as (i+1) virtual,
  gs int generated always as (i+2) stored, inv int invisible, unique key (u2,k2), key(i));
set sql_mode = 'NO_ENGINE_SUBSTITUTION';
set time_zone = '+05:00';
insert into t (id,u,u2,k2,i,d,f,fl,dt,tm,dtm,ts,y,e,s,bi,v,l,vb,tx,bl,b,j) values
  (1,1,1,1,5,1.50,2.5,1.1,'2020-01-01','10:11:12.34','2020-01-01 01:02:03.456','2020-01-01 00:00:00',2020,'x','p,q',b'101','abc','abc','\0\n','text','blob',18446744073709551615,'1'),
  (2,2,2,2,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null),
  (3,3,3,3,7,-2.25,1e300,3.3,'0000-00-00','-10:11:12','1000-01-01','1999-01-01 00:00:00',1999,'z','',b'11','ÄbC ','ÄbC','z','tt','bb',0,'{}'),
  (4,4,4,4,7,0,-0.0,3.3,'2020-00-00','00:00:00','0000-00-00','0000-00-00 00:00:00',0,'','r',b'0','ABC','äBc','','TT ','BB',1,'[]'),
  (5,5,5,5,-7,-0.01,0,-1.5,'1999-12-31','838:59:59','9999-12-31 23:59:59.999','2038-01-19 00:00:00',2155,'y','p,q,r',b'11111','','',' ','','',9223372036854775808,'"x"');
analyze table t update histogram on id;
analyze table t update histogram on u;
analyze table t update histogram on u2, k2;
analyze table t update histogram on j;
analyze table t update histogram on gv, gs, inv;
analyze table t update histogram on nope;
analyze table t update histogram on i, nope, J, ID, d;
analyze table t update histogram on I, i;
analyze table t update histogram on d, `ä`, a;
analyze table t update histogram on d, `ä`, a with 2000 buckets;
analyze table t update histogram on i with 0 buckets;
analyze table t update histogram on i with 1025 buckets;
analyze table t update histogram on i with 1025 buckets x;
analyze table t update histogram on i with 1024 buckets x;
analyze table t update histogram on i with 5;
analyze table t update histogram on i with -1 buckets;
analyze table t update histogram on i with 1.5 buckets;
analyze table t update histogram on (i);
analyze table t update histogram on t.i;
analyze table t drop histogram on i with 5 buckets;
analyze local table t update histogram on i with 1024 buckets;
analyze no_write_to_binlog table t update histogram on I, D with 3 buckets;
-- The histograms of every type: one value a bucket, then few buckets.
analyze table t update histogram on i,d,f,fl,dt,tm,dtm,ts,y,e,s,bi,v,l,vb,tx,bl,b,gv,gs,inv with 16 buckets;
select column_name, json_remove(histogram, '$."last-updated"') from information_schema.column_statistics
  where schema_name = database() order by column_name;
analyze table t update histogram on i,d,f,fl,dt,tm,dtm,ts,y,e,s,bi,v,l,vb,tx,bl,b,gv,gs,inv with 2 buckets;
select column_name, json_remove(histogram, '$."last-updated"') from information_schema.column_statistics
  where schema_name = database() order by column_name;
select column_name, json_type(histogram), json_type(histogram->'$.buckets[0][0]'), json_type(histogram->'$.buckets[0][2]'),
  json_type(histogram->'$.buckets[0][3]'), json_type(histogram->'$."last-updated"'), json_type(histogram->'$."collation-id"'),
  json_type(histogram->'$."null-values"'), json_type(histogram->'$."number-of-buckets-specified"')
  from information_schema.column_statistics where schema_name = database() order by column_name;
select timestampdiff(minute, histogram->>'$."last-updated"', utc_timestamp()) < 2 from information_schema.column_statistics
  where schema_name = database() and column_name = 'i';
analyze table t drop histogram on id;
analyze table t drop histogram on I, d;
analyze table t drop histogram on i, nope, f, d;
analyze table t drop histogram on f, F;
analyze table nope update histogram on i;
analyze table nope drop histogram on i;
analyze table nope.nope update histogram on i;
analyze table nope.nope drop histogram on i;
analyze table t, nope update histogram on i;
analyze table t, t update histogram on i;
analyze table t, nope drop histogram on i;
analyze table information_schema.tables update histogram on table_name;
analyze table information_schema.tables drop histogram on table_name;
create view w as select i from t;
analyze table w update histogram on i;
analyze table w drop histogram on i;
create temporary table tt (a int);
analyze table tt update histogram on a;
analyze table tt drop histogram on a;
drop temporary table tt;
create table tt (a int) engine = memory;
insert into tt values (1), (1), (2);
analyze table tt update histogram on a;
alter table tt engine = myisam;
select histogram->'$.buckets' from information_schema.column_statistics where schema_name = database() and table_name = 'tt';
analyze table tt update histogram on a;
prepare p from 'analyze table tt update histogram on a with 1 buckets';
execute p;
prepare p from 'analyze table tt update histogram on a with 0 buckets';
prepare p from 'analyze table tt update histogram on a, a';
select histogram->'$.buckets' from information_schema.column_statistics where schema_name = database() and table_name = 'tt';
-- Locks and transactions.
start transaction read only;
analyze table t update histogram on i;
analyze table t drop histogram on i;
begin;
insert into tt values (9);
analyze table tt update histogram on a;
rollback;
select count(*) from tt;
lock tables t read;
analyze table t update histogram on i;
analyze table t drop histogram on i;
analyze table tt update histogram on a;
analyze table tt drop histogram on a;
unlock tables;
lock tables t write;
analyze table t update histogram on i;
analyze table t drop histogram on i;
unlock tables;
flush tables with read lock;
analyze table t update histogram on i, nope;
analyze table t drop histogram on i;
analyze table tt drop histogram on a;
unlock tables;
-- What ALTER TABLE keeps: no column that is named with a definition or a name.
drop table t, tt;
drop view w;
create table t (a int, b int, c char(10), v varchar(100) collate utf8mb4_bin, n varchar(20) not null default 'x', dt datetime, e enum('x','y'), key(a));
insert into t values (1,1,'a','a','n',null,'x'),(2,1,'A ','b','n',null,'y'),(3,2,'b',repeat('x',60),'n',null,'x'),(4,null,'á',concat(repeat('x',59),'y'),'n',null,null);
analyze table t update histogram on a,b,c,v,n,dt,e;
select column_name, histogram->'$.buckets' from information_schema.column_statistics where schema_name = database() order by 1;
alter table t rename column a to a2;
alter table t modify b int;
alter table t change c c char(10);
alter table t alter n set default 'y', comment 'x', add key (n), add column z int first;
alter table t force;
alter table t drop column dt, add column dt datetime;
select column_name from information_schema.column_statistics where schema_name = database() order by 1;
analyze table t update histogram on a2,b,c,dt;
alter table t rename column a2 to A2;
alter table t add unique key (b, c, v), modify dt datetime after z;
select column_name from information_schema.column_statistics where schema_name = database() order by 1;
delete from t where b = 1;
analyze table t;
create unique index ub on t (b);
create unique index uc on t (c(2));
select column_name from information_schema.column_statistics where schema_name = database() order by 1;
analyze table t update histogram on c, dt;
alter table t default character set latin1;
alter table t convert to character set utf8mb4, algorithm = copy;
select column_name from information_schema.column_statistics where schema_name = database() order by 1;
analyze table t update histogram on v, n;
alter table t drop index n, engine = myisam;
optimize table t;
truncate table t;
rename table t to r;
select table_name, column_name, histogram->'$.buckets' from information_schema.column_statistics where schema_name = database() order by 2;
create table t like r;
alter table r rename q, add column more int;
select table_name, column_name from information_schema.column_statistics where schema_name = database() order by 2;
analyze table q drop histogram on more;
alter table q rename column v to n, rename column n to v;
select table_name, column_name from information_schema.column_statistics where schema_name = database() order by 2;
analyze table q update histogram on v;
drop table q;
select table_name, column_name from information_schema.column_statistics where schema_name = database() order by 2;
-- Who may see and make them.
create user histogram_maker, histogram_reader;
create table own (a int, b int);
insert into own values (1, 2);
analyze table own update histogram on a, b;
set @grants = concat('grant select, insert on ', database(), '.own to histogram_maker');
prepare g from @grants;
execute g;
set @grants = concat('grant select (b) on ', database(), '.own to histogram_reader');
prepare g from @grants;
execute g;
-- as: histogram_maker
analyze table own update histogram on a;
analyze table nope update histogram on a;
select table_name, column_name from information_schema.column_statistics order by 1, 2;
-- as: histogram_reader
analyze table own update histogram on b;
analyze table own drop histogram on b;
select table_name, column_name from information_schema.column_statistics order by 1, 2;
-- as: root
drop user histogram_maker, histogram_reader;
set histogram_generation_max_mem_size = 1;
show warnings;
select @@histogram_generation_max_mem_size, @@global.histogram_generation_max_mem_size;
