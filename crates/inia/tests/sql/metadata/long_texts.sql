-- Types and lengths of strings that are computed from long ones, and of GROUP_CONCAT.

create table x(v varchar(20), tx text, c char(5), i int, b blob, vb varbinary(10), l varchar(20) character set latin1, mt mediumtext, tt tinytext, lt longtext);
select group_concat(v), group_concat(tx), group_concat(i), group_concat(b), group_concat(vb), group_concat(l) from x;
select max(mt), min(tt), max(lt), max(tx), max(b), max(v) from x;
select concat(tx) a, concat(v,tx) b, upper(tx) c, upper(mt) d, left(tx,3) e, repeat(v,100) f, repeat(v,1000) g, repeat(v, 100000) h,
  hex(tx) i, replace(tx,'a','b') j, trim(tx) k, lower(tt) l, concat(tt) m, concat(b) n from x;
select ifnull(tt,'x') c, reverse(tx) d, lpad(v,100,'x') e, lpad(v,100000,'x') f, quote(tx) g, concat_ws(',',tx,v) h from x;
select elt(1,tx,vb) a, elt(1,v,vb) c, elt(1,v,tt) d, elt(1,b,vb) e from x;
select tx, b, mt from x union select tx, b, mt from x;
set group_concat_max_len = 512;
select group_concat(v), group_concat(i), group_concat(b) from x;
set group_concat_max_len = 513;
select group_concat(v), group_concat(i), group_concat(b) from x;
-- What is chosen among columns is TEXT whatever their size; a computed text shows its own.
create table chosen(a varchar(10), b text, c mediumtext, d longtext);
select if(a = '', null, a) x, if(b = '', null, b) y, if(c = '', null, c) z, if(d = '', null, d) u from chosen;
select coalesce(b, null) x, ifnull(b, d) y, case when b = '' then c else b end z, greatest(b, a) u, coalesce(if(a = '', b, c), d) v from chosen;
select coalesce(b, concat(b, 'x')) x, if(a = '', repeat('x', 70000), b) y, case when 1 then concat(c, c) end z, coalesce(a, repeat('x', 70000)) u from chosen;
select x.* from (select if(b = '', null, b) b, coalesce(d, null) d from chosen) x;
drop table chosen;
