//! What handles stand for.
//!
//! A handle is the number of a slot, the slot's generation and the kind of what it holds:
//!
//! ```text
//! bits 63…32 generation │ 31…3 number of the slot │ 2…0 kind, never 0
//! ```
//!
//! Closing a handle raises the generation of its slot, which is then used again. So an old handle
//! fits no slot any more, until a slot has been used four thousand million times. Slots lie in
//! blocks that double in size and never move, so that a handle is found without a lock.

use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};

/// Slots of the first block.
const FIRST_BLOCK: usize = 64;
/// Blocks: together so many slots as a handle can number.
const BLOCKS: usize = 22;
const KIND_BITS: u32 = 3;
const GENERATION_SHIFT: u32 = 32;

/// What a program holds: never 0.
pub(crate) type Handle = u64;

struct Slot<T> {
    state: Mutex<(u32, Option<Arc<T>>)>,
}

/// The slots of one kind.
pub(crate) struct Slots<T> {
    kind: u64,
    blocks: [OnceLock<Box<[Slot<T>]>>; BLOCKS],
    free: Mutex<FreeSlots>,
}

/// Which slots hold nothing.
struct FreeSlots {
    given_back: Vec<usize>,
    /// Slots from here on were never used.
    unused: usize,
}

/// The block and the place in it of a slot.
fn place(number: usize) -> (usize, usize) {
    let scaled = number / FIRST_BLOCK + 1;
    let block = scaled.ilog2() as usize;
    (block, number - FIRST_BLOCK * ((1 << block) - 1))
}

impl<T> Slots<T> {
    pub(crate) const fn new(kind: u64) -> Slots<T> {
        let free = FreeSlots { given_back: Vec::new(), unused: 0 };
        Slots { kind, blocks: [const { OnceLock::new() }; BLOCKS], free: Mutex::new(free) }
    }

    /// A handle for a value; `None` where no more can be numbered.
    pub(crate) fn insert(&self, value: T) -> Option<Handle> {
        let number = {
            let mut free = self.free.lock();
            free.given_back.pop().unwrap_or_else(|| {
                free.unused += 1;
                free.unused - 1
            })
        };
        let (block, at) = place(number);
        let slots = self.blocks.get(block)?.get_or_init(|| {
            let slot = |_| Slot { state: Mutex::new((0, None)) };
            (0..FIRST_BLOCK << block).map(slot).collect()
        });
        let mut state = slots[at].state.lock();
        state.1 = Some(Arc::new(value));
        let generation = u64::from(state.0) << GENERATION_SHIFT;
        Some(generation | (number as u64) << KIND_BITS | self.kind)
    }

    fn find(&self, handle: Handle) -> Option<(usize, &Slot<T>)> {
        if handle & ((1 << KIND_BITS) - 1) != self.kind {
            return None;
        }
        let number = (handle as u32 >> KIND_BITS) as usize;
        let (block, at) = place(number);
        let slot = self.blocks.get(block)?.get()?.get(at)?;
        Some((number, slot))
    }

    /// What a handle stands for; `None` where it is closed, or of another kind.
    #[inline]
    pub(crate) fn get(&self, handle: Handle) -> Option<Arc<T>> {
        let (_, slot) = self.find(handle)?;
        let state = slot.state.lock();
        let fits = state.0 == (handle >> GENERATION_SHIFT) as u32;
        state.1.as_ref().filter(|_| fits).cloned()
    }

    /// Closes a handle.
    pub(crate) fn remove(&self, handle: Handle) -> Option<Arc<T>> {
        let (number, slot) = self.find(handle)?;
        let mut state = slot.state.lock();
        if state.0 != (handle >> GENERATION_SHIFT) as u32 {
            return None;
        }
        let value = state.1.take()?;
        state.0 = state.0.wrapping_add(1);
        drop(state);
        self.free.lock().given_back.push(number);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_handle_fits_no_slot_again() {
        let slots = Slots::new(1);
        let first = slots.insert("a").unwrap();
        assert_eq!(slots.get(first).as_deref(), Some(&"a"));
        assert_eq!(slots.remove(first).as_deref(), Some(&"a"));
        assert!(slots.get(first).is_none() && slots.remove(first).is_none());
        let second = slots.insert("b").unwrap();
        assert_ne!(first, second);
        assert!(slots.get(first).is_none());
        assert_eq!(slots.get(second).as_deref(), Some(&"b"));
    }

    #[test]
    fn handles_of_another_kind_and_noise_are_refused() {
        let (ones, twos) = (Slots::new(1), Slots::new(2));
        let one = ones.insert(1).unwrap();
        twos.insert(2).unwrap();
        assert!(twos.get(one).is_none());
        for noise in [0, 1 << 3 | 1, u64::MAX, 7, 0xdead_beef_0000_0001] {
            assert!(ones.get(noise).is_none(), "{noise:x}");
        }
    }

    #[test]
    fn a_thousand_handles_lie_in_blocks_without_overlap() {
        let slots = Slots::new(1);
        let handles: Vec<_> = (0..1000).map(|n| slots.insert(n).unwrap()).collect();
        for (n, handle) in handles.iter().enumerate() {
            assert_eq!(slots.get(*handle).as_deref(), Some(&n));
        }
    }
}
