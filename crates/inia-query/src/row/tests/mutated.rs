//! Damaged rows and index entries are errors or other values, never panics.

use super::*;
use inia_base::column::RowSink;
use inia_testkit::{Random, RowCounter, mutate};

#[test]
fn damaged_rows_are_refused_or_have_values_that_can_be_shown_and_stored() {
    let types = all_types();
    let layout = RowLayout::new(types.iter().map(|(t, _)| (t, true)));
    let mut row: Vec<Value> = types.iter().map(|(_, v)| v.clone()).collect();
    let zone = TimeZone::parse("Europe/Berlin").unwrap();
    let mut rows = Vec::new();
    for long in [false, true] {
        row[11] = Value::Text("x".repeat(if long { 70_000 } else { 7 }));
        let mut bytes = Vec::new();
        layout.encode_values(&row, &zone, &mut bytes).unwrap();
        rows.push(bytes);
    }
    let mut random = Random::new(11);
    let mut shown = 0;
    for round in 0..mutate::rounds(20_000) {
        // Long rows take long to copy, and differ in the width of their ends alone.
        let which = usize::from(round % 16 == 0);
        let mut bytes = rows[which].clone();
        mutate::bytes(&mut random, &mut bytes, &rows[0]);
        let mut sink = RowCounter::default();
        sink.begin_row();
        for (column, (data_type, _)) in types.iter().enumerate() {
            let _ = layout.emit(&bytes, column, &zone, &mut sink);
            let Ok(value) = layout.value(&bytes, column, &zone) else { continue };
            let one = RowLayout::new([(data_type, true)].into_iter());
            let mut again = Vec::new();
            one.encode_values(std::slice::from_ref(&value), &zone, &mut again).unwrap();
            assert!(one.cell(&again, 0).is_ok(), "{value:?}");
            shown += 1;
        }
        if let Ok(cell) = layout.cell(&rows[0], random.index(types.len())) {
            let column = random.index(types.len());
            let _ = layout.holds(&bytes, column, &cell);
            let _ = layout.put(&mut bytes, column, &cell);
        }
    }
    assert!(shown > 1_000, "damage must not all be found at the first byte");
}

#[test]
fn damaged_index_entries_are_refused_or_have_values() {
    let primary = index(IndexKind::Primary, &[(1, true), (0, false)]);
    let mut random = Random::new(12);
    for kind in [IndexKind::Plain, IndexKind::Unique] {
        let second = index(kind, &[(2, false), (1, true)]);
        let def = table(vec![primary.clone(), second]);
        let codec = IndexCodec::new(&def, 1);
        let row = [Value::Text("Row1".into()), Value::Int(-5), Value::Text("Ä\0b".into())];
        let (_, key, value, _) = entry(&def, 1, &row);
        for _ in 0..mutate::rounds(10_000) {
            let (mut key, mut value) = (key.clone(), value.clone());
            if random.chance(2, 3) {
                mutate::bytes(&mut random, &mut key, &value);
            }
            if random.chance(2, 3) {
                mutate::bytes(&mut random, &mut value, &key);
            }
            let _ = codec.primary_key(&key, &value);
            for column in 0..3 {
                if let Ok(cell) = codec.cell(&key, &value, column) {
                    cell.value(&def.columns[column].data_type, &TimeZone::utc());
                }
            }
        }
    }
}
