//! Stack for work that may nest: a connection's own stack is small.
//!
//! Text that nests deeply is run on one large stack ([`on_deep_stack`]). What nests by other means,
//! views in views and common table expressions that read others, asks at each level whether there
//! is room left ([`on_more_stack`]).

use inia_base::stack::{on_new_stack, on_warm_stack, stack_left};

/// Below this a level gets a stack of its own. What one text may do to the stack is limited by the
/// parser to less.
const LEFT: usize = if cfg!(debug_assertions) { 3 << 20 } else { 320 << 10 };
const MORE: usize = if cfg!(debug_assertions) { 16 << 20 } else { 2 << 20 };

/// Runs work on statements that nest deeply on a stack that has room for it.
pub fn on_deep_stack<T>(work: impl FnOnce() -> T) -> T {
    // What lies below the statement itself needs some, too.
    on_new_stack(inia_parser::DEEP_STACK + (1 << 20), work)
}

/// Runs one more level of work that recurs, on a new stack where little is left of this one.
#[inline]
pub fn on_more_stack<T>(work: impl FnOnce() -> T) -> T {
    match stack_left() {
        Some(left) if left >= LEFT => work(),
        Some(_) => on_new_stack(MORE, work),
        None => on_warm_stack(work),
    }
}
