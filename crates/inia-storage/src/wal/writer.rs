//! The log writer: the thread that flushes for commits whose own threads do not wait.

use super::Wal;
use crate::Result;
use std::sync::Arc;
use std::thread::JoinHandle;

/// The running log writer. It holds the log, and ends when this is dropped.
pub(crate) struct LogWriter {
    wal: Arc<Wal>,
    thread: Option<JoinHandle<()>>,
}

impl LogWriter {
    /// Starts the thread for a log that is open for appending.
    pub(crate) fn start(wal: &Arc<Wal>) -> Result<LogWriter> {
        let mut writer = LogWriter { wal: Arc::clone(wal), thread: None };
        writer.wal.commits.start_writer();
        let wal = Arc::clone(wal);
        let thread = std::thread::Builder::new().name("inia-log".into());
        writer.thread = Some(thread.spawn(move || wal.commits.run_writer(&*wal))?);
        Ok(writer)
    }
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        self.wal.commits.stop_writer();
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported on its own.
            let _ = thread.join();
        }
    }
}
