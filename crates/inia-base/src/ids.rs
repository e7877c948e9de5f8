//! Newtypes for every identifier that crosses a module, so that none is a bare integer.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $inner);

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// A page of the data file: byte offset = id × page size.
    PageId(u32)
}
id! {
    /// Log sequence number: a byte position in the logical, endless write-ahead log.
    Lsn(u64)
}
id! {
    /// A writing transaction, given at its first write; 0 means "none". The top bit is never set.
    TxnId(u64)
}
id! {
    /// A B+tree, named by its root page, which never moves.
    TreeId(u32)
}
