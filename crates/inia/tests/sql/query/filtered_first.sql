-- Of two tables that are read as a whole, the one with a condition of its own is read first.
CREATE TABLE t (a INT NOT NULL PRIMARY KEY, b CHAR(10), c INT, KEY by_c (c));
CREATE TABLE s (sa INT NOT NULL PRIMARY KEY, sb CHAR(10), sc INT, KEY by_sc (sc));
INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i, 'x', i % 40 FROM n;
INSERT INTO s WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i, IF(i = 7, 'y', 'x'), i % 30 FROM n;
SELECT COUNT(*), SUM(a), SUM(sa) FROM t, s WHERE c = sa AND sb = 'y';
SELECT COUNT(*), SUM(a), SUM(sa) FROM t, s WHERE c = sa AND sb = 'z';
SELECT COUNT(*), SUM(a), SUM(sa) FROM t, s WHERE c = sa AND b = 'x' AND sb = 'x';
SELECT COUNT(*), SUM(a), SUM(sa) FROM t, s WHERE c = sc AND b = 'z';
SELECT a, sa FROM t JOIN s ON c = sa AND sb = 'y' ORDER BY a LIMIT 3;
