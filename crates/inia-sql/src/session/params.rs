//! What a prepared statement's parameters are, as its plan takes them.
//!
//! MySQL derives a parameter's type from the value it is executed with: `? + 1` is exact for an
//! integer and a DOUBLE for a text, `c = ?` compares numbers where `?` is one. So a plan is made
//! for the kinds of values of one execution; it serves all executions with values of the same
//! kinds, and NULL is of every kind. Example: after `EXECUTE s USING '5'` the plan stands for
//! texts; `USING 5` makes a new one.
//!
//! Where the place of a parameter says its type ([`inia_expr::derive`]), the first plan is for that
//! type, and values of other types are converted first (module `derived`).
//!
//! A number that is an item of a select list stays one: a later text in its place is read as a
//! number, and a DOUBLE takes all other numbers. Everywhere else each value has its own type.

mod derived;

use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_expr::derive::{DerivedParam, ParamUse};
use inia_expr::{ExprType, Strictness};
use inia_parser::ast::{CastType, Statement};
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
    /// With or without a fraction, where the parameter has such a type from its place.
    AnyTime,
    AnyDateTime,
    /// A number of rows.
    Count,
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

    /// Whether a value is of the kind.
    fn fits(self, value: &Value) -> bool {
        match (self, value) {
            (ParamKind::Int, Value::Int(_))
            | (ParamKind::Text, Value::Text(_))
            | (_, Value::Null)
            | (ParamKind::Count, Value::Int(_) | Value::UInt(_))
            | (ParamKind::AnyTime, Value::Time(_))
            | (ParamKind::AnyDateTime, Value::DateTime(_)) => true,
            _ => self == ParamKind::of(value),
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
            ParamKind::UInt | ParamKind::Count => ExprType::uint(21, true),
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
            ParamKind::AnyTime => computed(DataType::Time { fsp: 6 }),
            ParamKind::AnyDateTime => computed(DataType::DateTime { fsp: 6 }),
        }
    }
}

/// The kinds of a statement's parameters; none stands for texts only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ParamKinds(Vec<ParamKind>);

/// The types of values that nothing has given a type yet.
pub(super) fn types_of(params: &[Value], connection: Collation) -> Vec<ExprType> {
    params.iter().map(|value| ParamKind::of(value).ty(connection)).collect()
}

impl ParamKinds {
    /// The kinds of values of derived types.
    pub(super) fn derived(params: &[DerivedParam]) -> ParamKinds {
        let kinds = params.iter().map(|param| derived::kind(param).unwrap_or(ParamKind::Text));
        ParamKinds::plain(kinds.collect())
    }

    /// These values as values of derived types, and their kinds; `None` where none has such a type.
    /// A value may change the type of its parameter.
    #[cold]
    pub(super) fn convert(
        session: &mut SessionContext,
        statement: &Statement,
        types: &mut [DerivedParam],
        (params, named): (&[Value], bool),
    ) -> Result<Option<(Vec<Value>, ParamKinds)>, SqlError> {
        if types.iter().all(|param| param.used == ParamUse::AsGiven) {
            return Ok(None);
        }
        derived::loosen(types, params);
        let strictness = derived::strictness(session, statement);
        let (mut values, mut kinds) = (Vec::new(), Vec::new());
        for (at, value) in params.iter().enumerate() {
            let Some(param) = types.get_mut(at) else {
                values.push(value.clone());
                kinds.push(ParamKind::of(value));
                continue;
            };
            // A text in a variable is no number of rows.
            let value = match param.used {
                ParamUse::Counted if named => value.clone(),
                _ => derived::take(session, strictness, param, value)?,
            };
            let kind = derived::kind(param).filter(|kind| kind.fits(&value));
            kinds.push(kind.unwrap_or_else(|| ParamKind::of(&value)));
            values.push(value);
        }
        Ok(Some((values, ParamKinds::plain(kinds))))
    }

    /// Whether parameters are numbers that were none, or others; `stored` ones are what they are.
    pub(super) fn differ_in_numbers(
        &self,
        other: &ParamKinds,
        stored: impl Fn(usize) -> bool,
    ) -> bool {
        use ParamKind as K;
        let number = |kind: &K| matches!(kind, K::Int | K::UInt | K::Double | K::Decimal);
        let own = |at: usize| self.0.get(at).copied().unwrap_or(K::Text);
        let mut kinds = other.0.iter().enumerate();
        kinds.any(|(at, kind)| number(kind) && own(at) != *kind && !stored(at))
    }

    fn plain(kinds: Vec<ParamKind>) -> ParamKinds {
        let plain = kinds.iter().all(|kind| *kind == ParamKind::Text);
        ParamKinds(if plain { Vec::new() } else { kinds })
    }

    /// The kinds of these values.
    pub(super) fn of(params: &[Value]) -> ParamKinds {
        ParamKinds::plain(params.iter().map(ParamKind::of).collect())
    }

    /// Whether a plan for these kinds is right for the values.
    pub(super) fn fit(&self, params: &[Value]) -> bool {
        params
            .iter()
            .enumerate()
            .all(|(at, value)| self.0.get(at).copied().unwrap_or(ParamKind::Text).fits(value))
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
            Some(number) if ParamKind::of(value) != kind => {
                derived::cast(session, Strictness::Query, number, value)
            }
            _ => Ok(value.clone()),
        });
        carried.collect::<Result<_, _>>().map(Some)
    }

    /// The parameters' types; none where all are texts.
    pub(super) fn types(&self, connection: Collation) -> Vec<ExprType> {
        self.0.iter().map(|kind| kind.ty(connection)).collect()
    }
}
