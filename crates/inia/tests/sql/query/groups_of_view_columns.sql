-- A column of a merged view or derived table may be an expression; a group of it fixes what is computed of the column.
CREATE TABLE e (id INT PRIMARY KEY, s VARCHAR(10), d DATE);
INSERT INTO e VALUES (1, 'a', '2020-01-01'), (2, 'b', '2020-01-02');
CREATE VIEW casts AS SELECT CAST(id AS SIGNED) c2, CAST(id AS CHAR) c3 FROM e;
CREATE VIEW calls AS SELECT UPPER(s) c2, YEAR(d) c3, id + 1 c4 FROM e;
SELECT c2 + 1, c2 FROM casts GROUP BY c2;
SELECT CONCAT(c3, 1), c3 FROM casts GROUP BY c3;
SELECT CASE WHEN c2 THEN c2 END, c2 FROM casts GROUP BY c2;
SELECT c2 FROM casts GROUP BY c2 HAVING c2 + 1 > 2;
SELECT c2 FROM casts GROUP BY c2 ORDER BY c2 + 1;
SELECT c2 + 1 FROM casts GROUP BY c3;
SELECT CONCAT(c2, c3 + 1, -c4) FROM calls GROUP BY c2, c3, c4;
SELECT CONCAT(c2, c3 + 1, -c4) FROM calls GROUP BY c2, c4;
SELECT c2 + 1 FROM (SELECT CAST(id AS SIGNED) c2 FROM e) x GROUP BY c2;
SELECT CAST(id AS CHAR) FROM e GROUP BY CAST(id AS CHAR) ORDER BY CAST(id AS CHAR);
-- Operands of a set operation keep the digits of quotients, and are grouped by them all the same.
CREATE VIEW quotients AS SELECT (id / 4) c1 FROM e;
SELECT 1 UNION SELECT id / 4 FROM e GROUP BY id / 4;
SELECT 1, 2 UNION SELECT 1, c1 + 1 FROM quotients GROUP BY c1;
SELECT 1, 2 UNION SELECT 1, MIN(0) OVER (ORDER BY c1) FROM quotients GROUP BY c1;
SELECT id / 4 FROM e GROUP BY id / 4 ORDER BY id / 4;
