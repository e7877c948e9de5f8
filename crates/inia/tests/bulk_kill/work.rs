//! What the clients do until the server is gone.

use super::{Acknowledged, CLIENTS, Connection, Stop, checksum};
use inia_testkit::Random;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

type Done = Result<(), Stop>;

/// Levels at which statements lock what they have read, so that pairs of others stay pairs.
const LOCKING: [&str; 2] = ["REPEATABLE READ", "SERIALIZABLE"];
const ALL: [&str; 4] = ["READ UNCOMMITTED", "READ COMMITTED", LOCKING[0], LOCKING[1]];

pub(super) struct Worker<'w> {
    pub(super) who: usize,
    pub(super) connection: Connection,
    pub(super) random: Random,
    pub(super) files: &'w Path,
    pub(super) acknowledged: &'w Acknowledged,
}

impl Worker<'_> {
    /// Both rows of some pairs, as the values of an INSERT or the lines of a file.
    fn rows(&mut self, between: &str, behind: &str) -> String {
        let mut rows = String::new();
        let first = self.random.below(3000);
        let distance = 1 + self.random.below(4);
        for i in 0..1 + self.random.skewed(300) {
            let (id, balance) = (first + i * distance, self.random.below(100_000) as i64);
            let length = match self.random.below(60) {
                0 => 5000 + self.random.index(6000),
                1..=5 => 900,
                _ => self.random.index(120),
            };
            let note = self.random.letters(1).repeat(length);
            for (side, balance) in [(0, balance), (1, -balance)] {
                if !rows.is_empty() {
                    rows.push_str(behind);
                }
                let cells = [
                    id.to_string(),
                    side.to_string(),
                    format!("{id}/{side}"),
                    balance.to_string(),
                    note.clone(),
                ];
                rows.push_str(&cells.join(between));
            }
        }
        rows
    }

    /// A statement that keeps the pairs of a table pairs.
    fn statement(&mut self, table: &str) -> String {
        const COLUMNS: &str = "(id, side, code, balance, note)";
        let (from, by) = (self.random.below(3000), self.random.below(1000));
        let some = format!("id BETWEEN {from} AND {}", from + self.random.skewed(800));
        let note = format!("REPEAT('{}', {})", self.random.letters(1), self.random.skewed(700));
        let shifted = format!(
            "SELECT s.id + {by}, s.side, CONCAT(s.id + {by}, '/', s.side), s.balance * 2, {note} \
             FROM {table} s WHERE s.{some}"
        );
        let change = format!("SET balance = balance + IF(side, {by}, -{by})");
        match self.random.below(15) {
            0..=2 => {
                let rows = self.rows("','", "'),('");
                format!("INSERT INTO {table} {COLUMNS} VALUES ('{rows}')")
            }
            3 => format!("INSERT INTO {table} {COLUMNS} {shifted}"),
            4 => format!(
                "INSERT INTO {table} {COLUMNS} {shifted} \
                 ON DUPLICATE KEY UPDATE balance = -{table}.balance, note = {note}"
            ),
            5 => {
                let rows = self.rows("','", "'),('");
                format!(
                    "INSERT INTO {table} {COLUMNS} VALUES ('{rows}') \
                     ON DUPLICATE KEY UPDATE balance = VALUES(balance), note = VALUES(note)"
                )
            }
            6 => format!("REPLACE INTO {table} {COLUMNS} {shifted}"),
            7 => {
                let rows = self.rows("','", "'),('");
                format!("REPLACE INTO {table} {COLUMNS} VALUES ('{rows}')")
            }
            8 => format!("UPDATE {table} {change}"),
            9 => format!("UPDATE {table} {change}, note = {note}"),
            10 => format!("UPDATE {table} {change}, note = {note} WHERE {some}"),
            11 => format!(
                "UPDATE {table} SET id = id + {}, code = CONCAT(id, '/', side) WHERE {some}",
                by + 1
            ),
            12 => format!("DELETE FROM {table} WHERE {some}"),
            13 if self.random.chance(1, 2) => format!("DELETE FROM {table}"),
            _ => {
                let path = self.files.join(self.who.to_string());
                std::fs::write(&path, self.rows("\t", "\n") + "\n").unwrap();
                let (path, how) = (path.display(), self.random.pick(&["REPLACE", "IGNORE"]));
                format!("LOAD DATA INFILE '{path}' {how} INTO TABLE {table} {COLUMNS}")
            }
        }
    }

    /// A statement on parents and their children.
    fn family(&mut self) -> String {
        let id = self.random.below(150);
        let some = format!("BETWEEN {id} AND {}", id + self.random.below(60));
        match self.random.below(7) {
            0 | 1 => {
                let mut values = String::new();
                for i in 0..40 {
                    let _ = write!(values, "{}({}, {i})", if i > 0 { ", " } else { "" }, id + i);
                }
                format!("INSERT INTO parents VALUES {values} ON DUPLICATE KEY UPDATE v = v + 1")
            }
            2 | 3 => format!(
                "INSERT INTO children (parent, v) SELECT id, v FROM parents WHERE id {some}"
            ),
            4 => format!("DELETE FROM parents WHERE id {some}"),
            5 => format!("UPDATE parents SET id = id + 60 WHERE id {some} ORDER BY id DESC"),
            _ => format!("DELETE FROM children WHERE parent {some}"),
        }
    }

    /// A client's transactions, each under its number, until the server is gone.
    pub(super) fn transactions(&mut self, client: usize, done: &AtomicU64) {
        let last = &self.acknowledged.transactions[client];
        loop {
            let n = last.load(Ordering::SeqCst) + 1;
            match self.transaction(client, n) {
                Ok(Some(number)) => {
                    last.store(n, Ordering::SeqCst);
                    self.acknowledged.number.fetch_max(number, Ordering::SeqCst);
                    done.fetch_add(1, Ordering::SeqCst);
                }
                Ok(None) => {}
                Err(Stop::Gone) => return,
                Err(stop) => {
                    if matches!(stop, Stop::Full) {
                        self.acknowledged.full.fetch_add(1, Ordering::SeqCst);
                        done.fetch_add(1, Ordering::SeqCst);
                    }
                    if self.connection.ask("ROLLBACK").is_err() {
                        return;
                    }
                }
            }
        }
    }

    /// The greatest number that it has taken; nothing where it was rolled back.
    fn transaction(&mut self, client: usize, n: u64) -> Result<Option<u64>, Stop> {
        let own = format!("pairs{client}");
        let shared = self.random.chance(1, 3);
        let level = if shared { *self.random.pick(&LOCKING) } else { *self.random.pick(&ALL) };
        self.connection.ask(&format!("SET TRANSACTION ISOLATION LEVEL {level}"))?;
        self.connection.ask("BEGIN")?;
        for _ in 0..1 + self.random.below(3) {
            if self.random.chance(1, 4) {
                self.and_back(&own)?;
            }
            let sql = self.statement(if shared { "pairs" } else { &own });
            self.connection.ask(&sql)?;
        }
        if self.random.chance(1, 3) {
            let sql = self.family();
            self.connection.ask(&sql)?;
        }
        let (parts, number) = self.take_numbers(client, n)?;
        let noted = format!(
            "INSERT INTO ledger SELECT {client}, {n}, {parts}, \
             (SELECT MIN(id) FROM numbers WHERE client = {client} AND n = {n}), \
             own.* FROM ({}) own",
            checksum(&own).replace("COUNT(*),", "COUNT(*) AS a,")
        );
        self.connection.ask(&noted)?;
        if self.random.chance(1, 7) {
            return self.connection.ask("ROLLBACK").map(|_| None);
        }
        self.connection.ask("COMMIT").map(|_| Some(number))
    }

    /// Rows with AUTO_INCREMENT numbers: how many, and the greatest number.
    fn take_numbers(&mut self, client: usize, n: u64) -> Result<(u64, u64), Stop> {
        let digits = 1 + self.random.below(3) as u32;
        let part = ["a.d", "a.d + 10 * b.d", "a.d + 10 * b.d + 100 * c.d"][digits as usize - 1];
        let from = ["digits a", "digits a, digits b", "digits a, digits b, digits c"];
        let from = from[digits as usize - 1];
        self.connection.ask(&format!(
            "INSERT INTO numbers (client, n, part) SELECT {client}, {n}, {part} FROM {from}"
        ))?;
        let greatest =
            format!("SELECT MAX(id) FROM numbers WHERE client = {client} AND n = {n} FOR UPDATE");
        let greatest = self.connection.ask(&greatest)?;
        Ok((10_u64.pow(digits), greatest.parse().unwrap()))
    }

    /// Statements after a savepoint, and back to it: the table is as it was.
    fn and_back(&mut self, own: &str) -> Done {
        self.connection.ask("SAVEPOINT half")?;
        let before = self.connection.ask(&checksum(own))?;
        for _ in 0..1 + self.random.below(3) {
            let sql = self.statement(own);
            match self.connection.ask(&sql) {
                // The statement alone is undone.
                Ok(_) | Err(Stop::Refused(1062) | Stop::Full) => {}
                Err(stop) => return Err(stop),
            }
        }
        self.connection.ask("ROLLBACK TO SAVEPOINT half")?;
        let after = self.connection.ask(&checksum(own))?;
        assert_eq!(before, after, "{own} after a rollback to a savepoint");
        Ok(())
    }

    /// Definitions beside all that.
    pub(super) fn definitions(&mut self) {
        loop {
            if let Err(Stop::Gone) = self.definition() {
                return;
            }
        }
    }

    fn definition(&mut self) -> Done {
        let (table, columns) = match self.random.below(CLIENTS as u64 + 3) {
            0 => ("numbers".to_owned(), "n, part"),
            1 => ("children".to_owned(), "v"),
            2 => ("pairs".to_owned(), "note(20), balance"),
            client => (format!("pairs{}", client - 3), "note(20), balance"),
        };
        if self.random.chance(1, 6) {
            let what = *self.random.pick(&["ENGINE = InnoDB", "FORCE", "COMMENT 'again'"]);
            return self.connection.ask(&format!("ALTER TABLE {table} {what}")).map(drop);
        }
        let what = *self.random.pick(&["index", "column"]);
        let key = (table.clone(), what);
        let was = self.acknowledged.defined.lock().unwrap().remove(&key);
        // After a kill in the middle of it nothing is known.
        let was = match was {
            Some(was) => was,
            None => is_defined(&mut self.connection, &table, what)?,
        };
        let sql = match (what, was) {
            ("index", false) => format!("CREATE INDEX extra ON {table} ({columns})"),
            ("index", true) => format!("DROP INDEX extra ON {table}"),
            (_, false) => format!("ALTER TABLE {table} ADD COLUMN extra INT NOT NULL DEFAULT 7"),
            (_, true) => format!("ALTER TABLE {table} DROP COLUMN extra"),
        };
        let is = match self.connection.ask(&sql) {
            Ok(_) => !was,
            Err(Stop::Refused(_)) => was,
            Err(Stop::Full) => {
                self.acknowledged.full.fetch_add(1, Ordering::SeqCst);
                was
            }
            Err(Stop::Gone) => return Err(Stop::Gone),
        };
        self.acknowledged.defined.lock().unwrap().insert(key, is);
        Ok(())
    }

    /// Reads at every level: pairs are pairs, and what is read again is the same.
    pub(super) fn read_on(&mut self) {
        loop {
            match self.read() {
                Ok(()) => {}
                Err(Stop::Refused(_) | Stop::Full) if self.connection.ask("ROLLBACK").is_ok() => {}
                Err(_) => return,
            }
        }
    }

    fn read(&mut self) -> Done {
        let level = *self.random.pick(&ALL);
        let locks = *self.random.pick(&["", "", " FOR SHARE"]);
        self.connection.ask(&format!("SET TRANSACTION ISOLATION LEVEL {level}"))?;
        self.connection.ask("BEGIN")?;
        let from = self.random.below(3000);
        let index = *self.random.pick(&["PRIMARY", "code", "balance"]);
        let (some, where_it_is) = match index {
            "PRIMARY" => (format!("id BETWEEN {from} AND {}", from + 400), "id"),
            "code" => ("code >= ''".to_owned(), "code"),
            _ => (format!("balance BETWEEN -{from} AND {from}"), "balance"),
        };
        let read = format!(
            "SELECT COUNT(*), SUM(balance), SUM(CRC32(CONCAT_WS(',', id, side, code, note))) \
             FROM pairs FORCE INDEX ({index}) WHERE {some}{locks}"
        );
        let mut seen: Option<String> = None;
        for _ in 0..3 {
            let sums = self.connection.ask(&read)?;
            let sum = sums.split(' ').nth(1).unwrap();
            // Statements that lock without gaps meet pairs of which one side has just come.
            if level != "READ UNCOMMITTED" && (locks.is_empty() || LOCKING.contains(&level)) {
                let whole = sum == "0" || sum == "NULL";
                assert!(whole, "{level}: by {where_it_is}{locks}: {sums}");
            }
            if LOCKING.contains(&level) {
                let first = seen.get_or_insert_with(|| sums.clone());
                assert_eq!(*first, sums, "{level}: by {where_it_is}{locks}, read again");
            }
        }
        self.connection.ask("COMMIT").map(drop)
    }
}

/// Whether a table has its extra index or column.
pub(super) fn is_defined(
    connection: &mut Connection,
    table: &str,
    what: &str,
) -> Result<bool, Stop> {
    let (view, name) = match what {
        "index" => ("statistics", "index_name"),
        _ => ("columns", "column_name"),
    };
    let found = connection.ask(&format!(
        "SELECT COUNT(*) > 0 FROM information_schema.{view} \
         WHERE table_schema = 'bulk' AND table_name = '{table}' AND {name} = 'extra'"
    ))?;
    Ok(found == "1")
}
