//! Aggregates over column vectors give what they give over rows, for random tables of many leaves,
//! random conditions, keys and arguments.
//!
//! A derived table with a LIMIT is read row by row, so the same query over it is the reference.

use super::{TestDb, TestSession, sorted};
use inia_testkit::Random;

pub(super) const NUMBERS: [&str; 12] = [
    "a",
    "b",
    "u",
    "p",
    "d",
    "w",
    "p * (1 - d)",
    "p * (1 - d) * (1 + d)",
    "a + p",
    "-p",
    "a - 7",
    "w + u",
];
pub(super) const KEYS: [&str; 8] = ["", "a", "s", "day", "c", "c, s", "a, day, c", "u"];

/// A table whose columns are NULL at times, and equal often.
pub(super) fn fill(s: &mut TestSession, random: &mut Random, rows: u64) {
    s.ok("create table t (id int primary key, a int, b bigint not null, u bigint unsigned, \
          p decimal(15,2), d decimal(4,2) not null, w decimal(38,10), day date, c char(3), \
          s varchar(20), pad varchar(60) not null, key (a))");
    for chunk in 0..rows.div_ceil(50) {
        let mut tuples = Vec::new();
        for id in chunk * 50..rows.min((chunk + 1) * 50) {
            let or_null = |text: String, random: &mut Random| match random.chance(1, 8) {
                true => "null".to_owned(),
                false => text,
            };
            let a = or_null(format!("{}", random.below(20) as i64 - 9), random);
            let u = match random.chance(1, 40) {
                true => "18446744073709551615".to_owned(),
                false => or_null(format!("{}", random.below(5)), random),
            };
            let p = format!("{}.{:02}", random.below(100_000) as i64 - 50_000, random.below(100));
            let p = or_null(p, random);
            let w = format!("{}.{:010}", random.below(1 << 50), random.below(1 << 30));
            let w = or_null(w, random);
            let day = format!(
                "'{}-{:02}-{:02}'",
                1992 + random.below(7),
                1 + random.below(12),
                1 + random.below(28)
            );
            let day = or_null(day, random);
            let c = or_null(format!("'{}'", random.pick(&["x", "X", "yy", "", "z"])), random);
            let s =
                or_null(format!("'{}'", random.pick(&["ann", "Ann", "b", "ß", "ss", "ä"])), random);
            let b = random.below(1 << 40) as i64 - (1 << 39);
            let pad = "p".repeat(random.below(60) as usize);
            tuples.push(format!(
                "({id}, {a}, {b}, {u}, {p}, 0.{:02}, {w}, {day}, {c}, {s}, '{pad}')",
                random.below(100)
            ));
        }
        s.ok(&format!("insert into t values {}", tuples.join(", ")));
    }
}

pub(super) fn condition(random: &mut Random, depth: u64) -> String {
    let number = random.below(30) as i64 - 10;
    let text = *random.pick(&["ann", "x", "ss", ""]);
    match random.below(if depth == 0 { 11 } else { 15 }) {
        0 => format!("a {} {number}", random.pick(&["=", "<", ">=", "<>"])),
        1 => format!("p > {number}.5 * 1000"),
        2 => format!("day <= date '199{}-06-15'", random.below(8)),
        3 => format!("day between date '1993-01-01' and date '199{}-01-01'", random.below(9)),
        4 => format!("{} {} '{text}'", random.pick(&["s", "c"]), random.pick(&["=", "<", ">="])),
        5 => "u is null".into(),
        6 => format!("a in ({number}, 3, 5)"),
        7 => format!("d not between 0.10 and 0.{}", 10 + random.below(89)),
        8 => "p * d > a".into(),
        9 => format!("s like '{text}%'"),
        10 => format!("id % 7 = {}", random.below(7)),
        11 => format!("not ({})", condition(random, depth - 1)),
        12 => format!("({} or {})", condition(random, depth - 1), condition(random, depth - 1)),
        13 => format!("({} and {})", condition(random, depth - 1), condition(random, depth - 1)),
        _ => format!("id between {} and {}", random.below(400), 200 + random.below(400)),
    }
}

#[test]
fn vectors_give_what_rows_give() {
    let db = TestDb::new();
    let (mut s, mut random) = (db.session(), Random::new(1998));
    fill(&mut s, &mut random, 700);
    let mut over_vectors = 0;
    for _ in 0..400 {
        let keys = *random.pick(&KEYS);
        let mut items = vec!["count(*)".to_owned()];
        for _ in 0..1 + random.below(4) {
            let function = random.pick(&["sum", "avg", "min", "max", "count"]);
            items.push(format!("{function}({})", random.pick(&NUMBERS)));
        }
        if random.chance(1, 4) {
            items.push(format!("{}(day)", random.pick(&["min", "max", "count"])));
        }
        let mut rest = String::new();
        if random.chance(3, 4) {
            rest += &format!(" where {}", condition(&mut random, 2));
        }
        if random.chance(1, 3) {
            rest += &format!(
                " {} {}",
                if rest.is_empty() { "where" } else { "and" },
                condition(&mut random, 1)
            );
        }
        if !keys.is_empty() {
            rest += &format!(" group by {keys} order by min(id)");
            // Which of several equal texts a group shows depends on the order of rows.
            let shown = |key: &str| match key {
                "s" | "c" => format!("hex(weight_string(any_value({key})))"),
                _ => format!("any_value({key})"),
            };
            items.extend(keys.split(", ").map(shown));
        }
        let query = |from: &str| format!("select {} from {from}{rest}", items.join(", "));
        let plan = s.ok(&format!("explain format=tree {}", query("t")));
        over_vectors += u64::from(plan.contains("column vectors"));
        let rows = s.run(&query("(select * from t limit 1000000) t"));
        assert_eq!(s.run(&query("t")), rows, "{}\n{plan}", query("t"));
    }
    assert!(over_vectors > 200, "{over_vectors} of 400 ran over vectors");
}

#[test]
fn texts_of_one_group_that_outgrow_memory_stay_in_it() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table t (id int primary key, c varchar(16))");
    // Twelve letters in upper and lower case: 4,096 texts that are equal.
    for chunk in (0..4096u32).collect::<Vec<_>>().chunks(512) {
        let text = |n: u32| -> String {
            (0..12).map(|bit| if n >> bit & 1 == 1 { 'A' } else { 'a' }).collect()
        };
        let tuples: Vec<String> = chunk.iter().map(|&n| format!("({n}, '{}')", text(n))).collect();
        s.ok(&format!("insert into t values {}", tuples.join(", ")));
    }
    let query = "select count(*), sum(id), upper(c) from t group by c";
    let expected = format!("4096|{}|AAAAAAAAAAAA\n", 4095 * 4096 / 2);
    let scans = |s: &mut TestSession| s.ok(&format!("explain analyze {query}"));
    assert!(scans(&mut s).contains("loops=1"));
    assert_eq!(s.ok(query), expected);
    s.ok("set tmp_table_size = 1024");
    assert!(!scans(&mut s).contains("loops=2"), "nothing is read twice");
    assert_eq!(s.ok(query), expected);
}

/// Columns and expressions of dates, moments and choices.
const SHAPES: [&str; 14] = [
    "moment",
    "year(moment)",
    "extract(month from moment)",
    "hour(moment)",
    "minute(moment) + second(moment)",
    "month(day)",
    "dayofmonth(day) * 2",
    "coalesce(a, id)",
    "ifnull(p, d)",
    "if(a > 3, p, d)",
    "if(s is null, a, null)",
    "nullif(a, 4)",
    "case when day is null then null when s = 'ann' then a else id end",
    "coalesce(a, u, 7)",
];

fn dated_condition(random: &mut Random) -> String {
    let op = random.pick(&["=", "<", ">=", "<>", ">"]);
    let hour = random.below(24);
    match random.below(9) {
        0 => format!("moment {op} '2001-02-03 {hour:02}:10:00'"),
        1 => format!("moment between '2001-02-01' and '2001-02-0{}'", 2 + random.below(7)),
        2 => format!("moment {op} date '2001-02-05'"),
        3 => format!("day {op} '199{}-03-04'", random.below(9)),
        4 => format!("day {op} '1995-03-04 00:00:00'"),
        5 => format!("day {op} timestamp '1995-03-04 {hour:02}:00:00'"),
        6 => format!("moment {op} day + interval 7 year"),
        7 => "s is not null and c is null".into(),
        _ => format!("coalesce(a, 3) {op} {}", random.below(9)),
    }
}

#[test]
fn dates_moments_and_choices_are_those_of_rows() {
    let db = TestDb::new();
    let (mut s, mut random) = (db.session(), Random::new(1582));
    fill(&mut s, &mut random, 700);
    s.ok("alter table t add column moment datetime(3), add key (moment)");
    s.ok("update t set moment = '2001-02-01 01:02:03.5' + interval id * 977 second where id % 9");
    s.ok("analyze table t");
    let mut over_vectors = 0;
    for round in 0..300 {
        if round == 150 {
            s.ok("set inia_column_cache = eager");
        }
        let key = random.pick(&SHAPES);
        let mut items = vec![format!("any_value({key})"), "count(*)".to_owned()];
        for _ in 0..1 + random.below(3) {
            let function = random.pick(&["min", "max", "count"]);
            items.push(format!("{function}({})", random.pick(&SHAPES)));
        }
        items.push(format!("sum({})", random.pick(&SHAPES[1..])));
        let rest = format!(
            " where {} and {} group by {key} order by min(id)",
            dated_condition(&mut random),
            if random.chance(1, 2) { dated_condition(&mut random) } else { "id > 0".to_owned() }
        );
        let query = |from: &str| format!("select {} from {from}{rest}", items.join(", "));
        let plan = s.ok(&format!("explain format=tree {}", query("t")));
        over_vectors += u64::from(plan.contains("column vectors"));
        let rows = s.run(&query("(select * from t limit 1000000) t"));
        assert_eq!(s.run(&query("t")), rows, "{}\n{plan}", query("t"));
    }
    assert!(over_vectors > 200, "{over_vectors} of 300 ran over vectors");
    for wrong in ["moment > 'never'", "day = '2001-02-30'"] {
        let answer = s.run(&format!("select count(*), sum(a) from t where {wrong}"));
        assert!(answer.starts_with("ERROR 1525"), "{wrong}: {answer}");
    }
}

#[test]
fn few_rows_of_many_are_found_by_vectors() {
    let db = TestDb::new();
    let (mut s, mut random) = (db.session(), Random::new(1789));
    fill(&mut s, &mut random, 1500);
    s.ok("set inia_parallel_rows = 0");
    let mut few = 0;
    for threads in [1, 3] {
        s.ok(&format!("set inia_parallel_workers = {threads}"));
        for _ in 0..100 {
            let (first, second) = (condition(&mut random, 1), condition(&mut random, 1));
            let list = random.pick(&["*", "id, s, day", "p * (1 - d), upper(s)", "c, u, id"]);
            let order = random.pick(&["", " order by id", " order by s, id desc", " order by 1"]);
            let query =
                |from: &str| format!("select {list} from {from} where {first} and {second}{order}");
            let divided = s.ok(&format!("explain format=tree {}", query("t")));
            few += u64::from(divided.contains("threads"));
            let rows = s.run(&query("(select * from t limit 1000000) t"));
            assert_eq!(sorted(&s.run(&query("t"))), sorted(&rows), "{}", query("t"));
        }
    }
    assert!(few > 20, "{few} of 100 ran on several threads");
}

const DISTINCT: [&str; 11] = [
    "count(distinct a)",
    "count(distinct s)",
    "count(distinct c, s)",
    "count(distinct a, day, u)",
    "sum(distinct a)",
    "avg(distinct p)",
    "sum(distinct d * 2)",
    "count(distinct p * d, c)",
    "count(distinct w)",
    "count(distinct upper(s))",
    "max(distinct b)",
];

#[test]
fn different_values_and_conditions_of_groups_are_those_of_rows() {
    let db = TestDb::new();
    let (mut s, mut random) = (db.session(), Random::new(1848));
    fill(&mut s, &mut random, 900);
    let mut over_vectors = 0;
    for _ in 0..300 {
        let keys = *random.pick(&KEYS);
        let mut items = vec!["count(*)".to_owned()];
        for _ in 0..1 + random.below(3) {
            items.push((*random.pick(&DISTINCT)).to_owned());
        }
        let mut rest = String::new();
        if random.chance(1, 2) {
            rest += &format!(" where {}", condition(&mut random, 1));
        }
        if !keys.is_empty() {
            rest += &format!(" group by {keys}");
        }
        if random.chance(1, 2) {
            let number = random.below(60);
            rest += &match random.below(6) {
                0 => format!(" having count(*) > {number}"),
                1 => format!(" having sum(p) < {number}.5 and count(a) >= 3"),
                2 => format!(" having {number} <> count(s) and max(a) = 10"),
                3 => format!(" having avg(a) <= {number} and min(d) > 0.02"),
                4 => format!(" having count(distinct a) > {}", number / 6),
                _ => format!(" having sum(w) is null or sum(a) > {number}"),
            };
        }
        let rest = format!("{rest} order by min(id)");
        let query = |from: &str| format!("select {} from {from}{rest}", items.join(", "));
        let plan = s.ok(&format!("explain format=tree {}", query("t")));
        over_vectors += u64::from(plan.contains("column vectors"));
        let rows = s.run(&query("(select * from t limit 1000000) t"));
        for size in ["default", "1024"] {
            s.ok(&format!("set tmp_table_size = {size}"));
            assert_eq!(s.run(&query("t")), rows, "{size}: {}\n{plan}", query("t"));
        }
        s.ok("set tmp_table_size = default");
    }
    assert!(over_vectors > 250, "{over_vectors} of 300 ran over vectors");
}
