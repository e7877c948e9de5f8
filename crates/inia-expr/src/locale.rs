//! Names of months and days in the languages of `lc_time_names`, read from `locales.txt`.

use std::sync::LazyLock;

/// A language's names; days from Monday on.
#[derive(Debug)]
pub struct Locale {
    /// Such as `de_DE`.
    pub name: &'static str,
    /// January and so on.
    pub months: Vec<&'static str>,
    /// As `%b` writes them.
    pub short_months: Vec<&'static str>,
    /// Monday and so on.
    pub days: Vec<&'static str>,
    /// As `%a` writes them.
    pub short_days: Vec<&'static str>,
}

/// All locales by their number.
static LOCALES: LazyLock<Vec<Locale>> = LazyLock::new(|| {
    let mut lines = include_str!("locales.txt").lines().filter(|line| !line.starts_with('#'));
    let order: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let mut locales = Vec::with_capacity(order.len());
    while let Some(names) = lines.next() {
        let mut list = || lines.next().unwrap_or_default().split('|').collect::<Vec<&str>>();
        let (months, short_months, days, short_days) = (list(), list(), list(), list());
        locales.extend(names.split(' ').map(|name| Locale {
            name,
            months: months.clone(),
            short_months: short_months.clone(),
            days: days.clone(),
            short_days: short_days.clone(),
        }));
    }
    locales.sort_by_key(|locale| order.iter().position(|name| *name == locale.name));
    locales
});

/// The locale of that name or number.
pub fn find(name: &str) -> Option<&'static Locale> {
    match name.parse::<usize>() {
        Ok(number) => LOCALES.get(number),
        Err(_) => LOCALES.iter().find(|locale| locale.name.eq_ignore_ascii_case(name)),
    }
}

#[cfg(test)]
mod tests;
