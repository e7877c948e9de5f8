//! Collations: how strings compare, hash and turn into sort keys.

/// A collation, by MySQL's collation number (255 = utf8mb4_0900_ai_ci).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Collation(pub u16);

impl Collation {
    /// The server's default, `utf8mb4_0900_ai_ci`.
    pub const DEFAULT: Collation = Collation(255);
    /// `binary`.
    pub const BINARY: Collation = Collation(63);
    /// `utf8mb4_bin`.
    pub const UTF8MB4_BIN: Collation = Collation(46);
}
