//! A FROM clause as groups: members that inner joins put together, and those that depend on them.
//!
//! `(a JOIN b ON p) LEFT JOIN c ON q JOIN d ON r` is one group of four members. Inner joins
//! commute, so their conditions, `p` and `r`, are the group's. The right side of a left, semi or
//! anti join keeps its condition and must wait for the members that the condition reads; what is
//! joined beside it may come before or after it, since the join leaves its left rows' values as
//! they are. A right side of several members is a group of its own.
//!
//! Invariants: the first member's join is inner; a group has at most 60 members. Larger trees
//! become groups whose first member is a group.

use super::members::Members;
use crate::optimize::{FromJoin, FromTree, JoinOrder, Leaf, NestRules};
use crate::plan::JoinType;
use inia_expr::{Expr, Needs, SlotSet, slots_of};
use inia_parser::ast::HintKind;
use std::ops::Range;

/// The most members that a group has.
const MAX_MEMBERS: usize = 60;

/// Members and the conditions of their inner joins.
pub(super) struct Group {
    pub(super) members: Vec<Member>,
    pub(super) conditions: Vec<Expr>,
}

/// A member of a group.
pub(super) struct Member {
    pub(super) source: Source,
    /// How it is joined to the members that it needs.
    pub(super) kind: JoinType,
    /// The condition of that join, where it is not an inner one.
    pub(super) on: Vec<Expr>,
    /// The slots it fills, in a semi or an anti join for the join's condition only.
    pub(super) slots: SlotSet,
    /// The smallest range that holds them.
    pub(super) range: Range<usize>,
    /// The members that must be joined before.
    pub(super) needs: Members,
    /// What is known of the subquery that it was.
    pub(super) rules: NestRules,
}

/// What a member is.
pub(super) enum Source {
    /// A table, a subplan or a computed table.
    Leaf(Leaf),
    /// The right side of a join that is not inner, or a part of a large group.
    Group(Group),
}

impl Member {
    /// Whether some members must be joined before.
    pub(super) fn follows(&self) -> bool {
        !self.needs.is_empty()
    }

    /// Whether it must be read anew for each row of the members before it.
    pub(super) fn is_lateral(&self) -> bool {
        match &self.source {
            Source::Leaf(leaf) => leaf.kind.is_lateral(),
            Source::Group(group) => group.members.iter().any(Member::is_lateral),
        }
    }
}

impl Group {
    /// The groups of a tree; `straight` keeps the order of FROM.
    pub(super) fn of(tree: FromTree, straight: bool) -> Group {
        let mut group = Group { members: Vec::new(), conditions: Vec::new() };
        match tree {
            FromTree::Join(join) if leaves(&join.left) + leaves(&join.right) > MAX_MEMBERS => {
                group.halve(*join, straight);
            }
            tree => group.flatten(tree, straight),
        }
        group.find_needs(straight);
        group
    }

    fn flatten(&mut self, tree: FromTree, straight: bool) {
        match tree {
            FromTree::Leaf(_) => self.push_inner(tree, straight),
            FromTree::Join(join) if join.kind == JoinType::Inner => {
                let first = self.members.len();
                self.flatten(join.left, straight);
                let second = self.members.len();
                self.flatten(join.right, straight);
                self.conditions.extend(join.on);
                if join.straight {
                    let left = Members::first_of(second).minus(Members::first_of(first));
                    for member in &mut self.members[second..] {
                        member.needs = member.needs.union(left);
                    }
                }
            }
            FromTree::Join(join) => {
                self.flatten(join.left, straight);
                self.push(join.right, (join.kind, join.nest), join.on, straight);
            }
        }
    }

    /// Takes each side of a large join as one member.
    fn halve(&mut self, join: FromJoin, straight: bool) {
        let (mut on, straight) = (join.on, straight || join.straight);
        self.push_inner(join.left, straight);
        if join.kind == JoinType::Inner {
            self.conditions = std::mem::take(&mut on);
        }
        self.push(join.right, (join.kind, join.nest), on, straight);
    }

    fn push_inner(&mut self, tree: FromTree, straight: bool) {
        self.push(tree, (JoinType::Inner, NestRules::default()), Vec::new(), straight);
    }

    fn push(
        &mut self,
        tree: FromTree,
        (kind, rules): (JoinType, NestRules),
        on: Vec<Expr>,
        straight: bool,
    ) {
        let (slots, range) = (all_slots(&tree), tree.slot_range());
        let source = match tree {
            FromTree::Leaf(leaf) => Source::Leaf(leaf),
            tree => Source::Group(Group::of(tree, straight)),
        };
        let needs = Members::default();
        self.members.push(Member { source, kind, on, slots, range, needs, rules });
    }

    /// Finds the members that each member must wait for.
    fn find_needs(&mut self, straight: bool) {
        for number in 0..self.members.len() {
            let before = Members::first_of(number);
            let member = &self.members[number];
            let mut needs = match member.kind {
                _ if straight => before,
                JoinType::Inner if member.is_lateral() => before,
                JoinType::Inner => Members::default(),
                JoinType::Left | JoinType::Semi | JoinType::Anti => {
                    let read = self.read_by(member);
                    if member.is_lateral() { before } else { self.waits_for(&read, number) }
                }
            };
            needs = needs.union(member.needs);
            self.members[number].needs = needs;
        }
    }

    /// Makes members wait for others as hints demand.
    pub(super) fn demand(&mut self, orders: &[JoinOrder]) {
        for order in orders {
            self.demand_one(order);
        }
        for member in &mut self.members {
            if let Source::Group(inner) = &mut member.source {
                inner.demand(orders);
            }
        }
    }

    /// A hint that contradicts what members wait for already has no effect.
    fn demand_one(&mut self, order: &JoinOrder) {
        let find = |slot: &usize| self.members.iter().position(|m| m.slots.contains(*slot));
        let mut named: Vec<usize> = order.members.iter().filter_map(find).collect();
        named.dedup();
        let set = named.iter().fold(Members::default(), |all, one| all.union(Members::one(*one)));
        if named.len() > set.len() {
            return;
        }
        let others = Members::first_of(self.members.len()).minus(set);
        let mut needs: Vec<Members> = self.members.iter().map(|member| member.needs).collect();
        let mut before = Members::default();
        for &member in &named {
            needs[member] = needs[member].union(before);
            before = before.union(Members::one(member));
        }
        match order.kind {
            HintKind::JoinPrefix => others.iter().for_each(|m| needs[m] = needs[m].union(set)),
            HintKind::JoinSuffix => set.iter().for_each(|m| needs[m] = needs[m].union(others)),
            _ => {}
        }
        if can_be_met(&needs) {
            self.members.iter_mut().zip(needs).for_each(|(member, needs)| member.needs = needs);
        }
    }

    /// What a member that is joined by a condition of its own reads.
    fn read_by(&self, member: &Member) -> Needs {
        let mut read = Needs { slots: SlotSet::default(), whole_row: false };
        for_each_condition(member, &mut |condition| {
            let needs = slots_of(condition);
            read.slots = read.slots.union(&needs.slots);
            read.whole_row |= needs.whole_row;
        });
        read
    }

    /// The members before `number` that fill what is read; at least one, which is the left side.
    fn waits_for(&self, read: &Needs, number: usize) -> Members {
        let before = Members::first_of(number);
        let found = match read.whole_row {
            true => before,
            false => self.members_of(&read.slots).and(before),
        };
        debug_assert!(number > 0, "the left side of a join comes before its right side");
        if found.is_empty() { Members::one(0) } else { found }
    }

    /// The members that fill some of the slots.
    pub(super) fn members_of(&self, slots: &SlotSet) -> Members {
        let mut found = Members::default();
        for (number, member) in self.members.iter().enumerate() {
            if member.slots.intersects(slots) {
                found = found.union(Members::one(number));
            }
        }
        found
    }

    /// The slots of some members.
    pub(super) fn slots_of(&self, members: Members) -> SlotSet {
        let all = members.iter().map(|member| &self.members[member].slots);
        all.fold(SlotSet::default(), |all, slots| all.union(slots))
    }

    /// Whether a condition in it reads other slots than these, or whole rows.
    pub(super) fn reads_outside(&self, slots: &SlotSet) -> bool {
        let mut outside = false;
        let mut check = |condition: &Expr| {
            let needs = slots_of(condition);
            outside |= needs.whole_row || !needs.slots.is_subset(slots);
        };
        self.conditions.iter().for_each(&mut check);
        self.members.iter().for_each(|member| for_each_condition(member, &mut check));
        outside
    }

    /// How deep groups are nested in it.
    pub(super) fn depth(&self) -> usize {
        let depth = |member: &Member| match &member.source {
            Source::Leaf(_) => 0,
            Source::Group(group) => 1 + group.depth(),
        };
        self.members.iter().map(depth).max().unwrap_or(0)
    }
}

/// Whether there is an order in which each member comes behind those that it needs.
fn can_be_met(needs: &[Members]) -> bool {
    let all = Members::first_of(needs.len());
    let mut placed = Members::default();
    loop {
        let ready = |member: &usize| needs[*member].is_subset(placed);
        let Some(next) = all.minus(placed).iter().find(ready) else { return placed == all };
        placed = placed.union(Members::one(next));
    }
}

fn leaves(tree: &FromTree) -> usize {
    match tree {
        FromTree::Leaf(_) => 1,
        FromTree::Join(join) => leaves(&join.left) + leaves(&join.right),
    }
}

/// Every slot that is filled somewhere in a tree.
fn all_slots(tree: &FromTree) -> SlotSet {
    match tree {
        FromTree::Leaf(leaf) => SlotSet::of_range(leaf.slots.clone()),
        FromTree::Join(join) => all_slots(&join.left).union(&all_slots(&join.right)),
    }
}

/// Gives every condition and document of a member to `visit`.
fn for_each_condition(member: &Member, visit: &mut dyn FnMut(&Expr)) {
    member.on.iter().for_each(&mut *visit);
    match &member.source {
        Source::Leaf(leaf) => leaf.kind.document().into_iter().for_each(visit),
        Source::Group(group) => {
            group.conditions.iter().for_each(&mut *visit);
            group.members.iter().for_each(|inner| for_each_condition(inner, visit));
        }
    }
}

/// The subquery of a semi join.
pub(super) struct Nest {
    /// Its tables.
    pub(super) members: Members,
    /// Tables that were taken out of it.
    pub(super) pulled: Members,
    pub(super) rules: NestRules,
    /// Its conditions, with the equalities of IN.
    pub(super) on: Vec<Expr>,
}

impl Group {
    /// The group of a tree in which the tables of semi joins are members like others; those of a
    /// semi join inside another belong to the outer one. `None` where the order of FROM counts.
    pub(super) fn flat(tree: FromTree, straight: bool) -> Option<(Group, Vec<Nest>)> {
        let mut group = Group { members: Vec::new(), conditions: Vec::new() };
        let (mut nests, mut keeps_order) = (Vec::new(), straight);
        group.flatten_nests(tree, None, (&mut nests, &mut keeps_order));
        if keeps_order && !nests.is_empty() {
            return None;
        }
        group.find_needs(straight);
        Some((group, nests))
    }

    /// `straight` becomes true where the order of FROM counts.
    fn flatten_nests(
        &mut self,
        tree: FromTree,
        nest: Option<usize>,
        (nests, straight): (&mut Vec<Nest>, &mut bool),
    ) {
        let first = self.members.len();
        match tree {
            FromTree::Leaf(_) => self.push_inner(tree, false),
            FromTree::Join(join) => {
                self.flatten_nests(join.left, nest, (nests, straight));
                let right = match (join.kind, nest) {
                    (JoinType::Semi, None) => {
                        let members = Members::default();
                        let (rules, on, pulled) = (join.nest, Vec::new(), members);
                        nests.push(Nest { members, pulled, rules, on });
                        Some(nests.len() - 1)
                    }
                    _ => nest,
                };
                let second = self.members.len();
                match join.kind {
                    JoinType::Inner | JoinType::Semi => {
                        if let Some(right) = right {
                            nests[right].on.extend(join.on.iter().cloned());
                        }
                        self.flatten_nests(join.right, right, (nests, straight));
                        self.conditions.extend(join.on);
                    }
                    kind => self.push(join.right, (kind, join.nest), join.on, false),
                }
                if join.straight {
                    *straight = true;
                    let left = Members::first_of(second).minus(Members::first_of(first));
                    for member in &mut self.members[second..] {
                        member.needs = member.needs.union(left);
                    }
                }
            }
        }
        if let Some(nest) = nest {
            let added = Members::first_of(self.members.len()).minus(Members::first_of(first));
            nests[nest].members = nests[nest].members.union(added);
        }
    }
}
