//! The histogram of a column that ANALYZE TABLE … UPDATE HISTOGRAM made.

use inia_base::value::Value;

/// How the values of a column were distributed. Shares are of all rows, NULLs included.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// The column's name.
    pub column: String,
    /// The share of NULLs.
    pub null_share: f64,
    /// The share of the rows that were read.
    pub sampling_rate: f64,
    /// When it was made, in microseconds since 1970.
    pub updated: i64,
    /// How many buckets the statement wanted.
    pub wanted: u16,
    /// A bucket holds several values; else each has one.
    pub equi_height: bool,
    /// Buckets in the order of their values.
    pub buckets: Vec<HistogramBucket>,
}

/// Neighbouring values of a histogram. Long strings are cut; a TIMESTAMP is in the time zone of the
/// session that made the histogram.
#[derive(Clone, Debug, PartialEq)]
pub struct HistogramBucket {
    /// The least value.
    pub lower: Value,
    /// The greatest value.
    pub upper: Value,
    /// The share of the rows whose values are in this bucket or in one before it.
    pub cumulative: f64,
    /// How many values are in the bucket; an estimate after a sample.
    pub distinct: u64,
}
