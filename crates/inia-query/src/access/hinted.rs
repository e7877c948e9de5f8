//! Indexes that hints leave for a table: USE, FORCE and IGNORE INDEX, and the optimizer hints
//! INDEX, JOIN_INDEX, ORDER_INDEX, INDEX_MERGE and their opposites.
//!
//! As in MySQL, optimizer hints for indexes of a table replace what stands behind its name, and a
//! hint whose names are all unknown has no effect. Hints for GROUP BY have none either, since
//! groups are not read from indexes.

use super::MergeScope;
use crate::catalog::TableDef;
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{HintKind, IndexHint, IndexHintKind, IndexHintScope, TableHints};

/// The indexes that hints leave for each use; `None` for all.
#[derive(Clone, Debug, Default)]
pub(crate) struct HintedIndexes {
    /// For finding rows.
    pub(crate) lookup: Option<IndexScope>,
    /// For reading rows in the order of ORDER BY.
    pub(crate) order: Option<IndexScope>,
    /// For being merged.
    pub(crate) merge: Option<MergeScope>,
}

/// The indexes that hints leave.
#[derive(Clone, Debug)]
pub(crate) struct IndexScope {
    /// By position.
    pub(crate) usable: Vec<usize>,
    /// One of them is to be used wherever it can be.
    pub(crate) forced: bool,
}

/// What hints say for one use.
#[derive(Default)]
struct Asked {
    used: Option<Vec<usize>>,
    ignored: Vec<usize>,
}

impl Asked {
    fn add(&mut self, on: bool, indexes: &[usize]) {
        match on {
            true => self.used.get_or_insert_default().extend(indexes),
            false => self.ignored.extend(indexes),
        }
    }

    fn scope(self, count: usize) -> Option<IndexScope> {
        if self.used.is_none() && self.ignored.is_empty() {
            return None;
        }
        let forced = self.used.is_some();
        let mut usable = self.used.unwrap_or_else(|| (0..count).collect());
        usable.retain(|index| !self.ignored.contains(index));
        Some(IndexScope { usable, forced })
    }
}

impl HintedIndexes {
    /// What is left by the hints behind a table's name, and by those of its query block; `None`
    /// where that is all. Error 1176: a name behind the table's is unknown.
    pub(crate) fn of(
        def: &TableDef,
        written: &[IndexHint],
        hints: Option<&TableHints>,
    ) -> Result<Option<HintedIndexes>, SqlError> {
        if written.is_empty() && hints.is_none() {
            return Ok(None);
        }
        let (mut lookup, mut order) = (Asked::default(), Asked::default());
        for hint in written {
            let find = |name: &String| {
                let unknown = || SqlError::new(ErrorCode::KeyDoesNotExist, &[name, &def.name]);
                def.index(name).ok_or_else(unknown)
            };
            let indexes: Vec<usize> = hint.indexes.iter().map(find).collect::<Result<_, _>>()?;
            let on = hint.kind != IndexHintKind::Ignore;
            if matches!(hint.scope, None | Some(IndexHintScope::Join)) {
                lookup.add(on, &indexes);
            }
            if matches!(hint.scope, None | Some(IndexHintScope::OrderBy)) {
                order.add(on, &indexes);
            }
        }
        if let Some((own_lookup, own_order)) = hints.and_then(|hints| asked_by_hints(def, hints)) {
            (lookup, order) = (own_lookup, own_order);
        }
        let count = def.indexes.len();
        let (lookup, order) = (lookup.scope(count), order.scope(count));
        let merge = hints.and_then(|hints| merge_scope(def, hints));
        let says = lookup.is_some() || order.is_some() || merge.is_some();
        Ok(says.then_some(HintedIndexes { lookup, order, merge }))
    }

    /// Whether rows may be read in the order of an index.
    pub(crate) fn orders_by(hinted: Option<&HintedIndexes>, index: usize) -> bool {
        let scope = hinted.and_then(|hinted| hinted.order.as_ref());
        scope.is_none_or(|scope| scope.usable.contains(&index))
    }

    /// Whether rows may be found by an index.
    pub(crate) fn finds_by(hinted: Option<&HintedIndexes>, index: usize) -> bool {
        let scope = hinted.and_then(|hinted| hinted.lookup.as_ref());
        scope.is_none_or(|scope| scope.usable.contains(&index))
    }
}

/// What optimizer hints say for finding rows and for their order; `None` where they say nothing.
fn asked_by_hints(def: &TableDef, hints: &TableHints) -> Option<(Asked, Asked)> {
    let (mut lookup, mut order) = (Asked::default(), Asked::default());
    let mut any = false;
    let kinds = [HintKind::Index, HintKind::JoinIndex, HintKind::GroupIndex, HintKind::OrderIndex];
    for hint in kinds.into_iter().filter_map(|kind| hints.indexes(kind)) {
        let indexes: Vec<usize> = match hint.names.is_empty() {
            true => (0..def.indexes.len()).collect(),
            false => hint.names.iter().filter_map(|name| def.index(name)).collect(),
        };
        if indexes.is_empty() {
            continue;
        }
        any = true;
        if matches!(hint.kind, HintKind::Index | HintKind::JoinIndex) {
            lookup.add(hint.on, &indexes);
        }
        if matches!(hint.kind, HintKind::Index | HintKind::OrderIndex) {
            order.add(hint.on, &indexes);
        }
    }
    any.then_some((lookup, order))
}

/// What INDEX_MERGE or NO_INDEX_MERGE says; `None` where it names no index that there is.
fn merge_scope(def: &TableDef, hints: &TableHints) -> Option<MergeScope> {
    let hint = hints.indexes(HintKind::IndexMerge)?;
    let named: Vec<usize> = hint.names.iter().filter_map(|name| def.index(name)).collect();
    if named.is_empty() && !hint.names.is_empty() {
        return None;
    }
    let all = 0..def.indexes.len();
    let usable = match hint.names.is_empty() {
        true if hint.on => all.collect(),
        true => Vec::new(),
        false => all.filter(|at| named.contains(at) == hint.on).collect(),
    };
    Some(MergeScope { usable, on: hint.on })
}
