//! Vectors of whole numbers, computed without a check for each number.
//!
//! A vector knows bounds of its numbers. The bounds of a result follow from those of its operands:
//! where they fit 64 bits the loop runs over 64-bit numbers and cannot overflow, where they fit 128
//! bits over those, and beyond that there is no result.
//!
//! ```text
//!   a in 0..=10_000, b in 90..=100      a * b in 0..=1_000_000: 64 bits
//! ```

use super::column::{NO_ROW, NullableVec};
use inia_expr::tree::{ArithOp, CmpOp};
use std::borrow::Cow;

/// The numbers of a vector.
#[derive(Clone, Debug)]
pub(super) enum Values {
    /// One number for all rows.
    One(i128),
    Small(Vec<i64>),
    Wide(Vec<i128>),
}

/// A vector: numbers, of which some stand for NULL.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    pub(super) values: Values,
    /// Which rows are NULL; empty where none is.
    pub(super) nulls: Vec<bool>,
    pub(super) low: i128,
    pub(super) high: i128,
}

impl Numbers {
    /// The same number for all rows.
    pub(super) fn one(value: i128) -> Numbers {
        Numbers { values: Values::One(value), nulls: Vec::new(), low: value, high: value }
    }

    /// Numbers of 64 bits.
    pub(super) fn small(values: Vec<i64>, nulls: Vec<bool>) -> Numbers {
        debug_assert!(nulls.is_empty() || nulls.len() == values.len(), "one flag for each row");
        let least = values.iter().copied().min().unwrap_or_default();
        let greatest = values.iter().copied().max().unwrap_or_default();
        let (low, high) = (least.into(), greatest.into());
        Numbers { values: Values::Small(values), nulls, low, high }
    }

    /// Numbers of 128 bits, kept in 64 where they fit.
    pub(super) fn wide(values: Vec<i128>, nulls: Vec<bool>) -> Numbers {
        let low = values.iter().copied().min().unwrap_or_default();
        let high = values.iter().copied().max().unwrap_or_default();
        if is_small(low) && is_small(high) {
            let small = values.into_iter().map(|value| value as i64).collect();
            return Numbers { values: Values::Small(small), nulls, low, high };
        }
        Numbers { values: Values::Wide(values), nulls, low, high }
    }

    /// A number for each row, `None` for NULL.
    pub(super) fn of_each(numbers: impl Iterator<Item = Option<i128>>) -> Numbers {
        let mut all = NullableVec::default();
        numbers.for_each(|number| all.push(number));
        Numbers::wide(all.values, all.nulls)
    }

    /// The bits of each number, which is not negative, above its lowest ones and in the mask.
    pub(super) fn field(&self, bits: u32, mask: i64) -> Numbers {
        let wide = |value: i128| value >> bits & i128::from(mask);
        let values = match &self.values {
            Values::One(value) => Values::One(wide(*value)),
            Values::Small(values) => {
                Values::Small(values.iter().map(|v| v >> bits & mask).collect())
            }
            Values::Wide(values) => Values::Wide(values.iter().map(|v| wide(*v)).collect()),
        };
        let (low, high) = match mask {
            i64::MAX => (self.low >> bits, self.high >> bits),
            mask => (0, mask.into()),
        };
        Numbers { values, nulls: self.nulls.clone(), low, high }
    }

    /// The number of row `i`.
    #[inline]
    pub(super) fn get(&self, i: usize) -> i128 {
        match &self.values {
            Values::One(value) => *value,
            Values::Small(values) => values[i].into(),
            Values::Wide(values) => values[i],
        }
    }

    /// Whether row `i` is NULL.
    #[inline]
    pub(super) fn is_null(&self, i: usize) -> bool {
        !self.nulls.is_empty() && self.nulls[i]
    }

    /// The numbers at these places, NULL for [`NO_ROW`].
    pub(super) fn gather(&self, places: &[u32]) -> Numbers {
        let missing = places.contains(&NO_ROW);
        let null = |place: &u32| *place == NO_ROW || self.is_null(*place as usize);
        let nulls = match missing || !self.nulls.is_empty() {
            true => places.iter().map(null).collect(),
            false => Vec::new(),
        };
        let values = match &self.values {
            Values::One(value) => Values::One(*value),
            Values::Small(values) => Values::Small(gathered(values, places, missing)),
            Values::Wide(values) => Values::Wide(gathered(values, places, missing)),
        };
        // The number that stands for NULL lies in the bounds, too.
        let (low, high) =
            if missing { (self.low.min(0), self.high.max(0)) } else { (self.low, self.high) };
        Numbers { values, nulls, low, high }
    }

    /// How many rows there are; none in a vector of one number for all.
    pub(super) fn rows(&self) -> usize {
        match &self.values {
            Values::One(_) => 0,
            Values::Small(values) => values.len(),
            Values::Wide(values) => values.len(),
        }
    }

    /// Whether all numbers lie in the range; looks at each where the bounds do not show it.
    pub(super) fn fits(&self, low: i128, high: i128) -> bool {
        let inside = |value: i128| low <= value && value <= high;
        if inside(self.low) && inside(self.high) {
            return true;
        }
        match &self.values {
            Values::One(value) => inside(*value),
            Values::Small(values) => values.iter().all(|&value| inside(value.into())),
            Values::Wide(values) => values.iter().all(|&value| inside(value)),
        }
    }

    /// The vector with so many more digits after the point.
    pub(super) fn scaled(&self, digits: u8) -> Option<Cow<'_, Numbers>> {
        match digits {
            0 => Some(Cow::Borrowed(self)),
            _ => {
                let factor = Numbers::one(10i128.checked_pow(digits.into())?);
                arith(ArithOp::Mul, self, &factor).map(Cow::Owned)
            }
        }
    }
}

fn gathered<T: Copy + Default>(values: &[T], places: &[u32], missing: bool) -> Vec<T> {
    match missing {
        false => places.iter().map(|&place| values[place as usize]).collect(),
        true => {
            let value = |place: &u32| values.get(*place as usize).copied().unwrap_or_default();
            places.iter().map(value).collect()
        }
    }
}

fn is_small(value: i128) -> bool {
    i64::try_from(value).is_ok()
}

/// `left op right` for each row; `None` where 128 bits may be too few.
pub(super) fn arith(op: ArithOp, left: &Numbers, right: &Numbers) -> Option<Numbers> {
    let (low, high) = bounds(op, left, right)?;
    if let (Values::One(_), Values::One(_)) = (&left.values, &right.values) {
        debug_assert_eq!(low, high, "two constants have one result");
        return Some(Numbers::one(low));
    }
    let nulls = either(&left.nulls, &right.nulls);
    let values = match (is_small(low) && is_small(high), op) {
        (true, ArithOp::Add) => Values::Small(zip_small(left, right, i64::wrapping_add)),
        (true, ArithOp::Sub) => Values::Small(zip_small(left, right, i64::wrapping_sub)),
        (true, _) => Values::Small(zip_small(left, right, i64::wrapping_mul)),
        (false, ArithOp::Add) => Values::Wide(zip_wide(left, right, i128::wrapping_add)),
        (false, ArithOp::Sub) => Values::Wide(zip_wide(left, right, i128::wrapping_sub)),
        (false, _) => Values::Wide(zip_wide(left, right, i128::wrapping_mul)),
    };
    Some(Numbers { values, nulls, low, high })
}

/// Bounds of the results; `None` beyond 128 bits.
fn bounds(op: ArithOp, left: &Numbers, right: &Numbers) -> Option<(i128, i128)> {
    match op {
        ArithOp::Add => {
            Some((left.low.checked_add(right.low)?, left.high.checked_add(right.high)?))
        }
        ArithOp::Sub => {
            Some((left.low.checked_sub(right.high)?, left.high.checked_sub(right.low)?))
        }
        ArithOp::Mul => {
            let corners = [
                left.low.checked_mul(right.low)?,
                left.low.checked_mul(right.high)?,
                left.high.checked_mul(right.low)?,
                left.high.checked_mul(right.high)?,
            ];
            Some((*corners.iter().min()?, *corners.iter().max()?))
        }
        ArithOp::Div | ArithOp::IntDiv | ArithOp::Mod => None,
    }
}

fn either(left: &[bool], right: &[bool]) -> Vec<bool> {
    match (left.is_empty(), right.is_empty()) {
        (true, _) => right.to_vec(),
        (_, true) => left.to_vec(),
        _ => left.iter().zip(right).map(|(l, r)| l | r).collect(),
    }
}

/// Results that fit 64 bits. Modulo 2^64 they follow from the operands' lowest 64 bits.
#[inline]
fn zip_small(left: &Numbers, right: &Numbers, op: impl Fn(i64, i64) -> i64) -> Vec<i64> {
    use Values as V;
    match (&left.values, &right.values) {
        (V::Small(l), V::Small(r)) => l.iter().zip(r).map(|(&l, &r)| op(l, r)).collect(),
        (V::Small(l), V::One(r)) => l.iter().map(|&l| op(l, *r as i64)).collect(),
        (V::One(l), V::Small(r)) => r.iter().map(|&r| op(*l as i64, r)).collect(),
        _ => (0..len(left, right)).map(|i| op(left.get(i) as i64, right.get(i) as i64)).collect(),
    }
}

#[inline]
fn zip_wide(left: &Numbers, right: &Numbers, op: impl Fn(i128, i128) -> i128) -> Vec<i128> {
    (0..len(left, right)).map(|i| op(left.get(i), right.get(i))).collect()
}

/// Rows of two vectors, of which one at most is a constant.
fn len(left: &Numbers, right: &Numbers) -> usize {
    left.rows().max(right.rows())
}

/// What `of` makes of whether `left op right` holds, for each of `rows` rows; NULLs are not looked
/// at.
pub(super) fn compare<T: Copy>(
    op: CmpOp,
    left: &Numbers,
    right: &Numbers,
    rows: usize,
    of: impl Fn(bool) -> T,
) -> Vec<T> {
    use Values as V;
    match (&left.values, &right.values) {
        (V::Small(l), V::One(r)) if is_small(*r) => {
            let r = *r as i64;
            // Each operator has a loop of its own, without a choice for each row.
            match op {
                CmpOp::Eq => l.iter().map(|l| of(*l == r)).collect(),
                CmpOp::Lt => l.iter().map(|l| of(*l < r)).collect(),
                CmpOp::Le => l.iter().map(|l| of(*l <= r)).collect(),
                CmpOp::Gt => l.iter().map(|l| of(*l > r)).collect(),
                CmpOp::Ge => l.iter().map(|l| of(*l >= r)).collect(),
                _ => l.iter().map(|l| of(op.holds(l.cmp(&r)))).collect(),
            }
        }
        (V::Small(l), V::Small(r)) => {
            let pairs = l.iter().zip(r);
            match op {
                CmpOp::Eq => pairs.map(|(l, r)| of(l == r)).collect(),
                CmpOp::Lt => pairs.map(|(l, r)| of(l < r)).collect(),
                CmpOp::Gt => pairs.map(|(l, r)| of(l > r)).collect(),
                _ => pairs.map(|(l, r)| of(op.holds(l.cmp(r)))).collect(),
            }
        }
        _ => (0..rows).map(|i| of(op.holds(left.get(i).cmp(&right.get(i))))).collect(),
    }
}
