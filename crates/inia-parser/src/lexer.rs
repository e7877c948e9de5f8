//! Bytes to tokens, one at a time and without allocation.
//!
//! A [`Token`] is a kind and a span of the text; values (escapes undone, digits read) are made by
//! the parser only for tokens it keeps. Version comments (`/*!80000 … */`) are transparent: their
//! inside is lexed as if the marks were spaces, for versions up to the one this product speaks
//! for. What cannot be a token (an open string, a stray byte) becomes [`Tok::Error`], which no
//! grammar rule accepts, so the error is reported at its first byte as MySQL does.

mod find;

pub(crate) use find::find_either;

use crate::{
    SqlMode,
    keyword::{self, Kw},
};

/// Version comments up to this version are executed.
pub(crate) const VERSION: u32 = 80031;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tok {
    /// End of the text.
    Eof,
    /// No token: an open string or comment, a byte that means nothing.
    Error,
    /// An unquoted word; `kw` says which keyword it is.
    Word,
    /// A quoted identifier, quotes included in the span.
    Quoted,
    /// Digits.
    Int,
    /// Digits with a point.
    Decimal,
    /// Digits with an exponent.
    Float,
    /// A quoted string.
    Str,
    /// `N'…'`.
    NStr,
    /// `0x…` or `x'…'`.
    Hex,
    /// `0b…` or `b'…'`.
    Bit,
    /// `@name`, `@'name'`, or a lone `@`.
    UserVar,
    /// `@@`.
    AtAt,
    /// `?`.
    Param,
    /// `(`.
    LParen,
    /// `)`.
    RParen,
    /// `{`.
    LBrace,
    /// `}`.
    RBrace,
    /// `,`.
    Comma,
    /// `;`.
    Semi,
    /// `.`.
    Dot,
    /// `:`.
    Colon,
    /// `:=`.
    Assign,
    /// `+`.
    Plus,
    /// `-`.
    Minus,
    /// `*`.
    Star,
    /// `/`.
    Slash,
    /// `%`.
    Percent,
    /// `&`.
    Amp,
    /// `&&`.
    AmpAmp,
    /// `|`.
    Pipe,
    /// `||`.
    PipePipe,
    /// `^`.
    Caret,
    /// `~`.
    Tilde,
    /// `!`.
    Bang,
    /// `=`.
    Eq,
    /// `<=>`.
    NullEq,
    /// `<>`, `!=`.
    Ne,
    /// `<`.
    Lt,
    /// `<=`.
    Le,
    /// `>`.
    Gt,
    /// `>=`.
    Ge,
    /// `<<`.
    Shl,
    /// `>>`.
    Shr,
    /// `->`.
    Arrow,
    /// `->>`.
    LongArrow,
}

/// A token: what it is and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) tok: Tok,
    /// The keyword a [`Tok::Word`] is.
    pub(crate) kw: Kw,
    /// Strings and quoted names: the text between the quotes is not the value as it stands.
    pub(crate) escaped: bool,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// What a byte can begin or continue.
mod class {
    pub(super) const OTHER: u8 = 0;
    pub(super) const SPACE: u8 = 1;
    pub(super) const DIGIT: u8 = 2;
    pub(super) const WORD: u8 = 3;
    pub(super) const QUOTE: u8 = 4;
    pub(super) const PUNCT: u8 = 5;
}

static CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [class::OTHER; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => class::SPACE,
            b'0'..=b'9' => class::DIGIT,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80.. => class::WORD,
            b'\'' | b'"' | b'`' => class::QUOTE,
            b'!'..=b'~' => class::PUNCT,
            _ => class::OTHER,
        };
        byte += 1;
    }
    table
}

#[inline]
fn is_word(byte: u8) -> bool {
    matches!(CLASS[byte as usize], class::WORD | class::DIGIT)
}

/// The lexer; copying it remembers a position.
///
/// Wide: what the last token was decides how the next one reads, and it must stay a copy.
#[derive(Clone, Copy)]
pub(crate) struct Lexer<'a> {
    src: &'a [u8],
    pos: usize,
    mode: SqlMode,
    /// Inside a version comment whose text is executed.
    in_version_comment: bool,
    /// The last token was a name that ends at `pos`: a point then qualifies it.
    after_name: bool,
    /// The last token was a qualifying point: digits then begin a name.
    after_dot: bool,
    /// A comment has been passed.
    pub(crate) saw_comment: bool,
    /// A comment that may hold optimizer hints has been passed.
    pub(crate) saw_hints: bool,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(src: &'a [u8], mode: SqlMode) -> Lexer<'a> {
        Lexer {
            src,
            pos: 0,
            mode,
            in_version_comment: false,
            after_name: false,
            after_dot: false,
            saw_comment: false,
            saw_hints: false,
        }
    }

    #[inline]
    fn at(&self, offset: usize) -> u8 {
        self.src.get(self.pos + offset).copied().unwrap_or(0)
    }

    fn token(&mut self, tok: Tok, start: usize, end: usize) -> Token {
        self.pos = end;
        Token { tok, kw: Kw::NotKeyword, escaped: false, start: start as u32, end: end as u32 }
    }

    /// The error token from `start`; nothing can follow it.
    fn error(&mut self, start: usize) -> Token {
        let end = self.src.len();
        self.token(Tok::Error, start, end)
    }

    /// Goes on at another place that is outside of names and comments.
    pub(crate) fn go_to(&mut self, at: usize) {
        (self.pos, self.after_name, self.after_dot) = (at, false, false);
    }

    /// The next token.
    pub(crate) fn next(&mut self) -> Token {
        let before = self.pos;
        if let Some(open) = self.skip_space() {
            return self.error(open);
        }
        let after_name = self.after_name && self.pos == before;
        let after_dot = self.after_dot && self.pos == before;
        self.after_name = false;
        self.after_dot = false;
        let start = self.pos;
        let Some(&byte) = self.src.get(start) else {
            return self.token(Tok::Eof, start, start);
        };
        match CLASS[byte as usize] {
            class::WORD => self.word(start),
            class::DIGIT if after_dot => self.name(start),
            class::DIGIT => self.number(start),
            class::QUOTE => self.quoted(start, byte),
            class::PUNCT if byte == b'.' && !after_name && self.at(1).is_ascii_digit() => {
                self.number(start)
            }
            class::PUNCT => self.punctuation(start, byte, after_name),
            _ => self.error(start),
        }
    }

    /// Skips white space and comments; the start of a comment that is never closed.
    fn skip_space(&mut self) -> Option<usize> {
        loop {
            match self.at(0) {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => self.pos += 1,
                b'#' => self.skip_line(),
                b'-' if self.at(1) == b'-' && (self.at(2) <= b' ' || self.at(2) == 0x7f) => {
                    self.skip_line();
                }
                b'/' if self.at(1) == b'*' => {
                    let open = self.pos;
                    self.saw_comment = true;
                    if !self.open_comment() {
                        return Some(open);
                    }
                }
                b'*' if self.in_version_comment && self.at(1) == b'/' => {
                    self.in_version_comment = false;
                    self.pos += 2;
                }
                _ if self.pos >= self.src.len() && self.in_version_comment => {
                    self.in_version_comment = false;
                    return Some(self.pos);
                }
                _ => return None,
            }
        }
    }

    fn skip_line(&mut self) {
        self.saw_comment = true;
        let rest = &self.src[self.pos..];
        self.pos += rest.iter().position(|&b| b == b'\n').map_or(rest.len(), |n| n + 1);
    }

    /// At `/*`: passes the comment, or only its mark where its text is executed.
    fn open_comment(&mut self) -> bool {
        if self.at(2) == b'!' {
            let digits = (0..6).take_while(|&i| self.at(3 + i).is_ascii_digit()).count();
            if digits < 5 {
                self.pos += 3;
                self.in_version_comment = true;
                return true;
            }
            let number = (0..digits).fold(0, |n, i| n * 10 + u32::from(self.at(3 + i) - b'0'));
            if number <= VERSION {
                self.pos += 3 + digits;
                self.in_version_comment = true;
                return true;
            }
            return self.skip_comment(true);
        }
        self.saw_hints |= self.at(2) == b'+';
        self.skip_comment(false)
    }

    /// At `/*`: passes the comment; a skipped version comment may hold plain comments.
    fn skip_comment(&mut self, nested: bool) -> bool {
        self.pos += 2;
        while self.pos < self.src.len() {
            if self.at(0) == b'*' && self.at(1) == b'/' {
                self.pos += 2;
                return true;
            }
            if nested && self.at(0) == b'/' && self.at(1) == b'*' {
                if !self.skip_comment(false) {
                    return false;
                }
                continue;
            }
            self.pos += 1;
        }
        false
    }

    fn word(&mut self, start: usize) -> Token {
        if self.at(1) == b'\'' {
            match self.src[start] {
                b'n' | b'N' => {
                    let token = self.string(start, start + 1, b'\'');
                    let tok = if token.tok == Tok::Str { Tok::NStr } else { token.tok };
                    return Token { tok, ..token };
                }
                b'x' | b'X' => return self.digit_string(start, Tok::Hex),
                b'b' | b'B' => return self.digit_string(start, Tok::Bit),
                _ => {}
            }
        }
        self.name(start)
    }

    /// A name or keyword.
    fn name(&mut self, start: usize) -> Token {
        let rest = &self.src[start..];
        let len = rest.iter().position(|&b| !is_word(b)).unwrap_or(rest.len());
        let mut token = self.token(Tok::Word, start, start + len);
        token.kw = keyword::lookup(&self.src[start..start + len]);
        self.after_name = true;
        token
    }

    /// `x'…'` and `b'…'`.
    fn digit_string(&mut self, start: usize, tok: Tok) -> Token {
        let digits = &self.src[start + 2..];
        let len = digits.iter().position(|&b| b == b'\'');
        let Some(len) = len else { return self.error(start) };
        let good = match tok {
            Tok::Hex => len % 2 == 0 && digits[..len].iter().all(u8::is_ascii_hexdigit),
            _ => digits[..len].iter().all(|b| matches!(b, b'0' | b'1')),
        };
        if good { self.token(tok, start, start + len + 3) } else { self.error(start) }
    }

    fn number(&mut self, start: usize) -> Token {
        if self.src[start] == b'0' {
            // The marks are lower-case only; a word that goes on with other characters is a name.
            let tok = match self.at(1) {
                b'x' => Some(Tok::Hex),
                b'b' => Some(Tok::Bit),
                _ => None,
            };
            if let Some(tok) = tok {
                let rest = &self.src[start + 2..];
                let len = rest.iter().position(|&b| !is_word(b)).unwrap_or(rest.len());
                let good = len > 0
                    && rest[..len].iter().all(|&b| match tok {
                        Tok::Hex => b.is_ascii_hexdigit(),
                        _ => matches!(b, b'0' | b'1'),
                    });
                return if good {
                    self.token(tok, start, start + 2 + len)
                } else {
                    self.name(start)
                };
            }
        }
        let byte = |at: usize| self.src.get(at).copied().unwrap_or(0);
        let digits = |mut at: usize| {
            while byte(at).is_ascii_digit() {
                at += 1;
            }
            at
        };
        let exponent = |at: usize| {
            if !matches!(byte(at), b'e' | b'E') {
                return None;
            }
            let sign = usize::from(matches!(byte(at + 1), b'+' | b'-'));
            byte(at + 1 + sign).is_ascii_digit().then(|| digits(at + 1 + sign))
        };
        let whole = digits(start);
        // A point excludes a name: an exponent without digits is an error behind it.
        if byte(whole) == b'.' {
            let fraction = digits(whole + 1);
            return match exponent(fraction) {
                Some(end) => self.token(Tok::Float, start, end),
                None if matches!(byte(fraction), b'e' | b'E') => self.error(start),
                None => self.token(Tok::Decimal, start, fraction),
            };
        }
        // Without a point, digits that go on as a word are a name.
        match exponent(whole) {
            Some(end) if !is_word(byte(end)) => self.token(Tok::Float, start, end),
            _ if is_word(byte(whole)) => self.name(start),
            _ => self.token(Tok::Int, start, whole),
        }
    }

    fn quoted(&mut self, start: usize, quote: u8) -> Token {
        if quote == b'`' || (quote == b'"' && self.mode.has(SqlMode::ANSI_QUOTES)) {
            let token = self.quoted_name(start, start, quote, Tok::Quoted);
            self.after_name = true;
            return token;
        }
        self.string(start, start, quote)
    }

    /// A name in quotes that open at `open`; only doubled quotes are special, and no byte is zero.
    fn quoted_name(&mut self, start: usize, open: usize, quote: u8, tok: Tok) -> Token {
        let mut at = open + 1;
        let mut escaped = false;
        loop {
            match self.src[at..].iter().position(|&b| b == quote) {
                None => return self.error(start),
                Some(n) if self.src.get(at + n + 1) == Some(&quote) => {
                    escaped = true;
                    at += n + 2;
                }
                Some(n) if self.src[open..at + n].contains(&0) => return self.error(start),
                Some(n) => {
                    let token = self.token(tok, start, at + n + 1);
                    return Token { escaped, ..token };
                }
            }
        }
    }

    /// A string whose quote opens at `open`.
    fn string(&mut self, start: usize, open: usize, quote: u8) -> Token {
        let backslash = !self.mode.has(SqlMode::NO_BACKSLASH_ESCAPES);
        let other = if backslash { b'\\' } else { quote };
        let mut at = open + 1;
        let mut escaped = false;
        while let Some(found) = find_either(self.src.get(at..).unwrap_or_default(), quote, other) {
            at += found;
            if self.src[at] == quote && self.src.get(at + 1) != Some(&quote) {
                let token = self.token(Tok::Str, start, at + 1);
                return Token { escaped, ..token };
            }
            escaped = true;
            at += 2;
        }
        self.error(start)
    }

    fn punctuation(&mut self, start: usize, byte: u8, after_name: bool) -> Token {
        // Among tokens with the same first byte, longer ones precede their prefixes.
        let (tok, len) = match (byte, self.at(1), self.at(2)) {
            (b'(', ..) => (Tok::LParen, 1),
            (b')', ..) => (Tok::RParen, 1),
            (b'{', ..) => (Tok::LBrace, 1),
            (b'}', ..) => (Tok::RBrace, 1),
            (b',', ..) => (Tok::Comma, 1),
            (b';', ..) => (Tok::Semi, 1),
            (b'?', ..) => (Tok::Param, 1),
            (b'.', ..) => (Tok::Dot, 1),
            (b':', b'=', _) => (Tok::Assign, 2),
            (b':', ..) => (Tok::Colon, 1),
            (b'+', ..) => (Tok::Plus, 1),
            (b'-', b'>', b'>') => (Tok::LongArrow, 3),
            (b'-', b'>', _) => (Tok::Arrow, 2),
            (b'-', ..) => (Tok::Minus, 1),
            (b'*', ..) => (Tok::Star, 1),
            (b'/', ..) => (Tok::Slash, 1),
            (b'%', ..) => (Tok::Percent, 1),
            (b'&', b'&', _) => (Tok::AmpAmp, 2),
            (b'&', ..) => (Tok::Amp, 1),
            (b'|', b'|', _) => (Tok::PipePipe, 2),
            (b'|', ..) => (Tok::Pipe, 1),
            (b'^', ..) => (Tok::Caret, 1),
            (b'~', ..) => (Tok::Tilde, 1),
            (b'!', b'=', _) => (Tok::Ne, 2),
            (b'!', ..) => (Tok::Bang, 1),
            (b'=', b'=', _) => return self.error(start),
            (b'=', ..) => (Tok::Eq, 1),
            (b'<', b'=', b'>') => (Tok::NullEq, 3),
            (b'<', b'=', _) => (Tok::Le, 2),
            (b'<', b'>', _) => (Tok::Ne, 2),
            (b'<', b'<', _) => (Tok::Shl, 2),
            (b'<', ..) => (Tok::Lt, 1),
            (b'>', b'=', _) => (Tok::Ge, 2),
            (b'>', b'>', _) => (Tok::Shr, 2),
            (b'>', ..) => (Tok::Gt, 1),
            (b'@', b'@', _) => (Tok::AtAt, 2),
            (b'@', ..) => return self.user_var(start),
            _ => return self.error(start),
        };
        // A qualifying point makes digits behind it begin a name.
        self.after_dot = tok == Tok::Dot && (after_name || is_word(self.at(1)));
        self.token(tok, start, start + len)
    }

    /// `@name`: letters, digits, `_`, `$` and points, or a quoted name, or nothing.
    fn user_var(&mut self, start: usize) -> Token {
        match self.at(1) {
            b'`' => self.quoted_name(start, start + 1, b'`', Tok::UserVar),
            quote @ (b'\'' | b'"') => {
                let token = self.string(start, start + 1, quote);
                let tok = if token.tok == Tok::Str { Tok::UserVar } else { token.tok };
                Token { tok, ..token }
            }
            _ => {
                let rest = &self.src[start + 1..];
                let len = rest.iter().position(|&b| !is_word(b) && b != b'.').unwrap_or(rest.len());
                self.token(Tok::UserVar, start, start + 1 + len)
            }
        }
    }
}

/// The text of a string or quoted name: `raw` stands between the quotes.
pub(crate) fn unescape(raw: &[u8], quote: u8, backslash: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len());
    let mut at = 0;
    while let Some(&byte) = raw.get(at) {
        at += 1;
        if byte == quote {
            at += 1;
        } else if byte == b'\\' && backslash {
            let Some(&code) = raw.get(at) else { break };
            at += 1;
            match code {
                b'n' => out.push(b'\n'),
                b't' => out.push(b'\t'),
                b'r' => out.push(b'\r'),
                b'b' => out.push(8),
                b'0' => out.push(0),
                b'Z' => out.push(26),
                b'%' | b'_' => out.extend([b'\\', code]),
                _ => out.push(code),
            }
            continue;
        }
        out.push(byte);
    }
    out
}

#[cfg(test)]
mod tests;
