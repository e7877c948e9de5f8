//! RETURNING: what a statement gives back of each row that it has changed.
//!
//! The items are bound over a row of the table. They are evaluated when a row has been written, and
//! their values are held until the statement has succeeded.

use crate::bind::BoundInsert;
use crate::context::SessionContext;
use crate::context::StatementOutcome;
use crate::exec::emit;
use crate::plan::OutputColumn;
use crate::spill::TupleList;
use inia_base::column::{ResultColumn, RowSink};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::{EvalContext, Expr, Strictness};
use inia_parser::ast;

/// RETURNING, bound.
pub struct Returning {
    exprs: Vec<Expr>,
    columns: Vec<OutputColumn>,
}

impl Returning {
    /// What was bound of RETURNING.
    pub(super) fn of(bound: &mut BoundInsert) -> Option<Box<Returning>> {
        let (exprs, columns) = bound.returning.take()?;
        Some(Box::new(Returning { exprs, columns }))
    }

    /// How the columns are described.
    pub fn columns(&self) -> Vec<ResultColumn> {
        self.columns.iter().map(|column| column.result.clone()).collect()
    }
}

/// `SELECT items FROM table`; `None` where no RETURNING was written.
pub(super) fn over_table(
    items: &[ast::SelectItem],
    name: &ast::ObjectName,
    alias: Option<&String>,
) -> Option<ast::Query> {
    if items.is_empty() {
        return None;
    }
    let (name, alias) = (name.clone(), alias.cloned());
    let factor = ast::TableFactor { name, partitions: Vec::new(), alias, hints: Vec::new() };
    let select = ast::Select {
        items: items.to_vec(),
        from: vec![ast::TableRef::Table(Box::new(factor))],
        ..ast::Select::default()
    };
    Some(ast::Query::new(ast::QueryBody::Select(Box::new(select))))
}

/// Error 1235: RETURNING is for changes of a single table.
pub(super) fn refuse_several<T>() -> Result<T, SqlError> {
    let what = "RETURNING of a statement on several tables";
    Err(SqlError::new(ErrorCode::NotSupportedYet, &[&what]))
}

/// What one execution has given back so far.
pub(super) struct Returned<'r> {
    plan: &'r Returning,
    rows: TupleList<'r>,
}

impl<'r> Returned<'r> {
    pub(super) fn new(plan: &'r Returning, session: &'r SessionContext) -> Returned<'r> {
        Returned { plan, rows: TupleList::new(session.workspace()) }
    }

    /// Adds what a row gives.
    pub(super) fn push(
        &mut self,
        row: &[Value],
        ctx: &mut EvalContext<'_>,
    ) -> Result<(), SqlError> {
        // Nothing of this is stored, so wrong values are warnings.
        let strictness = std::mem::replace(&mut ctx.strictness, Strictness::Query);
        let tuple: Result<Vec<Value>, SqlError> =
            self.plan.exprs.iter().map(|expr| expr.eval(ctx, row)).collect();
        ctx.strictness = strictness;
        self.rows.push(&tuple?)
    }

    /// Sends all of it, and notes that in the statement's outcome.
    pub(super) fn send(
        self,
        outcome: &mut StatementOutcome,
        sink: &mut dyn RowSink,
    ) -> Result<(), SqlError> {
        sink.columns(&self.plan.columns())?;
        self.rows.each(|tuple| {
            sink.begin_row();
            for (value, column) in tuple.iter().zip(&self.plan.columns) {
                emit(value, &column.ty, sink);
            }
            sink.end_row().map(|()| true)
        })?;
        outcome.rows = Some(self.rows.len());
        Ok(())
    }
}
