-- What Vitess 21 sends to the server under a shard: vttablet on its own, and what vtgate makes of its clients' statements.
-- `scripts/vitess` runs the real thing.
CREATE TABLE customer (
	id bigint primary key,
	`name` varchar(64),
	city varchar(32),
	key nm (`name`)
) engine innodb;
CREATE TABLE orders (
	id bigint,
	customer_id bigint not null,
	amount decimal(10,2),
	placed datetime(6),
	primary key (customer_id, id)
) engine innodb,
  charset utf8mb4;
CREATE VIEW big AS SELECT id, amount FROM orders WHERE amount > 10;
-- A tablet starts.
SELECT UNIX_TIMESTAMP() > 1700000000;
SELECT t.table_name, t.table_type, UNIX_TIMESTAMP(t.create_time) > 1700000000, t.table_comment IN ('', 'VIEW') FROM information_schema.tables t WHERE t.table_schema = database();
SELECT t.table_name, t.table_type, MAX(t.create_time) IS NULL FROM information_schema.tables t LEFT JOIN information_schema.innodb_tablespaces i ON i.name LIKE CONCAT(t.table_schema, '/', t.table_name, IF(t.create_options <=> 'partitioned', '#p#%', '')) WHERE t.table_schema = database() GROUP BY t.table_schema, t.table_name, t.table_type, t.create_time;
show status like 'Innodb_rows_read_of_nothing';
SELECT TABLE_NAME as table_name, COLUMN_NAME as column_name FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND LOWER(INDEX_NAME) = 'primary' ORDER BY table_name, SEQ_IN_INDEX;
SELECT COLUMN_NAME as column_name FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = database() AND TABLE_NAME = 'orders' ORDER BY ORDINAL_POSITION;
SELECT `id`, `name`, `city` FROM `customer` WHERE 1 != 1;
SELECT `id`, `customer_id`, `amount`, `placed` FROM `orders` WHERE 1 != 1;
select @@global.sql_mode;
select @@autocommit;
select @@sql_auto_is_null;
SELECT 1;
SHOW VARIABLES LIKE 'rpl_semi_sync_%_enabled';
select @@global.collation_server;
show full tables like '\_vt\_%';
-- Its own database: options without `=`, prefix keys, times that update themselves, texts without defaults.
select 'true' as 'dbexists' from information_schema.SCHEMATA where SCHEMA_NAME = '_vt_no';
create database if not exists _vt_no;
use _vt_no;
select @@session.sql_mode as sql_mode;
set @@session.sql_mode='';
show create table _vt_no.tables;
CREATE TABLE IF NOT EXISTS `_vt_no`.`tables` (
	`TABLE_SCHEMA` varchar(64) NOT NULL,
	`TABLE_NAME` varchar(64) NOT NULL,
	`CREATE_STATEMENT` longtext,
	`CREATE_TIME` bigint,
	PRIMARY KEY (`TABLE_SCHEMA`, `TABLE_NAME`)
) ENGINE InnoDB,
  CHARSET utf8mb4;
CREATE TABLE IF NOT EXISTS `_vt_no`.`copied` (
	`id` bigint unsigned NOT NULL AUTO_INCREMENT,
	`vrepl_id` int NOT NULL,
	`lastpk` varbinary(64000),
	PRIMARY KEY (`id`),
	KEY `vrepl_id` (`vrepl_id`, `lastpk`(64))
) ENGINE InnoDB,
  CHARSET utf8mb4;
CREATE TABLE IF NOT EXISTS `_vt_no`.`beat` (
	`keyspaceShard` varbinary(256) NOT NULL,
	`tabletUid` int unsigned NOT NULL,
	`ts` bigint unsigned NOT NULL,
	PRIMARY KEY (`keyspaceShard`)
) ENGINE InnoDB,
  CHARSET utf8mb4;
CREATE TABLE IF NOT EXISTS `_vt_no`.`migrations` (
	`id` bigint unsigned NOT NULL AUTO_INCREMENT,
	`uuid` varchar(64) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin NOT NULL,
	`keyspace` varchar(256) NOT NULL,
	`shard` varchar(255) NOT NULL,
	`statement` text NOT NULL,
	`requested` timestamp NOT NULL DEFAULT current_timestamp(),
	`live` timestamp(6) NULL DEFAULT NULL,
	`status` varchar(128) NOT NULL,
	`changed` timestamp NULL DEFAULT current_timestamp() ON UPDATE current_timestamp(),
	`retries` tinyint unsigned NOT NULL DEFAULT '0',
	`progress` float NOT NULL DEFAULT '0',
	`strategy` tinyint(1) NOT NULL DEFAULT '0',
	`rows_done` bigint unsigned NOT NULL DEFAULT '0',
	`seconds` bigint NOT NULL DEFAULT '-1',
	`ready` timestamp NULL DEFAULT NULL,
	`log` mediumblob NOT NULL,
	`note` tinytext,
	`options` json NOT NULL,
	`whole` longblob NOT NULL,
	UNIQUE KEY `uuid_idx` (`uuid`),
	PRIMARY KEY (`id`),
	KEY `keyspace_idx` (`keyspace`(64), `shard`(64)),
	KEY `status_idx` (`status`, `live`)
) ENGINE InnoDB,
  CHARSET utf8mb4;
CREATE TABLE IF NOT EXISTS `_vt_no`.`udfs` (
	`FUNCTION_NAME` varchar(128) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin NOT NULL,
	`FUNCTION_RETURN_TYPE` varchar(20) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin NOT NULL,
	`FUNCTION_TYPE` varchar(20) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin NOT NULL,
	PRIMARY KEY (`FUNCTION_NAME`)
) ENGINE InnoDB;
CREATE TABLE IF NOT EXISTS `_vt_no`.`views` (
	`TABLE_SCHEMA` varchar(64) NOT NULL,
	`TABLE_NAME` varchar(64) NOT NULL,
	`CREATE_STATEMENT` longtext,
	`VIEW_DEFINITION` longtext NOT NULL,
	PRIMARY KEY (`TABLE_SCHEMA`, `TABLE_NAME`)
) ENGINE InnoDB,
  CHARSET utf8mb4;
show create table _vt_no.`tables`;
show create table _vt_no.`copied`;
show create table _vt_no.`beat`;
show create table _vt_no.`migrations`;
show create table _vt_no.`udfs`;
show create table _vt_no.`views`;
set @@session.sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION';
-- What has changed since the last look, in tables, views and functions.
SELECT distinct table_name FROM ( SELECT table_name, view_definition FROM information_schema.views WHERE table_schema = '_vt_no' UNION ALL SELECT table_name, view_definition FROM _vt_no.views WHERE table_schema = '_vt_no' ) _inner GROUP BY table_name, view_definition HAVING COUNT(*) = 1;
SELECT name FROM ( SELECT name FROM mysql.func UNION ALL SELECT function_name FROM _vt_no.udfs ) _inner GROUP BY name HAVING COUNT(*) = 1 LIMIT 1;
select name, ret, type from mysql.func where type = 'aggregate';
select table_name, view_definition from information_schema.views where table_schema = '_vt_no' and table_name in ('a', 'b');
SELECT TABLE_NAME, CREATE_TIME FROM _vt_no.`tables` WHERE TABLE_SCHEMA = '_vt_no';
begin;
delete from _vt_no.`tables` where TABLE_SCHEMA = database() and TABLE_NAME in ('t', 'u');
insert into _vt_no.`tables`(TABLE_SCHEMA, TABLE_NAME, CREATE_STATEMENT, CREATE_TIME) values (database(), 't', 'CREATE TABLE `t` (\n  `id` bigint NOT NULL,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB', 1795250200);
commit;
rollback;
select table_name, create_statement from _vt_no.`tables` where table_schema = database();
select table_name, create_statement from _vt_no.`tables` where table_schema = database() and table_name in ('t');
-- In the background: the scheduler of online DDL, its retries, and beats.
select * from _vt_no.migrations where status = 'running' and timestampdiff(microsecond, live, now(6)) > 1 and requested < NOW() - INTERVAL 180 MINUTE;
update _vt_no.migrations set status = IF(retries > 3, 'failed', 'queued'), retries = retries + 1 where status = 'running' LIMIT 1;
select id from _vt_no.migrations where status = 'error' and json_unquote(json_extract(options, '$.core_options.auto_retry')) = 'true';
INSERT INTO _vt_no.beat (ts, tabletUid, keyspaceShard) VALUES (1795250200000000001, 101, 'shop:-80') ON DUPLICATE KEY UPDATE ts=VALUES(ts), tabletUid=VALUES(tabletUid);
INSERT INTO _vt_no.beat (ts, tabletUid, keyspaceShard) VALUES (1795250200000000002, 101, 'shop:-80') ON DUPLICATE KEY UPDATE ts=VALUES(ts), tabletUid=VALUES(tabletUid);
SELECT ts FROM _vt_no.beat WHERE keyspaceShard='shop:-80';
drop database _vt_no;
-- Clients' reads and changes come with limits, names of tables and parts of aggregates.
USE diff;
insert into customer(id, `name`, city) values (1, 'Ada', 'Oslo'), (2, 'Émile', 'Paris'), (3, 'emile', null);
insert into orders(id, customer_id, amount, placed) values (1, 1, 10.50, '2024-05-01 10:00:00.000001'), (2, 1, 99.99, null), (3, 3, 5, '2024-05-03');
select id, `name`, city from customer where id = 2 limit 10001 /* INT64 */;
select customer.id, customer.`name`, weight_string(customer.`name`) is not null from customer order by customer.`name` asc, customer.id desc limit 10001;
select city, count(*) as people from customer group by city, weight_string(city) order by city asc limit 10001;
select sum(amount) as `avg(amount)`, count(amount) as `count(amount)`, max(id) from orders limit 10001;
select o.amount from orders as o where o.customer_id = 1 order by o.id asc limit 10001;
select c.`name` from customer as c where c.id in (1, 2) limit 10001;
select dt.c0 as n from (select count(*) as c0 from orders group by customer_id) as dt limit 10001;
select 1 from orders where customer_id = 3 and amount > 4 limit 1;
select id from customer where id in (1, 3) order by id asc limit 10001 for update;
select id from customer where id = 1 limit 10001 lock in share mode;
select id from customer where id = 1 limit 10001 for update nowait;
update customer set city = 'Lima' where id = 3 limit 10001;
update orders set amount = amount + 1 where customer_id in (1, 3) limit 10001;
delete from orders where (orders.customer_id, orders.id) in ((1, 2), (9, 9)) limit 10001;
insert into customer(id, `name`) values (3, 'again') on duplicate key update `name` = values(`name`), city = concat(city, '!');
insert ignore into customer(id, `name`) values (3, 'third');
insert into customer(id, `name`) values (3, 'third') /* vtgate:: keyspace_id:4eb190c9a2fa169c */;
select 1 from dual limit 10001;
select id, amount from orders order by orders.id asc;
-- Transactions and savepoints.
begin;
savepoint _vt5f5f0a0c_ea75_11f1_afa3_62a715c2b62c;
update customer set city = 'x' limit 10001;
rollback to _vt5f5f0a0c_ea75_11f1_afa3_62a715c2b62c;
savepoint a;
release savepoint a;
commit;
start transaction read only;
update customer set city = 'x' limit 10001;
rollback;
start transaction with consistent snapshot, read only;
rollback;
-- Settings: what vtgate asks first, what it sends to a connection, and hints in statements.
select 0 from dual where @@unique_checks != 0 limit 10001;
select @@sql_mode as orig, 'STRICT_TRANS_TABLES' as new from dual limit 10001;
set @@foreign_key_checks = 0, @@sql_mode = 'STRICT_TRANS_TABLES', @@session.transaction_isolation = 'READ-COMMITTED', @@time_zone = '+02:00';
select @@foreign_key_checks, @@sql_mode, @@transaction_isolation, @@time_zone from dual limit 10001;
set @@foreign_key_checks = 1, @@sql_mode = default, @@session.transaction_isolation = default, @@time_zone = 'SYSTEM';
set @@sql_mode = 'default';
set @@innodb_lock_wait_timeout = 'default';
select /*+ SET_VAR(sql_mode = 'PIPES_AS_CONCAT') */ 1 || 0 from dual limit 10001;
select /*+ SET_VAR(foreign_key_checks = Off) SET_VAR(unique_checks = Off) */ @@foreign_key_checks, @@unique_checks from dual limit 10001;
insert /*+ SET_VAR(sql_mode = ' ') */ into customer(id, `name`) values (4, repeat('x', 70));
insert /*+ SET_VAR(sql_mode = 'STRICT_TRANS_TABLES') */ into customer(id, `name`) values (5, repeat('x', 70));
select @@session.sql_mode like 'ONLY_FULL%' from dual limit 10001;
select length(`name`) from customer where id >= 4 limit 10001;
set @@session.sql_mode = CONCAT(@@session.sql_mode, ',NO_AUTO_VALUE_ON_ZERO');
set @@session.sql_mode = default;
SET @@session.net_read_timeout = 300, @@session.net_write_timeout = 600;
-- A sequence's table.
create table seq (
	id bigint primary key,
	next_id bigint,
	cache bigint
) comment 'vitess_sequence';
insert into seq(id, next_id, cache) values (0, 1000, 100);
begin;
select next_id, cache from seq where id = 0 for update;
update seq set next_id = 1100 where id = 0;
commit;
select t.table_name, t.table_comment = 'vitess_sequence' from information_schema.tables t where t.table_schema = database() and t.table_name = 'seq';
-- Atomic commits: the log of what is prepared, and the decision.
create table redo_state (dtid varbinary(512) NOT NULL, state bigint NOT NULL, time_created bigint NOT NULL, message text, primary key (dtid));
create table redo_statement (dtid varbinary(512) NOT NULL, id bigint NOT NULL, statement mediumblob NOT NULL, primary key (dtid, id));
begin;
insert into redo_state(dtid, state, time_created) values ('diff:-80:1', 1, 1795250200000000001);
insert into redo_statement(dtid, id, statement) values ('diff:-80:1', 1, 'update customer set city = \'a\\\\\' where id = 1'), ('diff:-80:1', 2, 'delete from orders');
commit;
select t.dtid, t.state, t.time_created, s.statement, t.message from redo_state t join redo_statement s on t.dtid = s.dtid order by t.dtid, s.id;
select count(*) from redo_state where time_created < 1795250200000000002;
update redo_state set state = 0, message = 'EOF (errno 2013)' where dtid = 'diff:-80:1';
update redo_state set state = 3 where dtid = 'diff:-80:1' and state = 1;
delete from redo_state where dtid = 'diff:-80:1';
delete from redo_statement where dtid = 'diff:-80:1';
-- Definitions as vtgate prints them anew.
alter table customer add key city (city);
alter table customer
	add column born date,
	add constraint old check (born > '1900-01-01'),
	drop key nm;
alter view big as select id, amount from orders where amount > 20;
rename table seq to seq2;
truncate table seq2;
drop table seq2;
-- SHOW and information_schema as they reach one shard.
show tables like 'c%';
show full tables from diff like 'c%';
show columns from customer;
explain customer;
show create table customer;
show collation like 'utf8mb4_0900_as_c%';
show triggers from diff like 'x';
show table status from diff like 'none';
select get_lock('vitess', 1) from dual limit 10001;
select release_lock('vitess') from dual limit 10001;
analyze table customer;
flush tables;
select /*vt+ PLANNER=gen4 */ table_name from information_schema.`tables` where table_schema = 'diff' /* VARCHAR */ order by information_schema.`tables`.table_name asc limit 10001;
select kcu.constraint_name, kcu.column_name from information_schema.key_column_usage as kcu where kcu.table_schema = 'diff' /* VARCHAR */ and kcu.table_name = 'orders' /* VARCHAR */ order by kcu.ordinal_position asc limit 10001;
-- vtctldclient: the state of a server, definitions, accounts.
select @@global.server_id > 0, @@global.super_read_only, @@global.log_bin, @@global.log_replica_updates, @@global.binlog_format, @@global.binlog_row_image from dual;
select @@global.gtid_mode, @@global.gtid_purged, @@global.gtid_executed;
SHOW REPLICA STATUS;
SHOW MASTER STATUS;
SHOW VARIABLES LIKE 'read_only';
SHOW STATUS LIKE 'Rpl_semi_sync_%_status';
select channel_name, host, port from performance_schema.replication_connection_configuration;
SHOW CREATE DATABASE IF NOT EXISTS `diff`;
SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = 'diff' AND table_name IN ('customer', 'big') ORDER BY table_name;
SHOW CREATE TABLE `diff`.`orders`;
USE `diff`;
select count as history_len from information_schema.INNODB_METRICS where name = 'none';
-- Of copying tables: what needs no binary log.
select /*+ MAX_EXECUTION_TIME(3600000) */ id, amount from orders force index (`PRIMARY`) order by customer_id, id;
lock tables orders read;
select 1 from orders limit 1;
unlock tables;
SET @source_binlog_checksum = @@global.binlog_checksum, @master_binlog_checksum = @@global.binlog_checksum;
create table cs (vrepl_id int, n int);
create table pca (vrepl_id int);
insert into cs values (1, 1), (2, 1);
insert into pca values (1);
delete cs, pca from cs left join pca on cs.vrepl_id = pca.vrepl_id where cs.vrepl_id = 1;
select * from cs;
optimize table cs;
alter table cs add primary key (vrepl_id), modify vrepl_id int auto_increment;
alter table cs auto_increment = 100;
