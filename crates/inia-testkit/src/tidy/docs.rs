//! What documents name exists: paths, and functions and types beside their file.
//!
//! A path in backticks must exist. A name in backticks with a path in parentheses behind it, as in
//! "`Session::execute` (`crates/inia-sql/src/session.rs`)", must be defined in that file.

use super::Violation;
use std::path::{Path, PathBuf};

/// Keywords before the name that a definition gives.
const DEFINITIONS: [&str; 8] =
    ["fn ", "struct ", "enum ", "trait ", "type ", "const ", "static ", "mod "];

/// Checks one document.
pub(super) fn check(
    root: &Path,
    document: &Path,
    place: &str,
    text: &str,
    broken: &mut Vec<Violation>,
) {
    let bases = bases(root, document);
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        fenced ^= line.trim_start().starts_with("```");
        if fenced {
            continue;
        }
        let mut add = |rule| {
            broken.push(Violation { rule, place: place.into(), line: index + 1, found: 1 });
        };
        let pieces: Vec<&str> = line.split('`').collect();
        for quoted in pieces.iter().skip(1).step_by(2) {
            if is_path(quoted) && find(&bases, quoted).is_none() {
                add("path");
            }
        }
        for at in (1..pieces.len().saturating_sub(2)).step_by(2) {
            if pieces[at + 1] == " ("
                && let Some(file) = find(&bases, pieces[at + 2])
                && pieces[at + 2].ends_with(".rs")
                && !defines(&file, pieces[at])
            {
                add("symbol");
            }
        }
    }
}

/// Where a path may start: the root, the document's folder, a crate, or its sources.
fn bases(root: &Path, document: &Path) -> Vec<PathBuf> {
    let mut bases = vec![root.to_path_buf()];
    bases.extend(document.parent().map(Path::to_path_buf));
    if let Ok(crates) = std::fs::read_dir(root.join("crates")) {
        bases.extend(crates.flatten().flat_map(|it| [it.path(), it.path().join("src")]));
    }
    bases
}

fn find(bases: &[PathBuf], path: &str) -> Option<PathBuf> {
    bases.iter().map(|base| base.join(path)).find(|path| path.exists())
}

fn is_path(quoted: &str) -> bool {
    quoted.contains('/')
        && [".rs", ".md", ".toml", "/"].iter().any(|end| quoted.ends_with(end))
        && !quoted.contains([' ', '*', '<', '{', '~'])
        && !quoted.starts_with('/')
}

/// Whether a file defines the last part of a name such as `Session::execute`.
fn defines(file: &Path, name: &str) -> bool {
    let name = name.rsplit("::").next().unwrap_or(name);
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.match_indices(name).any(|(at, _)| {
        let after = text[at + name.len()..].chars().next();
        let ends = after.is_none_or(|next| !next.is_alphanumeric() && next != '_');
        ends && DEFINITIONS.iter().any(|keyword| text[..at].ends_with(keyword))
    })
}
