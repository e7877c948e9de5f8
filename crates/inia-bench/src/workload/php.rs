//! PHPTestSuite's table `normal` and its 13 reads, each a workload of its own.
//!
//! Rows are spread so that the size of every answer is known: row `id` stands at place
//! `place(id)` of a fixed mixing of 0..rows; its country is the place modulo the countries, its
//! state the next digit. With 1,000,000 rows, 200 countries and 50 states each country has 5,000
//! rows and each of its states 100.

use super::{DataSet, Parameters, Rows, Script, Setting, Stage, Table, Tally, Workload};
use crate::random::{Distribution, Picker, Rng};
use crate::session::{Session, Statement};
use crate::target::{Dialect, Failure, Result};
use std::sync::Arc;

pub(super) const WORKLOADS: &[&dyn Workload] = &[
    &READS[0], &READS[1], &READS[2], &READS[3], &READS[4], &READS[5], &READS[6], &READS[7],
    &READS[8], &READS[9], &READS[10], &READS[11], &READS[12],
];

static READS: [Read; 13] = [
    read("READ_PK_POINT", "SELECT name FROM normal WHERE id = ?", Keys::Id),
    read("READ_KEY_POINT", "SELECT name FROM normal WHERE country_id = ?", Keys::Country),
    limited(
        "READ_KEY_POINT_LIMIT",
        "SELECT name FROM normal WHERE country_id = ? LIMIT 5",
        Keys::Country,
        5,
    ),
    read(
        "READ_KEY_POINT_NO_DATA",
        "SELECT state_id FROM normal WHERE country_id = ?",
        Keys::Country,
    ),
    limited(
        "READ_KEY_POINT_NO_DATA_LIMIT",
        "SELECT state_id FROM normal WHERE country_id = ? LIMIT 5",
        Keys::Country,
        5,
    ),
    read("READ_PK_POINT_INDEX", "SELECT id FROM normal WHERE id = ?", Keys::Id),
    read("READ_PK_RANGE", "SELECT min(dob) FROM normal WHERE id between ? and ?", Keys::IdRange),
    read(
        "READ_PK_RANGE_INDEX",
        "SELECT count(id) FROM normal WHERE id between ? and ?",
        Keys::IdCount,
    ),
    read(
        "READ_KEY_RANGE",
        "SELECT name FROM normal WHERE country_id = ? and state_id between ? and ?",
        Keys::States,
    ),
    limited(
        "READ_KEY_RANGE_LIMIT",
        "SELECT name FROM normal WHERE country_id = ? and state_id between ? and ? LIMIT 50",
        Keys::States,
        50,
    ),
    read(
        "READ_KEY_RANGE_NO_DATA",
        "SELECT city FROM normal WHERE country_id = ? and state_id between ? and ?",
        Keys::States,
    ),
    limited(
        "READ_KEY_RANGE_NO_DATA_LIMIT",
        "SELECT city FROM normal WHERE country_id = ? and state_id between ? and ? LIMIT 50",
        Keys::States,
        50,
    ),
    read("READ_FTS", "SELECT min(dob) FROM normal", Keys::None),
];

const COUNTRIES: u64 = 200;
const STATES: u64 = 50;
/// Rows of the primary key ranges.
const ID_RANGE: u64 = 5_000;
/// States of the secondary key ranges.
const STATE_RANGE: u64 = 11;

const fn read(name: &'static str, sql: &'static str, keys: Keys) -> Read {
    limited(name, sql, keys, u64::MAX)
}

const fn limited(name: &'static str, sql: &'static str, keys: Keys, limit: u64) -> Read {
    Read { name, sql, keys, cell: Cell::of(sql), limit }
}

/// What a row of an answer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    Id,
    Name,
    State,
    City,
    /// One value made of many rows.
    Aggregate,
}

impl Cell {
    /// By the letter behind `SELECT `, and the one after that.
    const fn of(sql: &str) -> Cell {
        let text = sql.as_bytes();
        match (text[7], text[8]) {
            (b'i', _) => Cell::Id,
            (b'n', _) => Cell::Name,
            (b's', _) => Cell::State,
            (b'c', b'i') => Cell::City,
            _ => Cell::Aggregate,
        }
    }
}

/// What a query looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keys {
    /// One id.
    Id,
    /// One country.
    Country,
    /// Ids from and to, for an aggregate.
    IdRange,
    /// The same, and the aggregate counts.
    IdCount,
    /// A country, states from and to.
    States,
    /// Everything.
    None,
}

#[derive(Clone, Copy)]
struct Read {
    name: &'static str,
    sql: &'static str,
    keys: Keys,
    cell: Cell,
    limit: u64,
}

impl Workload for Read {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.sql
    }

    fn family(&self) -> &'static str {
        "PHPTestSuite"
    }

    fn unit(&self) -> &'static str {
        "queries"
    }

    fn defaults(&self) -> Parameters {
        Parameters { rows: 1_000_000, distribution: Distribution::Uniform, ..Parameters::default() }
    }

    fn data(&self, parameters: &Parameters, dialect: Dialect) -> Result<DataSet> {
        let table = normal(parameters.rows, parameters.seed, dialect);
        Ok(DataSet::new("persons", parameters.seed, vec![table]))
    }

    fn draws(&self) -> bool {
        self.keys != Keys::None
    }

    /// Asks a few of the script's questions and compares the whole answers with the generator.
    fn stage(&self, setting: &Setting, session: &mut Session) -> Result<Arc<dyn Stage>> {
        let (rows, seed) = (setting.parameters.rows, setting.parameters.seed);
        let held = session.integer("SELECT COUNT(*) FROM normal")?;
        if held as u64 != rows {
            return Err(Failure::wrong(format!("normal has {held} rows, not {rows}")));
        }
        let ids = setting.parameters.distribution.picker(rows);
        let countries = setting.parameters.distribution.picker(COUNTRIES);
        let mut client = Client { read: *self, ids, countries, rows, statement: None };
        client.start(session)?;
        let mut rng = Rng::stream(seed, u64::MAX);
        let questions = if self.keys == Keys::None { 1 } else { 5 };
        for _ in 0..questions {
            let keys = client.keys(&mut rng);
            client.ask(session, &keys)?;
            verify(self, &keys, rows, seed, session)?;
        }
        Ok(Arc::new(Shared { client }))
    }
}

/// A fixed mixing of 0..rows: multiplication by a number without a common divisor.
pub(super) fn place(id: u64, rows: u64) -> u64 {
    (u128::from(id - 1) * u128::from(step(rows)) % u128::from(rows)) as u64
}

/// Every id with its place.
fn places(rows: u64) -> impl Iterator<Item = (u64, u64)> {
    let step = step(rows) % rows;
    let next = move |&(id, place): &(u64, u64)| {
        let place = place + step;
        (id < rows).then(|| (id + 1, if place >= rows { place - rows } else { place }))
    };
    std::iter::successors(Some((1, 0)), next)
}

/// A number near the golden section of `rows` that shares no divisor with it.
fn step(rows: u64) -> u64 {
    let mut step = (rows as f64 * 0.618_033_988) as u64 | 1;
    while divisor(step, rows) != 1 {
        step += 1;
    }
    step
}

fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

fn country(place: u64) -> u64 {
    place % COUNTRIES + 1
}

fn state(place: u64) -> u64 {
    place / COUNTRIES % STATES + 1
}

/// How many of 0..rows have this country, and a state from..=to.
fn held(rows: u64, country: u64, from: u64, to: u64) -> u64 {
    let period = COUNTRIES * STATES;
    (from..=to.min(STATES))
        .map(|state| {
            let first = (state - 1) * COUNTRIES + country - 1;
            if rows > first { (rows - first - 1) / period + 1 } else { 0 }
        })
        .sum()
}

/// What the generator of a row gives, as far as answers are compared.
struct Person {
    name: String,
    dob: String,
    city: String,
}

fn person(rng: &mut Rng) -> Person {
    let mut name = String::with_capacity(24);
    rng.fill("@@@@@@@ @@@@@@@@@", &mut name);
    let (year, month, day) = (rng.between(1940, 1999), rng.between(1, 12), rng.between(1, 28));
    let mut city = String::with_capacity(12);
    rng.fill("@@@@@@@@@@@@", &mut city);
    Person { name, dob: format!("{year}-{month:02}-{day:02}"), city }
}

fn normal(rows: u64, _seed: u64, dialect: Dialect) -> Table {
    let create = match dialect {
        Dialect::MySql => {
            "CREATE TABLE IF NOT EXISTS `normal` (`id` int(10) unsigned NOT NULL auto_increment, \
             `name` varchar(64) NOT NULL default '', `email` varchar(64) NOT NULL default '', \
             `password` varchar(64) NOT NULL default '', `dob` date default NULL, \
             `address` varchar(128) NOT NULL default '', `city` varchar(64) NOT NULL default '', \
             `state_id` tinyint(3) unsigned NOT NULL default '0', \
             `zip` varchar(8) NOT NULL default '', \
             `country_id` smallint(5) unsigned NOT NULL default '0', PRIMARY KEY (`id`), \
             UNIQUE KEY `email` (`email`), \
             KEY `country_id` (`country_id`,`state_id`,`city`))"
                .to_owned()
        }
        Dialect::Postgres | Dialect::Sqlite | Dialect::DuckDb => format!(
            "CREATE TABLE normal ({}, name varchar(64) NOT NULL default '', \
             email varchar(64) NOT NULL default '', password varchar(64) NOT NULL default '', \
             dob date, address varchar(128) NOT NULL default '', \
             city varchar(64) NOT NULL default '', state_id smallint NOT NULL default 0, \
             zip varchar(8) NOT NULL default '', country_id smallint NOT NULL default 0)",
            dialect.counting_key("id")
        ),
    };
    let indexes = match dialect {
        Dialect::MySql => Vec::new(),
        _ => vec![
            "CREATE UNIQUE INDEX normal_email ON normal (email)".to_owned(),
            "CREATE INDEX normal_country ON normal (country_id, state_id, city)".to_owned(),
        ],
    };
    let fill = move |row: u64, rng: &mut Rng, out: &mut Rows| {
        let place = place(row + 1, rows);
        let Person { name, dob, city } = person(rng);
        let [mut password, mut address] = [const { String::new() }; 2];
        rng.letters(32, &mut password);
        rng.fill("### @@@@@@@@@@@@ Street, Building ##, Floor #, Door ###", &mut address);
        let mut zip = String::new();
        rng.fill("#####", &mut zip);
        let email = format!("{}.{row}@example.org", name.replace(' ', "."));
        out.put(row as i64 + 1).put(&name).put(&email).put(&password).put(&dob);
        out.put(&address).put(&city).put(state(place) as i64).put(&zip);
        out.put(country(place) as i64).end();
    };
    Table {
        name: "normal".into(),
        create,
        columns: "id, name, email, password, dob, address, city, state_id, zip, country_id",
        rows,
        rows_per_call: 1,
        fill: Arc::new(fill),
        indexes,
    }
}

/// Compares an answer with what the generator made of these rows.
fn verify(read: &Read, keys: &[i64], rows: u64, seed: u64, session: &Session) -> Result<()> {
    let answer = session.answer();
    let made = |id: u64| person(&mut Rng::stream(seed, id - 1));
    let oldest = |from: u64, to: u64| (from..=to.min(rows)).map(|id| made(id).dob).min();
    let (country_id, states) = match (read.keys, keys) {
        (Keys::Id, &[id]) if read.cell == Cell::Id => {
            return same(answer.text(0, 0), Some(id.to_string()));
        }
        (Keys::Id, &[id]) => return same(answer.text(0, 0), Some(made(id as u64).name)),
        (Keys::IdRange, &[from, to]) => {
            return same(answer.text(0, 0), oldest(from as u64, to as u64));
        }
        (Keys::None, _) => return same(answer.text(0, 0), oldest(1, rows)),
        (Keys::Country, &[country]) => (country as u64, 1..=STATES),
        (Keys::States, &[country, from, to]) => (country as u64, from as u64..=to as u64),
        // Each answer to it is checked.
        _ => return Ok(()),
    };
    let fits =
        |&(_, place): &(u64, u64)| country(place) == country_id && states.contains(&state(place));
    let cell = |(id, place): (u64, u64)| match read.cell {
        Cell::State => state(place).to_string(),
        Cell::City => made(id).city,
        _ => made(id).name,
    };
    let mut expected: Vec<String> = places(rows).filter(fits).map(cell).collect();
    expected.sort_unstable();
    let found = (0..answer.rows()).map(|row| answer.text(row, 0).unwrap_or_default());
    let mut found: Vec<String> = found.collect();
    found.sort_unstable();
    let right = match read.limit {
        u64::MAX => found == expected,
        // Any of them will do, but none twice.
        _ => is_part(&found, &expected),
    };
    if right {
        return Ok(());
    }
    let message = format!("{keys:?}: {} cells are not those that the data holds", found.len());
    Err(Failure::wrong(message))
}

/// Whether every item of a sorted list is in another one, as often as here.
fn is_part(part: &[String], whole: &[String]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|item| rest.any(|other| other == item))
}

fn same(found: Option<String>, expected: Option<String>) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Failure::wrong(format!("{found:?} where the data holds {expected:?}")))
}

struct Shared {
    client: Client,
}

impl Stage for Shared {
    fn script(&self, _client: usize) -> Box<dyn Script> {
        Box::new(self.client.clone())
    }

    fn check(&self, session: &mut Session, _tally: &Tally) -> Result<()> {
        let held = session.integer("SELECT COUNT(*) FROM normal")?;
        same(Some(held.to_string()), Some(self.client.rows.to_string()))
    }
}

#[derive(Clone)]
struct Client {
    read: Read,
    ids: Picker,
    countries: Picker,
    rows: u64,
    statement: Option<Statement>,
}

impl Client {
    /// The keys of the next question, in the order of the query's parameters.
    fn keys(&self, rng: &mut Rng) -> Vec<i64> {
        let span = ID_RANGE.min(self.rows);
        match self.read.keys {
            Keys::None => Vec::new(),
            Keys::Id => vec![self.ids.pick(rng)],
            Keys::Country => vec![self.countries.pick(rng)],
            Keys::IdRange | Keys::IdCount => {
                let from = self.ids.pick(rng).min((self.rows - span + 1) as i64);
                vec![from, from + span as i64 - 1]
            }
            Keys::States => {
                let from = 1 + rng.below(STATES - STATE_RANGE + 1) as i64;
                let country = self.countries.pick(rng);
                vec![country, from, from + STATE_RANGE as i64 - 1]
            }
        }
    }

    fn expected(&self, keys: &[i64]) -> u64 {
        let rows = match (self.read.keys, keys) {
            (Keys::Country, &[country]) => held(self.rows, country as u64, 1, STATES),
            (Keys::States, &[country, from, to]) => {
                held(self.rows, country as u64, from as u64, to as u64)
            }
            _ => 1,
        };
        rows.min(self.read.limit)
    }

    fn ask(&self, session: &mut Session, keys: &[i64]) -> Result<()> {
        let params: Vec<_> = keys.iter().map(|&key| key.into()).collect();
        let statement = self.statement.ok_or_else(|| Failure::wrong("not started"))?;
        let answer = session.run(statement, &params)?;
        let (found, expected) = (answer.rows() as u64, self.expected(keys));
        if found != expected {
            return Err(Failure::wrong(format!("{keys:?}: {found} rows, not {expected}")));
        }
        if self.read.keys == Keys::IdCount {
            let span = ID_RANGE.min(self.rows) as i64;
            return same(answer.text(0, 0), Some(span.to_string()));
        }
        if self.read.cell == Cell::Id && answer.int(0, 0) != keys.first().copied() {
            return Err(Failure::wrong(format!("{keys:?}: {:?}", answer.int(0, 0))));
        }
        if expected > 0 && answer.is_null(0, 0) {
            return Err(Failure::wrong(format!("{keys:?}: NULL")));
        }
        Ok(())
    }
}

impl Script for Client {
    fn start(&mut self, session: &mut Session) -> Result<()> {
        self.statement = Some(session.statement(self.read.sql)?);
        Ok(())
    }

    fn transaction(&mut self, session: &mut Session, rng: &mut Rng) -> Result<usize> {
        let keys = self.keys(rng);
        self.ask(session, &keys).map(|()| 0)
    }
}

#[cfg(test)]
mod tests;
