//! How many rows a join of some members has, whatever the order in which they are joined.
//!
//! The rows of a set are those of the set without its last member, times the rows of that member,
//! times the share that the conditions between them keep. An equality keeps one of as many as the
//! side with more distinct values has; several equalities with one member count as one whose values
//! are combinations:
//!
//! ```text
//!   lineitem 6,000,000 x partsupp 800,000 on (partkey, suppkey)
//!   each key is there once in partsupp, so one of 800,000 pairs is kept: 6,000,000 rows
//! ```

use super::equal::plain;
use super::group::{Group, Source};
use super::members::Members;
use super::relation::Relation;
use crate::access;
use crate::catalog::Table;
use crate::optimize::LeafKind;
use crate::plan::JoinType;
use inia_expr::{CmpOp, Expr, ExprKind, slots_of};
use std::cell::RefCell;
use std::collections::HashMap;

/// The share that an OR over several members is taken to keep.
const BRANCHES: f64 = 0.5;

impl access::Columns for Group {
    fn column(&self, slot: usize) -> Option<(&Table, usize)> {
        let member = self.members.iter().find(|member| member.slots.contains(slot))?;
        let Source::Leaf(leaf) = &member.source else { return None };
        let LeafKind::Table { table, .. } = &leaf.kind else { return None };
        let column = slot - leaf.slots.start;
        (column < table.def.columns.len()).then_some((table, column))
    }
}

/// Columns, of several members, that a condition makes equal.
struct Equated {
    /// Member and slot.
    columns: Vec<(usize, usize)>,
    /// The member whose own join condition it is.
    owner: Option<usize>,
}

/// Any other condition over several members.
struct Other {
    members: Members,
    share: f64,
}

/// How many rows joins have.
pub(super) struct Rows<'r> {
    group: &'r Group,
    relations: &'r [Relation],
    equated: Vec<Equated>,
    others: Vec<Other>,
    known: RefCell<HashMap<Members, f64>>,
}

impl<'r> Rows<'r> {
    pub(super) fn new(group: &'r Group, relations: &'r [Relation], conditions: &[Expr]) -> Self {
        let (equated, others, known) = (Vec::new(), Vec::new(), RefCell::default());
        let mut rows = Rows { group, relations, equated, others, known };
        conditions.iter().for_each(|condition| rows.add(condition, None));
        for (number, member) in group.members.iter().enumerate() {
            member.on.iter().for_each(|condition| rows.add(condition, Some(number)));
        }
        rows
    }

    fn add(&mut self, condition: &Expr, owner: Option<usize>) {
        let needs = slots_of(condition);
        let members = self.group.members_of(&needs.slots);
        let outer = |one: usize| self.group.members[one].kind != JoinType::Inner;
        // A member's own conditions count in its rows; those of a left join's right side that are
        // checked behind the join do not.
        let counts = match members.single() {
            Some(one) => owner.is_none() && outer(one),
            None => !members.is_empty(),
        };
        if !counts || needs.whole_row {
            return;
        }
        let columns = match &condition.kind {
            ExprKind::Compare(compare) if compare.op == CmpOp::Eq => {
                plain(&compare.left).zip(plain(&compare.right))
            }
            _ => None,
        };
        let Some((left, right)) = columns else {
            self.others.push(Other { members, share: self.kept(condition) });
            return;
        };
        let place = |slot: usize| {
            let at = self.group.members.iter().position(|member| member.slots.contains(slot));
            at.map(|member| (member, slot))
        };
        let mut columns: Vec<_> = [left, right].into_iter().filter_map(place).collect();
        let shares = |equated: &mut Equated| {
            equated.owner == owner && equated.columns.iter().any(|column| columns.contains(column))
        };
        let same: Vec<Equated> = self.equated.extract_if(.., shares).collect();
        for column in same.into_iter().flat_map(|equated| equated.columns) {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        self.equated.push(Equated { columns, owner });
    }

    /// The share that a condition keeps which is no equality of columns.
    fn kept(&self, condition: &Expr) -> f64 {
        match condition.kind {
            // What an OR says of single members counts among their own conditions.
            ExprKind::Or(_) => BRANCHES,
            _ => access::share_of(condition, self.group),
        }
    }

    /// Rows of the join of these members.
    pub(super) fn of(&self, members: Members) -> f64 {
        if let Some(rows) = self.known.borrow().get(&members) {
            return *rows;
        }
        let rows = self.count(members);
        self.known.borrow_mut().insert(members, rows);
        rows
    }

    fn count(&self, members: Members) -> f64 {
        let outer = |member: &usize| self.group.members[*member].kind != JoinType::Inner;
        let last = members.iter().rev().find(outer).or_else(|| members.iter().next_back());
        let Some(last) = last else { return 1.0 };
        let before = members.minus(Members::one(last));
        let matches = self.relations[last].rows * self.share(last, before);
        let factor = match self.group.members[last].kind {
            JoinType::Inner => matches,
            JoinType::Left => matches.max(1.0),
            JoinType::Semi => matches.clamp(0.05, 1.0),
            JoinType::Anti => (1.0 - matches).clamp(0.1, 1.0),
        };
        let of_last =
            |other: &&Other| other.members.contains(last) && other.members.is_subset(members);
        let others: f64 = self.others.iter().filter(of_last).map(|other| other.share).product();
        let left = if before.is_empty() { 1.0 } else { self.of(before) };
        left * factor * others
    }

    /// The share of the pairs of a member's rows and those of others that equalities keep.
    fn share(&self, member: usize, others: Members) -> f64 {
        let (mut own, mut facing) = (Vec::new(), Vec::new());
        for equated in &self.equated {
            if equated.owner.is_some_and(|owner| owner != member) {
                continue;
            }
            let of_member = equated.columns.iter().find(|column| column.0 == member);
            let met = equated.columns.iter().filter(|column| others.contains(column.0));
            let values = |column: &&(usize, usize)| self.distinct(column.0, &[column.1]).0;
            let least = met.min_by(|a, b| values(a).total_cmp(&values(b)));
            if let (Some(column), Some(other)) = (of_member, least) {
                own.push(column.1);
                facing.push(*other);
            }
        }
        if own.is_empty() {
            return 1.0;
        }
        let own = self.distinct(member, &own);
        let mut all = (1.0, true);
        for other in others.iter() {
            let slots = facing.iter().filter(|column| column.0 == other).map(|column| column.1);
            let slots: Vec<usize> = slots.collect();
            if !slots.is_empty() {
                let (values, known) = self.distinct(other, &slots);
                all = (all.0 * values, all.1 && known);
            }
        }
        // What is known of one side counts more than what is guessed of the other.
        let most = match (own.1, all.1) {
            (true, false) => own.0,
            (false, true) => all.0,
            _ => own.0.max(all.0),
        };
        1.0 / most.max(1.0)
    }

    /// How many combinations of values some columns of a member have, and whether that is known.
    fn distinct(&self, member: usize, slots: &[usize]) -> (f64, bool) {
        let base = self.relations[member].base;
        if let Source::Leaf(leaf) = &self.group.members[member].source
            && let LeafKind::Table { table, .. } = &leaf.kind
        {
            let columns: Vec<usize> = slots.iter().map(|slot| slot - leaf.slots.start).collect();
            return distinct_of(table, &columns);
        }
        (guessed(base), false)
    }
}

/// Distinct values that a column is taken to have, of so many rows.
fn guessed(rows: f64) -> f64 {
    (rows / 10.0).max(10.0).min(rows)
}

/// How many combinations of values some columns of a table have, and whether that is known.
pub(in crate::optimize) fn distinct_of(table: &Table, columns: &[usize]) -> (f64, bool) {
    let rows = table.rows() as f64;
    for (position, index) in table.def.indexes.iter().enumerate() {
        if !index.kind.has_keys() {
            continue;
        }
        let parts = &index.parts;
        let used =
            parts.iter().take_while(|part| part.prefix.is_none() && columns.contains(&part.column));
        let used = used.count();
        if used == parts.len() && index.unique() {
            return (rows, true);
        }
        if used == columns.len()
            && let Some(each) = table.stats().rows_per_key(position, used)
        {
            return ((rows / each.max(1.0)).max(1.0), true);
        }
    }
    match columns {
        [column] => match table.stats().distinct(*column) {
            Some(values) => (values, true),
            None => (guessed(rows), false),
        },
        columns => {
            let values = columns.iter().map(|column| distinct_of(table, &[*column]).0);
            (values.product::<f64>().min(rows), false)
        }
    }
}
