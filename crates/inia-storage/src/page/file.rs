//! The data file: its header page and the maps of used pages.
//!
//! The file is divided into groups of [`GROUP_PAGES`] pages; the second page of each group is its
//! map, a bitmap of used pages. Page 0 is the file header and counts the groups:
//!
//! ```text
//!   page 0: common header | magic u64 | format u32 | page size u32 | groups u32 |
//!           zero u32 | checkpoint number u64
//!   page 1: map of pages 0..G,  page G+1: map of pages G..2G,  ...
//! ```

use super::{PAGE_HEADER, PAGE_SIZE, PageBytes, initialize, page_type, put_u32, put_u64};
use inia_base::ids::PageId;

/// First byte of a space map's bitmap.
pub(crate) const SPACE_BITS_OFFSET: usize = PAGE_HEADER;
/// Bits in one space map page.
pub(crate) const SPACE_BITS_PER_PAGE: u32 = ((PAGE_SIZE - SPACE_BITS_OFFSET) * 8) as u32;
/// Pages of a group.
pub(crate) const GROUP_PAGES: u32 = SPACE_BITS_PER_PAGE;
/// The file header's page.
pub(crate) const HEADER_PAGE: PageId = PageId(0);
/// Pages that a new file is given.
pub(crate) const FIRST_PAGES: u32 = 16;

/// What the header page begins with.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"INIADATA");
/// Version of all files' format.
pub(crate) const FORMAT: u32 = 5;
/// The oldest format that is read. Files of older formats are files of this one, whose logs lack
/// some records: the control file gets the new number when they are opened.
pub(crate) const OLDEST_FORMAT: u32 = 3;
/// Where the header page has [`MAGIC`].
pub(crate) const MAGIC_AT: usize = PAGE_HEADER;
/// Where it has [`FORMAT`].
pub(crate) const FORMAT_AT: usize = MAGIC_AT + 8;
/// Where it has the page size.
pub(crate) const PAGE_SIZE_AT: usize = FORMAT_AT + 4;
/// Where the header page counts the groups.
pub(crate) const GROUPS_AT: usize = PAGE_SIZE_AT + 4;
/// Where the header page has the number of the last checkpoint that it has seen begin.
pub(crate) const CHECKPOINT_AT: usize = GROUPS_AT + 8;

const _: () = assert!(GROUP_PAGES.is_multiple_of(64));

/// The map that has a page's bit.
pub(crate) fn map_of(id: PageId) -> PageId {
    PageId(id.0 / GROUP_PAGES * GROUP_PAGES + 1)
}

/// A page's bit in its map.
pub(crate) fn bit_of(id: PageId) -> u32 {
    id.0 % GROUP_PAGES
}

/// Whether a map has this bit.
pub(crate) fn is_bit_set(map: &PageBytes, bit: u32) -> bool {
    map[SPACE_BITS_OFFSET + bit as usize / 8] >> (bit % 8) & 1 == 1
}

/// Whether the page stays in memory: the header and the maps.
pub(crate) fn is_pinned(id: PageId) -> bool {
    id == HEADER_PAGE || id.0 % GROUP_PAGES == 1
}

/// Makes the header page of a new file.
pub(crate) fn initialize_header(page: &mut PageBytes) {
    initialize(page, HEADER_PAGE, page_type::FILE_HEADER);
    put_u64(page, MAGIC_AT, MAGIC);
    put_u32(page, FORMAT_AT, FORMAT);
    put_u32(page, PAGE_SIZE_AT, PAGE_SIZE as u32);
    put_u32(page, GROUPS_AT, 1);
}

/// Makes the map of a group: its own page is used, and the header's in the first.
pub(crate) fn initialize_map(page: &mut PageBytes, id: PageId) {
    initialize(page, id, page_type::SPACE_MAP);
    page[SPACE_BITS_OFFSET] = if id.0 == 1 { 0b11 } else { 0b10 };
}
