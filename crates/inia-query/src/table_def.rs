//! A table's durable definition: its columns, keys and constraints.
//!
//! Invariants of a [`TableDef`]:
//! - `indexes[0]` is the primary key when there is one; no other index is primary;
//! - `indexes[0]` alone may be clustered: its tree is that of the rows;
//! - every index part names an existing column;
//! - without a clustered index rows are clustered on a hidden 64-bit row id.
//!
//! [`sound`] has the rest, and checks them all.

mod histogram;
mod lengths;
mod merged;
mod partitions;
mod placement;
mod sound;

pub use histogram::{Histogram, HistogramBucket};
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::ids::TreeId;
use inia_base::value::Value;
pub use merged::{MERGED, MergeInsert, MergeUnion};
pub use partitions::{
    Division, DivisionMethod, LeafDef, PartitionBounds, PartitionDef, Partitioning,
};
pub use placement::{ColumnFormat, ColumnStorage, Placement};
use std::borrow::Cow;
use std::sync::Arc;

/// The engine whose tables take part in transactions.
pub const TRANSACTIONAL: &str = "InnoDB";
/// The engine whose tables are empty after a start.
const FLEETING: &str = "MEMORY";
/// The engine whose tables take rows and keep none.
pub const DISCARDING: &str = "BLACKHOLE";
/// The engine whose rows are not changed any more.
const ARCHIVING: &str = "ARCHIVE";
/// The option that has the row format which `innodb_default_row_format` gave a table, where that
/// was not DYNAMIC. It is not shown.
pub const IMPLIED_FORMAT: &str = "IMPLIED_ROW_FORMAT";

/// The option that has the stopwords of a table's FULLTEXT indexes. It is not shown.
pub const STOPWORDS: &str = "FULLTEXT_STOPWORDS";

/// The words that a table's FULLTEXT indexes do not have, from when an index was made last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopwords {
    /// They have all words.
    None,
    /// Those of the default list.
    Default,
    /// Those that a table, `schema/table`, listed.
    Of {
        /// The table.
        table: String,
        /// Its words.
        words: Vec<String>,
    },
}

impl Stopwords {
    /// As an option's value.
    pub fn encode(&self) -> String {
        match self {
            Stopwords::None => String::from("off"),
            Stopwords::Default => String::from("on"),
            Stopwords::Of { table, words } => format!("{table}\n{}", words.join("\n")),
        }
    }

    fn decode(text: &str) -> Stopwords {
        match text {
            "off" => Stopwords::None,
            "on" => Stopwords::Default,
            _ => {
                let mut lines = text.split('\n').map(str::to_owned);
                let table = lines.next().unwrap_or_default();
                Stopwords::Of { table, words: lines.filter(|word| !word.is_empty()).collect() }
            }
        }
    }
}

/// A table's number; it never changes, TRUNCATE and ALTER keep it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableId(pub u64);

/// What a column gets when a statement gives it no value.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnDefault {
    /// No default: NULL for nullable columns when `None` was implicit, an error in strict mode
    /// for the others.
    None,
    /// A constant, already converted to the column's type (`Value::Null` for DEFAULT NULL).
    Value(Value),
    /// Explicitly no default, not even NULL: ALTER COLUMN … DROP DEFAULT of a nullable column.
    Absent,
    /// CURRENT_TIMESTAMP with the column's fractional digits.
    CurrentTimestamp,
    /// DEFAULT (expression), as normalised text.
    Expression(String),
}

/// GENERATED ALWAYS AS (…).
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    /// The expression's text as SHOW CREATE TABLE prints it, without the outer parentheses.
    pub expression: String,
    /// STORED; a VIRTUAL column is kept in the row all the same, only its display differs.
    pub stored: bool,
}

/// One column.
///
/// Wide: one field for each attribute that a column has.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDef {
    /// Name as declared; compared without case.
    pub name: String,
    /// Type.
    pub data_type: DataType,
    /// Declared display width: kept for TINYINT(1), YEAR and ZEROFILL columns.
    pub display_width: Option<u8>,
    /// Declared ZEROFILL.
    pub zerofill: bool,
    /// May be NULL.
    pub nullable: bool,
    /// Default value.
    pub default: ColumnDefault,
    /// ON UPDATE CURRENT_TIMESTAMP.
    pub on_update_now: bool,
    /// AUTO_INCREMENT.
    pub auto_increment: bool,
    /// COMMENT.
    pub comment: String,
    /// Computed column.
    pub generated: Option<Generated>,
    /// Left out of `SELECT *`.
    pub invisible: bool,
    /// The charset or collation was written out with the column (SHOW CREATE repeats it).
    pub explicit_collation: bool,
    /// STORAGE and COLUMN_FORMAT.
    pub placement: Placement,
}

/// How the names of hidden columns begin.
pub const HIDDEN: &str = "!hidden!";

impl ColumnDef {
    /// A column of which nothing else is written out.
    pub fn new(name: impl Into<String>, data_type: DataType, nullable: bool) -> ColumnDef {
        ColumnDef {
            name: name.into(),
            data_type,
            display_width: None,
            zerofill: false,
            nullable,
            default: ColumnDefault::None,
            on_update_now: false,
            auto_increment: false,
            comment: String::new(),
            generated: None,
            invisible: false,
            explicit_collation: false,
            placement: Placement::default(),
        }
    }

    /// The largest number that FLOAT(M,D) or DOUBLE(M,D) takes.
    pub fn limit(&self) -> Option<f64> {
        let (DataType::Float { decimals: Some(decimals), .. }
        | DataType::Double { decimals: Some(decimals), .. }) = self.data_type
        else {
            return None;
        };
        let whole = self.display_width?.saturating_sub(decimals);
        let limit = 10f64.powi(i32::from(whole)) - 10f64.powi(-i32::from(decimals));
        match self.data_type {
            DataType::Float { .. } => Some(f64::from(limit as f32)),
            _ => Some(limit),
        }
    }

    /// Whether the column is computed and counts as not stored.
    pub fn is_virtual(&self) -> bool {
        self.generated.as_ref().is_some_and(|generated| !generated.stored)
    }

    /// Whether the column is an expression of an index, which no statement names.
    pub fn is_hidden(&self) -> bool {
        self.invisible && self.generated.is_some() && self.name.starts_with(HIDDEN)
    }

    /// What plans show for the column: a hidden one goes by its expression.
    pub fn shown_name(&self) -> &str {
        let hidden = self.generated.as_ref().filter(|_| self.is_hidden());
        hidden.map_or(&self.name, |generated| &generated.expression)
    }
}

/// Sorts of index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexKind {
    /// PRIMARY KEY.
    Primary,
    /// UNIQUE.
    Unique,
    /// KEY.
    Plain,
    /// FULLTEXT KEY.
    FullText,
    /// SPATIAL KEY.
    Spatial,
    /// KEY or UNIQUE with a part that is CAST(… AS type ARRAY): an entry for each element.
    MultiValued {
        /// UNIQUE: no two rows may share an element.
        unique: bool,
    },
}

/// One part of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexPart {
    /// Position in [`TableDef::columns`].
    pub column: usize,
    /// Prefix length in characters (bytes for binary types).
    pub prefix: Option<u32>,
    /// DESC.
    pub descending: bool,
}

/// One index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexDef {
    /// Name; `PRIMARY` for the primary key.
    pub name: String,
    /// Sort of index.
    pub kind: IndexKind,
    /// Parts in order.
    pub parts: Vec<IndexPart>,
    /// COMMENT.
    pub comment: String,
    /// INVISIBLE indexes are maintained and never chosen.
    pub visible: bool,
    /// USING BTREE or USING HASH as written.
    pub using: Option<String>,
    /// A foreign key has brought it along: it goes where another index serves.
    pub for_foreign_key: bool,
    /// WITH PARSER ngram: the words of a FULLTEXT KEY are runs of characters.
    pub ngrams: bool,
    /// The type of the elements that a multi-valued index has.
    pub element: Option<DataType>,
    /// Rows are stored in its order, in its tree: it has no entries beside them.
    pub clustered: bool,
    /// Its tree; that of the rows for the clustered index.
    pub tree: TreeId,
}

impl IndexKind {
    /// Whether the index has an entry for each word of a row.
    pub fn has_words(self) -> bool {
        self == IndexKind::FullText
    }

    /// Whether the index has an entry for each element of a row's array.
    pub fn has_elements(self) -> bool {
        matches!(self, IndexKind::MultiValued { .. })
    }

    /// Whether a row has any number of entries.
    pub fn has_several(self) -> bool {
        self.has_words() || self.has_elements()
    }

    /// Whether it is declared unique; of a multi-valued index the elements are.
    pub fn is_unique(self) -> bool {
        use IndexKind as K;
        matches!(self, K::Primary | K::Unique | K::MultiValued { unique: true })
    }

    /// Whether its tree is ordered by the parts: not so where words or places are looked for.
    pub fn has_keys(self) -> bool {
        matches!(self, IndexKind::Primary | IndexKind::Unique | IndexKind::Plain)
    }
}

impl IndexDef {
    /// Whether no two rows may agree on all parts (unless one is NULL).
    pub fn unique(&self) -> bool {
        matches!(self.kind, IndexKind::Primary | IndexKind::Unique)
    }

    /// Whether the index has a tree of entries beside the rows, one entry for each row.
    pub fn has_entries(&self) -> bool {
        !self.clustered && !self.kind.has_several()
    }

    /// Whether one entry keeps another with the same parts out, unless a part is NULL.
    pub fn refuses(&self) -> bool {
        !self.clustered && self.kind.is_unique()
    }
}

/// What a foreign key does when its parent row goes or changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferentialAction {
    /// RESTRICT, as written.
    Restrict,
    /// NO ACTION, as written or by default.
    NoAction,
    /// CASCADE.
    Cascade,
    /// SET NULL.
    SetNull,
    /// SET DEFAULT, which MySQL's default engine refuses.
    SetDefault,
}

/// A foreign key.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignKeyDef {
    /// Constraint name.
    pub name: String,
    /// Child columns, as positions.
    pub columns: Vec<usize>,
    /// Parent schema.
    pub ref_schema: String,
    /// Parent table.
    pub ref_table: String,
    /// Parent column names.
    pub ref_columns: Vec<String>,
    /// ON DELETE.
    pub on_delete: ReferentialAction,
    /// ON UPDATE.
    pub on_update: ReferentialAction,
}

/// A CHECK constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckDef {
    /// Constraint name.
    pub name: String,
    /// The condition as SHOW CREATE TABLE prints it, without the outer parentheses.
    pub expression: String,
    /// Not declared NOT ENFORCED.
    pub enforced: bool,
}

/// A table's durable definition.
///
/// Wide: one field for each attribute that a table has.
#[derive(Clone, Debug, PartialEq)]
pub struct TableDef {
    /// Number.
    pub id: TableId,
    /// Database.
    pub schema: String,
    /// Name.
    pub name: String,
    /// Columns in order.
    pub columns: Vec<ColumnDef>,
    /// Indexes, the primary key first.
    pub indexes: Vec<IndexDef>,
    /// Foreign keys.
    pub foreign_keys: Vec<ForeignKeyDef>,
    /// CHECK constraints.
    pub checks: Vec<CheckDef>,
    /// The tree that holds the rows.
    pub clustered: TreeId,
    /// ENGINE, in MySQL's spelling.
    pub engine: String,
    /// Default collation.
    pub collation: Collation,
    /// COMMENT.
    pub comment: String,
    /// Floor of the AUTO_INCREMENT counter (AUTO_INCREMENT = n, and what ALTER and TRUNCATE keep).
    pub auto_increment: u64,
    /// Further options in the order SHOW CREATE TABLE prints them: (`ROW_FORMAT`, `DYNAMIC`).
    pub options: Vec<(String, String)>,
    /// Seconds since 1970 of the creation.
    pub created: u64,
    /// Only the session that created it sees it; the key of its record shows that.
    pub temporary: bool,
    /// Histograms in the order in which their columns first got one.
    pub histograms: Vec<Arc<Histogram>>,
    /// How it is divided, where it is.
    pub partitioning: Option<Box<Partitioning>>,
    /// What a merged table unites.
    pub union: Option<Box<MergeUnion>>,
}

impl TableDef {
    /// What a further option says; `None` where it is not given.
    pub fn option(&self, wanted: &str) -> Option<&str> {
        let found = self.options.iter().find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.as_str())
    }

    /// The stopwords of its FULLTEXT indexes, where they are kept.
    pub fn stopwords(&self) -> Option<Stopwords> {
        self.option(STOPWORDS).map(Stopwords::decode)
    }

    /// The format that MySQL's engine for transactions gives the rows, in upper case.
    pub fn engine_row_format(&self) -> &'static str {
        let packed = || self.option("KEY_BLOCK_SIZE").map(|_| "COMPRESSED");
        let written = self.option("ROW_FORMAT").or_else(packed);
        match written.or_else(|| self.option(IMPLIED_FORMAT)) {
            Some("COMPRESSED") => "COMPRESSED",
            Some("COMPACT") => "COMPACT",
            Some("REDUNDANT") => "REDUNDANT",
            _ => "DYNAMIC",
        }
    }

    /// Whether rows are taken and not kept.
    pub fn discards_rows(&self) -> bool {
        self.engine == DISCARDING
    }

    /// Whether rows are added only, and neither changed nor deleted.
    pub fn is_append_only(&self) -> bool {
        self.engine == ARCHIVING
    }

    /// Whether rows are gone when the server ends.
    pub fn is_volatile(&self) -> bool {
        self.engine == FLEETING
    }

    /// Whether changes of rows belong to a transaction; else each statement's changes stand.
    #[inline]
    pub fn is_transactional(&self) -> bool {
        self.engine == TRANSACTIONAL
    }

    /// Its trees and those of its partitions.
    pub fn all_trees(&self) -> Vec<TreeId> {
        let mut trees = self.trees();
        let leaves = self.partitioning.iter().flat_map(|by| by.leaves());
        trees.extend(leaves.flat_map(|leaf| &leaf.trees));
        trees
    }

    /// Its own trees, that of the rows first.
    pub fn trees(&self) -> Vec<TreeId> {
        let own = self.indexes.iter().filter(|index| !index.clustered);
        std::iter::once(self.clustered).chain(own.map(|index| index.tree)).collect()
    }

    /// The primary key.
    pub fn primary(&self) -> Option<&IndexDef> {
        self.indexes.first().filter(|index| index.kind == IndexKind::Primary)
    }

    /// The index in whose order rows are stored.
    #[inline]
    pub fn clustered_index(&self) -> Option<&IndexDef> {
        self.indexes.first().filter(|index| index.clustered)
    }

    /// Chooses the clustered index as InnoDB does: the primary key, else the first unique index
    /// over whole stored columns that are never NULL. Other engines have rows in the order in which
    /// they came.
    pub fn choose_clustered(&mut self) {
        let stored = |part: &IndexPart| {
            let column = &self.columns[part.column];
            part.prefix.is_none() && !column.nullable && !column.is_virtual()
        };
        let orders = |index: &IndexDef| match index.kind {
            IndexKind::Primary => true,
            IndexKind::Unique => index.parts.iter().all(stored),
            _ => false,
        };
        let clustered = self.is_transactional() && self.indexes.first().is_some_and(orders);
        for (at, index) in self.indexes.iter_mut().enumerate() {
            index.clustered = clustered && at == 0;
        }
    }

    /// Position of a column, by its name without case.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| same_name(&column.name, name))
    }

    /// Position of an index, by its name without case.
    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.indexes.iter().position(|index| same_name(&index.name, name))
    }

    /// The multi-valued index that has the column for its array.
    pub(crate) fn array_index_of(&self, column: usize) -> Option<&str> {
        let arrays = |index: &&IndexDef| self.array_part(index).is_some_and(|p| p.1 == column);
        self.indexes.iter().find(arrays).map(|index| index.name.as_str())
    }

    /// The part of a multi-valued index that is an array, and its column.
    pub(crate) fn array_part(&self, index: &IndexDef) -> Option<(usize, usize)> {
        index.element.as_ref()?;
        let columns = index.parts.iter().map(|part| part.column);
        columns.enumerate().find(|(_, column)| self.columns[*column].data_type == DataType::Json)
    }

    /// A part of an index's keys: those of a plain index go on with the primary key.
    #[inline]
    pub(crate) fn key_part<'d>(
        &'d self,
        index: &'d IndexDef,
        part: usize,
    ) -> Option<&'d IndexPart> {
        let behind = || match (index.kind, self.clustered_index()) {
            (IndexKind::Plain, Some(clustered)) => clustered.parts.get(part - index.parts.len()),
            _ => None,
        };
        index.parts.get(part).or_else(behind)
    }

    /// The type of the values that a part of an index has: of an array that of its elements.
    pub(crate) fn key_type<'d>(&'d self, index: &'d IndexDef, part: usize) -> Cow<'d, DataType> {
        let column = self.key_part(index, part).map_or(0, |part| part.column);
        let own = &self.columns[column].data_type;
        match (&index.element, own) {
            // Elements compare byte by byte, spaces at their ends too.
            (Some(DataType::VarChar { chars, .. }), DataType::Json) => {
                Cow::Owned(DataType::VarBinary(4 * chars))
            }
            (Some(element), DataType::Json) => Cow::Borrowed(element),
            _ => Cow::Borrowed(own),
        }
    }

    /// The histogram of a column.
    pub(crate) fn histogram(&self, column: usize) -> Option<&Arc<Histogram>> {
        self.histogram_of(&self.columns[column].name)
    }

    /// The histogram of a column, by the column's name without case.
    pub fn histogram_of(&self, column: &str) -> Option<&Arc<Histogram>> {
        self.histograms.iter().find(|histogram| same_name(&histogram.column, column))
    }

    /// Whether a unique index has this column alone.
    pub fn has_own_unique_index(&self, column: usize) -> bool {
        let alone = |index: &IndexDef| index.parts.len() == 1 && index.parts[0].column == column;
        self.indexes.iter().any(|index| index.unique() && alone(index))
    }

    /// The AUTO_INCREMENT column.
    pub fn auto_increment_column(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.auto_increment)
    }
}

/// Whether two column, index or constraint names are the same.
pub fn same_name(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || (!(a.is_ascii() && b.is_ascii()) && fold(a) == fold(b))
}

fn fold(name: &str) -> String {
    name.to_lowercase()
}

#[cfg(test)]
mod tests;
