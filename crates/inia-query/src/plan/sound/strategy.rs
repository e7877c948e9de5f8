//! What holds for strategies over stored cells and column vectors.

use super::table_of;
use crate::plan::vector::{NumberOp, NumberStep, VectorFilter, VectorGroups, VectorTotal};
use crate::plan::{Aggregation, Factor, GroupStrategy, IntColumn, SelectPlan, TableSource};
use inia_base::datatype::DataType;

/// Checks how the groups of a SELECT are made.
pub(super) fn check(select: &SelectPlan) {
    let Some(aggregation) = &select.aggregation else { return };
    let source = table_of(&select.source);
    match (&aggregation.strategy, source) {
        (GroupStrategy::IntGroups(groups), Some(source)) => {
            check_int(groups.by, source);
            let columns = groups.totals.iter().filter_map(|total| total.column());
            columns.for_each(|column| check_column(column, source));
            debug_assert_eq!(groups.totals.len(), aggregation.calls.len(), "a call has a total");
        }
        (GroupStrategy::Vectors(groups), Some(source)) => {
            check_vectors(groups, aggregation, source)
        }
        (GroupStrategy::IntGroups(_) | GroupStrategy::Vectors(_), None) => {
            debug_assert!(false, "cells and vectors are those of one table");
        }
        (GroupStrategy::JoinTotals(totals), _) => {
            debug_assert_eq!(totals.factors.len(), aggregation.calls.len(), "a call has a factor");
            let mut places = totals.factors.iter().filter_map(|factor| match factor {
                Factor::Right(_, place) => Some(*place),
                _ => None,
            });
            debug_assert!(
                places.by_ref().enumerate().all(|(at, place)| at == place),
                "sums in order"
            );
        }
        (GroupStrategy::Hash | GroupStrategy::Sort | GroupStrategy::Extrema(_), _) => {}
    }
}

fn check_vectors(groups: &VectorGroups, aggregation: &Aggregation, source: &TableSource) {
    check_steps(&groups.tested, source);
    check_steps(&groups.computed, source);
    debug_assert_eq!(groups.keys.len(), aggregation.group.len(), "a key is an expression's");
    groups.keys.iter().for_each(|key| check_column(key.column, source));
    debug_assert_eq!(groups.conditions.len(), source.filter.len(), "a filter is a condition's");
    for (at, filter) in groups.conditions.iter().enumerate() {
        let in_place = !matches!(filter, VectorFilter::Row(place) if *place != at);
        debug_assert!(in_place, "a condition is checked in its place");
    }
    debug_assert_eq!(groups.totals.len(), aggregation.calls.len(), "a call has a total");
    for total in &groups.totals {
        let step = match *total {
            VectorTotal::Rows => continue,
            VectorTotal::Count(step) | VectorTotal::Sum(step) => step,
            VectorTotal::MinMax { step, .. } => step,
        };
        debug_assert!(step < groups.computed.len(), "a total reads a step");
    }
}

/// Checks that steps read columns that are read, and steps before them.
fn check_steps(steps: &[NumberStep], source: &TableSource) {
    for (at, step) in steps.iter().enumerate() {
        match step.op {
            NumberOp::Column(column) => check_column(column, source),
            NumberOp::Constant(_) => {}
            NumberOp::Arith(_, left, right) => {
                debug_assert!(left < at && right < at, "operands are earlier steps");
            }
            NumberOp::Negate(inner) => debug_assert!(inner < at, "an operand is an earlier step"),
        }
    }
}

fn check_int(by: IntColumn, source: &TableSource) {
    check_column(by.column, source);
    let data_type = &source.table.def.columns[by.column].data_type;
    let same = matches!(data_type, DataType::Int { unsigned, .. } if *unsigned == by.unsigned);
    debug_assert!(same, "the column has integers of that sign");
}

fn check_column(column: usize, source: &TableSource) {
    debug_assert!(column < source.table.def.columns.len(), "a column of the table");
    debug_assert!(source.needed[column], "a column that is read");
}
