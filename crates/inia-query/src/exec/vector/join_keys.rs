//! The keys of a hash join as words of 64 bits.
//!
//! A number is its own word. A text or another value has the number of its key among those of the
//! right side: equal keys have one, and a left key that is not among them matches nothing.
//!
//! The right side may turn out not to fit: nothing has been given then. The left side always has
//! words, since rows of earlier batches may have been given already: keys that have no vector are
//! evaluated row by row.

mod columns;

pub(super) use columns::{KeyColumns, add_right, find_left, key_slots};

use super::batch::{Batch, Rows};
use super::column::Column;
use super::keys::{Dictionary, RecentTexts};
use super::numbers::{Numbers, Values};
use super::program::Execution;
use crate::exec::Result;
use crate::exec::keys::{encode_equal, encode_text};
use crate::plan::HashKey;
use crate::plan::batches::{BatchKey, HashBatches};
use crate::row::{pack_date, pack_datetime};
use inia_base::collation::Collation;
use inia_base::value::Value;
use inia_expr::EvalContext;

/// The words of some rows' keys.
pub(super) struct Words {
    /// Those of each key, of the rows whose keys are present.
    pub(super) words: Vec<Vec<i64>>,
    /// How many those are.
    pub(super) rows: usize,
    /// Which rows those are; `None` for all.
    pub(super) present: Option<Vec<bool>>,
}

impl Words {
    /// Where the words of a row are; `None` where it has no key. Rows are asked in order, `at`
    /// being how many had one.
    #[inline]
    pub(super) fn place(&self, row: usize, at: &mut usize) -> Option<usize> {
        match &self.present {
            None => Some(row),
            Some(present) if present[row] => {
                *at += 1;
                Some(*at - 1)
            }
            Some(_) => None,
        }
    }
}

/// One side of a join.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeySide {
    Left,
    Right,
}

/// The keys of one side of a join in one execution.
pub(super) struct Keys<'p, 'd> {
    exprs: &'p [HashKey],
    plan: &'p HashBatches,
    side: KeySide,
    execution: Execution<'p>,
    /// For each key that is not a number the keys of the right side.
    dictionaries: Dictionaries<'d>,
    recent: Vec<RecentTexts>,
    held: usize,
}

/// The keys of the right side.
enum Dictionaries<'d> {
    /// They are coming.
    Own(Vec<Dictionary>),
    /// All are there.
    Known(&'d [Dictionary]),
}

impl Dictionaries<'_> {
    fn of(&self, key: usize) -> &Dictionary {
        match self {
            Dictionaries::Own(own) => &own[key],
            Dictionaries::Known(known) => &known[key],
        }
    }
}

/// The words of one key; `None` for a row without one.
type KeyWords = (Vec<i64>, Vec<bool>);

impl<'p, 'd> Keys<'p, 'd> {
    /// The keys of the right side; `None` where constants are not what the plan has taken them
    /// for.
    pub(super) fn of_right(
        exprs: &'p [HashKey],
        plan: &'p HashBatches,
        ctx: &mut EvalContext<'_>,
    ) -> Option<Keys<'p, 'd>> {
        let dictionaries = exprs.iter().map(|_| Dictionary::default()).collect();
        Keys::new((exprs, plan), KeySide::Right, Dictionaries::Own(dictionaries), ctx)
    }

    /// The keys of the left side, beside those of the right one; `None` as above.
    pub(super) fn of_left(
        exprs: &'p [HashKey],
        plan: &'p HashBatches,
        right: &'d [Dictionary],
        ctx: &mut EvalContext<'_>,
    ) -> Option<Keys<'p, 'd>> {
        Keys::new((exprs, plan), KeySide::Left, Dictionaries::Known(right), ctx)
    }

    fn new(
        (exprs, plan): (&'p [HashKey], &'p HashBatches),
        side: KeySide,
        dictionaries: Dictionaries<'d>,
        ctx: &mut EvalContext<'_>,
    ) -> Option<Keys<'p, 'd>> {
        debug_assert_eq!(exprs.len(), plan.keys.len(), "each key has its form");
        let program = match side {
            KeySide::Left => &plan.left_program,
            KeySide::Right => &plan.right_program,
        };
        let execution = Execution::new(program, ctx)?;
        let recent = exprs.iter().map(|_| RecentTexts::default()).collect();
        Some(Keys { exprs, plan, side, execution, dictionaries, recent, held: 0 })
    }

    /// About how many bytes the keys of the right side take here.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// For each key that is not a number the keys of the right side so far.
    pub(super) fn dictionaries(&self) -> &[Dictionary] {
        match &self.dictionaries {
            Dictionaries::Own(own) => own,
            Dictionaries::Known(known) => known,
        }
    }

    /// Forgets the keys of the right side.
    pub(super) fn forget(&mut self) {
        self.dictionaries =
            Dictionaries::Own(self.exprs.iter().map(|_| Dictionary::default()).collect());
        self.recent = self.exprs.iter().map(|_| RecentTexts::default()).collect();
        self.held = 0;
    }

    /// The keys of the right side, all of which have come.
    pub(super) fn into_dictionaries(self) -> Vec<Dictionary> {
        match self.dictionaries {
            Dictionaries::Own(own) => own,
            Dictionaries::Known(_) => Vec::new(),
        }
    }

    /// The words of a batch; `None` where those of the right side do not fit.
    pub(super) fn words(
        &mut self,
        batch: &mut Batch,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
    ) -> Result<Option<Words>> {
        let side = self.side;
        let computed = self.execution.run(batch, ctx, row)?;
        let mut all = Vec::with_capacity(self.plan.keys.len());
        for (at, key) in self.plan.keys.iter().enumerate() {
            let words = match key {
                BatchKey::Numbers { .. } => self.number_key(at, computed, batch.rows()),
                BatchKey::Texts { left, right, collation } => {
                    let slot = if side == KeySide::Left { *left } else { *right };
                    self.text_words(at, slot, *collation, batch)
                }
                BatchKey::Values { left, right } => {
                    let slots = if side == KeySide::Left { left } else { right };
                    Some(self.value_words(at, slots, batch, ctx, row)?)
                }
            };
            all.push(match (words, side) {
                (Some(words), _) => words,
                (None, KeySide::Right) => return Ok(None),
                (None, KeySide::Left) => self.words_by_rows(at, batch, ctx, row)?,
            });
        }
        Ok(Some(present(all, batch.rows())))
    }

    /// The words of a key that is a number, where its steps were computed.
    fn number_key(&self, at: usize, computed: bool, rows: usize) -> Option<KeyWords> {
        let BatchKey::Numbers { left, right, scale } = self.plan.keys[at] else { return None };
        let step = if self.side == KeySide::Left { left } else { right };
        let digits = scale - self.execution.kind(step).scale();
        let numbers = computed.then(|| self.execution.vector(step).scaled(digits))??;
        number_words(&numbers, rows, self.side)
    }

    fn text_words(
        &mut self,
        at: usize,
        slot: usize,
        collation: Collation,
        batch: &Batch,
    ) -> Option<KeyWords> {
        let (dictionaries, recent) = (&mut self.dictionaries, &mut self.recent[at]);
        let (mut words, mut absent) = (Vec::with_capacity(batch.rows()), Vec::new());
        let held = &mut self.held;
        let Some(Column::Texts(texts)) = batch.column(slot) else { return None };
        let word = |text: &[u8]| {
            dictionaries.of(at).get(text, recent).or_else(|| {
                let mut key = Vec::with_capacity(2 * text.len());
                encode_text(collation, text, &mut key);
                match dictionaries {
                    Dictionaries::Known(known) => known[at].of_key(&key),
                    Dictionaries::Own(own) => {
                        let (word, kept) = own[at].add(text, key);
                        *held += kept;
                        Some(word)
                    }
                }
            })
        };
        texts.each(
            |_| true,
            word,
            |_, word| {
                let word = word.flatten();
                words.push(word.unwrap_or_default() as i64);
                absent.push(word.is_none());
            },
        );
        Some((words, absent))
    }

    /// The words of a left key, each of which is evaluated.
    fn words_by_rows(
        &mut self,
        at: usize,
        batch: &mut Batch,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
    ) -> Result<KeyWords> {
        let slots: Vec<usize> = self.plan.left.slots.iter().map(|slot| slot.slot).collect();
        let BatchKey::Numbers { scale, .. } = self.plan.keys[at] else {
            return self.value_words(at, &slots, batch, ctx, row);
        };
        let (mut words, mut absent) = (Vec::with_capacity(batch.rows()), Vec::new());
        for i in 0..batch.rows() {
            batch.fill(i, &slots, row)?;
            let word = number_word(&*self.exprs[at].left.eval_ref(ctx, row)?, scale);
            words.push(word.unwrap_or_default());
            absent.push(word.is_none());
        }
        Ok((words, absent))
    }

    fn value_words(
        &mut self,
        at: usize,
        slots: &[usize],
        batch: &mut Batch,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
    ) -> Result<KeyWords> {
        let key = &self.exprs[at];
        let expr = if self.side == KeySide::Left { &key.left } else { &key.right };
        let (mut words, mut absent) = (Vec::with_capacity(batch.rows()), Vec::new());
        let mut bytes = Vec::new();
        for i in 0..batch.rows() {
            batch.fill(i, slots, row)?;
            let value = expr.eval_ref(ctx, row)?;
            bytes.clear();
            let word = match &*value {
                Value::Null => None,
                value => {
                    encode_equal(&key.class, value, &mut bytes);
                    let known = self.dictionaries.of(at).of_key(&bytes);
                    match &mut self.dictionaries {
                        Dictionaries::Own(own) if known.is_none() => {
                            let (word, kept) = own[at].add_key(bytes.clone());
                            self.held += kept;
                            Some(word)
                        }
                        _ => known,
                    }
                }
            };
            words.push(word.unwrap_or_default() as i64);
            absent.push(word.is_none());
        }
        Ok((words, absent))
    }
}

/// The word of a number or a date with so many digits after the point; `None` where no word of the
/// right side can be equal.
fn number_word(value: &Value, scale: u8) -> Option<i64> {
    let (number, digits) = match value {
        Value::Int(value) => (i128::from(*value), 0),
        Value::UInt(value) => (i128::from(*value), 0),
        Value::Date(value) => (pack_date(*value).into(), scale),
        Value::DateTime(value) => (pack_datetime(*value).into(), scale),
        Value::Decimal(value) => {
            let exact = value.normalized();
            (exact.to_coefficient()?, exact.scale())
        }
        other => {
            debug_assert_eq!(*other, Value::Null, "a key is a number or a date");
            return None;
        }
    };
    let factor = 10i128.checked_pow(scale.checked_sub(digits)?.into())?;
    i64::try_from(number.checked_mul(factor)?).ok()
}

/// Numbers as words. One that does not fit 64 bits matches nothing on the left side, and leaves
/// the whole join to rows on the right one.
fn number_words(numbers: &Numbers, rows: usize, side: KeySide) -> Option<KeyWords> {
    let mut absent = numbers.nulls.clone();
    let mut word = |row: usize, number: i128| match i64::try_from(number) {
        Ok(word) => Some(word),
        Err(_) if numbers.is_null(row) => Some(0),
        Err(_) if side == KeySide::Right => None,
        Err(_) => {
            absent.resize(rows, false);
            absent[row] = true;
            Some(0)
        }
    };
    let words = match &numbers.values {
        Values::Small(values) => values.clone(),
        Values::One(value) => (0..rows).map(|row| word(row, *value)).collect::<Option<_>>()?,
        Values::Wide(values) => {
            values.iter().enumerate().map(|(row, v)| word(row, *v)).collect::<Option<_>>()?
        }
    };
    debug_assert_eq!(words.len(), rows, "each row has a word");
    Some((words, absent))
}

/// The words of the rows whose keys are all present.
fn present(all: Vec<KeyWords>, rows: usize) -> Words {
    let missing = |row: usize| all.iter().any(|(_, absent)| absent.get(row) == Some(&true));
    if all.iter().all(|(_, absent)| !absent.contains(&true)) {
        let words = all.into_iter().map(|(words, _)| words).collect();
        return Words { words, rows, present: None };
    }
    let present: Vec<bool> = (0..rows).map(|row| !missing(row)).collect();
    let kept = |words: Vec<i64>| {
        let kept = words.into_iter().zip(&present).filter(|(_, present)| **present);
        kept.map(|(word, _)| word).collect::<Vec<i64>>()
    };
    let words: Vec<Vec<i64>> = all.into_iter().map(|(words, _)| kept(words)).collect();
    let rows = present.iter().filter(|present| **present).count();
    Words { words, rows, present: Some(present) }
}
