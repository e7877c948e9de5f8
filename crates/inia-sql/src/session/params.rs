//! What a prepared statement's parameters are, as its plan takes them.
//!
//! MySQL derives a parameter's type from the value it is executed with: `? + 1` is exact for an
//! integer and a DOUBLE for a text, `c = ?` compares numbers where `?` is one. So a plan is made
//! for the kinds of values of one execution; it serves all executions with values of the same
//! kinds, and NULL is of every kind. Example: after `EXECUTE s USING 5` the plan stands for
//! integers; `USING '5'` makes a new one.

use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::value::Value;
use inia_expr::ExprType;

/// The kind of one parameter. PlanCache and NULL are what PREPARE takes all parameters for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
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

impl Kind {
    fn of(value: &Value) -> Kind {
        match value {
            Value::Null | Value::Text(_) => Kind::Text,
            Value::Bytes(_) => Kind::Bytes,
            Value::Int(_) => Kind::Int,
            Value::UInt(_) => Kind::UInt,
            Value::Double(_) => Kind::Double,
            Value::Decimal(_) => Kind::Decimal,
            Value::Date(_) => Kind::Date,
            Value::Time(value) => Kind::Time(value.fraction() != 0),
            Value::DateTime(value) => Kind::DateTime(value.micros != 0),
            Value::Json(_) => Kind::Json,
        }
    }

    fn ty(self, connection: Collation) -> ExprType {
        let computed = |data_type| ExprType::computed(data_type, true);
        match self {
            Kind::Text => ExprType::text(16_383, connection, true),
            Kind::Bytes => ExprType::binary(65_535, true),
            Kind::Int => ExprType::int(21, true),
            Kind::UInt => ExprType::uint(21, true),
            Kind::Double => ExprType::double(true),
            Kind::Decimal => {
                computed(DataType::Decimal { precision: 65, scale: 30, unsigned: false })
            }
            Kind::Date => computed(DataType::Date),
            Kind::Time(fraction) => computed(DataType::Time { fsp: 6 * u8::from(fraction) }),
            Kind::DateTime(fraction) => {
                computed(DataType::DateTime { fsp: 6 * u8::from(fraction) })
            }
            Kind::Json => computed(DataType::Json),
        }
    }
}

/// The kinds of a statement's parameters; none stands for texts only.
#[derive(Debug, Default)]
pub(super) struct ParamKinds(Vec<Kind>);

impl ParamKinds {
    /// The kinds of these values.
    pub(super) fn of(params: &[Value]) -> ParamKinds {
        let plain = params.iter().all(|value| Kind::of(value) == Kind::Text);
        ParamKinds(if plain { Vec::new() } else { params.iter().map(Kind::of).collect() })
    }

    /// Whether a plan for these kinds is right for the values.
    pub(super) fn fit(&self, params: &[Value]) -> bool {
        params.iter().enumerate().all(|(at, value)| {
            *value == Value::Null
                || Kind::of(value) == self.0.get(at).copied().unwrap_or(Kind::Text)
        })
    }

    /// The parameters' types; none where all are texts.
    pub(super) fn types(&self, connection: Collation) -> Vec<ExprType> {
        self.0.iter().map(|kind| kind.ty(connection)).collect()
    }
}
