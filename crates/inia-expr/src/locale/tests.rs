//! All languages are there, under all their names.

use super::{LOCALES, find};

#[test]
fn every_locale_has_all_names() {
    assert_eq!(LOCALES.len(), 111);
    for locale in LOCALES.iter() {
        assert_eq!((locale.months.len(), locale.short_months.len()), (12, 12));
        assert_eq!((locale.days.len(), locale.short_days.len()), (7, 7), "{}", locale.name);
    }
}

#[test]
fn locales_are_found_by_name_in_any_case_and_by_number() {
    assert_eq!(find("DE_de").unwrap().months[2], "März");
    assert_eq!(find("5").unwrap().name, "fr_FR");
    assert!(find("111").is_none() && find("xx_YY").is_none() && find("").is_none());
}
