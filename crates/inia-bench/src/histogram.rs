//! Latency histograms: fixed relative precision over the whole range, as HDR histograms have.
//!
//! A value of `e` significant bits falls into one of 128 equal buckets of its power of two, so
//! every bucket is at most 1/128 (0.8 %) wide. 300 is 1_0010_1100 in binary: its power is 256,
//! whose 128 buckets are two wide, and 300 shares a bucket with 301.

const BITS: u32 = 7;
const STEPS: u64 = 1 << BITS;

/// Counts values, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    counts: Vec<u32>,
    total: u64,
    sum: u64,
    max: u64,
}

fn index(value: u64) -> usize {
    let shift = (63 - (value | STEPS).leading_zeros()) - BITS;
    (u64::from(shift) * STEPS + (value >> shift)) as usize
}

/// The greatest value of a bucket.
fn upper(index: usize) -> u64 {
    let index = index as u64;
    let shift = (index / STEPS).saturating_sub(1);
    let low = (index - shift * STEPS) << shift;
    low + ((1 << shift) - 1)
}

impl Histogram {
    /// Counts a value.
    #[inline]
    pub fn add(&mut self, nanos: u64) {
        self.add_many(nanos, 1);
    }

    fn add_many(&mut self, nanos: u64, count: u32) {
        let at = index(nanos);
        if at >= self.counts.len() {
            self.counts.resize(at + 1, 0);
        }
        self.counts[at] = self.counts[at].saturating_add(count);
        self.total += u64::from(count);
        self.sum = self.sum.saturating_add(nanos.saturating_mul(u64::from(count)));
        self.max = self.max.max(nanos);
    }

    /// Adds another's counts.
    pub fn merge(&mut self, other: &Histogram) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine = mine.saturating_add(*theirs);
        }
        self.total += other.total;
        self.sum = self.sum.saturating_add(other.sum);
        self.max = self.max.max(other.max);
    }

    /// Forgets all counts.
    pub fn clear(&mut self) {
        self.counts.clear();
        (self.total, self.sum, self.max) = (0, 0, 0);
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.total
    }

    /// Their mean.
    pub fn mean(&self) -> u64 {
        self.sum.checked_div(self.total).unwrap_or(0)
    }

    /// The greatest.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The least value that this share (0 to 1) of all values does not exceed.
    pub fn quantile(&self, share: f64) -> u64 {
        let wanted = ((self.total as f64 * share).ceil() as u64).clamp(1, self.total.max(1));
        let mut seen = 0;
        for (i, count) in self.counts.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= wanted {
                return upper(i).min(self.max);
            }
        }
        // A bucket counts no further than it can: the rest was in full ones.
        self.max
    }

    /// The buckets that hold something: greatest value and count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u32)> {
        self.counts.iter().enumerate().filter(|(_, c)| **c > 0).map(|(i, &c)| (upper(i), c))
    }

    /// As [`Histogram::buckets`], in eighths of powers of two: enough for a picture.
    pub fn coarse_buckets(&self) -> Vec<(u64, u32)> {
        const TOGETHER: usize = STEPS as usize / 8;
        let mut coarse: Vec<(u64, u32)> = Vec::new();
        for (i, counts) in self.counts.chunks(TOGETHER).enumerate() {
            let sum = counts.iter().fold(0u32, |sum, &count| sum.saturating_add(count));
            if sum > 0 {
                coarse.push((upper((i + 1) * TOGETHER - 1), sum));
            }
        }
        coarse
    }

    /// A histogram from what [`Histogram::buckets`] gave.
    pub fn from_buckets(buckets: impl IntoIterator<Item = (u64, u32)>) -> Histogram {
        let mut histogram = Histogram::default();
        buckets.into_iter().for_each(|(value, count)| histogram.add_many(value, count));
        histogram
    }
}

#[cfg(test)]
mod tests;
