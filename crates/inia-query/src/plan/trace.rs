//! EXPLAIN ANALYZE: what each node of a plan gave, and how long that took.
//!
//! A node gives its rows to a visitor, so the time of the nodes above it passes inside of its call.
//! A watch therefore stands still during visits: what it counts is the node and those below it.

use super::{JoinPlan, QueryPlan, RowSource, SelectPlan, TableSource};
use inia_base::error::SqlError;
use std::cell::RefCell;
use std::collections::HashMap;
use std::mem::{Discriminant, discriminant};
use std::time::{Duration, Instant};

/// A node of the plan that is being run; its kind and address identify it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    /// A query with its order and limit.
    Query(*const QueryPlan),
    /// Its rows in their order, before the limit.
    Sorted(*const QueryPlan),
    /// A SELECT with all but those.
    Select(*const SelectPlan),
    /// Its rows behind HAVING.
    Having(*const SelectPlan),
    /// Its groups.
    Grouped(*const SelectPlan),
    /// The rows that are grouped.
    Filtered(*const SelectPlan),
    /// The hash table of a join.
    Build(*const JoinPlan),
    /// A member of FROM, after its conditions.
    Source(*const RowSource),
    /// A table's records, before the conditions.
    Scan(*const TableSource),
}

/// A node's kind and address, by which other threads may name it, too.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct NodeKey(Discriminant<Node>, usize);

impl From<Node> for NodeKey {
    fn from(node: Node) -> NodeKey {
        let address = match node {
            Node::Query(query) | Node::Sorted(query) => query.addr(),
            Node::Select(select)
            | Node::Having(select)
            | Node::Grouped(select)
            | Node::Filtered(select) => select.addr(),
            Node::Build(join) => join.addr(),
            Node::Source(source) => source.addr(),
            Node::Scan(table) => table.addr(),
        };
        NodeKey(discriminant(&node), address)
    }
}

/// Sums over a node's runs.
#[derive(Clone, Copy, Default)]
struct Sums {
    loops: u64,
    rows: u64,
    first: Duration,
    whole: Duration,
}

/// What was seen of a plan's run.
#[derive(Default)]
pub struct Trace {
    nodes: RefCell<HashMap<NodeKey, Sums>>,
}

/// One run of a node.
pub(crate) struct Watch {
    begun: Instant,
    away: Duration,
    first: Option<Duration>,
    rows: u64,
}

impl Watch {
    pub(crate) fn new() -> Watch {
        Watch { begun: Instant::now(), away: Duration::ZERO, first: None, rows: 0 }
    }

    /// A row goes to the visitor.
    pub(crate) fn visit<T>(&mut self, visit: impl FnOnce() -> T) -> T {
        self.visit_rows(1, visit)
    }

    /// Some rows go to the visitor at once.
    pub(crate) fn visit_rows<T>(&mut self, rows: u64, visit: impl FnOnce() -> T) -> T {
        let left = Instant::now();
        self.rows += rows;
        self.first.get_or_insert((left - self.begun).saturating_sub(self.away));
        let answer = visit();
        self.away += left.elapsed();
        answer
    }
}

impl Trace {
    /// A run of a node is over.
    pub(crate) fn add(&self, node: Node, watch: &Watch) {
        let whole = watch.begun.elapsed().saturating_sub(watch.away);
        let mut nodes = self.nodes.borrow_mut();
        let sums = nodes.entry(node.into()).or_default();
        sums.loops += 1;
        sums.rows += watch.rows;
        sums.first += watch.first.unwrap_or(whole);
        sums.whole += whole;
    }

    /// A run of a table has looked at so many records.
    pub(crate) fn examined(&self, table: &TableSource, rows: u64) {
        self.nodes.borrow_mut().entry(Node::Scan(table).into()).or_default().rows += rows;
    }

    /// A node was run for so many rows at once, and has given so many.
    pub(crate) fn looked_up(&self, node: Node, (runs, rows): (u64, u64)) {
        let mut nodes = self.nodes.borrow_mut();
        let sums = nodes.entry(node.into()).or_default();
        sums.loops += runs;
        sums.rows += rows;
    }

    /// Adds what threads saw that ran some nodes together. Each of `parts` had one run, of which
    /// they did parts: it has all of their rows, and the time of the longest.
    pub(crate) fn add_threads(&self, parts: &[Node], threads: impl IntoIterator<Item = Trace>) {
        let parts: Vec<NodeKey> = parts.iter().map(|node| NodeKey::from(*node)).collect();
        let mut run: HashMap<NodeKey, Sums> = HashMap::new();
        for thread in threads {
            for (node, seen) in thread.nodes.into_inner() {
                let sums = run.entry(node).or_default();
                sums.rows += seen.rows;
                if parts.contains(&node) {
                    let first = seen.first / u32::try_from(seen.loops.max(1)).unwrap_or(u32::MAX);
                    sums.first = if sums.loops == 0 { first } else { sums.first.min(first) };
                    sums.whole = sums.whole.max(seen.whole);
                    sums.loops = 1;
                } else {
                    sums.loops += seen.loops;
                    sums.first += seen.first;
                    sums.whole += seen.whole;
                }
            }
        }
        let mut nodes = self.nodes.borrow_mut();
        for (node, seen) in run {
            let sums = nodes.entry(node).or_default();
            sums.loops += seen.loops;
            sums.rows += seen.rows;
            sums.first += seen.first;
            sums.whole += seen.whole;
        }
    }

    /// What a node did, in MySQL's words: averages over its runs, in milliseconds.
    pub(crate) fn describe(&self, node: Node) -> String {
        describe(self.nodes.borrow().get(&node.into()).copied().unwrap_or_default())
    }

    /// What making a join's hash table did, of as many rows as its right side gave.
    pub(crate) fn describe_build(&self, join: &JoinPlan) -> String {
        let nodes = self.nodes.borrow();
        let mut sums = nodes.get(&Node::Build(join).into()).copied().unwrap_or_default();
        sums.rows = nodes.get(&Node::Source(&join.right).into()).map_or(0, |source| source.rows);
        describe(sums)
    }

    /// What the scan below a member of FROM did, in as many runs and as much time.
    pub(crate) fn describe_scan(&self, source: &RowSource, table: &TableSource) -> String {
        let nodes = self.nodes.borrow();
        let mut sums = nodes.get(&Node::Source(source).into()).copied().unwrap_or_default();
        sums.rows = nodes.get(&Node::Scan(table).into()).map_or(0, |scan| scan.rows);
        describe(sums)
    }
}

fn describe(sums: Sums) -> String {
    if sums.loops == 0 {
        return " (never executed)".into();
    }
    let each = |time: Duration| time.as_secs_f64() * 1000.0 / sums.loops as f64;
    let rows = (sums.rows as f64 / sums.loops as f64).round();
    let (first, whole) = (each(sums.first), each(sums.whole));
    format!(" (actual time={first:.3}..{whole:.3} rows={rows} loops={})", sums.loops)
}

/// A part of a node's work that is watched where there is a trace, until it is dropped.
pub(crate) struct Stage<'t> {
    seen: Option<(&'t Trace, Node, Watch)>,
}

impl<'t> Stage<'t> {
    #[inline]
    pub(crate) fn new(trace: Option<&'t Trace>, node: Node) -> Stage<'t> {
        Stage { seen: trace.map(|trace| (trace, node, Watch::new())) }
    }

    /// A row goes to the visitor.
    #[inline]
    pub(crate) fn visit<T>(&mut self, visit: impl FnOnce() -> T) -> T {
        self.visit_rows(1, visit)
    }

    /// Some rows go to the visitor at once.
    #[inline]
    pub(crate) fn visit_rows<T>(&mut self, rows: u64, visit: impl FnOnce() -> T) -> T {
        match &mut self.seen {
            None => visit(),
            Some((_, _, watch)) => watch.visit_rows(rows, visit),
        }
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        if let Some((trace, node, watch)) = &self.seen {
            trace.add(*node, watch);
        }
    }
}

/// Runs a node under a watch.
pub(crate) fn watched<T>(
    trace: &Trace,
    node: Node,
    run: impl FnOnce(&mut Watch) -> Result<T, SqlError>,
) -> Result<T, SqlError> {
    let mut watch = Watch::new();
    let result = run(&mut watch);
    trace.add(node, &watch);
    result
}
