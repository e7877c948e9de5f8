//! The house rules as a test.
//!
//! `tidy.allow` lists what broke a rule when it came, as `rule path[::function] number` a line: a
//! length may shrink but not grow, and so may the number of lines that break any other rule.
//! Lines of the form `unsafe-file path` name the files that may hold unsafe code, `long-lines path`
//! those whose lines are data. With `UPDATE_GOLDEN=1` the numbers of `tidy.allow` are rewritten;
//! `unsafe` and `word` are never let pass that way.
//!
//! | rule | limit |
//! |---|---|
//! | `file-length` | 1000 lines, test files aside |
//! | `function-length` | 70 lines, test files aside |
//! | `fields` | 12 fields or 4 flags, unless a `Wide:` line of the comment says why |
//! | `width` | 100 characters |
//! | `head` | a file of more than 100 lines starts with `//!` |
//! | `unwrap` | none outside tests |
//! | `unsafe` | only in listed files, each with a `SAFETY` comment |
//! | `word` | no banned words |
//! | `term` | no private word where the field has one: `tidy/terms.rs` lists them |
//! | `path` | paths in backticks in docs exist |
//! | `grant` | nothing in `tidy.allow` that lets more pass than there is |
//! | `symbol` | functions and types that docs name beside their file are defined there |
//! | `module` | a module's file stands beside its folder: no file is called `mod.rs` |
//! | `layer` | no import against the order in a crate's `layers.txt` |

mod docs;
mod fields;
mod layers;
mod mask;
mod terms;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

const FILE_LENGTH: usize = 1000;
const FUNCTION_LENGTH: usize = 70;
const WIDTH: usize = 100;
const HEAD_FROM: usize = 100;

/// Words that may not be anywhere, in pieces so that this file does not hold them.
const BANNED: [&str; 6] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X:"),
    concat!("/wo", "rk/"),
    concat!("/tmp/", "bash"),
    concat!("chat", "bot"),
];

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The rule's name.
    pub rule: &'static str,
    /// File, relative to the root, with `::function` where a function is meant.
    pub place: String,
    /// Line, or 0 for the whole file.
    pub line: usize,
    /// What was found: a length, a private term's number, or 1.
    pub found: usize,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = format!("{}:{}: {}", self.place, self.line, self.rule);
        match self.found.checked_sub(1).and_then(|at| terms::TERMS.get(at)) {
            Some((term, standard)) if self.rule == "term" => {
                write!(f, "{place} (for \"{term}\" write {standard})")
            }
            _ => write!(f, "{place} ({})", self.found),
        }
    }
}

/// What `tidy.allow` grants.
#[derive(Clone, Debug, Default)]
pub struct Allowed {
    numbers: BTreeMap<(String, String), usize>,
}

impl Allowed {
    /// Reads the text of `tidy.allow`: comments, and `rule place [number]`.
    pub fn parse(text: &str) -> Allowed {
        let mut allowed = Allowed::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let mut words = line.split_whitespace();
            if let (Some(rule), Some(place)) = (words.next(), words.next()) {
                let number = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
                allowed.numbers.insert((rule.to_string(), place.to_string()), number);
            }
        }
        allowed
    }

    fn number(&self, rule: &str, place: &str) -> Option<usize> {
        self.numbers.get(&(rule.to_string(), place.to_string())).copied()
    }

    /// Grants of more than there is: they are to shrink with what they let pass.
    fn wider_than(&self, counts: &BTreeMap<(&'static str, String), usize>) -> Vec<Violation> {
        let found = |rule: &str, place: &str| {
            let same = |key: &&(&'static str, String)| key.0 == rule && key.1 == place;
            counts.keys().find(same).map_or(0, |key| counts[key])
        };
        let numbered = self.numbers.iter().filter(|(_, limit)| **limit > 0);
        numbered
            .filter(|((rule, place), limit)| found(rule, place) < **limit)
            .map(|((_, place), limit)| Violation {
                rule: "grant",
                place: place.clone(),
                line: 0,
                found: *limit,
            })
            .collect()
    }

    /// Files that may hold unsafe code or long lines, and hold none.
    fn unused_files(&self, root: &Path) -> Vec<Violation> {
        let unused = |rule: &str, place: &str| {
            let text = std::fs::read_to_string(root.join(place)).unwrap_or_default();
            match rule {
                "unsafe-file" => {
                    !mask::code_only(&text).lines().any(|line| has_word(line, "unsafe"))
                }
                "long-lines" => text.lines().all(|line| line.chars().count() <= WIDTH),
                _ => false,
            }
        };
        let listed = self.numbers.keys().filter(|(rule, place)| unused(rule, place));
        listed
            .map(|(_, place)| Violation { rule: "grant", place: place.clone(), line: 0, found: 1 })
            .collect()
    }

    fn lists(&self, rule: &str, place: &str) -> bool {
        self.number(rule, place).is_some()
    }
}

/// Files of the tree that rules look at, relative to the root, in order.
fn files(root: &Path) -> Vec<PathBuf> {
    fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
        let Ok(entries) = std::fs::read_dir(dir) else { return };
        for entry in entries.flatten() {
            let path = entry.path();
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if path.is_dir() {
                if !name.starts_with('.') && name != "target" && name != "node_modules" {
                    walk(&path, found);
                }
            } else if [".rs", ".md", ".toml"].iter().any(|end| name.ends_with(end)) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(root, &mut found);
    found.sort();
    found
}

/// Whether a file holds tests only.
fn is_test(place: &str) -> bool {
    place.ends_with("/tests.rs") || place.contains("/tests/") || place.contains("/benches/")
}

/// Every broken rule in the tree, those that `allowed` grants left out.
pub fn check(root: &Path, allowed: &Allowed) -> Vec<Violation> {
    let mut broken = Vec::new();
    let files = files(root);
    layers::check(root, &files, &mut broken);
    for path in files {
        let place = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        check_words(&place, &text, &mut broken);
        if place.ends_with(".rs") {
            check_rust(&place, &text, allowed, &mut broken);
        } else if place.ends_with(".md") {
            docs::check(root, &path, &place, &text, &mut broken);
        }
    }
    let counts = amounts(&broken);
    let passes = |it: &Violation| {
        let amount = counts.get(&(it.rule, it.place.clone())).copied().unwrap_or(0);
        allowed.number(it.rule, &it.place).is_some_and(|limit| amount <= limit)
    };
    let mut wider = allowed.wider_than(&counts);
    wider.extend(allowed.unused_files(root));
    broken.retain(|it| !passes(it));
    broken.extend(wider);
    broken.sort();
    broken
}

/// By rule and place: the length for length rules, the number of lines for the others.
fn amounts(broken: &[Violation]) -> BTreeMap<(&'static str, String), usize> {
    let mut amounts = BTreeMap::new();
    for it in broken {
        let amount: &mut usize = amounts.entry((it.rule, it.place.clone())).or_default();
        let length = ["file-length", "function-length"].contains(&it.rule);
        *amount = if length { it.found.max(*amount) } else { *amount + 1 };
    }
    amounts
}

fn check_words(place: &str, text: &str, broken: &mut Vec<Violation>) {
    for (index, line) in text.lines().enumerate() {
        if BANNED.iter().any(|word| line.contains(word)) {
            broken.push(Violation { rule: "word", place: place.into(), line: index + 1, found: 1 });
        }
        let term = terms::private_term(line).filter(|_| !place.ends_with("tidy/terms.rs"));
        if let Some(found) = term.map(|at| at + 1) {
            broken.push(Violation { rule: "term", place: place.into(), line: index + 1, found });
        }
    }
}

/// The rules for Rust files.
fn check_rust(place: &str, text: &str, allowed: &Allowed, broken: &mut Vec<Violation>) {
    let mut add = |rule, place: String, line, found| {
        broken.push(Violation { rule, place, line, found });
    };
    let lines: Vec<&str> = text.lines().collect();
    let code = mask::code_only(text);
    let code: Vec<&str> = code.lines().collect();
    let tests_from = tests_start(place, &code);
    if place.ends_with("/mod.rs") {
        add("module", place.into(), 0, 1);
    }
    if lines.len() > FILE_LENGTH && !is_test(place) {
        add("file-length", place.into(), 0, lines.len());
    }
    if lines.len() > HEAD_FROM && !text.starts_with("//!") {
        add("head", place.into(), 1, 1);
    }
    let long_lines = allowed.lists("long-lines", place);
    for (index, line) in lines.iter().enumerate() {
        if !long_lines && line.chars().count() > WIDTH {
            add("width", place.into(), index + 1, line.chars().count());
        }
    }
    for (index, line) in code.iter().enumerate().take(tests_from) {
        if line.contains(".unwrap()") {
            add("unwrap", place.into(), index + 1, 1);
        }
    }
    for (index, line) in code.iter().enumerate() {
        let granted = allowed.lists("unsafe-file", place);
        if has_word(line, "unsafe") && !(granted && is_explained(&lines, index)) {
            add("unsafe", place.into(), index + 1, 1);
        }
    }
    for (line, found) in fields::wide_types(&lines[..tests_from.min(lines.len())]) {
        add("fields", place.into(), line + 1, found);
    }
    for function in functions(&code) {
        if function.length > FUNCTION_LENGTH && function.line < tests_from {
            let place = format!("{place}::{}", function.name);
            add("function-length", place, function.line + 1, function.length);
        }
    }
}

/// The line from which a file holds tests: 0 for test files, the number of lines where none.
fn tests_start(place: &str, code: &[&str]) -> usize {
    if is_test(place) {
        return 0;
    }
    let inline = |window: &[&str]| {
        window[0].trim() == "#[cfg(test)]"
            && window[1].trim_start().starts_with("mod ")
            && window[1].contains('{')
    };
    code.windows(2).position(inline).unwrap_or(code.len())
}

/// Whether `line` holds `word` as a word of its own.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    line.match_indices(word).any(|(at, _)| {
        let bytes = line.as_bytes();
        let before = at.checked_sub(1).and_then(|index| bytes.get(index));
        !is_part(before) && !is_part(bytes.get(at + word.len()))
    })
}

/// Whether the comment right above a line (attributes and earlier parts of its statement between
/// them allowed), or the line itself, has a SAFETY reason.
fn is_explained(lines: &[&str], index: usize) -> bool {
    let reason = |line: &str| line.contains("SAFETY:") || line.contains("# Safety");
    if reason(lines[index]) {
        return true;
    }
    let mut seen_comment = false;
    for line in lines[..index].iter().rev().take(20) {
        let comment = line.trim_start().starts_with("//");
        if comment && reason(line) {
            return true;
        }
        let ends_before = line.trim().is_empty() || line.trim_end().ends_with([';', '}']);
        if !comment && (seen_comment || ends_before) {
            return false;
        }
        seen_comment |= comment;
    }
    false
}

/// A function's name, first line (from 0) and number of lines.
struct Function {
    name: String,
    line: usize,
    length: usize,
}

/// The functions of masked code, by their braces.
fn functions(code: &[&str]) -> Vec<Function> {
    let mut found = Vec::new();
    for (line, text) in code.iter().enumerate() {
        let Some(name) = function_name(text) else { continue };
        let mut depth = 0i32;
        let mut opened = false;
        'body: for (index, text) in code.iter().enumerate().skip(line) {
            for byte in text.bytes() {
                match byte {
                    b'{' => {
                        depth += 1;
                        opened = true;
                    }
                    b'}' => depth -= 1,
                    b';' if !opened => break 'body,
                    _ => {}
                }
                if opened && depth == 0 {
                    found.push(Function { name, line, length: index - line + 1 });
                    break 'body;
                }
            }
        }
    }
    found
}

/// The name in a line that starts a function.
fn function_name(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    loop {
        let word = words.next()?;
        let modifier = word.starts_with("pub")
            || ["async", "const", "unsafe", "extern", "crate)", "super)"].contains(&word)
            || word.starts_with('"')
            || word.ends_with(')');
        if word == "fn" {
            break;
        }
        if !modifier {
            return None;
        }
    }
    let name: String =
        words.next()?.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

/// The text of `tidy.allow` with today's numbers: what is above a limit now, at its present size.
pub fn ratchet(old: &str, root: &Path) -> String {
    let kept = |line: &&str| {
        let rule = line.split_whitespace().next().unwrap_or("#");
        rule.starts_with('#') || ["unsafe-file", "long-lines"].contains(&rule)
    };
    let mut text: String = old.lines().filter(kept).map(|line| format!("{line}\n")).collect();
    let broken = check(root, &Allowed::parse(&text));
    let mut numbers = amounts(&broken);
    numbers.retain(|(rule, _), _| !["unsafe", "word"].contains(rule));
    for ((rule, place), number) in numbers {
        text.push_str(&format!("{rule} {place} {number}\n"));
    }
    text
}
