//! Special syntax: CAST, EXTRACT, TRIM, intervals, COLLATE and the like.

use super::Binder;
use crate::collate;
use crate::derive::{ParamType, ParamUse};
use crate::func;
use crate::interval;
use crate::tree::{CastKind, DateArith, Expr, ExprKind};
use crate::ty::{Coercibility, ExprType, bigint};
use inia_base::collation::Collation;
use inia_base::datatype::{DataType, GeometryKind};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_parser::ast::{self, CastType};

/// The longest strings that arrays have, in characters or bytes.
const MAX_ARRAY_STRING: u64 = 512;

/// Errors 1210 and 1382: NAME_CONST takes literals only, of numbers with a sign, of strings with a
/// collation.
pub(super) fn check_name_const(args: &[ast::Expr]) -> Result<(), SqlError> {
    use ast::{Expr as E, Literal, UnaryOp};
    // A statement whose plan is kept has parameters in the places of its literals.
    let literal = |expr: &E| match expr {
        E::Literal(Literal::Date(_) | Literal::Time(_) | Literal::Timestamp(_)) => false,
        E::Literal(_) => true,
        _ => matches!(expr, E::Param(_)),
    };
    let [name, value] = args else { return Ok(()) };
    let constant = match value {
        E::Literal(Literal::Bool(_)) => false,
        E::Unary { op: UnaryOp::Neg, expr } | E::Collate { expr, .. } => literal(expr),
        E::Unary { op: UnaryOp::Plus, expr } => literal(expr),
        value => literal(value),
    };
    if !constant || !literal(name) {
        return Err(SqlError::new(ErrorCode::WrongArguments, &[&"NAME_CONST"]));
    }
    match name {
        E::Literal(Literal::Null) => {
            Err(SqlError::new(ErrorCode::ReservedSyntax, &[&"NAME_CONST"]))
        }
        _ => Ok(()),
    }
}

impl Binder<'_> {
    pub(super) fn special(&mut self, expr: &ast::Expr) -> Result<Expr, SqlError> {
        match expr {
            ast::Expr::Cast { expr, ty, array: false } => {
                self.demand_cast(expr, ty);
                let operand = self.scalar(expr)?;
                self.cast(whole_mean(operand, expr, ty), ty)
            }
            ast::Expr::Collate { expr, collation } => self.collate(expr, collation),
            ast::Expr::ConvertUsing { expr, charset } => {
                let collation = collate::charset_default(charset)?;
                self.demand(expr, ParamType::Text(collation), ParamUse::AsGiven);
                let operand = self.scalar(expr)?;
                let nullable = operand.ty.nullable || self.env.sql_mode.is_strict();
                let mut converted = convert_to(operand, collation);
                converted.ty.nullable &= nullable;
                Ok(converted)
            }
            ast::Expr::DateArith { expr, interval, unit, subtract } => {
                self.demand_interval(expr, interval, *unit);
                let (date, amount) = (self.scalar(expr)?, self.scalar(interval)?);
                let unit = *unit;
                let ty = interval::result_type(&date.ty, &amount.ty, unit);
                let node = DateArith { date, amount, unit, subtract: *subtract };
                Ok(Expr { kind: ExprKind::DateArith(Box::new(node)), ty })
            }
            ast::Expr::Extract { unit, expr } => {
                // Units of several parts read strings as times.
                let used = match unit.is_composite() {
                    true => ParamUse::AsGiven,
                    false => ParamUse::Converted,
                };
                self.demand(expr, ParamType::DateTime, used);
                let operand = self.scalar(expr)?;
                Ok(func::extract(*unit, operand))
            }
            ast::Expr::TimestampDiff { unit, from, to } => {
                for moment in [from, to] {
                    self.demand(moment, ParamType::DateTime, ParamUse::Converted);
                }
                let args = vec![self.scalar(from)?, self.scalar(to)?];
                Ok(func::timestamp_diff(*unit, args))
            }
            ast::Expr::Trim { side, what, expr } => {
                let name = match side {
                    ast::TrimSide::Both => "trim",
                    ast::TrimSide::Leading => "trim_leading",
                    ast::TrimSide::Trailing => "trim_trailing",
                };
                let mut args = vec![self.scalar(expr)?];
                if let Some(what) = what {
                    args.push(self.scalar(what)?);
                }
                self.call(name, args)
            }
            _ => self.special_call(expr),
        }
    }

    /// Syntax that stands for a call.
    fn special_call(&mut self, expr: &ast::Expr) -> Result<Expr, SqlError> {
        match expr {
            ast::Expr::Regexp { expr, pattern, negated } => {
                let args = vec![self.scalar(expr)?, self.scalar(pattern)?];
                let matches = self.call("regexp_like", args)?;
                Ok(if *negated { not(matches) } else { matches })
            }
            ast::Expr::SoundsLike { left, right } => {
                let (left, right) = (self.scalar(left)?, self.scalar(right)?);
                let left = self.call("soundex", vec![left])?;
                let right = self.call("soundex", vec![right])?;
                self.comparison(crate::tree::CmpOp::Eq, left, right)
            }
            ast::Expr::MemberOf { expr, array } => {
                for document in [expr, array] {
                    self.demand(document, ParamType::Json, ParamUse::AsGiven);
                }
                let args = vec![self.scalar(expr)?, self.scalar(array)?];
                self.call("member_of", args)
            }
            ast::Expr::Char { args, charset } => {
                args.iter().for_each(|arg| self.demand_int(arg));
                let args = self.scalars(args)?;
                let Some(name) = charset else { return self.call("char", args) };
                let collation = collate::charset_default(name)?;
                if collation.charset().min_bytes() == 1 || args.len() == 1 {
                    return Ok(convert_to(self.call("char", args)?, collation));
                }
                // Each number is filled up to whole characters by itself.
                let mut characters = Vec::with_capacity(args.len());
                for arg in args {
                    characters.push(convert_to(self.call("char", vec![arg])?, collation));
                }
                self.call("concat", characters)
            }
            ast::Expr::WeightString { expr, cast } => {
                let mut operand = self.scalar(expr)?;
                if let Some(cast) = cast {
                    operand = self.cast(operand, cast)?;
                }
                self.call("weight_string", vec![operand])
            }
            ast::Expr::JsonExtract { column, path, unquote } => {
                let document = self.scope.column(column)?;
                let path = super::text_literal(path, Collation::DEFAULT);
                let found = self.call("json_extract", vec![document, path])?;
                if *unquote { self.call("json_unquote", vec![found]) } else { Ok(found) }
            }
            ast::Expr::JsonValue(call) => self.json_value(call),
            ast::Expr::CastAtTimeZone { .. } => {
                Err(SqlError::new(ErrorCode::NotSupportedYet, &[&"AT TIME ZONE"]))
            }
            ast::Expr::Cast { expr, ty, array: true } => self.cast_array(expr, ty),
            _ => Err(SqlError::new(ErrorCode::NotSupportedYet, &[&"this expression"])),
        }
    }

    /// CAST(document AS target ARRAY), which only a key part may be.
    fn cast_array(&mut self, document: &ast::Expr, target: &CastType) -> Result<Expr, SqlError> {
        let Some(index) = self.scope.array_index() else {
            return Err(SqlError::new(ErrorCode::NotSupportedYet, &[&func::NOT_HERE]));
        };
        let refused = |what: &str| {
            let what = format!("CAST-ing data to array of {what}");
            Err(SqlError::new(ErrorCode::NotSupportedYet, &[&what]))
        };
        let document = self.scalar(document)?;
        match target {
            CastType::Json => return refused("JSON"),
            CastType::Year => return refused("YEAR"),
            CastType::Float(None | Some(0..=24)) => return refused("FLOAT"),
            CastType::Float(_) | CastType::Double | CastType::Real => return refused("DOUBLE"),
            CastType::Char { charset: Some(_), .. } => {
                let what = "specifying charset for multi-valued index";
                return Err(SqlError::new(ErrorCode::NotSupportedYet, &[&what]));
            }
            CastType::Char { length, .. } | CastType::Binary(length)
                if length.is_none_or(|length| length > MAX_ARRAY_STRING) =>
            {
                return refused("char/binary BLOBs");
            }
            _ => {}
        }
        let element = match target {
            // Elements compare byte by byte, whatever the connection's collation is.
            CastType::Char { length: Some(length), .. } => {
                ExprType::text(*length, Collation::UTF8MB4_BIN, true).data_type
            }
            _ => self.cast_target(&document, target)?.0,
        };
        Ok(func::cast_as_array(document, element, index))
    }

    fn json_value(&mut self, call: &ast::JsonValue) -> Result<Expr, SqlError> {
        let (document, path) = (self.scalar(&call.doc)?, self.scalar(&call.path)?);
        let ty = match &call.returning {
            Some(ty) => {
                let longest = ExprType::text(512, Collation::DEFAULT, true);
                self.cast(Expr::literal(Value::Null, longest), ty)?.ty.with_nullable(true)
            }
            None => ExprType::text(512, Collation::DEFAULT, true),
        };
        let answer = |written: &Option<ast::JsonOnResponse>| match written {
            None | Some(ast::JsonOnResponse::Null) => Ok(Some(Expr::null())),
            Some(ast::JsonOnResponse::Error) => Ok(None),
            Some(ast::JsonOnResponse::Default(literal)) => self.literal(literal).map(Some),
        };
        let answers = (answer(&call.on_empty)?, answer(&call.on_error)?);
        Ok(func::json_value(document, path, answers, ty))
    }

    fn collate(&mut self, expr: &ast::Expr, name: &str) -> Result<Expr, SqlError> {
        let operand = self.scalar(expr)?;
        let collation = collate::find(name)?;
        let own = match operand.ty.is_text() {
            true => operand.ty.collation(),
            false if operand.ty.class() == crate::ty::TypeClass::String => Collation::BINARY,
            false => self.env.collation,
        };
        if !collate::same_charset(own, collation) {
            let charset = collate::charset_name(own);
            let args: [&dyn std::fmt::Display; 2] = [&name, &charset];
            return Err(SqlError::new(ErrorCode::CollationCharsetMismatch, &args));
        }
        let length = u64::from(operand.ty.length);
        let ty = ExprType::text(length, collation, true).with_coercibility(Coercibility::Explicit);
        if operand.ty.is_text() || collation == Collation::BINARY {
            return Ok(Expr { kind: ExprKind::Collate(Box::new(operand)), ty });
        }
        Ok(Expr { kind: ExprKind::Cast(Box::new(operand), CastKind::Implicit), ty })
    }

    /// CAST(operand AS target).
    pub(crate) fn cast(&mut self, operand: Expr, target: &CastType) -> Result<Expr, SqlError> {
        let (data_type, kind) = self.cast_target(&operand, target)?;
        let text = matches!(
            target,
            CastType::Binary(_) | CastType::Char { .. } | CastType::Json | CastType::Geometry(_)
        );
        if !text && operand.ty.is_geometry() {
            let name = match target {
                CastType::Signed => "cast_as_signed",
                CastType::Unsigned => "cast_as_unsigned",
                CastType::Date => "cast_as_date",
                CastType::Time(_) => "cast_as_time",
                CastType::DateTime(_) => "cast_as_datetime",
                CastType::Year => "cast_as_year",
                CastType::Decimal { .. } => "cast_as_decimal",
                _ => "cast_as_real",
            };
            return Err(SqlError::new(ErrorCode::WrongArguments, &[&name]));
        }
        let can_fail = match target {
            CastType::Signed
            | CastType::Unsigned
            | CastType::Decimal { .. }
            | CastType::Double
            | CastType::Real
            | CastType::Float(_) => false,
            CastType::Char { .. } | CastType::Binary(_) => self.env.sql_mode.is_strict(),
            _ => true,
        };
        let mut ty = ExprType::computed(data_type, operand.ty.nullable || can_fail);
        ty.coercibility = match ty.is_text() {
            true => Coercibility::Implicit,
            false => ty.coercibility,
        };
        if matches!(target, CastType::Signed | CastType::Unsigned) {
            ty.length = 21;
        }
        match ty.data_type {
            DataType::Year => ty.length = 5,
            DataType::Float { .. } => ty.length = 23,
            _ => {}
        }
        let operand = match target {
            CastType::Binary(_) | CastType::Char { .. } | CastType::Json => operand,
            CastType::Decimal { .. } | CastType::Double | CastType::Real | CastType::Float(_) => {
                super::operators::numeric(operand)
            }
            _ => super::operators::number_of_hex(operand),
        };
        Ok(Expr { kind: ExprKind::Cast(Box::new(operand), kind), ty })
    }

    fn cast_target(
        &self,
        operand: &Expr,
        target: &CastType,
    ) -> Result<(DataType, CastKind), SqlError> {
        let fsp = |digits: &Option<u64>, name: &str| match digits.unwrap_or(0) {
            digits @ 0..=6 => Ok(digits as u8),
            digits => Err(SqlError::new(ErrorCode::TooBigPrecision, &[&digits, &name, &6])),
        };
        // Only a written length cuts the value; without one the type is as long as the operand.
        let limit = |length: &Option<u64>| match length {
            Some(length) => CastKind::Limited(u32::try_from(*length).unwrap_or(u32::MAX)),
            None => CastKind::Explicit,
        };
        let own = u64::from(operand.ty.length);
        Ok(match target {
            CastType::Signed => (bigint(false), CastKind::Explicit),
            CastType::Unsigned => (bigint(true), CastKind::Explicit),
            CastType::Decimal { precision, scale } => {
                (decimal_target(operand, *precision, *scale)?, CastKind::Explicit)
            }
            // FLOAT(p) is a DOUBLE from 25 bits on.
            CastType::Float(Some(25..)) | CastType::Double | CastType::Real => {
                (DataType::Double { decimals: None, unsigned: false }, CastKind::Explicit)
            }
            CastType::Float(_) => {
                (DataType::Float { decimals: None, unsigned: false }, CastKind::Explicit)
            }
            CastType::Date => (DataType::Date, CastKind::Explicit),
            CastType::Time(digits) => {
                (DataType::Time { fsp: fsp(digits, "CAST")? }, CastKind::Explicit)
            }
            CastType::DateTime(digits) => {
                (DataType::DateTime { fsp: fsp(digits, "CAST")? }, CastKind::Explicit)
            }
            CastType::Year => (DataType::Year, CastKind::Explicit),
            CastType::Json => (DataType::Json, CastKind::Explicit),
            CastType::Binary(length) => {
                let of_character = match operand.ty.is_text() {
                    true => operand.ty.collation().charset().max_bytes().into(),
                    false => 1,
                };
                let bytes = length.unwrap_or(own * of_character);
                (ExprType::binary(bytes, true).data_type, limit(length))
            }
            CastType::Char { length: Some(length), .. } if *length > u64::from(u32::MAX) => {
                let (what, most) = ("cast as char", u32::MAX);
                return Err(SqlError::new(ErrorCode::TooBigDisplaywidth, &[&what, &most]));
            }
            CastType::Char { length, charset } => {
                let collation = match charset {
                    Some(name) => collate::charset_default(name)?,
                    None => self.env.collation,
                };
                let chars = length.unwrap_or(own);
                (ExprType::text(chars, collation, true).data_type, limit(length))
            }
            CastType::Geometry(name) => {
                let named = |kind: &GeometryKind| kind.name().eq_ignore_ascii_case(name);
                let kind = GeometryKind::ALL.into_iter().find(named);
                let kind = kind.unwrap_or(GeometryKind::Collection);
                (DataType::Geometry { kind, srid: None }, CastKind::Explicit)
            }
        })
    }
}

fn decimal_target(
    operand: &Expr,
    precision: Option<u64>,
    scale: Option<u64>,
) -> Result<DataType, SqlError> {
    let name = crate::print::print(operand);
    let (precision, scale) = (precision.unwrap_or(10), scale.unwrap_or(0));
    let precision = if precision == 0 { 10 } else { precision };
    if scale > 30 {
        return Err(SqlError::new(ErrorCode::TooBigScale, &[&scale, &name, &30]));
    }
    if precision > 65 {
        return Err(SqlError::new(ErrorCode::TooBigPrecision, &[&precision, &name, &65]));
    }
    if scale > precision {
        return Err(SqlError::new(ErrorCode::MBiggerThanD, &[&""]));
    }
    Ok(DataType::Decimal { precision: precision as u8, scale: scale as u8, unsigned: false })
}

/// `CONVERT(operand USING charset)`.
fn convert_to(operand: Expr, collation: Collation) -> Expr {
    let ty = ExprType::text(u64::from(operand.ty.length), collation, true)
        .with_coercibility(Coercibility::Implicit);
    Expr { kind: ExprKind::Cast(Box::new(operand), CastKind::Explicit), ty }
}

fn not(expr: Expr) -> Expr {
    let ty = ExprType::bool(expr.ty.nullable);
    if let Some(Value::Null) = expr.as_literal() {
        return expr;
    }
    Expr { kind: ExprKind::Not(Box::new(expr)), ty }
}

/// The operand of a CAST: AVG as a signed integer is the integer that is nearest to a double.
fn whole_mean(operand: Expr, written: &ast::Expr, target: &CastType) -> Expr {
    let ast::Expr::Aggregate(call) = written else { return operand };
    let mean = call.over.is_none() && call.func == ast::AggregateFunc::Avg;
    if !mean || *target != CastType::Signed {
        return operand;
    }
    let ty = ExprType::double(operand.ty.nullable);
    Expr { kind: ExprKind::Cast(Box::new(operand), CastKind::Implicit), ty }
}
