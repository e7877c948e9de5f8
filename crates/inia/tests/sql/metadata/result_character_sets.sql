-- Lengths and character sets of columns under every result character set: a column is as many of
-- that set's longest characters as it has in its own, a TEXT as many as it has bytes.

create table x(
  v varchar(20), tx text, c char(5), i int, b blob, vb varbinary(10), l varchar(20) character set latin1,
  lt text character set latin1, e enum('a','bb') character set latin1, s set('a','bb'), j json, d datetime,
  u varchar(10) character set ucs2, ut text character set ucs2, u3 varchar(10) character set utf8mb3,
  sj varchar(10) character set sjis, st text character set sjis, mt mediumtext, tt tinytext, lo longtext);
set character_set_results = latin1;
select * from x;
select concat(v), concat(tx), concat(i), concat(b), upper(l), upper(lt), ifnull(e, 'x'), upper(u), upper(ut), upper(u3),
  concat(tx, lt), json_extract(j, '$'), date_format(d, '%a'), user() from x;
show create table x;
set character_set_results = utf8mb3;
select * from x;
select concat(v), concat(tx), concat(i), concat(b), upper(l), upper(lt), ifnull(e, 'x'), upper(u), upper(ut), upper(u3),
  concat(tx, lt), json_extract(j, '$'), date_format(d, '%a'), user() from x;
set character_set_results = null;
select * from x;
select concat(v), concat(tx), concat(i), concat(b), upper(l), upper(lt), ifnull(e, 'x'), upper(u), upper(ut), upper(u3),
  concat(tx, lt), json_extract(j, '$'), date_format(d, '%a'), user() from x;
set character_set_results = binary;
select * from x;
select concat(v), concat(tx), concat(i), concat(b), upper(l), upper(lt), ifnull(e, 'x'), upper(u), upper(ut), upper(u3),
  concat(tx, lt), json_extract(j, '$'), date_format(d, '%a'), user() from x;
set character_set_results = sjis;
select * from x;
set character_set_results = utf8mb4;
select * from x;
select concat(v), concat(tx), concat(i), concat(b), upper(l), upper(lt), ifnull(e, 'x'), upper(u), upper(ut), upper(u3),
  concat(tx, lt), json_extract(j, '$'), date_format(d, '%a'), user() from x;
