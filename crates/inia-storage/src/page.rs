//! Pages: their size, common header and checksum, and the operations that change them.
//!
//! ```text
//!  0        4        8                 16   17                32
//!  +--------+--------+-----------------+----+-----------------+---------------------
//!  | crc32c | id     | lsn             |type| owned by type   | body, owned by type
//!  +--------+--------+-----------------+----+-----------------+---------------------
//! ```
//! All integers are little-endian. The checksum covers bytes 4 to the end; it is filled in when a
//! page is written and means nothing in memory. `lsn` is the end of the log group that changed the
//! page last. Every change of a page goes through [`PageOp::apply`](crate::ops::PageOp::apply).

pub(crate) mod file;

#[cfg(test)]
mod tests;

use inia_base::ids::{Lsn, PageId};

/// Bytes of a line of the processor's cache.
pub(crate) const CACHE_LINE: usize = 64;

/// Bytes in a page.
pub(crate) const PAGE_SIZE: usize = 16 * 1024;
/// Bytes of the common header; what follows byte 17 belongs to the page's type.
pub(crate) const PAGE_HEADER: usize = 32;
/// A page's bytes.
pub(crate) type PageBytes = [u8; PAGE_SIZE];

const CRC: usize = 0;
const ID: usize = 4;
const LSN: usize = 8;
const TYPE: usize = 16;

const _: () = assert!(PAGE_SIZE.is_power_of_two() && PAGE_SIZE <= 32 * 1024);

/// What a page holds: byte 16. Node code adds its own from 16 on.
pub(crate) mod page_type {
    /// The file header, page 0.
    pub(crate) const FILE_HEADER: u8 = 1;
    /// A bitmap of allocated pages.
    pub(crate) const SPACE_MAP: u8 = 2;
    /// A page that was freed and not used again since.
    pub(crate) const FREE: u8 = 3;
    /// First number that tree pages may use.
    pub(crate) const FIRST_TREE_TYPE: u8 = 16;
}

/// A private copy of a page, on the heap and aligned for direct I/O.
#[repr(C, align(4096))]
pub(crate) struct PageBuf {
    /// The bytes.
    pub(crate) bytes: PageBytes,
}

impl PageBuf {
    /// A page of zeros on the heap.
    pub(crate) fn new() -> Box<PageBuf> {
        Box::new(PageBuf { bytes: [0; PAGE_SIZE] })
    }
}

/// Reads of fixed-width fields that work on latched pages and on racing ones alike.
///
/// Offsets are clamped into the page, so that garbage read during a race cannot fault or panic.
/// Integers are little-endian. On a racing page every value is a guess until validated.
pub(crate) trait PageRead {
    /// One byte.
    fn u8_at(&self, offset: usize) -> u8;
    /// Two bytes.
    fn u16_at(&self, offset: usize) -> u16;
    /// Four bytes.
    fn u32_at(&self, offset: usize) -> u32;
    /// Eight bytes.
    fn u64_at(&self, offset: usize) -> u64;
    /// Copies bytes from `offset` on; what would lie past the page's end is left as it was.
    fn copy_out(&self, offset: usize, out: &mut [u8]);
    /// Asks for the memory around `offset`, which will be read soon.
    #[inline]
    fn ask_for(&self, _offset: usize) {}
}

macro_rules! read_field {
    ($page:expr, $offset:expr, $int:ty) => {{
        const WIDTH: usize = size_of::<$int>();
        let offset = $offset.min(PAGE_SIZE - WIDTH);
        let mut bytes = [0; WIDTH];
        bytes.copy_from_slice(&$page[offset..offset + WIDTH]);
        <$int>::from_le_bytes(bytes)
    }};
}

impl PageRead for PageBytes {
    #[inline]
    fn u8_at(&self, offset: usize) -> u8 {
        self[offset.min(PAGE_SIZE - 1)]
    }

    #[inline]
    fn u16_at(&self, offset: usize) -> u16 {
        read_field!(self, offset, u16)
    }

    #[inline]
    fn u32_at(&self, offset: usize) -> u32 {
        read_field!(self, offset, u32)
    }

    #[inline]
    fn u64_at(&self, offset: usize) -> u64 {
        read_field!(self, offset, u64)
    }

    #[inline]
    fn copy_out(&self, offset: usize, out: &mut [u8]) {
        let offset = offset.min(PAGE_SIZE);
        let len = out.len().min(PAGE_SIZE - offset);
        out[..len].copy_from_slice(&self[offset..offset + len]);
    }
}

/// Writes a `u16` field; the offset must lie in the page.
#[inline]
pub(crate) fn put_u16(page: &mut PageBytes, offset: usize, value: u16) {
    page[offset..offset + 2].copy_from_slice(&value.to_le_bytes());
}

/// Writes a `u32` field; the offset must lie in the page.
#[inline]
pub(crate) fn put_u32(page: &mut PageBytes, offset: usize, value: u32) {
    page[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
}

/// Writes a `u64` field; the offset must lie in the page.
#[inline]
pub(crate) fn put_u64(page: &mut PageBytes, offset: usize, value: u64) {
    page[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
}

/// The id that a page says it has.
pub(crate) fn page_id(page: &PageBytes) -> PageId {
    PageId(page.u32_at(ID))
}

/// The LSN of a page that may be racing.
pub(crate) fn lsn_of(page: &impl PageRead) -> Lsn {
    Lsn(page.u64_at(LSN))
}

/// The end of the log group that changed the page last.
pub(crate) fn page_lsn(page: &PageBytes) -> Lsn {
    lsn_of(page)
}

/// Notes the end of the log group that changed the page.
pub(crate) fn set_page_lsn(page: &mut PageBytes, lsn: Lsn) {
    put_u64(page, LSN, lsn.0);
}

/// The page's type, see [`page_type`].
#[cfg(test)]
pub(crate) fn page_type_of(page: &PageBytes) -> u8 {
    page[TYPE]
}

/// Makes the page an empty one of the given type: all else is zero.
pub(crate) fn initialize(page: &mut PageBytes, id: PageId, page_type: u8) {
    page.fill(0);
    put_u32(page, ID, id.0);
    page[TYPE] = page_type;
}

/// Gives a page without contents (new, or damaged and about to be rebuilt) its id, for the
/// operation that starts it.
pub(crate) fn adopt(page: &mut PageBytes, id: PageId) {
    put_u32(page, CRC, 0);
    put_u32(page, ID, id.0);
    put_u64(page, LSN, 0);
}

/// Fills in the checksum, as the last thing before a page is written.
pub(crate) fn seal(page: &mut PageBytes) {
    let crc = crc32c::crc32c(&page[ID..]);
    put_u32(page, CRC, crc);
}

/// Checks a page that came from the disk; the error says what was found.
pub(crate) fn verify(page: &PageBytes, id: PageId) -> Result<(), &'static str> {
    if page.u32_at(CRC) != crc32c::crc32c(&page[ID..]) {
        return Err("wrong checksum");
    }
    if page_id(page) != id {
        return Err("another page's contents");
    }
    Ok(())
}
