//! The rows of `mysql.general_log` and `mysql.slow_log`: records in a file of the database's disk.
//!
//! A record is the number of its fields and then each field, all lengths in four bytes with the
//! least one first. Rows are appended and never synced, as those of MySQL's log tables; an opening
//! cuts off a record that is not whole.

use inia_base::io::{Disk, DiskFile};
use parking_lot::Mutex;
use std::io;
use std::sync::Arc;

/// A field is cut beyond this.
const MAX_FIELD: usize = 16 << 20;

/// The rows of one table.
pub(super) struct LogTable {
    disk: Arc<dyn Disk>,
    name: &'static str,
    state: Mutex<Option<Opened>>,
}

struct Opened {
    file: Arc<dyn DiskFile>,
    end: u64,
}

impl LogTable {
    pub(super) fn new(disk: &Arc<dyn Disk>, name: &'static str) -> LogTable {
        LogTable { disk: disk.clone(), name, state: Mutex::new(None) }
    }

    /// Does something with the file, which is there from now on if `create` says so.
    fn with<R>(
        &self,
        create: bool,
        work: impl FnOnce(&mut Opened) -> io::Result<R>,
    ) -> io::Result<Option<R>> {
        let mut state = self.state.lock();
        if state.is_none() {
            let there = create || self.disk.list()?.iter().any(|name| name == self.name);
            if !there {
                return Ok(None);
            }
            let file = self.disk.open(self.name, true)?;
            let (_, end) = read(&*file)?;
            file.set_len(end)?;
            *state = Some(Opened { file, end });
        }
        state.as_mut().map(work).transpose()
    }

    /// Appends a row. One that cannot be written is lost: its statement has been carried out.
    pub(super) fn push(&self, fields: &[Vec<u8>]) {
        let mut record = (fields.len() as u32).to_le_bytes().to_vec();
        for field in fields {
            let field = &field[..field.len().min(MAX_FIELD)];
            record.extend_from_slice(&(field.len() as u32).to_le_bytes());
            record.extend_from_slice(field);
        }
        let _ = self.with(true, |opened| {
            opened.file.write_at(&record, opened.end)?;
            opened.end += record.len() as u64;
            Ok(())
        });
    }

    /// All rows, in the order of their writing; none where the file cannot be read.
    pub(super) fn rows(&self) -> Vec<Vec<Vec<u8>>> {
        let found = self.with(false, |opened| read(&*opened.file));
        found.ok().flatten().map_or_else(Vec::new, |(rows, _)| rows)
    }

    /// Forgets all rows.
    pub(super) fn clear(&self) -> io::Result<()> {
        self.with(false, |opened| {
            opened.file.set_len(0)?;
            opened.end = 0;
            Ok(())
        })
        .map(|_| ())
    }
}

/// The whole records of a file, and where they end.
fn read(file: &dyn DiskFile) -> io::Result<(Vec<Vec<Vec<u8>>>, u64)> {
    let mut bytes = vec![0; usize::try_from(file.len()?).unwrap_or(0)];
    file.read_at(&mut bytes, 0)?;
    let (mut rows, mut rest) = (Vec::new(), &bytes[..]);
    while let Some((row, after)) = record(rest) {
        rows.push(row);
        rest = after;
    }
    Ok((rows, (bytes.len() - rest.len()) as u64))
}

fn record(bytes: &[u8]) -> Option<(Vec<Vec<u8>>, &[u8])> {
    const MAX_FIELDS: u32 = 16;
    let (count, mut rest) = number(bytes)?;
    if count == 0 || count > MAX_FIELDS {
        return None;
    }
    let mut fields = Vec::new();
    for _ in 0..count {
        let (length, after) = number(rest)?;
        let (field, after) = after.split_at_checked(length as usize)?;
        fields.push(field.to_vec());
        rest = after;
    }
    Some((fields, rest))
}

fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*head), rest))
}
