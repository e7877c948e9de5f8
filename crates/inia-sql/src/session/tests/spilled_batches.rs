//! Joins and groups over batches that outgrow their memory go to files, and give the rows of those
//! with enough memory, on one thread and on several; nothing is read twice.

use super::batches::{family_of, fill_all, joined};
use super::vectors::{KEYS, NUMBERS, condition, fill};
use super::{TestDb, TestSession, sorted};
use inia_testkit::Random;

const LITTLE: &str = "set tmp_table_size = 1024";
const ENOUGH: &str = "set tmp_table_size = default";

fn threads(s: &mut TestSession, threads: u64) {
    s.ok(&format!("set inia_parallel_workers = {threads}, inia_parallel_rows = 0"));
}

/// A statement with enough memory, and with little on one thread and on several. Its warnings must
/// be the same ones, in any order.
fn check(s: &mut TestSession, query: &str, ordered: bool) {
    threads(s, 1);
    s.ok(ENOUGH);
    let (expected, warnings) = (s.run(query), s.ok("show warnings"));
    for count in [1, 3] {
        threads(s, count);
        s.ok(LITTLE);
        let (answer, warned) = (s.run(query), s.ok("show warnings"));
        if ordered {
            assert_eq!(answer, expected, "{count} threads: {query}");
        }
        assert_eq!(sorted(&answer), sorted(&expected), "{count} threads: {query}");
        assert_eq!(sorted(&warned), sorted(&warnings), "{count} threads: {query}");
    }
    s.ok(ENOUGH);
}

/// How many files the session has made.
fn files(s: &mut TestSession) -> u64 {
    let shown = s.ok("show session status like 'Created_tmp_%'");
    let number = |line: &str| line.rsplit('|').next().and_then(|n| n.parse::<u64>().ok());
    shown.lines().filter(|line| !line.contains("tmp_tables")).filter_map(number).sum()
}

#[test]
fn joins_with_little_memory_are_those_with_enough() {
    let mut random = Random::new(2027);
    let db = TestDb::new();
    let mut s = db.session();
    fill_all(&mut s, &mut random);
    for _ in 0..120 {
        let (from, filter, names) = joined(&mut random);
        let column = |random: &mut Random| {
            let family = family_of(random.below(4));
            format!("{}.{}", random.pick(&names), random.pick(family))
        };
        let name = *random.pick(&names);
        let hint =
            *random.pick(&["", "/*+ JOIN_ORDER(x, y, z) */", "/*+ NO_INDEX(x) NO_INDEX(y) */"]);
        let query = match random.below(4) {
            0 => format!(
                "select {hint} {}, {} from {from}{filter}",
                column(&mut random),
                column(&mut random)
            ),
            1 => format!(
                "select {hint} {name}.a, count(*), sum({name}.p), min({name}.day), avg({name}.w) \
                 from {from}{filter} group by {name}.a"
            ),
            2 => format!(
                "select {hint} hex(weight_string({name}.s)), {name}.id, max({name}.r), \
                 sum({name}.r) \
                 from {from}{filter} group by weight_string({name}.s), {name}.id"
            ),
            _ => {
                format!("select {hint} count(*), sum({name}.a), avg({name}.w) from {from}{filter}")
            }
        };
        check(&mut s, &query, false);
    }
}

#[test]
fn groups_with_little_memory_are_those_with_enough() {
    let db = TestDb::new();
    let (mut s, mut random) = (db.session(), Random::new(2028));
    fill(&mut s, &mut random, 1500);
    s.ok("alter table t add column r double, add column m datetime");
    s.ok("update t set r = id / 7, m = '2001-02-03 04:05:06' + interval id % 300 second");
    let extra = ["id % 400", "m", "b % 300, s", "left(pad, 20)", "r, c"];
    for _ in 0..100 {
        let keys = *random.pick(&[&KEYS[1..], &extra[..]].concat());
        let mut items = vec!["count(*)".to_owned()];
        for _ in 0..1 + random.below(4) {
            let function = random.pick(&["sum", "avg", "min", "max", "count"]);
            items.push(format!("{function}({})", random.pick(&NUMBERS)));
        }
        if random.chance(1, 4) {
            let distinct = ["count(distinct id)", "count(distinct pad, a)", "sum(distinct b)"];
            items.push((*random.pick(&distinct)).to_owned());
        }
        if random.chance(1, 3) {
            items.push((*random.pick(&["sum(r)", "std(r)", "bit_xor(id)", "max(m)"])).to_owned());
        }
        items.push("any_value(id)".to_owned());
        let mut rest = String::new();
        if random.chance(1, 2) {
            rest += &format!(" where {}", condition(&mut random, 1));
        }
        check(&mut s, &format!("select {} from t{rest} group by {keys}", items.join(", ")), false);
    }
    // Each row warns once.
    check(&mut s, "select id % 500, sum(a / (a - 1)), max(s + 0) from t group by id % 500", false);
}

#[test]
fn sums_that_outgrow_vectors_keep_their_group() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table t (id int primary key, k int, w decimal(38,0), pad varchar(100))");
    let nines = "9".repeat(38);
    for chunk in 0..20 {
        let rows: Vec<String> = (chunk * 50..chunk * 50 + 50)
            .map(|id| {
                format!(
                    "({id}, {}, {}{nines}, '{}')",
                    id % 300,
                    ["", "-"][id / 900],
                    "p".repeat(90)
                )
            })
            .collect();
        s.ok(&format!("insert into t values {}", rows.join(", ")));
    }
    s.ok("analyze table t");
    let query = "select k, sum(w), avg(w), count(*) from t group by k";
    let seen = s.ok(&format!("explain analyze {query}"));
    assert!(seen.contains("column vectors") && seen.contains("loops=1"), "{seen}");
    assert!(!seen.contains("loops=2"), "{seen}");
    check(&mut s, query, false);
    check(&mut s, "select sum(w), avg(w) from t", false);
    let all = s.ok("select sum(w) from t where id < 4");
    assert_eq!(all, format!("3{}6\n", "9".repeat(37)));
}

/// Tables of which the larger sides do not fit: `l` and `r` by numbers and texts, one key of `r`
/// having most rows.
fn large() -> (TestDb, TestSession) {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table n (i int primary key)");
    let numbers: Vec<String> = (0..4000).map(|i| format!("({i})")).collect();
    s.ok(&format!("insert into n values {}", numbers.join(", ")));
    s.ok("create table l (id int primary key, k int, t varchar(20), d decimal(10,2), \
          pad varchar(80))");
    s.ok("insert into l select i, if(i % 11, i * 7 % 3000, null), concat('k', i % 900), i, \
          repeat('l', i % 80) from n");
    s.ok("create table r (id int primary key, k int, t varchar(20), v int)");
    s.ok("insert into r select i, if(i % 3, 150, if(i % 13, i, null)), concat('K', i % 1000), \
          i % 50 from n where i < 3000");
    s.ok("analyze table l, r");
    (db, s)
}

#[test]
fn nothing_is_read_twice_by_joins_and_groups_that_outgrow_memory() {
    let (_db, mut s) = large();
    for query in [
        "select l.id, r.id from l join r on l.k = r.k",
        "select count(*), sum(l.d) from l join r on l.k = r.k and l.t <> r.t",
        "select l.id, r.id, r.t from l left join r on l.t = r.t and r.v < 20",
        "select l.id, r.id from l left join r on l.k = r.k and r.v > 10",
        "select id from l where k in (select k from r where v > 3)",
        "select id from l where exists (select 1 from r where r.k = l.k and r.v + l.id > 60)",
        "select id from l where not exists (select 1 from r where r.k = l.k and r.v < l.id)",
        "select id from l where not exists (select 1 from r where r.t = l.t and r.k = l.k)",
        "select r.v, count(*), sum(l.d), min(l.id) from l join r on l.t = r.t group by r.v",
        "select l.id % 700 g, l.t, count(*), sum(l.d), max(r.id) from l join r on l.k = r.k \
         group by g, l.t",
        "select count(distinct id), count(distinct t, pad), sum(distinct d) from l",
        "select id % 5 g, count(distinct id), count(distinct t) from l group by g",
        "select l.id, count(*), max(x.v) from l join r on l.t = r.t join r x on x.k = l.k \
         group by l.id",
    ] {
        check(&mut s, query, false);
        for count in [1, 3] {
            threads(&mut s, count);
            s.ok(LITTLE);
            let before = files(&mut s);
            let seen = s.ok(&format!("explain analyze {query}"));
            assert!(files(&mut s) > before, "files are used: {query}\n{seen}");
            assert!(seen.contains("batches") || seen.contains("vectors"), "{query}\n{seen}");
            let twice = seen.lines().any(|line| line.contains("scan") && line.contains("loops=2"));
            assert!(!twice, "{count} threads: {query}\n{seen}");
            s.ok(ENOUGH);
        }
    }
}

#[test]
fn rows_of_joins_that_outgrow_memory_keep_their_order() {
    let (_db, mut s) = large();
    for query in [
        "select /*+ JOIN_ORDER(l, r) */ l.id, r.id from l join r on l.k = r.k where l.id < 2000 \
         order by l.id",
        "select /*+ JOIN_ORDER(l, r) */ l.id, count(*), sum(r.v) from l join r on l.t = r.t \
         group by l.id order by l.id",
        "select l.id, count(r.id) from l left join r on l.k = r.k group by l.id order by l.id",
    ] {
        s.ok(ENOUGH);
        let first = |answer: String| -> Vec<u64> {
            let id = |line: &str| line.split('|').next().and_then(|id| id.parse().ok());
            answer.lines().filter_map(id).collect()
        };
        check(&mut s, query, false);
        s.ok(LITTLE);
        assert!(first(s.ok(query)).is_sorted(), "{query}");
    }
}
