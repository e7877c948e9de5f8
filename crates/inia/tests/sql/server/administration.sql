-- Statements that administer a server, and their refusals.
create table t (a int primary key, b varchar(20), c int generated always as (a + 1) virtual, `select` int, `a b` int, `1a` int, `12` int default 5 comment 'it`s', `status` int, `a$` int, key(b), check (c > 0));
create table m (a int) engine = myisam;
create view v as select 1;
flush tables t for export;
unlock tables;
flush tables m for export;
flush tables v for export;
flush tables nosuch for export;
checksum table t quick;
checksum table m quick;
optimize table information_schema.tables;
analyze table information_schema.tables;
repair table information_schema.tables;
flush relay logs for channel 'x';
flush relay logs for channel '';
kill -1;
kill 1500000.5;
kill '1500000x';
kill 'x';
kill null;
set transaction isolation level serializable, isolation level serializable;
set transaction read only, read write;
set transaction read only, isolation level read committed, read only;
set default role none to nosuch;
set default role nosuch to nosuch;
set lc_messages = 'foo';
set lc_messages = 'en_US';
alter instance rotate innodb master key;
alter instance rotate binlog master key;
alter instance enable innodb redo_log;
alter instance reload keyring;
alter instance rotate foo master key;
alter instance foo;
alter instance;
revoke nosuch from root@localhost;
help 'nosuch topic';
create table quoted_parts (id int primary key, `select` int, `1` int, `a b` int, `été` int,
  n int as (`id` + 1), c varchar(5) default (concat('`x`', `id`)), constraint `my check` check (`n` > 1),
  unique key u (`a b`, id), key f ((`id` + `n`)), key p (c(3)), constraint fk foreign key (`1`) references quoted_parts (id))
  comment 'of `parts`';
set sql_quote_show_create = 0;
show create table quoted_parts;
drop table quoted_parts;
create table divided_parts (id int, n int) partition by range columns (id) subpartition by hash (`n`)
  (partition `p 0` values less than (10), partition p1 values less than (maxvalue));
show create table divided_parts;
drop table divided_parts;
create database `plain name`;
create database plain_name;
show create database `plain name`;
show create database plain_name;
drop database `plain name`;
drop database plain_name;
create table `back``tick` (`c``d` int default 1 comment 'it''s `x`\\', e varchar(9) default '`\'' comment '\\''`y`', key `k``` (`c``d`));
show create table `back``tick`;
drop table `back``tick`;
set sql_quote_show_create = 1;
set collation_database = latin1_bin;
set character_set_database = latin1;
set collation_database = default;
set default_collation_for_utf8mb4 = utf8mb4_bin;
set default_collation_for_utf8mb4 = utf8mb4_general_ci;
set default_collation_for_utf8mb4 = default;
set explicit_defaults_for_timestamp = 0;
set explicit_defaults_for_timestamp = 1;
set global connect_timeout = 1;
set global connect_timeout = default;
set global table_open_cache = 0;
set global table_open_cache = default;
set global innodb_flush_log_at_trx_commit = 3;
set global innodb_flush_log_at_trx_commit = default;
set global log_error_verbosity = 4;
set global log_error_verbosity = default;

-- DO takes a select list; no table is there for `*`.
DO *;
DO *, 1;
DO 1, *;
DO t.*;
DO diff.t.*, 1;
DO 1 AS one, (SELECT 2) two;

-- KILL reads no tables and calls no stored functions.
KILL (SELECT 4000000001);
KILL QUERY (SELECT 4000000002 WHERE 1);
KILL 4000000000 + (SELECT 3);
KILL (SELECT * FROM (SELECT 4000000004) d);
KILL (WITH c AS (SELECT 4000000005) SELECT * FROM c);
KILL (TABLE t);
KILL (VALUES ROW (4000000006));
CREATE FUNCTION gives() RETURNS INT DETERMINISTIC RETURN 2000000000;
KILL gives();
DROP FUNCTION gives;
PREPARE s FROM 'KILL (SELECT ?)';
SET @id = 4000000007;
EXECUTE s USING @id;
DEALLOCATE PREPARE s;

-- MASTER is the word for the log's status.
SHOW BINARY LOG STATUS;
SHOW BINARY LOG;
