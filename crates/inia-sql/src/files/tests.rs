//! Lines of fields, read and written.

use super::format::Format;
use super::reader::{FileReader, FileRow};
use super::writer::{Column, Writer};
use super::xml::XmlReader;
use inia_base::collation::Charset;
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::FileFormat;

/// A format of its parts: the end of fields, their enclosure, escape, start and end of lines. A
/// part of `-` is left out of the statement.
fn format(parts: [&str; 5], optionally: bool) -> Format {
    let part = |at: usize| (parts[at] != "-").then(|| parts[at].to_owned());
    let format = FileFormat {
        fields_terminated: part(0),
        fields_enclosed: part(1),
        fields_escaped: part(2),
        lines_starting: part(3),
        lines_terminated: part(4),
        optionally_enclosed: optionally,
    };
    Format::new(&format, true).unwrap()
}

fn usual() -> Format {
    format(["-"; 5], false)
}

fn csv() -> Format {
    format([",", "\"", "-", "-", "\r\n"], true)
}

fn reader(format: &Format, wanted: usize) -> FileReader {
    FileReader::new(format.clone(), Charset::Utf8mb4, wanted, None, 0)
}

/// All rows of a text that comes in pieces of some size.
fn read(reader: &mut FileReader, text: &[u8], size: usize) -> Result<Vec<FileRow>, SqlError> {
    let mut rows = Vec::new();
    for piece in text.chunks(size) {
        reader.push(piece);
        while let Some(row) = reader.next()? {
            rows.push(row.clone());
        }
    }
    reader.finish();
    while let Some(row) = reader.next()? {
        rows.push(row.clone());
    }
    Ok(rows)
}

fn shown(field: Option<&[u8]>) -> String {
    match field {
        None => "NULL".to_owned(),
        Some(bytes) => String::from_utf8_lossy(bytes).escape_debug().to_string(),
    }
}

/// The rows of a text in words: fields between bars, `+` for fields that are too many. However the
/// text is cut, the rows are the same.
#[track_caller]
fn rows(format: &Format, wanted: usize, text: &[u8]) -> String {
    let words = |size: usize| {
        let row = |row: &FileRow| {
            let fields: Vec<String> = row.fields().map(shown).collect();
            format!("{}{}", fields.join("|"), if row.extra { " +" } else { "" })
        };
        match read(&mut reader(format, wanted), text, size) {
            Ok(rows) => rows.iter().map(row).collect::<Vec<_>>().join(" / "),
            Err(error) => format!("ERROR {}: {}", error.number(), error.message),
        }
    };
    let whole = words(text.len().max(1));
    for size in 1..text.len().min(12) {
        assert_eq!(words(size), whole, "in pieces of {size}");
    }
    whole
}

/// Texts and what MySQL 8.0.31 reads of them into two columns.
#[test]
fn lines_are_read_as_by_mysql() {
    let quoted = format(["-", "\"", "-", "-", "-"], false);
    let commas = format([",", "\"", "-", "-", "-"], false);
    let starting = format(["-", "-", "-", "zz", "-"], false);
    let doubled = format([",", "\"", "\"", "-", "-"], false);
    let bars = format(["||", "-", "-", "-", "-"], false);
    let endless = format(["-", "-", "-", "-", ""], false);
    let one_end = format([",", "-", "-", "-", ","], false);
    let cases: [(&Format, &[u8], &str); 27] = [
        (&usual(), b"1\ta b\n2\t\n", "1|a b / 2|"),
        (&usual(), b"last\tline", "last|line"),
        (&usual(), b"", ""),
        (&usual(), b"\\N\ta\\tb\\\nc\\\\\n", "NULL|a\\tb\\nc\\\\"),
        (&usual(), b"N\t\\Nx\n", "N|Nx"),
        (&usual(), b"a\tb\tc\td\n1\t2\n", "a|b + / 1|2"),
        (&usual(), b"a\tb\tc", "a|b"),
        (&usual(), b"a\t", "a"),
        (&usual(), b"a\n\n", "a / "),
        (&usual(), b"a\\", "a\\\\"),
        (&usual(), b"a\\\xc3\xa9\tb\xf0\x9f\x98\x80\n", "aé|b😀"),
        (&usual(), b"a\xc3", "a"),
        (&usual(), b"xx\xff\tb\n", "ERROR 1300: Invalid utf8mb4 character string: 'xx'"),
        (&usual(), b"a\\\xff\tb\n", "ERROR 1300: Invalid utf8mb4 character string: 'a'"),
        (&quoted, b"\"\\N\"\t\"NULL\"\n\\N\tNULL\n", "NULL|NULL / NULL|NULL"),
        (&quoted, b"\"a\xff\tb\n", "ERROR 1300: Invalid utf8mb4 character string: '\"a'"),
        (&commas, b"\"a\"\"b\",\"c\"x\"d\"\n\"e\n", "a\\\"b|c\\\"x\\\"d / \\\"e\\n"),
        (&commas, b"a,\"b\nc,d\n", "a|\\\"b\\nc,d\\n"),
        (&commas, b"1,\"2\n3\"\n4,\"5\"", "1|2\\n3 / 4|5"),
        (
            &doubled,
            b"\"a\"\"b\",\"c\"x\"d\"\n\"e\\\"f\",\"\"\n",
            "a\\\"b|c\\\"x\\\"d / e\\\\\\\"f|",
        ),
        (&bars, b"a||b|c\n|||\n", "a|b|c / ||"),
        (&starting, b"ab", ""),
        (&starting, b"qqzzab\tcd\nzzzx\ty\nxxx\n", "ab|cd / zx|y"),
        (&endless, b"1\t2\t3\t4\t5", "1|2 / 3|4 / 5"),
        (&one_end, b"1,2,3,4", "1|2 / 3|4"),
        (
            &csv(),
            b"1,\"a \"\"b\"\", c\r\nd\"\r\nNULL,\"NULL\"\r\n",
            "1|a \\\"b\\\", c\\r\\nd / NULL|NULL",
        ),
        (&csv(), b"1,2\r3\r\n", "1|2\\r3"),
    ];
    for (format, text, expected) in cases {
        // The word NULL in an enclosed field is no NULL, though both are written alike here.
        assert_eq!(rows(format, 2, text), expected, "{:?}", String::from_utf8_lossy(text));
    }
}

#[test]
fn the_word_null_is_a_text_where_it_is_enclosed() {
    let rows = read(&mut reader(&csv(), 2), b"NULL,\"NULL\"\r\n", 99).unwrap();
    let nulls: Vec<bool> = rows[0].fields().map(|field| field.is_none()).collect();
    assert_eq!(nulls, [true, false]);
}

#[test]
fn skipped_lines_end_within_enclosures_too() {
    let mut reader = FileReader::new(csv(), Charset::Utf8mb4, 2, None, 1);
    let rows = read(&mut reader, b"1,\"2\r\n3\",4\r\n5,6\r\n", 3).unwrap();
    let first: Vec<_> = rows.iter().map(|row| row.fields().next().flatten().unwrap()).collect();
    assert_eq!(first, [&b"3\""[..], b"5"]);
    // Where lines have no ends rows are skipped.
    let endless = format(["-", "-", "-", "-", ""], false);
    let mut reader = FileReader::new(endless, Charset::Utf8mb4, 2, None, 1);
    assert_eq!(read(&mut reader, b"1\t2\t3\t4\t", 3).unwrap().len(), 1);
}

#[test]
fn fields_of_fixed_width_have_no_ends() {
    let fixed = format(["", "", "-", "-", "-"], false);
    let mut reader = FileReader::new(fixed, Charset::Utf8mb4, 2, Some(vec![3, 4]), 0);
    let rows = read(&mut reader, b"  1abcd\n  2ef\n  3abcdef\n", 2).unwrap();
    let words = |row: &FileRow| {
        let texts = row.fields().map(|field| String::from_utf8_lossy(field.unwrap_or_default()));
        texts.collect::<Vec<_>>().join("|") + if row.extra { "+" } else { "" }
    };
    let words: Vec<String> = rows.iter().map(words).collect();
    assert_eq!(words, ["  1|abcd", "  2|ef", "  3|abcd+"]);
}

#[test]
fn nothing_is_kept_of_what_passes_by() {
    let starting = format(["-", "-", "-", "xyz", "-"], false);
    let mut reader = reader(&starting, 1);
    for _ in 0..1000 {
        reader.push(b"xyxyxyxyxy");
        assert_eq!(reader.next(), Ok(None));
        assert!(reader.pending() < 20, "{}", reader.pending());
    }
}

#[test]
fn a_row_without_an_end_is_refused_once_it_is_too_long() {
    let mut reader = reader(&usual(), 2);
    reader.most = 1000;
    let endless = b"0123456789".repeat(99);
    assert_eq!(read(&mut reader, &endless, 100).unwrap().len(), 1);
    let mut reader = self::reader(&usual(), 2);
    reader.most = 1000;
    let error = read(&mut reader, &endless.repeat(2), 100).unwrap_err();
    assert_eq!(error.code, ErrorCode::NetPacketTooLarge);
}

/// What is written of a text, a number and NULL.
fn written(format: Format, text: &str, number: &str) -> (String, Vec<ErrorCode>) {
    let column = |is_text| Column { is_text, width: 20 };
    let writer = Writer::new(format, vec![column(true), column(false), column(true)]);
    let fields = [Some(text.as_bytes().to_vec()), Some(number.as_bytes().to_vec()), None];
    let mut out = Vec::new();
    writer.write(&fields, &mut out);
    (String::from_utf8(out).unwrap(), writer.warnings().collect())
}

/// Texts that hold every byte that means something somewhere.
const NASTY: [&str; 14] = [
    "",
    "N",
    "NULL",
    "\\",
    "\"",
    "\"\"",
    "\\N",
    "a\tb\nc\0d",
    "a,b\r\nc",
    "';\"\\",
    "\r",
    "née😀\u{1a}",
    "n0tZr",
    "x||y|z\u{8}",
];

#[test]
fn what_is_written_reads_back() {
    let formats = [
        usual(),
        csv(),
        format([",", "\"", "-", "-", "-"], false),
        format([";", "'", "|", "<<", ">>\n"], true),
        format(["||", "-", "-", "-", "\r\n"], false),
        format(["-", "\"", "^", "start: ", "end\n"], false),
        format(["ab", "-", "!", "-", "cd"], false),
    ];
    for format in &formats {
        for text in NASTY {
            for other in NASTY {
                let fields =
                    [Some(text.as_bytes().to_vec()), None, Some(other.as_bytes().to_vec())];
                let columns = vec![Column { is_text: true, width: 20 }; 3];
                let writer = Writer::new(format.clone(), columns);
                let mut out = Vec::new();
                writer.write(&fields, &mut out);
                writer.write(&fields, &mut out);
                let rows = read(&mut reader(format, 3), &out, 7).unwrap();
                let back = |row: &FileRow| -> Vec<Option<Vec<u8>>> {
                    row.fields().map(|field| field.map(<[u8]>::to_vec)).collect()
                };
                let got: Vec<_> = rows.iter().map(back).collect();
                let text = String::from_utf8_lossy(&out);
                assert_eq!(got, [&fields[..], &fields], "{format:?} {text:?}");
            }
        }
    }
}

#[test]
fn ends_that_look_like_names_or_numbers_are_warned_of() {
    let with_end = |end| format([end, "-", "-", "-", "-"], false);
    let text = written(with_end("n"), "banana", "5");
    assert_eq!(text, ("bananan5n\\N\n".to_owned(), vec![ErrorCode::AmbiguousFieldTerm]));
    let text = written(with_end("1"), "a1", "21");
    assert_eq!(text, ("a11211\\N\n".to_owned(), vec![ErrorCode::AmbiguousFieldTerm]));
    let enclosed = format([",", "n", "-", "-", "-"], false);
    assert_eq!(written(enclosed, "banana", "5"), ("nbannannan,n5n,\\N\n".to_owned(), vec![]));
    let text = written(with_end("é"), "a", "5");
    assert_eq!(text.1, [ErrorCode::WarnNonAsciiSeparatorNotImplemented]);
}

const ELEMENTS: &str = r#"<?xml version="1.0"?>
<!-- a comment <row a="9"> -->
<list c="out">
  <row a="1" b="x &amp; y"/>
  <row a='2'><b>two</b></row>
  <row><field name="a">3</field><field name='b'>th
ree</field></row>
  <row><a>4</a><b></b><c/></row>
  <row a="5" b=""><c>  in </c></row>
  <ROW a="6"/>
  <row><A>7</A></row>
  <row a="8"><b><![CDATA[<x>]]></b></row>
  <other a="9" b="n"/>
  <row></row>
  <row a="10"><b>&#65;&lt;&unknown;</b><d>1</d></row>
</list>
"#;

/// The rows of a text of elements, read in pieces of every size.
#[track_caller]
fn elements(row: &str, skipped: u64, text: &str) -> String {
    let words = |size: usize| {
        let wanted = ["a", "b", "c"].map(str::to_owned).to_vec();
        let mut reader = XmlReader::new(row, wanted, skipped);
        let mut rows = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            reader.push(piece);
            while let Some(row) = reader.next().unwrap() {
                rows.push(row.fields().map(shown).collect::<Vec<_>>().join("|"));
            }
        }
        rows.join(" / ")
    };
    let whole = words(text.len());
    for size in 1..20 {
        assert_eq!(words(size), whole, "pieces of {size}");
    }
    whole
}

/// As MySQL 8.0.31 reads them.
#[test]
fn elements_and_attributes_are_rows() {
    assert_eq!(
        elements("<row>", 0, ELEMENTS),
        "1|x & y|out / 2|two|out / 3|th\\nree|out / 4|NULL|out / 5|NULL|in / NULL|NULL|out / \
         8|<x>|out / NULL|NULL|out / 10|&#65;<&unknown;|out"
    );
    assert_eq!(elements("<other>", 0, ELEMENTS), "9|n|out");
    assert_eq!(elements("<row>", 8, ELEMENTS), "10|&#65;<&unknown;|out");
    assert_eq!(elements("row", 0, ELEMENTS), "");
    assert_eq!(elements("", 0, ELEMENTS), "");
}

#[test]
fn broken_elements_end_no_row() {
    assert_eq!(elements("<row>", 0, "<row a='1'><row a='2'/><b>x</row></b>"), "2|NULL|NULL");
    assert_eq!(elements("<row>", 0, "</row><row a='1'"), "");
    assert_eq!(
        elements("<row>", 0, "<row a=1 b='x'/><row a='>'/>"),
        "NULL|NULL|NULL / >|NULL|NULL"
    );
}
