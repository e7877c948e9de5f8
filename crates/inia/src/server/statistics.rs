//! What is counted of connections. Logins and ends of connections count, requests do not.

use inia_base::process::ServerCounts;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Counts since the start.
///
/// Wide: one field for each thing that is counted.
#[derive(Default)]
pub(crate) struct Statistics {
    most: AtomicU64,
    most_at: AtomicU64,
    aborted_clients: AtomicU64,
    aborted_connects: AtomicU64,
    refused: AtomicU64,
    locked: AtomicU64,
    accept_errors: AtomicU64,
    internal_errors: AtomicU64,
    tls_accepts: AtomicU64,
    /// Of connections that are gone.
    sent: AtomicU64,
    received: AtomicU64,
}

fn one_more(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Statistics {
    /// There are so many connections. Only one thread at a time calls this.
    pub(super) fn note_connections(&self, count: usize) {
        if count as u64 > self.most.load(Ordering::Relaxed) {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs());
            self.most.store(count as u64, Ordering::Relaxed);
            self.most_at.store(now, Ordering::Relaxed);
        }
    }

    /// A client left without saying so.
    pub(super) fn note_aborted_client(&self) {
        one_more(&self.aborted_clients);
    }

    /// A login failed.
    pub(super) fn note_aborted_connect(&self) {
        one_more(&self.aborted_connects);
    }

    /// A connection was one too many.
    pub(super) fn note_refused(&self) {
        one_more(&self.refused);
        self.note_aborted_connect();
    }

    /// A login was to an account that is locked.
    pub(super) fn note_locked(&self) {
        one_more(&self.locked);
    }

    /// A connection could not be accepted.
    pub(super) fn note_accept_error(&self) {
        one_more(&self.accept_errors);
    }

    /// A connection got no thread.
    pub(super) fn note_internal_error(&self) {
        one_more(&self.internal_errors);
    }

    /// A connection started TLS.
    pub(super) fn note_tls(&self) {
        one_more(&self.tls_accepts);
    }

    /// A connection is gone; its bytes sent and received.
    pub(super) fn note_traffic(&self, (sent, received): (u64, u64)) {
        self.sent.fetch_add(sent, Ordering::Relaxed);
        self.received.fetch_add(received, Ordering::Relaxed);
    }

    /// All of it; `threads` were made, `live` is the traffic of the connections that there are.
    pub(super) fn counts(&self, threads: u64, live: (u64, u64)) -> ServerCounts {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ServerCounts {
            threads_created: threads,
            most_connections: load(&self.most),
            most_connections_at: load(&self.most_at),
            aborted_clients: load(&self.aborted_clients),
            aborted_connects: load(&self.aborted_connects),
            refused: load(&self.refused),
            locked: load(&self.locked),
            accept_errors: load(&self.accept_errors),
            internal_errors: load(&self.internal_errors),
            tls_accepts: load(&self.tls_accepts),
            traffic: (load(&self.sent) + live.0, load(&self.received) + live.1),
        }
    }
}
