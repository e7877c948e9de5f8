//! Columns in the order of the access path, from stored bytes to the client: many rows at a time
//! where nothing has to be checked, otherwise one by one.

use super::DirectQuery;
use crate::access::{FoundRow, FoundRun, RunColumn, TableScan};
use crate::exec::select::holds;
use crate::exec::{Result, Runner, window};
use crate::plan::TableSource;
use inia_base::column::{CellRun, RowSink};
use inia_expr::EvalContext;
use std::ops::Range;

/// Runs of at least this many rows are read column by column; shorter ones row by row.
const COLUMNS_THRESHOLD: usize = 4;

impl Runner<'_> {
    pub(super) fn send_rows(
        &self,
        direct: DirectQuery<'_>,
        columns: &[usize],
        ctx: &mut EvalContext<'_>,
        sink: &mut dyn RowSink,
    ) -> Result<u64> {
        let DirectQuery { query, select, source, .. } = direct;
        let (mut skip, take) = window(query.limit.as_ref(), ctx)?;
        if take == 0 {
            return Ok(0);
        }
        let columns = &columns[..select.visible];
        if !holds(&select.once, ctx, &[])? {
            return Ok(0);
        }
        if let Some(mut scan) = self.whole_runs(direct, ctx)? {
            return self.send_runs((&mut scan, source), columns, (skip, take), ctx, sink);
        }
        let mut sent = 0;
        self.each_found(direct, ctx, &mut |ctx, found| {
            if skip > 0 {
                skip -= 1;
                return Ok(true);
            }
            send(found, source, columns, ctx, sink)?;
            sent += 1;
            Ok(sent < take)
        })?;
        Ok(sent)
    }

    /// Sends the rows of a snapshot scan that need no test.
    #[inline]
    fn send_runs(
        &self,
        (scan, source): (&mut TableScan, &TableSource),
        columns: &[usize],
        (mut skip, take): (u64, u64),
        ctx: &mut EvalContext<'_>,
        sink: &mut dyn RowSink,
    ) -> Result<u64> {
        let mut txn = self.txn_of(&source.table).borrow_mut();
        let mut sent = 0;
        while sent < take {
            while let Some(mut run) = scan.run(&mut txn)? {
                self.check_killed()?;
                let passed = skip.min(run.len() as u64);
                skip -= passed;
                let left = (run.len() as u64 - passed).min(take - sent);
                let range = passed as usize..(passed + left) as usize;
                send_run(&mut run, range, source, columns, ctx, sink)?;
                sent += left;
                if sent == take {
                    let rest = run.len() - (passed + left) as usize;
                    scan.stop_before(rest);
                    return Ok(sent);
                }
            }
            let Some(found) = scan.next(&mut txn)? else { break };
            self.check_killed()?;
            if skip > 0 {
                skip -= 1;
                continue;
            }
            send(&found, source, columns, ctx, sink)?;
            sent += 1;
        }
        Ok(sent)
    }
}

/// Sends some rows of a run, column by column where all columns can be read so.
fn send_run(
    run: &mut FoundRun<'_>,
    range: Range<usize>,
    source: &TableSource,
    columns: &[usize],
    ctx: &EvalContext<'_>,
    sink: &mut dyn RowSink,
) -> Result<()> {
    if range.len() >= COLUMNS_THRESHOLD {
        let read = |&column: &usize| run.column(&source.table, column, range.clone()).transpose();
        let read: Option<Vec<RunColumn<'_>>> =
            columns.iter().map(read).collect::<Option<Result<Vec<_>>>>().transpose()?;
        if let Some(read) = read {
            let cells: Vec<CellRun<'_>> = read.iter().map(RunColumn::cells).collect();
            return sink.rows(range.len(), &cells);
        }
    }
    for i in range {
        let found = FoundRow { clustered_key: &[], data: run.data(i) };
        send(&found, source, columns, ctx, sink)?;
    }
    Ok(())
}

/// Sends one row.
#[inline]
pub(super) fn send(
    found: &FoundRow<'_>,
    source: &TableSource,
    columns: &[usize],
    ctx: &EvalContext<'_>,
    sink: &mut dyn RowSink,
) -> Result<()> {
    sink.begin_row();
    for &column in columns {
        found.emit(&source.table, column, &ctx.env.time_zone, sink)?;
    }
    sink.end_row()
}
