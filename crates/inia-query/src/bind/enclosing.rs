//! What a query inside another reads of it besides columns: items of its select list, and
//! aggregates that are computed there.
//!
//! An aggregate belongs to the SELECT whose columns it reads. If that SELECT allows no aggregate in
//! this clause, it belongs to the next inner SELECT that does. An aggregate of an outer SELECT has
//! a slot after those of that SELECT's FROM, which is filled when a group is finished; the inner
//! query reads it as an outer column.
//!
//! Example: in `SELECT a, (SELECT SUM(t.b) + u.x FROM u) FROM t GROUP BY a` over `t(a, b)` the
//! aggregate is `t`'s number 0 and shown in slot 2; the subquery reads outer column 2.

use super::scope::{BlockScope, ScopeItem};
use super::{Level, QueryBinder, Result};
use crate::access::is_stable;
use crate::catalog::same_name;
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::aggregate::Aggregate;
use inia_expr::{Expr, ExprKind};
use inia_parser::ast::ColumnName;

/// Whether two calls give the same result for every group.
fn same_aggregate(a: &Aggregate, b: &Aggregate) -> bool {
    a.func == b.func
        && a.distinct == b.distinct
        && a.separator == b.separator
        && a.order_by.is_empty()
        && b.order_by.is_empty()
        && a.args.len() == b.args.len()
        && a.args.iter().zip(&b.args).all(|(a, b)| a.same(b) && is_stable(a))
}

/// How many queries outwards the nearest row is that the arguments of a call at the last of
/// `levels` read; `None` for no row at all. What another aggregate or a subquery reads is not
/// distinguished: such a call stays where it is.
fn nearest_row(call: &Aggregate, levels: &[Level]) -> Option<usize> {
    let mut nearest: Option<usize> = None;
    let own = levels.len() - 1;
    for expr in call.args.iter().chain(call.order_by.iter().map(|(expr, _)| expr)) {
        expr.walk(&mut |node| {
            let depth = match &node.kind {
                ExprKind::Column { .. } | ExprKind::Aggregate(_) | ExprKind::Window(_) => 0,
                ExprKind::OuterColumn { depth, index, .. } => {
                    let is_aggregate = *index >= levels[own - depth].width;
                    if is_aggregate { 0 } else { *depth }
                }
                ExprKind::Subquery(sub) if sub.correlated => 0,
                _ => return,
            };
            nearest = Some(nearest.map_or(depth, |nearest| nearest.min(depth)));
        });
    }
    nearest
}

/// Makes an expression that was bound `depth` levels further in read the rows as they are here.
fn moved_outwards(expr: &mut Expr, depth: usize) {
    expr.walk_mut(&mut |node| {
        let ExprKind::OuterColumn { depth: from, index, name } = &mut node.kind else { return };
        if *from > depth {
            *from -= depth;
        } else {
            let (index, name) = (*index, name.clone());
            node.kind = ExprKind::Column { index, name };
        }
    });
}

impl Level {
    /// The number of an aggregate of this SELECT.
    fn add_aggregate(&mut self, call: Aggregate) -> usize {
        let known = self.aggregates.iter().position(|other| same_aggregate(other, &call));
        known.unwrap_or_else(|| {
            self.aggregates.push(call);
            self.aggregates.len() - 1
        })
    }

    /// The slot where queries inside find an aggregate.
    fn show(&mut self, number: usize) -> usize {
        let known = self.shown.iter().position(|shown| *shown == number);
        let at = known.unwrap_or_else(|| {
            self.shown.push(number);
            self.shown.len() - 1
        });
        self.width + at
    }
}

/// The columns of enclosing queries that an expression reads for each of their rows, by depth and
/// slot.
fn outer_reads(expr: &Expr, found: &mut Vec<(usize, usize)>) {
    match &expr.kind {
        ExprKind::OuterColumn { depth, index, .. } => found.push((*depth, *index)),
        ExprKind::Call(call) if call.name == "any_value" => {}
        _ => expr.children(&mut |child| outer_reads(child, found)),
    }
}

impl QueryBinder<'_> {
    /// Keeps what an expression, and the aggregates from number `first` on, read of the queries
    /// around it.
    pub(super) fn note_loose_reads(&mut self, expr: &Expr, first: usize) {
        let Some(own) = self.levels.len().checked_sub(1).filter(|own| *own > 0) else { return };
        let mut found = Vec::new();
        outer_reads(expr, &mut found);
        for call in &self.levels[own].aggregates[first..] {
            let order = call.order_by.iter().map(|(expr, _)| expr);
            call.args.iter().chain(order).for_each(|expr| outer_reads(expr, &mut found));
        }
        for (depth, index) in found {
            let level = own.checked_sub(depth).and_then(|at| self.levels.get_mut(at));
            // Aggregates are shown behind the slots of FROM.
            if let Some(level) = level.filter(|level| index < level.width) {
                level.loose.push(index);
            }
        }
    }

    /// How many queries outwards an aggregate belongs; `None` where no SELECT takes it.
    fn home_of(&self, call: &Aggregate) -> Option<usize> {
        let own = self.levels.len() - 1;
        let takes = |depth: &usize| self.levels[own - depth].takes_aggregates;
        match nearest_row(call, &self.levels) {
            Some(0) => Some(0).filter(takes),
            None => (0..=own).find(takes),
            Some(nearest) => {
                let further_in = || (1..nearest).chain([0]).find(takes);
                Some(nearest).filter(takes).or_else(further_in)
            }
        }
    }
}

impl BlockScope<'_, '_> {
    pub(super) fn own_level(&mut self) -> &mut Level {
        self.binder.levels.last_mut().expect("a SELECT is being bound")
    }

    /// Gives an aggregate to the SELECT where it belongs; error 1111 where none takes it.
    pub(super) fn place_aggregate(&mut self, mut call: Aggregate) -> Result<Expr> {
        let refused = || SqlError::new(ErrorCode::InvalidGroupFuncUse, &[]);
        let depth = self.binder.home_of(&call).ok_or_else(refused)?;
        let ty = call.ty.clone();
        if depth == 0 {
            let number = self.own_level().add_aggregate(call);
            return Ok(Expr { kind: ExprKind::Aggregate(number), ty });
        }
        let exprs = call.args.iter_mut().chain(call.order_by.iter_mut().map(|(expr, _)| expr));
        exprs.for_each(|expr| moved_outwards(expr, depth));
        let home = self.binder.levels.len() - 1 - depth;
        self.binder.reached = self.binder.reached.min(home);
        let level = &mut self.binder.levels[home];
        let number = level.add_aggregate(call);
        let index = level.show(number);
        let name = format!("<aggregate {number}>").into();
        Ok(Expr { kind: ExprKind::OuterColumn { depth, index, name }, ty })
    }

    /// The item of an enclosing SELECT's list that a bare name stands for; error 1247 where that
    /// is an aggregate.
    pub(super) fn outer_item(&mut self, name: &ColumnName, index: usize) -> Result<Option<Expr>> {
        if name.table.is_some() {
            return Ok(None);
        }
        let depth = self.binder.levels.len() - 1 - index;
        let level = &mut self.binder.levels[index];
        let named = |item: &&ScopeItem| same_name(&item.name, &name.name);
        let Some(mut expr) = level.items.iter().find(named).map(|item| item.expr.clone()) else {
            return Ok(None);
        };
        let (mut aggregated, mut fixed, mut reached) = (false, false, index);
        expr.walk(&mut |node| match &node.kind {
            ExprKind::Aggregate(_) => aggregated = true,
            ExprKind::Window(_) | ExprKind::Subquery(_) => fixed = true,
            ExprKind::Column { index, .. } => level.read_by_parts.insert(*index),
            ExprKind::OuterColumn { depth, .. } => {
                reached = reached.min(index.saturating_sub(*depth));
            }
            _ => {}
        });
        if aggregated {
            let why = "reference to group function";
            return Err(SqlError::new(ErrorCode::IllegalReference, &[&name.name, &why]));
        }
        if fixed {
            return Ok(None);
        }
        expr.walk_mut(&mut |node| match &mut node.kind {
            ExprKind::Column { index, name } => {
                let (index, name) = (*index, name.clone());
                node.kind = ExprKind::OuterColumn { depth, index, name };
            }
            ExprKind::OuterColumn { depth: further, .. } => *further += depth,
            _ => {}
        });
        self.binder.reached = self.binder.reached.min(reached);
        Ok(Some(expr))
    }
}
