//! What the standard library does not offer of sockets.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Lets so many clients wait at a socket that listens already; the kernel may allow fewer.
///
/// With the standard library's 128 places a thousand clients that connect at once overflow the
/// queue: the kernel then drops the end of their handshakes, and a client that believes to be
/// connected waits for a greeting until the kernel gives up and resets the connection.
pub fn lengthen_queue(listener: &impl AsFd, places: i32) -> io::Result<()> {
    // SAFETY: a system call that reads no memory, on a descriptor that is borrowed and so open.
    let result = unsafe { libc::listen(listener.as_fd().as_raw_fd(), places) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Sends as many bytes as the socket takes without waiting; `WouldBlock` where it takes none.
pub fn send_now(socket: &impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: the call reads `bytes.len()` bytes of a slice that outlives it, and writes none; the
    // descriptor is borrowed and so open.
    let sent = unsafe {
        libc::send(socket.as_fd().as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags)
    };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests;
