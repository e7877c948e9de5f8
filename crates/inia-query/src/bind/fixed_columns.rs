//! Which columns of FROM have one value where others have one.
//!
//! A unique key without NULLs fixes the columns of its table, a key of a derived table what the
//! derived table computes for it, what a generated column reads fixes that column, and an equality
//! one of its sides where the other is fixed.
//!
//! ```text
//!   FROM o JOIN c ON c.id = o.c GROUP BY o.id
//!   -- o.id is o's key and fixes o.c, that fixes c.id, and c.id is c's key
//! ```
//!
//! The condition of an outer join fixes columns of its inner side only, and only where all that it
//! reads of the other side is fixed: else the same row may have a match or none. In rows without a
//! match all columns are NULL, computed ones too, so less follows there.

use super::QueryBinder;
use super::determined::DerivedColumns;
use super::facts::Facts;
use crate::catalog::{Table, TableDef};
use crate::optimize::{FromTree, LeafKind, simplify};
use crate::plan::{Body, JoinType, RowSource};
use crate::referenced::columns_read;
use inia_expr::tree::SubqueryKind;
use inia_expr::{Expr, ExprKind, SlotSet, slots_of};
use std::ops::Range;
use std::sync::Arc;

/// What FROM and WHERE say of columns.
#[derive(Clone, Default)]
pub(super) struct Members {
    tables: Vec<Keyed>,
    facts: Facts,
    outer: Vec<OuterSide>,
}

/// The inner side of an outer join.
#[derive(Clone)]
struct OuterSide {
    /// What the join's condition says.
    facts: Facts,
    /// What the condition reads of the other side.
    outside: SlotSet,
    inner: SlotSet,
}

impl OuterSide {
    fn spread(&self, fixed: &mut SlotSet) {
        if self.outside.is_subset(fixed) {
            let mut more = fixed.clone();
            self.facts.spread(&mut more);
            *fixed = fixed.union(&more.intersection(&self.inner));
        }
    }
}

impl Members {
    /// Adds all slots that the fixed ones fix.
    pub(super) fn close(&self, fixed: &mut SlotSet) {
        loop {
            let before = fixed.clone();
            self.facts.spread(fixed);
            self.outer.iter().for_each(|side| side.spread(fixed));
            self.tables.iter().for_each(|keyed| keyed.spread(fixed, &self.facts.never_null));
            if *fixed == before {
                return;
            }
        }
    }

    /// Expressions that WHERE makes equal to a constant, columns apart.
    pub(super) fn constant_exprs(&self) -> &[Expr] {
        &self.facts.constant_exprs
    }

    /// Whether all columns of all members are fixed.
    pub(super) fn are_fixed(&self, fixed: &SlotSet) -> bool {
        let all = |keyed: &Keyed| SlotSet::of_range(keyed.slots.clone()).is_subset(fixed);
        self.tables.iter().all(all)
    }
}

/// A member of FROM with its slots.
#[derive(Clone)]
struct Keyed {
    member: Member,
    slots: Range<usize>,
    /// On the inner side of an outer join.
    nullable: bool,
}

#[derive(Clone)]
enum Member {
    /// A stored table: its keys determine its columns.
    Stored(Arc<Table>),
    /// A derived table that determines some of its columns.
    Derived(Arc<DerivedColumns>),
    /// Nothing is known of its columns.
    Unknown,
}

impl Keyed {
    /// Adds the slots that the fixed ones determine.
    fn spread(&self, fixed: &mut SlotSet, never_null: &SlotSet) {
        let base = self.slots.start;
        match &self.member {
            Member::Stored(table) if fixes_a_key(&table.def, base, fixed, never_null) => {
                *fixed = fixed.union(&SlotSet::of_range(self.slots.clone()));
            }
            Member::Stored(table) if !self.nullable => spread_generated(&table.def, base, fixed),
            Member::Stored(_) | Member::Unknown => {}
            Member::Derived(columns) => {
                let is_fixed = |column| fixed.contains(base + column);
                let more = columns.determined_by(&is_fixed, self.nullable);
                more.into_iter().for_each(|column| fixed.insert(base + column));
            }
        }
    }
}

/// Adds the generated columns that read fixed columns only.
fn spread_generated(def: &TableDef, base: usize, fixed: &mut SlotSet) {
    for (at, column) in def.columns.iter().enumerate() {
        let Some(generated) = &column.generated else { continue };
        if fixed.contains(base + at) {
            continue;
        }
        let mode = inia_parser::SqlMode::empty();
        let Ok(parsed) = inia_parser::parse_expr(&generated.expression, mode) else { continue };
        let is_fixed = |name| def.column(name).is_some_and(|read| fixed.contains(base + read));
        if columns_read(&parsed).into_iter().all(is_fixed) {
            fixed.insert(base + at);
        }
    }
}

/// Whether some unique key without NULLs lies wholly in the fixed slots.
fn fixes_a_key(def: &TableDef, base: usize, fixed: &SlotSet, never_null: &SlotSet) -> bool {
    def.indexes.iter().any(|index| {
        index.unique()
            && index.parts.iter().all(|part| {
                let (column, slot) = (&def.columns[part.column], base + part.column);
                let whole = part.prefix.is_none() && fixed.contains(slot);
                whole && (!column.nullable || never_null.contains(slot))
            })
    })
}

impl QueryBinder<'_> {
    /// What the FROM and WHERE of the innermost SELECT say of its columns.
    pub(super) fn members(&self, tree: Option<&FromTree>, conditions: &[Expr]) -> Members {
        let facts = Facts::of(conditions, &|expr| self.is_constant_here(expr));
        let mut members = Members { facts, ..Members::default() };
        if let Some(tree) = tree {
            let mut tree = tree.clone();
            simplify(&mut tree, conditions);
            self.collect_members(&tree, false, &mut members);
        }
        members
    }

    /// `nullable` is the inner side of an outer join.
    fn collect_members(&self, tree: &FromTree, nullable: bool, members: &mut Members) {
        match tree {
            FromTree::Leaf(leaf) => {
                let member = match &leaf.kind {
                    LeafKind::Table { table, .. } => Member::Stored(table.clone()),
                    LeafKind::Subplan { id, .. } => match self.determined_of.get(id) {
                        Some(columns) => Member::Derived(columns.clone()),
                        None => Member::Unknown,
                    },
                    _ => Member::Unknown,
                };
                members.tables.push(Keyed { member, slots: leaf.slots.clone(), nullable });
            }
            FromTree::Join(join) => {
                let inner = join.kind == JoinType::Inner;
                let mut facts = Facts::of(&join.on, &|expr| self.is_constant_here(expr));
                if inner {
                    members.facts.extend(facts);
                } else {
                    let inner = join.right.slots();
                    let never_null = facts.never_null.intersection(&inner);
                    members.facts.never_null = members.facts.never_null.union(&never_null);
                    facts.never_null = never_null;
                    let reads = join.on.iter().map(|condition| slots_of(condition).slots);
                    let all = reads.fold(SlotSet::default(), |all, one| all.union(&one));
                    let outside = all.minus(&inner);
                    members.outer.push(OuterSide { facts, outside, inner });
                }
                self.collect_members(&join.left, nullable, members);
                self.collect_members(&join.right, nullable || !inner, members);
            }
        }
    }

    /// Whether MySQL takes an expression for a constant while the SELECT runs: columns of enclosing
    /// rows are, and subqueries without tables. Variables, parameters and NOW() are not.
    fn is_constant_here(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::OuterColumn { .. } => true,
            ExprKind::Subquery(subquery) => {
                let plan = self.subplans[subquery.id].as_ref();
                !matches!(subquery.kind, SubqueryKind::Exists { .. })
                    && !subquery.correlated
                    && plan.is_some_and(|plan| self.is_constant_query(&plan.query.body))
            }
            ExprKind::Call(call) if !call.deterministic && !is_constant_call(call.name) => false,
            kind if !matches!(kind, ExprKind::Call(_)) && !expr.is_constant_node() => false,
            _ => {
                let mut constant = true;
                expr.children(&mut |child| constant &= self.is_constant_here(child));
                constant
            }
        }
    }

    fn is_constant_query(&self, body: &Body) -> bool {
        match body {
            Body::Select(select) => {
                matches!(select.source, RowSource::One | RowSource::Nothing)
                    && select.aggregation.is_none()
                    && select.windows.is_empty()
                    && select.output.iter().all(|item| self.is_constant_here(item))
            }
            Body::Nested(query) => self.is_constant_query(&query.body),
            Body::SetOperation(set) => {
                let rest = set.rest.iter().map(|step| &step.body);
                std::iter::once(&set.first).chain(rest).all(|body| self.is_constant_query(body))
            }
            Body::Values(_) => false,
        }
    }
}

/// Functions without columns that MySQL takes for constants, though each call may answer anew.
fn is_constant_call(name: &str) -> bool {
    const CONSTANT: [&str; 17] = [
        "current_role",
        "database",
        "found_rows",
        "get_lock",
        "icu_version",
        "is_free_lock",
        "is_used_lock",
        "last_insert_id",
        "ps_current_thread_id",
        "random_bytes",
        "release_all_locks",
        "release_lock",
        "roles_graphml",
        "row_count",
        "unix_timestamp",
        "uuid_short",
        "version",
    ];
    CONSTANT.contains(&name)
}
