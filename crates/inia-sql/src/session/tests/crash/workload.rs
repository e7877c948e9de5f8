//! Statements that change everything that can be changed, each with what it must do to the model.
//!
//! Two clients take turns, each with tables of its own, so that none waits for the other and an
//! open transaction of the one is there while the other commits. A step is made up from the tables
//! as they are: it names what exists, and the model decides whether it succeeds.

use super::model::{Cell, Index, Table, Tables};
use inia_testkit::Random;
use std::sync::Arc;

/// What a statement does beside changing tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StepKind {
    /// Changes rows, in the open transaction or in one of its own.
    Rows,
    /// Commits the open transaction, then makes its own change durable.
    Definition,
    Begin,
    Commit,
    Rollback,
    Savepoint(String),
    RollbackTo(String),
    /// Not a statement: a step of the background's work.
    Background,
}

/// A statement.
#[derive(Clone, Debug)]
pub(super) struct SessionStep {
    pub(super) sql: String,
    pub(super) kind: StepKind,
    /// The client's tables when it has succeeded.
    pub(super) after: Tables,
    /// The number of the error that it must give.
    pub(super) error: Option<u16>,
}

/// The columns of an ordinary table, without those that come and go.
const COLUMNS: &str = "id, k, u, s, b";
/// What a column has that was added later.
pub(super) const ADDED: &str = "7";
/// Duplicate key; a referenced row is missing.
pub(super) const DUPLICATE: u16 = 1062;
const NO_PARENT: u16 = 1452;

/// The statements that make a client's tables.
pub(super) fn setup(prefix: &str) -> Vec<SessionStep> {
    let mut maker = Maker { random: Random::new(1), prefix, tables: Tables::default() };
    let mut steps = Vec::new();
    for number in 1..=2 {
        let step = maker.create(&format!("{prefix}{number}"), true, true);
        maker.tables = step.after.clone();
        steps.push(step);
    }
    let fk = Index { columns: vec![String::from("parent_id")], unique: false };
    let table = |columns: &[&str]| Table {
        columns: columns.iter().map(|c| (*c).to_owned()).collect(),
        primary: true,
        ..Table::default()
    };
    let words = Index { columns: vec![String::from("s")], unique: false };
    let indexes = [(String::from("words"), words)].into();
    let auto = Table { auto: Some(0), indexes, ..table(&["s"]) };
    let child = Table { indexes: [(String::from("fk"), fk)].into(), ..table(&["parent_id", "s"]) };
    let made = [
        (
            "auto",
            "id INT PRIMARY KEY AUTO_INCREMENT, s VARCHAR(200), FULLTEXT KEY words (s)".to_owned(),
            auto,
        ),
        ("parent", "id INT PRIMARY KEY, s VARCHAR(200)".to_owned(), table(&["s"])),
        (
            "child",
            format!(
                "id INT PRIMARY KEY, parent_id INT, s VARCHAR(200), KEY fk (parent_id), \
                 CONSTRAINT {prefix}fk FOREIGN KEY (parent_id) REFERENCES {prefix}parent (id) \
                 ON DELETE CASCADE ON UPDATE CASCADE"
            ),
            child,
        ),
    ];
    for (name, columns, table) in made {
        let name = format!("{prefix}{name}");
        maker.tables.0.insert(name.clone(), Arc::new(table));
        let sql = format!("CREATE TABLE {name} ({columns})");
        let after = maker.tables.clone();
        steps.push(SessionStep { sql, kind: StepKind::Definition, after, error: None });
    }
    steps
}

/// A client's next step. `tables` are its tables as it sees them.
pub(super) fn next(
    random: &mut Random,
    prefix: &str,
    tables: &Tables,
    savepoints: Option<&[String]>,
) -> SessionStep {
    let mut maker = Maker { random: random.clone(), prefix, tables: tables.clone() };
    let step = match savepoints {
        Some(names) if maker.random.chance(1, 4) => maker.transaction(names),
        None if maker.random.chance(1, 8) => maker.plain("BEGIN", StepKind::Begin),
        open => maker.work(open.is_some()),
    };
    *random = maker.random;
    step
}

pub(super) struct Maker<'m> {
    pub(super) random: Random,
    pub(super) prefix: &'m str,
    pub(super) tables: Tables,
}

impl Maker<'_> {
    fn plain(&self, sql: &str, kind: StepKind) -> SessionStep {
        SessionStep { sql: sql.to_owned(), kind, after: self.tables.clone(), error: None }
    }

    fn transaction(&mut self, savepoints: &[String]) -> SessionStep {
        match self.random.below(8) {
            0..=2 => self.plain("COMMIT", StepKind::Commit),
            3 => self.plain("ROLLBACK", StepKind::Rollback),
            4 if !savepoints.is_empty() => {
                let name = self.random.pick(savepoints).clone();
                self.plain(&format!("ROLLBACK TO SAVEPOINT {name}"), StepKind::RollbackTo(name))
            }
            4 => self.plain("BEGIN", StepKind::Begin),
            _ => {
                let name = format!("s{}", self.random.below(3));
                self.plain(&format!("SAVEPOINT {name}"), StepKind::Savepoint(name))
            }
        }
    }

    fn work(&mut self, open: bool) -> SessionStep {
        let definitions = if open { 1 } else { 8 };
        match self.random.below(32 + definitions) {
            0..=20 => self.rows(),
            21 | 22 => self.auto(),
            23..=26 => self.family(),
            27..=31 => self.plain("-- background", StepKind::Background),
            _ => self.definition(),
        }
    }

    /// An ordinary table.
    fn table(&mut self) -> String {
        let plain = |name: &&String| self.tables.0[*name].columns.iter().any(|c| c == "u");
        let names: Vec<String> = self.tables.0.keys().filter(plain).cloned().collect();
        self.random.pick(&names).clone()
    }

    /// How many ordinary tables there are in the database that everything else is in.
    pub(super) fn ordinary(&self) -> usize {
        let plain = |(name, table): &(&String, &Arc<Table>)| {
            !name.contains('.') && table.columns.iter().any(|c| c == "u")
        };
        self.tables.0.iter().filter(plain).count()
    }

    fn rows(&mut self) -> SessionStep {
        let name = self.table();
        match self.random.below(12) {
            0..=4 => self.insert(&name),
            5 => self.replace(&name),
            6 => self.upsert(&name),
            7 => self.update(&name),
            8 => self.update_batch(&name),
            9 => self.move_key(&name),
            10 => self.delete(&name),
            _ => self.copy(&name),
        }
    }

    fn done(&self, sql: String, error: Option<u16>) -> SessionStep {
        SessionStep { sql, kind: StepKind::Rows, after: self.tables.clone(), error }
    }

    fn existing(&mut self, name: &str) -> Option<i64> {
        let ids: Vec<i64> = self.tables.0[name].rows.keys().copied().collect();
        (!ids.is_empty()).then(|| *self.random.pick(&ids))
    }

    /// An id; a new one where nothing keeps ids apart.
    fn id(&mut self, name: &str) -> i64 {
        let id = self.random.range(0..300);
        let table = &self.tables.0[name];
        match table.rows.keys().next_back() {
            Some(last) if !table.primary => last + 1 + id % 3,
            _ => id,
        }
    }

    /// A text and how it is written.
    fn text(&mut self) -> (Cell, String) {
        let length = match self.random.below(24) {
            0 => 9_000 + self.random.index(24_000),
            1..=4 => 400,
            _ => self.random.index(60),
        };
        let letter = self.random.letters(1);
        (Some(letter.repeat(length).into()), format!("REPEAT('{letter}', {length})"))
    }

    /// A row's cells and how they are written. NULL for `u` where it must not clash.
    fn row(&mut self, name: &str, unique: bool) -> (Vec<Cell>, String) {
        let k = self.random.below(20).to_string();
        let u = (unique && self.random.chance(1, 2)).then(|| self.random.below(400).to_string());
        let s = self.random.letters(20);
        let (b, written) = self.text();
        let shown = u.clone().unwrap_or_else(|| String::from("NULL"));
        let sql = format!("{k}, {shown}, '{s}', {written}");
        let mut cells = vec![Some(k.into()), u.map(Into::into), Some(s.into()), b];
        cells.resize(self.tables.0[name].columns.len(), Some(ADDED.into()));
        (cells, sql)
    }

    fn insert(&mut self, name: &str) -> SessionStep {
        let mut values = Vec::new();
        let mut error = None;
        for _ in 0..1 + self.random.below(6) {
            let id = self.id(name);
            let (cells, sql) = self.row(name, true);
            values.push(format!("({id}, {sql})"));
            let table = self.tables.change(name);
            if table.rows.contains_key(&id) || table.refuses(id, "u", &cells[1]) {
                error = Some(DUPLICATE);
                break;
            }
            table.rows.insert(id, cells);
        }
        self.done(format!("INSERT INTO {name} ({COLUMNS}) VALUES {}", values.join(", ")), error)
    }

    fn replace(&mut self, name: &str) -> SessionStep {
        let id = self.id(name);
        let (cells, sql) = self.row(name, true);
        let table = self.tables.change(name);
        if table.refuses(id, "u", &cells[1]) {
            let at = table.at("u");
            table.rows.retain(|_, row| row[at] != cells[1]);
        }
        table.rows.insert(id, cells);
        self.done(format!("REPLACE INTO {name} ({COLUMNS}) VALUES ({id}, {sql})"), None)
    }

    fn upsert(&mut self, name: &str) -> SessionStep {
        let id = self.id(name);
        let (cells, sql) = self.row(name, false);
        let table = self.tables.change(name);
        match table.rows.get_mut(&id) {
            Some(row) => row[2] = Some("again".into()),
            None => drop(table.rows.insert(id, cells)),
        }
        self.done(
            format!(
                "INSERT INTO {name} ({COLUMNS}) VALUES ({id}, {sql}) \
                 ON DUPLICATE KEY UPDATE s = 'again'"
            ),
            None,
        )
    }

    fn update(&mut self, name: &str) -> SessionStep {
        let Some(id) = self.existing(name) else { return self.insert(name) };
        let (cells, _) = self.row(name, true);
        let (b, written) = self.text();
        let table = self.tables.change(name);
        let shown = |cell: &Cell| cell.as_deref().map_or("NULL".into(), |c| format!("'{c}'"));
        let error = table.refuses(id, "u", &cells[1]).then_some(DUPLICATE);
        let sql = format!(
            "UPDATE {name} SET u = {}, b = {written}, k = {} WHERE id = {id}",
            shown(&cells[1]),
            shown(&cells[0])
        );
        if let Some(row) = table.rows.get_mut(&id) {
            (row[0], row[1], row[3]) = (cells[0].clone(), cells[1].clone(), b);
        }
        self.done(sql, error)
    }

    fn update_batch(&mut self, name: &str) -> SessionStep {
        let from = self.random.range(0..20);
        let all = self.random.chance(1, 3);
        let table = self.tables.change(name);
        for row in table.rows.values_mut() {
            let k: i64 = row[0].as_deref().unwrap().parse().unwrap();
            if all || (from..=from + 3).contains(&k) {
                row[0] = Some(((k + 1) % 20).to_string().into());
                row[2] = Some("many".into());
            }
        }
        let some = match all {
            true => String::new(),
            false => format!(" WHERE k BETWEEN {from} AND {}", from + 3),
        };
        self.done(format!("UPDATE {name} SET k = (k + 1) % 20, s = 'many'{some}"), None)
    }

    /// Gives a row another id.
    fn move_key(&mut self, name: &str) -> SessionStep {
        let Some(id) = self.existing(name) else { return self.insert(name) };
        let to = self.id(name);
        let table = self.tables.change(name);
        let error = (table.rows.contains_key(&to) && to != id).then_some(DUPLICATE);
        if let Some(row) = table.rows.remove(&id) {
            table.rows.insert(to, row);
        }
        self.done(format!("UPDATE {name} SET id = {to} WHERE id = {id}"), error)
    }

    fn delete(&mut self, name: &str) -> SessionStep {
        if self.random.chance(1, 12) {
            self.tables.change(name).rows.clear();
            return self.done(format!("DELETE FROM {name}"), None);
        }
        let from = self.random.range(0..300);
        let to = from + if self.random.chance(1, 5) { 150 } else { 20 };
        self.tables.change(name).rows.retain(|id, _| !(from..to).contains(id));
        self.done(format!("DELETE FROM {name} WHERE id >= {from} AND id < {to}"), None)
    }

    /// Doubles some of the rows.
    fn copy(&mut self, name: &str) -> SessionStep {
        let end = if self.random.chance(1, 4) { 200 } else { 25 };
        let table = self.tables.change(name);
        let shift = table.rows.keys().next_back().map_or(0, |last| last + 1);
        let source: Vec<(i64, Vec<Cell>)> =
            table.rows.range(0..end).map(|(id, row)| (*id, row.clone())).collect();
        if shift > 2000 {
            return self.delete(name);
        }
        for (id, mut row) in source {
            row.truncate(4);
            row[1] = None;
            row.resize(table.columns.len(), Some(ADDED.into()));
            table.rows.insert(id + shift, row);
        }
        self.done(
            format!(
                "INSERT INTO {name} ({COLUMNS}) SELECT id + {shift}, k, NULL, s, b FROM {name} \
                 WHERE id >= 0 AND id < {end}"
            ),
            None,
        )
    }

    fn auto(&mut self) -> SessionStep {
        let name = format!("{}auto", self.prefix);
        if self.random.chance(1, 4) {
            let id = self.existing(&name).unwrap_or(1);
            self.tables.change(&name).rows.remove(&id);
            return self.done(format!("DELETE FROM {name} WHERE id = {id}"), None);
        }
        // Numbers that were given out and rolled back are a gap, so they are named here.
        let table = self.tables.change(&name);
        let next = table.auto.unwrap_or(0) + 1;
        table.auto = Some(next);
        table.rows.insert(next, vec![Some("auto".into())]);
        self.done(format!("INSERT INTO {name} VALUES ({next}, 'auto')"), None)
    }

    /// Rows that refer to one another.
    fn family(&mut self) -> SessionStep {
        let (parent, child) = (format!("{}parent", self.prefix), format!("{}child", self.prefix));
        let id = self.random.range(0..40);
        let known = self.tables.0[&parent].rows.contains_key(&id);
        let key: Cell = Some(id.to_string().into());
        match self.random.below(8) {
            0..=2 => {
                let error = known.then_some(DUPLICATE);
                self.tables.change(&parent).rows.insert(id, vec![Some("parent".into())]);
                self.done(format!("INSERT INTO {parent} VALUES ({id}, 'parent')"), error)
            }
            3..=5 => {
                let table = self.tables.change(&child);
                let row = table.rows.keys().next_back().map_or(1, |last| last + 1);
                table.rows.insert(row, vec![key, Some("child".into())]);
                let error = (!known).then_some(NO_PARENT);
                self.done(format!("INSERT INTO {child} VALUES ({row}, {id}, 'child')"), error)
            }
            6 => {
                self.tables.change(&parent).rows.remove(&id);
                self.tables.change(&child).rows.retain(|_, row| row[0] != key);
                self.done(format!("DELETE FROM {parent} WHERE id = {id}"), None)
            }
            _ => {
                let to = self.random.range(0..40);
                let parents = self.tables.change(&parent);
                let error = (known && to != id && parents.rows.contains_key(&to)).then_some(1062);
                if let Some(row) = parents.rows.remove(&id) {
                    parents.rows.insert(to, row);
                }
                for row in self.tables.change(&child).rows.values_mut() {
                    if row[0] == key {
                        row[0] = Some(to.to_string().into());
                    }
                }
                self.done(format!("UPDATE {parent} SET id = {to} WHERE id = {id}"), error)
            }
        }
    }

    pub(super) fn create(&mut self, name: &str, k: bool, u: bool) -> SessionStep {
        let index = |column: &str, unique| Index { columns: vec![column.to_owned()], unique };
        let mut indexes = std::collections::BTreeMap::new();
        let mut sql = format!(
            "CREATE TABLE {name} (id INT PRIMARY KEY, k INT, u INT, s VARCHAR(100), b LONGTEXT"
        );
        if k {
            sql.push_str(", KEY k (k)");
            indexes.insert(String::from("k"), index("k", false));
        }
        if u {
            sql.push_str(", UNIQUE KEY u (u)");
            indexes.insert(String::from("u"), index("u", true));
        }
        let columns = ["k", "u", "s", "b"].map(String::from).into();
        let table = Table { columns, primary: true, indexes, ..Table::default() };
        self.tables.0.insert(name.to_owned(), Arc::new(table));
        self.changed(format!("{sql})"), None)
    }

    pub(super) fn changed(&self, sql: String, error: Option<u16>) -> SessionStep {
        SessionStep { sql, kind: StepKind::Definition, after: self.tables.clone(), error }
    }

    fn definition(&mut self) -> SessionStep {
        let name = self.table();
        let free = (1..).map(|n| format!("{}{n}", self.prefix));
        let free = free.filter(|name| !self.tables.0.contains_key(name)).take(1).last().unwrap();
        let ordinary = self.ordinary();
        match self.random.below(26) {
            0 | 1 if ordinary < 4 => {
                let (k, u) = (self.random.chance(1, 2), self.random.chance(1, 2));
                self.create(&free, k, u)
            }
            2 if ordinary > 2 => {
                self.tables.0.remove(&name);
                self.changed(format!("DROP TABLE {name}"), None)
            }
            3 => {
                let table = self.tables.0.remove(&name).unwrap();
                self.tables.0.insert(free.clone(), table);
                self.changed(format!("RENAME TABLE {name} TO {free}"), None)
            }
            4 => self.swap(&name, &free),
            5 => {
                self.tables.change(&name).rows.clear();
                self.changed(format!("TRUNCATE TABLE {name}"), None)
            }
            6..=8 => self.column(&name),
            9 => self.convert(&name),
            10 => self.primary(&name),
            11..=13 => self.several(&name, &free),
            14 => self.around_family(),
            15 => self.around_views(&name),
            16 => self.around_databases(&name, &free),
            _ => self.index(&name),
        }
    }

    /// Two tables change their names in one statement.
    fn swap(&mut self, name: &str, free: &str) -> SessionStep {
        let other = self.table();
        let (a, b) = (self.tables.0[name].clone(), self.tables.0[&other].clone());
        self.tables.0.insert(name.to_owned(), b);
        self.tables.0.insert(other.clone(), a);
        if other == name {
            return self.changed(format!("ALTER TABLE {name} COMMENT 'alone'"), None);
        }
        self.changed(
            format!("RENAME TABLE {name} TO {free}, {other} TO {name}, {free} TO {other}"),
            None,
        )
    }

    /// Adds a column, or drops or renames the one that was added.
    fn column(&mut self, name: &str) -> SessionStep {
        let place = self.random.chance(1, 2);
        let table = self.tables.change(name);
        let Some(added) = table.columns.get(4).cloned() else {
            table.columns.push(String::from("e"));
            table.rows.values_mut().for_each(|row| row.push(Some(ADDED.into())));
            return self.changed(
                format!("ALTER TABLE {name} ADD COLUMN e INT NOT NULL DEFAULT {ADDED}"),
                None,
            );
        };
        if place {
            let to = if added == "e" { "f" } else { "e" };
            table.columns[4] = to.to_owned();
            return self.changed(format!("ALTER TABLE {name} RENAME COLUMN {added} TO {to}"), None);
        }
        table.columns.truncate(4);
        table.rows.values_mut().for_each(|row| row.truncate(4));
        self.changed(format!("ALTER TABLE {name} DROP COLUMN {added}"), None)
    }

    /// Writes every row anew.
    fn convert(&mut self, name: &str) -> SessionStep {
        let what = ["MODIFY k BIGINT", "MODIFY k INT", "ENGINE = InnoDB, FORCE"];
        let what = *self.random.pick(&what);
        self.changed(format!("ALTER TABLE {name} {what}"), None)
    }

    fn primary(&mut self, name: &str) -> SessionStep {
        let table = self.tables.change(name);
        table.primary = !table.primary;
        let what = if table.primary { "ADD PRIMARY KEY (id)" } else { "DROP PRIMARY KEY" };
        self.changed(format!("ALTER TABLE {name} {what}"), None)
    }

    /// Adds or drops an index.
    fn index(&mut self, name: &str) -> SessionStep {
        let make = self.random.chance(1, 2);
        let table = self.tables.change(name);
        let kinds = [("k", "k", false), ("u", "u", true), ("sk", "s, k", false), ("b", "b", false)];
        let (index, columns, unique) = *self.random.pick(&kinds);
        if table.indexes.remove(index).is_some() {
            return self.changed(format!("ALTER TABLE {name} DROP INDEX {index}"), None);
        }
        let repeats = unique && table.repeats("u");
        // The s column repeats its values sooner or later.
        if !make && table.repeats("s") {
            return self.changed(format!("CREATE UNIQUE INDEX x ON {name} (s)"), Some(DUPLICATE));
        }
        let columns_of = columns.split(", ").map(String::from).collect();
        table.indexes.insert(index.to_owned(), Index { columns: columns_of, unique });
        let written = if index == "b" { "b(20)" } else { columns };
        let error = repeats.then_some(DUPLICATE);
        let word = if unique { "UNIQUE INDEX" } else { "INDEX" };
        if make {
            return self.changed(format!("CREATE {word} {index} ON {name} ({written})"), error);
        }
        self.changed(format!("ALTER TABLE {name} ADD {word} {index} ({written})"), error)
    }
}
