-- Texts beside a TIME column in IN: where one is no time, those that are find no row but that of zero.
CREATE TABLE t (id INT PRIMARY KEY, tm TIME, ti TIME(3), KEY (tm));
INSERT INTO t VALUES (1, '10:00:00', '10:00:00.5'), (2, '00:00:00', '00:00:00'), (3, NULL, NULL);
SELECT id FROM t WHERE tm IN ('10:00:00', '00:00:00');
SELECT id FROM t WHERE ti IN ('10:00:00.5', 'x');
SELECT id FROM t WHERE TIME(tm) IN ('10:00:00', 'x');
SELECT id, tm IN ('foo', '10:00:00', NULL), tm IN ('foo', TIME'10:00:00'), tm IN ('10:00:00', ti) FROM t;
