//! The shop's corner of HTTP: what one end sends, the other understands.
#![allow(clippy::unwrap_used)]

use super::http::Wire;
use std::net::{TcpListener, TcpStream};

#[test]
fn a_page_arrives_as_it_was_sent_and_the_connection_stays() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let shop = std::thread::spawn(move || {
        let mut wire = Wire::new(listener.accept().unwrap().0).unwrap();
        let mut asked = Vec::new();
        while let Some(path) = wire.request().unwrap() {
            wire.reply("200 OK", &format!("page of {path} ✓")).unwrap();
            asked.push(path);
        }
        asked
    });
    let mut wire = Wire::new(TcpStream::connect(address).unwrap()).unwrap();
    assert_eq!(wire.get("/").unwrap(), (200, "page of / ✓".to_owned()));
    assert_eq!(wire.get("/book?id=7").unwrap(), (200, "page of /book?id=7 ✓".to_owned()));
    drop(wire);
    assert_eq!(shop.join().unwrap(), ["/", "/book?id=7"]);
}

#[test]
fn shares_of_the_sequences_add_up() {
    assert_eq!(super::SEQUENCES.iter().map(|(_, share)| share).sum::<u64>(), 100);
}
