//! Window functions and window specifications.

use super::{PResult, Parser};
use crate::{
    ast::{
        Expr, FrameBound, FrameOffset, FrameUnit, Over, WindowCall, WindowFrame, WindowFunc,
        WindowSpec,
    },
    keyword::Kw,
    lexer::Tok,
};

impl Parser<'_> {
    pub(super) fn window_func(&self, kw: Kw) -> Option<WindowFunc> {
        use WindowFunc::*;
        Some(match kw {
            Kw::ROW_NUMBER => RowNumber,
            Kw::RANK => Rank,
            Kw::DENSE_RANK => DenseRank,
            Kw::PERCENT_RANK => PercentRank,
            Kw::CUME_DIST => CumeDist,
            Kw::NTILE => Ntile,
            Kw::LEAD => Lead,
            Kw::LAG => Lag,
            Kw::FIRST_VALUE => FirstValue,
            Kw::LAST_VALUE => LastValue,
            Kw::NTH_VALUE => NthValue,
            _ => return None,
        })
    }

    /// A call of `func`, its name being the current token.
    #[inline(never)]
    pub(super) fn window_call(&mut self, func: WindowFunc) -> PResult<Expr> {
        use WindowFunc::*;
        self.bump();
        let args = match func {
            Ntile | Lead | Lag => self.counted_args(func)?,
            _ => self.call_args()?,
        };
        let fits = match func {
            RowNumber | Rank | DenseRank | PercentRank | CumeDist => args.is_empty(),
            Ntile | FirstValue | LastValue => args.len() == 1,
            NthValue => args.len() == 2,
            Lead | Lag => (1..=3).contains(&args.len()),
        };
        if !fits {
            return Err(self.error());
        }
        let mut from_last = false;
        if func == NthValue && self.accept_kw(Kw::FROM) {
            from_last = self.expect_any(&[Kw::FIRST, Kw::LAST])? == Kw::LAST;
        }
        let mut ignore_nulls = false;
        if let Some(kw) = self.accept_any(&[Kw::RESPECT, Kw::IGNORE]) {
            ignore_nulls = kw == Kw::IGNORE;
            self.expect_kw(Kw::NULLS)?;
        }
        let over = self.over()?;
        let call = WindowCall { func, args, from_last, ignore_nulls, over };
        Ok(Expr::Window(Box::new(call)))
    }

    /// The arguments of a function that counts rows by one of them: digits, a parameter or a
    /// variable.
    fn counted_args(&mut self, func: WindowFunc) -> PResult<Vec<Expr>> {
        self.expect(Tok::LParen)?;
        let mut args = Vec::new();
        if func != WindowFunc::Ntile {
            args.push(self.expr()?);
        }
        if func == WindowFunc::Ntile || self.accept(Tok::Comma) {
            let counts = matches!(self.tok.tok, Tok::Int | Tok::Hex | Tok::Bit | Tok::Param)
                || self.is(Tok::UserVar)
                || Self::is_ident(self.tok);
            if !counts {
                return Err(self.error());
            }
            args.push(self.primary()?);
        }
        if args.len() == 2 && self.accept(Tok::Comma) {
            args.push(self.expr()?);
        }
        self.expect(Tok::RParen)?;
        Ok(args)
    }

    /// OVER name, OVER (spec).
    pub(super) fn over(&mut self) -> PResult<Over> {
        self.expect_kw(Kw::OVER)?;
        if self.is(Tok::LParen) {
            return Ok(Over::Spec(self.window_spec()?));
        }
        Ok(Over::Name(self.ident()?))
    }

    /// `([base] [PARTITION BY …] [ORDER BY …] [frame])`.
    pub(super) fn window_spec(&mut self) -> PResult<WindowSpec> {
        self.expect(Tok::LParen)?;
        let mut spec = WindowSpec::default();
        if Self::is_ident(self.tok) {
            spec.base = Some(self.ident()?);
        }
        if self.accept_kw(Kw::PARTITION) {
            self.expect_kw(Kw::BY)?;
            spec.partition_by = self.list(Self::expr)?;
        }
        spec.order_by = self.opt_order_by()?;
        let unit = match self.accept_any(&[Kw::ROWS, Kw::RANGE, Kw::GROUPS]) {
            Some(Kw::ROWS) => Some(FrameUnit::Rows),
            Some(Kw::RANGE) => Some(FrameUnit::Range),
            Some(_) => Some(FrameUnit::Groups),
            None => None,
        };
        if let Some(unit) = unit {
            let (start, end) = if self.accept_kw(Kw::BETWEEN) {
                let start = self.frame_bound()?;
                self.expect_kw(Kw::AND)?;
                (start, self.frame_bound()?)
            } else {
                (self.frame_bound()?, FrameBound::CurrentRow)
            };
            let excludes = self.frame_exclusion()?;
            spec.frame = Some(WindowFrame { unit, start, end, excludes });
        }
        self.expect(Tok::RParen)?;
        Ok(spec)
    }

    /// `EXCLUDE CURRENT ROW | GROUP | TIES | NO OTHERS`; whether it is there.
    fn frame_exclusion(&mut self) -> PResult<bool> {
        if !self.accept_kw(Kw::EXCLUDE) {
            return Ok(false);
        }
        match self.expect_any(&[Kw::CURRENT, Kw::GROUP, Kw::TIES, Kw::NO])? {
            Kw::CURRENT => self.expect_kw(Kw::ROW)?,
            Kw::NO => self.expect_kw(Kw::OTHERS)?,
            _ => {}
        }
        Ok(true)
    }

    fn frame_bound(&mut self) -> PResult<FrameBound> {
        if self.accept_kw(Kw::CURRENT) {
            self.expect_kw(Kw::ROW)?;
            return Ok(FrameBound::CurrentRow);
        }
        if self.accept_kw(Kw::UNBOUNDED) {
            return Ok(match self.expect_any(&[Kw::PRECEDING, Kw::FOLLOWING])? {
                Kw::PRECEDING => FrameBound::UnboundedPreceding,
                _ => FrameBound::UnboundedFollowing,
            });
        }
        let offset = if self.accept_kw(Kw::INTERVAL) {
            let amount = Box::new(self.expr()?);
            FrameOffset::Interval(amount, self.interval_unit()?)
        } else if self.is(Tok::Param) {
            FrameOffset::Expr(Box::new(self.primary()?))
        } else if self.is(Tok::Str) {
            return Err(self.error());
        } else {
            FrameOffset::Expr(Box::new(Expr::Literal(self.literal(None)?)))
        };
        Ok(match self.expect_any(&[Kw::PRECEDING, Kw::FOLLOWING])? {
            Kw::PRECEDING => FrameBound::Preceding(offset),
            _ => FrameBound::Following(offset),
        })
    }
}
