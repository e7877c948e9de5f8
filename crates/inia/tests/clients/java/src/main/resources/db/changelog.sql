--liquibase formatted sql

--changeset clients:1
CREATE TABLE changed (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL);
--rollback DROP TABLE changed;

--changeset clients:2
--preconditions onFail:HALT onError:HALT
--precondition-sql-check expectedResult:0 SELECT COUNT(*) FROM changed
INSERT INTO changed (name) VALUES ('first');
--rollback DELETE FROM changed;
