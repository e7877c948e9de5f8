//! Definitions and rows change at once, from several threads and a seed.
//!
//! Two tables `a` and `b` hold accounts: transactions move amounts from one to the other while the
//! two swap names, get and lose columns and indexes, are written anew, locked and checked. A sum
//! over both in one statement, or under a lock, must always be the same. Beside them a parent and
//! its child, a view and a table that comes and goes are changed. In the end every index must fit
//! its table. Errors that other sessions' statements may cause are counted as nothing.
//!
//! `INIA_MUTATIONS=50` takes fifty times the rounds.

use super::{TestDb, TestSession};
use crate::check::check_database;
use inia_testkit::Random;

const ROWS: i64 = 30;
const SUM: i64 = 2 * ROWS * 100;
const SUM_OF_BOTH: &str = "select (select sum(v) from a) + (select sum(v) from b)";

/// What a statement may meet that others have done: locks, and what is not there, or is already.
const EXPECTED: [&str; 22] = [
    "1205", "1213", "1050", "1051", "1054", "1060", "1061", "1062", "1091", "1146", "1356", "1412",
    "1451", "1452", "1553", "1701", "1824", "1826", "1822", "1136", "1243", "1364",
];

struct Worker {
    session: TestSession,
    random: Random,
}

impl Worker {
    fn new(db: &TestDb, seed: u64) -> Worker {
        let mut session = db.session();
        session.ok("set innodb_lock_wait_timeout = 1, lock_wait_timeout = 2");
        Worker { session, random: Random::new(seed) }
    }

    /// Runs a statement; `None` where others were in its way.
    fn run(&mut self, sql: &str) -> Option<String> {
        let text = self.session.run(sql);
        let Some((_, error)) = text.split_once("ERROR ") else { return Some(text) };
        let code = error.split(':').next().unwrap_or_default();
        assert!(EXPECTED.contains(&code), "{sql}: {text}");
        // A table's snapshot is never older than the table where a statement stands alone.
        assert!(code != "1412" || self.in_transaction(), "{sql}: {text}");
        None
    }

    fn in_transaction(&self) -> bool {
        self.session.0.status_flags() & 1 != 0
    }

    /// Runs statements one after another until one fails.
    fn all(&mut self, statements: &[String]) -> bool {
        statements.iter().all(|sql| self.run(sql).is_some())
    }

    fn step(&mut self) {
        match self.random.below(20) {
            0..=5 => self.transfer(),
            6..=8 => self.add_up(),
            9 => self.add_up_in_a_transaction(),
            10 => self.family(),
            11 => self.locked(),
            12 => self.frozen(),
            13 => self.prepared(),
            _ => self.define(),
        }
    }

    fn transfer(&mut self) {
        let (from, to) = (self.random.range(0..ROWS), self.random.range(0..ROWS));
        let amount = self.random.range(1..9);
        let (one, other) = if self.random.chance(1, 2) { ("a", "b") } else { ("b", "a") };
        let end = if self.random.chance(1, 4) { "rollback" } else { "commit" };
        let done = self.all(&[
            String::from("begin"),
            format!("update {one} set v = v - {amount}, k = k + 1 where id = {from}"),
            format!("update {other} set v = v + {amount} where id = {to}"),
        ]);
        self.run(if done { end } else { "rollback" });
    }

    /// The same by prepared statements, whose plans outlive definitions.
    fn prepared(&mut self) {
        self.session.run("prepare take from 'update a set v = v - ? where k >= 0 and id = ?'");
        self.session.run("prepare give from 'update b set v = v + ? where id = ?'");
        for _ in 0..3 {
            let (n, id) = (self.random.range(1..9), self.random.range(0..ROWS));
            let done = self.all(&[
                format!("set @n = {n}, @id = {id}"),
                String::from("begin"),
                String::from("execute take using @n, @id"),
                String::from("execute give using @n, @id"),
            ]);
            self.run(if done { "commit" } else { "rollback" });
        }
    }

    fn add_up(&mut self) {
        if let Some(sum) = self.run(SUM_OF_BOTH) {
            assert_eq!(sum.trim(), SUM.to_string());
        }
        self.run("select count(*) from both_of_them");
        self.run("select k, count(*) from a force index (k) where k > 3 group by k");
    }

    fn add_up_in_a_transaction(&mut self) {
        let mut found = Vec::new();
        self.run("begin");
        for table in ["a", "b"] {
            found.extend(self.run(&format!("select sum(v) from {table}")));
        }
        if let [a, b] = &found[..] {
            let number = |text: &str| text.trim().parse::<i64>().unwrap();
            assert_eq!(number(a) + number(b), SUM);
        }
        self.run("commit");
    }

    fn family(&mut self) {
        let id = self.random.range(0..20);
        let statement = match self.random.below(4) {
            0 => format!("insert into p values ({id})"),
            1 => format!("delete from p where id = {id}"),
            2 => format!("update p set id = {id} where id = {}", id + 1),
            _ => format!("insert into ch (p) values ({id}), ({id})"),
        };
        self.run(&statement);
    }

    fn locked(&mut self) {
        let list = *self.random.pick(&[
            "a write, b write",
            "a read, b read",
            "b read, a write",
            "both_of_them read",
            "both_of_them write",
        ]);
        if self.run(&format!("lock tables {list}")).is_some() {
            let sums = [self.run(SUM_OF_BOTH), self.run(SUM_OF_BOTH)];
            assert_eq!(sums[0], sums[1], "{list}");
            assert_eq!(sums[0].as_deref().map(str::trim), Some(SUM.to_string().as_str()));
            if list == "a write, b write" && self.random.chance(1, 2) {
                self.run("alter table a force");
            }
        }
        self.session.ok("unlock tables");
    }

    fn frozen(&mut self) {
        if self.run("flush tables with read lock").is_some() {
            let counts = "select (select count(*) from p), (select sum(k) from a)";
            let (before, after) = (self.run(counts), self.run(counts));
            assert_eq!(before, after);
        }
        self.session.ok("unlock tables");
    }

    fn define(&mut self) {
        let table = *self.random.pick(&["a", "b"]);
        let statement = match self.random.below(22) {
            0 | 1 => String::from("rename table a to tmp, b to a, tmp to b"),
            2 => format!("alter table {table} add column e int not null default 7"),
            3 => format!("alter table {table} drop column e"),
            4 => format!("alter table {table} add index v (v), add column f int first"),
            5 => format!("alter table {table} drop index v, drop column f"),
            6 => format!("alter table {table} modify k bigint"),
            7 => format!("optimize table {table}"),
            8 => format!("check table {table}, p, ch"),
            9 => String::from("truncate table c"),
            10 => String::from("drop table if exists c"),
            11 => String::from("create table if not exists c (id int primary key, v int)"),
            12 => String::from("insert into c select id, v from a on duplicate key update v = 1"),
            13 => String::from("create table c select * from b"),
            14 => String::from("alter table ch drop foreign key f"),
            15 => String::from(
                "alter table ch add constraint f foreign key (p) references p (id) \
                 on delete cascade on update cascade",
            ),
            16 => String::from("rename table p to p2"),
            17 => String::from("rename table p2 to p"),
            18 => String::from(
                "create or replace view both_of_them as \
                 select id from a union all select id from b",
            ),
            19 => String::from("alter table ch rename to ch2"),
            20 => String::from("alter table ch2 rename to ch, add key (id, p)"),
            _ => String::from("truncate table p"),
        };
        if let Some(text) = self.run(&statement) {
            assert!(!text.contains("Corrupt"), "{statement}: {text}");
        }
    }
}

/// Plays a seed with several threads; the database must be sound after it.
fn play(seed: u64, threads: u64, steps: u64) {
    let db = TestDb::new();
    let mut setup = db.session();
    for table in ["a", "b"] {
        setup.ok(&format!("create table {table} (id int primary key, k int, v int, key k (k))"));
        for id in 0..ROWS {
            setup.ok(&format!("insert into {table} (id, k, v) values ({id}, {}, 100)", id % 7));
        }
    }
    setup.ok("create table p (id int primary key)");
    setup.ok(
        "create table ch (id int primary key auto_increment, p int, constraint f foreign key (p) \
         references p (id) on delete cascade on update cascade)",
    );
    setup.ok("create view both_of_them as select id from a union all select id from b");
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let db = &db;
            scope.spawn(move || {
                let mut worker = Worker::new(db, seed * 100 + thread);
                (0..steps).for_each(|_| worker.step());
            });
        }
    });
    setup.check(&[(SUM_OF_BOTH, &SUM.to_string())]);
    drop(setup);
    assert_eq!(check_database(db.database()).unwrap(), Vec::<String>::new());
}

#[test]
fn sums_and_indexes_stay_right_while_definitions_change() {
    let rounds = std::env::var("INIA_MUTATIONS").ok().and_then(|text| text.parse().ok());
    for seed in 1..=rounds.unwrap_or(1) {
        play(seed, 4, 120);
    }
}
