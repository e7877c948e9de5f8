-- LOCATE, POSITION and INSTR compare by the collation of the text that they search.

create table a(k int primary key, g varchar(20) collate utf8mb4_general_ci, h varchar(20), b varchar(20) collate utf8mb4_bin,
  vb varbinary(20), l varchar(20) character set latin1, lb varchar(20) character set latin1 collate latin1_bin, e enum('a','b'), s set('x','y'));
insert into a values (1,'a','A','a','a','a','A','a','x'),(2,'b','B','B','b','é','b','b','y');
select k, locate(g, h), locate(h, g), instr(g, h), position(g in h), locate(g, h, 2) from a order by k;
select k, locate(b, upper(g)), locate(upper(g), b), instr(upper(g), b), instr(b, upper(g)) from a order by k;
select locate(_binary'A', 'a'), locate('A', _binary'a'), instr(_binary'A', 'a');
select k, locate(vb, upper(g)), locate(upper(g), vb) from a order by k;
select locate('a', 'A' collate utf8mb4_bin), locate('a' collate utf8mb4_bin, 'A'), instr('A' collate utf8mb4_bin, 'a' collate utf8mb4_general_ci);
select k, locate(l, lb), locate(lb, l), locate(lb, g), locate(g, lb), locate(l, b) from a order by k;
select k, locate(g, e, 2), instr(s, g), locate(e, g), locate(b, 'A'), locate('A', b), locate(1, 'a1'), locate('1', 21) from a order by k;
select k, locate(b, concat(upper(g))), locate(b, concat(upper(g), h)) from a order by k;
select k from a where locate(g, h) > 0 order by k;
