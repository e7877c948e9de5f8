//! Rows of an XML file, as LOAD XML reads them.
//!
//! A row is an element of the row's name. Its columns are attributes, elements inside, or elements
//! `field` whose attribute `name` has the column's name:
//!
//! ```text
//! <list source="s">                       source: of all rows
//!   <row a="1" b="x"/>                    a = 1, b = x
//!   <row><a>2</a><b> y </b></row>         a = 2, b = y
//!   <row><field name="a">3</field></row>  a = 3; b is NULL
//! </list>
//! ```
//!
//! A value belongs to the depth of its element, and is forgotten when a row that it is in ends. As
//! in MySQL, names distinguish case, empty values are NULL, and only the text before an element's
//! first child counts.

use super::reader::FileRow;
use inia_base::error::{ErrorCode, SqlError};

/// The most bytes of one tag or text.
const MAX: usize = 1 << 30;

const ENTITIES: [(&[u8], u8); 5] =
    [(b"&lt;", b'<'), (b"&gt;", b'>'), (b"&amp;", b'&'), (b"&quot;", b'"'), (b"&apos;", b'\'')];

/// A value of an element or attribute.
struct XmlValue {
    depth: usize,
    name: Vec<u8>,
    text: Vec<u8>,
}

/// Takes an XML text apart, piece by piece.
pub(super) struct XmlReader {
    /// The name of a row's element.
    row: Vec<u8>,
    /// Names of what is wanted, in the order of a row's fields.
    wanted: Vec<Vec<u8>>,
    text: Vec<u8>,
    at: usize,
    /// Names of the open elements.
    open: Vec<Vec<u8>>,
    values: Vec<XmlValue>,
    /// The element whose text is being read: its column, and the text so far.
    inside: Option<(Vec<u8>, Vec<u8>)>,
    skipped_rows: u64,
    /// The row that was read last.
    read: FileRow,
}

/// A markup of the text.
enum Markup {
    /// Comments, declarations, instructions.
    Other,
    /// `<![CDATA[…]]>`.
    Text(Vec<u8>),
    /// `<name …>`; whether it closes itself.
    Start { name: Vec<u8>, attributes: Vec<(Vec<u8>, Vec<u8>)>, closed: bool },
    /// `</name>`.
    End(Vec<u8>),
}

impl XmlReader {
    /// A reader of the elements `row`, which is written as in ROWS IDENTIFIED BY: `<row>`. The
    /// first `skipped_rows` are left out.
    pub(super) fn new(row: &str, wanted: Vec<String>, skipped_rows: u64) -> XmlReader {
        let row = row.as_bytes();
        XmlReader {
            row: row.get(1..row.len().saturating_sub(1)).unwrap_or_default().to_vec(),
            wanted: wanted.into_iter().map(String::into_bytes).collect(),
            text: Vec::new(),
            at: 0,
            open: Vec::new(),
            values: Vec::new(),
            inside: None,
            skipped_rows,
            read: FileRow::default(),
        }
    }

    /// Takes the next piece of the text.
    pub(super) fn push(&mut self, piece: &[u8]) {
        self.text.drain(..self.at);
        self.at = 0;
        self.text.extend_from_slice(piece);
    }

    /// How many bytes it holds.
    pub(super) fn holds(&self) -> usize {
        let values: usize =
            self.values.iter().map(|value| value.name.len() + value.text.len()).sum();
        let inside = self.inside.as_ref().map_or(0, |(name, text)| name.len() + text.len());
        self.text.len() - self.at + values + inside
    }

    /// The next row, or `None` where more text is needed or there is none. Error 1153 for a tag or
    /// text that is too long.
    pub(super) fn next(&mut self) -> Result<Option<&FileRow>, SqlError> {
        while let Some(markup) = self.markup()? {
            match (self.apply(markup), self.skipped_rows) {
                (false, _) => {}
                (true, 0) => return Ok(Some(&self.read)),
                (true, _) => self.skipped_rows -= 1,
            }
        }
        Ok(None)
    }

    /// The next whole markup; the text before it goes to the open element.
    fn markup(&mut self) -> Result<Option<Markup>, SqlError> {
        let rest = &self.text[self.at..];
        if rest.len() > MAX {
            return Err(SqlError::new(ErrorCode::NetPacketTooLarge, &[]));
        }
        let Some(start) = rest.iter().position(|byte| *byte == b'<') else { return Ok(None) };
        let tag = &rest[start..];
        let Some((length, markup)) = read_markup(tag) else {
            // What the text ends in the middle of is no markup.
            return Ok(None);
        };
        if let Some((_, text)) = &mut self.inside {
            text.extend(unescaped(&rest[..start]));
        }
        self.at += start + length;
        Ok(Some(markup))
    }

    /// What a markup does; whether it ends a row.
    fn apply(&mut self, markup: Markup) -> bool {
        match markup {
            Markup::Other => false,
            Markup::Text(text) => {
                if let Some((_, inside)) = &mut self.inside {
                    inside.extend(text);
                }
                false
            }
            Markup::Start { name, attributes, closed } => {
                self.keep_text();
                self.open.push(name);
                let depth = self.open.len();
                self.values.retain(|value| value.depth <= depth);
                let is_field = self.open.last().is_some_and(|name| name == b"field");
                let mut column = self.open.last().cloned().unwrap_or_default();
                for (name, text) in attributes {
                    match is_field && name == b"name" {
                        true => column = text,
                        false => self.keep(depth + 1, name, text),
                    }
                }
                match closed {
                    true => self.close(),
                    false => {
                        self.inside = Some((column, Vec::new()));
                        false
                    }
                }
            }
            Markup::End(name) => {
                self.keep_text();
                // An end tag of another element closes nothing.
                match self.open.last() == Some(&name) {
                    true => self.close(),
                    false => false,
                }
            }
        }
    }

    /// The text of the open element is complete.
    fn keep_text(&mut self) {
        if let Some((name, text)) = self.inside.take() {
            let depth = self.open.len();
            self.keep(depth, name, text.trim_ascii().to_vec());
        }
    }

    fn keep(&mut self, depth: usize, name: Vec<u8>, text: Vec<u8>) {
        if !text.is_empty() {
            self.values.push(XmlValue { depth, name, text });
        }
    }

    /// The innermost element ends; whether it was a row.
    fn close(&mut self) -> bool {
        if self.open.pop().is_none_or(|name| name != self.row || name.is_empty()) {
            return false;
        }
        self.read.clear();
        for wanted in &self.wanted {
            let found = self.values.iter().rev().find(|value| value.name == *wanted);
            self.read.push(found.map(|value| value.text.as_slice()));
        }
        let depth = self.open.len() + 1;
        self.values.retain(|value| value.depth <= depth);
        true
    }
}

/// The markup at the start of a text, with its length; `None` where the text ends inside of it.
fn read_markup(text: &[u8]) -> Option<(usize, Markup)> {
    const CDATA: &[u8] = b"<![CDATA[";
    let until = |from: usize, end: &[u8]| {
        let found = text.get(from..)?.windows(end.len()).position(|window| window == end)?;
        Some(from + found + end.len())
    };
    let may_begin = |what: &[u8]| what.starts_with(text) && text.len() < what.len();
    if may_begin(CDATA) || may_begin(b"<!--") {
        return None;
    }
    if text.starts_with(CDATA) {
        let end = until(CDATA.len(), b"]]>")?;
        return Some((end, Markup::Text(text[CDATA.len()..end - 3].to_vec())));
    }
    if text.starts_with(b"<!--") {
        return Some((until(4, b"-->")?, Markup::Other));
    }
    if text.starts_with(b"<?") {
        return Some((until(2, b"?>")?, Markup::Other));
    }
    if text.starts_with(b"<!") {
        return Some((until(2, b">")?, Markup::Other));
    }
    let end = tag_end(text)?;
    let inner = &text[1..end - 1];
    if let Some(name) = inner.strip_prefix(b"/") {
        return Some((end, Markup::End(name.trim_ascii().to_vec())));
    }
    let closed = inner.ends_with(b"/");
    let inner = inner.strip_suffix(b"/").unwrap_or(inner);
    let name = inner.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let attributes = attributes(&inner[name.len()..]);
    Some((end, Markup::Start { name: name.to_vec(), attributes, closed }))
}

/// Where a tag ends: at the first `>` outside of quotes.
fn tag_end(text: &[u8]) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.iter().enumerate() {
        match quote {
            Some(open) if open == *byte => quote = None,
            Some(_) => {}
            None if matches!(byte, b'"' | b'\'') => quote = Some(*byte),
            None if *byte == b'>' => return Some(at + 1),
            None => {}
        }
    }
    None
}

/// `name="value" …`.
fn attributes(mut text: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut found = Vec::new();
    while let Some(equals) = text.iter().position(|byte| *byte == b'=') {
        let name = text[..equals].trim_ascii().to_vec();
        let value = text[equals + 1..].trim_ascii_start();
        let Some((quote @ (b'"' | b'\''), value)) = value.split_first() else { break };
        let Some(end) = value.iter().position(|byte| byte == quote) else { break };
        found.push((name, unescaped(&value[..end])));
        text = &value[end + 1..];
    }
    found
}

/// A text with the characters that its entities mean; unknown ones stay as they are.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
    while at < text.len() {
        let entity = ENTITIES.iter().find(|(name, _)| text[at..].starts_with(name));
        match entity {
            Some((name, meant)) => {
                out.push(*meant);
                at += name.len();
            }
            None => {
                out.push(text[at]);
                at += 1;
            }
        }
    }
    out
}
