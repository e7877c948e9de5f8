//! The tree's tests, from the bytes of one node up to threads on a whole tree.

mod garbage;
mod node;

use super::node::RecordHeader;

/// A small, seeded source of random numbers (xorshift64*), so that every run is the same.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 11) as usize % limit
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }
}

/// The header of a version by transaction `txn`.
fn version(txn: u64) -> RecordHeader {
    RecordHeader { txn, undo: txn ^ 0x55 }
}

/// The header of a deletion by transaction `txn`.
fn deletion(txn: u64) -> RecordHeader {
    RecordHeader { txn: txn | RecordHeader::DELETED, undo: txn }
}
