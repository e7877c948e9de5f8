//! Rules about passwords: who must give the present one, which may not be reused, and when they
//! expire.
//!
//! An account keeps the stored forms of its passwords for as long as its rules ask for them, the
//! newest first. With PASSWORD HISTORY 2 and passwords set as `a b c`, `c` and `b` are kept: `a`
//! may come again. PASSWORD REUSE INTERVAL counts the days of the calendar.

use super::Actor;
use super::def::AccountDef;
use super::privilege::Privileges;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::password::{
    NATIVE, SHA256, native_digest, native_from_stored, same_bytes, sha2_check_stored,
    sha256_check_stored,
};

const DAY: u64 = 24 * 60 * 60;

/// What holds for accounts that say DEFAULT: `password_history`, `password_reuse_interval` and
/// `password_require_current`.
#[derive(Clone, Copy, Debug, Default)]
pub struct PasswordRules {
    pub(crate) history: u64,
    pub(crate) reuse_interval: u64,
    pub(crate) require_current: bool,
}

/// A password of before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OldPassword {
    /// Seconds since 1970 of its beginning.
    pub(crate) since: u64,
    /// As the account's plugin stores it.
    pub(crate) auth_string: Vec<u8>,
}

/// Whether a stored form is a password's.
fn is_of(plugin: &str, stored: &[u8], password: &str) -> bool {
    let password = password.as_bytes();
    if stored.is_empty() || password.is_empty() {
        return stored.is_empty() && password.is_empty();
    }
    match plugin {
        NATIVE => native_from_stored(stored)
            .is_some_and(|digest| same_bytes(&digest, &native_digest(password))),
        SHA256 => sha256_check_stored(stored, password),
        _ => sha2_check_stored(stored, password),
    }
}

/// Checks that the changer of a password has given the present one where that is required: errors
/// 3891, 3892 and 3893.
pub(crate) fn check_current(
    actor: &Actor<'_>,
    def: &AccountDef,
    given: Option<&str>,
) -> Result<(), SqlError> {
    let wrong = |code| Err(SqlError::new(code, &[]));
    let access = actor.access;
    match (def.name == access.account, given) {
        (false, Some(_)) => wrong(ErrorCode::CurrentPasswordNotRequired),
        (false, None) => Ok(()),
        (true, Some(given)) if is_of(&def.plugin, &def.auth_string, given) => Ok(()),
        (true, Some(_)) => wrong(ErrorCode::IncorrectCurrentPassword),
        (true, None) => {
            let asked = def.require_current.unwrap_or(actor.rules.require_current);
            let trusted = access.global.has(Privileges::CREATE_USER)
                || access.on_database("mysql").has(Privileges::UPDATE);
            match asked && !trusted {
                true => wrong(ErrorCode::MissingCurrentPassword),
                false => Ok(()),
            }
        }
    }
}

/// Keeps the account's new `auth_string` among its passwords. Where the password itself is known,
/// it is error 3638 for one that was used too lately.
pub(crate) fn remember(
    def: &mut AccountDef,
    rules: &PasswordRules,
    password: Option<&str>,
    now: u64,
) -> Result<(), SqlError> {
    let most = def.history.unwrap_or(rules.history);
    let days = def.reuse_interval.unwrap_or(rules.reuse_interval);
    let age = |old: &OldPassword| (now / DAY).saturating_sub(old.since / DAY);
    let password = password.filter(|password| !password.is_empty());
    if let Some(password) = password {
        let mut late = def.past.iter().zip(0..).filter(|(old, at)| *at < most || age(old) < days);
        if late.any(|(old, _)| is_of(&def.plugin, &old.auth_string, password)) {
            let args: [&dyn std::fmt::Display; 2] = [&def.name.user, &def.name.host];
            return Err(SqlError::new(ErrorCode::CredentialsContradictToHistory, &args));
        }
    }
    if !def.auth_string.is_empty() {
        let auth_string = def.auth_string.clone();
        def.past.insert(0, OldPassword { since: now, auth_string });
    }
    let mut at = 0;
    def.past.retain(|old| {
        at += 1;
        at <= most || age(old) < days
    });
    Ok(())
}

/// Whether an account's password has expired; `default` is `default_password_lifetime`. The
/// age of the first password is unknown.
pub(crate) fn has_expired(def: &AccountDef, default: u64, now: u64) -> bool {
    let days = def.lifetime.unwrap_or(default);
    let known = days > 0 && def.password_changed > 0;
    def.expired || (known && now > def.password_changed.saturating_add(days.saturating_mul(DAY)))
}

#[cfg(test)]
mod tests;
