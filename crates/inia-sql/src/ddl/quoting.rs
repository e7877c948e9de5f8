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

/// The text of SHOW CREATE TABLE or DATABASE without needless quotes. Conditions of CHECK stay as
/// they are stored.
pub(super) fn unquoted(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    // Open parentheses of a condition.
    let mut depth = 0usize;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\'' | '`' => quoted_length(rest, first),
            _ => first.len_utf8(),
        };
        let (word, behind) = rest.split_at(length);
        let name = word.strip_prefix('`').and_then(|word| word.strip_suffix('`'));
        match first {
            '(' if depth > 0 || out.ends_with("CHECK ") => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        out.push_str(name.filter(|name| depth == 0 && is_plain(name)).unwrap_or(word));
        rest = behind;
    }
    out
}

/// The bytes of a text in quotes at the start of another. A quote in it is doubled, or follows a
/// backslash.
fn quoted_length(text: &str, quote: char) -> usize {
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == quote && letters.next_if(|(_, next)| *next == quote).is_none() {
            return at + 1;
        }
        if quote == '\'' && letter == '\\' {
            letters.next();
        }
    }
    text.len()
}
