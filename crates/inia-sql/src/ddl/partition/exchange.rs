//! EXCHANGE PARTITION: a partition and a table change trees, whatever is in them.

use super::super::{DdlResult, FullName, existing, full_name, in_transaction};
use super::alter::forget_counts;
use super::error;
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast;
use inia_query::catalog::{Change, Table, TableDef};
use inia_query::context::{SessionContext, StatementOutcome};
use inia_query::dml::auto_increment;
use inia_query::error::StorageResult;
use inia_storage::{Direction, Isolation, KeyBound, ReadMode};
use std::sync::Arc;

/// Carries it out, on tables whose definitions are locked.
pub(super) fn run(
    session: &mut SessionContext,
    (name, table): (&FullName, &Arc<Table>),
    partition: &str,
    other: &ast::ObjectName,
    validation: bool,
) -> DdlResult {
    let other_name = full_name(session, other)?;
    let other = existing(session, &other_name)?;
    let leaf = checked(session, (name, table), &other, partition)?;
    if validation {
        check_rows(table, &other, leaf)?;
    }
    let mut def = TableDef::clone(&table.def);
    let mut single = TableDef::clone(&other.def);
    let next = auto_increment::current(&other)?;
    let Some(by) = &mut def.partitioning else { return Ok(StatementOutcome::default()) };
    let Some(own) = by.leaves_mut().nth(leaf) else { return Ok(StatementOutcome::default()) };
    let trees = std::mem::replace(&mut own.trees, single.trees());
    single.take_trees(&trees);
    single.auto_increment = next;
    if next > auto_increment::current(table)? {
        def.auto_increment = next;
    }
    let raised = def.auto_increment;
    in_transaction(session, |_, changes| {
        changes.push(Change::PutTable(def));
        changes.push(Change::PutTable(single));
        Ok(())
    })?;
    if raised == next && next > 0 {
        table.clustered.counter().raise(next);
    }
    forget_counts(table);
    forget_counts(&other);
    Ok(StatementOutcome::default())
}

/// The leaf that is meant; errors 1732, 1733, 1740, 1731, 1735, 1734 and 1736.
fn checked(
    session: &SessionContext,
    (name, table): (&FullName, &Table),
    other: &Table,
    partition: &str,
) -> Result<usize, SqlError> {
    let Some(by) = &table.def.partitioning else {
        return error(ErrorCode::PartitionMgmtOnNonpartitioned, &[]);
    };
    if other.def.partitioning.is_some() {
        return error(ErrorCode::PartitionExchangePartTable, &[&other.def.name]);
    }
    if other.def.temporary {
        return error(ErrorCode::PartitionExchangeTempTable, &[&other.def.name]);
    }
    let catalog = session.db.catalog().current();
    let full = (other.def.schema.clone(), other.def.name.clone());
    if !other.def.foreign_keys.is_empty() || catalog.references.contains_key(&full) {
        return error(ErrorCode::PartitionExchangeForeignKey, &[&other.def.name]);
    }
    if other.def.engine != table.def.engine {
        return error(ErrorCode::MixHandlerError, &[]);
    }
    let Some(leaves) = by.find(partition) else {
        return error(ErrorCode::UnknownPartition, &[&partition, &name.1]);
    };
    let is_partition =
        by.partitions.iter().any(|p| inia_query::catalog::same_name(&p.name, partition));
    if by.sub.is_some() && is_partition {
        return error(ErrorCode::PartitionInsteadOfSubpartition, &[]);
    }
    if !same_tables(&table.def, &other.def) {
        return error(ErrorCode::TablesDifferentMetadata, &[]);
    }
    Ok(leaves.start)
}

fn same_tables(a: &TableDef, b: &TableDef) -> bool {
    let columns = a.columns.len() == b.columns.len()
        && a.columns.iter().zip(&b.columns).all(|(a, b)| {
            a.name.eq_ignore_ascii_case(&b.name)
                && a.data_type == b.data_type
                && a.nullable == b.nullable
                && a.auto_increment == b.auto_increment
                && a.generated == b.generated
        });
    let indexes = a.indexes.len() == b.indexes.len()
        && a.indexes.iter().zip(&b.indexes).all(|(a, b)| {
            a.name.eq_ignore_ascii_case(&b.name)
                && (a.kind, a.clustered) == (b.kind, b.clustered)
                && a.parts == b.parts
        });
    columns && indexes
}

/// Error 1737 where a row of the table belongs elsewhere.
fn check_rows(table: &Table, other: &Table, leaf: usize) -> Result<(), SqlError> {
    let Some(partitions) = &table.partitions else { return Ok(()) };
    let mut txn = other.store.attach();
    txn.begin(Isolation::RepeatableRead);
    let (low, high) = (KeyBound::Unbounded, KeyBound::Unbounded);
    let tree = &other.clustered;
    let mut cursor = txn.cursor(tree, low, high, Direction::Forward, ReadMode::Snapshot);
    let mut result = Ok(());
    while let Some(record) = cursor.next(&mut txn).sql()? {
        let at = partitions.leaf_of(|column| other.layout.cell(record.value, column));
        if at != Ok(leaf) {
            result = error(ErrorCode::RowDoesNotMatchPartition, &[]);
            break;
        }
    }
    drop(cursor);
    txn.commit().sql()?;
    result
}
