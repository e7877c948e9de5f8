//! `sql_mode`.

/// The flags of `sql_mode`, with MySQL's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SqlMode(pub u64);

impl SqlMode {
    /// `||` is concatenation.
    pub const PIPES_AS_CONCAT: SqlMode = SqlMode(2);
    /// `"` quotes names.
    pub const ANSI_QUOTES: SqlMode = SqlMode(4);
    /// Written as ANSI: definitions are shown without what standard SQL does not know.
    pub const ANSI: SqlMode = SqlMode(0x40000);
    /// Spaces are allowed between a function's name and its parenthesis.
    pub const IGNORE_SPACE: SqlMode = SqlMode(8);
    /// Every selected column must be functionally dependent on the group.
    pub const ONLY_FULL_GROUP_BY: SqlMode = SqlMode(32);
    /// `a - b` of unsigned integers is signed.
    pub const NO_UNSIGNED_SUBTRACTION: SqlMode = SqlMode(64);
    /// Foreign key definitions leave out the directory.
    pub const NO_DIR_IN_CREATE: SqlMode = SqlMode(128);
    /// 0 in an AUTO_INCREMENT column is kept.
    pub const NO_AUTO_VALUE_ON_ZERO: SqlMode = SqlMode(1 << 19);
    /// `\` is an ordinary character.
    pub const NO_BACKSLASH_ESCAPES: SqlMode = SqlMode(1 << 20);
    /// Wrong values are errors in transactional tables.
    pub const STRICT_TRANS_TABLES: SqlMode = SqlMode(1 << 21);
    /// Wrong values are errors in all tables.
    pub const STRICT_ALL_TABLES: SqlMode = SqlMode(1 << 22);
    /// Dates with a zero month or day are wrong.
    pub const NO_ZERO_IN_DATE: SqlMode = SqlMode(1 << 23);
    /// '0000-00-00' is wrong.
    pub const NO_ZERO_DATE: SqlMode = SqlMode(1 << 24);
    /// Days are not checked against their month.
    pub const ALLOW_INVALID_DATES: SqlMode = SqlMode(1 << 25);
    /// Division by zero warns, and fails in strict mode.
    pub const ERROR_FOR_DIVISION_BY_ZERO: SqlMode = SqlMode(1 << 26);
    /// `NOT a BETWEEN …` binds as `(NOT a) BETWEEN …`.
    pub const HIGH_NOT_PRECEDENCE: SqlMode = SqlMode(1 << 29);
    /// No other engine is taken where the wanted one is missing.
    pub const NO_ENGINE_SUBSTITUTION: SqlMode = SqlMode(1 << 30);
    /// CHAR values come out padded to their length.
    pub const PAD_CHAR_TO_FULL_LENGTH: SqlMode = SqlMode(1 << 31);
    /// Fractional seconds are cut instead of rounded.
    pub const TIME_TRUNCATE_FRACTIONAL: SqlMode = SqlMode(1 << 32);
    /// `REAL` is FLOAT.
    pub const REAL_AS_FLOAT: SqlMode = SqlMode(1);
    /// MySQL 8.0's default.
    pub const DEFAULT: SqlMode = SqlMode(
        SqlMode::ONLY_FULL_GROUP_BY.0
            | SqlMode::STRICT_TRANS_TABLES.0
            | SqlMode::NO_ZERO_IN_DATE.0
            | SqlMode::NO_ZERO_DATE.0
            | SqlMode::ERROR_FOR_DIVISION_BY_ZERO.0
            | SqlMode::NO_ENGINE_SUBSTITUTION.0,
    );

    /// The flags that change how text is read: all that the lexer and the parser obey.
    const PARSING: SqlMode = SqlMode(
        SqlMode::PIPES_AS_CONCAT.0
            | SqlMode::ANSI_QUOTES.0
            | SqlMode::REAL_AS_FLOAT.0
            | SqlMode::IGNORE_SPACE.0
            | SqlMode::NO_BACKSLASH_ESCAPES.0
            | SqlMode::HIGH_NOT_PRECEDENCE.0,
    );

    /// No flag.
    pub const fn empty() -> SqlMode {
        SqlMode(0)
    }

    /// Both sets of flags.
    #[must_use]
    pub const fn with(self, other: SqlMode) -> SqlMode {
        SqlMode(self.0 | other.0)
    }

    /// The flags that change how text is read.
    #[inline]
    #[must_use]
    pub const fn parsing(self) -> SqlMode {
        SqlMode(self.0 & SqlMode::PARSING.0)
    }

    /// Whether any flag of `flags` is set.
    #[inline]
    pub fn has(self, flags: SqlMode) -> bool {
        self.0 & flags.0 != 0
    }

    /// Whether wrong values are errors.
    #[inline]
    pub fn is_strict(self) -> bool {
        self.has(SqlMode(SqlMode::STRICT_TRANS_TABLES.0 | SqlMode::STRICT_ALL_TABLES.0))
    }
}
