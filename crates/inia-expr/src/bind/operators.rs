//! Operators: which numbers they compute in, and the type that comes out.

use super::derive::Beside;
use super::row_lists::Rows;
use super::unset::is_variable;
use super::years::{as_year, beside_years, is_years};
use super::{Binder, converted, width};
use crate::collate;
use crate::compare::{self, CmpClass};
use crate::constant;
use crate::context::Environment;
use crate::merge;
use crate::number;
use crate::tree::{
    Arith, ArithOp, Between, Case, CmpOp, Compare, Expr, ExprKind, InList, Like, NumClass,
    Quantifier, Subquery,
};
use crate::ty::{ExprType, NOT_FIXED, TypeClass, display_length};
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::decimal::MAX_PRECISION;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::sql_mode::SqlMode;
use inia_base::temporal::Time;
use inia_base::value::Value;
use inia_parser::ast::{self, BinaryOp, UnaryOp};

/// The comparison an operator stands for.
pub(super) fn cmp_op(op: BinaryOp) -> Option<CmpOp> {
    Some(match op {
        BinaryOp::Eq => CmpOp::Eq,
        BinaryOp::Ne => CmpOp::Ne,
        BinaryOp::Lt => CmpOp::Lt,
        BinaryOp::Le => CmpOp::Le,
        BinaryOp::Gt => CmpOp::Gt,
        BinaryOp::Ge => CmpOp::Ge,
        BinaryOp::NullSafeEq => CmpOp::NullSafeEq,
        _ => return None,
    })
}

/// What several items of a list make of each other: one date among value and items makes all string
/// items compare as dates, but for ENUM and SET items; a text and a time are texts.
fn class_together(value: &Expr, items: &mut [(CmpClass, Expr)]) {
    let dated = |ty: &ExprType| ty.class() == TypeClass::Dated;
    if dated(&value.ty) || items.iter().any(|(_, item)| dated(&item.ty)) {
        let text = |ty: &ExprType| dated(ty) || ty.class() == TypeClass::String;
        for (class, item) in items.iter_mut().filter(|(_, item)| text(&item.ty)) {
            if text(&value.ty) && *class != CmpClass::Dates && !is_listed(&item.ty) {
                *class = CmpClass::Dates;
            }
        }
    }
    if value.ty.class() == TypeClass::String {
        let times = items.iter_mut().filter(|(_, item)| item.ty.class() == TypeClass::Time);
        times.for_each(|(class, _)| *class = compare::text_class(value.ty.collation()));
    }
}

fn arith_op(op: BinaryOp) -> Option<ArithOp> {
    Some(match op {
        BinaryOp::Add => ArithOp::Add,
        BinaryOp::Sub => ArithOp::Sub,
        BinaryOp::Mul => ArithOp::Mul,
        BinaryOp::Div => ArithOp::Div,
        BinaryOp::IntDiv => ArithOp::IntDiv,
        BinaryOp::Mod => ArithOp::Mod,
        _ => return None,
    })
}

/// The operand of a CASE, its pairs, and its last result.
type CaseParts = (Option<Expr>, Vec<(Expr, Expr)>, Option<Expr>);

impl Binder<'_> {
    pub(super) fn unary(&mut self, op: UnaryOp, expr: &ast::Expr) -> Result<Expr, SqlError> {
        self.demand_operand(op, expr);
        let operand = self.scalar(expr)?;
        match op {
            UnaryOp::Plus => Ok(operand),
            UnaryOp::Neg => {
                no_geometry(&[&operand], "-")?;
                Ok(negate(operand))
            }
            UnaryOp::Not => {
                let ty = ExprType::bool(operand.ty.nullable);
                Ok(Expr { kind: ExprKind::Not(Box::new(operand)), ty })
            }
            UnaryOp::BitNot => self.call("~", vec![operand]),
            UnaryOp::Binary => self.call("binary", vec![operand]),
        }
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        left: &ast::Expr,
        right: &ast::Expr,
    ) -> Result<Expr, SqlError> {
        if let Some(op) = cmp_op(op) {
            let (mut own, mut other) = (self.bind(left)?, self.bind(right)?);
            self.settle_compared((left, &mut own), (right, &mut other))?;
            return self.comparison(op, own, other);
        }
        let (left, right) = self.operands(op, left, right)?;
        if let Some(op) = arith_op(op) {
            no_geometry(&[&left, &right], op.symbol())?;
            return Ok(arithmetic(
                op,
                left,
                right,
                self.env.div_precision_increment,
                self.env.sql_mode,
            ));
        }
        let name = match op {
            BinaryOp::BitOr => "|",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitXor => "^",
            BinaryOp::ShiftLeft => "<<",
            BinaryOp::ShiftRight => ">>",
            _ => {
                let ty = ExprType::bool(left.ty.nullable || right.ty.nullable);
                return Ok(Expr { kind: ExprKind::Xor(Box::new(left), Box::new(right)), ty });
            }
        };
        self.call(name, vec![left, right])
    }

    /// The operands of an operator that computes.
    fn operands(
        &mut self,
        op: BinaryOp,
        left: &ast::Expr,
        right: &ast::Expr,
    ) -> Result<(Expr, Expr), SqlError> {
        match op {
            BinaryOp::Xor => [left, right].into_iter().for_each(|side| self.demand_int(side)),
            BinaryOp::IntDiv => self.demand_both(left, right),
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => self.demand_int(right),
            _ => {}
        }
        let (mut own, mut other) = (self.scalar(left)?, self.scalar(right)?);
        let mut both = [(left, &mut own), (right, &mut other)];
        match op {
            op if arith_op(op).is_some() => self.settle(&mut both, Beside::Numbers)?,
            BinaryOp::BitOr | BinaryOp::BitAnd | BinaryOp::BitXor => {
                self.settle(&mut both, Beside::Bits)?;
            }
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => {
                self.settle(&mut both[..1], Beside::Bits)?;
            }
            _ => {}
        }
        Ok((own, other))
    }

    /// `left op right` of scalars or rows.
    pub fn comparison(&mut self, op: CmpOp, left: Expr, right: Expr) -> Result<Expr, SqlError> {
        self.comparison_of(op, left, right, Rows::Operands)
    }

    fn comparison_of(
        &mut self,
        op: CmpOp,
        left: Expr,
        right: Expr,
        rows: Rows,
    ) -> Result<Expr, SqlError> {
        let columns = width(&left);
        if columns != width(&right) {
            return Err(SqlError::new(ErrorCode::OperandColumns, &[&columns]));
        }
        if columns == 1 {
            let (left, right) = beside_years(left, right);
            return scalar_comparison(op, left, right);
        }
        match (left.row_subquery(), right.row_subquery()) {
            (_, Some((sub, types))) => {
                let sub = (sub.clone(), types.to_vec());
                self.only_row(op, left, sub)
            }
            (Some((sub, types)), None) => {
                let sub = (sub.clone(), types.to_vec());
                self.only_row(op.swapped(), right, sub)
            }
            (None, None) => {
                let mut parts = Vec::new();
                self.row_parts((op, rows), left, right, &mut parts)?;
                let nullable = |part: &Compare| part.left.ty.nullable || part.right.ty.nullable;
                let nullable = op != CmpOp::NullSafeEq && parts.iter().any(nullable);
                let kind = ExprKind::CompareRows(op, parts);
                Ok(Expr { kind, ty: ExprType::bool(nullable) })
            }
        }
    }

    /// Adds the comparisons of two operands' columns; rows in rows must be of one shape.
    fn row_parts(
        &mut self,
        (op, rows): (CmpOp, Rows),
        left: Expr,
        right: Expr,
        parts: &mut Vec<Compare>,
    ) -> Result<(), SqlError> {
        let columns = width(&left);
        if columns != width(&right) {
            return Err(SqlError::new(ErrorCode::OperandColumns, &[&columns]));
        }
        match (left.kind, right.kind) {
            (ExprKind::Row(left), ExprKind::Row(right)) => {
                let mut pairs = left.into_iter().zip(right);
                pairs.try_for_each(|(l, r)| self.row_parts((op, rows), l, r, parts))
            }
            _ if columns > 1 => Err(SqlError::new(ErrorCode::OperandColumns, &[&1])),
            (left_kind, right_kind) => {
                let left = Expr { kind: left_kind, ty: left.ty };
                let right = Expr { kind: right_kind, ty: right.ty };
                parts.push(rows.pair(op, left, right)?);
                Ok(())
            }
        }
    }

    /// `row op (subquery)`, where the subquery has one row.
    fn only_row(
        &mut self,
        op: CmpOp,
        row: Expr,
        (sub, columns): (Subquery, Vec<ExprType>),
    ) -> Result<Expr, SqlError> {
        let Subquery { id, correlated, certain, .. } = sub;
        let compared = false;
        let bound = super::BoundSubquery { id, columns, correlated, certain, compared };
        self.quantified(row, op, Quantifier::Only, &bound)
    }

    pub(super) fn junction(
        &mut self,
        items: &[ast::Expr],
        make: fn(Vec<Expr>) -> ExprKind,
    ) -> Result<Expr, SqlError> {
        items.iter().for_each(|item| self.demand_int(item));
        let items = self.scalars(items)?;
        let nullable = items.iter().any(|item| item.ty.nullable);
        Ok(Expr { kind: make(items), ty: ExprType::bool(nullable) })
    }

    pub(super) fn is_test(&mut self, expr: &ast::Expr) -> Result<Expr, SqlError> {
        let kind = match expr {
            ast::Expr::IsNull { expr, negated } => {
                ExprKind::IsNull(Box::new(self.scalar(expr)?), *negated)
            }
            // It is one or the other, and keys find it.
            ast::Expr::IsTruth { expr, truth: ast::Truth::True, negated: false }
                if matches!(**expr, ast::Expr::IsNull { .. }) =>
            {
                return self.is_test(expr);
            }
            ast::Expr::IsTruth { expr, truth, negated } => {
                if *truth != ast::Truth::Unknown {
                    self.demand_int(expr);
                }
                let operand = Box::new(self.scalar(expr)?);
                match truth {
                    ast::Truth::True => ExprKind::IsTruth(operand, true, *negated),
                    ast::Truth::False => ExprKind::IsTruth(operand, false, *negated),
                    ast::Truth::Unknown => ExprKind::IsNull(operand, *negated),
                }
            }
            other => return self.bind(other),
        };
        Ok(Expr { kind, ty: ExprType::bool(false) })
    }

    pub(super) fn in_list(
        &mut self,
        expr: &ast::Expr,
        list: &[ast::Expr],
        negated: bool,
    ) -> Result<Expr, SqlError> {
        let mut value = self.bind(expr)?;
        let bound: Result<Vec<Expr>, SqlError> = list.iter().map(|item| self.bind(item)).collect();
        let mut bound = bound?;
        self.settle_list((expr, &mut value), list.iter(), &mut bound)?;
        leave_unfound_times(&value, &mut bound);
        let mut nullable = value.ty.nullable && width(&value) == 1;
        let mut items = Vec::with_capacity(list.len());
        // A list of one item is an `=`, and MySQL's errors name it so.
        let op = if list.len() == 1 { "=" } else { " IN " };
        let shared = match width(&value) {
            1 => {
                one_collation_of_texts(&value, bound.iter(), op)?;
                list_collation(&value, &bound, op)?
            }
            _ => None,
        };
        for item in bound {
            let columns = width(&value);
            if columns != width(&item) {
                return Err(SqlError::new(ErrorCode::OperandColumns, &[&columns]));
            }
            // An item of a list of rows carries its whole comparison; its own class has no meaning.
            if columns > 1 {
                let rows = if list.len() == 1 { Rows::OneOfList } else { Rows::OfList };
                let row = self.comparison_of(CmpOp::Eq, value.clone(), item, rows)?;
                nullable |= row.ty.nullable;
                items.push((CmpClass::Int, row));
                continue;
            }
            nullable |= item.ty.nullable;
            // Constants beside a YEAR column mean years: all of them in `=`, strings in a list.
            let is_text = item.ty.class() == TypeClass::String;
            let item = match is_years(&value) && (list.len() == 1 || is_text) {
                true => as_year(item),
                false => item,
            };
            let (left, item) = align(value.clone(), item);
            let class = match shared {
                Some(collation) if left.ty.is_text() && item.ty.is_text() => {
                    compare::text_class(collation)
                }
                _ => compare::choose(&left, &item, op)?,
            };
            items.push((class, item));
        }
        one_collation(&value, &mut items)?;
        let sorted = items.iter().all(|(class, item)| *class == items[0].0 && item.is_constant());
        if width(&value) == 1 && items.len() > 1 {
            class_together(&value, &mut items);
        }
        // A hexadecimal literal is a number only where all items compare as integers.
        let value = if items.iter().any(|(class, _)| *class != CmpClass::Int) {
            value
        } else {
            numeric(value)
        };
        let node = InList { value, items, set: None, rows: None, sorted, negated };
        Ok(Expr { kind: ExprKind::In(Box::new(node)), ty: ExprType::bool(nullable) })
    }

    pub(super) fn between(
        &mut self,
        expr: &ast::Expr,
        low: &ast::Expr,
        high: &ast::Expr,
        negated: bool,
    ) -> Result<Expr, SqlError> {
        let written = [expr, low, high];
        let (mut value, mut low, mut high) =
            (self.scalar(expr)?, self.scalar(low)?, self.scalar(high)?);
        let [first, second, third] = written;
        let mut bound = [(first, &mut value), (second, &mut low), (third, &mut high)];
        self.settle(&mut bound, Beside::Compared)?;
        no_geometry(&[&value, &low, &high], "between")?;
        collate::check_strings(&[&value, &low, &high], "between")?;
        let nullable = value.ty.nullable || low.ty.nullable || high.ty.nullable;
        let (low, high) = match is_years(&value) {
            true => (as_year(low), as_year(high)),
            false => (low, high),
        };
        let kinds = [value.ty.class(), low.ty.class(), high.ty.class()];
        let number =
            |c: &TypeClass| matches!(c, TypeClass::Int | TypeClass::Decimal | TypeClass::Real);
        let mixed = kinds.iter().any(number) && kinds.contains(&TypeClass::String);
        let other = |c: &TypeClass| !number(c) && *c != TypeClass::String && *c != TypeClass::Json;
        if kinds.iter().any(other) && kinds.contains(&TypeClass::String) && !mixed {
            collate::aggregate_for_comparison(&[&value.ty, &low.ty, &high.ty], "between")?;
        }
        // Numbers beside texts compare as numbers: the texts need no collation in common.
        let mixed = mixed && kinds.iter().all(|kind| number(kind) || *kind == TypeClass::String);
        let mut classes = match mixed {
            true => (CmpClass::Real, CmpClass::Real),
            false => {
                let class = |side| compare::choose(&value, side, "between");
                (class(&low)?, class(&high)?)
            }
        };
        let dated = |kind: &TypeClass| matches!(kind, TypeClass::Dated | TypeClass::String);
        if kinds.contains(&TypeClass::Dated) && kinds.iter().all(dated) {
            classes = (CmpClass::Dates, CmpClass::Dates);
        }
        // A text between times is one between texts.
        let timed = |kind: &TypeClass| matches!(kind, TypeClass::Time | TypeClass::String);
        if kinds[0] == TypeClass::String && kinds.iter().all(timed) {
            let texts = compare::text_class(value.ty.collation());
            classes = (texts.clone(), texts);
        }
        let text = |class: &CmpClass| matches!(class, CmpClass::Text(_) | CmpClass::Binary);
        if text(&classes.0) && text(&classes.1) {
            let types = [&value.ty, &low.ty, &high.ty];
            let collation = collate::aggregate_for_comparison(&types, "between")?;
            classes = (compare::text_class(collation), compare::text_class(collation));
        }
        let node = Between { value, low, high, classes, negated };
        Ok(Expr { kind: ExprKind::Between(Box::new(node)), ty: ExprType::bool(nullable) })
    }

    pub(super) fn like(
        &mut self,
        expr: &ast::Expr,
        pattern: &ast::Expr,
        escape: Option<&ast::Expr>,
        negated: bool,
    ) -> Result<Expr, SqlError> {
        let (value, pattern) = (self.scalar(expr)?, self.scalar(pattern)?);
        no_geometry(&[&value, &pattern], "like")?;
        let collation = collate::operands_collation(&[&value, &pattern], "like")?;
        let escape = match escape {
            None if self.env.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES) => None,
            None => Some('\\'),
            Some(written) => self.escape_char(written)?,
        };
        let ty = ExprType::bool(value.ty.nullable || pattern.ty.nullable);
        let node = Like { value, pattern, escape, compiled: None, collation, negated };
        Ok(Expr { kind: ExprKind::Like(Box::new(node)), ty })
    }

    fn escape_char(&mut self, written: &ast::Expr) -> Result<Option<char>, SqlError> {
        let wrong = || SqlError::new(ErrorCode::WrongArguments, &[&"ESCAPE"]);
        let bound = self.scalar(written)?;
        match bound.as_literal() {
            Some(Value::Null) => Ok(Some('\\')),
            Some(Value::Text(text)) => {
                let mut chars = text.chars();
                let first = chars.next();
                if chars.next().is_some() { Err(wrong()) } else { Ok(first) }
            }
            _ => Err(wrong()),
        }
    }

    pub(super) fn case(
        &mut self,
        operand: Option<&ast::Expr>,
        whens: &[(ast::Expr, ast::Expr)],
        otherwise: Option<&ast::Expr>,
    ) -> Result<Expr, SqlError> {
        let (operand, mut bound, otherwise) = self.case_parts(operand, whens, otherwise)?;
        if let Some(operand) = &operand {
            let values = || bound.iter().map(|(value, _)| value);
            let operands = std::iter::once(operand).chain(values());
            collate::check_strings(&operands.collect::<Vec<&Expr>>(), "case")?;
            one_collation_of_texts(operand, values(), "case")?;
        }
        for (condition, _) in &mut bound {
            let value = std::mem::replace(condition, Expr::null());
            *condition = match &operand {
                None => value,
                Some(operand) => when(operand.clone(), value)?,
            };
        }
        one_collation_of_case(&mut bound, operand.is_some())?;
        let same = |(condition, _): &(Expr, Expr)| match (&condition.kind, &operand) {
            (ExprKind::Compare(compare), Some(operand)) => compare.left.ty == operand.ty,
            _ => false,
        };
        let simple = bound.iter().all(same);
        let mut node = case_node(bound, otherwise)?;
        if let ExprKind::Case(case) = &mut node.kind {
            case.simple = simple;
        }
        Ok(node)
    }

    /// The operand, the pairs and the last result of a CASE.
    fn case_parts(
        &mut self,
        operand: Option<&ast::Expr>,
        whens: &[(ast::Expr, ast::Expr)],
        otherwise: Option<&ast::Expr>,
    ) -> Result<CaseParts, SqlError> {
        let mut own = operand.map(|operand| self.scalar(operand)).transpose()?;
        let mut values = Vec::with_capacity(whens.len());
        let mut results = Vec::with_capacity(whens.len() + 1);
        for (value, result) in whens {
            values.push(self.scalar(value)?);
            results.push(self.scalar(result)?);
        }
        results.extend(otherwise.map(|other| self.scalar(other)).transpose()?);
        if let (Some(written), Some(own)) = (operand, &mut own) {
            let list = whens.iter().map(|(value, _)| value);
            self.settle_list((written, own), list, &mut values)?;
        }
        if self.derivation().is_some() || results.iter().any(is_variable) {
            let written = whens.iter().map(|(_, result)| result).chain(otherwise);
            let mut chosen: Vec<_> = written.zip(&mut results).collect();
            self.settle(&mut chosen, Beside::Chosen)?;
        }
        let otherwise = otherwise.and_then(|_| results.pop());
        Ok((own, values.into_iter().zip(results).collect(), otherwise))
    }

    /// Gives the operand of a unary operator, which is not bound yet, the type that it takes.
    fn demand_operand(&self, op: UnaryOp, operand: &ast::Expr) {
        match op {
            UnaryOp::Not => self.demand_int(operand),
            UnaryOp::Neg => self.demand_number(operand),
            UnaryOp::BitNot => self.demand_bits(operand),
            UnaryOp::Binary => self.demand_cast(operand, &ast::CastType::Binary(None)),
            UnaryOp::Plus => {}
        }
    }
}

/// A CASE's operand compared with a value: JSON beside a string counts as its text, beside a number
/// as a DOUBLE. A date or time counts as its text where the operand is a string. A constant beside
/// a date is NULL where it is none.
fn when(operand: Expr, value: Expr) -> Result<Expr, SqlError> {
    let real = ExprType::double(true);
    let text = ExprType::text(u64::from(u32::MAX) / 4, Collation::UTF8MB4_BIN, true);
    let (operand, value) = match (operand.ty.class(), value.ty.class()) {
        (TypeClass::Json, TypeClass::String) => (converted(operand, &text), value),
        (TypeClass::String, TypeClass::Json) => (operand, converted(value, &text)),
        (TypeClass::Json, TypeClass::Int | TypeClass::Decimal | TypeClass::Real) => {
            (converted(operand, &real), value)
        }
        (TypeClass::Int | TypeClass::Decimal | TypeClass::Real, TypeClass::Json) => {
            (operand, converted(value, &real))
        }
        (TypeClass::String, TypeClass::Dated | TypeClass::Time) => {
            (operand, converted(value, &text))
        }
        (TypeClass::Dated, TypeClass::String) if constant::is_no_date(&value) => {
            let moment = ExprType::computed(DataType::DateTime { fsp: 0 }, true);
            (operand, converted(value, &moment))
        }
        _ => (operand, value),
    };
    scalar_comparison(CmpOp::Eq, operand, value)
}

/// Where a text is compared with several values, one a text, all have a collation in common.
fn one_collation_of_texts<'e>(
    value: &'e Expr,
    items: impl ExactSizeIterator<Item = &'e Expr> + Clone,
    op: &str,
) -> Result<(), SqlError> {
    let text = |expr: &Expr| expr.ty.class() == TypeClass::String;
    if items.len() < 2 || !text(value) || !items.clone().any(text) {
        return Ok(());
    }
    let types: Vec<&ExprType> = std::iter::once(value).chain(items).map(|item| &item.ty).collect();
    collate::aggregate_for_comparison(&types, op).map(|_| ())
}

/// As [`one_collation`], for the values that a CASE compares its operand with.
fn one_collation_of_case(whens: &mut [(Expr, Expr)], simple: bool) -> Result<(), SqlError> {
    let text = |class: &CmpClass| matches!(class, CmpClass::Text(_) | CmpClass::Binary);
    let mut compares: Vec<&mut Compare> = Vec::new();
    for (condition, _) in whens.iter_mut().filter(|_| simple) {
        if let ExprKind::Compare(compare) = &mut condition.kind
            && text(&compare.class)
        {
            compares.push(compare);
        }
    }
    if compares.len() < 2 {
        return Ok(());
    }
    let types: Vec<&ExprType> = std::iter::once(&compares[0].left.ty)
        .chain(compares.iter().map(|compare| &compare.right.ty))
        .collect();
    let collation = collate::aggregate_for_comparison(&types, "case")?;
    compares.iter_mut().for_each(|compare| compare.class = compare::text_class(collation));
    Ok(())
}

/// Texts in a list all compare by the one collation that they have in common with the value.
fn one_collation(value: &Expr, items: &mut [(CmpClass, Expr)]) -> Result<(), SqlError> {
    let text = |class: &CmpClass| matches!(class, CmpClass::Text(_) | CmpClass::Binary);
    let texts = items.iter().filter(|(class, _)| text(class)).map(|(_, item)| &item.ty);
    let types: Vec<&ExprType> = std::iter::once(&value.ty).chain(texts).collect();
    if types.len() < 3 || value.ty.class() != TypeClass::String {
        return Ok(());
    }
    let collation = collate::aggregate_for_comparison(&types, " IN ")?;
    for (class, _) in items.iter_mut().filter(|(class, _)| text(class)) {
        *class = compare::text_class(collation);
    }
    Ok(())
}

fn is_listed(ty: &ExprType) -> bool {
    matches!(ty.data_type, DataType::Enum { .. } | DataType::Set { .. })
}

/// A searched CASE over bound parts.
pub(crate) fn case_node(
    whens: Vec<(Expr, Expr)>,
    otherwise: Option<Expr>,
) -> Result<Expr, SqlError> {
    let results = whens.iter().map(|(_, result)| &result.ty);
    let types: Vec<&ExprType> = results.chain(otherwise.iter().map(|e| &e.ty)).collect();
    let mut ty = merge::merge(&types, "case")?;
    ty.nullable |= otherwise.is_none();
    Ok(Expr { kind: ExprKind::Case(Box::new(Case { simple: false, whens, otherwise })), ty })
}

/// `left op right` of two scalars.
pub(crate) fn scalar_comparison(op: CmpOp, left: Expr, right: Expr) -> Result<Expr, SqlError> {
    if !matches!(op, CmpOp::Eq | CmpOp::Ne | CmpOp::NullSafeEq) {
        no_geometry(&[&left, &right], op.symbol())?;
    }
    let (left, right) = align(left, right);
    let class = compare::choose(&left, &right, op.symbol())?;
    let ty = ExprType::bool(op != CmpOp::NullSafeEq && (left.ty.nullable || right.ty.nullable));
    Ok(Expr { kind: ExprKind::Compare(Box::new(Compare { op, class, left, right })), ty })
}

/// The collation of a list of texts, which compare by one; error 1267.
fn list_collation(value: &Expr, list: &[Expr], op: &str) -> Result<Option<Collation>, SqlError> {
    let operands: Vec<&Expr> = std::iter::once(value).chain(list).collect();
    collate::check_strings(&operands, op)?;
    let texts = operands.iter().all(|operand| operand.ty.is_text());
    Ok(texts.then(|| collate::operands_collation(&operands, op).ok()).flatten())
}

/// Error 1210: geometries are no operands of what orders values or computes with numbers.
pub(crate) fn no_geometry(operands: &[&Expr], name: &str) -> Result<(), SqlError> {
    match operands.iter().any(|operand| operand.ty.is_geometry()) {
        true => Err(SqlError::new(ErrorCode::WrongArguments, &[&name])),
        false => Ok(()),
    }
}

/// A hexadecimal literal beside a number is a number.
fn align(left: Expr, right: Expr) -> (Expr, Expr) {
    let number =
        |e: &Expr| matches!(e.ty.class(), TypeClass::Int | TypeClass::Decimal | TypeClass::Real);
    if number(&left) {
        (left, numeric(right))
    } else if number(&right) {
        (numeric(left), right)
    } else {
        (left, right)
    }
}

/// The operand as arithmetic sees it: hexadecimal literals are unsigned integers, and what chooses
/// among values of several types gives the number of the value that it chooses.
pub(crate) fn numeric(expr: Expr) -> Expr {
    if expr.ty.class() == TypeClass::String && chooses_numbers(&expr.kind) {
        let ty = ExprType::double(expr.ty.nullable);
        return Expr { ty, ..expr };
    }
    number_of_hex(expr)
}

/// The operand; a hexadecimal literal as the unsigned integer that it is beside numbers.
pub(crate) fn number_of_hex(expr: Expr) -> Expr {
    let ExprKind::HexLiteral(bytes) = &expr.kind else { return expr };
    let value = number::of_hex(bytes);
    let digits = value.checked_ilog10().unwrap_or(0) + 1;
    Expr::literal(Value::UInt(value), ExprType::uint(digits, false))
}

/// Whether a value is one of several, some of which are other numbers than their texts are.
fn chooses_numbers(kind: &ExprKind) -> bool {
    let other = |expr: &Expr| match &expr.ty.data_type {
        DataType::Enum { .. } | DataType::Set { .. } | DataType::Bit(_) => true,
        _ => matches!(expr.ty.class(), TypeClass::Dated | TypeClass::Time),
    };
    match kind {
        ExprKind::Case(case) => {
            let results = case.whens.iter().map(|(_, result)| result);
            !case.is_nullif() && results.chain(&case.otherwise).any(other)
        }
        ExprKind::Call(call) if call.name == "if" => call.args[1..].iter().any(other),
        _ => false,
    }
}

/// The numbers in which an operand takes part in arithmetic.
pub(crate) fn num_class(ty: &ExprType) -> NumClass {
    match ty.class() {
        TypeClass::Int => NumClass::Int,
        TypeClass::Decimal => NumClass::Decimal,
        TypeClass::Dated | TypeClass::Time if ty.fsp() == 0 => NumClass::Int,
        TypeClass::Dated | TypeClass::Time => NumClass::Decimal,
        TypeClass::Real | TypeClass::String | TypeClass::Json | TypeClass::Null => NumClass::Real,
    }
}

/// The numbers in which a function or operator of one number takes its operand.
pub(crate) fn unary_class(ty: &ExprType) -> NumClass {
    match ty.class() {
        TypeClass::Dated | TypeClass::Time => NumClass::Real,
        _ => num_class(ty),
    }
}

/// The double that ABS and unary minus make of an operand: one with its digits after the point.
pub(crate) fn double_like(ty: &ExprType) -> ExprType {
    let double = ExprType::double(ty.nullable);
    let decimals = match ty.class() {
        TypeClass::Dated | TypeClass::Time => ty.fsp(),
        TypeClass::String if ty.hex => 0,
        TypeClass::Real => ty.decimals,
        _ => return double,
    };
    let data_type = match decimals {
        NOT_FIXED => return double,
        digits => DataType::Double { decimals: Some(digits), unsigned: false },
    };
    let length = display_length(&data_type);
    ExprType { data_type, length, decimals, ..double }
}

/// Unary minus; negative literals become constants at once.
pub fn negate(operand: Expr) -> Expr {
    match (&operand.kind, unary_class(&operand.ty)) {
        (ExprKind::Literal(Value::Int(v)), _) if *v >= 0 && !operand.ty.is_unsigned() => {
            Expr::literal(Value::Int(-*v), operand.ty)
        }
        (ExprKind::Literal(Value::UInt(v)), _) if *v == 1 << 63 => {
            Expr::literal(Value::Int(i64::MIN), ExprType::int(20, false))
        }
        (ExprKind::Literal(_), NumClass::Int) if operand.ty.is_unsigned() => {
            negated(operand, NumClass::Decimal)
        }
        (ExprKind::Literal(Value::Int(i64::MIN)), _) => negated(operand, NumClass::Decimal),
        (_, class) => negated(operand, class),
    }
}

fn negated(operand: Expr, class: NumClass) -> Expr {
    let nullable = operand.ty.nullable;
    let (whole, scale) = (operand.ty.precision(), u32::from(operand.ty.decimals));
    let ty = match class {
        NumClass::Int => {
            let extra = u32::from(operand.ty.is_unsigned());
            ExprType::int(operand.ty.length + extra, nullable)
        }
        NumClass::Decimal => ExprType::decimal(whole, scale, false, nullable),
        NumClass::Real => double_like(&operand.ty),
    };
    Expr { kind: ExprKind::Neg(Box::new(operand), class), ty }
}

/// `left op right` in numbers.
pub(crate) fn arithmetic(
    op: ArithOp,
    left: Expr,
    right: Expr,
    increment: u8,
    mode: SqlMode,
) -> Expr {
    let (left, right) = (numeric(left), numeric(right));
    let classes = (num_class(&left.ty), num_class(&right.ty));
    let class = match classes {
        (NumClass::Int, NumClass::Int) if op == ArithOp::Div => NumClass::Decimal,
        (NumClass::Int, NumClass::Int) => NumClass::Int,
        _ if op == ArithOp::IntDiv => NumClass::Decimal,
        (NumClass::Real, _) | (_, NumClass::Real) => NumClass::Real,
        _ => NumClass::Decimal,
    };
    let nullable = left.ty.nullable
        || right.ty.nullable
        || matches!(op, ArithOp::Div | ArithOp::IntDiv | ArithOp::Mod);
    let signs = (left.ty.is_unsigned(), right.ty.is_unsigned());
    let unsigned = match op {
        ArithOp::Mod => signs.0,
        ArithOp::Sub if mode.has(SqlMode::NO_UNSIGNED_SUBTRACTION) => false,
        _ if class == NumClass::Decimal && op != ArithOp::IntDiv => signs.0 && signs.1,
        _ => signs.0 || signs.1,
    };
    let ty = arithmetic_type(op, class, &left.ty, &right.ty, increment, unsigned);
    let node = Arith { op, class, left, right };
    Expr { kind: ExprKind::Arith(Box::new(node)), ty: ty.with_nullable(nullable) }
}

fn arithmetic_type(
    op: ArithOp,
    class: NumClass,
    left: &ExprType,
    right: &ExprType,
    increment: u8,
    unsigned: bool,
) -> ExprType {
    let scale_of = |ty: &ExprType| match num_class(ty) {
        NumClass::Real => 0,
        _ => u32::from(ty.decimals),
    };
    let (p1, p2) = (left.precision(), right.precision());
    let (s1, s2) = (scale_of(left), scale_of(right));
    let whole = p1.saturating_sub(s1).max(p2.saturating_sub(s2));
    let (precision, scale) = match op {
        ArithOp::Add | ArithOp::Sub => (whole + 1 + s1.max(s2), s1.max(s2)),
        ArithOp::Mul => (p1 + p2, s1 + s2),
        ArithOp::Div => (p1 + s2 + u32::from(increment), s1 + u32::from(increment)),
        ArithOp::Mod => (p1.max(p2), s1.max(s2)),
        ArithOp::IntDiv => (p1.saturating_sub(s1) + s2, 0),
    };
    if op == ArithOp::IntDiv || class == NumClass::Int {
        let digits = precision.min(MAX_PRECISION.into());
        let length = match op {
            // A remainder counts a sign whether it has one or not.
            ArithOp::Mod => digits + 1,
            _ => digits + u32::from(!unsigned),
        };
        return if unsigned { ExprType::uint(length, true) } else { ExprType::int(length, true) };
    }
    match class {
        NumClass::Real => real_type(op, left.decimals, right.decimals, increment),
        _ if matches!(op, ArithOp::Mul | ArithOp::Div) => {
            ExprType::column_decimal(precision, scale, unsigned, true)
        }
        _ => ExprType::decimal(precision, scale, unsigned, true),
    }
}

/// Leaves texts of times out of a list beside a TIME column where another text of it is no time:
/// MySQL has made numbers of them then, which no time is but zero.
fn leave_unfound_times(value: &Expr, list: &mut Vec<Expr>) {
    if !value.ty.stored || value.ty.class() != TypeClass::Time {
        return;
    }
    let text = |item: &Expr| match item.as_literal() {
        Some(Value::Text(text)) => Some(text.clone()),
        _ => None,
    };
    let wrong = |text: String| !crate::constant::is_time(&Value::Text(text));
    if list.iter().filter_map(text).any(wrong) {
        let zero = |text: &str| Time::parse(text).is_ok_and(|time| time.value == Time::ZERO);
        list.retain(|item| text(item).is_none_or(|text| zero(&text) || wrong(text)));
    }
}

/// DOUBLE; with a fixed number of decimals where both operands have one.
fn real_type(op: ArithOp, left: u8, right: u8, increment: u8) -> ExprType {
    let ty = ExprType::double(true);
    let fixed = left < NOT_FIXED && right < NOT_FIXED;
    let decimals = match op {
        ArithOp::Add | ArithOp::Sub | ArithOp::Mod => left.max(right),
        ArithOp::Mul => left.saturating_add(right),
        ArithOp::Div => left.max(right).saturating_add(increment),
        ArithOp::IntDiv => NOT_FIXED,
    };
    if !fixed || decimals >= NOT_FIXED {
        return ty;
    }
    let data_type = DataType::Double { decimals: Some(decimals), unsigned: false };
    ExprType { data_type, decimals, ..ty }
}

/// `left op right` in numbers, by the session's settings.
pub(crate) fn arithmetic_node(op: ArithOp, left: Expr, right: Expr, env: &Environment) -> Expr {
    arithmetic(op, left, right, env.div_precision_increment, env.sql_mode)
}
