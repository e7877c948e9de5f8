//! Rust source with comments and literals blanked out, so that rules see code only.

/// Replaces the contents of comments, strings and character literals by spaces; lines stay.
pub(super) fn code_only(source: &str) -> String {
    let mut masker = Masker { chars: source.chars().collect(), at: 0, out: String::new() };
    while let Some(char) = masker.peek(0) {
        match char {
            '/' if masker.peek(1) == Some('/') => masker.line_comment(),
            '/' if masker.peek(1) == Some('*') => masker.block_comment(),
            '"' => masker.string(),
            'r' | 'b' | 'c' if masker.starts_literal() => masker.prefixed(),
            '\'' => masker.quote(),
            _ => masker.keep(),
        }
    }
    masker.out
}

struct Masker {
    chars: Vec<char>,
    at: usize,
    out: String,
}

impl Masker {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn keep(&mut self) {
        if let Some(char) = self.peek(0) {
            self.out.push(char);
            self.at += 1;
        }
    }

    fn blank(&mut self) {
        if let Some(char) = self.peek(0) {
            self.out.push(if char == '\n' { '\n' } else { ' ' });
            self.at += 1;
        }
    }

    fn line_comment(&mut self) {
        while self.peek(0).is_some_and(|char| char != '\n') {
            self.blank();
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        while self.at < self.chars.len() {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => {
                    depth += 1;
                    self.blank();
                }
                (Some('*'), Some('/')) => {
                    depth -= 1;
                    self.blank();
                }
                _ => {}
            }
            self.blank();
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.blank();
        while let Some(char) = self.peek(0) {
            self.blank();
            match char {
                '\\' => self.blank(),
                '"' => return,
                _ => {}
            }
        }
    }

    /// Whether a prefix such as `br##` and a quote start here, and not inside a name.
    fn starts_literal(&self) -> bool {
        let inside = self.at.checked_sub(1).and_then(|before| self.chars.get(before));
        if inside.is_some_and(|char| char.is_alphanumeric() || *char == '_') {
            return false;
        }
        let letters = (0..2).take_while(|&i| matches!(self.peek(i), Some('r' | 'b' | 'c'))).count();
        let raw = self.peek(letters - 1) == Some('r');
        let mut hashes = 0;
        while raw && self.peek(letters + hashes) == Some('#') {
            hashes += 1;
        }
        match self.peek(letters + hashes) {
            Some('"') => true,
            Some('\'') => self.peek(0) == Some('b') && letters == 1,
            _ => false,
        }
    }

    fn prefixed(&mut self) {
        let mut raw = false;
        while let Some(char @ ('r' | 'b' | 'c')) = self.peek(0) {
            raw |= char == 'r';
            self.blank();
        }
        if self.peek(0) == Some('\'') {
            return self.quote();
        }
        if !raw {
            return self.string();
        }
        let mut hashes = 0;
        while self.peek(0) == Some('#') {
            hashes += 1;
            self.blank();
        }
        self.blank();
        while let Some(char) = self.peek(0) {
            self.blank();
            if char == '"' && (0..hashes).all(|ahead| self.peek(ahead) == Some('#')) {
                (0..hashes).for_each(|_| self.blank());
                return;
            }
        }
    }

    /// A character literal, or a lifetime, which is kept.
    fn quote(&mut self) {
        let literal = match self.peek(1) {
            Some('\\') => true,
            Some(_) => self.peek(2) == Some('\''),
            None => false,
        };
        if !literal {
            return self.keep();
        }
        self.blank();
        while let Some(char) = self.peek(0) {
            self.blank();
            match char {
                '\\' => self.blank(),
                '\'' => return,
                _ => {}
            }
        }
    }
}
