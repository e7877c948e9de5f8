//! A file of `mysql_config_editor`'s form, encrypted by OpenSSL, and damaged ones.

use super::*;

const FILE: &str = "00000000030405060708090a0b0c0d0e0f10111213141516\
    100000004a95a8eb9c2d5e0852a30405de1c9ee7\
    10000000cff9509e8b4f5bda71912d29c7035789\
    10000000f91a87f70c5dd3ff3982212fb22d0db4\
    20000000985437039de1ff716820dc055058112e4f3ee42a86992c9c2853e0b486cfe4db\
    20000000c7363e3b34086dc98e28f9f2b89a40145f18a3e2a4f6f11cc079ec5aff6a62af";

fn bytes() -> Vec<u8> {
    let digits = |at| u8::from_str_radix(&FILE[at..at + 2], 16).unwrap();
    (0..FILE.len()).step_by(2).map(digits).collect()
}

#[test]
fn lines_are_those_of_an_options_file() {
    let text = decrypted(&bytes()).unwrap();
    let lines = "[client]\nuser = \"ada\"\n[remote]\nhost = \"db.example\"\n\
                 password = \"se \\\"cret\\\" #1\"\n";
    assert_eq!(text, lines);
    let path = std::env::temp_dir().join(format!("inia-mylogin-{}", std::process::id()));
    assert_eq!(read(&path), Ok(Vec::new()), "there is no file");
    fs::write(&path, bytes()).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let open = read(&path).unwrap_err();
    assert!(open.ends_with("should be readable/writable only by current user."), "{open}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let options = read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let own = |one: &FileOption| (one.group.clone(), one.name.clone(), one.value.clone());
    let expected = [("client", "user", "ada"), ("remote", "host", "db.example")]
        .into_iter()
        .chain([("remote", "password", "se \"cret\" #1")])
        .map(|(group, name, value)| (group.to_owned(), name.to_owned(), Some(value.to_owned())));
    assert_eq!(options.iter().map(own).collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

#[test]
fn damaged_files_are_refused() {
    let whole = bytes();
    let line_ends = [UNUSED + KEY, 44, 64, 84, 120, 156];
    for end in 0..=whole.len() {
        let is_whole = line_ends.contains(&end);
        assert_eq!(decrypted(&whole[..end]).is_some(), is_whole, "the first {end} bytes");
    }
    for at in UNUSED..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 0x80;
        // Some other text, or none.
        let _ = decrypted(&changed);
    }
    let mut other_key = whole.clone();
    other_key[UNUSED] ^= 1;
    assert_eq!(decrypted(&other_key), None);
}
