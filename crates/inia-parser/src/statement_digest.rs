//! The digest of a statement as MySQL computes it: a normal form of its text, and its SHA-256.
//!
//! Monitoring tools group statements by it, so both are MySQL's byte for byte. Literals become `?`,
//! lists of them `...`, and names are quoted:
//!
//! ```text
//! select a from t where b in (1,2) and c = -5
//! SELECT `a` FROM `t` WHERE `b` IN (...) AND `c` = - ?
//! ```
//!
//! The hash is that of the tokens' numbers in MySQL 8.0's grammar, two bytes each, and of names
//! behind their length. `tokens.txt` has the number of each keyword, and the word that the text
//! shows where several words are one token. A `(` behind a word means that it is a keyword only
//! where a parenthesis follows, a `+` before it that it is a word of optimizer hints.

mod scan;

use crate::SqlMode;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::sync::OnceLock;

/// A statement's digest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatementDigest {
    /// The normal form of the text.
    pub text: String,
    /// SHA-256 of the tokens.
    pub hash: [u8; 32],
}

impl StatementDigest {
    /// The hash in hexadecimal digits.
    pub fn hex(&self) -> String {
        self.hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The digest of `sql`, whose tokens may take `limit` bytes (`max_digest_length`); those beyond do
/// not count. The text must be a statement that parses.
pub fn statement_digest(sql: &str, mode: SqlMode, limit: usize) -> StatementDigest {
    let mut tokens = Tokens { items: Vec::new(), bytes: 0, limit, is_full: false };
    scan::scan(sql.as_bytes(), mode, &mut tokens);
    StatementDigest { text: tokens.text(), hash: tokens.hash() }
}

/// Numbers of tokens in MySQL 8.0's grammar. Those below 256 are characters.
pub(super) mod number {
    pub(super) const UNUSED: u16 = 0;
    pub(super) const AND_AND: u16 = 273;
    pub(super) const EQ: u16 = 415;
    pub(super) const NULL_SAFE_EQ: u16 = 416;
    pub(super) const GE: u16 = 456;
    pub(super) const GT: u16 = 469;
    pub(super) const ARROW: u16 = 514;
    pub(super) const LE: u16 = 522;
    pub(super) const LT: u16 = 549;
    pub(super) const NE: u16 = 614;
    pub(super) const HIGH_NOT: u16 = 621;
    pub(super) const OR_OR: u16 = 642;
    pub(super) const CONCAT: u16 = 644;
    pub(super) const ASSIGN: u16 = 757;
    pub(super) const SHIFT_LEFT: u16 = 759;
    pub(super) const SHIFT_RIGHT: u16 = 760;
    pub(super) const CHARSET: u16 = 852;
    pub(super) const WITH_ROLLUP: u16 = 894;
    pub(super) const LONG_ARROW: u16 = 907;
    pub(super) const VALUE: u16 = 1100;
    pub(super) const VALUES: u16 = 1101;
    pub(super) const ROW_OF_ONE: u16 = 1102;
    pub(super) const ROWS_OF_ONE: u16 = 1103;
    pub(super) const ROW: u16 = 1104;
    pub(super) const ROWS: u16 = 1105;
    pub(super) const NAME: u16 = 1106;
    pub(super) const NAME_AT: u16 = 1107;
    pub(super) const IN_VALUES: u16 = 1110;
    pub(super) const HINTS_OPEN: u16 = 1108;
    pub(super) const HINTS_CLOSE: u16 = 1109;
}
use number::*;

/// Texts of the tokens that are no words.
const SIGNS: &[(u16, &str)] = &[
    (AND_AND, "&&"),
    (EQ, "="),
    (NULL_SAFE_EQ, "<=>"),
    (GE, ">="),
    (GT, ">"),
    (ARROW, "->"),
    (LE, "<="),
    (LT, "<"),
    (NE, "!="),
    (HIGH_NOT, "!"),
    (OR_OR, "||"),
    (CONCAT, "||"),
    (ASSIGN, ":="),
    (SHIFT_LEFT, "<<"),
    (SHIFT_RIGHT, ">>"),
    (CHARSET, "(_charset)"),
    (WITH_ROLLUP, "WITH ROLLUP"),
    (LONG_ARROW, "->>"),
    (VALUE, "?"),
    (VALUES, "?, ..."),
    (ROW_OF_ONE, "(?)"),
    (ROWS_OF_ONE, "(?) /* , ... */"),
    (ROW, "(...)"),
    (ROWS, "(...) /* , ... */"),
    (IN_VALUES, "IN (...)"),
    (HINTS_OPEN, "/*+"),
    (HINTS_CLOSE, "*/"),
];

/// Words behind which an expression begins: a sign before a number belongs to it there.
const BEFORE_EXPRESSIONS: &[&str] = &[
    "EVERY", "AT", "STARTS", "ENDS", "DEFAULT", "RETURN", "IF", "ELSEIF", "CASE", "WHEN", "WHILE",
    "UNTIL", "SELECT", "OR", "XOR", "AND", "NOT", "BETWEEN", "LIKE", "RLIKE", "INTERVAL", "DIV",
    "MOD",
];

/// The words of `tokens.txt`.
struct Words {
    keywords: HashMap<&'static str, u16>,
    functions: HashMap<&'static str, u16>,
    hints: HashMap<&'static str, u16>,
    /// What the text shows of a token.
    texts: HashMap<u16, &'static str>,
    before_expressions: Vec<u16>,
    in_list: u16,
}

fn words() -> &'static Words {
    static WORDS: OnceLock<Words> = OnceLock::new();
    WORDS.get_or_init(|| read_words(include_str!("statement_digest/tokens.txt")))
}

fn read_words(table: &'static str) -> Words {
    let mut words = Words {
        keywords: HashMap::new(),
        functions: HashMap::new(),
        hints: HashMap::new(),
        texts: SIGNS.iter().copied().collect(),
        before_expressions: Vec::new(),
        in_list: 0,
    };
    for line in table.lines() {
        let mut parts = line.split(' ');
        let (Some(word), Some(Ok(number))) = (parts.next(), parts.next().map(str::parse::<u16>))
        else {
            continue;
        };
        let plain = word.trim_start_matches('+').trim_end_matches('(');
        let kind = match word {
            _ if word.starts_with('+') => &mut words.hints,
            _ if word.ends_with('(') => &mut words.functions,
            _ => &mut words.keywords,
        };
        kind.insert(plain, number);
        if parts.next().is_none() {
            words.texts.insert(number, plain);
        }
    }
    let of = |word: &&str| words.keywords.get(word).copied();
    words.before_expressions = BEFORE_EXPRESSIONS.iter().filter_map(of).collect();
    words.before_expressions.extend([AND_AND, OR_OR, SHIFT_LEFT, SHIFT_RIGHT]);
    words.before_expressions.extend(b"(,|&+-*/%^".map(u16::from));
    words.in_list = words.keywords.get("IN").copied().unwrap_or(UNUSED);
    words
}

/// A token of the normal form.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Item {
    Token(u16),
    /// A name, with the token that it is.
    Name(u16, String),
}

/// The tokens so far, reduced.
pub(super) struct Tokens {
    items: Vec<Item>,
    /// What the tokens take in MySQL's form.
    bytes: usize,
    limit: usize,
    is_full: bool,
}

impl Tokens {
    /// The token that stands `back` places before the end, 1 being the last; names are none.
    fn peek(&self, back: usize) -> u16 {
        match self.items.len().checked_sub(back).map(|at| &self.items[at]) {
            Some(Item::Token(number)) => *number,
            _ => UNUSED,
        }
    }

    fn pop(&mut self, count: usize) {
        self.items.truncate(self.items.len() - count);
        self.bytes -= 2 * count;
    }

    /// Adds a token as it is.
    pub(super) fn push(&mut self, number: u16) {
        self.is_full |= self.bytes + 2 > self.limit;
        if !self.is_full {
            self.bytes += 2;
            self.items.push(Item::Token(number));
        }
    }

    /// Adds a name; `kind` is [`NAME`] or [`NAME_AT`].
    pub(super) fn name(&mut self, kind: u16, name: String) {
        self.is_full |= self.bytes + 4 + name.len() > self.limit;
        if !self.is_full {
            self.bytes += 4 + name.len();
            self.items.push(Item::Name(kind, name));
        }
    }

    /// Adds a literal. A number takes in the signs before it where they are no operators.
    pub(super) fn value(&mut self, is_number: bool) {
        if self.is_full {
            return;
        }
        let sign = |number| number == u16::from(b'-') || number == u16::from(b'+');
        let before = &words().before_expressions;
        while is_number && sign(self.peek(1)) && before.contains(&self.peek(2)) {
            self.pop(1);
        }
        let list = self.peek(1) == u16::from(b',') && matches!(self.peek(2), VALUE | VALUES);
        if list {
            self.pop(2);
        }
        self.push(if list { VALUES } else { VALUE });
    }

    /// Adds `)`: parentheses around literals are a row, and rows are a list.
    pub(super) fn close(&mut self) {
        if self.is_full {
            return;
        }
        let opened = self.peek(2) == u16::from(b'(');
        let (row, rows) = match self.peek(1) {
            VALUE if opened => (ROW_OF_ONE, ROWS_OF_ONE),
            VALUES if opened => (ROW, ROWS),
            _ => return self.push(u16::from(b')')),
        };
        self.pop(2);
        if self.peek(1) == words().in_list {
            self.pop(1);
            return self.push(IN_VALUES);
        }
        let list = self.peek(1) == u16::from(b',') && [row, rows].contains(&self.peek(2));
        if list {
            self.pop(2);
        }
        self.push(if list { rows } else { row });
    }

    /// Whether an expression may begin behind the last token: a NULL there is a literal.
    pub(super) fn expects_operand(&self, mut is_opening: impl FnMut(&str) -> bool) -> bool {
        let last = self.peek(1);
        match last {
            UNUSED => false,
            CONCAT | ASSIGN | EQ | NULL_SAFE_EQ | GE | GT | LE | LT | NE | HIGH_NOT => true,
            33 | 126 => true,
            _ if words().before_expressions.contains(&last) => {
                // NOT NULL is an attribute of a column, or a part of IS NOT NULL, behind operands.
                let not = words().texts.get(&last) == Some(&"NOT");
                !not || self.before_last().expects_operand(is_opening)
            }
            _ => words().texts.get(&last).is_some_and(|word| is_opening(word)),
        }
    }

    /// The tokens without the last one.
    fn before_last(&self) -> Tokens {
        let keep = self.items.len().saturating_sub(1);
        let items = self.items[keep.saturating_sub(1)..keep].to_vec();
        Tokens { items, bytes: 0, limit: self.limit, is_full: false }
    }

    fn hash(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        for item in &self.items {
            match item {
                Item::Token(number) => hash.update(number.to_le_bytes()),
                Item::Name(number, name) => {
                    hash.update(number.to_le_bytes());
                    hash.update((name.len() as u16).to_le_bytes());
                    hash.update(name.as_bytes());
                }
            }
        }
        hash.finalize().into()
    }

    fn text(&self) -> String {
        /// Names of more bytes have no text.
        const MAX_NAME: usize = 64;
        let mut out = String::with_capacity(self.bytes * 2);
        for item in &self.items {
            match item {
                Item::Name(_, name) if name.is_empty() => {}
                Item::Name(_, name) if name.len() > MAX_NAME => out.push_str("..."),
                Item::Name(number, name) => {
                    let space = if *number == NAME { " " } else { "" };
                    out.extend(["`", name, "`", space]);
                }
                Item::Token(64) => out.push('@'),
                Item::Token(number @ ..=255) => out.extend([*number as u8 as char, ' ']),
                Item::Token(number) => {
                    let text = words().texts.get(number).copied().unwrap_or_default();
                    out.extend([text, " "]);
                }
            }
        }
        out.truncate(out.trim_end_matches(' ').len());
        out
    }
}

#[cfg(test)]
mod tests;
