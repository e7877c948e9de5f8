//! Hash joins of batches.
//!
//! The right side's rows are columns, and a row is known by its place in them. For each batch of
//! the left side the pairs of places that match are found first; then the columns of both sides
//! are gathered at these places:
//!
//! ```text
//!   left keys  [7, 9, 7]     right keys [9, 7]      pairs (0, 1) (1, 0) (2, 1)
//! ```

use super::batch::{Batch, BatchBuilder, Rows, pairs_at_once};
use super::column::NO_ROW;
use super::conditions::Filters;
use super::grace::SpillingBuild;
use super::index::{RowIndex, WordBits};
use super::join_keys::{KeyColumns, Keys, Words};
use super::keys::Dictionary;
use super::operators::{BuiltJoin, Operators};
use super::pairs::{Pairs, gathered};
use super::sideways::{KeyFilter, KeyFilters, KnownWords};
use super::source::{BatchVisitor, Flow, visit_these};
use crate::exec::Result;
use crate::plan::batches::{BatchKey, BatchSlot, HashBatches};
use crate::plan::trace::{Node, Stage};
use crate::plan::vector::{NumberKind, NumberOp};
use crate::plan::{HashKey, JoinPlan, JoinType};
use crate::spill::Grant;
use inia_base::value::Value;
use inia_expr::EvalContext;
use std::cell::Cell;

/// Pairs that are gathered at once.
const MAX_PAIRS: usize = 8192;

/// The right side of a join: its rows, and where those with a key are. It is not changed any more,
/// so that several threads may look rows up.
pub(super) struct HashBuild<'w> {
    rows: Batch,
    /// At most how many bytes a row takes.
    longest: usize,
    index: RowIndex,
    /// Of each key that may leave out rows of the left side, where there are several.
    bits: Vec<Option<WordBits>>,
    dictionaries: Vec<Dictionary>,
    /// What all of it takes.
    _memory: Grant<'w>,
}

impl<'w> HashBuild<'w> {
    /// Rows whose index can be looked up.
    pub(super) fn new(
        (rows, index): (Batch, RowIndex),
        bits: Vec<Option<WordBits>>,
        dictionaries: Vec<Dictionary>,
        memory: Grant<'w>,
    ) -> HashBuild<'w> {
        let longest = rows.longest();
        HashBuild { rows, longest, index, bits, dictionaries, _memory: memory }
    }

    /// For each key that is not a number the keys that there are.
    pub(super) fn dictionaries(&self) -> &[Dictionary] {
        &self.dictionaries
    }
}

/// What became of the right side of a join.
pub(super) enum Built<B> {
    /// Rows of the left side can be looked up.
    Ready(B),
    /// No row comes out of the join.
    Empty,
    /// Its rows do not fit batches.
    Unfit,
}

/// A join in execution.
pub(super) struct Probe<'p> {
    kind: JoinType,
    plan: &'p HashBatches,
    out: &'p [BatchSlot],
    build: &'p HashBuild<'p>,
    filters: Filters<'p>,
}

/// A join, its keys and how it is executed over batches, up to the slots that go on.
pub(super) type HashPlan<'p> = (&'p JoinPlan, &'p [HashKey], &'p HashBatches, &'p [BatchSlot]);

impl<'e> Operators<'e> {
    /// Gives the rows of a hash join to `visit`.
    pub(super) fn hash_batches(
        &self,
        plan: HashPlan<'_>,
        above: &KeyFilters<'_>,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        if let Some(build) = self.shared_build(plan.0) {
            return self.join_batches(plan, (build, above), ctx, row, visit);
        }
        match self.build_hash(plan, ctx, row)? {
            Built::Ready(build) => self.join_batches(plan, (&build, above), ctx, row, visit),
            Built::Empty => Ok(Flow::More),
            Built::Unfit => Ok(Flow::Unfit),
        }
    }

    /// Joins the left side with the right one, which was read.
    fn join_batches(
        &self,
        plan: HashPlan<'_>,
        (build, above): (&BuiltJoin<'_>, &KeyFilters<'_>),
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        match build {
            BuiltJoin::Whole(build) => self.probe_batches(plan, (build, above), ctx, row, visit),
            BuiltJoin::Spilled(build) => {
                self.spilled_batches(plan, (build, above), ctx, row, visit)
            }
        }
    }

    /// Reads the right side.
    pub(super) fn build_hash(
        &self,
        (join, keys, plan, out): HashPlan<'_>,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
    ) -> Result<Built<BuiltJoin<'e>>> {
        // Where constants of the left side do not fit, nothing is read.
        let (Some(mut keys), Some(_)) =
            (Keys::of_right(keys, plan, ctx), Keys::of_left(keys, plan, &[], ctx))
        else {
            return Ok(Built::Unfit);
        };
        let is_kept = |slot: &&BatchSlot| out.contains(slot) || plan.on_slots.contains(slot);
        let kept: Vec<BatchSlot> = plan.right.slots.iter().filter(is_kept).copied().collect();
        let (mut rows, mut index) = (BatchBuilder::new(&kept), RowIndex::new(plan.keys.len()));
        let mut memory = Grant::new(self.workspace);
        let from = (&join.right, &plan.right);
        let mut spilled: Option<SpillingBuild<'e>> = None;
        let building = Stage::new(self.trace, Node::Build(join));
        let built = self.of_side(false).batches(from, &[], ctx, row, &mut |ctx, row, batch| {
            if let Some(spilled) = &mut spilled {
                let Some(columns) = keys.columns(batch, ctx, row)? else { return Ok(Flow::Unfit) };
                spilled.add(batch, columns)?;
                return Ok(Flow::More);
            }
            let Some(words) = keys.words(batch, ctx, row)? else { return Ok(Flow::Unfit) };
            // NULL keys match nothing.
            if let Some(present) = &words.present {
                match batch.chosen(present, &kept) {
                    Some(present) => rows.append(&present)?,
                    None => rows.append(batch)?,
                }
            } else {
                rows.append(batch)?;
            }
            index.add(&words);
            let used = rows.held() + index.held() + keys.held();
            if !memory.allows(used) || rows.rows() >= NO_ROW as usize / 2 {
                let mut all = SpillingBuild::new(plan, &kept, row.len(), self.workspace);
                let columns = KeyColumns::of_index(&index, plan, keys.dictionaries());
                all.add(&mut rows.take(), columns)?;
                index = RowIndex::new(plan.keys.len());
                keys.forget();
                memory = Grant::new(self.workspace);
                spilled = Some(all);
            }
            Ok(Flow::More)
        })?;
        if built == Flow::Unfit {
            return Ok(Built::Unfit);
        }
        drop(building);
        if let Some(spilled) = spilled {
            return Ok(Built::Ready(BuiltJoin::Spilled(spilled.finish()?)));
        }
        if index.is_empty() && !join.kind.keeps_unmatched() {
            return Ok(Built::Empty);
        }
        index.seal();
        let dictionaries = keys.into_dictionaries();
        let bits = (0..plan.keys.len())
            .map(|key| filtered_column(join.kind, plan, key).and_then(|_| index.bits_of(key)));
        let bits = bits.collect();
        let build = HashBuild::new((rows.take(), index), bits, dictionaries, memory);
        Ok(Built::Ready(BuiltJoin::Whole(build)))
    }

    /// Looks the rows of the left side up.
    fn probe_batches(
        &self,
        (join, keys, plan, out): HashPlan<'_>,
        (build, above): (&HashBuild<'_>, &KeyFilters<'_>),
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        let keys = Keys::of_left(keys, plan, &build.dictionaries, ctx);
        debug_assert!(keys.is_some(), "constants fitted before the right side was read");
        let Some(mut keys) = keys else { return Ok(Flow::Unfit) };
        let filters = Filters::new(&plan.on, &join.on, ctx);
        let mut probe = Probe::new((join.kind, plan, out), build, filters);
        let own = own_filters(join.kind, plan, build);
        let below: Vec<_> = above.iter().copied().chain(&own).collect();
        let from = (&join.left, &plan.left);
        self.batches(from, &below, ctx, row, &mut |ctx, row, batch| {
            self.check_killed()?;
            let words = keys.words(batch, ctx, row)?;
            debug_assert!(words.is_some(), "the left side always has words");
            let Some(words) = words else { return Ok(Flow::Unfit) };
            probe.batch(&words, batch, ctx, row, visit)
        })
    }
}

/// The keys of a join as filters of columns on the left side.
fn own_filters<'b>(
    kind: JoinType,
    plan: &HashBatches,
    build: &'b HashBuild<'_>,
) -> Vec<KeyFilter<'b>> {
    let filter = |key| {
        let (slot, kind) = filtered_column(kind, plan, key)?;
        let words = match (plan.keys.len(), &build.bits[key]) {
            (1, _) => KnownWords::Rows(&build.index),
            (_, bits) => KnownWords::Bits(bits.as_ref()?),
        };
        Some(KeyFilter { slot, kind, words, seen: Cell::default() })
    };
    (0..plan.keys.len()).filter_map(filter).collect()
}

/// The slot on the left side that is a key as it stands, where rows without a partner go.
fn filtered_column(kind: JoinType, plan: &HashBatches, key: usize) -> Option<(usize, NumberKind)> {
    let BatchKey::Numbers { left, scale, .. } = plan.keys[key] else { return None };
    let step = &plan.left_program.steps[left];
    let NumberOp::Slot(slot) = step.op else { return None };
    let fits = matches!(kind, JoinType::Inner | JoinType::Semi) && step.kind.scale() == scale;
    fits.then_some((slot, step.kind))
}

impl<'p> Probe<'p> {
    /// Looks rows up in a right side.
    pub(super) fn new(
        (kind, plan, out): (JoinType, &'p HashBatches, &'p [BatchSlot]),
        build: &'p HashBuild<'p>,
        filters: Filters<'p>,
    ) -> Probe<'p> {
        Probe { kind, plan, out, build, filters }
    }

    /// Gives what comes out for a batch of left rows to `visit`.
    pub(super) fn batch(
        &mut self,
        words: &Words,
        batch: &mut Batch,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        match self.kind {
            JoinType::Inner | JoinType::Left => self.pairs((words, None), batch, ctx, row, visit),
            JoinType::Semi => {
                let matched = self.matches(words, batch, ctx, row)?;
                visit_these(batch, self.out, &matched, ctx, row, visit)
            }
            JoinType::Anti => {
                let mut matched = self.matches(words, batch, ctx, row)?;
                matched.iter_mut().for_each(|matched| *matched = !*matched);
                visit_these(batch, self.out, &matched, ctx, row, visit)
            }
        }
    }

    /// Gives each pair of an inner or a left join to `visit`. Left rows with a match are marked in
    /// `known`, where that is given; those without one do not come out then.
    pub(super) fn pairs(
        &mut self,
        (words, mut known): (&Words, Option<&mut [bool]>),
        batch: &mut Batch,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        let completes = self.kind == JoinType::Left && known.is_none();
        let on = !self.filters.is_empty();
        let mut matched = vec![false; if completes && on { batch.rows() } else { 0 }];
        let (mut pairs, mut begun, mut at) = (Pairs::default(), 0, 0);
        let most = pairs_at_once(batch.longest() + self.build.longest, MAX_PAIRS);
        for left in 0..batch.rows() as u32 {
            let before = pairs.len();
            if let Some(place) = words.place(left as usize, &mut at) {
                self.build.index.each(words, place, &mut |right| pairs.push(left, right));
            }
            if completes && !on && pairs.len() == before {
                pairs.push(left, NO_ROW);
            }
            let last = left as usize + 1 == batch.rows();
            if pairs.len() < most && !last {
                continue;
            }
            if on {
                let sides = (&*batch, &self.build.rows, &self.plan.on_slots[..]);
                pairs.check(&mut self.filters, (sides, most), ctx, row)?;
            }
            if let Some(known) = &mut known {
                pairs.left.iter().for_each(|&left| known[left as usize] = true);
            }
            if completes && on {
                pairs.left.iter().for_each(|&left| matched[left as usize] = true);
                pairs.add_unmatched(&matched, begun..left as usize + 1);
            }
            begun = left as usize + 1;
            if pairs.is_empty() {
                continue;
            }
            for pair in pairs.chunks(most) {
                let mut joined = gathered((&*batch, &self.build.rows, self.out), pair);
                match visit(ctx, row, &mut joined)? {
                    Flow::More => {}
                    flow => return Ok(flow),
                }
            }
            pairs.clear();
        }
        Ok(Flow::More)
    }

    /// The left rows of a semi or an anti join that have a match.
    pub(super) fn matches(
        &mut self,
        words: &Words,
        batch: &mut Batch,
        ctx: &mut EvalContext<'_>,
        row: &mut [Value],
    ) -> Result<Vec<bool>> {
        let mut matched = vec![false; batch.rows()];
        let (mut pairs, mut at) = (Pairs::default(), 0);
        let on = !self.filters.is_empty();
        let most = pairs_at_once(batch.longest() + self.build.longest, MAX_PAIRS);
        for left in 0..batch.rows() {
            if let Some(place) = words.place(left, &mut at) {
                match on {
                    false => matched[left] = self.build.index.contains(words, place),
                    true => self.build.index.each(words, place, &mut |right| {
                        pairs.push(left as u32, right);
                    }),
                }
            }
            if pairs.len() >= most || (left + 1 == batch.rows() && !pairs.is_empty()) {
                let sides = (&*batch, &self.build.rows, &self.plan.on_slots[..]);
                pairs.check(&mut self.filters, (sides, most), ctx, row)?;
                pairs.left.iter().for_each(|&left| matched[left as usize] = true);
                pairs.clear();
            }
        }
        Ok(matched)
    }
}
