//! The write-ahead log.

pub(crate) mod record;

use crate::Result;
use inia_base::ids::Lsn;
use record::LogRecord;

/// The log's tail in memory and its writing to disk.
pub(crate) struct Wal {}

impl Wal {
    /// Appends one record as a group of its own; its end.
    pub(crate) fn append(&self, record: &LogRecord<'_>) -> Lsn {
        self.append_with(record, |_| ())
    }

    /// Appends one record; `publish` runs with its end before any later group can be written and
    /// before [`Wal::closed_lsn`] covers it.
    pub(crate) fn append_with(&self, _record: &LogRecord<'_>, _publish: impl FnOnce(Lsn)) -> Lsn {
        todo!()
    }

    /// Waits until the log is durable up to `lsn`.
    pub(crate) fn wait_durable(&self, _lsn: Lsn) -> Result<()> {
        todo!()
    }

    /// Everything below survives a crash.
    pub(crate) fn durable_lsn(&self) -> Lsn {
        todo!()
    }

    /// End of the log so far: everything below is in the log buffer or on disk, published.
    pub(crate) fn closed_lsn(&self) -> Lsn {
        todo!()
    }
}
