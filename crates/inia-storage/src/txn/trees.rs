//! Trees at run time: what a tree's id leads to while the engine is open.

use super::counter::Counter;
use crate::btree::BTree;
use crate::lock::Gaps;
use crate::sync::{AtomicU64, Ordering, RwLock};
use inia_base::ids::{PageId, TreeId, TxnId};
use std::collections::HashMap;
use std::sync::Arc;

/// A tree's runtime handle; cheap to clone.
#[derive(Clone)]
pub struct Tree {
    shared: Arc<Shared>,
}

struct Shared {
    btree: BTree,
    gaps: Arc<Gaps>,
    /// The transaction that made the tree since the engine was opened; 0 when it is older,
    /// [`NEWEST`] when snapshots do not matter.
    made_by: AtomicU64,
    counter: Counter,
    /// Which engine it is in.
    home: Arc<()>,
}

const NEWEST: u64 = u64::MAX;

impl Tree {
    fn new(id: TreeId, home: Arc<()>) -> Tree {
        let (btree, made_by) = (BTree::open(PageId(id.0)), AtomicU64::new(0));
        let (gaps, counter) = (Arc::default(), Counter::default());
        let shared = Shared { btree, gaps, made_by, counter, home };
        Tree { shared: Arc::new(shared) }
    }

    /// The tree's durable name.
    pub fn id(&self) -> TreeId {
        self.shared.btree.id()
    }

    /// Snapshots show the newest versions of the tree's records, of all writers, and whenever
    /// the tree was made: for trees that only one session uses.
    pub fn show_newest(&self) {
        self.shared.made_by.store(NEWEST, Ordering::Relaxed);
    }

    /// Whether snapshots do not matter.
    #[inline]
    pub(crate) fn shows_newest(&self) -> bool {
        self.shared.made_by.load(Ordering::Relaxed) == NEWEST
    }

    /// Who has made the tree, if a snapshot may be older than that.
    #[inline]
    pub(crate) fn made_by(&self) -> Option<TxnId> {
        match self.shared.made_by.load(Ordering::Relaxed) {
            0 | NEWEST => None,
            txn => Some(TxnId(txn)),
        }
    }

    pub(crate) fn set_made_by(&self, txn: TxnId) {
        self.shared.made_by.store(txn.0, Ordering::Relaxed);
    }

    /// The counter that numbers the tree's records.
    #[inline]
    pub fn counter(&self) -> &Counter {
        &self.shared.counter
    }

    #[inline]
    pub(crate) fn btree(&self) -> &BTree {
        &self.shared.btree
    }

    pub(crate) fn gaps(&self) -> &Arc<Gaps> {
        &self.shared.gaps
    }
}

/// All trees that somebody asked for since the engine was opened.
#[derive(Default)]
pub(crate) struct Trees {
    known: RwLock<HashMap<TreeId, Tree>>,
    /// Identifies the engine: trees of two engines may have the same number.
    home: Arc<()>,
}

impl Trees {
    /// Whether a tree is in this engine; in another one its number means something else.
    #[inline]
    pub(crate) fn has(&self, tree: &Tree) -> bool {
        Arc::ptr_eq(&tree.shared.home, &self.home)
    }

    /// The one handle of the tree with this id.
    pub(crate) fn get(&self, id: TreeId) -> Tree {
        if let Some(tree) = self.known.read().get(&id) {
            return tree.clone();
        }
        self.known.write().entry(id).or_insert_with(|| Tree::new(id, self.home.clone())).clone()
    }

    /// Lets go of a tree whose pages are free.
    pub(crate) fn forget(&self, id: TreeId) {
        self.known.write().remove(&id);
    }
}
