//! Rows of a batch as a record of a stream, column by column.
//!
//! A record has the number of its rows, a mark (both u32), and a column of each slot that writer
//! and reader have agreed on. Numbers are written as they are; a text is its length, all lengths
//! of a column standing before its bytes:
//!
//! ```text
//!   2 | mark | small, no NULL: 7, 9 | texts: 3, NULL, "abc"
//! ```

use super::batch::{Batch, Rows};
use super::column::Column;
use super::numbers::{Numbers, Values};
use super::texts::TextBuilder;
use crate::plan::batches::BatchSlot;
use crate::plan::vector::{NumberKind, VectorForm};
use crate::spill::{decode_tuple, encode_tuple};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use std::sync::Arc;

const SMALL: u8 = 0;
const WIDE: u8 = 1;
const TEXTS: u8 = 2;
const VALUES: u8 = 3;

/// The length that stands for NULL.
const NULL: u32 = u32::MAX;

/// A record that is not what was written.
pub(super) fn damaged_record() -> SqlError {
    SqlError::new(ErrorCode::InternalError, &[&"a batch cannot be read back"])
}

/// Appends the rows of a batch at these places, with the columns of these slots.
pub(super) fn write_rows(
    (batch, places): (&Batch, &[u32]),
    slots: &[BatchSlot],
    mark: u32,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(&(places.len() as u32).to_le_bytes());
    out.extend_from_slice(&mark.to_le_bytes());
    for slot in slots {
        match batch.column(slot.slot) {
            Some(column) => write_column(column, places, out),
            None => debug_assert!(false, "a batch has the slots that are read above it"),
        }
    }
}

/// The rows that [`write_rows`] wrote, and their mark.
pub(super) fn read_rows(record: &[u8], slots: &[BatchSlot]) -> Result<(Batch, u32), SqlError> {
    read(record, slots).ok_or_else(damaged_record)
}

fn read(record: &[u8], slots: &[BatchSlot]) -> Option<(Batch, u32)> {
    let (rows, rest) = record.split_first_chunk::<4>()?;
    let (mark, mut rest) = rest.split_first_chunk::<4>()?;
    let rows = u32::from_le_bytes(*rows) as usize;
    let mut batch = Batch::of_rows(rows);
    for slot in slots {
        let column = read_column(&mut rest, rows, slot.form)?;
        batch.put(slot.slot, column);
    }
    debug_assert_eq!(batch.rows(), rows, "a record has all its rows");
    rest.is_empty().then_some((batch, u32::from_le_bytes(*mark)))
}

fn write_column(column: &Column, places: &[u32], out: &mut Vec<u8>) {
    let rows = || places.iter().map(|place| *place as usize);
    match column {
        Column::Numbers(numbers, _) => match &numbers.values {
            Values::Small(values) => {
                write_nulls(SMALL, numbers, places, out);
                rows().for_each(|row| out.extend_from_slice(&values[row].to_le_bytes()));
            }
            Values::One(_) | Values::Wide(_) => {
                write_nulls(WIDE, numbers, places, out);
                rows().for_each(|row| out.extend_from_slice(&numbers.get(row).to_le_bytes()));
            }
        },
        Column::Texts(texts) => {
            out.push(TEXTS);
            for row in rows() {
                let length = texts.get(row).map_or(NULL, |text| text.len() as u32);
                out.extend_from_slice(&length.to_le_bytes());
            }
            rows().filter_map(|row| texts.get(row)).for_each(|text| out.extend_from_slice(text));
        }
        Column::Values(values) => {
            out.push(VALUES);
            let start = out.len();
            out.extend_from_slice(&[0; 4]);
            rows().for_each(|row| encode_tuple(&values[row..=row], out));
            let length = (out.len() - start - 4) as u32;
            out[start..start + 4].copy_from_slice(&length.to_le_bytes());
        }
    }
}

/// Appends the tag of numbers, whether some are NULL, and which.
fn write_nulls(tag: u8, numbers: &Numbers, places: &[u32], out: &mut Vec<u8>) {
    let any = places.iter().any(|place| numbers.is_null(*place as usize));
    out.extend_from_slice(&[tag, u8::from(any)]);
    if any {
        out.extend(places.iter().map(|place| u8::from(numbers.is_null(*place as usize))));
    }
}

fn read_column(bytes: &mut &[u8], rows: usize, form: VectorForm) -> Option<Column> {
    let kind = match form {
        VectorForm::Numbers(kind) => kind,
        VectorForm::Texts | VectorForm::Values => NumberKind::Int { unsigned: false },
    };
    match *take(bytes, 1)?.first()? {
        SMALL => {
            let nulls = read_nulls(bytes, rows)?;
            let (words, _) = take(bytes, rows.checked_mul(8)?)?.as_chunks::<8>();
            let values = words.iter().map(|word| i64::from_le_bytes(*word)).collect();
            Some(Column::Numbers(Arc::new(Numbers::small(values, nulls)), kind))
        }
        WIDE => {
            let nulls = read_nulls(bytes, rows)?;
            let (words, _) = take(bytes, rows.checked_mul(16)?)?.as_chunks::<16>();
            let values = words.iter().map(|word| i128::from_le_bytes(*word)).collect();
            Some(Column::Numbers(Arc::new(Numbers::wide(values, nulls)), kind))
        }
        TEXTS => {
            let (lengths, _) = take(bytes, rows.checked_mul(4)?)?.as_chunks::<4>();
            let mut texts = TextBuilder::default();
            for length in lengths {
                match u32::from_le_bytes(*length) {
                    NULL => texts.push(None),
                    length => texts.push(Some(take(bytes, length as usize)?)),
                }
            }
            Some(Column::Texts(texts.finish()))
        }
        VALUES => {
            let length = u32::from_le_bytes(*take(bytes, 4)?.first_chunk()?);
            let mut values: Vec<Value> = Vec::with_capacity(rows);
            decode_tuple(take(bytes, length as usize)?, &mut values)?;
            (values.len() == rows).then_some(Column::Values(values))
        }
        _ => None,
    }
}

fn read_nulls(bytes: &mut &[u8], rows: usize) -> Option<Vec<bool>> {
    match take(bytes, 1)?.first()? {
        0 => Some(Vec::new()),
        _ => Some(take(bytes, rows)?.iter().map(|null| *null != 0).collect()),
    }
}

fn take<'b>(bytes: &mut &'b [u8], length: usize) -> Option<&'b [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

/// A column of numbers that are in no slot of a row: keys, or the places of rows.
pub(super) fn number_column(values: Vec<i64>) -> Column {
    let numbers = Numbers::small(values, Vec::new());
    Column::Numbers(Arc::new(numbers), NumberKind::Int { unsigned: false })
}

#[cfg(test)]
mod tests {
    //! What is written is read back.

    use super::{number_column, read_rows, write_rows};
    use crate::exec::vector::batch::{Batch, Rows};
    use crate::exec::vector::column::{Column, ColumnBuilder};
    use crate::plan::batches::BatchSlot;
    use crate::plan::vector::{NumberKind, VectorForm};
    use inia_base::value::Value;

    #[test]
    fn rows_come_back_as_they_were() {
        let forms = [
            VectorForm::Numbers(NumberKind::Int { unsigned: false }),
            VectorForm::Numbers(NumberKind::Int { unsigned: true }),
            VectorForm::Texts,
            VectorForm::Values,
        ];
        let rows = [
            [Value::Int(-7), Value::UInt(u64::MAX), Value::Text("abc".into()), Value::Double(0.5)],
            [Value::Null, Value::UInt(3), Value::Null, Value::Null],
            [Value::Int(i64::MIN), Value::Null, Value::Text(String::new()), Value::Double(-0.0)],
        ];
        let slots: Vec<BatchSlot> =
            forms.iter().enumerate().map(|(slot, &form)| BatchSlot { slot, form }).collect();
        let mut batch = Batch::of_rows(3);
        for (slot, &form) in forms.iter().enumerate() {
            let mut builder = ColumnBuilder::new(form);
            rows.iter().for_each(|row| builder.push(&row[slot]).unwrap());
            batch.put(slot, builder.finish());
        }
        let mut record = Vec::new();
        write_rows((&batch, &[2, 0, 1]), &slots, 77, &mut record);
        let (mut read, mark) = read_rows(&record, &slots).unwrap();
        assert_eq!((read.rows(), mark), (3, 77));
        for (at, place) in [2, 0, 1].into_iter().enumerate() {
            let mut values = vec![Value::Null; 4];
            read.fill(at, &[0, 1, 2, 3], &mut values).unwrap();
            assert_eq!(values, rows[place]);
        }
        for end in 0..record.len() {
            assert!(read_rows(&record[..end], &slots).is_err(), "{end} bytes");
        }
    }

    #[test]
    fn numbers_of_no_slot_are_whole() {
        let Column::Numbers(numbers, _) = number_column(vec![5, -5]) else { unreachable!() };
        assert_eq!((numbers.get(0), numbers.get(1), numbers.low), (5, -5, -5));
    }
}
