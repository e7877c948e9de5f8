//! Random tables: columns of every type, keys of every kind, a few rows of values that often meet.
//!
//! Columns are named by their kind and number (`i1`, `s0`), so that tables share names: NATURAL
//! JOIN and USING have something to join by.

use super::maker::Name;
use super::values::{ColumnType, TYPES, ValueClass, collations};
use inia_testkit::Random;

/// A column of a table.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: ValueClass,
    pub(super) sort: &'static ColumnType,
    /// What follows the name in CREATE TABLE.
    definition: String,
    /// Computed, and so never assigned.
    pub(super) computed: bool,
    pub(super) not_null: bool,
}

/// Which keys a copy of a table gets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keys {
    /// Those without which statements have other results.
    Unique,
    None,
}

/// A table, and the statements that fill it.
pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
    /// `id` is the primary key.
    pub(super) by_id: bool,
    unique: Vec<String>,
    plain: Vec<String>,
    /// Columns of the primary key and of unique ones.
    pub(super) distinct: Vec<String>,
    pub(super) rows: Vec<String>,
    /// PARTITION BY, behind the list of columns and keys.
    division: String,
}

const DIVISION: &str = " PARTITION BY ";

/// What stands between the parentheses of a CREATE TABLE.
fn parts(sql: &str) -> Vec<&str> {
    let sql = sql.split(DIVISION).next().unwrap_or_default();
    let list = sql.split_once(" (").map_or("", |(_, list)| list);
    let list = list.strip_suffix(')').unwrap_or(list);
    let mut depth = 0;
    list.split(|char| {
        depth += i32::from(char == '(') - i32::from(char == ')');
        char == ',' && depth == 0
    })
    .map(str::trim)
    .collect()
}

/// CREATE TABLE with fewer keys; other statements stay as they are.
pub(super) fn lessen(sql: &str, keys: Keys) -> String {
    let Some((start, _)) = sql.split_once(" (").filter(|_| sql.starts_with("CREATE TABLE")) else {
        return sql.to_owned();
    };
    let unique = |part: &str| part.starts_with("UNIQUE ") || part.starts_with("PRIMARY ");
    let mut parts = parts(sql);
    parts.retain(|part| !part.starts_with("KEY ") && (keys == Keys::Unique || !unique(part)));
    format!("{start} ({})", parts.join(", "))
}

/// Columns of a CREATE TABLE that are not computed.
pub(super) fn stored(sql: &str) -> Vec<&str> {
    let key = |part: &str| ["KEY", "UNIQUE", "PRIMARY"].iter().any(|word| part.starts_with(word));
    let columns = parts(sql).into_iter().filter(|part| !key(part) && !part.contains(" AS ("));
    columns.filter_map(|column| column.split(' ').next()).collect()
}

/// Names of the secondary keys in a CREATE TABLE.
pub(super) fn keys(sql: &str) -> Vec<&str> {
    sql.split("KEY ")
        .skip(1)
        .filter_map(|rest| rest.split(' ').next())
        .filter(|n| n.starts_with('k'))
        .collect()
}

impl Table {
    /// CREATE TABLE.
    pub(super) fn create(&self) -> String {
        let columns = self.columns.iter().map(|c| format!("{} {}", c.name, c.definition));
        let keys = self.unique.iter().chain(&self.plain).cloned();
        let parts: Vec<String> = columns.chain(keys).collect();
        format!("CREATE TABLE {} ({}){}", self.name, parts.join(", "), self.division)
    }

    /// Keys of columns alone, and their columns.
    pub(super) fn keys_of_columns(&self) -> Vec<(String, Vec<Name>)> {
        let all = self.unique.iter().chain(&self.plain);
        let found = all.filter_map(|key| {
            let (start, list) = key.strip_suffix(')')?.split_once(" (")?;
            let name = match start.rsplit(' ').next()? {
                "KEY" => "PRIMARY",
                name => name,
            };
            let column = |part: &str| {
                let part = part.strip_suffix(" DESC").unwrap_or(part);
                let column = self.columns.iter().find(|column| column.name == part)?;
                Some(Name(column.name.clone(), column.kind))
            };
            let parts = list.split(", ").map(column).collect::<Option<Vec<Name>>>()?;
            Some((name.to_owned(), parts))
        });
        found.collect()
    }

    /// Columns that statements may assign.
    pub(super) fn stored(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| !column.computed)
    }
}

/// Makes a table of this name.
pub(super) fn table(random: &mut Random, name: &str) -> Table {
    let mut columns = columns(random);
    computed(random, &mut columns);
    let mut made = Table {
        name: name.to_owned(),
        columns,
        by_id: false,
        unique: Vec::new(),
        plain: Vec::new(),
        distinct: Vec::new(),
        rows: Vec::new(),
        division: String::new(),
    };
    primary(random, &mut made);
    for number in 0..random.index(5) {
        secondary(random, &mut made, number);
    }
    rows(random, &mut made);
    divide(random, &mut made);
    made
}

/// Divides a table whose unique keys all have `id`, sometimes: copies with fewer keys have no
/// partitions.
fn divide(random: &mut Random, table: &mut Table) {
    let has_id = |key: &String| {
        let words = key.split(|c: char| !c.is_ascii_alphanumeric());
        words.into_iter().any(|word| word == "id")
    };
    if !random.chance(1, 3) || !table.unique.iter().all(has_id) {
        return;
    }
    let limits = "(PARTITION p0 VALUES LESS THAN (2), PARTITION p1 VALUES LESS THAN (4), \
                  PARTITION p2 VALUES LESS THAN (9), PARTITION p3 VALUES LESS THAN (MAXVALUE))";
    let ways = [
        "HASH (id) PARTITIONS 3".to_owned(),
        "LINEAR HASH (id + 1) PARTITIONS 5".to_owned(),
        "KEY (id) PARTITIONS 4".to_owned(),
        format!("RANGE (id) {limits}"),
        format!("RANGE COLUMNS (id) {limits}"),
        format!("RANGE (id) SUBPARTITION BY KEY (id) SUBPARTITIONS 2 {limits}"),
    ];
    let mut way = random.pick(&ways).clone();
    let columns = table.columns.iter().filter(|column| {
        matches!(column.kind, ValueClass::Int | ValueClass::Text) && column.sort.key.is_none()
    });
    let columns: Vec<&str> = columns.map(|column| column.name.as_str()).collect();
    if table.unique.is_empty() && random.chance(1, 2) && !columns.is_empty() {
        way = format!("KEY ({}) PARTITIONS 3", random.pick(&columns));
    }
    table.division = format!("{DIVISION}{way}");
}

fn columns(random: &mut Random) -> Vec<Column> {
    let collations = collations(random);
    let mut columns: Vec<Column> = Vec::new();
    let id = &TYPES[0];
    let definition = "INT NOT NULL".to_owned();
    let (name, not_null) = ("id".to_owned(), true);
    columns.push(Column {
        name,
        kind: ValueClass::Int,
        sort: id,
        definition,
        computed: false,
        not_null,
    });
    for _ in 0..2 + random.index(5) {
        let sort = &TYPES[random.index(TYPES.len())];
        let number = columns.iter().filter(|c| c.kind == sort.kind && c.name != "id").count();
        let not_null = random.chance(1, 4);
        let collation = random.pick(&collations);
        let null = if not_null { " NOT NULL" } else { sort.null };
        columns.push(Column {
            name: format!("{}{number}", sort.kind.letter()),
            kind: sort.kind,
            sort,
            definition: format!("{}{null}", sort.sql.replace("{c}", collation)),
            computed: false,
            not_null,
        });
    }
    columns
}

/// Adds a generated column, sometimes.
fn computed(random: &mut Random, columns: &mut Vec<Column>) {
    if !random.chance(1, 3) {
        return;
    }
    let of = &columns[random.index(columns.len())];
    let name = &of.name;
    let (kind, sql) = match of.kind {
        ValueClass::Int => (ValueClass::Int, format!("BIGINT AS ({name} % 3)")),
        ValueClass::Number => (ValueClass::Number, format!("DECIMAL(20,1) AS (ROUND({name}, 1))")),
        ValueClass::Text => (ValueClass::Text, format!("VARCHAR(20) AS (LOWER({name}))")),
        ValueClass::Date => (ValueClass::Int, format!("INT AS (YEAR({name}))")),
        ValueClass::Clock => (ValueClass::Int, format!("INT AS (HOUR({name}))")),
        ValueClass::Doc => (ValueClass::Text, format!("VARCHAR(30) AS ({name}->>'$.a')")),
    };
    let stored = random.pick(&["VIRTUAL", "STORED"]);
    let sort = TYPES.iter().find(|sort| sort.kind == kind).expect("each kind has a type");
    columns.push(Column {
        name: format!("{}g", kind.letter()),
        kind,
        sort,
        definition: format!("{sql} {stored}"),
        computed: true,
        not_null: false,
    });
}

fn primary(random: &mut Random, table: &mut Table) {
    let other = &table.columns[1];
    match random.index(10) {
        0..=5 => {
            table.by_id = true;
            table.unique.push("PRIMARY KEY (id)".to_owned());
        }
        6 => table.unique.push("PRIMARY KEY (id DESC)".to_owned()),
        7 if other.not_null && other.sort.key != Some(0) && other.kind != ValueClass::Doc => {
            let part = part(other);
            table.unique.push(format!("PRIMARY KEY ({part}, id)"));
        }
        8 => table.unique.push("UNIQUE KEY k9 (id)".to_owned()),
        _ => return,
    }
    table.distinct.push("id".to_owned());
}

/// A column as a part of a key: long ones by their beginning.
fn part(column: &Column) -> String {
    match column.sort.key {
        Some(length) if length > 0 => format!("{}({length})", column.name),
        _ => column.name.clone(),
    }
}

fn secondary(random: &mut Random, table: &mut Table, number: usize) {
    let mut parts: Vec<String> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut whole = true;
    for _ in 0..1 + random.index(3) {
        let column = &table.columns[random.index(table.columns.len())];
        if column.kind == ValueClass::Doc || names.contains(&column.name) {
            continue;
        }
        names.push(column.name.clone());
        let mut text = part(column);
        whole &= text == column.name;
        if column.sort.shortens && random.chance(1, 4) {
            text = format!("{}(2)", column.name);
            whole = false;
        } else if random.chance(1, 8)
            && !column.computed
            && let Some(expression) = functional(random, column)
        {
            text = expression;
            whole = false;
        }
        let order = random.pick(&["", "", " DESC"]);
        parts.push(format!("{text}{order}"));
    }
    if parts.is_empty() {
        return;
    }
    let list = parts.join(", ");
    if whole && random.chance(1, 5) {
        table.unique.push(format!("UNIQUE KEY k{number} ({list})"));
        table.distinct.extend(names);
    } else {
        table.plain.push(format!("KEY k{number} ({list})"));
    }
}

fn functional(random: &mut Random, column: &Column) -> Option<String> {
    let name = &column.name;
    match column.kind {
        ValueClass::Int => {
            Some(random.pick(&["(({c} + 1))", "((ABS({c})))", "(({c} % 3))"]).to_string())
        }
        ValueClass::Text if column.sort.shortens => {
            Some(random.pick(&["((UPPER({c})))", "((LEFT({c}, 1)))"]).to_string())
        }
        ValueClass::Date => Some("((YEAR({c})))".to_owned()),
        _ => None,
    }
    .map(|shape| shape.replace("{c}", name))
}

/// The statements that fill a table: mostly few rows, sometimes many.
fn rows(random: &mut Random, table: &mut Table) {
    let number = match random.index(12) {
        0 => 0,
        1 => 1,
        2..=9 => 4 + random.index(12),
        _ => 30 + random.index(30),
    };
    let names: Vec<&str> = table.stored().map(|column| column.name.as_str()).collect();
    let start = format!("INSERT IGNORE INTO {} ({}) VALUES ", table.name, names.join(", "));
    let mut tuples: Vec<String> = Vec::new();
    for id in 1..=number {
        let mut cells = vec![id.to_string()];
        cells.extend(table.stored().skip(1).map(|column| value(random, column)));
        tuples.push(format!("({})", cells.join(", ")));
    }
    for chunk in tuples.chunks(50) {
        table.rows.push(format!("{start}{}", chunk.join(", ")));
    }
}

/// A value that a column may get.
pub(super) fn value(random: &mut Random, column: &Column) -> String {
    if !column.not_null && random.chance(1, 6) {
        return "NULL".to_owned();
    }
    (*random.pick(column.sort.values)).to_owned()
}
