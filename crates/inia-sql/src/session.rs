//! A session: one client's statements, one after another.
//!
//! The pipeline is [`Session::execute`] (in [`incoming`]): parse → plan (bind, optimize) → run →
//! complete. Only [`plan`] distinguishes kinds of statements.

mod admin;
mod control;
mod database;
mod define;
mod evaluate;
mod explain;
mod handler;
mod hints;
mod histograms;
mod incoming;
mod login;
mod observe;
mod optimizer_trace;
mod params;
mod plan;
mod plan_cache;
mod profile;
mod program;
mod resource_group;
mod room;
mod run;
mod server;
mod set;
mod setup_tables;
mod shared;
mod show;
mod spatial_reference;
mod sys;
mod system_tables;
mod table_io;
#[cfg(test)]
pub(crate) mod tests;

mod unsupported;

use self::observe::Arrival;
use self::plan_cache::PlanCache;
use self::program::Programs;
use self::room::PreparedMemory;
use self::run::{IncomingStatement, KeptPlan, Syntax, failed, finish, run_statement};
pub use self::set::{StartOutcome, is_start_variable, set_at_start};
use self::shared::SharedStatement;
pub use self::sys::make_sys;
use inia_base::collation::{Charset, Collation};
use inia_base::column::{ResultColumn, RowSink};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::io::Disk;
use inia_base::memory::MemoryBudget;
use inia_base::value::Value;
use inia_expr::Warning;
use inia_parser::ast;
use inia_query::catalog::mdl::MdlWatch;
use inia_query::context::{SessionContext, StatementOutcome};
use inia_query::database::{ClientInfo, Database};
use inia_query::exec::KeyHash;
use inia_query::stack::on_deep_stack;
use inia_query::status::HandleUse;
use inia_query::user_locks::UserLocks;
use inia_storage::{Interrupter, OnDurable};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// A prepared statement as its client sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// Handle.
    pub id: u32,
    /// One description per parameter.
    pub params: Vec<ResultColumn>,
    /// The result's columns; empty for statements without rows.
    pub columns: Vec<ResultColumn>,
    /// Number of warnings.
    pub warnings: u16,
}

/// Ends another session's statement or connection (KILL).
#[derive(Clone)]
pub struct KillHandle {
    killed: Arc<AtomicU8>,
    latch: Arc<Mutex<()>>,
    interrupter: Interrupter,
    statement_txns: [Arc<OnceLock<Interrupter>>; 2],
    sleeper: Arc<inia_base::rt::WaitCell>,
    user_locks: Arc<UserLocks>,
    metadata: MdlWatch,
}

impl KillHandle {
    /// Ends the running statement.
    pub fn kill_query(&self) {
        self.kill(1);
    }

    /// Ends the session; its owner sees [`KillHandle::connection_killed`].
    pub fn kill_connection(&self) {
        self.kill(3);
    }

    fn kill(&self, bits: u8) {
        let _latch = self.latch.lock();
        self.killed.fetch_or(bits, Ordering::SeqCst);
        self.interrupter.interrupt();
        self.statement_txns.iter().filter_map(|txn| txn.get()).for_each(Interrupter::interrupt);
        self.sleeper.wake();
        self.user_locks.wake();
        self.metadata.wake();
    }

    /// What the running statement waits for, as the process list names it.
    pub fn waits_for(&self) -> Option<&'static str> {
        // Who was killed is about to stop waiting.
        let killed = self.killed.load(Ordering::SeqCst) != 0;
        self.metadata.waits_for().filter(|_| !killed)
    }
}

/// One of the prepared statements that the server counts.
struct PreparedSlot(Arc<AtomicU64>);

impl PreparedSlot {
    /// Error 1461 where there are as many as `max_prepared_stmt_count`.
    fn take(db: &Database) -> Result<PreparedSlot, SqlError> {
        let most = db.global_number("max_prepared_stmt_count");
        let slot = PreparedSlot(db.prepared.clone());
        if slot.0.fetch_add(1, Ordering::Relaxed) < most {
            return Ok(slot);
        }
        Err(SqlError::new(ErrorCode::MaxPreparedStmtCountReached, &[&most]))
    }
}

impl Drop for PreparedSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

struct PreparedStatement {
    _slot: Option<PreparedSlot>,
    /// What it has taken of the session's memory for prepared statements.
    cost: u64,
    /// It is run and dropped on a stack of its own.
    deep: bool,
    shared: Arc<SharedStatement>,
    params: u32,
    kept: KeptPlan,
}

impl Drop for PreparedStatement {
    fn drop(&mut self) {
        if self.deep {
            let shared = std::mem::replace(&mut self.shared, Arc::new(SharedStatement::empty()));
            let kept = std::mem::take(&mut self.kept);
            on_deep_stack(|| drop((shared, kept)));
        }
    }
}

/// One client's session.
pub struct Session {
    context: SessionContext,
    prepared: HashMap<u32, PreparedStatement, KeyHash>,
    /// What they take.
    memory: PreparedMemory,
    /// PREPARE's names.
    named: HashMap<String, u32>,
    last_prepared: u32,
    multi_statements: bool,
    /// Statements that came as text, with their plans.
    plan_cache: PlanCache,
    /// Stored programs.
    programs: Arc<Programs>,
}

impl Session {
    /// Starts a session of a client.
    pub fn new(db: &Arc<Database>, client: ClientInfo) -> Session {
        let multi_statements = client.multi_statements;
        let memory = PreparedMemory::new(&db.memory);
        let mut session = Session {
            context: SessionContext::new(db.clone(), client),
            prepared: HashMap::default(),
            memory,
            named: HashMap::new(),
            last_prepared: 0,
            multi_statements,
            plan_cache: PlanCache::default(),
            programs: Arc::default(),
        };
        session.context.programs = Some(session.programs.clone());
        login::apply(&mut session.context);
        session
    }

    /// PREPARE, EXECUTE and DEALLOCATE.
    fn run_named(
        &mut self,
        statement: &ast::Statement,
        sink: &mut dyn RowSink,
        more: bool,
    ) -> Result<(), SqlError> {
        let known = |session: &Session, name: &str, what: &str| {
            let found = session.named.get(&name.to_lowercase()).copied();
            found.ok_or_else(|| SqlError::new(ErrorCode::UnknownStmtHandler, &[&name, &what]))
        };
        let result = match statement {
            ast::Statement::Prepare { name, source } => {
                let text = match source {
                    ast::PrepareSource::Text(text) => text.clone(),
                    ast::PrepareSource::UserVar(variable) => {
                        match self.context.host.user_value(variable) {
                            Value::Null => String::from("NULL"),
                            _ => self.context.host.user_text(variable),
                        }
                    }
                };
                let old = self.named.remove(&name.to_lowercase());
                old.into_iter().for_each(|id| self.close_prepared(id));
                // A failure is noted already.
                let prepared = self.prepare(&text)?;
                observe::note_name(&self.context, prepared.id, name);
                self.named.insert(name.to_lowercase(), prepared.id);
                Ok(StatementOutcome {
                    info: String::from("Statement prepared"),
                    ..StatementOutcome::default()
                })
            }
            ast::Statement::Execute { name, using } => {
                let host = &self.context.host;
                let params: Vec<Value> =
                    using.iter().map(|variable| host.user_parameter(variable)).collect();
                match known(self, name, "EXECUTE") {
                    Ok(id) => return self.execute_with(id, (&params, using), sink, more),
                    Err(error) => Err(error),
                }
            }
            ast::Statement::Deallocate(name) => known(self, name, "DEALLOCATE PREPARE").map(|id| {
                self.named.remove(&name.to_lowercase());
                self.close_prepared(id);
                StatementOutcome::default()
            }),
            _ => Ok(StatementOutcome::default()),
        };
        finish(&mut self.context, result, sink, more)
    }

    /// Executes a prepared statement.
    pub fn execute_prepared(
        &mut self,
        id: u32,
        params: &[Value],
        sink: &mut dyn RowSink,
    ) -> Result<(), SqlError> {
        self.execute_with(id, (params, &[]), sink, false)
    }

    /// With the user variables that the values come from, where EXECUTE names some.
    fn execute_with(
        &mut self,
        id: u32,
        params: (&[Value], &[String]),
        sink: &mut dyn RowSink,
        more: bool,
    ) -> Result<(), SqlError> {
        match self.prepared.get(&id) {
            Some(prepared) if prepared.deep => {
                on_deep_stack(|| self.execute_here(id, params, sink, more))
            }
            _ => self.execute_here(id, params, sink, more),
        }
    }

    /// Executes a prepared statement on the present stack.
    fn execute_here(
        &mut self,
        id: u32,
        (params, using): (&[Value], &[String]),
        sink: &mut dyn RowSink,
        more: bool,
    ) -> Result<(), SqlError> {
        self.context.host.counters.count_handle(HandleUse::Execute);
        let Some(prepared) = self.prepared.get_mut(&id) else {
            let args: [&dyn std::fmt::Display; 2] = [&id, &"mysqld_stmt_execute"];
            return Err(failed(
                &mut self.context,
                SqlError::new(ErrorCode::UnknownStmtHandler, &args),
            ));
        };
        if prepared.params as usize != params.len() {
            return Err(failed(
                &mut self.context,
                SqlError::new(ErrorCode::WrongArguments, &[&"EXECUTE"]),
            ));
        }
        let PreparedStatement { shared, kept, .. } = prepared;
        let SharedStatement { statement, text, hints, .. } = &**shared;
        if let ast::Statement::Call(call) = statement {
            let (mut call, statement, hints) = (call.clone(), statement.clone(), hints.clone());
            // What comes out goes into the variables.
            for arg in &mut call.args {
                if let ast::Expr::Param(at) = arg
                    && let Some(name) = using.get(*at as usize)
                {
                    *arg = ast::Expr::UserVar(name.clone());
                }
            }
            let syntax = Syntax::Hinted(&hints);
            let source = IncomingStatement { statement: &statement, syntax, metered: false };
            let arrival = Arrival::Handle(id, text, params);
            let noted = observe::begin(&mut self.context, &statement, arrival);
            let done = self.run_call(source, &call, params, sink, more);
            observe::end(&mut self.context, noted, &done);
            return done;
        }
        let source = IncomingStatement { statement, syntax: Syntax::Hinted(hints), metered: false };
        let noted = observe::begin(&mut self.context, statement, Arrival::Handle(id, text, params));
        let mut retyped = false;
        let done = run_statement(&mut self.context, source, sink, more, |session, sink| {
            session.env.is_prepared = true;
            let result = kept.run(session, shared, (params, !using.is_empty()), sink);
            retyped = kept.takes_number();
            session.env.is_prepared = false;
            result
        });
        observe::end(&mut self.context, noted, &done);
        if retyped {
            self.pass_number();
        }
        done
    }

    /// How many texts have a plan.
    #[cfg(test)]
    fn texts_ready(&self) -> usize {
        self.plan_cache.ready().len()
    }

    /// Forgets a prepared statement; unknown ids are ignored.
    pub fn close_prepared(&mut self, id: u32) {
        if let Some(gone) = self.prepared.remove(&id) {
            self.context.host.counters.count_handle(HandleUse::Close);
            observe::note_unprepared(&self.context, Some(id));
            self.memory.give(&gone);
        }
    }

    /// Counts what a connection does with a handle by itself.
    pub fn count_handle(&self, used: HandleUse) {
        self.context.host.counters.count_handle(used);
    }

    /// USE, and COM_INIT_DB.
    pub fn use_database(&mut self, name: &str) -> Result<(), SqlError> {
        let done = database::use_database(&mut self.context, name);
        let errors = &self.context.host.counters.errors;
        done.inspect_err(|error| errors.raise(error.number()))
    }

    /// The current database.
    pub fn current_database(&self) -> Option<&str> {
        self.context.env.database.as_deref()
    }

    /// COM_RESET_CONNECTION: rolls back and returns to the state after login.
    pub fn reset(&mut self) -> Result<(), SqlError> {
        self.context.leave_branch()?;
        observe::note_unprepared(&self.context, None);
        self.prepared.clear();
        self.memory.clear();
        self.named.clear();
        self.plan_cache.clear();
        let database = self.context.env.database.take();
        let meter = self.context.meter.take();
        self.renew(self.context.client.clone());
        self.context.meter = meter;
        login::apply(&mut self.context);
        self.context.env.database = database;
        Ok(())
    }

    /// COM_CHANGE_USER: as [`Session::reset`], with another client and no database.
    pub fn change_user(&mut self, client: ClientInfo) -> Result<(), SqlError> {
        self.context.leave_branch()?;
        observe::note_unprepared(&self.context, None);
        self.prepared.clear();
        self.memory.clear();
        self.named.clear();
        self.plan_cache.clear();
        self.multi_statements = client.multi_statements;
        self.renew(client);
        login::apply(&mut self.context);
        Ok(())
    }

    /// Begins anew, after a rollback, for the same caller.
    fn renew(&mut self, client: ClientInfo) {
        let reply = self.context.state.reply;
        self.context = SessionContext::new(self.context.db.clone(), client);
        self.context.state.reply = reply;
        self.programs = Arc::default();
        self.context.programs = Some(self.programs.clone());
    }

    /// Leaves it to the caller that a statement's results are durable before they are passed on:
    /// after each call the caller asks [`Session::is_settled`].
    pub fn defer_commits(&mut self) {
        self.context.state.reply.deferred = true;
    }

    /// Whether the results of the last call may be passed on.
    #[inline]
    pub fn is_settled(&self) -> bool {
        self.context.state.reply.is_over()
    }

    /// Waits until the results of the last call may be passed on. An error takes their place.
    pub fn settle(&mut self) -> Result<(), SqlError> {
        self.context.settle_reply()
    }

    /// Has `sender` called when the results of the last call may be passed on; false says that they
    /// may be passed on now, and that `sender` is not called. An error takes their place.
    pub fn when_settled(&mut self, sender: &Arc<dyn OnDurable>) -> Result<bool, SqlError> {
        self.context.notify_reply(sender)
    }

    /// The protocol's status bits, without those that the protocol layer sets.
    pub fn status_flags(&self) -> u16 {
        self.context.status()
    }

    /// The character set of statements and parameters (`character_set_client`).
    pub fn client_charset(&self) -> Charset {
        self.context.env.client_charset
    }

    /// The collation that result columns are described with (`character_set_results`); 0 where
    /// each column keeps its own.
    pub fn result_collation(&self) -> u16 {
        set::effect::result_collation(&self.context).map_or(0, |collation: Collation| collation.0)
    }

    /// Seconds that the session may be idle (`wait_timeout`).
    pub fn wait_timeout(&self) -> u64 {
        self.context.wait_timeout
    }

    /// Starts a command of the client, before others may see that it runs: what KILL QUERY asked
    /// for until now was for the commands before. A statement does not do so when it begins: the
    /// KILL may have come since the process list shows the command.
    #[inline]
    pub fn begin_command(&mut self) {
        self.context.begin_command();
    }

    /// A handle by which other threads end this session's work.
    pub fn kill_handle(&self) -> KillHandle {
        KillHandle {
            killed: self.context.killed.clone(),
            latch: self.context.host.kill_latch.clone(),
            interrupter: self.context.txn.borrow().interrupter(),
            statement_txns: self.context.statement_txns.interrupters(),
            sleeper: self.context.host.sleeper.clone(),
            user_locks: self.context.db.user_locks.clone(),
            metadata: self.context.mdl.watch(),
        }
    }

    /// Bytes of a result that may be held in memory while its client takes it in pieces.
    pub fn result_memory(&self) -> usize {
        self.context.env.tmp_table_size
    }

    /// What the memory of all sessions is counted by.
    pub fn memory(&self) -> Arc<MemoryBudget> {
        self.context.db.memory.clone()
    }

    /// The disk whose scratch files take what is not held in memory.
    pub fn scratch(&self) -> Arc<dyn Disk> {
        self.context.db.scratch.clone()
    }

    /// The password has expired: nothing goes but to change it.
    pub fn must_change_password(&self) -> bool {
        self.context.client.expired
    }

    /// Who the session belongs to.
    pub fn client(&self) -> &ClientInfo {
        &self.context.client
    }

    /// Conditions of the last statement.
    pub fn warnings(&self) -> &[Warning] {
        &self.context.diagnostics.list
    }

    /// Several statements in one text are allowed (CLIENT_MULTI_STATEMENTS).
    pub fn set_multi_statements(&mut self, on: bool) {
        self.multi_statements = on;
    }
}
