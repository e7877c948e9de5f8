-- Tables that a statement uses may not be changed by its triggers and functions: error 1442.
CREATE TABLE t (id INT PRIMARY KEY, v INT);
CREATE TABLE u (id INT PRIMARY KEY, v INT);
CREATE TABLE other (id INT PRIMARY KEY AUTO_INCREMENT, v INT);
INSERT INTO u VALUES (1, 1), (2, 2), (3, 3);
INSERT INTO t VALUES (50, 1);
-- body
CREATE TRIGGER ai AFTER INSERT ON t FOR EACH ROW BEGIN INSERT INTO other (v) VALUES (NEW.id); UPDATE u SET v = v + 1 WHERE id = NEW.v; END;;
-- body
CREATE FUNCTION f(z INT) RETURNS INT MODIFIES SQL DATA BEGIN UPDATE u SET v = v + 10 WHERE id = z; RETURN z; END;;
INSERT INTO t VALUES (1, 1);
INSERT INTO t SELECT id + 10, v FROM u ORDER BY id;
INSERT INTO t SELECT 20, COUNT(*) FROM u;
INSERT INTO other (v) SELECT f(id) FROM u ORDER BY id;
INSERT INTO other (v) SELECT f(1);
UPDATE t JOIN u ON t.v = u.id SET t.v = f(2);
DELETE t FROM t JOIN u ON t.v = u.id WHERE f(3) = 3;
DELETE t FROM t JOIN other ON t.v = other.id WHERE f(t.v) = t.v;
INSERT INTO t VALUES (2, 2);
SELECT * FROM t ORDER BY id;
SELECT * FROM u ORDER BY id;
SELECT v FROM other ORDER BY id;
