-- MyISAM tables are searched in boolean mode without an index, row by row.
CREATE TABLE m (id INT PRIMARY KEY, t VARCHAR(100), u VARCHAR(100)) ENGINE=MyISAM;
INSERT INTO m VALUES (1, 'python ruby python', 'x'), (2, 'ruby on rails', 'snake'), (3, 'nothing here', NULL), (4, 'python is it', 'ruby'),
  (5, 'a nutshell python ruby', 'guide');
SELECT id, MATCH (t) AGAINST ('python' IN BOOLEAN MODE) FROM m;
SELECT id, MATCH (t) AGAINST ('python ruby' IN BOOLEAN MODE) FROM m;
SELECT id FROM m WHERE MATCH (t) AGAINST ('python' IN BOOLEAN MODE);
SELECT id FROM m WHERE MATCH (t) AGAINST ('+python -ruby' IN BOOLEAN MODE);
SELECT id FROM m WHERE MATCH (t) AGAINST ('"python ruby"' IN BOOLEAN MODE);
SELECT id FROM m WHERE MATCH (t) AGAINST ('pyth*' IN BOOLEAN MODE) ORDER BY id;
SELECT id FROM m WHERE MATCH (t, u) AGAINST ('+ruby +python' IN BOOLEAN MODE) ORDER BY id;
SELECT id FROM m WHERE NOT MATCH (t) AGAINST ('ruby' IN BOOLEAN MODE) ORDER BY id;
SELECT id FROM m WHERE MATCH (t) AGAINST ('rails' IN BOOLEAN MODE) OR MATCH (u) AGAINST ('guide' IN BOOLEAN MODE) ORDER BY id;
SELECT id FROM m WHERE MATCH (t) AGAINST ('python');
SELECT a.id, b.id FROM m a JOIN m b ON a.id < b.id WHERE MATCH (a.t) AGAINST ('nutshell rails' IN BOOLEAN MODE);
