//! The keys of a hash join as columns that go to a file, where no number of a dictionary counts:
//! numbers, and the bytes of other keys.

use super::{KeySide, KeyWords, Keys, Words};
use crate::exec::Result;
use crate::exec::hash::{KeyHash, word_hash};
use crate::exec::keys::{encode_equal, encode_text};
use crate::exec::vector::batch::{Batch, Rows};
use crate::exec::vector::column::Column;
use crate::exec::vector::index::RowIndex;
use crate::exec::vector::keys::Dictionary;
use crate::exec::vector::numbers::Values;
use crate::exec::vector::records::number_column;
use crate::exec::vector::texts::{TextBuilder, TextColumn};
use crate::plan::batches::{BatchKey, BatchSlot, HashBatches};
use crate::plan::vector::{NumberKind, VectorForm};
use inia_base::value::Value;
use inia_expr::EvalContext;

/// The keys of some rows.
pub(in crate::exec::vector) struct KeyColumns {
    /// A column of each key.
    pub(in crate::exec::vector) columns: Vec<Column>,
    /// The hash of all keys of each row.
    pub(in crate::exec::vector) hashes: Vec<u64>,
    /// Which rows have no key; empty where all have one.
    pub(in crate::exec::vector) absent: Vec<bool>,
}

/// The slots of the columns of a join's keys, from this one on.
pub(in crate::exec::vector) fn key_slots(
    plan: &HashBatches,
    first: usize,
) -> impl Iterator<Item = BatchSlot> {
    plan.keys.iter().enumerate().map(move |(at, key)| {
        let form = match key {
            BatchKey::Numbers { .. } => VectorForm::Numbers(NumberKind::Int { unsigned: false }),
            BatchKey::Texts { .. } | BatchKey::Values { .. } => VectorForm::Texts,
        };
        BatchSlot { slot: first + at, form }
    })
}

impl KeyColumns {
    /// Keys in such columns, none of them absent.
    pub(in crate::exec::vector) fn of(columns: Vec<Column>, rows: usize) -> KeyColumns {
        let hashes = KeyColumns::hashes_of(columns.iter(), rows);
        KeyColumns { hashes, columns, absent: Vec::new() }
    }

    /// The hash of all keys of each row, the keys being in these columns.
    pub(in crate::exec::vector) fn hashes_of<'c>(
        columns: impl Iterator<Item = &'c Column>,
        rows: usize,
    ) -> Vec<u64> {
        let words: Vec<Vec<u64>> = columns.map(|column| words_of(column, rows)).collect();
        let hash = |row: usize| word_hash(words.iter().map(|words| words[row] as i64));
        (0..rows).map(hash).collect()
    }

    /// The keys of rows in memory.
    pub(in crate::exec::vector) fn of_index(
        index: &RowIndex,
        plan: &HashBatches,
        dictionaries: &[Dictionary],
    ) -> KeyColumns {
        let columns = plan.keys.iter().zip(index.words()).zip(dictionaries);
        let columns = columns.map(|((key, words), dictionary)| match key {
            BatchKey::Numbers { .. } => number_column(words.clone()),
            BatchKey::Texts { .. } | BatchKey::Values { .. } => {
                let keys = dictionary.keys_in_order();
                Column::Texts(TextColumn::of(&keys, words.iter().map(|word| *word as u32)))
            }
        });
        KeyColumns::of(columns.collect(), index.rows())
    }
}

/// What stands for each key of a column in the hash of a row.
fn words_of(column: &Column, rows: usize) -> Vec<u64> {
    let hash = KeyHash::default();
    match column {
        Column::Numbers(numbers, _) => match &numbers.values {
            Values::Small(values) => values.iter().map(|value| *value as u64).collect(),
            _ => (0..rows).map(|row| numbers.get(row) as u64).collect(),
        },
        Column::Texts(texts) => {
            let mut words = vec![0; rows];
            texts.each(
                |_| true,
                |key| hash.of(key),
                |row, hash| words[row] = hash.unwrap_or_default(),
            );
            words
        }
        Column::Values(_) => vec![0; rows],
    }
}

/// The words of keys that came in columns. Those of the right side are added to the dictionaries;
/// returns how many bytes are kept for them.
pub(in crate::exec::vector) fn add_right(
    batch: &Batch,
    slots: &[BatchSlot],
    dictionaries: &mut [Dictionary],
) -> (Words, usize) {
    let mut kept = 0;
    let columns = slots.iter().zip(dictionaries).map(|(slot, dictionary)| {
        words_by(batch, slot.slot, |key| {
            let (word, added) = match dictionary.of_key(key) {
                Some(word) => (word, 0),
                None => dictionary.add_key(key.to_vec()),
            };
            kept += added;
            Some(word)
        })
    });
    (super::present(columns.collect(), batch.rows()), kept)
}

/// As [`add_right`], of the left side.
pub(in crate::exec::vector) fn find_left(
    batch: &Batch,
    slots: &[BatchSlot],
    dictionaries: &[Dictionary],
) -> Words {
    let columns = slots.iter().zip(dictionaries);
    let columns =
        columns.map(|(slot, dictionary)| words_by(batch, slot.slot, |key| dictionary.of_key(key)));
    super::present(columns.collect(), batch.rows())
}

fn words_by(batch: &Batch, slot: usize, word: impl FnMut(&[u8]) -> Option<u64>) -> KeyWords {
    match batch.column(slot) {
        Some(Column::Texts(texts)) => {
            let (mut words, mut absent) = (Vec::with_capacity(batch.rows()), Vec::new());
            texts.each(
                |_| true,
                word,
                |_, word| {
                    let word = word.flatten();
                    words.push(word.unwrap_or_default() as i64);
                    absent.push(word.is_none());
                },
            );
            (words, absent)
        }
        Some(column) => {
            (words_of(column, batch.rows()).into_iter().map(|w| w as i64).collect(), Vec::new())
        }
        None => (vec![0; batch.rows()], vec![true; batch.rows()]),
    }
}

impl Keys<'_, '_> {
    /// The keys of a batch as columns; `None` where those of the right side do not fit.
    pub(in crate::exec::vector) fn columns(
        &mut self,
        batch: &mut Batch,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
    ) -> Result<Option<KeyColumns>> {
        let computed = self.execution.run(batch, ctx, row)?;
        let rows = batch.rows();
        let (mut columns, mut all_absent) = (Vec::with_capacity(self.plan.keys.len()), Vec::new());
        for at in 0..self.plan.keys.len() {
            let (column, absent) = match &self.plan.keys[at] {
                BatchKey::Numbers { .. } => {
                    let words = match (self.number_key(at, computed, rows), self.side) {
                        (Some(words), _) => words,
                        (None, KeySide::Right) => return Ok(None),
                        (None, KeySide::Left) => self.words_by_rows(at, batch, ctx, row)?,
                    };
                    (number_column(words.0), words.1)
                }
                BatchKey::Texts { .. } | BatchKey::Values { .. } => {
                    self.key_bytes(at, batch, ctx, row)?
                }
            };
            columns.push(column);
            if absent.contains(&true) {
                all_absent.resize(rows, false);
                all_absent.iter_mut().zip(absent).for_each(|(all, one)| *all |= one);
            }
        }
        Ok(Some(KeyColumns { absent: all_absent, ..KeyColumns::of(columns, rows) }))
    }

    /// The bytes of a key that is no number, and which rows have none.
    fn key_bytes(
        &mut self,
        at: usize,
        batch: &mut Batch,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
    ) -> Result<(Column, Vec<bool>)> {
        let (key, mut bytes) = (&self.exprs[at], Vec::new());
        let (mut built, mut absent) = (TextBuilder::default(), Vec::with_capacity(batch.rows()));
        let is_left = self.side == KeySide::Left;
        let slots = match &self.plan.keys[at] {
            BatchKey::Texts { left, right, collation } => {
                let slot = if is_left { *left } else { *right };
                if let Some(Column::Texts(texts)) = batch.column(slot) {
                    for text in texts.iter() {
                        bytes.clear();
                        text.iter().for_each(|text| encode_text(*collation, text, &mut bytes));
                        absent.push(text.is_none());
                        built.push(text.map(|_| &bytes[..]));
                    }
                    return Ok((Column::Texts(built.finish()), absent));
                }
                vec![slot]
            }
            BatchKey::Values { left, right } => if is_left { left } else { right }.clone(),
            BatchKey::Numbers { .. } => Vec::new(),
        };
        let expr = if is_left { &key.left } else { &key.right };
        for i in 0..batch.rows() {
            batch.fill(i, &slots, row)?;
            let value = expr.eval_ref(ctx, row)?;
            bytes.clear();
            let present = *value != Value::Null;
            if present {
                encode_equal(&key.class, &value, &mut bytes);
            }
            absent.push(!present);
            built.push(present.then_some(&bytes[..]));
        }
        Ok((Column::Texts(built.finish()), absent))
    }
}
