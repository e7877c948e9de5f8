//! The settings and privileges that a program runs with: those of its creation.

use inia_base::collation::{Charset, Collation};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::sql_mode::SqlMode;
use inia_query::account::Access;
use inia_query::catalog::{AccountName, ProgramDef, StoredProgram};
use inia_query::context::SessionContext;
use inia_query::sysvar::sql_mode;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What the session had before the program.
pub(super) struct Before {
    database: Option<Option<String>>,
    mode: (SqlMode, Option<String>),
    collation: Collation,
    charset: Charset,
    account: Option<(Arc<Access>, BTreeSet<AccountName>, String)>,
}

/// Gives the session what a program runs with: error 1449 where its definer is gone, 1370 where it
/// may not execute the program.
pub(super) fn enter(
    context: &mut SessionContext,
    stored: &StoredProgram,
) -> Result<Before, SqlError> {
    let def = &stored.def;
    let account = take_account(context, stored)?;
    let mut before = Before {
        database: None,
        mode: (context.env.sql_mode, context.host.vars.borrow().values.get("sql_mode").cloned()),
        collation: context.env.collation,
        charset: context.env.client_charset,
        account,
    };
    if context.env.database.as_deref() != Some(def.schema.as_str()) {
        before.database = Some(context.env.database.replace(def.schema.clone()));
    }
    if context.env.sql_mode != def.sql_mode {
        let text = sql_mode::text(def.sql_mode);
        context.host.vars.borrow_mut().values.insert("sql_mode", text);
        context.env.sql_mode = def.sql_mode;
    }
    if let Some(collation) = Collation::from_name(&def.collation_connection) {
        context.env.collation = collation;
    }
    if let Some(charset) = Charset::from_name(&def.charset_client) {
        context.env.client_charset = charset;
    }
    Ok(before)
}

/// Gives the session back what it had.
pub(super) fn leave(context: &mut SessionContext, before: Before, def: &ProgramDef) {
    if let Some(database) = before.database {
        context.env.database = database;
    }
    // What the program has set ends with it.
    let (mode, text) = before.mode;
    if context.env.sql_mode != mode {
        context.settings += u64::from(context.env.sql_mode != def.sql_mode);
        context.env.sql_mode = mode;
        let mut vars = context.host.vars.borrow_mut();
        match text {
            Some(text) => drop(vars.values.insert("sql_mode", text)),
            None => drop(vars.values.remove("sql_mode")),
        }
    }
    context.env.collation = before.collation;
    context.env.client_charset = before.charset;
    if let Some((access, roles, user)) = before.account {
        context.host.act_as(access, roles);
        context.env.current_user = user;
    }
}

/// Lets the session act as the program's definer, where it is another account.
fn take_account(
    context: &mut SessionContext,
    stored: &StoredProgram,
) -> Result<Option<(Arc<Access>, BTreeSet<AccountName>, String)>, SqlError> {
    let (own, def) = (context.access(), &stored.def);
    if def.invoker || own.account == def.definer {
        return Ok(None);
    }
    let accounts = context.db.accounts.current();
    let Some(definer) = accounts.get(&def.definer) else {
        let AccountName { user, host } = &def.definer;
        return Err(SqlError::new(ErrorCode::NoSuchUser, &[user, host]));
    };
    let roles = definer.default_roles.clone();
    let access = Arc::new(Access::new(&accounts, &def.definer, &roles));
    let (access, roles) = context.host.act_as(access, roles);
    let name = format!("{}@{}", def.definer.user, def.definer.host);
    if def.trigger.is_none()
        && let Err(error) = context.check_execute(stored)
    {
        context.host.act_as(access, roles);
        return Err(error);
    }
    let user = std::mem::replace(&mut context.env.current_user, name);
    Ok(Some((access, roles, user)))
}
