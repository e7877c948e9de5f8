-- The engine's own dictionary: tables, columns, indexes, foreign keys.

create table t (id int primary key auto_increment, v bigint unsigned not null, w varchar(10), c char(5) character set latin1, b blob, d decimal(10,2), e enum('a','b'), dt datetime(3), ts timestamp, da date, ti time, y year, f float, g double, bi bit(5), j json, s set('x'), vb varbinary(20), bn binary(3), tx text, ge geometry, ty tinyint, sm smallint unsigned, gen int as (v+1) virtual, gs int as (v+2) stored, g2 varchar(20) as (concat(w,c)) virtual, n1 int not null default 5, dfn char(3) not null, bx char(4) character set latin1 collate latin1_bin, mt mediumtext, tb tinyblob, nv char(3) character set utf8mb3, vl varchar(300), dz date not null, key (v), unique key (w), key wv (w(3), v), key tx (tx(5)));
create table nopk (a int, b int, key(a), unique (b));
create table uq (a int not null, b int not null, unique (b), unique(a));
create table parent (id int primary key, x int, key(x));
create table child (id int primary key, p int, q int, foreign key (p) references parent(id) on delete cascade, constraint named foreign key (q) references parent(x) on update set null on delete no action);
create table parts (id int primary key) partition by hash(id) partitions 2;
create table comp (a int) row_format=compressed;
create table red (a int) row_format=redundant;
create table my (a int) engine=myisam;
select NAME,FLAG,N_COLS,ROW_FORMAT,ZIP_PAGE_SIZE,SPACE_TYPE,INSTANT_COLS,TOTAL_ROW_VERSIONS from information_schema.innodb_tables where name like 'diff/%' order by name;
select t.name, c.NAME,c.POS,MTYPE,PRTYPE,LEN,HAS_DEFAULT,DEFAULT_VALUE IS NULL from information_schema.innodb_columns c join information_schema.innodb_tables t using (table_id) where t.name like 'diff/%' order by t.name,c.pos;
select t.name, i.NAME,i.TYPE,i.N_FIELDS,i.PAGE_NO,i.SPACE=t.space,i.MERGE_THRESHOLD from information_schema.innodb_indexes i join information_schema.innodb_tables t using (table_id) where t.name like 'diff/%' order by t.name,index_id;
select t.name, i.NAME,f.NAME,f.POS from information_schema.innodb_fields f join information_schema.innodb_indexes i using (index_id) join information_schema.innodb_tables t using (table_id) where t.name like 'diff/%' order by t.name,i.index_id, f.pos;
select * from information_schema.innodb_foreign where id like 'diff/%' order by id;
select * from information_schema.innodb_foreign_cols where id like 'diff/%' order by id,pos;
create table t2 (a int, b int, key (b), foreign key f2 (a) references parent (id) on delete restrict on update cascade) row_format=compact;
create table t3 (a int primary key, b int as (a + 1) virtual, c int, key (b), unique key cb (c, b)) key_block_size=4;
select NAME,FLAG,N_COLS,ROW_FORMAT,ZIP_PAGE_SIZE,SPACE_TYPE,INSTANT_COLS,TOTAL_ROW_VERSIONS from information_schema.innodb_tables where name in ('diff/t2', 'diff/t3') order by name;
select t.name, c.NAME,c.POS,MTYPE,PRTYPE,LEN,HAS_DEFAULT,DEFAULT_VALUE IS NULL from information_schema.innodb_columns c join information_schema.innodb_tables t using (table_id) where t.name in ('diff/t2', 'diff/t3') order by t.name,c.pos;
select t.name, i.NAME,i.TYPE,i.N_FIELDS,i.PAGE_NO,i.SPACE=t.space,i.MERGE_THRESHOLD from information_schema.innodb_indexes i join information_schema.innodb_tables t using (table_id) where t.name in ('diff/t2', 'diff/t3') order by t.name,index_id;
select t.name, i.NAME,f.NAME,f.POS from information_schema.innodb_fields f join information_schema.innodb_indexes i using (index_id) join information_schema.innodb_tables t using (table_id) where t.name in ('diff/t2', 'diff/t3') order by t.name,i.index_id, f.pos;
select * from information_schema.innodb_foreign where id like 'diff/%' order by id;
select * from information_schema.innodb_foreign_cols where id like 'diff/%' order by id,pos;
