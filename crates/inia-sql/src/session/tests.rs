//! Statements through a session on a disk in memory. Each expectation was first given by MySQL.

mod admin;
mod batches;
mod build;
mod catalog_records;
mod columns;
mod conditions;
mod crash;
mod damage;
mod ddl;
mod ddl_beside_dml;
mod deep;
mod deferred;
mod deletes;
mod derived;
mod dml;
mod elements;
mod engines;
mod estimates;
mod explain;
mod files;
mod full_disk;
mod fulltext;
mod groups_in_order;
mod half_statements;
mod handlers;
mod hints;
mod histograms;
mod joins;
mod killed_passes;
mod kills;
mod leaf_runs;
mod memo;
mod merged;
mod merges;
mod mutated;
mod numbers;
mod parallel;
mod partitions;
mod patched;
mod plan_cache;
mod prepared;
mod programs;
mod returning;
mod rewrites;
mod row_ids;
mod sequences;
mod shared;
mod skips;
mod spill;
mod spilled_batches;
mod statistics;
mod strategies;
mod subqueries;
mod table_locks;
mod temporary;
mod time_zones;
mod transactions;
mod unsupported;
mod vectors;

use super::{KillHandle, Session};
use inia_base::column::{Completion, ResultColumn, RowSink, TakeBytes};
use inia_base::error::SqlError;
use inia_base::io::MemDisk;
use inia_base::temporal::{Date, DateTime, Time};
use inia_base::value::Value;
use inia_query::database::{ClientInfo, Database, DatabaseOptions};
use inia_query::error::OpenError;
use std::sync::Arc;

/// Collects results as text: rows with `|` between cells, then `n affected` and the info.
#[derive(Default)]
pub(super) struct TextSink {
    pub(super) text: String,
    pub(super) columns: Vec<ResultColumn>,
    pub(super) completions: Vec<Completion>,
    /// What LOAD DATA LOCAL gets, in pieces.
    pub(super) file: Vec<&'static str>,
    /// Ends the statement when so many more rows have come.
    pub(super) kill_after: Option<(usize, KillHandle)>,
    in_rows: bool,
    first: bool,
}

impl TextSink {
    fn cell(&mut self, text: &str) {
        if !self.first {
            self.text.push('|');
        }
        self.first = false;
        self.text.push_str(text);
    }
}

impl RowSink for TextSink {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), SqlError> {
        self.columns = columns.to_vec();
        self.in_rows = true;
        Ok(())
    }
    fn begin_row(&mut self) {
        self.first = true;
    }
    fn null(&mut self) {
        self.cell("NULL");
    }
    fn int(&mut self, value: i64) {
        self.cell(&value.to_string());
    }
    fn uint(&mut self, value: u64) {
        self.cell(&value.to_string());
    }
    fn float(&mut self, value: f32) {
        self.cell(&value.to_string());
    }
    fn double(&mut self, value: f64) {
        self.cell(&value.to_string());
    }
    fn bytes(&mut self, value: &[u8]) {
        self.cell(&String::from_utf8_lossy(value));
    }
    fn date(&mut self, value: Date) {
        let mut out = Vec::new();
        value.write_text(&mut out);
        self.bytes(&out);
    }
    fn time(&mut self, value: Time, fsp: u8) {
        self.cell(&value.text(fsp));
    }
    fn datetime(&mut self, value: DateTime, fsp: u8) {
        self.cell(&value.text(fsp));
    }
    fn end_row(&mut self) -> Result<(), SqlError> {
        self.text.push('\n');
        if let Some((rows, handle)) = &mut self.kill_after {
            *rows -= 1;
            if *rows == 0 {
                handle.kill_query();
                self.kill_after = None;
            }
        }
        Ok(())
    }
    fn local_file(&mut self, _path: &[u8], take: &mut TakeBytes<'_>) -> Result<(), SqlError> {
        self.file.iter().try_for_each(|piece| take(piece.as_bytes()))
    }
    fn complete(&mut self, completion: &Completion, _more: bool) -> Result<(), SqlError> {
        if !std::mem::take(&mut self.in_rows) {
            self.text.push_str(&format!("{} affected", completion.affected_rows));
            if !completion.info.is_empty() {
                self.text.push_str(&format!(" ({})", completion.info));
            }
            self.text.push('\n');
        }
        self.completions.push(completion.clone());
        Ok(())
    }
}

/// A database on a disk in memory, and its sessions.
pub(crate) struct TestDb {
    disk: MemDisk,
    db: Arc<Database>,
}

impl TestDb {
    /// An empty database `test`.
    pub(crate) fn new() -> TestDb {
        let disk = MemDisk::new();
        let db = TestDb::open(&disk);
        let test = TestDb { disk, db };
        test.session().ok("CREATE DATABASE test");
        test
    }

    fn open(disk: &MemDisk) -> Arc<Database> {
        TestDb::try_open(disk).unwrap().db
    }

    /// Opens what is on a disk, which may be damaged.
    pub(crate) fn try_open(disk: &MemDisk) -> Result<TestDb, OpenError> {
        let options = DatabaseOptions { buffer_pool_size: 16 << 20, background: false };
        let db = Database::open(Arc::new(disk.clone()), options)?;
        Ok(TestDb { disk: disk.clone(), db })
    }

    /// Its disk; clones are the same disk.
    pub(crate) fn disk(&self) -> &MemDisk {
        &self.disk
    }

    /// The database itself.
    pub(crate) fn database(&self) -> &Arc<Database> {
        &self.db
    }

    /// Closes and opens again.
    pub(crate) fn restart(self) -> TestDb {
        let TestDb { disk, db } = self;
        db.close().unwrap();
        drop(db);
        let db = TestDb::open(&disk);
        TestDb { disk, db }
    }

    /// A session of another client.
    pub(super) fn session_of(&self, client: ClientInfo) -> TestSession {
        TestSession(Session::new(&self.db, client))
    }

    /// A session in `test`.
    pub(crate) fn session(&self) -> TestSession {
        let mut session = Session::new(&self.db, ClientInfo::default());
        let _ = session.use_database("test");
        TestSession(session)
    }
}

/// A session whose answers are texts.
pub(crate) struct TestSession(pub(super) Session);

impl TestSession {
    /// The answer, or the error as `ERROR number: message`.
    pub(crate) fn run(&mut self, sql: &str) -> String {
        let mut sink = TextSink::default();
        self.0.begin_command();
        match self.0.execute(sql, &mut sink) {
            Ok(()) => sink.text,
            Err(error) => format!("{}ERROR {}: {}\n", sink.text, error.number(), error.message),
        }
    }

    /// Whether the protocol's status says that a transaction is open.
    pub(super) fn is_in_transaction(&self) -> bool {
        self.0.context.status() & inia_base::column::status::IN_TRANS != 0
    }

    /// The answer of a statement that must succeed.
    #[track_caller]
    /// The plan of a query, of whose estimates only the rows of stored tables are left: the others
    /// change with what the optimizer knows.
    pub(crate) fn tree(&mut self, query: &str) -> String {
        const PATHS: [&str; 4] = ["Table scan", "Index ", "Covering index", "Single-row"];
        let tree = self.ok(&format!("explain format=tree {query}"));
        let lines: Vec<&str> = tree.lines().collect();
        let plain = |(number, line): (usize, &&str)| {
            let Some((text, estimate)) = line.split_once("  (cost=") else {
                return (*line).to_owned();
            };
            let node = text.trim_start().trim_start_matches("-> ");
            let below = lines.get(number + 1).is_some_and(|next| next.contains("-> Materialize"));
            let stored = PATHS.iter().any(|path| node.starts_with(path)) && !below;
            match estimate.split_once(' ').filter(|_| stored) {
                Some((_, rows)) => format!("{text}  ({rows}"),
                None => text.to_owned(),
            }
        };
        lines.iter().enumerate().map(plain).collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn ok(&mut self, sql: &str) -> String {
        let text = self.run(sql);
        assert!(!text.contains("ERROR "), "{sql}: {text}");
        text
    }

    /// Runs statements and compares each answer, trimmed.
    #[track_caller]
    pub(super) fn check(&mut self, pairs: &[(&str, &str)]) {
        for (sql, expected) in pairs {
            assert_eq!(self.run(sql).trim_end(), *expected, "{sql}");
        }
    }

    /// Prepares a statement; its number.
    pub(super) fn prepare(&mut self, sql: &str) -> u32 {
        self.0.prepare(sql).unwrap().id
    }

    /// Executes a prepared statement.
    pub(super) fn execute(&mut self, id: u32, params: &[Value]) -> String {
        let mut sink = TextSink::default();
        match self.0.execute_prepared(id, params, &mut sink) {
            Ok(()) => sink.text.trim_end().to_owned(),
            Err(error) => format!("ERROR {}: {}", error.number(), error.message),
        }
    }
}

/// The rows of an answer, sorted.
fn sorted(answer: &str) -> Vec<&str> {
    let mut rows: Vec<&str> = answer.lines().collect();
    rows.sort_unstable();
    rows
}

/// A query without its optimizer hints.
fn without_hints(query: &str) -> String {
    let mut text = query.to_owned();
    while let Some((before, rest)) = text.split_once("/*+") {
        let (_, after) = rest.split_once("*/").unwrap();
        text = format!("{before}{after}");
    }
    text
}
