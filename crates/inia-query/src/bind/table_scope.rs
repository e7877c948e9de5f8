//! Names in a statement about one table.

use crate::catalog::{ColumnDef, ColumnDefault, Table};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::sql_mode::SqlMode;
use inia_base::value::Value;
use inia_expr::{Expr, ExprKind, ExprType, Scope, full_length};
use inia_parser::ast;
use std::sync::Arc;

/// The columns of one table, under its alias.
pub struct TableScope<'t> {
    table: &'t Table,
    alias: String,
    /// The table has no alias, so its database may qualify it.
    qualified: bool,
    /// How error 1054 calls the clause.
    pub(crate) clause: &'static str,
    /// `PAD_CHAR_TO_FULL_LENGTH`.
    fills: bool,
}

impl<'t> TableScope<'t> {
    /// The columns of a table, which goes by its alias where it has one.
    pub fn new(table: &'t Table, alias: Option<&str>) -> TableScope<'t> {
        TableScope {
            table,
            alias: alias.unwrap_or(&table.def.name).to_owned(),
            qualified: alias.is_none(),
            clause: "field list",
            fills: false,
        }
    }

    /// Reads CHAR columns as the SQL mode says.
    pub fn reading_by(self, mode: SqlMode) -> TableScope<'t> {
        TableScope { fills: mode.has(SqlMode::PAD_CHAR_TO_FULL_LENGTH), ..self }
    }

    /// The position of a column; error 1054.
    pub fn position(&self, name: &ast::ColumnName) -> Result<usize, SqlError> {
        let here = name.table.as_deref().is_none_or(|table| table == self.alias)
            && name.db.as_deref().is_none_or(|db| self.qualified && db == self.table.def.schema);
        let found = if here { self.table.def.column(&name.name) } else { None };
        found.ok_or_else(|| {
            let mut full = String::new();
            for part in [&name.db, &name.table].into_iter().flatten() {
                full.push_str(part);
                full.push('.');
            }
            full.push_str(&name.name);
            SqlError::new(ErrorCode::UnknownColumn, &[&full, &self.clause])
        })
    }

    /// The column at a position.
    pub(crate) fn at(&self, index: usize) -> Expr {
        let column = &self.table.def.columns[index];
        let ty = column_type(self.table, index);
        let name: Arc<str> =
            format!("`{}`.`{}`.`{}`", self.table.def.schema, self.alias, column.name).into();
        let column = Expr { kind: ExprKind::Column { index, name }, ty };
        if self.fills { full_length(column) } else { column }
    }
}

/// A column's type as expressions see it.
pub fn column_type(table: &Table, index: usize) -> ExprType {
    let column = &table.def.columns[index];
    let mut ty = ExprType::of_column(column.data_type.clone(), column.nullable);
    ty.zerofill = column.zerofill;
    if let Some(width) = column.display_width {
        ty.length = u32::from(width);
    }
    ty
}

impl Scope for TableScope<'_> {
    fn column(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        Ok(self.at(self.position(name)?))
    }

    fn insert_value(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        let index = self.position(name)?;
        let ty = column_type(self.table, index).with_nullable(true);
        Ok(Expr { kind: ExprKind::InsertValue(index), ty })
    }

    fn default_of(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        let index = self.position(name)?;
        default_value(&self.table.def.columns[index], column_type(self.table, index))
    }
}

/// DEFAULT(column) of this type; error 1364 where there is none, 3773 where that is no constant.
pub(crate) fn default_value(column: &ColumnDef, ty: ExprType) -> Result<Expr, SqlError> {
    let value = match &column.default {
        ColumnDefault::Value(value) => value.clone(),
        ColumnDefault::None if column.nullable => Value::Null,
        _ if column.auto_increment => inia_expr::store::implicit_default(&column.data_type),
        ColumnDefault::Expression(_) => {
            return Err(SqlError::new(ErrorCode::DefaultAsValGenerated, &[]));
        }
        _ => return Err(SqlError::new(ErrorCode::NoDefaultForField, &[&column.name])),
    };
    Ok(Expr::literal(value, ty))
}
