//! ORDER BY of derived tables that says nothing.
//!
//! Rows of a derived table without LIMIT come in its order only where the SELECT around it gives
//! them on as they come: from this member alone, without groups or an order of its own. User
//! variables may count rows as they come, so that the order stays beside them.

use super::super::QueryBinder;
use super::super::select::Clauses;
use super::BoundBlock;
use super::push::note;
use crate::optimize::FromTree;

/// Whether a SELECT's rows come in another order than its FROM's, or in none.
fn has_own_order(tree: &FromTree, clauses: &Clauses) -> bool {
    let joins = matches!(tree, FromTree::Join(_));
    let groups = !clauses.group.is_empty() || !clauses.aggregates.is_empty();
    (joins || groups || clauses.sorts()) && clauses.is_stable()
}

impl QueryBinder<'_> {
    /// Drops the orders of a SELECT's derived tables where its own rows do not show them.
    pub(super) fn drop_orders(
        &mut self,
        tree: &FromTree,
        clauses: &Clauses,
        changed: &mut Vec<usize>,
    ) {
        if has_own_order(tree, clauses) {
            self.drop_orders_in(tree, changed);
        }
    }

    fn drop_orders_in(&mut self, tree: &FromTree, changed: &mut Vec<usize>) {
        match tree {
            FromTree::Leaf(leaf) => {
                let Some(id) = self.block_of(leaf) else { return };
                match self.blocks.get_mut(&id) {
                    Some(BoundBlock::Select(select)) if select.clauses.sorts() => {
                        select.clauses.drop_order();
                        note(changed, id, true);
                    }
                    Some(BoundBlock::Set(_)) => {
                        if let Some(subplan) = &mut self.subplans[id] {
                            subplan.query.order.clear();
                            subplan.query.computed.clear();
                        }
                    }
                    Some(BoundBlock::Select(_)) | None => {}
                }
            }
            FromTree::Join(join) => {
                self.drop_orders_in(&join.left, changed);
                self.drop_orders_in(&join.right, changed);
            }
        }
    }
}
