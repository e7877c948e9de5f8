//! Character sets: names, validity, and conversion from and to UTF-8.

use super::Collation;
use super::bytes::ByteSet;
use super::tables;
use std::borrow::Cow;

/// The character sets that Inia knows. Strings are UTF-8 in memory whatever set a column declares;
/// the set limits which characters may be stored and which bytes clients send and get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Charset {
    /// All of Unicode.
    Utf8mb4,
    /// Unicode's first plane (`utf8` in older dumps).
    Utf8mb3,
    /// Windows-1252, which MySQL calls latin1.
    Latin1,
    /// 7-bit ASCII.
    Ascii,
    /// Bytes without characters.
    Binary,
}

impl Charset {
    /// Every character set.
    pub const ALL: [Charset; 5] =
        [Charset::Ascii, Charset::Binary, Charset::Latin1, Charset::Utf8mb3, Charset::Utf8mb4];

    fn info(self) -> Info {
        match self {
            Charset::Ascii => info("ascii", "US ASCII", 1, 11, 65),
            Charset::Binary => info("binary", "Binary pseudo charset", 1, 63, 63),
            Charset::Latin1 => info("latin1", "cp1252 West European", 1, 8, 47),
            Charset::Utf8mb3 => info("utf8mb3", "UTF-8 Unicode", 3, 33, 83),
            Charset::Utf8mb4 => info("utf8mb4", "UTF-8 Unicode", 4, 255, 46),
        }
    }

    /// The name in SQL.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The description in SHOW CHARACTER SET.
    pub fn description(self) -> &'static str {
        self.info().description
    }

    /// The collation a column gets that names only the character set.
    pub fn default_collation(self) -> Collation {
        Collation(self.info().default)
    }

    /// The `…_bin` collation.
    pub(super) fn binary_collation(self) -> Collation {
        Collation(self.info().binary)
    }

    /// The tables of a set of single bytes.
    fn bytes(self) -> Option<&'static ByteSet> {
        match self {
            Charset::Latin1 => Some(&tables::LATIN1_SET),
            Charset::Ascii | Charset::Binary | Charset::Utf8mb3 | Charset::Utf8mb4 => None,
        }
    }

    /// The set of a name in any case; `utf8` is utf8mb3.
    pub fn from_name(name: &str) -> Option<Charset> {
        if name.eq_ignore_ascii_case("utf8") {
            return Some(Charset::Utf8mb3);
        }
        Charset::ALL.into_iter().find(|charset| charset.name().eq_ignore_ascii_case(name))
    }

    /// Bytes of the longest character.
    pub fn max_bytes(self) -> u8 {
        self.info().max_bytes
    }

    /// Whether the set has this character.
    pub fn has(self, char: char) -> bool {
        match self {
            Charset::Utf8mb4 | Charset::Binary => true,
            Charset::Utf8mb3 => u32::from(char) < 0x1_0000,
            Charset::Ascii => char.is_ascii(),
            Charset::Latin1 => self.bytes().is_some_and(|set| set.byte(char).is_some()),
        }
    }

    /// Byte position of the first character that the set does not have.
    pub fn first_missing(self, text: &str) -> Option<usize> {
        if matches!(self, Charset::Utf8mb4 | Charset::Binary) || text.is_ascii() {
            return None;
        }
        text.char_indices().find(|&(_, char)| !self.has(char)).map(|(at, _)| at)
    }

    /// The text with a question mark for each character that the set does not have.
    pub fn replace_missing(self, text: &str) -> Cow<'_, str> {
        if self.first_missing(text).is_none() {
            return Cow::Borrowed(text);
        }
        text.chars().map(|char| if self.has(char) { char } else { '?' }).collect::<String>().into()
    }

    /// The text's bytes in this set, with question marks for what it does not have.
    pub fn encode(self, text: &str) -> Cow<'_, [u8]> {
        if text.is_ascii() || matches!(self, Charset::Utf8mb4 | Charset::Binary) {
            return Cow::Borrowed(text.as_bytes());
        }
        if let Some(set) = self.bytes() {
            return text.chars().map(|char| set.byte(char).unwrap_or(b'?')).collect();
        }
        match self.replace_missing(text) {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        }
    }

    /// Reads bytes of this set as UTF-8; the error is the position of the first bad byte. Binary
    /// bytes are read as if they were utf8mb4.
    pub fn decode(self, bytes: &[u8]) -> Result<Cow<'_, str>, usize> {
        if let Some(set) = self.bytes()
            && !bytes.is_ascii()
        {
            let char = |(at, &byte): (usize, &u8)| set.char(byte).ok_or(at);
            return bytes.iter().enumerate().map(char).collect::<Result<_, _>>().map(Cow::Owned);
        }
        let text = std::str::from_utf8(bytes).map_err(|error| error.valid_up_to())?;
        match self.first_missing(text) {
            Some(at) => Err(at),
            None => Ok(Cow::Borrowed(text)),
        }
    }
}

/// What SHOW CHARACTER SET says of a set, and its default and binary collation.
struct Info {
    name: &'static str,
    description: &'static str,
    max_bytes: u8,
    default: u16,
    binary: u16,
}

const fn info(
    name: &'static str,
    description: &'static str,
    max_bytes: u8,
    default: u16,
    binary: u16,
) -> Info {
    Info { name, description, max_bytes, default, binary }
}
