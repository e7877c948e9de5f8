//! Many rows of VALUES, most of whose values are plain literals: without a node for each.
//!
//! All rows have the same number of values, which stand one after another in one list; the
//! characters of strings and decimal numbers are in one text.
//!
//! ```text
//!   (1, 'ab', NOW()), (-2, 'c', NULL)
//!
//!   values  Int 1 · Text 0..2 · Expr 0 · Int -2 · Text 2..3 · Null        width 3
//!   text    abc
//!   exprs   NOW()
//! ```

use super::{Expr, Literal, UnaryOp};

/// One value of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowValue {
    /// NULL.
    Null,
    /// DEFAULT.
    Default,
    /// An integer, with or without a minus before it.
    Int {
        /// There is a minus.
        negative: bool,
        /// The digits.
        value: u64,
    },
    /// A number with a point, with or without a minus before it.
    Decimal {
        /// There is a minus.
        negative: bool,
        /// Where the digits begin in the text.
        start: u32,
        /// Where they end.
        end: u32,
    },
    /// A string without introducer, escapes undone.
    Text {
        /// Where the characters begin in the text.
        start: u32,
        /// Where they end.
        end: u32,
    },
    /// Anything else: the number of an expression.
    Expr(u32),
}

/// The rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ValueRows {
    width: usize,
    values: Vec<RowValue>,
    text: String,
    exprs: Vec<Expr>,
}

impl ValueRows {
    /// Rows that begin with this one, which has a value at least.
    pub(crate) fn beginning_with(row: Vec<Expr>) -> ValueRows {
        let mut rows = ValueRows { width: row.len(), ..ValueRows::default() };
        row.into_iter().for_each(|value| rows.push_expr(value));
        rows
    }

    /// Makes room for the rows of a text of so many bytes.
    pub(crate) fn reserve(&mut self, bytes: usize, first_row: usize) {
        self.text.reserve(bytes);
        self.values.reserve((bytes / first_row.max(1) + 1) * self.width);
    }

    pub(crate) fn push(&mut self, value: RowValue) {
        self.values.push(value);
    }

    /// Adds an integer or a number with a point.
    pub(crate) fn push_decimal(&mut self, negative: bool, digits: &str) {
        let (start, end) = self.put(digits);
        self.values.push(RowValue::Decimal { negative, start, end });
    }

    pub(crate) fn push_text(&mut self, text: &str) {
        let (start, end) = self.put(text);
        self.values.push(RowValue::Text { start, end });
    }

    fn put(&mut self, text: &str) -> (u32, u32) {
        let start = self.text.len();
        self.text.push_str(text);
        // A statement's text, of which this is a part, is shorter than 4 GiB.
        (start as u32, self.text.len() as u32)
    }

    /// Adds a value that was parsed as an expression.
    pub(crate) fn push_expr(&mut self, expr: Expr) {
        match expr {
            Expr::Default => self.push(RowValue::Default),
            Expr::Literal(Literal::Null) => self.push(RowValue::Null),
            Expr::Literal(Literal::Int(value)) => {
                self.push(RowValue::Int { negative: false, value });
            }
            Expr::Literal(Literal::Decimal(digits)) => self.push_decimal(false, &digits),
            Expr::Literal(Literal::String { charset: None, value }) => self.push_text(&value),
            Expr::Unary { op: UnaryOp::Neg, expr } => match *expr {
                Expr::Literal(Literal::Int(value)) => {
                    self.push(RowValue::Int { negative: true, value });
                }
                Expr::Literal(Literal::Decimal(digits)) => self.push_decimal(true, &digits),
                other => self.put_expr(Expr::Unary { op: UnaryOp::Neg, expr: Box::new(other) }),
            },
            expr => self.put_expr(expr),
        }
    }

    fn put_expr(&mut self, expr: Expr) {
        self.values.push(RowValue::Expr(self.exprs.len() as u32));
        self.exprs.push(expr);
    }

    /// Takes the values from number `from` on out again.
    pub(crate) fn take_from(&mut self, from: usize) -> Vec<Expr> {
        let values = self.values.split_off(from);
        values.into_iter().map(|value| self.expr(value)).collect()
    }

    /// How many values are there.
    pub(crate) fn count(&self) -> usize {
        self.values.len()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.values.len() / self.width.max(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Number of values of each row, at least one.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The rows, in their order.
    pub fn rows(&self) -> impl Iterator<Item = &[RowValue]> {
        self.values.chunks(self.width.max(1))
    }

    /// A part of the text.
    #[inline]
    pub fn text(&self, start: u32, end: u32) -> &str {
        &self.text[start as usize..end as usize]
    }

    /// The expressions, in their order.
    pub fn exprs(&self) -> &[Expr] {
        &self.exprs
    }

    /// A value as an expression.
    pub fn expr(&self, value: RowValue) -> Expr {
        let (number, negative) = match value {
            RowValue::Null => return Expr::Literal(Literal::Null),
            RowValue::Default => return Expr::Default,
            RowValue::Text { start, end } => {
                let value = self.text(start, end).to_owned();
                return Expr::Literal(Literal::String { charset: None, value });
            }
            RowValue::Expr(at) => return self.exprs[at as usize].clone(),
            RowValue::Int { negative, value } => (Literal::Int(value), negative),
            RowValue::Decimal { negative, start, end } => {
                (Literal::Decimal(self.text(start, end).to_owned()), negative)
            }
        };
        let number = Expr::Literal(number);
        if negative { Expr::Unary { op: UnaryOp::Neg, expr: Box::new(number) } } else { number }
    }

    /// All rows as expressions.
    pub fn to_exprs(&self) -> Vec<Vec<Expr>> {
        self.rows().map(|row| row.iter().map(|value| self.expr(*value)).collect()).collect()
    }
}
