//! What a session may do: its account's privileges and those of its active roles together.

use super::def::{AccountDef, AccountName};
use super::host::like;
use super::privilege::Privileges;
use super::store::AccountsVersion;
use std::collections::{BTreeMap, BTreeSet};

/// A session's privileges under one version of the accounts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Access {
    /// The account.
    pub(crate) account: AccountName,
    /// Roles in force.
    pub(crate) roles: BTreeSet<AccountName>,
    /// The version of the accounts that this was made from.
    pub(crate) version: u64,
    /// Privileges on everything.
    pub(crate) global: Privileges,
    /// Dynamic privileges.
    pub(crate) dynamic: BTreeMap<String, bool>,
    databases: Vec<(String, Privileges)>,
    tables: BTreeMap<(String, String), Privileges>,
}

impl Access {
    /// The privileges of an account with some roles active; none where the account is gone.
    pub(crate) fn new(
        accounts: &AccountsVersion,
        account: &AccountName,
        active: &BTreeSet<AccountName>,
    ) -> Access {
        let mut access =
            Access { account: account.clone(), version: accounts.number, ..Access::default() };
        let Some(own) = accounts.get(account) else { return access };
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
        access.databases.sort_by_key(|(pattern, _)| pattern.contains(['%', '_']));
        access
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
    }

    /// May do everything that static privileges allow.
    pub(crate) fn is_root(&self) -> bool {
        self.global.has(Privileges::ALL)
    }

    /// Privileges on a database, global ones included.
    pub(crate) fn on_database(&self, name: &str) -> Privileges {
        if is_information_schema(name) {
            return self.global | Privileges::SELECT;
        }
        let granted = self.databases.iter().filter(|(pattern, _)| like(pattern, name));
        granted.fold(self.global, |all, (_, privileges)| all | *privileges)
    }

    /// Privileges on a table, those on its database included.
    pub(crate) fn on_table(&self, schema: &str, name: &str) -> Privileges {
        let key = (schema.to_owned(), name.to_owned());
        self.on_database(schema) | self.tables.get(&key).copied().unwrap_or_default()
    }

    /// Whether the database may be seen at all.
    pub(crate) fn sees_database(&self, name: &str) -> bool {
        const ANY: Privileges = Privileges::ALL;
        is_information_schema(name)
            || name.eq_ignore_ascii_case("performance_schema")
            || self.on_database(name).has_any(ANY)
            || self.tables.iter().any(|((schema, _), p)| schema == name && p.has_any(ANY))
    }

    /// Whether the table may be seen at all.
    pub(crate) fn sees_table(&self, schema: &str, name: &str) -> bool {
        self.on_table(schema, name).has_any(Privileges::ALL)
    }

    /// Whether the dynamic privilege is there; SUPER stands for most of them.
    pub(crate) fn has_dynamic(&self, name: &str) -> bool {
        self.dynamic.contains_key(name) || self.global.has(Privileges::SUPER)
    }
}

fn is_information_schema(name: &str) -> bool {
    name.eq_ignore_ascii_case("information_schema")
}
