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
    DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
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

CREATE PROCEDURE sys.execute_prepared_stmt(IN in_query LONGTEXT)
    NOT DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
    COMMENT 'Runs the statement of a text'
BEGIN
    IF in_query IS NULL OR LENGTH(in_query) < 4 THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'The @sys.execute_prepared_stmt.sql must contain a query';
    END IF;
    SET @sys.execute_prepared_stmt.sql = in_query;
    PREPARE stmt FROM @sys.execute_prepared_stmt.sql;
    EXECUTE stmt;
    DEALLOCATE PREPARE stmt;
    SET @sys.execute_prepared_stmt.sql = NULL;
END

CREATE PROCEDURE sys.create_synonym_db(IN in_db_name VARCHAR(64), IN in_synonym VARCHAR(64))
    NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
    COMMENT 'A database with a view of each table and view of another one'
BEGIN
    DECLARE done BOOL DEFAULT FALSE;
    DECLARE one VARCHAR(64);
    DECLARE made INT DEFAULT 0;
    DECLARE names CURSOR FOR SELECT t.table_name FROM information_schema.tables AS t WHERE t.table_schema = in_db_name;
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = TRUE;
    IF NOT EXISTS(SELECT 1 FROM information_schema.schemata AS s WHERE s.schema_name = in_db_name) THEN
        SET @sys.message = CONCAT('Unknown database ', in_db_name);
        SIGNAL SQLSTATE 'HY000' SET MESSAGE_TEXT = @sys.message;
    END IF;
    IF EXISTS(SELECT 1 FROM information_schema.schemata AS s WHERE s.schema_name = in_synonym) THEN
        SET @sys.message = CONCAT('Can\'t create database ', in_synonym, '; database exists');
        SIGNAL SQLSTATE 'HY000' SET MESSAGE_TEXT = @sys.message;
    END IF;
    CALL sys.execute_prepared_stmt(CONCAT('CREATE DATABASE ', sys.quote_identifier(in_synonym)));
    SET done = FALSE;
    OPEN names;
    each_table: LOOP
        FETCH names INTO one;
        IF done THEN
            LEAVE each_table;
        END IF;
        CALL sys.execute_prepared_stmt(CONCAT('CREATE SQL SECURITY INVOKER VIEW ', sys.quote_identifier(in_synonym), '.', sys.quote_identifier(one),
            ' AS SELECT * FROM ', sys.quote_identifier(in_db_name), '.', sys.quote_identifier(one)));
        SET made = made + 1;
    END LOOP;
    CLOSE names;
    SELECT CONCAT('Created ', made, ' view', IF(made <> 1, 's', ''), ' in the ', sys.quote_identifier(in_synonym), ' database') AS summary;
END

CREATE PROCEDURE sys.ps_setup_enable_consumer(IN consumer VARCHAR(128))
    NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
    COMMENT 'Switches the consumers on whose names have a text in them'
BEGIN
    UPDATE performance_schema.setup_consumers SET enabled = 'YES' WHERE name LIKE CONCAT('%', consumer, '%');
    SET @sys.rows = ROW_COUNT();
    SELECT CONCAT('Enabled ', @sys.rows, ' consumer', IF(@sys.rows <> 1, 's', '')) AS summary;
END

CREATE PROCEDURE sys.ps_setup_disable_consumer(IN consumer VARCHAR(128))
    NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
    COMMENT 'Switches the consumers off whose names have a text in them'
BEGIN
    UPDATE performance_schema.setup_consumers SET enabled = 'NO' WHERE name LIKE CONCAT('%', consumer, '%');
    SET @sys.rows = ROW_COUNT();
    SELECT CONCAT('Disabled ', @sys.rows, ' consumer', IF(@sys.rows <> 1, 's', '')) AS summary;
END

CREATE PROCEDURE sys.ps_setup_enable_instrument(IN in_pattern VARCHAR(128))
    NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
    COMMENT 'Switches the instruments on whose names have a text in them'
BEGIN
    UPDATE performance_schema.setup_instruments SET enabled = 'YES', timed = 'YES' WHERE name LIKE CONCAT('%', in_pattern, '%');
    SET @sys.rows = ROW_COUNT();
    SELECT CONCAT('Enabled ', @sys.rows, ' instrument', IF(@sys.rows <> 1, 's', '')) AS summary;
END

CREATE PROCEDURE sys.ps_setup_disable_instrument(IN in_pattern VARCHAR(128))
    NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
    COMMENT 'Switches the instruments off whose names have a text in them'
BEGIN
    UPDATE performance_schema.setup_instruments SET enabled = 'NO', timed = 'NO' WHERE name LIKE CONCAT('%', in_pattern, '%');
    SET @sys.rows = ROW_COUNT();
    SELECT CONCAT('Disabled ', @sys.rows, ' instrument', IF(@sys.rows <> 1, 's', '')) AS summary;
END

CREATE PROCEDURE sys.ps_setup_enable_thread(IN in_connection_id BIGINT)
    NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
    COMMENT 'A connection whose statements are noted: all of them are'
SELECT CONCAT('Enabled ', COUNT(*), ' thread', IF(COUNT(*) <> 1, 's', '')) AS summary
FROM performance_schema.threads AS t WHERE t.processlist_id = in_connection_id

CREATE PROCEDURE sys.ps_setup_disable_thread(IN in_connection_id BIGINT)
    NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
    COMMENT 'A connection whose statements are not to be noted: they are all the same'
SELECT CONCAT('Disabled ', COUNT(*), ' thread', IF(COUNT(*) <> 1, 's', '')) AS summary
FROM performance_schema.threads AS t WHERE t.processlist_id = in_connection_id

CREATE PROCEDURE sys.ps_setup_enable_background_threads()
    NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
    COMMENT 'The threads that serve no connection'
SELECT CONCAT('Enabled ', COUNT(*), ' background thread', IF(COUNT(*) <> 1, 's', '')) AS summary
FROM performance_schema.threads AS t WHERE t.type = 'BACKGROUND'

CREATE PROCEDURE sys.ps_setup_disable_background_threads()
    NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
    COMMENT 'The threads that serve no connection'
SELECT CONCAT('Disabled ', COUNT(*), ' background thread', IF(COUNT(*) <> 1, 's', '')) AS summary
FROM performance_schema.threads AS t WHERE t.type = 'BACKGROUND'

CREATE PROCEDURE sys.ps_setup_show_enabled_instruments()
    DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
    COMMENT 'The instruments that are on'
SELECT i.name AS enabled_instruments, i.timed AS timed FROM performance_schema.setup_instruments AS i WHERE i.enabled = 'YES' ORDER BY i.name

CREATE PROCEDURE sys.ps_setup_show_disabled_instruments()
    DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
    COMMENT 'The instruments that are off'
SELECT i.name AS disabled_instruments, i.timed AS timed FROM performance_schema.setup_instruments AS i WHERE i.enabled = 'NO' ORDER BY i.name

CREATE PROCEDURE sys.ps_setup_show_enabled(IN in_show_instruments BOOLEAN, IN in_show_threads BOOLEAN)
    DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
    COMMENT 'All that is on'
BEGIN
    SELECT @@performance_schema AS performance_schema_enabled;
    SELECT CONCAT('\'', a.user, '\'@\'', a.host, '\'') AS enabled_users FROM performance_schema.setup_actors AS a
    WHERE a.enabled = 'YES' ORDER BY enabled_users;
    SELECT o.object_type AS object_type, CONCAT(o.object_schema, '.', o.object_name) AS objects, o.enabled AS enabled, o.timed AS timed
    FROM performance_schema.setup_objects AS o WHERE o.enabled = 'YES' ORDER BY o.object_type, objects;
    SELECT c.name AS enabled_consumers FROM performance_schema.setup_consumers AS c WHERE c.enabled = 'YES' ORDER BY enabled_consumers;
    IF in_show_threads THEN
        SELECT IF(t.name = 'thread/sql/one_connection', CONCAT(t.processlist_user, '@', t.processlist_host), REPLACE(t.name, 'thread/', '')) AS enabled_threads,
            t.type AS thread_type
        FROM performance_schema.threads AS t WHERE t.instrumented = 'YES' ORDER BY enabled_threads;
    END IF;
    IF in_show_instruments THEN
        SELECT i.name AS enabled_instruments, i.timed AS timed FROM performance_schema.setup_instruments AS i
        WHERE i.enabled = 'YES' ORDER BY enabled_instruments;
    END IF;
END

CREATE PROCEDURE sys.ps_setup_show_disabled(IN in_show_instruments BOOLEAN, IN in_show_threads BOOLEAN)
    NOT DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
    COMMENT 'All that is off'
BEGIN
    SELECT @@performance_schema AS performance_schema_enabled;
    SELECT CONCAT('\'', a.user, '\'@\'', a.host, '\'') AS disabled_users FROM performance_schema.setup_actors AS a
    WHERE a.enabled = 'NO' ORDER BY disabled_users;
    SELECT o.object_type AS object_type, CONCAT(o.object_schema, '.', o.object_name) AS objects, o.enabled AS enabled, o.timed AS timed
    FROM performance_schema.setup_objects AS o WHERE o.enabled = 'NO' ORDER BY o.object_type, objects;
    SELECT c.name AS disabled_consumers FROM performance_schema.setup_consumers AS c WHERE c.enabled = 'NO' ORDER BY disabled_consumers;
    IF in_show_threads THEN
        SELECT IF(t.name = 'thread/sql/one_connection', CONCAT(t.processlist_user, '@', t.processlist_host), REPLACE(t.name, 'thread/', '')) AS disabled_threads,
            t.type AS thread_type
        FROM performance_schema.threads AS t WHERE t.instrumented = 'NO' ORDER BY disabled_threads;
    END IF;
    IF in_show_instruments THEN
        SELECT i.name AS disabled_instruments, i.timed AS timed FROM performance_schema.setup_instruments AS i
        WHERE i.enabled = 'NO' ORDER BY disabled_instruments;
    END IF;
END

CREATE PROCEDURE sys.ps_setup_save(IN in_timeout INT)
    NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
    COMMENT 'Keeps for this session which consumers are on'
BEGIN
    IF IFNULL(GET_LOCK('sys.ps_setup_save', in_timeout), 0) = 0 THEN
        SIGNAL SQLSTATE VALUE '90000' SET MESSAGE_TEXT = 'Could not lock the sys.ps_setup_save user lock, another thread has a saved configuration';
    END IF;
    SET @sys.saved_consumers = (SELECT JSON_OBJECTAGG(c.name, c.enabled) FROM performance_schema.setup_consumers AS c);
END

CREATE PROCEDURE sys.ps_setup_reload_saved()
    NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
    COMMENT 'Sets consumers as ps_setup_save found them'
BEGIN
    IF IS_USED_LOCK('sys.ps_setup_save') IS NULL OR IS_USED_LOCK('sys.ps_setup_save') <> CONNECTION_ID() THEN
        SIGNAL SQLSTATE VALUE '90000' SET MESSAGE_TEXT = 'An error occurred, please investigate';
    END IF;
    UPDATE performance_schema.setup_consumers SET enabled = 'YES' WHERE JSON_CONTAINS(@sys.saved_consumers, JSON_OBJECT(name, 'YES'));
    UPDATE performance_schema.setup_consumers SET enabled = 'NO' WHERE JSON_CONTAINS(@sys.saved_consumers, JSON_OBJECT(name, 'NO'));
    SET @sys.saved_consumers = NULL;
    DO RELEASE_LOCK('sys.ps_setup_save');
END

CREATE PROCEDURE sys.ps_setup_reset_to_default(IN in_verbose BOOLEAN)
    NOT DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
    COMMENT 'Sets consumers as they are at the start'
BEGIN
    SET @sys.query = 'UPDATE performance_schema.setup_consumers\n SET ENABLED = IF(NAME IN (\'global_instrumentation\', \'thread_instrumentation\'), \'YES\', \'NO\')';
    IF in_verbose THEN
        SELECT CONCAT('Resetting: setup_consumers\n', @sys.query) AS status;
    END IF;
    CALL sys.execute_prepared_stmt(@sys.query);
END

CREATE PROCEDURE sys.ps_truncate_all_tables(IN in_verbose BOOLEAN)
    DETERMINISTIC MODIFIES SQL DATA SQL SECURITY INVOKER
    COMMENT 'Empties all sums and histories'
BEGIN
    DECLARE done BOOL DEFAULT FALSE;
    DECLARE one VARCHAR(64);
    DECLARE emptied INT DEFAULT 0;
    DECLARE names CURSOR FOR SELECT t.table_name FROM information_schema.tables AS t
        WHERE t.table_schema = 'performance_schema' AND (t.table_name LIKE '%summary%' OR t.table_name LIKE '%history%') ORDER BY t.table_name;
    DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = TRUE;
    OPEN names;
    each_table: LOOP
        FETCH names INTO one;
        IF done THEN
            LEAVE each_table;
        END IF;
        SET @sys.query = CONCAT('TRUNCATE TABLE performance_schema.', one);
        IF in_verbose THEN
            SELECT CONCAT('Running: ', @sys.query) AS status;
        END IF;
        CALL sys.execute_prepared_stmt(@sys.query);
        SET emptied = emptied + 1;
    END LOOP;
    CLOSE names;
    SELECT CONCAT('Truncated ', emptied, ' tables') AS summary;
END

CREATE FUNCTION sys.ps_thread_trx_info(in_thread_id BIGINT UNSIGNED) RETURNS LONGTEXT
    NOT DETERMINISTIC READS SQL DATA SQL SECURITY INVOKER
    COMMENT 'The transactions of a thread as JSON'
RETURN (SELECT JSON_ARRAYAGG(JSON_OBJECT('time', sys.format_time(t.timer_wait), 'state', t.state, 'mode', t.access_mode,
            'autocommitted', t.autocommit, 'gtid', t.gtid, 'isolation', t.isolation_level))
        FROM performance_schema.events_transactions_current AS t WHERE t.thread_id = in_thread_id)
