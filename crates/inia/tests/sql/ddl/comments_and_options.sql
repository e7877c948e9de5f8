-- Comments have the character set utf8mb3, options of tables an order of their own.
SET NAMES utf8mb4;
CREATE TABLE c (a INT COMMENT '☁✨🐍🁰', b INT, KEY (b) COMMENT '🐍 key') COMMENT '☁✨🐍🝝';
SHOW CREATE TABLE c;
SELECT table_comment FROM information_schema.tables WHERE table_name = 'c';
ALTER TABLE c COMMENT 'é🐍', MODIFY a INT COMMENT '🐍🐍';
SHOW CREATE TABLE c;
CREATE TABLE k (a INT) STATS_SAMPLE_PAGES=7 STATS_AUTO_RECALC=1 STATS_PERSISTENT=1 AVG_ROW_LENGTH=3 MAX_ROWS=3 MIN_ROWS=2
  PACK_KEYS=0 ROW_FORMAT=DYNAMIC CHECKSUM=1 DELAY_KEY_WRITE=1 COMMENT='x' CONNECTION='fish';
SHOW CREATE TABLE k;
SELECT create_options FROM information_schema.tables WHERE table_name = 'k';
ALTER TABLE k CONNECTION='it''s' UNION=();
SHOW CREATE TABLE k;
ALTER TABLE k CONNECTION='', MAX_ROWS=0 PACK_KEYS=DEFAULT;
SHOW CREATE TABLE k;
CREATE TABLE f (id INT PRIMARY KEY, height INT, name VARCHAR(20), UNIQUE KEY u (height DESC, (LOWER(name))));
SELECT constraint_name, column_name, ordinal_position FROM information_schema.key_column_usage WHERE table_name = 'f' ORDER BY 1, 3;
