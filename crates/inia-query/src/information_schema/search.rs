//! The words of a FULLTEXT index: INNODB_FT_CONFIG, INNODB_FT_INDEX_CACHE and
//! INNODB_FT_INDEX_TABLE of the table that `innodb_ft_aux_table` names.
//!
//! MySQL keeps new words in a cache until they are written to the index's tables. Here all are in
//! one tree, and the table has the documents that OPTIMIZE TABLE with
//! `innodb_optimize_fulltext_only`, or the making of the index, has passed. Documents have the
//! numbers of the column `FTS_DOC_ID`, else they are numbered from 2 in the order of their keys.

use super::{Information, Rows, row};
use crate::account::Privileges;
use crate::catalog::{Stopwords, Table, each_row};
use crate::fulltext::{WordRules, word_key};
use crate::row::{Cell, WordsCodec};
use inia_expr::VarScope;
use inia_storage::Isolation;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The number of the first document.
const FIRST_DOCUMENT: u64 = 2;
const DOCUMENT_ID: &str = "FTS_DOC_ID";

/// The rows of a table that FULLTEXT indexes have now, in the order of their keys.
fn each_committed(table: &Table, visit: &mut dyn FnMut(&[u8])) -> u64 {
    let mut txn = table.store.attach();
    txn.begin(Isolation::RepeatableRead);
    // What cannot be read is not shown.
    let mut shown = |row: &[u8]| {
        visit(row);
        Ok(())
    };
    let rows = each_row(table, &mut txn, &mut shown).unwrap_or_default();
    let _ = txn.rollback();
    rows
}

/// Notes that all documents of a table have been written to its index's tables.
pub fn note_written(table: &Table) {
    let rows = each_committed(table, &mut |_| {});
    table.shared.written_documents.store(rows, Ordering::Relaxed);
}

/// Notes that the documents of a table are numbered anew.
pub fn note_rewritten(table: &Table) {
    table.shared.written_documents.store(0, Ordering::Relaxed);
}

/// The table that `innodb_ft_aux_table` names, if it has a FULLTEXT index.
fn shown_table(info: &Information<'_>) -> Option<Arc<Table>> {
    if !info.access.global.has(Privileges::PROCESS) {
        return None;
    }
    let name = variable(info, "innodb_ft_aux_table")?;
    let (schema, table) = name.split_once('/')?;
    let table = info.catalog.schemas.get(schema)?.tables.get(table)?.clone();
    table.def.indexes.iter().any(|index| index.kind.has_words()).then_some(table)
}

fn variable(info: &Information<'_>, wanted: &str) -> Option<String> {
    let all = (info.variables)(VarScope::Global);
    all.into_iter().find(|(name, _)| name == wanted).map(|(_, value)| value)
}

pub(super) fn config(info: &Information<'_>, rows: &mut Rows) {
    let Some(table) = shown_table(info) else { return };
    let written = table.shared.written_documents.load(Ordering::Relaxed);
    let synced = if written == 0 { 0 } else { written + FIRST_DOCUMENT };
    let kept = table.def.stopwords();
    let used = kept != Some(Stopwords::None);
    let named = match kept {
        Some(Stopwords::Of { table, .. }) => table,
        _ => String::new(),
    };
    rows.push(row!["optimize_checkpoint_limit", "180"]);
    rows.push(row!["synced_doc_id", synced.to_string()]);
    rows.push(row!["stopword_table_name", named]);
    rows.push(row!["use_stopword", if used { "1" } else { "0" }]);
}

pub(super) fn index_cache(info: &Information<'_>, rows: &mut Rows) {
    words(info, false, rows);
}

pub(super) fn index_table(info: &Information<'_>, rows: &mut Rows) {
    words(info, true, rows);
}

/// A word as it is shown, and where it is: document and byte.
#[derive(Default)]
struct Places {
    word: String,
    found: Vec<(u64, usize)>,
}

fn words(info: &Information<'_>, written: bool, rows: &mut Rows) {
    let Some(table) = shown_table(info) else { return };
    let number = |name: &str, default| {
        variable(info, name).and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (min_chars, max_chars) =
        (number("innodb_ft_min_token_size", 3), number("innodb_ft_max_token_size", 84));
    let passed = table.shared.written_documents.load(Ordering::Relaxed);
    for codec in table.indexes.iter().filter_map(|index| index.words()) {
        let kept = table.def.stopwords().unwrap_or(Stopwords::Default);
        let any_case = kept == Stopwords::Default;
        let stopwords = kept.into_words();
        let keys = stopwords.iter().filter_map(|word| word_key(codec.collation(), word));
        let rules = WordRules {
            parser: codec.parser(),
            collation: codec.collation(),
            min_chars,
            max_chars,
            stopwords: Arc::new(keys.collect::<HashSet<Vec<u8>>>()),
            any_case,
        };
        let mut index = BTreeMap::new();
        let own = table.def.column(DOCUMENT_ID);
        let mut at = 0;
        each_committed(&table, &mut |row| {
            at += 1;
            if (at <= passed) == written {
                let id = own.and_then(|column| match table.layout.cell(row, column) {
                    Ok(Cell::UInt(id)) => Some(id),
                    Ok(Cell::Int(id)) => u64::try_from(id).ok(),
                    _ => None,
                });
                let id = id.unwrap_or(at - 1 + FIRST_DOCUMENT);
                put_document((&table, codec, &rules), row, id, &mut index);
            }
        });
        index.into_values().for_each(|places| put_word(places, rows));
    }
}

/// Adds a document's words. The texts of its columns stand one after the other, with a byte
/// between them.
fn put_document(
    (table, codec, rules): (&Table, &WordsCodec, &WordRules),
    row: &[u8],
    id: u64,
    index: &mut BTreeMap<Vec<u8>, Places>,
) {
    let mut start = 0;
    for &column in codec.columns() {
        let Ok(Cell::Text(text)) = table.layout.cell(row, column) else { continue };
        codec.parser().each(text, |word| {
            let Some(key) = word_key(rules.collation, word) else { return };
            if !rules.admits(&key, word.chars().count()) {
                return;
            }
            let places = index.entry(key).or_default();
            if places.word.is_empty() {
                places.word = rules.collation.lower(word);
            }
            // A word is a part of the text.
            let offset = word.as_ptr() as usize - text.as_ptr() as usize;
            places.found.push((id, start + offset));
        });
        start += text.len() + 1;
    }
}

/// The rows of a word, of which POSITION counts from the one before in a document.
fn put_word(mut places: Places, rows: &mut Rows) {
    places.found.sort_unstable();
    let documents: HashSet<u64> = places.found.iter().map(|(id, _)| *id).collect();
    let (first, last) = (documents.iter().min().copied(), documents.iter().max().copied());
    let mut before = None;
    for (id, position) in places.found {
        let shown = match before {
            Some((known, earlier)) if known == id => position - earlier,
            _ => position,
        };
        before = Some((id, position));
        rows.push(row![
            places.word.as_str(),
            first.unwrap_or_default(),
            last.unwrap_or_default(),
            documents.len() as u64,
            id,
            shown as u64,
        ]);
    }
}
