//! Statements that define something: databases, tables, indexes and views.

use super::system_tables;
use crate::ddl;
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_parser::ast::{self, MaintenanceKind, Statement};
use inia_query::context::SessionContext;
use inia_query::context::StatementOutcome;

/// Statements that define something: each first commits what is open.
pub(super) fn define(
    session: &mut SessionContext,
    statement: &Statement,
    params: &[Value],
) -> Option<Result<StatementOutcome, SqlError>> {
    let defines = matches!(
        statement,
        Statement::CreateDatabase(_)
            | Statement::AlterDatabase(_)
            | Statement::DropDatabase { .. }
            | Statement::CreateTable(_)
            | Statement::AlterTable(_)
            | Statement::DropTable(_)
            | Statement::RenameTable(_)
            | Statement::CreateIndex(_)
            | Statement::DropIndex(_)
            | Statement::Truncate(_)
            | Statement::CreateView(_)
            | Statement::DropView(_)
            | Statement::Sequence(_)
            | Statement::CreateRoutine(_)
            | Statement::AlterRoutine(_)
            | Statement::DropRoutine(_)
    );
    if !defines || partition_care(statement).is_some() {
        return None;
    }
    let ready = match is_temporary(statement) {
        true => session.check_writable(),
        false => commit_before(session),
    };
    if let Err(error) = ready {
        return Some(Err(error));
    }
    let result = match statement {
        Statement::CreateDatabase(create) => ddl::create_database(session, create),
        Statement::AlterDatabase(alter) => ddl::alter_database(session, alter),
        Statement::DropDatabase { if_exists, name } => {
            ddl::drop_database(session, name, *if_exists)
        }
        Statement::CreateTable(create) => match &create.select {
            Some(select) => ddl::create_table_select(session, create, select, params),
            None => ddl::create_table(session, create),
        },
        Statement::AlterTable(alter) => ddl::alter_table(session, alter),
        Statement::DropTable(drop) => ddl::drop_tables(session, drop),
        Statement::RenameTable(pairs) => ddl::rename_tables(session, pairs),
        Statement::CreateIndex(create) => ddl::create_index(session, create),
        Statement::DropIndex(drop) => ddl::drop_index(session, drop),
        Statement::Truncate(name) => system_tables::truncate(session, name),
        Statement::CreateView(create) => ddl::create_view(session, create),
        Statement::DropView(drop) => ddl::drop_views(session, drop),
        Statement::Sequence(sequence) => ddl::define_sequence(session, sequence),
        Statement::CreateRoutine(_) | Statement::AlterRoutine(_) | Statement::DropRoutine(_) => {
            super::program::define::execute(session, statement)
        }
        _ => return None,
    };
    if !session.state.open {
        session.mdl.release_all();
    }
    if let (Ok(_), Statement::DropTable(drop)) = (&result, statement) {
        session.forget_locks(&drop.names);
    }
    Some(result.or_else(|error| system_tables::keep_builtin(session, statement, error)))
}

/// Creating and dropping temporary tables does not end the transaction.
fn is_temporary(statement: &Statement) -> bool {
    match statement {
        Statement::CreateTable(create) => create.temporary,
        Statement::DropTable(drop) => drop.temporary,
        _ => false,
    }
}

/// Ends the open transaction for a statement that is one of its own, and begins the change.
/// Error 1792 where the session's transactions only read; what START TRANSACTION or SET
/// TRANSACTION said of the one that ends here does not count.
fn commit_before(session: &mut SessionContext) -> Result<(), SqlError> {
    session.commit()?;
    session.check_writable()?;
    session.begin_change()
}

/// The action of ALTER TABLE that looks after partitions and changes no definition.
pub(super) fn partition_care(
    statement: &Statement,
) -> Option<(&ast::AlterTable, MaintenanceKind, &ast::PartitionNames)> {
    use ast::PartitionAction as A;
    let Statement::AlterTable(alter) = statement else { return None };
    let [ast::AlterAction::Partition(action)] = alter.actions.as_slice() else { return None };
    let (kind, names) = match action {
        A::Analyze(names) => (MaintenanceKind::Analyze, names),
        A::Check(names) => (MaintenanceKind::Check, names),
        A::Optimize(names) => (MaintenanceKind::Optimize, names),
        A::Repair(names) => (MaintenanceKind::Repair, names),
        _ => return None,
    };
    Some((alter, kind, names))
}
