//! Indexes that hints leave for a table: USE, FORCE and IGNORE INDEX, and the optimizer hints
//! INDEX, JOIN_INDEX, GROUP_INDEX, ORDER_INDEX, INDEX_MERGE, SKIP_SCAN and their opposites,
//! NO_RANGE_OPTIMIZATION and NO_ICP.
//!
//! As in MySQL, optimizer hints for indexes of a table replace what stands behind its name, and a
//! hint whose names are all unknown has no effect.

use super::MergeScope;
use crate::catalog::{IndexDef, TableDef};
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{GivenHint, HintKind, IndexHint, IndexHintKind, IndexHintScope, TableHints};

/// The indexes that hints leave for each use; `None` for all.
#[derive(Clone, Debug, Default)]
pub(crate) struct HintedIndexes {
    /// For finding rows.
    pub(crate) lookup: Option<IndexScope>,
    /// For reading rows in the order of ORDER BY.
    pub(crate) order: Option<IndexScope>,
    /// For reading groups one after the other.
    pub(crate) group: Option<IndexScope>,
    /// Groups are to be read by those indexes wherever they can be (GROUP_INDEX).
    pub(crate) grouped: bool,
    /// For being merged.
    pub(crate) merge: Option<MergeScope>,
    /// For being read by ranges behind parts without a condition.
    pub(crate) skip: Option<MergeScope>,
    /// Indexes that are read by single values only, not by ranges.
    pub(crate) no_ranges: Vec<usize>,
    /// Indexes of which rows are looked up before conditions on entries are checked.
    pub(crate) no_pushdown: Vec<usize>,
    /// Indexes that are invisible serve, too (`use_invisible_indexes`).
    pub(crate) invisible: bool,
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

/// What hints say for each use.
#[derive(Default)]
struct AskedByUse {
    lookup: Asked,
    order: Asked,
    group: Asked,
}

impl AskedByUse {
    /// What a hint says for one use, or without a scope for all of them.
    fn add(&mut self, scope: Option<IndexHintScope>, on: bool, indexes: &[usize]) {
        let is_for = |used: IndexHintScope| scope.is_none_or(|scope| scope == used);
        let AskedByUse { lookup, order, group } = self;
        let uses = [
            (IndexHintScope::Join, lookup),
            (IndexHintScope::OrderBy, order),
            (IndexHintScope::GroupBy, group),
        ];
        for (used, asked) in uses {
            if is_for(used) {
                asked.add(on, indexes);
            }
        }
    }
}

impl HintedIndexes {
    /// What is left by the hints behind a table's name, and by those of its query block; `None`
    /// where that is all visible indexes, and `invisible` ones do not serve. Error 1176: a name
    /// behind the table's is unknown.
    pub(crate) fn of(
        def: &TableDef,
        written: &[IndexHint],
        hints: Option<&TableHints>,
        invisible: impl FnOnce() -> bool,
    ) -> Result<Option<HintedIndexes>, SqlError> {
        let invisible = def.indexes.iter().any(|index| !index.visible) && invisible();
        if written.is_empty() && hints.is_none() && !invisible {
            return Ok(None);
        }
        let mut asked = AskedByUse::default();
        for hint in written {
            let find = |name: &String| {
                let unknown = || SqlError::new(ErrorCode::KeyDoesNotExist, &[name, &def.name]);
                def.index(name).ok_or_else(unknown)
            };
            let indexes: Vec<usize> = hint.indexes.iter().map(find).collect::<Result<_, _>>()?;
            let on = hint.kind != IndexHintKind::Ignore;
            asked.add(hint.scope, on, &indexes);
        }
        if let Some(own) = hints.and_then(|hints| asked_by_hints(def, hints)) {
            asked = own;
        }
        let count = def.indexes.len();
        let AskedByUse { lookup, order, group } = asked;
        let scope = |kind| hints.and_then(|hints| scope_of(def, hints, kind));
        let excluded = |kind| hints.map_or_else(Vec::new, |hints| excluded(def, hints, kind));
        let hinted = HintedIndexes {
            lookup: lookup.scope(count),
            order: order.scope(count),
            group: group.scope(count),
            grouped: hints.is_some_and(demands_groups),
            merge: scope(HintKind::IndexMerge),
            skip: scope(HintKind::SkipScan),
            no_ranges: excluded(HintKind::RangeOptimization),
            no_pushdown: excluded(HintKind::Icp),
            invisible,
        };
        Ok(hinted.says_something().then_some(hinted))
    }

    fn says_something(&self) -> bool {
        let HintedIndexes { lookup, order, group, merge, skip, .. } = self;
        let indexes = lookup.is_some() || order.is_some() || group.is_some();
        let ways = merge.is_some() || skip.is_some();
        let excludes = !self.no_ranges.is_empty() || !self.no_pushdown.is_empty();
        indexes || ways || excludes || self.invisible
    }

    /// Whether an index may serve as far as its visibility goes.
    pub(crate) fn shows(hinted: Option<&HintedIndexes>, index: &IndexDef) -> bool {
        index.visible || hinted.is_some_and(|hinted| hinted.invisible)
    }

    /// Whether an index may be read by ranges.
    pub(crate) fn reads_ranges(hinted: Option<&HintedIndexes>, index: usize) -> bool {
        hinted.is_none_or(|hinted| !hinted.no_ranges.contains(&index))
    }

    /// Whether rows may be read in the order of an index.
    pub(crate) fn orders_by(hinted: Option<&HintedIndexes>, index: usize) -> bool {
        let scope = hinted.and_then(|hinted| hinted.order.as_ref());
        scope.is_none_or(|scope| scope.usable.contains(&index))
    }

    /// Whether groups may be read by an index.
    pub(crate) fn groups_by(hinted: Option<&HintedIndexes>, index: usize) -> bool {
        let scope = hinted.and_then(|hinted| hinted.group.as_ref());
        scope.is_none_or(|scope| scope.usable.contains(&index))
    }

    /// Whether rows may be found by an index.
    pub(crate) fn finds_by(hinted: Option<&HintedIndexes>, index: usize) -> bool {
        let scope = hinted.and_then(|hinted| hinted.lookup.as_ref());
        scope.is_none_or(|scope| scope.usable.contains(&index))
    }
}

/// What optimizer hints say for each use; `None` where they say nothing.
fn asked_by_hints(def: &TableDef, hints: &TableHints) -> Option<AskedByUse> {
    let mut asked = AskedByUse::default();
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
        let scope = match hint.kind {
            HintKind::JoinIndex => Some(IndexHintScope::Join),
            HintKind::OrderIndex => Some(IndexHintScope::OrderBy),
            HintKind::GroupIndex => Some(IndexHintScope::GroupBy),
            _ => None,
        };
        asked.add(scope, hint.on, &indexes);
    }
    any.then_some(asked)
}

/// What a hint such as INDEX_MERGE or NO_INDEX_MERGE says; `None` where it names no index that
/// there is.
fn scope_of(def: &TableDef, hints: &TableHints, kind: HintKind) -> Option<MergeScope> {
    let hint = hints.indexes(kind)?;
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

/// The indexes that a hint such as NO_ICP is about.
fn excluded(def: &TableDef, hints: &TableHints, kind: HintKind) -> Vec<usize> {
    let is_it = |given: &GivenHint| given.kind == kind;
    if hints.given.iter().any(is_it) {
        return (0..def.indexes.len()).collect();
    }
    let named = hints.keys.iter().filter(|(_, given)| given.iter().any(is_it));
    named.filter_map(|(name, _)| def.index(name)).collect()
}

/// Whether GROUP_INDEX names indexes that groups are to be read by.
fn demands_groups(hints: &TableHints) -> bool {
    hints.indexes(HintKind::GroupIndex).is_some_and(|hint| hint.on)
}
