-- Outside of strict mode texts that functions make are NULL only where an argument is.
CREATE TABLE nn (s VARCHAR(10) NOT NULL, i INT NOT NULL, d DATETIME NOT NULL, n VARCHAR(5));
SET sql_mode = '';
SELECT UPPER(s), LOWER(s), CONCAT(s, i), CONCAT_WS(s, s), REPLACE(s, s, s), LEFT(s, 1), SUBSTRING(s, 1, 2), TRIM(s) FROM nn;
SELECT HEX(i), REPEAT(s, 2), INSERT(s, 1, 1, s), REVERSE(s), LPAD(s, 3, s), FORMAT(i, 2), MD5(s), SUBSTRING_INDEX(s, s, 1) FROM nn;
SELECT USER(), CURRENT_USER(), CONVERT(s USING latin1), CAST(i AS CHAR), CAST(s AS CHAR(3)), UUID() FROM nn;
SELECT CONCAT(s, n), UPPER(n), UNHEX(s), DATE_FORMAT(d, s), DATABASE(), ELT(1, s) FROM nn;
CREATE TABLE made AS SELECT UPPER(s) a, CONCAT(s, i) b, CONCAT(s, n) c, CAST(i AS CHAR) d, DATE_FORMAT(d, '%Y') e FROM nn;
SHOW CREATE TABLE made;
SET sql_mode = DEFAULT;
SELECT UPPER(s), CONCAT(s, i), HEX(i), USER(), CAST(i AS CHAR), CONVERT(s USING latin1) FROM nn;
CREATE TABLE strict AS SELECT UPPER(s) a, CONCAT(s, i) b, CAST(i AS CHAR) d FROM nn;
SHOW CREATE TABLE strict;
