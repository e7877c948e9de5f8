//! Lines of fields, read and written.

use super::format::{Field, Format, Line};
use inia_parser::ast::FileFormat;

fn usual() -> Format {
    Format::new(&FileFormat::default()).expect("the usual format")
}

fn csv() -> Format {
    let part = |text: &str| Some(text.to_owned());
    let format = FileFormat {
        fields_terminated: part(","),
        fields_enclosed: part("\""),
        optionally_enclosed: true,
        lines_terminated: part("\r\n"),
        ..FileFormat::default()
    };
    Format::new(&format).expect("a format of one-character parts")
}

fn fields(format: &Format, text: &str) -> Vec<Option<String>> {
    match format.read(text.as_bytes(), true) {
        Line::Row(fields, length) => {
            assert_eq!(length, text.len(), "{text:?}");
            let text = |field: Field| String::from_utf8(field.bytes).expect("text");
            fields.into_iter().map(|field| (!field.null).then(|| text(field))).collect()
        }
        other => panic!("{text:?}: {other:?}"),
    }
}

fn texts(fields: &[&str]) -> Vec<Option<String>> {
    fields.iter().map(|field| Some((*field).to_owned())).collect()
}

#[test]
fn fields_end_at_tabs_and_lines_at_newlines() {
    assert_eq!(fields(&usual(), "1\ta b\t\n"), texts(&["1", "a b", ""]));
    assert_eq!(fields(&usual(), "last line"), texts(&["last line"]));
    assert_eq!(usual().read(b"", true), Line::End);
}

#[test]
fn backslashes_escape_and_mark_null() {
    let row = fields(&usual(), "\\N\ta\\tb\\\nc\\\\\tN\n");
    assert_eq!(row, [&[None][..], &texts(&["a\tb\nc\\", "N"])].concat());
}

#[test]
fn enclosed_fields_keep_separators_and_doubled_quotes() {
    let row = fields(&csv(), "1,\"a \"\"b\"\", c\r\nd\",NULL,\"NULL\"\r\n");
    let expected = [&texts(&["1", "a \"b\", c\r\nd"])[..], &[None], &texts(&["NULL"])].concat();
    assert_eq!(row, expected);
}

#[test]
fn half_a_line_waits_for_the_rest() {
    let text = b"1,\"a\"\"b\"\r\n2,x\r\n";
    for cut in 0..9 {
        assert_eq!(csv().read(&text[..cut], false), Line::More, "{cut}");
    }
    assert!(matches!(csv().read(text, false), Line::Row(_, 10)));
}

#[test]
fn what_is_written_reads_back() {
    for format in [usual(), csv()] {
        let row = ["a\tb", "c\"d,e", "", "line\r\nend\\"].map(str::as_bytes);
        let mut text = Vec::new();
        let parts = row.iter().map(|bytes| (Some(*bytes), true));
        format.write(parts.chain([(None, true)]), &mut text);
        let Line::Row(fields, length) = format.read(&text, true) else { panic!("no row") };
        assert_eq!(length, text.len());
        let bytes: Vec<&[u8]> = fields[..4].iter().map(|field| field.bytes.as_slice()).collect();
        assert_eq!(bytes, row);
        assert!(fields[4].null);
    }
}
