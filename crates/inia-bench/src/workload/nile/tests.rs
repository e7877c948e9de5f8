//! The shop's corner of HTTP: what one end sends, the other understands.
#![allow(clippy::unwrap_used)]

use super::http::Wire;
use super::shop::Shop;
use crate::target::{Class, Failure, Target};
use crate::testing::{Scripted, cell};
use crate::workload::{Parameters, Setting};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

#[test]
fn a_page_arrives_as_it_was_sent_and_the_connection_stays() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let shop = std::thread::spawn(move || {
        let mut wire = Wire::new(listener.accept().unwrap().0).unwrap();
        let mut asked = Vec::new();
        while let Some(path) = wire.request().unwrap() {
            wire.reply("200 OK", &format!("page of {path} ✓"), 3).unwrap();
            asked.push(path);
        }
        asked
    });
    let mut wire = Wire::new(TcpStream::connect(address).unwrap()).unwrap();
    assert_eq!(wire.get("/").unwrap(), (200, "page of / ✓".to_owned(), 3));
    assert_eq!(wire.get("/book?id=7").unwrap(), (200, "page of /book?id=7 ✓".to_owned(), 3));
    drop(wire);
    assert_eq!(shop.join().unwrap(), ["/", "/book?id=7"]);
}

#[test]
fn shares_of_the_sequences_add_up() {
    assert_eq!(super::SEQUENCES.iter().map(|(_, share)| share).sum::<u64>(), 100);
}

/// The shop tries again by itself; the visitor hears how often.
#[test]
fn a_deadlock_in_the_shop_is_reported_to_the_visitor() {
    let mut deadlocks = 2;
    let target = Arc::new(Scripted::new(move |sql| {
        if sql.starts_with("SELECT book_id") && deadlocks > 0 {
            deadlocks -= 1;
            return Err(Failure::new(Class::Retry, "deadlock"));
        }
        Ok(cell(1))
    }));
    let facts = target.facts().unwrap();
    let setting = Setting {
        target,
        facts,
        parameters: Parameters::default(),
        clients: 1,
        values: 1,
        answers: Arc::default(),
    };
    let shop = Shop::open(&setting, 1, 1).unwrap();
    let mut wire = Wire::new(TcpStream::connect(shop.address()).unwrap()).unwrap();
    let (status, page, retries) = wire.get("/").unwrap();
    assert_eq!((status, retries), (200, 2), "{page}");
    assert_eq!(wire.get("/").unwrap().2, 0);
}
