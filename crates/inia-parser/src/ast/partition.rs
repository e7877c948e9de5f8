//! PARTITION BY, and what ALTER TABLE does with partitions.

use super::{Expr, ObjectName};

/// PARTITION BY …, or SUBPARTITION BY ….
#[derive(Debug, Clone, PartialEq)]
pub struct PartitionBy {
    /// How rows are divided.
    pub scheme: PartitionScheme,
    /// PARTITIONS n.
    pub count: Option<u64>,
    /// SUBPARTITION BY HASH or KEY.
    pub sub: Option<Box<PartitionBy>>,
    /// The partitions that are listed.
    pub partitions: Vec<PartitionSpec>,
}

/// How rows are divided.
#[derive(Debug, Clone, PartialEq)]
pub enum PartitionScheme {
    /// RANGE (expr).
    Range(Expr),
    /// LIST (expr).
    List(Expr),
    /// RANGE COLUMNS (…).
    RangeColumns(Vec<String>),
    /// LIST COLUMNS (…).
    ListColumns(Vec<String>),
    /// [LINEAR] HASH (expr).
    Hash {
        /// LINEAR.
        linear: bool,
        /// The function.
        expr: Expr,
    },
    /// [LINEAR] KEY [ALGORITHM = n] (…).
    Key {
        /// LINEAR.
        linear: bool,
        /// ALGORITHM.
        algorithm: Option<u64>,
        /// The columns; none means those of the primary key.
        columns: Vec<String>,
    },
}

/// One partition or subpartition in a list of them.
#[derive(Debug, Clone, PartialEq)]
pub struct PartitionSpec {
    /// Its name.
    pub name: String,
    /// VALUES.
    pub values: PartitionValues,
    /// Its options.
    pub options: PartitionOptions,
    /// Its subpartitions, where they are listed.
    pub subpartitions: Vec<PartitionSpec>,
}

/// Options of a partition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartitionOptions {
    /// ENGINE.
    pub engine: Option<String>,
    /// COMMENT.
    pub comment: Option<String>,
    /// MAX_ROWS.
    pub max_rows: Option<u64>,
    /// MIN_ROWS.
    pub min_rows: Option<u64>,
    /// DATA DIRECTORY.
    pub data_directory: Option<String>,
    /// INDEX DIRECTORY.
    pub index_directory: Option<String>,
    /// TABLESPACE.
    pub tablespace: Option<String>,
    /// NODEGROUP.
    pub node_group: Option<u64>,
}

/// VALUES of a partition.
#[derive(Debug, Clone, PartialEq)]
pub enum PartitionValues {
    /// None written.
    None,
    /// LESS THAN MAXVALUE.
    Maxvalue,
    /// LESS THAN (…).
    LessThan(Vec<PartitionValue>),
    /// IN (…).
    In(Vec<PartitionItem>),
}

/// A member of VALUES IN.
#[derive(Debug, Clone, PartialEq)]
pub enum PartitionItem {
    /// A value.
    One(PartitionValue),
    /// (value, …).
    Row(Vec<PartitionValue>),
}

/// A value in VALUES.
#[derive(Debug, Clone, PartialEq)]
pub enum PartitionValue {
    /// MAXVALUE.
    Maxvalue,
    /// An expression.
    Expr(Expr),
}

/// Which partitions a statement is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartitionNames {
    /// ALL.
    All,
    /// These.
    Named(Vec<String>),
}

/// What ALTER TABLE does with partitions.
#[derive(Debug, Clone, PartialEq)]
pub enum PartitionAction {
    /// PARTITION BY.
    By(Box<PartitionBy>),
    /// REMOVE PARTITIONING.
    Remove,
    /// ADD PARTITION (…).
    Add(Vec<PartitionSpec>),
    /// ADD PARTITION PARTITIONS n.
    AddCount(u64),
    /// DROP PARTITION.
    Drop(Vec<String>),
    /// COALESCE PARTITION n.
    Coalesce(u64),
    /// REORGANIZE PARTITION [names INTO (…)].
    Reorganize {
        /// The partitions that go; none without INTO.
        names: Vec<String>,
        /// The partitions that come.
        into: Vec<PartitionSpec>,
    },
    /// EXCHANGE PARTITION name WITH TABLE table.
    Exchange {
        /// The partition.
        partition: String,
        /// The table.
        table: ObjectName,
        /// Not WITHOUT VALIDATION.
        validation: bool,
    },
    /// TRUNCATE PARTITION.
    Truncate(PartitionNames),
    /// ANALYZE PARTITION.
    Analyze(PartitionNames),
    /// CHECK PARTITION.
    Check(PartitionNames),
    /// OPTIMIZE PARTITION.
    Optimize(PartitionNames),
    /// REBUILD PARTITION.
    Rebuild(PartitionNames),
    /// REPAIR PARTITION.
    Repair(PartitionNames),
    /// DISCARD or IMPORT PARTITION … TABLESPACE.
    Tablespace,
}
