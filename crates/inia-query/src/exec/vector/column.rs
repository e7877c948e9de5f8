//! Columns of a batch: vectors of numbers, texts or values, and how they grow.

use super::numbers::{Numbers, Values};
use super::texts::{CountedTexts, TextBuilder, TextColumn};
use crate::columns::CachedColumn;
use crate::exec::Result;
use crate::plan::vector::{NumberKind, VectorForm};
use crate::row::{pack_date, pack_datetime, unpack_date, unpack_datetime};
use crate::spill::held;
use inia_base::decimal::Decimal;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use std::ops::Range;
use std::sync::Arc;

/// The place of no row: where an outer join has found none.
pub(super) const NO_ROW: u32 = u32::MAX;

/// One column of some rows.
#[derive(Debug)]
pub(super) enum Column {
    Numbers(Arc<Numbers>, NumberKind),
    Texts(TextColumn),
    Values(Vec<Value>),
}

impl Column {
    /// The rows at these places, NULL for [`NO_ROW`].
    pub(super) fn gather(&self, places: &[u32]) -> Column {
        match self {
            Column::Numbers(numbers, kind) => {
                Column::Numbers(Arc::new(numbers.gather(places)), *kind)
            }
            Column::Texts(texts) => Column::Texts(texts.gather(places)),
            Column::Values(values) => {
                let value = |place: &u32| match *place {
                    NO_ROW => Value::Null,
                    place => values[place as usize].clone(),
                };
                Column::Values(places.iter().map(value).collect())
            }
        }
    }

    /// Puts the value of a row into a slot; a text where there is one already.
    pub(super) fn put(&self, row: usize, slot: &mut Value) -> Result<()> {
        match self {
            Column::Numbers(numbers, _) if numbers.is_null(row) => *slot = Value::Null,
            Column::Numbers(numbers, kind) => *slot = value_of(numbers.get(row), *kind),
            Column::Texts(texts) => match (texts.get(row), slot) {
                (None, slot) => *slot = Value::Null,
                (Some(text), slot) => {
                    let text = std::str::from_utf8(text).map_err(|_| no_text())?;
                    match slot {
                        Value::Text(known) => {
                            known.clear();
                            known.push_str(text);
                        }
                        slot => *slot = Value::Text(text.to_owned()),
                    }
                }
            },
            Column::Values(values) => slot.clone_from(&values[row]),
        }
        Ok(())
    }

    /// About how many bytes it takes, without texts that were counted already.
    pub(super) fn held(&self, counted: &mut CountedTexts) -> usize {
        match self {
            Column::Numbers(numbers, _) => numbers.rows() * size_of::<i128>(),
            Column::Texts(texts) => texts.held(counted),
            Column::Values(values) => held(values),
        }
    }

    /// At most how many bytes a row takes.
    pub(super) fn longest(&self) -> usize {
        match self {
            Column::Numbers(..) => size_of::<i128>(),
            Column::Texts(texts) => texts.longest(),
            Column::Values(values) => {
                let sizes = values.iter().map(|value| held(std::slice::from_ref(value)));
                sizes.max().unwrap_or_default()
            }
        }
    }

    /// Whether a row is NULL.
    pub(super) fn is_null(&self, row: usize) -> bool {
        match self {
            Column::Numbers(numbers, _) => numbers.is_null(row),
            Column::Texts(texts) => texts.get(row).is_none(),
            Column::Values(values) => values[row] == Value::Null,
        }
    }
}

/// Stored bytes of a text that are none.
fn no_text() -> SqlError {
    SqlError::new(ErrorCode::InternalError, &[&"a text of a batch is not UTF-8"])
}

/// The value of a number.
pub(super) fn value_of(number: i128, kind: NumberKind) -> Value {
    match kind {
        NumberKind::Int { unsigned: true } => Value::UInt(number as u64),
        NumberKind::Int { unsigned: false } => Value::Int(number as i64),
        NumberKind::Decimal(scale) => Value::Decimal(Decimal::from_i128(number, scale)),
        NumberKind::Date => Value::Date(unpack_date(number as u32)),
        NumberKind::Moment => Value::DateTime(unpack_datetime(number as u64)),
    }
}

/// The number of a value that is not NULL; `None` where it is none of the kind.
pub(super) fn number_of(value: &Value, kind: NumberKind) -> Option<i128> {
    Some(match (value, kind) {
        (Value::Int(value), NumberKind::Int { unsigned }) => {
            (!unsigned || *value >= 0).then_some(i128::from(*value))?
        }
        (Value::UInt(value), NumberKind::Int { unsigned }) => {
            (unsigned || i64::try_from(*value).is_ok()).then_some(i128::from(*value))?
        }
        (Value::Date(value), NumberKind::Date) => pack_date(*value).into(),
        (Value::DateTime(value), NumberKind::Moment) => pack_datetime(*value).into(),
        (Value::Decimal(value), NumberKind::Decimal(scale)) => {
            let (coefficient, digits) = (value.to_coefficient()?, value.scale());
            let more = scale.checked_sub(digits)?;
            coefficient.checked_mul(10i128.checked_pow(more.into())?)?
        }
        _ => return None,
    })
}

/// A column that grows.
#[derive(Debug)]
pub(super) struct ColumnBuilder {
    cells: Cells,
    /// Bytes that values hold beside themselves.
    held: usize,
}

#[derive(Debug)]
enum Cells {
    Small(NullableVec<i64>, NumberKind),
    Wide(NullableVec<i128>, NumberKind),
    Texts(TextBuilder),
    Values(Vec<Value>),
}

/// Numbers, of which some stand for NULL.
#[derive(Debug, Default)]
pub(super) struct NullableVec<T> {
    pub(super) values: Vec<T>,
    /// Which are NULL; empty where none is.
    pub(super) nulls: Vec<bool>,
}

impl<T: Copy + Default> NullableVec<T> {
    #[inline]
    pub(super) fn push(&mut self, value: Option<T>) {
        if value.is_none() && self.nulls.is_empty() {
            self.nulls.resize(self.values.len(), false);
        }
        if value.is_none() || !self.nulls.is_empty() {
            self.nulls.push(value.is_none());
        }
        self.values.push(value.unwrap_or_default());
    }

    fn extend(&mut self, values: impl Iterator<Item = T>, nulls: &[bool]) {
        let from = self.values.len();
        self.values.extend(values);
        if !nulls.is_empty() || !self.nulls.is_empty() {
            self.nulls.resize(from, false);
            self.nulls.extend_from_slice(nulls);
            self.nulls.resize(self.values.len(), false);
        }
    }

    fn widen(self) -> NullableVec<i128>
    where
        i128: From<T>,
    {
        let values = self.values.into_iter().map(i128::from).collect();
        NullableVec { values, nulls: self.nulls }
    }
}

impl ColumnBuilder {
    pub(super) fn new(form: VectorForm) -> ColumnBuilder {
        ColumnBuilder::with_capacity(form, 0)
    }

    /// A column with room for so many rows.
    pub(super) fn with_capacity(form: VectorForm, rows: usize) -> ColumnBuilder {
        let cells = match form {
            VectorForm::Numbers(kind) => {
                let values = Vec::with_capacity(rows);
                Cells::Small(NullableVec { values, nulls: Vec::new() }, kind)
            }
            VectorForm::Texts => Cells::Texts(TextBuilder::with_capacity(rows)),
            VectorForm::Values => Cells::Values(Vec::with_capacity(rows)),
        };
        ColumnBuilder { cells, held: 0 }
    }

    pub(super) fn len(&self) -> usize {
        match &self.cells {
            Cells::Small(numbers, _) => numbers.values.len(),
            Cells::Wide(numbers, _) => numbers.values.len(),
            Cells::Texts(texts) => texts.len(),
            Cells::Values(values) => values.len(),
        }
    }

    /// About how many bytes it takes.
    pub(super) fn held(&self) -> usize {
        self.held
            + match &self.cells {
                Cells::Small(numbers, _) => numbers.values.len() * 8 + numbers.nulls.len(),
                Cells::Wide(numbers, _) => numbers.values.len() * 16 + numbers.nulls.len(),
                Cells::Texts(texts) => texts.held(),
                Cells::Values(values) => size_of_val(&values[..]),
            }
    }

    /// Adds the numbers at these places, where it holds numbers; `None` for all.
    pub(super) fn push_chosen(&mut self, numbers: &Numbers, places: Option<&[u32]>) {
        match (&mut self.cells, &numbers.values, places) {
            (Cells::Small(all, _), Values::Small(values), places)
                if numbers.nulls.is_empty() && all.nulls.is_empty() =>
            {
                match places {
                    None => all.values.extend_from_slice(values),
                    Some(places) => {
                        all.values.extend(places.iter().map(|place| values[*place as usize]));
                    }
                }
            }
            (.., None) => (0..numbers.rows()).for_each(|row| self.push_number(numbers, row)),
            (.., Some(places)) => {
                places.iter().for_each(|place| self.push_number(numbers, *place as usize));
            }
        }
    }

    fn push_number(&mut self, numbers: &Numbers, row: usize) {
        self.push_wide((!numbers.is_null(row)).then(|| numbers.get(row)));
    }

    /// Adds a number of 64 bits, where it holds numbers.
    #[inline]
    pub(super) fn push_small(&mut self, number: Option<i64>) {
        match &mut self.cells {
            Cells::Small(numbers, _) => numbers.push(number),
            Cells::Wide(numbers, _) => numbers.push(number.map(i128::from)),
            Cells::Texts(_) | Cells::Values(_) => debug_assert!(false, "a column of numbers"),
        }
    }

    /// As [`ColumnBuilder::push_small`], for a number of 128 bits.
    #[inline]
    pub(super) fn push_wide(&mut self, number: Option<i128>) {
        match (&self.cells, number.map(i64::try_from)) {
            (Cells::Small(..), None) => return self.push_small(None),
            (Cells::Small(..), Some(Ok(number))) => return self.push_small(Some(number)),
            _ => self.widen(),
        }
        if let Cells::Wide(numbers, _) = &mut self.cells {
            numbers.push(number);
        }
    }

    #[cold]
    fn widen(&mut self) {
        let cells = std::mem::replace(&mut self.cells, Cells::Values(Vec::new()));
        self.cells = match cells {
            Cells::Small(numbers, kind) => Cells::Wide(numbers.widen(), kind),
            other => other,
        };
    }

    /// Adds a text, where it holds texts.
    #[inline]
    pub(super) fn push_text(&mut self, text: Option<&[u8]>) {
        match &mut self.cells {
            Cells::Texts(texts) => texts.push(text),
            _ => debug_assert!(false, "a column of texts"),
        }
    }

    /// Adds some rows of a packed column, where it holds numbers or texts as that does.
    pub(super) fn push_packed(&mut self, column: &CachedColumn, rows: impl Iterator<Item = usize>) {
        match (&mut self.cells, column) {
            (Cells::Texts(all), CachedColumn::Texts(texts)) => all.push_packed(texts, rows),
            (Cells::Small(all, _), CachedColumn::Numbers(numbers))
                if !numbers.has_nulls() && all.nulls.is_empty() =>
            {
                all.values.extend(rows.map(|row| numbers.get(row)));
            }
            (_, CachedColumn::Numbers(numbers)) => rows.for_each(|row| {
                self.push_small((!numbers.is_null(row)).then(|| numbers.get(row)));
            }),
            (_, CachedColumn::Texts(_)) => debug_assert!(false, "a column of texts"),
        }
    }

    /// Adds neighbouring rows of packed numbers, where it holds numbers; false, with nothing added,
    /// where they must be added one by one.
    pub(super) fn push_all(&mut self, column: &CachedColumn, rows: Range<usize>) -> bool {
        match (&mut self.cells, column) {
            (Cells::Small(all, _), CachedColumn::Numbers(numbers))
                if !numbers.has_nulls() && all.nulls.is_empty() =>
            {
                numbers.append_to(rows, &mut all.values);
                true
            }
            _ => false,
        }
    }

    /// Adds a value. A column that cannot hold it holds values from then on.
    pub(super) fn push(&mut self, value: &Value) -> Result<()> {
        match (&mut self.cells, value) {
            (Cells::Values(values), value) => {
                self.held += held(std::slice::from_ref(value)).saturating_sub(size_of::<Value>());
                values.push(value.clone());
                return Ok(());
            }
            (Cells::Texts(texts), Value::Null) => {
                texts.push(None);
                return Ok(());
            }
            (Cells::Texts(texts), Value::Text(text)) => {
                texts.push(Some(text.as_bytes()));
                return Ok(());
            }
            (Cells::Small(..) | Cells::Wide(..), Value::Null) => {
                self.push_wide(None);
                return Ok(());
            }
            (Cells::Small(_, kind) | Cells::Wide(_, kind), value) => {
                if let Some(number) = number_of(value, *kind) {
                    self.push_wide(Some(number));
                    return Ok(());
                }
            }
            _ => {}
        }
        self.make_values()?;
        self.push(value)
    }

    /// Makes it a column of values.
    fn make_values(&mut self) -> Result<()> {
        let rows = self.len();
        let form = VectorForm::Values;
        let column = std::mem::replace(self, ColumnBuilder::new(form)).finish();
        for row in 0..rows {
            let mut value = Value::Null;
            column.put(row, &mut value)?;
            self.push(&value)?;
        }
        Ok(())
    }

    /// Adds the rows of a column.
    pub(super) fn append(&mut self, column: &Column) -> Result<()> {
        let kind = self.kind();
        match (&mut self.cells, column) {
            (Cells::Small(all, kind), Column::Numbers(numbers, of))
                if kind == of && matches!(numbers.values, Values::Small(_)) =>
            {
                let Values::Small(values) = &numbers.values else { return Ok(()) };
                all.extend(values.iter().copied(), &numbers.nulls);
            }
            (Cells::Texts(all), Column::Texts(texts)) => texts.iter().for_each(|t| all.push(t)),
            (_, Column::Numbers(numbers, of)) if kind == Some(*of) => {
                for row in 0..numbers.rows() {
                    self.push_wide((!numbers.is_null(row)).then(|| numbers.get(row)));
                }
            }
            (_, Column::Values(values)) => {
                for value in values {
                    self.push(value)?;
                }
            }
            (_, column) => {
                let mut value = Value::Null;
                for row in 0..column.rows() {
                    column.put(row, &mut value)?;
                    self.push(&value)?;
                }
            }
        }
        Ok(())
    }

    fn kind(&self) -> Option<NumberKind> {
        match &self.cells {
            Cells::Small(_, kind) | Cells::Wide(_, kind) => Some(*kind),
            Cells::Texts(_) | Cells::Values(_) => None,
        }
    }

    pub(super) fn finish(self) -> Column {
        match self.cells {
            Cells::Small(numbers, kind) => {
                Column::Numbers(Arc::new(Numbers::small(numbers.values, numbers.nulls)), kind)
            }
            Cells::Wide(numbers, kind) => {
                Column::Numbers(Arc::new(Numbers::wide(numbers.values, numbers.nulls)), kind)
            }
            Cells::Texts(texts) => Column::Texts(texts.finish()),
            Cells::Values(values) => Column::Values(values),
        }
    }
}

impl Column {
    fn rows(&self) -> usize {
        match self {
            Column::Numbers(numbers, _) => numbers.rows(),
            Column::Texts(texts) => texts.rows(),
            Column::Values(values) => values.len(),
        }
    }
}
