//! The tables of weights that collations share, each expanded when it is first used.

use super::bytes::ByteSet;
use super::code_set::CodeSet;
use super::tailoring::{self, Tailored};
use super::weighted::Weighted;
use super::weights::Weights;
use std::sync::LazyLock;

/// A table of weights, expanded when it is first used.
pub(super) type WeightTable = LazyLock<Weighted>;

const GENERAL_LEVELS: &[&[u8]] = &[include_bytes!("data/general.bin")];
const UCA_400_LEVELS: &[&[u8]] = &[include_bytes!("data/uca400.bin")];
const UCA_520_LEVELS: &[&[u8]] = &[include_bytes!("data/uca520.bin")];

/// The levels of UCA 9.0.0, and a fourth where only a tailoring has weights.
const UCA_900_LEVELS: &[&[u8]] = &[
    include_bytes!("data/uca900.bin"),
    include_bytes!("data/uca900_accents.bin"),
    include_bytes!("data/uca900_case.bin"),
    NO_WEIGHTS,
];

/// One run: no code point has weights.
const NO_WEIGHTS: &[u8] = &[0x83, 0x80, 0xC0, 0x08];

macro_rules! base {
    ($($name:ident: $levels:expr, $pad:literal;)+) => {
        $(pub(super) static $name: WeightTable = LazyLock::new(|| {
            let levels = $levels.iter().map(|level| Weights::expand(level)).collect();
            Weighted::new(Tailored { levels, contractions: None }, $pad)
        });)+
    };
}

macro_rules! tailored {
    ($levels:expr, $pad:literal: $($name:ident $file:literal,)+) => {
        $(pub(super) static $name: WeightTable = LazyLock::new(|| {
            let stored = include_bytes!(concat!("data/", $file, ".bin"));
            Weighted::new(tailoring::expand($levels, stored), $pad)
        });)+
    };
}

/// A language's two collations of UCA 9.0.0: the first level alone, and three.
macro_rules! tailored_900 {
    ($($ai_ci:ident $as_cs:ident $file:literal,)+) => {
        tailored! { &UCA_900_LEVELS[..1], false: $($ai_ci $file,)+ }
        tailored! { &UCA_900_LEVELS[..3], false: $($as_cs $file,)+ }
    };
}

/// A set of single bytes, its binary collation, and the places of others in its file.
macro_rules! byte_set {
    ($set:ident $file:literal, $bin:ident $(, $name:ident $place:literal)*) => {
        pub(super) static $set: LazyLock<ByteSet> =
            LazyLock::new(|| ByteSet::expand(include_bytes!(concat!("data/", $file, ".bin"))));
        pub(super) static $bin: WeightTable = LazyLock::new(|| of_set(&$set, None));
        $(pub(super) static $name: WeightTable =
            LazyLock::new(|| of_set(&$set, Some($place)));)*
    };
}

fn of_set(set: &ByteSet, place: Option<usize>) -> Weighted {
    Weighted::new(Tailored { levels: vec![set.weights(place)], contractions: None }, true)
}

/// A set of several bytes, the set it shares most codes with, and its two collations.
macro_rules! code_set {
    ($set:ident $file:literal, $base:expr, $bin:ident, $ci:ident) => {
        pub(super) static $set: LazyLock<CodeSet> = LazyLock::new(|| {
            CodeSet::expand(include_bytes!(concat!("data/", $file, ".bin")), $base)
        });
        pub(super) static $bin: WeightTable = LazyLock::new(|| of_codes(&$set, false, true));
        pub(super) static $ci: WeightTable = LazyLock::new(|| of_codes(&$set, true, false));
    };
}

fn of_codes(set: &CodeSet, ignores_case: bool, by_code: bool) -> Weighted {
    let levels = vec![set.weights(ignores_case, by_code)];
    Weighted::new(Tailored { levels, contractions: None }, true)
}

base! {
    GENERAL: GENERAL_LEVELS, true;
    UCA_400: UCA_400_LEVELS, true;
    UCA_520: UCA_520_LEVELS, true;
    UCA_900_AI_CI: UCA_900_LEVELS[..1], false;
    UCA_900_AS_CI: UCA_900_LEVELS[..2], false;
    UCA_900_AS_CS: UCA_900_LEVELS[..3], false;
}

tailored! { GENERAL_LEVELS, true:
    GENERAL_MYSQL500 "general_mysql500",
    GENERAL_TOLOWER "general_tolower",
}

tailored! { UCA_400_LEVELS, true:
    ICELANDIC "icelandic",
    LATVIAN "latvian",
    ROMANIAN "romanian",
    SLOVENIAN "slovenian",
    POLISH "polish",
    ESTONIAN "estonian",
    SPANISH "spanish",
    SWEDISH "swedish",
    TURKISH "turkish",
    CZECH "czech",
    DANISH "danish",
    LITHUANIAN "lithuanian",
    SLOVAK "slovak",
    SPANISH2 "spanish2",
    ROMAN "roman",
    PERSIAN "persian",
    ESPERANTO "esperanto",
    HUNGARIAN "hungarian",
    SINHALA "sinhala",
    GERMAN2 "german2",
    CROATIAN "croatian",
    VIETNAMESE "vietnamese",
}

tailored_900! {
    DE_PB_AI_CI DE_PB_AS_CS "de_pb_0900",
    IS_AI_CI IS_AS_CS "is_0900",
    LV_AI_CI LV_AS_CS "lv_0900",
    RO_AI_CI RO_AS_CS "ro_0900",
    SL_AI_CI SL_AS_CS "sl_0900",
    PL_AI_CI PL_AS_CS "pl_0900",
    ET_AI_CI ET_AS_CS "et_0900",
    ES_AI_CI ES_AS_CS "es_0900",
    SV_AI_CI SV_AS_CS "sv_0900",
    TR_AI_CI TR_AS_CS "tr_0900",
    CS_AI_CI CS_AS_CS "cs_0900",
    DA_AI_CI DA_AS_CS "da_0900",
    LT_AI_CI LT_AS_CS "lt_0900",
    SK_AI_CI SK_AS_CS "sk_0900",
    ES_TRAD_AI_CI ES_TRAD_AS_CS "es_trad_0900",
    LA_AI_CI LA_AS_CS "la_0900",
    EO_AI_CI EO_AS_CS "eo_0900",
    HU_AI_CI HU_AS_CS "hu_0900",
    HR_AI_CI HR_AS_CS "hr_0900",
    VI_AI_CI VI_AS_CS "vi_0900",
    RU_AI_CI RU_AS_CS "ru_0900",
    NB_AI_CI NB_AS_CS "nb_0900",
    GL_AI_CI GL_AS_CS "gl_0900",
}

tailored! { &UCA_900_LEVELS[..3], false:
    JA_AS_CS "ja_0900",
    ZH_AS_CS "zh_0900",
}

tailored! { UCA_900_LEVELS, false:
    JA_AS_CS_KS "ja_ks_0900",
}

byte_set! { DEC8_SET "dec8", DEC8_BIN,
DEC8_SWEDISH_CI 0 }
byte_set! { CP850_SET "cp850", CP850_BIN,
CP850_GENERAL_CI 0 }
byte_set! { HP8_SET "hp8", HP8_BIN,
HP8_ENGLISH_CI 0 }
byte_set! { KOI8R_SET "koi8r", KOI8R_BIN,
KOI8R_GENERAL_CI 0 }
byte_set! { LATIN1_SET "latin1", LATIN1_BIN,
LATIN1_GERMAN1_CI 0,
LATIN1_SWEDISH_CI 1,
LATIN1_DANISH_CI 2,
LATIN1_GERMAN2_CI 3,
LATIN1_GENERAL_CI 4,
LATIN1_GENERAL_CS 5,
LATIN1_SPANISH_CI 6 }
byte_set! { LATIN2_SET "latin2", LATIN2_BIN,
LATIN2_GENERAL_CI 0,
LATIN2_HUNGARIAN_CI 1,
LATIN2_CROATIAN_CI 2 }
byte_set! { SWE7_SET "swe7", SWE7_BIN,
SWE7_SWEDISH_CI 0 }
byte_set! { HEBREW_SET "hebrew", HEBREW_BIN,
HEBREW_GENERAL_CI 0 }
byte_set! { TIS620_SET "tis620", TIS620_BIN }
byte_set! { KOI8U_SET "koi8u", KOI8U_BIN,
KOI8U_GENERAL_CI 0 }
byte_set! { GREEK_SET "greek", GREEK_BIN,
GREEK_GENERAL_CI 0 }
byte_set! { CP1250_SET "cp1250", CP1250_BIN,
CP1250_GENERAL_CI 0,
CP1250_CROATIAN_CI 1,
CP1250_POLISH_CI 2 }
byte_set! { LATIN5_SET "latin5", LATIN5_BIN,
LATIN5_TURKISH_CI 0 }
byte_set! { ARMSCII8_SET "armscii8", ARMSCII8_BIN,
ARMSCII8_GENERAL_CI 0 }
byte_set! { CP866_SET "cp866", CP866_BIN,
CP866_GENERAL_CI 0 }
byte_set! { KEYBCS2_SET "keybcs2", KEYBCS2_BIN,
KEYBCS2_GENERAL_CI 0 }
byte_set! { MACCE_SET "macce", MACCE_BIN,
MACCE_GENERAL_CI 0 }
byte_set! { MACROMAN_SET "macroman", MACROMAN_BIN,
MACROMAN_GENERAL_CI 0 }
byte_set! { CP852_SET "cp852", CP852_BIN,
CP852_GENERAL_CI 0 }
byte_set! { LATIN7_SET "latin7", LATIN7_BIN,
LATIN7_ESTONIAN_CS 0,
LATIN7_GENERAL_CI 1,
LATIN7_GENERAL_CS 2 }
byte_set! { CP1251_SET "cp1251", CP1251_BIN,
CP1251_BULGARIAN_CI 0,
CP1251_UKRAINIAN_CI 1,
CP1251_GENERAL_CI 2,
CP1251_GENERAL_CS 3 }
byte_set! { CP1256_SET "cp1256", CP1256_BIN,
CP1256_GENERAL_CI 0 }
byte_set! { CP1257_SET "cp1257", CP1257_BIN,
CP1257_LITHUANIAN_CI 0,
CP1257_GENERAL_CI 1 }
byte_set! { GEOSTD8_SET "geostd8", GEOSTD8_BIN,
GEOSTD8_GENERAL_CI 0 }
code_set! { BIG5_SET "big5", None, BIG5_BIN, BIG5_STROKES }
/// Texts of big5 compare by code; only WEIGHT_STRING goes by strokes.
pub(super) static BIG5_CHINESE_CI: WeightTable = LazyLock::new(|| of_codes(&BIG5_SET, true, true));
code_set! { UJIS_SET "ujis", None, UJIS_BIN, UJIS_JAPANESE_CI }
code_set! { SJIS_SET "sjis", None, SJIS_BIN, SJIS_JAPANESE_CI }
code_set! { EUCKR_SET "euckr", None, EUCKR_BIN, EUCKR_KOREAN_CI }
code_set! { GB2312_SET "gb2312", Some(&*GBK_SET), GB2312_BIN, GB2312_CHINESE_CI }
code_set! { GBK_SET "gbk", None, GBK_BIN, GBK_CHINESE_CI }
code_set! { CP932_SET "cp932", Some(&*SJIS_SET), CP932_BIN, CP932_JAPANESE_CI }
code_set! { EUCJPMS_SET "eucjpms", Some(&*UJIS_SET), EUCJPMS_BIN, EUCJPMS_JAPANESE_CI }
code_set! { GB18030_SET "gb18030", Some(&*GBK_SET), GB18030_BIN, GB18030_CHINESE_CI }
