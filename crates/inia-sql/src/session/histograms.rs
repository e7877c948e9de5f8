//! ANALYZE TABLE … UPDATE HISTOGRAM and DROP HISTOGRAM.
//!
//! The histograms of a table are part of its definition: the statement puts a definition in place
//! of the former one whose trees are the same. Others read and change rows meanwhile, so that no
//! exclusive lock is taken; a shared one keeps DDL away, and [`Catalog::histogram_changes`] the
//! same statement of another session.
//!
//! [`Catalog::histogram_changes`]: inia_query::catalog::Catalog::histogram_changes

use crate::ddl::in_transaction;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast;
use inia_query::catalog::{Change, Histogram, HistogramRequest, Table, TableDef, same_name};
use inia_query::context::SessionContext;
use inia_query::interrupt::Interrupt;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How many buckets a histogram has if the statement gives no number.
const DEFAULT_BUCKETS: u16 = 100;
/// `histogram_generation_max_mem_size`, if it cannot be read.
const DEFAULT_MEMORY: u64 = 20_000_000;

/// What is said of one name, as kind and text.
type Message = (&'static str, String);
/// Messages by the names that they are about, in the order of their bytes.
type Messages = BTreeMap<String, Vec<Message>>;

fn failed(text: impl Into<String>) -> Vec<Message> {
    vec![("Error", text.into())]
}

/// Carries out the statement, and returns the name of the table and the messages of its result.
pub(super) fn execute(
    session: &mut SessionContext,
    tables: &[ast::ObjectName],
    wanted: &ast::Histogram,
) -> Result<(String, Vec<Message>), SqlError> {
    let nameless = |text: &str| Ok((String::new(), failed(text)));
    let [name] = tables else {
        return nameless("Only one table can be specified while modifying histogram statistics.");
    };
    let schema = match &name.db {
        Some(schema) => schema.clone(),
        None => session.database()?.to_owned(),
    };
    if schema.eq_ignore_ascii_case("information_schema") {
        return Err(session.access().no_database(&schema));
    }
    if session.is_read_only() {
        return nameless("The server is in read-only mode.");
    }
    let full = format!("{schema}.{}", name.name);
    let messages = if session.temporary.get(&schema, &name.name).is_some() {
        failed("Cannot create histogram statistics for a temporary table.")
    } else if let Err(error) = session.check_maintained(name, false) {
        failed(error.message)
    } else if wanted.drop {
        drop_all(session, &schema, &name.name, &wanted.columns)?
    } else {
        update(session, &schema, &name.name, wanted)?
    };
    Ok((full, messages))
}

fn listed(messages: Messages) -> Vec<Message> {
    messages.into_values().flatten().collect()
}

fn update(
    session: &mut SessionContext,
    schema: &str,
    name: &str,
    wanted: &ast::Histogram,
) -> Result<Vec<Message>, SqlError> {
    let computed = inia_query::information_schema::find(schema, name).is_some();
    if computed || session.is_view(schema, name) {
        return Ok(failed("Cannot create histogram statistics for a view."));
    }
    let table = match session.open_table(Some(schema), name) {
        Ok(table) => table,
        Err(error) => return Ok(failed(error.message)),
    };
    let mut messages = Messages::new();
    let mut columns = Vec::new();
    for name in &wanted.columns {
        match suitable(&table.def, name) {
            Ok(column) => columns.push(column),
            Err(text) => {
                messages.insert(name.clone(), failed(text));
            }
        }
    }
    columns.sort_unstable();
    for histogram in build(session, &table, &columns, wanted.buckets)? {
        let column = histogram.column.clone();
        let kept = session.begin_change().and_then(|()| put(session, &table, histogram));
        let message = match kept {
            Ok(()) => {
                vec![("status", format!("Histogram statistics created for column '{column}'."))]
            }
            Err(error) => {
                let what = match table.def.histogram_of(&column) {
                    Some(_) => ErrorCode::UnableToUpdateColumnStatistics,
                    None => ErrorCode::UnableToStoreColumnStatistics,
                };
                messages.insert(column.clone(), not_kept(&table.def, &column, what, error));
                break;
            }
        };
        messages.insert(column, message);
    }
    Ok(listed(messages))
}

/// The position of a column that may have a histogram, or why it may not.
fn suitable(def: &TableDef, name: &str) -> Result<usize, String> {
    let column = def.column(name).ok_or(format!("The column '{name}' does not exist."))?;
    match () {
        () if def.columns[column].data_type == DataType::Json => {
            Err(format!("The column '{name}' has an unsupported data type."))
        }
        () if def.has_own_unique_index(column) => {
            Err(format!("The column '{name}' is covered by a single-part unique index."))
        }
        () => Ok(column),
    }
}

fn build(
    session: &SessionContext,
    table: &Table,
    columns: &[usize],
    buckets: Option<u64>,
) -> Result<Vec<Histogram>, SqlError> {
    if columns.is_empty() {
        return Ok(Vec::new());
    }
    let memory = session.var("histogram_generation_max_mem_size");
    let buckets = buckets.and_then(|buckets| u16::try_from(buckets).ok());
    table.histograms(&HistogramRequest {
        columns,
        buckets: buckets.unwrap_or(DEFAULT_BUCKETS),
        memory: memory.and_then(|size| size.parse().ok()).unwrap_or(DEFAULT_MEMORY),
        zone: &session.env.time_zone,
        interrupt: Interrupt::new(&session.killed, None),
    })
}

/// Puts a histogram in the place of the column's former one.
fn put(session: &mut SessionContext, table: &Table, histogram: Histogram) -> Result<(), SqlError> {
    let histogram = Arc::new(histogram);
    change(session, &table.def.schema, &table.def.name, |histograms| {
        let same = |other: &&mut Arc<Histogram>| same_name(&other.column, &histogram.column);
        match histograms.iter_mut().find(same) {
            Some(former) => *former = histogram.clone(),
            None => histograms.push(histogram.clone()),
        }
    })
}

fn drop_all(
    session: &mut SessionContext,
    schema: &str,
    name: &str,
    columns: &[String],
) -> Result<Vec<Message>, SqlError> {
    let there = session.db.catalog().table(schema, name).is_some();
    let table = match there {
        true => Some(session.open_table(Some(schema), name)?),
        false => None,
    };
    let mut messages = Messages::new();
    for column in columns {
        let found = table.as_ref().filter(|table| table.def.histogram_of(column).is_some());
        let Some(table) = found else {
            let text = format!("No histogram statistics found for column '{column}'.");
            messages.insert(column.clone(), failed(text));
            continue;
        };
        let dropped = session.begin_change().and_then(|()| {
            change(session, schema, name, |histograms| {
                histograms.retain(|histogram| !same_name(&histogram.column, column));
            })
        });
        let message = match dropped {
            Ok(()) => {
                vec![("status", format!("Histogram statistics removed for column '{column}'."))]
            }
            Err(error) => {
                let what = ErrorCode::UnableToDropColumnStatistics;
                messages.insert(column.clone(), not_kept(&table.def, column, what, error));
                break;
            }
        };
        messages.insert(column.clone(), message);
    }
    Ok(listed(messages))
}

/// The messages of a change that could not be made: why, and what it was.
fn not_kept(def: &TableDef, column: &str, what: ErrorCode, why: SqlError) -> Vec<Message> {
    let whole = SqlError::new(what, &[&column, &def.schema, &def.name]);
    vec![("Error", why.message), ("Error", whole.message)]
}

/// Changes a table's histograms. The session holds a lock on the table's definition.
fn change(
    session: &mut SessionContext,
    schema: &str,
    name: &str,
    change: impl FnOnce(&mut Vec<Arc<Histogram>>),
) -> Result<(), SqlError> {
    let db = session.db.clone();
    let _changing = db.catalog().histogram_changes.lock();
    let Some(table) = db.catalog().table(schema, name) else {
        return Err(SqlError::new(ErrorCode::NoSuchTable, &[&schema, &name]));
    };
    let mut def = TableDef::clone(&table.def);
    change(&mut def.histograms);
    in_transaction(session, |_, changes| {
        changes.push(Change::PutTable(def));
        Ok(())
    })
}
