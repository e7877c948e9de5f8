-- Functions that read and write tables, called where no query is: SET, DO, conditions, arguments.
CREATE TABLE u (id INT PRIMARY KEY, v INT);
INSERT INTO u VALUES (1, 1), (2, 2);
CREATE FUNCTION reads(z INT) RETURNS INT READS SQL DATA RETURN (SELECT MAX(v) FROM u WHERE id <= z);
-- body
CREATE FUNCTION writes(z INT) RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO u VALUES (z, z); RETURN z + 1; END;;
SET @x = reads(1);
SELECT @x;
SET @x = writes(10) + 1, @y = reads(100);
SELECT @x, @y;
DO reads(2), writes(11);
SELECT * FROM u ORDER BY id;
SET @x = writes(10);
SELECT @x;
BEGIN;
SET @x = writes(12);
DO writes(13);
SELECT * FROM u ORDER BY id;
ROLLBACK;
SELECT * FROM u ORDER BY id;
-- body
CREATE PROCEDURE p(IN n INT)
BEGIN
  DECLARE a INT DEFAULT reads(n);
  DECLARE i INT DEFAULT 0;
  SET a = writes(20) + a;
  IF writes(21) > 20 THEN SET a = a + reads(1); END IF;
  WHILE writes(30 + i) < 33 DO SET i = i + 1; END WHILE;
  CASE writes(40) WHEN reads(100) THEN SET a = -a; ELSE SET a = a + 1000; END CASE;
  SELECT a, i;
END;;
CALL p(reads(2));
SELECT * FROM u ORDER BY id;
CALL p(1);
SELECT * FROM u ORDER BY id;
SET autocommit = 0;
SET @x = writes(50);
ROLLBACK;
SET autocommit = 1;
SELECT * FROM u WHERE id >= 50;
