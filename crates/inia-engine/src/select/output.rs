//! The select list: its expressions and the description of its columns.

use super::{SelectScope, bind, item_type};
use crate::catalog::{ColumnDefault, IndexKind, Table};
use crate::expr::{Expr, ExprKind};
use crate::session::core::Core;
use inia_base::column::{ResultColumn, flags};
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast;

/// The bound list.
pub(super) struct List {
    pub(super) items: Vec<Expr>,
    pub(super) columns: Vec<ResultColumn>,
}

/// Binds the list; `None` where it needs more than this module has.
pub(super) fn list(
    core: &Core,
    select: &ast::Select,
    table: Option<&Table>,
    alias: Option<&str>,
    scope: &mut SelectScope<'_>,
) -> Result<Option<List>, SqlError> {
    let mut out = List { items: Vec::new(), columns: Vec::new() };
    for item in &select.items {
        match item {
            ast::SelectItem::Wildcard => {
                let Some(table) = table else {
                    return Err(SqlError::new(ErrorCode::NoTablesUsed, &[]));
                };
                out.all(table, alias, scope);
            }
            ast::SelectItem::TableWildcard(name) => {
                let shown = alias.or(table.map(|table| table.def.name.as_str()));
                let Some(table) = table.filter(|_| shown == Some(name.name.as_str())) else {
                    return Err(SqlError::new(ErrorCode::UnknownTable, &[&name.name]));
                };
                out.all(table, alias, scope);
            }
            ast::SelectItem::Expr { expr, alias: title, text } => {
                if has_window(expr) {
                    return Ok(None);
                }
                let bound = bind(core, scope, expr)?;
                let title = match (title, expr) {
                    (Some(title), _) => title.clone(),
                    (None, ast::Expr::Column(name)) => name.name.clone(),
                    (None, _) => text.clone(),
                };
                let column = match (&bound.kind, table) {
                    (ExprKind::Column { index, .. }, Some(table)) => {
                        base_column(table, alias, *index, &title)
                    }
                    _ => bound.ty.result_column(&title),
                };
                out.items.push(bound);
                out.columns.push(column);
            }
        }
    }
    Ok(Some(out))
}

impl List {
    fn all(&mut self, table: &Table, alias: Option<&str>, scope: &SelectScope<'_>) {
        let Some(names) = &scope.table else { return };
        for (index, column) in table.def.columns.iter().enumerate() {
            if !column.invisible {
                self.items.push(names.at(index));
                self.columns.push(base_column(table, alias, index, &column.name));
            }
        }
    }
}

/// The description of a base table's column.
pub(crate) fn base_column(
    table: &Table,
    alias: Option<&str>,
    index: usize,
    title: &str,
) -> ResultColumn {
    let def = &table.def.columns[index];
    let mut column = item_type(table, index).result_column(title);
    column.schema.clone_from(&table.def.schema);
    column.table = alias.unwrap_or(&table.def.name).to_owned();
    column.org_table.clone_from(&table.def.name);
    column.org_name.clone_from(&def.name);
    for key in &table.def.indexes {
        let place = key.parts.iter().position(|part| part.column == index);
        column.flags |= match (key.kind, place) {
            (_, None) => 0,
            (IndexKind::Primary, _) => flags::PRI_KEY,
            (IndexKind::Unique, _) if key.parts.len() == 1 => flags::UNIQUE_KEY,
            (_, Some(0)) => flags::MULTIPLE_KEY,
            _ => 0,
        };
    }
    if def.auto_increment {
        column.flags |= flags::AUTO_INCREMENT;
    }
    if def.on_update_now {
        column.flags |= flags::ON_UPDATE_NOW;
    }
    if !def.nullable && def.default == ColumnDefault::None && !def.auto_increment {
        column.flags |= flags::NO_DEFAULT_VALUE;
    }
    if matches!(def.data_type, DataType::Int { .. }) {
        column.flags |= flags::NUM;
    }
    column
}

fn has_window(expr: &ast::Expr) -> bool {
    match expr {
        ast::Expr::Window(_) => true,
        ast::Expr::Aggregate(call) => call.over.is_some(),
        _ => false,
    }
}

/// Whether the expression has a subquery anywhere. The text of the tree is searched by shape; what
/// is not looked into counts as having one.
pub(super) fn has_subquery(expr: &ast::Expr) -> bool {
    use ast::Expr as E;
    let any = |list: &[ast::Expr]| list.iter().any(has_subquery);
    match expr {
        E::Literal(_) | E::Column(_) | E::Param(_) | E::UserVar(_) | E::SysVar(_) => false,
        E::Default | E::DefaultOf(_) | E::InsertValue(_) => false,
        E::AssignVar { value, .. } => has_subquery(value),
        E::Unary { expr, .. }
        | E::IsNull { expr, .. }
        | E::IsTruth { expr, .. }
        | E::Cast { expr, .. }
        | E::ConvertUsing { expr, .. }
        | E::Extract { expr, .. }
        | E::Collate { expr, .. } => has_subquery(expr),
        E::Binary { left, right, .. } => has_subquery(left) || has_subquery(right),
        E::And(items) | E::Or(items) | E::Row(items) => any(items),
        E::InList { expr, list, .. } => has_subquery(expr) || any(list),
        E::Between { expr, low, high, .. } => {
            has_subquery(expr) || has_subquery(low) || has_subquery(high)
        }
        E::Like { expr, pattern, .. } | E::Regexp { expr, pattern, .. } => {
            has_subquery(expr) || has_subquery(pattern)
        }
        E::Case { operand, whens, else_ } => {
            operand.iter().chain(else_).any(|e| has_subquery(e))
                || whens.iter().any(|(a, b)| has_subquery(a) || has_subquery(b))
        }
        E::Function(call) => any(&call.args),
        E::Aggregate(call) => any(&call.args),
        E::Trim { what, expr, .. } => {
            what.as_ref().is_some_and(|e| has_subquery(e)) || has_subquery(expr)
        }
        E::DateArith { expr, interval, .. } => has_subquery(expr) || has_subquery(interval),
        E::TimestampDiff { from, to, .. } => has_subquery(from) || has_subquery(to),
        E::Char { args, .. } => any(args),
        E::JsonExtract { .. } => false,
        _ => true,
    }
}
