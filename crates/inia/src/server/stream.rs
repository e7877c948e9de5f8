//! A client's byte stream: TCP or Unix socket, plain or under TLS.

use super::deferred::DeferredReply;
use super::tls;
use inia_base::io::send_now;
use inia_wire::caps::Capabilities;
use inia_wire::compress::{Channel, Method};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A client that does not take its reply for so long is given up.
const WRITE_TIMEOUT: Duration = Duration::from_secs(60);

/// An accepted socket; shared so that other threads can shut it.
pub(crate) struct Socket {
    kind: SocketKind,
    /// Bytes written and read, each by one thread at a time.
    sent: AtomicU64,
    received: AtomicU64,
}

enum SocketKind {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl From<TcpStream> for Socket {
    fn from(stream: TcpStream) -> Socket {
        Socket::new(SocketKind::Tcp(stream))
    }
}

impl From<UnixStream> for Socket {
    fn from(stream: UnixStream) -> Socket {
        Socket::new(SocketKind::Unix(stream))
    }
}

impl Socket {
    fn new(kind: SocketKind) -> Socket {
        Socket { kind, sent: AtomicU64::new(0), received: AtomicU64::new(0) }
    }

    /// Bytes sent and received so far.
    pub(crate) fn traffic(&self) -> (u64, u64) {
        (self.sent.load(Ordering::Relaxed), self.received.load(Ordering::Relaxed))
    }

    /// Prepares the socket: small packets go out at once, dead peers are noticed.
    pub(crate) fn prepare(&self) -> io::Result<()> {
        match &self.kind {
            SocketKind::Tcp(stream) => {
                stream.set_nodelay(true)?;
                stream.set_write_timeout(Some(WRITE_TIMEOUT))
            }
            SocketKind::Unix(stream) => stream.set_write_timeout(Some(WRITE_TIMEOUT)),
        }
    }

    /// The client's host as accounts name it.
    pub(crate) fn host(&self) -> String {
        match &self.kind {
            SocketKind::Tcp(stream) => match stream.peer_addr() {
                Ok(address) if address.ip().to_canonical().is_loopback() => "localhost".to_owned(),
                Ok(address) => address.ip().to_canonical().to_string(),
                Err(_) => String::new(),
            },
            SocketKind::Unix(_) => "localhost".to_owned(),
        }
    }

    /// The client's port, for the process list.
    pub(crate) fn port(&self) -> Option<u16> {
        match &self.kind {
            SocketKind::Tcp(stream) => stream.peer_addr().ok().map(|address| address.port()),
            SocketKind::Unix(_) => None,
        }
    }

    /// Whether no third party can read along.
    pub(crate) fn is_local(&self) -> bool {
        matches!(self.kind, SocketKind::Unix(_))
    }

    /// Lets a blocked read return as if the client had left; what is written still goes out.
    pub(crate) fn stop_reading(&self) {
        let _ = match &self.kind {
            SocketKind::Tcp(stream) => stream.shutdown(Shutdown::Read),
            SocketKind::Unix(stream) => stream.shutdown(Shutdown::Read),
        };
    }

    /// Ends both directions: reads return, writes fail, and the client sees the connection closed.
    pub(crate) fn stop(&self) {
        let _ = match &self.kind {
            SocketKind::Tcp(stream) => stream.shutdown(Shutdown::Both),
            SocketKind::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }

    /// Ends the sending side and drops what still arrives for a moment, so that the client reads
    /// the last reply before it sees the connection closed.
    pub(crate) fn linger(&self) {
        const MOMENT: Option<Duration> = Some(Duration::from_secs(2));
        const MOST: usize = 256 << 20;
        let half_closed = match &self.kind {
            SocketKind::Tcp(stream) => {
                stream.set_read_timeout(MOMENT).and_then(|()| stream.shutdown(Shutdown::Write))
            }
            SocketKind::Unix(stream) => {
                stream.set_read_timeout(MOMENT).and_then(|()| stream.shutdown(Shutdown::Write))
            }
        };
        let mut dropped = 0;
        let mut buf = [0; 16 * 1024];
        while half_closed.is_ok() && dropped < MOST {
            match self.read(&mut buf) {
                Ok(0) | Err(_) => return,
                Ok(n) => dropped += n,
            }
        }
    }

    fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
        let read = match &self.kind {
            SocketKind::Tcp(stream) => (&*stream).read(buf),
            SocketKind::Unix(stream) => (&*stream).read(buf),
        };
        add(&self.received, &read);
        read
    }

    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &self.kind {
            SocketKind::Tcp(stream) => (&*stream).write(bytes),
            SocketKind::Unix(stream) => (&*stream).write(bytes),
        };
        add(&self.sent, &written);
        written
    }
}

impl Socket {
    /// Writes everything, by one thread at a time.
    pub(crate) fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(sent) => bytes = &bytes[sent..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes what the socket takes without waiting; `WouldBlock` where it takes nothing.
    pub(crate) fn send_now(&self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &self.kind {
            SocketKind::Tcp(stream) => send_now(stream, bytes),
            SocketKind::Unix(stream) => send_now(stream, bytes),
        };
        add(&self.sent, &written);
        written
    }
}

/// One writer at a time needs no atomic addition.
#[inline]
fn add(counter: &AtomicU64, moved: &io::Result<usize>) {
    if let Ok(bytes) = moved {
        counter.store(counter.load(Ordering::Relaxed) + *bytes as u64, Ordering::Relaxed);
    }
}

/// The socket as a reader and writer, with bytes that were read too early put in front.
pub(crate) struct SharedSocket {
    socket: Arc<Socket>,
    early: Vec<u8>,
}

impl Read for SharedSocket {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.early.is_empty() {
            return self.socket.read(buf);
        }
        let n = self.early.len().min(buf.len());
        buf[..n].copy_from_slice(&self.early[..n]);
        self.early.drain(..n);
        Ok(n)
    }
}

impl Write for SharedSocket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

type TlsStream = rustls::StreamOwned<rustls::ServerConnection, SharedSocket>;

/// What a connection's bytes go through before they are compressed or not.
pub(crate) enum Transport {
    Plain(Arc<Socket>),
    Tls(Box<TlsStream>),
}

impl Transport {
    fn tls_names(&self) -> Option<(String, String)> {
        let Transport::Tls(stream) = self else { return None };
        let version = stream.conn.protocol_version()?;
        let suite = stream.conn.negotiated_cipher_suite()?.suite();
        Some(tls::names(version, suite))
    }
}

impl Read for Transport {
    #[inline]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Transport::Plain(socket) => socket.read(buf),
            Transport::Tls(stream) => match stream.read(buf) {
                // The client closed without TLS's goodbye.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
                other => other,
            },
        }
    }
}

impl Write for Transport {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Transport::Plain(socket) => socket.write(bytes),
            Transport::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Transport::Plain(_) => Ok(()),
            Transport::Tls(stream) => stream.flush(),
        }
    }
}

/// What a connection reads from and writes to.
pub(crate) struct Stream {
    channel: Channel<Transport>,
    tls: bool,
    /// What another thread writes to the socket, once there was such a reply.
    deferred: Option<Arc<DeferredReply>>,
}

impl Stream {
    /// The socket as it is.
    pub(crate) fn plain(socket: Arc<Socket>) -> Stream {
        Stream { channel: Channel::new(Transport::Plain(socket)), tls: false, deferred: None }
    }

    /// Starts TLS on the socket; `early` are bytes of the client that were already read.
    pub(crate) fn tls(
        socket: Arc<Socket>,
        early: Vec<u8>,
        config: Arc<rustls::ServerConfig>,
    ) -> Result<Stream, rustls::Error> {
        let connection = rustls::ServerConnection::new(config)?;
        let shared = SharedSocket { socket, early };
        let stream = Box::new(rustls::StreamOwned::new(connection, shared));
        let channel = Channel::new(Transport::Tls(stream));
        Ok(Stream { channel, tls: true, deferred: None })
    }

    /// Whether the bytes are encrypted.
    pub(crate) fn is_tls(&self) -> bool {
        self.tls
    }

    /// Protocol and cipher of TLS, as MySQL names them.
    pub(crate) fn tls_names(&self) -> Option<(String, String)> {
        self.channel.stream_ref().tls_names()
    }

    /// Compresses everything from here on.
    pub(crate) fn compress(&mut self, method: Method, max_packet: usize) {
        self.channel.compress(method, max_packet);
    }

    /// Reads what is there; blocks only while there is nothing.
    #[inline]
    pub(crate) fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.channel.read(buf)
    }

    /// Writes everything, normally by one system call.
    #[inline]
    pub(crate) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(deferred) = &self.deferred {
            deferred.wait();
        }
        self.channel.write_all(bytes)
    }

    /// Where a reply may be left to another thread, with none in it. `None` where the bytes are
    /// encrypted or compressed: only this thread has what that takes.
    pub(crate) fn deferred(&mut self, caps: Capabilities) -> Option<Arc<DeferredReply>> {
        let Transport::Plain(socket) = self.channel.stream_ref() else { return None };
        if self.channel.is_compressed() {
            return None;
        }
        let new = || Arc::new(DeferredReply::new(socket.clone(), caps));
        let deferred = self.deferred.get_or_insert_with(new);
        deferred.wait();
        Some(Arc::clone(deferred))
    }
}

impl inia_wire::Flush for Stream {
    fn flush(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        let result = self.write_all(bytes);
        bytes.clear();
        result
    }

    fn receive(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.read(buf)
    }
}
