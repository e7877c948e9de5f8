-- Privileges on the server and on accounts: who has all but one, and who has only one.
CREATE TABLE t (a INT PRIMARY KEY, b INT);
CREATE ROLE priv_role, priv_admin;
GRANT ALL ON *.* TO priv_admin WITH GRANT OPTION;
CREATE USER priv_none, priv_victim, priv_cu, priv_grant, priv_sys, priv_role_admin;
CREATE USER priv_reload, priv_process, priv_super, priv_vars, priv_conn, priv_sessvars, priv_file, priv_cr, priv_dr, priv_msel, priv_mupd;
GRANT CREATE USER ON *.* TO priv_cu;
GRANT CREATE USER, SYSTEM_USER ON *.* TO priv_sys;
GRANT SELECT, INSERT ON diff.* TO priv_grant WITH GRANT OPTION;
GRANT ROLE_ADMIN ON *.* TO priv_role_admin;
GRANT RELOAD ON *.* TO priv_reload;
GRANT PROCESS ON *.* TO priv_process;
GRANT SUPER ON *.* TO priv_super;
GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO priv_vars;
GRANT CONNECTION_ADMIN ON *.* TO priv_conn;
GRANT SESSION_VARIABLES_ADMIN ON *.* TO priv_sessvars;
GRANT FILE ON *.* TO priv_file;
GRANT CREATE ROLE ON *.* TO priv_cr;
GRANT DROP ROLE ON *.* TO priv_dr;
GRANT SELECT ON mysql.* TO priv_msel;
GRANT SELECT, UPDATE, INSERT, DELETE ON mysql.* TO priv_mupd;

-- as: priv_none
CREATE USER priv_x;
CREATE USER IF NOT EXISTS priv_none;
DROP USER priv_victim;
DROP USER IF EXISTS priv_nosuch;
ALTER USER priv_victim IDENTIFIED BY 'x';
ALTER USER priv_none ACCOUNT LOCK;
ALTER USER priv_none PASSWORD EXPIRE;
ALTER USER CURRENT_USER() ACCOUNT LOCK;
ALTER USER priv_none DEFAULT ROLE NONE;
ALTER USER priv_none DEFAULT ROLE ALL;
ALTER USER priv_none DEFAULT ROLE priv_admin;
ALTER USER priv_none WITH MAX_QUERIES_PER_HOUR 5;
ALTER USER priv_none REQUIRE NONE;
ALTER USER priv_none ATTRIBUTE '{"a": 1}';
ALTER USER priv_none IDENTIFIED WITH mysql_native_password BY '';
ALTER USER IF EXISTS priv_nosuch IDENTIFIED BY 'x';
RENAME USER priv_none TO priv_y;
SET PASSWORD FOR priv_victim = 'x';
SET PASSWORD FOR priv_none = '';
SET PASSWORD = '';
SET PASSWORD FOR priv_nosuch = 'x';
CREATE ROLE priv_r2;
CREATE ROLE IF NOT EXISTS priv_role;
DROP ROLE priv_role;
DROP ROLE IF EXISTS priv_nosuch;
GRANT priv_role TO priv_none;
GRANT priv_admin TO priv_none WITH ADMIN OPTION;
REVOKE priv_role FROM priv_victim;
SET ROLE priv_admin;
SET ROLE ALL;
SET ROLE NONE;
SET ROLE DEFAULT;
SET DEFAULT ROLE priv_admin TO priv_none;
SET DEFAULT ROLE NONE TO priv_none;
SET DEFAULT ROLE ALL TO priv_victim;
GRANT SELECT ON *.* TO priv_none;
GRANT SELECT ON diff.* TO priv_none;
GRANT SELECT ON diff.t TO priv_none;
GRANT SELECT ON diff.nosuch TO priv_none;
GRANT USAGE ON *.* TO priv_none;
GRANT ALL ON *.* TO priv_none;
GRANT PROXY ON priv_victim TO priv_none;
GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO priv_none;
REVOKE SELECT ON *.* FROM priv_victim;
REVOKE SELECT ON diff.t FROM priv_victim;
REVOKE ALL PRIVILEGES, GRANT OPTION FROM priv_victim;
REVOKE ALL PRIVILEGES, GRANT OPTION FROM priv_none;
SHOW GRANTS;
SHOW GRANTS FOR priv_none;
SHOW GRANTS FOR CURRENT_USER();
SHOW GRANTS FOR priv_victim;
SHOW GRANTS FOR priv_nosuch;
SHOW GRANTS FOR priv_none USING priv_admin;
SHOW CREATE USER priv_victim;
SHOW CREATE USER root@localhost;
SELECT user FROM mysql.user;
SELECT * FROM mysql.db;
SELECT * FROM mysql.nosuch;
INSERT INTO mysql.user (user) VALUES ('x');
UPDATE mysql.user SET Select_priv = 'Y';
DELETE FROM mysql.user;
TRUNCATE mysql.user;
CREATE TABLE mysql.x (a INT);
USE mysql;
SHOW TABLES FROM mysql;
FLUSH PRIVILEGES;
FLUSH TABLES;
FLUSH TABLES WITH READ LOCK;
FLUSH TABLES diff.t WITH READ LOCK;
FLUSH TABLES diff.t FOR EXPORT;
FLUSH STATUS;
FLUSH LOGS;
FLUSH ERROR LOGS;
FLUSH BINARY LOGS;
FLUSH USER_RESOURCES;
FLUSH OPTIMIZER_COSTS;
FLUSH LOCAL TABLES;
PURGE BINARY LOGS TO 'x';
SHUTDOWN;
RESTART;
LOCK INSTANCE FOR BACKUP;
UNLOCK INSTANCE;
INSTALL PLUGIN x SONAME 'x.so';
UNINSTALL PLUGIN x;
INSTALL COMPONENT 'file://x';
UNINSTALL COMPONENT 'file://x';
SET GLOBAL max_connections = 100;
SET PERSIST max_connections = 100;
SET PERSIST_ONLY max_connections = 100;
SET GLOBAL sql_mode = '';
SET @@global.read_only = 0;
SET GLOBAL super_read_only = 0;
SET sql_log_bin = 0;
SET SESSION sql_log_off = 1;
SET SESSION binlog_format = 'ROW';
SET timestamp = 1;
SET SESSION max_error_count = 10;
SET pseudo_thread_id = 1;
SET SESSION character_set_filesystem = latin1;
SET SESSION bulk_insert_buffer_size = 100;
SET SESSION explicit_defaults_for_timestamp = 1;
SET SESSION generated_random_password_length = 5;
SET SESSION internal_tmp_mem_storage_engine = MEMORY;
SET SESSION character_set_database = latin1;
SET SESSION histogram_generation_max_mem_size = 2000000;
SET SESSION rbr_exec_mode = STRICT;
SET SESSION gtid_next = 'AUTOMATIC';
SET SESSION original_commit_timestamp = 1;
SET SESSION transaction_allow_batching = 0;
SET SESSION show_create_table_skip_secondary_engine = 1;
SET SESSION auto_increment_increment = 2;
SET SESSION debug_sync = 'x';
SHOW ENGINE INNODB STATUS;
SHOW ENGINE INNODB MUTEX;
SHOW MASTER STATUS;
SHOW BINARY LOGS;
SHOW REPLICAS;
SHOW REPLICA STATUS;
SHOW BINLOG EVENTS;
SHOW RELAYLOG EVENTS;
SHOW EVENTS FROM diff;
SHOW TRIGGERS FROM diff;
SHOW PROCEDURE STATUS WHERE db = 'diff';
SHOW PRIVILEGES WHERE privilege = 'Alter';
SELECT COUNT(*) FROM information_schema.innodb_trx;
SELECT COUNT(*) FROM information_schema.innodb_metrics;
SELECT COUNT(*) FROM information_schema.innodb_tables;
SELECT COUNT(*) FROM information_schema.innodb_tablespaces;
SELECT COUNT(*) FROM information_schema.innodb_buffer_page;
SELECT COUNT(*) FROM information_schema.files;
SELECT 1 INTO OUTFILE '/nosuch/x';
SELECT 1 INTO DUMPFILE '/nosuch/x';
LOAD DATA INFILE '/nosuch/x' INTO TABLE diff.t;
LOAD DATA INFILE '/nosuch/x' INTO TABLE diff.nosuch;
CREATE PROCEDURE diff.p() SELECT 1;
CREATE FUNCTION diff.f() RETURNS INT RETURN 1;
CALL diff.p();
DROP PROCEDURE diff.p;
DROP PROCEDURE IF EXISTS diff.p;
DROP FUNCTION diff.f;
CREATE TRIGGER diff.tr BEFORE INSERT ON diff.t FOR EACH ROW SET @a = 1;
CREATE EVENT diff.e ON SCHEDULE EVERY 1 DAY DO SELECT 1;
DROP EVENT diff.e;
KILL 1000000000;
KILL QUERY 1000000000;
SELECT COUNT(*) > 0 FROM information_schema.processlist WHERE user <> 'priv_none';
SELECT schema_name FROM information_schema.schemata ORDER BY 1;
SHOW DATABASES;
SELECT grantee, privilege_type FROM information_schema.user_privileges;
SELECT COUNT(*) FROM information_schema.schema_privileges;
SELECT COUNT(*) FROM information_schema.tables WHERE table_schema IN ('mysql', 'diff');
SELECT * FROM information_schema.user_attributes;
SELECT @@global.max_connections > 0;
SELECT CURRENT_ROLE();

-- CREATE USER alone is no way to more.
-- as: priv_cu
CREATE USER priv_x IDENTIFIED BY 'x';
CREATE USER priv_esc DEFAULT ROLE priv_admin;
ALTER USER priv_x ACCOUNT LOCK;
ALTER USER root@localhost IDENTIFIED BY 'x';
ALTER USER root@localhost ACCOUNT LOCK;
SET PASSWORD FOR root@localhost = 'x';
DROP USER root@localhost;
RENAME USER root@localhost TO toor;
ALTER USER priv_sys IDENTIFIED BY 'x';
SET PASSWORD FOR priv_sys = 'x';
DROP USER priv_sys;
RENAME USER priv_sys TO priv_z;
ALTER USER priv_cu DEFAULT ROLE priv_admin;
SET DEFAULT ROLE priv_admin TO priv_cu;
ALTER USER priv_x DEFAULT ROLE priv_admin;
SET DEFAULT ROLE NONE TO root@localhost;
SET DEFAULT ROLE NONE TO priv_victim;
GRANT priv_role TO priv_cu;
GRANT CREATE USER ON *.* TO priv_x;
GRANT USAGE ON *.* TO priv_x;
REVOKE ALL PRIVILEGES, GRANT OPTION FROM priv_victim;
REVOKE ALL PRIVILEGES, GRANT OPTION FROM root@localhost;
REVOKE ALL PRIVILEGES, GRANT OPTION FROM priv_sys;
REVOKE CREATE USER ON *.* FROM priv_sys;
SHOW CREATE USER priv_victim;
SHOW GRANTS FOR priv_victim;
CREATE ROLE priv_r3;
DROP ROLE priv_r3;
DROP ROLE priv_sys;
ALTER USER priv_x IDENTIFIED WITH nosuch BY 'x';
CREATE USER priv_nplug IDENTIFIED WITH nosuch BY 'x';
CREATE USER priv_nplug IDENTIFIED WITH nosuch AS 'x';
DROP USER priv_x;
DROP USER IF EXISTS priv_esc;

-- as: priv_sys
ALTER USER priv_cu ACCOUNT UNLOCK;
SET PASSWORD FOR priv_cu = '';
DROP USER priv_nosuch;

-- as: priv_grant
GRANT SELECT ON diff.* TO priv_victim;
GRANT SELECT ON diff.t TO priv_victim;
GRANT UPDATE ON diff.t TO priv_victim;
GRANT SELECT, INSERT ON diff.* TO priv_victim WITH GRANT OPTION;
GRANT SELECT ON diff.nosuch TO priv_victim;
GRANT SELECT ON mysql.* TO priv_victim;
GRANT ALL ON diff.* TO priv_victim;
GRANT USAGE ON diff.* TO priv_victim;
GRANT SELECT ON diff.* TO priv_nosuch;
GRANT SELECT (a) ON diff.t TO priv_victim;
REVOKE SELECT ON diff.t FROM priv_victim;
REVOKE SELECT ON diff.* FROM root@localhost;
GRANT SELECT ON diff.* TO root@localhost;
REVOKE DELETE ON diff.* FROM priv_victim;
REVOKE ALL ON diff.* FROM priv_victim;

-- as: priv_role_admin
GRANT priv_role TO priv_role_admin;
SET ROLE priv_role;
SELECT CURRENT_ROLE();
GRANT priv_role TO priv_victim WITH ADMIN OPTION;
REVOKE priv_role FROM priv_victim;
GRANT priv_nosuch TO priv_victim;
GRANT priv_role TO priv_nosuch;
GRANT priv_victim TO priv_victim;

-- as: priv_reload
FLUSH PRIVILEGES;
FLUSH TABLES;
FLUSH TABLES diff.t;
FLUSH TABLES diff.t WITH READ LOCK;
FLUSH STATUS;
FLUSH TABLES WITH READ LOCK;
UNLOCK TABLES;
FLUSH OPTIMIZER_COSTS;

-- as: priv_process
SELECT COUNT(*) >= 0 FROM information_schema.innodb_trx;
SELECT COUNT(*) > 0 FROM information_schema.processlist WHERE user = 'root';
SHOW MASTER STATUS;

-- as: root
GRANT CREATE VIEW, DROP ON diff.* TO priv_super;
-- as: priv_super
CREATE DEFINER = root@localhost VIEW diff.v AS SELECT 1;
CREATE DEFINER = priv_victim VIEW diff.v AS SELECT 1;
ALTER VIEW diff.v AS SELECT 2;
DROP VIEW diff.v;
SET GLOBAL max_connections = 151;
SET SESSION sql_log_bin = 1;
SHOW MASTER STATUS;
KILL 1000000000;

-- as: priv_vars
SET GLOBAL max_connections = 151;
SET PERSIST max_connections = 151;
RESET PERSIST max_connections;
SET SESSION sql_log_bin = 1;
SET pseudo_thread_id = 1;
SET GLOBAL super_read_only = 0;
SET GLOBAL transaction_read_only = 0;

-- as: priv_sessvars
SET SESSION sql_log_bin = 1;
SET pseudo_thread_id = 1;
SET GLOBAL max_connections = 151;

-- as: priv_conn
KILL 1000000000;

-- as: priv_cr
CREATE ROLE priv_r4;
DROP ROLE priv_r4;
CREATE USER priv_x;
-- as: priv_dr
DROP ROLE priv_r4;
DROP ROLE priv_victim;
DROP ROLE root@localhost;
DROP USER priv_sys;
CREATE ROLE priv_r4;

-- as: priv_file
SELECT 1 INTO OUTFILE '/nosuch/x';
LOAD DATA INFILE '/nosuch/x' INTO TABLE diff.t;

-- as: priv_msel
SELECT COUNT(*) > 3 FROM mysql.user;
SHOW GRANTS FOR priv_cu;
SHOW CREATE USER priv_cu;
SELECT COUNT(*) > 3 FROM information_schema.user_privileges;
UPDATE mysql.user SET Select_priv = 'Y';
-- as: priv_mupd
SET PASSWORD FOR priv_cu = '';
SET PASSWORD FOR root@localhost = 'x';
GRANT SELECT ON diff.* TO priv_mupd;

-- as: root
DROP ROLE IF EXISTS priv_role, priv_admin, priv_r4, priv_r3;
DROP USER IF EXISTS priv_none;
DROP USER IF EXISTS priv_victim;
DROP USER IF EXISTS priv_cu;
DROP USER IF EXISTS priv_grant;
DROP USER IF EXISTS priv_sys;
DROP USER IF EXISTS priv_role_admin;
DROP USER IF EXISTS priv_reload;
DROP USER IF EXISTS priv_process;
DROP USER IF EXISTS priv_super;
DROP USER IF EXISTS priv_vars;
DROP USER IF EXISTS priv_conn;
DROP USER IF EXISTS priv_sessvars;
DROP USER IF EXISTS priv_file;
DROP USER IF EXISTS priv_cr;
DROP USER IF EXISTS priv_dr;
DROP USER IF EXISTS priv_msel;
DROP USER IF EXISTS priv_mupd;
DROP USER IF EXISTS priv_x;
DROP USER IF EXISTS priv_esc;
DROP USER IF EXISTS priv_nplug;
