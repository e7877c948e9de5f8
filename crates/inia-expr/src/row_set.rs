//! Lists of constant rows as hash tables: `(a, b) IN ((1, 'x'), (2, 'y'), …)`.
//!
//! A row is found by the values of its columns, each in the form in which its class calls values
//! equal. Rows of the list that have a NULL are never equal to another, but may make the answer
//! UNKNOWN: they are compared one by one, where no row was found.

use crate::bind::as_class;
use crate::collate;
use crate::compare::{CmpClass, hashable};
use crate::context::EvalContext;
use crate::tree::{CmpOp, Compare, Expr, ExprKind, InList};
use inia_base::decimal::Decimal;
use inia_base::error::SqlError;
use inia_base::temporal::DateTime;
use inia_base::value::Value;
use std::collections::HashSet;

/// Shorter lists are compared row by row.
const MIN_ROWS: usize = 4;

/// The rows of a list.
#[derive(Debug)]
pub struct RowSet {
    rows: HashSet<Vec<RowKey>>,
    /// The numbers of the rows that have a NULL.
    pub(crate) with_null: Vec<usize>,
}

/// A column of a row in the form in which it is compared.
#[derive(Debug, PartialEq, Eq, Hash)]
enum RowKey {
    Int(i128),
    Decimal(Decimal),
    /// The bits of a number.
    Real(u64),
    /// A sort key, or bytes.
    Bytes(Vec<u8>),
    Moment(DateTime),
    /// Microseconds.
    Time(i64),
}

impl RowSet {
    /// The set of a list's rows; `None` where they are few, not all constants, or of kinds that are
    /// compared in another way.
    pub(crate) fn of(list: &InList) -> Option<RowSet> {
        if list.items.len() < MIN_ROWS {
            return None;
        }
        let first = parts(&list.items.first()?.1)?;
        let mut set = RowSet { rows: HashSet::new(), with_null: Vec::new() };
        for (number, (_, item)) in list.items.iter().enumerate() {
            let own = parts(item)?;
            let same = |(a, b): (&Compare, &Compare)| a.class == b.class && a.left.same(&b.left);
            if own.len() != first.len() || !own.iter().zip(first).all(same) {
                return None;
            }
            let keys: Option<Vec<Option<RowKey>>> = own.iter().map(constant).collect();
            match keys?.into_iter().collect() {
                Some(key) => drop(set.rows.insert(key)),
                None => set.with_null.push(number),
            }
        }
        Some(set)
    }

    /// Whether the left row is in the list; `None` where it has a NULL, or a value of another kind.
    pub(crate) fn contains(
        &self,
        list: &InList,
        ctx: &mut EvalContext<'_>,
        row: &[Value],
    ) -> Result<Option<bool>, SqlError> {
        let Some(parts) = list.items.first().and_then(|(_, item)| parts(item)) else {
            return Ok(None);
        };
        let mut key = Vec::with_capacity(parts.len());
        for part in parts {
            let value = part.left.eval_ref(ctx, row)?;
            match key_of(&part.class, &value) {
                Some(column) => key.push(column),
                None => return Ok(None),
            }
        }
        Ok(Some(self.rows.contains(&key)))
    }
}

/// The comparisons that a row of the list stands for.
fn parts(item: &Expr) -> Option<&[Compare]> {
    match &item.kind {
        ExprKind::CompareRows(CmpOp::Eq, parts) => Some(parts),
        _ => None,
    }
}

/// The key of the constant on the right side; `Some(None)` for NULL.
fn constant(part: &Compare) -> Option<Option<RowKey>> {
    let mut right = part.right.clone();
    as_class(&part.class, &mut right);
    let value = right.as_literal()?;
    if *value == Value::Null {
        return Some(None);
    }
    let comparable = hashable(&part.class, &part.left.ty, &right.ty);
    let key = comparable.then(|| key_of(&part.class, value))?;
    key.map(Some)
}

/// The form of a value in a class; `None` for NULL, and for values of other kinds.
fn key_of(class: &CmpClass, value: &Value) -> Option<RowKey> {
    let real = |number: f64| RowKey::Real(if number == 0.0 { 0 } else { number.to_bits() });
    Some(match (class, value) {
        (CmpClass::Int, Value::Int(v)) => RowKey::Int(i128::from(*v)),
        (CmpClass::Int, Value::UInt(v)) => RowKey::Int(i128::from(*v)),
        (CmpClass::Decimal, Value::Int(v)) => RowKey::Decimal(Decimal::from(*v)),
        (CmpClass::Decimal, Value::UInt(v)) => RowKey::Decimal(Decimal::from(*v)),
        (CmpClass::Decimal, Value::Decimal(v)) => RowKey::Decimal(*v),
        (CmpClass::Real, Value::Int(v)) => real(*v as f64),
        (CmpClass::Real, Value::UInt(v)) => real(*v as f64),
        (CmpClass::Real, Value::Decimal(v)) => real(v.to_f64()),
        (CmpClass::Real, Value::Double(v)) => real(*v),
        (CmpClass::Text(collation), Value::Text(text)) => {
            RowKey::Bytes(collate::sort_key(*collation, text))
        }
        (CmpClass::Binary, Value::Bytes(bytes)) => RowKey::Bytes(bytes.clone()),
        (CmpClass::Dates, Value::Date(date)) => RowKey::Moment(date.at_midnight()),
        (CmpClass::Dates, Value::DateTime(moment)) => RowKey::Moment(*moment),
        (CmpClass::Times, Value::Time(time)) => RowKey::Time(time.micros),
        _ => return None,
    })
}
