//! Days and dates.

use super::civil;

#[test]
fn days_become_dates() {
    assert_eq!(civil(0), (1970, 1, 1));
    assert_eq!(civil(19_782), (2024, 2, 29));
    assert_eq!(civil(11_016), (2000, 2, 29));
    assert_eq!(civil(11_322), (2000, 12, 31));
}
