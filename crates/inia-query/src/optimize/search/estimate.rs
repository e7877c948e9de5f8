//! What the joins of a group cost: the [`Model`] of the enumeration.

use super::cost::{self, BUILD, HASH_SETUP, OUTPUT, PAIR, SPILL};
use super::enumerate::{Goal, Method, Model};
use super::graph::Graph;
use super::group::Source;
use super::members::Members;
use super::relation::{self, Around, Relation, bounding};
use super::rows::Rows;
use crate::plan::JoinType;
use inia_expr::compare::hashable;
use inia_expr::{CmpOp, Expr, ExprKind, SlotSet, slots_of};
use std::cell::RefCell;
use std::collections::HashMap;

/// The most access paths that are looked at for one member; further sets of members before it are
/// taken to allow what a part of them allows.
const MAX_PATHS: usize = 64;

/// An equality of which one side reads some members and the other side others.
struct Key {
    left: Members,
    right: Members,
    /// Whether each side reads no slot of queries or members around the group.
    pure: (bool, bool),
    /// The member whose own join condition it is.
    owner: Option<usize>,
}

/// What the first rows are wanted for.
#[derive(Clone, Copy, Debug)]
pub(super) struct FirstRows {
    /// The share of all rows that is read.
    pub(super) share: f64,
    /// The member that must be read first, and what that costs in the wanted order.
    pub(super) leftmost: Option<(usize, f64)>,
}

/// Estimates of one group.
pub(super) struct Estimate<'e> {
    around: Around<'e>,
    conditions: &'e [Expr],
    relations: &'e [Relation],
    rows: &'e Rows<'e>,
    keys: Vec<Key>,
    first: Option<FirstRows>,
    lookups: RefCell<HashMap<(usize, Members), Option<f64>>>,
}

impl<'e> Estimate<'e> {
    pub(super) fn new(
        around: Around<'e>,
        conditions: &'e [Expr],
        relations: &'e [Relation],
        rows: &'e Rows<'e>,
    ) -> Self {
        let mut keys = Vec::new();
        let mut add = |condition: &Expr, owner| keys.extend(key(around, condition, owner));
        conditions.iter().for_each(|condition| add(condition, None));
        for (number, member) in around.group.members.iter().enumerate() {
            member.on.iter().for_each(|condition| add(condition, Some(number)));
        }
        let lookups = RefCell::default();
        Estimate { around, conditions, relations, rows, keys, first: None, lookups }
    }

    /// The same with first rows as another goal.
    pub(super) fn wanting(self, first: Option<FirstRows>) -> Self {
        Estimate { first, ..self }
    }

    /// The join graph.
    pub(super) fn graph(&self) -> Graph {
        let group = self.around.group;
        let mut graph = Graph::new(group.members.len());
        for key in &self.keys {
            if key.owner.is_none() {
                graph.connect(key.left, key.right);
            }
        }
        for condition in self.conditions {
            let members = group.members_of(&slots_of(condition).slots);
            if members.len() > 1 && key(self.around, condition, None).is_none() {
                graph.connect(members.lowest(), members.minus(members.lowest()));
            }
        }
        for (number, member) in group.members.iter().enumerate() {
            if !member.needs.is_empty() {
                graph.connect(member.needs, Members::one(number));
            }
        }
        graph.connect_parts();
        graph
    }

    /// Whether an equality joins the sides, the right one of which goes into a hash table.
    fn has_key(&self, left: Members, right: Members) -> bool {
        let owner = right.single().filter(|one| self.is_dependent(*one));
        self.keys.iter().any(|key| {
            key.owner == owner
                && (key.pure.1 && key.left.is_subset(left) && key.right.is_subset(right)
                    || key.pure.0 && key.right.is_subset(left) && key.left.is_subset(right))
        })
    }

    fn is_dependent(&self, member: usize) -> bool {
        self.around.group.members[member].kind != JoinType::Inner
    }

    /// What one look at a member costs by an index, given rows of `left`.
    fn lookup(&self, member: usize, left: Members) -> Option<f64> {
        let Source::Leaf(leaf) = &self.around.group.members[member].source else { return None };
        let given = left.and(self.relations[member].adjacent);
        if given.is_empty() {
            return None;
        }
        let known = self.lookups.borrow().get(&(member, given)).copied();
        if let Some(known) = known {
            return known;
        }
        let of_member = |entry: &(&(usize, Members), &Option<f64>)| entry.0.0 == member;
        if self.lookups.borrow().iter().filter(of_member).count() >= MAX_PATHS {
            let all = self.lookups.borrow();
            let smaller = all.iter().filter(of_member).filter(|(at, _)| at.1.is_subset(given));
            return smaller.filter_map(|(_, cost)| *cost).min_by(f64::total_cmp);
        }
        let filled = self.around.filled.union(&self.around.group.slots_of(given));
        let conditions = bounding(&self.around.group.members[member], self.conditions);
        let found = relation::lookup(self.around, leaf, conditions, &filled);
        self.lookups.borrow_mut().insert((member, given), found);
        found
    }

    /// What reading a member for one row of `left` costs, and whether an index finds the rows.
    fn look(&self, member: usize, left: Members) -> (f64, bool) {
        let relation = &self.relations[member];
        if let Some(nested) = &relation.nested {
            return (nested.looped.cost, false);
        }
        match self.lookup(member, left) {
            Some(cost) => (cost, true),
            None => (relation.scan, false),
        }
    }

    /// What the right side of a hash join costs to read, and its rows.
    fn build_side(&self, right: Members, cost: f64) -> Option<(f64, f64)> {
        let Some(one) = right.single() else {
            return Some((cost, self.rows.of(right)));
        };
        let relation = &self.relations[one];
        let once = relation.nested.as_ref().is_none_or(|nested| nested.once.is_some());
        (!relation.lateral && once).then_some((relation.scan, relation.rows))
    }

    fn hashed(&self, (left, right): (Members, Members), cost: f64) -> Option<(f64, f64)> {
        let (read, built) = self.build_side(right, cost)?;
        let (probing, built) = (self.rows.of(left).max(1.0), built.max(1.0));
        let pairs = self.rows.of(left.union(right)).max(1.0);
        let each = if self.has_key(left, right) {
            let file = if cost::spills(built) { SPILL } else { 0.0 };
            return Some((
                HASH_SETUP + read + built * (BUILD + file),
                probing * (cost::probe(built) + file) + pairs * OUTPUT,
            ));
        } else {
            probing * built * PAIR
        };
        Some((HASH_SETUP + read + built * BUILD, each + pairs * OUTPUT))
    }

    fn looped(&self, (left, right): (Members, Members)) -> Option<(f64, bool)> {
        let member = right.single()?;
        let (mut each, by_index) = self.look(member, left);
        let kind = self.around.group.members[member].kind;
        if matches!(kind, JoinType::Semi | JoinType::Anti) && !by_index {
            // The first match ends the reading.
            each /= 2.0;
        }
        let output = self.rows.of(left.union(right)).max(1.0) * OUTPUT;
        let checked = if by_index { 0.0 } else { self.relations[member].rows * PAIR };
        Some((self.rows.of(left).max(1.0) * (each + checked) + output, by_index))
    }
}

impl Model for Estimate<'_> {
    fn leaf(&self, member: usize, goal: Goal) -> f64 {
        let own = &self.around.group.members[member];
        if !own.needs.is_empty() || own.kind != JoinType::Inner {
            return f64::INFINITY;
        }
        let scan = self.relations[member].scan;
        match (goal, self.first) {
            (Goal::All, _) => scan,
            (Goal::First, None) => f64::INFINITY,
            (Goal::First, Some(FirstRows { share, leftmost: None })) => scan * share,
            (Goal::First, Some(FirstRows { share, leftmost: Some((wanted, cost)) })) => {
                if wanted == member { cost * share } else { f64::INFINITY }
            }
        }
    }

    fn join(
        &self,
        sides: (Members, Members),
        (left_cost, right_cost): (f64, f64),
        goal: Goal,
    ) -> Option<(f64, Method)> {
        let (left, right) = sides;
        let share = match (goal, self.first) {
            (Goal::All, _) => 1.0,
            (Goal::First, first) => first?.share,
        };
        match right.single() {
            Some(one) if !self.around.group.members[one].needs.is_subset(left) => return None,
            // A set of several is read as a whole, which locks more than lookups do.
            None if right_cost.is_infinite() => return None,
            None if self.relations.iter().any(|relation| relation.by_index) => return None,
            _ => {}
        }
        let hashes = right.iter().all(|member| self.relations[member].hashes);
        let looped = self.looped(sides);
        let wants_index = right.single().is_some_and(|one| self.relations[one].by_index);
        let by_index = looped.is_some_and(|(_, by_index)| by_index);
        // Rows of small tables are found as MySQL does: by an index where there is one, else in a
        // hash table.
        let few = left.union(right).iter().all(|member| self.relations[member].is_small());
        let hashed = match ((wants_index || few) && by_index) || !hashes {
            true => None,
            false => self.hashed(sides, right_cost),
        };
        let few = few && goal == Goal::All;
        // Rows of a hash table are found for what reading all of them once costs, however wrong the
        // estimates are.
        let rescans = !by_index && hashed.is_some() && (few || self.has_key(left, right));
        let looped = looped.filter(|_| !rescans);
        let looped = looped.map(|(cost, _)| (left_cost + share * cost, Method::Loop));
        let hashed = hashed.map(|(before, cost)| (left_cost + before + share * cost, Method::Hash));
        match (looped, hashed) {
            (Some(looped), Some(hashed)) if hashed.0 < looped.0 => Some(hashed),
            (looped, hashed) => looped.or(hashed),
        }
    }
}

/// An equality that a hash join can use.
fn key(around: Around<'_>, condition: &Expr, owner: Option<usize>) -> Option<Key> {
    let ExprKind::Compare(compare) = &condition.kind else { return None };
    if compare.op != CmpOp::Eq || !hashable(&compare.class, &compare.left.ty, &compare.right.ty) {
        return None;
    }
    let (left, right) = (slots_of(&compare.left), slots_of(&compare.right));
    if left.whole_row || right.whole_row {
        return None;
    }
    let group = around.group;
    let (l, r) = (group.members_of(&left.slots), group.members_of(&right.slots));
    if l.is_empty() || r.is_empty() || l.intersects(r) {
        return None;
    }
    let pure = |slots: &SlotSet, members| slots.is_subset(&group.slots_of(members));
    Some(Key { left: l, right: r, pure: (pure(&left.slots, l), pure(&right.slots, r)), owner })
}
