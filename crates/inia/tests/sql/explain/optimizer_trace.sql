-- optimizer_trace: which statements are traced, and the query as it was resolved.

CREATE TABLE t (a INT PRIMARY KEY, b INT, c VARCHAR(10), KEY (b));
INSERT INTO t VALUES (1, 1, 'x'), (2, 2, 'y'), (3, 3, 'z'), (4, 3, 'z');
CREATE VIEW v AS SELECT a, b FROM t WHERE b > 1;
SELECT @@optimizer_trace, @@optimizer_trace_offset, @@optimizer_trace_features, @@optimizer_trace_max_mem_size;
SELECT COUNT(*) FROM information_schema.OPTIMIZER_TRACE;
SET optimizer_trace = 'enabled=on';
SELECT a FROM t WHERE b = 3 AND c LIKE 'z%' AND 1 ORDER BY a;
SELECT LEFT(query, 200) AS query, JSON_VALID(trace), JSON_EXTRACT(trace, '$.steps[*].join_preparation'), MISSING_BYTES_BEYOND_MAX_MEM_SIZE, INSUFFICIENT_PRIVILEGES FROM information_schema.OPTIMIZER_TRACE;
SELECT JSON_EXTRACT(trace, '$.steps[1].join_optimization.steps[0].condition_processing.original_condition') FROM information_schema.OPTIMIZER_TRACE;
SELECT JSON_EXTRACT(trace, '$.steps[*].join_execution') FROM information_schema.OPTIMIZER_TRACE;
SELECT x.a, y.c FROM t x JOIN t y ON x.a = y.b ORDER BY x.a, y.c;
SELECT LEFT(query, 200) AS query, JSON_EXTRACT(trace, '$.steps[*].join_preparation.steps[*].expanded_query') FROM information_schema.OPTIMIZER_TRACE;
SELECT JSON_LENGTH(trace, '$.steps') FROM information_schema.OPTIMIZER_TRACE;
SET optimizer_trace = 'enabled=off';
SELECT a FROM t WHERE b = 1;
SELECT LEFT(query, 200) AS query FROM information_schema.OPTIMIZER_TRACE;

-- Which ones are kept.
SET optimizer_trace = 'enabled=on,one_line=on', optimizer_trace_limit = 3, optimizer_trace_offset = -3;
SELECT 1;
SELECT 2;
SELECT 3;
SELECT 4;
SELECT LEFT(query, 200) AS query FROM information_schema.OPTIMIZER_TRACE;
SET optimizer_trace_offset = 1, optimizer_trace_limit = 2;
SELECT 1;
SELECT 2;
SELECT 3;
SELECT 4;
SELECT LEFT(query, 200) AS query FROM information_schema.OPTIMIZER_TRACE;
SET optimizer_trace_offset = -1, optimizer_trace_limit = 1, optimizer_trace_max_mem_size = 0;
SELECT 5;
SELECT LEFT(query, 200) AS query, trace = '', MISSING_BYTES_BEYOND_MAX_MEM_SIZE > 0 FROM information_schema.OPTIMIZER_TRACE;
SET optimizer_trace = DEFAULT, optimizer_trace_max_mem_size = DEFAULT, optimizer_trace_offset = DEFAULT, optimizer_trace_limit = DEFAULT;
