//! What operators over batches work with on one thread: the statement's own, or one of those that
//! help it ([`super::parallel`]).

use super::batch::Batch;
use super::grace::SpilledBuild;
use super::hash::HashBuild;
use super::parallel::Pipeline;
use crate::access::TableScan;
use crate::catalog::Table;
use crate::context::ColumnUse;
use crate::exec::time_slice::TimeSlice;
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

/// The right side of a hash join that was read.
pub(super) enum BuiltJoin<'w> {
    /// It is in memory.
    Whole(HashBuild<'w>),
    /// It has outgrown memory.
    Spilled(SpilledBuild<'w>),
}

/// What operators over batches work with on one thread.
#[derive(Clone, Copy)]
pub(super) struct Operators<'e> {
    pub(super) reads: Reads<'e>,
    pub(super) interrupt: Interrupt<'e>,
    pub(super) slice: &'e TimeSlice,
    /// Where they take their memory from.
    pub(super) workspace: Workspace<'e>,
    pub(super) trace: Option<&'e Trace>,
    /// The column cache, where it is used.
    pub(super) columns: Option<ColumnUse<'e>>,
    /// Right sides of joins that were read already.
    pub(super) builds: &'e [(&'e JoinPlan, BuiltJoin<'e>)],
    /// How many threads read the left side of a join whose right side is among them and has
    /// outgrown memory.
    pub(super) threads: usize,
    /// Rows must come in the order of the leftmost table.
    pub(super) ordered: bool,
}

impl Runner<'_> {
    /// What operators work with on the statement's own thread.
    pub(super) fn operators(&self) -> Operators<'_> {
        Operators {
            reads: Reads::Statement(self),
            interrupt: self.exec.interrupt,
            slice: &self.slice,
            workspace: self.exec.workspace,
            trace: self.trace,
            columns: self.exec.columns(),
            builds: &[],
            threads: 1,
            ordered: false,
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

    /// Once round a loop: fails when the statement was killed or its time is up.
    pub(super) fn check_killed(&self) -> Result<()> {
        self.slice.pass();
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

    /// The same with right sides of joins that were read already. Left sides of those that have
    /// outgrown memory are read by so many threads.
    pub(super) fn with_builds<'b>(
        self,
        builds: &'b [(&'b JoinPlan, BuiltJoin<'b>)],
        threads: usize,
    ) -> Operators<'b>
    where
        'e: 'b,
    {
        Operators { builds, threads, ..self }
    }

    /// The same for a source that is read by itself: the right side of a join, or a left side whose
    /// rows are put into partitions.
    pub(super) fn of_side(&self, ordered: bool) -> Operators<'e> {
        Operators { builds: &[], threads: 1, ordered, ..*self }
    }

    /// The right side of a join, where it was read already: by the threads of a pipeline, who share
    /// it, or by the statement.
    pub(super) fn shared_build(&self, join: &JoinPlan) -> Option<&'e BuiltJoin<'e>> {
        match self.reads {
            Reads::Statement(_) => {
                let found = self.builds.iter().find(|(known, _)| std::ptr::eq(*known, join));
                found.map(|(_, build)| build)
            }
            Reads::Morsel(pipeline, ..) => pipeline.build_of(join),
        }
    }

    /// What reads the morsel of this table, where that is read instead of the whole table.
    pub(super) fn morsel_of(&self, table: &TableSource) -> Option<TableScan> {
        match self.reads {
            Reads::Morsel(pipeline, morsel, _) => pipeline.open(table, morsel),
            Reads::Statement(_) => None,
        }
    }

    /// Whether nobody wants the rest of a morsel.
    pub(super) fn is_stopped(&self) -> bool {
        matches!(self.reads, Reads::Morsel(pipeline, ..) if pipeline.is_stopped())
    }

    /// The rows of the morsel, where they are those of this source.
    pub(super) fn rows_of_morsel(&self, source: &RowSource) -> Option<Batch> {
        match self.reads {
            Reads::Morsel(pipeline, morsel, _) => pipeline.rows_of(source, morsel),
            Reads::Statement(_) => None,
        }
    }
}
