//! JSON paths: `$.a[1]`, `$."b c".*`, `$**.d`, `$[last-1]`, `$[1 to 3]`.

use super::Json;
use inia_base::error::{ErrorCode, SqlError};
use std::collections::HashSet;

/// One leg of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leg {
    /// `.name`
    Member(String),
    /// `.*`
    AnyMember,
    /// `[index]`
    Cell(Index),
    /// `[*]`
    AnyCell,
    /// `[from to to]`
    Range(Index, Index),
    /// `**`
    Deep,
}

/// A place in an array, from the front or from the back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index {
    /// How far.
    pub offset: usize,
    /// Counted back from the last element.
    pub from_last: bool,
}

impl Index {
    /// The position in an array of `length`; `None` before its start.
    pub fn resolve(self, length: usize) -> Option<usize> {
        match self.from_last {
            false => Some(self.offset),
            true => length.checked_sub(1)?.checked_sub(self.offset),
        }
    }
}

/// A parsed path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPath {
    /// The legs after `$`.
    pub legs: Vec<Leg>,
}

impl JsonPath {
    /// Parses a path; error 3143 with the position.
    pub fn parse(text: &str) -> Result<JsonPath, SqlError> {
        let mut parser = PathParser { text, at: 0 };
        parser.path().map_err(|at| SqlError::new(ErrorCode::InvalidJsonPath, &[&at, &""]))
    }

    /// Whether the path can match more than one value.
    pub(crate) fn has_wildcard(&self) -> bool {
        self.legs
            .iter()
            .any(|leg| matches!(leg, Leg::AnyMember | Leg::AnyCell | Leg::Range(..) | Leg::Deep))
    }

    /// The value at the path, where `[0]` is a cell of an array only.
    pub(crate) fn only<'d>(&self, document: &'d Json) -> Option<&'d Json> {
        self.legs.iter().try_fold(document, |json, leg| match (leg, json) {
            (Leg::Member(key), _) => json.member(key),
            (Leg::Cell(index), Json::Array(items)) => items.get(index.resolve(items.len())?),
            _ => None,
        })
    }

    /// All values that the path matches, in document order.
    pub fn find<'d>(&self, document: &'d Json) -> Vec<&'d Json> {
        let mut found = Vec::new();
        search(document, &self.legs, &mut found);
        // Only `**` finds a value in several ways.
        if self.legs.contains(&Leg::Deep) {
            let mut known = HashSet::new();
            found.retain(|json| known.insert(std::ptr::from_ref::<Json>(*json)));
        }
        found
    }
}

fn search<'d>(json: &'d Json, legs: &[Leg], found: &mut Vec<&'d Json>) {
    let Some((leg, rest)) = legs.split_first() else {
        found.push(json);
        return;
    };
    match (leg, json) {
        (Leg::Member(key), _) => {
            if let Some(value) = json.member(key) {
                search(value, rest, found);
            }
        }
        (Leg::AnyMember, Json::Object(members)) => {
            members.iter().for_each(|(_, value)| search(value, rest, found));
        }
        (Leg::AnyCell, Json::Array(items)) => {
            items.iter().for_each(|item| search(item, rest, found));
        }
        (Leg::Cell(index), Json::Array(items)) => {
            if let Some(item) = index.resolve(items.len()).and_then(|at| items.get(at)) {
                search(item, rest, found);
            }
        }
        // A value that is no array counts as an array of one cell, here and for ranges.
        (Leg::Cell(index), scalar) => {
            if index.resolve(1) == Some(0) {
                search(scalar, rest, found);
            }
        }
        (Leg::Range(from, to), Json::Array(items)) => {
            let from = from.resolve(items.len()).unwrap_or(0);
            let to = to.resolve(items.len()).map_or(0, |to| to + 1).min(items.len());
            items.iter().take(to).skip(from).for_each(|item| search(item, rest, found));
        }
        (Leg::Range(from, to), scalar) => {
            if from.resolve(1) == Some(0) && to.resolve(1).is_some() {
                search(scalar, rest, found);
            }
        }
        (Leg::Deep, _) => {
            // `**` matches the value itself first, and stays in the path for its children.
            search(json, rest, found);
            match json {
                Json::Array(items) => items.iter().for_each(|item| search(item, legs, found)),
                Json::Object(members) => {
                    members.iter().for_each(|(_, value)| search(value, legs, found));
                }
                _ => {}
            }
        }
        _ => {}
    }
}

struct PathParser<'t> {
    text: &'t str,
    at: usize,
}

impl PathParser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn path(&mut self) -> Result<JsonPath, usize> {
        self.blanks();
        if self.peek() != Some(b'$') {
            return Err(self.at + 1);
        }
        self.at += 1;
        let mut legs = Vec::new();
        loop {
            self.blanks();
            let leg = match self.peek() {
                None if legs.last() == Some(&Leg::Deep) => return Err(self.at),
                None => return Ok(JsonPath { legs }),
                Some(b'.') => self.member()?,
                Some(b'[') => self.cell()?,
                Some(b'*') if self.text[self.at..].starts_with("**") => {
                    self.at += 2;
                    Leg::Deep
                }
                Some(_) => return Err(self.at),
            };
            legs.push(leg);
        }
    }

    fn member(&mut self) -> Result<Leg, usize> {
        self.at += 1;
        self.blanks();
        match self.peek() {
            Some(b'*') => {
                self.at += 1;
                Ok(Leg::AnyMember)
            }
            Some(b'"') => {
                let start = self.at;
                let bytes = self.text.as_bytes();
                let mut end = start + 1;
                while end < bytes.len() && bytes[end] != b'"' {
                    end += if bytes[end] == b'\\' { 2 } else { 1 };
                }
                let quoted = self.text.get(start..end + 1).ok_or(self.text.len())?;
                let Ok(Json::String(name)) = super::parse(quoted) else { return Err(start) };
                self.at = end + 1;
                Ok(Leg::Member(name))
            }
            _ => {
                let name: String = self.text[self.at..]
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
                    .collect();
                let digit_first = name.chars().next().is_none_or(|c| c.is_ascii_digit());
                if digit_first {
                    return Err(self.at);
                }
                self.at += name.len();
                Ok(Leg::Member(name))
            }
        }
    }

    fn cell(&mut self) -> Result<Leg, usize> {
        self.at += 1;
        self.blanks();
        let leg = if self.peek() == Some(b'*') {
            self.at += 1;
            Leg::AnyCell
        } else {
            let from = self.index()?;
            self.blanks();
            if self.text[self.at..].starts_with("to ") {
                self.at += 3;
                self.blanks();
                Leg::Range(from, self.index()?)
            } else {
                Leg::Cell(from)
            }
        };
        self.blanks();
        if self.peek() != Some(b']') {
            return Err(self.at);
        }
        self.at += 1;
        Ok(leg)
    }

    fn index(&mut self) -> Result<Index, usize> {
        if self.text[self.at..].starts_with("last") {
            self.at += 4;
            self.blanks();
            if self.peek() != Some(b'-') {
                return Ok(Index { offset: 0, from_last: true });
            }
            self.at += 1;
            self.blanks();
            return Ok(Index { offset: self.digits()?, from_last: true });
        }
        Ok(Index { offset: self.digits()?, from_last: false })
    }

    fn digits(&mut self) -> Result<usize, usize> {
        let digits = self.text[self.at..].bytes().take_while(u8::is_ascii_digit).count();
        let value: u32 = self.text[self.at..self.at + digits].parse().map_err(|_| self.at)?;
        self.at += digits;
        Ok(value as usize)
    }
}
