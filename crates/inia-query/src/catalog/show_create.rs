//! SHOW CREATE TABLE and SHOW CREATE DATABASE, letter for letter as MySQL 8.0 prints them.

mod partitions;

use super::tablespace::{TABLESPACE, tablespace_of};
use super::{
    ColumnDef, ColumnDefault, ColumnFormat, ColumnStorage, IndexDef, IndexKind, ReferentialAction,
    SchemaDef, TableDef,
};
use super::{IMPLIED_FORMAT, STOPWORDS};
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::number::{write_double, write_float};
use inia_base::value::Value;
use inia_expr::ExprType;
use inia_expr::charset;
use inia_expr::column_type::type_text;
use inia_expr::print::text_literal;
use std::fmt::Write;

/// A name in backquotes.
pub fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

pub(super) fn literal(text: &str) -> String {
    text_literal(text, "''")
}

/// The text of SHOW CREATE TABLE. `next_auto_increment` is the counter's present value.
pub fn show_create_table(def: &TableDef, next_auto_increment: u64) -> String {
    let shown = def.columns.iter().filter(|column| !column.is_hidden());
    let mut lines: Vec<String> = shown.map(|c| column(c, def.collation)).collect();
    lines.extend(def.indexes.iter().map(|index| index_line(def, index)));
    let mut keys: Vec<_> = def.foreign_keys.iter().collect();
    keys.sort_by(|a, b| a.name.cmp(&b.name));
    lines.extend(keys.into_iter().map(|key| foreign_key(def, key)));
    let mut checks: Vec<_> = def.checks.iter().collect();
    checks.sort_by(|a, b| a.name.cmp(&b.name));
    lines.extend(checks.into_iter().map(|check| {
        let enforced = if check.enforced { "" } else { " /*!80016 NOT ENFORCED */" };
        format!("CONSTRAINT {} CHECK ({}){enforced}", quoted(&check.name), check.expression)
    }));
    let temporary = if def.temporary { "TEMPORARY " } else { "" };
    let mut out = format!("CREATE {temporary}TABLE {} (\n  ", quoted(&def.name));
    out.push_str(&lines.join(",\n  "));
    out.push_str("\n)");
    if let Some(name) = tablespace_of(def) {
        let _ = write!(out, " /*!50100 TABLESPACE {} */", quoted(name));
    }
    if let Some(size) = def.option("AUTOEXTEND_SIZE") {
        let _ = write!(out, " /*!80023 AUTOEXTEND_SIZE={size} */");
    }
    let engine = if def.is_merged() { "MRG_MyISAM" } else { def.engine.as_str() };
    let _ = write!(out, " ENGINE={engine}");
    if next_auto_increment > 1 {
        let _ = write!(out, " AUTO_INCREMENT={next_auto_increment}");
    }
    let _ = write!(out, " DEFAULT CHARSET={}", charset::charset_name(def.collation));
    if !charset::is_primary(def.collation) || def.collation == Collation::DEFAULT {
        let _ = write!(out, " COLLATE={}", charset::name(def.collation));
    }
    for (name, value) in &def.options {
        let _ = match name.as_str() {
            TABLESPACE | IMPLIED_FORMAT | STOPWORDS | "AUTOEXTEND_SIZE" | "CONNECTION" => Ok(()),
            "COMPRESSION" => write!(out, " {name}={}", literal(value)),
            "SECONDARY_ENGINE_ATTRIBUTE" => {
                write!(out, " /*!80021 {name}={} */", literal(value))
            }
            _ => write!(out, " {name}={value}"),
        };
    }
    put_union(&mut out, def);
    if !def.comment.is_empty() {
        let _ = write!(out, " COMMENT={}", literal(&def.comment));
    }
    if let Some(value) = def.option("CONNECTION") {
        let _ = write!(out, " CONNECTION={}", literal(value));
    }
    if let Some(by) = &def.partitioning {
        partitions::put(&mut out, by);
    }
    out
}

/// INSERT_METHOD and UNION of a merged table.
fn put_union(out: &mut String, def: &TableDef) {
    let Some(union) = &def.union else { return };
    if let Some(method) = union.insert.shown() {
        let _ = write!(out, " INSERT_METHOD={method}");
    }
    let name = |(schema, name): &(String, String)| match *schema == def.schema {
        true => quoted(name),
        false => format!("{}.{}", quoted(schema), quoted(name)),
    };
    let tables: Vec<String> = union.tables.iter().map(name).collect();
    if !tables.is_empty() {
        let _ = write!(out, " UNION=({})", tables.join(","));
    }
}

/// The text of SHOW CREATE DATABASE.
pub fn show_create_schema(def: &SchemaDef, if_not_exists: bool) -> String {
    let condition = if if_not_exists { "/*!32312 IF NOT EXISTS*/ " } else { "" };
    let mut collation = String::new();
    if !charset::is_primary(def.collation) || def.collation == Collation::DEFAULT {
        collation = format!(" COLLATE {}", charset::name(def.collation));
    }
    format!(
        "CREATE DATABASE {condition}{} /*!40100 DEFAULT CHARACTER SET {}{collation} */ \
         /*!80016 DEFAULT ENCRYPTION='N' */{}",
        quoted(&def.name),
        charset::charset_name(def.collation),
        if def.read_only { " /* READ ONLY = 1 */" } else { "" },
    )
}

fn collation_of(data_type: &DataType) -> Option<Collation> {
    match data_type {
        DataType::Char { collation, .. }
        | DataType::VarChar { collation, .. }
        | DataType::Text { collation, .. }
        | DataType::Enum { collation, .. }
        | DataType::Set { collation, .. } => Some(*collation),
        _ => None,
    }
}

fn column(column: &ColumnDef, table: Collation) -> String {
    let mut out = quoted(&column.name);
    out.push(' ');
    out.push_str(&type_text(&column.data_type, column.display_width, column.zerofill));
    if let Some(collation) = collation_of(&column.data_type) {
        let other = charset::charset_name(collation) != charset::charset_name(table);
        if other || column.explicit_collation || collation != table {
            let _ = write!(out, " CHARACTER SET {}", charset::charset_name(collation));
        }
        // COLLATE is left out for a character set's default collation. It is printed where it was
        // written, and for utf8mb4's default where the table has another collation, as in MySQL.
        let other_charset = other || collation != table;
        let named = column.explicit_collation || (other_charset && collation == Collation::DEFAULT);
        if !charset::is_primary(collation) || named {
            let _ = write!(out, " COLLATE {}", charset::name(collation));
        }
    }
    if let Some(generated) = &column.generated {
        let kind = if generated.stored { "STORED" } else { "VIRTUAL" };
        let _ = write!(out, " GENERATED ALWAYS AS ({}) {kind}", generated.expression);
    }
    // MySQL spells NULL out for TIMESTAMP only: that one is NOT NULL by default where
    // `explicit_defaults_for_timestamp` is off.
    let timestamp = matches!(column.data_type, DataType::Timestamp { .. });
    if !column.nullable {
        out.push_str(" NOT NULL");
    } else if timestamp {
        out.push_str(" NULL");
    }
    if let DataType::Geometry { srid: Some(srid), .. } = column.data_type {
        let _ = write!(out, " /*!80003 SRID {srid} */");
    }
    if let Some(storage) = column.placement.storage {
        out.push_str(match storage {
            ColumnStorage::Disk => " /*!50606 STORAGE DISK */",
            ColumnStorage::Memory => " /*!50606 STORAGE MEMORY */",
        });
    }
    if let Some(format) = column.placement.format {
        out.push_str(match format {
            ColumnFormat::Fixed => " /*!50606 COLUMN_FORMAT FIXED */",
            ColumnFormat::Dynamic => " /*!50606 COLUMN_FORMAT DYNAMIC */",
        });
    }
    put_default(&mut out, column);
    if column.on_update_now {
        let _ = write!(out, " ON UPDATE {}", current_timestamp(&column.data_type));
    }
    if column.auto_increment {
        out.push_str(" AUTO_INCREMENT");
    }
    if column.invisible {
        out.push_str(" /*!80023 INVISIBLE */");
    }
    if !column.comment.is_empty() {
        let _ = write!(out, " COMMENT {}", literal(&column.comment));
    }
    out
}

fn put_default(out: &mut String, column: &ColumnDef) {
    if column.generated.is_some() {
        return;
    }
    let lob = matches!(column.data_type, DataType::Text { .. } | DataType::Blob(_));
    match &column.default {
        ColumnDefault::None if column.nullable && !lob => out.push_str(" DEFAULT NULL"),
        ColumnDefault::None => {}
        ColumnDefault::Value(Value::Null) if lob => {}
        ColumnDefault::Absent => {}
        ColumnDefault::Value(value) => {
            let _ = write!(out, " DEFAULT {}", default_literal(value, column));
        }
        ColumnDefault::CurrentTimestamp => {
            let _ = write!(out, " DEFAULT {}", current_timestamp(&column.data_type));
        }
        ColumnDefault::Expression(text) => {
            let _ = write!(out, " DEFAULT ({text})");
        }
    }
}

fn current_timestamp(data_type: &DataType) -> String {
    match data_type {
        DataType::DateTime { fsp: fsp @ 1.. } | DataType::Timestamp { fsp: fsp @ 1.. } => {
            format!("CURRENT_TIMESTAMP({fsp})")
        }
        _ => String::from("CURRENT_TIMESTAMP"),
    }
}

fn default_literal(value: &Value, column: &ColumnDef) -> String {
    match (value, &column.data_type) {
        (Value::Null, _) => String::from("NULL"),
        (Value::UInt(bits), DataType::Bit(_)) => format!("b'{bits:b}'"),
        _ => literal(&stored_text(value, column)),
    }
}

/// A value of a column as text: with zeros before it where the column is ZEROFILL.
pub fn stored_text(value: &Value, column: &ColumnDef) -> String {
    let text = value_text(value, &column.data_type);
    if !column.zerofill {
        return text;
    }
    let width = match column.display_width {
        Some(width) => usize::from(width),
        None => ExprType::of_column(column.data_type.clone(), true).length as usize,
    };
    format!("{text:0>width$}")
}

/// A column value as text, as the text protocol sends it.
pub fn value_text(value: &Value, data_type: &DataType) -> String {
    let fsp = match data_type {
        DataType::Time { fsp } | DataType::DateTime { fsp } | DataType::Timestamp { fsp } => *fsp,
        _ => 0,
    };
    let mut out = Vec::new();
    // Types that give a number a text of their own come before the arms for any number.
    match (value, data_type) {
        (Value::UInt(bits), DataType::Set { members, .. }) => {
            let chosen: Vec<&str> = members
                .iter()
                .enumerate()
                .filter(|(bit, _)| bits >> bit & 1 == 1)
                .map(|(_, member)| member.as_str())
                .collect();
            return chosen.join(",");
        }
        (Value::UInt(index), DataType::Enum { members, .. }) => {
            // ENUM's index 0 is the empty string that an invalid value has become.
            let member = usize::try_from(*index).ok().and_then(|i| members.get(i.wrapping_sub(1)));
            return member.cloned().unwrap_or_default();
        }
        (Value::UInt(year), DataType::Year) => return format!("{year:04}"),
        (
            Value::Double(v),
            DataType::Float { decimals: Some(digits), .. }
            | DataType::Double { decimals: Some(digits), .. },
        ) => return format!("{v:.*}", usize::from(*digits)),
        (Value::Double(v), DataType::Float { .. }) => write_float(*v as f32, &mut out),
        (Value::Null, _) => return String::from("NULL"),
        (Value::Int(v), _) => return v.to_string(),
        (Value::UInt(v), _) => return v.to_string(),
        (Value::Double(v), _) => write_double(*v, &mut out),
        (Value::Text(v), _) => return v.clone(),
        (Value::Json(v), _) => return inia_base::json::printed(v).into_owned(),
        (Value::Bytes(v), _) => out.extend_from_slice(v),
        (Value::Decimal(v), _) => v.write_text(&mut out),
        (Value::Date(v), _) => v.write_text(&mut out),
        (Value::Time(v), _) => v.write_text(fsp, &mut out),
        (Value::DateTime(v), _) => v.write_text(fsp, &mut out),
    }
    String::from_utf8_lossy(&out).replace(char::REPLACEMENT_CHARACTER, "?")
}

fn index_line(def: &TableDef, index: &IndexDef) -> String {
    let mut out = String::from(match index.kind {
        IndexKind::Primary => "PRIMARY KEY",
        IndexKind::Unique | IndexKind::MultiValued { unique: true } => "UNIQUE KEY ",
        IndexKind::Plain | IndexKind::MultiValued { unique: false } => "KEY ",
        IndexKind::FullText => "FULLTEXT KEY ",
        IndexKind::Spatial => "SPATIAL KEY ",
    });
    // The primary key's name is always PRIMARY and is not printed.
    if index.kind != IndexKind::Primary {
        out.push_str(&quoted(&index.name));
    }
    let parts: Vec<String> = index
        .parts
        .iter()
        .map(|part| {
            let column = &def.columns[part.column];
            // A functional key part is stored as a hidden column and printed as its expression.
            let mut text = match &column.generated {
                Some(generated) if column.is_hidden() => format!("({})", generated.expression),
                _ => quoted(&column.name),
            };
            if let Some(prefix) = part.prefix.filter(|_| index.kind != IndexKind::Spatial) {
                let _ = write!(text, "({prefix})");
            }
            if part.descending {
                text.push_str(" DESC");
            }
            text
        })
        .collect();
    let _ = write!(out, " ({})", parts.join(","));
    if let Some(using) = &index.using {
        let _ = write!(out, " USING {using}");
    }
    if !index.comment.is_empty() {
        let _ = write!(out, " COMMENT {}", literal(&index.comment));
    }
    if index.ngrams {
        out.push_str(" /*!50100 WITH PARSER `ngram` */ ");
    }
    // The versioned comment hides the word from servers that do not know it.
    if !index.visible {
        out.push_str(" /*!80000 INVISIBLE */");
    }
    out
}

fn foreign_key(def: &TableDef, key: &super::ForeignKeyDef) -> String {
    foreign_key_text(def, key)
}

/// A foreign key as SHOW CREATE TABLE and errors 1451 and 1452 print it.
pub fn foreign_key_text(def: &TableDef, key: &super::ForeignKeyDef) -> String {
    let names = |names: &mut dyn Iterator<Item = &str>| -> String {
        names.map(quoted).collect::<Vec<_>>().join(", ")
    };
    let columns = names(&mut key.columns.iter().map(|c| def.columns[*c].name.as_str()));
    let parents = names(&mut key.ref_columns.iter().map(String::as_str));
    let parent = match key.ref_schema == def.schema {
        true => quoted(&key.ref_table),
        false => format!("{}.{}", quoted(&key.ref_schema), quoted(&key.ref_table)),
    };
    let mut out = format!(
        "CONSTRAINT {} FOREIGN KEY ({columns}) REFERENCES {parent} ({parents})",
        quoted(&key.name)
    );
    for (event, action) in [("DELETE", key.on_delete), ("UPDATE", key.on_update)] {
        let action = match action {
            ReferentialAction::NoAction => continue,
            ReferentialAction::Restrict => "RESTRICT",
            ReferentialAction::Cascade => "CASCADE",
            ReferentialAction::SetNull => "SET NULL",
            ReferentialAction::SetDefault => "SET DEFAULT",
        };
        let _ = write!(out, " ON {event} {action}");
    }
    out
}
