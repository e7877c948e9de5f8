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

use parking_lot::Mutex;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::null_mut;
use std::sync::LazyLock;

/// Bytes of a warm stack.
const WARM: usize = if cfg!(debug_assertions) { 4 << 20 } else { 512 << 10 };
/// Bytes below a stack that stop the program when they are touched.
const GUARD: usize = 64 << 10;
/// The most lists of warm stacks: processors beyond share them.
const LISTS: usize = 64;

/// Stacks that nobody uses, the last one given back on top. One list for each processor, so that
/// statements on different ones do not meet.
///
/// Nobody waits for a list: with many more threads than processors the one that holds it may be
/// off its processor for a long time, and all others would queue for it at each statement. They go
/// on to the next list.
#[repr(align(128))]
struct List(Mutex<Vec<Stack>>);

static WARM_STACKS: [List; LISTS] = [const { List(Mutex::new(Vec::new())) }; LISTS];

/// How many of the lists are used.
static USED: LazyLock<usize> = LazyLock::new(|| {
    std::thread::available_parallelism().map_or(LISTS, |n| (2 * n.get()).min(LISTS))
});

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

/// The lists, that of the processor that runs this thread now first. It may run on another one at
/// once: every list serves, this one is warmest.
fn lists() -> impl Iterator<Item = &'static Mutex<Vec<Stack>>> {
    // SAFETY: a system call without arguments that reads no memory.
    let processor = unsafe { libc::sched_getcpu() };
    let (here, used) = (usize::try_from(processor).unwrap_or(0), *USED);
    (0..used).map(move |step| &WARM_STACKS[(here + step) % used].0)
}

fn take() -> Stack {
    // What threads took here and gave back elsewhere must not pile up there.
    lists().find_map(|list| list.try_lock()?.pop()).unwrap_or_else(|| Stack::map(WARM))
}

/// Gives the stack back however its borrower ends.
struct Borrowed(Option<Stack>);

impl Drop for Borrowed {
    fn drop(&mut self) {
        if let Some(mut list) = lists().find_map(Mutex::try_lock) {
            list.extend(self.0.take());
        }
    }
}

/// Runs a statement's work on the stack that was used last on this processor. There are hardly more
/// of them than statements were in the middle of their work at one time.
pub fn on_warm_stack<T>(work: impl FnOnce() -> T) -> T {
    let mut stack = Borrowed(Some(take()));
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
