//! Test tools that every layer uses and no product code does: a simulated disk, seeded randomness,
//! golden scripts, a counter of rows, house rules.
//!
//! Sees only `inia-base`, so that each crate's own tests can use it.

pub mod golden;
pub mod mutate;
pub mod random;
mod rows;
pub mod sim_disk;
pub mod tidy;

pub use random::Random;
pub use rows::RowCounter;
pub use sim_disk::{Fault, SimDisk, When};
