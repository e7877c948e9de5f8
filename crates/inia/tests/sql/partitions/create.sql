create table t2 (a int, d date) partition by range columns (a, d) (partition p0 values less than (10, '2020-01-01'), partition `p 1` values less than (maxvalue, maxvalue));
show create table t2;
create table t3 (a int, s varchar(10)) partition by list columns (s) (partition p0 values in ('a','b''c',null), partition p1 values in ('z'));
show create table t3;
create table t4 (a int, s varchar(10)) partition by list columns (a,s) (partition p0 values in ((1,'a'),(2,null)), partition p1 values in ((3,'z')));
show create table t4;
create table t5 (a int) partition by list (a) (partition p0 values in (1,2,null,-3), partition p1 values in (1+3));
show create table t5;
create table t6 (a int, d datetime) partition by hash (year(d)) partitions 4;
show create table t6;
create table t7 (a int, d datetime) partition by linear hash (to_days(d)) (partition x, partition y comment 'c');
show create table t7;
create table t8 (a int primary key, d int) partition by key () partitions 3;
show create table t8;
create table t9 (a int, d int, primary key(a,d)) comment='foo' partition by linear key algorithm=1 (a,d);
show create table t9;
create table t10 (a int, d date) partition by range (year(d)) subpartition by hash (to_days(d)) subpartitions 2 (partition p0 values less than (1990), partition p1 values less than (2000));
show create table t10;
create table t11 (a int, d date) partition by range (year(d)) subpartition by linear key algorithm=2 (a) (partition p0 values less than (1990) (subpartition s0, subpartition s1 comment='u'), partition p1 values less than maxvalue (subpartition s2, subpartition s3));
show create table t11;
create table t12 (a int, d timestamp null) partition by range (unix_timestamp(d)) (partition p0 values less than (unix_timestamp('2020-01-01 00:00:00')), partition p1 values less than maxvalue);
show create table t12;
create table t13 (a int, d int) partition by hash(a) partitions 1;
show create table t13;
create table t14 (a int, d int) partition by hash(abs(`a`) mod 7 + d div 3 - mod(a,2));
show create table t14;
create table t15 (a int, d datetime, v varbinary(10)) partition by range columns(d,v) (partition p0 values less than ('2020-01-01 10:00:00', x'41ff'));
show create table t15;
create table t17 (a int unsigned) partition by range (a) (partition p0 values less than (18446744073709551615));
show create table t17;
create table t18 (a int, b int generated always as (a+1) virtual) partition by hash(b) partitions 2;
show create table t18;
create table t19 (a int) partition by hash(-a);
show create table t19;
create table t20 (a int, b int) partition by range(a) (partition p0 values less than (10) comment 'it''s' max_rows 3 min_rows 2 nodegroup 4);
show create table t20;
create table t21 (s varchar(10)) partition by list columns(s) (partition p0 values in ('é','日本'), partition p1 values in ('x', 0x41));
show create table t21;
create table t22 (a date) partition by range columns(a) (partition p0 values less than ('2020-1-1'));
show create table t22;
create table t23 (a int, b int) partition by range columns(a) (partition p0 values less than maxvalue);
show create table t23;
create table t24 (a int not null,b varchar(20), unique(a)) partition by key();
show create table t24;
create table t25 (a bit(5), b year) partition by hash(a) partitions 3;
show create table t25;
create table t26 (a bit(5), b year) partition by range(b) (partition p0 values less than (2000), partition p1 values less than (2010) engine=innodb);
create table t26 (a bit(5), b year) engine=innodb partition by range(b) (partition p0 values less than (2000), partition p1 values less than (2010) engine=innodb);
show create table t26;
create table t27 (a enum('a','b'), b set('x','y'), c decimal(10,2), d float, e time, f timestamp null) partition by key(a,b,c,d,e,f) partitions 5;
show create table t27;
create table t28 (`order` int, `b c` int) partition by key(`order`, `b c`) partitions 5;
show create table t28;
create table t29 (`order` int, `b c` int) partition by range columns(`order`, `b c`) (partition `select` values less than (1,2), partition `1` values less than (3,4), partition `a-b` values less than (5,6));
show create table t29;
create table t30 (a int, b int) partition by range(a) subpartition by key(b) (partition p0 values less than (4), partition p1 values less than (8));
show create table t30;
create table t31 (a int, b int) partition by range(a) subpartition by hash(b) subpartitions 3 (partition p0 values less than (4) comment 'x', partition p1 values less than (8));
show create table t31;
create table t32 (a int, b int) partition by list(a) subpartition by linear hash(b+1) subpartitions 1 (partition p0 values in (4), partition p1 values in (8));
show create table t32;
create table t33 like t31;
show create table t33;
create table t34 (x int, y int) partition by hash(x) partitions 3 as select 1 as x, 2 as y union select 5, 6;
show create table t34;
select * from t34 partition (p1);
select * from t34 partition (p2);
create table t35 (a int auto_increment primary key) auto_increment=100 partition by hash(a) partitions 2;
show create table t35;
/*!50100 create table t36 (a int)
/*!50100 PARTITION BY RANGE (`a`)
(PARTITION p0 VALUES LESS THAN (10) ENGINE = InnoDB,
 PARTITION p1 VALUES LESS THAN MAXVALUE ENGINE = InnoDB) */ */;
create table t37 (a int) engine=InnoDB
/*!50100 PARTITION BY LINEAR KEY */ /*!50611 ALGORITHM = 1 */ /*!50100 (a)
PARTITIONS 4 */;
show create table t37;
create table t38 (a int, key (a)) engine=InnoDB
/*!50500 PARTITION BY RANGE  COLUMNS(a)
(PARTITION p0 VALUES LESS THAN (10) ENGINE = InnoDB,
 PARTITION p1 VALUES LESS THAN (MAXVALUE) ENGINE = InnoDB) */;
show create table t38;
select table_name, create_options from information_schema.tables where table_schema=database() order by table_name;
select table_name, partition_name, subpartition_name, partition_ordinal_position, subpartition_ordinal_position, partition_method, subpartition_method, partition_expression, subpartition_expression, partition_description, table_rows, partition_comment, nodegroup, tablespace_name from information_schema.partitions where table_schema=database() order by table_name, partition_ordinal_position, subpartition_ordinal_position;
