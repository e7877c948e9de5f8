//! What hints and `optimizer_switch` allow of merges.

use super::MergeKind;
use crate::access::HintedIndexes;
use crate::access::choose::{EvalSettings, Request};
use inia_base::value::Value;
use inia_expr::{SessionHost, VarScope};

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

/// What INDEX_MERGE or NO_INDEX_MERGE, SKIP_SCAN or NO_SKIP_SCAN says.
#[derive(Clone, Debug)]
pub(crate) struct MergeScope {
    /// The indexes that may be used so, by position.
    pub(crate) usable: Vec<usize>,
    /// They are to be used so wherever they can be, whatever `optimizer_switch` says.
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
        let now = switches(request.merging.settings?.host);
        let demanded = request.merging.is_demanded();
        let on = |name| demanded || !is_off(&now, name);
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

/// The session's `optimizer_switch`.
fn switches(host: &dyn SessionHost) -> String {
    match host.sysvar(VarScope::Session, "optimizer_switch") {
        Ok((Value::Text(text), _)) => text,
        _ => String::new(),
    }
}

fn is_off(switches: &str, name: &str) -> bool {
    switches.split(',').any(|word| word.strip_suffix("=off") == Some(name))
}

/// Whether a switch of the session's `optimizer_switch` is on that is off by default.
pub(crate) fn is_switched_on(settings: EvalSettings<'_>, name: &str) -> bool {
    switches(settings.host).split(',').any(|word| word.strip_suffix("=on") == Some(name))
}

/// Whether a switch of the session's `optimizer_switch` is off.
pub(crate) fn is_switched_off(settings: EvalSettings<'_>, name: &str) -> bool {
    is_off(&switches(settings.host), name)
}

/// Whether an index has a key for each row, in the order of its parts, and hints for finding rows
/// leave it.
pub(super) fn is_mergeable(request: &Request<'_>, position: usize) -> bool {
    let def = &request.table.def;
    let index = &def.indexes[position];
    let left = request.allowed.is_none_or(|allowed| allowed.usable.contains(&position));
    let hinted = request.hinted;
    let reads =
        HintedIndexes::shows(hinted, index) && HintedIndexes::reads_ranges(hinted, position);
    reads && index.kind.has_keys() && left && def.array_part(index).is_none()
}
