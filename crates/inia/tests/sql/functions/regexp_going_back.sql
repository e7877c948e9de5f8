-- Patterns with back-references, look-around and what else MySQL's library has.
SELECT REGEXP_LIKE('abcabc', '(abc)\\1'), REGEXP_LIKE('ab', 'a(?=b)'), REGEXP_LIKE('ab', 'a(?!b)'), REGEXP_LIKE('xab', '(?<=x)ab'), REGEXP_LIKE('ab', '(?<!x)ab'), REGEXP_LIKE('abc', 'a(?#note)bc');
SELECT CAST(REGEXP_REPLACE('abab', '(a)(b)\\1', '<$2>') AS CHAR(9)) r, REGEXP_SUBSTR('aabb', '(?>a+)b') s, REGEXP_INSTR('abcabc', '(b)c.*\\1') i, REGEXP_LIKE('aaa', 'a++a') p;
SELECT REGEXP_LIKE('a\rb', 'a.b'), REGEXP_LIKE('a\nb', 'a.b'), REGEXP_LIKE('a\nb', 'a.b', 'n'), REGEXP_LIKE('a b', 'a.b');
SELECT REGEXP_LIKE('-', '[\\d-x]'), REGEXP_LIKE('x', '[\\d-x]'), REGEXP_LIKE('5', '[\\d-x]'), REGEXP_LIKE('e', '[\\d-x]'), REGEXP_LIKE('a]', 'a[^]x]'), REGEXP_LIKE('5', '[[:digit:]]'), REGEXP_LIKE('-', '[a-]');
SELECT REGEXP_INSTR('xaxbxa', '(?<=x)a', 2) a, REGEXP_INSTR('abab', '(?=b)b', 1, 2) b, REGEXP_SUBSTR('one two', '\\w+(?= two)') c;
SELECT REGEXP_LIKE('a', '(a)\\2');
SELECT REGEXP_LIKE('a', '(?=a');
SELECT REGEXP_LIKE(CONCAT(REPEAT('a', 40), 'c'), '^(a|aa)+\\1$');
CREATE TABLE r (s VARCHAR(20));
INSERT INTO r VALUES ('abba'), ('abab'), ('aab'), (NULL);
SELECT s FROM r WHERE s REGEXP '(a)(b)\\2\\1' ORDER BY s;
SELECT s, CAST(REGEXP_REPLACE(s, '(.)\\1', '[$1]') AS CHAR(20)) v FROM r ORDER BY s;
