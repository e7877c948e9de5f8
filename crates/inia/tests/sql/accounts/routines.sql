-- Privileges on single procedures and functions, and those that come with creating one.
CREATE TABLE secret (a INT);
INSERT INTO secret VALUES (42);
CREATE USER routine_user, routine_maker, routine_giver, routine_role;
CREATE PROCEDURE p_def() SQL SECURITY DEFINER SELECT a FROM secret;
CREATE PROCEDURE P_Inv() SQL SECURITY INVOKER SELECT a FROM secret;
CREATE PROCEDURE p_dyn(q TEXT) SQL SECURITY INVOKER SELECT q;
CREATE FUNCTION f_def() RETURNS INT READS SQL DATA RETURN (SELECT MAX(a) FROM secret);
CREATE FUNCTION f_inv() RETURNS INT READS SQL DATA SQL SECURITY INVOKER RETURN (SELECT MAX(a) FROM secret);
GRANT EXECUTE ON PROCEDURE nosuch TO routine_user;
GRANT EXECUTE ON PROCEDURE diff.nosuch TO routine_user;
GRANT EXECUTE ON FUNCTION p_def TO routine_user;
GRANT SELECT ON PROCEDURE p_def TO routine_user;
GRANT CREATE ROUTINE ON PROCEDURE p_def TO routine_user;
GRANT ALL ON PROCEDURE p_def TO routine_user;
SHOW GRANTS FOR routine_user;
REVOKE ALTER ROUTINE ON PROCEDURE P_DEF FROM routine_user;
GRANT EXECUTE ON PROCEDURE p_inv TO routine_user;
GRANT EXECUTE ON FUNCTION f_def TO routine_user WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION f_inv TO routine_user;
SHOW GRANTS FOR routine_user;
SELECT User, Routine_type, Proc_priv FROM mysql.procs_priv WHERE User = 'routine_user' ORDER BY Routine_name;
GRANT CREATE ROUTINE ON diff.* TO routine_maker;
GRANT EXECUTE ON PROCEDURE p_dyn TO routine_role;
GRANT routine_role TO routine_maker;
SHOW GRANTS FOR routine_maker USING routine_role;
-- as: routine_user
USE diff;
CALL p_def();
CALL p_inv();
CALL p_dyn('x');
SELECT f_def();
SELECT f_inv();
SELECT a FROM secret;
DROP PROCEDURE p_def;
ALTER PROCEDURE p_def COMMENT 'x';
CREATE PROCEDURE mine() SELECT 1;
SELECT ROUTINE_NAME, ROUTINE_DEFINITION FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'diff' ORDER BY 1;
GRANT EXECUTE ON FUNCTION f_def TO routine_giver;
GRANT EXECUTE ON FUNCTION f_inv TO routine_giver;
GRANT EXECUTE ON PROCEDURE p_dyn TO routine_giver;
-- as: routine_maker
USE diff;
CREATE PROCEDURE made() SELECT 1;
CREATE FUNCTION made() RETURNS INT DETERMINISTIC RETURN 2;
SHOW GRANTS;
CALL made();
SELECT made();
ALTER PROCEDURE made COMMENT 'mine';
CALL p_def();
CALL p_dyn('y');
SET ROLE routine_role;
CALL p_dyn('y');
DROP PROCEDURE made;
SHOW GRANTS FOR CURRENT_USER();
-- as: root
SHOW GRANTS FOR routine_giver;
REVOKE EXECUTE ON FUNCTION f_def FROM routine_user;
SHOW GRANTS FOR routine_user;
REVOKE GRANT OPTION ON FUNCTION f_def FROM routine_user;
REVOKE EXECUTE ON FUNCTION f_def FROM routine_user;
REVOKE IF EXISTS EXECUTE ON FUNCTION f_def FROM routine_user;
GRANT USAGE ON PROCEDURE p_def TO routine_user;
SHOW GRANTS FOR routine_user;
DROP PROCEDURE p_def;
SHOW GRANTS FOR routine_user;
CREATE PROCEDURE p_def() SELECT 1;
-- as: routine_user
CALL p_def();
-- as: root
REVOKE ALL PRIVILEGES, GRANT OPTION FROM routine_user;
SHOW GRANTS FOR routine_user;
GRANT EXECUTE ON PROCEDURE p_def TO routine_user;
SET GLOBAL automatic_sp_privileges = OFF;
DROP PROCEDURE p_def;
SHOW GRANTS FOR routine_user;
-- as: routine_maker
CREATE PROCEDURE unowned() SELECT 1;
CALL unowned();
SHOW GRANTS FOR CURRENT_USER();
-- as: root
SET GLOBAL automatic_sp_privileges = ON;
GRANT EXECUTE ON PROCEDURE nodatabase.p TO routine_user;
DROP USER routine_user, routine_maker, routine_giver, routine_role;
SELECT COUNT(*) FROM mysql.procs_priv WHERE User LIKE 'routine%';
