//! What ALTER TABLE does with single partitions.
//!
//! A partition that stays keeps its trees. Those that go are dropped at the commit, whatever their
//! size; those that come get new trees, into which the rows of those that go are written where the
//! action keeps rows.

use super::super::rebuild::{self, NewTable};
use super::super::table_builder::TableBuilder;
use super::super::{DdlResult, FullName, in_transaction, unix_seconds};
use super::{MAX_PARTITIONS, check_names, counted, error, exchange, specs, values, word};
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{self, PartitionAction, PartitionNames};
use inia_query::catalog::{
    Change, LeafDef, PartitionBounds, PartitionDef, Partitioning, Table, TableDef, same_name,
};
use inia_query::context::{SessionContext, StatementOutcome};
use inia_query::error::StorageResult;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Carries an action out, on a table whose definition is locked.
pub(in super::super) fn run(
    session: &mut SessionContext,
    name: &FullName,
    table: &Arc<Table>,
    action: &PartitionAction,
) -> DdlResult {
    let Some(by) = &table.def.partitioning else {
        return error(ErrorCode::PartitionMgmtOnNonpartitioned, &[]);
    };
    if let PartitionAction::Exchange { partition, table: other, validation } = action {
        return exchange::run(session, (name, table), partition, other, *validation);
    }
    let mut new = Partitioning::clone(by);
    let mut keeps_rows = true;
    match action {
        PartitionAction::Add(list) => add(session, table, &mut new, list)?,
        PartitionAction::AddCount(count) => add_counted(&mut new, *count)?,
        PartitionAction::Drop(names) => {
            drop_named(&mut new, names)?;
            keeps_rows = false;
        }
        PartitionAction::Coalesce(count) => coalesce(&mut new, *count)?,
        PartitionAction::Reorganize { names, into } => {
            reorganize(session, table, &mut new, names, into)?;
        }
        PartitionAction::Truncate(names) => {
            let leaves = named(by, names).map_err(|name| {
                SqlError::new(ErrorCode::UnknownPartition, &[&name, &table.def.name])
            })?;
            leaves.into_iter().for_each(|leaf| at(&mut new, leaf).trees.clear());
            keeps_rows = false;
        }
        PartitionAction::Rebuild(names) | PartitionAction::Optimize(names) => {
            let leaves = named(by, names)
                .map_err(|_| SqlError::new(ErrorCode::DropPartitionNonExistent, &[&"REBUILD"]))?;
            leaves.into_iter().for_each(|leaf| at(&mut new, leaf).trees.clear());
        }
        PartitionAction::Tablespace => {
            let table = TableBuilder::from_table(&table.def);
            return Err(super::super::rules::no_own_tablespace(&table, false));
        }
        _ => return Ok(StatementOutcome::default()),
    }
    if new.leaves().count() > MAX_PARTITIONS {
        return error(ErrorCode::TooManyPartitionsError, &[]);
    }
    check_names(&new)?;
    let truncates = matches!(action, PartitionAction::Truncate(_));
    let created = if truncates { table.def.created } else { unix_seconds() };
    let partitioning = Some(Box::new(new));
    let def = TableDef { partitioning, created, ..TableDef::clone(&table.def) };
    replace(session, table, def, keeps_rows)?;
    if truncates {
        return Ok(StatementOutcome::default());
    }
    // MySQL counts no rows here, whatever it copies.
    let info = format!("Records: 0  Duplicates: 0  Warnings: {}", session.warning_count());
    Ok(StatementOutcome { info, ..StatementOutcome::default() })
}

/// Gives leaves without trees new ones, and drops the trees that no leaf has any more; their rows
/// go to the new leaves where they are kept.
fn replace(
    session: &mut SessionContext,
    table: &Arc<Table>,
    mut def: TableDef,
    keeps_rows: bool,
) -> Result<(), SqlError> {
    let own = table.def.trees().len();
    in_transaction(session, |session, changes| {
        let mut fresh = HashSet::new();
        let mut kept = HashSet::new();
        {
            let mut txn = session.tree_txn(&table.def).borrow_mut();
            let leaves = def.partitioning.iter_mut().flat_map(|by| by.leaves_mut());
            for (number, leaf) in leaves.enumerate() {
                if !leaf.trees.is_empty() {
                    kept.extend(leaf.trees.iter().map(|tree| u64::from(tree.0)));
                    continue;
                }
                for _ in 0..own {
                    leaf.trees.push(txn.create_tree().sql_for(&table.def.name)?.id());
                }
                fresh.insert(number);
            }
        }
        let partitions = table.partitions.iter().flat_map(|partitions| partitions.leaves());
        let gone: Vec<&Arc<Table>> =
            partitions.filter(|leaf| !kept.contains(&u64::from(leaf.def.clustered.0))).collect();
        if keeps_rows && !fresh.is_empty() {
            let new = NewTable::of(session, &def);
            rebuild::redistribute(session, &gone, &new, &def, &fresh)?;
        }
        let mut txn = session.tree_txn(&table.def).borrow_mut();
        for tree in gone.iter().flat_map(|leaf| leaf.def.trees()) {
            txn.drop_tree(&table.store.tree(tree)).sql()?;
        }
        drop(txn);
        changes.push(Change::PutTable(def));
        Ok(())
    })?;
    forget_counts(table);
    Ok(())
}

/// Has the numbers of rows and hidden row ids computed again at their next use.
pub(super) fn forget_counts(table: &Table) {
    table.shared.forget_row_ids();
    table.shared.estimate_known.store(false, Ordering::Relaxed);
}

fn at(by: &mut Partitioning, leaf: usize) -> &mut LeafDef {
    let per = by.per_partition();
    &mut by.partitions[leaf / per].leaves[leaf % per]
}

/// The leaves that an action names; the first name that there is not.
pub(crate) fn named(by: &Partitioning, names: &PartitionNames) -> Result<Vec<usize>, String> {
    let PartitionNames::Named(names) = names else { return Ok((0..by.leaves().count()).collect()) };
    let mut out: Vec<usize> = Vec::new();
    for name in names {
        out.extend(by.find(name).ok_or_else(|| name.clone())?);
    }
    out.sort_unstable();
    out.dedup();
    Ok(out)
}

/// All rows of a table that is divided by a hash find new places.
fn forget_trees(by: &mut Partitioning) {
    by.leaves_mut().for_each(|leaf| leaf.trees.clear());
}

/// ADD PARTITION (…).
fn add(
    session: &mut SessionContext,
    table: &Table,
    new: &mut Partitioning,
    list: &[ast::PartitionSpec],
) -> Result<(), SqlError> {
    let last = new.partitions.last().map(|partition| &partition.values);
    let open = matches!(last, Some(PartitionBounds::LessThan(limits)) if limits == &[None]);
    if open && !new.by.method.has_columns() {
        return error(ErrorCode::PartitionMaxvalueError, &[]);
    }
    let builder = TableBuilder::from_table(&table.def);
    let per = new.per_partition();
    if list.iter().any(|s| !s.subpartitions.is_empty() && s.subpartitions.len() != per) {
        return error(ErrorCode::AddPartitionSubpartError, &[]);
    }
    let added = specs(session, &builder, new, list, per)?;
    new.counted = false;
    new.sub_counted &= list.iter().all(|spec| spec.subpartitions.is_empty());
    new.partitions.extend(added);
    check_names(new)?;
    values::check_bounds(new, &builder)?;
    if new.by.method.is_hash() {
        forget_trees(new);
    }
    Ok(())
}

/// ADD PARTITION PARTITIONS n.
fn add_counted(new: &mut Partitioning, count: u64) -> Result<(), SqlError> {
    if !new.by.method.is_hash() {
        return error(ErrorCode::PartitionsMustBeDefinedError, &[&word(new.by.method)]);
    }
    if count == 0 {
        return error(ErrorCode::AddPartitionNoNewPartition, &[]);
    }
    let before = new.partitions.len();
    let count = usize::try_from(count).unwrap_or(MAX_PARTITIONS + 1).min(MAX_PARTITIONS + 1);
    if before + count > MAX_PARTITIONS {
        return error(ErrorCode::TooManyPartitionsError, &[]);
    }
    new.partitions.extend((before..before + count).map(|at| counted(at, 1)));
    new.says_count = true;
    forget_trees(new);
    Ok(())
}

/// DROP PARTITION.
fn drop_named(new: &mut Partitioning, names: &[String]) -> Result<(), SqlError> {
    if new.by.method.is_hash() {
        return error(ErrorCode::OnlyOnRangeListPartition, &[&"DROP"]);
    }
    if names.len() >= new.partitions.len() {
        return error(ErrorCode::DropLastPartition, &[]);
    }
    for name in names {
        if !new.partitions.iter().any(|partition| same_name(&partition.name, name)) {
            return error(ErrorCode::DropPartitionNonExistent, &[&"DROP"]);
        }
    }
    let dropped = |partition: &PartitionDef| names.iter().any(|n| same_name(n, &partition.name));
    new.partitions.retain(|partition| !dropped(partition));
    Ok(())
}

/// COALESCE PARTITION.
fn coalesce(new: &mut Partitioning, count: u64) -> Result<(), SqlError> {
    if !new.by.method.is_hash() {
        return error(ErrorCode::CoalesceOnlyOnHashPartition, &[]);
    }
    if count == 0 {
        return error(ErrorCode::CoalescePartitionNoPartition, &[]);
    }
    let Some(left) = (new.partitions.len() as u64).checked_sub(count).filter(|left| *left > 0)
    else {
        return error(ErrorCode::DropLastPartition, &[]);
    };
    new.partitions.truncate(left as usize);
    new.says_count = true;
    forget_trees(new);
    Ok(())
}

/// REORGANIZE PARTITION.
fn reorganize(
    session: &mut SessionContext,
    table: &Table,
    new: &mut Partitioning,
    names: &[String],
    into: &[ast::PartitionSpec],
) -> Result<(), SqlError> {
    if names.is_empty() {
        return match new.by.method.is_hash() && new.counted {
            true => Ok(()),
            false => error(ErrorCode::ReorgNoParamError, &[]),
        };
    }
    if names.len() > new.partitions.len() {
        return error(ErrorCode::ReorgPartitionNotExist, &[]);
    }
    let mut gone = Vec::new();
    for name in names {
        let found = new.partitions.iter().position(|p| same_name(&p.name, name));
        let Some(found) = found else {
            return error(ErrorCode::DropPartitionNonExistent, &[&"REORGANIZE"]);
        };
        if gone.contains(&found) {
            return error(ErrorCode::DropPartitionNonExistent, &[&"REORGANIZE"]);
        }
        gone.push(found);
    }
    if new.by.method.is_hash() && names.len() != into.len() {
        return error(ErrorCode::ReorgHashOnlyOnSameNo, &[]);
    }
    let in_order = gone.windows(2).all(|pair| pair[1] == pair[0] + 1);
    if new.by.method.is_range() && !in_order {
        return error(ErrorCode::ConsecutiveReorgPartitions, &[]);
    }
    let builder = TableBuilder::from_table(&table.def);
    let per = new.per_partition();
    // MAXVALUE may stand in the last of all partitions.
    let reaches_end = gone.contains(&(new.partitions.len() - 1));
    let added = specs(session, &builder, new, into, per)?;
    let ends = |partition: Option<&PartitionDef>| partition.map(|p| p.values.clone());
    let (old_end, new_end) = (ends(gone.last().map(|at| &new.partitions[*at])), ends(added.last()));
    if new.by.method.is_range() && !reaches_end && old_end != new_end {
        return error(ErrorCode::ReorgOutsideRange, &[]);
    }
    let place = gone.iter().copied().min().unwrap_or(0);
    let mut kept: Vec<PartitionDef> = Vec::new();
    for (number, partition) in new.partitions.drain(..).enumerate() {
        if number == place {
            kept.extend(added.iter().cloned());
        }
        if !gone.contains(&number) {
            kept.push(partition);
        }
    }
    new.partitions = kept;
    new.counted = false;
    check_names(new)?;
    values::check_bounds(new, &builder)?;
    if new.by.method.is_range() && reaches_end && shrinks(old_end.as_ref(), new_end.as_ref()) {
        return error(ErrorCode::ReorgOutsideRange, &[]);
    }
    if new.by.method.is_hash() {
        forget_trees(new);
    }
    Ok(())
}

/// Whether the last limit becomes less.
fn shrinks(old: Option<&PartitionBounds>, new: Option<&PartitionBounds>) -> bool {
    let (Some(PartitionBounds::LessThan(old)), Some(PartitionBounds::LessThan(new))) = (old, new)
    else {
        return false;
    };
    old != new && values::grows(new, old, &[])
}
