//! Rows and index entries come back as they went in, and keys sort as SQL sorts.

mod column_values;
mod mutated;

use super::*;
use crate::error::Damaged;
use crate::table_def::{ColumnDef, IndexDef, IndexKind, IndexPart, TableDef, TableId};
use inia_base::collation::Collation;
use inia_base::datatype::{DataType, IntWidth, LobSize};
use inia_base::decimal::Decimal;
use inia_base::ids::TreeId;
use inia_base::temporal::{Date, DateTime, Time, TimeZone};
use inia_base::value::Value;

const INT: DataType = DataType::Int { width: IntWidth::Int, unsigned: false };

const TEXT: DataType = DataType::Text { size: LobSize::Long, collation: Collation::DEFAULT };

fn varchar(chars: u32) -> DataType {
    DataType::VarChar { chars, collation: Collation::DEFAULT }
}

fn all_types() -> Vec<(DataType, Value)> {
    let members: std::sync::Arc<[String]> = ["a", "b", "c"].map(String::from).into();
    let collation = Collation::DEFAULT;
    let date = Date { year: 2024, month: 2, day: 29 };
    let datetime = DateTime { date, hour: 23, minute: 59, second: 58, micros: 123_456 };
    let int = |width, unsigned| DataType::Int { width, unsigned };
    let decimal: Decimal = Decimal::from_i128(-12_345, 2);
    vec![
        (int(IntWidth::Tiny, false), Value::Int(-128)),
        (int(IntWidth::Small, true), Value::UInt(65_535)),
        (int(IntWidth::Medium, false), Value::Int(-8_388_608)),
        (INT, Value::Int(i64::from(i32::MIN))),
        (int(IntWidth::Big, true), Value::UInt(u64::MAX)),
        (DataType::Bit(9), Value::UInt(257)),
        (DataType::Decimal { precision: 10, scale: 2, unsigned: false }, Value::Decimal(decimal)),
        (DataType::Float { decimals: None, unsigned: false }, Value::Double(-1.5)),
        (DataType::Double { decimals: None, unsigned: false }, Value::Double(-1.25e300)),
        (DataType::Char { chars: 5, collation }, Value::Text("hé".into())),
        (varchar(20), Value::Text(String::new())),
        (TEXT, Value::Text("x".repeat(70_000))),
        (DataType::VarBinary(3), Value::Bytes(vec![0, 255, 0])),
        (DataType::Date, Value::Date(date)),
        (DataType::Time { fsp: 6 }, Value::Time(Time { micros: -1_500_000 })),
        (DataType::DateTime { fsp: 6 }, Value::DateTime(datetime)),
        (DataType::Timestamp { fsp: 6 }, Value::DateTime(datetime)),
        (DataType::Year, Value::UInt(2024)),
        (DataType::Enum { members: members.clone(), collation }, Value::UInt(2)),
        (DataType::Set { members, collation }, Value::UInt(5)),
        (DataType::Json, Value::Json("{}".into())),
    ]
}

#[test]
fn every_type_survives_the_row() {
    let types = all_types();
    let layout = RowLayout::new(types.iter().map(|(t, _)| (t, true)));
    let row: Vec<Value> = types.iter().map(|(_, v)| v.clone()).collect();
    let mut bytes = Vec::new();
    layout.encode_values(&row, &TimeZone::utc(), &mut bytes).unwrap();
    let mut back = Vec::new();
    layout.decode(&bytes, &TimeZone::utc(), &mut back).unwrap();
    assert_eq!(back, row);
    for cut in 0..bytes.len().min(200) {
        let _ = layout.decode(&bytes[..cut], &TimeZone::utc(), &mut back);
    }
}

#[test]
fn nulls_take_a_bit_and_columns_are_replaced_where_they_stand() {
    let layout = RowLayout::new([(&INT, false), (&INT, true), (&varchar(9), true)].into_iter());
    let mut bytes = Vec::new();
    layout
        .encode_values(
            &[Value::Int(7), Value::Null, Value::Text("ab".into())],
            &TimeZone::utc(),
            &mut bytes,
        )
        .unwrap();
    assert_eq!(bytes, [2, 7, 0, 0, 0, 0, 0, 0, 0, 2, 0, b'a', b'b']);
    layout.put(&mut bytes, 1, &Cell::Int(9)).unwrap();
    assert_eq!(bytes, [0, 7, 0, 0, 0, 9, 0, 0, 0, 2, 0, b'a', b'b']);
    layout.put(&mut bytes, 2, &Cell::Text("xyz")).unwrap();
    assert_eq!(bytes, [0, 7, 0, 0, 0, 9, 0, 0, 0, 3, 0, b'x', b'y', b'z']);
    layout.put(&mut bytes, 2, &Cell::Null).unwrap();
    assert_eq!(bytes, [4, 7, 0, 0, 0, 9, 0, 0, 0, 0, 0]);
    assert_eq!(layout.put(&mut bytes, 0, &Cell::Null), Err(Damaged));
}

#[test]
fn a_replaced_column_leaves_what_a_row_of_the_new_values_has() {
    let types = [(&INT, true), (&varchar(9), true), (&TEXT, true), (&varchar(9), false)];
    let layout = RowLayout::new(types.into_iter());
    let zone = TimeZone::utc();
    let encoded = |row: &[Value]| {
        let mut bytes = Vec::new();
        layout.encode_values(row, &zone, &mut bytes).unwrap();
        bytes
    };
    let text = |length: usize| Value::Text("t".repeat(length));
    // Rows change the width of their ends around 65,535 variable bytes.
    let lengths = [Value::Null, text(0), text(3), text(65_000), text(65_533), text(65_534)];
    for old in &lengths {
        let mut row = vec![Value::Int(1), text(2), old.clone(), text(1)];
        let before = encoded(&row);
        for new in &lengths {
            for column in 0..4 {
                row = vec![Value::Int(1), text(2), old.clone(), text(1)];
                row[column] = match (column, new) {
                    (0, Value::Null) => Value::Null,
                    (0, _) => Value::Int(2),
                    (3, Value::Null) => continue,
                    _ => new.clone(),
                };
                let mut bytes = before.clone();
                let cell = Cell::of(&row[column], layout.data_type(column), &zone);
                let same = layout.holds(&bytes, column, &cell).unwrap();
                layout.put(&mut bytes, column, &cell).unwrap();
                assert_eq!(same, bytes == before);
                assert!(bytes == encoded(&row), "column {column}: {old:?}");
                assert!(layout.holds(&bytes, column, &cell).unwrap());
            }
        }
    }
}

fn column(name: &str, data_type: DataType, nullable: bool) -> ColumnDef {
    ColumnDef::new(name, data_type, nullable)
}

fn index(kind: IndexKind, parts: &[(usize, bool)]) -> IndexDef {
    IndexDef {
        name: String::from("k"),
        kind,
        parts: parts
            .iter()
            .map(|&(column, descending)| IndexPart { column, prefix: None, descending })
            .collect(),
        comment: String::new(),
        visible: true,
        using: None,
        for_foreign_key: false,
        ngrams: false,
        element: None,
        clustered: kind == IndexKind::Primary,
        tree: TreeId(1),
    }
}

fn table(indexes: Vec<IndexDef>) -> TableDef {
    TableDef {
        id: TableId(1),
        schema: "test".into(),
        name: "t".into(),
        columns: vec![
            column("id", varchar(10), false),
            column("k", INT, true),
            column("c", varchar(10), true),
        ],
        indexes,
        foreign_keys: vec![],
        checks: vec![],
        clustered: TreeId(1),
        engine: "InnoDB".into(),
        collation: Collation::DEFAULT,
        comment: String::new(),
        auto_increment: 0,
        options: vec![],
        created: 0,
        temporary: false,
        histograms: vec![],
        partitioning: None,
        union: None,
    }
}

type Encoded = (Vec<u8>, Vec<u8>, Vec<u8>, bool);

fn entry(def: &TableDef, number: usize, row: &[Value]) -> Encoded {
    let cell = |i: usize| Ok(Cell::of(&row[i], &def.columns[i].data_type, &TimeZone::utc()));
    let (mut primary, mut key, mut value) = (vec![], vec![], vec![]);
    IndexCodec::new(def, 0).put_clustered_key(cell, &mut primary).unwrap();
    let unique =
        IndexCodec::new(def, number).put_entry(cell, &primary, &mut key, &mut value).unwrap();
    (primary, key, value, unique)
}

#[test]
fn entries_lead_to_their_row_and_cover_their_columns() {
    let primary = index(IndexKind::Primary, &[(0, false)]);
    for kind in [IndexKind::Plain, IndexKind::Unique] {
        let def = table(vec![primary.clone(), index(kind, &[(2, false), (1, true)])]);
        for row in [
            [Value::Text("Row1".into()), Value::Int(-5), Value::Text("Äb".into())],
            [Value::Text("Row2".into()), Value::Null, Value::Null],
        ] {
            let (primary, key, value, unique) = entry(&def, 1, &row);
            let codec = IndexCodec::new(&def, 1);
            assert_eq!(codec.primary_key(&key, &value).unwrap(), primary);
            assert_eq!(unique, kind == IndexKind::Unique && row[1] != Value::Null);
            for (i, expected) in row.iter().enumerate() {
                assert!(codec.covers(i));
                let cell = codec.cell(&key, &value, i).unwrap();
                assert_eq!(cell.value(&def.columns[i].data_type, &TimeZone::utc()), *expected);
            }
        }
    }
}

#[test]
fn keys_sort_as_sql_sorts() {
    let primary = index(IndexKind::Primary, &[(0, false)]);
    let key = |descending: bool, k: Value| {
        let def =
            table(vec![primary.clone(), index(IndexKind::Plain, &[(1, descending), (2, false)])]);
        entry(&def, 1, &[Value::Text("r".into()), k, Value::Text("c".into())]).1
    };
    let ordered = [Value::Null, Value::Int(-70_000), Value::Int(-1), Value::Int(0), Value::Int(9)];
    for pair in ordered.windows(2) {
        assert!(key(false, pair[0].clone()) < key(false, pair[1].clone()));
        assert!(key(true, pair[0].clone()) > key(true, pair[1].clone()));
    }
    let mut prefix = vec![1, 255, 255];
    assert!(prefix_successor(&mut prefix));
    assert_eq!(prefix, [2]);
    assert!(!prefix_successor(&mut vec![255]));
}
