//! Operators, by precedence climbing.
//!
//! Every infix operator has a binding power; [`Parser::expr_bp`] takes operators that bind at
//! least as tightly as its caller asks. MySQL's grammar is not a plain precedence table:
//! predicates (IN, LIKE, BETWEEN, REGEXP) do not chain, and NOT and IS TRUE end the tighter
//! levels. That is what `cap` is for: after `a LIKE b` only operators looser than predicates may
//! follow. For example `a LIKE b = c AND d`: LIKE (60) sets the cap to 59, `=` (50) is taken with
//! `a LIKE b` as its left operand, then AND (30).

use super::{PResult, Parser};
use crate::{
    ParseErrorKind, SqlMode,
    ast::{BinaryOp, Expr, FunctionCall, Quantifier, Truth, UnaryOp},
    keyword::Kw,
    lexer::Tok,
};
use inia_base::temporal::IntervalUnit;

/// Binding powers, loose to tight.
pub(crate) mod bp {
    pub(crate) const OR: u8 = 10;
    pub(crate) const XOR: u8 = 20;
    pub(crate) const AND: u8 = 30;
    pub(crate) const NOT: u8 = 40;
    pub(crate) const COMPARE: u8 = 50;
    pub(crate) const PREDICATE: u8 = 60;
    pub(crate) const BIT_OR: u8 = 70;
    pub(crate) const BIT_AND: u8 = 80;
    pub(crate) const SHIFT: u8 = 90;
    pub(crate) const ADD: u8 = 100;
    pub(crate) const MUL: u8 = 110;
    pub(crate) const BIT_XOR: u8 = 120;
    pub(crate) const CONCAT: u8 = 125;
    pub(crate) const NEG: u8 = 130;
    pub(crate) const COLLATE: u8 = 150;
    pub(crate) const MAX: u8 = 255;
}

/// An infix operator as the token stream shows it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Infix {
    Or,
    And,
    Binary(BinaryOp),
    Concat,
    Is,
    /// IN, LIKE, BETWEEN, REGEXP, SOUNDS LIKE, MEMBER OF, or NOT before one of them.
    Predicate,
    Collate,
}

/// INTERVAL as it turned out to be.
pub(super) enum Interval {
    Amount(Expr, IntervalUnit),
    Function(Expr),
}

impl Parser<'_> {
    /// An expression.
    pub(super) fn expr(&mut self) -> PResult<Expr> {
        self.expr_bp(0)
    }

    /// An expression of operators that bind at least as tightly as `min`.
    #[inline(never)]
    pub(super) fn expr_bp(&mut self, min: u8) -> PResult<Expr> {
        self.enter(1)?;
        let outer = std::mem::take(&mut self.height);
        self.cap = bp::MAX;
        let left = self.prefix(min)?;
        let expr = match self.kind() {
            // Nothing that could continue an expression: most operands end here.
            Tok::RParen | Tok::Comma | Tok::Eof | Tok::Semi => left,
            _ => self.infix(left, min, self.cap)?,
        };
        self.height = outer.max(self.height + 1);
        self.depth -= 1;
        Ok(expr)
    }

    /// A prefix operator with its operand, or a primary; `cap` limits what may follow.
    #[inline(never)]
    fn prefix(&mut self, min: u8) -> PResult<Expr> {
        let op = match self.kind() {
            Tok::Minus => UnaryOp::Neg,
            Tok::Plus => UnaryOp::Plus,
            Tok::Tilde => UnaryOp::BitNot,
            Tok::Bang => UnaryOp::Not,
            Tok::Word if self.is_kw(Kw::BINARY) => UnaryOp::Binary,
            Tok::Word if self.is_kw(Kw::NOT) => {
                if !self.mode.has(SqlMode::HIGH_NOT_PRECEDENCE) {
                    if min > bp::NOT {
                        return Err(self.error());
                    }
                    self.bump();
                    let expr = Box::new(self.expr_bp(bp::NOT)?);
                    self.cap = bp::NOT - 1;
                    return Ok(Expr::Unary { op: UnaryOp::Not, expr });
                }
                UnaryOp::Not
            }
            _ => {
                let primary = self.primary();
                self.cap = bp::MAX;
                return primary;
            }
        };
        let bang = self.bump().tok == Tok::Bang;
        let expr = Box::new(self.expr_bp(bp::NEG)?);
        self.cap = bp::MAX;
        match op {
            UnaryOp::Not if bang => self.deprecated("!", "NOT"),
            UnaryOp::Binary => self.deprecated("BINARY expr", "CAST"),
            _ => {}
        }
        Ok(Expr::Unary { op, expr })
    }

    /// Takes infix operators after `left` while they bind between `min` and `cap`.
    #[inline(never)]
    pub(super) fn infix(&mut self, mut left: Expr, min: u8, mut cap: u8) -> PResult<Expr> {
        while let Some((op, power)) = self.infix_op() {
            if power < min || power > cap {
                break;
            }
            // The right operand is measured from zero; the higher of both operands counts.
            let left_height = std::mem::take(&mut self.height);
            left = match op {
                Infix::Or | Infix::And => {
                    match self.bump().tok {
                        Tok::AmpAmp => self.deprecated("&&", "AND"),
                        Tok::PipePipe => self.deprecated("|| as a synonym for OR", "OR"),
                        _ => {}
                    }
                    let right = self.expr_bp(power + 1)?;
                    self.height = self.height.max(left_height);
                    // A chain of AND or of OR is one flat node: its length adds no height.
                    left = join(op == Infix::And, left, right);
                    continue;
                }
                Infix::Binary(op) if op.is_comparison() => self.comparison(left, op)?,
                Infix::Binary(op) => self.binary(left, op, power)?,
                Infix::Concat => {
                    self.bump();
                    let right = self.expr_bp(bp::CONCAT + 1)?;
                    self.height = self.height.max(left_height);
                    left = concat(left, right);
                    continue;
                }
                Infix::Is => {
                    let (expr, null) = self.is_test(left)?;
                    // IS NULL may be compared on; IS TRUE ends all levels tighter than NOT.
                    cap = if null { bp::COMPARE } else { bp::NOT - 1 };
                    expr
                }
                Infix::Predicate => {
                    cap = bp::PREDICATE - 1;
                    self.predicate(left)?
                }
                Infix::Collate => {
                    self.bump();
                    let collation = self.operand_collation()?;
                    Expr::Collate { expr: Box::new(left), collation }
                }
            };
            self.height = self.height.max(left_height + 1);
            // Later passes recurse over the tree, so its height is bounded by the stack.
            if self.height > self.limits.height {
                return Err(self.fail(ParseErrorKind::TooDeep));
            }
        }
        Ok(left)
    }

    /// The infix operator at the current token.
    fn infix_op(&mut self) -> Option<(Infix, u8)> {
        use BinaryOp::*;
        let binary = |op, power| Some((Infix::Binary(op), power));
        match self.kind() {
            Tok::Word => self.infix_word(),
            Tok::Eq => binary(Eq, bp::COMPARE),
            Tok::NullEq => binary(NullSafeEq, bp::COMPARE),
            Tok::Ne => binary(Ne, bp::COMPARE),
            Tok::Lt => binary(Lt, bp::COMPARE),
            Tok::Le => binary(Le, bp::COMPARE),
            Tok::Gt => binary(Gt, bp::COMPARE),
            Tok::Ge => binary(Ge, bp::COMPARE),
            Tok::Pipe => binary(BitOr, bp::BIT_OR),
            Tok::Amp => binary(BitAnd, bp::BIT_AND),
            Tok::Shl => binary(ShiftLeft, bp::SHIFT),
            Tok::Shr => binary(ShiftRight, bp::SHIFT),
            Tok::Plus => binary(Add, bp::ADD),
            Tok::Minus => binary(Sub, bp::ADD),
            Tok::Star => binary(Mul, bp::MUL),
            Tok::Slash => binary(Div, bp::MUL),
            Tok::Percent => binary(Mod, bp::MUL),
            Tok::Caret => binary(BitXor, bp::BIT_XOR),
            Tok::AmpAmp => Some((Infix::And, bp::AND)),
            Tok::PipePipe if self.mode.has(SqlMode::PIPES_AS_CONCAT) => {
                Some((Infix::Concat, bp::CONCAT))
            }
            Tok::PipePipe => Some((Infix::Or, bp::OR)),
            _ => None,
        }
    }

    fn infix_word(&mut self) -> Option<(Infix, u8)> {
        let predicate = Some((Infix::Predicate, bp::PREDICATE));
        match self.kw() {
            Kw::NotKeyword => None,
            Kw::AND => Some((Infix::And, bp::AND)),
            Kw::OR => Some((Infix::Or, bp::OR)),
            Kw::XOR => Some((Infix::Binary(BinaryOp::Xor), bp::XOR)),
            Kw::IS => Some((Infix::Is, bp::COMPARE)),
            Kw::DIV => Some((Infix::Binary(BinaryOp::IntDiv), bp::MUL)),
            Kw::MOD => Some((Infix::Binary(BinaryOp::Mod), bp::MUL)),
            Kw::COLLATE => Some((Infix::Collate, bp::COLLATE)),
            Kw::IN | Kw::LIKE | Kw::BETWEEN | Kw::REGEXP | Kw::RLIKE => predicate,
            Kw::NOT => {
                let next = self.peek().kw;
                let fits = matches!(next, Kw::IN | Kw::LIKE | Kw::BETWEEN | Kw::REGEXP | Kw::RLIKE);
                if fits { predicate } else { None }
            }
            Kw::SOUNDS if self.peek_is_kw(Kw::LIKE) => predicate,
            Kw::MEMBER if self.peek_is_kw(Kw::OF) => predicate,
            _ => None,
        }
    }

    #[inline(never)]
    fn binary(&mut self, left: Expr, op: BinaryOp, power: u8) -> PResult<Expr> {
        self.bump();
        if matches!(op, BinaryOp::Add | BinaryOp::Sub) && self.is_kw(Kw::INTERVAL) {
            let right = match self.interval()? {
                Interval::Amount(interval, unit) => {
                    return Ok(Expr::DateArith {
                        expr: Box::new(left),
                        interval: Box::new(interval),
                        unit,
                        subtract: op == BinaryOp::Sub,
                    });
                }
                Interval::Function(function) => self.infix(function, power + 1, bp::MAX)?,
            };
            return Ok(Expr::Binary { op, left: Box::new(left), right: Box::new(right) });
        }
        let right = self.expr_bp(power + 1)?;
        Ok(Expr::Binary { op, left: Box::new(left), right: Box::new(right) })
    }

    /// `left op right`, or `left op ANY|ALL (query)`.
    #[inline(never)]
    fn comparison(&mut self, left: Expr, op: BinaryOp) -> PResult<Expr> {
        let operator = self.bump();
        let left = Box::new(left);
        let quantifier = match self.kw() {
            Kw::ALL => Some(Quantifier::All),
            Kw::ANY | Kw::SOME if self.peek().tok == Tok::LParen => Some(Quantifier::Any),
            _ => None,
        };
        if let Some(quantifier) = quantifier {
            if op == BinaryOp::NullSafeEq {
                return Err(self.error_at(operator.start, ParseErrorKind::Syntax));
            }
            self.bump();
            let query = self.subquery()?;
            return Ok(Expr::Quantified { left, op, quantifier, query });
        }
        let right = Box::new(self.expr_bp(bp::PREDICATE)?);
        Ok(Expr::Binary { op, left, right })
    }

    /// IS [NOT] NULL | TRUE | FALSE | UNKNOWN; true with the first.
    #[inline(never)]
    fn is_test(&mut self, left: Expr) -> PResult<(Expr, bool)> {
        self.bump();
        let negated = self.accept_kw(Kw::NOT);
        let expr = Box::new(left);
        let truth = match self.expect_any(&[Kw::NULL, Kw::TRUE, Kw::FALSE, Kw::UNKNOWN])? {
            Kw::NULL => return Ok((Expr::IsNull { expr, negated }, true)),
            Kw::TRUE => Truth::True,
            Kw::FALSE => Truth::False,
            _ => Truth::Unknown,
        };
        Ok((Expr::IsTruth { expr, truth, negated }, false))
    }

    #[inline(never)]
    fn predicate(&mut self, left: Expr) -> PResult<Expr> {
        let negated = self.accept_kw(Kw::NOT);
        let expr = Box::new(left);
        match self.bump().kw {
            Kw::IN => self.in_operand(expr, negated),
            Kw::BETWEEN => {
                let low = Box::new(self.expr_bp(bp::BIT_OR)?);
                self.expect_kw(Kw::AND)?;
                let high = Box::new(self.expr_bp(bp::PREDICATE)?);
                Ok(Expr::Between { expr, low, high, negated })
            }
            Kw::LIKE => {
                let pattern = Box::new(self.expr_bp(bp::CONCAT)?);
                let escape = if self.accept_kw(Kw::ESCAPE) {
                    Some(Box::new(self.expr_bp(bp::CONCAT)?))
                } else {
                    None
                };
                Ok(Expr::Like { expr, pattern, escape, negated })
            }
            Kw::SOUNDS => {
                self.expect_kw(Kw::LIKE)?;
                let right = Box::new(self.expr_bp(bp::BIT_OR)?);
                Ok(Expr::SoundsLike { left: expr, right })
            }
            Kw::MEMBER => {
                self.expect_kw(Kw::OF)?;
                self.expect(Tok::LParen)?;
                let array = Box::new(self.expr_bp(bp::CONCAT)?);
                self.expect(Tok::RParen)?;
                Ok(Expr::MemberOf { expr, array })
            }
            _ => {
                let pattern = Box::new(self.expr_bp(bp::BIT_OR)?);
                Ok(Expr::Regexp { expr, pattern, negated })
            }
        }
    }

    #[inline(never)]
    fn in_operand(&mut self, expr: Box<Expr>, negated: bool) -> PResult<Expr> {
        if self.tok.tok != Tok::LParen {
            return Err(self.error());
        }
        match self.paren()? {
            Expr::Subquery(query) => Ok(Expr::InSubquery { expr, query, negated }),
            // A list comes as a row; `IN ((1, 2))` is one row and comes as a row in a list.
            Expr::Row(list) if !self.paren_was_single => Ok(Expr::InList { expr, list, negated }),
            one => Ok(Expr::InList { expr, list: vec![one], negated }),
        }
    }

    /// INTERVAL expr unit, or the function INTERVAL(a, b, …).
    #[inline(never)]
    pub(super) fn interval(&mut self) -> PResult<Interval> {
        self.expect_kw(Kw::INTERVAL)?;
        if !self.is(Tok::LParen) {
            let amount = self.expr()?;
            return Ok(Interval::Amount(amount, self.interval_unit()?));
        }
        let first = self.paren()?;
        if let Expr::Row(args) = first {
            if self.paren_was_single {
                return Err(self.error());
            }
            let call = FunctionCall::native("interval", args);
            return Ok(Interval::Function(Expr::Function(call)));
        }
        let amount = self.infix(first, 0, bp::MAX)?;
        Ok(Interval::Amount(amount, self.interval_unit()?))
    }

    /// A unit of INTERVAL.
    pub(super) fn interval_unit(&mut self) -> PResult<IntervalUnit> {
        use IntervalUnit::*;
        let unit = match self.kw() {
            Kw::MICROSECOND => Microsecond,
            Kw::SECOND | Kw::SQL_TSI_SECOND => Second,
            Kw::MINUTE | Kw::SQL_TSI_MINUTE => Minute,
            Kw::HOUR | Kw::SQL_TSI_HOUR => Hour,
            Kw::DAY | Kw::SQL_TSI_DAY => Day,
            Kw::WEEK | Kw::SQL_TSI_WEEK => Week,
            Kw::MONTH | Kw::SQL_TSI_MONTH => Month,
            Kw::QUARTER | Kw::SQL_TSI_QUARTER => Quarter,
            Kw::YEAR | Kw::SQL_TSI_YEAR => Year,
            Kw::SECOND_MICROSECOND => SecondMicrosecond,
            Kw::MINUTE_MICROSECOND => MinuteMicrosecond,
            Kw::MINUTE_SECOND => MinuteSecond,
            Kw::HOUR_MICROSECOND => HourMicrosecond,
            Kw::HOUR_SECOND => HourSecond,
            Kw::HOUR_MINUTE => HourMinute,
            Kw::DAY_MICROSECOND => DayMicrosecond,
            Kw::DAY_SECOND => DaySecond,
            Kw::DAY_MINUTE => DayMinute,
            Kw::DAY_HOUR => DayHour,
            Kw::YEAR_MONTH => YearMonth,
            _ => return Err(self.error()),
        };
        self.bump();
        Ok(unit)
    }
}

/// AND or OR of two operands, flat.
#[inline(never)]
fn join(and: bool, left: Expr, right: Expr) -> Expr {
    let operands = |expr| match expr {
        Expr::And(list) if and => list,
        Expr::Or(list) if !and => list,
        other => vec![other],
    };
    let mut list = operands(left);
    match right {
        Expr::And(more) if and => list.extend(more),
        Expr::Or(more) if !and => list.extend(more),
        other => list.push(other),
    }
    if and { Expr::And(list) } else { Expr::Or(list) }
}

/// `left || right` as one call of concat.
#[inline(never)]
fn concat(left: Expr, right: Expr) -> Expr {
    match left {
        Expr::Function(mut call) if call.db.is_none() && call.name == "concat" => {
            call.args.push(right);
            Expr::Function(call)
        }
        other => Expr::Function(FunctionCall::native("concat", vec![other, right])),
    }
}
