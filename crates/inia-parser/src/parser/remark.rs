//! What a parse remarks about old ways of saying things and strings that are no text, and the
//! text of select items.

use super::Parser;
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
const NATIONAL: &str = "NATIONAL/NCHAR/NVARCHAR implies the character set UTF8MB3, which will be \
    replaced by UTF8MB4 in a future release. Please consider using CHAR(x) CHARACTER SET UTF8MB4 \
    in order to be unambiguous.";

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

    /// `old` should be `new`.
    #[cold]
    pub(super) fn deprecated(&mut self, old: &str, new: &str) {
        let text = "is deprecated and will be removed in a future release. Please use";
        self.remark(1287, format!("'{old}' {text} {new} instead"));
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

/// A select item's text, which names its column: without the marks of comments that
/// are executed.
pub(super) fn without_comments(text: String) -> String {
    let bytes = text.as_bytes();
    if !text.contains("/*") {
        return text;
    }
    let (mut out, mut at, mut quote) = (Vec::with_capacity(bytes.len()), 0, None);
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
            at += 3 + if digits >= 5 { digits } else { 0 };
        } else if rest.starts_with(b"*/") {
            at += 2;
        } else if rest.starts_with(b"/*") {
            let end = rest.windows(2).skip(2).position(|pair| pair == b"*/");
            at += end.map_or(rest.len(), |end| end + 4);
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
