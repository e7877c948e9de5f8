//! Record locks: a sharded table of queues, one per locked record.
//!
//! A record is named by a 64-bit hash of its tree and key. Two keys with one hash share a lock:
//! that can only make one wait longer than needed, and is less likely than a broken machine.
//!
//! Invariants, per queue:
//! - granted locks of different owners are compatible, but for a lock that was implicit and made
//!   explicit beside those who had locked the key before they found out who wrote the record;
//! - every waiter conflicts with a granted lock or with an earlier waiter;
//! - an owner that holds a lock and wants a stronger one passes the waiters: only holders stop it;
//! - a lock that was granted to a waiter may go to a conflicting request of one who runs as long as
//!   the waiter has not run. That one stands at the head of the queue again;
//! - an owner that held a shared lock before its exclusive one holds both, and keeps the shared
//!   lock when the exclusive one is released early.

use super::owner::Owner;
use crate::request::LockMode;
use crate::sync::Mutex;
use crate::sync::{AtomicUsize, Ordering, fence};
use inia_base::ids::{TreeId, TxnId};
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

const SHARDS: usize = 64;
const SPARE_QUEUES: usize = 64;

/// A record's name in the lock table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LockName(u64);

impl LockName {
    /// The name of the record with this key.
    pub(crate) fn new(tree: TreeId, key: &[u8]) -> LockName {
        const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
        fn mix(state: u64, word: u64) -> u64 {
            let product = u128::from(state ^ word) * u128::from(MULTIPLIER ^ word.rotate_left(32));
            (product as u64) ^ ((product >> 64) as u64) ^ state.rotate_left(23)
        }
        let mut state = mix(u64::from(tree.0).wrapping_add(MULTIPLIER), key.len() as u64 + 1);
        let mut words = key.chunks_exact(8);
        for word in &mut words {
            let word = u64::from_le_bytes(word.try_into().expect("chunks of eight bytes"));
            state = mix(state, word.wrapping_add(MULTIPLIER));
        }
        let mut tail = [0u8; 8];
        tail[..words.remainder().len()].copy_from_slice(words.remainder());
        LockName(mix(mix(state, u64::from_le_bytes(tail)), MULTIPLIER))
    }

    fn shard(self) -> usize {
        const { assert!(SHARDS <= 256) };
        (self.0 >> 56) as usize % SHARDS
    }
}

#[derive(Default)]
struct NameHasher(u64);

impl Hasher for NameHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }
    fn write_u64(&mut self, name: u64) {
        self.0 = name;
    }
}

type Queues = HashMap<LockName, Queue, BuildHasherDefault<NameHasher>>;

/// How a request was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grant {
    /// The owner holds its first lock on the record.
    New,
    /// The owner held a shared lock on the record and now holds an exclusive one as well.
    Strengthened,
    /// The owner held a lock of this mode, or a stronger one, already.
    Held,
    /// Another owner is in the way.
    Conflict,
}

impl Grant {
    /// Whether the owner holds the record in a mode that it did not hold before, and may release
    /// that mode early.
    pub(crate) fn is_fresh(self) -> bool {
        matches!(self, Grant::New | Grant::Strengthened)
    }
}

/// What became of an implicit lock that was to be made explicit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conversion {
    /// Its transaction is over.
    Over,
    /// It is explicit, and nobody stands in the queue.
    Uncontended,
    /// It is explicit, and stands before others in the queue.
    Awaited,
}

/// An owner that holds the record, in one mode or in both.
struct Holder {
    owner: Arc<Owner>,
    shared: bool,
    exclusive: bool,
    /// Whether it waited for its only mode. It may not have run since.
    waited: bool,
}

impl Holder {
    fn new(owner: &Arc<Owner>, mode: LockMode) -> Holder {
        let exclusive = mode == LockMode::Exclusive;
        Holder { owner: Arc::clone(owner), shared: !exclusive, exclusive, waited: false }
    }

    /// The stronger of the modes held.
    fn mode(&self) -> LockMode {
        if self.exclusive { LockMode::Exclusive } else { LockMode::Shared }
    }

    fn covers(&self, mode: LockMode) -> bool {
        self.exclusive || mode == LockMode::Shared
    }

    /// Gives one mode up; whether the other one is left.
    fn give_up(&mut self, mode: LockMode) -> bool {
        match mode {
            LockMode::Shared => self.shared = false,
            LockMode::Exclusive => self.exclusive = false,
        }
        self.shared || self.exclusive
    }
}

/// What an owner holds of a record at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeldModes {
    /// The owner's number.
    pub(crate) session: u32,
    pub(crate) shared: bool,
    pub(crate) exclusive: bool,
}

#[derive(Default)]
struct Queue {
    granted: Vec<Holder>,
    waiting: VecDeque<(Arc<Owner>, LockMode)>,
}

fn conflict(a: LockMode, b: LockMode) -> bool {
    a == LockMode::Exclusive || b == LockMode::Exclusive
}

impl Queue {
    fn holder(&self, owner: &Arc<Owner>) -> Option<&Holder> {
        self.granted.iter().find(|holder| Arc::ptr_eq(&holder.owner, owner))
    }

    fn is_held_by(&self, owner: &Arc<Owner>) -> bool {
        self.holder(owner).is_some()
    }

    /// The holders and earlier waiters that stop `owner` from getting `mode`.
    fn blockers<'q>(
        &'q self,
        owner: &'q Arc<Owner>,
        mode: LockMode,
        ahead: usize,
    ) -> impl Iterator<Item = &'q Arc<Owner>> {
        let ahead = if self.is_held_by(owner) { 0 } else { ahead };
        let granted = self.granted.iter().map(|holder| (&holder.owner, holder.mode()));
        let waiting = self.waiting.iter().take(ahead).map(|(other, wanted)| (other, *wanted));
        granted
            .chain(waiting)
            .filter(move |(other, held)| !Arc::ptr_eq(other, owner) && conflict(*held, mode))
            .map(|(other, _)| other)
    }

    fn blocked(&self, owner: &Arc<Owner>, mode: LockMode, ahead: usize) -> bool {
        self.blockers(owner, mode, ahead).next().is_some()
    }

    /// Puts a request behind the others and marks the holders as awaited. Those who wait ahead of
    /// it are marked when they are served.
    fn push(&mut self, owner: &Arc<Owner>, mode: LockMode) {
        debug_assert!(
            !self.waiting.iter().any(|(other, _)| Arc::ptr_eq(other, owner)),
            "an owner waits once"
        );
        self.granted.iter().for_each(|holder| holder.owner.set_awaited());
        self.waiting.push_back((Arc::clone(owner), mode));
    }

    /// Adds or strengthens a lock that nothing blocks.
    fn admit(&mut self, owner: &Arc<Owner>, mode: LockMode) -> Grant {
        debug_assert!(
            self.granted.iter().all(|it| it.shared || it.exclusive),
            "a holder has a mode"
        );
        if !self.waiting.is_empty() {
            owner.set_awaited();
        }
        match self.granted.iter_mut().find(|holder| Arc::ptr_eq(&holder.owner, owner)) {
            Some(holder) if holder.covers(mode) => Grant::Held,
            Some(holder) => {
                holder.exclusive = true;
                holder.waited = false;
                Grant::Strengthened
            }
            None => {
                self.granted.push(Holder::new(owner, mode));
                Grant::New
            }
        }
    }

    /// Admits a request of an owner that runs unless somebody is in the way.
    fn ask(&mut self, owner: &Arc<Owner>, name: LockName, mode: LockMode) -> Grant {
        if self.blocked(owner, mode, self.waiting.len()) && !self.overtake(owner, name, mode) {
            return Grant::Conflict;
        }
        let grant = self.admit(owner, mode);
        if grant == Grant::New {
            owner.note_record(name);
        }
        grant
    }

    /// Makes way for `owner`, who runs: the only holder goes back to the head of the queue where it
    /// has waited for the lock and has not run since. Whether it did.
    fn overtake(&mut self, owner: &Arc<Owner>, name: LockName, mode: LockMode) -> bool {
        let [holder] = &self.granted[..] else { return false };
        let waits_again = holder.waited
            && !Arc::ptr_eq(&holder.owner, owner)
            && conflict(holder.mode(), mode)
            && holder.owner.revoke(name);
        if waits_again {
            let (mode, holder) = (holder.mode(), self.granted.pop().expect("the only holder"));
            holder.owner.forget_record(name);
            self.waiting.push_front((holder.owner, mode));
        }
        waits_again
    }

    /// Grants the lock to every waiter that nothing blocks any more, in order of arrival, and
    /// returns them: the caller wakes them. Behind a waiter that stays blocked, only an upgrade by
    /// an owner that held the lock before this call can be granted.
    fn advance(&mut self, name: LockName) -> Vec<Arc<Owner>> {
        let mut served = Vec::new();
        let mut at = 0;
        while at < self.waiting.len() {
            let (owner, mode) = self.waiting[at].clone();
            let free = !self.blocked(&owner, mode, at);
            if free && self.waiting.len() > 1 {
                owner.set_awaited();
            }
            if free && owner.grant() {
                self.waiting.remove(at);
                if self.admit(&owner, mode) == Grant::New {
                    owner.note_record(name);
                    self.granted.last_mut().expect("the new holder").waited = true;
                }
                served.push(owner);
            } else if self.granted.len() > served.len()
                && self.waiting.iter().skip(at + 1).any(|(other, _)| self.is_held_by(other))
            {
                at += 1;
            } else {
                break;
            }
        }
        served
    }
}

#[derive(Default)]
struct Shard {
    used: AtomicUsize,
    state: Mutex<ShardState>,
}

#[derive(Default)]
struct ShardState {
    queues: Queues,
    spare: Vec<Queue>,
}

impl ShardState {
    fn queue(&mut self, name: LockName) -> &mut Queue {
        let spare = &mut self.spare;
        self.queues.entry(name).or_insert_with(|| spare.pop().unwrap_or_default())
    }

    fn drop_if_empty(&mut self, name: LockName) {
        let empty =
            self.queues.get(&name).is_some_and(|q| q.granted.is_empty() && q.waiting.is_empty());
        if empty
            && let Some(queue) = self.queues.remove(&name)
            && self.spare.len() < SPARE_QUEUES
        {
            self.spare.push(queue);
        }
    }
}

/// The table of record locks.
pub(super) struct RecordLocks {
    shards: Vec<Shard>,
}

impl RecordLocks {
    pub(super) fn new() -> RecordLocks {
        RecordLocks { shards: (0..SHARDS).map(|_| Shard::default()).collect() }
    }

    fn with<R>(&self, name: LockName, act: impl FnOnce(&mut ShardState) -> R) -> R {
        let shard = &self.shards[name.shard()];
        let mut state = shard.state.lock();
        let result = act(&mut state);
        shard.used.store(state.queues.len(), Ordering::Relaxed);
        result
    }

    /// Takes the lock if nothing is in the way.
    pub(super) fn request(&self, owner: &Arc<Owner>, name: LockName, mode: LockMode) -> Grant {
        let grant = self.with(name, |state| {
            let queue = state.queue(name);
            match queue.holder(owner) {
                Some(holder) if holder.covers(mode) => Grant::Held,
                _ => queue.ask(owner, name, mode),
            }
        });
        // Pairs with the fence of a writer that looks at `used`: one of the two sees the other.
        fence(Ordering::SeqCst);
        grant
    }

    /// As [`RecordLocks::request`], but a conflicting request is put in the queue.
    /// `register` runs before anybody can grant it.
    pub(super) fn enqueue(
        &self,
        owner: &Arc<Owner>,
        name: LockName,
        mode: LockMode,
        register: impl FnOnce(),
    ) -> Grant {
        let grant = self.with(name, |state| {
            let queue = state.queue(name);
            let grant = queue.ask(owner, name, mode);
            if grant == Grant::Conflict {
                register();
                queue.push(owner, mode);
            }
            grant
        });
        // As in [`RecordLocks::request`].
        fence(Ordering::SeqCst);
        grant
    }

    /// Takes a waiter out of the queue, if it still stands there.
    pub(super) fn dequeue(&self, owner: &Arc<Owner>, name: LockName) {
        self.serve(name, |queue| queue.waiting.retain(|(other, _)| !Arc::ptr_eq(other, owner)));
    }

    /// Adds everyone whom the queued `owner` waits for. True for an exclusive request that waits
    /// for all ahead of it: what those wait for in this queue is among what is added.
    pub(super) fn blockers(
        &self,
        owner: &Arc<Owner>,
        name: LockName,
        out: &mut Vec<Arc<Owner>>,
    ) -> bool {
        let state = self.shards[name.shard()].state.lock();
        let Some(queue) = state.queues.get(&name) else { return false };
        let at = queue.waiting.iter().rposition(|(other, _)| Arc::ptr_eq(other, owner));
        let Some(at) = at else { return false };
        let mode = queue.waiting[at].1;
        out.extend(queue.blockers(owner, mode, at).cloned());
        mode == LockMode::Exclusive && !queue.is_held_by(owner)
    }

    /// Whether another owner's lock (or earlier request) forbids `owner` to take `mode` now.
    pub(super) fn conflicts(&self, owner: &Arc<Owner>, name: LockName, mode: LockMode) -> bool {
        fence(Ordering::SeqCst);
        let shard = &self.shards[name.shard()];
        if shard.used.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let state = shard.state.lock();
        state.queues.get(&name).is_some_and(|q| q.blocked(owner, mode, q.waiting.len()))
    }

    /// All locks that are held, one part of the table after the other.
    pub(super) fn held(&self) -> HashMap<LockName, Vec<HeldModes>> {
        let mut all = HashMap::new();
        for shard in self.shards.iter().filter(|shard| shard.used.load(Ordering::Relaxed) > 0) {
            let state = shard.state.lock();
            for (name, queue) in &state.queues {
                let modes = queue.granted.iter().map(|holder| HeldModes {
                    session: holder.owner.index(),
                    shared: holder.shared,
                    exclusive: holder.exclusive,
                });
                all.insert(*name, modes.collect());
            }
        }
        all
    }

    /// Whether nobody has or awaits a lock.
    pub(super) fn is_empty(&self) -> bool {
        fence(Ordering::SeqCst);
        self.shards.iter().all(|shard| shard.used.load(Ordering::Relaxed) == 0)
    }

    /// Makes the implicit exclusive lock of `holder`'s transaction `id` explicit, so that others
    /// can queue for it.
    pub(super) fn make_explicit(
        &self,
        holder: &Arc<Owner>,
        id: TxnId,
        name: LockName,
    ) -> Conversion {
        self.with(name, |state| {
            let queue = state.queue(name);
            let active = if queue.is_held_by(holder) {
                holder.txn() == id
            } else {
                holder.note_record_of(id, name)
            };
            let conversion = match (active, queue.waiting.is_empty()) {
                (false, _) => Conversion::Over,
                (true, true) => Conversion::Uncontended,
                (true, false) => Conversion::Awaited,
            };
            if active {
                queue.admit(holder, LockMode::Exclusive);
            }
            state.drop_if_empty(name);
            conversion
        })
    }

    /// Releases one mode of a lock before its transaction ends, and serves the queue. A mode that
    /// the owner held beside it stays.
    pub(super) fn release_mode(&self, owner: &Arc<Owner>, name: LockName, mode: LockMode) {
        self.serve(name, |queue| {
            let at = queue.granted.iter().position(|it| Arc::ptr_eq(&it.owner, owner));
            if let Some(at) = at
                && !queue.granted[at].give_up(mode)
            {
                queue.granted.remove(at);
                owner.forget_record(name);
            }
        });
    }

    /// Releases an owner's lock in every mode. Returns who has a lock now and is to be woken.
    pub(super) fn release(&self, owner: &Arc<Owner>, name: LockName) -> Vec<Arc<Owner>> {
        self.grant_next(name, |queue| {
            queue.granted.retain(|holder| !Arc::ptr_eq(&holder.owner, owner));
        })
    }

    /// Takes a lock or a waiter out of the queue of a name, if there is one, and serves those who
    /// wait behind it.
    fn serve(&self, name: LockName, take_out: impl FnOnce(&mut Queue)) {
        self.grant_next(name, take_out).iter().for_each(|owner| owner.wake());
    }

    /// As [`RecordLocks::serve`], without waking those who have a lock now.
    fn grant_next(&self, name: LockName, take_out: impl FnOnce(&mut Queue)) -> Vec<Arc<Owner>> {
        self.with(name, |state| {
            let Some(queue) = state.queues.get_mut(&name) else { return Vec::new() };
            take_out(queue);
            let served = queue.advance(name);
            state.drop_if_empty(name);
            served
        })
    }
}
