//! TIMESTAMP in a zone whose clocks are set forward: 02:00 to 03:00 on 28 March 2021 in Berlin.

use super::TestDb;

#[test]
fn a_time_that_clocks_were_set_over_is_refused_or_the_moment_they_go_on() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("set time_zone = 'Europe/Berlin'");
    s.ok("create table t (id int primary key auto_increment, x timestamp null)");
    let refused =
        "ERROR 1292: Incorrect datetime value: '2021-03-28 02:30:00' for column 'x' at row 1";
    let warned = "Warning|1299|Invalid TIMESTAMP value in column 'x' at row 1";
    s.check(&[
        ("insert into t (x) values ('2021-03-28 02:30:00')", refused),
        ("insert ignore into t (x) values ('2021-03-28 02:30:00')", "1 affected"),
        ("show warnings", warned),
        ("update t set x = '2021-03-28 02:30:00'", refused),
        (
            "create table d (x timestamp default '2021-03-28 02:30:00')",
            "ERROR 1067: Invalid default value for 'x'",
        ),
        ("set sql_mode = ''", "0 affected"),
        ("insert into t (x) values ('2021-03-28 02:59:59')", "1 affected"),
        ("show warnings", warned),
        (
            "insert into t (x) values ('2021-03-28 01:59:59'), ('2021-03-28 03:00:00')",
            "2 affected (Records: 2  Duplicates: 0  Warnings: 0)",
        ),
        (
            "select x, unix_timestamp(x) from t",
            "2021-03-28 03:00:00|1616893200\n2021-03-28 03:00:00|1616893200\n\
             2021-03-28 01:59:59|1616893199\n2021-03-28 03:00:00|1616893200",
        ),
        // A DATETIME has no zone.
        ("select timestamp'2021-03-28 02:30:00'", "2021-03-28 02:30:00"),
    ]);
}
