-- What the shards answer together: vtgate merges what Inia sends from each of them.

-- # Definitions go to every shard

CREATE TABLE customer (id BIGINT PRIMARY KEY, name VARCHAR(64), city VARCHAR(32), joined DATE);
CREATE TABLE orders (id BIGINT, customer_id BIGINT NOT NULL, amount DECIMAL(10,2), placed DATETIME(6),
  PRIMARY KEY (customer_id, id));
CREATE TABLE stock (sku VARCHAR(20) PRIMARY KEY, pieces INT UNSIGNED NOT NULL, price DOUBLE);
CREATE INDEX by_city ON customer (city);
CREATE VIEW big AS SELECT id, customer_id, amount FROM orders WHERE amount >= 50;
ALTER TABLE stock ADD COLUMN note VARCHAR(30) DEFAULT 'none', ADD CHECK (price >= 0);
-- wait 2
SHOW CREATE TABLE stock;
SHOW TABLES;
-- > big
-- > customer
-- > orders
-- > stock
SHOW COLUMNS FROM customer;
-- > id | bigint | NO | PRI | NULL | 
-- > name | varchar(64) | YES |  | NULL | 
-- > city | varchar(32) | YES | MUL | NULL | 
-- > joined | date | YES |  | NULL | 
DESCRIBE orders;
CREATE TABLE customer (id INT);
-- ! 1050

-- # Rows go to the shard of their key

INSERT INTO customer VALUES (1, 'Ada', 'Oslo', '2024-01-01'), (2, 'Émile', 'Paris', '2024-02-01'),
  (3, 'emile', 'Paris', '2024-03-01'), (4, 'Zoë', NULL, '2024-04-01'), (5, 'Bo', 'Rome', '2023-05-01'),
  (6, 'ångström', 'Oslo', '2023-06-01'), (7, 'Óscar', 'Rome', '2023-07-01'), (8, NULL, 'Bern', NULL),
  (9, 'Zola', 'Bern', '2022-09-01');
INSERT INTO orders VALUES (1, 1, 10.50, '2024-05-01 10:00:00.000001'), (2, 1, 99.99, '2024-05-02 10:00:00'),
  (3, 2, 5, '2024-05-03 10:00:00'), (4, 3, 50, '2024-05-04 10:00:00'), (5, 5, 20.25, '2024-05-05 10:00:00'),
  (6, 6, 70, '2024-05-06 10:00:00'), (7, 9, NULL, NULL), (8, 77, 1, '2024-05-07 10:00:00');
INSERT INTO stock (sku, pieces, price) VALUES ('tea', 5, 1.5), ('rice', 0, 2.25), ('Salt', 7, 0.1), ('pepper', 7, NULL);
INSERT INTO customer VALUES (5, 'again', 'x', NULL);
-- ! 1062
INSERT INTO stock VALUES ('bad', 1, -1, NULL);
-- ! 3819
INSERT INTO stock (sku) VALUES ('half');
-- ! 1364
INSERT INTO stock VALUES ('much', -1, 1, NULL);
-- ! 1264
INSERT IGNORE INTO customer VALUES (5, 'again', 'x', NULL), (10, 'Ten', 'Oslo', '2020-10-10');
SELECT name FROM customer WHERE id IN (5, 10) ORDER BY id;
-- > Bo
-- > Ten
INSERT INTO stock (sku, pieces) VALUES ('tea', 1) ON DUPLICATE KEY UPDATE pieces = stock.pieces + VALUES(pieces);
SELECT pieces FROM stock WHERE sku = 'tea';
-- > 6
DELETE FROM customer WHERE id = 10;

-- # One shard is asked, or all

SELECT * FROM customer WHERE id = 2;
-- > 2 | Émile | Paris | 2024-02-01
SELECT id FROM customer WHERE id IN (1, 4, 9, 1000) ORDER BY id;
-- > 1
-- > 4
-- > 9
SELECT id, name FROM customer WHERE city = 'PARIS' ORDER BY id DESC;
-- > 3 | emile
-- > 2 | Émile
SELECT sku, price FROM stock WHERE pieces > 0 ORDER BY sku;
-- > pepper | NULL
-- > Salt | 0.1
-- > tea | 1.5
SELECT * FROM customer WHERE id BETWEEN 3 AND 6;
SELECT id FROM customer WHERE name IS NULL OR city IS NULL;
-- > 4
-- > 8
SELECT COUNT(*) FROM customer WHERE joined >= '2024-01-01' AND joined < '2024-03-01' + INTERVAL 1 MONTH;
-- > 3
SELECT id, placed FROM orders WHERE placed > '2024-05-01 10:00:00' AND amount < 20 ORDER BY placed, id;
-- > 1 | 2024-05-01 10:00:00.000001
-- > 3 | 2024-05-03 10:00:00.000000
-- > 8 | 2024-05-07 10:00:00.000000
SELECT COUNT(*) FROM big;
-- > 3

-- # Sums over the shards

SELECT COUNT(*), COUNT(city), SUM(id), MIN(name), MAX(name), MIN(joined), MAX(joined) FROM customer;
-- > 9 | 8 | 45 | Ada | Zola | 2022-09-01 | 2024-04-01
SELECT SUM(amount), AVG(amount), MIN(amount), MAX(amount) FROM orders;
-- > 256.74 | 36.677143 | 1.00 | 99.99
SELECT SUM(amount), MAX(placed) FROM orders WHERE amount > 1000;
-- > NULL | NULL
SELECT city, COUNT(*) AS people FROM customer GROUP BY city ORDER BY people DESC, city;
-- > Bern | 2
-- > Oslo | 2
-- > Paris | 2
-- > Rome | 2
-- > NULL | 1
SELECT city, COUNT(*) AS people FROM customer GROUP BY city HAVING people > 1 AND city > 'C' ORDER BY city DESC;
-- > Rome | 2
-- > Paris | 2
-- > Oslo | 2
SELECT YEAR(joined) AS y, COUNT(*), SUM(id) FROM customer GROUP BY y ORDER BY y;
-- > NULL | 1 | 8
-- > 2022 | 1 | 9
-- > 2023 | 3 | 18
-- > 2024 | 4 | 10
SELECT customer_id, SUM(amount) AS total FROM orders GROUP BY customer_id ORDER BY total DESC, customer_id LIMIT 3;
-- > 1 | 110.49
-- > 6 | 70.00
-- > 3 | 50.00
SELECT COUNT(DISTINCT city) FROM customer;
-- > 4
SELECT COUNT(*) FROM (SELECT name FROM customer GROUP BY name) AS names;
-- > 8
SELECT GROUP_CONCAT(sku) FROM stock WHERE sku = 'tea';
-- > tea

-- # Order, distinct rows and limits, by MySQL's collations

SELECT name FROM customer ORDER BY name, id;
-- > NULL
-- > Ada
-- > ångström
-- > Bo
-- > Émile
-- > emile
-- > Óscar
-- > Zoë
-- > Zola
SELECT DISTINCT city FROM customer ORDER BY city;
SELECT DISTINCT LOWER(city) FROM customer;
SELECT id FROM customer ORDER BY joined DESC, id LIMIT 3;
-- > 4
-- > 3
-- > 2
SELECT id FROM customer ORDER BY id LIMIT 2 OFFSET 4;
-- > 5
-- > 6
SELECT name COLLATE utf8mb4_bin AS n FROM customer WHERE name IS NOT NULL ORDER BY n;
SELECT city FROM customer UNION SELECT sku FROM stock;
SELECT id FROM customer WHERE id < 3 UNION ALL SELECT id FROM orders WHERE id < 3 ORDER BY id;
-- > 1
-- > 1
-- > 2
-- > 2
SELECT name, name LIKE 'z%', name = 'ZOE' FROM customer WHERE id IN (4, 9) ORDER BY id;
-- > Zoë | 1 | 1
-- > Zola | 1 | 0

-- # Joins and subqueries, within a shard and between shards

SELECT c.name, o.amount FROM customer c JOIN orders o ON o.customer_id = c.id ORDER BY o.id;
SELECT c.id, COUNT(o.id), SUM(o.amount) FROM customer c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.id
  ORDER BY c.id;
SELECT o.id, c.name FROM orders o JOIN customer c ON c.id = o.id ORDER BY o.id;
-- > 1 | Ada
-- > 2 | Émile
-- > 3 | emile
-- > 4 | Zoë
-- > 5 | Bo
-- > 6 | ångström
-- > 7 | Óscar
-- > 8 | NULL
SELECT a.id, b.id FROM customer a JOIN customer b ON a.city = b.city AND a.id < b.id ORDER BY a.id, b.id;
-- > 1 | 6
-- > 2 | 3
-- > 5 | 7
-- > 8 | 9
SELECT o.id FROM orders o LEFT JOIN customer c ON c.id = o.customer_id WHERE c.id IS NULL;
-- > 8
SELECT name FROM customer WHERE id IN (SELECT customer_id FROM orders WHERE amount > 20) ORDER BY name;
-- > Ada
-- > ångström
-- > Bo
-- > emile
SELECT id FROM customer c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id AND o.amount > 60)
  ORDER BY id;
-- > 1
-- > 6
SELECT MAX(n) FROM (SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id) AS counted;
-- > 2
SELECT b.customer_id, c.city FROM big b JOIN customer c ON c.id = b.customer_id ORDER BY b.id;
-- > 1 | Oslo
-- > 3 | Paris
-- > 6 | Oslo
WITH rich AS (SELECT customer_id FROM orders WHERE amount > 60) SELECT c.name FROM customer c, rich r
  WHERE r.customer_id = c.id ORDER BY c.id;
-- > Ada
-- > ångström
SELECT c.name, s.sku FROM customer c, stock s WHERE s.pieces = c.id ORDER BY s.sku, c.id;
-- > Óscar | pepper
-- > Óscar | Salt
-- > ångström | tea

-- # Changes of one shard, and of all

UPDATE customer SET city = 'Lima' WHERE id = 4;
UPDATE orders SET amount = amount + 1 WHERE amount IS NOT NULL;
-- > 7 rows
UPDATE stock SET pieces = pieces - 1 WHERE sku = 'rice';
-- ! 1690
UPDATE customer SET name = CONCAT(name, '!') WHERE city IN ('Lima', 'Rome') ORDER BY id LIMIT 100;
-- > 3 rows
DELETE FROM orders WHERE customer_id = 77;
-- > 1 rows
DELETE FROM orders WHERE placed < '2024-05-02';
DELETE o FROM orders o JOIN customer c ON c.id = o.customer_id WHERE c.city = 'Bern';
INSERT INTO orders SELECT id + 100, customer_id, amount * 2, placed FROM orders WHERE customer_id = 3;
SELECT * FROM orders ORDER BY id, customer_id;
-- > 2 | 1 | 100.99 | 2024-05-02 10:00:00.000000
-- > 3 | 2 | 6.00 | 2024-05-03 10:00:00.000000
-- > 4 | 3 | 51.00 | 2024-05-04 10:00:00.000000
-- > 5 | 5 | 21.25 | 2024-05-05 10:00:00.000000
-- > 6 | 6 | 71.00 | 2024-05-06 10:00:00.000000
-- > 104 | 3 | 102.00 | 2024-05-04 10:00:00.000000
SELECT id, name FROM customer WHERE name LIKE '%!' ORDER BY id;
-- > 4 | Zoë!
-- > 5 | Bo!
-- > 7 | Óscar!

-- # Tables of the unsharded keyspace beside those of the shards

CREATE TABLE plain.country (city VARCHAR(32) PRIMARY KEY, name VARCHAR(32) NOT NULL);
-- wait 2
INSERT INTO plain.country VALUES ('Oslo', 'Norway'), ('Paris', 'France'), ('Rome', 'Italy');
SELECT c.name, y.name FROM customer c JOIN plain.country y ON y.city = c.city ORDER BY c.id;
-- > Ada | Norway
-- > Émile | France
-- > emile | France
-- > Bo! | Italy
-- > ångström | Norway
-- > Óscar! | Italy
