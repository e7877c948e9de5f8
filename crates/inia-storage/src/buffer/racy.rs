//! Fields of a racing page, put together from atomic reads of aligned words.

use super::frame::OptimisticPage;
use crate::page::{PAGE_SIZE, PageRead};

impl OptimisticPage<'_> {
    /// `width` bytes at any offset, as the low bytes of a word.
    #[inline]
    fn field(&self, offset: usize, width: usize) -> u64 {
        let offset = offset.min(PAGE_SIZE - width);
        let skip = offset % 8;
        let low = self.word(offset) >> (8 * skip);
        if skip + width <= 8 {
            low
        } else {
            low | (self.word(offset + 8 - skip) << (64 - 8 * skip))
        }
    }
}

impl PageRead for OptimisticPage<'_> {
    #[inline]
    fn u8_at(&self, offset: usize) -> u8 {
        self.field(offset, 1) as u8
    }

    #[inline]
    fn u16_at(&self, offset: usize) -> u16 {
        self.field(offset, 2) as u16
    }

    #[inline]
    fn u32_at(&self, offset: usize) -> u32 {
        self.field(offset, 4) as u32
    }

    #[inline]
    fn u64_at(&self, offset: usize) -> u64 {
        self.field(offset, 8)
    }

    #[inline]
    fn copy_out(&self, offset: usize, out: &mut [u8]) {
        let offset = offset.min(PAGE_SIZE);
        let len = out.len().min(PAGE_SIZE - offset);
        self.copy_bytes(offset, &mut out[..len]);
    }

    #[inline]
    fn ask_for(&self, offset: usize) {
        self.prefetch(offset);
    }
}
