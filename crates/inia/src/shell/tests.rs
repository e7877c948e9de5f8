//! The shell's parts that need no server.

use super::complete::Names;
use super::markup::{Language, Markup};
use super::print::Printer;
use super::split::{Piece, Task};
use super::*;
use inia_wire::column::ColumnDef;

fn pieces(text: &str) -> Vec<Piece> {
    let mut splitter = Splitter::default();
    let mut pieces: Vec<Piece> =
        text.split_inclusive('\n').flat_map(|line| splitter.feed(line.as_bytes())).collect();
    pieces.extend(splitter.rest());
    pieces
}

fn statements(text: &str) -> Vec<String> {
    let texts = pieces(text).into_iter().filter_map(|piece| match piece.task {
        Task::Statement(sql, _) => Some(String::from_utf8(sql).unwrap()),
        Task::Command(_) => None,
    });
    texts.collect()
}

fn commands(text: &str) -> Vec<Command> {
    let commands = pieces(text).into_iter().filter_map(|piece| match piece.task {
        Task::Statement(..) => None,
        Task::Command(command) => Some(command),
    });
    commands.collect()
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
    assert_eq!(statements("\\d $$\nSELECT 1; SELECT 2$$ DO 0"), ["SELECT 1; SELECT 2", "DO 0"]);
}

#[test]
fn backslash_g_asks_for_vertical_rows() {
    let pieces = Splitter::default().feed(b"SELECT 1\\G SELECT 2\\g");
    let task = |sql: &[u8], ending| Task::Statement(sql.to_vec(), ending);
    assert_eq!(pieces[0].task, task(b"SELECT 1", Ending::Vertical));
    assert_eq!(pieces[1].task, task(b"SELECT 2", Ending::Plain));
}

#[test]
fn words_at_the_begin_of_a_line_are_commands() {
    let text = |text: &str| text.to_owned();
    let cases = [
        ("use shop\n", Command::Use(text("shop"))),
        ("USE `a b`;\n", Command::Use(text("`a"))),
        ("use `shop`;", Command::Use(text("shop"))),
        ("  source a b.sql\n", Command::Source(text("a b.sql"))),
        ("\\. dump.sql\n", Command::Source(text("dump.sql"))),
        ("help\n", Command::Help(text(""))),
        ("? SELECT;\n", Command::Help(text("SELECT"))),
        ("\\s", Command::Status),
        ("status;\n", Command::Status),
        ("pager less -S\n", Command::Pager(text("less -S"))),
        ("nopager\n", Command::NoPager),
        ("tee out.txt\n", Command::Tee(text("out.txt"))),
        ("prompt \\u@\\h> \n", Command::Prompt(text("\\u@\\h>"))),
        ("exit\n", Command::Quit),
        ("\\q", Command::Quit),
        ("warnings\n", Command::Warnings(true)),
        ("\\w", Command::Warnings(false)),
        ("\\! echo a; echo b\n", Command::System(text("echo a; echo b"))),
    ];
    for (line, expected) in cases {
        assert_eq!(commands(line), [expected], "{line}");
        assert_eq!(statements(line), [""; 0], "{line}");
    }
    // No command where a statement has begun, or goes on, or is in quotes.
    let text = "SELECT 1,\nstatus\nFROM t;\nquit_all;\nSELECT '\\\\s', \\N;\nuse x; DO 1;";
    let expected = ["SELECT 1,\nstatus\nFROM t", "quit_all", "SELECT '\\\\s', \\N", "DO 1"];
    assert_eq!(statements(text), expected);
    assert_eq!(commands(text), [Command::Use("x".to_owned())]);
    assert_eq!(statements("SELECT 1 \\c SELECT 2;"), ["SELECT 2"]);
    assert_eq!(commands("SELECT 1 \\p"), [Command::Print("SELECT 1".to_owned())]);
}

#[test]
fn a_piece_knows_its_line() {
    let lines: Vec<u64> =
        pieces("SELECT 1;\n\n  SELECT\n2; SELECT 3;\nuse a\n").iter().map(|p| p.line).collect();
    assert_eq!(lines, [1, 3, 4, 5]);
}

#[test]
fn a_password_after_p_needs_no_blank() {
    let args = |text: &str| text.split(' ').map(Into::into).collect::<Vec<std::ffi::OsString>>();
    let cases = [
        ("inia sql -uroot -psecret -e DO", "inia sql -uroot --password=secret -e DO"),
        ("inia sql -p shop", "inia sql --password shop"),
        ("inia sql -e -p", "inia sql -e -p"),
        ("inia serve -p", "inia serve -p"),
        ("inia sql --port 1", "inia sql --port 1"),
    ];
    for (given, expected) in cases {
        assert_eq!(with_password_option(args(given)), args(expected), "{given}");
    }
}

#[test]
fn words_are_completed_by_keywords_and_names() {
    let mut names = Names::usual();
    names.tables.insert("goods".to_owned());
    names.columns.extend(["goods.id".to_owned(), "goods.group_id".to_owned()]);
    let found = |line: &str| names.candidates(line);
    assert_eq!(found("SELECT g").1, ["goods", "grant", "group", "group_id"]);
    assert_eq!(found("SELECT G").1, ["GRANT", "GROUP", "goods", "group_id"]);
    assert_eq!(found("SELECT goods.g"), (7, vec!["goods.group_id".to_owned()]));
    assert_eq!(found("SELECT é, `go").1, ["goods"]);
    assert_eq!(found("SEL"), (0, vec!["SELECT".to_owned()]));
}

#[test]
fn rows_as_html_xml_and_markdown() {
    let column = |name: &str, type_code| ColumnDef {
        name: name.to_owned(),
        type_code,
        ..ColumnDef::default()
    };
    let columns = [column("a", 3), column("b", 253)];
    let rows =
        [[Value::Text("1".into()), Value::Text("x<|\n&".into())], [Value::Null, Value::Null]];
    let written = |language| {
        let mut out = Vec::new();
        let head = (&b"SELECT \"x\""[..], true);
        let mut markup = Markup::new(&mut out, language, &columns, head).unwrap();
        rows.iter().for_each(|row| markup.row(row).unwrap());
        markup.finish().unwrap();
        String::from_utf8(out).unwrap()
    };
    assert_eq!(
        written(Language::Html),
        "<TABLE BORDER=1><TR><TH>a</TH><TH>b</TH></TR><TR><TD>1</TD><TD>x&lt;|\n&amp;</TD></TR>\
         <TR><TD>NULL</TD><TD>NULL</TD></TR></TABLE>"
    );
    assert_eq!(
        written(Language::Xml),
        "<?xml version=\"1.0\"?>\n\n<resultset statement=\"SELECT &quot;x&quot;\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\n  <row>\n\
         \t<field name=\"a\">1</field>\n\t<field name=\"b\">x&lt;|\n&amp;</field>\n  </row>\n\n\
         \x20 <row>\n\t<field name=\"a\" xsi:nil=\"true\" />\n\
         \t<field name=\"b\" xsi:nil=\"true\" />\n  </row>\n</resultset>\n"
    );
    assert_eq!(
        written(Language::Markdown),
        "| a | b |\n| ---: | --- |\n| 1 | x<\\|<br>& |\n| NULL | NULL |\n"
    );
}

#[test]
fn widths_are_those_of_a_terminal() {
    let columns = [ColumnDef { name: "名前".to_owned(), type_code: 253, ..ColumnDef::default() }];
    let printed = |style, cells: &[&str]| {
        let mut out = Vec::new();
        let mut printer = Printer::new(&mut out, style, &columns).unwrap();
        cells.iter().for_each(|cell| printer.row(&[Value::Text((*cell).into())]).unwrap());
        printer.finish().unwrap();
        String::from_utf8(out).unwrap()
    };
    let table = Style::new(Layout::Table);
    assert_eq!(
        printed(table, &["東京", "e\u{301}", "abc"]),
        "+------+\n| 名前 |\n+------+\n| 東京 |\n| e\u{301}    |\n| abc  |\n+------+\n"
    );
    let narrow = Style { most_columns: Some(9), ..table };
    assert!(printed(narrow, &["abcde"]).starts_with("+--"));
    assert!(printed(narrow, &["abcdef"]).starts_with("*****"));
    let plain = Style { names: false, ..Style::new(Layout::Tabs) };
    assert_eq!(printed(plain, &["a\tb\\", "c"]), "a\\tb\\\\\nc\n");
    assert_eq!(printed(Style { raw: true, ..plain }, &["a\tb\\"]), "a\tb\\\n");
}

#[test]
fn binary_strings_are_shown_as_digits_where_asked() {
    let column = |type_code, collation| ColumnDef { type_code, collation, ..ColumnDef::default() };
    let columns = [column(253, 63), column(253, 255), column(3, 63)];
    let row = ["\u{1}A", "A", "7"].map(|text| Value::Text(text.to_owned()));
    let mut out = Vec::new();
    let style = Style { names: false, hex: true, ..Style::new(Layout::Tabs) };
    Printer::new(&mut out, style, &columns).unwrap().row(&row).unwrap();
    assert_eq!(out, b"0x0141\tA\t7\n");
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
        let mut printer = Printer::new(&mut out, Style::new(layout), &columns).unwrap();
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
    let mut printer = Printer::new(&mut out, Style::new(Layout::Table), &columns).unwrap();
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
    for (layout, expected) in [(Layout::Table, ""), (Layout::Tabs, ""), (Layout::Vertical, "")] {
        let mut out = Vec::new();
        Printer::new(&mut out, Style::new(layout), &columns).unwrap().finish().unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected, "{layout:?}");
    }
}

#[test]
fn a_comment_before_a_command_or_a_statement_is_no_part_of_it() {
    let text =
        "-- a script\nuse shop\n/* two\nuse lines */ use mall;\n# end\nDELIMITER //\nSELECT 1//";
    let names = [Command::Use("shop".to_owned()), Command::Use("mall".to_owned())];
    assert_eq!(commands(text), names);
    assert_eq!(statements(text), ["SELECT 1"]);
    // The server reads some comments, and gets those that stand before a statement.
    assert_eq!(statements("/*!40101 SET @a = 1 */;"), ["/*!40101 SET @a = 1 */"]);
    assert_eq!(statements("-- why\nSELECT 1;"), ["-- why\nSELECT 1"]);
    assert_eq!(statements("SELECT 1; -- done\n-- all;\n/* end */ ;"), ["SELECT 1"]);
    let lines = pieces("-- why\n\nSELECT 1;").iter().map(|piece| piece.line).collect::<Vec<_>>();
    assert_eq!(lines, [3]);
}
