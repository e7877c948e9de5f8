//! 8-bit character sets: which character each byte is, its other case, and what it weighs.
//!
//! A stored set is a sequence of tables, each a LEB128 length and runs as in `weights.rs` over the
//! 256 bytes in place of code points: the characters (0 where a byte is none), upper case, lower
//! case, and the weights of each collation but the binary one, in the order of their numbers. A
//! byte weighs one byte, or two where it sorts as two letters (ä as ae in `latin1_german2_ci`).

use super::weights::{Reader, Weights};

/// An 8-bit set.
pub(super) struct ByteSet {
    /// The character of each byte; 0 where there is none.
    pub(super) chars: [u16; 256],
    /// Byte of each character: pages of 256 by the character's high byte, page 0 of none.
    page_of: [u8; 256],
    pages: Vec<[u8; 256]>,
    upper: [u8; 256],
    lower: [u8; 256],
    /// Whether ASCII letters have their usual counterparts.
    pub(super) is_usual_in_ascii: bool,
    /// Per collation, the weights of each byte.
    weights: Vec<Vec<Vec<u16>>>,
}

impl ByteSet {
    pub(super) fn expand(stored: &[u8]) -> ByteSet {
        let mut reader = Reader::new(stored);
        let mut table = || {
            let size = reader.number() as usize;
            (size > 0).then(|| {
                let numbers = Weights::expand(reader.take(size));
                (0..256).map(|index| numbers.of(index).as_slice().to_vec()).collect()
            })
        };
        let mut bytes = |otherwise: fn(u16) -> u16| -> [u16; 256] {
            let lists: Vec<Vec<u16>> = table().unwrap_or_default();
            std::array::from_fn(|byte| {
                let own = lists.get(byte).and_then(|list| list.first()).copied();
                own.unwrap_or(otherwise(byte as u16))
            })
        };
        let chars = bytes(|_| 0);
        let upper = bytes(|byte| byte).map(|byte| byte as u8);
        let lower = bytes(|byte| byte).map(|byte| byte as u8);
        let weights = std::iter::from_fn(table).collect();
        let (mut page_of, mut pages) = ([0; 256], vec![[0; 256]]);
        // Of two bytes for one character the lower counts.
        for (byte, &char) in chars.iter().enumerate().rev() {
            let page = &mut page_of[usize::from(char >> 8)];
            if *page == 0 {
                *page = pages.len() as u8;
                pages.push([0; 256]);
            }
            pages[usize::from(*page)][usize::from(char & 0xFF)] = byte as u8;
        }
        pages[usize::from(page_of[0])][0] = 0;
        let is_usual_in_ascii = (0..0x80u8).all(|byte| {
            let (upper, lower) = (upper[usize::from(byte)], lower[usize::from(byte)]);
            upper == byte.to_ascii_uppercase() && lower == byte.to_ascii_lowercase()
        });
        ByteSet { chars, page_of, pages, upper, lower, is_usual_in_ascii, weights }
    }

    /// The byte of a character.
    #[inline]
    pub(super) fn byte(&self, char: char) -> Option<u8> {
        let code = u16::try_from(u32::from(char)).ok()?;
        let page = usize::from(self.page_of[usize::from(code >> 8)]);
        let byte = self.pages[page][usize::from(code & 0xFF)];
        (self.chars[usize::from(byte)] == code).then_some(byte)
    }

    /// The character of a byte.
    #[inline]
    pub(super) fn char(&self, byte: u8) -> Option<char> {
        match self.chars[usize::from(byte)] {
            0 if byte != 0 => None,
            code => char::from_u32(code.into()),
        }
    }

    /// The character's counterpart by a table of bytes.
    fn mapped(&self, char: char, table: &[u8; 256]) -> char {
        let byte = self.byte(char);
        byte.and_then(|byte| self.char(table[usize::from(byte)])).unwrap_or(char)
    }

    /// The upper-case counterpart.
    pub(super) fn upper(&self, char: char) -> char {
        self.mapped(char, &self.upper)
    }

    /// The lower-case counterpart.
    pub(super) fn lower(&self, char: char) -> char {
        self.mapped(char, &self.lower)
    }

    /// The weights of its characters in the collation at a place of the stored ones, or by the
    /// bytes themselves.
    pub(super) fn weights(&self, collation: Option<usize>) -> Weights {
        let own = |byte: u8| match collation {
            Some(index) => self.weights[index][usize::from(byte)].clone(),
            None => vec![byte.into()],
        };
        // Of two bytes for one character the lower counts.
        let chars = (0..=255).rev().filter_map(|byte| Some((self.char(byte)?, own(byte))));
        Weights::of_chars(chars, &own(b'?'))
    }
}
