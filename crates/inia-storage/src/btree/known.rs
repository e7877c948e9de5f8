//! Leaves that the caller of a scan knows, and how a scan goes past them.
//!
//! A caller may keep the rows of leaves that it has read. What it keeps of a leaf holds while the
//! leaf's page is in the same state, so leaves that follow one another are passed by looking at
//! nothing but their words in the page table, which lie side by side:
//!
//! ```text
//!   known        page 812, version 7  →  page 813, version 9  →  page 820, version 2
//!   page table   812: version 7          813: version 9          820: version 3
//!                └──────── passed ─────────────────────┘         changed: is read
//! ```

use super::BTree;
use super::leaf::{LeafCopy, LeafState};
use crate::buffer::PageVersion;
use crate::store::Store;
use crate::sync::{AtomicU32, Ordering};
use inia_base::ids::{PageId, TxnId};

/// A leaf whose records are known, in one state of its page.
#[derive(Debug)]
pub struct KnownLeaf {
    state: LeafState,
    /// The leaf after it.
    next: Option<PageId>,
    /// No record was written by a transaction with a greater id.
    newest: TxnId,
    /// The page's version in the page table; another one once the page comes back from the disk.
    version: AtomicU32,
}

/// What the caller of a scan knows of leaves.
pub trait KnownLeaves {
    /// Leaves that are known, the first of them on this page, each one behind the one before;
    /// none where that page is not known. Some may have changed.
    fn leaves_from(&mut self, page: PageId) -> &[KnownLeaf];
}

impl KnownLeaf {
    /// A leaf in this state, without records marked as deleted: the one after it, and the greatest
    /// id of a transaction that wrote one of its records.
    pub fn in_state(state: LeafState, next: Option<PageId>, newest: TxnId) -> KnownLeaf {
        KnownLeaf { state, next, newest, version: AtomicU32::new(0) }
    }

    /// A leaf that was copied; `None` where it has records marked as deleted.
    pub(crate) fn of(leaf: &LeafCopy) -> Option<KnownLeaf> {
        let (_, version) = leaf.page_state()?;
        if leaf.has_delete_marks() {
            return None;
        }
        let known = KnownLeaf::in_state(leaf.state(), leaf.right(), leaf.max_txn_id());
        known.version.store(version.word(), Ordering::Relaxed);
        Some(known)
    }

    /// The state in which it is known.
    pub fn state(&self) -> LeafState {
        self.state
    }

    /// The leaf after it.
    pub fn next(&self) -> Option<PageId> {
        self.next
    }

    /// The transaction with the greatest id that wrote one of the records.
    pub(crate) fn newest(&self) -> TxnId {
        self.newest
    }

    /// Whether the page is still in the state that is known. A page that is not in memory is read.
    pub(crate) fn is_current(&self, store: &Store) -> bool {
        let word = self.version.load(Ordering::Relaxed);
        let version = PageVersion::of(word, self.state.lsn);
        match store.version_now(self.state.page, version) {
            Some(now) if now == version => true,
            Some(now) => {
                self.version.store(now.word(), Ordering::Relaxed);
                true
            }
            None => false,
        }
    }
}

impl Clone for KnownLeaf {
    fn clone(&self) -> KnownLeaf {
        let version = AtomicU32::new(self.version.load(Ordering::Relaxed));
        KnownLeaf { version, ..*self }
    }
}

impl BTree {
    /// How many of these leaves, which begin with the one behind `leaf`, follow it as they are
    /// known.
    pub(crate) fn current_leaves(
        &self,
        store: &Store,
        leaf: &LeafCopy,
        known: &[KnownLeaf],
    ) -> usize {
        let current = known.iter().take_while(|leaf| leaf.is_current(store)).count();
        // A leaf has been in the tree since it was known if the one before it has not changed: it
        // still names it. So each but the last is looked at again.
        if current == 0 || !leaf.is_current(store) {
            return 0;
        }
        let before_last = &known[..current - 1];
        1 + before_last.iter().take_while(|leaf| leaf.is_current(store)).count()
    }

    /// Replaces the copy by header and fences of a leaf that is known; false, with nothing in the
    /// copy, where the page has changed.
    pub(crate) fn outline_of(&self, store: &Store, known: &KnownLeaf, leaf: &mut LeafCopy) -> bool {
        let page = known.state.page;
        let Ok(read) = store.optimistic_scan(page) else { return false };
        leaf.copy_outline(&read);
        let is_known = leaf.state() == known.state;
        if read.validate().is_err() || !is_known {
            return false;
        }
        leaf.keep(page, read.version());
        true
    }
}
