//! Chunks of undo: in memory while there is room for them, the oldest in a temporary file.
//!
//! A chunk that its session still appends to is always in memory. Once it is *sealed* it may be
//! moved to the file, oldest first, when sealed chunks take more memory than the budget. That
//! happens before a statement changes a record, with no latch held; if the file cannot grow, the
//! statement fails and nothing else does.
//!
//! ```text
//!   budget = 3 chunks     1 2 │ 3 4 5 │ 6      6: being written, 3 4 5: sealed, 1 2: in the file
//!   reading 1             memory? no.  cache of read chunks? no.  read its slots, cache it
//! ```
//!
//! Invariants:
//! - a sealed chunk is never written to again, so its copy in the file is its content for good;
//! - a number is never given to a second chunk, except that recovery makes chunks anew whose
//!   references the log and the pages still hold;
//! - of its locks only the list of sealed chunks is taken while another, a shard's, is held.

use super::spill::SpillFile;
use crate::Result;
use crate::sync::{AtomicU64, Mutex, Ordering, RwLock};
use inia_base::io::Disk;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Words of a chunk, unless the budget is very small.
const CHUNK_WORDS: usize = 8 * 1024;
const SMALLEST_CHUNK_WORDS: usize = 256;
/// Chunks that the budget should hold at least.
const CHUNKS_IN_BUDGET: usize = 16;
const SHARDS: usize = 16;
/// Emptied chunks whose memory is kept.
const SPARES: usize = 8;

/// Words that one owner appends while others read older ones.
pub(crate) struct Chunk {
    id: u64,
    words: Vec<AtomicU64>,
}

impl Chunk {
    pub(super) fn new(id: u64, words: Vec<AtomicU64>) -> Chunk {
        Chunk { id, words }
    }

    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// How many words it has room for.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    fn bytes(&self) -> u64 {
        self.words.len() as u64 * 8
    }

    pub(super) fn put(&self, word: usize, value: u64) {
        self.words[word].store(value, Ordering::Relaxed);
    }

    pub(super) fn get(&self, word: usize) -> u64 {
        self.words[word].load(Ordering::Relaxed)
    }

    pub(super) fn put_bytes(&self, mut word: usize, bytes: &[u8]) -> usize {
        let mut whole = bytes.chunks_exact(8);
        for eight in &mut whole {
            self.put(word, u64::from_le_bytes(eight.try_into().expect("chunks of eight bytes")));
            word += 1;
        }
        if !whole.remainder().is_empty() {
            let mut tail = [0; 8];
            tail[..whole.remainder().len()].copy_from_slice(whole.remainder());
            self.put(word, u64::from_le_bytes(tail));
            word += 1;
        }
        word
    }

    pub(super) fn get_bytes(&self, word: usize, len: usize, out: &mut Vec<u8>) {
        out.clear();
        out.reserve(len.next_multiple_of(8));
        for at in word..word + len.div_ceil(8) {
            out.extend_from_slice(&self.get(at).to_le_bytes());
        }
        out.truncate(len);
    }
}

/// Where a chunk is.
enum Residence {
    Memory(Arc<Chunk>),
    File { slots: Arc<[u32]>, words: usize },
}

struct Entry {
    residence: Residence,
    /// Histories that have it; more than one only after a recovery.
    holders: u32,
}

/// All chunks of an engine, by number.
pub(crate) struct Chunks {
    shards: [RwLock<HashMap<u64, Entry>>; SHARDS],
    last: AtomicU64,
    chunk_words: usize,
    /// Bytes that sealed chunks may take in memory.
    budget: u64,
    /// Bytes of all chunks in memory.
    bytes: AtomicU64,
    sealed_bytes: AtomicU64,
    /// Sealed chunks in memory, and their bytes.
    sealed: Mutex<BTreeMap<u64, u64>>,
    spares: Mutex<Vec<Vec<AtomicU64>>>,
    file: SpillFile,
    /// One thread moves chunks at a time.
    spilling: Mutex<()>,
    cache: Mutex<Cache>,
}

impl Chunks {
    /// Chunks of which `budget` bytes stay in memory when there is a disk for the rest.
    pub(super) fn new(disk: Option<Arc<dyn Disk>>, budget: u64) -> Chunks {
        let wanted = usize::try_from(budget / 8).unwrap_or(usize::MAX) / CHUNKS_IN_BUDGET;
        let chunk_words = wanted.clamp(SMALLEST_CHUNK_WORDS, CHUNK_WORDS);
        let cached = usize::try_from(budget / 8).unwrap_or(usize::MAX) / chunk_words / 8;
        Chunks {
            shards: Default::default(),
            last: AtomicU64::new(0),
            chunk_words,
            budget,
            bytes: AtomicU64::new(0),
            sealed_bytes: AtomicU64::new(0),
            sealed: Mutex::default(),
            spares: Mutex::default(),
            file: SpillFile::new(disk, chunk_words),
            spilling: Mutex::default(),
            cache: Mutex::new(Cache { most: cached.clamp(2, 256), ..Cache::default() }),
        }
    }

    /// Bytes of memory that chunks take, those read back included.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed) + self.cache.lock().bytes
    }

    /// Bytes of the temporary file in use.
    pub(super) fn spilled_bytes(&self) -> u64 {
        self.file.bytes()
    }

    fn shard(&self, id: u64) -> &RwLock<HashMap<u64, Entry>> {
        &self.shards[id as usize % SHARDS]
    }

    /// A new chunk with room for at least so many words.
    pub(super) fn allocate(&self, words: usize) -> Arc<Chunk> {
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        self.insert(id, words)
    }

    fn insert(&self, id: u64, words: usize) -> Arc<Chunk> {
        let words = words.max(self.chunk_words);
        let spare = if words == self.chunk_words { self.spares.lock().pop() } else { None };
        let words = spare.unwrap_or_else(|| (0..words).map(|_| AtomicU64::new(0)).collect());
        let chunk = Arc::new(Chunk::new(id, words));
        self.bytes.fetch_add(chunk.bytes(), Ordering::Relaxed);
        let entry = Entry { residence: Residence::Memory(Arc::clone(&chunk)), holders: 1 };
        let known = self.shard(id).write().insert(id, entry);
        assert!(known.is_none(), "a number is given to one chunk");
        chunk
    }

    /// The owner appends to another chunk from now on.
    pub(super) fn seal(&self, chunk: &Chunk) {
        let mut sealed = self.sealed.lock();
        if sealed.insert(chunk.id(), chunk.bytes()).is_none() {
            self.sealed_bytes.fetch_add(chunk.bytes(), Ordering::Relaxed);
        }
    }

    fn unseal(&self, id: u64) {
        if let Some(bytes) = self.sealed.lock().remove(&id) {
            let before = self.sealed_bytes.fetch_sub(bytes, Ordering::Relaxed);
            debug_assert!(before >= bytes, "a chunk was sealed before");
        }
    }

    /// Whether the chunks that sessions append to, idle ones mostly, take more memory than sealed
    /// ones may.
    #[inline]
    pub(super) fn too_many_are_open(&self) -> bool {
        let sealed = self.sealed_bytes.load(Ordering::Relaxed);
        self.bytes.load(Ordering::Relaxed).saturating_sub(sealed) > self.budget
    }

    /// Whether the chunk may be in the file, or on its way there.
    pub(super) fn is_sealed(&self, id: u64) -> bool {
        self.sealed.lock().contains_key(&id)
    }

    /// One history needs the chunk no longer.
    pub(super) fn free(&self, id: u64) {
        let mut shard = self.shard(id).write();
        let Some(entry) = shard.get_mut(&id) else { return };
        debug_assert!(entry.holders > 0, "a chunk is freed once by each of its histories");
        entry.holders -= 1;
        if entry.holders > 0 {
            return;
        }
        let entry = shard.remove(&id);
        drop(shard);
        match entry.map(|entry| entry.residence) {
            Some(Residence::Memory(chunk)) => {
                self.unseal(id);
                self.bytes.fetch_sub(chunk.bytes(), Ordering::Relaxed);
                self.keep_spare(chunk);
            }
            Some(Residence::File { slots, .. }) => {
                self.cache.lock().remove(id);
                self.file.free(&slots);
            }
            None => {}
        }
    }

    fn keep_spare(&self, chunk: Arc<Chunk>) {
        if chunk.len() != self.chunk_words {
            return;
        }
        // A reader that still holds it lets it go in time.
        if let Some(chunk) = Arc::into_inner(chunk) {
            let mut spares = self.spares.lock();
            if spares.len() < SPARES {
                spares.push(chunk.words);
            }
        }
    }

    /// Moves sealed chunks to the file while they take more memory than they may. Called before a
    /// change, without latches; a full disk is the caller's error.
    #[inline]
    pub(super) fn make_room(&self) -> Result<()> {
        if self.sealed_bytes.load(Ordering::Relaxed) <= self.budget {
            return Ok(());
        }
        self.spill()
    }

    #[cold]
    fn spill(&self) -> Result<()> {
        if !self.file.is_there() {
            return Ok(());
        }
        let _one_at_a_time = self.spilling.lock();
        while self.sealed_bytes.load(Ordering::Relaxed) > self.budget {
            let Some(id) = self.sealed.lock().first_key_value().map(|(&id, _)| id) else { break };
            let chunk = match self.shard(id).read().get(&id) {
                Some(Entry { residence: Residence::Memory(chunk), .. }) => Arc::clone(chunk),
                // Just being freed, or moved.
                _ => {
                    self.unseal(id);
                    continue;
                }
            };
            let slots = self.file.write(&chunk)?;
            let mut shard = self.shard(id).write();
            match shard.get_mut(&id) {
                Some(entry) => {
                    entry.residence = Residence::File { slots: slots.into(), words: chunk.len() };
                    self.unseal(id);
                    drop(shard);
                    self.bytes.fetch_sub(chunk.bytes(), Ordering::Relaxed);
                    self.keep_spare(chunk);
                }
                None => {
                    drop(shard);
                    self.file.free(&slots);
                }
            }
        }
        Ok(())
    }

    /// Recovery: the chunk with this number, with room for so many words and ready to be written
    /// to, for an owner that has not had it before or goes on with it.
    pub(super) fn reopen(&self, id: u64, words: usize, new_owner: bool) -> Result<Arc<Chunk>> {
        self.last.fetch_max(id, Ordering::Relaxed);
        let Some(known) = self.find(id)? else { return Ok(self.insert(id, words)) };
        let mut shard = self.shard(id).write();
        let entry = shard.get_mut(&id).expect("invariant: recovery has the chunks for itself");
        entry.holders += u32::from(new_owner);
        self.unseal(id);
        if matches!(entry.residence, Residence::Memory(_)) && known.len() >= words {
            return Ok(known);
        }
        let word = |at| if at < known.len() { known.get(at) } else { 0 };
        let copy = (0..words.max(known.len())).map(|at| AtomicU64::new(word(at))).collect();
        let chunk = Arc::new(Chunk::new(id, copy));
        let before = std::mem::replace(&mut entry.residence, Residence::Memory(Arc::clone(&chunk)));
        drop(shard);
        self.bytes.fetch_add(chunk.bytes(), Ordering::Relaxed);
        match before {
            Residence::Memory(_) => {
                self.bytes.fetch_sub(known.bytes(), Ordering::Relaxed);
            }
            Residence::File { slots, .. } => {
                self.cache.lock().remove(id);
                self.file.free(&slots);
            }
        }
        Ok(chunk)
    }

    /// The chunk with this number; `None` when it was freed.
    pub(super) fn find(&self, id: u64) -> Result<Option<Arc<Chunk>>> {
        let (slots, words) = match self.shard(id).read().get(&id).map(|entry| &entry.residence) {
            None => return Ok(None),
            Some(Residence::Memory(chunk)) => return Ok(Some(Arc::clone(chunk))),
            Some(Residence::File { slots, words }) => (Arc::clone(slots), *words),
        };
        self.read_back(id, &slots, words)
    }

    #[cold]
    fn read_back(&self, id: u64, slots: &[u32], words: usize) -> Result<Option<Arc<Chunk>>> {
        if let Some(chunk) = self.cache.lock().get(id) {
            return Ok(Some(chunk));
        }
        let read = self.file.read(id, slots, words);
        // Its slots may have been given away while they were read.
        if !self.shard(id).read().contains_key(&id) {
            return Ok(None);
        }
        let chunk = Arc::new(read?);
        self.cache.lock().add(Arc::clone(&chunk));
        Ok(Some(chunk))
    }
}

/// Chunks read back from the file, the most recently used ones.
#[derive(Default)]
struct Cache {
    most: usize,
    bytes: u64,
    clock: u64,
    chunks: HashMap<u64, (u64, Arc<Chunk>)>,
}

impl Cache {
    fn get(&mut self, id: u64) -> Option<Arc<Chunk>> {
        self.clock += 1;
        let (used, chunk) = self.chunks.get_mut(&id)?;
        *used = self.clock;
        Some(Arc::clone(chunk))
    }

    fn add(&mut self, chunk: Arc<Chunk>) {
        while self.chunks.len() >= self.most {
            let oldest = self.chunks.iter().min_by_key(|(_, (used, _))| *used);
            let Some((&id, _)) = oldest else { break };
            self.remove(id);
        }
        self.clock += 1;
        self.bytes += chunk.bytes();
        if let Some((_, same)) = self.chunks.insert(chunk.id(), (self.clock, chunk)) {
            self.bytes -= same.bytes();
        }
    }

    fn remove(&mut self, id: u64) {
        if let Some((_, chunk)) = self.chunks.remove(&id) {
            self.bytes -= chunk.bytes();
        }
    }
}
