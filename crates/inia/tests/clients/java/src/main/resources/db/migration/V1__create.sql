CREATE TABLE migrated (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL, KEY named (name));
INSERT INTO migrated (name) VALUES ('one'), ('two');
