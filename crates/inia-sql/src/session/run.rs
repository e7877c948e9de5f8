//! One statement, from its beginning to its reply.
//!
//! A statement arrives as a text, as a text whose digest has a cached plan, or by the handle of a
//! prepared statement. [`run_statement`] runs all of them:
//!
//! 1. the statement's time and its diagnostics begin;
//! 2. warnings of its syntax come first;
//! 3. it is counted, checked against the limits of its account, and authorized;
//! 4. its hints take effect;
//! 5. it runs by its plan: a new, cached or prepared one;
//! 6. the hints are undone, and the client gets the end of the reply.

use super::params::ParamKinds;
use super::plan::{self, PlannedStatement};
use super::shared::{self, MadePlan, SharedStatement};
use super::{admin, hints, incoming, system_tables};
use inia_base::collation::Collation;
use inia_base::column::{Completion, ResultColumn, RowSink};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::derive::DerivedParam;
use inia_expr::{Level, Warning};
use inia_parser::ast::{Expr, QueryBody, SelectItem, Statement};
use inia_parser::{Hints, Remark};
use inia_query::context::{SessionContext, StatementOutcome};
use std::borrow::Cow;
use std::sync::Arc;

/// What running a statement's plan gives.
type Executed = Result<StatementOutcome, SqlError>;

/// A statement as it arrives.
pub(super) struct IncomingStatement<'s> {
    pub(super) statement: &'s Statement,
    pub(super) syntax: Syntax<'s>,
    /// It counts against what its account may do in an hour. An execution by handle does not, and
    /// EXECUTE has counted as a text.
    pub(super) metered: bool,
}

/// What a statement's text says beside the statement.
pub(super) enum Syntax<'s> {
    /// It has just been parsed: there may be things to warn of.
    Parsed { remarks: Vec<Remark>, hints: Hints },
    /// An earlier statement has warned of it.
    Hinted(&'s Hints),
}

/// Runs a statement and replies; `run` gives its outcome, and sends its rows.
pub(super) fn run_statement(
    session: &mut SessionContext,
    source: IncomingStatement<'_>,
    sink: &mut dyn RowSink,
    more: bool,
    run: impl FnOnce(&mut SessionContext, &mut dyn RowSink) -> Executed,
) -> Result<(), SqlError> {
    let statement = source.statement;
    let hints = match begin(session, source) {
        Ok(hints) => hints,
        Err(error) => {
            return match system_tables::pass_over(session, statement, &error) {
                Some(outcome) => finish(session, Ok(outcome), sink, more),
                None => Err(error),
            };
        }
    };
    let changed = hints::take_hints(session, &hints);
    let reported = session.diagnostics.count;
    let mut result = run(session, sink);
    if let Err(error) = &result
        && let Some(outcome) = system_tables::keep_settings(session, statement, error)
    {
        result = Ok(outcome);
    }
    session.host.counters.take_reads();
    hints::undo_hints(session, changed);
    if let Ok(outcome) = &result
        && outcome.affected_rows > 0
    {
        session.host.counters.count_rows(statement, outcome.affected_rows);
    }
    if let Ok(outcome) = &mut result
        && plan::keeps_diagnostics(statement)
    {
        // FOUND_ROWS() keeps the value of the statement before, too.
        outcome.rows = outcome.rows.map(|_| session.env.found_rows);
        outcome.reports = session.diagnostics.count == reported;
    }
    finish(session, result, sink, more)
}

/// Begins a statement, and refuses what the session may not do; the hints that are to take
/// effect.
pub(super) fn begin<'s>(
    session: &mut SessionContext,
    source: IncomingStatement<'s>,
) -> Result<Cow<'s, Hints>, SqlError> {
    let statement = source.statement;
    session.begin_statement();
    if !plan::keeps_diagnostics(statement) {
        session.diagnostics.clear();
    }
    let hints = match source.syntax {
        Syntax::Hinted(hints) => Cow::Borrowed(hints),
        Syntax::Parsed { remarks, hints } => {
            incoming::note_remarks(session, &remarks);
            Cow::Owned(hints::resolve_hints(session, hints))
        }
    };
    session.host.counters.count(statement);
    let allowed = if source.metered { admin::spend(session, statement) } else { Ok(()) };
    match allowed.and_then(|()| admin::authorize(session, statement)) {
        Ok(()) => Ok(hints),
        Err(error) => Err(failed(session, error)),
    }
}

/// Reports a statement's end to the client and to the session's own functions.
pub(super) fn finish(
    session: &mut SessionContext,
    result: Result<StatementOutcome, SqlError>,
    sink: &mut dyn RowSink,
    more: bool,
) -> Result<(), SqlError> {
    let outcome = match result {
        Ok(outcome) => outcome,
        Err(error) => return Err(failed(session, error)),
    };
    session.mdl.end_change();
    session.release_programs();
    let said = session.host.last_insert_id.take();
    session.env.last_insert_id =
        outcome.generated_id.or(said).unwrap_or(session.env.last_insert_id);
    session.env.row_count = match outcome.rows {
        Some(_) => -1,
        None => outcome.affected_rows as i64,
    };
    if let Some(rows) = outcome.rows {
        session.env.found_rows = rows;
    }
    let completion = Completion {
        affected_rows: outcome.affected_rows,
        last_insert_id: outcome.last_insert_id,
        warnings: if outcome.reports { 0 } else { session.warning_count() },
        info: outcome.info,
        status: session.status(),
        changes: std::mem::take(&mut session.changes),
    };
    sink.complete(&completion, more)
}

/// Notes a failed statement in the diagnostics.
pub(super) fn failed(session: &mut SessionContext, error: SqlError) -> SqlError {
    session.mdl.end_change();
    session.release_programs();
    session.keep_insert_id();
    session.env.row_count = -1;
    session.raise(Warning::of(Level::Error, error.clone()));
    session.take_listed_behind(error.code);
    error
}

/// Whether a statement's parameters are all in its select list, each an item of its own. Nothing
/// around such a one says what type it has: MySQL lets it keep the one that it had first.
fn selects_only_parameters(statement: &Statement, params: usize) -> bool {
    let Statement::Select(query) = statement else { return false };
    let QueryBody::Select(select) = &query.body else { return false };
    let is_parameter =
        |item: &&SelectItem| matches!(item, SelectItem::Expr { expr: Expr::Param(_), .. });
    params > 0 && select.items.iter().filter(is_parameter).count() == params
}

/// The plan that a statement keeps from one execution to the next.
#[derive(Default)]
pub(super) struct KeptPlan {
    /// The plan, where it can be kept, and the settings it was made under.
    plan: Option<(Arc<MadePlan>, u64)>,
    /// The kinds of values that the plan is made for.
    kinds: ParamKinds,
    /// The types that parameters have from their places; those at the end without one are left out.
    derived: Vec<DerivedParam>,
    /// The last execution has brought other types of parameters.
    retyped: bool,
}

impl KeptPlan {
    /// Keeps a plan for texts and values of derived types, made under the session's present
    /// settings.
    pub(super) fn new(
        session: &SessionContext,
        plan: Option<PlannedStatement>,
        derived: Vec<DerivedParam>,
    ) -> KeptPlan {
        let plan = plan.filter(|_| session.keeps_plans() && !session.host.plans_once.get());
        let plan = plan.map(|plan| Arc::new(MadePlan::new(session, plan)));
        KeptPlan::shared(session, plan, derived)
    }

    /// As [`KeptPlan::new`], with a plan that may be another session's.
    pub(super) fn shared(
        session: &SessionContext,
        plan: Option<Arc<MadePlan>>,
        derived: Vec<DerivedParam>,
    ) -> KeptPlan {
        let kinds = ParamKinds::derived(&derived);
        KeptPlan { plan: plan.map(|plan| (plan, session.settings)), kinds, derived, retyped: false }
    }

    /// Whether the last execution took another number of a statement: once for each.
    pub(super) fn takes_number(&mut self) -> bool {
        std::mem::take(&mut self.retyped)
    }

    /// How the statement's parameters are described.
    pub(super) fn param_columns(&self, params: u32, connection: Collation) -> Vec<ResultColumn> {
        let text = DerivedParam::text(connection);
        let param = |at| self.derived.get(at).unwrap_or(&text);
        (0..params as usize).map(|at| param(at).ty.column(connection)).collect()
    }

    /// Lets other sessions use the plan, which was just made.
    pub(super) fn offer(&self, session: &SessionContext, statement: &SharedStatement) {
        if let Some((plan, _)) = &self.plan {
            statement.offer(session, &self.kinds, plan);
        }
    }

    /// Whether others may use the plan, which was just made.
    pub(super) fn may_share(&self, session: &SessionContext) -> bool {
        self.plan.as_ref().is_some_and(|(plan, _)| shared::may_share(session, &plan.plan))
    }

    /// The plan, where it is still the right one.
    pub(super) fn usable(&self, session: &SessionContext) -> Option<&MadePlan> {
        let (plan, settings) = self.plan.as_ref()?;
        (*settings == session.settings && !plan.plan.is_stale()).then_some(&**plan)
    }

    /// Runs a prepared statement by the kept plan, or by a new one where that does not fit; the
    /// new one is kept unless the statement's `hinted` variables are part of it. The parameters
    /// come from variables where EXECUTE names some.
    pub(super) fn run(
        &mut self,
        session: &mut SessionContext,
        shared: &SharedStatement,
        (params, named): (&[Value], bool),
        sink: &mut dyn RowSink,
    ) -> Result<StatementOutcome, SqlError> {
        let SharedStatement { statement, hints, .. } = shared;
        let keeps = hints.variables.is_empty() && session.keeps_plans();
        let carried = match selects_only_parameters(statement, params.len()) {
            true => self.kinds.carry(session, params)?,
            false => None,
        };
        let params = carried.as_deref().unwrap_or(params);
        if keeps
            && self.kinds.fit(params)
            && let Some(plan) = self.usable(session)
        {
            plan.check(session, params)?;
            let result = plan::run(session, &plan.plan, params, sink);
            if !result.as_ref().is_err_and(|error| error.code == ErrorCode::NeedReprepare) {
                return result;
            }
        }
        self.run_anew(session, shared, (params, named, keeps), sink)
    }

    /// As [`KeptPlan::run`], where the kept plan is not right for the values as they are.
    #[cold]
    fn run_anew(
        &mut self,
        session: &mut SessionContext,
        shared: &SharedStatement,
        (params, named, keeps): (&[Value], bool, bool),
        sink: &mut dyn RowSink,
    ) -> Result<StatementOutcome, SqlError> {
        let SharedStatement { statement, text, .. } = shared;
        let converted = match self.kinds.fit(params) {
            true => None,
            false => {
                let types = &mut self.derived;
                ParamKinds::convert(session, statement, types, (params, named))?
            }
        };
        let (params, fits, kinds) = match &converted {
            Some((values, kinds)) => (&values[..], self.kinds == *kinds, Some(kinds)),
            None => (params, false, None),
        };
        if keeps
            && fits
            && let Some(plan) = self.usable(session)
        {
            plan.check(session, params)?;
            let result = plan::run(session, &plan.plan, params, sink);
            if !result.as_ref().is_err_and(|error| error.code == ErrorCode::NeedReprepare) {
                return result;
            }
        }
        self.plan = None;
        let given = |at| self.derived.get(at).is_some_and(DerivedParam::is_stored);
        self.retyped = kinds.is_some_and(|kinds| self.kinds.differ_in_numbers(kinds, given))
            || kinds.is_none() && self.kinds.differ_in_numbers(&ParamKinds::of(params), given);
        let kinds = kinds.cloned().unwrap_or_else(|| ParamKinds::of(params));
        if keeps && let Some(plan) = shared.plan(session, &kinds) {
            plan.check(session, params)?;
            let result = plan::run(session, &plan.plan, params, sink);
            if !result.as_ref().is_err_and(|error| error.code == ErrorCode::NeedReprepare) {
                (self.plan, self.kinds) = (Some((plan, session.settings)), kinds);
                return result;
            }
        }
        session.env.param_types = kinds.types(session.env.collation);
        let made = plan::plan_and_run(session, statement, text, params, sink);
        session.env.param_types = Vec::new();
        self.kinds = kinds;
        let (outcome, plan) = made?;
        let keeps = keeps && !session.host.plans_once.get();
        let made = plan.filter(|_| keeps).map(|plan| Arc::new(MadePlan::new(session, plan)));
        self.plan = made.map(|made| (made, session.settings));
        self.offer(session, shared);
        Ok(outcome)
    }
}
