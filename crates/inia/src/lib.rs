//! Inia: a MySQL-compatible database in one binary.
//!
//! The binary is `inia serve | sql | check | bench`; [`server`] is what `serve` runs.

mod bench;
pub mod cli;
pub mod config;
pub mod data_dir;
pub mod log;
pub mod server;
mod shell;
