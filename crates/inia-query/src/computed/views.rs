//! How MySQL describes the columns of its views of information_schema, declared in `views.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What a column of a view shows.
pub(crate) enum Shown {
    /// A column of a table of MySQL's dictionary.
    Column {
        /// The table; empty where it is one of several.
        table: String,
    },
    /// The result of a function.
    Function,
    /// A constant.
    Constant,
}

/// Number and length of a type in the protocol; strings have bytes of utf8mb4.
#[derive(Clone, Copy)]
pub(crate) struct SentType {
    /// One of [`type_code`].
    pub(crate) code: u8,
    /// The length.
    pub(crate) length: u32,
}

/// The protocol's numbers of the types that functions in views have.
pub(crate) mod type_code {
    /// INT.
    pub(crate) const LONG: u8 = 3;
    /// No type: the constant NULL.
    pub(crate) const NULL: u8 = 6;
    /// BIGINT.
    pub(crate) const LONGLONG: u8 = 8;
    /// LONGTEXT.
    pub(crate) const LONG_BLOB: u8 = 251;
    /// TEXT.
    pub(crate) const BLOB: u8 = 252;
    /// VARCHAR and VARBINARY.
    pub(crate) const VAR_STRING: u8 = 253;
}

/// A column of a view as a client gets it.
pub(crate) struct Description {
    /// Flags of the protocol.
    pub(crate) flags: u32,
    /// Its type, where it is that of a function.
    pub(crate) sent: Option<SentType>,
}

/// A declared column.
pub(crate) struct ViewColumn {
    name: String,
    /// What it shows.
    pub(crate) shown: Shown,
    /// What it is in a query that reads the view.
    pub(crate) read: Description,
    /// What it is where a temporary table keeps the query's rows.
    pub(crate) kept: Description,
}

static VIEWS: LazyLock<HashMap<String, Vec<ViewColumn>>> = LazyLock::new(read);

/// What is declared of a view's column.
pub(crate) fn column(view: &str, name: &str) -> Option<&'static ViewColumn> {
    VIEWS.get(view)?.iter().find(|column| column.name.eq_ignore_ascii_case(name))
}

fn read() -> HashMap<String, Vec<ViewColumn>> {
    let mut views: HashMap<String, Vec<ViewColumn>> = HashMap::new();
    let mut view = "";
    for line in include_str!("views.txt").lines() {
        match line.strip_prefix(' ') {
            Some(line) => views.entry(view.to_owned()).or_default().push(declared(line)),
            None if line.starts_with('#') => {}
            None => view = line,
        }
    }
    views
}

fn declared(line: &str) -> ViewColumn {
    let words: Vec<&str> = line.split(' ').collect();
    // `views.txt` is compiled in; a test reads all of it.
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let flags = |at: usize| u32::from_str_radix(word(at), 16).unwrap_or_default();
    let sent = |at: usize| {
        let (code, length) = (word(at).parse().ok()?, word(at + 1).parse().ok()?);
        Some(SentType { code, length })
    };
    let shown = match word(1) {
        "-" => Shown::Function,
        "=" => Shown::Constant,
        "*" => Shown::Column { table: String::new() },
        table => Shown::Column { table: table.to_owned() },
    };
    ViewColumn {
        name: word(0).to_owned(),
        shown,
        read: Description { flags: flags(2), sent: sent(4) },
        kept: Description { flags: flags(3), sent: sent(6) },
    }
}

#[cfg(test)]
mod tests {
    use super::{Shown, VIEWS};

    #[test]
    fn functions_and_constants_have_types_and_every_view_is_a_declared_table() {
        assert!(VIEWS.len() > 30);
        for (view, columns) in VIEWS.iter() {
            let at = crate::computed::position("information_schema", view);
            let table = &crate::computed::tables()[at.expect(view)];
            for column in columns {
                let known = table.columns.iter().any(|(name, _)| *name == column.name);
                assert!(known, "{view}.{}", column.name);
                let typed = column.read.sent.is_some() && column.kept.sent.is_some();
                let is_column = matches!(column.shown, Shown::Column { .. });
                assert_ne!(typed, is_column, "{view}.{}", column.name);
            }
        }
    }
}
