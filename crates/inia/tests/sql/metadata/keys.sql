-- What a column is to the keys of its table: part of the primary key or of what takes its place,
-- the whole of a unique key, the first part of another key, some part of a key.
CREATE TABLE kinds(a INT PRIMARY KEY, b INT, c INT, d INT, e VARCHAR(10), f INT, g INT NOT NULL, h INT NOT NULL,
  i INT, j INT, UNIQUE(b), KEY(c, d), KEY(e(3)), UNIQUE(f, g), UNIQUE(h), UNIQUE(i, a));
SELECT * FROM kinds;
SELECT a AS x, b AS y FROM kinds AS k WHERE c = 1;
TABLE kinds ORDER BY a LIMIT 1;
(SELECT a, d FROM kinds);
SELECT DISTINCT a, b FROM kinds;
SELECT * FROM (SELECT a, b, c FROM kinds) AS merged;
SELECT outside.a FROM kinds LEFT JOIN (SELECT a FROM kinds) AS outside ON outside.a = kinds.b;

-- Without a primary key the first unique one takes its place that has no NULL and no prefix.
CREATE TABLE two(a INT NOT NULL, b INT NOT NULL, UNIQUE(a, b), UNIQUE(b));
SELECT * FROM two;
CREATE TABLE prefixed(a INT NOT NULL, b VARCHAR(10) NOT NULL, c INT NOT NULL, UNIQUE(b(3)), UNIQUE(c, a), UNIQUE(a, b));
SELECT * FROM prefixed;
CREATE TABLE nullable(a INT UNIQUE, b INT NOT NULL UNIQUE);
SELECT * FROM nullable;
CREATE TABLE both_keys(a INT NOT NULL, b INT, UNIQUE(a), UNIQUE(b), PRIMARY KEY(b));
SELECT * FROM both_keys;
CREATE TABLE several(a INT NOT NULL, b INT, c INT, UNIQUE(a), UNIQUE(b), KEY(b), KEY(c), UNIQUE(c));
SELECT * FROM several;
SELECT * FROM several LEFT JOIN both_keys ON several.a = both_keys.a;

-- Keys of other kinds.
CREATE TABLE others(a INT, b INT, c INT AS (a + 1), d BLOB, KEY(c), KEY((a + b)), KEY(b DESC), KEY(d(3), a) INVISIBLE);
SELECT * FROM others;
CREATE TABLE counted(a INT AUTO_INCREMENT, b INT DEFAULT 3 NOT NULL, KEY(a));
SELECT * FROM counted;

-- A view has its tables' keys.
CREATE VIEW v AS SELECT both_keys.a AS x, both_keys.b + 1 AS y FROM both_keys JOIN several USING (a);
SELECT * FROM v;
CREATE VIEW w AS SELECT x FROM v;
SELECT * FROM w;
