//! Names of accounts, which views and accounts keep.

use super::quoted;

/// An account's name: user and host pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AccountName {
    pub(crate) user: String,
    pub(crate) host: String,
}

impl AccountName {
    pub(crate) fn new(user: &str, host: &str) -> AccountName {
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
