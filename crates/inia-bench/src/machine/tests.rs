//! This process and this machine, seen from outside.

use super::{family, listening_process, own_cpu, parse_cpus, server_cpu, server_rss};
use crate::target::url::Host;
use std::net::TcpListener;

#[test]
fn a_listening_process_is_found_by_its_port() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let found = listening_process(&Host::Tcp("127.0.0.1".to_owned(), port));
    assert_eq!(found, Some(std::process::id()));
    drop(listener);
    assert_eq!(listening_process(&Host::Tcp("127.0.0.1".to_owned(), port)), None);
}

#[test]
fn this_process_has_time_and_memory() {
    let pid = std::process::id();
    assert!(family(pid).contains(&pid));
    assert!(own_cpu() > 0);
    assert!(server_cpu(pid).unwrap() > 0);
    assert!(server_rss(pid).unwrap() > 1 << 20);
    assert_eq!(server_cpu(u32::MAX / 2), None);
}

#[test]
fn lists_of_processors_are_read() {
    assert_eq!(parse_cpus("0-2,5"), Ok(vec![0, 1, 2, 5]));
    for wrong in ["", "a", "3-1", "0-99999999"] {
        assert!(parse_cpus(wrong).is_err(), "{wrong}");
    }
}
