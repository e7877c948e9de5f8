//! Tailorings: what a language changes in the table of its Unicode version.
//!
//! A stored tailoring is the number of its levels, for each level what changes, and the
//! contractions. All numbers are LEB128 varints.
//!
//! ```text
//! level         number of ranges, ranges, number of bytes, runs as in `weights.rs`
//! range         distance from the last range's end to its first weight, how many more weights,
//!               zigzag distance that they move, weight written before each (0: none)
//! contractions  their number; each: number of characters, the characters, and for each level
//!               the number of weights and the weights
//! ```
//!
//! Ranges move whole scripts: `hr` sorts Cyrillic behind Greek, `zh` Latin behind Han. Runs then
//! give single characters their own weights; operation 10 keeps what the base table and the ranges
//! say.
//!
//! A contraction is a sequence of characters that weighs other than each of them does, as `ch` in
//! Czech, which is one letter between h and i. At each character the longest contraction is taken:
//!
//! ```text
//! czech   c h u d   →  [ch] u d       c h  <  i  but  c i  <  c h
//! hu      d d z s   →  [ddzs]         weighs as dzs twice
//! ja      カ ー     →  [カー]         the mark that lengthens weighs as the vowel before it
//! ```

use super::weighted::next_char;
use super::weights::{Reader, Weights};

/// The most levels a collation has.
const MAX_LEVELS: usize = 4;

/// A range of weights that a tailoring moves.
#[derive(Clone, Copy)]
pub(super) struct Moved {
    pub(super) first: u16,
    pub(super) last: u16,
    pub(super) distance: u16,
    /// The weight written before each; 0 is none.
    pub(super) before: u16,
}

/// A sequence of characters with weights of its own.
struct Contraction {
    chars: Vec<u32>,
    /// The weights at each level.
    weights: [Vec<u16>; MAX_LEVELS],
}

/// The contractions of a collation: by first character, the longest first.
pub(super) struct Contractions {
    sorted: Vec<Contraction>,
    /// Every character that a contraction has, ascending.
    chars: Vec<u32>,
}

/// A tailored table.
pub(super) struct Tailored {
    pub(super) levels: Vec<Weights>,
    pub(super) contractions: Option<Contractions>,
}

/// Expands a stored tailoring, of which at most as many levels are taken as there are base tables.
/// A level without a base table has no weights but those of the tailoring.
pub(super) fn expand(base: &[&[u8]], stored: &[u8]) -> Tailored {
    let mut reader = Reader::new(stored);
    let stored_levels = reader.number();
    let mut levels = Vec::new();
    for index in 0..stored_levels as usize {
        let ranges = ranges(&mut reader);
        let size = reader.number() as usize;
        let runs = reader.take(size);
        if let Some(base) = base.get(index) {
            levels.push(Weights::expand(base).tailored(ranges, runs));
        }
    }
    let contractions = contractions(&mut reader, stored_levels as usize);
    Tailored { levels, contractions }
}

fn ranges(reader: &mut Reader<'_>) -> Vec<Moved> {
    let mut end = 0;
    (0..reader.number())
        .map(|_| {
            let first = end + reader.number() as u16;
            end = first + reader.number() as u16;
            let distance = reader.difference() as u16;
            Moved { first, last: end, distance, before: reader.number() as u16 }
        })
        .collect()
}

fn contractions(reader: &mut Reader<'_>, levels: usize) -> Option<Contractions> {
    let list = |reader: &mut Reader<'_>| -> Vec<u32> {
        (0..reader.number()).map(|_| reader.number()).collect()
    };
    let mut sorted: Vec<Contraction> = (0..reader.number())
        .map(|_| {
            let chars = list(reader);
            let mut weights: [Vec<u16>; MAX_LEVELS] = Default::default();
            for of_level in weights.iter_mut().take(levels) {
                *of_level = list(reader).into_iter().map(|weight| weight as u16).collect();
            }
            Contraction { chars, weights }
        })
        .collect();
    if sorted.is_empty() {
        return None;
    }
    sorted.sort_by_key(|own| (own.chars[0], usize::MAX - own.chars.len()));
    let mut chars: Vec<u32> = sorted.iter().flat_map(|own| own.chars.iter().copied()).collect();
    chars.sort_unstable();
    chars.dedup();
    Some(Contractions { sorted, chars })
}

impl Contractions {
    /// Whether some contraction has this character.
    pub(super) fn has(&self, char: u32) -> bool {
        self.chars.binary_search(&char).is_ok()
    }

    /// The longest contraction that begins with `first`, whose other characters stand at `at`: its
    /// weights at a level, and the position after it.
    pub(super) fn longest(
        &self,
        first: u32,
        text: &[u8],
        at: usize,
        level: usize,
    ) -> Option<(&[u16], usize)> {
        let from = self.sorted.partition_point(|own| own.chars[0] < first);
        let candidates = self.sorted[from..].iter().take_while(|own| own.chars[0] == first);
        for own in candidates {
            let mut end = at;
            let mut rest = own.chars[1..].iter();
            if rest.all(|&char| end < text.len() && next_char(text, &mut end) == char) {
                return Some((&own.weights[level], end));
            }
        }
        None
    }
}
