//! One partition of both sides: joined at once, or with one piece of the right side after another.
//!
//! A left row may match in any piece. Which have matched is kept for all joins but inner ones, and
//! decides what comes out: of a semi join at the first match, of an outer and an anti join behind
//! the last piece.

use super::{Loaded, Spilled};
use crate::exec::Result;
use crate::exec::vector::batch::{Batch, BatchBuilder, Rows};
use crate::exec::vector::hash::Probe;
use crate::exec::vector::join_keys::{Words, find_left};
use crate::exec::vector::keys::Dictionary;
use crate::exec::vector::records::read_rows;
use crate::exec::vector::source::{BatchVisitor, Flow, visit_these};
use crate::plan::JoinType;
use crate::spill::{Stream, StreamReader};
use inia_base::value::Value;
use inia_expr::EvalContext;

/// Takes a batch of the left side with the place of its first row.
type LeftVisitor<'v> = dyn FnMut(usize, &mut Batch) -> Result<Flow> + 'v;

impl<'w> Spilled<'_, 'w> {
    /// Joins the left rows of a partition with the right ones.
    pub(super) fn join_pair(
        &self,
        left: &Stream<'_>,
        (mut loaded, reader): (Loaded<'w>, &mut StreamReader<'_, '_>),
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        if loaded.all {
            let mut probe = self.probe(&loaded.build, ctx);
            return self.each_left(left, &mut |_, batch| {
                let words = self.words(batch, loaded.build.dictionaries());
                probe.batch(&words, batch, ctx, row, visit)
            });
        }
        let mut matched = Vec::new();
        loop {
            let mut probe = self.probe(&loaded.build, ctx);
            let flow = self.each_left(left, &mut |start, batch| {
                matched.resize(matched.len().max(start + batch.rows()), false);
                let known = &mut matched[start..start + batch.rows()];
                let words = self.words(batch, loaded.build.dictionaries());
                self.join_piece((&mut probe, &words, known), batch, ctx, row, visit)
            })?;
            if flow != Flow::More {
                return Ok(flow);
            }
            if loaded.all {
                break;
            }
            // The next piece replaces this one and costs one more pass over the left rows.
            drop(loaded);
            loaded = self.load(reader)?;
        }
        if matches!(self.plan.0.kind, JoinType::Inner | JoinType::Semi) {
            return Ok(Flow::More);
        }
        let nothing = BatchBuilder::new(self.right_slots()).take();
        self.each_left(left, &mut |start, batch| {
            let known = &matched[start..start + batch.rows()];
            let alone: Vec<bool> = known.iter().map(|matched| !matched).collect();
            self.give_unmatched((batch, &nothing, &alone), ctx, row, visit)
        })
    }

    /// Joins a batch with one piece of several; `known` are the left rows that have matched.
    fn join_piece(
        &self,
        (probe, words, known): (&mut Probe<'_>, &Words, &mut [bool]),
        batch: &mut Batch,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        match self.plan.0.kind {
            JoinType::Inner => probe.pairs((words, None), batch, ctx, row, visit),
            JoinType::Left => probe.pairs((words, Some(known)), batch, ctx, row, visit),
            JoinType::Semi | JoinType::Anti => {
                let mut new = probe.matches(words, batch, ctx, row)?;
                for (new, known) in new.iter_mut().zip(known) {
                    *new &= !*known;
                    *known |= *new;
                }
                match self.plan.0.kind {
                    JoinType::Semi => visit_these(batch, &self.out, &new, ctx, row, visit),
                    _ => Ok(Flow::More),
                }
            }
        }
    }

    fn words(&self, batch: &Batch, dictionaries: &[Dictionary]) -> Words {
        find_left(batch, &self.keys, dictionaries)
    }

    /// Gives the batches of a left partition to `visit`.
    fn each_left(&self, left: &Stream<'_>, visit: &mut LeftVisitor<'_>) -> Result<Flow> {
        let (mut reader, mut start) = (left.reader(), 0);
        while let Some(record) = reader.next()? {
            let (mut batch, _) = read_rows(record, &self.left_slots)?;
            let rows = batch.rows();
            match visit(start, &mut batch)? {
                Flow::More => start += rows,
                flow => return Ok(flow),
            }
        }
        Ok(Flow::More)
    }
}
