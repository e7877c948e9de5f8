//! Options files in MySQL's form: `my.cnf`.
//!
//! ```text
//! [client]                 a group; a program reads those that are meant for it
//! port = 3307              `-` and `_` are alike in names
//! password = "a # b"       quotes keep blanks and signs; \n \t \s \\ are escapes
//! no-auto-rehash           a name without a value
//! !include /etc/more.cnf   another file; !includedir a directory's *.cnf files
//! ```

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Files may include files to this depth.
const MAX_DEPTH: u32 = 10;
/// What every user may do.
const WORLD_WRITABLE: u32 = 0o002;

/// One option of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileOption {
    /// The group that it stands in, in lower case; empty before the first.
    pub(crate) group: String,
    /// Its name, in lower case with `-`.
    pub(crate) name: String,
    /// Its value; none where there is only a name.
    pub(crate) value: Option<String>,
    /// Where it is: `FILE: line N`.
    pub(crate) place: String,
}

/// The options of a file, and of those that it includes, in order. A file that every user may
/// write to is refused, since it may hold anybody's wishes.
pub(crate) fn read(path: &Path) -> Result<Vec<FileOption>, String> {
    let mut options = Vec::new();
    read_into(path, &mut options, 0)?;
    Ok(options)
}

fn read_into(path: &Path, options: &mut Vec<FileOption>, depth: u32) -> Result<(), String> {
    let cannot = |error| format!("cannot read {}: {error}", path.display());
    if depth > MAX_DEPTH {
        return Err(format!("{} is included too deeply", path.display()));
    }
    let found = fs::metadata(path).map_err(cannot)?;
    if found.is_file() && found.permissions().mode() & WORLD_WRITABLE != 0 {
        return Err(format!("{} is ignored: every user may write to it", path.display()));
    }
    let text = fs::read_to_string(path).map_err(cannot)?;
    let mut group = String::new();
    for (number, line) in text.lines().enumerate() {
        let (line, place) = (line.trim(), place_of(path, number));
        if let Some(dir) = line.strip_prefix("!includedir") {
            for file in config_files(Path::new(dir.trim())) {
                read_into(&file, options, depth + 1)?;
            }
        } else if let Some(file) = line.strip_prefix("!include") {
            read_into(Path::new(file.trim()), options, depth + 1)?;
        } else {
            read_line(line, &mut group, place, options)?;
        }
    }
    Ok(())
}

/// The options of a text that the file has in another form. It includes no files.
pub(crate) fn parse(text: &str, path: &Path) -> Result<Vec<FileOption>, String> {
    let (mut group, mut options) = (String::new(), Vec::new());
    for (number, line) in text.lines().enumerate() {
        read_line(line.trim(), &mut group, place_of(path, number), &mut options)?;
    }
    Ok(options)
}

fn place_of(path: &Path, line: usize) -> String {
    format!("{}: line {}", path.display(), line + 1)
}

fn config_files(dir: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_config = |path: &std::path::PathBuf| path.extension().is_some_and(|ext| ext == "cnf");
    let mut files: Vec<_> = entries.filter(is_config).collect();
    files.sort();
    files
}

fn read_line(
    line: &str,
    group: &mut String,
    place: String,
    options: &mut Vec<FileOption>,
) -> Result<(), String> {
    if line.is_empty() || line.starts_with(['#', ';']) {
        return Ok(());
    }
    if let Some(rest) = line.strip_prefix('[') {
        let Some((name, _)) = rest.split_once(']') else {
            return Err(format!("{place}: the group '{line}' has no end"));
        };
        *group = name.trim().to_ascii_lowercase();
        return Ok(());
    }
    let (name, value) = match line.split_once('=') {
        Some((name, value)) => {
            let value = value_of(value.trim()).map_err(|error| format!("{place}: {error}"))?;
            (name, Some(value))
        }
        None => (line.split('#').next().unwrap_or(line), None),
    };
    let name = name.trim().to_ascii_lowercase().replace('_', "-");
    options.push(FileOption { group: group.clone(), name, value, place });
    Ok(())
}

/// A value without its quotes and the comment after it.
fn value_of(text: &str) -> Result<String, String> {
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''));
    let inner = match quote {
        Some(quote) => {
            let rest = &text[1..];
            let end = end_of_quoted(rest, quote);
            let end = end.ok_or_else(|| format!("the quotes of {text} do not match"))?;
            let tail = rest[end + 1..].trim();
            if !tail.is_empty() && !tail.starts_with('#') {
                return Err(format!("the quotes of {text} do not match"));
            }
            &rest[..end]
        }
        None => {
            let comment = text.find(" #").or_else(|| text.find("\t#"));
            text[..comment.unwrap_or(text.len())].trim_end()
        }
    };
    Ok(unescaped(inner))
}

fn end_of_quoted(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, letter)| {
        let ends = !escaped && letter == quote;
        escaped = !escaped && letter == '\\';
        ends.then_some(at)
    })
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        match letters.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('s') => out.push(' '),
            Some(same @ ('\\' | '"' | '\'')) => out.push(same),
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests;
