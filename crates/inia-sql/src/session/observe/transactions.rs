//! Transactions as the ends of statements show them.
//!
//! The end of a statement compares what the session is in with what was noted before: a transaction
//! that was not there has begun, and one that is no longer there has ended. So a transaction begins
//! with the statement that begins it, and nothing is done where sums over statements are not kept.
//! What a procedure does in between is not seen.

use super::Noted;
use inia_base::error::SqlError;
use inia_parser::ast::{ObjectName, Statement, Xa};
use inia_query::clock::clock_micros;
use inia_query::context::{SessionContext, XaStage};
use inia_query::information_schema;
use inia_query::observe::{BranchEvent, TransactionEvent, TransactionState};
use inia_query::status::Executed;
use inia_storage::Isolation;

/// What a statement says of transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It begins one.
    Begins,
    /// It ends the present one as it stands.
    Commits,
    /// It ends the present one and undoes it.
    RollsBack,
    /// It ends the present one, and is one itself.
    Defines,
    /// SAVEPOINT, ROLLBACK TO or RELEASE SAVEPOINT.
    Savepoint(usize),
    /// It works in the present one, if in any.
    None,
}

impl Effect {
    pub(super) fn of(session: &SessionContext, statement: &Statement) -> Effect {
        match statement {
            Statement::Begin(_) | Statement::Xa(Xa::Start { .. }) => Effect::Begins,
            Statement::Commit(_) => Effect::Commits,
            Statement::Rollback(_) | Statement::Xa(Xa::Rollback(_)) => Effect::RollsBack,
            Statement::Savepoint(_) => Effect::Savepoint(0),
            Statement::RollbackTo(_) => Effect::Savepoint(1),
            Statement::ReleaseSavepoint(_) => Effect::Savepoint(2),
            // What a computed table has counted is no row of a transaction.
            Statement::Truncate(name) if is_computed(session, name) => Effect::None,
            statement if statement.commits() => Effect::Defines,
            _ => Effect::None,
        }
    }
}

fn is_computed(session: &SessionContext, name: &ObjectName) -> bool {
    let schema = name.db.as_deref().or(session.env.database.as_deref());
    schema.is_some_and(|schema| information_schema::find(schema, &name.name).is_some())
}

fn name_of(level: Isolation) -> &'static str {
    match level {
        Isolation::ReadUncommitted => "READ UNCOMMITTED",
        Isolation::ReadCommitted => "READ COMMITTED",
        Isolation::RepeatableRead => "REPEATABLE READ",
        Isolation::Serializable => "SERIALIZABLE",
    }
}

/// The session's branch of a distributed transaction.
fn branch_of(session: &SessionContext) -> Option<BranchEvent> {
    let branch = &session.state.branch;
    let xid = branch.xid()?;
    let name = (xid.format_id, xid.gtrid.clone(), xid.bqual.clone());
    Some(BranchEvent { name, stage: branch.stage().name() })
}

/// Notes what a statement, which has taken so long, has begun and ended.
pub(super) fn note(session: &SessionContext, noted: &Noted, micros: u64, error: Option<&SqlError>) {
    let own = &session.host.counters.transactions;
    let (was_active, done) = (own.is_active(), error.is_none());
    let state = &session.state;
    // Without BEGIN a transaction begins with the first use of a table.
    let implicit = state.open && !state.autocommit && session.txn.borrow().was_used();
    let goes_on = state.explicit || implicit || state.branch.stage() != XaStage::None;
    let effect = noted.effect;
    let ends =
        matches!(effect, Effect::Begins | Effect::Commits | Effect::RollsBack | Effect::Defines);
    let restarts = done && ends && goes_on && was_active;
    let now = clock_micros();
    let began = now - micros.cast_signed();
    let event = |autocommit| TransactionEvent {
        number: 0,
        statement: session.host.counters.history.number(),
        state: TransactionState::Active,
        read_only: match goes_on {
            true => session.state.read_only,
            false => session.state.default_read_only && effect != Effect::Defines,
        },
        isolation: name_of(match effect {
            Effect::Defines => session.state.isolation,
            _ => session.state.current,
        }),
        autocommit,
        savepoints: [0; 3],
        branch: branch_of(session),
        began,
        ended: None,
    };
    let end_of = |stands| match stands {
        true => TransactionState::Committed,
        false => TransactionState::RolledBack,
    };
    if was_active && (!goes_on || restarts) {
        // A definition commits what was there before it fails or not.
        let stands = effect == Effect::Defines || done && effect != Effect::RollsBack;
        own.end(end_of(stands), now);
    }
    if goes_on && (!was_active || restarts) {
        own.begin(event(false));
    } else if goes_on {
        own.change(|event| {
            if let (Effect::Savepoint(kind), true) = (effect, done) {
                event.savepoints[kind] += 1;
            }
            event.branch = branch_of(session);
        });
    } else if done && effect == Effect::Defines {
        own.begin(event(false));
        own.end(TransactionState::Committed, now);
    } else if !was_active
        && session.host.counters.executed(Executed::ExternalLock) != noted.table_locks
    {
        own.begin(event(true));
        own.end(end_of(done), now);
    }
}
