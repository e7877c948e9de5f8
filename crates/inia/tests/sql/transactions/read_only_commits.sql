-- A transaction that has changed rows cannot commit where the server has become read-only.
CREATE TABLE t (a INT);
CREATE USER ro_commit;
GRANT ALL ON *.* TO ro_commit;
REVOKE SUPER, CONNECTION_ADMIN ON *.* FROM ro_commit;
-- as: ro_commit
USE diff;
BEGIN;
INSERT INTO t VALUES (1);
-- as: root
SET GLOBAL read_only = ON;
-- as: ro_commit
COMMIT;
SELECT * FROM t;
BEGIN;
SELECT * FROM t;
COMMIT;
CREATE TEMPORARY TABLE x (a INT);
BEGIN;
INSERT INTO x VALUES (1);
COMMIT;
-- as: root
SET GLOBAL read_only = OFF;
-- as: ro_commit
BEGIN;
INSERT INTO t VALUES (2);
-- as: root
SET GLOBAL read_only = ON;
-- as: ro_commit
BEGIN;
SELECT * FROM t;
ROLLBACK;
-- as: root
SET GLOBAL read_only = OFF;
-- as: ro_commit
BEGIN;
INSERT INTO t VALUES (3);
-- as: root
SET GLOBAL read_only = ON;
-- as: ro_commit
ROLLBACK;
-- as: root
BEGIN;
INSERT INTO t VALUES (4);
COMMIT;
SET GLOBAL read_only = OFF;
BEGIN;
INSERT INTO t VALUES (5);
SET GLOBAL super_read_only = ON;
COMMIT;
SET GLOBAL super_read_only = OFF;
SET GLOBAL read_only = OFF;
SELECT * FROM t;
DROP USER ro_commit;
