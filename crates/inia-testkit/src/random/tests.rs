//! Equal seeds give equal runs, and ranges are kept.

use super::Random;

#[test]
fn equal_seeds_give_equal_numbers() {
    let (mut a, mut b) = (Random::new(7), Random::new(7));
    assert_eq!(a.bytes(100), b.bytes(100));
    assert_ne!(Random::new(8).next_u64(), Random::new(9).next_u64());
}

#[test]
fn ranges_are_kept_and_used_to_their_ends() {
    let mut random = Random::new(1);
    let mut seen = [false; 5];
    for _ in 0..1000 {
        let value = random.range(-2..3);
        seen[(value + 2) as usize] = true;
        assert!(random.skewed(10) < 10);
        assert!(random.fraction() < 1.0);
    }
    assert_eq!(seen, [true; 5]);
    assert_eq!(random.range(5..5), 5);
    assert_eq!((random.below(0), random.skewed(0), random.skewed(1)), (0, 0, 0));
}

#[test]
fn skewed_numbers_are_mostly_small() {
    let mut random = Random::new(2);
    let small = (0..1000).filter(|_| random.skewed(1 << 20) < 1 << 10).count();
    assert!((400..700).contains(&small), "{small}");
}
