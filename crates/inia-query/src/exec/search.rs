//! MATCH … AGAINST: searches are run once for a statement, in the index; the relevance of a row is
//! computed from its own texts, with the weights that the index gave the words.

mod rules;

use super::{Result, Runner};
use crate::catalog::{Table, TableIndex};
use crate::error::StorageResult;
use crate::fulltext::{
    Found, Posting, Postings, Search, TextSource, WordRules, WordSource, key_prefix, parse_boolean,
    parse_natural, rank_of, weight, words_found,
};
use crate::interrupt::Interrupt;
use crate::plan::search::{SearchMode, SearchPlan};
use crate::row::{WordsCodec, prefix_successor};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::EvalContext;
use inia_storage::{Direction, KeyBound, ReadMode, Txn};
use std::cell::RefCell;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Rows of smaller tables are counted, so that ranks do not depend on an estimate.
const COUNTED_ROWS: u64 = 1000;

/// Bytes that a document takes beside its key and positions, roughly.
const POSTING_BYTES: usize = 128;

/// Searches that have been run, with their numbers. A list costs a statement without searches
/// nothing.
#[derive(Default)]
pub(super) struct SearchCache {
    prepared: RefCell<Vec<(usize, Rc<PreparedSearch>)>>,
}

/// A search that has been run in its index.
struct PreparedSearch {
    against: Option<String>,
    rules: WordRules,
    search: Search,
    /// The weight of each of its words.
    weights: Vec<f64>,
    /// The clustered keys of the rows that it finds, the most relevant first.
    found: Vec<Vec<u8>>,
}

impl Runner<'_> {
    /// How relevant a row with these texts is.
    pub(super) fn relevance_of(
        &self,
        id: usize,
        against: Option<&str>,
        texts: &[Value],
        ctx: &mut EvalContext<'_>,
    ) -> Result<f64> {
        let prepared = self.prepared_search(id, against, ctx)?;
        let texts: Vec<Option<&str>> = texts.iter().map(text_of).collect();
        let mut source = TextSource::new(&prepared.rules, &texts);
        let mut counts = vec![0; prepared.search.words.len()];
        let found = prepared.search.evaluate(&mut source, &mut counts)?;
        let rank = |found: &Found| match self.plan.searches[id].index {
            Some(_) => rank_of(found, &prepared.weights),
            None => words_found(found),
        };
        Ok(found.get(&0).map_or(0.0, |found| f64::from(rank(found))))
    }

    /// The clustered keys of the rows that a search finds.
    pub(super) fn found_keys(
        &self,
        id: usize,
        against: Option<&str>,
        ctx: &mut EvalContext<'_>,
    ) -> Result<Vec<Vec<u8>>> {
        Ok(self.prepared_search(id, against, ctx)?.found.clone())
    }

    fn prepared_search(
        &self,
        id: usize,
        against: Option<&str>,
        ctx: &mut EvalContext<'_>,
    ) -> Result<Rc<PreparedSearch>> {
        let same = |(number, known): &&(usize, Rc<PreparedSearch>)| {
            *number == id && known.against.as_deref() == against
        };
        if let Some((_, prepared)) = self.searches.prepared.borrow().iter().find(same) {
            return Ok(prepared.clone());
        }
        let prepared = Rc::new(self.prepare_search(&self.plan.searches[id], against, ctx)?);
        let mut all = self.searches.prepared.borrow_mut();
        all.retain(|(number, _)| *number != id);
        all.push((id, prepared.clone()));
        Ok(prepared)
    }

    fn prepare_search(
        &self,
        plan: &SearchPlan,
        against: Option<&str>,
        ctx: &mut EvalContext<'_>,
    ) -> Result<PreparedSearch> {
        let rules = self.word_rules(plan, ctx)?;
        let text = against.unwrap_or_default();
        let mut search = match plan.mode {
            SearchMode::Boolean => parse_boolean(text, &rules)?,
            SearchMode::Natural | SearchMode::Expanded => parse_natural(text, &rules)?,
        };
        let mut weights = Vec::new();
        let mut found = Vec::new();
        if let Some(index) = plan.index {
            let mut txn = self.txn_of(&plan.table).borrow_mut();
            let mut source = IndexSource {
                table: &plan.table,
                index: &plan.table.indexes[index],
                txn: &mut txn,
                rules: &rules,
                interrupt: self.exec.interrupt,
                positions: search.reads_positions(),
                room: rules::number(ctx, "innodb_ft_result_cache_limit", usize::MAX),
                numbers: HashMap::new(),
                keys: Vec::new(),
            };
            if plan.mode == SearchMode::Expanded {
                source.expand(&mut search)?;
            }
            let mut counts = vec![0; search.words.len()];
            let documents = search.evaluate(&mut source, &mut counts)?;
            let total = source.documents()?;
            weights = counts.iter().map(|count| weight(total, *count)).collect();
            let mut ranked: Vec<(f32, Vec<u8>)> = documents
                .iter()
                .map(|(number, found)| {
                    let key = std::mem::take(&mut source.keys[*number as usize]);
                    (rank_of(found, &weights), key)
                })
                .filter(|(rank, _)| *rank != 0.0)
                .collect();
            ranked.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
            found = ranked.into_iter().map(|(_, key)| key).collect();
        }
        weights.resize(search.words.len(), 0.0);
        let against = against.map(str::to_owned);
        Ok(PreparedSearch { against, rules, search, weights, found })
    }
}

/// The text of a column.
fn text_of(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

/// Words and their documents in an index.
struct IndexSource<'s> {
    table: &'s Table,
    index: &'s TableIndex,
    txn: &'s mut Txn,
    rules: &'s WordRules,
    interrupt: Interrupt<'s>,
    /// The search asks where words are.
    positions: bool,
    /// Bytes that the search may still keep.
    room: usize,
    /// The numbers of documents, by their clustered keys.
    numbers: HashMap<Vec<u8>, u32>,
    /// The clustered keys, by number.
    keys: Vec<Vec<u8>>,
}

impl IndexSource<'_> {
    fn number(&mut self, primary: &[u8]) -> u32 {
        if let Some(number) = self.numbers.get(primary) {
            return *number;
        }
        let number = u32::try_from(self.keys.len()).unwrap_or(u32::MAX);
        self.numbers.insert(primary.to_vec(), number);
        self.keys.push(primary.to_vec());
        number
    }

    /// How many rows the table has.
    fn documents(&mut self) -> Result<u64> {
        let estimate = self.table.rows();
        if estimate >= COUNTED_ROWS {
            return Ok(estimate);
        }
        let (low, high) = (KeyBound::Unbounded, KeyBound::Unbounded);
        let (tree, mode) = (&self.table.clustered, ReadMode::Snapshot);
        let mut cursor = self.txn.cursor(tree, low, high, Direction::Forward, mode);
        let mut count = 0;
        while cursor.next(self.txn).sql()?.is_some() {
            count += 1;
        }
        Ok(count)
    }

    /// Adds the words of all documents that a search finds to it.
    fn expand(&mut self, search: &mut Search) -> Result<()> {
        let mut counts = vec![0; search.words.len()];
        let mut found: Vec<u32> = search.evaluate(self, &mut counts)?.into_keys().collect();
        found.sort_unstable();
        let mut keys = BTreeSet::new();
        for number in found {
            self.interrupt.check()?;
            let key = &self.keys[number as usize];
            let row = self.txn.get(&self.table.clustered, key, <[u8]>::to_vec).sql()?;
            let (Some(row), Some(words)) = (row, self.index.words()) else { continue };
            let mut texts = Vec::new();
            for &column in words.columns() {
                texts.push(match self.table.layout.cell(&row, column)? {
                    crate::row::Cell::Text(text) => Some(text),
                    _ => None,
                });
            }
            keys.extend(TextSource::new(self.rules, &texts).keys());
        }
        keys.into_iter().for_each(|key| search.expand(key));
        Ok(())
    }
}

impl WordSource for IndexSource<'_> {
    fn columns(&self) -> u32 {
        self.index.words().map_or(1, |words| words.columns().len() as u32)
    }

    fn postings(&mut self, key: &[u8], begins: bool) -> Result<Postings> {
        let Some(codec) = self.index.words() else { return Ok(Postings::default()) };
        let collation = self.rules.collation;
        let start = match begins {
            true => key_prefix(collation, key).to_vec(),
            false => WordsCodec::word_prefix(key),
        };
        let mut end = start.clone();
        let upper = match prefix_successor(&mut end) {
            true => KeyBound::Excluded(&end[..]),
            false => KeyBound::Unbounded,
        };
        let (tree, mode) = (&self.index.tree, ReadMode::Snapshot);
        let lower = KeyBound::Included(&start[..]);
        let mut cursor = self.txn.cursor(tree, lower, upper, Direction::Forward, mode);
        let mut postings = Postings::default();
        let mut seen = HashMap::new();
        while let Some(record) = cursor.next(self.txn).sql()? {
            self.interrupt.check()?;
            let entry = codec.entry(record.key, record.value)?;
            if begins && !self.rules.admits(entry.word, entry.chars) {
                continue;
            }
            postings.documents += 1;
            let frequency = entry.frequency();
            let positions = if self.positions { entry.positions()? } else { Vec::new() };
            let kept = POSTING_BYTES + entry.primary.len() + positions.len() * size_of::<u32>();
            let left = self.room.checked_sub(kept);
            let too_many = || SqlError::new(ErrorCode::FtsResultCacheLimit, &[]);
            self.room = left.ok_or_else(too_many)?;
            let primary = entry.primary.to_vec();
            let document = self.number(&primary);
            let posting = Posting { document, frequency, positions };
            match begins.then(|| seen.entry(document)) {
                // Of several words of a document the last one counts.
                Some(Entry::Occupied(at)) => postings.list[*at.get()] = posting,
                Some(Entry::Vacant(new)) => {
                    new.insert(postings.list.len());
                    postings.list.push(posting);
                }
                None => postings.list.push(posting),
            }
        }
        Ok(postings)
    }
}
