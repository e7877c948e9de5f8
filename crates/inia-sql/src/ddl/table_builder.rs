//! A table definition under construction: what CREATE TABLE builds from nothing and ALTER TABLE
//! from an existing table. [`TableBuilder::finish`] makes all checks that need the whole
//! definition.

use super::{fulltext, spatial};
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::ids::TreeId;
use inia_expr::charset;
use inia_parser::ast;
use inia_query::catalog::width::row_bytes;
use inia_query::catalog::{
    CheckDef, ColumnDef, ColumnDefault, ForeignKeyDef, IndexDef, IndexKind, IndexPart, MERGED,
    MergeUnion, Partitioning, TRANSACTIONAL, TableDef, TableId, same_name,
};

/// How many columns a definition may list, and how many a table may have.
const MAX_LISTED: usize = 4096;
const MAX_COLUMNS: usize = 1017;
const MAX_INDEXES: usize = 64;
const MAX_PARTS: usize = 16;
const MAX_KEY_BYTES: u64 = 3072;
const OLDER_PART_BYTES: u64 = 767;
const MAX_ROW_BYTES: u64 = 65_535;

/// A column and where its values come from.
#[derive(Clone, Debug)]
pub(crate) struct ColumnDraft {
    pub(crate) def: ColumnDef,
    /// Its position in the old table.
    pub(crate) origin: Option<usize>,
    /// NULL was written out, which a primary key does not override.
    pub(crate) explicit_null: bool,
}

/// A part of an index, its column by name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct IndexPartDraft {
    pub(crate) column: String,
    pub(crate) prefix: Option<u32>,
    pub(crate) descending: bool,
}

/// An index.
#[derive(Clone, Debug)]
pub(crate) struct IndexDraft {
    pub(crate) name: Option<String>,
    pub(crate) kind: IndexKind,
    pub(crate) parts: Vec<IndexPartDraft>,
    pub(crate) comment: String,
    pub(crate) visible: bool,
    pub(crate) using: Option<String>,
    /// Its position in the old table.
    pub(crate) origin: Option<usize>,
    /// Made for a foreign key: left out where another index serves.
    pub(crate) for_foreign_key: bool,
    /// WITH PARSER ngram.
    pub(crate) ngrams: bool,
    /// The type of a multi-valued index's elements.
    pub(crate) element: Option<DataType>,
    /// Parts that are expressions and have no column yet, by position.
    pub(crate) expressions: Vec<(usize, inia_parser::ast::Expr)>,
}

/// A foreign key, its columns by name.
#[derive(Clone, Debug)]
pub(crate) struct ForeignKeyDraft {
    pub(crate) columns: Vec<String>,
    pub(crate) def: ForeignKeyDef,
    /// The statement brings it in.
    pub(crate) added: bool,
}

/// The definition under construction.
///
/// Wide: one field for each attribute of the table that is being defined.
#[derive(Clone, Debug)]
pub(crate) struct TableBuilder {
    pub(crate) id: TableId,
    pub(crate) schema: String,
    pub(crate) name: String,
    pub(crate) columns: Vec<ColumnDraft>,
    pub(crate) indexes: Vec<IndexDraft>,
    pub(crate) foreign_keys: Vec<ForeignKeyDraft>,
    /// The highest number in the generated name of a foreign key so far.
    pub(crate) last_foreign: u64,
    pub(crate) checks: Vec<CheckDef>,
    pub(crate) engine: String,
    pub(crate) collation: Collation,
    pub(crate) comment: String,
    pub(crate) auto_increment: u64,
    pub(crate) options: Vec<(String, String)>,
    pub(crate) created: u64,
    pub(crate) temporary: bool,
    pub(crate) partitioning: Option<Box<Partitioning>>,
    /// UNION and INSERT_METHOD, which other engines than MERGE pass over.
    pub(crate) union: MergeUnion,
    pub(crate) warnings: Vec<SqlError>,
}

fn error<T>(code: ErrorCode, args: &[&dyn std::fmt::Display]) -> Result<T, SqlError> {
    Err(SqlError::new(code, args))
}

impl TableBuilder {
    /// An empty definition.
    pub(crate) fn new(schema: &str, name: &str, collation: Collation) -> TableBuilder {
        TableBuilder {
            id: TableId(0),
            schema: schema.to_owned(),
            name: name.to_owned(),
            columns: Vec::new(),
            indexes: Vec::new(),
            foreign_keys: Vec::new(),
            last_foreign: 0,
            checks: Vec::new(),
            engine: String::from("InnoDB"),
            collation,
            comment: String::new(),
            auto_increment: 0,
            options: Vec::new(),
            created: 0,
            temporary: false,
            partitioning: None,
            union: MergeUnion::default(),
            warnings: Vec::new(),
        }
    }

    /// The definition of an existing table.
    pub(crate) fn from_table(def: &TableDef) -> TableBuilder {
        // Origins lead from the new definition back to the stored values and trees.
        let column = |(i, def): (usize, &ColumnDef)| ColumnDraft {
            def: def.clone(),
            origin: Some(i),
            explicit_null: false,
        };
        let name_of = |column: usize| def.columns[column].name.clone();
        // Key parts name their columns, because actions move and rename columns.
        let index = |(i, index): (usize, &IndexDef)| IndexDraft {
            name: Some(index.name.clone()),
            kind: index.kind,
            parts: index
                .parts
                .iter()
                .map(|part| IndexPartDraft {
                    column: name_of(part.column),
                    prefix: part.prefix,
                    descending: part.descending,
                })
                .collect(),
            comment: index.comment.clone(),
            visible: index.visible,
            using: index.using.clone(),
            origin: Some(i),
            for_foreign_key: index.for_foreign_key,
            ngrams: index.ngrams,
            element: index.element.clone(),
            expressions: Vec::new(),
        };
        let foreign_key = |key: &ForeignKeyDef| ForeignKeyDraft {
            columns: key.columns.iter().map(|c| name_of(*c)).collect(),
            def: key.clone(),
            added: false,
        };
        // Generated names of new foreign keys count on from the highest number.
        let numbers = def.foreign_keys.iter().filter_map(|key| {
            key.name.strip_prefix(&def.name)?.strip_prefix("_ibfk_")?.parse::<u64>().ok()
        });
        TableBuilder {
            id: def.id,
            columns: def.columns.iter().enumerate().map(column).collect(),
            indexes: def.indexes.iter().enumerate().map(index).collect(),
            foreign_keys: def.foreign_keys.iter().map(foreign_key).collect(),
            last_foreign: numbers.max().unwrap_or(0),
            checks: def.checks.clone(),
            engine: def.engine.clone(),
            comment: def.comment.clone(),
            auto_increment: def.auto_increment,
            options: def.options.clone(),
            created: def.created,
            temporary: def.temporary,
            partitioning: def.partitioning.clone(),
            union: def.union.as_deref().cloned().unwrap_or_default(),
            ..TableBuilder::new(&def.schema, &def.name, def.collation)
        }
    }

    /// Position of a column.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| same_name(&column.def.name, name))
    }

    /// Brings the column names of an expression node to the form in which they are stored.
    pub(crate) fn spell_columns(&self, node: &mut ast::Expr) {
        use ast::Expr::{Column, DefaultOf, JsonExtract, Match};
        let spell = |name: &mut ast::ColumnName| {
            if let Some(index) = self.column(&name.name) {
                *name = ast::ColumnName::bare(self.columns[index].def.name.clone());
            }
        };
        match node {
            Column(name) | DefaultOf(name) | JsonExtract { column: name, .. } => spell(name),
            Match { columns, .. } => columns.iter_mut().for_each(spell),
            _ => {}
        }
    }

    /// Position of an index.
    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        let named = |index: &IndexDraft| index.name.as_deref().is_some_and(|n| same_name(n, name));
        self.indexes.iter().position(named)
    }

    /// Error 1117, checked before all others: comparing the names of a longer list takes long.
    pub(crate) fn check_listed(&self, added: usize) -> Result<(), SqlError> {
        match self.columns.len() + added > MAX_LISTED {
            true => error(ErrorCode::TooManyFields, &[]),
            false => Ok(()),
        }
    }

    /// Adds a column at `place`, or at the end; error 1060.
    pub(crate) fn add_column(
        &mut self,
        place: Option<usize>,
        column: ColumnDraft,
    ) -> Result<(), SqlError> {
        if self.column(&column.def.name).is_some() {
            return error(ErrorCode::DupFieldname, &[&column.def.name]);
        }
        self.columns.insert(place.unwrap_or(self.columns.len()), column);
        Ok(())
    }

    /// Makes all checks and gives the definition, its trees still without numbers, with the
    /// origins of its columns and indexes.
    pub(crate) fn finish(mut self) -> Result<Finished, SqlError> {
        self.check_memory()?;
        if self.columns.iter().all(|column| column.def.invisible) {
            return error(ErrorCode::TableMustHaveAVisibleColumn, &[]);
        }
        self.drop_needless_indexes();
        if self.indexes.len() > MAX_INDEXES {
            return error(ErrorCode::TooManyKeys, &[&MAX_INDEXES]);
        }
        spatial::turn_plain(&mut self)?;
        self.prepare_primary()?;
        self.name_indexes()?;
        fulltext::check_engine(&self)?;
        let mut indexes = Vec::with_capacity(self.indexes.len());
        for index in &self.indexes {
            indexes.push((self.finish_index(index)?, index.origin));
        }
        fulltext::check_table(&self, &indexes)?;
        self.check_auto_increment(&indexes)?;
        self.check_row_size()?;
        if self.columns.len() > MAX_COLUMNS {
            return error(ErrorCode::TooManyFields, &[]);
        }
        let warned = self.indexes.iter().filter_map(|index| {
            let column = self.column(&index.parts.first()?.column)?;
            spatial::warning(index, &self.columns[column].def)
        });
        let warned: Vec<SqlError> = warned.collect();
        self.warnings.extend(warned);
        self.warn_duplicates(&indexes);
        indexes.sort_by_key(|(index, _)| self.rank(index));
        let mut foreign_keys = self.finish_foreign_keys()?;
        if self.engine != TRANSACTIONAL {
            // Only their indexes stay.
            foreign_keys.clear();
            self.foreign_keys.clear();
        }
        let keys = self.foreign_keys.iter().enumerate();
        let added_keys = keys.filter(|(_, key)| key.added).map(|(at, _)| at).collect();
        let (indexes, index_origins) = indexes.into_iter().unzip();
        let column_origins = self.columns.iter().map(|column| column.origin).collect();
        let mut def = TableDef {
            id: self.id,
            schema: self.schema,
            name: self.name,
            columns: self.columns.into_iter().map(|column| column.def).collect(),
            indexes,
            foreign_keys,
            checks: self.checks,
            clustered: TreeId(0),
            engine: self.engine,
            collation: self.collation,
            comment: self.comment,
            auto_increment: self.auto_increment,
            options: self.options,
            created: self.created,
            temporary: self.temporary,
            histograms: Vec::new(),
            partitioning: self.partitioning,
            union: None,
        };
        def.union = def.is_merged().then(|| Box::new(self.union));
        if def.auto_increment_column().is_none() && def.engine == TRANSACTIONAL {
            // The option says nothing then; other engines keep it for a column to come.
            def.auto_increment = 0;
        }
        super::partition::finish(&mut def)?;
        def.choose_clustered();
        Ok(Finished { def, column_origins, index_origins, added_keys, warnings: self.warnings })
    }

    /// Errors 1178 and 1163: columns that MEMORY has not, and indexes that others have not either.
    fn check_memory(&self) -> Result<(), SqlError> {
        use DataType as T;
        let has_elements = self.indexes.iter().any(|index| index.kind.has_elements());
        if has_elements && !matches!(self.engine.as_str(), TRANSACTIONAL | "MEMORY") {
            return error(ErrorCode::CheckNotImplemented, &[&"multi-valued indexes"]);
        }
        const PLAIN: [&str; 4] = ["ARCHIVE", "BLACKHOLE", "CSV", "MEMORY"];
        if PLAIN.contains(&self.engine.as_str()) {
            self.check_computed()?;
        }
        let any = |wanted: fn(&DataType) -> bool| {
            self.columns.iter().any(|column| wanted(&column.def.data_type))
        };
        let has = |wanted| self.engine == "MEMORY" && any(wanted);
        let unplaced = self.engine == "MEMORY" || self.engine == MERGED;
        if unplaced && any(|data_type| matches!(data_type, T::Geometry { .. })) {
            return error(ErrorCode::CheckNotImplemented, &[&"GEOMETRY"]);
        }
        if has(|data_type| matches!(data_type, T::Text { .. } | T::Blob(_) | T::Json)) {
            return error(ErrorCode::TableCantHandleBlob, &[]);
        }
        Ok(())
    }

    /// Errors 3774 and 3106: columns that are computed, where an engine has none.
    fn check_computed(&self) -> Result<(), SqlError> {
        let what = "Specified storage engine";
        let mut columns = self.columns.iter().map(|column| &column.def);
        if columns.clone().any(|def| matches!(def.default, ColumnDefault::Expression(_))) {
            return error(ErrorCode::UnsupportedActionOnDefaultValGenerated, &[&what]);
        }
        if columns.any(|def| def.generated.is_some() && !def.is_hidden()) {
            return error(ErrorCode::UnsupportedActionOnGeneratedColumn, &[&what]);
        }
        Ok(())
    }

    /// A foreign key's own index goes where another index starts with its columns; of those of two
    /// foreign keys the longer one stays, else the later one.
    pub(super) fn drop_needless_indexes(&mut self) {
        let serves = |other: &IndexDraft, index: &IndexDraft| {
            let same = |(a, b): (&IndexPartDraft, &IndexPartDraft)| {
                let whole = a.prefix.is_none() && a.descending == b.descending;
                whole && same_name(&a.column, &b.column)
            };
            other.kind.has_keys()
                && other.parts.len() >= index.parts.len()
                && other.parts.iter().zip(&index.parts).all(same)
        };
        let stronger = |(i, other): (usize, &IndexDraft), (at, index): (usize, &IndexDraft)| {
            let longer = other.parts.len() > index.parts.len();
            !other.for_foreign_key || longer || i > at
        };
        let mut at = 0;
        while at < self.indexes.len() {
            let index = &self.indexes[at];
            let mut others = self.indexes.iter().enumerate().filter(|(i, _)| *i != at);
            let needless = index.for_foreign_key
                && others
                    .any(|(i, other)| serves(other, index) && stronger((i, other), (at, index)));
            if needless {
                self.indexes.remove(at);
            } else {
                at += 1;
            }
        }
    }

    fn prepare_primary(&mut self) -> Result<(), SqlError> {
        let mut primaries = self.indexes.iter().filter(|i| i.kind == IndexKind::Primary);
        let Some(primary) = primaries.next() else { return Ok(()) };
        if primaries.next().is_some() {
            return error(ErrorCode::MultiplePriKey, &[]);
        }
        for name in primary.parts.iter().map(|part| part.column.clone()).collect::<Vec<_>>() {
            let Some(column) = self.column(&name) else { continue };
            let column = &mut self.columns[column];
            if column.explicit_null {
                return error(ErrorCode::PrimaryCantHaveNull, &[]);
            }
            column.def.nullable = false;
            if column.def.default
                == inia_query::catalog::ColumnDefault::Value(inia_base::value::Value::Null)
            {
                column.def.default = inia_query::catalog::ColumnDefault::None;
            }
        }
        Ok(())
    }

    /// Names the indexes that have no names; errors 1280 and 1061.
    pub(super) fn name_indexes(&mut self) -> Result<(), SqlError> {
        for at in 0..self.indexes.len() {
            if self.indexes[at].kind == IndexKind::Primary {
                self.indexes[at].name = Some(String::from("PRIMARY"));
                continue;
            }
            let name = match &self.indexes[at].name {
                Some(name) => name.clone(),
                None => {
                    let base = self.indexes[at].parts.first();
                    let base = base.map_or_else(String::new, |part| part.column.clone());
                    let hidden =
                        self.column(&base).is_some_and(|c| self.columns[c].def.is_hidden());
                    let base = if hidden { String::from("functional_index") } else { base };
                    self.free_index_name(&base)
                }
            };
            if same_name(&name, "PRIMARY") {
                return error(ErrorCode::WrongNameForIndex, &[&name]);
            }
            let named = |i: &IndexDraft| i.name.as_deref().is_some_and(|n| same_name(n, &name));
            if self.indexes[..at].iter().any(named) {
                return error(ErrorCode::DupKeyname, &[&name]);
            }
            self.indexes[at].name = Some(name);
        }
        Ok(())
    }

    /// An unnamed index is called after its first column, with `_2`, `_3` … where that is taken.
    fn free_index_name(&self, base: &str) -> String {
        let base = match self.column(base) {
            Some(column) => self.columns[column].def.name.as_str(),
            None => base,
        };
        let taken = |name: &str| self.index(name).is_some() || same_name(name, "PRIMARY");
        if !taken(base) {
            return base.to_owned();
        }
        (2..).map(|n| format!("{base}_{n}")).find(|name| !taken(name)).unwrap_or_default()
    }

    /// The most bytes of a part of a key: fewer in the older row formats of InnoDB.
    fn longest_part(&self) -> u64 {
        let format = self.options.iter().find(|(name, _)| name == "ROW_FORMAT");
        let older = format.is_some_and(|(_, f)| matches!(f.as_str(), "COMPACT" | "REDUNDANT"));
        if older && self.engine == TRANSACTIONAL { OLDER_PART_BYTES } else { MAX_KEY_BYTES }
    }

    fn finish_index(&self, index: &IndexDraft) -> Result<IndexDef, SqlError> {
        if index.parts.len() > MAX_PARTS {
            return error(ErrorCode::TooManyKeyParts, &[&MAX_PARTS]);
        }
        let mut parts: Vec<IndexPart> = Vec::with_capacity(index.parts.len());
        let mut bytes = 0;
        spatial::check_parts(index)?;
        for part in &index.parts {
            let Some(column) = self.column(&part.column) else {
                return error(ErrorCode::KeyColumnDoesNotExist, &[&part.column]);
            };
            if parts.iter().any(|other| other.column == column) {
                return error(ErrorCode::DupFieldname, &[&part.column]);
            }
            let def = &self.columns[column].def;
            if let (Some(element), true, DataType::Json) =
                (&index.element, def.is_hidden(), &def.data_type)
            {
                // An element stands in the key for the array, whole.
                bytes += part_bytes(&ColumnDef::new("", element.clone(), true), None);
                parts.push(IndexPart { column, prefix: None, descending: false });
                continue;
            }
            if let Some(what) = refused_virtual(index.kind, def) {
                return error(ErrorCode::UnsupportedActionOnGeneratedColumn, &[&what]);
            }
            // A full-text index takes whole texts: prefixes and the key length do not apply.
            let prefix = match index.kind {
                IndexKind::Spatial => spatial::prefix(part, def)?,
                IndexKind::FullText if def.data_type == DataType::Json => {
                    return error(ErrorCode::JsonUsedAsKey, &[&def.name]);
                }
                IndexKind::FullText if !is_text(&def.data_type) => {
                    return error(ErrorCode::BadFtColumn, &[&def.name]);
                }
                IndexKind::FullText if part.descending => {
                    let order = [&"spatial/fulltext/hash index", &"explicit index order"];
                    return Err(SqlError::new(ErrorCode::WrongUsage, &order.map(|x| x as _)));
                }
                IndexKind::FullText => {
                    let first = parts.first().map_or(column, |part| part.column);
                    fulltext::check_collations(&self.columns[first].def, def)?;
                    None
                }
                _ => prefix_of(def, part.prefix)?,
            };
            let part_len = part_bytes(def, prefix);
            if part_len > self.longest_part() && index.kind != IndexKind::FullText {
                return error(ErrorCode::TooLongKey, &[&self.longest_part()]);
            }
            bytes += part_len;
            parts.push(IndexPart { column, prefix, descending: part.descending });
        }
        if bytes > MAX_KEY_BYTES && !matches!(index.kind, IndexKind::FullText) {
            return error(ErrorCode::TooLongKey, &[&MAX_KEY_BYTES]);
        }
        Ok(IndexDef {
            name: index.name.clone().unwrap_or_default(),
            kind: index.kind,
            parts,
            comment: index.comment.clone(),
            visible: index.visible,
            using: index.using.clone(),
            for_foreign_key: index.for_foreign_key,
            ngrams: index.ngrams,
            element: index.element.clone(),
            clustered: false,
            tree: TreeId(0),
        })
    }

    fn check_auto_increment(
        &mut self,
        indexes: &[(IndexDef, Option<usize>)],
    ) -> Result<(), SqlError> {
        let mut auto = self.columns.iter().enumerate().filter(|(_, c)| c.def.auto_increment);
        let Some((column, builder)) = auto.next() else { return Ok(()) };
        let first = |(index, _): &(IndexDef, Option<usize>)| index.parts[0].column == column;
        if auto.next().is_some() || !indexes.iter().any(first) {
            return error(ErrorCode::WrongAutoKey, &[]);
        }
        let number = matches!(
            builder.def.data_type,
            DataType::Int { .. } | DataType::Float { .. } | DataType::Double { .. }
        );
        if !number {
            return error(ErrorCode::WrongFieldSpec, &[&builder.def.name]);
        }
        if !matches!(builder.def.data_type, DataType::Int { .. }) && builder.origin.is_none() {
            let code = ErrorCode::WarnDeprecatedFloatAutoIncrement;
            let warning = SqlError::new(code, &[&builder.def.name]);
            self.warnings.push(warning);
        }
        Ok(())
    }

    fn check_row_size(&self) -> Result<(), SqlError> {
        let bytes: u64 = self.columns.iter().map(|c| row_bytes(&c.def.data_type)).sum();
        let nullable = self.columns.iter().filter(|c| c.def.nullable).count() as u64;
        if bytes + nullable.div_ceil(8) > MAX_ROW_BYTES {
            return error(ErrorCode::TooBigRowsize, &[&MAX_ROW_BYTES]);
        }
        Ok(())
    }

    fn warn_duplicates(&mut self, indexes: &[(IndexDef, Option<usize>)]) {
        for (at, (index, origin)) in indexes.iter().enumerate() {
            let tree = |index: &IndexDef| index.using.as_deref() == Some("BTREE");
            let same = |other: &IndexDef| {
                let method = self.engine != "MEMORY" || tree(other) == tree(index);
                method && other.kind == index.kind && other.parts == index.parts
            };
            let repeats = indexes[..at].iter().any(|(other, _)| same(other));
            if origin.is_none() && repeats && index.kind != IndexKind::Primary {
                let args: [&dyn std::fmt::Display; 3] = [&index.name, &self.schema, &self.name];
                self.warnings.push(SqlError::new(ErrorCode::DupIndex, &args));
            }
        }
    }

    /// MySQL's order of indexes: primary, unique without NULL, unique, plain, full text. Of unique
    /// ones those with prefixes come later; within those, indexes of columns that are not stored.
    fn rank(&self, index: &IndexDef) -> (u8, bool) {
        let nullable = index.parts.iter().any(|part| self.columns[part.column].def.nullable);
        let partial = index.parts.iter().any(|part| part.prefix.is_some());
        let computed = |part: &IndexPart| {
            let generated = &self.columns[part.column].def.generated;
            generated.as_ref().is_some_and(|generated| !generated.stored)
        };
        let rank = match index.kind {
            IndexKind::Primary => 0,
            IndexKind::Unique if !nullable && !partial => 1,
            IndexKind::Unique if !nullable => 2,
            kind if kind.is_unique() && !partial => 3,
            kind if kind.is_unique() => 4,
            IndexKind::Unique
            | IndexKind::Plain
            | IndexKind::Spatial
            | IndexKind::MultiValued { .. } => 5,
            IndexKind::FullText => 6,
        };
        (rank, index.parts.iter().any(computed))
    }

    fn finish_foreign_keys(&self) -> Result<Vec<ForeignKeyDef>, SqlError> {
        let mut out: Vec<ForeignKeyDef> = Vec::new();
        for key in &self.foreign_keys {
            if out.iter().any(|other| same_name(&other.name, &key.def.name)) {
                return error(ErrorCode::FkDupName, &[&key.def.name]);
            }
            let mut columns = Vec::with_capacity(key.columns.len());
            for name in &key.columns {
                let Some(column) = self.column(name) else {
                    return error(ErrorCode::KeyColumnDoesNotExist, &[name]);
                };
                columns.push(column);
            }
            out.push(ForeignKeyDef { columns, ..key.def.clone() });
        }
        Ok(out)
    }
}

/// What [`TableBuilder::finish`] gives.
pub(crate) struct Finished {
    pub(crate) def: TableDef,
    /// For each column its position in the old table.
    pub(crate) column_origins: Vec<Option<usize>>,
    /// For each index its position in the old table.
    pub(crate) index_origins: Vec<Option<usize>>,
    /// The positions of foreign keys that were not there before.
    pub(crate) added_keys: Vec<usize>,
    pub(crate) warnings: Vec<SqlError>,
}

/// What error 3106 says of an index that may not have the column: MySQL indexes virtual ones only
/// in secondary B-trees.
fn refused_virtual(kind: IndexKind, def: &ColumnDef) -> Option<&'static str> {
    match kind {
        _ if !def.is_virtual() => None,
        IndexKind::Primary => Some("Defining a virtual generated column as primary key"),
        IndexKind::FullText => Some("Fulltext index on virtual generated column"),
        _ => None,
    }
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Char { .. } | DataType::VarChar { .. } | DataType::Text { .. })
}

/// The prefix length to keep: none where it covers the whole column; errors 1170, 1089, 3152.
fn prefix_of(def: &ColumnDef, prefix: Option<u32>) -> Result<Option<u32>, SqlError> {
    if def.data_type == DataType::Json {
        return error(ErrorCode::JsonUsedAsKey, &[&def.name]);
    }
    let lob = matches!(def.data_type, DataType::Text { .. } | DataType::Blob(_));
    let whole = match def.data_type {
        DataType::Char { chars, .. } | DataType::VarChar { chars, .. } => Some(chars),
        DataType::Binary(bytes) | DataType::VarBinary(bytes) => Some(bytes),
        _ => None,
    };
    match (prefix, whole) {
        (None, _) if lob => error(ErrorCode::BlobKeyWithoutLength, &[&def.name]),
        (None, _) => Ok(None),
        (Some(0), _) => error(ErrorCode::KeyPart0, &[&def.name]),
        (Some(_), _) if lob => Ok(prefix),
        (Some(length), Some(whole)) if length < whole => Ok(prefix),
        (Some(length), Some(whole)) if length == whole => Ok(None),
        _ => error(ErrorCode::WrongSubKey, &[]),
    }
}

fn part_bytes(def: &ColumnDef, prefix: Option<u32>) -> u64 {
    let length = |whole: u32| u64::from(prefix.unwrap_or(whole));
    match &def.data_type {
        DataType::Char { chars, collation } | DataType::VarChar { chars, collation } => {
            length(*chars) * u64::from(charset::max_bytes(*collation))
        }
        DataType::Text { collation, .. } => length(0) * u64::from(charset::max_bytes(*collation)),
        DataType::Binary(bytes) | DataType::VarBinary(bytes) => length(*bytes),
        DataType::Blob(_) => length(0),
        other => row_bytes(other),
    }
}
