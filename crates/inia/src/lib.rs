//! Inia: a MySQL-compatible database in one binary.
//!
//! The binary is `inia serve | sql | load | check | bench`; [`server`] is what `serve` runs.

mod bench;
pub mod cli;
pub mod config;
pub mod data_dir;
mod import;
pub mod log;
mod login_url;
pub mod server;
mod shell;
