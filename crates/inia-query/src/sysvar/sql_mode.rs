//! `sql_mode`: its flags by name, by number and as text.

use inia_base::error::{ErrorCode, SqlError};
use inia_base::sql_mode::SqlMode;

/// The default as text.
pub(super) const DEFAULT: &str = "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,\
                                  NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION";

/// The flags by name, in the order of their bits.
const MODES: &[(&str, SqlMode)] = &[
    ("REAL_AS_FLOAT", SqlMode::REAL_AS_FLOAT),
    ("PIPES_AS_CONCAT", SqlMode::PIPES_AS_CONCAT),
    ("ANSI_QUOTES", SqlMode::ANSI_QUOTES),
    ("IGNORE_SPACE", SqlMode::IGNORE_SPACE),
    ("ONLY_FULL_GROUP_BY", SqlMode::ONLY_FULL_GROUP_BY),
    ("NO_UNSIGNED_SUBTRACTION", SqlMode::NO_UNSIGNED_SUBTRACTION),
    ("NO_DIR_IN_CREATE", SqlMode::NO_DIR_IN_CREATE),
    ("ANSI", SqlMode::ANSI),
    ("NO_AUTO_VALUE_ON_ZERO", SqlMode::NO_AUTO_VALUE_ON_ZERO),
    ("NO_BACKSLASH_ESCAPES", SqlMode::NO_BACKSLASH_ESCAPES),
    ("STRICT_TRANS_TABLES", SqlMode::STRICT_TRANS_TABLES),
    ("STRICT_ALL_TABLES", SqlMode::STRICT_ALL_TABLES),
    ("NO_ZERO_IN_DATE", SqlMode::NO_ZERO_IN_DATE),
    ("NO_ZERO_DATE", SqlMode::NO_ZERO_DATE),
    ("ALLOW_INVALID_DATES", SqlMode::ALLOW_INVALID_DATES),
    ("ERROR_FOR_DIVISION_BY_ZERO", SqlMode::ERROR_FOR_DIVISION_BY_ZERO),
    ("TRADITIONAL", SqlMode(0x800_0000)),
    ("HIGH_NOT_PRECEDENCE", SqlMode::HIGH_NOT_PRECEDENCE),
    ("NO_ENGINE_SUBSTITUTION", SqlMode::NO_ENGINE_SUBSTITUTION),
    ("PAD_CHAR_TO_FULL_LENGTH", SqlMode::PAD_CHAR_TO_FULL_LENGTH),
    ("TIME_TRUNCATE_FRACTIONAL", SqlMode::TIME_TRUNCATE_FRACTIONAL),
];
const ANSI: u64 = 0x40000 | 1 | 2 | 4 | 8 | 32;
const TRADITIONAL: u64 =
    0x800_0000 | 0x20_0000 | 0x40_0000 | 0x80_0000 | 0x100_0000 | 0x400_0000 | 0x4000_0000;

/// The mode of a number; errors 1231 and 3899.
pub fn of_number(number: u64) -> Result<SqlMode, SqlError> {
    /// What modes have come to mean that are no more.
    const NOT_USED: u64 = 16;
    let known = MODES.iter().fold(NOT_USED, |all, (_, flag)| all | flag.0);
    let most = SqlMode::TIME_TRUNCATE_FRACTIONAL.0;
    if number >= 2 * most {
        return Err(SqlError::new(ErrorCode::WrongValueForVar, &[&"sql_mode", &number]));
    }
    if number & !known != 0 {
        let unknown = format!("{:08x}", number & !known);
        return Err(SqlError::new(ErrorCode::UnsupportedSqlMode, &[&unknown]));
    }
    let several = [ANSI, TRADITIONAL].into_iter().zip(["ANSI", "TRADITIONAL"]);
    let named = |name: &str| MODES.iter().any(|(n, flag)| *n == name && number & flag.0 != 0);
    let meant = several.filter(|(_, name)| named(name)).fold(number, |all, (bits, _)| all | bits);
    Ok(SqlMode(meant & !NOT_USED))
}

/// The mode of a list of names, behind which spaces may stand; error 1231.
pub fn parse(text: &str) -> Result<SqlMode, SqlError> {
    let mut bits = 0;
    for name in text.trim_end_matches(' ').split(',').filter(|name| !name.is_empty()) {
        let known = MODES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        let Some((known, flag)) = known else {
            return Err(SqlError::new(ErrorCode::WrongValueForVar, &[&"sql_mode", &name]));
        };
        bits |= match *known {
            "ANSI" => ANSI,
            "TRADITIONAL" => TRADITIONAL,
            _ => flag.0,
        };
    }
    Ok(SqlMode(bits))
}

/// The mode as a list of names.
pub fn text(mode: SqlMode) -> String {
    let on = MODES.iter().filter(|(_, flag)| mode.0 & flag.0 != 0);
    on.map(|(name, _)| *name).collect::<Vec<_>>().join(",")
}
