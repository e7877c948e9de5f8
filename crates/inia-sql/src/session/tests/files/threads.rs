//! A thread of their own writes the rows of a long file: all is as if the statement's thread did.

use super::super::{TestDb, TestSession};
use super::{Files, load_in};
use std::fmt::Write;

/// Lines of a key, a number and a text. Some keys come again, early and late, some numbers are
/// none, some texts are too long, and some lines have a field too many.
fn lines(count: u32) -> String {
    (1..=count).fold(String::new(), |mut text, n| {
        let key = if n % 1201 == 7 { n - 5 } else { n };
        let number = if n % 1103 == 11 { "many".to_owned() } else { (n % 97).to_string() };
        let word = if n % 1301 == 13 { "much too long" } else { "short" };
        let more = if n % 1699 == 17 { "\tmore" } else { "" };
        writeln!(text, "{key}\t{number}\t{word}{more}").unwrap();
        text
    })
}

/// What a load comes to: its outcome, its warnings, and what each way to the rows finds.
fn outcome(s: &mut TestSession, columns: &str, statement: &str, text: &str) -> Vec<String> {
    s.ok("do last_insert_id(0)");
    s.ok(&format!("create table t ({columns})"));
    s.ok("insert into t (a, b, c) values (20000, 1, 'old'), (4800, 2, 'old')");
    let done = match statement.contains("local") {
        true => load_in(s, statement, &[text.to_owned().leak()]),
        false => s.run(statement),
    };
    let mut all = vec![done];
    for query in [
        "show warnings",
        "select count(*), sum(a), sum(b), sum(length(c)) from t ignore index (b)",
        "select count(*), sum(b) from t where b >= 0",
        "select a, b, c from t where a < 30 or a between 4790 and 4830 order by a, b",
        "select last_insert_id(), (select max(a) from t)",
    ] {
        all.push(s.run(query));
    }
    all.push(s.run("insert into t (b, c) values (7, 'next')"));
    all.push(s.run("select a from t where c = 'next'"));
    s.ok("drop table t");
    all
}

#[test]
fn a_thread_beside_the_statement_changes_nothing() {
    let db = TestDb::new();
    let mut s = db.session();
    let files = Files::new(&db);
    s.ok("set global local_infile = 1, global inia_parallel_workers = 2, max_error_count = 500");
    let text = lines(5_500);
    let good: String = text.lines().take(6).map(|line| format!("{line}\n")).collect();
    let (file, short) = (files.put("f", text.as_bytes()), files.put("g", good.as_bytes()));
    for columns in [
        "a int default 0, b int, c varchar(6), key b (b)",
        "a int primary key default 0, b int, c varchar(6), key b (b, c), key (c)",
        "a int auto_increment primary key, b int, c varchar(6), key b (b)",
    ] {
        for statement in [
            "load data local infile 'f' into table t (a, b, c)".to_owned(),
            "load data local infile 'f' into table t (b, @x, c)".to_owned(),
            format!("load data infile {file} into table t (a, b, c)"),
            format!("load data infile {file} ignore into table t (a, b, c)"),
            format!("load data infile {file} into table t (a, @b, @c) set b = 5, c = 'x'"),
            format!("load data infile {short} into table t (a, b, c)"),
        ] {
            s.ok("set inia_parallel_workers = 1");
            let alone = outcome(&mut s, columns, &statement, &text);
            s.ok("set inia_parallel_workers = 2");
            let beside = outcome(&mut s, columns, &statement, &text);
            assert_eq!(beside, alone, "{columns}: {statement}");
        }
    }
}

#[test]
fn a_key_that_is_there_ends_a_long_load_before_a_later_error_does() {
    let db = TestDb::new();
    let mut s = db.session();
    let files = Files::new(&db);
    s.ok("set global inia_parallel_workers = 2");
    let mut text: String = (1..=9_000).map(|n| format!("{n}\t{n}\n")).collect();
    text.push_str("8000\t1\n");
    let later: String = (9_001..=9_200).map(|n| format!("{n}\t{n}\n")).collect();
    for (end, expected) in [
        ("9500\tmany\n", "ERROR 1062: Duplicate entry '8000' for key 't.PRIMARY'"),
        ("", "ERROR 1062: Duplicate entry '8000' for key 't.PRIMARY'"),
    ] {
        s.ok("create table t (a int primary key, b int, key (b))");
        let file = files.put("f", format!("{text}{later}{end}").as_bytes());
        let load = format!("load data infile {file} into table t");
        s.check(&[
            (&load, expected),
            ("select count(*) from t", "0"),
            ("select count(*) from t where b > 0", "0"),
        ]);
        s.ok("drop table t");
    }
}

#[test]
fn a_long_load_waits_for_a_key_that_another_transaction_has_written() {
    let db = TestDb::new();
    let (mut s, mut other) = (db.session(), db.session());
    let files = Files::new(&db);
    s.ok("set global inia_parallel_workers = 2");
    s.ok("set innodb_lock_wait_timeout = 1");
    s.ok("create table t (a int primary key, b int, key (b))");
    other.ok("begin");
    other.ok("insert into t values (6000, 0)");
    let text: String = (1..=9_000).map(|n| format!("{n}\t{n}\n")).collect();
    let load = format!("load data infile {} into table t", files.put("f", text.as_bytes()));
    let timeout = "ERROR 1205: Lock wait timeout exceeded; try restarting transaction";
    s.check(&[(&load, timeout), ("select count(*) from t", "0")]);
    other.ok("rollback");
    let done = "9000 affected (Records: 9000  Deleted: 0  Skipped: 0  Warnings: 0)";
    s.check(&[(&load, done), ("select count(*), sum(b) from t where b > 0", "9000|40504500")]);
}
