//! What a pipeline is cut into.
//!
//! The leftmost table is cut into parts of its tree. Where few of its rows are expected, the work
//! is in what is looked up for them: the statement's own thread then reads the first part of FROM
//! that has some rows, and those are cut:
//!
//! ```text
//!   nation ⋈ supplier ⋈ lineitem      1 row, 400 rows, 240,000 rows
//!   └──── driver ───┘                 32 morsels of 13 suppliers each
//! ```

use crate::access::{MorselScan, TableScan};
use crate::exec::Result;
use crate::exec::vector::batch::{Batch, Rows};
use crate::exec::vector::operators::Operators;
use crate::exec::vector::source::Flow;
use crate::exec::vector::texts::CountedTexts;
use crate::optimize::of_source;
use crate::plan::batches::{BatchNode, BatchSource};
use crate::plan::{RowSource, TableSource};
use crate::spill::Grant;
use inia_base::value::Value;
use inia_expr::EvalContext;

/// Expected rows of a driver for each thread, at least, and in all, at most.
const MIN_PER_THREAD: usize = 16;
const MAX_DRIVER: f64 = 65_536.0;

/// The parts that threads take.
pub(super) enum Morsels<'p> {
    /// Of a table's tree.
    Tree(&'p TableSource, MorselScan),
    /// Of the rows of a driver.
    Rows(Driver<'p>),
}

/// A part of FROM that was read.
pub(super) struct Driver<'p> {
    source: &'p RowSource,
    plan: &'p BatchSource,
    parts: Vec<Batch>,
    /// What the rows take.
    _memory: Grant<'p>,
}

/// What reading a driver came to.
pub(super) enum Driven<'p> {
    Ready(Driver<'p>),
    /// There is none, or its rows take too much memory.
    None,
    /// It has no rows.
    Empty,
    /// Its rows do not fit batches.
    Unfit,
}

impl<'p> Morsels<'p> {
    pub(super) fn len(&self) -> usize {
        match self {
            Morsels::Tree(_, scan) => scan.len(),
            Morsels::Rows(driver) => driver.parts.len(),
        }
    }

    /// Begins to read a morsel of a table's tree.
    pub(super) fn open(&self, table: &TableSource, morsel: usize) -> Option<TableScan> {
        match self {
            Morsels::Tree(cut, scan) if std::ptr::eq(*cut, table) => Some(scan.open(morsel)),
            _ => None,
        }
    }

    /// The rows of a morsel, where they are those of this source.
    pub(super) fn rows_of(&self, source: &RowSource, morsel: usize) -> Option<Batch> {
        let Morsels::Rows(driver) = self else { return None };
        std::ptr::eq(driver.source, source).then(|| driver.part(morsel))
    }

    /// The driver, whose joins are none of the pipeline's.
    pub(super) fn driver(&self) -> Option<&'p RowSource> {
        match self {
            Morsels::Tree(..) => None,
            Morsels::Rows(driver) => Some(driver.source),
        }
    }
}

impl Driver<'_> {
    fn part(&self, morsel: usize) -> Batch {
        let part = &self.parts[morsel];
        let places: Vec<u32> = (0..part.rows() as u32).collect();
        let mut batch = Batch::of_rows(part.rows());
        batch.gather(part, &self.plan.slots, &places);
        batch
    }
}

/// How many rows of the leftmost table fulfil its conditions, as expected.
fn rows_of_leftmost(source: &RowSource) -> f64 {
    match source {
        RowSource::Join(join) => rows_of_leftmost(&join.left),
        _ => of_source(source),
    }
}

/// The first part of a source that is expected to have rows for so many threads, where the leftmost
/// table has not.
fn driver_of<'p>(
    (source, plan): (&'p RowSource, &'p BatchSource),
    threads: usize,
) -> Option<(&'p RowSource, &'p BatchSource)> {
    let enough = (MIN_PER_THREAD * threads) as f64;
    let RowSource::Join(join) = source else { return None };
    if rows_of_leftmost(source) >= enough {
        return None;
    }
    let left = match &plan.node {
        BatchNode::Hash(hash) => &hash.left,
        BatchNode::Loop(looped) => &looped.left,
        BatchNode::Table(_) | BatchNode::Rows => return None,
    };
    driver_of((&join.left, left), threads).or_else(|| {
        (enough..=MAX_DRIVER).contains(&of_source(&join.left)).then_some((&join.left, left))
    })
}

impl<'e> Operators<'e> {
    /// Reads the driver of a source, and cuts its rows for so many threads.
    pub(super) fn read_driver<'p>(
        &self,
        from: (&'p RowSource, &'p BatchSource),
        threads: usize,
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
    ) -> Result<Driven<'p>>
    where
        'e: 'p,
    {
        let Some((source, plan)) = driver_of(from, threads) else { return Ok(Driven::None) };
        let (mut batches, mut rows, mut bytes) = (Vec::new(), 0, 0);
        let mut memory = Grant::new(self.workspace);
        let mut counted = CountedTexts::default();
        let flow = self.batches((source, plan), &[], ctx, row, &mut |_, _, batch| {
            bytes += batch.held(&mut counted);
            rows += batch.rows();
            batches.push(std::mem::take(batch));
            Ok(if memory.allows(bytes) { Flow::More } else { Flow::Enough })
        })?;
        match flow {
            Flow::More if rows == 0 => return Ok(Driven::Empty),
            Flow::More => {}
            Flow::Enough => return Ok(Driven::None),
            Flow::Unfit => return Ok(Driven::Unfit),
        }
        let each = rows.div_ceil(MIN_PER_THREAD * threads);
        let mut parts = Vec::new();
        for batch in &batches {
            for start in (0..batch.rows()).step_by(each) {
                let end = batch.rows().min(start + each);
                let places: Vec<u32> = (start as u32..end as u32).collect();
                let mut part = Batch::of_rows(places.len());
                part.gather(batch, &plan.slots, &places);
                parts.push(part);
            }
        }
        Ok(Driven::Ready(Driver { source, plan, parts, _memory: memory }))
    }
}
