//! Makes statements that change tables: INSERT, REPLACE, UPDATE and DELETE in their forms.
//!
//! What they do must not depend on the order in which rows are met: columns of unique keys get
//! values from UPDATE that are the same for every row, IGNORE and LIMIT come with an ORDER BY of
//! the primary key.

use super::maker::{Maker, Name, Scope};
use super::tables::{Column, Table, value};
use super::values::ValueClass;

impl Maker<'_> {
    /// A change of one of the tables.
    pub(super) fn change(&mut self, tables: &[Table]) -> String {
        let table = &tables[self.random.index(tables.len())];
        match self.random.index(10) {
            0 | 1 => self.insert(table),
            2 => self.insert_select(table),
            3 | 4 => self.update(table),
            5 => self.update_joined(table),
            6 => self.replace(table),
            7 => self.delete_joined(table),
            _ => self.delete(table),
        }
    }

    fn tuples(&mut self, table: &Table) -> String {
        let mut tuples = Vec::new();
        for _ in 0..1 + self.random.index(3) {
            let mut cells = Vec::new();
            for column in table.stored() {
                cells.push(match column.name == "id" {
                    true => self.random.index(60).to_string(),
                    false => value(self.random, column),
                });
            }
            tuples.push(format!("({})", cells.join(", ")));
        }
        tuples.join(", ")
    }

    fn insert(&mut self, table: &Table) -> String {
        let ignore = self.pick(&["", "", " IGNORE"]);
        let tuples = self.tuples(table);
        let mut sql =
            format!("INSERT{ignore} INTO {} ({}) VALUES {tuples}", table.name, list(table));
        // With several unique keys, which of two conflicting rows is changed would depend on them.
        if ignore.is_empty() && self.chance(60) {
            let sets = self.assignments(table, "", true);
            sql = format!("{sql} ON DUPLICATE KEY UPDATE {sets}");
        }
        sql
    }

    fn replace(&mut self, table: &Table) -> String {
        format!("REPLACE INTO {} ({}) VALUES {}", table.name, list(table), self.tuples(table))
    }

    fn insert_select(&mut self, table: &Table) -> String {
        let kinds: Vec<ValueClass> = table.stored().map(|column| column.kind).collect();
        let body = self.select(&kinds, &[], 0, None);
        let keys: Vec<String> = (1..=kinds.len()).map(|at| at.to_string()).collect();
        let word = self.pick(&["INSERT", "INSERT IGNORE", "REPLACE"]);
        let order = keys.join(", ");
        format!("{word} INTO {} ({}) {body} ORDER BY {order}", table.name, list(table))
    }

    /// `column = expression` for some columns; `alias` is of the changed table.
    fn assignments(&mut self, table: &Table, alias: &str, fresh: bool) -> String {
        let names: Vec<Name> =
            table.columns.iter().map(|c| Name(format!("{alias}{}", c.name), c.kind)).collect();
        let mut sets: Vec<String> = Vec::new();
        let stored: Vec<&Column> = table.stored().skip(1).collect();
        for _ in 0..1 + self.random.index(2) {
            let column = *self.random.pick(&stored);
            if sets.iter().any(|set| set.starts_with(&format!("{alias}{} ", column.name))) {
                continue;
            }
            let unique = table.distinct.contains(&column.name);
            let value = match self.random.index(10) {
                _ if unique && !sets.is_empty() => continue,
                0..=4 => value(self.random, column),
                _ if unique => value(self.random, column),
                5 if fresh => format!("VALUES({})", column.name),
                _ => self.expression(&Scope::plain(&names, &[]), column.kind, 1),
            };
            sets.push(format!("{alias}{} = {value}", column.name));
            if unique {
                break;
            }
        }
        sets.join(", ")
    }

    /// A condition on the table's columns as they are called with this alias.
    fn where_clause(&mut self, table: &Table, alias: &str) -> String {
        let names: Vec<Name> =
            table.columns.iter().map(|c| Name(format!("{alias}{}", c.name), c.kind)).collect();
        format!(" WHERE {}", self.condition(&Scope::plain(&names, &[]), 2))
    }

    fn limit(&mut self, table: &Table) -> String {
        let way = self.pick(&["", " DESC"]);
        match table.by_id && self.chance(25) {
            true => format!(" ORDER BY id{way} LIMIT {}", 1 + self.random.index(5)),
            false => String::new(),
        }
    }

    fn update(&mut self, table: &Table) -> String {
        self.left = self.left.min(1);
        let sets = self.assignments(table, "", false);
        let filter = self.where_clause(table, &format!("{}.", table.name));
        let limit = self.limit(table);
        let ignore = if limit.is_empty() { "" } else { self.pick(&["", " IGNORE"]) };
        format!("UPDATE{ignore} {} SET {sets}{filter}{limit}", table.name)
    }

    fn update_joined(&mut self, table: &Table) -> String {
        let (joined, filter) = self.joined(table);
        self.left = 0;
        let sets = self.assignments(table, "z.", false);
        format!("UPDATE {joined} SET {sets}{filter}")
    }

    fn delete(&mut self, table: &Table) -> String {
        let filter = self.where_clause(table, &format!("{}.", table.name));
        format!("DELETE FROM {}{filter}{}", table.name, self.limit(table))
    }

    fn delete_joined(&mut self, table: &Table) -> String {
        let (joined, filter) = self.joined(table);
        format!("DELETE z FROM {joined}{filter}")
    }

    /// The table as `z`, joined with something, and a condition on both.
    fn joined(&mut self, table: &Table) -> (String, String) {
        let mut names: Vec<Name> =
            table.columns.iter().map(|c| Name(format!("z.{}", c.name), c.kind)).collect();
        let (from, columns) = self.from(&[], 0);
        let word = self.pick(&["JOIN", "LEFT JOIN"]);
        let on = self.join_condition(&names, &columns, &[]);
        names.extend(columns);
        let filter = format!(" WHERE {}", self.condition(&Scope::plain(&names, &[]), 1));
        (format!("{} z {word} ({from}) ON {on}", table.name), filter)
    }
}

fn list(table: &Table) -> String {
    let names: Vec<&str> = table.stored().map(|column| column.name.as_str()).collect();
    names.join(", ")
}
