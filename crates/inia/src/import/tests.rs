//! The parts of a load that need no server.

use super::columns::{distinct_names, put_hex, put_text};
use super::delimited::{Delimited, detect, quoted_fields};
use super::infer::{Form, Inference};
use super::row::{CellKind, Row, Source};
use super::table::TableName;
use super::{Reading, open};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A file that is removed at the end.
struct TempFile(PathBuf);

impl TempFile {
    fn new(text: &[u8]) -> TempFile {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name =
            format!("inia-load-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).unwrap();
        TempFile(path)
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

const PLAIN: Reading<'_> = Reading { header: true, delimiter: None, null: None };

fn types(values: &[&[&str]]) -> Vec<String> {
    let names = vec![String::new(); values[0].len()];
    let mut inference = Inference::new(&names);
    for values in values {
        let mut row = Row::default();
        for value in *values {
            let kind = if value.is_empty() { CellKind::Empty } else { CellKind::Bytes };
            row.push(kind, value.as_bytes());
        }
        inference.note(&row);
    }
    inference.types()
}

fn type_of(values: &[&str]) -> String {
    let rows: Vec<[&str; 1]> = values.iter().map(|value| [*value]).collect();
    let rows: Vec<&[&str]> = rows.iter().map(|row| &row[..]).collect();
    types(&rows).remove(0)
}

/// Lines, and cells as they are shown: NULL, nothing, or a text in quotes.
fn rows(text: &[u8], reading: &Reading<'_>) -> Vec<(u64, String)> {
    let file = TempFile::new(text);
    let mut source = Delimited::open(&file.0, reading).unwrap();
    let mut row = Row::default();
    let mut found = Vec::new();
    while source.read(&mut row).unwrap() {
        let cell = |at| match row.cell(at) {
            (CellKind::Null, _) => "NULL".to_owned(),
            (CellKind::Empty, _) => String::new(),
            (CellKind::Bytes, bytes) => format!("'{}'", String::from_utf8_lossy(bytes)),
        };
        let cells = || (0..source.columns().len()).map(cell).collect::<Vec<_>>().join(" ");
        found.push((row.number, row.fault.clone().unwrap_or_else(cells)));
    }
    found
}

#[test]
fn a_column_gets_the_narrowest_type_that_keeps_every_value() {
    assert_eq!(type_of(&["1", "-20", ""]), "INT");
    assert_eq!(type_of(&["1", "3000000000"]), "BIGINT");
    assert_eq!(type_of(&["1", "18446744073709551615"]), "BIGINT UNSIGNED");
    assert_eq!(type_of(&["-1", "18446744073709551615"]), "DECIMAL(20,0)");
    assert_eq!(type_of(&["1", "-200.50", "0.125"]), "DECIMAL(6,3)");
    assert_eq!(type_of(&["1", "2e9", "0.5"]), "DOUBLE");
    assert_eq!(type_of(&["true", "FALSE"]), "BOOLEAN");
    assert_eq!(type_of(&["2024-02-29"]), "DATE");
    assert_eq!(type_of(&["2024-02-29", "2024-01-01 10:00:00.125"]), "DATETIME(3)");
    assert_eq!(type_of(&["2024-02-29T10:00:00Z", "2024-02-29T10:00:00+02:00"]), "DATETIME");
    assert_eq!(type_of(&["x", "1"]), "VARCHAR(255)");
    assert_eq!(type_of(&[""]), "VARCHAR(255)");
}

#[test]
fn what_would_not_come_back_as_it_was_is_a_text() {
    let texts =
        ["007", "+1", ".5", "1.", "1e999", "NaN", "0x10", "2023-02-29", "24:00", "1 2", "-"];
    for text in texts {
        assert_eq!(Form::of(text.as_bytes()), Form::Text, "{text}");
    }
    // A double does not keep seventeen digits, a decimal no exponent.
    assert_eq!(type_of(&["12345678901234567", "1e3"]), "VARCHAR(255)");
    assert_eq!(type_of(&[&"9".repeat(66)]), "VARCHAR(255)");
}

#[test]
fn long_texts_share_the_room_of_a_row() {
    let long = "x".repeat(9000);
    assert_eq!(
        types(&[&["a", &long, &long, &"ä".repeat(40_000)]]),
        ["VARCHAR(255)", "TEXT", "TEXT", "MEDIUMTEXT"]
    );
    assert_eq!(type_of(&[&"x".repeat(300)]), "VARCHAR(512)");
}

#[test]
fn names_are_distinct_whatever_their_case() {
    assert_eq!(distinct_names(["a", " A ", "", "a_2"]), ["a", "A_2", "column_3", "a_2_2"]);
    assert_eq!(distinct_names(["ä".repeat(70).as_str()])[0].chars().count(), 64);
}

#[test]
fn the_delimiter_is_the_one_that_makes_rows_alike() {
    assert_eq!(detect(b"a,b\n1,2\n"), b',');
    assert_eq!(detect(b"a\tb,c\n1\t2\n"), b'\t');
    assert_eq!(detect(b"name;price\n\"x, y\";1,50\nz;2,25\n"), b';');
    assert_eq!(detect(b"a|b|c\n1|2|3\n"), b'|');
    assert_eq!(detect(b"alone\n1\n"), b',');
}

#[test]
fn an_empty_field_is_a_text_where_it_stands_in_quotes() {
    assert_eq!(quoted_fields(b"a,\"\",,\"b,\"\"c\",\n", b','), [false, true, false, true, false]);
    assert_eq!(
        rows(b"a,b,c\n,\"\",\\N\n\"\\N\",x,\n", &PLAIN),
        [(2, " '' NULL".to_owned()), (3, "'\\N' 'x' ".to_owned())]
    );
    let given = Reading { null: Some("NA"), ..PLAIN };
    assert_eq!(
        rows(b"a,b,c\nNA,\"NA\",\n", &given),
        [(2, "NULL 'NA' ''".to_owned())],
        "with a text of its own for NULL, nothing is an empty text"
    );
}

#[test]
fn rows_have_the_lines_that_they_begin_at() {
    let text = b"\xef\xbb\xbfa,b\r\n1,\"two\r\nlines\"\r\n\r\n3,x\r\n4\r\n5,z";
    assert_eq!(
        rows(text, &PLAIN),
        [
            (2, "'1' 'two\r\nlines'".to_owned()),
            (5, "'3' 'x'".to_owned()),
            (6, "1 fields instead of 2".to_owned()),
            (7, "'5' 'z'".to_owned()),
        ]
    );
}

#[test]
fn a_row_is_kept_as_it_stands_in_the_file() {
    let file = TempFile::new(b"a;b\n\"x\";\"1\n2\"\nlast;3");
    let mut source = Delimited::open(&file.0, &PLAIN).unwrap();
    assert_eq!(source.head(), b"a;b\n");
    let mut row = Row::default();
    source.read(&mut row).unwrap();
    assert_eq!(row.raw, b"\"x\";\"1\n2\"\n");
    source.read(&mut row).unwrap();
    assert_eq!(row.raw, b"last;3\n");
}

#[test]
fn a_file_without_names_begins_with_a_row() {
    let given = Reading { header: false, ..PLAIN };
    assert_eq!(rows(b"1,2\n3,4\n", &given).len(), 2);
    let file = TempFile::new(b"1,x\n");
    let mut source = Delimited::open(&file.0, &given).unwrap();
    let name = TableName::parse("d.t");
    assert_eq!(
        source.definition(&name, Some("column_1")).unwrap(),
        "CREATE TABLE `d`.`t` (`column_1` INT, `column_2` VARCHAR(255), PRIMARY KEY (`column_1`))"
    );
    assert_eq!(source.head(), b"");
}

#[test]
fn what_is_no_text_of_utf8_is_refused() {
    for (text, why) in [(&b"\xff\xfea\0"[..], "UTF-16"), (b"", "is empty")] {
        let file = TempFile::new(text);
        let error = open(&file.0, &PLAIN).err().unwrap();
        assert!(error.contains(why), "{error}");
    }
    assert!(open(std::path::Path::new("/"), &PLAIN).err().unwrap().contains("is not a file"));
}

#[test]
fn literals() {
    let mut out = Vec::new();
    put_text(&mut out, b"it's \\ \0");
    put_hex(&mut out, b"\x00\xff");
    assert_eq!(out, b"'it''s \\\\ \\0'x'00ff'");
}
