//! The enumeration finds the cheapest of all trees: beside a search of every split of every set.

use super::{Entry, Goal, Method, Model, enumerate};
use crate::optimize::search::graph::Graph;
use crate::optimize::search::greedy;
use crate::optimize::search::members::Members;
use std::collections::HashMap;

/// Costs from a seed: rows of each set are drawn once, and joins cost by their sides' rows.
struct Drawn {
    rows: Vec<f64>,
    /// The members that each member must wait for.
    needs: Vec<Members>,
}

/// The next number of a linear congruential generator.
fn draw(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

impl Model for Drawn {
    fn leaf(&self, member: usize, _: Goal) -> f64 {
        match self.needs[member].is_empty() {
            true => self.rows[Members::one(member).index()],
            false => f64::INFINITY,
        }
    }

    fn join(
        &self,
        (left, right): (Members, Members),
        (left_cost, right_cost): (f64, f64),
        goal: Goal,
    ) -> Option<(f64, Method)> {
        if goal == Goal::First {
            return None;
        }
        let rows = |set: Members| self.rows[set.index()];
        let (l, r) = (rows(left), rows(right));
        let output = rows(left.union(right));
        let loops = right.single().filter(|one| self.needs[*one].is_subset(left));
        let looped = loops.map(|_| (left_cost + l * 3.0 + output, Method::Loop));
        let hashed = right_cost
            .is_finite()
            .then_some((left_cost + right_cost + l + 2.0 * r + output, Method::Hash));
        let both = looped.into_iter().chain(hashed);
        both.min_by(|a, b| a.0.total_cmp(&b.0))
    }
}

/// The least cost of every set, by all splits into sets that something connects, and that are not
/// products both.
fn by_all_splits(graph: &Graph, model: &Drawn) -> HashMap<Members, Entry> {
    let mut best: HashMap<Members, Entry> = HashMap::new();
    for set in Members::first_of(graph.len()).subsets() {
        if let Some(one) = set.single() {
            best.insert(set, Entry::leaf(model, one));
            continue;
        }
        let mut least = Entry::NONE;
        for left in set.subsets().filter(|left| *left != set) {
            let right = set.minus(left);
            if let (Some(l), Some(r)) = (best.get(&left), best.get(&right))
                && graph.connects(left, right)
                && !(graph.is_product(left) && graph.is_product(right))
            {
                least.keep(Entry::join(model, (left, *l), (right, *r)));
            }
        }
        if least.exists() {
            best.insert(set, least);
        }
    }
    best
}

/// A graph of `count` members: a tree of edges, some more edges, some hyperedges, some members that
/// wait for others.
fn drawn(count: usize, seed: &mut u64) -> (Graph, Drawn) {
    let mut graph = Graph::new(count);
    let mut needs = vec![Members::default(); count];
    for (member, waits) in needs.iter_mut().enumerate().skip(1) {
        let other = draw(seed) as usize % member;
        match draw(seed) % 6 {
            // Left to be connected by something else, or by a product.
            0 => {}
            1 => {
                *waits = Members::one(other).union(Members::one(draw(seed) as usize % member));
                graph.connect(*waits, Members::one(member));
            }
            2 if member > 1 => {
                let second = (other + 1) % member;
                let ends = Members::one(other).union(Members::one(second));
                graph.connect(ends, Members::one(member));
            }
            _ => graph.connect(Members::one(other), Members::one(member)),
        }
        if draw(seed).is_multiple_of(3) {
            let more = draw(seed) as usize % member;
            graph.connect(Members::one(more), Members::one(member));
        }
    }
    graph.connect_parts();
    let rows = (0..1 << count).map(|_| (draw(seed) % 1000) as f64 + 1.0).collect();
    (graph, Drawn { rows, needs })
}

#[test]
fn the_cheapest_tree_is_found() {
    let mut seed = 7;
    let mut planned = 0;
    for round in 0..600 {
        let count = 2 + round % 6;
        let (graph, model) = drawn(count, &mut seed);
        let all = Members::first_of(count);
        let least = by_all_splits(&graph, &model);
        let found = enumerate(&graph, &model, usize::MAX);
        let least = least.get(&all).map(|entry| entry.all.cost);
        let found = found.map(|table| table[all.index()].all.cost);
        assert_eq!(found, least, "round {round}: {graph:?}");
        planned += usize::from(found.is_some());
    }
    assert!(planned > 500, "most graphs have a tree: {planned}");
}

#[test]
fn greedy_order_joins_all_members() {
    let mut seed = 11;
    for round in 0..200 {
        let count = 2 + round % 8;
        let (graph, model) = drawn(count, &mut seed);
        let all = Members::first_of(count);
        let table = greedy::order(&graph, &model, &|set| model.rows[set.index()]);
        let cost = table.and_then(|table| table.get(&all).map(|entry| entry.all.cost));
        let Some(cost) = cost else { panic!("round {round}: no order of {graph:?}") };
        assert!(cost.is_finite());
    }
}

#[test]
fn pairs_beyond_the_budget_end_the_search() {
    let mut graph = Graph::new(3);
    graph.connect(Members::one(0), Members::one(1));
    graph.connect(Members::one(1), Members::one(2));
    let model = Drawn { rows: vec![1.0; 8], needs: vec![Members::default(); 3] };
    assert!(enumerate(&graph, &model, 3).is_none(), "0-1, 1-2, 0-12, 01-2");
    assert!(enumerate(&graph, &model, 4).is_some());
}

#[test]
fn products_are_formed_between_whole_parts() {
    let mut graph = Graph::new(4);
    graph.connect(Members::one(0), Members::one(1));
    graph.connect(Members::one(2), Members::one(3));
    graph.connect_parts();
    let both = |a: usize, b: usize| Members::one(a).union(Members::one(b));
    assert!(graph.connects(both(0, 1), both(2, 3)));
    assert!(!graph.connects(Members::one(0), both(2, 3)));
    assert!(!graph.connects(Members::one(1), Members::one(2)));
}

#[test]
fn a_product_of_many_parts_grows_by_one_part_at_a_time() {
    let mut seed = 5;
    let mut graph = Graph::new(8);
    graph.connect(Members::one(6), Members::one(7));
    graph.connect_parts();
    let rows = (0..1 << 8).map(|_| (draw(&mut seed) % 1000) as f64 + 1.0).collect();
    let model = Drawn { rows, needs: vec![Members::default(); 8] };
    let all = Members::first_of(8);
    let enumerated = enumerate(&graph, &model, usize::MAX).unwrap();
    let greedy = greedy::order(&graph, &model, &|set| model.rows[set.index()]).unwrap();
    let ways: [&dyn Fn(Members) -> Entry; 2] =
        [&|set| enumerated[set.index()], &|set| greedy[&set]];
    for find in ways {
        let mut rest = vec![all];
        while let Some(set) = rest.pop() {
            let Some((left, right, _)) = find(set).all.split else { continue };
            assert!(!(graph.is_product(left) && graph.is_product(right)), "{left:?} x {right:?}");
            rest.extend([left, right]);
        }
    }
}
