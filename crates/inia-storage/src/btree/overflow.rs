//! Payloads too long for a leaf: chains of overflow pages.
//!
//! ```text
//!   leaf record: key │ header │ first page, length        page 91              page 92
//!                               └────────────────────▶ next=92 │ data ──▶ next=0 │ data
//! ```
//!
//! A chain belongs to one record and is never changed, only written and freed, always in the
//! mini-transaction that changes the record. So a reader that has read a chain, and finds the leaf
//! unchanged afterwards, has read the right bytes.

use super::BTree;
use crate::error::StorageError;
use crate::node::{
    OVERFLOW_CAPACITY, OVERFLOW_DATA, OVERFLOW_LEN, OVERFLOW_NEXT, OVERFLOW_PAGE, OverflowRef,
    PAGE_TYPE, TREE, chain_pages,
};
use crate::ops::PageOp;
use crate::ops::node::NodeOp;
use crate::page::PageRead;
use crate::store::{Latched, Mtr, Store};
use crate::{Result, btree::MAX_PAYLOAD};
use inia_base::ids::PageId;

/// What is wrong with a chain's page, if anything.
fn check_page(page: &impl PageRead, root: PageId, expected: usize) -> Option<&'static str> {
    if page.u8_at(PAGE_TYPE) != OVERFLOW_PAGE || page.u32_at(TREE) != root.0 {
        return Some("not an overflow page of this tree");
    }
    let right_length = usize::from(page.u16_at(OVERFLOW_LEN)) == expected;
    (!right_length).then_some("overflow page of a wrong length")
}

impl BTree {
    /// Takes free pages for a payload of `len` bytes, appending them to `chain`. Nothing is changed
    /// yet; after an error those in `chain` are given back by dropping the mini-transaction.
    pub(super) fn allocate_chain(
        &self,
        mtr: &mut Mtr<'_>,
        near: PageId,
        len: usize,
        chain: &mut Vec<Latched>,
    ) -> Result<()> {
        if len > MAX_PAYLOAD {
            return Err(StorageError::TooLarge);
        }
        for _ in 0..chain_pages(len) {
            let near = chain.last().map_or(near, |page| mtr.id(*page));
            chain.push(mtr.allocate(near, OVERFLOW_PAGE)?);
        }
        Ok(())
    }

    /// Writes `payload` to the pages taken for it.
    pub(super) fn write_chain(
        &self,
        mtr: &mut Mtr<'_>,
        chain: &[Latched],
        payload: &[u8],
    ) -> OverflowRef {
        assert_eq!(chain.len(), chain_pages(payload.len()), "a chain has the pages it needs");
        for (i, data) in payload.chunks(OVERFLOW_CAPACITY).enumerate() {
            let next = chain.get(i + 1).map(|page| mtr.id(*page));
            let op = NodeOp::Overflow { tree: self.root, next, data };
            mtr.apply(chain[i], &PageOp::Node(op));
        }
        let first = chain.first().map_or(PageId(0), |page| mtr.id(*page));
        OverflowRef { first, len: payload.len() as u32 }
    }

    /// Latches a chain's pages, to free them. After an error none is latched.
    pub(super) fn latch_chain(&self, mtr: &mut Mtr<'_>, at: OverflowRef) -> Result<Vec<Latched>> {
        let mut chain = Vec::new();
        let latched = self.latch_pages(mtr, at, &mut chain);
        if latched.is_err() {
            for page in chain.drain(..) {
                mtr.unlatch(page);
            }
        }
        latched.map(|()| chain)
    }

    fn latch_pages(
        &self,
        mtr: &mut Mtr<'_>,
        at: OverflowRef,
        chain: &mut Vec<Latched>,
    ) -> Result<()> {
        let mut id = at.first;
        let mut left = at.len as usize;
        if left > MAX_PAYLOAD {
            return Err(StorageError::Corrupt(id, "overflow chain of a senseless length"));
        }
        while left > 0 {
            let page = mtr.latch(id)?;
            chain.push(page);
            let len = left.min(OVERFLOW_CAPACITY);
            if let Some(what) = check_page(mtr.page(page), self.root, len) {
                return Err(StorageError::Corrupt(id, what));
            }
            left -= len;
            id = PageId(mtr.page(page).u32_at(OVERFLOW_NEXT));
        }
        Ok(())
    }

    /// Appends a chain's payload to `out`. The caller makes sure, by a latch or by validating the
    /// leaf afterwards, that the chain was there all the time; an error may mean that it was not.
    pub(super) fn read_chain(
        &self,
        store: &Store,
        at: OverflowRef,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.walk_chain(store, at, |_, data| out.extend_from_slice(data))
    }

    /// The pages of a chain, after checking them.
    pub(super) fn chain_pages(&self, store: &Store, at: OverflowRef) -> Result<Vec<PageId>> {
        let mut pages = Vec::new();
        self.walk_chain(store, at, |id, _| pages.push(id))?;
        Ok(pages)
    }

    fn walk_chain(
        &self,
        store: &Store,
        at: OverflowRef,
        mut visit: impl FnMut(PageId, &[u8]),
    ) -> Result<()> {
        let mut id = at.first;
        let mut left = at.len as usize;
        if left > MAX_PAYLOAD {
            return Err(StorageError::Corrupt(id, "overflow chain of a senseless length"));
        }
        while left > 0 {
            let len = left.min(OVERFLOW_CAPACITY);
            let page = store.shared(id)?;
            if let Some(what) = check_page(&*page, self.root, len) {
                return Err(StorageError::Corrupt(id, what));
            }
            visit(id, &page[OVERFLOW_DATA..OVERFLOW_DATA + len]);
            left -= len;
            id = PageId(page.u32_at(OVERFLOW_NEXT));
        }
        Ok(())
    }
}
