//! Statements that define something: databases, tables, indexes and views.

use crate::ddl;
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_parser::ast::Statement;
use inia_query::context::SessionContext;
use inia_query::context::StatementOutcome;

/// Statements that define something: each first commits what is open.
pub(super) fn define(
    core: &mut SessionContext,
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
    );
    if !defines {
        return None;
    }
    // Creating and dropping temporary tables does not end the transaction.
    let temporary = match statement {
        Statement::CreateTable(create) => create.temporary,
        Statement::DropTable(drop) => drop.temporary,
        _ => false,
    };
    let ready = match temporary {
        true => core.check_writable(),
        false => commit_before(core),
    };
    if let Err(error) = ready {
        return Some(Err(error));
    }
    let result = match statement {
        Statement::CreateDatabase(create) => ddl::create_database(core, create),
        Statement::AlterDatabase(alter) => ddl::alter_database(core, alter),
        Statement::DropDatabase { if_exists, name } => ddl::drop_database(core, name, *if_exists),
        Statement::CreateTable(create) => match &create.select {
            Some(select) => ddl::create_table_select(core, create, select, params),
            None => ddl::create_table(core, create),
        },
        Statement::AlterTable(alter) => ddl::alter_table(core, alter),
        Statement::DropTable(drop) => ddl::drop_tables(core, drop),
        Statement::RenameTable(pairs) => ddl::rename_tables(core, pairs),
        Statement::CreateIndex(create) => ddl::create_index(core, create),
        Statement::DropIndex(drop) => ddl::drop_index(core, drop),
        Statement::Truncate(name) => ddl::truncate(core, name),
        Statement::CreateView(create) => ddl::create_view(core, create),
        Statement::DropView(drop) => ddl::drop_views(core, drop),
        _ => return None,
    };
    if !core.state.open {
        core.mdl.release_all();
    }
    if let (Ok(_), Statement::DropTable(drop)) = (&result, statement) {
        core.forget_locks(&drop.names);
    }
    Some(result)
}

/// Ends the open transaction for a statement that is one of its own, and begins the change.
/// Error 1792 where the session's transactions only read; what START TRANSACTION or SET
/// TRANSACTION said of the one that ends here does not count.
fn commit_before(core: &mut SessionContext) -> Result<(), SqlError> {
    core.commit()?;
    core.check_writable()?;
    core.begin_change()
}
