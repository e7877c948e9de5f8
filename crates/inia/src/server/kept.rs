//! What a cursor keeps: rows as packets, the first ones in memory, the others in a scratch file.
//!
//! Invariant: at most `limit` bytes are in memory, and no more than the server's budget has left;
//! what is in the file came after them.

use super::backend::ClientSession;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::io::DiskFile;
use inia_base::memory::MemoryShare;
use inia_wire::Flush;
use inia_wire::cursor::Kept;
use inia_wire::error::ServerError;
use std::io;
use std::sync::Arc;

/// What the file is called in messages.
const NAME: &str = "#sql-scratch";

/// Makes the file when it is needed; `None` where there is no disk.
type Scratch = Box<dyn Fn() -> Option<io::Result<Arc<dyn DiskFile>>> + Send>;

/// The packets of one reply.
pub(crate) struct KeptRows {
    limit: usize,
    share: MemoryShare,
    scratch: Scratch,
    memory: Vec<u8>,
    /// The file, and how much is in it.
    file: Option<(Arc<dyn DiskFile>, u64)>,
    /// Why something could not be written.
    failed: Option<SqlError>,
}

impl KeptRows {
    /// Keeps nothing yet, and then up to `limit` bytes in memory.
    pub(crate) fn new(limit: usize, scratch: Scratch) -> KeptRows {
        let share = MemoryShare::default();
        KeptRows { limit, share, scratch, memory: Vec::new(), file: None, failed: None }
    }

    /// Keeps what a session's cursor gives, under its settings.
    pub(crate) fn of(session: &dyn ClientSession) -> KeptRows {
        let maker = session.scratch();
        let scratch = Box::new(move || maker.as_ref().map(|disk| disk.scratch()));
        let share = MemoryShare::of(session.memory());
        KeptRows { share, ..KeptRows::new(session.result_memory(), scratch) }
    }

    /// The error of a statement whose rows could not be kept.
    pub(crate) fn error(&mut self, other: SqlError) -> SqlError {
        self.failed.take().unwrap_or(other)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.file.is_none() {
            let len = self.memory.len() + bytes.len();
            if len <= self.limit && self.share.covers(len as u64) {
                self.memory.extend_from_slice(bytes);
                return Ok(());
            }
            match (self.scratch)() {
                Some(file) => self.file = Some((file?, 0)),
                None => {
                    self.memory.extend_from_slice(bytes);
                    return Ok(());
                }
            }
        }
        if let Some((file, len)) = &mut self.file {
            file.write_at(bytes, *len)?;
            *len += bytes.len() as u64;
        }
        Ok(())
    }
}

impl Flush for KeptRows {
    fn flush(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        let result = self.append(bytes);
        bytes.clear();
        if let Err(error) = &result {
            self.failed = Some(failed(ErrorCode::FileWrite, error));
        }
        result
    }
}

impl Kept for KeptRows {
    fn len(&self) -> u64 {
        self.memory.len() as u64 + self.file.as_ref().map_or(0, |(_, len)| *len)
    }

    fn read(&self, at: u64, buf: &mut [u8]) -> io::Result<()> {
        let held = self.memory.len() as u64;
        let here = usize::try_from(held.saturating_sub(at)).unwrap_or(usize::MAX).min(buf.len());
        let (first, rest) = buf.split_at_mut(here);
        if let Some(start) = usize::try_from(at).ok().filter(|_| here > 0) {
            first.copy_from_slice(&self.memory[start..start + here]);
        }
        if rest.is_empty() {
            return Ok(());
        }
        let (file, _) = self.file.as_ref().ok_or(io::ErrorKind::UnexpectedEof)?;
        file.read_at(rest, (at + here as u64) - held)
    }
}

fn failed(code: ErrorCode, error: &io::Error) -> SqlError {
    if error.kind() == io::ErrorKind::StorageFull {
        return SqlError::new(ErrorCode::RecordFileFull, &[&NAME]);
    }
    let (number, text) = (error.raw_os_error().unwrap_or(0), error.to_string());
    let text = text.split(" (os error").next().unwrap_or_default();
    SqlError::new(code, &[&NAME, &number, &text])
}

/// The error of a fetch whose rows cannot be read again.
pub(crate) fn read_failed(error: &io::Error) -> ServerError {
    ServerError::from(&failed(ErrorCode::FileRead, error))
}

#[cfg(test)]
mod tests;
