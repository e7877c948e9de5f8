//! Texts that make no sense: the parser refuses them or not, but it never panics.

use crate::{Parser, SqlMode, digest, parse_bytes};

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        ((self.0 >> 33) % limit as u64) as usize
    }
}

/// Reads all statements of `sql` in every interesting mode.
fn read(sql: &[u8]) {
    let strict = SqlMode::ANSI_QUOTES
        .with(SqlMode::PIPES_AS_CONCAT)
        .with(SqlMode::NO_BACKSLASH_ESCAPES)
        .with(SqlMode::IGNORE_SPACE)
        .with(SqlMode::HIGH_NOT_PRECEDENCE);
    for mode in [SqlMode::empty(), strict] {
        if let Err(error) = parse_bytes(sql, mode) {
            assert!(error.offset <= sql.len() && error.near.len() <= 240);
            let _ = error.message();
        }
        let mut parser = Parser::from_bytes(sql, mode);
        while let Ok(Some((_, span))) = parser.next_statement() {
            assert!(span.start <= span.end && span.end <= sql.len());
        }
        if let Ok(text) = str::from_utf8(sql) {
            let _ = digest(text, mode);
        }
    }
}

fn accepted() -> Vec<&'static str> {
    include_str!("accepted.sql")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("##"))
        .collect()
}

#[test]
fn random_bytes() {
    let mut random = Random(1);
    for _ in 0..5_000 {
        let length = random.below(40);
        let bytes: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
        read(&bytes);
        let signs = b"'\"`\\/*!-#@:;().,0x9b_nN \n?|&<=>{}eE$\xc3\xa9";
        let bytes: Vec<u8> = (0..length).map(|_| signs[random.below(signs.len())]).collect();
        read(&bytes);
    }
}

#[test]
fn random_tokens() {
    let statements = accepted();
    let words: Vec<&str> = statements.iter().flat_map(|s| s.split(' ')).collect();
    let mut random = Random(2);
    for _ in 0..5_000 {
        let mut sql = String::new();
        for _ in 0..1 + random.below(12) {
            sql.push_str(words[random.below(words.len())]);
            sql.push(' ');
        }
        read(sql.as_bytes());
    }
}

#[test]
fn statements_cut_short_or_with_words_exchanged() {
    let statements = accepted();
    let mut random = Random(3);
    for sql in &statements {
        let mut words: Vec<&str> = sql.split(' ').collect();
        for cut in 0..words.len() {
            read(words[..cut].join(" ").as_bytes());
        }
        for _ in 0..5 {
            let other = statements[random.below(statements.len())];
            let others: Vec<&str> = other.split(' ').collect();
            let at = random.below(words.len());
            words[at] = others[random.below(others.len())];
            read(words.join(" ").as_bytes());
        }
        read(&sql.as_bytes()[..random.below(sql.len() + 1)]);
    }
}
