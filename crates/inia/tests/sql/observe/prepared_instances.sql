-- Prepared statements of sessions.

-- differs: Sums over statements are kept once `inia_statement_sums` is ON (MySQL: always)
SET GLOBAL inia_statement_sums = ON;
CREATE TABLE t (a INT PRIMARY KEY, b INT);
INSERT INTO t VALUES (1, 1), (2, 2), (3, 3);
SELECT COUNT(*) FROM performance_schema.prepared_statements_instances;
PREPARE one FROM 'SELECT a FROM t WHERE b > ?';
PREPARE two FROM 'UPDATE t SET b = b + ? WHERE a = ?';
SET @a = 1, @b = 2;
EXECUTE one USING @a;
EXECUTE one USING @b;
EXECUTE two USING @a, @b;
PREPARE three FROM 'INSERT INTO t VALUES (?, 1)';
EXECUTE three USING @a;
SELECT statement_name, sql_text, owner_object_type, owner_object_name, execution_engine, count_execute, sum_errors, sum_rows_affected, sum_rows_sent FROM performance_schema.prepared_statements_instances ORDER BY statement_name;
DEALLOCATE PREPARE one;
PREPARE Two FROM 'SELECT 1';
SELECT statement_name, count_execute FROM performance_schema.prepared_statements_instances ORDER BY statement_name;
DEALLOCATE PREPARE two;
DEALLOCATE PREPARE three;
SELECT COUNT(*) FROM performance_schema.prepared_statements_instances;
-- differs: Sums over statements are kept once `inia_statement_sums` is ON (MySQL: always)
SET GLOBAL inia_statement_sums = OFF;
