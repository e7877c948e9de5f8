//! The table that rows go into, and how a cell is written for each of its columns.

use super::columns::{put_hex, put_text, quoted_name};
use super::destination::Cells;
use super::row::{CellKind, Row};
use std::fmt;

/// A table's name, with its database where that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TableName {
    /// None for that of the session.
    pub(super) database: Option<String>,
    /// Without it.
    pub(super) table: String,
}

impl TableName {
    /// Reads `[DATABASE.]TABLE`.
    pub(super) fn parse(text: &str) -> TableName {
        let (database, table) = match text.split_once('.') {
            Some((database, table)) => (Some(database.to_owned()), table),
            None => (None, text),
        };
        TableName { database, table: table.to_owned() }
    }

    /// The name in SQL.
    pub(super) fn sql(&self) -> String {
        match &self.database {
            Some(database) => format!("{}.{}", quoted_name(database), quoted_name(&self.table)),
            None => quoted_name(&self.table),
        }
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.database {
            Some(database) => write!(f, "{database}.{}", self.table),
            None => f.write_str(&self.table),
        }
    }
}

/// How a column's values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writing {
    /// As texts.
    Text,
    /// As bytes.
    Bytes,
    /// As texts, `true` and `false` as 1 and 0.
    Integer,
    /// Digits without quotes: a text would be taken for the bits.
    Bits,
    /// As texts, with an offset that MySQL knows.
    Moment,
    /// As texts, and an empty one is no value.
    Other,
}

/// One column.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// Its name.
    pub(super) name: String,
    nullable: bool,
    /// The server computes it.
    generated: bool,
    writing: Writing,
}

/// A table as information_schema describes it.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// Its name.
    pub(super) name: TableName,
    /// Its columns, in order.
    pub(super) columns: Vec<Column>,
    /// A statement that fails leaves none of its rows.
    pub(super) transactional: bool,
}

impl Table {
    /// What information_schema is asked.
    pub(super) fn question(name: &TableName) -> String {
        let mut names = Vec::new();
        put_text(&mut names, name.database.as_deref().unwrap_or_default().as_bytes());
        names.extend_from_slice(b" AND c.table_name = ");
        put_text(&mut names, name.table.as_bytes());
        let names = String::from_utf8_lossy(&names).into_owned();
        format!(
            "SELECT c.column_name, c.data_type, c.is_nullable, c.extra, t.engine \
             FROM information_schema.columns c JOIN information_schema.tables t \
             ON t.table_schema = c.table_schema AND t.table_name = c.table_name \
             WHERE c.table_schema = {names} ORDER BY c.ordinal_position"
        )
    }

    /// Reads the answer; none where there is no such table.
    pub(super) fn read(name: TableName, rows: &Cells) -> Result<Option<Table>, String> {
        let cell =
            |row: &[Option<String>], at: usize| row.get(at).cloned().flatten().unwrap_or_default();
        let Some(first) = rows.first() else { return Ok(None) };
        // A view has no engine; what is below it is not known.
        let transactional = cell(first, 4).eq_ignore_ascii_case("innodb");
        let column = |row: &Vec<Option<String>>| {
            let extra = cell(row, 3).to_ascii_uppercase();
            Column {
                name: cell(row, 0),
                nullable: cell(row, 2) == "YES" || extra.contains("AUTO_INCREMENT"),
                generated: extra.contains(" GENERATED") && !extra.contains("DEFAULT_GENERATED"),
                writing: writing(&cell(row, 1)),
            }
        };
        let columns = rows.iter().map(column).collect();
        Ok(Some(Table { name, columns, transactional }))
    }

    /// For each column of the file the table's: by name, or in order where the file has no names.
    pub(super) fn places(&self, names: &[String], by_name: bool) -> Result<Vec<usize>, String> {
        let name = &self.name;
        if !by_name {
            let given: Vec<usize> =
                (0..self.columns.len()).filter(|at| !self.columns[*at].generated).collect();
            return match given.get(..names.len()) {
                Some(given) => Ok(given.to_vec()),
                None => Err(format!(
                    "the file has {} columns and {name} only {}",
                    names.len(),
                    given.len()
                )),
            };
        }
        let place = |wanted: &String| {
            let same = |column: &Column| column.name.to_lowercase() == wanted.to_lowercase();
            match self.columns.iter().position(same) {
                Some(at) if self.columns[at].generated => {
                    Err(format!("column '{wanted}' of {name} is generated: it takes no values"))
                }
                Some(at) => Ok(at),
                None => {
                    let all: Vec<&str> = self.columns.iter().map(|c| c.name.as_str()).collect();
                    let all = all.join(", ");
                    Err(format!("{name} has no column '{wanted}'; its columns are {all}"))
                }
            }
        };
        names.iter().map(place).collect()
    }
}

fn writing(data_type: &str) -> Writing {
    match data_type.to_ascii_lowercase().as_str() {
        "tinyint" | "smallint" | "mediumint" | "int" | "bigint" => Writing::Integer,
        "bit" => Writing::Bits,
        "binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob" => Writing::Bytes,
        "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" => Writing::Text,
        "datetime" | "timestamp" => Writing::Moment,
        _ => Writing::Other,
    }
}

impl Column {
    /// Appends a cell as a literal.
    fn put(&self, out: &mut Vec<u8>, (kind, bytes): (CellKind, &[u8])) {
        let texts = matches!(self.writing, Writing::Text | Writing::Bytes);
        let null = match kind {
            CellKind::Null => true,
            CellKind::Empty => self.nullable || !texts,
            CellKind::Bytes => bytes.is_empty() && !texts,
        };
        if null {
            out.extend_from_slice(b"NULL");
            return;
        }
        match self.writing {
            Writing::Bytes => put_hex(out, bytes),
            Writing::Integer if bytes.eq_ignore_ascii_case(b"true") => out.push(b'1'),
            Writing::Integer if bytes.eq_ignore_ascii_case(b"false") => out.push(b'0'),
            Writing::Bits if bytes.iter().all(u8::is_ascii_digit) => out.extend_from_slice(bytes),
            Writing::Moment if bytes.ends_with(b"Z") => {
                put_text(out, &[&bytes[..bytes.len() - 1], b"+00:00"].concat());
            }
            // The server says what is wrong with bytes that are no text.
            _ if std::str::from_utf8(bytes).is_err() => put_hex(out, bytes),
            _ => put_text(out, bytes),
        }
    }
}

impl Table {
    /// Appends a row in parentheses; `places` are the columns of its cells.
    pub(super) fn put_row(&self, out: &mut Vec<u8>, row: &Row, places: &[usize]) {
        out.push(b'(');
        for (at, place) in places.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            self.columns[*place].put(out, row.cell(at));
        }
        out.push(b')');
    }

    /// INSERT up to its rows.
    pub(super) fn insert(&self, places: &[usize]) -> Vec<u8> {
        let names: Vec<String> =
            places.iter().map(|place| quoted_name(&self.columns[*place].name)).collect();
        format!("INSERT INTO {} ({}) VALUES ", self.name.sql(), names.join(", ")).into_bytes()
    }
}
