//! Golden scripts: files of commands with the output they are expected to give.
//!
//! ```text
//! # Anything after a hash at the line's start is a comment.
//! > a: BEGIN
//! ok
//!
//! > a: UPDATE t SET x = 1
//! > WHERE id = 7
//! 1 row changed
//! ```
//!
//! Lines that start with `>` are one command together; the lines after them, up to an empty line,
//! a comment or the next command, are its output. An empty output line is written as a lone
//! backslash. What commands mean is the test's business.
//!
//! With `UPDATE_GOLDEN=1` in the environment the expected outputs are rewritten, not compared.

use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A piece of a script.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    /// A comment or an empty line, kept as it is.
    Other(String),
    /// A command and its expected output.
    Command { command: String, output: String },
}

fn parse(script: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut lines = script.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(first) = line.strip_prefix('>') else {
            pieces.push(Piece::Other(line.to_string()));
            continue;
        };
        let mut command = first.trim().to_string();
        while let Some(more) = lines.peek().and_then(|line| line.strip_prefix('>')) {
            command.push('\n');
            command.push_str(more.trim());
            lines.next();
        }
        let mut output = String::new();
        let is_output =
            |line: &&str| !line.is_empty() && !line.starts_with('>') && !line.starts_with('#');
        while let Some(line) = lines.next_if(is_output) {
            output.push_str(if line == "\\" { "" } else { line });
            output.push('\n');
        }
        pieces.push(Piece::Command { command, output });
    }
    pieces
}

/// Output as it stands in a file: every line ended, empty ones as a backslash.
fn print_output(output: &str) -> String {
    let lines = output.trim_end_matches('\n').lines();
    lines
        .map(|line| if line.is_empty() { "\\\n".to_string() } else { format!("{line}\n") })
        .collect()
}

/// Runs a script: the script with the outputs that `run` gave, and the first difference.
fn execute(script: &str, mut run: impl FnMut(&str) -> String) -> (String, Option<String>) {
    let mut actual = String::new();
    let mut difference = None;
    for piece in parse(script) {
        match piece {
            Piece::Other(line) => {
                actual.push_str(&line);
                actual.push('\n');
            }
            Piece::Command { command, output } => {
                let result = print_output(&run(&command));
                if result != print_output(&output) && difference.is_none() {
                    let wanted = print_output(&output);
                    difference = Some(format!("> {command}\nexpected:\n{wanted}got:\n{result}"));
                }
                for line in command.lines() {
                    writeln!(actual, "> {line}").expect("writing to a string does not fail");
                }
                actual.push_str(&result);
            }
        }
    }
    (actual, difference)
}

/// Runs the script in `path` and panics where its output differs (or rewrites it, see above).
pub fn check(path: &Path, run: impl FnMut(&str) -> String) {
    let script = match std::fs::read_to_string(path) {
        Ok(script) => script,
        Err(error) => panic!("{}: {error}", path.display()),
    };
    let (actual, difference) = execute(&script, run);
    if updating() {
        if actual != script
            && let Err(error) = std::fs::write(path, actual)
        {
            panic!("{}: {error}", path.display());
        }
    } else if let Some(difference) = difference {
        panic!("{}: {difference}", path.display());
    }
}

/// Runs every file below `dir` whose name ends in `extension`, each with a runner of its own.
pub fn check_all<R: FnMut(&str) -> String>(
    dir: &Path,
    extension: &str,
    mut start: impl FnMut() -> R,
) {
    let scripts = find(dir, extension);
    assert!(!scripts.is_empty(), "no scripts in {}", dir.display());
    for path in scripts {
        check(&path, start());
    }
}

/// Whether expectations are to be rewritten.
pub fn updating() -> bool {
    std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1")
}

fn find(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(dir) else { return found };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(find(&path, extension));
        } else if path.extension().is_some_and(|own| own == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests;
