//! Scalar subqueries with aggregates become left joins with groups.
//!
//! `SELECT … FROM p WHERE p.x < (SELECT 0.2 * AVG(l.q) FROM l WHERE l.k = p.k AND l.d > 3)` asks
//! for one group of `l` for each row of `p`. All groups are made at once instead, by the columns
//! that the equalities with the row around name, and joined by these:
//!
//! ```text
//!   p LEFT JOIN (SELECT l.k, AVG(l.q) FROM l WHERE l.d > 3 GROUP BY l.k) g ON g.k = p.k
//!   WHERE p.x < 0.2 * g.avg
//! ```
//!
//! - A row of `p` has one group at most: values are one group exactly where the equality holds them
//!   equal, since it compares by the class of the grouped expression's own type.
//! - A row without a group, or whose `k` is NULL, has the subquery's value over no rows: each
//!   aggregate is then what it is of no rows (COUNT is 0, others are mostly NULL), and the
//!   expression over the aggregates is evaluated behind the join.
//! - The left join becomes an inner one where the condition rejects NULL (`optimize/outer.rs`).
//! - Many rows of `l` and few of `p` with an index on `l.k` are read faster row by row, so both
//!   plans are made and the cheaper one is taken ([`super::choice`]).

use super::super::from::BoundFrom;
use super::super::nesting::MAX_TABLES;
use super::super::select::Clauses;
use super::super::{Level, QueryBinder};
use super::{BoundNested, hoist, moved};
use crate::optimize::{Leaf, LeafHints, LeafKind, is_natural};
use crate::plan::{JoinType, Subplan};
use inia_base::value::Value;
use inia_expr::compare::hashable;
use inia_expr::tree::{Case, Compare, SubqueryKind};
use inia_expr::{
    Aggregate, CmpOp, EvalContext, Expr, ExprKind, ExprType, NoSubqueries, SlotSet, slots_of,
};
use inia_parser::ast;

/// An equality of a subquery's rows with the row around it.
#[derive(Clone)]
pub(super) struct Tie {
    /// Over the subquery's slots; each group has one value of it.
    pub(super) own: Expr,
    /// The comparison, over the row around; `own` stands on its right side.
    compare: Compare,
}

/// What a subquery's conditions say of the row around it.
pub(super) struct Ties {
    pub(super) ties: Vec<Tie>,
    /// The conditions that read the subquery's own rows.
    pub(super) rest: Vec<Expr>,
}

/// Whether an expression reads rows of queries around it.
pub(super) fn reads_around(expr: &Expr) -> bool {
    let mut reads = false;
    expr.walk(&mut |node| reads |= matches!(node.kind, ExprKind::OuterColumn { .. }));
    reads
}

/// Whether an expression reads the row of FROM next around it, of so many slots, and nothing else.
fn is_of_row_around(expr: &Expr, width: usize) -> bool {
    let (mut reads, mut other) = (false, false);
    expr.walk(&mut |node| match node.kind {
        ExprKind::OuterColumn { depth: 1, index, .. } if index < width => reads = true,
        ExprKind::OuterColumn { .. } | ExprKind::Column { .. } | ExprKind::Subquery(_) => {
            other = true;
        }
        _ => {}
    });
    reads && !other
}

/// The tie that a condition is.
fn tie(condition: &Expr, width: usize) -> Option<Tie> {
    let ExprKind::Compare(compare) = &condition.kind else { return None };
    let Compare { op: CmpOp::Eq, class, left, right } = &**compare else { return None };
    let is_own = |expr: &Expr| {
        slots_of(expr).slots != SlotSet::default() && !reads_around(expr) && is_natural(expr, class)
    };
    let (around, own) = match (is_of_row_around(left, width), is_of_row_around(right, width)) {
        (true, false) if is_own(right) => (left, right),
        (false, true) if is_own(left) => (right, left),
        _ => return None,
    };
    if !hashable(class, &around.ty, &own.ty) {
        return None;
    }
    let mut left = around.clone();
    moved(&mut left, 0);
    let compare = Compare { op: CmpOp::Eq, class: class.clone(), left, right: own.clone() };
    Some(Tie { own: own.clone(), compare })
}

impl Tie {
    /// The equality with the group's value in a slot.
    pub(super) fn with_slot(self, slot: usize) -> Expr {
        let own = self.own;
        let right = Expr::column(slot, own.ty, format!("<group key {slot}>"));
        let nullable = self.compare.left.ty.nullable || right.ty.nullable;
        let compare = Compare { right, ..self.compare };
        Expr { kind: ExprKind::Compare(Box::new(compare)), ty: ExprType::bool(nullable) }
    }
}

impl BoundNested {
    /// How it depends on the row around it, of so many slots; `None` where that is more than by
    /// equalities.
    pub(super) fn ties(&self, width: usize) -> Option<Ties> {
        let (mut ties, mut rest, mut reads) = (Vec::new(), Vec::new(), false);
        self.tree.for_each_expr(&mut |expr| reads |= reads_around(expr));
        for condition in &self.conditions {
            match tie(condition, width) {
                Some(tie) => ties.push(tie),
                None if reads_around(condition) => return None,
                None => rest.push(condition.clone()),
            }
        }
        if let Some(groups) = &self.groups {
            let calls = groups.calls.iter();
            let args = calls.flat_map(|call| {
                call.args.iter().chain(call.order_by.iter().map(|(expr, _)| expr))
            });
            let mut all = args.chain(&groups.keys).chain(&groups.having);
            reads |= all.any(reads_around);
        }
        (!reads).then_some(Ties { ties, rest })
    }

    /// Its FROM.
    pub(super) fn from(&self) -> BoundFrom {
        let (tree, conditions) = (Some(self.tree.clone()), Vec::new());
        BoundFrom { tree, width: self.width, tables: self.tables, conditions }
    }

    /// Whether it has one row whatever there is, which is made of aggregates.
    fn is_one_group(&self) -> bool {
        let Some(groups) = &self.groups else { return false };
        let [output] = &self.output[..] else { return false };
        let mut column = false;
        output.walk(&mut |node| {
            column |= match node.kind {
                ExprKind::Column { .. } | ExprKind::Subquery(_) => true,
                ExprKind::OuterColumn { depth, .. } => depth > 1,
                _ => false,
            };
        });
        groups.keys.is_empty() && groups.having.is_none() && !column
    }
}

/// The numbers of the correlated scalar subqueries in an expression.
fn scalars(expr: &Expr, found: &mut Vec<usize>) {
    expr.walk(&mut |node| match &node.kind {
        ExprKind::Subquery(sub) if sub.correlated && matches!(sub.kind, SubqueryKind::Scalar) => {
            if !found.contains(&sub.id) {
                found.push(sub.id);
            }
        }
        _ => {}
    });
}

impl QueryBinder<'_> {
    /// The scalar subqueries of a SELECT that can be read from groups. Conditions of inner joins
    /// that have some become those of WHERE.
    pub(super) fn scalars_of_groups(
        &self,
        from: &mut BoundFrom,
        clauses: &mut Clauses,
    ) -> Vec<usize> {
        let width = from.width;
        if let Some(tree) = &mut from.tree {
            hoist(tree, &mut clauses.conditions, &|condition| {
                let mut found = Vec::new();
                scalars(condition, &mut found);
                found.iter().any(|id| self.groups_scalar(*id, width))
            });
        }
        let mut found = Vec::new();
        clauses.for_each_expr_mut(&mut |expr| scalars(expr, &mut found));
        found.retain(|id| self.groups_scalar(*id, width));
        found
    }

    /// Whether a subquery is one group for each row of `width` slots around it.
    fn groups_scalar(&self, id: usize, width: usize) -> bool {
        let Some(nested) = self.nested.get(&id) else { return false };
        nested.is_one_group() && nested.ties(width).is_some_and(|found| !found.ties.is_empty())
    }

    /// Joins the groups of a scalar subquery, and reads its value from them.
    pub(super) fn join_scalar(
        &mut self,
        id: usize,
        from: &mut BoundFrom,
        clauses: &mut Clauses,
    ) -> bool {
        let around = from.width;
        let Some(nested) = self.nested.get(&id).filter(|_| from.tables < MAX_TABLES) else {
            return false;
        };
        let (Some(Ties { ties, rest }), Some(groups)) = (nested.ties(around), &nested.groups)
        else {
            return false;
        };
        let first = around + ties.len();
        let values = groups.calls.iter().zip(first..);
        let values = values.map(|(call, slot)| self.value_in(call, slot));
        let values: Option<Vec<Expr>> = values.collect();
        let Some(values) = values else { return false };
        let mut value = nested.output[0].clone();
        moved(&mut value, 0);
        value.walk_mut(&mut |node| {
            if let ExprKind::Aggregate(number) = node.kind {
                *node = values[number].clone();
            }
        });
        let mut inner = Clauses::of_conditions(rest);
        for tie in &ties {
            inner.group.push(tie.own.clone());
            inner.push_unnamed(tie.own.clone());
        }
        inner.aggregates.clone_from(&groups.calls);
        for (number, call) in groups.calls.iter().enumerate() {
            inner.push_unnamed(Expr { kind: ExprKind::Aggregate(number), ty: call.ty.clone() });
        }
        let own = nested.from();
        let leaf = self.derived_leaf(own, inner, from);
        let on = ties.into_iter().zip(around..).map(|(tie, slot)| tie.with_slot(slot)).collect();
        from.join(JoinType::Left, leaf, on);
        clauses.for_each_expr_mut(&mut |expr| replace(expr, id, &value));
        true
    }

    /// Plans a SELECT as a derived table that takes the next slots of a FROM.
    pub(super) fn derived_leaf(
        &mut self,
        own: BoundFrom,
        clauses: Clauses,
        from: &mut BoundFrom,
    ) -> Leaf {
        let id = self.reserve_subplan();
        self.levels.push(Level::default());
        let query = self.plan(&ast::Select::default(), own, clauses, None);
        self.levels.pop();
        let slots = from.width..from.width + query.columns.len();
        from.width = slots.end;
        from.tables += 1;
        self.subplans[id] =
            Some(Subplan { query, correlated: false, recursive: None, asked: false });
        let (level, rows) = (self.levels.len(), self.subplan_rows(id));
        let kind = LeafKind::Subplan { id, lateral: false, level, rows, unnested: true };
        let (alias, hints) = (format!("<groups {}>", id + 2), LeafHints::default());
        Leaf { slots, alias, kind, hints }
    }

    /// An aggregate that a left join leaves in a slot: of no rows where there is no group.
    fn value_in(&self, call: &Aggregate, slot: usize) -> Option<Expr> {
        let mut scratch = EvalContext::new(self.context.env, self.context.host, &NoSubqueries, &[]);
        let empty = call.start().finish(call, &mut scratch).ok()?;
        let ty = call.ty.clone().with_nullable(true);
        let column = Expr::column(slot, ty, format!("<aggregate {slot}>"));
        if empty == Value::Null {
            return Some(column);
        }
        let missing = Expr {
            kind: ExprKind::IsNull(Box::new(column.clone()), false),
            ty: ExprType::bool(false),
        };
        let whens = vec![(missing, Expr::literal(empty, call.ty.clone()))];
        let case = Case { simple: false, whens, otherwise: Some(column) };
        Some(Expr { kind: ExprKind::Case(Box::new(case)), ty: call.ty.clone() })
    }
}

/// Puts a value in the place of a scalar subquery.
fn replace(expr: &mut Expr, id: usize, value: &Expr) {
    expr.walk_mut(&mut |node| match &node.kind {
        ExprKind::Subquery(sub) if sub.id == id && matches!(sub.kind, SubqueryKind::Scalar) => {
            node.kind = value.kind.clone();
            let tests = matches!(node.kind, ExprKind::IsNull(..) | ExprKind::IsTruth(..));
            node.ty.nullable &= !tests;
        }
        _ => {}
    });
}
