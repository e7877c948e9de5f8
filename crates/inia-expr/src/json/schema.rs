//! Validation of a document by a JSON Schema of draft 4, as MySQL's library does it.
//!
//! A document is gone through from its beginning to its end, and the first requirement that fails
//! is reported: members of an object before what is required of the object, and `enum`, `allOf`,
//! `anyOf`, `oneOf` and `not` of a value last.
//!
//! ```text
//!   {"required": ["b"], "properties": {"a": {"type": "string"}}}   and   {"a": 1}
//!   #/a fails `type` at #/properties/a before # fails `required` at #
//! ```
//!
//! References lead to other places of the schema (`#/definitions/x`); one that leads nowhere, like
//! a requirement of a wrong type, requires nothing.

use super::{Json, order};
use inia_base::error::{ErrorCode, SqlError};
use std::fmt::Write;

/// References that follow one another without a value between them.
const MAX_REFERENCES: usize = 32;

/// The first requirement that a document fails.
#[derive(Debug)]
pub(crate) struct Failure {
    keyword: &'static str,
    schema: String,
    document: String,
}

impl Failure {
    /// What failed where, as a sentence without its full stop.
    pub(crate) fn reason(&self) -> String {
        format!(
            "The JSON document location '{}' failed requirement '{}' at JSON Schema location '{}'",
            self.document, self.keyword, self.schema
        )
    }

    /// The document that JSON_SCHEMA_VALIDATION_REPORT gives.
    pub(crate) fn report(self) -> Json {
        let mut members = vec![("valid".to_owned(), Json::Bool(false))];
        let reason = self.reason();
        let parts = [
            ("reason", reason),
            ("schema-location", self.schema),
            ("document-location", self.document),
            ("schema-failed-keyword", self.keyword.to_owned()),
        ];
        members.extend(parts.map(|(name, text)| (name.to_owned(), Json::String(text))));
        Json::Object(members)
    }
}

/// The first requirement of `schema` that `document` fails. Error 1235 for references to other
/// documents.
pub(crate) fn validate(schema: &Json, document: &Json) -> Result<Option<Failure>, SqlError> {
    if refers_outside(schema) {
        let error = SqlError::new(ErrorCode::NotSupportedYet, &[&"references in JSON Schema"]);
        return Err(error);
    }
    let at = Subschema { schema, path: Path::Root };
    Ok(Validator { root: schema }.value(at, (document, Path::Root)).err())
}

/// Whether a reference leads to another document.
fn refers_outside(schema: &Json) -> bool {
    match schema {
        Json::Object(members) => members.iter().any(|(name, value)| match value {
            Json::String(to) if name == "$ref" => !to.is_empty() && !to.starts_with('#'),
            value => refers_outside(value),
        }),
        Json::Array(items) => items.iter().any(refers_outside),
        _ => false,
    }
}

/// A place in a document, from its root.
#[derive(Clone, Copy)]
enum Path<'p> {
    Root,
    Member(&'p Path<'p>, &'p str),
    Item(&'p Path<'p>, usize),
    /// Where a reference leads to.
    Reference(&'p str),
}

impl Path<'_> {
    /// The place as a pointer in the fragment of a URI (RFC 6901).
    fn pointer(&self) -> String {
        match self {
            Path::Root => "#".to_owned(),
            Path::Reference(to) => (*to).to_owned(),
            Path::Item(above, item) => format!("{}/{item}", above.pointer()),
            Path::Member(above, name) => {
                let mut pointer = above.pointer();
                pointer.push('/');
                for byte in name.bytes() {
                    match byte {
                        b'~' => pointer.push_str("~0"),
                        b'/' => pointer.push_str("~1"),
                        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' => {
                            pointer.push(char::from(byte));
                        }
                        byte => write!(pointer, "%{byte:02X}").expect("a string takes all text"),
                    }
                }
                pointer
            }
        }
    }
}

/// A schema inside the whole schema.
#[derive(Clone, Copy)]
struct Subschema<'s> {
    schema: &'s Json,
    path: Path<'s>,
}

/// A value inside the document, and where it is.
type Place<'d> = (&'d Json, Path<'d>);
type Verdict = Result<(), Failure>;

impl<'s> Subschema<'s> {
    fn failure(&self, keyword: &'static str, place: Path<'_>) -> Failure {
        Failure { keyword, schema: self.path.pointer(), document: place.pointer() }
    }

    fn require(&self, holds: bool, keyword: &'static str, place: Path<'_>) -> Verdict {
        if holds { Ok(()) } else { Err(self.failure(keyword, place)) }
    }

    fn array(&self, keyword: &str) -> Option<&'s [Json]> {
        match self.schema.member(keyword) {
            Some(Json::Array(items)) => Some(items),
            _ => None,
        }
    }

    fn object(&self, keyword: &str) -> &'s [(String, Json)] {
        match self.schema.member(keyword) {
            Some(Json::Object(members)) => members,
            _ => &[],
        }
    }

    /// A number of things.
    fn count(&self, keyword: &str) -> Option<usize> {
        match self.schema.member(keyword) {
            Some(Json::Int(count)) => usize::try_from(*count).ok(),
            Some(Json::UInt(count)) => usize::try_from(*count).ok(),
            _ => None,
        }
    }

    fn number(&self, keyword: &str) -> Option<&'s Json> {
        self.schema.member(keyword).filter(|value| is_number(value))
    }

    fn is(&self, keyword: &str, value: bool) -> bool {
        self.schema.member(keyword) == Some(&Json::Bool(value))
    }
}

struct Validator<'s> {
    root: &'s Json,
}

impl<'s> Validator<'s> {
    fn value(&self, part: Subschema<'_>, place: Place<'_>) -> Verdict {
        let part = self.referred(part);
        require_type(&part, place)?;
        match place.0 {
            Json::Object(members) => self.object(&part, members, place.1)?,
            Json::Array(items) => self.array(&part, items, place.1)?,
            Json::String(text) => string(&part, text, place.1)?,
            value if is_number(value) => number(&part, value, place.1)?,
            _ => {}
        }
        self.combinations(&part, place)
    }

    /// Where the references of a schema lead to; what requires nothing, where they lead nowhere.
    fn referred<'p>(&self, mut part: Subschema<'p>) -> Subschema<'p>
    where
        's: 'p,
    {
        for _ in 0..MAX_REFERENCES {
            let Some(Json::String(to)) = part.schema.member("$ref") else { return part };
            match follow(self.root, to) {
                Some(schema) => part = Subschema { schema, path: Path::Reference(to) },
                None => break,
            }
        }
        Subschema { schema: &Json::Null, path: Path::Root }
    }

    fn holds(&self, part: Subschema<'_>, place: Place<'_>) -> bool {
        self.value(part, place).is_ok()
    }

    fn object(&self, part: &Subschema<'_>, members: &[(String, Json)], place: Path<'_>) -> Verdict {
        for (name, value) in members {
            self.member(part, name, (value, Path::Member(&place, name)))?;
        }
        let has = |wanted: &str| members.iter().any(|(name, _)| name == wanted);
        let required = part.array("required").unwrap_or_default();
        let all = required.iter().all(|name| !matches!(name, Json::String(name) if !has(name)));
        part.require(all, "required", place)?;
        let count = members.len();
        let least = part.count("minProperties").is_none_or(|least| count >= least);
        part.require(least, "minProperties", place)?;
        let most = part.count("maxProperties").is_none_or(|most| count <= most);
        part.require(most, "maxProperties", place)?;
        let all = Path::Member(&part.path, "dependencies");
        let whole = Json::Object(members.to_vec());
        for (name, needs) in part.object("dependencies").iter().filter(|(name, _)| has(name)) {
            let holds = match needs {
                Json::Array(names) => {
                    names.iter().all(|name| !matches!(name, Json::String(name) if !has(name)))
                }
                needs => self.holds(
                    Subschema { schema: needs, path: Path::Member(&all, name) },
                    (&whole, place),
                ),
            };
            part.require(holds, "dependencies", place)?;
        }
        Ok(())
    }

    /// A member of an object: by its name, by patterns of names, or as one of the others.
    fn member(&self, part: &Subschema<'_>, name: &str, place: Place<'_>) -> Verdict {
        let all = Path::Member(&part.path, "patternProperties");
        let patterns = part.object("patternProperties").iter();
        let patterns: Vec<Subschema<'_>> = patterns
            .filter(|(pattern, _)| matches(pattern, name) == Some(true))
            .map(|(pattern, schema)| Subschema { schema, path: Path::Member(&all, pattern) })
            .collect();
        let properties = Path::Member(&part.path, "properties");
        let own = part.object("properties").iter().find(|(own, _)| own == name);
        let own =
            own.map(|(own, schema)| Subschema { schema, path: Path::Member(&properties, own) });
        let others = part.schema.member("additionalProperties");
        let others = others.filter(|others| matches!(others, Json::Object(_)));
        let path = Path::Member(&part.path, "additionalProperties");
        let others = others.map(|schema| Subschema { schema, path });
        if patterns.is_empty() {
            return match own.or(others) {
                Some(schema) => self.value(schema, place),
                None => {
                    let allowed = !part.is("additionalProperties", false);
                    part.require(allowed, "additionalProperties", place.1)
                }
            };
        }
        let by_pattern = patterns.iter().all(|pattern| self.holds(*pattern, place));
        let holds = match (own, others) {
            (Some(own), _) => by_pattern && self.holds(own, place),
            (None, Some(others)) => by_pattern || self.holds(others, place),
            (None, None) => by_pattern,
        };
        let nowhere = Subschema { schema: &Json::Null, path: Path::Root };
        nowhere.require(holds, "patternProperties", place.1)
    }

    fn array(&self, part: &Subschema<'_>, items: &[Json], place: Path<'_>) -> Verdict {
        let own = Path::Member(&part.path, "items");
        let rest = Path::Member(&part.path, "additionalItems");
        for (number, item) in items.iter().enumerate() {
            let here = Path::Item(&place, number);
            match part.schema.member("items") {
                Some(schema @ Json::Object(_)) => {
                    self.value(Subschema { schema, path: own }, (item, here))?;
                }
                Some(Json::Array(list)) => match list.get(number) {
                    Some(schema) => {
                        let path = Path::Item(&own, number);
                        self.value(Subschema { schema, path }, (item, here))?;
                    }
                    None => match part.schema.member("additionalItems") {
                        Some(schema @ Json::Object(_)) => {
                            self.value(Subschema { schema, path: rest }, (item, here))?;
                        }
                        _ => part.require(!part.is("additionalItems", false), "items", here)?,
                    },
                },
                _ => {}
            }
            let known = &items[..number];
            let unique = !part.is("uniqueItems", true) || !known.iter().any(|it| equal(it, item));
            part.require(unique, "uniqueItems", here)?;
        }
        let least = part.count("minItems").is_none_or(|least| items.len() >= least);
        part.require(least, "minItems", place)?;
        let most = part.count("maxItems").is_none_or(|most| items.len() <= most);
        part.require(most, "maxItems", place)
    }

    /// What is required of a value whatever its type is.
    fn combinations(&self, part: &Subschema<'_>, place: Place<'_>) -> Verdict {
        if let Some(known) = part.array("enum") {
            part.require(known.iter().any(|known| equal(known, place.0)), "enum", place.1)?;
        }
        let holding = |keyword: &'static str| {
            let schemas = part.array(keyword).filter(|schemas| !schemas.is_empty())?;
            let all = Path::Member(&part.path, keyword);
            let inner = schemas.iter().enumerate();
            let inner = inner.map(|(at, schema)| Subschema { schema, path: Path::Item(&all, at) });
            let count = inner.filter(|inner| self.holds(*inner, place)).count();
            Some((count, schemas.len()))
        };
        let all = holding("allOf").is_none_or(|(count, all)| count == all);
        part.require(all, "allOf", place.1)?;
        let any = holding("anyOf").is_none_or(|(count, _)| count > 0);
        part.require(any, "anyOf", place.1)?;
        let one = holding("oneOf").is_none_or(|(count, _)| count == 1);
        part.require(one, "oneOf", place.1)?;
        let path = Path::Member(&part.path, "not");
        let not = part.schema.member("not").filter(|schema| matches!(schema, Json::Object(_)));
        let holds = not.is_some_and(|schema| self.holds(Subschema { schema, path }, place));
        part.require(!holds, "not", place.1)
    }
}

/// The place of the schema that a reference names.
fn follow<'s>(root: &'s Json, to: &str) -> Option<&'s Json> {
    let pointer = to.strip_prefix('#')?;
    let Some(pointer) = pointer.strip_prefix('/') else {
        return pointer.is_empty().then_some(root);
    };
    pointer.split('/').try_fold(root, |schema, step| {
        let name = unescaped(step)?;
        match schema {
            Json::Object(_) => schema.member(&name),
            Json::Array(items) => items.get(name.parse::<usize>().ok()?),
            _ => None,
        }
    })
}

/// A step of a pointer in a URI, without its escapes.
fn unescaped(step: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(step.len());
    let mut rest = step.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        bytes.push((digit()? * 16 + digit()?) as u8);
    }
    Some(String::from_utf8(bytes).ok()?.replace("~1", "/").replace("~0", "~"))
}

fn is_number(value: &Json) -> bool {
    matches!(value, Json::Int(_) | Json::UInt(_) | Json::Double(_) | Json::Decimal(_))
}

fn require_type(part: &Subschema<'_>, place: Place<'_>) -> Verdict {
    let own = match place.0 {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Int(_) | Json::UInt(_) => "integer",
        Json::Double(_) | Json::Decimal(_) => "number",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
        _ => "string",
    };
    let is_own = |name: &Json| match name {
        Json::String(name) => name == own || (name == "number" && own == "integer"),
        _ => false,
    };
    let holds = match part.schema.member("type") {
        Some(name @ Json::String(_)) => is_own(name),
        Some(Json::Array(names)) => names.iter().any(is_own),
        _ => true,
    };
    part.require(holds, "type", place.1)
}

fn string(part: &Subschema<'_>, text: &str, place: Path<'_>) -> Verdict {
    let length = text.chars().count();
    let least = part.count("minLength").is_none_or(|least| length >= least);
    part.require(least, "minLength", place)?;
    let most = part.count("maxLength").is_none_or(|most| length <= most);
    part.require(most, "maxLength", place)?;
    let Some(Json::String(pattern)) = part.schema.member("pattern") else { return Ok(()) };
    part.require(matches(pattern, text).unwrap_or(true), "pattern", place)
}

/// Whether a pattern is found in a text; `None` where it is no pattern.
fn matches(pattern: &str, text: &str) -> Option<bool> {
    fancy_regex::Regex::new(pattern).ok()?.is_match(text).ok()
}

fn number(part: &Subschema<'_>, value: &Json, place: Path<'_>) -> Verdict {
    if let Some(least) = part.number("minimum") {
        let by = order::compare(value, least);
        let holds = by.is_gt() || (by.is_eq() && !part.is("exclusiveMinimum", true));
        part.require(holds, "minimum", place)?;
    }
    if let Some(most) = part.number("maximum") {
        let by = order::compare(value, most);
        let holds = by.is_lt() || (by.is_eq() && !part.is("exclusiveMaximum", true));
        part.require(holds, "maximum", place)?;
    }
    let Some(factor) = part.number("multipleOf") else { return Ok(()) };
    part.require(is_multiple(value, factor), "multipleOf", place)
}

/// Whether a number is a multiple of another; of 0 and below every number is one.
fn is_multiple(value: &Json, factor: &Json) -> bool {
    match (integer(value), integer(factor)) {
        (_, Some(0)) => true,
        (Some(value), Some(factor)) if factor > 0 => value % factor == 0,
        _ => {
            let (value, factor) = (order::real(value).abs(), order::real(factor));
            factor <= 0.0 || value - (value / factor).floor() * factor <= 0.0
        }
    }
}

fn integer(value: &Json) -> Option<i128> {
    match value {
        Json::Int(value) => Some(i128::from(*value)),
        Json::UInt(value) => Some(i128::from(*value)),
        _ => None,
    }
}

/// Whether two values are one: 1 and 1.0 are.
fn equal(left: &Json, right: &Json) -> bool {
    order::compare(left, right).is_eq()
}
