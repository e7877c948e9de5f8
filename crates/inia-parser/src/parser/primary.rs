//! Primary expressions: literals, names, variables, parentheses, CASE, CAST and subqueries.

use super::deprecated::deprecated_in_expression;
use super::{PResult, Parser, SUBQUERY_WEIGHT, expr::Interval, expr::bp, utf8};
use crate::{
    ast::{CastType, Expr, FunctionCall, Literal, MatchMode, Query, SysVar, VarScope},
    keyword::Kw,
    lexer::{Tok, Token},
};

/// MySQL 8.0's character sets, which make `_name` an introducer.
static CHARSETS: &[&str] = &[
    "armscii8", "ascii", "big5", "binary", "cp1250", "cp1251", "cp1256", "cp1257", "cp850",
    "cp852", "cp866", "cp932", "dec8", "eucjpms", "euckr", "gb18030", "gb2312", "gbk", "geostd8",
    "greek", "hebrew", "hp8", "keybcs2", "koi8r", "koi8u", "latin1", "latin2", "latin5", "latin7",
    "macce", "macroman", "sjis", "swe7", "tis620", "ucs2", "ujis", "utf16", "utf16le", "utf32",
    "utf8", "utf8mb3", "utf8mb4",
];

/// Whether a character set has that name, in any case.
pub(crate) fn is_charset(name: &str) -> bool {
    CHARSETS.iter().any(|charset| charset.eq_ignore_ascii_case(name))
}

impl Parser<'_> {
    /// An operand.
    #[inline(never)]
    pub(super) fn primary(&mut self) -> PResult<Expr> {
        match self.kind() {
            Tok::Word => self.word_primary(),
            Tok::Quoted => self.name_primary(),
            Tok::LParen => self.paren(),
            Tok::Param if self.program.is_none() => {
                self.bump();
                self.params += 1;
                Ok(Expr::Param(self.params - 1))
            }
            Tok::UserVar => self.user_var(),
            Tok::AtAt => self.sys_var_primary(),
            Tok::LBrace => self.odbc_escape(),
            _ => self.literal_primary(),
        }
    }

    #[inline(never)]
    fn sys_var_primary(&mut self) -> PResult<Expr> {
        let var = self.sys_var()?;
        if var.component.is_none()
            && let Some(remark) = deprecated_in_expression(&var.name, var.scope)
        {
            self.remark(remark.code, remark.message);
        }
        Ok(Expr::SysVar(Box::new(var)))
    }

    #[inline(never)]
    fn literal_primary(&mut self) -> PResult<Expr> {
        Ok(Expr::Literal(self.literal(None)?))
    }

    #[inline(never)]
    fn word_primary(&mut self) -> PResult<Expr> {
        match self.kw() {
            Kw::NotKeyword => self.name_primary(),
            Kw::NULL => self.constant(Literal::Null),
            Kw::TRUE => self.constant(Literal::Bool(true)),
            Kw::FALSE => self.constant(Literal::Bool(false)),
            Kw::CASE => self.case(),
            Kw::CONVERT => self.convert(),
            Kw::EXISTS => self.exists(),
            Kw::ROW if self.peek().tok == Tok::LParen => self.row(),
            Kw::MATCH => self.match_against(),
            Kw::INTERVAL => self.interval_primary(),
            Kw::DEFAULT => self.default_primary(),
            Kw::VALUES => self.insert_value(),
            Kw::DATE | Kw::TIME | Kw::TIMESTAMP if self.peek().tok == Tok::Str => {
                self.temporal_primary()
            }
            _ => self.name_primary(),
        }
    }

    #[inline(never)]
    fn exists(&mut self) -> PResult<Expr> {
        self.bump();
        Ok(Expr::Exists(self.subquery()?))
    }

    #[inline(never)]
    fn insert_value(&mut self) -> PResult<Expr> {
        self.bump();
        self.expect(Tok::LParen)?;
        let column = self.column_name()?;
        self.expect(Tok::RParen)?;
        Ok(Expr::InsertValue(column))
    }

    #[inline(never)]
    fn temporal_primary(&mut self) -> PResult<Expr> {
        let kw = self.bump().kw;
        Ok(Expr::Literal(self.temporal(kw)?))
    }

    #[inline(never)]
    fn constant(&mut self, literal: Literal) -> PResult<Expr> {
        self.bump();
        Ok(Expr::Literal(literal))
    }

    fn temporal(&mut self, kw: Kw) -> PResult<Literal> {
        let text = self.string()?;
        Ok(match kw {
            Kw::DATE => Literal::Date(text),
            Kw::TIME => Literal::Time(text),
            _ => Literal::Timestamp(text),
        })
    }

    /// A column, a function call, or an introducer with its literal.
    #[inline(never)]
    fn name_primary(&mut self) -> PResult<Expr> {
        let token = self.tok;
        if token.tok == Tok::Word && self.bytes(token)[0] == b'_' {
            let next = self.peek().tok;
            if matches!(next, Tok::Str | Tok::Hex | Tok::Bit)
                && let Some(charset) = self.introducer(token)
            {
                self.names_charset(&charset);
                return self.introduced(charset);
            }
        }
        if token.tok == Tok::Word
            && let Some(call) = self.builtin_call(token)?
        {
            return Ok(call);
        }
        if self.ahead.is_some_and(|next| next.kw == Kw::VALUE)
            && let Some(call) = self.sequence_value()?
        {
            return Ok(call);
        }
        if !Self::is_ident(token) {
            return Err(self.error());
        }
        self.bump();
        if self.is(Tok::LParen) {
            return self.generic_call(token);
        }
        self.column_or_stored_call(token)
    }

    #[inline(never)]
    fn introduced(&mut self, charset: String) -> PResult<Expr> {
        self.bump();
        Ok(Expr::Literal(self.literal(Some(charset))?))
    }

    /// A column, or a call with a database; its first part has been passed.
    #[inline(never)]
    fn column_or_stored_call(&mut self, token: Token) -> PResult<Expr> {
        let first = self.ident_value(token);
        if !self.is(Tok::Dot) {
            if self.program.is_some()
                && let Some(slot) = self.local(&first)
            {
                return self.after_local(slot);
            }
            return self.after_column(crate::ast::ColumnName::bare(first));
        }
        let column = self.column_name_from(first)?;
        if self.is(Tok::LParen)
            && column.db.is_none()
            && let Some(db) = column.table
        {
            return self.stored_call(db, column.name);
        }
        if self.program.is_some()
            && let Some(slot) = self.trigger_column(&column)?
        {
            return self.after_local(slot);
        }
        self.after_column(column)
    }

    /// `->` and `->>` after a column.
    #[inline(never)]
    fn after_column(&mut self, column: crate::ast::ColumnName) -> PResult<Expr> {
        let unquote = match self.kind() {
            Tok::Arrow => false,
            Tok::LongArrow => true,
            _ => return Ok(Expr::Column(column)),
        };
        self.bump();
        let path = self.string()?;
        Ok(Expr::JsonExtract { column, path, unquote })
    }

    /// `->` and `->>` after a program's variable or a trigger's column: the functions that they are
    /// short for.
    #[inline(never)]
    fn after_local(&mut self, slot: u32) -> PResult<Expr> {
        let unquote = match self.kind() {
            Tok::Arrow => false,
            Tok::LongArrow => true,
            _ => return Ok(Expr::Param(slot)),
        };
        self.bump();
        let call = |name, args| Expr::Function(FunctionCall::native(name, args));
        let path = Expr::Literal(Literal::String { charset: None, value: self.string()? });
        let found = call("json_extract", vec![Expr::Param(slot), path]);
        Ok(if unquote { call("json_unquote", vec![found]) } else { found })
    }

    fn introducer(&self, token: Token) -> Option<String> {
        let name = self.bytes(token)[1..].to_ascii_lowercase();
        let found = CHARSETS.iter().find(|cs| cs.as_bytes() == name)?;
        Some((*found).to_string())
    }

    /// A number or string; `charset` is the introducer before it.
    pub(super) fn literal(&mut self, charset: Option<String>) -> PResult<Literal> {
        let token = self.tok;
        let text = |p: &Self| utf8(p.bytes(token));
        let literal = match token.tok {
            Tok::Int => match text(self).parse() {
                Ok(value) => Literal::Int(value),
                Err(_) => Literal::Decimal(text(self)),
            },
            Tok::Decimal => Literal::Decimal(text(self)),
            Tok::Float => match text(self).parse::<f64>() {
                Ok(value) if value.is_finite() => Literal::Float(value),
                _ => {
                    let message =
                        format!("Illegal double '{}' value found during parsing", text(self));
                    return Err(self.other(1367, "22007", message));
                }
            },
            Tok::Hex => Literal::Hex { charset, bytes: self.hex_bytes(token) },
            Tok::Bit => Literal::Bit { charset, bytes: self.bit_bytes(token) },
            Tok::Str => return Ok(self.string_literal(charset)),
            Tok::NStr => {
                self.national();
                return Ok(self.string_literal(Some("utf8mb3".to_string())));
            }
            _ => return Err(self.error()),
        };
        self.bump();
        Ok(literal)
    }

    /// Adjacent strings as one literal.
    fn string_literal(&mut self, charset: Option<String>) -> Literal {
        let first = self.bump();
        let mut bytes = self.string_bytes(first);
        while self.is(Tok::Str) {
            let token = self.bump();
            bytes.extend(self.string_bytes(token));
        }
        match String::from_utf8(bytes) {
            Ok(value) => Literal::String { charset, value },
            Err(error) => {
                let bad = error.utf8_error().valid_up_to();
                if charset.is_none() {
                    self.ill_formed(&error.as_bytes()[bad..]);
                }
                Literal::RawBytes { charset, bytes: error.into_bytes() }
            }
        }
    }

    /// A name in a [`Tok::UserVar`] token.
    pub(super) fn user_var_name(&self, token: Token) -> String {
        let bytes = &self.bytes(token)[1..];
        match bytes.first() {
            Some(b'`') => {
                let raw = &bytes[1..bytes.len() - 1];
                utf8(&crate::lexer::unescape(raw, b'`', false))
            }
            Some(b'\'' | b'"') => {
                utf8(&self.string_bytes(Token { start: token.start + 1, tok: Tok::Str, ..token }))
            }
            _ => utf8(bytes),
        }
    }

    #[inline(never)]
    fn user_var(&mut self) -> PResult<Expr> {
        let token = self.bump();
        if self.accept(Tok::Assign) {
            let name = self.set_user_var_name(token)?;
            let value = Box::new(self.expr()?);
            self.assigns_variable();
            return Ok(Expr::AssignVar { name, value });
        }
        Ok(Expr::UserVar(self.user_var_name(token)))
    }

    /// `@@[scope.][component.]name`.
    pub(super) fn sys_var(&mut self) -> PResult<SysVar> {
        let start = self.expect(Tok::AtAt)?.start;
        let scope = match self.kw() {
            Kw::GLOBAL => Some(VarScope::Global),
            Kw::SESSION | Kw::LOCAL => Some(VarScope::Session),
            Kw::PERSIST => Some(VarScope::Persist),
            Kw::PERSIST_ONLY => Some(VarScope::PersistOnly),
            _ => None,
        };
        if scope.is_some() {
            self.bump();
            self.expect(Tok::Dot)?;
            return self.sys_var_name(scope, start);
        }
        self.sys_var_name(None, start)
    }

    /// `[component.]name`, the variable's text starting at `start`.
    pub(super) fn sys_var_name(&mut self, scope: Option<VarScope>, start: u32) -> PResult<SysVar> {
        let first = self.ident()?;
        let (component, name) = if self.accept(Tok::Dot) {
            (Some(first), self.ident_after_dot()?)
        } else {
            (None, first)
        };
        let text = self.text(start, self.prev_end);
        Ok(SysVar { scope, component, name: name.to_ascii_lowercase(), text })
    }

    /// `{d '…'}` and the like.
    #[inline(never)]
    fn odbc_escape(&mut self) -> PResult<Expr> {
        self.bump();
        let word = self.ident()?.to_ascii_lowercase();
        let expr = if self.is(Tok::Str) && matches!(word.as_str(), "d" | "t" | "ts") {
            let kw = match word.as_str() {
                "d" => Kw::DATE,
                "t" => Kw::TIME,
                _ => Kw::TIMESTAMP,
            };
            Expr::Literal(self.temporal(kw)?)
        } else {
            self.expr()?
        };
        self.expect(Tok::RBrace)?;
        Ok(expr)
    }

    /// At `(`: a subquery, an expression or a row. Afterwards `paren_was_single` sets a row that
    /// was written inside one more pair of parentheses apart from a list.
    #[inline(never)]
    pub(super) fn paren(&mut self) -> PResult<Expr> {
        self.expect(Tok::LParen)?;
        if self.at_query() {
            return self.paren_query();
        }
        let opens_with_paren = self.is(Tok::LParen);
        let first = self.expr()?;
        if opens_with_paren && self.at_query_tail() {
            return self.paren_query_tail(first);
        }
        if self.is(Tok::Comma) {
            return self.paren_row(first);
        }
        self.expect(Tok::RParen)?;
        self.paren_was_single = true;
        Ok(first)
    }

    #[inline(never)]
    fn paren_query(&mut self) -> PResult<Expr> {
        let query = self.nested_by(SUBQUERY_WEIGHT, |p| p.query())?;
        self.no_into(query.into.as_ref())?;
        self.expect(Tok::RParen)?;
        self.paren_was_single = true;
        Ok(Expr::Subquery(Box::new(query)))
    }

    /// `(first) UNION …`, where `first` turned out to be a query.
    #[inline(never)]
    fn paren_query_tail(&mut self, first: Expr) -> PResult<Expr> {
        let Expr::Subquery(query) = first else { return Err(self.error()) };
        let query = self.nested_by(SUBQUERY_WEIGHT, |p| p.query_after_paren(*query))?;
        self.expect(Tok::RParen)?;
        self.paren_was_single = true;
        Ok(Expr::Subquery(Box::new(query)))
    }

    /// `(first, …)`.
    #[inline(never)]
    fn paren_row(&mut self, first: Expr) -> PResult<Expr> {
        let mut items = vec![first];
        while self.accept(Tok::Comma) {
            items.push(self.expr()?);
        }
        self.expect(Tok::RParen)?;
        self.paren_was_single = false;
        Ok(Expr::Row(items))
    }

    /// `(query)`.
    #[inline(never)]
    pub(super) fn subquery(&mut self) -> PResult<Box<Query>> {
        if !self.is(Tok::LParen) {
            return Err(self.error());
        }
        self.bump();
        if !self.at_query() && !self.is(Tok::LParen) {
            return Err(self.error());
        }
        let query = self.nested_by(SUBQUERY_WEIGHT, |p| p.query())?;
        self.no_into(query.into.as_ref())?;
        self.expect(Tok::RParen)?;
        Ok(Box::new(query))
    }

    #[inline(never)]
    fn row(&mut self) -> PResult<Expr> {
        self.bump();
        self.expect(Tok::LParen)?;
        let mut items = vec![self.expr()?];
        while self.accept(Tok::Comma) {
            items.push(self.expr()?);
        }
        if items.len() < 2 {
            return Err(self.error());
        }
        self.expect(Tok::RParen)?;
        Ok(Expr::Row(items))
    }

    #[inline(never)]
    fn interval_primary(&mut self) -> PResult<Expr> {
        match self.interval()? {
            Interval::Function(function) => Ok(function),
            Interval::Amount(interval, unit) => {
                self.expect(Tok::Plus)?;
                let expr = Box::new(self.expr_bp(bp::NEG)?);
                let interval = Box::new(interval);
                Ok(Expr::DateArith { expr, interval, unit, subtract: false })
            }
        }
    }

    #[inline(never)]
    fn default_primary(&mut self) -> PResult<Expr> {
        self.bump();
        self.expect(Tok::LParen)?;
        let column = self.column_name()?;
        self.expect(Tok::RParen)?;
        Ok(Expr::DefaultOf(column))
    }

    #[inline(never)]
    fn case(&mut self) -> PResult<Expr> {
        self.bump();
        let operand = if self.is_kw(Kw::WHEN) { None } else { Some(Box::new(self.expr()?)) };
        let mut whens = Vec::new();
        while self.accept_kw(Kw::WHEN) {
            let when = self.expr()?;
            self.expect_kw(Kw::THEN)?;
            whens.push((when, self.expr()?));
        }
        if whens.is_empty() {
            return Err(self.error());
        }
        let else_ = if self.accept_kw(Kw::ELSE) { Some(Box::new(self.expr()?)) } else { None };
        self.expect_kw(Kw::END)?;
        Ok(Expr::Case { operand, whens, else_ })
    }

    /// CAST; the name is the current token.
    #[inline(never)]
    pub(super) fn cast(&mut self) -> PResult<Expr> {
        self.bump();
        self.expect(Tok::LParen)?;
        let expr = Box::new(self.expr()?);
        if self.accept_kw(Kw::AT) {
            self.expect_kw(Kw::TIME)?;
            self.expect_kw(Kw::ZONE)?;
            self.accept_kw(Kw::INTERVAL);
            let zone = self.string()?;
            self.expect_kw(Kw::AS)?;
            self.expect_kw(Kw::DATETIME)?;
            let fsp = self.paren_uint()?;
            self.expect(Tok::RParen)?;
            return Ok(Expr::CastAtTimeZone { expr, zone, fsp });
        }
        self.expect_kw(Kw::AS)?;
        let ty = self.cast_type()?;
        let array = self.accept_kw(Kw::ARRAY);
        self.expect(Tok::RParen)?;
        Ok(Expr::Cast { expr, ty, array })
    }

    #[inline(never)]
    fn convert(&mut self) -> PResult<Expr> {
        self.bump();
        self.expect(Tok::LParen)?;
        let expr = Box::new(self.expr()?);
        let result = if self.accept_kw(Kw::USING) {
            Expr::ConvertUsing { expr, charset: self.charset_name()? }
        } else {
            self.expect(Tok::Comma)?;
            Expr::Cast { expr, ty: self.cast_type()?, array: false }
        };
        self.expect(Tok::RParen)?;
        Ok(result)
    }

    /// `(n)`, where one stands.
    pub(super) fn paren_uint(&mut self) -> PResult<Option<u64>> {
        if !self.accept(Tok::LParen) {
            return Ok(None);
        }
        let value = self.uint()?;
        self.expect(Tok::RParen)?;
        Ok(Some(value))
    }

    /// The target of CAST.
    pub(super) fn cast_type(&mut self) -> PResult<CastType> {
        // A wrong word is not consumed: the error points at it.
        let kw = self.tok.kw;
        match kw {
            Kw::BINARY
            | Kw::DATE
            | Kw::TIME
            | Kw::DATETIME
            | Kw::YEAR
            | Kw::JSON
            | Kw::REAL
            | Kw::FLOAT
            | Kw::DOUBLE
            | Kw::SIGNED
            | Kw::UNSIGNED
            | Kw::CHAR
            | Kw::CHARACTER
            | Kw::NCHAR
            | Kw::NATIONAL
            | Kw::DECIMAL
            | Kw::DEC
            | Kw::POINT
            | Kw::LINESTRING
            | Kw::POLYGON
            | Kw::MULTIPOINT
            | Kw::MULTILINESTRING
            | Kw::MULTIPOLYGON
            | Kw::GEOMETRYCOLLECTION => {}
            _ => return Err(self.error()),
        }
        let token = self.bump();
        Ok(match kw {
            Kw::BINARY => CastType::Binary(self.paren_uint()?),
            Kw::DATE => CastType::Date,
            Kw::TIME => CastType::Time(self.paren_uint()?),
            Kw::DATETIME => CastType::DateTime(self.paren_uint()?),
            Kw::YEAR => CastType::Year,
            Kw::JSON => CastType::Json,
            Kw::REAL => CastType::Real,
            Kw::FLOAT => CastType::Float(self.paren_uint()?),
            Kw::DOUBLE => {
                self.accept_kw(Kw::PRECISION);
                CastType::Double
            }
            Kw::SIGNED | Kw::UNSIGNED => {
                let _ = self.accept_kw(Kw::INTEGER) || self.accept_kw(Kw::INT);
                if kw == Kw::SIGNED { CastType::Signed } else { CastType::Unsigned }
            }
            Kw::NCHAR => {
                self.national();
                self.cast_char(Some("utf8mb3"))?
            }
            Kw::NATIONAL => {
                self.national();
                self.expect_any(&[Kw::CHAR, Kw::CHARACTER])?;
                self.cast_char(Some("utf8mb3"))?
            }
            Kw::CHAR | Kw::CHARACTER => self.cast_char(None)?,
            Kw::DECIMAL | Kw::DEC => self.cast_decimal()?,
            _ => CastType::Geometry(utf8(self.bytes(token)).to_ascii_lowercase()),
        })
    }

    fn cast_char(&mut self, national: Option<&str>) -> PResult<CastType> {
        let length = self.paren_uint()?;
        let mut charset = national.map(str::to_string);
        if charset.is_none() {
            if self.accept_charset() {
                charset = Some(self.charset_name()?);
            } else if self.accept_kw(Kw::ASCII) {
                charset = Some("latin1".to_string());
            } else if self.accept_kw(Kw::UNICODE) {
                charset = Some("ucs2".to_string());
            } else if self.accept_kw(Kw::BYTE) {
                charset = Some("binary".to_string());
            }
        }
        Ok(CastType::Char { length, charset })
    }

    fn cast_decimal(&mut self) -> PResult<CastType> {
        let (mut precision, mut scale) = (None, None);
        if self.accept(Tok::LParen) {
            precision = Some(self.uint()?);
            if self.accept(Tok::Comma) {
                scale = Some(self.uint()?);
            }
            self.expect(Tok::RParen)?;
        }
        Ok(CastType::Decimal { precision, scale })
    }

    #[inline(never)]
    fn match_against(&mut self) -> PResult<Expr> {
        self.bump();
        let columns = if self.is(Tok::LParen) {
            self.paren_list(Self::column_name)?
        } else {
            self.list(Self::column_name)?
        };
        self.expect_kw(Kw::AGAINST)?;
        self.expect(Tok::LParen)?;
        let against = Box::new(self.expr_bp(bp::BIT_OR)?);
        let mut mode = MatchMode::Natural;
        if self.accept_kw(Kw::IN) {
            if self.accept_kw(Kw::BOOLEAN) {
                mode = MatchMode::Boolean;
            } else {
                self.expect_kw(Kw::NATURAL)?;
                self.expect_kw(Kw::LANGUAGE)?;
            }
            self.expect_kw(Kw::MODE)?;
        }
        if mode != MatchMode::Boolean && self.accept_kw(Kw::WITH) {
            self.expect_kw(Kw::QUERY)?;
            self.expect_kw(Kw::EXPANSION)?;
            mode = MatchMode::Expanded;
        }
        self.expect(Tok::RParen)?;
        Ok(Expr::Match { columns, against, mode })
    }
}
