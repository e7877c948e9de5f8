## Statements that MySQL 8.0 accepts, one on each line.

## Queries and expressions.
select 1 /*! +1 /* nested */ +2 */
select a is null is null
select 1 between 1 and 2 between 1 and 2
select - - 1, !!1, not not 1, ~ - + 1
select 1 collate utf8mb4_bin collate utf8mb4_bin
select * , 1 from dual
select 1 as 'x', 2 "y", 3 z, 4 as `q`
select 1 from (select 1) x
select 1 from ((select 1)) x
select 1 from ((select 1) union (select 2)) x
select 1 from (select 1 union select 2) x (a)
select 1 from (t1, t2)
select 1 from (t1 join t2) join t3
select 1 from t1 join t2 join t3 on 1 on 2
select 1 from t1 left join t2 join t3 on 1 on 2
select 1 from t1 left join t2 using (a), t3
select 1 from t1 natural join t2 natural left outer join t3
select 1 from t1 cross join t2 on 1
select 1 from t1 straight_join t2 on 1
select 1 from t1 straight_join t2 using (a)
select 1 from {oj t1 left join t2 on 1}
select 1 from t1 use index (a), t2 force index for order by (b) ignore key (c)
select 1 from t1 use index ()
select 1 from t partition (p0) as x use index (a)
select 1 from t, lateral (select 2) x
select ((select 1))
select ((select 1) + 1)
select (select 1 union select 2)
select ((select 1) union select 2)
select ((select 1) limit 1)
select 1 in (select 1), 1 in ((select 1)), 1 in (1, (select 1)), (1,2) in ((1,2),(3,4))
select exists (select 1), exists(values row(1))
select (select 1,2) = row(1,2)
select row(1,2) = (1,2)
values row(1,2), row(3,4) order by 1 limit 1
table t order by a limit 2
select 1 union all select 2 union distinct select 3 order by 1 limit 2 offset 1
(select 1) union (select 2 limit 1) order by 1
(select 1 limit 1) limit 2
select 1 intersect select 2 except all select 3
select 1 order by 1 limit 1 for update
select 1 for update nowait
select 1 for update of a, b skip locked for share of c
select 1 lock in share mode
select 1 into @a, @b
select 1 into @a from dual
select 1 from dual into @a for update
select 1 from dual for update into @a
select 1 into outfile '/x' fields terminated by ',' optionally enclosed by '"' escaped by '\\' lines starting by 'x' terminated by '\n' from dual
select 1 into dumpfile 'x'
with a as (select 1) select * from a
with recursive a (n) as (select 1 union all select n+1 from a where n < 5), b as (select 2) select * from a, b
with a as (select 1) update t set x = 1
with a as (select 1) delete from t
insert into t with a as (select 1) select * from a
select distinct distinctrow sql_no_cache straight_join high_priority sql_calc_found_rows 1
select a from t group by a with rollup having a order by a desc limit 1
select a, sum(b) over w, rank() over (partition by a order by b desc rows between 1 preceding and unbounded following) from t window w as (order by a), w2 as (w)
select sum(a) over (rows interval 1 day preceding)
select sum(a) over (order by a range between interval 1 day preceding and current row)
select first_value(a) respect nulls over (), nth_value(a, 2) from first over w from t window w as ()
select lead(a) over (), lag(a, 1, 2) over ()
select count(*), count(distinct a, b), count(all a), sum(distinct a), max(a), group_concat(distinct a, b order by a desc, b separator 'x') from t
select count(*) filter
select now(), now(3), curdate(), current_date, current_date(), current_time(2), current_timestamp, localtime, localtimestamp(3), utc_date, utc_time(), utc_timestamp(6), sysdate(3)
select current_user, current_user(), user(), session_user(), system_user(), database(), schema()
select substring('a' from 1 for 2), substring('a', 1), substr('a' from 1), mid('a', 1, 2)
select trim('a'), trim('a' from 'b'), trim(both from 'b'), trim(leading 'a' from 'b'), trim(both 'a' from 'b')
select position('a' in 'b'), extract(year_month from now()), get_format(date, 'USA')
select date_add(now(), interval 1 day), date_sub(now(), interval '1:1' minute_second), adddate(now(), 1), subdate(now(), interval 1 week)
select now() + interval 1 day - interval (1) hour, interval 1 day + now(), interval(1,2,3), interval (1) + 1 day + now(), interval 1 + 1 day + now()
select 1 - interval(1,2) * 3
select char(65, 66 using utf8mb4), char(65), convert('a' using latin1), convert('a', char(3)), convert(1, unsigned integer)
select cast(1 as signed), cast(1 as unsigned int), cast('a' as char character set latin1), cast('a' as char(3) charset binary), cast('a' as binary(3)), cast(1 as decimal(3,2)), cast(1 as float(3)), cast(1 as double precision), cast(1 as real), cast('1' as json), cast(1 as year), cast('x' as nchar(2)), cast('x' as national char), cast(1 as datetime(3)), cast(1 as time), cast(1 as date)
select cast(1 at time zone 'utc' as datetime)
select cast(timestamp '2020-01-01 00:00:00' at time zone '+00:00' as datetime(2))
select weight_string('a' as char(3)), weight_string('a'), weight_string('a' as binary(2))
select match (a, b) against ('x' in boolean mode), match a against ('x' with query expansion), match(a) against ('x' in natural language mode with query expansion) from t
select a->'$.a', a->>'$.b', t.a->'$' from t
select json_value('{}', '$.a' returning signed default 1 on empty error on error), json_value('{}', '$')
select 1 member of ('[1]'), 'a' sounds like 'b', 'a' regexp 'b', 'a' not rlike 'b', 'a' not like 'b' escape '!'
select 1 not between 1 and 2 and 3, 1 between 1 and 2 = 3
select values(a) from t
select default(a), default(t.a) from t
select mod(5, 2), 5 mod 2, 5 div 2, 5 % 2, repeat('a', 2), replace('a','b','c'), insert('a',1,2,'b'), left('a',1), right('a',1), if(1,2,3), ifnull(1,2), coalesce(1,2)
select a.f(1), f(1, 2), f()
select point(1,2), date('x'), time('x'), timestamp('x'), year('x'), day('x'), week('x', 1), quarter('x'), password
select {d '2020-01-01'}, {t '10:00:00'}, {ts '2020-01-01 00:00:00'}, {fn now()}, {x 1}
select _utf8mb4'a', _latin1 'b', _binary x'41', _utf8mb4 0x41, _foo 'x', n'x', N'y', x'41', X'41', 0x41, b'01', B'1', 0b1
select @a, @`b`, @'c', @"d", @a.b, @, @a := 1, @b := @c := 2, @a:=1+1
select 1 || 2 && 3 xor 4 or not 5 and 6
select 1 <> 2 != 3 <=> 4 <= 5 >= 6 < 7 > 8
select 1 | 2 & 3 << 4 >> 5 + 6 - 7 * 8 / 9 ^ 10
select binary 'a' = 'b', binary binary 'a', - binary 1
select case a when 1 then 2 when 3 then 4 else 5 end, case when a then b end
select 1 from t where a = (select max(b) from u where u.a = t.a) and exists (select 1) or a in (1,2,3)
select 1 from dual where 1
select 1 where 1
select 1 having 1
select 1 order by 1
select 1 limit 1 offset 2
select 1 limit ?, ?
select 1 limit a
select /*+ max_execution_time(1000) */ 1
select 1 # x
select 1 -- x
select 1;
select 1 ;;
select 'a' 'b' 'c'
select grouping(a) from t group by a with rollup
select 1 from a.b, `c`.`d` as `e`, f.g h
select * from json_table('[1]', '$[*]' columns (id for ordinality, a int path '$.a' default '1' on empty null on error, b json exists path '$.b', nested path '$.c' columns (d varchar(10) path '$'))) as jt

## Definitions.
create database if not exists a default character set = utf8mb4 collate utf8mb4_bin encryption 'N'
create schema a charset latin1
alter database a read only = 1
drop database if exists a
drop schema a
create table t1 (a int)
create table t1 (a int(11) unsigned zerofill not null default 1 auto_increment unique key primary key comment 'x' collate utf8mb4_bin)
create table t1 (a varchar(10) character set utf8mb4 binary collate utf8mb4_bin null default null on update now())
create table t1 (a char, b char(3) ascii, c char unicode, d char byte, e nchar(3), f national char varying(3), g nvarchar(2), h char varying(2), i long, j long varchar, k long varbinary, l national varchar(3), m text(10), n blob(5), o tinytext binary, p varbinary(3), q binary, r bit(3), s bool, t boolean)
create table t1 (a decimal(10,2) unsigned, b dec, c numeric(3), d fixed(3,1), e float(5), f float(5,2), g double, h double precision (5,2), i real, j float4, k float8, l int1, m int2, n int3, o int4, p int8, q middleint, r serial)
create table t1 (a date, b time(3), c datetime(6), d timestamp(2) default current_timestamp(2) on update current_timestamp(2), e year(4), f year, g json, h enum('a','b') default 'a', i set('x','y') character set latin1, j geometry srid 4326, k point, l geometrycollection, m geomcollection)
create table t1 (a int check (a > 0), b int constraint c1 check (b > 0) not enforced, constraint c2 check (a < b), check (a) enforced, constraint check (a))
create table t1 (a int references t2 (b) on delete cascade on update set null, b int references t3)
create table t1 (a int, primary key (a), unique (a), unique key k (a desc), unique index (a) using btree, key (a(10)), index i using hash (a, b asc), fulltext f (a) with parser ngram, spatial index (a), fulltext key (a), key f ((a + 1)), constraint pk primary key (a), constraint u unique k2 (a) comment 'x' key_block_size 1 invisible)
create table t1 (a int, foreign key (a) references t2 (b), constraint fk foreign key ix (a, b) references d.t2 (c, d) on update no action on delete restrict)
create table t1 (a int, constraint fk foreign key (a) references t2)
create table t1 like t2
create table t1 (like t2)
create temporary table if not exists t1 (a int)
create table t1 select 1
create table t1 as select 1
create table t1 (a int) ignore as select 1
create table t1 (a int) engine=innodb replace select 1 union select 2
create table t1 (select 1)
create table t1 as (select 1)
create table t1 as values row(1)
create table t1 (a int) partition by hash(a) partitions 4
create table t1 (a int) partition by range (a) (partition p0 values less than (10), partition p1 values less than maxvalue) as select 1
create table t1 (a int) partition by key() partitions 2 select 1
create table t1 (a int invisible, b int visible column_format fixed storage memory)
create table t1 (a int not null null default 1 default 2)
create table t1 (`key` int, status int, value text, type int, date date, time time, `a b` int)
create table a.t1 (a int)
create unique index i on t (a, b(10) desc, (c + 1)) comment 'x' algorithm=inplace lock none
create index i using btree on t (a)
create fulltext index i on t (a)
create spatial index i on t (a) algorithm default
drop index i on t algorithm inplace lock=none
drop index `primary` on t
alter table t
alter table t add a int, add column b int first, add column (c int, d int), add column e int after b
alter table t add index (a), add key k (a), add unique (a), add constraint c unique (a), add primary key (a), add fulltext (a), add constraint f foreign key (a) references b (c), add check (a > 1), add constraint x check (a)
alter table t drop a, drop column b, drop index c, drop key d, drop primary key, drop foreign key e, drop check f, drop constraint g, drop column h restrict
alter table t modify a int, modify column b varchar(3) not null first, change a b int, change column a b int after c
alter table t alter a set default 1, alter column a drop default, alter a set default (1+1), alter index i invisible, alter check c not enforced, alter constraint c enforced, alter a set invisible
alter table t rename x, rename to y, rename as z, rename column a to b, rename index a to b, rename key c to d
alter table t engine innodb row_format=dynamic
alter table t with validation, discard tablespace
alter table t discard tablespace
alter table t import tablespace
alter table t add partition (partition p values less than (1))
alter table t drop partition p0, p1
alter table t partition by hash(a)
alter table t remove partitioning
alter table t truncate partition all
alter table t engine=innodb partition by hash(a) partitions 2
rename table a to b, c.d to e.f
drop table if exists a, b.c cascade
drop temporary table a
drop tables a
drop view if exists a, b restrict
create view v as select 1
create or replace algorithm = merge definer = 'a'@'b' sql security invoker view a.v (x, y) as select 1, 2 with local check option
create definer = current_user view v as (select 1) union select 2 with check option
create algorithm=undefined view v as select 1 with cascaded check option
create sql security definer view v as table t
alter view v as select 1
alter algorithm = temptable definer=a@localhost sql security definer view v as select 1
create view v as select 1 into @a
truncate table t
truncate t
create procedure p() select 1
create procedure p(in a int, out b varchar(10), inout c decimal(3,2), d int) comment 'x' language sql deterministic contains sql sql security invoker begin select 1; end
create function f(a int) returns varchar(10) charset utf8mb4 collate utf8mb4_bin no sql return a + 1
create definer=`a`@`b` trigger tr before insert on t for each row set new.a = 1
create trigger tr after update on t for each row follows tr2 begin if new.a > 1 then set @a = 1; end if; end
create event e on schedule every 1 day starts '2020-01-01' ends now() + interval 1 day on completion not preserve disable on slave comment 'x' do select 1
create event if not exists e on schedule at now() + interval 1 hour enable do begin end
alter event e on schedule at now() on completion preserve rename to f disable comment 'x' do select 2
alter procedure p comment 'x' sql security definer
drop procedure if exists p
drop function a.f
drop trigger if exists t
drop event e
create server s foreign data wrapper mysql options (host 'x')
create tablespace ts add datafile 'x.ibd' engine innodb

## Changes, transactions, settings, administration.
insert into t values (1, default, a+1), (), (3)
insert t value (1)
insert into t (a, b) values (1, 2) as new on duplicate key update a = new.a, b = values(b) + 1
insert into t (a) values (1) as new (x) on duplicate key update a = x
insert into t () values ()
insert into t set a = 1, b = default
insert into t set a = 1 as n on duplicate key update a = default
insert into t set a := 1
insert low_priority ignore into d.t partition (p0, p1) (a) select 1
insert delayed t values (1)
insert high_priority t values (1)
insert into t select 1 union select 2 on duplicate key update a = 1
insert into t (select 1)
insert into t (a) (select 1) union (select 2)
insert into t select * from a join b on 1 on duplicate key update x = 1
insert into t values row(1), row(2)
insert into t table x
insert into t (t.a, d.t.b) values (1, 2)
replace into t values (1)
replace delayed into t set a = 1
replace into t select 1
update t set a = 1, t.b = default where a = 1 order by b desc limit 5
update low_priority ignore t as x set x.a = 1
update a, b set a.x = b.y where a.id = b.id
update a join b on a.id = b.id left join c using (id) set a.x = 1
update t partition (p0) set a = 1
update (select 1) x, t set t.a = 1
delete from t
delete from t as x where x.a = 1
delete from t where a = 1 order by b limit 3
delete low_priority quick ignore from t
delete a, b from a join b on a.x = b.x where 1
delete from a, b using a join b
delete a.*, d.b.* from a, d.b
delete from a.* using a
delete from t partition (p0) where 1
do 1, sleep(0)
call p
call p()
call d.p(1, @a)
load data local infile 'x' replace into table t partition (p0) character set utf8mb4 fields terminated by ',' enclosed by '"' lines terminated by '\n' ignore 1 lines (a, @b, c) set d = @b + 1, e = default
load data low_priority infile 'x' ignore into table t columns escaped by '' ignore 2 rows
handler t open as h
handler t read first
handler t read i = (1, 2) where a > 1 limit 5
handler t read i next
handler t read next limit 1
handler t close
handler t read `primary` prev
begin
begin work
start transaction
start transaction with consistent snapshot, read only
start transaction read write
commit
commit work and no chain release
commit and chain no release
commit release
rollback work and chain
rollback to a
rollback work to savepoint a
savepoint a
release savepoint a
set transaction isolation level read committed
set session transaction read only, isolation level serializable
set global transaction isolation level repeatable read, read write
set local transaction isolation level read uncommitted
lock tables a read, b as c write, d low_priority write, e read local
lock table a x read
unlock tables
unlock table
lock instance for backup
unlock instance
xa start 'a'
xa begin 'a','b',3 join
xa end 'a' suspend for migrate
xa prepare x'41'
xa commit 'a' one phase
xa rollback 'a'
xa recover convert xid
set a = 1
set @a = 1, @b := 2, @@c = 3, @@global.d = 4, session e = 5, global f = 6, local g = 7, persist h = 8, persist_only i = 9, @@session.j = 10, k := 1
set names utf8mb4
set names 'utf8mb4' collate 'utf8mb4_bin'
set names default
set names utf8mb4, a = 1, names latin1, character set utf8, charset binary
set names binary
set character set default
set char set utf8
set sql_mode = ''
set sql_mode = ansi, autocommit = on, b = off, c = default, d = binary, e = all, f = row, g = system
set x.y = 1, global x.y = 2, @@global.x.y = 3, default.z = 1
set password = 'x'
set password for 'a'@'b' = 'x' replace 'y' retain current password
set password to random
set password for a to random
set role none
set role all except a, b@c
set role default
set role 'a', b
set default role all to a, b
set default role none to a
set default role a, b to c
set new.a = 1
use a
use `a`
show databases
show schemas like 'a%'
show databases where `Database` = 'x'
show tables
show full tables from a like 'b'
show extended full tables in a where 1
show triggers from a like 'x'
show events in a
show table status from a like 'b'
show open tables
show full columns from a.b
show fields from a from b like 'c'
show columns in a in b where field = 'x'
show extended columns from a
show index from a
show indexes in a from b where 1
show extended index from a
show variables
show global variables like 'x'
show session status where 1
show local variables
show status like 'x'
show processlist
show full processlist
show engines
show storage engines
show engine innodb status
show engine all mutex
show charset
show character set like 'x'
show char set
show collation where 1
show plugins
show privileges
show warnings
show warnings limit 1, 2
show errors limit 1
show count(*) warnings
show count(*) errors
show create database a
show create schema if not exists a
show create table a.b
show create view a
show create procedure a
show create function a.b
show create trigger a
show create event a
show create user a@b
show create user current_user
show grants
show grants for a@b using c, d
show grants for current_user()
show procedure status like 'a'
show function status where 1
show procedure code a
show binary logs
show master logs
show master status
show binlog events in 'x' from 4 limit 1, 2
show relaylog events
show slave status
show replica status for channel 'x'
show slave hosts
show replicas
show profile
show profile all for query 1 limit 1
show profiles
describe t
desc a.b c
desc t 'x%'
explain select 1
explain format=json select 1
explain format = tree update t set a = 1
explain analyze select 1
explain analyze format=tree select 1
explain for connection 5
explain format=json for connection 5
explain (select 1)
explain delete from t
explain insert into t values (1)
explain replace into t values (1)
explain with a as (select 1) select * from a
explain t
desc select 1
prepare a from 'select 1'
prepare a from @a
execute a
execute a using @a, @b
deallocate prepare a
drop prepare a
kill 1
kill query 1
kill connection @a + 1
flush tables
flush table a, b with read lock
flush tables with read lock
flush tables a for export
flush privileges
flush local status, logs
flush no_write_to_binlog binary logs, error logs
flush engine logs
flush hosts
flush user_resources, optimizer_costs
reset master
reset slave all
reset replica
reset master to 5
reset persist
reset persist if exists a
purge binary logs to 'x'
purge master logs before now()
analyze table a, b
analyze local table a
analyze table a update histogram on b, c with 10 buckets
analyze table a drop histogram on b
check table a, b for upgrade quick fast medium extended changed
optimize no_write_to_binlog tables a
repair table a quick extended use_frm
checksum table a quick
checksum tables a, b extended
create user a
create user if not exists 'a'@'b' identified by 'x', c@localhost identified with mysql_native_password by 'y', d identified with caching_sha2_password as 'z', e identified by random password, f identified with 'x'
create user a default role b, c require ssl with max_queries_per_hour 1 max_user_connections 2 password expire interval 5 day account lock password history 5 password reuse interval 3 day password require current optional failed_login_attempts 3 password_lock_time unbounded comment 'x'
create user a require subject 'x' and issuer 'y' cipher 'z'
create user a require none attribute '{}'
create user a@
alter user a identified by 'x' replace 'y' retain current password
alter user if exists a, b discard old password
alter user user() identified by 'x'
alter user current_user() identified by 'x'
alter user a default role all
alter user a account unlock password expire never
alter user a password expire
alter user a with max_updates_per_hour 0
alter user a require x509
drop user a, b@c
drop user if exists a
rename user a to b, c@d to e@f
create role if not exists a, b@c
drop role if exists a
grant select on *.* to a
grant all privileges on a.* to b@c with grant option
grant all on a to b
grant select (a, b), insert, update (c), references (d) on a.b to c, d
grant create temporary tables, lock tables, show view, create view, create routine, alter routine, create user, create tablespace, create role, drop role, show databases, replication slave, replication client, references, usage, execute, event, trigger, file, process, reload, shutdown, super, index, alter, drop, delete, create on *.* to a
grant system_variables_admin, backup_admin on *.* to a
grant a, b@c to d with admin option
grant proxy on a to b
grant execute on procedure a.b to c
grant execute on function a to b
grant select on table a.b to c
grant grant option on *.* to a
grant select on *.* to a as b with role all
revoke select on *.* from a
revoke all privileges, grant option from a, b
revoke all on a.* from b
revoke a, b from c
revoke if exists select on a.b from c ignore unknown user
revoke proxy on a from b
revoke grant option on *.* from a
install plugin a soname 'b'
uninstall plugin a
install component 'a', 'b'
uninstall component 'a'
signal sqlstate '45000' set message_text = 'x', mysql_errno = 1
signal sqlstate value '45000'
signal foo
resignal
resignal set message_text = 'x'
get diagnostics @a = row_count, @b = number
get current diagnostics condition 1 @a = message_text, b = returned_sqlstate
get stacked diagnostics condition @i @a = mysql_errno
binlog 'x'
help 'a'
help a
shutdown
restart
change master to master_host='x'
start slave
stop replica
start group_replication
explain analyze insert into t values (1)

## What clients send.
/*!40101 SET @OLD_SQL_MODE := @@SQL_MODE, @@SQL_QUOTE_SHOW_CREATE = 1 */
SET @@SQL_QUOTE_SHOW_CREATE = 1/*!40101, @@SQL_MODE='NO_AUTO_VALUE_ON_ZERO'*/
SELECT @@server_id /*!50038 , @@hostname*/
/*M!100100 SET @@MAX_STATEMENT_TIME=0.000000 */
START TRANSACTION /*!40100 WITH CONSISTENT SNAPSHOT */
SELECT /*!40001 SQL_NO_CACHE */ `id`, `k` FROM `t1`
SHOW /*!50000 GLOBAL*/ STATUS LIKE 'Threads_running'
show /*!50000 ENGINE*/ INNODB STATUS
set sql_mode=CONCAT(@@sql_mode,',STRICT_TRANS_TABLES'),session_track_system_variables = CONCAT(@@global.session_track_system_variables,',transaction_isolation'),NAMES utf8mb4
SET SESSION NET_READ_TIMEOUT= 86400, SESSION NET_WRITE_TIMEOUT= 86400
SELECT DISTINCT User 'Role Name', if(from_user is NULL,0, 1) Active FROM mysql.user LEFT JOIN mysql.role_edges ON from_user=user
SELECT LEFT(NOW() - INTERVAL 1483 SECOND, 16)
SHOW VARIABLES LIKE 'wait\_timeout'
SHOW GRANTS FOR 'root'@'localhost'
create table `wp` (`id` bigint(20) unsigned NOT NULL auto_increment, d datetime NOT NULL default '0000-00-00 00:00:00', PRIMARY KEY (id), KEY k (meta_key(191))) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci
INSERT INTO `o` (`n`, `v`) VALUES ('a', 'b') ON DUPLICATE KEY UPDATE `n` = VALUES(`n`), `v` = VALUES(`v`)
SELECT SQL_CALC_FOUND_ROWS p.ID FROM p WHERE 1=1 AND p.t = 'post' AND ((p.s = 'publish')) ORDER BY p.d DESC LIMIT 0, 10
REPLACE INTO `d`.`checksums` (db, tbl) SELECT 'a', 'b', COUNT(*) AS cnt, COALESCE(LOWER(CONV(BIT_XOR(CAST(CRC32(CONCAT_WS('#', `id`, CONCAT(ISNULL(`name`)))) AS UNSIGNED)), 10, 16)), 0) AS crc FROM `t` FORCE INDEX(`PRIMARY`) WHERE ((`id` >= '1')) /*checksum chunk*/
SELECT table_name FROM information_schema.tables WHERE BINARY table_name = BINARY 'x' HAVING TABLE_TYPE IN ('TABLE','VIEW',null) ORDER BY 1
