//! Purge is over when the server says that the rows are gone, and not before.
#![allow(clippy::unwrap_used)]

use super::{Purge, history_length};
use crate::session::Session;
use crate::target::{Product, Result};
use crate::testing::{Scripted, cell};
use std::sync::Arc;

fn session(answers: impl FnMut(&str) -> Result<Vec<Vec<String>>> + Send + 'static) -> Session {
    Session::new(Arc::new(Scripted::new(answers)), false)
}

#[test]
fn a_history_list_of_one_transaction_is_not_purged() {
    let mut lengths = vec!["0", "1", "7"];
    let mut session = session(move |sql| {
        assert_eq!(sql, "SHOW ENGINE INNODB STATUS");
        let length = lengths.pop().unwrap();
        Ok(vec![vec!["InnoDB".into(), "".into(), format!("x\nHistory list length {length}\n")]])
    });
    Purge::History.wait(&mut session, "S", 0, 100).unwrap();
    assert_eq!(session.requests(), 3, "asked until the list was empty");
    assert_eq!(history_length("no such line"), None);
}

#[test]
fn a_counter_has_to_reach_all_the_rows() {
    let mut counts = vec![1_100, 1_099, 1_000];
    let mut session = session(move |_| Ok(cell(counts.pop().unwrap())));
    let purge = Purge::Counter { by_us: false };
    let mark = purge.mark(&mut session).unwrap();
    assert_eq!(mark, 1_000);
    purge.wait(&mut session, "S", mark, 100).unwrap();
    assert_eq!(session.requests(), 3);
}

#[test]
fn a_counter_that_cannot_be_switched_on_is_a_note() {
    let mut session = session(|_| Ok(cell(0)));
    let purge = Purge::of(Product::MySql, &mut session);
    assert_eq!(purge, Purge::Untold);
    assert!(!purge.measurable() && purge.note().is_some());
}

#[test]
fn a_counter_that_was_off_is_switched_off_again() {
    let mut on = 0;
    let mut session = session(move |sql| {
        if sql.starts_with("SET GLOBAL innodb_monitor_enable") {
            on = 1;
        }
        assert!(!sql.starts_with("SELECT") || sql.ends_with("AND enabled = 1"), "{sql}");
        Ok(cell(on))
    });
    let purge = Purge::of(Product::MariaDb, &mut session);
    assert_eq!(purge, Purge::Counter { by_us: true });
    purge.end(&mut session);
    assert_eq!(session.requests(), 4, "looked, switched on, looked, switched off");
}

#[test]
fn a_vacuum_that_leaves_pages_is_repeated() {
    let (mut sizes, mut vacuums) = (vec![0, 8_192], 0);
    let mut session = session(move |sql| {
        vacuums += i64::from(sql == "VACUUM S");
        Ok(cell(if sql.starts_with("VACUUM") { vacuums } else { sizes.pop().unwrap() }))
    });
    Purge::Vacuum.wait(&mut session, "S", 0, 100).unwrap();
    assert_eq!(session.requests(), 4);
}
