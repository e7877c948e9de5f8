//! What ALTER TABLE's actions do to a definition, and in which order.
//!
//! Whatever their order in the statement: constraints go first, then indexes, then columns; what
//! stays is renamed, all at once, and changed; then new things come and columns find their places,
//! in the statement's order. So an action names what there was before the statement, but for new
//! indexes and places, which name columns as they are called after it.
//!
//! Example: `ADD INDEX i (b), DROP INDEX i` puts a new index in place of the old one, and
//! `RENAME COLUMN a TO b, RENAME COLUMN b TO a` swaps two names.

use super::algorithm::RequestedAlgorithm;
use super::table::{apply_option, declare};
use super::table_builder::{IndexDraft, TableBuilder};
use super::{FullName, columns, dependents, full_name, rules};
use inia_base::collation::Collation;
use inia_base::datatype::{DataType, LobSize};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::charset;
use inia_expr::charset::Declared;
use inia_parser::ast::{self, AlterAction};
use inia_query::catalog::{ColumnDef, ColumnDefault, Generated, IndexKind, TABLESPACE, same_name};
use inia_query::context::SessionContext;

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
    /// ORDER BY: what rows are stored in the order of.
    pub(super) order: Vec<ast::OrderItem>,
    /// Something else than indexes that come and go.
    pub(super) beside_indexes: bool,
    pub(super) wanted: RequestedAlgorithm,
    /// What is to be dropped and does not exist; its error comes after most others.
    missing: Option<String>,
}

impl Wishes {
    /// Notes what an option of the table asks for.
    fn note_option(&mut self, option: &ast::TableOption) {
        self.wanted.options = true;
        // Naming the engine or the row format asks for a rebuild, even if neither changes.
        self.wanted.rebuild |= match option {
            ast::TableOption::Engine(_) | ast::TableOption::RowFormat(_) => true,
            ast::TableOption::Other { name, .. } => name == TABLESPACE,
            _ => false,
        };
        if let ast::TableOption::AutoIncrement(next) = option {
            self.auto_increment = Some(*next);
        }
    }

    fn miss(&mut self, name: &str) {
        self.missing.get_or_insert_with(|| name.to_owned());
    }
}

fn unknown(builder: &TableBuilder, name: &str) -> SqlError {
    SqlError::new(ErrorCode::UnknownColumn, &[&name, &builder.name])
}

fn known_column(builder: &TableBuilder, name: &str) -> Result<usize, SqlError> {
    builder.column(name).ok_or_else(|| unknown(builder, name))
}

fn known_index(builder: &TableBuilder, name: &str) -> Result<usize, SqlError> {
    let unknown = || SqlError::new(ErrorCode::KeyDoesNotExist, &[&name, &builder.name]);
    builder.index(name).ok_or_else(unknown)
}

fn cannot_drop<T>(name: &str) -> Result<T, SqlError> {
    error(ErrorCode::CantDropFieldOrKey, &[&name])
}

/// The stage in which an action takes place. Actions of one stage follow the statement's order.
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
    session: &mut SessionContext,
    builder: &mut TableBuilder,
    wishes: &mut Wishes,
    actions: &[AlterAction],
) -> Result<(), SqlError> {
    let adds = |action: &&AlterAction| matches!(action, AlterAction::AddColumn { .. });
    builder.check_listed(actions.iter().filter(adds).count())?;
    // New and changed columns follow it, wherever it stands.
    builder.collation = declared(actions, builder.collation)?.unwrap_or(builder.collation);
    let old = builder.clone();
    for now in 0..=2 {
        for action in actions.iter().filter(|action| stage(action) == now) {
            apply(session, builder, wishes, action)?;
        }
    }
    let gone =
        |index: &&IndexDraft| !builder.indexes.iter().any(|other| other.origin == index.origin);
    let mut dropped: Vec<IndexDraft> = old.indexes.iter().filter(gone).cloned().collect();
    check_changed_once(builder, actions)?;
    let names: Vec<String> = builder.columns.iter().map(|c| c.def.name.clone()).collect();
    rename_columns(session, builder, actions)?;
    for part in dropped.iter_mut().flat_map(|index| &mut index.parts) {
        if let Some(at) = names.iter().position(|name| same_name(name, &part.column)) {
            part.column.clone_from(&builder.columns[at].def.name);
        }
    }
    for action in actions.iter().filter(|action| stage(action) == 3) {
        apply(session, builder, wishes, action)?;
    }
    dependents::check_expressions(&old, builder, actions)?;
    check_names_differ(builder)?;
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
                apply(session, builder, wishes, action)?;
            }
            AlterAction::ModifyColumn { def, position: Some(position) }
            | AlterAction::ChangeColumn { def, position: Some(position), .. } => {
                let at = known_column(builder, &def.name)?;
                let column = builder.columns.remove(at);
                let to = place(builder, Some(position))?;
                builder.add_column(to, column)?;
            }
            _ if stage(action) == 4 => apply(session, builder, wishes, action)?,
            _ => {}
        }
    }
    if let Some(name) = known_key {
        // The names of indexes are checked before those of foreign keys.
        builder.drop_needless_indexes();
        builder.name_indexes()?;
        return error(ErrorCode::FkDupName, &[name]);
    }
    check_foreign_keys(builder, &dropped)?;
    actions.iter().try_for_each(|action| apply_expressions(session, builder, action))?;
    rules::check_places(builder)
}

/// Error 1054 where two actions change one column, which the first has taken.
fn check_changed_once(builder: &TableBuilder, actions: &[AlterAction]) -> Result<(), SqlError> {
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
            return Err(unknown(builder, name));
        }
        changed.push(name);
    }
    Ok(())
}

/// Whether the action makes the statement report counts of rows. RENAME TO and ENABLE KEYS alone do
/// not for a stored table, but where all rows are copied.
fn counts_rows(action: &AlterAction) -> bool {
    match action {
        AlterAction::RenameTo(_) | AlterAction::EnableKeys(_) | AlterAction::Lock(_) => false,
        AlterAction::Algorithm(way) => way.eq_ignore_ascii_case("COPY"),
        _ => true,
    }
}

fn apply(
    session: &mut SessionContext,
    builder: &mut TableBuilder,
    wishes: &mut Wishes,
    action: &AlterAction,
) -> Result<(), SqlError> {
    wishes.changes |= counts_rows(action);
    match action {
        AlterAction::AddColumn { def, position } => {
            let column = columns::column(session, def, builder.collation)?;
            let place = place(builder, position.as_ref())?;
            builder.add_column(place, column)?;
            builder.indexes.extend(columns::column_indexes(def));
        }
        AlterAction::AddIndex(spec) => builder.indexes.push(columns::index(session, spec)?),
        AlterAction::AddForeignKey(_) if builder.temporary => {
            return error(ErrorCode::CannotAddForeign, &[]);
        }
        AlterAction::AddForeignKey(spec) => columns::add_foreign_key(session, builder, spec)?,
        // `miss` keeps an unknown name: its error comes after those of other drops and changes.
        AlterAction::DropColumn(name) if builder.column(name).is_none() => wishes.miss(name),
        AlterAction::DropColumn(name) => drop_column(builder, name)?,
        AlterAction::DropForeignKey(name) => {
            if !drop_foreign_key(builder, name) {
                wishes.miss(name);
            }
        }
        AlterAction::DropIndex(name) => match builder.index(name) {
            Some(at) => drop(builder.indexes.remove(at)),
            None => wishes.miss(name),
        },
        AlterAction::DropPrimaryKey => {
            let primary = builder.indexes.iter().position(|i| i.kind == IndexKind::Primary);
            let Some(at) = primary else { return cannot_drop("PRIMARY") };
            builder.indexes.remove(at);
        }
        AlterAction::ModifyColumn { def, .. } | AlterAction::ChangeColumn { def, .. } => {
            change_column(session, builder, def)?;
        }
        AlterAction::RenameIndex { from, to } => rename_index(builder, from, to)?,
        AlterAction::RenameTo(to) => wishes.rename = Some(full_name(session, to)?),
        AlterAction::ConvertCharset { charset, collation } => {
            wishes.wanted.options = true;
            convert(builder, charset.as_deref(), collation.as_deref())?;
        }
        AlterAction::Option(option) => {
            wishes.note_option(option);
            apply_option(session, builder, option)?;
        }
        // MyISAM puts the making of entries off; here they are made at once.
        AlterAction::EnableKeys(_) if builder.engine == "MyISAM" => {}
        AlterAction::EnableKeys(_) => session.note(ErrorCode::IllegalHa, &[&builder.name]),
        AlterAction::Force => (wishes.copy, wishes.wanted.rebuild) = (true, true),
        AlterAction::OrderBy(items) => wishes.order.clone_from(items),
        AlterAction::Algorithm(text) => wishes.wanted.algorithm = Some(text.clone()),
        AlterAction::Lock(text) => wishes.wanted.lock = Some(text.clone()),
        _ => {
            wishes.wanted.options |= matches!(action, AlterAction::SetIndexVisibility { .. });
            return apply_attribute(session, builder, action);
        }
    }
    Ok(())
}

/// Actions on constraints and on single attributes of columns and indexes.
fn apply_attribute(
    session: &mut SessionContext,
    builder: &mut TableBuilder,
    action: &AlterAction,
) -> Result<(), SqlError> {
    match action {
        AlterAction::DropCheck(name) => {
            if !drop_check(builder, name) {
                return error(ErrorCode::CheckConstraintNotFound, &[name]);
            }
        }
        AlterAction::DropConstraint(name) => drop_constraint(builder, name)?,
        AlterAction::SetDefault { column, default } => {
            let at = known_column(builder, column)?;
            let def = builder.columns[at].def.clone();
            // A literal is converted now; `apply_expressions` binds an expression.
            let default = plain_default(&def, default)?;
            builder.columns[at].def.default = columns::column_default(session, &def, &default)?;
        }
        AlterAction::DropDefault(name) => {
            let at = known_column(builder, name)?;
            let nullable = builder.columns[at].def.nullable;
            // A nullable column loses its implicit DEFAULT NULL, too.
            builder.columns[at].def.default =
                if nullable { ColumnDefault::Absent } else { ColumnDefault::None };
        }
        AlterAction::SetColumnVisibility { column, visible } => {
            let at = known_column(builder, column)?;
            builder.columns[at].def.invisible = !visible;
        }
        AlterAction::SetIndexVisibility { index, visible } => {
            let at = known_index(builder, index)?;
            if !visible && builder.indexes[at].kind == IndexKind::Primary {
                return error(ErrorCode::PkIndexCantBeInvisible, &[]);
            }
            builder.indexes[at].visible = *visible;
        }
        AlterAction::SetEnforced { name, enforced } => {
            let Some(check) = builder.checks.iter_mut().find(|c| same_name(&c.name, name)) else {
                return error(ErrorCode::CheckConstraintNotFound, &[name]);
            };
            check.enforced = *enforced;
        }
        AlterAction::Tablespace { import } => {
            return Err(match builder.temporary {
                true => SqlError::new(ErrorCode::CannotDiscardTemporaryTable, &[]),
                false => rules::no_own_tablespace(builder, *import),
            });
        }
        // `apply_all` renames columns all at once, and adds conditions last.
        _ => {}
    }
    Ok(())
}

/// Expressions are bound when all actions have made their columns.
fn apply_expressions(
    session: &SessionContext,
    builder: &mut TableBuilder,
    action: &AlterAction,
) -> Result<(), SqlError> {
    match action {
        AlterAction::AddColumn { def, .. }
        | AlterAction::ModifyColumn { def, .. }
        | AlterAction::ChangeColumn { def, .. } => {
            columns::finish_expressions(session, builder, def)
        }
        AlterAction::SetDefault { column, default: ast::ColumnDefault::Expr(expr) }
            if !matches!(expr, ast::Expr::Literal(_)) =>
        {
            let at = known_column(builder, column)?;
            columns::finish_default(session, builder, at, expr)
        }
        AlterAction::AddCheck(check) => columns::add_check(session, builder, check, None),
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
        DataType::Text { .. } | DataType::Blob(_) | DataType::Json | DataType::Geometry { .. } => {
            error(ErrorCode::BlobCantHaveDefault, &[&def.name])
        }
        _ => Ok(ast::ColumnDefault::Literal(literal.clone())),
    }
}

fn place(
    builder: &TableBuilder,
    position: Option<&ast::ColumnPosition>,
) -> Result<Option<usize>, SqlError> {
    Ok(match position {
        None => None,
        Some(ast::ColumnPosition::First) => Some(0),
        Some(ast::ColumnPosition::After(name)) => Some(known_column(builder, name)? + 1),
    })
}

fn drop_column(builder: &mut TableBuilder, name: &str) -> Result<(), SqlError> {
    let Some(at) = builder.column(name) else { return cannot_drop(name) };
    builder.checks.retain(|check| !dependents::reads_only(check, name));
    dependents::check_conditions(builder, name)?;
    let child = |key: &&super::table_builder::ForeignKeyDraft| {
        key.columns.iter().any(|c| same_name(c, name))
    };
    if let Some(key) = builder.foreign_keys.iter().find(child) {
        return error(ErrorCode::FkColumnCannotDrop, &[&name, &key.def.name]);
    }
    builder.columns.remove(at);
    for index in &mut builder.indexes {
        index.parts.retain(|part| !same_name(&part.column, name));
    }
    builder.indexes.retain(|index| !index.parts.is_empty());
    Ok(())
}

/// Error 1553 where a foreign key has lost its index.
fn check_foreign_keys(builder: &TableBuilder, dropped: &[IndexDraft]) -> Result<(), SqlError> {
    let serves = |index: &IndexDraft, columns: &[String]| {
        index.parts.len() >= columns.len()
            && index.parts.iter().zip(columns).all(|(part, name)| same_name(&part.column, name))
    };
    for key in builder.foreign_keys.iter().filter(|key| !key.added) {
        if builder.indexes.iter().any(|index| serves(index, &key.columns)) {
            continue;
        }
        if let Some(index) = dropped.iter().find(|index| serves(index, &key.columns)) {
            let name = index.name.clone().unwrap_or_default();
            return error(ErrorCode::DropIndexFk, &[&name]);
        }
    }
    Ok(())
}

fn drop_foreign_key(builder: &mut TableBuilder, name: &str) -> bool {
    let before = builder.foreign_keys.len();
    builder.foreign_keys.retain(|key| !same_name(&key.def.name, name));
    builder.foreign_keys.len() < before
}

fn drop_check(builder: &mut TableBuilder, name: &str) -> bool {
    let before = builder.checks.len();
    builder.checks.retain(|check| !same_name(&check.name, name));
    builder.checks.len() < before
}

fn drop_constraint(builder: &mut TableBuilder, name: &str) -> Result<(), SqlError> {
    if drop_foreign_key(builder, name) || drop_check(builder, name) {
        return Ok(());
    }
    match builder.index(name).filter(|at| builder.indexes[*at].kind.is_unique()) {
        Some(at) => {
            builder.indexes.remove(at);
            Ok(())
        }
        None => error(ErrorCode::ConstraintNotFound, &[&name]),
    }
}

/// MODIFY and CHANGE: the new definition in the old column's place. It has its new name already.
fn change_column(
    session: &mut SessionContext,
    builder: &mut TableBuilder,
    spec: &ast::ColumnDef,
) -> Result<(), SqlError> {
    let at = known_column(builder, &spec.name)?;
    let mut column = columns::column(session, spec, builder.collation)?;
    column.origin = builder.columns[at].origin;
    let stored = |generated: &Option<Generated>| generated.as_ref().map(|g| g.stored);
    let (old_stored, new_stored) =
        (stored(&builder.columns[at].def.generated), stored(&column.def.generated));
    // Only a stored column can become a plain one, and the other way.
    if old_stored != new_stored && (old_stored == Some(false) || new_stored == Some(false)) {
        let what = "Changing the STORED status";
        return error(ErrorCode::UnsupportedActionOnGeneratedColumn, &[&what]);
    }
    builder.columns[at] = column;
    let mut indexes = columns::column_indexes(spec);
    let primary = |index: &super::table_builder::IndexDraft| index.kind == IndexKind::Primary;
    if indexes.iter().any(primary) && builder.indexes.iter().any(primary) {
        return error(ErrorCode::MultiplePriKey, &[]);
    }
    builder.indexes.append(&mut indexes);
    Ok(())
}

/// RENAME COLUMN, and CHANGE to another name: all of them at once, so that columns can swap names.
fn rename_columns(
    session: &SessionContext,
    builder: &mut TableBuilder,
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
        known_column(builder, from)?;
        columns::check_column_name(to)?;
        if !same_name(from, to) {
            dependents::check_conditions(builder, from)?;
        }
    }
    let renamed = |name: &mut String| {
        if let Some((_, to)) = renames.iter().find(|(from, _)| same_name(from, name)) {
            (*to).clone_into(name);
        }
    };
    builder.columns.iter_mut().for_each(|column| renamed(&mut column.def.name));
    let parts = builder.indexes.iter_mut().flat_map(|index| &mut index.parts);
    parts.for_each(|part| renamed(&mut part.column));
    if renames.iter().any(|(from, to)| from != to && same_name(from, to)) {
        columns::spell_anew(session, builder);
    }
    for key in &mut builder.foreign_keys {
        let itself = key.def.ref_schema == builder.schema && key.def.ref_table == builder.name;
        let referred = key.def.ref_columns.iter_mut().filter(|_| itself);
        key.columns.iter_mut().chain(referred).for_each(renamed);
    }
    Ok(())
}

/// Error 1060 where two columns have got one name.
fn check_names_differ(builder: &TableBuilder) -> Result<(), SqlError> {
    for at in 1..builder.columns.len() {
        let (before, name) = (&builder.columns[..at], &builder.columns[at].def.name);
        if before.iter().any(|other| same_name(&other.def.name, name)) {
            return error(ErrorCode::DupFieldname, &[name]);
        }
    }
    Ok(())
}

fn rename_index(builder: &mut TableBuilder, from: &str, to: &str) -> Result<(), SqlError> {
    let at = known_index(builder, from)?;
    if builder.index(to).is_some_and(|other| other != at) {
        return error(ErrorCode::DupKeyname, &[&to]);
    }
    if same_name(to, "PRIMARY") {
        return error(ErrorCode::WrongNameForIndex, &[&to]);
    }
    builder.indexes[at].name = Some(to.to_owned());
    builder.indexes[at].for_foreign_key = false;
    Ok(())
}

/// The longest VARCHAR, in bytes.
const MAX_VARCHAR_BYTES: u32 = 65_535;

/// CONVERT TO CHARACTER SET: the table's default and all its character columns.
fn convert(
    builder: &mut TableBuilder,
    charset: Option<&str>,
    collation: Option<&str>,
) -> Result<(), SqlError> {
    let to = charset::resolve(charset, collation)?.unwrap_or(builder.collation);
    builder.collation = to;
    for column in &mut builder.columns {
        if let DataType::VarChar { chars, .. } = column.def.data_type {
            check_varchar(&column.def.name, chars, to)?;
        }
        let ty = &mut column.def.data_type;
        let slot: &mut Collation = match ty {
            DataType::Text { size, collation } => {
                *size = grown(*size, *collation, to);
                collation
            }
            DataType::Char { collation, .. }
            | DataType::VarChar { collation, .. }
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

/// The size of a TEXT that holds as many characters in another character set: the next one where
/// its characters take more bytes.
fn grown(size: LobSize, from: Collation, to: Collation) -> LobSize {
    match size {
        _ if to.charset().max_bytes() <= from.charset().max_bytes() => size,
        LobSize::Tiny => LobSize::Normal,
        LobSize::Normal => LobSize::Medium,
        LobSize::Medium | LobSize::Long => LobSize::Long,
    }
}

/// Error 1074: a VARCHAR has at most 65535 bytes.
fn check_varchar(name: &str, chars: u32, to: Collation) -> Result<(), SqlError> {
    let most = MAX_VARCHAR_BYTES / u32::from(to.charset().max_bytes());
    match chars > most {
        true => error(ErrorCode::TooBigFieldlength, &[&name, &most]),
        false => Ok(()),
    }
}
