//! Joins over batches give what joins of single rows give, for random tables, conditions and
//! joins.
//!
//! A SELECT with a LIMIT and without ORDER BY is executed over rows, so the same query with a large
//! LIMIT is the reference.

use super::{TestDb, TestSession, sorted};
use inia_testkit::Random;

/// Columns of equal names in all tables, by what they compare as.
const NUMBERS: [&str; 5] = ["id", "a", "u", "p", "w"];
const TEXTS: [&str; 2] = ["s", "c"];
const OTHERS: [&str; 3] = ["day", "moment", "r"];

/// Columns that compare as the same.
pub(super) fn family_of(number: u64) -> &'static [&'static str] {
    match number {
        0 => &TEXTS,
        1 => &OTHERS,
        _ => &NUMBERS,
    }
}

fn fill(s: &mut TestSession, random: &mut Random, table: &str, rows: u64) {
    s.ok(&format!(
        "create table {table} (id int primary key, a int, u bigint unsigned, p decimal(15,2), \
         w decimal(30,4), day date, moment datetime, r double, s varchar(20), c char(5), \
         j varchar(30) not null, key (a), key (s))"
    ));
    let mut tuples = Vec::new();
    for id in 0..rows {
        let mut cell = |text: String| match random.chance(1, 7) {
            true => "null".to_owned(),
            false => text,
        };
        let numbers = [id % 23, id % 31, id % 7].map(|number| number.to_string());
        let a = cell(numbers[0].clone());
        let u = cell(if id % 41 == 0 { u64::MAX.to_string() } else { numbers[1].clone() });
        let p = cell(format!("{}.50", numbers[2]));
        let w =
            cell(format!("{}{}.25", if id % 5 == 0 { "12345678901234567890" } else { "" }, id % 9));
        let day = cell(format!("'2001-02-{:02}'", 1 + id % 28));
        let moment = cell(format!("'2001-02-03 04:05:{:02}'", id % 60));
        let r = cell(format!("{}.25", id % 13));
        let text = ["ann", "Ann", "b", "ß", "ss", "ä", "", "a "][(id % 8) as usize];
        let (s, c) = (cell(format!("'{text}'")), cell(format!("'{text}'")));
        tuples.push(format!("({id}, {a}, {u}, {p}, {w}, {day}, {moment}, {r}, {s}, {c}, 'j{id}')"));
    }
    for chunk in tuples.chunks(100) {
        s.ok(&format!("insert into {table} values {}", chunk.join(", ")));
    }
    s.ok(&format!("analyze table {table}"));
}

/// An equality between columns of two tables, of one kind or of two.
fn equality(random: &mut Random, left: &str, right: &str) -> String {
    let family: &[&str] = match random.below(6) {
        0..=2 => &NUMBERS,
        3 => &TEXTS,
        _ => &OTHERS,
    };
    let other = if random.chance(1, 12) { "a" } else { *random.pick(family) };
    format!("{left}.{} = {right}.{other}", random.pick(family))
}

/// A condition on two tables that is no equality of columns.
fn condition(random: &mut Random, left: &str, right: &str) -> String {
    match random.below(8) {
        0 => format!("{left}.a < {right}.a"),
        1 => format!("{left}.p + {right}.a > {}", random.below(20)),
        2 => format!("{left}.s like 'a%'"),
        3 => format!("{right}.day between '2001-02-05' and '2001-02-{}'", 10 + random.below(18)),
        4 => format!("({left}.a = {} or {right}.s = 'b')", random.below(23)),
        5 => format!("concat({left}.s, {right}.c) <> 'annb'"),
        6 => format!("{right}.u is not null"),
        _ => format!("{left}.id % 5 = {right}.id % {}", 2 + random.below(4)),
    }
}

/// FROM and WHERE over tables with the names that the select list may use.
pub(super) fn joined(random: &mut Random) -> (String, String, Vec<&'static str>) {
    let (mut from, mut filter) = ("t0 x".to_owned(), Vec::new());
    let mut names = vec!["x"];
    for (table, name) in [("t1", "y"), ("t2", "z")] {
        let before = *random.pick(&names);
        let mut on = vec![equality(random, before, name)];
        if random.chance(1, 4) {
            on.push(equality(random, before, name));
        }
        if random.chance(1, 3) {
            on.push(condition(random, before, name));
        }
        match random.below(8) {
            0..=3 => {
                from += &format!(" join {table} {name} on {}", on.join(" and "));
                names.push(name);
            }
            4..=5 => {
                from += &format!(" left join {table} {name} on {}", on.join(" and "));
                names.push(name);
            }
            6 => filter.push(format!(
                "{}exists (select 1 from {table} {name} where {})",
                random.pick(&["", "not "]),
                on.join(" and ")
            )),
            _ => {
                let column = *random.pick(&NUMBERS);
                let negated = random.pick(&["", "not "]);
                filter.push(format!(
                    "{before}.{column} {negated}in (select {column} from {table} {name} where \
                     {name}.id > {})",
                    random.below(100)
                ));
            }
        }
    }
    if random.chance(1, 2) {
        let (left, right) = (*random.pick(&names), *random.pick(&names));
        filter.push(condition(random, left, right));
    }
    let filter = match filter.is_empty() {
        true => String::new(),
        false => format!(" where {}", filter.join(" and ")),
    };
    (from, filter, names)
}

fn tables(random: &mut Random) -> TestSession {
    let db = TestDb::new();
    let mut s = db.session();
    fill_all(&mut s, random);
    s
}

/// Makes three tables.
pub(super) fn fill_all(s: &mut TestSession, random: &mut Random) {
    for (table, rows) in [("t0", 150), ("t1", 190), ("t2", 140)] {
        fill(s, random, table, rows);
    }
}

#[test]
fn joins_over_batches_give_the_rows_of_joins_over_rows() {
    let mut random = Random::new(2013);
    let mut s = tables(&mut random);
    let mut over_batches = 0;
    for _ in 0..150 {
        let (from, filter, names) = joined(&mut random);
        let columns: Vec<String> = (0..1 + random.below(4))
            .map(|_| {
                let family = family_of(random.below(3));
                format!("{}.{}", random.pick(&names), random.pick(family))
            })
            .collect();
        let query = format!("select {} from {from}{filter}", columns.join(", "));
        let plan = s.ok(&format!("explain format=tree {query}"));
        over_batches += u64::from(plan.contains("batches"));
        let rows = s.run(&format!("{query} limit 100000000"));
        assert_eq!(sorted(&s.run(&query)), sorted(&rows), "{query}\n{plan}");
    }
    assert!(over_batches > 90, "{over_batches} of 150 ran over batches");
}

#[test]
fn groups_of_joins_over_batches_are_those_of_joins_over_rows() {
    let mut random = Random::new(1977);
    let mut s = tables(&mut random);
    for _ in 0..100 {
        let (from, filter, names) = joined(&mut random);
        let column = |random: &mut Random| {
            let family = family_of(random.below(4));
            format!("{}.{}", random.pick(&names), random.pick(family))
        };
        let name = *random.pick(&names);
        let mut items = vec!["count(*)".to_owned()];
        for _ in 0..1 + random.below(3) {
            items.push(match random.below(7) {
                0 => format!("sum({name}.p * ({name}.a + 1))"),
                1 => format!("avg({name}.a)"),
                2 => format!(
                    "sum(case when {name}.s = 'b' then {name}.p when {name}.a > 9 then 1 end)"
                ),
                3 => format!("max({name}.day)"),
                4 => format!("min(year({name}.day) + {name}.a)"),
                5 => format!("count({})", column(&mut random)),
                _ => format!("max({name}.r)"),
            });
        }
        let key = match random.below(5) {
            0 => None,
            1 => Some(format!("extract(year from {name}.day)")),
            2 => Some(format!("hex({name}.s)")),
            _ => Some(column(&mut random)),
        };
        let inner = ["id", "a", "u", "p", "w", "s", "c", "day", "moment", "r"];
        let all: Vec<String> = names
            .iter()
            .flat_map(|name| inner.iter().map(move |c| format!("{name}.{c} {name}_{c}")))
            .collect();
        let by = key.map_or(String::new(), |key| {
            items.push(format!("hex(weight_string(min({key})))"));
            format!(" group by {key}")
        });
        let list = items.join(", ");
        let renamed = |text: &str| {
            names
                .iter()
                .fold(text.to_owned(), |text, n| text.replace(&format!("{n}."), &format!("{n}_")))
        };
        let query = format!("select {list} from {from}{filter}{by}");
        let reference = format!(
            "select {} from (select {} from {from}{filter} limit 100000000) d{}",
            renamed(&list),
            all.join(", "),
            renamed(&by)
        );
        let plan = s.ok(&format!("explain format=tree {query}"));
        let rows = s.run(&reference);
        assert_eq!(sorted(&s.run(&query)), sorted(&rows), "{query}\n{plan}\n{reference}");
    }
}

/// The rows of a query over batches are those of the same query over rows.
fn check_over_batches(s: &mut TestSession, query: &str) {
    let plan = s.ok(&format!("explain format=tree {query}"));
    assert!(plan.contains("of batches"), "{query}\n{plan}");
    let rows = s.ok(&format!("{query} limit 100000000"));
    assert_eq!(sorted(&s.ok(query)), sorted(&rows), "{query}\n{plan}");
}

#[test]
fn a_key_that_outgrows_its_vector_behind_rows_that_were_given_repeats_none_of_them() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table n (i int primary key)");
    let numbers: Vec<String> = (0..3000).map(|i| format!("({i})")).collect();
    s.ok(&format!("insert into n values {}", numbers.join(", ")));
    // Behind thousands of small keys one with too many digits for 128 bits at the other side's
    // scale, and one that equals another row for all its zeros.
    s.ok("create table l (id int primary key, w decimal(38,0), t varchar(10))");
    s.ok("insert into l select i, i % 7, concat('k', i % 7) from n");
    s.ok("update l set w = 99999999999999999999999999999999999999 where id = 2990");
    s.ok("create table r (id int primary key, p decimal(20,10), t varchar(10))");
    s.ok("insert into r select i, i, concat('K', i) from n where i < 5");
    s.ok("analyze table l, r");
    for join in ["join", "left join"] {
        check_over_batches(&mut s, &format!("select l.id, r.id from l {join} r on l.w = r.p"));
        let two = format!("select l.id, r.id from l {join} r on l.w = r.p and l.t = r.t");
        check_over_batches(&mut s, &two);
    }
    let is_in = "select l.id from l where l.w {} (select r.p from r where r.p is not null)";
    check_over_batches(&mut s, &is_in.replace("{}", "in"));
    check_over_batches(
        &mut s,
        "select l.id from l where not exists (select 1 from r where r.p = l.w)",
    );
}

#[test]
fn a_row_with_more_matches_than_a_batch_has_is_joined_with_each_once() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table n (i int primary key)");
    let numbers: Vec<String> = (0..10_000).map(|i| format!("({i})")).collect();
    s.ok(&format!("insert into n values {}", numbers.join(", ")));
    // One key has most rows, and matches by its last one only.
    s.ok("create table r (id int primary key, k int, v int, key (k))");
    s.ok("insert into r select i, if(i % 10, 150, i), i from n");
    s.ok("create table l (id int primary key, k int)");
    s.ok("insert into l select i, i from n where i < 300");
    s.ok("analyze table l, r");
    for hint in ["/*+ NO_BNL() NO_HASH_JOIN() */", ""] {
        for join in ["join", "left join"] {
            for on in ["", " and r.v > 9990", " and r.v in (3, 9999)", " and r.v < 0"] {
                let from = format!("l {join} r on r.k = l.k{on}");
                check_over_batches(&mut s, &format!("select {hint} l.id, r.id from {from}"));
            }
        }
        for exists in ["exists", "not exists"] {
            let inner = "select 1 from r where r.k = l.k and r.v + l.id > 10140";
            check_over_batches(
                &mut s,
                &format!("select {hint} id from l where {exists} ({inner})"),
            );
        }
    }
}

#[test]
fn long_texts_are_joined_a_few_at_a_time() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table n (i int primary key)");
    let numbers: Vec<String> = (0..400).map(|i| format!("({i})")).collect();
    s.ok(&format!("insert into n values {}", numbers.join(", ")));
    s.ok("create table l (id int primary key, k int, body mediumtext)");
    s.ok("insert into l select i, i % 3, repeat(char(97 + i % 26), 100000) from n where i < 150");
    s.ok("create table r (id int primary key, k int, key (k))");
    s.ok("insert into r select i, i % 40 from n");
    s.ok("analyze table l, r");
    for hint in ["/*+ NO_BNL() NO_HASH_JOIN() */", ""] {
        let query = format!(
            "select {hint} l.id, r.id, md5(l.body) from l left join r on l.k = r.k and r.id > 300"
        );
        check_over_batches(&mut s, &query);
    }
}

#[test]
fn aggregates_that_change_variables_take_each_row_in_turn() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("create table t (id int primary key, v int)");
    s.ok("insert into t values (1, 5), (2, 6), (3, 7)");
    s.ok("set @a := 0");
    assert_eq!(s.ok("select sum(@a := @a + v), min(@a), max(@a) from t"), "34|5|18\n");
}
