//! Figures that mislead come with a warning, honest ones without.

use super::{overall_warnings, warnings};
use crate::record::{Cpu, Outcome, Record};

/// Two seconds on two processors: the seconds of client and server, and the idle share.
fn outcome(client: f64, server: f64, idle: f64) -> Outcome {
    let cpu = Cpu {
        client_seconds: Some(client),
        server_seconds: Some(server),
        idle,
        others: 0.0,
        ..Cpu::default()
    };
    Outcome { seconds: 2.0, cpu, ..Outcome::default() }
}

fn bound(server: &[usize], client: &[usize]) -> Record {
    let mut record = Record::default();
    record.method.server_cpus = server.to_vec();
    record.method.client_cpus = client.to_vec();
    record
}

fn warns(record: &Record, outcome: &Outcome, of: &str) -> bool {
    warnings(record, outcome).iter().any(|warning| warning.contains(of))
}

#[test]
fn a_client_that_takes_most_of_a_full_machine_is_the_bottleneck() {
    let record = Record::default();
    assert!(warns(&record, &outcome(2.5, 1.5, 0.01), "the client is the bottleneck"));
    assert!(!warns(&record, &outcome(1.5, 2.5, 0.01), "bottleneck"), "the server is");
    assert!(!warns(&record, &outcome(1.5, 0.5, 0.40), "bottleneck"), "the machine has time left");
}

#[test]
fn a_client_that_uses_up_its_own_processors_is_the_bottleneck() {
    assert!(warns(&bound(&[0], &[1]), &outcome(1.95, 0.5, 0.3), "bottleneck"));
    assert!(!warns(&bound(&[0], &[1]), &outcome(0.5, 1.95, 0.3), "bottleneck"));
    let one = bound(&[0], &[0]);
    assert!(warns(&one, &outcome(1.2, 0.75, 0.5), "bottleneck"), "the other one is idle");
    assert!(!warns(&one, &outcome(0.75, 1.2, 0.5), "bottleneck"));
}

#[test]
fn others_on_the_machine_and_a_rate_not_reached_get_warnings() {
    let record = Record::default();
    let mut busy = outcome(0.1, 0.1, 0.5);
    busy.cpu.others = 0.25;
    assert_eq!(warnings(&record, &busy), ["the machine is busy: others used 25 % of it"]);
    busy.seconds = 0.05;
    assert!(warnings(&record, &busy).is_empty(), "too short for the system's clocks");
    let late = Outcome { unserved: 7, ..outcome(0.1, 0.1, 0.5) };
    assert_eq!(warnings(&record, &late), ["the rate was not reached: 7 were never begun"]);
}

#[test]
fn rivals_of_different_durability_are_distinguished() {
    let on = |label: &str, durability: &str| {
        let mut record = Record::default();
        record.target.label = label.to_owned();
        record.target.durability = durability.to_owned();
        record
    };
    let safe = [on("a", "durable"), on("b", "durable")];
    assert!(overall_warnings(&safe).is_empty());
    let mixed = [on("a", "durable"), on("b", "relaxed"), on("c", "durable")];
    assert_eq!(overall_warnings(&mixed), ["durability differs (durable: a, c; relaxed: b)"]);
}
