//! Cuts lines of text into statements.

/// How a statement's rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// As usual.
    Plain,
    /// By `\G`: one column a line.
    Vertical,
}

/// One statement, without its end mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) sql: String,
    pub(super) ending: Ending,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    Plain,
    Quoted(char),
    LineComment,
    BlockComment,
}

/// Collects lines until statements are whole.
pub(super) struct Splitter {
    text: String,
    inside: Inside,
    delimiter: String,
}

impl Default for Splitter {
    fn default() -> Splitter {
        Splitter { text: String::new(), inside: Inside::Plain, delimiter: ";".to_owned() }
    }
}

impl Splitter {
    /// Whether a statement has begun.
    pub(super) fn is_inside(&self) -> bool {
        !self.text.trim().is_empty()
    }

    /// Takes a line and returns the statements that it ends.
    pub(super) fn feed(&mut self, line: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        if !self.is_inside() && self.take_delimiter(line) {
            return pieces;
        }
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            if self.inside == Inside::Plain {
                let ending = match () {
                    () if rest.starts_with(&self.delimiter) => {
                        Some((Ending::Plain, self.delimiter.len()))
                    }
                    () if rest.starts_with("\\G") => Some((Ending::Vertical, 2)),
                    () if rest.starts_with("\\g") => Some((Ending::Plain, 2)),
                    () => None,
                };
                if let Some((ending, len)) = ending {
                    pieces.extend(self.cut(ending));
                    rest = &rest[len..];
                    continue;
                }
            }
            let len = self.step(first, rest);
            self.text.push_str(&rest[..len]);
            rest = &rest[len..];
        }
        pieces
    }

    /// What is left at the end of the input.
    pub(super) fn rest(mut self) -> Option<Piece> {
        self.cut(Ending::Plain)
    }

    /// Moves over one token of the text; returns its length.
    fn step(&mut self, first: char, rest: &str) -> usize {
        let len = first.len_utf8();
        let second = rest[len..].chars().next();
        match (self.inside, first, second) {
            (Inside::Plain, '\'' | '"' | '`', _) => self.inside = Inside::Quoted(first),
            (Inside::Plain, '#', _) => self.inside = Inside::LineComment,
            (Inside::Plain, '-', Some('-')) => {
                let third = rest[2..].chars().next();
                if third.is_none_or(char::is_whitespace) {
                    self.inside = Inside::LineComment;
                }
                return 2;
            }
            (Inside::Plain, '/', Some('*')) => {
                self.inside = Inside::BlockComment;
                return 2;
            }
            (Inside::Quoted(quote), '\\', Some(next)) if quote != '`' => {
                return 1 + next.len_utf8();
            }
            (Inside::Quoted(quote), _, _) if first == quote => self.inside = Inside::Plain,
            (Inside::LineComment, '\n', _) => self.inside = Inside::Plain,
            (Inside::BlockComment, '*', Some('/')) => {
                self.inside = Inside::Plain;
                return 2;
            }
            _ => {}
        }
        len
    }

    fn cut(&mut self, ending: Ending) -> Option<Piece> {
        let sql = std::mem::take(&mut self.text).trim().to_owned();
        (!sql.is_empty()).then_some(Piece { sql, ending })
    }

    /// `DELIMITER //` changes the end mark.
    fn take_delimiter(&mut self, line: &str) -> bool {
        let mut words = line.split_whitespace();
        let is_command = words.next().is_some_and(|word| word.eq_ignore_ascii_case("delimiter"));
        match words.next() {
            Some(mark) if is_command => {
                self.delimiter = mark.to_owned();
                self.text.clear();
                true
            }
            _ => false,
        }
    }
}
