//! The buffer pool: pages in memory, their latches and versions, eviction and writing back.

use crate::page::{PageBuf, PageBytes, PageRead};
use std::cmp::Ordering;
use std::marker::PhantomData;
use std::ops::Deref;

/// An optimistic read met a writer: what was read may be garbage, begin again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Restart;

/// A state of a page, to ask later whether the page is still in it. Not kept across a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageVersion(u64);

/// A racing read of a page: nothing is locked, every value is a guess until validated.
#[derive(Clone, Copy)]
pub(crate) struct OptimisticPage<'s>(PhantomData<&'s ()>);

impl OptimisticPage<'_> {
    /// Whether everything read so far was one consistent state of the page.
    pub(crate) fn validate(&self) -> Result<(), Restart> {
        todo!()
    }

    /// The state being read.
    pub(crate) fn version(&self) -> PageVersion {
        todo!()
    }

    /// Copies the whole page; valid only if a later `validate` succeeds.
    pub(crate) fn copy_page(&self, _out: &mut PageBuf) {
        todo!()
    }
}

impl PageRead for OptimisticPage<'_> {
    fn u8_at(&self, _offset: usize) -> u8 {
        todo!()
    }
    fn u16_at(&self, _offset: usize) -> u16 {
        todo!()
    }
    fn u32_at(&self, _offset: usize) -> u32 {
        todo!()
    }
    fn u64_at(&self, _offset: usize) -> u64 {
        todo!()
    }
    fn copy_out(&self, _offset: usize, _out: &mut [u8]) {
        todo!()
    }
    fn compare(&self, _offset: usize, _len: usize, _key: &[u8]) -> Ordering {
        todo!()
    }
}

/// A page under a shared latch.
pub(crate) struct SharedPage<'s>(PhantomData<&'s ()>);

impl SharedPage<'_> {
    /// The state being read.
    pub(crate) fn version(&self) -> PageVersion {
        todo!()
    }
}

impl Deref for SharedPage<'_> {
    type Target = PageBytes;

    fn deref(&self) -> &PageBytes {
        todo!()
    }
}
