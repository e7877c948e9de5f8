//! When a reply may leave: what it says has to be durable first.
//!
//! A session either waits for that at a statement's end, or it only notes how far the log must be
//! durable. Then its caller holds the reply back until then, and can do other work meanwhile: the
//! server's connections read their next requests.
//!
//! A transaction gives up its locks when its record is in the log buffer, so there is a moment in
//! which no snapshot shows its changes yet and no lock keeps others away from them. A session
//! that locks a table against writers waits that moment out ([`SessionContext::wait_for_commits`]):
//! ALTER TABLE copies rows from a snapshot.

use super::SessionContext;
use crate::error::{StorageResult, commit_error};
use inia_base::error::SqlError;
use inia_base::ids::Lsn;
use inia_storage::OnDurable;
use std::sync::Arc;

/// What the session's last reply waits for.
#[derive(Clone, Copy, Debug)]
pub struct ReplyWait {
    /// The caller holds replies back.
    pub deferred: bool,
    /// The log must be durable up to here; zero where nothing is to be waited for.
    until: Lsn,
}

impl Default for ReplyWait {
    fn default() -> ReplyWait {
        ReplyWait { deferred: false, until: Lsn(0) }
    }
}

impl ReplyWait {
    /// Whether the reply may be sent at once.
    #[inline]
    pub fn is_over(self) -> bool {
        self.until == Lsn(0)
    }

    fn note(&mut self, lsn: Lsn) {
        self.until = self.until.max(lsn);
    }
}

impl SessionContext {
    /// Commits the storage transaction.
    pub(super) fn commit_txn(&mut self) -> Result<(), SqlError> {
        let txn = self.txn.get_mut();
        if !self.state.reply.deferred || txn.leaves_much_to_purge() {
            return txn.commit().map_err(commit_error);
        }
        let end = txn.commit_deferred().map_err(commit_error)?;
        self.state.reply.note(end);
        Ok(())
    }

    /// What a statement has met of other transactions is to be durable before its reply is sent.
    pub(super) fn settle_statement(&mut self) -> Result<(), SqlError> {
        let txn = self.txn.get_mut();
        if !self.state.reply.deferred {
            return txn.settle().sql();
        }
        self.state.reply.note(txn.settle_later());
        Ok(())
    }

    /// Waits until the last reply may be sent.
    pub fn settle_reply(&mut self) -> Result<(), SqlError> {
        let until = std::mem::replace(&mut self.state.reply.until, Lsn(0));
        self.db.engine.wait_durable(until).map_err(commit_error)
    }

    /// Has `sender` called when the last reply may be sent; false says that it may be sent now.
    pub fn notify_reply(&mut self, sender: &Arc<dyn OnDurable>) -> Result<bool, SqlError> {
        let until = self.state.reply.until;
        let later = self.txn.get_mut().notify_durable(until, sender).map_err(commit_error)?;
        if !later {
            self.state.reply.until = Lsn(0);
        }
        Ok(later)
    }

    /// Waits until snapshots show all that other sessions have committed so far.
    pub fn wait_for_commits(&self) -> Result<(), SqlError> {
        self.db.engine.wait_for_commits().sql()
    }
}
