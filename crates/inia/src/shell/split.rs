//! Cuts lines of text into statements and the shell's own commands.
//!
//! Text is bytes in any character set that has ASCII in its lower half: the server knows which.
//!
//! ```text
//! use shop                  a command: a word at the begin of a line, which needs no end mark
//! -- so far                 a comment goes with the statement after it, but not with a command
//! SELECT 1\G \s             a statement and a command: letters after a backslash, anywhere
//! source a.sql; SELECT 2;   a line with an end mark is statements, and the first is a command
//! ```

use super::commands::Command;

/// How a statement's rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// As usual.
    Plain,
    /// By `\G`: one column a line.
    Vertical,
}

/// What the shell does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// A statement, without its end mark.
    Statement(Vec<u8>, Ending),
    /// A command of the shell.
    Command(Command),
}

/// A task, and the line that it begins on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) task: Task,
    pub(super) line: u64,
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
    /// Where the statement begins in the text, behind comments and white space.
    start: Option<usize>,
    inside: Inside,
    delimiter: Vec<u8>,
    /// Lines so far, and the one that the present text begins on.
    lines: u64,
    begun: u64,
}

impl Default for Splitter {
    fn default() -> Splitter {
        Splitter::with_delimiter(b";")
    }
}

impl Splitter {
    /// Statements end at this mark.
    pub(super) fn with_delimiter(delimiter: &[u8]) -> Splitter {
        let (text, delimiter) = (Vec::new(), delimiter.to_vec());
        Splitter { text, start: None, inside: Inside::Plain, delimiter, lines: 0, begun: 1 }
    }

    /// Whether a statement has begun, or a comment of several lines.
    pub(super) fn is_inside(&self) -> bool {
        self.start.is_some() || self.inside == Inside::BlockComment
    }

    /// The quote or comment that is open, as the prompt shows it.
    pub(super) fn open_mark(&self) -> char {
        match self.inside {
            Inside::Quoted(quote) => char::from(quote),
            Inside::BlockComment => '*',
            _ => '-',
        }
    }

    /// What ends statements.
    pub(super) fn delimiter(&self) -> &[u8] {
        &self.delimiter
    }

    /// Statements end at this mark from now on.
    pub(super) fn set_delimiter(&mut self, delimiter: &[u8]) {
        if self.delimiter != delimiter {
            self.delimiter = delimiter.to_vec();
        }
    }

    /// Forgets what has been typed of a statement.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.start = None;
        self.inside = Inside::Plain;
    }

    /// Takes a line and returns the tasks that it completes.
    pub(super) fn feed(&mut self, line: &[u8]) -> Vec<Piece> {
        self.lines += 1;
        let mut pieces = Vec::new();
        if !self.is_inside() {
            self.begun = self.lines;
            if self.take_command_line(line, &mut pieces) {
                self.clear();
                return pieces;
            }
        }
        let mut rest = line;
        while let Some(&first) = rest.first() {
            if self.inside == Inside::Plain
                && let Some(taken) = self.take_mark(rest, &mut pieces)
            {
                rest = &rest[taken..];
                continue;
            }
            let len = self.step(first, rest);
            if self.start.is_none() && self.is_content(rest) {
                self.start = Some(self.text.len());
                self.begun = self.lines;
            }
            self.text.extend_from_slice(&rest[..len]);
            rest = &rest[len..];
        }
        pieces
    }

    /// Whether what stands here, and `step` has moved over, is more than white space and comments.
    /// The server reads what is in `/*!` and `/*+`.
    fn is_content(&self, rest: &[u8]) -> bool {
        match self.inside {
            Inside::LineComment => false,
            Inside::BlockComment => matches!(rest, [b'/', b'*', b'!' | b'+', ..]),
            Inside::Plain => !rest[0].is_ascii_whitespace() && !rest.starts_with(b"*/"),
            Inside::Quoted(_) => true,
        }
    }

    /// What is left at the end of the input.
    pub(super) fn rest(mut self) -> Option<Piece> {
        let mut pieces = Vec::new();
        self.cut(Ending::Plain, &mut pieces);
        pieces.pop()
    }

    /// A line that is a command by its first word. One with an end mark is a statement, which may
    /// turn out to be a command.
    fn take_command_line(&mut self, line: &[u8], pieces: &mut Vec<Piece>) -> bool {
        let line = line.trim_ascii();
        let Some((word, rest)) = first_word(line) else { return false };
        if word == "delimiter" {
            let mark = rest.split(u8::is_ascii_whitespace).next().unwrap_or_default();
            if !mark.is_empty() {
                self.delimiter = mark.to_vec();
            }
            return true;
        }
        if find(line, &self.delimiter).is_some() || find(line, b"\\g").is_some() {
            return false;
        }
        let Some(command) = Command::of_word(&word, rest) else { return false };
        pieces.push(Piece { task: Task::Command(command), line: self.lines });
        true
    }

    /// Takes what ends a statement, or a command by its letter; how many bytes that were.
    fn take_mark(&mut self, rest: &[u8], pieces: &mut Vec<Piece>) -> Option<usize> {
        if rest.starts_with(&self.delimiter) {
            self.cut(Ending::Plain, pieces);
            return Some(self.delimiter.len());
        }
        let (b'\\', &letter) = (rest[0], rest.get(1)?) else { return None };
        match letter {
            b'g' => self.cut(Ending::Plain, pieces),
            b'G' => self.cut(Ending::Vertical, pieces),
            b'c' => self.clear(),
            b'p' => {
                let typed = String::from_utf8_lossy(self.text.trim_ascii()).into_owned();
                self.push(Command::Print(typed), pieces);
            }
            _ => {
                let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                let argument = rest[2..end].trim_ascii();
                let argument = argument.strip_suffix(&*self.delimiter).unwrap_or(argument);
                if letter == b'd' && !argument.is_empty() {
                    self.delimiter = argument.to_vec();
                    return Some(end);
                }
                let (command, takes_line) = Command::of_letter(letter, argument)?;
                self.push(command, pieces);
                return Some(if takes_line { end } else { 2 });
            }
        }
        Some(2)
    }

    fn push(&self, command: Command, pieces: &mut Vec<Piece>) {
        pieces.push(Piece { task: Task::Command(command), line: self.lines });
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

    fn cut(&mut self, ending: Ending, pieces: &mut Vec<Piece>) {
        let text = std::mem::take(&mut self.text);
        let Some(start) = self.start.take() else { return };
        let (sql, own) = (text.trim_ascii().to_vec(), text[start..].trim_ascii());
        let command = match first_word(own) {
            Some((word, rest)) if ending == Ending::Plain && !own.contains(&b'\n') => {
                Command::of_word(&word, rest)
            }
            _ => None,
        };
        let task = match command {
            Some(command) => Task::Command(command),
            None => Task::Statement(sql, ending),
        };
        pieces.push(Piece { task, line: self.begun });
    }
}

/// The first word in lower case, and what follows it.
fn first_word(line: &[u8]) -> Option<(String, &[u8])> {
    let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    let word = std::str::from_utf8(&line[..end]).ok()?.to_ascii_lowercase();
    let word = word.trim_end_matches(';').to_owned();
    (!word.is_empty()).then(|| (word, line[end..].trim_ascii()))
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len().max(1)).position(|window| window == part)
}
