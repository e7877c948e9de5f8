//! How a store is opened.

/// Sizes that follow from the machine's use; tests make them small.
#[derive(Clone, Copy, Debug)]
pub struct EngineSizes {
    /// Bytes of log after which writers wait until pages are written back.
    pub log_capacity: u64,
    /// Bytes of one log segment.
    pub segment_size: u64,
    /// Bytes of memory for undo; what goes beyond is put in a file.
    pub undo_memory: u64,
}

impl EngineSizes {
    /// The usual sizes with a pool of so many bytes.
    pub fn new(buffer_pool_size: u64) -> EngineSizes {
        EngineSizes {
            log_capacity: 512 << 20,
            segment_size: 32 << 20,
            undo_memory: buffer_pool_size / 4,
        }
    }
}

/// How a store is opened.
#[derive(Clone, Debug)]
pub(crate) struct StoreOptions {
    /// Bytes of page frames.
    pub(crate) buffer_pool_size: u64,
    /// Bytes of log after which writers wait until pages are written back.
    pub(crate) log_capacity: u64,
    /// Bytes of one log segment.
    pub(crate) segment_size: u64,
    /// Bytes of memory for the undo that nobody is writing to; what goes beyond is put in a file.
    pub(crate) undo_memory: u64,
    /// Whether a background thread writes pages and checkpoints (else [`Store::background_step`]).
    pub(crate) background: bool,
}

impl StoreOptions {
    /// The usual log sizes.
    pub(crate) fn new(buffer_pool_size: u64, background: bool) -> StoreOptions {
        StoreOptions::sized(buffer_pool_size, background, EngineSizes::new(buffer_pool_size))
    }

    /// Other log sizes.
    pub(crate) fn sized(
        buffer_pool_size: u64,
        background: bool,
        sizes: EngineSizes,
    ) -> StoreOptions {
        StoreOptions {
            buffer_pool_size,
            log_capacity: sizes.log_capacity,
            segment_size: sizes.segment_size,
            undo_memory: sizes.undo_memory,
            background,
        }
    }
}
