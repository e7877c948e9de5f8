//! The session as its account.

use super::SessionContext;
use crate::account::password::PasswordRules;
use crate::account::{Access, Actor};
use std::sync::Arc;

impl SessionContext {
    /// What the session may do, under the newest version of the accounts.
    #[inline]
    pub fn access(&self) -> Arc<Access> {
        self.host.access()
    }

    /// Runs work as the session's account.
    pub fn as_actor<T>(&self, work: impl FnOnce(&Actor<'_>) -> T) -> T {
        let (access, catalog) = (self.access(), self.db.catalog().current());
        work(&Actor {
            accounts: &self.db.accounts,
            access: &access,
            catalog: &catalog,
            database: self.env.database.as_deref(),
            now: (self.env.now_micros / 1_000_000) as u64,
            rules: self.password_rules(),
            expired: self.client.expired,
        })
    }

    fn password_rules(&self) -> PasswordRules {
        PasswordRules {
            history: self.db.global_number("password_history"),
            reuse_interval: self.db.global_number("password_reuse_interval"),
            require_current: self.db.global_number("password_require_current") == 1,
        }
    }
}
