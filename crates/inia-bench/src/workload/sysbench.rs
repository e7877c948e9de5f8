//! sysbench's OLTP scripts: its table, its statements, its counts.
//!
//! The tables are sysbench's own, byte for byte the same kind of rows, so that stock sysbench can
//! run on what was loaded here and the other way round.

use super::written::{Notes, Written};
use super::{DataSet, Parameters, Rows, Script, Setting, Stage, Table, Tally, Workload};
use crate::random::{Distribution, Picker, Rng};
use crate::session::{Session, Statement};
use crate::target::{Answer, Class, Dialect, Failure, Product, Result};
use std::fmt::Write;
use std::sync::Arc;

pub(super) const WORKLOADS: &[&dyn Workload] = &[
    &POINT_SELECT,
    &READ_ONLY,
    &READ_WRITE,
    &WRITE_ONLY,
    &UPDATE_INDEX,
    &UPDATE_NON_INDEX,
    &INSERT,
    &DELETE,
];

const C: &str = "###########-###########-###########-###########-###########-###########-\
                 ###########-###########-###########-###########";
const PAD: &str = "###########-###########-###########-###########-###########";
/// Rows of each range.
const RANGE: i64 = 100;
/// Point selects of each transaction.
const POINTS: usize = 10;
/// How often in a row a transaction may find a row gone that another client replaces.
const RACES: u32 = 1_000;

/// Nothing: what the scripts are made from.
const NONE: Oltp = Oltp {
    name: "",
    about: "",
    transaction: false,
    points: 0,
    ranges: false,
    index_updates: false,
    other_updates: false,
    replaces: false,
    row_count: RowCountChange::Neither,
};

static POINT_SELECT: Oltp = Oltp {
    name: "oltp_point_select",
    about: "sysbench: one row by primary key",
    points: 1,
    ..NONE
};

static READ_ONLY: Oltp = Oltp {
    name: "oltp_read_only",
    about: "sysbench: 10 rows by key and 4 ranges of 100 in a transaction",
    transaction: true,
    points: POINTS,
    ranges: true,
    ..NONE
};

static READ_WRITE: Oltp = Oltp {
    name: "oltp_read_write",
    about: "sysbench: the reads of read-only, two updates, a delete and an insert",
    transaction: true,
    points: POINTS,
    ranges: true,
    index_updates: true,
    other_updates: true,
    replaces: true,
    ..NONE
};

static WRITE_ONLY: Oltp = Oltp {
    name: "oltp_write_only",
    about: "sysbench: two updates, a delete and an insert in a transaction",
    transaction: true,
    index_updates: true,
    other_updates: true,
    replaces: true,
    ..NONE
};

static UPDATE_INDEX: Oltp = Oltp {
    name: "oltp_update_index",
    about: "sysbench: one row's indexed column",
    index_updates: true,
    ..NONE
};

static UPDATE_NON_INDEX: Oltp = Oltp {
    name: "oltp_update_non_index",
    about: "sysbench: one row's column without an index",
    other_updates: true,
    ..NONE
};

static INSERT: Oltp = Oltp {
    name: "oltp_insert",
    about: "sysbench: one row a statement, the server counts the key",
    row_count: RowCountChange::Insert,
    ..NONE
};

static DELETE: Oltp = Oltp {
    name: "oltp_delete",
    about: "sysbench: one row by key, which may be gone already",
    row_count: RowCountChange::Delete,
    ..NONE
};

/// Scripts of one statement that change how many rows there are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowCountChange {
    Neither,
    Insert,
    Delete,
}

/// One of the scripts.
///
/// Wide: one flag for each step of a script.
#[derive(Clone, Copy)]
struct Oltp {
    name: &'static str,
    about: &'static str,
    /// All of it between BEGIN and COMMIT.
    transaction: bool,
    points: usize,
    /// The four range queries.
    ranges: bool,
    /// An update of `k`.
    index_updates: bool,
    /// An update of `c`.
    other_updates: bool,
    /// A delete, and an insert of the same key.
    replaces: bool,
    row_count: RowCountChange,
}

impl Workload for Oltp {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn family(&self) -> &'static str {
        "sysbench OLTP"
    }

    fn defaults(&self) -> Parameters {
        Parameters { rows: 1_000_000, distribution: Distribution::SPECIAL, ..Parameters::default() }
    }

    fn data(&self, parameters: &Parameters, dialect: Dialect) -> Result<DataSet> {
        let tables = (1..=parameters.scale).map(|n| table(n, parameters.rows, dialect)).collect();
        let mut set = DataSet::new("sbtest", parameters.seed, tables);
        if dialect == Dialect::Postgres {
            // Rows that bring their keys along do not move the counter on.
            let rows = parameters.rows;
            let counted = |n| format!("SELECT setval('sbtest{n}_id_seq', {rows})");
            set.finish.extend((1..=parameters.scale).map(counted));
        }
        Ok(set)
    }

    fn keeps_data(&self) -> bool {
        self.row_count == RowCountChange::Neither
    }

    fn stage(&self, setting: &Setting, session: &mut Session) -> Result<Arc<dyn Stage>> {
        let (tables, rows) = (setting.parameters.scale, setting.parameters.rows);
        // The null server's answers are the same whatever it is asked.
        let checked = setting.facts.product != Product::Floor;
        let wanted = (tables * rows) as i64;
        let held = if checked { total(session, tables, "COUNT(*)")? } else { wanted };
        if held != wanted {
            let message = format!("{held} rows in {tables} tables that should have {rows} each");
            return Err(Failure::wrong(message));
        }
        let picker = setting.parameters.distribution.picker(rows);
        let sum = if checked { total(session, tables, "SUM(k)")? } else { 0 };
        let written = Written::new(tables * rows);
        // PostgreSQL's isolation lets a statement that has waited for a row find it gone where
        // another transaction has deleted it and inserted it again.
        let races = setting.dialect() == Dialect::Postgres && setting.clients > 1;
        let (setting, oltp) = (setting.clone(), *self);
        let shared = Shared { setting, tables, held, sum, checked, races, picker, written, oltp };
        if checked && self.ranges {
            let seed = shared.setting.parameters.seed;
            shared.compare(session, &mut Rng::stream(seed, u64::MAX))?;
        }
        Ok(Arc::new(shared))
    }
}

/// An aggregate over all tables.
fn total(session: &mut Session, tables: u64, of: &str) -> Result<i64> {
    let one = |n| session.integer(&format!("SELECT COALESCE({of}, 0) FROM sbtest{n}"));
    (1..=tables).map(one).sum()
}

/// Whether a value has the form of `c`: eleven groups of eleven digits, hyphens between.
fn is_c(value: Option<&[u8]>) -> bool {
    value.is_some_and(|c| c.len() >= C.len() && c[11] == b'-' && c[0].is_ascii_digit())
}

fn table(n: u64, rows: u64, dialect: Dialect) -> Table {
    let id = match dialect {
        Dialect::MySql => "id INTEGER NOT NULL AUTO_INCREMENT",
        Dialect::Postgres => "id SERIAL",
        Dialect::Sqlite | Dialect::DuckDb => "id INTEGER",
    };
    let create = format!(
        "CREATE TABLE sbtest{n} ({id}, k INTEGER DEFAULT 0 NOT NULL, \
         c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id)){}",
        dialect.table_options()
    );
    let fill = move |row: u64, rng: &mut Rng, out: &mut Rows| {
        let (mut c, mut pad) = (String::with_capacity(120), String::with_capacity(60));
        rng.fill(C, &mut c);
        rng.fill(PAD, &mut pad);
        let k = Distribution::SPECIAL.picker(rows).pick(rng);
        out.put(row as i64 + 1).put(k).put(&c).put(&pad).end();
    };
    Table {
        name: format!("sbtest{n}"),
        create,
        columns: "id, k, c, pad",
        rows,
        rows_per_call: 1,
        fill: Arc::new(fill),
        indexes: vec![format!("CREATE INDEX k_{n} ON sbtest{n}(k)")],
    }
}

struct Shared {
    setting: Setting,
    tables: u64,
    /// Rows of all tables at the start.
    held: i64,
    /// The sum of `k` then.
    sum: i64,
    /// Whether answers mean anything.
    checked: bool,
    /// Whether a row may be gone while another client replaces it.
    races: bool,
    picker: Picker,
    written: Arc<Written>,
    oltp: Oltp,
}

impl Stage for Shared {
    fn script(&self, client: usize) -> Box<dyn Script> {
        Box::new(Client {
            picker: self.picker.clone(),
            values: self.setting.values_of(client),
            tables: self.tables,
            checked: self.checked,
            races: self.races,
            raced: 0,
            notes: self.written.notes(),
            oltp: self.oltp,
            statements: Vec::new(),
            commit: None,
            text: String::new(),
            inserted: 0,
            deleted: 0,
            added: 0,
        })
    }

    fn check(&self, session: &mut Session, tally: &Tally) -> Result<()> {
        let sum = |name| tally.get(name).copied().unwrap_or(0);
        let expected = self.held + sum("inserted") - sum("deleted");
        let rows = total(session, self.tables, "COUNT(*)")?;
        if rows != expected {
            return Err(Failure::wrong(format!("{rows} rows are left, not {expected}")));
        }
        // What a deleted row held is not known.
        if !self.oltp.replaces && self.oltp.row_count != RowCountChange::Delete {
            let (found, expected) = (total(session, self.tables, "SUM(k)")?, self.sum + sum("k"));
            if found != expected {
                return Err(Failure::wrong(format!("the sum of k is {found}, not {expected}")));
            }
        }
        self.written
            .check(session, |n, ids| format!("SELECT id, c FROM sbtest{n} WHERE id IN ({ids})"))?;
        let broken = format!("SUM(CASE WHEN LENGTH(c) = {} THEN 0 ELSE 1 END)", C.len());
        let broken = total(session, self.tables, &broken)?;
        if broken != 0 {
            return Err(Failure::wrong(format!("{broken} rows have another c than was written")));
        }
        Ok(())
    }
}

impl Shared {
    /// The four range queries must answer what can be computed from the rows themselves.
    fn compare(&self, session: &mut Session, rng: &mut Rng) -> Result<()> {
        for n in 1..=self.tables {
            let (from, width) = (self.picker.pick(rng), RANGE - 1);
            let range = format!("FROM sbtest{n} WHERE id BETWEEN {from} AND {}", from + width);
            let rows = session.query(&format!("SELECT k, c {range}"))?;
            let sum: i64 = (0..rows.rows()).filter_map(|row| rows.int(row, 0)).sum();
            let column = |answer: &Answer, column: usize| -> Vec<String> {
                let cells = (0..answer.rows()).map(|row| answer.text(row, column));
                cells.map(|cell| cell.unwrap_or_default().trim_end().to_owned()).collect()
            };
            let mut plain = column(rows, 1);
            plain.sort_unstable();
            let mut distinct = plain.clone();
            distinct.dedup();
            session.expect(&[(&format!("SELECT SUM(k) {range}"), sum)])?;
            let mut unsorted = column(session.query(&format!("SELECT c {range}"))?, 0);
            unsorted.sort_unstable();
            let ordered = format!("SELECT c {range} ORDER BY c");
            let ordered = column(session.query(&ordered)?, 0);
            let unique = format!("SELECT DISTINCT c {range} ORDER BY c");
            let unique = column(session.query(&unique)?, 0);
            if unsorted != plain || ordered != plain || unique != distinct {
                let message = format!("table {n}, range from {from}: not the rows that are there");
                return Err(Failure::wrong(message));
            }
        }
        Ok(())
    }
}

/// Whether each value and the next one stand so.
fn rising(answer: &Answer, so: fn(&[u8], &[u8]) -> bool) -> bool {
    (1..answer.rows()).all(|row| match (answer.bytes(row - 1, 0), answer.bytes(row, 0)) {
        (Some(before), Some(value)) => so(before, value),
        _ => false,
    })
}

/// The statements on one table, as far as the script has them.
#[derive(Clone, Copy)]
struct OneTable {
    /// Its number.
    n: u64,
    point: Option<Statement>,
    /// Plain, sum, ordered, distinct.
    ranges: Option<[Statement; 4]>,
    index_update: Option<Statement>,
    other_update: Option<Statement>,
    delete: Option<Statement>,
    insert: Option<Statement>,
}

impl OneTable {
    fn prepare(session: &mut Session, n: u64, oltp: &Oltp) -> Result<OneTable> {
        let mut some = |wanted: bool, text: &str| match wanted {
            true => session.statement(&text.replace("sbtest", &format!("sbtest{n}"))).map(Some),
            false => Ok(None),
        };
        let range = "FROM sbtest WHERE id BETWEEN ? AND ?";
        let plain = some(oltp.ranges, &format!("SELECT c {range}"))?;
        let sum = some(oltp.ranges, &format!("SELECT SUM(k) {range}"))?;
        let ordered = some(oltp.ranges, &format!("SELECT c {range} ORDER BY c"))?;
        let distinct = some(oltp.ranges, &format!("SELECT DISTINCT c {range} ORDER BY c"))?;
        let ranges = match (plain, sum, ordered, distinct) {
            (Some(plain), Some(sum), Some(ordered), Some(distinct)) => {
                Some([plain, sum, ordered, distinct])
            }
            _ => None,
        };
        let deletes = oltp.replaces || oltp.row_count == RowCountChange::Delete;
        let insert = "INSERT INTO sbtest (id, k, c, pad) VALUES (?, ?, ?, ?)";
        Ok(OneTable {
            n,
            point: some(oltp.points > 0, "SELECT c FROM sbtest WHERE id=?")?,
            ranges,
            index_update: some(oltp.index_updates, "UPDATE sbtest SET k=k+1 WHERE id=?")?,
            other_update: some(oltp.other_updates, "UPDATE sbtest SET c=? WHERE id=?")?,
            delete: some(deletes, "DELETE FROM sbtest WHERE id=?")?,
            insert: some(oltp.replaces, insert)?,
        })
    }
}

/// Wide: one prepared statement for each query of a script.
struct Client {
    picker: Picker,
    /// What is written.
    values: Rng,
    tables: u64,
    checked: bool,
    races: bool,
    /// How often in a row this transaction has found a row gone.
    raced: u32,
    notes: Notes,
    oltp: Oltp,
    statements: Vec<OneTable>,
    /// sysbench prepares COMMIT but, MySQL refusing that, not BEGIN.
    commit: Option<Statement>,
    text: String,
    inserted: i64,
    deleted: i64,
    /// By how much the sum of `k` has grown, as far as that is known.
    added: i64,
}

impl Client {
    /// One row must have been found.
    fn one(&self, rows: u64, what: &str, id: i64) -> Result<()> {
        if rows == 1 || !self.checked {
            return Ok(());
        }
        Err(Failure::wrong(format!("{what} of row {id} found {rows} rows")))
    }

    /// One row must have been changed; where another client may be replacing it, try again.
    fn changed(&self, rows: u64, what: &str, id: i64) -> Result<()> {
        let done = self.one(rows, what, id);
        match rows {
            0 if self.races && self.raced < RACES => {
                done.map_err(|failure| Failure { class: Class::Retry, ..failure })
            }
            _ => done,
        }
    }

    fn table(&self, rng: &mut Rng) -> &OneTable {
        &self.statements[rng.below(self.tables) as usize]
    }

    fn points(&self, session: &mut Session, rng: &mut Rng) -> Result<()> {
        let Some(point) = self.table(rng).point else { return Ok(()) };
        for _ in 0..self.oltp.points {
            let id = self.picker.pick(rng);
            let answer = session.run(point, &[id.into()])?;
            self.one(answer.rows() as u64, "select", id)?;
            if self.checked && !is_c(answer.bytes(0, 0)) {
                return Err(Failure::wrong(format!("row {id}: {:?}", answer.text(0, 0))));
            }
        }
        Ok(())
    }

    /// The range queries: each must find as many rows as the range has ids, in order if asked so.
    fn ranges(&self, session: &mut Session, rng: &mut Rng) -> Result<()> {
        for query in 0..4 {
            let Some(ranges) = self.table(rng).ranges else { return Ok(()) };
            let from = self.picker.pick(rng);
            let answer = session.run(ranges[query], &[from.into(), (from + RANGE - 1).into()])?;
            let held = RANGE.min(self.picker.rows() as i64 - from + 1);
            let right = match query {
                1 => answer.rows() == 1 && !answer.is_null(0, 0),
                0 => answer.rows() as i64 == held && is_c(answer.bytes(0, 0)),
                2 => answer.rows() as i64 == held && rising(answer, |a, b| a <= b),
                // Random values of a hundred digits are all different.
                _ => answer.rows() as i64 == held && rising(answer, |a, b| a < b),
            };
            if !right && self.checked {
                let message = format!("range {query} from {from}: {} rows", answer.rows());
                return Err(Failure::wrong(message));
            }
        }
        Ok(())
    }

    fn updates(&mut self, session: &mut Session, rng: &mut Rng) -> Result<()> {
        if let Some(update) = self.table(rng).index_update {
            let id = self.picker.pick(rng);
            self.changed(session.run(update, &[id.into()])?.affected(), "update of k", id)?;
        }
        let OneTable { n, other_update, .. } = *self.table(rng);
        if let Some(update) = other_update {
            let id = self.picker.pick(rng);
            self.text.clear();
            self.values.fill(C, &mut self.text);
            let params = [self.text.as_str().into(), id.into()];
            self.changed(session.run(update, &params)?.affected(), "update of c", id)?;
            self.notes.write(n, id, &self.text);
        }
        Ok(())
    }

    fn replace(&mut self, session: &mut Session, rng: &mut Rng) -> Result<()> {
        let OneTable { n, delete, insert, .. } = *self.table(rng);
        let (Some(delete), Some(insert)) = (delete, insert) else { return Ok(()) };
        let (id, k) = (self.picker.pick(rng), self.picker.pick(rng));
        self.changed(session.run(delete, &[id.into()])?.affected(), "delete", id)?;
        self.text.clear();
        self.values.fill(C, &mut self.text);
        let at = self.text.len();
        self.values.fill(PAD, &mut self.text);
        let (c, pad) = self.text.split_at(at);
        let params = [id.into(), k.into(), c.into(), pad.into()];
        self.one(session.run(insert, &params)?.affected(), "insert", id)?;
        self.notes.write(n, id, c);
        Ok(())
    }

    /// As text always, as sysbench does it; the server counts the key.
    fn insert(&mut self, session: &mut Session, rng: &mut Rng) -> Result<()> {
        let n = 1 + rng.below(self.tables);
        let (columns, id) = match session.dialect() {
            Dialect::MySql => ("id, k, c, pad", "0, "),
            Dialect::Postgres | Dialect::Sqlite | Dialect::DuckDb => ("k, c, pad", ""),
        };
        let k = self.picker.pick(rng);
        self.text.clear();
        let _ = write!(self.text, "INSERT INTO sbtest{n} ({columns}) VALUES ({id}{k}, '");
        self.values.fill(C, &mut self.text);
        self.text.push_str("', '");
        self.values.fill(PAD, &mut self.text);
        self.text.push_str("')");
        self.one(session.query(&self.text)?.affected(), "insert", 0)?;
        self.inserted += 1;
        self.added += k;
        Ok(())
    }

    fn delete(&mut self, session: &mut Session, rng: &mut Rng) -> Result<()> {
        let Some(delete) = self.table(rng).delete else { return Ok(()) };
        let id = self.picker.pick(rng);
        let gone = session.run(delete, &[id.into()])?.affected();
        if gone > 1 {
            return self.one(gone, "delete", id);
        }
        self.deleted += gone as i64;
        Ok(())
    }
}

impl Script for Client {
    fn start(&mut self, session: &mut Session) -> Result<()> {
        for n in 1..=self.tables {
            self.statements.push(OneTable::prepare(session, n, &self.oltp)?);
        }
        if self.oltp.transaction {
            self.commit = Some(session.statement("COMMIT")?);
        }
        Ok(())
    }

    fn transaction(&mut self, session: &mut Session, rng: &mut Rng) -> Result<usize> {
        self.notes.begin();
        match self.work(session, rng) {
            Ok(()) => {
                self.raced = 0;
                self.notes.commit();
                Ok(0)
            }
            Err(failure) if self.races && self.raced < RACES => {
                self.raced += 1;
                // The row that was gone when it was to be deleted is there when it is inserted.
                let class = match failure.class {
                    Class::Duplicate => Class::Retry,
                    class => class,
                };
                Err(Failure { class, ..failure })
            }
            Err(failure) => Err(failure),
        }
    }

    fn tally(&self, tally: &mut Tally) {
        self.notes.hand_over();
        *tally.entry("inserted").or_default() += self.inserted;
        *tally.entry("deleted").or_default() += self.deleted;
        *tally.entry("k").or_default() += self.added;
    }
}

impl Client {
    fn work(&mut self, session: &mut Session, rng: &mut Rng) -> Result<()> {
        match self.oltp.row_count {
            RowCountChange::Insert => self.insert(session, rng)?,
            RowCountChange::Delete => self.delete(session, rng)?,
            RowCountChange::Neither => {
                if self.oltp.transaction {
                    session.begin()?;
                }
                self.points(session, rng)?;
                self.ranges(session, rng)?;
                self.updates(session, rng)?;
                self.replace(session, rng)?;
                if let Some(commit) = self.commit {
                    session.run(commit, &[])?;
                }
                self.added += i64::from(self.oltp.index_updates);
            }
        }
        Ok(())
    }
}
