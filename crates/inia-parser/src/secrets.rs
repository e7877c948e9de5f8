//! Statement texts as logs show them: without passwords, and with values for parameters.

use crate::SqlMode;
use crate::keyword::Kw;
use crate::lexer::{Lexer, Tok, Token};

const HIDDEN: &str = "<secret>";

/// The statement with `<secret>` in place of each password, and PREPARE without the statement that
/// it prepares. `None` where the text names none, or is no row of tokens.
pub fn hide_secrets(sql: &str, mode: SqlMode) -> Option<String> {
    let mut lexer = Lexer::new(sql.as_bytes(), mode);
    let (first, second) = (lexer.next(), lexer.next());
    let text_of = |token: Token| sql.get(token.start as usize..token.end as usize);
    let has_secret = match first.kw {
        Kw::CREATE | Kw::ALTER => matches!(second.kw, Kw::USER | Kw::SERVER),
        Kw::SET => second.kw == Kw::PASSWORD,
        Kw::PREPARE => return Some(format!("PREPARE {} FROM ...", text_of(second)?)),
        Kw::GRANT | Kw::CHANGE | Kw::START => true,
        _ => false,
    };
    if !has_secret {
        return None;
    }
    let of_set = first.kw == Kw::SET;
    let (mut hidden, mut from, mut before, mut found) = (String::new(), 0, second, false);
    loop {
        let token = lexer.next();
        if matches!(token.tok, Tok::Eof | Tok::Error) {
            break;
        }
        let is_text = matches!(token.tok, Tok::Str | Tok::NStr | Tok::Hex);
        if is_text && names_secret(before, of_set, text_of(before).unwrap_or_default()) {
            hidden.push_str(sql.get(from..token.start as usize)?);
            match before.kw {
                Kw::AS => hidden.push_str("'<secret>'"),
                _ => hidden.push_str(HIDDEN),
            }
            (from, found) = (token.end as usize, true);
        }
        // `MASTER_PASSWORD = '…'`: the word before the sign says what the text is.
        let is_sign = token.tok == Tok::Eq && names_secret(before, false, text_of(before)?);
        if !is_sign {
            before = token;
        }
    }
    hidden.push_str(sql.get(from..)?);
    found.then_some(hidden)
}

/// Whether a text behind this token is a password.
fn names_secret(before: Token, of_set: bool, word: &str) -> bool {
    match before.tok {
        Tok::Word => {
            matches!(before.kw, Kw::BY | Kw::AS | Kw::REPLACE)
                || word.to_ascii_uppercase().ends_with("PASSWORD")
        }
        // SET PASSWORD = '…' and SET PASSWORD = PASSWORD('…').
        Tok::Eq | Tok::LParen => of_set,
        _ => false,
    }
}

/// Where the text has its parameters.
pub fn param_places(sql: &str, mode: SqlMode) -> Vec<usize> {
    let mut lexer = Lexer::new(sql.as_bytes(), mode);
    let mut places = Vec::new();
    loop {
        let token = lexer.next();
        match token.tok {
            Tok::Eof | Tok::Error => return places,
            Tok::Param => places.push(token.start as usize),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::hide_secrets;
    use crate::SqlMode;

    fn hidden(sql: &str) -> String {
        hide_secrets(sql, SqlMode::empty()).unwrap_or_else(|| sql.to_owned())
    }

    #[test]
    fn passwords_are_hidden() {
        let cases = [
            ("create user u identified by 'x'", "create user u identified by <secret>"),
            (
                "ALTER USER u@h IDENTIFIED WITH p BY 'x' REPLACE 'y' COMMENT 'z'",
                "ALTER USER u@h IDENTIFIED WITH p BY <secret> REPLACE <secret> COMMENT 'z'",
            ),
            (
                "create user 'by'@'h' identified with 'p' as 'hash', w identified by 'q'",
                "create user 'by'@'h' identified with 'p' as '<secret>', w identified by <secret>",
            ),
            ("set password for 'u' = 'x'", "set password for 'u' = <secret>"),
            ("SET PASSWORD=PASSWORD('x')", "SET PASSWORD=PASSWORD(<secret>)"),
            ("change master to master_password='x'", "change master to master_password=<secret>"),
            ("prepare s from 'select 1'", "PREPARE s FROM ..."),
            ("select 'x' as password", "select 'x' as password"),
            ("grant select on *.* to u", "grant select on *.* to u"),
        ];
        for (sql, expected) in cases {
            assert_eq!(hidden(sql), expected);
        }
    }
}
