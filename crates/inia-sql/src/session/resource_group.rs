//! CREATE, ALTER, DROP and SET RESOURCE GROUP, and the hint RESOURCE_GROUP.
//!
//! A session's group is a name beside its counters: its thread is bound to nothing.

use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{ResourceGroupAction, ResourceGroupAttributes, ResourceGroupStatement};
use inia_query::catalog::ResourceGroup;
use inia_query::context::{SessionContext, StatementOutcome};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Priorities of groups of users and of the system.
const USER: RangeInclusive<i64> = 0..=19;
const SYSTEM: RangeInclusive<i64> = -20..=0;

type Done = Result<StatementOutcome, SqlError>;

fn error<T>(code: ErrorCode, args: &[&dyn std::fmt::Display]) -> Result<T, SqlError> {
    Err(SqlError::new(code, args))
}

/// Carries out a statement.
pub(super) fn execute(session: &mut SessionContext, statement: &ResourceGroupStatement) -> Done {
    use ResourceGroupAction as A;
    if let A::Set { threads } = &statement.action {
        return set(session, &statement.name, threads);
    }
    session.commit()?;
    session.check_writable()?;
    session.begin_change()?;
    let db = session.db.clone();
    let catalog = db.catalog();
    let _one = catalog.change_server();
    let name = &statement.name;
    let found = catalog.resource_group(name);
    if let A::Create { system, attributes } = &statement.action {
        if found.is_some() {
            return error(ErrorCode::ResourceGroupExists, &[name]);
        }
        let mut group = ResourceGroup::new(name, *system);
        change(&mut group, attributes)?;
        catalog.put_resource_group(group)?;
        return Ok(StatementOutcome::default());
    }
    let Some(group) = found else { return error(ErrorCode::ResourceGroupNotExists, &[name]) };
    match &statement.action {
        A::Alter { attributes, force } => {
            if group.is_default() {
                return disallowed("Alter");
            }
            if *force && attributes.enable != Some(false) {
                return error(ErrorCode::InvalidUseOfForceOption, &[]);
            }
            let mut new = ResourceGroup::clone(&group);
            change(&mut new, attributes)?;
            catalog.put_resource_group(new)?;
            if *force {
                db.leave_resource_group(&group.name);
            }
        }
        A::Drop { force } => {
            if group.is_default() {
                return disallowed("Drop operation ");
            }
            if !force && db.uses_resource_group(&group.name) {
                return error(ErrorCode::ResourceGroupBusy, &[name]);
            }
            catalog.drop_resource_group(&group)?;
            db.leave_resource_group(&group.name);
        }
        A::Create { .. } | A::Set { .. } => {}
    }
    Ok(StatementOutcome::default())
}

/// Error 3655.
fn disallowed(what: &str) -> Done {
    error(ErrorCode::DisallowedOperation, &[&what, &"default resource groups."])
}

/// Gives a group attributes; errors 3652, 3653 and 3654.
fn change(group: &mut ResourceGroup, attributes: &ResourceGroupAttributes) -> Result<(), SqlError> {
    let present = processor_count();
    let mut wanted = BTreeSet::new();
    for &(first, last) in &attributes.processors {
        if first > last {
            return error(ErrorCode::InvalidVcpuRange, &[&format!("{first}-{last}")]);
        }
        if let Some(missing) = [first, last].iter().find(|number| **number >= present) {
            return error(ErrorCode::InvalidVcpuId, &[missing]);
        }
        wanted.extend(first..=last);
    }
    if !wanted.is_empty() {
        group.processors = wanted.into_iter().collect();
    }
    if let Some(priority) = attributes.priority {
        let (kind, range) = if group.system { ("System", SYSTEM) } else { ("User", USER) };
        if !range.contains(&priority) {
            let args: [&dyn std::fmt::Display; 5] =
                [&priority, &kind, &group.name, range.start(), range.end()];
            return error(ErrorCode::InvalidThreadPriority, &args);
        }
        group.priority = priority;
    }
    group.enabled = attributes.enable.unwrap_or(group.enabled);
    Ok(())
}

fn processor_count() -> u64 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u64)
}

/// SET RESOURCE GROUP: of this session, or of threads as `performance_schema.threads` has them.
fn set(session: &mut SessionContext, name: &str, threads: &[u64]) -> Done {
    let Some(group) = session.db.catalog().resource_group(name) else {
        return error(ErrorCode::ResourceGroupNotExists, &[&name]);
    };
    if !group.enabled {
        return error(ErrorCode::ResourceGroupDisabled, &[&name]);
    }
    let own = [session.env.connection_id];
    let wanted = if threads.is_empty() { &own } else { threads };
    let mut wrong = Vec::new();
    for &thread in wanted {
        if group.system {
            let why = "System resource group can't be applied to user thread.";
            wrong.push(bind_failed(&group.name, thread, why));
        } else if !session.db.enter_resource_group(thread, &group.name) {
            wrong.push(SqlError::new(ErrorCode::InvalidThreadId, &[&thread]));
        }
    }
    match wrong.pop() {
        Some(wrong) if wanted.len() == 1 => Err(wrong),
        last => {
            wrong.extend(last);
            wrong.iter().for_each(|wrong| session.push_warning(wrong));
            Ok(StatementOutcome::default())
        }
    }
}

fn bind_failed(group: &str, thread: u64, why: &str) -> SqlError {
    SqlError::new(ErrorCode::ResourceGroupBindFailed, &[&group, &thread, &format!("({why})")])
}

/// The hint RESOURCE_GROUP: warnings of a group that no session can have.
pub(super) fn take_hint(session: &mut SessionContext, name: &str) {
    match session.db.catalog().resource_group(name) {
        None => session.warn(ErrorCode::ResourceGroupNotExists, &[&name]),
        Some(group) if group.system => {
            let thread = session.env.connection_id;
            let why = "System resource group can't be bound with a session thread";
            let text = format!("({why})");
            session.warn(ErrorCode::ResourceGroupBindFailed, &[&group.name, &thread, &text]);
        }
        Some(_) => {}
    }
}
