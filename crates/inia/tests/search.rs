//! Searches for wrong rows with random tables, queries and changes.
//!
//! Each round makes a world from its seed: tables with columns of many types and keys of many
//! kinds, views, a few rows of values that often meet. Then:
//!
//! - Inia is compared with itself (`twins.rs`): the same query with every key and with none, with
//!   little memory, prepared; all rows against the rows where a condition is true, false and NULL;
//!   changes of tables with keys and without; answers inside a transaction and after its commit.
//!   A few rounds run with all tests; for a long run:
//!   `INIA_SEED=1000 INIA_ROUNDS=500 cargo test -p inia --test main search::random`
//! - Inia is compared with MySQL (`mysql.rs`), where one runs:
//!   `INIA_ORACLE=host:port cargo test -p inia --test main search::mysql -- --ignored`
//!
//! A difference is made small (`shrink.rs`) and printed as a script with both answers;
//! `INIA_DIFFERENCES=n` (3) ends the run after so many. What was wrong in Inia goes into
//! `tests/sql/query/found.sql` or a script beside it.

mod changes;
mod keyed;
mod maker;
mod mysql;
mod queries;
mod shapes;
mod shrink;
mod side;
mod tables;
mod twins;
mod values;
mod world;

use crate::process::{DataDir, Process};
use shrink::shrink;
use side::{Outcome, Side};
use twins::{Difference, Twins, Way};
use values::ValueClass;
use world::World;

/// Checks of candidates: on tables that are there, on tables that are made for each in Inia, and in
/// MySQL.
const ATTEMPTS: (usize, usize, usize) = (3000, 400, 60);

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

/// What was found so far.
struct Findings {
    texts: Vec<String>,
    most: usize,
}

impl Findings {
    fn new() -> Findings {
        Findings { texts: Vec::new(), most: setting("INIA_DIFFERENCES", 3) as usize }
    }

    fn enough(&self) -> bool {
        self.texts.len() >= self.most
    }

    fn add(&mut self, head: &str, script: &[String], answers: &str) {
        let text = format!("-- {head}\n{};\n{answers}", script.join(";\n"));
        println!("{text}");
        self.texts.push(text);
    }
}

/// Makes a difference small, first on the tables that are there, then with them, and keeps it.
fn report(
    findings: &mut Findings,
    (seed, way): (u64, Way),
    twins: &mut Twins,
    setup: &[String],
    pieces: Vec<String>,
) {
    let class = |difference: Option<Difference>| difference.map(|found| found.class);
    let mut small = pieces;
    if way != Way::Change {
        let mut live = |pieces: &[String]| class(way.check(twins, pieces));
        small = shrink(small, ATTEMPTS.0, &mut live);
    }
    let mut fresh = |script: &[String]| {
        let (setup, pieces) = script.split_at_checked(script.len().checked_sub(way.pieces())?)?;
        twins.load(setup);
        class(way.check(twins, pieces))
    };
    let script = shrink(setup.iter().cloned().chain(small).collect(), ATTEMPTS.1, &mut fresh);
    let (setup, pieces) = script.split_at(script.len().saturating_sub(way.pieces()));
    twins.load(setup);
    let answers = way.check(twins, pieces).map_or_else(
        || "(not seen again with tables made anew)".to_owned(),
        |difference| difference.answers,
    );
    findings.add(&format!("seed {seed}, {way:?}"), &script, &answers);
}

/// One query and one condition by every way; the pieces of the first that differs.
fn ask(world: &mut World, twins: &mut Twins) -> Option<(Way, Vec<String>)> {
    let query = vec![world.maker().query()];
    for way in Way::QUERIES {
        if way.check(twins, &query).is_some() {
            return Some((way, query));
        }
    }
    let mut maker = world.maker();
    let (from, own) = maker.from(&[], 1);
    let scope = maker::Scope::plain(&own, &[]);
    let condition = maker.condition(&scope, 3);
    let item =
        own.iter().find(|name| name.1 != ValueClass::Doc).map_or("1", |name| name.0.as_str());
    let pieces = vec![item.to_owned(), from, condition];
    Way::CONDITIONS.into_iter().find(|way| way.check(twins, &pieces).is_some()).map(|w| (w, pieces))
}

/// Changes inside a transaction: seen there, not seen elsewhere before the commit, and seen after
/// it or gone.
fn transaction(world: &mut World, twins: &mut Twins, other: &mut Side) -> Option<String> {
    let queries: Vec<String> = (0..4).map(|_| world.maker().query()).collect();
    let all =
        |side: &mut Side| -> Vec<Outcome> { queries.iter().map(|sql| side.ask(sql)).collect() };
    let before = all(other);
    twins.keyed.ask("BEGIN");
    let changes: Vec<String> = (0..3).map(|_| world.change()).collect();
    changes.iter().for_each(|sql| drop(twins.keyed.ask(sql)));
    let (inside, elsewhere) = (all(&mut twins.keyed), all(other));
    let commits = world.random.chance(1, 2);
    twins.keyed.ask(if commits { "COMMIT" } else { "ROLLBACK" });
    let after = all(&mut twins.keyed);
    if commits {
        changes.iter().for_each(|sql| drop(twins.unique.ask(sql)));
    }
    let expected = if commits { &inside } else { &before };
    for (at, sql) in queries.iter().enumerate() {
        for (what, one, two) in [
            ("before the transaction / beside it", &before[at], &elsewhere[at]),
            ("inside or before / after the end", &expected[at], &after[at]),
        ] {
            if !one.agrees(two, twins::ordered(sql)) {
                let changes = changes.join(";\n");
                return Some(format!("{what}\nBEGIN;\n{changes};\n{sql};\n{one}---\n{two}"));
            }
        }
    }
    None
}

fn round(seed: u64, twins: &mut Twins, other: &mut Side, findings: &mut Findings) {
    let mut world = World::new(seed);
    let mut setup = world.setup.clone();
    twins.load(&setup);
    for part in 0..3 {
        for _ in 0..12 {
            if let Some((way, pieces)) = ask(&mut world, twins) {
                report(findings, (seed, way), twins, &setup, pieces);
                return;
            }
        }
        if part == 1 {
            if let Some(found) = transaction(&mut world, twins, other) {
                findings.add(&format!("seed {seed}, transaction"), &setup, &found);
            }
            return;
        }
        for _ in 0..8 {
            let sql = world.change();
            let found = Way::Change.check(twins, std::slice::from_ref(&sql)).is_some();
            if found {
                report(findings, (seed, Way::Change), twins, &setup, vec![sql]);
                return;
            }
            setup.push(sql);
        }
        twins.refill(&world.setup);
    }
}

#[test]
fn random_statements_agree_with_themselves() {
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let mut twins = Twins::open(&server.address());
    let mut other = Side::open(&server.address(), "keyed");
    let mut findings = Findings::new();
    let first = setting("INIA_SEED", 1);
    for seed in first..first + setting("INIA_ROUNDS", 3) {
        round(seed, &mut twins, &mut other, &mut findings);
        if findings.enough() {
            break;
        }
    }
    assert!(findings.texts.is_empty(), "answers differ:\n{}", findings.texts.join("\n"));
}
