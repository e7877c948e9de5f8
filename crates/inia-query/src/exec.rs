//! Runs query plans.
//!
//! Execution pushes: a source gives each row to a visitor, which returns whether it wants more.
//! Nested loops are nested calls, LIMIT is a visitor that says no, and nothing is buffered unless
//! an operator must (sort, group, distinct, hash join, materialised subplan). The row is one vector
//! of slots that sources overwrite in place.
//!
//! Example: `SELECT a.x FROM a JOIN b ON b.id = a.id LIMIT 2` is
//! `scan a (scan b by slot of a (project (limit (sink))))`.

mod aggregate;
mod cells;
mod checks;
mod dedup;
mod direct;
mod emit;
mod handler;
mod hash;
mod join;
mod json_table;
mod keys;
mod member;
mod memo;
mod search;
mod select;
mod setop;
mod sort;
mod sorted;
mod source;
mod subplans;
mod time_slice;
mod vector;
mod window;

use crate::catalog::Table;
use crate::context::ExecContext;
use crate::plan::trace::{Node, Trace, watched};
use crate::plan::{Body, LimitPlan, QueryPlan, StatementPlan};
pub use emit::emit;
pub use handler::{HandlerRead, HandlerStart, KeySide, handler_key};
pub use hash::KeyHash;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::tree::Subquery;
use inia_expr::{EvalContext, SubqueryRunner};
use inia_storage::Txn;
pub use keys::encode_key;
use memo::Memos;
use search::SearchCache;
pub(crate) use sort::{SortSize, Sorter};
use std::cell::{Cell, RefCell};
use subplans::SubplanCache;
use time_slice::TimeSlice;

type Result<T> = std::result::Result<T, SqlError>;

pub(crate) use crate::spill::Tuple;

/// Takes tuples; returns whether it wants more.
pub type TupleVisitor<'v> = dyn FnMut(&mut EvalContext<'_>, &[Value]) -> Result<bool> + 'v;

/// Takes a finished row, its group's aggregates in the context; returns whether it wants more.
type Project<'v> = dyn FnMut(&mut EvalContext<'_>, &[Value]) -> Result<bool> + 'v;

/// Takes rows of slots; returns whether it wants more.
pub(crate) type RowVisitor<'v> =
    dyn FnMut(&mut EvalContext<'_>, &mut Vec<Value>) -> Result<bool> + 'v;

/// One run of a statement's plan.
pub struct Runner<'s> {
    plan: &'s StatementPlan,
    exec: ExecContext<'s>,
    subplans: SubplanCache<'s>,
    searches: SearchCache,
    /// Results of subqueries; kept where nothing changes what the statement reads.
    memos: RefCell<Option<Box<Memos<'s>>>>,
    only_reads: bool,
    found_rows: Cell<Option<u64>>,
    slice: TimeSlice,
    trace: Option<&'s Trace>,
}

impl<'s> Runner<'s> {
    /// A run in the session's transaction; it stops when the session is killed.
    #[inline]
    pub fn new(plan: &'s StatementPlan, exec: ExecContext<'s>) -> Runner<'s> {
        Runner {
            plan,
            exec,
            subplans: SubplanCache::default(),
            searches: SearchCache::default(),
            memos: RefCell::new(None),
            only_reads: false,
            found_rows: Cell::new(None),
            slice: TimeSlice::default(),
            trace: None,
        }
    }

    /// As [`Runner::new`], of a statement that changes no rows.
    #[inline]
    pub fn of_select(plan: &'s StatementPlan, exec: ExecContext<'s>) -> Runner<'s> {
        Runner { only_reads: true, ..Runner::new(plan, exec) }
    }

    /// As [`Runner::of_select`], with a trace of what each node does.
    pub fn traced(plan: &'s StatementPlan, exec: ExecContext<'s>, trace: &'s Trace) -> Runner<'s> {
        Runner { trace: Some(trace), ..Runner::of_select(plan, exec) }
    }

    /// Runs the outermost query.
    pub fn run(&self, ctx: &mut EvalContext<'_>, visit: &mut TupleVisitor<'_>) -> Result<()> {
        self.query(&self.plan.root, ctx, visit)
    }

    /// What SQL_CALC_FOUND_ROWS counted.
    #[inline]
    pub fn found_rows(&self) -> Option<u64> {
        self.found_rows.get()
    }

    /// The transaction in which a table is read.
    fn txn_of(&self, table: &Table) -> &'s RefCell<Txn> {
        self.exec.txn_of(table)
    }

    /// Fails when the statement was killed or its time is up.
    #[inline]
    fn check_killed(&self) -> Result<()> {
        self.exec.interrupt.check()
    }

    /// Runs one query expression: body, order, limit. Visitors see visible values only.
    pub(crate) fn query(
        &self,
        query: &QueryPlan,
        ctx: &mut EvalContext<'_>,
        visit: &mut TupleVisitor<'_>,
    ) -> Result<()> {
        let Some(trace) = self.trace else { return self.query_untraced(query, ctx, visit) };
        watched(trace, Node::Query(query), |watch| {
            self.query_untraced(query, ctx, &mut |ctx, row| watch.visit(|| visit(ctx, row)))
        })
    }

    fn query_untraced(
        &self,
        query: &QueryPlan,
        ctx: &mut EvalContext<'_>,
        visit: &mut TupleVisitor<'_>,
    ) -> Result<()> {
        let (skip, take) = window(query.limit.as_ref(), ctx)?;
        let window = Window { skip, take };
        if window.take == 0 && !query.count_found_rows {
            return Ok(());
        }
        let visible = query.columns.len();
        let mut limiter = Limiter { window, seen: 0, count_all: query.count_found_rows };
        if query.order.is_empty() || query.presorted {
            self.body(&query.body, ctx, &mut |ctx, tuple| {
                limiter.pass(ctx, &tuple[..visible], visit)
            })?;
        } else if let (true, Body::Select(select)) = (query.late, &query.body) {
            self.sorted_before(query, select, &mut limiter, ctx, visit)?;
        } else {
            self.sorted(query, &mut limiter, ctx, visit)?;
        }
        if query.count_found_rows {
            self.found_rows.set(Some(limiter.seen));
        }
        Ok(())
    }

    fn body(
        &self,
        body: &Body,
        ctx: &mut EvalContext<'_>,
        visit: &mut TupleVisitor<'_>,
    ) -> Result<()> {
        match body {
            Body::Select(select) => self.select(select, ctx, visit),
            Body::Values(values) => setop::values(values, ctx, visit),
            Body::SetOperation(set) => self.set_operation(set, ctx, visit),
            Body::Nested(query) => self.query(query, ctx, visit),
        }
    }
}

impl SubqueryRunner for Runner<'_> {
    fn rows(
        &self,
        id: usize,
        ctx: &mut EvalContext<'_>,
        visit: &mut TupleVisitor<'_>,
    ) -> Result<()> {
        if self.only_reads { self.memoized(id, ctx, visit) } else { self.subplan(id, ctx, visit) }
    }

    fn contains(
        &self,
        sub: &Subquery,
        values: &[Value],
        ctx: &mut EvalContext<'_>,
    ) -> Result<Option<Option<bool>>> {
        self.member(sub, values, ctx)
    }

    fn relevance(
        &self,
        id: usize,
        against: Option<&str>,
        texts: &[Value],
        ctx: &mut EvalContext<'_>,
    ) -> Result<f64> {
        self.relevance_of(id, against, texts, ctx)
    }

    fn search(
        &self,
        id: usize,
        against: Option<&str>,
        ctx: &mut EvalContext<'_>,
    ) -> Result<Vec<Vec<u8>>> {
        self.found_keys(id, against, ctx)
    }
}

/// A row that a sorter gave back is not what it was given.
fn damaged_row() -> SqlError {
    SqlError::new(ErrorCode::InternalError, &[&"a sorted row cannot be read back"])
}

/// LIMIT as (rows to skip, rows to return).
fn window(limit: Option<&LimitPlan>, ctx: &mut EvalContext<'_>) -> Result<(u64, u64)> {
    Ok(match limit {
        Some(limit) => {
            let Window { skip, take } = Window::of(limit, ctx)?;
            (skip, take)
        }
        None => (0, u64::MAX),
    })
}

/// A number of LIMIT; errors 1210 and 1690. A parameter that is NULL lets nothing through.
pub(crate) fn limit_of(value: &Value) -> Result<u64> {
    match value {
        Value::UInt(number) => Ok(*number),
        Value::Int(number) => u64::try_from(*number).map_err(|_| {
            SqlError::new(ErrorCode::DataOutOfRange, &[&"unsigned integer", &"EXECUTE"])
        }),
        Value::Null => Ok(0),
        _ => Err(SqlError::new(ErrorCode::WrongArguments, &[&"EXECUTE"])),
    }
}

/// LIMIT with its values.
#[derive(Clone, Copy)]
struct Window {
    skip: u64,
    take: u64,
}

impl Window {
    fn of(limit: &LimitPlan, ctx: &mut EvalContext<'_>) -> Result<Window> {
        let mut number = |expr: &inia_expr::Expr| limit_of(&expr.eval(ctx, &[])?);
        let skip = limit.offset.as_ref().map_or(Ok(0), &mut number)?;
        Ok(Window { skip, take: number(&limit.count)? })
    }

    /// How many of the first rows can come out.
    fn rows_needed(self) -> usize {
        usize::try_from(self.skip.saturating_add(self.take)).unwrap_or(usize::MAX)
    }
}

/// Passes on the rows of a window.
struct Limiter {
    window: Window,
    seen: u64,
    count_all: bool,
}

impl Limiter {
    fn pass(
        &mut self,
        ctx: &mut EvalContext<'_>,
        visible: &[Value],
        visit: &mut TupleVisitor<'_>,
    ) -> Result<bool> {
        debug_assert!(
            self.count_all || self.seen < self.window.skip.saturating_add(self.window.take),
            "no row is asked for behind the last"
        );
        self.seen += 1;
        let last = self.window.skip.saturating_add(self.window.take);
        if self.seen > last {
            return Ok(self.count_all);
        }
        if self.seen > self.window.skip && !visit(ctx, visible)? {
            return Ok(false);
        }
        Ok(self.count_all || self.seen < last)
    }
}
