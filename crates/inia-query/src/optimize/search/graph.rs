//! The join graph of a group: which sets of members a condition connects.
//!
//! Members are nodes. A condition over two members is an edge. A condition over more is a hyperedge
//! between two sets: `a.x + b.x = c.x` joins `{a, b}` to `{c}`, so `c` comes when both others are
//! there. A member that must wait for others (the right side of a left join, a LATERAL table, an
//! order that a hint asks for) hangs on a hyperedge from those to itself.
//!
//! Where conditions leave the graph in parts, each part gets hyperedges to the others: products are
//! formed between whole parts only.

use super::members::Members;

/// Two sets that something connects.
#[derive(Clone, Copy, Debug)]
struct HyperEdge {
    left: Members,
    right: Members,
}

/// A join graph.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    /// The members that share an edge with each member.
    edges: Vec<Members>,
    hyper: Vec<HyperEdge>,
    /// The sets of members that can be joined without a product, once those are connected.
    parts: Vec<Members>,
}

impl Graph {
    /// So many members without edges.
    pub(super) fn new(count: usize) -> Graph {
        Graph { edges: vec![Members::default(); count], hyper: Vec::new(), parts: Vec::new() }
    }

    /// Number of members.
    pub(super) fn len(&self) -> usize {
        self.edges.len()
    }

    /// Connects two disjoint sets.
    pub(super) fn connect(&mut self, left: Members, right: Members) {
        debug_assert!(!left.is_empty() && !right.is_empty(), "an edge has two ends");
        debug_assert!(!left.intersects(right), "the ends are apart");
        match (left.single(), right.single()) {
            (Some(a), Some(b)) => {
                self.edges[a] = self.edges[a].union(right);
                self.edges[b] = self.edges[b].union(left);
            }
            _ => self.hyper.push(HyperEdge { left, right }),
        }
    }

    /// Whether something connects the sets.
    pub(super) fn connects(&self, left: Members, right: Members) -> bool {
        let both = |e: &HyperEdge| {
            (e.left.is_subset(left) && e.right.is_subset(right))
                || (e.left.is_subset(right) && e.right.is_subset(left))
        };
        left.iter().any(|member| self.edges[member].intersects(right))
            || self.hyper.iter().any(both)
    }

    /// One member of each set that is next to `set` and has nothing of `set` or `excluded`.
    pub(super) fn neighbours(&self, set: Members, excluded: Members) -> Members {
        let out = set.union(excluded);
        let near = set.iter().fold(Members::default(), |all, one| all.union(self.edges[one]));
        let mut found = near.minus(out);
        for edge in &self.hyper {
            for (from, to) in [(edge.left, edge.right), (edge.right, edge.left)] {
                if from.is_subset(set) && !to.intersects(out) && !to.intersects(found) {
                    found = found.union(to.lowest());
                }
            }
        }
        found
    }

    /// Connects the parts that no condition connects.
    pub(super) fn connect_parts(&mut self) {
        let parts = self.parts();
        for (at, &left) in parts.iter().enumerate() {
            for &right in &parts[at + 1..] {
                self.connect(left, right);
            }
        }
        self.parts = parts;
    }

    /// Whether the set is a product: it has members of several parts.
    pub(super) fn is_product(&self, set: Members) -> bool {
        !self.parts.is_empty() && !self.parts.iter().any(|part| set.is_subset(*part))
    }

    /// The sets of members that can be joined without a product. An edge joins two parts once each
    /// of its ends lies in one.
    fn parts(&self) -> Vec<Members> {
        let mut ends: Vec<(Members, Members)> = Vec::new();
        for (member, near) in self.edges.iter().enumerate() {
            ends.extend(near.iter().map(|other| (Members::one(member), Members::one(other))));
        }
        ends.extend(self.hyper.iter().map(|edge| (edge.left, edge.right)));
        let mut parts: Vec<Members> = (0..self.len()).map(Members::one).collect();
        loop {
            let before = parts.len();
            for &(left, right) in &ends {
                let part_of = |end: Members| parts.iter().position(|part| end.is_subset(*part));
                if let (Some(a), Some(b)) = (part_of(left), part_of(right))
                    && a != b
                {
                    parts[a.min(b)] = parts[a].union(parts[b]);
                    parts.swap_remove(a.max(b));
                }
            }
            if parts.len() == before {
                return parts;
            }
        }
    }
}
