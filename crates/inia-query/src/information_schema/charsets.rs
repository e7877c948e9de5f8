//! Character sets and collations.

use super::{Information, Rows, row};
use inia_base::collation::{Charset, Collation};

pub(super) fn character_sets(_: &Information<'_>, rows: &mut Rows) {
    for charset in Charset::ALL {
        let collation = charset.default_collation().name();
        let length = u64::from(charset.max_bytes());
        rows.push(row![charset.name(), collation, charset.description(), length]);
    }
}

pub(super) fn collations(_: &Information<'_>, rows: &mut Rows) {
    for collation in Collation::all() {
        rows.push(row![
            collation.name(),
            collation.charset().name(),
            u64::from(collation.0),
            if collation.is_default() { "Yes" } else { "" },
            "Yes",
            u64::from(collation.sort_len()),
            if collation.pads_space() { "PAD SPACE" } else { "NO PAD" },
        ]);
    }
}

pub(super) fn applicability(_: &Information<'_>, rows: &mut Rows) {
    for collation in Collation::all() {
        rows.push(row![collation.name(), collation.charset().name()]);
    }
}
