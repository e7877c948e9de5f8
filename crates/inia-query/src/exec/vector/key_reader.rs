//! The words of keys: of groups, and of the values of DISTINCT aggregates.

use super::batch::{Batch, Rows};
use super::column::Column;
use super::keys::{Dictionary, KeyWords, RecentTexts};
use super::program::Execution;
use super::texts::TextBuilder;
use crate::exec::Result;
use crate::exec::hash::KeyHash;
use crate::exec::keys::encode_key;
use crate::plan::vector::{NumberKind, VectorKey};
use inia_base::value::Value;
use inia_expr::{EvalContext, Expr};

/// Keys, and the words of those that have come.
pub(super) struct KeyReader<'p> {
    plan: &'p [VectorKey],
    exprs: &'p [Expr],
    /// For each key that is not a number those that have come.
    dictionaries: Vec<Dictionary>,
    recent: Vec<RecentTexts>,
    /// Bytes that dictionaries hold.
    held: usize,
}

/// The words of one key, and what stands for it in the hash of the row's keys.
pub(super) struct KnownWords {
    pub(super) words: KeyWords,
    pub(super) canonical: Vec<u64>,
    /// Which keys have no word; empty where all have one.
    pub(super) unknown: Vec<bool>,
}

/// What keys are computed with: the program's vectors, and what evaluates expressions.
pub(super) type KeyContext<'a, 'p, 'c> =
    (&'a Execution<'p>, &'a mut EvalContext<'c>, &'a mut [Value]);

impl<'p> KeyReader<'p> {
    pub(super) fn new(plan: &'p [VectorKey], exprs: &'p [Expr]) -> KeyReader<'p> {
        debug_assert_eq!(plan.len(), exprs.len(), "each expression has its key");
        let dictionaries = plan.iter().map(|_| Dictionary::default()).collect();
        let recent = plan.iter().map(|_| RecentTexts::default()).collect();
        KeyReader { plan, exprs, dictionaries, recent, held: 0 }
    }

    /// About how many bytes keys take here.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// For each key that is not a number those that have come.
    pub(super) fn dictionaries(&self) -> &[Dictionary] {
        &self.dictionaries
    }

    /// For each key that is not a number the hash of each word's key.
    pub(super) fn hashes(&self) -> Vec<Vec<u64>> {
        let hash = KeyHash::default();
        let of = |dictionary: &Dictionary| {
            dictionary.keys_in_order().into_iter().map(|key| hash.of(key)).collect()
        };
        self.dictionaries.iter().map(of).collect()
    }

    /// The word of a key that is not a number.
    pub(super) fn add_key(&mut self, at: usize, key: &[u8]) -> u64 {
        if let Some(word) = self.dictionaries[at].of_key(key) {
            return word;
        }
        let (word, kept) = self.dictionaries[at].add_key(key.to_vec());
        self.held += kept;
        word
    }

    /// The words of all keys of a batch; `None` where one does not fit.
    pub(super) fn all_words(
        &mut self,
        batch: &mut Batch,
        program: &Execution<'_>,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
    ) -> Result<Option<Vec<KeyWords>>> {
        let mut columns = Vec::with_capacity(self.plan.len());
        for at in 0..self.plan.len() {
            let Some(words) = self.words(at, batch, (program, ctx, row))? else {
                return Ok(None);
            };
            columns.push(words);
        }
        Ok(Some(columns))
    }

    fn words(
        &mut self,
        at: usize,
        batch: &mut Batch,
        (program, ctx, row): KeyContext<'_, '_, '_>,
    ) -> Result<Option<KeyWords>> {
        let (dictionary, expr) = (&mut self.dictionaries[at], &self.exprs[at]);
        let mut words = KeyWords::with_capacity(batch.rows());
        let held = &mut self.held;
        match &self.plan[at] {
            VectorKey::Number(step) => return Ok(number_words(*step, batch, program)),
            VectorKey::Text(slot) => {
                let (collation, recent) = (expr.ty.collation(), &mut self.recent[at]);
                let Some(Column::Texts(texts)) = batch.column(*slot) else { return Ok(None) };
                let word = |text: &[u8]| {
                    dictionary.get(text, recent).unwrap_or_else(|| {
                        let mut key = Vec::with_capacity(2 * text.len());
                        collation.sort_key(text, &mut key);
                        let (word, kept) = dictionary.add(text, key);
                        *held += kept;
                        word
                    })
                };
                texts.each(|_| true, word, |_, word| words.push(word));
            }
            VectorKey::Value(slots) => {
                let mut key = Vec::new();
                for i in 0..batch.rows() {
                    batch.fill(i, slots, row)?;
                    let value = expr.eval_ref(ctx, row)?;
                    if *value == Value::Null {
                        words.push(None);
                        continue;
                    }
                    key.clear();
                    encode_key(&value, &expr.ty, false, &mut key);
                    let word = dictionary.of_key(&key);
                    words.push(Some(word.unwrap_or_else(|| {
                        let (word, kept) = dictionary.add_key(key.clone());
                        *held += kept;
                        word
                    })));
                }
            }
        }
        Ok(Some(words))
    }

    /// The keys of a batch as columns: numbers, and the bytes of others. `None` where one does not
    /// fit.
    pub(super) fn all_columns(
        &mut self,
        batch: &mut Batch,
        program: &Execution<'_>,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
    ) -> Result<Option<Vec<Column>>> {
        let mut columns = Vec::with_capacity(self.plan.len());
        for (key, expr) in self.plan.iter().zip(self.exprs) {
            let (mut built, mut bytes) = (TextBuilder::default(), Vec::new());
            match key {
                VectorKey::Number(step) => {
                    let kind = NumberKind::Int { unsigned: false };
                    if number_words(*step, batch, program).is_none() {
                        return Ok(None);
                    }
                    columns.push(Column::Numbers(program.shared_vector(*step, batch.rows()), kind));
                    continue;
                }
                VectorKey::Text(slot) => {
                    let Some(Column::Texts(texts)) = batch.column(*slot) else { return Ok(None) };
                    for text in texts.iter() {
                        bytes.clear();
                        text.iter().for_each(|t| expr.ty.collation().sort_key(t, &mut bytes));
                        built.push(text.map(|_| &bytes[..]));
                    }
                }
                VectorKey::Value(slots) => {
                    for i in 0..batch.rows() {
                        batch.fill(i, slots, row)?;
                        let value = expr.eval_ref(ctx, row)?;
                        bytes.clear();
                        let present = *value != Value::Null;
                        if present {
                            encode_key(&value, &expr.ty, false, &mut bytes);
                        }
                        built.push(present.then_some(&bytes[..]));
                    }
                }
            }
            columns.push(Column::Texts(built.finish()));
        }
        Ok(Some(columns))
    }

    /// The words of a key, without new ones; `hashes` are those of the words there are.
    pub(super) fn known_words(
        &mut self,
        at: usize,
        hashes: &[u64],
        batch: &mut Batch,
        (program, ctx, row): KeyContext<'_, '_, '_>,
    ) -> Result<Option<KnownWords>> {
        let rows = batch.rows();
        let (dictionary, expr) = (&self.dictionaries[at], &self.exprs[at]);
        let words = KeyWords::with_capacity(rows);
        let mut known = KnownWords { words, canonical: vec![], unknown: vec![] };
        let of_key = |key: &[u8]| match dictionary.of_key(key) {
            Some(word) => (Some(word), hashes[word as usize]),
            None => (None, KeyHash::default().of(key)),
        };
        let mut push = |found: Option<(Option<u64>, u64)>| {
            let (word, hash) = found.unwrap_or((None, 0));
            known.canonical.push(hash);
            known.unknown.push(found.is_some() && word.is_none());
            // The word of a key without one is not looked at.
            known.words.push(found.map(|_| word.unwrap_or_default()));
        };
        match &self.plan[at] {
            VectorKey::Number(step) => {
                let Some(words) = number_words(*step, batch, program) else { return Ok(None) };
                let canonical = (0..rows).map(|row| words.get(row)).collect();
                return Ok(Some(KnownWords { words, canonical, unknown: Vec::new() }));
            }
            VectorKey::Text(slot) => {
                let (collation, recent) = (expr.ty.collation(), &mut self.recent[at]);
                let Some(Column::Texts(texts)) = batch.column(*slot) else { return Ok(None) };
                let make = |text: &[u8]| match dictionary.get(text, recent) {
                    Some(word) => (Some(word), hashes[word as usize]),
                    None => {
                        let mut key = Vec::with_capacity(2 * text.len());
                        collation.sort_key(text, &mut key);
                        of_key(&key)
                    }
                };
                texts.each(|_| true, make, |_, found| push(found));
            }
            VectorKey::Value(slots) => {
                let mut key = Vec::new();
                for i in 0..rows {
                    batch.fill(i, slots, row)?;
                    let value = expr.eval_ref(ctx, row)?;
                    key.clear();
                    let present = *value != Value::Null;
                    if present {
                        encode_key(&value, &expr.ty, false, &mut key);
                    }
                    push(present.then(|| of_key(&key)));
                }
            }
        }
        Ok(Some(known))
    }
}

/// The words of a key that is a number; `None` where one has more than 64 bits.
fn number_words(step: usize, batch: &Batch, program: &Execution<'_>) -> Option<KeyWords> {
    let unsigned = program.kind(step) == NumberKind::Int { unsigned: true };
    let numbers = program.vector(step);
    let fits = if unsigned { u64::MAX.into() } else { i64::MAX.into() };
    if !numbers.fits(i64::MIN.into(), fits) {
        return None;
    }
    let mut words = KeyWords::with_capacity(batch.rows());
    for i in 0..batch.rows() {
        words.push((!numbers.is_null(i)).then(|| numbers.get(i) as u64));
    }
    Some(words)
}
