//! InnoDB's limit of a record: two of them must fit a page.
//!
//! Rows here have no such limit. A definition that MySQL refuses is refused, so that what is built
//! here can be restored there. What a column takes at most depends on the row format:
//!
//! | column | DYNAMIC, COMPRESSED | COMPACT | REDUNDANT |
//! |---|---|---|---|
//! | of fixed length | its bytes | its bytes | its bytes |
//! | of up to 40 bytes | its bytes and 1 | its bytes and 1 | its bytes |
//! | longer | 41: a pointer to other pages | 1 or 2 beside its bytes, 790 at most | 788 at most |
//!
//! The numbers are those that MySQL 8.0.31 accepts and refuses tables by.

use super::engine_options::Definer;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_query::catalog::width::row_bytes;
use inia_query::catalog::{ColumnDef, TableDef};
use inia_query::context::SessionContext;

/// Bytes of a value that stay in the record at most, the pointer to the rest among them.
const LONGEST_PREFIX: u64 = 788;
/// What the error of a change in place names, whatever the row format.
const IN_PLACE_LIMIT: u64 = 8126;
/// How the error of a record begins; that of a row goes on with a full stop.
const RECORD_TOO_LARGE: &str = "Row size too large (> ";
/// The transaction's number and the pointer to the version before.
const SYSTEM_COLUMNS: u64 = 6 + 7;
/// The number of a row without a key.
const ROW_ID: u64 = 6;

/// How a table's records are laid out in InnoDB.
#[derive(Clone, Copy, PartialEq)]
enum RowFormat {
    Dynamic,
    Compact,
    Redundant,
}

impl RowFormat {
    fn of(def: &TableDef) -> RowFormat {
        match def.engine_row_format() {
            "COMPACT" => RowFormat::Compact,
            "REDUNDANT" => RowFormat::Redundant,
            _ => RowFormat::Dynamic,
        }
    }

    /// The longest record.
    fn limit(self) -> u64 {
        if self == RowFormat::Redundant { 8122 } else { 8125 }
    }

    /// What a stored column takes at most.
    fn column_bytes(self, column: &ColumnDef) -> u64 {
        let Some(most) = longest(&column.data_type, self) else {
            return row_bytes(&column.data_type);
        };
        match self {
            RowFormat::Redundant => most.min(LONGEST_PREFIX),
            RowFormat::Compact if most >= LONGEST_PREFIX => LONGEST_PREFIX + 2,
            RowFormat::Compact => most + if most > 255 { 2 } else { 1 },
            RowFormat::Dynamic => most.min(40) + 1,
        }
    }
}

/// The most bytes of a value whose length varies; `None` for one of fixed length.
fn longest(data_type: &DataType, format: RowFormat) -> Option<u64> {
    match data_type {
        DataType::Char { chars, collation } => {
            let bytes = u64::from(collation.charset().max_bytes());
            // Characters of several bytes are not filled up with spaces.
            (bytes > 1 && format != RowFormat::Redundant || bytes * u64::from(*chars) > 767)
                .then(|| bytes * u64::from(*chars))
        }
        DataType::VarChar { chars, collation } => {
            Some(u64::from(*chars) * u64::from(collation.charset().max_bytes()))
        }
        DataType::VarBinary(bytes) => Some(u64::from(*bytes)),
        DataType::Text { .. } | DataType::Blob(_) | DataType::Json | DataType::Geometry { .. } => {
            Some(u64::MAX / 2)
        }
        _ => None,
    }
}

/// The longest record that a table may have.
fn record_bytes(def: &TableDef) -> u64 {
    let format = RowFormat::of(def);
    let is_stored = |column: &&ColumnDef| column.generated.as_ref().is_none_or(|g| g.stored);
    let columns: Vec<&ColumnDef> = def.columns.iter().filter(is_stored).collect();
    let has_key = def.clustered_index().is_some();
    let system = SYSTEM_COLUMNS + if has_key { 0 } else { ROW_ID };
    let header = match format {
        RowFormat::Redundant => 6 + 2 * (columns.len() as u64 + 2 + u64::from(!has_key)),
        _ => 5 + columns.iter().filter(|column| column.nullable).count().div_ceil(8) as u64,
    };
    let values: u64 = columns.iter().map(|column| format.column_bytes(column)).sum();
    header + system + values
}

/// Whether an error 1118 is about a record in a page.
pub(super) fn is_of_record(error: &SqlError) -> bool {
    error.message.starts_with(RECORD_TOO_LARGE)
}

/// Error 1118 of a record that may be too long, or warning 139.
pub(super) fn check(
    session: &mut SessionContext,
    def: &TableDef,
    definer: Definer<'_>,
) -> Result<(), SqlError> {
    let format = RowFormat::of(def);
    let (limit, bytes) = (format.limit(), record_bytes(def));
    // Records that stay as they are may be as long as they were.
    let stay = match definer {
        Definer::Alter { copies: false, rebuilds: false, old } => bytes <= record_bytes(old),
        _ => false,
    };
    if stay || bytes <= limit {
        return Ok(());
    }
    let (others, prefix) = match format {
        RowFormat::Dynamic => ("", 0),
        _ => (" or using ROW_FORMAT=DYNAMIC or ROW_FORMAT=COMPRESSED", 768),
    };
    let limit = limit + 1;
    let text = format!(
        "{RECORD_TOO_LARGE}{limit}). Changing some columns to TEXT or BLOB{others} may help. \
         In current row format, BLOB prefix of {prefix} bytes is stored inline."
    );
    match (session.flag("innodb_strict_mode"), definer) {
        (false, _) => {
            session.push_warning(&SqlError::with_message(ErrorCode::EngineTooBigRow, text));
            Ok(())
        }
        (true, Definer::Alter { copies: false, .. }) => {
            Err(SqlError::new(ErrorCode::TooBigRowsize, &[&IN_PLACE_LIMIT]))
        }
        (true, _) => Err(SqlError::with_message(ErrorCode::TooBigRowsize, text)),
    }
}
