-- Of several foreign keys that refuse a change of rows the first by name is reported; of those that refuse DDL that of the oldest table.
CREATE TABLE par (id INT PRIMARY KEY, up INT, CONSTRAINT zz FOREIGN KEY (up) REFERENCES par (id));
CREATE TABLE ch2 (id INT, CONSTRAINT b2 FOREIGN KEY (id) REFERENCES par (id));
CREATE TABLE ch1 (id INT, CONSTRAINT b3 FOREIGN KEY (id) REFERENCES par (id), CONSTRAINT a1 FOREIGN KEY (id) REFERENCES par (id));
INSERT INTO par VALUES (1, NULL), (2, 1);
INSERT INTO ch1 VALUES (1);
INSERT INTO ch2 VALUES (1);
DELETE FROM par WHERE id = 1;
UPDATE par SET id = 9 WHERE id = 1;
DELETE FROM ch1;
DELETE FROM par WHERE id = 1;
TRUNCATE TABLE par;
DROP TABLE par;
DROP TABLE ch2;
TRUNCATE TABLE par;
DROP TABLE par;
