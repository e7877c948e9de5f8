//! What a session may do: its account's privileges and those of its active roles together.

use super::def::{AccountDef, Columns, RoutineName};
use super::host::{database_specificity, is_database};
use super::privilege::Privileges;
use super::store::AccountsVersion;
use crate::catalog::{AccountName, ProgramDef, ProgramKind};
use inia_base::error::{ErrorCode, SqlError};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// A session's privileges under one version of the accounts.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// The account.
    pub account: AccountName,
    /// Where the session comes from; errors about tables name that in place of the account's host.
    pub client: String,
    /// The account has a password.
    pub(crate) has_password: bool,
    /// Roles in force.
    pub(crate) roles: BTreeSet<AccountName>,
    /// The version of the accounts that this was made from.
    pub(crate) version: u64,
    /// Privileges on everything.
    pub global: Privileges,
    /// Dynamic privileges.
    pub dynamic: BTreeMap<String, bool>,
    databases: Vec<(String, Privileges)>,
    tables: BTreeMap<(String, String), Privileges>,
    columns: BTreeMap<(String, String), Columns>,
    routines: BTreeMap<RoutineName, Privileges>,
}

impl Access {
    /// The privileges of an account with some roles active; none where the account is gone.
    pub fn new(
        accounts: &AccountsVersion,
        account: &AccountName,
        active: &BTreeSet<AccountName>,
    ) -> Access {
        let mut access = Access {
            account: account.clone(),
            client: account.host.clone(),
            version: accounts.number,
            ..Access::default()
        };
        let Some(own) = accounts.get(account) else { return access };
        access.has_password = !own.auth_string.is_empty();
        access.add(own);
        let mut waiting: Vec<&AccountName> =
            active.iter().filter(|role| own.roles.contains_key(role)).collect();
        while let Some(role) = waiting.pop() {
            if !access.roles.insert(role.clone()) {
                continue;
            }
            if let Some(def) = accounts.get(role) {
                access.add(def);
                waiting.extend(def.roles.keys());
            }
        }
        access.databases.sort_by_key(|(pattern, _)| Reverse(database_specificity(pattern)));
        access
    }

    /// The program itself: it may do everything.
    pub fn of_program(accounts: &AccountsVersion, account: AccountName) -> Access {
        let (global, version) = (Privileges::ALL, accounts.number);
        Access { account, global, version, ..Access::default() }
    }

    /// The same for a session from `client`.
    pub(crate) fn from(mut self, client: &str) -> Access {
        client.clone_into(&mut self.client);
        self
    }

    fn add(&mut self, def: &AccountDef) {
        self.global |= def.global;
        for (name, grant) in &def.dynamic {
            *self.dynamic.entry(name.clone()).or_default() |= grant;
        }
        self.databases.extend(def.databases.iter().map(|(name, p)| (name.clone(), *p)));
        for (name, privileges) in &def.tables {
            *self.tables.entry(name.clone()).or_default() |= *privileges;
        }
        for (table, columns) in &def.columns {
            let own = self.columns.entry(table.clone()).or_default();
            columns.0.iter().for_each(|(name, privileges)| own.add(name, *privileges));
        }
        for (routine, privileges) in &def.routines {
            *self.routines.entry(routine.clone()).or_default() |= *privileges;
        }
    }

    /// May do everything that static privileges allow.
    #[inline]
    pub fn is_root(&self) -> bool {
        self.global.has(Privileges::ALL)
    }

    /// Privileges on a database, global ones included. Of several patterns that match, the most
    /// specific counts alone; where roles are active, all count that are no more than patterns,
    /// unless the name itself is among them.
    pub fn on_database(&self, name: &str) -> Privileges {
        if is_information_schema(name) {
            return self.global | Privileges::SELECT;
        }
        let mut granted = self.databases.iter().filter(|(pattern, _)| is_database(pattern, name));
        let Some((pattern, first)) = granted.next() else { return self.global };
        let mut held = self.global | *first;
        if !self.roles.is_empty() {
            let exact = pattern == name;
            let others = granted.filter(|(other, _)| !exact || other == pattern);
            others.for_each(|(_, more)| held |= *more);
        }
        held
    }

    /// Privileges on a table, those on its database included.
    pub fn on_table(&self, schema: &str, name: &str) -> Privileges {
        self.on_database(schema) | self.on_table_itself(schema, name)
    }

    /// Privileges on a routine, those on its database included.
    pub fn on_routine(&self, kind: ProgramKind, schema: &str, name: &str) -> Privileges {
        let on_database = self.on_database(schema);
        if self.routines.is_empty() {
            return on_database;
        }
        let own = self.routines.get(&RoutineName::new(kind, schema, name));
        on_database | own.copied().unwrap_or_default()
    }

    /// Whether the account may see a routine at all, and its body.
    pub fn sees_routine(&self, def: &ProgramDef) -> (bool, bool) {
        let on_it = self.on_routine(def.kind, &def.schema, &def.name);
        let body = self.account == def.definer
            || self.global.has(Privileges::SELECT)
            || self.has_dynamic("SHOW_ROUTINE")
            || on_it.has(Privileges::CREATE_ROUTINE);
        (body || on_it.has_any(Privileges::EXECUTE | Privileges::ALTER_ROUTINE), body)
    }

    /// Privileges that were granted on the table itself.
    fn on_table_itself(&self, schema: &str, name: &str) -> Privileges {
        if self.tables.is_empty() {
            return Privileges::NONE;
        }
        let key = (schema.to_owned(), name.to_owned());
        self.tables.get(&key).copied().unwrap_or_default()
    }

    /// Privileges that were granted on columns of the table.
    fn columns_of(&self, schema: &str, name: &str) -> Option<&Columns> {
        if self.columns.is_empty() {
            return None;
        }
        self.columns.get(&(schema.to_owned(), name.to_owned()))
    }

    /// Privileges on a column, those on its table included.
    pub fn on_column(&self, schema: &str, table: &str, column: &str) -> Privileges {
        let own = self.columns_of(schema, table).map_or(Privileges::NONE, |own| own.on(column));
        self.on_table(schema, table) | own
    }

    /// Privileges that were granted on one column of the table or another.
    pub fn on_some_column(&self, schema: &str, table: &str) -> Privileges {
        self.columns_of(schema, table).map_or(Privileges::NONE, Columns::on_some)
    }

    /// Whether the database may be used at all: some privilege on it or on a table in it.
    pub fn sees_database(&self, name: &str) -> bool {
        is_information_schema(name)
            || name.eq_ignore_ascii_case("performance_schema")
            || self.on_database(name).has_any(Privileges::all_on_database() | Privileges::GRANT)
            || self.tables.iter().any(|((schema, _), p)| schema == name && *p != Privileges::NONE)
            || self.columns.keys().any(|(schema, _)| schema == name)
            || self.routines.keys().any(|routine| routine.schema == name)
    }

    /// Whether the table may be seen at all.
    pub(crate) fn sees_table(&self, schema: &str, name: &str) -> bool {
        self.on_table(schema, name).has_any(Privileges::all_on_table() | Privileges::GRANT)
            || self.on_some_column(schema, name) != Privileges::NONE
    }

    /// Whether a column of the table may be seen.
    pub(crate) fn sees_column(&self, schema: &str, table: &str, column: &str) -> bool {
        const OF_COLUMNS: Privileges = Privileges(
            Privileges::SELECT.0
                | Privileges::INSERT.0
                | Privileges::UPDATE.0
                | Privileges::REFERENCES.0,
        );
        self.on_column(schema, table, column).has_any(OF_COLUMNS)
    }

    /// Whether the table may be described: SELECT, or any privilege on the table itself or on one
    /// of its columns.
    pub fn describes(&self, schema: &str, name: &str) -> bool {
        self.on_database(schema).has(Privileges::SELECT)
            || self.on_table_itself(schema, name) != Privileges::NONE
            || self.on_some_column(schema, name) != Privileges::NONE
    }

    /// Whether errors may show details of the table: for all privileges, or any on the table
    /// itself or on one of its columns.
    pub fn knows(&self, schema: &str, name: &str) -> bool {
        self.on_database(schema).has(Privileges::all_on_table())
            || self.on_table_itself(schema, name) != Privileges::NONE
            || self.on_some_column(schema, name) != Privileges::NONE
    }

    /// Whether the dynamic privilege is there; SUPER stands for most of them.
    pub fn has_dynamic(&self, name: &str) -> bool {
        self.dynamic.contains_key(name) || self.global.has(Privileges::SUPER)
    }
}

impl Access {
    /// Error 1045.
    pub fn denied(&self) -> SqlError {
        let AccountName { user, host } = &self.account;
        let using = if self.has_password { "YES" } else { "NO" };
        SqlError::new(ErrorCode::AccessDenied, &[user, host, &using])
    }

    /// Error 1044.
    pub fn no_database(&self, name: &str) -> SqlError {
        let AccountName { user, host } = &self.account;
        SqlError::new(ErrorCode::DbAccessDenied, &[user, host, &name])
    }

    /// Error 1142.
    pub fn no_table(&self, command: &str, table: &str) -> SqlError {
        let args: [&dyn std::fmt::Display; 4] =
            [&command, &self.account.user, &self.client, &table];
        SqlError::new(ErrorCode::TableAccessDenied, &args)
    }

    /// Error 1370.
    pub fn no_routine(&self, command: &str, routine: &str) -> SqlError {
        let AccountName { user, host } = &self.account;
        SqlError::new(ErrorCode::ProcAccessDenied, &[&command, user, host, &routine])
    }

    /// Error 1143.
    pub fn no_column(&self, command: &str, column: &str, table: &str) -> SqlError {
        let args: [&dyn std::fmt::Display; 5] =
            [&command, &self.account.user, &self.client, &column, &table];
        SqlError::new(ErrorCode::ColumnAccessDenied, &args)
    }

    /// Error 1227.
    pub fn lacks(&self, names: &str) -> SqlError {
        SqlError::new(ErrorCode::SpecificAccessDenied, &[&names])
    }
}

fn is_information_schema(name: &str) -> bool {
    name.eq_ignore_ascii_case("information_schema")
}
