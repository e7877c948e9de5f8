//! Bringing a table's trees to a new definition.
//!
//! [`RebuildPlan::new`] chooses one of three methods: no change (names, defaults, comments), new
//! index trees that are filled from the present rows, or new trees for everything, with every row
//! converted.

mod added;
mod destination;
mod filler;
mod new_trees;

use super::copied::carried;
use super::table::{create_trees, drop_trees};
use destination::Destination;
pub(super) use destination::NewTable;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::ids::TreeId;
use inia_base::temporal::{Date, DateTime, TimeZone};
use inia_base::value::Value;
use inia_expr::{NoSubqueries, Strictness, TypeClass};
use inia_query::catalog::{
    ColumnDef, ColumnDefault, IndexKind, Table, TableDef, row_count, value_text,
};
use inia_query::context::SessionContext;
use inia_query::dml::auto_increment::value_of;
use inia_query::dml::fill::{Fills, Given, limited};
use inia_query::error::StorageResult;
use inia_query::interrupt::Interrupt;
use inia_storage::{Direction, Isolation, KeyBound, ReadMode, Txn};
use std::collections::HashSet;
use std::sync::Arc;

/// How a table's trees reach the new definition.
pub(super) struct RebuildPlan {
    copy: bool,
    column_origins: Vec<Option<usize>>,
    /// For each new index the old tree's position, where that tree stays.
    kept: Vec<Option<usize>>,
}

impl RebuildPlan {
    /// Compares two definitions.
    pub(super) fn new(
        old: &TableDef,
        new: &TableDef,
        column_origins: &[Option<usize>],
        index_origins: &[Option<usize>],
        copy: bool,
    ) -> RebuildPlan {
        debug_assert_eq!(column_origins.len(), new.columns.len(), "each column has its origin");
        debug_assert_eq!(index_origins.len(), new.indexes.len(), "each index has its origin");
        let mut columns = column_origins.iter().flatten();
        debug_assert!(
            columns.all(|origin| *origin < old.columns.len()),
            "a column of the old table"
        );
        let mut indexes = index_origins.iter().flatten();
        debug_assert!(
            indexes.all(|origin| *origin < old.indexes.len()),
            "an index of the old table"
        );
        let same_columns = old.columns.len() == new.columns.len()
            && column_origins.iter().enumerate().all(|(i, origin)| *origin == Some(i));
        let converts = |(i, origin): (usize, &Option<usize>)| {
            origin.is_some_and(|o| {
                let (a, b) = (&old.columns[o], &new.columns[i]);
                !same_storage(&a.data_type, &b.data_type) || a.generated != b.generated
            })
        };
        let convert = column_origins.iter().enumerate().any(converts);
        let nullability = same_columns
            && old.columns.iter().zip(&new.columns).any(|(a, b)| a.nullable != b.nullable);
        let parts = |def: &TableDef| def.primary().map(|index| index.parts.clone());
        let primary = same_columns && parts(old) != parts(new);
        let engine = old.engine != new.engine;
        let divided = match (&old.partitioning, &new.partitioning) {
            (None, None) => false,
            (Some(a), Some(b)) => !super::partition::same_rule(a, b),
            _ => true,
        };
        // The indexes of partitions come and go with their rows.
        let relisted = new.partitioning.is_some()
            && (old.indexes.len() != new.indexes.len()
                || index_origins.iter().enumerate().any(|(at, origin)| {
                    origin.is_none_or(|o| old.indexes[o].parts != new.indexes[at].parts)
                        || origin.is_some_and(|o| old.indexes[o].kind != new.indexes[at].kind)
                }));
        let copy = copy
            || divided
            || relisted
            || !same_columns
            || convert
            || nullability
            || primary
            || engine;
        let kept = new
            .indexes
            .iter()
            .zip(index_origins)
            .map(|(index, origin)| {
                origin
                    .filter(|o| !copy && old.indexes[*o].parts == index.parts)
                    .filter(|o| old.indexes[*o].kind == index.kind)
                    .filter(|o| old.indexes[*o].ngrams == index.ngrams)
                    .filter(|o| old.indexes[*o].element == index.element)
            })
            .collect();
        RebuildPlan { copy, column_origins: column_origins.to_vec(), kept }
    }

    /// Whether all rows are written anew.
    pub(super) fn copies(&self) -> bool {
        self.copy
    }
}

/// Whether stored values of one type are good values of the other, byte for byte, keys included.
fn same_storage(old: &DataType, new: &DataType) -> bool {
    match (old, new) {
        (
            DataType::VarChar { chars: a, collation: x },
            DataType::VarChar { chars: b, collation: y },
        ) => a <= b && x == y,
        (DataType::VarBinary(a), DataType::VarBinary(b)) => a <= b,
        (DataType::Text { size: a, collation: x }, DataType::Text { size: b, collation: y }) => {
            a <= b && x == y
        }
        (DataType::Blob(a), DataType::Blob(b)) => a <= b,
        // Numbers keep the digits that they were stored with.
        (DataType::Float { unsigned: a, .. }, DataType::Float { unsigned: b, .. })
        | (DataType::Double { unsigned: a, .. }, DataType::Double { unsigned: b, .. }) => a == b,
        (
            DataType::Enum { members: a, collation: x },
            DataType::Enum { members: b, collation: y },
        ) => x == y && b.starts_with(a),
        _ => old == new,
    }
}

/// Carries out the plan; returns the number of rows that were copied.
pub(super) fn run(
    session: &mut SessionContext,
    table: &Table,
    new: &mut TableDef,
    plan: &RebuildPlan,
) -> Result<u64, SqlError> {
    if plan.copy {
        create_trees(session, new)?;
        let rows = copy(session, table, new, plan)?;
        drop_trees(session, table)?;
        return Ok(rows);
    }
    let permuted = |trees: &[TreeId]| -> Vec<TreeId> {
        let tree = |at: usize| {
            let mut def = TableDef { partitioning: None, ..TableDef::clone(&table.def) };
            def.take_trees(trees);
            def.indexes[at].tree
        };
        let own = plan
            .kept
            .iter()
            .enumerate()
            .filter(|(at, _)| new.indexes[*at].kind != IndexKind::Primary);
        trees[..1].iter().copied().chain(own.filter_map(|(_, kept)| kept.map(tree))).collect()
    };
    if let (Some(by), Some(old)) = (&new.partitioning, &table.def.partitioning) {
        let mut by = by.clone();
        for (leaf, old) in by.leaves_mut().zip(old.leaves()) {
            leaf.trees = permuted(&old.trees);
        }
        new.partitioning = Some(by);
    }
    new.clustered = table.def.clustered;
    for (at, kept) in plan.kept.iter().enumerate() {
        new.indexes[at].tree = match (kept, new.indexes[at].kind) {
            (_, IndexKind::Primary) => new.clustered,
            (Some(origin), _) => table.def.indexes[*origin].tree,
            (None, _) => session.tree_txn(new).borrow_mut().create_tree().sql_for(&new.name)?.id(),
        };
    }
    added::add_indexes(session, table, new, plan)?;
    for (at, index) in table.indexes.iter().enumerate() {
        let primary = table.def.indexes[at].kind == IndexKind::Primary;
        if !primary && !plan.kept.contains(&Some(at)) {
            session.tree_txn(&table.def).borrow_mut().drop_tree(&index.tree).sql()?;
        }
    }
    Ok(0)
}

fn has_entries(kind: IndexKind) -> bool {
    kind != IndexKind::Primary
}

/// Writes every row anew into the trees of `new`.
fn copy(
    session: &mut SessionContext,
    table: &Table,
    new: &TableDef,
    plan: &RebuildPlan,
) -> Result<u64, SqlError> {
    let (disk, killed) = (session.db.scratch.clone(), session.killed.clone());
    let interrupt = Interrupt::new(&killed, None);
    let zone = session.env.time_zone.clone();
    let target = NewTable::of(session, new);
    let mut trees = Destination::new(session, &target, &zone, (&*disk, interrupt), |_| true);
    let fills = Fills::compile(new, &session.env, &session.host)?;
    let mut next_auto = new.auto_increment.max(1);
    let numbered = new.auto_increment_column().filter(|c| plan.column_origins[*c].is_none());
    let mut rows = 0;
    let most = session.max_rows(new);
    // The old rows may be in another store than the new ones.
    let mut source = table.store.attach();
    source.begin(Isolation::RepeatableRead);
    let mut ctx = session.context(&[], &NoSubqueries);
    ctx.strictness = strictness(session);
    let result = (|| {
        let mut old = Vec::new();
        // Without a primary key on either side a row keeps its number. Rows of different
        // partitions may have the same one.
        let keeps = table.def.primary().is_none() && table.partitions.is_none();
        for stored in table.stored() {
            let (tree, low, high) = (&stored.clustered, KeyBound::Unbounded, KeyBound::Unbounded);
            let mut cursor = source.cursor(tree, low, high, Direction::Forward, ReadMode::Snapshot);
            while let Some(record) = cursor.next(&mut source).sql()? {
                interrupt.check()?;
                rows = one_more(rows, most, &new.name)?;
                ctx.row_number = rows;
                table.layout.decode(record.value, &zone, &mut old)?;
                let mut row = convert(table, new, plan, &old, &fills, &mut ctx)?;
                fills.compute(&mut row, &mut ctx)?;
                if let Some(column) = numbered {
                    row[column] = value_of(&new.columns[column].data_type, next_auto);
                    next_auto += 1;
                }
                fills.check(&row, &mut ctx)?;
                trees.push(&row, keeps.then_some(record.key))?;
            }
        }
        let txn = &mut *session.tree_txn(new).borrow_mut();
        trees.finish(txn, interrupt)?;
        keep_count(session, txn, new, rows).map(|()| rows)
    })();
    let warnings = ctx.warnings;
    session.take_warnings(warnings);
    source.commit().sql()?;
    result
}

/// Writes the rows of partitions into new ones of the same table.
pub(super) fn redistribute(
    session: &SessionContext,
    from: &[&Arc<Table>],
    target: &NewTable,
    new: &TableDef,
    fresh: &HashSet<usize>,
) -> Result<(), SqlError> {
    let (disk, killed) = (session.db.scratch.clone(), session.killed.clone());
    let interrupt = Interrupt::new(&killed, None);
    let zone = TimeZone::utc();
    let into = |leaf: usize| fresh.contains(&leaf);
    let mut trees = Destination::new(session, target, &zone, (&*disk, interrupt), into);
    let (mut txn, mut row) = (session.tree_txn(new).borrow_mut(), Vec::new());
    for leaf in from {
        let (tree, low, high) = (&leaf.clustered, KeyBound::Unbounded, KeyBound::Unbounded);
        let mut cursor = txn.cursor(tree, low, high, Direction::Forward, ReadMode::Snapshot);
        while let Some(record) = cursor.next(&mut txn).sql()? {
            interrupt.check()?;
            leaf.layout.decode(record.value, &zone, &mut row)?;
            trees.push(&row, None)?;
        }
    }
    trees.finish(&mut txn, interrupt)
}

/// How values that do not fit are taken, by the session's SQL mode.
fn strictness(session: &SessionContext) -> Strictness {
    match session.env.sql_mode.is_strict() {
        true => Strictness::Strict,
        false => Strictness::Lenient,
    }
}

/// Counts a row; error 1114 where the table may have no more.
fn one_more(rows: u64, most: u64, table: &str) -> Result<u64, SqlError> {
    match rows < most {
        true => Ok(rows + 1),
        false => Err(SqlError::new(ErrorCode::RecordFileFull, &[&table])),
    }
}

/// Notes how many rows a table without transactions has.
fn keep_count(
    session: &SessionContext,
    txn: &mut Txn,
    new: &TableDef,
    rows: u64,
) -> Result<(), SqlError> {
    match new.is_transactional() {
        true => Ok(()),
        false => row_count::set(session.db.catalog().store(new), txn, new.clustered, rows).sql(),
    }
}

/// The new row's given values; new columns get their defaults, those that are expressions when all
/// other columns have theirs.
fn convert(
    table: &Table,
    new: &TableDef,
    plan: &RebuildPlan,
    old: &[Value],
    fills: &Fills,
    ctx: &mut inia_expr::EvalContext<'_>,
) -> Result<Vec<Value>, SqlError> {
    let mut row = Vec::with_capacity(new.columns.len());
    for (i, origin) in plan.column_origins.iter().enumerate() {
        let column = &new.columns[i];
        let Some(origin) = *origin else {
            let value = fills.first(i, ctx);
            refuse_zero_date(column, &value, ctx)?;
            row.push(value);
            continue;
        };
        let from = &table.def.columns[origin];
        let mut value = old[origin].clone();
        // Strict mode refuses a NULL that the column no longer takes; other modes replace it.
        if value == Value::Null && !column.nullable {
            if ctx.strictness == Strictness::Strict {
                return Err(SqlError::new(ErrorCode::InvalidUseOfNull, &[]));
            }
            value = silent_default(column, ctx)?;
        } else if from.data_type != column.data_type {
            let ty = inia_query::bind::table_scope::column_type(table, origin);
            let cut = ty.class() == TypeClass::String;
            let (carried, ty) = carried(value, ty, &column.data_type, ctx)?;
            value = inia_expr::store_value(carried, &ty, &column.data_type, ctx, &column.name)
                .map_err(|error| match cut {
                    true => as_copied(error, &column.name, ctx.row_number),
                    false => error,
                })?;
            value = limited(value, column.limit(), &column.name, ctx)?;
        }
        row.push(value);
    }
    for (i, origin) in plan.column_origins.iter().enumerate() {
        // A default that is an expression may read every other column of the row.
        if origin.is_none() && fills.is_late(i) {
            row[i] = fills.default(i, Given::Added, &row, ctx)?;
            if row[i] == Value::Null && !new.columns[i].nullable {
                return Err(SqlError::new(ErrorCode::BadNull, &[&new.columns[i].name]));
            }
        }
    }
    Ok(row)
}

/// What NULL becomes in a column that takes none any more: a TIMESTAMP the present moment, others
/// their type's zero, with warning 1265.
fn silent_default(
    column: &ColumnDef,
    ctx: &mut inia_expr::EvalContext<'_>,
) -> Result<Value, SqlError> {
    if matches!(column.data_type, DataType::Timestamp { .. }) {
        return Ok(inia_query::dml::fill::now_for(&column.data_type, ctx));
    }
    let row = ctx.row_number;
    ctx.warn(ErrorCode::WarnDataTruncated, &[&column.name, &row])?;
    Ok(inia_expr::store::instead_of_null(&column.data_type))
}

/// A string too long for its column's new type is error 1265 here.
fn as_copied(error: SqlError, column: &str, row: u64) -> SqlError {
    match error.code {
        ErrorCode::DataTooLong => SqlError::new(ErrorCode::WarnDataTruncated, &[&column, &row]),
        _ => error,
    }
}

/// Error 1292: rows that are there already cannot get a zero date in a new column.
fn refuse_zero_date(
    column: &ColumnDef,
    value: &Value,
    ctx: &inia_expr::EvalContext<'_>,
) -> Result<(), SqlError> {
    let (kind, zero) = match value {
        Value::Date(date) => ("date", *date == Date::ZERO),
        Value::DateTime(moment) => ("datetime", *moment == DateTime::ZERO),
        _ => return Ok(()),
    };
    let refused = zero && column.default == ColumnDefault::None;
    if !refused || ctx.strictness != Strictness::Strict || !ctx.env.date_rules().no_zero_date {
        return Ok(());
    }
    let text = value_text(value, &column.data_type);
    let message = format!(
        "Incorrect {kind} value: '{text}' for column '{}' at row {}",
        column.name, ctx.row_number
    );
    Err(SqlError::with_message(ErrorCode::TruncatedWrongValue, message))
}
