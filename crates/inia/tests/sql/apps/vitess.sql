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
SELECT t.table_name, t.table_type, UNIX_TIMESTAMP(t.create_time) > 1700000000, t.table_comment FROM information_schema.tables t WHERE t.table_schema = database();
SELECT t.table_name, t.table_type, UNIX_TIMESTAMP(t.create_time) > 1700000000, t.table_comment, SUM(i.file_size) > 0, SUM(i.allocated_size) > 0 FROM information_schema.tables t LEFT JOIN information_schema.innodb_tablespaces i ON i.name LIKE CONCAT(t.table_schema, '/', t.table_name, IF(t.create_options <=> 'partitioned', '#p#%', '')) COLLATE utf8mb3_general_ci WHERE t.table_schema = database() GROUP BY t.table_schema, t.table_name, t.table_type, t.create_time, t.table_comment;
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
	`lastpk` varbinary(2000),
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
	`payload` varbinary(64000),
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
-- Clients' reads and changes come with limits and comments.
SELECT database() IS NULL;
