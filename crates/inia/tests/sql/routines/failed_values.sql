-- What a variable is after a value that it could not take, and warnings that handlers raise again.
CREATE TABLE u (id INT PRIMARY KEY, v INT);
INSERT INTO u VALUES (1, 1);
-- body
CREATE PROCEDURE p()
BEGIN
  DECLARE a INT DEFAULT 1;
  DECLARE b TINYINT DEFAULT 3;
  DECLARE s VARCHAR(4) DEFAULT 'x';
  DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SELECT 'failed', a, b, s;
  SET b = 300;
  SET s = 'too long for it';
  SET a = (SELECT id FROM u UNION SELECT 2);
  SET a = 'text';
  SET b = 4, s = 'y', a = 5;
  SELECT a, b, s;
  SET a = 6, b = 1000, s = 'z';
  SELECT a, b, s;
END;;
CALL p();
-- body
CREATE PROCEDURE q()
BEGIN
  DECLARE CONTINUE HANDLER FOR SQLWARNING BEGIN SELECT 'warned'; RESIGNAL SET MESSAGE_TEXT = 'once more'; SELECT 'after'; END;
  INSERT IGNORE INTO u VALUES (1, 2);
END;;
CALL q();
-- body
CREATE PROCEDURE r()
BEGIN
  DECLARE EXIT HANDLER FOR SQLWARNING RESIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'now an error';
  INSERT IGNORE INTO u VALUES (1, 2);
END;;
CALL r();
SELECT * FROM u;
