-- The SQL mode PAD_CHAR_TO_FULL_LENGTH: columns of CHAR(n) are read with spaces up to n characters.
SET sql_mode = 'PAD_CHAR_TO_FULL_LENGTH';
CREATE TABLE t (id INT PRIMARY KEY, c CHAR(5), v VARCHAR(5), b BINARY(4), l CHAR(5) CHARACTER SET latin1, KEY (c), KEY (l));
INSERT INTO t VALUES (1,'a','a','a','a'),(2,'bb ','bb ','bb','bb '),(3,'','','',''),(4,NULL,NULL,NULL,NULL),(5,'éé','éé','é','éé');
SELECT * FROM t ORDER BY id;
SELECT id, LENGTH(c), CHAR_LENGTH(c), CONCAT(c,'|'), CONCAT(v,'|'), HEX(b), CONCAT(l,'|'), LENGTH(l) FROM t ORDER BY id;
-- Comparisons see the spaces: the default collation does not pad, that of latin1 does.
SELECT id FROM t WHERE c = 'a';
SELECT id FROM t WHERE c = 'a    ';
SELECT id FROM t IGNORE INDEX (c) WHERE c = 'a    ';
SELECT id FROM t WHERE l = 'a';
SELECT id FROM t WHERE c LIKE 'a';
SELECT id FROM t WHERE c LIKE 'a%';
SELECT id FROM t WHERE c LIKE '%b';
SELECT id FROM t WHERE c > 'a' ORDER BY id;
SELECT id, c IN ('a','bb'), c BETWEEN 'a' AND 'b', CASE c WHEN 'a' THEN 1 ELSE 0 END FROM t ORDER BY id;
SELECT CONCAT(c,'|') FROM t WHERE id = 1;
SELECT c FROM t WHERE id BETWEEN 1 AND 3 ORDER BY id;
-- Groups, aggregates and windows.
SELECT c, COUNT(*) FROM t GROUP BY c ORDER BY c;
SELECT DISTINCT c FROM t ORDER BY c;
SELECT MAX(c), MIN(c), GROUP_CONCAT(c ORDER BY id), GROUP_CONCAT(l ORDER BY id), HEX(MAX(c)) FROM t;
SELECT COUNT(DISTINCT c), SUM(LENGTH(c)) FROM t;
SELECT FIRST_VALUE(c) OVER (ORDER BY id), LAG(c) OVER (ORDER BY id) FROM t ORDER BY id;
SELECT JSON_OBJECTAGG(id,c) FROM t;
-- Derived tables, views, set operations and joins.
SELECT CONCAT(c,'|') FROM (SELECT c FROM t LIMIT 10) d ORDER BY 1;
SELECT CONCAT(x,'|') FROM (SELECT MAX(c) x FROM t) d;
(SELECT CONCAT(c,'|') FROM t) UNION SELECT 'x' ORDER BY 1;
SELECT t.id, u.id FROM t JOIN t u ON t.c = u.v ORDER BY 1;
SELECT t.id, u.id FROM t JOIN t u ON t.c = u.c ORDER BY 1;
SELECT id, (SELECT CONCAT(t.c,'|') FROM t u WHERE u.c = t.c) FROM t ORDER BY id;
CREATE VIEW w AS SELECT CONCAT(c,'|') x FROM t;
SELECT x FROM w ORDER BY x;
SET sql_mode = '';
SELECT x FROM w ORDER BY x;
SELECT c FROM t WHERE c = 'a';
SET sql_mode = 'PAD_CHAR_TO_FULL_LENGTH';
-- What is written.
CREATE TABLE n AS SELECT id, c, CONCAT(c,'|') x FROM t;
INSERT INTO n SELECT id + 10, c, v FROM t;
UPDATE t SET v = c WHERE id = 1;
UPDATE t SET v = CONCAT(c, 'x') WHERE id = 2;
UPDATE t JOIN n ON n.id = t.id SET t.v = n.c WHERE t.id = 5;
DELETE FROM t WHERE c = 'a';
SELECT id, CONCAT(v,'|') FROM t ORDER BY id;
CREATE TABLE k (c CHAR(4) PRIMARY KEY, a INT);
INSERT INTO k VALUES ('a', 1), ('b', 2);
UPDATE k JOIN n ON n.id = k.a SET k.a = k.a + 10;
DELETE k FROM k JOIN n ON n.id = 2 WHERE k.a = 12;
SELECT * FROM k;
SELECT c INTO @a FROM t WHERE id = 2;
SELECT CONCAT(@a, '|');
-- A kept statement follows the mode.
PREPARE s FROM 'SELECT CONCAT(c, ''|'') FROM t WHERE id = 2';
EXECUTE s;
SET sql_mode = '';
EXECUTE s;
SELECT id, CONCAT(c,'|'), x FROM n ORDER BY id;
