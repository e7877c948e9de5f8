//! Records become series, sections and points; repetitions become medians.

use super::{Report, Stat, fixture, median};
use crate::record::Record;

#[test]
fn rounds_of_one_configuration_are_one_point() {
    let records = fixture::records();
    let report = Report::new(&records);
    let names: Vec<&str> = report.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["inia", "mysql", "mariadb", "postgres", "floor"]);
    let sections: Vec<&str> = report.sections.iter().map(|s| s.workload.name.as_str()).collect();
    assert_eq!(
        sections,
        [
            "oltp_point_select",
            "oltp_read_write",
            "oltp_read_only",
            "innodb_update_all",
            "smack_select"
        ]
    );
    let first = &report.sections[0];
    assert_eq!(first.xs(), [1.0, 8.0, 64.0, 256.0]);
    assert_eq!(first.points.len(), 4 * 5);
    let rate = first.points[0].stat(|outcome| Some(outcome.rate)).expect("measured");
    assert_eq!(rate.rounds, 2);
    assert!(rate.spread().is_some_and(|spread| (0.01..0.02).contains(&spread)), "{rate:?}");
    assert_eq!(report.sections[2].cpus(), [1, 2, 4]);
    // 12 µs of the server's time per transaction at 8 µs of the floor's.
    assert_eq!(first.floor_cpu(&report, &first.points[0]), Some(8.0));
}

#[test]
fn labels_that_repeat_get_their_version_and_colours_are_the_products() {
    let record = |label: &str, product: &str, version: &str| {
        let mut record = Record::default();
        (record.target.label, record.target.product) = (label.into(), product.into());
        record.target.version = version.into();
        record
    };
    let records = [
        record("a", "mysql", "8.0"),
        record("a", "mysql", "8.4"),
        record("mysql://root@127.0.0.1:3306/", "inia", "1"),
    ];
    let report = Report::new(&records);
    let names: Vec<&str> = report.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["a 8.0", "a 8.4", "mysql 127.0.0.1:3306"]);
    let colours: Vec<usize> = report.series.iter().map(|series| series.colour).collect();
    assert_eq!((colours[0], colours[2]), (1, 0));
    assert_ne!(colours[1], 1);
}

#[test]
fn warnings_that_differ_in_figures_only_are_one() {
    let records = fixture::records();
    let warnings = Report::new(&records).warnings();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert_eq!(warnings[0].0, "the machine is busy: others used 11 % of it");
    assert_eq!(warnings[0].1.len(), 20);
}

#[test]
fn the_advantage_is_over_the_best_rival_and_less_time_is_better() {
    let records = fixture::records();
    let report = Report::new(&records);
    let rates = report.advantage(&report.sections[0]).expect("rivals");
    let times = report.advantage(&report.sections[3]).expect("rivals");
    assert!(rates > 1.5 && times > 1.5, "{rates} {times}");
    assert_eq!(Stat::of(Vec::new()), None);
}

#[test]
fn medians() {
    assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(vec![4.0, 1.0]), Some(2.5));
    assert_eq!(median(Vec::new()), None);
}

#[test]
fn rounds_of_several_configurations_in_one_median_are_marked() {
    let mut records = fixture::records();
    assert_eq!(Report::new(&records).mixed(), None);
    records[0].hash = "another".to_owned();
    assert!(Report::new(&records).mixed().is_some_and(|text| text.starts_with("1 median of")));
}
