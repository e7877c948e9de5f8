//! Stored programs: how they are compiled, and how they run.
//!
//! A body becomes a flat list of [`Instruction`]s over numbered slots when a session first uses
//! it. Blocks, loops and branches are jumps; a handler is a range of instructions that it covers
//! and a place to go to. Expressions are bound once, statements keep their plans, and both read
//! the slots as their parameters.
//!
//! ```text
//! BEGIN                                       0  slot 0 := NULL          (n)
//!   DECLARE n INT;                            1  jump 4
//!   DECLARE CONTINUE HANDLER FOR NOT FOUND    2  slot 0 := -1            the handler
//!     SET n = -1;                             3  end of handler
//!   SELECT a INTO n FROM t;                   4  sql SELECT … INTO slot 0
//!   IF n < 0 THEN                             5  unless slot 0 < 0 jump 7
//!     SELECT 'none';                          6  sql SELECT 'none'
//!   END IF;
//! END                                         7  (the end)
//!                                             handler: covers 4 to 6, goes to 2
//! ```
//!
//! [`machine::Machine`] runs the list. A procedure runs on the client's session; a function or a
//! trigger runs inside a statement, on a context that the statement lends its transaction to
//! (`inia_query::context::SessionContext::lend`).

pub(super) mod call;
mod code;
mod compile;
mod condition;
mod cursor;
pub(super) mod define;
mod diagnostics;
mod event;
mod machine;
pub(super) mod plain;
mod runner;
mod security;
pub(super) mod show;
mod sink;

pub(super) use runner::Programs;
