//! Every function with arguments of every type.

use super::shapes::{AGGREGATES, FUNCTIONS};
use super::values::fill;
use super::{Step, Steps};
use inia_testkit::Random;

/// What a shape is about: its name, or the operator.
pub(super) fn subject(shape: &str) -> String {
    match shape.split_once('(') {
        Some((name, _)) if !name.is_empty() && !name.contains('{') => name.to_owned(),
        _ => shape.to_owned(),
    }
}

/// One function, or one function of another.
pub(super) fn draw(random: &mut Random) -> Steps {
    if random.chance(1, 8) {
        let shape = *random.pick(AGGREGATES);
        let sql = format!("SELECT {} AS x FROM v", fill(random, shape));
        return vec![Step { subject: subject(shape), sql }];
    }
    let shape = *random.pick(FUNCTIONS);
    let sql = format!("SELECT id, {} AS x FROM v ORDER BY id", fill(random, shape));
    vec![Step { subject: subject(shape), sql }]
}
