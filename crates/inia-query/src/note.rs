//! The statement as it was resolved and rewritten: note 1003 of EXPLAIN.
//!
//! The text is MySQL's, so what is rewritten is the syntax tree, in MySQL's steps, and the printer
//! is that of SHOW CREATE VIEW:
//!
//! 1. [`unfold`]: common table expressions and views that are merged stand where they are read;
//!    SELECTs get their numbers.
//! 2. [`Resolver`]: every name is resolved.
//! 3. [`merge`]: derived tables go into the SELECT around them where that is possible.
//! 4. [`joins`]: FROM becomes a list of joins, IN and EXISTS semi and anti joins, and outer joins
//!    inner ones where WHERE drops their rows of NULLs.
//! 5. [`equal`]: columns that are equal in all rows are compared with the first of them that is
//!    read, or with their constant. Tables of which a key finds one row are read: their columns are
//!    values ([`constant`]).
//! 6. [`fold`]: constants beside columns take the column's type; others are computed once.
//!
//! Example: `SELECT x.a FROM x JOIN y ON x.a = y.a WHERE y.a > '3' AND 1` becomes
//! ``/* select#1 */ select `d`.`x`.`a` AS `a` from `d`.`x` join `d`.`y` where ((`d`.`x`.`a` =
//! `d`.`y`.`a`) and (`d`.`y`.`a` > 3))`` where `y` is read first.
//!
//! The order of tables is that of Inia's plan. Nothing of this is done outside of EXPLAIN and the
//! optimizer's trace.

mod block;
mod change;
mod condition;
mod constant;
mod equal;
mod fold;
mod joins;
mod merge;
mod order;
mod pushed;
mod remarks;
mod rollup;
mod subquery;
mod truth;
mod types;
mod unfold;
mod unusable;

use crate::catalog::CatalogVersion;
use crate::context::SessionContext;
use crate::explain::TracedTexts;
use crate::plan::StatementPlan;
use crate::view::Resolver;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::{Level, Warning};
use inia_parser::ast::{self, Statement};
use inia_parser::{unparse_explained, unparse_traced, unparse_traced_condition};
use order::ReadOrder;
use remarks::Remarks;
pub(crate) use remarks::VALUES_DEPRECATED;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use types::TableTypes;

/// What the notes of a statement are.
#[derive(Default)]
pub struct Notes {
    /// The notes before the text: references to enclosing SELECTs, and SELECTs that vanished.
    pub before: Vec<Warning>,
    /// A function over a window is in it.
    pub windows: bool,
    /// The statement as it was rewritten; `None` where it has no text.
    pub text: Option<String>,
    /// Error 1292 of a change in strict mode: a number is compared with a text that is none.
    pub wrong: Option<SqlError>,
    /// Why a SELECT has no rows, where that is known once the rows that keys find are read.
    pub no_rows: Option<&'static str>,
    /// What was read of the rows that keys find.
    pub found: Vec<FoundValue>,
}

/// A column of a row that was read while a statement was explained.
#[derive(Clone, Debug)]
pub struct FoundValue {
    /// The name by which its table goes.
    pub table: String,
    /// The column's name.
    pub column: String,
    /// Its text; `None` for NULL.
    pub value: Option<String>,
}

impl Notes {
    /// All of them as warnings, note 1003 last.
    pub fn warnings(self) -> impl Iterator<Item = Warning> {
        let text = self.text.map(|text| note(ErrorCode::Yes, text));
        self.before.into_iter().chain(text)
    }
}

fn note(code: ErrorCode, message: String) -> Warning {
    Warning::of(Level::Note, SqlError { message, ..SqlError::new(code, &[]) })
}

/// The notes of a query or a change of rows that has been planned. `plans` are the plans of its
/// queries, `params` the values of a prepared statement's parameters.
pub fn notes_of(
    session: &SessionContext,
    statement: &Statement,
    plans: &[&StatementPlan],
    params: &[Value],
) -> Notes {
    let mut notes = Notes::default();
    let catalog = session.catalog_view();
    let mut rewriter = Rewriter::new(session, &catalog, ReadOrder::of(plans), params);
    let text = rewriter.statement(statement);
    let strict = session.env.sql_mode.is_strict() && changes_strictly(statement);
    notes.wrong = rewriter.said.wrong_text().filter(|_| strict);
    notes.before = std::mem::take(&mut rewriter.said).all();
    notes.windows = rewriter.order.windows;
    notes.no_rows = rewriter.no_rows.get();
    notes.found = rewriter.found.take();
    let hints = shown_hints(session);
    notes.text = text.as_ref().and_then(|text| unparse_explained(text, hints));
    notes
}

/// Whether a statement is a change without IGNORE.
fn changes_strictly(statement: &Statement) -> bool {
    match statement {
        Statement::Insert(insert) => !insert.ignore,
        Statement::Update(update) => !update.ignore,
        Statement::Delete(delete) => !delete.ignore,
        _ => false,
    }
}

/// The hints that the session has taken for the statement.
fn shown_hints(session: &SessionContext) -> Vec<String> {
    let limit = session.hinted_time.map(|limit| format!("MAX_EXECUTION_TIME({limit})"));
    limit.into_iter().chain(session.hinted_values.iter().cloned()).collect()
}

/// What the optimizer's trace shows of a statement that has been planned.
pub fn traced_texts(
    session: &SessionContext,
    statement: &Statement,
    plans: &[&StatementPlan],
) -> TracedTexts {
    let catalog = session.catalog_view();
    let mut rewriter = Rewriter::new(session, &catalog, ReadOrder::of(plans), &[]);
    let rewritten = rewriter.statement(statement);
    let mut texts = std::mem::take(&mut rewriter.traced);
    if texts.expanded.is_none() {
        texts.expanded = rewritten.as_ref().and_then(unparse_traced);
    }
    texts.rewritten = match &rewritten {
        Some(Statement::Select(query)) => condition_of(query),
        _ => None,
    };
    texts
}

/// WHERE of a query's outermost SELECT.
fn condition_of(query: &ast::Query) -> Option<String> {
    match &query.body {
        ast::QueryBody::Select(select) => select.where_.as_ref().and_then(unparse_traced_condition),
        _ => None,
    }
}

/// Rewrites one statement.
///
/// Wide: one field for each thing that is known of the statement.
struct Rewriter<'n> {
    session: &'n SessionContext,
    catalog: &'n CatalogVersion,
    order: ReadOrder,
    params: &'n [Value],
    types: TableTypes,
    /// How often each common table expression is read.
    uses: HashMap<String, usize>,
    /// The tables of the SELECT in hand that rows of NULLs stand for.
    nullable: Vec<order::Key>,
    said: Remarks,
    /// Subqueries that are joined and materialized.
    made: Vec<subquery::Made>,
    /// The common table expressions that are printed before a query.
    printed: Vec<ast::Cte>,
    /// The names of the tables that were merged.
    merged: RefCell<Vec<String>>,
    /// What the trace shows of the query as it was resolved.
    traced: TracedTexts,
    /// Why a SELECT has no rows.
    no_rows: Cell<Option<&'static str>>,
    /// What was read of the rows that keys find.
    found: RefCell<Vec<FoundValue>>,
}

impl<'n> Rewriter<'n> {
    fn new(
        session: &'n SessionContext,
        catalog: &'n CatalogVersion,
        order: ReadOrder,
        params: &'n [Value],
    ) -> Rewriter<'n> {
        Rewriter {
            session,
            catalog,
            order,
            params,
            types: TableTypes::default(),
            uses: HashMap::new(),
            nullable: Vec::new(),
            said: Remarks::default(),
            made: Vec::new(),
            printed: Vec::new(),
            merged: RefCell::new(Vec::new()),
            traced: TracedTexts::default(),
            no_rows: Cell::new(None),
            found: RefCell::default(),
        }
    }

    fn statement(&mut self, statement: &Statement) -> Option<Statement> {
        match statement {
            Statement::Select(query) => {
                let query = self.whole_query((**query).clone());
                Some(Statement::Select(Box::new(query)))
            }
            other => self.change(other),
        }
    }

    /// A query that stands for itself.
    fn whole_query(&mut self, mut query: ast::Query) -> ast::Query {
        let mut unfolder =
            unfold::Unfolder::new(self.session, self.catalog, &self.order, self.params);
        unfolder.query(&mut query, 0);
        unfolder.give_hints(&mut query.body);
        self.said.append(std::mem::take(&mut unfolder.said));
        let uses = std::mem::take(&mut unfolder.uses);
        self.uses.extend(uses);
        self.resolver().query(&mut query, true);
        self.outer_references(&query);
        if self.traced.expanded.is_none() {
            let mut query = query.clone();
            self.decide_outermost(&mut query);
            self.traced.condition = condition_of(&query);
            let statement = Statement::Select(Box::new(query));
            self.traced.expanded = unparse_traced(&statement);
        }
        self.query(&mut query);
        query
    }

    /// Leaves constants out of the outermost WHERE, as is done while names are resolved.
    fn decide_outermost(&self, query: &mut ast::Query) {
        if let ast::QueryBody::Select(select) = &mut query.body
            && let Some(condition) = select.where_.take()
        {
            let decided = self.decided(condition::normal(condition));
            select.where_ = Some(decided).filter(|decided| *decided != condition::truth(true));
        }
    }

    fn resolver(&self) -> Resolver<'n> {
        let mut resolver = Resolver::new(self.catalog, self.session.env.database.as_deref());
        resolver.explained = true;
        resolver
    }
}
