//! What the tables must hold, kept beside the database in the plainest way.

use std::collections::BTreeMap;
use std::sync::Arc;

/// A cell's text; `None` for NULL.
pub(super) type Cell = Option<Arc<str>>;

/// An index: its columns, and whether it is unique.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Index {
    pub(super) columns: Vec<String>,
    pub(super) unique: bool,
}

/// A table. The first column is `id`, and no two rows share it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    /// All columns but `id`, in order.
    pub(super) columns: Vec<String>,
    /// `id` is the primary key.
    pub(super) primary: bool,
    /// `id` is AUTO_INCREMENT: the largest committed number.
    pub(super) auto: Option<i64>,
    pub(super) indexes: BTreeMap<String, Index>,
    /// The cells after the id.
    pub(super) rows: BTreeMap<i64, Vec<Cell>>,
}

impl Table {
    /// Position of a column among the cells.
    pub(super) fn at(&self, column: &str) -> usize {
        self.columns.iter().position(|name| name == column).unwrap()
    }

    /// Whether a unique index of one column refuses this value for the row `id`.
    pub(super) fn refuses(&self, id: i64, column: &str, value: &Cell) -> bool {
        let guarded = self.indexes.values().any(|index| index.unique && index.columns == [column]);
        let at = self.at(column);
        guarded
            && value.is_some()
            && self.rows.iter().any(|(other, row)| *other != id && row[at] == *value)
    }

    /// Whether two rows have the same value in a column.
    pub(super) fn repeats(&self, column: &str) -> bool {
        let at = self.at(column);
        let mut seen: Vec<&Cell> = self.rows.values().map(|row| &row[at]).collect();
        seen.retain(|cell| cell.is_some());
        seen.sort_unstable();
        seen.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// The rows as a session shows them, in the order of their ids.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (id, row) in &self.rows {
            text.push_str(&id.to_string());
            for cell in row {
                text.push('|');
                text.push_str(cell.as_deref().unwrap_or("NULL"));
            }
            text.push('\n');
        }
        text
    }
}

/// Tables by name. A copy shares the tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tables(pub(super) BTreeMap<String, Arc<Table>>);

impl Tables {
    /// A table to be changed.
    pub(super) fn change(&mut self, name: &str) -> &mut Table {
        Arc::make_mut(self.0.get_mut(name).unwrap())
    }

    /// These tables and others.
    pub(super) fn and(&self, other: &Tables) -> Tables {
        let mut all = self.clone();
        all.0.extend(other.0.iter().map(|(name, table)| (name.clone(), table.clone())));
        all
    }

    /// Where two sets of tables first differ, in a few words.
    pub(super) fn difference(&self, found: &Tables) -> Option<String> {
        let (a, b): (Vec<_>, Vec<_>) = (self.0.keys().collect(), found.0.keys().collect());
        if a != b {
            return Some(format!("tables {b:?} instead of {a:?}"));
        }
        self.0.iter().find_map(|(name, table)| {
            let other = &found.0[name];
            let (mine, theirs) = (describe(table), describe(other));
            if mine != theirs {
                return Some(format!("{name} is {theirs} instead of {mine}"));
            }
            let keys = table.rows.keys().chain(other.rows.keys());
            let row = keys.into_iter().find(|id| table.rows.get(id) != other.rows.get(id))?;
            let short = |table: &Table| match table.rows.get(row) {
                Some(cells) => format!("{cells:.60?}").chars().take(200).collect(),
                None => String::from("not there"),
            };
            Some(format!("{name}, row {row}: {} instead of {}", short(other), short(table)))
        })
    }
}

/// A table's definition in a line.
fn describe(table: &Table) -> String {
    format!("{:?} primary {} {:?}", table.columns, table.primary, table.indexes)
}
