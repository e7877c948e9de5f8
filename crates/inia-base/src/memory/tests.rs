//! What sessions take and give, alone and together.

use super::*;

fn sessions<const N: usize>(limit: u64) -> (Arc<MemoryBudget>, [SessionMemory; N]) {
    let budget = Arc::new(MemoryBudget::default());
    budget.set_limit(limit);
    let sessions = std::array::from_fn(|_| SessionMemory::new(Arc::clone(&budget)));
    (budget, sessions)
}

#[test]
fn a_session_takes_no_more_than_its_part() {
    let (budget, [one]) = sessions(100 << 20);
    assert!(one.take(25 << 20));
    assert!(!one.take(1));
    let error = one.demand(1, "statement").unwrap_err();
    assert_eq!(error.code, ErrorCode::CapacityExceeded);
    assert!(
        error.message.starts_with("Memory capacity of 26214400 bytes for 'statement' exceeded")
    );
    one.give(1);
    assert!(one.take(1));
    assert_eq!((one.taken(), budget.taken()), (25 << 20, 25 << 20));
}

#[test]
fn sessions_share_what_the_server_has() {
    let (budget, [one, two, three]) = sessions(16 << 20);
    assert!(one.take(8 << 20) && two.take(8 << 20));
    assert!(!three.take(1), "nothing is left for the third");
    drop(one);
    assert!(three.take(8 << 20), "a session that ends gives everything back");
    assert_eq!(budget.taken(), 16 << 20);
}

#[test]
fn sums_that_overflow_do_not_fit() {
    let (budget, [one]) = sessions(u64::MAX);
    assert!(one.take(1 << 40));
    assert!(!one.take(u64::MAX) && !budget.take(u64::MAX));
    assert_eq!(budget.taken(), 1 << 40);
}

#[test]
fn a_share_grows_and_shrinks_with_what_it_covers() {
    let budget = Arc::new(MemoryBudget::default());
    budget.set_limit(10 << 20);
    let mut share = MemoryShare::of(Some(Arc::clone(&budget)));
    assert!(share.resize(UNCOUNTED));
    assert_eq!(budget.taken(), 0, "little things are free");
    assert!(share.resize(8 << 20));
    assert!(!share.resize(11 << 20));
    assert!(share.resize(1 << 20));
    assert_eq!(budget.taken(), (1 << 20) - UNCOUNTED);
    assert!(share.resize(0));
    assert_eq!(budget.taken(), 0);
}
