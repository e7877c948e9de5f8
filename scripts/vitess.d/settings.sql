-- Settings of a session, which vtgate keeps and gives the shards with each statement; SHOW and information_schema.

-- # Settings reach the shards as hints and on connections of their own

SELECT @@sql_mode LIKE '%STRICT_TRANS_TABLES%';
-- > 1
SET sql_mode = '';
INSERT INTO stock (sku, pieces, price) VALUES ('loose', -5, 1);
SELECT pieces FROM stock WHERE sku = 'loose';
-- > 0
SET sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_DATE';
INSERT INTO stock (sku, pieces, price) VALUES ('tight', -5, 1);
-- ! 1264
SET sql_mode = 'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION';
DELETE FROM stock WHERE sku IN ('loose', 'tight');
SET time_zone = '+05:30';
SELECT UNIX_TIMESTAMP(placed) FROM orders WHERE id = 2 AND customer_id = 1;
-- > 1714624200.000000
SELECT FROM_UNIXTIME(0), @@time_zone;
-- > 1970-01-01 05:30:00 | +05:30
SELECT id FROM customer WHERE id < 4 AND FROM_UNIXTIME(0) = '1970-01-01 05:30:00' ORDER BY id;
-- > 1
-- > 2
-- > 3
SET time_zone = 'SYSTEM';
SET SESSION group_concat_max_len = 4;
SELECT GROUP_CONCAT(name ORDER BY id) FROM customer WHERE id = 1;
-- > Ada
SELECT GROUP_CONCAT(REPEAT(name, 3)) FROM customer WHERE id = 1;
-- > AdaA
SET foreign_key_checks = 0, unique_checks = 0;
SELECT @@foreign_key_checks, @@unique_checks;
-- > 0 | 0
SET foreign_key_checks = 1, unique_checks = 1;
SET @@session.max_execution_time = 5000;
SET @bound = 4;
SELECT id FROM customer WHERE id < @bound ORDER BY id;
-- > 1
-- > 2
-- > 3
SELECT /*+ MAX_EXECUTION_TIME(1000) */ COUNT(*) FROM customer;
-- > 9
SELECT /*+ SET_VAR(sql_mode = 'PIPES_AS_CONCAT') */ 1 || 0 FROM customer WHERE id = 1;
-- > 1
SET NAMES utf8mb4;
SET sql_select_limit = 2;
SELECT id FROM customer ORDER BY id;
-- > 1
-- > 2
SET sql_select_limit = DEFAULT;
SELECT GET_LOCK('mine', 1);
-- > 1
-- session other
SELECT GET_LOCK('mine', 0);
-- > 0
SELECT IS_FREE_LOCK('mine');
-- > 0
-- session main
SELECT RELEASE_LOCK('mine');
-- > 1

-- # All rows are streamed under OLAP

-- vitess
SET workload = 'olap';
SELECT id, name FROM customer ORDER BY id DESC;
SELECT city, COUNT(*) FROM customer GROUP BY city;
-- vitess
SET workload = 'oltp';

-- # SHOW

-- vitess
SHOW VITESS_SHARDS;
-- > plain/0
-- > shop/-80
-- > shop/80-
SHOW DATABASES LIKE 'shop';
SHOW FULL TABLES FROM shop LIKE 'c%';
SHOW CREATE TABLE orders;
SHOW FULL COLUMNS FROM stock;
SHOW COLLATION LIKE 'utf8mb4_0900_as%';
SHOW CHARACTER SET LIKE 'utf8mb4';
SHOW TRIGGERS;
SHOW PROCEDURE STATUS LIKE 'none';
SHOW WARNINGS;
SHOW VARIABLES LIKE 'sql_auto_is_null';
SHOW STATUS LIKE 'none';
SHOW TABLE STATUS LIKE 'none';
-- vitess
ANALYZE TABLE stock;
-- > shop.stock | analyze | status | OK
-- > shop.stock | analyze | status | OK

-- # information_schema, with the names that clients use

SELECT table_name, table_type, engine FROM information_schema.tables WHERE table_schema = 'shop'
  AND table_name IN ('customer', 'big', 'stock') ORDER BY table_name;
-- > big | VIEW | NULL
-- > customer | BASE TABLE | InnoDB
-- > stock | BASE TABLE | InnoDB
SELECT column_name, ordinal_position, column_default, is_nullable, column_type, column_key, collation_name
  FROM information_schema.columns WHERE table_schema = 'shop' AND table_name = 'customer' ORDER BY ordinal_position;
SELECT index_name, seq_in_index, column_name, non_unique FROM information_schema.statistics
  WHERE table_schema = 'shop' AND table_name = 'orders' ORDER BY index_name, seq_in_index;
SELECT constraint_name, constraint_type FROM information_schema.table_constraints
  WHERE table_schema = 'shop' AND table_name = 'stock' ORDER BY constraint_name;
-- > PRIMARY | PRIMARY KEY
-- > stock_chk_1 | CHECK
SELECT view_definition LIKE '%`amount` >= 50%' FROM information_schema.views
  WHERE table_schema = 'shop' AND table_name = 'big';
-- > 1
SELECT schema_name FROM information_schema.schemata WHERE schema_name = 'shop';
-- > shop

-- # Every type comes through as it was stored

CREATE TABLE kinds (id BIGINT PRIMARY KEY, t TINYINT UNSIGNED, m MEDIUMINT, big BIGINT UNSIGNED, f FLOAT, d DOUBLE,
  n DECIMAL(30,10), b BIT(12), dt DATE, tm TIME(3), ts TIMESTAMP(6) NULL, y YEAR, c CHAR(5), vb VARBINARY(10),
  bl BLOB, e ENUM('a', 'b'), s SET('x', 'y', 'z'), j JSON, g GEOMETRY, tx MEDIUMTEXT,
  gen INT AS (m * 2) STORED, l VARCHAR(10) CHARACTER SET latin1);
-- wait 2
INSERT INTO kinds (id, t, m, big, f, d, n, b, dt, tm, ts, y, c, vb, bl, e, s, j, g, tx, l) VALUES
  (1, 255, -8388608, 18446744073709551615, 1.5, -1e300, 12345678901234567890.0123456789, b'101', '9999-12-31',
   '-838:59:59.000', '2024-02-29 12:34:56.789012', 2155, 'é', X'00FF27', X'0A0D5C00', 'b', 'x,z',
   '{"a": [1, 2.5, null, "ü"]}', ST_GeomFromText('POINT(1 2)'), 'it''s', 'ü'),
  (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
   NULL),
  (3, 0, 5, 0, 0, 0, 0, 0, '0001-01-01', '00:00:00.001', '1971-01-01 00:00:00', 1901, '', '', '', 'a', '', '[]',
   ST_GeomFromText('LINESTRING(0 0,1 1)'), '', 'z'),
  (4, 1, 1, 1, 1e10, 1.1, -0.5, 4095, '2000-01-01', '838:59:59', '2038-01-19 03:14:07', 2000, 'EEEEE', 'vb', 'bl', 'a',
   'x,y,z', '"s"', ST_GeomFromText('POLYGON((0 0,1 0,1 1,0 0))'), 'text', 'ABC');
SELECT id, t, m, big, f, d, n, b + 0, dt, tm, ts, y, c, HEX(vb), HEX(bl), e, s, j, ST_AsText(g), tx, gen, l FROM kinds
  ORDER BY id;
SELECT HEX(b), HEX(g) FROM kinds ORDER BY id;
SELECT MIN(t), MAX(m), SUM(big), SUM(n), AVG(d), MIN(dt), MAX(tm), MIN(ts), MAX(y), MIN(c), MAX(l), MIN(vb) FROM kinds;
SELECT e, COUNT(*) FROM kinds GROUP BY e ORDER BY e;
SELECT s FROM kinds ORDER BY s;
SELECT id FROM kinds ORDER BY n DESC, id;
SELECT id FROM kinds ORDER BY tm, id;
SELECT id FROM kinds ORDER BY l, id;
SELECT id FROM kinds ORDER BY vb, id;
SELECT DISTINCT y FROM kinds ORDER BY y;
SELECT id FROM kinds WHERE j->'$.a[1]' = 2.5;
-- > 1
SELECT j->>'$.a[3]' FROM kinds WHERE id = 1;
-- > ü
SELECT id, l FROM kinds WHERE l = 'Ü';
-- > 1 | ü
SELECT id FROM kinds WHERE vb = X'00FF27' AND bl = X'0A0D5C00';
-- > 1
