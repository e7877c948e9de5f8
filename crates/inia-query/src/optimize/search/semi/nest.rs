//! What is known of a subquery that has become a semi join of small tables.

use super::super::equal::is_natural;
use super::super::group::{Group, Nest, Source};
use super::super::members::Members;
use super::model::{Access, Costs, ROW, Way};
use super::order::{Order, Search};
use crate::access::AccessPath;
use crate::optimize::{Strategies, matches_once};
use crate::plan::JoinType;
use inia_expr::compare::{CmpClass, hashable};
use inia_expr::{CmpOp, Expr, ExprKind, SlotSet, slots_of};

/// Making a table in memory.
pub(super) const CREATE: f64 = 1.0;
/// Putting a row into it, or looking one up.
pub(super) const TOUCH: f64 = 0.1;

/// A subquery, once tables that a key finds one row of are taken out.
pub(super) struct Subquery {
    pub(super) members: Members,
    /// The tables around it that its conditions read.
    pub(super) reads: Members,
    pub(super) allowed: Strategies,
    pub(super) number: usize,
    /// What its rows are compared by: the class, and the subquery's side.
    pub(super) values: Vec<(CmpClass, Expr)>,
    /// Other conditions read its rows and rows around it.
    correlated: bool,
    /// How its rows are made by themselves, where that may be.
    pub(super) materialized: Option<Materialized>,
}

/// A materialized subquery.
pub(super) struct Materialized {
    pub(super) order: Order,
    /// What reading its tables costs.
    pub(super) read: f64,
    /// Rows that are written, and those that are different.
    pub(super) written: f64,
    pub(super) rows: f64,
    /// Its rows may be read first.
    pub(super) scans: bool,
}

/// Takes tables out of subqueries of which a unique key finds one row for each row around.
pub(super) fn pull_out(group: &Group, nests: &mut [Nest], conditions: &[Expr]) {
    for nest in nests {
        loop {
            let once = |member: &usize| {
                let member = &group.members[*member];
                let other = group.slots_of(nest.members).minus(&member.slots);
                let outside = |c: &&Expr| !slots_of(c).slots.intersects(&other);
                let usable: Vec<Expr> = conditions.iter().filter(outside).cloned().collect();
                let Source::Leaf(leaf) = &member.source else { return false };
                member.kind == JoinType::Inner && matches_once(leaf, &usable)
            };
            let needed = |member: &usize| {
                nest.members.iter().any(|other| group.members[other].needs.contains(*member))
            };
            let found = nest.members.iter().find(|member| once(member) && !needed(member));
            let Some(member) = found else { break };
            nest.members = nest.members.minus(Members::one(member));
            nest.pulled = nest.pulled.union(Members::one(member));
        }
    }
}

impl Subquery {
    /// What is known of a subquery before orders are tried.
    pub(super) fn of(costs: &Costs<'_>, nest: &Nest) -> Subquery {
        let group = costs.around.group;
        let own = group.slots_of(nest.members);
        let (mut reads, mut values) = (Members::default(), Vec::new());
        let (mut correlated, mut plain) = (false, true);
        let mut conditions: Vec<&Expr> = nest.on.iter().collect();
        for member in nest.members.iter() {
            conditions.extend(&group.members[member].on);
        }
        for condition in conditions {
            let needs = slots_of(condition);
            let around = group.members_of(&needs.slots).minus(nest.members);
            // Tables that were taken out are read for each row around.
            correlated |= needs.whole_row || around.intersects(nest.pulled);
            if around.is_empty() || !needs.slots.intersects(&own) {
                continue;
            }
            reads = reads.union(around);
            match compared(condition, &own) {
                Some((class, value, natural)) => {
                    plain &= natural;
                    values.push((class, value));
                }
                None => correlated = true,
            }
        }
        let mut allowed = nest.rules.allowed;
        let (number, materialized) = (nest.rules.number, None);
        let may = allowed.materialization && !correlated && plain && !values.is_empty();
        allowed.loose_scan &= !correlated && plain;
        allowed.materialization = may;
        let members = nest.members;
        let mut found =
            Subquery { members, reads, allowed, number, values, correlated, materialized };
        let inner = |member: usize| group.members[member].kind == JoinType::Inner;
        found.allowed.loose_scan = allowed.loose_scan
            && members.iter().all(inner)
            && members.iter().any(|member| found.loose(costs, member).is_some());
        found
    }

    /// Finds out how its rows are made by themselves.
    pub(super) fn materialize(&mut self, costs: &Costs<'_>) {
        let inside = |member: usize| {
            let needs = costs.around.group.members[member].needs;
            needs.is_subset(self.members)
        };
        if !self.allowed.materialization || !self.members.iter().all(inside) {
            return;
        }
        let Some(order) = Search::best(costs, &[], self.members, None) else { return };
        let mut most = 1.0;
        for member in self.members.iter() {
            let slots = costs.slots(Members::one(member));
            if self.values.iter().any(|(_, value)| slots_of(value).slots.intersects(&slots)) {
                most *= costs.records(member);
            }
        }
        let (read, written) = (order.cost, order.rows);
        let (rows, scans) = (written.min(most), true);
        self.materialized = Some(Materialized { order, read, written, rows, scans });
    }

    /// How LooseScan reads a table of it: by which path, at what cost, and how many groups.
    pub(super) fn loose(&self, costs: &Costs<'_>, member: usize) -> Option<(AccessPath, f64, f64)> {
        debug_assert!(!self.correlated, "other conditions forbid LooseScan");
        let columns: Option<Vec<usize>> =
            self.values.iter().map(|(_, value)| costs.column(member, value)).collect();
        let mut columns = columns?;
        columns.sort_unstable();
        columns.dedup();
        costs.loose(member, &columns)
    }
}

/// The class by which a condition compares a value of `own` slots with one of others, that value,
/// and whether both sides are compared as they are.
fn compared(condition: &Expr, own: &SlotSet) -> Option<(CmpClass, Expr, bool)> {
    let ExprKind::Compare(compare) = &condition.kind else { return None };
    if compare.op != CmpOp::Eq || !hashable(&compare.class, &compare.left.ty, &compare.right.ty) {
        return None;
    }
    let natural =
        is_natural(&compare.left, &compare.class) && is_natural(&compare.right, &compare.class);
    let sides = [(&compare.left, &compare.right), (&compare.right, &compare.left)];
    sides.into_iter().find_map(|(inner, outer)| {
        let (inside, around) = (slots_of(inner), slots_of(outer));
        let apart = inside.slots.is_subset(own)
            && inside.slots.intersects(own)
            && !around.slots.intersects(own)
            && !around.whole_row;
        apart.then(|| (compare.class.clone(), inner.clone(), natural))
    })
}

/// How an anti join of a member finds out whether a row matches: as `access` says, or in a table of
/// the member's rows.
pub(super) fn anti_access(
    costs: &Costs<'_>,
    number: usize,
    (rows, access): (f64, Access),
) -> Access {
    let member = &costs.around.group.members[number];
    let allowed = member.rules.allowed;
    let conditions: Vec<&Expr> = member.on.iter().collect();
    let mut comparisons = 0;
    let plain = conditions.iter().all(|condition| {
        let needs = slots_of(condition);
        if needs.whole_row || needs.slots.is_subset(&member.slots) {
            return !needs.whole_row;
        }
        comparisons += 1;
        compared(condition, &member.slots).is_some_and(|(.., natural)| natural)
    });
    let single = matches!(member.source, Source::Leaf(_));
    let kept = Access { way: Way::Buffer, kept: true, by: Members::default(), ..access };
    if !plain || comparisons == 0 || !allowed.materialization {
        return access;
    }
    if !allowed.first_match || !single {
        return kept;
    }
    let made = costs.alone(number);
    let written = made.rows * made.filter;
    let cost = made.cost + ROW * made.rows + CREATE + TOUCH * written + rows * TOUCH;
    if cost < access.cost + ROW * rows * access.rows {
        // Reading its rows counts where they are made.
        return Access { cost: cost - ROW * rows, rows: 1.0, filter: 1.0, ..kept };
    }
    access
}
