//! The shell's parts that need no server.

use super::print::Printer;
use super::*;
use inia_base::value::Value;
use inia_wire::column::ColumnDef;

fn statements(text: &str) -> Vec<String> {
    let mut splitter = Splitter::default();
    let mut pieces: Vec<Piece> =
        text.split_inclusive('\n').flat_map(|line| splitter.feed(line.as_bytes())).collect();
    pieces.extend(splitter.rest());
    pieces.into_iter().map(|piece| String::from_utf8(piece.sql).unwrap()).collect()
}

#[test]
fn statements_end_at_semicolons_outside_quotes_and_comments() {
    let text = "SELECT ';', \"a;\", `b;`, 'it''s', 'x\\';' /* ; */; -- no; end\nSELECT\n2;SELECT 3";
    assert_eq!(
        statements(text),
        ["SELECT ';', \"a;\", `b;`, 'it''s', 'x\\';' /* ; */", "-- no; end\nSELECT\n2", "SELECT 3"]
    );
}

#[test]
fn delimiters_can_be_changed() {
    let text = "DELIMITER //\nCREATE PROCEDURE p() BEGIN DO 1; END//\ndelimiter ;\nCALL p();\n";
    assert_eq!(statements(text), ["CREATE PROCEDURE p() BEGIN DO 1; END", "CALL p()"]);
}

#[test]
fn backslash_g_asks_for_vertical_rows() {
    let pieces = Splitter::default().feed(b"SELECT 1\\G");
    assert_eq!(pieces[0].ending, Ending::Vertical);
}

#[test]
fn rows_as_a_table_as_tabs_and_as_lines() {
    let column = |name: &str, type_code| ColumnDef {
        name: name.to_owned(),
        type_code,
        ..ColumnDef::default()
    };
    let columns = [column("id", 3), column("name", 253)];
    let rows = [
        [Value::Text("1".to_owned()), Value::Text("ä\tb".to_owned())],
        [Value::Text("20".to_owned()), Value::Null],
    ];
    let printed = |layout| {
        let mut out = Vec::new();
        let mut printer = Printer::new(&mut out, layout, &columns).unwrap();
        rows.iter().for_each(|row| printer.row(row).unwrap());
        assert_eq!(printer.finish().unwrap(), 2);
        String::from_utf8(out).unwrap()
    };
    assert_eq!(
        printed(Layout::Table),
        "+----+------+\n| id | name |\n+----+------+\n\
         |  1 | ä\tb  |\n| 20 | NULL |\n+----+------+\n"
    );
    assert_eq!(printed(Layout::Tabs), "id\tname\n1\tä\\tb\n20\tNULL\n");
    assert!(printed(Layout::Vertical).contains(" 2. row *"));
    assert!(printed(Layout::Vertical).contains("  id: 20\nname: NULL\n"));
}

#[test]
fn the_first_rows_decide_how_wide_a_table_is() {
    let columns = [ColumnDef { name: "n".to_owned(), type_code: 253, ..ColumnDef::default() }];
    let cell = |text: &str| [Value::Text(text.to_owned())];
    let mut out = Vec::new();
    let mut printer = Printer::new(&mut out, Layout::Table, &columns).unwrap();
    for _ in 0..1000 {
        printer.row(&cell("abc")).unwrap();
    }
    printer.row(&cell("longer than abc")).unwrap();
    printer.row(&cell("a")).unwrap();
    printer.finish().unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..4], ["+-----+", "| n   |", "+-----+", "| abc |"]);
    assert_eq!(lines[1002..], ["| abc |", "| longer than abc |", "| a   |", "+-----+"]);
}

#[test]
fn a_result_without_rows_draws_no_table() {
    let columns = [ColumnDef { name: "n".to_owned(), ..ColumnDef::default() }];
    for (layout, expected) in [(Layout::Table, ""), (Layout::Tabs, "n\n"), (Layout::Vertical, "")] {
        let mut out = Vec::new();
        Printer::new(&mut out, layout, &columns).unwrap().finish().unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected, "{layout:?}");
    }
}
