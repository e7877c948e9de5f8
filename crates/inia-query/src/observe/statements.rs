//! Sums over statements: by their normal form and by their kind, and each session's last ones.
//!
//! A session notes its statements in a place of its own, under a lock that nobody else takes but
//! for the moment of a query over these sums; so sessions share no line of memory here. What a
//! session has grouped goes to the shared groups when there is much of it, and when it ends.
//!
//! Invariant: the shared groups are at most [`MAX_GROUPS`]; statements beyond them are counted
//! together in the group without a form.

use super::levels::{Account, Level, Levels, Sum};
use inia_parser::StatementDigest;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Statements that a session remembers.
const HISTORY: usize = 10;
/// Forms that are kept (`performance_schema_digests_size`).
const MAX_GROUPS: usize = 10_000;
/// Forms that a session keeps for itself.
const MAX_OWN: usize = 128;
/// Bytes of a statement's text that are kept (`performance_schema_max_sql_text_length`).
const MAX_TEXT: usize = 1024;
/// Picoseconds in a microsecond.
pub(crate) const PICOS: u64 = 1_000_000;

/// Sums over statements.
///
/// Wide: one field for each thing that is summed up.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    /// How many there were.
    pub count: u64,
    /// Microseconds: all, the least and the most.
    pub wait: u64,
    /// The least.
    pub min: u64,
    /// The most.
    pub max: u64,
    /// Microseconds of waits for locks.
    pub lock: u64,
    /// Statements that failed.
    pub errors: u64,
    /// Warnings.
    pub warnings: u64,
    /// Rows that were changed.
    pub affected: u64,
    /// Rows that clients got.
    pub sent: u64,
    /// Rows that were read.
    pub examined: u64,
    /// Full joins, scans, sorted rows, and statements that used no index.
    pub joins: u64,
    /// Scans of whole tables.
    pub scans: u64,
    /// Rows that were sorted, and statements without an index.
    pub sorted: u64,
    /// Statements that used no index.
    pub no_index: u64,
}

impl Sums {
    pub(crate) fn add(&mut self, other: &Sums) {
        self.min = match self.count {
            0 => other.min,
            _ => self.min.min(other.min),
        };
        self.max = self.max.max(other.max);
        let own = [
            (&mut self.count, other.count),
            (&mut self.wait, other.wait),
            (&mut self.lock, other.lock),
            (&mut self.errors, other.errors),
            (&mut self.warnings, other.warnings),
            (&mut self.affected, other.affected),
            (&mut self.sent, other.sent),
            (&mut self.examined, other.examined),
            (&mut self.joins, other.joins),
            (&mut self.scans, other.scans),
            (&mut self.sorted, other.sorted),
            (&mut self.no_index, other.no_index),
        ];
        own.into_iter().for_each(|(sum, more)| *sum += more);
    }
}

/// A statement that has ended.
#[derive(Clone, Debug)]
pub struct Done {
    /// Its kind, as `Com_…` names it.
    pub kind: &'static str,
    /// The default database.
    pub database: Option<String>,
    /// Its normal form, where it has one.
    pub form: Option<StatementDigest>,
    /// Its text without passwords.
    pub text: String,
    /// When it ended, in microseconds since 1970.
    pub at: i64,
    /// What it adds to sums.
    pub sums: Sums,
    /// Its error: number, SQLSTATE and text.
    pub error: Option<(u16, String, String)>,
}

/// A statement of a session's history.
#[derive(Clone, Debug)]
pub struct Current {
    /// Its number in the session, from 1 on.
    pub number: u64,
    /// What it did.
    pub done: Done,
}

/// Statements of one form in one database.
#[derive(Clone, Debug, Default)]
pub struct Grouped {
    /// The default database.
    pub database: Option<String>,
    /// The form; `None` for all that are too many.
    pub form: Option<StatementDigest>,
    /// Sums.
    pub sums: Sums,
    /// First and last end, in microseconds since 1970.
    pub seen: (i64, i64),
    /// The longest statement: text, end, and microseconds.
    pub sample: (String, i64, u64),
    /// How many statements took how long, by the number of the interval.
    pub times: BTreeMap<u16, u64>,
}

impl Grouped {
    fn of(done: &Done) -> Grouped {
        let mut text = done.text.clone();
        cut(&mut text);
        Grouped {
            database: done.database.clone(),
            form: done.form.clone(),
            sums: done.sums.clone(),
            seen: (done.at, done.at),
            sample: (text, done.at, done.sums.wait),
            times: BTreeMap::from([(interval(done.sums.wait), 1)]),
        }
    }

    fn add(&mut self, other: &Grouped) {
        if self.sums.count == 0 || other.sample.2 > self.sample.2 {
            self.sample.clone_from(&other.sample);
        }
        self.seen = match self.sums.count {
            0 => other.seen,
            _ => (self.seen.0.min(other.seen.0), self.seen.1.max(other.seen.1)),
        };
        self.sums.add(&other.sums);
        for (interval, count) in &other.times {
            *self.times.entry(*interval).or_default() += count;
        }
    }

    /// Microseconds within which so many thousandths of the statements ended: the upper end of an
    /// interval.
    pub fn quantile(&self, thousandths: u64) -> u64 {
        let wanted = (self.sums.count * thousandths).div_ceil(1000);
        let mut passed = 0;
        for (interval, count) in &self.times {
            passed += count;
            if passed >= wanted {
                return upper_end(*interval);
            }
        }
        0
    }
}

/// Intervals grow by the fiftieth root of ten, and the first ends at ten microseconds.
fn interval(micros: u64) -> u16 {
    if micros < 10 {
        return 0;
    }
    let decades = (micros as f64 / 10.0).log10();
    ((decades * 50.0) as u16 + 1).min(449)
}

fn upper_end(interval: u16) -> u64 {
    (10.0 * 10f64.powf(f64::from(interval) / 50.0)).round() as u64
}

fn cut(text: &mut String) {
    if text.len() > MAX_TEXT {
        let mut end = MAX_TEXT;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
    }
}

type Key = (Option<String>, Option<StatementDigest>);
type Groups = HashMap<Key, Grouped>;
/// Sums by the kinds of statements.
pub(crate) type Kinds = BTreeMap<&'static str, Sums>;

impl Sum for Kinds {
    fn add(&mut self, other: &Kinds) {
        for (kind, sums) in other {
            self.entry(kind).or_default().add(sums);
        }
    }

    fn is_empty(&self) -> bool {
        BTreeMap::is_empty(self)
    }
}

/// What one session has noted.
#[derive(Debug, Default)]
pub struct History(Mutex<Noted>);

#[derive(Debug, Default)]
struct Noted {
    groups: Groups,
    kinds: Kinds,
    last: VecDeque<Current>,
    number: u64,
    prepared: BTreeMap<u32, PreparedInstance>,
}

/// A prepared statement that a session has.
#[derive(Clone, Debug)]
pub struct PreparedInstance {
    /// The name of PREPARE; `None` for one of the protocol.
    pub name: Option<String>,
    /// Its text.
    pub text: String,
    /// Microseconds that its preparation took.
    pub prepare: u64,
    /// Sums over its executions.
    pub sums: Sums,
}

impl History {
    /// A statement has been prepared.
    pub fn prepared(&self, id: u32, text: String, prepare: u64) {
        let instance = PreparedInstance { name: None, text, prepare, sums: Sums::default() };
        self.0.lock().prepared.insert(id, instance);
    }

    /// PREPARE has given a statement its name.
    pub fn name_prepared(&self, id: u32, name: &str) {
        if let Some(instance) = self.0.lock().prepared.get_mut(&id) {
            instance.name = Some(name.to_owned());
        }
    }

    /// A prepared statement has been executed.
    pub fn executed(&self, id: u32, sums: &Sums) {
        if let Some(instance) = self.0.lock().prepared.get_mut(&id) {
            instance.sums.add(sums);
        }
    }

    /// A prepared statement is gone; all are where none is named.
    pub fn unprepared(&self, id: Option<u32>) {
        let mut noted = self.0.lock();
        match id {
            Some(id) => drop(noted.prepared.remove(&id)),
            None => noted.prepared.clear(),
        }
    }

    /// The prepared statements by their numbers.
    pub(crate) fn all_prepared(&self) -> BTreeMap<u32, PreparedInstance> {
        self.0.lock().prepared.clone()
    }

    /// The number of the last statement.
    pub fn number(&self) -> u64 {
        self.0.lock().number
    }

    /// The last statements, oldest first.
    pub fn last(&self) -> Vec<Current> {
        self.0.lock().last.iter().cloned().collect()
    }

    /// Sums by the kinds of statements.
    pub(crate) fn kinds(&self) -> Kinds {
        self.0.lock().kinds.clone()
    }

    /// The sums by kinds, which begin anew.
    pub(crate) fn take_kinds(&self) -> Kinds {
        std::mem::take(&mut self.0.lock().kinds)
    }

    /// Forgets the last statements.
    fn forget(&self) {
        self.0.lock().last.clear();
    }
}

/// What sessions that have ended leave, and forms that are too many for their sessions.
#[derive(Default)]
pub struct Statements {
    groups: Mutex<Groups>,
    pub(crate) kinds: Levels<Kinds>,
}

fn key_of(done: &Grouped) -> Key {
    (done.database.clone(), done.form.clone())
}

fn merge(into: &mut Groups, more: impl Iterator<Item = Grouped>, limit: usize) {
    for group in more {
        let mut key = key_of(&group);
        if into.len() >= limit && !into.contains_key(&key) {
            key = (None, None);
        }
        let (database, form) = key.clone();
        let found = into.entry(key);
        found.or_insert_with(|| Grouped { database, form, ..Grouped::default() }).add(&group);
    }
}

impl Statements {
    /// Notes a statement of a session.
    pub fn note(&self, own: &History, done: Done) {
        let mut noted = own.0.lock();
        noted.kinds.entry(done.kind).or_default().add(&done.sums);
        let one = Grouped::of(&done);
        merge(&mut noted.groups, std::iter::once(one), usize::MAX);
        noted.number += 1;
        let number = noted.number;
        let mut done = done;
        cut(&mut done.text);
        if noted.last.len() == HISTORY {
            noted.last.pop_front();
        }
        noted.last.push_back(Current { number, done });
        let full = noted.groups.len() >= MAX_OWN;
        let groups = if full { std::mem::take(&mut noted.groups) } else { Groups::new() };
        drop(noted);
        if full {
            merge(&mut self.groups.lock(), groups.into_values(), MAX_GROUPS);
        }
    }

    /// A session of an account ends.
    pub(crate) fn end(&self, account: Account, own: &History) {
        let noted = std::mem::take(&mut *own.0.lock());
        if noted.number == 0 {
            return;
        }
        merge(&mut self.groups.lock(), noted.groups.into_values(), MAX_GROUPS);
        self.kinds.add(account, &noted.kinds);
    }

    /// All groups, those of live sessions too.
    pub(crate) fn groups<'s>(&self, live: impl Iterator<Item = &'s History>) -> Vec<Grouped> {
        let mut all = self.groups.lock().clone();
        for own in live {
            let groups: Vec<Grouped> = own.0.lock().groups.values().cloned().collect();
            merge(&mut all, groups.into_iter(), MAX_GROUPS);
        }
        let mut all: Vec<Grouped> = all.into_values().collect();
        all.sort_by(|a, b| (&a.database, &a.form).cmp(&(&b.database, &b.form)));
        all
    }

    /// TRUNCATE of the table of groups.
    pub(crate) fn clear_groups<'s>(&self, live: impl Iterator<Item = &'s History>) {
        self.groups.lock().clear();
        live.for_each(|own| own.0.lock().groups.clear());
    }

    /// TRUNCATE of another table of statements.
    pub(crate) fn clear<'s>(
        &self,
        table: &str,
        live: impl Iterator<Item = (Account, &'s History)>,
    ) {
        match Level::of(table) {
            _ if !table.starts_with("events_statements_") => {}
            Some(level) => {
                self.kinds.empty(level, live.map(|(account, own)| (account, own.take_kinds())));
            }
            None => live.for_each(|(_, own)| own.forget()),
        }
    }
}
