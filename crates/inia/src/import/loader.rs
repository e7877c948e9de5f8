//! Stores rows batch by batch.
//!
//! A batch is a transaction. Its rows are kept as literals until it is committed, so that a batch
//! that met a deadlock can be stored again.

use super::destination::{Destination, Refusal};
use super::report::Report;
use super::row::{Row, Source};
use super::table::Table;

/// Bytes of rows in one statement.
const STATEMENT: usize = 256 << 10;
/// How often a batch is begun anew after a deadlock.
const TRIES: usize = 10;
/// Bytes of a batch after which it is stored, however few rows it has.
const BATCH_BYTES: usize = 64 << 20;

/// Errors after which the transaction, or its statement, can be tried again: lock wait timeout and
/// deadlock.
const TRY_AGAIN: [u16; 2] = [1205, 1213];

/// Errors that are of a row and not of the statement: another row may be stored.
const OF_ROWS: [u16; 36] = [
    1048, 1062, 1136, 1169, 1216, 1264, 1265, 1292, 1300, 1365, 1366, 1367, 1369, 1406, 1411, 1416,
    1425, 1426, 1441, 1452, 1467, 1525, 1526, 1586, 1644, 1690, 1761, 1762, 3140, 3141, 3143, 3156,
    3157, 3158, 3819, 4025,
];

/// A row that waits: where its literals are in the batch, and what is reported of it.
struct Waiting {
    number: u64,
    start: usize,
    end: usize,
    raw: Vec<u8>,
}

/// A row that was refused: its place in the batch, and the server's error.
type Rejected = (usize, String);

/// Loads rows into one table.
pub(super) struct Loader {
    destination: Destination,
    table: Table,
    places: Vec<usize>,
    batch: usize,
    /// Bytes that a statement may have.
    packet: usize,
    insert: Vec<u8>,
    literals: Vec<u8>,
    waiting: Vec<Waiting>,
    stored: u64,
}

impl Loader {
    /// Loads into these places of the table, so many rows a transaction.
    pub(super) fn new(
        mut destination: Destination,
        table: Table,
        places: Vec<usize>,
        batch: usize,
    ) -> Loader {
        let insert = table.insert(&places);
        let packet = destination.packet();
        let (literals, waiting) = (Vec::new(), Vec::new());
        Loader { destination, table, places, batch, packet, insert, literals, waiting, stored: 0 }
    }

    /// Rows stored and committed.
    pub(super) fn stored(&self) -> u64 {
        self.stored
    }

    /// Loads all rows of the source.
    pub(super) fn load(
        &mut self,
        source: &mut dyn Source,
        report: &mut Report,
    ) -> Result<(), String> {
        let mut row = Row::default();
        while source.read(&mut row)? {
            if let Some(fault) = &row.fault {
                report.reject(row.number, fault, &row.raw)?;
                continue;
            }
            let start = self.literals.len();
            self.table.put_row(&mut self.literals, &row, &self.places);
            let end = self.literals.len();
            if self.insert.len() + end - start >= self.packet {
                self.literals.truncate(start);
                let fault = format!("longer than the server's max_allowed_packet, {}", self.packet);
                report.reject(row.number, &fault, &row.raw)?;
                continue;
            }
            let raw = std::mem::take(&mut row.raw);
            self.waiting.push(Waiting { number: row.number, start, end, raw });
            if self.waiting.len() >= self.batch || end >= BATCH_BYTES {
                self.store(report)?;
                report.progress(self.stored, source.progress());
            }
        }
        self.store(report)
    }

    /// Stores the rows that wait, in a transaction of their own.
    fn store(&mut self, report: &mut Report) -> Result<(), String> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        for attempt in 1.. {
            match self.transaction() {
                Ok(mut rejected) => {
                    rejected.sort_unstable();
                    self.stored += (self.waiting.len() - rejected.len()) as u64;
                    for (at, error) in rejected {
                        let row = &self.waiting[at];
                        report.reject(row.number, &error, &row.raw)?;
                    }
                    break;
                }
                Err(Refusal::Statement(error))
                    if TRY_AGAIN.contains(&error.code) && attempt < TRIES =>
                {
                    self.destination.run(b"ROLLBACK")?;
                }
                Err(refusal) => return Err(self.blame(&refusal)),
            }
        }
        self.waiting.clear();
        self.literals.clear();
        Ok(())
    }

    /// Says which rows an error is about.
    fn blame(&self, refusal: &Refusal) -> String {
        let number = self.waiting.first().map_or(0, |row| row.number);
        format!("the batch that begins at {number} is not stored: {refusal}")
    }

    fn transaction(&mut self) -> Result<Vec<Rejected>, Refusal> {
        self.destination.run(b"START TRANSACTION")?;
        let mut rejected = Vec::new();
        let mut from = 0;
        while from < self.waiting.len() {
            let to = self.statement_end(from);
            self.put(from, to, &mut rejected)?;
            from = to;
        }
        self.destination.run(b"COMMIT")?;
        Ok(rejected)
    }

    /// The rows from `from` that one statement takes end here.
    fn statement_end(&self, from: usize) -> usize {
        // What is not transactional keeps the rows before the one that was refused.
        if !self.table.transactional {
            return from + 1;
        }
        let most = STATEMENT.min(self.packet - self.insert.len());
        let begin = self.waiting[from].start;
        let fits = |row: &&Waiting| row.end - begin + (from + 1) < most;
        let count = self.waiting[from..].iter().take_while(fits).count();
        from + count.max(1)
    }

    /// Stores rows by one statement, or, where that is refused, in halves.
    fn put(&mut self, from: usize, to: usize, rejected: &mut Vec<Rejected>) -> Result<(), Refusal> {
        let mut sql = self.insert.clone();
        for row in &self.waiting[from..to] {
            if sql.len() > self.insert.len() {
                sql.push(b',');
            }
            sql.extend_from_slice(&self.literals[row.start..row.end]);
        }
        match self.destination.run(&sql) {
            Err(Refusal::Statement(error)) if OF_ROWS.contains(&error.code) => {
                if to - from == 1 {
                    rejected.push((from, error.to_string()));
                    return Ok(());
                }
                let middle = from + (to - from) / 2;
                self.put(from, middle, rejected)?;
                self.put(middle, to, rejected)
            }
            ran => ran,
        }
    }
}
