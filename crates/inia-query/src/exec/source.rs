//! Members of FROM: each fills its slots of the row and hands the row on.

use super::checks::Checks;
use super::keys::encode_key;
use super::select::holds;
use super::sort::{SortSize, Sorter};
use super::{Result, RowVisitor, Runner, Window, damaged_row};
use crate::access::{FoundRow, TableScan};
use crate::information_schema::shown_error;
use crate::plan::trace::{Node, watched};
use crate::plan::{FirstSort, RowSource, TableSource, VirtualSource};
use crate::spill::{decode_tuple, encode_tuple};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::{EvalContext, Level, Warning};
use inia_storage::ReadMode;

/// Warnings 1287 and 1681 of deprecated tables, once for a statement.
fn warn_of(table: &str, ctx: &mut EvalContext<'_>) {
    let error = match table {
        "PROFILING" => {
            let (old, new) = ("INFORMATION_SCHEMA.PROFILING", "Performance Schema");
            SqlError::new(ErrorCode::WarnDeprecatedSyntax, &[&old, &new])
        }
        "TABLESPACES" => {
            let old = "INFORMATION_SCHEMA.TABLESPACES";
            SqlError::new(ErrorCode::WarnDeprecatedSyntaxNoReplacement, &[&old])
        }
        _ => return,
    };
    if !ctx.warnings.list.iter().any(|known| known.message == error.message) {
        ctx.warnings.push(Warning::of(Level::Warning, error));
    }
}

impl Runner<'_> {
    /// Runs a source; false when the visitor wanted no more.
    pub(super) fn source(
        &self,
        source: &RowSource,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut RowVisitor<'_>,
    ) -> Result<bool> {
        let Some(trace) = self.trace else { return self.source_untraced(source, ctx, row, visit) };
        watched(trace, Node::Source(source), |watch| {
            self.source_untraced(source, ctx, row, &mut |ctx, row| watch.visit(|| visit(ctx, row)))
        })
    }

    fn source_untraced(
        &self,
        source: &RowSource,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut RowVisitor<'_>,
    ) -> Result<bool> {
        match source {
            RowSource::One => visit(ctx, row),
            RowSource::Nothing => Ok(true),
            RowSource::Table(table) => {
                let mut examined = 0;
                if let Some(sort) = &table.sorted {
                    return self.sorted_table(table, sort, ctx, row, visit);
                }
                let result = self.table(table, ctx, (row, &mut examined), visit);
                // Examined rows are traced even where the visitor stopped early or failed.
                if let Some(trace) = self.trace {
                    trace.examined(table, examined);
                }
                result
            }
            RowSource::Subplan { id, base, level, filter, .. } => {
                // Subplans end without an answer, so what the visitor wants is kept beside them.
                let mut wanted = true;
                let mut each =
                    |ctx: &mut EvalContext<'_>, row: &mut Vec<Value>, tuple: &[Value]| {
                        self.check_killed()?;
                        row[*base..base + tuple.len()].clone_from_slice(tuple);
                        if holds(filter, ctx, row)? {
                            wanted = visit(ctx, row)?;
                        }
                        Ok(wanted)
                    };
                // Only a correlated subplan runs anew for each row around it.
                if self.subplan_depends_on_rows(*id) {
                    self.dependent_subplan(*id, *level, ctx, row, &mut each)?;
                } else {
                    let tuples = self.kept_subplan(*id, *level, ctx)?;
                    tuples.each(|tuple| each(ctx, row, tuple))?;
                }
                Ok(wanted)
            }
            RowSource::Virtual(table) => self.virtual_table(table, ctx, row, visit),
            RowSource::JsonTable(table) => self.json_table(table, ctx, row, visit),
            RowSource::Dedup(dedup) => self.dedup(dedup, ctx, row, visit),
            RowSource::Join(join) => self.join(join, ctx, row, visit),
        }
    }

    fn virtual_table(
        &self,
        source: &VirtualSource,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut RowVisitor<'_>,
    ) -> Result<bool> {
        warn_of(source.table.name(), ctx);
        let of_tables = source.table.name() == "TABLES";
        for values in source.table.rows(&self.exec.information()) {
            self.check_killed()?;
            for (slot, value) in row[source.base..].iter_mut().zip(values) {
                *slot = value;
            }
            if !holds(&source.filter, ctx, row)? {
                continue;
            }
            if of_tables && let Some(error) = shown_error(&row[source.base..]) {
                ctx.warnings.push(Warning::of(Level::Warning, error));
            }
            if !visit(ctx, row)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads a table whose rows are sorted before they are joined.
    fn sorted_table(
        &self,
        source: &TableSource,
        sort: &FirstSort,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut RowVisitor<'_>,
    ) -> Result<bool> {
        debug_assert!(source.row_id.is_none(), "ids of sorted rows are not kept");
        let slots = source.base..source.base + source.needed.len();
        let size = SortSize::of_first(source, sort);
        let limit = sort.limit.as_ref().map(|limit| Window::of(limit, ctx)).transpose()?;
        let needed = limit.map_or(usize::MAX, Window::rows_needed);
        let mut sorter = Sorter::with_ties(needed, Some(size), self.exec.workspace);
        let (mut examined, mut sort_key) = (0, Vec::new());
        self.table(source, ctx, (row, &mut examined), &mut |ctx, row| {
            sort_key.clear();
            for key in &sort.keys {
                let value = key.expr.eval_ref(ctx, row)?;
                encode_key(&value, &key.ty, key.descending, &mut sort_key);
            }
            let append = |out: &mut Vec<u8>| {
                out.extend_from_slice(&sort_key);
                Ok(())
            };
            sorter.push(append, |out| {
                encode_tuple(&row[slots.clone()], out);
                Ok(())
            })?;
            Ok(true)
        })?;
        if let Some(trace) = self.trace {
            trace.examined(source, examined);
        }
        let (mut wanted, mut tuple) = (true, Vec::new());
        sorter.finish(false, |bytes| {
            self.check_killed()?;
            decode_tuple(bytes, &mut tuple).ok_or_else(damaged_row)?;
            row[slots.clone()].clone_from_slice(&tuple);
            wanted = visit(ctx, row)?;
            Ok(wanted)
        })?;
        Ok(wanted)
    }

    fn table(
        &self,
        source: &TableSource,
        ctx: &mut EvalContext<'_>,
        (row, examined): (&mut Vec<Value>, &mut u64),
        visit: &mut RowVisitor<'_>,
    ) -> Result<bool> {
        let mode = source.lock.map_or(ReadMode::Snapshot, ReadMode::Lock);
        let mut scan = TableScan::open(&source.table, &source.access, mode, ctx, row)?;
        let txn = self.txn_of(&source.table);
        // Conditions that the bounds make true are not evaluated again.
        let bounded = scan.is_exact() || source.bound_filter.is_empty();
        let filler = Filler { source, bounded };
        let mut checks = Checks::of(source, ctx);
        loop {
            self.check_killed()?;
            // The transaction is borrowed for the move alone: the visitor may read tables in it,
            // too.
            // Rows of a run come without their keys.
            let run = match source.row_id {
                None => scan.run(&mut txn.borrow_mut())?,
                Some(_) => None,
            };
            if let Some(mut run) = run {
                // Conditions on stored cells choose among the whole run before values are made of
                // any row. An early stop has examined only the rows up to its own.
                let (checked, before) = (checks.choose(&run, source)?, *examined);
                for &i in &checks.chosen {
                    *examined = before + i as u64 + 1;
                    let found = FoundRow { clustered_key: &[], data: run.data(i) };
                    if filler.matches(&found, checked, ctx, row)? && !visit(ctx, row)? {
                        let rest = run.len() - i - 1;
                        scan.stop_before(rest);
                        return Ok(false);
                    }
                }
                *examined = before + run.len() as u64;
                continue;
            }
            {
                let mut txn = txn.borrow_mut();
                let Some(found) = scan.next(&mut txn)? else { break };
                *examined += 1;
                if let Some(slot) = source.row_id {
                    row[slot] = Value::Bytes(found.clustered_key.to_vec());
                }
                filler.fill(&found, ctx, row)?;
            }
            if holds(&source.filter, ctx, row)?
                && (filler.bounded || holds(&source.bound_filter, ctx, row)?)
            {
                if !visit(ctx, row)? {
                    return Ok(false);
                }
            } else if source.lock.is_some() {
                // READ COMMITTED gives back the lock of a row that does not match.
                scan.unlock_selected(&mut txn.borrow_mut());
            }
        }
        Ok(true)
    }
}

/// Puts a table's rows into their slots.
struct Filler<'p> {
    source: &'p TableSource,
    /// Every row fulfils the conditions that the path stands for.
    bounded: bool,
}

impl Filler<'_> {
    /// Fills the row until a condition fails; `checked` means that the table's own conditions
    /// hold. Returns whether all hold.
    fn matches(
        &self,
        found: &FoundRow<'_>,
        checked: bool,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
    ) -> Result<bool> {
        self.put(found, &self.source.read_order.tested, ctx, row)?;
        if !checked && !holds(&self.source.filter, ctx, row)? {
            return Ok(false);
        }
        self.put(found, &self.source.read_order.rest, ctx, row)?;
        Ok(self.bounded || holds(&self.source.bound_filter, ctx, row)?)
    }

    fn fill(&self, found: &FoundRow<'_>, ctx: &EvalContext<'_>, row: &mut [Value]) -> Result<()> {
        self.put(found, &self.source.read_order.tested, ctx, row)?;
        self.put(found, &self.source.read_order.rest, ctx, row)
    }

    fn put(
        &self,
        found: &FoundRow<'_>,
        columns: &[usize],
        ctx: &EvalContext<'_>,
        row: &mut [Value],
    ) -> Result<()> {
        let source = self.source;
        let slots = &mut row[source.base..source.base + source.needed.len()];
        found.fill(&source.table, columns, &ctx.env.time_zone, slots)
    }
}

/// NULL in each of the slots.
pub(super) fn clear(slots: &mut [Value]) {
    slots.fill(Value::Null);
}
