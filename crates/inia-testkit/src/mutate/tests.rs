//! Equal seeds give equal damage, and all of it can happen to anything.

use super::*;

#[test]
fn anything_can_be_damaged_and_equal_seeds_damage_equally() {
    for seed in 0..2_000 {
        let damage = || {
            let mut random = Random::new(seed);
            let mut input = random.bytes((seed % 40) as usize);
            bytes(&mut random, &mut input, b"other");
            (input, text(&mut random, "SELECT 'é' FROM t", ""))
        };
        assert_eq!(damage(), damage());
    }
}
