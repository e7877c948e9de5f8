//! JSON_TABLE with the types of its columns, as views keep it.

use super::Printer;
use crate::ast::{JsonTable, JsonTableColumn, Literal, TypeKind, TypeSpec};
use crate::{quote_name, quote_string};

impl Printer {
    pub(super) fn json_table(&mut self, table: &JsonTable) {
        self.put("json_table(");
        self.expr(&table.doc);
        self.put(&format!(", {} ", quote_string(&table.path)));
        self.json_columns(&table.columns);
        self.put(&format!(") {}", quote_name(&table.alias)));
    }

    fn json_columns(&mut self, columns: &[JsonTableColumn]) {
        self.put("columns (");
        for (number, column) in columns.iter().enumerate() {
            self.put(if number > 0 { ", " } else { "" });
            self.json_column(column);
        }
        self.put(")");
    }

    fn json_column(&mut self, column: &JsonTableColumn) {
        match column {
            JsonTableColumn::Ordinality(name) => {
                self.put(&format!("{} for ordinality", quote_name(name)));
            }
            JsonTableColumn::Path { name, ty, exists, path, on_empty, on_error } => {
                self.put(&format!("{} ", quote_name(name)));
                self.type_spec(ty);
                self.put(if *exists { " exists path " } else { " path " });
                self.put(&quote_string(path));
                for (response, word) in [(on_empty, " on empty"), (on_error, " on error")] {
                    use crate::ast::JsonOnResponse;
                    // The document of a default is written as it is, without its character set.
                    if let Some(JsonOnResponse::Default(Literal::String { value, .. })) = response {
                        self.put(&format!(" default {}{word}", quote_string(value)));
                    } else {
                        self.json_response(response.as_ref(), word);
                    }
                }
            }
            JsonTableColumn::Nested { path, columns } => {
                self.put(&format!("nested path {} ", quote_string(path)));
                self.json_columns(columns);
            }
        }
    }

    fn type_spec(&mut self, ty: &TypeSpec) {
        let name = match ty.kind {
            TypeKind::Bit => "bit",
            TypeKind::Bool => "tinyint(1)",
            TypeKind::TinyInt => "tinyint",
            TypeKind::SmallInt => "smallint",
            TypeKind::MediumInt => "mediumint",
            TypeKind::Int => "int",
            TypeKind::BigInt => "bigint",
            TypeKind::Decimal => "decimal",
            TypeKind::Float => "float",
            TypeKind::Double => "double",
            TypeKind::Char => "char",
            TypeKind::VarChar => "varchar",
            TypeKind::Binary => "binary",
            TypeKind::VarBinary => "varbinary",
            TypeKind::TinyText => "tinytext",
            TypeKind::Text => "text",
            TypeKind::MediumText => "mediumtext",
            TypeKind::LongText => "longtext",
            TypeKind::TinyBlob => "tinyblob",
            TypeKind::Blob => "blob",
            TypeKind::MediumBlob => "mediumblob",
            TypeKind::LongBlob => "longblob",
            TypeKind::Date => "date",
            TypeKind::Time => "time",
            TypeKind::DateTime => "datetime",
            TypeKind::Timestamp => "timestamp",
            TypeKind::Year => "year",
            TypeKind::Enum => "enum",
            TypeKind::Set => "set",
            TypeKind::Json => "json",
            _ => return self.possible = false,
        };
        self.put(name);
        match (ty.length, ty.decimals) {
            (Some(length), Some(decimals)) => self.put(&format!("({length},{decimals})")),
            (Some(length), None) => self.put(&format!("({length})")),
            _ => {}
        }
        if !ty.values.is_empty() {
            let values: Vec<String> = ty.values.iter().map(|value| quote_string(value)).collect();
            self.put(&format!("({})", values.join(",")));
        }
        self.put(if ty.unsigned || ty.zerofill { " unsigned" } else { "" });
        let text = matches!(
            ty.kind,
            TypeKind::Char
                | TypeKind::VarChar
                | TypeKind::TinyText
                | TypeKind::Text
                | TypeKind::MediumText
                | TypeKind::LongText
                | TypeKind::Enum
                | TypeKind::Set
        );
        // MySQL prints the character set of a string column even where none is written.
        let own = if text { Some(self.charset.clone()) } else { None };
        if let Some(charset) = ty.charset.clone().or(own) {
            self.put(&format!(" character set {charset}"));
        }
        if let Some(collation) = &ty.collation {
            self.put(&format!(" collate {collation}"));
        }
    }
}
