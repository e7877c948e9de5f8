//! Function calls, plain and with a syntax of their own.
//!
//! MySQL knows a few function names as keywords only where `(` follows at once (or the sql_mode
//! has IGNORE_SPACE); with a space between they are names of stored functions.

use super::{PResult, Parser, expr::Interval, utf8};
use crate::{
    ParseErrorKind, SqlMode,
    ast::{
        AggregateCall, AggregateFunc, CastType, Expr, FunctionCall, JsonOnResponse, JsonValue,
        TrimSide, Written,
    },
    keyword::Kw,
    lexer::{Tok, Token},
};
use inia_base::temporal::IntervalUnit;

/// A call of a built-in function by its lower-case name.
fn call(name: &str, args: Vec<Expr>) -> Expr {
    Expr::Function(FunctionCall::native(name, args))
}

/// Remark 1287 of a column of JSON_TABLE.
const EMPTY_BEHIND_ERROR: &str = "Specifying an ON EMPTY clause after the ON ERROR clause in a \
    JSON_TABLE column definition is deprecated syntax and will be removed in a future release. \
    Specify ON EMPTY before ON ERROR instead.";

impl Parser<'_> {
    /// True where the token after the current one is `(` at a place that makes it a call of one
    /// of the names that allow no space.
    fn paren_adjoins(&mut self) -> bool {
        let name = self.tok;
        let next = self.peek();
        next.tok == Tok::LParen && (next.start == name.end || self.mode.has(SqlMode::IGNORE_SPACE))
    }

    /// The functions with a syntax of their own, `None` where `token` begins none of them.
    #[inline(never)]
    pub(super) fn builtin_call(&mut self, token: Token) -> PResult<Option<Expr>> {
        match token.kw {
            Kw::CURRENT_TIMESTAMP | Kw::LOCALTIME | Kw::LOCALTIMESTAMP => self.bare_time("now"),
            Kw::CURRENT_TIME => self.bare_time("curtime"),
            Kw::CURRENT_DATE => self.bare_time("curdate"),
            Kw::UTC_DATE => self.bare_time("utc_date"),
            Kw::UTC_TIME => self.bare_time("utc_time"),
            Kw::UTC_TIMESTAMP => self.bare_time("utc_timestamp"),
            Kw::CURRENT_USER => self.bare_time("current_user"),
            Kw::NotKeyword => self.named_call(token),
            Kw::CHAR => self.char_call().map(Some),
            Kw::IF => self.fixed_call("if", 3, 3).map(Some),
            Kw::LEFT => self.fixed_call("left", 2, 2).map(Some),
            Kw::RIGHT => self.fixed_call("right", 2, 2).map(Some),
            Kw::REPEAT => self.fixed_call("repeat", 2, 2).map(Some),
            Kw::REPLACE => self.fixed_call("replace", 3, 3).map(Some),
            Kw::INSERT => self.fixed_call("insert", 4, 4).map(Some),
            Kw::MOD => self.fixed_call("mod", 2, 2).map(Some),
            Kw::DATABASE | Kw::SCHEMA => self.fixed_call("database", 0, 0).map(Some),
            Kw::GROUPING => self.fixed_call("grouping", 1, 64).map(Some),
            _ if token.kw.is_reserved() => match self.window_func(token.kw) {
                Some(func) => self.window_call(func).map(Some),
                None => Ok(None),
            },
            _ if self.peek().tok != Tok::LParen => Ok(None),
            Kw::TIMESTAMPADD | Kw::TIMESTAMPDIFF => self.timestamp_call(token.kw).map(Some),
            Kw::GET_FORMAT => self.get_format_call().map(Some),
            Kw::WEIGHT_STRING => self.weight_string_call().map(Some),
            Kw::JSON_VALUE => self.json_value_call().map(Some),
            _ => self.named_call(token),
        }
    }

    /// A function that needs no parentheses; an integer in them is its precision.
    #[inline(never)]
    fn bare_time(&mut self, name: &str) -> PResult<Option<Expr>> {
        self.bump();
        let mut args = Vec::new();
        if self.accept(Tok::LParen) {
            if self.is(Tok::Int) {
                args.push(Expr::Literal(self.literal(None)?));
            }
            self.expect(Tok::RParen)?;
        }
        Ok(Some(call(name, args)))
    }

    /// Names that are special by their text: aggregates and the functions of SQL's own syntax.
    #[inline(never)]
    fn named_call(&mut self, token: Token) -> PResult<Option<Expr>> {
        let mut buffer = [0u8; 16];
        let bytes = self.bytes(token);
        let Some(name) = buffer.get_mut(..bytes.len()) else { return Ok(None) };
        name.copy_from_slice(bytes);
        name.make_ascii_lowercase();
        if !self.paren_adjoins() {
            return Ok(None);
        }
        if let Some(func) = aggregate(name) {
            self.bump();
            return self.aggregate_call(func).map(Some);
        }
        let expr = match &*name {
            b"substring" | b"substr" | b"mid" => self.substring_call()?,
            b"cast" => self.cast()?,
            b"trim" => self.trim_call()?,
            b"position" => self.position_call()?,
            b"extract" => self.extract_call()?,
            b"adddate" | b"date_add" => self.date_arith_call(false, name.len() == 7)?,
            b"subdate" | b"date_sub" => self.date_arith_call(true, name.len() == 7)?,
            b"now" => return self.bare_time("now"),
            b"sysdate" => return self.bare_time("sysdate"),
            b"curdate" => self.fixed_call("curdate", 0, 0)?,
            b"curtime" => return self.bare_time("curtime"),
            b"user" | b"session_user" | b"system_user" => self.fixed_call("user", 0, 0)?,
            _ => return Ok(None),
        };
        Ok(Some(expr))
    }

    /// `name(args)`, the name being the current token, with a number of arguments that the
    /// grammar itself limits.
    #[inline(never)]
    fn fixed_call(&mut self, name: &str, min: usize, max: usize) -> PResult<Expr> {
        self.bump();
        self.expect(Tok::LParen)?;
        let mut args = Vec::new();
        while args.len() < max && !(args.len() >= min && self.is(Tok::RParen)) {
            if !args.is_empty() {
                self.expect(Tok::Comma)?;
            }
            args.push(self.expr()?);
        }
        self.expect(Tok::RParen)?;
        Ok(call(name, args))
    }

    /// A call of any other name; the name has been passed.
    #[inline(never)]
    pub(super) fn generic_call(&mut self, token: Token) -> PResult<Expr> {
        let text = self.ident_value(token);
        let name = text.to_ascii_lowercase();
        let apart = self.tok.start != token.end && !self.mode.has(SqlMode::IGNORE_SPACE);
        let args = self.call_args()?;
        let mut call = FunctionCall::native(&name, args);
        // In quotes such a name is none of the grammar's either.
        let apart = apart || token.tok != Tok::Word;
        call.written.apart = apart && allows_no_space(name.as_bytes());
        if text != name {
            call.written.text = Some(text.into());
        }
        Ok(Expr::Function(call))
    }

    /// `db.name(args)`; the name has been passed.
    #[inline(never)]
    pub(super) fn stored_call(&mut self, db: String, name: String) -> PResult<Expr> {
        let args = self.call_args()?;
        Ok(Expr::Function(FunctionCall { db: Some(db), name, args, written: Written::default() }))
    }

    /// `(a, b, …)`, possibly empty. Arguments of loadable functions may have an alias.
    #[inline(never)]
    pub(super) fn call_args(&mut self) -> PResult<Vec<Expr>> {
        self.expect(Tok::LParen)?;
        let mut args = Vec::new();
        if !self.is(Tok::RParen) {
            loop {
                args.push(self.expr()?);
                if !self.accept(Tok::Comma) {
                    break;
                }
            }
        }
        self.expect(Tok::RParen)?;
        Ok(args)
    }

    #[inline(never)]
    fn substring_call(&mut self) -> PResult<Expr> {
        self.bump();
        self.expect(Tok::LParen)?;
        let mut args = vec![self.expr()?];
        if self.accept_kw(Kw::FROM) {
            args.push(self.expr()?);
            if self.accept_kw(Kw::FOR) {
                args.push(self.expr()?);
            }
        } else {
            self.expect(Tok::Comma)?;
            args.push(self.expr()?);
            if self.accept(Tok::Comma) {
                args.push(self.expr()?);
            }
        }
        self.expect(Tok::RParen)?;
        Ok(call("substr", args))
    }

    #[inline(never)]
    fn position_call(&mut self) -> PResult<Expr> {
        self.bump();
        self.expect(Tok::LParen)?;
        let needle = self.expr_bp(super::expr::bp::BIT_OR)?;
        self.expect_kw(Kw::IN)?;
        let hay = self.expr()?;
        self.expect(Tok::RParen)?;
        Ok(call("locate", vec![needle, hay]))
    }

    #[inline(never)]
    fn trim_call(&mut self) -> PResult<Expr> {
        self.bump();
        self.expect(Tok::LParen)?;
        let side = match self.accept_any(&[Kw::BOTH, Kw::LEADING, Kw::TRAILING]) {
            Some(Kw::LEADING) => TrimSide::Leading,
            Some(Kw::TRAILING) => TrimSide::Trailing,
            Some(_) => TrimSide::Both,
            None => {
                let first = Box::new(self.expr()?);
                let (what, expr) = if self.accept_kw(Kw::FROM) {
                    (Some(first), Box::new(self.expr()?))
                } else {
                    (None, first)
                };
                self.expect(Tok::RParen)?;
                return Ok(Expr::Trim { side: TrimSide::Both, what, expr });
            }
        };
        let what = if self.is_kw(Kw::FROM) { None } else { Some(Box::new(self.expr()?)) };
        self.expect_kw(Kw::FROM)?;
        let expr = Box::new(self.expr()?);
        self.expect(Tok::RParen)?;
        Ok(Expr::Trim { side, what, expr })
    }

    #[inline(never)]
    fn extract_call(&mut self) -> PResult<Expr> {
        self.bump();
        self.expect(Tok::LParen)?;
        let unit = self.interval_unit()?;
        self.expect_kw(Kw::FROM)?;
        let expr = Box::new(self.expr()?);
        self.expect(Tok::RParen)?;
        Ok(Expr::Extract { unit, expr })
    }

    /// DATE_ADD(d, INTERVAL n unit); ADDDATE and SUBDATE also take a number of days.
    #[inline(never)]
    fn date_arith_call(&mut self, subtract: bool, days: bool) -> PResult<Expr> {
        self.bump();
        self.expect(Tok::LParen)?;
        let expr = Box::new(self.expr()?);
        self.expect(Tok::Comma)?;
        let (interval, unit) = if self.is_kw(Kw::INTERVAL) {
            match self.interval()? {
                Interval::Amount(amount, unit) => (amount, unit),
                Interval::Function(function) if days => (function, IntervalUnit::Day),
                Interval::Function(_) => return Err(self.error()),
            }
        } else if days {
            (self.expr()?, IntervalUnit::Day)
        } else {
            return Err(self.error());
        };
        self.expect(Tok::RParen)?;
        Ok(Expr::DateArith { expr, interval: Box::new(interval), unit, subtract })
    }

    #[inline(never)]
    fn timestamp_call(&mut self, kw: Kw) -> PResult<Expr> {
        self.bump();
        self.expect(Tok::LParen)?;
        let at = self.tok.start;
        let unit = self.interval_unit()?;
        if unit.is_composite() {
            return Err(self.error_at(at, ParseErrorKind::Syntax));
        }
        self.expect(Tok::Comma)?;
        let first = Box::new(self.expr()?);
        self.expect(Tok::Comma)?;
        let second = Box::new(self.expr()?);
        self.expect(Tok::RParen)?;
        if kw == Kw::TIMESTAMPADD {
            return Ok(Expr::DateArith { expr: second, interval: first, unit, subtract: false });
        }
        Ok(Expr::TimestampDiff { unit, from: first, to: second })
    }

    #[inline(never)]
    fn get_format_call(&mut self) -> PResult<Expr> {
        self.bump();
        self.expect(Tok::LParen)?;
        let kind = self.expect_any(&[Kw::DATE, Kw::TIME, Kw::DATETIME, Kw::TIMESTAMP])?;
        let kind = match kind {
            Kw::DATE => "DATE",
            Kw::TIME => "TIME",
            _ => "DATETIME",
        };
        self.expect(Tok::Comma)?;
        let format = self.expr()?;
        self.expect(Tok::RParen)?;
        Ok(call("get_format", vec![Expr::string(kind), format]))
    }

    #[inline(never)]
    fn char_call(&mut self) -> PResult<Expr> {
        self.bump();
        self.expect(Tok::LParen)?;
        let args = self.list(Self::expr)?;
        let charset = if self.accept_kw(Kw::USING) { Some(self.charset_name()?) } else { None };
        self.expect(Tok::RParen)?;
        Ok(Expr::Char { args, charset })
    }

    #[inline(never)]
    fn weight_string_call(&mut self) -> PResult<Expr> {
        self.bump();
        self.expect(Tok::LParen)?;
        let expr = Box::new(self.expr()?);
        let mut cast = None;
        if self.accept_kw(Kw::AS) {
            let kw = self.expect_any(&[Kw::CHAR, Kw::CHARACTER, Kw::BINARY])?;
            let length = self.paren_uint()?;
            cast = Some(match kw {
                Kw::BINARY => CastType::Binary(length),
                _ => CastType::Char { length, charset: None },
            });
        }
        self.expect(Tok::RParen)?;
        Ok(Expr::WeightString { expr, cast })
    }

    #[inline(never)]
    fn json_value_call(&mut self) -> PResult<Expr> {
        self.bump();
        self.expect(Tok::LParen)?;
        let doc = self.expr()?;
        self.expect(Tok::Comma)?;
        let path = self.expr()?;
        let returning = if self.accept_kw(Kw::RETURNING) { Some(self.cast_type()?) } else { None };
        let (on_empty, on_error) = self.on_empty_on_error(false)?;
        self.expect(Tok::RParen)?;
        let value = JsonValue { doc, path, returning, on_empty, on_error };
        Ok(Expr::JsonValue(Box::new(value)))
    }

    /// `[… ON EMPTY] [… ON ERROR]`; in the `other` order, too, which MySQL warns of.
    pub(super) fn on_empty_on_error(
        &mut self,
        other: bool,
    ) -> PResult<(Option<JsonOnResponse>, Option<JsonOnResponse>)> {
        let (mut on_empty, mut on_error) = (None, None);
        loop {
            let response = match self.kw() {
                Kw::NULL => {
                    self.bump();
                    JsonOnResponse::Null
                }
                Kw::ERROR => {
                    self.bump();
                    JsonOnResponse::Error
                }
                Kw::DEFAULT => {
                    self.bump();
                    match self.signed_literal()? {
                        Expr::Literal(literal) => JsonOnResponse::Default(literal),
                        _ => return Err(self.error()),
                    }
                }
                _ => return Ok((on_empty, on_error)),
            };
            self.expect_kw(Kw::ON)?;
            match self.expect_any(&[Kw::EMPTY, Kw::ERROR])? {
                Kw::EMPTY if on_empty.is_none() && (other || on_error.is_none()) => {
                    if on_error.is_some() {
                        self.remark(1287, EMPTY_BEHIND_ERROR);
                    }
                    on_empty = Some(response);
                }
                Kw::ERROR if on_error.is_none() => on_error = Some(response),
                _ => return Err(self.error()),
            }
        }
    }

    /// An aggregate; its name has been passed.
    #[inline(never)]
    fn aggregate_call(&mut self, func: AggregateFunc) -> PResult<Expr> {
        use AggregateFunc::*;
        self.expect(Tok::LParen)?;
        let mut aggregate = AggregateCall {
            func,
            distinct: false,
            args: Vec::new(),
            order_by: Vec::new(),
            separator: None,
            over: None,
        };
        if func == Count && self.accept(Tok::Star) {
            aggregate.func = CountStar;
        } else {
            let takes_distinct =
                matches!(func, Count | Sum | Avg | Min | Max | GroupConcat | Collect);
            aggregate.distinct = takes_distinct && self.accept_kw(Kw::DISTINCT);
            if !aggregate.distinct && func != GroupConcat {
                self.accept_kw(Kw::ALL);
            }
            match func {
                GroupConcat => self.group_concat_args(&mut aggregate)?,
                Count if aggregate.distinct => aggregate.args = self.list(Self::expr)?,
                Count if self.accept(Tok::Star) => aggregate.func = CountStar,
                JsonObjectAgg => {
                    aggregate.args.push(self.expr()?);
                    self.expect(Tok::Comma)?;
                    self.accept_kw(Kw::ALL);
                    aggregate.args.push(self.expr()?);
                }
                _ => aggregate.args.push(self.expr()?),
            }
        }
        self.expect(Tok::RParen)?;
        if self.is_kw(Kw::OVER) {
            aggregate.over = Some(self.over()?);
        }
        Ok(Expr::Aggregate(Box::new(aggregate)))
    }

    #[inline(never)]
    fn group_concat_args(&mut self, aggregate: &mut AggregateCall) -> PResult<()> {
        aggregate.args = self.list(Self::expr)?;
        aggregate.order_by = self.opt_order_by()?;
        if self.accept_kw(Kw::SEPARATOR) {
            aggregate.separator = Some(utf8(&self.string_or_hex()?));
        }
        Ok(())
    }
}

/// Whether a name is a built-in function's only where `(` follows at once.
fn allows_no_space(name: &[u8]) -> bool {
    const OTHERS: [&[u8]; 20] = [
        b"substring",
        b"substr",
        b"mid",
        b"cast",
        b"trim",
        b"position",
        b"extract",
        b"adddate",
        b"date_add",
        b"subdate",
        b"date_sub",
        b"now",
        b"sysdate",
        b"curdate",
        b"curtime",
        b"user",
        b"session_user",
        b"system_user",
        b"json_arrayagg",
        b"json_objectagg",
    ];
    aggregate(name).is_some() || OTHERS.contains(&name)
}

/// The aggregate with this lower-case name.
fn aggregate(name: &[u8]) -> Option<AggregateFunc> {
    use AggregateFunc::*;
    Some(match name {
        b"count" => Count,
        b"sum" => Sum,
        b"avg" => Avg,
        b"min" => Min,
        b"max" => Max,
        b"bit_and" => BitAnd,
        b"bit_or" => BitOr,
        b"bit_xor" => BitXor,
        b"std" | b"stddev" | b"stddev_pop" => StddevPop,
        b"stddev_samp" => StddevSamp,
        b"variance" | b"var_pop" => VarPop,
        b"var_samp" => VarSamp,
        b"group_concat" => GroupConcat,
        b"json_arrayagg" => JsonArrayAgg,
        b"st_collect" => Collect,
        b"json_objectagg" => JsonObjectAgg,
        _ => return None,
    })
}
