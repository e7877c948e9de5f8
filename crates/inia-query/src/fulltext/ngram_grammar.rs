//! Searches in an index of ngrams, which have a syntax of their own.
//!
//! A sign is an operator only behind a space or a parenthesis, else it stands between words:
//! `+co-op` requires `co` and may have `op`. A word of more characters than an ngram is a phrase
//! of ngrams, a shorter one is found nowhere unless a `*` follows. Quotes make one phrase of all
//! ngrams in them. In natural language each ngram is looked for by itself.

use super::search::{Item, Operator, Search, SearchPart, WordRules};
use super::tokens::TextParser;

/// Groups that are deeper in one another are passed over.
const MAX_DEPTH: usize = 200;

/// The search of a text in natural language.
pub(super) fn natural(text: &str, rules: &WordRules) -> Search {
    let mut search = Search::default();
    rules.parser.each(text, |gram| {
        let word = search.word(gram, rules);
        if search.words[word].is_searched {
            let item = Item::Word { word, begins: false };
            search.parts.push(SearchPart { operator: Operator::Any, item });
        }
    });
    search
}

/// The search of a text IN BOOLEAN MODE; it finds nothing where parentheses do not match.
pub(super) fn boolean(text: &str, size: usize, rules: &WordRules) -> Search {
    let mut runs = Vec::new();
    TextParser::Words.each(text, |run| {
        // A run is a part of the text.
        let start = run.as_ptr() as usize - text.as_ptr() as usize;
        runs.push((start, start + run.len()));
    });
    runs.reverse();
    let scan = Scan { text, at: 0, runs, behind_space: true, quoted: false };
    let search = Search { whole_lists: true, ..Search::default() };
    let mut parser = Parser { scan, size, rules, search };
    match parser.list(0) {
        Some(parts) => parser.search.parts = parts,
        None => parser.search = Search::default(),
    }
    parser.search
}

enum Token<'t> {
    Word { text: &'t str, operator: Operator, begins: bool },
    Group(Operator),
    Quote(Operator),
    Close,
    End,
}

struct Scan<'t> {
    text: &'t str,
    at: usize,
    /// Where words are, the last one first.
    runs: Vec<(usize, usize)>,
    /// A sign would be an operator.
    behind_space: bool,
    quoted: bool,
}

impl<'t> Scan<'t> {
    fn next(&mut self) -> Token<'t> {
        let mut operator = Operator::Any;
        while let Some(char) = self.text[self.at..].chars().next() {
            if let Some(&(start, end)) = self.runs.last()
                && start == self.at
            {
                self.runs.pop();
                self.at = end;
                self.behind_space = false;
                let begins = self.text[end..].starts_with('*');
                self.at += usize::from(begins);
                return Token::Word { text: &self.text[start..end], operator, begins };
            }
            self.at += char.len_utf8();
            match char {
                '"' if self.quoted => {
                    self.quoted = false;
                    return Token::Close;
                }
                '(' | ')' | '"' if !self.quoted => {
                    self.behind_space = true;
                    self.quoted = char == '"';
                    return match char {
                        '(' => Token::Group(operator),
                        '"' => Token::Quote(operator),
                        _ => Token::Close,
                    };
                }
                _ => {}
            }
            let sign = match char {
                '+' => Some(Operator::Required),
                '-' => Some(Operator::Excluded),
                '>' => Some(Operator::Raised),
                '<' => Some(Operator::Lowered),
                '~' => Some(Operator::Negated),
                _ => None,
            };
            match sign.filter(|_| self.behind_space && !self.quoted) {
                Some(sign) => operator = sign,
                None => {
                    self.behind_space = char == ' ';
                    operator = Operator::Any;
                }
            }
        }
        Token::End
    }
}

struct Parser<'p> {
    scan: Scan<'p>,
    size: usize,
    rules: &'p WordRules,
    search: Search,
}

impl Parser<'_> {
    /// Parts up to the end of the text, or of the group at this depth; `None` where that is not
    /// where it should be.
    fn list(&mut self, depth: usize) -> Option<Vec<SearchPart>> {
        let mut parts = Vec::new();
        loop {
            match self.scan.next() {
                Token::Word { text, operator, begins } => {
                    let item = self.word(text, begins);
                    parts.push(SearchPart { operator, item });
                }
                Token::Quote(operator) => {
                    let item = self.quoted();
                    parts.extend(item.map(|item| SearchPart { operator, item }));
                }
                Token::Group(operator) if depth < MAX_DEPTH => {
                    let item = Item::Group(self.list(depth + 1)?);
                    parts.push(SearchPart { operator, item });
                }
                Token::Group(_) => return None,
                Token::Close => return (depth > 0).then_some(parts),
                Token::End => return (depth == 0).then_some(parts),
            }
        }
    }

    fn is_short(&self, text: &str) -> bool {
        text.chars().count() < self.size
    }

    /// A word that no index has, or what words begin with.
    fn short(&mut self, text: &str, begins: bool) -> Item {
        Item::Word { word: self.search.word(text, self.rules), begins }
    }

    fn word(&mut self, text: &str, begins: bool) -> Item {
        match self.is_short(text) {
            true => self.short(text, begins),
            false => {
                let words = self.grams(text);
                self.search.phrase(words)
            }
        }
    }

    fn grams(&mut self, text: &str) -> Vec<usize> {
        let mut words = Vec::new();
        let (search, rules) = (&mut self.search, self.rules);
        rules.parser.each(text, |gram| words.push(search.word(gram, rules)));
        words
    }

    /// The phrase up to the closing quote. A word that is too short is nowhere, nor is the phrase.
    fn quoted(&mut self) -> Option<Item> {
        let (mut words, mut short) = (Vec::new(), None);
        while let Token::Word { text, .. } = self.scan.next() {
            match self.is_short(text) {
                true => short = Some(text),
                false => words.extend(self.grams(text)),
            }
        }
        match short {
            Some(text) => Some(self.short(text, false)),
            None if words.is_empty() => None,
            None => Some(self.search.phrase(words)),
        }
    }
}
