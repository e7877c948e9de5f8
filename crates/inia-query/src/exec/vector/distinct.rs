//! The values that DISTINCT aggregates have seen in each group.
//!
//! A value is known by the number of its group and the words of its keys. When memory is used up
//! none is added any more: values that are not among them wait in partitions, by the hash of group
//! and keys, and each partition is looked through for itself at the end. It may leave values to
//! partitions of its own in its turn.
//!
//! ```text
//!   COUNT(DISTINCT v), room for two     rows (g 1, 5) (g 1, 5) (g 2, 5) (g 1, 7) (g 1, 7)
//!   seen (1, 5) (2, 5)                  waiting (1, 7) (1, 7), which count once
//! ```

use super::batch::{Batch, Rows};
use super::column::Column;
use super::grace::spread;
use super::join_keys::KeyColumns;
use super::key_reader::KeyReader;
use super::keys::{Dictionary, GroupNumbers, KeyWords};
use super::numbers::Numbers;
use super::program::Execution;
use super::records::{number_column, read_rows};
use crate::exec::Result;
use crate::plan::batches::BatchSlot;
use crate::plan::vector::{NumberKind, VectorForm, VectorKey};
use crate::spill::{Grant, Partitions, Purpose, Workspace};
use inia_base::value::Value;
use inia_expr::{EvalContext, Expr};
use std::sync::Arc;

/// The values of one aggregate.
pub(super) struct DistinctValues<'p, 'w> {
    keys: KeyReader<'p>,
    seen: Seen,
    /// Values that wait; no others are added then.
    waiting: Option<Partitions<'w>>,
    /// The slots of what waits: the group, the keys, and the number that is added up.
    slots: Vec<BatchSlot>,
    workspace: Workspace<'w>,
}

/// Values by their groups and keys.
struct Seen {
    numbers: GroupNumbers,
    /// For each key that is not a number those that were read back.
    dictionaries: Vec<Dictionary>,
    held: usize,
}

/// A batch's rows that have a new value first, or that must wait.
#[derive(Default)]
struct Sorted {
    new: Vec<u32>,
    waiting: Vec<u32>,
}

/// What becomes of values that were not seen before.
#[derive(Clone, Copy)]
enum Mode<'d> {
    /// They are added.
    Adds,
    /// They wait.
    Knows,
    /// They wait; the words of keys are those of these dictionaries.
    KnowsBy(&'d [Dictionary]),
}

impl Seen {
    fn new(keys: usize) -> Seen {
        let dictionaries = (0..keys).map(|_| Dictionary::default()).collect();
        Seen { numbers: GroupNumbers::new(keys + 1), dictionaries, held: 0 }
    }

    fn held(&self) -> usize {
        self.held + self.numbers.held()
    }

    /// Looks the values of rows up, which are in columns behind that of their groups. New ones are
    /// added or wait, as the mode says; one with a NULL counts nowhere.
    fn sort(&mut self, columns: &[&Column], rows: usize, mode: Mode<'_>) -> Sorted {
        let adds = matches!(mode, Mode::Adds);
        let mut unknown = vec![false; rows];
        let mut words = Vec::with_capacity(columns.len());
        for (at, column) in columns.iter().enumerate() {
            let mut all = KeyWords::with_capacity(rows);
            match column {
                Column::Texts(texts) => {
                    for (row, key) in texts.iter().enumerate() {
                        let Some(key) = key else {
                            all.push(None);
                            continue;
                        };
                        let word = match mode {
                            Mode::Adds => Some(self.word(at - 1, key)),
                            Mode::Knows => self.dictionaries[at - 1].of_key(key),
                            Mode::KnowsBy(dictionaries) => dictionaries[at - 1].of_key(key),
                        };
                        unknown[row] |= word.is_none();
                        all.push(Some(word.unwrap_or_default()));
                    }
                }
                Column::Numbers(numbers, _) => (0..rows).for_each(|row| {
                    all.push((!numbers.is_null(row)).then(|| numbers.get(row) as u64));
                }),
                Column::Values(_) => debug_assert!(false, "keys are numbers or bytes"),
            }
            words.push(all);
        }
        let mut sorted = Sorted::default();
        for row in (0..rows).filter(|&row| !words.iter().any(|words| words.is_null(row))) {
            if adds {
                if self.numbers.number(&words, row).1 {
                    sorted.new.push(row as u32);
                }
            } else if unknown[row] || self.numbers.known(&words, row).is_none() {
                sorted.waiting.push(row as u32);
            }
        }
        sorted
    }

    fn word(&mut self, at: usize, key: &[u8]) -> u64 {
        if let Some(word) = self.dictionaries[at].of_key(key) {
            return word;
        }
        let (word, kept) = self.dictionaries[at].add_key(key.to_vec());
        self.held += kept;
        word
    }
}

impl<'p, 'w> DistinctValues<'p, 'w> {
    /// No values yet; `number` is what the numbers that are added up are.
    pub(super) fn new(
        (plan, exprs): (&'p [VectorKey], &'p [Expr]),
        number: Option<NumberKind>,
        workspace: Workspace<'w>,
    ) -> DistinctValues<'p, 'w> {
        let words = VectorForm::Numbers(NumberKind::Int { unsigned: false });
        let keys = plan.iter().map(|key| match key {
            VectorKey::Number(_) => words,
            VectorKey::Text(_) | VectorKey::Value(_) => VectorForm::Texts,
        });
        let forms = std::iter::once(words).chain(keys).chain(number.map(VectorForm::Numbers));
        let slots = forms.enumerate().map(|(slot, form)| BatchSlot { slot, form }).collect();
        let (keys, seen) = (KeyReader::new(plan, exprs), Seen::new(plan.len()));
        DistinctValues { keys, seen, waiting: None, slots, workspace }
    }

    /// About how many bytes values take.
    pub(super) fn held(&self) -> usize {
        self.keys.held() + self.seen.held()
    }

    /// Has new values wait from now on.
    pub(super) fn freeze(&mut self) {
        let partitions = || Partitions::new(self.workspace, Purpose::Table, 0);
        self.waiting.get_or_insert_with(partitions);
    }

    /// The rows of a batch that have a new value first in their groups; `None` where a key does not
    /// fit. What must wait goes with its number.
    pub(super) fn add(
        &mut self,
        (program, batch): (&Execution<'_>, &mut Batch),
        groups: &dyn Fn(usize) -> u32,
        number: Option<&Arc<Numbers>>,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
    ) -> Result<Option<Vec<u32>>> {
        let rows = batch.rows();
        let Some(waiting) = &mut self.waiting else {
            let Some(words) = self.keys.all_words(batch, program, ctx, row)? else {
                return Ok(None);
            };
            let mut of_groups = KeyWords::with_capacity(rows);
            (0..rows).for_each(|row| of_groups.push(Some(groups(row).into())));
            let mut all = vec![of_groups];
            all.extend(words);
            let is_present = |row: &usize| !all[1..].iter().any(|words| words.is_null(*row));
            let is_new = |row: &usize| self.seen.numbers.number(&all, *row).1;
            let new = (0..rows).filter(is_present).filter(is_new).map(|row| row as u32);
            return Ok(Some(new.collect()));
        };
        let Some(keys) = self.keys.all_columns(batch, program, ctx, row)? else {
            return Ok(None);
        };
        let of_groups = number_column((0..rows).map(|row| groups(row).into()).collect());
        let columns: Vec<&Column> = std::iter::once(&of_groups).chain(&keys).collect();
        let known = Mode::KnowsBy(self.keys.dictionaries());
        let Sorted { waiting: places, .. } = self.seen.sort(&columns, rows, known);
        let hashes = KeyColumns::hashes_of(columns.into_iter(), rows);
        let kind = self.slots.last().map(|slot| slot.form);
        let number = number.zip(kind).and_then(|(numbers, form)| match form {
            VectorForm::Numbers(kind) => Some(Column::Numbers(numbers.clone(), kind)),
            VectorForm::Texts | VectorForm::Values => None,
        });
        let mut record = Batch::of_rows(rows);
        let columns = std::iter::once(of_groups).chain(keys).chain(number);
        columns.enumerate().for_each(|(slot, column)| record.put(slot, column));
        spread((&record, &places, &hashes), &self.slots, (waiting, 0))?;
        Ok(Some(Vec::new()))
    }

    /// Gives groups and numbers of the values that wait to `take`, each once.
    pub(super) fn complete(
        &mut self,
        take: &mut dyn FnMut(&[u32], Option<&Numbers>),
    ) -> Result<()> {
        let Some(waiting) = self.waiting.take() else { return Ok(()) };
        self.seen = Seen::new(self.keys.dictionaries().len());
        let (streams, _) = waiting.into_streams()?;
        let mut queue: Vec<_> = streams.into_iter().map(|stream| (stream, 1)).collect();
        let keys = self.seen.dictionaries.len();
        while let Some((stream, level)) = queue.pop() {
            let (mut seen, mut memory) = (Seen::new(keys), Grant::new(self.workspace));
            let (mut reader, mut rest) = (stream.reader(), None);
            while let Some(record) = reader.next()? {
                let (batch, _) = read_rows(record, &self.slots)?;
                let columns: Vec<&Column> =
                    (0..=keys).filter_map(|slot| batch.column(slot)).collect();
                let (mode, rows) =
                    (if rest.is_none() { Mode::Adds } else { Mode::Knows }, batch.rows());
                let sorted = seen.sort(&columns, rows, mode);
                let numbers = match batch.column(keys + 1) {
                    Some(Column::Numbers(numbers, _)) => Some(numbers.gather(&sorted.new)),
                    _ => None,
                };
                if let Some(Column::Numbers(groups, _)) = batch.column(0) {
                    let group = |row: &u32| groups.get(*row as usize) as u32;
                    let groups: Vec<u32> = sorted.new.iter().map(group).collect();
                    take(&groups, numbers.as_ref());
                }
                if let Some(partitions) = &mut rest {
                    let hashes = KeyColumns::hashes_of(columns.into_iter(), rows);
                    let rows = (&batch, &sorted.waiting[..], &hashes[..]);
                    spread(rows, &self.slots, (partitions, level))?;
                } else if !memory.allows(seen.held()) {
                    rest = Some(Partitions::new(self.workspace, Purpose::Table, level));
                }
            }
            if let Some(rest) = rest {
                let streams = rest.into_streams()?.0.into_iter();
                queue.extend(streams.map(|stream| (stream, level + 1)));
            }
        }
        Ok(())
    }
}
