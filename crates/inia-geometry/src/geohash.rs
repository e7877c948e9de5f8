//! Geohashes: longitude and latitude in turns halved, five bits to a letter.

use crate::shape::Coord;

const LETTERS: &[u8; 32] = b"0123456789bcdefghjkmnpqrstuvwxyz";

/// The hash of a place, of `length` letters at most: it ends where it names the place exactly.
pub fn encode(at: Coord, length: usize) -> String {
    let (mut x, mut y) = ((-180.0, 180.0), (-90.0, 90.0));
    let (mut hash, mut east) = (String::new(), true);
    for _ in 0..length {
        let mut letter = 0;
        for _ in 0..5 {
            let (range, value) = if east { (&mut x, at.x) } else { (&mut y, at.y) };
            let middle: f64 = (range.0 + range.1) / 2.0;
            let upper = value >= middle;
            if upper {
                range.0 = middle
            } else {
                range.1 = middle
            }
            letter = letter << 1 | usize::from(upper);
            east = !east;
        }
        hash.push(char::from(LETTERS[letter]));
        // Doubles have no numbers left in between.
        let done = |range: (f64, f64)| {
            let middle = (range.0 + range.1) / 2.0;
            middle == range.0 || middle == range.1
        };
        if done(x) && done(y) {
            break;
        }
    }
    hash
}

/// The box of a hash: its lower and its upper corner; `None` for what is no hash.
pub fn decode(hash: &str) -> Option<(Coord, Coord)> {
    let (mut x, mut y) = ((-180.0, 180.0), (-90.0, 90.0));
    let mut east = true;
    for letter in hash.bytes() {
        let bits = LETTERS.iter().position(|known| *known == letter.to_ascii_lowercase())?;
        for bit in (0..5).rev() {
            let range = if east { &mut x } else { &mut y };
            let middle: f64 = (range.0 + range.1) / 2.0;
            if bits >> bit & 1 == 1 {
                range.0 = middle
            } else {
                range.1 = middle
            }
            east = !east;
        }
    }
    let found = (Coord { x: x.0, y: y.0 }, Coord { x: x.1, y: y.1 });
    (!hash.is_empty()).then_some(found)
}

/// The number in a range that has the fewest digits: what a hash of a round number stands for.
pub fn shortest(low: f64, high: f64) -> f64 {
    let middle = (low + high) / 2.0;
    let range = high - low;
    if range <= 0.0 {
        return middle;
    }
    for digits in 0..17 {
        let unit = 10f64.powi(digits);
        let rounded = (middle * unit).round_ties_even() / unit;
        if (low..=high).contains(&rounded) {
            return rounded;
        }
    }
    middle
}
