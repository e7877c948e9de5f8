//! Sorted runs in a temporary file.
//!
//! The file is removed from its directory as soon as it is open, so it goes with its handle,
//! however the process ends. A run is a sequence of `[key length][row length][key][row]`.

use super::Result;
use inia_base::error::{ErrorCode, SqlError};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicU64, Ordering};

/// How many bytes one operator of a query may hold in memory.
pub(super) const SPILL_LIMIT: usize = 64 << 20;
/// Bytes of a run that are read at once.
const READ_AHEAD: usize = 64 << 10;

/// Numbers the files of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The runs of one sorter.
#[derive(Default)]
pub(super) struct Runs {
    file: Option<File>,
    /// First byte and end of each run.
    runs: Vec<(u64, u64)>,
}

impl Runs {
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Appends a run.
    pub(super) fn write<'r>(
        &mut self,
        sorted: impl Iterator<Item = (&'r [u8], &'r [u8])>,
    ) -> Result<()> {
        let start = self.runs.last().map_or(0, |run| run.1);
        let length = self.write_run(start, sorted).map_err(failed)?;
        self.runs.push((start, start + length));
        Ok(())
    }

    fn write_run<'r>(
        &mut self,
        start: u64,
        sorted: impl Iterator<Item = (&'r [u8], &'r [u8])>,
    ) -> io::Result<u64> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(create()?),
        };
        file.seek(SeekFrom::Start(start))?;
        let mut out = BufWriter::with_capacity(1 << 20, file);
        let mut length = 0;
        for (key, row) in sorted {
            out.write_all(&(key.len() as u32).to_le_bytes())?;
            out.write_all(&(row.len() as u32).to_le_bytes())?;
            out.write_all(key)?;
            out.write_all(row)?;
            length += 8 + key.len() as u64 + row.len() as u64;
        }
        out.flush()?;
        Ok(length)
    }

    /// Merges all runs; rows of equal keys come in the order of their runs.
    pub(super) fn merge(
        self,
        distinct: bool,
        mut visit: impl FnMut(&[u8]) -> Result<bool>,
    ) -> Result<()> {
        let Some(mut file) = self.file else { return Ok(()) };
        let mut readers: Vec<RunReader> =
            self.runs.iter().map(|&(a, b)| RunReader::new(a, b)).collect();
        let mut heap = BinaryHeap::with_capacity(readers.len());
        for (number, reader) in readers.iter_mut().enumerate() {
            if let Some((key, row)) = reader.next(&mut file).map_err(failed)? {
                heap.push(Reverse((key, number, row)));
            }
        }
        let mut last: Option<Vec<u8>> = None;
        while let Some(Reverse((key, number, row))) = heap.pop() {
            if let Some((key, row)) = readers[number].next(&mut file).map_err(failed)? {
                heap.push(Reverse((key, number, row)));
            }
            if distinct && last.as_ref() == Some(&key) {
                continue;
            }
            if !visit(&row)? {
                break;
            }
            last = Some(key);
        }
        Ok(())
    }
}

/// Reads one run.
struct RunReader {
    next: u64,
    end: u64,
    buffer: Vec<u8>,
    at: usize,
}

impl RunReader {
    fn new(next: u64, end: u64) -> RunReader {
        RunReader { next, end, buffer: Vec::new(), at: 0 }
    }

    fn next(&mut self, file: &mut File) -> io::Result<Option<(Vec<u8>, Vec<u8>)>> {
        if self.at == self.buffer.len() && self.next == self.end {
            return Ok(None);
        }
        let key_len = self.length(file)?;
        let row_len = self.length(file)?;
        let key = self.take(key_len, file)?.to_vec();
        let row = self.take(row_len, file)?.to_vec();
        Ok(Some((key, row)))
    }

    fn length(&mut self, file: &mut File) -> io::Result<usize> {
        let bytes = self.take(4, file)?;
        Ok(bytes.iter().rev().fold(0, |all, byte| all << 8 | usize::from(*byte)))
    }

    /// The next `length` bytes.
    fn take(&mut self, length: usize, file: &mut File) -> io::Result<&[u8]> {
        if self.buffer.len() - self.at < length {
            self.buffer.drain(..self.at);
            self.at = 0;
            let missing = length - self.buffer.len();
            let rest = self.end - self.next;
            let more = (missing.max(READ_AHEAD) as u64).min(rest);
            if more < missing as u64 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let old = self.buffer.len();
            self.buffer.resize(old + more as usize, 0);
            file.seek(SeekFrom::Start(self.next))?;
            file.read_exact(&mut self.buffer[old..])?;
            self.next += more;
        }
        self.at += length;
        Ok(&self.buffer[self.at - length..self.at])
    }
}

/// A new file that no name leads to.
fn create() -> io::Result<File> {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("inia-{}-{number}.tmp", std::process::id());
    let path = std::env::temp_dir().join(name);
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

fn failed(error: io::Error) -> SqlError {
    let number = error.raw_os_error().unwrap_or(0);
    SqlError::new(ErrorCode::ErrorOnWrite, &[&"a temporary file", &number, &error])
}
