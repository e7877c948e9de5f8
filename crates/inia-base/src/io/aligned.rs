//! Buffers that direct I/O accepts.
#![allow(unsafe_code)]

use std::ops::{Deref, DerefMut};

/// Multiple that memory addresses, file offsets and lengths of direct I/O must be of.
pub const DIRECT_ALIGN: usize = 4096;

#[derive(Clone, Copy)]
#[repr(C, align(4096))]
struct Block([u8; DIRECT_ALIGN]);

const _: () = assert!(size_of::<Block>() == DIRECT_ALIGN && align_of::<Block>() == DIRECT_ALIGN);

/// Bytes on the heap, their start aligned and their number a multiple of [`DIRECT_ALIGN`].
#[derive(Clone)]
pub struct AlignedBuf {
    blocks: Vec<Block>,
}

impl AlignedBuf {
    /// At least `len` zero bytes.
    pub fn new(len: usize) -> AlignedBuf {
        AlignedBuf { blocks: vec![Block([0; DIRECT_ALIGN]); len.div_ceil(DIRECT_ALIGN)] }
    }
}

impl Deref for AlignedBuf {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the vector owns `blocks.len()` blocks of plain bytes without padding, so that
        // many times DIRECT_ALIGN bytes are initialised and borrowed for as long as `self` is.
        unsafe {
            std::slice::from_raw_parts(
                self.blocks.as_ptr().cast::<u8>(),
                self.blocks.len() * DIRECT_ALIGN,
            )
        }
    }
}

impl DerefMut for AlignedBuf {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`, and the exclusive borrow of `self` makes the bytes exclusive too.
        unsafe {
            std::slice::from_raw_parts_mut(
                self.blocks.as_mut_ptr().cast::<u8>(),
                self.blocks.len() * DIRECT_ALIGN,
            )
        }
    }
}
