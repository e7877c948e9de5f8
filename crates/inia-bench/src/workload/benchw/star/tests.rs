//! Days, and counts of facts.

use super::*;

#[test]
fn days_follow_the_calendar() {
    assert_eq!(date(0), (1990, 1, 1));
    assert_eq!(date(31 + 27), (1990, 2, 28));
    assert_eq!(date(31 + 28), (1990, 3, 1));
    assert_eq!(date(365), (1991, 1, 1));
    assert_eq!(date(365 * 2 + 31 + 28), (1992, 2, 29));
    assert_eq!(date(DAYS - 1), (2017, 5, 18));
}

#[test]
fn each_fact_is_counted_once_where_it_belongs() {
    let [days, year, two, three, all] = answers(20_000, 7);
    let count = |lines: &Lines, column: usize| -> f64 {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| if let Cell::Number(value, _) = cell { *value } else { 0.0 }).sum()
    };
    assert_eq!(count(&all, 1), 20_000.0);
    assert_eq!((days.len(), year.len(), all.len()), (12, 12, 28));
    assert!(count(&days, 1) < count(&year, 1) && count(&year, 1) < 1_000.0);
    assert!(count(&three, 3) < count(&two, 2) && count(&two, 2) < 300.0);
}
