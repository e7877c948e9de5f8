-- Values that read the column of AUTO_INCREMENT before it has its number read 0, which is also its DEFAULT().
CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(20), n INT, c VARCHAR(5) NOT NULL);
INSERT INTO a (v, n, c) VALUES ('q', id, 'x');
INSERT INTO a (n, c) VALUES (id + 5, c), (7, CONCAT(c, 'z'));
INSERT INTO a SET n = id, c = 'y';
INSERT INTO a (c, n) SELECT 'x', 1 ON DUPLICATE KEY UPDATE n = id;
SELECT * FROM a;
INSERT INTO a (id, c) VALUES (DEFAULT(id), 'd');
UPDATE a SET n = DEFAULT(id) WHERE id = 1;
SELECT n FROM a WHERE id = 1;
SELECT DEFAULT(id) + 0 FROM a LIMIT 1;
