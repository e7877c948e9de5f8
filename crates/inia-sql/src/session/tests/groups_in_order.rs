//! Groups whose rows come one after the other are given one by one, and are those of a hash table.

use super::{TestDb, TestSession, sorted};

/// How EXPLAIN FORMAT=TREE names groups in order.
const IN_ORDER: &str = "in the order of their groups";

/// Rows of 3,000 orders, most with four lines, and of their lines' parts.
fn filled(db: &TestDb) -> TestSession {
    let mut s = db.session();
    s.ok("create table n (i int primary key)");
    let numbers: Vec<String> = (0..12_000).map(|i| format!("({i})")).collect();
    s.ok(&format!("insert into n values {}", numbers.join(", ")));
    s.ok("create table line (o int, l int, part int, shipped date, price decimal(15,2), \
          wide decimal(30,2), note varchar(10), primary key (o, l desc), key (part, o), \
          key (note(1)), key (shipped))");
    s.ok("insert into line select i div 4, i % 4, if(i % 11, i % 700, null), \
          if(i % 13, '2001-01-01' + interval i % 90 day, null), i * 0.25, i, concat('n', i % 50) \
          from n");
    s.ok("delete from line where o % 7 = 3 and l > 0");
    s.ok("create table part (p int primary key, weight int)");
    s.ok("insert into part select i, i * 3 from n where i < 500");
    s.ok("analyze table line, part");
    s
}

/// Compares with the same groups of a derived table, whose rows have no order.
fn check(s: &mut TestSession, (list, from, by): (&str, &str, &str), in_order: bool) {
    let query = format!("select {list} from {from} group by {by}");
    let plan = s.ok(&format!("explain format=tree {query}"));
    assert_eq!(plan.contains(IN_ORDER), in_order, "{query}\n{plan}");
    let reference =
        format!("select {list} from (select * from {from} limit 100000000) d group by {by}");
    let expected = s.ok(&reference);
    assert_eq!(sorted(&s.ok(&query)), sorted(&expected), "{query}\n{plan}");
}

#[test]
fn rows_in_the_order_of_an_index_are_grouped_one_group_after_the_other() {
    let db = TestDb::new();
    let mut s = filled(&db);
    let all = "count(*), sum(price), min(shipped), max(part), count(part), avg(price)";
    for (from, by, in_order) in [
        ("line", "o", true),
        ("line", "o, l", true),
        ("line", "l, o", true),
        ("line where o between 100 and 2000 and price > 30", "o", true),
        ("line where o in (7, 3, 3, 900, 5)", "o", true),
        ("line where o = 17", "l", true),
        ("line", "l", false),
        ("line", "o + 1", false),
        ("line join part on p = part", "o", true),
        ("line left join part on p = part where ifnull(weight, 1) > 0", "o", true),
        (
            "line left join part on p = part and weight > price where ifnull(weight, 1) > 0",
            "o",
            false,
        ),
    ] {
        check(&mut s, (&format!("{by}, {all}"), from, by), in_order);
    }
    let covered = "part, count(*), min(o), avg(l)";
    check(&mut s, (covered, "line force index (part) where part > 3", "part"), true);
    check(
        &mut s,
        ("part, o, count(*)", "line force index (part) where part < 90", "o, part"),
        true,
    );
    check(&mut s, ("shipped, count(*)", "line where shipped < '2001-02-01'", "shipped"), true);
    // A prefix orders no whole values, and sums of wide numbers may outgrow 128 bits.
    check(&mut s, ("note, count(*)", "line where note > 'n3'", "note"), false);
    check(&mut s, ("o, sum(wide)", "line", "o"), false);
}

#[test]
fn groups_in_order_take_no_memory_for_each_other() {
    let db = TestDb::new();
    let mut s = filled(&db);
    let put_aside = "show session status like 'Created_tmp%'";
    let query = "select o, count(*), sum(price) from line group by o";
    let expected = s.ok(query);
    s.ok("set tmp_table_size = 1024");
    let before = s.ok(put_aside);
    assert_eq!(s.ok(query), expected);
    assert_eq!(s.ok(put_aside), before);
    s.ok("select part % 1000, o, count(*) from line group by part % 1000, o");
    assert_ne!(s.ok(put_aside), before, "other groups are put aside");
}

#[test]
fn no_more_groups_are_made_than_a_limit_wants() {
    let db = TestDb::new();
    let mut s = filled(&db);
    let analyzed = s.ok("explain analyze select o, sum(price) s from line group by o \
                         having s > 100 limit 3");
    assert!(analyzed.contains(IN_ORDER), "{analyzed}");
    let groups = "select o, sum(price) s from line group by o having s > 100 limit 3";
    assert_eq!(s.ok(groups), "25|101.50\n26|105.50\n27|109.50\n");
}
