//! CREATE, ALTER, DROP, and what SHOW CREATE TABLE makes of it.

use super::TestDb;

#[test]
fn databases() {
    let db = TestDb::new();
    let mut s = db.session();
    s.check(&[
        ("create database test", "ERROR 1007: Can't create database 'test'; database exists"),
        ("create database if not exists test", "1 affected"),
        ("show warnings", "Note|1007|Can't create database 'test'; database exists"),
        (
            "drop database nosuch",
            "ERROR 1008: Can't drop database 'nosuch'; database doesn't exist",
        ),
        ("drop database if exists nosuch", "0 affected"),
        ("use nosuch", "ERROR 1049: Unknown database 'nosuch'"),
        ("create database d2 collate utf8mb4_bin", "1 affected"),
        ("create table d2.a (a varchar(3))", "0 affected"),
        ("create table d2.b (b int)", "0 affected"),
        ("drop database d2", "2 affected"),
        ("select * from d2.a", "ERROR 1049: Unknown database 'd2'"),
    ]);
}

#[test]
fn wrong_definitions_are_refused_with_mysqls_numbers() {
    let db = TestDb::new();
    let mut s = db.session();
    s.check(&[
        ("create table x (a int, a int)", "ERROR 1060: Duplicate column name 'a'"),
        ("create table x (a int, key (b))", "ERROR 1072: Key column 'b' doesn't exist in table"),
        ("create table x (a int, key k(a), key k(a))", "ERROR 1061: Duplicate key name 'k'"),
        (
            "create table x (a int primary key, b int primary key)",
            "ERROR 1068: Multiple primary key defined",
        ),
        (
            "create table x (a text, key(a))",
            "ERROR 1170: BLOB/TEXT column 'a' used in key specification without a key length",
        ),
        (
            "create table x (a varchar(20000))",
            "ERROR 1074: Column length too big for column 'a' (max = 16383); use BLOB or \
             TEXT instead",
        ),
        (
            "create table x (a char(256))",
            "ERROR 1074: Column length too big for column 'a' (max = 255); use BLOB or \
             TEXT instead",
        ),
        (
            "create table x (a int auto_increment)",
            "ERROR 1075: Incorrect table definition; there can be only one auto column \
             and it must be defined as a key",
        ),
        (
            "create table x (a text default 'a')",
            "ERROR 1101: BLOB, TEXT, GEOMETRY or JSON column 'a' can't have a default value",
        ),
        (
            "create table x (a enum('a','a'))",
            "ERROR 1291: Column 'a' has duplicated value 'a' in ENUM",
        ),
        (
            "create table x (a set('a,b'))",
            "ERROR 1367: Illegal set 'a,b' value found during parsing",
        ),
        (
            "create table x (a datetime(7))",
            "ERROR 1426: Too-big precision 7 specified for 'a'. Maximum is 6.",
        ),
        (
            "create table x (a decimal(66,2))",
            "ERROR 1426: Too-big precision 66 specified for 'a'. Maximum is 65.",
        ),
        (
            "create table x (a decimal(2,3))",
            "ERROR 1427: For float(M,D), double(M,D) or decimal(M,D), M must be >= D \
             (column 'a').",
        ),
        (
            "create table x (a bit(65))",
            "ERROR 1439: Display width out of range for column 'a' (max = 64)",
        ),
        ("create table x (a int default 'abc')", "ERROR 1067: Invalid default value for 'a'"),
        ("create table x (a tinyint default 300)", "ERROR 1067: Invalid default value for 'a'"),
        (
            "create table x (a varchar(2) default 'abc')",
            "ERROR 1067: Invalid default value for 'a'",
        ),
        (
            "create table x (a int not null default null)",
            "ERROR 1067: Invalid default value for 'a'",
        ),
        (
            "create table x (a int on update current_timestamp)",
            "ERROR 1294: Invalid ON UPDATE clause for 'a' column",
        ),
        (
            "create table x (a date default current_timestamp)",
            "ERROR 1067: Invalid default value for 'a'",
        ),
        (
            "create table x (a varchar(1000), key(a))",
            "ERROR 1071: Specified key was too long; max key length is 3072 bytes",
        ),
        ("create table x (a int) engine=nosuch", "ERROR 1286: Unknown storage engine 'nosuch'"),
        ("create table x (a int) charset=nosuch", "ERROR 1115: Unknown character set: 'nosuch'"),
        (
            "create table x (a int) charset=latin1 collate utf8mb4_bin",
            "ERROR 1253: COLLATION 'utf8mb4_bin' is not valid for CHARACTER SET 'latin1'",
        ),
        ("create table nosuch.x (a int)", "ERROR 1049: Unknown database 'nosuch'"),
        ("create table x (a int, primary key(a,a))", "ERROR 1060: Duplicate column name 'a'"),
        (
            "create table x (a int null primary key)",
            "ERROR 1171: All parts of a PRIMARY KEY must be NOT NULL; if you need NULL \
             in a key, use UNIQUE instead",
        ),
        (
            "create table x (a int, check (b>1))",
            "ERROR 3820: Check constraint 'x_chk_1' refers to non-existing column 'b'.",
        ),
        (
            "create table x (a int, index `PRIMARY` (a))",
            "ERROR 1280: Incorrect index name 'PRIMARY'",
        ),
        (
            "create table x (a int auto_increment primary key, check (a>0))",
            "ERROR 3818: Check constraint 'x_chk_1' cannot refer to an auto-increment column.",
        ),
        ("create table x (a timestamp default 0)", "ERROR 1067: Invalid default value for 'a'"),
        (
            "create table x (a int generated always as (b+1))",
            "ERROR 1054: Unknown column 'b' in 'generated column function'",
        ),
        (
            "create table x (a int primary key, foreign key (a) references nosuch(b))",
            "ERROR 1824: Failed to open the referenced table 'nosuch'",
        ),
        ("drop table nosuch1, nosuch2", "ERROR 1051: Unknown table 'test.nosuch1,test.nosuch2'"),
        ("drop table if exists nosuch3", "0 affected"),
        ("show warnings", "Note|1051|Unknown table 'test.nosuch3'"),
        ("truncate table nosuch", "ERROR 1146: Table 'test.nosuch' doesn't exist"),
        ("rename table nosuch to x", "ERROR 1146: Table 'test.nosuch' doesn't exist"),
    ]);
}

#[test]
fn show_create_table_prints_what_mysql_prints() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table a (
 id int unsigned not null auto_increment, b bool default true, t1 tinyint(3),
 t2 tinyint unsigned zerofill, i5 int(5), z int(5) zerofill, bi bigint unsigned default 5,
 d decimal, d2 decimal(10,3) default 1.5, n numeric(5) unsigned, f float, f2 float(7,3),
 f3 float(30), db double default 1.5, db2 double(10,2), bt bit, bt8 bit(8) default b'101',
 c char, c5 char(5) default 'ab''c\\\\', v varchar(20) character set latin1 default 'x',
 v2 varchar(30) collate utf8mb4_bin not null, bn binary(3) default 'a',
 vb varbinary(10) default 'abc', tt tinytext, tx text, tx2 text(70000), bl blob,
 dt date default '2020-01-01', tm time default '10:00', tm3 time(3),
 dtt datetime default current_timestamp on update current_timestamp,
 dt6 datetime(6) default current_timestamp(6), ts timestamp not null,
 ts2 timestamp null default null, ts3 timestamp(3) not null default current_timestamp(3),
 y year default 2020, y4 year(4), e enum('a','b''c') default 'a', s set('x','y') default 'x,y',
 j json, jd json default (json_array()), ex int default (1+2),
 g int generated always as (i5+1) stored, g2 int as (i5 * 2) virtual comment 'it''s',
 inv int invisible, nn int not null default 0, primary key(id), unique key (v),
 key k2 (v2(10), i5 desc), key (tx(10)), fulltext key ft (tx), constraint chk1 check (i5 > 0),
 check (nn <> 3) not enforced, unique u3 (i5, z) comment 'cmt' invisible, key using hash (bi)
) engine=innodb auto_increment=100 comment='tbl''c' row_format=compact");
    let expected = r"a|CREATE TABLE `a` (
  `id` int unsigned NOT NULL AUTO_INCREMENT,
  `b` tinyint(1) DEFAULT '1',
  `t1` tinyint DEFAULT NULL,
  `t2` tinyint(3) unsigned zerofill DEFAULT NULL,
  `i5` int DEFAULT NULL,
  `z` int(5) unsigned zerofill DEFAULT NULL,
  `bi` bigint unsigned DEFAULT '5',
  `d` decimal(10,0) DEFAULT NULL,
  `d2` decimal(10,3) DEFAULT '1.500',
  `n` decimal(5,0) unsigned DEFAULT NULL,
  `f` float DEFAULT NULL,
  `f2` float(7,3) DEFAULT NULL,
  `f3` double DEFAULT NULL,
  `db` double DEFAULT '1.5',
  `db2` double(10,2) DEFAULT NULL,
  `bt` bit(1) DEFAULT NULL,
  `bt8` bit(8) DEFAULT b'101',
  `c` char(1) DEFAULT NULL,
  `c5` char(5) DEFAULT 'ab''c\\',
  `v` varchar(20) CHARACTER SET latin1 COLLATE latin1_swedish_ci DEFAULT 'x',
  `v2` varchar(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `bn` binary(3) DEFAULT 'a\0\0',
  `vb` varbinary(10) DEFAULT 'abc',
  `tt` tinytext,
  `tx` text,
  `tx2` mediumtext,
  `bl` blob,
  `dt` date DEFAULT '2020-01-01',
  `tm` time DEFAULT '10:00:00',
  `tm3` time(3) DEFAULT NULL,
  `dtt` datetime DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  `dt6` datetime(6) DEFAULT CURRENT_TIMESTAMP(6),
  `ts` timestamp NOT NULL,
  `ts2` timestamp NULL DEFAULT NULL,
  `ts3` timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  `y` year DEFAULT '2020',
  `y4` year DEFAULT NULL,
  `e` enum('a','b''c') DEFAULT 'a',
  `s` set('x','y') DEFAULT 'x,y',
  `j` json DEFAULT NULL,
  `jd` json DEFAULT (json_array()),
  `ex` int DEFAULT ((1 + 2)),
  `g` int GENERATED ALWAYS AS ((`i5` + 1)) STORED,
  `g2` int GENERATED ALWAYS AS ((`i5` * 2)) VIRTUAL COMMENT 'it''s',
  `inv` int DEFAULT NULL /*!80023 INVISIBLE */,
  `nn` int NOT NULL DEFAULT '0',
  PRIMARY KEY (`id`),
  UNIQUE KEY `v` (`v`),
  UNIQUE KEY `u3` (`i5`,`z`) COMMENT 'cmt' /*!80000 INVISIBLE */,
  KEY `k2` (`v2`(10),`i5` DESC),
  KEY `tx` (`tx`(10)),
  KEY `bi` (`bi`),
  FULLTEXT KEY `ft` (`tx`),
  CONSTRAINT `a_chk_1` CHECK ((`nn` <> 3)) /*!80016 NOT ENFORCED */,
  CONSTRAINT `chk1` CHECK ((`i5` > 0))
) ENGINE=InnoDB AUTO_INCREMENT=100 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci";
    let expected = format!("{expected} ROW_FORMAT=COMPACT COMMENT='tbl''c'\n");
    assert_eq!(s.ok("show create table a"), expected);
    s.ok("create table a2 (i5 int, nn int, constraint c1 check (i5 > 0), check (nn <> 3))");
    s.ok("create table a3 like a2");
    assert_eq!(
        s.ok("show create table a3"),
        "a3|CREATE TABLE `a3` (\n  `i5` int DEFAULT NULL,\n  `nn` int DEFAULT NULL,\n  \
         CONSTRAINT `a3_chk_1` CHECK ((`i5` > 0)),\n  CONSTRAINT `a3_chk_2` CHECK ((`nn` <> 3))\n) \
         ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci\n"
    );
    s.check(&[(
        "create table a4 (i5 int, constraint c1 check (i5 > 0))",
        "ERROR 3822: Duplicate check constraint name 'c1'.",
    )]);
}

#[test]
fn alter_table_changes_definition_and_rows() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table d (a int primary key auto_increment, b varchar(10), c int not \
         null, key kb(b), unique key kc(c))");
    s.check(&[
        ("alter table d add column a int", "ERROR 1060: Duplicate column name 'a'"),
        (
            "alter table d drop column zz",
            "ERROR 1091: Can't DROP 'zz'; check that column/key exists",
        ),
        ("alter table d drop key zz", "ERROR 1091: Can't DROP 'zz'; check that column/key exists"),
        (
            "alter table d drop primary key",
            "ERROR 1075: Incorrect table definition; there can be only one auto column \
             and it must be defined as a key",
        ),
        (
            "alter table d drop column a, drop column b, drop column c",
            "ERROR 1090: You can't delete all columns with ALTER TABLE; use DROP TABLE \
             instead",
        ),
        ("alter table d add primary key (b)", "ERROR 1068: Multiple primary key defined"),
        ("alter table d add key kb (c)", "ERROR 1061: Duplicate key name 'kb'"),
        ("alter table d modify zz int", "ERROR 1054: Unknown column 'zz' in 'd'"),
        ("alter table d change b c int", "ERROR 1060: Duplicate column name 'c'"),
        ("alter table d rename index zz to y", "ERROR 1176: Key 'zz' doesn't exist in table 'd'"),
        (
            "alter table d alter column b set default 'abcdefghijklmnop'",
            "ERROR 1067: Invalid default value for 'b'",
        ),
        ("alter table d add column e int after zz", "ERROR 1054: Unknown column 'zz' in 'd'"),
        ("alter table d rename to nosuch.d", "ERROR 1049: Unknown database 'nosuch'"),
        (
            "insert into d values (1,'x',1),(2,'y',2),(3,'x',3)",
            "3 affected (Records: 3  Duplicates: 0  Warnings: 0)",
        ),
        ("alter table d add unique key ub(b)", "ERROR 1062: Duplicate entry 'x' for key 'd.ub'"),
        (
            "alter table d modify b int",
            "ERROR 1366: Incorrect integer value: 'x' for column 'b' at row 1",
        ),
        (
            "alter table d modify c tinyint not null, add column n int not null, \
             algorithm=copy",
            "3 affected (Records: 3  Duplicates: 0  Warnings: 0)",
        ),
        (
            "alter table d modify b varchar(10) not null first",
            "0 affected (Records: 0  Duplicates: 0  Warnings: 0)",
        ),
        ("select * from d where b='x'", "x|1|1|0\nx|3|3|0"),
        (
            "alter table d add key (c), add key (c)",
            "0 affected (Records: 0  Duplicates: 0  Warnings: 1)",
        ),
        ("select a from d force index (c_2) where c > 1", "2\n3"),
        ("alter table d rename to e", "0 affected"),
        ("alter table e drop column b", "0 affected (Records: 0  Duplicates: 0  Warnings: 0)"),
        ("alter table e auto_increment=50", "0 affected (Records: 0  Duplicates: 0  Warnings: 0)"),
        ("insert into e (c,n) values (9,9)", "1 affected"),
        ("select * from e", "1|1|0\n2|2|0\n3|3|0\n50|9|9"),
        ("truncate e", "0 affected"),
        ("insert into e (c,n) values (9,9)", "1 affected"),
        ("select * from e", "1|9|9"),
    ]);
    assert_eq!(
        s.ok("show create table e"),
        "e|CREATE TABLE `e` (\n  `a` int NOT NULL AUTO_INCREMENT,\n  \
         `c` tinyint NOT NULL,\n  `n` int NOT NULL,\n  PRIMARY KEY (`a`),\n  \
         UNIQUE KEY `kc` (`c`),\n  KEY `c` (`c`),\n  KEY `c_2` (`c`)\n) \
         ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci\n"
    );
}

#[test]
fn renames_and_drops_are_all_or_nothing() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table a (id int)");
    s.ok("create table b (id int)");
    s.ok("insert into a values (1)");
    s.ok("rename table a to tmp, b to a, tmp to b");
    s.check(&[
        ("select * from b", "1"),
        ("select * from a", ""),
        ("rename table a to c, nosuch to d", "ERROR 1146: Table 'test.nosuch' doesn't exist"),
        ("rename table a to b", "ERROR 1050: Table 'b' already exists"),
        ("drop table a, nosuch", "ERROR 1051: Unknown table 'test.nosuch'"),
        ("select * from a", ""),
        ("drop table a, b", "0 affected"),
        ("show tables", ""),
    ]);
}

#[test]
fn create_table_select_takes_columns_and_rows() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table p (id int primary key, u int, key(u))");
    s.ok("insert into p values (21,2)");
    s.check(&[
        (
            "create table ctas (k int auto_increment primary key, z int) select id, u*2 \
             as d, 1.5 as n, now() as t from p",
            "1 affected (Records: 1  Duplicates: 0  Warnings: 0)",
        ),
        (
            "show create table ctas",
            "ctas|CREATE TABLE `ctas` (\n  `k` int NOT NULL AUTO_INCREMENT,\n  `z` int \
             DEFAULT NULL,\n  `id` int NOT NULL,\n  `d` bigint DEFAULT NULL,\n  `n` \
             decimal(2,1) NOT NULL DEFAULT '0.0',\n  `t` datetime NOT NULL,\n  PRIMARY \
             KEY (`k`)\n) ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8mb4 \
             COLLATE=utf8mb4_0900_ai_ci",
        ),
        ("select k,z,id,d,n from ctas", "1|NULL|21|4|1.5"),
        (
            "create table ct2 as select * from p",
            "1 affected (Records: 1  Duplicates: 0  Warnings: 0)",
        ),
        (
            "show create table ct2",
            "ct2|CREATE TABLE `ct2` (\n  `id` int NOT NULL,\n  `u` int DEFAULT NULL\n) \
             ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci",
        ),
        (
            "create table ct3 (id int primary key) select 1 as id union all select 1",
            "ERROR 1062: Duplicate entry '1' for key 'ct3.PRIMARY'",
        ),
        ("select * from ct3", "ERROR 1146: Table 'test.ct3' doesn't exist"),
    ]);
}
