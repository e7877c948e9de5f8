-- A database with what dumps and tools look at: keys, views, programs, partitions, other engines, an account.
DROP DATABASE IF EXISTS shop;
CREATE DATABASE shop;
USE shop;
CREATE TABLE customer (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50) COMMENT 'who', born DATE, tags SET('a','b'), kind ENUM('x','y') DEFAULT 'x', doc JSON, KEY (name)) COMMENT='people';
CREATE TABLE sale (id INT PRIMARY KEY, customer INT NOT NULL, price DECIMAL(10,2), note BLOB, at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, FOREIGN KEY (customer) REFERENCES customer (id) ON DELETE CASCADE, CHECK (price > 0));
CREATE TABLE text_of (id INT PRIMARY KEY, body TEXT, FULLTEXT KEY (body)) ENGINE=InnoDB;
CREATE TABLE parts (id INT, d DATE) PARTITION BY RANGE (YEAR(d)) (PARTITION p0 VALUES LESS THAN (2020), PARTITION p1 VALUES LESS THAN MAXVALUE);
CREATE TABLE points (id INT PRIMARY KEY, p POINT NOT NULL SRID 0, SPATIAL KEY (p));
CREATE TABLE old (a INT, b VARCHAR(10)) ENGINE=MyISAM DEFAULT CHARSET=latin1;
INSERT INTO customer (name, born, tags, kind, doc) VALUES ('Ada', '1815-12-10', 'a,b', 'y', '{"a": [1, 2.50, null]}'), ('Grace', NULL, '', 'x', NULL), ('it''s 漢字 😀', '2000-01-01', NULL, NULL, '"\\"q"');
INSERT INTO sale (id, customer, price, note) VALUES (1, 1, 10.50, NULL), (2, 1, 3, 'a\0b\\'), (3, 2, 0.99, '');
INSERT INTO text_of VALUES (1, 'tea and rice'), (2, 'rice only');
INSERT INTO parts VALUES (1, '2019-01-01'), (2, '2024-01-01');
INSERT INTO points VALUES (1, POINT(1, 2)), (2, POINT(-1.5, 0));
INSERT INTO old VALUES (1, 'é'), (NULL, NULL);
CREATE VIEW a_total AS SELECT customer, SUM(price) AS total FROM sale GROUP BY customer;
CREATE VIEW b_named AS SELECT name, total FROM customer JOIN a_total ON id = customer;
DELIMITER //
CREATE PROCEDURE discount(IN c INT, IN percent INT) BEGIN UPDATE sale SET price = price * (100 - percent) / 100 WHERE customer = c; END//
CREATE FUNCTION spent(c INT) RETURNS DECIMAL(12,2) READS SQL DATA BEGIN DECLARE s DECIMAL(12,2); SELECT SUM(price) INTO s FROM sale WHERE customer = c; RETURN IFNULL(s, 0); END//
CREATE TRIGGER sale_bi BEFORE INSERT ON sale FOR EACH ROW BEGIN IF NEW.note IS NULL THEN SET NEW.note = 'none'; END IF; END//
CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01 00:00:00' COMMENT 'clean' DO BEGIN DELETE FROM sale WHERE price < 0; END//
DELIMITER ;
DROP USER IF EXISTS clerk@localhost;
CREATE USER clerk@localhost IDENTIFIED WITH mysql_native_password BY 'pens';
GRANT SELECT, INSERT ON shop.* TO clerk@localhost;
