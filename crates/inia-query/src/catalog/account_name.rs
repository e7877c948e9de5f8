//! Names of accounts, which views and accounts keep.

use super::quoted;

/// An account's name: user and host pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountName {
    /// The user's name; empty for anonymous users.
    pub user: String,
    /// The pattern of hosts.
    pub host: String,
}

impl AccountName {
    /// The name of `user` at hosts that match `host`.
    pub fn new(user: &str, host: &str) -> AccountName {
        AccountName { user: user.to_owned(), host: host.to_owned() }
    }

    /// `'user'@'host'`, as errors name accounts.
    pub(crate) fn quoted(&self) -> String {
        format!("'{}'@'{}'", self.user, self.host)
    }

    /// `` `user`@`host` ``, as SHOW GRANTS names accounts.
    pub(crate) fn backquoted(&self) -> String {
        format!("{}@{}", quoted(&self.user), quoted(&self.host))
    }
}
