//! Login paths: the options file that `mysql_config_editor` keeps in `~/.mylogin.cnf`. It hides
//! passwords from a glance, not from who may read the file, which has its key.
//!
//! ```text
//! 4 bytes     unused
//! 20 bytes    the key; folded to 16 by XOR
//! then each line of the options file:
//!   4 bytes   how many bytes follow, little-endian
//!   n bytes   the line in AES-128 blocks (ECB), the last one filled up (PKCS#7)
//! ```
//!
//! The lines are those of `my.cnf`; a group `[NAME]` is what `--login-path=NAME` asks for.

use crate::options_file::{self, FileOption};
use aes::Aes128;
use aes::cipher::generic_array::GenericArray;
use aes::cipher::{BlockDecrypt, KeyInit};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const UNUSED: usize = 4;
const KEY: usize = 20;
const BLOCK: usize = 16;
/// What others than the owner may do, and running the file.
const NOT_PRIVATE: u32 = 0o177;

/// Where the file is: `MYSQL_TEST_LOGIN_FILE` names it, as for MySQL's clients.
pub(crate) fn place() -> Option<PathBuf> {
    let named = std::env::var_os("MYSQL_TEST_LOGIN_FILE").map(PathBuf::from);
    named.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".mylogin.cnf")))
}

/// The options of the file, in order; none where there is no file. An error says why it is ignored.
pub(crate) fn read(path: &Path) -> Result<Vec<FileOption>, String> {
    let Ok(found) = fs::metadata(path) else { return Ok(Vec::new()) };
    if found.is_file() && found.permissions().mode() & NOT_PRIVATE != 0 {
        return Err(format!(
            "{} should be readable/writable only by current user.",
            path.display()
        ));
    }
    let bytes = fs::read(path);
    let bytes = bytes.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let text = decrypted(&bytes).ok_or_else(|| format!("{} is damaged", path.display()))?;
    options_file::parse(&text, path)
}

/// The text that the bytes of a file hide; `None` where they are not of the form above.
fn decrypted(bytes: &[u8]) -> Option<String> {
    let (key, mut rest) = bytes.get(UNUSED..)?.split_at_checked(KEY)?;
    let mut folded = [0; BLOCK];
    key.iter().enumerate().for_each(|(at, byte)| folded[at % BLOCK] ^= byte);
    let cipher = Aes128::new(&GenericArray::from(folded));
    let mut text = Vec::new();
    while !rest.is_empty() {
        let (length, lines) = rest.split_first_chunk()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (line, after) = lines.split_at_checked(length)?;
        text.extend(line_of(&cipher, line)?);
        rest = after;
    }
    String::from_utf8(text).ok()
}

fn line_of(cipher: &Aes128, blocks: &[u8]) -> Option<Vec<u8>> {
    let mut line = blocks.to_vec();
    let mut blocks = line.chunks_exact_mut(BLOCK);
    blocks.by_ref().for_each(|block| cipher.decrypt_block(GenericArray::from_mut_slice(block)));
    let whole = blocks.into_remainder().is_empty();
    let filled = line.last().copied().filter(|&n| whole && (1..=BLOCK).contains(&n.into()))?;
    let end = line.len() - usize::from(filled);
    line[end..].iter().all(|&byte| byte == filled).then(|| line.truncate(end))?;
    Some(line)
}

#[cfg(test)]
mod tests;
