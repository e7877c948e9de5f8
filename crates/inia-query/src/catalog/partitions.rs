//! A table's partitions at run time: a handle for each, and which one a row belongs to.
//!
//! A leaf's handle is a [`Table`] like that of a table without partitions, with the leaf's trees.
//! A [`Divider`] finds a row's partition by the columns that divide: it evaluates a function of
//! them, compares their key with limits, or hashes them. For pruning it has a finder: a table that
//! has an index on those columns and no rows, so that conditions become ranges of keys as they do
//! for any index.
//!
//! Example: PARTITION BY RANGE (YEAR(d)) has the column d, the function YEAR(d) and limits as
//! numbers; RANGE COLUMNS (a, b) has limits as keys of (a, b).
//!
//! The leaves of a merged table are other tables, see [`united`].

mod key_hash;
mod places;
mod united;

pub(crate) use places::Place;
pub(crate) use united::United;
pub(super) use united::View as MergeView;

use super::{Division, DivisionMethod, Partitioning, Table, TableDef};
use crate::catalog::mdl::MdlName;
use crate::catalog::table::TableShared;
use crate::row::{Cell, prefix_successor};
use crate::table_def::{IndexDef, IndexKind, IndexPart, PartitionBounds};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::ids::TreeId;
use inia_base::temporal::TimeZone;
use inia_base::value::Value;
use inia_expr::{Environment, Expr, ExprKind, ExprType, Scope};
use inia_parser::ast;
use inia_storage::Engine;
use places::NoSession;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The partitions of a table, or those of them that a statement names.
pub struct Partitions {
    set: Arc<PartitionSet>,
    /// The leaves that the statement names; `None` for all.
    selected: Option<Arc<[bool]>>,
    /// The table's handle for all partitions, where this one is for some.
    base: Option<Arc<Table>>,
}

/// All partitions of a table.
pub(crate) struct PartitionSet {
    /// A handle for each leaf.
    leaves: Vec<Arc<Table>>,
    rule: LeafRule,
}

/// Which leaf a row belongs to.
enum LeafRule {
    /// The one that its values say.
    Divided(Box<Dividers>),
    /// The one that has it.
    United(United),
}

/// What divides a table.
pub(crate) struct Dividers {
    /// How many leaves each partition has.
    pub(crate) per: usize,
    /// What divides into partitions.
    pub(crate) by: Divider,
    /// What divides those into subpartitions.
    pub(crate) sub: Option<Divider>,
}

/// What finds a row's partition.
pub(crate) struct Divider {
    /// The columns that divide.
    pub(crate) columns: Vec<usize>,
    /// How it divides.
    pub(crate) rule: Rule,
    /// A table without rows that has an index on the columns.
    pub(crate) finder: Arc<Table>,
    /// The index's position.
    pub(crate) index: usize,
    /// What is divided by; `None` where columns are.
    pub(crate) function: Option<Expr>,
    /// How many parts there are.
    pub(crate) parts: usize,
    env: Environment,
}

/// How rows are divided.
pub(crate) enum Rule {
    /// Upper limits of a function; `None` for MAXVALUE.
    Range(Vec<Option<i128>>),
    /// Values of a function, and NULL's part.
    List(BTreeMap<i128, usize>, Option<usize>),
    /// Upper limits of keys; `None` for no limit.
    RangeColumns(Vec<Option<Vec<u8>>>),
    /// Keys.
    ListColumns(HashMap<Vec<u8>, usize>),
    /// By a function's remainder.
    Hash {
        /// LINEAR.
        linear: bool,
    },
    /// By a hash of the columns.
    Key {
        /// LINEAR.
        linear: bool,
        /// ALGORITHM = 1.
        old: bool,
    },
}

/// Names the columns of a table in its partition function.
struct OwnColumns<'d>(&'d TableDef);

impl Scope for OwnColumns<'_> {
    fn column(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        let Some(index) = self.0.column(&name.name) else {
            return Err(SqlError::new(ErrorCode::UnknownColumn, &[&name.name, &"field list"]));
        };
        let column = &self.0.columns[index];
        let ty = ExprType::of_column(column.data_type.clone(), column.nullable);
        Ok(Expr { kind: ExprKind::Column { index, name: super::quoted(&column.name).into() }, ty })
    }
}

/// What all partitions are made with.
pub(super) struct Origin<'o> {
    pub(super) store: &'o Arc<Engine>,
    pub(super) mdl: &'o Arc<MdlName>,
    pub(super) shared: &'o Arc<TableShared>,
}

impl Partitions {
    /// The partitions of a definition.
    pub(super) fn of(def: &Arc<TableDef>, origin: &Origin<'_>) -> Option<Partitions> {
        let by = def.partitioning.as_deref()?;
        let mut leaves = Vec::new();
        for (number, leaf) in by.leaves().enumerate() {
            let own = Arc::new(def.of_leaf(leaf));
            let Origin { store, mdl, shared } = origin;
            let table = Table::new(own, store, (*mdl).clone(), (*shared).clone());
            leaves.push(Arc::new(table.with_leaf(number)));
        }
        let per = by.per_partition();
        let main = Divider::new(def, &by.by, by, by.partitions.len(), origin);
        let sub = by.sub.as_ref().map(|sub| Divider::new(def, sub, by, per, origin));
        let rule = LeafRule::Divided(Box::new(Dividers { per, by: main, sub }));
        let set = Arc::new(PartitionSet { leaves, rule });
        Some(Partitions { set, selected: None, base: None })
    }

    /// The handle of a leaf.
    pub fn leaf(&self, number: usize) -> &Arc<Table> {
        &self.set.leaves[number]
    }

    /// The handles of all leaves, whether the statement names them or not.
    pub fn leaves(&self) -> &[Arc<Table>] {
        &self.set.leaves
    }

    /// What divides the table; `None` where other tables are united.
    pub(crate) fn dividers(&self) -> Option<&Dividers> {
        match &self.set.rule {
            LeafRule::Divided(dividers) => Some(dividers),
            LeafRule::United(_) => None,
        }
    }

    /// What is known of the tables that are united, where the leaves are such.
    #[inline]
    pub(crate) fn united(&self) -> Option<&United> {
        match &self.set.rule {
            LeafRule::Divided(_) => None,
            LeafRule::United(united) => Some(united),
        }
    }

    /// Whether a statement may read and write a leaf.
    #[inline]
    pub fn is_selected(&self, leaf: usize) -> bool {
        self.selected.as_ref().is_none_or(|selected| selected[leaf])
    }

    /// The handle for all partitions, where this one is for some.
    pub(crate) fn base(&self) -> Option<&Arc<Table>> {
        self.base.as_ref()
    }

    /// The leaf of a row; error 1526 where there is none, 1748 where the statement does not name
    /// it.
    pub fn route<'v>(
        &self,
        cell: impl Fn(usize) -> Result<Cell<'v>, crate::error::Damaged>,
    ) -> Result<usize, SqlError> {
        let leaf = self.leaf_of(cell)?;
        match self.is_selected(leaf) {
            true => Ok(leaf),
            false => Err(SqlError::new(ErrorCode::RowDoesNotMatchGivenPartitionSet, &[])),
        }
    }

    /// The leaf of a row, whether the statement names it or not.
    pub fn leaf_of<'v>(
        &self,
        cell: impl Fn(usize) -> Result<Cell<'v>, crate::error::Damaged>,
    ) -> Result<usize, SqlError> {
        let Some(dividers) = self.dividers() else { return Err(crate::error::Damaged.into()) };
        let partition = match dividers.by.place(&cell)? {
            Place::Part(part) => part,
            Place::Nowhere(value) => {
                return Err(SqlError::new(ErrorCode::NoPartitionForGivenValue, &[&value]));
            }
        };
        let Some(sub) = &dividers.sub else { return Ok(partition) };
        match sub.place(&cell)? {
            Place::Part(part) => Ok(partition * dividers.per + part),
            Place::Nowhere(_) => Err(crate::error::Damaged.into()),
        }
    }
}

impl Table {
    /// A handle that reads and writes only these partitions and subpartitions; errors 1747 and
    /// 1735.
    pub fn selecting(self: &Arc<Table>, names: &[String]) -> Result<Arc<Table>, SqlError> {
        if names.is_empty() {
            return Ok(self.clone());
        }
        let (Some(by), Some(partitions)) = (&self.def.partitioning, &self.partitions) else {
            return Err(SqlError::new(ErrorCode::PartitionClauseOnNonpartitioned, &[]));
        };
        let mut selected = vec![false; partitions.leaves().len()];
        for name in names {
            let Some(leaves) = by.find(name) else {
                let args: [&dyn std::fmt::Display; 2] = [name, &self.def.name];
                return Err(SqlError::new(ErrorCode::UnknownPartition, &args));
            };
            selected[leaves].fill(true);
        }
        let some = Partitions {
            set: partitions.set.clone(),
            selected: Some(selected.into()),
            base: Some(partitions.base.clone().unwrap_or_else(|| self.clone())),
        };
        Ok(Arc::new(self.with_partitions(some)))
    }

    /// The handles whose trees have rows: those of the leaves, or this one.
    pub fn stored(&self) -> Vec<&Table> {
        match &self.partitions {
            Some(partitions) => partitions.leaves().iter().map(|leaf| &**leaf).collect(),
            None => vec![self],
        }
    }

    /// Estimates the number of rows by a look into the trees.
    pub fn estimated_rows(&self) -> Result<u64, inia_storage::StorageError> {
        let rows = |stored: &Table| stored.store.estimate_rows(&stored.clustered);
        self.stored().into_iter().map(rows).try_fold(0, |all: u64, rows| Ok(all + rows?))
    }

    /// What a row's key in its tree is followed by where rows are found by their keys: the number
    /// of the row's leaf. Splits such a key.
    pub(crate) fn located<'t, 'k>(&'t self, key: &'k [u8]) -> (&'t Table, &'k [u8]) {
        let Some(partitions) = &self.partitions else { return (self, key) };
        let Some((key, leaf)) = key.split_last_chunk::<LEAF_BYTES>() else { return (self, key) };
        (partitions.leaf(u32::from_be_bytes(*leaf) as usize), key)
    }
}

/// Bytes of a leaf's number behind a row's key.
pub(crate) const LEAF_BYTES: usize = 4;

impl Divider {
    fn new(
        def: &Arc<TableDef>,
        division: &Division,
        by: &Partitioning,
        parts: usize,
        origin: &Origin<'_>,
    ) -> Divider {
        let columns: Vec<usize> =
            division.columns.iter().filter_map(|name| def.column(name)).collect();
        let index = def.indexes.len();
        let mut own = TableDef { partitioning: None, ..TableDef::clone(def) };
        let part = |column: &usize| IndexPart { column: *column, prefix: None, descending: false };
        own.indexes.push(IndexDef {
            name: String::new(),
            kind: IndexKind::Plain,
            parts: columns.iter().map(part).collect(),
            comment: String::new(),
            visible: true,
            using: None,
            for_foreign_key: false,
            ngrams: false,
            element: None,
            clustered: false,
            tree: TreeId(0),
        });
        let Origin { store, mdl, shared } = origin;
        let finder = Table::new(Arc::new(own), store, (*mdl).clone(), (*shared).clone());
        let env = Environment {
            time_zone: TimeZone::utc(),
            sql_mode: inia_parser::SqlMode::empty(),
            ..Environment::default()
        };
        let function = bound_function(def, division, &env);
        let finder = Arc::new(finder);
        let rule = Rule::List(BTreeMap::new(), None);
        let mut divider = Divider { columns, rule, finder, index, function, parts, env };
        divider.rule = divider.rule_of(def, division, by);
        divider
    }

    fn rule_of(&self, def: &TableDef, division: &Division, by: &Partitioning) -> Rule {
        let bounds = by.partitions.iter().map(|partition| &partition.values);
        match division.method {
            DivisionMethod::Hash { linear } => Rule::Hash { linear },
            DivisionMethod::Key { linear, old } => Rule::Key { linear, old },
            DivisionMethod::Range => Rule::Range(bounds.map(upper_number).collect()),
            DivisionMethod::RangeColumns => {
                Rule::RangeColumns(bounds.map(|bound| self.upper_key(def, bound)).collect())
            }
            DivisionMethod::List => {
                let (mut values, mut null) = (BTreeMap::new(), None);
                for (part, value) in listed(bounds) {
                    match value.first().and_then(number) {
                        Some(number) => drop(values.insert(number, part)),
                        None => null = Some(part),
                    }
                }
                Rule::List(values, null)
            }
            DivisionMethod::ListColumns => {
                let key = |(part, row): (usize, &Vec<Value>)| {
                    (self.key_of(def, row.iter().map(Some)), part)
                };
                Rule::ListColumns(listed(bounds).map(key).collect())
            }
        }
    }

    /// The key of values of the first columns, up to the first that is none.
    fn key_of<'v>(
        &self,
        def: &TableDef,
        values: impl Iterator<Item = Option<&'v Value>>,
    ) -> Vec<u8> {
        let codec = &self.finder.indexes[self.index].codec;
        let (utc, mut key) = (TimeZone::utc(), Vec::new());
        for (part, value) in values.enumerate() {
            let Some(value) = value else { break };
            let cell = Cell::of(value, &def.columns[self.columns[part]].data_type, &utc);
            // A limit that no key can have was refused when it was defined.
            let _ = codec.put_part(part, &cell, &mut key);
        }
        key
    }

    /// The least key that is not below a partition's limit; `None` where all are below it.
    fn upper_key(&self, def: &TableDef, bounds: &PartitionBounds) -> Option<Vec<u8>> {
        let PartitionBounds::LessThan(limits) = bounds else { return None };
        let mut key = self.key_of(def, limits.iter().map(Option::as_ref));
        match limits.iter().all(Option::is_some) {
            true => Some(key),
            false => prefix_successor(&mut key).then_some(key),
        }
    }
}

/// The values of VALUES IN with the partition of each.
fn listed<'b>(
    bounds: impl Iterator<Item = &'b PartitionBounds>,
) -> impl Iterator<Item = (usize, &'b Vec<Value>)> {
    bounds.enumerate().flat_map(|(part, bounds)| {
        let rows = match bounds {
            PartitionBounds::In(rows) => rows.as_slice(),
            _ => &[],
        };
        rows.iter().map(move |row| (part, row))
    })
}

/// A number as limits and values of functions are.
pub fn number(value: &Value) -> Option<i128> {
    match value {
        Value::Int(number) => Some(i128::from(*number)),
        Value::UInt(number) => Some(i128::from(*number)),
        Value::Decimal(number) => {
            let mut text = Vec::new();
            number.truncate(0).write_text(&mut text);
            std::str::from_utf8(&text).ok()?.parse().ok()
        }
        _ => None,
    }
}

fn upper_number(bounds: &PartitionBounds) -> Option<i128> {
    match bounds {
        PartitionBounds::LessThan(limits) => limits.first()?.as_ref().and_then(number),
        _ => None,
    }
}

/// The function of a division; `None` where columns divide, or it cannot be bound.
fn bound_function(def: &TableDef, division: &Division, env: &Environment) -> Option<Expr> {
    if division.method.has_columns() {
        return None;
    }
    let mode = inia_parser::SqlMode::empty();
    let parsed = inia_parser::parse_expr(&division.expression, mode).ok()?;
    inia_expr::bind(&parsed, &mut OwnColumns(def), env, &NoSession).ok()
}
