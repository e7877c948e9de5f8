//! VALUES LESS THAN and VALUES IN.

use super::super::table_builder::TableBuilder;
use super::error;
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::print::text_literal;
use inia_expr::{Expr, NoSubqueries, Scope, Strictness, TypeClass};
use inia_parser::ast::{self, PartitionItem, PartitionValue, PartitionValues};
use inia_query::catalog::partitions::number;
use inia_query::catalog::{Division, PartitionBounds, Partitioning};
use inia_query::context::SessionContext;

/// A value reads no column.
struct NoColumns;

impl Scope for NoColumns {
    fn column(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        error(ErrorCode::UnknownColumn, &[&name.name, &"partition function"])
    }
}

/// What a partition takes, and that as text.
pub(super) fn bounds(
    session: &mut SessionContext,
    builder: &TableBuilder,
    by: &Division,
    spec: &ast::PartitionSpec,
    is_last: bool,
) -> Result<(PartitionBounds, String), SqlError> {
    let columns = by.method.has_columns();
    let mut values = Values { session, builder, by, partition: &spec.name };
    match &spec.values {
        PartitionValues::None => Ok((PartitionBounds::Hash, String::new())),
        PartitionValues::Maxvalue if columns && by.columns.len() > 1 => {
            error(ErrorCode::PartitionColumnListError, &[])
        }
        PartitionValues::Maxvalue if !columns && !is_last => {
            error(ErrorCode::PartitionMaxvalueError, &[])
        }
        PartitionValues::Maxvalue => {
            Ok((PartitionBounds::LessThan(vec![None]), String::from("MAXVALUE")))
        }
        PartitionValues::LessThan(limits) => {
            if !columns && limits.len() > 1 {
                return error(ErrorCode::TooManyValuesError, &[&"RANGE"]);
            }
            if columns && limits.len() != by.columns.len() {
                return error(ErrorCode::PartitionColumnListError, &[]);
            }
            let (mut out, mut texts) = (Vec::new(), Vec::new());
            for (at, limit) in limits.iter().enumerate() {
                let (value, text) = values.limit(at, limit)?;
                if value == Some(Value::Null) {
                    return error(ErrorCode::NullInValuesLessThan, &[]);
                }
                out.push(value);
                texts.push(text);
            }
            if !columns && !is_last && out == [None] {
                return error(ErrorCode::PartitionMaxvalueError, &[]);
            }
            Ok((PartitionBounds::LessThan(out), texts.join(",")))
        }
        PartitionValues::In(items) => values.list(items),
    }
}

struct Values<'v> {
    session: &'v mut SessionContext,
    builder: &'v TableBuilder,
    by: &'v Division,
    partition: &'v str,
}

impl Values<'_> {
    fn list(&mut self, items: &[PartitionItem]) -> Result<(PartitionBounds, String), SqlError> {
        let several = self.by.method.has_columns() && self.by.columns.len() > 1;
        let (mut rows, mut texts, mut nulls) = (Vec::new(), Vec::new(), Vec::new());
        for item in items {
            let row = match item {
                PartitionItem::One(_) if several => {
                    return error(ErrorCode::PartitionColumnListError, &[]);
                }
                PartitionItem::Row(_) if !several => {
                    return error(ErrorCode::RowSinglePartitionFieldError, &[]);
                }
                PartitionItem::Row(row) if row.len() != self.by.columns.len() => {
                    return error(ErrorCode::PartitionColumnListError, &[]);
                }
                PartitionItem::One(value) => std::slice::from_ref(value),
                PartitionItem::Row(row) => row.as_slice(),
            };
            let (mut values, mut shown) = (Vec::new(), Vec::new());
            for (at, value) in row.iter().enumerate() {
                let (value, text) = self.limit(at, value)?;
                let Some(value) = value else {
                    return error(ErrorCode::MaxvalueInValuesIn, &[]);
                };
                values.push(value);
                shown.push(text);
            }
            let text = shown.join(",");
            // Where numbers are listed, NULL stands before them.
            let null = !self.by.method.has_columns() && values == [Value::Null];
            let texts = if null { &mut nulls } else { &mut texts };
            texts.push(if several { format!("({text})") } else { text });
            rows.push(values);
        }
        nulls.extend(texts);
        Ok((PartitionBounds::In(rows), nulls.join(",")))
    }

    /// A value, `None` for MAXVALUE, and its text.
    fn limit(
        &mut self,
        at: usize,
        value: &PartitionValue,
    ) -> Result<(Option<Value>, String), SqlError> {
        let PartitionValue::Expr(expr) = value else {
            return Ok((None, String::from("MAXVALUE")));
        };
        let session = &*self.session;
        let bound = inia_expr::bind(expr, &mut NoColumns, &session.env, &session.host)?;
        let mut ctx = session.context(&[], &NoSubqueries);
        ctx.strictness = Strictness::Strict;
        let value = bound.eval(&mut ctx, &[])?;
        if value == Value::Null {
            return Ok((Some(Value::Null), String::from("NULL")));
        }
        if !self.by.method.has_columns() {
            return self.integer(&bound, value);
        }
        let wrong = || SqlError::new(ErrorCode::WrongTypeColumnValueError, &[]);
        let column = self.builder.column(&self.by.columns[at]).ok_or_else(wrong)?;
        let def = &self.builder.columns[column].def;
        use DataType as T;
        let class = bound.ty.class();
        let kept = match (&def.data_type, &value) {
            (T::Int { .. }, Value::Int(_) | Value::UInt(_)) => class == TypeClass::Int,
            (T::Int { .. }, _) => false,
            (_, Value::Text(_) | Value::Bytes(_)) => true,
            (T::Date | T::DateTime { .. } | T::Time { .. }, value) => {
                matches!(value, Value::Date(_) | Value::DateTime(_) | Value::Time(_))
            }
            _ => false,
        };
        if !kept {
            return Err(wrong());
        }
        let written = match &value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        };
        let stored = inia_expr::store_value(value, &bound.ty, &def.data_type, &mut ctx, &def.name);
        let stored = stored.map_err(|_| wrong())?;
        if ctx.warnings.count > 0 {
            return Err(wrong());
        }
        let text = match (&stored, written) {
            (Value::Bytes(bytes), _) => {
                let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
                format!("_binary 0x{digits}")
            }
            (Value::Text(text), _) => text_literal(text, "''"),
            (Value::Int(_) | Value::UInt(_), _) => {
                inia_query::catalog::value_text(&stored, &def.data_type)
            }
            (_, Some(written)) => text_literal(&written, "''"),
            (value, None) => {
                text_literal(&inia_query::catalog::value_text(value, &def.data_type), "''")
            }
        };
        Ok((Some(stored), text))
    }

    /// A limit of a function; errors 1697 and 1563.
    fn integer(&self, bound: &Expr, value: Value) -> Result<(Option<Value>, String), SqlError> {
        let number = match (bound.ty.class(), &value) {
            (TypeClass::Int, value) => number(value),
            _ => None,
        };
        let Some(number) = number else {
            return error(ErrorCode::ValuesIsNotIntTypeError, &[&self.partition]);
        };
        let unsigned = |name: &String| {
            let column = self.builder.column(name).map(|at| &self.builder.columns[at].def);
            matches!(column.map(|c| &c.data_type), Some(DataType::Int { unsigned: true, .. }))
        };
        let plain = self.by.columns.len() == 1 && self.by.expression.starts_with('`');
        if number < 0 && plain && self.by.columns.iter().any(unsigned) {
            return error(ErrorCode::PartitionConstDomainError, &[]);
        }
        let stored = match i64::try_from(number) {
            Ok(number) => Value::Int(number),
            Err(_) => Value::UInt(number as u64),
        };
        Ok((Some(stored), number.to_string()))
    }
}

/// Error 1697: the limits of a function are integers.
pub(super) fn check_types(session: &SessionContext, by: &ast::PartitionBy) -> Result<(), SqlError> {
    for spec in &by.partitions {
        let values: Vec<&PartitionValue> = match &spec.values {
            PartitionValues::LessThan(limits) => limits.iter().collect(),
            PartitionValues::In(items) => items
                .iter()
                .filter_map(|item| match item {
                    PartitionItem::One(value) => Some(value),
                    PartitionItem::Row(_) => None,
                })
                .collect(),
            _ => Vec::new(),
        };
        for value in values {
            let PartitionValue::Expr(expr) = value else { continue };
            let bound = inia_expr::bind(expr, &mut NoColumns, &session.env, &session.host)?;
            let null = bound.as_literal() == Some(&Value::Null);
            if bound.ty.class() != TypeClass::Int && !null {
                return error(ErrorCode::ValuesIsNotIntTypeError, &[&spec.name]);
            }
        }
    }
    Ok(())
}

/// Errors 1493 and 1495: limits grow, and no value is in two lists.
pub(super) fn check_bounds(by: &Partitioning, builder: &TableBuilder) -> Result<(), SqlError> {
    let collation = |name: &String| {
        let column = builder.column(name)?;
        match builder.columns[column].def.data_type {
            DataType::Char { collation, .. } | DataType::VarChar { collation, .. } => {
                Some(collation)
            }
            _ => None,
        }
    };
    let collations: Vec<Option<Collation>> = by.by.columns.iter().map(collation).collect();
    let mut last: Option<&Vec<Option<Value>>> = None;
    let mut seen: Vec<&Vec<Value>> = Vec::new();
    for partition in &by.partitions {
        match &partition.values {
            PartitionBounds::Hash => {}
            PartitionBounds::LessThan(limits) => {
                if last.is_some_and(|last| !grows(last, limits, &collations)) {
                    return error(ErrorCode::RangeNotIncreasingError, &[]);
                }
                last = Some(limits);
            }
            PartitionBounds::In(rows) => {
                for row in rows {
                    let same = |other: &&Vec<Value>| {
                        let mut pairs = row.iter().zip(other.iter()).enumerate();
                        pairs.all(|(at, (a, b))| {
                            let collation = collations.get(at).copied().flatten();
                            compare(a, b, collation).is_eq() && is_null(a) == is_null(b)
                        })
                    };
                    if seen.iter().any(same) {
                        return error(ErrorCode::MultipleDefConstInListPartError, &[]);
                    }
                    seen.push(row);
                }
            }
        }
    }
    Ok(())
}

fn is_null(value: &Value) -> bool {
    *value == Value::Null
}

/// Whether one limit is below another; texts by the collations of their columns.
pub(super) fn grows(
    a: &[Option<Value>],
    b: &[Option<Value>],
    collations: &[Option<Collation>],
) -> bool {
    for (at, (a, b)) in a.iter().zip(b).enumerate() {
        match (a, b) {
            (None, None) => {}
            (None, Some(_)) => return false,
            (Some(_), None) => return true,
            (Some(a), Some(b)) => match compare(a, b, collations.get(at).copied().flatten()) {
                std::cmp::Ordering::Less => return true,
                std::cmp::Ordering::Greater => return false,
                std::cmp::Ordering::Equal => {}
            },
        }
    }
    false
}

fn compare(a: &Value, b: &Value, collation: Option<Collation>) -> std::cmp::Ordering {
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => {
            collation.unwrap_or(Collation::DEFAULT).compare(a.as_bytes(), b.as_bytes())
        }
        (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
        (Value::Date(a), Value::Date(b)) => a.cmp(b),
        (Value::DateTime(a), Value::DateTime(b)) => a.cmp(b),
        (Value::Time(a), Value::Time(b)) => a.cmp(b),
        _ => number(a).cmp(&number(b)),
    }
}
