//! Workers: the threads of one pipeline.

use super::{Division, Pipeline};
use crate::clock::clock_micros;
use crate::context::ColumnUse;
use crate::exec::Result;
use crate::exec::time_slice::TimeSlice;
use crate::exec::vector::operators::{Operators, Reads};
use crate::interrupt::Interrupt;
use crate::plan::trace::Trace;
use crate::spill::Workspace;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::stack::on_warm_stack;
use inia_base::value::Value;
use inia_expr::{Environment, EvalContext, ExprType, SessionHost, Strictness, UserVar, VarScope};
use inia_geometry::{Srs, srs};
use inia_storage::Txn;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// What every worker of a pipeline begins with.
#[derive(Clone, Copy)]
pub(super) struct WorkerStart<'p, 'w> {
    env: &'p Environment,
    params: &'p [Value],
    outer: &'p [Vec<Value>],
    strictness: Strictness,
    interrupt: Interrupt<'p>,
    /// Its part of the memory that one operator may have.
    workspace: Workspace<'w>,
    traced: bool,
    columns: Option<ColumnUse<'w>>,
    /// Slots of a row.
    width: usize,
    /// Reference systems are others than those of the program's table.
    own_references: bool,
}

/// One thread of a pipeline.
pub(super) struct Worker<'p, 'w> {
    pipeline: &'p Pipeline<'p>,
    host: &'p WorkerHost<'p>,
    txn: RefCell<Txn>,
    interrupt: Interrupt<'p>,
    slice: TimeSlice,
    /// Its part of the memory that one operator may have.
    pub(super) workspace: Workspace<'w>,
    trace: Option<Trace>,
    columns: Option<ColumnUse<'w>>,
    /// It is not the statement's own thread.
    helps: bool,
}

impl Worker<'_, '_> {
    /// The next morsel that nobody has taken. A helper takes none while other statements use all
    /// processors, and ends with that.
    pub(super) fn take(&self) -> Option<usize> {
        let wanted = !self.helps || self.pipeline.helpers.are_wanted();
        if wanted { self.pipeline.take() } else { None }
    }

    /// What reads a morsel.
    pub(super) fn operators(&self, morsel: usize) -> Operators<'_> {
        Operators {
            reads: Reads::Morsel(self.pipeline, morsel, &self.txn),
            interrupt: self.interrupt,
            slice: &self.slice,
            workspace: self.workspace,
            trace: self.trace.as_ref(),
            columns: self.columns,
            builds: &[],
            threads: 1,
            ordered: false,
        }
    }

    /// Whether what was made since the last call is what the statement's own thread would make:
    /// what depends on the session, and warnings, are its own.
    pub(super) fn is_sound(&self, ctx: &mut EvalContext<'_>) -> bool {
        let sound = ctx.warnings.count == 0 && !self.host.asked.get();
        ctx.warnings.clear();
        self.host.asked.set(false);
        sound
    }
}

/// What a worker came to; nothing where the statement's own thread must do the work alone.
type Outcome<T> = Result<Option<T>>;

impl<'e> Operators<'e> {
    /// What the workers of a pipeline begin with.
    pub(super) fn worker_start<'p, 's: 'p>(
        &self,
        ctx: &EvalContext<'s>,
        outer: &'p [Vec<Value>],
        (threads, width): (usize, usize),
    ) -> WorkerStart<'p, 'e>
    where
        'e: 'p,
    {
        let budget = self.workspace.budget / threads.max(1);
        WorkerStart {
            env: ctx.env,
            params: ctx.params,
            outer,
            strictness: ctx.strictness,
            interrupt: self.interrupt,
            workspace: self.workspace.with_budget(budget),
            traced: self.trace.is_some(),
            columns: self.columns,
            width,
            own_references: ctx.host.has_own_references(),
        }
    }

    /// Runs `work` on the threads of a pipeline. Returns what they came to; `None` where the
    /// statement's own thread must do the work alone.
    pub(super) fn on_threads<T: Send>(
        &self,
        division: Division<'_>,
        ctx: &EvalContext<'_>,
        width: usize,
        work: impl Fn(&Worker<'_, 'e>, &mut EvalContext<'_>, &mut Vec<Value>) -> Outcome<T> + Sync,
    ) -> Result<Option<Vec<T>>> {
        let Division { pipeline, readers } = division;
        let start = self.worker_start(ctx, &ctx.outer, (readers.len(), width));
        let run = |reader: Txn, helps: bool| {
            let _guard = StopOnPanic(&pipeline);
            let sound =
                |worker: &Worker<'_, 'e>, ctx: &mut EvalContext<'_>, row: &mut Vec<Value>| {
                    let made = work(worker, ctx, row)?;
                    Ok(made.filter(|_| worker.is_sound(ctx)))
                };
            let outcome = start.run(&pipeline, (reader, helps), sound);
            if !matches!(outcome, (Ok(Some(_)), _)) {
                pipeline.stop();
            }
            outcome
        };
        let outcomes = std::thread::scope(|scope| {
            let mut readers = readers.into_iter();
            let own = readers.next();
            let threads: Vec<_> =
                readers.filter_map(|reader| start_thread(scope, || run(reader, true))).collect();
            let mut outcomes: Vec<_> = own.map(|own| run(own, false)).into_iter().collect();
            outcomes.extend(
                threads
                    .into_iter()
                    .map(|thread| thread.join().unwrap_or_else(|_| (Err(panicked()), None))),
            );
            outcomes
        });
        self.interrupt.check()?;
        let (results, traces): (Vec<_>, Vec<_>) = outcomes.into_iter().unzip();
        let mut all = Vec::with_capacity(results.len());
        for result in results {
            match result {
                Ok(Some(result)) => all.push(result),
                Err(error) if error.code == ErrorCode::InternalError => return Err(error),
                // The statement's own thread meets the error that comes first.
                Ok(None) | Err(_) => return Ok(None),
            }
        }
        if let Some(trace) = self.trace {
            trace.add_threads(&pipeline.nodes(), traces.into_iter().flatten());
        }
        Ok(Some(all))
    }
}

/// Starts a thread beside the statement's own. Where the system has none left the others do the
/// work.
pub(super) fn start_thread<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    let thread = Builder::new().name("worker".to_owned());
    thread.spawn_scoped(scope, || on_warm_stack(work)).ok()
}

impl<'w> WorkerStart<'_, 'w> {
    /// Runs `work` as one worker; what it came to and what was seen of it.
    pub(super) fn run<T>(
        &self,
        pipeline: &Pipeline<'_>,
        (reader, helps): (Txn, bool),
        work: impl FnOnce(&Worker<'_, 'w>, &mut EvalContext<'_>, &mut Vec<Value>) -> T,
    ) -> (T, Option<Trace>) {
        let host = WorkerHost {
            interrupt: self.interrupt,
            own_references: self.own_references,
            asked: Cell::new(false),
        };
        let mut ctx = EvalContext::new(self.env, &host, &pipeline.scalars, self.params);
        ctx.outer = self.outer.to_vec();
        ctx.strictness = self.strictness;
        let worker = Worker {
            pipeline,
            host: &host,
            txn: RefCell::new(reader),
            interrupt: self.interrupt,
            slice: TimeSlice::default(),
            workspace: self.workspace,
            trace: self.traced.then(Trace::default),
            columns: self.columns,
            helps,
        };
        let mut row = vec![Value::Null; self.width];
        let result = work(&worker, &mut ctx, &mut row);
        (result, worker.trace)
    }
}

/// Ends the work of all where one panics.
struct StopOnPanic<'p>(&'p Pipeline<'p>);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

pub(super) fn panicked() -> SqlError {
    SqlError::new(ErrorCode::InternalError, &[&"a worker of the statement has panicked"])
}

/// The session as workers see it: it can only be killed. What an expression gets where it asks for
/// anything else is not used.
pub(super) struct WorkerHost<'s> {
    interrupt: Interrupt<'s>,
    own_references: bool,
    asked: Cell<bool>,
}

impl WorkerHost<'_> {
    fn refuse<T>(&self) -> std::result::Result<T, SqlError> {
        self.asked.set(true);
        Err(SqlError::new(ErrorCode::NotSupportedYet, &[&"the session's state in a worker"]))
    }

    fn answer<T>(&self, answer: T) -> T {
        self.asked.set(true);
        answer
    }
}

impl SessionHost for WorkerHost<'_> {
    fn sysvar(
        &self,
        _scope: VarScope,
        _name: &str,
    ) -> std::result::Result<(Value, ExprType), SqlError> {
        self.refuse()
    }

    fn user_var(&self, _name: &str) -> Option<UserVar> {
        self.answer(None)
    }

    fn set_user_var(&self, _name: &str, _var: UserVar) -> Result<()> {
        self.refuse()
    }

    fn set_last_insert_id(&self, _id: u64) {
        self.answer(());
    }

    fn said_insert_id(&self) -> Option<u64> {
        self.answer(None)
    }

    fn clock_micros(&self) -> i64 {
        self.answer(clock_micros())
    }

    fn sleep(&self, _micros: u64) -> Result<bool> {
        self.refuse()
    }

    fn is_killed(&self) -> bool {
        self.interrupt.check().is_err()
    }

    fn reference_system(&self, srid: u32) -> Option<Arc<Srs>> {
        match self.own_references {
            true => self.answer(None),
            false => srs::find(srid),
        }
    }

    fn get_lock(&self, _name: &str, _timeout_micros: Option<u64>) -> Result<Option<bool>> {
        self.refuse()
    }

    fn release_lock(&self, _name: &str) -> Result<Option<bool>> {
        self.refuse()
    }

    fn release_all_locks(&self) -> u64 {
        self.answer(0)
    }

    fn lock_holder(&self, _name: &str) -> Option<u64> {
        self.answer(None)
    }

    fn rand_state(&self) -> Option<(u64, u64)> {
        self.answer(None)
    }

    fn set_rand_state(&self, _state: (u64, u64)) {
        self.answer(());
    }

    fn active_roles(&self) -> Vec<String> {
        self.answer(Vec::new())
    }

    fn roles_graph(&self) -> String {
        self.answer(String::new())
    }

    fn has_connection(&self, _: u64) -> bool {
        self.answer(false)
    }
}
