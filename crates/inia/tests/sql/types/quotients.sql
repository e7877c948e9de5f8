-- How many digits quotients keep: in set operations, distinct sums, and of doubles with few decimals.
SELECT 1/7 UNION SELECT 0.000000001;
SELECT 1/7 UNION ALL SELECT 2/7;
CREATE TABLE ct AS SELECT 1/7 a UNION SELECT 0.000000001;
SELECT * FROM ct ORDER BY a;
CREATE TABLE k (k INT);
INSERT INTO k VALUES (1), (3), (10), (3);
SELECT SUM(DISTINCT k/7), AVG(DISTINCT k/7), AVG(k/7), SUM(k/7), COUNT(DISTINCT k/7) FROM k;
SELECT 1/PI(), 2e0/3, PI()/1, PI()*2, PI()+0;
