//! Keys and their positions.

use super::*;

#[test]
fn keys_are_found_whether_close_together_or_far_apart() {
    let steps = [1, 3, 1000, u64::MAX / 7, u64::MAX];
    for (step, expected) in steps.into_iter().flat_map(|step| [(step, 0.0), (step, 1e5)]) {
        let mut positions = Positions::expecting(expected, usize::MAX);
        let keys: Vec<u64> = (0..5000u64).map(|i| i.wrapping_mul(step)).collect();
        let keys: std::collections::BTreeSet<u64> = keys.into_iter().collect();
        for (position, key) in keys.iter().enumerate() {
            assert_eq!(positions.get(*key), None);
            positions.insert(*key, position);
        }
        assert!(keys.iter().enumerate().all(|(at, key)| positions.get(*key) == Some(at)));
    }
}
