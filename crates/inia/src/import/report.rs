//! What the user reads: progress, rejected rows, and the outcome.

use super::row::Source;
use super::table::TableName;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::time::{Duration, Instant};

/// Rejected rows whose reasons are shown.
const SHOWN: u64 = 100;
/// How often progress is shown.
const EVERY: Duration = Duration::from_millis(200);

/// Reports a load on standard error.
pub(super) struct Report {
    /// What a row's number counts.
    unit: &'static str,
    rejects: Option<(String, BufWriter<File>)>,
    rejected: u64,
    begun: Instant,
    /// Progress is shown where someone looks at it.
    terminal: bool,
    shown: Instant,
    /// A line of progress stands on the terminal.
    drawn: bool,
}

impl Report {
    /// A report that writes rejected rows to `rejects`.
    pub(super) fn new(rejects: Option<&str>, source: &dyn Source) -> Result<Report, String> {
        let rejects = match rejects {
            None => None,
            Some(path) => {
                let failed = |error: io::Error| format!("cannot write {path}: {error}");
                let mut file = BufWriter::new(File::create(path).map_err(failed)?);
                file.write_all(&source.head()).map_err(failed)?;
                Some((path.to_owned(), file))
            }
        };
        let (begun, terminal) = (Instant::now(), io::stderr().is_terminal());
        let unit = source.unit();
        Ok(Report { unit, rejects, rejected: 0, begun, terminal, shown: begun, drawn: false })
    }

    /// Number of rows rejected.
    pub(super) fn rejected(&self) -> u64 {
        self.rejected
    }

    /// Reports a row that cannot be stored.
    pub(super) fn reject(&mut self, number: u64, why: &str, raw: &[u8]) -> Result<(), String> {
        self.erase();
        self.rejected += 1;
        match self.rejected {
            0..=SHOWN => eprintln!("{} {number}: {why}", self.unit),
            more if more == SHOWN + 1 => eprintln!("… further reasons are not shown"),
            _ => {}
        }
        let Some((path, file)) = &mut self.rejects else { return Ok(()) };
        file.write_all(raw).map_err(|error| format!("cannot write {path}: {error}"))
    }

    /// Shows how far the load is.
    pub(super) fn progress(&mut self, stored: u64, share: f64) {
        if !self.terminal || self.shown.elapsed() < EVERY {
            return;
        }
        self.shown = Instant::now();
        self.erase();
        eprint!("{stored} rows, {:.0} %", share * 100.0);
        self.drawn = true;
    }

    fn erase(&mut self) {
        if std::mem::take(&mut self.drawn) {
            eprint!("\r\x1b[K");
        }
    }

    /// Reports the outcome.
    pub(super) fn finish(
        &mut self,
        name: &TableName,
        made: bool,
        stored: u64,
    ) -> Result<(), String> {
        self.erase();
        let made = if made { " (made for it)" } else { "" };
        let rejected = match self.rejected {
            0 => String::new(),
            rejected => format!(", {rejected} rejected"),
        };
        let seconds = self.begun.elapsed().as_secs_f64();
        let rows = if stored == 1 { "row" } else { "rows" };
        eprintln!("{name}{made}: {stored} {rows} stored{rejected} ({seconds:.1} s)");
        match &mut self.rejects {
            None => Ok(()),
            Some((path, file)) => {
                file.flush().map_err(|error| format!("cannot write {path}: {error}"))
            }
        }
    }
}
