-- `$` matches at the end of a text and before the end of line that is its last.

select 'a\n' regexp 'a$', 'a\n' regexp '^a$', 'a\nb' regexp 'a$', 'a\r\n' regexp 'a$', 'a\r' regexp 'a$', 'a\n\n' regexp 'a$', '\n' regexp '^$';
select 'a\nb\n' regexp 'b$', 'a\nb\n' regexp '(?m)a$', regexp_like('a\nb\n', 'a$', 'm'), regexp_like('a\nb', 'a$.b', 'n');
select regexp_instr('ab\n', '$'), regexp_instr('ab\n', '$', 1, 2), regexp_substr('ab\n', 'b$'), regexp_substr('ab\nb', 'b$');
select quote(regexp_replace('a\n', '$', 'X')) = quote('aX\nX'), regexp_replace('a\r\n', '$', 'X') = 'aX\r\nX', regexp_replace('a\nb\n', '$', 'X', 1, 0, 'm') = 'aX\nbX\nX';
select regexp_replace('ab\n', 'b$', 'X') = 'aX\n', regexp_replace('ab', 'b$', 'X'), regexp_replace('a\nb\n', '$', 'X') = 'a\nbX\nX';
select regexp_like('a\n', '(a$)|x'), regexp_like('$', '[$]'), regexp_like('a$\n', 'a\\$'), regexp_like('a\n', 'a$\n'), regexp_like('a\n', '(a)(?=$)');
select regexp_like('a\n', 'a\\Z'), regexp_like('a\n', 'a\\z'), regexp_like('a\n', '(?i)A$'), regexp_like('a\n', '(?i-m)A$');
select regexp_like(_utf8mb4 x'61E280A8', 'a$'), regexp_like(_utf8mb4 x'61C285', 'a$'), regexp_like(_utf8mb4 x'61E280A9', 'a$');
create table lines(k int primary key, t text);
insert into lines values (1,'one\n'),(2,'one'),(3,'one\ntwo'),(4,'two\r\n'),(5,'one\n\n');
select k from lines where t regexp 'one$' order by k;
select k from lines where t rlike '^two$' order by k;
