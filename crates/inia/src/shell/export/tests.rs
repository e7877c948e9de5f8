//! Cells that other programs read.

use super::*;

fn column(name: &str, type_code: u8, collation: u16) -> ColumnDef {
    ColumnDef { name: name.to_owned(), type_code, collation, ..ColumnDef::default() }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn csv(columns: &[ColumnDef], rows: &[&[Value]]) -> String {
    let mut out = Vec::new();
    let mut csv = Csv::new(&mut out, columns).unwrap();
    rows.iter().for_each(|row| csv.row(row).unwrap());
    String::from_utf8(out).unwrap()
}

fn json(columns: &[ColumnDef], rows: &[&[Value]]) -> String {
    let mut out = Vec::new();
    let mut json = Json::new(&mut out, columns).unwrap();
    rows.iter().for_each(|row| json.row(row).unwrap());
    json.finish().unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn csv_distinguishes_null_from_an_empty_text() {
    let columns = [column("a", 253, 255), column("b,\"", 253, 255), column("n", 16, 63)];
    let rows: [&[Value]; 3] = [
        &[text("x"), text(""), Value::Bytes(vec![1, 2])],
        &[Value::Null, text("two\nlines, \"q\""), Value::Null],
        &[text("\\N"), text(" "), Value::Null],
    ];
    assert_eq!(
        csv(&columns, &rows),
        "a,\"b,\"\"\",n\r\nx,\"\",258\r\n,\"two\nlines, \"\"q\"\"\",\r\n\"\\N\", ,\r\n"
    );
    let rows: [&[Value]; 2] = [&[Value::Null], &[text("")]];
    assert_eq!(csv(&columns[..1], &rows), "a\r\n\\N\r\n\"\"\r\n");
}

#[test]
fn json_keeps_the_digits_of_numbers() {
    let columns = [
        column("n", ty::NEWDECIMAL, 63),
        column("N", ty::LONG, 63),
        column("doc", ty::JSON, 63),
        column("s", 253, 255),
        column("bytes", ty::BLOB, 63),
        column("bits", ty::BIT, 63),
    ];
    let rows: [&[Value]; 2] = [
        &[
            text("12345678901234567890.50"),
            text("007"),
            text("{\"a\": [1]}"),
            text("\"\\\u{1}\n"),
            Value::Bytes(vec![0, 255]),
            Value::Bytes(vec![5]),
        ],
        &[text("-0.50"), text("000"), Value::Null, text("ä"), text("ab"), Value::Null],
    ];
    assert_eq!(
        json(&columns, &rows),
        "[\n{\"n\":12345678901234567890.50,\"N_2\":7,\"doc\":{\"a\": [1]},\
         \"s\":\"\\\"\\\\\\u0001\\n\",\"bytes\":\"00ff\",\"bits\":5},\n\
         {\"n\":-0.50,\"N_2\":0,\"doc\":null,\"s\":\"ä\",\"bytes\":\"6162\",\"bits\":null}\n]\n"
    );
    assert_eq!(json(&columns, &[]), "[\n]\n");
    assert_eq!(without_zeros("000.5"), "0.5");
}
