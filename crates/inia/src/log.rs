//! Log lines on standard error: time, level, text.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// Something worth knowing.
pub fn note(text: fmt::Arguments<'_>) {
    line("Note", text);
}

/// Something that needs attention.
pub fn warning(text: fmt::Arguments<'_>) {
    line("Warning", text);
}

/// Something that went wrong.
pub fn error(text: fmt::Arguments<'_>) {
    line("Error", text);
}

fn line(level: &str, text: fmt::Arguments<'_>) {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (year, month, day) = civil(since.as_secs() / 86_400);
    let second = since.as_secs() % 86_400;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    eprintln!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z [{level}] {text}",
        since.subsec_millis()
    );
}

/// The calendar date of a day counted from 1970-01-01.
fn civil(days: u64) -> (u64, u64, u64) {
    // Years here begin in March, so that the leap day is the last day of a year.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests;
