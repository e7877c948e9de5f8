//! What ALTER TABLE's actions do to a definition, and in which order.
//!
//! Whatever their order in the statement: constraints go first, then indexes, then columns; what
//! stays is renamed, all at once, and changed; then new things come and columns find their places,
//! in the statement's order. So an action names what there was before the statement, but for new
//! indexes and places, which name columns as they are called after it.
//!
//! Example: `ADD INDEX i (b), DROP INDEX i` puts a new index in place of the old one, and
//! `RENAME COLUMN a TO b, RENAME COLUMN b TO a` swaps two names.

use super::algorithm::Wanted;
use super::table::{apply_option, declare};
use super::work::{Work, WorkIndex};
use super::{FullName, columns, dependents, full_name, rules};
use crate::catalog::{ColumnDef, ColumnDefault, Generated, IndexKind, same_name};
use crate::context::SessionContext;
use inia_base::collation::Collation;
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::charset;
use inia_expr::charset::Declared;
use inia_parser::ast::{self, AlterAction};

fn error<T>(code: ErrorCode, args: &[&dyn std::fmt::Display]) -> Result<T, SqlError> {
    Err(SqlError::new(code, args))
}

/// What the actions ask for besides the new definition.
#[derive(Default)]
pub(super) struct Wishes {
    pub(super) rename: Option<FullName>,
    /// The rows are written anew whatever changed.
    pub(super) copy: bool,
    pub(super) auto_increment: Option<u64>,
    /// Something other than the name was asked for.
    pub(super) changes: bool,
    /// ORDER BY.
    pub(super) order: bool,
    pub(super) wanted: Wanted,
    /// What is to be dropped and not there, which is told of after most else.
    missing: Option<String>,
}

impl Wishes {
    fn miss(&mut self, name: &str) {
        self.missing.get_or_insert_with(|| name.to_owned());
    }
}

fn unknown(work: &Work, name: &str) -> SqlError {
    SqlError::new(ErrorCode::UnknownColumn, &[&name, &work.name])
}

fn known_column(work: &Work, name: &str) -> Result<usize, SqlError> {
    work.column(name).ok_or_else(|| unknown(work, name))
}

fn known_index(work: &Work, name: &str) -> Result<usize, SqlError> {
    let unknown = || SqlError::new(ErrorCode::KeyDoesNotExist, &[&name, &work.name]);
    work.index(name).ok_or_else(unknown)
}

fn cannot_drop<T>(name: &str) -> Result<T, SqlError> {
    error(ErrorCode::CantDropFieldOrKey, &[&name])
}

/// In which order actions take place. Within one they follow each other.
fn stage(action: &AlterAction) -> u32 {
    use AlterAction as A;
    match action {
        A::DropForeignKey(_) | A::DropCheck(_) | A::DropConstraint(_) => 0,
        A::DropIndex(_) | A::DropPrimaryKey => 1,
        A::DropColumn(_) => 2,
        A::AddColumn { .. } | A::AddIndex(_) | A::AddForeignKey(_) | A::AddCheck(_) => 4,
        _ => 3,
    }
}

/// The collation that options and conversions declare together; error 1302.
fn declared(actions: &[AlterAction], default: Collation) -> Result<Option<Collation>, SqlError> {
    let (mut all, mut options) = (Declared::default(), Declared::default());
    for action in actions {
        match action {
            AlterAction::Option(option) => {
                declare(&mut all, option, default)?;
                declare(&mut options, option, default)?;
            }
            AlterAction::ConvertCharset { charset: Some(name), .. } => all.charset(name)?,
            _ => {}
        }
    }
    Ok(options.collation())
}

/// Applies all actions to a definition.
pub(super) fn apply_all(
    core: &mut SessionContext,
    work: &mut Work,
    wishes: &mut Wishes,
    actions: &[AlterAction],
) -> Result<(), SqlError> {
    let adds = |action: &&AlterAction| matches!(action, AlterAction::AddColumn { .. });
    work.check_listed(actions.iter().filter(adds).count())?;
    // New and changed columns follow it, wherever it stands.
    work.collation = declared(actions, work.collation)?.unwrap_or(work.collation);
    let old = work.clone();
    for now in 0..=2 {
        for action in actions.iter().filter(|action| stage(action) == now) {
            apply(core, work, wishes, action)?;
        }
    }
    let gone = |index: &&WorkIndex| !work.indexes.iter().any(|other| other.origin == index.origin);
    let mut dropped: Vec<WorkIndex> = old.indexes.iter().filter(gone).cloned().collect();
    check_changed_once(work, actions)?;
    let names: Vec<String> = work.columns.iter().map(|c| c.def.name.clone()).collect();
    rename_columns(core, work, actions)?;
    for part in dropped.iter_mut().flat_map(|index| &mut index.parts) {
        if let Some(at) = names.iter().position(|name| same_name(name, &part.column)) {
            part.column.clone_from(&work.columns[at].def.name);
        }
    }
    for action in actions.iter().filter(|action| stage(action) == 3) {
        apply(core, work, wishes, action)?;
    }
    dependents::check_expressions(&old, work, actions)?;
    check_names_differ(work)?;
    if let Some(name) = &wishes.missing {
        return cannot_drop(name);
    }
    let mut known_key = None;
    for action in actions {
        match action {
            AlterAction::AddForeignKey(key)
                if key.constraint.as_ref().is_some_and(|name| {
                    old.foreign_keys.iter().any(|known| same_name(&known.def.name, name))
                }) =>
            {
                known_key = key.constraint.as_ref();
                apply(core, work, wishes, action)?;
            }
            AlterAction::ModifyColumn { def, position: Some(position) }
            | AlterAction::ChangeColumn { def, position: Some(position), .. } => {
                let at = known_column(work, &def.name)?;
                let column = work.columns.remove(at);
                let to = place(work, Some(position))?;
                work.add_column(to, column)?;
            }
            _ if stage(action) == 4 => apply(core, work, wishes, action)?,
            _ => {}
        }
    }
    if let Some(name) = known_key {
        // Before the keys' names those of their indexes must be all different.
        work.drop_needless_indexes();
        work.name_indexes()?;
        return error(ErrorCode::FkDupName, &[name]);
    }
    check_foreign_keys(work, &dropped)?;
    actions.iter().try_for_each(|action| apply_expressions(core, work, action))?;
    rules::check_places(work)
}

/// Error 1054 where two actions change one column, which the first has taken.
fn check_changed_once(work: &Work, actions: &[AlterAction]) -> Result<(), SqlError> {
    let mut changed: Vec<&str> = Vec::new();
    for action in actions {
        let name = match action {
            AlterAction::ModifyColumn { def, .. } => &def.name,
            AlterAction::ChangeColumn { old, .. } => old,
            AlterAction::RenameColumn { from, .. } => from,
            AlterAction::SetDefault { column, .. } | AlterAction::DropDefault(column) => column,
            _ => continue,
        };
        if changed.iter().any(|other| same_name(other, name)) {
            return Err(unknown(work, name));
        }
        changed.push(name);
    }
    Ok(())
}

fn apply(
    core: &mut SessionContext,
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
        AlterAction::DropColumn(name) if work.column(name).is_none() => wishes.miss(name),
        AlterAction::DropColumn(name) => drop_column(work, name)?,
        AlterAction::DropForeignKey(name) => {
            if !drop_foreign_key(work, name) {
                wishes.miss(name);
            }
        }
        AlterAction::DropIndex(name) => match work.index(name) {
            Some(at) => drop(work.indexes.remove(at)),
            None => wishes.miss(name),
        },
        AlterAction::DropPrimaryKey => {
            let primary = work.indexes.iter().position(|i| i.kind == IndexKind::Primary);
            let Some(at) = primary else { return cannot_drop("PRIMARY") };
            work.indexes.remove(at);
        }
        AlterAction::ModifyColumn { def, .. } | AlterAction::ChangeColumn { def, .. } => {
            change_column(core, work, def)?;
        }
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
            apply_option(core, work, option)?;
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
fn apply_attribute(
    core: &mut SessionContext,
    work: &mut Work,
    action: &AlterAction,
) -> Result<(), SqlError> {
    match action {
        AlterAction::DropCheck(name) => {
            if !drop_check(work, name) {
                return error(ErrorCode::CheckConstraintNotFound, &[name]);
            }
        }
        AlterAction::DropConstraint(name) => drop_constraint(work, name)?,
        AlterAction::SetDefault { column, default } => {
            let at = known_column(work, column)?;
            let def = work.columns[at].def.clone();
            let default = plain_default(&def, default)?;
            work.columns[at].def.default = columns::column_default(core, &def, &default)?;
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
fn apply_expressions(
    core: &SessionContext,
    work: &mut Work,
    action: &AlterAction,
) -> Result<(), SqlError> {
    match action {
        AlterAction::AddColumn { def, .. }
        | AlterAction::ModifyColumn { def, .. }
        | AlterAction::ChangeColumn { def, .. } => columns::finish_expressions(core, work, def),
        AlterAction::SetDefault { column, default: ast::ColumnDefault::Expr(expr) }
            if !matches!(expr, ast::Expr::Literal(_)) =>
        {
            let at = known_column(work, column)?;
            columns::finish_default(core, work, at, expr)
        }
        AlterAction::AddCheck(check) => columns::add_check(core, work, check, None),
        _ => Ok(()),
    }
}

/// The default that SET DEFAULT means: a literal is one in parentheses, too. Error 1101 for columns
/// that take none.
fn plain_default(
    def: &ColumnDef,
    default: &ast::ColumnDefault,
) -> Result<ast::ColumnDefault, SqlError> {
    let literal = match default {
        ast::ColumnDefault::Literal(literal) => literal,
        ast::ColumnDefault::Expr(literal @ ast::Expr::Literal(_)) => literal,
        other => return Ok(other.clone()),
    };
    match def.data_type {
        DataType::Text { .. } | DataType::Blob(_) | DataType::Json => {
            error(ErrorCode::BlobCantHaveDefault, &[&def.name])
        }
        _ => Ok(ast::ColumnDefault::Literal(literal.clone())),
    }
}

fn place(work: &Work, position: Option<&ast::ColumnPosition>) -> Result<Option<usize>, SqlError> {
    Ok(match position {
        None => None,
        Some(ast::ColumnPosition::First) => Some(0),
        Some(ast::ColumnPosition::After(name)) => Some(known_column(work, name)? + 1),
    })
}

fn drop_column(work: &mut Work, name: &str) -> Result<(), SqlError> {
    let Some(at) = work.column(name) else { return cannot_drop(name) };
    work.checks.retain(|check| !dependents::reads_only(check, name));
    dependents::check_conditions(work, name)?;
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

/// Error 1553 where a foreign key has lost its index.
fn check_foreign_keys(work: &Work, dropped: &[WorkIndex]) -> Result<(), SqlError> {
    let serves = |index: &WorkIndex, columns: &[String]| {
        index.parts.len() >= columns.len()
            && index.parts.iter().zip(columns).all(|(part, name)| same_name(&part.column, name))
    };
    for key in work.foreign_keys.iter().filter(|key| !key.added) {
        if work.indexes.iter().any(|index| serves(index, &key.columns)) {
            continue;
        }
        if let Some(index) = dropped.iter().find(|index| serves(index, &key.columns)) {
            let name = index.name.clone().unwrap_or_default();
            return error(ErrorCode::DropIndexFk, &[&name]);
        }
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
        Some(at) => {
            work.indexes.remove(at);
            Ok(())
        }
        None => error(ErrorCode::ConstraintNotFound, &[&name]),
    }
}

/// MODIFY and CHANGE: the new definition in the old column's place. It has its new name already.
fn change_column(
    core: &mut SessionContext,
    work: &mut Work,
    spec: &ast::ColumnDef,
) -> Result<(), SqlError> {
    let at = known_column(work, &spec.name)?;
    let mut column = columns::column(core, spec, work.collation)?;
    column.origin = work.columns[at].origin;
    let stored = |generated: &Option<Generated>| generated.as_ref().map(|g| g.stored);
    let (old_stored, new_stored) =
        (stored(&work.columns[at].def.generated), stored(&column.def.generated));
    // Only a stored column can become a plain one, and the other way.
    if old_stored != new_stored && (old_stored == Some(false) || new_stored == Some(false)) {
        let what = "Changing the STORED status";
        return error(ErrorCode::UnsupportedActionOnGeneratedColumn, &[&what]);
    }
    work.columns[at] = column;
    let mut indexes = columns::column_indexes(spec);
    let primary = |index: &super::work::WorkIndex| index.kind == IndexKind::Primary;
    if indexes.iter().any(primary) && work.indexes.iter().any(primary) {
        return error(ErrorCode::MultiplePriKey, &[]);
    }
    work.indexes.append(&mut indexes);
    Ok(())
}

/// RENAME COLUMN, and CHANGE to another name: all of them at once, so that columns can swap names.
fn rename_columns(
    core: &SessionContext,
    work: &mut Work,
    actions: &[AlterAction],
) -> Result<(), SqlError> {
    let renames: Vec<(&str, &str)> = actions
        .iter()
        .filter_map(|action| match action {
            AlterAction::RenameColumn { from, to } => Some((from.as_str(), to.as_str())),
            AlterAction::ChangeColumn { old, def, .. } => Some((old.as_str(), def.name.as_str())),
            _ => None,
        })
        .collect();
    for (from, to) in &renames {
        known_column(work, from)?;
        columns::check_column_name(to)?;
        if !same_name(from, to) {
            dependents::check_conditions(work, from)?;
        }
    }
    let renamed = |name: &mut String| {
        if let Some((_, to)) = renames.iter().find(|(from, _)| same_name(from, name)) {
            (*to).clone_into(name);
        }
    };
    work.columns.iter_mut().for_each(|column| renamed(&mut column.def.name));
    let parts = work.indexes.iter_mut().flat_map(|index| &mut index.parts);
    parts.for_each(|part| renamed(&mut part.column));
    if renames.iter().any(|(from, to)| from != to && same_name(from, to)) {
        columns::spell_anew(core, work);
    }
    for key in &mut work.foreign_keys {
        let itself = key.def.ref_schema == work.schema && key.def.ref_table == work.name;
        let referred = key.def.ref_columns.iter_mut().filter(|_| itself);
        key.columns.iter_mut().chain(referred).for_each(renamed);
    }
    Ok(())
}

/// Error 1060 where two columns have got one name.
fn check_names_differ(work: &Work) -> Result<(), SqlError> {
    for at in 1..work.columns.len() {
        let (before, name) = (&work.columns[..at], &work.columns[at].def.name);
        if before.iter().any(|other| same_name(&other.def.name, name)) {
            return error(ErrorCode::DupFieldname, &[name]);
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
    work.indexes[at].for_foreign_key = false;
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
        if column.def.default == ColumnDefault::Value(Value::Null) {
            column.def.default = ColumnDefault::None;
        }
    }
    Ok(())
}
