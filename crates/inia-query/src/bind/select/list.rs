//! The select list: its items, their names, and the metadata that the client gets of them.

use super::item_name;
use crate::bind::described;
use crate::bind::scope::{Clause, ScopeItem};
use crate::bind::select::Clauses;
use crate::bind::{Namespace, QueryBinder, Result, origin};
use crate::plan::{Origin, OutputColumn};
use inia_base::column::flags;
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::tree::CastKind;
use inia_expr::{Expr, ExprKind, ExprType, unset_item};
use inia_parser::ast::{self, SelectItem};

impl QueryBinder<'_> {
    pub(super) fn select_list(
        &mut self,
        select: &ast::Select,
        clauses: &mut Clauses,
    ) -> Result<()> {
        for item in &select.items {
            match item {
                SelectItem::Wildcard => {
                    if self.names().tables.is_empty() {
                        return Err(SqlError::new(ErrorCode::NoTablesUsed, &[]));
                    }
                    let names = self.names();
                    names.visible.iter().for_each(|at| push_column(names, *at, clauses));
                }
                SelectItem::TableWildcard(table) => {
                    let names = self.names();
                    for at in names.columns_of(table.db.as_deref(), &table.name)? {
                        push_column(names, at, clauses);
                    }
                }
                SelectItem::Expr { expr, alias, text } => {
                    let mut bound = self.bind_in(expr, Clause::FieldList, &[], &[])?;
                    let system = if alias.is_none() { self.system_name(&bound) } else { None };
                    let name = system.unwrap_or_else(|| item_name(expr, alias.as_ref(), text));
                    if let ExprKind::Cast(_, kind @ CastKind::Explicit) = &mut bound.kind {
                        *kind = CastKind::Item(name.as_str().into());
                    }
                    let column = self.column_of(expr);
                    let mut output = self.output_column(column, &bound, &name);
                    if let Some(ty) = unset_item(&bound, self.context.host) {
                        output.result = ty.result_column(&name);
                    }
                    if let ast::Expr::Literal(ast::Literal::Hex { charset: None, .. }) = expr {
                        output.result.flags |= flags::UNSIGNED;
                    }
                    if matches!(bound.kind, ExprKind::Stored(_)) {
                        described::as_kept(&mut output);
                    }
                    clauses.columns.push(output);
                    clauses.items.push(ScopeItem { name, expr: bound, column });
                }
            }
            let known = self.level().items.len();
            self.level().items.extend_from_slice(&clauses.items[known..]);
        }
        Ok(())
    }

    /// A column of a view of information_schema is called as it is declared, not as it was written.
    fn system_name(&self, expr: &Expr) -> Option<String> {
        let ExprKind::Column { index, .. } = expr.kind else { return None };
        let views = self.names().tables.iter().filter(|table| {
            let name = table.columns.first().map(|column| &column.result.org_table);
            table.schema.eq_ignore_ascii_case("information_schema")
                && name.is_some_and(|name| !crate::computed::is_no_view(name))
        });
        let mut columns = views.flat_map(|table| &table.columns);
        let column = columns.find(|column| column.slot == index);
        column.map(|column| column.result.name.clone())
    }

    /// The column of FROM that a select item is.
    fn column_of(&self, written: &ast::Expr) -> Option<(usize, usize)> {
        match written {
            ast::Expr::Column(column) => {
                self.names().find(column, Clause::FieldList.name()).ok().flatten()
            }
            _ => None,
        }
    }

    /// The metadata that the client gets of a select item.
    fn output_column(
        &self,
        column: Option<(usize, usize)>,
        expr: &Expr,
        name: &str,
    ) -> OutputColumn {
        let mut result = expr.ty.result_column(name);
        if let Some(at) = column {
            result = self.names().column(at).result.clone();
            result.name = name.to_owned();
        } else if let ExprKind::Column { index, .. } = expr.kind {
            let columns = self.names().tables.iter().flat_map(|table| &table.columns);
            if let Some(column) = columns.into_iter().find(|column| column.slot == index) {
                result = column.result.clone();
                result.name = name.to_owned();
            }
        }
        let origin = match (column, origin::of(expr)) {
            (Some(at), Origin::Column) => self.names().origin(at),
            (_, origin) => origin,
        };
        let ty = ExprType { of_group: false, ..expr.ty.clone() };
        let mut column = OutputColumn { result, ty, origin };
        described::as_bits(&mut column, expr);
        column
    }
}

fn push_column(names: &Namespace, at: (usize, usize), clauses: &mut Clauses) {
    let column = names.column(at);
    let result = column.result.clone();
    let item = ScopeItem { name: result.name.clone(), expr: column.expr(), column: Some(at) };
    clauses.items.push(item);
    let origin = names.origin(at);
    clauses.columns.push(OutputColumn { result, ty: column.ty.clone(), origin });
}
