//! Names of columns, and how names and texts are written in SQL.

use std::collections::HashSet;

/// The longest name of a column, in characters.
const MAX_NAME: usize = 64;

/// Names that differ from each other whatever their case, as near to the given ones as can be: a
/// column without a name gets one of its place, and a name that is there already a number.
pub(crate) fn distinct_names<'a>(given: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut names = Vec::new();
    for (at, name) in given.into_iter().enumerate() {
        let name: String = name.trim().chars().filter(|letter| *letter != '\0').collect();
        let base = if name.is_empty() { format!("column_{}", at + 1) } else { name };
        let mut number = 1;
        let mut name: String = base.chars().take(MAX_NAME).collect();
        while !taken.insert(name.to_lowercase()) {
            number += 1;
            let suffix = format!("_{number}");
            name = base.chars().take(MAX_NAME - suffix.len()).collect::<String>() + &suffix;
        }
        names.push(name);
    }
    names
}

/// A name between backticks.
pub(super) fn quoted_name(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// Appends a string literal. Backslashes escape in the sessions that load.
pub(super) fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'\'');
    for &byte in text {
        match byte {
            b'\'' => out.extend_from_slice(b"''"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0 => out.extend_from_slice(b"\\0"),
            other => out.push(other),
        }
    }
    out.push(b'\'');
}

/// Appends bytes as a hexadecimal literal.
pub(super) fn put_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.extend_from_slice(b"x'");
    for byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
    out.push(b'\'');
}
