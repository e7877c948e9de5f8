-- Lengths that remainders, padded texts and FOR ORDINALITY have.
CREATE TABLE t (ti TINYINT, tu TINYINT UNSIGNED, si SMALLINT, su SMALLINT UNSIGNED, i INT, iu INT UNSIGNED, bi BIGINT, bu BIGINT UNSIGNED, y YEAR, bt BIT(5), f FLOAT);
SELECT ti MOD 2, tu MOD 2, si MOD 2, su MOD 2, i MOD 2, iu MOD 2, bi MOD 2, bu MOD 2, y MOD 2, bt MOD 2 FROM t;
SELECT ti MOD tu, tu MOD ti, i MOD iu, iu MOD i, bi MOD bu, bu MOD bi, tu MOD bu, bu MOD tu, i MOD bi, ti MOD i, tu MOD i, y MOD i FROM t;
SELECT 7 MOD 2, 100 MOD 7, 7 MOD 100, CAST(7 AS UNSIGNED) MOD 2, 2 MOD CAST(7 AS UNSIGNED), LENGTH('a') MOD 2, COUNT(*) MOD 2 FROM t;
SELECT ti DIV 2, tu DIV 2, i DIV iu, iu DIV i, bi DIV bu, bu DIV bi, y DIV 2, bt DIV 2, 7 DIV CAST(2 AS UNSIGNED) FROM t;
INSERT INTO t (f) VALUES (16777217), (1234567), (999999.5), (-123456789), (1.9), (0.5), (1e20), (-1e19), (123456.7);
SELECT SPACE(i), SPACE(NULL), SPACE('3'), SPACE(3.5), SPACE(i + 1), REPEAT('a', i), LPAD('a', i, 'b') FROM t;
DROP TABLE t;
CREATE TABLE t (i INT, v VARCHAR(20), tx TEXT);
SELECT SPACE(i) s, REPEAT('a',i) r, LPAD('a', i, 'b') l, RPAD('a', i, 'b') rp FROM t;
SELECT REPLACE(v, 'a', tx) p, INSERT(v,1,1,tx) ins, REPEAT(tx, 100) rt, CONCAT(tx, tx) cc, QUOTE(tx) q FROM t;
SELECT EXPORT_SET(i, v, v) es, MAKE_SET(i, tx, v) ms, FORMAT(i, 100) f, TO_BASE64(tx) tb, SPACE(NULL) sn FROM t;
SELECT LPAD(v, 70000, 'x') l7, REPEAT(v, 5000) r5, SPACE(70000) s7, SPACE(20000000) s2, REPEAT('a', 20000000) r2, LPAD('a', 20000000, 'b') lp, REPEAT(v, 2000000) r3 FROM t;
DROP TABLE t;
SELECT jt.* FROM JSON_TABLE('[1]', '$[*]' COLUMNS (o FOR ORDINALITY, a INT PATH '$', b VARCHAR(5) PATH '$', c DECIMAL(5,2) PATH '$', d JSON PATH '$', e DATE PATH '$', NESTED PATH '$' COLUMNS (n FOR ORDINALITY))) jt;
SELECT MAX(o) FROM JSON_TABLE('[1]', '$[*]' COLUMNS (o FOR ORDINALITY)) jt GROUP BY o;
