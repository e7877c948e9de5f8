//! GRANT and REVOKE.

use super::Actor;
use super::def::{AccountDef, Columns, ProxyGrant, RoutineName};
use super::privilege::{DYNAMIC, Privileges};
use super::store::{AccountChange, AccountsVersion};
use super::user::{Notes, known_role};
use crate::catalog::{AccountName, ProgramKind, same_name};
use crate::computed;
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{self, GrantWhat, ObjectKind, PrivilegeLevel};

type Result<T> = std::result::Result<T, SqlError>;

/// What privileges are about.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Level {
    Global,
    Database(String),
    Table(String, String),
    Routine(RoutineName),
}

/// The privileges of one statement.
struct Wanted {
    fixed: Privileges,
    dynamic: Vec<String>,
    all: bool,
    columns: Columns,
}

fn error<T>(code: ErrorCode, args: &[&dyn std::fmt::Display]) -> Result<T> {
    Err(SqlError::new(code, args))
}

impl Level {
    fn of(actor: &Actor<'_>, level: &PrivilegeLevel) -> Result<Level> {
        let current = || {
            let missing = || SqlError::new(ErrorCode::NoDatabaseSelected, &[]);
            actor.database.map(str::to_owned).ok_or_else(missing)
        };
        Ok(match level {
            PrivilegeLevel::Global => Level::Global,
            PrivilegeLevel::CurrentDatabase => Level::Database(current()?),
            PrivilegeLevel::Database(name) => Level::Database(name.clone()),
            PrivilegeLevel::Object(ObjectKind::Table, name) => {
                let schema = name.db.clone().map_or_else(current, Ok)?;
                Level::Table(schema, name.name.clone())
            }
            PrivilegeLevel::Object(kind, name) => {
                let kind = match kind {
                    ObjectKind::Function => ProgramKind::Function,
                    _ => ProgramKind::Procedure,
                };
                let schema = name.db.clone().map_or_else(current, Ok)?;
                Level::Routine(RoutineName::new(kind, &schema, &name.name))
            }
        })
    }

    /// What ALL means here.
    fn all(&self) -> Privileges {
        match self {
            Level::Global => Privileges::ALL,
            Level::Database(_) => Privileges::all_on_database(),
            Level::Table(..) => Privileges::all_on_table(),
            Level::Routine(_) => Privileges::all_on_routine(),
        }
    }

    /// Error for privileges that cannot be granted here.
    fn check(&self, wanted: &Wanted) -> Result<()> {
        if let (Some(name), false) = (wanted.dynamic.first(), *self == Level::Global) {
            return error(ErrorCode::IllegalPrivilegeLevel, &[name]);
        }
        if !wanted.columns.0.is_empty() && !matches!(self, Level::Table(..)) {
            return error(ErrorCode::IllegalGrantForTable, &[]);
        }
        if (self.all() | Privileges::GRANT).has(wanted.fixed) {
            return Ok(());
        }
        match self {
            Level::Table(..) | Level::Routine(_) => error(ErrorCode::IllegalGrantForTable, &[]),
            _ => error(ErrorCode::WrongUsage, &[&"DB GRANT", &"GLOBAL PRIVILEGES"]),
        }
    }

    /// Error where the actor may not hand these privileges on.
    fn authorize(&self, actor: &Actor<'_>, wanted: &Wanted) -> Result<()> {
        let held = match self {
            Level::Global => actor.access.global,
            Level::Database(schema) => actor.access.on_database(schema),
            Level::Table(schema, table) => actor.access.on_table(schema, table),
            Level::Routine(RoutineName { schema, kind, name }) => {
                actor.access.on_routine(*kind, schema, name)
            }
        };
        let needed = wanted.fixed | Privileges::GRANT;
        if let Level::Table(schema, table) = self {
            authorize_columns(actor, (schema, table), &wanted.columns)?;
        }
        let dynamic =
            wanted.dynamic.iter().all(|name| actor.access.dynamic.get(name) == Some(&true));
        let only_dynamic = wanted.fixed == Privileges::NONE && !wanted.dynamic.is_empty();
        let fixed = held.has(needed) || only_dynamic;
        if dynamic && fixed {
            return Ok(());
        }
        Err(match self {
            Level::Global if fixed => actor.access.lacks("GRANT OPTION"),
            Level::Global => actor.access.denied(),
            Level::Database(schema) => actor.access.no_database(schema),
            Level::Table(_, table) => {
                let missing = needed & !held;
                let mut names: Vec<_> = missing.members().map(|missing| missing.name).collect();
                if missing.has(Privileges::GRANT) {
                    names.push("GRANT");
                }
                actor.access.no_table(&names.join(", "), table)
            }
            Level::Routine(routine) => {
                let missing = (needed & !held).members().next();
                let command = missing.map_or("grant".to_owned(), |one| one.name.to_lowercase());
                let name = format!("{}.{}", routine.schema, routine.name);
                actor.access.no_routine(&command, &name)
            }
        })
    }
}

impl Wanted {
    fn of(privileges: &[ast::Privilege], level: &Level) -> Result<Wanted> {
        let mut wanted = Wanted {
            fixed: Privileges::NONE,
            dynamic: Vec::new(),
            all: privileges.is_empty(),
            columns: Columns::default(),
        };
        if wanted.all {
            wanted.fixed = level.all();
            if *level == Level::Global {
                wanted.dynamic = DYNAMIC.iter().map(|name| (*name).to_owned()).collect();
            }
        }
        for privilege in privileges {
            if let Some(one) = Privileges::by_name(&privilege.name)
                && !privilege.columns.is_empty()
            {
                privilege.columns.iter().for_each(|column| wanted.columns.add(column, one));
                continue;
            }
            match privilege.name.as_str() {
                "USAGE" => {}
                "GRANT OPTION" => wanted.fixed |= Privileges::GRANT,
                name => match Privileges::by_name(name) {
                    Some(one) => wanted.fixed |= one,
                    None if DYNAMIC.contains(&name) => wanted.dynamic.push(name.to_owned()),
                    None => return error(ErrorCode::SyntaxError, &[]),
                },
            }
        }
        Ok(wanted)
    }
}

/// Errors 1142 and 1143 where privileges on columns may not be handed on.
fn authorize_columns(
    actor: &Actor<'_>,
    (schema, table): (&str, &str),
    columns: &Columns,
) -> Result<()> {
    let access = actor.access;
    let some = access.on_table(schema, table) | access.on_some_column(schema, table);
    for (column, wanted) in &columns.0 {
        if !some.has(*wanted | Privileges::GRANT) {
            let missing = *wanted & !some;
            let name = missing.members().next().map_or("GRANT", |missing| missing.name);
            return Err(access.no_table(name, table));
        }
        let missing = *wanted & !access.on_column(schema, table, column);
        if let Some(missing) = missing.members().next() {
            return Err(access.no_column(missing.name, column, table));
        }
    }
    Ok(())
}

/// GRANT.
pub fn grant(actor: &Actor<'_>, grant: &ast::Grant) -> Result<Notes> {
    match &grant.what {
        GrantWhat::Privileges { privileges, level } => {
            let level = Level::of(actor, level)?;
            let wanted = Wanted::of(privileges, &level)?;
            level.check(&wanted)?;
            level.authorize(actor, &wanted)?;
            check_table(actor, &level, &wanted)?;
            let mut notes = change_each(actor, grant.to.iter(), |def| {
                give(def, &level, &wanted, grant.with_option);
                Ok(())
            })?;
            notes.extend(of_super(privileges));
            Ok(notes)
        }
        GrantWhat::Roles(roles) => {
            let roles: Vec<AccountName> = roles.iter().map(|role| actor.name(role)).collect();
            authorize_roles(actor, &roles)?;
            let current = actor.accounts.current();
            roles.iter().try_for_each(|role| known_role(&current, role))?;
            for account in &grant.to {
                known_role(&current, &actor.name(account))?;
            }
            change_each(actor, grant.to.iter(), |def| {
                for role in &roles {
                    refuse_loop(&current, role, &def.name)?;
                    *def.roles.entry(role.clone()).or_default() |= grant.with_option;
                }
                Ok(())
            })
        }
        GrantWhat::Proxy(proxied) => {
            let proxied = actor.name(proxied);
            authorize_proxy(actor, &proxied)?;
            let AccountName { user, host } = &actor.access.account;
            let grantor = format!("{user}@{host}");
            let given = ProxyGrant { grant: grant.with_option, grantor, since: actor.now };
            change_each(actor, grant.to.iter(), |def| {
                if grant.with_option {
                    def.global |= Privileges::GRANT;
                }
                def.proxies.insert(proxied.clone(), given.clone());
                Ok(())
            })
        }
        GrantWhat::Everything => error(ErrorCode::SyntaxError, &[]),
    }
}

/// Error 1698 where the actor may not make others proxies of an account.
fn authorize_proxy(actor: &Actor<'_>, proxied: &AccountName) -> Result<()> {
    let current = actor.accounts.current();
    let own = current.get(&actor.access.account);
    let hands_on = |name: &AccountName| {
        own.and_then(|own| own.proxies.get(name)).is_some_and(|given| given.grant)
    };
    let itself = *proxied == actor.access.account;
    if itself || hands_on(proxied) || hands_on(&AccountName::new("", "")) {
        return Ok(());
    }
    let (user, host) = (&actor.access.account.user, &actor.access.client);
    error(ErrorCode::AccessDeniedNoPassword, &[user, host])
}

/// Warning 1287 where SUPER is named.
fn of_super(privileges: &[ast::Privilege]) -> Option<SqlError> {
    let named = privileges.iter().any(|privilege| privilege.name == "SUPER");
    let text = "The SUPER privilege identifier is deprecated";
    named.then(|| SqlError::with_message(ErrorCode::WarnDeprecatedSyntax, text))
}

pub(super) fn authorize_roles(actor: &Actor<'_>, roles: &[AccountName]) -> Result<()> {
    if actor.access.has_dynamic("ROLE_ADMIN") {
        return Ok(());
    }
    let current = actor.accounts.current();
    let own = current.get(&actor.access.account);
    let admin = |role| own.is_some_and(|own| own.roles.get(role) == Some(&true));
    if roles.iter().all(admin) {
        return Ok(());
    }
    Err(actor.access.lacks("WITH ADMIN, ROLE_ADMIN, SUPER"))
}

/// Error 4027 where the role would be granted to itself, perhaps through others.
fn refuse_loop(current: &AccountsVersion, role: &AccountName, to: &AccountName) -> Result<()> {
    let mut waiting = vec![role];
    let mut seen: Vec<&AccountName> = Vec::new();
    while let Some(next) = waiting.pop() {
        if next == to {
            return error(ErrorCode::RoleGrantedToItself, &[&to.backquoted(), &role.backquoted()]);
        }
        if !seen.contains(&next) {
            seen.push(next);
            waiting.extend(current.get(next).iter().flat_map(|def| def.roles.keys()));
        }
    }
    Ok(())
}

/// Error 1146, unless CREATE is among the privileges; error 1054 for columns that are not there.
fn check_table(actor: &Actor<'_>, level: &Level, wanted: &Wanted) -> Result<()> {
    let (schema, table) = match level {
        Level::Table(schema, table) => (schema, table),
        Level::Routine(routine) => return check_routine(actor, routine),
        Level::Global | Level::Database(_) => return Ok(()),
    };
    let there = wanted.fixed.has(Privileges::CREATE)
        || actor.catalog.schemas.get(schema).is_some_and(|s| s.has(table))
        || computed::position(schema, table).is_some();
    if !there {
        return error(ErrorCode::NoSuchTable, &[schema, table]);
    }
    let own = actor.catalog.schemas.get(schema);
    let stored = own.and_then(|schema| schema.tables.get(table)).map(|table| &table.def.columns);
    let shown = own.and_then(|schema| schema.views.get(table)).map(|view| &view.def.columns);
    let Some(columns) = stored.or(shown) else { return Ok(()) };
    let unknown = |name: &&String| !columns.iter().any(|column| same_name(&column.name, name));
    match wanted.columns.0.keys().find(unknown) {
        Some(name) => error(ErrorCode::UnknownColumn, &[name, table]),
        None => Ok(()),
    }
}

/// Error 1305.
fn check_routine(actor: &Actor<'_>, routine: &RoutineName) -> Result<()> {
    let RoutineName { schema, kind, name } = routine;
    let known = actor.catalog.schemas.get(schema).and_then(|own| own.program(*kind, name));
    match known {
        Some(_) => Ok(()),
        None => error(ErrorCode::SpDoesNotExist, &[&kind.word(), name]),
    }
}

/// Changes each account; error 1410 where one is missing.
fn change_each<'s>(
    actor: &Actor<'_>,
    accounts: impl Iterator<Item = &'s ast::Account>,
    mut change: impl FnMut(&mut AccountDef) -> Result<()>,
) -> Result<Notes> {
    actor.accounts.change(|current, changes| {
        for account in accounts {
            let missing = || SqlError::new(ErrorCode::CantCreateUserWithGrant, &[]);
            let found = current.get(&actor.name(account)).ok_or_else(missing)?;
            actor.protect(found)?;
            let mut def = AccountDef::clone(found);
            change(&mut def)?;
            changes.push(AccountChange::Put(def));
        }
        Ok(Notes::new())
    })
}

fn give(def: &mut AccountDef, level: &Level, wanted: &Wanted, with_option: bool) {
    let option = if with_option { Privileges::GRANT } else { Privileges::NONE };
    let fixed = wanted.fixed | option;
    match level {
        Level::Global if wanted.fixed == Privileges::NONE && !wanted.dynamic.is_empty() => {}
        Level::Global => def.global |= fixed,
        Level::Database(schema) => {
            if fixed != Privileges::NONE {
                *def.databases.entry(schema.clone()).or_default() |= fixed;
            }
        }
        Level::Table(schema, table) => {
            let table = (schema.clone(), table.clone());
            for (column, privileges) in &wanted.columns.0 {
                def.columns.entry(table.clone()).or_default().add(column, *privileges);
            }
            if fixed != Privileges::NONE {
                *def.tables.entry(table).or_default() |= fixed;
            }
        }
        Level::Routine(routine) => {
            if fixed != Privileges::NONE {
                *def.routines.entry(routine.clone()).or_default() |= fixed;
            }
        }
    }
    for name in &wanted.dynamic {
        *def.dynamic.entry(name.clone()).or_default() |= with_option;
    }
}

/// REVOKE.
pub fn revoke(actor: &Actor<'_>, revoke: &ast::Revoke) -> Result<Notes> {
    match &revoke.what {
        GrantWhat::Privileges { privileges, level } => {
            let level = Level::of(actor, level)?;
            let mut wanted = Wanted::of(privileges, &level)?;
            // The rules of GRANT apply: privileges fit the level, and the actor could grant them.
            level.check(&wanted)?;
            level.authorize(actor, &wanted)?;
            if wanted.all {
                wanted.fixed = level.all();
            }
            let missing = |name: &AccountName| level.missing(name, wanted.all);
            let mut notes = revoke_each(actor, revoke, missing, |def| take(def, &level, &wanted))?;
            notes.extend(of_super(privileges));
            Ok(notes)
        }
        GrantWhat::Roles(roles) => {
            let roles: Vec<AccountName> = roles.iter().map(|role| actor.name(role)).collect();
            authorize_roles(actor, &roles)?;
            let current = actor.accounts.current();
            let unknown = |role: &AccountName| known_role(&current, role).err();
            let mut notes: Notes = roles.iter().filter_map(unknown).collect();
            if !revoke.if_exists
                && let Some(error) = notes.pop()
            {
                return Err(notes.into_iter().next().unwrap_or(error));
            }
            let missing = |name: &AccountName| {
                SqlError::new(ErrorCode::UnknownAuthid, &[&name.user, &name.host])
            };
            notes.extend(revoke_each(actor, revoke, missing, |def| {
                for role in &roles {
                    // Default roles are granted ones, so a revoked role leaves both lists.
                    def.roles.remove(role);
                    def.default_roles.remove(role);
                }
                Ok(())
            })?);
            Ok(notes)
        }
        GrantWhat::Proxy(proxied) => {
            let proxied = actor.name(proxied);
            authorize_proxy(actor, &proxied)?;
            revoke_each(actor, revoke, no_grant, |def| match def.proxies.remove(&proxied) {
                Some(_) => Ok(()),
                None => {
                    let AccountName { user, host } = &def.name;
                    error(ErrorCode::NonexistingGrant, &[user, host])
                }
            })
        }
        GrantWhat::Everything => {
            actor.need(Privileges::CREATE_USER, "CREATE USER")?;
            let missing = |_: &AccountName| SqlError::new(ErrorCode::RevokeGrants, &[]);
            revoke_each(actor, revoke, missing, |def| {
                // Granted roles stay, as in MySQL.
                def.global = Privileges::NONE;
                def.dynamic.clear();
                def.databases.clear();
                def.tables.clear();
                def.columns.clear();
                def.routines.clear();
                Ok(())
            })
        }
    }
}

/// Error 1141.
fn no_grant(name: &AccountName) -> SqlError {
    SqlError::new(ErrorCode::NonexistingGrant, &[&name.user, &name.host])
}

/// Changes each account. A `missing` account is an error, or a warning with IGNORE UNKNOWN USER; a
/// missing grant is an error, or a warning with IF EXISTS.
fn revoke_each(
    actor: &Actor<'_>,
    revoke: &ast::Revoke,
    missing: impl Fn(&AccountName) -> SqlError,
    mut take: impl FnMut(&mut AccountDef) -> Result<()>,
) -> Result<Notes> {
    actor.accounts.change(|current, changes| {
        let mut notes = Notes::new();
        for account in &revoke.from {
            let name = actor.name(account);
            let Some(def) = current.get(&name) else {
                if revoke.ignore_unknown {
                    notes.push(SqlError::new(ErrorCode::UserDoesNotExist, &[&name.user]));
                    continue;
                }
                return Err(missing(&name));
            };
            actor.protect(def)?;
            let mut def = AccountDef::clone(def);
            match take(&mut def) {
                Ok(()) => changes.push(AccountChange::Put(def)),
                Err(error) if revoke.if_exists => notes.push(error),
                Err(error) => return Err(error),
            }
        }
        Ok(notes)
    })
}

impl Level {
    /// The error for an account that is not there.
    fn missing(&self, name: &AccountName, all: bool) -> SqlError {
        let AccountName { user, host } = name;
        match self {
            Level::Global if all => SqlError::new(ErrorCode::RevokeGrants, &[]),
            Level::Global | Level::Database(_) => no_grant(name),
            Level::Table(_, table) => {
                SqlError::new(ErrorCode::NonexistingTableGrant, &[user, host, table])
            }
            Level::Routine(routine) => {
                let args: [&dyn std::fmt::Display; 3] = [user, host, &routine.name];
                SqlError::new(ErrorCode::NonexistingProcGrant, &args)
            }
        }
    }
}

fn take(def: &mut AccountDef, level: &Level, wanted: &Wanted) -> Result<()> {
    let AccountName { user, host } = &def.name;
    match level {
        Level::Global => {
            def.global &= !wanted.fixed;
            def.dynamic.retain(|name, _| !wanted.dynamic.contains(name));
        }
        Level::Database(schema) => {
            let Some(held) = def.databases.get_mut(schema) else {
                return error(ErrorCode::NonexistingGrant, &[user, host]);
            };
            *held &= !wanted.fixed;
            def.databases.retain(|_, held| *held != Privileges::NONE);
        }
        Level::Table(schema, table) => {
            let key = (schema.clone(), table.clone());
            let (held, columns) = (def.tables.get_mut(&key), def.columns.get_mut(&key));
            let mut there = held.is_some() || columns.is_some();
            if let Some(held) = held {
                *held &= !wanted.fixed;
            }
            let mut columns = columns;
            for (column, privileges) in &wanted.columns.0 {
                there &= columns.as_mut().is_some_and(|own| own.remove(column, *privileges));
            }
            if !there {
                return error(ErrorCode::NonexistingTableGrant, &[user, host, table]);
            }
            if let Some(columns) = columns {
                columns.remove_all(wanted.fixed);
            }
            def.tables.retain(|_, held| *held != Privileges::NONE);
            def.columns.retain(|_, columns| !columns.0.is_empty());
        }
        Level::Routine(routine) => {
            let Some(held) = def.routines.get_mut(routine) else {
                let args: [&dyn std::fmt::Display; 3] = [user, host, &routine.name];
                return error(ErrorCode::NonexistingProcGrant, &args);
            };
            *held &= !wanted.fixed;
            def.routines.retain(|_, held| *held != Privileges::NONE);
        }
    }
    Ok(())
}
