//! Tables from records whose figures are made up.

use super::super::{Scale, report};
use super::{Results, align, render};
use crate::record::{Cpu, Latency, Outcome, Record, TransactionKind};
use std::collections::BTreeMap;

/// A round of a workload: distribution, clients, processors it is bound to, rate.
fn rate(workload: &str, distribution: &str, clients: usize, bound: usize, rate: f64) -> Record {
    let mut record = Record::default();
    record.workload.name = workload.to_owned();
    record.workload.distribution = distribution.to_owned();
    record.method.clients = clients;
    record.method.server_cpus = (0..bound).collect();
    record.target.label = "inia".to_owned();
    record.outcome = Some(Outcome { rate, transactions: 1, ..Outcome::default() });
    record
}

/// A table of a report, on four processors; only what is measured of it.
fn measured(name: &str, table: usize, records: &[Record], price: Option<f64>) -> Vec<String> {
    measured_on(4, name, table, records, price)
}

/// The same on so many.
fn measured_on(
    processors: usize,
    name: &str,
    table: usize,
    records: &[Record],
    price: Option<f64>,
) -> Vec<String> {
    let results = Results {
        records,
        scale: Scale::Small,
        processors,
        labels: vec!["inia".to_owned()],
        prices: price.map(|price| ("inia".to_owned(), price)).into_iter().collect(),
    };
    let text = render(&report(name).unwrap().tables[table], &results);
    let lines = text.lines().skip(1).take_while(|line| !line.starts_with("  as the report"));
    lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// One and eight clients, both distributions, on 1, 2 and all 4 processors.
fn read_only() -> Vec<Record> {
    let mut records = Vec::new();
    for (bound, one, eight) in [(1, 100.0, 110.0), (2, 100.0, 198.0), (0, 101.0, 330.0)] {
        for (distribution, less) in [("special", 0.0), ("uniform", 5.0)] {
            records.push(rate("oltp_read_only", distribution, 1, bound, one - less));
            records.push(rate("oltp_read_only", distribution, 8, bound, eight - less));
        }
    }
    records
}

#[test]
fn rates_stand_by_clients_and_distributions() {
    let lines = measured("rdbms", 1, &read_only(), None);
    assert_eq!(lines, ["clients inia, special inia, uniform", "1 101 96.00", "8 330 325"]);
    let half = measured("rdbms", 2, &read_only(), None);
    assert_eq!(half[2], "8 198 193");
    let eighth = measured("rdbms", 4, &read_only(), None);
    assert_eq!(eighth, ["not run: one in 8 of 4 processors is none"]);
}

#[test]
fn peaks_and_their_factors_stand_by_processors() {
    let records = read_only();
    assert_eq!(
        measured("rdbms", 5, &records, None),
        ["processors inia", "1 110", "2 198", "4 330"]
    );
    let half = measured("rdbms", 6, &records, None);
    assert_eq!(half, ["processors inia", "2 1.80", "4 1.67"]);
    let one = measured("rdbms", 7, &records, None);
    assert_eq!(one, ["processors inia", "2 1.80", "4 3.00"]);
}

/// Six are compared with three, not with the four before them.
#[test]
fn half_the_processors_are_half_of_them() {
    let records: Vec<Record> = [(1, 100.0), (2, 190.0), (3, 250.0), (4, 300.0), (0, 400.0)]
        .map(|(bound, n)| rate("oltp_read_only", "special", 8, bound, n))
        .into();
    let lines = measured_on(6, "rdbms", 6, &records, None);
    assert_eq!(lines, ["processors inia", "2 1.90", "3 -", "4 1.58", "6 1.60"]);
}

/// A round in which nothing ended counts, one that was ended early does not.
#[test]
fn the_median_is_of_all_whole_rounds() {
    let mut records = [10.0, 0.0, 30.0].map(|n| rate("smack_select", "uniform", 1, 0, n)).to_vec();
    records[1].outcome.as_mut().unwrap().transactions = 0;
    assert_eq!(measured("smack", 0, &records, None)[1], "1 10.00");
    records[2].outcome.as_mut().unwrap().interrupted = true;
    assert_eq!(measured("smack", 0, &records, None)[1], "1 5.00");
    records[2].outcome.as_mut().unwrap().interrupted = false;
    records.remove(0);
    records.remove(1);
    assert_eq!(measured("smack", 0, &records, None)[1], "1 0");
}

#[test]
fn a_kind_that_cannot_be_measured_is_unknown() {
    let mut delete = rate("innodb_delete_all", "uniform", 1, 0, 0.0);
    let outcome = delete.outcome.as_mut().unwrap();
    let kind = |name: &str, transactions: u64| TransactionKind {
        name: name.to_owned(),
        transactions,
        latency: Latency { p50: 500_000.0, ..Latency::default() },
    };
    outcome.kinds = vec![kind("delete", 3), kind("purge", 0)];
    let lines = measured("innodb", 2, &[delete], None);
    assert_eq!(lines[8], "innodb_delete_all 0.5000 + unknown -");
}

#[test]
fn the_sag_is_what_the_most_clients_lose() {
    let records =
        [("special", 1, 400.0), ("special", 8, 300.0), ("uniform", 1, 50.0), ("uniform", 8, 60.0)]
            .map(|(distribution, clients, n)| rate("oltp_read_only", distribution, clients, 0, n));
    assert_eq!(
        measured("rdbms", 8, &records, None),
        ["clients inia, special inia, uniform", "peak 400 60.00", "8 300 60.00", "sag, % 25.00 0"]
    );
}

#[test]
fn several_rounds_give_their_median_and_none_a_dash() {
    let records = [10.0, 30.0, 11.0].map(|n| rate("smack_select", "uniform", 1, 0, n));
    assert_eq!(measured("smack", 0, &records, None), ["clients inia", "1 11.00", "8 -"]);
}

#[test]
fn the_price_is_the_users() {
    let records = [rate("order_inventory", "uniform", 8, 0, 500.0)];
    let lines = measured("whitepaper", 3, &records, Some(1000.0));
    assert_eq!(lines[1], "inia 500 1000 2.00");
    let lines = measured("whitepaper", 3, &records, None);
    assert_eq!(lines[1], "inia 500 - -");
    assert!(lines[2].contains("--price"), "{lines:?}");
}

#[test]
fn single_statements_have_seconds_of_the_clock_and_of_the_server() {
    let kind = |name: &str, p50: f64| TransactionKind {
        name: name.to_owned(),
        transactions: 3,
        latency: Latency { p50, ..Latency::default() },
    };
    let mut delete = rate("innodb_delete_all", "uniform", 1, 0, 0.0);
    let outcome = delete.outcome.as_mut().unwrap();
    outcome.kinds = vec![kind("delete", 500_000.0), kind("purge", 250_000.0)];
    outcome.cpu = Cpu { server_seconds: Some(6.0), ..Cpu::default() };
    let mut commits = rate("innodb_tpca_commits", "uniform", 1, 0, 5_000.0);
    let outcome = commits.outcome.as_mut().unwrap();
    outcome.transactions = 20_000;
    outcome.cpu = Cpu { server_seconds: Some(3.0), ..Cpu::default() };
    let lines = measured("innodb", 2, &[delete, commits], None);
    assert_eq!(lines[0], "inia, seconds inia, CPU");
    assert_eq!(lines[8], "innodb_delete_all 0.5000 + 0.2500 2.00");
    assert_eq!(lines[5], "innodb_tpca_commits, 10000 times 2.00 1.50");
    assert_eq!(lines[1], "innodb_mass_insert - -");
}

/// What the report printed is shown whole, and nothing of it moves with what is measured.
#[test]
fn published_figures_stay_what_they_are() {
    let published = |records: &[Record]| {
        let results = Results {
            records,
            scale: Scale::Small,
            processors: 4,
            labels: vec!["inia".to_owned()],
            prices: BTreeMap::new(),
        };
        let text = render(&report("rdbms").unwrap().tables[1], &results);
        text.split_once("  as the report printed it").unwrap().1.to_owned()
    };
    assert_eq!(published(&[]), published(&read_only()));
    assert!(published(&[]).contains("1048.55"));
}

#[test]
fn long_lines_are_printed_in_parts() {
    let line = |first: &str, cell: &str| {
        let mut line = vec![first.to_owned()];
        line.extend((0..5).map(|n| format!("{cell:>30}{n}")));
        line
    };
    let text = align(&[line("clients", "a"), line("1", "b")]);
    assert_eq!(text.lines().filter(|line| line.starts_with("    clients")).count(), 2);
    assert!(text.lines().all(|line| line.chars().count() <= 115), "{text}");
}
