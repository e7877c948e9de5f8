//! Which tables a plan reads, and by which indexes.

use super::{Body, IndexExtremum, QueryPlan, RowSource, SelectPlan, StatementPlan};
use crate::access::{AccessPath, FoundBy};
use crate::catalog::Table;
use std::sync::Arc;

/// A table that a plan reads.
pub struct TableRead<'p> {
    /// The table.
    pub table: &'p Arc<Table>,
    /// The indexes that it is read by; empty for reads of the whole table.
    pub indexes: Vec<usize>,
}

impl StatementPlan {
    /// The tables in the order of the plan, with those of the queries inside it.
    pub fn reads(&self) -> Vec<TableRead<'_>> {
        let mut reads = Vec::new();
        query(&self.root, &mut reads);
        for subplan in &self.subplans {
            query(&subplan.query, &mut reads);
            if let Some(recursive) = &subplan.recursive {
                query(&recursive.step, &mut reads);
            }
        }
        reads
    }
}

fn query<'p>(plan: &'p QueryPlan, reads: &mut Vec<TableRead<'p>>) {
    body(&plan.body, reads);
}

fn body<'p>(plan: &'p Body, reads: &mut Vec<TableRead<'p>>) {
    match plan {
        Body::Select(select) => self::select(select, reads),
        Body::Values(_) => {}
        Body::SetOperation(set) => {
            body(&set.first, reads);
            set.rest.iter().for_each(|step| body(&step.body, reads));
        }
        Body::Nested(inner) => query(inner, reads),
    }
}

fn select<'p>(plan: &'p SelectPlan, reads: &mut Vec<TableRead<'p>>) {
    let from = reads.len();
    source(&plan.source, reads);
    // The ends of indexes are read instead of the table.
    if let Some(extrema) = plan.extrema()
        && let [read] = &mut reads[from..]
    {
        let ends = extrema.iter().filter_map(|end| match end {
            IndexExtremum::First { path, .. } => path.index,
            IndexExtremum::Rows(_) => None,
        });
        read.indexes = ends.collect();
    }
}

fn source<'p>(plan: &'p RowSource, reads: &mut Vec<TableRead<'p>>) {
    match plan {
        RowSource::Table(read) => {
            reads.push(TableRead {
                table: &read.table,
                indexes: indexes(&read.table, &read.access),
            });
        }
        RowSource::Join(join) => join.in_order().into_iter().for_each(|side| source(side, reads)),
        _ => {}
    }
}

/// The indexes that a path uses.
pub(crate) fn indexes(table: &Table, path: &AccessPath) -> Vec<usize> {
    match path.found_by.as_deref() {
        Some(FoundBy::Search(search)) => return vec![search.index],
        Some(FoundBy::Merge(merge)) => {
            return merge.parts.iter().flat_map(|part| indexes(table, part)).collect();
        }
        Some(FoundBy::Ranges(_) | FoundBy::Skip(_)) | None => {}
    }
    // The index of the rows is no help where all of them are read.
    let helps = |index: &usize| !table.def.indexes[*index].clustered || !path.is_unbounded();
    path.index.filter(helps).into_iter().collect()
}
