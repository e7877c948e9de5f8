//! The parts of `sql_mode` that change how text is read.

/// Flags of `sql_mode` that the lexer and parser obey.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SqlMode(u8);

impl SqlMode {
    /// `"…"` quotes identifiers.
    pub const ANSI_QUOTES: SqlMode = SqlMode(1);
    /// `||` concatenates.
    pub const PIPES_AS_CONCAT: SqlMode = SqlMode(2);
    /// Spaces may stand between a built-in function's name and its `(`.
    pub const IGNORE_SPACE: SqlMode = SqlMode(4);
    /// A backslash is an ordinary character in strings.
    pub const NO_BACKSLASH_ESCAPES: SqlMode = SqlMode(8);
    /// NOT binds as tightly as `!`.
    pub const HIGH_NOT_PRECEDENCE: SqlMode = SqlMode(16);

    /// No flag: MySQL's default.
    pub const fn empty() -> SqlMode {
        SqlMode(0)
    }

    /// The flags as a number.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Both sets of flags.
    #[must_use]
    pub const fn with(self, other: SqlMode) -> SqlMode {
        SqlMode(self.0 | other.0)
    }

    /// True where every flag of `other` is set.
    pub const fn has(self, other: SqlMode) -> bool {
        self.0 & other.0 == other.0
    }
}
