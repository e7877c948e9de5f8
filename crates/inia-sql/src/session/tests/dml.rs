//! INSERT, REPLACE, UPDATE, DELETE.

use super::TestDb;

#[test]
fn insert_counts_and_numbers_rows() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table ai (id int primary key auto_increment, u int unique, \
          v varchar(5) not null default 'd', w int not null)");
    s.check(&[
        (
            "insert into ai (u,w) values (1,1),(2,2),(3,3)",
            "3 affected (Records: 3  Duplicates: 0  Warnings: 0)",
        ),
        ("select last_insert_id()", "1"),
        ("insert into ai (u,w) values (1,5) on duplicate key update w=w+1", "2 affected"),
        ("insert into ai (u,w) values (1,5) on duplicate key update w=w", "0 affected"),
        (
            "insert into ai (u,w) values (1,5),(9,9),(2,7) on duplicate key update w=values(w)",
            "5 affected (Records: 3  Duplicates: 2  Warnings: 1)",
        ),
        ("select last_insert_id()", "6"),
        ("select * from ai", "1|1|d|5\n2|2|d|7\n3|3|d|3\n6|9|d|9"),
        (
            "insert ignore into ai (u,w) values (1,5),(20,20)",
            "1 affected (Records: 2  Duplicates: 1  Warnings: 1)",
        ),
        ("show warnings", "Warning|1062|Duplicate entry '1' for key 'ai.u'"),
        ("select last_insert_id()", "9"),
        (
            "replace into ai (u,w) values (1,50),(30,30)",
            "3 affected (Records: 2  Duplicates: 1  Warnings: 0)",
        ),
        ("select * from ai", "2|2|d|7\n3|3|d|3\n6|9|d|9\n9|20|d|20\n11|1|d|50\n12|30|d|30"),
        ("insert into ai values (0,40,'x',1)", "1 affected"),
        (
            "insert into ai values (null,41,'x',1),(100,42,'x',1),(null,43,'x',1)",
            "3 affected (Records: 3  Duplicates: 0  Warnings: 0)",
        ),
        ("select last_insert_id()", "14"),
        ("select * from ai where id>=100", "100|42|x|1\n101|43|x|1"),
    ]);
}

#[test]
fn insert_refuses_what_mysql_refuses() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table ai (id int primary key auto_increment, u int unique, \
          v varchar(5) not null default 'd', w int not null)");
    s.ok("insert into ai (u,w) values (1,1)");
    s.check(&[
        ("insert into ai (u) values (50)", "ERROR 1364: Field 'w' doesn't have a default value"),
        ("insert into ai (u,w) values (51,null)", "ERROR 1048: Column 'w' cannot be null"),
        ("insert into ai (u,w) values (51,null),(52,1)", "ERROR 1048: Column 'w' cannot be null"),
        (
            "insert into ai (u,w) values (51)",
            "ERROR 1136: Column count doesn't match value count at row 1",
        ),
        (
            "insert into ai (u,w) values (1,2),(3)",
            "ERROR 1136: Column count doesn't match value count at row 2",
        ),
        ("insert into ai (u,u) values (1,2)", "ERROR 1110: Column 'u' specified twice"),
        ("insert into ai (u,zz) values (1,2)", "ERROR 1054: Unknown column 'zz' in 'field list'"),
        ("insert into ai values ()", "ERROR 1364: Field 'w' doesn't have a default value"),
        ("insert into ai (u,w) values (1,2)", "ERROR 1062: Duplicate entry '1' for key 'ai.u'"),
        ("insert ignore into ai (u) values (60)", "1 affected"),
        ("show warnings", "Warning|1364|Field 'w' doesn't have a default value"),
        (
            "insert ignore into ai (u,w) values (61,null),(62,'abc')",
            "2 affected (Records: 2  Duplicates: 0  Warnings: 2)",
        ),
        (
            "show warnings",
            "Warning|1048|Column 'w' cannot be null\nWarning|1366|Incorrect integer \
             value: 'abc' for column 'w' at row 2",
        ),
        ("insert ignore into ai (u,v,w) values (63,'toolongvalue',1)", "1 affected"),
        ("show warnings", "Warning|1265|Data truncated for column 'v' at row 1"),
        ("insert into nosuch values (1)", "ERROR 1146: Table 'test.nosuch' doesn't exist"),
    ]);
}

#[test]
fn update_and_delete_count_matched_and_changed_rows() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table t (id int primary key, u int unique, w int not null, k int, key (k))");
    s.ok("insert into t values (1,1,1,5),(2,2,2,5),(3,3,3,6),(4,4,4,7)");
    s.check(&[
        ("update t set w=w+1 where id=1", "1 affected (Rows matched: 1  Changed: 1  Warnings: 0)"),
        ("update t set w=5 where id>1000", "0 affected (Rows matched: 0  Changed: 0  Warnings: 0)"),
        ("update t set w=w where id<10", "0 affected (Rows matched: 4  Changed: 0  Warnings: 0)"),
        ("update t set u=2 where u=1", "ERROR 1062: Duplicate entry '2' for key 't.u'"),
        (
            "update ignore t set u=2 where u=1",
            "0 affected (Rows matched: 1  Changed: 0  Warnings: 1)",
        ),
        ("update t set w=null where id=1", "ERROR 1048: Column 'w' cannot be null"),
        ("update t set zz=1", "ERROR 1054: Unknown column 'zz' in 'field list'"),
        ("update t set w=1 where zz=1", "ERROR 1054: Unknown column 'zz' in 'where clause'"),
        (
            "update t set id=id+1 order by id desc",
            "4 affected (Rows matched: 4  Changed: 4  Warnings: 0)",
        ),
        ("update t set k=k+1 where k>=5", "4 affected (Rows matched: 4  Changed: 4  Warnings: 0)"),
        ("select id,u,w,k from t", "2|1|2|6\n3|2|2|6\n4|3|3|7\n5|4|4|8"),
        ("select id from t where k=6 order by id", "2\n3"),
        ("delete from t where k=6 limit 1", "1 affected"),
        ("delete from t order by id desc limit 1", "1 affected"),
        ("select id from t", "3\n4"),
        ("delete from t where zz=1", "ERROR 1054: Unknown column 'zz' in 'where clause'"),
        ("delete from t", "2 affected"),
        ("select count(*) from t", "0"),
    ]);
}

#[test]
fn insert_select_reads_other_tables_and_its_own() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table a (id int primary key auto_increment, v varchar(9))");
    s.ok("create table b (v varchar(9), n int)");
    s.ok("insert into b values ('x',1),('y',2)");
    s.check(&[
        (
            "insert into a (v) select v from b order by n desc",
            "2 affected (Records: 2  Duplicates: 0  Warnings: 0)",
        ),
        (
            "insert into a (v) select concat(v,'2') from a",
            "2 affected (Records: 2  Duplicates: 0  Warnings: 0)",
        ),
        ("select * from b where v = 'y'", "y|2"),
        ("select v from a", "y\nx\ny2\nx2"),
        (
            "insert into a select 1,2,3",
            "ERROR 1136: Column count doesn't match value count at row 1",
        ),
    ]);
}

#[test]
fn defaults_generated_columns_and_checks() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table t (a int default 3, b int default (a+1), g int as (a*10) stored, \
          d date default '2020-01-02', e enum('x','y') default 'y', check (a < 100))");
    s.check(&[
        ("insert into t () values ()", "1 affected"),
        ("insert into t (a) values (7)", "1 affected"),
        ("insert into t (a) values (100)", "ERROR 3819: Check constraint 't_chk_1' is violated."),
        (
            "insert into t (g) values (1)",
            "ERROR 3105: The value specified for generated column 'g' in table 't' is not allowed.",
        ),
        ("update t set a=8 where a=7", "1 affected (Rows matched: 1  Changed: 1  Warnings: 0)"),
        ("select a,g,d,e from t", "3|30|2020-01-02|y\n8|80|2020-01-02|y"),
        ("update t set a=500 where a=8", "ERROR 3819: Check constraint 't_chk_1' is violated."),
    ]);
}

#[test]
fn changes_over_joins_and_with_subqueries() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table a (id int primary key, x int)");
    s.ok("create table b (id int primary key, y int)");
    s.ok("insert into a values (1,0),(2,0),(3,0)");
    s.ok("insert into b values (1,10),(2,20),(9,90)");
    s.check(&[
        (
            "update a join b on a.id=b.id set a.x=b.y, b.y=b.y+1",
            "4 affected (Rows matched: 4  Changed: 4  Warnings: 0)",
        ),
        ("select a.x, b.y from a join b on a.id=b.id order by a.id", "10|11\n20|21"),
        (
            "update a set x=(select max(y) from b) where id in (select id from b)",
            "2 affected (Rows matched: 2  Changed: 2  Warnings: 0)",
        ),
        ("select * from a", "1|90\n2|90\n3|0"),
        ("delete from a where not exists (select 1 from b where b.id=a.id)", "1 affected"),
        ("delete a, b from a left join b on a.id=b.id where a.id=1", "2 affected"),
        ("select * from a", "2|90"),
        ("select * from b", "2|21\n9|90"),
        (
            "insert into a values (7, (select count(*) from b)), (8, 5)",
            "2 affected (Records: 2  Duplicates: 0  Warnings: 0)",
        ),
        ("select * from a", "2|90\n7|2\n8|5"),
        ("delete zz from a", "ERROR 1109: Unknown table 'zz' in MULTI DELETE"),
        ("update a, b set id=1", "ERROR 1052: Column 'id' in field list is ambiguous"),
    ]);
}

#[test]
fn foreign_keys_bind_children_to_parents() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table p (id int primary key, u int, key(u))");
    s.ok("create table c (id int primary key, pid int, foreign key (pid) references p(id) \
          on delete cascade on update cascade)");
    s.ok("insert into p values (1,1),(2,2)");
    s.check(&[
        (
            "insert into c values (1,1),(2,3)",
            "ERROR 1452: Cannot add or update a child row: a foreign key constraint \
             fails (`test`.`c`, CONSTRAINT `c_ibfk_1` FOREIGN KEY (`pid`) REFERENCES `p` \
             (`id`) ON DELETE CASCADE ON UPDATE CASCADE)",
        ),
        ("insert into c values (1,1)", "1 affected"),
        ("delete from p where id=1", "1 affected"),
        ("select * from c", ""),
        (
            "insert into c values (5,2),(6,null)",
            "2 affected (Records: 2  Duplicates: 0  Warnings: 0)",
        ),
        ("update p set id=20 where id=2", "1 affected (Rows matched: 1  Changed: 1  Warnings: 0)"),
        ("select * from c", "6|NULL\n5|20"),
        ("create table c2 (pid int, foreign key (pid) references p(id))", "0 affected"),
        ("insert into c2 values (20)", "1 affected"),
        (
            "delete from p where id=20",
            "ERROR 1451: Cannot delete or update a parent row: a foreign key constraint \
             fails (`test`.`c2`, CONSTRAINT `c2_ibfk_1` FOREIGN KEY (`pid`) REFERENCES \
             `p` (`id`))",
        ),
        (
            "update p set id=21",
            "ERROR 1451: Cannot delete or update a parent row: a foreign key constraint \
             fails (`test`.`c2`, CONSTRAINT `c2_ibfk_1` FOREIGN KEY (`pid`) REFERENCES \
             `p` (`id`))",
        ),
        (
            "drop table p",
            "ERROR 3730: Cannot drop table 'p' referenced by a foreign key constraint \
             'c_ibfk_1' on table 'c'.",
        ),
        (
            "truncate p",
            "ERROR 1701: Cannot truncate a table referenced in a foreign key constraint \
             (`test`.`c`, CONSTRAINT `c_ibfk_1`)",
        ),
        ("select * from c", "6|NULL\n5|20"),
        ("set foreign_key_checks=0", "0 affected"),
        ("delete from p", "1 affected"),
        ("drop table p", "0 affected"),
    ]);
}

#[test]
fn joins_and_subqueries_change_tables_without_a_primary_key() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table t (a int, b int)");
    s.ok("create table u (a int, c int, key (a))");
    s.ok("insert into t values (1, 1), (1, 1), (2, 2), (3, 3), (null, 4)");
    s.ok("insert into u values (1, 10), (2, 20), (2, 21)");
    s.check(&[
        (
            "update t join u on u.a = t.a set t.b = u.c",
            "3 affected (Rows matched: 3  Changed: 3  Warnings: 0)",
        ),
        ("select * from t", "1|10\n1|10\n2|20\n3|3\nNULL|4"),
        ("delete from t where a in (select a from u where c = 10) limit 1", "1 affected"),
        ("select * from t", "1|10\n2|20\n3|3\nNULL|4"),
        ("delete t, u from t left join u on u.a = t.a where t.b < 20", "4 affected"),
        ("select * from t", "2|20"),
        ("select * from u", "2|20\n2|21"),
        (
            "update t set b = (select max(c) from u where u.a = t.a)",
            "1 affected (Rows matched: 1  Changed: 1  Warnings: 0)",
        ),
        ("select * from t", "2|21"),
    ]);
}

/// A name in LIMIT is a variable of a routine, never a column.
#[test]
fn names_in_limit_are_no_columns() {
    let db = TestDb::new();
    let mut session = db.session();
    session.ok("CREATE TABLE t (a INT)");
    session.ok("INSERT INTO t VALUES (1)");
    for sql in ["UPDATE t SET a = 2 LIMIT a", "DELETE FROM t LIMIT a", "SELECT a FROM t LIMIT a"] {
        assert_eq!(session.run(sql).trim(), "ERROR 1327: Undeclared variable: a", "{sql}");
    }
    assert_eq!(session.ok("SELECT a FROM t"), "1\n");
}
