//! Which partitions a path reads.
//!
//! Conditions on the columns that divide a table become ranges of keys of the divider's finder, as
//! they do for an index. Ranges are held against limits and lists; where every column equals
//! something, the combinations of the values are placed as rows are. What cannot be computed
//! leaves all partitions. As bounds do, the values may come from rows of tables read before: each
//! look-up of a join then reads only the partitions that may have its rows.

use super::bounds::{self, Bound, KeyRange, convert_for_key};
use super::choose::path_for;
use super::{AccessPath, EqualPart, MergeRules, Request};
use crate::catalog::Table;
use crate::catalog::partitions::{Divider, Place, Rule};
use crate::row::Cell;
use inia_base::datatype::DataType;
use inia_base::error::SqlError;
use inia_base::temporal::{Date, DateTime};
use inia_base::value::Value;
use inia_expr::{Environment, EvalContext, Expr, ExprKind, NoSubqueries, SessionHost, SlotSet};

type Result<T> = std::result::Result<T, SqlError>;

/// More combinations of IN lists than this leave all partitions.
const MAX_COMBINATIONS: usize = 4096;
/// A range of more numbers than this leaves all partitions of HASH.
const MAX_NUMBERS: i128 = 32;

/// How the partitions that are read are found.
#[derive(Clone, Debug)]
pub(crate) struct PartitionPaths {
    /// What is known of the columns that divide into partitions.
    pub(crate) by: AccessPath,
    /// What is known of those that divide into subpartitions.
    pub(crate) sub: Option<AccessPath>,
    /// Rows come in the order of the index, not one partition after the other.
    pub(crate) ordered: bool,
}

impl PartitionPaths {
    /// Every expression whose value may leave partitions out.
    pub(crate) fn exprs(&self) -> Box<dyn Iterator<Item = &Expr> + '_> {
        let sub = self.sub.iter().flat_map(|sub| sub.own_exprs());
        Box::new(self.by.own_exprs().chain(sub))
    }
}

/// What conditions say of the columns that divide a table; `None` for a table without partitions.
pub(super) fn paths_for(
    request: &Request<'_>,
    conditions: &[Expr],
    filled: &SlotSet,
) -> Option<Box<PartitionPaths>> {
    let dividers = request.table.partitions.as_ref()?.dividers()?;
    let path = |divider: &Divider| {
        let table = &divider.finder;
        let needed = Vec::new();
        let request = Request {
            table,
            base: request.base,
            needed,
            allowed: None,
            hinted: None,
            measure: None,
            scan_cost: 1.0,
            extremes: false,
            merging: MergeRules::default(),
        };
        path_for(&request, divider.index, conditions, filled).path
    };
    let (by, sub) = (path(&dividers.by), dividers.sub.as_ref().map(path));
    Some(Box::new(PartitionPaths { by, sub, ordered: false }))
}

/// The leaves that a path reads, in order; all that the statement names where nothing is known.
pub(crate) fn leaves_of(
    table: &Table,
    path: &AccessPath,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Vec<usize>> {
    let Some(partitions) = &table.partitions else { return Ok(Vec::new()) };
    let Some(dividers) = partitions.dividers() else {
        return Ok((0..partitions.leaves().len()).collect());
    };
    let (mut kept, mut kept_sub) = (None, None);
    if let Some(paths) = &path.partitions {
        kept = parts_of(&dividers.by, &paths.by, ctx, row)?;
        if let (Some(divider), Some(path)) = (&dividers.sub, &paths.sub) {
            kept_sub = parts_of(divider, path, ctx, row)?;
        }
    }
    let per = dividers.per;
    let is_kept = |kept: &Option<Vec<bool>>, part: usize| kept.as_ref().is_none_or(|k| k[part]);
    let leaf = |leaf: &usize| {
        partitions.is_selected(*leaf)
            && is_kept(&kept, leaf / per)
            && is_kept(&kept_sub, leaf % per)
    };
    Ok((0..partitions.leaves().len()).filter(leaf).collect())
}

/// As [`leaves_of`], with no values but constants.
pub(crate) fn leaves_of_constants(
    table: &Table,
    path: &AccessPath,
    env: &Environment,
    host: &dyn SessionHost,
) -> Vec<usize> {
    let constant = |path: &AccessPath| path.own_exprs().all(|expr| expr.as_literal().is_some());
    let mut known = AccessPath::all(true);
    known.partitions.clone_from(&path.partitions);
    if let Some(paths) = &mut known.partitions {
        let nothing = || AccessPath::all(true);
        if !constant(&paths.by) {
            paths.by = nothing();
        }
        if paths.sub.as_ref().is_some_and(|sub| !constant(sub)) {
            paths.sub = Some(nothing());
        }
    }
    let mut ctx = EvalContext::new(env, host, &NoSubqueries, &[]);
    leaves_of(table, &known, &mut ctx, &[]).unwrap_or_default()
}

/// The parts of a divider that may have rows; `None` for all.
fn parts_of(
    divider: &Divider,
    path: &AccessPath,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Option<Vec<bool>>> {
    if path.is_unbounded() {
        return Ok(None);
    }
    let columns = divider.columns.len();
    match &divider.rule {
        Rule::RangeColumns(limits) => {
            let ranges = ranges(divider, path, ctx, row)?;
            Ok(ranges.map(|ranges| between_limits(limits, &ranges)))
        }
        Rule::ListColumns(keys) => {
            let Some(ranges) = ranges(divider, path, ctx, row)? else { return Ok(None) };
            let holds = |key: &Vec<u8>| ranges.iter().any(|range| range.holds(key));
            let mut kept = vec![false; divider.parts];
            keys.iter().filter(|(key, _)| holds(key)).for_each(|(_, part)| kept[*part] = true);
            Ok(Some(kept))
        }
        _ if path.equal.len() == columns => combinations(divider, path, ctx, row),
        Rule::Key { .. } => Ok(None),
        _ if columns == 1 => numbers(divider, path, ctx, row),
        _ => Ok(None),
    }
}

fn ranges(
    divider: &Divider,
    path: &AccessPath,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Option<Vec<KeyRange>>> {
    Ok(bounds::compute(&divider.finder, path, ctx, row)?.keys.into_ranges())
}

/// The parts that ranges of keys overlap, by the limits of the parts.
fn between_limits(limits: &[Option<Vec<u8>>], ranges: &[KeyRange]) -> Vec<bool> {
    let mut kept = vec![false; limits.len()];
    for range in ranges {
        let first = limits
            .partition_point(|limit| limit.as_ref().is_some_and(|limit| *limit <= range.start));
        for (part, kept) in kept.iter_mut().enumerate().skip(first) {
            // A part begins where the one before it ends.
            let begin = part.checked_sub(1).and_then(|before| limits[before].as_ref());
            let past = |end: &Vec<u8>| begin.is_some_and(|begin| begin >= end);
            if range.end.as_ref().is_some_and(past) {
                break;
            }
            *kept = true;
        }
    }
    kept
}

/// The parts of all combinations of the values that the columns equal.
fn combinations(
    divider: &Divider,
    path: &AccessPath,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Option<Vec<bool>>> {
    let columns = &divider.finder.def.columns;
    let mut all: Vec<Vec<Value>> = vec![Vec::new()];
    for (equal, column) in path.equal.iter().zip(&divider.columns) {
        let def = &columns[*column];
        let (items, null_safe) = match equal {
            EqualPart::Value(expr) => (std::slice::from_ref(expr), false),
            EqualPart::NullSafe(expr) => (std::slice::from_ref(expr), true),
            EqualPart::AnyOf(exprs) => (exprs.as_slice(), false),
        };
        if all.len() * items.len() > MAX_COMBINATIONS {
            return Ok(None);
        }
        let mut values = Vec::new();
        for item in items {
            let value = item.eval_ref(ctx, row)?;
            if *value == Value::Null && null_safe {
                values.extend(def.nullable.then_some(Value::Null));
                continue;
            }
            match convert_for_key(value, &item.ty, &def.data_type, ctx)? {
                Bound::Cell(value) => values.push(value.into_owned()),
                Bound::Nothing => {}
                Bound::Unknown => return Ok(None),
            }
        }
        let extended = all.iter().flat_map(|known| {
            values.iter().map(move |value| {
                let mut known = known.clone();
                known.push(value.clone());
                known
            })
        });
        all = extended.collect();
    }
    let mut kept = vec![false; divider.parts];
    for values in &all {
        let cell = |column: usize| {
            let at = divider.columns.iter().position(|own| *own == column);
            let value = at.map_or(&Value::Null, |at| &values[at]);
            Ok(Cell::of(value, &columns[column].data_type, &ctx.env.time_zone))
        };
        if let Place::Part(part) = divider.place(&cell)? {
            kept[part] = true;
        }
    }
    Ok(Some(kept))
}

/// Numbers that a function of one column may have.
struct Numbers {
    null: bool,
    from: Option<i128>,
    /// The last one; `None` for no end.
    to: Option<i128>,
    /// There are none.
    empty: bool,
}

/// The parts of the numbers that a function has over ranges of its one column.
fn numbers(
    divider: &Divider,
    path: &AccessPath,
    ctx: &mut EvalContext<'_>,
    row: &[Value],
) -> Result<Option<Vec<bool>>> {
    let Some(ranges) = ranges(divider, path, ctx, row)? else { return Ok(None) };
    let mut kept = vec![false; divider.parts];
    for range in &ranges {
        let Some(numbers) = numbers_in(divider, range)? else { return Ok(None) };
        let within = |number: i128| {
            !numbers.empty
                && numbers.from.is_none_or(|from| from <= number)
                && numbers.to.is_none_or(|to| number <= to)
        };
        match &divider.rule {
            Rule::Range(limits) => {
                kept[0] |= numbers.null;
                mark_limits(limits, &numbers, &mut kept);
            }
            Rule::List(values, null) => {
                if let Some(part) = null.filter(|_| numbers.null) {
                    kept[part] = true;
                }
                values.iter().filter(|(n, _)| within(**n)).for_each(|(_, part)| kept[*part] = true);
            }
            Rule::Hash { .. } => {
                let (Some(from), Some(to)) = (numbers.from, numbers.to) else { return Ok(None) };
                if !is_column(divider) || (!numbers.empty && to - from >= MAX_NUMBERS) {
                    return Ok(None);
                }
                if let (true, Place::Part(part)) =
                    (numbers.null, divider.place(&|_| Ok(Cell::Null))?)
                {
                    kept[part] = true;
                }
                for number in (from..=to).filter(|_| !numbers.empty) {
                    let cell = |_: usize| match i64::try_from(number) {
                        Ok(number) => Ok(Cell::Int(number)),
                        Err(_) => Ok(Cell::UInt(number as u64)),
                    };
                    if let Place::Part(part) = divider.place(&cell)? {
                        kept[part] = true;
                    }
                }
            }
            _ => return Ok(None),
        }
    }
    Ok(Some(kept))
}

fn mark_limits(limits: &[Option<i128>], numbers: &Numbers, kept: &mut [bool]) {
    if numbers.empty {
        return;
    }
    let below = |limit: &Option<i128>, number: i128| limit.is_some_and(|limit| limit <= number);
    let first = numbers.from.map_or(0, |from| limits.partition_point(|limit| below(limit, from)));
    for (part, kept) in kept.iter_mut().enumerate().skip(first) {
        let begin = part.checked_sub(1).and_then(|before| limits[before]);
        if begin.is_some_and(|begin| numbers.to.is_some_and(|to| begin > to)) {
            break;
        }
        *kept = true;
    }
}

/// Whether the function is its column.
fn is_column(divider: &Divider) -> bool {
    divider.function.as_ref().is_some_and(|f| matches!(f.kind, ExprKind::Column { .. }))
}

/// The numbers of a range; `None` where the function does not grow with its column.
fn numbers_in(divider: &Divider, range: &KeyRange) -> Result<Option<Numbers>> {
    let def = &divider.finder.def.columns[divider.columns[0]];
    let Some((from, to, null)) = ends(divider, range) else { return Ok(None) };
    if is_column(divider) {
        let number =
            |end: &Option<Value>| end.as_ref().and_then(crate::catalog::partitions::number);
        let to = number(&to).map(|to| to - 1);
        let from = number(&from);
        let empty = from.zip(to).is_some_and(|(from, to)| from > to);
        let known = matches!(def.data_type, DataType::Int { .. });
        return Ok(known.then_some(Numbers { null, from, to, empty }));
    }
    let Some(name) = growing(divider) else { return Ok(None) };
    let mut numbers = Numbers { null, from: None, to: None, empty: false };
    let month = |value: &Value| match value {
        Value::Date(date) => Some((date.year, date.month)),
        Value::DateTime(moment) => Some((moment.date.year, moment.date.month)),
        _ => None,
    };
    let mut month_from = None;
    let mut one_month = false;
    if let Some(from) = from {
        let Some(from) = valid_from(from) else { return Ok(None) };
        month_from = month(&from);
        numbers.from = divider.value_at(from)?;
    }
    if let Some(to) = to {
        let Some(to) = valid_before(to) else { return Ok(None) };
        one_month = month_from.is_some() && month_from == month(&to);
        numbers.to = divider.value_at(to)?;
    }
    // A date that is none has no number of days: such rows are in the partition of NULL. Between
    // two days of a month is none.
    numbers.null |= !one_month && name != "year" && name != "unix_timestamp";
    Ok(Some(numbers))
}

/// The function of one column that grows with it.
fn growing(divider: &Divider) -> Option<&'static str> {
    const GROWING: [&str; 4] = ["year", "to_days", "to_seconds", "unix_timestamp"];
    let ExprKind::Call(call) = &divider.function.as_ref()?.kind else { return None };
    let direct = matches!(call.args.first()?.kind, ExprKind::Column { .. }) && call.args.len() == 1;
    GROWING.into_iter().find(|name| direct && *name == call.name)
}

/// The first value of a range, the one behind its last, and whether NULL is in it.
fn ends(divider: &Divider, range: &KeyRange) -> Option<(Option<Value>, Option<Value>, bool)> {
    let column = divider.columns[0];
    let table = &divider.finder;
    let def = &table.def.columns[column];
    let codec = &table.indexes[divider.index].codec;
    let mut marker = Vec::new();
    if def.nullable {
        codec.put_part(0, &Cell::Null, &mut marker).ok()?;
    }
    let null = def.nullable && range.holds(&marker);
    let value = |key: &[u8]| {
        // A bound may be shorter than a key: zeros make it the least key that begins with it.
        let mut whole = key.to_vec();
        if def.nullable && whole.first().is_none_or(|first| *first == marker[0]) {
            return Some(None);
        }
        if def.nullable && whole[0] > marker[0] + 1 {
            return Some(None);
        }
        if whole.len() == usize::from(def.nullable) {
            return Some(None);
        }
        whole.resize(whole.len().max(16), 0);
        let cell = codec.cell(&whole, &[], column).ok()?;
        Some(Some(cell.value(&def.data_type, &inia_base::temporal::TimeZone::utc())))
    };
    let from = value(&range.start)?;
    let to = match &range.end {
        None => None,
        Some(end) => {
            let to = value(end)?;
            // The end of a range of NULL alone.
            if to.is_none() && def.nullable && end.len() == 1 && end[0] == marker[0] + 1 {
                let zero = value(&[&[end[0]][..], &[0; 8]].concat())?;
                return Some((zero.clone(), zero, null));
            }
            to
        }
    };
    Some((from, to, null))
}

fn is_date(date: Date) -> bool {
    (1..=12).contains(&date.month) && (1..=31).contains(&date.day)
}

fn is_moment(moment: DateTime) -> bool {
    is_date(moment.date)
        && moment.hour < 24
        && moment.minute < 60
        && moment.second < 60
        && moment.micros < 1_000_000
}

/// A value that is not greater than the first of a range; `None` where that is no moment.
fn valid_from(value: Value) -> Option<Value> {
    match value {
        Value::Date(date) if !is_date(date) => {
            let date = Date { day: date.day.checked_sub(1)?, ..date };
            is_date(date).then_some(Value::Date(date))
        }
        Value::DateTime(moment) if !is_moment(moment) => None,
        value => Some(value),
    }
}

/// The last value before the end of a range.
fn valid_before(value: Value) -> Option<Value> {
    match value {
        Value::Date(date) => {
            let before = Date { day: date.day.checked_sub(1)?, ..date };
            if is_date(before) {
                return Some(Value::Date(before));
            }
            is_date(date).then(|| date.add_days(-1))?.map(Value::Date)
        }
        Value::DateTime(moment) if is_moment(moment) => moment.add_micros(-1).map(Value::DateTime),
        _ => None,
    }
}
