//! Queries as shapes, by clause. Beside the holes of `values::fill` there is `[f]`, a function with
//! its arguments, and `[g]`, an aggregate.

use super::functions::subject;
use super::shapes::{AGGREGATES, FUNCTIONS};
use super::values::fill;
use inia_testkit::Random;

/// What a clause does with what.
pub(super) const QUERIES: &[(&str, &str)] = &[
    ("WHERE", "SELECT id FROM v WHERE [f] ORDER BY id"),
    ("WHERE", "SELECT id FROM v WHERE {a} {c} {a} ORDER BY id"),
    ("WHERE NOT", "SELECT id FROM v WHERE NOT ([f]) OR {a} ORDER BY id"),
    ("GROUP BY", "SELECT COUNT(*), MIN(id) FROM v GROUP BY [f] ORDER BY 2"),
    ("GROUP BY column", "SELECT {a} AS g, COUNT(*), [g] FROM v GROUP BY g ORDER BY MIN(id)"),
    ("ROLLUP", "SELECT {a} AS g, COUNT(*), MAX({a}) FROM v GROUP BY g WITH ROLLUP"),
    ("HAVING", "SELECT id % 2 AS k, [g] AS x FROM v GROUP BY k HAVING x {c} {a} ORDER BY k"),
    ("ORDER BY", "SELECT id FROM v ORDER BY [f], id"),
    ("ORDER BY column", "SELECT id FROM v ORDER BY {a} DESC, {a}, id"),
    ("DISTINCT", "SELECT COUNT(*) FROM (SELECT DISTINCT [f] AS x FROM v) d"),
    ("DISTINCT column", "SELECT DISTINCT {a} AS x FROM v ORDER BY x"),
    ("UNION", "SELECT {a} AS x FROM v UNION SELECT {a} FROM v ORDER BY 1"),
    ("UNION ALL", "SELECT id, {a} AS x FROM v UNION ALL SELECT id, {a} FROM v ORDER BY id, x"),
    ("UNION of literals", "SELECT {a} AS x FROM v UNION ALL SELECT {a} FROM v WHERE id = 1"),
    ("derived", "SELECT id, x FROM (SELECT id, [f] AS x FROM v) d ORDER BY id"),
    (
        "derived UNION",
        "SELECT x {c} {a} FROM (SELECT id, {a} AS x FROM v UNION ALL SELECT id, {a} \
      FROM v) d, v WHERE v.id = d.id ORDER BY v.id, 1",
    ),
    ("join", "SELECT p.id, q.id FROM v p JOIN v q ON p.{C} {c} q.{C} ORDER BY p.id, q.id"),
    ("join equal", "SELECT p.id, q.id FROM v p LEFT JOIN v q ON p.{C} = q.{C} ORDER BY 1, 2"),
    ("IN subquery", "SELECT id FROM v WHERE {a} IN (SELECT {a} FROM v w) ORDER BY id"),
    ("IN subquery", "SELECT id FROM v WHERE {C} IN (SELECT {C} FROM v w) ORDER BY id"),
    ("NOT IN", "SELECT id FROM v WHERE {C} NOT IN (SELECT {a} FROM v w WHERE id < 3) ORDER BY id"),
    ("ANY", "SELECT id FROM v WHERE {a} {c} ANY (SELECT {a} FROM v w) ORDER BY id"),
    (
        "scalar subquery",
        "SELECT id, (SELECT {a} FROM v w WHERE w.id = v.id) AS x FROM v ORDER BY id",
    ),
    ("FIRST_VALUE", "SELECT id, FIRST_VALUE({a}) OVER (ORDER BY {a}, id) AS x FROM v ORDER BY id"),
    ("LAG", "SELECT id, LAG({a}, 1, {a}) OVER (ORDER BY id) AS x FROM v ORDER BY id"),
    ("RANK", "SELECT id, RANK() OVER (ORDER BY {a}) AS x FROM v ORDER BY id"),
    ("aggregate OVER", "SELECT id, [g] OVER (PARTITION BY id % 2) AS x FROM v ORDER BY id"),
    ("running aggregate", "SELECT id, SUM({a}) OVER (ORDER BY id) AS x FROM v ORDER BY id"),
    (
        "RANGE frame",
        "SELECT id, COUNT(*) OVER (ORDER BY {C} RANGE BETWEEN 2 PRECEDING AND CURRENT \
      ROW) AS x FROM v ORDER BY id",
    ),
    ("VALUES", "SELECT * FROM (VALUES ROW({a}, {n}), ROW({a}, {s})) d ORDER BY 1, 2"),
    ("CTE", "WITH d AS (SELECT id, [f] AS x FROM v) SELECT * FROM d ORDER BY id"),
    (
        "recursive",
        "WITH RECURSIVE d (n, x) AS (SELECT 1, {a} UNION ALL SELECT n + 1, {a} FROM d WHERE \
      n < 3) SELECT * FROM d, (SELECT 1) e ORDER BY n",
    ),
    ("LIMIT", "SELECT id, {a} AS x FROM v ORDER BY {a}, id LIMIT 2, 2"),
];

/// Queries whose result makes a table.
pub(super) const SOURCES: &[(&str, &str)] = &[
    ("", "SELECT [f] AS x FROM v"),
    ("", "SELECT [f] AS x FROM v"),
    ("", "SELECT [g] AS x FROM v"),
    ("columns", "SELECT {C}, {a} AS x FROM v"),
    ("derived", "SELECT * FROM (SELECT {C}, {a} AS x FROM v) d"),
    ("derived LIMIT", "SELECT * FROM (SELECT {C}, {a} AS x FROM v ORDER BY id LIMIT 4) d"),
    ("derived DISTINCT", "SELECT * FROM (SELECT DISTINCT {C} FROM v) d"),
    ("CTE", "WITH d AS (SELECT {C}, [f] AS x FROM v) SELECT * FROM d"),
    ("UNION", "SELECT {a} AS x FROM v UNION SELECT {a} FROM v"),
    ("scalar subquery", "SELECT (SELECT {a} FROM v w WHERE w.id = v.id) AS x FROM v"),
    ("GROUP BY", "SELECT {C}, MAX({C}) AS x, MIN({a}) AS y FROM v GROUP BY 1 ORDER BY MIN(id)"),
    ("outer join", "SELECT q.{C} FROM v p LEFT JOIN v q ON p.id = q.id + 1"),
    ("window", "SELECT MAX({C}) OVER () AS x, LAG({a}) OVER (ORDER BY id) AS y FROM v"),
    ("VALUES", "VALUES ROW({a}), ROW({a})"),
    ("variable", "SELECT @a := {a} AS x FROM v ORDER BY id"),
];

/// A query of a shape, and what it is about.
pub(super) fn query(random: &mut Random, (about, shape): (&str, &str)) -> (String, String) {
    let mut subjects = vec![about.to_owned()];
    let mut text = shape.to_owned();
    for (hole, shapes) in [("[f]", FUNCTIONS), ("[g]", AGGREGATES)] {
        while let Some((before, after)) = text.split_once(hole) {
            let inner = *random.pick(shapes);
            subjects.push(subject(inner));
            text = format!("{before}{inner}{after}");
        }
    }
    (subjects.join(" ").trim().to_owned(), fill(random, &text))
}
