//! Which values share a bucket of a histogram.
//!
//! Buckets take values in ascending order until one more would make them larger than a limit; a
//! value that is more frequent than the limit has a bucket of its own. The limit is the least with
//! which the buckets are enough. Once no more values are left than buckets, each gets its own:
//!
//! ```text
//!   rows of 1 … 10      5 1 7 1 1 2 20 1 1 1, in at most 5 buckets
//!   limit 7             [5 1] [7] [1 1 2] [20] [1 1 1]
//! ```
//!
//! The algorithm is MySQL 8.0.31's, so that histograms are the same.

use std::ops::Range;

/// Halvings of the interval in which the limit is searched.
const MAX_STEPS: usize = 10;

/// The buckets of values with these numbers of rows, as ranges of positions: at most `wanted`.
pub(super) fn fill(counts: &[u64], wanted: usize) -> Vec<Range<usize>> {
    debug_assert!(counts.iter().all(|count| *count > 0), "a value has a row");
    let limit = find_limit(counts, wanted);
    let mut buckets: Vec<Range<usize>> = Vec::new();
    let mut size = 0;
    for (at, count) in counts.iter().enumerate() {
        let full = size + count > limit;
        let spare = counts.len() - at <= wanted.saturating_sub(buckets.len());
        match buckets.last_mut() {
            Some(bucket) if !full && !spare => bucket.end = at + 1,
            _ => {
                buckets.push(at..at + 1);
                size = 0;
            }
        }
        size += count;
    }
    debug_assert!(buckets.len() <= wanted.max(1), "no more buckets than were wanted");
    buckets
}

fn find_limit(counts: &[u64], wanted: usize) -> u64 {
    let total: u64 = counts.iter().sum();
    if wanted <= 1 {
        return total;
    }
    // Any two neighbouring buckets hold more than the limit together: this one is large enough.
    let mut enough = 2 * total / (wanted as u64 - 1) + 1;
    let mut short = 0;
    for _ in 0..MAX_STEPS {
        if enough <= short + 1 {
            break;
        }
        let limit = (enough + short) / 2;
        match fits(counts, limit, wanted) {
            true => enough = limit,
            false => short = limit,
        }
    }
    enough
}

/// Whether buckets of at most `limit` rows are enough.
fn fits(counts: &[u64], limit: u64, wanted: usize) -> bool {
    let (mut used, mut size) = (1, 0);
    for count in counts {
        if size > 0 && size + count > limit {
            used += 1;
            size = 0;
        }
        size += count;
    }
    used <= wanted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(counts: &[u64], wanted: usize) -> Vec<usize> {
        fill(counts, wanted).into_iter().map(|bucket| bucket.len()).collect()
    }

    #[test]
    fn a_frequent_value_has_a_bucket_of_its_own() {
        let counts = [5, 1, 7, 1, 1, 2, 20, 1, 1, 1];
        assert_eq!(sizes(&counts, 1), [10]);
        assert_eq!(sizes(&counts, 3), [6, 1, 3]);
        assert_eq!(sizes(&counts, 5), [2, 1, 3, 1, 3]);
    }

    #[test]
    fn buckets_that_are_left_over_are_used() {
        let counts = [1; 100];
        assert_eq!(sizes(&counts, 3), [34, 34, 32]);
        let mut expected = vec![2; 36];
        expected.extend([1; 28]);
        assert_eq!(sizes(&counts, 64), expected);
        assert_eq!(sizes(&counts, 100), [1; 100]);
    }
}
