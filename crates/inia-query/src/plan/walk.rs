//! Every expression and every member of FROM of a query. Queries that it has by number are not
//! entered.

use super::window::FrameEnd;
use super::{
    Body, FirstSort, IndexExtremum, JoinMethod, LimitPlan, QueryPlan, RowSource, SelectPlan,
    SetPlan, TableSource,
};
use inia_expr::{Expr, SlotSet};

impl QueryPlan {
    /// Every expression of it, those of the queries that it has by number aside.
    pub(super) fn for_each_expr(&self, visit: &mut dyn FnMut(&Expr)) {
        self.body.for_each_expr(visit);
        self.computed.iter().for_each(&mut *visit);
        self.limit.iter().flat_map(LimitPlan::exprs).for_each(visit);
    }

    /// Every member of FROM, and the joins that they are parts of.
    pub(crate) fn for_each_source(&self, visit: &mut dyn FnMut(&RowSource)) {
        self.body.for_each_select(&mut |select| select.source.each(visit));
    }
}

impl LimitPlan {
    fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.offset.iter().chain([&self.count])
    }
}

impl Body {
    fn for_each_expr(&self, visit: &mut dyn FnMut(&Expr)) {
        match self {
            Body::Select(select) => select.for_each_expr(visit),
            Body::Values(values) => values.rows.iter().flatten().for_each(visit),
            Body::SetOperation(set) => {
                set.operands().for_each(|operand| operand.for_each_expr(visit));
            }
            Body::Nested(query) => query.for_each_expr(visit),
        }
    }

    fn for_each_select(&self, visit: &mut dyn FnMut(&SelectPlan)) {
        match self {
            Body::Select(select) => visit(select),
            Body::Values(_) => {}
            Body::SetOperation(set) => {
                set.operands().for_each(|operand| operand.for_each_select(visit));
            }
            Body::Nested(query) => query.body.for_each_select(visit),
        }
    }
}

impl SetPlan {
    fn operands(&self) -> impl Iterator<Item = &Body> {
        std::iter::once(&self.first).chain(self.rest.iter().map(|step| &step.body))
    }
}

impl SelectPlan {
    fn for_each_expr(&self, visit: &mut dyn FnMut(&Expr)) {
        self.source.each(&mut |source| source.own_exprs(&mut |expr| visit(expr)));
        self.once.iter().chain(&self.filter).for_each(&mut *visit);
        if let Some(aggregation) = &self.aggregation {
            aggregation.group.iter().for_each(&mut *visit);
            for call in &aggregation.calls {
                let order = call.order_by.iter().map(|(expr, _)| expr);
                call.args.iter().chain(order).for_each(&mut *visit);
            }
        }
        for extremum in self.extrema().into_iter().flatten() {
            if let IndexExtremum::First { path, .. } = extremum {
                path.exprs().for_each(&mut *visit);
            }
        }
        for window in &self.windows {
            window.for_each_expr(visit);
            let ends = [&window.frame.start, &window.frame.end];
            ends.into_iter().filter_map(FrameEnd::distance).for_each(&mut *visit);
        }
        self.having.iter().chain(&self.output).for_each(visit);
    }
}

impl RowSource {
    /// Itself and the sources that it joins.
    pub(crate) fn each<'p>(&'p self, visit: &mut dyn FnMut(&'p RowSource)) {
        visit(self);
        match self {
            RowSource::Join(join) => {
                join.left.each(visit);
                join.right.each(visit);
            }
            RowSource::Dedup(dedup) => dedup.source.each(visit),
            _ => {}
        }
    }

    /// Whether it has one row at most, which constants find by unique keys.
    pub(crate) fn is_single(&self) -> bool {
        match self {
            RowSource::Table(table) => table.access.point,
            RowSource::Join(join) => {
                let looks = matches!(join.method, JoinMethod::NestedLoop);
                looks && join.kind.gives_right() && join.left.is_single() && join.right.is_single()
            }
            _ => false,
        }
    }

    /// The slots of the tables that stand first and have one row at most.
    pub(crate) fn single_slots(&self) -> SlotSet {
        let slots =
            |table: &TableSource| SlotSet::of_range(table.base..table.base + table.needed.len());
        match self {
            RowSource::Join(join) if self.is_single() || join.left.is_single() => {
                join.left.single_slots().union(&join.right.single_slots())
            }
            RowSource::Join(join) => join.left.single_slots(),
            RowSource::Table(table) if table.access.point => slots(table),
            _ => SlotSet::default(),
        }
    }

    /// The expressions of a member of FROM, or of a join alone.
    pub(crate) fn own_exprs<'p>(&'p self, visit: &mut dyn FnMut(&'p Expr)) {
        match self {
            RowSource::One | RowSource::Nothing => {}
            RowSource::Table(table) => {
                let TableSource { access, filter, bound_filter, sorted, .. } = &**table;
                access.exprs().chain(filter).chain(bound_filter).for_each(&mut *visit);
                if let Some(FirstSort { keys, limit }) = sorted.as_deref() {
                    keys.iter().for_each(|key| visit(&key.expr));
                    limit.iter().flat_map(LimitPlan::exprs).for_each(visit);
                }
            }
            RowSource::Subplan { filter, .. } => filter.iter().for_each(visit),
            RowSource::Virtual(table) => table.filter.iter().for_each(visit),
            RowSource::JsonTable(table) => {
                std::iter::once(&table.document).chain(&table.filter).for_each(visit);
            }
            RowSource::Dedup(dedup) => dedup.values().iter().for_each(|(_, value)| visit(value)),
            RowSource::Join(join) => {
                join.on.iter().for_each(&mut *visit);
                if let JoinMethod::Hash(keys) = &join.method {
                    keys.iter().flat_map(|key| [&key.left, &key.right]).for_each(visit);
                }
            }
        }
    }
}
