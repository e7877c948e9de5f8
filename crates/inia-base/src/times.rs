//! Sums over how long things of one kind took.

/// Sums in one unit of time, which its user chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeSums {
    /// How many there were.
    pub count: u64,
    /// All together.
    pub sum: u64,
    /// The least.
    pub min: u64,
    /// The most.
    pub max: u64,
}

impl TimeSums {
    /// One that took so long.
    pub fn one(time: u64) -> TimeSums {
        TimeSums { count: 1, sum: time, min: time, max: time }
    }

    /// Adds sums over others.
    pub fn add(&mut self, other: &TimeSums) {
        self.min = match (self.count, other.count) {
            (_, 0) => self.min,
            (0, _) => other.min,
            _ => self.min.min(other.min),
        };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.sum += other.sum;
    }

    /// The mean, rounded down; 0 where there were none.
    pub fn mean(&self) -> u64 {
        self.sum.checked_div(self.count).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::TimeSums;

    #[test]
    fn the_least_of_none_is_not_the_least_of_all() {
        let mut sums = TimeSums::default();
        sums.add(&TimeSums::one(7));
        sums.add(&TimeSums::default());
        assert_eq!(sums, TimeSums::one(7));
        sums.add(&TimeSums::one(4));
        assert_eq!((sums.count, sums.sum, sums.min, sums.max, sums.mean()), (2, 11, 4, 7, 5));
    }
}
