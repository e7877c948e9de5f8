//! Stored programs that run inside a statement: functions and triggers.
//!
//! A statement borrows its session while it runs, and a function's statements need a session of
//! their own that works in the same transaction. [`SessionContext::lend`] moves the transaction,
//! variables and user-level locks into a second context, which has its own diagnostics, settings
//! and privileges; [`SessionContext::take_back`] moves them back when the program has ended.
//!
//! Example: `SELECT f(a) FROM t`, where `f` inserts a row. The SELECT's operators hold the session
//! and an open cursor. For each row the transaction goes to the inner context, which inserts in it,
//! and comes back before the cursor moves on.
//!
//! Invariants:
//! - an inner context never begins, commits or rolls back a transaction;
//! - what it does is undone by the statement around it, where that fails;
//! - it releases no metadata lock.

use super::SessionContext;
use super::session::TxnState;
use crate::account::Privileges;
use crate::catalog::mdl::MdlName;
use crate::catalog::program::StoredProgram;
use crate::catalog::{FullName, ProgramKind, Table};
use inia_base::collation::Collation;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::derive::Derivation;
use inia_expr::{ExprType, SessionHost, StoredCall, StoredFunction, UserVar, VarScope, Warnings};
use inia_geometry::Srs;
use inia_parser::ast::TriggerEvent;
use std::sync::Arc;

/// Runs stored programs inside a statement.
pub trait ProgramRunner: Send + Sync {
    /// Calls a function with values for its parameters.
    fn call_function(
        &self,
        session: &SessionContext,
        function: &Arc<StoredProgram>,
        args: Vec<(Value, ExprType)>,
        warnings: &mut Warnings,
    ) -> Result<Value, SqlError>;

    /// Runs the triggers of a table for one row; `new` is what they may change.
    fn fire(
        &self,
        session: &SessionContext,
        table: &Table,
        when: (bool, TriggerEvent),
        rows: TriggerRows<'_>,
    ) -> Result<(), SqlError>;
}

/// The rows that a trigger sees.
pub struct TriggerRows<'r> {
    /// OLD.
    pub old: Option<&'r [Value]>,
    /// NEW.
    pub new: Option<&'r mut [Value]>,
}

/// What kind of program a context works for, if for one inside a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inside {
    /// The client's own statements, and procedures that they call.
    Nothing,
    /// A stored function.
    Function,
    /// A trigger.
    Trigger,
}

impl Inside {
    /// As errors name it.
    pub fn word(self) -> &'static str {
        match self {
            Inside::Trigger => "trigger",
            _ => "function",
        }
    }
}

impl SessionContext {
    /// A context for programs inside this one's statements. It works between
    /// [`SessionContext::lend`] and [`SessionContext::take_back`].
    pub fn inner(&self) -> SessionContext {
        let mut inner = SessionContext::beside(self);
        inner.state = TxnState {
            open: true,
            explicit: true,
            autocommit: self.state.autocommit,
            read_only: self.state.read_only,
            isolation: self.state.isolation,
            default_read_only: self.state.default_read_only,
            current: self.state.current,
            mdl_timeout: self.state.mdl_timeout,
            ..TxnState::default()
        };
        inner
    }

    /// Lends the transaction and what belongs to it. The caller runs nothing of its own meanwhile.
    pub fn lend(&self, inner: &mut SessionContext, inside: Inside) -> Result<(), SqlError> {
        {
            let Ok(mut own) = self.txn.try_borrow_mut() else {
                let what = "a stored function is called where rows are being read";
                return Err(SqlError::new(ErrorCode::InternalError, &[&what]));
            };
            std::mem::swap(&mut *own, inner.txn.get_mut());
        }
        self.host.swap(&inner.host);
        self.host.copy_access(&inner.host);
        inner.inside = inside;
        inner.env = self.env.clone();
        inner.settings = self.settings;
        inner.client_found_rows = self.client_found_rows;
        inner.state.current = self.state.current;
        inner.state.isolation = self.state.isolation;
        inner.state.read_only = self.state.read_only;
        inner.state.branch.stage = self.state.branch.stage;
        inner.state.branch.failure = self.state.branch.failure;
        let changed = self.changed_temporary.borrow_mut().take();
        inner.temporary = changed.unwrap_or_else(|| self.temporary.share());
        inner.diagnostics.clear();
        inner.diagnostics.limit = self.env.max_error_count;
        inner.used.clone_from(&self.used);
        inner.creating.clone_from(&self.creating);
        inner.hold_tables_of(self);
        inner.env.param_types = Vec::new();
        inner.env.param_values = Vec::new();
        inner.programs.clone_from(&self.programs);
        Ok(())
    }

    /// Takes back what [`SessionContext::lend`] gave.
    pub fn take_back(&self, inner: &mut SessionContext) {
        let mut own = self.txn.borrow_mut();
        std::mem::swap(&mut *own, inner.txn.get_mut());
        drop(own);
        self.host.swap(&inner.host);
        *self.changed_temporary.borrow_mut() = inner.temporary.give_back();
        inner.forget_held_tables();
        inner.programs = None;
    }

    /// Runs the triggers of a table for one row, if there are any; those before a change may change
    /// `new`.
    pub(crate) fn fire(
        &self,
        table: &Table,
        when: (bool, TriggerEvent),
        rows: TriggerRows<'_>,
    ) -> Result<(), SqlError> {
        if table.triggers.of_event(when.0, when.1).is_empty() {
            return Ok(());
        }
        match &self.programs {
            Some(runner) => runner.fire(self, table, when, rows),
            None => Ok(()),
        }
    }

    /// Notes tables that programs inside a statement may not change; how many there were before,
    /// to which `used` is cut at the statement's end.
    pub fn use_tables<'t>(&mut self, tables: impl Iterator<Item = &'t Arc<Table>>) -> usize {
        let before = self.used.len();
        self.used.extend(tables.map(|table| table.def.id));
        before
    }

    /// Error 1442: the table is used by a statement around this one. Error 1746: that statement
    /// is a CREATE TABLE … SELECT.
    pub fn check_unused(&self, table: &Table) -> Result<(), SqlError> {
        if self.inside == Inside::Nothing {
            return Ok(());
        }
        if let Some(created) = &self.creating {
            let code = ErrorCode::CantUpdateTableInCreateTableSelect;
            return Err(SqlError::new(code, &[&table.def.name, created]));
        }
        let mut table = table;
        if !self.used.contains(&table.def.id) {
            match self.used_with(table) {
                Some(child) => table = child,
                None => return Ok(()),
            }
        }
        let code = ErrorCode::CantUpdateUsedTableInSfOrTrg;
        Err(SqlError::new(code, &[&table.def.name]))
    }

    /// A child that is used with its merged table, `table`, or the table itself where it is used
    /// as a child.
    fn used_with<'t>(&self, table: &'t Table) -> Option<&'t Table> {
        let catalog = self.catalog_view();
        if catalog.merged.is_empty() {
            return None;
        }
        let used = |child: &&Arc<Table>| self.used.contains(&child.def.id);
        if let Some(child) = table.children().iter().find(used) {
            return Some(child);
        }
        let name = |(schema, name): &FullName| catalog.schemas.get(schema)?.tables.get(name);
        let mut merged = catalog.merged.iter().filter_map(name).filter(used);
        let is_child = |merged: &Arc<Table>| {
            merged.children().iter().any(|child| child.def.id == table.def.id)
        };
        merged.any(is_child).then_some(table)
    }

    /// Error 1370 where the session may not execute a routine.
    pub fn check_execute(&self, program: &StoredProgram) -> Result<(), SqlError> {
        let access = self.access();
        let def = &program.def;
        let on_it = access.on_routine(def.kind, &def.schema, &def.name);
        if on_it.has(Privileges::EXECUTE) {
            return Ok(());
        }
        Err(access.no_routine("execute", &program.full_name()))
    }

    /// A stored program, whose definition stays as it is until the transaction ends.
    pub fn use_program(
        &self,
        kind: ProgramKind,
        schema: &str,
        name: &str,
    ) -> Result<Option<Arc<StoredProgram>>, SqlError> {
        let lock = |name: &Arc<MdlName>| self.mdl.lock_shared(name, self.mdl_limit());
        self.locked_program((kind, schema, name), lock)
    }

    /// The same for one that is only shown.
    pub fn show_program(
        &self,
        kind: ProgramKind,
        schema: &str,
        name: &str,
    ) -> Result<Option<Arc<StoredProgram>>, SqlError> {
        let lock = |name: &Arc<MdlName>| self.mdl.lock_definition(name, self.mdl_limit());
        self.locked_program((kind, schema, name), lock)
    }

    /// The program of that name once it is locked; it may change while the lock is waited for.
    fn locked_program(
        &self,
        (kind, schema, name): (ProgramKind, &str, &str),
        lock: impl Fn(&Arc<MdlName>) -> Result<(), SqlError>,
    ) -> Result<Option<Arc<StoredProgram>>, SqlError> {
        loop {
            let Some(program) = self.db.catalog().program(kind, schema, name) else {
                return Ok(None);
            };
            self.locked_programs.set(true);
            lock(&program.mdl)?;
            if !program.is_stale() {
                return Ok(Some(program));
            }
        }
    }

    /// Lets go of programs that a statement outside of transactions has used.
    #[inline]
    pub fn release_programs(&self) {
        if self.locked_programs.get() {
            self.locked_programs.set(false);
            if !self.state.open {
                self.mdl.release_all();
            }
        }
    }

    fn stored_function(&self, schema: &str, name: &str) -> Option<Arc<StoredProgram>> {
        self.db.catalog().program(ProgramKind::Function, schema, name)
    }
}

/// The session as expressions see it: [`Host`](super::host::Host), and stored functions.
impl SessionHost for SessionContext {
    fn reference_system(&self, srid: u32) -> Option<Arc<Srs>> {
        self.host.reference_system(srid)
    }

    fn has_own_references(&self) -> bool {
        self.host.has_own_references()
    }

    fn sysvar(&self, scope: VarScope, name: &str) -> Result<(Value, ExprType), SqlError> {
        self.host.sysvar(scope, name)
    }

    fn user_var(&self, name: &str) -> Option<UserVar> {
        self.host.user_var(name)
    }

    fn note_assignment(&self, name: &str) {
        self.host.note_assignment(name);
    }

    fn is_assigned(&self, name: &str) -> bool {
        self.host.is_assigned(name)
    }

    fn set_user_var(&self, name: &str, var: UserVar) -> Result<(), SqlError> {
        self.host.set_user_var(name, var)
    }

    fn set_last_insert_id(&self, id: u64) {
        self.host.set_last_insert_id(id);
    }

    fn said_insert_id(&self) -> Option<u64> {
        self.host.said_insert_id()
    }

    fn clock_micros(&self) -> i64 {
        self.host.clock_micros()
    }

    fn sleep(&self, micros: u64) -> Result<bool, SqlError> {
        self.host.sleep(micros)
    }

    fn is_killed(&self) -> bool {
        self.host.is_killed()
    }

    fn get_lock(&self, name: &str, timeout: Option<u64>) -> Result<Option<bool>, SqlError> {
        self.host.get_lock(name, timeout)
    }

    fn release_lock(&self, name: &str) -> Result<Option<bool>, SqlError> {
        self.host.release_lock(name)
    }

    fn release_all_locks(&self) -> u64 {
        self.host.release_all_locks()
    }

    fn lock_holder(&self, name: &str) -> Option<u64> {
        self.host.lock_holder(name)
    }

    fn active_roles(&self) -> Vec<String> {
        self.host.active_roles()
    }

    fn roles_graph(&self) -> String {
        self.host.roles_graph()
    }

    fn has_connection(&self, id: u64) -> bool {
        self.host.has_connection(id)
    }

    fn read_file(&self, path: &str, limit: usize) -> Option<Vec<u8>> {
        self.host.read_file(path, limit)
    }

    fn rand_state(&self) -> Option<(u64, u64)> {
        self.host.rand_state()
    }

    fn set_rand_state(&self, state: (u64, u64)) {
        self.host.set_rand_state(state);
    }

    fn note_bound_value(&self) {
        self.host.plans_once.set(true);
    }

    fn derivation(&self) -> Option<&Derivation> {
        self.host.derivation()
    }

    fn note_narrow_param(&self, index: usize, collation: Collation) {
        self.host.note_narrow_param(index, collation);
    }

    fn find_function(
        &self,
        schema: Option<&str>,
        name: &str,
    ) -> Result<Option<StoredFunction>, SqlError> {
        let Some(schema) = schema else { return Ok(None) };
        let Some(program) = self.use_program(ProgramKind::Function, schema, name)? else {
            return Ok(None);
        };
        self.check_execute(&program)?;
        let parsed = program.parsed()?;
        let Some((returns, _)) = parsed.returns.clone() else { return Ok(None) };
        self.host.plans_once.set(true);
        Ok(Some(StoredFunction {
            schema: program.def.schema.clone(),
            name: program.def.name.clone(),
            params: parsed.params.len(),
            returns,
            deterministic: program.def.deterministic,
        }))
    }

    fn find_sequence(&self, schema: &str, name: &str) -> Result<(String, String), SqlError> {
        self.host.find_sequence(schema, name)
    }

    fn call_function(
        &self,
        call: &StoredCall,
        args: Vec<(Value, ExprType)>,
        warnings: &mut Warnings,
    ) -> Result<Value, SqlError> {
        if call.schema.is_empty() {
            let values: Vec<Value> = args.into_iter().map(|(value, _)| value).collect();
            return self.call_of_sequence(&call.name, &values);
        }
        let missing =
            || SqlError::new(ErrorCode::SpDoesNotExist, &[&"FUNCTION", &call.full_name()]);
        let function = self.stored_function(&call.schema, &call.name).ok_or_else(missing)?;
        let runner = self.programs.as_ref().ok_or_else(missing)?;
        runner.call_function(self, &function, args, warnings)
    }
}
