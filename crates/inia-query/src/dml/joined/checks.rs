//! WITH CHECK OPTION of views whose rows an UPDATE of joins changes.
//!
//! A condition is bound over the table that changes. Columns of other tables come from the query's
//! row, behind the assigned values, and are read as columns of an inserted row are.

use super::{TargetTable, item};
use crate::bind::{BesideSource, InsertSource, InsertedNames};
use crate::context::SessionContext;
use crate::dml::returning::Returning;
use crate::dml::view::{Guard, RowCheck};
use crate::plan::{OutputColumn, StatementPlan};
use crate::planner::{plan_insert_queries, plan_source};
use crate::referenced::ReferencedObjects;
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_expr::EvalContext;
use inia_parser::ast::{self, ColumnName, TableRef};

/// Columns of tables beside the one that changes, each with its place in the query's rows.
pub(super) type Beside = Vec<(ColumnName, usize)>;

/// Selects what checks read of other tables.
pub(super) fn columns_beside(guard: &Guard, items: &mut Vec<ast::SelectItem>) -> Beside {
    let mut beside: Beside = Vec::new();
    for check in guard.checks() {
        let mut reads = ReferencedObjects::default();
        reads.exprs([&check.condition]);
        for name in reads.columns {
            let other = name.db.is_none() && name.table.as_ref() != Some(&check.table);
            let inside =
                reads.aliases.iter().flatten().any(|own| Some(*own) == name.table.as_deref());
            if other && !inside && !beside.iter().any(|(known, _)| known == name) {
                beside.push((name.clone(), items.len()));
                items.push(item(ast::Expr::Column(name.clone())));
            }
        }
    }
    beside
}

/// `SELECT condition FROM table`.
fn over_target(check: &RowCheck, target: &TargetTable) -> ast::Query {
    let def = &target.table.def;
    let name = ast::ObjectName { db: Some(def.schema.clone()), name: def.name.clone() };
    let alias = Some(check.table.clone());
    let factor = ast::TableFactor { name, partitions: Vec::new(), alias, hints: Vec::new() };
    let select = ast::Select {
        items: vec![item(check.condition.clone())],
        from: vec![TableRef::Table(Box::new(factor))],
        ..ast::Select::default()
    };
    ast::Query::new(ast::QueryBody::Select(Box::new(select)))
}

/// Plans the query and RETURNING, and gives each named target its checks.
pub(super) fn plan(
    session: &SessionContext,
    query: ast::Query,
    (guard, beside): (&Guard, &Beside),
    mut targets: Vec<(&str, &mut TargetTable)>,
    returning: Option<ast::Query>,
) -> Result<(StatementPlan, Option<Box<Returning>>), SqlError> {
    if guard.checks().is_empty() && returning.is_none() {
        return Ok((plan_source(session, &query)?, None));
    }
    let mut lists = Vec::new();
    for check in guard.checks() {
        let target = targets.iter().find(|(alias, _)| *alias == check.table);
        lists.extend(target.map(|(_, target)| over_target(check, target)));
    }
    let names = |columns: &[OutputColumn]| {
        let selected = beside.iter().filter_map(|(name, place)| {
            Some((name.clone(), *place, columns.get(*place)?.ty.clone()))
        });
        InsertedNames { alias: None, selected: selected.collect() }
    };
    let source = InsertSource::new(query, &[], Vec::new());
    let others = BesideSource { lists, values: 0, sets_variables: false, returning };
    let mut bound = plan_insert_queries(session, Some(&source), &others, &names)?;
    let returning = Returning::of(&mut bound);
    let mut conditions = bound.beside.into_iter();
    for check in guard.checks() {
        let Some((_, target)) = targets.iter_mut().find(|(alias, _)| *alias == check.table) else {
            continue;
        };
        let condition = conditions.next().and_then(|list| list.into_iter().next());
        target.checks.extend(condition.map(|condition| (condition, check.refused.clone())));
    }
    Ok((bound.plan, returning))
}

impl TargetTable {
    /// Error 3819 where a new row violates a CHECK constraint, 1369 where a view's.
    pub(super) fn check(
        &self,
        new: &[Value],
        tuple: &[Value],
        ctx: &mut EvalContext<'_>,
    ) -> Result<(), SqlError> {
        self.fills.check(new, ctx)?;
        if self.checks.is_empty() {
            return Ok(());
        }
        ctx.inserting = tuple.to_vec();
        for (condition, refused) in &self.checks {
            if condition.eval_bool(ctx, new)? != Some(true) {
                return Err(refused.clone());
            }
        }
        Ok(())
    }
}
