//! Inia's benchmark lab.

pub mod floor;
