//! What MySQL's definitions of computed tables say beside names and types of columns, declared in
//! `definitions.txt`: keys, defaults, comments, options.

use crate::table_def::{ColumnDef, ColumnDefault, Generated};
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::temporal::DateTime;
use inia_base::value::Value;
use std::collections::HashMap;
use std::sync::LazyLock;

/// What is declared of one table.
#[derive(Debug)]
pub(crate) struct Definition {
    /// The engine; empty for a view.
    pub(crate) engine: &'static str,
    /// The format of rows, as TABLES shows it.
    pub(crate) row_format: &'static str,
    /// The collation.
    pub(crate) collation: Collation,
    /// CREATE_OPTIONS.
    pub(crate) options: &'static str,
    /// How many rows MySQL says a table of `performance_schema` has.
    pub(crate) rows: u64,
    /// The comment.
    pub(crate) comment: &'static str,
    /// Its keys.
    pub(crate) keys: Vec<Key>,
    columns: HashMap<&'static str, [&'static str; 5]>,
}

/// A key.
#[derive(Debug)]
pub(crate) struct Key {
    /// Its name.
    pub(crate) name: &'static str,
    /// `P`, `U` or `K`: PRIMARY, UNIQUE or a plain one.
    pub(crate) kind: &'static str,
    /// The columns.
    pub(crate) columns: Vec<&'static str>,
}

static DEFINITIONS: LazyLock<HashMap<&str, Definition>> = LazyLock::new(read);

/// What is declared of a table.
pub(crate) fn of(schema: &str, name: &str) -> Option<&'static Definition> {
    DEFINITIONS.get(format!("{schema}.{name}").as_str())
}

impl Definition {
    /// COLUMN_DEFAULT of a column of information_schema.
    pub(crate) fn shown_default(&self, column: &str) -> Option<&'static str> {
        self.columns.get(column).and_then(|line| literal_of(line[0]))
    }

    /// Completes a column of the table.
    pub(crate) fn complete(&self, column: &mut ColumnDef) {
        let Some(line) = self.columns.get(column.name.as_str()) else { return };
        let [default, extra, shown_type, expression, comment] = *line;
        let written = |text: &str| text != "-";
        if let Some(literal) = literal_of(default) {
            // Computed rows have no defaults: those of columns that may be NULL are not said.
            if !self.engine.is_empty() || !column.nullable {
                column.default = ColumnDefault::Value(value_of(literal, &column.data_type));
            }
        } else if default.starts_with("CURRENT_TIMESTAMP") {
            column.default = ColumnDefault::CurrentTimestamp;
        } else if written(default) {
            column.default = ColumnDefault::Expression(default.to_owned());
        }
        column.on_update_now = extra.starts_with("on update");
        column.auto_increment = extra == "auto_increment";
        if written(expression) {
            let expression = expression.replace("\\'", "'");
            column.generated = Some(Generated { expression, stored: false });
        }
        match (shown_type, &mut column.data_type) {
            ("tinyint(1)", _) => column.display_width = Some(1),
            ("collated", _) => column.explicit_collation = true,
            (shown, DataType::Double { decimals, .. }) if written(shown) => {
                let numbers = shown.trim_start_matches("double(").trim_end_matches(')');
                let (width, digits) = numbers.split_once(',').unwrap_or((numbers, "0"));
                column.display_width = width.parse().ok();
                *decimals = digits.parse().ok();
            }
            _ => {}
        }
        if written(comment) {
            column.comment = comment.to_owned();
        }
    }
}

/// What stands between quotes.
fn literal_of(default: &'static str) -> Option<&'static str> {
    default.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''))
}

/// The value of a default that is written as text.
fn value_of(text: &str, data_type: &DataType) -> Value {
    match data_type {
        DataType::Int { unsigned: true, .. } => Value::UInt(text.parse().unwrap_or_default()),
        DataType::Int { .. } => Value::Int(text.parse().unwrap_or_default()),
        DataType::Enum { members, .. } => {
            let at = members.iter().position(|member| member == text);
            Value::UInt(at.map_or(0, |at| at as u64 + 1))
        }
        DataType::Set { .. } => Value::UInt(0),
        DataType::DateTime { .. } | DataType::Timestamp { .. } => Value::DateTime(DateTime::ZERO),
        DataType::Float { .. } | DataType::Double { .. } => {
            Value::Double(text.parse().unwrap_or_default())
        }
        _ => Value::Text(text.to_owned()),
    }
}

fn read() -> HashMap<&'static str, Definition> {
    let mut all: HashMap<&str, Definition> = HashMap::new();
    let mut table = "";
    for line in include_str!("definitions.txt").lines() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut words = line.trim_start().split('\t');
        let mut word = || words.next().unwrap_or_default();
        if !line.starts_with(' ') {
            table = word();
            let written = |text: &'static str| if text == "-" { "" } else { text };
            let (engine, row_format, collation) = (word(), word(), word());
            let (options, rows, comment) = (written(word()), word(), written(word()));
            let definition = Definition {
                engine,
                row_format,
                collation: Collation::from_name(collation).unwrap_or(Collation::SYSTEM),
                options,
                rows: rows.parse().unwrap_or_default(),
                comment,
                keys: Vec::new(),
                columns: HashMap::new(),
            };
            all.insert(table, definition);
            continue;
        }
        let Some(definition) = all.get_mut(table) else { continue };
        let name = word();
        if name == "key" {
            let (name, kind, columns) = (word(), word(), word());
            definition.keys.push(Key { name, kind, columns: columns.split(',').collect() });
        } else {
            definition.columns.insert(name, [word(), word(), word(), word(), word()]);
        }
    }
    all
}
