//! UPDATE and DELETE over joins or with subqueries.
//!
//! The statement becomes a locking query for the target tables' columns and the new values; its
//! rows are gathered, then each target row is changed once, found again by its primary key.
//!
//! Example: `UPDATE a JOIN b ON a.id = b.id SET a.x = b.y WHERE b.z > 5` reads
//! `SELECT a.id, a.x, …, b.y FROM a JOIN b ON a.id = b.id WHERE b.z > 5 FOR UPDATE OF a`.

mod checks;

use super::assign::{Nulls, touch};
use super::auto_increment;
use super::change::{exclusive_request, refuse_without_key};
use super::fill::{Fills, Given, stored};
use super::foreign::Foreign;
use super::returning::{Returned, Returning, over_table, refuse_several};
use super::text_keys::asks_keys_for_texts;
use super::view::Guard;
use super::write::{RowChange, RowWriter, Written, duplicate_error, values};
use super::{is_forgiven, placed};
use crate::bind::{OWN_NAME, ROW_ID};
use crate::catalog::{ColumnDef, Table, TableDef};
use crate::context::{SessionContext, TriggerRows};
use crate::context::{StatementOutcome, update_info};
use crate::error::StorageResult;
use crate::exec::Runner;
use crate::plan::{Body, RowSource, StatementPlan, TableSource};
use crate::row::Cell;
use crate::spill::TupleList;
use crate::status::Executed;
use inia_base::column::RowSink;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::sql_mode::SqlMode;
use inia_base::value::Value;
use inia_expr::{EvalContext, Expr, ExprType, Strictness};
use inia_parser::ast::{self, TableRef, TriggerEvent};
use inia_storage::Savepoint;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

/// One table whose rows change.
struct TargetTable {
    table: Arc<Table>,
    fills: Fills,
    /// Where its columns begin in the query's rows.
    base: usize,
    /// Assigned columns, each with the place of its value in the query's rows; `None` is DEFAULT.
    assignments: Vec<(usize, Option<usize>)>,
    /// WITH CHECK OPTION of a view: conditions on the new row, and on columns of other tables by
    /// their places in the query's rows.
    checks: Vec<(Expr, SqlError)>,
}

/// A planned UPDATE or DELETE.
pub struct JoinedPlan {
    targets: Vec<TargetTable>,
    /// The query whose rows say what changes.
    pub query: StatementPlan,
    delete: bool,
    ignore: bool,
    returning: Option<Box<Returning>>,
}

/// A member of FROM that can be a target.
struct Member {
    name: ast::ObjectName,
    alias: String,
    table: Arc<Table>,
}

/// The tables in FROM; names of WITH are none.
fn members(
    session: &SessionContext,
    with: Option<&ast::With>,
    refs: &[TableRef],
    out: &mut Vec<Member>,
) -> Result<(), SqlError> {
    let computed = |name: &ast::ObjectName| {
        let mut ctes = with.iter().flat_map(|with| &with.ctes);
        name.db.is_none() && ctes.any(|cte| cte.name == name.name)
    };
    for table in refs {
        match table {
            TableRef::Table(factor) if computed(&factor.name) => {}
            // Views in a join are read, not changed.
            TableRef::Table(factor) if is_view(session, &factor.name) => {}
            TableRef::Table(factor) => {
                let found = session.open_table(factor.name.db.as_deref(), &factor.name.name)?;
                let found = found.selecting(&factor.partitions)?;
                let alias = factor.alias.clone().unwrap_or_else(|| factor.name.name.clone());
                out.push(Member { name: factor.name.clone(), alias, table: found });
            }
            TableRef::Join(join) => {
                members(session, with, std::slice::from_ref(&join.left), out)?;
                members(session, with, std::slice::from_ref(&join.right), out)?;
            }
            TableRef::List(list) => members(session, with, list, out)?,
            TableRef::Derived(_) | TableRef::JsonTable(_) => {}
        }
    }
    Ok(())
}

/// Cuts the spaces that `PAD_CHAR_TO_FULL_LENGTH` puts behind the values of CHAR columns.
fn cut_chars(values: &mut [Value], def: &TableDef) {
    for (value, column) in values.iter_mut().zip(&def.columns) {
        if let (Value::Text(text), DataType::Char { .. }) = (value, &column.data_type) {
            text.truncate(text.trim_end_matches(' ').len());
        }
    }
}

fn is_view(session: &SessionContext, name: &ast::ObjectName) -> bool {
    let schema = name.db.as_deref().or(session.env.database.as_deref()).unwrap_or_default();
    session.is_view(schema, &name.name)
}

fn item(expr: ast::Expr) -> ast::SelectItem {
    ast::SelectItem::Expr { expr, alias: None, text: String::new() }
}

fn column_of(member: &Member, name: &str) -> ast::Expr {
    ast::Expr::Column(ast::ColumnName {
        db: None,
        table: Some(member.alias.clone()),
        name: name.to_owned(),
    })
}

/// Makes a target of a member; its columns go to the end of the select list.
fn target(
    session: &SessionContext,
    member: &Member,
    items: &mut Vec<ast::SelectItem>,
) -> Result<TargetTable, SqlError> {
    let base = items.len();
    let def = &member.table.def;
    let name = |column: &ColumnDef| match column.is_hidden() {
        true => format!("{OWN_NAME}{}", column.name),
        false => column.name.clone(),
    };
    items.extend(def.columns.iter().map(|column| item(column_of(member, &name(column)))));
    if def.clustered_index().is_none() {
        items.push(item(column_of(member, ROW_ID)));
    }
    let fills = Fills::compile(def, &session.env, &session.host)?;
    let table = member.table.clone();
    Ok(TargetTable { table, fills, base, assignments: Vec::new(), checks: Vec::new() })
}

/// Plans an UPDATE.
pub fn plan_joined_update(
    session: &SessionContext,
    update: &ast::Update,
    guard: Guard,
) -> Result<JoinedPlan, SqlError> {
    let mut all = Vec::new();
    members(session, update.with.as_ref(), &update.tables, &mut all)?;
    let (mut items, mut targets) = (Vec::new(), Vec::<(usize, TargetTable)>::new());
    let mut places = Vec::new();
    // A table becomes a target at its first assignment; its columns are selected in one piece.
    for assignment in &update.assignments {
        let (member, column) = assigned(session, &all, &assignment.column, &update.tables)?;
        let at = match targets.iter().position(|(of, _)| *of == member) {
            Some(at) => at,
            None => {
                targets.push((member, target(session, &all[member], &mut items)?));
                targets.len() - 1
            }
        };
        places.push((at, column));
    }
    // New values are columns of the same query, so all of them are computed before a row changes.
    for (assignment, (at, column)) in update.assignments.iter().zip(places) {
        let place = match &assignment.value {
            ast::Expr::Default => None,
            value => {
                items.push(item(value.clone()));
                Some(items.len() - 1)
            }
        };
        targets[at].1.assignments.push((column, place));
    }
    let beside = checks::columns_beside(&guard, &mut items);
    let aliases: Vec<String> = targets.iter().map(|(of, _)| all[*of].alias.clone()).collect();
    let (from, locked) = (update.tables.clone(), aliases.clone());
    let mut query = query(items, from, update.where_.clone(), locked, update.hints.clone());
    query.with = update.with.clone();
    query.order_by = update.order_by.clone();
    query.limit = update.limit.clone();
    let mut targets: Vec<TargetTable> = targets.into_iter().map(|(_, target)| target).collect();
    let returning = returning_of(&update.returning, &update.tables)?;
    let named = aliases.iter().map(String::as_str).zip(&mut targets).collect();
    let (mut query, returning) = checks::plan(session, query, (&guard, &beside), named, returning)?;
    query.views.extend(guard.views);
    Ok(JoinedPlan { targets, query, delete: false, ignore: update.ignore, returning })
}

/// Plans a DELETE.
pub fn plan_joined_delete(
    session: &SessionContext,
    delete: &ast::Delete,
    guard: Guard,
) -> Result<JoinedPlan, SqlError> {
    let (refs, names): (Vec<TableRef>, Vec<ast::ObjectName>) = match &delete.target {
        ast::DeleteTarget::Single(factor) => {
            let alias = factor.alias.clone().unwrap_or_else(|| factor.name.name.clone());
            (vec![TableRef::Table(factor.clone())], vec![ast::ObjectName::bare(alias)])
        }
        ast::DeleteTarget::Multi { targets, from } => (from.clone(), targets.clone()),
    };
    let mut all = Vec::new();
    members(session, delete.with.as_ref(), &refs, &mut all)?;
    let (mut items, mut targets, mut locked) = (Vec::new(), Vec::new(), Vec::new());
    for name in &names {
        let same = |member: &&Member| {
            member.alias == name.name && (name.db.is_none() || member.name.db == name.db)
        };
        let Some(member) = all.iter().find(same) else {
            if derived_names(session, &refs).contains(&name.name.as_str()) {
                return Err(SqlError::new(ErrorCode::NonUpdatableTable, &[&name.name, &"DELETE"]));
            }
            let args: [&dyn std::fmt::Display; 2] = [&name.name, &"MULTI DELETE"];
            return Err(SqlError::new(ErrorCode::UnknownTableInClause, &args));
        };
        targets.push(target(session, member, &mut items)?);
        locked.push(member.alias.clone());
    }
    let mut query = query(items, refs, delete.where_.clone(), locked, delete.hints.clone());
    query.with = delete.with.clone();
    query.order_by = delete.order_by.clone();
    query.limit = delete.limit.clone();
    let returning = match &delete.target {
        ast::DeleteTarget::Single(factor) => {
            over_table(&delete.returning, &factor.name, factor.alias.as_ref())
        }
        ast::DeleteTarget::Multi { .. } => None,
    };
    let parts = (&guard, &Vec::new());
    let (mut query, returning) = checks::plan(session, query, parts, Vec::new(), returning)?;
    query.views.extend(guard.views);
    Ok(JoinedPlan { targets, query, delete: true, ignore: delete.ignore, returning })
}

/// The names of derived tables and views, whose rows cannot be changed in a join.
fn derived_names<'r>(session: &SessionContext, refs: &'r [TableRef]) -> Vec<&'r str> {
    let mut names = Vec::new();
    for table in refs {
        match table {
            TableRef::Derived(derived) => names.push(derived.alias.as_str()),
            TableRef::Join(join) => {
                names.extend(derived_names(session, std::slice::from_ref(&join.left)));
                names.extend(derived_names(session, std::slice::from_ref(&join.right)));
            }
            TableRef::List(list) => names.extend(derived_names(session, list)),
            TableRef::Table(factor) if is_view(session, &factor.name) => {
                names.push(factor.alias.as_deref().unwrap_or(&factor.name.name));
            }
            TableRef::Table(_) | TableRef::JsonTable(_) => {}
        }
    }
    names
}

/// The member and column that SET names; errors 1054, 1052 and 1288.
fn assigned(
    session: &SessionContext,
    all: &[Member],
    name: &ast::ColumnName,
    refs: &[TableRef],
) -> Result<(usize, usize), SqlError> {
    let mut found = None;
    for (at, member) in all.iter().enumerate() {
        let here = name.table.as_deref().is_none_or(|table| table == member.alias);
        let Some(column) = member.table.def.column(&name.name).filter(|_| here) else { continue };
        if found.is_some() {
            let args: [&dyn std::fmt::Display; 2] = [&name.name, &"field list"];
            return Err(SqlError::new(ErrorCode::NonUniqueColumn, &args));
        }
        found = Some((at, column));
    }
    found.ok_or_else(|| {
        let computed = derived_names(session, refs);
        let named = |alias: &&&str| name.table.as_deref().is_none_or(|table| table == **alias);
        if let Some(alias) = computed.iter().find(named) {
            return SqlError::new(ErrorCode::NonUpdatableTable, &[alias, &"UPDATE"]);
        }
        let full = match &name.table {
            Some(table) => format!("{table}.{}", name.name),
            None => name.name.clone(),
        };
        SqlError::new(ErrorCode::UnknownColumn, &[&full, &"field list"])
    })
}

fn query(
    items: Vec<ast::SelectItem>,
    from: Vec<TableRef>,
    where_: Option<ast::Expr>,
    locked: Vec<String>,
    hints: Option<ast::HintedBlock>,
) -> ast::Query {
    let select = ast::Select { items, from, where_, hints, ..ast::Select::default() };
    let mut query = ast::Query::new(ast::QueryBody::Select(Box::new(select)));
    query.locking = vec![ast::Locking {
        strength: ast::LockStrength::Update,
        of: locked.into_iter().map(ast::ObjectName::bare).collect(),
        wait: ast::LockWait::Wait,
    }];
    query
}

/// RETURNING of an UPDATE; error 1235 where it is of several tables.
fn returning_of(
    items: &[ast::SelectItem],
    tables: &[TableRef],
) -> Result<Option<ast::Query>, SqlError> {
    match tables {
        _ if items.is_empty() => Ok(None),
        [TableRef::Table(factor)] => Ok(over_table(items, &factor.name, factor.alias.as_ref())),
        _ => refuse_several(),
    }
}

#[derive(Default)]
struct Tally<'r> {
    matched: u64,
    changed: u64,
    foreign: Option<Foreign>,
    /// What RETURNING gives.
    returned: Option<Returned<'r>>,
}

impl Tally<'_> {
    /// Adds what RETURNING gives of a row.
    fn give_back(&mut self, row: &[Value], ctx: &mut EvalContext<'_>) -> Result<(), SqlError> {
        self.returned.as_mut().map_or(Ok(()), |returned| returned.push(row, ctx))
    }
}

impl JoinedPlan {
    /// The tables whose rows change, as written.
    pub fn targets(&self) -> impl Iterator<Item = &Table> {
        self.targets.iter().map(|target| &*target.table)
    }

    /// What it gives back of its rows.
    pub fn returning(&self) -> Option<&Returning> {
        self.returning.as_deref()
    }

    /// Executes the plan, and sends what RETURNING gives.
    pub fn run(
        &self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        runner: &Runner<'_>,
        sink: &mut dyn RowSink,
    ) -> Result<StatementOutcome, SqlError> {
        let mut tally = self.run_all(session, ctx, runner)?;
        let returned = tally.returned.take();
        let mut outcome = self.outcome(session, ctx, &tally);
        if let Some(returned) = returned {
            returned.send(&mut outcome, sink)?;
        }
        Ok(outcome)
    }

    /// Changes all rows.
    fn run_all<'r>(
        &'r self,
        session: &'r SessionContext,
        ctx: &mut EvalContext<'_>,
        runner: &Runner<'_>,
    ) -> Result<Tally<'r>, SqlError> {
        if self.query.root.limit.is_none() && self.reads_all() {
            refuse_without_key(session)?;
        }
        let strict = session.env.sql_mode.is_strict() && !self.ignore;
        let strictness = if strict { Strictness::Strict } else { Strictness::Lenient };
        // In MySQL a text without a number that is looked up in a key of numbers finds nothing; the
        // error of the strict mode is for comparisons.
        let forgiving = match &self.query.root.body {
            Body::Select(select) => asks_keys_for_texts(&select.source),
            _ => false,
        };
        ctx.strictness = if forgiving { Strictness::Lenient } else { strictness };
        ctx.ignores = self.ignore;
        // The query ends before the first change, so that it sees none of them.
        let mut gathered = TupleList::new(session.workspace());
        runner.run(ctx, &mut |_, tuple| {
            gathered.push(tuple)?;
            Ok(true)
        })?;
        let refuses = |table: &&Table| table.def.is_append_only() && gathered.len() > 0;
        if let Some(table) = self.targets().find(refuses) {
            return Err(SqlError::new(ErrorCode::IllegalHa, &[&table.def.name]));
        }
        ctx.strictness = strictness;
        let types: Vec<&ExprType> = self.query.root.columns.iter().map(|c| &c.ty).collect();
        let returned = self.returning().map(|returning| Returned::new(returning, session));
        let mut tally = Tally { returned, ..Tally::default() };
        for target in &self.targets {
            tally.foreign = Foreign::load(session, &target.table)?;
            ctx.row_number = 0;
            // A row that the join has found several times is changed once, by its first occurrence.
            let mut seen = HashSet::new();
            gathered.each(|tuple| {
                let Some(key) = target.key(session, tuple)? else { return Ok(true) };
                if seen.insert(key.clone()) {
                    self.change(session, ctx, (target, &key), (tuple, &types), &mut tally)?;
                }
                Ok(true)
            })?;
        }
        Ok(tally)
    }

    fn outcome(
        &self,
        session: &SessionContext,
        ctx: &EvalContext<'_>,
        tally: &Tally<'_>,
    ) -> StatementOutcome {
        let what = if self.delete { Executed::Delete } else { Executed::Update };
        session.host.counters.count_executed(what, tally.changed);
        if self.delete {
            return StatementOutcome {
                affected_rows: tally.changed,
                ..StatementOutcome::default()
            };
        }
        let warnings = session.diagnostics.count + ctx.warnings.count;
        let info = update_info(tally.matched, tally.changed, warnings);
        let found = session.client_found_rows;
        let affected_rows = if found { tally.matched } else { tally.changed };
        StatementOutcome { affected_rows, info, ..StatementOutcome::default() }
    }

    /// Whether a target is read without a key.
    fn reads_all(&self) -> bool {
        fn any(source: &RowSource, test: &dyn Fn(&TableSource) -> bool) -> bool {
            match source {
                RowSource::Table(table) => test(table),
                RowSource::Join(join) => any(&join.left, test) || any(&join.right, test),
                _ => false,
            }
        }
        let is_target =
            |table: &Arc<Table>| self.targets.iter().any(|t| t.table.def.id == table.def.id);
        match &self.query.root.body {
            Body::Select(select) => any(&select.source, &|source| {
                source.lock.is_some() && source.access.is_unbounded() && is_target(&source.table)
            }),
            _ => false,
        }
    }

    /// A row was removed; IGNORE puts it back where a foreign key holds it. Whether it is gone.
    fn deleted(
        &self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        tally: &mut Tally<'_>,
        (table, stored, bytes): (&Arc<Table>, &Table, &[u8]),
        start: Savepoint,
    ) -> Result<bool, SqlError> {
        if let Some(foreign) = &tally.foreign
            && let Err(error) =
                foreign.deleted(session, &values(table, bytes, &session.env.time_zone)?)
        {
            if !self.ignore || !is_forgiven(&error) {
                return Err(error);
            }
            session.txn_of(table).borrow_mut().rollback_statement(start).sql()?;
            return ctx.raise(inia_expr::Level::Warning, error).map(|()| false);
        }
        tally.changed += 1;
        session.row_done(stored, -1);
        Ok(true)
    }

    /// Deletes a row, between its triggers.
    fn delete_row(
        &self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        tally: &mut Tally<'_>,
        (target, key, bytes): (&TargetTable, &[u8], &[u8]),
    ) -> Result<(), SqlError> {
        let table = &target.table;
        let fires = table.triggers.on(TriggerEvent::Delete);
        let old = match fires || tally.returned.is_some() {
            true => values(table, bytes, &session.env.time_zone)?,
            false => Vec::new(),
        };
        let rows = || TriggerRows { old: Some(&old), new: None };
        session.fire(table, (true, TriggerEvent::Delete), rows())?;
        let mut writer = RowWriter::new(table, &session.env.time_zone);
        let start = session.txn_of(table).borrow().savepoint();
        writer.delete(&mut session.txn_of(table).borrow_mut(), key, bytes)?;
        match self.deleted(session, ctx, tally, (table, writer.stored(), bytes), start)? {
            true => {
                tally.give_back(&old, ctx)?;
                session.fire(table, (false, TriggerEvent::Delete), rows())
            }
            false => Ok(()),
        }
    }

    fn change(
        &self,
        session: &SessionContext,
        ctx: &mut EvalContext<'_>,
        (target, key): (&TargetTable, &[u8]),
        (tuple, types): (&[Value], &[&ExprType]),
        tally: &mut Tally<'_>,
    ) -> Result<(), SqlError> {
        let table = &target.table;
        auto_increment::prepare_counter(table)?;
        let copy = |bytes: &[u8]| bytes.to_vec();
        let mut txn = session.txn_of(table).borrow_mut();
        // An earlier change of this statement, or a foreign key's action, may have changed or
        // deleted the row that the query has read.
        let (leaf, own) = table.located(key);
        let found = txn.lock_get(&leaf.clustered, own, exclusive_request(), copy).sql()?;
        let Some(bytes) = found else { return Ok(()) };
        tally.matched += 1;
        ctx.row_number += 1;
        if self.delete {
            drop(txn);
            return self.delete_row(session, ctx, tally, (target, key, &bytes));
        }
        drop(txn);
        let mut writer = RowWriter::new(table, &session.env.time_zone);
        let old = values(table, &bytes, &session.env.time_zone)?;
        let mut new = old.clone();
        target.assign(&mut new, tuple, types, ctx)?;
        target.before_update(session, (&old, &mut new), ctx)?;
        let changed: Vec<bool> = old.iter().zip(&new).map(|(a, b)| a != b).collect();
        if !changed.contains(&true) {
            tally.give_back(&new, ctx)?;
            return target.after_update(session, (&old, &mut new));
        }
        // ON UPDATE CURRENT_TIMESTAMP passes over the columns that SET names; values are not read.
        let named: Vec<_> = target.assignments.iter().map(|(column, _)| (*column, None)).collect();
        let parts = (&**table, &target.fills);
        let changed = touch(parts, &named, &mut new, changed, ctx)?;
        if let Err(error) = target.check(&new, tuple, ctx) {
            return match self.ignore && is_forgiven(&error) {
                true => ctx.raise(inia_expr::Level::Warning, error),
                false => Err(error),
            };
        }
        // A duplicate may be found after other records are written: IGNORE rolls back to here.
        let start = session.txn_of(table).borrow().savepoint();
        let written = {
            let mut txn = session.txn_of(table).borrow_mut();
            let change = RowChange { key, old: &bytes, new: &new, changed: &changed };
            placed(writer.update(&mut txn, &change))?
        };
        let refused = match (written, &tally.foreign) {
            (Err(error), _) => Err(error),
            (Ok(Written::Duplicate(at)), _) => Err(duplicate_error(&table.def, at, &new)),
            (Ok(Written::Done), Some(foreign)) => foreign.updated(session, &old, &new),
            (Ok(Written::Done), None) => Ok(()),
        };
        if let Err(error) = refused {
            if !self.ignore || !is_forgiven(&error) {
                return Err(error);
            }
            session.txn_of(table).borrow_mut().rollback_statement(start).sql()?;
            return ctx.raise(inia_expr::Level::Warning, error);
        }
        target.count_up(writer.counted, &new, &changed);
        tally.changed += 1;
        tally.give_back(&new, ctx)?;
        session.row_done(writer.stored(), 0);
        target.after_update(session, (&old, &mut new))
    }
}

impl TargetTable {
    /// Runs the triggers before an update, and completes the row anew.
    fn before_update(
        &self,
        session: &SessionContext,
        (old, new): (&[Value], &mut [Value]),
        ctx: &mut EvalContext<'_>,
    ) -> Result<(), SqlError> {
        if self.table.triggers.of_event(true, TriggerEvent::Update).is_empty() {
            return Ok(());
        }
        let rows = TriggerRows { old: Some(old), new: Some(&mut *new) };
        session.fire(&self.table, (true, TriggerEvent::Update), rows)?;
        Nulls::Warned.admit_row(&self.table, new, ctx)?;
        self.fills.compute(new, ctx)
    }

    /// Runs the triggers after an update.
    fn after_update(
        &self,
        session: &SessionContext,
        (old, new): (&[Value], &mut [Value]),
    ) -> Result<(), SqlError> {
        let rows = TriggerRows { old: Some(old), new: Some(new) };
        session.fire(&self.table, (false, TriggerEvent::Update), rows)
    }

    /// AUTO_INCREMENT goes on behind a number that a row was given.
    fn count_up(&self, counted: &Table, new: &[Value], changed: &[bool]) {
        if let Some(column) = self.table.def.auto_increment_column()
            && changed[column]
        {
            auto_increment::updated(counted, column, &new[column]);
        }
    }

    /// The clustered key of the target's row in one of the query's rows; `None` where an outer
    /// join found no row.
    fn key(&self, session: &SessionContext, tuple: &[Value]) -> Result<Option<Vec<u8>>, SqlError> {
        let table = &self.table;
        let Some(primary) = table.def.clustered_index() else {
            let key = &tuple[self.base + table.def.columns.len()];
            return Ok(match key {
                Value::Bytes(key) => Some(key.clone()),
                _ => None,
            });
        };
        if primary.parts.iter().any(|part| tuple[self.base + part.column] == Value::Null) {
            return Ok(None);
        }
        let zone = &session.env.time_zone;
        let mut key = Vec::new();
        let mut values = Cow::Borrowed(&tuple[self.base..]);
        if session.env.sql_mode.has(SqlMode::PAD_CHAR_TO_FULL_LENGTH) {
            cut_chars(values.to_mut(), &table.def);
        }
        let cell = |c: usize| Ok(Cell::of(&values[c], table.layout.data_type(c), zone));
        table.indexes[0].codec.put_clustered_key(cell, &mut key)?;
        if let Some(partitions) = &table.partitions {
            let leaf = partitions.leaf_of(cell)?;
            key.extend_from_slice(&(leaf as u32).to_be_bytes());
        }
        Ok(Some(key))
    }

    fn assign(
        &self,
        row: &mut [Value],
        tuple: &[Value],
        types: &[&ExprType],
        ctx: &mut EvalContext<'_>,
    ) -> Result<(), SqlError> {
        let nulls = match self.table.triggers.of_event(true, TriggerEvent::Update) {
            [] => Nulls::Warned,
            _ => Nulls::Deferred,
        };
        for (target, place) in &self.assignments {
            let value = match place {
                Some(at) => {
                    let (value, ty) = (tuple[*at].clone(), types[*at]);
                    stored(&self.table.def, *target, (value, ty), ctx)?
                }
                None => self.fills.default(*target, Given::Nothing, row, ctx)?,
            };
            row[*target] = nulls.admit(&self.table, *target, value, ctx)?;
        }
        self.fills.compute(row, ctx)
    }
}

/// Whether an expression has a subquery anywhere; what is not looked into counts as having one.
pub fn has_subquery(expr: &ast::Expr) -> bool {
    use ast::Expr as E;
    let any = |list: &[ast::Expr]| list.iter().any(has_subquery);
    match expr {
        E::Literal(_) | E::Column(_) | E::Param(_) | E::UserVar(_) | E::SysVar(_) => false,
        E::Default | E::DefaultOf(_) | E::InsertValue(_) | E::JsonExtract { .. } => false,
        // Searches are run as subqueries are.
        E::Match { .. } => true,
        E::AssignVar { value, .. } => has_subquery(value),
        E::Unary { expr, .. }
        | E::IsNull { expr, .. }
        | E::IsTruth { expr, .. }
        | E::Cast { expr, .. }
        | E::ConvertUsing { expr, .. }
        | E::Extract { expr, .. }
        | E::Collate { expr, .. } => has_subquery(expr),
        E::Binary { left, right, .. } => has_subquery(left) || has_subquery(right),
        E::And(items) | E::Or(items) | E::Row(items) => any(items),
        E::InList { expr, list, .. } => has_subquery(expr) || any(list),
        E::Between { expr, low, high, .. } => {
            has_subquery(expr) || has_subquery(low) || has_subquery(high)
        }
        E::Like { expr, pattern, .. } | E::Regexp { expr, pattern, .. } => {
            has_subquery(expr) || has_subquery(pattern)
        }
        E::Case { operand, whens, else_ } => {
            operand.iter().chain(else_).any(|e| has_subquery(e))
                || whens.iter().any(|(a, b)| has_subquery(a) || has_subquery(b))
        }
        E::Function(call) => any(&call.args),
        E::Trim { what, expr, .. } => {
            what.as_ref().is_some_and(|e| has_subquery(e)) || has_subquery(expr)
        }
        E::DateArith { expr, interval, .. } => has_subquery(expr) || has_subquery(interval),
        E::TimestampDiff { from, to, .. } => has_subquery(from) || has_subquery(to),
        E::Char { args, .. } => any(args),
        E::Exists(_) | E::Subquery(_) | E::InSubquery { .. } | E::Quantified { .. } => true,
        _ => false,
    }
}
