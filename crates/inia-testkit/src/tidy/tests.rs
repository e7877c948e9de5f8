//! The tree keeps the house rules, and the rules see what they should.

use super::*;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_tree_keeps_the_house_rules() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tidy.allow");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    if crate::golden::updating() {
        std::fs::write(&path, ratchet(&text, &root())).unwrap();
        return;
    }
    let broken = check(&root(), &Allowed::parse(&text));
    let list: String = broken.iter().map(|violation| format!("{violation}\n")).collect();
    assert!(broken.is_empty(), "{} broken rules:\n{list}", broken.len());
}

#[test]
fn a_grant_is_no_larger_than_what_it_lets_pass() {
    let allowed = Allowed::parse("width a.rs 2\nwidth b.rs 1\nfile-length c.rs 1200\n");
    let mut counts = BTreeMap::new();
    counts.insert(("width", String::from("a.rs")), 1);
    counts.insert(("file-length", String::from("c.rs")), 1200);
    let wider = allowed.wider_than(&counts);
    let places: Vec<&str> = wider.iter().map(|violation| violation.place.as_str()).collect();
    assert_eq!(places, ["a.rs", "b.rs"]);
}

fn rust_violations(place: &str, text: &str, allow: &str) -> Vec<(&'static str, usize)> {
    let mut broken = Vec::new();
    check_words(place, text, &mut broken);
    check_rust(place, text, &Allowed::parse(allow), &mut broken);
    broken.iter().map(|violation| (violation.rule, violation.line)).collect()
}

#[test]
fn code_is_separated_from_comments_and_literals() {
    let source = "let a = \"{ \\\" unsafe\"; // unsafe {\n\
        let b = r#\"\" { \"#; let c = '{'; f::<'a>(b'}');\n\
        /* { /* { */ */ }";
    let masked = mask::code_only(source);
    assert_eq!(masked.lines().count(), 3);
    assert_eq!(masked.matches(['{', '}']).collect::<String>(), "}");
    assert!(masked.contains("f::<'a>("));
    assert!(!masked.contains("unsafe"));
}

#[test]
fn unwrap_is_for_tests() {
    let text = "fn f() {\n    g().unwrap();\n}\n#[cfg(test)]\nmod tests {\n    h().unwrap();\n}\n";
    assert_eq!(rust_violations("a/src/b.rs", text, ""), [("unwrap", 2)]);
    assert_eq!(rust_violations("a/src/b/tests.rs", text, ""), []);
}

#[test]
fn unsafe_code_needs_a_place_and_a_reason() {
    let bare = "fn f() {\n    unsafe { g() };\n}\n";
    let explained = "fn f() {\n    // SAFETY: g asks nothing.\n    unsafe { g() };\n}\n";
    assert_eq!(rust_violations("a/b.rs", explained, ""), [("unsafe", 3)]);
    assert_eq!(rust_violations("a/b.rs", bare, "unsafe-file a/b.rs"), [("unsafe", 2)]);
    assert_eq!(rust_violations("a/b.rs", explained, "unsafe-file a/b.rs"), []);
    assert_eq!(rust_violations("a/b.rs", "#![allow(unsafe_code)]\n", ""), []);
}

#[test]
fn lengths_widths_and_names() {
    let long = format!("pub(crate) fn long() {{\n{}}}\n", "    f();\n".repeat(70));
    assert_eq!(rust_violations("a/b.rs", &long, ""), [("function-length", 1)]);
    let wide = format!("// {}\n", "é".repeat(98));
    assert_eq!(rust_violations("a/b.rs", &wide, ""), [("width", 1)]);
    assert_eq!(rust_violations("a/b.rs", &wide, "long-lines a/b.rs"), []);
    let huge = "//! Much.\n".repeat(1001);
    assert_eq!(rust_violations("a/b.rs", &huge, ""), [("file-length", 0)]);
    assert_eq!(rust_violations("a/b/mod.rs", "mod c;\n", ""), [("module", 0)]);
    let headless = "use a;\n".repeat(101);
    assert_eq!(rust_violations("a/b.rs", &headless, ""), [("head", 1)]);
}

#[test]
fn banned_words() {
    let text = format!("// {}: later\n", BANNED[0]);
    assert_eq!(rust_violations("a/b.rs", &text, ""), [("word", 1)]);
}

#[test]
fn wide_types_say_why() {
    let of = |comment: &str, field: &str, count: usize| {
        format!("{comment}struct Wide {{\n{}}}\n", field.repeat(count))
    };
    let found = |text: &str| rust_violations("a/b.rs", text, "");
    assert_eq!(found(&of("", "    pub(crate) a: u8,\n", 12)), []);
    assert_eq!(found(&of("", "    pub(crate) a: u8,\n", 13)), [("fields", 1)]);
    assert_eq!(found(&of("/// A.\n", "    a: bool,\n", 5)), [("fields", 2)]);
    assert_eq!(found(&of("/// A.\n///\n/// Wide: a.\n", "    a: bool,\n", 5)), []);
}

#[test]
fn the_fields_terms_are_kept_to() {
    let first = terms::TERMS[0].0;
    let text = format!("struct {first};\nstruct {first}s;\nuse std::{};\n", first.to_lowercase());
    assert_eq!(rust_violations("a/b.rs", &text, ""), [("term", 1)]);
    let prefix = terms::TERMS.iter().find(|(term, _)| term.ends_with('_')).unwrap().0;
    assert_eq!(rust_violations("a/b.rs", &format!("// {prefix}rows\n"), ""), [("term", 1)]);
    assert_eq!(rust_violations("a/b.rs", &format!("// un{prefix}rows\n"), ""), []);
}

#[test]
fn function_names_are_found() {
    for (line, name) in [
        ("fn a() {", Some("a")),
        ("    pub(crate) const unsafe fn b<T>(", Some("b")),
        ("pub(in crate::x) fn c(", Some("c")),
        ("extern \"C\" fn d(", Some("d")),
        ("let f: fn(u8) = g;", None),
        ("impl Fn for X {", None),
    ] {
        assert_eq!(function_name(line).as_deref(), name, "{line}");
    }
}

/// Which lines of a module's code break an order of `low`, `tree::codec`, `wal`, and `tree` with
/// `top`.
fn layer_violations(module: &str, text: &str) -> Vec<usize> {
    let list = "# an order\nlow\n\ntree::codec\nwal # the log\ntree top\n";
    let facade = "mod low;\npub use low::Error;\npub use tree::{self as t, inner::Tree};\n";
    let layers = layers::Layers::parse(list, facade);
    let path: Vec<String> = module.split("::").map(String::from).collect();
    let broken = layers.check_file("a/src/b.rs", &path, text);
    broken.iter().map(|violation| violation.line).collect()
}

#[test]
fn imports_against_the_order_of_layers_are_found() {
    for (module, text, lines) in [
        ("wal", "use crate::low::A;\nuse crate::tree::B;\n", &[2][..]),
        ("wal::part", "fn f() {\n    let a = crate::top::f::<u8>();\n}\n", &[2]),
        ("wal", "use crate::{\n    low::{A, B as C},\n    tree::{codec::D,\n    E},\n};\n", &[4]),
        ("wal", "use crate::tree::codec::*;\n// crate::tree\nlet a = \"crate::tree\";\n", &[]),
        ("tree::codec", "use super::Node;\nuse super::codec::A;\nuse self::x::B;\n", &[1]),
        ("tree", "use crate::top::A;\nuse crate::wal::B;\n", &[]),
        ("wal", "use crate::Error;\nuse crate::Tree;\nuse crate::Unknown;\n", &[2]),
        ("tree::codec", "pub(in crate::tree) fn f() {}\n", &[]),
        ("wal", "#[cfg(test)]\nuse crate::tree::A;\n", &[]),
        ("wal", "#[cfg(test)]\nmod tests {\n    use crate::tree::A;\n}\n", &[]),
        ("unknown", "fn f() {}\n", &[0]),
    ] {
        assert_eq!(layer_violations(module, text), lines, "{module}: {text}");
    }
}

#[test]
fn documents_name_what_exists() {
    let violations = |text: &str| {
        let mut broken = Vec::new();
        docs::check(&root(), &root().join("docs/PAGE.md"), "docs/PAGE.md", text, &mut broken);
        broken.iter().map(|violation| violation.rule).collect::<Vec<_>>()
    };
    let here = "crates/inia-testkit/src/tidy.rs";
    assert_eq!(violations(&format!("`check` (`{here}`), `Violation` (`{here}`)")), [""; 0]);
    assert_eq!(violations(&format!("`Allowed::parse` (`{here}`)")), [""; 0]);
    assert_eq!(violations(&format!("`Allowed::read` (`{here}`)")), ["symbol"]);
    assert_eq!(violations(&format!("`chec` (`{here}`)")), ["symbol"]);
    assert_eq!(violations("`crates/inia-testkit/src/gone.rs`"), ["path"]);
    assert_eq!(violations("```\n`crates/inia-testkit/src/gone.rs`\n```"), [""; 0]);
}
