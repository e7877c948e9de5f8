//! Reading and writing scripts of packets.

use inia_wire::caps::Capabilities;
use std::path::Path;

/// What a client does next.
pub(crate) enum Step {
    Case(String),
    Greet,
    Login { caps: Capabilities, user: String, database: Option<String> },
    Send(Vec<u8>),
    Next(Vec<u8>),
    Frame(u8, Vec<u8>),
    Raw(Vec<u8>),
    Shut,
    Alive,
}

/// A line of a script, with the answers that follow it.
pub(crate) struct Item {
    pub(crate) line: String,
    /// `None` for comments and blank lines.
    pub(crate) step: Option<Step>,
    /// MySQL's.
    pub(crate) answers: Vec<String>,
    /// Inia's, where they differ on purpose.
    pub(crate) ours: Vec<String>,
}

impl Item {
    pub(crate) fn expected(&self) -> &[String] {
        if self.ours.is_empty() { &self.answers } else { &self.ours }
    }
}

pub(crate) struct Script {
    pub(crate) items: Vec<Item>,
}

impl Script {
    pub(crate) fn read(path: &Path) -> Script {
        let text = std::fs::read_to_string(path).unwrap();
        let mut items: Vec<Item> = Vec::new();
        for line in text.lines() {
            let last = items.last_mut();
            match (line.split_at_checked(2), last) {
                (Some(("< ", answer)), Some(item)) => item.answers.push(answer.to_owned()),
                (Some(("! ", answer)), Some(item)) => item.ours.push(answer.to_owned()),
                _ => items.push(Item {
                    line: line.to_owned(),
                    step: step(line),
                    answers: Vec::new(),
                    ours: Vec::new(),
                }),
            }
        }
        Script { items }
    }

    pub(crate) fn write(&self, path: &Path) {
        let mut text = String::new();
        for item in &self.items {
            text.push_str(&item.line);
            text.push('\n');
            item.answers.iter().for_each(|answer| text.push_str(&format!("< {answer}\n")));
            item.ours.iter().for_each(|answer| text.push_str(&format!("! {answer}\n")));
        }
        std::fs::write(path, text).unwrap();
    }
}

fn step(line: &str) -> Option<Step> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    Some(match word {
        "case" => Step::Case(rest.to_owned()),
        "greet" => Step::Greet,
        "login" => login(rest),
        "send" => Step::Send(bytes(rest)),
        "next" => Step::Next(bytes(rest)),
        "frame" => {
            let (sequence, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            Step::Frame(sequence.parse().unwrap(), bytes(rest))
        }
        "raw" => Step::Raw(bytes(rest)),
        "shut" => Step::Shut,
        "alive?" => Step::Alive,
        _ => panic!("no such step: {line}"),
    })
}

fn login(words: &str) -> Step {
    let mut caps = Capabilities::CLIENT;
    let (mut user, mut database) = ("root".to_owned(), None);
    for word in words.split_whitespace() {
        match word.split_once(':').unwrap() {
            ("add", bits) => caps = caps.with(Capabilities(number(bits) as u32)),
            ("drop", bits) => caps = caps.without(Capabilities(number(bits) as u32)),
            ("user", name) => user = name.to_owned(),
            ("db", name) => {
                caps = caps.with(Capabilities::CONNECT_WITH_DB);
                database = Some(name.to_owned());
            }
            _ => panic!("no such option of a login: {word}"),
        }
    }
    Step::Login { caps, user, database }
}

fn number(text: &str) -> u64 {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).unwrap(),
        None => text.parse().unwrap(),
    }
}

/// The bytes that a line describes.
fn bytes(mut text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        text = text.trim_start();
        if text.is_empty() {
            return bytes;
        }
        let (token, rest) = token(text);
        let (times, rest) = match rest.strip_prefix('*') {
            Some(rest) => {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                (number(&rest[..end]) as usize, &rest[end..])
            }
            None => (1, rest),
        };
        bytes.extend(token.repeat(times));
        text = rest;
    }
}

/// The first token's bytes, and the text behind it.
fn token(text: &str) -> (Vec<u8>, &str) {
    if let Some(inner) = text.strip_prefix('"') {
        return quoted(inner);
    }
    let end = text.find(|c: char| c.is_whitespace() || c == '*').unwrap_or(text.len());
    let (token, rest) = text.split_at(end);
    let bytes = match token.split_once(':') {
        Some(("u16", n)) => (number(n) as u16).to_le_bytes().to_vec(),
        Some(("u32", n)) => (number(n) as u32).to_le_bytes().to_vec(),
        Some(("u64", n)) => number(n).to_le_bytes().to_vec(),
        Some(_) => panic!("no such bytes: {token}"),
        None => (0..token.len() / 2)
            .map(|i| u8::from_str_radix(&token[2 * i..2 * i + 2], 16).unwrap())
            .collect(),
    };
    (bytes, rest)
}

fn quoted(text: &str) -> (Vec<u8>, &str) {
    let mut bytes = Vec::new();
    let mut at = 0;
    let raw = text.as_bytes();
    loop {
        match raw[at] {
            b'"' => return (bytes, &text[at + 1..]),
            b'\\' if raw[at + 1] == b'x' => {
                bytes.push(u8::from_str_radix(&text[at + 2..at + 4], 16).unwrap());
                at += 4;
            }
            b'\\' => {
                bytes.push(raw[at + 1]);
                at += 2;
            }
            byte => {
                bytes.push(byte);
                at += 1;
            }
        }
    }
}
