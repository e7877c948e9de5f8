//! Space: which pages of the data file are in use.
//!
//! Each group of pages has a map in the file ([`crate::page::file`]).
//! A copy of all maps in memory decides who gets which page, under a mutex. A mini-transaction
//! writes its changes of the maps last, when it commits: map latches are therefore always the last
//! ones taken, in ascending order, and nothing is waited for under them. Header and maps stay in
//! the pool for good.
//!
//! Invariants: a bit in memory is set at or before the same bit in the map is, and cleared at or
//! after; every page named by a set bit lies inside the file.

use crate::Result;
use crate::buffer::{BufferPool, MAX_PAGES, page_offset};
use crate::error::StorageError;
use crate::page::file::{
    FORMAT, FORMAT_AT, GROUP_PAGES, GROUPS_AT, HEADER_PAGE, MAGIC, MAGIC_AT, OLDEST_FORMAT,
    PAGE_SIZE_AT, SPACE_BITS_OFFSET, bit_of,
};
use crate::page::{PAGE_SIZE, PageBytes, PageRead};
use crate::reserve::Reserve;
use crate::sync::Mutex;
use inia_base::ids::PageId;
use inia_base::io::DiskFile;
use std::ops::Range;
use std::sync::Arc;

const WORDS: usize = (GROUP_PAGES / 64) as usize;
/// Most pages that the file grows by at once.
const MAX_GROWTH: u32 = (64 << 20) / PAGE_SIZE as u32;

struct Group {
    used: Vec<u64>,
    free: u32,
}

impl Group {
    fn from_map(map: &PageBytes) -> Group {
        let used: Vec<u64> =
            (0..WORDS).map(|word| map.u64_at(SPACE_BITS_OFFSET + word * 8)).collect();
        let free = used.iter().map(|word| word.count_zeros()).sum();
        Group { used, free }
    }

    /// The first free bit within `bits`.
    fn find(&self, bits: Range<u32>) -> Option<u32> {
        debug_assert!(bits.end <= GROUP_PAGES, "a group has so many pages");
        if self.free == 0 {
            return None;
        }
        let first = bits.start as usize / 64;
        for index in first..bits.end.div_ceil(64) as usize {
            let before = if index == first { (1 << (bits.start % 64)) - 1 } else { 0 };
            let word = self.used[index] | before;
            if word != u64::MAX {
                let bit = index as u32 * 64 + (!word).trailing_zeros();
                return Some(bit).filter(|&bit| bit < bits.end);
            }
        }
        None
    }

    fn is_used(&self, bit: u32) -> bool {
        self.used[bit as usize / 64] >> (bit % 64) & 1 == 1
    }

    fn set(&mut self, bit: u32, used: bool) {
        if self.is_used(bit) == used {
            return;
        }
        debug_assert!(
            if used { self.free > 0 } else { self.free < GROUP_PAGES },
            "free is a count"
        );
        self.used[bit as usize / 64] ^= 1 << (bit % 64);
        self.free = if used { self.free - 1 } else { self.free + 1 };
    }
}

struct State {
    groups: Vec<Group>,
    /// Pages that the file has room for.
    file_pages: u32,
    /// Pages in use or set aside.
    used: u64,
}

/// Who gets which page.
pub(crate) struct Space {
    state: Mutex<State>,
    /// What is kept for rollbacks.
    reserve: Arc<Reserve>,
}

impl Space {
    /// Checks the header, and brings all maps into memory, for good.
    pub(crate) fn load(pool: &BufferPool, reserve: Arc<Reserve>) -> Result<Space> {
        let groups = {
            let header = pool.shared(HEADER_PAGE)?;
            if header.u64_at(MAGIC_AT) != MAGIC {
                return Err(StorageError::Corrupt(HEADER_PAGE, "not a data file"));
            }
            let (format, size) = (header.u32_at(FORMAT_AT), header.u32_at(PAGE_SIZE_AT));
            if !(OLDEST_FORMAT..=FORMAT).contains(&format) || size as usize != PAGE_SIZE {
                return Err(StorageError::Unopenable(format!(
                    "the data file has format {format} and pages of {size} bytes; \
                     this version reads format {FORMAT} and {PAGE_SIZE}"
                )));
            }
            header.u32_at(GROUPS_AT)
        };
        let file_pages = pool.data().len()? / PAGE_SIZE as u64;
        let file_pages = u32::try_from(file_pages).unwrap_or(u32::MAX);
        let groups = (0..groups)
            .map(|group| {
                let id = group.checked_mul(GROUP_PAGES).filter(|first| *first < MAX_PAGES);
                let id = id.ok_or(StorageError::Corrupt(HEADER_PAGE, "too many groups"))?;
                Ok(Group::from_map(&*pool.shared(PageId(id + 1))?))
            })
            .collect::<Result<Vec<Group>>>()?;
        let used = groups.iter().map(|group: &Group| u64::from(GROUP_PAGES - group.free)).sum();
        reserve.note_used(used);
        Ok(Space { state: Mutex::new(State { groups, file_pages, used }), reserve })
    }

    /// Sets a free page aside, close after `near` if possible; `None` when all groups are full. The
    /// file has room for it on return, and, unless it is for a rollback, for what rollbacks may
    /// need. A page for a rollback makes the file grow only where no page inside it is free.
    pub(crate) fn reserve(
        &self,
        near: PageId,
        for_rollback: bool,
        data: &dyn DiskFile,
    ) -> Result<Option<PageId>> {
        let mut state = self.state.lock();
        if !for_rollback {
            self.keep_reserve(&mut state, data)?;
        }
        let found = state.free_inside_file(near).or_else(|| state.free_beyond_file());
        let Some((group, bit)) = found else { return Ok(None) };
        let id = group as u32 * GROUP_PAGES + bit;
        debug_assert!(!state.groups[group].is_used(bit), "a page has one owner");
        state.grow_to(id + 1, data)?;
        assert!(id < state.file_pages, "a page in use lies inside the file");
        state.set(group, bit, true);
        self.reserve.note_used(state.used);
        Ok(Some(PageId(id)))
    }

    /// Grows the file by what rollbacks may need.
    pub(crate) fn secure_reserve(&self, data: &dyn DiskFile) -> Result<()> {
        self.keep_reserve(&mut self.state.lock(), data)
    }

    fn keep_reserve(&self, state: &mut State, data: &dyn DiskFile) -> Result<()> {
        let wanted = state.used + 1 + self.reserve.pages();
        state.grow_to(u32::try_from(wanted).unwrap_or(MAX_PAGES).min(MAX_PAGES), data)
    }

    /// The map page of the group to add when all are full.
    pub(crate) fn next_map(&self, data: &dyn DiskFile) -> Result<PageId> {
        let mut state = self.state.lock();
        let first = (state.groups.len() as u32).checked_mul(GROUP_PAGES);
        let first = first.filter(|&first| first <= MAX_PAGES - GROUP_PAGES);
        let map = first.ok_or(StorageError::DiskFull)? + 1;
        state.grow_to(map + 1, data)?;
        Ok(PageId(map))
    }

    /// Adds the group whose map was just made and logged.
    pub(crate) fn add_group(&self, map: &PageBytes) {
        let group = Group::from_map(map);
        let mut state = self.state.lock();
        state.used += u64::from(GROUP_PAGES - group.free);
        state.groups.push(group);
        self.reserve.note_used(state.used);
    }

    /// Makes a page available again.
    pub(crate) fn release(&self, id: PageId) {
        let mut state = self.state.lock();
        let group = (id.0 / GROUP_PAGES) as usize;
        if group < state.groups.len() {
            debug_assert!(state.groups[group].is_used(bit_of(id)), "a page is released once");
            state.set(group, bit_of(id), false);
            self.reserve.note_used(state.used);
        }
    }

    /// Whether a page is in use or set aside.
    pub(crate) fn is_used(&self, id: PageId) -> bool {
        let state = self.state.lock();
        let group = state.groups.get((id.0 / GROUP_PAGES) as usize);
        group.is_some_and(|group| group.is_used(bit_of(id)))
    }

    /// Pages in use or set aside, header and maps included.
    pub(crate) fn used_pages(&self) -> u64 {
        self.state.lock().used
    }
}

impl State {
    /// Group and bit of a free page inside the file, close after `near` if possible.
    fn free_inside_file(&self, near: PageId) -> Option<(usize, u32)> {
        let home = (near.0 / GROUP_PAGES) as usize;
        let here = self.groups.get(home).and_then(|group| {
            let (from, end) = (bit_of(near) + 1, self.bits_inside_file(home));
            group.find(from.min(end)..end).or_else(|| group.find(0..from.min(end)))
        });
        let elsewhere = || {
            let mut others = (0..self.groups.len()).filter(|&group| group != home);
            others.find_map(|group| {
                let bit = self.groups[group].find(0..self.bits_inside_file(group))?;
                Some((group, bit))
            })
        };
        here.map(|bit| (home, bit)).or_else(elsewhere)
    }

    /// Group and bit of the first free page that the file has no room for yet.
    fn free_beyond_file(&self) -> Option<(usize, u32)> {
        (0..self.groups.len()).find_map(|group| {
            let bit = self.groups[group].find(self.bits_inside_file(group)..GROUP_PAGES)?;
            Some((group, bit))
        })
    }

    /// How many pages of a group lie inside the file.
    fn bits_inside_file(&self, group: usize) -> u32 {
        let first = group as u64 * u64::from(GROUP_PAGES);
        u64::from(self.file_pages).saturating_sub(first).min(u64::from(GROUP_PAGES)) as u32
    }

    fn set(&mut self, group: usize, bit: u32, used: bool) {
        let group = &mut self.groups[group];
        let before = group.free;
        group.set(bit, used);
        self.used = self.used + u64::from(before) - u64::from(group.free);
    }

    /// Gives the file room for `pages` pages: an eighth more than it has at a time.
    fn grow_to(&mut self, pages: u32, data: &dyn DiskFile) -> Result<()> {
        if pages <= self.file_pages {
            return Ok(());
        }
        let growth = (self.file_pages / 8).clamp(64, MAX_GROWTH);
        let generous = pages.max(self.file_pages.saturating_add(growth)).min(MAX_PAGES);
        // A nearly full device may have room for the pages that are needed now.
        let grown = match data.set_len(page_offset(PageId(generous))) {
            Ok(()) => generous,
            Err(_) => {
                data.set_len(page_offset(PageId(pages)))?;
                pages
            }
        };
        assert!(grown >= pages && grown > self.file_pages, "the file grows as requested");
        self.file_pages = grown;
        Ok(())
    }
}
