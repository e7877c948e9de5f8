//! LOAD DATA LOCAL, and the server's own files.

use super::{TestDb, TextSink};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory of the server's own files, which a session may read and write.
struct Files(PathBuf);

impl Files {
    fn new(db: &TestDb) -> Files {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("inia-files-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        let place = path.display().to_string();
        db.database().announce(&[("secure_file_priv", place)]);
        Files(path)
    }

    /// Writes a file; its name in quotes.
    fn put(&self, name: &str, bytes: &[u8]) -> String {
        std::fs::write(self.0.join(name), bytes).unwrap();
        self.name(name)
    }

    fn name(&self, name: &str) -> String {
        format!("'{}'", self.path(name).display())
    }

    fn path(&self, name: &str) -> PathBuf {
        Path::new(&self.0).join(name)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Lines of a number and twice the number.
fn numbers(range: std::ops::Range<u32>) -> String {
    range.fold(String::new(), |mut text, n| {
        writeln!(text, "{n}\t{}", 2 * n).unwrap();
        text
    })
}

#[test]
fn every_row_of_a_servers_file_arrives() {
    let db = TestDb::new();
    let mut s = db.session();
    let files = Files::new(&db);
    for keys in ["", ", key (b)", ", unique (b)", ", check (b >= 0)"] {
        for count in [1, 2, 511, 512, 513, 1300] {
            s.ok(&format!("create table t (a int primary key, b int{keys})"));
            let file = files.put("f", numbers(0..count).as_bytes());
            let done =
                format!("{count} affected (Records: {count}  Deleted: 0  Skipped: 0  Warnings: 0)");
            let load = format!("load data infile {file} into table t");
            let sums = format!("{count}|{0}|{1}", count * (count - 1) / 2, count * (count - 1));
            s.check(&[(&load, &done), ("select count(*), sum(a), sum(b) from t", &sums)]);
            s.ok("drop table t");
        }
    }
}

#[test]
fn an_error_in_the_middle_of_a_file_leaves_no_row() {
    let db = TestDb::new();
    let mut s = db.session();
    let files = Files::new(&db);
    s.ok("create table t (a int primary key, b int)");
    s.ok("insert into t values (900, 0)");
    let text = numbers(0..700) + "700\tmany\n" + &numbers(701..1300);
    let file = files.put("f", text.as_bytes());
    let none = ("select count(*), sum(b) from t", "1|0");
    let wrong = "ERROR 1366: Incorrect integer value: 'many' for column 'b' at row 701";
    let load = format!("load data infile {file} into table t");
    s.check(&[(&load, wrong), none]);
    // A key that is there is found before a later error.
    let file = files.put("f", (numbers(0..910) + "x\tx\n").as_bytes());
    let load = format!("load data infile {file} into table t");
    let there = "ERROR 1062: Duplicate entry '900' for key 't.PRIMARY'";
    s.check(&[(&load, there), none]);
    let file = files.put("f", numbers(0..1300).as_bytes());
    s.check(&[
        (&format!("load data infile {file} into table t"), there),
        none,
        (
            &format!("load data infile {file} ignore into table t"),
            "1299 affected (Records: 1300  Deleted: 0  Skipped: 1  Warnings: 1)",
        ),
        ("select count(*), sum(b) from t", "1300|1686900"),
        (
            &format!("load data infile {file} replace into table t"),
            "1301 affected (Records: 1300  Deleted: 1  Skipped: 0  Warnings: 0)",
        ),
        ("select count(*), sum(b) from t", "1300|1688700"),
    ]);
}

/// Loads the pieces of a file; the reply, or the error.
fn load(db: &TestDb, statement: &str, pieces: &[&'static str]) -> String {
    let mut session = db.session();
    let mut sink = TextSink { file: pieces.to_vec(), ..TextSink::default() };
    match session.0.execute(statement, &mut sink) {
        Ok(()) => sink.text.trim_end().to_owned(),
        Err(error) => format!("ERROR {}: {}", error.number(), error.message),
    }
}

#[test]
fn lines_become_rows_wherever_the_pieces_are_cut() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok(
        "create table t (id int auto_increment primary key, s varchar(9) not null, n decimal(5,2))",
    );
    let statement = "load data local infile 'f' into table t";
    let disabled = "ERROR 3948: Loading local data is disabled; this must be enabled on both the \
                    client and server sides";
    assert_eq!(load(&db, statement, &["1\ta\t1\n"]), disabled);
    s.ok("set global local_infile = 1");
    let pieces = ["1\tone\t1.5\n2\ttw", "o\t\\", "N\n\\N\tthr", "ee\t7"];
    let done = "3 affected (Records: 3  Deleted: 0  Skipped: 0  Warnings: 0)";
    assert_eq!(load(&db, statement, &pieces), done);
    s.check(&[("select * from t", "1|one|1.50\n2|two|NULL\n3|three|7.00")]);
    // A key that is there is skipped, or replaced; so is a line too short forgiven.
    let skipped = "1 affected (Records: 2  Deleted: 0  Skipped: 1  Warnings: 2)";
    assert_eq!(load(&db, statement, &["1\tuno\t1\n4\tfour\n"]), skipped);
    let replace = "load data local infile 'f' replace into table t";
    let replaced = "2 affected (Records: 1  Deleted: 1  Skipped: 0  Warnings: 0)";
    assert_eq!(load(&db, replace, &["1\tuno\t1\n"]), replaced);
    s.check(&[("select * from t where id in (1, 4)", "1|uno|1.00\n4|four|NULL")]);
}

#[test]
fn fields_go_to_variables_and_set_computes() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("set global local_infile = 1");
    s.ok("create table t (id int primary key, s varchar(20), n int)");
    let statement = "load data local infile 'f' into table t fields terminated by ',' optionally \
                     enclosed by '\"' lines terminated by '\\r\\n' ignore 1 lines (id, s, @n) \
                     set n = nullif(@n, '') + 1";
    let text = ["id,s,n\r\n1,\"a \"\"b\"\", c\",5\r\n2,NULL,\"\"\r\n"];
    let done = "2 affected (Records: 2  Deleted: 0  Skipped: 0  Warnings: 0)";
    assert_eq!(load(&db, statement, &text), done);
    s.check(&[("select * from t", "1|a \"b\", c|6\n2|NULL|NULL")]);
}

#[test]
fn the_servers_files_are_out_of_reach_unless_an_option_says_where() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table t (id int)");
    let refused = "ERROR 1290: The MySQL server is running with the --secure-file-priv option so \
                   it cannot execute this statement";
    s.check(&[
        ("load data infile '/etc/hostname' into table t", refused),
        ("select 1 into outfile '/nowhere/x'", refused),
        ("select 1 into dumpfile 'x'", refused),
    ]);
}
