//! Kinds of metadata locks, and how they get on with each other.

/// Strength and purpose of a lock; `mdl.rs` says who takes which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MdlKind {
    /// For who shows the definition.
    Describe,
    /// For who reads rows.
    Read,
    /// For who changes rows.
    Write,
    /// Rows and definition stay as they are.
    ReadOnly,
    /// Nothing changes anywhere.
    Freeze,
    /// Nobody else reads or changes rows.
    WriteLock,
    /// Nobody else uses the table.
    Exclusive,
}

/// How many kinds there are.
pub(super) const KINDS: usize = 7;

/// Whether a request (line) can be granted beside another session's lock (column), in the order of
/// [`MdlKind`].
const BESIDE_HELD: [&[u8; KINDS]; KINDS] = [
    // DRWOFAX
    b"++++++-", // Describe
    b"+++++--", // Read
    b"+++----", // Write
    b"++-++--", // ReadOnly
    b"++-++--", // Freeze
    b"+------", // WriteLock
    b"-------", // Exclusive
];

/// Whether a request (line) may be granted before one that already waits (column), where both could
/// not be granted together. Writers pass a waiting `ReadOnly`, but not for ever:
/// [`MdlKind::passes_starved`].
const BEFORE_WAITING: [&[u8; KINDS]; KINDS] = [
    // DRWOFAX
    b"+++++++", // Describe
    b"+++++--", // Read
    b"++++---", // Write
    b"++-++--", // ReadOnly
    b"+++++++", // Freeze
    b"++++++-", // WriteLock
    b"+++++++", // Exclusive
];

impl MdlKind {
    /// The name that MySQL has for the kind.
    pub(super) fn mysql_name(self) -> &'static str {
        match self {
            MdlKind::Describe => "SHARED_HIGH_PRIO",
            MdlKind::Read => "SHARED_READ",
            MdlKind::Write => "SHARED_WRITE",
            MdlKind::ReadOnly => "SHARED_READ_ONLY",
            MdlKind::Freeze => "SHARED",
            MdlKind::WriteLock => "SHARED_NO_READ_WRITE",
            MdlKind::Exclusive => "EXCLUSIVE",
        }
    }

    /// All kinds.
    pub(super) const ALL: [MdlKind; KINDS] = [
        MdlKind::Describe,
        MdlKind::Read,
        MdlKind::Write,
        MdlKind::ReadOnly,
        MdlKind::Freeze,
        MdlKind::WriteLock,
        MdlKind::Exclusive,
    ];

    /// Whether a request of this kind can be granted beside a lock of that kind.
    pub(super) fn goes_with(self, held: MdlKind) -> bool {
        BESIDE_HELD[self as usize][held as usize] == b'+'
    }

    /// Whether a request of this kind need not wait for an earlier request of that kind.
    pub(super) fn passes(self, waiting: MdlKind) -> bool {
        BEFORE_WAITING[self as usize][waiting as usize] == b'+'
    }

    /// As [`MdlKind::passes`], where writers have passed a waiting `ReadOnly` often enough.
    pub(super) fn passes_starved(self, waiting: MdlKind) -> bool {
        match (self, waiting) {
            (MdlKind::Write, MdlKind::ReadOnly) => false,
            (MdlKind::ReadOnly, MdlKind::Write) => true,
            _ => self.passes(waiting),
        }
    }

    /// Strong locks stand in the queue; weak ones in their session's slot.
    pub(super) fn is_strong(self) -> bool {
        self >= MdlKind::ReadOnly
    }

    /// Whose wait is ended last to break a cycle.
    pub(super) fn weight(self) -> u32 {
        u32::from(self.is_strong())
    }
}
