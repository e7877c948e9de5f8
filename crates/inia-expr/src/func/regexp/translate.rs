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
    /// The pattern for texts that end with an end of line, where that makes a difference: `$`
    /// matches before a last one, which takes look-around.
    pub(super) before_last: Option<String>,
}

/// Whether a text ends with an end of line.
pub(super) fn ends_line(text: &str) -> bool {
    text.ends_with(['\n', '\x0b', '\x0c', '\r', '\u{85}', '\u{2028}', '\u{2029}'])
}

/// `$`: the text's end, or before the end of line that is its last; not amid `\r\n`.
const LAST_LINE: &str = r"(?:(?=\r\n\z|[\x0b\x0c\r\x{85}\x{2028}\x{2029}]?\z)|(?<!\r)(?=\n\z))";

/// What `.` matches: anything but ends of lines.
const WITHIN_LINE: &str = r"[^\n\x0b\x0c\r\x{85}\x{2028}\x{2029}]";

/// Translates a pattern; `all` is whether `.` matches ends of lines, too, and `lines` whether `$`
/// matches before each of them.
pub(super) fn translate(pattern: &str, all: bool, lines: bool) -> Translated {
    let mut out = String::with_capacity(pattern.len() + 16);
    // Where `$` is, in what is appended.
    let mut ends = Vec::new();
    let mut by_line = lines;
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
                by_line |= sets_lines(rest);
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
            '$' => {
                ends.push(out.len());
                1
            }
            c => c.len_utf8(),
        };
        out.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    let before_last = (!ends.is_empty() && !by_line).then(|| {
        let mut pattern = out.clone();
        ends.iter().rev().for_each(|&at| pattern.replace_range(at..=at, LAST_LINE));
        pattern
    });
    Translated { pattern: out, goes_back, before_last }
}

/// Whether a group begins with options of which `m` is one.
fn sets_lines(group: &str) -> bool {
    let Some(options) = group.strip_prefix("(?") else { return false };
    options.chars().take_while(char::is_ascii_alphabetic).any(|c| c == 'm')
}

/// The names that `[:…:]` may have in a class.
const CLASS_NAMES: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
    "space", "upper", "word", "xdigit",
];

/// Whether a class names another that is not there: `[[:foo:]]`, `[[:<:]]`.
pub(super) fn names_no_class(pattern: &str) -> bool {
    let mut rest = pattern;
    let mut depth = 0u32;
    while let Some(c) = rest.chars().next() {
        let mut length = c.len_utf8();
        match c {
            '\\' => length += rest[1..].chars().next().map_or(0, char::len_utf8),
            '[' if depth > 0 && rest.starts_with("[:") => {
                if let Some((name, _)) = rest[2..].split_once(":]") {
                    let bare = name.strip_prefix('^').unwrap_or(name);
                    let word = !bare.contains(['[', ']', '\\']);
                    if word && !CLASS_NAMES.iter().any(|own| own.eq_ignore_ascii_case(bare)) {
                        return true;
                    }
                    length = if word { name.len() + 4 } else { length };
                    depth += u32::from(!word);
                } else {
                    depth += 1;
                }
            }
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        rest = &rest[length..];
    }
    false
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
