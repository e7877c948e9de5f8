//! LOAD DATA LOCAL, and the server's own files.

mod threads;

use super::{TestDb, TestSession, TextSink};
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
    load_in(&mut db.session(), statement, pieces)
}

/// The same in a session that goes on.
fn load_in(session: &mut TestSession, statement: &str, pieces: &[&'static str]) -> String {
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
fn rows_whose_key_exists_are_left_out_of_a_batch_with_warnings_in_the_lines_order() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("set global local_infile = 1");
    for keys in ["", ", key (s), key (n)"] {
        s.ok(&format!("create table t (id int primary key, s varchar(3), n int{keys})"));
        s.ok("insert into t values (5, 'old', 5), (700, 'old', 7)");
        let mut text = String::new();
        for id in 1..=1300 {
            match id {
                9 => text.push_str("8\tdup\t1\n"),
                10 => text.push_str("10\tlonger\t1\n"),
                11 => text.push_str("11\tx\tone\n"),
                1299 => text.push_str("1\tend\t1\textra\n"),
                _ => writeln!(text, "{id}\tx\t{id}").unwrap(),
            }
        }
        let statement = "load data local infile 'f' into table t";
        let done = load_in(&mut s, statement, &[text.leak()]);
        let expected = "1296 affected (Records: 1300  Deleted: 0  Skipped: 4  Warnings: 7)";
        assert_eq!(done, expected, "{keys}");
        s.check(&[
            (
                "show warnings",
                "Warning|1062|Duplicate entry '5' for key 't.PRIMARY'\n\
                 Warning|1062|Duplicate entry '8' for key 't.PRIMARY'\n\
                 Warning|1265|Data truncated for column 's' at row 10\n\
                 Warning|1366|Incorrect integer value: 'one' for column 'n' at row 11\n\
                 Warning|1062|Duplicate entry '700' for key 't.PRIMARY'\n\
                 Warning|1062|Duplicate entry '1' for key 't.PRIMARY'\n\
                 Warning|1262|Row 1299 was truncated; it contained more data than there were \
                 input columns",
            ),
            ("select count(*), sum(id), sum(s = 'x'), min(n) from t", "1298|844342|1295|0"),
            (
                "select * from t where id in (5, 8, 10, 11) order by id",
                "5|old|5\n8|x|8\n10|lon|1\n11|x|0",
            ),
            ("select count(*) from t where s = 'x'", "1295"),
            ("select count(*) from t where n >= 0", "1298"),
            ("select id from t where s = 'dup' or n = 1299", ""),
        ]);
        s.ok("drop table t");
    }
}

#[test]
fn a_row_with_a_number_of_its_own_and_one_without_are_numbered_in_turn() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("set global local_infile = 1");
    s.ok("create table t (id int auto_increment primary key, s varchar(9))");
    let text = ["1\ta\n5\tb\n\\N\tc\n5\tdup\n\\N\td\n6\tdup\n20\te\n"];
    let done = "5 affected (Records: 7  Deleted: 0  Skipped: 2  Warnings: 2)";
    assert_eq!(load(&db, "load data local infile 'f' into table t", &text), done);
    s.check(&[("select * from t", "1|a\n5|b\n6|c\n7|d\n20|e")]);
    s.ok("insert into t (s) values ('next')");
    s.check(&[("select max(id) from t", "21")]);
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

/// What LOAD DATA makes of a file of the server.
#[track_caller]
fn loads(s: &mut super::TestSession, file: &str, clauses: &[(&str, &str)]) {
    for (clause, expected) in clauses {
        let (dup, rest) = match clause.split_once(": ") {
            Some((dup, rest)) => (dup, rest),
            None => ("", *clause),
        };
        let sql = format!("load data infile {file} {dup} into table {rest}");
        assert_eq!(s.run(&sql).trim_end(), *expected, "{sql}");
    }
}

#[test]
fn outfiles_are_mysqls_byte_for_byte() {
    let db = TestDb::new();
    let mut s = db.session();
    let files = Files::new(&db);
    s.ok("create table m (id int primary key, v varchar(40), l varchar(9) charset latin1, \
          b varbinary(9), d decimal(5,2))");
    s.ok("insert into m values (1, 'plain', 'café', x'00ff5c', 1.5), \
          (2, 'tab\\t nl\\n cr\\r', '\"', null, -2), (3, 'q\"q\"\"\\\\N', '\\\\', 'NULL', null), \
          (4, '', 'N', '', 0), (5, 'a,b;c\\0d', 'banana', 'x', 10)");
    let cases: [(&str, &[u8]); 8] = [
        (
            "",
            b"1\tplain\tcaf\xe9\t\\0\xff\\\\\t1.50\n\
              2\ttab\\\t nl\\\n cr\r\t\"\t\\N\t-2.00\n\
              3\tq\"q\"\"\\\\N\t\\\\\tNULL\t\\N\n\
              4\t\tN\t\t0.00\n5\ta,b;c\\0d\tbanana\tx\t10.00\n",
        ),
        (
            "fields terminated by ',' enclosed by '\"'",
            b"\"1\",\"plain\",\"caf\xe9\",\"\\0\xff\\\\\",\"1.50\"\n\
              \"2\",\"tab\t nl\\\n cr\r\",\"\\\"\",\\N,\"-2.00\"\n\
              \"3\",\"q\\\"q\\\"\\\"\\\\N\",\"\\\\\",\"NULL\",\\N\n\
              \"4\",\"\",\"N\",\"\",\"0.00\"\n\
              \"5\",\"a,b;c\\0d\",\"banana\",\"x\",\"10.00\"\n",
        ),
        (
            "fields terminated by ',' optionally enclosed by '\"' lines terminated by '\\r\\n'",
            b"1,\"plain\",\"caf\xe9\",\"\\0\xff\\\\\",1.50\r\n\
              2,\"tab\t nl\n cr\\\r\",\"\\\"\",\\N,-2.00\r\n\
              3,\"q\\\"q\\\"\\\"\\\\N\",\"\\\\\",\"NULL\",\\N\r\n\
              4,\"\",\"N\",\"\",0.00\r\n5,\"a,b;c\\0d\",\"banana\",\"x\",10.00\r\n",
        ),
        (
            "fields terminated by ';' enclosed by '\"' escaped by ''",
            b"\"1\";\"plain\";\"caf\xe9\";\"\x00\xff\\\";\"1.50\"\n\
              \"2\";\"tab\t nl\n cr\r\";\"\"\";NULL;\"-2.00\"\n\
              \"3\";\"q\"q\"\"\\N\";\"\\\";\"NULL\";NULL\n\
              \"4\";\"\";\"N\";\"\";\"0.00\"\n\
              \"5\";\"a,b;c\x00d\";\"banana\";\"x\";\"10.00\"\n",
        ),
        (
            "fields terminated by ',' enclosed by '\"' escaped by '\"'",
            b"\"1\",\"plain\",\"caf\xe9\",\"\"0\xff\\\",\"1.50\"\n\
              \"2\",\"tab\t nl\"\n cr\r\",\"\"\"\",\"N,\"-2.00\"\n\
              \"3\",\"q\"\"q\"\"\"\"\\N\",\"\\\",\"NULL\",\"N\n\
              \"4\",\"\",\"N\",\"\",\"0.00\"\n\
              \"5\",\"a,b;c\"0d\",\"banana\",\"x\",\"10.00\"\n",
        ),
        (
            "fields terminated by 'n' lines terminated by 'x'",
            b"1nplainncaf\xe9n\\0\xff\\\\n1.50x2ntab\t nl\n cr\rn\"n\\Nn-2.00x3nq\"q\
              \"\"\\\\Nn\\\\nNULLn\\Nx4nnNnn0.00x5na,b;c\\0dnbananan\\xn10.00x",
        ),
        (
            "fields enclosed by 'n'",
            b"n1n\tnplainnn\tncaf\xe9n\tn\\0\xff\\\\n\
              \tn1.50n\nn2n\tntab\t nnl\\\n cr\rn\tn\"n\t\\N\tn-2.00n\n\
              n3n\tnq\"q\"\"\\\\Nn\tn\\\\n\tnNULLn\t\\N\n\
              n4n\tnn\tnNn\tnn\tn0.00n\nn5n\tna,b;c\\0dn\tnbannannan\tnxn\tn10.00n\n",
        ),
        (
            "lines starting by '> ' terminated by '\"'",
            b"> 1\tplain\tcaf\xe9\t\\0\xff\\\\\t1.50\"> 2\ttab\\\t nl\n cr\r\t\\\"\t\
              \\N\t-2.00\"> 3\tq\\\"q\\\"\\\"\\\\N\t\\\\\tNULL\t\\N\"> 4\t\tN\t\t0.0\
              0\"> 5\ta,b;c\\0d\tbanana\tx\t10.00\"",
        ),
    ];
    for (clauses, expected) in cases {
        s.ok(&format!("select * from m order by id into outfile {} {clauses}", files.name("o")));
        let got = std::fs::read(files.path("o")).unwrap();
        let shown = [got.as_slice(), expected].map(|bytes| String::from_utf8_lossy(bytes));
        assert!(got == expected, "{clauses}\n{}\n{}", shown[0], shown[1]);
        std::fs::remove_file(files.path("o")).unwrap();
    }
}

#[test]
fn fields_of_fixed_width_are_padded() {
    let db = TestDb::new();
    let mut s = db.session();
    let files = Files::new(&db);
    s.ok("create table f (a int, b varchar(3), c char(2) charset latin1, d date)");
    s.ok("insert into f values (1, 'abc', 'x', '2020-01-02'), (-5, null, '\\\\', '2021-01-01'), \
          (null, 'é\\n', 'yz', null)");
    let fixed = "fields terminated by '' enclosed by ''";
    s.ok(&format!("select * from f into outfile {} {fixed}", files.name("f")));
    let expected = "1          abc         x 2020-01-02\n\
                    -5                     \\\\ 2021-01-01\n\
                    \u{20}          é\\\n         yz          \n";
    assert_eq!(std::fs::read_to_string(files.path("f")).unwrap(), expected);
    s.ok("create table back like f");
    let file = files.put("f", &expected.as_bytes()[..36]);
    let one = "1 affected (Records: 1  Deleted: 0  Skipped: 0  Warnings: 1)";
    loads(&mut s, &file, &[(&format!("back {fixed}"), one)]);
    s.check(&[("select * from back", "1|abc|x|2020-01-02")]);
    loads(
        &mut s,
        &file,
        &[(
            &format!("back {fixed} (@a)"),
            "ERROR 1409: Can't load value from file with fixed size rows to variable",
        )],
    );
}

#[test]
fn whatever_was_written_can_be_loaded() {
    let db = TestDb::new();
    let mut s = db.session();
    let files = Files::new(&db);
    s.ok("create table t (id int primary key, v varchar(40), w varchar(40), b varbinary(9))");
    s.ok("create table back like t");
    let nasty = [
        "''",
        "'N'",
        "'NULL'",
        "'\\\\'",
        "'\"'",
        "'\"\"'",
        "'\\\\N'",
        "'a\\tb\\nc\\0d'",
        "'a,b\\r\\nc'",
        "'\\';\\\\'",
        "'née😀\\Z'",
        "'n0t b Z'",
        "'x||y|z'",
        "NULL",
        "'>>'",
        "'\\r'",
    ];
    for (id, value) in nasty.iter().enumerate() {
        let other = nasty[(id + 5) % nasty.len()];
        s.ok(&format!("insert into t values ({id}, {value}, {other}, x'00ff0a5c{id:02x}')"));
    }
    for fields in [
        "",
        "terminated by ','",
        "terminated by ',' enclosed by '\"'",
        "terminated by ';' optionally enclosed by ''''",
        "terminated by '||'",
        "terminated by '\\t|' enclosed by '\\\\' escaped by '!'",
        "terminated by ',' enclosed by '\"' escaped by '~'",
        "enclosed by '0'",
    ] {
        for lines in ["", "terminated by '\\r\\n'", "starting by '>>'", "terminated by ';\\n'"] {
            let fields = if fields.is_empty() { String::new() } else { format!("fields {fields}") };
            let lines = if lines.is_empty() { String::new() } else { format!("lines {lines}") };
            let (file, binary) = (files.name("f"), "character set binary");
            s.ok(&format!("select * from t into outfile {file} {fields} {lines}"));
            s.ok(&format!("load data infile {file} into table back {binary} {fields} {lines}"));
            let same = "select count(*) from t join back using (id) where t.v <=> back.v \
                        and t.w <=> back.w and t.b <=> back.b";
            s.check(&[(same, &nasty.len().to_string())]);
            s.ok("delete from back");
            std::fs::remove_file(files.path("f")).unwrap();
        }
    }
}

#[test]
fn only_regular_files_are_read() {
    let db = TestDb::new();
    let mut s = db.session();
    let files = Files::new(&db);
    s.ok("create table t (a int)");
    let pipe = files.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for name in ["pipe", "."] {
        let path = files.path(name);
        let path = path.canonicalize().unwrap();
        let refused = format!(
            "ERROR 1085: The file '{}' must be in the database directory or be readable by all",
            path.display()
        );
        loads(&mut s, &files.name(name), &[("t", &refused)]);
    }
}

/// The tables and views of MySQL's own answers below.
#[test]
fn load_file_reads_what_the_account_may_read() {
    let db = TestDb::new();
    let mut s = db.session();
    let elsewhere = Files::new(&db);
    let outside = elsewhere.put("outside", b"no");
    let files = Files::new(&db);
    let whole = files.put("whole", b"a\0b");
    let long = files.put("long", &[b'x'; 2048]);
    let place = files.0.display();
    s.check(&[
        (&format!("select hex(load_file({whole}))"), "610062"),
        (&format!("select length(load_file({long}))"), "2048"),
        (&format!("select load_file({outside}), load_file('{place}/none')"), "NULL|NULL"),
        (&format!("select load_file('{place}'), load_file(null)"), "NULL|NULL"),
    ]);
    s.ok("create user reader@localhost");
    let client = inia_query::database::ClientInfo {
        user: "reader".to_owned(),
        host: "localhost".to_owned(),
        account_user: "reader".to_owned(),
        account_host: "localhost".to_owned(),
        ..inia_query::database::ClientInfo::default()
    };
    let mut reader = db.session_of(client.clone());
    reader.check(&[(&format!("select load_file({whole})"), "NULL")]);
    s.ok("grant file on *.* to reader@localhost");
    let mut reader = db.session_of(client.clone());
    reader.check(&[(&format!("select hex(load_file({whole}))"), "610062")]);
}

fn views(s: &mut super::TestSession) {
    for sql in [
        "create table u (id int primary key, a varchar(10), n int not null, c int default 5)",
        "create table w (id int primary key, z int)",
        "create view v1 as select id as k, a as s, n from u",
        "create view v2 as select id, n+1 as m, a from u",
        "create view v3 as select distinct id, n from u",
        "create view v4 as select id, a from u",
        "create view v5 as select id, n from u where n > 5 with check option",
        "create view v6 as select u.id, u.n, w.z from u join w on u.id=w.id",
        "create view v7 as select k, n from v1 where n < 100 with cascaded check option",
        "create view v8 as select id, n, n as n2 from u",
    ] {
        s.ok(sql);
    }
}

#[test]
fn files_are_loaded_through_views_that_can_be_updated() {
    let db = TestDb::new();
    let mut s = db.session();
    let files = Files::new(&db);
    views(&mut s);
    let one = "1 affected (Records: 1  Deleted: 0  Skipped: 0  Warnings: 0)";
    let cases = [
        ("1\ta\t2", "v1", one, "1|a|2|5"),
        ("a\t2", "v1 (s, k)", one, "2|a|0|5"),
        ("a\t2", "v1 (a, id)", "ERROR 1054: Unknown column 'a' in 'field list'", ""),
        ("a\t2\t3", "v1 (s, k, @x) set n = @x * 2", one, "2|a|6|5"),
        ("7\t2\t3", "v1 (s, k, @x) set n = v1.s", one, "2|7|7|5"),
        ("a\t2\t3", "v1 (s, @y) set n = id", "ERROR 1054: Unknown column 'id' in 'field list'", ""),
        ("1\t2\tx", "v2", "ERROR 1348: Column 'm' is not updatable", ""),
        ("1\t2\tx", "v2 (id, @m, a)", one, "1|x|0|5"),
        ("1\t2\tx", "v2 (id, @m, a) set m = 3", "ERROR 1348: Column 'm' is not updatable", ""),
        ("1\t2", "v3", "ERROR 1288: The target table v3 of the LOAD is not updatable", ""),
        ("1\t2", "v4", one, "1|2|0|5"),
        ("1\t3", "v5", "ERROR 1369: CHECK OPTION failed 'test.v5'", ""),
        ("1\t9", "v6", "ERROR 1288: The target table v6 of the LOAD is not updatable", ""),
        ("1\t300", "v7", "ERROR 1369: CHECK OPTION failed 'test.v7'", ""),
        ("2\t99", "v7 (k, n)", one, "2|NULL|99|5"),
        ("1\t9\t8", "v8", one, "1|NULL|8|5"),
        (
            "1\ta\t2\n1\tb\t3",
            "replace: v1",
            "3 affected (Records: 2  Deleted: 1  Skipped: 0  Warnings: 0)",
            "1|b|3|5",
        ),
        (
            "1\t9\n2\t3\n3\t7",
            "ignore: v5",
            "2 affected (Records: 2  Deleted: 0  Skipped: 0  Warnings: 1)",
            "1|NULL|9|5\n3|NULL|7|5",
        ),
    ];
    for (text, target, expected, rows) in cases {
        let file = files.put("f", format!("{text}\n").as_bytes());
        loads(&mut s, &file, &[(target, expected)]);
        s.check(&[("select * from u", rows)]);
        s.ok("delete from u");
    }
}

#[test]
fn fields_and_columns_need_not_agree() {
    let db = TestDb::new();
    let mut s = db.session();
    let files = Files::new(&db);
    views(&mut s);
    let one = "1 affected (Records: 1  Deleted: 0  Skipped: 0  Warnings: 0)";
    let warned = "1 affected (Records: 1  Deleted: 0  Skipped: 0  Warnings: 1)";
    let short = "ERROR 1261: Row 1 doesn't contain data for all columns";
    let long = "ERROR 1262: Row 1 was truncated; it contained more data than there were input \
                columns";
    let cases = [
        // A column that the statement leaves out needs no default.
        ("1\n", "u (id)", one, "1|NULL|0|5"),
        ("1\n", "u (id) set c = c + 1", one, "1|NULL|0|6"),
        ("1\n", "u (id) set n = default", "ERROR 1364: Field 'n' doesn't have a default value", ""),
        ("1\ta\n", "u (id, a, n)", short, ""),
        ("1\ta\n", "ignore: u (id, a, n)", warned, "1|a|0|5"),
        ("1\ta\n", "ignore: u (id, a, @n) set n = 1", one, "1|a|1|5"),
        ("1\ta\t3\n", "u (id, a)", long, ""),
        ("1\ta\t3\n", "ignore: u (id, a)", warned, "1|a|0|5"),
        // Of the last line, which has no end, nobody knows.
        ("1\ta\t3", "u (id, a)", one, "1|a|0|5"),
        (
            "1\ta\t3\t4\n",
            "u (id, id, n)",
            "ERROR 1366: Incorrect integer value: 'a' for column 'id' at row 1",
            "",
        ),
    ];
    for (text, target, expected, rows) in cases {
        let file = files.put("f", text.as_bytes());
        loads(&mut s, &file, &[(target, expected)]);
        s.check(&[("select * from u", rows)]);
        s.ok("delete from u");
    }
}

#[test]
fn a_files_character_set_is_the_databases_unless_named() {
    let db = TestDb::new();
    let mut s = db.session();
    let files = Files::new(&db);
    s.ok("create database l default character set latin1");
    s.ok("create table t (a varchar(9) charset utf8mb4)");
    let file = files.put("f", b"caf\xe9s\n");
    let one = "1 affected (Records: 1  Deleted: 0  Skipped: 0  Warnings: 0)";
    loads(
        &mut s,
        &file,
        &[
            ("t", "ERROR 1366: Incorrect string value: '\\xE9s' for column 'a' at row 1"),
            ("t character set latin1", one),
        ],
    );
    s.ok("use l");
    loads(&mut s, &file, &[("test.t", one)]);
    s.check(&[("select * from test.t", "cafés\ncafés")]);
}

#[test]
fn replacing_needs_the_privilege_to_delete() {
    let db = TestDb::new();
    let mut s = db.session();
    let files = Files::new(&db);
    s.ok("create table t (a int primary key)");
    s.ok("create user loader@localhost");
    s.ok("grant insert, file on *.* to loader@localhost");
    let file = files.put("f", b"1\n");
    let mut loader = db.session_of(inia_query::database::ClientInfo {
        user: "loader".to_owned(),
        host: "localhost".to_owned(),
        account_user: "loader".to_owned(),
        account_host: "localhost".to_owned(),
        ..Default::default()
    });
    loads(
        &mut loader,
        &file,
        &[
            ("test.t", "1 affected (Records: 1  Deleted: 0  Skipped: 0  Warnings: 0)"),
            (
                "replace: test.t",
                "ERROR 1142: DELETE command denied to user 'loader'@'localhost' for table 't'",
            ),
        ],
    );
}

/// What MySQL 8.0.31 loads by subqueries in SET.
#[test]
fn subqueries_in_set_see_the_line() {
    let db = TestDb::new();
    let mut s = db.session();
    let files = Files::new(&db);
    s.ok("create table t (id int primary key, a int, b varchar(20), c int)");
    s.ok("create table u (k int primary key, v int, w varchar(10))");
    s.ok("insert into u values (1,10,'a'),(2,20,'b'),(4,40,'d')");
    let file = files.put("f", b"1\ta\n2\tb\n3\tc\n");
    let load =
        |set: &str| format!("load data infile {file} replace into table t (id, @x) set {set}");
    let rows = ("select * from t", "1|10|a|40\n2|20|b|40\n3|NULL|NULL|40");
    let set = "a = (select v from u where k = id), b = (select w from u where w = @x), \
               c = (select max(v) from u)";
    let done = "3 affected (Records: 3  Deleted: 0  Skipped: 0  Warnings: 0)";
    s.check(&[(&load(set), done), rows]);
    let target = "ERROR 1093: You can't specify target table 't' for update in FROM clause";
    s.check(&[
        (&load("a = (select count(*) from t)"), target),
        (&load("a = (select v from u)"), "ERROR 1242: Subquery returns more than 1 row"),
        (&load("a = (select v, w from u)"), "ERROR 1241: Operand should contain 1 column(s)"),
        rows,
    ]);
    s.ok("create view vt as select * from t where id < 100");
    let again = "6 affected (Records: 3  Deleted: 3  Skipped: 0  Warnings: 0)";
    let set = "a = (select v from u where k = vt.id) + 1, b = @x in (select w from u), c = a";
    s.check(&[
        (&load("a = (select a from vt limit 1)"), target),
        (&load(set).replace("table t", "table vt"), again),
        ("select * from t", "1|11|1|11\n2|21|1|21\n3|NULL|0|NULL"),
    ]);
}
