//! Names, strings and numbers: the leaves that all rules share.

use super::remark::{deprecated_charset, deprecated_collation};
use super::{PResult, Parser, utf8};
use crate::error::head;
use crate::{
    ParseErrorKind, SqlMode,
    ast::{ColumnName, ObjectName},
    keyword::Kw,
    lexer::{Tok, Token, unescape},
};

/// Characters in the name of a database, table, column and so on.
const MAX_NAME: usize = 64;

impl Parser<'_> {
    /// True where `token` can be an identifier.
    pub(super) fn is_ident(token: Token) -> bool {
        match token.tok {
            Tok::Word => !token.kw.is_reserved(),
            Tok::Quoted => true,
            _ => false,
        }
    }

    /// The identifier in a word or quoted name.
    pub(super) fn ident_value(&self, token: Token) -> String {
        let bytes = self.bytes(token);
        if token.tok != Tok::Quoted {
            return utf8(bytes);
        }
        let raw = &bytes[1..bytes.len() - 1];
        if token.escaped { utf8(&unescape(raw, bytes[0], false)) } else { utf8(raw) }
    }

    /// The name of a user variable that is being set: errors 3061.
    pub(super) fn set_user_var_name(&self, token: Token) -> PResult<String> {
        let name = self.user_var_name(token);
        if name.len() > MAX_NAME && name.chars().count() > MAX_NAME {
            let message = format!("User variable name '{}' is illegal", head(&name, 128));
            return Err(self.other(3061, "42000", message));
        }
        Ok(name)
    }

    /// An identifier.
    pub(super) fn ident(&mut self) -> PResult<String> {
        if !Self::is_ident(self.tok) || self.calls_symbol() {
            return Err(self.error());
        }
        let token = self.bump();
        Ok(self.ident_value(token))
    }

    /// Whether a function that is a symbol of the grammar is called here: `count(`, which is no
    /// name. `count (` is one, unless the mode has IGNORE_SPACE.
    fn calls_symbol(&mut self) -> bool {
        const SYMBOLS: [&[u8]; 32] = [
            b"adddate",
            b"bit_and",
            b"bit_or",
            b"bit_xor",
            b"cast",
            b"count",
            b"curdate",
            b"curtime",
            b"date_add",
            b"date_sub",
            b"extract",
            b"group_concat",
            b"json_arrayagg",
            b"json_objectagg",
            b"max",
            b"mid",
            b"min",
            b"now",
            b"position",
            b"std",
            b"stddev",
            b"stddev_pop",
            b"stddev_samp",
            b"subdate",
            b"substr",
            b"substring",
            b"sum",
            b"sysdate",
            b"trim",
            b"var_pop",
            b"var_samp",
            b"variance",
        ];
        let token = self.tok;
        let next = self.src.get(token.end as usize);
        let spaces = self.mode.has(SqlMode::IGNORE_SPACE);
        if token.tok != Tok::Word || (next != Some(&b'(') && !spaces) {
            return false;
        }
        let word = self.bytes(token);
        let is = |symbol: &&[u8]| symbol.eq_ignore_ascii_case(word);
        SYMBOLS.iter().any(is) && self.peek().tok == Tok::LParen
    }

    /// After a point any word is an identifier.
    pub(super) fn ident_after_dot(&mut self) -> PResult<String> {
        if !matches!(self.tok.tok, Tok::Word | Tok::Quoted) {
            return Err(self.error());
        }
        let token = self.bump();
        Ok(self.ident_value(token))
    }

    /// The identifier of a stored object: its length is checked.
    pub(super) fn new_ident(&mut self) -> PResult<String> {
        let name = self.ident()?;
        self.check_name(name)
    }

    /// `name`, where it is not too long for an object.
    pub(super) fn check_name(&self, name: String) -> PResult<String> {
        if name.len() > MAX_NAME && name.chars().count() > MAX_NAME {
            return Err(self.fail(ParseErrorKind::IdentifierTooLong(name)));
        }
        Ok(name)
    }

    /// An identifier or string, as aliases and many options allow.
    pub(super) fn ident_or_string(&mut self) -> PResult<String> {
        if self.is(Tok::Str) { self.string() } else { self.ident() }
    }

    /// `[db.]name`. A leading point is allowed as in `.t`.
    pub(super) fn object_name(&mut self) -> PResult<ObjectName> {
        if self.is(Tok::Dot) {
            self.bump();
            let name = self.ident_after_dot()?;
            return Ok(ObjectName::bare(self.check_name(name)?));
        }
        let first = self.new_ident()?;
        if self.accept(Tok::Dot) {
            let name = self.ident_after_dot()?;
            return Ok(ObjectName { db: Some(first), name: self.check_name(name)? });
        }
        Ok(ObjectName::bare(first))
    }

    /// A column name of one to three parts.
    pub(super) fn column_name(&mut self) -> PResult<ColumnName> {
        let first = if self.accept(Tok::Dot) { self.ident_after_dot()? } else { self.ident()? };
        self.column_name_from(first)
    }

    /// The rest of a column name whose first part has been read.
    pub(super) fn column_name_from(&mut self, first: String) -> PResult<ColumnName> {
        if !self.accept(Tok::Dot) {
            return Ok(ColumnName::bare(first));
        }
        let second = self.ident_after_dot()?;
        if !self.accept(Tok::Dot) {
            return Ok(ColumnName { db: None, table: Some(first), name: second });
        }
        let name = self.ident_after_dot()?;
        Ok(ColumnName { db: Some(first), table: Some(second), name })
    }

    /// `[AS] alias`, where one stands; strings are allowed for select items only.
    pub(super) fn alias(&mut self, strings: bool) -> PResult<Option<String>> {
        let explicit = self.accept_kw(Kw::AS);
        let string = strings && self.is(Tok::Str);
        if !explicit && !string && !Self::is_ident(self.tok) {
            return Ok(None);
        }
        if self.may_return && !explicit && self.at_returning() {
            return Ok(None);
        }
        let alias = if string { self.string()? } else { self.ident()? };
        Ok(Some(alias))
    }

    /// A parenthesised list of identifiers.
    pub(super) fn ident_list(&mut self) -> PResult<Vec<String>> {
        self.paren_list(Self::ident)
    }

    /// The bytes of a string token.
    pub(super) fn string_bytes(&self, token: Token) -> Vec<u8> {
        let mut bytes = self.bytes(token);
        if token.tok == Tok::NStr {
            bytes = &bytes[1..];
        }
        let raw = &bytes[1..bytes.len() - 1];
        if token.escaped {
            unescape(raw, bytes[0], !self.mode.has(SqlMode::NO_BACKSLASH_ESCAPES))
        } else {
            raw.to_vec()
        }
    }

    /// One string, not joined with its neighbours.
    pub(super) fn string(&mut self) -> PResult<String> {
        let token = self.expect(Tok::Str)?;
        Ok(utf8(&self.string_bytes(token)))
    }

    /// A string, or a hexadecimal literal as its bytes.
    pub(super) fn string_or_hex(&mut self) -> PResult<Vec<u8>> {
        let token = self.tok;
        match token.tok {
            Tok::Str => {
                self.bump();
                Ok(self.string_bytes(token))
            }
            Tok::Hex => {
                self.bump();
                Ok(self.hex_bytes(token))
            }
            _ => Err(self.error()),
        }
    }

    /// The bytes of a hexadecimal literal.
    pub(super) fn hex_bytes(&self, token: Token) -> Vec<u8> {
        let nibble = |b: u8| match b {
            b'0'..=b'9' => b - b'0',
            _ => (b | 0x20).wrapping_sub(b'a').wrapping_add(10),
        };
        let digits = self.digits(token);
        let mut out = Vec::with_capacity(digits.len().div_ceil(2));
        let (odd, pairs) = digits.split_at(digits.len() % 2);
        out.extend(odd.iter().map(|&b| nibble(b)));
        out.extend(pairs.chunks(2).map(|pair| nibble(pair[0]) << 4 | nibble(pair[1])));
        out
    }

    /// The bytes of a bit literal.
    pub(super) fn bit_bytes(&self, token: Token) -> Vec<u8> {
        let digits = self.digits(token);
        let lead = digits.len() % 8;
        let byte = |bits: &[u8]| bits.iter().fold(0u8, |n, &b| n << 1 | (b - b'0'));
        let (first, rest) = digits.split_at(lead);
        let mut out = Vec::with_capacity(digits.len().div_ceil(8));
        if lead > 0 {
            out.push(byte(first));
        }
        out.extend(rest.chunks(8).map(byte));
        out
    }

    /// The digits of `0x…`, `x'…'`, `0b…`, `b'…'`.
    fn digits(&self, token: Token) -> &[u8] {
        let bytes = self.bytes(token);
        let end = if bytes[1] == b'\'' { bytes.len() - 1 } else { bytes.len() };
        &bytes[2..end]
    }

    /// The number in an integer or hexadecimal token.
    pub(super) fn uint(&mut self) -> PResult<u64> {
        let token = self.tok;
        let value = match token.tok {
            Tok::Int => str::from_utf8(self.bytes(token)).ok().and_then(|s| s.parse().ok()),
            Tok::Hex => {
                let bytes = self.hex_bytes(token);
                (bytes.len() <= 8).then(|| bytes.iter().fold(0, |n, &b| n << 8 | u64::from(b)))
            }
            _ => None,
        };
        let value = value.ok_or_else(|| self.error())?;
        self.bump();
        Ok(value)
    }

    /// A number of any form, of which the whole part counts, and not more than fits.
    pub(super) fn whole_number(&mut self) -> PResult<u64> {
        let token = self.tok;
        let text = str::from_utf8(self.bytes(token)).unwrap_or_default();
        let value = match token.tok {
            Tok::Int => Some(text.parse().unwrap_or(u64::MAX)),
            Tok::Decimal | Tok::Float => {
                let whole = text.split(['.', 'e', 'E']).next().unwrap_or_default();
                Some(if whole.is_empty() { 0 } else { whole.parse().unwrap_or(u64::MAX) })
            }
            _ => None,
        };
        let value = value.ok_or_else(|| self.error())?;
        self.bump();
        Ok(value)
    }

    /// A charset name: identifier, string, or BINARY.
    pub(super) fn charset_name(&mut self) -> PResult<String> {
        if self.accept_kw(Kw::BINARY) {
            return Ok("binary".to_string());
        }
        let name = self.ident_or_string()?;
        self.names_charset(&name);
        Ok(name)
    }

    /// A comment. Its character set is utf8mb3: characters of four bytes become question marks.
    pub(super) fn comment(&mut self) -> PResult<String> {
        let text = self.string()?;
        let lacks = |c: char| c.len_utf8() == 4;
        if !text.contains(lacks) {
            return Ok(text);
        }
        self.cannot_convert(text.as_bytes());
        Ok(text.replace(lacks, "?"))
    }

    /// A collation's name, which may be BINARY.
    pub(super) fn collation_name(&mut self) -> PResult<String> {
        if self.accept_kw(Kw::BINARY) {
            return Ok("binary".to_string());
        }
        let name = self.ident_or_string()?;
        if let Some(remark) = deprecated_collation(&name) {
            self.remarks.push(remark);
        }
        Ok(name)
    }

    /// The collation of COLLATE in an expression, where MySQL does not warn of old ones.
    pub(super) fn operand_collation(&mut self) -> PResult<String> {
        match self.accept_kw(Kw::BINARY) {
            true => Ok("binary".to_string()),
            false => self.ident_or_string(),
        }
    }

    /// Remarks on a character set that is deprecated.
    pub(super) fn names_charset(&mut self, name: &str) {
        if let Some(remark) = deprecated_charset(name) {
            self.remarks.push(remark);
        }
    }

    /// `CHARACTER SET`, `CHARSET` or `CHAR SET`.
    pub(super) fn accept_charset(&mut self) -> bool {
        self.accept_kw(Kw::CHARSET)
            || self.accept_pair(Kw::CHARACTER, Kw::SET)
            || self.accept_pair(Kw::CHAR, Kw::SET)
    }
}
