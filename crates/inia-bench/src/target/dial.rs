//! Connecting, with an end to waiting: for a host that does not answer, and for a program that
//! listens but says nothing the protocol knows.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// How long a server may take to let the first client in.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// How long where thousands come at once.
pub(super) const CROWD: Duration = Duration::from_secs(120);

/// A connection whose small messages are sent at once.
pub(super) fn tcp(host: &str, port: u16, patience: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, patience) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// What to say of a server that was asked to let a client in and has not answered.
pub(super) fn silent(patience: Duration, protocol: &str) -> String {
    let seconds = patience.as_secs_f64();
    format!("no answer in {seconds} s: is it a server of {protocol}'s protocol?")
}

/// Whether an error is that of a wait that was too long.
pub(super) fn timed_out(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
