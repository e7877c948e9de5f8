//! Batches that several threads make, given on in the order of their morsels.
//!
//! The statement's own thread gives them. Where the next morsel is not there yet it works on one
//! itself; a morsel that is the next one it gives as it reads it. What helpers have made of later
//! morsels waits:
//!
//! ```text
//!   given      0 1 2 3
//!   waiting            5 6      4 is being worked on: its rows come first
//! ```
//!
//! Helpers take no more morsels while too much waits. A morsel that a helper cannot do, or of which
//! too much comes out, the statement's own thread does when its turn has come.

use super::worker::{Worker, panicked, start_thread};
use super::{Divided, Division, Pipeline};
use crate::exec::Result;
use crate::exec::vector::batch::Batch;
use crate::exec::vector::operators::Operators;
use crate::exec::vector::source::{BatchVisitor, Flow};
use crate::exec::vector::texts::CountedTexts;
use crate::plan::RowSource;
use crate::plan::batches::BatchSource;
use crate::spill::{Grant, Workspace};
use inia_base::value::Value;
use inia_expr::EvalContext;
use inia_storage::Txn;
use parking_lot::{Condvar, Mutex};
use std::collections::HashMap;

/// Bytes of batches that wait before helpers pause.
const MAX_WAITING: usize = 32 << 20;
/// Bytes that may come out of one morsel elsewhere than on the statement's own thread.
const MAX_OUTPUT: usize = 16 << 20;

/// What a worker made of a morsel.
enum Output {
    Batches(Vec<Batch>, usize),
    /// The statement's own thread is to do it.
    Redo,
}

/// What waits to be given.
struct Waiting<'w> {
    outputs: HashMap<usize, Output>,
    /// Bytes of it.
    bytes: usize,
    memory: Grant<'w>,
    /// A worker has panicked, or no more is wanted.
    closed: bool,
}

/// Where workers leave what they have made.
struct Exchange<'w> {
    waiting: Mutex<Waiting<'w>>,
    changed: Condvar,
}

impl<'w> Exchange<'w> {
    fn new(workspace: Workspace<'w>) -> Exchange<'w> {
        let memory = Grant::new(workspace);
        let waiting = Waiting { outputs: HashMap::new(), bytes: 0, memory, closed: false };
        Exchange { waiting: Mutex::new(waiting), changed: Condvar::new() }
    }

    fn put(&self, morsel: usize, mut output: Output) {
        let mut waiting = self.waiting.lock();
        if let Output::Batches(_, bytes) = &output {
            let sum = waiting.bytes + bytes;
            match waiting.memory.allows(sum) {
                true => waiting.bytes = sum,
                false => output = Output::Redo,
            }
        }
        waiting.outputs.insert(morsel, output);
        self.changed.notify_all();
    }

    /// What was made of a morsel, if it is there.
    fn take(&self, morsel: usize) -> Option<Output> {
        let mut waiting = self.waiting.lock();
        let output = waiting.outputs.remove(&morsel)?;
        if let Output::Batches(_, bytes) = &output {
            waiting.bytes -= bytes;
            self.changed.notify_all();
        }
        Some(output)
    }

    /// As [`Exchange::take`], once it is there; `None` where it will not be.
    fn wait_for(&self, morsel: usize) -> Option<Output> {
        let mut waiting = self.waiting.lock();
        while !waiting.closed && !waiting.outputs.contains_key(&morsel) {
            self.changed.wait(&mut waiting);
        }
        drop(waiting);
        self.take(morsel)
    }

    fn has_room(&self) -> bool {
        self.waiting.lock().bytes < MAX_WAITING
    }

    /// Waits until there is room for more; false where no more is wanted.
    fn wait_for_room(&self) -> bool {
        let mut waiting = self.waiting.lock();
        while !waiting.closed && waiting.bytes >= MAX_WAITING {
            self.changed.wait(&mut waiting);
        }
        !waiting.closed
    }

    fn close(&self) {
        self.waiting.lock().closed = true;
        self.changed.notify_all();
    }
}

/// Ends the work of all when it is dropped, or only where that is by a panic.
struct Closing<'p, 'w> {
    exchange: &'p Exchange<'w>,
    pipeline: &'p Pipeline<'p>,
    always: bool,
}

impl Drop for Closing<'_, '_> {
    fn drop(&mut self) {
        if self.always || std::thread::panicking() {
            self.pipeline.stop();
            self.exchange.close();
        }
    }
}

/// A member of FROM and how it gives batches.
type From<'p> = (&'p RowSource, &'p BatchSource);

impl Operators<'_> {
    /// Gives the rows of a source that several threads read to `visit`; `None` where one does
    /// better.
    pub(in crate::exec::vector) fn batches_of_threads(
        &self,
        (source, plan, threads): (&RowSource, &BatchSource, usize),
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Option<Flow>> {
        let from = (source, plan);
        let divided = self.divide((source, plan, threads), std::iter::empty(), ctx, row)?;
        let Division { pipeline, readers } = match divided {
            Divided::Ready(division) => division,
            Divided::Undivided(builds) if builds.is_empty() => return Ok(None),
            Divided::Undivided(builds) => {
                let operators = self.with_builds(&builds, threads);
                return operators.batches(from, &[], ctx, row, visit).map(Some);
            }
            Divided::Empty => return Ok(Some(Flow::More)),
            Divided::Unfit => return Ok(Some(Flow::Unfit)),
        };
        let outer = ctx.outer.clone();
        let start = self.worker_start(ctx, &outer, (readers.len(), row.len()));
        let exchange = Exchange::new(self.workspace);
        let closing = |always| Closing { exchange: &exchange, pipeline: &pipeline, always };
        let help = |reader: Txn| {
            let _closing = closing(false);
            let work =
                |worker: &Worker<'_, '_>, ctx: &mut EvalContext<'_>, row: &mut Vec<Value>| {
                    while exchange.wait_for_room()
                        && let Some(morsel) = worker.take()
                    {
                        exchange.put(morsel, made_of(morsel, worker, from, ctx, row));
                    }
                };
            start.run(&pipeline, (reader, true), work).1
        };
        let mut readers = readers.into_iter();
        let Some(own) = readers.next() else { return Ok(None) };
        let (flow, traces) = std::thread::scope(|scope| {
            let threads = readers.filter_map(|reader| start_thread(scope, || help(reader)));
            let threads: Vec<_> = threads.collect();
            let (flow, trace) = start.run(&pipeline, (own, false), |worker, own_ctx, own_row| {
                let _closing = closing(true);
                let giving = Giving { worker, from, exchange: &exchange, pipeline: &pipeline };
                giving.run((own_ctx, own_row), ctx, row, visit)
            });
            let mut traces: Vec<_> = trace.into_iter().collect();
            let mut panics = false;
            for thread in threads {
                match thread.join() {
                    Ok(trace) => traces.extend(trace),
                    Err(_) => panics = true,
                }
            }
            (if panics { Err(panicked()) } else { flow }, traces)
        });
        if let Some(trace) = self.trace {
            trace.add_threads(&pipeline.nodes(), traces);
        }
        flow.map(Some)
    }
}

/// The statement's own thread, which gives the batches.
struct Giving<'g, 'w> {
    worker: &'g Worker<'g, 'w>,
    from: From<'g>,
    exchange: &'g Exchange<'w>,
    pipeline: &'g Pipeline<'g>,
}

impl Giving<'_, '_> {
    /// Gives the rows of all morsels. What it makes of later ones in between is made as by a
    /// helper, with a context and a row of its own.
    fn run(
        &self,
        (own_ctx, own_row): (&mut EvalContext<'_>, &mut Vec<Value>),
        ctx: &mut EvalContext<'_>,
        row: &mut Vec<Value>,
        visit: &mut BatchVisitor<'_>,
    ) -> Result<Flow> {
        let mut next = 0;
        while next < self.pipeline.morsels() {
            let output = match self.exchange.take(next) {
                Some(output) => output,
                // Without room a helper is at work on the next one.
                None => match self.exchange.has_room().then(|| self.worker.take()).flatten() {
                    Some(morsel) if morsel == next => Output::Redo,
                    Some(morsel) => {
                        let output = made_of(morsel, self.worker, self.from, own_ctx, own_row);
                        self.exchange.put(morsel, output);
                        continue;
                    }
                    None => self.exchange.wait_for(next).ok_or_else(panicked)?,
                },
            };
            let operators = self.worker.operators(next);
            match output {
                Output::Batches(batches, _) => {
                    for mut batch in batches {
                        operators.check_killed()?;
                        match visit(ctx, row, &mut batch)? {
                            Flow::More => {}
                            flow => return Ok(flow),
                        }
                    }
                }
                Output::Redo => match operators.batches(self.from, &[], ctx, row, visit)? {
                    Flow::More => {}
                    flow => return Ok(flow),
                },
            }
            next += 1;
        }
        Ok(Flow::More)
    }
}

/// What a worker makes of a morsel.
fn made_of(
    morsel: usize,
    worker: &Worker<'_, '_>,
    from: From<'_>,
    ctx: &mut EvalContext<'_>,
    row: &mut Vec<Value>,
) -> Output {
    let (mut batches, mut bytes) = (Vec::new(), 0);
    // The rows of a join share the texts of its right side.
    let mut counted = CountedTexts::default();
    let flow = worker.operators(morsel).batches(from, &[], ctx, row, &mut |_, _, batch| {
        bytes += batch.held(&mut counted);
        batches.push(std::mem::take(batch));
        Ok(if bytes <= MAX_OUTPUT { Flow::More } else { Flow::Unfit })
    });
    match (worker.is_sound(ctx), flow) {
        (true, Ok(Flow::More)) => Output::Batches(batches, bytes),
        _ => Output::Redo,
    }
}
