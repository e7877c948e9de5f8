//! The strong locks that are held, and the requests that wait, per name and in order of arrival.
//!
//! Invariants: an owner waits in at most one queue. A name's `guarded` counts its strong locks and
//! the requests for such. A request waits only if a strong lock or request, or its being strong
//! itself, makes it; so what can let it in passes through here: a strong lock that goes, a request
//! that goes, or a slot's lock whose owner then sees the counter.

use super::kind::{KINDS, MdlKind};
use super::{MdlManager, MdlName, MdlSlot};
use inia_base::error::{ErrorCode, SqlError};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// So many writers pass a waiting `ReadOnly` before it is its turn.
const PASSES: u32 = 64;

/// What a session waits for, and what has become of it.
struct Wait {
    name: Arc<MdlName>,
    kind: MdlKind,
    /// Where the lock is put when it is granted; `None` where a guard keeps it.
    slot: Option<Arc<MdlSlot>>,
    /// The waiting session's own slot.
    sleeper: Arc<MdlSlot>,
    decided: Option<Result<(), SqlError>>,
}

/// One name's locks and requests.
#[derive(Default)]
struct Object {
    /// Locks that guards keep.
    granted: Vec<(u64, MdlKind)>,
    waiting: Vec<u64>,
    /// How many requests of each kind wait.
    wanted: [usize; KINDS],
    /// How many writers have passed a waiting `ReadOnly`.
    passed: u32,
}

/// All of them.
#[derive(Default)]
pub(super) struct Queues {
    /// By the address of the name, which its locks and requests keep alive.
    objects: HashMap<usize, Object>,
    waits: HashMap<u64, Wait>,
}

fn key(name: &Arc<MdlName>) -> usize {
    Arc::as_ptr(name) as usize
}

impl Queues {
    /// The locks of a name that guards keep, with their owners.
    pub(super) fn granted(&self, name: &Arc<MdlName>) -> Vec<(u64, MdlKind)> {
        self.objects.get(&key(name)).map_or_else(Vec::new, |object| object.granted.clone())
    }

    /// The requests that wait: owner, name and kind.
    pub(super) fn requests(&self) -> impl Iterator<Item = (u64, &Arc<MdlName>, MdlKind)> {
        let undecided = self.waits.iter().filter(|(_, wait)| wait.decided.is_none());
        undecided.map(|(owner, wait)| (*owner, &wait.name, wait.kind))
    }

    /// Asks for a lock: true where it is granted at once; otherwise the request waits.
    pub(super) fn ask(
        &mut self,
        manager: &MdlManager,
        owner: u64,
        (name, kind): (&Arc<MdlName>, MdlKind),
        slot: Option<Arc<MdlSlot>>,
        sleeper: &Arc<MdlSlot>,
    ) -> bool {
        debug_assert!(!self.waits.contains_key(&owner), "who asks stands in no other line");
        debug_assert!(slot.is_none() || !kind.is_strong(), "a slot holds weak locks");
        if kind.is_strong() {
            name.guarded.fetch_add(1, Ordering::SeqCst);
        }
        let wait = Wait { name: name.clone(), kind, slot, sleeper: sleeper.clone(), decided: None };
        let waits = self.is_blocked(manager, owner, &wait);
        if !waits {
            self.grant(manager, owner, &wait);
        } else {
            let object = self.objects.entry(key(name)).or_default();
            object.waiting.push(owner);
            object.wanted[kind as usize] += 1;
            self.waits.insert(owner, wait);
        }
        !waits
    }

    fn is_blocked(&self, manager: &MdlManager, owner: u64, wait: &Wait) -> bool {
        let (kind, name) = (wait.kind, &wait.name);
        if let Some(object) = self.objects.get(&key(name)) {
            let held = object.granted.iter().any(|(o, held)| *o != owner && !kind.goes_with(*held));
            let behind = |waiting: &MdlKind| {
                object.wanted[*waiting as usize] > 0
                    && self.is_behind(manager, owner, wait, object, *waiting)
            };
            if held || MdlKind::ALL.iter().any(behind) {
                return true;
            }
        }
        kind.is_strong() && !manager.in_the_way(owner, name, kind).is_empty()
    }

    /// Whether a request waits behind waiting requests of a kind. It does not where those wait for
    /// its own session anyway.
    fn is_behind(
        &self,
        manager: &MdlManager,
        owner: u64,
        wait: &Wait,
        object: &Object,
        waiting: MdlKind,
    ) -> bool {
        let passes = match object.passed < PASSES {
            true => wait.kind.passes(waiting),
            false => wait.kind.passes_starved(waiting),
        };
        if passes || wait.kind.goes_with(waiting) {
            return false;
        }
        let minds = |held: MdlKind| !waiting.goes_with(held);
        let kept = object.granted.iter().any(|(o, held)| *o == owner && minds(*held));
        !kept && !manager.held_in(&wait.sleeper, &wait.name).is_some_and(minds)
    }

    fn grant(&mut self, manager: &MdlManager, owner: u64, wait: &Wait) {
        let waits = self.objects.get(&key(&wait.name));
        let starving = waits.is_some_and(|object| object.wanted[MdlKind::ReadOnly as usize] > 0);
        match &wait.slot {
            Some(slot) => drop(manager.put(slot, &wait.name, wait.kind)),
            None => {
                let object = self.objects.entry(key(&wait.name)).or_default();
                object.granted.push((owner, wait.kind));
            }
        }
        if let Some(object) = self.objects.get_mut(&key(&wait.name)) {
            let passed = starving && wait.kind == MdlKind::Write;
            object.passed = if passed { object.passed + 1 } else { object.passed };
        }
    }

    /// Grants all requests for a name that can be granted now.
    pub(super) fn let_in(&mut self, manager: &MdlManager, name: &Arc<MdlName>) {
        let Some(object) = self.objects.get(&key(name)) else { return };
        for owner in object.waiting.clone() {
            let Some(wait) = self.waits.get(&owner) else { continue };
            if !self.is_blocked(manager, owner, wait) {
                self.leave_line(owner);
                if let Some(mut wait) = self.waits.remove(&owner) {
                    self.grant(manager, owner, &wait);
                    wait.decided = Some(Ok(()));
                    wait.sleeper.bell.notify_all();
                    self.waits.insert(owner, wait);
                }
            }
        }
        self.tidy(name);
    }

    /// Takes a request out of its line.
    fn leave_line(&mut self, owner: u64) {
        let Some(wait) = self.waits.get(&owner) else { return };
        let Some(object) = self.objects.get_mut(&key(&wait.name)) else { return };
        object.waiting.retain(|other| *other != owner);
        debug_assert!(object.wanted[wait.kind as usize] > 0, "a request in line is counted");
        object.wanted[wait.kind as usize] -= 1;
        if object.wanted[MdlKind::ReadOnly as usize] == 0 {
            object.passed = 0;
        }
    }

    fn tidy(&mut self, name: &Arc<MdlName>) {
        debug_assert!(self.is_counted(name), "as many requests are counted as stand in line");
        let idle = |object: &Object| object.granted.is_empty() && object.waiting.is_empty();
        if self.objects.get(&key(name)).is_some_and(idle) {
            self.objects.remove(&key(name));
        }
    }

    /// Whether a name's counts of requests agree with its line.
    fn is_counted(&self, name: &Arc<MdlName>) -> bool {
        let object = self.objects.get(&key(name));
        object.is_none_or(|object| object.wanted.iter().sum::<usize>() == object.waiting.len())
    }

    /// What has become of a session's request, once that is known.
    pub(super) fn decided(&mut self, owner: u64) -> Option<Result<(), SqlError>> {
        self.waits.get(&owner)?.decided.as_ref()?;
        self.waits.remove(&owner)?.decided
    }

    /// A session waits no longer.
    pub(super) fn give_up(&mut self, manager: &MdlManager, owner: u64) {
        self.refuse(manager, owner);
        self.waits.remove(&owner);
    }

    /// Takes an undecided request away, which may let in others.
    fn refuse(&mut self, manager: &MdlManager, owner: u64) {
        self.leave_line(owner);
        let Some(wait) = self.waits.get_mut(&owner) else { return };
        wait.decided = Some(Err(SqlError::new(ErrorCode::Deadlock, &[])));
        wait.sleeper.bell.notify_all();
        let (name, strong) = (wait.name.clone(), wait.kind.is_strong());
        self.let_in(manager, &name);
        if strong {
            name.guarded.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// A guard goes.
    pub(super) fn give_back(
        &mut self,
        manager: &MdlManager,
        owner: u64,
        name: &Arc<MdlName>,
        kind: MdlKind,
    ) {
        if let Some(object) = self.objects.get_mut(&key(name)) {
            let same = |lock: &(u64, MdlKind)| *lock == (owner, kind);
            if let Some(at) = object.granted.iter().position(same) {
                object.granted.swap_remove(at);
            }
        }
        self.let_in(manager, name);
        if kind.is_strong() {
            name.guarded.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Whether a session's guard keeps this lock.
    pub(super) fn has(&self, owner: u64, name: &Arc<MdlName>, kind: MdlKind) -> bool {
        let object = self.objects.get(&key(name));
        object.is_some_and(|object| object.granted.contains(&(owner, kind)))
    }

    /// The name that a session waits for.
    pub(super) fn waits_for(&self, owner: u64) -> Option<Arc<MdlName>> {
        let wait = self.waits.get(&owner).filter(|wait| wait.decided.is_none())?;
        Some(wait.name.clone())
    }

    /// How many requests wait.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.waits.values().filter(|wait| wait.decided.is_none()).count()
    }

    /// Ends waits until `owner` is in no cycle.
    pub(super) fn break_cycles(&mut self, manager: &MdlManager, owner: u64) {
        loop {
            let mut seen = HashSet::new();
            let Some(cycle) = self.cycle(manager, owner, owner, &mut seen) else { return };
            let weight = |owner: &u64| self.waits.get(owner).map_or(0, |wait| wait.kind.weight());
            // The first of those that weigh least; `owner` stands first.
            let Some(victim) = cycle.iter().copied().min_by_key(weight) else { return };
            self.refuse(manager, victim);
            if victim == owner {
                return;
            }
        }
    }

    /// A path of waiters from `from` back to `start`.
    fn cycle(
        &self,
        manager: &MdlManager,
        start: u64,
        from: u64,
        seen: &mut HashSet<u64>,
    ) -> Option<Vec<u64>> {
        if !seen.insert(from) {
            return None;
        }
        let wait = self.waits.get(&from).filter(|wait| wait.decided.is_none())?;
        for blocker in self.blockers(manager, from, wait) {
            if blocker == start {
                return Some(vec![from]);
            }
            if let Some(mut path) = self.cycle(manager, start, blocker, seen) {
                path.insert(0, from);
                return Some(path);
            }
        }
        None
    }

    /// Whom a request waits for.
    fn blockers(&self, manager: &MdlManager, owner: u64, wait: &Wait) -> Vec<u64> {
        let mut found = Vec::new();
        if let Some(object) = self.objects.get(&key(&wait.name)) {
            let minded = object.granted.iter().filter(|(_, held)| !wait.kind.goes_with(*held));
            found.extend(minded.map(|(other, _)| *other));
            let behind = |other: &u64| {
                let kind = self.waits.get(other).map(|other| other.kind);
                kind.is_some_and(|kind| self.is_behind(manager, owner, wait, object, kind))
            };
            found.extend(object.waiting.iter().copied().filter(|other| behind(other)));
        }
        if wait.kind.is_strong() {
            found.extend(manager.in_the_way(owner, &wait.name, wait.kind));
        }
        found.retain(|other| *other != owner);
        found
    }
}
