//! A statement that was prepared, with its plans: sessions that prepare it alike share both.
//!
//! Sessions share a statement when its text and all settings that plans depend on are the same
//! ([`SessionContext::settings_id`]). Not shared are
//! - plans that serve one run, or depend on variables of their session;
//! - plans over views, which count what privileges their reader has;
//! - statements with hints, and those whose preparation gave warnings: each session is to get them.
//!
//! A session that changes a setting goes on alone with the statements that it has prepared.

use super::params::ParamKinds;
use super::plan::{self, PlannedStatement};
use super::run::KeptPlan;
use inia_base::column::ResultColumn;
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_expr::derive::DerivedParam;
use inia_expr::narrow::{NarrowParam, check_params};
use inia_parser::{Hints, ast};
use inia_query::context::SessionContext;
use inia_query::database::{SettingsId, StatementKey};
use parking_lot::Mutex;
use std::sync::Arc;

/// What distinguishes statements that were prepared as such from those that came as texts.
const PREPARED: [u64; 2] = [0; 2];
/// A statement keeps its plans for so many kinds of parameters.
const MAX_PLANS: usize = 4;

/// A plan that is kept, with what its parameters must be.
pub(super) struct MadePlan {
    pub(super) plan: PlannedStatement,
    /// The parameters that are converted to other character sets.
    narrow: Vec<NarrowParam>,
}

impl MadePlan {
    /// The plan that the session has just made.
    pub(super) fn new(session: &SessionContext, plan: PlannedStatement) -> MadePlan {
        MadePlan { plan, narrow: session.host.narrow_params.take() }
    }

    /// Error 3988: a value loses characters.
    pub(super) fn check(&self, session: &SessionContext, params: &[Value]) -> Result<(), SqlError> {
        check_params(&self.narrow, params, session.env.collation)
    }
}

/// A prepared statement as it was written, and plans of it.
pub(super) struct SharedStatement {
    pub(super) statement: ast::Statement,
    pub(super) text: String,
    pub(super) hints: Hints,
    /// What sessions that share it have in common; `None` where it belongs to one.
    settings: Option<SettingsId>,
    plans: Mutex<Vec<(ParamKinds, Arc<MadePlan>)>>,
    /// The types of its parameters, as the session has derived them that planned it last.
    derived: Mutex<Vec<DerivedParam>>,
}

impl SharedStatement {
    /// A statement that one session has.
    pub(super) fn own(statement: ast::Statement, text: String, hints: Hints) -> SharedStatement {
        let (plans, derived) = (Mutex::default(), Mutex::default());
        SharedStatement { statement, text, hints, settings: None, plans, derived }
    }

    /// Takes the place of nothing: see [`PreparedStatement`](super::PreparedStatement)'s drop.
    pub(super) fn empty() -> SharedStatement {
        SharedStatement::own(ast::Statement::Empty, String::new(), Hints::default())
    }

    /// The key of a text where the session may share it; `kinds` is what else distinguishes it.
    pub(super) fn key(
        session: &SessionContext,
        text: &str,
        kinds: [u64; 2],
    ) -> Option<StatementKey> {
        let settings = session.settings_id()?;
        Some(StatementKey { settings, text: text.to_owned(), kinds })
    }

    /// The statement that another session has prepared.
    pub(super) fn find(session: &SessionContext, key: &StatementKey) -> Option<Arc<Self>> {
        session.db.statements.find(key)
    }

    /// Lets other sessions use the statement, planned right before without a warning.
    pub(super) fn share(self, session: &SessionContext, key: StatementKey) -> Arc<Self> {
        let shared = Arc::new(SharedStatement { settings: Some(key.settings), ..self });
        session.db.statements.share(key, &shared);
        shared
    }

    /// A plan for these kinds of parameters that some session has made, where it is the right one
    /// for this session.
    pub(super) fn plan(
        &self,
        session: &SessionContext,
        kinds: &ParamKinds,
    ) -> Option<Arc<MadePlan>> {
        if self.settings.is_none() || self.settings != session.settings_id() {
            return None;
        }
        let plans = self.plans.lock();
        let (_, plan) = plans.iter().find(|(known, _)| known == kinds)?;
        (!plan.plan.is_stale()).then(|| plan.clone())
    }

    /// Lets other sessions use a plan that the session has just made.
    pub(super) fn offer(&self, session: &SessionContext, kinds: &ParamKinds, plan: &Arc<MadePlan>) {
        let apart = self.settings.is_none() || self.settings != session.settings_id();
        if apart || !may_share(session, &plan.plan) {
            return;
        }
        let mut plans = self.plans.lock();
        plans.retain(|(known, plan)| known != kinds && !plan.plan.is_stale());
        if plans.len() >= MAX_PLANS {
            plans.remove(0);
        }
        plans.push((kinds.clone(), plan.clone()));
    }
}

/// Plans a statement, or finds it planned, and describes its columns. It is this session's `alone`
/// where it must be, and where it was found fault with.
pub(super) fn prepare(
    session: &mut SessionContext,
    own: SharedStatement,
    alone: bool,
) -> Result<(Arc<SharedStatement>, KeptPlan, Vec<ResultColumn>), SqlError> {
    let alone = alone || own.hints != Hints::default() || session.warning_count() > 0;
    let key = if alone { None } else { SharedStatement::key(session, &own.text, PREPARED) };
    let found = key.as_ref().and_then(|key| SharedStatement::find(session, key));
    if let Some(shared) = &found {
        let derived = shared.derived.lock().clone();
        if let Some(plan) = shared.plan(session, &ParamKinds::derived(&derived)) {
            let columns = plan.plan.columns();
            return Ok((shared.clone(), KeptPlan::shared(session, Some(plan), derived), columns));
        }
    }
    session.env.is_prepared = true;
    session.host.derivation.begin();
    let planned = plan::prepare(session, &own.statement);
    let derived = session.host.derivation.end(session.env.collation);
    session.env.is_prepared = false;
    let (plan, columns) = planned?;
    let kept = KeptPlan::new(session, plan, derived.clone());
    let shares = kept.may_share(session) && session.warning_count() == 0;
    let shared = match (found, key) {
        (Some(found), _) if shares => found,
        (None, Some(key)) if shares => own.share(session, key),
        _ => Arc::new(own),
    };
    *shared.derived.lock() = derived;
    kept.offer(session, &shared);
    Ok((shared, kept, columns))
}

/// Whether others may use the plan that the session has just made.
pub(super) fn may_share(session: &SessionContext, plan: &PlannedStatement) -> bool {
    !session.host.plans_once.get() && !session.host.plans_unshared.get() && plan.views().is_empty()
}
