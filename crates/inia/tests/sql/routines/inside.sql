-- What a procedure may not do where a function calls it: commit, or send rows.
CREATE TABLE inside_t (a INT);
CREATE PROCEDURE grants() GRANT SELECT ON *.* TO CURRENT_USER();
CREATE PROCEDURE makes_user() CREATE USER inside_user;
CREATE PROCEDURE renames() RENAME TABLE inside_t TO inside_u;
CREATE PROCEDURE shows() SHOW TABLES;
CREATE PROCEDURE selects() SELECT 1;
CREATE PROCEDURE analyzes() ANALYZE TABLE inside_t;
CREATE PROCEDURE commits() COMMIT;
CREATE PROCEDURE inserts() INSERT INTO inside_t VALUES (1);
-- body
CREATE FUNCTION calls(what VARCHAR(20)) RETURNS INT DETERMINISTIC
BEGIN
  CASE what
    WHEN 'grants' THEN CALL grants();
    WHEN 'makes_user' THEN CALL makes_user();
    WHEN 'renames' THEN CALL renames();
    WHEN 'shows' THEN CALL shows();
    WHEN 'selects' THEN CALL selects();
    WHEN 'analyzes' THEN CALL analyzes();
    WHEN 'commits' THEN CALL commits();
    ELSE CALL inserts();
  END CASE;
  RETURN 1;
END;;
SELECT calls('grants');
SELECT calls('makes_user');
SELECT calls('renames');
SELECT calls('shows');
SELECT calls('selects');
SELECT calls('analyzes');
SELECT calls('commits');
SELECT calls('inserts');
SELECT * FROM inside_t;
DROP TRIGGER IF EXISTS nosuch;
-- body
CREATE FUNCTION drops() RETURNS INT DETERMINISTIC BEGIN DROP TRIGGER nosuch; RETURN 1; END;;
