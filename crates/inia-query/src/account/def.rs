//! What an account is, and its record in the catalog tree.

use super::password::OldPassword;
use super::privilege::Privileges;
use crate::catalog::codec::{RecordReader, Writer};
use crate::catalog::same_name;
use crate::catalog::{AccountName, ProgramKind};
use std::collections::{BTreeMap, BTreeSet};

const FORMAT: u64 = 5;
/// Earlier formats: the first has no privileges on columns, the first two have no old passwords,
/// the first three no privileges on routines, none has second passwords and proxies.
const WITHOUT_PROXIES: u64 = 4;
const WITHOUT_ROUTINES: u64 = 3;
const WITHOUT_PAST: u64 = 2;
const WITHOUT_COLUMNS: u64 = 1;

/// The plugin of new accounts.
pub(crate) use inia_base::password::CACHING_SHA2;

/// Privileges by column of one table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Columns(pub(crate) BTreeMap<String, Privileges>);

impl Columns {
    /// What is held on a column.
    pub(crate) fn on(&self, column: &str) -> Privileges {
        let found = self.0.iter().find(|(name, _)| same_name(name, column));
        found.map_or(Privileges::NONE, |(_, held)| *held)
    }

    /// What is held on one column or another.
    pub(crate) fn on_some(&self) -> Privileges {
        self.0.values().fold(Privileges::NONE, |all, held| all | *held)
    }

    /// Adds privileges on a column; a name that is known keeps its letters.
    pub(crate) fn add(&mut self, column: &str, privileges: Privileges) {
        let known = self.0.iter_mut().find(|(name, _)| same_name(name, column));
        match known {
            Some((_, held)) => *held |= privileges,
            None => {
                self.0.insert(column.to_owned(), privileges);
            }
        }
    }

    /// Takes privileges on a column away; false where nothing is held on it, not even others.
    pub(crate) fn remove(&mut self, column: &str, privileges: Privileges) -> bool {
        let there = self.on(column) != Privileges::NONE;
        for (_, held) in self.0.iter_mut().filter(|(name, _)| same_name(name, column)) {
            *held &= !privileges;
        }
        self.0.retain(|_, held| *held != Privileges::NONE);
        there
    }

    /// Takes privileges on all columns away.
    pub(crate) fn remove_all(&mut self, privileges: Privileges) {
        self.0.values_mut().for_each(|held| *held &= !privileges);
        self.0.retain(|_, held| *held != Privileges::NONE);
    }
}

/// A stored procedure or function: its database, its kind, and its name in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RoutineName {
    pub(crate) schema: String,
    pub(crate) kind: ProgramKind,
    pub(crate) name: String,
}

impl RoutineName {
    pub(crate) fn new(kind: ProgramKind, schema: &str, name: &str) -> RoutineName {
        RoutineName { schema: schema.to_owned(), kind, name: name.to_lowercase() }
    }
}

/// What GRANT PROXY has given an account on another one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProxyGrant {
    /// WITH GRANT OPTION.
    pub(crate) grant: bool,
    /// Who has given it, as `mysql.proxies_priv` shows it.
    pub(crate) grantor: String,
    /// Seconds since 1970.
    pub(crate) since: u64,
}

/// An account or role.
///
/// Wide: one field for each attribute that an account has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AccountDef {
    pub(crate) name: AccountName,
    /// Authentication plugin.
    pub(crate) plugin: String,
    /// The plugin's stored form of the password; empty for no password.
    pub(crate) auth_string: Vec<u8>,
    /// The same of RETAIN CURRENT PASSWORD: another password that opens the account.
    pub(crate) second_password: Vec<u8>,
    pub(crate) locked: bool,
    /// The password has expired: a session may only change it.
    pub expired: bool,
    /// PASSWORD EXPIRE: `None` by default, `Some(0)` never, else days.
    pub(crate) lifetime: Option<u64>,
    /// PASSWORD HISTORY and REUSE INTERVAL; `None` by default.
    pub(crate) history: Option<u64>,
    pub(crate) reuse_interval: Option<u64>,
    /// PASSWORD REQUIRE CURRENT.
    pub(crate) require_current: Option<bool>,
    /// FAILED_LOGIN_ATTEMPTS and PASSWORD_LOCK_TIME (`u64::MAX` for UNBOUNDED).
    pub(crate) failed_attempts: Option<u64>,
    pub(crate) lock_time: Option<u64>,
    /// REQUIRE, as SHOW CREATE USER prints it; empty for NONE.
    pub(crate) tls: String,
    /// WITH MAX_…, by word.
    pub(crate) limits: BTreeMap<String, u64>,
    /// ATTRIBUTE or COMMENT as JSON text.
    pub(crate) attribute: Option<String>,
    /// Seconds since 1970 of the last change of password.
    pub(crate) password_changed: u64,
    /// Privileges on everything.
    pub(crate) global: Privileges,
    /// Dynamic privileges and whether they may be handed on.
    pub(crate) dynamic: BTreeMap<String, bool>,
    /// Privileges by database pattern.
    pub(crate) databases: BTreeMap<String, Privileges>,
    /// Privileges by database and table.
    pub(crate) tables: BTreeMap<(String, String), Privileges>,
    /// Privileges on columns by database and table.
    pub(crate) columns: BTreeMap<(String, String), Columns>,
    /// Privileges on procedures and functions.
    pub(crate) routines: BTreeMap<RoutineName, Privileges>,
    /// Granted roles, and whether they may be handed on.
    pub(crate) roles: BTreeMap<AccountName, bool>,
    /// Roles that are active after login.
    pub default_roles: BTreeSet<AccountName>,
    /// Passwords that are remembered, the newest first.
    pub(crate) past: Vec<OldPassword>,
    /// Accounts whose proxy it may be; the one without user and host means all.
    pub(crate) proxies: BTreeMap<AccountName, ProxyGrant>,
}

impl AccountDef {
    /// MAX_USER_CONNECTIONS; 0 for no limit of its own.
    pub fn max_connections(&self) -> u64 {
        self.limit("MAX_USER_CONNECTIONS")
    }

    /// A limit of WITH by its word; 0 for no limit.
    pub(crate) fn limit(&self, word: &str) -> u64 {
        self.limits.get(word).copied().unwrap_or(0)
    }

    /// An account without password and privileges.
    pub(crate) fn new(name: AccountName) -> AccountDef {
        AccountDef { name, plugin: CACHING_SHA2.to_owned(), ..AccountDef::default() }
    }

    /// The account that a new database starts with.
    pub(crate) fn root() -> AccountDef {
        let mut root = AccountDef::new(AccountName::new("root", "localhost"));
        root.global = Privileges::ALL | Privileges::GRANT;
        root.dynamic = super::privilege::DYNAMIC.iter().map(|p| ((*p).to_owned(), true)).collect();
        root.proxies = root_proxies();
        root
    }

    /// The account's record in the catalog tree.
    pub fn encode(&self) -> Vec<u8> {
        // Fields go in the order in which `AccountDef::decode` reads them. What a later format has
        // added comes last: a record of an older one ends before it.
        let mut w = Writer::default();
        w.int(FORMAT);
        put_name(&mut w, &self.name);
        w.text(&self.plugin);
        w.bytes(&self.auth_string);
        w.bool(self.locked);
        w.bool(self.expired);
        for number in [self.lifetime, self.history, self.reuse_interval] {
            w.option(number, |w, number| w.int(number));
        }
        w.option(self.require_current, |w, on| w.bool(on));
        w.option(self.failed_attempts, |w, number| w.int(number));
        w.option(self.lock_time, |w, number| w.int(number));
        w.text(&self.tls);
        let limits: Vec<_> = self.limits.iter().collect();
        w.list(&limits, |w, (word, number)| {
            w.text(word);
            w.int(**number);
        });
        w.option(self.attribute.as_deref(), Writer::text);
        w.int(self.password_changed);
        w.int(self.global.0);
        let dynamic: Vec<_> = self.dynamic.iter().collect();
        w.list(&dynamic, |w, (name, grant)| {
            w.text(name);
            w.bool(**grant);
        });
        let databases: Vec<_> = self.databases.iter().collect();
        w.list(&databases, |w, (name, privileges)| {
            w.text(name);
            w.int(privileges.0);
        });
        let tables: Vec<_> = self.tables.iter().collect();
        w.list(&tables, |w, ((schema, name), privileges)| {
            w.text(schema);
            w.text(name);
            w.int(privileges.0);
        });
        let roles: Vec<_> = self.roles.iter().collect();
        w.list(&roles, |w, (name, admin)| {
            put_name(w, name);
            w.bool(**admin);
        });
        let defaults: Vec<_> = self.default_roles.iter().collect();
        w.list(&defaults, |w, name| put_name(w, name));
        put_columns(&mut w, &self.columns);
        w.list(&self.past, |w, old| {
            w.int(old.since);
            w.bytes(&old.auth_string);
        });
        put_routines(&mut w, &self.routines);
        w.bytes(&self.second_password);
        put_proxies(&mut w, &self.proxies);
        w.0
    }

    /// Reads [`AccountDef::encode`]'s record.
    pub fn decode(bytes: &[u8]) -> Option<AccountDef> {
        let mut r = RecordReader(bytes);
        let format = r.int()?;
        // Accounts of older formats stay readable: they are written anew at their next change.
        if !(WITHOUT_COLUMNS..=FORMAT).contains(&format) {
            return None;
        }
        let mut def = AccountDef {
            name: name(&mut r)?,
            plugin: r.text()?,
            auth_string: r.bytes()?.to_vec(),
            second_password: Vec::new(),
            locked: r.bool()?,
            expired: r.bool()?,
            lifetime: r.option(RecordReader::int)?,
            history: r.option(RecordReader::int)?,
            reuse_interval: r.option(RecordReader::int)?,
            require_current: r.option(RecordReader::bool)?,
            failed_attempts: r.option(RecordReader::int)?,
            lock_time: r.option(RecordReader::int)?,
            tls: r.text()?,
            limits: r.list(|r| Some((r.text()?, r.int()?)))?.into_iter().collect(),
            attribute: r.option(RecordReader::text)?,
            password_changed: r.int()?,
            global: Privileges(r.int()?),
            dynamic: r.list(|r| Some((r.text()?, r.bool()?)))?.into_iter().collect(),
            databases: r.list(|r| Some((r.text()?, Privileges(r.int()?))))?.into_iter().collect(),
            tables: r
                .list(|r| Some(((r.text()?, r.text()?), Privileges(r.int()?))))?
                .into_iter()
                .collect(),
            roles: r.list(|r| Some((name(r)?, r.bool()?)))?.into_iter().collect(),
            default_roles: r.list(name)?.into_iter().collect(),
            columns: BTreeMap::new(),
            past: Vec::new(),
            routines: BTreeMap::new(),
            proxies: BTreeMap::new(),
        };
        // Each later format has one list more, so that a record of an older one ends before it.
        if format != WITHOUT_COLUMNS {
            def.columns = r.list(columns)?.into_iter().collect();
        }
        if format > WITHOUT_PAST {
            def.past = r.list(old_password)?;
        }
        if format > WITHOUT_ROUTINES {
            def.routines = r.list(routine)?.into_iter().collect();
        }
        if format > WITHOUT_PROXIES {
            def.second_password = r.bytes()?.to_vec();
            def.proxies = r.list(proxy)?.into_iter().collect();
        } else if def.name == AccountName::new("root", "localhost") {
            def.proxies = root_proxies();
        }
        Some(def)
    }
}

fn put_columns(w: &mut Writer, columns: &BTreeMap<(String, String), Columns>) {
    let columns: Vec<_> = columns.iter().collect();
    w.list(&columns, |w, ((schema, table), columns)| {
        w.text(schema);
        w.text(table);
        let columns: Vec<_> = columns.0.iter().collect();
        w.list(&columns, |w, (name, privileges)| {
            w.text(name);
            w.int(privileges.0);
        });
    });
}

fn put_routines(w: &mut Writer, routines: &BTreeMap<RoutineName, Privileges>) {
    let routines: Vec<_> = routines.iter().collect();
    w.list(&routines, |w, (routine, privileges)| {
        w.text(&routine.schema);
        w.bool(routine.kind == ProgramKind::Function);
        w.text(&routine.name);
        w.int(privileges.0);
    });
}

/// What the first account may do, which nobody has granted.
fn root_proxies() -> BTreeMap<AccountName, ProxyGrant> {
    let everybody = AccountName::new("", "");
    BTreeMap::from([(everybody, ProxyGrant { grant: true, grantor: "boot@".to_owned(), since: 0 })])
}

fn put_proxies(w: &mut Writer, proxies: &BTreeMap<AccountName, ProxyGrant>) {
    let proxies: Vec<_> = proxies.iter().collect();
    w.list(&proxies, |w, (proxied, given)| {
        put_name(w, proxied);
        w.bool(given.grant);
        w.text(&given.grantor);
        w.int(given.since);
    });
}

fn proxy(r: &mut RecordReader<'_>) -> Option<(AccountName, ProxyGrant)> {
    let proxied = name(r)?;
    Some((proxied, ProxyGrant { grant: r.bool()?, grantor: r.text()?, since: r.int()? }))
}

fn old_password(r: &mut RecordReader<'_>) -> Option<OldPassword> {
    Some(OldPassword { since: r.int()?, auth_string: r.bytes()?.to_vec() })
}

fn routine(r: &mut RecordReader<'_>) -> Option<(RoutineName, Privileges)> {
    let (schema, function, name) = (r.text()?, r.bool()?, r.text()?);
    let kind = if function { ProgramKind::Function } else { ProgramKind::Procedure };
    Some((RoutineName { schema, kind, name }, Privileges(r.int()?)))
}

fn columns(r: &mut RecordReader<'_>) -> Option<((String, String), Columns)> {
    let table = (r.text()?, r.text()?);
    let columns = r.list(|r| Some((r.text()?, Privileges(r.int()?))))?;
    Some((table, Columns(columns.into_iter().collect())))
}

fn put_name(w: &mut Writer, name: &AccountName) {
    w.text(&name.user);
    w.text(&name.host);
}

fn name(r: &mut RecordReader<'_>) -> Option<AccountName> {
    Some(AccountName { user: r.text()?, host: r.text()? })
}
