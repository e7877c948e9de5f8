//! Histograms of ANALYZE TABLE … UPDATE HISTOGRAM: what the optimizer takes from them, samples of
//! large tables, how long they stay, and whom the statement waits for.

use super::{TestDb, TestSession};

/// The number of rows that the optimizer expects of a query of one table.
fn expected_rows(s: &mut TestSession, condition: &str) -> f64 {
    let tree = s.ok(&format!("explain analyze select * from t where {condition}"));
    let rows = tree.split("rows=").nth(1).unwrap_or_else(|| panic!("{tree}"));
    rows.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap().parse().unwrap()
}

/// 1,000 rows, 900 of which have `a` = 1.
fn fill(s: &mut TestSession) {
    s.ok("create table t (id int primary key, a int, c varchar(20), ts timestamp)");
    s.ok("insert into t with recursive n (i) as (select 1 union all select i + 1 from n where \
          i < 1000) select i, if(i > 900, i, 1), concat('text ', i mod 4), \
          '2020-01-01' + interval i minute from n");
}

#[test]
fn a_histogram_is_taken_for_true_until_it_is_dropped() {
    let db = TestDb::new();
    let mut s = db.session();
    fill(&mut s);
    s.ok("analyze table t update histogram on a, c, ts with 5 buckets");
    assert_eq!(expected_rows(&mut s, "a = 1"), 900.0);
    assert_eq!(expected_rows(&mut s, "a > 1"), 100.0);
    assert_eq!(expected_rows(&mut s, "c = 'TEXT 3'"), 250.0);
    let half = expected_rows(&mut s, "ts < '2020-01-01 08:20:00'");
    assert!((400.0..600.0).contains(&half), "{half}");
    // The rows say something else now; the histogram is what the user asked for.
    s.ok("update t set a = id");
    assert_eq!(expected_rows(&mut s, "a = 1"), 900.0);
    s.ok("analyze table t");
    assert_eq!(expected_rows(&mut s, "a = 1"), 900.0);
    s.ok("analyze table t update histogram on a");
    assert!(expected_rows(&mut s, "a = 1") < 3.0);
    s.ok("update t set a = 1");
    s.ok("analyze table t drop histogram on a");
    assert_eq!(expected_rows(&mut s, "a = 1"), 1000.0);
}

#[test]
fn histograms_are_there_after_a_restart() {
    let db = TestDb::new();
    let mut s = db.session();
    fill(&mut s);
    s.ok("analyze table t update histogram on a, c, ts with 2 buckets");
    let all = "select column_name, histogram from information_schema.column_statistics order by 1";
    let before = s.ok(all);
    assert!(before.contains("[[1, 1, 0.9, 1], [901, 1000, 1.0, 100]]"), "{before}");
    drop(s);
    let db = db.restart();
    let mut s = db.session();
    assert_eq!(s.ok(all), before);
    s.ok("alter table t add column more int first, drop column c");
    drop(s);
    let db = db.restart();
    let left = db.session().ok("select column_name from information_schema.column_statistics");
    assert!(left.contains("a\nts\n"), "{left}");
}

#[test]
fn a_large_table_is_sampled() {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("set cte_max_recursion_depth = 100000, histogram_generation_max_mem_size = 1000000");
    s.ok("create table t (id int primary key, a varchar(200), n decimal(20,2))");
    s.ok("insert into t with recursive n (i) as (select 1 union all select i + 1 from n where \
          i < 30000) select i, concat(i mod 10000, repeat('x', 60)), if(i mod 2 = 1, null, i) \
          from n");
    s.ok("analyze table t update histogram on a, n");
    let figures = s.ok("select count(*), min(rate > 0.02 and rate < 0.2), \
         min(json_length(buckets) between 50 and 100), \
         min(abs(json_extract(buckets, '$[last][2]') + nulls - 1) < 1e-9) \
         from (select histogram->'$.buckets' buckets, histogram->'$.\"sampling-rate\"' rate, \
         histogram->'$.\"null-values\"' nulls from information_schema.column_statistics) h");
    assert!(figures.starts_with("2|1|1|1\n"), "{figures}");
    let nulls = s.ok("select abs(histogram->'$.\"null-values\"' - 0.5) < 0.05 from \
                      information_schema.column_statistics where column_name = 'n'");
    assert!(nulls.starts_with("1\n"), "{nulls}");
    let tenth = expected_rows(&mut s, "n < 3000");
    assert!((1000.0..2200.0).contains(&tenth), "{tenth}");
}

#[test]
fn nobody_is_waited_for() {
    let db = TestDb::new();
    let (mut s, mut other) = (db.session(), db.session());
    fill(&mut s);
    other.ok("begin");
    other.ok("update t set a = 2 where id = 1");
    s.ok("set lock_wait_timeout = 1");
    let done = s.ok("analyze table t update histogram on a");
    assert!(done.contains("Histogram statistics created for column 'a'."), "{done}");
    // What is not committed does not count.
    assert_eq!(expected_rows(&mut s, "a = 1"), 900.0);
    other.ok("update t set a = 2 where id = 2");
    other.ok("commit");
    assert!(s.ok("select count(*) from t where a = 2").starts_with("2\n"));
    // DDL of others is kept away meanwhile, and not afterwards.
    other.ok("set lock_wait_timeout = 1");
    other.ok("alter table t drop column a");
}
