-- Derived tables and views on the inner side of an outer join: their columns are NULL where no row matches, whatever they are.
CREATE TABLE t (id INT PRIMARY KEY, a INT);
CREATE TABLE u (id INT PRIMARY KEY, b INT);
INSERT INTO t VALUES (1, 1), (2, 2), (3, 3);
INSERT INTO u VALUES (2, 20), (4, 40);
SELECT t.id, d.c + 0 FROM t LEFT JOIN (SELECT id, 7 AS c FROM u) d ON d.id = t.id ORDER BY t.id;
SELECT t.id, (SELECT SUM(IFNULL(d.o, 100)) FROM t x LEFT JOIN (SELECT u.id, t.a AS o FROM u) d ON d.id = x.id) AS g FROM t ORDER BY t.id;
SELECT t.id, (SELECT COUNT(d.a) FROM u x LEFT JOIN (SELECT u.id, a FROM u WHERE b > 30) d ON d.id = x.id) AS n FROM t ORDER BY t.id;
SELECT t.id, (SELECT COUNT(d.o) FROM (SELECT u.id, t.a AS o FROM u) d RIGHT JOIN t x ON d.id = x.id) AS n FROM t ORDER BY t.id;
SELECT t.id, (SELECT COUNT(d.o) FROM t x LEFT JOIN (SELECT e.id, e.o FROM (SELECT u.id, t.a AS o FROM u) e) d ON d.id = x.id) AS n FROM t ORDER BY t.id;
SELECT t.id, (SELECT COUNT(d.o) FROM t x LEFT JOIN (u JOIN (SELECT id AS i, t.a AS o FROM u) d ON d.i = u.id) ON d.i = x.id) AS n FROM t ORDER BY t.id;
CREATE VIEW v AS SELECT id, 1 AS one, b FROM u;
SELECT t.id, v.one, v.b FROM t LEFT JOIN v ON v.id = t.id ORDER BY t.id;
SELECT t.id FROM v RIGHT JOIN t ON v.id = t.id WHERE v.one IS NULL ORDER BY t.id;
