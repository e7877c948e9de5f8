//! Which columns others determine, in the rows of a SELECT.
//!
//! A unique key without NULLs determines all columns of its table; `a = b` in WHERE or in an inner
//! join makes each of them determine the other, and `a = 5` leaves one value. In the rows that a
//! left join completes with NULL, the NULL of the key determines the others.
//!
//! Example: in `FROM o JOIN c ON c.id = o.c`, where `o.id` and `c.id` are keys, `o.id` determines
//! `o.c`, that `c.id`, and that all of `c`: rows that agree on `o.id` are one row.

use crate::access::is_stable;
use crate::optimize::{FromTree, Leaf, LeafKind, is_natural};
use crate::plan::JoinType;
use inia_expr::{CmpOp, Expr, ExprKind, SlotSet};
use std::ops::Range;

/// The dependencies among the slots of a FROM.
#[derive(Default)]
pub(super) struct Dependencies {
    /// Columns that are equal in all rows.
    equal: Vec<(usize, usize)>,
    /// Columns that have one value.
    constant: SlotSet,
    /// The slots of keys, and those of their tables.
    keys: Vec<(Vec<usize>, Range<usize>)>,
    /// The slots of the members whose rows come out.
    members: Vec<Range<usize>>,
}

impl Dependencies {
    /// Those in the rows of a tree for which the conditions hold.
    pub(super) fn of(tree: &FromTree, conditions: &[Expr]) -> Dependencies {
        let mut found = Dependencies::default();
        conditions.iter().for_each(|condition| found.add(condition));
        found.visit(tree, true);
        found
    }

    /// `always` where each row of the whole has a row of this part.
    fn visit(&mut self, tree: &FromTree, always: bool) {
        match tree {
            FromTree::Leaf(leaf) => {
                self.members.push(leaf.slots.clone());
                self.add_keys(leaf);
            }
            FromTree::Join(join) => {
                self.visit(&join.left, always);
                if join.kind.gives_right() {
                    self.visit(&join.right, always && join.kind == JoinType::Inner);
                }
                if always && join.kind == JoinType::Inner {
                    join.on.iter().for_each(|condition| self.add(condition));
                }
            }
        }
    }

    fn add_keys(&mut self, leaf: &Leaf) {
        let LeafKind::Table { table, .. } = &leaf.kind else { return };
        // Several children of a merged table may have a key.
        if table.def.is_merged() {
            return;
        }
        for index in table.def.indexes.iter().filter(|index| index.unique()) {
            let whole = index
                .parts
                .iter()
                .all(|part| part.prefix.is_none() && !table.def.columns[part.column].nullable);
            if whole {
                let parts = index.parts.iter().map(|part| leaf.slots.start + part.column);
                self.keys.push((parts.collect(), leaf.slots.clone()));
            }
        }
    }

    fn add(&mut self, condition: &Expr) {
        let ExprKind::Compare(compare) = &condition.kind else { return };
        if compare.op != CmpOp::Eq {
            return;
        }
        let column = |expr: &Expr| match expr.kind {
            ExprKind::Column { index, .. } if is_natural(expr, &compare.class) => Some(index),
            _ => None,
        };
        let constant = |expr: &Expr| expr.is_constant_in_statement() && is_stable(expr);
        match (column(&compare.left), column(&compare.right)) {
            (Some(a), Some(b)) => self.equal.push((a, b)),
            (Some(a), None) if constant(&compare.right) => self.constant.insert(a),
            (None, Some(b)) if constant(&compare.left) => self.constant.insert(b),
            _ => {}
        }
    }

    /// The slots that the given ones determine, themselves included.
    pub(super) fn determined_by(&self, given: impl IntoIterator<Item = usize>) -> SlotSet {
        let mut known = self.constant.clone();
        given.into_iter().for_each(|slot| known.insert(slot));
        loop {
            let before = known.clone();
            for &(a, b) in &self.equal {
                if known.contains(a) || known.contains(b) {
                    known.insert(a);
                    known.insert(b);
                }
            }
            for (key, table) in &self.keys {
                if key.iter().all(|slot| known.contains(*slot)) {
                    known = known.union(&SlotSet::of_range(table.clone()));
                }
            }
            if known == before {
                return known;
            }
        }
    }

    /// Whether rows that agree on the slots are one row: those determine a key of each member.
    pub(super) fn determine_rows(&self, given: impl IntoIterator<Item = usize>) -> bool {
        let known = self.determined_by(given);
        let has_key = |member: &Range<usize>| {
            let mut own = self.keys.iter().filter(|(_, table)| table == member);
            own.any(|(key, _)| key.iter().all(|slot| known.contains(*slot)))
        };
        self.members.iter().all(has_key)
    }
}
