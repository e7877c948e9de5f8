//! LOAD DATA LOCAL, and the server's own files.

use super::{TestDb, TextSink};

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
