//! UPDATE and DELETE of one table.
//!
//! A locking scan finds the rows. Rows are gathered first and changed afterwards in two cases: the
//! change could move a row ahead of the scan (the Halloween problem: the scanned index or the
//! primary key is assigned), or ORDER BY asks for an order that the scan does not have.

mod batch;
mod rewrite;
mod run;

pub(super) use batch::PendingChanges;

use super::fill::Fills;
use super::insert::bind_plain;
use super::joined::has_subquery;
use super::view::Guard;
use crate::access::{self, AccessPath, EvalSettings, HintedIndexes, MergeRules};
use crate::bind::table_scope::TableScope;
use crate::bind::{Never, meant, read_hidden_columns};
use crate::catalog::Table;
use crate::context::SessionContext;
use crate::optimize::{OrderKey, Wanted, path_in_order};
use crate::plan::ViewUse;
use crate::plan::reads::{self, TableRead};
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::bind::{Binder, sort_key};
use inia_expr::derive::{ParamType, ParamUse};
use inia_expr::narrow::{note_params, note_stored};
use inia_expr::{EvalContext, Expr, ExprKind, NoSubqueries, prepare};
use inia_expr::{SlotSet, conjuncts, slots_of};
use inia_parser::ast::{self, TriggerEvent};
use inia_storage::{LockMode, LockRequest, WaitPolicy};
use rewrite::Rewriting;
use std::sync::Arc;

/// A planned UPDATE or DELETE.
pub struct ChangePlan {
    /// The table whose rows change.
    pub table: Arc<Table>,
    path: AccessPath,
    /// The conditions, and for each whether exact bounds of the path make it true.
    filter: Vec<(Expr, bool)>,
    /// `None` for DELETE.
    rewriting: Option<Rewriting>,
    order: Vec<(Expr, bool)>,
    /// The columns that the conditions and ORDER BY read.
    looks_at: Vec<usize>,
    limit: Option<Expr>,
    ignore: bool,
    gather: bool,
    fills: Fills,
    /// The views that rows are changed through.
    pub views: Vec<ViewUse>,
}

impl ChangePlan {
    /// The table and the indexes that its rows are found by.
    pub fn read(&self) -> TableRead<'_> {
        TableRead { table: &self.table, indexes: reads::indexes(&self.table, &self.path) }
    }

    /// Adds what the view that rows are changed through demands.
    pub fn guard(&mut self, session: &SessionContext, guard: Guard) -> Result<(), SqlError> {
        guard.bind(session, &self.table.def, &mut self.fills)?;
        if let Some(rewriting) = &mut self.rewriting {
            rewriting.prepare(&self.table, &self.fills);
        }
        self.views = guard.views;
        Ok(())
    }
}

struct Clauses<'a> {
    condition: Option<&'a ast::Expr>,
    order_by: &'a [ast::OrderItem],
    limit: Option<&'a ast::Limit>,
}

/// Plans UPDATE of one table; `None` for joins and subqueries.
pub fn plan_update(
    session: &SessionContext,
    update: &ast::Update,
) -> Result<Option<ChangePlan>, SqlError> {
    let [ast::TableRef::Table(factor)] = update.tables.as_slice() else { return Ok(None) };
    let values = update.assignments.iter().map(|assignment| &assignment.value);
    let order = update.order_by.iter().map(|item| &item.expr);
    // Subqueries need the planner of queries, which `plan_joined_update` goes through.
    let subquery = values.chain(&update.where_).chain(order).any(has_subquery);
    if subquery || update.with.is_some() {
        return Ok(None);
    }
    let table = session.open_table(factor.name.db.as_deref(), &factor.name.name)?;
    let table = table.selecting(&factor.partitions)?;
    // Triggers see whole rows, one after another.
    if table.triggers.on(TriggerEvent::Update) {
        return Ok(None);
    }
    let mut scope = TableScope::new(&table, factor.alias.as_deref());
    scope = scope.reading_by(session.env.sql_mode);
    let fills = Fills::compile(&table.def, &session.env, &session.host)?;
    let mut assignments = Vec::with_capacity(update.assignments.len());
    for assignment in &update.assignments {
        let target = scope.position(&assignment.column)?;
        // MySQL lets a generated column be assigned DEFAULT and nothing else.
        if fills.is_generated(target) && assignment.value != ast::Expr::Default {
            let args: [&dyn std::fmt::Display; 2] =
                [&table.def.columns[target].name, &table.def.name];
            return Err(SqlError::new(ErrorCode::NonDefaultValueForGeneratedColumn, &args));
        }
        assignments.push(match &assignment.value {
            ast::Expr::Default => (target, None),
            value => {
                let value = bind_plain(session, &mut scope, value)?;
                note_stored(&value, &table.def.columns[target].data_type, session);
                (target, Some(value))
            }
        });
    }
    let clauses = Clauses {
        condition: update.where_.as_ref(),
        order_by: &update.order_by,
        limit: update.limit.as_ref(),
    };
    let hinted = hinted_indexes(session, &table, factor, update.hints.as_ref())?;
    let mut plan = plan(session, &table, &mut scope, clauses, hinted.as_ref(), fills)?;
    let rewriting = Rewriting::new(&table, &plan.fills, assignments);
    // A row that moves ahead of the scan would be found again: rows are gathered first then.
    plan.gather |= moves_rows(&plan, &rewriting);
    plan.rewriting = Some(rewriting);
    plan.ignore = update.ignore;
    Ok(Some(plan))
}

/// Plans DELETE from one table; `None` for joins and subqueries.
pub fn plan_delete(
    session: &SessionContext,
    delete: &ast::Delete,
) -> Result<Option<ChangePlan>, SqlError> {
    let ast::DeleteTarget::Single(factor) = &delete.target else { return Ok(None) };
    let order = delete.order_by.iter().map(|item| &item.expr);
    if delete.with.is_some() || delete.where_.iter().chain(order).any(has_subquery) {
        return Ok(None);
    }
    let table = session.open_table(factor.name.db.as_deref(), &factor.name.name)?;
    let table = table.selecting(&factor.partitions)?;
    if table.triggers.on(TriggerEvent::Delete) {
        return Ok(None);
    }
    let mut scope = TableScope::new(&table, factor.alias.as_deref());
    scope = scope.reading_by(session.env.sql_mode);
    let fills = Fills::compile(&table.def, &session.env, &session.host)?;
    let clauses = Clauses {
        condition: delete.where_.as_ref(),
        order_by: &delete.order_by,
        limit: delete.limit.as_ref(),
    };
    let hinted = hinted_indexes(session, &table, factor, delete.hints.as_ref())?;
    let mut plan = plan(session, &table, &mut scope, clauses, hinted.as_ref(), fills)?;
    plan.ignore = delete.ignore;
    Ok(Some(plan))
}

fn plan(
    session: &SessionContext,
    table: &Arc<Table>,
    scope: &mut TableScope<'_>,
    clauses: Clauses<'_>,
    hinted: Option<&HintedIndexes>,
    fills: Fills,
) -> Result<ChangePlan, SqlError> {
    scope.clause = "where clause";
    // IS NULL of a NOT NULL date, or of an AUTO_INCREMENT column, may stand for another condition,
    // which replaces it before names are bound.
    let never = |name: &ast::ColumnName| {
        let at = scope.position(name).ok()?;
        let column = table.def.columns.get(at).filter(|column| !column.nullable)?;
        let numbered = Some(at) == table.def.auto_increment_column();
        Never::of(&column.data_type, numbered, false)
    };
    let meant = clauses.condition.and_then(|c| meant(c, &session.env, false, &never));
    let condition = meant.as_ref().or(clauses.condition);
    let mut condition = condition.map(|c| bind_plain(session, scope, c)).transpose()?;
    condition.iter_mut().for_each(|condition| make_ready(condition, session));
    let (mut order, limit) = bind_order(session, scope, &clauses)?;
    let mut conditions = Vec::new();
    if let Some(condition) = condition {
        conjuncts(condition, &mut conditions);
        read_hidden_columns(&table.def, 0, &mut conditions, &session.env, &session.host);
    }
    let request = request(session, table, hinted);
    let choice = access::choose(&request, &conditions, &SlotSet::default());
    let mut path = in_own_order(choice.path, table);
    let mut gather = !order.is_empty();
    if limit.is_some()
        && let Some(ordered) = path_of_order(table, &path, &order, hinted)
    {
        // The scan stops at the limit. Backward it locks what it finds, as gathering does.
        gather = ordered.backward;
        (path, order) = (ordered, Vec::new());
    }
    let exprs = conditions.iter().chain(order.iter().map(|(expr, _)| expr));
    let looks_at = exprs.fold(SlotSet::default(), |all, expr| all.union(&slots_of(expr).slots));
    let looks_at = (0..table.def.columns.len()).filter(|c| looks_at.contains(*c)).collect();
    let filter = conditions.into_iter().zip(choice.covered).collect();
    Ok(ChangePlan {
        table: table.clone(),
        path,
        filter,
        rewriting: None,
        order,
        looks_at,
        limit,
        ignore: false,
        gather,
        fills,
        views: Vec::new(),
    })
}

/// What a path to rows that are changed is asked for. All columns count as needed, since the whole
/// clustered row is read and changed.
fn request<'r>(
    session: &'r SessionContext,
    table: &'r Arc<Table>,
    hinted: Option<&'r HintedIndexes>,
) -> access::Request<'r> {
    access::Request {
        table,
        base: 0,
        needed: vec![true; table.def.columns.len()],
        allowed: hinted.and_then(|hinted| hinted.lookup.as_ref()),
        hinted,
        measure: None,
        scan_cost: 1.0,
        extremes: false,
        merging: MergeRules {
            settings: Some(EvalSettings { env: &session.env, host: session }),
            hinted: hinted.and_then(|hinted| hinted.merge.as_ref()),
            locks: true,
            limit: None,
        },
    }
}

/// The path; where it reads the whole table, that reads the rows in their own order.
fn in_own_order(path: AccessPath, table: &Table) -> AccessPath {
    if !path.is_unbounded() || !path.covering {
        return path;
    }
    AccessPath {
        partitions: path.partitions,
        ..AccessPath::all(table.def.clustered_index().is_some())
    }
}

/// ORDER BY and LIMIT.
fn bind_order(
    session: &SessionContext,
    scope: &mut TableScope<'_>,
    clauses: &Clauses<'_>,
) -> Result<(Vec<(Expr, bool)>, Option<Expr>), SqlError> {
    scope.clause = "order clause";
    let mut order = Vec::with_capacity(clauses.order_by.len());
    for item in clauses.order_by {
        order.push((sort_key(bind_plain(session, scope, &item.expr)?), item.desc));
    }
    // A name in LIMIT could only be a variable of a stored routine.
    if let Some(ast::Expr::Column(name)) = clauses.limit.map(|limit| &limit.count) {
        return Err(SqlError::new(ErrorCode::SpUndeclaredVar, &[&name.name]));
    }
    let bound = |limit: &ast::Limit| {
        let binder = Binder { scope, env: &session.env, host: session };
        binder.demand(&limit.count, ParamType::UInt, ParamUse::Counted);
        bind_plain(session, scope, &limit.count)
    };
    let limit = clauses.limit.map(bound).transpose()?;
    Ok((order, limit))
}

/// The path, or the one over the primary key, where its rows come in the order of ORDER BY.
fn path_of_order(
    table: &Table,
    path: &AccessPath,
    order: &[(Expr, bool)],
    hinted: Option<&HintedIndexes>,
) -> Option<AccessPath> {
    if order.is_empty() || table.def.partitioning.is_some() {
        return None;
    }
    let column = |(expr, descending): &(Expr, bool)| match expr.kind {
        ExprKind::Column { index, .. } => Some((index, *descending)),
        _ => None,
    };
    let keys = order.iter().map(column).collect::<Option<Vec<OrderKey>>>()?;
    let needed = vec![true; table.def.columns.len()];
    let wanted = Wanted { keys: &keys, limit: None, filtered: false, hinted };
    path_in_order(table, &needed, path, wanted)
}

/// Makes a condition ready: patterns of LIKE, and what is known of parameters.
fn make_ready(condition: &mut Expr, session: &SessionContext) {
    compile_patterns(condition, session);
    note_params(condition, session);
}

/// Compiles the patterns of LIKE, by whose prefixes an index finds rows.
fn compile_patterns(condition: &mut Expr, session: &SessionContext) {
    let mut has_pattern = false;
    condition.walk(&mut |node| has_pattern |= matches!(node.kind, ExprKind::Like(_)));
    if has_pattern {
        let mut scratch = EvalContext::new(&session.env, session, &NoSubqueries, &[]);
        prepare(condition, &mut scratch);
    }
}

/// Whether the assignments change the order of what is scanned.
fn moves_rows(plan: &ChangePlan, rewriting: &Rewriting) -> bool {
    let def = &plan.table.def;
    let merged = plan.path.merge().into_iter().flat_map(|merge| &merge.parts);
    let paths = std::iter::once(&plan.path).chain(merged);
    let scanned = paths.filter_map(|path| path.index).map(|at| &def.indexes[at]);
    let indexes = scanned.chain(def.clustered_index());
    let divides = def.partitioning.iter().flat_map(|by| by.divisions());
    let divides = divides.flat_map(|division| &division.columns);
    if divides.filter_map(|name| def.column(name)).any(|column| rewriting.may_write(column)) {
        return true;
    }
    indexes.flat_map(|index| &index.parts).any(|part| rewriting.may_write(part.column))
}

/// The lock request of statements that are about to change rows.
pub(super) fn exclusive_request() -> LockRequest {
    LockRequest { mode: LockMode::Exclusive, wait: WaitPolicy::Wait }
}

/// Error 1175: `sql_safe_updates` refuses statements that no key leads to their rows.
pub(super) fn refuse_without_key(session: &SessionContext) -> Result<(), SqlError> {
    match session.flag("sql_safe_updates") {
        true => Err(SqlError::new(ErrorCode::UpdateWithoutKeyInSafeMode, &[&""])),
        false => Ok(()),
    }
}

/// The indexes that hints leave of a table that rows are changed in; error 1176.
fn hinted_indexes(
    session: &SessionContext,
    table: &Table,
    factor: &ast::TableFactor,
    block: Option<&ast::HintedBlock>,
) -> Result<Option<HintedIndexes>, SqlError> {
    let alias = factor.alias.as_ref().unwrap_or(&factor.name.name);
    let hints = block.and_then(ast::HintedBlock::hints).and_then(|hints| hints.table(alias));
    let invisible = || {
        let settings = EvalSettings { env: &session.env, host: session };
        access::is_switched_on(settings, "use_invisible_indexes")
    };
    HintedIndexes::of(&table.def, &factor.hints, hints, invisible)
}
