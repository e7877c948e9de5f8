-- Views act for their definer, or for whoever uses them.
CREATE USER priv_def, priv_inv, priv_gone, priv_alter, priv_ins;
CREATE TABLE t (a INT PRIMARY KEY, b INT);
INSERT INTO t VALUES (1, 10), (2, 20);
CREATE TABLE u (a INT PRIMARY KEY, b INT);
INSERT INTO u VALUES (1, 100), (2, 200);
CREATE DEFINER = priv_def VIEW v AS SELECT a, b FROM t;
CREATE DEFINER = priv_def VIEW vu AS SELECT a, b FROM t WHERE a IN (SELECT a FROM u);
CREATE DEFINER = priv_def SQL SECURITY INVOKER VIEW vi AS SELECT a, b FROM t;
CREATE DEFINER = priv_def VIEW vvi AS SELECT a, b FROM vi;
CREATE DEFINER = priv_inv SQL SECURITY INVOKER VIEW viv AS SELECT a, b FROM v;
CREATE DEFINER = priv_gone VIEW vg AS SELECT a, b FROM t;
CREATE DEFINER = priv_def VIEW vj AS SELECT t.a, t.b, u.b AS c FROM t JOIN u ON t.a = u.a;
CREATE VIEW vroot AS SELECT a, b FROM t;
CREATE SQL SECURITY INVOKER VIEW vrooti AS SELECT a, b FROM t;
CREATE VIEW vvrooti AS SELECT a, b FROM vrooti;
CREATE DEFINER = priv_def VIEW agg AS SELECT COUNT(*) AS n FROM t;
GRANT SELECT, INSERT, UPDATE, DELETE ON diff.v TO priv_inv;
GRANT SELECT, INSERT, UPDATE, DELETE ON diff.vu TO priv_inv;
GRANT SELECT, INSERT, UPDATE, DELETE ON diff.vi TO priv_inv;
GRANT SELECT, INSERT, UPDATE, DELETE ON diff.vvi TO priv_inv;
GRANT SELECT, INSERT, UPDATE, DELETE ON diff.viv TO priv_inv;
GRANT SELECT, INSERT, UPDATE, DELETE ON diff.vg TO priv_inv;
GRANT SELECT, INSERT, UPDATE, DELETE ON diff.vj TO priv_inv;
GRANT SELECT, INSERT, UPDATE, DELETE ON diff.vroot TO priv_inv;
GRANT SELECT, INSERT, UPDATE, DELETE ON diff.vrooti TO priv_inv;
GRANT SELECT, INSERT, UPDATE, DELETE ON diff.vvrooti TO priv_inv;
GRANT SELECT ON diff.agg TO priv_inv;
GRANT INSERT ON diff.v TO priv_ins;
GRANT INSERT ON diff.vroot TO priv_ins;

-- The definer may nothing yet.
-- as: priv_inv
USE diff;
SELECT * FROM v;
INSERT INTO v VALUES (3, 30);
UPDATE v SET b = 1;
DELETE FROM v;
SELECT * FROM agg;
SELECT * FROM vi;
SELECT * FROM vroot ORDER BY a;
SELECT * FROM vrooti;
SELECT * FROM vvrooti ORDER BY a;
UPDATE vvrooti SET b = 11 WHERE a = 1;
UPDATE vrooti SET b = 11 WHERE a = 1;
INSERT INTO vroot VALUES (4, 40);
INSERT INTO vrooti VALUES (5, 50);
DELETE FROM vroot WHERE a = 4;
PREPARE p FROM 'SELECT * FROM v';

-- The definer may read.
-- as: root
GRANT SELECT ON diff.t TO priv_def;
-- as: priv_inv
SELECT * FROM v ORDER BY a;
SELECT * FROM agg;
PREPARE p FROM 'SELECT COUNT(*) FROM v';
EXECUTE p;
INSERT INTO v VALUES (3, 30);
UPDATE v SET b = 1;
UPDATE v SET b = 1 WHERE a = 1;
DELETE FROM v WHERE a = 1;
REPLACE INTO v VALUES (1, 1);
SELECT * FROM vu;
SELECT * FROM vvi ORDER BY a;
SELECT * FROM viv ORDER BY a;
SELECT * FROM vi;

-- as: root
REVOKE SELECT ON diff.t FROM priv_def;
GRANT INSERT ON diff.t TO priv_def;
-- as: priv_inv
EXECUTE p;
SELECT * FROM v;
INSERT INTO v VALUES (10, 1);
INSERT INTO v VALUES (10, 1) ON DUPLICATE KEY UPDATE b = 2;
INSERT INTO v VALUES (10, 1) ON DUPLICATE KEY UPDATE b = b + 2;
REPLACE INTO v VALUES (10, 3);
UPDATE v SET b = 1;
DELETE FROM v;
INSERT INTO viv VALUES (11, 1);
INSERT INTO vvi VALUES (12, 1);
INSERT INTO vi VALUES (13, 1);

-- as: root
GRANT UPDATE ON diff.t TO priv_def;
REVOKE INSERT ON diff.t FROM priv_def;
-- as: priv_inv
UPDATE v SET b = 7;
UPDATE v SET b = 8 WHERE a = 1;
UPDATE v SET b = b + 1;
INSERT INTO v VALUES (14, 1);
UPDATE viv SET b = 9;
UPDATE vvi SET b = 9;
-- as: root
GRANT SELECT ON diff.t TO priv_def;
GRANT SELECT ON diff.u TO priv_def;
-- as: priv_inv
UPDATE v SET b = 8 WHERE a = 1;
UPDATE vj SET b = 3;
UPDATE vj SET c = 3;
UPDATE vu SET b = 4;
INSERT INTO v VALUES (1, 1) ON DUPLICATE KEY UPDATE b = 2;
PREPARE up FROM 'UPDATE v SET b = 5 WHERE a = 1';
EXECUTE up;
-- as: root
REVOKE UPDATE ON diff.t FROM priv_def;
-- as: priv_inv
EXECUTE up;
UPDATE v SET b = 5 WHERE a = 1;

-- as: root
GRANT DELETE ON diff.t TO priv_def;
GRANT INSERT ON diff.t TO priv_def;
-- as: priv_inv
REPLACE INTO v VALUES (1, 77);
INSERT INTO v VALUES (1, 1) ON DUPLICATE KEY UPDATE b = 2;
DELETE FROM v WHERE a = 10;
DELETE FROM vu WHERE a = 100;
PREPARE del FROM 'DELETE FROM v WHERE a = 11';
PREPARE ins FROM 'INSERT INTO v VALUES (30, 1)';
PREPARE rep FROM 'REPLACE INTO v VALUES (30, 1)';
EXECUTE del;
EXECUTE ins;
EXECUTE rep;
-- as: root
REVOKE DELETE ON diff.t FROM priv_def;
-- as: priv_inv
EXECUTE del;
EXECUTE rep;
REPLACE INTO v VALUES (1, 77);
-- as: root
REVOKE INSERT ON diff.t FROM priv_def;
-- as: priv_inv
EXECUTE ins;
DELETE FROM v WHERE a = 11;
DELETE v FROM v JOIN u ON v.a = u.a;
-- as: root
GRANT SELECT ON diff.u TO priv_inv;
-- as: priv_inv
INSERT INTO vi SELECT * FROM v;

-- Conditions of views read, too; temporary tables are none of theirs.
-- as: root
CREATE DEFINER = priv_def VIEW vw AS SELECT a, b FROM t WHERE a < 99;
CREATE DEFINER = priv_def VIEW vc AS SELECT a, b FROM t WHERE a < 99 WITH CHECK OPTION;
CREATE DEFINER = priv_def VIEW vd AS SELECT DISTINCT a, b FROM t;
GRANT ALL ON diff.vw TO priv_inv;
GRANT ALL ON diff.vc TO priv_inv;
GRANT ALL ON diff.vd TO priv_inv;
GRANT CREATE TEMPORARY TABLES ON diff.* TO priv_inv;
REVOKE ALL ON diff.t FROM priv_def;
GRANT INSERT, UPDATE, DELETE ON diff.t TO priv_def;
-- as: priv_inv
UPDATE vw SET b = 1;
DELETE FROM vw;
INSERT INTO vw VALUES (80, 1);
INSERT INTO vc VALUES (81, 1);
INSERT INTO vc VALUES (82, 1) ON DUPLICATE KEY UPDATE b = 3;
INSERT INTO vw VALUES (80, 1) ON DUPLICATE KEY UPDATE b = VALUES(b);
REPLACE INTO vw VALUES (80, 2);
UPDATE v SET b = b;
UPDATE v SET b = DEFAULT;
UPDATE v SET b = DEFAULT(b);
DELETE FROM v ORDER BY a LIMIT 0;
-- as: root
GRANT SELECT ON diff.t TO priv_def;
-- as: priv_inv
USE diff;
SELECT COUNT(*) > 0 FROM vd;
CREATE TEMPORARY TABLE t (a INT, b INT);
INSERT INTO t VALUES (777, 777);
SELECT * FROM v WHERE a = 777;
SELECT * FROM vd WHERE a = 777;
SELECT * FROM t;
DROP TABLE t;
CREATE TEMPORARY TABLE vd (x INT);
INSERT INTO vd VALUES (5);
SELECT * FROM vd;
UPDATE vd SET x = 6;
DELETE FROM vd;
DROP TABLE vd;
SELECT COUNT(*) > 0 FROM vd;

-- The default roles of the definer count.
-- as: root
CREATE ROLE priv_vrole;
GRANT SELECT ON diff.t TO priv_vrole;
REVOKE ALL ON diff.t FROM priv_def;
GRANT priv_vrole TO priv_def;
-- as: priv_inv
SELECT COUNT(*) > 0 FROM v;
-- as: root
SET DEFAULT ROLE priv_vrole TO priv_def;
-- as: priv_inv
SELECT COUNT(*) > 0 FROM v;
-- as: root
DROP ROLE priv_vrole;
-- as: priv_inv
SELECT COUNT(*) > 0 FROM v;
-- as: root
GRANT SELECT ON diff.t TO priv_def;

-- What the invoker may do to the view counts, too.
-- as: priv_ins
USE diff;
INSERT INTO vroot VALUES (70, 7);
REPLACE INTO vroot VALUES (70, 7);
INSERT INTO vroot VALUES (70, 7) ON DUPLICATE KEY UPDATE b = 1;
INSERT INTO vroot VALUES (70, 7) ON DUPLICATE KEY UPDATE b = b;
SELECT * FROM vroot;
UPDATE vroot SET b = 1;
DELETE FROM vroot;

-- A definer that is gone.
-- as: root
DROP USER priv_gone;
SELECT * FROM vg;
-- as: priv_inv
SELECT * FROM vg;
INSERT INTO vg VALUES (15, 1);
UPDATE vg SET b = 1;
DELETE FROM vg;
SHOW CREATE VIEW vg;
SHOW COLUMNS FROM vg;
SHOW FIELDS FROM v;
SHOW CREATE VIEW v;
SHOW CREATE TABLE v;
EXPLAIN SELECT * FROM v;
EXPLAIN SELECT * FROM vroot;
SELECT table_name, definer, security_type, view_definition FROM information_schema.views WHERE table_schema = 'diff' ORDER BY 1;

-- ALTER VIEW and CREATE OR REPLACE VIEW.
-- as: root
GRANT CREATE VIEW, DROP ON diff.* TO priv_alter;
GRANT SELECT ON diff.t TO priv_alter;
-- as: priv_alter
USE diff;
ALTER VIEW vroot AS SELECT a, b FROM t WHERE a < 100;
CREATE OR REPLACE VIEW vroot AS SELECT a, b FROM t WHERE a < 100;
CREATE OR REPLACE DEFINER = root@localhost VIEW vroot AS SELECT a, b FROM t WHERE a < 100;
ALTER DEFINER = root@localhost VIEW vroot AS SELECT a, b FROM t WHERE a < 100;
ALTER DEFINER = CURRENT_USER VIEW vroot AS SELECT a, b FROM t WHERE a < 99;
CREATE VIEW mine AS SELECT a, b FROM t;
ALTER VIEW mine AS SELECT a FROM t;
CREATE VIEW wrong AS SELECT a, b FROM u;
CREATE VIEW wrong AS SELECT a, (SELECT MAX(b) FROM u) AS m FROM t;
CREATE VIEW wrong AS SELECT * FROM (SELECT a FROM u) x;
CREATE VIEW fromview AS SELECT * FROM vi;
ALTER VIEW t AS SELECT 1;
SHOW CREATE VIEW mine;
SELECT * FROM mine ORDER BY a;
DROP VIEW mine;
-- as: root
SELECT table_name, definer FROM information_schema.views WHERE table_schema = 'diff' ORDER BY 1;
ALTER VIEW v AS SELECT a, b FROM t WHERE a < 98;
ALTER SQL SECURITY INVOKER VIEW agg AS SELECT COUNT(*) AS n FROM t;
ALTER DEFINER = root@localhost VIEW vj AS SELECT t.a, t.b, u.b AS c FROM t JOIN u ON t.a = u.a;
SELECT table_name, definer, security_type FROM information_schema.views WHERE table_schema = 'diff' ORDER BY 1;
CREATE DEFINER = nobody VIEW vn AS SELECT a FROM t;
SELECT * FROM vn;
ALTER VIEW vn AS SELECT b FROM t;
DROP USER priv_def, priv_inv, priv_alter, priv_ins;
DROP USER IF EXISTS priv_gone;
DROP VIEW IF EXISTS vw, vc, vd;
SELECT * FROM t ORDER BY a;
SELECT * FROM u ORDER BY a;
