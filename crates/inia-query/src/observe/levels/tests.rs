use super::{Account, Level, Levels, Sum};

impl Sum for u64 {
    fn add(&mut self, other: &u64) {
        *self += other;
    }

    fn is_empty(&self) -> bool {
        *self == 0
    }
}

fn account(user: &str, host: &str) -> Account {
    Some((user.to_owned(), host.to_owned()))
}

/// What each level shows: accounts, users, hosts, all.
fn shown(levels: &Levels<u64>, live: &[(Account, u64)]) -> [Vec<u64>; 4] {
    let live = || live.iter().cloned();
    [
        levels.accounts(live()).into_values().collect(),
        levels.users(live()).into_values().collect(),
        levels.hosts(live()).into_values().collect(),
        vec![levels.global(live())],
    ]
}

/// Sums of two accounts of one user: one session lives, one has ended.
fn filled() -> (Levels<u64>, Vec<(Account, u64)>) {
    let levels = Levels::default();
    levels.add(account("u", "a"), &3);
    (levels, vec![(account("u", "b"), 4)])
}

#[test]
fn levels_add_what_lives_to_what_has_ended() {
    let (levels, live) = filled();
    assert_eq!(shown(&levels, &live), [vec![3, 4], vec![7], vec![3, 4], vec![7]]);
}

#[test]
fn truncate_moves_what_lies_below_upwards() {
    let emptied = |level| {
        let (levels, live) = filled();
        levels.empty(level, live.into_iter());
        shown(&levels, &[])
    };
    assert_eq!(emptied(Level::Thread), [vec![3, 4], vec![7], vec![3, 4], vec![7]]);
    assert_eq!(emptied(Level::Account), [vec![], vec![7], vec![3, 4], vec![7]]);
    assert_eq!(emptied(Level::User), [vec![], vec![], vec![3, 4], vec![7]]);
    assert_eq!(emptied(Level::Host), [vec![], vec![7], vec![], vec![7]]);
    assert_eq!(emptied(Level::Global), [vec![], vec![], vec![], vec![0]]);
}

#[test]
fn tables_of_summaries_have_levels() {
    assert_eq!(Level::of("events_errors_summary_by_host_by_error"), Some(Level::Host));
    assert_eq!(Level::of("events_errors_summary_global_by_error"), Some(Level::Global));
    assert_eq!(Level::of("events_statements_summary_by_digest"), None);
    assert_eq!(Level::of("threads"), None);
}
