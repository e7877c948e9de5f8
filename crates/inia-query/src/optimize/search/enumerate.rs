//! Dynamic programming over connected sets of members (DPhyp: Moerkotte and Neumann, "Dynamic
//! Programming Strikes Back", SIGMOD 2008).
//!
//! The best way to join a set of members consists of the best ways to join two parts of it. Each
//! pair of connected, disjoint sets that something connects is visited once, the pairs of smaller
//! sets first, so a set's ways are complete before it is part of a larger one:
//!
//! ```text
//!   a - b - c        a b    b c    a|bc    ab|c          (a|c: nothing connects them)
//! ```
//! What a pair costs is asked of a [`Model`]; products come as edges of the graph.

use super::graph::Graph;
use super::members::Members;

/// How two sets are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// The right side is read anew for each left row, by an index where one helps.
    Loop,
    /// The right side is read once into a hash table.
    Hash,
}

/// What a plan is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// All rows.
    All,
    /// The first rows, perhaps in an order: see [`Model`].
    First,
}

/// Says what joins cost.
pub(super) trait Model {
    /// What it costs to read a member by itself; infinite where it cannot be the left side of a
    /// join.
    fn leaf(&self, member: usize, goal: Goal) -> f64;

    /// The cheapest method to join two sets, in this order, and what the whole costs then; `None`
    /// where they cannot be joined. `left_cost` is the left side's for the goal, `right_cost` that
    /// of all rows of the right side.
    fn join(
        &self,
        sides: (Members, Members),
        costs: (f64, f64),
        goal: Goal,
    ) -> Option<(f64, Method)>;
}

/// How a set of members is joined best for a goal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// What it costs; infinite where there is no way.
    pub(super) cost: f64,
    /// The two sides, unless it is a member.
    pub(super) split: Option<(Members, Members, Method)>,
}

impl Step {
    pub(super) const NONE: Step = Step { cost: f64::INFINITY, split: None };
}

/// How a set of members is joined best.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) all: Step,
    pub(super) first: Step,
}

impl Entry {
    const NONE: Entry = Entry { all: Step::NONE, first: Step::NONE };

    /// A member.
    pub(super) fn leaf(model: &dyn Model, member: usize) -> Entry {
        let step = |goal| Step { cost: model.leaf(member, goal), split: None };
        Entry { all: step(Goal::All), first: step(Goal::First) }
    }

    /// Joins two sets, in the order that is cheaper for each goal.
    pub(super) fn join(model: &dyn Model, a: (Members, Entry), b: (Members, Entry)) -> Entry {
        let mut best = Entry::NONE;
        for ((left, l), (right, r)) in [(a, b), (b, a)] {
            for goal in [Goal::All, Goal::First] {
                let (from, step) = match goal {
                    Goal::All => (l.all.cost, &mut best.all),
                    Goal::First => (l.first.cost, &mut best.first),
                };
                if from.is_infinite() {
                    continue;
                }
                let joined = model.join((left, right), (from, r.all.cost), goal);
                if let Some((cost, method)) = joined
                    && cost < step.cost
                {
                    *step = Step { cost, split: Some((left, right, method)) };
                }
            }
        }
        best
    }

    /// Whether there is a way for some goal.
    pub(super) fn exists(&self) -> bool {
        self.all.cost.is_finite() || self.first.cost.is_finite()
    }

    fn keep(&mut self, other: Entry) {
        if other.all.cost < self.all.cost {
            self.all = other.all;
        }
        if other.first.cost < self.first.cost {
            self.first = other.first;
        }
    }
}

/// The best ways to join every connected set; `None` where more than `budget` pairs would have to
/// be compared, or nothing joins all members.
pub(super) fn enumerate(graph: &Graph, model: &dyn Model, budget: usize) -> Option<Vec<Entry>> {
    let count = graph.len();
    let mut table = vec![Entry::NONE; 1 << count];
    for member in 0..count {
        table[Members::one(member).index()] = Entry::leaf(model, member);
    }
    let mut search = Enumeration { graph, model, table, left: budget };
    for member in (0..count).rev() {
        let one = Members::one(member);
        search.join_set(one)?;
        search.grow(one, Members::first_of(member + 1))?;
    }
    let all = search.table[Members::first_of(count).index()];
    all.exists().then_some(search.table)
}

struct Enumeration<'e> {
    graph: &'e Graph,
    model: &'e dyn Model,
    table: Vec<Entry>,
    /// Pairs that may still be compared.
    left: usize,
}

impl Enumeration<'_> {
    fn is_known(&self, set: Members) -> bool {
        set.len() == 1 || self.table[set.index()].exists()
    }

    /// Visits all connected sets that contain `set` and nothing of `excluded` besides.
    fn grow(&mut self, set: Members, excluded: Members) -> Option<()> {
        let near = self.graph.neighbours(set, excluded);
        for more in near.subsets() {
            if self.is_known(set.union(more)) {
                self.join_set(set.union(more))?;
            }
        }
        let excluded = excluded.union(near);
        near.subsets().try_for_each(|more| self.grow(set.union(more), excluded))
    }

    /// Joins a set with all sets next to it whose members come after its lowest.
    fn join_set(&mut self, set: Members) -> Option<()> {
        let before = Members::first_of(set.lowest().index().trailing_zeros() as usize);
        let excluded = before.union(set);
        let near = self.graph.neighbours(set, excluded);
        for member in near.iter().rev() {
            let other = Members::one(member);
            if self.graph.connects(set, other) {
                self.pair(set, other)?;
            }
            let lower = near.and(Members::first_of(member + 1));
            self.grow_other(set, other, excluded.union(lower))?;
        }
        Some(())
    }

    /// Joins `set` with all connected sets that contain `other` and nothing of `excluded` besides.
    fn grow_other(&mut self, set: Members, other: Members, excluded: Members) -> Option<()> {
        let near = self.graph.neighbours(other, excluded);
        for more in near.subsets() {
            let grown = other.union(more);
            if self.is_known(grown) && self.graph.connects(set, grown) {
                self.pair(set, grown)?;
            }
        }
        let excluded = excluded.union(near);
        near.subsets().try_for_each(|more| self.grow_other(set, other.union(more), excluded))
    }

    fn pair(&mut self, a: Members, b: Members) -> Option<()> {
        // A product grows by one part at a time: none is ever a hash table beside another.
        if self.graph.is_product(a) && self.graph.is_product(b) {
            return Some(());
        }
        self.left = self.left.checked_sub(1)?;
        let (left, right) = ((a, self.table[a.index()]), (b, self.table[b.index()]));
        let joined = Entry::join(self.model, left, right);
        self.table[a.union(b).index()].keep(joined);
        Some(())
    }
}

#[cfg(test)]
mod tests;
