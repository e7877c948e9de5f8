-- Changes of the tables setup_… of performance_schema, and which of its tables can be emptied.

-- as: root
UPDATE performance_schema.setup_consumers SET enabled = 'YES' WHERE name LIKE 'events_waits%';
SELECT * FROM performance_schema.setup_consumers WHERE name LIKE 'events_waits%';
UPDATE performance_schema.setup_consumers SET enabled = 'YES' WHERE name LIKE 'events_waits%';
UPDATE performance_schema.setup_consumers SET enabled = 2 WHERE name LIKE 'events_waits%' ORDER BY name LIMIT 1;
SELECT * FROM performance_schema.setup_consumers WHERE name LIKE 'events_waits%' ORDER BY name;
UPDATE performance_schema.setup_consumers AS c SET c.enabled = IF(c.enabled = 'YES', 'no', 'yes') WHERE c.name LIKE 'events_waits%';
SELECT * FROM performance_schema.setup_consumers WHERE name LIKE 'events_waits%' ORDER BY name;
UPDATE performance_schema.setup_consumers SET enabled = 'NO' WHERE name LIKE 'events_waits%';
UPDATE performance_schema.setup_consumers SET enabled = 'MAYBE';
UPDATE performance_schema.setup_consumers SET name = 'x' WHERE name LIKE 'events_waits%';
UPDATE performance_schema.setup_consumers SET nosuch = 'x';
UPDATE performance_schema.setup_consumers SET enabled = 'YES' WHERE name = 'nosuch';
PREPARE s FROM 'UPDATE performance_schema.setup_consumers SET enabled = ? WHERE name = ?';
SET @on = 'YES', @name = 'events_waits_current';
EXECUTE s USING @on, @name;
SELECT * FROM performance_schema.setup_consumers WHERE name = 'events_waits_current';
SET @on = 'NO';
EXECUTE s USING @on, @name;
INSERT INTO performance_schema.setup_consumers VALUES ('x', 'YES');
DELETE FROM performance_schema.setup_consumers;
TRUNCATE performance_schema.setup_consumers;
UPDATE performance_schema.setup_instruments SET enabled = IF(enabled = 'YES', 'NO', 'YES') WHERE name = 'statement/sql/select';
UPDATE performance_schema.setup_instruments SET enabled = timed WHERE name = 'statement/sql/select';
UPDATE performance_schema.setup_instruments SET documentation = 'x' WHERE name = 'statement/sql/select';
DELETE FROM performance_schema.setup_instruments;
INSERT INTO performance_schema.setup_actors VALUES ('h', 'u', '%', 'YES', 'NO');
INSERT INTO performance_schema.setup_actors (user) VALUES ('w'), ('v');
INSERT INTO performance_schema.setup_actors (user) VALUES ('w');
INSERT INTO performance_schema.setup_actors (user, enabled) VALUES ('x', 'PERHAPS');
INSERT INTO performance_schema.setup_actors (nosuch) VALUES ('x');
INSERT INTO performance_schema.setup_actors VALUES ('x');
SELECT * FROM performance_schema.setup_actors;
UPDATE performance_schema.setup_actors SET history = 'YES' WHERE user = 'u';
UPDATE performance_schema.setup_actors SET user = 'z' WHERE user = 'u';
SELECT * FROM performance_schema.setup_actors;
DELETE FROM performance_schema.setup_actors WHERE user = 'u';
SELECT * FROM performance_schema.setup_actors;
TRUNCATE performance_schema.setup_actors;
SELECT * FROM performance_schema.setup_actors;
INSERT INTO performance_schema.setup_actors VALUES ('%', '%', '%', 'YES', 'YES');
INSERT INTO performance_schema.setup_objects VALUES ('TABLE', 'some', 't', 'NO', 'NO');
INSERT INTO performance_schema.setup_objects VALUES ('XXX', 'some', 't', 'NO', 'NO');
INSERT INTO performance_schema.setup_objects (object_schema) VALUES ('other');
SELECT * FROM performance_schema.setup_objects WHERE object_schema IN ('some', 'other') ORDER BY object_schema;
UPDATE performance_schema.setup_objects SET enabled = 'YES' WHERE object_schema = 'some';
SELECT * FROM performance_schema.setup_objects WHERE object_schema IN ('some', 'other') ORDER BY object_schema;
DELETE FROM performance_schema.setup_objects WHERE object_schema IN ('some', 'other');
USE performance_schema;
UPDATE setup_threads SET history = 'NO' WHERE name = 'thread/sql/main';
SELECT name, enabled, history FROM setup_threads WHERE name = 'thread/sql/main';
UPDATE setup_threads SET history = 'YES' WHERE name = 'thread/sql/main';

-- What can be emptied.
TRUNCATE table_io_waits_summary_by_table;
TRUNCATE file_summary_by_instance;
TRUNCATE prepared_statements_instances;
TRUNCATE status_by_account;
TRUNCATE events_statements_current;
TRUNCATE users;
TRUNCATE data_locks;
TRUNCATE metadata_locks;
TRUNCATE session_status;
TRUNCATE table_handles;
TRUNCATE socket_instances;
TRUNCATE error_log;
TRUNCATE processlist;
TRUNCATE variables_by_thread;
UPDATE performance_timers SET timer_name = 'x';

-- Privileges.
DROP USER IF EXISTS setup_reader, setup_changer;
CREATE USER setup_reader, setup_changer;
GRANT SELECT ON performance_schema.* TO setup_reader;
GRANT SELECT, UPDATE, INSERT, DELETE ON performance_schema.* TO setup_changer;
-- as: setup_reader
SELECT COUNT(*) FROM performance_schema.setup_consumers;
UPDATE performance_schema.setup_consumers SET enabled = 'NO' WHERE name LIKE 'events_waits%';
DELETE FROM performance_schema.setup_actors WHERE user = 'nobody';
-- as: setup_changer
UPDATE performance_schema.setup_consumers SET enabled = 'NO' WHERE name LIKE 'events_waits%';
INSERT INTO performance_schema.setup_actors (user) VALUES ('mine');
DELETE FROM performance_schema.setup_actors WHERE user = 'mine';
TRUNCATE performance_schema.setup_actors;
-- as: root
DROP USER setup_reader, setup_changer;
