//! Words, the syntax of searches, and ranks.

use super::{
    DEFAULT_STOPWORDS, Search, TextParser, TextSource, WordRules, key_prefix, parse_boolean,
    parse_natural, rank_of, weight, word_key,
};
use inia_base::collation::Collation;
use std::sync::Arc;

fn rules(collation: Collation) -> WordRules {
    let stopwords = DEFAULT_STOPWORDS.iter().filter_map(|word| word_key(collation, word));
    WordRules {
        parser: TextParser::Words,
        collation,
        min_chars: 3,
        max_chars: 84,
        stopwords: Arc::new(stopwords.collect()),
        any_case: true,
    }
}

fn words(parser: TextParser, text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    parser.each(text, |word| words.push(word));
    words
}

/// Whether a text is found, where every word weighs 1, and its rank.
fn rank(search: &Search, rules: &WordRules, texts: &[&str]) -> Option<f32> {
    let texts: Vec<Option<&str>> = texts.iter().map(|text| Some(*text)).collect();
    let mut source = TextSource::new(rules, &texts);
    let mut counts = vec![0; search.words.len()];
    let found = search.evaluate(&mut source, &mut counts).unwrap();
    found.get(&0).map(|found| rank_of(found, &vec![1.0; search.words.len()]))
}

fn boolean(search: &str, texts: &[&str]) -> Option<f32> {
    let rules = rules(Collation::DEFAULT);
    rank(&parse_boolean(search, &rules).unwrap(), &rules, texts)
}

#[test]
fn words_are_runs_of_letters_digits_marks_and_underscores() {
    let text = "don't x-ray, foo_bar 2nd; naïve हिन्दी 日本語! 🍎pie";
    let expected = ["don", "t", "x", "ray", "foo_bar", "2nd", "naïve", "हिन्दी", "日本語", "pie"];
    assert_eq!(words(TextParser::Words, text), expected);
    assert_eq!(words(TextParser::Words, " ... "), [""; 0]);
}

#[test]
fn ngrams_are_all_runs_of_so_many_characters() {
    assert_eq!(words(TextParser::Ngrams(2), "数据库 ab c"), ["数据", "据库", "ab"]);
    assert_eq!(words(TextParser::Ngrams(3), "abcd"), ["abc", "bcd"]);
}

#[test]
fn equal_words_have_one_key_and_beginnings_are_seen_in_it() {
    for name in ["utf8mb4_0900_ai_ci", "utf8mb4_general_ci", "utf8mb4_unicode_ci"] {
        let collation = Collation::from_name(name).unwrap();
        let key = |word| word_key(collation, word).unwrap();
        assert_eq!(key("Été"), key("ete"), "{name}");
        assert_ne!(key("apple"), key("apples"), "{name}");
    }
    for name in [
        "utf8mb4_0900_ai_ci",
        "utf8mb4_0900_as_ci",
        "utf8mb4_0900_as_cs",
        "utf8mb4_0900_bin",
        "utf8mb4_general_ci",
        "utf8mb4_bin",
        "latin1_swedish_ci",
        "utf8mb3_general_ci",
    ] {
        let collation = Collation::from_name(name).unwrap();
        let key = |word| word_key(collation, word).unwrap();
        for (word, beginning) in [("apples", "apple"), ("été", "ét"), ("apple", "apple")] {
            let (word, beginning) = (key(word), key(beginning));
            assert!(word.starts_with(key_prefix(collation, &beginning)), "{name}");
        }
        for other in ["apples", "app1"] {
            let (word, other) = (key("apple"), key(other));
            assert!(!word.starts_with(key_prefix(collation, &other)), "{name}");
        }
    }
}

#[test]
fn long_words_are_in_no_index() {
    assert!(word_key(Collation::DEFAULT, &"x".repeat(84)).is_some());
    assert_eq!(word_key(Collation::DEFAULT, &"x".repeat(85)), None);
}

#[test]
fn operators_say_what_is_found() {
    let text = &["red apple green"];
    for (search, expected) in [
        ("apple", Some(1.0)),
        ("+apple +red", Some(2.0)),
        ("+apple +blue", None),
        ("apple -red", None),
        ("apple -blue", Some(1.0)),
        ("-blue", None),
        ("~apple", None),
        ("apple ~red", Some(1.0)),
        ("apple >red", Some(3.0)),
        ("apple <red", Some(1.0)),
        ("app*", Some(1.0)),
        ("+(blue apple) -(blue)", Some(1.0)),
        ("\"red apple\"", Some(2.0)),
        ("\"apple red\"", None),
        ("\"green red\" @3", Some(2.0)),
        ("\"green red\" @2", None),
    ] {
        assert_eq!(boolean(search, text), expected, "{search}");
    }
}

#[test]
fn a_phrase_is_in_one_column_and_nearness_in_all() {
    assert_eq!(boolean("\"red apple\"", &["red", "apple"]), None);
    assert_eq!(boolean("\"red apple\" @2", &["red", "apple"]), Some(2.0));
}

#[test]
fn what_stands_before_a_group_is_evaluated_before_it() {
    assert_eq!(boolean("(apple) -red", &["red apple"]), None);
    assert_eq!(boolean("-red (apple)", &["red apple"]), Some(1.0));
}

#[test]
fn stopwords_and_short_words_are_found_nowhere() {
    for search in ["the", "+the +apple", "+of apple", "\"the\""] {
        assert_eq!(boolean(search, &["the apple of"]), None, "{search}");
    }
    // Inside of phrases they are there.
    assert_eq!(boolean("\"apple of kings\"", &["apple of kings"]), Some(2.0));
    assert_eq!(boolean("\"apple of kings\"", &["apple or kings"]), None);
}

#[test]
fn wrong_syntax_is_named_as_mysql_does() {
    let rules = rules(Collation::DEFAULT);
    for (search, expected) in [
        ("+", "syntax error, unexpected $end"),
        ("+-a", "syntax error, unexpected '-'"),
        ("a)", "syntax error, unexpected ')', expecting $end"),
        ("(a", "syntax error, unexpected $end"),
        ("\"a\" @x", "syntax error, unexpected FTS_TERM, expecting FTS_NUMB"),
        ("a**", "syntax error, unexpected $end, expecting FTS_TERM or FTS_NUMB or '*'"),
    ] {
        assert_eq!(parse_boolean(search, &rules).unwrap_err().message, expected, "{search}");
    }
    let deep = "(".repeat(100_000);
    assert!(parse_boolean(&deep, &rules).is_err(), "nesting is bounded");
}

#[test]
fn signs_mean_nothing_in_natural_language() {
    let rules = rules(Collation::DEFAULT);
    let search = parse_natural("+red -apple", &rules).unwrap();
    assert_eq!(rank(&search, &rules, &["red apple"]), Some(2.0));
}

#[test]
fn rare_words_weigh_more() {
    assert!((weight(10, 1) - 1.0).abs() < 1e-12);
    assert!(weight(10, 5) > weight(10, 9));
    assert!(weight(10, 10) > 0.0, "a word of all documents is worth something");
    assert!(weight(10, 0).abs() < 1e-12);
}
