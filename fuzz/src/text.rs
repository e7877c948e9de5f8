//! The parser: what it takes can be printed, and the print is taken and printed the same.

use inia_parser::{Parser, SqlMode, digest, parse_bytes, unparse};

const MODES: [SqlMode; 3] = [SqlMode::empty(), SqlMode::ANSI_QUOTES, SqlMode::NO_BACKSLASH_ESCAPES];

pub fn run(data: &[u8]) {
    for mode in MODES {
        let mut parser = Parser::from_bytes(data, mode);
        while let Ok(Some((_, span))) = parser.next_statement() {
            assert!(span.start <= span.end && span.end <= data.len());
        }
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = digest(text, SqlMode::empty());
    let Ok(expr) = inia_parser::parse_expr(text, SqlMode::empty()) else { return };
    let Some(printed) = unparse(&expr, "utf8mb4") else { return };
    let again = parse_bytes(format!("SELECT {printed}").as_bytes(), SqlMode::empty());
    assert!(again.is_ok(), "{text:?} prints as {printed:?}: {again:?}");
}
