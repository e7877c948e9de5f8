//! Definitions with names in quotes only where they need them (`sql_quote_show_create`).

use inia_parser::keyword::{Kw, lookup};

/// Whether MySQL writes a name without quotes.
fn is_plain(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$';
    !name.is_empty()
        && name.bytes().all(fits)
        && !name.bytes().all(|byte| byte.is_ascii_digit())
        && lookup(name.as_bytes()) == Kw::NotKeyword
}

/// The text of SHOW CREATE TABLE or DATABASE without needless quotes. Expressions stay as they
/// are stored: they follow AS, CHECK and DEFAULT, or are in parentheses of their own.
pub(super) fn unquoted(text: &str) -> String {
    /// Parentheses around the name of a column in a key.
    const KEY: usize = 2;
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    let (mut depth, mut expression) = (0usize, usize::MAX);
    while let Some(first) = rest.chars().next() {
        let mut length = first.len_utf8();
        match first {
            '\'' => length = quoted_length(rest, '\''),
            '`' => {
                length = quoted_length(rest, '`');
                let name = &rest[1..length.max(2) - 1];
                if depth <= KEY && depth < expression && is_plain(name) {
                    out.push_str(name);
                    rest = &rest[length..];
                    continue;
                }
            }
            '(' => {
                depth += 1;
                let follows = ["AS ", "CHECK ", "DEFAULT "].iter().any(|word| out.ends_with(word));
                if follows && expression == usize::MAX {
                    expression = depth;
                }
            }
            ')' => {
                depth = depth.saturating_sub(1);
                if depth < expression {
                    expression = usize::MAX;
                }
            }
            _ => {}
        }
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out
}

/// The bytes of a text in quotes at the start of another.
fn quoted_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        if letter == quote && !escaped {
            return at + 1;
        }
        escaped = quote == '\'' && letter == '\\' && !escaped;
    }
    text.len()
}
