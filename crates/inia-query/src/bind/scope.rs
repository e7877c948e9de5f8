//! Name resolution for the expressions of one SELECT.

use super::namespace::full_name;
use super::order::find_item;
use super::rollup::grouping_call;
use super::{Namespace, QueryBinder, Result};
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::aggregate::{Aggregate, WindowFunction};
use inia_expr::bind::{Binder, BoundSubquery, Scope};
use inia_expr::{Expr, ExprKind};
use inia_parser::ast::{self, ColumnName};

/// The clause an expression stands in: its name in error texts, and which names it sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clause {
    FieldList,
    /// A row of VALUES.
    Values,
    On,
    /// The document of JSON_TABLE.
    TableFunction,
    Where,
    Group,
    Having,
    Order,
}

impl Clause {
    pub(super) fn name(self) -> &'static str {
        match self {
            Clause::FieldList | Clause::Values => "field list",
            Clause::On => "on clause",
            Clause::TableFunction => "a table function argument",
            Clause::Where => "where clause",
            Clause::Group => "group statement",
            Clause::Having => "having clause",
            Clause::Order => "order clause",
        }
    }

    /// Whether its expressions are true or false.
    pub(super) fn is_condition(self) -> bool {
        matches!(self, Clause::On | Clause::Where | Clause::Having)
    }

    /// Whether its expressions are evaluated for groups, where there are any.
    pub(super) fn is_after_from(self) -> bool {
        matches!(self, Clause::FieldList | Clause::Group | Clause::Having | Clause::Order)
    }

    pub(super) fn allows_windows(self) -> bool {
        matches!(self, Clause::FieldList | Clause::Order)
    }

    pub(super) fn allows_aggregates(self) -> bool {
        matches!(self, Clause::FieldList | Clause::Having | Clause::Order)
    }
}

/// A select item as later clauses see it.
#[derive(Clone, Debug)]
pub(super) struct ScopeItem {
    pub(super) name: String,
    pub(super) expr: Expr,
    /// The column of FROM that it is, as a (table, column) pair.
    pub(super) column: Option<(usize, usize)>,
}

impl ScopeItem {
    /// Whether both are the same column of the same row.
    pub(super) fn is_same_column(&self, other: &ScopeItem) -> bool {
        self.column == other.column || self.expr.same(&other.expr)
    }
}

/// The scope of one expression.
pub(super) struct BlockScope<'s, 'c> {
    pub(super) binder: &'s mut QueryBinder<'c>,
    pub(super) clause: Clause,
    /// The select list, for the clauses that may name its items.
    pub(super) items: &'s [ScopeItem],
    /// GROUP BY, for HAVING.
    pub(super) group: &'s [Expr],
    /// How many aggregates' arguments this is inside of.
    pub(super) in_aggregates: usize,
}

impl BlockScope<'_, '_> {
    /// The names of this SELECT's FROM.
    fn names(&self) -> &Namespace {
        &self.binder.levels.last().expect("a SELECT is being bound").namespace
    }

    /// The select item that a name stands for.
    fn item(&self, name: &ColumnName) -> Result<Option<Expr>> {
        let found = find_item(name, self.items, self.names(), self.clause.name())?;
        Ok(found.map(|found| self.items[found.index].expr.clone()))
    }

    /// The column in this SELECT's FROM.
    fn own_column(&self, name: &ColumnName) -> Result<Option<Expr>> {
        let Some(level) = self.binder.levels.last() else { return Ok(None) };
        let found = level.namespace.find(name, self.clause.name())?;
        Ok(found.map(|at| level.namespace.column(at).expr()))
    }

    /// The column in an enclosing SELECT's FROM.
    fn outer_column(&mut self, name: &ColumnName) -> Result<Option<Expr>> {
        let own = self.binder.levels.len() - 1;
        for index in (0..own).rev() {
            let level = &mut self.binder.levels[index];
            if !level.open {
                continue;
            }
            if let Some(at) = level.namespace.find(name, self.clause.name())? {
                let column = level.namespace.column(at).clone();
                let mut reached = index;
                let expr = column.outer(own - index, &mut |slot| match slot {
                    Some(slot) => level.read_by_parts.insert(slot),
                    None => reached = 0,
                });
                self.binder.reached = self.binder.reached.min(reached);
                return Ok(Some(expr));
            }
            if index >= self.binder.inside
                && let Some(item) = self.outer_item(name, index)?
            {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }

    /// A value of the row that INSERT tried to insert. Inside subqueries the names of their own
    /// FROM come first.
    fn inserted_column(&mut self, name: &ColumnName) -> Result<Option<Expr>> {
        let Some(names) = &self.binder.inserted else { return Ok(None) };
        let levels = &self.binder.levels;
        for level in levels.iter().skip(1).filter(|level| level.open) {
            if level.namespace.find(name, self.clause.name())?.is_some() {
                return Ok(None);
            }
        }
        let target = levels.first().map(|level| level.namespace.find(name, self.clause.name()));
        names.find(name, target.transpose()?.flatten().is_some())
    }

    /// HAVING sees the select list and the columns of GROUP BY; FROM only inside aggregates. A
    /// column of GROUP BY comes before another thing of the select list, with warning 1052.
    fn having_column(&mut self, name: &ColumnName) -> Result<Option<Expr>> {
        let item = self.item(name)?;
        let Some(group) = self.group_column(name)? else { return Ok(item) };
        match item {
            Some(item) if item.same(&group) => Ok(Some(item)),
            Some(_) => {
                self.binder.warn_ambiguous(name, self.clause.name());
                Ok(Some(group))
            }
            None => Ok(Some(group)),
        }
    }

    /// The column of GROUP BY that a name stands for; error 1052 where there are several. A column
    /// of a merged derived table that is a constant is none, as in MySQL.
    fn group_column(&self, name: &ColumnName) -> Result<Option<Expr>> {
        let names = self.names();
        let mut found: Option<&Expr> = None;
        for (t, table) in names.tables.iter().enumerate() {
            for (c, column) in table.columns.iter().enumerate() {
                if !names.goes_by((t, c), name) {
                    continue;
                }
                let expr = column.expr();
                let same = |group: &&Expr| group.as_literal().is_none() && group.same(&expr);
                let Some(group) = self.group.iter().find(same) else { continue };
                if found.is_some_and(|found| !found.same(group)) {
                    let clause = self.clause.name();
                    let code = ErrorCode::NonUniqueColumn;
                    return Err(SqlError::new(code, &[&full_name(name), &clause]));
                }
                found = Some(group);
            }
        }
        Ok(found.cloned())
    }
}

impl Scope for BlockScope<'_, '_> {
    fn column(&mut self, name: &ColumnName) -> Result<Expr> {
        if let Some(value) = self.inserted_column(name)? {
            return Ok(value);
        }
        let found = match self.clause {
            Clause::Having if self.in_aggregates == 0 => self.having_column(name)?,
            Clause::Order | Clause::Group if self.in_aggregates == 0 => {
                match self.own_column(name)? {
                    Some(column) => Some(column),
                    None => self.item(name)?,
                }
            }
            _ => self.own_column(name)?,
        };
        if let Some(column) = found {
            return Ok(column);
        }
        if let Some(column) = self.outer_column(name)? {
            return Ok(column);
        }
        let clause = self.clause.name();
        if let (Clause::TableFunction, Some(table)) = (self.clause, &name.table) {
            return Err(SqlError::new(ErrorCode::UnknownTableInClause, &[table, &clause]));
        }
        Err(SqlError::new(ErrorCode::UnknownColumn, &[&full_name(name), &clause]))
    }

    fn insert_value(&mut self, name: &ColumnName) -> Result<Expr> {
        let column = match (&self.binder.inserted, self.binder.levels.first()) {
            (Some(_), Some(target)) => {
                let found = target.namespace.find(name, self.clause.name())?;
                found.map(|at| target.namespace.column(at).expr())
            }
            _ => {
                let null = self.column(name).map(|_| Expr::null())?;
                self.binder.warn_of_values();
                return Ok(null);
            }
        };
        match column {
            Some(Expr { kind: ExprKind::Column { index, .. }, ty }) => {
                Ok(Expr { kind: ExprKind::InsertValue(index), ty: ty.with_nullable(true) })
            }
            _ => {
                let clause = self.clause.name();
                Err(SqlError::new(ErrorCode::UnknownColumn, &[&full_name(name), &clause]))
            }
        }
    }

    fn default_of(&mut self, name: &ColumnName) -> Result<Expr> {
        let column = self.column(name)?;
        for level in self.binder.levels.iter().rev() {
            let Some(at) = level.namespace.find(name, self.clause.name())? else { continue };
            let result = &level.namespace.column(at).result;
            let mut tables = self.binder.tables.iter();
            let table = tables.find(|table| {
                table.def.name == result.org_table && table.def.schema == result.schema
            });
            let Some(table) = table else { break };
            let Some(index) = table.def.column(&result.org_name) else { break };
            let ty = crate::bind::table_scope::column_type(table, index);
            return crate::bind::table_scope::default_value(&table.def.columns[index], ty);
        }
        Ok(column)
    }

    fn subquery(&mut self, query: &ast::Query, tested: bool) -> Result<BoundSubquery> {
        self.binder.subquery(query, tested)
    }

    fn enter_aggregate(&mut self) -> Result<()> {
        self.in_aggregates += 1;
        self.own_level().takes_aggregates = false;
        Ok(())
    }

    fn aggregate(&mut self, call: Aggregate) -> Result<Expr> {
        self.in_aggregates -= 1;
        let takes = self.in_aggregates == 0 && self.clause.allows_aggregates();
        self.own_level().takes_aggregates = takes;
        self.place_aggregate(call)
    }

    fn stored_function(&mut self, call: &ast::FunctionCall) -> Result<Expr> {
        if call.db.is_none() && call.name.eq_ignore_ascii_case("grouping") {
            let (env, host) = (self.binder.context.env, self.binder.context.host);
            let number = |arg: &ast::Expr| matches!(arg, ast::Expr::Literal(ast::Literal::Int(_)));
            if call.args.iter().any(number) {
                let what = &"GROUPING function";
                return Err(SqlError::new(ErrorCode::WrongArguments, &[what]));
            }
            let args = Binder { scope: self, env, host }.scalars(&call.args)?;
            if !self.clause.allows_aggregates() {
                return Err(SqlError::new(ErrorCode::InvalidGroupFuncUse, &[]));
            }
            return Ok(grouping_call(args));
        }
        let full = match &call.db {
            Some(db) => format!("{db}.{}", call.name),
            None => call.name.clone(),
        };
        Err(SqlError::new(ErrorCode::SpDoesNotExist, &[&"FUNCTION", &full]))
    }

    fn match_against(&mut self, expr: &ast::Expr) -> Result<Expr> {
        self.bind_match(expr)
    }

    fn window(&mut self, call: WindowFunction, over: &ast::Over) -> Result<Expr> {
        self.bind_window(call, over)
    }
}
