//! Collations: how strings compare, hash and turn into sort keys.
//!
//! Texts are UTF-8 whatever character set a column declares. A collation is one of three engines:
//! bytes (`binary`), code points (`…_bin`, by UTF-8 bytes, which order the same), or weights, one
//! to three levels of them, taken from tables ([`weights`] describes their form and source).
//!
//! ASCII is the fast path throughout: comparing looks at weights only where bytes differ and
//! then by one table of code bytes; a sort key of ASCII text has one byte a character ([`codes`]).
//! No collation here has contractions, so characters weigh the same wherever they stand.

mod casing;
mod charset;
mod codes;
mod like;
#[cfg(test)]
mod tests;
mod weighted;
mod weights;

use casing::Casing;
pub use charset::Charset;
use std::cmp::Ordering;
use std::fmt;
use std::sync::LazyLock;
use weighted::Weighted;
use weights::Weights;

/// A collation, by MySQL's collation number (255 = utf8mb4_0900_ai_ci).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Collation(pub u16);

/// One line of SHOW COLLATION.
struct Entry {
    id: u16,
    name: &'static str,
    charset: Charset,
    sort_len: u32,
    pad: bool,
    casing: Casing,
}

const fn entry(
    id: u16,
    name: &'static str,
    charset: Charset,
    sort_len: u32,
    pad: bool,
    casing: Casing,
) -> Entry {
    Entry { id, name, charset, sort_len, pad, casing }
}

use Casing::{Unicode300, Unicode520, Unicode900};
use Charset::{Ascii, Binary, Latin1, Utf8mb3, Utf8mb4};

/// The collations, by number.
static ENTRIES: [Entry; 18] = [
    entry(8, "latin1_swedish_ci", Latin1, 1, true, Casing::Latin1),
    entry(11, "ascii_general_ci", Ascii, 1, true, Casing::Ascii),
    entry(33, "utf8mb3_general_ci", Utf8mb3, 1, true, Unicode300),
    entry(45, "utf8mb4_general_ci", Utf8mb4, 1, true, Unicode300),
    entry(46, "utf8mb4_bin", Utf8mb4, 1, true, Unicode300),
    entry(47, "latin1_bin", Latin1, 1, true, Casing::Latin1),
    entry(48, "latin1_general_ci", Latin1, 1, true, Casing::Latin1),
    entry(63, "binary", Binary, 1, false, Casing::None),
    entry(65, "ascii_bin", Ascii, 1, true, Casing::Ascii),
    entry(83, "utf8mb3_bin", Utf8mb3, 1, true, Unicode300),
    entry(192, "utf8mb3_unicode_ci", Utf8mb3, 8, true, Unicode300),
    entry(214, "utf8mb3_unicode_520_ci", Utf8mb3, 8, true, Unicode520),
    entry(224, "utf8mb4_unicode_ci", Utf8mb4, 8, true, Unicode300),
    entry(246, "utf8mb4_unicode_520_ci", Utf8mb4, 8, true, Unicode520),
    entry(255, "utf8mb4_0900_ai_ci", Utf8mb4, 0, false, Unicode900),
    entry(278, "utf8mb4_0900_as_cs", Utf8mb4, 0, false, Unicode900),
    entry(305, "utf8mb4_0900_as_ci", Utf8mb4, 0, false, Unicode900),
    entry(309, "utf8mb4_0900_bin", Utf8mb4, 1, false, Unicode900),
];

/// Place of `utf8mb4_0900_ai_ci`.
const DEFAULT_ENTRY: usize = 14;

/// How a collation works; resolved once, cheap to copy.
#[derive(Clone, Copy)]
enum Engine {
    /// Plain bytes.
    Bytes,
    /// Code points in UTF-8.
    Utf8 { pad: bool },
    /// Weights.
    Weighted(&'static Weighted),
}

macro_rules! weighted {
    ($name:ident, $pad:literal, $($file:literal),+) => {
        static $name: LazyLock<Weighted> = LazyLock::new(|| {
            let stored: &[&[u8]] = &[$(include_bytes!(concat!("collation/data/", $file))),+];
            Weighted::new(stored.iter().map(|level| Weights::expand(level)).collect(), $pad)
        });
    };
}

weighted!(UCA_900_AI_CI, false, "uca900.bin");
weighted!(UCA_900_AS_CI, false, "uca900.bin", "uca900_accents.bin");
weighted!(UCA_900_AS_CS, false, "uca900.bin", "uca900_accents.bin", "uca900_case.bin");
weighted!(UCA_520, true, "uca520.bin");
weighted!(UCA_400, true, "uca400.bin");
weighted!(GENERAL, true, "general.bin");

static LATIN1_SWEDISH: LazyLock<Weighted> = LazyLock::new(|| latin1_weights(Some(0)));
static LATIN1_GENERAL: LazyLock<Weighted> = LazyLock::new(|| latin1_weights(Some(1)));
static LATIN1_BIN: LazyLock<Weighted> = LazyLock::new(|| latin1_weights(None));

/// A latin1 collation by its weight table, or by the bytes themselves.
fn latin1_weights(table: Option<usize>) -> Weighted {
    let bytes: Vec<u8> = (0..=255).collect();
    let weights = match table {
        Some(table) => charset::latin1_table(table),
        None => &bytes,
    };
    Weighted::new(vec![Weights::of_bytes(&charset::LATIN1_CHARS, weights)], true)
}

impl Collation {
    /// The server's default, `utf8mb4_0900_ai_ci`.
    pub const DEFAULT: Collation = Collation(255);
    /// `binary`.
    pub const BINARY: Collation = Collation(63);
    /// `utf8mb4_bin`.
    pub const UTF8MB4_BIN: Collation = Collation(46);
    /// `utf8mb3_general_ci`: what names of tables and columns compare by.
    pub const SYSTEM: Collation = Collation(33);

    /// Every collation, in no order.
    pub fn all() -> impl Iterator<Item = Collation> {
        ENTRIES.iter().map(|entry| Collation(entry.id))
    }

    /// The collation of a number, if it is known.
    pub fn from_id(id: u16) -> Option<Collation> {
        ENTRIES.iter().find(|entry| entry.id == id).map(|entry| Collation(entry.id))
    }

    /// The collation of a name in any case; `utf8_…` stands for `utf8mb3_…`.
    pub fn from_name(name: &str) -> Option<Collation> {
        let rest = name.get(..5).filter(|head| head.eq_ignore_ascii_case("utf8_"));
        let found = ENTRIES.iter().find(|entry| {
            let old_name = rest.is_some()
                && entry
                    .name
                    .strip_prefix("utf8mb3_")
                    .is_some_and(|own| own.eq_ignore_ascii_case(&name[5..]));
            old_name || entry.name.eq_ignore_ascii_case(name)
        });
        found.map(|entry| Collation(entry.id))
    }

    fn entry(self) -> &'static Entry {
        let found = ENTRIES.iter().find(|entry| entry.id == self.0);
        found.unwrap_or(&ENTRIES[DEFAULT_ENTRY])
    }

    /// The name in SQL.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// The character set it belongs to.
    pub fn charset(self) -> Charset {
        self.entry().charset
    }

    /// Whether trailing spaces do not count.
    pub fn pads_space(self) -> bool {
        self.entry().pad
    }

    /// The number in SHOW COLLATION's `Sortlen`.
    pub fn sort_len(self) -> u32 {
        self.entry().sort_len
    }

    /// Whether it is its character set's default.
    pub fn is_default(self) -> bool {
        self.charset().default_collation() == self
    }

    /// Whether it compares code points or bytes: `binary` and the `…_bin` ones.
    pub fn is_binary(self) -> bool {
        matches!(self.0, 46 | 47 | 63 | 65 | 83 | 309)
    }

    /// The `…_bin` collation of the same character set.
    pub fn binary_of(charset: Charset) -> Collation {
        match charset {
            Utf8mb4 => Collation(46),
            Utf8mb3 => Collation(83),
            Latin1 => Collation(47),
            Ascii => Collation(65),
            Binary => Collation(63),
        }
    }

    #[inline]
    fn engine(self) -> Engine {
        match self.0 {
            63 => Engine::Bytes,
            46 | 65 | 83 => Engine::Utf8 { pad: true },
            309 => Engine::Utf8 { pad: false },
            11 | 33 | 45 => Engine::Weighted(&GENERAL),
            8 => Engine::Weighted(&LATIN1_SWEDISH),
            47 => Engine::Weighted(&LATIN1_BIN),
            48 => Engine::Weighted(&LATIN1_GENERAL),
            192 | 224 => Engine::Weighted(&UCA_400),
            214 | 246 => Engine::Weighted(&UCA_520),
            278 => Engine::Weighted(&UCA_900_AS_CS),
            305 => Engine::Weighted(&UCA_900_AS_CI),
            _ => Engine::Weighted(&UCA_900_AI_CI),
        }
    }

    /// Orders two texts.
    #[inline]
    pub fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        match self.engine() {
            Engine::Bytes | Engine::Utf8 { pad: false } => a.cmp(b),
            Engine::Utf8 { pad: true } => compare_padded(a, b),
            Engine::Weighted(weighted) => weighted.compare(a, b),
        }
    }

    /// Whether two texts are equal.
    #[inline]
    pub fn equals(self, a: &[u8], b: &[u8]) -> bool {
        self.compare(a, b) == Ordering::Equal
    }

    /// Appends a key that `memcmp` orders as [`Collation::compare`] orders the texts. But for
    /// `binary`, whose key is the bytes themselves, a key holds no zero byte, so that one after it
    /// makes it order right inside a composite key.
    #[inline]
    pub fn sort_key(self, text: &[u8], out: &mut Vec<u8>) {
        match self.engine() {
            Engine::Bytes => out.extend_from_slice(text),
            Engine::Utf8 { pad: false } => out.extend(text.iter().map(|byte| byte.wrapping_add(1))),
            Engine::Utf8 { pad: true } => padded_key(text, out),
            Engine::Weighted(weighted) => weighted.sort_key(text, out),
        }
    }

    /// A hash that equal texts share.
    #[inline]
    pub fn hash(self, text: &[u8]) -> u64 {
        let mut hasher = ByteHash::new();
        match self.engine() {
            Engine::Bytes | Engine::Utf8 { pad: false } => {
                text.iter().for_each(|&byte| hasher.push(byte));
            }
            Engine::Utf8 { pad: true } => {
                trim_spaces(text).iter().for_each(|&byte| hasher.push(byte));
            }
            Engine::Weighted(weighted) => return weighted.hash(text),
        }
        hasher.finish()
    }

    /// The bytes of WEIGHT_STRING.
    pub fn weight_string(self, text: &[u8], out: &mut Vec<u8>) {
        match self.engine() {
            Engine::Weighted(weighted) if self.charset().max_bytes() > 1 => {
                weighted.weight_string(text, out);
            }
            Engine::Weighted(weighted) => {
                let mut wide = Vec::new();
                weighted.weight_string(text, &mut wide);
                out.extend(wide.iter().skip(1).step_by(2));
            }
            Engine::Utf8 { .. } if self.0 != 309 && self.0 != 65 => {
                for char in String::from_utf8_lossy(text).chars() {
                    out.extend_from_slice(&u32::from(char).to_be_bytes()[1..]);
                }
            }
            Engine::Bytes | Engine::Utf8 { .. } => out.extend_from_slice(text),
        }
    }

    /// The text in upper case, character by character.
    pub fn upper(self, text: &str) -> String {
        let casing = self.entry().casing;
        if casing != Casing::None && text.is_ascii() {
            return text.to_ascii_uppercase();
        }
        text.chars().map(|char| casing.upper(char)).collect()
    }

    /// The text in lower case, character by character.
    pub fn lower(self, text: &str) -> String {
        let casing = self.entry().casing;
        if casing != Casing::None && text.is_ascii() {
            return text.to_ascii_lowercase();
        }
        text.chars().map(|char| casing.lower(char)).collect()
    }
}

impl Charset {
    /// The collation a column gets that names only the character set.
    pub fn default_collation(self) -> Collation {
        match self {
            Utf8mb4 => Collation::DEFAULT,
            Utf8mb3 => Collation(33),
            Latin1 => Collation(8),
            Ascii => Collation(11),
            Binary => Collation::BINARY,
        }
    }
}

impl fmt::Display for Collation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A small multiplying hash over bytes.
struct ByteHash(u64);

impl ByteHash {
    fn new() -> ByteHash {
        ByteHash(0x9E37_79B9_7F4A_7C15)
    }

    #[inline]
    fn push(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    }

    fn finish(self) -> u64 {
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9FB2_1C65_1E98_DF25);
        mixed ^ (mixed >> 29)
    }
}

fn trim_spaces(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1);
    &text[..end]
}

fn compare_padded(a: &[u8], b: &[u8]) -> Ordering {
    let common = a.len().min(b.len());
    a[..common].cmp(&b[..common]).then_with(|| {
        let against_spaces = |rest: &[u8]| {
            let decides = rest.iter().find(|&&byte| byte != b' ');
            decides.map_or(Ordering::Equal, |byte| byte.cmp(&b' '))
        };
        against_spaces(&a[common..]).then(against_spaces(&b[common..]).reverse())
    })
}

/// The key of a padded binary collation: bytes moved up, with three codes for the space (the
/// idea is in [`codes`]).
fn padded_key(text: &[u8], out: &mut Vec<u8>) {
    const MIDDLE: u8 = b' ' + 3;
    let mut spaces = 0;
    for &byte in text {
        if byte == b' ' {
            spaces += 1;
            continue;
        }
        let below = byte < b' ';
        out.extend(std::iter::repeat_n(if below { MIDDLE - 1 } else { MIDDLE + 1 }, spaces));
        spaces = 0;
        out.push(if below { byte + 2 } else { byte.saturating_add(4) });
    }
    out.push(MIDDLE);
}
