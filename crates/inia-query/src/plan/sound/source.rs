//! What holds for the members of FROM: which slots each fills, and which it reads before that.

use super::expr::Readable;
use super::path;
use crate::plan::{JoinMethod, JoinPlan, RowSource, StatementPlan, TableSource};
use inia_expr::{Expr, SlotSet};
use std::ops::Range;

impl StatementPlan {
    /// Checks a source that runs while the `filled` slots hold values, of a row of `width` slots;
    /// returns the filled slots behind it.
    pub(super) fn check_source(
        &self,
        source: &RowSource,
        filled: &SlotSet,
        width: usize,
    ) -> SlotSet {
        match source {
            RowSource::One => filled.clone(),
            // Without rows nothing is read.
            RowSource::Nothing => SlotSet::of_range(0..width),
            RowSource::Table(table) => self.check_table(table, filled, width),
            RowSource::Subplan { id, base, filter, .. } => {
                debug_assert!(*id < self.subplans.len(), "a subplan has a number");
                let columns = self.subplans[*id].query.columns.len();
                self.check_leaf(*base..base + columns, filter, filled, width)
            }
            RowSource::Virtual(table) => {
                let slots = table.base..table.base + table.table.columns().len();
                self.check_leaf(slots, &table.filter, filled, width)
            }
            RowSource::JsonTable(table) => {
                Readable::of(self, filled.clone()).check(&table.document);
                let slots = table.base..table.base + table.rows.width();
                self.check_leaf(slots, &table.filter, filled, width)
            }
            RowSource::Dedup(dedup) => {
                let filled = self.check_source(&dedup.source, filled, width);
                let readable = Readable::of(self, filled.clone());
                dedup.values().iter().for_each(|(_, value)| readable.check(value));
                filled
            }
            RowSource::Join(join) => self.check_join(join, filled, width),
        }
    }

    fn check_join(&self, join: &JoinPlan, filled: &SlotSet, width: usize) -> SlotSet {
        debug_assert!(join.right_slots.end <= width, "an outer join sets slots of its row to NULL");
        let left = self.check_source(&join.left, filled, width);
        let both = match &join.method {
            JoinMethod::NestedLoop => self.check_source(&join.right, &left, width),
            JoinMethod::Hash(keys) => {
                let right = self.check_source(&join.right, filled, width);
                for key in keys {
                    Readable::of(self, left.clone()).check(&key.left);
                    Readable::of(self, right.clone()).check(&key.right);
                }
                left.union(&right)
            }
        };
        join.on.iter().for_each(|condition| Readable::of(self, both.clone()).check(condition));
        if join.kind.gives_right() { both } else { left }
    }

    fn check_table(&self, source: &TableSource, filled: &SlotSet, width: usize) -> SlotSet {
        let def = &source.table.def;
        // A changed table without a primary key gives its row id, too.
        let row_id =
            usize::from(source.needed.len() > def.columns.len() && def.clustered_index().is_none());
        let slots = def.columns.len() + row_id;
        debug_assert_eq!(source.needed.len(), slots, "each column is read or not");
        path::check(&source.access, &source.table, &source.needed);
        let before = Readable::of(self, filled.clone());
        source.access.exprs().for_each(|expr| before.check(expr));
        let end = source.base + slots;
        debug_assert!(end <= width, "a table fills slots of its row");
        let mut decoded = filled.clone();
        for (column, _) in source.needed.iter().enumerate().filter(|(_, needed)| **needed) {
            debug_assert!(!filled.contains(source.base + column), "a slot has one source");
            decoded.insert(source.base + column);
        }
        let order = source.read_order.tested.iter().chain(&source.read_order.rest);
        let mut ordered = filled.clone();
        order.for_each(|column| ordered.insert(source.base + column));
        debug_assert_eq!(ordered, decoded, "each needed column is read");
        let own = Readable::of(self, decoded);
        source.filter.iter().chain(&source.bound_filter).for_each(|expr| own.check(expr));
        own.slots
    }

    /// Checks a member that fills all of its slots.
    fn check_leaf(
        &self,
        slots: Range<usize>,
        filter: &[Expr],
        filled: &SlotSet,
        width: usize,
    ) -> SlotSet {
        debug_assert!(slots.end <= width, "a member of FROM fills slots of its row");
        let own = SlotSet::of_range(slots);
        debug_assert!(!own.intersects(filled), "a slot has one source");
        let all = Readable::of(self, filled.union(&own));
        filter.iter().for_each(|condition| all.check(condition));
        all.slots
    }
}
