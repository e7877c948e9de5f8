//! Loading data sets: batched, parallel where the target allows it, and only if they are not there.
//!
//! A table `inia_lab_data` holds the fingerprint of each data set that is completely loaded:
//! table definitions, numbers of rows and seed. The mark is removed before anything is changed.

use crate::machine;
use crate::random::Rng;
use crate::record::fingerprint;
use crate::session::Session;
use crate::target::{Class, Dialect, Facts, Failure, Product, Result, Target};
use crate::workload::{DataSet, Rows, Table};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

/// Text of one INSERT: well below the least `max_allowed_packet` in use.
const BATCH: usize = 256 << 10;
/// Rows of one transaction.
const CHUNK: u64 = 20_000;
/// Bytes on disk for a byte of text: row and index overhead, log, half-full pages.
const OVERHEAD: u64 = 4;

/// Loads a data set unless it is there. Returns the seconds it took, or none if it was there.
/// `progress` gets the share that is done.
pub fn ensure(
    target: &Arc<dyn Target>,
    facts: &Facts,
    data: &DataSet,
    stop: &AtomicBool,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Option<f64>> {
    if facts.product == Product::Floor {
        return Ok(None);
    }
    target.create_database()?;
    let mut session = Session::new(target.clone(), false);
    let mark = format!("{:016x}", fingerprint(description(data).as_bytes()));
    session.query(
        "CREATE TABLE IF NOT EXISTS inia_lab_data \
         (name VARCHAR(64) NOT NULL PRIMARY KEY, mark VARCHAR(32) NOT NULL)",
    )?;
    let found = format!("SELECT mark FROM inia_lab_data WHERE name = '{}'", data.name);
    if session.query(&found)?.text(0, 0).as_deref() == Some(mark.as_str()) {
        return Ok(None);
    }
    check_space(target.dialect(), facts, data)?;
    let begun = Instant::now();
    for name in [data.name].iter().chain(data.displaces) {
        forget_named(&mut session, name)?;
    }
    for table in data.tables.iter().rev() {
        session.query(&format!("DROP TABLE IF EXISTS {}", table.name))?;
    }
    for statement in &data.prelude {
        session.query(statement).map_err(|failure| failure.during(statement))?;
    }
    for table in &data.tables {
        session.query(&table.create).map_err(|failure| failure.during(&table.name))?;
    }
    fill_tables(target, data, stop, progress)?;
    for statement in data.tables.iter().flat_map(|table| &table.indexes).chain(&data.finish) {
        session.query(statement).map_err(|failure| failure.during(statement))?;
    }
    if target.dialect() == Dialect::Postgres {
        // What it does by itself sooner or later: statistics, and the map of pages that are
        // visible to all, without which no index answers alone.
        session.query("VACUUM ANALYZE")?;
    }
    let insert = format!("INSERT INTO inia_lab_data VALUES ('{}', '{mark}')", data.name);
    session.query(&insert)?;
    Ok(Some(begun.elapsed().as_secs_f64()))
}

/// Empties tables of a loaded data set and fills them again.
pub fn refill(target: &Arc<dyn Target>, data: &DataSet, names: &[&str]) -> Result<()> {
    let mut session = Session::new(target.clone(), false);
    let verb = if target.dialect() == Dialect::Sqlite { "DELETE FROM" } else { "TRUNCATE TABLE" };
    let mut part = data.clone();
    part.tables.retain(|table| names.contains(&table.name.as_str()));
    for table in &part.tables {
        session.query(&format!("{verb} {}", table.name))?;
    }
    fill_tables(target, &part, &AtomicBool::new(false), &|_| {})
}

/// Reads every row once. A database that this process has opened just now then finds its pages in
/// memory, as a server does that has run for a while.
pub fn read_once(target: &Arc<dyn Target>, data: &DataSet) -> Result<()> {
    let mut session = Session::new(target.clone(), false);
    for table in data.tables.iter().filter(|table| table.rows > 0) {
        // All columns, so that no index has them all.
        let columns: Vec<String> =
            table.columns.split(", ").map(|column| format!("MAX({column})")).collect();
        session.query(&format!("SELECT {} FROM {}", columns.join(", "), table.name))?;
    }
    Ok(())
}

/// Removes a data set's mark, before a run that uses it up.
pub fn forget(session: &mut Session, data: &DataSet) -> Result<()> {
    forget_named(session, data.name)
}

fn forget_named(session: &mut Session, name: &str) -> Result<()> {
    session.query(&format!("DELETE FROM inia_lab_data WHERE name = '{name}'")).map(drop)
}

fn description(data: &DataSet) -> String {
    let tables = data.tables.iter().map(|table| {
        format!("{};{};{};{:?}", table.create, table.columns, table.rows, table.indexes)
    });
    let tables: Vec<String> = tables.collect();
    format!("{};{};{:?};{}", data.name, data.seed, data.finish, tables.join(";"))
}

/// Refuses to start what the disk has no room for.
fn check_space(dialect: Dialect, facts: &Facts, data: &DataSet) -> Result<()> {
    let Some(dir) = &facts.data_dir else { return Ok(()) };
    let Some(free) = machine::free_space(Path::new(dir)) else { return Ok(()) };
    let each = data.tables.iter().map(|table| estimate(table, data.seed, dialect));
    let needed = each.fold(0, u64::saturating_add);
    if needed > free {
        let mib = |bytes: u64| bytes >> 20;
        let message = format!(
            "not enough disk: {} needs about {} MiB in {dir}, where {} MiB are free",
            data.name,
            mib(needed),
            mib(free)
        );
        return Err(Failure::new(Class::DiskFull, message));
    }
    Ok(())
}

fn estimate(table: &Table, seed: u64, dialect: Dialect) -> u64 {
    const SAMPLE: u64 = 100;
    let mut rows = Rows::new(dialect, crate::target::BulkFormat::Values);
    let sampled = table.rows.min((SAMPLE / table.rows_per_call.max(1)).max(1));
    for row in 0..sampled {
        (table.fill)(row, &mut Rng::stream(seed, row), &mut rows);
    }
    let text = (rows.text().len() as u64).saturating_mul(table.rows);
    text.checked_div(sampled).unwrap_or(0).saturating_mul(OVERHEAD)
}

/// A part of a table: the numbers that one transaction loads.
struct Chunk<'a> {
    table: &'a Table,
    seed: u64,
    from: u64,
    to: u64,
}

impl<'a> Chunk<'a> {
    /// The n-th chunk of a data set: they are too many to be listed where rows are.
    fn of(data: &'a DataSet, mut n: u64) -> Option<Chunk<'a>> {
        for table in &data.tables {
            let (calls, chunks) = (calls_of(table), chunks_of(table));
            if n < chunks {
                let from = n * calls;
                let to = table.rows.min(from + calls);
                return Some(Chunk { table, seed: data.seed, from, to });
            }
            n -= chunks;
        }
        None
    }
}

/// Calls of a table's `fill` in one transaction.
fn calls_of(table: &Table) -> u64 {
    (CHUNK / table.rows_per_call.max(1)).max(1)
}

/// Transactions that load a table.
fn chunks_of(table: &Table) -> u64 {
    table.rows.div_ceil(calls_of(table))
}

fn fill_tables(
    target: &Arc<dyn Target>,
    data: &DataSet,
    stop: &AtomicBool,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<()> {
    let chunks: u64 = data.tables.iter().map(chunks_of).sum();
    let (next, failed) = (AtomicU64::new(0), Mutex::new(None));
    let work = || -> Result<()> {
        let mut session = Session::new(target.clone(), false);
        for statement in &data.prelude {
            session.query(statement)?;
        }
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(chunk) = Chunk::of(data, at) else { return Ok(()) };
            if stop.load(Ordering::Relaxed) {
                return Err(Failure::new(Class::Usage, "interrupted while loading"));
            }
            load_chunk(&mut session, &chunk).map_err(|f| f.during(&chunk.table.name))?;
            progress((at + 1) as f64 / chunks as f64);
        }
    };
    thread::scope(|scope| {
        for _ in 0..target.loaders().min(chunks as usize) {
            scope.spawn(|| {
                if let Err(failure) = work() {
                    next.store(u64::MAX >> 1, Ordering::Relaxed);
                    failed.lock().expect("no loader panics").get_or_insert(failure);
                }
            });
        }
    });
    match failed.into_inner().expect("no loader panics") {
        Some(failure) => Err(failure),
        None => Ok(()),
    }
}

fn load_chunk(session: &mut Session, chunk: &Chunk<'_>) -> Result<()> {
    let dialect = session.dialect();
    let (connection, answer) = session.raw()?;
    let mut rows = Rows::new(dialect, connection.bulk_format());
    connection.begin(answer)?;
    for row in chunk.from..chunk.to {
        (chunk.table.fill)(row, &mut Rng::stream(chunk.seed, row), &mut rows);
        if rows.text().len() >= BATCH {
            connection.bulk(&chunk.table.name, chunk.table.columns, rows.text(), answer)?;
            rows.clear();
        }
    }
    if rows.count() > 0 {
        connection.bulk(&chunk.table.name, chunk.table.columns, rows.text(), answer)?;
    }
    connection.commit(answer)
}
