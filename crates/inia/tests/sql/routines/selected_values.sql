-- Strict mode and SELECT … INTO in programs: what the select list computes for a local variable is an error
-- where it is wrong, conditions and values for user variables are warned of. -> and ->> read documents of
-- variables and of a trigger's columns.
CREATE TABLE t (a INT);
INSERT INTO t VALUES (1);
SELECT CAST('1x' AS SIGNED) INTO @z;
-- body
CREATE PROCEDURE w1() BEGIN DECLARE v INT; SELECT CAST('1x' AS SIGNED) INTO v; SELECT v; END
;;
CALL w1();
-- body
CREATE PROCEDURE w2() BEGIN SELECT CAST('1x' AS SIGNED) INTO @z; SELECT @z; END
;;
CALL w2();
-- body
CREATE PROCEDURE w3() BEGIN DECLARE v INT; SET v = CAST('1x' AS SIGNED); SELECT v; END
;;
CALL w3();
-- body
CREATE PROCEDURE w4() BEGIN SET @z = CAST('1x' AS SIGNED); SELECT @z; END
;;
CALL w4();
-- body
CREATE PROCEDURE w5() BEGIN DECLARE v INT; SELECT '1x' + 1 INTO v; SELECT v; END
;;
CALL w5();
-- body
CREATE PROCEDURE w6() BEGIN DECLARE v INT; SELECT a + '1x' INTO v FROM t; SELECT v; END
;;
CALL w6();
-- body
CREATE PROCEDURE w7() BEGIN DECLARE v INT; IF '1x' = 1 THEN SET v = 5; END IF; SELECT v; END
;;
CALL w7();
-- body
CREATE PROCEDURE w8() BEGIN DECLARE v INT DEFAULT '1x' + 1; SELECT v; END
;;
CALL w8();
-- body
CREATE PROCEDURE w9() BEGIN DECLARE v INT; SELECT 1/0 INTO v; SELECT v; END
;;
CALL w9();
-- body
CREATE PROCEDURE w10() BEGIN DECLARE v INT; SET v = 1/0; SELECT v; END
;;
CALL w10();
-- body
CREATE PROCEDURE w11() BEGIN DECLARE v DATE; SELECT DATE('zz') INTO v; SELECT v; END
;;
CALL w11();
-- body
CREATE PROCEDURE w12() BEGIN DECLARE v DATE; SET v = DATE('zz'); SELECT v; END
;;
CALL w12();
-- body
CREATE PROCEDURE w13() BEGIN DECLARE v INT; SELECT COUNT(*) INTO v FROM t WHERE a = '1x'; SELECT v; END
;;
CALL w13();
-- body
CREATE FUNCTION f1(s VARCHAR(10)) RETURNS INT DETERMINISTIC RETURN CAST(s AS SIGNED)
;;
SELECT f1('1x');
-- body
CREATE FUNCTION f2(s VARCHAR(10)) RETURNS INT DETERMINISTIC BEGIN DECLARE v INT; SELECT CAST(s AS SIGNED) INTO v; RETURN v; END
;;
SELECT f2('1x');
INSERT INTO t VALUES (f1('2x'));
INSERT INTO t VALUES (f2('2x'));
-- body
CREATE PROCEDURE js(d JSON) BEGIN DECLARE e JSON DEFAULT '{"k":[1,2]}'; SELECT d->'$.k', d->>'$.k', e->>'$.k[1]', e->'$.z'; IF d->>'$.k' = 'v' THEN SELECT 'yes'; END IF; SET @x = d->>'$.k'; SELECT @x; SELECT JSON_EXTRACT(d, '$.k'); END
;;
CALL js('{"k":"v"}');
-- body
CREATE PROCEDURE js2(d VARCHAR(50)) SELECT d->>'$.k'
;;
CALL js2('{"k":"v"}');
CALL js2('bad');
CREATE TABLE jt (d JSON);
INSERT INTO jt VALUES ('{"k":"col"}');
-- body
CREATE PROCEDURE js3(d JSON) SELECT d->>'$.k', jt.d->>'$.k' FROM jt
;;
CALL js3('{"k":"v"}');
-- body
CREATE TRIGGER jtr BEFORE INSERT ON jt FOR EACH ROW SET NEW.d = JSON_SET(NEW.d, '$.t', NEW.d->>'$.k')
;;
INSERT INTO jt VALUES ('{"k":"q"}');
SELECT * FROM jt;
-- body
CREATE PROCEDURE js4() BEGIN DECLARE i INT DEFAULT 3; SELECT i->'$.k'; END
;;
CALL js4();
CREATE TABLE emp (id INT, name VARCHAR(10), d DATE);
INSERT INTO emp VALUES (1, 'a', '2020-01-01');
-- body
CREATE PROCEDURE x1(p VARCHAR(10)) BEGIN DECLARE n INT; SELECT COUNT(*) INTO n FROM emp WHERE id = p; SELECT n; SELECT MAX(name) INTO @q FROM emp WHERE id > p; SELECT @q; SELECT name INTO n FROM emp WHERE id = 1; END
;;
CALL x1('1abc');
-- body
CREATE PROCEDURE x2() BEGIN DECLARE n INT; SELECT name INTO n FROM emp; END
;;
CALL x2();
-- body
CREATE PROCEDURE x3() BEGIN DECLARE n INT; SELECT SUM(name) INTO n FROM emp; SELECT n; END
;;
CALL x3();
