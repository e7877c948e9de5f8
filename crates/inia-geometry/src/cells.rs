//! Keys of spatial indexes: boxes along a curve that fills the plane.
//!
//! A box becomes the class of its size and the place of its lower left corner on the Z-order curve
//! of a grid of 2^32 × 2^32 cells. Class 0 has boxes within a cell; class c those of fewer than
//! 4^c cells on their longer side. What meets a window has its corner in the window, or as far to
//! the left of it or below it as the class allows: some ranges of the curve for each class.
//!
//! ```text
//! entry   class (u8), Z-order of the corner (u64, big endian), primary key
//! ```
//!
//! Longitudes and latitudes are spread evenly over the grid. Coordinates of planes, which have no
//! limits, have the leading bits of their numbers in an order that compares as the numbers do.

use crate::shape::Bounds;

/// Bytes of a key.
pub const KEY_BYTES: usize = 9;
/// The class of what is nowhere: it meets no window.
const NOWHERE: u8 = 255;
/// The classes of boxes.
const CLASSES: u8 = 17;
/// Ranges that the window is covered with in the class of points, and in others.
const POINT_RANGES: usize = 40;
const BOX_RANGES: usize = 8;

/// How coordinates become cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grid {
    /// Longitudes up to 180 and latitudes up to 90.
    Degrees,
    /// Any numbers.
    Numbers,
}

impl Grid {
    /// The grid of the values of a column with this SRID attribute.
    pub fn of(srid: Option<u32>) -> Grid {
        match srid {
            Some(srid) if crate::srs::is_geographic(srid) => Grid::Degrees,
            _ => Grid::Numbers,
        }
    }

    fn x(self, x: f64) -> u32 {
        match self {
            Grid::Degrees => even(x, 180.0),
            Grid::Numbers => leading(x),
        }
    }

    fn y(self, y: f64) -> u32 {
        match self {
            Grid::Degrees => even(y, 90.0),
            Grid::Numbers => leading(y),
        }
    }

    fn cells(self, bounds: &Bounds) -> Cells {
        Cells {
            low: (self.x(bounds.min.x), self.y(bounds.min.y)),
            high: (self.x(bounds.max.x), self.y(bounds.max.y)),
        }
    }

    /// The key of a box; of nothing where there is none.
    pub fn key(self, bounds: Option<&Bounds>) -> [u8; KEY_BYTES] {
        let mut key = [0; KEY_BYTES];
        let Some(bounds) = bounds else {
            key[0] = NOWHERE;
            return key;
        };
        let Cells { low, high } = self.cells(bounds);
        let longer = (high.0 - low.0).max(high.1 - low.1);
        key[0] = ((u32::BITS - longer.leading_zeros()).div_ceil(2)) as u8;
        key[1..].copy_from_slice(&interleave(low).to_be_bytes());
        key
    }

    /// Ranges of keys, ends included, that hold those of all boxes that meet the window.
    pub fn ranges(self, window: &Bounds) -> Vec<([u8; KEY_BYTES], [u8; KEY_BYTES])> {
        let cells = self.cells(window);
        let mut found = Vec::new();
        for class in 0..CLASSES {
            let reach = match class {
                0 => 0,
                _ => ((1u64 << (2 * class)) - 1).min(u64::from(u32::MAX)) as u32,
            };
            let low = (cells.low.0.saturating_sub(reach), cells.low.1.saturating_sub(reach));
            let budget = if class == 0 { POINT_RANGES } else { BOX_RANGES };
            for (from, to) in cover(&Cells { low, ..cells }, budget) {
                let key = |place: u64| {
                    let mut key = [class; KEY_BYTES];
                    key[1..].copy_from_slice(&place.to_be_bytes());
                    key
                };
                found.push((key(from), key(to)));
            }
        }
        found
    }
}

/// A rectangle of cells, ends included.
#[derive(Clone, Copy, Debug)]
struct Cells {
    low: (u32, u32),
    high: (u32, u32),
}

/// The cell of a coordinate between -limit and limit.
fn even(value: f64, limit: f64) -> u32 {
    let share = (value + limit) / (2.0 * limit);
    // Values beyond the limits are in the outer cells.
    (share * 4_294_967_296.0).clamp(0.0, f64::from(u32::MAX)) as u32
}

/// The leading bits of a number, ordered as the numbers are.
fn leading(value: f64) -> u32 {
    let bits = if value == 0.0 { 0 } else { value.to_bits() };
    let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    (ordered >> 32) as u32
}

/// The place of a cell on the Z-order curve.
fn interleave((x, y): (u32, u32)) -> u64 {
    fn spread(word: u32) -> u64 {
        let mut word = u64::from(word);
        word = (word | word << 16) & 0x0000_FFFF_0000_FFFF;
        word = (word | word << 8) & 0x00FF_00FF_00FF_00FF;
        word = (word | word << 4) & 0x0F0F_0F0F_0F0F_0F0F;
        word = (word | word << 2) & 0x3333_3333_3333_3333;
        (word | word << 1) & 0x5555_5555_5555_5555
    }
    spread(x) << 1 | spread(y)
}

/// The quarters of a square that meet the rectangle.
fn quarters(
    (x, y, level): (u32, u32, u32),
    cells: &Cells,
) -> impl Iterator<Item = (u32, u32, u32)> {
    let half = 1u64 << (level - 1);
    let corners = [(0, 0), (0, half), (half, 0), (half, half)]
        .map(|(dx, dy)| ((u64::from(x) + dx) as u32, (u64::from(y) + dy) as u32, level - 1));
    corners.into_iter().filter(move |(x, y, _)| {
        let end = |start: u32| (u64::from(start) + half - 1) as u32;
        *x <= cells.high.0 && *y <= cells.high.1 && cells.low.0 <= end(*x) && cells.low.1 <= end(*y)
    })
}

/// Ranges of the curve, at most `budget`, that cover a rectangle: squares that are in it, and when
/// the budget is used up, those that meet it.
fn cover(cells: &Cells, budget: usize) -> Vec<(u64, u64)> {
    // A square: its lower left cell and the logarithm of its size.
    let mut open = vec![(0u32, 0u32, 32u32)];
    let mut closed: Vec<(u64, u64)> = Vec::new();
    let range = |(x, y, level): (u32, u32, u32)| {
        let from = interleave((x, y));
        let size = 1u128 << (2 * level);
        (from, (u128::from(from) + size - 1) as u64)
    };
    while !open.is_empty() {
        let inside = |&(x, y, level): &(u32, u32, u32)| {
            let last = |start: u32| (u64::from(start) + (1u64 << level) - 1) as u32;
            let within = cells.low.0 <= x
                && cells.low.1 <= y
                && last(x) <= cells.high.0
                && last(y) <= cells.high.1;
            within || level == 0
        };
        let (whole, partial): (Vec<_>, Vec<_>) = open.into_iter().partition(inside);
        closed.extend(whole.into_iter().map(range));
        let next: Vec<_> = partial.iter().flat_map(|square| quarters(*square, cells)).collect();
        if closed.len() + next.len() > budget {
            closed.extend(partial.into_iter().map(range));
            break;
        }
        open = next;
    }
    closed.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::with_capacity(closed.len());
    for (from, to) in closed {
        match merged.last_mut() {
            Some(last) if last.1 != u64::MAX && last.1 + 1 >= from => last.1 = last.1.max(to),
            _ => merged.push((from, to)),
        }
    }
    merged
}

#[cfg(test)]
mod tests;
