//! Columns of one table, sorted: sort keys come from cells, and stored rows wait in the sorter.

use super::DirectQuery;
use super::rows::send;
use crate::exec::keys::encode_cell;
use crate::exec::select::holds;
use crate::exec::sort::{SortSize, Sorter};
use crate::exec::{Result, Runner, Window, damaged_row, window};
use inia_base::column::RowSink;
use inia_expr::EvalContext;

impl Runner<'_> {
    pub(super) fn send_sorted(
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
        if !holds(&select.once, ctx, &[])? {
            return Ok(0);
        }
        // Which rows DISTINCT drops is known only at the end.
        let needed = match select.distinct {
            true => usize::MAX,
            false => Window { skip, take }.rows_needed(),
        };
        let mut sorter =
            Sorter::with_ties(needed, SortSize::of(query, self.plan), self.exec.workspace);
        self.each_found(direct, ctx, &mut |ctx, found| {
            let key = |out: &mut Vec<u8>| {
                for part in &query.order {
                    let cell = found.cell(&source.table, columns[part.index])?;
                    encode_cell(cell, &part.ty, &ctx.env.time_zone, part.descending, out);
                }
                Ok(())
            };
            sorter.push(key, |out| {
                found.data.pack(out);
                Ok(())
            })?;
            Ok(true)
        })?;
        self.check_killed()?;
        let index = source.access.index.unwrap_or_default();
        let mut sent = 0;
        sorter.finish(select.distinct, |row| {
            if skip > 0 {
                skip -= 1;
                return Ok(true);
            }
            let found = crate::access::FoundRow::unpack(row, index).ok_or_else(damaged_row)?;
            send(&found, source, &columns[..select.visible], ctx, sink)?;
            sent += 1;
            Ok(sent < take)
        })?;
        Ok(sent)
    }
}
