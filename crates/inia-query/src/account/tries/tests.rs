//! Wrong passwords add up, right ones in between forgive, and days pass.

use super::*;

fn def(attempts: u64, days: u64) -> AccountDef {
    let mut def = AccountDef::new(AccountName::new("u", "%"));
    (def.failed_attempts, def.lock_time) = (Some(attempts), Some(days));
    def
}

#[test]
fn so_many_wrong_passwords_in_a_row_block_an_account_for_days() {
    let (tries, def, start) = (LoginTries::default(), def(2, 3), SystemTime::UNIX_EPOCH);
    assert_eq!(tries.note(&def, false, start), None);
    assert_eq!(tries.note(&def, true, start), None);
    assert_eq!(tries.note(&def, false, start), None);
    let block = |left| Some(LoginBlock { days: Some((3, left)), failures: 2 });
    assert_eq!(tries.note(&def, false, start), block(3));
    assert_eq!(tries.note(&def, true, start), block(3));
    assert_eq!(tries.note(&def, true, start + 2 * DAY), block(1));
    assert_eq!(tries.note(&def, true, start + 3 * DAY), None);
    assert_eq!(tries.note(&def, false, start + 3 * DAY), None);
}

#[test]
fn unbounded_is_until_the_account_is_unlocked() {
    let (tries, def, start) = (LoginTries::default(), def(1, u64::MAX), SystemTime::UNIX_EPOCH);
    let block = Some(LoginBlock { days: None, failures: 1 });
    assert_eq!(tries.note(&def, false, start), block);
    assert_eq!(tries.note(&def, true, start + 10_000 * DAY), block);
    tries.forgive(&def.name);
    assert_eq!(tries.note(&def, true, start), None);
}

#[test]
fn accounts_without_limits_count_nothing() {
    let tries = LoginTries::default();
    for def in [def(0, 5), def(5, 0)] {
        for _ in 0..10 {
            assert_eq!(tries.note(&def, false, SystemTime::UNIX_EPOCH), None);
        }
    }
}
