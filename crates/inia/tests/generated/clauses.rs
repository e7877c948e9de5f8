//! Every clause of a query over columns of every type, what a query makes a table of, and what
//! columns store.

use super::queries::{QUERIES, SOURCES, query};
use super::values::{COLUMNS, fill};
use super::{Step, Steps};
use inia_testkit::Random;

/// A query, or a table made of one, or values stored.
pub(super) fn draw(random: &mut Random) -> Steps {
    match random.index(8) {
        0..=3 => {
            let shape = *random.pick(QUERIES);
            let (subject, sql) = query(random, shape);
            vec![Step { subject, sql }]
        }
        4..=5 => made(random),
        _ => stored(random),
    }
}

fn step(subject: &str, sql: String) -> Step {
    Step { subject: subject.to_owned(), sql }
}

/// CREATE TABLE … SELECT, and what has become of the columns.
fn made(random: &mut Random) -> Steps {
    let shape = *random.pick(SOURCES);
    let (subject, sql) = query(random, shape);
    let subject = format!("CREATE TABLE of {subject}");
    let create = if random.chance(1, 6) {
        format!("CREATE TABLE m (k INT AUTO_INCREMENT PRIMARY KEY, x VARCHAR(30)) AS {sql}")
    } else {
        format!("CREATE TABLE m AS {sql}")
    };
    // Without strict mode all values are stored, and their types are seen.
    let mode = if random.chance(1, 3) { "DEFAULT" } else { "''" };
    vec![
        step("DROP TABLE", "DROP TABLE IF EXISTS m, w".to_owned()),
        step("SET", format!("SET sql_mode = {mode}")),
        step(&format!("{subject} in mode {mode}"), create),
        step("SET", "SET sql_mode = DEFAULT".to_owned()),
        step(&subject, "SHOW CREATE TABLE m /* of ".to_owned() + &sql + " */"),
        step(&subject, "SELECT * FROM m /* ".to_owned() + &sql + " */"),
    ]
}

/// Values stored by INSERT … SELECT, INSERT, UPDATE, and found by UPDATE and DELETE.
fn stored(random: &mut Random) -> Steps {
    let column = random.pick(COLUMNS).0;
    let change = *random.pick(&[
        "INSERT INTO w (id, dn, {K}) SELECT id + 10, '2020-01-01', {a} FROM v",
        "INSERT IGNORE INTO w (id, dn, {K}) SELECT id + 10, '2020-01-01', {a} FROM v",
        "INSERT INTO w (id, dn, {K}) VALUES (10, '2020-01-01', {a})",
        "UPDATE w SET {K} = {a}",
        "UPDATE w SET {K} = {a} WHERE {a} {c} {a}",
        "UPDATE w SET {K} = {a} + {i}",
        "UPDATE w JOIN v ON w.{C} = v.{C} SET w.{K} = 7",
        "UPDATE IGNORE w SET {K} = {a}, nn = {a}",
        "DELETE FROM w WHERE {a} {c} {a}",
        "DELETE FROM w WHERE {a} IN ({a}, {a})",
        "INSERT INTO w (id, dn) VALUES (1, {d}) ON DUPLICATE KEY UPDATE {K} = {a}",
        "REPLACE INTO w (id, dn, {K}) VALUES (3, '2020-01-01', {a})",
    ]);
    let mode = if random.chance(1, 3) { "''" } else { "DEFAULT" };
    let sql = fill(random, &change.replace("{K}", column)).replace("v.w.", "v.");
    let verb = sql.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let subject = format!("{verb} {column} in mode {mode}");
    vec![
        step("DROP TABLE", "DROP TABLE IF EXISTS m, w".to_owned()),
        step("SET", "SET sql_mode = ''".to_owned()),
        step("CREATE", "CREATE TABLE w LIKE v".to_owned()),
        step("INSERT", "INSERT INTO w SELECT * FROM v".to_owned()),
        step("SET", format!("SET sql_mode = {mode}")),
        step(&subject, sql.clone()),
        step("SET", "SET sql_mode = DEFAULT".to_owned()),
        step(&subject, format!("SELECT id, {column} FROM w /* {sql} */")),
    ]
}
