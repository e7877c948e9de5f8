//! IN that is asked with each row of small tables, where MySQL does that.
//!
//! A subquery that does not become a join is materialized once, and looked into for each row, or is
//! executed for each row with one more condition, `x IN (SELECT y …)` being `EXISTS (SELECT y …
//! WHERE x = y)` where unknown is as good as false. MySQL compares the costs; many look-ups by an
//! index cost more than a table, few cost less.

use super::super::QueryBinder;
use super::super::from::BoundFrom;
use super::super::select::Clauses;
use super::{BoundNested, Level, never_null};
use crate::access::EvalSettings;
use crate::optimize::{FromTree, has_small_tables, is_natural, small_cost};
use crate::plan::Subplan;
use inia_expr::compare::CmpClass;
use inia_expr::tree::{Compare, Quantifier, RowLookup, Subquery, SubqueryKind};
use inia_expr::{CmpOp, Expr, ExprKind, ExprType, SlotSet, slots_of};
use inia_parser::ast::{self, SubqueryStrategy};

/// Making a table in memory, and putting a row into it or looking one up, in MySQL's costs.
const CREATE: f64 = 1.0;
const TOUCH: f64 = 0.1;

/// An expression as the subquery of its SELECT reads it.
fn inside(expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    expr.walk_mut(&mut |node| match &mut node.kind {
        ExprKind::OuterColumn { depth, .. } => *depth += 1,
        ExprKind::Column { index, name } => {
            // EXPLAIN knows what is asked for by its name.
            let name = format!("<cache>({name})").into();
            node.kind = ExprKind::OuterColumn { depth: 1, index: *index, name };
        }
        _ => {}
    });
    expr
}

/// Whether a condition reads one member of a tree only.
fn is_of_one(condition: &Expr, tree: &FromTree) -> bool {
    let read = slots_of(condition).slots;
    match tree {
        FromTree::Leaf(leaf) => read.is_subset(&SlotSet::of_range(leaf.slots.clone())),
        FromTree::Join(join) => {
            is_of_one(condition, &join.left) || is_of_one(condition, &join.right)
        }
    }
}

fn has_subquery(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |node| found |= matches!(node.kind, ExprKind::Subquery(_)));
    found
}

impl QueryBinder<'_> {
    /// Makes EXISTS of the conditions that are IN, where MySQL asks them with each row.
    pub(in crate::bind) fn ask_members(&mut self, from: &BoundFrom, clauses: &mut Clauses) {
        let Some(tree) = from.tree.as_ref().filter(|tree| has_small_tables(tree)) else { return };
        if self.nested.is_empty()
            || super::locks(tree)
            || !clauses.conditions.iter().any(has_subquery)
        {
            return;
        }
        let mut conditions = std::mem::take(&mut clauses.conditions);
        // Conditions of single tables are checked with those that have subqueries.
        let joins = |one: &&Expr| !has_subquery(one) && !is_of_one(one, tree);
        let joins = conditions.iter().filter(joins).cloned().collect();
        if let Some((_, calls)) = small_cost(tree.clone(), joins, self.pricing()) {
            conditions.iter_mut().for_each(|condition| self.ask_in(condition, calls));
        }
        clauses.conditions = conditions;
    }

    fn pricing(&self) -> (EvalSettings<'_>, bool) {
        let settings = EvalSettings { env: self.context.env, host: self.context.host };
        (settings, self.switched_on("block_nested_loop"))
    }

    /// Unknown is as good as false for the operands of AND and OR.
    fn ask_in(&mut self, condition: &mut Expr, calls: f64) {
        match &mut condition.kind {
            ExprKind::And(items) | ExprKind::Or(items) => {
                items.iter_mut().for_each(|item| self.ask_in(item, calls));
            }
            ExprKind::Subquery(sub) => {
                if let Some(asked) = self.asked(sub, calls) {
                    *condition = asked;
                }
            }
            _ => {}
        }
    }

    fn asked(&mut self, sub: &Subquery, calls: f64) -> Option<Expr> {
        let SubqueryKind::Quantified {
            quantifier: Quantifier::Any,
            op: CmpOp::Eq,
            left,
            classes,
            lookup,
            ..
        } = &sub.kind
        else {
            return None;
        };
        let nested = self.nested.get(&sub.id)?;
        let fits = nested.groups.is_none()
            && has_small_tables(&nested.tree)
            && left.len() == classes.len()
            && left.len() == nested.output.len()
            && !left.iter().any(has_subquery);
        if !fits {
            return None;
        }
        let mut conditions = nested.conditions.clone();
        for ((left, output), class) in left.iter().zip(&nested.output).zip(classes) {
            conditions.push(equal(inside(left), output.clone(), class));
        }
        let keeps = *lookup == RowLookup::HashTable && !sub.correlated;
        if keeps && !self.asks(nested, (left, classes), &conditions, calls) {
            return None;
        }
        let nested = self.nested.get(&sub.id)?;
        let mut inner = Clauses::of_conditions(conditions);
        nested.output.iter().for_each(|expr| inner.push_unnamed(expr.clone()));
        let own = nested.from();
        let number = self.nested.get(&sub.id).map_or(0, |nested| nested.number);
        self.levels.push(Level { number, ..Level::default() });
        let query = self.plan(&ast::Select::default(), own, inner, None);
        self.levels.pop();
        self.subplans[sub.id] =
            Some(Subplan { query, correlated: true, recursive: None, asked: true });
        if let Some(level) = self.levels.last_mut() {
            for left in left {
                level.read_by_parts = level.read_by_parts.union(&slots_of(left).slots);
            }
        }
        let kind = SubqueryKind::Exists { negated: false };
        let sub = Subquery { id: sub.id, kind, correlated: true, certain: sub.certain };
        Some(Expr { kind: ExprKind::Subquery(Box::new(sub)), ty: ExprType::bool(false) })
    }

    /// Whether asking with each of so many rows costs less than a table of the subquery's rows.
    fn asks(
        &self,
        nested: &BoundNested,
        (left, classes): (&[Expr], &[CmpClass]),
        conditions: &[Expr],
        calls: f64,
    ) -> bool {
        match nested.strategy {
            Some(SubqueryStrategy::IntoExists) => return true,
            Some(SubqueryStrategy::Materialization) => return false,
            None if !self.switched_on("materialization") => return true,
            None if !self.switched_on("subquery_materialization_cost_based") => return false,
            None => {}
        }
        let sides = left.iter().zip(&nested.output).zip(classes);
        let natural = |((left, output), class): ((&Expr, &Expr), &CmpClass)| {
            is_natural(left, class) && is_natural(output, class)
        };
        if !{ sides }.all(natural) {
            return true;
        }
        let price =
            |conditions: Vec<Expr>| small_cost(nested.tree.clone(), conditions, self.pricing());
        let once = price(nested.conditions.clone());
        let (Some((each, _)), Some((once, rows))) = (price(conditions.to_vec()), once) else {
            return false;
        };
        calls * each <= once + CREATE + TOUCH * rows + TOUCH * calls
    }
}

/// An equality, compared as IN compares.
fn equal(left: Expr, right: Expr, class: &CmpClass) -> Expr {
    let nullable = !never_null(&left) || !never_null(&right);
    let compare = Compare { op: CmpOp::Eq, class: class.clone(), left, right };
    Expr { kind: ExprKind::Compare(Box::new(compare)), ty: ExprType::bool(nullable) }
}
