//! `inia load` with the real program: what is stored, what is rejected, and how it ends.

use crate::process::{DataDir, Process, run};
use crate::support::TempDir;
use inia_base::value::Value;
use std::path::PathBuf;

struct Loading {
    folder: TempDir,
    server: Process,
    _data: DataDir,
}

impl Loading {
    fn new() -> Loading {
        let data = DataDir::new();
        let server = Process::start(&data.path(), &[]);
        server.client().query("CREATE DATABASE d").unwrap();
        Loading { folder: TempDir::new(), server, _data: data }
    }

    fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path.display().to_string()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Loads a text: exit code, and what the program said.
    fn load(&self, text: &str, table: &str, options: &[&str]) -> (i32, String) {
        let file = self.file("rows.csv", text.as_bytes());
        self.load_file(&file, table, options)
    }

    fn load_file(&self, file: &str, table: &str, options: &[&str]) -> (i32, String) {
        let url = format!("mysql://root@{}/d", self.server.address());
        run(&[&["load", file, table, "--url", &url], options].concat())
    }

    /// Rows with their cells joined.
    fn rows(&self, sql: &str) -> Vec<String> {
        let cell = |value: &Value| match value {
            Value::Null => "NULL".to_owned(),
            value => value.as_text().unwrap_or("?").to_owned(),
        };
        let rows = self.server.client().rows(sql).unwrap();
        rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join("|")).collect()
    }

    fn types(&self, table: &str) -> Vec<String> {
        self.rows(&format!(
            "SELECT column_name, column_type FROM information_schema.columns \
             WHERE table_schema = 'd' AND table_name = '{table}' ORDER BY ordinal_position"
        ))
    }
}

#[test]
fn a_file_makes_its_table() {
    let loading = Loading::new();
    let text = "id,name,price,born,seen,ratio,on\r\n\
                1,\"O'Neil, \"\"Jr\"\"\",10.50,2024-02-29,2024-02-29T10:00:00Z,1e-3,true\r\n\
                2,\"two\r\nlines \\ ä\",-3.125,,,,false\r\n\
                3,\"\",,,,,\r\n";
    let (code, said) = loading.load(text, "people", &["--primary-key", "id"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("d.people (made for it): 3 rows stored"), "{said}");
    assert_eq!(
        loading.types("people"),
        [
            "id|int",
            "name|varchar(255)",
            "price|decimal(5,3)",
            "born|date",
            "seen|datetime",
            "ratio|double",
            "on|tinyint(1)"
        ]
    );
    assert_eq!(
        loading.rows("SELECT * FROM d.people"),
        [
            "1|O'Neil, \"Jr\"|10.500|2024-02-29|2024-02-29 10:00:00|0.001|1",
            "2|two\r\nlines \\ ä|-3.125|NULL|NULL|NULL|0",
            "3||NULL|NULL|NULL|NULL|NULL"
        ]
    );
}

#[test]
fn columns_of_a_table_that_is_there_are_found_by_name() {
    let loading = Loading::new();
    let mut client = loading.server.client();
    client
        .query(
            "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(9) NOT NULL, \
             b BIT(4), c VARBINARY(9), n INT DEFAULT 7, g INT AS (n + 1))",
        )
        .unwrap();
    let (code, said) = loading.load("C;A;B\nx;;5\n;y;\n", "d.t", &[]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(
        loading.rows("SELECT id, a, b + 0, c, n, g FROM d.t"),
        ["1||5|x|7|8", "2|y|NULL|NULL|7|8"],
        "a column that takes no NULL gets an empty text"
    );
    let (code, said) = loading.load("a,nope\n1,2\n", "t", &[]);
    assert_eq!(code, 1);
    assert!(said.contains("d.t has no column 'nope'; its columns are id, a, b"), "{said}");
    let (code, said) = loading.load("a,g\n1,2\n", "t", &[]);
    assert_eq!(code, 1);
    assert!(said.contains("column 'g' of d.t is generated"), "{said}");
    let (code, said) = loading.load("8,z\n", "t", &["--no-header"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(loading.rows("SELECT a FROM d.t WHERE id = 8"), ["z"]);
}

#[test]
fn rows_that_cannot_be_stored_are_reported_by_their_lines() {
    let loading = Loading::new();
    let mut client = loading.server.client();
    client
        .query("CREATE TABLE d.t (id INT PRIMARY KEY, a VARCHAR(3), n INT, CHECK (n < 100))")
        .unwrap();
    let mut text = "id,a,n\n".to_owned();
    for id in 1..=500 {
        match id {
            17 => text.push_str("16,x,1\n"),
            40 => text.push_str("40,\"lo\nng\",1\n"),
            41 => text.push_str("41,x,one\n"),
            42 => text.push_str("42,x\n"),
            300 => text.push_str("300,x,100\n"),
            499 => text.push_str("\n499,x,99999999999\n"),
            _ => text.push_str(&format!("{id},x,1\n")),
        }
    }
    let rejects = loading.path("rejects.csv").display().to_string();
    let (code, said) = loading.load(&text, "t", &["--rejects", &rejects, "--batch", "100"]);
    assert_eq!(code, 3, "{said}");
    let reported = [
        "line 18: ERROR 1062 (23000): Duplicate entry '16' for key 't.PRIMARY'",
        "line 41: ERROR 1406 (22001): Data too long for column 'a' at row 1",
        "line 43: ERROR 1366 (HY000): Incorrect integer value: 'one' for column 'n' at row 1",
        "line 44: 2 fields instead of 3",
        "line 302: ERROR 3819 (HY000): Check constraint 't_chk_1' is violated.",
        "line 502: ERROR 1264 (22003): Out of range value for column 'n' at row 1",
        "d.t: 494 rows stored, 6 rejected",
    ];
    for line in reported {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert_eq!(loading.rows("SELECT COUNT(*), SUM(id) FROM d.t"), ["494|124311"]);
    assert_eq!(
        std::fs::read_to_string(&rejects).unwrap(),
        "id,a,n\n42,x\n16,x,1\n40,\"lo\nng\",1\n41,x,one\n300,x,100\n499,x,99999999999\n",
        "the rejects can be mended and loaded"
    );
}

#[test]
fn a_table_without_transactions_keeps_each_row_once() {
    let loading = Loading::new();
    let mut client = loading.server.client();
    client.query("CREATE TABLE d.t (id INT PRIMARY KEY) ENGINE=MyISAM").unwrap();
    let (code, said) = loading.load("id\n1\n2\n2\n3\n", "t", &[]);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("line 4: ERROR 1062"), "{said}");
    assert_eq!(loading.rows("SELECT COUNT(*) FROM d.t"), ["3"]);
}

#[test]
fn an_error_of_the_statement_ends_the_load() {
    let loading = Loading::new();
    let mut client = loading.server.client();
    client.query("CREATE TABLE d.t (id INT, must INT NOT NULL)").unwrap();
    let (code, said) = loading.load("id\n1\n2\n", "t", &[]);
    assert_eq!(code, 1);
    assert!(said.contains("ERROR 1364") && said.contains("begins at 2"), "{said}");
    let (code, said) = loading.load("id\n1\n", "missing.t", &[]);
    assert_eq!(code, 1);
    assert!(said.contains("ERROR 1049"), "{said}");
    let (code, said) = run(&["load", "/nowhere/x.csv", "t"]);
    assert_eq!(code, 1);
    assert!(said.contains("cannot read /nowhere/x.csv"), "{said}");
}

#[test]
fn a_data_directory_takes_rows_without_a_server() {
    let folder = TempDir::new();
    let file = folder.path().join("rows.tsv");
    std::fs::write(&file, "a\tb\n1\tx\n2\ty\n").unwrap();
    let data = DataDir::new();
    let url = format!("inia:{}", data.path().display());
    let file = file.display().to_string();
    let (code, said) = run(&["load", &file, "d.t", "--url", &url]);
    assert_eq!(code, 0, "{said}");
    let server = Process::start(&data.path(), &[]);
    let rows = server.client().rows("SELECT a, b FROM d.t ORDER BY a DESC").unwrap();
    assert_eq!(rows[0], [Value::Text("2".into()), Value::Text("y".into())]);
    let (code, said) = run(&["load", &file, "d.t", "--url", &url]);
    assert_eq!(code, 1);
    assert!(said.contains("in use by another"), "{said}");
}

#[cfg(feature = "parquet")]
mod parquet_files {
    //! Results as Parquet files, and back.

    use super::*;

    const TABLE: &str = "CREATE TABLE d.t (id INT PRIMARY KEY, a TINYINT UNSIGNED, b SMALLINT, \
        c BIGINT UNSIGNED, d DECIMAL(5,2), e DECIMAL(18,4), f DECIMAL(65,30), g FLOAT, h DOUBLE, \
        i DATE, j DATETIME(6), k TIMESTAMP NULL, l TIME(3), m YEAR, n VARCHAR(9), o BLOB, p JSON, \
        q ENUM('x','y'), r BIT(9), s BOOLEAN)";

    const ROWS: [&str; 3] = [
        "1, 255, -32768, 18446744073709551615, -999.99, 12345678901234.5678, \
         -12345678901234567890123456789012345.123456789012345678901234567890, 1.5, -2.5e300, \
         '2024-02-29', '1000-01-01 00:00:00.000001', '2024-01-01 12:00:00', '-838:59:59', 1999, \
         'ä''\"', x'00ff', '{\"k\": [1, null]}', 'y', b'100000001', TRUE",
        "2, 0, 32767, 0, 0.01, 0, 0, 0, 0, '0001-01-01', '9999-12-31 23:59:59.999999', NULL, \
         '10:00:00.5', 2155, '', '', '1', 'x', 0, FALSE",
        "3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
         NULL, NULL, NULL, NULL, NULL",
    ];

    fn write(loading: &Loading, sql: &str, name: &str) -> (i32, String) {
        let file = loading.path(name).display().to_string();
        let url = format!("mysql://root@{}/d", loading.server.address());
        run(&["sql", &url, "--format", "parquet", "--out", &file, "-e", sql])
    }

    #[test]
    fn every_type_comes_back_as_it_was() {
        let loading = Loading::new();
        let mut client = loading.server.client();
        client.query(TABLE).unwrap();
        for row in ROWS {
            client.query(&format!("INSERT INTO d.t VALUES ({row})")).unwrap();
        }
        let (code, said) = write(&loading, "SELECT * FROM t", "t.parquet");
        assert_eq!((code, said.as_str()), (0, ""));
        let file = loading.path("t.parquet").display().to_string();
        let (code, said) = loading.load_file(&file, "made", &[]);
        assert_eq!(code, 0, "{said}");
        let types = loading.types("made");
        let expected = [
            "id|int",
            "a|tinyint unsigned",
            "b|smallint",
            "c|bigint unsigned",
            "d|decimal(5,2)",
            "e|decimal(18,4)",
            "f|decimal(65,30)",
            "g|float",
            "h|double",
            "i|date",
            "j|datetime(6)",
            "k|datetime(6)",
            "l|varchar(255)",
            "m|smallint unsigned",
            "n|varchar(255)",
            "o|longblob",
            "p|json",
            "q|varchar(255)",
            "r|bigint unsigned",
            "s|tinyint",
        ];
        assert_eq!(types, expected);
        client.query("CREATE TABLE d.back LIKE d.t").unwrap();
        let (code, said) = loading.load_file(&file, "back", &[]);
        assert_eq!(code, 0, "{said}");
        let all = "SELECT id, a, b, c, d, e, f, g, h, i, j, k, l, m, n, HEX(o), p, q, r + 0, s";
        assert_eq!(
            loading.rows(&format!("{all} FROM d.back ORDER BY id")),
            loading.rows(&format!("{all} FROM d.t ORDER BY id"))
        );
    }

    #[test]
    fn many_rows_take_several_groups() {
        let loading = Loading::new();
        let digits = "WITH d AS (SELECT 0 n UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION \
                      SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION \
                      SELECT 9) SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n AS k, \
                      IF(a.n = 3, NULL, CONCAT('text ', b.n)) t FROM d a, d b, d c, d d, d e";
        let sql = format!("{digits} UNION ALL SELECT 100000, 'last'");
        let (code, said) = write(&loading, &sql, "n.parquet");
        assert_eq!((code, said.as_str()), (0, ""));
        let file = loading.path("n.parquet").display().to_string();
        let (code, said) = loading.load_file(&file, "n", &["--primary-key", "k"]);
        assert_eq!(code, 0, "{said}");
        assert_eq!(
            loading.rows("SELECT COUNT(*), SUM(k), COUNT(t) FROM d.n"),
            ["100001|5000050000|90001"]
        );
    }

    #[test]
    fn what_has_no_value_in_parquet_is_reported() {
        let loading = Loading::new();
        let sql = "SET sql_mode = ''; SELECT CAST('0000-00-00' AS DATE) AS zero";
        let (code, said) = write(&loading, sql, "zero.parquet");
        assert_eq!(code, 1);
        assert!(said.contains("column zero: Parquet has no value for '0000-00-00'"), "{said}");
        assert!(!loading.path("zero.parquet").exists());
        let file = loading.file("no.parquet", b"PAR1 is not all");
        let (code, said) = loading.load_file(&file, "t", &[]);
        assert_eq!(code, 1);
        assert!(said.contains("cannot read"), "{said}");
    }

    #[test]
    fn rejected_rows_are_written_as_csv() {
        let loading = Loading::new();
        loading.server.client().query("CREATE TABLE d.t (k INT PRIMARY KEY, t TEXT)").unwrap();
        let sql = "SELECT 1 k, 'a\"b' t UNION ALL SELECT 1, NULL UNION ALL SELECT 2, ''";
        write(&loading, sql, "r.parquet");
        let file = loading.path("r.parquet").display().to_string();
        let rejects = loading.path("rejects.csv").display().to_string();
        let (code, said) = loading.load_file(&file, "t", &["--rejects", &rejects]);
        assert_eq!(code, 3, "{said}");
        assert!(said.contains("row 2: ERROR 1062"), "{said}");
        assert_eq!(std::fs::read_to_string(&rejects).unwrap(), "\"k\",\"t\"\n\"1\",\n");
    }
}
