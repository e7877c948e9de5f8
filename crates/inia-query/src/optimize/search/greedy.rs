//! Greedy operator ordering (Fegaras 1998), for groups that are too large to be enumerated.
//!
//! All members begin as sets of their own. In each step the two connected sets are joined whose
//! join has the fewest rows, the cheaper one on a tie; where nothing connects any two sets a
//! product is formed.

use super::enumerate::{Entry, Model};
use super::graph::Graph;
use super::members::Members;
use std::collections::HashMap;

/// How the sets on the way to all members are joined; `None` where constraints contradict.
pub(super) fn order(
    graph: &Graph,
    model: &dyn Model,
    rows: &dyn Fn(Members) -> f64,
) -> Option<HashMap<Members, Entry>> {
    let mut table: HashMap<Members, Entry> =
        (0..graph.len()).map(|member| (Members::one(member), Entry::leaf(model, member))).collect();
    let mut sets: Vec<Members> = (0..graph.len()).map(Members::one).collect();
    // Pairs stay as they are while other sets are joined.
    let mut known: HashMap<(Members, Members), Option<(f64, Entry)>> = HashMap::new();
    while sets.len() > 1 {
        let product = sets.iter().copied().find(|set| graph.is_product(*set));
        let mut best: Option<(Members, Members, (bool, f64, f64), Entry)> = None;
        for (at, &a) in sets.iter().enumerate() {
            for &b in &sets[at + 1..] {
                // A product grows by one part at a time: none is ever a hash table beside another.
                let grows = product.is_none_or(|product| product == a || product == b);
                if graph.is_product(a.union(b)) && !grows {
                    continue;
                }
                let pair = known.entry((a, b)).or_insert_with(|| {
                    let joined = Entry::join(model, (a, table[&a]), (b, table[&b]));
                    joined.all.cost.is_finite().then(|| (rows(a.union(b)), joined))
                });
                let Some((rows, joined)) = pair else { continue };
                let rank = (!graph.connects(a, b), *rows, joined.all.cost);
                if best.is_none_or(|(_, _, least, _)| rank < least) {
                    best = Some((a, b, rank, *joined));
                }
            }
        }
        let (a, b, _, joined) = best?;
        sets.retain(|set| *set != a && *set != b);
        sets.push(a.union(b));
        table.insert(a.union(b), joined);
    }
    Some(table)
}
