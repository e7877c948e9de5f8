-- The views of the schema `sys`. An empty line ends each.
--
-- `both` before a name makes two views: one for people, with units, and one whose name begins with
-- `x$`, with plain numbers. In the first `pico(…)` and `size(…)` put a unit behind picoseconds and
-- bytes, `brief(…)` shortens a statement, and `path(…)` a path; in the second they leave their argument as it is, and
-- what stands in a comment that begins with `x` is a part of it.

view version
SELECT '2.1.2' AS sys_version, VERSION() AS mysql_version

view sys_config
SELECT CAST('diagnostics.allow_i_s_tables' AS CHAR(128)) AS variable, CAST('OFF' AS CHAR(128)) AS value, CAST(NULL AS DATETIME) AS set_time, CAST(NULL AS CHAR(128)) AS set_by
UNION ALL SELECT 'diagnostics.include_raw', 'OFF', NULL, NULL
UNION ALL SELECT 'ps_thread_trx_info.max_length', '65535', NULL, NULL
UNION ALL SELECT 'statement_performance_analyzer.limit', '100', NULL, NULL
UNION ALL SELECT 'statement_performance_analyzer.view', NULL, NULL, NULL
UNION ALL SELECT 'statement_truncate_len', '64', NULL, NULL

both processlist
SELECT STRAIGHT_JOIN t.thread_id AS thd_id, t.processlist_id AS conn_id,
    IF(t.name = 'thread/sql/one_connection', CONCAT(t.processlist_user, '@', t.processlist_host), REPLACE(t.name, 'thread/', '')) AS user,
    t.processlist_db AS db, t.processlist_command AS command, t.processlist_state AS state, t.processlist_time AS time,
    brief(t.processlist_info) AS current_statement, t.execution_engine AS execution_engine,
    IF(t.processlist_info IS NULL, NULL, pico(t.processlist_time * 1000000000000)) AS statement_latency,
    IF(g.work_estimated > 0, ROUND(100 * g.work_completed / g.work_estimated, 2), NULL) AS progress,
    pico(s.lock_time) AS lock_latency, pico(s.cpu_time) AS cpu_latency, s.rows_examined AS rows_examined, s.rows_sent AS rows_sent,
    s.rows_affected AS rows_affected, s.created_tmp_tables AS tmp_tables, s.created_tmp_disk_tables AS tmp_disk_tables,
    IF(s.no_good_index_used > 0 OR s.no_index_used > 0, 'YES', 'NO') AS full_scan,
    IF(t.processlist_info IS NULL, brief(s.sql_text), NULL) AS last_statement,
    IF(t.processlist_info IS NULL, pico(s.timer_wait), NULL) AS last_statement_latency,
    size(t.total_memory) AS current_memory, w.event_name AS last_wait,
    IF(w.end_event_id IS NULL AND w.event_name IS NOT NULL, 'Still Waiting', pico(w.timer_wait)) AS last_wait_latency,
    w.source AS source, pico(x.timer_wait) AS trx_latency, x.state AS trx_state, x.autocommit AS trx_autocommit,
    p.attr_value AS pid, n.attr_value AS program_name
FROM performance_schema.threads AS t
LEFT JOIN performance_schema.events_waits_current AS w ON w.thread_id = t.thread_id
LEFT JOIN performance_schema.events_stages_current AS g ON g.thread_id = t.thread_id
LEFT JOIN performance_schema.events_statements_current AS s ON s.thread_id = t.thread_id
LEFT JOIN performance_schema.events_transactions_current AS x ON x.thread_id = t.thread_id
LEFT JOIN performance_schema.session_connect_attrs AS p ON p.processlist_id = t.processlist_id AND p.attr_name = '_pid'
LEFT JOIN performance_schema.session_connect_attrs AS n ON n.processlist_id = t.processlist_id AND n.attr_name = 'program_name'
ORDER BY t.processlist_time DESC

view session
SELECT * FROM sys.processlist WHERE conn_id IS NOT NULL AND command <> 'Daemon'

view x$session
SELECT * FROM sys.x$processlist WHERE conn_id IS NOT NULL AND command <> 'Daemon'

both innodb_lock_waits
SELECT r.trx_wait_started AS wait_started, TIMEDIFF(NOW(), r.trx_wait_started) AS wait_age,
    TIMESTAMPDIFF(SECOND, r.trx_wait_started, NOW()) AS wait_age_secs,
    CONCAT('`', l.object_schema, '`.`', l.object_name, '`') AS locked_table, l.object_schema AS locked_table_schema,
    l.object_name AS locked_table_name, l.partition_name AS locked_table_partition, l.subpartition_name AS locked_table_subpartition,
    l.index_name AS locked_index, l.lock_type AS locked_type, r.trx_id AS waiting_trx_id, r.trx_started AS waiting_trx_started,
    TIMEDIFF(NOW(), r.trx_started) AS waiting_trx_age, r.trx_rows_locked AS waiting_trx_rows_locked,
    r.trx_rows_modified AS waiting_trx_rows_modified, r.trx_mysql_thread_id AS waiting_pid, brief(r.trx_query) AS waiting_query,
    l.engine_lock_id AS waiting_lock_id, l.lock_mode AS waiting_lock_mode, b.trx_id AS blocking_trx_id,
    b.trx_mysql_thread_id AS blocking_pid, brief(b.trx_query) AS blocking_query, h.engine_lock_id AS blocking_lock_id,
    h.lock_mode AS blocking_lock_mode, b.trx_started AS blocking_trx_started, TIMEDIFF(NOW(), b.trx_started) AS blocking_trx_age,
    b.trx_rows_locked AS blocking_trx_rows_locked, b.trx_rows_modified AS blocking_trx_rows_modified,
    CONCAT('KILL QUERY ', b.trx_mysql_thread_id) AS sql_kill_blocking_query,
    CONCAT('KILL ', b.trx_mysql_thread_id) AS sql_kill_blocking_connection
FROM performance_schema.data_lock_waits AS w
JOIN information_schema.innodb_trx AS b ON b.trx_id = w.blocking_engine_transaction_id
JOIN information_schema.innodb_trx AS r ON r.trx_id = w.requesting_engine_transaction_id
JOIN performance_schema.data_locks AS h ON h.engine_lock_id = w.blocking_engine_lock_id
JOIN performance_schema.data_locks AS l ON l.engine_lock_id = w.requesting_engine_lock_id
ORDER BY r.trx_wait_started

both schema_table_lock_waits
SELECT g.object_schema AS object_schema, g.object_name AS object_name, wt.thread_id AS waiting_thread_id, wt.processlist_id AS waiting_pid,
    sys.ps_thread_account(p.owner_thread_id) AS waiting_account, p.lock_type AS waiting_lock_type, p.lock_duration AS waiting_lock_duration,
    brief(wt.processlist_info) AS waiting_query, wt.processlist_time AS waiting_query_secs,
    ws.rows_affected AS waiting_query_rows_affected, ws.rows_examined AS waiting_query_rows_examined, bt.thread_id AS blocking_thread_id,
    bt.processlist_id AS blocking_pid, sys.ps_thread_account(g.owner_thread_id) AS blocking_account, g.lock_type AS blocking_lock_type,
    g.lock_duration AS blocking_lock_duration, CONCAT('KILL QUERY ', bt.processlist_id) AS sql_kill_blocking_query,
    CONCAT('KILL ', bt.processlist_id) AS sql_kill_blocking_connection
FROM performance_schema.metadata_locks AS g
JOIN performance_schema.metadata_locks AS p ON p.object_schema = g.object_schema AND p.object_name = g.object_name
    AND p.lock_status = 'PENDING' AND p.owner_thread_id <> g.owner_thread_id
JOIN performance_schema.threads AS bt ON bt.thread_id = g.owner_thread_id
JOIN performance_schema.threads AS wt ON wt.thread_id = p.owner_thread_id
LEFT JOIN performance_schema.events_statements_current AS ws ON ws.thread_id = p.owner_thread_id
WHERE g.object_type = 'TABLE' AND g.lock_status = 'GRANTED'

both statement_analysis
SELECT brief(digest_text) AS query, schema_name AS db, IF(sum_no_good_index_used > 0 OR sum_no_index_used > 0, '*', '') AS full_scan,
    count_star AS exec_count, /*x count_secondary AS exec_secondary_count, x*/ sum_errors AS err_count, sum_warnings AS warn_count, pico(sum_timer_wait) AS total_latency,
    pico(max_timer_wait) AS max_latency, pico(avg_timer_wait) AS avg_latency, pico(sum_lock_time) AS lock_latency,
    pico(sum_cpu_time) AS cpu_latency, sum_rows_sent AS rows_sent, ROUND(IFNULL(sum_rows_sent / NULLIF(count_star, 0), 0)) AS rows_sent_avg,
    sum_rows_examined AS rows_examined, ROUND(IFNULL(sum_rows_examined / NULLIF(count_star, 0), 0)) AS rows_examined_avg,
    sum_rows_affected AS rows_affected, ROUND(IFNULL(sum_rows_affected / NULLIF(count_star, 0), 0)) AS rows_affected_avg,
    sum_created_tmp_tables AS tmp_tables, sum_created_tmp_disk_tables AS tmp_disk_tables, sum_sort_rows AS rows_sorted,
    sum_sort_merge_passes AS sort_merge_passes, size(max_controlled_memory) AS max_controlled_memory,
    size(max_total_memory) AS max_total_memory, digest AS digest, first_seen AS first_seen, last_seen AS last_seen
FROM performance_schema.events_statements_summary_by_digest
ORDER BY sum_timer_wait DESC

both statements_with_errors_or_warnings
SELECT brief(digest_text) AS query, schema_name AS db, count_star AS exec_count, sum_errors AS errors,
    IFNULL(sum_errors / NULLIF(count_star, 0), 0) * 100 AS error_pct, sum_warnings AS warnings,
    IFNULL(sum_warnings / NULLIF(count_star, 0), 0) * 100 AS warning_pct, first_seen AS first_seen, last_seen AS last_seen, digest AS digest
FROM performance_schema.events_statements_summary_by_digest
WHERE sum_errors > 0 OR sum_warnings > 0
ORDER BY sum_errors DESC, sum_warnings DESC

both statements_with_full_table_scans
SELECT brief(digest_text) AS query, schema_name AS db, count_star AS exec_count, pico(sum_timer_wait) AS total_latency,
    sum_no_index_used AS no_index_used_count, sum_no_good_index_used AS no_good_index_used_count,
    ROUND(IFNULL(sum_no_index_used / NULLIF(count_star, 0), 0) * 100) AS no_index_used_pct, sum_rows_sent AS rows_sent,
    sum_rows_examined AS rows_examined, ROUND(sum_rows_sent / count_star) AS rows_sent_avg,
    ROUND(sum_rows_examined / count_star) AS rows_examined_avg, first_seen AS first_seen, last_seen AS last_seen, digest AS digest
FROM performance_schema.events_statements_summary_by_digest
WHERE (sum_no_index_used > 0 OR sum_no_good_index_used > 0) AND digest_text NOT LIKE 'SHOW%'
ORDER BY ROUND(IFNULL(sum_no_index_used / NULLIF(count_star, 0), 0) * 100, 0) DESC, sum_timer_wait DESC

both statements_with_runtimes_in_95th_percentile
SELECT brief(digest_text) AS query, schema_name AS db, IF(sum_no_good_index_used > 0 OR sum_no_index_used > 0, '*', '') AS full_scan,
    count_star AS exec_count, sum_errors AS err_count, sum_warnings AS warn_count, pico(sum_timer_wait) AS total_latency,
    pico(max_timer_wait) AS max_latency, pico(avg_timer_wait) AS avg_latency, sum_rows_sent AS rows_sent,
    ROUND(IFNULL(sum_rows_sent / NULLIF(count_star, 0), 0)) AS rows_sent_avg, sum_rows_examined AS rows_examined,
    ROUND(IFNULL(sum_rows_examined / NULLIF(count_star, 0), 0)) AS rows_examined_avg, first_seen AS first_seen, last_seen AS last_seen,
    digest AS digest
FROM (SELECT d.*, PERCENT_RANK() OVER (ORDER BY avg_timer_wait) AS place FROM performance_schema.events_statements_summary_by_digest AS d) AS ranked
WHERE place >= 0.95
ORDER BY avg_timer_wait DESC

both statements_with_sorting
SELECT brief(digest_text) AS query, schema_name AS db, count_star AS exec_count, pico(sum_timer_wait) AS total_latency,
    sum_sort_merge_passes AS sort_merge_passes, ROUND(IFNULL(sum_sort_merge_passes / NULLIF(count_star, 0), 0)) AS avg_sort_merges,
    sum_sort_scan AS sorts_using_scans, sum_sort_range AS sort_using_range, sum_sort_rows AS rows_sorted,
    ROUND(IFNULL(sum_sort_rows / NULLIF(count_star, 0), 0)) AS avg_rows_sorted, first_seen AS first_seen, last_seen AS last_seen,
    digest AS digest
FROM performance_schema.events_statements_summary_by_digest
WHERE sum_sort_rows > 0
ORDER BY sum_timer_wait DESC

both statements_with_temp_tables
SELECT brief(digest_text) AS query, schema_name AS db, count_star AS exec_count, pico(sum_timer_wait) AS total_latency,
    sum_created_tmp_tables AS memory_tmp_tables, sum_created_tmp_disk_tables AS disk_tmp_tables,
    ROUND(IFNULL(sum_created_tmp_tables / NULLIF(count_star, 0), 0)) AS avg_tmp_tables_per_query,
    ROUND(IFNULL(sum_created_tmp_disk_tables / NULLIF(sum_created_tmp_tables, 0), 0) * 100) AS tmp_tables_to_disk_pct,
    first_seen AS first_seen, last_seen AS last_seen, digest AS digest
FROM performance_schema.events_statements_summary_by_digest
WHERE sum_created_tmp_tables > 0
ORDER BY sum_created_tmp_disk_tables DESC, sum_created_tmp_tables DESC

both user_summary_by_statement_type
SELECT IF(user IS NULL, 'background', user) AS user, SUBSTRING_INDEX(event_name, '/', -1) AS statement, count_star AS total,
    pico(sum_timer_wait) AS total_latency, pico(max_timer_wait) AS max_latency, pico(sum_lock_time) AS lock_latency,
    pico(sum_cpu_time) AS cpu_latency, sum_rows_sent AS rows_sent, sum_rows_examined AS rows_examined, sum_rows_affected AS rows_affected,
    sum_no_index_used + sum_no_good_index_used AS full_scans
FROM performance_schema.events_statements_summary_by_user_by_event_name
WHERE sum_timer_wait <> 0
ORDER BY IF(user IS NULL, 'background', user), sum_timer_wait DESC

both user_summary_by_statement_latency
SELECT IF(user IS NULL, 'background', user) AS user, SUM(count_star) AS total, pico(SUM(sum_timer_wait)) AS total_latency,
    pico(SUM(max_timer_wait)) AS max_latency, pico(SUM(sum_lock_time)) AS lock_latency, pico(SUM(sum_cpu_time)) AS cpu_latency,
    SUM(sum_rows_sent) AS rows_sent, SUM(sum_rows_examined) AS rows_examined, SUM(sum_rows_affected) AS rows_affected,
    SUM(sum_no_index_used) + SUM(sum_no_good_index_used) AS full_scans
FROM performance_schema.events_statements_summary_by_user_by_event_name
GROUP BY IF(user IS NULL, 'background', user)
ORDER BY SUM(sum_timer_wait) DESC

both user_summary
SELECT IF(a.user IS NULL, 'background', a.user) AS user, SUM(s.total) AS statements, pico(SUM(s.total_latency)) AS statement_latency,
    pico(IFNULL(SUM(s.total_latency) / NULLIF(SUM(s.total), 0), 0)) AS statement_avg_latency, SUM(s.full_scans) AS table_scans,
    CAST(0 AS DECIMAL(64, 0)) AS file_ios, pico(0) AS file_io_latency, SUM(a.current_connections) AS current_connections,
    SUM(a.total_connections) AS total_connections, COUNT(DISTINCT a.host) AS unique_hosts, size(0) AS current_memory,
    size(0) AS total_memory_allocated
FROM performance_schema.accounts AS a
LEFT JOIN sys.x$user_summary_by_statement_latency AS s ON s.user = IF(a.user IS NULL, 'background', a.user)
GROUP BY IF(a.user IS NULL, 'background', a.user)
ORDER BY SUM(s.total_latency) DESC

both host_summary_by_statement_type
SELECT IF(host IS NULL, 'background', host) AS host, SUBSTRING_INDEX(event_name, '/', -1) AS statement, count_star AS total,
    pico(sum_timer_wait) AS total_latency, pico(max_timer_wait) AS max_latency, pico(sum_lock_time) AS lock_latency,
    pico(sum_cpu_time) AS cpu_latency, sum_rows_sent AS rows_sent, sum_rows_examined AS rows_examined, sum_rows_affected AS rows_affected,
    sum_no_index_used + sum_no_good_index_used AS full_scans
FROM performance_schema.events_statements_summary_by_host_by_event_name
WHERE sum_timer_wait <> 0
ORDER BY IF(host IS NULL, 'background', host), sum_timer_wait DESC

both host_summary_by_statement_latency
SELECT IF(host IS NULL, 'background', host) AS host, SUM(count_star) AS total, pico(SUM(sum_timer_wait)) AS total_latency,
    pico(MAX(max_timer_wait)) AS max_latency, pico(SUM(sum_lock_time)) AS lock_latency, pico(SUM(sum_cpu_time)) AS cpu_latency,
    SUM(sum_rows_sent) AS rows_sent, SUM(sum_rows_examined) AS rows_examined, SUM(sum_rows_affected) AS rows_affected,
    SUM(sum_no_index_used) + SUM(sum_no_good_index_used) AS full_scans
FROM performance_schema.events_statements_summary_by_host_by_event_name
GROUP BY IF(host IS NULL, 'background', host)
ORDER BY SUM(sum_timer_wait) DESC

both host_summary
SELECT IF(a.host IS NULL, 'background', a.host) AS host, SUM(s.total) AS statements, pico(SUM(s.total_latency)) AS statement_latency,
    pico(IFNULL(SUM(s.total_latency) / NULLIF(SUM(s.total), 0), 0)) AS statement_avg_latency, SUM(s.full_scans) AS table_scans,
    CAST(0 AS DECIMAL(64, 0)) AS file_ios, pico(0) AS file_io_latency, SUM(a.current_connections) AS current_connections,
    SUM(a.total_connections) AS total_connections, COUNT(DISTINCT a.user) AS unique_users, size(0) AS current_memory,
    size(0) AS total_memory_allocated
FROM performance_schema.accounts AS a
LEFT JOIN sys.x$host_summary_by_statement_latency AS s ON s.host = IF(a.host IS NULL, 'background', a.host)
GROUP BY IF(a.host IS NULL, 'background', a.host)

both memory_global_total
SELECT size(SUM(current_number_of_bytes_used)) AS total_allocated
FROM performance_schema.memory_summary_global_by_event_name

both memory_global_by_current_bytes
SELECT event_name AS event_name, current_count_used AS current_count, size(current_number_of_bytes_used) AS current_alloc,
    size(IFNULL(current_number_of_bytes_used / NULLIF(current_count_used, 0), 0)) AS current_avg_alloc, high_count_used AS high_count,
    size(high_number_of_bytes_used) AS high_alloc, size(IFNULL(high_number_of_bytes_used / NULLIF(high_count_used, 0), 0)) AS high_avg_alloc
FROM performance_schema.memory_summary_global_by_event_name
WHERE current_number_of_bytes_used > 0
ORDER BY current_number_of_bytes_used DESC

view schema_unused_indexes
SELECT t.object_schema AS object_schema, t.object_name AS object_name, t.index_name AS index_name
FROM performance_schema.table_io_waits_summary_by_index_usage AS t
JOIN information_schema.statistics AS s ON s.table_schema = t.object_schema AND s.table_name = t.object_name
    AND s.index_name = t.index_name AND s.seq_in_index = 1
WHERE t.index_name IS NOT NULL AND t.index_name <> 'PRIMARY' AND t.count_star = 0 AND t.object_schema <> 'mysql' AND s.non_unique = 1
ORDER BY t.object_schema, t.object_name

both schema_index_statistics
SELECT object_schema AS table_schema, object_name AS table_name, index_name AS index_name, count_fetch AS rows_selected,
    pico(sum_timer_fetch) AS select_latency, count_insert AS rows_inserted, pico(sum_timer_insert) AS insert_latency,
    count_update AS rows_updated, pico(sum_timer_update) AS update_latency, count_delete AS rows_deleted,
    pico(sum_timer_delete) AS delete_latency
FROM performance_schema.table_io_waits_summary_by_index_usage
WHERE index_name IS NOT NULL
ORDER BY sum_timer_wait DESC

both schema_tables_with_full_table_scans
SELECT object_schema AS object_schema, object_name AS object_name, count_read AS rows_full_scanned, pico(sum_timer_wait) AS latency
FROM performance_schema.table_io_waits_summary_by_index_usage
WHERE index_name IS NULL AND count_read > 0
ORDER BY count_read DESC

view x$schema_flattened_keys
SELECT table_schema AS table_schema, table_name AS table_name, index_name AS index_name, MAX(non_unique) AS non_unique,
    MAX(IF(sub_part IS NULL, 0, 1)) AS subpart_exists, GROUP_CONCAT(column_name ORDER BY seq_in_index) AS index_columns
FROM information_schema.statistics
WHERE index_type = 'BTREE' AND table_schema NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema')
GROUP BY table_schema, table_name, index_name

view schema_redundant_indexes
SELECT r.table_schema AS table_schema, r.table_name AS table_name, r.index_name AS redundant_index_name,
    r.index_columns AS redundant_index_columns, r.non_unique AS redundant_index_non_unique, d.index_name AS dominant_index_name,
    d.index_columns AS dominant_index_columns, d.non_unique AS dominant_index_non_unique,
    IF(r.subpart_exists > 0 OR d.subpart_exists > 0, 1, 0) AS subpart_exists,
    CONCAT('ALTER TABLE `', r.table_schema, '`.`', r.table_name, '` DROP INDEX `', r.index_name, '`') AS sql_drop_index
FROM sys.x$schema_flattened_keys AS r
JOIN sys.x$schema_flattened_keys AS d ON d.table_schema = r.table_schema AND d.table_name = r.table_name
WHERE r.index_name <> d.index_name AND (
    (r.index_columns = d.index_columns AND (r.non_unique > d.non_unique
        OR (r.non_unique = d.non_unique AND IF(r.index_name = 'PRIMARY', '', r.index_name) > IF(d.index_name = 'PRIMARY', '', d.index_name))))
    OR (LOCATE(CONCAT(r.index_columns, ','), d.index_columns) = 1 AND r.non_unique = 1)
    OR (LOCATE(CONCAT(d.index_columns, ','), r.index_columns) = 1 AND d.non_unique = 0))

view schema_auto_increment_columns
SELECT n.table_schema AS table_schema, n.table_name AS table_name, n.column_name AS column_name, n.data_type AS data_type,
    n.column_type AS column_type, IF(n.is_unsigned, 0, 1) AS is_signed, IF(n.is_unsigned, 1, 0) AS is_unsigned,
    n.most AS max_value, n.next AS auto_increment, n.next / n.most AS auto_increment_ratio
FROM (SELECT c.table_schema, c.table_name, c.column_name, c.data_type, c.column_type, c.column_type LIKE '%unsigned%' AS is_unsigned,
        (CASE c.data_type WHEN 'tinyint' THEN 255 WHEN 'smallint' THEN 65535 WHEN 'mediumint' THEN 16777215 WHEN 'int' THEN 4294967295
            ELSE 18446744073709551615 END) >> IF(c.column_type LIKE '%unsigned%', 0, 1) AS most, t.auto_increment AS next
    FROM information_schema.columns AS c
    JOIN information_schema.tables AS t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
    WHERE c.table_schema NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema') AND t.table_type = 'BASE TABLE'
        AND c.extra = 'auto_increment') AS n
ORDER BY n.next / n.most DESC, n.most

view schema_object_overview
SELECT routine_schema AS db, routine_type AS object_type, COUNT(*) AS count FROM information_schema.routines GROUP BY routine_schema, routine_type
UNION ALL SELECT table_schema, table_type, COUNT(*) FROM information_schema.tables GROUP BY table_schema, table_type
UNION ALL SELECT table_schema, CONCAT('INDEX (', index_type, ')'), COUNT(*) FROM information_schema.statistics GROUP BY table_schema, index_type
UNION ALL SELECT trigger_schema, 'TRIGGER', COUNT(*) FROM information_schema.triggers GROUP BY trigger_schema
UNION ALL SELECT event_schema, 'EVENT', COUNT(*) FROM information_schema.events GROUP BY event_schema
ORDER BY db, object_type

view metrics
SELECT LOWER(g.variable_name) AS Variable_name, g.variable_value AS Variable_value, 'Global Status' AS Type, 'YES' AS Enabled
FROM performance_schema.global_status AS g
UNION ALL SELECT m.name, m.count, CONCAT('InnoDB Metrics - ', m.subsystem), IF(m.status = 'enabled', 'YES', 'NO') FROM information_schema.innodb_metrics AS m
UNION ALL SELECT 'memory_current_allocated', SUM(current_number_of_bytes_used), 'Performance Schema', 'YES' FROM performance_schema.memory_summary_global_by_event_name
UNION ALL SELECT 'memory_total_allocated', SUM(sum_number_of_bytes_alloc), 'Performance Schema', 'YES' FROM performance_schema.memory_summary_global_by_event_name
UNION ALL SELECT 'NOW()', NOW(3), 'System Time', 'YES'
UNION ALL SELECT 'UNIX_TIMESTAMP()', ROUND(UNIX_TIMESTAMP(NOW(3)), 3), 'System Time', 'YES'
ORDER BY Type, Variable_name

view ps_check_lost_instrumentation
SELECT variable_name AS variable_name, variable_value AS variable_value FROM performance_schema.global_status
WHERE variable_name LIKE 'perf%lost' AND variable_value > 0

view session_ssl_status
SELECT v.thread_id AS thread_id, v.variable_value AS ssl_version, c.variable_value AS ssl_cipher, r.variable_value AS ssl_sessions_reused
FROM performance_schema.status_by_thread AS v
LEFT JOIN performance_schema.status_by_thread AS c ON c.thread_id = v.thread_id AND c.variable_name = 'Ssl_cipher'
LEFT JOIN performance_schema.status_by_thread AS r ON r.thread_id = v.thread_id AND r.variable_name = 'Ssl_sessions_reused'
WHERE v.variable_name = 'Ssl_version'

both io_global_by_file_by_bytes
SELECT path(file_name) AS file, count_read AS count_read, size(sum_number_of_bytes_read) AS total_read,
    size(IFNULL(sum_number_of_bytes_read / NULLIF(count_read, 0), 0)) AS avg_read, count_write AS count_write,
    size(sum_number_of_bytes_write) AS total_written, size(IFNULL(sum_number_of_bytes_write / NULLIF(count_write, 0), 0)) AS avg_write,
    size(sum_number_of_bytes_read + sum_number_of_bytes_write) AS total,
    IFNULL(ROUND(100 - sum_number_of_bytes_read / NULLIF(sum_number_of_bytes_read + sum_number_of_bytes_write, 0) * 100, 2), 0.00) AS write_pct
FROM performance_schema.file_summary_by_instance
ORDER BY sum_number_of_bytes_read + sum_number_of_bytes_write DESC

both io_global_by_file_by_latency
SELECT path(file_name) AS file, count_star AS total, pico(sum_timer_wait) AS total_latency, count_read AS count_read,
    pico(sum_timer_read) AS read_latency, count_write AS count_write, pico(sum_timer_write) AS write_latency,
    count_misc AS count_misc, pico(sum_timer_misc) AS misc_latency
FROM performance_schema.file_summary_by_instance
ORDER BY sum_timer_wait DESC

both io_global_by_wait_by_bytes
SELECT SUBSTRING_INDEX(event_name, '/', -2) AS event_name, count_star AS total, pico(sum_timer_wait) AS total_latency,
    pico(min_timer_wait) AS min_latency, pico(avg_timer_wait) AS avg_latency, pico(max_timer_wait) AS max_latency, count_read AS count_read,
    size(sum_number_of_bytes_read) AS total_read, size(IFNULL(sum_number_of_bytes_read / NULLIF(count_read, 0), 0)) AS avg_read,
    count_write AS count_write, size(sum_number_of_bytes_write) AS total_written,
    size(IFNULL(sum_number_of_bytes_write / NULLIF(count_write, 0), 0)) AS avg_written,
    size(sum_number_of_bytes_write + sum_number_of_bytes_read) AS total_requested
FROM performance_schema.file_summary_by_event_name
WHERE event_name LIKE 'wait/io/file/%' AND count_star > 0
ORDER BY sum_number_of_bytes_write + sum_number_of_bytes_read DESC

both io_global_by_wait_by_latency
SELECT SUBSTRING_INDEX(event_name, '/', -2) AS event_name, count_star AS total, pico(sum_timer_wait) AS total_latency,
    pico(avg_timer_wait) AS avg_latency, pico(max_timer_wait) AS max_latency, pico(sum_timer_read) AS read_latency,
    pico(sum_timer_write) AS write_latency, pico(sum_timer_misc) AS misc_latency, count_read AS count_read,
    size(sum_number_of_bytes_read) AS total_read, size(IFNULL(sum_number_of_bytes_read / NULLIF(count_read, 0), 0)) AS avg_read,
    count_write AS count_write, size(sum_number_of_bytes_write) AS total_written,
    size(IFNULL(sum_number_of_bytes_write / NULLIF(count_write, 0), 0)) AS avg_written
FROM performance_schema.file_summary_by_event_name
WHERE event_name LIKE 'wait/io/file/%' AND count_star > 0
ORDER BY sum_timer_wait DESC

both io_by_thread_by_latency
SELECT IF(t.processlist_id IS NULL, SUBSTRING_INDEX(t.name, '/', -1),
        CONCAT(t.processlist_user, '@', CONVERT(t.processlist_host USING utf8mb4))) AS user,
    SUM(w.count_star) AS total, pico(SUM(w.sum_timer_wait)) AS total_latency, pico(MIN(w.min_timer_wait)) AS min_latency,
    pico(AVG(w.avg_timer_wait)) AS avg_latency, pico(MAX(w.max_timer_wait)) AS max_latency, w.thread_id AS thread_id,
    t.processlist_id AS processlist_id
FROM performance_schema.events_waits_summary_by_thread_by_event_name AS w
LEFT JOIN performance_schema.threads AS t ON w.thread_id = t.thread_id
WHERE w.event_name LIKE 'wait/io/file/%' AND w.sum_timer_wait > 0
GROUP BY w.thread_id, t.processlist_id, user
ORDER BY SUM(w.sum_timer_wait) DESC

both latest_file_io
SELECT IF(p.id IS NULL, CONCAT(SUBSTRING_INDEX(t.name, '/', -1), ':', w.thread_id),
        CONVERT(CONCAT(p.user, '@', p.host, ':', p.id) USING utf8mb4)) AS thread,
    path(w.object_name) AS file, pico(w.timer_wait) AS latency, w.operation AS operation, size(w.number_of_bytes) AS requested
FROM performance_schema.events_waits_history_long AS w
JOIN performance_schema.threads AS t ON w.thread_id = t.thread_id
LEFT JOIN information_schema.processlist AS p ON t.processlist_id = p.id
WHERE w.object_name IS NOT NULL AND w.event_name LIKE 'wait/io/file/%'
ORDER BY w.timer_start

both waits_by_user_by_latency
SELECT IF(user IS NULL, 'background', user) AS user, event_name AS event, count_star AS total, pico(sum_timer_wait) AS total_latency,
    pico(avg_timer_wait) AS avg_latency, pico(max_timer_wait) AS max_latency
FROM performance_schema.events_waits_summary_by_user_by_event_name
WHERE event_name <> 'idle' AND user IS NOT NULL AND sum_timer_wait > 0
ORDER BY IF(user IS NULL, 'background', user), sum_timer_wait DESC

both waits_by_host_by_latency
SELECT IF(host IS NULL, 'background', host) AS host, event_name AS event, count_star AS total, pico(sum_timer_wait) AS total_latency,
    pico(avg_timer_wait) AS avg_latency, pico(max_timer_wait) AS max_latency
FROM performance_schema.events_waits_summary_by_host_by_event_name
WHERE event_name <> 'idle' AND sum_timer_wait > 0
ORDER BY IF(host IS NULL, 'background', host), sum_timer_wait DESC

both waits_global_by_latency
SELECT event_name AS events, count_star AS total, pico(sum_timer_wait) AS total_latency, pico(avg_timer_wait) AS avg_latency,
    pico(max_timer_wait) AS max_latency
FROM performance_schema.events_waits_summary_global_by_event_name
WHERE event_name <> 'idle' AND sum_timer_wait > 0
ORDER BY sum_timer_wait DESC

both wait_classes_global_by_latency
SELECT SUBSTRING_INDEX(event_name, '/', 3) AS event_class, SUM(count_star) AS total, pico(SUM(sum_timer_wait)) AS total_latency,
    pico(MIN(min_timer_wait)) AS min_latency, pico(IFNULL(SUM(sum_timer_wait) / NULLIF(SUM(count_star), 0), 0)) AS avg_latency,
    pico(MAX(max_timer_wait)) AS max_latency
FROM performance_schema.events_waits_summary_global_by_event_name
WHERE sum_timer_wait > 0 AND event_name <> 'idle'
GROUP BY SUBSTRING_INDEX(event_name, '/', 3)
ORDER BY SUM(sum_timer_wait) DESC

both wait_classes_global_by_avg_latency
SELECT SUBSTRING_INDEX(event_name, '/', 3) AS event_class, SUM(count_star) AS total, pico(SUM(sum_timer_wait)) AS total_latency,
    pico(MIN(min_timer_wait)) AS min_latency, pico(IFNULL(SUM(sum_timer_wait) / NULLIF(SUM(count_star), 0), 0)) AS avg_latency,
    pico(MAX(max_timer_wait)) AS max_latency
FROM performance_schema.events_waits_summary_global_by_event_name
WHERE sum_timer_wait > 0 AND event_name <> 'idle'
GROUP BY event_class
ORDER BY IFNULL(SUM(sum_timer_wait) / NULLIF(SUM(count_star), 0), 0) DESC

both user_summary_by_file_io
SELECT IF(user IS NULL, 'background', user) AS user, SUM(count_star) AS ios, pico(SUM(sum_timer_wait)) AS io_latency
FROM performance_schema.events_waits_summary_by_user_by_event_name
WHERE event_name LIKE 'wait/io/file/%'
GROUP BY IF(user IS NULL, 'background', user)
ORDER BY SUM(sum_timer_wait) DESC

both user_summary_by_file_io_type
SELECT IF(user IS NULL, 'background', user) AS user, event_name AS event_name, count_star AS total, pico(sum_timer_wait) AS latency,
    pico(max_timer_wait) AS max_latency
FROM performance_schema.events_waits_summary_by_user_by_event_name
WHERE event_name LIKE 'wait/io/file%' AND count_star > 0
ORDER BY IF(user IS NULL, 'background', user), sum_timer_wait DESC

both user_summary_by_stages
SELECT IF(user IS NULL, 'background', user) AS user, event_name AS event_name, count_star AS total, pico(sum_timer_wait) AS total_latency,
    pico(avg_timer_wait) AS avg_latency
FROM performance_schema.events_stages_summary_by_user_by_event_name
WHERE sum_timer_wait <> 0
ORDER BY IF(user IS NULL, 'background', user), sum_timer_wait DESC

both host_summary_by_file_io
SELECT IF(host IS NULL, 'background', host) AS host, SUM(count_star) AS ios, pico(SUM(sum_timer_wait)) AS io_latency
FROM performance_schema.events_waits_summary_by_host_by_event_name
WHERE event_name LIKE 'wait/io/file/%'
GROUP BY IF(host IS NULL, 'background', host)
ORDER BY SUM(sum_timer_wait) DESC

both host_summary_by_file_io_type
SELECT IF(host IS NULL, 'background', host) AS host, event_name AS event_name, count_star AS total, pico(sum_timer_wait) AS total_latency,
    pico(max_timer_wait) AS max_latency
FROM performance_schema.events_waits_summary_by_host_by_event_name
WHERE event_name LIKE 'wait/io/file%' AND count_star > 0
ORDER BY IF(host IS NULL, 'background', host), sum_timer_wait DESC

both host_summary_by_stages
SELECT IF(host IS NULL, 'background', host) AS host, event_name AS event_name, count_star AS total, pico(sum_timer_wait) AS total_latency,
    pico(avg_timer_wait) AS avg_latency
FROM performance_schema.events_stages_summary_by_host_by_event_name
WHERE sum_timer_wait <> 0
ORDER BY IF(host IS NULL, 'background', host), sum_timer_wait DESC

both memory_by_user_by_current_bytes
SELECT IF(user IS NULL, 'background', user) AS user, SUM(current_count_used) AS current_count_used,
    size(SUM(current_number_of_bytes_used)) AS current_allocated,
    size(IFNULL(SUM(current_number_of_bytes_used) / NULLIF(SUM(current_count_used), 0), 0)) AS current_avg_alloc,
    size(MAX(current_number_of_bytes_used)) AS current_max_alloc, size(SUM(sum_number_of_bytes_alloc)) AS total_allocated
FROM performance_schema.memory_summary_by_user_by_event_name
GROUP BY IF(user IS NULL, 'background', user)
ORDER BY SUM(current_number_of_bytes_used) DESC

both memory_by_host_by_current_bytes
SELECT IF(host IS NULL, 'background', host) AS host, SUM(current_count_used) AS current_count_used,
    size(SUM(current_number_of_bytes_used)) AS current_allocated,
    size(IFNULL(SUM(current_number_of_bytes_used) / NULLIF(SUM(current_count_used), 0), 0)) AS current_avg_alloc,
    size(MAX(current_number_of_bytes_used)) AS current_max_alloc, size(SUM(sum_number_of_bytes_alloc)) AS total_allocated
FROM performance_schema.memory_summary_by_host_by_event_name
GROUP BY IF(host IS NULL, 'background', host)
ORDER BY SUM(current_number_of_bytes_used) DESC

both memory_by_thread_by_current_bytes
SELECT t.thread_id AS thread_id,
    IF(t.name = 'thread/sql/one_connection', CONCAT(t.processlist_user, '@', CONVERT(t.processlist_host USING utf8mb4)), REPLACE(t.name, 'thread/', '')) AS user,
    SUM(m.current_count_used) AS current_count_used, size(SUM(m.current_number_of_bytes_used)) AS current_allocated,
    size(IFNULL(SUM(m.current_number_of_bytes_used) / NULLIF(SUM(m.current_count_used), 0), 0)) AS current_avg_alloc,
    size(MAX(m.current_number_of_bytes_used)) AS current_max_alloc, size(SUM(m.sum_number_of_bytes_alloc)) AS total_allocated
FROM performance_schema.memory_summary_by_thread_by_event_name AS m
JOIN performance_schema.threads AS t ON m.thread_id = t.thread_id
GROUP BY t.thread_id,
    IF(t.name = 'thread/sql/one_connection', CONCAT(t.processlist_user, '@', CONVERT(t.processlist_host USING utf8mb4)), REPLACE(t.name, 'thread/', ''))
ORDER BY SUM(m.current_number_of_bytes_used) DESC

both innodb_buffer_stats_by_schema
SELECT IF(LOCATE('.', b.table_name) = 0, 'InnoDB System', REPLACE(SUBSTRING_INDEX(b.table_name, '.', 1), '`', '')) AS object_schema,
    size(SUM(IF(b.compressed_size = 0, 16384, b.compressed_size))) AS allocated, size(SUM(b.data_size)) AS data,
    COUNT(b.page_number) AS pages, COUNT(IF(b.is_hashed = 'YES', 1, NULL)) AS pages_hashed, COUNT(IF(b.is_old = 'YES', 1, NULL)) AS pages_old,
    ROUND(IFNULL(SUM(b.number_records) / NULLIF(COUNT(DISTINCT b.index_name), 0), 0), 0) AS rows_cached
FROM information_schema.innodb_buffer_page AS b
WHERE b.table_name IS NOT NULL
GROUP BY object_schema
ORDER BY SUM(IF(b.compressed_size = 0, 16384, b.compressed_size)) DESC

both innodb_buffer_stats_by_table
SELECT IF(LOCATE('.', b.table_name) = 0, 'InnoDB System', REPLACE(SUBSTRING_INDEX(b.table_name, '.', 1), '`', '')) AS object_schema,
    REPLACE(SUBSTRING_INDEX(b.table_name, '.', -1), '`', '') AS object_name,
    size(SUM(IF(b.compressed_size = 0, 16384, b.compressed_size))) AS allocated, size(SUM(b.data_size)) AS data,
    COUNT(b.page_number) AS pages, COUNT(IF(b.is_hashed = 'YES', 1, NULL)) AS pages_hashed, COUNT(IF(b.is_old = 'YES', 1, NULL)) AS pages_old,
    ROUND(IFNULL(SUM(b.number_records) / NULLIF(COUNT(DISTINCT b.index_name), 0), 0), 0) AS rows_cached
FROM information_schema.innodb_buffer_page AS b
WHERE b.table_name IS NOT NULL
GROUP BY object_schema, object_name
ORDER BY SUM(IF(b.compressed_size = 0, 16384, b.compressed_size)) DESC

view x$ps_schema_table_statistics_io
SELECT sys.extract_schema_from_file_name(file_name) AS table_schema, sys.extract_table_from_file_name(file_name) AS table_name,
    SUM(count_read) AS count_read, SUM(sum_number_of_bytes_read) AS sum_number_of_bytes_read, SUM(sum_timer_read) AS sum_timer_read,
    SUM(count_write) AS count_write, SUM(sum_number_of_bytes_write) AS sum_number_of_bytes_write, SUM(sum_timer_write) AS sum_timer_write,
    SUM(count_misc) AS count_misc, SUM(sum_timer_misc) AS sum_timer_misc
FROM performance_schema.file_summary_by_instance
GROUP BY table_schema, table_name

both schema_table_statistics
SELECT t.object_schema AS table_schema, t.object_name AS table_name, pico(t.sum_timer_wait) AS total_latency, t.count_fetch AS rows_fetched,
    pico(t.sum_timer_fetch) AS fetch_latency, t.count_insert AS rows_inserted, pico(t.sum_timer_insert) AS insert_latency,
    t.count_update AS rows_updated, pico(t.sum_timer_update) AS update_latency, t.count_delete AS rows_deleted,
    pico(t.sum_timer_delete) AS delete_latency, f.count_read AS io_read_requests, size(f.sum_number_of_bytes_read) AS io_read,
    pico(f.sum_timer_read) AS io_read_latency, f.count_write AS io_write_requests, size(f.sum_number_of_bytes_write) AS io_write,
    pico(f.sum_timer_write) AS io_write_latency, f.count_misc AS io_misc_requests, pico(f.sum_timer_misc) AS io_misc_latency
FROM performance_schema.table_io_waits_summary_by_table AS t
LEFT JOIN sys.x$ps_schema_table_statistics_io AS f ON t.object_schema = f.table_schema AND t.object_name = f.table_name
ORDER BY t.sum_timer_wait DESC

both schema_table_statistics_with_buffer
SELECT t.object_schema AS table_schema, t.object_name AS table_name, t.count_fetch AS rows_fetched, pico(t.sum_timer_fetch) AS fetch_latency,
    t.count_insert AS rows_inserted, pico(t.sum_timer_insert) AS insert_latency, t.count_update AS rows_updated,
    pico(t.sum_timer_update) AS update_latency, t.count_delete AS rows_deleted, pico(t.sum_timer_delete) AS delete_latency,
    f.count_read AS io_read_requests, size(f.sum_number_of_bytes_read) AS io_read, pico(f.sum_timer_read) AS io_read_latency,
    f.count_write AS io_write_requests, size(f.sum_number_of_bytes_write) AS io_write, pico(f.sum_timer_write) AS io_write_latency,
    f.count_misc AS io_misc_requests, pico(f.sum_timer_misc) AS io_misc_latency, size(b.allocated) AS innodb_buffer_allocated,
    size(b.data) AS innodb_buffer_data, size(b.allocated - b.data) AS innodb_buffer_free, b.pages AS innodb_buffer_pages,
    b.pages_hashed AS innodb_buffer_pages_hashed, b.pages_old AS innodb_buffer_pages_old, b.rows_cached AS innodb_buffer_rows_cached
FROM performance_schema.table_io_waits_summary_by_table AS t
LEFT JOIN sys.x$ps_schema_table_statistics_io AS f ON t.object_schema = f.table_schema AND t.object_name = f.table_name
LEFT JOIN sys.x$innodb_buffer_stats_by_table AS b ON t.object_schema = b.object_schema AND t.object_name = b.object_name
ORDER BY t.sum_timer_wait DESC

view x$ps_digest_avg_latency_distribution
SELECT COUNT(*) AS cnt, ROUND(avg_timer_wait / 1000000, 0) AS avg_us
FROM performance_schema.events_statements_summary_by_digest
GROUP BY avg_us

view x$ps_digest_95th_percentile_by_avg_us
SELECT b.avg_us AS avg_us, IFNULL(SUM(a.cnt) / NULLIF((SELECT COUNT(*) FROM performance_schema.events_statements_summary_by_digest), 0), 0) AS percentile
FROM sys.x$ps_digest_avg_latency_distribution AS a
JOIN sys.x$ps_digest_avg_latency_distribution AS b ON a.avg_us <= b.avg_us
GROUP BY b.avg_us
HAVING IFNULL(SUM(a.cnt) / NULLIF((SELECT COUNT(*) FROM performance_schema.events_statements_summary_by_digest), 0), 0) > 0.95
ORDER BY percentile
LIMIT 1
