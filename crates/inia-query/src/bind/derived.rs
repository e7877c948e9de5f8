//! Derived tables as they are bound, so that the SELECT around them has a say in their plans.
//!
//! A derived table, a view that is not merged, or a common table expression that is read once is
//! planned when it is bound. Once the SELECT around it is bound, its conditions on the derived
//! table's columns move into it ([`push`]), columns that nobody reads are no longer computed
//! ([`columns`]), and it is planned again.
//!
//! ```text
//!   SELECT c.name, s.total FROM c JOIN (SELECT o.c, SUM(o.x) AS total, MAX(o.d) AS last
//!                                       FROM o GROUP BY o.c) s ON s.c = c.id WHERE c.id = 7
//!   -- the derived table is then
//!   SELECT o.c, SUM(o.x) AS total, NULL FROM o WHERE o.c = 7 GROUP BY o.c
//! ```
//!
//! Left as they are: what has a LIMIT, WITH ROLLUP or locks, and what calls functions that are not
//! stable, since fewer rows would show.

mod columns;
mod keys;
mod order;
mod push;

pub(super) use keys::is_same_for_equals;

use super::from::BoundFrom;
use super::select::Clauses;
use super::{Level, QueryBinder};
use crate::access::is_stable;
use crate::optimize::{FromTree, LeafKind, order_by_index};
use crate::plan::{Body, QueryPlan};
use inia_expr::{ExprType, SlotSet};
use inia_parser::ast;

/// A query's bound form.
pub(super) enum BoundBlock {
    /// A SELECT.
    Select(Box<BoundSelect>),
    /// A set operation.
    Set(BoundSet),
}

/// A SELECT as bound.
pub(super) struct BoundSelect {
    /// Its options; nothing else of it.
    select: ast::Select,
    from: BoundFrom,
    clauses: Clauses,
    /// The slots that its subqueries read.
    read_by_parts: SlotSet,
}

/// A set operation as bound.
pub(super) struct BoundSet {
    operands: Vec<BoundBlock>,
    /// The common types of the columns.
    types: Vec<ExprType>,
    /// All operators are UNION ALL.
    all: bool,
}

impl BoundBlock {
    /// The operands of a set operation, where all of them are known.
    pub(super) fn of_set(
        operands: Vec<Option<BoundBlock>>,
        types: Vec<ExprType>,
        all: bool,
    ) -> Option<BoundBlock> {
        let operands = operands.into_iter().collect::<Option<Vec<_>>>()?;
        Some(BoundBlock::Set(BoundSet { operands, types, all }))
    }
}

impl BoundSelect {
    /// A SELECT that may be planned with fewer rows and columns; `None` where that would show.
    fn of(
        select: &ast::Select,
        from: &BoundFrom,
        clauses: &Clauses,
        level: &Level,
    ) -> Option<BoundSelect> {
        let plain = !select.rollup && !clauses.shows_aggregates() && !level.recurs;
        let tree = from.tree.as_ref().filter(|tree| plain && !locks(tree))?;
        let mut stable = clauses.is_stable();
        tree.for_each_expr(&mut |expr| stable &= is_stable(expr));
        stable.then(|| BoundSelect {
            select: ast::Select {
                options: select.options,
                number: level.number,
                ..ast::Select::default()
            },
            from: from.clone(),
            clauses: clauses.clone(),
            read_by_parts: level.read_by_parts.clone(),
        })
    }
}

/// Whether reading the tree locks rows.
fn locks(tree: &FromTree) -> bool {
    match tree {
        FromTree::Leaf(leaf) => matches!(leaf.kind, LeafKind::Table { lock: Some(_), .. }),
        FromTree::Join(join) => locks(&join.left) || locks(&join.right),
    }
}

impl QueryBinder<'_> {
    /// Keeps a derived table's SELECT as it is bound.
    pub(super) fn keep_block(&mut self, select: &ast::Select, from: &BoundFrom, clauses: &Clauses) {
        let level = self.levels.last().expect("a SELECT is being bound");
        let block = BoundSelect::of(select, from, clauses, level);
        self.block = block.map(|block| BoundBlock::Select(Box::new(block)));
    }

    /// Gives the query that was bound last as subplan `id` its bound form.
    pub(super) fn keep_block_of(&mut self, id: usize) {
        let once = self.subplans[id].as_ref().is_some_and(|subplan| !subplan.correlated);
        if let Some(block) = self.block.take().filter(|_| once) {
            self.blocks.insert(id, block);
        }
    }

    /// Plans a query again.
    fn plan_again(&mut self, query: &mut QueryPlan, block: &mut BoundBlock) {
        match (&mut query.body, block) {
            (Body::Select(_), BoundBlock::Select(select)) => {
                let planned = self.planned(select);
                (query.body, query.order) = (planned.body, planned.order);
            }
            (body, block) => self.plan_body_again(body, block),
        }
    }

    fn plan_body_again(&mut self, body: &mut Body, block: &mut BoundBlock) {
        match (body, block) {
            (Body::Nested(inner), block) => self.plan_again(inner, block),
            (Body::SetOperation(set), BoundBlock::Set(bound)) => {
                debug_assert_eq!(bound.operands.len(), set.rest.len() + 1, "operands are the same");
                let rest = set.rest.iter_mut().map(|step| &mut step.body);
                let bodies = std::iter::once(&mut set.first).chain(rest);
                for (body, block) in bodies.zip(&mut bound.operands) {
                    self.plan_body_again(body, block);
                }
            }
            (body, BoundBlock::Select(select)) => *body = self.planned(select).body,
            (_, BoundBlock::Set(_)) => debug_assert!(false, "a set operation is planned as one"),
        }
    }

    fn planned(&mut self, block: &mut BoundSelect) -> QueryPlan {
        let read_by_parts = block.read_by_parts.clone();
        let number = block.select.number;
        self.levels.push(Level { number, read_by_parts, ..Level::default() });
        self.push_down(&mut block.from, &mut block.clauses);
        let mut plan = self.plan(&block.select, block.from.clone(), block.clauses.clone(), None);
        self.levels.pop();
        order_by_index(&mut plan, || self.switched_on("prefer_ordering_index"));
        plan
    }
}
