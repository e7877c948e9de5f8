//! MAX_QUERIES_PER_HOUR, MAX_UPDATES_PER_HOUR and MAX_CONNECTIONS_PER_HOUR: what the sessions of
//! an account have used of its hour.
//!
//! An account has a meter from its first login under a limit on. Its sessions share it, and go on
//! asking it when the limits change; sessions that logged in without limits have none, and nothing
//! to ask. The numbers are gone at a restart.
//!
//! A statement counts when it has been parsed, whatever becomes of it, those inside a text each for
//! itself; executions of prepared statements by the binary protocol do not count.

use super::def::AccountDef;
use crate::catalog::AccountName;
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{ExplainTarget, MaintenanceKind, Statement};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

const HOUR: Duration = Duration::from_secs(60 * 60);

/// How often something may be done in an hour; 0 for as often as one likes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Hourly {
    questions: u64,
    updates: u64,
    connections: u64,
}

impl Hourly {
    fn limits(def: &AccountDef) -> Hourly {
        Hourly {
            questions: def.limit("MAX_QUERIES_PER_HOUR"),
            updates: def.limit("MAX_UPDATES_PER_HOUR"),
            connections: def.limit("MAX_CONNECTIONS_PER_HOUR"),
        }
    }
}

struct State {
    limits: Hourly,
    used: Hourly,
    /// When the hour began.
    since: SystemTime,
}

/// One account's hour.
pub struct Meter {
    user: String,
    state: Mutex<State>,
}

/// Takes one of `most`; false where none is left.
fn take(used: &mut u64, most: u64) -> bool {
    let left = most == 0 || *used < most;
    *used += u64::from(left);
    left
}

impl Meter {
    fn new(def: &AccountDef, now: SystemTime) -> Meter {
        let (limits, used) = (Hourly::limits(def), Hourly::default());
        Meter { user: def.name.user.clone(), state: Mutex::new(State { limits, used, since: now }) }
    }

    /// Begins a new hour where the last one is over.
    fn state(&self, now: SystemTime) -> parking_lot::MutexGuard<'_, State> {
        let mut state = self.state.lock();
        if now.duration_since(state.since).is_ok_and(|age| age >= HOUR) {
            (state.used, state.since) = (Hourly::default(), now);
        }
        state
    }

    fn exceeded(&self, what: &str, most: u64) -> SqlError {
        SqlError::new(ErrorCode::UserLimitReached, &[&self.user, &what, &most])
    }

    /// Counts a statement; error 1226.
    pub fn statement(&self, statement: &Statement, now: SystemTime) -> Result<(), SqlError> {
        let mut state = self.state(now);
        let limits = state.limits;
        if !take(&mut state.used.questions, limits.questions) {
            return Err(self.exceeded("max_questions", limits.questions));
        }
        if changes_data(statement) && !take(&mut state.used.updates, limits.updates) {
            return Err(self.exceeded("max_updates", limits.updates));
        }
        Ok(())
    }

    /// Counts a login; error 1226.
    pub(crate) fn connection(&self, now: SystemTime) -> Result<(), SqlError> {
        let mut state = self.state(now);
        let most = state.limits.connections;
        match take(&mut state.used.connections, most) {
            true => Ok(()),
            false => Err(self.exceeded("max_connections_per_hour", most)),
        }
    }
}

/// The meters of all accounts that have had a limit.
#[derive(Default)]
pub struct Meters(Mutex<BTreeMap<AccountName, Arc<Meter>>>);

impl Meters {
    /// The meter of an account for a new session; `None` where nothing limits it. `anybody` says
    /// that the server limits the connections of all accounts, which are metered then.
    pub(crate) fn of(
        &self,
        def: &AccountDef,
        anybody: bool,
        now: SystemTime,
    ) -> Option<Arc<Meter>> {
        let limited = anybody || def.limits.values().any(|most| *most > 0);
        let made = || Arc::new(Meter::new(def, now));
        limited.then(|| self.0.lock().entry(def.name.clone()).or_insert_with(made).clone())
    }

    /// An account's limits were set: they hold for its sessions, whose counts begin again.
    pub(crate) fn set(&self, def: &AccountDef) {
        if let Some(meter) = self.0.lock().get(&def.name) {
            let mut state = meter.state.lock();
            (state.limits, state.used) = (Hourly::limits(def), Hourly::default());
        }
    }

    /// FLUSH USER_RESOURCES: all counts begin again.
    pub fn flush(&self) {
        self.0.lock().values().for_each(|meter| meter.state.lock().used = Hourly::default());
    }

    /// The account is gone, or has another name.
    pub(crate) fn forget(&self, name: &AccountName) {
        self.0.lock().remove(name);
    }
}

/// Whether a statement counts as an update.
fn changes_data(statement: &Statement) -> bool {
    use Statement as S;
    match statement {
        S::Explain(explain) => match &explain.target {
            ExplainTarget::Statement(inner) => changes_data(inner),
            ExplainTarget::Connection(_) => false,
        },
        S::TableMaintenance(work) => work.kind == MaintenanceKind::Optimize,
        S::Insert(_) | S::Update(_) | S::Delete(_) | S::LoadData(_) | S::Truncate(_) => true,
        S::CreateDatabase(_) | S::AlterDatabase(_) | S::DropDatabase { .. } => true,
        S::CreateTable(_) | S::AlterTable(_) | S::DropTable(_) | S::RenameTable(_) => true,
        S::CreateIndex(_) | S::DropIndex(_) | S::CreateView(_) | S::DropView(_) => true,
        S::Sequence(_) => true,
        S::CreateRoutine(_) | S::AlterRoutine(_) | S::DropRoutine(_) | S::Unsupported(_) => true,
        S::SetPassword(_) | S::SetDefaultRole { .. } | S::Grant(_) | S::Revoke(_) => true,
        S::CreateUser(_) | S::AlterUser(_) | S::DropUser { .. } | S::RenameUser(_) => true,
        S::CreateRole { .. } | S::DropRole { .. } => true,
        S::InstallPlugin { .. } | S::UninstallPlugin(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
