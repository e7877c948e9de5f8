//! Columns in the order of the access path, from stored bytes to the client.

use crate::exec::{Result, Runner, window};
use crate::expr::EvalContext;
use crate::plan::{QueryPlan, SelectPlan, TableSource};
use inia_base::column::RowSink;

impl Runner<'_> {
    pub(super) fn send_rows(
        &self,
        query: &QueryPlan,
        select: &SelectPlan,
        source: &TableSource,
        columns: &[usize],
        ctx: &mut EvalContext<'_>,
        sink: &mut dyn RowSink,
    ) -> Result<u64> {
        let (mut skip, take) = window(query.limit.as_ref(), ctx)?;
        if take == 0 {
            return Ok(0);
        }
        let mut sent = 0;
        self.each_found(select, source, ctx, &mut |ctx, found| {
            if skip > 0 {
                skip -= 1;
                return Ok(true);
            }
            sink.begin_row();
            for &column in &columns[..select.visible] {
                found.emit(&source.table, column, &ctx.env.time_zone, sink)?;
            }
            sink.end_row()?;
            sent += 1;
            Ok(sent < take)
        })?;
        Ok(sent)
    }
}
