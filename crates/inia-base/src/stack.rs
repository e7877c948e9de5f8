//! The stacks that statements run on.
//!
//! A connection is a thread, and most of a thousand connections wait for their clients. What a
//! statement calls writes some five kilobytes of stack; on a stack per connection each of them
//! finds these lines in no cache and their pages in no translation buffer, as hundreds of other
//! statements ran since its last one. But only as many statements run at a time as there are
//! processors. So a statement borrows the stack that the last one on this processor has just given
//! back ([`on_warm_stack`]), and the connection's own is left with the few frames that read a
//! request.
//!
//! ```text
//! connection 17   read ─┐            ┌─ read
//! connection 18         │       read ┼──────┐
//! warm stack      ......└─ handle ───┘......└─ handle ─ waits for a lock: keeps it, the next
//!                                                        statement takes or maps another
//! ```
//!
//! The others here are for work that nests: [`on_new_stack`] where much room is wanted, and
//! [`stack_left`] to know when.
//!
//! Invariants: a stack is in one list or lent to one thread, never both; a page that may not be
//! touched lies below each; no panic crosses the border of a stack, it is caught and goes on above.
#![allow(unsafe_code)]

use crate::warm::WarmPool;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::null_mut;

/// Bytes of a warm stack.
const WARM: usize = if cfg!(debug_assertions) { 4 << 20 } else { 512 << 10 };
/// Bytes below a stack that stop the program when they are touched.
const GUARD: usize = 64 << 10;
/// Warm stacks that nobody uses.
static WARM_STACKS: WarmPool<Stack> = WarmPool::new(usize::MAX);

thread_local! {
    /// The lowest address of the present stack that may be used; 0 on a thread's own.
    static LOWEST: Cell<usize> = const { Cell::new(0) };
}

/// A region of memory to run on, unmapped when it is dropped.
struct Stack {
    /// Where the guard begins; the stack lies above it.
    guard: usize,
    size: usize,
}

impl Stack {
    /// Maps a stack. Panics when the system has no memory for it, which ends one connection.
    fn map(size: usize) -> Stack {
        let size = size.next_multiple_of(GUARD);
        let (access, kind) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at an address of the system's choice touches no memory in use.
        let start = unsafe {
            libc::mmap(
                null_mut(),
                size + GUARD,
                access,
                kind | libc::MAP_NORESERVE | libc::MAP_STACK,
                -1,
                0,
            )
        };
        assert!(start != libc::MAP_FAILED, "out of memory for a stack of {size} bytes");
        // SAFETY: the pages belong to the mapping made above, which nobody else knows of.
        let guarded = unsafe { libc::mprotect(start, GUARD, libc::PROT_NONE) };
        assert!(guarded == 0, "out of memory for a stack of {size} bytes");
        Stack { guard: start as usize, size }
    }

    /// Runs `work` on this stack and comes back.
    fn run<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let lowest = self.guard + GUARD;
        let around = LOWEST.replace(lowest);
        // SAFETY: the region is mapped, aligned to pages, has its guard below, and is this call's
        // alone by the exclusive borrow. The closure does not unwind: it catches every panic.
        let outcome = unsafe {
            psm::on_stack(lowest as *mut u8, self.size, || catch_unwind(AssertUnwindSafe(work)))
        };
        LOWEST.set(around);
        outcome.unwrap_or_else(|panic| resume_unwind(panic))
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map` with this size, and nothing runs on it any more.
        unsafe { libc::munmap(self.guard as *mut libc::c_void, self.size + GUARD) };
    }
}

/// Gives the stack back however its borrower ends.
struct Borrowed(Option<Stack>);

impl Drop for Borrowed {
    fn drop(&mut self) {
        if let Some(stack) = self.0.take() {
            WARM_STACKS.put(stack);
        }
    }
}

/// Runs a statement's work on the stack that was used last on this processor. There are hardly more
/// of them than statements were in the middle of their work at one time.
pub fn on_warm_stack<T>(work: impl FnOnce() -> T) -> T {
    let mut stack = Borrowed(Some(WARM_STACKS.take().unwrap_or_else(|| Stack::map(WARM))));
    match &mut stack.0 {
        Some(stack) => stack.run(work),
        None => work(),
    }
}

/// Runs work on a new stack of at least `size` bytes.
pub fn on_new_stack<T>(size: usize, work: impl FnOnce() -> T) -> T {
    Stack::map(size).run(work)
}

/// Bytes left of the present stack, where it is one from here: of a thread's own it is not known.
#[inline]
pub fn stack_left() -> Option<usize> {
    let lowest = LOWEST.get();
    (lowest != 0).then(|| (psm::stack_pointer() as usize).saturating_sub(lowest))
}

#[cfg(test)]
mod tests;
