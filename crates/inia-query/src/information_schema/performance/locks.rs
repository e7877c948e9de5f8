//! Who holds which record, and who waits for it.
//!
//! The rows are those of MySQL's tables: an intention lock on each table in which a transaction
//! holds or writes records, a row for each explicit lock on a record and the gap before it, and one
//! for each request that waits. A record that a transaction has changed counts as one that it has
//! locked; inserted ones do not. Only tables that open transactions use are looked at, and of each
//! of their trees the first [`MAX_RECORDS`] records.

use super::lock_data::{SUPREMUM, lock_data};
use crate::account::Privileges;
use crate::catalog::Table;
use crate::information_schema::tables::visible;
use crate::information_schema::{Information, Rows, or_null, row};
use inia_base::ids::TreeId;
use inia_base::value::Value;
use inia_storage::{ActiveTxn, HeldLock, LockMode, LockWait, TreeLocks};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// How many records of a tree are looked at.
const MAX_RECORDS: usize = 1_000_000;

/// A tree as lock tables show it.
pub(super) struct Place {
    /// The table, or the part of it that the tree belongs to.
    pub(super) table: Arc<Table>,
    /// Partition and subpartition.
    part: [Option<String>; 2],
    /// The index; `None` for the rows of a table without a primary key.
    index: Option<usize>,
    tree: TreeId,
}

impl Place {
    pub(super) fn index_name(&self) -> &str {
        self.index.map_or("GEN_CLUST_INDEX", |at| self.table.def.indexes[at].name.as_str())
    }
}

/// All trees with records of a table, those of the rows first.
fn places(table: &Arc<Table>) -> Vec<Place> {
    let of = |table: &Arc<Table>, part: [Option<String>; 2]| {
        let clustered = table.def.indexes.iter().position(|index| index.clustered);
        let first = (clustered, table.clustered.id());
        let others = table.indexes.iter().enumerate();
        let others = others.filter(|(at, _)| Some(*at) != clustered);
        let trees = std::iter::once(first).chain(others.map(|(at, own)| (Some(at), own.tree.id())));
        let place = |(index, tree)| Place { table: table.clone(), part: part.clone(), index, tree };
        trees.map(place).collect::<Vec<_>>()
    };
    let (Some(parts), Some(by)) = (&table.partitions, &table.def.partitioning) else {
        return of(table, [None, None]);
    };
    let per = by.per_partition();
    let leaves = parts.leaves().iter().enumerate();
    let named = leaves.flat_map(|(at, leaf)| {
        let partition = &by.partitions[at / per];
        let sub = by.sub.as_ref().map(|_| partition.leaves[at % per].name.clone());
        of(leaf, [Some(partition.name.clone()), sub])
    });
    named.collect()
}

/// The place of a record that somebody waits for.
pub(super) fn place(info: &Information<'_>, wait: &LockWait) -> Option<Place> {
    visible(info).find_map(|table| places(table).into_iter().find(|place| place.tree == wait.tree))
}

/// Open transactions by their sessions' numbers.
struct Transactions(HashMap<u32, ActiveTxn>);

impl Transactions {
    fn open(info: &Information<'_>) -> Transactions {
        let all = info.db.engine.active_transactions();
        Transactions(all.into_iter().map(|txn| (txn.session, txn)).collect())
    }

    fn labelled(&self, label: u64) -> impl Iterator<Item = &ActiveTxn> {
        self.0.values().filter(move |txn| txn.label == label)
    }
}

/// The number that shows a transaction: a reader has none of its own.
pub(in super::super) fn number(txn: &ActiveTxn) -> u64 {
    if txn.txn.0 == 0 { (1 << 47) + u64::from(txn.session) } else { txn.txn.0 }
}

/// The name of a lock; that of a request has another end.
fn lock_id(session: u32, tree: TreeId, data: &str, end: &str) -> String {
    format!("{session}:{}:{data}{end}", u64::from(tree.0))
}

/// What ends the name of a request that waits.
const WAITS: &str = ":W";
/// What ends the name of a shared lock beside an exclusive one.
const SHARED: &str = ":S";

/// `LOCK_DATA` of what a request waits for: of an insert the record that it comes before.
pub(super) fn awaited_data(info: &Information<'_>, place: &Place, wait: &LockWait) -> String {
    if wait.mode.is_some() {
        return lock_data(&place.table, place.index, (&wait.key, &value_at(info, place, wait)));
    }
    let tree = info.db.engine.tree(place.tree);
    let mut next = Vec::new();
    match info.db.engine.key_from(&tree, &wait.key, &mut next) {
        Ok(true) => {
            let wait = LockWait { key: next, ..wait.clone() };
            lock_data(&place.table, place.index, (&wait.key, &value_at(info, place, &wait)))
        }
        _ => SUPREMUM.to_owned(),
    }
}

/// The newest value of a record, where it has one.
fn value_at(info: &Information<'_>, place: &Place, wait: &LockWait) -> Vec<u8> {
    let tree = info.db.engine.tree(place.tree);
    info.db.engine.newest_value(&tree, &wait.key).ok().flatten().unwrap_or_default()
}

/// The id of the lock that a transaction waits for.
pub(in super::super) fn lock_id_of(
    info: &Information<'_>,
    txn: &ActiveTxn,
    wait: &LockWait,
) -> Option<String> {
    let place = place(info, wait)?;
    let data = awaited_data(info, &place, wait);
    Some(lock_id(txn.session, place.tree, &data, WAITS))
}

/// One row under construction.
struct Lock<'l> {
    txn: &'l ActiveTxn,
    place: &'l Place,
    id: String,
    mode: String,
    waits: bool,
    /// `None` for a lock on the table.
    data: Option<String>,
}

fn push(rows: &mut Rows, lock: Lock<'_>) {
    let Lock { txn, place, id, mode, waits, data } = lock;
    let [partition, sub] = place.part.clone();
    rows.push(row![
        "INNODB",
        id,
        number(txn),
        txn.label,
        0u64,
        place.table.def.schema.clone(),
        place.table.def.name.clone(),
        or_null(partition),
        or_null(sub),
        or_null(data.as_ref().map(|_| place.index_name())),
        u64::from(place.tree.0),
        if data.is_some() { "RECORD" } else { "TABLE" },
        mode,
        if waits { "WAITING" } else { "GRANTED" },
        or_null(data),
    ]);
}

pub(in super::super) fn data_locks(info: &Information<'_>, rows: &mut Rows) {
    if !info.access.global.has(Privileges::PROCESS) {
        return;
    }
    let engine = &info.db.engine;
    let open = Transactions::open(info);
    let (held, waits) = (engine.held_locks(), engine.lock_waits());
    let uses = uses(info);
    for table in visible(info) {
        let name = (table.def.schema.clone(), table.def.name.clone());
        let Some(users) = uses.get(&name) else { continue };
        if !table.def.is_transactional() || table.def.temporary {
            continue;
        }
        // Readers lock nothing.
        let locks = |txn: &ActiveTxn| txn.locks > 0 || txn.txn.0 != 0 || txn.waiting;
        let locked = users.keys().any(|label| open.labelled(*label).any(locks));
        let mut listed = Listed { info, open: &open, users, waits: &waits, rows };
        let mut writers = BTreeSet::new();
        for place in places(table) {
            let tree = engine.tree(place.tree);
            let clustered = place.tree == place.table.clustered.id();
            if clustered {
                writers.clear();
            }
            let locks = match locked {
                true => engine.locks_of_tree(&held, &tree, clustered, MAX_RECORDS),
                false => Ok(TreeLocks::default()),
            };
            listed.tree(&place, locks.unwrap_or_default(), &mut writers);
        }
    }
}

/// Who uses which table, and whether to change it.
type Uses = HashMap<(String, String), HashMap<u64, bool>>;

fn uses(info: &Information<'_>) -> Uses {
    let mut uses = Uses::new();
    info.db.catalog.mdl().for_each_lock(&mut |owner, lock, granted| {
        if granted && lock.what == "TABLE" {
            let users = uses.entry((lock.schema.to_owned(), lock.name.to_owned())).or_default();
            *users.entry(owner).or_default() |= lock.kind == "SHARED_WRITE";
        }
    });
    uses
}

/// The rows of one table.
struct Listed<'l> {
    info: &'l Information<'l>,
    open: &'l Transactions,
    users: &'l HashMap<u64, bool>,
    waits: &'l [LockWait],
    rows: &'l mut Rows,
}

impl Listed<'_> {
    /// The locks of one tree. `intents` has the intention locks on its table that are listed.
    fn tree(&mut self, place: &Place, locks: TreeLocks, intents: &mut BTreeSet<(u32, bool)>) {
        let clustered = place.tree == place.table.clustered.id();
        if clustered && place.part[0].is_none() {
            let writing = self.users.iter().filter(|(_, writes)| **writes);
            let owners = writing.flat_map(|(label, _)| self.open.labelled(*label));
            let sessions: Vec<u32> = owners.map(|txn| txn.session).collect();
            sessions.into_iter().for_each(|session| self.intent(place, session, true, intents));
        }
        for session in locks.writers.iter().filter(|_| clustered) {
            self.intent(place, *session, true, intents);
        }
        let own_waits: Vec<&LockWait> =
            self.waits.iter().filter(|wait| wait.tree == place.tree).collect();
        for lock in &locks.locks {
            let waiting = own_waits.iter().find(|wait| {
                wait.session == lock.session
                    && wait.mode.is_some()
                    && Some(&wait.key) == lock.key.as_ref()
            });
            // A gap before a record that is waited for belongs to the request.
            if waiting.is_none() || lock.shared || lock.exclusive {
                let mode = self.gap_mode(&locks.locks, lock.session);
                self.held(place, lock, mode, intents);
            }
        }
        for wait in own_waits {
            let gap = locks.locks.iter().any(|lock| {
                lock.session == wait.session && lock.key.as_ref() == Some(&wait.key) && lock.gap
            });
            self.request(place, wait, gap, intents);
        }
    }

    /// The mode of a gap lock without a record: that of the session's other locks.
    fn gap_mode(&self, locks: &[HeldLock], session: u32) -> LockMode {
        let own = || locks.iter().filter(|lock| lock.session == session);
        let label = self.open.0.get(&session).map_or(0, |txn| txn.label);
        let writes = self.users.get(&label).is_some_and(|writes| *writes);
        match () {
            () if own().any(|lock| lock.exclusive) => LockMode::Exclusive,
            () if own().any(|lock| lock.shared) || !writes => LockMode::Shared,
            () => LockMode::Exclusive,
        }
    }

    fn intent(
        &mut self,
        place: &Place,
        session: u32,
        exclusive: bool,
        listed: &mut BTreeSet<(u32, bool)>,
    ) {
        let Some(txn) = self.open.0.get(&session) else { return };
        // The stronger lock allows what the weaker one does.
        let covered = !exclusive && listed.contains(&(session, true));
        if !covered && listed.insert((session, exclusive)) {
            let mode = if exclusive { "IX" } else { "IS" };
            let id = lock_id(session, place.tree, mode, "");
            let (mode, waits, data) = (mode.to_owned(), false, None);
            push(self.rows, Lock { txn, place, id, mode, waits, data });
        }
    }

    fn held(
        &mut self,
        place: &Place,
        lock: &HeldLock,
        gap_mode: LockMode,
        intents: &mut BTreeSet<(u32, bool)>,
    ) {
        let Some(txn) = self.open.0.get(&lock.session) else { return };
        let data = match &lock.key {
            Some(key) => lock_data(&place.table, place.index, (key, &lock.value)),
            None => SUPREMUM.to_owned(),
        };
        let end = lock.key.is_none();
        let mut modes = Vec::new();
        for (held, name) in [(lock.exclusive, "X"), (lock.shared, "S")] {
            // The stronger lock is the one on the gap, too.
            let gap = lock.gap && (name == "X" || !lock.exclusive);
            if held {
                modes.push((name, if gap { "" } else { ",REC_NOT_GAP" }));
            }
        }
        if modes.is_empty() {
            let name = if gap_mode == LockMode::Exclusive { "X" } else { "S" };
            modes.push((name, if end { "" } else { ",GAP" }));
        }
        for (name, kind) in modes {
            self.intent(place, lock.session, name == "X", intents);
            let end = if name == "S" && lock.exclusive { SHARED } else { "" };
            let id = lock_id(lock.session, place.tree, &data, end);
            let (mode, waits, data) = (format!("{name}{kind}"), false, Some(data.clone()));
            push(self.rows, Lock { txn, place, id, mode, waits, data });
        }
    }

    fn request(
        &mut self,
        place: &Place,
        wait: &LockWait,
        gap: bool,
        intents: &mut BTreeSet<(u32, bool)>,
    ) {
        let Some(txn) = self.open.0.get(&wait.session) else { return };
        self.intent(place, wait.session, wait.mode != Some(LockMode::Shared), intents);
        let data = awaited_data(self.info, place, wait);
        let mode = match wait.mode {
            None if data == SUPREMUM => "X,INSERT_INTENTION",
            None => "X,GAP,INSERT_INTENTION",
            Some(LockMode::Exclusive) if gap => "X",
            Some(LockMode::Exclusive) => "X,REC_NOT_GAP",
            Some(LockMode::Shared) if gap => "S",
            Some(LockMode::Shared) => "S,REC_NOT_GAP",
        };
        let id = lock_id(wait.session, place.tree, &data, WAITS);
        let (mode, waits, data) = (mode.to_owned(), true, Some(data));
        push(self.rows, Lock { txn, place, id, mode, waits, data });
    }
}

pub(in super::super) fn data_lock_waits(info: &Information<'_>, rows: &mut Rows) {
    if !info.access.global.has(Privileges::PROCESS) {
        return;
    }
    let open = Transactions::open(info);
    let waits = info.db.engine.lock_waits();
    for wait in &waits {
        let Some(place) = place(info, wait) else { continue };
        let Some(waiting) = open.0.get(&wait.session) else { continue };
        let data = awaited_data(info, &place, wait);
        for (session, _) in &wait.blockers {
            let Some(blocking) = open.0.get(session) else { continue };
            // An earlier request stands in the way, too.
            let queued = waits.iter().any(|other| {
                other.session == *session && other.tree == wait.tree && other.key == wait.key
            });
            let end = if queued { WAITS } else { "" };
            rows.push(row![
                "INNODB",
                lock_id(wait.session, place.tree, &data, WAITS),
                number(waiting),
                waiting.label,
                0u64,
                u64::from(place.tree.0),
                lock_id(*session, place.tree, &data, end),
                number(blocking),
                blocking.label,
                0u64,
                u64::from(place.tree.0),
            ]);
        }
    }
}

pub(in super::super) fn metadata_locks(info: &Information<'_>, rows: &mut Rows) {
    if !info.access.global.has(Privileges::PROCESS) {
        return;
    }
    let text = |text: &str| if text.is_empty() { Value::Null } else { Value::from(text) };
    info.db.catalog.mdl().for_each_lock(&mut |owner, lock, granted| {
        rows.push(row![
            lock.what,
            text(lock.schema),
            text(lock.name),
            Value::Null,
            owner,
            lock.kind,
            lock.duration,
            if granted { "GRANTED" } else { "PENDING" },
            "",
            owner,
            0u64,
        ]);
    });
}
