//! Reads scripts and writes them with their outcomes.

use std::fmt::Write;

/// A line of a script that is not an outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// An explanation, or nothing.
    Text(String),
    /// `session> statement`.
    Step { session: String, statement: String },
    /// `until session`: its wait ends by itself.
    Until(String),
}

/// A script: its lines, each with the outcomes that follow it.
pub(super) struct Script {
    pub(super) lines: Vec<(Line, Vec<String>)>,
}

/// What begins an outcome.
const INDENT: &str = "   ";

impl Script {
    pub(super) fn parse(text: &str) -> Result<Script, String> {
        let mut lines: Vec<(Line, Vec<String>)> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            if let Some(outcome) = line.strip_prefix(INDENT) {
                let last = lines.last_mut().ok_or("an outcome without a step")?;
                last.1.push(outcome.to_owned());
                continue;
            }
            let parsed = match (line.strip_prefix("until "), line.split_once("> ")) {
                _ if line.is_empty() || line.starts_with('#') => Line::Text(line.to_owned()),
                (Some(session), _) => Line::Until(session.to_owned()),
                (_, Some((session, statement))) if is_name(session) => {
                    Line::Step { session: session.to_owned(), statement: statement.to_owned() }
                }
                _ => return Err(format!("line {}: what is {line:?}?", number + 1)),
            };
            lines.push((parsed, Vec::new()));
        }
        match lines.first() {
            Some((Line::Text(text), _)) if text.starts_with("# ") => Ok(Script { lines }),
            _ => Err("a script opens with the reason for its outcome".to_owned()),
        }
    }

    pub(super) fn print(&self) -> String {
        let mut text = String::new();
        for (line, outcomes) in &self.lines {
            match line {
                Line::Text(own) => writeln!(text, "{own}").unwrap(),
                Line::Step { session, statement } => {
                    writeln!(text, "{session}> {statement}").unwrap()
                }
                Line::Until(session) => writeln!(text, "until {session}").unwrap(),
            }
            outcomes.iter().for_each(|outcome| writeln!(text, "{INDENT}{outcome}").unwrap());
        }
        text
    }
}

fn is_name(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// Both texts line by line: `-` stands only in the first, `+` only in the second.
pub(super) fn differences(first: &str, second: &str) -> String {
    let (a, b): (Vec<_>, Vec<_>) = (first.lines().collect(), second.lines().collect());
    // Longest common subsequence of the rests.
    let mut common = vec![vec![0u32; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i][j] = match a[i] == b[j] {
                true => common[i + 1][j + 1] + 1,
                false => common[i + 1][j].max(common[i][j + 1]),
            };
        }
    }
    let (mut i, mut j, mut text) = (0, 0, String::new());
    while i < a.len() || j < b.len() {
        let same = i < a.len() && j < b.len() && a[i] == b[j];
        if same {
            writeln!(text, "  {}", a[i]).unwrap();
            (i, j) = (i + 1, j + 1);
        } else if j == b.len() || (i < a.len() && common[i + 1][j] >= common[i][j + 1]) {
            writeln!(text, "- {}", a[i]).unwrap();
            i += 1;
        } else {
            writeln!(text, "+ {}", b[j]).unwrap();
            j += 1;
        }
    }
    text
}

#[test]
fn a_script_is_read_and_printed_unchanged() {
    let text = "# Why.\n\na> SELECT 1 > 0\n   1\nb> DO 1\n   waits\nuntil b\n   b: ok\n";
    let script = Script::parse(text).unwrap();
    assert_eq!(script.print(), text);
    assert_eq!(script.lines[2].1, ["1"]);
    assert!(Script::parse("a> DO 1\n").is_err());
    assert_eq!(differences("x\ny\n", "x\nz\n"), "  x\n- y\n+ z\n");
}
