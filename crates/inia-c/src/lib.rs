//! The C interface of Inia. `include/inia.h` is its documentation: what a function does, who frees
//! what, and which threads may call.
//!
//! - `slots` keeps what handles stand for: a handle is a number, so that one that was closed
//!   is an error, whatever a C program does with it.
//! - `calls` turns results and panics into codes and kept errors. It is safe code, and so is the
//!   work of every function.
//! - `ffi` has the functions that C sees, and all the unsafe code of the crate: reading C's
//!   texts, and writing through C's pointers.
//!
//! ```text
//! inia_step(p) ── ffi ──► calls::statement(handle) ──► Slots::with ──► StatementState::step
//! ```

mod calls;
pub mod ffi;
mod handles;
mod slots;
mod statement;
