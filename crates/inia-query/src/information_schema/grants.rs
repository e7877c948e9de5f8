//! Accounts and privileges: `information_schema`'s tables of them, and those of `mysql`.

use super::{Information, Rows, find, or_null, row, yes_no};
use crate::account::def::Columns;
use crate::account::privilege::STATIC;
use crate::account::{AccountDef, AccountName, Privileges};
use inia_base::value::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The accounts that the session may see: all with SELECT on `mysql`, else its own.
fn visible(info: &Information<'_>) -> Vec<Arc<AccountDef>> {
    let all = info.access.on_database("mysql").has(Privileges::SELECT);
    let current = info.db.accounts.current();
    let accounts = current.accounts.values();
    accounts.filter(|def| all || def.name == info.access.account).cloned().collect()
}

/// One row per privilege: a fixed start, the privilege's name, IS_GRANTABLE.
fn listed(start: &[Value], held: Privileges, rows: &mut Rows) {
    let grantable = yes_no(held.has(Privileges::GRANT));
    let mut push = |name: &str| {
        let mut row = start.to_vec();
        row.extend(row![name, grantable]);
        rows.push(row);
    };
    if held & Privileges::ALL == Privileges::NONE {
        push("USAGE");
    }
    (held & Privileges::ALL).members().for_each(|privilege| push(privilege.name));
}

pub(super) fn user_privileges(info: &Information<'_>, rows: &mut Rows) {
    for def in visible(info) {
        let start = row![def.name.quoted(), "def"];
        if def.global & Privileges::ALL != Privileges::NONE || def.dynamic.is_empty() {
            listed(&start, def.global, rows);
        }
        for (name, grant) in &def.dynamic {
            rows.push(row![def.name.quoted(), "def", name.as_str(), yes_no(*grant)]);
        }
    }
}

pub(super) fn schema_privileges(info: &Information<'_>, rows: &mut Rows) {
    for def in visible(info) {
        for (schema, held) in &def.databases {
            let grantee = row![def.name.quoted(), "def", schema.as_str()];
            listed(&grantee, *held, rows);
        }
    }
}

pub(super) fn table_privileges(info: &Information<'_>, rows: &mut Rows) {
    for def in visible(info) {
        for ((schema, table), held) in &def.tables {
            let start = row![def.name.quoted(), "def", schema.as_str(), table.as_str()];
            listed(&start, *held, rows);
        }
    }
}

pub(super) fn column_privileges(info: &Information<'_>, rows: &mut Rows) {
    for def in visible(info) {
        for (table, columns) in &def.columns {
            let held = def.tables.get(table).copied().unwrap_or_default();
            let grantable = yes_no(held.has(Privileges::GRANT));
            for (column, held) in &columns.0 {
                for privilege in held.members() {
                    rows.push(row![
                        def.name.quoted(),
                        "def",
                        table.0.as_str(),
                        table.1.as_str(),
                        column.as_str(),
                        privilege.name,
                        grantable,
                    ]);
                }
            }
        }
    }
}

pub(super) fn user_attributes(info: &Information<'_>, rows: &mut Rows) {
    for def in visible(info) {
        let attribute = or_null(def.attribute.clone());
        rows.push(row![def.name.user.as_str(), def.name.host.as_str(), attribute]);
    }
}

pub(super) fn enabled_roles(info: &Information<'_>, rows: &mut Rows) {
    let current = info.db.accounts.current();
    let own = current.get(&info.access.account);
    // Those that a role in force has are not listed.
    let granted = |role: &&AccountName| own.is_none_or(|own| own.roles.contains_key(*role));
    for role in info.access.roles.iter().filter(granted) {
        let default = own.is_some_and(|own| own.default_roles.contains(role));
        rows.push(row![role.user.as_str(), role.host.as_str(), yes_no(default), "NO"]);
    }
}

fn y_n(yes: bool) -> Value {
    Value::from(if yes { "Y" } else { "N" })
}

/// The value of a `…_priv` column.
fn privilege_column(held: Privileges, column: &str) -> Option<Value> {
    if column == "Grant_priv" {
        return Some(y_n(held.has(Privileges::GRANT)));
    }
    let bit = STATIC.iter().position(|privilege| privilege.column == column)?;
    Some(y_n(held.has(Privileges(1 << bit))))
}

/// Rows by column name.
fn by_column(table: &str, value: impl Fn(&str) -> Value, rows: &mut Rows) {
    if let Some(table) = find("mysql", table) {
        rows.push(table.declared.columns.iter().map(|(name, _)| value(name)).collect());
    }
}

pub(super) fn mysql_user(info: &Information<'_>, rows: &mut Rows) {
    for def in info.db.accounts.current().accounts.values() {
        let limit = |word: &str| Value::from(def.limits.get(word).copied().unwrap_or(0));
        let tls = match def.tls.as_str() {
            "" => "",
            "SSL" => "ANY",
            "X509" => "X509",
            _ => "SPECIFIED",
        };
        let value = |column: &str| match column {
            "Host" => def.name.host.as_str().into(),
            "User" => def.name.user.as_str().into(),
            "ssl_type" => tls.into(),
            "ssl_cipher" | "x509_issuer" | "x509_subject" => Value::Bytes(Vec::new()),
            "max_questions" => limit("MAX_QUERIES_PER_HOUR"),
            "max_updates" => limit("MAX_UPDATES_PER_HOUR"),
            "max_connections" => limit("MAX_CONNECTIONS_PER_HOUR"),
            "max_user_connections" => limit("MAX_USER_CONNECTIONS"),
            "plugin" => def.plugin.as_str().into(),
            "authentication_string" => String::from_utf8_lossy(&def.auth_string).as_ref().into(),
            "password_expired" => y_n(def.expired),
            "password_last_changed" => info.moment(def.password_changed),
            "password_lifetime" => or_null(def.lifetime),
            "account_locked" => y_n(def.locked),
            "Password_reuse_history" => or_null(def.history),
            "Password_reuse_time" => or_null(def.reuse_interval),
            "Password_require_current" => def.require_current.map_or(Value::Null, y_n),
            "User_attributes" => attributes(def),
            column => privilege_column(def.global, column).unwrap_or(Value::Null),
        };
        by_column("user", value, rows);
    }
}

pub(super) fn mysql_password_history(info: &Information<'_>, rows: &mut Rows) {
    for def in info.db.accounts.current().accounts.values() {
        for old in &def.past {
            let value = |column: &str| match column {
                "Host" => def.name.host.as_str().into(),
                "User" => def.name.user.as_str().into(),
                "Password_timestamp" => info.moment(old.since),
                _ => String::from_utf8_lossy(&old.auth_string).as_ref().into(),
            };
            by_column("password_history", value, rows);
        }
    }
}

fn attributes(def: &AccountDef) -> Value {
    let mut members = Vec::new();
    if let Some(attribute) = &def.attribute {
        members.push(format!("\"metadata\": {attribute}"));
    }
    if !def.second_password.is_empty() {
        let text = inia_expr::json::quote(&String::from_utf8_lossy(&def.second_password));
        members.push(format!("\"additional_password\": {text}"));
    }
    match members.is_empty() {
        true => Value::Null,
        false => Value::Json(format!("{{{}}}", members.join(", "))),
    }
}

pub(super) fn mysql_proxies_priv(info: &Information<'_>, rows: &mut Rows) {
    for def in info.db.accounts.current().accounts.values() {
        for (proxied, given) in &def.proxies {
            let since = if given.since == 0 { info.db.started() } else { given.since };
            rows.push(row![
                def.name.host.as_str(),
                def.name.user.as_str(),
                proxied.host.as_str(),
                proxied.user.as_str(),
                i64::from(given.grant),
                given.grantor.as_str(),
                info.moment(since),
            ]);
        }
    }
}

pub(super) fn mysql_db(info: &Information<'_>, rows: &mut Rows) {
    for def in info.db.accounts.current().accounts.values() {
        for (schema, held) in &def.databases {
            let value = |column: &str| match column {
                "Host" => def.name.host.as_str().into(),
                "Db" => schema.as_str().into(),
                "User" => def.name.user.as_str().into(),
                column => privilege_column(*held, column).unwrap_or(Value::Null),
            };
            by_column("db", value, rows);
        }
    }
}

pub(super) fn mysql_tables_priv(info: &Information<'_>, rows: &mut Rows) {
    for def in info.db.accounts.current().accounts.values() {
        let tables: BTreeSet<_> = def.tables.keys().chain(def.columns.keys()).collect();
        for table in tables {
            let held = def.tables.get(table).copied().unwrap_or_default();
            let columns = def.columns.get(table).map_or(Privileges::NONE, Columns::on_some);
            rows.push(row![
                def.name.host.as_str(),
                table.0.as_str(),
                def.name.user.as_str(),
                table.1.as_str(),
                "",
                info.moment(info.db.started()),
                members(held),
                members(columns),
            ]);
        }
    }
}

pub(super) fn mysql_procs_priv(info: &Information<'_>, rows: &mut Rows) {
    for def in info.db.accounts.current().accounts.values() {
        for (routine, held) in &def.routines {
            rows.push(row![
                def.name.host.as_str(),
                routine.schema.as_str(),
                def.name.user.as_str(),
                routine.name.as_str(),
                routine.kind.word(),
                "",
                members(*held),
                info.moment(info.db.started()),
            ]);
        }
    }
}

/// Privileges as the SET columns of `tables_priv` and `columns_priv` name them, in their order.
pub(super) fn members(held: Privileges) -> String {
    const GRANT_BEFORE: &str = "REFERENCES";
    let grant = held.has(Privileges::GRANT);
    let mut words: Vec<String> = Vec::new();
    let (before, after): (Vec<_>, Vec<_>) = held.members().partition(|privilege| {
        let bit = |name| STATIC.iter().position(|one| one.name == name);
        bit(privilege.name) < bit(GRANT_BEFORE)
    });
    words.extend(before.iter().map(|privilege| in_mixed_case(privilege.name)));
    words.extend(grant.then(|| String::from("Grant")));
    words.extend(after.iter().map(|privilege| in_mixed_case(privilege.name)));
    words.join(",")
}

fn in_mixed_case(name: &str) -> String {
    match name {
        "CREATE VIEW" => return String::from("Create View"),
        "ALTER ROUTINE" => return String::from("Alter Routine"),
        _ => {}
    }
    let (first, rest) = name.split_at(1);
    format!("{first}{}", rest.to_ascii_lowercase())
}

pub(super) fn mysql_columns_priv(info: &Information<'_>, rows: &mut Rows) {
    for def in info.db.accounts.current().accounts.values() {
        for (table, columns) in &def.columns {
            for (column, held) in &columns.0 {
                rows.push(row![
                    def.name.host.as_str(),
                    table.0.as_str(),
                    def.name.user.as_str(),
                    table.1.as_str(),
                    column.as_str(),
                    info.moment(info.db.started()),
                    members(*held),
                ]);
            }
        }
    }
}

pub(super) fn mysql_global_grants(info: &Information<'_>, rows: &mut Rows) {
    for def in info.db.accounts.current().accounts.values() {
        for (name, grant) in &def.dynamic {
            let (user, host) = (def.name.user.as_str(), def.name.host.as_str());
            rows.push(row![user, host, name.as_str(), y_n(*grant)]);
        }
    }
}

pub(super) fn mysql_role_edges(info: &Information<'_>, rows: &mut Rows) {
    for def in info.db.accounts.current().accounts.values() {
        for (role, admin) in &def.roles {
            rows.push(row![
                role.host.as_str(),
                role.user.as_str(),
                def.name.host.as_str(),
                def.name.user.as_str(),
                y_n(*admin),
            ]);
        }
    }
}

pub(super) fn mysql_default_roles(info: &Information<'_>, rows: &mut Rows) {
    for def in info.db.accounts.current().accounts.values() {
        for role in &def.default_roles {
            rows.push(row![
                def.name.host.as_str(),
                def.name.user.as_str(),
                role.host.as_str(),
                role.user.as_str(),
            ]);
        }
    }
}
