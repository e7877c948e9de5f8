//! Character sets: names, validity, and conversion from and to UTF-8.

use super::Collation;
use super::bytes::ByteSet;
use super::code_set::CodeSet;
use super::tables;
use super::wide::Wide;
use std::borrow::Cow;
use std::sync::LazyLock;

/// The character sets. Strings are UTF-8 in memory whatever set a column declares; the set limits
/// which characters may be stored and which bytes clients send and get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Charset {
    /// ARMSCII-8 Armenian.
    Armscii8,
    /// 7-bit ASCII.
    Ascii,
    /// Big5 Traditional Chinese.
    Big5,
    /// Bytes without characters.
    Binary,
    /// Windows Central European.
    Cp1250,
    /// Windows Cyrillic.
    Cp1251,
    /// Windows Arabic.
    Cp1256,
    /// Windows Baltic.
    Cp1257,
    /// DOS West European.
    Cp850,
    /// DOS Central European.
    Cp852,
    /// DOS Russian.
    Cp866,
    /// SJIS for Windows Japanese.
    Cp932,
    /// DEC West European.
    Dec8,
    /// UJIS for Windows Japanese.
    Eucjpms,
    /// EUC-KR Korean.
    Euckr,
    /// China National Standard GB18030.
    Gb18030,
    /// GB2312 Simplified Chinese.
    Gb2312,
    /// GBK Simplified Chinese.
    Gbk,
    /// GEOSTD8 Georgian.
    Geostd8,
    /// ISO 8859-7 Greek.
    Greek,
    /// ISO 8859-8 Hebrew.
    Hebrew,
    /// HP West European.
    Hp8,
    /// DOS Kamenicky Czech-Slovak.
    Keybcs2,
    /// KOI8-R Relcom Russian.
    Koi8r,
    /// KOI8-U Ukrainian.
    Koi8u,
    /// Windows-1252, which MySQL calls latin1.
    Latin1,
    /// ISO 8859-2 Central European.
    Latin2,
    /// ISO 8859-9 Turkish.
    Latin5,
    /// ISO 8859-13 Baltic.
    Latin7,
    /// Mac Central European.
    Macce,
    /// Mac West European.
    Macroman,
    /// Shift-JIS Japanese.
    Sjis,
    /// 7bit Swedish.
    Swe7,
    /// TIS620 Thai.
    Tis620,
    /// UCS-2 Unicode.
    Ucs2,
    /// EUC-JP Japanese.
    Ujis,
    /// UTF-16 Unicode.
    Utf16,
    /// UTF-16LE Unicode.
    Utf16le,
    /// UTF-32 Unicode.
    Utf32,
    /// Unicode's first plane (`utf8` in older dumps).
    Utf8mb3,
    /// All of Unicode.
    Utf8mb4,
}

/// How the characters of a set become bytes.
#[derive(Clone, Copy)]
enum Kind {
    /// UTF-8 of all characters.
    Utf8,
    /// UTF-8 of the first plane.
    Utf8mb3,
    /// ASCII.
    Ascii,
    /// A byte each.
    Bytes(&'static LazyLock<ByteSet>),
    /// One to four bytes each.
    Codes(&'static LazyLock<CodeSet>),
    /// Numbers of two or four bytes.
    Wide(Wide),
}

impl Charset {
    /// Every character set, in the order of `information_schema.CHARACTER_SETS`.
    pub const ALL: [Charset; 41] = [
        Charset::Big5,
        Charset::Dec8,
        Charset::Cp850,
        Charset::Hp8,
        Charset::Koi8r,
        Charset::Latin1,
        Charset::Latin2,
        Charset::Swe7,
        Charset::Ascii,
        Charset::Ujis,
        Charset::Sjis,
        Charset::Hebrew,
        Charset::Tis620,
        Charset::Euckr,
        Charset::Koi8u,
        Charset::Gb2312,
        Charset::Greek,
        Charset::Cp1250,
        Charset::Gbk,
        Charset::Latin5,
        Charset::Armscii8,
        Charset::Utf8mb3,
        Charset::Ucs2,
        Charset::Cp866,
        Charset::Keybcs2,
        Charset::Macce,
        Charset::Macroman,
        Charset::Cp852,
        Charset::Latin7,
        Charset::Cp1251,
        Charset::Utf16,
        Charset::Utf16le,
        Charset::Cp1256,
        Charset::Cp1257,
        Charset::Utf32,
        Charset::Binary,
        Charset::Geostd8,
        Charset::Cp932,
        Charset::Eucjpms,
        Charset::Gb18030,
        Charset::Utf8mb4,
    ];

    fn info(self) -> Info {
        match self {
            Charset::Armscii8 => info("armscii8", "ARMSCII-8 Armenian", 1, 32, 64),
            Charset::Ascii => info("ascii", "US ASCII", 1, 11, 65),
            Charset::Big5 => info("big5", "Big5 Traditional Chinese", 2, 1, 84),
            Charset::Binary => info("binary", "Binary pseudo charset", 1, 63, 63),
            Charset::Cp1250 => info("cp1250", "Windows Central European", 1, 26, 66),
            Charset::Cp1251 => info("cp1251", "Windows Cyrillic", 1, 51, 50),
            Charset::Cp1256 => info("cp1256", "Windows Arabic", 1, 57, 67),
            Charset::Cp1257 => info("cp1257", "Windows Baltic", 1, 59, 58),
            Charset::Cp850 => info("cp850", "DOS West European", 1, 4, 80),
            Charset::Cp852 => info("cp852", "DOS Central European", 1, 40, 81),
            Charset::Cp866 => info("cp866", "DOS Russian", 1, 36, 68),
            Charset::Cp932 => info("cp932", "SJIS for Windows Japanese", 2, 95, 96),
            Charset::Dec8 => info("dec8", "DEC West European", 1, 3, 69),
            Charset::Eucjpms => info("eucjpms", "UJIS for Windows Japanese", 3, 97, 98),
            Charset::Euckr => info("euckr", "EUC-KR Korean", 2, 19, 85),
            Charset::Gb18030 => info("gb18030", "China National Standard GB18030", 4, 248, 249),
            Charset::Gb2312 => info("gb2312", "GB2312 Simplified Chinese", 2, 24, 86),
            Charset::Gbk => info("gbk", "GBK Simplified Chinese", 2, 28, 87),
            Charset::Geostd8 => info("geostd8", "GEOSTD8 Georgian", 1, 92, 93),
            Charset::Greek => info("greek", "ISO 8859-7 Greek", 1, 25, 70),
            Charset::Hebrew => info("hebrew", "ISO 8859-8 Hebrew", 1, 16, 71),
            Charset::Hp8 => info("hp8", "HP West European", 1, 6, 72),
            Charset::Keybcs2 => info("keybcs2", "DOS Kamenicky Czech-Slovak", 1, 37, 73),
            Charset::Koi8r => info("koi8r", "KOI8-R Relcom Russian", 1, 7, 74),
            Charset::Koi8u => info("koi8u", "KOI8-U Ukrainian", 1, 22, 75),
            Charset::Latin1 => info("latin1", "cp1252 West European", 1, 8, 47),
            Charset::Latin2 => info("latin2", "ISO 8859-2 Central European", 1, 9, 77),
            Charset::Latin5 => info("latin5", "ISO 8859-9 Turkish", 1, 30, 78),
            Charset::Latin7 => info("latin7", "ISO 8859-13 Baltic", 1, 41, 79),
            Charset::Macce => info("macce", "Mac Central European", 1, 38, 43),
            Charset::Macroman => info("macroman", "Mac West European", 1, 39, 53),
            Charset::Sjis => info("sjis", "Shift-JIS Japanese", 2, 13, 88),
            Charset::Swe7 => info("swe7", "7bit Swedish", 1, 10, 82),
            Charset::Tis620 => info("tis620", "TIS620 Thai", 1, 18, 89),
            Charset::Ucs2 => info("ucs2", "UCS-2 Unicode", 2, 35, 90),
            Charset::Ujis => info("ujis", "EUC-JP Japanese", 3, 12, 91),
            Charset::Utf16 => info("utf16", "UTF-16 Unicode", 4, 54, 55),
            Charset::Utf16le => info("utf16le", "UTF-16LE Unicode", 4, 56, 62),
            Charset::Utf32 => info("utf32", "UTF-32 Unicode", 4, 60, 61),
            Charset::Utf8mb3 => info("utf8mb3", "UTF-8 Unicode", 3, 33, 83),
            Charset::Utf8mb4 => info("utf8mb4", "UTF-8 Unicode", 4, 255, 46),
        }
    }

    #[inline]
    fn kind(self) -> Kind {
        match self {
            Charset::Utf8mb4 | Charset::Binary => Kind::Utf8,
            Charset::Utf8mb3 => Kind::Utf8mb3,
            Charset::Ascii => Kind::Ascii,
            Charset::Ucs2 => Kind::Wide(Wide::Ucs2),
            Charset::Utf16 => Kind::Wide(Wide::Utf16),
            Charset::Utf16le => Kind::Wide(Wide::Utf16le),
            Charset::Utf32 => Kind::Wide(Wide::Utf32),
            Charset::Armscii8 => Kind::Bytes(&tables::ARMSCII8_SET),
            Charset::Big5 => Kind::Codes(&tables::BIG5_SET),
            Charset::Cp1250 => Kind::Bytes(&tables::CP1250_SET),
            Charset::Cp1251 => Kind::Bytes(&tables::CP1251_SET),
            Charset::Cp1256 => Kind::Bytes(&tables::CP1256_SET),
            Charset::Cp1257 => Kind::Bytes(&tables::CP1257_SET),
            Charset::Cp850 => Kind::Bytes(&tables::CP850_SET),
            Charset::Cp852 => Kind::Bytes(&tables::CP852_SET),
            Charset::Cp866 => Kind::Bytes(&tables::CP866_SET),
            Charset::Cp932 => Kind::Codes(&tables::CP932_SET),
            Charset::Dec8 => Kind::Bytes(&tables::DEC8_SET),
            Charset::Eucjpms => Kind::Codes(&tables::EUCJPMS_SET),
            Charset::Euckr => Kind::Codes(&tables::EUCKR_SET),
            Charset::Gb18030 => Kind::Codes(&tables::GB18030_SET),
            Charset::Gb2312 => Kind::Codes(&tables::GB2312_SET),
            Charset::Gbk => Kind::Codes(&tables::GBK_SET),
            Charset::Geostd8 => Kind::Bytes(&tables::GEOSTD8_SET),
            Charset::Greek => Kind::Bytes(&tables::GREEK_SET),
            Charset::Hebrew => Kind::Bytes(&tables::HEBREW_SET),
            Charset::Hp8 => Kind::Bytes(&tables::HP8_SET),
            Charset::Keybcs2 => Kind::Bytes(&tables::KEYBCS2_SET),
            Charset::Koi8r => Kind::Bytes(&tables::KOI8R_SET),
            Charset::Koi8u => Kind::Bytes(&tables::KOI8U_SET),
            Charset::Latin1 => Kind::Bytes(&tables::LATIN1_SET),
            Charset::Latin2 => Kind::Bytes(&tables::LATIN2_SET),
            Charset::Latin5 => Kind::Bytes(&tables::LATIN5_SET),
            Charset::Latin7 => Kind::Bytes(&tables::LATIN7_SET),
            Charset::Macce => Kind::Bytes(&tables::MACCE_SET),
            Charset::Macroman => Kind::Bytes(&tables::MACROMAN_SET),
            Charset::Sjis => Kind::Codes(&tables::SJIS_SET),
            Charset::Swe7 => Kind::Bytes(&tables::SWE7_SET),
            Charset::Tis620 => Kind::Bytes(&tables::TIS620_SET),
            Charset::Ujis => Kind::Codes(&tables::UJIS_SET),
        }
    }

    /// Whether text of this set is UTF-8, as it is in memory.
    pub fn is_utf8(self) -> bool {
        matches!(self, Charset::Utf8mb4 | Charset::Utf8mb3)
    }

    /// Whether the set is all of Unicode, or its first plane.
    pub fn is_unicode(self) -> bool {
        self.is_utf8() || self.is_wide()
    }

    /// Whether an ASCII character takes more than one byte, so that no statement can be written in
    /// the set.
    pub fn is_wide(self) -> bool {
        matches!(self.kind(), Kind::Wide(_))
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
        match self.kind() {
            Kind::Utf8 => true,
            Kind::Utf8mb3 => u32::from(char) < 0x1_0000,
            Kind::Ascii => char.is_ascii(),
            Kind::Bytes(set) => set.byte(char).is_some(),
            Kind::Codes(set) => set.code(char).is_some(),
            Kind::Wide(wide) => wide != Wide::Ucs2 || u32::from(char) < 0x1_0000,
        }
    }

    /// Bytes of the shortest character.
    pub fn min_bytes(self) -> u8 {
        match self.kind() {
            Kind::Wide(Wide::Utf32) => 4,
            Kind::Wide(_) => 2,
            _ => 1,
        }
    }

    /// Binary bytes with zeros in front, as many as make them whole units of the set: MySQL reads
    /// a byte as a character of UTF-16 so.
    pub fn whole_units(self, bytes: &[u8]) -> Cow<'_, [u8]> {
        let missing = bytes.len().next_multiple_of(usize::from(self.min_bytes())) - bytes.len();
        match missing {
            0 => Cow::Borrowed(bytes),
            _ => Cow::Owned([&[0; 4][..missing], bytes].concat()),
        }
    }

    /// How many bytes a character takes.
    pub fn bytes_of(self, char: char) -> usize {
        match self.kind() {
            Kind::Utf8 | Kind::Utf8mb3 => char.len_utf8(),
            Kind::Ascii | Kind::Bytes(_) => 1,
            Kind::Codes(_) | Kind::Wide(_) => self.encode(char.encode_utf8(&mut [0; 4])).len(),
        }
    }

    /// Whether text of the set must be converted to be UTF-8.
    pub fn is_recoded(self) -> bool {
        matches!(self.kind(), Kind::Bytes(_) | Kind::Codes(_) | Kind::Wide(_))
    }

    /// Whether the set has ASCII, each character in one byte.
    pub fn has_ascii(self) -> bool {
        !self.is_wide() && self != Charset::Swe7
    }

    /// Reads bytes of this set as UTF-8, with a question mark for each byte that is no character.
    pub fn decode_lossy(self, bytes: &[u8]) -> Cow<'_, str> {
        let mut rest = bytes;
        let mut text = String::new();
        loop {
            match self.decode(rest) {
                Ok(last) if text.is_empty() => return Cow::Owned(last.into_owned()),
                Ok(last) => return Cow::Owned(text + &last),
                Err(at) => {
                    text.push_str(&self.decode(&rest[..at]).unwrap_or_default());
                    text.push('?');
                    rest = &rest[at + 1..];
                }
            }
        }
    }

    /// Whether all of a text's characters are ASCII and the same bytes in this set.
    #[inline]
    fn is_plain(self, text: &[u8]) -> bool {
        text.is_ascii() && !self.is_wide() && self != Charset::Swe7
    }

    /// Byte position of the first character that the set does not have.
    pub fn first_missing(self, text: &str) -> Option<usize> {
        if matches!(self.kind(), Kind::Utf8) || self.is_plain(text.as_bytes()) {
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
        if matches!(self.kind(), Kind::Utf8) || self.is_plain(text.as_bytes()) {
            return Cow::Borrowed(text.as_bytes());
        }
        let mut out = Vec::with_capacity(text.len());
        match self.kind() {
            Kind::Bytes(set) => {
                out.extend(text.chars().map(|char| set.byte(char).unwrap_or(b'?')));
            }
            Kind::Codes(set) => text.chars().for_each(|char| set.encode(char, &mut out)),
            Kind::Wide(wide) => text.chars().for_each(|char| wide.encode(char, &mut out)),
            Kind::Utf8 | Kind::Utf8mb3 | Kind::Ascii => {
                return match self.replace_missing(text) {
                    Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                    Cow::Owned(text) => Cow::Owned(text.into_bytes()),
                };
            }
        }
        Cow::Owned(out)
    }

    /// Reads bytes of this set as UTF-8; the error is the position of the first bad byte. Binary
    /// bytes are read as if they were utf8mb4.
    pub fn decode(self, bytes: &[u8]) -> Result<Cow<'_, str>, usize> {
        let mut at = 0;
        let mut text = String::new();
        match self.kind() {
            Kind::Utf8 | Kind::Utf8mb3 | Kind::Ascii => {}
            _ if self.is_plain(bytes) => {}
            Kind::Bytes(set) => {
                let char = |(at, &byte): (usize, &u8)| set.char(byte).ok_or(at);
                return bytes
                    .iter()
                    .enumerate()
                    .map(char)
                    .collect::<Result<_, _>>()
                    .map(Cow::Owned);
            }
            Kind::Codes(set) => {
                while at < bytes.len() {
                    let (char, size) = set.decode(&bytes[at..]).ok_or(at)?;
                    text.push(char);
                    at += size;
                }
                return Ok(Cow::Owned(text));
            }
            Kind::Wide(wide) => return wide.decode(bytes).map(Cow::Owned),
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
