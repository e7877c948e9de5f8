//! EXPLAIN of tables that are read by several indexes at once.

use super::estimate::Estimate;
use super::filtered::filtered;
use super::line::{Line, join_extra, possible_keys, used, used_parts};
use crate::access::{AccessPath, EvalSettings, MergeKind, MergePath};
use crate::catalog::IndexDef;
use crate::optimize::path_cost;
use crate::plan::{JoinPlan, TableSource};

/// The line of a table whose rows a merge finds.
pub(super) fn merge_line(
    source: &TableSource,
    merge: &MergePath,
    blank: &Line,
    join: Option<&JoinPlan>,
    settings: Option<EvalSettings<'_>>,
) -> Line {
    let def = &source.table.def;
    let mut extra = vec!["Using where"];
    join_extra(join, &mut extra);
    let indexes: Vec<(&IndexDef, &AccessPath)> =
        merge.parts.iter().filter_map(|part| Some((&def.indexes[part.index?], part))).collect();
    let list = |text: &dyn Fn(&IndexDef, &AccessPath) -> String| {
        let texts: Vec<String> = indexes.iter().map(|(index, part)| text(index, part)).collect();
        texts.join(",")
    };
    let names = list(&|index, _| index.name.clone());
    Line {
        table: Some(source.alias.clone()),
        access: Some("index_merge"),
        possible_keys: possible_keys(source, None, settings),
        merge: Some(format!("{}({names})", merge.kind.name())),
        key: Some(names),
        key_parts: indexes.iter().flat_map(|(index, part)| used_parts(part, index, def)).collect(),
        key_len: Some(list(&|index, part| def.key_length(index, used(part, index)).to_string())),
        rows: Some(source.rows.max(1.0) as u64),
        filtered: Some(filtered(source, join, settings)),
        extra,
        ..blank.clone()
    }
}

/// What EXPLAIN FORMAT=TREE calls a merge.
pub(super) fn merge_text(merge: &MergePath) -> &'static str {
    match merge.kind {
        MergeKind::Union => "Deduplicate rows sorted by row ID",
        MergeKind::SortUnion => "Sort-deduplicate by row ID",
        MergeKind::Intersect => "Intersect rows sorted by row ID",
    }
}

/// A line of the tree below a merge.
pub(super) enum MergedNode {
    /// A part that is read by itself follows.
    Apart,
    /// A part.
    Part(String, Estimate),
}

/// The parts of a merge.
pub(super) fn merged_nodes(table: &TableSource, merge: &MergePath) -> Vec<MergedNode> {
    let mut nodes = Vec::new();
    for (part, rows) in merge.parts.iter().zip(&merge.entries) {
        let Some(index) = part.index.map(|at| &table.table.def.indexes[at]) else { continue };
        if merge.kind == MergeKind::SortUnion && index.clustered {
            nodes.push(MergedNode::Apart);
        }
        let covering = AccessPath { covering: !index.clustered, ..part.clone() };
        let cost = path_cost(&table.table, &covering, *rows);
        let text = format!("Index range scan on {} using {}", table.alias, index.name);
        nodes.push(MergedNode::Part(text, Estimate { rows: *rows, cost }));
    }
    nodes
}
