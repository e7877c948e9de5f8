-- A value that does not fit is warned of once, also where the row stays as it was.
SET sql_mode = '';
CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(3), e ENUM('b','a','c'), d DECIMAL(5,1));
INSERT INTO t VALUES (1,'abc','b',1.5),(2,'x','c',2.5),(3,'y','a',2.7);
UPDATE t SET a = 'abcdef' WHERE id = 1;
UPDATE t SET a = 'abcdef' WHERE id = 2;
UPDATE t SET a = 'abcdef' WHERE id >= 1;
UPDATE t SET e = 'zzz' WHERE id = 2;
UPDATE t SET e = 'zzz' WHERE id = 2;
UPDATE t SET a = 'abcdef', e = 'q' WHERE id = 2;
SELECT * FROM t;
