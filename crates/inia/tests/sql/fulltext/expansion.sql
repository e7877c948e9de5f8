-- WITH QUERY EXPANSION: the words of what is found are searched for, too.
CREATE TABLE t (id INT PRIMARY KEY, a TEXT, FULLTEXT (a));
INSERT INTO t VALUES (1, 'database'), (2, 'database oracle'), (3, 'oracle server'), (4, 'weather'), (5, 'weather report'), (6, 'report server'), (7, 'green tea'), (8, 'black tea');
SELECT id, MATCH (a) AGAINST ('database') AS r FROM t ORDER BY id;
SELECT id, MATCH (a) AGAINST ('database' WITH QUERY EXPANSION) AS r FROM t ORDER BY id;
SELECT id FROM t WHERE MATCH (a) AGAINST ('green' IN NATURAL LANGUAGE MODE WITH QUERY EXPANSION) ORDER BY id;
SELECT id FROM t WHERE MATCH (a) AGAINST ('nothing' WITH QUERY EXPANSION) ORDER BY id;
SELECT id FROM t WHERE MATCH (a) AGAINST ('weather' WITH QUERY EXPANSION) ORDER BY MATCH (a) AGAINST ('weather' WITH QUERY EXPANSION) DESC, id;
SELECT id FROM t WHERE MATCH (a) AGAINST ('' WITH QUERY EXPANSION) ORDER BY id;
