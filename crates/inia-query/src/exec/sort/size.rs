//! What MySQL knows of rows before it sorts them: how many there may be, and how long they are.

use super::ties::SortSize;
use crate::catalog::SMALL_TABLE;
use crate::catalog::width::row_bytes;
use crate::optimize::{expected_rows, of_body, of_source};
use crate::plan::{
    Aggregation, Body, GroupStrategy, JoinMethod, JoinType, QueryPlan, RowSource, SelectPlan,
};
use crate::plan::{FirstSort, RowKey, SortKey, StatementPlan, TableSource};
use inia_base::collation::Collation;
use inia_base::datatype::{DataType, LobSize};
use inia_expr::ExprType;

/// The size of MySQL's buffer by default; that of the session makes no difference here.
const BUFFER: u64 = 256 << 10;
/// Its buffer has a pointer to each row, and a row has its own length.
const EACH: u64 = 12;
/// The share of rows that an equality is taken to find in a hash table.
const HASHED: f64 = 0.1;
/// More than the buffer has room for.
const TOO_LONG: u64 = 1 << 32;

impl SortSize {
    /// What is known of the rows that a query sorts; `None` where there are too many for MySQL's
    /// order of ties.
    pub(in crate::exec) fn of(query: &QueryPlan, plan: &StatementPlan) -> Option<SortSize> {
        let (expected, rows) = match &query.body {
            Body::Select(select) => (of_select(select, plan), of_source(&select.source)),
            body => (of_body(body), of_body(body)),
        };
        if expected.min(rows) >= SMALL_TABLE as f64 {
            return None;
        }
        let row = match &query.body {
            Body::Select(select) if select.aggregation.is_none() => match &select.source {
                RowSource::Table(table) => row_length(table),
                _ => columns_length(query),
            },
            _ => columns_length(query),
        };
        let length = EACH + keys_length(&query.order) + row;
        let room = usize::try_from(BUFFER / length).unwrap_or(usize::MAX);
        let through_windows =
            matches!(&query.body, Body::Select(select) if !select.windows.is_empty());
        let limited = !query.count_found_rows && !through_windows;
        Some(SortSize { expected, room, limited, varying: varies(&query.order) })
    }

    /// The same of the first table of a join.
    pub(in crate::exec) fn of_first(table: &TableSource, sort: &FirstSort) -> SortSize {
        let key = |key: &RowKey| u64::from(key.ty.nullable) + key_length(&key.ty);
        let length = EACH + sort.keys.iter().map(key).sum::<u64>() + row_length(table);
        let room = usize::try_from(BUFFER / length).unwrap_or(usize::MAX);
        let size = SortSize::by(sort.keys.iter().map(|key| &key.ty));
        SortSize { expected: table.rows, room, limited: sort.limit.is_some(), ..size }
    }

    /// The same of rows that are sorted by values of these types, all of them wanted.
    pub(crate) fn by<'t>(types: impl IntoIterator<Item = &'t ExprType>) -> SortSize {
        let varying = types.into_iter().any(is_varying);
        SortSize { expected: f64::INFINITY, room: usize::MAX, limited: false, varying }
    }
}

impl SortSize {
    /// As it is where the sort of so many expected rows knows of a LIMIT.
    pub(crate) fn limited(self, expected: f64) -> SortSize {
        SortSize { expected, limited: true, ..self }
    }
}

/// How many rows MySQL expects to sort: it does not know how many groups there are in a temporary
/// table.
fn of_select(select: &SelectPlan, plan: &StatementPlan) -> f64 {
    let in_order = |groups: &Aggregation| matches!(groups.strategy, GroupStrategy::InOrder);
    if select.aggregation.as_ref().is_some_and(|groups| !in_order(groups)) {
        return f64::INFINITY;
    }
    match &select.source {
        RowSource::Table(table) => table.rows,
        source => of_join(source, plan),
    }
}

/// How many rows MySQL expects of a join: in a hash table it finds a tenth of the rows by each
/// equality, and all of them for an outer join.
fn of_join(source: &RowSource, plan: &StatementPlan) -> f64 {
    match source {
        RowSource::Subplan { id, .. } => {
            plan.subplans.get(*id).map_or(0.0, |subplan| expected_rows(&subplan.query))
        }
        RowSource::Join(join) if join.kind.gives_right() => {
            let found = match &join.method {
                JoinMethod::Hash(keys) if join.kind == JoinType::Inner => {
                    HASHED.powi(i32::try_from(keys.len()).unwrap_or(i32::MAX))
                }
                _ => 1.0,
            };
            of_join(&join.left, plan) * of_join(&join.right, plan) * found
        }
        RowSource::Join(join) if join.kind == JoinType::Anti => of_join(&join.left, plan),
        source => of_source(source),
    }
}

fn columns_length(query: &QueryPlan) -> u64 {
    query.columns.iter().map(|column| longest(&column.ty.data_type)).sum()
}

/// The longest row that the columns which are read may have.
fn row_length(table: &TableSource) -> u64 {
    let columns = table.table.def.columns.iter().zip(&table.needed);
    columns.filter(|(_, needed)| **needed).map(|(column, _)| longest(&column.data_type)).sum()
}

fn longest(data_type: &DataType) -> u64 {
    match data_type {
        DataType::Text { size, .. } | DataType::Blob(size) => match size {
            LobSize::Tiny => 256,
            LobSize::Normal => 1 << 16,
            LobSize::Medium | LobSize::Long => TOO_LONG,
        },
        DataType::Json | DataType::Geometry { .. } => TOO_LONG,
        other => row_bytes(other),
    }
}

fn keys_length(order: &[SortKey]) -> u64 {
    order.iter().map(|key| u64::from(key.ty.nullable) + key_length(&key.ty)).sum()
}

fn key_length(ty: &ExprType) -> u64 {
    match &ty.data_type {
        DataType::Char { chars, collation } | DataType::VarChar { chars, collation } => {
            u64::from(*chars) * weight(*collation)
        }
        other => longest(other),
    }
}

/// The bytes of a character in a sort key.
fn weight(collation: Collation) -> u64 {
    let bytes = u64::from(collation.charset().max_bytes());
    match (collation.pads_space(), collation.name().ends_with("_bin")) {
        (false, _) if bytes > 1 => 16,
        (true, false) => bytes.min(2),
        (_, true) => bytes.min(3),
        _ => 1,
    }
}

fn varies(order: &[SortKey]) -> bool {
    order.iter().any(|key| is_varying(&key.ty))
}

/// Whether sort keys of the type have their own lengths.
fn is_varying(ty: &ExprType) -> bool {
    match &ty.data_type {
        DataType::Char { collation, .. }
        | DataType::VarChar { collation, .. }
        | DataType::Text { collation, .. } => !collation.pads_space(),
        DataType::Binary(_) | DataType::VarBinary(_) | DataType::Blob(_) | DataType::Json => true,
        _ => false,
    }
}
