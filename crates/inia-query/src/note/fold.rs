//! Constants beside columns take the columns' types, and comparisons that can be decided are.
//!
//! `i > '3'` is `i > 3` of an INT, `i < 3.5` is `i < 4`, `t > 200` of a TINYINT is false, `d =
//! '2020-01-01'` of a DATE compares with `DATE'2020-01-01'`. What a column is compared with
//! otherwise and is the same for all rows is computed once: `<cache>(…)`.

use super::Rewriter;
use super::condition::{binary, internal, is_constant, truth};
use super::types::{Kind, kind};
use inia_base::datatype::{DataType, IntWidth};
use inia_base::value::Value;
use inia_parser::ast::*;

impl Rewriter<'_> {
    /// The condition with its constants folded.
    pub(super) fn folded(&self, condition: Expr) -> Expr {
        match condition {
            Expr::And(list) => Expr::And(list.into_iter().map(|one| self.folded(one)).collect()),
            Expr::Or(list) => Expr::Or(list.into_iter().map(|one| self.folded(one)).collect()),
            Expr::IsNull { expr, negated } if self.is_never_null(&expr) => {
                let _ = expr;
                truth(negated)
            }
            Expr::Binary { op, left, right } if op.is_comparison() => {
                self.folded_comparison(op, *left, *right)
            }
            other => other,
        }
    }

    /// Whether a column is declared NOT NULL, of a table whose rows are no rows of NULLs.
    fn is_never_null(&self, expr: &Expr) -> bool {
        let Expr::Column(name) = expr else { return false };
        let outer = self.nullable.contains(&super::joins::table_of(name));
        !outer && self.types.column(name).is_some_and(|column| !column.nullable)
    }

    fn folded_comparison(&self, op: BinaryOp, left: Expr, right: Expr) -> Expr {
        let (swapped, column, constant) = match (&left, &right) {
            (Expr::Column(_), constant) if is_constant(constant) => (false, &left, &right),
            (constant, Expr::Column(_)) if is_constant(constant) => (true, &right, &left),
            _ => return self.converted(op, left, right),
        };
        let Some(data_type) = self.types.of(column) else { return binary(left, op, right) };
        let seen = if swapped { turned(op) } else { op };
        let folded = match data_type {
            DataType::Int { width, unsigned } => {
                self.of_integer(seen, column, constant, range_of(*width, *unsigned))
            }
            DataType::Year => self.of_year(seen, column, constant),
            DataType::Decimal { precision, scale, .. } => {
                self.of_decimal(seen, column, constant, (*precision, *scale))
            }
            DataType::Float { .. } | DataType::Double { .. } => self.of_real(seen, constant),
            DataType::Date | DataType::DateTime { .. } | DataType::Timestamp { .. } => {
                self.of_date(seen, column, constant)
            }
            DataType::Time { .. } => self.of_time(seen, column, constant),
            _ => None,
        };
        match folded {
            None => binary(left, op, right),
            Some(Folded::Truth(false)) => truth(false),
            Some(Folded::Truth(true)) if op == BinaryOp::NullSafeEq => truth(true),
            // It is true where the column has a value.
            Some(Folded::Truth(true)) => {
                let expr = Box::new(column.clone());
                match self.is_never_null(&expr) {
                    true => truth(true),
                    false => Expr::IsNull { expr, negated: true },
                }
            }
            Some(Folded::Constant(seen, constant)) => match swapped {
                true => binary(constant, turned(seen), right),
                false => binary(left, seen, constant),
            },
        }
    }

    /// A comparison of values of two kinds, with the conversion that it makes.
    fn converted(&self, op: BinaryOp, left: Expr, right: Expr) -> Expr {
        let (Some(a), Some(b)) = (self.types.of(&left), self.types.of(&right)) else {
            return binary(left, op, right);
        };
        let cast = |expr: Expr, ty: CastType| Expr::Cast { expr: Box::new(expr), ty, array: false };
        let datetime = |other: &DataType| match other {
            DataType::Time { fsp: 0 } => CastType::DateTime(None),
            DataType::Time { fsp } => CastType::DateTime(Some(u64::from(*fsp))),
            _ => CastType::DateTime(Some(6)),
        };
        let (left, right) = match (kind(a), kind(b)) {
            (Kind::Number, Kind::Text) | (Kind::Text, Kind::Number) => {
                (cast(left, CastType::Double), cast(right, CastType::Double))
            }
            (Kind::Date, Kind::Text) => (left, cast(right, CastType::Date)),
            (Kind::Text, Kind::Date) => (cast(left, CastType::Date), right),
            (Kind::DateTime, Kind::Text | Kind::Time) => {
                let ty = datetime(b);
                (left, cast(right, ty))
            }
            (Kind::Text | Kind::Time, Kind::DateTime) => {
                let ty = datetime(a);
                (cast(left, ty), right)
            }
            _ => (left, right),
        };
        binary(left, op, right)
    }

    /// The digits of the constant, where it is a literal that is a number.
    fn number(&self, constant: &Expr) -> Option<String> {
        let literal = match constant {
            Expr::Unary { op: UnaryOp::Neg, expr } => expr,
            other => other,
        };
        if !matches!(literal, Expr::Literal(_)) {
            return None;
        }
        Some(match self.value(constant)? {
            Value::Int(value) => value.to_string(),
            Value::UInt(value) => value.to_string(),
            Value::Decimal(value) => value.to_string(),
            Value::Double(value) => value.to_string(),
            Value::Text(text) => self.number_of_text(&text),
            _ => return None,
        })
    }

    /// The number with which a text begins; a text that is none is warned of.
    fn number_of_text(&self, text: &str) -> String {
        let number = leading_number(text);
        let trimmed = text.trim();
        if trimmed.len() > number.len() && trimmed.parse::<f64>().is_err() || trimmed.is_empty() {
            self.said.truncated(text);
        }
        number
    }

    fn of_integer(
        &self,
        op: BinaryOp,
        _column: &Expr,
        constant: &Expr,
        (least, greatest): (i128, i128),
    ) -> Option<Folded> {
        use BinaryOp::*;
        let text = self.number(constant)?;
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let exact = fraction.bytes().all(|digit| digit == b'0');
        let floor = whole.parse::<i128>().ok()? - i128::from(!exact && text.starts_with('-'));
        let decided = match op {
            _ if exact => by_range(op, floor, (least, greatest)),
            Eq | NullSafeEq => Some(false),
            Ne => Some(true),
            Gt | Ge if floor < least => Some(true),
            Gt | Ge if floor >= greatest => Some(false),
            Lt | Le if floor < least => Some(false),
            Lt | Le if floor >= greatest => Some(true),
            _ => None,
        };
        if let Some(decided) = decided {
            return Some(Folded::Truth(decided));
        }
        if exact {
            let limit = match op {
                Ge if floor == greatest => Eq,
                Le if floor == least => Eq,
                op => op,
            };
            let written = matches!(constant, Expr::Literal(Literal::Int(_)));
            let negative = matches!(constant, Expr::Unary { .. });
            return match (written || negative, limit == op) {
                (true, true) => None,
                (true, false) => Some(Folded::Constant(limit, constant.clone())),
                (false, _) => Some(Folded::Constant(limit, integer(floor))),
            };
        }
        Some(match op {
            Gt | Ge => Folded::Constant(Gt, integer(floor)),
            _ => Folded::Constant(Lt, integer(floor + 1)),
        })
    }

    fn of_year(&self, op: BinaryOp, column: &Expr, constant: &Expr) -> Option<Folded> {
        match self.value(constant)? {
            Value::Int(year @ 1..70) => {
                Some(Folded::Constant(op, integer(i128::from(year) + 2000)))
            }
            Value::Int(year @ 70..100) => {
                Some(Folded::Constant(op, integer(i128::from(year) + 1900)))
            }
            _ => self.of_integer(op, column, constant, (0, 2155)),
        }
    }

    fn of_decimal(
        &self,
        op: BinaryOp,
        _column: &Expr,
        constant: &Expr,
        (precision, scale): (u8, u8),
    ) -> Option<Folded> {
        use BinaryOp::*;
        let text = self.number(constant)?;
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let digits = whole.trim_start_matches('-').trim_start_matches('0').len();
        if digits > usize::from(precision - scale) {
            let above = !text.starts_with('-');
            let truth = match op {
                Eq | NullSafeEq => false,
                Ne => true,
                Gt | Ge => !above,
                _ => above,
            };
            return Some(Folded::Truth(truth));
        }
        let scale = usize::from(scale);
        let kept: String = fraction.chars().chain(std::iter::repeat('0')).take(scale).collect();
        let cut = fraction.len() > scale && fraction.bytes().skip(scale).any(|digit| digit != b'0');
        let op = match op {
            _ if !cut => op,
            Eq | NullSafeEq => return Some(Folded::Truth(false)),
            Ne => return Some(Folded::Truth(true)),
            Gt | Ge if !text.starts_with('-') => Gt,
            Lt | Le if !text.starts_with('-') => Le,
            _ => return None,
        };
        let text = if scale == 0 { whole.to_owned() } else { format!("{whole}.{kept}") };
        if let Some(positive) = text.strip_prefix('-') {
            let expr = Box::new(Expr::Literal(Literal::Decimal(positive.to_owned())));
            return Some(Folded::Constant(op, Expr::Unary { op: UnaryOp::Neg, expr }));
        }
        Some(Folded::Constant(op, Expr::Literal(Literal::Decimal(text))))
    }

    fn of_real(&self, op: BinaryOp, constant: &Expr) -> Option<Folded> {
        match constant {
            Expr::Literal(Literal::String { value, charset: None }) => {
                let number = self.number_of_text(value);
                let literal = match number.contains('.') {
                    true => Literal::Decimal(number),
                    false => Literal::Int(number.parse().ok()?),
                };
                Some(Folded::Constant(op, Expr::Literal(literal)))
            }
            _ => None,
        }
    }

    fn of_date(&self, op: BinaryOp, column: &Expr, constant: &Expr) -> Option<Folded> {
        let date = self.types.of(column).is_some_and(|ty| *ty == DataType::Date);
        let text = match constant {
            Expr::Literal(Literal::String { value, .. }) => value.clone(),
            Expr::Literal(Literal::Int(value)) => value.to_string(),
            _ => return None,
        };
        let cast = Expr::Cast {
            expr: Box::new(constant.clone()),
            ty: CastType::DateTime(Some(6)),
            array: false,
        };
        let Some(Value::DateTime(_)) = self.value(&cast) else {
            self.incorrect(if date { "date" } else { "datetime" }, &text, column);
            return None;
        };
        let printed = self.text_of(&cast)?;
        let (day, time) = printed.split_once(' ')?;
        let midnight = time.bytes().all(|byte| matches!(byte, b'0' | b':' | b'.'));
        if date && midnight {
            return Some(Folded::Constant(op, Expr::Literal(Literal::Date(day.to_owned()))));
        }
        if date && matches!(op, BinaryOp::Eq | BinaryOp::NullSafeEq) {
            return Some(Folded::Truth(false));
        }
        let digits = text.split_once('.').map_or(0, |(_, digits)| digits.trim_end().len());
        let (whole, fraction) = time.split_once('.').unwrap_or((time, ""));
        let fraction = &fraction[..digits.min(fraction.len())];
        let time = match fraction.is_empty() {
            true => whole.to_owned(),
            false => format!("{whole}.{fraction}"),
        };
        Some(Folded::Constant(op, Expr::Literal(Literal::Timestamp(format!("{day} {time}")))))
    }

    fn of_time(&self, op: BinaryOp, column: &Expr, constant: &Expr) -> Option<Folded> {
        if !matches!(constant, Expr::Literal(Literal::String { .. } | Literal::Int(_))) {
            return None;
        }
        let (expr, ty) = (Box::new(constant.clone()), CastType::Time(None));
        let Some(text) = self.text_of(&Expr::Cast { expr, ty, array: false }) else {
            self.incorrect("time", &self.text_of(constant)?, column);
            return None;
        };
        Some(Folded::Constant(op, Expr::Literal(Literal::Time(text))))
    }

    /// Warns of a constant that is no value of a column of dates or times.
    fn incorrect(&self, kind: &str, text: &str, column: &Expr) {
        if let Expr::Column(name) = column {
            self.said.incorrect(kind, text, &name.name);
        }
    }

    /// A constant's value as text.
    fn text_of(&self, constant: &Expr) -> Option<String> {
        let (expr, ty) =
            (Box::new(constant.clone()), CastType::Char { length: None, charset: None });
        match self.value(&Expr::Cast { expr, ty, array: false })? {
            Value::Text(text) => Some(text.to_string()),
            _ => None,
        }
    }
}

/// What became of a comparison with a constant.
enum Folded {
    /// It is true, where the column is not NULL, or false.
    Truth(bool),
    /// It is this operator and constant.
    Constant(BinaryOp, Expr),
}

/// A whole number as a constant.
pub(super) fn integer(value: i128) -> Expr {
    let magnitude = Expr::int(u64::try_from(value.unsigned_abs()).unwrap_or(u64::MAX));
    match value < 0 {
        // A folded number is a single literal, whatever its sign.
        true => Expr::Literal(Literal::Decimal(value.to_string())),
        false => magnitude,
    }
}

fn range_of(width: IntWidth, unsigned: bool) -> (i128, i128) {
    let bits = match width {
        IntWidth::Tiny => 8,
        IntWidth::Small => 16,
        IntWidth::Medium => 24,
        IntWidth::Int => 32,
        IntWidth::Big => 64,
    };
    match unsigned {
        true => (0, (1 << bits) - 1),
        false => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
    }
}

/// What a comparison with a whole number says of all values of a range.
fn by_range(op: BinaryOp, number: i128, (least, greatest): (i128, i128)) -> Option<bool> {
    use BinaryOp::*;
    let (below, above) = (number < least, number > greatest);
    match op {
        Eq | NullSafeEq if below || above => Some(false),
        Ne if below || above => Some(true),
        Lt if above => Some(true),
        Lt if number <= least => Some(false),
        Le if number >= greatest => Some(true),
        Le if below => Some(false),
        Gt if below => Some(true),
        Gt if number >= greatest => Some(false),
        Ge if number <= least => Some(true),
        Ge if above => Some(false),
        _ => None,
    }
}

/// The number with which a text begins.
fn leading_number(text: &str) -> String {
    let text = text.trim_start();
    let mut end = 0;
    let mut point = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'0'..=b'9' => end = at + 1,
            b'-' | b'+' if at == 0 => {}
            b'.' if !point => point = true,
            _ => break,
        }
    }
    match end {
        0 => "0".to_owned(),
        end => text[..end].to_owned(),
    }
}

/// The operator with its operands swapped.
fn turned(op: BinaryOp) -> BinaryOp {
    use BinaryOp::*;
    match op {
        Lt => Gt,
        Gt => Lt,
        Le => Ge,
        Ge => Le,
        other => other,
    }
}

/// The condition with what is the same for all rows computed once.
pub(super) fn cached(condition: Expr) -> Expr {
    match condition {
        Expr::And(list) => Expr::And(list.into_iter().map(cached).collect()),
        Expr::Or(list) => Expr::Or(list.into_iter().map(cached).collect()),
        mut other => {
            cache_inside(&mut other);
            other
        }
    }
}

fn cache_inside(expr: &mut Expr) {
    if let Expr::Function(call) = expr
        && call.name.starts_with('<')
    {
        return;
    }
    expr.for_each_child_mut(&mut |child| {
        if is_leaf(child) {
            return;
        }
        match is_constant(child) {
            true => {
                let constant = std::mem::replace(child, Expr::null());
                *child = internal("<cache>", vec![constant]);
            }
            false => cache_inside(child),
        }
    });
}

fn is_leaf(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Literal(_) | Expr::Column(_) | Expr::Row(_) | Expr::Param(_) | Expr::UserVar(_)
    )
}
