-- Own tables, views and stored programs beside the system tables of the schema mysql.

-- as: root
DROP TABLE IF EXISTS mysql.own, mysql.own2, mysql.parent, mysql.child, mysql.divided;
DROP VIEW IF EXISTS mysql.own_view;
CREATE TABLE mysql.own (a INT PRIMARY KEY, b VARCHAR(10), KEY (b));
INSERT INTO mysql.own VALUES (1, 'x'), (2, 'y');
SELECT * FROM mysql.own ORDER BY a;
UPDATE mysql.own SET b = 'z' WHERE a = 2;
DELETE FROM mysql.own WHERE a = 1;
SELECT o.a, o.b, u.user FROM mysql.own o JOIN mysql.user u ON u.user = 'root' ORDER BY o.a;
SHOW CREATE TABLE mysql.own;
DESCRIBE mysql.own;
SHOW TABLES FROM mysql LIKE 'own%';
SHOW INDEX FROM mysql.own;
SELECT table_schema, table_name, table_type, engine FROM information_schema.tables
 WHERE table_schema = 'mysql' AND table_name IN ('own', 'user') ORDER BY table_name;
SELECT schema_name, default_collation_name FROM information_schema.schemata
 WHERE schema_name = 'mysql';
SELECT * FROM information_schema.schemata_extensions WHERE schema_name = 'mysql';
SHOW DATABASES LIKE 'mysql';
SHOW CREATE DATABASE mysql;
ALTER TABLE mysql.own ADD c INT DEFAULT 3, ADD KEY c (c);
CREATE INDEX bc ON mysql.own (b, c);
DROP INDEX bc ON mysql.own;
TRUNCATE TABLE mysql.own;
RENAME TABLE mysql.own TO moved;
SELECT * FROM mysql.own;
RENAME TABLE moved TO mysql.own2;
ALTER TABLE mysql.own2 RENAME mysql.own;
CREATE TABLE mysql.own (a INT);
CREATE TABLE mysql.own2 LIKE mysql.own;
INSERT INTO mysql.own2 (a) SELECT 7;
CREATE TABLE copied SELECT * FROM mysql.own2;
SELECT * FROM copied;
DROP TABLE copied, mysql.own2;
CHECK TABLE mysql.own;
CHECKSUM TABLE mysql.own;
ANALYZE TABLE mysql.own;
LOCK TABLES mysql.own WRITE;
INSERT INTO mysql.own (a) VALUES (4);
UNLOCK TABLES;
SELECT a FROM mysql.own;
CREATE VIEW mysql.own_view AS SELECT a FROM mysql.own;
SELECT * FROM mysql.own_view;
CREATE VIEW mysql.own AS SELECT 1;
DROP VIEW mysql.own_view;
CREATE VIEW mysql.user AS SELECT 1;
CREATE TRIGGER mysql.own_trigger BEFORE INSERT ON mysql.own FOR EACH ROW SET NEW.b = 't';
CREATE PROCEDURE mysql.own_procedure() SELECT 'called' AS p;
CALL mysql.own_procedure();
CREATE FUNCTION mysql.own_function(n INT) RETURNS INT DETERMINISTIC RETURN n + 1;
SELECT mysql.own_function(1);
SELECT routine_schema, routine_name FROM information_schema.routines
 WHERE routine_schema = 'mysql' ORDER BY routine_name;
DROP PROCEDURE mysql.own_procedure;
DROP FUNCTION mysql.own_function;
CREATE EVENT mysql.own_event ON SCHEDULE EVERY 1 YEAR STARTS '2037-01-01' DO SELECT 1;
SELECT event_schema, event_name FROM information_schema.events WHERE event_schema = 'mysql';
DROP EVENT mysql.own_event;
CREATE EVENT performance_schema.own_event ON SCHEDULE EVERY 1 YEAR DO SELECT 1;
CREATE TABLE mysql.parent (id INT PRIMARY KEY);
CREATE TABLE mysql.child (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES parent (id));
INSERT INTO mysql.child VALUES (1);
DROP TABLE mysql.parent;
DROP TABLE mysql.child, mysql.parent;
CREATE TABLE mysql.divided (a INT) PARTITION BY HASH (a) PARTITIONS 2;
INSERT INTO mysql.divided VALUES (1), (2);
SELECT * FROM mysql.divided PARTITION (p1);
DROP TABLE mysql.divided;
CREATE TABLE mysql.USER (a INT);
INSERT INTO mysql.USER VALUES (1);
SELECT * FROM mysql.USER;
DROP TABLE mysql.USER;
CREATE TEMPORARY TABLE mysql.user (a INT);
SELECT * FROM mysql.user;
DROP TEMPORARY TABLE mysql.user;
SELECT COUNT(*) FROM mysql.user WHERE user = 'root';

-- The schema itself stays as it is.
DROP DATABASE mysql;
DROP DATABASE IF EXISTS mysql;
CREATE DATABASE mysql;
CREATE DATABASE IF NOT EXISTS mysql;
ALTER DATABASE mysql CHARACTER SET latin1;
ALTER DATABASE mysql READ ONLY = 1;

-- Tables of the data dictionary.
SELECT * FROM mysql.tables;
CREATE TABLE mysql.tables (a INT);
CREATE TABLE IF NOT EXISTS mysql.columns (a INT);
CREATE TEMPORARY TABLE mysql.catalogs (a INT);
CREATE VIEW mysql.schemata AS SELECT 1;
DROP TABLE mysql.tables;
DROP TABLE IF EXISTS mysql.tables;
ALTER TABLE mysql.tables ADD x INT;
INSERT INTO mysql.tables VALUES (1);
UPDATE mysql.indexes SET a = 1;
DELETE FROM mysql.indexes;
TRUNCATE TABLE mysql.foreign_keys;
SHOW CREATE TABLE mysql.tables;
DESCRIBE mysql.innodb_ddl_log;
RENAME TABLE mysql.own TO mysql.tables;
SELECT * FROM mysql.event;
SELECT * FROM MYSQL.own;

-- Privileges.
DROP USER IF EXISTS system_reader, system_maker, system_nobody;
CREATE USER system_reader, system_maker, system_nobody;
GRANT SELECT ON mysql.own TO system_reader;
GRANT ALL ON mysql.* TO system_maker;
-- as: system_reader
SELECT a FROM mysql.own;
INSERT INTO mysql.own (a) VALUES (9);
CREATE TABLE mysql.own3 (a INT);
DROP TABLE mysql.own;
SELECT COUNT(*) FROM mysql.user;
-- as: system_maker
CREATE TABLE mysql.own3 (a INT);
INSERT INTO mysql.own3 VALUES (1);
SELECT * FROM mysql.own3;
DROP TABLE mysql.own3;
CREATE PROCEDURE mysql.own_procedure() SELECT 1;
DROP PROCEDURE mysql.own_procedure;
DROP DATABASE mysql;
-- as: system_nobody
SELECT a FROM mysql.own;
CREATE TABLE mysql.own3 (a INT);
DROP DATABASE mysql;
CREATE DATABASE mysql;
ALTER DATABASE mysql CHARACTER SET latin1;
-- as: root
DROP TABLE mysql.own;
DROP USER system_reader, system_maker, system_nobody;
USE mysql;
CREATE TABLE own (i INT AUTO_INCREMENT PRIMARY KEY) ENGINE = MyISAM;
INSERT INTO own VALUES (), ();
SELECT * FROM own ORDER BY i;
DROP TABLE own;
