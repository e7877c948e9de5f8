//! The JSON parser, with the error texts and positions MySQL reports.

use super::Json;
use crate::collate;
use inia_base::decimal::Decimal;
use inia_base::json as carried;
use inia_base::temporal::{DateRules, DateTime, Time};

/// Deepest nesting of a document.
pub(super) const MAX_DEPTH: usize = 100;
const TOO_DEEP: &str = "The JSON document exceeds the maximum depth.";

/// Why a text is no JSON document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// What is wrong.
    pub text: &'static str,
    /// Where, in bytes from 0.
    pub position: usize,
}

impl ParseError {
    /// Whether the text is refused for its depth alone: error 3157.
    pub(crate) fn is_depth(&self) -> bool {
        self.text == TOO_DEEP
    }
}

/// Parses a text that a user wrote: numbers with a fraction are doubles.
pub fn parse(text: &str) -> Result<Json, ParseError> {
    whole(Parser { bytes: text.as_bytes(), text, at: 0, printed: false })
}

/// Parses what a document was printed as: a number that no double prints as is a decimal.
pub(super) fn parse_printed(text: &str) -> Result<Json, ParseError> {
    whole(Parser { bytes: text.as_bytes(), text, at: 0, printed: true })
}

fn whole(mut parser: Parser<'_>) -> Result<Json, ParseError> {
    let text = parser.text;
    parser.blanks();
    if parser.at == text.len() {
        return Err(parser.error("The document is empty."));
    }
    let value = parser.value(1)?;
    parser.blanks();
    if parser.at < text.len() {
        return Err(parser.error("The document root must not be followed by other values."));
    }
    Ok(value)
}

struct Parser<'t> {
    bytes: &'t [u8],
    text: &'t str,
    at: usize,
    /// The text is a printed document.
    printed: bool,
}

/// More digits than this may say more than a double does.
const DOUBLE_DIGITS: usize = 15;

/// The decimal that a number of a printed document is; `None` where a double prints so, too.
fn printed_decimal(text: &str) -> Option<Decimal> {
    let (_, fraction) = text.split_once('.')?;
    let padded = fraction.len() > 1 && fraction.ends_with('0');
    let long = text.len() > DOUBLE_DIGITS && {
        let double = text.parse().ok()?;
        Json::Double(double).to_string() != text
    };
    let plain = fraction.bytes().all(|byte| byte.is_ascii_digit());
    if plain && (padded || long) { text.parse().ok() } else { None }
}

/// Bytes from `base64:type15:QQ==`.
fn opaque(text: &str) -> Option<Json> {
    let (kind, digits) = text.strip_prefix("base64:type")?.split_once(':')?;
    Some(Json::Opaque(kind.parse().ok()?, collate::from_base64(digits.as_bytes())?))
}

impl Parser<'_> {
    fn error(&self, text: &'static str) -> ParseError {
        ParseError { text, position: self.at }
    }

    fn blanks(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json, ParseError> {
        let first = self.bytes.get(self.at);
        if depth > MAX_DEPTH && matches!(first, Some(b'{' | b'[')) {
            return Err(self.error(TOO_DEEP));
        }
        match first {
            Some(mark @ 1..=7) if self.printed => self.marked(*mark),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Json::String(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            _ => Err(self.error("Invalid value.")),
        }
    }

    /// A scalar behind the byte that marks its kind.
    fn marked(&mut self, mark: u8) -> Result<Json, ParseError> {
        let damaged = self.error("Invalid value.");
        self.at += 1;
        if matches!(mark, carried::UNSIGNED | carried::SIGNED | carried::DECIMAL) {
            let digit = |b: &u8| b.is_ascii_digit() || matches!(b, b'-' | b'.');
            let count = self.bytes[self.at..].iter().take_while(|b| digit(b)).count();
            let text = &self.text[self.at..self.at + count];
            self.at += count;
            let found = match mark {
                carried::UNSIGNED => text.parse().ok().map(Json::UInt),
                carried::SIGNED => text.parse().ok().map(Json::Int),
                _ => text.parse().ok().map(Json::Decimal),
            };
            return found.ok_or(damaged);
        }
        if self.bytes.get(self.at) != Some(&b'"') {
            return Err(damaged);
        }
        let text = self.string()?;
        let moment = || DateTime::parse(&text, DateRules::ZEROS).ok().map(|parsed| parsed.value);
        let found = match mark {
            carried::DATE => moment().map(|moment| Json::Date(moment.date)),
            carried::DATETIME => moment().map(Json::DateTime),
            carried::TIME => Time::parse(&text).ok().map(|parsed| Json::Time(parsed.value)),
            _ => opaque(&text),
        };
        found.ok_or(damaged)
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, ParseError> {
        let matching = word.bytes().zip(&self.bytes[self.at..]).take_while(|(a, b)| a == *b);
        let length = matching.count();
        if length < word.len() {
            self.at += length;
            return Err(self.error("Invalid value."));
        }
        self.at += word.len();
        Ok(value)
    }

    fn array(&mut self, depth: usize) -> Result<Json, ParseError> {
        self.at += 1;
        self.blanks();
        let mut items = Vec::new();
        if self.bytes.get(self.at) == Some(&b']') {
            self.at += 1;
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.blanks();
            match self.bytes.get(self.at) {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Json::Array(items));
                }
                _ => return Err(self.error("Missing a comma or ']' after an array element.")),
            }
            self.blanks();
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, ParseError> {
        self.at += 1;
        self.blanks();
        let mut members = Vec::new();
        if self.bytes.get(self.at) == Some(&b'}') {
            self.at += 1;
            return Ok(Json::Object(members));
        }
        loop {
            if self.bytes.get(self.at) != Some(&b'"') {
                return Err(self.error("Missing a name for object member."));
            }
            let key = self.string()?;
            self.blanks();
            if self.bytes.get(self.at) != Some(&b':') {
                return Err(self.error("Missing a colon after a name of object member."));
            }
            self.at += 1;
            self.blanks();
            let value = self.value(depth + 1)?;
            Json::insert(&mut members, key, value);
            self.blanks();
            match self.bytes.get(self.at) {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Json::Object(members));
                }
                _ => return Err(self.error("Missing a comma or '}' after an object member.")),
            }
            self.blanks();
        }
    }

    fn string(&mut self) -> Result<String, ParseError> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let run = self.bytes[self.at..]
                .iter()
                .take_while(|b| !matches!(b, b'"' | b'\\') && **b >= 0x20)
                .count();
            out.push_str(&self.text[self.at..self.at + run]);
            self.at += run;
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => self.escape(&mut out)?,
                Some(_) => return Err(self.error("Invalid encoding in string.")),
                None => {
                    return Err(self.error("Missing a closing quotation mark in string."));
                }
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), ParseError> {
        let plain = match self.bytes.get(self.at + 1) {
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(*c),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let c = self.unicode()?;
                out.push(c);
                return Ok(());
            }
            _ => return Err(self.error("Invalid escape character in string.")),
        };
        out.push(plain);
        self.at += 2;
        Ok(())
    }

    fn hex4(&self, from: usize) -> Option<u32> {
        let digits = self.text.get(from..from + 4)?;
        u32::from_str_radix(digits, 16).ok()
    }

    fn unicode(&mut self) -> Result<char, ParseError> {
        let bad = self.error("Incorrect hex digit after \\u escape in string.");
        let first = self.hex4(self.at + 2).ok_or(bad)?;
        self.at += 6;
        if !(0xD800..0xE000).contains(&first) {
            return Ok(char::from_u32(first).unwrap_or('\u{fffd}'));
        }
        let surrogate = self.error("The surrogate pair in string is invalid.");
        let escaped = self.bytes.get(self.at..self.at + 2) == Some(b"\\u");
        let second = self.hex4(self.at + 2).filter(|_| escaped).ok_or(surrogate.clone())?;
        if first >= 0xDC00 || !(0xDC00..0xE000).contains(&second) {
            return Err(surrogate);
        }
        self.at += 6;
        let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        char::from_u32(code).ok_or(surrogate)
    }

    fn number(&mut self) -> Result<Json, ParseError> {
        let start = self.at;
        let digits = |from: usize| {
            self.bytes[from.min(self.bytes.len())..]
                .iter()
                .take_while(|b| b.is_ascii_digit())
                .count()
        };
        let mut at = self.at + usize::from(self.bytes[self.at] == b'-');
        let whole = digits(at);
        if whole == 0 {
            self.at = at;
            return Err(self.error("Invalid value."));
        }
        // JSON has no leading zeros: a zero ends the integer part.
        at += if self.bytes[at] == b'0' { 1 } else { whole };
        let mut exact = true;
        if self.bytes.get(at) == Some(&b'.') {
            let fraction = digits(at + 1);
            if fraction == 0 {
                self.at = at + 1;
                return Err(self.error("Miss fraction part in number."));
            }
            at += 1 + fraction;
            exact = false;
        }
        if matches!(self.bytes.get(at), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.bytes.get(at + 1), Some(b'+' | b'-')));
            let exponent = digits(at + 1 + sign);
            if exponent == 0 {
                self.at = at + 1 + sign;
                return Err(self.error("Missing exponent in number."));
            }
            at += 1 + sign + exponent;
            exact = false;
        }
        let text = &self.text[start..at];
        self.at = at;
        // Integers are exact within 64 bits; larger ones become doubles.
        if exact {
            if let Some(value) = text.parse().ok().filter(|v| *v <= super::MAX_PLAIN_INTEGER) {
                return Ok(Json::Int(value));
            }
            if let Ok(value) = text.parse() {
                return Ok(Json::UInt(value));
            }
        }
        // A document that a user wrote has no decimals; a printed one distinguishes them.
        if self.printed
            && let Some(decimal) = printed_decimal(text)
        {
            return Ok(Json::Decimal(decimal));
        }
        let value: f64 = text.parse().unwrap_or(0.0);
        if value.is_infinite() {
            self.at = start;
            return Err(self.error("Number too big to be stored in double."));
        }
        Ok(Json::Double(value))
    }
}
