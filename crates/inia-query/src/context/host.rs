//! What expressions need of the session: variables, clock, sleeping, user-level locks.

use super::files::permitted_path;
use crate::account::{Access, AccountName, Privileges};
use crate::catalog::CatalogVersion;
use crate::clock::clock_micros;
use crate::database::{ClientInfo, Database};
use crate::information::Focus;
use crate::information::{Information, NamedValues, Profile};
use crate::interrupt::Interrupt;
use crate::observe::TransactionState;
use crate::optimize::ParallelSettings;
use crate::status::{Connection, SessionCounters};
use crate::sysvar::{self, SessionVars};
use crate::workers::Helpers;
use inia_base::collation::Collation;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::memory::SessionMemory;
use inia_base::rt::WaitCell;
use inia_base::temporal::TimeZone;
use inia_base::value::Value;
use inia_expr::derive::Derivation;
use inia_expr::narrow::NarrowParam;
use inia_expr::{ExprType, SessionHost, UserVar, VarScope};
use inia_geometry::Srs;
use parking_lot::Mutex;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// The session's part of [`SessionHost`].
///
/// Wide: one cell for each thing that expressions may change while the session is borrowed.
pub struct Host {
    pub(super) db: Arc<Database>,
    pub(crate) user_vars: RefCell<HashMap<String, UserVar>>,
    pub vars: RefCell<SessionVars>,
    /// LAST_INSERT_ID(expr) said in the running statement.
    pub last_insert_id: Cell<Option<u64>>,
    pub sleeper: Arc<WaitCell>,
    pub(crate) locks: RefCell<HashMap<String, u32>>,
    pub(crate) connection_id: Cell<u64>,
    /// LAST_INSERT_ID() as the running statement sees it.
    pub(crate) previous_insert_id: Cell<u64>,
    /// What the session may do, as last looked up.
    access: RefCell<Arc<Access>>,
    /// SET ROLE; the account's default roles before.
    roles: RefCell<BTreeSet<AccountName>>,
    /// What the session counts.
    pub counters: Arc<SessionCounters>,
    /// What the running SHOW is about.
    pub focus: RefCell<Focus>,
    /// The catalog that the running SHOW reads, where it is not the shared one.
    pub shown: RefCell<Option<Arc<CatalogVersion>>>,
    /// Conditions and errors of the last statement.
    pub(crate) condition_counts: Cell<(u64, u64)>,
    /// Not zero once the statement is to end.
    killed: Arc<AtomicU8>,
    /// Held while KILL sets the flags of the session and its transactions, and while they are
    /// cleared.
    pub kill_latch: Arc<Mutex<()>>,
    /// Where RAND() goes on.
    rand: Cell<Option<(u64, u64)>>,
    /// When the running query ends for `max_execution_time`.
    pub(crate) deadline: Cell<Option<Instant>>,
    /// What the statement and the variables hold.
    pub memory: SessionMemory,
    /// Traces of the optimizer; `None` until tracing was set up.
    pub traces: RefCell<Option<Box<super::OptimizerTraces>>>,
    /// Profiles of statements; `None` until profiling was set up.
    pub profiles: RefCell<Option<Box<super::Profiles>>>,
    /// The plan being made serves one run: it calls a stored function, or depends on a value.
    pub plans_once: Cell<bool>,
    /// The plan being made depends on variables of this session, whose types no other has.
    pub plans_unshared: Cell<bool>,
    /// The parameters of the plan being made that are converted to other character sets.
    pub narrow_params: RefCell<Vec<NarrowParam>>,
    /// The user variables that the plan being made assigns to.
    pub assigned_vars: RefCell<Vec<Box<str>>>,
    /// The types of the parameters of the statement being prepared.
    pub derivation: Derivation,
    /// What NEXTVAL has given last, by the sequence's number.
    pub(crate) last_numbers: RefCell<HashMap<u64, i64>>,
    /// It belongs to a context inside another, whose counters it uses.
    is_inner: bool,
}

impl Host {
    pub(crate) fn new(db: Arc<Database>, client: &ClientInfo, killed: Arc<AtomicU8>) -> Host {
        let account = AccountName::new(&client.account_user, &client.account_host);
        let accounts = db.accounts.current();
        let roles = accounts.get(&account).map(|def| def.default_roles.clone()).unwrap_or_default();
        let access =
            RefCell::new(Arc::new(Access::new(&accounts, &account, &roles).from(&client.host)));
        let counters = db.counters.session(Connection {
            id: u64::from(client.connection_id),
            user: client.user.clone(),
            host: client.host.clone(),
            tls: client.tls.clone(),
            compression: client.compression,
            attributes: client.attributes.clone(),
        });
        let memory = SessionMemory::new(db.memory.clone());
        Host {
            db,
            counters,
            user_vars: RefCell::default(),
            vars: RefCell::default(),
            last_insert_id: Cell::new(None),
            sleeper: Arc::default(),
            locks: RefCell::default(),
            connection_id: Cell::new(0),
            previous_insert_id: Cell::new(0),
            access,
            roles: RefCell::new(roles),
            focus: RefCell::default(),
            shown: RefCell::default(),
            condition_counts: Cell::new((0, 0)),
            killed,
            kill_latch: Arc::default(),
            rand: Cell::new(None),
            deadline: Cell::new(None),
            memory,
            traces: RefCell::default(),
            profiles: RefCell::default(),
            plans_once: Cell::new(false),
            plans_unshared: Cell::new(false),
            narrow_params: RefCell::default(),
            assigned_vars: RefCell::default(),
            derivation: Derivation::default(),
            last_numbers: RefCell::default(),
            is_inner: false,
        }
    }

    /// The host of a context inside this one's.
    pub(crate) fn inner(&self) -> Host {
        Host {
            db: self.db.clone(),
            counters: self.counters.clone(),
            user_vars: RefCell::default(),
            vars: RefCell::default(),
            last_insert_id: Cell::new(None),
            sleeper: self.sleeper.clone(),
            locks: RefCell::default(),
            connection_id: Cell::new(self.connection_id.get()),
            previous_insert_id: Cell::new(0),
            access: RefCell::new(self.access()),
            roles: RefCell::default(),
            focus: RefCell::default(),
            shown: RefCell::default(),
            condition_counts: Cell::new((0, 0)),
            killed: self.killed.clone(),
            kill_latch: self.kill_latch.clone(),
            rand: Cell::new(None),
            deadline: Cell::new(None),
            memory: SessionMemory::new(self.db.memory.clone()),
            plans_once: Cell::new(false),
            plans_unshared: Cell::new(false),
            narrow_params: RefCell::default(),
            assigned_vars: RefCell::default(),
            derivation: Derivation::default(),
            last_numbers: RefCell::default(),
            is_inner: true,
            traces: RefCell::default(),
            profiles: RefCell::default(),
        }
    }

    /// Exchanges what the session has once: variables, locks, and what they take.
    pub(crate) fn swap(&self, other: &Host) {
        self.user_vars.swap(&other.user_vars);
        self.last_numbers.swap(&other.last_numbers);
        self.vars.swap(&other.vars);
        self.locks.swap(&other.locks);
        self.rand.swap(&other.rand);
        self.memory.swap(&other.memory);
        other.deadline.set(self.deadline.get());
        other.previous_insert_id.set(self.previous_insert_id.get());
    }

    /// Lets another host have the same privileges.
    pub(crate) fn copy_access(&self, other: &Host) {
        other.access.replace(self.access());
        other.roles.replace(self.roles.borrow().clone());
    }

    /// The account and roles that the session acts as: those of a program's definer while it runs.
    pub fn act_as(
        &self,
        access: Arc<Access>,
        roles: BTreeSet<AccountName>,
    ) -> (Arc<Access>, BTreeSet<AccountName>) {
        (self.access.replace(access), self.roles.replace(roles))
    }

    /// Threads that may help a statement which scans so many rows.
    pub fn helpers_for(&self, rows: u64) -> Helpers<'_> {
        self.db.helpers(ParallelSettings::of(self).threads_for(rows))
    }

    /// Threads that may help the running statement, which may have so many with its own.
    pub(crate) fn helpers(&self, threads: usize) -> Helpers<'_> {
        self.db.helpers(threads)
    }

    /// What ends the running statement before it is done.
    pub(crate) fn interrupt(&self) -> Interrupt<'_> {
        Interrupt::new(&self.killed, self.deadline.get())
    }

    /// What the session may do, under the newest version of the accounts.
    pub(crate) fn access(&self) -> Arc<Access> {
        let mut access = self.access.borrow_mut();
        if access.version != self.db.accounts.version() {
            let (accounts, account) = (self.db.accounts.current(), access.account.clone());
            let new = Access::new(&accounts, &account, &self.roles.borrow());
            *access = Arc::new(new.from(&access.client));
        }
        access.clone()
    }

    /// SET ROLE.
    pub fn set_roles(&self, roles: BTreeSet<AccountName>) {
        let (accounts, old) = (self.db.accounts.current(), self.access());
        let new = Access::new(&accounts, &old.account, &roles);
        self.access.replace(Arc::new(new.from(&old.client)));
        self.roles.replace(roles);
    }

    /// SET `rand_seed1` or `rand_seed2`.
    pub fn seed(&self, first: bool, seed: u64) {
        let (one, two) = self.rand.get().unwrap_or_default();
        self.rand.set(Some(if first { (seed, two) } else { (one, seed) }));
    }

    fn variables(&self, scope: VarScope) -> NamedValues {
        let vars = self.vars.borrow();
        sysvar::shown(scope)
            .map(|def| (def.name.to_owned(), sysvar::text(&self.db.globals, &vars, scope, def)))
            .collect()
    }

    /// What the rows of computed tables are made from.
    pub(crate) fn information(&self) -> Information<'_> {
        let zone = sysvar::find("time_zone").ok().and_then(|def| {
            let vars = self.vars.borrow();
            TimeZone::parse(&sysvar::text(&self.db.globals, &vars, VarScope::Any, def))
        });
        Information {
            db: &self.db,
            catalog: self.shown.borrow().clone().unwrap_or_else(|| self.db.catalog().current()),
            access: self.access(),
            zone: zone.unwrap_or_else(TimeZone::utc),
            focus: self.focus.borrow().clone(),
            variables: Box::new(|scope| self.variables(scope)),
            counters: &self.counters,
            traces: self
                .traces
                .borrow()
                .as_ref()
                .map_or_else(Vec::new, |traces| traces.list.iter().cloned().collect()),
            profiles: self.profiles(),
        }
    }

    /// The profiles that are kept, oldest first.
    pub fn profiles(&self) -> Vec<Profile> {
        let profiles = self.profiles.borrow();
        profiles.as_ref().map_or_else(Vec::new, |kept| kept.list.iter().cloned().collect())
    }

    /// Keeps a user variable; error 3170 where the session has no memory for it.
    pub fn keep_user_var(&self, name: String, var: UserVar) -> Result<(), SqlError> {
        let mut vars = self.user_vars.borrow_mut();
        let before = vars.get(&name).map_or(0, |old| counted(&old.value));
        let after = counted(&var.value);
        match after.checked_sub(before) {
            Some(0) => {}
            Some(more) => self.memory.demand(more, "user variables")?,
            None => self.memory.give(before - after),
        }
        vars.insert(name, var);
        Ok(())
    }

    /// A user variable's value.
    pub fn user_value(&self, name: &str) -> Value {
        let vars = self.user_vars.borrow();
        vars.get(&name.to_lowercase()).map_or(Value::Null, |var| var.value.clone())
    }

    /// The value of a user variable for EXECUTE: dates and times are texts.
    pub fn user_parameter(&self, name: &str) -> Value {
        let vars = self.user_vars.borrow();
        let Some(var) = vars.get(&name.to_lowercase()) else { return Value::Null };
        match &var.value {
            Value::Date(_) | Value::Time(_) | Value::DateTime(_) => {
                Value::Text(inia_expr::convert::to_text(&var.value, &var.ty).into_owned())
            }
            value => value.clone(),
        }
    }

    /// A user variable as text.
    pub fn user_text(&self, name: &str) -> String {
        let vars = self.user_vars.borrow();
        let var = vars.get(&name.to_lowercase());
        var.map_or_else(String::new, |var| {
            inia_expr::convert::to_text(&var.value, &var.ty).into_owned()
        })
    }

    /// The moment that SET timestamp fixed.
    #[inline]
    pub fn fixed_now(&self) -> Option<i64> {
        self.vars.borrow().timestamp_micros
    }
}

/// Bytes that a variable's value takes from the session's memory; small ones take nothing.
fn counted(value: &Value) -> u64 {
    const SMALL: usize = 4096;
    let len = match value {
        Value::Text(text) | Value::Json(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    };
    if len < SMALL { 0 } else { len as u64 }
}

impl SessionHost for Host {
    fn derivation(&self) -> Option<&Derivation> {
        Some(&self.derivation)
    }

    fn note_narrow_param(&self, index: usize, collation: Collation) {
        let mut narrow = self.narrow_params.borrow_mut();
        if !narrow.contains(&(index, collation)) {
            narrow.push((index, collation));
        }
    }

    fn reference_system(&self, srid: u32) -> Option<Arc<Srs>> {
        self.db.catalog().reference_system(srid)
    }

    fn has_own_references(&self) -> bool {
        self.db.catalog().has_own_references()
    }

    fn find_sequence(&self, schema: &str, name: &str) -> Result<(String, String), SqlError> {
        let sequence = self.sequence(schema, name)?;
        Ok((sequence.def.schema.clone(), sequence.def.name.clone()))
    }

    fn sysvar(&self, scope: VarScope, name: &str) -> Result<(Value, ExprType), SqlError> {
        let number = |id: u64| Ok((Value::UInt(id), ExprType::uint(21, false)));
        let own = sysvar::find(name).is_ok_and(|def| def.home == sysvar::Home::Session);
        if scope == VarScope::Global && own {
            return Err(SqlError::new(ErrorCode::IncorrectGlobalLocalVar, &[&name, &"SESSION"]));
        }
        match name {
            "last_insert_id" | "identity" => return number(self.previous_insert_id.get()),
            "warning_count" => return number(self.condition_counts.get().0),
            "error_count" => return number(self.condition_counts.get().1),
            "timestamp" => {
                let micros = self.fixed_now().unwrap_or_else(clock_micros);
                return Ok((Value::Double(micros as f64 / 1e6), sysvar::seconds()));
            }
            _ => {}
        }
        sysvar::read(&self.db.globals, &self.vars.borrow(), scope, name)
    }

    fn user_var(&self, name: &str) -> Option<UserVar> {
        self.plans_unshared.set(true);
        self.user_vars.borrow().get(name).cloned()
    }

    fn note_assignment(&self, name: &str) {
        if !self.is_assigned(name) {
            self.assigned_vars.borrow_mut().push(name.into());
        }
    }

    fn is_assigned(&self, name: &str) -> bool {
        self.assigned_vars.borrow().iter().any(|assigned| **assigned == *name)
    }

    fn set_user_var(&self, name: &str, var: UserVar) -> Result<(), SqlError> {
        self.keep_user_var(name.to_owned(), var)
    }

    fn set_last_insert_id(&self, id: u64) {
        self.last_insert_id.set(Some(id));
    }

    fn said_insert_id(&self) -> Option<u64> {
        self.last_insert_id.get()
    }

    fn clock_micros(&self) -> i64 {
        clock_micros()
    }

    fn sleep(&self, micros: u64) -> Result<bool, SqlError> {
        let end = Instant::now().checked_add(Duration::from_micros(micros));
        loop {
            let now = Instant::now();
            let until = |moment: Instant| moment.saturating_duration_since(now);
            let up = self.deadline.get().is_some_and(|deadline| now >= deadline);
            if up || self.killed.load(Ordering::SeqCst) != 0 {
                return Ok(true);
            }
            if end.is_some_and(|end| now >= end) {
                return Ok(false);
            }
            // A wake may be left from a KILL that came too late for its statement.
            self.sleeper.wait([end, self.deadline.get()].into_iter().flatten().map(until).min());
        }
    }

    fn is_killed(&self) -> bool {
        self.killed.load(Ordering::Relaxed) != 0
    }

    fn get_lock(&self, name: &str, timeout: Option<u64>) -> Result<Option<bool>, SqlError> {
        let me = self.connection_id.get();
        let (limit, interrupt) = (timeout.map(Duration::from_micros), self.interrupt());
        let got = self.db.user_locks.lock(name, me, limit, interrupt)?;
        if got {
            *self.locks.borrow_mut().entry(name.to_owned()).or_default() += 1;
        }
        Ok(Some(got))
    }

    fn release_lock(&self, name: &str) -> Result<Option<bool>, SqlError> {
        let mut locks = self.locks.borrow_mut();
        let Some(count) = locks.get_mut(name) else {
            return Ok(self.db.user_locks.holder(name).map(|_| false));
        };
        *count -= 1;
        if *count == 0 {
            locks.remove(name);
            self.db.user_locks.unlock(name);
        }
        Ok(Some(true))
    }

    fn release_all_locks(&self) -> u64 {
        let mut released = 0;
        for (name, count) in self.locks.borrow_mut().drain() {
            self.db.user_locks.unlock(&name);
            released += u64::from(count);
        }
        released
    }

    fn read_file(&self, path: &str, limit: usize) -> Option<Vec<u8>> {
        if !self.access().global.has(Privileges::FILE) {
            return None;
        }
        let var = |name: &str| {
            let def = sysvar::find(name).ok()?;
            Some(sysvar::text(&self.db.globals, &self.vars.borrow(), VarScope::Global, def))
        };
        let path = Path::new(&var("datadir")?).join(path);
        let path = permitted_path(&var("secure_file_priv")?, path)?;
        let mut bytes = Vec::new();
        if !std::fs::metadata(&path).ok()?.is_file() {
            return None;
        }
        let file = std::fs::File::open(path).ok()?;
        file.take(limit as u64).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    fn active_roles(&self) -> Vec<String> {
        self.access().roles.iter().map(AccountName::backquoted).collect()
    }

    fn roles_graph(&self) -> String {
        let access = self.access();
        let sees = access.has_dynamic("ROLE_ADMIN") || access.global.has(Privileges::SUPER);
        crate::account::show::roles_graph(&self.db.accounts.current(), sees)
    }

    fn has_connection(&self, id: u64) -> bool {
        self.db.process_list().iter().any(|entry| entry.id == id)
    }

    fn rand_state(&self) -> Option<(u64, u64)> {
        self.rand.get()
    }

    fn set_rand_state(&self, state: (u64, u64)) {
        self.rand.set(Some(state));
    }

    fn lock_holder(&self, name: &str) -> Option<u64> {
        self.db.user_locks.holder(name)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if !self.is_inner {
            self.db.counters.end(&self.counters);
            let account = self.counters.account();
            self.db.observer.statements.end(account.clone(), &self.counters.history);
            self.counters.transactions.end(TransactionState::RolledBack, clock_micros());
            let sums = self.counters.transactions.take_sums();
            self.db.observer.transactions.add(account.clone(), &sums);
            self.db.observer.raised.end(account, &self.counters.errors);
        }
        self.release_all_locks();
    }
}
