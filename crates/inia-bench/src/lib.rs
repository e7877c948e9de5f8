//! Inia's benchmark lab: workloads, the servers they run on, and honest measurements of both.
//!
//! A [`workload::Workload`] says which tables it needs and what a client does; a
//! [`target::Target`] says how to talk to one server. Neither knows the other: a
//! [`session::Session`] stands between them.

pub mod floor;
pub mod random;
pub mod session;
pub mod target;
pub mod workload;
