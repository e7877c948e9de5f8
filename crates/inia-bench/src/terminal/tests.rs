//! The table shows medians, and failures where there is nothing else.

use super::{median, table};
use crate::record::{Method, Outcome, Record, TargetInfo, WorkloadInfo};

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
    assert!(lines[1].contains("1000") && lines[1].contains("±15.0 %"), "{text}");
    assert!(lines[2].contains("FAILED: no connection"), "{text}");
}

#[test]
fn medians() {
    assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(vec![4.0, 1.0]), Some(2.5));
    assert_eq!(median(Vec::new()), None);
}
