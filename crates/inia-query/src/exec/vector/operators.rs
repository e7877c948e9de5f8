//! What operators over batches work with on one thread: the statement's own, or one of those that
//! help it ([`super::parallel`]).

use super::hash::HashBuild;
use super::parallel::Pipeline;
use crate::catalog::Table;
use crate::context::ColumnUse;
use crate::exec::{Result, RowVisitor, Runner};
use crate::interrupt::Interrupt;
use crate::plan::trace::Trace;
use crate::plan::{JoinPlan, RowSource, TableSource};
use crate::spill::Workspace;
use crate::workers::Helpers;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::EvalContext;
use inia_storage::Txn;
use std::cell::RefCell;

/// What only the statement's own thread can do.
pub(super) trait Statement {
    /// The transaction in which a table is read.
    fn txn_of(&self, table: &Table) -> &RefCell<Txn>;
    /// Gives the rows of a member of FROM one by one.
    fn rows(
        &self,
        source: &RowSource,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut RowVisitor<'_>,
    ) -> Result<bool>;
    /// Threads that may help the statement, which may have so many with its own.
    fn helpers(&self, threads: usize) -> Helpers<'_>;
}

impl Statement for Runner<'_> {
    fn txn_of(&self, table: &Table) -> &RefCell<Txn> {
        Runner::txn_of(self, table)
    }

    fn rows(
        &self,
        source: &RowSource,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut RowVisitor<'_>,
    ) -> Result<bool> {
        self.source(source, ctx, row, visit)
    }

    fn helpers(&self, threads: usize) -> Helpers<'_> {
        self.exec.helpers(threads)
    }
}

/// What reads tables here.
#[derive(Clone, Copy)]
pub(super) enum Reads<'e> {
    /// The statement, on its own thread.
    Statement(&'e dyn Statement),
    /// A worker: the morsel with this number of a pipeline's table, and what joins look up.
    Morsel(&'e Pipeline<'e>, usize, &'e RefCell<Txn>),
}

/// What operators over batches work with on one thread.
#[derive(Clone, Copy)]
pub(super) struct Operators<'e> {
    pub(super) reads: Reads<'e>,
    pub(super) interrupt: Interrupt<'e>,
    /// Where they take their memory from.
    pub(super) workspace: Workspace<'e>,
    pub(super) trace: Option<&'e Trace>,
    /// The column cache, where it is used.
    pub(super) columns: Option<ColumnUse<'e>>,
}

impl Runner<'_> {
    /// What operators work with on the statement's own thread.
    pub(super) fn operators(&self) -> Operators<'_> {
        Operators {
            reads: Reads::Statement(self),
            interrupt: self.exec.interrupt,
            workspace: self.exec.workspace,
            trace: self.trace,
            columns: self.exec.columns(),
        }
    }
}

impl<'e> Operators<'e> {
    /// The transaction in which a table is read.
    pub(super) fn txn_of(&self, table: &Table) -> &'e RefCell<Txn> {
        match self.reads {
            Reads::Statement(statement) => statement.txn_of(table),
            Reads::Morsel(.., txn) => txn,
        }
    }

    /// Fails when the statement was killed or its time is up.
    pub(super) fn check_killed(&self) -> Result<()> {
        self.interrupt.check()
    }

    /// Gives the rows of a member of FROM one by one.
    pub(super) fn rows(
        &self,
        source: &RowSource,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut RowVisitor<'_>,
    ) -> Result<bool> {
        match self.reads {
            Reads::Statement(statement) => statement.rows(source, ctx, row, visit),
            Reads::Morsel(..) => {
                debug_assert!(false, "the plan divides no source that gives single rows");
                let what = "a worker reads single rows";
                Err(SqlError::new(ErrorCode::InternalError, &[&what]))
            }
        }
    }

    /// The right side of a join that the threads of a pipeline share.
    pub(super) fn shared_build(&self, join: &JoinPlan) -> Option<&'e HashBuild<'e>> {
        match self.reads {
            Reads::Statement(_) => None,
            Reads::Morsel(pipeline, ..) => pipeline.build_of(join),
        }
    }

    /// The pipeline and the number of the morsel that is read instead of the whole table.
    pub(super) fn morsel_of(&self, table: &TableSource) -> Option<(&'e Pipeline<'e>, usize)> {
        match self.reads {
            Reads::Morsel(pipeline, morsel, _) if pipeline.reads(table) => Some((pipeline, morsel)),
            _ => None,
        }
    }
}
