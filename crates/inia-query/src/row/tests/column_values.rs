//! Columns of many rows hold what the cells of the single rows do.

use super::*;

/// The number that a cell stands for.
fn bits(cell: &Cell<'_>) -> Option<u64> {
    match cell {
        Cell::Null => None,
        Cell::Int(value) => Some(*value as u64),
        Cell::UInt(value) => Some(*value),
        Cell::Date(value) => Some(u64::from(pack_date(*value))),
        Cell::DateTime(value) => Some(pack_datetime(*value)),
        other => panic!("{other:?} is no number"),
    }
}

#[test]
fn columns_of_rows_are_the_cells_of_each() {
    let types = all_types();
    for nulls in [false, true] {
        let layout = RowLayout::new(types.iter().map(|(t, _)| (t, nulls)));
        let values: Vec<Value> = types.iter().map(|(_, v)| v.clone()).collect();
        let mut rows = [Vec::new(), Vec::new()];
        layout.encode_values(&values, &TimeZone::utc(), &mut rows[0]).unwrap();
        let empty = vec![Value::Null; types.len()];
        layout
            .encode_values(if nulls { &empty } else { &values }, &TimeZone::utc(), &mut rows[1])
            .unwrap();
        for (column, (data_type, _)) in types.iter().enumerate() {
            let cells: Vec<Cell<'_>> =
                rows.iter().map(|row| layout.cell(row, column).unwrap()).collect();
            let (mut numbers, mut texts) = (Vec::new(), Vec::new());
            let slices = || rows.iter().map(Vec::as_slice);
            let given = layout.numbers(column, slices(), |number| numbers.push(number)).unwrap();
            assert_eq!(given, is_number(data_type), "{data_type:?}");
            if given {
                assert!(numbers.iter().copied().eq(cells.iter().map(bits)), "{data_type:?}");
            }
            let given = layout.bytes(column, slices().map(Ok), |text| texts.push(text)).unwrap();
            if given {
                let expected = cells.iter().map(|cell| match cell {
                    Cell::Text(text) => Some(text.as_bytes()),
                    Cell::Bytes(bytes) => Some(*bytes),
                    _ => None,
                });
                assert!(texts.into_iter().eq(expected), "{data_type:?}");
            } else if *data_type != DataType::Json {
                // A document is stored with marks that its printed form leaves out.
                assert!(!matches!(cells[0], Cell::Text(_) | Cell::Bytes(_)), "{data_type:?}");
            }
            for cut in 0..rows[0].len().min(100) {
                let short = std::iter::once(&rows[0][..cut]);
                let _ = layout.numbers(column, short.clone(), |_| {});
                let _ = layout.bytes(column, short.map(Ok), |_| {});
            }
        }
    }
}

/// The entries of a leaf that has one.
struct OneEntry<'a> {
    prefix: &'a [u8],
    suffix: &'a [u8],
    value: &'a [u8],
}

impl<'a> IndexEntries<'a> for OneEntry<'a> {
    fn prefix(&self) -> &'a [u8] {
        self.prefix
    }
    fn suffix(&self, _: usize) -> &'a [u8] {
        self.suffix
    }
    fn value(&self, _: usize) -> &'a [u8] {
        self.value
    }
}

/// A table with a primary key of a date and a number, and an index over a number and a text.
fn dated(kind: IndexKind, descending: bool, nullable: bool) -> TableDef {
    let mut def = table(vec![
        index(IndexKind::Primary, &[(0, descending), (1, false)]),
        index(kind, &[(2, descending), (3, false), (4, descending)]),
    ]);
    def.columns = vec![
        column("day", DataType::Date, false),
        column("id", DataType::Int { width: IntWidth::Medium, unsigned: true }, false),
        column("k", DataType::Int { width: IntWidth::Big, unsigned: false }, nullable),
        column("c", varchar(10), true),
        column("late", DataType::Int { width: IntWidth::Tiny, unsigned: false }, true),
    ];
    def
}

#[test]
fn columns_of_entries_are_the_cells_of_each_wherever_the_prefix_ends() {
    let dates = [(1, 1, 1), (2024, 2, 29), (9999, 12, 31)];
    let numbers = [i64::MIN, -1, 0, 1, 0x0102_0304_0506_0708, i64::MAX];
    let shapes = [IndexKind::Plain, IndexKind::Unique].into_iter();
    let shapes = shapes.flat_map(|kind| [(kind, false), (kind, true)]);
    for ((kind, descending), nullable) in shapes.flat_map(|shape| [(shape, false), (shape, true)]) {
        let def = dated(kind, descending, nullable);
        let codec = IndexCodec::new(&def, 1);
        for (i, &number) in numbers.iter().enumerate() {
            let (year, month, day) = dates[i % 3];
            let null = nullable && i % 2 == 1;
            let row = [
                Value::Date(Date { year, month, day }),
                Value::UInt(i as u64 * 0x1111),
                if null { Value::Null } else { Value::Int(number) },
                if i == 2 { Value::Null } else { Value::Text("x".repeat(i)) },
                Value::Int(-5),
            ];
            let (_, key, value, _) = entry(&def, 1, &row);
            for cut in 0..=key.len() {
                let at = OneEntry { prefix: &key[..cut], suffix: &key[cut..], value: &value };
                for (column, def) in def.columns.iter().enumerate() {
                    let cell = codec.cell(&key, &value, column).unwrap();
                    let (mut number, mut text) = (None, None);
                    if is_number(&def.data_type)
                        && codec.numbers(column, &at, 0..1, |bits| number = Some(bits)).unwrap()
                    {
                        assert_eq!(number, Some(bits(&cell)), "{kind:?} {column} {cut}");
                    }
                    if codec.bytes(column, &at, 0..1, |bytes| text = Some(bytes)).unwrap() {
                        let Some(Some(bytes)) = text else {
                            assert_eq!(cell, Cell::Null);
                            continue;
                        };
                        assert_eq!(cell, Cell::Text(std::str::from_utf8(bytes).unwrap()));
                    }
                }
            }
            // A unique entry with a NULL keeps the primary key in its value all the same.
            for short in 0..key.len() {
                let at = OneEntry { prefix: &[], suffix: &key[..short], value: &[] };
                (0..5).for_each(|column| {
                    let _ = codec.numbers(column, &at, 0..1, |_| {});
                    let _ = codec.bytes(column, &at, 0..1, |_| {});
                });
            }
        }
    }
}

#[test]
fn decimals_of_rows_are_the_coefficients_of_their_values() {
    let mut columns = Vec::new();
    for (precision, scale) in [(1, 0), (4, 2), (5, 5), (9, 3), (15, 2), (18, 18), (19, 0), (38, 10)]
    {
        let greatest = 10i128.pow(precision.into()) - 1;
        for coefficient in [0, 1, -1, 128, -128, 255, -256, greatest, -greatest] {
            if coefficient.abs() <= greatest {
                columns.push((precision, scale, coefficient));
            }
        }
    }
    let decimal = |precision, scale| DataType::Decimal { precision, scale, unsigned: false };
    for nulls in [false, true] {
        let types: Vec<DataType> = columns.iter().map(|c| decimal(c.0, c.1)).collect();
        let layout = RowLayout::new(types.iter().map(|data_type| (data_type, nulls)));
        let value = |&(_, scale, coefficient): &(u8, u8, i128)| {
            Value::Decimal(Decimal::from_i128(coefficient, scale))
        };
        let values: Vec<Value> = columns.iter().map(value).collect();
        let mut rows = vec![Vec::new()];
        layout.encode_values(&values, &TimeZone::utc(), &mut rows[0]).unwrap();
        if nulls {
            rows.push(Vec::new());
            let nulls = vec![Value::Null; columns.len()];
            layout.encode_values(&nulls, &TimeZone::utc(), &mut rows[1]).unwrap();
        }
        for (column, (precision, scale, coefficient)) in columns.iter().enumerate() {
            let mut found = Vec::new();
            let slices = rows.iter().map(Vec::as_slice);
            assert!(layout.decimals(column, slices, |number| found.push(number)).unwrap());
            let expected = [Some(*coefficient), None];
            assert_eq!(found, expected[..rows.len()], "DECIMAL({precision}, {scale})");
            for cut in 0..rows[0].len().min(100) {
                let _ = layout.decimals(column, std::iter::once(&rows[0][..cut]), |_| {});
            }
        }
    }
}
