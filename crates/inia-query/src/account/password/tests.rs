//! Which passwords may come again, and when they expire.

use super::*;
use crate::catalog::AccountName;
use inia_base::password::{CACHING_SHA2, native_stored, sha2_stored};

fn account(plugin: &str) -> AccountDef {
    AccountDef { plugin: plugin.to_owned(), ..AccountDef::new(AccountName::new("u", "%")) }
}

/// Sets a password; whether it was taken.
fn set(def: &mut AccountDef, rules: &PasswordRules, password: &str, now: u64) -> bool {
    let before = def.clone();
    def.auth_string = match def.plugin.as_str() {
        _ if password.is_empty() => Vec::new(),
        NATIVE => native_stored(password.as_bytes()),
        _ => sha2_stored(password.as_bytes(), &[7; 20]),
    };
    let done = remember(def, rules, Some(password), now);
    if let Err(error) = &done {
        assert_eq!(error.code.number(), 3638);
        *def = before;
    }
    done.is_ok()
}

#[test]
fn the_last_passwords_may_not_come_again() {
    for plugin in [NATIVE, CACHING_SHA2] {
        let rules = PasswordRules { history: 2, ..PasswordRules::default() };
        let mut def = account(plugin);
        let taken: Vec<bool> =
            "aababcab".chars().map(|c| set(&mut def, &rules, &c.to_string(), 9)).collect();
        assert_eq!(taken, [true, false, true, false, false, true, true, true]);
        assert_eq!(def.past.len(), 2);
        // No password is none to remember.
        assert!(set(&mut def, &rules, "", 9) && set(&mut def, &rules, "", 9));
        assert!(!set(&mut def, &rules, "a", 9));
        // The account's own rule stands above the server's.
        def.history = Some(0);
        assert!(set(&mut def, &rules, "a", 9));
        assert!(def.past.is_empty());
    }
}

#[test]
fn the_interval_counts_days_of_the_calendar() {
    let rules = PasswordRules { reuse_interval: 2, ..PasswordRules::default() };
    let evening = 10 * DAY - 60;
    for (now, taken) in [(10 * DAY, false), (11 * DAY - 1, false), (11 * DAY, true)] {
        let mut def = account(NATIVE);
        assert!(set(&mut def, &rules, "a", evening));
        assert!(set(&mut def, &rules, "b", evening + 1));
        assert_eq!(set(&mut def, &rules, "a", now), taken, "{now}");
    }
}

#[test]
fn passwords_expire_when_their_days_are_over() {
    let mut def = account(NATIVE);
    def.password_changed = 100;
    assert!(!has_expired(&def, 0, u64::MAX));
    assert!(!has_expired(&def, 2, 100 + 2 * DAY));
    assert!(has_expired(&def, 2, 101 + 2 * DAY));
    def.lifetime = Some(0);
    assert!(!has_expired(&def, 2, u64::MAX));
    def.lifetime = Some(3);
    assert!(!has_expired(&def, 2, 100 + 3 * DAY));
    assert!(has_expired(&def, 2, 101 + 3 * DAY));
    def.password_changed = 0;
    assert!(!has_expired(&def, 2, u64::MAX));
    def.expired = true;
    assert!(has_expired(&def, 0, 0));
}
