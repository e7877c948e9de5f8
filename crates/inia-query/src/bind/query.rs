//! Query expressions: WITH, set operations, VALUES, nesting, LIMIT.

use super::derived::BoundBlock;
use super::described::of_set_operation;
use super::dictionary;
use super::scope::Clause;
use super::{CteBinding, Level, QueryBinder, QueryUse, Result};
use crate::catalog::same_name;
use crate::optimize::{UNKNOWN_LIMIT, order_by_index};
use crate::plan::Origin;
use crate::plan::{
    Body, LimitPlan, OutputColumn, QueryPlan, RecursivePlan, SetPlan, SetStep, SortKey, Subplan,
    ValuesPlan,
};
use crate::referenced::ReferencedObjects;
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::bind::{Binder, BoundSubquery, EmptyScope, Scope};
use inia_expr::derive::{ParamType, ParamUse};
use inia_expr::{Expr, ExprKind, ExprType, merge};
use inia_parser::ast::{self, QueryBody};

impl QueryBinder<'_> {
    /// Binds a query expression.
    pub(super) fn query(&mut self, query: &ast::Query, usage: QueryUse) -> Result<QueryPlan> {
        let ctes = self.ctes.len();
        if let Some(with) = &query.with
            && let Err(error) = self.with(with, Some(query))
        {
            self.ctes.truncate(ctes);
            return Err(error);
        }
        let plain = matches!(query.body, QueryBody::Select(_));
        let keeps_digits = usage.keeps_digits && plain;
        let usage = QueryUse { keeps_digits, limit: None, ..usage };
        let plan = self.query_body(query, usage);
        self.ctes.truncate(ctes);
        plan
    }

    /// Binds the common table expressions of a WITH and brings them into scope, in that query where
    /// no other one reads them.
    fn with(&mut self, with: &ast::With, query: Option<&ast::Query>) -> Result<()> {
        for (number, cte) in with.ctes.iter().enumerate() {
            if with.ctes[..number].iter().any(|other| other.name == cte.name) {
                return Err(SqlError::new(ErrorCode::NonUniqueTable, &[&cte.name]));
            }
            let once = query.is_some_and(|query| reads_once(query, with, &cte.name));
            self.cte(cte, with.recursive, once)?;
        }
        Ok(())
    }

    fn query_body(&mut self, query: &ast::Query, usage: QueryUse) -> Result<QueryPlan> {
        if let QueryBody::Select(select) = &query.body {
            let usage = QueryUse { limit: query.limit.as_ref().map(limited), ..usage };
            let mut plan = self.select((select, usage), &query.order_by, &query.locking)?;
            plan.limit = self.limit(query.limit.as_ref())?;
            if query.limit.as_ref().is_some_and(|limit| !usage.tested || !has_rows(limit)) {
                self.kept = None;
            }
            if query.limit.is_some() {
                self.block = None;
            }
            order_by_index(&mut plan, || self.switched_on("prefer_ordering_index"));
            return Ok(plan);
        }
        if let QueryBody::Nested(inner) = &query.body
            && query.order_by.is_empty()
            && query.limit.is_none()
        {
            return self.query(inner, usage);
        }
        let usage = QueryUse { nested: false, sent: false, ..usage };
        let (body, columns) = self.operand(&query.body, usage)?;
        let block = self.block.take().filter(|_| query.limit.is_none());
        let (mut order, mut computed) = (Vec::new(), Vec::new());
        for item in &query.order_by {
            order.push(self.order_by_output(item, &columns, &mut computed)?);
        }
        let limit = self.limit(query.limit.as_ref())?;
        let count_found_rows = counts_found_rows(&query.body);
        self.block = block;
        let (presorted, late) = (false, false);
        Ok(QueryPlan { columns, body, computed, order, limit, count_found_rows, presorted, late })
    }

    /// Binds a body that stands for itself or as an operand of a set operation.
    fn operand(&mut self, body: &QueryBody, usage: QueryUse) -> Result<(Body, Vec<OutputColumn>)> {
        match body {
            QueryBody::Select(select) => {
                let plan = self.select((select, usage), &[], &[])?;
                Ok((plan.body, plan.columns))
            }
            QueryBody::Nested(query) => {
                let plan = self.query(query, usage)?;
                let columns = plan.columns.clone();
                Ok((Body::Nested(Box::new(plan)), columns))
            }
            QueryBody::Table(name) => {
                let plan = self.select((&select_all(name), usage), &[], &[])?;
                Ok((plan.body, plan.columns))
            }
            QueryBody::Values(rows) => {
                self.block = None;
                self.values(rows)
            }
            QueryBody::SetOperation { first, rest } => self.set_operation(first, rest, usage),
        }
    }

    fn values(&mut self, rows: &[Vec<ast::Expr>]) -> Result<(Body, Vec<OutputColumn>)> {
        let width = rows.first().map_or(0, Vec::len);
        let mut bound: Vec<Vec<Expr>> = Vec::with_capacity(rows.len());
        for (number, row) in rows.iter().enumerate() {
            if row.len() != width || width == 0 {
                return Err(SqlError::new(ErrorCode::WrongValueCountOnRow, &[&(number + 1)]));
            }
            self.levels.push(Level { open: true, ..Level::default() });
            let row: Result<_> =
                row.iter().map(|expr| self.expression(expr, Clause::Values, &[])).collect();
            self.levels.pop();
            bound.push(row?);
        }
        let columns: Vec<OutputColumn> = (0..width)
            .map(|column| {
                let types: Vec<&ExprType> = bound.iter().map(|row| &row[column].ty).collect();
                let ty = merge(&types, "VALUES")?.fitted_to_column();
                let result = ty.result_column(&format!("column_{column}"));
                Ok(OutputColumn { result, ty, origin: Origin::Column })
            })
            .collect::<Result<_>>()?;
        let types = columns.iter().map(|column| column.ty.clone()).collect();
        self.determined = None;
        Ok((Body::Values(ValuesPlan { rows: bound, types, as_written: false }), columns))
    }

    /// Binds a set operation: quotients of its operands keep all digits until they are values of
    /// the common type.
    fn set_operation(
        &mut self,
        first: &QueryBody,
        rest: &[ast::SetTerm],
        usage: QueryUse,
    ) -> Result<(Body, Vec<OutputColumn>)> {
        let usage = QueryUse { keeps_digits: true, ..usage };
        let (first, mut columns) = self.operand(first, usage)?;
        let mut blocks = vec![self.block.take()];
        let mut types: Vec<Vec<ExprType>> =
            columns.iter().map(|column| vec![dictionary::type_in_set(column)]).collect();
        let mut steps = Vec::with_capacity(rest.len());
        for term in rest {
            let (body, right) = self.operand(&term.body, usage)?;
            blocks.push(self.block.take());
            if right.len() != columns.len() {
                let code = ErrorCode::WrongNumberOfColumnsInSelect;
                return Err(SqlError::new(code, &[]));
            }
            for (types, column) in types.iter_mut().zip(right) {
                types.push(dictionary::type_in_set(&column));
            }
            steps.push(SetStep { op: term.op, all: term.all, body });
        }
        for (column, types) in columns.iter_mut().zip(&types) {
            let types: Vec<&ExprType> = types.iter().collect();
            let ty = merge(&types, "UNION")?.fitted_to_column();
            *column = of_set_operation(&column.result.name, ty);
        }
        let types: Vec<ExprType> = columns.iter().map(|c| c.ty.clone()).collect();
        let appends = |step: &SetStep| step.op == ast::SetOp::Union && step.all;
        self.block = BoundBlock::of_set(blocks, types.clone(), steps.iter().all(appends));
        self.determined = None;
        let counted = steps.iter().rposition(|step| !appends(step));
        let counted = counted.map_or(0, |last| last + 1);
        let number = self.next_number();
        let plan = SetPlan { number, first, rest: steps, counted, types };
        Ok((Body::SetOperation(Box::new(plan)), columns))
    }

    /// ORDER BY of a set operation: a position, a column name of its result, or an expression over
    /// its columns.
    fn order_by_output(
        &mut self,
        item: &ast::OrderItem,
        columns: &[OutputColumn],
        computed: &mut Vec<Expr>,
    ) -> Result<SortKey> {
        let index = match &item.expr {
            ast::Expr::Literal(ast::Literal::Int(position)) => {
                super::order::position(*position, columns.len())?
            }
            expr => {
                let (env, host) = (self.context.env, self.context.host);
                self.levels.push(Level::default());
                let mut scope = OutputScope { binder: self, columns };
                let bound = Binder { scope: &mut scope, env, host }.scalar(expr);
                self.levels.pop();
                let bound = bound?;
                match bound.kind {
                    ExprKind::Column { index, .. } => index,
                    _ => {
                        computed.push(bound);
                        columns.len() + computed.len() - 1
                    }
                }
            }
        };
        let ty = match index.checked_sub(columns.len()) {
            None => &columns[index].ty,
            Some(at) => &computed[at].ty,
        };
        Ok(SortKey { index, ty: ty.clone(), descending: item.desc })
    }

    pub(super) fn limit(&mut self, limit: Option<&ast::Limit>) -> Result<Option<LimitPlan>> {
        let (env, host) = (self.context.env, self.context.host);
        let Some(limit) = limit else { return Ok(None) };
        let mut bound = |expr: &ast::Expr| match expr {
            ast::Expr::Column(name) => {
                Err(SqlError::new(ErrorCode::SpUndeclaredVar, &[&name.name]))
            }
            expr => {
                let scope = &mut EmptyScope;
                let mut binder = Binder { scope, env, host };
                binder.demand(expr, ParamType::UInt, ParamUse::Counted);
                binder.bind(expr)
            }
        };
        let offset = limit.offset.as_ref().map(&mut bound).transpose()?;
        Ok(Some(LimitPlan { offset, count: bound(&limit.count)? }))
    }

    /// Binds one common table expression and brings it into scope.
    fn cte(&mut self, cte: &ast::Cte, recursive: bool, once: bool) -> Result<()> {
        // A WITH inside the query that defines the name again hides it: the query does not read
        // itself.
        let hides = |with: &ast::With| with.ctes.iter().any(|inner| inner.name == cte.name);
        let recursive = recursive && !cte.query.with.as_ref().is_some_and(hides);
        if recursive
            && let QueryBody::SetOperation { first, rest } = &cte.query.body
            && rest.iter().any(|term| mentions(&term.body, &cte.name))
        {
            check_recursive(cte, rest)?;
            // The query's own WITH is in scope for its operands only. Its bindings stand below the
            // new one and are removed from there.
            let inner = self.ctes.len();
            if let Some(with) = &cte.query.with {
                self.with(with, None)?;
            }
            let recurs = |binder: &mut Self| binder.recursive_cte(cte, first, rest);
            let bound = self.inside(|binder| binder.height_of(recurs));
            let ((), height) = bound?;
            let own = self.ctes.len() - 1;
            self.ctes.drain(inner..own);
            self.ctes[inner].height = height;
            return Ok(());
        }
        if recursive && mentions(&cte.query.body, &cte.name) {
            return Err(SqlError::new(ErrorCode::CteRecursiveRequiresUnion, &[&cte.name]));
        }
        // An error counts only once a query reads the name, so it is kept in the binding. Subplans
        // and tables that were bound before it are dropped.
        let before = (self.subplans.len(), self.tables.len(), self.temporary.len());
        let usage = QueryUse { derived: once, ..QueryUse::default() };
        let bound =
            self.inside(|binder| binder.height_of(|binder| binder.subplan(&cte.query, usage)));
        if let Ok(((subplan, _), _)) = bound {
            let merges = self.mergeable(&cte.query, false).is_some() && self.may_merge(None, "");
            self.keep_determined_of(subplan, merges);
            if once {
                self.keep_block_of(subplan);
            }
        }
        let bound = bound.and_then(|((subplan, _), height)| {
            Ok((subplan, height, self.derived_columns(subplan, &cte.columns)?))
        });
        let (level, name) = (self.levels.len(), cte.name.clone());
        let binding = match bound {
            Ok((subplan, height, columns)) => {
                CteBinding { name, subplan, level, height, columns, wrong: None, recurs: None }
            }
            Err(error) => {
                self.subplans.truncate(before.0);
                self.tables.truncate(before.1);
                self.temporary.truncate(before.2);
                let (subplan, columns) = (usize::MAX, Vec::new());
                let wrong = Some(error);
                CteBinding { name, subplan, level, height: 0, columns, wrong, recurs: None }
            }
        };
        self.ctes.push(binding);
        Ok(())
    }

    /// `name AS (seed UNION [ALL] step)` where the step reads `name`: the step sees the rows that
    /// the round before it added. Columns are nullable, whatever the seed says.
    fn recursive_cte(
        &mut self,
        cte: &ast::Cte,
        first: &QueryBody,
        rest: &[ast::SetTerm],
    ) -> Result<()> {
        // Operands before the first one that reads the name make the seed, the others the step.
        let split = rest.iter().position(|term| mentions(&term.body, &cte.name)).unwrap_or(0);
        let (seed_rest, step_terms) = rest.split_at(split);
        let seed = match seed_rest {
            [] => first.clone(),
            rest => QueryBody::SetOperation { first: Box::new(first.clone()), rest: rest.to_vec() },
        };
        let seed = ast::Query::new(seed);
        let ((subplan, correlated), height) =
            self.height_of(|binder| binder.subplan(&seed, QueryUse::default()))?;
        // The seed alone decides the types of the columns, as in MySQL; a step may give NULL in any
        // of them.
        let mut columns = self.derived_columns(subplan, &cte.columns)?;
        for ((_, ty), column) in columns.iter_mut().zip(self.subplan_columns(subplan)) {
            *ty = column.ty.clone().with_nullable(true);
        }
        let names = columns.iter().map(|(name, _)| name.clone()).collect();
        // The name is in scope while the step is bound. `recurs` limits it to the SELECTs of the
        // step itself, once in each (error 3577).
        let level = self.levels.len();
        let name = cte.name.clone();
        let binding = CteBinding {
            name,
            subplan,
            level,
            height,
            columns,
            wrong: None,
            recurs: Some(self.insides),
        };
        self.ctes.push(binding);
        let own = self.ctes.len() - 1;
        // Seed and step become one subplan: the step reads each round's rows under its number.
        let seed = self.subplans[subplan].take();
        let (head, tail) = step_terms.split_first().expect("one term reads the name");
        let step = match tail {
            [] => head.body.clone(),
            tail => {
                QueryBody::SetOperation { first: Box::new(head.body.clone()), rest: tail.to_vec() }
            }
        };
        let step = self.query(&ast::Query::new(step), QueryUse::default())?;
        self.ctes[own].recurs = None;
        if matches!(&step.body, Body::Select(select) if select.aggregation.is_some()) {
            let code = ErrorCode::CteRecursiveForbidsAggregation;
            return Err(SqlError::new(code, &[&cte.name]));
        }
        let seed = seed.expect("the seed was bound before");
        if step.columns.len() != seed.query.columns.len() {
            return Err(SqlError::new(ErrorCode::WrongNumberOfColumnsInSelect, &[]));
        }
        let limit = self.limit(cte.query.limit.as_ref())?;
        let recursive = Some(RecursivePlan { step, distinct: !head.all, limit, names });
        self.subplans[subplan] =
            Some(Subplan { query: seed.query, correlated, recursive, asked: false });
        Ok(())
    }
}

/// Errors 1235: what the recursive operands cannot have.
fn check_recursive(cte: &ast::Cte, rest: &[ast::SetTerm]) -> Result<()> {
    let fails = |what: &str| Err(SqlError::new(ErrorCode::NotSupportedYet, &[&what]));
    if !cte.query.order_by.is_empty() {
        return fails("ORDER BY over UNION in recursive Common Table Expression");
    }
    let ordered =
        rest.iter().filter(|term| mentions(&term.body, &cte.name)).any(|term| match &term.body {
            QueryBody::Nested(query) => !query.order_by.is_empty() || query.limit.is_some(),
            QueryBody::Select(select) => select.options.distinct,
            _ => false,
        });
    match ordered {
        true => fails(
            "ORDER BY / LIMIT / SELECT DISTINCT in recursive query block of Common Table \
             Expression",
        ),
        false => Ok(()),
    }
}

impl QueryBinder<'_> {
    /// Notes that a FROM reads a common table expression. Error 3577: inside itself it is read by
    /// its own SELECTs alone, and once by each.
    pub(super) fn recurs(&mut self, cte: &CteBinding) -> Result<()> {
        let Some(insides) = cte.recurs else { return Ok(()) };
        let directly = self.levels.len() == cte.level + 1 && self.insides == insides;
        let again = std::mem::replace(&mut self.level().recurs, true);
        match directly && !again {
            true => Ok(()),
            false => {
                let code = ErrorCode::CteRecursiveRequiresSingleReference;
                Err(SqlError::new(code, &[&cte.name]))
            }
        }
    }
}

/// The columns of a set operation's result.
struct OutputScope<'s, 'c> {
    binder: &'s mut QueryBinder<'c>,
    columns: &'s [OutputColumn],
}

impl Scope for OutputScope<'_, '_> {
    fn column(&mut self, name: &ast::ColumnName) -> Result<Expr> {
        if let Some(table) = &name.table {
            let code = ErrorCode::TablenameNotAllowedHere;
            return Err(SqlError::new(code, &[table, &"global ORDER clause"]));
        }
        let found = self.columns.iter().position(|c| same_name(&c.result.name, &name.name));
        let Some(index) = found else {
            let code = ErrorCode::UnknownColumn;
            return Err(SqlError::new(code, &[&name.name, &"order clause"]));
        };
        Ok(Expr::column(index, self.columns[index].ty.clone(), format!("`{}`", name.name)))
    }

    fn subquery(&mut self, query: &ast::Query, tested: bool) -> Result<BoundSubquery> {
        self.binder.subquery(query, tested)
    }
}

/// `SELECT * FROM name`.
pub(super) fn select_all(name: &ast::ObjectName) -> ast::Select {
    ast::Select {
        items: vec![ast::SelectItem::Wildcard],
        from: vec![ast::TableRef::Table(Box::new(ast::TableFactor {
            name: name.clone(),
            partitions: Vec::new(),
            alias: None,
            hints: Vec::new(),
        }))],
        ..ast::Select::default()
    }
}

/// How many rows a LIMIT asks for, as far as that is written.
fn limited(limit: &ast::Limit) -> u64 {
    let number = |expr: &ast::Expr| match expr {
        ast::Expr::Literal(ast::Literal::Int(number)) => *number,
        _ => UNKNOWN_LIMIT,
    };
    number(&limit.count).saturating_add(limit.offset.as_ref().map_or(0, number))
}

/// Whether a LIMIT lets the first row through.
fn has_rows(limit: &ast::Limit) -> bool {
    let some = matches!(limit.count, ast::Expr::Literal(ast::Literal::Int(1..)));
    some && limit.offset.is_none()
}

/// Whether a body reads the table `name`, its subqueries included.
fn mentions(body: &QueryBody, name: &str) -> bool {
    let mut reads = ReferencedObjects::default();
    reads.body(body);
    reads.tables.iter().any(|table| table.db.is_none() && table.name == name)
}

/// Whether a query with that WITH mentions a name once.
fn reads_once(query: &ast::Query, with: &ast::With, name: &str) -> bool {
    let mut reads = ReferencedObjects::default();
    reads.body(&query.body);
    query.order_by.iter().for_each(|item| reads.expr(&item.expr));
    with.ctes.iter().for_each(|cte| reads.query(&cte.query));
    reads.tables.iter().filter(|table| table.db.is_none() && table.name == name).count() == 1
}

/// Whether the leftmost SELECT asks for SQL_CALC_FOUND_ROWS.
fn counts_found_rows(body: &QueryBody) -> bool {
    match body {
        QueryBody::Select(select) => select.options.calc_found_rows,
        QueryBody::SetOperation { first, .. } => counts_found_rows(first),
        QueryBody::Nested(_) | QueryBody::Table(_) | QueryBody::Values(_) => false,
    }
}
