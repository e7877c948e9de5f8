//! A longer queue of clients that wait to be accepted than the standard library asks for.
//!
//! With its 128 places a thousand clients that connect at once overflow the queue: the kernel then
//! drops the end of their handshakes, and a client that believes to be connected waits for a
//! greeting until the kernel gives up and resets the connection.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Lets so many clients wait at a socket that listens already; the kernel may allow fewer.
pub fn lengthen_queue(listener: &impl AsFd, places: i32) -> io::Result<()> {
    // SAFETY: a system call that reads no memory, on a descriptor that is borrowed and so open.
    let result = unsafe { libc::listen(listener.as_fd().as_raw_fd(), places) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
