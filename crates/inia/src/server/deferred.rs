//! A reply that is sent when what it says is durable, by the thread that has made it so.
//!
//! The connection's thread leaves its reply here and waits for the next request. So a commit costs
//! it no sleep: one thread sends the replies of all commits that a flush of the log has served.
//!
//! Invariant: from [`DeferredReply::hold`] until the reply is sent or taken back, nobody else
//! writes to the socket. The connection's thread waits for that before it writes
//! ([`DeferredReply::wait`]), which only clients see that send requests ahead of replies.

use super::stream::Socket;
use inia_base::error::SqlError;
use inia_sql::{OnDurable, StorageError, commit_error};
use inia_wire::caps::Capabilities;
use inia_wire::error::ServerError;
use inia_wire::packet::{PacketWriter, first_sequence};
use inia_wire::reply::put_err;
use parking_lot::{Condvar, Mutex};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A longer reply is not left to another thread.
pub(crate) const MAX_DEFERRED: usize = 16 << 10;

/// The reply that a connection has left to another thread, and its socket.
pub(crate) struct DeferredReply {
    socket: Arc<Socket>,
    caps: Capabilities,
    held: AtomicBool,
    /// The packets, from the first that is not sent on.
    packets: Mutex<Vec<u8>>,
    sent: Condvar,
}

impl DeferredReply {
    /// Holds nothing yet.
    pub(crate) fn new(socket: Arc<Socket>, caps: Capabilities) -> DeferredReply {
        let (packets, sent) = (Mutex::default(), Condvar::new());
        DeferredReply { socket, caps, held: AtomicBool::new(false), packets, sent }
    }

    /// Takes a reply of whole packets, one or more.
    pub(crate) fn hold(&self, packets: &[u8]) {
        let mut held = self.packets.lock();
        debug_assert!(held.is_empty(), "a connection has one reply at a time");
        held.extend_from_slice(packets);
        self.held.store(true, Ordering::Relaxed);
    }

    /// Drops the reply, which nobody else is to send any more.
    pub(crate) fn take_back(&self) {
        self.packets.lock().clear();
        self.held.store(false, Ordering::Relaxed);
    }

    /// Waits until no reply is held.
    #[inline]
    pub(crate) fn wait(&self) {
        if self.held.load(Ordering::Acquire) {
            let mut packets = self.packets.lock();
            while self.held.load(Ordering::Relaxed) {
                self.sent.wait(&mut packets);
            }
        }
    }

    /// The reply has left, or never will.
    fn end(&self, packets: &mut Vec<u8>, result: io::Result<()>) {
        if result.is_err() {
            self.socket.stop();
        }
        packets.clear();
        self.held.store(false, Ordering::Release);
        self.sent.notify_one();
    }

    /// Puts an error in the place of the reply.
    fn fail(&self, packets: &mut Vec<u8>, error: &SqlError) {
        let mut out = PacketWriter::new();
        out.set_sequence(first_sequence(packets));
        put_err(out.begin(), &ServerError::from(error), self.caps);
        out.end();
        packets.clear();
        packets.extend_from_slice(out.bytes());
    }

    /// Sends what the socket did not take at once, for as long as it needs.
    fn send_rest(&self) {
        let mut packets = self.packets.lock();
        let result = self.socket.write_all(&packets);
        self.end(&mut packets, result);
    }
}

impl OnDurable for DeferredReply {
    fn done(self: Arc<Self>, result: Result<(), StorageError>) {
        let mut packets = self.packets.lock();
        if let Err(error) = result {
            self.fail(&mut packets, &commit_error(error));
        }
        let sent = match self.socket.send_now(&packets) {
            Ok(sent) => sent,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(error) => return self.end(&mut packets, Err(error)),
        };
        packets.drain(..sent);
        if packets.is_empty() {
            return self.end(&mut packets, Ok(()));
        }
        // A client that sends requests and reads no replies must not stop the others' commits.
        let sender = Arc::clone(&self);
        let thread = std::thread::Builder::new().name("reply".into());
        if let Err(error) = thread.spawn(move || sender.send_rest()) {
            self.end(&mut packets, Err(error));
        }
    }
}

#[cfg(test)]
mod tests;
