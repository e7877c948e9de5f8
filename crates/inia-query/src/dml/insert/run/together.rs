//! Rows of one statement that are written together.
//!
//! Rows wait until there are many of them; then their clustered records go in at once, by the
//! statement's own thread or by one beside it.

use super::batch_thread::{BatchThread, GivenNumbers};
use super::{Done, InsertRun};
use crate::context::SessionContext;
use crate::dml::write_batch::{BatchWriter, PendingRows};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::EvalContext;
use inia_storage::Txn;
use std::thread::Scope;

/// Which rows are written together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Together {
    /// Each by itself.
    None,
    /// All: each either goes in or ends the statement.
    All,
    /// All that bring their numbers; where their key exists they are left out with a warning.
    Forgiving,
    /// As forgiving, with those that get a number, which is in the key and which nobody has.
    ForgivingNumbered,
}

impl Together {
    /// Whether a row whose key exists is left out.
    pub(super) fn forgives(self) -> bool {
        matches!(self, Together::Forgiving | Together::ForgivingNumbered)
    }

    /// Whether a row waits for others.
    pub(super) fn takes(self, is_numbered: bool) -> bool {
        match self {
            Together::None => false,
            Together::Forgiving => !is_numbered,
            Together::All | Together::ForgivingNumbered => true,
        }
    }

    /// Writes rows that wait; their entries may wait on, unless these are the `last` rows.
    pub(super) fn write(
        self,
        writer: BatchWriter<'_>,
        txn: &mut Txn,
        pending: &mut PendingRows,
        last: bool,
    ) -> WrittenBatch {
        let all = pending.len();
        if !self.forgives() {
            let (count, outcome) = writer.flush(txn, pending, last);
            return WrittenBatch { count, refused: Vec::new(), outcome };
        }
        match writer.flush_ignoring(txn, pending, last) {
            Ok(refused) => WrittenBatch { count: all, refused, outcome: Ok(()) },
            Err(error) => WrittenBatch { count: 0, refused: Vec::new(), outcome: Err(error) },
        }
    }
}

/// What became of rows that were written together.
pub(super) struct WrittenBatch {
    /// How many were looked at.
    pub(super) count: usize,
    /// Those of them whose key existed, by their place, with the error that says so.
    pub(super) refused: Vec<(usize, SqlError)>,
    pub(super) outcome: Done,
}

/// How far rows that wait are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Settle {
    /// They are written, or given to the thread that writes them.
    Sent,
    /// They and all before them are written.
    Written,
    /// They are the last: all entries are written, too.
    Last,
}

impl<'r> InsertRun<'r> {
    /// Has rows of LOAD DATA with IGNORE written together, too, but those whose key exists.
    pub(in crate::dml::insert) fn forgive_together(&mut self) {
        let plan = self.plan;
        let unique = plan.table.def.indexes.iter().any(|index| index.refuses());
        let single = unique || plan.table.has_several() || self.foreign.is_some() || self.fires;
        let single = single || plan.table.partitions.is_some();
        let batched = !single && plan.table.def.is_transactional();
        if !(plan.ignore && !plan.replace && batched) {
            return;
        }
        let def = &plan.table.def;
        let key = def.clustered_index().map_or(&[][..], |index| &index.parts);
        let numbered = def.auto_increment_column();
        let in_key = key.iter().any(|part| Some(part.column) == numbered);
        // A number that the session has set may be taken: the next row then tries it again.
        self.together = match in_key && !self.numbers.is_forced() {
            true => Together::ForgivingNumbered,
            false => Together::Forgiving,
        };
    }

    /// Whether each row waits for others and needs the transaction for nothing else.
    pub(in crate::dml::insert) fn may_have_thread(&self) -> bool {
        match self.together {
            Together::None => false,
            Together::Forgiving => self.plan.table.def.auto_increment_column().is_none(),
            Together::All | Together::ForgivingNumbered => true,
        }
    }

    /// Has a thread write the rows that wait from here on, where the system has one. It takes the
    /// transaction and has it until the end of the scope.
    pub(in crate::dml::insert) fn start_thread<'scope>(
        &mut self,
        scope: &'scope Scope<'scope, '_>,
        take: impl FnOnce() -> &'scope mut Txn,
    ) where
        'r: 'scope,
    {
        debug_assert!(self.may_have_thread(), "only the thread uses the transaction");
        self.thread = BatchThread::start(scope, self.writer.batches(), self.together, take);
    }

    /// Leaves a row for later, when several are written together.
    pub(super) fn buffer(
        &mut self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        generated: Option<u64>,
        row: &[Value],
    ) -> Done {
        self.writer.buffer_row(row)?;
        self.numbers.tried();
        let column = self.plan.table.def.auto_increment_column();
        match column.filter(|_| generated.is_none()) {
            Some(column) => {
                self.given.push(Some(row[column].clone()));
                self.brings_number = true;
            }
            None => self.given.push(None),
        }
        if let Some(column) = column.filter(|_| generated.is_some()) {
            self.numbers.stored(&self.plan.table, &row[column]);
        }
        self.count(generated, row);
        self.give_back(row, ctx)?;
        if self.writer.is_full() { self.settle(session, ctx, Settle::Sent) } else { Ok(()) }
    }

    /// Writes the rows that wait.
    pub(super) fn settle(
        &mut self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        settle: Settle,
    ) -> Done {
        if let Some(thread) = self.thread.take() {
            return self.settle_by(thread, ctx, settle);
        }
        let mut txn = session.txn_of(&self.plan.table).borrow_mut();
        let (writer, pending) = (self.writer.batches(), &mut self.writer.pending);
        let written = self.together.write(writer, &mut txn, pending, settle == Settle::Last);
        drop(txn);
        let mut given = std::mem::take(&mut self.given);
        let settled = self.note_written(ctx, written, &mut given);
        self.given = given;
        self.brings_number = false;
        settled
    }

    /// Gives the rows that wait to the thread, and notes what became of those before.
    fn settle_by(
        &mut self,
        mut thread: Box<BatchThread>,
        ctx: &mut EvalContext<'_>,
        settle: Settle,
    ) -> Done {
        if !self.given.is_empty() || settle == Settle::Last {
            thread.send(&mut self.writer.pending, &mut self.given, settle == Settle::Last);
        }
        let wait = settle != Settle::Sent;
        let mut settled = Ok(());
        while let Some((written, mut given)) = thread.next(wait) {
            settled = settled.and_then(|()| self.note_written(ctx, written, &mut given));
        }
        self.brings_number &= !wait;
        // The thread ends behind the last rows.
        self.thread = (settle != Settle::Last).then_some(thread);
        settled
    }

    /// Takes over what became of rows that were written together.
    fn note_written(
        &mut self,
        ctx: &mut EvalContext<'_>,
        written: WrittenBatch,
        given: &mut GivenNumbers,
    ) -> Done {
        let WrittenBatch { count, refused, outcome } = written;
        self.tally.copied -= refused.len() as u64;
        let is_refused = |at: usize| refused.binary_search_by_key(&at, |(at, _)| *at).is_ok();
        for (at, value) in given.drain(..).take(count).enumerate() {
            self.tally.numbered_written |= value.is_none() && !is_refused(at);
            if let Some(value) = value.filter(|_| !is_refused(at)) {
                self.numbers.stored(&self.plan.table, &value);
            }
        }
        for (_, error) in refused {
            ctx.raise(inia_expr::Level::Warning, error)?;
        }
        outcome
    }

    /// Writes forgiven rows that wait, so that their warnings come before those of a later row.
    pub(in crate::dml::insert) fn settle_forgiven(
        &mut self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
    ) -> Done {
        let waits = !self.given.is_empty() || self.thread.is_some();
        match self.together.forgives() && waits {
            true => self.settle(session, ctx, Settle::Written),
            false => Ok(()),
        }
    }

    /// Writes the rows still buffered; `given` is the outcome so far. A duplicate among them
    /// comes before an error of a later row, unless that error ended more than the statement.
    pub(in crate::dml::insert) fn write_last(
        &mut self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        given: Done,
    ) -> Done {
        let fatal = |error: &SqlError| {
            use ErrorCode as E;
            matches!(error.code, E::Deadlock | E::LockWaitTimeout | E::QueryInterrupted)
        };
        if self.together != Together::None && !given.as_ref().is_err_and(fatal) {
            self.settle(session, ctx, Settle::Last)?;
        }
        given
    }
}
