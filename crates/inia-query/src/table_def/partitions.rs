//! How a table is divided into partitions.
//!
//! Each leaf (a partition, or a subpartition where there are some) has trees of its own, as a table
//! has. The trees of the table itself are empty then: its counter of AUTO_INCREMENT is kept with
//! them.

use super::{TableDef, same_name};
use inia_base::ids::TreeId;
use inia_base::value::Value;

/// PARTITION BY of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Partitioning {
    /// What divides rows into partitions.
    pub by: Division,
    /// What divides those into subpartitions.
    pub sub: Option<Division>,
    /// The partitions were counted, not listed.
    pub counted: bool,
    /// PARTITIONS was written.
    pub says_count: bool,
    /// The subpartitions were counted, not listed.
    pub sub_counted: bool,
    /// SUBPARTITIONS was written.
    pub says_sub_count: bool,
    /// The partitions in order; each has as many leaves.
    pub partitions: Vec<PartitionDef>,
}

/// What divides rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Division {
    /// How.
    pub method: DivisionMethod,
    /// The function as SHOW CREATE TABLE prints it, without the parentheses around it; empty where
    /// columns divide.
    pub expression: String,
    /// The columns of COLUMNS and KEY, or those that the function reads.
    pub columns: Vec<String>,
    /// KEY (): the columns are those of the primary key.
    pub implied: bool,
}

/// How rows are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DivisionMethod {
    /// RANGE.
    Range,
    /// LIST.
    List,
    /// RANGE COLUMNS.
    RangeColumns,
    /// LIST COLUMNS.
    ListColumns,
    /// HASH.
    Hash {
        /// LINEAR.
        linear: bool,
    },
    /// KEY.
    Key {
        /// LINEAR.
        linear: bool,
        /// ALGORITHM = 1.
        old: bool,
    },
}

impl DivisionMethod {
    /// Whether partitions have upper limits.
    pub fn is_range(self) -> bool {
        matches!(self, DivisionMethod::Range | DivisionMethod::RangeColumns)
    }

    /// Whether partitions list their values.
    pub fn is_list(self) -> bool {
        matches!(self, DivisionMethod::List | DivisionMethod::ListColumns)
    }

    /// Whether a number of partitions says them all.
    pub fn is_hash(self) -> bool {
        matches!(self, DivisionMethod::Hash { .. } | DivisionMethod::Key { .. })
    }

    /// Whether columns divide, not a function.
    pub fn has_columns(self) -> bool {
        !matches!(self, DivisionMethod::Range | DivisionMethod::List | DivisionMethod::Hash { .. })
    }

    /// As INFORMATION_SCHEMA.PARTITIONS has it.
    pub fn name(self) -> &'static str {
        match self {
            DivisionMethod::Range => "RANGE",
            DivisionMethod::List => "LIST",
            DivisionMethod::RangeColumns => "RANGE COLUMNS",
            DivisionMethod::ListColumns => "LIST COLUMNS",
            DivisionMethod::Hash { linear: false } => "HASH",
            DivisionMethod::Hash { linear: true } => "LINEAR HASH",
            DivisionMethod::Key { linear: false, .. } => "KEY",
            DivisionMethod::Key { linear: true, .. } => "LINEAR KEY",
        }
    }
}

/// A partition.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionDef {
    /// Its name.
    pub name: String,
    /// Which rows it takes.
    pub values: PartitionBounds,
    /// The values as SHOW CREATE TABLE prints them; MAXVALUE alone for no limit.
    pub description: String,
    /// Its subpartitions, or itself.
    pub leaves: Vec<LeafDef>,
}

/// Which rows a partition takes.
#[derive(Clone, Debug, PartialEq)]
pub enum PartitionBounds {
    /// Those that its number says.
    Hash,
    /// Those below a limit: a value for each column, `None` for MAXVALUE.
    LessThan(Vec<Option<Value>>),
    /// Those with one of these values.
    In(Vec<Vec<Value>>),
}

/// What has trees.
#[derive(Clone, Debug, PartialEq)]
pub struct LeafDef {
    /// Its name; that of its partition where there are no subpartitions.
    pub name: String,
    /// COMMENT.
    pub comment: String,
    /// MAX_ROWS.
    pub max_rows: u64,
    /// MIN_ROWS.
    pub min_rows: u64,
    /// NODEGROUP.
    pub node_group: Option<u64>,
    /// Its trees, in the order of [`TableDef::trees`].
    pub trees: Vec<TreeId>,
}

impl Partitioning {
    /// All leaves in order.
    pub fn leaves(&self) -> impl Iterator<Item = &LeafDef> {
        self.partitions.iter().flat_map(|partition| &partition.leaves)
    }

    /// All leaves in order.
    pub fn leaves_mut(&mut self) -> impl Iterator<Item = &mut LeafDef> {
        self.partitions.iter_mut().flat_map(|partition| &mut partition.leaves)
    }

    /// How many leaves each partition has.
    pub fn per_partition(&self) -> usize {
        self.partitions.first().map_or(1, |partition| partition.leaves.len()).max(1)
    }

    /// Both divisions.
    pub fn divisions(&self) -> impl Iterator<Item = &Division> {
        std::iter::once(&self.by).chain(&self.sub)
    }

    /// The name of a leaf as EXPLAIN writes it: `partition` or `partition_subpartition`.
    pub fn shown(&self, leaf: usize) -> String {
        let per = self.per_partition();
        let partition = &self.partitions[leaf / per];
        match &self.sub {
            None => partition.name.clone(),
            Some(_) => format!("{}_{}", partition.name, partition.leaves[leaf % per].name),
        }
    }

    /// The leaves of a partition or subpartition of this name.
    pub fn find(&self, name: &str) -> Option<std::ops::Range<usize>> {
        let per = self.per_partition();
        for (at, partition) in self.partitions.iter().enumerate() {
            if same_name(&partition.name, name) {
                return Some(at * per..(at + 1) * per);
            }
            let found = partition.leaves.iter().position(|leaf| same_name(&leaf.name, name));
            if let Some(leaf) = found.filter(|_| self.sub.is_some()) {
                return Some(at * per + leaf..at * per + leaf + 1);
            }
        }
        None
    }
}

impl TableDef {
    /// The definition of what a leaf holds: a table of its own without partitions.
    pub fn of_leaf(&self, leaf: &LeafDef) -> TableDef {
        let mut def = TableDef { partitioning: None, ..self.clone() };
        def.take_trees(&leaf.trees);
        def
    }

    /// Puts trees in the order of [`TableDef::trees`] into the definition.
    pub fn take_trees(&mut self, trees: &[TreeId]) {
        let mut trees = trees.iter().copied();
        self.clustered = trees.next().unwrap_or_default();
        for index in &mut self.indexes {
            index.tree = match index.clustered {
                true => self.clustered,
                false => trees.next().unwrap_or_default(),
            };
        }
    }
}
