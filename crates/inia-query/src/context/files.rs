//! Which files of the server statements may read and write.

use std::path::{Path, PathBuf};

/// Where `path` is, if `secure_file_priv` allows that place.
pub fn permitted_path(secure_file_priv: &str, path: PathBuf) -> Option<PathBuf> {
    match secure_file_priv {
        "NULL" => return None,
        "" => return Some(path),
        _ => {}
    }
    // Of a file that is yet to be made the directory must lie inside.
    let real = match std::fs::canonicalize(&path) {
        Ok(real) => real,
        Err(_) => std::fs::canonicalize(path.parent()?).ok()?.join(path.file_name()?),
    };
    let allowed = std::fs::canonicalize(Path::new(secure_file_priv)).ok()?;
    real.starts_with(allowed).then_some(real)
}
