-- Columns computed from the time at which their row was changed.
CREATE TABLE m (a INT PRIMARY KEY, ts TIMESTAMP NULL DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP, y INT AS (YEAR(ts)) STORED, z INT AS (y + 1) VIRTUAL, KEY (z), KEY (y, z));
SET timestamp = 1600000000;
INSERT INTO m (a, ts) VALUES (1, '2001-01-01'), (2, '2002-02-02'), (3, NULL);
SELECT a, y, z FROM m ORDER BY a;
UPDATE m SET a = a + 10 WHERE a < 3;
SELECT a, y, z FROM m ORDER BY a;
SELECT a FROM m WHERE z = 2002;
SELECT a FROM m WHERE z = 2021 ORDER BY a;
SELECT a FROM m FORCE INDEX (y) WHERE y = 2020 ORDER BY a;
-- A row that does not change keeps its time.
SET timestamp = 1700000000;
UPDATE m SET a = 11 WHERE a = 11;
SELECT a, y, z FROM m ORDER BY a;
-- A column with an explicit value keeps it.
UPDATE m SET a = 4, ts = '2004-04-04' WHERE a = 12;
SELECT a, y, z FROM m ORDER BY a;
-- All rows together.
UPDATE m SET a = a + 100;
SELECT a, y, z FROM m ORDER BY a;
SELECT a FROM m WHERE z = 2024 ORDER BY a;
-- ON DUPLICATE KEY UPDATE.
SET timestamp = 1500000000;
INSERT INTO m (a) VALUES (111) ON DUPLICATE KEY UPDATE a = 112;
SELECT a, y, z FROM m ORDER BY a;
SELECT a FROM m WHERE z = 2018;
-- Several tables.
CREATE TABLE n (b INT);
INSERT INTO n VALUES (104);
SET timestamp = 1400000000;
UPDATE m JOIN n ON a = b SET a = 105;
SELECT a, y, z FROM m ORDER BY a;
SELECT a FROM m WHERE z = 2015;
CHECK TABLE m EXTENDED;
DROP TABLE m, n;
SET timestamp = DEFAULT;
