//! The table shows medians, and failures where there is nothing else.

use super::table;
use crate::record::{Extra, Method, Outcome, Record, TargetInfo, WorkloadInfo};

fn record(label: &str, rate: Option<f64>) -> Record {
    Record {
        workload: WorkloadInfo { name: "w".to_owned(), ..WorkloadInfo::default() },
        target: TargetInfo { label: label.to_owned(), ..TargetInfo::default() },
        method: Method { clients: 8, ..Method::default() },
        outcome: rate.map(|rate| Outcome { rate, ..Outcome::default() }),
        error: rate.is_none().then(|| "no connection".to_owned()),
        ..Record::default()
    }
}

#[test]
fn rounds_become_one_line_with_their_median() {
    let records = [
        record("a", Some(900.0)),
        record("b", None),
        record("a", Some(1000.0)),
        record("a", Some(1200.0)),
    ];
    let text = table(&records);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[2].contains("1000") && lines[2].contains("±15.0 %"), "{text}");
    assert!(lines[3].contains("FAILED: no connection"), "{text}");
}

#[test]
fn a_table_fits_a_terminal() {
    let mut records = crate::report::fixture::records();
    for record in &mut records {
        if record.target.label == "postgres" {
            record.target.label = "a label that is longer than anybody would like".to_owned();
        }
    }
    let text = table(&records);
    let long = text.lines().find(|line| line.chars().count() > 80);
    assert_eq!(long, None, "{text}");
    assert!(text.contains("oltp_point_select: 1,000,000 rows, special, prepared\n"), "{text}");
    assert!(text.contains("a label that") && text.contains('…'), "{text}");
}

#[test]
fn nothing_measured_is_no_table() {
    assert_eq!(table(&[]), "");
}

#[test]
fn a_set_of_queries_is_listed_query_by_query() {
    let records = crate::report::fixture::questions();
    let text = table(&records);
    let list = text.split_once("ms").map_or("", |(_, list)| list);
    assert_eq!(
        list.lines().take(8).map(str::trim_end).collect::<Vec<_>>(),
        [
            "      inia  mysql",
            "q01     10.5    105",
            "q02   >60000    210",
            "q03     31.5  error",
            "q04     42.0    420",
            "sum     52.5    525",
            "mean    21.0    210",
            "1 client; sum and geometric mean are of the 2 queries that all answered",
        ],
        "{text}"
    );
}

#[test]
fn further_figures_stand_below_the_table() {
    let extra = |value| Extra { name: "sale p99".into(), unit: "µs".into(), value };
    let records: Vec<Record> = [100.0, 300.0]
        .map(|value| {
            let mut record = record("a", Some(900.0));
            let outcome = record.outcome.get_or_insert_default();
            outcome.extras = vec![extra(value)];
            record
        })
        .to_vec();
    let text = table(&records);
    assert!(text.contains("\nclients  target  median  further figure\n"), "{text}");
    assert!(text.contains("\n      8  a          200     sale p99 µs\n"), "{text}");
}
