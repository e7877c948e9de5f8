-- SHOW and information_schema show only what the account may see.
CREATE TABLE t (a INT PRIMARY KEY, b INT, KEY kb (b), CONSTRAINT ck CHECK (b < 1000));
CREATE TABLE u (a INT PRIMARY KEY, b INT, FOREIGN KEY fk (b) REFERENCES t (a));
CREATE TABLE w (a INT PRIMARY KEY);
CREATE VIEW v AS SELECT a FROM t;
CREATE USER priv_one, priv_two, priv_ins, priv_showdb, priv_vsel, priv_vshow, priv_cr, priv_db;
GRANT SELECT ON diff.t TO priv_one;
GRANT SELECT, SHOW VIEW ON diff.v TO priv_two;
GRANT INSERT ON diff.u TO priv_ins;
GRANT SHOW DATABASES ON *.* TO priv_showdb;
GRANT SELECT ON diff.v TO priv_vsel;
GRANT SHOW VIEW ON diff.v TO priv_vshow;
GRANT CREATE ON diff.* TO priv_cr;
GRANT SELECT ON diff.* TO priv_db;

-- as: priv_one
SHOW DATABASES LIKE 'diff';
USE diff;
SHOW TABLES;
SHOW FULL TABLES;
SHOW TABLE STATUS LIKE 'u';
SHOW COLUMNS FROM t;
SHOW COLUMNS FROM u;
SHOW COLUMNS FROM v;
SHOW COLUMNS FROM nosuch;
SHOW INDEX FROM t WHERE key_name = 'PRIMARY' AND table_name = 'x';
SHOW INDEX FROM u;
SHOW INDEX FROM nosuch;
SHOW CREATE TABLE u;
SHOW CREATE TABLE v;
SHOW CREATE VIEW v;
SHOW CREATE TABLE nosuch;
SHOW CREATE VIEW t;
SHOW CREATE DATABASE diff;
SHOW TRIGGERS;
SHOW EVENTS;
DESCRIBE u b;
EXPLAIN u;
DESC nosuch;
SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = 'diff' ORDER BY 1;
SELECT table_name, column_name, privileges FROM information_schema.columns WHERE table_schema = 'diff' ORDER BY 1, 2;
SELECT table_name, index_name FROM information_schema.statistics WHERE table_schema = 'diff' ORDER BY 1, 2;
SELECT table_name, constraint_name FROM information_schema.table_constraints WHERE table_schema = 'diff' ORDER BY 1, 2;
SELECT table_name, constraint_name FROM information_schema.key_column_usage WHERE table_schema = 'diff' ORDER BY 1, 2;
SELECT table_name, constraint_name FROM information_schema.referential_constraints WHERE constraint_schema = 'diff' ORDER BY 1, 2;
SELECT constraint_name FROM information_schema.check_constraints WHERE constraint_schema = 'diff';
SELECT table_name FROM information_schema.views WHERE table_schema = 'diff';
SELECT table_name FROM information_schema.partitions WHERE table_schema = 'diff' ORDER BY 1;
SELECT view_name, table_name FROM information_schema.view_table_usage WHERE view_schema = 'diff';
SELECT schema_name FROM information_schema.schemata WHERE schema_name IN ('diff', 'mysql') ORDER BY 1;
SELECT grantee, table_name, privilege_type FROM information_schema.table_privileges WHERE table_schema = 'diff' ORDER BY 1, 2, 3;
SELECT grantee, table_schema FROM information_schema.schema_privileges WHERE table_schema = 'diff' ORDER BY 1;
SELECT COUNT(*) FROM information_schema.user_privileges WHERE grantee NOT LIKE '%priv_one%';
SELECT table_name FROM information_schema.st_geometry_columns WHERE table_schema = 'diff';
SELECT COUNT(*) FROM information_schema.column_privileges;
SELECT COUNT(*) FROM information_schema.applicable_roles;
SELECT COUNT(*) FROM information_schema.enabled_roles;
SELECT COUNT(*) FROM information_schema.administrable_role_authorizations;
SELECT COUNT(*) FROM information_schema.role_table_grants;
SELECT COUNT(*) FROM information_schema.table_constraints_extensions WHERE table_schema = 'diff';

-- as: priv_two
USE diff;
SHOW TABLES;
SHOW COLUMNS FROM v;
SHOW CREATE TABLE v;
SHOW CREATE VIEW v;
SELECT table_name, view_definition FROM information_schema.views WHERE table_schema = 'diff';
SELECT view_name, table_name FROM information_schema.view_table_usage WHERE view_schema = 'diff';
SELECT table_name, column_name, privileges FROM information_schema.columns WHERE table_schema = 'diff';
EXPLAIN SELECT * FROM v;
EXPLAIN FORMAT=TREE SELECT * FROM v;

-- as: priv_ins
USE diff;
SHOW TABLES;
SHOW COLUMNS FROM u;
SHOW CREATE TABLE u;
SHOW INDEX FROM u WHERE key_name = 'x';
SELECT * FROM u;
SELECT COUNT(*) FROM u;
SELECT 1 FROM u;
SELECT table_name, column_name, privileges FROM information_schema.columns WHERE table_schema = 'diff' ORDER BY 1, 2;
SELECT constraint_name FROM information_schema.table_constraints WHERE table_schema = 'diff' ORDER BY 1;

-- as: priv_showdb
SHOW DATABASES LIKE 'diff';
SELECT schema_name FROM information_schema.schemata WHERE schema_name IN ('diff', 'mysql') ORDER BY 1;
USE diff;
SHOW TABLES FROM diff;
SHOW CREATE DATABASE diff;
SHOW CREATE DATABASE nosuch;
SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'diff';

-- as: priv_vsel
USE diff;
SELECT * FROM v;
SHOW CREATE VIEW v;
SHOW CREATE TABLE v;
SHOW COLUMNS FROM v;
SELECT table_name, view_definition FROM information_schema.views WHERE table_schema = 'diff';
EXPLAIN SELECT * FROM v;
EXPLAIN SELECT * FROM (SELECT * FROM v) x;
EXPLAIN ANALYZE SELECT * FROM v;
-- as: priv_vshow
USE diff;
SELECT * FROM v;
SHOW CREATE VIEW v;
SHOW COLUMNS FROM v;

-- as: priv_cr
USE diff;
SHOW TABLES;
SHOW CREATE TABLE t;
SHOW COLUMNS FROM t;
SHOW CREATE DATABASE diff;
CREATE TABLE c1 (a INT);
CREATE TABLE c2 SELECT 1 AS a;
CREATE TABLE c2 LIKE t;
CREATE TABLE c2 (a INT, FOREIGN KEY (a) REFERENCES t (a));
DROP TABLE c1;
INSERT INTO c1 VALUES (1);
ALTER TABLE c1 ADD b INT;
CREATE INDEX i ON c1 (a);
CREATE TEMPORARY TABLE c3 (a INT);
CREATE VIEW c4 AS SELECT 1;
CREATE DATABASE diff;
CREATE DATABASE IF NOT EXISTS diff;
DROP DATABASE diff;
ALTER DATABASE diff CHARACTER SET utf8mb4;

-- as: priv_db
USE diff;
SHOW TABLES;
SHOW CREATE DATABASE diff;
SHOW CREATE TABLE t;
SHOW CREATE VIEW v;
SELECT * FROM nosuch;
SELECT * FROM t, nosuch;
INSERT INTO nosuch VALUES (1);
DROP TABLE nosuch;
CREATE TABLE nosuch (a INT);
CALL nosuch();
SHOW CREATE PROCEDURE nosuch;
SHOW CREATE FUNCTION nosuch;

-- as: root
DROP TABLE IF EXISTS c1;
DROP USER priv_one, priv_two, priv_ins, priv_showdb, priv_vsel, priv_vshow, priv_cr, priv_db;
