//! The value of a path in a document, with the habits of MySQL: a set of nodes is true if it has
//! exactly one, `last()` counts the whole set, and `div` divides integers.

use super::path::{Axis, Expr, Function, Op};
use super::{Document, Kind};
use crate::context::EvalContext;
use crate::convert;
use crate::ty::ExprType;
use inia_base::collation::Collation;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use std::cmp::Ordering;

/// A node in a set.
#[derive(Debug, Clone, Copy)]
struct Member {
    node: usize,
    /// Its place among those that one step found, from 0.
    place: usize,
    /// Of the context: how many nodes the set has that it comes from.
    of: usize,
}

/// A value that is no set of nodes. A double prints with so many digits, or as many as it has.
enum Scalar {
    Null,
    Int(i64),
    Real(f64, Option<u8>),
    Text(String),
}

impl Scalar {
    fn truth(value: bool) -> Scalar {
        Scalar::Int(value.into())
    }

    fn into_text(self) -> Option<String> {
        let mut out = Vec::new();
        match self {
            Scalar::Null => return None,
            Scalar::Int(value) => return Some(value.to_string()),
            Scalar::Text(text) => return Some(text),
            Scalar::Real(value, Some(decimals)) => {
                inia_base::number::write_fixed(value, decimals, &mut out);
            }
            Scalar::Real(value, None) => inia_base::number::write_double(value, &mut out),
        }
        Some(String::from_utf8_lossy(&out).into_owned())
    }

    /// Digits after the point that results of arithmetic keep.
    fn decimals(&self) -> Option<u8> {
        match self {
            Scalar::Null | Scalar::Int(_) => Some(0),
            Scalar::Real(_, decimals) => *decimals,
            Scalar::Text(_) => None,
        }
    }
}

/// Evaluates in one document.
pub(crate) struct Evaluation<'d, 'c, 's> {
    pub(crate) document: &'d Document<'d>,
    pub(crate) ctx: &'c mut EvalContext<'s>,
    /// How texts compare.
    pub(crate) collation: Collation,
}

type Evaluated<T> = Result<T, SqlError>;

const ROOT: Member = Member { node: 0, place: 0, of: 0 };

impl Evaluation<'_, '_, '_> {
    /// The text of the value, `None` for NULL.
    pub(crate) fn text(&mut self, expr: &Expr) -> Evaluated<Option<String>> {
        Ok(self.scalar(expr, ROOT)?.into_text())
    }

    /// The node of a set with exactly one.
    pub(crate) fn only_node(&mut self, expr: &Expr) -> Evaluated<Option<usize>> {
        match self.nodes(expr, ROOT)?[..] {
            [only] => Ok(Some(only.node)),
            _ => Ok(None),
        }
    }

    fn nodes(&mut self, expr: &Expr, context: Member) -> Evaluated<Vec<Member>> {
        match expr {
            Expr::Root => Ok(vec![ROOT]),
            Expr::Context => Ok(vec![context]),
            Expr::Binary(Op::Union, left, right) => {
                let mut nodes: Vec<usize> = Vec::new();
                for side in [left, right] {
                    nodes.extend(self.nodes(side, context)?.iter().map(|member| member.node));
                }
                nodes.sort_unstable();
                nodes.dedup();
                Ok(placed(nodes))
            }
            Expr::Step(from, axis, name) => {
                let from = self.nodes(from, context)?;
                Ok(self.step(&from, *axis, name.as_deref()))
            }
            Expr::Filter(from, condition) => {
                let from = self.nodes(from, context)?;
                let mut nodes = Vec::new();
                for member in &from {
                    let member = Member { of: from.len(), ..*member };
                    if self.keeps(condition, member)? {
                        nodes.push(member.node);
                    }
                }
                Ok(placed(nodes))
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Whether a predicate keeps a node.
    fn keeps(&mut self, condition: &Expr, member: Member) -> Evaluated<bool> {
        if condition.is_truth() || condition.is_nodes() {
            return Ok(self.truth(condition, member)? == Some(true));
        }
        let place = match self.scalar(condition, member)? {
            Scalar::Null => return Ok(false),
            Scalar::Int(place) => place,
            Scalar::Real(place, _) => place.round_ties_even() as i64,
            Scalar::Text(text) => convert::to_int(&Value::Text(text), &self.text_type(), self.ctx)?,
        };
        Ok(usize::try_from(place).is_ok_and(|place| place == member.place + 1))
    }

    fn step(&self, from: &[Member], axis: Axis, name: Option<&str>) -> Vec<Member> {
        let (document, mut found) = (self.document, Vec::new());
        let nodes = &document.nodes;
        let is_kind = |node: usize, kind: Kind| {
            nodes[node].kind == kind && name.is_none_or(|name| document.content(node) == name)
        };
        let is_element = |node: usize| is_kind(node, Kind::Element);
        // Nodes above others come once, in the order of the document.
        if matches!(axis, Axis::Parent | Axis::Ancestor | Axis::AncestorOrSelf) {
            let mut above = Vec::new();
            for member in from {
                let mut node = member.node;
                if axis == Axis::AncestorOrSelf && is_element(node) {
                    above.push(node);
                }
                while node != 0 {
                    node = nodes[node].parent;
                    if (node != 0 || axis == Axis::Parent) && is_element(node) {
                        above.push(node);
                    }
                    if axis == Axis::Parent {
                        break;
                    }
                }
            }
            above.sort_unstable();
            above.dedup();
            if axis == Axis::Parent {
                return placed(above);
            }
            let last = above.len().saturating_sub(1);
            let member = |(at, node)| Member { node, place: last - at, of: 0 };
            return above.into_iter().enumerate().map(member).collect();
        }
        for member in from {
            let (start, end) = (member.node, document.below(member.node));
            let mut add = |found_nodes: &mut dyn Iterator<Item = usize>| {
                found.extend(placed(found_nodes.collect()));
            };
            match axis {
                Axis::Attribute => add(&mut (start + 1..end).filter(|node| {
                    nodes[*node].parent == start && is_kind(*node, Kind::Attribute)
                })),
                Axis::Itself => add(&mut Some(start).into_iter().filter(|node| is_element(*node))),
                Axis::Descendant => add(&mut (start + 1..end).filter(|node| is_element(*node))),
                Axis::DescendantOrSelf => add(&mut (start..end).filter(|node| is_element(*node))),
                _ => add(&mut (start + 1..end)
                    .filter(|node| nodes[*node].parent == start && is_element(*node))),
            }
        }
        found
    }

    fn text_type(&self) -> ExprType {
        ExprType::text(1 << 24, self.collation, true)
    }

    fn real(&mut self, value: &Scalar) -> Evaluated<f64> {
        Ok(match value {
            Scalar::Null => 0.0,
            Scalar::Int(value) => *value as f64,
            Scalar::Real(value, _) => *value,
            Scalar::Text(text) => {
                convert::to_real(&Value::Text(text.clone()), &self.text_type(), self.ctx)?
            }
        })
    }

    /// True or false, `None` for NULL. A set of nodes is true if it has exactly one.
    fn truth(&mut self, expr: &Expr, context: Member) -> Evaluated<Option<bool>> {
        if expr.is_nodes() {
            return Ok(Some(self.nodes(expr, context)?.len() == 1));
        }
        match self.scalar(expr, context)? {
            Scalar::Null => Ok(None),
            value => Ok(Some(self.real(&value)? != 0.0)),
        }
    }

    /// The texts of a set of nodes, in the order of the document.
    fn joined(&mut self, expr: &Expr, context: Member) -> Evaluated<String> {
        let mut nodes: Vec<usize> = Vec::new();
        for member in self.nodes(expr, context)? {
            let inside = member.node + 1..self.document.below(member.node);
            nodes.extend(inside.filter(|node| {
                let node = &self.document.nodes[*node];
                node.kind == Kind::Text && node.parent == member.node
            }));
        }
        nodes.sort_unstable();
        nodes.dedup();
        let texts: Vec<&str> = nodes.iter().map(|node| self.document.content(*node)).collect();
        Ok(texts.join(" "))
    }

    fn scalar(&mut self, expr: &Expr, context: Member) -> Evaluated<Scalar> {
        Ok(match expr {
            _ if expr.is_nodes() => Scalar::Text(self.joined(expr, context)?),
            Expr::Int(value) => Scalar::Int(*value),
            Expr::Real(value, decimals) => Scalar::Real(*value, Some(*decimals)),
            Expr::Text(text) => Scalar::Text(text.clone()),
            Expr::UserVar(name) => self.variable(name),
            Expr::Negate(inner) => match self.scalar(inner, context)? {
                Scalar::Null => Scalar::Null,
                Scalar::Int(value) => Scalar::Int(value.wrapping_neg()),
                value => Scalar::Real(-self.real(&value)?, value.decimals()),
            },
            Expr::Binary(op @ (Op::And | Op::Or), left, right) => {
                let decides = *op == Op::Or;
                let left = self.truth(left, context)?;
                if left == Some(decides) {
                    return Ok(Scalar::truth(decides));
                }
                match (left, self.truth(right, context)?) {
                    (_, Some(right)) if right == decides => Scalar::truth(decides),
                    (None, _) | (_, None) => Scalar::Null,
                    _ => Scalar::truth(!decides),
                }
            }
            Expr::Binary(op, left, right) if op.compares() => {
                self.compared(*op, (left, right), context)?
            }
            Expr::Binary(op, left, right) => {
                let (left, right) = (self.scalar(left, context)?, self.scalar(right, context)?);
                self.computed(*op, &left, &right)?
            }
            Expr::Call(function, args) => self.call(*function, args, context)?,
            _ => Scalar::Null,
        })
    }

    fn variable(&self, name: &str) -> Scalar {
        let Some(var) = self.ctx.host.user_var(&name.to_lowercase()) else { return Scalar::Null };
        match var.value {
            Value::Null => Scalar::Null,
            Value::Int(value) => Scalar::Int(value),
            Value::Double(value) => Scalar::Real(value, None),
            value => Scalar::Text(convert::to_text(&value, &var.ty).into_owned()),
        }
    }

    /// A comparison; a set of nodes compares as any of the texts in it.
    fn compared(
        &mut self,
        op: Op,
        (left, right): (&Expr, &Expr),
        context: Member,
    ) -> Evaluated<Scalar> {
        let nodes = if left.is_nodes() { left } else { right };
        if !nodes.is_nodes() {
            let (left, right) = (self.scalar(left, context)?, self.scalar(right, context)?);
            return self.holds(op, &left, &right);
        }
        let is_left = left.is_nodes();
        let other = self.scalar(if is_left { right } else { left }, context)?;
        let document = self.document;
        for member in self.nodes(nodes, context)? {
            for text in document.texts(member.node) {
                let text = Scalar::Text(text.to_owned());
                let (left, right) = if is_left { (&text, &other) } else { (&other, &text) };
                if matches!(self.holds(op, left, right)?, Scalar::Int(1)) {
                    return Ok(Scalar::truth(true));
                }
            }
        }
        Ok(Scalar::truth(false))
    }

    fn holds(&mut self, op: Op, left: &Scalar, right: &Scalar) -> Evaluated<Scalar> {
        let order = match (left, right) {
            (Scalar::Null, _) | (_, Scalar::Null) => return Ok(Scalar::Null),
            (Scalar::Text(left), Scalar::Text(right)) => {
                Some(self.collation.compare(left.as_bytes(), right.as_bytes()))
            }
            _ => self.real(left)?.partial_cmp(&self.real(right)?),
        };
        Ok(Scalar::truth(match op {
            Op::Eq => order == Some(Ordering::Equal),
            Op::Ne => order != Some(Ordering::Equal),
            Op::Lt => order == Some(Ordering::Less),
            Op::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Op::Gt => order == Some(Ordering::Greater),
            _ => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        }))
    }

    fn computed(&mut self, op: Op, left: &Scalar, right: &Scalar) -> Evaluated<Scalar> {
        if matches!(left, Scalar::Null) || matches!(right, Scalar::Null) {
            return Ok(Scalar::Null);
        }
        if let (Scalar::Int(a), Scalar::Int(b)) = (left, right) {
            let (sign, result) = match op {
                Op::Add => ('+', a.checked_add(*b)),
                Op::Sub => ('-', a.checked_sub(*b)),
                Op::Mul => ('*', a.checked_mul(*b)),
                _ if *b == 0 => return self.divided_by_zero(),
                Op::Div => ('/', a.checked_div(*b)),
                _ => ('%', Some(a.wrapping_rem(*b))),
            };
            let text = format!("({a} {sign} {b})");
            let wrong = || SqlError::new(ErrorCode::DataOutOfRange, &[&"BIGINT", &text]);
            return result.map(Scalar::Int).ok_or_else(wrong);
        }
        let decimals = left.decimals().zip(right.decimals()).map(|(a, b)| a.max(b));
        let (a, b) = (self.real(left)?, self.real(right)?);
        Ok(match op {
            Op::Add => Scalar::Real(a + b, decimals),
            Op::Sub => Scalar::Real(a - b, decimals),
            Op::Mul => Scalar::Real(a * b, decimals),
            _ if b == 0.0 => return self.divided_by_zero(),
            Op::Div => Scalar::Int((a / b) as i64),
            _ => Scalar::Real(a % b, decimals),
        })
    }

    fn divided_by_zero(&mut self) -> Evaluated<Scalar> {
        if self.ctx.mode().has(inia_base::sql_mode::SqlMode::ERROR_FOR_DIVISION_BY_ZERO) {
            self.ctx.warn(ErrorCode::DivisionByZero, &[])?;
        }
        Ok(Scalar::Null)
    }

    fn call(&mut self, function: Function, args: &[Expr], context: Member) -> Evaluated<Scalar> {
        Ok(match function {
            Function::True => Scalar::truth(true),
            Function::False => Scalar::truth(false),
            Function::Last => Scalar::Int(context.of as i64),
            Function::Position => Scalar::Int(context.place as i64 + 1),
            Function::Count => match self.nodes(&args[0], context)?[..] {
                [only] if only.of > 0 => Scalar::Int(only.of as i64),
                ref nodes => Scalar::Int(nodes.len() as i64),
            },
            Function::Sum => {
                let (document, mut sum) = (self.document, 0.0);
                for member in self.nodes(&args[0], context)? {
                    for text in document.texts(member.node) {
                        sum += self.real(&Scalar::Text(text.to_owned()))?;
                    }
                }
                Scalar::Real(sum, None)
            }
            Function::Boolean | Function::Not => match self.truth(&args[0], context)? {
                None => Scalar::Null,
                Some(truth) => Scalar::truth(truth == (function == Function::Boolean)),
            },
            _ => return self.of_values(function, args, context),
        })
    }

    /// Functions of numbers and texts: NULL where an argument is.
    fn of_values(
        &mut self,
        function: Function,
        args: &[Expr],
        context: Member,
    ) -> Evaluated<Scalar> {
        let own = [Expr::Context];
        let args = if args.is_empty() { &own[..] } else { args };
        let mut values = Vec::with_capacity(args.len());
        // MySQL joins two texts, however many there are.
        for arg in &args[..args.len().min(if function == Function::Concat { 2 } else { 3 })] {
            match self.scalar(arg, context)? {
                Scalar::Null => return Ok(Scalar::Null),
                value => values.push(value),
            }
        }
        let first = match function {
            Function::Ceiling | Function::Floor | Function::Round | Function::Number => {
                if let Scalar::Int(value) = values[0] {
                    return Ok(Scalar::Int(value));
                }
                let value = self.real(&values[0])?;
                return Ok(match function {
                    Function::Ceiling => Scalar::Real(value.ceil(), Some(0)),
                    Function::Floor => Scalar::Real(value.floor(), Some(0)),
                    Function::Round => Scalar::Real(value.round_ties_even(), Some(0)),
                    _ => Scalar::Real(value, None),
                });
            }
            _ => values.remove(0).into_text().unwrap_or_default(),
        };
        if function == Function::StringLength {
            return Ok(Scalar::Int(first.chars().count() as i64));
        }
        if function == Function::Substring {
            return self.part(&first, &values);
        }
        let second = values.remove(0).into_text().unwrap_or_default();
        if function == Function::Concat {
            return Ok(Scalar::Text(first + &second));
        }
        let found = second.is_empty()
            || self.collation.find(first.as_bytes(), second.as_bytes(), 0).is_some();
        Ok(Scalar::truth(found))
    }

    /// SUBSTRING of MySQL: places count from 1, negative ones from the end.
    fn part(&mut self, text: &str, bounds: &[Scalar]) -> Evaluated<Scalar> {
        let count = text.chars().count() as i64;
        let start = self.real(&bounds[0])?.round_ties_even() as i64;
        let length = match bounds.get(1) {
            Some(length) => self.real(length)?.round_ties_even() as i64,
            None => count,
        };
        let skip = if start < 0 { count + start } else { start - 1 };
        if skip < 0 || length <= 0 {
            return Ok(Scalar::Text(String::new()));
        }
        Ok(Scalar::Text(text.chars().skip(skip as usize).take(length as usize).collect()))
    }
}

/// Nodes with their places.
fn placed(nodes: Vec<usize>) -> Vec<Member> {
    nodes.into_iter().enumerate().map(|(place, node)| Member { node, place, of: 0 }).collect()
}
