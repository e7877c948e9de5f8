//! Semi and anti joins of small tables, ordered and executed as MySQL does it.
//!
//! The tables of a subquery become members of the group around it, and each row of that which they
//! repeat is left out: by a join that ends at the first match, by a table of the subquery's
//! different rows, by reading one row of each group of an index, or by the ids of the rows that
//! came out already ([`order`]). Which costs least is MySQL's to say ([`model`]), so that rows come
//! in its order, and EXPLAIN shows its plan. Where a table is larger, or nothing removes all
//! repetitions, subqueries are joined as the rest of [`super`] does it.
//!
//! Example: `t3 SEMI JOIN t4 ON t4.k = t3.id` over 10 and 20 rows, with an index on `t4.k`:
//!
//! ```text
//!   LooseScan      the first entry of each k (5 of them), and its row of t3       6.25
//!   Materialize    t3, whose id is looked up in a table of all k                  7.50
//!   FirstMatch     t3, and the first entry of each id                             7.76
//! ```

mod model;
mod nest;
mod order;

use super::equal::Equal;
use super::group::{Group, Member, Nest};
use super::members::Members;
use super::relation::{Around, Relation};
use super::{Method, NestJoin, Solution, Tree, TreeDedup, TreeJoin, TreeKey, deduce};
use crate::access::{EvalSettings, Planned};
use crate::catalog::SMALL_TABLE;
use crate::optimize::{FromTree, Leaf, LeafKind, QueryBlock};
use crate::plan::dedup::DedupStrategy;
use crate::plan::{JoinType, NestShown};
use inia_expr::{Expr, SlotSet, slots_of};
use model::{Access, Costs, Way};
use nest::Subquery;
use order::{Order, Position, Search, Strategy};
use std::cell::Cell;

/// Groups of more members are ordered as others are.
const MAX_MEMBERS: usize = 8;

/// Whether a tree is a join of few tables, all of which are small.
pub(super) fn applies(tree: &FromTree) -> bool {
    let (mut nests, mut members) = (false, 0);
    matches!(tree, FromTree::Join(_))
        && walk(tree, &mut nests, &mut members)
        && members <= MAX_MEMBERS
}

/// Whether a tree has a semi or an anti join, and few tables, all of which are small.
pub(super) fn has_nests(tree: &FromTree) -> bool {
    let (mut nests, mut members) = (false, 0);
    walk(tree, &mut nests, &mut members) && nests && members <= MAX_MEMBERS
}

/// Whether a tree has few tables, all of which are small.
pub(crate) fn has_small_tables(tree: &FromTree) -> bool {
    let (mut nests, mut members) = (false, 0);
    walk(tree, &mut nests, &mut members) && members <= MAX_MEMBERS / 2
}

fn walk(tree: &FromTree, nests: &mut bool, members: &mut usize) -> bool {
    match tree {
        FromTree::Leaf(leaf) => {
            *members += 1;
            is_small(leaf)
        }
        FromTree::Join(join) => {
            *nests |= matches!(join.kind, JoinType::Semi | JoinType::Anti);
            walk(&join.left, nests, members) && walk(&join.right, nests, members)
        }
    }
}

fn is_small(leaf: &Leaf) -> bool {
    match &leaf.kind {
        LeafKind::Table { table, lock: None, .. } => table.is_small(),
        LeafKind::Subplan { lateral: false, unnested: false, rows, .. } => {
            *rows < SMALL_TABLE as f64
        }
        _ => false,
    }
}

/// The group of a tree, and how it is read best; `None` where nothing removes all repetitions.
pub(super) fn solve(
    tree: FromTree,
    mut conditions: Vec<Expr>,
    block: &QueryBlock<'_>,
) -> Option<(Group, Solution)> {
    let (mut group, mut nests) = Group::flat(tree, block.straight)?;
    group.demand(block.orders);
    conditions.append(&mut group.conditions);
    let filled = SlotSet::default();
    let (classes, given) = deduce(&group, &mut conditions);
    nest::pull_out(&group, &mut nests, &conditions);
    nests.retain(|nest| !nest.members.is_empty());
    let around = Around { group: &group, filled: &filled, block, as_mysql: true };
    let solution = solved(around, (conditions, given), classes, &nests)?;
    Some((group, solution))
}

/// How a group inside another is read, with further conditions on it; `looped` where that is done
/// for each row of the tables before it.
pub(super) fn solve_group(around: Around<'_>, mut conditions: Vec<Expr>) -> Option<Solution> {
    let semi = |member: &Member| member.kind == JoinType::Semi;
    if around.group.members.iter().any(semi) {
        return None;
    }
    let (classes, given) = deduce(around.group, &mut conditions);
    solved(around, (conditions, given), classes, &[])
}

fn solved(
    around: Around<'_>,
    (mut conditions, given): (Vec<Expr>, usize),
    classes: Vec<Equal>,
    nests: &[Nest],
) -> Option<Solution> {
    let count = around.group.members.len();
    let mut relations: Vec<Relation> =
        (0..count).map(|member| Relation::of(around, member, &conditions)).collect();
    let found = ordered(around, &relations, (&conditions, given), (&classes, nests))?;
    conditions.truncate(given);
    let nested = relations.iter_mut().map(|relation| relation.nested.take()).collect();
    let Found { tree, cost, rows, finds, planned, fixed } = found;
    Some(Solution {
        tree,
        cost,
        rows,
        conditions,
        classes,
        nested,
        as_mysql: true,
        finds,
        planned,
        fixed,
    })
}

/// The order that was found best.
struct Found {
    tree: Tree,
    cost: f64,
    rows: f64,
    /// Its first table is looked up.
    finds: bool,
    planned: Vec<Planned>,
    fixed: SlotSet,
}

/// What reading small tables costs MySQL, and how many rows they give; `hash_joins` where rows may
/// be kept in buffers.
pub(crate) fn small_cost(
    tree: FromTree,
    mut conditions: Vec<Expr>,
    (settings, hash_joins): (EvalSettings<'_>, bool),
) -> Option<(f64, f64)> {
    let mut needed = SlotSet::default();
    tree.for_each_expr(&mut |expr| needed = needed.union(&slots_of(expr).slots));
    conditions.iter().for_each(|expr| needed = needed.union(&slots_of(expr).slots));
    let spare = Cell::new(0);
    let block = QueryBlock {
        needed: &needed,
        straight: false,
        orders: &[],
        reads_all: true,
        extremes: false,
        order: &[],
        sorts: false,
        limit: None,
        hash_joins,
        spare: &spare,
        settings,
    };
    let (mut group, nests) = Group::flat(tree, false)?;
    conditions.append(&mut group.conditions);
    let filled = SlotSet::default();
    let (classes, given) = deduce(&group, &mut conditions);
    let around = Around { group: &group, filled: &filled, block: &block, as_mysql: true };
    let count = group.members.len();
    let relations: Vec<Relation> =
        (0..count).map(|member| Relation::of(around, member, &conditions)).collect();
    let costs = Costs::new(around, &relations, (&conditions, given), (&classes, &nests));
    let mut subqueries: Vec<Subquery> =
        nests.iter().map(|nest| Subquery::of(&costs, nest)).collect();
    subqueries.iter_mut().for_each(|subquery| subquery.materialize(&costs));
    let order = Search::best(&costs, &subqueries, Members::first_of(count), None)?;
    Some((order.cost, order.rows))
}

fn ordered(
    around: Around<'_>,
    relations: &[Relation],
    conditions: (&[Expr], usize),
    (classes, nests): (&[Equal], &[Nest]),
) -> Option<Found> {
    let costs = Costs::new(around, relations, conditions, (classes, nests));
    let mut subqueries: Vec<Subquery> =
        nests.iter().map(|nest| Subquery::of(&costs, nest)).collect();
    subqueries.iter_mut().for_each(|subquery| subquery.materialize(&costs));
    let all = Members::first_of(around.group.members.len());
    let sort_by = sorted_by(around);
    let order = Search::best(&costs, &subqueries, all, sort_by)?;
    let (cost, rows) = (order.cost, order.rows);
    let finds = order.positions[0].access.way == Way::Lookup;
    // What is read for each row of other tables keeps no rows in buffers.
    let buffers = !finds || *around.filled == SlotSet::default();
    let mut planned = vec![Planned::Free; around.group.members.len()];
    // Strategies of semi joins read their tables in ways of their own.
    if nests.is_empty() {
        order.positions.iter().for_each(|at| planned[at.member] = at.access.planned);
    }
    let tree = Assembly { costs: &costs, subqueries: &subqueries, buffers }.tree(&order)?;
    let fixed = costs.fixed.clone();
    Some(Found { tree, cost, rows, finds, planned, fixed })
}

/// The member that has all columns of ORDER BY.
fn sorted_by(around: Around<'_>) -> Option<usize> {
    let members = &around.group.members;
    let of = |slot: usize| members.iter().position(|member| member.slots.contains(slot));
    let mut keys = around.block.order.iter().map(|(slot, _)| of(*slot));
    let first = keys.next()??;
    keys.all(|other| other == Some(first)).then_some(first)
}

/// Makes the joins of an order.
struct Assembly<'s> {
    costs: &'s Costs<'s>,
    subqueries: &'s [Subquery],
    /// Rows may be kept in buffers.
    buffers: bool,
}

impl Assembly<'_> {
    fn tree(&self, order: &Order) -> Option<Tree> {
        let positions = &order.positions;
        let mut ranges = Vec::new();
        let mut end = positions.len();
        while let Some(last) = end.checked_sub(1) {
            end = match positions[last].strategy {
                Some((strategy, first, subquery)) => {
                    ranges.push((first, last, strategy, subquery));
                    first
                }
                None => last,
            };
        }
        let (mut joined, mut at, mut lines) = (None, 0, 0);
        while at < positions.len() {
            let Some((first, last, strategy, subquery)) = ranges.pop_if(|(first, ..)| *first == at)
            else {
                joined = Some(self.member(joined, &positions[at]));
                (at, lines) = (at + 1, lines + 1);
                continue;
            };
            let range = &positions[first..=last];
            joined = Some(match strategy {
                Strategy::Weedout => self.weedout(joined, (positions, first, last), lines)?,
                _ => self.range(joined, range, strategy, &self.subqueries[subquery])?,
            });
            // A materialized subquery has one line.
            lines += match strategy {
                Strategy::Lookup | Strategy::Scan => {
                    range.len() + 1 - self.subqueries[subquery].members.len()
                }
                _ => range.len(),
            };
            at = last + 1;
        }
        joined
    }

    /// One more member behind those that are joined.
    fn member(&self, joined: Option<Tree>, position: &Position) -> Tree {
        let right = Tree::Member(position.member);
        let Some(left) = joined else { return right };
        let group = self.costs.around.group;
        let member = &group.members[position.member];
        let (mut method, mut nest) = (self.method_of(position.access), None);
        if member.kind == JoinType::Anti {
            let kept = position.access.kept;
            let shown = NestShown { first_match: !kept, number: member.rules.number };
            nest = Some(NestJoin { kind: JoinType::Anti, shown });
            if kept {
                method = Method::Hash;
            }
        }
        let keyed = position.access.way == Way::Key;
        if keyed {
            method = Method::Hash;
        }
        let mut joined = join(left, right, (method, position.rows), nest);
        if let Tree::Join(join) = &mut joined {
            join.keyed = keyed;
        }
        joined
    }

    /// The tables of a range behind those that are joined.
    fn range(
        &self,
        joined: Option<Tree>,
        range: &[Position],
        strategy: Strategy,
        subquery: &Subquery,
    ) -> Option<Tree> {
        // FirstMatch may have tables of several subqueries, in any order.
        let count = match strategy {
            Strategy::FirstMatch => range.len(),
            _ => subquery.members.len(),
        };
        let (inner, rest) = range.split_at(count);
        let rows = inner.last()?.rows;
        let mut joined = match strategy {
            Strategy::FirstMatch => self.first_match(joined, inner, subquery.number)?,
            Strategy::Lookup => {
                let right = self.chain(&subquery.materialized.as_ref()?.order.positions, false)?;
                let shown = NestShown { first_match: false, number: subquery.number };
                let nest = NestJoin { kind: JoinType::Semi, shown };
                join(joined?, right, (Method::Hash, rows), Some(nest))
            }
            Strategy::Scan => {
                let made = subquery.materialized.as_ref()?;
                let tree = self.chain(&made.order.positions, false)?;
                let by = TreeKey::Values(subquery.values.clone());
                let strategy = DedupStrategy::Materialize(subquery.number);
                let dedup = TreeDedup { tree, by, strategy, rows: made.rows, path: None };
                let made = Tree::Dedup(Box::new(dedup));
                match joined {
                    None => made,
                    Some(left) => join(left, made, (Method::Hash, rows), None),
                }
            }
            _ => self.loose_scan(joined, inner, subquery)?,
        };
        for position in rest {
            joined = self.member(Some(joined), position);
        }
        Some(joined)
    }

    fn first_match(&self, joined: Option<Tree>, inner: &[Position], number: usize) -> Option<Tree> {
        let rows = inner.last().map_or(1.0, |last| last.rows);
        let shown = NestShown { first_match: true, number };
        let nest = Some(NestJoin { kind: JoinType::Semi, shown });
        Some(match (joined, inner) {
            (None, inner) => {
                let tree = self.chain(inner, true)?;
                let (by, strategy) = (TreeKey::Values(Vec::new()), DedupStrategy::FirstMatch);
                Tree::Dedup(Box::new(TreeDedup { tree, by, strategy, rows: 1.0, path: None }))
            }
            (Some(left), [one]) => {
                join(left, Tree::Member(one.member), (self.method_of(one.access), rows), nest)
            }
            (Some(left), inner) => {
                let right = self.chain(inner, true)?;
                join(left, right, (Method::Loop, rows), nest)
            }
        })
    }

    fn loose_scan(
        &self,
        joined: Option<Tree>,
        inner: &[Position],
        subquery: &Subquery,
    ) -> Option<Tree> {
        let (first, rest) = inner.split_first()?;
        let (path, _, groups) = subquery.loose(self.costs, first.member)?;
        let mut tree = Tree::Member(first.member);
        if !rest.is_empty() {
            tree = self.first_match(Some(tree), rest, subquery.number)?;
        }
        let by = TreeKey::Values(subquery.values.clone());
        let (strategy, path) = (DedupStrategy::LooseScan, Some((first.member, path)));
        let dedup = Tree::Dedup(Box::new(TreeDedup { tree, by, strategy, rows: groups, path }));
        Some(match joined {
            None => dedup,
            Some(left) => join(left, dedup, (Method::Loop, first.rows), None),
        })
    }

    fn weedout(
        &self,
        joined: Option<Tree>,
        (positions, first, last): (&[Position], usize, usize),
        lines: usize,
    ) -> Option<Tree> {
        let mut joined = joined;
        for position in &positions[first..=last] {
            joined = Some(self.member(joined, position));
        }
        let outer = |member: &usize| {
            !self.subqueries.iter().any(|subquery| subquery.members.contains(*member))
        };
        let members = positions[..=last].iter().map(|position| position.member);
        let ids =
            members.filter(outer).fold(Members::default(), |all, one| all.union(Members::one(one)));
        let tree = joined?;
        let (by, rows) = (TreeKey::RowIds(ids), positions[last].rows);
        // Rows in a join buffer make the range begin with the first table.
        let buffered = |position: &Position| position.access.way == Way::Buffer;
        let begins = if positions[first..=last].iter().any(buffered) { 0 } else { lines };
        let strategy = DedupStrategy::Weedout(begins);
        Some(Tree::Dedup(Box::new(TreeDedup { tree, by, strategy, rows, path: None })))
    }

    /// Tables of a subquery, one behind the other; `each` where they are read for each row before.
    fn chain(&self, positions: &[Position], each: bool) -> Option<Tree> {
        positions.iter().fold(None, |joined, position| {
            let method = if each { Method::Loop } else { self.method_of(position.access) };
            Some(match joined {
                None => Tree::Member(position.member),
                Some(left) => {
                    join(left, Tree::Member(position.member), (method, position.rows), None)
                }
            })
        })
    }

    fn method_of(&self, access: Access) -> Method {
        match access.way {
            Way::Buffer if self.buffers => Method::Hash,
            _ => Method::Loop,
        }
    }
}

fn join(left: Tree, right: Tree, (method, rows): (Method, f64), nest: Option<NestJoin>) -> Tree {
    let (fixed, keyed) = (true, false);
    Tree::Join(Box::new(TreeJoin { left, right, method, rows, nest, fixed, keyed }))
}
