//! Definitions that change several things at once, or things that the model does not hold.

use super::model::{Index, Table};
use super::workload::{ADDED, DUPLICATE, Maker, SessionStep};

/// A table cannot be truncated, or dropped, while a foreign key refers to it.
const TRUNCATE_PARENT: u16 = 1701;
const DROP_PARENT: u16 = 3730;

impl Maker<'_> {
    /// One ALTER TABLE of several actions: all of them or none.
    pub(super) fn several(&mut self, name: &str, free: &str) -> SessionStep {
        let mut actions = Vec::new();
        let (renames, unique) = (self.random.chance(1, 2), self.random.chance(1, 2));
        let mut table: Table = (*self.tables.0[name]).clone();
        match table.columns.get(4) {
            None => {
                table.columns.push(String::from("e"));
                table.rows.values_mut().for_each(|row| row.push(Some(ADDED.into())));
                actions.push(format!("ADD COLUMN e INT NOT NULL DEFAULT {ADDED}"));
            }
            Some(added) => {
                actions.push(format!("DROP COLUMN {added}"));
                table.columns.truncate(4);
                table.rows.values_mut().for_each(|row| row.truncate(4));
            }
        }
        let wanted: &[(&str, &str)] =
            if unique { &[("sk", "s, k"), ("u", "u")] } else { &[("sk", "s, k"), ("k", "k")] };
        let mut error = None;
        for (index, columns) in wanted {
            if table.indexes.remove(*index).is_some() {
                actions.push(format!("DROP INDEX {index}"));
                continue;
            }
            let unique = *index == "u";
            let word = if unique { "UNIQUE INDEX" } else { "INDEX" };
            actions.push(format!("ADD {word} {index} ({columns})"));
            error = error.or((unique && table.repeats("u")).then_some(DUPLICATE));
            let columns = columns.split(", ").map(String::from).collect();
            table.indexes.insert((*index).to_owned(), Index { columns, unique });
        }
        self.tables.0.remove(name);
        let to = if renames { free } else { name };
        self.tables.0.insert(to.to_owned(), table.into());
        if renames {
            actions.push(format!("RENAME TO {free}"));
        }
        self.changed(format!("ALTER TABLE {name} {}", actions.join(", ")), error)
    }

    /// Names that go and come back, and what a foreign key forbids.
    pub(super) fn around_family(&mut self) -> SessionStep {
        let (parent, child) = (format!("{}parent", self.prefix), format!("{}child", self.prefix));
        let away = format!("{}away", self.prefix);
        match self.random.below(5) {
            0 => {
                self.tables.change(&child).rows.clear();
                self.changed(format!("TRUNCATE TABLE {child}"), None)
            }
            1 => self.changed(format!("TRUNCATE TABLE {parent}"), Some(TRUNCATE_PARENT)),
            2 => self.changed(format!("DROP TABLE {parent}"), Some(DROP_PARENT)),
            3 => self.changed(
                format!(
                    "RENAME TABLE {parent} TO {away}, {child} TO {parent}, {away} TO {child}, \
                         {parent} TO {away}, {child} TO {parent}, {away} TO {child}"
                ),
                None,
            ),
            _ => self.changed(
                format!(
                    "ALTER TABLE {child} ADD CONSTRAINT {away} FOREIGN KEY (parent_id) \
                     REFERENCES {parent} (id), DROP FOREIGN KEY {away}"
                ),
                Some(1091),
            ),
        }
    }

    /// A view, or none.
    pub(super) fn around_views(&mut self, name: &str) -> SessionStep {
        let view = format!("{}view", self.prefix);
        let sql = match self.random.chance(2, 3) {
            true => format!("CREATE OR REPLACE VIEW {view} AS SELECT id, s FROM {name}"),
            false => format!("DROP VIEW IF EXISTS {view}"),
        };
        self.changed(sql, None)
    }

    /// Another database, which tables are made in and moved to, and which goes with all of them.
    pub(super) fn around_databases(&mut self, name: &str, free: &str) -> SessionStep {
        let database = format!("{}db", self.prefix);
        let marker = format!("{database}.");
        let known = self.tables.0.insert(marker.clone(), Table::default().into());
        if known.is_none() {
            return self.changed(format!("CREATE DATABASE {database}"), None);
        }
        match self.random.below(3) {
            0 => {
                self.tables.0.retain(|name, _| !name.starts_with(&marker));
                self.changed(format!("DROP DATABASE {database}"), None)
            }
            1 if !name.contains('.')
                && self.ordinary() > 2
                && !self.tables.0.contains_key(&format!("{marker}{free}")) =>
            {
                let to = format!("{marker}{free}");
                let table = self.tables.0.remove(name).unwrap();
                self.tables.0.insert(to.clone(), table);
                self.changed(format!("RENAME TABLE {name} TO {to}"), None)
            }
            _ if !self.tables.0.contains_key(&format!("{marker}made")) => {
                self.create(&format!("{marker}made"), true, true)
            }
            _ => self.changed(format!("ALTER DATABASE {database} CHARSET utf8mb4"), None),
        }
    }
}
