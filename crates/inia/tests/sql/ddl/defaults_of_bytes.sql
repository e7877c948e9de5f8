-- Defaults of BINARY and VARBINARY are hexadecimal in information_schema and SHOW COLUMNS.
CREATE TABLE t5 (r VARBINARY(5) DEFAULT 'ab', b BINARY(4) DEFAULT 'x', bl VARBINARY(3) DEFAULT '', c BINARY(2) DEFAULT 0x00ff, v VARBINARY(3) DEFAULT 0xabcd, w VARBINARY(4) DEFAULT 0x610062);
SHOW CREATE TABLE t5;
SELECT column_name, column_default FROM information_schema.columns WHERE table_name = 't5' AND table_schema = DATABASE() ORDER BY ordinal_position;
SHOW COLUMNS FROM t5;
INSERT INTO t5 VALUES ();
SELECT HEX(r), HEX(b), HEX(bl), HEX(c), HEX(v), HEX(w) FROM t5;
