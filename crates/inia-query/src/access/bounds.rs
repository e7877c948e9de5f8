//! Key ranges of an access path, computed from its expressions at run time.

use super::{AccessPath, EqualPart, Given, KeyInterval, SkipPath};
use crate::catalog::{IndexKind, Table};
use crate::error::Damaged;
use crate::row::{Cell, prefix_successor};
use inia_base::datatype::{DataType, IntWidth};
use inia_base::decimal::Decimal;
use inia_base::error::SqlError;
use inia_base::value::Value;
use inia_expr::{EvalContext, ExprType, TypeClass, convert};
use smallvec::SmallVec;
use std::borrow::Cow;

type Result<T> = std::result::Result<T, SqlError>;

/// More combinations of IN lists than this are read as one range.
const MAX_COMBINATIONS: usize = 4096;
/// Keys that are made together; a path without IN lists makes one.
type Prefixes = SmallVec<[Vec<u8>; 1]>;

/// Bytes for which a key has room from the start: one of two integers needs no more.
const SHORT_KEY: usize = 24;

/// A range of keys: from `start` (inclusive) to `end` (exclusive; `None` for no end).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KeyRange {
    pub(super) start: Vec<u8>,
    pub(super) end: Option<Vec<u8>>,
    /// The greatest key of the range, where that is a whole key of a clustered tree.
    pub(super) last: Option<Vec<u8>>,
}

impl KeyRange {
    pub(super) fn all() -> KeyRange {
        KeyRange { start: Vec::new(), end: None, last: None }
    }

    /// Whether a key is in the range.
    pub(super) fn holds(&self, key: &[u8]) -> bool {
        self.start.as_slice() <= key && self.end.as_ref().is_none_or(|end| key < end.as_slice())
    }

    /// Whether the range is all keys with one prefix.
    pub(super) fn is_equality(&self) -> bool {
        let mut end = self.start.clone();
        prefix_successor(&mut end) && self.end.as_ref() == Some(&end)
    }

    pub(super) fn prefix(prefix: Vec<u8>) -> KeyRange {
        let mut end = prefix.clone();
        let bounded = prefix_successor(&mut end);
        KeyRange { start: prefix, end: bounded.then_some(end), last: None }
    }

    /// One whole key of a clustered tree.
    fn whole(key: Vec<u8>) -> KeyRange {
        let last = Some(key.clone());
        KeyRange { last, ..KeyRange::prefix(key) }
    }

    fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| *end <= self.start)
    }
}

/// The bounds of a path in one run.
pub(super) struct Bounds {
    pub(super) keys: Keys,
    /// No bound was left out: rows in the range fulfil the conditions that the path stands for.
    pub(super) exact: bool,
}

/// Where to read.
pub(super) enum Keys {
    /// One key of a unique index.
    Point(Vec<u8>),
    /// Disjoint ranges in ascending order.
    Ranges(Vec<KeyRange>),
    /// The same, of entries of which a row may have several in them: it is read at its first one.
    Once(Vec<KeyRange>),
}

impl Keys {
    /// Ranges of an index. A row has one entry with an element, and others with further ones.
    fn of_ranges(
        ranges: Vec<KeyRange>,
        path: &AccessPath,
        (kind, exact): (IndexKind, bool),
    ) -> Keys {
        match kind.has_elements() && (path.intervals.len() > 1 || !exact) {
            true => Keys::Once(sorted(ranges)),
            false => Keys::Ranges(sorted(ranges)),
        }
    }

    /// The ranges, where it is no single key.
    pub(super) fn into_ranges(self) -> Option<Vec<KeyRange>> {
        match self {
            Keys::Point(_) => None,
            Keys::Ranges(ranges) | Keys::Once(ranges) => Some(ranges),
        }
    }
}

/// A value for a key part: usable, matching nothing, or not representable in the column's type.
pub(super) enum Bound<'v> {
    Cell(Cow<'v, Value>),
    Nothing,
    Unknown,
}

/// Computes the bounds of `path` for the current row of the tables before it.
pub(super) fn compute(
    table: &Table,
    path: &AccessPath,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Bounds> {
    let Some(index) = path.index else {
        return Ok(Bounds { keys: Keys::Ranges(vec![KeyRange::all()]), exact: true });
    };
    let kind = table.def.indexes[index].kind;
    if kind == IndexKind::Spatial {
        let ranges = super::spatial::ranges(table, path, ctx, row)?;
        return Ok(Bounds { keys: Keys::Ranges(ranges), exact: false });
    }
    let mut builder = Builder { table, index, exact: true };
    let mut prefixes = Prefixes::from_buf([Vec::with_capacity(SHORT_KEY)]);
    // Each prefix is one combination of the equal parts' values. A part that no key can hold ends
    // the prefixes there: they bound more rows than match, so the ranges are not exact.
    for (part, equal) in path.equal.iter().enumerate() {
        if !builder.extend(&mut prefixes, part, equal, ctx, row)? {
            let ranges = prefixes.into_iter().map(KeyRange::prefix).collect();
            let keys = Keys::of_ranges(ranges, path, (kind, false));
            return Ok(Bounds { keys, exact: false });
        }
        // No value can match: the empty list of ranges is exact.
        if prefixes.is_empty() {
            return Ok(Bounds { keys: Keys::Ranges(Vec::new()), exact: true });
        }
    }
    if path.point {
        debug_assert_eq!(prefixes.len(), 1, "a point is one key");
        let key = prefixes.pop().unwrap_or_default();
        return Ok(Bounds { keys: Keys::Point(key), exact: true });
    }
    debug_assert!(!prefixes.is_empty(), "a range has a prefix");
    // Values of an IN list come as they are written and may be equal. Ranges are sorted and merged,
    // so that no row is read twice.
    if path.intervals.is_empty() {
        if let Some(paths) = path.ranges() {
            return any_of(table, paths, ctx, row);
        }
        let is_whole = builder.is_whole(path.equal.len());
        let range = if is_whole { KeyRange::whole } else { KeyRange::prefix };
        let ranges = prefixes.into_iter().map(range).collect();
        return Ok(Bounds { keys: Keys::of_ranges(ranges, path, (kind, true)), exact: true });
    }
    let mut ranges = Vec::new();
    for prefix in &prefixes {
        for interval in &path.intervals {
            let part = path.equal.len();
            ranges.extend(builder.interval(prefix, part, interval, ctx, row)?);
        }
    }
    let keys = Keys::of_ranges(ranges, path, (kind, builder.exact));
    Ok(Bounds { keys, exact: builder.exact })
}

/// What a path reads behind the first parts of a key, for one combination of values of the parts
/// between; keys begin behind the first parts.
pub(super) struct Within {
    /// Ranges of values, ascending.
    pub(super) values: Vec<KeyRange>,
    /// The keys with NULL, where they are among what is read.
    pub(super) nulls: Option<KeyRange>,
}

/// Computes what is read of each group of a path; the groups are those of its first parts.
pub(super) fn within_groups(
    table: &Table,
    (index, skip): (usize, &SkipPath),
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<(Vec<Within>, bool)> {
    let mut builder = Builder { table, index, exact: true };
    let mut prefixes = Prefixes::from_buf([Vec::with_capacity(SHORT_KEY)]);
    for (at, equal) in skip.equal.iter().enumerate() {
        if !builder.extend(&mut prefixes, skip.parts + at, equal, ctx, row)? {
            let all = |prefix| Within { values: vec![KeyRange::prefix(prefix)], nulls: None };
            return Ok((prefixes.into_iter().map(all).collect(), false));
        }
    }
    // Values of an IN list may be equal.
    prefixes.sort();
    prefixes.dedup();
    let part = skip.parts + skip.equal.len();
    let any = [KeyInterval::default()];
    let (intervals, with_null) = match (&skip.intervals[..], skip.given) {
        ([], Given::Ends { .. }) => (&any[..], true),
        (intervals, _) => (intervals, false),
    };
    let mut all = Vec::with_capacity(prefixes.len());
    for prefix in prefixes {
        if intervals.is_empty() {
            all.push(Within { values: vec![KeyRange::prefix(prefix)], nulls: None });
            continue;
        }
        let (mut values, mut nulls) = (Vec::new(), None);
        for interval in intervals {
            match interval.null {
                true => nulls = builder.null_range(&prefix, part),
                false => values.extend(builder.interval(&prefix, part, interval, ctx, row)?),
            }
        }
        if with_null {
            nulls = builder.null_range(&prefix, part);
        }
        if !matches!(skip.given, Given::Ends { .. }) {
            values.extend(nulls.take());
        }
        all.push(Within { values: sorted(values), nulls });
    }
    Ok((all, builder.exact))
}

/// The ranges of several paths over one index.
#[cold]
fn any_of(
    table: &Table,
    paths: &[AccessPath],
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Bounds> {
    let (mut ranges, mut exact) = (Vec::new(), true);
    for path in paths {
        let bounds = compute(table, path, ctx, row)?;
        exact &= bounds.exact;
        match bounds.keys {
            Keys::Point(key) => {
                let whole = path.index.is_some_and(|index| table.def.indexes[index].clustered);
                ranges.push(if whole { KeyRange::whole(key) } else { KeyRange::prefix(key) });
            }
            Keys::Ranges(found) | Keys::Once(found) => ranges.extend(found),
        }
    }
    Ok(Bounds { keys: Keys::Ranges(sorted(ranges)), exact })
}

/// Sorts ranges and merges those that overlap or touch.
fn sorted(mut ranges: Vec<KeyRange>) -> Vec<KeyRange> {
    ranges.retain(|range| !range.is_empty());
    if ranges.len() < 2 {
        return ranges;
    }
    ranges.sort();
    let mut merged: Vec<KeyRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if last.end.as_ref().is_none_or(|end| range.start <= *end) => {
                let longer = match (&last.end, &range.end) {
                    (None, _) => false,
                    (_, None) => true,
                    (Some(a), Some(b)) => b > a,
                };
                if longer {
                    last.end = range.end;
                    last.last = range.last;
                }
            }
            _ => merged.push(range),
        }
    }
    let apart = |pair: &[KeyRange]| pair[0].end.as_ref().is_some_and(|end| *end < pair[1].start);
    debug_assert!(merged.windows(2).all(apart), "ranges are disjoint and ascend");
    merged
}

struct Builder<'b> {
    table: &'b Table,
    index: usize,
    exact: bool,
}

impl Builder<'_> {
    /// Whether the first `parts` parts are a whole key of the clustered tree.
    fn is_whole(&self, parts: usize) -> bool {
        let index = &self.table.def.indexes[self.index];
        index.clustered && index.parts.len() == parts
    }

    fn data_type(&self, part: usize) -> Cow<'_, DataType> {
        self.table.def.key_type(&self.table.def.indexes[self.index], part)
    }

    fn nullable(&self, part: usize) -> bool {
        let part = self.table.def.key_part(&self.table.def.indexes[self.index], part);
        part.is_some_and(|part| self.table.def.columns[part.column].nullable)
    }

    fn descending(&self, part: usize) -> bool {
        let part = self.table.def.key_part(&self.table.def.indexes[self.index], part);
        part.is_some_and(|part| part.descending)
    }

    fn put(&self, part: usize, cell: &Cell<'_>, key: &mut Vec<u8>) -> Option<()> {
        self.table.indexes[self.index].codec.put_part(part, cell, key).map_err(|Damaged| ()).ok()
    }

    /// Appends an equal part to every prefix, once for each of its values. False, with the prefixes
    /// as they were, where its values cannot be key parts.
    fn extend(
        &self,
        prefixes: &mut Prefixes,
        part: usize,
        equal: &EqualPart,
        ctx: &mut EvalContext<'_>,
        row: &[Value],
    ) -> Result<bool> {
        let (items, null_safe) = match equal {
            EqualPart::Value(expr) => (std::slice::from_ref(expr), false),
            EqualPart::NullSafe(expr) => (std::slice::from_ref(expr), true),
            EqualPart::AnyOf(exprs) => (exprs.as_slice(), false),
        };
        // A part with too many keys is left to the reader's check; the prefixes stay as they are.
        if prefixes.len() * items.len() > MAX_COMBINATIONS {
            return Ok(false);
        }
        let mut extended = Prefixes::new();
        for item in items {
            let value = item.eval_ref(ctx, row)?;
            // Only a null-safe comparison finds NULL, and only in a column that can hold it.
            let bound = match &*value {
                Value::Null if null_safe && self.nullable(part) => Bound::Cell(value),
                _ => convert_for_key(value, &item.ty, &self.data_type(part), ctx)?,
            };
            let value = match bound {
                Bound::Cell(value) => value,
                Bound::Nothing => continue,
                Bound::Unknown => {
                    let value = item.eval_ref(ctx, row)?;
                    if is_never_equal(&value, &item.ty, &self.data_type(part)) {
                        continue;
                    }
                    return Ok(false);
                }
            };
            let cell = Cell::of(&value, &self.data_type(part), &ctx.env.time_zone);
            // A single value extends the prefixes in place; several need a copy of them each.
            if items.len() == 1 {
                return Ok(self.put_all(part, &cell, prefixes));
            }
            debug_assert!(prefixes.len() * items.len() <= MAX_COMBINATIONS, "keys are few");
            let first = extended.len();
            extended.extend(prefixes.iter().cloned());
            if !self.put_all(part, &cell, &mut extended[first..]) {
                return Ok(false);
            }
        }
        *prefixes = extended;
        Ok(true)
    }

    /// Appends a part to every key; false, with the keys as they were, where it cannot be one,
    /// which the first key shows.
    fn put_all(&self, part: usize, cell: &Cell<'_>, keys: &mut [Vec<u8>]) -> bool {
        keys.iter_mut().all(|key| {
            let len = key.len();
            let put = self.put(part, cell, key).is_some();
            if !put {
                key.truncate(len);
            }
            put
        })
    }

    /// The keys with NULL after a prefix.
    fn null_range(&mut self, prefix: &[u8], part: usize) -> Option<KeyRange> {
        let mut key = prefix.to_vec();
        if !self.nullable(part) {
            return None;
        }
        if self.put(part, &Cell::Null, &mut key).is_none() {
            self.exact = false;
            key.truncate(prefix.len());
        }
        Some(KeyRange::prefix(key))
    }

    /// The key range of an interval after a prefix; `None` where nothing can match.
    fn interval(
        &mut self,
        prefix: &[u8],
        part: usize,
        interval: &KeyInterval,
        ctx: &mut EvalContext<'_>,
        row: &[Value],
    ) -> Result<Option<KeyRange>> {
        if interval.null {
            return Ok(self.null_range(prefix, part));
        }
        let descending = self.descending(part);
        let mut range = KeyRange::prefix(prefix.to_vec());
        // NULL is in no interval but its own. Its keys come first, in a descending part last, and
        // are cut off the range.
        if self.nullable(part) {
            let mut null = prefix.to_vec();
            if self.put(part, &Cell::Null, &mut null).is_some() {
                if descending {
                    range.end = Some(null);
                } else if prefix_successor(&mut null) {
                    range.start = null;
                }
            }
        }
        // A bound that no key can hold is left out: the range grows and is not exact any more.
        for (end, is_lower) in [(&interval.lower, true), (&interval.upper, false)] {
            let Some(end) = end else { continue };
            let value = end.value.eval_ref(ctx, row)?;
            let value = match convert_for_key(value, &end.value.ty, &self.data_type(part), ctx)? {
                Bound::Cell(value) => value,
                Bound::Nothing => return Ok(None),
                Bound::Unknown => {
                    self.exact = false;
                    continue;
                }
            };
            let mut key = prefix.to_vec();
            let cell = Cell::of(&value, &self.data_type(part), &ctx.env.time_zone);
            if self.put(part, &cell, &mut key).is_none() {
                self.exact = false;
                continue;
            }
            // A descending part stores large values first, so its lower end closes the range. Keys
            // go on behind the part: an exclusive start and an inclusive end are the successor of
            // its key.
            let starts = is_lower != descending;
            let past = starts != end.inclusive;
            if !starts {
                range.last = (past && self.is_whole(part + 1)).then(|| key.clone());
            }
            let bounded = !past || prefix_successor(&mut key);
            match (starts, bounded) {
                (true, true) => range.start = range.start.max(key),
                (true, false) => return Ok(None),
                (false, true) => range.end = Some(key),
                (false, false) => {}
            }
        }
        Ok(Some(range))
    }
}

/// Converts a value that a column is compared with to the column's type, where that loses nothing.
pub(super) fn convert_for_key<'v>(
    value: Cow<'v, Value>,
    ty: &ExprType,
    target: &DataType,
    ctx: &mut EvalContext<'_>,
) -> Result<Bound<'v>> {
    // A comparison with NULL is true for no row.
    if matches!(&*value, Value::Null) {
        return Ok(Bound::Nothing);
    }
    // A value that the column's type would round gives no bound: a rounded bound could cut off rows
    // that match.
    Ok(match target {
        DataType::Int { width, unsigned } => match integral(&value, ty) {
            Some(number) if fits(number, *width, *unsigned) => {
                Bound::Cell(Cow::Owned(match unsigned {
                    true => Value::UInt(number as u64),
                    false => Value::Int(number as i64),
                }))
            }
            _ => Bound::Unknown,
        },
        DataType::Decimal { precision, scale, .. } => {
            let exact = match &*value {
                Value::Decimal(decimal) => Some(*decimal),
                Value::Int(number) => Some(Decimal::from(*number)),
                Value::UInt(number) => Some(Decimal::from(*number)),
                _ => None,
            };
            let scaled = exact.and_then(|exact| {
                let scaled = exact.rescale(*precision, *scale);
                (!scaled.rounded && !scaled.overflow).then_some(scaled.value)
            });
            scaled.map_or(Bound::Unknown, |d| Bound::Cell(Cow::Owned(Value::Decimal(d))))
        }
        // A comparison with this column is one of doubles, so the bound rounds as it does.
        DataType::Double { .. } => match &*value {
            Value::Double(_) => Bound::Cell(value),
            Value::Int(_) | Value::UInt(_) | Value::Decimal(_) => {
                let number = convert::to_real(&value, ty, ctx)?;
                Bound::Cell(Cow::Owned(Value::Double(number)))
            }
            _ => Bound::Unknown,
        },
        DataType::Char { .. } | DataType::VarChar { .. } | DataType::Text { .. } => match &*value {
            Value::Text(_) => Bound::Cell(value),
            _ => Bound::Unknown,
        },
        DataType::Binary(_) | DataType::VarBinary(_) | DataType::Blob(_) => match &*value {
            Value::Bytes(_) => Bound::Cell(value),
            Value::Text(_) => {
                Bound::Cell(Cow::Owned(Value::Bytes(convert::to_bytes(&value, ty).into_owned())))
            }
            _ => Bound::Unknown,
        },
        DataType::Date | DataType::DateTime { .. } | DataType::Timestamp { .. } => {
            dated(&value, ty, target, ctx)?
        }
        DataType::Time { .. } => match &*value {
            Value::Time(_) => Bound::Cell(value),
            _ => Bound::Unknown,
        },
        _ => Bound::Unknown,
    })
}

/// Whether a number equals no value of an integer column: it has a fraction, or is beyond what the
/// column holds. Columns of 64 bits may compare as doubles, which are not exact near their limits.
#[cold]
fn is_never_equal(value: &Value, ty: &ExprType, target: &DataType) -> bool {
    let DataType::Int { width, unsigned } = *target else { return false };
    let real = match value {
        Value::Int(number) => *number as f64,
        Value::UInt(number) if ty.class() == TypeClass::Int => *number as f64,
        Value::Double(number) => *number,
        Value::Decimal(number) => number.to_f64(),
        _ => return false,
    };
    match integral(value, ty) {
        Some(number) if width.bits() < 64 => !fits(number, width, unsigned),
        Some(number) => unsigned && number < 0,
        None => real.is_finite() && real.fract() != 0.0,
    }
}

/// The value as an integer, where it is one exactly.
fn integral(value: &Value, ty: &ExprType) -> Option<i128> {
    match value {
        Value::Int(number) => Some(i128::from(*number)),
        Value::UInt(number) if ty.class() == TypeClass::Int => Some(i128::from(*number)),
        Value::Double(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            Some(*number as i128)
        }
        Value::Decimal(number) if number.truncate(0).cmp(number).is_eq() => {
            let signed = number.to_i64().map(i128::from);
            signed.or_else(|_| number.to_u64().map(i128::from)).ok()
        }
        // Such columns and texts compare as doubles, in which all smaller integers differ.
        Value::Text(text) => {
            let whole = text.parse::<i64>().ok();
            whole.filter(|n| n.unsigned_abs() < 1 << 53).map(i128::from)
        }
        _ => None,
    }
}

fn fits(number: i128, width: IntWidth, unsigned: bool) -> bool {
    let bits = width.bits();
    if unsigned {
        (0..1i128 << bits).contains(&number)
    } else {
        (-(1i128 << (bits - 1))..1i128 << (bits - 1)).contains(&number)
    }
}

/// A date column's bound: a DATE column takes only values without a time of day.
fn dated<'v>(
    value: &Value,
    ty: &ExprType,
    target: &DataType,
    ctx: &mut EvalContext<'_>,
) -> Result<Bound<'v>> {
    if !matches!(value, Value::Date(_) | Value::DateTime(_) | Value::Text(_)) {
        return Ok(Bound::Unknown);
    }
    let Some(moment) = convert::to_datetime(value, ty, ctx)? else {
        return Ok(Bound::Unknown);
    };
    let midnight = (moment.hour, moment.minute, moment.second, moment.micros) == (0, 0, 0, 0);
    Ok(match target {
        DataType::Date if midnight => Bound::Cell(Cow::Owned(Value::Date(moment.date))),
        DataType::Date => Bound::Unknown,
        _ => Bound::Cell(Cow::Owned(Value::DateTime(moment))),
    })
}
