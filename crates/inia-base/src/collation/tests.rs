//! Collations against answers recorded from MySQL 8.0.31.

mod digests;

use super::{Charset, Collation};
use std::cmp::Ordering;

const AI_CI: Collation = Collation::DEFAULT;
const GENERAL_CI: Collation = Collation(45);
const UNICODE_CI: Collation = Collation(224);
const UNICODE_520_CI: Collation = Collation(246);
const AS_CS: Collation = Collation(278);
const AS_CI: Collation = Collation(305);

/// Compares in all three ways (compare, keys, hashes) and checks that they agree.
fn compare(collation: Collation, a: &str, b: &str) -> Ordering {
    let order = collation.compare(a.as_bytes(), b.as_bytes());
    let key = |text: &str| {
        let mut key = Vec::new();
        collation.sort_key(text.as_bytes(), &mut key);
        assert!(!key.contains(&0), "{text:?} in {collation}");
        key.push(0);
        key
    };
    assert_eq!(order, key(a).cmp(&key(b)), "keys of {a:?} and {b:?} in {collation}");
    assert_eq!(order.reverse(), collation.compare(b.as_bytes(), a.as_bytes()));
    if order == Ordering::Equal {
        assert_eq!(collation.hash(a.as_bytes()), collation.hash(b.as_bytes()));
    }
    order
}

fn fnv(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xCBF2_9CE4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3)
    })
}

/// FNV-1a of the pieces, each ended by 0xFF.
fn checksum(pieces: impl Iterator<Item = Vec<u8>>) -> u64 {
    fnv(pieces.flat_map(|piece| piece.into_iter().chain([0xFF])))
}

#[test]
fn every_code_point_weighs_what_mysql_says() {
    for (collation, expected) in [
        (GENERAL_CI, 0x9643_487e_58e1_c83a),
        (UNICODE_CI, 0x4919_0593_9047_8fd8),
        (UNICODE_520_CI, 0x3ae1_d386_372d_57b6),
        (AI_CI, 0x1c0a_8106_cdd3_ab98),
        (AS_CS, 0x6bf9_24cf_1fd5_1a77),
        (AS_CI, 0x8102_c9a3_d57f_d26c),
    ] {
        let sum = checksum((0..=0x10FFFF).filter_map(char::from_u32).map(|char| {
            let mut weights = Vec::new();
            collation.weight_string(char.to_string().as_bytes(), &mut weights);
            weights
        }));
        assert_eq!(sum, expected, "{collation}");
    }
}

#[test]
fn every_code_point_has_mysqls_cases() {
    for (collation, upper, lower) in [
        (AI_CI, 0xb462_d08e_4b43_8cf5, 0xc1de_0fa2_d67c_439c),
        (GENERAL_CI, 0x8e4d_7e25_0859_3d50, 0x0967_a06f_b99d_fd56),
        (UNICODE_520_CI, 0x0cc2_ab12_d16b_8b0f, 0xc014_6dae_1dc0_060a),
    ] {
        let sum = |map: &dyn Fn(&str) -> String| {
            let chars = (0..=0x10FFFF).filter_map(char::from_u32).map(|char| char.to_string());
            let mapped = chars.filter_map(|char| Some(map(&char)).filter(|text| *text != char));
            checksum(mapped.map(String::into_bytes))
        };
        assert_eq!(sum(&|text| collation.upper(text)), upper, "{collation}");
        assert_eq!(sum(&|text| collation.lower(text)), lower, "{collation}");
    }
    let turkish = Collation::from_name("utf8mb4_turkish_ci").unwrap();
    assert_eq!((&*turkish.upper("ıi"), &*turkish.lower("Iİ")), ("Iİ", "ıi"));
    assert_eq!(AI_CI.upper("straße ñ"), "STRAßE Ñ");
    assert_eq!(Collation(8).upper("ÿé"), "ÿÉ");
    assert_eq!(Collation::BINARY.upper("abc"), "abc");
}

#[test]
fn letters_of_several_characters_sort_as_one() {
    let named = |name: &str| Collation::from_name(name).unwrap();
    for (name, ascending) in [
        ("utf8mb4_czech_ci", ["cz", "h", "ch", "chz", "i"]),
        ("utf8mb4_cs_0900_as_cs", ["cz", "h", "ch", "Ch", "i"]),
        ("utf8mb4_hu_0900_ai_ci", ["cz", "cs", "ccs", "csz", "d"]),
        ("utf8mb4_spanish2_ci", ["cz", "ch", "lz", "ll", "m"]),
        ("utf8mb4_da_0900_ai_ci", ["az", "z", "ø", "aa", "aaa"]),
        ("utf8mb4_ja_0900_as_cs_ks", ["か", "カ", "かー", "カー", "かあ"]),
    ] {
        for pair in ascending.windows(2) {
            let order = compare(named(name), pair[0], pair[1]);
            assert_eq!(order, Ordering::Less, "{pair:?} in {name}");
        }
    }
    let czech = named("utf8mb4_czech_ci");
    assert_eq!(compare(czech, "Chata", "chata"), Ordering::Equal);
    assert_ne!(compare(czech, "cHata", "chata"), Ordering::Equal);
    assert!(czech.like(b"chata", b"c%", None));
}

#[test]
fn keys_and_hashes_agree_with_comparing_in_every_collation() {
    let words = "aa az ch cz dz ddzs i I ı İ ij lj nj ny s sz ß t z Z ž Æ ø å Ä ю ё カー か 中 國 한 \
                 ក េក ሀ";
    let mut words: Vec<&str> = words.split_whitespace().collect();
    words.extend(["", " ", "a ", "z\t", "\0z", "i\u{307}\u{300}", "é\u{301}"]);
    for collation in Collation::all().filter(|collation| *collation != Collation::BINARY) {
        for a in &words {
            for b in &words {
                compare(collation, a, b);
            }
        }
    }
}

/// Texts in hexadecimal (a dash is the empty one) as MySQL orders them: ORDER BY s COLLATE …,
/// CAST(s AS BINARY).
const ORDERS: [(u16, &str); 7] = [
    (
        255,
        "- 09 20 5F 7E F09F9880 F09F9881 31 33 D9A3 0061 41 61 C3A1 6109 6120 612062 \
         612D62 6121 6162 614231 6165 C386 6166 6E C3B1 6F 7372 7373 C39F 7374 7A CEA9 \
         CF89 D081 D0B5 D18F ED959CEAB880 E697A5 E697A5E69CAC",
    ),
    (
        45,
        "0061 09 - 20 31 33 6109 41 61 6120 C3A1 612062 6121 612D62 6162 614231 6165 6166 \
         6E C3B1 6F C39F 7372 7373 7374 7A 5F 7E C386 CEA9 CF89 D081 D0B5 D18F D9A3 \
         E697A5 E697A5E69CAC ED959CEAB880 F09F9880 F09F9881",
    ),
    (
        224,
        "09 - 20 5F 7E 31 33 D9A3 6109 0061 41 61 6120 C3A1 612062 612D62 6121 6162 \
         614231 6165 6166 C386 6E C3B1 6F 7372 7373 C39F 7374 7A CEA9 CF89 D081 D0B5 D18F \
         E697A5 E697A5E69CAC ED959CEAB880 F09F9880 F09F9881",
    ),
    (
        246,
        "09 - 20 5F 7E 31 33 D9A3 6109 0061 41 61 6120 C3A1 612062 612D62 6121 6162 \
         614231 6165 C386 6166 6E C3B1 6F 7372 7373 C39F 7374 7A CEA9 CF89 D081 D0B5 D18F \
         E697A5 E697A5E69CAC ED959CEAB880 F09F9880 F09F9881",
    ),
    (
        46,
        "0061 09 - 20 31 33 41 5F 6109 61 6120 612062 6121 612D62 614231 6162 6165 6166 \
         6E 6F 7372 7373 7374 7A 7E C386 C39F C3A1 C3B1 CEA9 CF89 D081 D0B5 D18F D9A3 \
         E697A5 E697A5E69CAC ED959CEAB880 F09F9880 F09F9881",
    ),
    (
        278,
        "- 09 20 5F 7E F09F9880 F09F9881 31 33 D9A3 0061 61 41 C3A1 6109 6120 612062 \
         612D62 6121 6162 614231 6165 C386 6166 6E C3B1 6F 7372 7373 C39F 7374 7A CF89 \
         CEA9 D0B5 D081 D18F ED959CEAB880 E697A5 E697A5E69CAC",
    ),
    (
        309,
        "- 0061 09 20 31 33 41 5F 61 6109 6120 612062 6121 612D62 614231 6162 6165 6166 \
         6E 6F 7372 7373 7374 7A 7E C386 C39F C3A1 C3B1 CEA9 CF89 D081 D0B5 D18F D9A3 \
         E697A5 E697A5E69CAC ED959CEAB880 F09F9880 F09F9881",
    ),
];

#[test]
fn texts_sort_as_in_mysql() {
    for (id, expected) in ORDERS {
        let collation = Collation(id);
        let unhex = |hex: &str| -> String {
            let digits = hex.trim_matches('-').as_bytes();
            let byte = |pair: &[u8]| std::str::from_utf8(pair).unwrap().to_string();
            let bytes = digits.chunks(2).map(|pair| u8::from_str_radix(&byte(pair), 16).unwrap());
            String::from_utf8(bytes.collect()).unwrap()
        };
        let expected: Vec<String> = expected.split_whitespace().map(unhex).collect();
        let mut sorted = expected.clone();
        sorted.sort();
        sorted.sort_by(|a, b| compare(collation, a, b));
        assert_eq!(sorted, expected, "{collation}");
    }
}

#[test]
fn trailing_spaces_count_only_without_padding() {
    assert_eq!(compare(AI_CI, "a", "a "), Ordering::Less);
    for collation in [GENERAL_CI, UNICODE_CI, Collation(46), Collation(8), Collation(47)] {
        assert_eq!(compare(collation, "a", "a  "), Ordering::Equal, "{collation}");
        assert_eq!(compare(collation, "a\t", "a"), Ordering::Less, "{collation}");
        assert_eq!(compare(collation, "a \t", "a"), Ordering::Less, "{collation}");
        assert_eq!(compare(collation, "a b", "a  b"), Ordering::Greater, "{collation}");
        assert_eq!(compare(collation, "", "  "), Ordering::Equal, "{collation}");
    }
    assert_eq!(compare(UNICODE_CI, "a\u{a0}", "a"), Ordering::Equal);
}

#[test]
fn ignored_characters_do_not_count() {
    assert_eq!(compare(AI_CI, "a\0", "a"), Ordering::Equal);
    assert_eq!(compare(AI_CI, "", "\0"), Ordering::Equal);
    assert_eq!(compare(UNICODE_CI, "a\0", "a"), Ordering::Equal);
    assert_eq!(compare(GENERAL_CI, "a\0", "a"), Ordering::Less);
    assert_eq!(compare(AI_CI, "x\0y\0é", "xye"), Ordering::Equal);
}

#[test]
fn accents_and_case_count_where_the_name_says_so() {
    for (a, b, ai_ci, as_ci, as_cs) in [
        ("résumé", "Resume", Ordering::Equal, Ordering::Greater, Ordering::Greater),
        ("ABC", "abc", Ordering::Equal, Ordering::Equal, Ordering::Greater),
        ("ß", "ss", Ordering::Equal, Ordering::Greater, Ordering::Greater),
        ("a", "b", Ordering::Less, Ordering::Less, Ordering::Less),
    ] {
        assert_eq!(compare(AI_CI, a, b), ai_ci, "{a} {b}");
        assert_eq!(compare(AS_CI, a, b), as_ci, "{a} {b}");
        assert_eq!(compare(AS_CS, a, b), as_cs, "{a} {b}");
    }
}

#[test]
fn keys_order_every_first_plane_character() {
    for collation in [AI_CI, GENERAL_CI, UNICODE_CI, UNICODE_520_CI, AS_CS, Collation(46)] {
        let chars = (0..=0x1_0400).filter_map(char::from_u32).map(|char| char.to_string());
        let mut chars: Vec<String> = chars.collect();
        chars.sort_by(|a, b| collation.compare(a.as_bytes(), b.as_bytes()));
        for pair in chars.windows(2) {
            compare(collation, &pair[0], &pair[1]);
        }
    }
}

#[test]
fn ascii_keys_take_a_byte_a_character() {
    for collation in [AI_CI, GENERAL_CI, UNICODE_CI] {
        let mut key = Vec::new();
        collation.sort_key(b"68487932199-96439406143", &mut key);
        assert_eq!(key.len(), 23 + usize::from(collation.pads_space()), "{collation}");
    }
}

#[test]
fn bytes_that_are_not_utf8_are_taken_calmly() {
    let all: Vec<u8> = (0..=255).collect();
    for collation in Collation::all() {
        for start in 0..=255 {
            let mut key = Vec::new();
            collation.sort_key(&all[start..], &mut key);
            collation.hash(&all[start..]);
            collation.like(&all[start..], b"%\xFF_", Some('\\'));
            collation.find(&all, &all[start..], 0);
            assert_eq!(collation.compare(&all[start..], &all[start..]), Ordering::Equal);
        }
    }
}

#[test]
fn like_goes_character_by_character() {
    let like =
        |text: &str, pattern: &str| AI_CI.like(text.as_bytes(), pattern.as_bytes(), Some('\\'));
    for (text, pattern) in [
        ("abc", "a%c"),
        ("a%c", r"a\%c"),
        ("abc", "%"),
        ("", "%"),
        ("a", r"\a"),
        (r"a\", r"a\"),
        ("é", "e"),
        ("E", "é"),
        ("日本語", "_本_"),
        ("aXbXc", "a%b%C"),
        ("aaa", "%a"),
        ("ab", "a%%%b"),
    ] {
        assert!(like(text, pattern), "{text} LIKE {pattern}");
    }
    for (text, pattern) in [
        ("abc", r"a\%c"),
        ("", "_"),
        ("ab", r"a\"),
        ("ß", "s%"),
        ("ß", "ss"),
        ("a\0", "a"),
        ("", "\0"),
        ("a", "a "),
        ("abc", "a%d"),
    ] {
        assert!(!like(text, pattern), "{text} LIKE {pattern}");
    }
    assert!(AI_CI.like(b"a%c", b"a|%c", Some('|')));
    assert!(!GENERAL_CI.like(b"a", b"a ", None));
    assert!(Collation::BINARY.like("é".as_bytes(), b"__", None));
    assert!(!Collation::BINARY.like(b"A", b"a", None));
}

#[test]
fn a_hopeless_pattern_ends_soon() {
    let text = "a".repeat(5000);
    let pattern = "%a".repeat(1000) + "b";
    assert!(!AI_CI.like(text.as_bytes(), pattern.as_bytes(), None));
}

#[test]
fn substrings_are_found_by_equal_byte_lengths() {
    let find = |text: &str, needle: &str| AI_CI.find(text.as_bytes(), needle.as_bytes(), 0);
    assert_eq!(find("École", "e"), Some(5));
    assert_eq!(find("ecole", "É"), None);
    assert_eq!(find("straße", "ss"), Some(4));
    assert_eq!(find("a😀b", "B"), Some(5));
    assert_eq!(find("abc", ""), Some(0));
    assert_eq!(find("abc", "abcd"), None);
    assert_eq!(AI_CI.find(b"abcabc", b"A", 1), Some(3));
    assert_eq!(Collation::BINARY.find(b"abc", b"B", 0), None);
}

#[test]
fn texts_with_a_common_prefix_are_neighbours() {
    let key = |collation: Collation, text: &str| {
        let mut key = Vec::new();
        collation.sort_key(text.as_bytes(), &mut key);
        key
    };
    let latin = ('\u{1}'..'\u{250}').collect::<Vec<char>>();
    let marks = ('\u{300}'..'\u{370}').chain(['\u{b7}', '\u{387}', '\0', '\u{ffff}', char::MAX]);
    let marks: Vec<char> = marks.collect();
    let all: Vec<char> = ('\0'..=char::MAX).step_by(7).collect();
    for id in [33, 45, 46, 63, 255, 278, 305, 309] {
        let collation = Collation(id);
        let name = collation.name();
        let last = collation.last_character();
        let check = |prefix: &str, next: char| {
            assert_eq!(collation.range_prefix(prefix), prefix);
            let text = key(collation, &format!("{prefix}{next}x"));
            let upper = key(collation, &format!("{prefix}{last}"));
            let zeros = if collation.pads_space() { "\0\0\0\0" } else { "" };
            let lower = key(collation, &format!("{prefix}{zeros}"));
            assert!(lower <= text, "{name}: {prefix:?} {next:?}");
            assert!(text <= upper || next == last, "{name}: {prefix:?} {next:?}");
        };
        for c in &latin {
            marks.iter().for_each(|next| check(&format!("a{c}"), *next));
        }
        for c in ['l', 'L', 'z'] {
            all.iter().for_each(|next| check(&c.to_string(), *next));
        }
    }
    assert_eq!(Collation::DEFAULT.range_prefix("abcи"), "abc");
    assert_eq!(Collation::from_name("utf8mb4_cs_0900_ai_ci").unwrap().range_prefix("c"), "");
}

#[test]
fn names_and_numbers() {
    for collation in Collation::all() {
        assert_eq!(Collation::from_name(collation.name()), Some(collation));
        assert_eq!(Collation::from_id(collation.0), Some(collation));
    }
    assert_eq!(Collation::from_name("UTF8_General_ci"), Some(Collation(33)));
    assert_eq!(Collation::from_name("klingon_ci"), None);
    for charset in Charset::ALL {
        assert_eq!(Charset::from_name(charset.name()), Some(charset));
        assert!(charset.default_collation().is_default());
        assert_eq!(Collation::binary_of(charset).charset(), charset);
    }
    assert_eq!(Charset::from_name("utf8"), Some(Charset::Utf8mb3));
}

#[test]
fn character_sets_convert() {
    let latin1 = Charset::Latin1;
    assert_eq!(latin1.decode(b"\xE9\x80").unwrap(), "é€");
    assert_eq!(&*latin1.encode("é€日"), b"\xE9\x80?");
    assert_eq!(latin1.first_missing("é日"), Some(2));
    assert_eq!(Charset::Ascii.decode(b"a\x80"), Err(1));
    assert_eq!(Charset::Utf8mb4.decode(b"ab\xFFc"), Err(2));
    assert_eq!(Charset::Utf8mb3.decode("é😀".as_bytes()), Err(2));
    assert_eq!(&*Charset::Utf8mb3.replace_missing("é😀"), "é?");
    assert!(Charset::Utf8mb4.has('😀'));
}
