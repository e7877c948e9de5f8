//! FromNames of select items that are all different.

use crate::catalog::{MAX_NAME, same_name};
use inia_parser::ast::SelectItem;

/// Gives names of their own to `computed` items that are called as another one: the second of two
/// `a + 1` becomes `Name_exp_a + 1`, a third one `Name_exp_1_a + 1`.
pub(super) fn give_distinct_names(items: &mut [SelectItem], computed: &[bool]) {
    fn slot(item: &mut SelectItem) -> Option<&mut String> {
        match item {
            SelectItem::Expr { alias, .. } => alias.as_mut(),
            _ => None,
        }
    }
    let mut names: Vec<String> =
        items.iter_mut().map(|item| slot(item).cloned().unwrap_or_default()).collect();
    let first = names.clone();
    for at in 1..names.len() {
        for before in 0..at {
            if !same_name(&names[at], &names[before]) {
                continue;
            }
            let Some(target) = [at, before].into_iter().find(|item| computed[*item]) else {
                continue;
            };
            let base = &first[target];
            let tries = (0..).map(|attempt| match attempt {
                0 => format!("Name_exp_{base}"),
                _ => format!("Name_exp_{attempt}_{base}"),
            });
            let mut tries = tries.map(|name| name.chars().take(MAX_NAME).collect::<String>());
            let free = |name: &String| !names[..=at].iter().any(|other| same_name(other, name));
            names[target] = tries.find(free).unwrap_or_default();
        }
    }
    for (item, name) in items.iter_mut().zip(names) {
        if let Some(slot) = slot(item) {
            *slot = name;
        }
    }
}
