//! FROM as a list of joins, and outer joins that become inner ones.
//!
//! Each member of the list is joined to all before it. What is joined as a whole is a list of its
//! own: the inner side of an outer join with several tables, or what a subquery became. Lists that
//! are inner joins are members of the list around them.
//!
//! Example: `a LEFT JOIN (b JOIN c ON …) ON x` is `[a, left [b, c] on x]`, the condition of `b JOIN
//! c` being part of `x`. Where WHERE drops rows in which `b` is NULL, it becomes `[a, b, c]`,
//! and `x` a condition of WHERE.

use super::condition::{all_of, and, each_column, normal};
use super::order::Key;
use inia_parser::ast::*;

/// A member of the list, and how it is joined.
pub(super) struct Joined {
    pub(super) kind: JoinKind,
    pub(super) member: Member,
    /// The condition of an outer or an anti join.
    pub(super) on: Option<Expr>,
}

/// What is joined.
pub(super) enum Member {
    /// A table.
    One(TableRef),
    /// Several, or one that stands in parentheses.
    Nest(Vec<Joined>),
}

fn joined(kind: JoinKind, member: Member, on: Option<Expr>) -> Joined {
    Joined { kind, member, on }
}

/// The list of a FROM.
pub(super) fn list_of(from: Vec<TableRef>) -> Vec<Joined> {
    from.into_iter().flat_map(joins_of).collect()
}

fn joins_of(table: TableRef) -> Vec<Joined> {
    match table {
        TableRef::Join(join) => {
            let Join { mut kind, mut left, mut right, constraint, .. } = *join;
            if kind == JoinKind::Right {
                (kind, left, right) = (JoinKind::Left, right, left);
            }
            let on = match constraint {
                JoinConstraint::On(on) => Some(normal(on)),
                _ => None,
            };
            let mut list = joins_of(left);
            list.push(joined(kind, member_of(right), on));
            list
        }
        TableRef::List(list) => list_of(list),
        one => vec![joined(JoinKind::Inner, Member::One(one), None)],
    }
}

fn member_of(table: TableRef) -> Member {
    match table {
        TableRef::Join(_) | TableRef::List(_) => Member::Nest(joins_of(table)),
        one => Member::One(one),
    }
}

/// The FROM of a list.
pub(super) fn from_of(list: Vec<Joined>) -> Vec<TableRef> {
    let mut from: Vec<TableRef> = Vec::new();
    for Joined { kind, member, on } in list {
        let right = match member {
            Member::One(table) => table,
            Member::Nest(inner) => TableRef::List(chain_of(inner)),
        };
        match (from.pop(), kind) {
            (None, _) => from.push(right),
            (Some(before), JoinKind::Inner) => from.extend([before, right]),
            (Some(left), kind) => {
                let constraint = on.map_or(JoinConstraint::None, JoinConstraint::On);
                let join = Join { kind, natural: false, left, right, constraint };
                from.push(TableRef::Join(Box::new(join)));
            }
        }
    }
    from
}

/// The members of a list in parentheses.
fn chain_of(list: Vec<Joined>) -> Vec<TableRef> {
    from_of(list)
}

/// The name that a table goes by.
pub(super) fn key_of(table: &TableRef) -> Key {
    match table {
        TableRef::Table(factor) => {
            let schema = factor.name.db.clone().unwrap_or_default();
            (schema, factor.alias.clone().unwrap_or_else(|| factor.name.name.clone()))
        }
        TableRef::Derived(derived) => (String::new(), derived.alias.clone()),
        TableRef::JsonTable(table) => (String::new(), table.alias.clone()),
        TableRef::Join(_) | TableRef::List(_) => Key::default(),
    }
}

/// The table that a column is of.
pub(super) fn table_of(column: &ColumnName) -> Key {
    (column.db.clone().unwrap_or_default(), column.table.clone().unwrap_or_default())
}

/// Calls `visit` with each table of a list.
pub(super) fn each_table<'j>(list: &'j [Joined], visit: &mut dyn FnMut(&'j TableRef)) {
    for Joined { member, .. } in list {
        match member {
            Member::One(table) => visit(table),
            Member::Nest(inner) => each_table(inner, visit),
        }
    }
}

/// Calls `visit` with each table of a list.
pub(super) fn each_table_mut(list: &mut [Joined], visit: &mut dyn FnMut(&mut TableRef)) {
    for Joined { member, .. } in list {
        match member {
            Member::One(table) => visit(table),
            Member::Nest(inner) => each_table_mut(inner, visit),
        }
    }
}

/// Calls `visit` with each condition of ON that stays.
pub(super) fn each_on_mut(list: &mut [Joined], visit: &mut dyn FnMut(&mut Expr)) {
    for Joined { member, on, .. } in list {
        on.iter_mut().for_each(&mut *visit);
        if let Member::Nest(inner) = member {
            each_on_mut(inner, visit);
        }
    }
}

/// The names of a list's tables.
pub(super) fn keys_of(list: &[Joined]) -> Vec<Key> {
    let mut keys = Vec::new();
    each_table(list, &mut |table| keys.push(key_of(table)));
    keys
}

/// Makes inner joins of outer ones whose rows of NULLs a condition drops, and moves the conditions
/// of inner joins to `conditions`, those of the last join first.
pub(super) fn simplify(list: Vec<Joined>, conditions: &mut Option<Expr>) -> Vec<Joined> {
    let mut kept: Vec<Vec<Joined>> = Vec::new();
    for Joined { kind, member, mut on } in list.into_iter().rev() {
        let keys = match &member {
            Member::One(table) => vec![key_of(table)],
            Member::Nest(inner) => keys_of(inner),
        };
        let drops = |condition: &Expr| {
            let dropped = rejects(condition);
            keys.iter().any(|key| dropped.contains(key))
        };
        let kind = match kind {
            JoinKind::Left if conditions.as_ref().is_some_and(drops) => JoinKind::Inner,
            kind => kind,
        };
        let outer = matches!(kind, JoinKind::Left | JoinKind::Anti);
        if !outer && let Some(on) = on.take() {
            add(conditions, on);
        }
        match member {
            Member::Nest(inner) => {
                let inner = match outer {
                    true => simplify(inner, &mut on),
                    false => simplify(inner, conditions),
                };
                match kind {
                    JoinKind::Inner => kept.push(inner),
                    kind => kept.push(vec![joined(kind, Member::Nest(inner), on)]),
                }
            }
            one => kept.push(vec![joined(kind, one, on)]),
        }
    }
    let mut list: Vec<Joined> = kept.into_iter().rev().flatten().collect();
    if let Some(first) = list.first_mut()
        && first.kind == JoinKind::Straight
    {
        first.kind = JoinKind::Inner;
    }
    list
}

/// Adds a condition behind others.
pub(super) fn add(conditions: &mut Option<Expr>, condition: Expr) {
    *conditions = Some(match conditions.take() {
        Some(own) => and(own, condition),
        None => {
            all_of(super::condition::conjuncts(condition)).unwrap_or(super::condition::truth(true))
        }
    });
}

/// The tables whose rows of NULLs a condition drops.
fn rejects(condition: &Expr) -> Vec<Key> {
    match condition {
        Expr::And(list) => list.iter().flat_map(rejects).collect(),
        Expr::Or(list) => {
            let mut each = list.iter().map(rejects);
            let first = each.next().unwrap_or_default();
            each.fold(first, |common, next| {
                common.into_iter().filter(|key| next.contains(key)).collect()
            })
        }
        Expr::Binary { op: BinaryOp::NullSafeEq, .. } | Expr::IsNull { negated: false, .. } => {
            Vec::new()
        }
        Expr::IsNull { expr, negated: true } => strict(expr),
        Expr::IsTruth { expr, negated: false, truth: Truth::True | Truth::False } => rejects(expr),
        Expr::IsTruth { .. } => Vec::new(),
        Expr::InSubquery { expr, negated: false, .. } => strict(expr),
        Expr::Unary { op: UnaryOp::Not, expr } => strict(expr),
        other => strict(other),
    }
}

/// The tables in whose rows of NULLs an expression is NULL.
fn strict(expr: &Expr) -> Vec<Key> {
    let mut tables = Vec::new();
    match expr {
        Expr::Column(name) => tables.push(table_of(name)),
        Expr::Unary { expr, .. } | Expr::Cast { expr, .. } | Expr::Collate { expr, .. } => {
            tables = strict(expr);
        }
        Expr::Binary { op: BinaryOp::NullSafeEq, .. } => {}
        Expr::Binary { left, right, .. } => {
            tables = strict(left);
            tables.extend(strict(right));
        }
        Expr::Between { expr, low, high, .. } => {
            tables = strict(expr);
            tables.extend(strict(low));
            tables.extend(strict(high));
        }
        Expr::InList { expr, .. } => tables = strict(expr),
        Expr::Like { expr, pattern, .. } | Expr::Regexp { expr, pattern, .. } => {
            tables = strict(expr);
            tables.extend(strict(pattern));
        }
        Expr::DateArith { expr, .. } | Expr::Extract { expr, .. } => tables = strict(expr),
        Expr::Function(call) if call.db.is_none() && is_strict(&call.name) => {
            for arg in &call.args {
                each_column(arg, &mut |name| tables.push(table_of(name)));
            }
        }
        _ => {}
    }
    tables
}

/// Whether a function of NULL is NULL.
fn is_strict(name: &str) -> bool {
    matches!(
        name,
        "lower"
            | "upper"
            | "length"
            | "char_length"
            | "abs"
            | "year"
            | "month"
            | "day"
            | "dayofmonth"
            | "date"
            | "round"
            | "floor"
            | "ceiling"
            | "substr"
            | "concat"
            | "trim"
            | "mod"
            | "hour"
            | "minute"
            | "second"
            | "ltrim"
            | "rtrim"
            | "left"
            | "right"
    )
}
