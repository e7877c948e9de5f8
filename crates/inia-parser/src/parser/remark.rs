//! What a parse remarks about old ways of saying things and strings that are no text, and the
//! text of select items.

use super::Parser;
use crate::lexer::VERSION;
use std::borrow::Cow;

/// A warning of a statement's syntax.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// MySQL's number.
    pub code: u16,
    /// The text.
    pub message: Cow<'static, str>,
}

const ASSIGNS: &str = "Setting user variables within expressions is deprecated and will be \
    removed in a future release. Consider alternatives: 'SET variable=expression, ...', or 'SELECT \
    expression(s) INTO variables(s)'.";
const UTF8: &str = "'utf8' is currently an alias for the character set UTF8MB3, but will be an \
    alias for UTF8MB4 in a future release. Please consider using UTF8MB4 in order to be \
    unambiguous.";
const DEPRECATED_CHARSETS: [&str; 6] = ["utf8mb3", "ucs2", "macroman", "macce", "hp8", "dec8"];
const NATIONAL: &str = "NATIONAL/NCHAR/NVARCHAR implies the character set UTF8MB3, which will be \
    replaced by UTF8MB4 in a future release. Please consider using CHAR(x) CHARACTER SET UTF8MB4 \
    in order to be unambiguous.";

/// What MySQL remarks on the name of a character set that it will drop.
pub fn deprecated_charset(name: &str) -> Option<Remark> {
    let lower = name.to_ascii_lowercase();
    if lower == "utf8" {
        return Some(Remark { code: 3719, message: UTF8.into() });
    }
    DEPRECATED_CHARSETS.contains(&lower.as_str()).then(|| instead(&lower, "utf8mb4"))
}

/// What MySQL remarks on the name of a collation whose character set it will drop.
pub fn deprecated_collation(name: &str) -> Option<Remark> {
    let lower = name.to_ascii_lowercase();
    let (set, rest) = lower.split_once('_')?;
    let (code, set, shown) = match set {
        "utf8" | "utf8mb3" => (3778, "UTF8MB3", "UTF8MB4"),
        set if DEPRECATED_CHARSETS.contains(&set) => (4079, set, "utf8mb4"),
        _ => return None,
    };
    let name = format!("{}_{rest}", set.to_ascii_lowercase());
    let message = format!(
        "'{name}' is a collation of the deprecated character set {set}. Please consider using \
         {shown} with an appropriate collation instead."
    );
    Some(Remark { code, message: message.into() })
}

/// `old` should be `new`.
fn instead(old: &str, new: &str) -> Remark {
    let text = "is deprecated and will be removed in a future release. Please use";
    Remark { code: 1287, message: format!("'{old}' {text} {new} instead").into() }
}

impl Parser<'_> {
    /// The remarks since they were last taken.
    pub fn take_remarks(&mut self) -> Vec<Remark> {
        std::mem::take(&mut self.remarks)
    }

    #[cold]
    pub(super) fn remark(&mut self, code: u16, message: impl Into<Cow<'static, str>>) {
        self.remarks.push(Remark { code, message: message.into() });
    }

    /// A string is no UTF-8 from these bytes on.
    #[cold]
    pub(super) fn ill_formed(&mut self, bytes: &[u8]) {
        let hex: String = bytes.iter().take(3).map(|byte| format!("{byte:02X}")).collect();
        self.remark(1300, format!("Invalid utf8mb4 character string: '{hex}'"));
    }

    /// A text has characters that utf8mb3 lacks.
    #[cold]
    pub(super) fn cannot_convert(&mut self, bytes: &[u8]) {
        const SHOWN: usize = 6;
        let byte = |&byte: &u8| match byte {
            0x20..0x7f => char::from(byte).to_string(),
            byte => format!("\\x{byte:02X}"),
        };
        let shown: String = bytes.iter().take(SHOWN).map(byte).collect();
        let rest = if bytes.len() > SHOWN { "..." } else { "" };
        self.remark(1300, format!("Cannot convert string '{shown}{rest}' from utf8mb4 to utf8mb3"));
    }

    /// `old` should be `new`.
    #[cold]
    pub(super) fn deprecated(&mut self, old: &str, new: &str) {
        self.remarks.push(instead(old, new));
    }

    /// `@a := 1` in an expression.
    #[cold]
    pub(super) fn assigns_variable(&mut self) {
        self.remark(1287, ASSIGNS);
    }

    /// N'…'.
    #[cold]
    pub(super) fn national(&mut self) {
        self.remark(3720, NATIONAL);
    }

    /// A word that means nothing any more.
    #[cold]
    pub(super) fn obsolete(&mut self, word: &str) {
        self.remark(
            1681,
            format!("'{word}' is deprecated and will be removed in a future release."),
        );
    }

    /// INSERT DELAYED.
    #[cold]
    pub(super) fn delayed(&mut self, statement: &str) {
        let text = "DELAYED is no longer supported. The statement was converted to";
        self.remark(3005, format!("{statement} {text} {statement}."));
    }
}

/// The bytes of the comment at the start of a text; one that is not executed may hold others.
fn comment_length(text: &[u8], nested: bool) -> usize {
    let mut at = 2;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with(b"*/") {
            return at + 2;
        }
        let inner = nested && rest.starts_with(b"/*");
        at += if inner { comment_length(rest, false) } else { 1 };
    }
    text.len()
}

/// A select item's text, which names its column: without the marks of comments that are executed,
/// and without what is not executed for its version.
pub(super) fn without_comments(text: String) -> String {
    let bytes = text.as_bytes();
    if !text.contains("/*") {
        return text;
    }
    let (mut out, mut at, mut quote) = (Vec::with_capacity(bytes.len()), 0, None);
    let mut executed = false;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let byte = bytes[at];
        if let Some(open) = quote {
            if byte == b'\\' && open != b'`' && rest.len() > 1 {
                out.push(byte);
                at += 1;
            } else if byte == open {
                quote = None;
            }
            out.push(bytes[at]);
            at += 1;
        } else if rest.starts_with(b"/*!") {
            let digits = rest[3..].iter().take(6).take_while(|b| b.is_ascii_digit()).count();
            let digits = if digits >= 5 { digits } else { 0 };
            let number = rest[3..3 + digits].iter().fold(0, |n, b| n * 10 + u32::from(b - b'0'));
            executed = number <= VERSION;
            at += if executed { 3 + digits } else { comment_length(rest, true) };
        } else if executed && rest.starts_with(b"*/") {
            executed = false;
            at += 2;
        } else if rest.starts_with(b"/*") {
            let length = comment_length(rest, false);
            out.extend_from_slice(&rest[..length]);
            at += length;
        } else {
            if matches!(byte, b'\'' | b'"' | b'`') {
                quote = Some(byte);
            }
            out.push(byte);
            at += 1;
        }
    }
    String::from_utf8_lossy(&out).trim().to_string()
}
