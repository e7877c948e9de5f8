//! What holds for every table definition; debug builds check each one before DDL records it.
//!
//! - Columns, indexes and constraints have names of their own.
//! - Key parts and foreign keys name columns that there are; `indexes[0]` alone may be primary or
//!   clustered; then its columns are never NULL. The clustered index's tree is that of the rows.
//! - A column gets a value in one way: it is generated, or numbered, or has a default.
//! - A histogram is of one column, which has no unique index for itself.
//! - A table that is stored has a tree for its rows and for each index, and no tree twice.

use super::{ColumnDef, ColumnDefault, HIDDEN, IndexDef, IndexKind, TableDef, TableId, fold};
use inia_base::datatype::DataType;
use inia_base::ids::TreeId;
use inia_base::value::Value;
use inia_expr::{ExprType, TypeClass};
use std::collections::HashSet;

/// The most parts of an index.
const MAX_PARTS: usize = 16;

impl TableDef {
    /// Checks the definition, in debug builds.
    pub(crate) fn debug_check(&self) {
        if !cfg!(debug_assertions) {
            return;
        }
        debug_assert!(self.id != TableId(0), "a table has a number");
        debug_assert!(!self.name.is_empty() && !self.schema.is_empty(), "a table has a name");
        self.check_columns();
        self.check_indexes();
        self.check_constraints();
        self.check_trees();
        self.check_histograms();
    }

    /// Checks a row that is about to be stored, in debug builds.
    #[inline]
    pub(crate) fn debug_check_row(&self, row: &[Value]) {
        if cfg!(debug_assertions) {
            debug_assert_eq!(row.len(), self.columns.len(), "a row has a value for each column");
            row.iter()
                .enumerate()
                .for_each(|(column, value)| self.debug_check_value(column, value));
        }
    }

    /// Checks a value that is about to be stored in a column, in debug builds.
    #[inline]
    pub(crate) fn debug_check_value(&self, column: usize, value: &Value) {
        if cfg!(debug_assertions) {
            let column = &self.columns[column];
            let (name, data_type) = (&column.name, &column.data_type);
            let nullable = column.nullable || *value != Value::Null;
            debug_assert!(nullable, "{name} is not NULL");
            debug_assert!(is_of(value, data_type), "{value:?} is a value of {data_type:?}");
        }
    }

    fn check_columns(&self) {
        debug_assert!(are_apart(self.columns.iter().map(|c| &c.name)), "columns have own names");
        let visible = self.columns.iter().any(|column| !column.invisible);
        debug_assert!(visible, "SELECT * has a column");
        let numbered = self.columns.iter().filter(|column| column.auto_increment).count();
        debug_assert!(numbered <= 1, "one column counts rows");
        if let Some(at) = self.auto_increment_column() {
            let keyed = self.indexes.iter().any(|index| index.parts.iter().any(|p| p.column == at));
            debug_assert!(keyed, "AUTO_INCREMENT finds its last number by a key");
        }
        for (at, column) in self.columns.iter().enumerate() {
            check_column(column);
            let mut parts = self.indexes.iter().flat_map(|index| &index.parts);
            let used = !column.is_hidden() || parts.any(|part| part.column == at);
            debug_assert!(used, "an index has the hidden column {}", column.name);
        }
    }

    fn check_indexes(&self) {
        debug_assert!(are_apart(self.indexes.iter().map(|i| &i.name)), "indexes have own names");
        for (at, index) in self.indexes.iter().enumerate() {
            let primary = index.kind == IndexKind::Primary;
            debug_assert!(!primary || at == 0, "the primary key is the first index");
            debug_assert_eq!(primary, index.name == "PRIMARY", "the primary key goes by its name");
            debug_assert!(!primary || index.visible, "rows are found by the primary key");
            debug_assert!(!index.clustered || at == 0, "the clustered index is the first");
            debug_assert!(!index.clustered || index.unique(), "a clustered key is of one row");
            self.check_parts(index);
        }
    }

    fn check_parts(&self, index: &IndexDef) {
        debug_assert!((1..=MAX_PARTS).contains(&index.parts.len()), "an index has parts");
        let mut seen = HashSet::new();
        debug_assert_eq!(
            index.kind.has_elements(),
            self.array_part(index).is_some(),
            "a multi-valued index has an array"
        );
        for part in &index.parts {
            debug_assert!(part.column < self.columns.len(), "a part is a column");
            debug_assert!(seen.insert(part.column), "a column is one part of a key");
            debug_assert!(part.prefix != Some(0), "a prefix has a character");
            let column = &self.columns[part.column];
            let class = ExprType::of_column(column.data_type.clone(), column.nullable).class();
            let cut = part.prefix.is_none() || class == TypeClass::String;
            debug_assert!(cut, "strings have prefixes");
            if index.kind == IndexKind::Primary || index.clustered {
                debug_assert!(!column.nullable, "no part of a primary key is NULL");
            }
        }
    }

    fn check_constraints(&self) {
        debug_assert!(are_apart(self.checks.iter().map(|c| &c.name)), "constraints have own names");
        let keys = self.foreign_keys.iter().map(|key| &key.name);
        debug_assert!(are_apart(keys), "foreign keys have own names");
        debug_assert!(
            self.foreign_keys.is_empty() || !self.temporary,
            "a temporary table has none"
        );
        let transactional = self.foreign_keys.is_empty() || self.is_transactional();
        debug_assert!(transactional, "rows that belong together change in transactions");
        for key in &self.foreign_keys {
            debug_assert!(!key.columns.is_empty(), "a foreign key has columns");
            debug_assert_eq!(key.columns.len(), key.ref_columns.len(), "each column has a parent");
            let known = key.columns.iter().all(|column| *column < self.columns.len());
            debug_assert!(known, "a foreign key's columns are the table's");
        }
    }

    fn check_histograms(&self) {
        let columns = self.histograms.iter().map(|histogram| &histogram.column);
        debug_assert!(are_apart(columns.clone()), "a column has one histogram");
        for name in columns {
            let column = self.column(name);
            debug_assert!(column.is_some(), "{name} is a column");
            let alone = column.is_some_and(|column| self.has_own_unique_index(column));
            debug_assert!(!alone, "{name} is no key, whose values are all rare");
        }
        debug_assert!(self.histograms.is_empty() || !self.temporary, "others see the table");
    }

    fn check_trees(&self) {
        let trees = self.all_trees();
        if self.clustered == TreeId(0) {
            let none = trees.iter().all(|tree| *tree == TreeId(0));
            debug_assert!(none, "all trees of a table are made together");
            return;
        }
        let own: HashSet<u64> = trees.iter().map(|tree| u64::from(tree.0)).collect();
        debug_assert_eq!(own.len(), trees.len(), "no two indexes share a tree");
        debug_assert!(!own.contains(&0), "each index has a tree");
        let clustered = self.clustered_index().is_none_or(|index| index.tree == self.clustered);
        debug_assert!(clustered, "the clustered index's tree holds the rows");
    }
}

fn check_column(column: &ColumnDef) {
    let name = &column.name;
    let moment = matches!(column.data_type, DataType::DateTime { .. } | DataType::Timestamp { .. });
    debug_assert!(moment || !column.on_update_now, "{name} takes the current time");
    let ty = ExprType::of_column(column.data_type.clone(), column.nullable);
    let number = matches!(ty.class(), TypeClass::Int | TypeClass::Real);
    debug_assert!(number || !column.auto_increment, "{name} is counted in numbers");
    let plain = matches!(column.default, ColumnDefault::None | ColumnDefault::Absent);
    if column.generated.is_some() {
        debug_assert!(plain && !column.on_update_now, "{name} is computed");
        debug_assert!(!column.auto_increment, "{name} is computed");
    }
    debug_assert!(plain || !column.auto_increment, "{name} is numbered");
    match &column.default {
        ColumnDefault::Value(Value::Null) => debug_assert!(column.nullable, "{name} may be NULL"),
        ColumnDefault::CurrentTimestamp => debug_assert!(moment, "{name} takes the current time"),
        ColumnDefault::Expression(text) => debug_assert!(!text.is_empty(), "{name} has a default"),
        ColumnDefault::Value(_) | ColumnDefault::None | ColumnDefault::Absent => {}
    }
    let hidden = !column.name.starts_with(HIDDEN) || column.generated.is_some();
    debug_assert!(hidden, "{name} is an index's expression");
}

/// Whether a column of the type stores the value.
fn is_of(value: &Value, data_type: &DataType) -> bool {
    match (value, data_type) {
        (Value::Null, _) => true,
        (Value::Int(number), DataType::Int { width, unsigned: false }) => {
            let bits = width.bits();
            (-(1i128 << (bits - 1))..1i128 << (bits - 1)).contains(&i128::from(*number))
        }
        (Value::UInt(number), DataType::Int { width, unsigned: true }) => {
            u128::from(*number) < 1u128 << width.bits()
        }
        (Value::UInt(number), DataType::Bit(bits)) => u128::from(*number) < 1u128 << bits,
        (Value::UInt(year), DataType::Year) => *year == 0 || (1901..=2155).contains(year),
        (Value::UInt(member), DataType::Enum { members, .. }) => *member as usize <= members.len(),
        (Value::UInt(bits), DataType::Set { members, .. }) => {
            u128::from(*bits) < 1u128 << members.len()
        }
        (Value::Decimal(number), DataType::Decimal { precision, scale, unsigned }) => {
            let fitted = number.rescale(*precision, *scale);
            let loses = fitted.rounded || fitted.overflow;
            !loses && (!*unsigned || !number.is_negative())
        }
        (Value::Double(number), DataType::Float { .. } | DataType::Double { .. }) => {
            number.is_finite()
        }
        (Value::Text(text), DataType::Char { chars, .. } | DataType::VarChar { chars, .. }) => {
            text.chars().count() <= *chars as usize
        }
        (Value::Text(_), DataType::Text { .. }) => true,
        (Value::Bytes(bytes), DataType::Binary(most) | DataType::VarBinary(most)) => {
            bytes.len() <= *most as usize
        }
        (Value::Bytes(_), DataType::Blob(_) | DataType::Geometry { .. }) => true,
        (Value::Date(_), DataType::Date)
        | (Value::Time(_), DataType::Time { .. })
        | (Value::DateTime(_), DataType::DateTime { .. } | DataType::Timestamp { .. })
        | (Value::Json(_), DataType::Json) => true,
        _ => false,
    }
}

/// Whether no two names are the same.
fn are_apart<'n>(names: impl Iterator<Item = &'n String>) -> bool {
    let mut seen = HashSet::new();
    names.into_iter().all(|name| seen.insert(fold(name)))
}
