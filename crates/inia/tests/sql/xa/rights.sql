-- Who may see and end which branch.
CREATE TABLE t (id INT PRIMARY KEY);
CREATE USER diff_plain;
CREATE USER diff_admin;
GRANT ALL ON diff.* TO diff_plain;
GRANT ALL ON diff.* TO diff_admin;
GRANT XA_RECOVER_ADMIN ON *.* TO diff_admin;
SHOW GRANTS FOR diff_admin;
-- as: diff_plain
USE diff;
XA RECOVER;
XA RECOVER CONVERT XID;
XA START 'diff-plain';
INSERT INTO t VALUES (1);
XA END 'diff-plain';
XA PREPARE 'diff-plain';
-- as: diff_admin
USE diff;
XA RECOVER;
XA START 'diff-admin';
INSERT INTO t VALUES (2);
XA END 'diff-admin';
XA PREPARE 'diff-admin';
-- as: diff_plain
XA COMMIT 'diff-admin';
XA ROLLBACK 'diff-admin';
XA COMMIT 'nothing';
XA COMMIT 'diff-plain';
-- as: diff_admin
XA COMMIT 'diff-plain';
XA COMMIT 'diff-admin';
XA RECOVER;
-- as: root
SELECT * FROM t ORDER BY id;
REVOKE XA_RECOVER_ADMIN ON *.* FROM diff_admin;
XA START 'diff-root';
INSERT INTO t VALUES (3);
-- as: diff_admin
XA START 'diff-root';
XA COMMIT 'diff-root';
XA RECOVER;
-- as: root
XA END 'diff-root';
-- as: diff_admin
XA COMMIT 'diff-root';
XA COMMIT 'diff-root' ONE PHASE;
XA ROLLBACK 'diff-root';
-- as: root
XA PREPARE 'diff-root';
-- as: diff_admin
XA START 'diff-root';
XA ROLLBACK 'diff-root';
XA COMMIT 'diff-root' ONE PHASE;
-- as: root
XA ROLLBACK 'diff-root';
SELECT * FROM t ORDER BY id;
DROP USER diff_plain, diff_admin;
