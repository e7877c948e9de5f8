//! Inia compared with MySQL.
//!
//! MySQL 8.0.31 is not always right: where it answers a query as Inia does once some of its
//! optimizations are off or its secondary indexes are not used, the difference is its own, and
//! only counted. So that they can be put aside, all of them are invisible to those who do not ask.

use super::side::{Outcome, Side};
use super::tables::keys;
use super::twins::{Difference, ordered, without_hints};
use super::world::World;
use super::{ATTEMPTS, Findings, setting, shrink};
use crate::process::{DataDir, Process};

/// How MySQL goes about queries.
const USUAL_MIND: &str = "use_invisible_indexes=on";

/// MySQL without secondary indexes, without hash joins, without semijoins, without merged tables.
const OTHER_MINDS: &[&str] = &[
    "use_invisible_indexes=off",
    "use_invisible_indexes=off,block_nested_loop=off,semijoin=off,materialization=off",
    "block_nested_loop=off",
    "semijoin=off,materialization=off",
    "derived_merge=off",
    "derived_condition_pushdown=off",
    "index_merge=off,index_condition_pushdown=off,mrr=off,skip_scan=off,use_index_extensions=off",
    "condition_fanout_filter=off,block_nested_loop=off,semijoin=off,materialization=off,\
     derived_merge=off,derived_condition_pushdown=off",
];

struct Both {
    mysql: Side,
    inia: Side,
    /// Differences that MySQL has with itself.
    two_minds: usize,
    /// A change failed on one of them for a reason that says nothing, so tables differ.
    apart: bool,
}

impl Both {
    fn sides(&mut self) -> [&mut Side; 2] {
        [&mut self.mysql, &mut self.inia]
    }

    fn load(&mut self, setup: &[String]) {
        for side in self.sides() {
            side.clear();
            setup.iter().for_each(|sql| drop(side.ask(sql)));
        }
        for sql in setup.iter().filter(|sql| sql.starts_with("CREATE TABLE")) {
            let table = sql.split(' ').nth(2).unwrap_or_default();
            for key in keys(sql) {
                self.mysql.ask(&format!("ALTER TABLE {table} ALTER INDEX {key} INVISIBLE"));
            }
        }
        self.mysql.ask(&format!("SET optimizer_switch = '{USUAL_MIND}'"));
    }

    /// Asks both; `None` where they agree.
    fn query(&mut self, sql: &str) -> Option<Difference> {
        let inia = self.inia.ask(sql);
        let mysql = self.mysql.ask(sql);
        // What only MySQL refuses is no wrong row.
        let refused = matches!(mysql, Outcome::Failed(_));
        (!refused && !mysql.agrees(&inia, ordered(sql)))
            .then(|| Difference::between(["MySQL", "Inia"], &mysql, &inia))
    }

    /// Whether MySQL gives Inia's answer when it goes about the query in another way, or has no
    /// other way.
    fn of_two_minds(&mut self, sql: &str) -> bool {
        if has_no_other_way(sql) {
            self.two_minds += 1;
            return true;
        }
        let inia = self.inia.ask(sql);
        let other = OTHER_MINDS.iter().any(|switches| {
            self.mysql.ask(&format!("SET optimizer_switch = '{switches}'"));
            let answer = self.mysql.ask(&without_hints(sql));
            self.mysql.ask("SET optimizer_switch = DEFAULT");
            self.mysql.ask(&format!("SET optimizer_switch = '{USUAL_MIND}'"));
            answer.agrees(&inia, ordered(sql))
        });
        self.two_minds += usize::from(other);
        other
    }

    fn change(&mut self, sql: &str, contents: &[String]) -> Option<Difference> {
        let (mysql, inia) = (self.mysql.ask(sql), self.inia.ask(sql));
        if !mysql.agrees(&inia, false) {
            return Some(Difference::between(["MySQL", "Inia"], &mysql, &inia));
        }
        self.apart = mysql.class() != inia.class();
        if self.apart {
            return None;
        }
        if matches!(mysql, Outcome::Changed(_)) {
            let (mysql, inia) = (self.mysql.warnings(), self.inia.warnings());
            if mysql != inia {
                return Some(Difference {
                    class: format!("warnings {mysql:?} / {inia:?}"),
                    answers: format!("--- MySQL warns {mysql:?}\n--- Inia warns {inia:?}\n"),
                });
            }
        }
        contents.iter().find_map(|sql| self.query(sql))
    }
}

/// Whether MySQL always goes about the query in a way that may give a wrong answer: it takes FIELD
/// for NULL where an argument is, and so drops rows without a match from LEFT JOIN; above ROLLUP
/// over a join it computes with the last row's columns.
fn has_no_other_way(sql: &str) -> bool {
    sql.contains(" JOIN ") && ["FIELD(", " WITH ROLLUP"].iter().any(|part| sql.contains(part))
}

fn report(findings: &mut Findings, seed: u64, both: &mut Both, setup: &[String], sql: String) {
    let mut live = |script: &[String]| {
        let sql = script.last()?;
        both.query(sql).filter(|_| !both.of_two_minds(sql)).map(|found| found.class)
    };
    let small = shrink(vec![sql], ATTEMPTS.0, &mut live);
    let mut fresh = |script: &[String]| {
        let (sql, setup) = script.split_last()?;
        both.load(setup);
        Some(both.query(sql)?.class)
    };
    let script = shrink(setup.iter().cloned().chain(small).collect(), ATTEMPTS.2, &mut fresh);
    let (sql, setup) = script.split_last().expect("a query is there");
    both.load(setup);
    let answers = both.query(sql).map_or_else(String::new, |difference| difference.answers);
    findings.add(&format!("seed {seed}, query"), &script, &answers);
}

fn report_change(
    findings: &mut Findings,
    seed: u64,
    both: &mut Both,
    script: Vec<String>,
    contents: &[String],
) {
    let mut check = |script: &[String]| {
        let (sql, setup) = script.split_last()?;
        both.load(setup);
        Some(both.change(sql, contents)?.class)
    };
    let script = shrink(script, ATTEMPTS.2, &mut check);
    let (sql, setup) = script.split_last().expect("a change is there");
    both.load(setup);
    let answers = both.change(sql, contents).map_or_else(String::new, |found| found.answers);
    findings.add(&format!("seed {seed}, change"), &script, &answers);
}

fn round(seed: u64, both: &mut Both, findings: &mut Findings) {
    let mut world = World::new(seed);
    let (mut setup, contents) = (world.setup.clone(), world.contents());
    both.load(&setup);
    if let Some(sql) = contents.iter().find(|sql| both.query(sql).is_some()) {
        return report(findings, seed, both, &setup, sql.clone());
    }
    for part in 0..2 {
        for _ in 0..60 {
            let sql = world.maker().query();
            if both.query(&sql).is_some() && !both.of_two_minds(&sql) {
                return report(findings, seed, both, &setup, sql);
            }
        }
        for _ in 0..if part == 0 { 15 } else { 0 } {
            setup.push(world.change());
            if both.change(setup.last().expect("just pushed"), &contents).is_some() {
                return report_change(findings, seed, both, setup, &contents);
            }
            if both.apart {
                return;
            }
        }
    }
}

#[test]
#[ignore = "compares with a running MySQL"]
fn random_statements_answer_as_mysql_does() {
    let Ok(oracle) = std::env::var("INIA_ORACLE") else { return };
    let folder = DataDir::new();
    let server = Process::start(&folder.path(), &[]);
    let database = format!("search_{}", std::process::id());
    let mysql = Side::open(&oracle, &database);
    let inia = Side::open(&server.address(), &database);
    let mut both = Both { mysql, inia, two_minds: 0, apart: false };
    let mut findings = Findings::new();
    let first = setting("INIA_SEED", 1);
    for seed in first..first + setting("INIA_ROUNDS", 20) {
        round(seed, &mut both, &mut findings);
        if findings.enough() {
            break;
        }
    }
    println!("{} differences that MySQL has with itself", both.two_minds);
    both.mysql.drop_database();
    assert!(findings.texts.is_empty(), "answers differ:\n{}", findings.texts.join("\n"));
}
