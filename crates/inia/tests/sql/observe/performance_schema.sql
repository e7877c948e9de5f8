-- All tables of performance_schema, and their columns.
SHOW TABLES FROM performance_schema;
SELECT table_name, column_name, ordinal_position, is_nullable, column_type, collation_name FROM information_schema.columns WHERE table_schema = 'performance_schema' AND column_name NOT IN ('BUCKET_QUANTILE', 'HEARTBEAT_INTERVAL') ORDER BY 1, 3;
-- Tables of what is not there, and settings.
SELECT * FROM performance_schema.keyring_keys;
SELECT * FROM performance_schema.replication_applier_configuration;
SELECT * FROM performance_schema.replication_applier_status;
SELECT * FROM performance_schema.setup_actors;
SELECT * FROM performance_schema.setup_objects ORDER BY 1, 2;
SELECT name FROM performance_schema.setup_consumers ORDER BY 1;
SELECT enabled FROM performance_schema.setup_consumers WHERE name IN ('global_instrumentation', 'thread_instrumentation');
SELECT COUNT(*) FROM performance_schema.threads WHERE processlist_id = CONNECTION_ID() AND type = 'FOREGROUND';
SELECT name, processlist_user, processlist_command, processlist_info, instrumented FROM performance_schema.threads WHERE processlist_id = CONNECTION_ID();
SELECT user, command, info, execution_engine FROM performance_schema.processlist WHERE id = CONNECTION_ID();
SELECT COUNT(*) > 0 FROM performance_schema.variables_info WHERE variable_name = 'autocommit';
SELECT variable_name, min_value, max_value FROM performance_schema.variables_info WHERE variable_name IN ('sort_buffer_size', 'port');
SELECT current_connections > 0, total_connections > 0 FROM performance_schema.accounts WHERE user = 'root';
SELECT event_name FROM performance_schema.events_statements_summary_global_by_event_name WHERE event_name IN ('statement/sql/select', 'statement/sql/insert', 'statement/sql/error') ORDER BY 1;
TRUNCATE TABLE performance_schema.host_cache;
TRUNCATE TABLE performance_schema.events_statements_history;
TRUNCATE TABLE performance_schema.events_statements_summary_by_account_by_event_name;
TRUNCATE TABLE performance_schema.threads;
TRUNCATE TABLE performance_schema.global_variables;
DELETE FROM performance_schema.accounts;
INSERT INTO performance_schema.accounts VALUES (1, 2, 3, 4, 5, 6);
DROP TABLE performance_schema.accounts;
-- Locks: who waits, who holds.
SELECT * FROM performance_schema.data_lock_waits;
CREATE TABLE locked(a INT PRIMARY KEY);
BEGIN;
SELECT * FROM locked;
SELECT object_type, object_name, lock_type, lock_duration, lock_status FROM performance_schema.metadata_locks WHERE object_name = 'locked';
INSERT INTO locked VALUES (1);
SELECT object_type, object_name, lock_type, lock_duration, lock_status FROM performance_schema.metadata_locks WHERE object_name = 'locked' AND lock_type = 'SHARED_WRITE';
COMMIT;
select distinct table_schema, privileges from information_schema.columns where table_schema in ('performance_schema', 'information_schema') or table_schema = 'mysql' and table_name in ('db', 'user', 'func') order by 1, 2;
