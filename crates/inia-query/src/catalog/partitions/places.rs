//! The partition of a row.

use super::key_hash::hash_columns;
use super::{Divider, Rule, number};
use crate::error::Damaged;
use crate::row::Cell;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::{EvalContext, ExprKind, ExprType, NoSubqueries, SessionHost, UserVar, VarScope};

/// Where a row belongs.
pub(crate) enum Place {
    /// Into this part.
    Part(usize),
    /// Into none, as error 1526 shows the value.
    Nowhere(String),
}

/// What a function divides by.
enum Number {
    Null,
    Of(i128),
}

impl Divider {
    /// The part of a row.
    pub(crate) fn place<'v>(
        &self,
        cell: &impl Fn(usize) -> Result<Cell<'v>, Damaged>,
    ) -> Result<Place, SqlError> {
        Ok(match &self.rule {
            Rule::Range(limits) => {
                let value = match self.number(cell)? {
                    Number::Null => return Ok(Place::Part(0)),
                    Number::Of(value) => value,
                };
                let below = |limit: &Option<i128>| limit.is_some_and(|limit| limit <= value);
                match limits.partition_point(below) {
                    part if part < limits.len() => Place::Part(part),
                    _ => Place::Nowhere(value.to_string()),
                }
            }
            Rule::List(values, null) => {
                let (part, shown) = match self.number(cell)? {
                    Number::Null => (*null, String::from("NULL")),
                    Number::Of(value) => (values.get(&value).copied(), value.to_string()),
                };
                part.map_or(Place::Nowhere(shown), Place::Part)
            }
            Rule::Hash { linear } => {
                let value = match self.number(cell)? {
                    Number::Null => i64::MIN,
                    Number::Of(value) => value as i64,
                };
                Place::Part(match linear {
                    true => linear_part(value as u64, self.parts),
                    false => (value % self.parts as i64).unsigned_abs() as usize,
                })
            }
            Rule::Key { linear, old } => {
                let types = &self.finder.def.columns;
                let columns = self
                    .columns
                    .iter()
                    .map(|column| cell(*column).map(|cell| (cell, &types[*column].data_type)));
                let hash = hash_columns(columns, *old)?;
                Place::Part(match linear {
                    true => linear_part(u64::from(hash), self.parts),
                    false => hash as usize % self.parts,
                })
            }
            Rule::RangeColumns(limits) => {
                let key = self.key(cell)?;
                let below = |limit: &Option<Vec<u8>>| limit.as_ref().is_some_and(|l| *l <= key);
                match limits.partition_point(below) {
                    part if part < limits.len() => Place::Part(part),
                    _ => Place::Nowhere(String::from("from column_list")),
                }
            }
            Rule::ListColumns(keys) => match keys.get(&self.key(cell)?) {
                Some(part) => Place::Part(*part),
                None => Place::Nowhere(String::from("from column_list")),
            },
        })
    }

    /// The key of the columns of a row.
    fn key<'v>(
        &self,
        cell: &impl Fn(usize) -> Result<Cell<'v>, Damaged>,
    ) -> Result<Vec<u8>, SqlError> {
        let codec = &self.finder.indexes[self.index].codec;
        let mut key = Vec::with_capacity(32);
        for (part, column) in self.columns.iter().enumerate() {
            codec.put_part(part, &cell(*column)?, &mut key)?;
        }
        Ok(key)
    }

    /// The function's value for a row.
    fn number<'v>(
        &self,
        cell: &impl Fn(usize) -> Result<Cell<'v>, Damaged>,
    ) -> Result<Number, SqlError> {
        let function = self.function.as_ref().ok_or(Damaged)?;
        if let ExprKind::Column { index, .. } = &function.kind {
            return Ok(match cell(*index)? {
                Cell::Null => Number::Null,
                Cell::Int(value) => Number::Of(i128::from(value)),
                Cell::UInt(value) => Number::Of(i128::from(value)),
                _ => return Err(Damaged.into()),
            });
        }
        let columns = &self.finder.def.columns;
        let mut row = vec![Value::Null; columns.len()];
        for &column in &self.columns {
            let data_type = &columns[column].data_type;
            row[column] = cell(column)?.value(data_type, &self.env.time_zone);
        }
        self.number_of(&row)
    }

    fn number_of(&self, row: &[Value]) -> Result<Number, SqlError> {
        let function = self.function.as_ref().ok_or(Damaged)?;
        let mut ctx = EvalContext::new(&self.env, &NoSession, &NoSubqueries, &[]);
        let value = function.eval(&mut ctx, row)?;
        match (&value, number(&value)) {
            (Value::Null, _) => Ok(Number::Null),
            (_, Some(value)) => Ok(Number::Of(value)),
            (_, None) => Err(Damaged.into()),
        }
    }

    /// The function's value where its only column has this one; `None` for NULL.
    pub(crate) fn value_at(&self, value: Value) -> Result<Option<i128>, SqlError> {
        let mut row = vec![Value::Null; self.finder.def.columns.len()];
        if let Some(column) = self.columns.first() {
            row[*column] = value;
        }
        Ok(match self.number_of(&row)? {
            Number::Null => None,
            Number::Of(value) => Some(value),
        })
    }
}

/// The part of a hash under LINEAR: its last bits, one fewer where those are too many.
fn linear_part(hash: u64, parts: usize) -> usize {
    let mask = (parts as u64).next_power_of_two() - 1;
    let part = hash & mask;
    let part = if part >= parts as u64 { hash & (mask.div_ceil(2) - 1) } else { part };
    part as usize
}

/// The session of partition functions, which read nothing but their row.
pub(super) struct NoSession;

impl NoSession {
    fn refuse<T>() -> Result<T, SqlError> {
        Err(SqlError::new(ErrorCode::PartitionFunctionIsNotAllowed, &[]))
    }
}

impl SessionHost for NoSession {
    fn sysvar(&self, _scope: VarScope, _name: &str) -> Result<(Value, ExprType), SqlError> {
        NoSession::refuse()
    }

    fn user_var(&self, _name: &str) -> Option<UserVar> {
        None
    }

    fn set_user_var(&self, _name: &str, _var: UserVar) -> Result<(), SqlError> {
        NoSession::refuse()
    }

    fn set_last_insert_id(&self, _id: u64) {}

    fn clock_micros(&self) -> i64 {
        0
    }

    fn sleep(&self, _micros: u64) -> Result<bool, SqlError> {
        NoSession::refuse()
    }

    fn get_lock(&self, _name: &str, _timeout: Option<u64>) -> Result<Option<bool>, SqlError> {
        NoSession::refuse()
    }

    fn release_lock(&self, _name: &str) -> Result<Option<bool>, SqlError> {
        NoSession::refuse()
    }

    fn release_all_locks(&self) -> u64 {
        0
    }

    fn lock_holder(&self, _name: &str) -> Option<u64> {
        None
    }
}
