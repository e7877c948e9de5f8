//! What a socket takes without waiting.

use super::send_now;
use std::io::{ErrorKind, Read};
use std::os::unix::net::UnixStream;

#[test]
fn sending_stops_where_the_socket_is_full_and_goes_on_when_it_is_read() {
    let (socket, mut peer) = UnixStream::pair().unwrap();
    let bytes = vec![7; 1 << 20];
    let mut sent = 0;
    let full = loop {
        match send_now(&socket, &bytes) {
            Ok(n) => sent += n,
            Err(error) => break error,
        }
    };
    assert_eq!(full.kind(), ErrorKind::WouldBlock);
    let mut received = vec![0; sent];
    peer.read_exact(&mut received).unwrap();
    assert!(send_now(&socket, &bytes).unwrap() > 0);
}
