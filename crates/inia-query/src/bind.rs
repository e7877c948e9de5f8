//! Binding of queries: from the syntax tree to a [`StatementPlan`].
//!
//! Each SELECT is a *level* on a stack. A name is looked up in the innermost level first; found
//! further out, it becomes an outer column, and the subquery that reads it is correlated.
//! Subqueries, derived tables and common table expressions become numbered subplans of the plan.
//!
//! Example: in `SELECT x FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.y = a.x)` the subquery is
//! subplan 0, bound at level 1; `a.x` is found at level 0, so it is an outer column of depth 1 and
//! subplan 0 is correlated.

mod arrays;
mod dependent;
mod derived;
mod described;
mod determined;
mod dictionary;
mod enclosing;
mod facts;
mod fixed_columns;
mod from;
mod functional;
mod grouping;
mod having;
mod hints;
mod inserted;
mod is_null;
mod json_condition;
mod json_table;
mod kept;
mod merge;
mod namespace;
mod nesting;
mod order;
mod origin;
mod query;
mod reduce;
mod rollup;
mod scope;
mod search;
mod select;
pub mod table_scope;
mod unnest;
mod window;

pub(crate) use from::{ROW_ID, visible_after};
pub(crate) use functional::read_hidden_columns;
pub(crate) use inserted::{BesideSource, BoundInsert, InsertSource, InsertedNames};
pub(crate) use inserted::{bind_insert, plain_select};
pub(crate) use is_null::{Never, meant, plainly};
pub(crate) use merge::is_varying;
pub(crate) use namespace::{FromColumn, FromTable, Namespace, OWN_NAME};
pub(crate) use select::item_name;

use crate::catalog::{CatalogVersion, Table, View};
use crate::plan::window::WindowPlan;
use crate::plan::{Body, Said, StatementPlan, Subplan, ViewUse, VirtualTable, result_columns};
use crate::referenced::ReferencedObjects;
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::SlotSet;
use inia_expr::aggregate::Aggregate;
use inia_expr::bind::BoundSubquery;
use inia_expr::{
    Environment, EvalContext, Expr, ExprType, Level as WarningLevel, NoSubqueries, SessionHost,
    Warning, prepare, prepare_operand,
};
use inia_parser::ast;
use inia_storage::LockRequest;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

type Result<T> = std::result::Result<T, SqlError>;

/// Finds tables that the server computes.
pub(crate) trait VirtualTables {
    /// The computed table of that name, if there is one.
    fn find(&self, schema: &str, name: &str) -> Option<Arc<dyn VirtualTable>>;
}

/// What a query is bound against.
pub(crate) struct BindContext<'c> {
    /// The catalog's version with the session's temporary tables.
    pub(crate) catalog: &'c CatalogVersion,
    /// The same without them, as views see it.
    pub(crate) stored: &'c CatalogVersion,
    /// The current database.
    pub(crate) database: Option<&'c str>,
    /// The session's settings.
    pub(crate) env: &'c Environment,
    /// The session's variables.
    pub(crate) host: &'c dyn SessionHost,
    /// Computed tables.
    pub(crate) virtuals: &'c dyn VirtualTables,
    /// The lock that plain reads take (SERIALIZABLE).
    pub(crate) plain_lock: Option<LockRequest>,
}

/// Those of the outermost FROM's tables that FOR UPDATE is about.
fn for_update(
    query: &ast::Query,
    context: &BindContext<'_>,
    tables: &[Arc<Table>],
) -> Vec<Arc<Table>> {
    let mut reads = ReferencedObjects::passing_over_derived();
    if let ast::QueryBody::Select(select) = &query.body {
        select.from.iter().for_each(|table| reads.table_ref(table));
    }
    let is_meant = |name: &ast::ObjectName, alias: Option<&str>| {
        query.locking.iter().any(|clause| {
            let known = |of: &ast::ObjectName| of.name == alias.unwrap_or(&name.name);
            clause.strength == ast::LockStrength::Update
                && (clause.of.is_empty() || clause.of.iter().any(known))
        })
    };
    let named = reads.tables.iter().zip(&reads.aliases);
    let meant: Vec<_> = named.filter(|(name, alias)| is_meant(name, **alias)).collect();
    let is_one = |table: &&Arc<Table>| {
        meant.iter().any(|(name, _)| {
            let schema = name.db.as_deref().or(context.database);
            name.name == table.def.name && schema == Some(table.def.schema.as_str())
        })
    };
    tables.iter().filter(is_one).cloned().collect()
}

/// Binds and plans a query.
pub(crate) fn bind_query(query: &ast::Query, context: &BindContext<'_>) -> Result<StatementPlan> {
    bind_outermost(query, false, context)
}

/// As [`bind_query`], of a query whose values are stored: they keep digits that are not shown.
pub(crate) fn bind_source(query: &ast::Query, context: &BindContext<'_>) -> Result<StatementPlan> {
    bind_outermost(query, true, context)
}

fn bind_outermost(
    query: &ast::Query,
    keeps_digits: bool,
    context: &BindContext<'_>,
) -> Result<StatementPlan> {
    let mut binder = QueryBinder::new(context);
    let usage = QueryUse { keeps_digits, sent: !keeps_digits, ..QueryUse::default() };
    let root = binder.query(query, usage)?;
    let strengths = query.locking.iter().map(|clause| clause.strength);
    let exclusive = strengths.into_iter().any(|strength| strength == ast::LockStrength::Update);
    let mut plan = binder.finish(root, exclusive);
    if exclusive {
        plan.updates = for_update(query, context, &plan.tables);
    }
    plan.debug_check();
    Ok(plan)
}

/// One SELECT that is being bound.
///
/// Wide: one field for each clause that is bound so far.
#[derive(Default)]
struct Level {
    /// The number of the SELECT in the order of the statement's text; 0 in a view.
    number: usize,
    /// The names of the members of FROM that are bound so far.
    namespace: Namespace,
    /// The stored tables of FROM, with the slots of their rows.
    stored: Vec<(std::ops::Range<usize>, Arc<Table>)>,
    /// Whether queries inside may see those names now.
    open: bool,
    /// Slots that queries inside read.
    read_by_parts: SlotSet,
    /// Those that the subquery being bound reads for each row, not for an aggregate of this SELECT.
    loose: Vec<usize>,
    /// The WINDOW clause.
    named_windows: Vec<(String, ast::WindowSpec)>,
    /// Functions over windows so far.
    windows: Vec<WindowPlan>,
    /// Slots of FROM, once that is bound.
    width: usize,
    /// The items of the select list that are bound so far: queries inside may name them.
    items: Vec<scope::ScopeItem>,
    /// Aggregates so far, those of queries inside that belong here included.
    aggregates: Vec<Aggregate>,
    /// Aggregates that queries inside read, by number; each has a slot behind those of FROM.
    shown: Vec<usize>,
    /// Whether an aggregate may belong to this SELECT where one is being bound now.
    takes_aggregates: bool,
    /// Its rows are rolled up: a constant that it groups by is NULL in some of them.
    rollup: bool,
    /// Its FROM reads the recursive common table expression that it is an operand of.
    recurs: bool,
    /// What it selects is computed with and not shown: quotients and averages keep all digits.
    keeps_digits: bool,
}

/// What the rows of a query are used for.
///
/// Wide: one field for each use.
#[derive(Clone, Copy, Default)]
struct QueryUse {
    /// Its quotients and averages keep all digits: the enclosing query computes with them.
    keeps_digits: bool,
    /// Only the set of its rows matters, as for IN and EXISTS.
    tested: bool,
    /// It is a subquery of an expression, so that its bound form is kept.
    nested: bool,
    /// It is a derived table, so that its bound form is kept.
    derived: bool,
    /// It is the statement itself, and its rows go to the client as they are.
    sent: bool,
    /// No more rows than these are read (LIMIT).
    limit: Option<u64>,
}

/// A common table expression in scope.
#[derive(Clone)]
struct CteBinding {
    name: String,
    subplan: usize,
    /// How many levels enclose its definition.
    level: usize,
    /// How many SELECTs are in one another in it.
    height: usize,
    columns: Vec<(String, ExprType)>,
    /// What is wrong with it; a query that reads it fails with this error.
    wrong: Option<SqlError>,
    /// While its recursive operand is being bound, how many derived tables and common table
    /// expressions are around that.
    recurs: Option<usize>,
}

/// Binds one statement's queries.
///
/// Wide: one field for each part of the plan that is being made.
struct QueryBinder<'c> {
    context: &'c BindContext<'c>,
    /// Subplans by number; `None` while a subplan is being bound.
    subplans: Vec<Option<Subplan>>,
    tables: Vec<Arc<Table>>,
    /// Temporary tables and the names they are read by: each can be read once.
    temporary: Vec<(Arc<Table>, String)>,
    levels: Vec<Level>,
    /// SELECTs and set operations of the statement's text so far.
    numbers: usize,
    /// Levels from this one on are inside the innermost derived table or common table expression:
    /// it knows no items of the select lists around it.
    inside: usize,
    /// How many of those are in one another.
    insides: usize,
    ctes: Vec<CteBinding>,
    /// The outermost level that was read since the innermost subplan began.
    reached: usize,
    /// Views that the statement reads.
    views: Vec<ViewUse>,
    /// Views that are being bound, each inside the one before it.
    open_views: Vec<Arc<View>>,
    nesting: nesting::Nesting,
    /// For each subquery, by its number, what it reads loosely of the SELECT that it is part of.
    loose_reads: HashMap<usize, Vec<usize>>,
    /// The bound form of the subquery that was bound last, where it may be unnested.
    kept: Option<unnest::BoundNested>,
    /// The same for each subquery, by its number.
    nested: HashMap<usize, unnest::BoundNested>,
    /// The bound form of the query that was bound last, where it may be planned again.
    block: Option<derived::BoundBlock>,
    /// The same for each derived table, by its number.
    blocks: HashMap<usize, derived::BoundBlock>,
    /// What the columns of the SELECT that was bound last determine.
    determined: Option<Arc<determined::DerivedColumns>>,
    /// The same for each derived table and common table expression, by its number.
    determined_of: HashMap<usize, Arc<determined::DerivedColumns>>,
    /// The names of the row that INSERT tried to insert, in ON DUPLICATE KEY UPDATE.
    inserted: Option<InsertedNames>,
    /// User variables get other values for each row: no subquery that reads one keeps its result.
    sets_variables: bool,
    /// Full-text searches, by number.
    searches: Vec<search::BoundSearch>,
    /// What the statement is warned of each time it runs.
    warnings: Vec<Warning>,
    /// A date in it that is none.
    wrong: Option<SqlError>,
    /// What subqueries read beside their groups.
    ungrouped: select::Ungrouped,
    /// `optimizer_switch`, once anything has asked.
    switches: OnceCell<String>,
}

impl<'c> QueryBinder<'c> {
    fn new(context: &'c BindContext<'c>) -> QueryBinder<'c> {
        QueryBinder {
            context,
            subplans: Vec::new(),
            tables: Vec::new(),
            temporary: Vec::new(),
            levels: Vec::new(),
            numbers: 0,
            inside: 0,
            insides: 0,
            ctes: Vec::new(),
            reached: usize::MAX,
            views: Vec::new(),
            open_views: Vec::new(),
            nesting: nesting::Nesting::default(),
            loose_reads: HashMap::new(),
            kept: None,
            nested: HashMap::new(),
            block: None,
            blocks: HashMap::new(),
            determined: None,
            determined_of: HashMap::new(),
            inserted: None,
            sets_variables: false,
            searches: Vec::new(),
            warnings: Vec::new(),
            wrong: None,
            ungrouped: select::Ungrouped::default(),
            switches: OnceCell::new(),
        }
    }

    fn finish(self, mut root: crate::plan::QueryPlan, exclusive: bool) -> StatementPlan {
        if let Body::Values(values) = &mut root.body {
            values.as_written = true;
        }
        let subplans =
            self.subplans.into_iter().map(|subplan| subplan.expect("every subplan was bound"));
        let columns = result_columns(&root.columns);
        let subplans: Vec<_> = subplans.collect();
        let counts = crate::plan::counts_of(&root, &subplans);
        let (tables, views) = (self.tables, self.views);
        let direct = crate::optimize::direct(&root);
        let updates = Vec::new();
        let said = Said { warnings: self.warnings, wrong: self.wrong };
        debug_assert!(self.levels.is_empty(), "every SELECT has been left");
        debug_assert!(self.insides == 0 && self.open_views.is_empty(), "so has every view");
        let searches = self.searches.into_iter().map(|bound| bound.search).collect();
        StatementPlan {
            root,
            columns,
            direct,
            subplans,
            searches,
            tables,
            views,
            exclusive,
            updates,
            said,
            counts,
        }
    }
}

/// Whether a query has a user variable, at any depth.
fn reads_user_variable(query: &ast::Query) -> bool {
    let mut found = false;
    query.clone().for_each_expr_mut(&mut |expr| found |= has_user_variable(expr));
    found
}

fn has_user_variable(expr: &ast::Expr) -> bool {
    let inside = match expr {
        ast::Expr::UserVar(_) => true,
        ast::Expr::Subquery(query)
        | ast::Expr::Exists(query)
        | ast::Expr::InSubquery { query, .. }
        | ast::Expr::Quantified { query, .. } => reads_user_variable(query),
        _ => false,
    };
    let mut found = inside;
    expr.for_each_child(&mut |child| found = found || has_user_variable(child));
    found
}

impl QueryUse {
    /// As a derived table.
    fn derived() -> QueryUse {
        QueryUse { derived: true, ..QueryUse::default() }
    }
}

impl<'c> QueryBinder<'c> {
    /// Warning 1052: a name stands for a column, and a select item goes by it too.
    fn warn_ambiguous(&mut self, name: &ast::ColumnName, clause: &str) {
        let code = ErrorCode::NonUniqueColumn;
        let error = SqlError::new(code, &[&namespace::full_name(name), &clause]);
        self.warnings.push(Warning::of(WarningLevel::Warning, error));
    }

    /// Binds a query as a subplan; returns its number, its columns and whether it is correlated.
    fn subplan(&mut self, query: &ast::Query, usage: QueryUse) -> Result<(usize, bool)> {
        let id = self.reserve_subplan();
        let enclosing = std::mem::replace(&mut self.reached, usize::MAX);
        let bound = self.query(query, usage);
        debug_assert!(self.subplans[id].is_none(), "a subplan is bound once");
        let correlated = self.reached < self.levels.len();
        self.reached = self.reached.min(enclosing);
        self.subplans[id] =
            Some(Subplan { query: bound?, correlated, recursive: None, asked: false });
        Ok((id, correlated))
    }

    /// Runs `work` inside a derived table of the innermost level's FROM, or a common table
    /// expression.
    fn inside<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let around = std::mem::replace(&mut self.inside, self.levels.len());
        self.insides += 1;
        let depth = self.levels.len();
        let outcome = work(self);
        debug_assert_eq!(self.levels.len(), depth, "each SELECT leaves its level");
        self.insides -= 1;
        self.inside = around;
        outcome
    }

    /// The catalog where names are being looked up now.
    fn catalog(&self) -> &'c CatalogVersion {
        match self.open_views.is_empty() {
            true => self.context.catalog,
            false => self.context.stored,
        }
    }

    /// Binds a subquery of an expression.
    fn subquery(&mut self, query: &ast::Query, tested: bool) -> Result<BoundSubquery> {
        let around = self.levels.last_mut().map(|level| std::mem::take(&mut level.loose));
        let usage = QueryUse { keeps_digits: true, tested, nested: true, ..QueryUse::default() };
        let (id, mut correlated) =
            self.with_deferred_checks(|binder| binder.subplan(query, usage))?;
        if self.sets_variables
            && !correlated
            && reads_user_variable(query)
            && let Some(subplan) = &mut self.subplans[id]
        {
            correlated = true;
            subplan.correlated = true;
        }
        if let Some(nested) = self.kept.take() {
            self.nested.insert(id, nested);
        }
        if let (Some(around), Some(level)) = (around, self.levels.last_mut()) {
            let loose = std::mem::replace(&mut level.loose, around);
            self.loose_reads.insert(id, loose);
        }
        let columns = self.subplan_columns(id).iter().map(|c| c.ty.clone()).collect();
        let certain = self.subplans[id].as_ref().is_some_and(|subplan| subplan.query.is_certain());
        let compared = self.compares_rows(query);
        Ok(BoundSubquery { id, columns, correlated, certain, compared })
    }

    fn reserve_subplan(&mut self) -> usize {
        let id = self.subplans.len();
        self.subplans.push(None);
        // The number may have been that of a subplan that was dropped.
        self.nested.remove(&id);
        self.blocks.remove(&id);
        id
    }

    /// Computes what is constant in a bound expression.
    fn prepare(&self, expr: &mut Expr, keeps_digits: bool) {
        let mut scratch = EvalContext::new(self.context.env, self.context.host, &NoSubqueries, &[]);
        match keeps_digits {
            true => prepare_operand(expr, &mut scratch),
            false => prepare(expr, &mut scratch),
        }
    }

    /// The columns of a bound subplan.
    fn subplan_columns(&self, id: usize) -> &[crate::plan::OutputColumn] {
        self.subplans[id].as_ref().map_or(&[], |subplan| &subplan.query.columns)
    }
}
