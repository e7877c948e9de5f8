//! Patterns of MySQL's library (ICU) as the engines read them.
//!
//! ```text
//! (?#note)a.b[\d-x]   a[^\n\x0b\x0c\r\x{85}\x{2028}\x{2029}]b[\d\-x]
//! (a)\1               the same, for the engine that goes back
//! ```

/// A pattern in the engines' syntax.
pub(super) struct Translated {
    /// The pattern.
    pub(super) pattern: String,
    /// It has back-references, look-around, or groups and repetitions that are never reconsidered.
    pub(super) goes_back: bool,
}

/// What `.` matches: anything but ends of lines.
const WITHIN_LINE: &str = r"[^\n\x0b\x0c\r\x{85}\x{2028}\x{2029}]";

/// Translates a pattern; `all` is whether `.` matches ends of lines, too.
pub(super) fn translate(pattern: &str, all: bool) -> Translated {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut goes_back = false;
    let mut rest = pattern;
    let mut repeated = false;
    while let Some(c) = rest.chars().next() {
        let was_repeated = std::mem::replace(&mut repeated, false);
        let taken = match c {
            '\\' => {
                let next = rest[1..].chars().next();
                goes_back |= next.is_some_and(|c| matches!(c, '1'..='9' | 'k' | 'Z' | 'G'));
                1 + next.map_or(0, char::len_utf8)
            }
            '[' => {
                let length = class(rest, &mut out);
                rest = &rest[length..];
                continue;
            }
            '(' if rest.starts_with("(?#") => {
                rest = rest.find(')').map_or("", |end| &rest[end + 1..]);
                continue;
            }
            '(' => {
                let ahead = ["(?=", "(?!", "(?<=", "(?<!", "(?>"];
                goes_back |= ahead.iter().any(|opening| rest.starts_with(opening));
                1
            }
            '.' if !all => {
                out.push_str(WITHIN_LINE);
                rest = &rest[1..];
                continue;
            }
            '*' | '+' | '?' | '}' => {
                // A plus behind a repetition never gives back.
                goes_back |= c == '+' && was_repeated;
                repeated = !was_repeated;
                1
            }
            c => c.len_utf8(),
        };
        out.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    Translated { pattern: out, goes_back }
}

/// Appends the class that `text` begins with and returns its length. A `-` behind a class inside,
/// such as `\d`, is itself.
fn class(text: &str, out: &mut String) -> usize {
    let mut chars = text.char_indices().peekable();
    let mut depth = 0;
    let mut behind_class = false;
    while let Some((_, c)) = chars.next() {
        let was_behind = std::mem::replace(&mut behind_class, false);
        match c {
            '\\' => {
                out.push(c);
                if let Some((_, next)) = chars.next() {
                    behind_class = matches!(next, 'd' | 'D' | 's' | 'S' | 'w' | 'W');
                    out.push(next);
                }
            }
            '-' if was_behind => out.push_str(r"\-"),
            '[' => {
                depth += 1;
                out.push(c);
                if let Some((_, '^')) = chars.peek() {
                    chars.next();
                    out.push('^');
                }
                // A bracket that comes first is itself.
                if depth == 1
                    && let Some((_, ']')) = chars.peek()
                {
                    chars.next();
                    out.push_str(r"\]");
                }
            }
            ']' => {
                depth -= 1;
                out.push(c);
            }
            c => out.push(c),
        }
        if depth == 0 {
            break;
        }
    }
    chars.peek().map_or(text.len(), |(at, _)| *at)
}
