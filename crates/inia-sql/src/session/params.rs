//! What a prepared statement's parameters are, as its plan takes them.
//!
//! MySQL derives a parameter's type from the value it is executed with: `? + 1` is exact for an
//! integer and a DOUBLE for a text, `c = ?` compares numbers where `?` is one. So a plan is made
//! for the kinds of values of one execution; it serves all executions with values of the same
//! kinds, and NULL is of every kind. Example: after `EXECUTE s USING '5'` the plan stands for
//! texts; `USING 5` makes a new one.
//!
//! A number that is an item of a select list stays one: a later text in its place is read as a
//! number, and a DOUBLE takes all other numbers. Everywhere else each value has its own type.

use super::evaluate::value_of;
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_expr::ExprType;
use inia_parser::ast::{self, CastType};
use inia_query::context::SessionContext;

/// The kind of one parameter. PREPARE takes all parameters for texts; NULL counts as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ParamKind {
    Text,
    Bytes,
    Int,
    UInt,
    Double,
    Decimal,
    Date,
    /// With microseconds, or without a fraction.
    Time(bool),
    DateTime(bool),
    Json,
}

impl ParamKind {
    fn of(value: &Value) -> ParamKind {
        match value {
            Value::Null | Value::Text(_) => ParamKind::Text,
            Value::Bytes(_) => ParamKind::Bytes,
            Value::Int(_) => ParamKind::Int,
            Value::UInt(_) => ParamKind::UInt,
            Value::Double(_) => ParamKind::Double,
            Value::Decimal(_) => ParamKind::Decimal,
            Value::Date(_) => ParamKind::Date,
            Value::Time(value) => ParamKind::Time(value.fraction() != 0),
            Value::DateTime(value) => ParamKind::DateTime(value.micros != 0),
            Value::Json(_) => ParamKind::Json,
        }
    }

    /// What the number is that stands for `value` in the place of an earlier one of this kind.
    fn number_for(self, value: &Value) -> Option<CastType> {
        match (self, value) {
            (ParamKind::Int | ParamKind::UInt, Value::Text(_)) => Some(CastType::Signed),
            (
                ParamKind::Double,
                Value::Text(_) | Value::Int(_) | Value::UInt(_) | Value::Decimal(_),
            ) => Some(CastType::Double),
            (ParamKind::Decimal, Value::Int(_) | Value::UInt(_)) => {
                Some(CastType::Decimal { precision: Some(65), scale: Some(0) })
            }
            _ => None,
        }
    }

    fn ty(self, connection: Collation) -> ExprType {
        let computed = |data_type| ExprType::computed(data_type, true);
        match self {
            ParamKind::Text => ExprType::text(16_383, connection, true),
            ParamKind::Bytes => ExprType::binary(65_535, true),
            ParamKind::Int => ExprType::int(21, true),
            ParamKind::UInt => ExprType::uint(21, true),
            ParamKind::Double => ExprType::double(true),
            ParamKind::Decimal => {
                computed(DataType::Decimal { precision: 65, scale: 30, unsigned: false })
            }
            ParamKind::Date => computed(DataType::Date),
            ParamKind::Time(fraction) => computed(DataType::Time { fsp: 6 * u8::from(fraction) }),
            ParamKind::DateTime(fraction) => {
                computed(DataType::DateTime { fsp: 6 * u8::from(fraction) })
            }
            ParamKind::Json => computed(DataType::Json),
        }
    }
}

/// CAST(value AS target).
fn as_number(
    session: &mut SessionContext,
    target: CastType,
    value: &Value,
) -> Result<Value, SqlError> {
    let expr = Box::new(ast::Expr::Param(0));
    let cast = ast::Expr::Cast { expr, ty: target, array: false };
    Ok(value_of(session, &cast, std::slice::from_ref(value))?.value)
}

/// The kinds of a statement's parameters; none stands for texts only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ParamKinds(Vec<ParamKind>);

/// The types of values that nothing has given a type yet.
pub(super) fn types_of(params: &[Value], connection: Collation) -> Vec<ExprType> {
    params.iter().map(|value| ParamKind::of(value).ty(connection)).collect()
}

impl ParamKinds {
    /// The kinds of these values.
    pub(super) fn of(params: &[Value]) -> ParamKinds {
        let plain = params.iter().all(|value| ParamKind::of(value) == ParamKind::Text);
        ParamKinds(if plain { Vec::new() } else { params.iter().map(ParamKind::of).collect() })
    }

    /// Whether a plan for these kinds is right for the values.
    pub(super) fn fit(&self, params: &[Value]) -> bool {
        params.iter().enumerate().all(|(at, value)| {
            *value == Value::Null
                || ParamKind::of(value) == self.0.get(at).copied().unwrap_or(ParamKind::Text)
        })
    }

    /// The values as the numbers that earlier ones were, with the warnings of that; `None` where
    /// there is nothing to convert, or a value needs a new plan.
    pub(super) fn carry(
        &self,
        session: &mut SessionContext,
        params: &[Value],
    ) -> Result<Option<Vec<Value>>, SqlError> {
        if self.0.is_empty() || self.fit(params) {
            return Ok(None);
        }
        let kinds = || self.0.iter().copied().zip(params);
        let fits = |(kind, value): (ParamKind, &Value)| {
            *value == Value::Null
                || ParamKind::of(value) == kind
                || kind.number_for(value).is_some()
        };
        if !kinds().all(fits) {
            return Ok(None);
        }
        let carried = kinds().map(|(kind, value)| match kind.number_for(value) {
            Some(number) if ParamKind::of(value) != kind => as_number(session, number, value),
            _ => Ok(value.clone()),
        });
        carried.collect::<Result<_, _>>().map(Some)
    }

    /// The parameters' types; none where all are texts.
    pub(super) fn types(&self, connection: Collation) -> Vec<ExprType> {
        self.0.iter().map(|kind| kind.ty(connection)).collect()
    }
}
