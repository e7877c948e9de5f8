-- The functions and procedures of the schema `sys`. An empty line ends each.

CREATE FUNCTION sys.format_bytes(bytes TEXT) RETURNS TEXT
    DETERMINISTIC NO SQL SQL SECURITY INVOKER
    COMMENT 'A number of bytes with a unit'
RETURN CASE
    WHEN bytes IS NULL THEN NULL
    WHEN ABS(bytes) >= POW(1024, 5) THEN CONCAT(ROUND(bytes / POW(1024, 5), 2), ' PiB')
    WHEN ABS(bytes) >= POW(1024, 4) THEN CONCAT(ROUND(bytes / POW(1024, 4), 2), ' TiB')
    WHEN ABS(bytes) >= POW(1024, 3) THEN CONCAT(FORMAT(bytes / POW(1024, 3), 2), ' GiB')
    WHEN ABS(bytes) >= POW(1024, 2) THEN CONCAT(FORMAT(bytes / POW(1024, 2), 2), ' MiB')
    WHEN ABS(bytes) >= 1024 THEN CONCAT(FORMAT(bytes / 1024, 2), ' KiB')
    ELSE CONCAT(LPAD(ROUND(bytes, 0), 4, ' '), ' bytes')
END

CREATE FUNCTION sys.format_time(picoseconds TEXT) RETURNS TEXT
    DETERMINISTIC NO SQL SQL SECURITY INVOKER
    COMMENT 'A number of picoseconds with a unit'
RETURN CASE
    WHEN picoseconds IS NULL THEN NULL
    WHEN picoseconds >= 604800000000000000 THEN CONCAT(ROUND(picoseconds / 604800000000000000, 2), ' w')
    WHEN picoseconds >= 86400000000000000 THEN CONCAT(ROUND(picoseconds / 86400000000000000, 2), ' d')
    WHEN picoseconds >= 3600000000000000 THEN CONCAT(ROUND(picoseconds / 3600000000000000, 2), ' h')
    WHEN picoseconds >= 60000000000000 THEN CONCAT(ROUND(picoseconds / 60000000000000, 2), ' m')
    WHEN picoseconds >= 1000000000000 THEN CONCAT(ROUND(picoseconds / 1000000000000, 2), ' s')
    WHEN picoseconds >= 1000000000 THEN CONCAT(ROUND(picoseconds / 1000000000, 2), ' ms')
    WHEN picoseconds >= 1000000 THEN CONCAT(ROUND(picoseconds / 1000000, 2), ' us')
    WHEN picoseconds >= 1000 THEN CONCAT(ROUND(picoseconds / 1000, 2), ' ns')
    ELSE CONCAT(picoseconds, ' ps')
END

CREATE FUNCTION sys.sys_get_config(in_variable_name VARCHAR(128), in_default_value VARCHAR(128))
    RETURNS VARCHAR(128)
    READS SQL DATA SQL SECURITY INVOKER
    COMMENT 'A setting of this schema'
RETURN IFNULL((SELECT c.value FROM sys.sys_config AS c WHERE c.variable = in_variable_name), in_default_value)

CREATE FUNCTION sys.format_statement(statement LONGTEXT) RETURNS LONGTEXT
    DETERMINISTIC NO SQL SQL SECURITY INVOKER
    COMMENT 'The two ends of a statement that is longer than @sys.statement_truncate_len'
BEGIN
    DECLARE most INT DEFAULT IFNULL(@sys.statement_truncate_len, 64);
    IF CHAR_LENGTH(statement) <= most THEN
        RETURN REPLACE(statement, '\n', ' ');
    END IF;
    RETURN REPLACE(CONCAT(LEFT(statement, most / 2 - 2), ' ... ', RIGHT(statement, most / 2 - 2)), '\n', ' ');
END

CREATE FUNCTION sys.format_path(in_path VARCHAR(512)) RETURNS VARCHAR(512)
    DETERMINISTIC NO SQL SQL SECURITY INVOKER
    COMMENT 'A path with the name of the variable that it begins with'
BEGIN
    DECLARE path VARCHAR(512) DEFAULT REPLACE(in_path, '\\', '/');
    IF path LIKE CONCAT(@@global.datadir, '%') THEN
        RETURN CONCAT('@@datadir/', SUBSTRING(path, CHAR_LENGTH(@@global.datadir) + 1));
    END IF;
    IF path LIKE CONCAT(@@global.tmpdir, '/%') THEN
        RETURN CONCAT('@@tmpdir', SUBSTRING(path, CHAR_LENGTH(@@global.tmpdir) + 1));
    END IF;
    RETURN path;
END

CREATE FUNCTION sys.quote_identifier(in_identifier TEXT) RETURNS TEXT
    DETERMINISTIC NO SQL SQL SECURITY INVOKER
    COMMENT 'A name in backquotes'
RETURN CONCAT('`', REPLACE(in_identifier, '`', '``'), '`')

CREATE FUNCTION sys.extract_schema_from_file_name(path VARCHAR(512)) RETURNS VARCHAR(64)
    DETERMINISTIC NO SQL SQL SECURITY INVOKER
    COMMENT 'The directory that a file is in'
RETURN LEFT(SUBSTRING_INDEX(SUBSTRING_INDEX(REPLACE(path, '\\', '/'), '/', -2), '/', 1), 64)

CREATE FUNCTION sys.extract_table_from_file_name(path VARCHAR(512)) RETURNS VARCHAR(64)
    DETERMINISTIC NO SQL SQL SECURITY INVOKER
    COMMENT 'The name of a file without its ending'
RETURN LEFT(SUBSTRING_INDEX(REPLACE(SUBSTRING_INDEX(REPLACE(path, '\\', '/'), '/', -1), '@0024', '$'), '.', 1), 64)

CREATE FUNCTION sys.list_add(in_list TEXT, in_add_value TEXT) RETURNS TEXT
    DETERMINISTIC SQL SECURITY INVOKER
    COMMENT 'A list with one more value'
BEGIN
    IF in_add_value IS NULL THEN
        SIGNAL SQLSTATE '02200' SET MESSAGE_TEXT = 'Function sys.list_add: in_add_value input variable should not be NULL', MYSQL_ERRNO = 1138;
    END IF;
    IF in_list IS NULL OR LENGTH(in_list) = 0 THEN
        RETURN in_add_value;
    END IF;
    RETURN CONCAT(TRIM(BOTH ',' FROM TRIM(in_list)), ',', in_add_value);
END

CREATE FUNCTION sys.list_drop(in_list TEXT, in_drop_value TEXT) RETURNS TEXT
    DETERMINISTIC SQL SECURITY INVOKER
    COMMENT 'A list without a value'
BEGIN
    IF in_drop_value IS NULL THEN
        SIGNAL SQLSTATE '02200' SET MESSAGE_TEXT = 'Function sys.list_drop: in_drop_value input variable should not be NULL', MYSQL_ERRNO = 1138;
    END IF;
    IF in_list IS NULL OR LENGTH(in_list) = 0 THEN
        RETURN in_list;
    END IF;
    RETURN TRIM(BOTH ',' FROM REPLACE(REPLACE(CONCAT(',', in_list), CONCAT(',', in_drop_value), ''), ', ', ','));
END

CREATE FUNCTION sys.version_major() RETURNS TINYINT UNSIGNED
    NOT DETERMINISTIC NO SQL SQL SECURITY INVOKER
    COMMENT 'The first number of the version'
RETURN SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', 1)

CREATE FUNCTION sys.version_minor() RETURNS TINYINT UNSIGNED
    NOT DETERMINISTIC NO SQL SQL SECURITY INVOKER
    COMMENT 'The second number of the version'
RETURN SUBSTRING_INDEX(SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', 2), '.', -1)

CREATE FUNCTION sys.version_patch() RETURNS TINYINT UNSIGNED
    NOT DETERMINISTIC NO SQL SQL SECURITY INVOKER
    COMMENT 'The third number of the version'
RETURN SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1)

CREATE FUNCTION sys.ps_thread_id(in_connection_id BIGINT UNSIGNED) RETURNS BIGINT UNSIGNED
    NOT DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
    COMMENT 'The thread of a connection, without one of the asking one'
RETURN (SELECT t.thread_id FROM performance_schema.threads AS t
        WHERE t.processlist_id = IFNULL(in_connection_id, CONNECTION_ID()))

CREATE FUNCTION sys.ps_thread_account(in_thread_id BIGINT UNSIGNED) RETURNS TEXT
    NOT DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
    COMMENT 'The account of a thread'
RETURN (SELECT IF(t.type = 'FOREGROUND', CONCAT(t.processlist_user, '@', t.processlist_host), t.type)
        FROM performance_schema.threads AS t WHERE t.thread_id = in_thread_id)

CREATE FUNCTION sys.ps_is_thread_instrumented(in_connection_id BIGINT UNSIGNED) RETURNS ENUM('YES', 'NO', 'UNKNOWN')
    NOT DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
    COMMENT 'Whether statements of a connection are noted'
RETURN IF(in_connection_id IS NULL, NULL, IFNULL((SELECT t.instrumented FROM performance_schema.threads AS t
        WHERE t.processlist_id = in_connection_id), 'UNKNOWN'))

CREATE FUNCTION sys.ps_is_account_enabled(in_host VARCHAR(255), in_user VARCHAR(32)) RETURNS ENUM('YES', 'NO')
    DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
    COMMENT 'Whether statements of an account are noted'
RETURN IF(EXISTS(SELECT 1 FROM performance_schema.setup_actors AS a
        WHERE (a.host = '%' OR in_host LIKE a.host) AND (a.user = '%' OR a.user = in_user) AND a.enabled = 'YES'), 'YES', 'NO')

CREATE FUNCTION sys.ps_is_consumer_enabled(in_consumer VARCHAR(64)) RETURNS ENUM('YES', 'NO')
    DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
    COMMENT 'Whether a consumer is on'
RETURN (SELECT c.enabled FROM performance_schema.setup_consumers AS c WHERE c.name = in_consumer)

CREATE FUNCTION sys.ps_is_instrument_default_enabled(in_instrument VARCHAR(128)) RETURNS ENUM('YES', 'NO')
    DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
    COMMENT 'Whether an instrument is on at the start'
RETURN IF(in_instrument LIKE 'statement/%', 'YES', 'NO')

CREATE FUNCTION sys.ps_is_instrument_default_timed(in_instrument VARCHAR(128)) RETURNS ENUM('YES', 'NO')
    DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
    COMMENT 'Whether an instrument is timed at the start'
RETURN IF(in_instrument LIKE 'statement/%', 'YES', 'NO')

CREATE PROCEDURE sys.table_exists(IN in_db VARCHAR(64), IN in_table VARCHAR(64), OUT out_exists ENUM('', 'BASE TABLE', 'VIEW', 'TEMPORARY'))
    SQL SECURITY INVOKER
    COMMENT 'What a name of a table is'
SET out_exists = IFNULL((SELECT t.table_type FROM information_schema.tables AS t
        WHERE t.table_schema = in_db AND t.table_name = in_table), '')

CREATE PROCEDURE sys.ps_setup_show_enabled_consumers()
    DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
    COMMENT 'The consumers that are on'
SELECT c.name AS enabled_consumers FROM performance_schema.setup_consumers AS c WHERE c.enabled = 'YES' ORDER BY c.name

CREATE PROCEDURE sys.ps_setup_show_disabled_consumers()
    DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
    COMMENT 'The consumers that are off'
SELECT c.name AS disabled_consumers FROM performance_schema.setup_consumers AS c WHERE c.enabled = 'NO' ORDER BY c.name
