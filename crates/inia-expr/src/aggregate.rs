//! Aggregate functions: result types, and accumulators that take one row at a time.

mod collection;

use crate::bind::sort_key;
use crate::cast;
use crate::collate;
use crate::compare::{self, CmpClass};
use crate::context::{Environment, EvalContext};
use crate::convert;
use crate::json::{self, Json};
use crate::number;
use crate::tree::{Expr, ExprKind};
use crate::ty::NOT_FIXED;
use crate::ty::{ExprType, TypeClass};
use collection::Collection;
use inia_base::collation::Collation;
use inia_base::datatype::{DataType, GeometryKind, IntWidth, LobSize};
use inia_base::decimal::{Decimal, MAX_SCALE};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_parser::ast::{self, AggregateFunc, WindowFunc};
use std::cmp::Ordering;
use std::collections::HashSet;

type Result<T> = std::result::Result<T, SqlError>;

/// MIN and MAX of strings up to this length, in characters, do not count as growing states.
const SHORT_TEXT: u32 = 255;

/// A bound aggregate.
#[derive(Clone, Debug)]
pub struct Aggregate {
    /// Which function.
    pub func: AggregateFunc,
    /// DISTINCT.
    pub distinct: bool,
    /// Arguments; empty for COUNT(*).
    pub args: Vec<Expr>,
    /// GROUP_CONCAT's ORDER BY; the flag means DESC.
    pub order_by: Vec<(Expr, bool)>,
    /// GROUP_CONCAT's SEPARATOR.
    pub separator: String,
    /// The result's type.
    pub ty: ExprType,
}

impl Aggregate {
    /// Whether it is BIT_AND, BIT_OR or BIT_XOR.
    pub fn is_bitwise(&self) -> bool {
        use AggregateFunc::{BitAnd, BitOr, BitXor};
        matches!(self.func, BitAnd | BitOr | BitXor)
    }

    /// Whether it is MIN or MAX.
    pub fn is_extremum(&self) -> bool {
        matches!(self.func, AggregateFunc::Min | AggregateFunc::Max)
    }
}

/// A function over a window.
#[derive(Clone, Debug)]
pub enum WindowFunction {
    /// An aggregate.
    Aggregate(Aggregate),
    /// ROW_NUMBER, RANK, LAG and the like.
    Ranked {
        /// Which.
        func: WindowFunc,
        /// Its arguments.
        args: Vec<Expr>,
        /// The result's type.
        ty: ExprType,
    },
}

impl WindowFunction {
    /// A function that exists only over windows.
    pub(crate) fn ranked(func: WindowFunc, args: Vec<Expr>) -> Result<WindowFunction> {
        let ty = match func {
            WindowFunc::RowNumber | WindowFunc::Rank | WindowFunc::DenseRank => {
                ExprType::uint(21, false)
            }
            WindowFunc::Ntile => ExprType::uint(21, false),
            WindowFunc::PercentRank | WindowFunc::CumeDist => ExprType::double(false),
            WindowFunc::Lead | WindowFunc::Lag => {
                let types: Vec<&ExprType> = args.iter().step_by(2).map(|arg| &arg.ty).collect();
                let merged = crate::merge::merge(&types, "lead")?;
                let nullable = args.len() < 3 || args[0].ty.nullable || args[2].ty.nullable;
                widened(merged.with_nullable(nullable))
            }
            WindowFunc::FirstValue | WindowFunc::LastValue | WindowFunc::NthValue => {
                let first = args.first().map_or_else(ExprType::null, |arg| arg.ty.clone());
                widened(first.with_nullable(true).into_computed())
            }
        };
        Ok(WindowFunction::Ranked { func, args, ty })
    }

    /// An aggregate over a window; error 1235 for those that are not allowed there.
    pub fn aggregate(mut call: Aggregate) -> Result<WindowFunction> {
        if call.distinct {
            let what = "<window function>(DISTINCT ..)";
            return Err(SqlError::new(ErrorCode::NotSupportedYet, &[&what]));
        }
        if call.func == AggregateFunc::GroupConcat {
            let what = "group_concat as window function";
            return Err(SqlError::new(ErrorCode::NotSupportedYet, &[&what]));
        }
        if matches!(call.func, AggregateFunc::Min | AggregateFunc::Max) {
            call.ty = widened(call.ty);
        }
        Ok(WindowFunction::Aggregate(call))
    }

    /// Its name in error texts.
    pub fn name(&self) -> &'static str {
        match self {
            WindowFunction::Aggregate(call) => aggregate_name(call.func),
            WindowFunction::Ranked { func, .. } => func.name(),
        }
    }

    /// Its arguments.
    pub fn args(&self) -> &[Expr] {
        match self {
            WindowFunction::Aggregate(call) => &call.args,
            WindowFunction::Ranked { args, .. } => args,
        }
    }

    /// Its arguments, to be changed in place.
    pub fn args_mut(&mut self) -> &mut [Expr] {
        match self {
            WindowFunction::Aggregate(call) => &mut call.args,
            WindowFunction::Ranked { args, .. } => args,
        }
    }

    /// The result's type.
    pub fn ty(&self) -> &ExprType {
        match self {
            WindowFunction::Aggregate(aggregate) => &aggregate.ty,
            WindowFunction::Ranked { ty, .. } => ty,
        }
    }
}

fn aggregate_name(func: AggregateFunc) -> &'static str {
    match func {
        AggregateFunc::CountStar | AggregateFunc::Count => "count",
        AggregateFunc::Sum => "sum",
        AggregateFunc::Avg => "avg",
        AggregateFunc::Min => "min",
        AggregateFunc::Max => "max",
        AggregateFunc::BitAnd => "bit_and",
        AggregateFunc::BitOr => "bit_or",
        AggregateFunc::BitXor => "bit_xor",
        AggregateFunc::StddevPop => "std",
        AggregateFunc::StddevSamp => "stddev_samp",
        AggregateFunc::VarPop => "variance",
        AggregateFunc::VarSamp => "var_samp",
        AggregateFunc::GroupConcat => "group_concat",
        AggregateFunc::JsonArrayAgg => "json_arrayagg",
        AggregateFunc::JsonObjectAgg => "json_objectagg",
        AggregateFunc::Collect => "st_collect",
    }
}

/// The type of values that pass through a window: integers of one of two widths, texts of varying
/// length.
fn widened(mut ty: ExprType) -> ExprType {
    const INT_DIGITS: u32 = 10;
    let unsigned = ty.is_unsigned();
    ty.data_type = match ty.data_type {
        DataType::Int { .. } | DataType::Bit(_) | DataType::Year => {
            let width = if ty.length < INT_DIGITS { IntWidth::Int } else { IntWidth::Big };
            DataType::Int { width, unsigned }
        }
        DataType::Char { chars, collation } => DataType::VarChar { chars, collation },
        DataType::Enum { collation, .. } | DataType::Set { collation, .. } => {
            DataType::VarChar { chars: ty.length, collation }
        }
        DataType::Binary(bytes) => DataType::VarBinary(bytes),
        other => other,
    };
    ty
}

impl Aggregate {
    /// A bound aggregate with its result type.
    pub fn new(
        call: &ast::AggregateCall,
        args: Vec<Expr>,
        order_by: Vec<(Expr, bool)>,
        env: &Environment,
    ) -> Result<Aggregate> {
        let takes_geometry = matches!(
            call.func,
            AggregateFunc::CountStar
                | AggregateFunc::Count
                | AggregateFunc::GroupConcat
                | AggregateFunc::JsonArrayAgg
                | AggregateFunc::JsonObjectAgg
                | AggregateFunc::Collect
                | AggregateFunc::BitAnd
                | AggregateFunc::BitOr
                | AggregateFunc::BitXor
        );
        if !takes_geometry && args.iter().any(|arg| arg.ty.is_geometry()) {
            let name = aggregate_name(call.func);
            return Err(SqlError::new(ErrorCode::WrongArguments, &[&name]));
        }
        let ty = result_type(call.func, &args, env)?;
        let separator = call.separator.clone().unwrap_or_else(|| String::from(","));
        let distinct = call.distinct;
        let order_by: Vec<(Expr, bool)> =
            order_by.into_iter().map(|(key, desc)| (sort_key(key), desc)).collect();
        let mut args = args;
        if call.func == AggregateFunc::GroupConcat && (distinct || !order_by.is_empty()) {
            // A column's bits come from a temporary table as a number.
            let columns = args.iter_mut().filter(|arg| matches!(arg.kind, ExprKind::Column { .. }));
            columns.for_each(|arg| arg.ty = arg.ty.clone().into_number());
        }
        Ok(Aggregate { func: call.func, distinct, args, order_by, separator, ty })
    }

    /// Whether it is the AVG of exact numbers.
    pub(crate) fn is_exact_mean(&self) -> bool {
        self.func == AggregateFunc::Avg && self.ty.class() == TypeClass::Decimal
    }

    /// An empty accumulator.
    pub fn start(&self) -> Accumulator {
        Accumulator { seen: self.distinct.then(HashSet::new), ..self.start_plain() }
    }

    /// The arguments for `row`; `None` where the row does not count because one is NULL.
    pub fn inputs(&self, ctx: &mut EvalContext<'_>, row: &[Value]) -> Result<Option<Vec<Value>>> {
        let json = matches!(self.func, AggregateFunc::JsonArrayAgg | AggregateFunc::JsonObjectAgg);
        let mut values = Vec::with_capacity(self.args.len());
        for arg in &self.args {
            let value = arg.eval(ctx, row)?;
            if value == Value::Null && !json {
                return Ok(None);
            }
            // Distinct values are those that a column of the argument's type has.
            values.push(match value {
                Value::Decimal(_) if self.distinct => cast::rounded(value, &arg.ty),
                Value::Text(_) | Value::Bytes(_) if self.distinct => self.distinct_text(value, arg),
                value => value,
            });
        }
        Ok(Some(values))
    }

    /// What a text is to DISTINCT: SUM and AVG take the number that it begins with.
    fn distinct_text(&self, value: Value, arg: &Expr) -> Value {
        let adds = matches!(self.func, AggregateFunc::Sum | AggregateFunc::Avg);
        let other = matches!(arg.ty.data_type, DataType::Enum { .. } | DataType::Set { .. })
            || matches!(arg.kind, ExprKind::HexLiteral(_));
        match &value {
            _ if !adds || other => value,
            Value::Text(text) => Value::Double(number::parse_real(text.as_bytes()).value),
            Value::Bytes(bytes) => Value::Double(number::parse_real(bytes).value),
            _ => value,
        }
    }

    /// Whether a group's state may grow with each of its rows, or to the size of any text.
    pub fn grows(&self) -> bool {
        match self.func {
            AggregateFunc::GroupConcat
            | AggregateFunc::JsonArrayAgg
            | AggregateFunc::JsonObjectAgg
            | AggregateFunc::Collect => true,
            AggregateFunc::Min | AggregateFunc::Max => {
                matches!(self.ty.class(), TypeClass::String | TypeClass::Json)
                    && self.ty.length > SHORT_TEXT
            }
            _ => false,
        }
    }

    /// An empty accumulator for a caller that drops repeated values of DISTINCT itself.
    pub fn start_plain(&self) -> Accumulator {
        let state = match self.func {
            AggregateFunc::CountStar | AggregateFunc::Count => State::Count(0),
            AggregateFunc::Sum | AggregateFunc::Avg if self.is_real() => {
                State::RealSum { sum: 0.0, count: 0 }
            }
            AggregateFunc::Sum | AggregateFunc::Avg => {
                State::ExactSum { small: 0, sum: None, count: 0 }
            }
            AggregateFunc::Min | AggregateFunc::Max => State::Extreme(Value::Null),
            AggregateFunc::BitAnd | AggregateFunc::BitOr | AggregateFunc::BitXor
                if self.ty.class() == TypeClass::String =>
            {
                State::BitString(None)
            }
            AggregateFunc::BitAnd => State::Bits(u64::MAX),
            AggregateFunc::BitOr | AggregateFunc::BitXor => State::Bits(0),
            AggregateFunc::StddevPop
            | AggregateFunc::StddevSamp
            | AggregateFunc::VarPop
            | AggregateFunc::VarSamp => State::Moments { count: 0, mean: 0.0, squares: 0.0 },
            AggregateFunc::GroupConcat => State::Rows(Vec::new()),
            AggregateFunc::JsonArrayAgg => State::Array(String::new()),
            AggregateFunc::JsonObjectAgg => State::Object(None),
            AggregateFunc::Collect => State::Geometries(None),
        };
        Accumulator::of(state)
    }

    fn is_real(&self) -> bool {
        matches!(self.ty.class(), TypeClass::Real)
    }
}

fn result_type(func: AggregateFunc, args: &[Expr], env: &Environment) -> Result<ExprType> {
    let first = args.first().map(|arg| &arg.ty);
    let null = ExprType::null();
    let ty = first.unwrap_or(&null);
    Ok(match func {
        AggregateFunc::CountStar | AggregateFunc::Count => ExprType::int(21, false),
        AggregateFunc::Sum | AggregateFunc::Avg => sum_type(func, ty, env),
        AggregateFunc::Min | AggregateFunc::Max => ty.clone().with_nullable(true).into_computed(),
        AggregateFunc::BitAnd | AggregateFunc::BitOr | AggregateFunc::BitXor => {
            let literal =
                matches!(args.first().map(|arg| &arg.kind), Some(ExprKind::HexLiteral(_)));
            match ty.class() == TypeClass::String && !ty.is_text() && !literal {
                true => ExprType::binary(u64::from(ty.length), false),
                false => ExprType::uint(21, false),
            }
        }
        AggregateFunc::StddevPop
        | AggregateFunc::StddevSamp
        | AggregateFunc::VarPop
        | AggregateFunc::VarSamp => ExprType::double(true),
        AggregateFunc::GroupConcat => {
            let types: Vec<&ExprType> = args.iter().map(|arg| &arg.ty).collect();
            let (collation, coercibility) =
                collate::aggregate_with(&types, "group_concat", env.collation)?;
            let chars = env.group_concat_max_len as u64;
            let ty = match collation == Collation::BINARY {
                true => ExprType::binary(chars, true),
                false => ExprType::text(chars, collation, true),
            };
            // Anything longer is of the longest kind.
            let data_type = match collation == Collation::BINARY {
                _ if chars <= MAX_SHORT_LIST => ty.data_type.clone(),
                true => DataType::Blob(LobSize::Long),
                false => DataType::Text { size: LobSize::Long, collation },
            };
            ExprType { data_type, ..ty }.with_coercibility(coercibility)
        }
        AggregateFunc::JsonArrayAgg | AggregateFunc::JsonObjectAgg => ExprType::json(true),
        AggregateFunc::Collect => {
            ExprType { decimals: NOT_FIXED, ..ExprType::geometry(GeometryKind::Geometry) }
        }
    })
}

/// The longest GROUP_CONCAT, in characters, that is a VARCHAR.
const MAX_SHORT_LIST: u64 = 512;

fn sum_type(func: AggregateFunc, ty: &ExprType, env: &Environment) -> ExprType {
    let scale = u32::from(ty.decimals);
    let exact = match ty.class() {
        TypeClass::Int => Some((ty.precision(), 0)),
        TypeClass::String if ty.hex => Some((ty.length.max(1), 0)),
        TypeClass::Decimal => Some((ty.precision(), scale)),
        TypeClass::Dated | TypeClass::Time => Some((ty.precision(), u32::from(ty.fsp()))),
        _ => None,
    };
    let Some((precision, scale)) = exact else { return ExprType::double(true) };
    if func == AggregateFunc::Sum {
        return ExprType::decimal(precision + 22, scale, false, true);
    }
    let increment = u32::from(env.div_precision_increment);
    let scale = (scale + increment).min(u32::from(MAX_SCALE));
    ExprType::decimal(precision + increment, scale, false, true)
}

/// The running state of one aggregate over one group.
#[derive(Clone, Debug)]
pub struct Accumulator {
    state: State,
    seen: Option<HashSet<Vec<u8>>>,
    /// About how many bytes the collected values have.
    held: usize,
    /// How many of them were left when some were dropped last; of a JSON object, about how long its
    /// text is.
    left: usize,
}

#[derive(Clone, Debug)]
enum State {
    Count(i64),
    /// Integers add up in `small` until that overflows or a decimal comes.
    ExactSum {
        small: i128,
        sum: Option<Decimal>,
        count: i64,
    },
    RealSum {
        sum: f64,
        count: i64,
    },
    Extreme(Value),
    Bits(u64),
    BitString(Option<Vec<u8>>),
    Moments {
        count: u64,
        mean: f64,
        squares: f64,
    },
    Rows(Vec<(Vec<Value>, Vec<u8>)>),
    /// The items as text, separated by commas.
    Array(String),
    Object(Option<Vec<(String, Json)>>),
    Geometries(Option<Collection>),
    /// A JSON document beyond `max_allowed_packet`.
    TooLong,
}

impl Accumulator {
    /// The state of SUM or AVG after so many integers.
    pub fn of_integers(small: i128, count: i64) -> Accumulator {
        Accumulator::of(State::ExactSum { small, sum: None, count })
    }

    /// The state of SUM or AVG after so many decimals.
    pub fn of_decimals(sum: Decimal, count: i64) -> Accumulator {
        Accumulator::of(State::ExactSum { small: 0, sum: Some(sum), count })
    }

    /// The state of MIN or MAX with this value; NULL for none.
    pub fn of_extreme(value: Value) -> Accumulator {
        Accumulator::of(State::Extreme(value))
    }

    fn of(state: State) -> Accumulator {
        Accumulator { state, seen: None, held: 0, left: 0 }
    }

    /// Evaluates the arguments for `row` and takes them in.
    pub fn add(
        &mut self,
        aggregate: &Aggregate,
        ctx: &mut EvalContext<'_>,
        row: &[Value],
    ) -> Result<()> {
        if let State::Count(count) = &mut self.state
            && aggregate.args.is_empty()
        {
            *count += 1;
            return Ok(());
        }
        if let ([only], None) = (&aggregate.args[..], &self.seen)
            && !self.collects()
        {
            let value = only.eval_ref(ctx, row)?;
            return match *value {
                Value::Null => Ok(()),
                _ => self.add_one(aggregate, &value, &only.ty, ctx),
            };
        }
        match aggregate.inputs(ctx, row)? {
            Some(values) => self.add_values(aggregate, values, ctx, row),
            None => Ok(()),
        }
    }

    /// Undoes [`Accumulator::add`] of a row; the rows may have come in any order. False where the
    /// state does not allow it; the state is then unusable.
    pub fn take_back(
        &mut self,
        aggregate: &Aggregate,
        ctx: &mut EvalContext<'_>,
        row: &[Value],
    ) -> Result<bool> {
        if self.seen.is_some() || self.collects() {
            return Ok(false);
        }
        let Some(values) = aggregate.inputs(ctx, row)? else { return Ok(true) };
        let ty = aggregate.args.first().map(|arg| &arg.ty);
        match (&mut self.state, values.first().zip(ty)) {
            (State::Count(count), _) => *count -= 1,
            (State::ExactSum { small, sum, count }, Some((value, ty))) => {
                *count -= 1;
                match value {
                    Value::Int(v) => *small -= i128::from(*v),
                    Value::UInt(v) => *small -= i128::from(*v),
                    other => {
                        let exact = convert::to_decimal(other, ty, ctx)?;
                        let so_far = sum.unwrap_or(Decimal::ZERO);
                        *sum = Some(so_far.sub(exact).map_err(|_| overflow())?);
                    }
                }
            }
            (State::Extreme(best), Some((value, ty))) => {
                let class = extreme_class(ty);
                return Ok(compare::order(&class, ty, value, best, ctx)?.is_ne());
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether it keeps something of every row.
    fn collects(&self) -> bool {
        use State as S;
        matches!(self.state, S::Rows(_) | S::Array(_) | S::Object(_) | S::TooLong)
    }

    /// About how many bytes it has collected.
    pub fn held(&self) -> usize {
        self.held
    }

    /// Takes in evaluated arguments, none of them NULL (but for the JSON functions). Only
    /// GROUP_CONCAT's ORDER BY reads `row`.
    pub fn add_values(
        &mut self,
        aggregate: &Aggregate,
        values: Vec<Value>,
        ctx: &mut EvalContext<'_>,
        row: &[Value],
    ) -> Result<()> {
        // DISTINCT counts each combination of arguments once.
        if let Some(seen) = &mut self.seen {
            let types = aggregate.args.iter().map(|arg| &arg.ty);
            let key = distinct_key(values.iter().zip(types));
            if !seen.insert(key) {
                return Ok(());
            }
        }
        let ty = aggregate.args.first().map(|arg| &arg.ty);
        let Some((value, ty)) = values.first().zip(ty) else { return Ok(()) };
        match &mut self.state {
            State::Rows(rows) => {
                let mut text = Vec::new();
                for (value, arg) in values.iter().zip(&aggregate.args) {
                    match aggregate.ty.is_text() {
                        true => text.extend(convert::to_text(value, &arg.ty).as_bytes()),
                        false => text.extend(&*convert::to_bytes(value, &arg.ty)),
                    }
                }
                let mut keys = Vec::with_capacity(aggregate.order_by.len());
                for (key, _) in &aggregate.order_by {
                    keys.push(key.eval(ctx, row)?);
                }
                self.held += text.len() + (1 + keys.len()) * size_of::<Value>();
                rows.push((keys, text));
                // Cutting sorts all rows, so it waits until they have doubled since the last
                // cut: its cost is spread over the rows in between.
                if self.held > 2 * kept_text(ctx).max(self.left) {
                    self.held = cut_rows(aggregate, rows, ctx)?;
                    self.left = self.held;
                }
            }
            State::Array(items) => {
                if !items.is_empty() {
                    items.push_str(", ");
                }
                items.push_str(&json::of_value(value, ty)?.carried());
                self.held = items.len();
            }
            State::Object(members) => {
                if *value == Value::Null {
                    return Err(SqlError::new(ErrorCode::JsonDocumentNullKey, &[]));
                }
                let key = convert::to_text(value, ty).into_owned();
                let member = json::of_value(&values[1], &aggregate.args[1].ty)?;
                self.held += size_of::<(String, Json)>() + key.len();
                self.held += values[1].as_bytes().map_or(0, <[u8]>::len);
                self.left += key.len() + values[1].as_bytes().map_or(1, <[u8]>::len) + 6;
                Json::insert(members.get_or_insert_default(), key, member);
            }
            _ => self.add_one(aggregate, value, ty, ctx)?,
        }
        // A document longer than a packet cannot be returned: its memory is given back at once.
        let length = match &self.state {
            State::Array(items) => items.len(),
            State::Object(_) => self.left,
            _ => 0,
        };
        if length > ctx.env.max_allowed_packet {
            (self.state, self.held) = (State::TooLong, 0);
        }
        Ok(())
    }

    /// Takes in one value of a function that needs no more than that.
    fn add_one(
        &mut self,
        aggregate: &Aggregate,
        value: &Value,
        ty: &ExprType,
        ctx: &mut EvalContext<'_>,
    ) -> Result<()> {
        match &mut self.state {
            State::Count(count) => *count += 1,
            State::ExactSum { small, sum, count } => {
                *count += 1;
                add_exact(small, sum, value, ty, ctx)?;
            }
            State::RealSum { sum, count } => {
                *count += 1;
                *sum += convert::to_real(value, ty, ctx)?;
            }
            State::Extreme(best) => {
                let class = extreme_class(ty);
                if *best == Value::Null || better(aggregate.func, &class, ty, value, best, ctx)? {
                    *best = value.clone();
                    self.held = best.as_bytes().map_or(0, <[u8]>::len);
                }
            }
            State::Bits(bits) => {
                let value = convert::to_wide(value, ty, ctx)? as u64;
                match aggregate.func {
                    AggregateFunc::BitAnd => *bits &= value,
                    AggregateFunc::BitOr => *bits |= value,
                    _ => *bits ^= value,
                }
            }
            State::BitString(bits) => add_bits(aggregate.func, bits, value.as_bytes())?,
            State::Moments { count, mean, squares } => {
                let value = convert::to_real(value, ty, ctx)?;
                *count += 1;
                // Welford's recurrence takes one pass and avoids cancellation at a large mean.
                let delta = value - *mean;
                *mean += delta / *count as f64;
                *squares += delta * (value - *mean);
            }
            // `add_values` handles the collecting states; a document that is too long stays so.
            State::Geometries(found) => {
                Collection::add(found, value, ctx.host)?;
                self.held += value.as_bytes().map_or(0, <[u8]>::len);
            }
            State::Rows(_) | State::Array(_) | State::Object(_) | State::TooLong => {}
        }
        Ok(())
    }

    /// The result.
    pub fn finish(self, aggregate: &Aggregate, ctx: &mut EvalContext<'_>) -> Result<Value> {
        Ok(match self.state {
            State::Count(count) => Value::Int(count),
            State::ExactSum { count: 0, .. } | State::RealSum { count: 0, .. } => Value::Null,
            State::ExactSum { small, sum, count } => {
                let total = merge_small(small, sum)?;
                match aggregate.func {
                    // What is computed from it uses all its digits.
                    AggregateFunc::Avg => {
                        let mean = Value::Decimal(average(total, count, ctx)?);
                        cast::padded(mean, &aggregate.ty)
                    }
                    _ => cast::rounded(Value::Decimal(total), &aggregate.ty),
                }
            }
            State::RealSum { sum, count } if aggregate.func == AggregateFunc::Avg => {
                Value::Double(sum / count as f64)
            }
            State::RealSum { sum, .. } if !sum.is_finite() => {
                return Err(SqlError::new(ErrorCode::DataOutOfRange, &[&"DOUBLE", &"sum"]));
            }
            State::RealSum { sum, .. } => Value::Double(sum),
            State::Extreme(value) if aggregate.ty.is_text() && !is_list(&aggregate.ty) => {
                let from = &aggregate.args[0].ty;
                cast::unify(value, from, &aggregate.ty, ctx)?
            }
            State::Extreme(value) => cast::padded(value, &aggregate.ty),
            State::Bits(bits) => Value::UInt(bits),
            State::BitString(Some(bits)) => Value::Bytes(bits),
            State::BitString(None) => {
                let neutral = if aggregate.func == AggregateFunc::BitAnd { u8::MAX } else { 0 };
                Value::Bytes(vec![neutral; aggregate.ty.length as usize])
            }
            State::Moments { count, squares, .. } => moments(aggregate.func, count, squares),
            State::Rows(rows) => group_concat(aggregate, rows, ctx)?,
            State::Array(items) if items.is_empty() => Value::Null,
            State::Array(items) => json::value(format!("[{items}]"))?,
            State::TooLong => {
                let name = aggregate_name(aggregate.func);
                let limit = ctx.env.max_allowed_packet;
                ctx.warn(ErrorCode::WarnAllowedPacketOverflowed, &[&name, &limit])?;
                Value::Null
            }
            State::Geometries(None) => Value::Null,
            State::Geometries(Some(found)) => found.into_value(),
            State::Object(None) => Value::Null,
            State::Object(Some(members)) => json::value(Json::Object(members).carried())?,
        })
    }
}

/// Takes a binary string in, bit by bit; errors 3513 and 3514.
fn add_bits(func: AggregateFunc, bits: &mut Option<Vec<u8>>, value: Option<&[u8]>) -> Result<()> {
    const LONGEST: usize = 511;
    let value = value.unwrap_or_default();
    if value.len() > LONGEST {
        return Err(SqlError::new(ErrorCode::InvalidBitwiseAggregateOperandsSize, &[]));
    }
    let Some(bits) = bits else {
        *bits = Some(value.to_vec());
        return Ok(());
    };
    if bits.len() != value.len() {
        return Err(SqlError::new(ErrorCode::InvalidBitwiseOperandsSize, &[]));
    }
    for (bit, value) in bits.iter_mut().zip(value) {
        match func {
            AggregateFunc::BitAnd => *bit &= value,
            AggregateFunc::BitOr => *bit |= value,
            _ => *bit ^= value,
        }
    }
    Ok(())
}

/// How MIN and MAX compare: members of lists as texts.
fn extreme_class(ty: &ExprType) -> CmpClass {
    match is_list(ty) {
        true => compare::text_class(ty.collation()),
        false => compare::natural_class(ty),
    }
}

/// Whether values are members of a list, by their numbers.
fn is_list(ty: &ExprType) -> bool {
    matches!(ty.data_type, DataType::Enum { .. } | DataType::Set { .. })
}

fn better(
    func: AggregateFunc,
    class: &CmpClass,
    ty: &ExprType,
    value: &Value,
    best: &Value,
    ctx: &mut EvalContext<'_>,
) -> Result<bool> {
    let order = compare::order(class, ty, value, best, ctx)?;
    Ok(order == if func == AggregateFunc::Min { Ordering::Less } else { Ordering::Greater })
}

fn overflow() -> SqlError {
    SqlError::new(ErrorCode::DataOutOfRange, &[&"DECIMAL", &"sum"])
}

fn add_exact(
    small: &mut i128,
    sum: &mut Option<Decimal>,
    value: &Value,
    ty: &ExprType,
    ctx: &mut EvalContext<'_>,
) -> Result<()> {
    match value {
        Value::Int(v) => *small += i128::from(*v),
        Value::UInt(v) => *small += i128::from(*v),
        other => {
            let exact = convert::to_decimal(other, ty, ctx)?;
            let so_far = sum.unwrap_or(Decimal::ZERO);
            *sum = Some(so_far.add(exact).map_err(|_| overflow())?);
        }
    }
    Ok(())
}

fn merge_small(small: i128, sum: Option<Decimal>) -> Result<Decimal> {
    let whole = Decimal::from_i128(small, 0);
    match sum {
        None => Ok(whole),
        Some(sum) => sum.add(whole).map_err(|_| overflow()),
    }
}

fn average(total: Decimal, count: i64, ctx: &EvalContext<'_>) -> Result<Decimal> {
    let count = Decimal::from_i128(i128::from(count), 0);
    total.div(count, ctx.env.div_precision_increment).map_err(|_| overflow())
}

fn moments(func: AggregateFunc, count: u64, squares: f64) -> Value {
    let sample = matches!(func, AggregateFunc::StddevSamp | AggregateFunc::VarSamp);
    let divisor = if sample { count.saturating_sub(1) } else { count };
    if divisor == 0 {
        return Value::Null;
    }
    let variance = squares / divisor as f64;
    let root = matches!(func, AggregateFunc::StddevSamp | AggregateFunc::StddevPop);
    Value::Double(if root { variance.sqrt() } else { variance })
}

/// How many bytes GROUP_CONCAT collects before it drops what cannot come out.
fn kept_text(ctx: &EvalContext<'_>) -> usize {
    ctx.env.group_concat_max_len.saturating_add(64 << 10)
}

/// Drops the rows behind the one at which GROUP_CONCAT's result is cut; returns what is held.
fn cut_rows(
    aggregate: &Aggregate,
    rows: &mut Vec<(Vec<Value>, Vec<u8>)>,
    ctx: &mut EvalContext<'_>,
) -> Result<usize> {
    sort_rows(aggregate, rows, ctx)?;
    let (mut length, mut held, mut kept) = (0, 0, 0);
    for (keys, text) in rows.iter() {
        length += text.len();
        held += text.len() + (1 + keys.len()) * size_of::<Value>();
        kept += 1;
        if length > ctx.env.group_concat_max_len {
            break;
        }
    }
    rows.truncate(kept);
    Ok(held)
}

fn sort_rows(
    aggregate: &Aggregate,
    rows: &mut [(Vec<Value>, Vec<u8>)],
    ctx: &mut EvalContext<'_>,
) -> Result<()> {
    if aggregate.order_by.is_empty() {
        return Ok(());
    }
    let mut failed = None;
    rows.sort_by(|(left, _), (right, _)| {
        order_keys(aggregate, left, right, ctx).unwrap_or_else(|error| {
            failed = Some(error);
            Ordering::Equal
        })
    });
    failed.map_or(Ok(()), Err)
}

fn group_concat(
    aggregate: &Aggregate,
    mut rows: Vec<(Vec<Value>, Vec<u8>)>,
    ctx: &mut EvalContext<'_>,
) -> Result<Value> {
    if rows.is_empty() {
        return Ok(Value::Null);
    }
    sort_rows(aggregate, &mut rows, ctx)?;
    let limit = ctx.env.group_concat_max_len;
    let is_text = aggregate.ty.is_text();
    let mut out: Vec<u8> = Vec::new();
    for (i, (_, text)) in rows.iter().enumerate() {
        if i > 0 {
            out.extend(aggregate.separator.as_bytes());
        }
        out.extend(text);
        if out.len() > limit {
            // A text is cut in front of a character.
            let starts = |at: &usize| !is_text || out[*at] & 0xC0 != 0x80;
            let cut = (0..=limit).rev().find(starts).unwrap_or(0);
            out.truncate(cut);
            ctx.warn(ErrorCode::CutValueGroupConcat, &[&(i + 1)])?;
            break;
        }
    }
    Ok(match is_text {
        true => Value::Text(String::from_utf8(out).expect("texts are UTF-8")),
        false => Value::Bytes(out),
    })
}

fn order_keys(
    aggregate: &Aggregate,
    left: &[Value],
    right: &[Value],
    ctx: &mut EvalContext<'_>,
) -> Result<Ordering> {
    for ((key, desc), (l, r)) in aggregate.order_by.iter().zip(left.iter().zip(right)) {
        let members = is_list(&key.ty);
        let class = if members { CmpClass::Int } else { compare::natural_class(&key.ty) };
        let order = compare::order(&class, &key.ty, l, r, ctx)?;
        if order.is_ne() {
            return Ok(if *desc { order.reverse() } else { order });
        }
    }
    Ok(Ordering::Equal)
}

/// Bytes that are equal exactly for values that DISTINCT and GROUP BY hold equal.
pub fn distinct_key<'v>(values: impl Iterator<Item = (&'v Value, &'v ExprType)>) -> Vec<u8> {
    let mut key = Vec::new();
    for (value, ty) in values {
        distinct_part(value, ty, &mut key);
    }
    key
}

fn distinct_part(value: &Value, ty: &ExprType, key: &mut Vec<u8>) {
    let mut tagged = |tag: u8, bytes: &[u8]| {
        key.push(tag);
        key.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
        key.extend_from_slice(bytes);
    };
    match value {
        Value::Null => tagged(0, &[]),
        Value::Int(v) => tagged(1, &i128::from(*v).to_be_bytes()),
        Value::UInt(v) => tagged(1, &i128::from(*v).to_be_bytes()),
        Value::Double(v) => tagged(2, &(if *v == 0.0 { 0.0 } else { *v }).to_bits().to_be_bytes()),
        Value::Decimal(v) => {
            let text = v.to_string();
            let trimmed = match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.'),
                false => &text,
            };
            tagged(3, trimmed.as_bytes());
        }
        Value::Text(text) => tagged(4, &collate::sort_key(ty.collation(), text)),
        Value::Bytes(bytes) => tagged(5, bytes),
        Value::Date(date) => tagged(6, &date.at_midnight().pack().to_be_bytes()),
        Value::DateTime(moment) => {
            let mut bytes = moment.pack().to_be_bytes().to_vec();
            bytes.extend_from_slice(&moment.micros.to_be_bytes());
            tagged(6, &bytes);
        }
        Value::Time(time) => tagged(7, &time.micros.to_be_bytes()),
        Value::Json(text) => {
            let mut key = Vec::new();
            json::key::write(&json::stored(text), &mut key);
            tagged(8, &key);
        }
    }
}
