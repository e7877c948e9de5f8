//! Subqueries as members of FROM, where that costs less.
//!
//! A SELECT is planned as it stands and with each subquery as a derived table in turn, and the
//! cheaper form is kept ([`crate::optimize::price_of`]); of IN over small tables that which MySQL
//! takes. `subquery_to_derived=on` in `optimizer_switch` takes every derived table,
//! `materialization=off` none.

use super::super::from::BoundFrom;
use super::super::hints::keeps_order;
use super::super::select::Clauses;
use super::super::{QueryBinder, QueryUse};
use super::locks;
use super::member::Membership;
use crate::optimize::{has_small_tables, order_by_index, price_of};
use crate::plan::{LimitPlan, RowSource};
use inia_base::value::Value;
use inia_expr::{Expr, ExprType};
use inia_parser::ast;

/// SELECTs with more such subqueries keep the other ones as they are.
const MAX_TRIED: usize = 8;
/// What costs more than so many nanoseconds is made cheaper where it can be.
const DEAR: f64 = 20_000_000.0;

/// A subquery that can be a derived table.
enum Derivable {
    /// A scalar subquery with aggregates.
    Scalar(usize),
    /// IN or EXISTS over groups of rows that belong to the row around.
    Groups(usize),
    /// IN over rows that are the same for all rows around.
    Members(Membership),
}

impl QueryBinder<'_> {
    /// Makes derived tables of the SELECT's subqueries, where that can be done and costs less.
    /// `members` are those that are semi joins already.
    pub(in crate::bind) fn derive_subqueries(
        &mut self,
        block: (&ast::Select, QueryUse),
        (from, clauses): (&mut BoundFrom, &mut Clauses),
        members: Vec<Membership>,
    ) {
        let Some(tree) = &from.tree else { return };
        if block.0.rollup || keeps_order(block.0) || locks(tree) {
            return;
        }
        let found = self.derivable((from, clauses), members);
        if found.is_empty() || !self.switched_on("materialization") {
            return;
        }
        let always = self.switched_on("subquery_to_derived");
        let mut least = None;
        for derivable in found.into_iter().take(MAX_TRIED) {
            let (mut joined, mut replaced) = (from.clone(), clauses.clone());
            let before = self.subplans.len();
            if !self.derive(&derivable, &mut joined, &mut replaced) {
                continue;
            }
            // A hint for an order of joins names tables that are joined.
            if self.ordered_members(block.0, &joined) < self.ordered_members(block.0, from) {
                self.subplans.truncate(before);
                continue;
            }
            let scans = match &derivable {
                Derivable::Members(members) => self.scans_members(members, from),
                _ => None,
            };
            if let Some(scans) = scans.filter(|_| !always) {
                if !scans {
                    self.subplans.truncate(before);
                    continue;
                }
            } else if !always {
                let usual = least.unwrap_or_else(|| self.price(block, from, clauses));
                // MySQL runs subqueries for each row, whatever that costs.
                let asked = usual < DEAR && self.is_of_small_tables(&derivable, from);
                if asked {
                    least = Some(usual);
                    self.subplans.truncate(before);
                    continue;
                }
                let price = self.price(block, &joined, &replaced);
                least = Some(usual.min(price));
                if price >= usual {
                    self.subplans.truncate(before);
                    continue;
                }
            }
            (*from, *clauses) = (joined, replaced);
            if let Derivable::Members(members) = derivable {
                self.make_distinct(&members);
            }
        }
    }

    /// Whether a scalar subquery reads small tables only, as the SELECT around it does.
    fn is_of_small_tables(&self, derivable: &Derivable, from: &BoundFrom) -> bool {
        let Derivable::Scalar(id) = derivable else { return false };
        let mut small = from.tree.as_ref().is_some_and(has_small_tables);
        if let Some(subplan) = &self.subplans[*id] {
            subplan.query.for_each_source(&mut |source| {
                if let RowSource::Table(table) = source {
                    small &= table.table.is_small();
                }
            });
        }
        small
    }

    /// How many members of FROM the hints for an order name.
    fn ordered_members(&self, select: &ast::Select, from: &BoundFrom) -> usize {
        let orders = from.tree.as_ref().map(|tree| self.join_orders(select, tree));
        orders.iter().flatten().map(|order| order.members.len()).sum()
    }

    fn derivable(
        &self,
        (from, clauses): (&mut BoundFrom, &mut Clauses),
        members: Vec<Membership>,
    ) -> Vec<Derivable> {
        let scalars = self.scalars_of_groups(from, clauses).into_iter().map(Derivable::Scalar);
        let groups = self.tests_of_groups(&clauses.conditions, from.width);
        let groups = groups.into_iter().map(Derivable::Groups);
        let tested = clauses.conditions.iter().filter_map(Membership::of_condition);
        let joins = |members: &Membership| {
            let nested = self.nested.get(&members.id);
            nested.map_or_else(|| self.switched_on("semijoin"), |nested| nested.joins.is_some())
        };
        let members = members.into_iter().chain(tested.filter(joins)).map(Derivable::Members);
        scalars.chain(groups).chain(members).collect()
    }

    fn derive(
        &mut self,
        derivable: &Derivable,
        from: &mut BoundFrom,
        clauses: &mut Clauses,
    ) -> bool {
        match derivable {
            Derivable::Scalar(id) => self.join_scalar(*id, from, clauses),
            Derivable::Groups(id) => self.join_groups(*id, from, clauses),
            Derivable::Members(members) => self.join_members(members, from, clauses),
        }
    }

    /// What the plan of a SELECT costs.
    fn price(
        &self,
        (select, usage): (&ast::Select, QueryUse),
        from: &BoundFrom,
        clauses: &Clauses,
    ) -> f64 {
        let mut plan = self.plan(select, from.clone(), clauses.clone(), usage.limit);
        plan.limit = usage.limit.map(|limit| LimitPlan {
            offset: None,
            count: Expr::literal(Value::UInt(limit), ExprType::uint(21, false)),
        });
        order_by_index(&mut plan, || self.switched_on("prefer_ordering_index"));
        price_of(&plan, &self.subplans, usage.limit)
    }
}
