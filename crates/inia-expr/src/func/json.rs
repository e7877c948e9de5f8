//! JSON functions.

use super::types::{int, int_null, json};
use super::{Function, MANY, f, ft, node, r};
use crate::context::Environment;
use crate::eval::{Args, FnResult, Stop};
use crate::json::path::{JsonPath, Leg};
use crate::json::{self as doc, Json, order};
use crate::like::Pattern;
use crate::tree::Expr;
use crate::ty::{ExprType, TypeClass};
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use std::borrow::Cow;
use std::cmp::Ordering;

pub(super) const TABLE: &[Function] = &[
    f("json_extract", 2, MANY, json, extract),
    f(
        "json_unquote",
        1,
        1,
        |args, _| {
            let length = match args[0].ty.class() {
                TypeClass::Json => 1 << 30,
                _ => u64::from(args[0].ty.length),
            };
            Ok(ExprType::text(length, Collation::UTF8MB4_BIN, true))
        },
        unquote,
    ),
    f("json_object", 0, MANY, object_type, object),
    f("json_array", 0, MANY, json, |a| {
        let mut items = Vec::with_capacity(a.len());
        for i in 0..a.len() {
            items.push(element(a, i)?);
        }
        done(Json::Array(items))
    }),
    f("json_valid", 1, 1, int_null::<21>, |a| {
        let listed =
            matches!(a.arg_type(0).data_type, DataType::Enum { .. } | DataType::Set { .. });
        let known =
            matches!(a.arg_type(0).class(), TypeClass::String | TypeClass::Json | TypeClass::Null);
        if listed || !known {
            return Ok(Value::Int(0));
        }
        let valid = match &*a.value(0)? {
            Value::Json(_) => true,
            Value::Text(text) => match doc::parse(text) {
                Err(error) if error.is_depth() => {
                    return Err(SqlError::new(ErrorCode::JsonDocumentTooDeep, &[]).into());
                }
                parsed => parsed.is_ok(),
            },
            _ => false,
        };
        Ok(Value::Int(valid.into()))
    }),
    f(
        "json_type",
        1,
        1,
        |_, _| Ok(ExprType::text(17, Collation::UTF8MB4_BIN, true)),
        |a| Ok(Value::Text(a.json(0)?.type_name().to_owned())),
    ),
    f("json_length", 1, 2, int_null::<21>, |a| {
        if a.len() == 1 {
            return Ok(Value::Int(a.json(0)?.length() as i64));
        }
        // Errors name the function that finds the part.
        let value = a.value(0)?;
        doc::document(&value, a.arg_type(0), 1, "json_extract")?;
        match extract(a)? {
            Value::Json(part) => Ok(Value::Int(doc::stored(&part).length() as i64)),
            _ => Err(Stop::Null),
        }
    }),
    f("json_depth", 1, 1, int_null::<21>, |a| Ok(Value::Int(a.json(0)?.depth() as i64))),
    f("json_keys", 1, 2, json, |a| {
        let document = a.json(0)?;
        let part = match a.len() {
            1 => Some(&document),
            _ => single_path(a, 1)?.only(&document),
        };
        match part {
            Some(Json::Object(members)) => done(Json::Array(
                members.iter().map(|(key, _)| Json::String(key.clone())).collect(),
            )),
            _ => Err(Stop::Null),
        }
    }),
    f("json_contains", 2, 3, int_null::<21>, |a| {
        let document = part(a, 2)?;
        let candidate = a.json(1)?;
        Ok(Value::Int(contains(&document, &candidate).into()))
    }),
    f("json_contains_path", 3, MANY, int_null::<21>, contains_path),
    ft("json_set", 3, MANY, |args, _| pairs_type(args, "json_set"), change, 0),
    ft("json_insert", 3, MANY, |args, _| pairs_type(args, "json_insert"), change, 1),
    ft("json_replace", 3, MANY, |args, _| pairs_type(args, "json_replace"), change, 2),
    ft("json_array_append", 3, MANY, |args, _| pairs_type(args, "json_array_append"), change, 3),
    ft("json_array_insert", 3, MANY, |args, _| pairs_type(args, "json_array_insert"), change, 4),
    f("json_remove", 2, MANY, json, remove),
    f("json_merge_patch", 2, MANY, json, merge_patch),
    f("json_merge_preserve", 2, MANY, json, merge_preserve),
    r("json_merge", 2, MANY, |args, _| {
        let eval = |a: &mut Args<'_, '_>| {
            let args: [&dyn std::fmt::Display; 2] =
                [&"JSON_MERGE", &"JSON_MERGE_PRESERVE/JSON_MERGE_PATCH"];
            a.raise(SqlError::new(ErrorCode::WarnDeprecatedSyntax, &args))?;
            merge_preserve(a)
        };
        Ok(node("json_merge_preserve", ExprType::json(true), eval, args, 0))
    }),
    f("json_search", 3, MANY, json, search),
    f(
        "json_quote",
        1,
        1,
        |args, _| {
            let length = u64::from(args[0].ty.length) * 6 + 2;
            Ok(ExprType::text(length, Collation::UTF8MB4_BIN, true))
        },
        |a| Ok(Value::Text(doc::quote(&string(a)?))),
    ),
    f(
        "json_pretty",
        1,
        1,
        |_, _| Ok(ExprType::text(1 << 24, Collation::UTF8MB4_BIN, true)),
        |a| Ok(Value::Text(a.json(0)?.pretty())),
    ),
    f("member_of", 2, 2, super::types::boolean, |a| {
        a.value(0)?;
        let item = element(a, 0)?;
        let found = match a.json(1)? {
            Json::Array(items) => items.iter().any(|other| order::compare(other, &item).is_eq()),
            other => order::compare(&other, &item).is_eq(),
        };
        Ok(Value::Int(found.into()))
    }),
    f("json_overlaps", 2, 2, super::types::boolean, |a| {
        let (left, right) = (a.json(0)?, a.json(1)?);
        Ok(Value::Int(overlaps(&left, &right).into()))
    }),
    f("json_storage_size", 1, 1, int::<21>, |a| {
        Ok(Value::Int(doc::binary::size(&a.json(0)?) as i64))
    }),
];

pub(super) fn done(document: Json) -> FnResult {
    Ok(doc::value(document.carried())?)
}

fn path(a: &mut Args<'_, '_>, i: usize) -> Result<JsonPath, Stop> {
    Ok(JsonPath::parse(&a.text(i)?)?)
}

/// The first argument, or what path argument `i` finds in it.
fn part(a: &mut Args<'_, '_>, i: usize) -> Result<Json, Stop> {
    let document = a.json(0)?;
    if a.len() <= i {
        return Ok(document);
    }
    let path = single_path(a, i)?;
    path.find(&document).first().map(|found| (*found).clone()).ok_or(Stop::Null)
}

/// A path that names one place; error 3149.
fn single_path(a: &mut Args<'_, '_>, i: usize) -> Result<JsonPath, Stop> {
    let path = path(a, i)?;
    if path.has_wildcard() {
        return Err(SqlError::new(ErrorCode::InvalidJsonPathWildcard, &[]).into());
    }
    Ok(path)
}

/// An argument as a part of a document.
fn element(a: &mut Args<'_, '_>, i: usize) -> Result<Json, Stop> {
    let value = a.nullable(i)?;
    Ok(doc::of_value(&value, a.arg_type(i))?)
}

fn extract(a: &mut Args<'_, '_>) -> FnResult {
    let document = a.json(0)?;
    let mut found = Vec::new();
    let mut many = a.len() > 2;
    for i in 1..a.len() {
        let path = path(a, i)?;
        many |= path.has_wildcard();
        found.extend(path.find(&document).into_iter().cloned());
    }
    match found.pop() {
        None => Err(Stop::Null),
        Some(only) if !many => done(only),
        Some(last) => {
            found.push(last);
            done(Json::Array(found))
        }
    }
}

/// The only argument, a character string: error 3064 or 3144 where it is none.
fn string<'a>(a: &mut Args<'a, '_>) -> Result<Cow<'a, str>, Stop> {
    a.value(0)?;
    let ty = a.arg_type(0);
    if ty.is_text() {
        return a.text(0);
    }
    Err(Stop::Error(match ty.class() {
        TypeClass::String => SqlError::new(ErrorCode::InvalidJsonCharset, &[&"binary"]),
        _ => SqlError::new(ErrorCode::IncorrectType, &[&1, &a.call.name]),
    }))
}

fn unquote(a: &mut Args<'_, '_>) -> FnResult {
    let value = a.value(0)?;
    match &*value {
        Value::Json(text) => Ok(Value::Text(doc::unquote(text))),
        _ => {
            let text = string(a)?;
            let quoted = text.len() >= 2 && text.starts_with('"') && text.ends_with('"');
            if !quoted {
                return Ok(Value::Text(text.into_owned()));
            }
            match a.json(0)? {
                Json::String(inner) => Ok(Value::Text(inner)),
                other => Ok(Value::Text(other.to_string())),
            }
        }
    }
}

fn object_type(args: &mut [Expr], _: &Environment) -> Result<ExprType, SqlError> {
    if !args.len().is_multiple_of(2) {
        return Err(SqlError::new(ErrorCode::WrongParamcountToNativeFct, &[&"json_object"]));
    }
    Ok(ExprType::json(true))
}

fn object(a: &mut Args<'_, '_>) -> FnResult {
    let mut members = Vec::new();
    for i in (0..a.len()).step_by(2) {
        let ty = a.arg_type(i);
        let binary = ty.class() == TypeClass::String && !ty.is_text();
        let key = match a.text(i) {
            Ok(_) if binary => {
                return Err(SqlError::new(ErrorCode::InvalidJsonCharset, &[&"binary"]).into());
            }
            Err(Stop::Null) => {
                return Err(SqlError::new(ErrorCode::JsonDocumentNullKey, &[]).into());
            }
            other => other?.into_owned(),
        };
        let value = element(a, i + 1)?;
        Json::insert(&mut members, key, value);
    }
    done(Json::Object(members))
}

fn contains(document: &Json, candidate: &Json) -> bool {
    match (document, candidate) {
        (Json::Object(_), Json::Object(wanted)) => wanted
            .iter()
            .all(|(key, value)| document.member(key).is_some_and(|own| contains(own, value))),
        (Json::Array(items), Json::Array(wanted)) => {
            wanted.iter().all(|value| items.iter().any(|item| contains(item, value)))
        }
        (Json::Array(items), value) => items.iter().any(|item| contains(item, value)),
        _ => order::compare(document, candidate) == Ordering::Equal,
    }
}

/// ONE is true; error 3154 for anything but the two words.
fn one_or_all(a: &mut Args<'_, '_>, i: usize) -> Result<bool, Stop> {
    let word = a.text(i)?.to_lowercase();
    match word.as_str() {
        "one" => Ok(true),
        "all" => Ok(false),
        _ => Err(SqlError::new(ErrorCode::JsonBadOneOrAllArg, &[&a.call.name]).into()),
    }
}

fn contains_path(a: &mut Args<'_, '_>) -> FnResult {
    let document = a.json(0)?;
    let one = one_or_all(a, 1)?;
    for i in 2..a.len() {
        let found = !path(a, i)?.find(&document).is_empty();
        if found == one {
            return Ok(Value::Int(one.into()));
        }
    }
    Ok(Value::Int((!one).into()))
}

fn pairs_type(args: &[Expr], name: &str) -> Result<ExprType, SqlError> {
    if args.len().is_multiple_of(2) {
        return Err(SqlError::new(ErrorCode::WrongParamcountToNativeFct, &[&name]));
    }
    Ok(ExprType::json(true))
}

/// JSON_SET, INSERT, REPLACE, ARRAY_APPEND and ARRAY_INSERT, by tag.
fn change(a: &mut Args<'_, '_>) -> FnResult {
    let mut document = a.json(0)?;
    for i in (1..a.len()).step_by(2) {
        let path = single_path(a, i)?;
        let value = element(a, i + 1)?;
        match a.call.tag {
            3 => append(&mut document, &path, value),
            4 => insert_cell(&mut document, &path, value)?,
            mode => set(&mut document, &path.legs, value, mode != 2, mode != 1),
        }
    }
    done(document)
}

/// The place a path leads to.
fn place<'d>(json: &'d mut Json, legs: &[Leg]) -> Option<&'d mut Json> {
    let Some((leg, rest)) = legs.split_first() else { return Some(json) };
    match (leg, json) {
        (Leg::Member(key), Json::Object(members)) => {
            let at = members.binary_search_by(|(own, _)| doc::key_order(own, key)).ok()?;
            place(&mut members[at].1, rest)
        }
        (Leg::Cell(index), Json::Array(items)) => {
            let at = index.resolve(items.len())?;
            place(items.get_mut(at)?, rest)
        }
        (Leg::Cell(index), scalar) if index.resolve(1) == Some(0) => place(scalar, rest),
        _ => None,
    }
}

fn set(document: &mut Json, legs: &[Leg], value: Json, create: bool, replace: bool) {
    if let Some(found) = place(document, legs) {
        if replace {
            *found = value;
        }
        return;
    }
    let Some((last, parents)) = legs.split_last() else { return };
    let Some(parent) = place(document, parents).filter(|_| create) else { return };
    match (last, parent) {
        (Leg::Member(key), Json::Object(members)) => Json::insert(members, key.clone(), value),
        (Leg::Cell(index), Json::Array(items)) => {
            let at = if index.from_last { 0 } else { items.len() };
            items.insert(at, value);
        }
        (Leg::Cell(index), scalar) => {
            let own = std::mem::replace(scalar, Json::Null);
            let pair = if index.from_last { vec![value, own] } else { vec![own, value] };
            *scalar = Json::Array(pair);
        }
        _ => {}
    }
}

fn append(document: &mut Json, path: &JsonPath, value: Json) {
    match place(document, &path.legs) {
        Some(Json::Array(items)) => items.push(value),
        Some(scalar) => {
            let own = std::mem::replace(scalar, Json::Null);
            *scalar = Json::Array(vec![own, value]);
        }
        None => {}
    }
}

fn insert_cell(document: &mut Json, path: &JsonPath, value: Json) -> Result<(), Stop> {
    let Some((Leg::Cell(index), parents)) = path.legs.split_last() else {
        return Err(SqlError::new(ErrorCode::InvalidJsonPathArrayCell, &[]).into());
    };
    if let Some(Json::Array(items)) = place(document, parents) {
        let at = match index.from_last {
            true => items.len().saturating_sub(index.offset + 1),
            false => index.offset.min(items.len()),
        };
        items.insert(at, value);
    }
    Ok(())
}

fn remove(a: &mut Args<'_, '_>) -> FnResult {
    let mut document = a.json(0)?;
    for i in 1..a.len() {
        let path = single_path(a, i)?;
        let Some((last, parents)) = path.legs.split_last() else {
            return Err(SqlError::new(ErrorCode::JsonVacuousPath, &[]).into());
        };
        match (last, place(&mut document, parents)) {
            (Leg::Member(key), Some(Json::Object(members))) => {
                members.retain(|(own, _)| own != key);
            }
            (Leg::Cell(index), Some(Json::Array(items))) => {
                if let Some(at) = index.resolve(items.len()).filter(|at| *at < items.len()) {
                    items.remove(at);
                }
            }
            _ => {}
        }
    }
    done(document)
}

/// What comes before an argument that is no object does not matter, not even NULL.
fn merge_patch(a: &mut Args<'_, '_>) -> FnResult {
    let mut merged = None;
    for i in 0..a.len() {
        let change = match a.json(i) {
            Err(Stop::Null) => None,
            other => Some(other?),
        };
        merged = match (merged, change) {
            (Some(target), Some(change)) => Some(doc::merge_patch(target, change)),
            (None, Some(Json::Object(_))) if i > 0 => None,
            (_, change) => change,
        };
    }
    done(merged.ok_or(Stop::Null)?)
}

fn merge_preserve(a: &mut Args<'_, '_>) -> FnResult {
    let mut merged = a.json(0)?;
    for i in 1..a.len() {
        merged = preserve(merged, a.json(i)?);
    }
    done(merged)
}

fn preserve(left: Json, right: Json) -> Json {
    match (left, right) {
        (Json::Object(mut members), Json::Object(others)) => {
            for (key, value) in others {
                let at = members.iter().position(|(own, _)| *own == key);
                let merged = match at {
                    Some(at) => preserve(members[at].1.clone(), value),
                    None => value,
                };
                Json::insert(&mut members, key, merged);
            }
            Json::Object(members)
        }
        (left, right) => {
            let list = |json: Json| match json {
                Json::Array(items) => items,
                other => vec![other],
            };
            let mut items = list(left);
            items.extend(list(right));
            Json::Array(items)
        }
    }
}

fn overlaps(left: &Json, right: &Json) -> bool {
    match (left, right) {
        (Json::Array(l), Json::Array(r)) => {
            l.iter().any(|l| r.iter().any(|r| order::compare(l, r).is_eq()))
        }
        (Json::Array(items), other) | (other, Json::Array(items)) => {
            items.iter().any(|item| order::compare(item, other).is_eq())
        }
        (Json::Object(members), Json::Object(_)) => members.iter().any(|(key, value)| {
            right.member(key).is_some_and(|own| order::compare(own, value).is_eq())
        }),
        _ => order::compare(left, right).is_eq(),
    }
}

fn search(a: &mut Args<'_, '_>) -> FnResult {
    let document = a.json(0)?;
    let one = one_or_all(a, 1)?;
    let wanted = a.text(2)?;
    let escape = match a.len() {
        0..=3 => Some('\\'),
        _ => match a.text(3) {
            Err(Stop::Null) => Some('\\'),
            other => other?.chars().next().or(Some('\\')),
        },
    };
    let pattern = Pattern::compile(&wanted, escape, Collation::UTF8MB4_BIN);
    let mut found = Vec::new();
    walk(&document, &mut String::from("$"), &mut |path, text| {
        if pattern.matches(text) && !found.contains(&path) {
            found.push(path);
        }
    });
    if a.len() > 4 {
        let mut inside = Vec::new();
        for i in 4..a.len() {
            let scope = a.text(i)?.into_owned();
            JsonPath::parse(&scope)?;
            inside.push(scope);
        }
        found.retain(|path| inside.iter().any(|scope| path.starts_with(scope.as_str())));
    }
    if one {
        found.truncate(1);
    }
    let mut paths: Vec<Json> = found.into_iter().map(Json::String).collect();
    match paths.len() {
        0 => Err(Stop::Null),
        1 => done(paths.remove(0)),
        _ => done(Json::Array(paths)),
    }
}

/// Calls `visit` with the path and text of each string inside.
fn walk(json: &Json, path: &mut String, visit: &mut dyn FnMut(String, &str)) {
    let own = path.len();
    match json {
        Json::String(text) => visit(path.clone(), text),
        Json::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                path.push_str(&format!("[{i}]"));
                walk(item, path, visit);
                path.truncate(own);
            }
        }
        Json::Object(members) => {
            for (key, value) in members {
                let plain = key.chars().all(|c| c.is_alphanumeric() || c == '_')
                    && !key.starts_with(|c: char| c.is_ascii_digit())
                    && !key.is_empty();
                match plain {
                    true => path.push_str(&format!(".{key}")),
                    false => path.push_str(&format!(".{}", doc::quote(key))),
                }
                walk(value, path, visit);
                path.truncate(own);
            }
        }
        _ => {}
    }
}
