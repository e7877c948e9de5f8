//! The leaf of the workspace: what three or more crates share, and the seams between them.
//!
//! Nothing here knows SQL statements, pages or packets.

pub mod collation;
pub mod column;
pub mod datatype;
pub mod decimal;
pub mod error;
pub mod ids;
pub mod io;
pub mod json;
pub mod memory;
pub mod number;
pub mod password;
pub mod process;
pub mod rt;
pub mod sql_mode;
pub mod stack;
pub mod temporal;
pub mod times;
pub mod value;
pub mod warm;
