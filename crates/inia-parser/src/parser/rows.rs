//! The rows of VALUES.
//!
//! Statements that load data have hundreds of rows of literals. From the second row on, such
//! values are read straight from the text's bytes: a string that ends with a quote, a number or a
//! word, each with a comma or a closing parenthesis behind it. Whatever looks otherwise (an
//! expression, a comment, an error) is left to the rules of the grammar, which read on from the
//! value or row at hand; then the bytes are looked at again.

use super::{PResult, Parser};
use crate::{
    SqlMode,
    ast::{Expr, InsertSource, Literal, RowValue, ValueRows},
    lexer::{Tok, find_either, unescape},
};
use std::sync::Arc;

/// Integers of so many digits are below 2^64.
const INT_DIGITS: usize = 19;
/// A decimal number of so many bytes is left to the grammar.
const LONG_NUMBER: usize = 60;
/// Memory is taken ahead for the rows in so many bytes: other statements may follow.
const MAX_RESERVED: usize = 64 << 10;

/// What is known of a text's bytes. Each is looked at once, however many statements ask.
#[derive(Default)]
pub(super) struct Utf8<'a> {
    /// The end of the text, from a place on.
    found: Option<(usize, &'a str)>,
    /// Before this place a byte is wrong.
    wrong: usize,
}

impl<'a> Utf8<'a> {
    /// The bytes of `src` from a place on, if all are UTF-8.
    fn text(&mut self, src: &'a [u8], at: usize) -> Option<&'a str> {
        if let Some((from, text)) = self.found.filter(|(from, _)| *from <= at) {
            return text.get(at - from..);
        }
        if at < self.wrong {
            return None;
        }
        match std::str::from_utf8(&src[at..]) {
            Ok(text) => self.found = Some((at, text)),
            Err(error) => self.wrong = at + error.valid_up_to() + 1,
        }
        self.found.map(|(_, text)| text)
    }
}

impl<'a> Parser<'a> {
    /// `(…), (…), …`; the first `(` is the current token.
    pub(super) fn insert_rows(&mut self) -> PResult<InsertSource> {
        let start = self.tok.start as usize;
        let first = self.value_row()?;
        if !self.is(Tok::Comma) || self.ahead.is_some() || !is_plain(&first) {
            return self.rows_after(vec![first]);
        }
        let offset = self.tok.start as usize;
        let Some(text) = self.utf8.text(self.src, offset) else {
            return self.rows_after(vec![first]);
        };
        let mut rows = ValueRows::beginning_with(first);
        rows.reserve(text.len().min(MAX_RESERVED), offset - start + 2);
        let mut scan = Scan { text, offset, mode: self.mode, at: 0 };
        while self.is(Tok::Comma) {
            scan.at = self.tok.end as usize - offset;
            if let Some(uneven) = self.next_rows(&mut scan, &mut rows)? {
                // The statement will fail for that row, unless it does for another reason.
                let mut rows = rows.to_exprs();
                rows.push(uneven);
                return self.rows_after(rows);
            }
        }
        Ok(InsertSource::Rows(Arc::new(rows)))
    }

    /// The rows that follow, by the grammar alone.
    fn rows_after(&mut self, mut rows: Vec<Vec<Expr>>) -> PResult<InsertSource> {
        while self.accept(Tok::Comma) {
            rows.push(self.value_row()?);
        }
        Ok(InsertSource::Values(rows))
    }

    /// Rows from behind a comma on, as long as they are of literals, and the first that is not. A
    /// row of another width is the last, too, and is given back.
    fn next_rows(
        &mut self,
        scan: &mut Scan<'a>,
        rows: &mut ValueRows,
    ) -> PResult<Option<Vec<Expr>>> {
        loop {
            scan.skip_space();
            let begin = rows.count();
            let scanned = if scan.opens_row() {
                self.scan_row(scan, rows)?
            } else {
                self.go_to(scan.offset + scan.at);
                self.value_row()?.into_iter().for_each(|value| rows.push_expr(value));
                false
            };
            let even = rows.count() - begin == rows.width();
            if scanned {
                let end = scan.at;
                scan.skip_space();
                if even && scan.byte() == b',' {
                    scan.at += 1;
                    continue;
                }
                self.go_to(scan.offset + end);
            }
            return Ok(if even { None } else { Some(rows.take_from(begin)) });
        }
    }

    /// The values of a row, from behind its `(` on. True where the bytes were read up to its end,
    /// false where the current token is the one behind it.
    fn scan_row(&mut self, scan: &mut Scan<'a>, rows: &mut ValueRows) -> PResult<bool> {
        loop {
            scan.skip_space();
            if scan.value(rows) {
                let closed = scan.byte() == b')';
                scan.at += 1;
                if closed {
                    return Ok(true);
                }
                continue;
            }
            self.go_to(scan.offset + scan.at);
            let value = self.expr_or_default()?;
            rows.push_expr(value);
            if !self.is(Tok::Comma) {
                self.expect(Tok::RParen)?;
                return Ok(false);
            }
            scan.at = self.tok.end as usize - scan.offset;
        }
    }

    /// Makes the token that begins at or after a place the current one.
    fn go_to(&mut self, at: usize) {
        self.lex.go_to(at);
        self.prev_end = at as u32;
        self.ahead = None;
        self.tok = self.lex.next();
    }
}

/// Whether at least half of a row's values are literals.
fn is_plain(row: &[Expr]) -> bool {
    let literal = |value: &&Expr| match value {
        Expr::Literal(Literal::String { charset, .. }) => charset.is_none(),
        Expr::Literal(Literal::Int(_) | Literal::Decimal(_) | Literal::Null) => true,
        Expr::Unary { expr, .. } => matches!(**expr, Expr::Literal(_)),
        _ => false,
    };
    !row.is_empty() && row.iter().filter(literal).count() * 2 >= row.len()
}

/// Reads values from bytes.
struct Scan<'a> {
    text: &'a str,
    /// Where `text` begins in the parser's.
    offset: usize,
    mode: SqlMode,
    at: usize,
}

impl Scan<'_> {
    #[inline]
    fn byte_at(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    #[inline]
    fn byte(&self) -> u8 {
        self.byte_at(self.at)
    }

    #[inline]
    fn after_space(&self, mut at: usize) -> usize {
        while matches!(self.byte_at(at), b' ' | b'\t' | b'\n' | b'\r') {
            at += 1;
        }
        at
    }

    #[inline]
    fn skip_space(&mut self) {
        self.at = self.after_space(self.at);
    }

    /// Passes the parenthesis before a row's first value.
    #[inline]
    fn opens_row(&mut self) -> bool {
        let opens = self.byte() == b'(' && self.byte_at(self.after_space(self.at + 1)) != b')';
        self.at += usize::from(opens);
        opens
    }

    /// Takes a literal, or leaves what is there: true with the comma or parenthesis behind it next.
    #[inline]
    fn value(&mut self, rows: &mut ValueRows) -> bool {
        match self.byte() {
            b'\'' => self.string(b'\'', rows),
            b'"' if !self.mode.has(SqlMode::ANSI_QUOTES) => self.string(b'"', rows),
            b'0'..=b'9' => self.number(false, rows),
            b'-' if self.byte_at(self.at + 1).is_ascii_digit() => self.number(true, rows),
            b'n' | b'N' => self.word("NULL", RowValue::Null, rows),
            b'd' | b'D' => self.word("DEFAULT", RowValue::Default, rows),
            _ => false,
        }
    }

    /// Whether a value that ends here is followed by a comma or a parenthesis, and goes there.
    #[inline]
    fn ends(&mut self, end: usize) -> bool {
        let next = self.after_space(end);
        let ends = matches!(self.byte_at(next), b',' | b')');
        if ends {
            self.at = next;
        }
        ends
    }

    #[inline]
    fn string(&mut self, quote: u8, rows: &mut ValueRows) -> bool {
        let backslash = !self.mode.has(SqlMode::NO_BACKSLASH_ESCAPES);
        let other = if backslash { b'\\' } else { quote };
        let bytes = self.text.as_bytes();
        let (start, mut end, mut escaped) = (self.at + 1, self.at + 1, false);
        loop {
            let rest = bytes.get(end..).unwrap_or_default();
            let Some(found) = find_either(rest, quote, other) else { return false };
            end += found;
            if bytes[end] == quote && bytes.get(end + 1) != Some(&quote) {
                break;
            }
            escaped = true;
            end += 2;
        }
        if !self.ends(end + 1) {
            return false;
        }
        match escaped {
            false => rows.push_text(&self.text[start..end]),
            true => {
                let bytes = unescape(&bytes[start..end], quote, backslash);
                // What is taken out and put in are ASCII characters, so it stays UTF-8.
                rows.push_text(&String::from_utf8_lossy(&bytes));
            }
        }
        true
    }

    #[inline]
    fn number(&mut self, negative: bool, rows: &mut ValueRows) -> bool {
        let start = self.at + usize::from(negative);
        let (mut end, mut value) = (start, 0u64);
        while let digit @ b'0'..=b'9' = self.byte_at(end) {
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            end += 1;
        }
        if self.byte_at(end) == b'.' && self.byte_at(end + 1).is_ascii_digit() {
            end += 1;
            while self.byte_at(end).is_ascii_digit() {
                end += 1;
            }
            let short = end - start <= LONG_NUMBER && self.ends(end);
            if short {
                rows.push_decimal(negative, &self.text[start..end]);
            }
            return short;
        }
        let short = end - start <= INT_DIGITS && self.ends(end);
        if short {
            rows.push(RowValue::Int { negative, value });
        }
        short
    }

    #[inline]
    fn word(&mut self, word: &str, value: RowValue, rows: &mut ValueRows) -> bool {
        let end = self.at + word.len();
        let bytes = self.text.as_bytes().get(self.at..end).unwrap_or_default();
        let found = bytes.eq_ignore_ascii_case(word.as_bytes()) && self.ends(end);
        if found {
            rows.push(value);
        }
        found
    }
}
