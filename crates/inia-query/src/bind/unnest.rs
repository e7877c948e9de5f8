//! Unnesting: IN, EXISTS and their negations become joins of the SELECT around them.
//!
//! A subquery is bound and planned like any query. Its bound form is kept beside the plan, and
//! once the SELECT around it is bound, a condition of WHERE that is such a subquery is replaced:
//! the subquery's FROM takes the next slots of the row, becomes the right side of a semi or an anti
//! join, and its conditions become those of the join. Columns of the SELECT around it, which the
//! subquery read as outer columns, are then columns of the same row. The join order is free then,
//! equalities become hash keys or look-ups, and what a subquery does for each row is done once.
//!
//! Example: `SELECT * FROM o WHERE EXISTS (SELECT 1 FROM l WHERE l.k = o.k AND l.d > o.d)` over
//! `o(k, d)` and `l(k, d)`. In the subquery `l.k` is slot 0 and `o.k` slot 0 of depth 1. Behind the
//! two slots of `o` they are slots 2 and 0, and the plan is `o ⋉ l ON 2 = 0 AND 3 > 1`.
//!
//! A subquery in a subquery is unnested first, so that its join is part of the tree that moves.
//!
//! - `x IN (SELECT y …)` adds `x = y`, compared as IN compares them. WHERE takes unknown for false,
//!   so that NULLs match nothing, as in a join.
//! - `x NOT IN (SELECT y …)` is true where no row of the subquery makes `x = y` true or unknown.
//!   The anti join's condition is `x = y` where neither can be NULL, else `(x = y) IS NOT FALSE`;
//!   other equalities must be its keys then.
//!
//! The idea of one tree for a query and its correlated subqueries is that of Neumann and Kemper,
//! "Unnesting Arbitrary Queries" (BTW 2015); what is done here is their simple case, in which the
//! correlated conditions stand at the top of the subquery.
//!
//! Left as they are: subqueries that lock or are read for an update (which rows they lock would
//! change), that call what is not stable (RAND(), user variables), that have a LIMIT, and those
//! whose own subqueries read rows around them for each row.

mod asked;
mod choice;
mod groups;
mod member;
mod scalar;

use super::from::BoundFrom;
use super::hints::{hints_of, keeps_order};
use super::nesting::MAX_TABLES;
use super::select::Clauses;
use super::{Level, QueryBinder, QueryUse};
use crate::access::is_stable;
use crate::optimize::{FromJoin, FromTree, LeafKind, NestRules, Strategies, has_small_tables};
use crate::plan::{JoinType, Subplan};
use inia_base::value::Value;
use inia_expr::tree::{Compare, Quantifier, RowLookup, Subquery, SubqueryKind};
use inia_expr::{Aggregate, CmpOp, Expr, ExprKind, ExprType, SlotSet, conjuncts, slots_of};
use inia_parser::ast;
use member::Membership;

/// The SELECT of a subquery as bound.
pub(super) struct BoundNested {
    tree: FromTree,
    /// Slots of its row.
    width: usize,
    /// Tables and parts that it joins.
    tables: usize,
    conditions: Vec<Expr>,
    /// The select list.
    output: Vec<Expr>,
    /// GROUP BY and aggregates, where it has some.
    groups: Option<Groups>,
    /// Conditions on it may become joins, by these strategies.
    joins: Option<Strategies>,
    /// The number of its SELECT.
    number: usize,
    /// What a hint says of how it is executed.
    strategy: Option<ast::SubqueryStrategy>,
}

/// How the rows of a subquery are grouped.
struct Groups {
    keys: Vec<Expr>,
    calls: Vec<Aggregate>,
    having: Option<Expr>,
}

impl Groups {
    /// The grouping of a SELECT; `None` where it cannot be computed elsewhere.
    fn of(clauses: &Clauses) -> Option<Groups> {
        let Clauses { group, aggregates, having, .. } = clauses;
        let ordered = |call: &Aggregate| call.order_by.iter().all(|(expr, _)| is_movable(expr));
        let mut movable = group.iter().all(is_movable)
            && having.iter().all(|having| is_movable(&without_aggregates(having)));
        movable &= aggregates.iter().all(|call| call.args.iter().all(is_movable) && ordered(call));
        let (keys, calls) = (group.clone(), aggregates.clone());
        movable.then(|| Groups { keys, calls, having: having.clone() })
    }
}

impl BoundNested {
    /// A SELECT's bound form, where it can be joined to the one around it.
    fn of(
        select: &ast::Select,
        from: &BoundFrom,
        clauses: &Clauses,
        binder: &QueryBinder<'_>,
    ) -> Option<BoundNested> {
        let grouped = !clauses.group.is_empty() || !clauses.aggregates.is_empty();
        let simple = clauses.windows.is_empty() && (grouped || clauses.having.is_none());
        let simple = simple && !select.rollup && !clauses.shows_aggregates();
        if !simple || keeps_order(select) {
            return None;
        }
        let groups = if grouped { Some(Groups::of(clauses)?) } else { None };
        let tree = from.tree.clone().filter(|tree| binder.is_movable(tree))?;
        let output: Vec<Expr> = clauses.items.iter().map(|item| item.expr.clone()).collect();
        let mut movable = clauses.conditions.iter().all(is_movable)
            && output.iter().all(|expr| is_movable(&without_aggregates(expr)));
        tree.for_each_expr(&mut |expr| movable &= is_movable(expr));
        movable.then(|| BoundNested {
            tree,
            width: from.width,
            tables: from.tables,
            conditions: clauses.conditions.clone(),
            output,
            groups,
            joins: binder.may_unnest(select),
            number: binder.levels.last().map_or(0, |level| level.number),
            strategy: hints_of(select).and_then(|hints| hints.subquery),
        })
    }

    /// Makes everything in it read the row around it, where its own slots begin at `base`.
    fn move_to(&mut self, base: usize) {
        let mut adapt = |expr: &mut Expr| moved(expr, base);
        self.conditions.iter_mut().chain(&mut self.output).for_each(&mut adapt);
        move_tree(&mut self.tree, base, &mut adapt);
    }
}

/// Whether an expression means the same in the row around its SELECT.
fn is_movable(expr: &Expr) -> bool {
    let mut movable = is_stable(expr);
    expr.walk(&mut |node| match &node.kind {
        ExprKind::Subquery(sub) => movable &= !sub.correlated,
        ExprKind::InsertValue(_) => movable = false,
        _ => {}
    });
    movable
}

/// An expression with NULL for each aggregate.
fn without_aggregates(expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    expr.walk_mut(&mut |node| {
        if matches!(node.kind, ExprKind::Aggregate(_)) {
            node.kind = ExprKind::Literal(Value::Null);
        }
    });
    expr
}

/// Makes an expression read the row around its SELECT, in which its own slots begin at `base`.
fn moved(expr: &mut Expr, base: usize) {
    expr.walk_mut(&mut |node| match &mut node.kind {
        ExprKind::Column { index, .. } => *index += base,
        ExprKind::OuterColumn { depth, .. } if *depth > 1 => *depth -= 1,
        ExprKind::OuterColumn { index, name, .. } => {
            node.kind = ExprKind::Column { index: *index, name: name.clone() };
        }
        _ => {}
    });
}

fn move_tree(tree: &mut FromTree, base: usize, adapt: &mut dyn FnMut(&mut Expr)) {
    match tree {
        FromTree::Leaf(leaf) => {
            leaf.slots = leaf.slots.start + base..leaf.slots.end + base;
        }
        FromTree::Join(join) => {
            join.on.iter_mut().for_each(&mut *adapt);
            move_tree(&mut join.left, base, adapt);
            move_tree(&mut join.right, base, adapt);
        }
    }
}

/// Whether reading the tree locks rows.
fn locks(tree: &FromTree) -> bool {
    match tree {
        FromTree::Leaf(leaf) => matches!(leaf.kind, LeafKind::Table { lock: Some(_), .. }),
        FromTree::Join(join) => locks(&join.left) || locks(&join.right),
    }
}

/// A condition that can become a join.
struct Tested<'e> {
    sub: &'e Subquery,
    /// It must hold for no row.
    negated: bool,
}

impl Tested<'_> {
    fn of(condition: &Expr) -> Option<Tested<'_>> {
        match &condition.kind {
            ExprKind::Not(inner) => {
                let inner = Tested::of(inner)?;
                Some(Tested { negated: !inner.negated, ..inner })
            }
            ExprKind::Subquery(sub) => match &sub.kind {
                SubqueryKind::Exists { negated } => Some(Tested { sub, negated: *negated }),
                SubqueryKind::Quantified { quantifier: Quantifier::Any, op: CmpOp::Eq, .. } => {
                    Some(Tested { sub, negated: false })
                }
                SubqueryKind::Quantified { quantifier: Quantifier::All, op: CmpOp::Ne, .. } => {
                    Some(Tested { sub, negated: true })
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a join serves better than what is done for the whole statement once.
    fn gains(&self, nested: &BoundNested) -> bool {
        let SubqueryKind::Quantified { left, lookup, .. } = &self.sub.kind else {
            return self.sub.correlated;
        };
        // Rows that are the same for all rows around them are kept; only a hash table or an index
        // finds one sooner. NOT IN over what may be NULL is decided by a table that counts NULLs.
        let mut sides = left.iter().chain(&nested.output);
        let reads_row = |expr: &Expr| slots_of(expr).slots != SlotSet::default();
        let keyed = *lookup == RowLookup::HashTable && nested.output.iter().any(reads_row);
        self.sub.correlated || (keyed && (!self.negated || sides.all(never_null)))
    }
}

/// Whether an expression is a column, or a constant, that is never NULL.
fn never_null(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Column { .. } | ExprKind::OuterColumn { .. } => !expr.ty.nullable,
        ExprKind::Literal(value) => *value != Value::Null,
        _ => false,
    }
}

/// Adds what a row of the subquery must fulfil beside its own conditions.
fn add_comparisons(tested: &Tested<'_>, output: Vec<Expr>, on: &mut Vec<Expr>) {
    let SubqueryKind::Quantified { left, classes, .. } = &tested.sub.kind else { return };
    debug_assert!(left.len() == output.len() && left.len() == classes.len(), "rows are as wide");
    for ((left, right), class) in left.iter().zip(output).zip(classes) {
        let certain = never_null(left) && never_null(&right);
        let nullable = left.ty.nullable || right.ty.nullable;
        let compare = Compare { op: CmpOp::Eq, class: class.clone(), left: left.clone(), right };
        let kind = ExprKind::Compare(Box::new(compare));
        let equal = Expr { kind, ty: ExprType::bool(nullable) };
        on.push(match tested.negated && !certain {
            true => Expr {
                kind: ExprKind::IsTruth(Box::new(equal), false, true),
                ty: ExprType::bool(false),
            },
            false => equal,
        });
    }
}

impl QueryBinder<'_> {
    /// Whether a FROM can move into the row around its SELECT: without locks, and without members
    /// that run for each row.
    fn is_movable(&self, tree: &FromTree) -> bool {
        match tree {
            FromTree::Leaf(leaf) => match &leaf.kind {
                LeafKind::Table { lock, .. } => lock.is_none(),
                LeafKind::Subplan { id, lateral, .. } => {
                    let once = |subplan: &Subplan| !subplan.correlated;
                    !lateral && self.subplans[*id].as_ref().is_some_and(once)
                }
                LeafKind::Virtual(_) => true,
                LeafKind::JsonTable { .. } => false,
            },
            FromTree::Join(join) => self.is_movable(&join.left) && self.is_movable(&join.right),
        }
    }

    /// Keeps a subquery's SELECT as it is bound.
    pub(super) fn keep_nested(
        &mut self,
        (select, usage): (&ast::Select, QueryUse),
        from: &BoundFrom,
        clauses: &Clauses,
    ) {
        self.kept = match usage.nested {
            true => BoundNested::of(select, from, clauses, self),
            false => None,
        };
    }

    /// Makes joins of the conditions on the SELECT's rows that are subqueries, where that can be
    /// done. Those that are `IN` over rows of their own come back.
    pub(super) fn unnest(
        &mut self,
        select: &ast::Select,
        from: &mut BoundFrom,
        conditions: &mut Vec<Expr>,
    ) -> Vec<Membership> {
        let mut members = Vec::new();
        let Some(tree) = &mut from.tree else { return members };
        // MySQL joins no subqueries where the order of FROM holds.
        let keeps = keeps_order(select) && has_small_tables(tree);
        if self.nested.is_empty() || keeps || locks(tree) {
            return members;
        }
        hoist(tree, conditions, &|condition| Tested::of(condition).is_some());
        for condition in std::mem::take(conditions) {
            match self.as_join(&condition, from, conditions) {
                Some((kind, right, on, nest)) => {
                    let left = from.tree.take().expect("a FROM with members was looked at");
                    // Small tables are put in order with those around them.
                    if !has_small_tables(&left) || !has_small_tables(&right) {
                        members.extend(Membership::of_join(&condition, &right));
                    }
                    let join = FromJoin { kind, straight: false, left, right, on, nest };
                    from.tree = Some(FromTree::Join(Box::new(join)));
                }
                None => conditions.push(condition),
            }
        }
        members
    }

    /// The join that a condition becomes: its kind, right side and conditions. Conditions that a
    /// semi join's left side alone fulfils are added to `conditions`.
    fn as_join(
        &mut self,
        condition: &Expr,
        from: &mut BoundFrom,
        conditions: &mut Vec<Expr>,
    ) -> Option<(JoinType, FromTree, Vec<Expr>, NestRules)> {
        let tested = Tested::of(condition)?;
        if let SubqueryKind::Quantified { left, .. } = &tested.sub.kind
            && !left.iter().all(is_movable)
        {
            return None;
        }
        let nested = self.nested.get(&tested.sub.id)?;
        let fits = from.tables + nested.tables <= MAX_TABLES;
        if nested.groups.is_some() || nested.joins.is_none() || !fits {
            return None;
        }
        // MySQL joins whatever it can; of small tables Inia does, too.
        let small = || {
            let around = from.tree.as_ref().is_some_and(has_small_tables);
            !tested.negated && around && has_small_tables(&nested.tree)
        };
        if !tested.gains(nested) && !small() {
            return None;
        }
        let mut nested = self.nested.remove(&tested.sub.id)?;
        nested.move_to(from.width);
        let BoundNested { tree, width, tables, conditions: own, output, joins, number, .. } =
            nested;
        let (allowed, mut on) = (joins.unwrap_or_default(), Vec::new());
        let nest = NestRules { allowed, number };
        add_comparisons(&tested, output, &mut on);
        on.extend(own);
        from.width += width;
        from.tables += tables;
        if tested.negated {
            return Some((JoinType::Anti, tree, on, nest));
        }
        let own = SlotSet::of_range(from.width - width..from.width);
        let reads_own = |condition: &Expr| slots_of(condition).slots.intersects(&own);
        let (on, around) = on.into_iter().partition(reads_own);
        conditions.extend::<Vec<Expr>>(around);
        Some((JoinType::Semi, tree, on, nest))
    }
}

/// Moves the wanted conditions of inner joins to those of WHERE.
fn hoist(tree: &mut FromTree, conditions: &mut Vec<Expr>, wanted: &dyn Fn(&Expr) -> bool) {
    let FromTree::Join(join) = tree else { return };
    match join.kind {
        JoinType::Inner => {
            let mut all = Vec::with_capacity(join.on.len());
            join.on.drain(..).for_each(|condition| conjuncts(condition, &mut all));
            let (tested, on) = all.into_iter().partition(wanted);
            join.on = on;
            conditions.extend::<Vec<Expr>>(tested);
            hoist(&mut join.left, conditions, wanted);
            hoist(&mut join.right, conditions, wanted);
        }
        JoinType::Left => hoist(&mut join.left, conditions, wanted),
        JoinType::Semi | JoinType::Anti => {}
    }
}
