//! Roles in `information_schema`: those that may be taken, and what those in force may do.

use super::grants::members;
use super::{Information, Rows, row, yes_no};
use crate::account::{AccountDef, AccountName, Privileges};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Each role that the session's account has, by itself or by another role: who has it, the role,
/// and whether it may be handed on.
fn granted(info: &Information<'_>) -> Vec<(AccountName, AccountName, bool)> {
    let current = info.db.accounts.current();
    let mut found: Vec<(AccountName, AccountName, bool)> = Vec::new();
    let mut open = vec![info.access.account.clone()];
    let mut seen = BTreeSet::new();
    while let Some(name) = open.pop() {
        if !seen.insert(name.clone()) {
            continue;
        }
        let Some(def) = current.get(&name) else { continue };
        for (role, admin) in &def.roles {
            found.push((name.clone(), role.clone(), *admin));
            open.push(role.clone());
        }
    }
    found
}

pub(super) fn applicable_roles(info: &Information<'_>, rows: &mut Rows) {
    roles(info, false, rows);
}

/// ADMINISTRABLE_ROLE_AUTHORIZATIONS: the roles that may be handed on.
pub(super) fn administrable_roles(info: &Information<'_>, rows: &mut Rows) {
    roles(info, true, rows);
}

fn roles(info: &Information<'_>, administrable: bool, rows: &mut Rows) {
    let current = info.db.accounts.current();
    let own = &info.access.account;
    for (grantee, role, admin) in granted(info) {
        if administrable && !admin {
            continue;
        }
        let default = current.get(&grantee).is_some_and(|def| def.default_roles.contains(&role));
        rows.push(row![
            own.user.as_str(),
            own.host.as_str(),
            grantee.user.as_str(),
            grantee.host.as_str(),
            role.user.as_str(),
            role.host.as_str(),
            yes_no(admin),
            yes_no(default),
            "NO",
        ]);
    }
}

/// The roles in force, those that they have among them.
fn in_force(info: &Information<'_>) -> Vec<Arc<AccountDef>> {
    let current = info.db.accounts.current();
    let mut open: Vec<AccountName> = info.access.roles.iter().cloned().collect();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    while let Some(name) = open.pop() {
        if seen.insert(name.clone())
            && let Some(def) = current.accounts.get(&name)
        {
            open.extend(def.roles.keys().cloned());
            found.push(def.clone());
        }
    }
    found
}

/// What begins a row of a grant: who gave it is not kept.
fn start(role: &AccountDef, schema: &str, name: &str) -> Vec<inia_base::value::Value> {
    let own = &role.name;
    row!["", "", own.user.as_str(), own.host.as_str(), "def", schema, name]
}

pub(super) fn table_grants(info: &Information<'_>, rows: &mut Rows) {
    for role in in_force(info) {
        for ((schema, table), held) in &role.tables {
            let mut row = start(&role, schema, table);
            row.extend(row![members(*held), yes_no(held.has(Privileges::GRANT))]);
            rows.push(row);
        }
    }
}

pub(super) fn column_grants(info: &Information<'_>, rows: &mut Rows) {
    for role in in_force(info) {
        for ((schema, table), columns) in &role.columns {
            let key = (schema.clone(), table.clone());
            let on_table = role.tables.get(&key).copied().unwrap_or_default();
            for (column, held) in &columns.0 {
                let mut row = start(&role, schema, table);
                let grantable = yes_no(on_table.has(Privileges::GRANT));
                row.extend(row![column.as_str(), members(*held), grantable]);
                rows.push(row);
            }
        }
    }
}

pub(super) fn routine_grants(info: &Information<'_>, rows: &mut Rows) {
    for role in in_force(info) {
        for (routine, held) in &role.routines {
            let (schema, name) = (routine.schema.as_str(), routine.name.as_str());
            let mut row = start(&role, schema, name);
            let grantable = yes_no(held.has(Privileges::GRANT));
            row.extend(row!["def", schema, name, members(*held), grantable]);
            rows.push(row);
        }
    }
}
