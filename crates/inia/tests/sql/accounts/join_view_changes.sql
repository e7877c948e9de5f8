-- Privileges for changes through views over joins, and of views among several tables.
CREATE TABLE t (a INT PRIMARY KEY, b INT);
CREATE TABLE u (id INT PRIMARY KEY, x INT);
CREATE TABLE o (k INT PRIMARY KEY, z INT);
INSERT INTO t VALUES (1,1),(2,2),(3,3);
INSERT INTO u VALUES (1,1),(2,2),(3,3);
INSERT INTO o VALUES (1,1),(2,2),(3,3);
CREATE USER jv_d, jv_u;
GRANT SELECT, UPDATE, INSERT ON diff.t TO jv_d;
GRANT SELECT ON u TO jv_d;
CREATE DEFINER = jv_d VIEW j AS SELECT t.a, t.b, u.id, u.x FROM t JOIN u ON t.a = u.id;
CREATE DEFINER = jv_d VIEW v AS SELECT a, b FROM t WHERE a < 3;
CREATE DEFINER = jv_d SQL SECURITY INVOKER VIEW vi AS SELECT a, b FROM t WHERE a < 3;
GRANT SELECT, UPDATE, INSERT ON j TO jv_u;
GRANT SELECT, UPDATE, DELETE ON v TO jv_u;
GRANT SELECT, UPDATE, DELETE ON vi TO jv_u;
GRANT SELECT ON o TO jv_u;
-- as: jv_u
USE diff;
UPDATE j SET b = 10 WHERE id = 1;
UPDATE j SET x = 10 WHERE id = 1;
INSERT INTO j (a, b) VALUES (4, 4);
INSERT INTO j (id, x) VALUES (4, 4);
UPDATE v, o SET v.b = 20 WHERE v.a = o.k;
UPDATE v, o SET o.z = 20 WHERE v.a = o.k;
UPDATE vi, o SET vi.b = 20 WHERE vi.a = o.k;
DELETE v FROM v, o WHERE v.a = o.k AND o.k = 2;
DELETE vi FROM vi, o WHERE vi.a = o.k;
DELETE o FROM v, o WHERE v.a = o.k;
-- as: root
GRANT DELETE ON t TO jv_d;
GRANT SELECT, UPDATE ON t TO jv_u;
-- as: jv_u
DELETE v FROM v, o WHERE v.a = o.k AND o.k = 2;
UPDATE vi, o SET vi.b = 30 WHERE vi.a = o.k;
DELETE vi FROM vi, o WHERE vi.a = o.k;
-- as: root
SELECT * FROM t ORDER BY a;
GRANT INSERT ON u TO jv_d;
-- as: jv_u
UPDATE j SET b = 11 WHERE id = 1;
INSERT INTO j (a, b) VALUES (5, 5);
-- as: root
DROP USER jv_d, jv_u;
SELECT * FROM t ORDER BY a;
