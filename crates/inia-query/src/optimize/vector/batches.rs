//! Which FROMs give batches, and what each of their members hands on.
//!
//! A slot is in a batch from the member that fills it up to the last place that reads it. The tree
//! is therefore made from the top, with the slots that are read above each member.

use super::parallel::{ParallelSettings, is_pure};
use super::program::{ProgramBuilder, comparable, filters, text_slot};
use crate::optimize::size::of_filtered;
use crate::plan::batches::{
    BatchKey, BatchNode, BatchPlan, BatchSlot, BatchSource, HashBatches, LoopBatches, LoopRight,
};
use crate::plan::vector::VectorForm;
use crate::plan::{HashKey, JoinMethod, JoinPlan, JoinType, RowSource, SelectPlan, TableSource};
use inia_base::value::Value;
use inia_expr::compare::CmpClass;
use inia_expr::{Expr, ExprKind, SessionHost, SlotSet, VarScope, slots_of};
use std::collections::HashMap;

/// Joins of fewer rows are not worth the beginning of a batch, where the session does not say.
const WORTH_ROWS: f64 = 128.0;

/// Rows of a scan for each that fulfils its conditions, where vectors look for these.
const RARE: f64 = 4.0;

/// Rows that a semi or an anti join reads for each left row without looking at them one by one.
const MATCHES_THRESHOLD: f64 = 16.0;

/// How FROM and WHERE of a SELECT are executed over batches; `None` where they are over rows:
/// where rows are locked, the order of evaluation can be seen, or there are few.
pub(crate) fn batch_plan(select: &SelectPlan, host: &dyn SessionHost) -> Option<BatchPlan> {
    let joined = matches!(select.source, RowSource::Join(_));
    let grouped = select.aggregation.as_ref().is_some_and(|aggregation| !aggregation.rollup);
    let wanted = match (joined, &select.source) {
        (true, source) => has_batches(source) && most_rows(source) >= worth_rows(host),
        (false, RowSource::Table(table)) => grouped || is_filtered_scan(select, table, host),
        _ => false,
    };
    if !wanted || !is_batchable(&select.source) || !select.filter.iter().all(is_orderless) {
        return None;
    }
    let mut reads = ReadSlots::default();
    select.filter.iter().for_each(|condition| reads.add(condition));
    read_above(select, &mut reads);
    let mut forms = Forms::default();
    forms.of_source(&select.source);
    reads.exprs.iter().for_each(|expr| forms.of_expr(expr));
    let planner = Planner { forms, parallel: ParallelSettings::of(host) };
    let all = fills(&select.source);
    let above = if reads.whole { all.clone() } else { reads.slots.intersection(&all) };
    let mut source = planner.source(&select.source, &above);
    if select.filter.iter().all(is_pure) {
        planner.divide(&mut source, &select.source);
    }
    Some(BatchPlan { source, filters: filters(&select.filter, &all) })
}

/// Whether a table is scanned for few of its many rows, by a condition that vectors know. Where
/// most rows go on, they do so faster one by one.
fn is_filtered_scan(select: &SelectPlan, table: &TableSource, host: &dyn SessionHost) -> bool {
    if table.filter.is_empty() || table.access.point {
        return false;
    }
    let rare = || of_filtered(select) * RARE <= table.rows;
    let by_vectors = || {
        let conditions = filters(&table.filter, &SlotSet::default());
        conditions.filters.first().is_some_and(|filter| filter.vector.is_some())
    };
    ParallelSettings::of(host).is_worth(table.rows) && rare() && by_vectors()
}

/// How many rows a join has that is worth batches (`inia_batch_rows`).
fn worth_rows(host: &dyn SessionHost) -> f64 {
    match host.sysvar(VarScope::Session, "inia_batch_rows") {
        Ok((Value::UInt(rows), _)) => rows as f64,
        Ok((Value::Int(rows), _)) => rows as f64,
        _ => WORTH_ROWS,
    }
}

/// What expressions read.
#[derive(Default)]
struct ReadSlots<'p> {
    slots: SlotSet,
    whole: bool,
    exprs: Vec<&'p Expr>,
}

impl<'p> ReadSlots<'p> {
    fn add(&mut self, expr: &'p Expr) {
        let needs = slots_of(expr);
        self.slots = self.slots.union(&needs.slots);
        self.whole |= needs.whole_row;
        self.exprs.push(expr);
    }
}

/// Adds what everything above FROM and WHERE reads.
fn read_above<'p>(select: &'p SelectPlan, reads: &mut ReadSlots<'p>) {
    select.output.iter().chain(&select.having).for_each(|expr| reads.add(expr));
    if let Some(aggregation) = &select.aggregation {
        aggregation.group.iter().for_each(|expr| reads.add(expr));
        for call in &aggregation.calls {
            let order = call.order_by.iter().map(|(expr, _)| expr);
            call.args.iter().chain(order).for_each(|expr| reads.add(expr));
        }
        // Queries inside read the group's row.
        reads.whole |= !aggregation.shown.is_empty();
    }
    for window in &select.windows {
        window.for_each_expr(&mut |expr| {
            let needs = slots_of(expr);
            reads.slots = reads.slots.union(&needs.slots);
            reads.whole |= needs.whole_row;
        });
    }
}

/// The most rows that a table or a join of the source is expected to have.
fn most_rows(source: &RowSource) -> f64 {
    match source {
        RowSource::Table(table) => table.rows,
        RowSource::Join(join) => join.rows.max(most_rows(&join.left)).max(most_rows(&join.right)),
        _ => 0.0,
    }
}

/// Whether some join of the source works on batches.
fn has_batches(source: &RowSource) -> bool {
    let RowSource::Join(join) = source else { return false };
    match join.method {
        JoinMethod::Hash(_) => true,
        JoinMethod::NestedLoop => loop_right(join) == LoopRight::Table || has_batches(&join.left),
    }
}

/// Whether rows may be read in batches: none is locked, and nobody sees in which order conditions
/// are evaluated.
fn is_batchable(source: &RowSource) -> bool {
    let orderless = |conditions: &[Expr]| conditions.iter().all(is_orderless);
    match source {
        RowSource::Table(table) => {
            let hidden = table.needed.iter().skip(table.table.def.columns.len());
            table.lock.is_none()
                && !hidden.copied().any(|needed| needed)
                && orderless(&table.filter)
                && orderless(&table.bound_filter)
        }
        RowSource::Join(join) => {
            let keys = match &join.method {
                JoinMethod::Hash(keys) => &keys[..],
                JoinMethod::NestedLoop => &[],
            };
            let ordered = join.ordered && join.kind == JoinType::Left && !join.on.is_empty();
            !ordered
                && orderless(&join.on)
                && keys.iter().all(|key| is_orderless(&key.left) && is_orderless(&key.right))
                && is_batchable(&join.left)
                && is_batchable(&join.right)
        }
        RowSource::Subplan { filter, .. } => orderless(filter),
        RowSource::Virtual(table) => orderless(&table.filter),
        RowSource::JsonTable(table) => orderless(&table.filter),
        RowSource::Dedup(_) => false,
        RowSource::One | RowSource::Nothing => true,
    }
}

/// Whether an expression neither changes nor shows what others evaluate.
pub(super) fn is_orderless(expr: &Expr) -> bool {
    let mut orderless = true;
    expr.walk(&mut |node| match &node.kind {
        ExprKind::AssignUserVar(..) | ExprKind::UserVar(_) => orderless = false,
        ExprKind::Call(call) => orderless &= call.deterministic,
        _ => {}
    });
    orderless
}

/// The slots that a source fills.
fn fills(source: &RowSource) -> SlotSet {
    match source {
        RowSource::One | RowSource::Nothing => SlotSet::default(),
        RowSource::Table(table) => {
            let needed = table.needed.iter().enumerate().filter(|(_, needed)| **needed);
            let mut slots = SlotSet::default();
            needed.for_each(|(column, _)| slots.insert(table.base + column));
            slots
        }
        RowSource::Subplan { base, width, .. } => SlotSet::of_range(*base..*base + *width),
        RowSource::Virtual(table) => {
            SlotSet::of_range(table.base..table.base + table.table.columns().len())
        }
        RowSource::JsonTable(table) => {
            SlotSet::of_range(table.base..table.base + table.rows.width())
        }
        RowSource::Dedup(dedup) => fills(&dedup.source),
        RowSource::Join(join) if !join.kind.gives_right() => fills(&join.left),
        RowSource::Join(join) => fills(&join.left).union(&fills(&join.right)),
    }
}

/// What the vector of each slot holds.
#[derive(Default)]
struct Forms(HashMap<usize, VectorForm>);

impl Forms {
    fn of_source(&mut self, source: &RowSource) {
        match source {
            RowSource::Table(table) => self.of_table(table),
            RowSource::Join(join) => {
                if let JoinMethod::Hash(keys) = &join.method {
                    keys.iter()
                        .flat_map(|key| [&key.left, &key.right])
                        .for_each(|e| self.of_expr(e));
                }
                join.on.iter().for_each(|expr| self.of_expr(expr));
                self.of_source(&join.left);
                self.of_source(&join.right);
            }
            _ => {}
        }
    }

    /// A table's columns have the forms of their types, whatever reads them.
    fn of_table(&mut self, table: &TableSource) {
        for (column, def) in table.table.def.columns.iter().enumerate() {
            self.0.insert(table.base + column, VectorForm::of(&def.data_type));
        }
    }

    fn of_expr(&mut self, expr: &Expr) {
        expr.walk(&mut |node| {
            if let ExprKind::Column { index, .. } = node.kind {
                self.0.entry(index).or_insert_with(|| VectorForm::of(&node.ty.data_type));
            }
        });
    }

    fn slots(&self, slots: &SlotSet) -> Vec<BatchSlot> {
        let form = |slot| self.0.get(&slot).copied().unwrap_or(VectorForm::Values);
        slots.iter().map(|slot| BatchSlot { slot, form: form(slot) }).collect()
    }
}

/// How the right side of a nested loop is read.
fn loop_right(join: &JoinPlan) -> LoopRight {
    match (&join.right, join.kind) {
        (RowSource::One, JoinType::Inner) => LoopRight::Nothing,
        (RowSource::Table(_), JoinType::Inner | JoinType::Left) => LoopRight::Table,
        // Where few rows may match, all are read; else reading stops at the first match.
        (RowSource::Table(table), _) if table.rows <= MATCHES_THRESHOLD => LoopRight::Table,
        _ => LoopRight::Rows,
    }
}

struct Planner {
    forms: Forms,
    parallel: ParallelSettings,
}

impl Planner {
    /// A source of which `above` is read.
    fn source(&self, source: &RowSource, above: &SlotSet) -> BatchSource {
        let slots = above.intersection(&fills(source));
        let node = match source {
            RowSource::Table(table) => BatchNode::Table(filters(&table.filter, &fills(source))),
            RowSource::Join(join) => match &join.method {
                JoinMethod::Hash(keys) => BatchNode::Hash(Box::new(self.hash(join, keys, &slots))),
                JoinMethod::NestedLoop => BatchNode::Loop(Box::new(self.nested(join, &slots))),
            },
            _ => BatchNode::Rows,
        };
        BatchSource { node, slots: self.forms.slots(&slots), threads: 1 }
    }

    /// Has several threads make a source's batches, where that is possible and worth it.
    fn divide(&self, plan: &mut BatchSource, source: &RowSource) {
        plan.threads = self.parallel.threads(source, &plan.node);
    }

    fn hash(&self, join: &JoinPlan, keys: &[HashKey], above: &SlotSet) -> HashBatches {
        let on = reads_of(&join.on);
        let both = fills(&join.left).union(&fills(&join.right));
        let on = if on.whole { both.clone() } else { on.slots.intersection(&both) };
        let mut wanted = above.union(&on);
        for key in keys {
            for side in [&key.left, &key.right] {
                wanted = wanted.union(&slots_of(side).slots);
            }
        }
        let (mut left, mut right) = (ProgramBuilder::default(), ProgramBuilder::default());
        let batch_keys = keys.iter().map(|key| batch_key(key, &mut left, &mut right)).collect();
        let mut build = self.source(&join.right, &wanted);
        self.divide(&mut build, &join.right);
        HashBatches {
            left: self.source(&join.left, &wanted),
            right: build,
            keys: batch_keys,
            left_program: left.finish(),
            right_program: right.finish(),
            on: filters(&join.on, &both),
            on_slots: self.forms.slots(&on),
        }
    }

    fn nested(&self, join: &JoinPlan, above: &SlotSet) -> LoopBatches {
        let right = loop_right(join);
        let (lefts, rights) = (fills(&join.left), fills(&join.right));
        let both = lefts.union(&rights);
        let conditions: Vec<&Expr> = match &join.right {
            RowSource::Table(table) if right == LoopRight::Table => {
                table.filter.iter().chain(&table.bound_filter).chain(&join.on).collect()
            }
            _ if right == LoopRight::Nothing => join.on.iter().collect(),
            _ => Vec::new(),
        };
        let mut on = ReadSlots::default();
        conditions.iter().for_each(|condition| on.add(condition));
        let on = if on.whole { both.clone() } else { on.slots.intersection(&both) };
        let bound = match (&join.right, right) {
            (_, LoopRight::Nothing) => SlotSet::default(),
            (RowSource::Table(table), LoopRight::Table) => {
                let bounds = reads_of(table.access.exprs());
                if bounds.whole { lefts.clone() } else { bounds.slots.intersection(&lefts) }
            }
            _ => {
                let mut reads = reads_of(&join.on);
                read_in(&join.right, &mut reads);
                if reads.whole { lefts.clone() } else { reads.slots.intersection(&lefts) }
            }
        };
        let from_right = above.union(&on).intersection(&rights);
        LoopBatches {
            left: self.source(&join.left, &above.union(&on).union(&bound)),
            bound: bound.iter().collect(),
            right,
            right_slots: self.forms.slots(&from_right),
            on: filters(conditions, &both),
            on_slots: self.forms.slots(&on),
        }
    }
}

fn reads_of<'p>(exprs: impl IntoIterator<Item = &'p Expr>) -> ReadSlots<'p> {
    let mut reads = ReadSlots::default();
    exprs.into_iter().for_each(|expr| reads.add(expr));
    reads
}

/// Adds what reading a source evaluates.
fn read_in<'p>(source: &'p RowSource, reads: &mut ReadSlots<'p>) {
    source.each(&mut |source| {
        // LATERAL reads rows that are not listed.
        reads.whole |= matches!(source, RowSource::Subplan { .. });
        source.own_exprs(&mut |expr| reads.add(expr));
    });
}

/// How the sides of an equality compare: as numbers, as texts of two columns, or as values.
fn batch_key<'p>(
    key: &'p HashKey,
    left: &mut ProgramBuilder<'p>,
    right: &mut ProgramBuilder<'p>,
) -> BatchKey {
    if let (CmpClass::Text(collation), Some(l), Some(r)) =
        (&key.class, text_slot(&key.left), text_slot(&key.right))
    {
        return BatchKey::Texts { left: l, right: r, collation: *collation };
    }
    if let (Some(l), Some(r)) = (left.step(&key.left), right.step(&key.right)) {
        let (of_left, of_right) = (left.kind(l), right.kind(r));
        if comparable(&key.class, of_left, of_right) {
            let scale = of_left.scale().max(of_right.scale());
            return BatchKey::Numbers { left: l, right: r, scale };
        }
    }
    let slots = |expr| slots_of(expr).slots.iter().collect();
    BatchKey::Values { left: slots(&key.left), right: slots(&key.right) }
}
