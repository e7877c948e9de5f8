//! Sort-key codes: weights rewritten so that ASCII text takes one byte a character.
//!
//! Every weight that some ASCII character has gets a code byte of its own, and so does each gap
//! between two such weights; a weight in a gap is written as the gap's code and two bytes for
//! its distance from the gap's start, to base 255 so that no byte is zero. The codes ascend with
//! the weights, so keys compare as the weights do:
//!
//! ```text
//! weights   …  0209 (space)   …   1C47 (a)   …   1C60 (b)  …
//! codes     2  3              4   5          6   7          8      é-less text "ab " → 5 7 3
//! ```
//!
//! Zero occurs nowhere in a key, so it can end one inside a composite key. Code 1 separates levels.
//!
//! Where trailing spaces do not count (PAD SPACE), the end of a text must sort like endless
//! spaces. The space then has three codes: low, middle, high. A space is written low where the
//! next other weight is less than a space and high where it is greater; trailing spaces are
//! dropped and the middle code ends every key.
//!
//! ```text
//! "a\t" → a 9          "a" → a middle         "a b" → a high b middle
//! ```

use super::weights::Weights;

/// The codes of one level.
pub(super) struct Codes {
    /// Code of each ASCII character, or 0 when it has no weight or several.
    pub(super) ascii: [u8; 128],
    /// The weights that have a code, ascending.
    singles: Vec<u16>,
    /// Their codes.
    single_codes: Vec<u8>,
    /// Codes of the gaps: before the first single, between them, after the last (where a second
    /// code follows for what is too far from the start).
    gap_codes: Vec<u8>,
    /// Weight of the space.
    pub(super) space: u16,
}

/// How far the space's low and high codes are from its middle one.
pub(super) const SPACE_STEP: u8 = 1;

/// Distances that two bytes of base 255 can express.
const GAP_REACH: u16 = 255 * 255;

impl Codes {
    pub(super) fn new(weights: &Weights, pad: bool) -> Codes {
        let mut singles: Vec<u16> = (0..128).filter_map(|char| weights.single(char)).collect();
        singles.sort_unstable();
        singles.dedup();
        let space = weights.single(b' '.into()).unwrap_or(0);
        let mut next = 2u8;
        let mut take = |codes: u8| {
            let first = next;
            next = next.checked_add(codes).expect("ASCII weights and their gaps fit 254 codes");
            first
        };
        let mut single_codes = Vec::new();
        let mut gap_codes = Vec::new();
        let mut last: Option<u16> = None;
        for &weight in &singles {
            let adjacent = match last {
                None => weight == 0,
                Some(last) => last + 1 == weight,
            };
            gap_codes.push(if adjacent { 0 } else { take(1) });
            let padded = pad && weight == space;
            single_codes.push(if padded { take(3) + SPACE_STEP } else { take(1) });
            last = Some(weight);
        }
        gap_codes.push(take(2));
        let mut codes = Codes { ascii: [0; 128], singles, single_codes, gap_codes, space };
        for char in 0..128u8 {
            if let Some(weight) = weights.single(char.into())
                && let Ok(index) = codes.singles.binary_search(&weight)
            {
                codes.ascii[usize::from(char)] = codes.single_codes[index];
            }
        }
        codes
    }

    /// Writes the code of a weight.
    #[inline]
    pub(super) fn emit(&self, weight: u16, mut push: impl FnMut(u8)) {
        match self.singles.binary_search(&weight) {
            Ok(index) => push(self.single_codes[index]),
            Err(index) => {
                let start = index.checked_sub(1).map_or(0, |before| self.singles[before] + 1);
                let distance = weight - start;
                let (code, distance) = match distance.checked_sub(GAP_REACH) {
                    None => (self.gap_codes[index], distance),
                    Some(beyond) => (self.gap_codes[index] + 1, beyond),
                };
                push(code);
                push((distance / 255) as u8 + 1);
                push((distance % 255) as u8 + 1);
            }
        }
    }

    /// The space's middle code, which also ends every key where spaces pad.
    pub(super) fn space_code(&self) -> u8 {
        self.ascii[usize::from(b' ')]
    }
}
