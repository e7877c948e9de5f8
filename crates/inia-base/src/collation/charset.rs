//! Character sets: names, validity, and conversion from and to UTF-8.

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

/// The stored tables of latin1: 256 characters (little-endian), then 256 bytes each of the weights
/// of `latin1_swedish_ci`, `latin1_general_ci`, `latin1_general_cs`, upper case, lower case.
const LATIN1: &[u8; 1792] = include_bytes!("data/latin1.bin");

/// The character of each latin1 byte.
pub(super) static LATIN1_CHARS: [u16; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        table[i] = u16::from_le_bytes([LATIN1[2 * i], LATIN1[2 * i + 1]]);
        i += 1;
    }
    table
};

/// One of latin1's byte tables, by its place in the file.
pub(super) fn latin1_table(index: usize) -> &'static [u8] {
    let start = 512 + 256 * index;
    &LATIN1[start..start + 256]
}

/// The latin1 byte of a character.
pub(super) fn to_latin1(char: char) -> Option<u8> {
    let code = u32::from(char);
    let direct = usize::try_from(code).ok().and_then(|code| LATIN1_CHARS.get(code));
    if direct.is_some_and(|&own| u32::from(own) == code) {
        return Some(code as u8);
    }
    let block = LATIN1_CHARS[0x80..0xA0].iter().position(|&own| u32::from(own) == code)?;
    Some(0x80 + block as u8)
}

impl Charset {
    /// Every character set.
    pub const ALL: [Charset; 5] =
        [Charset::Ascii, Charset::Binary, Charset::Latin1, Charset::Utf8mb3, Charset::Utf8mb4];

    /// The name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Charset::Utf8mb4 => "utf8mb4",
            Charset::Utf8mb3 => "utf8mb3",
            Charset::Latin1 => "latin1",
            Charset::Ascii => "ascii",
            Charset::Binary => "binary",
        }
    }

    /// The description in SHOW CHARACTER SET.
    pub fn description(self) -> &'static str {
        match self {
            Charset::Utf8mb4 | Charset::Utf8mb3 => "UTF-8 Unicode",
            Charset::Latin1 => "cp1252 West European",
            Charset::Ascii => "US ASCII",
            Charset::Binary => "Binary pseudo charset",
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
        match self {
            Charset::Utf8mb4 => 4,
            Charset::Utf8mb3 => 3,
            Charset::Latin1 | Charset::Ascii | Charset::Binary => 1,
        }
    }

    /// Whether the set has this character.
    pub fn has(self, char: char) -> bool {
        match self {
            Charset::Utf8mb4 | Charset::Binary => true,
            Charset::Utf8mb3 => u32::from(char) < 0x1_0000,
            Charset::Latin1 => to_latin1(char).is_some(),
            Charset::Ascii => char.is_ascii(),
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
        match self {
            Charset::Latin1 => text.chars().map(|char| to_latin1(char).unwrap_or(b'?')).collect(),
            Charset::Utf8mb3 | Charset::Ascii | Charset::Utf8mb4 | Charset::Binary => {
                match self.replace_missing(text) {
                    Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                    Cow::Owned(text) => Cow::Owned(text.into_bytes()),
                }
            }
        }
    }

    /// Reads bytes of this set as UTF-8; the error is the position of the first bad byte. Binary
    /// bytes are read as if they were utf8mb4.
    pub fn decode(self, bytes: &[u8]) -> Result<Cow<'_, str>, usize> {
        if self == Charset::Latin1 && !bytes.is_ascii() {
            let chars = bytes.iter().map(|&byte| LATIN1_CHARS[usize::from(byte)]);
            let text = chars.map(|code| char::from_u32(code.into()).unwrap_or('?'));
            return Ok(Cow::Owned(text.collect()));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| error.valid_up_to())?;
        match self.first_missing(text) {
            Some(at) => Err(at),
            None => Ok(Cow::Borrowed(text)),
        }
    }
}
