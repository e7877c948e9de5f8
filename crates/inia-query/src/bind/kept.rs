//! Columns of results whose rows MySQL keeps in a temporary table before it sends them.
//!
//! The protocol shows that: a column of such a table has no keys, a computed value is a column of
//! its own name, and numbers are not called binary. MySQL keeps rows for DISTINCT, for groups that
//! no index has in order, and for an ORDER BY of a join that reads more than its first table.
//!
//! Example: `SELECT a, b + 1 AS n FROM t GROUP BY a, b` has a column `n` of a nameless table where
//! no index begins with `(a, b)`; without GROUP BY its second column is a nameless value.

use super::Namespace;
use super::described::{as_kept, as_stored};
use crate::access::EqualPart;
use crate::catalog::IndexDef;
use crate::plan::{
    Aggregation, Body, JoinMethod, JoinType, OutputColumn, QueryPlan, RowSource, SelectPlan,
    SortKey, TableSource,
};
use inia_base::column::flags;
use inia_base::datatype::DataType;
use inia_expr::tree::CastKind;
use inia_expr::{Aggregate, Expr, ExprKind, SlotSet, slots_of};
use inia_parser::ast::AggregateFunc;

/// What MySQL keeps in the temporary table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// Rows, which are sorted or grouped then.
    Rows,
    /// Rows that differ from one another.
    DistinctRows,
    /// Groups with their aggregates.
    Groups,
    /// Groups that an index has in order, to be sorted.
    GroupsInOrder,
}

/// The tables of a join, in the order in which they are read.
struct Leaves<'a> {
    /// How many slots FROM has; those of subqueries that were made joins follow.
    width: usize,
    /// Those of more than one row.
    many: Vec<&'a RowSource>,
    /// One of them is read into a hash table, so that its order is lost.
    hashed: bool,
}

impl<'a> Leaves<'a> {
    fn add(&mut self, source: &'a RowSource) {
        match source {
            RowSource::One | RowSource::Nothing => {}
            RowSource::Table(table) if has_one_row(table) => {}
            RowSource::Join(join) => {
                let [first, second] = join.in_order();
                self.add(first);
                // MySQL joins no subquery whose value is compared.
                let of_subquery = join.right_slots.start >= self.width;
                if of_subquery && matches!(join.kind, JoinType::Inner | JoinType::Left) {
                    return;
                }
                self.add(second);
                // MySQL makes an index for the rows of a derived table, not a hash table.
                let derived = matches!(second, RowSource::Subplan { .. });
                self.hashed |= match &join.method {
                    JoinMethod::Hash(keys) => !derived || keys.is_empty(),
                    JoinMethod::NestedLoop => false,
                };
            }
            leaf => self.many.push(leaf),
        }
    }

    /// Whether rows come in the order of these columns by an index of the first table.
    fn has_in_order(&self, keys: &[&Expr]) -> bool {
        match self.many.first() {
            Some(RowSource::Table(table)) => !self.hashed && has_in_order(table, keys),
            _ => false,
        }
    }

    /// Whether rows can be sorted by these values before they are joined.
    fn sorts_first(&self, mut keys: impl Iterator<Item = &'a Expr>) -> bool {
        let of_first = |key: &Expr| {
            let first = self.many.first().map_or(0..0, |first| slots(first));
            let read = slots_of(key);
            !read.whole_row && read.slots.minus(&SlotSet::of_range(first)).iter().next().is_none()
        };
        self.many.len() < 2 || (!self.hashed && keys.all(of_first))
    }
}

/// Whether a unique key finds one row by constants.
fn has_one_row(table: &TableSource) -> bool {
    let constant = |part: &EqualPart| match part {
        EqualPart::Value(expr) | EqualPart::NullSafe(expr) => expr.is_constant_in_statement(),
        EqualPart::AnyOf(_) => false,
    };
    table.access.point && table.access.equal.iter().all(constant)
}

fn slots(source: &RowSource) -> std::ops::Range<usize> {
    match source {
        RowSource::Table(table) => table.base..table.base + table.needed.len(),
        RowSource::Subplan { base, width, .. } => *base..base + width,
        RowSource::Virtual(table) => table.base..table.base + table.table.columns().len(),
        RowSource::JsonTable(table) => table.base..table.base + table.rows.width(),
        RowSource::One | RowSource::Nothing | RowSource::Dedup(_) | RowSource::Join(_) => 0..0,
    }
}

/// Whether the table's rows come in the order of these columns by an index that its path can use.
fn has_in_order(table: &TableSource, keys: &[&Expr]) -> bool {
    let free = table.access.is_unbounded();
    let is_column = |(part, key): (usize, &&Expr)| match key.kind {
        ExprKind::Column { index, .. } => index.checked_sub(table.base) == Some(part),
        _ => false,
    };
    let in_order = |index: &IndexDef| {
        let whole = index.parts.iter().take_while(|part| part.prefix.is_none());
        let fixed = if free { 0 } else { table.access.equal.len() };
        let parts: Vec<usize> = whole.map(|part| part.column).skip(fixed).collect();
        index.kind.has_keys()
            && parts.len() >= keys.len()
            && parts.into_iter().zip(keys).all(is_column)
    };
    let indexes = table.table.def.indexes.iter().enumerate();
    let mut usable = indexes.filter(|(at, _)| free || table.access.index == Some(*at));
    usable.any(|(_, index)| in_order(index))
}

/// Whether MySQL can keep a group's state in a row of a temporary table.
fn fits_a_row(call: &Aggregate) -> bool {
    use AggregateFunc::{Collect, GroupConcat, JsonArrayAgg, JsonObjectAgg};
    !call.distinct && !matches!(call.func, Collect | GroupConcat | JsonArrayAgg | JsonObjectAgg)
}

fn kept(select: &SelectPlan, order: &[SortKey], width: usize) -> Option<Kept> {
    let mut leaves = Leaves { width, many: Vec::new(), hashed: false };
    leaves.add(&select.source);
    if leaves.many.is_empty() || !select.windows.is_empty() {
        return None;
    }
    let sorted = || order.iter().map(|key| &select.output[key.index]);
    if let Some(groups) = &select.aggregation {
        return kept_for_groups(groups, &leaves, sorted(), select.distinct);
    }
    if select.distinct {
        let items: Vec<&Expr> = select.output[..select.visible].iter().collect();
        let in_order = leaves.has_in_order(&items);
        return (!in_order).then_some(Kept::DistinctRows);
    }
    (!leaves.sorts_first(sorted())).then_some(Kept::Rows)
}

fn kept_for_groups<'a>(
    groups: &'a Aggregation,
    leaves: &Leaves<'a>,
    mut sorted: impl Iterator<Item = &'a Expr>,
    distinct: bool,
) -> Option<Kept> {
    let keys: Vec<&Expr> =
        groups.group.iter().filter(|key| !key.is_constant_in_statement()).collect();
    if keys.is_empty() || groups.rollup {
        return None;
    }
    let in_order = leaves.has_in_order(&keys);
    let sorted_otherwise = sorted.any(|key| !keys.iter().any(|group| group.same(key)));
    if distinct || sorted_otherwise {
        return Some(if in_order { Kept::GroupsInOrder } else { Kept::Groups });
    }
    if groups.calls.iter().all(fits_a_row) {
        return (!in_order).then_some(Kept::Groups);
    }
    (!leaves.sorts_first(keys.into_iter())).then_some(Kept::Rows)
}

/// Describes the columns of a query whose rows MySQL keeps in a temporary table; FROM has `width`
/// slots.
pub(super) fn describe(plan: &mut QueryPlan, names: &Namespace, width: usize) {
    let QueryPlan { body: Body::Select(select), columns, order, .. } = plan else { return };
    if select.aggregation.is_none() && !select.distinct && order.is_empty() {
        return;
    }
    let kept = kept(select, order, width);
    if !matches!(kept, Some(Kept::Groups | Kept::GroupsInOrder)) && select.windows.is_empty() {
        for (column, expr) in columns.iter_mut().zip(&select.output) {
            if aggregate_of(expr).is_some() {
                as_text(column);
            }
        }
    }
    let Some(kept) = kept else { return };
    let shows = select.aggregation.as_ref().is_some_and(|groups| !groups.shown.is_empty());
    let (keys, calls) = match &select.aggregation {
        Some(groups) => (&groups.group[..], &groups.calls[..]),
        None => (&[][..], &[][..]),
    };
    for (column, expr) in columns.iter_mut().zip(&select.output) {
        if let Some(at) = aggregate_of(expr) {
            match kept {
                Kept::Groups => as_aggregate(column, &calls[at], names),
                Kept::GroupsInOrder => as_kept(column),
                Kept::Rows | Kept::DistinctRows => {}
            }
            continue;
        }
        if !is_copied(expr) || (shows && has_subquery(expr)) {
            continue;
        }
        let is_key = match kept {
            Kept::Rows | Kept::GroupsInOrder => false,
            Kept::DistinctRows => true,
            Kept::Groups => keys.iter().any(|key| key.same(expr)),
        };
        as_kept(column);
        as_of_view(column, names);
        // Rows of views of the dictionary are compared as wholes.
        let stored = column.result.schema != "information_schema";
        if is_key && stored && column.result.flags & flags::NOT_NULL == 0 {
            column.result.flags |= flags::GROUP;
        }
    }
}

fn has_subquery(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |node| found |= matches!(node.kind, ExprKind::Subquery(_)));
    found
}

/// The aggregate that an item is; its digits may be cut behind it.
fn aggregate_of(expr: &Expr) -> Option<usize> {
    match &expr.kind {
        ExprKind::Aggregate(at) => Some(*at),
        ExprKind::Cast(inner, CastKind::Implicit) => aggregate_of(inner),
        _ => None,
    }
}

/// Whether a value is put into the table as it is: constants and what is computed from aggregates
/// are not.
fn is_copied(expr: &Expr) -> bool {
    let mut copied = !expr.is_constant_in_statement();
    expr.walk(&mut |node| {
        copied &= match &node.kind {
            ExprKind::Aggregate(_) | ExprKind::Window(_) => false,
            ExprKind::Subquery(subquery) => subquery.correlated,
            _ => true,
        };
    });
    copied
}

/// Describes MIN and MAX of members, which are texts unless a temporary table keeps them.
fn as_text(column: &mut OutputColumn) {
    let OutputColumn { result, ty, .. } = column;
    if let DataType::Enum { collation, .. } | DataType::Set { collation, .. } = result.data_type {
        result.data_type = DataType::Char { chars: ty.length, collation };
        result.flags &= !(flags::ENUM | flags::SET);
    }
}

/// Describes what a view computes: the value becomes a column of the view.
fn as_of_view(column: &mut OutputColumn, names: &Namespace) {
    let OutputColumn { result, ty, .. } = column;
    if !result.schema.is_empty() || result.org_table.is_empty() {
        return;
    }
    if let Some(view) = names.tables.iter().find(|table| table.alias == result.table) {
        result.schema.clone_from(&view.schema);
        result.org_table.clear();
        as_stored(result, ty);
    }
}

/// Describes an aggregate in a row of the table: averages and deviations are computed from what is
/// kept of them, so they stay values.
fn as_aggregate(column: &mut OutputColumn, call: &Aggregate, names: &Namespace) {
    use AggregateFunc::{Avg, Max, Min, StddevPop, StddevSamp, VarPop, VarSamp};
    if call.is_bitwise() || matches!(call.func, Avg | StddevPop | StddevSamp | VarPop | VarSamp) {
        return;
    }
    as_stored(&mut column.result, &column.ty);
    if let (Min | Max, [Expr { kind: ExprKind::Column { index, .. }, .. }]) =
        (call.func, &call.args[..])
    {
        let mut columns = names.tables.iter().flat_map(|table| &table.columns);
        let of = columns.find(|column| column.slot == *index);
        let bits = of.map_or(0, |of| of.result.flags & flags::NO_DEFAULT_VALUE);
        column.result.flags |= bits;
    }
}
