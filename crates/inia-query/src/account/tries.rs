//! FAILED_LOGIN_ATTEMPTS and PASSWORD_LOCK_TIME: accounts that are locked for some days
//! after so many wrong passwords in a row. As in MySQL, a restart clears the counts.

use super::def::AccountDef;
use crate::catalog::AccountName;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

/// Why a login is refused, right or wrong its password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginBlock {
    /// For how many days the account is blocked, and how many of them remain; `None` for ever.
    pub days: Option<(u64, u64)>,
    /// How many wrong passwords did it.
    pub failures: u64,
}

/// The wrong passwords of one account, and when they became too many.
#[derive(Default)]
struct Tries {
    failures: u64,
    blocked: Option<SystemTime>,
}

/// The wrong passwords of all accounts that count them.
#[derive(Default)]
pub struct LoginTries(Mutex<BTreeMap<AccountName, Tries>>);

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl LoginTries {
    /// Notes a login with a right or wrong password; the refusal where there were too many.
    pub(crate) fn note(
        &self,
        def: &AccountDef,
        proven: bool,
        now: SystemTime,
    ) -> Option<LoginBlock> {
        let (most, days) = (def.failed_attempts.unwrap_or(0), def.lock_time.unwrap_or(0));
        if most == 0 || days == 0 {
            return None;
        }
        let mut all = self.0.lock();
        let tries = all.entry(def.name.clone()).or_default();
        let passed = |since: SystemTime| {
            now.duration_since(since).unwrap_or_default().as_secs() / DAY.as_secs()
        };
        if tries.blocked.is_some_and(|since| days != u64::MAX && passed(since) >= days) {
            *tries = Tries::default();
        }
        if tries.blocked.is_none() {
            tries.failures += 1;
            if proven {
                all.remove(&def.name);
                return None;
            }
            if tries.failures < most {
                return None;
            }
            tries.blocked = Some(now);
        }
        let since = tries.blocked.unwrap_or(now);
        let days = (days != u64::MAX).then(|| (days, days - passed(since)));
        Some(LoginBlock { days, failures: tries.failures })
    }

    /// Forgets the wrong passwords of an account.
    pub(crate) fn forgive(&self, name: &AccountName) {
        self.0.lock().remove(name);
    }

    /// FLUSH PRIVILEGES: forgets the wrong passwords of all accounts.
    pub fn forgive_all(&self) {
        self.0.lock().clear();
    }
}

#[cfg(test)]
mod tests;
