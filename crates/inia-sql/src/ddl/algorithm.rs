//! Which algorithm MySQL would alter a table by: it decides what ALTER TABLE reports as rows
//! affected, and whether a wanted ALGORITHM or LOCK is refused.

use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::charset;
use inia_query::catalog::{ColumnDef, ColumnDefault, IndexKind, TableDef};

const TYPE: &str = "Cannot change column type INPLACE";
const TYPE_INSTANT: &str = "Need to rebuild the table to change column type";
const PRIMARY: &str = "Dropping a primary key is not allowed without also adding a new primary key";
const NULLS: &str = "cannot silently convert NULL values, as required in this SQL_MODE";
const REFERENCES: &str = "Adding foreign keys needs foreign_key_checks=OFF";
const VIRTUAL: &str = "INPLACE ADD or DROP of virtual columns cannot be combined with other ALTER \
                       TABLE actions";
const FULL_TEXT: &str = "InnoDB presently supports one FULLTEXT index creation at a time";

/// How the table is brought to its new definition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Algorithm {
    Instant,
    InPlace,
    /// With the reason why not in place.
    Copy(Option<&'static str>),
}

/// What the actions say of the way.
///
/// Wide: one flag for each kind of change that decides about it.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestedAlgorithm {
    /// ALGORITHM and LOCK as written.
    pub(super) algorithm: Option<String>,
    pub(super) lock: Option<String>,
    /// ORDER BY, or a constraint that rows must be checked against.
    pub(super) copy: bool,
    /// Foreign keys that rows must be checked against.
    pub(super) references: bool,
    /// NULL in a column that takes none any more becomes another value.
    pub(super) lenient: bool,
    /// FORCE, ENGINE, ROW_FORMAT.
    pub(super) rebuild: bool,
    /// Options of the table or of an index.
    pub(super) options: bool,
    /// The table is a temporary one, which no other session can wait for.
    pub(super) temporary: bool,
    /// Its engine knows no other way than a copy.
    pub(super) copied_always: bool,
}

/// The old and the new definition, with the positions that the new parts had.
pub(super) struct Alteration<'a> {
    pub(super) old: &'a TableDef,
    pub(super) new: &'a TableDef,
    pub(super) columns: &'a [Option<usize>],
    pub(super) indexes: &'a [Option<usize>],
    /// Something else changes than indexes that come and go.
    pub(super) beside_indexes: bool,
}

impl Alteration<'_> {
    /// The way MySQL takes.
    pub(super) fn algorithm(&self, wanted: &RequestedAlgorithm) -> Algorithm {
        if wanted.temporary {
            return Algorithm::Copy(None);
        }
        let (old, new) = (self.old, self.new);
        if old.is_merged() || new.is_merged() {
            return match self.keeps_all(wanted) {
                true => Algorithm::Instant,
                false => Algorithm::Copy(None),
            };
        }
        let pairs = || {
            let pair = |(at, origin): (usize, &Option<usize>)| {
                origin.map(|origin| (&old.columns[origin], &new.columns[at]))
            };
            self.columns.iter().enumerate().filter_map(pair)
        };
        if pairs().any(|(a, b)| self.changes_type(a, b)) || self.reorders_index() {
            return Algorithm::Copy(Some(TYPE));
        }
        if wanted.lenient && pairs().any(|(a, b)| a.nullable && !b.nullable) {
            return Algorithm::Copy(Some(NULLS));
        }
        let kept = new.clustered_index().is_some() && self.indexes.first() == Some(&Some(0));
        if old.clustered_index().is_some() && new.primary().is_none() && !kept {
            return Algorithm::Copy(Some(PRIMARY));
        }
        let added = || {
            let fresh = self.columns.iter().enumerate().filter(|(_, origin)| origin.is_none());
            fresh.map(|(at, _)| &new.columns[at])
        };
        let dropped = || {
            let gone = |at: &usize| !self.columns.contains(&Some(*at));
            (0..old.columns.len()).filter(gone).map(|at| &old.columns[at])
        };
        if wanted.references {
            return Algorithm::Copy(Some(REFERENCES));
        }
        let renamed = pairs().any(|(a, b)| a.name != b.name);
        let computed = pairs().any(|(a, b)| a.generated != b.generated);
        let gone: Vec<&ColumnDef> = dropped().collect();
        let loses = loses_virtual(&gone, renamed || added().any(|column| !column.is_virtual()));
        if wanted.copy || computed || loses || added().any(is_filled) {
            return Algorithm::Copy(None);
        }
        let hidden = (added().any(ColumnDef::is_hidden), dropped().any(ColumnDef::is_hidden));
        if self.combines_functions(hidden) {
            return Algorithm::Copy(Some(VIRTUAL));
        }
        let parts = |def: &TableDef| def.clustered_index().map(|index| index.parts.clone());
        let moved = self.columns.iter().flatten().is_sorted();
        if (!moved || added().any(ColumnDef::is_virtual)) && self.moves_virtual() {
            return Algorithm::Copy(None);
        }
        let heavy = wanted.rebuild
            || !moved
            || added().any(needs_geometry)
            || pairs().any(|(a, b)| a.nullable != b.nullable)
            || (new.primary().is_some() && self.indexes.first() != Some(&Some(0)))
            || (parts(old) != parts(new) && old.columns.len() == new.columns.len());
        let light = added().chain(dropped()).any(|column| !column.is_virtual());
        let kept_text =
            self.indexes.iter().enumerate().any(|(at, origin)| {
                origin.is_some() && new.indexes[at].kind == IndexKind::FullText
            });
        if (heavy || light) && kept_text {
            return Algorithm::Copy(Some(FULL_TEXT));
        }
        self.without_copy(wanted, heavy, light)
    }

    /// The way where MySQL's engine for transactions copies no rows; others know no other way.
    fn without_copy(&self, wanted: &RequestedAlgorithm, heavy: bool, light: bool) -> Algorithm {
        let (old, new) = (self.old, self.new);
        let relisted = old.indexes.len() != new.indexes.len() || self.indexes.contains(&None);
        let plain = !new.is_transactional() && (heavy || light || relisted);
        if plain || old.engine != new.engine {
            return Algorithm::Copy(None);
        }
        // Rows of several versions are not compressed.
        let versions = light && old.engine_row_format() == "COMPRESSED";
        match heavy || versions || wanted.options || self.changes_indexes() {
            true => Algorithm::InPlace,
            false => Algorithm::Instant,
        }
    }

    /// Whether nothing changes but the table's name.
    fn keeps_all(&self, wanted: &RequestedAlgorithm) -> bool {
        let (old, new) = (self.old, self.new);
        let visible =
            |def: &TableDef| -> Vec<bool> { def.indexes.iter().map(|i| i.visible).collect() };
        !(wanted.options || wanted.rebuild || wanted.copy)
            && old.columns == new.columns
            && old.checks == new.checks
            && visible(old) == visible(new)
            && !self.changes_indexes()
    }

    /// Why other sessions may not write while an index is made that comes in.
    pub(super) fn locked(&self) -> Option<&'static str> {
        let pairs = self.new.indexes.iter().zip(self.indexes);
        let mut added = pairs.filter(|(_, origin)| origin.is_none()).map(|(index, _)| index.kind);
        added.find_map(|kind| match kind {
            IndexKind::FullText => Some("Fulltext index creation requires a lock"),
            IndexKind::Spatial => Some("Do not support online operation on table with GIS index"),
            _ => None,
        })
    }

    /// Whether indexes come, go or get other names.
    fn changes_indexes(&self) -> bool {
        let (old, new) = (&self.old.indexes, &self.new.indexes);
        let renamed = |(at, origin): (usize, &Option<usize>)| {
            origin.is_none_or(|origin| old[origin].name != new[at].name)
        };
        old.len() != new.len() || self.indexes.iter().enumerate().any(renamed)
    }

    /// Whether columns of indexes' expressions are added or dropped (`hidden`) beside other things.
    fn combines_functions(&self, hidden: (bool, bool)) -> bool {
        match hidden {
            (false, false) => false,
            (true, true) => true,
            _ => self.beside_indexes || self.changes_unique_function(),
        }
    }

    /// Whether a unique index over an expression comes or goes.
    fn changes_unique_function(&self) -> bool {
        let is = |def: &TableDef, at: usize| {
            let index = &def.indexes[at];
            index.unique() && index.parts.iter().any(|part| def.columns[part.column].is_hidden())
        };
        let fresh = self.indexes.iter().enumerate().filter(|(_, origin)| origin.is_none());
        let mut gone = (0..self.old.indexes.len()).filter(|at| !self.indexes.contains(&Some(*at)));
        fresh.into_iter().any(|(at, _)| is(self.new, at)) || gone.any(|at| is(self.old, at))
    }

    /// Whether a virtual column that has been there gets another place.
    fn moves_virtual(&self) -> bool {
        let columns = self.columns.iter().enumerate();
        let mut moved = columns.filter(|(at, origin)| origin.is_some_and(|origin| origin != *at));
        moved.any(|(at, _)| self.new.columns[at].is_virtual())
    }

    /// Whether a column of an index that stays gets another collation.
    fn reorders_index(&self) -> bool {
        let kept = self.indexes.iter().flatten().flat_map(|&at| &self.old.indexes[at].parts);
        let columns: Vec<usize> = kept.map(|part| part.column).collect();
        self.columns.iter().enumerate().any(|(at, origin)| {
            origin.is_some_and(|origin| {
                let collation =
                    |def: &TableDef, at: usize| collation_of(&def.columns[at].data_type);
                columns.contains(&origin) && collation(self.old, origin) != collation(self.new, at)
            })
        })
    }

    /// Whether values must be converted: a longer VARCHAR, and more members at an ENUM's end, need
    /// no conversion.
    pub(super) fn changes_type(&self, old: &ColumnDef, new: &ColumnDef) -> bool {
        if old.auto_increment != new.auto_increment {
            return true;
        }
        let (old, new) = (&old.data_type, &new.data_type);
        let same_charset = |a, b| a == b || charset::charset_name(a) == charset::charset_name(b);
        match (old, new) {
            (
                DataType::VarChar { chars: a, collation: x },
                DataType::VarChar { chars: b, collation: y },
            ) => {
                let long = |chars: u32| chars * charset::max_bytes(*y) > 255;
                a > b || long(*a) != long(*b) || !same_charset(*x, *y)
            }
            (
                DataType::Enum { members: a, collation: x },
                DataType::Enum { members: b, collation: y },
            )
            | (
                DataType::Set { members: a, collation: x },
                DataType::Set { members: b, collation: y },
            ) => !b.starts_with(a) || !same_charset(*x, *y),
            (DataType::Float { unsigned: a, .. }, DataType::Float { unsigned: b, .. })
            | (DataType::Double { unsigned: a, .. }, DataType::Double { unsigned: b, .. }) => {
                a != b
            }
            _ => old != new,
        }
    }
}

fn collation_of(data_type: &DataType) -> Option<Collation> {
    match data_type {
        DataType::Char { collation, .. }
        | DataType::VarChar { collation, .. }
        | DataType::Text { collation, .. } => Some(*collation),
        _ => None,
    }
}

/// Whether existing rows get a new column's values from an expression.
fn is_filled(column: &ColumnDef) -> bool {
    let stored = column.generated.as_ref().is_some_and(|generated| generated.stored);
    stored || matches!(column.default, ColumnDefault::Expression(_))
}

/// Whether a column takes no rows without a geometry: it is NOT NULL and there is no empty one.
pub(super) fn needs_geometry(column: &ColumnDef) -> bool {
    let geometry = matches!(column.data_type, DataType::Geometry { .. });
    geometry && !column.nullable && column.generated.is_none()
}

/// Whether virtual columns are dropped while stored ones change: new ones come, some get other
/// names, or, of an index's expression, some go.
fn loses_virtual(dropped: &[&ColumnDef], changed: bool) -> bool {
    let lost = |is: fn(&ColumnDef) -> bool| dropped.iter().any(|column| is(column));
    lost(ColumnDef::is_virtual)
        && (changed || lost(ColumnDef::is_hidden) && lost(|c| !c.is_virtual()))
}

fn refused(what: &str, reason: Option<&str>, instead: &str) -> SqlError {
    match reason {
        Some(reason) => {
            SqlError::new(ErrorCode::AlterOperationNotSupportedReason, &[&what, &reason, &instead])
        }
        None => SqlError::new(ErrorCode::AlterOperationNotSupported, &[&what, &instead]),
    }
}

impl RequestedAlgorithm {
    /// Errors 1800 and 1801 for words that are no algorithm or lock, 1221 for a lock with INSTANT.
    pub(super) fn check_words(&self) -> Result<(), SqlError> {
        let known = |text: &Option<String>, words: &[&str]| {
            text.as_ref().is_none_or(|text| words.iter().any(|w| w.eq_ignore_ascii_case(text)))
        };
        if !known(&self.algorithm, &["DEFAULT", "INSTANT", "INPLACE", "COPY"]) {
            let written = self.algorithm.as_deref().unwrap_or_default();
            return Err(SqlError::new(ErrorCode::UnknownAlterAlgorithm, &[&written]));
        }
        if !known(&self.lock, &["DEFAULT", "NONE", "SHARED", "EXCLUSIVE"]) {
            let written = self.lock.as_deref().unwrap_or_default();
            return Err(SqlError::new(ErrorCode::UnknownAlterLock, &[&written]));
        }
        if self.asks("INSTANT") && !known(&self.lock, &["DEFAULT"]) {
            let lock = "LOCK=NONE/SHARED/EXCLUSIVE";
            return Err(SqlError::new(ErrorCode::WrongUsage, &[&"ALGORITHM=INSTANT", &lock]));
        }
        Ok(())
    }

    /// Error 1845 of a lock that leaves others the table whose name alone changes.
    pub(super) fn check_rename(&self) -> Result<(), SqlError> {
        let shares = |lock: &str| ["NONE", "SHARED"].iter().any(|w| w.eq_ignore_ascii_case(lock));
        match self.lock.as_deref().is_some_and(shares) && !self.asks("COPY") {
            true => Err(refused("LOCK=NONE/SHARED", None, "LOCK=EXCLUSIVE")),
            false => Ok(()),
        }
    }

    /// Whether this ALGORITHM is asked for.
    pub(super) fn asks(&self, algorithm: &str) -> bool {
        self.algorithm.as_ref().is_some_and(|text| text.eq_ignore_ascii_case(algorithm))
    }

    /// Errors 1845 and 1846 where the wanted way is not one that MySQL could go.
    pub(super) fn check(
        &self,
        way: Algorithm,
        locked: Option<&'static str>,
    ) -> Result<(), SqlError> {
        let unlocked = !self.temporary
            && self.lock.as_ref().is_some_and(|lock| lock.eq_ignore_ascii_case("NONE"));
        if self.asks("COPY") && unlocked {
            let reason = Some("COPY algorithm requires a lock");
            return Err(refused("LOCK=NONE", reason, "LOCK=SHARED"));
        }
        match way {
            Algorithm::Copy(reason) if self.asks("INPLACE") => {
                Err(refused("ALGORITHM=INPLACE", reason, "ALGORITHM=COPY"))
            }
            Algorithm::Copy(reason) if self.asks("INSTANT") => {
                let reason = if reason == Some(TYPE) { Some(TYPE_INSTANT) } else { reason };
                let only_copy = self.copy || self.temporary;
                let instead = if only_copy { "ALGORITHM=COPY" } else { "ALGORITHM=COPY/INPLACE" };
                Err(refused("ALGORITHM=INSTANT", reason, instead))
            }
            Algorithm::Copy(None) if unlocked && self.copied_always => {
                Err(refused("LOCK=NONE", None, "LOCK=SHARED"))
            }
            Algorithm::Copy(reason) if unlocked => {
                let reason = reason.unwrap_or("COPY algorithm requires a lock");
                Err(refused("LOCK=NONE", Some(reason), "LOCK=SHARED"))
            }
            Algorithm::InPlace if self.asks("INSTANT") => {
                Err(refused("ALGORITHM=INSTANT", None, "ALGORITHM=COPY/INPLACE"))
            }
            Algorithm::InPlace if unlocked && locked.is_some() => {
                Err(refused("LOCK=NONE", locked, "LOCK=SHARED"))
            }
            _ => Ok(()),
        }
    }
}
