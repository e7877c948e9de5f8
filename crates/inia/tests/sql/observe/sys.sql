-- The schema sys: its functions, and columns of its views.
-- differs: a function named as a native one is not noted
SELECT sys.format_bytes(1024 * 1024 * 3) AS a, sys.format_bytes(5) AS b, sys.format_bytes(NULL) AS c, sys.format_bytes(123456789012) AS d;
SELECT sys.format_time(123456789) AS a, sys.format_time(12) AS b, sys.format_time(108000000000000000) AS c, sys.format_time(NULL) AS d;
SELECT sys.format_statement(REPEAT('abc ', 50)) AS a, sys.format_statement('short') AS b, sys.format_statement(NULL) AS c;
SELECT sys.format_path(CONCAT(@@datadir, 'x/y.ibd')) AS a, sys.quote_identifier('a`b') AS b;
SELECT sys.list_add('a,b', 'c') AS a, sys.list_drop('a,b', 'a') AS b, sys.list_add(NULL, 'x') AS c, sys.list_drop('a,b,c', 'b') AS d;
SELECT sys.list_add('a', NULL);
SELECT sys.version_major() AS a, sys.version_minor() AS b, sys.version_patch() AS c;
SELECT sys.extract_schema_from_file_name('/a/b/c.ibd') AS a, sys.extract_table_from_file_name('/a/b/c.ibd') AS b;
SELECT sys.sys_get_config('statement_truncate_len', 1) AS a, sys.sys_get_config('nothing', 'd') AS b;
-- differs: a function named as a native one is not noted
SELECT sys.ps_is_account_enabled('localhost', 'root') AS a, sys.ps_thread_id(CONNECTION_ID()) > 0 AS b;
SELECT sys.ps_is_thread_instrumented(CONNECTION_ID()) AS a, sys.ps_is_thread_instrumented(NULL) AS b, sys.ps_is_thread_instrumented(4000000000) AS c;
SELECT sys_version FROM sys.version;
CALL sys.table_exists('sys', 'version', @what);
SELECT @what = 'VIEW' AS same;
SELECT table_name, column_name, ordinal_position FROM information_schema.columns WHERE table_schema = 'sys' AND table_name IN ('processlist', 'session', 'innodb_lock_waits', 'x$innodb_lock_waits', 'schema_table_lock_waits', 'statement_analysis', 'x$statement_analysis', 'statements_with_errors_or_warnings', 'statements_with_full_table_scans', 'statements_with_sorting', 'statements_with_temp_tables', 'user_summary', 'host_summary', 'memory_global_total', 'memory_global_by_current_bytes', 'schema_unused_indexes', 'schema_redundant_indexes', 'schema_auto_increment_columns', 'schema_object_overview', 'metrics', 'schema_table_statistics', 'schema_index_statistics', 'user_summary_by_statement_type', 'session_ssl_status') ORDER BY 1, 3;
CREATE TABLE doubled(a INT AUTO_INCREMENT PRIMARY KEY, b INT, c INT, KEY one(b), KEY two(b, c), KEY three(b, c));
SELECT redundant_index_name, redundant_index_columns, dominant_index_name, sql_drop_index = CONCAT('ALTER TABLE `', DATABASE(), '`.`doubled` DROP INDEX `', redundant_index_name, '`') AS said FROM sys.schema_redundant_indexes WHERE table_schema = DATABASE() ORDER BY 1, 3;
INSERT INTO doubled(b) VALUES (1), (2);
ANALYZE TABLE doubled;
SELECT column_name, data_type, column_type, is_signed, is_unsigned, NULLIF(max_value, 0) AS most FROM sys.schema_auto_increment_columns WHERE table_schema = DATABASE();
SELECT object_type, count FROM sys.schema_object_overview WHERE db = DATABASE() ORDER BY 1;
SELECT COUNT(*) FROM sys.session WHERE conn_id = CONNECTION_ID();
SELECT command, db = DATABASE() AS here FROM sys.processlist WHERE conn_id = CONNECTION_ID();
SELECT COUNT(*) FROM sys.innodb_lock_waits;
SELECT COUNT(*) FROM sys.schema_table_lock_waits;
SELECT COUNT(*) > 0 FROM sys.memory_global_total WHERE total_allocated IS NOT NULL;
SELECT COUNT(*) > 100 FROM sys.metrics;
