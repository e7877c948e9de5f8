//! Groups that are complete before the last row has come.
//!
//! ```text
//!   lineitem by its primary key (orderkey, number), grouped by orderkey:
//!   (1, 1) (1, 2) (2, 1) ...      group 1 is complete when (2, 1) comes
//! ```
//!
//! What is given cannot be taken back, so every number must be one that vectors hold: those of
//! columns of at most 64 bits, whose sums always fit 128.

use super::WORD_DIGITS;
use super::program::slot_of;
use crate::optimize::order::keeps_together;
use crate::plan::batches::{BatchNode, BatchSource};
use crate::plan::vector::{NumberOp, Program, VectorKey, VectorTotal};
use crate::plan::{JoinType, RowSource, SelectPlan, TableSource};
use inia_base::datatype::DataType;
use inia_expr::Expr;

/// Whether rows of a group come one after the other, and every number of the keys and totals fits.
pub(super) fn is_in_order(
    select: &SelectPlan,
    group: &[Expr],
    (keys, totals, program): (&[VectorKey], &[VectorTotal], &Program),
) -> bool {
    let numbers = keys.iter().all(|key| matches!(key, VectorKey::Number(_)))
        && !totals
            .iter()
            .any(|total| matches!(total, VectorTotal::Present(_) | VectorTotal::Distinct { .. }));
    let narrow = program.steps.iter().all(|step| match step.op {
        NumberOp::Slot(slot) => column_at(&select.source, slot).is_some_and(is_narrow),
        NumberOp::Constant(_) => true,
        _ => false,
    });
    let first = select.batches.as_ref().map(|plan| first_table(&select.source, &plan.source));
    let (true, true, Some(Some(table))) = (numbers, narrow, first) else { return false };
    let column = |key: &Expr| {
        let column = slot_of(key)?.checked_sub(table.base)?;
        (column < table.table.def.columns.len()).then_some(column)
    };
    let columns: Option<Vec<usize>> = group.iter().map(column).collect();
    columns.is_some_and(|columns| {
        !columns.is_empty() && keeps_together(&table.access, &table.table.def, &columns)
    })
}

/// The table whose order rows come in.
fn first_table<'p>(source: &'p RowSource, batches: &BatchSource) -> Option<&'p TableSource> {
    match (source, &batches.node) {
        (RowSource::Table(table), BatchNode::Table(_)) => Some(table),
        (RowSource::Join(join), node) => {
            // Rows that conditions leave without a match come behind others of their batch.
            if join.kind == JoinType::Left && !join.on.is_empty() {
                return None;
            }
            match node {
                BatchNode::Hash(hash) => first_table(&join.left, &hash.left),
                BatchNode::Loop(looped) => first_table(&join.left, &looped.left),
                BatchNode::Table(_) | BatchNode::Rows => None,
            }
        }
        _ => None,
    }
}

/// The type of the column of a table that fills a slot.
fn column_at(source: &RowSource, slot: usize) -> Option<&DataType> {
    match source {
        RowSource::Table(table) => {
            let column = slot.checked_sub(table.base)?;
            table.table.def.columns.get(column).map(|column| &column.data_type)
        }
        RowSource::Join(join) => {
            column_at(&join.left, slot).or_else(|| column_at(&join.right, slot))
        }
        _ => None,
    }
}

/// Whether every value of the type is a number of 64 bits.
fn is_narrow(data_type: &DataType) -> bool {
    match data_type {
        DataType::Int { .. } | DataType::Date | DataType::DateTime { .. } => true,
        DataType::Decimal { precision, .. } => *precision <= WORD_DIGITS,
        _ => false,
    }
}
