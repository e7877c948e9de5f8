//! Who waits for which record, and who holds it.
//!
//! The lock table knows keys of records by their hashes, and a changed record is locked by its
//! transaction's id alone. So the rows are those that tools ask for: of each lock that somebody
//! waits for the request and the holders, and one table lock for each transaction's tables.

use crate::account::Privileges;
use crate::catalog::Table;
use crate::information_schema::tables::visible;
use crate::information_schema::{Information, Rows, row};
use crate::row::Cell;
use inia_base::ids::TreeId;
use inia_base::value::Value;
use inia_storage::{ActiveTxn, LockMode, LockWait};
use std::fmt::Write;
use std::sync::Arc;

/// A record's place as lock tables show it.
struct Place {
    schema: String,
    table: String,
    index: String,
    data: String,
    tree: u64,
}

fn place(info: &Information<'_>, wait: &LockWait) -> Option<Place> {
    let is_tree = |tree: TreeId| tree == wait.tree;
    visible(info).find_map(|table| {
        let index = match is_tree(table.clustered.id()) {
            true => table.def.indexes.iter().position(|index| index.clustered),
            false => Some(table.indexes.iter().position(|index| is_tree(index.tree.id()))?),
        };
        let name = index.map_or("GEN_CLUST_INDEX", |at| table.def.indexes[at].name.as_str());
        Some(Place {
            schema: table.def.schema.clone(),
            table: table.def.name.clone(),
            index: name.to_owned(),
            data: lock_data(table, index, &wait.key),
            tree: wait.tree.0.into(),
        })
    })
}

/// A record's key: its columns where they can be read back, else its bytes.
fn lock_data(table: &Arc<Table>, index: Option<usize>, key: &[u8]) -> String {
    if key.is_empty() {
        return String::from("supremum pseudo-record");
    }
    let columns = index.and_then(|index| {
        let codec = &table.indexes[index].codec;
        let parts = 0..table.def.indexes[index].parts.len();
        let texts = parts.map(|part| codec.key_part(key, part).ok().as_ref().and_then(text));
        texts.collect::<Option<Vec<String>>>()
    });
    columns.map_or_else(|| hexadecimal(key), |columns| columns.join(", "))
}

fn text(cell: &Cell<'_>) -> Option<String> {
    Some(match cell {
        Cell::Null => String::from("NULL"),
        Cell::Int(number) => number.to_string(),
        Cell::UInt(number) => number.to_string(),
        Cell::Decimal(number) => number.to_string(),
        _ => return None,
    })
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::from("0x"), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02X}");
        text
    })
}

fn mode(wanted: Option<LockMode>) -> &'static str {
    match wanted {
        Some(LockMode::Shared) => "S,REC_NOT_GAP",
        Some(LockMode::Exclusive) => "X,REC_NOT_GAP",
        None => "X,GAP,INSERT_INTENTION",
    }
}

/// The transaction of a session's number.
fn of_session(all: &[ActiveTxn], session: u32) -> Option<&ActiveTxn> {
    all.iter().find(|txn| txn.session == session)
}

fn lock_id(txn: &ActiveTxn, place: &Place) -> String {
    format!("{}:{}:{}", txn.session, place.tree, place.data)
}

/// The number that shows a transaction: a reader has none of its own.
pub(in super::super) fn number(txn: &ActiveTxn) -> u64 {
    if txn.txn.0 == 0 { (1 << 47) + u64::from(txn.session) } else { txn.txn.0 }
}

/// The id of the lock that a transaction waits for.
pub(in super::super) fn lock_id_of(
    info: &Information<'_>,
    txn: &ActiveTxn,
    wait: &LockWait,
) -> Option<String> {
    place(info, wait).map(|place| lock_id(txn, &place))
}

pub(in super::super) fn data_locks(info: &Information<'_>, rows: &mut Rows) {
    if !info.access.global.has(Privileges::PROCESS) {
        return;
    }
    let all = info.db.engine.active_transactions();
    let mut push = |txn: &ActiveTxn, place: &Place, mode: &str, status: &str| {
        let new = row![
            "INNODB",
            lock_id(txn, place),
            number(txn),
            txn.label,
            0u64,
            place.schema.clone(),
            place.table.clone(),
            Value::Null,
            Value::Null,
            place.index.clone(),
            place.tree,
            "RECORD",
            mode,
            status,
            place.data.clone(),
        ];
        if !rows.contains(&new) {
            rows.push(new);
        }
    };
    for wait in info.db.engine.lock_waits() {
        let Some(place) = place(info, &wait) else { continue };
        if let Some(txn) = of_session(&all, wait.session) {
            push(txn, &place, mode(wait.mode), "WAITING");
        }
        for (session, _) in &wait.blockers {
            let Some(txn) = of_session(&all, *session) else { continue };
            push(
                txn,
                &place,
                if wait.mode.is_some() { "X,REC_NOT_GAP" } else { "X,GAP" },
                "GRANTED",
            );
        }
    }
}

pub(in super::super) fn data_lock_waits(info: &Information<'_>, rows: &mut Rows) {
    if !info.access.global.has(Privileges::PROCESS) {
        return;
    }
    let all = info.db.engine.active_transactions();
    for wait in info.db.engine.lock_waits() {
        let Some(place) = place(info, &wait) else { continue };
        let Some(waiting) = of_session(&all, wait.session) else { continue };
        for (session, _) in &wait.blockers {
            let Some(blocking) = of_session(&all, *session) else { continue };
            rows.push(row![
                "INNODB",
                lock_id(waiting, &place),
                number(waiting),
                waiting.label,
                0u64,
                place.tree,
                lock_id(blocking, &place),
                number(blocking),
                blocking.label,
                0u64,
                place.tree,
            ]);
        }
    }
}

pub(in super::super) fn metadata_locks(info: &Information<'_>, rows: &mut Rows) {
    if !info.access.global.has(Privileges::PROCESS) {
        return;
    }
    info.db.catalog.mdl().for_each_lock(
        &mut |owner, (schema, table), (kind, duration), granted| {
            let (what, schema, table) = match table {
                "" => ("GLOBAL", Value::Null, Value::Null),
                _ => ("TABLE", Value::from(schema), Value::from(table)),
            };
            rows.push(row![
                what,
                schema,
                table,
                Value::Null,
                owner,
                kind,
                duration,
                if granted { "GRANTED" } else { "PENDING" },
                "",
                owner,
                0u64,
            ]);
        },
    );
}
