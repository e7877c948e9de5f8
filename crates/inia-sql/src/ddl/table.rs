//! CREATE, DROP, TRUNCATE and RENAME TABLE, CREATE and DROP INDEX.

use super::columns;
use super::engine;
use super::engine_options::{self, Definer};
use super::foreign::{self, Moved};
use super::merged;
use super::schema::hold_schema;
use super::table_builder::{Finished, TableBuilder};
use super::{
    DdlResult, FullName, alter_table, aside, existing, full_name, in_transaction, lock,
    lock_beside, lock_renamed, lock_stored, unix_seconds,
};
use super::{tablespace, triggers};
use inia_base::collation::Collation;
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::charset;
use inia_expr::charset::Declared;
use inia_parser::ast;
use inia_query::catalog::mdl::MdlGuard;
use inia_query::catalog::{
    self, CatalogVersion, Change, MergeInsert, TABLESPACE, TRANSACTIONAL, Table, TableDef, ViewDef,
    make_trees, quoted,
};
use inia_query::context::SessionContext;
use inia_query::context::StatementOutcome;
use inia_query::error::StorageResult;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

const MAX_TABLE_COMMENT: usize = 2048;
/// The order in which SHOW CREATE TABLE prints options.
const OPTION_ORDER: [&str; 17] = [
    TABLESPACE,
    "AUTOEXTEND_SIZE",
    "MIN_ROWS",
    "MAX_ROWS",
    "AVG_ROW_LENGTH",
    "PACK_KEYS",
    "STATS_PERSISTENT",
    "STATS_AUTO_RECALC",
    "STATS_SAMPLE_PAGES",
    "CHECKSUM",
    "DELAY_KEY_WRITE",
    "ROW_FORMAT",
    "KEY_BLOCK_SIZE",
    "COMPRESSION",
    "SECONDARY_ENGINE",
    "SECONDARY_ENGINE_ATTRIBUTE",
    "CONNECTION",
];

fn error<T>(code: ErrorCode, args: &[&dyn std::fmt::Display]) -> Result<T, SqlError> {
    Err(SqlError::new(code, args))
}

/// Applies table options. The charset options come first because columns depend on them.
pub(super) fn apply_options(
    session: &mut SessionContext,
    builder: &mut TableBuilder,
    options: &[ast::TableOption],
) -> Result<(), SqlError> {
    let mut declared = Declared::default();
    options.iter().try_for_each(|option| declare(&mut declared, option, builder.collation))?;
    builder.collation = declared.collation().unwrap_or(builder.collation);
    options.iter().try_for_each(|option| apply_option(session, builder, option))
}

/// Notes the character set or collation that an option declares.
pub(super) fn declare(
    declared: &mut Declared,
    option: &ast::TableOption,
    default: Collation,
) -> Result<(), SqlError> {
    match option {
        ast::TableOption::Charset(Some(name)) => declared.charset(name),
        ast::TableOption::Charset(None) => declared.charset(charset::charset_name(default)),
        ast::TableOption::Collate(name) => declared.collate(name),
        _ => Ok(()),
    }
}

/// Applies an option that is not about character set or collation.
pub(super) fn apply_option(
    session: &mut SessionContext,
    builder: &mut TableBuilder,
    option: &ast::TableOption,
) -> Result<(), SqlError> {
    match option {
        ast::TableOption::Engine(name) => {
            if let Some(engine) = engine::named(session, name)? {
                builder.engine = engine.to_owned();
            }
        }
        ast::TableOption::AutoIncrement(next) => builder.auto_increment = *next,
        ast::TableOption::Comment(text) => {
            let code = ErrorCode::TooLongTableComment;
            builder.comment =
                columns::comment(session, text, MAX_TABLE_COMMENT, code, &builder.name)?;
        }
        ast::TableOption::RowFormat(format) => set_option(builder, "ROW_FORMAT", format),
        ast::TableOption::Union(names) => builder.union.tables = united(session, names)?,
        ast::TableOption::Other { name, value } if name == "INSERT_METHOD" => {
            builder.union.insert = MergeInsert::named(value).unwrap_or_default();
        }
        ast::TableOption::Other { name, value } if name == "ENCRYPTION" => {
            match value.to_ascii_uppercase().as_str() {
                "Y" => return error(ErrorCode::CannotFindKeyInKeyring, &[]),
                "N" => {}
                _ => return error(ErrorCode::InvalidEncryptionOption, &[]),
            }
        }
        ast::TableOption::Other { name, value } if name.ends_with(" DIRECTORY") => {
            engine_options::check_directory(session, builder, name, value)?;
        }
        ast::TableOption::Other { name, value } => {
            check_attribute(builder, name, value)?;
            set_option(builder, name, value);
        }
        ast::TableOption::Charset(_) | ast::TableOption::Collate(_) => {}
    }
    Ok(())
}

/// The tables of UNION; error 1066 where one is named twice.
fn united(session: &SessionContext, names: &[ast::ObjectName]) -> Result<Vec<FullName>, SqlError> {
    let mut tables = Vec::with_capacity(names.len());
    for name in names {
        let name = full_name(session, name)?;
        if inia_query::computed::schema(&name.0) == Some("information_schema") {
            let access = session.access();
            let args: [&dyn std::fmt::Display; 3] =
                [&access.account.user, &access.client, &"information_schema"];
            return error(ErrorCode::DbAccessDenied, &args);
        }
        if tables.contains(&name) {
            return error(ErrorCode::NonUniqueTable, &[&name.1]);
        }
        tables.push(name);
    }
    Ok(tables)
}

/// Errors 3980 and 3981 of ENGINE_ATTRIBUTE, and those of AUTOEXTEND_SIZE.
fn check_attribute(builder: &TableBuilder, name: &str, value: &str) -> Result<(), SqlError> {
    match name {
        "ENGINE_ATTRIBUTE" | "SECONDARY_ENGINE_ATTRIBUTE" if !value.is_empty() => {
            tablespace::json_attribute(value)?;
            match name {
                "ENGINE_ATTRIBUTE" => {
                    error(ErrorCode::EngineAttributeNotSupported, &[&builder.engine])
                }
                _ => Ok(()),
            }
        }
        "AUTOEXTEND_SIZE" if builder.engine == TRANSACTIONAL => {
            let size = value.parse().unwrap_or_default();
            if builder.temporary && size > 0 {
                return error(ErrorCode::InvalidAutoextendOfTemporary, &[]);
            }
            tablespace::check_autoextend(Some(size))
        }
        _ => Ok(()),
    }
}

fn set_option(builder: &mut TableBuilder, name: &str, value: &str) {
    let Some(rank) = OPTION_ORDER.iter().position(|known| *known == name) else { return };
    builder.options.retain(|(known, _)| known != name);
    const ZERO_IS_NONE: [&str; 7] = [
        "MAX_ROWS",
        "MIN_ROWS",
        "AVG_ROW_LENGTH",
        "KEY_BLOCK_SIZE",
        "CHECKSUM",
        "DELAY_KEY_WRITE",
        "AUTOEXTEND_SIZE",
    ];
    let absent = match value {
        "DEFAULT" => name != "CONNECTION",
        "0" => ZERO_IS_NONE.contains(&name),
        value => value.is_empty(),
    };
    if absent {
        return;
    }
    let rank_of = |known: &str| OPTION_ORDER.iter().position(|name| *name == known);
    let at = builder.options.iter().position(|(known, _)| rank_of(known) > Some(rank));
    let at = at.unwrap_or(builder.options.len());
    builder.options.insert(at, (name.to_owned(), value.to_owned()));
}

/// CREATE TABLE without SELECT.
pub(crate) fn create_table(session: &mut SessionContext, create: &ast::CreateTable) -> DdlResult {
    let name = full_name(session, &create.name)?;
    let schema = hold_schema(session, &name.0)?;
    // A name in use is no reason to wait for its users.
    if is_taken(session, &name, create)? {
        return Ok(StatementOutcome::default());
    }
    let _lock = lock_new(session, &name, create)?;
    if is_taken(session, &name, create)? {
        return Ok(StatementOutcome::default());
    }
    let created = make(session, &name, schema.collation, create);
    created.inspect_err(|error| engine_options::list_refusal(session, &name.1, error))
}

/// Makes the table, whose name is free.
fn make(
    session: &mut SessionContext,
    name: &FullName,
    collation: Collation,
    create: &ast::CreateTable,
) -> DdlResult {
    let finished = match &create.like {
        Some(other) => like(session, name, other, create.temporary)?,
        None => {
            let mut builder = define(session, name, collation, create)?;
            partition(session, &mut builder, create)?;
            builder.finish()?
        }
    };
    finish_create(session, finished)
}

/// PARTITION BY; error 1497 where some of the partitions name an engine.
pub(super) fn partition(
    session: &mut SessionContext,
    builder: &mut TableBuilder,
    create: &ast::CreateTable,
) -> Result<(), SqlError> {
    let Some(by) = &create.partition else { return Ok(()) };
    let named = |option: &ast::TableOption| matches!(option, ast::TableOption::Engine(_));
    let own = |spec: &ast::PartitionSpec| spec.options.engine.is_some();
    let some = by.partitions.iter().any(own) && !by.partitions.iter().all(own);
    if some && !create.options.iter().any(named) {
        return error(ErrorCode::MixHandlerError, &[]);
    }
    builder.partitioning = Some(super::partition::define(session, builder, by)?);
    Ok(())
}

/// Locks the name of a table about to be created, and what its foreign keys refer to; no other
/// session can see a temporary one.
pub(super) fn lock_new(
    session: &SessionContext,
    name: &FullName,
    create: &ast::CreateTable,
) -> Result<Vec<MdlGuard>, SqlError> {
    if create.temporary {
        return Ok(Vec::new());
    }
    let parent = |element: &ast::TableElement| match element {
        ast::TableElement::ForeignKey(key) => {
            let parent = &key.references.table;
            Some((parent.db.clone().unwrap_or_else(|| name.0.clone()), parent.name.clone()))
        }
        _ => None,
    };
    let parents: Vec<FullName> = create.elements.iter().filter_map(parent).collect();
    lock_beside(session, std::slice::from_ref(name), &parents)
}

/// Whether the table is there already, with a note where IF NOT EXISTS allows that; error 1050.
pub(super) fn is_taken(
    session: &mut SessionContext,
    name: &FullName,
    create: &ast::CreateTable,
) -> Result<bool, SqlError> {
    let taken = match create.temporary {
        true => session.temporary.get(&name.0, &name.1).is_some(),
        false => session.db.catalog().has(&name.0, &name.1),
    };
    if taken && let Some(table) = session.table(&name.0, &name.1) {
        table.check_children()?;
    }
    if taken && !create.if_not_exists {
        return error(ErrorCode::TableExists, &[&name.1]);
    }
    if taken {
        session.note(ErrorCode::TableExists, &[&name.1]);
    }
    Ok(taken)
}

fn finish_create(session: &mut SessionContext, finished: Finished) -> DdlResult {
    for warning in &finished.warnings {
        session.push_warning(warning);
    }
    let mut def = finished.def;
    def.id = session.db.catalog().new_table_id();
    def.created = unix_seconds();
    session.temporary.created |= def.temporary && !session.autocommits();
    foreign::check_bases(&def, true)?;
    engine::check(session, &def)?;
    engine_options::check(session, &mut def, Definer::Create)?;
    tablespace::check_table(session, &def)?;
    aside(session, |session, changes| {
        create_trees(session, &mut def)?;
        changes.push(Change::PutTable(def));
        Ok(StatementOutcome::default())
    })
}

/// The definition that CREATE TABLE's elements and options make.
pub(super) fn define(
    session: &mut SessionContext,
    name: &FullName,
    collation: Collation,
    create: &ast::CreateTable,
) -> Result<TableBuilder, SqlError> {
    let mut builder = TableBuilder::new(&name.0, &name.1, collation);
    builder.temporary = create.temporary;
    if let Some(default) = session.var("default_storage_engine") {
        builder.engine = engine::known(&default).unwrap_or(TRANSACTIONAL).to_owned();
    }
    // Columns take the table's collation, so the options come first.
    tablespace::check_options(&create.options)?;
    apply_options(session, &mut builder, &create.options)?;
    note_substitution(session, &builder, &create.options);
    let is_column = |element: &&ast::TableElement| matches!(element, ast::TableElement::Column(_));
    builder.check_listed(create.elements.iter().filter(is_column).count())?;
    let mut checks = Vec::new();
    for element in &create.elements {
        match element {
            ast::TableElement::Column(spec) => {
                let column = columns::column(session, spec, builder.collation)?;
                builder.add_column(None, column)?;
                builder.indexes.extend(columns::column_indexes(spec));
            }
            ast::TableElement::Index(spec) => builder.indexes.push(columns::index(session, spec)?),
            ast::TableElement::ForeignKey(_) if create.temporary => {
                return error(ErrorCode::CannotAddForeign, &[]);
            }
            ast::TableElement::ForeignKey(spec) => {
                columns::add_foreign_key(session, &mut builder, spec)?;
            }
            ast::TableElement::Check(check) => checks.push(check),
        }
    }
    // An expression may read columns that are defined after its own.
    for element in &create.elements {
        if let ast::TableElement::Column(spec) = element {
            columns::finish_expressions(session, &mut builder, spec)?;
        }
    }
    columns::finish_functional(session, &mut builder)?;
    for check in checks {
        columns::add_check(session, &mut builder, check, None)?;
    }
    // Foreign keys need all columns and indexes: first those of this table, then those of other
    // tables that name it as their parent.
    foreign::check_child(session, &mut builder)?;
    foreign::check_adopted(session, &builder)?;
    for element in &create.elements {
        if let ast::TableElement::Index(spec) = element
            && spec.options.using.as_deref() == Some("HASH")
            && builder.engine != "MEMORY"
        {
            session.note(ErrorCode::UnsupportedIndexAlgorithm, &[&"HASH"]);
        }
    }
    Ok(builder)
}

/// Warning 1266 where the last engine that the statement names is not there.
fn note_substitution(
    session: &mut SessionContext,
    builder: &TableBuilder,
    options: &[ast::TableOption],
) {
    let last = options.iter().rev().find_map(|option| match option {
        ast::TableOption::Engine(name) => Some(name),
        _ => None,
    });
    if last.is_some_and(|name| engine::known(name).is_none()) {
        session.warn(ErrorCode::WarnUsingOtherHandler, &[&builder.engine, &builder.name]);
    }
}

/// CREATE TABLE … LIKE: everything but foreign keys and the AUTO_INCREMENT counter.
fn like(
    session: &mut SessionContext,
    name: &FullName,
    other: &ast::ObjectName,
    temporary: bool,
) -> Result<Finished, SqlError> {
    let other = full_name(session, other)?;
    if temporary && other == *name {
        return error(ErrorCode::NonUniqueTable, &[&name.1]);
    }
    let table = session.open_table(Some(&other.0), &other.1)?;
    let mut builder = TableBuilder::from_table(&table.def);
    builder.schema.clone_from(&name.0);
    builder.name.clone_from(&name.1);
    builder.temporary = temporary;
    builder.foreign_keys.clear();
    builder.last_foreign = 0;
    builder.auto_increment = 0;
    for (number, check) in builder.checks.iter_mut().enumerate() {
        check.name = format!("{}_chk_{}", name.1, number + 1);
    }
    builder.columns.iter_mut().for_each(|column| column.origin = None);
    builder.indexes.iter_mut().for_each(|index| index.origin = None);
    let mut finished = builder.finish()?;
    finished.warnings.clear();
    Ok(finished)
}

/// Creates the trees of a definition and writes their numbers into it.
pub(super) fn create_trees(
    session: &mut SessionContext,
    def: &mut TableDef,
) -> Result<(), SqlError> {
    if def.is_volatile() {
        let limit = session.var("max_heap_table_size").and_then(|size| size.parse().ok());
        let shared = session.db.catalog().shared(def.id);
        shared.heap_size.store(limit.unwrap_or(0), Ordering::Relaxed);
    }
    let store = session.db.catalog().open_store(def).sql()?;
    let mut txn = session.tree_txn(def).borrow_mut();
    let name = def.name.clone();
    make_trees(store, &mut txn, def).sql_for(&name)
}

/// Drops all trees of a table at commit.
pub(super) fn drop_trees(session: &SessionContext, table: &Table) -> Result<(), SqlError> {
    let mut txn = session.tree_txn(&table.def).borrow_mut();
    catalog::drop_trees(&table.store, &mut txn, &table.def).sql()
}

/// Error 3730 where a table outside of `dropped` refers to one of them.
pub(super) fn check_not_referenced(
    session: &SessionContext,
    dropped: &[Arc<Table>],
) -> Result<(), SqlError> {
    if !session.flag("foreign_key_checks") {
        return Ok(());
    }
    let catalog = session.db.catalog().current();
    for child in by_age(&catalog) {
        if dropped.iter().any(|table| table.def.id == child.def.id) {
            continue;
        }
        for key in &child.def.foreign_keys {
            let parent = |table: &&Arc<Table>| {
                table.def.schema == key.ref_schema && table.def.name == key.ref_table
            };
            if let Some(parent) = dropped.iter().find(parent) {
                let args: [&dyn std::fmt::Display; 3] =
                    [&parent.def.name, &key.name, &child.def.name];
                return error(ErrorCode::FkCannotDropParent, &args);
            }
        }
    }
    Ok(())
}

/// DROP TABLE: all of the tables or none.
pub(crate) fn drop_tables(session: &mut SessionContext, drop: &ast::DropTables) -> DdlResult {
    let mut names = Vec::new();
    for name in &drop.names {
        let name = full_name(session, name)?;
        if names.contains(&name) {
            return error(ErrorCode::NonUniqueTable, &[&name.1]);
        }
        names.push(name);
    }
    // A temporary table hides the stored table of its name.
    let (own, mut names): (Vec<FullName>, Vec<FullName>) =
        names.into_iter().partition(|(schema, name)| session.temporary.get(schema, name).is_some());
    let (mut tables, mut missing) = (Vec::new(), Vec::new());
    if drop.temporary {
        missing = names.drain(..).map(|(schema, name)| format!("{schema}.{name}")).collect();
    }
    let _lock = lock(session, &names)?;
    for (schema, name) in &names {
        match session.db.catalog().table(schema, name) {
            Some(table) => tables.push(table),
            None => missing.push(format!("{schema}.{name}")),
        }
    }
    if !missing.is_empty() {
        if !drop.if_exists {
            return error(ErrorCode::UnknownTable, &[&missing.join(",")]);
        }
        missing.iter().for_each(|name| session.note(ErrorCode::UnknownTable, &[name]));
    }
    // Nothing is dropped before all names have passed.
    check_not_referenced(session, &tables)?;
    drop_temporary(session, &own)?;
    // DROP TEMPORARY begins no storage transaction: that of the session stays open.
    if tables.is_empty() {
        return Ok(StatementOutcome::default());
    }
    in_transaction(session, |session, changes| {
        for table in &tables {
            drop_trees(session, table)?;
            triggers::dropped(table, changes);
            let (schema, name) = (table.def.schema.clone(), table.def.name.clone());
            changes.push(Change::DropTable { schema, name });
        }
        Ok(())
    })?;
    tables.iter().for_each(|table| session.db.catalog().forget(table.def.id));
    Ok(StatementOutcome::default())
}

/// Drops temporary tables of the session, which does not end its transaction.
fn drop_temporary(session: &mut SessionContext, names: &[FullName]) -> Result<(), SqlError> {
    for (schema, name) in names {
        session.temporary.doom(schema, name);
        session.settings += 1;
        session.temporary.dropped |= !session.autocommits();
    }
    if session.state.open { Ok(()) } else { session.temporary.bury(&session.db.catalog, false) }
}

/// TRUNCATE: new, empty trees in place of the old ones.
pub(crate) fn truncate(session: &mut SessionContext, name: &ast::ObjectName) -> DdlResult {
    let name = full_name(session, name)?;
    let all = merged::with_children(session, &name);
    let _lock = lock_stored(session, &all)?;
    let own = session.temporary.get(&name.0, &name.1).is_some();
    if !own && session.db.catalog().view(&name.0, &name.1).is_some() {
        return error(ErrorCode::NoSuchTable, &[&name.0, &name.1]);
    }
    let table = existing(session, &name)?;
    if table.def.is_append_only() {
        return error(ErrorCode::IllegalHa, &[&table.def.name]);
    }
    if !table.def.temporary {
        check_truncatable(session, &table)?;
    }
    table.check_children()?;
    // The rows of a merged table are those of its children.
    let emptied = match table.def.is_merged() {
        true => table.children().to_vec(),
        false => vec![table],
    };
    in_transaction(session, |session, changes| {
        for table in &emptied {
            let mut def = TableDef::clone(&table.def);
            def.auto_increment = 0;
            drop_trees(session, table)?;
            create_trees(session, &mut def)?;
            changes.push(Change::PutTable(def));
        }
        Ok(())
    })?;
    for table in &emptied {
        table.shared.forget_row_ids();
        table.shared.row_estimate.store(0, Ordering::Relaxed);
    }
    Ok(StatementOutcome::default())
}

/// The tables with foreign keys, the oldest first: MySQL reports the first that refers to a table.
fn by_age(catalog: &CatalogVersion) -> impl Iterator<Item = &Arc<Table>> {
    let all = catalog.schemas.values().flat_map(|schema| schema.tables.values());
    let mut tables: Vec<_> = all.filter(|table| !table.def.foreign_keys.is_empty()).collect();
    tables.sort_by_key(|table| table.def.id);
    tables.into_iter()
}

/// Error 1701 where another table refers to this one.
fn check_truncatable(session: &SessionContext, table: &Arc<Table>) -> Result<(), SqlError> {
    let Err(_) = check_not_referenced(session, std::slice::from_ref(table)) else { return Ok(()) };
    let catalog = session.db.catalog().current();
    for child in by_age(&catalog).filter(|child| child.def.id != table.def.id) {
        for key in &child.def.foreign_keys {
            if key.ref_schema == table.def.schema && key.ref_table == table.def.name {
                let text = format!(
                    "{}.{}, CONSTRAINT {}",
                    quoted(&child.def.schema),
                    quoted(&child.def.name),
                    quoted(&key.name)
                );
                return error(ErrorCode::TruncateIllegalFk, &[&text]);
            }
        }
    }
    Ok(())
}

/// RENAME TABLE: from left to right, all or none.
pub(crate) fn rename_tables(
    session: &mut SessionContext,
    pairs: &[(ast::ObjectName, ast::ObjectName)],
) -> DdlResult {
    let mut names = Vec::new();
    for (from, to) in pairs {
        names.push((full_name(session, from)?, full_name(session, to)?));
    }
    for (_, to) in &names {
        hold_schema(session, &to.0)?;
    }
    let all: Vec<FullName> = names.iter().flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
    let _lock = lock_renamed(session, &all, &[])?;
    // The renames are tried on this map first: `a TO t, b TO a, t TO b` swaps two names, and an
    // error at any pair leaves the catalog as it is.
    let mut present: BTreeMap<FullName, Option<Named>> = BTreeMap::new();
    for name in &all {
        present.insert(name.clone(), Named::find(session, name));
    }
    for (from, to) in &names {
        if present.get(to).is_some_and(Option::is_some) {
            return error(ErrorCode::TableExists, &[&to.1]);
        }
        let Some(mut object) = present.get(from).cloned().flatten() else {
            return error(ErrorCode::NoSuchTable, &[&from.0, &from.1]);
        };
        object.rename(from, to)?;
        present.insert(to.clone(), Some(object));
        present.insert(from.clone(), None);
    }
    // Foreign keys of the renamed tables follow here, those of all other tables by `retarget`.
    let moves: Vec<Moved> = names.iter().map(|(from, to)| Moved::table(from, to)).collect();
    for object in present.values_mut().flatten() {
        if let Named::Table(def) = object {
            foreign::follow_all(def, &moves);
        }
    }
    let followed = triggers::renamed(session, &names)?;
    in_transaction(session, |session, changes| {
        for (name, now) in &present {
            let before = Named::find(session, name);
            // A put overwrites an object of the same kind; any other must be removed.
            let same = matches!(
                (&before, now),
                (Some(Named::Table(_)), Some(Named::Table(_)))
                    | (Some(Named::View(_)), Some(Named::View(_)))
                    | (None, _)
            );
            if !same {
                changes.extend(before.map(|object| object.gone(name)));
            }
        }
        changes.extend(present.values().flatten().map(Named::put));
        changes.extend(followed);
        changes.extend(foreign::retarget(session, &moves));
        Ok(StatementOutcome::default())
    })
}

/// What a name in RENAME TABLE stands for.
#[derive(Clone)]
enum Named {
    Table(TableDef),
    View(ViewDef),
}

impl Named {
    fn find(session: &SessionContext, (schema, name): &FullName) -> Option<Named> {
        let catalog = session.db.catalog();
        let table = catalog.table(schema, name).map(|table| TableDef::clone(&table.def));
        let view = || catalog.view(schema, name).map(|view| ViewDef::clone(&view.def));
        table.map(Named::Table).or_else(|| view().map(Named::View))
    }

    /// A view stays in its database: error 1450.
    fn rename(&mut self, from: &FullName, to: &FullName) -> Result<(), SqlError> {
        match self {
            Named::Table(def) => {
                rename_constraints(def, &from.1, &to.1);
                (def.schema, def.name) = to.clone();
            }
            Named::View(_) if from.0 != to.0 => {
                return error(ErrorCode::ForbidSchemaChange, &[&from.0, &to.0]);
            }
            Named::View(def) => def.name.clone_from(&to.1),
        }
        Ok(())
    }

    fn gone(&self, (schema, name): &FullName) -> Change {
        let (schema, name) = (schema.clone(), name.clone());
        match self {
            Named::Table(_) => Change::DropTable { schema, name },
            Named::View(_) => Change::DropView { schema, name },
        }
    }

    fn put(&self) -> Change {
        match self {
            Named::Table(def) => Change::PutTable(def.clone()),
            Named::View(def) => Change::PutView(Box::new(def.clone())),
        }
    }
}

/// Constraints with generated names follow their table's name.
pub(super) fn rename_constraints(def: &mut TableDef, from: &str, to: &str) {
    let renamed = |name: &str, infix: &str| {
        let number = name.strip_prefix(from)?.strip_prefix(infix)?;
        number.bytes().all(|b| b.is_ascii_digit()).then(|| format!("{to}{infix}{number}"))
    };
    for check in &mut def.checks {
        if let Some(name) = renamed(&check.name, "_chk_") {
            check.name = name;
        }
    }
    for key in &mut def.foreign_keys {
        if let Some(name) = renamed(&key.name, "_ibfk_") {
            key.name = name;
        }
    }
}

/// CREATE INDEX is ALTER TABLE … ADD INDEX.
pub(crate) fn create_index(session: &mut SessionContext, create: &ast::CreateIndex) -> DdlResult {
    let mut actions = vec![ast::AlterAction::AddIndex(create.index.clone())];
    actions.extend(create.algorithm.clone().map(ast::AlterAction::Algorithm));
    let alter = ast::AlterTable { name: create.table.clone(), actions };
    alter_table(session, &alter)
}

/// DROP INDEX is ALTER TABLE … DROP INDEX.
pub(crate) fn drop_index(session: &mut SessionContext, drop: &ast::DropIndex) -> DdlResult {
    let action = match drop.name.eq_ignore_ascii_case("PRIMARY") {
        true => ast::AlterAction::DropPrimaryKey,
        false => ast::AlterAction::DropIndex(drop.name.clone()),
    };
    alter_table(session, &ast::AlterTable { name: drop.table.clone(), actions: vec![action] })
}
