//! What a statement cannot keep in memory.
//!
//! Every operator that gathers rows may hold [`Workspace::budget`] bytes, and no more than its
//! session and the server have left ([`Grant`]); what goes beyond waits in
//! a scratch file, which has no name and ends with its handle, also after an error or a kill. All
//! of them share three tools:
//!
//! - a [`Stream`] is a sequence of records, in memory up to a block, then in the file; many streams
//!   share one file;
//! - [`Partitions`] spread records over streams by the hash of a key, so that each stream's keys
//!   are its own: it can be worked off by itself, as if the other keys did not exist;
//! - [`Runs`] are sorted streams, merged when they are read.
//!
//! Every record that is written or read asks whether the statement was killed, so no pass over a
//! file can outlast a KILL.
//!
//! Operators that look keys up (GROUP BY, DISTINCT, UNION) go on with the keys that they have when
//! their memory is used up, and put rows of *other* keys aside. For `a b a c b c d a` and memory
//! for two keys `a b a b a` are worked off at once, then `c c` and `d` in further passes. Each
//! pass takes at least one key in, so it ends whatever the budget; no state of a group is ever
//! written, only rows.

mod chunk;
mod distinct;
mod grant;
mod keys;
mod list;
mod partition;
mod records;
mod runs;
mod stream;
#[cfg(test)]
mod tests;
mod values;

use crate::interrupt::Interrupt;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::io::Disk;
use inia_base::memory::SessionMemory;
use inia_base::value::Value;
use std::io;

pub use chunk::RecordChunk;
pub(crate) use distinct::Distinct;
pub use grant::Grant;
pub(crate) use keys::KeySet;
pub(crate) use list::{TupleList, TuplePosition};
pub(crate) use partition::{FANOUT, Partitions, keyed, place_of, split_keyed};
pub use records::{RecordSorter, SortedRecords};
pub(crate) use runs::Runs;
pub(crate) use stream::{Stream, StreamReader};
pub(crate) use values::{decode_tuple, encode_tuple};

type Result<T> = std::result::Result<T, SqlError>;

/// A finished row of a query: visible values, then hidden ones.
pub(crate) type Tuple = Vec<Value>;

/// Operators hold rows ready to hand, not packed: about so many times their size in a table.
const UNPACKED: usize = 4;

/// What scratch files are called in messages.
const NAME: &str = "#sql-scratch";

/// Where a statement's operators put what they cannot hold, and how much each may hold.
#[derive(Clone, Copy)]
pub struct Workspace<'w> {
    disk: &'w dyn Disk,
    /// Bytes that one operator may hold in memory.
    pub budget: usize,
    interrupt: Option<Interrupt<'w>>,
    /// Where operators take their memory from; without it only `budget` counts.
    memory: Option<&'w SessionMemory>,
}

impl<'w> Workspace<'w> {
    /// A workspace for the setting `tmp_table_size`.
    pub(crate) fn new(disk: &'w dyn Disk, tmp_table_size: usize) -> Workspace<'w> {
        Workspace::within(disk, tmp_table_size.saturating_mul(UNPACKED).min(1 << 30))
    }

    /// A workspace whose operators may hold so many bytes.
    pub fn within(disk: &'w dyn Disk, budget: usize) -> Workspace<'w> {
        Workspace { disk, budget, interrupt: None, memory: None }
    }

    /// The workspace of a statement that can be ended.
    pub fn until(self, interrupt: Interrupt<'w>) -> Workspace<'w> {
        Workspace { interrupt: Some(interrupt), ..self }
    }

    /// The same with another budget.
    pub fn with_budget(self, budget: usize) -> Workspace<'w> {
        Workspace { budget, ..self }
    }

    /// The workspace of a session, whose operators share its memory.
    pub fn from(self, memory: &'w SessionMemory) -> Workspace<'w> {
        Workspace { memory: Some(memory), ..self }
    }

    /// Fails when the statement is to end. Each record that goes to a scratch file or comes from
    /// there asks this.
    #[inline]
    pub(crate) fn check(&self) -> Result<()> {
        self.interrupt.map_or(Ok(()), Interrupt::check)
    }
}

/// What a scratch file stands for; decides the error of a full device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Rows to be sorted or joined.
    File,
    /// Rows of an intermediate table.
    Table,
    /// Records of an index that is being built.
    Index,
}

impl Purpose {
    fn write_failed(self, error: &io::Error) -> SqlError {
        if self == Purpose::Table && error.kind() == io::ErrorKind::StorageFull {
            return SqlError::new(ErrorCode::RecordFileFull, &[&NAME]);
        }
        if self == Purpose::Index {
            return SqlError::new(ErrorCode::TempFileWriteFailure, &[]);
        }
        failed(ErrorCode::FileWrite, error)
    }
}

fn read_failed(error: &io::Error) -> SqlError {
    failed(ErrorCode::FileRead, error)
}

/// A record is not what was written.
fn damaged() -> SqlError {
    read_failed(&io::ErrorKind::InvalidData.into())
}

fn failed(code: ErrorCode, error: &io::Error) -> SqlError {
    let number = error.raw_os_error().unwrap_or(0);
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    SqlError::new(code, &[&NAME, &number, &text])
}

/// About how many bytes values take in memory.
pub(crate) fn held(values: &[Value]) -> usize {
    let own = |value: &Value| match value {
        Value::Text(text) | Value::Json(text) => text.capacity(),
        Value::Bytes(bytes) => bytes.capacity(),
        _ => 0,
    };
    size_of_val(values) + values.iter().map(own).sum::<usize>()
}

/// About how many bytes an entry of a hash table takes beside what it points to.
pub(crate) const ENTRY: usize = 64;
