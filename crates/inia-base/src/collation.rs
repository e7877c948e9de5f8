//! Collations: how strings compare, hash and turn into sort keys.
//!
//! Texts are UTF-8 whatever character set a column declares. A collation is one of three engines:
//! bytes (`binary`), code points (`…_bin`, by UTF-8 bytes, which order the same), or weights, one
//! to three levels of them, taken from tables ([`weights`] describes their form and source).
//!
//! ASCII is the fast path throughout: comparing looks at weights only where bytes differ and
//! then by one table of code bytes; a sort key of ASCII text has one byte a character ([`codes`]).
//! No collation here has contractions, so characters weigh the same wherever they stand.

mod bytes;
mod casing;
mod charset;
mod code_set;
mod codes;
mod entries;
mod like;
mod sortable;
mod tables;
mod tailoring;
#[cfg(test)]
mod tests;
mod weighted;
mod weights;
mod wide;

pub use charset::Charset;
use entries::{ENTRIES, Entry};
use sortable::Sortable;
use std::cmp::Ordering;
use std::fmt;
use tables::WeightTable;
use weighted::Weighted;

/// A collation, by MySQL's collation number (255 = utf8mb4_0900_ai_ci).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Collation(pub u16);

/// What a collation orders by.
#[derive(Clone, Copy)]
enum Order {
    /// The bytes.
    Plain,
    /// Code points.
    CodePoints,
    /// Weights.
    Table(&'static WeightTable),
    /// Bytes that the whole text is turned into.
    Sortable(&'static Sortable),
}

/// How a collation works; resolved once, cheap to copy.
#[derive(Clone, Copy)]
enum Engine {
    /// Plain bytes.
    Bytes,
    /// Code points in UTF-8.
    Utf8 { pad: bool },
    /// Weights.
    Weighted(&'static Weighted),
    /// Bytes that the whole text is turned into.
    Sortable(&'static Sortable),
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

    /// Every collation, by character set and number.
    pub fn all() -> impl Iterator<Item = Collation> {
        ENTRIES.iter().map(|entry| Collation(entry.id))
    }

    /// The collation of a number, if it is known.
    pub fn from_id(id: u16) -> Option<Collation> {
        (entries::of(id).id == id).then_some(Collation(id))
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

    #[inline]
    fn entry(self) -> &'static Entry {
        entries::of(self.0)
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
        self.0 == 63 || self.name().ends_with("_bin")
    }

    /// The `…_bin` collation of a character set; `utf8mb4_bin` of utf8mb4, which has two.
    pub fn binary_of(charset: Charset) -> Collation {
        charset.binary_collation()
    }

    #[inline]
    fn engine(self) -> Engine {
        let entry = self.entry();
        match entry.order {
            Order::Plain => Engine::Bytes,
            Order::CodePoints => Engine::Utf8 { pad: entry.pad },
            Order::Table(table) => Engine::Weighted(table),
            Order::Sortable(sortable) => Engine::Sortable(sortable),
        }
    }

    /// Orders two texts.
    #[inline]
    pub fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        match self.engine() {
            Engine::Bytes | Engine::Utf8 { pad: false } => a.cmp(b),
            Engine::Utf8 { pad: true } => compare_padded(a, b),
            Engine::Weighted(weighted) => weighted.compare(a, b),
            Engine::Sortable(sortable) => sortable.compare(a, b),
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
            Engine::Sortable(sortable) => sortable.sort_key(text, out),
        }
    }

    /// The first characters of a text such that every text which begins with equal ones sorts
    /// between them and them filled up with [`Collation::last_character`] to the longest text's
    /// end; empty where that is not known. Where trailing spaces do not count, it sorts behind them
    /// filled up with zeros, for a control character sorts before the space that is not there.
    ///
    /// Characters of these collations sort by themselves but for those of some scripts, which form
    /// one letter with marks behind them; no Latin letter does.
    pub fn range_prefix(self, text: &str) -> &str {
        /// `utf8mb3_general_ci`, `utf8mb4_general_ci`, `utf8mb4_bin`, `binary`, `utf8mb4_0900_bin`.
        const BY_CHARACTER: [u16; 5] = [33, 45, 46, 63, 309];
        /// `utf8mb4_0900_ai_ci`, `_as_cs` and `_as_ci`.
        const ROOT: [u16; 3] = [255, 278, 305];
        const LATIN_END: char = '\u{250}';
        match self.0 {
            id if BY_CHARACTER.contains(&id) => text,
            id if ROOT.contains(&id) => {
                let end = text.find(|c: char| c >= LATIN_END).unwrap_or(text.len());
                &text[..end]
            }
            _ => "",
        }
    }

    /// The character that sorts behind all others, of collations that have a
    /// [`Collation::range_prefix`].
    pub fn last_character(self) -> char {
        // `general_ci` takes all characters behind that one for the same, which sorts before it.
        if matches!(self.0, 33 | 45) { '\u{ffff}' } else { char::MAX }
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
            Engine::Sortable(sortable) => {
                let mut key = Vec::new();
                sortable.sort_key(text, &mut key);
                key.iter().for_each(|&byte| hasher.push(byte));
            }
        }
        hasher.finish()
    }

    /// The bytes of WEIGHT_STRING.
    pub fn weight_string(self, text: &[u8], out: &mut Vec<u8>) {
        let charset = self.charset();
        match self.engine() {
            Engine::Sortable(sortable) => out.append(&mut sortable.weight_string(text)),
            // `gb18030_unicode_520_ci` weighs as Unicode does.
            Engine::Weighted(weighted) if charset.is_unicode() || self.0 == 250 => {
                weighted.weight_string(text, out);
            }
            Engine::Weighted(_) if charset == Charset::Big5 && !self.is_binary() => {
                tables::BIG5_STROKES.byte_weights(text, charset, out);
            }
            Engine::Weighted(weighted) => weighted.byte_weights(text, charset, out),
            Engine::Utf8 { .. } if self.0 != 309 && self.0 != 65 => {
                // Two bytes where the set has no characters beyond the first plane.
                let skipped = if charset.has('\u{10000}') { 1 } else { 2 };
                for char in String::from_utf8_lossy(text).chars() {
                    out.extend_from_slice(&u32::from(char).to_be_bytes()[skipped..]);
                }
            }
            Engine::Bytes | Engine::Utf8 { .. } => out.extend_from_slice(text),
        }
    }

    /// The text in upper case, character by character.
    pub fn upper(self, text: &str) -> String {
        let casing = self.entry().casing;
        if casing.is_usual_in_ascii() && text.is_ascii() {
            return text.to_ascii_uppercase();
        }
        text.chars().map(|char| casing.upper(char)).collect()
    }

    /// The text in lower case, character by character.
    pub fn lower(self, text: &str) -> String {
        let casing = self.entry().casing;
        if casing.is_usual_in_ascii() && text.is_ascii() {
            return text.to_ascii_lowercase();
        }
        text.chars().map(|char| casing.lower(char)).collect()
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
