//! SHOW GRANTS and SHOW CREATE USER, letter for letter as MySQL prints them.

use super::Actor;
use super::def::{AccountDef, Columns};
use super::privilege::Privileges;
use super::store::AccountsVersion;
use super::user::not_granted;
use crate::catalog::AccountName;
use crate::catalog::{ProgramKind, quoted};
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Title of the only column, and the lines.
pub type Listing = (String, Vec<String>);

/// SHOW GRANTS.
pub fn show_grants(
    actor: &Actor<'_>,
    account: Option<&ast::Account>,
    using: &[ast::Account],
) -> Result<Listing, SqlError> {
    let name = account.map_or(actor.access.account.clone(), |account| actor.name(account));
    if name != actor.access.account && !actor.access.on_database("mysql").has(Privileges::SELECT) {
        return Err(actor.access.no_table("SELECT", "user"));
    }
    let current = actor.accounts.current();
    let missing = || SqlError::new(ErrorCode::NonexistingGrant, &[&name.user, &name.host]);
    let mut def = AccountDef::clone(current.get(&name).ok_or_else(missing)?);
    // The session's own privileges are shown with those of its active roles.
    if using.is_empty() && matches!(account, None | Some(ast::Account::Current)) {
        let active = actor.access.roles.iter().filter_map(|role| current.get(role));
        active.for_each(|role| merge(&mut def, role));
    }
    for role in using {
        let role = actor.name(role);
        if !def.roles.contains_key(&role) {
            return Err(not_granted(&role, &name));
        }
        if let Some(role) = current.get(&role) {
            merge(&mut def, role);
        }
    }
    let title = format!("Grants for {}@{}", name.user, name.host);
    Ok((title, lines(&def)))
}

fn merge(def: &mut AccountDef, role: &AccountDef) {
    def.global |= role.global;
    for (name, grant) in &role.dynamic {
        *def.dynamic.entry(name.clone()).or_default() |= grant;
    }
    for (name, privileges) in &role.databases {
        *def.databases.entry(name.clone()).or_default() |= *privileges;
    }
    for (name, privileges) in &role.tables {
        *def.tables.entry(name.clone()).or_default() |= *privileges;
    }
    for (table, columns) in &role.columns {
        let own = def.columns.entry(table.clone()).or_default();
        columns.0.iter().for_each(|(name, privileges)| own.add(name, *privileges));
    }
    for (routine, privileges) in &role.routines {
        *def.routines.entry(routine.clone()).or_default() |= *privileges;
    }
}

/// The privileges on a table, each followed by the columns that it was granted on.
fn on_table(held: Privileges, columns: Option<&Columns>) -> String {
    let Some(columns) = columns.filter(|_| !held.has(Privileges::all_on_table())) else {
        return held.list(Privileges::all_on_table());
    };
    let mut words = Vec::new();
    for privilege in (held | columns.on_some()).members() {
        let one = Privileges::by_name(privilege.name).unwrap_or_default();
        if held.has(one) {
            words.push(privilege.name.to_owned());
        }
        let granted = columns.0.iter().filter(|(_, held)| held.has(one));
        let names: Vec<String> = granted.map(|(name, _)| quoted(name).to_string()).collect();
        if !names.is_empty() {
            words.push(format!("{} ({})", privilege.name, names.join(", ")));
        }
    }
    words.join(", ")
}

fn lines(def: &AccountDef) -> Vec<String> {
    let to = def.name.backquoted();
    let option = |privileges: Privileges| match privileges.has(Privileges::GRANT) {
        true => " WITH GRANT OPTION",
        false => "",
    };
    // ALL PRIVILEGES is never printed for *.*: dynamic privileges are not part of it.
    let global = def.global.list(Privileges::GRANT);
    let mut lines = vec![format!("GRANT {global} ON *.* TO {to}{}", option(def.global))];
    for (wanted, suffix) in [(false, ""), (true, " WITH GRANT OPTION")] {
        let names: Vec<&str> = def
            .dynamic
            .iter()
            .filter(|(_, grant)| **grant == wanted)
            .map(|(name, _)| name.as_str())
            .collect();
        if !names.is_empty() {
            lines.push(format!("GRANT {} ON *.* TO {to}{suffix}", names.join(",")));
        }
    }
    for (schema, held) in &def.databases {
        let list = held.list(Privileges::all_on_database());
        lines.push(format!("GRANT {list} ON {}.* TO {to}{}", quoted(schema), option(*held)));
    }
    let tables: BTreeSet<_> = def.tables.keys().chain(def.columns.keys()).collect();
    for name in tables {
        let held = def.tables.get(name).copied().unwrap_or_default();
        let list = on_table(held, def.columns.get(name));
        let table = format!("{}.{}", quoted(&name.0), quoted(&name.1));
        lines.push(format!("GRANT {list} ON {table} TO {to}{}", option(held)));
    }
    // Procedures come first, as in MySQL.
    for kind in [ProgramKind::Procedure, ProgramKind::Function] {
        for (routine, held) in def.routines.iter().filter(|(routine, _)| routine.kind == kind) {
            let list = held.list(Privileges::GRANT);
            let name = format!("{}.{}", quoted(&routine.schema), quoted(&routine.name));
            let kind = kind.word();
            lines.push(format!("GRANT {list} ON {kind} {name} TO {to}{}", option(*held)));
        }
    }
    for (proxied, given) in &def.proxies {
        let suffix = if given.grant { " WITH GRANT OPTION" } else { "" };
        lines.push(format!("GRANT PROXY ON {} TO {to}{suffix}", proxied.backquoted()));
    }
    for (wanted, suffix) in [(false, ""), (true, " WITH ADMIN OPTION")] {
        let roles: Vec<String> = def
            .roles
            .iter()
            .filter(|(_, admin)| **admin == wanted)
            .map(|(role, _)| role.backquoted())
            .collect();
        if !roles.is_empty() {
            lines.push(format!("GRANT {} TO {to}{suffix}", roles.join(",")));
        }
    }
    lines
}

/// SHOW CREATE USER.
pub fn show_create_user(actor: &Actor<'_>, account: &ast::Account) -> Result<Listing, SqlError> {
    let name = actor.name(account);
    if name != actor.access.account && !actor.access.on_database("mysql").has(Privileges::SELECT) {
        return Err(actor.access.no_database("mysql"));
    }
    let current = actor.accounts.current();
    let failed = || SqlError::new(ErrorCode::CannotUser, &[&"SHOW CREATE USER", &name.quoted()]);
    let def = current.get(&name).ok_or_else(failed)?;
    Ok((format!("CREATE USER for {}@{}", name.user, name.host), vec![create_user(def)]))
}

fn create_user(def: &AccountDef) -> String {
    let mut out = format!("CREATE USER {} IDENTIFIED WITH '{}'", def.name.backquoted(), def.plugin);
    if !def.auth_string.is_empty() {
        let text = String::from_utf8_lossy(&def.auth_string);
        let _ = write!(out, " AS '{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
    }
    if !def.default_roles.is_empty() {
        let roles: Vec<String> = def.default_roles.iter().map(AccountName::backquoted).collect();
        let _ = write!(out, " DEFAULT ROLE {}", roles.join(","));
    }
    // MySQL prints REQUIRE, the expiry, the lock and the reuse rules always, a limit of
    // resources or of failed logins only where one is set.
    let tls = if def.tls.is_empty() { "NONE" } else { &def.tls };
    let _ = write!(out, " REQUIRE {tls}");
    let limits: Vec<String> = def
        .limits
        .iter()
        .filter(|(_, number)| **number > 0)
        .map(|(word, number)| format!(" {word} {number}"))
        .collect();
    if !limits.is_empty() {
        let _ = write!(out, " WITH{}", limits.concat());
    }
    match (def.expired, def.lifetime) {
        (true, _) => out.push_str(" PASSWORD EXPIRE"),
        (false, None) => out.push_str(" PASSWORD EXPIRE DEFAULT"),
        (false, Some(0)) => out.push_str(" PASSWORD EXPIRE NEVER"),
        (false, Some(days)) => {
            let _ = write!(out, " PASSWORD EXPIRE INTERVAL {days} DAY");
        }
    }
    out.push_str(if def.locked { " ACCOUNT LOCK" } else { " ACCOUNT UNLOCK" });
    let number = |number: Option<u64>, unit: &str| {
        number.map_or(String::from("DEFAULT"), |number| format!("{number}{unit}"))
    };
    let current = match def.require_current {
        None => " DEFAULT",
        Some(true) => "",
        Some(false) => " OPTIONAL",
    };
    let _ = write!(
        out,
        " PASSWORD HISTORY {} PASSWORD REUSE INTERVAL {} PASSWORD REQUIRE CURRENT{current}",
        number(def.history, ""),
        number(def.reuse_interval, " DAY"),
    );
    // The two options are printed together, with 0 for the one that was not set.
    if def.failed_attempts.is_some() || def.lock_time.is_some() {
        let _ = write!(out, " FAILED_LOGIN_ATTEMPTS {}", def.failed_attempts.unwrap_or(0));
        match def.lock_time {
            Some(u64::MAX) => out.push_str(" PASSWORD_LOCK_TIME UNBOUNDED"),
            days => {
                let _ = write!(out, " PASSWORD_LOCK_TIME {}", days.unwrap_or(0));
            }
        }
    }
    if let Some(attribute) = &def.attribute {
        let _ = write!(out, " ATTRIBUTE '{}'", attribute.replace('\'', "\\'"));
    }
    out
}

/// ROLES_GRAPHML: the accounts as nodes, and an edge from each to the roles that it was granted;
/// its color is 1 where it may hand the role on.
pub(crate) fn roles_graph(accounts: &AccountsVersion, sees: bool) -> String {
    const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
    if !sees {
        return format!("{HEAD}<graphml />");
    }
    let names: Vec<&AccountName> = accounts.accounts.keys().collect();
    let mut out = format!(
        "{HEAD}\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
         xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns \
         http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">\n  \
         <key id=\"key0\" for=\"edge\" attr.name=\"color\" attr.type=\"int\" />\n  \
         <key id=\"key1\" for=\"node\" attr.name=\"name\" attr.type=\"string\" />\n  \
         <graph id=\"G\" edgedefault=\"directed\" parse.nodeids=\"canonical\" \
         parse.edgeids=\"canonical\" parse.order=\"nodesfirst\">\n"
    );
    for (number, name) in names.iter().enumerate() {
        let name = name.backquoted().replace('&', "&amp;").replace('<', "&lt;");
        let name = name.replace('>', "&gt;");
        let _ = write!(
            out,
            "    <node id=\"n{number}\">\n      <data key=\"key1\">{name}</data>\n    </node>\n"
        );
    }
    let mut edges = 0;
    for (number, def) in accounts.accounts.values().enumerate() {
        for (role, admin) in &def.roles {
            let Some(target) = names.iter().position(|name| *name == role) else { continue };
            let color = u8::from(*admin);
            let _ = write!(
                out,
                "    <edge id=\"e{edges}\" source=\"n{number}\" target=\"n{target}\">\n      \
                 <data key=\"key0\">{color}</data>\n    </edge>\n"
            );
            edges += 1;
        }
    }
    out.push_str("  </graph>\n</graphml>\n");
    out
}
