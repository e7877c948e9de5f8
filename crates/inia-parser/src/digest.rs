//! The digest of a statement: one pass over its tokens in which literals that may become
//! parameters are replaced by their kind.
//!
//! Two statements with the same digest have the same plan. So a literal is only replaced where
//! its value changes neither names nor types nor the shape of the plan: in WHERE, ON, HAVING,
//! VALUES, SET and LIMIT, outside calls of functions. Everything else counts as written. In
//! `SELECT c, 1 FROM t WHERE id = 5 AND f(2) = 'x' ORDER BY 2 LIMIT 10` the parameters are `5`,
//! `'x'` and `10`; the `1` names a column, the `2`s are an argument and a position.

use crate::{
    SqlMode,
    keyword::Kw,
    lexer::{Lexer, Tok, Token},
};

/// The kinds of literals that become parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LiteralKind {
    /// Digits.
    Int,
    /// Digits with a point.
    Decimal,
    /// Digits with an exponent.
    Float,
    /// A quoted string without escapes: its value stands between the quotes.
    PlainString,
    /// A quoted string with escapes or doubled quotes.
    EscapedString,
}

/// A literal that became a parameter: its kind and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiteralSpan {
    /// What it is.
    pub kind: LiteralKind,
    /// First byte (of strings: the quote).
    pub start: u32,
    /// After the last byte.
    pub end: u32,
}

/// The digest of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// Hash of the tokens with parameters replaced.
    pub hash: u64,
    /// A second, independent hash, for statements with the same `hash`.
    pub check: u64,
    /// The parameters in the order of the text.
    pub params: Vec<LiteralSpan>,
}

/// Digests `sql`, `None` where it is no single SELECT, INSERT, REPLACE, UPDATE or DELETE, has
/// parameters of its own or optimizer hints, or does not consist of valid tokens.
pub fn digest(sql: &str, mode: SqlMode) -> Option<Digest> {
    let src = sql.as_bytes();
    let mut lexer = Lexer::new(src, mode);
    let mut state = State::new(src);
    state.hash.word(mode.parsing().0);
    let mut token = lexer.next();
    let cacheable =
        matches!(token.kw, Kw::SELECT | Kw::INSERT | Kw::REPLACE | Kw::UPDATE | Kw::DELETE);
    if !cacheable {
        return None;
    }
    loop {
        match token.tok {
            Tok::Eof => return (!lexer.saw_hints).then(|| state.finish()),
            Tok::Semi => {
                let rest = lexer.next();
                return (rest.tok == Tok::Eof && !lexer.saw_hints).then(|| state.finish());
            }
            Tok::Error | Tok::Param => return None,
            _ => state.token(token),
        }
        token = lexer.next();
    }
}

/// What literals are at one level of parentheses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clause {
    /// They may become parameters.
    Params,
    /// They count as written.
    Literal,
    /// They count as written, here and in all parentheses inside: arguments of a function.
    Arguments,
}

struct State<'a> {
    src: &'a [u8],
    hash: Hasher,
    params: Vec<LiteralSpan>,
    clause: Clause,
    outer: Vec<Clause>,
    prev: Tok,
    prev_kw: Kw,
}

impl<'a> State<'a> {
    fn new(src: &'a [u8]) -> State<'a> {
        State {
            src,
            hash: Hasher::new(),
            params: Vec::new(),
            clause: Clause::Literal,
            outer: Vec::new(),
            prev: Tok::Eof,
            prev_kw: Kw::NotKeyword,
        }
    }

    fn finish(self) -> Digest {
        let (hash, check) = self.hash.finish();
        Digest { hash, check, params: self.params }
    }

    fn token(&mut self, token: Token) {
        match token.tok {
            Tok::Word => self.keyword(token.kw),
            Tok::LParen => self.open(),
            Tok::RParen => self.clause = self.outer.pop().unwrap_or(self.clause),
            _ => {}
        }
        match self.param_kind(token) {
            Some(kind) => {
                self.params.push(LiteralSpan { kind, start: token.start, end: token.end });
                self.hash.tag(0x80 + kind as u8);
            }
            None => {
                self.hash.tag(token.tok as u8);
                if has_text(token.tok) {
                    self.hash.bytes(&self.src[token.start as usize..token.end as usize]);
                }
            }
        }
        self.prev = token.tok;
        self.prev_kw = token.kw;
    }

    /// Keywords that begin a clause.
    fn keyword(&mut self, kw: Kw) {
        if self.clause == Clause::Arguments && kw != Kw::SELECT {
            return;
        }
        match kw {
            Kw::WHERE | Kw::ON | Kw::HAVING | Kw::VALUES | Kw::VALUE | Kw::SET | Kw::LIMIT => {
                self.clause = Clause::Params;
            }
            Kw::SELECT
            | Kw::FROM
            | Kw::ORDER
            | Kw::GROUP
            | Kw::WINDOW
            | Kw::INTO
            | Kw::PARTITION => {
                self.clause = Clause::Literal;
            }
            _ => {}
        }
    }

    /// `(`: the arguments of a function, or a level that goes on as the one around it.
    fn open(&mut self) {
        self.outer.push(self.clause);
        let grouping = match self.prev {
            Tok::Word => matches!(
                self.prev_kw,
                Kw::IN
                    | Kw::VALUES
                    | Kw::VALUE
                    | Kw::AND
                    | Kw::OR
                    | Kw::XOR
                    | Kw::NOT
                    | Kw::WHERE
                    | Kw::ON
                    | Kw::HAVING
                    | Kw::BETWEEN
                    | Kw::EXISTS
                    | Kw::FROM
                    | Kw::JOIN
                    | Kw::UNION
                    | Kw::ALL
            ),
            Tok::Quoted => false,
            _ => true,
        };
        if !grouping {
            self.clause = Clause::Arguments;
        }
    }

    /// The kind of parameter that `token` becomes.
    fn param_kind(&self, token: Token) -> Option<LiteralKind> {
        if self.clause != Clause::Params {
            return None;
        }
        let kind = match token.tok {
            Tok::Int => LiteralKind::Int,
            Tok::Decimal => LiteralKind::Decimal,
            Tok::Float => LiteralKind::Float,
            Tok::Str if token.escaped => LiteralKind::EscapedString,
            Tok::Str => LiteralKind::PlainString,
            _ => return None,
        };
        // Behind other words and behind operands, a literal may belong to a larger one (`DATE '…'`,
        // `'a' 'b'`) or name a column: it counts as written there.
        let operand = match self.prev {
            Tok::Word => matches!(
                self.prev_kw,
                Kw::AND
                    | Kw::OR
                    | Kw::XOR
                    | Kw::NOT
                    | Kw::BETWEEN
                    | Kw::LIKE
                    | Kw::LIMIT
                    | Kw::OFFSET
                    | Kw::WHERE
                    | Kw::WHEN
                    | Kw::THEN
                    | Kw::ELSE
                    | Kw::ON
                    | Kw::HAVING
                    | Kw::DIV
                    | Kw::MOD
            ),
            Tok::RParen | Tok::Quoted | Tok::UserVar | Tok::AtAt | Tok::Dot => false,
            // The grammar takes the path behind an arrow only as a literal.
            Tok::Arrow | Tok::LongArrow => false,
            Tok::Int | Tok::Decimal | Tok::Float | Tok::Str | Tok::NStr | Tok::Hex | Tok::Bit => {
                false
            }
            _ => true,
        };
        operand.then_some(kind)
    }
}

/// True for tokens whose kind does not say all.
fn has_text(tok: Tok) -> bool {
    matches!(
        tok,
        Tok::Word
            | Tok::Quoted
            | Tok::Int
            | Tok::Decimal
            | Tok::Float
            | Tok::Str
            | Tok::NStr
            | Tok::Hex
            | Tok::Bit
            | Tok::UserVar
    )
}

/// Two multiply-and-fold hashes over the same words.
struct Hasher {
    first: u64,
    second: u64,
}

impl Hasher {
    fn new() -> Hasher {
        Hasher { first: 0x243f_6a88_85a3_08d3, second: 0x1319_8a2e_0370_7344 }
    }

    fn word(&mut self, word: u64) {
        let fold = |a: u64, b: u64| {
            let product = u128::from(a) * u128::from(b);
            product as u64 ^ (product >> 64) as u64
        };
        self.first = fold(self.first ^ word, 0x9e37_79b9_7f4a_7c15).wrapping_add(word);
        self.second = fold(self.second.rotate_left(23) ^ word, 0xd6e8_feb8_6659_fd93) ^ self.first;
    }

    fn tag(&mut self, tag: u8) {
        self.word(u64::from(tag));
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    fn finish(mut self) -> (u64, u64) {
        self.word(0x4528_21e6_38d0_1377);
        (self.first, self.second)
    }
}

#[cfg(test)]
mod tests;
