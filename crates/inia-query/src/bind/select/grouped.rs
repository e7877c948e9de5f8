//! The items of GROUP BY and ORDER BY, which may name select items.

use crate::bind::order::{Reference, find_item, position, reference};
use crate::bind::scope::{Clause, ScopeItem};
use crate::bind::select::Clauses;
use crate::bind::window::has_window;
use crate::bind::{QueryBinder, Result};
use crate::plan::SortKey;
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::bind::sort_key;
use inia_expr::{Expr, ExprKind};
use inia_parser::ast;

impl QueryBinder<'_> {
    pub(super) fn group_item(&mut self, item: &ast::Expr, clauses: &mut Clauses) -> Result<Expr> {
        if let ast::Expr::Literal(ast::Literal::Int(number)) = item {
            let columns = clauses.items.len();
            let index = position(*number, columns).map_err(|_| {
                SqlError::new(ErrorCode::UnknownColumn, &[number, &"group statement"])
            })?;
            let expr = clauses.items[index].expr.clone();
            let mut has_aggregate = false;
            expr.walk(&mut |e| has_aggregate |= matches!(e.kind, ExprKind::Aggregate(_)));
            if has_aggregate || has_window(&expr) {
                let code = ErrorCode::WrongGroupField;
                return Err(SqlError::new(code, &[&clauses.items[index].name]));
            }
            return Ok(expr);
        }
        let expr = match self.grouped_item(item, &clauses.items)? {
            Some(index) => clauses.items[index].expr.clone(),
            None => self.later(item, Clause::Group, clauses)?,
        };
        let mut has_aggregate = false;
        expr.walk(&mut |e| has_aggregate |= matches!(e.kind, ExprKind::Aggregate(_)));
        match item {
            ast::Expr::Column(name) if has_aggregate || has_window(&expr) => {
                Err(SqlError::new(ErrorCode::WrongGroupField, &[&name.name]))
            }
            _ if has_aggregate => Err(SqlError::new(ErrorCode::InvalidGroupFuncUse, &[])),
            _ => Ok(expr),
        }
    }

    /// The select item that a name in GROUP BY stands for. A column of FROM comes before another
    /// thing of the select list, with warning 1052.
    fn grouped_item(&mut self, item: &ast::Expr, items: &[ScopeItem]) -> Result<Option<usize>> {
        let ast::Expr::Column(name) = item else { return Ok(None) };
        let (names, clause) = (self.names(), Clause::Group.name());
        let Some(found) = find_item(name, items, names, clause)? else { return Ok(None) };
        let of_from = names.find(name, clause);
        if found.behind_alias {
            of_from.clone()?;
        }
        match of_from {
            Ok(Some(at)) => {
                let item = &items[found.index];
                if item.column == Some(at) || item.expr.same(&names.column(at).expr()) {
                    return Ok(Some(found.index));
                }
                self.warn_ambiguous(name, clause);
                Ok(None)
            }
            Ok(None) | Err(_) => Ok(Some(found.index)),
        }
    }

    pub(super) fn order_by(
        &mut self,
        (order_by, distinct): (&[ast::OrderItem], bool),
        clauses: &mut Clauses,
    ) -> Result<()> {
        let grouped = !clauses.group.is_empty() || !self.level().aggregates.is_empty();
        for (number, item) in order_by.iter().enumerate() {
            let index = match reference(&item.expr, &clauses.items, self.names())? {
                Reference::Item(index) => clauses.sorted_item(index, distinct),
                Reference::Expression => {
                    let expr = sort_key(self.later(&item.expr, Clause::Order, clauses)?);
                    if expr.is_constant_in_statement() && !self.level().rollup {
                        continue;
                    }
                    clauses.position_of(expr)
                }
            };
            let visible = clauses.items.len();
            let expr = match index.checked_sub(visible) {
                None => &clauses.items[index].expr,
                Some(hidden) => &clauses.hidden[hidden],
            };
            let key = SortKey { index, ty: expr.ty.clone(), descending: item.desc };
            clauses.order.push(key);
            if !grouped && !self.level().aggregates.is_empty() {
                let code = ErrorCode::AggregateOrderNonAggQuery;
                return Err(SqlError::new(code, &[&(number + 1)]));
            }
        }
        Ok(())
    }
}

impl Clauses {
    /// Where the tuple has what sorting by a select item compares. Beside DISTINCT the item itself
    /// becomes that, since distinct rows have nothing but items.
    fn sorted_item(&mut self, index: usize, distinct: bool) -> usize {
        let item = &mut self.items[index].expr;
        let key = sort_key(item.clone());
        if key.ty.data_type == item.ty.data_type {
            return index;
        }
        if distinct && self.group.is_empty() {
            *item = key;
            return index;
        }
        self.position_of(key)
    }

    /// The position of an expression in the tuple: a select item, or a hidden one behind them.
    fn position_of(&mut self, expr: Expr) -> usize {
        let mut all = self.items.iter().map(|item| &item.expr).chain(&self.hidden);
        match all.position(|known| known.same(&expr)) {
            Some(index) => index,
            None => {
                self.hidden.push(expr);
                self.items.len() + self.hidden.len() - 1
            }
        }
    }
}
