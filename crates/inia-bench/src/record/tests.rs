//! The schema, held to a file of sample lines that readers are written against.

use super::{Method, Record};

const SAMPLE: &str = include_str!("../../tests/sample.jsonl");

#[test]
fn the_sample_is_read_and_written_back_unchanged() {
    let records: Vec<Record> =
        SAMPLE.lines().map(|line| Record::parse(line).expect("a record")).collect();
    assert!(records.len() >= 4);
    for (record, line) in records.iter().zip(SAMPLE.lines()) {
        assert_eq!(record.line(), line);
    }
}

#[test]
fn repetitions_have_one_hash_and_other_settings_another() {
    let mut first = Record::default();
    let mut second = Record {
        method: Method { round: 2, ..Method::default() },
        at: "later".to_owned(),
        ..Record::default()
    };
    first.seal();
    second.seal();
    assert_eq!(first.hash, second.hash);
    second.target.settings.insert("sync".to_owned(), "off".to_owned());
    second.seal();
    assert_ne!(first.hash, second.hash);
}

#[test]
fn another_schema_is_refused() {
    let line = Record { schema: 99, ..Record::default() }.line();
    assert!(Record::parse(&line).unwrap_err().contains("schema 99"));
}
