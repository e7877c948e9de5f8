-- What accounts see that hold privileges on some columns, and how those are taken back.
CREATE TABLE t (id INT PRIMARY KEY, a INT, secret INT, KEY ks (secret), KEY k2 (a, secret), UNIQUE KEY us (secret, id));
CREATE TABLE u (id INT PRIMARY KEY, secret INT, FOREIGN KEY (secret) REFERENCES t (secret));
CREATE USER dups_u@'%', dups_w@'%';
GRANT SELECT (id, a), INSERT (id, a), UPDATE (a) ON t TO dups_u@'%';
GRANT SELECT (id) ON u TO dups_u@'%';
GRANT SELECT (id, a), DELETE ON t TO dups_w@'%';
-- as: dups_u
USE diff;
SHOW INDEX FROM t;
SELECT index_name, seq_in_index, column_name FROM information_schema.statistics WHERE table_schema = DATABASE() ORDER BY 1, 2;
SELECT table_name, column_name FROM information_schema.key_column_usage WHERE table_schema = DATABASE() ORDER BY 1, 2;
SELECT table_name, constraint_name FROM information_schema.table_constraints WHERE table_schema = DATABASE() ORDER BY 1, 2;
SELECT constraint_name FROM information_schema.referential_constraints WHERE constraint_schema = DATABASE() ORDER BY 1;
SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY 1;
SHOW TABLES;
SHOW COLUMNS FROM u;
SELECT ID, SECRET FROM t;
SELECT T.SECRET FROM t T;
UPDATE t SET SECRET = 1;
INSERT INTO t (ID, SECRET) VALUES (1, 1);
-- as: dups_w
USE diff;
SHOW INDEX FROM t;
SELECT index_name, seq_in_index, column_name FROM information_schema.statistics WHERE table_schema = DATABASE() ORDER BY 1, 2;
SELECT table_name, column_name FROM information_schema.key_column_usage WHERE table_schema = DATABASE() ORDER BY 1, 2;
SHOW COLUMNS FROM t;
SELECT table_name, constraint_name FROM information_schema.table_constraints WHERE table_schema = DATABASE() ORDER BY 1, 2;
-- as: root
REVOKE UPDATE (id) ON t FROM dups_u@'%';
REVOKE UPDATE (secret) ON t FROM dups_u@'%';
REVOKE REFERENCES (id) ON t FROM dups_u@'%';
REVOKE SELECT (nope) ON t FROM dups_u@'%';
REVOKE UPDATE ON t FROM dups_u@'%';
REVOKE DELETE ON t FROM dups_u@'%';
REVOKE UPDATE (id, secret) ON t FROM dups_u@'%';
SHOW GRANTS FOR dups_u@'%';
REVOKE SELECT (id), INSERT (id) ON t FROM dups_u@'%';
REVOKE SELECT (id) ON t FROM dups_u@'%';
REVOKE SELECT ON t FROM dups_u@'%';
SHOW GRANTS FOR dups_u@'%';
SELECT column_name, table_name FROM information_schema.columns WHERE table_schema = DATABASE();
DROP USER dups_u@'%', dups_w@'%';
