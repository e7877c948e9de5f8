//! Queries and changes of rows: from a syntax tree to the storage engine.
//!
//! A statement's way: [`bind`] gives names their meaning and types, [`plan`] says what is done with
//! rows, `optimize` in which order and by which access paths; [`exec`] and [`dml`] do it, with what
//! [`context`] keeps of the session. Below them are what all sessions share: [`catalog`],
//! [`account`], [`sysvar`] and the rest of a [`database`].
//!
//! Which statement comes next, what it may do, and statements that are neither queries nor changes
//! of rows are the work of the crate above, `inia-sql`.

mod access;
pub mod account;
pub mod bind;
pub mod catalog;
pub mod clock;
pub mod columns;
pub mod computed;
pub mod context;
pub mod database;
pub mod dml;
pub mod error;
pub mod events;
pub mod exec;
pub mod explain;
mod fulltext;
pub mod information;
pub mod information_schema;
pub mod interrupt;
pub mod lock_history;
pub mod note;
pub mod observe;
mod optimize;
pub mod plan;
pub mod planner;
pub mod referenced;
pub mod row;
pub mod spill;
pub mod stack;
pub mod status;
pub mod sysvar;
mod table_def;
pub mod user_locks;
pub mod view;
mod workers;
mod xa;
