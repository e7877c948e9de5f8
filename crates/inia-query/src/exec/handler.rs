//! HANDLER … READ: the records of one table in the order of one index, from where the last READ
//! has stopped.
//!
//! ```text
//!   READ k = (16)     at the first of the records with 16
//!   READ k NEXT       the record behind it, whatever its key
//!   READ k PREV       back again; before the first record there is nothing
//! ```
//!
//! The plan is that of `SELECT t.*, condition FROM t LIMIT …`; its table is read here.

use super::emit::emit;
use super::select::holds;
use super::{Result, Runner, window};
use crate::access::{FoundRow, RowData, TableScan};
use crate::catalog::Table;
use crate::context::HandlerPlace;
use crate::plan::{Body, RowSource, SelectPlan, TableSource};
use crate::row::{Cell, prefix_successor};
use inia_base::column::{ResultColumn, RowSink};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::store::implicit_default;
use inia_expr::{EvalContext, ExprType, store_value};

/// Where a READ begins.
#[derive(Clone, Debug)]
pub enum HandlerStart {
    /// FIRST.
    First,
    /// LAST.
    Last,
    /// NEXT.
    Next,
    /// PREV.
    Prev,
    /// At the records whose keys begin with some bytes.
    Key(KeySide, Vec<u8>),
}

/// Which records a READ by a key gives, in the order of the index; the smaller ones backward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySide {
    /// `=`
    Equal,
    /// `>=`
    AtLeast,
    /// `>`
    Greater,
    /// `<=`
    AtMost,
    /// `<`
    Less,
}

/// What one READ reads.
pub struct HandlerRead {
    /// The index; `None` for the order of the rows themselves.
    pub index: Option<usize>,
    /// Where it begins.
    pub start: HandlerStart,
    /// The last column of the plan is a condition.
    pub filtered: bool,
}

/// Keys from `from` up to `to`, which does not belong to them, in one direction.
struct Span {
    from: Vec<u8>,
    to: Option<Vec<u8>>,
    backward: bool,
}

impl Span {
    fn all(backward: bool) -> Span {
        Span { from: Vec::new(), to: None, backward }
    }
}

/// How HANDLER describes columns: of no database, and of the name that it was opened by.
fn described(columns: &[ResultColumn]) -> Vec<ResultColumn> {
    let column = |column: &ResultColumn| ResultColumn {
        schema: String::from("*any*"),
        org_table: column.table.clone(),
        ..column.clone()
    };
    columns.iter().map(column).collect()
}

impl Runner<'_> {
    /// Sends the records that a READ gives, and moves the place on. Returns how many were sent.
    pub fn read_handler(
        &self,
        read: &HandlerRead,
        place: &mut HandlerPlace,
        ctx: &mut EvalContext<'_>,
        sink: &mut dyn RowSink,
    ) -> Result<u64> {
        let (select, source) = self.handled()?;
        let shown = select.visible - usize::from(read.filtered);
        sink.columns(&described(&self.plan.columns[..shown]))?;
        let limit = self.plan.root.limit.as_ref();
        let (skipped, wanted) = if limit.is_some() { window(limit, ctx)? } else { (0, 1) };
        let Some(span) = span(read, place).filter(|_| wanted > 0) else { return Ok(0) };
        let end = match span.backward {
            true => HandlerPlace::Before(read.index),
            false => HandlerPlace::Behind(read.index),
        };
        let mut scan =
            TableScan::between(&source.table, read.index, (span.from, span.to), span.backward)?;
        let columns: Vec<usize> = (0..source.table.def.columns.len()).collect();
        let mut row = vec![Value::Null; select.width];
        let (mut found, mut last) = (0, None);
        loop {
            self.check_killed()?;
            let mut txn = self.txn_of(&source.table).borrow_mut();
            let Some(next) = scan.next(&mut txn)? else { break };
            let slots = &mut row[source.base..source.base + source.needed.len()];
            next.fill(&source.table, &columns, &ctx.env.time_zone, slots)?;
            last = Some(key_of(&source.table, read.index, &next)?);
            drop(txn);
            if read.filtered && !holds(&select.output[shown..=shown], ctx, &row)? {
                continue;
            }
            found += 1;
            if found > skipped {
                self.send_handled(select, shown, (ctx, &row), sink)?;
            }
            if found == skipped.saturating_add(wanted) {
                *place = HandlerPlace::At(read.index, last.unwrap_or_default());
                return Ok(found - skipped);
            }
        }
        *place = match (&read.start, last) {
            (HandlerStart::Key(KeySide::Equal, key), last) => {
                HandlerPlace::At(read.index, last.unwrap_or_else(|| key.clone()))
            }
            _ => end,
        };
        Ok(found.saturating_sub(skipped))
    }

    /// The one table that the plan reads.
    fn handled(&self) -> Result<(&SelectPlan, &TableSource)> {
        match &self.plan.root.body {
            Body::Select(select) => match &select.source {
                RowSource::Table(source) => Ok((select, source)),
                _ => Err(SqlError::new(ErrorCode::NotSupportedYet, &[&"HANDLER of such a table"])),
            },
            _ => Err(SqlError::new(ErrorCode::NotSupportedYet, &[&"HANDLER of such a table"])),
        }
    }

    fn send_handled(
        &self,
        select: &SelectPlan,
        shown: usize,
        (ctx, row): (&mut EvalContext<'_>, &[Value]),
        sink: &mut dyn RowSink,
    ) -> Result<()> {
        self.exec.settle()?;
        sink.begin_row();
        for (expr, column) in select.output[..shown].iter().zip(&self.plan.root.columns) {
            emit(&*expr.eval_ref(ctx, row)?, &column.ty, sink);
        }
        sink.end_row()
    }
}

/// The keys that a READ goes through; `None` where there are none.
fn span(read: &HandlerRead, place: &HandlerPlace) -> Option<Span> {
    let successor = |prefix: &[u8]| {
        let mut end = prefix.to_vec();
        prefix_successor(&mut end).then_some(end)
    };
    let index = read.index;
    Some(match (&read.start, place) {
        (HandlerStart::First, _) => Span::all(false),
        (HandlerStart::Last, _) => Span::all(true),
        (HandlerStart::Next, HandlerPlace::At(at, key)) if *at == index => {
            let mut from = key.clone();
            from.push(0);
            Span { from, to: None, backward: false }
        }
        (HandlerStart::Prev, HandlerPlace::At(at, key)) if *at == index => {
            Span { from: Vec::new(), to: Some(key.clone()), backward: true }
        }
        (HandlerStart::Next, HandlerPlace::Behind(at)) if *at == index => return None,
        (HandlerStart::Prev, HandlerPlace::Before(at)) if *at == index => return None,
        (HandlerStart::Next, _) => Span::all(false),
        (HandlerStart::Prev, _) => Span::all(true),
        (HandlerStart::Key(side, key), _) => {
            let key = key.clone();
            let end = successor(&key);
            match side {
                KeySide::Equal => Span { from: key, to: end, backward: false },
                KeySide::AtLeast => Span { from: key, to: None, backward: false },
                KeySide::Greater => Span { from: end?, to: None, backward: false },
                KeySide::AtMost => Span { from: Vec::new(), to: end, backward: true },
                KeySide::Less => Span { from: Vec::new(), to: Some(key), backward: true },
            }
        }
    })
}

/// The key of a row in the tree that is read.
fn key_of(table: &Table, index: Option<usize>, row: &FoundRow<'_>) -> Result<Vec<u8>> {
    let secondary = index.filter(|&index| !table.def.indexes[index].clustered);
    let (_, clustered_key) = table.located(row.clustered_key);
    let Some(index) = secondary else { return Ok(clustered_key.to_vec()) };
    let mut key = Vec::new();
    let RowData::Row(bytes) = row.data else { return Ok(key) };
    let cell = |column| table.layout.cell(bytes, column);
    table.indexes[index].codec.put_entry_key(cell, clustered_key, &mut key)?;
    Ok(key)
}

/// The beginning of the keys of an index with these values, each as its column would store it.
pub fn handler_key(
    table: &Table,
    index: usize,
    values: Vec<(Value, ExprType)>,
    ctx: &mut EvalContext<'_>,
) -> Result<Vec<u8>> {
    let parts = &table.def.indexes[index].parts;
    debug_assert!(values.len() <= parts.len(), "a key has no more values than parts");
    // What does not fit is cut without a word.
    let warned = (ctx.warnings.count, ctx.warnings.list.len());
    let mut key = Vec::new();
    for ((at, part), (value, ty)) in parts.iter().enumerate().zip(values) {
        let column = &table.def.columns[part.column];
        let mut stored = store_value(value, &ty, &column.data_type, ctx, &column.name)?;
        if stored == Value::Null && !column.nullable {
            stored = implicit_default(&column.data_type);
        }
        let cell = Cell::of(&stored, &column.data_type, &ctx.env.time_zone);
        table.indexes[index].codec.put_part(at, &cell, &mut key)?;
    }
    ctx.warnings.count = warned.0;
    ctx.warnings.list.truncate(warned.1);
    Ok(key)
}
