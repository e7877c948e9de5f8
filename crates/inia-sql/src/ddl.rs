//! Statements that define databases and tables.
//!
//! A DDL statement commits the session's transaction and takes its tables' metadata locks. One
//! storage transaction then does all its work (trees, rows, catalog records), so the statement is
//! atomic, also in a crash. The new catalog version is published after the commit.
//!
//! The trees of MEMORY tables are in the volatile store: a transaction of that store makes and
//! drops them, and ends as the first one does.

mod actions;
mod algorithm;
mod alter;
mod columns;
mod copied;
mod create_select;
mod dependents;
pub(crate) mod engine;
mod engine_options;
mod foreign;
mod fulltext;
mod merged;
mod partition;
pub(crate) mod quoting;
mod rebuild;
mod record_size;
pub(crate) mod routine_grants;
mod rules;
mod schema;
mod sequence;
mod spatial;
mod table;
mod table_builder;
mod tablespace;
mod triggers;
mod view;

pub(crate) use alter::alter_table;
pub(crate) use create_select::create_table_select;
use inia_query::catalog::check_name;
use inia_query::context::{existing, full_name};
pub(crate) use partition::alter::named as partitions_named;
pub(crate) use schema::hold_schema;
pub(crate) use schema::{alter_database, create_database, drop_database};
pub(crate) use sequence::define_sequence;
pub(crate) use table::{
    create_index, create_table, drop_index, drop_tables, rename_tables, truncate,
};
pub(crate) use tablespace::run as change_tablespace;
pub(crate) use view::{create_view, drop_views, show_create_view, view_columns};

use inia_base::error::SqlError;
use inia_query::catalog::FullName;
use inia_query::catalog::mdl::{MdlGuard, MdlKind};
use inia_query::catalog::{Change, ProgramKind};
use inia_query::clock::clock_micros;
use inia_query::context::SessionContext;
use inia_query::context::StatementOutcome;
use inia_query::error::StorageResult;
use inia_storage::Isolation;

/// Now, as definitions keep the time when they were made.
fn unix_seconds() -> u64 {
    (clock_micros() / 1_000_000) as u64
}

/// What DDL statements report.
pub(crate) type DdlResult = Result<StatementOutcome, SqlError>;

/// Locks tables' definitions against everybody else.
pub(crate) fn lock(
    session: &SessionContext,
    names: &[FullName],
) -> Result<Vec<MdlGuard>, SqlError> {
    let manager = session.db.catalog().mdl();
    let names = names.iter().map(|(schema, name)| manager.name(schema, name)).collect();
    let guards = session.mdl.lock_exclusive(names, session.mdl_limit())?;
    session.wait_for_commits()?;
    Ok(guards)
}

/// As [`lock`], and keeps everybody from changing rows of the tables `still`.
pub(crate) fn lock_beside(
    session: &SessionContext,
    names: &[FullName],
    still: &[FullName],
) -> Result<Vec<MdlGuard>, SqlError> {
    let manager = session.db.catalog().mdl();
    let wanted =
        |kind: MdlKind| move |(schema, name): &FullName| (manager.name(schema, name), kind);
    let still = still.iter().map(wanted(MdlKind::ReadOnly));
    let all = names.iter().map(wanted(MdlKind::Exclusive)).chain(still).collect();
    let guards = session.mdl.lock_all(all, session.mdl_limit())?;
    session.wait_for_commits()?;
    Ok(guards)
}

/// As [`lock_beside`] for tables that get other names: tables that refer to them are rewritten.
pub(crate) fn lock_renamed(
    session: &SessionContext,
    names: &[FullName],
    still: &[FullName],
) -> Result<Vec<MdlGuard>, SqlError> {
    let mut all = names.to_vec();
    loop {
        let guards = lock_beside(session, &all, still)?;
        let catalog = session.db.catalog().current();
        let referring = names.iter().filter_map(|name| catalog.references.get(name)).flatten();
        let more: Vec<FullName> = referring.filter(|name| !all.contains(name)).cloned().collect();
        if more.is_empty() {
            return Ok(guards);
        }
        all.extend(more);
    }
}

/// Locks the definitions of those names that the session has no temporary tables for.
pub(crate) fn lock_stored(
    session: &SessionContext,
    names: &[FullName],
) -> Result<Vec<MdlGuard>, SqlError> {
    let stored =
        names.iter().filter(|(schema, name)| session.temporary.get(schema, name).is_none());
    lock(session, &stored.cloned().collect::<Vec<_>>())
}

/// Runs `work` in a storage transaction of its own, writes the changes it lists, commits, and
/// publishes them.
pub(crate) fn in_transaction<T>(
    session: &mut SessionContext,
    work: impl FnOnce(&mut SessionContext, &mut Vec<Change>) -> Result<T, SqlError>,
) -> Result<T, SqlError> {
    session.txn.get_mut().begin(Isolation::RepeatableRead);
    session.txn.get_mut().begin_statement();
    let mut changes = Vec::new();
    let result = work(session, &mut changes).and_then(|value| {
        let txn = session.txn.get_mut();
        let catalog = session.db.catalog();
        changes.iter().try_for_each(|change| catalog.write(txn, change))?;
        let table = changes.iter().find_map(|change| match change {
            Change::PutTable(def) => Some(&def.name),
            _ => None,
        });
        match table {
            Some(table) => txn.commit().sql_for(table)?,
            None => txn.commit().sql()?,
        }
        Ok(value)
    });
    let ended = match result.is_err() {
        true => session.abandon_statement_txns(),
        false => session.end_statement_txns(false),
    };
    match result.and_then(|value| ended.map(|()| value)) {
        Ok(value) => {
            publish(session, changes);
            Ok(value)
        }
        Err(error) => {
            if session.txn.get_mut().is_open() {
                session.txn.get_mut().rollback().sql()?;
            }
            Err(error)
        }
    }
}

/// Shows committed changes to whom they concern: everybody, or this session.
fn publish(session: &mut SessionContext, changes: Vec<Change>) {
    let (own, shared): (Vec<Change>, Vec<Change>) =
        changes.into_iter().partition(Change::is_temporary);
    let concerns_events = shared.iter().any(|change| match change {
        Change::PutProgram(def) => def.kind == ProgramKind::Event,
        Change::DropProgram { kind, .. } => *kind == ProgramKind::Event,
        _ => false,
    });
    if !shared.is_empty() {
        session.db.catalog().publish(shared);
    }
    if concerns_events {
        session.db.events.notify();
    }
    if !own.is_empty() {
        session.settings += 1;
    }
    for change in own {
        session.temporary.apply(&session.db.catalog, change);
    }
}

/// As [`in_transaction`], beside the session's own transaction where one is open: what creates
/// temporary tables does not end that.
pub(crate) fn aside<T>(
    session: &mut SessionContext,
    work: impl FnOnce(&mut SessionContext, &mut Vec<Change>) -> Result<T, SqlError>,
) -> Result<T, SqlError> {
    if !session.state.open {
        return in_transaction(session, work);
    }
    let other = std::cell::RefCell::new(session.db.engine.attach());
    let own = std::mem::replace(&mut session.txn, other);
    let result = in_transaction(session, work);
    session.txn = own;
    result
}
