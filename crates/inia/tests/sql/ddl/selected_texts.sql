-- The kinds of TEXT and BLOB that CREATE TABLE … SELECT gives computed strings.

create table x(v varchar(20), tx text, b blob, mt mediumtext, tt tinytext, lt longtext, j json);
create table y as select concat(tx) a, group_concat(v) b, upper(mt) c, concat(tt) d, concat(lt) e, repeat(v,1000) f, group_concat(b) g, concat(b) h,
  hex(b) i, regexp_replace(v,'a','b') k, json_unquote(j) l, cast(j as char) m, to_base64(b) n, coalesce(tx,'a') o, ifnull(tt,'x') p, if(1,b,'c') q from x;
show create table y;
create table y2 as select tx, b, j, mt, tt from x union select tx, b, j, mt, tt from x;
show create table y2;
create table y3 as select max(tx) a, min(mt) b from x;
show create table y3;
create table z(i int, e enum('a','b'), st set('x','y') not null, tx text);
insert into z values (1,'a','x','long');
create table z2 as select * from z union select * from z;
select * from z2;
