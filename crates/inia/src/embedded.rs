//! Inia in a program: a database in this process, without a server.
//!
//! [`Database::open`] opens a data directory, [`Database::in_memory`] makes a database that ends
//! with the program. A [`Connection`] runs statements as `root`: a program that may read the files
//! may do everything.
//!
//! ```
//! # fn main() -> Result<(), inia::Error> {
//! let database = inia::Database::in_memory()?;
//! let shop = database.connect()?;
//! shop.execute_batch("CREATE DATABASE shop; USE shop")?;
//! shop.execute("CREATE TABLE goods (id INT PRIMARY KEY AUTO_INCREMENT, name TEXT)", ())?;
//! let done = shop.execute("INSERT INTO goods (name) VALUES (?), (?)", ("tea", "rice"))?;
//! assert_eq!((done.affected_rows, done.last_insert_id), (2, 1));
//!
//! let goods: Vec<(i64, String)> = shop.query("SELECT id, name FROM goods ORDER BY id", ())?;
//! assert_eq!(goods, [(1, "tea".to_owned()), (2, "rice".to_owned())]);
//! # Ok(())
//! # }
//! ```
//!
//! - Rows become tuples, single values or a type that implements [`FromRow`]; cells become what
//!   implements [`FromValue`]. NULL needs an `Option`.
//! - A statement with parameters is prepared once and kept by its connection.
//!   [`Connection::prepare`] gives a handle to one.
//! - [`Connection::for_each`] takes rows one by one while they are read; the result is never held
//!   whole.
//! - [`SharedConnection`] is for bindings of other languages: it has several owners, and its
//!   [`Results`] are pulled.
//! - [`Connection::transaction`] commits when its closure succeeds and rolls back when it fails.
//! - Every commit is durable when its call returns, as in the server.
//! - Errors carry MySQL's number, SQLSTATE and text: [`Error`].
//! - `Database::serve` opens the same database to MySQL clients while the program runs (feature
//!   `server`).
//!
//! A program depends on the library without the rest of Inia by
//! `inia = { …, default-features = false }`, with `features = ["server"]` where it serves clients.

mod connection;
mod convert;
mod database;
mod error;
mod params;
mod processes;
mod results;
mod row;
mod rows;
#[cfg(feature = "server")]
mod serve;
mod shared;
mod sink;
mod statement;
#[cfg(test)]
mod tests;
mod transaction;

pub use connection::{Connection, Outcome, Warning};
pub use convert::{FromRow, FromValue, ToValue};
pub use database::{Database, Options, Template};
pub use error::{Error, ErrorKind, Result};
pub use inia_base::decimal::Decimal;
pub use inia_base::temporal::{Date, DateTime, Time};
pub use inia_base::value::Value;
pub use inia_sql::KillHandle;
pub use params::Params;
pub use results::Results;
pub use row::{Column, ColumnIndex, ColumnKind, Row, ValueRef};
pub use rows::Rows;
#[cfg(feature = "server")]
pub use serve::RunningServer;
pub use shared::{Fetch, SharedConnection, SharedStatement};
pub use statement::Statement;
pub use transaction::Transaction;
