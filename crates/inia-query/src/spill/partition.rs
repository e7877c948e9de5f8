//! Records spread over streams by the hash of their keys.

use super::stream::{BLOCK, Scratch, Stream};
use super::{Purpose, Result, Workspace};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Streams of one level.
pub(crate) const FANOUT: usize = 16;
/// Bits of a hash that choose one of them.
const FANOUT_BITS: u32 = FANOUT.ilog2();

/// A set of streams of which each has keys of its own. Records of a stream that is partitioned
/// again go by other bits, if the level is another.
pub(crate) struct Partitions<'w> {
    streams: Vec<Stream<'w>>,
    level: u32,
}

impl<'w> Partitions<'w> {
    /// Empty streams for a level of partitioning.
    pub(crate) fn new(workspace: Workspace<'w>, purpose: Purpose, level: u32) -> Partitions<'w> {
        let scratch = Scratch::new(workspace, purpose);
        Partitions { streams: (0..FANOUT).map(|_| Stream::within(&scratch)).collect(), level }
    }

    /// Appends a record to the stream of its key.
    pub(crate) fn push(&mut self, key: &[u8], write: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        let place = self.place(key);
        self.streams[place].push(write).map(drop)
    }

    /// As [`Partitions::push`], to the stream at a place that the caller has from [`place_of`].
    pub(crate) fn push_to(&mut self, place: usize, write: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        self.streams[place].push(write).map(drop)
    }

    /// About how many bytes the streams' blocks take at most.
    pub(crate) const fn held() -> usize {
        FANOUT * BLOCK
    }

    /// Whether no record came with a key of the same stream.
    pub(crate) fn lacks(&self, key: &[u8]) -> bool {
        self.streams[self.place(key)].records() == 0
    }

    /// The streams in order, and their level. Their blocks' memory is given back.
    pub(crate) fn into_streams(mut self) -> Result<(Vec<Stream<'w>>, u32)> {
        for stream in &mut self.streams {
            stream.rest()?;
        }
        Ok((self.streams, self.level))
    }

    fn place(&self, key: &[u8]) -> usize {
        let mut hasher = DefaultHasher::new();
        self.level.hash(&mut hasher);
        key.hash(&mut hasher);
        (hasher.finish() >> 32) as usize % FANOUT
    }
}

/// The place of a key's stream at a level: each level takes other bits of the key's hash.
pub(crate) fn place_of(hash: u64, level: u32) -> usize {
    (hash.rotate_left(FANOUT_BITS * (level + 1)) as usize) & (FANOUT - 1)
}

/// Appends a key and begins a payload that follows it.
pub(crate) fn keyed(key: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(key.len() as u32).to_le_bytes());
    out.extend_from_slice(key);
}

/// The key and the payload of a record that began by [`keyed`].
pub(crate) fn split_keyed(record: &[u8]) -> Result<(&[u8], &[u8])> {
    super::stream::split_record(record).ok_or_else(super::damaged)
}
