//! Inia's benchmark lab: workloads, the servers they run on, and honest measurements of both.
//!
//! A [`workload::Workload`] says which tables it needs and what a client does; a
//! [`target::Target`] says how to talk to one server. Neither knows the other: a
//! [`session::Session`] stands between them.

pub mod agreement;
pub mod cli;
pub mod compare;
pub mod floor;
pub mod histogram;
pub mod limit;
pub mod load;
pub mod machine;
pub mod progress;
pub mod random;
pub mod record;
pub mod report;
pub mod round;
pub mod seeds;
pub mod session;
pub mod target;
pub mod terminal;
#[cfg(test)]
mod testing;
pub mod workload;
