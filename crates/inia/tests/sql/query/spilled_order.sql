-- The order of an index is kept by joins and DISTINCT that do not fit into memory.
CREATE TABLE big (id INT PRIMARY KEY, k INT, s VARCHAR(100), KEY (k));
CREATE TABLE other (x INT, k INT, s VARCHAR(100));
INSERT INTO big WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 400) SELECT i, i * 7 % 400, CONCAT('row ', i, REPEAT('x', 60)) FROM n;
INSERT INTO other WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT i, i * 3 % 500, CONCAT('other ', i, REPEAT('y', 60)) FROM n;
SET tmp_table_size = 1024;
SELECT STRAIGHT_JOIN big.id, other.x FROM big JOIN other ON other.k = big.k ORDER BY big.id;
SELECT STRAIGHT_JOIN big.id, other.x, LENGTH(other.s) FROM big LEFT JOIN other ON other.k = big.k AND LENGTH(other.s) > 1 ORDER BY big.id LIMIT 50;
SELECT STRAIGHT_JOIN big.k, other.x FROM big JOIN other ON other.k = big.id ORDER BY big.k DESC LIMIT 40;
SELECT STRAIGHT_JOIN big.id, other.x, o.x FROM big JOIN other ON other.k = big.k JOIN other o ON o.k = big.id ORDER BY big.id, other.x, o.x LIMIT 60;
SELECT DISTINCT k, LEFT(s, 3) FROM big FORCE INDEX (k) WHERE k >= 0 ORDER BY k LIMIT 60, 60;
SELECT DISTINCT id, s FROM big ORDER BY id LIMIT 350, 50;
SELECT DISTINCT id, s FROM big ORDER BY id DESC LIMIT 350, 50;
SELECT STRAIGHT_JOIN DISTINCT big.id, other.k FROM big JOIN other ON other.k = big.k ORDER BY big.id;
SET tmp_table_size = DEFAULT;
