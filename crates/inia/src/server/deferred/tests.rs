use super::*;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::thread;

/// A connection and its client's end.
fn connection() -> (Arc<DeferredReply>, UnixStream) {
    let (socket, client) = UnixStream::pair().unwrap();
    let socket = Arc::new(Socket::from(socket));
    (Arc::new(DeferredReply::new(socket, Capabilities::CLIENT)), client)
}

/// An OK packet, the second of its command.
const OK: [u8; 11] = [7, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0];

#[test]
fn a_reply_leaves_when_it_is_durable_and_the_next_one_may_be_held_then() {
    let (reply, mut client) = connection();
    for _ in 0..3 {
        reply.hold(&OK);
        reply.clone().done(Ok(()));
        reply.wait();
        let mut received = [0; OK.len()];
        client.read_exact(&mut received).unwrap();
        assert_eq!(received, OK);
    }
}

#[test]
fn a_reply_that_is_taken_back_is_not_sent() {
    let (reply, mut client) = connection();
    reply.hold(&OK);
    reply.take_back();
    reply.wait();
    drop(reply);
    assert_eq!(client.read_to_end(&mut Vec::new()).unwrap(), 0);
}

#[test]
fn an_error_takes_the_place_of_a_reply_that_never_becomes_durable() {
    let (reply, mut client) = connection();
    reply.hold(&OK);
    reply.clone().done(Err(StorageError::Stopped("no disk".into())));
    drop(reply);
    let mut received = Vec::new();
    client.read_to_end(&mut received).unwrap();
    // The length, the sequence number of the reply, and what begins an error of number 1030.
    assert_eq!(received[3..7], [1, 0xff, 6, 4]);
    assert_eq!(usize::from(received[0]), received.len() - 4);
}

#[test]
fn a_client_that_does_not_read_keeps_nobody_but_its_own_connection() {
    let (reply, mut client) = connection();
    let long = vec![1; 8 << 20];
    reply.hold(&long);
    // This thread is the one that serves all commits: it comes back although nobody reads.
    reply.clone().done(Ok(()));
    assert!(reply.held.load(Ordering::Relaxed));
    let reader = thread::spawn(move || {
        let mut received = vec![0; 8 << 20];
        client.read_exact(&mut received).unwrap();
        received
    });
    reply.wait();
    assert!(reader.join().unwrap() == long);
}

#[test]
fn a_client_that_has_left_ends_the_wait() {
    let (reply, client) = connection();
    drop(client);
    reply.hold(&OK);
    reply.clone().done(Ok(()));
    reply.wait();
}
