//! Statements whose strings hold bytes that are no UTF-8, as statements that are.
//!
//! Clients put the bytes of a BLOB between quotes as they are. Everything behind the connection
//! works on UTF-8, so such a string is written anew in hexadecimal digits, which means the same:
//!
//! ```text
//! INSERT INTO t VALUES (1, _binary'\0ÿ')     INSERT INTO t VALUES (1, _binary x'00FF')
//! ```
//!
//! Adjacent strings are one literal and become one. Comments lose what is no UTF-8 in them; names
//! must be UTF-8.

use crate::{
    SqlMode,
    lexer::{Lexer, Tok, Token, unescape},
};

/// The same statements in UTF-8, or `None` where a name (or something else that is neither a
/// string nor a comment) is not.
pub fn binary_text(sql: &[u8], mode: SqlMode) -> Option<String> {
    let mut lexer = Lexer::new(sql, mode);
    let mut text = String::with_capacity(sql.len());
    let mut copied = 0;
    let mut token = lexer.next();
    while token.tok != Tok::Eof {
        let start = token.start as usize;
        // Between tokens there is nothing but space and comments.
        text.push_str(&String::from_utf8_lossy(&sql[copied..start]));
        if token.tok != Tok::Str {
            copied = token.end as usize;
            text.push_str(str::from_utf8(&sql[start..copied]).ok()?);
            token = lexer.next();
            continue;
        }
        let mut value = Vec::new();
        while token.tok == Tok::Str {
            copied = token.end as usize;
            value.extend(string_value(sql, token, mode));
            token = lexer.next();
        }
        let run = &sql[start..copied];
        match str::from_utf8(run) {
            Ok(run) => text.push_str(run),
            Err(_) => put_hexadecimal(&value, &mut text),
        }
    }
    text.push_str(&String::from_utf8_lossy(&sql[copied..]));
    Some(text)
}

fn string_value(sql: &[u8], token: Token, mode: SqlMode) -> Vec<u8> {
    let quoted = &sql[token.start as usize..token.end as usize];
    let inner = &quoted[1..quoted.len() - 1];
    unescape(inner, quoted[0], !mode.has(SqlMode::NO_BACKSLASH_ESCAPES))
}

fn put_hexadecimal(bytes: &[u8], text: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    text.push_str(" x'");
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text.push('\'');
}

#[cfg(test)]
mod tests {
    //! What means the same, and what cannot be said.

    use super::binary_text;
    use crate::SqlMode;

    fn rewritten(sql: &[u8]) -> Option<String> {
        binary_text(sql, SqlMode::empty())
    }

    #[test]
    fn strings_become_digits() {
        let sql = b"INSERT t VALUES (_binary'\\0\xff''', 'plain')";
        let expected = "INSERT t VALUES (_binary x'00FF27', 'plain')";
        assert_eq!(rewritten(sql).as_deref(), Some(expected));
        assert_eq!(rewritten(b"SELECT 'a' '\xff' 'b' c").as_deref(), Some("SELECT  x'61FF62' c"));
    }

    #[test]
    fn backslashes_may_be_ordinary() {
        let sql = b"SELECT '\\\xff'";
        assert_eq!(rewritten(sql).as_deref(), Some("SELECT  x'FF'"));
        let ordinary = binary_text(sql, SqlMode::NO_BACKSLASH_ESCAPES);
        assert_eq!(ordinary.as_deref(), Some("SELECT  x'5CFF'"));
    }

    #[test]
    fn comments_lose_what_is_no_text() {
        assert_eq!(
            rewritten(b"SELECT 1 /*\xff*/ -- \xfe").unwrap(),
            "SELECT 1 /*\u{fffd}*/ -- \u{fffd}"
        );
    }

    #[test]
    fn names_must_be_text() {
        for sql in [&b"SELECT `\xff`"[..], b"SELECT \xff", b"SELECT @\xff", b"SELECT 'open \xff"] {
            assert_eq!(rewritten(sql), None);
        }
    }
}
