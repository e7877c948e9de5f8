//! Accounts, roles and privileges: who may log in, and what a session may do.
//!
//! [`store`] keeps the accounts, [`access`] is what one session may do; the account statements are
//! in [`user`] and [`grant`]. `authorize` compares a statement with what the session may do.

pub(crate) mod access;
pub(crate) mod def;
pub mod grant;
mod host;
pub(crate) mod meter;
pub mod password;
pub mod privilege;
pub mod random_password;
pub mod routine;
pub mod show;
pub(crate) mod store;
pub(crate) mod tries;
pub mod user;

pub use crate::catalog::AccountName;
pub use access::Access;
pub use def::AccountDef;
pub use privilege::Privileges;
pub(crate) use store::Accounts;
pub use tries::LoginBlock;

use crate::catalog::CatalogVersion;
use inia_base::error::SqlError;
use inia_parser::ast;
use std::collections::BTreeMap;

/// The dynamic privilege whose holders only each other may change or end.
pub const SYSTEM_USER: &str = "SYSTEM_USER";

/// An account as a login sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginAccount {
    /// Name.
    pub user: String,
    /// Host pattern.
    pub host: String,
    /// Authentication plugin.
    pub plugin: String,
    /// The plugin's stored form of the password; empty for no password.
    pub auth_string: Vec<u8>,
    /// The same of a second password; empty for none.
    pub second_password: Vec<u8>,
    /// ACCOUNT LOCK.
    pub locked: bool,
    /// PASSWORD EXPIRE, or the password's time is over.
    pub expired: bool,
    /// MAX_USER_CONNECTIONS; 0 where the server's setting counts.
    pub max_connections: u64,
    /// May log in where all connections are taken.
    pub administers: bool,
    /// REQUIRE.
    pub requires: LoginRequirement,
}

/// What an account's REQUIRE demands of a login.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoginRequirement {
    /// Nothing.
    #[default]
    Nothing,
    /// TLS.
    Tls,
    /// TLS with something about its certificate or cipher.
    Certificate,
}

impl From<&AccountDef> for LoginAccount {
    fn from(def: &AccountDef) -> LoginAccount {
        LoginAccount {
            user: def.name.user.clone(),
            host: def.name.host.clone(),
            plugin: def.plugin.clone(),
            auth_string: def.auth_string.clone(),
            second_password: def.second_password.clone(),
            locked: def.locked,
            expired: def.expired,
            max_connections: def.max_connections(),
            administers: def.global.has(Privileges::SUPER)
                || def.dynamic.contains_key("CONNECTION_ADMIN"),
            requires: match def.tls.as_str() {
                "" => LoginRequirement::Nothing,
                "SSL" => LoginRequirement::Tls,
                _ => LoginRequirement::Certificate,
            },
        }
    }
}

/// Who runs an account statement, and on what.
pub struct Actor<'a> {
    /// All accounts.
    pub accounts: &'a Accounts,
    /// What the session may do.
    pub access: &'a Access,
    /// The catalog's version.
    pub catalog: &'a CatalogVersion,
    /// The current database.
    pub database: Option<&'a str>,
    /// Seconds since 1970.
    pub now: u64,
    /// What the server asks of passwords.
    pub rules: password::PasswordRules,
    /// The session's password has expired.
    pub expired: bool,
}

impl Actor<'_> {
    /// An account as written; no host is any host.
    pub fn name(&self, account: &ast::Account) -> AccountName {
        match account {
            ast::Account::Current => self.access.account.clone(),
            ast::Account::Name { user, host } => {
                AccountName::new(user, host.as_deref().unwrap_or("%"))
            }
        }
    }

    /// Error 1227 where the global privilege is missing.
    pub(crate) fn need(&self, wanted: Privileges, name: &str) -> Result<(), SqlError> {
        if self.access.global.has(wanted) { Ok(()) } else { Err(self.access.lacks(name)) }
    }

    /// Error 1227 where an account with SYSTEM_USER is to be changed by one without.
    pub fn protect(&self, def: &AccountDef) -> Result<(), SqlError> {
        let has = |dynamic: &BTreeMap<String, bool>| dynamic.contains_key(SYSTEM_USER);
        let safe = !has(&def.dynamic) || has(&self.access.dynamic);
        if safe { Ok(()) } else { Err(self.access.lacks(SYSTEM_USER)) }
    }
}

/// Whether a statement changes accounts.
pub fn changes_accounts(statement: &ast::Statement) -> bool {
    matches!(
        statement,
        ast::Statement::CreateUser(_)
            | ast::Statement::AlterUser(_)
            | ast::Statement::DropUser { .. }
            | ast::Statement::RenameUser(_)
            | ast::Statement::CreateRole { .. }
            | ast::Statement::DropRole { .. }
            | ast::Statement::Grant(_)
            | ast::Statement::Revoke(_)
            | ast::Statement::SetPassword(_)
            | ast::Statement::SetDefaultRole { .. }
    )
}
