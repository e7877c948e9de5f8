//! XML as EXTRACTVALUE and UPDATEXML read it: a list of nodes in the order of the document.
//!
//! The reader is as lax as MySQL's. It knows no entities, takes attributes without quotes or
//! values, reads declarations as elements, and of the name behind `</` compares the length only.
//! The text `<a b="1">x</a>` has the nodes
//!
//! ```text
//! 0 the document   1 element a   2 attribute b   3 text 1 (of 2)   4 text x (of 1)
//! ```

pub(crate) mod evaluate;
pub(crate) mod path;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Element,
    Attribute,
    Text,
}

/// A node; its places are bytes of the text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) parent: usize,
    pub(crate) level: usize,
    /// The name, or the text.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Behind the whole node: an element's end tag, an attribute's value.
    pub(crate) whole_end: usize,
}

/// A document.
pub(crate) struct Document<'a> {
    pub(crate) text: &'a str,
    pub(crate) nodes: Vec<Node>,
}

impl Document<'_> {
    /// The name of a node, or its text.
    pub(crate) fn content(&self, node: usize) -> &str {
        let node = &self.nodes[node];
        self.text.get(node.start..node.end).unwrap_or_default()
    }

    /// The texts directly below a node.
    pub(crate) fn texts(&self, node: usize) -> impl Iterator<Item = &str> {
        let end = self.below(node);
        (node + 1..end)
            .filter(move |at| self.nodes[*at].kind == Kind::Text && self.nodes[*at].parent == node)
            .map(|at| self.content(at))
    }

    /// The first node behind all that is inside a node.
    pub(crate) fn below(&self, node: usize) -> usize {
        let level = self.nodes[node].level;
        let rest = &self.nodes[node + 1..];
        let inside = rest.iter().position(|other| other.level <= level).unwrap_or(rest.len());
        node + 1 + inside
    }
}

/// Reads a document; the error is MySQL's text for it.
pub(crate) fn parse(text: &str) -> Result<Document<'_>, String> {
    let mut reader = Reader { text, at: 0, nodes: Vec::new(), open: Vec::new() };
    reader.enter(Kind::Element, 0, 0);
    while reader.at < text.len() {
        reader.item().map_err(|error| reader.placed(&error))?;
    }
    if reader.open.len() > 1 {
        return Err(reader.placed("unexpected END-OF-INPUT"));
    }
    reader.leave();
    Ok(Document { text, nodes: reader.nodes })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lex {
    End,
    Ident,
    Str,
    Mark(u8),
    Unknown,
}

impl Lex {
    fn name(self) -> &'static str {
        match self {
            Lex::End => "END-OF-INPUT",
            Lex::Ident => "IDENT",
            Lex::Str => "STRING",
            Lex::Mark(b'<') => "'<'",
            Lex::Mark(b'>') => "'>'",
            Lex::Mark(b'/') => "'/'",
            Lex::Mark(b'=') => "'='",
            Lex::Mark(b'!') => "'!'",
            Lex::Mark(_) => "'?'",
            Lex::Unknown => "unknown token",
        }
    }

    fn unexpected(self, wanted: &str) -> String {
        format!("{} unexpected ({wanted} wanted)", self.name())
    }
}

/// A token and the bytes that it is, quotes not included.
type Token = (Lex, usize, usize);

const COMMENT: (&str, &str) = ("<!--", "-->");
const CDATA: (&str, &str) = ("<![CDATA[", "]]>");

struct Reader<'a> {
    text: &'a str,
    at: usize,
    nodes: Vec<Node>,
    /// The nodes around this place.
    open: Vec<usize>,
}

impl Reader<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// An error with its place: the column counts from 1, in lines behind the first from 2.
    fn placed(&self, error: &str) -> String {
        let before = &self.text.as_bytes()[..self.at];
        let lines = before.iter().filter(|byte| **byte == b'\n').count();
        let start = before.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        format!("parse error at line {} pos {}: {error}", lines + 1, self.at - start + 1)
    }

    fn enter(&mut self, kind: Kind, start: usize, end: usize) {
        let parent = self.open.last().copied().unwrap_or(0);
        let level = self.open.len();
        self.open.push(self.nodes.len());
        self.nodes.push(Node { kind, parent, level, start, end, whole_end: end });
    }

    fn leave(&mut self) {
        if let Some(node) = self.open.pop() {
            self.nodes[node].whole_end = self.at;
        }
    }

    fn add_text(&mut self, start: usize, end: usize) {
        self.enter(Kind::Text, start, end);
        self.leave();
    }

    /// A comment, a CDATA section, a tag, or the text up to the next one.
    fn item(&mut self) -> Result<(), String> {
        let rest = &self.text[self.at..];
        if rest.starts_with(COMMENT.0) {
            self.at += rest.find(COMMENT.1).map_or(rest.len(), |end| end + COMMENT.1.len());
            return Ok(());
        }
        if let Some(inside) = rest.strip_prefix(CDATA.0) {
            let start = self.at + CDATA.0.len();
            let length = inside.find(CDATA.1);
            self.at = length.map_or(self.text.len(), |length| start + length + CDATA.1.len());
            if let Some(length) = length {
                self.add_text(start, start + length);
            }
            return Ok(());
        }
        if rest.starts_with('<') {
            self.at += 1;
            return self.tag();
        }
        let start = self.at;
        self.at += rest.find('<').unwrap_or(rest.len());
        self.add_text(start, self.at);
        Ok(())
    }

    fn next(&mut self) -> Token {
        while self.byte(self.at).is_ascii_whitespace() || self.byte(self.at) == 0x0b {
            self.at += 1;
        }
        let start = self.at;
        if start >= self.text.len() {
            return (Lex::End, start, start);
        }
        let byte = self.byte(start);
        match byte {
            b'<' | b'>' | b'/' | b'=' | b'!' | b'?' => {
                self.at += 1;
                (Lex::Mark(byte), start, self.at)
            }
            b'"' | b'\'' => {
                let rest = &self.text[start + 1..];
                let length = rest.find(char::from(byte));
                let end = start + 1 + length.unwrap_or(rest.len());
                self.at = end + usize::from(length.is_some());
                (Lex::Str, start + 1, end)
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b':' | 0x80.. => {
                let rest = &self.text.as_bytes()[start..];
                let part = |byte: &u8| {
                    let mark = matches!(byte, b'_' | b':' | b'-' | b'.' | 0x80..);
                    byte.is_ascii_alphanumeric() || mark
                };
                self.at += rest.iter().take_while(|byte| part(byte)).count();
                (Lex::Ident, start, self.at)
            }
            _ => (Lex::Unknown, start, start),
        }
    }

    /// A tag whose `<` is read.
    fn tag(&mut self) -> Result<(), String> {
        let (mut lex, mut start, mut end) = self.next();
        if lex == Lex::Mark(b'/') {
            (lex, start, end) = self.next();
            if lex != Lex::Ident {
                return Err(lex.unexpected("ident"));
            }
            self.close(start, end)?;
            lex = self.next().0;
            self.end_of_tag(lex)?;
            self.leave();
            return Ok(());
        }
        let opening = lex;
        let declares = matches!(lex, Lex::Mark(b'!' | b'?'));
        if declares {
            (lex, start, end) = self.next();
        }
        if lex != Lex::Ident {
            return Err(lex.unexpected("ident or '/'"));
        }
        self.enter(Kind::Element, start, end);
        lex = self.attributes(opening == Lex::Mark(b'!'))?;
        let mut is_closed = declares;
        if lex == Lex::Mark(b'/') {
            is_closed = true;
            lex = self.next().0;
        }
        if opening == Lex::Mark(b'?') {
            if lex != Lex::Mark(b'?') {
                return Err(lex.unexpected("'?'"));
            }
            lex = self.next().0;
        }
        self.end_of_tag(lex)?;
        if is_closed {
            self.leave();
        }
        Ok(())
    }

    fn end_of_tag(&self, lex: Lex) -> Result<(), String> {
        if lex == Lex::Mark(b'>') { Ok(()) } else { Err(lex.unexpected("'>'")) }
    }

    /// The attributes of a tag; the token behind them.
    fn attributes(&mut self, is_declaration: bool) -> Result<Lex, String> {
        loop {
            let (lex, start, end) = self.next();
            if lex != Lex::Ident && !(is_declaration && lex == Lex::Str) {
                return Ok(lex);
            }
            let back = self.at;
            let (after, _, _) = self.next();
            if is_declaration && matches!(after, Lex::Ident | Lex::Str) {
                continue;
            }
            self.enter(Kind::Attribute, start, end);
            match after {
                Lex::Mark(b'=') => {
                    let (value, start, end) = self.next();
                    if !matches!(value, Lex::Ident | Lex::Str) {
                        return Err(value.unexpected("ident or string"));
                    }
                    self.add_text(start, end);
                    self.leave();
                }
                Lex::Ident => self.leave(),
                _ => {
                    self.at = back;
                    self.leave();
                    return Ok(self.next().0);
                }
            }
        }
    }

    /// Checks an end tag's name.
    fn close(&self, start: usize, end: usize) -> Result<(), String> {
        let name = &self.text[start..end];
        let Some(open) = self.open.last().filter(|_| self.open.len() > 1) else {
            return Err(format!("'</{name}>' unexpected (END-OF-INPUT wanted)"));
        };
        let wanted = &self.text[self.nodes[*open].start..self.nodes[*open].end];
        if wanted.len() == name.len() {
            return Ok(());
        }
        // MySQL has no name for the outermost element here.
        let wanted = if self.open.len() > 2 { wanted } else { "" };
        Err(format!("'</{name}>' unexpected ('</{wanted}>' wanted)"))
    }
}
