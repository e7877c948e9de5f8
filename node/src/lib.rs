//! The part of the Node package that is Rust: databases, connections and results, and values
//! between the two languages. `lib/` makes an interface of the shape of mysql2 of it.
//!
//! - `worker` runs statements on threads, and resolves promises with what they give.
//! - `convert` makes JavaScript's values of cells, and parameters of JavaScript's values.
//!
//! Each connection has a thread of its own. A statement that waits for a lock must not keep that
//! of another connection from running, which a pool of few threads would.

mod connection;
mod convert;
mod database;
mod results;
mod worker;
