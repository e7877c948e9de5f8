//! Foreign keys: children need their parent, and changes of a parent reach its children.
//!
//! Checks run after the row itself was written, in the same statement, so that a row may refer to
//! itself and a cascade never meets the row that started it; an error undoes the statement.
//! A parent is looked up with a shared lock, children are found with exclusive locks, as in MySQL.
//!
//! As in MySQL, too, a row that refers to itself holds its key: it cannot be changed, and the row
//! not deleted where its foreign key restricts that. And no update reaches a table that is being
//! updated on the way there: with `p` in `t` referring to `t`'s `id` ON UPDATE CASCADE, an `id`
//! that some row refers to cannot change.

use super::change::exclusive_request;
use super::fill::Fills;
use super::write::{RowChange, RowWriter, Written, duplicate_error, values};
use crate::catalog::{
    ForeignKeyDef, IndexDef, IndexPart, ReferentialAction, Table, TableDef, foreign_key_text,
    quoted,
};
use crate::context::SessionContext;
use crate::error::StorageResult;
use crate::row::{Cell, prefix_successor};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::temporal::TimeZone;
use inia_base::value::Value;
use inia_expr::{NoSubqueries, Strictness};
use inia_storage::{Direction, KeyBound, LockMode, LockRequest, ReadMode, WaitPolicy};
use std::sync::Arc;

/// The depth of cascades that is an error.
const MAX_DEPTH: u32 = 15;

/// A row's clustered key and bytes.
type Found = (Vec<u8>, Vec<u8>);

/// The foreign keys that a table's changes must obey.
pub(crate) struct Foreign {
    table: Arc<Table>,
    /// For each of the table's own foreign keys its parent.
    parents: Vec<(ForeignKeyDef, Arc<Table>)>,
    /// Foreign keys of other tables (or its own) that refer to it.
    children: Vec<(ForeignKeyDef, Arc<Table>)>,
}

/// What happened to a parent row: its old values, and the new ones of an update.
struct ParentChange<'v> {
    old: &'v [Value],
    new: Option<&'v [Value]>,
}

/// The way of a change from the row that the statement names to a table.
struct Path<'p> {
    table: &'p Table,
    /// Its rows are updated, not deleted.
    updates: bool,
    before: Option<&'p Path<'p>>,
}

impl Path<'_> {
    /// Whether rows of this table are updated on the way.
    fn has_updated(&self, table: &Table) -> bool {
        (self.updates && is_same(self.table, table))
            || self.before.is_some_and(|before| before.has_updated(table))
    }

    fn depth(&self) -> u32 {
        self.before.map_or(0, |before| before.depth() + 1)
    }
}

fn is_same(a: &Table, b: &Table) -> bool {
    a.def.name == b.def.name && a.def.schema == b.def.schema
}

/// Whether an error says that there is no such table.
fn is_gone(error: &SqlError) -> bool {
    use ErrorCode::{NoSuchTable, UnknownDatabase, WrongObject};
    [NoSuchTable, UnknownDatabase, WrongObject].contains(&error.code)
}

impl Foreign {
    /// The foreign keys around a table; `None` without any, or while they are switched off.
    pub(crate) fn load(
        session: &SessionContext,
        table: &Arc<Table>,
    ) -> Result<Option<Foreign>, SqlError> {
        let referring = session.db.catalog().has_references() && !table.def.temporary;
        if !referring || !session.flag("foreign_key_checks") {
            return Ok(None);
        }
        loop {
            match Foreign::open(session, table) {
                // A child was dropped, or got another name, since the catalog was looked at.
                Err(error) if is_gone(&error) => {}
                opened => return opened,
            }
        }
    }

    fn open(session: &SessionContext, table: &Arc<Table>) -> Result<Option<Foreign>, SqlError> {
        let catalog = session.db.catalog().current();
        let mut parents = Vec::new();
        for key in &table.def.foreign_keys {
            let missing = || constraint_error(session, ErrorCode::NoReferencedRow2, table, key);
            let parent = session.open_stored(&key.ref_schema, &key.ref_table);
            let parent = parent.map_err(|e| if is_gone(&e) { missing() } else { e })?;
            if !parent.def.is_transactional() {
                return Err(missing());
            }
            parents.push((key.clone(), parent));
        }
        let mut children = Vec::new();
        let name = (table.def.schema.clone(), table.def.name.clone());
        for (schema, child) in catalog.references.get(&name).into_iter().flatten() {
            let child = session.open_stored(schema, child)?;
            for key in &child.def.foreign_keys {
                if key.ref_schema == name.0 && key.ref_table == name.1 {
                    children.push((key.clone(), child.clone()));
                }
            }
        }
        // MySQL goes from index to index of the parent, and through its children by database and
        // name: a child that an earlier key's CASCADE deletes no longer refuses the change.
        if children.len() > 1 {
            children.sort_by(|(a, one), (b, other)| {
                let place = |key: &ForeignKeyDef| referenced_index(&table.def, key);
                let a = (place(a), &one.def.schema, &a.name);
                a.cmp(&(place(b), &other.def.schema, &b.name))
            });
        }
        let none = parents.is_empty() && children.is_empty();
        Ok((!none).then(|| Foreign { table: table.clone(), parents, children }))
    }

    /// Checks a new row.
    pub(crate) fn inserted(&self, session: &SessionContext, row: &[Value]) -> Result<(), SqlError> {
        debug_assert_eq!(row.len(), self.table.def.columns.len(), "a row has all columns");
        self.parents
            .iter()
            .try_for_each(|(key, parent)| self.check_parent(session, key, parent, row))
    }

    /// Checks a changed row and carries the change to its children.
    pub(crate) fn updated(
        &self,
        session: &SessionContext,
        old: &[Value],
        new: &[Value],
    ) -> Result<(), SqlError> {
        for (key, parent) in &self.parents {
            if key.columns.iter().any(|column| old[*column] != new[*column]) {
                self.check_parent(session, key, parent, new)?;
            }
        }
        self.reach_children(session, &ParentChange { old, new: Some(new) }, None)
    }

    /// Carries a removal to the row's children.
    pub(crate) fn deleted(&self, session: &SessionContext, old: &[Value]) -> Result<(), SqlError> {
        self.reach_children(session, &ParentChange { old, new: None }, None)
    }

    /// Whether some foreign key refers to the table.
    pub(crate) fn has_children(&self) -> bool {
        !self.children.is_empty()
    }

    fn check_parent(
        &self,
        session: &SessionContext,
        key: &ForeignKeyDef,
        parent: &Arc<Table>,
        row: &[Value],
    ) -> Result<(), SqlError> {
        let wanted: Vec<Value> = key.columns.iter().map(|column| row[*column].clone()).collect();
        if wanted.contains(&Value::Null) {
            return Ok(());
        }
        let columns: Option<Vec<usize>> =
            key.ref_columns.iter().map(|name| parent.def.column(name)).collect();
        let request = LockRequest { mode: LockMode::Shared, wait: WaitPolicy::Wait };
        let found = match columns {
            Some(columns) => matching(session, parent, &columns, &wanted, request, true)?,
            None => Vec::new(),
        };
        match found.is_empty() {
            true => Err(constraint_error(session, ErrorCode::NoReferencedRow2, &self.table, key)),
            false => Ok(()),
        }
    }

    fn reach_children(
        &self,
        session: &SessionContext,
        change: &ParentChange<'_>,
        before: Option<&Path<'_>>,
    ) -> Result<(), SqlError> {
        let path = Path { table: &self.table, updates: change.new.is_some(), before };
        for (key, child) in &self.children {
            let columns: Option<Vec<usize>> =
                key.ref_columns.iter().map(|name| self.table.def.column(name)).collect();
            let Some(columns) = columns else { continue };
            let same = |c: &usize| change.new.is_some_and(|new| new[*c] == change.old[*c]);
            let wanted: Vec<Value> = columns.iter().map(|c| change.old[*c].clone()).collect();
            if columns.iter().all(same) || wanted.contains(&Value::Null) {
                continue;
            }
            let mut pairs = key.columns.iter().zip(&wanted);
            let itself =
                is_same(child, &self.table) && pairs.all(|(c, key)| change.old[*c] == *key);
            let restricts =
                !matches!(key.on_delete, ReferentialAction::Cascade | ReferentialAction::SetNull);
            if itself && (path.updates || restricts) {
                return Err(constraint_error(session, ErrorCode::RowIsReferenced2, child, key));
            }
            let rows = matching(session, child, &key.columns, &wanted, exclusive_request(), false)?;
            if rows.is_empty() {
                continue;
            }
            let new = change.new.map(|new| columns.iter().map(|c| new[*c].clone()).collect());
            let action = if new.is_some() { key.on_update } else { key.on_delete };
            apply(session, key, child, rows, (action, new), &path)?;
        }
        Ok(())
    }
}

/// Carries a parent's change to child rows.
fn apply(
    session: &SessionContext,
    key: &ForeignKeyDef,
    child: &Arc<Table>,
    rows: Vec<Found>,
    (action, new): (ReferentialAction, Option<Vec<Value>>),
    path: &Path<'_>,
) -> Result<(), SqlError> {
    // No replacement means that the rows are deleted: only CASCADE of a removed parent does that.
    let replacement = match (action, new) {
        (ReferentialAction::Cascade, new) => new,
        (ReferentialAction::SetNull, _) => Some(vec![Value::Null; key.columns.len()]),
        _ => return Err(constraint_error(session, ErrorCode::RowIsReferenced2, child, key)),
    };
    if path.depth() + 1 >= MAX_DEPTH {
        return Err(SqlError::new(ErrorCode::FkDepthExceeded, &[&MAX_DEPTH]));
    }
    // As in MySQL, no action updates a table that is being updated on the way there.
    if replacement.is_some() && path.has_updated(child) {
        return Err(constraint_error(session, ErrorCode::RowIsReferenced2, child, key));
    }
    // The statement may not name the child, which is locked for reading only then.
    session.hold_to_cascade(child)?;
    let zone = &session.env.time_zone;
    super::auto_increment::prepare_counter(child)?;
    let mut writer = RowWriter::new(child, zone);
    let computed = Computed::of(session, child)?;
    let further = Foreign::load(session, child)?;
    for (clustered, bytes) in rows {
        let old = values(child, &bytes, zone)?;
        let Some(replacement) = &replacement else {
            writer.delete(&mut session.txn.borrow_mut(), &clustered, &bytes)?;
            if let Some(further) = &further {
                let change = ParentChange { old: &old, new: None };
                further.reach_children(session, &change, Some(path))?;
            }
            continue;
        };
        let mut row = old.clone();
        let mut changed = vec![false; row.len()];
        for (column, value) in key.columns.iter().zip(replacement) {
            row[*column] = value.clone();
            changed[*column] = true;
        }
        // Generated columns are computed again, since they may read the key's columns.
        if let Some(computed) = &computed {
            computed.renew(session, &mut row, &mut changed)?;
        }
        let written = {
            let mut txn = session.txn.borrow_mut();
            let change = RowChange { key: &clustered, old: &bytes, new: &row, changed: &changed };
            writer.update(&mut txn, &change)?
        };
        if let Written::Duplicate(at) = written {
            return Err(duplicate_error(&child.def, at, &row));
        }
        if let Some(further) = &further {
            let change = ParentChange { old: &old, new: Some(&row) };
            further.reach_children(session, &change, Some(path))?;
        }
    }
    Ok(())
}

/// The computed columns of a child, which follow what an action writes.
struct Computed(Fills);

impl Computed {
    /// `None` where there are none.
    fn of(session: &SessionContext, child: &Table) -> Result<Option<Computed>, SqlError> {
        match child.def.columns.iter().any(|column| column.generated.is_some()) {
            true => Ok(Some(Computed(Fills::compile(&child.def, &session.env, &session.host)?))),
            false => Ok(None),
        }
    }

    /// Computes them for a row, and notes which have changed. Values that do not fit are cut: the
    /// statement names other columns.
    fn renew(
        &self,
        session: &SessionContext,
        row: &mut [Value],
        changed: &mut [bool],
    ) -> Result<(), SqlError> {
        let mut ctx = session.context(&[], &NoSubqueries);
        ctx.strictness = Strictness::Lenient;
        let before = row.to_vec();
        self.0.compute(row, &mut ctx)?;
        for (column, _) in self.0.generated() {
            changed[column] |= row[column] != before[column];
        }
        Ok(())
    }
}

/// Errors 1452 and 1451; 1216 and 1217 for an account that may not see the other table.
fn constraint_error(
    session: &SessionContext,
    code: ErrorCode,
    child: &Table,
    key: &ForeignKeyDef,
) -> SqlError {
    let (schema, name, plain) = match code {
        ErrorCode::RowIsReferenced2 => {
            (&child.def.schema, &child.def.name, ErrorCode::RowIsReferenced)
        }
        _ => (&key.ref_schema, &key.ref_table, ErrorCode::NoReferencedRow),
    };
    if !session.access().knows(schema, name) {
        return SqlError::new(plain, &[]);
    }
    let text = format!(
        "{}.{}, {}",
        quoted(&child.def.schema),
        quoted(&child.def.name),
        foreign_key_text(&child.def, key)
    );
    SqlError::new(code, &[&text])
}

/// The index that finds rows by some columns, and how many of them are its own parts. A secondary
/// index goes on with the columns of the clustered one, which are the others.
fn index_for(table: &Table, columns: &[usize]) -> Option<(usize, usize)> {
    let clustered =
        table.def.clustered_index().map(|index| index.parts.as_slice()).unwrap_or_default();
    let own = |index: &IndexDef| {
        let same =
            |(part, column): (&IndexPart, &usize)| part.column == *column && part.prefix.is_none();
        let matched = index.parts.len().min(columns.len());
        let serves = index.kind.has_keys();
        (serves && index.parts.iter().zip(columns).all(same)).then_some(matched)
    };
    let suffix = |index: &IndexDef, matched: usize| {
        let mut rest = clustered
            .iter()
            .map(|part| part.column)
            .filter(|column| !index.parts.iter().any(|part| part.column == *column));
        columns[matched..].iter().all(|column| rest.next() == Some(*column))
    };
    let found = table.def.indexes.iter().enumerate();
    let mut found = found.filter_map(|(at, index)| Some((at, own(index)?)));
    let partial = |&(at, matched): &(usize, usize)| suffix(&table.def.indexes[at], matched);
    found.clone().find(|(_, matched)| *matched == columns.len()).or_else(|| found.find(partial))
}

/// Finds and locks the rows whose `columns` equal `wanted`, by an index that starts with them.
fn matching(
    session: &SessionContext,
    table: &Arc<Table>,
    columns: &[usize],
    wanted: &[Value],
    request: LockRequest,
    first_only: bool,
) -> Result<Vec<Found>, SqlError> {
    let Some((at, matched)) = index_for(table, columns) else { return Ok(Vec::new()) };
    let index = &table.def.indexes[at];
    let codec = &table.indexes[at].codec;
    let cell =
        |value, column| Cell::of(value, table.layout.data_type(column), &session.env.time_zone);
    let mut start = Vec::new();
    for (part, (column, value)) in columns.iter().zip(wanted).take(matched).enumerate() {
        codec.put_part(part, &cell(value, *column), &mut start)?;
    }
    let mut end = start.clone();
    let bounded = prefix_successor(&mut end);
    let upper = if bounded { KeyBound::Excluded(&end) } else { KeyBound::Unbounded };
    let tree = if index.clustered { &table.clustered } else { &table.indexes[at].tree };
    let mut txn = session.txn.borrow_mut();
    let mode = ReadMode::Lock(request);
    let lower = KeyBound::Included(&start);
    // The first entry decides only where the index holds all columns; otherwise rows are compared.
    let first_only = first_only && matched == columns.len();
    let mut found = Vec::new();
    // A whole unique key that is present is locked without its gap, as in MySQL.
    if index.unique() && index.parts.len() == matched {
        let copy = |bytes: &[u8]| bytes.to_vec();
        if let Some(value) = txn.lock_get(tree, &start, request, copy).sql()? {
            found.push((start.clone(), value));
        }
    } else {
        let mut cursor = txn.cursor(tree, lower, upper, Direction::Forward, mode);
        while let Some(record) = cursor.next(&mut txn).sql()? {
            found.push((record.key.to_vec(), record.value.to_vec()));
            if first_only {
                break;
            }
        }
    }
    // A clustered record is the row itself, and of a parent it is enough that it exists.
    if index.clustered || first_only {
        return Ok(found);
    }
    let mut rows = Vec::with_capacity(found.len());
    for (key, value) in found {
        // The range is that of the index's own parts: the other columns are compared in the row.
        let clustered = codec.primary_key(&key, &value)?.to_vec();
        let copy = |bytes: &[u8]| bytes.to_vec();
        let row = txn.lock_get(&table.clustered, &clustered, request, copy).sql()?;
        if let Some(row) = row
            && agrees(table, &columns[matched..], &wanted[matched..], &row, &session.env.time_zone)?
        {
            rows.push((clustered, row));
        }
    }
    Ok(rows)
}

/// Whether a row has these values in columns of the clustered index.
fn agrees(
    table: &Table,
    columns: &[usize],
    wanted: &[Value],
    row: &[u8],
    zone: &TimeZone,
) -> Result<bool, SqlError> {
    let parts = table.def.clustered_index().map(|index| index.parts.as_slice()).unwrap_or_default();
    for (column, value) in columns.iter().zip(wanted) {
        let clustered = &table.indexes[0].codec;
        let Some(part) = parts.iter().position(|part| part.column == *column) else {
            return Ok(false);
        };
        let (mut own, mut other) = (Vec::new(), Vec::new());
        clustered.put_part(part, &table.layout.cell(row, *column)?, &mut own)?;
        let cell = Cell::of(value, table.layout.data_type(*column), zone);
        clustered.put_part(part, &cell, &mut other)?;
        if own != other {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Where the parent's indexes have the one that a key refers to.
fn referenced_index(parent: &TableDef, key: &ForeignKeyDef) -> Option<usize> {
    let columns: Option<Vec<usize>> = key.ref_columns.iter().map(|c| parent.column(c)).collect();
    let columns = columns?;
    parent.indexes.iter().position(|index| {
        let first = index.parts.iter().take(columns.len());
        index.parts.len() >= columns.len() && first.zip(&columns).all(|(p, c)| p.column == *c)
    })
}
