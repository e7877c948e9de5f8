-- Rows that are there must have their parents when ALTER TABLE adds a foreign key.
CREATE TABLE p (id INT PRIMARY KEY);
INSERT INTO p VALUES (1);
CREATE TABLE c0 (a INT, FOREIGN KEY (a) REFERENCES p (id)) SELECT 2 AS a;
CREATE TABLE c0 (a INT, FOREIGN KEY (a) REFERENCES p (id)) SELECT 1 AS a;
SELECT * FROM c0;
DELETE FROM p;
-- Temporary tables are no parents.
CREATE TEMPORARY TABLE tp (id INT PRIMARY KEY);
CREATE TABLE c1 (a INT, FOREIGN KEY (a) REFERENCES tp (id));
CREATE TABLE c2 (a INT);
ALTER TABLE c2 ADD FOREIGN KEY (a) REFERENCES tp (id);
CREATE TEMPORARY TABLE p (id INT PRIMARY KEY);
INSERT INTO p VALUES (5);
CREATE TABLE c3 (a INT);
INSERT INTO c3 VALUES (5);
-- differs: the error for a row that lacks its parent names the table that ALTER TABLE changes
ALTER TABLE c3 ADD FOREIGN KEY (a) REFERENCES p (id);
DROP TEMPORARY TABLE p;
-- The column has another name from now on.
CREATE TABLE c4 (a INT);
INSERT INTO c4 VALUES (1), (2);
-- differs: the error for a row that lacks its parent names the table that ALTER TABLE changes
ALTER TABLE c4 CHANGE a b INT, ADD FOREIGN KEY (b) REFERENCES p (id);
-- differs: the error for a row that lacks its parent names the table that ALTER TABLE changes
ALTER TABLE c4 RENAME COLUMN a TO b, ADD FOREIGN KEY (b) REFERENCES p (id);
-- The column is new.
-- differs: the error for a row that lacks its parent names the table that ALTER TABLE changes
ALTER TABLE c4 ADD z INT DEFAULT 7, ADD FOREIGN KEY (z) REFERENCES p (id);
-- differs: the error for a row that lacks its parent names the table that ALTER TABLE changes
ALTER TABLE c4 ADD z INT NOT NULL, ADD FOREIGN KEY (z) REFERENCES p (id);
-- differs: the error for a row that lacks its parent names the table that ALTER TABLE changes
ALTER TABLE c4 ADD z INT AS (a + 1) STORED, ADD FOREIGN KEY (z) REFERENCES p (id);
ALTER TABLE c4 ADD z INT DEFAULT 1, ADD CONSTRAINT ok FOREIGN KEY (z) REFERENCES p (id);
ALTER TABLE c4 ADD n INT, ADD CONSTRAINT nulls FOREIGN KEY (n) REFERENCES p (id);
-- Rows that went unchecked are checked when the constraint comes again.
SET foreign_key_checks = 0;
ALTER TABLE c4 ADD CONSTRAINT bad FOREIGN KEY (a) REFERENCES p (id);
SET foreign_key_checks = 1;
-- differs: the error for a row that lacks its parent names the table that ALTER TABLE changes
ALTER TABLE c4 DROP FOREIGN KEY bad, ADD CONSTRAINT bad2 FOREIGN KEY (a) REFERENCES p (id);
ALTER TABLE c4 DROP FOREIGN KEY bad;
-- differs: the error for a row that lacks its parent names the table that ALTER TABLE changes
ALTER TABLE c4 ADD CONSTRAINT bad FOREIGN KEY (a) REFERENCES p (id);
-- One constraint goes, another comes under its name.
CREATE TABLE p2 (id INT PRIMARY KEY);
CREATE TABLE c5 (a INT, b INT, CONSTRAINT k FOREIGN KEY (a) REFERENCES p (id));
INSERT INTO c5 VALUES (1, 9);
ALTER TABLE c5 DROP FOREIGN KEY k, ADD CONSTRAINT k FOREIGN KEY (b) REFERENCES p (id);
-- differs: the error for a row that lacks its parent names the table that ALTER TABLE changes
ALTER TABLE c5 DROP FOREIGN KEY k, ADD CONSTRAINT k2 FOREIGN KEY (b) REFERENCES p (id);
-- differs: the error for a row that lacks its parent names the table that ALTER TABLE changes
ALTER TABLE c5 DROP FOREIGN KEY k, ADD CONSTRAINT k2 FOREIGN KEY (a) REFERENCES p2 (id);
ALTER TABLE c5 MODIFY b BIGINT, DROP FOREIGN KEY k;
-- A table that refers to itself.
CREATE TABLE s (id INT PRIMARY KEY, up INT);
INSERT INTO s VALUES (1, NULL), (2, 1), (3, 9);
-- differs: the error for a row that lacks its parent names the table that ALTER TABLE changes
ALTER TABLE s ADD FOREIGN KEY (up) REFERENCES s (id);
DELETE FROM s WHERE id = 3;
ALTER TABLE s ADD FOREIGN KEY (up) REFERENCES s (id);
INSERT INTO s VALUES (4, 5);
-- Several columns, text, and a type that changes on the way.
CREATE TABLE p3 (a INT, b VARCHAR(10), KEY (a, b));
INSERT INTO p3 VALUES (1, 'x'), (2, 'y');
CREATE TABLE c6 (a VARCHAR(10), b VARCHAR(10));
INSERT INTO c6 VALUES ('1', 'X'), ('2', NULL), (NULL, 'q');
ALTER TABLE c6 MODIFY a INT, ADD FOREIGN KEY (a, b) REFERENCES p3 (a, b);
INSERT INTO c6 VALUES (2, 'x');
CREATE TABLE c7 LIKE c6;
INSERT INTO c7 VALUES (2, 'x');
-- differs: the error for a row that lacks its parent names the table that ALTER TABLE changes
ALTER TABLE c7 ADD FOREIGN KEY (a, b) REFERENCES p3 (a, b);
-- differs: the error for a row that lacks its parent names the table that ALTER TABLE changes
ALTER TABLE c7 RENAME TO c8, ADD FOREIGN KEY (a, b) REFERENCES p3 (a, b);
DELETE FROM c7;
ALTER TABLE c7 RENAME TO c8, ADD FOREIGN KEY (a, b) REFERENCES p3 (a, b);
SHOW CREATE TABLE c8;
SHOW CREATE TABLE c5;
SHOW CREATE TABLE c4;
-- Who refers follows the new name.
RENAME TABLE p3 TO p4, p2 TO p3;
SHOW CREATE TABLE c6;
ALTER TABLE p4 RENAME TO p5;
SHOW CREATE TABLE c6;
INSERT INTO c6 VALUES (2, 'x');
INSERT INTO c6 VALUES (2, 'y');
