//! Sort keys that MySQL adds to ORDER BY, which decide among rows that ORDER BY leaves equal.
//!
//! - `SELECT DISTINCT a, b FROM t ORDER BY b` of one table is sorted by `b, a`.
//! - `GROUP BY a, b ORDER BY a` is sorted by `a, b`, as ORDER BY begins the list of groups.
//!
//! Both for small tables, whose rows come in MySQL's order elsewhere, too.

use super::Clauses;
use crate::optimize::{FromTree, LeafKind};
use crate::plan::SortKey;
use inia_expr::Expr;
use inia_expr::bind::sort_key;

impl Clauses {
    /// Adds the keys; `distinct` says whether rows must be made distinct.
    pub(super) fn complete_order(&mut self, tree: Option<&FromTree>, distinct: bool, rollup: bool) {
        let Some(tree) = tree.filter(|tree| is_small(tree)) else { return };
        if self.order.is_empty() || !self.windows.is_empty() {
            return;
        }
        let more: Vec<Expr> = match self.group.is_empty() && self.aggregates.is_empty() {
            true if distinct && matches!(tree, FromTree::Leaf(_)) => {
                self.items.iter().map(|item| item.expr.clone()).collect()
            }
            false if !rollup && self.begins_with_order() => self.group.clone(),
            _ => return,
        };
        for expr in more {
            let known = self.order.iter().any(|key| self.sorted(key).same(&expr));
            if !known && !expr.is_constant_in_statement() {
                self.sort_by(expr);
            }
        }
    }

    /// Whether the keys of ORDER BY are the first ones of GROUP BY.
    fn begins_with_order(&self) -> bool {
        let same = |(key, group): (&SortKey, &Expr)| self.sorted(key).same(group);
        self.order.len() < self.group.len() && self.order.iter().zip(&self.group).all(same)
    }

    fn sorted(&self, key: &SortKey) -> &Expr {
        match key.index.checked_sub(self.items.len()) {
            Some(hidden) => &self.hidden[hidden],
            None => &self.items[key.index].expr,
        }
    }

    fn sort_by(&mut self, expr: Expr) {
        let sorted = sort_key(expr.clone());
        let ty = sorted.ty.clone();
        let item = self.items.iter().position(|item| item.expr.same(&sorted));
        let index = item.unwrap_or(self.items.len() + self.hidden.len());
        if item.is_none() {
            self.hidden.push(sorted);
        }
        self.order.push(SortKey { index, ty, descending: false });
    }
}

/// Whether all tables have few rows.
fn is_small(tree: &FromTree) -> bool {
    match tree {
        FromTree::Leaf(leaf) => match &leaf.kind {
            LeafKind::Table { table, .. } => table.is_small(),
            _ => true,
        },
        FromTree::Join(join) => is_small(&join.left) && is_small(&join.right),
    }
}
