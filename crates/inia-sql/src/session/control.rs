//! Transaction control.

use inia_base::error::{ErrorCode, SqlError};
use inia_base::process::KillTarget;
use inia_parser::ast;
use inia_query::context::StatementOutcome;
use inia_query::context::{NamedSavepoint, SessionContext};
use inia_query::error::StorageResult;
use inia_storage::Isolation;

type Done = Result<StatementOutcome, SqlError>;

/// BEGIN, START TRANSACTION: commits what is open.
pub(super) fn begin(core: &mut SessionContext, begin: &ast::BeginTransaction) -> Done {
    // This is the transaction that SET TRANSACTION was about.
    let next = (core.state.next_isolation, core.state.next_read_only);
    core.commit()?;
    inia_query::context::table_locks::unlock(core)?;
    (core.state.next_isolation, core.state.next_read_only) = next;
    if begin.read_only.is_some() {
        core.state.next_read_only = begin.read_only;
    }
    core.enter();
    core.state.explicit = true;
    if begin.consistent_snapshot {
        core.txn.get_mut().take_snapshot();
    }
    Ok(StatementOutcome::default())
}

/// COMMIT [AND CHAIN].
pub(super) fn commit(core: &mut SessionContext, completion: &ast::Completion) -> Done {
    let (level, read_only) = (core.state.current, core.state.read_only);
    core.commit()?;
    chain(core, completion, level, read_only)
}

/// ROLLBACK [AND CHAIN].
pub(super) fn rollback(core: &mut SessionContext, completion: &ast::Completion) -> Done {
    let (level, read_only) = (core.state.current, core.state.read_only);
    warn_incomplete(core);
    core.rollback()?;
    chain(core, completion, level, read_only)
}

/// Warning 1196: tables without transactions stay as they are; 1751 and 1752: temporary tables stay
/// created and dropped.
fn warn_incomplete(core: &mut SessionContext) {
    if core.statement_txns.changed {
        core.warn(ErrorCode::WarningNotCompleteRollback, &[]);
    }
    if core.temporary.created {
        core.warn(ErrorCode::WarningNotCompleteRollbackWithCreatedTempTable, &[]);
    }
    if core.temporary.dropped {
        core.warn(ErrorCode::WarningNotCompleteRollbackWithDroppedTempTable, &[]);
    }
}

/// AND CHAIN opens the next transaction with the characteristics of the last; RELEASE ends the
/// connection.
fn chain(
    core: &mut SessionContext,
    completion: &ast::Completion,
    level: Isolation,
    read_only: bool,
) -> Done {
    let kind = core.var("completion_type").unwrap_or_default();
    if completion.chain.unwrap_or(kind == "CHAIN") {
        core.state.next_isolation = Some(level);
        core.state.next_read_only = Some(read_only);
        core.enter();
        core.state.explicit = true;
    }
    if completion.release.unwrap_or(kind == "RELEASE") {
        core.killed.fetch_or(2, std::sync::atomic::Ordering::SeqCst);
        if let Some(processes) = core.db.processes() {
            processes.kill(core.env.connection_id, KillTarget::ConnectionAfterReply);
        }
    }
    Ok(StatementOutcome::default())
}

fn find(core: &SessionContext, name: &str) -> Result<usize, SqlError> {
    let same = |savepoint: &NamedSavepoint| savepoint.name.eq_ignore_ascii_case(name);
    let missing = || SqlError::new(ErrorCode::SpDoesNotExist, &[&"SAVEPOINT", &name]);
    core.state.savepoints.iter().position(same).ok_or_else(missing)
}

/// SAVEPOINT: one of the same name is replaced. Without a transaction it has no effect.
pub(super) fn savepoint(core: &mut SessionContext, name: &str) -> Done {
    if core.autocommits() {
        return Ok(StatementOutcome::default());
    }
    core.enter();
    if let Ok(at) = find(core, name) {
        core.state.savepoints.remove(at);
    }
    let point = core.txn.get_mut().savepoint();
    let (name, locks) = (name.to_owned(), core.mdl.held_count());
    core.state.savepoints.push(NamedSavepoint { name, point, locks });
    Ok(StatementOutcome::default())
}

/// ROLLBACK TO: later savepoints are gone, this one stays. Definitions that were only read since
/// then may change again, as long as the transaction has locked no rows: dumps count on it.
pub(super) fn rollback_to(core: &mut SessionContext, name: &str) -> Done {
    let at = find(core, name)?;
    let (point, locks) = (core.state.savepoints[at].point, core.state.savepoints[at].locks);
    warn_incomplete(core);
    core.txn.get_mut().rollback_to(point).sql()?;
    core.state.savepoints.truncate(at + 1);
    if core.txn.get_mut().only_reads() {
        core.mdl.release_from(locks);
    }
    Ok(StatementOutcome::default())
}

/// RELEASE SAVEPOINT: this one and later ones are gone.
pub(super) fn release(core: &mut SessionContext, name: &str) -> Done {
    let at = find(core, name)?;
    core.state.savepoints.truncate(at);
    Ok(StatementOutcome::default())
}

/// SET TRANSACTION: the next transaction's, the session's, or everybody's defaults.
pub(super) fn set_transaction(core: &mut SessionContext, set: &ast::SetTransaction) -> Done {
    let level = set.isolation.map(|level| match level {
        ast::IsolationLevel::ReadUncommitted => (Isolation::ReadUncommitted, "READ-UNCOMMITTED"),
        ast::IsolationLevel::ReadCommitted => (Isolation::ReadCommitted, "READ-COMMITTED"),
        ast::IsolationLevel::RepeatableRead => (Isolation::RepeatableRead, "REPEATABLE-READ"),
        ast::IsolationLevel::Serializable => (Isolation::Serializable, "SERIALIZABLE"),
    });
    let Some(scope) = set.scope else {
        if core.state.explicit || (core.state.open && !core.state.autocommit) {
            return Err(SqlError::new(ErrorCode::CantChangeTxCharacteristics, &[]));
        }
        core.state.next_isolation = level.map(|(level, _)| level).or(core.state.next_isolation);
        core.state.next_read_only = set.read_only.or(core.state.next_read_only);
        return Ok(StatementOutcome::default());
    };
    let global = scope != ast::VarScope::Session;
    if let Some((_, name)) = level {
        super::set::effect::assign(core, global, "transaction_isolation", name)?;
    }
    if let Some(read_only) = set.read_only {
        let value = if read_only { "ON" } else { "OFF" };
        super::set::effect::assign(core, global, "transaction_read_only", value)?;
    }
    Ok(StatementOutcome::default())
}
