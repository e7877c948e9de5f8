//! Inputs to begin with: the statements of the differential corpus, and packets as clients send.

use inia_testkit::Random;
use inia_wire::caps::Capabilities;
use inia_wire::handshake::{Greeting, Login};
use std::path::{Path, PathBuf};

/// The texts of the corpus' scripts.
fn texts() -> Vec<String> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/inia/tests/sql")];
    let mut found: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).expect("the corpus is beside this folder");
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            match path.extension().is_some_and(|ext| ext == "sql") {
                true => found.push(path),
                false if path.is_dir() => folders.push(path),
                false => {}
            }
        }
    }
    found.sort();
    found.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect()
}

/// Single statements, and what follows SELECT in them.
pub fn statements() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for text in texts() {
        for statement in text.split(";\n").filter(|statement| statement.len() < 2_000) {
            all.push(statement.as_bytes().to_vec());
            if let Some(expression) = statement.strip_prefix("SELECT ") {
                all.push(expression.as_bytes().to_vec());
            }
        }
    }
    all
}

/// Some statements of a script, one after another.
pub fn scripts() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for text in texts() {
        let statements: Vec<&str> = text.split(";\n").filter(|s| s.len() < 1_000).collect();
        all.extend(statements.chunks(6).map(|some| some.join(";\n").into_bytes()));
    }
    all
}

pub fn packets() -> Vec<Vec<u8>> {
    let mut login = Vec::new();
    let fields = Login {
        capabilities: Capabilities::CLIENT,
        max_packet: 1 << 24,
        collation: 255,
        user: "root".to_owned(),
        database: Some("d".to_owned()),
        plugin: Some("caching_sha2_password".to_owned()),
        ..Login::default()
    };
    fields.encode(&mut login);
    let mut all: Vec<Vec<u8>> = [
        b"\x03SELECT 1".as_slice(),
        b"\x03\x01\x01\0\x01\xfe\0\x01a\x01xSELECT 1",
        b"\x17\x01\0\0\0\0\x01\0\0\0\0\x01\x08\0\x01\0\0\0\0\0\0\0",
        b"\x18\x01\0\0\0\x01\0some data",
        b"\x1c\x01\0\0\0\x02\0\0\0",
        b"\x11root\0\x14aaaaaaaaaaaaaaaaaaaad\0\xff\0caching_sha2_password\0\x06\x01a\x03bcd",
        b"\x04t\0%",
        b"\x1b\0\0",
        b"\xfecaching_sha2_password\0abcdefghijklmnopqrst\0",
        b"\x0a8.0.31\0\x08\0\0\0abcdefgh\0\xff\xff\xff\x02\0\xff\xdf\x15\0\0\0\0\0\0\0\0\0\0\
          ijklmnopqrst\0caching_sha2_password\0",
    ]
    .iter()
    .map(|payload| payload.to_vec())
    .collect();
    all.push(login);
    let framed = |payload: &Vec<u8>| [&(payload.len() as u32).to_le_bytes()[..], payload].concat();
    all.push(all.iter().flat_map(framed).collect());
    let _ = Greeting::decode(&all[9]);
    all
}

pub fn parameters() -> Vec<Vec<u8>> {
    let bodies: [&[u8]; 6] = [
        b"\x02\0\x01\x08\0\xfd\0\x01\0\0\0\0\0\0\0\x03abc",
        b"\x03\0\x01\xf6\0\x0b\0\x0c\0\x031.5\x0c\0\x01\0\0\0\x01\x02\x03\x04\0\0\0\
          \x07\xe8\x07\x02\x1d\x0c\0\0",
        b"\x01\x01\x01\x03\0",
        b"\x04\0\x01\x01\0\x02\0\x04\0\x05\0\x7f\xff\xff\0\0\x80\x3f\0\0\0\0\0\0\xf0\x3f",
        b"\x02\0\0\x01\0\0\0",
        b"\x01\0\x01\xf5\0\xfc\x02\0[]",
    ];
    bodies.iter().map(|body| body.to_vec()).collect()
}

pub fn values() -> Vec<Vec<u8>> {
    let texts = [
        "2024-02-29 23:59:59.999999",
        "20240131235959",
        "-838:59:59",
        "1 02:03:04.5",
        "2024-01-31 10:00:00+05:30",
        "12345678901234567890.123456789",
        "-1.7976931348623157e308",
        "{\"a\": [1, 2.5e3, {\"b\": null}], \"\u{e9}\": \"\\u00e9\\ud83d\\ude00\"}",
        "Europe/Berlin",
        "[-0.0, 18446744073709551615, true, \"x\"]",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub fn patterns() -> Vec<Vec<u8>> {
    let texts = [
        "abc\0a%b_c\\%\0ABC",
        "\u{e9}a\0__%\u{6f22}%\0x",
        "aaaaaaaaab\0^(a|b)*[[:alpha:]]{1,3}$\0$1",
        "[1, {\"a\": 2}]\0$[1].a\0\"x\"",
        "{\"a\": [1]}\0$**.a\0[]",
        "2024-02-29\0%Y-%m-%d\0%W %M",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Changes of an image: see [`crate::image`].
pub fn damage() -> Vec<Vec<u8>> {
    let mut random = Random::new(8);
    (0..200).map(|at| random.bytes(1 + 8 * (1 + at % 4))).collect()
}
