//! What holds for strategies over stored cells and column vectors.

use super::batches::{check_program, check_slots};
use super::table_of;
use crate::plan::vector::{VectorGroups, VectorKey, VectorTotal};
use crate::plan::{
    Aggregation, Factor, GroupStrategy, IntColumn, RowSource, SelectPlan, TableSource,
};
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
        (GroupStrategy::Vectors(groups), _) => check_vectors(groups, aggregation, select),
        (GroupStrategy::IntGroups(_), None) => {
            debug_assert!(false, "cells are those of one table");
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
        (GroupStrategy::InOrder, source) => {
            let looped = matches!(&select.source, RowSource::Join(join) if join.ordered);
            let merges = source.map_or(!looped, |source| source.access.merge().is_some());
            debug_assert!(!merges && !aggregation.rollup, "groups come one after the other");
        }
        (GroupStrategy::Hash | GroupStrategy::Sort | GroupStrategy::Extrema(_), _) => {}
    }
}

fn check_vectors(groups: &VectorGroups, aggregation: &Aggregation, select: &SelectPlan) {
    let Some(batches) = &select.batches else {
        debug_assert!(false, "vectors are those of batches");
        return;
    };
    let given: Vec<usize> = batches.source.slots.iter().map(|slot| slot.slot).collect();
    check_program(&groups.program, &given);
    check_slots(&groups.kept, &given);
    let steps = groups.program.steps.len();
    debug_assert_eq!(groups.keys.len(), aggregation.group.len(), "a key is an expression's");
    let check_key = |key: &VectorKey| match key {
        VectorKey::Number(step) => debug_assert!(*step < steps, "a key reads a step"),
        VectorKey::Text(slot) => check_slots(&[*slot], &given),
        VectorKey::Value(slots) => check_slots(slots, &given),
    };
    groups.keys.iter().for_each(check_key);
    debug_assert_eq!(groups.totals.len(), aggregation.calls.len(), "a call has a total");
    for total in &groups.totals {
        match total {
            VectorTotal::Rows => {}
            VectorTotal::Present(slot) => check_slots(&[*slot], &given),
            VectorTotal::Each(slots) => check_slots(slots, &given),
            VectorTotal::Distinct { keys, .. } => {
                debug_assert!(!groups.in_order && !groups.mergeable, "values are of one table");
                keys.iter().for_each(check_key);
            }
            VectorTotal::Count(step)
            | VectorTotal::Sum(step)
            | VectorTotal::MinMax { step, .. } => {
                debug_assert!(*step < steps, "a total reads a step");
            }
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
