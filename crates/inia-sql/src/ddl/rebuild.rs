//! Bringing a table's trees to a new definition.
//!
//! [`RebuildPlan::new`] chooses one of three methods: no change (names, defaults, comments), new
//! index trees that are filled from the present rows, or new trees for everything, with every row
//! converted.

mod added;
mod destination;
mod filler;
mod new_trees;
mod rows;

use super::alter::count_rows;
use super::table::{create_trees, drop_trees};
use destination::Destination;
pub(super) use destination::NewTable;
use inia_base::datatype::DataType;
use inia_base::error::SqlError;
use inia_base::ids::TreeId;
use inia_base::temporal::TimeZone;
use inia_query::catalog::{Table, TableDef};
use inia_query::context::SessionContext;
use inia_query::error::StorageResult;
use inia_query::interrupt::Interrupt;
use inia_storage::{Direction, KeyBound, ReadMode};
use std::collections::HashSet;
use std::sync::Arc;

/// How a table's trees reach the new definition.
pub(super) struct RebuildPlan {
    copy: bool,
    /// MySQL copies the table: a NULL that a column takes no longer is error 1265, not 1138.
    by_copy: bool,
    column_origins: Vec<Option<usize>>,
    /// For each new index the old tree's position, where that tree stays.
    kept: Vec<Option<usize>>,
    /// The old columns in whose order rows are copied, and whether each descends.
    order: Vec<(usize, bool)>,
}

impl RebuildPlan {
    /// Compares two definitions.
    pub(super) fn new(
        old: &TableDef,
        new: &TableDef,
        column_origins: &[Option<usize>],
        index_origins: &[Option<usize>],
        copy: bool,
    ) -> RebuildPlan {
        debug_assert_eq!(column_origins.len(), new.columns.len(), "each column has its origin");
        debug_assert_eq!(index_origins.len(), new.indexes.len(), "each index has its origin");
        let mut columns = column_origins.iter().flatten();
        debug_assert!(
            columns.all(|origin| *origin < old.columns.len()),
            "a column of the old table"
        );
        let mut indexes = index_origins.iter().flatten();
        debug_assert!(
            indexes.all(|origin| *origin < old.indexes.len()),
            "an index of the old table"
        );
        let same_columns = old.columns.len() == new.columns.len()
            && column_origins.iter().enumerate().all(|(i, origin)| *origin == Some(i));
        let converts = |(i, origin): (usize, &Option<usize>)| {
            origin.is_some_and(|o| {
                let (a, b) = (&old.columns[o], &new.columns[i]);
                !same_storage(&a.data_type, &b.data_type) || a.generated != b.generated
            })
        };
        let convert = column_origins.iter().enumerate().any(converts);
        let nullability = same_columns
            && old.columns.iter().zip(&new.columns).any(|(a, b)| a.nullable != b.nullable);
        let parts = |def: &TableDef| def.clustered_index().map(|index| index.parts.clone());
        let clustered = same_columns && parts(old) != parts(new);
        let engine = old.engine != new.engine;
        let divided = match (&old.partitioning, &new.partitioning) {
            (None, None) => false,
            (Some(a), Some(b)) => !super::partition::same_rule(a, b),
            _ => true,
        };
        // The indexes of partitions come and go with their rows.
        let relisted = new.partitioning.is_some()
            && (old.indexes.len() != new.indexes.len()
                || index_origins.iter().enumerate().any(|(at, origin)| {
                    origin.is_none_or(|o| old.indexes[o].parts != new.indexes[at].parts)
                        || origin.is_some_and(|o| old.indexes[o].kind != new.indexes[at].kind)
                }));
        let copy = copy
            || old.is_merged()
            || new.is_merged()
            || divided
            || relisted
            || !same_columns
            || convert
            || nullability
            || clustered
            || engine;
        let kept = new
            .indexes
            .iter()
            .zip(index_origins)
            .map(|(index, origin)| {
                origin
                    .filter(|o| !copy && old.indexes[*o].parts == index.parts)
                    .filter(|o| old.indexes[*o].kind == index.kind)
                    .filter(|o| old.indexes[*o].ngrams == index.ngrams)
                    .filter(|o| old.indexes[*o].element == index.element)
            })
            .collect();
        let column_origins = column_origins.to_vec();
        RebuildPlan { copy, by_copy: false, column_origins, kept, order: Vec::new() }
    }

    /// Says whether MySQL would copy the table, which decides over the error of a NULL.
    pub(super) fn by_copy(self, by_copy: bool) -> RebuildPlan {
        RebuildPlan { by_copy, ..self }
    }

    /// Has all rows copied in the order of these old columns, each descending or not, if there are
    /// some.
    pub(super) fn sorted_by(self, order: Vec<(usize, bool)>) -> RebuildPlan {
        RebuildPlan { copy: self.copy || !order.is_empty(), order, ..self }
    }

    /// Whether all rows are written anew.
    pub(super) fn copies(&self) -> bool {
        self.copy
    }
}

/// Whether stored values of one type are good values of the other, byte for byte, keys included.
fn same_storage(old: &DataType, new: &DataType) -> bool {
    match (old, new) {
        (
            DataType::VarChar { chars: a, collation: x },
            DataType::VarChar { chars: b, collation: y },
        ) => a <= b && x == y,
        (DataType::VarBinary(a), DataType::VarBinary(b)) => a <= b,
        (DataType::Text { size: a, collation: x }, DataType::Text { size: b, collation: y }) => {
            a <= b && x == y
        }
        (DataType::Blob(a), DataType::Blob(b)) => a <= b,
        // Numbers keep the digits that they were stored with.
        (DataType::Float { unsigned: a, .. }, DataType::Float { unsigned: b, .. })
        | (DataType::Double { unsigned: a, .. }, DataType::Double { unsigned: b, .. }) => a == b,
        (
            DataType::Enum { members: a, collation: x },
            DataType::Enum { members: b, collation: y },
        ) => x == y && b.starts_with(a),
        _ => old == new,
    }
}

/// Carries out the plan; returns the number of rows that were copied.
pub(super) fn run(
    session: &mut SessionContext,
    table: &Table,
    new: &mut TableDef,
    plan: &RebuildPlan,
) -> Result<u64, SqlError> {
    if plan.copy {
        create_trees(session, new)?;
        let rows = match () {
            () if new.discards_rows() => count_rows(table)?,
            () if new.is_merged() => 0,
            () => rows::copy(session, table, new, plan)?,
        };
        drop_trees(session, table)?;
        return Ok(rows);
    }
    let permuted = |trees: &[TreeId]| -> Vec<TreeId> {
        let tree = |at: usize| {
            let mut def = TableDef { partitioning: None, ..TableDef::clone(&table.def) };
            def.take_trees(trees);
            def.indexes[at].tree
        };
        let own = plan.kept.iter().enumerate().filter(|(at, _)| !new.indexes[*at].clustered);
        trees[..1].iter().copied().chain(own.filter_map(|(_, kept)| kept.map(tree))).collect()
    };
    if let (Some(by), Some(old)) = (&new.partitioning, &table.def.partitioning) {
        let mut by = by.clone();
        for (leaf, old) in by.leaves_mut().zip(old.leaves()) {
            leaf.trees = permuted(&old.trees);
        }
        new.partitioning = Some(by);
    }
    new.clustered = table.def.clustered;
    for (at, kept) in plan.kept.iter().enumerate() {
        new.indexes[at].tree = match (kept, new.indexes[at].clustered) {
            (_, true) => new.clustered,
            (Some(origin), _) => table.def.indexes[*origin].tree,
            (None, _) => session.tree_txn(new).borrow_mut().create_tree().sql_for(&new.name)?.id(),
        };
    }
    added::add_indexes(session, table, new, plan)?;
    for (at, index) in table.indexes.iter().enumerate() {
        if !table.def.indexes[at].clustered && !plan.kept.contains(&Some(at)) {
            session.tree_txn(&table.def).borrow_mut().drop_tree(&index.tree).sql()?;
        }
    }
    Ok(0)
}

/// Writes the rows of partitions into new ones of the same table.
pub(super) fn redistribute(
    session: &SessionContext,
    from: &[&Arc<Table>],
    target: &NewTable,
    new: &TableDef,
    fresh: &HashSet<usize>,
) -> Result<(), SqlError> {
    let (disk, killed) = (session.db.scratch.clone(), session.killed.clone());
    let interrupt = Interrupt::new(&killed, None);
    let zone = TimeZone::utc();
    let into = |leaf: usize| fresh.contains(&leaf);
    let mut trees = Destination::new(session, target, &zone, (&*disk, interrupt), into);
    let (mut txn, mut row) = (session.tree_txn(new).borrow_mut(), Vec::new());
    for leaf in from {
        let (tree, low, high) = (&leaf.clustered, KeyBound::Unbounded, KeyBound::Unbounded);
        let mut cursor = txn.cursor(tree, low, high, Direction::Forward, ReadMode::Snapshot);
        while let Some(record) = cursor.next(&mut txn).sql()? {
            interrupt.check()?;
            leaf.layout.decode(record.value, &zone, &mut row)?;
            trees.push(&row, None)?;
        }
    }
    trees.finish(&mut txn, interrupt)
}
