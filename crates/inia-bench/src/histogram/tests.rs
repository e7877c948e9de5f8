//! Quantiles are right to within a bucket's width, whatever the size of the values.

use super::{Histogram, index, upper};

#[test]
fn buckets_follow_each_other_without_gaps() {
    for i in 0..5_000 {
        assert_eq!(index(upper(i)), i);
        assert_eq!(index(upper(i) + 1), i + 1);
    }
    assert_eq!(index(300), index(301));
    assert_ne!(index(301), index(302));
}

#[test]
fn quantiles_of_known_values() {
    let mut histogram = Histogram::default();
    (1..=1000u64).for_each(|n| histogram.add(n * 1_000));
    for (share, exact) in [(0.5, 500_000.0), (0.99, 990_000.0), (1.0, 1_000_000.0)] {
        let found = histogram.quantile(share) as f64;
        assert!((found / exact - 1.0).abs() < 0.008, "{share}: {found}");
    }
    assert_eq!((histogram.count(), histogram.mean(), histogram.max()), (1000, 500_500, 1_000_000));
}

#[test]
fn parts_add_up_and_buckets_are_read_back() {
    let (mut a, mut b) = (Histogram::default(), Histogram::default());
    a.add(5);
    b.add(50_000);
    a.merge(&b);
    assert_eq!((a.count(), a.max(), a.quantile(0.1)), (2, 50_000, 5));
    let back = Histogram::from_buckets(a.buckets());
    assert_eq!((back.count(), back.quantile(0.1)), (2, 5));
    assert_eq!(Histogram::default().quantile(0.5), 0);
}

#[test]
fn coarse_buckets_hold_the_same_values_in_eighths_of_powers_of_two() {
    let mut histogram = Histogram::default();
    // 1024 to 1151 ns are the first eighth of their power, 1152 begins the next one.
    [1024, 1100, 1151, 1152].into_iter().for_each(|nanos| histogram.add(nanos));
    assert_eq!(histogram.coarse_buckets(), [(1151, 3), (1279, 1)]);
}

/// As a file of results may claim.
#[test]
fn the_greatest_values_have_a_place() {
    let mut histogram = Histogram::from_buckets([(u64::MAX, u32::MAX), (u64::MAX, u32::MAX)]);
    histogram.merge(&histogram.clone());
    assert_eq!((histogram.max(), histogram.quantile(1.0)), (u64::MAX, u64::MAX));
    assert_eq!(histogram.coarse_buckets(), [(u64::MAX, u32::MAX)]);
}
