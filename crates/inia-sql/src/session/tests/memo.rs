//! Correlated subqueries are run once for the values that they read, where nothing else decides.

use super::{TestDb, TestSession};

/// Runs before anything is kept.
const TRIED: u64 = 64;

/// `o` has 1,000 rows with ten values of `g` and four of `s`, which `i` has several rows for.
fn open() -> (TestDb, TestSession) {
    let db = TestDb::new();
    let mut s = db.session();
    s.ok("set cte_max_recursion_depth = 10000");
    // Joins with groups would take the place of subqueries.
    s.ok("set optimizer_switch = 'materialization=off'");
    s.ok("create table o (id int primary key, g int, s varchar(5), n decimal(10, 2))");
    s.ok("create table i (id int primary key, g int, s varchar(5) collate utf8mb4_bin, v int)");
    for (table, rows, last) in [("o", 1000, "id / 8"), ("i", 200, "id % 50")] {
        s.ok(&format!(
            "insert into {table} with recursive n (id) as (select 1 union all select id + 1 from n \
             where id < {rows}) select id, nullif(id % 11, 10), elt(1 + id % 4, 'a', 'A', 'b', \
             'a '), {last} from n"
        ));
    }
    (db, s)
}

/// How often the only subquery of a SELECT ran.
fn runs(s: &mut TestSession, query: &str) -> u64 {
    let tree = s.ok(&format!("explain analyze {query}"));
    let subquery = tree
        .find("Select #2")
        .map(|at| &tree[at..])
        .unwrap_or_else(|| panic!("no subquery: {tree}"));
    let loops = subquery.split("loops=").nth(1).and_then(|rest| rest.split(')').next());
    loops.and_then(|loops| loops.parse().ok()).expect("it was run")
}

const TOTAL: &str = "(select sum(i.v) + 0 from i where i.g = o.g or i.v = o.g + 3)";

#[test]
fn a_subquery_runs_once_for_each_value_that_it_reads() {
    let (_db, mut s) = open();
    // Ten numbers and NULL.
    assert_eq!(runs(&mut s, &format!("select id, {TOTAL} from o")), TRIED + 11);
    // Different bytes are different values, whatever the column's collation holds equal.
    let texts = "select id, (select count(*) from i where binary i.s = binary o.s) from o";
    assert_eq!(runs(&mut s, texts), TRIED + 4);
    let counted = s.ok(&format!("select c, count(*) from ({texts}) d (id, c) group by c"));
    assert_eq!(counted, "50|1000\n");
    // Two values make a key together; the subquery inside the subquery reads one of them.
    let nested = "select (select max(v) from i where i.g = o.g and v < (select max(v) from i j \
                  where j.s = o.s)) from o";
    assert_eq!(runs(&mut s, nested), TRIED + 44);
}

#[test]
fn what_is_kept_is_what_a_run_gives() {
    let (_db, mut s) = open();
    let kept = s.ok(&format!("select id, {TOTAL} from o order by id"));
    // A user variable in it is a reason to run it for each row.
    s.ok("set @zero = 0");
    let total = TOTAL.replace("+ 0", "+ @zero");
    assert_eq!(kept, s.ok(&format!("select id, {total} from o order by id")));
    assert_eq!(runs(&mut s, &format!("select id, {total} from o")), 1000);
}

#[test]
fn ends_of_an_index_are_kept_by_the_values_that_lead_to_them() {
    let (_db, mut s) = open();
    s.ok("alter table i add key (g, v)");
    s.ok("set @zero = 0");
    for call in ["max(v)", "min(v)", "count(*)"] {
        let last = |rest: &str| {
            format!("select id, (select {call} from i where i.g = o.g{rest}) from o order by id")
        };
        assert_eq!(runs(&mut s, &last("")), TRIED + 11, "{call}");
        assert_eq!(s.ok(&last("")), s.ok(&last(" and @zero = 0")), "{call}");
    }
}

#[test]
fn values_that_hardly_come_again_are_not_kept() {
    let (_db, mut s) = open();
    s.ok("insert into o select id + 1000, g, s, n from o");
    s.ok("insert into o select id + 2000, g, s, n from o");
    let query = "select (select count(*) from i where i.id > o.id and i.id < o.id + 3) from o";
    assert_eq!(runs(&mut s, query), 4000);
}

#[test]
fn what_chance_functions_and_locks_decide_is_not_kept() {
    let (_db, mut s) = open();
    s.ok("create function f(x int) returns int no sql return x");
    for condition in ["rand() < 2", "f(1) = 1", "@@session.sql_safe_updates = 0"] {
        let query = format!(
            "select (select max(v) from i where i.g = o.g and {condition}) from o where id < 200"
        );
        assert_eq!(runs(&mut s, &query), 199, "{condition}");
    }
    // A function anywhere in the statement may change the tables.
    let query = "select f(id), (select max(v) from i where i.g = o.g) from o where id < 200";
    assert_eq!(runs(&mut s, query), 199);
}

#[test]
fn errors_and_warnings_come_for_each_row() {
    let (_db, mut s) = open();
    assert!(s.run("select (select v from i where i.g = o.g) from o").starts_with("ERROR 1242"));
    s.ok("select (select max(v) from i where i.g = o.g and i.v <> o.s) from o where id > 900");
    assert!(s.ok("show count(*) warnings").trim().parse::<u64>().is_ok_and(|count| count > 900));
}
