//! Inia: a MySQL-compatible database, as a program and as a library.
//!
//! The program is `inia serve | sql | load | ping | check | bench`; [`server`] is what `serve`
//! runs. The library opens a database in a Rust program, without a server: see [`embedded`].

#[cfg(feature = "program")]
mod bench;
#[cfg(feature = "program")]
pub mod cli;
pub mod config;
pub mod data_dir;
pub mod embedded;
#[cfg(feature = "program")]
mod import;
#[cfg(feature = "server")]
pub mod log;
#[cfg(feature = "program")]
mod login_paths;
#[cfg(feature = "program")]
mod login_url;
mod open;
#[cfg(feature = "program")]
mod options_file;
#[cfg(feature = "program")]
mod ping;
#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "program")]
mod shell;

pub use embedded::*;
