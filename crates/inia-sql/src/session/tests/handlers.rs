//! HANDLER beside data definition.

use super::TestDb;

#[test]
fn a_temporary_table_of_the_same_name_is_not_read_in_an_open_ones_place() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table t (a int, b int, c int, key a (a), key b (b), key c (c))");
    s.ok("insert into t values (1, 2, 3)");
    s.ok("handler t open");
    assert_eq!(s.ok("handler t read c first"), "1|2|3\n");
    s.ok("create temporary table t (x int)");
    let closed = "ERROR 1109: Unknown table 't' in HANDLER";
    assert_eq!(s.run("handler t read c next").trim_end(), closed);
    s.ok("drop temporary table t");
    assert_eq!(s.ok("handler t read c first"), "1|2|3\n");
    s.ok("alter table t drop key c");
    assert_eq!(s.run("handler t read c next").trim_end(), closed);
}
