//! Cuts lines of text into statements.
//!
//! Text is bytes in any character set that has ASCII in its lower half: the server knows which.

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
    pub(super) sql: Vec<u8>,
    pub(super) ending: Ending,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    Plain,
    Quoted(u8),
    LineComment,
    BlockComment,
}

/// Collects lines until statements are whole.
pub(super) struct Splitter {
    text: Vec<u8>,
    inside: Inside,
    delimiter: Vec<u8>,
}

impl Default for Splitter {
    fn default() -> Splitter {
        Splitter { text: Vec::new(), inside: Inside::Plain, delimiter: b";".to_vec() }
    }
}

impl Splitter {
    /// Whether a statement has begun.
    pub(super) fn is_inside(&self) -> bool {
        !self.text.trim_ascii().is_empty()
    }

    /// Takes a line and returns the statements that it ends.
    pub(super) fn feed(&mut self, line: &[u8]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        if !self.is_inside() && self.take_delimiter(line) {
            return pieces;
        }
        let mut rest = line;
        while let Some(&first) = rest.first() {
            if self.inside == Inside::Plain {
                let ending = match () {
                    () if rest.starts_with(&self.delimiter) => {
                        Some((Ending::Plain, self.delimiter.len()))
                    }
                    () if rest.starts_with(b"\\G") => Some((Ending::Vertical, 2)),
                    () if rest.starts_with(b"\\g") => Some((Ending::Plain, 2)),
                    () => None,
                };
                if let Some((ending, len)) = ending {
                    pieces.extend(self.cut(ending));
                    rest = &rest[len..];
                    continue;
                }
            }
            let len = self.step(first, rest);
            self.text.extend_from_slice(&rest[..len]);
            rest = &rest[len..];
        }
        pieces
    }

    /// What is left at the end of the input.
    pub(super) fn rest(mut self) -> Option<Piece> {
        self.cut(Ending::Plain)
    }

    /// Moves over one token of the text; returns its length.
    fn step(&mut self, first: u8, rest: &[u8]) -> usize {
        match (self.inside, first, rest.get(1)) {
            (Inside::Plain, b'\'' | b'"' | b'`', _) => self.inside = Inside::Quoted(first),
            (Inside::Plain, b'#', _) => self.inside = Inside::LineComment,
            (Inside::Plain, b'-', Some(b'-')) => {
                if rest.get(2).is_none_or(u8::is_ascii_whitespace) {
                    self.inside = Inside::LineComment;
                }
                return 2;
            }
            (Inside::Plain, b'/', Some(b'*')) => {
                self.inside = Inside::BlockComment;
                return 2;
            }
            (Inside::Quoted(quote), b'\\', Some(_)) if quote != b'`' => return 2,
            (Inside::Quoted(quote), _, _) if first == quote => self.inside = Inside::Plain,
            (Inside::LineComment, b'\n', _) => self.inside = Inside::Plain,
            (Inside::BlockComment, b'*', Some(b'/')) => {
                self.inside = Inside::Plain;
                return 2;
            }
            _ => {}
        }
        1
    }

    fn cut(&mut self, ending: Ending) -> Option<Piece> {
        let sql = std::mem::take(&mut self.text).trim_ascii().to_vec();
        (!sql.is_empty()).then_some(Piece { sql, ending })
    }

    /// `DELIMITER //` changes the end mark.
    fn take_delimiter(&mut self, line: &[u8]) -> bool {
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let is_command = words.next().is_some_and(|word| word.eq_ignore_ascii_case(b"delimiter"));
        match words.next() {
            Some(mark) if is_command => {
                self.delimiter = mark.to_vec();
                self.text.clear();
                true
            }
            _ => false,
        }
    }
}
