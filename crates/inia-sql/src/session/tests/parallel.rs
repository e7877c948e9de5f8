//! Statements on several threads give what they give on one: the same rows in the same order, the
//! same warnings and the same errors.

use super::batches::{family_of, fill_all, joined};
use super::vectors::{KEYS, NUMBERS, condition, fill};
use super::{TestDb, TestSession, TextSink};
use inia_testkit::Random;
use std::sync::atomic::{AtomicBool, Ordering};

/// Threads of a statement here, whatever processors there are.
const THREADS: u64 = 4;

/// A database where tables of any size are worth several threads.
fn open() -> (TestDb, TestSession) {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok(&format!("set global inia_parallel_workers = {THREADS}"));
    s.ok("set global inia_parallel_rows = 0");
    let mut s = db.session();
    divide(&mut s, THREADS);
    (db, s)
}

/// Says that a test is done, also where it fails.
struct SetOnDrop<'d>(&'d AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn divide(s: &mut TestSession, threads: u64) {
    s.ok(&format!("set inia_parallel_workers = {threads}, inia_parallel_rows = 0"));
}

/// What a statement gives on one thread and on several, with its warnings.
fn on_one_and_on_several(s: &mut TestSession, query: &str) -> [String; 2] {
    [1, THREADS].map(|threads| {
        divide(s, threads);
        let rows = s.run(query);
        rows + &s.ok("show warnings")
    })
}

fn is_divided(s: &mut TestSession, query: &str) -> bool {
    s.ok(&format!("explain format=tree {query}")).contains(&format!("(up to {THREADS} threads)"))
}

#[test]
fn groups_of_several_threads_are_those_of_one() {
    let (_db, mut s) = open();
    let mut random = Random::new(2014);
    fill(&mut s, &mut random, 2000);
    let mut divided = 0;
    for _ in 0..150 {
        let keys = *random.pick(&KEYS);
        let mut items = vec!["count(*)".to_owned()];
        for _ in 0..1 + random.below(4) {
            let function = random.pick(&["sum", "avg", "min", "max", "count"]);
            items.push(format!("{function}({})", random.pick(&NUMBERS)));
        }
        let mut rest = String::new();
        if random.chance(3, 4) {
            rest += &format!(" where {}", condition(&mut random, 2));
        }
        if !keys.is_empty() {
            rest += &format!(" group by {keys}");
            items.extend(keys.split(", ").map(|key| format!("any_value({key})")));
        }
        let query = format!("select {} from t{rest}", items.join(", "));
        divided += u64::from(is_divided(&mut s, &query));
        let [one, several] = on_one_and_on_several(&mut s, &query);
        assert_eq!(several, one, "{query}");
    }
    assert!(divided > 100, "{divided} of 150 ran on several threads");
}

/// Compares so many joins on one thread and on several; how many the plan divides.
fn compare_joins(s: &mut TestSession, random: &mut Random, count: u32) -> u64 {
    let mut divided = 0;
    for _ in 0..count {
        let (from, filter, names) = joined(random);
        let column = |random: &mut Random| {
            let family = family_of(random.below(4));
            format!("{}.{}", random.pick(&names), random.pick(family))
        };
        let name = *random.pick(&names);
        let query = match random.below(4) {
            0 => format!("select {}, {} from {from}{filter}", column(random), column(random)),
            1 => format!(
                "select {name}.a, count(*), sum({name}.p), min({name}.day) from {from}{filter} \
                 group by {name}.a"
            ),
            2 => format!(
                "select {name}.s, count(distinct {}), max({name}.r) from {from}{filter} group by \
                 {name}.s",
                column(random)
            ),
            _ => format!("select count(*), sum({name}.a), avg({name}.w) from {from}{filter}"),
        };
        divided += u64::from(is_divided(s, &query));
        let [one, several] = on_one_and_on_several(s, &query);
        assert_eq!(several, one, "{query}");
    }
    divided
}

#[test]
fn joins_on_several_threads_are_those_of_one() {
    let (_db, mut s) = open();
    let mut random = Random::new(2015);
    fill_all(&mut s, &mut random);
    // The leftmost table has few leaves, so that its rows are cut, or those of a join.
    let divided = compare_joins(&mut s, &mut random, 150);
    assert!(divided > 75, "{divided} of 150 ran on several threads");
    // Rows of many leaves.
    for table in ["t0", "t1", "t2"] {
        s.ok(&format!("alter table {table} add column pad varchar(2000) not null default ''"));
        s.ok(&format!("update {table} set pad = repeat('p', 600 + id % 200)"));
        s.ok(&format!("analyze table {table}"));
    }
    let divided = compare_joins(&mut s, &mut random, 150);
    assert!(divided > 75, "{divided} of 150 ran on several threads");
}

#[test]
fn rows_that_a_small_table_leads_to_are_read_on_several_threads() {
    let (_db, mut s) = open();
    s.ok("create table start (k int primary key)");
    s.ok("create table head (id int primary key, k int not null, v int, key (k))");
    s.ok("create table rest (id int primary key, k int not null, v int, key (k))");
    s.ok("set cte_max_recursion_depth = 10000");
    s.ok("insert into start values (1), (3)");
    for (table, rows, keys) in [("head", 400, 4), ("rest", 4000, 250)] {
        s.ok(&format!(
            "insert into {table} with recursive n (id) as (select 1 union all select id + 1 from n \
             where id < {rows}) select id, id * 7 % {keys}, id % 50 from n"
        ));
        s.ok(&format!("analyze table {table}"));
    }
    // 100 rows of `head` for each of `start`, 16 of `rest` for each of those.
    let head = "start straight_join head force index (k) on head.k = start.k";
    let from = format!("{head} straight_join rest force index (k) on rest.k = head.id");
    for query in [
        format!("select head.id, rest.id from {from} where rest.v > head.v"),
        format!("select head.v, count(*), sum(rest.v) from {from} group by head.v"),
        format!("select sum(rest.v), max(head.id) from {from} where rest.v * 2 > 1000"),
        format!(
            "select head.id, r.id, s.v from {head} left join rest r force index (k) on \
             r.k = head.id and r.v = 7 straight_join rest s force index (k) on s.k = head.v"
        ),
        // The sum outgrows its type on every thread.
        format!("select sum(rest.v * 9223372036854775807) from {from}"),
    ] {
        assert!(is_divided(&mut s, &query), "{query}");
        let [one, several] = on_one_and_on_several(&mut s, &query);
        assert_eq!(several, one, "{query}");
    }
}

#[test]
fn threads_see_what_their_transaction_sees() {
    let (db, mut s) = open();
    let mut other = db.session();
    fill(&mut s, &mut Random::new(7), 1000);
    let sums = "select count(*), sum(b), min(id), max(a) from t";
    for level in ["read committed", "repeatable read"] {
        s.ok(&format!("set transaction isolation level {level}"));
        s.ok("begin");
        s.ok("select count(*) from t");
        s.ok("update t set b = b + 1, a = 77 where id between 100 and 700");
        s.ok("delete from t where id between 800 and 820");
        s.ok("insert into t (id, b, d, pad) values (5000, 1, 0.5, ''), (5001, 2, 0.5, '')");
        other.ok("begin");
        other.ok("insert into t (id, b, d, pad) values (6000, 1000, 0.5, '')");
        let [one, several] = on_one_and_on_several(&mut s, sums);
        assert_eq!(several, one, "{level}");
        assert!(several.contains("|77"), "{several}");
        other.ok("rollback");
        s.ok("rollback");
    }
    // Others commit in between: a read view shows nothing of it.
    s.ok("begin");
    let before = s.ok(sums);
    for round in 0..5 {
        other.ok(&format!("update t set b = b + 1000 where id % 7 = {round}"));
        other.ok(&format!("insert into t (id, b, d, pad) values ({}, 9, 0.5, '')", 7000 + round));
        assert_eq!(s.ok(sums), before);
    }
    s.ok("commit");
    assert_ne!(s.ok(sums), before);
    // Uncommitted rows of others are seen where they are asked for.
    other.ok("begin");
    other.ok("insert into t (id, b, d, pad) values (8000, 9, 0.5, '')");
    s.ok("set session transaction isolation level read uncommitted");
    assert!(is_divided(&mut s, "select max(id) + 0, sum(b) from t"));
    assert!(s.ok("select max(id + 0), sum(b) from t").starts_with("8000|"));
    other.ok("rollback");
}

#[test]
fn a_writer_beside_threads_changes_nothing_for_them() {
    let (db, mut s) = open();
    fill(&mut s, &mut Random::new(8), 1000);
    s.ok("update t set b = 10");
    let mut writer = db.session();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _guard = SetOnDrop(&done);
        scope.spawn(|| {
            // What one row gains another loses, in one transaction.
            for round in 0.. {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                let (from, to) = (round % 990, (round * 7 + 3) % 990);
                writer.ok("begin");
                writer.ok(&format!("update t set b = b - 1 where id = {from}"));
                writer.ok(&format!("update t set b = b + 1 where id = {to}"));
                writer.ok("commit");
            }
        });
        for _ in 0..30 {
            assert_eq!(s.ok("select count(*), sum(b) from t where b > -1000000"), "1000|10000\n");
        }
    });
}

#[test]
fn conditions_and_errors_are_those_of_one_thread() {
    let (_db, mut s) = open();
    fill(&mut s, &mut Random::new(9), 1000);
    for query in [
        "select count(*) from t where c = 5 or s > 1",
        "select count(*), sum(b) from t where id > '5x' and d > 0.1",
        "select count(*), sum(b) from t where a >= '-3x' and b <> 7",
        "select count(*) from t join t o on o.id + 0 = t.a where t.s <> 3 and o.c <> 4",
        "select t.id, o.id from t join t o on o.id + 0 = t.a where t.s <> 3 and o.c <> 4",
        "select sum(a / (a - 1)), count(*) from t",
        "select sum(b * 9000000), count(*) from t group by a",
        "select sum(u - 3) from t where u is not null",
        "select count(*) from t where cast(s as date) is null",
        "select max(w * w * w) from t",
        "select sum(w * 1000000000000000000000000000) from t",
        "select count(*), sum(b) from t where aes_encrypt(s, 'x') is null",
        "select count(*), sum(b) from t where a = @@max_error_count or id > connection_id()",
        "select count(*), sum(b), last_insert_id() from t where id > last_insert_id()",
        "select sum(b + @x) from t where id > 5",
        "select sum(b) from t where a = (select max(a) from t where id < 100)",
        "select sum(b), rand(3) < 2 from t where rand(1) >= 0",
    ] {
        let [one, several] = on_one_and_on_several(&mut s, query);
        assert_eq!(several, one, "{query}");
    }
    let wrong = "select sum(b * 9000000000) from t";
    assert!(is_divided(&mut s, wrong));
    assert!(s.run(wrong).starts_with("ERROR 1690"), "{}", s.run(wrong));
}

#[test]
fn groups_that_outgrow_memory_are_those_of_one_thread() {
    let (_db, mut s) = open();
    fill(&mut s, &mut Random::new(10), 3000);
    let query = "select id, b, s, count(*), sum(a) from t group by id, b, s";
    let before = s.ok(query);
    assert!(is_divided(&mut s, query));
    s.ok("set tmp_table_size = 1024");
    let mut rows: Vec<&str> = before.lines().collect();
    rows.sort_unstable();
    let after = s.ok(query);
    let mut little: Vec<&str> = after.lines().collect();
    little.sort_unstable();
    assert_eq!(little, rows);
}

#[test]
fn no_more_rows_come_than_are_wanted_and_kills_end_joins() {
    let (_db, mut s) = open();
    fill(&mut s, &mut Random::new(13), 3000);
    s.ok("create table d (a int primary key, name varchar(20))");
    s.ok("insert into d values (1, 'one'), (2, 'two'), (3, 'three'), (-4, 'less')");
    for query in [
        "select t.id, name from t join d on t.a = d.a order by t.pad, t.id limit 7",
        "select t.id, count(*), max(d.a) from t join d on t.a <> d.a group by t.id limit 5",
        "select t.id, sum(b) from t where d > 0 group by t.id limit 3",
        "select distinct name, t.c from t left join d on t.a = d.a",
        "select count(*) from (select t.id from t join d on t.a = d.a limit 100) x",
        "select t.id, (select count(*) from d where d.a = t.a) from t join d e on t.a = e.a",
    ] {
        let [one, several] = on_one_and_on_several(&mut s, query);
        assert_eq!(several, one, "{query}");
    }
    let query = "select t.id, name from t join d on t.a = d.a";
    assert!(is_divided(&mut s, query));
    let mut sink = TextSink { kill_after: Some((7, s.0.kill_handle())), ..TextSink::default() };
    let answer = s.0.execute(query, &mut sink);
    assert_eq!(answer.map_err(|error| error.number()), Err(1317));
    let [one, several] = on_one_and_on_several(&mut s, query);
    assert_eq!(several, one);
    // With next to no memory the statement's own thread does what does not fit.
    s.ok("set tmp_table_size = 1024");
    let [one, several] = on_one_and_on_several(&mut s, query);
    assert_eq!(several, one);
}

#[test]
fn a_statement_that_changes_rows_reads_them_on_several_threads() {
    let (_db, mut s) = open();
    fill(&mut s, &mut Random::new(14), 1500);
    s.ok("create table sums (a int, n int, b bigint)");
    s.ok("set session transaction isolation level read committed");
    for threads in [1, THREADS] {
        divide(&mut s, threads);
        s.ok("insert into sums select a, count(*), sum(b) from t group by a");
        s.ok("update t join (select a, max(b) top from t group by a) x on x.a = t.a \
              set t.b = x.top where t.id < 50");
    }
    let twice = "select count(*), sum(n) from (select a, n, count(*) c from sums group by a, n) x \
                 where c = 2";
    let groups = "select count(*), sum(n) from (select a, count(*) n from t group by a) x";
    assert_eq!(s.ok(twice), s.ok(groups));
}

#[test]
fn a_kill_ends_all_threads_of_a_statement() {
    let (_db, mut s) = open();
    fill(&mut s, &mut Random::new(11), 3000);
    let query = "select count(*), sum(b), s from t where p * d > a group by s, id, day, c";
    let expected = s.ok(query);
    let (handle, done) = (s.0.kill_handle(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let _guard = SetOnDrop(&done);
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                handle.kill_query();
                std::thread::yield_now();
            }
        });
        // One may be done before it is killed.
        let mut killed = 0;
        while killed < 3 {
            s.0.begin_command();
            let answer = s.0.execute(query, &mut TextSink::default());
            if let Err(error) = answer {
                assert_eq!(error.number(), 1317);
                killed += 1;
            }
        }
    });
    // A kill may have come after the last statement.
    let _ = s.run(query);
    assert_eq!(s.ok(query), expected);
}

#[test]
fn explain_shows_threads_and_what_they_read() {
    let (_db, mut s) = open();
    fill(&mut s, &mut Random::new(12), 1000);
    let query = "select sum(b), count(*) from t where d > 0.5";
    assert!(is_divided(&mut s, query));
    assert!(s.ok(&format!("explain format=json {query}")).contains("\"threads\": 4"));
    let seen = s.ok(&format!("explain analyze {query}"));
    assert!(seen.contains("rows=1000 loops=1"), "{seen}");
    divide(&mut s, 1);
    assert!(!is_divided(&mut s, query));
    divide(&mut s, THREADS);
    s.ok("set inia_parallel_rows = 100000");
    assert!(!is_divided(&mut s, query));
}

#[test]
fn threads_know_the_values_of_subqueries() {
    let (_db, mut s) = open();
    fill(&mut s, &mut Random::new(22), 2000);
    s.ok("create table few (x int, y decimal(10, 3), z varchar(20))");
    s.ok("insert into few values (1, 0.5, 'b'), (30, 2.25, 'B'), (null, null, null)");
    let conditions = [
        "b > (select avg(x) from few)",
        "b * 2 between (select min(x) from few) and (select max(x) from few)",
        "d < (select max(y) from few) and length(coalesce(s, '')) < (select count(*) from few)",
        "b > (select x from few where x is null)",
        "b > (select x from few where x > 100)",
        "s > (select min(z) from few)",
        "b > (select x from few)",
    ];
    for condition in conditions {
        let query = format!("select a, count(*), sum(b) from t where {condition} group by a");
        assert!(is_divided(&mut s, &query), "{query}");
        let [one, several] = on_one_and_on_several(&mut s, &query);
        assert_eq!(several, one, "{query}");
    }
    let several = s.run("select sum(b) from t where b > (select x from few)");
    assert!(several.starts_with("ERROR 1242"), "{several}");
    let having = "select a, sum(b) from t group by a having sum(b) > (select max(x) from few)";
    let [one, several] = on_one_and_on_several(&mut s, having);
    assert_eq!(several, one);
    // What nothing reaches raises no error.
    s.ok("create table none like t");
    assert_eq!(s.ok("select sum(b) from none where b > (select x from few)"), "NULL\n");
}
