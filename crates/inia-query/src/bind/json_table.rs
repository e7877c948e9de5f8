//! JSON_TABLE: its document may read the members of FROM before it; its columns get types.

use super::from::{BoundMember, FromContext, leaf, member};
use super::scope::Clause;
use super::{QueryBinder, Result};
use crate::catalog::same_name;
use crate::optimize::LeafKind;
use crate::plan::json_table::{JsonColumn, JsonResponse, JsonRows, JsonShows};
use inia_base::collation::Collation;
use inia_base::datatype::{DataType, IntWidth};
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::column_type::column_type;
use inia_expr::json;
use inia_expr::json::path::JsonPath;
use inia_expr::{ExprKind, ExprType};
use inia_parser::ast::{self, JsonOnResponse, JsonTableColumn};

/// The most paths nested in one another or beside each other.
const MAX_NESTED: usize = 16;

/// Columns in the order in which they are written.
#[derive(Default)]
struct Columns {
    named: Vec<(String, ExprType)>,
    nested: usize,
}

/// Digits that FOR ORDINALITY shows.
const ORDINALITY: u32 = 10;

impl QueryBinder<'_> {
    /// JSON_TABLE as a member of FROM.
    pub(super) fn json_table(
        &mut self,
        table: &ast::JsonTable,
        context: &mut FromContext<'_>,
    ) -> Result<BoundMember> {
        self.one_more_member()?;
        let document = self.expression(&table.doc, Clause::TableFunction, &[])?;
        if matches!(document.kind, ExprKind::Subquery(_)) {
            return Err(SqlError::new(ErrorCode::WrongArguments, &[&"JSON_TABLE"]));
        }
        let mut columns = Columns::default();
        let rows = self.json_rows(&table.path, &table.columns, &table.alias, &mut columns)?;
        context.tables += 1;
        let (slots, mut names) = member(&table.alias, "", &columns.named, context);
        for column in &mut names.tables[0].columns {
            "json_table".clone_into(&mut column.result.org_table);
            if column.ty.data_type == DataType::Json {
                column.result.decimals = 0;
            }
        }
        let kind = LeafKind::JsonTable { document, rows };
        Ok(BoundMember::new(leaf(slots, &table.alias, kind, context), names))
    }

    fn json_rows(
        &self,
        path: &str,
        written: &[JsonTableColumn],
        alias: &str,
        all: &mut Columns,
    ) -> Result<JsonRows> {
        let path = JsonPath::parse(path)?;
        // `all` numbers the columns of all nested paths as they are written: that is the order of
        // their slots.
        let (mut columns, mut nested) = (Vec::new(), Vec::new());
        for column in written {
            match column {
                JsonTableColumn::Ordinality(name) => {
                    let ty = DataType::Int { width: IntWidth::Big, unsigned: false };
                    let ty = ExprType { length: ORDINALITY, ..ExprType::of_column(ty, true) };
                    let at = all.add(name, ty)?;
                    columns.push(JsonColumn { at, name: name.clone(), shows: JsonShows::Number });
                }
                JsonTableColumn::Path { name, ty, exists, path, on_empty, on_error } => {
                    let strict = self.context.env.sql_mode.is_strict();
                    let ty = column_type(name, ty, Collation::DEFAULT, strict)?.data_type;
                    // Every column is nullable: rows of another nested path leave it NULL.
                    let at = all.add(name, ExprType::of_column(ty.clone(), true))?;
                    let path = JsonPath::parse(path)?;
                    let shows = match exists {
                        true => JsonShows::Exists(path, ty),
                        false => JsonShows::Value {
                            path,
                            data_type: ty,
                            on_empty: response(on_empty.as_ref())?,
                            on_error: response(on_error.as_ref())?,
                        },
                    };
                    columns.push(JsonColumn { at, name: name.clone(), shows });
                }
                JsonTableColumn::Nested { path, columns: inner } => {
                    // The limit counts the nested paths of the whole call, at whatever depth.
                    all.nested += 1;
                    if all.nested > MAX_NESTED {
                        let code = ErrorCode::JtMaxNestedPath;
                        return Err(SqlError::new(code, &[&MAX_NESTED, &alias]));
                    }
                    nested.push(self.json_rows(path, inner, alias, all)?);
                }
            }
        }
        Ok(JsonRows { path, columns, nested })
    }
}

impl Columns {
    /// Adds a column and returns its place; error 1060.
    fn add(&mut self, name: &str, ty: ExprType) -> Result<usize> {
        if let Some((known, _)) = self.named.iter().find(|(known, _)| same_name(known, name)) {
            return Err(SqlError::new(ErrorCode::DupFieldname, &[known]));
        }
        self.named.push((name.to_owned(), ty));
        Ok(self.named.len() - 1)
    }
}

fn response(written: Option<&JsonOnResponse>) -> Result<JsonResponse> {
    Ok(match written {
        None | Some(JsonOnResponse::Null) => JsonResponse::Null,
        Some(JsonOnResponse::Error) => JsonResponse::Error,
        Some(JsonOnResponse::Default(ast::Literal::String { value, .. })) => {
            let parsed = json::parse(value).map_err(|error| {
                let args: [&dyn std::fmt::Display; 5] =
                    [&1, &"JSON_TABLE", &error.text, &error.position, &""];
                SqlError::new(ErrorCode::InvalidJsonTextInParam, &args)
            });
            JsonResponse::Default(parsed?)
        }
        Some(JsonOnResponse::Default(_)) => {
            let what = "non-string DEFAULT value for a column in a JSON_TABLE expression";
            return Err(SqlError::new(ErrorCode::NotSupportedYet, &[&what]));
        }
    })
}
