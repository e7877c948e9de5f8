//! Rows come back as they went in.

use super::*;

#[test]
fn rows_come_back_by_key_the_last_one_first() {
    let mut table = JoinTable::new(2);
    for i in 0..1000i64 {
        let key = format!("{}", i % 10);
        table.add(
            &key.as_bytes()[..key.len() - usize::from(i % 10 == 3)],
            [Value::Int(i), Value::Null].into_iter(),
        );
    }
    table.seal();
    let found = |key: &str| -> Vec<i64> {
        let number = |row: &[Value]| match row[0] {
            Value::Int(v) => v,
            _ => -1,
        };
        table.matches(key.as_bytes()).map(number).collect()
    };
    let last_first = |digit: i64| (0..100).rev().map(move |tens| 10 * tens + digit);
    assert!(found("7").into_iter().eq(last_first(7)));
    assert!(found("").into_iter().eq(last_first(3)));
    assert!(found("3").is_empty());
    assert!(found("77").is_empty());
    assert_eq!(table.rows().count(), 1000);
}

#[test]
fn an_empty_table_has_no_matches() {
    let mut table = JoinTable::new(1);
    table.seal();
    assert!(table.is_empty());
    assert_eq!(table.matches(b"").count(), 0);
}
