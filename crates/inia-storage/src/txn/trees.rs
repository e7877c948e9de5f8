//! Trees at run time: what a tree's id leads to while the engine is open.

use crate::btree::BTree;
use crate::lock::Gaps;
use crate::sync::RwLock;
use inia_base::ids::{PageId, TreeId};
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
}

impl Tree {
    fn new(id: TreeId) -> Tree {
        let shared = Shared { btree: BTree::open(PageId(id.0)), gaps: Arc::default() };
        Tree { shared: Arc::new(shared) }
    }

    /// The tree's durable name.
    pub fn id(&self) -> TreeId {
        self.shared.btree.id()
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
}

impl Trees {
    /// The one handle of the tree with this id.
    pub(crate) fn get(&self, id: TreeId) -> Tree {
        if let Some(tree) = self.known.read().get(&id) {
            return tree.clone();
        }
        self.known.write().entry(id).or_insert_with(|| Tree::new(id)).clone()
    }

    /// Lets go of a tree whose pages are free.
    pub(crate) fn forget(&self, id: TreeId) {
        self.known.write().remove(&id);
    }
}
