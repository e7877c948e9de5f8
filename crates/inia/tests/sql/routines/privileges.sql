-- Who may create, see, change and call routines; what they may do.
CREATE USER reader, maker, owner;
CREATE TABLE secret (a INT);
INSERT INTO secret VALUES (42);
CREATE PROCEDURE as_definer() SELECT a, CURRENT_USER() FROM secret;
CREATE PROCEDURE as_invoker() SQL SECURITY INVOKER SELECT a, CURRENT_USER() FROM secret;
CREATE FUNCTION f_definer() RETURNS INT READS SQL DATA RETURN (SELECT a FROM secret);
CREATE FUNCTION f_invoker() RETURNS INT READS SQL DATA SQL SECURITY INVOKER RETURN (SELECT a FROM secret);
GRANT SELECT ON mysql.user TO reader;
-- as: reader
CALL diff.as_definer();
SELECT diff.f_definer();
SHOW CREATE PROCEDURE diff.as_definer;
SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'diff';
CREATE PROCEDURE diff.p() SELECT 1;
DROP PROCEDURE diff.as_definer;
ALTER PROCEDURE diff.as_definer COMMENT 'x';
-- as: root
GRANT EXECUTE ON diff.* TO reader;
-- as: reader
CALL diff.as_definer();
CALL diff.as_invoker();
SELECT diff.f_definer();
SELECT diff.f_invoker();
SHOW CREATE PROCEDURE diff.as_definer;
SELECT ROUTINE_NAME, ROUTINE_DEFINITION FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'diff' ORDER BY 1;
CREATE PROCEDURE diff.p() SELECT 1;
DROP PROCEDURE diff.as_definer;
-- as: root
GRANT CREATE ROUTINE, ALTER ROUTINE ON diff.* TO maker;
-- as: maker
USE diff;
CREATE PROCEDURE made() SELECT CURRENT_USER();
CREATE DEFINER = root@localhost PROCEDURE made2() SELECT CURRENT_USER();
SHOW CREATE PROCEDURE made;
ALTER PROCEDURE made COMMENT 'mine';
DROP PROCEDURE made;
DROP PROCEDURE as_invoker;
-- as: root
CREATE DEFINER = owner PROCEDURE by_owner() SELECT a FROM secret;
CALL by_owner();
GRANT SELECT ON diff.secret TO owner;
CALL by_owner();
DROP USER owner;
CALL by_owner();
DROP USER reader, maker;
