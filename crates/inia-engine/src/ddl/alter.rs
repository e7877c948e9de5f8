//! ALTER TABLE: the actions change a [`Work`], then the table is brought to the new definition by
//! the cheapest way that does it: the catalog alone, index trees beside the rows, or a new copy.

use super::algorithm::{Algorithm, Alteration, Wanted};
use super::columns;
use super::rebuild::{self, Plan};
use super::schema::hold_schema;
use super::table::{apply_options, rename_constraints, retarget};
use super::work::{Finished, Work};
use super::{DdlResult, FullName, existing, full_name, in_transaction, lock_beside, lock_renamed};
use crate::catalog::mdl::MdlGuard;
use crate::catalog::{
    Change, ColumnDefault, Generated, IndexKind, Table, TableDef, charset, quoted, same_name,
};
use crate::dml::auto_increment;
use crate::error::StorageResult;
use crate::session::Outcome;
use crate::session::core::Core;
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_parser::ast::{self, AlterAction};
use inia_storage::{Direction, Isolation, KeyBound, ReadMode};
use std::sync::atomic::Ordering;

fn error<T>(code: ErrorCode, args: &[&dyn std::fmt::Display]) -> Result<T, SqlError> {
    Err(SqlError::new(code, args))
}

/// What the actions ask for besides the new definition.
#[derive(Default)]
struct Wishes {
    rename: Option<FullName>,
    /// The rows are written anew whatever changed.
    copy: bool,
    auto_increment: Option<u64>,
    /// Something other than the name was asked for.
    changes: bool,
    /// ORDER BY.
    order: bool,
    wanted: Wanted,
}

/// ALTER TABLE.
pub(crate) fn alter_table(core: &mut Core, alter: &ast::AlterTable) -> DdlResult {
    let name = full_name(core, &alter.name)?;
    let _locks = lock_for(core, &name, alter)?;
    let table = existing(core, &name)?;
    let mut work = Work::from_table(&table.def);
    let mut wishes = Wishes::default();
    for action in &alter.actions {
        apply(core, &mut work, &mut wishes, action)?;
    }
    for action in &alter.actions {
        apply_expressions(core, &mut work, action)?;
    }
    columns::finish_functional(core, &mut work)?;
    wishes.wanted.check_words()?;
    if work.columns.is_empty() {
        return error(ErrorCode::CantRemoveAllFields, &[]);
    }
    super::foreign::check_types(core, &work)?;
    let finished = work.finish()?;
    for warning in &finished.warnings {
        core.push_warning(warning);
    }
    carry_out(core, &name, &table, finished, &wishes)
}

/// Locks the table, its new name, whoever refers to it where the name changes, and what new foreign
/// keys refer to.
fn lock_for(
    core: &Core,
    name: &FullName,
    alter: &ast::AlterTable,
) -> Result<Vec<MdlGuard>, SqlError> {
    let mut names = vec![name.clone()];
    let mut parents = Vec::new();
    for action in &alter.actions {
        match action {
            AlterAction::RenameTo(to) => {
                let to = full_name(core, to)?;
                hold_schema(core, &to.0)?;
                names.push(to);
            }
            AlterAction::AddForeignKey(key) => {
                let parent = &key.references.table;
                let schema = parent.db.clone().unwrap_or_else(|| name.0.clone());
                parents.push((schema, parent.name.clone()));
            }
            _ => {}
        }
    }
    match core.temporary.get(&name.0, &name.1) {
        Some(_) => Ok(Vec::new()),
        None if names.len() > 1 => lock_renamed(core, &names, &parents),
        None => lock_beside(core, &names, &parents),
    }
}

fn carry_out(
    core: &mut Core,
    name: &FullName,
    table: &Table,
    finished: Finished,
    wishes: &Wishes,
) -> DdlResult {
    let Finished { mut def, column_origins, index_origins, added_keys, .. } = finished;
    let temporary = table.def.temporary;
    if let Some(to) = wishes.rename.as_ref().filter(|to| *to != name) {
        let taken = match temporary {
            true => core.temporary.get(&to.0, &to.1).is_some(),
            false => core.db.catalog().has(&to.0, &to.1),
        };
        if taken {
            return error(ErrorCode::TableExists, &[&to.1]);
        }
        rename_constraints(&mut def, &name.1, &to.1);
        (def.schema, def.name) = to.clone();
    }
    let checked = new_checks(&table.def, &def);
    let mut wanted = wishes.wanted.clone();
    let references = core.flag("foreign_key_checks")
        && def.foreign_keys.iter().any(|key| !table.def.foreign_keys.contains(key));
    wanted.copy |= checked || references || wishes.order;
    let (columns, indexes) = (&column_origins[..], &index_origins[..]);
    let way = Alteration { old: &table.def, new: &def, columns, indexes }.algorithm(&wanted);
    let way = if temporary { Algorithm::Copy(None) } else { way };
    wanted.check(way)?;
    if wishes.order && def.primary().is_some() {
        let text = format!(
            "ORDER BY ignored as there is a user-defined clustered index in the table '{}'",
            name.1
        );
        core.warn(ErrorCode::UnknownError, &[&text]);
    }
    let copy = wishes.copy || temporary || checked || wanted.asks("COPY");
    let plan = Plan::new(&table.def, &def, &column_origins, &index_origins, copy);
    if plan.copies() && wishes.auto_increment.is_none() {
        keep_numbers(core, table, &mut def)?;
    }
    let moved = (def.schema.clone(), def.name.clone());
    let rows = in_transaction(core, |core, changes| {
        let rows = rebuild::run(core, table, &mut def, &plan)?;
        super::foreign::check_rows(core, &def, &added_keys)?;
        if moved != *name && temporary {
            let (schema, name) = name.clone();
            changes.push(Change::DropTemporary { schema, name, id: def.id });
        } else if moved != *name {
            let (schema, name) = name.clone();
            changes.push(Change::DropTable { schema, name });
            changes.extend(retarget(core, &[(table_name(table), moved.clone())]));
        }
        changes.push(Change::PutTable(def));
        Ok(rows)
    })?;
    count_anew(core, table, plan.copies(), wishes)?;
    if !wishes.changes && !temporary {
        return Ok(Outcome::default());
    }
    let copied = matches!(way, Algorithm::Copy(_)) || wanted.asks("COPY");
    let affected_rows = match copied {
        true if plan.copies() => rows,
        true => count_rows(core, table)?,
        false => 0,
    };
    let warnings = core.warning_count();
    let info = format!("Records: {affected_rows}  Duplicates: 0  Warnings: {warnings}");
    Ok(Outcome { affected_rows, info, ..Outcome::default() })
}

/// The copy of a table counts on where the table is, if the column that gets numbers is there, too.
fn keep_numbers(core: &Core, old: &Table, new: &mut TableDef) -> Result<(), SqlError> {
    let name = |column: usize| &old.def.columns[column].name;
    let there = |name: &String| new.columns.iter().any(|c| c.name.eq_ignore_ascii_case(name));
    if new.auto_increment_column().is_some() && old.numbered.map(name).is_some_and(there) {
        new.auto_increment = auto_increment::current(&core.db, old)?;
    }
    Ok(())
}

/// Lets counters be found out again: hidden ids of new rows, AUTO_INCREMENT where it was set.
fn count_anew(core: &Core, table: &Table, copied: bool, wishes: &Wishes) -> Result<(), SqlError> {
    if copied {
        table.shared.next_row_id.store(0, Ordering::Relaxed);
    } else if wishes.auto_increment.is_some() {
        core.db.engine.forget_counter(&table.clustered).sql()?;
    }
    Ok(())
}

/// Whether rows must be checked against a condition that was not enforced before.
fn new_checks(old: &TableDef, new: &TableDef) -> bool {
    let enforced = |def: &TableDef, expression: &str| {
        def.checks.iter().any(|check| check.enforced && check.expression == expression)
    };
    new.checks.iter().any(|check| check.enforced && !enforced(old, &check.expression))
}

fn count_rows(core: &Core, table: &Table) -> Result<u64, SqlError> {
    let mut txn = core.db.engine.attach();
    txn.begin(Isolation::RepeatableRead);
    let (low, high) = (KeyBound::Unbounded, KeyBound::Unbounded);
    let tree = core.db.engine.tree(table.def.clustered);
    let mut cursor = txn.cursor(&tree, low, high, Direction::Forward, ReadMode::Snapshot);
    let mut rows = 0;
    while cursor.next(&mut txn).sql()?.is_some() {
        rows += 1;
    }
    drop(cursor);
    txn.commit().sql()?;
    Ok(rows)
}

fn table_name(table: &Table) -> FullName {
    (table.def.schema.clone(), table.def.name.clone())
}

fn known_column(work: &Work, name: &str) -> Result<usize, SqlError> {
    let unknown = || SqlError::new(ErrorCode::UnknownColumn, &[&name, &work.name]);
    work.column(name).ok_or_else(unknown)
}

fn known_index(work: &Work, name: &str) -> Result<usize, SqlError> {
    let unknown = || SqlError::new(ErrorCode::KeyDoesNotExist, &[&name, &work.name]);
    work.index(name).ok_or_else(unknown)
}

fn cannot_drop<T>(name: &str) -> Result<T, SqlError> {
    error(ErrorCode::CantDropFieldOrKey, &[&name])
}

fn apply(
    core: &mut Core,
    work: &mut Work,
    wishes: &mut Wishes,
    action: &AlterAction,
) -> Result<(), SqlError> {
    wishes.changes |= !matches!(action, AlterAction::RenameTo(_) | AlterAction::EnableKeys(_));
    match action {
        AlterAction::AddColumn { def, position } => {
            let column = columns::column(core, def, work.collation)?;
            let place = place(work, position.as_ref())?;
            work.add_column(place, column)?;
            work.indexes.extend(columns::column_indexes(def));
        }
        AlterAction::AddIndex(spec) => work.indexes.push(columns::index(core, spec)?),
        AlterAction::AddForeignKey(_) if work.temporary => {
            return error(ErrorCode::CannotAddForeign, &[]);
        }
        AlterAction::AddForeignKey(spec) => columns::add_foreign_key(core, work, spec)?,
        AlterAction::DropColumn(name) => drop_column(work, name)?,
        AlterAction::DropIndex(name) => {
            let Some(at) = work.index(name) else { return cannot_drop(name) };
            drop_index(work, at)?;
        }
        AlterAction::DropPrimaryKey => {
            let primary = work.indexes.iter().position(|i| i.kind == IndexKind::Primary);
            let Some(at) = primary else { return cannot_drop("PRIMARY") };
            work.indexes.remove(at);
        }
        AlterAction::ModifyColumn { def, position } => {
            change_column(core, work, &def.name, def, position.as_ref())?;
        }
        AlterAction::ChangeColumn { old, def, position } => {
            change_column(core, work, old, def, position.as_ref())?;
        }
        AlterAction::RenameColumn { from, to } => rename_column(work, from, to)?,
        AlterAction::RenameIndex { from, to } => rename_index(work, from, to)?,
        AlterAction::RenameTo(to) => wishes.rename = Some(full_name(core, to)?),
        AlterAction::ConvertCharset { charset, collation } => {
            convert(work, charset.as_deref(), collation.as_deref())?;
        }
        AlterAction::Option(option) => {
            match option {
                ast::TableOption::AutoIncrement(next) => wishes.auto_increment = Some(*next),
                ast::TableOption::Engine(_) | ast::TableOption::RowFormat(_) => {
                    wishes.wanted.rebuild = true;
                }
                _ => {}
            }
            apply_options(core, work, std::slice::from_ref(option))?;
        }
        AlterAction::EnableKeys(_) => core.note(ErrorCode::IllegalHa, &[&work.name]),
        AlterAction::Force => (wishes.copy, wishes.wanted.rebuild) = (true, true),
        AlterAction::OrderBy(_) => wishes.order = true,
        AlterAction::Algorithm(text) => wishes.wanted.algorithm = Some(text.clone()),
        AlterAction::Lock(text) => wishes.wanted.lock = Some(text.clone()),
        _ => return apply_attribute(core, work, action),
    }
    Ok(())
}

/// Actions on constraints and on single attributes of columns and indexes.
fn apply_attribute(core: &mut Core, work: &mut Work, action: &AlterAction) -> Result<(), SqlError> {
    match action {
        AlterAction::DropForeignKey(name) => {
            if !drop_foreign_key(work, name) {
                return cannot_drop(name);
            }
        }
        AlterAction::DropCheck(name) => {
            if !drop_check(work, name) {
                return error(ErrorCode::CheckConstraintNotFound, &[name]);
            }
        }
        AlterAction::DropConstraint(name) => drop_constraint(work, name)?,
        AlterAction::SetDefault { column, default } => {
            let at = known_column(work, column)?;
            let def = work.columns[at].def.clone();
            work.columns[at].def.default = columns::column_default(core, &def, default)?;
        }
        AlterAction::DropDefault(name) => {
            let at = known_column(work, name)?;
            let nullable = work.columns[at].def.nullable;
            work.columns[at].def.default =
                if nullable { ColumnDefault::Absent } else { ColumnDefault::None };
        }
        AlterAction::SetColumnVisibility { column, visible } => {
            let at = known_column(work, column)?;
            work.columns[at].def.invisible = !visible;
        }
        AlterAction::SetIndexVisibility { index, visible } => {
            let at = known_index(work, index)?;
            work.indexes[at].visible = *visible;
        }
        AlterAction::SetEnforced { name, enforced } => {
            let Some(check) = work.checks.iter_mut().find(|c| same_name(&c.name, name)) else {
                return error(ErrorCode::CheckConstraintNotFound, &[name]);
            };
            check.enforced = *enforced;
        }
        AlterAction::Tablespace { .. } => {
            return error(ErrorCode::NotSupportedYet, &[&"tablespace files"]);
        }
        AlterAction::Partition(_) => {
            return error(ErrorCode::NotSupportedYet, &[&"partitioned tables"]);
        }
        _ => {}
    }
    Ok(())
}

/// Expressions are bound when all actions have made their columns.
fn apply_expressions(core: &Core, work: &mut Work, action: &AlterAction) -> Result<(), SqlError> {
    match action {
        AlterAction::AddColumn { def, .. }
        | AlterAction::ModifyColumn { def, .. }
        | AlterAction::ChangeColumn { def, .. } => columns::finish_expressions(core, work, def),
        AlterAction::SetDefault { column, default: ast::ColumnDefault::Expr(expr) } => {
            let at = known_column(work, column)?;
            columns::finish_default(core, work, at, expr)
        }
        AlterAction::AddCheck(check) => columns::add_check(core, work, check, None),
        _ => Ok(()),
    }
}

fn place(work: &Work, position: Option<&ast::ColumnPosition>) -> Result<Option<usize>, SqlError> {
    Ok(match position {
        None => None,
        Some(ast::ColumnPosition::First) => Some(0),
        Some(ast::ColumnPosition::After(name)) => Some(known_column(work, name)? + 1),
    })
}

fn uses(expression: &str, column: &str) -> bool {
    expression.to_lowercase().contains(&quoted(column).to_lowercase())
}

/// Errors 3959 and 1828 for columns that constraints use.
fn check_unused(work: &Work, name: &str) -> Result<(), SqlError> {
    if let Some(check) = work.checks.iter().find(|check| uses(&check.expression, name)) {
        return error(ErrorCode::DependentByCheckConstraint, &[&check.name, &name]);
    }
    let generated = work
        .columns
        .iter()
        .find(|column| column.def.generated.as_ref().is_some_and(|g| uses(&g.expression, name)));
    if let Some(column) = generated.filter(|column| !same_name(&column.def.name, name)) {
        if column.def.is_hidden() {
            return error(ErrorCode::DependentByFunctionalIndex, &[&name]);
        }
        return error(ErrorCode::DependentByGeneratedColumn, &[&name]);
    }
    Ok(())
}

fn drop_column(work: &mut Work, name: &str) -> Result<(), SqlError> {
    let Some(at) = work.column(name) else { return cannot_drop(name) };
    check_unused(work, name)?;
    let child = |key: &&super::work::WorkForeignKey| key.columns.iter().any(|c| same_name(c, name));
    if let Some(key) = work.foreign_keys.iter().find(child) {
        return error(ErrorCode::FkColumnCannotDrop, &[&name, &key.def.name]);
    }
    work.columns.remove(at);
    for index in &mut work.indexes {
        index.parts.retain(|part| !same_name(&part.column, name));
    }
    work.indexes.retain(|index| !index.parts.is_empty());
    Ok(())
}

fn drop_index(work: &mut Work, at: usize) -> Result<(), SqlError> {
    let index = work.indexes.remove(at);
    let serves = |index: &super::work::WorkIndex, columns: &[String]| {
        index.parts.len() >= columns.len()
            && index.parts.iter().zip(columns).all(|(part, name)| same_name(&part.column, name))
    };
    let needed = work.foreign_keys.iter().any(|key| {
        serves(&index, &key.columns)
            && !work.indexes.iter().any(|other| serves(other, &key.columns))
    });
    if needed {
        let name = index.name.unwrap_or_default();
        return error(ErrorCode::DropIndexFk, &[&name]);
    }
    Ok(())
}

fn drop_foreign_key(work: &mut Work, name: &str) -> bool {
    let before = work.foreign_keys.len();
    work.foreign_keys.retain(|key| !same_name(&key.def.name, name));
    work.foreign_keys.len() < before
}

fn drop_check(work: &mut Work, name: &str) -> bool {
    let before = work.checks.len();
    work.checks.retain(|check| !same_name(&check.name, name));
    work.checks.len() < before
}

fn drop_constraint(work: &mut Work, name: &str) -> Result<(), SqlError> {
    if drop_foreign_key(work, name) || drop_check(work, name) {
        return Ok(());
    }
    let unique = |kind| matches!(kind, IndexKind::Primary | IndexKind::Unique);
    match work.index(name).filter(|at| unique(work.indexes[*at].kind)) {
        Some(at) => drop_index(work, at),
        None => error(ErrorCode::ConstraintNotFound, &[&name]),
    }
}

/// MODIFY and CHANGE: the new definition in the old column's place, or where it was told.
fn change_column(
    core: &mut Core,
    work: &mut Work,
    old: &str,
    spec: &ast::ColumnDef,
    position: Option<&ast::ColumnPosition>,
) -> Result<(), SqlError> {
    let at = known_column(work, old)?;
    let mut column = columns::column(core, spec, work.collation)?;
    column.origin = work.columns[at].origin;
    let stored = |generated: &Option<Generated>| generated.as_ref().map(|g| g.stored);
    let (old_stored, new_stored) =
        (stored(&work.columns[at].def.generated), stored(&column.def.generated));
    let became = old_stored.is_none() && new_stored == Some(false);
    if became || (old_stored.is_some() && new_stored.is_some() && old_stored != new_stored) {
        let what = "Changing the STORED status";
        return error(ErrorCode::UnsupportedActionOnGeneratedColumn, &[&what]);
    }
    if !same_name(old, &spec.name) {
        rename_column(work, old, &spec.name)?;
    }
    work.columns.remove(at);
    let to = place(work, position)?.unwrap_or(at);
    work.add_column(Some(to), column)?;
    let mut indexes = columns::column_indexes(spec);
    let primary = |index: &super::work::WorkIndex| index.kind == IndexKind::Primary;
    if indexes.iter().any(primary) && work.indexes.iter().any(primary) {
        return error(ErrorCode::MultiplePriKey, &[]);
    }
    work.indexes.append(&mut indexes);
    Ok(())
}

fn rename_column(work: &mut Work, from: &str, to: &str) -> Result<(), SqlError> {
    let at = known_column(work, from)?;
    columns::check_column_name(to)?;
    if !same_name(from, to) {
        check_unused(work, from)?;
    }
    if work.column(to).is_some_and(|other| other != at) {
        return error(ErrorCode::DupFieldname, &[&to]);
    }
    work.columns[at].def.name = to.to_owned();
    for part in work.indexes.iter_mut().flat_map(|index| &mut index.parts) {
        if same_name(&part.column, from) {
            part.column = to.to_owned();
        }
    }
    for name in work.foreign_keys.iter_mut().flat_map(|key| &mut key.columns) {
        if same_name(name, from) {
            *name = to.to_owned();
        }
    }
    Ok(())
}

fn rename_index(work: &mut Work, from: &str, to: &str) -> Result<(), SqlError> {
    let at = known_index(work, from)?;
    if work.index(to).is_some_and(|other| other != at) {
        return error(ErrorCode::DupKeyname, &[&to]);
    }
    if same_name(to, "PRIMARY") {
        return error(ErrorCode::WrongNameForIndex, &[&to]);
    }
    work.indexes[at].name = Some(to.to_owned());
    Ok(())
}

/// CONVERT TO CHARACTER SET: the table's default and all its character columns.
fn convert(
    work: &mut Work,
    charset: Option<&str>,
    collation: Option<&str>,
) -> Result<(), SqlError> {
    let to = charset::resolve(charset, collation)?.unwrap_or(work.collation);
    work.collation = to;
    for column in &mut work.columns {
        let ty = &mut column.def.data_type;
        let slot: &mut Collation = match ty {
            DataType::Char { collation, .. }
            | DataType::VarChar { collation, .. }
            | DataType::Text { collation, .. }
            | DataType::Enum { collation, .. }
            | DataType::Set { collation, .. } => collation,
            _ => continue,
        };
        *slot = to;
        column.def.explicit_collation = false;
        if column.def.default == ColumnDefault::Value(Value::Null) {
            column.def.default = ColumnDefault::None;
        }
    }
    Ok(())
}
