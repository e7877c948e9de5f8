//! Changes of the tables `setup_…` of `performance_schema`.
//!
//! The server computes these tables; a change puts other rows in a table's place. A query of the
//! table finds what an UPDATE or a DELETE is about, with its conditions, order and limit. The only
//! effect that settings have is that of `setup_consumers`: `inia_statement_sums` follows the
//! consumers of statements.

use super::evaluate::value_of;
use super::plan::{plan_to_visit, visit_rows};
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_parser::ast::{
    DeleteTarget, Expr, Insert, InsertSource, ObjectName, Query, QueryBody, Select, SelectItem,
    Statement, TableFactor, TableRef, Update,
};
use inia_query::catalog::{ColumnDef, same_name};
use inia_query::context::{SessionContext, StatementOutcome};
use inia_query::information_schema;
use inia_query::observe::{is_setup_table, want_sums};

const SCHEMA: &str = "performance_schema";
/// How many rows a table may have.
const MAX_ROWS: usize = 10_000;

type Result<T> = std::result::Result<T, SqlError>;
type Rows = Vec<Vec<Value>>;

/// The setup table that a statement changes.
pub(super) fn target(session: &SessionContext, statement: &Statement) -> Option<&'static str> {
    let name = match statement {
        Statement::Insert(insert) => &insert.table,
        Statement::Update(update) => match update.tables.as_slice() {
            [TableRef::Table(factor)] => &factor.name,
            _ => return None,
        },
        Statement::Delete(delete) => match &delete.target {
            DeleteTarget::Single(factor) => &factor.name,
            DeleteTarget::Multi { .. } => return None,
        },
        _ => return None,
    };
    let schema = name.db.as_deref().or(session.env.database.as_deref())?;
    if schema.len() != SCHEMA.len() || !schema.eq_ignore_ascii_case(SCHEMA) {
        return None;
    }
    is_setup_table(&name.name)
}

/// How many columns are the key of a row.
fn key_columns(table: &str) -> usize {
    if matches!(table, "setup_actors" | "setup_objects") { 3 } else { 1 }
}

/// Runs a statement that [`target`] has found a table for.
pub(super) fn run(
    session: &mut SessionContext,
    table: &'static str,
    statement: &Statement,
    params: &[Value],
) -> Result<StatementOutcome> {
    let found = information_schema::find(SCHEMA, table);
    let columns = found.map(|table| table.definition().columns.clone()).unwrap_or_default();
    let mut rows = Rows::new();
    query(session, (Select::default(), &whole(table)), params, &mut |row| {
        rows.push(row.to_vec());
        Ok(())
    })?;
    let mut info = String::new();
    let affected = match statement {
        Statement::Update(update) => {
            let counts = self::update(session, (table, &columns), update, params, &mut rows)?;
            let (matched, changed) = counts;
            info = format!("Rows matched: {matched}  Changed: {changed}  Warnings: 0");
            if session.client_found_rows { matched } else { changed }
        }
        Statement::Insert(insert) => {
            let count = self::insert(session, (table, &columns), insert, params, &mut rows)?;
            if count > 1 {
                info = format!("Records: {count}  Duplicates: 0  Warnings: 0");
            }
            count
        }
        Statement::Delete(delete) => {
            let DeleteTarget::Single(factor) = &delete.target else {
                return Ok(StatementOutcome::default());
            };
            let select = Select { where_: delete.where_.clone(), ..Select::default() };
            let mut gone = Rows::new();
            let outer = (select, &**factor);
            let around = |query: &mut Query| {
                query.order_by.clone_from(&delete.order_by);
                query.limit.clone_from(&delete.limit);
            };
            query_around(session, outer, around, params, &mut |row| {
                gone.push(row.to_vec());
                Ok(())
            })?;
            rows.retain(|row| !gone.contains(row));
            gone.len()
        }
        _ => 0,
    };
    if table == "setup_consumers" {
        let sums = if want_sums(&rows) { "ON" } else { "OFF" };
        super::set::effect::assign(session, true, "inia_statement_sums", sums)?;
    }
    session.db.observer.setup.replace(table, rows);
    let affected_rows = affected as u64;
    Ok(StatementOutcome { affected_rows, info, ..StatementOutcome::default() })
}

fn whole(table: &str) -> TableFactor {
    let name = ObjectName { db: Some(SCHEMA.to_owned()), name: table.to_owned() };
    TableFactor { name, partitions: Vec::new(), alias: None, hints: Vec::new() }
}

fn query(
    session: &mut SessionContext,
    from: (Select, &TableFactor),
    params: &[Value],
    visit: &mut dyn FnMut(&[Value]) -> Result<()>,
) -> Result<()> {
    query_around(session, from, |_| {}, params, visit)
}

/// Gives all columns of the rows that a query finds, and its items behind them.
fn query_around(
    session: &mut SessionContext,
    (mut select, table): (Select, &TableFactor),
    around: impl FnOnce(&mut Query),
    params: &[Value],
    visit: &mut dyn FnMut(&[Value]) -> Result<()>,
) -> Result<()> {
    select.items.insert(0, SelectItem::Wildcard);
    select.from = vec![TableRef::Table(Box::new(table.clone()))];
    let mut query = Query::new(QueryBody::Select(Box::new(select)));
    around(&mut query);
    let statement = Statement::Select(Box::new(query));
    let plan = plan_to_visit(session, &statement, params)?;
    visit_rows(session, &plan, (params, true), &mut |row| visit(row).map(|()| true))
}

fn update(
    session: &mut SessionContext,
    (table, columns): (&str, &[ColumnDef]),
    update: &Update,
    params: &[Value],
    rows: &mut Rows,
) -> Result<(usize, usize)> {
    let [TableRef::Table(factor)] = update.tables.as_slice() else { return Ok((0, 0)) };
    let mut targets = Vec::new();
    let mut items = Vec::new();
    for assignment in &update.assignments {
        let name = &assignment.column.name;
        let at = columns.iter().position(|column| same_name(&column.name, name));
        let unknown = || SqlError::new(ErrorCode::UnknownColumn, &[name, &"field list"]);
        targets.push(at.ok_or_else(unknown)?);
        let expr = assignment.value.clone();
        items.push(SelectItem::Expr { expr, alias: None, text: String::new() });
    }
    let select = Select { items, where_: update.where_.clone(), ..Select::default() };
    let around = |query: &mut Query| {
        query.order_by.clone_from(&update.order_by);
        query.limit.clone_from(&update.limit);
    };
    let mut found = Rows::new();
    query_around(session, (select, factor), around, params, &mut |row| {
        found.push(row.to_vec());
        Ok(())
    })?;
    let keys = key_columns(table);
    let mut changed = 0;
    for (number, row) in found.iter().enumerate() {
        let (old, values) = row.split_at(columns.len());
        let mut new = old.to_vec();
        for (target, value) in targets.iter().zip(values) {
            if *target < keys || *target >= keys + 2 {
                return Err(SqlError::new(ErrorCode::WrongPerfschemaUsage, &[]));
            }
            new[*target] = stored(&columns[*target], value, number + 1)?;
        }
        if let Some(place) = rows.iter_mut().find(|row| row[..keys] == old[..keys])
            && *place != new
        {
            *place = new;
            changed += 1;
        }
    }
    Ok((found.len(), changed))
}

fn insert(
    session: &mut SessionContext,
    (table, columns): (&str, &[ColumnDef]),
    insert: &Insert,
    params: &[Value],
    rows: &mut Rows,
) -> Result<usize> {
    let lists = match &insert.source {
        InsertSource::Values(lists) => lists.clone(),
        InsertSource::Rows(rows) => rows.to_exprs(),
        InsertSource::Query(_) => return Err(SqlError::new(ErrorCode::WrongPerfschemaUsage, &[])),
    };
    let mut targets = Vec::new();
    for column in &insert.columns {
        let at = columns.iter().position(|own| same_name(&own.name, &column.name));
        let unknown = || SqlError::new(ErrorCode::UnknownColumn, &[&column.name, &"field list"]);
        targets.push(at.ok_or_else(unknown)?);
    }
    if insert.columns.is_empty() {
        targets = (0..columns.len()).collect();
    }
    let keys = key_columns(table);
    let count = lists.len();
    for (number, list) in lists.into_iter().enumerate() {
        if list.len() != targets.len() && !list.is_empty() {
            return Err(SqlError::new(ErrorCode::WrongValueCountOnRow, &[&(number + 1)]));
        }
        let mut row: Vec<Value> =
            columns.iter().enumerate().map(|(at, _)| default(table, at)).collect();
        for (target, expr) in targets.iter().zip(&list) {
            if *expr != Expr::Default {
                let value = value_of(session, expr, params)?.value;
                row[*target] = stored(&columns[*target], &value, number + 1)?;
            }
        }
        if rows.iter().any(|other| other[..keys] == row[..keys]) {
            return Err(SqlError::new(ErrorCode::DupKey, &[&table]));
        }
        if rows.len() >= MAX_ROWS {
            return Err(SqlError::new(ErrorCode::RecordFileFull, &[&table]));
        }
        rows.push(row);
    }
    Ok(count)
}

/// The default of a column of a table that takes rows.
fn default(table: &str, column: usize) -> Value {
    match (table, column) {
        // TABLE is the fourth kind of objects.
        ("setup_objects", 0) => Value::UInt(4),
        (_, 0..3) => Value::Text(String::from("%")),
        _ => Value::UInt(1),
    }
}

/// A value as the column stores it; error 1265 for what is no member of an enumeration.
fn stored(column: &ColumnDef, value: &Value, row: usize) -> Result<Value> {
    let DataType::Enum { members, .. } = &column.data_type else {
        return Ok(match value {
            Value::Null | Value::Text(_) => value.clone(),
            Value::Int(number) => Value::Text(number.to_string()),
            Value::UInt(number) => Value::Text(number.to_string()),
            _ => return Err(SqlError::new(ErrorCode::WarnDataTruncated, &[&column.name, &row])),
        });
    };
    let position = match value {
        Value::Null if column.nullable => return Ok(Value::Null),
        Value::Null => return Err(SqlError::new(ErrorCode::BadNull, &[&column.name])),
        Value::Text(text) => {
            members.iter().position(|member| member.eq_ignore_ascii_case(text)).map(|at| at + 1)
        }
        Value::UInt(number) => usize::try_from(*number).ok(),
        Value::Int(number) => usize::try_from(*number).ok(),
        _ => None,
    };
    match position.filter(|position| (1..=members.len()).contains(position)) {
        Some(position) => Ok(Value::UInt(position as u64)),
        None => Err(SqlError::new(ErrorCode::WarnDataTruncated, &[&column.name, &row])),
    }
}
