//! What hints and `optimizer_switch` allow of merges.

use super::MergeKind;
use crate::access::choose::{EvalSettings, Request};
use inia_base::value::Value;
use inia_expr::VarScope;

/// What merges of a table's indexes depend on.
#[derive(Clone, Copy, Default)]
pub(crate) struct MergeRules<'r> {
    /// What ranges are measured and switches are read with; without it nothing is merged.
    pub(crate) settings: Option<EvalSettings<'r>>,
    /// What hints say.
    pub(crate) hinted: Option<&'r MergeScope>,
    /// Rows are locked as they are read.
    pub(crate) locks: bool,
    /// No more rows are read once there are so many.
    pub(crate) limit: Option<f64>,
}

impl MergeRules<'_> {
    /// Whether a hint demands a merge.
    pub(super) fn is_demanded(&self) -> bool {
        self.hinted.is_some_and(|scope| scope.on)
    }
}

/// What INDEX_MERGE or NO_INDEX_MERGE says.
#[derive(Clone, Debug)]
pub(crate) struct MergeScope {
    /// The indexes that may be merged, by position.
    pub(crate) usable: Vec<usize>,
    /// Indexes are to be merged wherever they can be, whatever `optimizer_switch` says.
    pub(crate) on: bool,
}

/// What may be merged.
pub(super) struct Allowed {
    /// Positions of indexes.
    pub(super) positions: Vec<usize>,
    union: bool,
    sort_union: bool,
    /// Intersections are allowed.
    pub(super) intersects: bool,
}

impl Allowed {
    /// `None` where nothing may be merged.
    pub(super) fn of(request: &Request<'_>) -> Option<Allowed> {
        let host = request.merging.settings?.host;
        let demanded = request.merging.is_demanded();
        let now = match host.sysvar(VarScope::Session, "optimizer_switch") {
            Ok((Value::Text(text), _)) => text,
            _ => String::new(),
        };
        let off = |name: &str| now.split(',').any(|word| word.strip_suffix("=off") == Some(name));
        let on = |name| demanded || !off(name);
        if !on("index_merge") {
            return None;
        }
        let hinted = request.merging.hinted.map(|scope| &scope.usable);
        let allows = |position: &usize| {
            is_mergeable(request, *position)
                && hinted.is_none_or(|usable| usable.contains(position))
        };
        Some(Allowed {
            positions: (0..request.table.def.indexes.len()).filter(allows).collect(),
            union: on("index_merge_union"),
            sort_union: on("index_merge_sort_union"),
            intersects: on("index_merge_intersection"),
        })
    }

    /// How branches are united.
    pub(super) fn union(&self, ascend: bool) -> Option<MergeKind> {
        match ascend && self.union {
            true => Some(MergeKind::Union),
            false => self.sort_union.then_some(MergeKind::SortUnion),
        }
    }
}

/// Whether an index has a key for each row, in the order of its parts, and hints for finding rows
/// leave it.
pub(super) fn is_mergeable(request: &Request<'_>, position: usize) -> bool {
    let def = &request.table.def;
    let index = &def.indexes[position];
    let left = request.allowed.is_none_or(|allowed| allowed.usable.contains(&position));
    index.visible && index.kind.has_keys() && left && def.array_part(index).is_none()
}
