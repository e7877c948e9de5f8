//! The tokens of a text as MySQL's lexer gives them to the digest.

use super::number::*;
use super::{Tokens, words};
use crate::SqlMode;
use crate::lexer::{Lexer, Tok, Token, unescape};
use crate::parser::is_charset;

/// Statements behind whose first word optimizer hints stand.
const HINTABLE: [&str; 5] = ["SELECT", "INSERT", "REPLACE", "UPDATE", "DELETE"];

/// Words behind which an expression begins, beside those before signs.
const OPENING: &[&str] = &[
    "DISTINCTROW",
    "ALL",
    "WHERE",
    "HAVING",
    "ON",
    "BY",
    "THEN",
    "ELSE",
    "DO",
    "BINARY",
    "ESCAPE",
    "LIMIT",
    "OFFSET",
    "RETURNING",
    "HIGH_PRIORITY",
    "SQL_CALC_FOUND_ROWS",
    "SQL_NO_CACHE",
    "SQL_SMALL_RESULT",
    "SQL_BIG_RESULT",
    "SQL_BUFFER_RESULT",
    "STRAIGHT_JOIN",
    "FROM",
    "FOR",
    "LEADING",
    "TRAILING",
    "BOTH",
    "AGAINST",
    "VALUE",
    "SEPARATOR",
];

struct Scan<'a, 't> {
    src: &'a [u8],
    mode: SqlMode,
    out: &'t mut Tokens,
    /// The token before this one.
    prev: Token,
}

pub(super) fn scan(src: &[u8], mode: SqlMode, out: &mut Tokens) {
    let mut lexer = Lexer::new(src, mode);
    let mut token = lexer.next();
    let mut scan = Scan { src, mode, out, prev: token };
    while !matches!(token.tok, Tok::Eof | Tok::Error) {
        let next = lexer.next();
        if token.tok == Tok::Word && scan.upper(token) == "WITH" && scan.upper(next) == "ROLLUP" {
            scan.out.push(WITH_ROLLUP);
            (scan.prev, token) = (next, lexer.next());
            continue;
        }
        scan.token(token);
        (scan.prev, token) = (token, next);
    }
}

impl Scan<'_, '_> {
    fn bytes(&self, token: Token) -> &[u8] {
        &self.src[token.start as usize..token.end as usize]
    }

    fn upper(&self, token: Token) -> String {
        String::from_utf8_lossy(self.bytes(token)).to_ascii_uppercase()
    }

    fn at(&self, at: usize) -> u8 {
        self.src.get(at).copied().unwrap_or(0)
    }

    fn token(&mut self, token: Token) {
        let first = self.at(token.start as usize);
        match token.tok {
            Tok::Int | Tok::Decimal | Tok::Float | Tok::Hex | Tok::Bit => self.out.value(true),
            Tok::Str | Tok::NStr | Tok::Param => self.out.value(false),
            Tok::Quoted => {
                let name = self.quoted(token.start as usize, token.end as usize);
                self.out.name(NAME, name);
            }
            Tok::Word => self.word(token),
            Tok::UserVar => self.variable(token),
            Tok::AtAt => {
                self.out.push(u16::from(b'@'));
                self.out.push(u16::from(b'@'));
            }
            Tok::RParen => self.out.close(),
            Tok::Assign => self.out.push(ASSIGN),
            Tok::AmpAmp => self.out.push(AND_AND),
            Tok::PipePipe if self.mode.has(SqlMode::PIPES_AS_CONCAT) => self.out.push(CONCAT),
            Tok::PipePipe => self.out.push(OR_OR),
            Tok::Eq => self.out.push(EQ),
            Tok::NullEq => self.out.push(NULL_SAFE_EQ),
            Tok::Ne => self.out.push(NE),
            Tok::Lt => self.out.push(LT),
            Tok::Le => self.out.push(LE),
            Tok::Gt => self.out.push(GT),
            Tok::Ge => self.out.push(GE),
            Tok::Shl => self.out.push(SHIFT_LEFT),
            Tok::Shr => self.out.push(SHIFT_RIGHT),
            Tok::Arrow => self.out.push(ARROW),
            Tok::LongArrow => self.out.push(LONG_ARROW),
            _ => self.out.push(u16::from(first)),
        }
    }

    /// The name in quotes at `start`.
    fn quoted(&self, start: usize, end: usize) -> String {
        let quote = self.at(start);
        let inner = self.src.get(start + 1..end - 1).unwrap_or_default();
        let name = unescape(inner, quote, false);
        String::from_utf8_lossy(&name).into_owned()
    }

    /// `@name` is `@` and a literal, with backquotes `@` and a name.
    fn variable(&mut self, token: Token) {
        self.out.push(u16::from(b'@'));
        let (start, end) = (token.start as usize + 1, token.end as usize);
        match self.at(start) {
            _ if start == end => {}
            b'`' => {
                let name = self.quoted(start, end);
                self.out.name(NAME, name);
            }
            _ => self.out.value(false),
        }
    }

    fn word(&mut self, token: Token) {
        let word = self.upper(token);
        match self.keyword(&word, token) {
            Some(number) => {
                self.out.push(number);
                if HINTABLE.contains(&word.as_str()) {
                    self.hints(token.end as usize);
                }
            }
            None if word == "NULL" && !self.is_after_point(token) => self.out.value(false),
            None if word.starts_with('_') && is_charset(&word[1..]) => self.out.push(CHARSET),
            None => {
                let name = String::from_utf8_lossy(self.bytes(token)).into_owned();
                self.out.name(NAME, name);
            }
        }
    }

    fn is_after_point(&self, token: Token) -> bool {
        self.prev.tok == Tok::Dot && self.prev.end == token.start
    }

    /// The number of a word that is a keyword where it stands.
    fn keyword(&self, word: &str, token: Token) -> Option<u16> {
        let end = token.end as usize;
        let names = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..);
        let variable = self.prev.tok == Tok::AtAt && self.prev.end == token.start;
        let qualifies = self.at(end) == b'.'
            && names(self.at(end + 1))
            && !self.mode.has(SqlMode::IGNORE_SPACE);
        if !variable && (self.is_after_point(token) || qualifies) {
            return None;
        }
        let rest = &self.src[end..];
        let spaces = match self.mode.has(SqlMode::IGNORE_SPACE) && !variable {
            true => rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count(),
            false => 0,
        };
        let calls = !variable && rest.get(spaces) == Some(&b'(');
        if let Some(number) = words().functions.get(word).filter(|_| calls) {
            return Some(*number);
        }
        if word == "NULL" && self.out.expects_operand(|word| OPENING.contains(&word)) {
            return None;
        }
        if word == "NOT" && self.mode.has(SqlMode::HIGH_NOT_PRECEDENCE) {
            return Some(HIGH_NOT);
        }
        words().keywords.get(word).copied()
    }

    /// Optimizer hints that begin behind `at`.
    fn hints(&mut self, at: usize) {
        let rest = &self.src[at..];
        let blank = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let Some(inside) = rest[blank..].strip_prefix(b"/*+") else { return };
        let Some(end) = inside.windows(2).position(|pair| pair == b"*/") else { return };
        let start = at + blank + 3;
        if self.src[start..start + end].iter().all(u8::is_ascii_whitespace) {
            return;
        }
        self.out.push(HINTS_OPEN);
        self.hint_tokens(start, start + end);
        self.out.push(HINTS_CLOSE);
    }

    fn hint_tokens(&mut self, mut at: usize, end: usize) {
        while at < end {
            let byte = self.at(at);
            let quoted = |quote: u8| {
                let rest = &self.src[at + 1..end];
                rest.iter().position(|byte| *byte == quote).map_or(end, |found| at + found + 2)
            };
            let number = byte.is_ascii_digit();
            let names = |byte: u8| {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'_' | b'$' | 0x80..)
                    || number && byte == b'.'
            };
            let word = || at + self.src[at..end].iter().take_while(|b| names(**b)).count();
            let next = match byte {
                b'`' => quoted(b'`'),
                b'"' | b'\'' => quoted(byte),
                _ => word().max(at + 1),
            };
            let text = String::from_utf8_lossy(&self.src[at..next]).into_owned();
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b'.' => {}
                b'@' if self.at(next) == b'@' => {}
                // MySQL's lexer of hints knows no empty strings, and gives up.
                b'"' | b'\'' if next == at + 2 => return,
                b'`' => self.hint_name(self.quoted(at, next), next),
                b'"' if self.mode.has(SqlMode::ANSI_QUOTES) => {
                    self.hint_name(self.quoted(at, next), next);
                }
                b'"' | b'\'' => self.out.value(false),
                b')' => self.out.close(),
                _ if is_amount(&text) => self.out.value(true),
                _ if next > at + 1 || names(byte) => match words().hints.get(&*text.to_uppercase())
                {
                    Some(number) => self.out.push(*number),
                    None => self.hint_name(text, next),
                },
                _ => self.out.push(u16::from(byte)),
            }
            at = next;
        }
    }

    /// A name in hints; one before `@` is a token of its own.
    fn hint_name(&mut self, name: String, next: usize) {
        let kind = if self.at(next) == b'@' { NAME_AT } else { NAME };
        self.out.name(kind, name);
    }
}

/// A number, perhaps with a unit: `16M`, `1.5`.
fn is_amount(text: &str) -> bool {
    let digits = text.trim_end_matches(['K', 'M', 'G', 'k', 'm', 'g']);
    let figures = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    figures && digits.bytes().any(|byte| byte.is_ascii_digit()) && text.len() <= digits.len() + 1
}
