//! Files, and what was asked of them: `file_…`, and the waits for them in `events_waits_summary_…`.
//!
//! The disk counts the requests to its files and not the sessions that make them: a commit writes
//! what others have logged, too. So all count for the server, which has neither a user nor a host.

use crate::account::Privileges;
use crate::information_schema::{Information, Rows, row};
use inia_base::io::FileRequests;
use inia_base::times::TimeSums;
use inia_base::value::Value;

const DATA: &str = "wait/io/file/innodb/innodb_data_file";
const LOG: &str = "wait/io/file/innodb/innodb_log_file";
const DOUBLEWRITE: &str = "wait/io/file/innodb/innodb_dblwr_file";
const TEMPORARY: &str = "wait/io/file/innodb/innodb_temp_file";
const LOG_TABLE: &str = "wait/io/file/csv/data";
const GENERAL_LOG: &str = "wait/io/file/sql/query_log";
const SLOW_LOG: &str = "wait/io/file/sql/slow_log";
const OTHER: &str = "wait/io/file/sql/misc";

/// The events by which files are counted.
const EVENTS: [&str; 8] =
    [OTHER, GENERAL_LOG, SLOW_LOG, LOG_TABLE, DOUBLEWRITE, DATA, LOG, TEMPORARY];

/// The event of a file of the data directory.
fn event_of(name: &str) -> &'static str {
    match name {
        "inia.data" => DATA,
        "inia.doublewrite" => DOUBLEWRITE,
        "inia.undo" | "inia.scratch-" => TEMPORARY,
        "inia.general_log" | "inia.slow_log" => LOG_TABLE,
        _ if name.starts_with("wal-") => LOG,
        _ => OTHER,
    }
}

struct File {
    path: String,
    event: &'static str,
    exists: bool,
    open: u64,
    requests: FileRequests,
}

/// The files of the data directory and those of logs of statements.
fn files(info: &Information<'_>) -> Vec<File> {
    if !info.access.global.has(Privileges::PROCESS) {
        return Vec::new();
    }
    let directory = info.db.globals.all().get("datadir").cloned().unwrap_or_default();
    let of_disk = info.db.scratch.requests().into_iter().map(|file| File {
        path: format!("{directory}{}", file.name),
        event: event_of(&file.name),
        exists: file.exists,
        open: file.open,
        requests: file.requests,
    });
    let logs = info.db.observer.log_files().into_iter().zip([GENERAL_LOG, SLOW_LOG]);
    let of_logs = logs.map(|((path, requests), event)| File {
        exists: path.is_some(),
        open: u64::from(path.is_some()),
        path: path.map(|path| path.display().to_string()).unwrap_or_default(),
        event,
        requests,
    });
    of_disk.chain(of_logs).collect()
}

/// How many there were, and picoseconds: all, the least, the average and the most.
fn counted(sums: &TimeSums) -> [Value; 5] {
    let times = [sums.sum, sums.min, sums.mean(), sums.max];
    let [sum, min, mean, max] = times.map(|nanos| Value::UInt(nanos.saturating_mul(1000)));
    [Value::UInt(sums.count), sum, min, mean, max]
}

/// The columns from COUNT_STAR to MAX_TIMER_MISC.
fn summed(requests: &FileRequests) -> Vec<Value> {
    let mut row = Vec::from(counted(&requests.all().times));
    for sums in [&requests.reads, &requests.writes] {
        row.extend(counted(&sums.times));
        row.push(Value::UInt(sums.bytes));
    }
    row.extend(counted(&requests.others.times));
    row
}

pub(in super::super) fn instances(info: &Information<'_>, rows: &mut Rows) {
    for file in files(info).into_iter().filter(|file| file.exists) {
        rows.push(row![file.path, file.event, file.open]);
    }
}

pub(in super::super) fn by_instance(info: &Information<'_>, rows: &mut Rows) {
    let there = files(info).into_iter().filter(|file| file.exists);
    for (number, file) in there.enumerate() {
        let mut row = row![file.path, file.event, number as u64 + 1];
        row.extend(summed(&file.requests));
        rows.push(row);
    }
}

/// What was asked of files of each event, those that are gone among them.
fn events(info: &Information<'_>) -> Vec<(&'static str, FileRequests)> {
    let files = files(info);
    let sum = |event: &'static str| {
        let mut requests = FileRequests::default();
        let of_it = files.iter().filter(|file| file.event == event);
        of_it.for_each(|file| requests.add(&file.requests));
        (event, requests)
    };
    EVENTS.map(sum).into()
}

pub(in super::super) fn by_event(info: &Information<'_>, rows: &mut Rows) {
    for (event, requests) in events(info) {
        let mut row = row![event];
        row.extend(summed(&requests));
        rows.push(row);
    }
}

/// Rows that begin with so many NULLs in place of an account.
fn push_waits(info: &Information<'_>, rows: &mut Rows, nulls: usize) {
    for (event, requests) in events(info) {
        let all = requests.all();
        let mut row = vec![Value::Null; nulls];
        row.extend(row![event]);
        row.extend(counted(&all.times));
        rows.push(row);
    }
}

pub(in super::super) fn waits(info: &Information<'_>, rows: &mut Rows) {
    push_waits(info, rows, 0);
}

pub(in super::super) fn waits_by_account(info: &Information<'_>, rows: &mut Rows) {
    push_waits(info, rows, 2);
}

pub(in super::super) fn waits_by_host(info: &Information<'_>, rows: &mut Rows) {
    push_waits(info, rows, 1);
}

pub(in super::super) fn waits_by_user(info: &Information<'_>, rows: &mut Rows) {
    push_waits(info, rows, 1);
}
