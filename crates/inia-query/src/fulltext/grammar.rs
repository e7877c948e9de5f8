//! Searches from their text.
//!
//! ```text
//!   list    (prefix? (word | "phrase" [@ number] | '(' list ')'))*
//!   prefix  + - < > ~
//!   word    '*'* (term | number) '*'?
//! ```
//!
//! A term may have several words: `a,b` is looked for as `a` and `b` with the same prefix.

use super::lexer::{Lexer, Token};
use super::ngram_grammar;
use super::search::{Item, Operator, Search, SearchPart, WordRules};
use super::tokens::TextParser;
use inia_base::error::{ErrorCode, SqlError};

/// Groups that are deeper in one another are refused.
const MAX_DEPTH: usize = 200;

/// The search of a text IN BOOLEAN MODE; error 1064.
pub(crate) fn parse_boolean(text: &str, rules: &WordRules) -> Result<Search, SqlError> {
    match rules.parser {
        TextParser::Ngrams(size) => Ok(ngram_grammar::boolean(text, size, rules)),
        TextParser::Words => Grammar::new(text, rules, true).parse(),
    }
}

/// The search of a text in natural language; error 1064.
pub(crate) fn parse_natural(text: &str, rules: &WordRules) -> Result<Search, SqlError> {
    match rules.parser {
        TextParser::Ngrams(_) => Ok(ngram_grammar::natural(text, rules)),
        TextParser::Words => Grammar::new(text, rules, false).parse(),
    }
}

struct Grammar<'g> {
    lexer: Lexer<'g>,
    /// The token that is next.
    token: Token<'g>,
    rules: &'g WordRules,
    search: Search,
}

type Parsed<T> = Result<T, SqlError>;

impl<'g> Grammar<'g> {
    fn new(text: &'g str, rules: &'g WordRules, signs: bool) -> Grammar<'g> {
        let mut lexer = Lexer::new(text, signs);
        let token = lexer.next();
        Grammar { lexer, token, rules, search: Search::default() }
    }

    fn parse(mut self) -> Parsed<Search> {
        let parts = self.list(0)?;
        self.search.parts = parts;
        Ok(self.search)
    }

    fn advance(&mut self) {
        self.token = self.lexer.next();
    }

    fn unexpected<T>(&self, expecting: &str) -> Parsed<T> {
        let mut message = format!("syntax error, unexpected {}", self.token.name());
        if !expecting.is_empty() {
            message.push_str(&format!(", expecting {expecting}"));
        }
        Err(SqlError::with_message(ErrorCode::Syntax, message))
    }

    /// Parts up to the end of the text, or of the group at this depth.
    fn list(&mut self, depth: usize) -> Parsed<Vec<SearchPart>> {
        let mut parts = Vec::new();
        loop {
            let operator = match self.token {
                Token::Sign('+') => Operator::Required,
                Token::Sign('-') => Operator::Excluded,
                Token::Sign('>') => Operator::Raised,
                Token::Sign('<') => Operator::Lowered,
                Token::Sign('~') => Operator::Negated,
                _ => Operator::Any,
            };
            if operator != Operator::Any {
                self.advance();
            }
            match self.token {
                Token::Sign('(') if depth < MAX_DEPTH => {
                    self.advance();
                    let item = Item::Group(self.list(depth + 1)?);
                    self.advance();
                    parts.push(SearchPart { operator, item });
                }
                Token::Quoted(text) => {
                    let item = self.quoted(text)?;
                    parts.extend(item.map(|item| SearchPart { operator, item }));
                }
                Token::Term(_) | Token::Number(_) | Token::Sign('*') => {
                    let mut items = self.term()?;
                    let item = match items.len() {
                        0 | 1 => items.pop(),
                        _ => Some(Item::Several(items)),
                    };
                    parts.extend(item.map(|item| SearchPart { operator, item }));
                }
                _ if operator != Operator::Any => return self.unexpected(""),
                Token::Sign(')') if depth > 0 => return Ok(parts),
                Token::End if depth == 0 => return Ok(parts),
                _ if depth > 0 => return self.unexpected(""),
                _ => return self.unexpected("$end"),
            }
        }
    }

    fn term(&mut self) -> Parsed<Vec<Item>> {
        while self.token == Token::Sign('*') {
            self.advance();
        }
        let (Token::Term(text) | Token::Number(text)) = self.token else {
            return self.unexpected("FTS_TERM or FTS_NUMB or '*'");
        };
        self.advance();
        let begins = self.token == Token::Sign('*');
        if begins {
            self.advance();
        }
        Ok(self.words_of_term(text, begins))
    }

    /// The words of a term. The first counts whatever its length, and so is found nowhere where it
    /// is too short; others of a wrong length are passed over.
    fn words_of_term(&mut self, text: &str, begins: bool) -> Vec<Item> {
        let mut items = Vec::new();
        let mut words = Vec::new();
        TextParser::Words.each(text, |word| words.push(word));
        for word in words {
            let chars = word.chars().count();
            let short = !items.is_empty() && chars < self.rules.min_chars;
            if short || chars > self.rules.max_chars {
                continue;
            }
            let word = self.search.word(word, self.rules);
            items.push(Item::Word { word, begins: false });
        }
        // The star stands behind the last word.
        if let Some(Item::Word { begins: last, .. }) = items.last_mut() {
            *last = begins;
        }
        items
    }

    /// A phrase, or words with the distance that they are in.
    fn quoted(&mut self, text: &str) -> Parsed<Option<Item>> {
        self.advance();
        let mut words = Vec::new();
        self.rules.parser.each(text, |word| words.push(word));
        let words: Vec<usize> =
            words.into_iter().map(|word| self.search.word(word, self.rules)).collect();
        let mut distance = None;
        if self.token == Token::Sign('@') {
            self.advance();
            let Token::Number(number) = self.token else { return self.unexpected("FTS_NUMB") };
            distance = Some(number.parse().unwrap_or(u32::MAX));
            self.advance();
        }
        if words.is_empty() {
            return Ok(None);
        }
        Ok(Some(match distance {
            None => self.search.phrase(words),
            Some(distance) => {
                let is_searched = |word: &usize| self.search.words[*word].is_searched;
                let words: Vec<usize> = words.into_iter().filter(is_searched).collect();
                match words[..] {
                    [word] => Item::Word { word, begins: false },
                    _ => Item::Near { words, distance },
                }
            }
        }))
    }
}
