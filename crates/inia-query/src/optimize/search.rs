//! One cost-based search for the order and the methods of joins.
//!
//! FROM is taken as groups ([`group`]): members joined by inner joins, which may come in any order,
//! and members that must wait for others (left, semi and anti joins, LATERAL, hints). A group is a
//! graph whose edges are conditions ([`graph`]); equalities that follow from others add edges
//! ([`equal`]). Every connected set of members has a number of rows that no order changes
//! ([`rows`]), and ways to join two parts of it, whose cost is in nanoseconds ([`cost`],
//! [`estimate`]): a nested loop, whose right side may look rows up, or a hash table of the right
//! side, which may be a join itself. Dynamic programming finds the cheapest of all ([`enumerate`]);
//! large groups are ordered greedily ([`greedy`]). What was found becomes a plan in [`build`].
//!
//! Where a LIMIT ends the reading early, or an index yields the order that ORDER BY wants, a second
//! goal is followed: the first rows of a join that streams, of which each part costs its share.
//!
//! Example: `lines` with a million rows, `items` (10,000) and `days` (1,000) with primary keys:
//!
//! ```text
//!   lines JOIN items ON items.id = item JOIN days ON days.id = day
//!   WHERE items.colour = 'red' AND days.month = 7
//!
//!   set           rows        best
//!   items         1,000       scan
//!   days          100         scan
//!   lines items   100,000     items in a hash table, lines streams past it
//!   lines days    100,000     likewise
//!   all           10,000      (lines hash days) hash items
//! ```
//! `items days` is not connected, so their product is not looked at. With an index on `lines.day`
//! and ten red items, lookups from a nested loop would be cheaper than the scan.

pub(super) mod build;
pub(super) mod cost;
mod enumerate;
mod equal;
mod estimate;
mod graph;
mod greedy;
mod group;
mod members;
pub(super) mod relation;
pub(super) mod rows;
mod semi;

use super::{FromTree, LeafKind, QueryBlock, order};
use crate::access::{self, AccessPath, Planned};
use crate::plan::dedup::DedupStrategy;
use crate::plan::{JoinType, NestShown, RowSource};
use enumerate::{Entry, Goal, Method, Step};
use equal::Equal;
pub(crate) use equal::is_natural;
use estimate::{Estimate, FirstRows};
use group::{Group, Source};
use inia_expr::compare::CmpClass;
use inia_expr::{Expr, SlotSet};
use members::Members;
use relation::{Around, Nested, Relation};
use rows::Rows;
pub(crate) use semi::{has_small_tables, small_cost};

/// Larger groups are not enumerated.
const MAX_ENUMERATED: usize = 12;
/// Groups with more connected pairs of sets are not enumerated.
const MAX_PAIRS: usize = 20_000;

/// How a group is read.
pub(super) struct Solution {
    tree: Tree,
    /// What all rows cost.
    cost: f64,
    /// How many rows there are.
    rows: f64,
    /// The group's conditions, with those that follow from them.
    conditions: Vec<Expr>,
    classes: Vec<Equal>,
    nested: Vec<Option<Nested>>,
    /// Its small tables are read as MySQL reads them.
    as_mysql: bool,
    /// Its first table is looked up by what is filled around the group.
    finds: bool,
    /// How its members are read; all others as it costs least.
    planned: Vec<Planned>,
    /// The slots that hold the same values for all rows.
    fixed: SlotSet,
}

impl Solution {
    /// One of tables that are read as it costs least.
    fn of(
        tree: Tree,
        (cost, rows): (f64, f64),
        conditions: Vec<Expr>,
        classes: Vec<Equal>,
    ) -> Solution {
        let (nested, planned, fixed) = (Vec::new(), Vec::new(), SlotSet::default());
        let (as_mysql, finds) = (false, false);
        Solution { tree, cost, rows, conditions, classes, nested, as_mysql, finds, planned, fixed }
    }
}

/// The joins of a group.
enum Tree {
    Member(usize),
    Join(Box<TreeJoin>),
    Dedup(Box<TreeDedup>),
}

struct TreeJoin {
    left: Tree,
    right: Tree,
    method: Method,
    rows: f64,
    /// How a semi or an anti join is executed.
    nest: Option<NestJoin>,
    /// The left side comes first whatever its rows are.
    fixed: bool,
    /// The right side is a derived table, whose rows are looked up by a key that is made of them.
    keyed: bool,
}

/// A semi or an anti join whose strategy was chosen.
#[derive(Clone, Copy)]
struct NestJoin {
    kind: JoinType,
    shown: NestShown,
}

/// Joins that give each row once.
struct TreeDedup {
    tree: Tree,
    by: TreeKey,
    strategy: DedupStrategy,
    rows: f64,
    /// How a member of it is read.
    path: Option<(usize, AccessPath)>,
}

/// What rows of a tree are compared by.
enum TreeKey {
    /// The rows of these members.
    RowIds(Members),
    Values(Vec<(CmpClass, Expr)>),
}

/// Whether semi joins of a tree are ordered and executed as MySQL does it.
pub(super) fn executes_nests(tree: &FromTree, block: &QueryBlock<'_>) -> bool {
    !block.straight && semi::has_nests(tree)
}

/// Plans a tree with the conditions on it. Conditions that no source could take come back.
pub(super) fn plan(
    tree: FromTree,
    conditions: Vec<Expr>,
    block: &QueryBlock<'_>,
) -> (RowSource, Vec<Expr>) {
    if semi::applies(&tree)
        && let Some((group, solution)) = semi::solve(tree.clone(), conditions.clone(), block)
    {
        return build::build(group, solution, &SlotSet::default(), block);
    }
    let mut group = Group::of(tree, block.straight);
    group.demand(block.orders);
    let mut all = conditions;
    all.append(&mut group.conditions);
    let filled = SlotSet::default();
    let around = Around { group: &group, filled: &filled, block, as_mysql: false };
    let solution = solve(around, all, true);
    build::build(group, solution, &filled, block)
}

/// Finds out how a group inside another is read best, with further conditions on it.
fn solve_nested(
    group: &Group,
    mut conditions: Vec<Expr>,
    filled: &SlotSet,
    outer: Around<'_>,
) -> Solution {
    conditions.extend(group.conditions.iter().cloned());
    let around = Around { group, filled, ..outer };
    if around.as_mysql
        && let Some(solution) = semi::solve_group(around, conditions.clone())
    {
        return solution;
    }
    solve(around, conditions, false)
}

/// Finds out how a group is read best; `outermost` where its rows are those of the query.
fn solve(around: Around<'_>, mut conditions: Vec<Expr>, outermost: bool) -> Solution {
    let group = around.group;
    let count = group.members.len();
    let simple = matches!(group.members[0].source, Source::Leaf(_));
    if count == 1 && simple && outermost {
        // A query of one table has nothing to be searched.
        let (tree, classes) = (Tree::Member(0), Vec::new());
        let nested = vec![None];
        return Solution { nested, ..Solution::of(tree, (0.0, 1.0), conditions, classes) };
    }
    let (classes, given) = deduce(group, &mut conditions);
    let mut relations: Vec<Relation> =
        (0..count).map(|member| Relation::of(around, member, &conditions)).collect();
    let (tree, cost, rows) = {
        let rows = Rows::new(group, &relations, &conditions[..given]);
        let estimate = Estimate::new(around, &conditions, &relations, &rows);
        let all = rows.of(Members::first_of(count));
        let first = outermost.then(|| first_rows(around, &conditions, all)).flatten();
        let estimate = estimate.wanting(first);
        let tree = search(around, &estimate, &rows);
        (tree.0, tree.1, all)
    };
    conditions.truncate(given);
    let nested = relations.iter_mut().map(|relation| relation.nested.take()).collect();
    Solution { nested, ..Solution::of(tree, (cost, rows), conditions, classes) }
}

/// The classes of columns that are equal, and how many conditions say so by themselves: what
/// follows from them is added behind those.
fn deduce(group: &Group, conditions: &mut Vec<Expr>) -> (Vec<Equal>, usize) {
    let mut classes = equal::classes(group, conditions);
    let known = equal::constants(&mut classes, conditions);
    conditions.extend(known);
    let given = conditions.len();
    derive(&classes, conditions);
    (classes, given)
}

/// Adds the equalities of each class that no condition states; in a large class only those with its
/// first column.
fn derive(classes: &[Equal], conditions: &mut Vec<Expr>) {
    for equal in classes.iter().filter(|equal| equal.columns.len() > 2) {
        let stated: Vec<(usize, usize)> =
            conditions.iter().filter_map(|condition| equal.slots_in(condition)).collect();
        for (at, a) in equal.columns.iter().enumerate() {
            for b in &equal.columns[at + 1..] {
                let pair = [(a.slot, b.slot), (b.slot, a.slot)];
                if at > 0 && equal.columns.len() > MAX_ENUMERATED {
                    continue;
                }
                if a.member != b.member && !stated.iter().any(|slots| pair.contains(slots)) {
                    conditions.push(equal.between(a, b));
                }
            }
        }
    }
}

/// The goal of few rows, or of rows in an order that an index yields.
fn first_rows(around: Around<'_>, conditions: &[Expr], rows: f64) -> Option<FirstRows> {
    let block = around.block;
    if block.reads_all {
        return None;
    }
    let share = block.limit.map_or(1.0, |limit| (limit / rows.max(1.0)).min(1.0));
    if !block.sorts {
        return (share < 1.0).then_some(FirstRows { share, leftmost: None });
    }
    let &(slot, _) = block.order.first()?;
    let number = around.group.members.iter().position(|member| member.slots.contains(slot))?;
    let member = &around.group.members[number];
    let Source::Leaf(leaf) = &member.source else { return None };
    let LeafKind::Table { table, hinted, .. } = &leaf.kind else { return None };
    let request = relation::request(table, leaf, hinted.as_deref(), block);
    let choice = access::choose(&request, relation::bounding(member, conditions), around.filled);
    let limit = block.limit.map(|limit| limit as u64);
    let prefers = |_: &u64| !access::is_switched_off(block.settings, "prefer_ordering_index");
    let limit = limit.filter(prefers);
    let columns = order::own_columns(block.order, leaf.slots.start, request.needed.len())?;
    let hinted = hinted.as_deref();
    let wanted = order::Wanted { keys: &columns, limit, filtered: true, hinted };
    let path = order::path_in_order(table, &request.needed, &choice.path, wanted)?;
    let all = if path.is_unbounded() { table.rows() as f64 } else { choice.rows };
    let cost = relation::path_cost(table, &path, all);
    Some(FirstRows { share, leftmost: Some((number, cost)) })
}

/// The best tree for a group, and its cost.
fn search(around: Around<'_>, estimate: &Estimate<'_>, rows: &Rows<'_>) -> (Tree, f64) {
    let count = around.group.members.len();
    let all = Members::first_of(count);
    let graph = estimate.graph();
    let table = match count <= MAX_ENUMERATED {
        true => enumerate::enumerate(&graph, estimate, MAX_PAIRS),
        false => None,
    };
    let goal = |entry: &Entry| {
        let sorted = if around.block.sorts { cost::sort(rows.of(all)) } else { 0.0 };
        match entry.first.cost < entry.all.cost + sorted {
            true => Goal::First,
            false => Goal::All,
        }
    };
    if let Some(table) = table {
        let entry = &table[all.index()];
        let find = |set: Members| table[set.index()];
        return (tree(&find, rows, all, goal(entry)), entry.all.cost);
    }
    if let Some(table) = greedy::order(&graph, estimate, &|set| rows.of(set))
        && let Some(entry) = table.get(&all)
    {
        let find = |set: Members| table[&set];
        return (tree(&find, rows, all, goal(entry)), entry.all.cost);
    }
    // Constraints contradict: the order of FROM holds.
    let join = |left, member| {
        let method = Method::Loop;
        let (rows, right) = (rows.of(Members::first_of(member + 1)), Tree::Member(member));
        Tree::Join(Box::new(TreeJoin {
            left,
            right,
            method,
            rows,
            nest: None,
            fixed: false,
            keyed: false,
        }))
    };
    ((1..count).fold(Tree::Member(0), join), f64::INFINITY)
}

/// The joins of a set that were found best.
fn tree(find: &dyn Fn(Members) -> Entry, rows: &Rows<'_>, set: Members, goal: Goal) -> Tree {
    let entry = find(set);
    let Step { split, .. } = match goal {
        Goal::All => entry.all,
        Goal::First => entry.first,
    };
    match (split, set.single()) {
        (Some((left, right, method)), _) => {
            let rows_out = rows.of(set);
            let left = tree(find, rows, left, goal);
            let right = tree(find, rows, right, Goal::All);
            let (rows, nest, fixed, keyed) = (rows_out, None, false, false);
            Tree::Join(Box::new(TreeJoin { left, right, method, rows, nest, fixed, keyed }))
        }
        (None, member) => Tree::Member(member.unwrap_or(0)),
    }
}
