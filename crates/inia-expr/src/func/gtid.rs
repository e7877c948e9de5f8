//! Sets of global transaction identifiers, and functions that wait for replication. There is no
//! replication, and `gtid_mode` is OFF.
//!
//! A set is a list of servers with intervals: `3e11fa47-71ca-11e1-9e33-c80aa9429562:1-3:5`.

use super::types::{any_null, int_null};
use super::{Function, f, ft, v};
use crate::eval::{Args, FnResult, Stop};
use crate::tree::Expr;
use crate::ty::ExprType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use std::collections::BTreeMap;

pub(super) const TABLE: &[Function] = &[
    f(
        "gtid_subset",
        2,
        2,
        |args, _| Ok(ExprType::int(21, any_null(args))),
        |a| {
            let (part, whole) = sets(a)?;
            Ok(Value::Int(part.without(&whole).servers.is_empty().into()))
        },
    ),
    f(
        "gtid_subtract",
        2,
        2,
        |args, env| Ok(ExprType::text(longest_rest(args), env.collation, true)),
        |a| {
            let (set, without) = sets(a)?;
            Ok(Value::Text(set.without(&without).to_string()))
        },
    ),
    v("wait_for_executed_gtid_set", 1, 2, int_null::<21>, |a| {
        if a.nullable(0)?.is_null() {
            return Err(malformed("NULL"));
        }
        Err(SqlError::new(ErrorCode::GtidModeOff, &[&"use WAIT_FOR_EXECUTED_GTID_SET"]).into())
    }),
    v("wait_until_sql_thread_after_gtids", 1, 3, int_null::<21>, |a| {
        old(a, "WAIT_UNTIL_SQL_THREAD_AFTER_GTIDS", "WAIT_FOR_EXECUTED_GTID_SET")?;
        Err(Stop::Null)
    }),
    Function { tag: 1, ..v("master_pos_wait", 2, 4, int_null::<21>, position_wait) },
    ft("source_pos_wait", 2, 4, int_null::<21>, position_wait, 0),
];

/// The most characters of a difference: each part that is taken out of an interval makes it longer.
/// MySQL computes it with 32 bits, and a second argument may be shorter than a server's name.
fn longest_rest(args: &[Expr]) -> u64 {
    const SERVER: u32 = 36;
    let bytes = |arg: &Expr| arg.ty.length.saturating_mul(if arg.ty.is_text() { 4 } else { 1 });
    let longer = u64::from(bytes(&args[1]).wrapping_sub(SERVER)) * 5 / 2;
    let chars = (u64::from(bytes(&args[0])) + longer) as u32;
    u64::from(chars.wrapping_mul(4) / 4).min(1 << 24)
}

/// Warns of a function that has another name now.
fn old(a: &mut Args<'_, '_>, name: &str, new: &str) -> Result<(), Stop> {
    a.warn(ErrorCode::WarnDeprecatedSyntax, &[&name, &new])
}

/// Waits for no source: NULL at once.
fn position_wait(a: &mut Args<'_, '_>) -> FnResult {
    if a.len() > 2 && a.real(2).is_ok_and(|seconds| seconds < 0.0) {
        return Err(SqlError::new(ErrorCode::WrongArguments, &[&"SOURCE_POS_WAIT."]).into());
    }
    if a.call.tag == 1 {
        old(a, "MASTER_POS_WAIT", "SOURCE_POS_WAIT")?;
    }
    Err(Stop::Null)
}

fn malformed(text: &str) -> Stop {
    SqlError::new(ErrorCode::MalformedGtidSetSpecification, &[&text]).into()
}

/// Both arguments, NULL where one of them is.
fn sets(a: &mut Args<'_, '_>) -> Result<(GtidSet, GtidSet), Stop> {
    let (first, second) = (a.text(0)?, a.text(1)?);
    let parse = |text: &str| {
        GtidSet::parse(text).ok_or_else(|| malformed(text.trim_start_matches(is_blank)))
    };
    Ok((parse(&first)?, parse(&second)?))
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r')
}

/// An interval of numbers, its end not included.
type Span = (i64, i64);

/// For each server, in the order of their names, its intervals: none is empty, and none touches the
/// next.
#[derive(Default)]
struct GtidSet {
    servers: BTreeMap<String, Vec<Span>>,
}

impl GtidSet {
    fn parse(text: &str) -> Option<GtidSet> {
        let mut set = GtidSet::default();
        for item in text.split(',').map(|item| item.trim_matches(is_blank)) {
            let mut parts = item.split(':').map(|part| part.trim_matches(is_blank));
            let server = parts.next().filter(|_| !item.is_empty());
            let Some(server) = server else { continue };
            let spans = set.servers.entry(server_name(server)?).or_default();
            for part in parts {
                spans.push(span(part)?);
            }
        }
        set.servers.values_mut().for_each(join);
        set.servers.retain(|_, spans| !spans.is_empty());
        Some(set)
    }

    /// What of this set the other has not.
    fn without(&self, other: &GtidSet) -> GtidSet {
        let mut rest = GtidSet::default();
        for (server, spans) in &self.servers {
            let holes = other.servers.get(server).map(Vec::as_slice).unwrap_or_default();
            let mut left = Vec::new();
            for &(mut start, end) in spans {
                for &(from, to) in holes {
                    if from < end && to > start {
                        left.push((start, from.max(start)));
                        start = to.min(end);
                    }
                }
                left.push((start, end));
            }
            left.retain(|(start, end)| start < end);
            if !left.is_empty() {
                rest.servers.insert(server.clone(), left);
            }
        }
        rest
    }
}

/// The name of a server in lower case: 32 digits in groups with dashes.
fn server_name(text: &str) -> Option<String> {
    let groups = text.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
    let digits = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    (groups && digits).then(|| text.to_ascii_lowercase())
}

/// `5`, `5-7`, or `5-`, which is empty.
fn span(text: &str) -> Option<Span> {
    let number = |text: &str| {
        let digits = text.trim_matches(is_blank);
        let number: i64 = digits.parse().ok()?;
        (0..i64::MAX).contains(&number).then_some(number)
    };
    let Some((first, last)) = text.split_once('-') else {
        let first = number(text)?;
        return (first > 0).then_some((first, first + 1));
    };
    let first = number(first).filter(|first| *first > 0)?;
    match last.trim_matches(is_blank) {
        "" => Some((first, first)),
        last => Some((first, number(last)?.saturating_add(1).max(first))),
    }
}

/// Sorts intervals and joins those that touch.
fn join(spans: &mut Vec<Span>) {
    spans.retain(|(start, end)| start < end);
    spans.sort_unstable();
    let mut joined: Vec<Span> = Vec::with_capacity(spans.len());
    for &(start, end) in spans.iter() {
        match joined.last_mut() {
            Some(last) if last.1 >= start => last.1 = last.1.max(end),
            _ => joined.push((start, end)),
        }
    }
    *spans = joined;
}

impl std::fmt::Display for GtidSet {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, (server, spans)) in self.servers.iter().enumerate() {
            let comma = if at == 0 { "" } else { ",\n" };
            write!(out, "{comma}{server}")?;
            for (start, end) in spans {
                match end - start {
                    1 => write!(out, ":{start}")?,
                    _ => write!(out, ":{start}-{}", end - 1)?,
                }
            }
        }
        Ok(())
    }
}
