//! How many rows a table without transactions has, kept exactly: COUNT(*) need not count them.
//!
//! The number is a record of the catalog tree of the engine that the rows are in, under the
//! number of the tree that holds them. The transaction that changes rows changes it, too, so
//! a crash leaves both or neither, and a snapshot shows the number of the rows that it shows.
//!
//! Invariant: where there is a record, it is right. Without one rows are counted.

use inia_base::ids::TreeId;
use inia_storage::{
    Direction, Engine, Isolation, KeyBound, LockMode, LockRequest, ReadMode, StorageError, Tree,
    Txn, WaitPolicy,
};
use std::sync::Arc;

/// First byte of the records' keys.
pub(super) const ROW_COUNT: u8 = b'n';

type Result<T> = std::result::Result<T, StorageError>;

fn key(tree: TreeId) -> [u8; 5] {
    let [a, b, c, d] = tree.0.to_be_bytes();
    [ROW_COUNT, a, b, c, d]
}

fn number(value: &[u8]) -> Option<u64> {
    value.try_into().ok().map(u64::from_be_bytes)
}

/// The number that the transaction sees.
pub fn read(engine: &Engine, txn: &mut Txn, tree: TreeId) -> Result<Option<u64>> {
    Ok(txn.get(&engine.catalog_tree(), &key(tree), number)?.flatten())
}

/// The number as it is now.
pub(crate) fn newest(engine: &Arc<Engine>, tree: TreeId) -> Option<u64> {
    let mut txn = engine.attach();
    txn.begin(Isolation::ReadUncommitted);
    let rows = read(engine, &mut txn, tree);
    txn.commit().and(rows).ok().flatten()
}

/// Notes the number of a tree's rows.
pub fn set(engine: &Engine, txn: &mut Txn, tree: TreeId, rows: u64) -> Result<()> {
    let (records, key, value) = (engine.catalog_tree(), key(tree), rows.to_be_bytes());
    match txn.update(&records, &key, &value)? {
        true => Ok(()),
        false => txn.insert(&records, &key, &value),
    }
}

/// So many rows came, or went. The caller keeps others from changing the table.
pub(crate) fn add(engine: &Engine, txn: &mut Txn, tree: TreeId, rows: i64) -> Result<()> {
    let exclusive = LockRequest { mode: LockMode::Exclusive, wait: WaitPolicy::Wait };
    let found = txn.lock_get(&engine.catalog_tree(), &key(tree), exclusive, number)?;
    match found.flatten() {
        Some(before) => set(engine, txn, tree, before.saturating_add_signed(rows)),
        None => Ok(()),
    }
}

/// Takes the number of a tree away that is dropped.
pub(crate) fn forget(engine: &Engine, txn: &mut Txn, tree: TreeId) -> Result<()> {
    txn.delete(&engine.catalog_tree(), &key(tree)).map(drop)
}

/// Counts a tree's rows and notes how many there are.
pub fn count(engine: &Engine, txn: &mut Txn, tree: &Tree) -> Result<()> {
    let (low, high) = (KeyBound::Unbounded, KeyBound::Unbounded);
    let mut cursor = txn.cursor(tree, low, high, Direction::Forward, ReadMode::Snapshot);
    let mut rows = 0;
    while cursor.next(txn)?.is_some() {
        rows += 1;
    }
    drop(cursor);
    set(engine, txn, tree.id(), rows)
}
