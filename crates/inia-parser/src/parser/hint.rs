//! Optimizer hints: the comment `/*+ … */` right behind SELECT, INSERT, REPLACE, UPDATE or DELETE.
//!
//! Two of them are for the session: MAX_EXECUTION_TIME(n) and SET_VAR(name = value). The others are
//! about query blocks ([`blocks`]), and are sorted by them once the SELECT has been read. The first
//! mistake brings a warning and ends the reading of the comment.
//!
//! Example: of `/*+ BKA(t) SET_VAR(sql_mode = '') MAX_EXECUTION_TIME(5) */` the first hint counts,
//! the rest is passed: an empty string is a mistake.

mod blocks;

pub(super) use blocks::Blocks;

use super::Parser;
use crate::ast::{GivenHint, HintKind, HintedTable};
use crate::{SqlMode, error::ParseErrorKind};

/// What a statement's hints ask of the session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hints {
    /// MAX_EXECUTION_TIME, in milliseconds.
    pub max_execution_time: Option<u64>,
    /// SET_VAR, in order: variables and their values; and RESOURCE_GROUP.
    pub variables: Vec<(String, HintValue)>,
}

/// The value of a SET_VAR.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HintValue {
    /// An integer.
    Int(u64),
    /// A number with a point or an exponent.
    Real(String),
    /// A string.
    Text(String),
    /// A bare word.
    Word(String),
    /// None: the name is that of RESOURCE_GROUP.
    ResourceGroup,
}

impl Hints {
    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.max_execution_time.is_none() && self.variables.is_empty()
    }
}

const SEMIJOINS: [&str; 4] = ["FIRSTMATCH", "LOOSESCAN", "MATERIALIZATION", "DUPSWEEDOUT"];
const SUBQUERIES: [&str; 2] = ["INTOEXISTS", "MATERIALIZATION"];

/// A hint for the optimizer as written.
#[derive(Debug)]
pub(super) struct WrittenHint {
    hint: GivenHint,
    /// `@block` at the beginning.
    block: Option<String>,
    tables: Vec<HintedTable>,
    /// Indexes, strategies, or the block's name.
    words: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    End,
    Name(String),
    /// A name in backquotes.
    Quoted(String),
    Text(String),
    Int(u64),
    /// Digits with a K, M or G behind them.
    Sized(u64),
    Real(String),
    Mark(u8),
    Wrong,
}

/// Reads the comment's text.
struct Scan<'s> {
    src: &'s [u8],
    /// Where the comment's text ends.
    end: usize,
    pos: usize,
    /// Where the present token begins.
    start: usize,
    token: Token,
    ansi_quotes: bool,
}

/// A hint that cannot be read, from there on.
struct Mistake;

impl Scan<'_> {
    fn bump(&mut self) {
        let blank = |byte: &u8| byte.is_ascii_whitespace();
        self.pos += self.src[self.pos..self.end].iter().take_while(|b| blank(b)).count();
        self.start = self.pos;
        let rest = &self.src[self.pos..self.end];
        let Some(&first) = rest.first() else {
            self.token = Token::End;
            return;
        };
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"_$".contains(&byte) || byte > 127;
        let word = rest.iter().take_while(|byte| letter(**byte)).count();
        (self.token, self.pos) = match first {
            b'`' => self.quoted(first, Token::Quoted),
            b'"' if self.ansi_quotes => self.quoted(first, Token::Quoted),
            b'\'' | b'"' => self.quoted(first, Token::Text),
            b'0'..=b'9' => self.number(word),
            _ if word > 0 => {
                let text = String::from_utf8_lossy(&rest[..word]).into_owned();
                (Token::Name(text), self.pos + word)
            }
            b'(' | b')' | b',' | b'=' | b'@' => (Token::Mark(first), self.pos + 1),
            _ => (Token::Wrong, self.pos + 1),
        };
    }

    /// Between quotes; nothing between them is a mistake.
    fn quoted(&self, quote: u8, make: fn(String) -> Token) -> (Token, usize) {
        let inner = &self.src[self.pos + 1..self.end];
        let mut text = Vec::new();
        let mut at = 0;
        loop {
            match inner.get(at) {
                None => return (Token::Wrong, self.end),
                Some(&byte) if byte == quote && inner.get(at + 1) == Some(&quote) => at += 1,
                Some(&byte) if byte == quote => break,
                Some(_) => {}
            }
            text.push(inner[at]);
            at += 1;
        }
        let end = self.pos + at + 2;
        match text.is_empty() {
            true => (Token::Wrong, end),
            false => (make(String::from_utf8_lossy(&text).into_owned()), end),
        }
    }

    fn number(&self, word: usize) -> (Token, usize) {
        let rest = &self.src[self.pos..self.end];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let text = |length: usize| String::from_utf8_lossy(&rest[..length]).into_owned();
        let value = text(digits).parse::<u64>();
        if rest.get(digits) == Some(&b'.') {
            let fraction = rest[digits + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
            let length = digits + 1 + fraction;
            return (Token::Real(text(length)), self.pos + length);
        }
        let unit = match rest[digits..word].to_ascii_uppercase().as_slice() {
            b"" => return (value.map_or(Token::Wrong, Token::Int), self.pos + word),
            b"K" => 1 << 10,
            b"M" => 1 << 20,
            b"G" => 1 << 30,
            _ => return (Token::Wrong, self.pos + word),
        };
        let sized = value.ok().and_then(|value| value.checked_mul(unit));
        (sized.map_or(Token::Wrong, Token::Sized), self.pos + word)
    }

    fn take(&mut self) -> Token {
        let token = std::mem::replace(&mut self.token, Token::End);
        self.bump();
        token
    }

    fn is(&self, mark: u8) -> bool {
        self.token == Token::Mark(mark)
    }

    fn accept(&mut self, mark: u8) -> bool {
        let found = self.is(mark);
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, mark: u8) -> Result<(), Mistake> {
        if self.accept(mark) { Ok(()) } else { Err(Mistake) }
    }

    fn name(&mut self) -> Result<String, Mistake> {
        match &self.token {
            Token::Name(name) | Token::Quoted(name) => {
                let name = name.clone();
                self.bump();
                Ok(name)
            }
            _ => Err(Mistake),
        }
    }

    /// `@block`, where one stands.
    fn block(&mut self) -> Result<Option<String>, Mistake> {
        if !self.is(b'@') {
            return Ok(None);
        }
        self.start += 1;
        let start = self.start;
        if self.src.get(start).is_none_or(u8::is_ascii_whitespace) {
            return Err(Mistake);
        }
        self.bump();
        let (Token::Name(name) | Token::Quoted(name)) = &self.token else {
            self.start = start;
            return Err(Mistake);
        };
        let name = name.clone();
        self.bump();
        Ok(Some(name))
    }

    /// `t`, or `t@block` where blocks may still be named.
    fn table(&mut self, hint: &mut WrittenHint) -> Result<(), Mistake> {
        let name = self.name()?;
        let block = if hint.block.is_none() { self.block()? } else { None };
        hint.tables.push(HintedTable { name, block });
        Ok(())
    }

    /// `@block t, u` or `t@block, u`.
    fn tables(&mut self, hint: &mut WrittenHint) -> Result<(), Mistake> {
        hint.block = self.block()?;
        if self.is(b')') {
            return Ok(());
        }
        self.table(hint)?;
        while self.accept(b',') {
            self.table(hint)?;
        }
        Ok(())
    }

    /// As [`Scan::tables`] for one table, and the indexes behind it.
    fn indexes(&mut self, hint: &mut WrittenHint) -> Result<(), Mistake> {
        hint.block = self.block()?;
        self.table(hint)?;
        if self.is(b')') {
            return Ok(());
        }
        hint.words.push(self.name()?);
        while self.accept(b',') {
            hint.words.push(self.name()?);
        }
        Ok(())
    }

    /// Words out of a list.
    fn words(
        &mut self,
        hint: &mut WrittenHint,
        known: &[&str],
        several: bool,
    ) -> Result<(), Mistake> {
        hint.block = self.block()?;
        if several && self.is(b')') {
            return Ok(());
        }
        loop {
            match &self.token {
                Token::Name(word) if known.iter().any(|it| it.eq_ignore_ascii_case(word)) => {
                    hint.words.push(word.to_ascii_uppercase());
                    self.bump();
                }
                _ => return Err(Mistake),
            }
            if !several || !self.accept(b',') {
                return Ok(());
            }
        }
    }

    /// What stands in the parentheses of a hint for the optimizer.
    fn arguments(&mut self, hint: &mut WrittenHint) -> Result<(), Mistake> {
        match hint.hint.kind {
            HintKind::JoinFixedOrder => {
                hint.block = self.block()?;
                Ok(())
            }
            HintKind::Semijoin => self.words(hint, &SEMIJOINS, true),
            HintKind::Subquery => self.words(hint, &SUBQUERIES, false),
            HintKind::QbName => {
                hint.words.push(self.name()?);
                Ok(())
            }
            HintKind::Bka
            | HintKind::Bnl
            | HintKind::HashJoin
            | HintKind::Merge
            | HintKind::DerivedConditionPushdown
            | HintKind::JoinPrefix
            | HintKind::JoinOrder
            | HintKind::JoinSuffix => self.tables(hint),
            _ => self.indexes(hint),
        }
    }
}

impl Parser<'_> {
    /// The statement's hints so far.
    pub fn take_hints(&mut self) -> Hints {
        std::mem::take(&mut self.hints)
    }

    /// Reads the comment with hints behind the word just passed, if there is one. `timed` means
    /// that the time for execution may be limited here. The hints for the optimizer come back.
    #[inline]
    pub(super) fn opt_hints(&mut self, timed: bool) -> Option<Vec<WrittenHint>> {
        let rest = &self.src[self.prev_end as usize..];
        let lead = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        match rest[lead..].starts_with(b"/*+") {
            true => self.read_hints(self.prev_end as usize + lead + 3, timed),
            false => None,
        }
    }

    #[cold]
    fn read_hints(&mut self, begin: usize, timed: bool) -> Option<Vec<WrittenHint>> {
        let src = self.src;
        let close = src[begin..].windows(2).position(|pair| pair == b"*/")?;
        let mut scan = Scan {
            src,
            end: begin + close,
            pos: begin,
            start: begin,
            token: Token::End,
            ansi_quotes: self.mode.has(SqlMode::ANSI_QUOTES),
        };
        scan.bump();
        let (mut written, mut later) = (Vec::new(), Vec::new());
        let mut result = if scan.token == Token::End { Err(Mistake) } else { Ok(()) };
        while result.is_ok() && scan.token != Token::End {
            result = self.hint(&mut scan, timed, (&mut written, &mut later));
        }
        if result.is_err() {
            let what = match scan.token {
                Token::End => self.near_end(scan.start),
                _ => self.near(scan.start),
            };
            self.remark(1064, format!("Optimizer hint syntax error {what}"));
        }
        for (code, message) in later {
            self.remark(code, message);
        }
        Some(written)
    }

    fn near(&self, start: usize) -> String {
        let error = self.error_at(start as u32, ParseErrorKind::Syntax);
        format!("near '{}' at line {}", error.near, error.line)
    }

    fn near_end(&self, start: usize) -> String {
        let error = self.error_at(start as u32, ParseErrorKind::Syntax);
        format!("near '*/' at line {}", error.line)
    }

    fn hint(
        &mut self,
        scan: &mut Scan<'_>,
        timed: bool,
        (written, later): (&mut Vec<WrittenHint>, &mut Vec<(u16, String)>),
    ) -> Result<(), Mistake> {
        let Token::Name(name) = &scan.token else { return Err(Mistake) };
        let name = name.to_ascii_uppercase();
        let known = HintKind::of_name(&name);
        // An unknown name is not consumed: the warning points at it.
        let own = ["MAX_EXECUTION_TIME", "RESOURCE_GROUP", "SET_VAR"];
        if known.is_none() && !own.contains(&name.as_str()) {
            return Err(Mistake);
        }
        scan.bump();
        scan.expect(b'(')?;
        if let Some(hint) = known {
            let (tables, words) = (Vec::new(), Vec::new());
            let mut hint = WrittenHint { hint, block: None, tables, words };
            scan.arguments(&mut hint)?;
            scan.expect(b')')?;
            written.push(hint);
            return Ok(());
        }
        match name.as_str() {
            // These two take the closing parenthesis themselves.
            "MAX_EXECUTION_TIME" => self.time_hint(scan, timed, later),
            "SET_VAR" => self.variable_hint(scan),
            _ => {
                let group = scan.name()?;
                scan.expect(b')')?;
                self.hints.variables.retain(|(_, value)| *value != HintValue::ResourceGroup);
                self.hints.variables.push((group, HintValue::ResourceGroup));
                Ok(())
            }
        }
    }

    fn time_hint(
        &mut self,
        scan: &mut Scan<'_>,
        timed: bool,
        later: &mut Vec<(u16, String)>,
    ) -> Result<(), Mistake> {
        let Token::Int(limit) = scan.token else { return Err(Mistake) };
        scan.bump();
        let at = scan.start;
        scan.expect(b')')?;
        if limit > u64::from(u32::MAX) {
            let what = self.near(at);
            self.remark(1064, format!("Unsupported MAX_EXECUTION_TIME {what}"));
        } else if !timed {
            let text = "MAX_EXECUTION_TIME hint is supported by top-level standalone SELECT \
                        statements only";
            later.push((3125, String::from(text)));
        } else if self.hints.max_execution_time.is_some() {
            let hint = format!("MAX_EXECUTION_TIME({limit})");
            later.push((3126, format!("Hint {hint} is ignored as conflicting/duplicated")));
        } else {
            self.hints.max_execution_time = Some(limit);
        }
        Ok(())
    }

    fn variable_hint(&mut self, scan: &mut Scan<'_>) -> Result<(), Mistake> {
        if scan.is(b'@') {
            // The mark is passed before the name turns out to be none.
            scan.start += 1;
            return Err(Mistake);
        }
        let name = scan.name()?;
        scan.expect(b'=')?;
        let value = match scan.token {
            Token::Name(_) | Token::Text(_) | Token::Int(_) | Token::Sized(_) | Token::Real(_) => {
                match scan.take() {
                    Token::Name(word) => HintValue::Word(word),
                    Token::Text(text) => HintValue::Text(text),
                    Token::Int(value) | Token::Sized(value) => HintValue::Int(value),
                    Token::Real(text) => HintValue::Real(text),
                    _ => return Err(Mistake),
                }
            }
            _ => return Err(Mistake),
        };
        scan.expect(b')')?;
        self.hints.variables.push((name, value));
        Ok(())
    }
}
