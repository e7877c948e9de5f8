//! The tokens of what AGAINST is given.

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// `+ - < > ~ ( ) * @`.
    Sign(char),
    /// Digits alone.
    Number(&'t str),
    /// Anything up to a space, a quote or a sign.
    Term(&'t str),
    /// What is between two quotes.
    Quoted(&'t str),
    /// Nothing is left.
    End,
}

impl Token<'_> {
    /// What errors call it.
    pub(super) fn name(self) -> String {
        match self {
            Token::Sign(sign) => format!("'{sign}'"),
            Token::Number(_) => "FTS_NUMB".to_owned(),
            Token::Term(_) => "FTS_TERM".to_owned(),
            Token::Quoted(_) => "FTS_TEXT".to_owned(),
            Token::End => "$end".to_owned(),
        }
    }
}

/// Cuts a text into tokens.
pub(super) struct Lexer<'t> {
    rest: &'t str,
    /// Signs are operators; else only a `*` by itself is one.
    signs: bool,
}

fn ends_term(char: char, signs: bool) -> bool {
    matches!(char, '"' | ' ' | '\n' | '%')
        || (signs && matches!(char, '(' | ')' | '+' | '-' | '<' | '>' | '~' | '*' | '@' | '\t'))
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str, signs: bool) -> Lexer<'t> {
        Lexer { rest: text, signs }
    }

    pub(super) fn next(&mut self) -> Token<'t> {
        loop {
            let Some(first) = self.rest.chars().next() else { return Token::End };
            if first == '"'
                && let Some(end) = self.rest[1..].find(['"', '\n'])
                && self.rest.as_bytes()[1 + end] == b'"'
            {
                let text = &self.rest[1..1 + end];
                self.rest = &self.rest[end + 2..];
                return Token::Quoted(text);
            }
            let end = self.rest.find(|char| ends_term(char, self.signs));
            let (term, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
            if !term.is_empty() {
                self.rest = rest;
                return match term {
                    "*" => Token::Sign('*'),
                    _ if term.bytes().all(|byte| byte.is_ascii_digit()) => Token::Number(term),
                    _ => Token::Term(term),
                };
            }
            self.rest = &self.rest[first.len_utf8()..];
            if self.signs && !matches!(first, '"' | ' ' | '\n' | '%' | '\t') {
                return Token::Sign(first);
            }
        }
    }
}
