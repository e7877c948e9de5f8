//! Tables that unite the rows of others: ENGINE = MERGE.
//!
//! A merged table has no rows of its own. It names tables of MyISAM, its children, whose records
//! and keys must have the form of its own ([`TableDef::unites`]). That is looked at when the table
//! is used, since children come, go and change by themselves. Names and defaults may differ, and a
//! child may have further keys behind those of the table.

use super::{DataType, IndexDef, TableDef};

/// The engine of merged tables.
pub const MERGED: &str = "MRG_MYISAM";
/// The engine of their children.
const CHILD: &str = "MyISAM";

/// UNION and INSERT_METHOD of a merged table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergeUnion {
    /// The children, each by its database and its name.
    pub tables: Vec<(String, String)>,
    /// Which of them takes new rows.
    pub insert: MergeInsert,
}

/// Which child of a merged table takes new rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MergeInsert {
    /// None.
    #[default]
    No,
    /// The first.
    First,
    /// The last.
    Last,
}

impl MergeInsert {
    /// The method of this word of INSERT_METHOD.
    pub fn named(word: &str) -> Option<MergeInsert> {
        match word {
            "NO" => Some(MergeInsert::No),
            "FIRST" => Some(MergeInsert::First),
            "LAST" => Some(MergeInsert::Last),
            _ => None,
        }
    }

    /// As SHOW CREATE TABLE prints it, where it does.
    pub fn shown(self) -> Option<&'static str> {
        match self {
            MergeInsert::No => None,
            MergeInsert::First => Some("FIRST"),
            MergeInsert::Last => Some("LAST"),
        }
    }
}

impl TableDef {
    /// Whether its rows are those of other tables.
    pub fn is_merged(&self) -> bool {
        self.engine == MERGED
    }

    /// Whether a merged table can read and write the records of `child`: those of a table of
    /// MyISAM that has columns of the same form, and first of all keys of the same form. One that
    /// sessions share has no child that one of them alone sees.
    pub fn unites(&self, child: &TableDef) -> bool {
        let columns = self.columns.iter().zip(&child.columns).all(|(own, other)| {
            own.nullable == other.nullable
                && is_stored_alike(&own.data_type, &other.data_type)
                && !other.is_virtual()
        });
        let keys = self.indexes.iter().zip(&child.indexes);
        child.engine == CHILD
            && (self.temporary || !child.temporary)
            && self.columns.len() == child.columns.len()
            && self.indexes.len() <= child.indexes.len()
            && self.packs_rows() == child.packs_rows()
            && columns
            && keys.into_iter().all(|(own, other)| self.has_same_key(own, child, other))
    }

    fn has_same_key(&self, own: &IndexDef, child: &TableDef, other: &IndexDef) -> bool {
        let parts = own.parts.iter().zip(&other.parts).all(|(a, b)| {
            let (x, y) = (&self.columns[a.column], &child.columns[b.column]);
            (a.column, a.prefix, a.descending) == (b.column, b.prefix, b.descending)
                && is_ordered_alike(&x.data_type, &y.data_type)
        });
        other.kind.has_keys() && own.parts.len() == other.parts.len() && parts
    }

    /// Whether MyISAM's records of the table vary in length.
    pub fn packs_rows(&self) -> bool {
        use DataType::{Blob, Geometry, Json, Text};
        let has = |test: fn(&DataType) -> bool| self.columns.iter().any(|c| test(&c.data_type));
        let long = |ty: &DataType| matches!(ty, Text { .. } | Blob(_) | Json | Geometry { .. });
        match self.option("ROW_FORMAT") {
            Some("FIXED") => has(long),
            Some(_) => true,
            None => has(DataType::has_variable_length),
        }
    }
}

/// Whether values of two types are the same bytes in records of one length.
fn is_stored_alike(own: &DataType, child: &DataType) -> bool {
    use DataType as T;
    match (own, child) {
        (T::Char { chars: a, collation: x }, T::Char { chars: b, collation: y })
        | (T::VarChar { chars: a, collation: x }, T::VarChar { chars: b, collation: y }) => {
            a * u32::from(x.charset().max_bytes()) == b * u32::from(y.charset().max_bytes())
        }
        (T::Text { size: a, .. }, T::Text { size: b, .. }) => a == b,
        (T::Enum { members: a, .. }, T::Enum { members: b, .. })
        | (T::Set { members: a, .. }, T::Set { members: b, .. }) => a.len() == b.len(),
        (T::Float { unsigned: a, .. }, T::Float { unsigned: b, .. })
        | (T::Double { unsigned: a, .. }, T::Double { unsigned: b, .. }) => a == b,
        _ => own == child,
    }
}

/// Whether keys of two types that are stored alike are the same bytes, too.
fn is_ordered_alike(own: &DataType, child: &DataType) -> bool {
    use DataType as T;
    match (own, child) {
        (T::Char { collation: x, .. }, T::Char { collation: y, .. })
        | (T::VarChar { collation: x, .. }, T::VarChar { collation: y, .. })
        | (T::Text { collation: x, .. }, T::Text { collation: y, .. }) => x == y,
        _ => true,
    }
}
