//! MATCH … AGAINST: which table and index are searched.

use super::scope::BlockScope;
use super::{QueryBinder, Result};
use crate::catalog::Table;
use crate::plan::search::{SearchMode, SearchPlan};
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::bind::{Binder, Scope};
use inia_expr::tree::Match;
use inia_expr::{Expr, ExprKind, ExprType};
use inia_parser::ast::{self, MatchMode};
use std::sync::Arc;

/// A search and what it searches for, so that equal searches are one.
pub(super) struct BoundSearch {
    pub(super) search: SearchPlan,
    against: Expr,
}

/// A column of a stored table.
struct SearchedColumn {
    table: Arc<Table>,
    position: usize,
    /// The slot of the table's first column.
    base: usize,
    expr: Expr,
}

fn wrong_arguments(what: &str) -> SqlError {
    SqlError::new(ErrorCode::WrongArguments, &[&what])
}

impl BlockScope<'_, '_> {
    /// Binds MATCH … AGAINST; errors 1191, 1210 and 1214.
    pub(super) fn bind_match(&mut self, expr: &ast::Expr) -> Result<Expr> {
        let ast::Expr::Match { columns, against, mode } = expr else {
            return Err(wrong_arguments("MATCH"));
        };
        let (env, host) = (self.binder.context.env, self.binder.context.host);
        let against = Binder { scope: self, env, host }.scalar(against)?;
        let mut searched = Vec::with_capacity(columns.len());
        for name in columns {
            let expr = self.column(name)?;
            searched.push(self.binder.searched_column(expr)?);
        }
        let reads_rows = |node: &Expr| {
            use ExprKind as K;
            matches!(node.kind, K::Column { .. } | K::OuterColumn { .. } | K::Aggregate(_))
        };
        let mut varies = false;
        against.walk(&mut |node| varies |= reads_rows(node));
        if varies {
            return Err(wrong_arguments("AGAINST"));
        }
        let mode = match mode {
            MatchMode::Natural => SearchMode::Natural,
            MatchMode::NaturalExpanded | MatchMode::Expanded => SearchMode::Expanded,
            MatchMode::Boolean => SearchMode::Boolean,
        };
        self.binder.bound_match(searched, against, mode)
    }
}

impl QueryBinder<'_> {
    /// The stored column that an expression of MATCH is.
    fn searched_column(&self, expr: Expr) -> Result<SearchedColumn> {
        let ExprKind::Column { index: slot, .. } = expr.kind else {
            return Err(wrong_arguments("MATCH"));
        };
        let stored = self.levels.last().map(|level| &level.stored[..]).unwrap_or_default();
        let member = stored.iter().rev().find(|(slots, _)| slots.contains(&slot));
        let Some((slots, table)) = member else {
            return Err(SqlError::new(ErrorCode::TableCantHandleFt, &[]));
        };
        let (base, table) = (slots.start, table.clone());
        Ok(SearchedColumn { table, position: slot - base, base, expr })
    }

    fn bound_match(
        &mut self,
        searched: Vec<SearchedColumn>,
        against: Expr,
        mode: SearchMode,
    ) -> Result<Expr> {
        let Some(first) = searched.first() else { return Err(wrong_arguments("MATCH")) };
        let (table, base) = (first.table.clone(), first.base);
        if searched.iter().any(|column| column.base != base) {
            return Err(wrong_arguments("MATCH"));
        }
        if table.def.is_merged() {
            return Err(SqlError::new(ErrorCode::TableCantHandleFt, &[]));
        }
        let has = |column: usize| searched.iter().any(|searched| searched.position == column);
        let serves = |index: &crate::catalog::IndexDef| {
            let parts = &index.parts;
            index.kind.has_words()
                && index.visible
                && parts.len() == searched.len()
                && parts.iter().all(|part| has(part.column))
        };
        let index = table.def.indexes.iter().position(serves);
        // Engines without transactions search texts without an index in boolean mode.
        if index.is_none() && (table.def.is_transactional() || mode != SearchMode::Boolean) {
            return Err(SqlError::new(ErrorCode::FtMatchingKeyNotFound, &[]));
        }
        let columns: Vec<usize> = match index {
            Some(index) => table.def.indexes[index].parts.iter().map(|part| part.column).collect(),
            None => searched.iter().map(|column| column.position).collect(),
        };
        let texts = columns
            .iter()
            .filter_map(|position| searched.iter().find(|column| column.position == *position));
        let texts: Vec<Expr> = texts.map(|column| column.expr.clone()).collect();
        let same = |bound: &BoundSearch| {
            let search = &bound.search;
            Arc::ptr_eq(&search.table, &table)
                && (search.index, search.mode) == (index, mode)
                && search.columns == columns
                && bound.against.same(&against)
        };
        let known = self.searches.iter().position(same);
        let id = known.unwrap_or(self.searches.len());
        if known.is_none() {
            let search = SearchPlan { table, index, columns, mode };
            self.searches.push(BoundSearch { search, against: against.clone() });
        }
        let node = Match { id, index, against, columns: texts };
        Ok(Expr { kind: ExprKind::Match(Box::new(node)), ty: ExprType::double(true) })
    }
}
