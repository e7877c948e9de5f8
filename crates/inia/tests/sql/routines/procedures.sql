-- Parameters, variables and control flow of procedures.
CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20), n INT);
INSERT INTO t VALUES (1, 'one', 10), (2, 'two', 20), (3, 'three', 30);

CREATE PROCEDURE simple() SELECT 1 AS one;
CALL simple();
CALL simple;
CALL diff.simple();
-- body
CREATE PROCEDURE inout_params(IN a INT, OUT b INT, INOUT c VARCHAR(10))
BEGIN
  SET b = a * 2;
  SET c = CONCAT(c, '-', a);
END;;
SET @c = 'x';
CALL inout_params(21, @b, @c);
SELECT @b, @c;
CALL inout_params('7', @b, @c);
SELECT @b, @c;
CALL inout_params('abc', @b, @c);
CALL inout_params(NULL, @b, @c);
SELECT @b, @c;
CALL inout_params(1, 2, @c);
CALL inout_params(1, @b, 'x');
CALL inout_params(1, @b);
CALL inout_params();
CALL simple(1);
SET @c = '0123456789';
CALL inout_params(1, @b, @c);
SELECT @b, @c;
-- body
CREATE PROCEDURE loops(n INT)
BEGIN
  DECLARE i INT DEFAULT 0;
  DECLARE total BIGINT DEFAULT 0;
  WHILE i < n DO
    SET i = i + 1;
    SET total = total + i;
  END WHILE;
  SELECT 'while' AS kind, i, total;
  SET i = 0, total = 0;
  REPEAT
    SET i = i + 1;
    SET total = total + i;
  UNTIL i >= n END REPEAT;
  SELECT 'repeat' AS kind, i, total;
  SET i = 0, total = 0;
  again: LOOP
    SET i = i + 1;
    IF i > n THEN LEAVE again; END IF;
    IF i MOD 2 = 0 THEN ITERATE again; END IF;
    SET total = total + i;
  END LOOP again;
  SELECT 'loop' AS kind, i, total;
END;;
CALL loops(10);
CALL loops(0);
-- body
CREATE PROCEDURE branches(x INT)
BEGIN
  IF x < 0 THEN SELECT 'negative' AS sign;
  ELSEIF x = 0 THEN SELECT 'zero' AS sign;
  ELSEIF x < 10 THEN SELECT 'small' AS sign;
  ELSE SELECT 'large' AS sign;
  END IF;
  CASE x WHEN 1 THEN SELECT 'one' AS word; WHEN 2 THEN SELECT 'two' AS word; ELSE BEGIN END; END CASE;
  CASE WHEN x > 100 THEN SELECT 'more than 100' AS size; WHEN x IS NULL THEN SELECT 'unknown' AS size; ELSE SELECT 'other' AS size; END CASE;
END;;
CALL branches(-5);
CALL branches(0);
CALL branches(1);
CALL branches(2);
CALL branches(101);
CALL branches(NULL);
-- body
CREATE PROCEDURE no_case(x INT)
BEGIN
  CASE x WHEN 1 THEN SELECT 'one'; END CASE;
END;;
CALL no_case(1);
CALL no_case(2);
-- body
CREATE PROCEDURE scopes()
BEGIN
  DECLARE a INT DEFAULT 1;
  DECLARE b INT DEFAULT a + 1;
  BEGIN
    DECLARE a VARCHAR(10) DEFAULT 'inner';
    SELECT a, b;
    SET b = 99;
  END;
  SELECT a, b;
END;;
CALL scopes();
-- body
CREATE PROCEDURE hides_column(id INT)
BEGIN
  SELECT id, t.id AS tid, s FROM t WHERE t.id = id ORDER BY t.id;
END;;
CALL hides_column(2);
-- body
CREATE PROCEDURE into_vars(k INT)
BEGIN
  DECLARE v VARCHAR(20);
  DECLARE m INT;
  SELECT s, n INTO v, m FROM t WHERE t.id = k;
  SELECT v, m, ROW_COUNT();
END;;
CALL into_vars(3);
CALL into_vars(4);
-- body
CREATE PROCEDURE into_many()
BEGIN
  DECLARE v VARCHAR(20);
  SELECT s INTO v FROM t;
END;;
CALL into_many();
-- body
CREATE PROCEDURE into_count()
BEGIN
  DECLARE v VARCHAR(20);
  SELECT s, n INTO v FROM t LIMIT 1;
END;;
CALL into_count();
-- body
CREATE PROCEDURE limits(a INT, b INT) BEGIN SELECT id FROM t ORDER BY id LIMIT a, b; END;;
CALL limits(1, 1);
CALL limits(0, 2);
-- body
CREATE PROCEDURE changes()
BEGIN
  DECLARE c INT;
  INSERT INTO t VALUES (4, 'four', 40);
  SELECT ROW_COUNT();
  UPDATE t SET n = n + 1 WHERE id > 2;
  SELECT ROW_COUNT();
  DELETE FROM t WHERE id = 4;
  SET c = (SELECT COUNT(*) FROM t);
  SELECT c;
  IF EXISTS (SELECT 1 FROM t WHERE n = 31) THEN SELECT 'found'; END IF;
  SET @x = c + 1, c = @x * 2;
  SELECT c, @x;
END;;
CALL changes();
SELECT * FROM t ORDER BY id;
-- body
CREATE PROCEDURE typed()
BEGIN
  DECLARE ti TINYINT UNSIGNED DEFAULT 255;
  DECLARE d DECIMAL(5,2) DEFAULT 1.239;
  DECLARE dt DATETIME DEFAULT '2020-01-02 03:04:05.9';
  DECLARE e ENUM('x','y') DEFAULT 'y';
  DECLARE c CHAR(3) DEFAULT 'ab';
  DECLARE j JSON DEFAULT '{"a": 1}';
  DECLARE b BOOL DEFAULT TRUE;
  DECLARE f FLOAT DEFAULT 1.5;
  SELECT ti, d, dt, e, c, j, b, f;
  SET e = 1; SELECT e;
  SET ti = 256;
END;;
CALL typed();
-- body
CREATE PROCEDURE lenient()
BEGIN
  DECLARE ti TINYINT DEFAULT 0;
  DECLARE c CHAR(3);
  SET ti = 300;
  SET c = 'abcdef';
  SELECT ti, c;
END;;
CALL lenient();
SET sql_mode = '';
-- body
CREATE PROCEDURE lenient2()
BEGIN
  DECLARE ti TINYINT DEFAULT 0;
  DECLARE c CHAR(3);
  SET ti = 300;
  SET c = 'abcdef';
  SELECT ti, c, @@sql_mode;
END;;
SET sql_mode = DEFAULT;
CALL lenient2();
SELECT @@sql_mode = '';
-- body
CREATE PROCEDURE nested(n INT, OUT total INT)
BEGIN
  DECLARE part INT;
  IF n <= 1 THEN SET total = 1;
  ELSE
    CALL nested(n - 1, part);
    SET total = n * part;
  END IF;
END;;
CALL nested(1, @f);
SELECT @f;
CALL nested(5, @f);
SET max_sp_recursion_depth = 10;
CALL nested(5, @f);
SELECT @f;
CALL nested(12, @f);
SET max_sp_recursion_depth = DEFAULT;
-- body
CREATE PROCEDURE dyn(tab VARCHAR(64))
BEGIN
  SET @q = CONCAT('SELECT COUNT(*) AS c FROM ', tab);
  PREPARE st FROM @q;
  EXECUTE st;
  DEALLOCATE PREPARE st;
  SET @a = 2;
  PREPARE st FROM 'SELECT s FROM t WHERE id = ?';
  EXECUTE st USING @a;
  DEALLOCATE PREPARE st;
END;;
CALL dyn('t');
CALL dyn('missing');
-- body
CREATE PROCEDURE tx()
BEGIN
  START TRANSACTION;
  INSERT INTO t VALUES (50, 'x', 1);
  ROLLBACK;
  START TRANSACTION;
  INSERT INTO t VALUES (51, 'y', 1);
  COMMIT;
  SELECT id FROM t WHERE id >= 50;
  DELETE FROM t WHERE id >= 50;
END;;
CALL tx();
-- body
CREATE PROCEDURE ddl()
BEGIN
  DROP TABLE IF EXISTS made;
  CREATE TABLE made (a INT);
  INSERT INTO made VALUES (1), (2);
  SELECT SUM(a) FROM made;
  DROP TABLE made;
  CREATE TEMPORARY TABLE tmp SELECT id FROM t;
  SELECT COUNT(*) FROM tmp;
  DROP TEMPORARY TABLE tmp;
END;;
CALL ddl();
CALL ddl();
-- body
CREATE PROCEDURE db() BEGIN SELECT DATABASE(); END;;
USE mysql;
CALL diff.db();
SELECT DATABASE();
USE diff;
-- body
CREATE PROCEDURE leaves()
outer_block: BEGIN
  SELECT 1;
  BEGIN
    LEAVE outer_block;
  END;
  SELECT 2;
END outer_block;;
CALL leaves();
-- body
CREATE PROCEDURE defaults()
BEGIN
  DECLARE a, b, c INT DEFAULT 7;
  DECLARE d VARCHAR(5);
  SELECT a, b, c, d;
END;;
CALL defaults();
CREATE PROCEDURE last_id() INSERT INTO auto(v) VALUES (5), (6);
CREATE TABLE auto (id INT AUTO_INCREMENT PRIMARY KEY, v INT);
CALL last_id();
SELECT LAST_INSERT_ID();
DROP TABLE t, auto;
CALL into_many();
