//! Writes all rows of a table anew, converted to its new definition.

use super::super::copied::carried;
use super::{Destination, NewTable, RebuildPlan};
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::temporal::{Date, DateTime, TimeZone};
use inia_base::value::Value;
use inia_expr::{EvalContext, NoSubqueries, Strictness};
use inia_query::bind::table_scope::column_type;
use inia_query::catalog::{ColumnDef, ColumnDefault, Table, TableDef, row_count, value_text};
use inia_query::context::SessionContext;
use inia_query::dml::auto_increment::value_of;
use inia_query::dml::fill::{Fills, Given, limited};
use inia_query::error::StorageResult;
use inia_query::exec::encode_key;
use inia_query::interrupt::Interrupt;
use inia_query::spill::{RecordSorter, Workspace};
use inia_storage::{Direction, Isolation, KeyBound, ReadMode, Txn};

/// Writes every row anew into the trees of `new`.
pub(super) fn copy(
    session: &mut SessionContext,
    table: &Table,
    new: &TableDef,
    plan: &RebuildPlan,
) -> Result<u64, SqlError> {
    let (disk, killed) = (session.db.scratch.clone(), session.killed.clone());
    let interrupt = Interrupt::new(&killed, None);
    let zone = session.env.time_zone.clone();
    let target = NewTable::of(session, new);
    let trees = Destination::new(session, &target, &zone, (&*disk, interrupt), |_| true);
    let mut ctx = session.context(&[], &NoSubqueries);
    ctx.strictness = strictness(session);
    let copy = RowCopy {
        table,
        new,
        plan,
        fills: Fills::compile(new, &session.env, &session.host)?,
        numbered: new.auto_increment_column().filter(|c| plan.column_origins[*c].is_none()),
        next_auto: new.auto_increment.max(1),
        most: session.max_rows(new),
        rows: 0,
        old: Vec::new(),
        trees,
    };
    let memory = Workspace::within(&*disk, session.db.build_memory).until(interrupt);
    let memory = memory.from(&session.host.memory);
    // The old rows may be in another store than the new ones.
    let mut source = table.store.attach();
    source.begin(Isolation::RepeatableRead);
    let copied = (|| {
        let copy = copy.all(&mut source, (memory, interrupt), &zone, &mut ctx)?;
        let txn = &mut *session.tree_txn(new).borrow_mut();
        copy.trees.finish(txn, interrupt)?;
        keep_count(session, txn, new, copy.rows).map(|()| copy.rows)
    })();
    let warnings = ctx.warnings;
    session.take_warnings(warnings);
    source.commit().sql()?;
    copied
}

/// Rows on their way from a table to its new definition.
struct RowCopy<'c> {
    table: &'c Table,
    new: &'c TableDef,
    plan: &'c RebuildPlan,
    fills: Fills,
    /// The AUTO_INCREMENT column, where it is new, and the next number.
    numbered: Option<usize>,
    next_auto: u64,
    /// How many rows the table may have, and how many it has.
    most: u64,
    rows: u64,
    /// The values of the row at hand.
    old: Vec<Value>,
    trees: Destination<'c>,
}

impl RowCopy<'_> {
    /// Copies the rows that `source` reads, in their order or in that of ORDER BY.
    fn all(
        mut self,
        source: &mut Txn,
        (memory, interrupt): (Workspace<'_>, Interrupt<'_>),
        zone: &TimeZone,
        ctx: &mut EvalContext<'_>,
    ) -> Result<Self, SqlError> {
        let sorts = !self.plan.order.is_empty() && self.new.clustered_index().is_none();
        let mut sorter = RecordSorter::new(memory);
        // Without a clustered index on either side a row keeps its number. Rows of different
        // partitions may have the same one.
        let keeps = self.table.def.clustered_index().is_none() && self.table.partitions.is_none();
        for stored in self.table.stored() {
            let (tree, low, high) = (&stored.clustered, KeyBound::Unbounded, KeyBound::Unbounded);
            let mut cursor = source.cursor(tree, low, high, Direction::Forward, ReadMode::Snapshot);
            while let Some(record) = cursor.next(source).sql()? {
                interrupt.check()?;
                if sorts {
                    sorter.push(&self.place(record.value, zone)?, record.value)?;
                } else {
                    self.row(record.value, keeps.then_some(record.key), zone, ctx)?;
                }
            }
        }
        sorter.finish(|sorted| {
            while let Some((_, bytes)) = sorted.next()? {
                self.row(bytes, None, zone, ctx)?;
            }
            Ok(())
        })?;
        Ok(self)
    }

    /// The place of a row in ORDER BY.
    fn place(&mut self, bytes: &[u8], zone: &TimeZone) -> Result<Vec<u8>, SqlError> {
        self.table.layout.decode(bytes, zone, &mut self.old)?;
        let mut place = Vec::new();
        for (column, descending) in &self.plan.order {
            let ty = column_type(self.table, *column);
            encode_key(&self.old[*column], &ty, *descending, &mut place);
        }
        Ok(place)
    }

    /// Copies a row, under its key where that is `kept`.
    fn row(
        &mut self,
        bytes: &[u8],
        kept: Option<&[u8]>,
        zone: &TimeZone,
        ctx: &mut EvalContext<'_>,
    ) -> Result<(), SqlError> {
        let RowCopy { table, new, fills, .. } = self;
        self.rows = one_more(self.rows, self.most, &new.name)?;
        ctx.row_number = self.rows;
        table.layout.decode(bytes, zone, &mut self.old)?;
        let mut row = convert(table, new, self.plan, &self.old, fills, ctx)?;
        fills.compute(&mut row, ctx)?;
        if let Some(column) = self.numbered {
            row[column] = value_of(&new.columns[column].data_type, self.next_auto);
            self.next_auto += 1;
        }
        fills.check(&row, ctx)?;
        self.trees.push(&row, kept)
    }
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
    ctx: &mut EvalContext<'_>,
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
                let args: [&dyn std::fmt::Display; 2] = [&column.name, &ctx.row_number];
                return Err(match plan.by_copy {
                    true => SqlError::new(ErrorCode::WarnDataTruncated, &args),
                    false => SqlError::new(ErrorCode::InvalidUseOfNull, &[]),
                });
            }
            value = silent_default(column, ctx)?;
        } else if from.data_type != column.data_type {
            let ty = column_type(table, origin);
            let cut = is_cut(&from.data_type, &column.data_type);
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
fn silent_default(column: &ColumnDef, ctx: &mut EvalContext<'_>) -> Result<Value, SqlError> {
    if matches!(column.data_type, DataType::Timestamp { .. }) {
        return Ok(inia_query::dml::fill::now_for(&column.data_type, ctx));
    }
    let row = ctx.row_number;
    ctx.warn(ErrorCode::WarnDataTruncated, &[&column.name, &row])?;
    Ok(inia_expr::store::instead_of_null(&column.data_type))
}

/// Whether MySQL cuts strings as bytes where they go to a shorter type: of one collation, and with
/// as many bytes for their length.
fn is_cut(from: &DataType, to: &DataType) -> bool {
    let short =
        |chars: u32, collation: Collation| chars * u32::from(collation.charset().max_bytes()) < 256;
    match (from, to) {
        (DataType::Char { collation: a, .. }, DataType::Char { collation: b, .. }) => a == b,
        (DataType::Binary(_), DataType::Binary(_)) => true,
        (DataType::VarBinary(a), DataType::VarBinary(b)) => (*a < 256) == (*b < 256),
        (
            DataType::VarChar { chars: a, collation },
            DataType::VarChar { chars: b, collation: other },
        ) => collation == other && short(*a, *collation) == short(*b, *collation),
        _ => false,
    }
}

/// A string too long for its column's new type is error 1265 where strings are cut as bytes.
fn as_copied(error: SqlError, column: &str, row: u64) -> SqlError {
    match error.code {
        ErrorCode::DataTooLong => SqlError::new(ErrorCode::WarnDataTruncated, &[&column, &row]),
        _ => error,
    }
}

/// Error 1292: rows that are there already cannot get a zero date in a new column. A new TIMESTAMP
/// is the zero date in them, as in MySQL.
fn refuse_zero_date(
    column: &ColumnDef,
    value: &Value,
    ctx: &EvalContext<'_>,
) -> Result<(), SqlError> {
    let (kind, zero) = match (value, &column.data_type) {
        (Value::Date(date), _) => ("date", *date == Date::ZERO),
        (Value::DateTime(moment), DataType::DateTime { .. }) => {
            ("datetime", *moment == DateTime::ZERO)
        }
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
