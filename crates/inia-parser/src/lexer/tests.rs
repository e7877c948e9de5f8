//! How text falls into tokens.

use super::*;

/// Kinds and texts of the tokens of `sql`, up to the end or the first error.
fn tokens(sql: &str) -> Vec<(Tok, &str)> {
    tokens_in(sql, SqlMode::empty())
}

fn tokens_in(sql: &str, mode: SqlMode) -> Vec<(Tok, &str)> {
    let mut lexer = Lexer::new(sql.as_bytes(), mode);
    let mut found = Vec::new();
    loop {
        let token = lexer.next();
        if token.tok == Tok::Eof {
            return found;
        }
        found.push((token.tok, &sql[token.start as usize..token.end as usize]));
        if token.tok == Tok::Error {
            return found;
        }
    }
}

fn kinds(sql: &str) -> Vec<Tok> {
    tokens(sql).into_iter().map(|(tok, _)| tok).collect()
}

#[test]
fn numbers_and_names() {
    use Tok::*;
    assert_eq!(
        kinds("1 1.5 .5 5. 1e5 1.e-3 0x1F 0b01 x'1f' b'1'"),
        [Int, Decimal, Decimal, Decimal, Float, Float, Hex, Bit, Hex, Bit]
    );
    assert_eq!(kinds("1a 1e 0x 0xg 0b2 0X1 $a é _x"), [Word; 9]);
    assert_eq!(
        tokens("a.1b.c1"),
        [(Word, "a"), (Dot, "."), (Word, "1b"), (Dot, "."), (Word, "c1")]
    );
    assert_eq!(kinds("x'123'"), [Error]);
    assert_eq!(kinds("b'12'"), [Error]);
}

#[test]
fn strings_and_quoted_names() {
    use Tok::*;
    assert_eq!(tokens(r"'a\'b' 'c''d' N'e'"), [(Str, r"'a\'b'"), (Str, "'c''d'"), (NStr, "N'e'")]);
    assert_eq!(tokens("`a``b` \"c\""), [(Quoted, "`a``b`"), (Str, "\"c\"")]);
    assert_eq!(tokens_in("\"c\"", SqlMode::ANSI_QUOTES), [(Quoted, "\"c\"")]);
    assert_eq!(tokens_in(r"'a\'", SqlMode::NO_BACKSLASH_ESCAPES), [(Str, r"'a\'")]);
    assert_eq!(tokens("a 'open"), [(Word, "a"), (Error, "'open")]);
}

#[test]
fn variables_and_operators() {
    use Tok::*;
    assert_eq!(
        tokens("@a.b @'c d' @`e` @@f := @"),
        [
            (UserVar, "@a.b"),
            (UserVar, "@'c d'"),
            (UserVar, "@`e`"),
            (AtAt, "@@"),
            (Word, "f"),
            (Assign, ":="),
            (UserVar, "@")
        ]
    );
    assert_eq!(
        kinds("<=> <= <> != << -> ->> || && ?"),
        [NullEq, Le, Ne, Ne, Shl, Arrow, LongArrow, PipePipe, AmpAmp, Param]
    );
}

#[test]
fn comments() {
    use Tok::*;
    let words = |sql| tokens(sql).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
    assert_eq!(words("a -- b\nc # d\ne /* f */ g --h"), ["a", "c", "e", "g", "-", "-", "h"]);
    assert_eq!(words("a /*!80000 b */ c /*! d */ e"), ["a", "b", "c", "d", "e"]);
    assert_eq!(words("a /*!80032 b */ c /*M! d */ /*!100100 e */"), ["a", "c"]);
    assert_eq!(words("a /*!80032 b /* c */ d */ e"), ["a", "e"]);
    assert_eq!(words("a /*!50000 b /* c */ d */ e"), ["a", "b", "d", "e"]);
    assert_eq!(kinds("a /* open"), [Word, Error]);
    assert_eq!(kinds("a /*!80000 b"), [Word, Word, Error]);
}

#[test]
fn keywords_in_any_case() {
    assert_eq!(keyword::lookup(b"SeLeCt"), Kw::SELECT);
    assert_eq!(keyword::lookup(b"selec"), Kw::NotKeyword);
    assert!(keyword::lookup(b"rank").is_reserved());
    assert!(!keyword::lookup(b"status").is_reserved());
    assert_eq!(keyword::all().count(), 748);
    assert_eq!(keyword::all().filter(|(_, reserved)| *reserved).count(), 262);
    for (word, reserved) in keyword::all() {
        assert_eq!(keyword::lookup(word.as_bytes()).is_reserved(), reserved, "{word}");
    }
}

#[test]
fn the_first_of_both_is_found_wherever_it_is() {
    for len in 0..70 {
        for first in 0..len {
            for second in first..len {
                let mut bytes = vec![b'x'; len];
                bytes[first] = b'\\';
                bytes[second] = b'\'';
                assert_eq!(find_either(&bytes, b'\'', b'\\'), Some(first));
                assert_eq!(find_either(&bytes, b'\'', b'\''), Some(second));
            }
        }
        assert_eq!(find_either(&vec![0xa7; len], b'\'', b'\\'), None);
    }
}
