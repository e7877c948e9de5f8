//! The recursive-descent parser.
//!
//! [`Parser`] holds the current token and, where needed, one token ahead. Grammar rules are
//! methods, one file per family: they return a node or a [`ParseError`] at the current token,
//! which is always the first token that no rule could take, as in MySQL's own messages.
//!
//! Stack use is bounded: every rule that can contain itself calls [`Parser::enter`], which counts
//! the depth and measures the stack, and chains (AND, OR, set operations, left-deep operators)
//! are loops whose tree depth is also counted. Rules on the way of a recursion are kept out of
//! line, so that an operand does not pay for the frames of all the syntaxes it might have been.

mod account;
mod admin;
mod alter;
mod call;
mod column;
mod ddl;
mod deprecated;
mod dml;
mod expr;
mod hint;
mod name;
mod partition;
mod primary;
mod program;
mod remark;
mod resource_group;
mod routine;
mod rows;
mod select;
mod sequence;
mod server;
mod set;
mod show;
mod spatial_reference;
mod stmt;
mod table;
mod tablespace;
mod tcl;
mod user;
mod window;

pub use deprecated::{deprecated_in_set, deprecated_name_of, deprecated_variable};
pub(crate) use expr::bp;
pub use hint::{HintValue, Hints};
pub(crate) use primary::is_charset;
pub use remark::{Remark, deprecated_charset, deprecated_collation};

use crate::{
    ParseError, ParseErrorKind, SqlMode,
    ast::{Expr, Literal, Statement},
    keyword::Kw,
    lexer::{Lexer, Tok, Token},
};

/// How far a parse may go, so that neither it nor what is done with the tree overflows the stack.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// How deep expressions, subqueries and joins may nest, all levels added up.
    depth: u32,
    /// How high an expression's tree may grow, chains of left-associative operators included.
    height: u32,
    /// How much stack the parse itself may use. Unoptimized code uses several times as much for
    /// the same text.
    stack: usize,
}

/// What every thread's stack has room for.
const USUAL: Limits = Limits {
    depth: 200,
    height: 400,
    stack: if cfg!(debug_assertions) { 1 << 20 } else { 160 << 10 },
};

/// What a stack of [`DEEP_STACK`] bytes has room for.
const DEEP: Limits = Limits { depth: 12_000, height: 3_000, stack: DEEP_STACK / 4 * 3 };

/// How much stack a caller of [`Parser::deep`] must have left, for the parse and for all that is
/// done with the statement.
pub const DEEP_STACK: usize = if cfg!(debug_assertions) { 384 << 20 } else { 64 << 20 };

/// How many joins may follow one another.
pub(crate) const MAX_JOINS: u32 = 200;
/// The nesting a subquery counts for.
const SUBQUERY_WEIGHT: u32 = 4;

/// A parser that nobody gives memory to asks for none before so many nodes.
const FREE_NODES: u32 = 1024;

/// Gives memory for a tree of so many nodes; where there is none, how many bytes there are.
pub type Room = Box<dyn FnMut(u64) -> Result<(), u64>>;

type PResult<T> = Result<T, Box<ParseError>>;

/// Where a statement stands in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// After the last byte, the `;` not included.
    pub end: usize,
}

/// Reads statements from a text, one after another.
///
/// Wide: one field for each clause whose meaning depends on where it stands.
pub struct Parser<'a> {
    src: &'a [u8],
    mode: SqlMode,
    lex: Lexer<'a>,
    tok: Token,
    ahead: Option<Token>,
    /// Where the token before `tok` ended.
    prev_end: u32,
    depth: u32,
    limits: Limits,
    /// Nodes of syntax trees, about: expressions, and members of lists.
    nodes: u32,
    /// So many there may be before more memory is asked for.
    most_nodes: u32,
    room: Option<Room>,
    params: u32,
    /// Where the stack stood when the statement began.
    stack_base: usize,
    /// The height of the expression trees built so far at this level.
    height: u32,
    /// How tightly an operator may bind after the operand just read.
    cap: u8,
    /// Whether the parentheses read last held one expression.
    paren_was_single: bool,
    /// Where the current statement began.
    begin: usize,
    /// The stored program whose body this is in.
    program: Option<Box<program::ProgramScope>>,
    /// Warnings of the syntax.
    remarks: Vec<Remark>,
    /// What optimizer hints ask of the session.
    hints: Hints,
    /// Query blocks so far.
    block_count: u32,
    /// The number of the SELECT that comes next, where it was given before.
    next_block: Option<u32>,
    /// Query blocks with hints for the optimizer.
    blocks: Option<Box<hint::Blocks>>,
    /// The next SELECT is the statement itself.
    top_select: bool,
    /// RETURNING may follow the query that is being read.
    may_return: bool,
    /// From where on the text is known to be UTF-8.
    utf8: rows::Utf8<'a>,
}

/// Parses one statement; a second one after `;` is an error.
pub fn parse(sql: &str, mode: SqlMode) -> Result<Statement, ParseError> {
    parse_bytes(sql.as_bytes(), mode)
}

/// Like [`parse`] for text that may hold raw binary strings.
pub fn parse_bytes(sql: &[u8], mode: SqlMode) -> Result<Statement, ParseError> {
    let mut parser = Parser::from_bytes(sql, mode);
    let (statement, _) = parser.next_statement()?.ok_or_else(|| parser.empty())?;
    parser.expect_end()?;
    Ok(statement)
}

/// Parses an expression that stands alone (a stored default, a generated column, a CHECK).
pub fn parse_expr(sql: &str, mode: SqlMode) -> Result<Expr, ParseError> {
    let mut parser = Parser::new(sql, mode);
    let expr = parser.expr().map_err(|e| *e)?;
    if parser.tok.tok != Tok::Eof {
        return Err(*parser.error());
    }
    Ok(expr)
}

impl<'a> Parser<'a> {
    /// A parser at the beginning of `sql`.
    pub fn new(sql: &'a str, mode: SqlMode) -> Parser<'a> {
        Parser::from_bytes(sql.as_bytes(), mode)
    }

    /// Like [`Parser::new`] for text that may hold raw binary strings.
    pub fn from_bytes(src: &'a [u8], mode: SqlMode) -> Parser<'a> {
        let mut lex = Lexer::new(src, mode);
        let tok = lex.next();
        Parser {
            src,
            mode,
            lex,
            tok,
            ahead: None,
            prev_end: 0,
            depth: 0,
            limits: USUAL,
            nodes: 0,
            most_nodes: u32::MAX,
            room: None,
            params: 0,
            stack_base: stack_position(),
            height: 0,
            cap: u8::MAX,
            paren_was_single: false,
            begin: 0,
            program: None,
            remarks: Vec::new(),
            hints: Hints::default(),
            block_count: 0,
            next_block: None,
            blocks: None,
            utf8: rows::Utf8::default(),
            top_select: false,
            may_return: false,
        }
    }

    /// Takes statements that nest much deeper than usual. They, too, overflow no stack that has
    /// [`DEEP_STACK`] bytes left.
    pub fn deep(mut self) -> Parser<'a> {
        self.limits = DEEP;
        self
    }

    /// Asks for memory for its trees, which may take much more than their text.
    pub fn within(mut self, room: Room) -> Parser<'a> {
        (self.room, self.most_nodes) = (Some(room), FREE_NODES);
        self
    }

    /// How many nodes the statements so far have, about.
    pub fn nodes(&self) -> u64 {
        u64::from(self.nodes)
    }

    /// The number of `?` in the statement just returned.
    pub fn param_count(&self) -> u32 {
        self.params
    }

    /// The next statement and where it stands, `None` at the end of the text. A text without any
    /// statement is an error 1065, a text of comments alone gives [`Statement::Empty`].
    pub fn next_statement(&mut self) -> Result<Option<(Statement, Span)>, ParseError> {
        self.step().map_err(|error| *error)
    }

    fn step(&mut self) -> PResult<Option<(Statement, Span)>> {
        let text_start = self.prev_end as usize;
        let blank = |b: &u8| b.is_ascii_whitespace();
        let lead = self.src[text_start..].iter().take_while(|b| blank(b)).count();
        self.begin = text_start + lead;
        self.params = 0;
        self.top_select = false;
        (self.block_count, self.next_block, self.blocks) = (0, None, None);
        self.program = None;
        self.depth = 0;
        self.height = 0;
        self.stack_base = stack_position();
        if self.tok.tok == Tok::Eof {
            if self.lex.saw_comment && text_start == 0 {
                self.prev_end = self.tok.end.max(1);
                self.lex.saw_comment = false;
                let span = Span { start: self.begin, end: self.src.len() };
                return Ok(Some((Statement::Empty, span)));
            }
            return if text_start == 0 { Err(Box::new(self.empty())) } else { Ok(None) };
        }
        if self.tok.tok == Tok::Semi {
            return Err(Box::new(self.empty()));
        }
        let statement = self.statement()?;
        if self.blocks.is_some() {
            self.close_blocks(&statement);
        }
        let span = Span { start: self.begin, end: self.prev_end as usize };
        match self.kind() {
            Tok::Semi => {
                self.bump();
                // What follows the last statement may be blank, or further semicolons.
                while self.tok.tok == Tok::Semi && self.only_semicolons_left() {
                    self.bump();
                }
            }
            Tok::Eof => {}
            _ => return Err(self.error()),
        }
        Ok(Some((statement, span)))
    }

    fn only_semicolons_left(&self) -> bool {
        self.src[self.tok.start as usize..].iter().all(|&b| b == b';' || b.is_ascii_whitespace())
    }

    fn expect_end(&self) -> Result<(), ParseError> {
        if self.tok.tok == Tok::Eof { Ok(()) } else { Err(*self.error()) }
    }

    fn empty(&self) -> ParseError {
        ParseError {
            kind: ParseErrorKind::EmptyQuery,
            offset: self.tok.start as usize,
            line: 1,
            near: String::new(),
        }
    }

    // Errors.

    /// A syntax error at the current token.
    #[cold]
    fn error(&self) -> Box<ParseError> {
        self.error_at(self.tok.start, ParseErrorKind::Syntax)
    }

    /// An error of another kind at the current token.
    #[cold]
    fn fail(&self, kind: ParseErrorKind) -> Box<ParseError> {
        self.error_at(self.tok.start, kind)
    }

    /// An error with a finished message.
    #[cold]
    fn other(&self, code: u16, state: &'static str, message: String) -> Box<ParseError> {
        self.fail(ParseErrorKind::Other { code, state, message })
    }

    #[cold]
    fn error_at(&self, offset: u32, kind: ParseErrorKind) -> Box<ParseError> {
        const NEAR: usize = 80;
        let offset = offset as usize;
        let rest = &self.src[offset.min(self.src.len())..];
        let mut end = rest.len().min(NEAR);
        while end > 0 && end < rest.len() && rest[end] & 0xc0 == 0x80 {
            end -= 1;
        }
        let before = &self.src[self.begin.min(offset)..offset.min(self.src.len())];
        let line = 1 + before.iter().filter(|&&b| b == b'\n').count() as u32;
        // MySQL's message ends where a C string does.
        let end = rest[..end].iter().position(|&byte| byte == 0).unwrap_or(end);
        let near = String::from_utf8_lossy(&rest[..end]).into_owned();
        Box::new(ParseError { kind, offset, line, near })
    }

    // Tokens.

    /// Moves to the next token and returns the one passed.
    #[inline]
    fn bump(&mut self) -> Token {
        let passed = self.tok;
        self.prev_end = passed.end;
        self.tok = match self.ahead.take() {
            Some(token) => token,
            None => self.lex.next(),
        };
        passed
    }

    /// The token after the current one.
    fn peek(&mut self) -> Token {
        match self.ahead {
            Some(token) => token,
            None => {
                let token = self.lex.next();
                self.ahead = Some(token);
                token
            }
        }
    }

    #[inline]
    fn kind(&self) -> Tok {
        self.tok.tok
    }

    #[inline]
    fn kw(&self) -> Kw {
        self.tok.kw
    }

    #[inline]
    fn is(&self, tok: Tok) -> bool {
        self.tok.tok == tok
    }

    #[inline]
    fn is_kw(&self, kw: Kw) -> bool {
        self.tok.kw == kw
    }

    fn peek_is_kw(&mut self, kw: Kw) -> bool {
        self.peek().kw == kw
    }

    fn accept(&mut self, tok: Tok) -> bool {
        let found = self.tok.tok == tok;
        if found {
            self.bump();
        }
        found
    }

    fn accept_kw(&mut self, kw: Kw) -> bool {
        let found = self.tok.kw == kw;
        if found {
            self.bump();
        }
        found
    }

    /// Takes the first of `kws` that is the current keyword.
    fn accept_any(&mut self, kws: &[Kw]) -> Option<Kw> {
        let found = kws.iter().copied().find(|&kw| self.tok.kw == kw)?;
        self.bump();
        Some(found)
    }

    /// Takes two keywords where both stand in a row.
    fn accept_pair(&mut self, first: Kw, second: Kw) -> bool {
        let found = self.is_kw(first) && self.peek_is_kw(second);
        if found {
            self.bump();
            self.bump();
        }
        found
    }

    fn expect(&mut self, tok: Tok) -> PResult<Token> {
        if self.tok.tok == tok { Ok(self.bump()) } else { Err(self.error()) }
    }

    fn expect_kw(&mut self, kw: Kw) -> PResult<()> {
        if self.accept_kw(kw) { Ok(()) } else { Err(self.error()) }
    }

    fn expect_any(&mut self, kws: &[Kw]) -> PResult<Kw> {
        self.accept_any(kws).ok_or_else(|| self.error())
    }

    /// Takes an unquoted word that is no keyword of its own, compared without case.
    fn accept_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.bump();
        }
        found
    }

    fn is_word(&self, word: &str) -> bool {
        self.is(Tok::Word) && self.bytes(self.tok).eq_ignore_ascii_case(word.as_bytes())
    }

    /// An optional `=`.
    fn opt_eq(&mut self) {
        self.accept(Tok::Eq);
    }

    /// One or more of `item`, separated by commas.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> PResult<T>) -> PResult<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.accept(Tok::Comma) {
            self.count_node()?;
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `(item, …)`, at least one.
    fn paren_list<T>(&mut self, item: impl FnMut(&mut Self) -> PResult<T>) -> PResult<Vec<T>> {
        self.expect(Tok::LParen)?;
        let items = self.list(item)?;
        self.expect(Tok::RParen)?;
        Ok(items)
    }

    /// Runs `rule` one level deeper, or fails where that is too deep.
    fn nested<T>(&mut self, rule: impl FnOnce(&mut Self) -> PResult<T>) -> PResult<T> {
        self.nested_by(1, rule)
    }

    /// Goes `weight` levels deeper, or fails where that is too deep; the caller takes the levels
    /// from `depth` again.
    fn enter(&mut self, weight: u32) -> PResult<()> {
        self.count_node()?;
        self.depth += weight;
        let used = self.stack_base.abs_diff(stack_position());
        if self.depth > self.limits.depth || used > self.limits.stack {
            return Err(self.fail(ParseErrorKind::TooDeep));
        }
        Ok(())
    }

    #[inline]
    fn count_node(&mut self) -> PResult<()> {
        self.nodes += 1;
        if self.nodes < self.most_nodes { Ok(()) } else { self.more_room() }
    }

    /// Asks for memory for half as many nodes again; error 3170 where there is none.
    #[cold]
    fn more_room(&mut self) -> PResult<()> {
        let wanted = self.nodes.saturating_add(self.nodes / 2);
        let given = self.room.as_mut().map_or(Err(0), |room| room(u64::from(wanted)));
        match given {
            Ok(()) => {
                self.most_nodes = wanted;
                Ok(())
            }
            Err(limit) => {
                let message = format!(
                    "Memory capacity of {limit} bytes for 'parser_max_mem_size' exceeded. Parser \
                     bailed out for this query."
                );
                Err(self.other(3170, "HY000", message))
            }
        }
    }

    fn nested_by<T>(
        &mut self,
        weight: u32,
        rule: impl FnOnce(&mut Self) -> PResult<T>,
    ) -> PResult<T> {
        self.enter(weight)?;
        let result = rule(self);
        self.depth -= weight;
        result
    }

    // Texts and values of tokens.

    #[inline]
    fn bytes(&self, token: Token) -> &'a [u8] {
        &self.src[token.start as usize..token.end as usize]
    }

    /// The source between two offsets, without blanks at its ends.
    fn text(&self, start: u32, end: u32) -> String {
        let raw = &self.src[start as usize..(end as usize).max(start as usize)];
        String::from_utf8_lossy(raw).trim().to_string()
    }

    /// The rest of the statement as text, up to its end or `;`.
    fn rest_text(&mut self) -> String {
        let start = self.tok.start;
        while !matches!(self.tok.tok, Tok::Eof | Tok::Semi | Tok::Error) {
            self.bump();
        }
        self.text(start, self.prev_end)
    }
}

/// About where the stack stands now.
#[inline(never)]
fn stack_position() -> usize {
    let here = 0u8;
    std::hint::black_box(&raw const here).addr()
}

fn utf8(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// A string literal without introducer.
fn string_expr(value: String) -> Expr {
    Expr::Literal(Literal::String { charset: None, value })
}

#[cfg(test)]
mod tests;
