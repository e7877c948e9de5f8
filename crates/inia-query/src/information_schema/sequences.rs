//! What sequences add to TABLES.
//!
//! TABLE_TYPE is an ENUM of MySQL's, which has no member for them: ENGINE says what they are.

use super::{Information, Rows, row};
use inia_base::value::Value;

/// The rows of TABLES that sequences have.
pub(super) fn tables(info: &Information<'_>, rows: &mut Rows) {
    let sequences = info.catalog.schemas.values().flat_map(|schema| schema.sequences.values());
    for sequence in sequences.filter(|one| info.shows(&one.def.schema, &one.def.name)) {
        let def = &sequence.def;
        let mut row = row![
            "def",
            def.schema.as_str(),
            def.name.as_str(),
            "BASE TABLE",
            "SEQUENCE",
            10i64,
            Value::Null,
            1u64
        ];
        row.extend(std::iter::repeat_n(Value::Null, 6));
        row.push(info.moment(def.created));
        row.extend(std::iter::repeat_n(Value::Null, 5));
        row.push(def.comment.as_str().into());
        rows.push(row);
    }
}
