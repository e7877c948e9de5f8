//! The line fits, and the time left comes from the work alone.

use super::{TimeLeft, line};
use std::time::Duration;

#[test]
fn the_line_is_one_line_whatever_is_being_done() {
    let left = Some(Duration::from_secs(3725));
    let short = line("oltp_read_only on mysql, 8 clients", 0.5, left);
    assert_eq!(
        short,
        "[##########..........]  50 % oltp_read_only on mysql, 8 clients, 1 h 2 min left"
    );
    let long = line(&"a long name ".repeat(20), 2.0, left);
    assert_eq!(long.chars().count(), 79);
    assert!(long.contains('…') && long.ends_with("left"));
    assert_eq!(line("loading", 0.0, None), "[....................]   0 % loading");
}

#[test]
fn time_in_which_nothing_is_measured_does_not_count() {
    let second = Duration::from_secs;
    let mut left = TimeLeft::default();
    assert_eq!(left.update(second(0), 0.0), None);
    // A minute of loading.
    assert_eq!(left.update(second(60), 0.0), None);
    // Ten seconds for a tenth: ninety are left.
    assert_eq!(left.update(second(70), 0.1), Some(second(90)));
    assert_eq!(left.update(second(130), 0.1), Some(second(90)));
    assert_eq!(left.update(second(140), 0.2), Some(second(80)));
}
