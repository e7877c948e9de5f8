-- Natural language: words, ranks, order.
CREATE TABLE articles (id INT PRIMARY KEY, title VARCHAR(200), body TEXT, FULLTEXT KEY words (title, body));
INSERT INTO articles VALUES
 (1, 'MySQL Tutorial', 'DBMS stands for DataBase ...'), (2, 'How To Use MySQL Well', 'After you went through a ...'),
 (3, 'Optimizing MySQL', 'In this tutorial, we show ...'), (4, '1001 MySQL Tricks', '1. Never run mysqld as root. 2. ...'),
 (5, 'MySQL vs. YourSQL', 'In the following database comparison ...'), (6, 'MySQL Security', 'When configured properly, MySQL ...'),
 (7, NULL, 'database database database it''s don''t foo_bar x-ray O''Brien''s'), (8, NULL, NULL), (9, '', '');
SELECT id, MATCH (title, body) AGAINST ('database') AS r FROM articles ORDER BY id;
SELECT id, MATCH (body, title) AGAINST ('database tutorial') AS r FROM articles ORDER BY id;
SELECT id, MATCH (title, body) AGAINST ('MYSQL') AS r FROM articles ORDER BY id;
SELECT id, MATCH (title, body) AGAINST ('database database') AS r FROM articles ORDER BY id;
SELECT id, MATCH (title, body) AGAINST ('database Database tutorial' IN NATURAL LANGUAGE MODE) AS r FROM articles ORDER BY id;
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('database tutorial') ORDER BY MATCH (title, body) AGAINST ('database tutorial') DESC;
SELECT id, MATCH (title, body) AGAINST ('database tutorial') AS r FROM articles WHERE MATCH (title, body) AGAINST ('database tutorial') ORDER BY r DESC LIMIT 2;
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('database tutorial') > 0.3 ORDER BY id;
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('database tutorial') >= 0.296 AND id > 1 ORDER BY id;
SELECT id FROM articles WHERE 0.2 < MATCH (title, body) AGAINST ('database tutorial') ORDER BY id;
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('database tutorial') = 0 ORDER BY id;
SELECT id FROM articles WHERE NOT MATCH (title, body) AGAINST ('database tutorial') ORDER BY id;
SELECT COUNT(*) FROM articles WHERE MATCH (title, body) AGAINST ('mysql');
SELECT COUNT(IF(MATCH (title, body) AGAINST ('mysql'), 1, NULL)) AS n FROM articles;
-- Stopwords, short words, what a word is.
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('the this in to');
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('vs');
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('o''brien');
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('don');
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('foo_bar');
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('foo');
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('ray');
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('1001');
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('');
SELECT id, MATCH (title, body) AGAINST (NULL) AS r FROM articles WHERE id < 3 ORDER BY id;
SELECT id, MATCH (title, body) AGAINST (1001) AS r FROM articles ORDER BY id;
SELECT id FROM articles WHERE MATCH (title, body) AGAINST (CONCAT('tuto', 'rial')) ORDER BY id;
SET @words = 'security';
SELECT id FROM articles WHERE MATCH (title, body) AGAINST (@words);
PREPARE s FROM 'SELECT id FROM articles WHERE MATCH (title, body) AGAINST (?) ORDER BY id';
EXECUTE s USING @words;
SET @words = 'tricks';
EXECUTE s USING @words;
-- Operators mean nothing here, quotes do.
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('+security -mysql') ORDER BY id;
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('"mysql tutorial"') ORDER BY id;
SELECT id FROM articles WHERE MATCH (title, body) AGAINST ('tutor*') ORDER BY id;
-- Errors.
SELECT id FROM articles WHERE MATCH (title) AGAINST ('mysql');
SELECT id FROM articles WHERE MATCH (id) AGAINST ('mysql');
SELECT id FROM articles WHERE MATCH (title, body) AGAINST (title);
SELECT id FROM articles WHERE MATCH (title, nothing) AGAINST ('mysql');
SELECT id FROM articles a, articles b WHERE MATCH (a.title, b.body) AGAINST ('mysql');
SELECT id FROM articles HAVING MATCH (title, body) AGAINST ('mysql');
SELECT id FROM (SELECT DISTINCT id, title, body FROM articles) d WHERE MATCH (title, body) AGAINST ('mysql');
