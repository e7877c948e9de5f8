//! What administrators see of statements: the general log, the slow query log, and the sums over
//! statements of the same form.
//!
//! Nothing is noted unless a switch is on: [`Observer::wants`] is one relaxed load, of a line that
//! nobody writes but SET GLOBAL. A statement is noted at its begin (general log) and at its end
//! (slow query log, sums), where it holds no latch of the storage engine; so a slow disk holds up
//! only the sessions that write to the same log.
//!
//! `log_output` sends lines to files in MySQL's formats ([`files`]), to the tables
//! `mysql.general_log` and `mysql.slow_log` ([`tables`]), or to both.

mod errors;
mod files;
mod levels;
mod lines;
mod setup;
mod statements;
mod tables;
mod transactions;

pub use errors::SessionErrors;
pub(crate) use errors::{ErrorCounts, ErrorSums};
pub use files::PathRefused;
pub(crate) use levels::{Account, Level, Levels, Sum};
pub use lines::{Command, Ended, Extra, Who};
pub use setup::{SetupTables, want_sums};
pub use statements::{Current, Done, Grouped, History, PreparedInstance, Sums};
pub(crate) use statements::{Kinds, PICOS};
pub(crate) use transactions::TransactionSums;
pub use transactions::{BranchEvent, SessionTransactions, TransactionEvent, TransactionState};

use crate::sysvar::{self, GlobalVars};
use files::LogFile;
use inia_base::io::{Disk, FileRequests};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use tables::LogTable;

/// The general log is written.
pub const GENERAL: u8 = 1;
/// The slow query log is written.
pub const SLOW: u8 = 2;
/// Statements are summed up by their forms.
pub const SUMS: u8 = 4;
/// Some session traces the optimizer.
pub const TRACE: u8 = 32;
/// Some session profiles its statements.
pub const PROFILE: u8 = 64;
/// Lines go to files.
const TO_FILES: u8 = 8;
/// Lines go to tables.
const TO_TABLES: u8 = 16;

/// The variables that an [`Observer`] follows.
pub const SETTINGS: [&str; 9] = [
    "general_log",
    "general_log_file",
    "slow_query_log",
    "slow_query_log_file",
    "log_output",
    "log_timestamps",
    "log_slow_extra",
    "inia_statement_sums",
    "secure_file_priv",
];

/// Notes what statements do.
pub struct Observer {
    wants: AtomicU8,
    /// How many sessions trace the optimizer.
    tracing: Mutex<usize>,
    profiling: Mutex<usize>,
    general: LogFile,
    slow: LogFile,
    general_table: LogTable,
    slow_table: LogTable,
    /// Sums over statements.
    pub statements: statements::Statements,
    /// Sums over transactions of sessions that have ended.
    pub(crate) transactions: Levels<TransactionSums>,
    /// Errors of sessions that have ended, and of logins.
    pub raised: errors::Errors,
    /// Changed tables of settings.
    pub setup: SetupTables,
    /// The last lines of the error log.
    errors: Mutex<VecDeque<ErrorLine>>,
}

/// A line of the error log.
#[derive(Clone, Debug)]
pub struct ErrorLine {
    /// Microseconds since 1970.
    pub at: i64,
    /// "Error", "Warning" or "Note".
    pub level: &'static str,
    /// What it says.
    pub text: String,
}

/// Lines of the error log that are kept in memory.
const MAX_ERRORS: usize = 1000;

impl Observer {
    /// Notes nothing yet.
    pub(crate) fn new(disk: &Arc<dyn Disk>) -> Observer {
        Observer {
            wants: AtomicU8::new(0),
            tracing: Mutex::default(),
            profiling: Mutex::default(),
            general: LogFile::default(),
            slow: LogFile::default(),
            general_table: LogTable::new(disk, "inia.general_log"),
            slow_table: LogTable::new(disk, "inia.slow_log"),
            statements: statements::Statements::default(),
            transactions: Levels::default(),
            raised: errors::Errors::default(),
            setup: SetupTables::default(),
            errors: Mutex::default(),
        }
    }

    /// Keeps a line of the error log, which has been written elsewhere.
    pub fn note_error(&self, line: ErrorLine) {
        let mut errors = self.errors.lock();
        if errors.len() == MAX_ERRORS {
            errors.pop_front();
        }
        errors.push_back(line);
    }

    /// The last lines of the error log, oldest first.
    pub(crate) fn errors(&self) -> Vec<ErrorLine> {
        self.errors.lock().iter().cloned().collect()
    }

    /// How many lines of the error log are kept, their bytes, and when the last one came, in
    /// microseconds since 1970.
    pub(crate) fn error_sums(&self) -> (usize, usize, i64) {
        let errors = self.errors.lock();
        let bytes = errors.iter().map(|line| line.text.len()).sum();
        (errors.len(), bytes, errors.back().map_or(0, |line| line.at))
    }

    /// What is noted: [`GENERAL`], [`SLOW`] and [`SUMS`]; 0 for nothing.
    #[inline]
    pub fn wants(&self) -> u8 {
        self.wants.load(Ordering::Relaxed)
    }

    /// A session begins (or ends) tracing the optimizer.
    pub fn trace(&self, begins: bool) {
        let mut tracing = self.tracing.lock();
        *tracing = if begins { *tracing + 1 } else { tracing.saturating_sub(1) };
        match *tracing {
            0 => self.wants.fetch_and(!TRACE, Ordering::Relaxed),
            _ => self.wants.fetch_or(TRACE, Ordering::Relaxed),
        };
    }

    /// A session begins (or ends) profiling its statements.
    pub fn profile(&self, begins: bool) {
        let mut profiling = self.profiling.lock();
        *profiling = if begins { *profiling + 1 } else { profiling.saturating_sub(1) };
        match *profiling {
            0 => self.wants.fetch_and(!PROFILE, Ordering::Relaxed),
            _ => self.wants.fetch_or(PROFILE, Ordering::Relaxed),
        };
    }

    /// Takes over the present settings. The error is that of a log file that cannot be written:
    /// its log stays off.
    pub fn configure(&self, globals: &GlobalVars) -> io::Result<()> {
        let all = globals.all();
        let text = |name: &str| match (all.get(name), sysvar::find(name)) {
            (Some(text), _) => text.clone(),
            (None, Ok(def)) => def.default.to_owned(),
            (None, Err(_)) => String::new(),
        };
        let mut wants = 0;
        let output = text("log_output").to_ascii_uppercase();
        let mut words = output.split(',');
        // NONE is stronger than the others.
        if !words.clone().any(|word| word == "NONE") {
            wants |= if words.clone().any(|word| word == "FILE") { TO_FILES } else { 0 };
            wants |= if words.any(|word| word == "TABLE") { TO_TABLES } else { 0 };
        }
        let goes = |name: &str| text(name) == "ON" && wants & (TO_FILES | TO_TABLES) != 0;
        let logs =
            u8::from(goes("general_log")) * GENERAL + u8::from(goes("slow_query_log")) * SLOW;
        wants |= logs;
        if text("inia_statement_sums") == "ON" {
            wants |= SUMS;
        }
        let mut failed = Ok(());
        let header = lines::header(&text("port"), &text("socket"));
        let local = text("log_timestamps") == "SYSTEM";
        let logs = [
            (&self.general, "general_log_file", ".log", GENERAL),
            (&self.slow, "slow_query_log_file", "-slow.log", SLOW),
        ];
        for (file, name, ending, bit) in logs {
            let path = match text(name) {
                empty if empty.is_empty() => {
                    default_path(&text("datadir"), &text("hostname"), ending)
                }
                path => files::absolute(&text("datadir"), &path),
            };
            let on = wants & bit != 0 && wants & TO_FILES != 0;
            let is_open = file.set(on.then_some(path), &header, local);
            if on
                && !is_open
                && let Err(error) = file.reopen()
            {
                wants &= !bit;
                failed = Err(error);
            }
        }
        self.slow.set_extra(text("log_slow_extra") == "ON");
        let tracing = self.tracing.lock();
        wants |= if *tracing > 0 { TRACE } else { 0 };
        let profiling = self.profiling.lock();
        wants |= if *profiling > 0 { PROFILE } else { 0 };
        self.wants.store(wants, Ordering::Relaxed);
        drop((tracing, profiling));
        failed
    }

    /// Whether a file may be a log: see [`files::check`].
    pub fn check_path(&self, globals: &GlobalVars, path: &str) -> Result<(), PathRefused> {
        let all = globals.all();
        let text = |name: &str| all.get(name).cloned().unwrap_or_default();
        files::check(&text("datadir"), &text("secure_file_priv"), path)
    }

    /// FLUSH GENERAL LOGS and FLUSH SLOW LOGS: the files are closed, and made anew where they have
    /// been renamed.
    pub fn reopen(&self, general: bool, slow: bool) -> io::Result<()> {
        let general = if general { self.general.reopen() } else { Ok(()) };
        let slow = if slow { self.slow.reopen() } else { Ok(()) };
        general.and(slow)
    }

    /// A line of the general log.
    #[cold]
    pub fn note_command(&self, who: &Who<'_>, command: &Command<'_>) {
        let wants = self.wants();
        if wants & GENERAL == 0 {
            return;
        }
        if wants & TO_FILES != 0 {
            self.general.write_command(who, command);
        }
        if wants & TO_TABLES != 0 {
            self.general_table.push(&lines::command_fields(who, command));
        }
    }

    /// An entry of the slow query log.
    #[cold]
    pub fn note_slow(&self, who: &Who<'_>, ended: &Ended<'_>) {
        let wants = self.wants();
        if wants & TO_FILES != 0 {
            self.slow.write_statement(who, ended);
        }
        if wants & TO_TABLES != 0 {
            self.slow_table.push(&lines::statement_fields(who, ended));
        }
    }

    /// The files of the general log and of the slow query log, where they are open, and what was
    /// asked of them.
    pub(crate) fn log_files(&self) -> [(Option<PathBuf>, FileRequests); 2] {
        [self.general.requests(), self.slow.requests()]
    }

    /// Counts requests to log files anew.
    pub(crate) fn clear_log_files(&self) {
        self.general.clear_requests();
        self.slow.clear_requests();
    }

    /// The rows of `mysql.general_log` or `mysql.slow_log`, as fields.
    pub(crate) fn logged(&self, slow: bool) -> Vec<Vec<Vec<u8>>> {
        if slow { self.slow_table.rows() } else { self.general_table.rows() }
    }

    /// TRUNCATE of a computed table: whether it is one that can be emptied.
    pub(crate) fn empty<'s>(
        &self,
        (schema, table): (&str, &str),
        live: impl Iterator<Item = (Account, &'s History)>,
    ) -> io::Result<bool> {
        if !can_be_emptied(schema, table) {
            return Ok(false);
        }
        match table.to_ascii_lowercase().as_str() {
            "general_log" => self.general_table.clear()?,
            "slow_log" => self.slow_table.clear()?,
            "events_statements_summary_by_digest" | "events_statements_histogram_by_digest" => {
                self.statements.clear_groups(live.map(|(_, own)| own));
            }
            setup if is_setup_table(setup).is_some() => self.setup.replace(setup, Vec::new()),
            other => self.statements.clear(other, live),
        }
        Ok(true)
    }
}

/// The table of settings in `performance_schema` that has this name, in any case.
pub fn is_setup_table(table: &str) -> Option<&'static str> {
    const TABLES: [&str; 5] =
        ["setup_actors", "setup_consumers", "setup_instruments", "setup_objects", "setup_threads"];
    TABLES.into_iter().find(|name| name.eq_ignore_ascii_case(table))
}

/// Whether TRUNCATE may be said of a computed table.
pub fn can_be_emptied(schema: &str, table: &str) -> bool {
    const KEPT: [&str; 3] = ["threads", "session_", "global_"];
    if schema == "mysql" {
        return matches!(table, "general_log" | "slow_log");
    }
    let table = table.to_ascii_lowercase();
    schema.eq_ignore_ascii_case("performance_schema")
        && (table.contains("_summary_")
            || table.starts_with("events_")
            || table == "host_cache"
            || table.starts_with("status_by_")
            || matches!(table.as_str(), "accounts" | "users" | "hosts")
            || matches!(table.as_str(), "setup_actors" | "setup_objects")
            || table == "prepared_statements_instances")
        && !KEPT.iter().any(|kept| table.starts_with(kept))
}

fn default_path(directory: &str, host: &str, ending: &str) -> std::path::PathBuf {
    files::absolute(directory, &format!("{host}{ending}"))
}

#[cfg(test)]
mod tests;
