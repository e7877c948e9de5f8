-- Who gets in, and what an expired password lets one do.
CREATE USER priv_pw IDENTIFIED BY 'secret';
CREATE USER priv_native IDENTIFIED WITH mysql_native_password BY 'secret';
CREATE USER priv_locked IDENTIFIED BY 'secret' ACCOUNT LOCK;
CREATE USER priv_old IDENTIFIED BY 'secret' PASSWORD EXPIRE;
CREATE USER priv_later IDENTIFIED BY 'secret';
CREATE USER priv_tries IDENTIFIED BY 'secret' FAILED_LOGIN_ATTEMPTS 2 PASSWORD_LOCK_TIME 1;
CREATE USER priv_host@localhost IDENTIFIED BY 'local';
CREATE USER priv_host@'%' IDENTIFIED BY 'any';
CREATE USER priv_host@'127.0.0.%' IDENTIFIED BY 'net';
CREATE USER priv_far@'10.0.0.1' IDENTIFIED BY 'secret';
CREATE USER priv_open;
CREATE ROLE priv_norole;
CREATE USER priv_expired2 PASSWORD EXPIRE;
GRANT ALL ON diff.* TO priv_old, priv_later, priv_expired2;
CREATE TABLE t (a INT);
-- as: priv_pw secret
SELECT CURRENT_USER();
-- as: priv_pw wrong
SELECT 1;
-- as: priv_pw
SELECT 1;
-- as: priv_native secret
SELECT CURRENT_USER();
-- as: priv_native wrong
SELECT 1;
-- as: priv_native
SELECT 1;
-- as: priv_locked secret
SELECT 1;
-- as: priv_locked wrong
SELECT 1;
-- as: priv_nobody secret
SELECT 1;
-- as: priv_nobody
SELECT 1;
-- as: priv_far secret
SELECT 1;
-- as: priv_norole
SELECT 1;
-- as: priv_open
SELECT CURRENT_USER();
-- as: priv_open secret
SELECT 1;
-- as: priv_host local
SELECT CURRENT_USER();
-- as: priv_host any
SELECT CURRENT_USER();
-- as: priv_tries wrong
SELECT 1;
-- as: priv_tries wrong2
SELECT 1;
-- as: priv_tries wrong3
SELECT 1;
-- as: priv_tries secret
SELECT 1;
-- as: root
ALTER USER priv_tries ACCOUNT UNLOCK;
SELECT account_locked, password_expired FROM mysql.user WHERE user = 'priv_norole';
-- An expired password: nothing but a new one.
-- as: priv_old secret
SELECT 1;
SELECT * FROM diff.t;
USE diff;
SHOW DATABASES;
SET @a = 1;
SET NAMES utf8mb4;
SET autocommit = 1;
SET PASSWORD FOR root@localhost = 'x';
ALTER USER root@localhost IDENTIFIED BY 'x';
ALTER USER priv_pw IDENTIFIED BY 'x';
ALTER USER CURRENT_USER() ACCOUNT UNLOCK;
BEGIN;
COMMIT;
DO 1;
PREPARE p FROM 'SELECT 1';
SHOW GRANTS;
SHOW WARNINGS;
EXPLAIN SELECT 1;
KILL 1000000000;
FLUSH TABLES;
CREATE TABLE diff.n (a INT);
nonsense;
ALTER USER CURRENT_USER() IDENTIFIED BY 'new';
SELECT CURRENT_USER();
USE diff;
SELECT * FROM t;
-- as: priv_old new
SELECT CURRENT_USER();
-- as: priv_later secret
SELECT CURRENT_USER();
-- as: root
ALTER USER priv_later PASSWORD EXPIRE;
-- as: priv_later secret
SELECT CURRENT_USER();
SELECT COUNT(*) FROM diff.t;
-- as: root
ALTER USER priv_later ACCOUNT LOCK;
-- as: priv_later secret
SELECT CURRENT_USER();
-- as: priv_expired2
SELECT 1;
SET PASSWORD = 'x';
SELECT 1;
-- as: priv_expired2 x
SELECT CURRENT_USER();
-- as: root
ALTER USER priv_pw PASSWORD EXPIRE NEVER;
SELECT account_locked, password_expired FROM mysql.user WHERE user = 'priv_expired2';
CREATE USER ''@localhost;
-- as: priv_somebody
SELECT CURRENT_USER();
-- as: priv_pw secret
SELECT CURRENT_USER();
-- as: priv_host local
SELECT CURRENT_USER();
-- as: root
DROP USER ''@localhost;
DROP USER priv_pw, priv_native, priv_locked, priv_old, priv_later, priv_tries, priv_host@localhost, priv_host, priv_host@'127.0.0.%', priv_far@'10.0.0.1', priv_open, priv_expired2;
DROP ROLE priv_norole;
