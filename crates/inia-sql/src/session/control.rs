//! Transaction control.

use inia_base::collation::Collation;
use inia_base::column::{ResultColumn, RowSink};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::process::KillTarget;
use inia_expr::ExprType;
use inia_parser::ast;
use inia_query::context::StatementOutcome;
use inia_query::context::{NamedSavepoint, SessionContext, XaStage};
use inia_query::status::Executed;
use inia_storage::Isolation;

type Done = Result<StatementOutcome, SqlError>;

/// BEGIN, START TRANSACTION: commits what is open.
pub(super) fn begin(session: &mut SessionContext, begin: &ast::BeginTransaction) -> Done {
    // This is the transaction that SET TRANSACTION was about.
    let next = (session.state.next_isolation, session.state.next_read_only);
    session.commit()?;
    inia_query::context::table_locks::unlock(session)?;
    (session.state.next_isolation, session.state.next_read_only) = next;
    if begin.read_only.is_some() {
        session.state.next_read_only = begin.read_only;
    }
    session.enter();
    session.state.explicit = true;
    if begin.consistent_snapshot {
        session.txn.get_mut().take_snapshot();
    }
    Ok(StatementOutcome::default())
}

/// COMMIT [AND CHAIN].
pub(super) fn commit(session: &mut SessionContext, completion: &ast::Completion) -> Done {
    let (level, read_only) = (session.state.current, session.state.read_only);
    session.commit()?;
    chain(session, completion, level, read_only)
}

/// ROLLBACK [AND CHAIN].
pub(super) fn rollback(session: &mut SessionContext, completion: &ast::Completion) -> Done {
    let (level, read_only) = (session.state.current, session.state.read_only);
    warn_incomplete(session);
    session.rollback()?;
    chain(session, completion, level, read_only)
}

/// Warning 1196: tables without transactions stay as they are; 1751 and 1752: temporary tables stay
/// created and dropped.
fn warn_incomplete(session: &mut SessionContext) {
    if session.statement_txns.changed {
        session.warn(ErrorCode::WarningNotCompleteRollback, &[]);
    }
    if session.temporary.created {
        session.warn(ErrorCode::WarningNotCompleteRollbackWithCreatedTempTable, &[]);
    }
    if session.temporary.dropped {
        session.warn(ErrorCode::WarningNotCompleteRollbackWithDroppedTempTable, &[]);
    }
}

/// AND CHAIN opens the next transaction with the characteristics of the last; RELEASE ends the
/// connection.
fn chain(
    session: &mut SessionContext,
    completion: &ast::Completion,
    level: Isolation,
    read_only: bool,
) -> Done {
    let kind = session.var("completion_type").unwrap_or_default();
    if completion.chain.unwrap_or(kind == "CHAIN") {
        session.state.next_isolation = Some(level);
        session.state.next_read_only = Some(read_only);
        session.enter();
        session.state.explicit = true;
    }
    if completion.release.unwrap_or(kind == "RELEASE") {
        session.killed.fetch_or(2, std::sync::atomic::Ordering::SeqCst);
        if let Some(processes) = session.db.processes() {
            processes.kill(session.env.connection_id, KillTarget::ConnectionAfterReply);
        }
    }
    Ok(StatementOutcome::default())
}

fn find(session: &SessionContext, name: &str) -> Result<usize, SqlError> {
    let same = |savepoint: &NamedSavepoint| savepoint.name.eq_ignore_ascii_case(name);
    let missing = || SqlError::new(ErrorCode::SpDoesNotExist, &[&"SAVEPOINT", &name]);
    session.state.savepoints.iter().position(same).ok_or_else(missing)
}

/// SAVEPOINT: one of the same name is replaced. Without a transaction it has no effect.
pub(super) fn savepoint(session: &mut SessionContext, name: &str) -> Done {
    if session.autocommits() {
        return Ok(StatementOutcome::default());
    }
    session.enter();
    if let Ok(at) = find(session, name) {
        session.state.savepoints.remove(at);
    }
    let used = session.txn.get_mut().was_used();
    if used {
        session.host.counters.count_executed(Executed::Savepoint, 1);
    }
    let point = session.txn.get_mut().savepoint();
    let (name, locks) = (name.to_owned(), session.mdl.held_count());
    session.state.savepoints.push(NamedSavepoint { name, used, point, locks });
    Ok(StatementOutcome::default())
}

/// ROLLBACK TO: later savepoints are gone, this one stays. Definitions that were only read since
/// then may change again, as long as the transaction has locked no rows: dumps count on it.
pub(super) fn rollback_to(session: &mut SessionContext, name: &str) -> Done {
    let at = find(session, name)?;
    session.check_branch_active()?;
    let (point, locks) = (session.state.savepoints[at].point, session.state.savepoints[at].locks);
    warn_incomplete(session);
    let undone = session.txn.get_mut().rollback_to(point);
    session.whole_or_nothing(undone)?;
    let what = match session.state.savepoints[at].used {
        true => Executed::SavepointRollback,
        false => Executed::Rollback,
    };
    session.host.counters.count_executed(what, 1);
    session.state.savepoints.truncate(at + 1);
    if session.txn.get_mut().only_reads() {
        session.mdl.release_from(locks);
    }
    Ok(StatementOutcome::default())
}

/// RELEASE SAVEPOINT: this one and later ones are gone.
pub(super) fn release(session: &mut SessionContext, name: &str) -> Done {
    let at = find(session, name)?;
    session.check_branch_active()?;
    session.state.savepoints.truncate(at);
    Ok(StatementOutcome::default())
}

/// The columns of XA RECOVER.
fn recovered_columns() -> Vec<ResultColumn> {
    let number = |name| ExprType::int(12, false).result_column(name);
    vec![
        number("formatID"),
        number("gtrid_length"),
        number("bqual_length"),
        ExprType::text(258, Collation::DEFAULT, false).result_column("data"),
    ]
}

/// XA RECOVER: the prepared branches, for accounts with XA_RECOVER_ADMIN; error 1401.
fn recover(session: &SessionContext, convert: bool, sink: &mut dyn RowSink) -> Done {
    if !session.access().has_dynamic("XA_RECOVER_ADMIN") {
        return Err(SqlError::new(ErrorCode::XaerRmerr, &[]));
    }
    sink.columns(&recovered_columns())?;
    let prepared = session.db.xa.prepared();
    for xid in &prepared {
        let name = [&xid.gtrid[..], &xid.bqual].concat();
        sink.begin_row();
        sink.int(xid.format_id.cast_signed());
        sink.int(xid.gtrid.len() as i64);
        sink.int(xid.bqual.len() as i64);
        match convert {
            true => {
                let digits: String = name.iter().map(|byte| format!("{byte:02X}")).collect();
                sink.bytes(format!("0x{digits}").as_bytes());
            }
            false => sink.bytes(&name),
        }
        sink.end_row()?;
    }
    Ok(StatementOutcome { rows: Some(prepared.len() as u64), ..StatementOutcome::default() })
}

/// XA.
pub(super) fn xa(session: &mut SessionContext, xa: &ast::Xa, sink: &mut dyn RowSink) -> Done {
    match xa {
        ast::Xa::Start { xid, join, resume } => session.xa_start(xid, *join, *resume),
        ast::Xa::End { xid, suspend } => session.xa_end(xid, *suspend),
        ast::Xa::Prepare(xid) => session.xa_prepare(xid).inspect(|()| {
            session.host.counters.count_executed(Executed::Prepare, 1);
        }),
        ast::Xa::Commit { xid, one_phase } => session.xa_commit(xid, *one_phase),
        ast::Xa::Rollback(xid) => {
            if session.state.branch.stage() == XaStage::Idle {
                warn_incomplete(session);
            }
            session.xa_rollback(xid)
        }
        ast::Xa::Recover { convert } => return recover(session, *convert, sink),
    }
    .map(|()| StatementOutcome::default())
}

/// SET TRANSACTION: the next transaction's, the session's, or everybody's defaults.
pub(super) fn set_transaction(session: &mut SessionContext, set: &ast::SetTransaction) -> Done {
    let level = set.isolation.map(|level| match level {
        ast::IsolationLevel::ReadUncommitted => (Isolation::ReadUncommitted, "READ-UNCOMMITTED"),
        ast::IsolationLevel::ReadCommitted => (Isolation::ReadCommitted, "READ-COMMITTED"),
        ast::IsolationLevel::RepeatableRead => (Isolation::RepeatableRead, "REPEATABLE-READ"),
        ast::IsolationLevel::Serializable => (Isolation::Serializable, "SERIALIZABLE"),
    });
    let Some(scope) = set.scope else {
        if session.state.explicit || (session.state.open && !session.state.autocommit) {
            return Err(SqlError::new(ErrorCode::CantChangeTxCharacteristics, &[]));
        }
        session.state.next_isolation =
            level.map(|(level, _)| level).or(session.state.next_isolation);
        session.state.next_read_only = set.read_only.or(session.state.next_read_only);
        return Ok(StatementOutcome::default());
    };
    let global = scope != ast::VarScope::Session;
    if let Some((_, name)) = level {
        super::set::effect::assign(session, global, "transaction_isolation", name)?;
    }
    if let Some(read_only) = set.read_only {
        let value = if read_only { "ON" } else { "OFF" };
        super::set::effect::assign(session, global, "transaction_read_only", value)?;
    }
    Ok(StatementOutcome::default())
}
