//! CREATE, ALTER and DROP of tablespaces.

mod members;

pub(super) use members::{check_options, check_partition, check_table};

use super::{engine, in_transaction, lock, lock_beside};
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{TablespaceAction, TablespaceOptions, TablespaceStatement};
use inia_query::catalog::{
    Change, DICTIONARY_SPACE, FILE_PER_TABLE, FullName, SYSTEM_SPACE, TABLESPACE, TEMPORARY_SPACE,
    TRANSACTIONAL, Table, TableDef, TablespaceDef,
};
use inia_query::context::{SessionContext, StatementOutcome};
use inia_query::error::StorageResult;
use std::path::Path;
use std::sync::Arc;

/// Bytes of an InnoDB page.
const PAGE: u64 = 16_384;
/// AUTOEXTEND_SIZE is a multiple of this many bytes, and not more than the other.
const AUTOEXTEND_STEP: u64 = 4 << 20;
const MAX_AUTOEXTEND: u64 = 4096 << 20;
/// Undo tablespaces that must be active.
const MIN_ACTIVE: usize = 2;

type Done = Result<StatementOutcome, SqlError>;

fn error<T>(code: ErrorCode, args: &[&dyn std::fmt::Display]) -> Result<T, SqlError> {
    Err(SqlError::new(code, args))
}

/// An error whose number stands for several texts.
fn worded<T>(code: ErrorCode, message: String) -> Result<T, SqlError> {
    Err(SqlError::with_message(code, message))
}

/// The tablespace's name as a name that is locked: no database is called "".
fn lock_name(name: &str) -> FullName {
    (String::new(), name.to_owned())
}

/// Carries out a statement.
pub(crate) fn run(session: &mut SessionContext, statement: &TablespaceStatement) -> Done {
    session.commit()?;
    session.check_writable()?;
    session.begin_change()?;
    let TablespaceStatement { undo, name, action, options } = statement;
    check_named(name)?;
    let mut names = vec![lock_name(name)];
    if let TablespaceAction::Rename(to) = action {
        check_named(to)?;
        names.push(lock_name(to));
    }
    let _locks = lock(session, &names)?;
    let def = match action {
        TablespaceAction::Create { file } => {
            check_engine(options, statement.words())?;
            let def = created(session, *undo, (name, file.as_deref()), options)?;
            return put(session, None, Some(def));
        }
        _ => existing(session, statement)?,
    };
    match action {
        TablespaceAction::Drop if *undo && def.active => {
            error(ErrorCode::DropFilegroupFailed, &[&format!("UNDO TABLESPACE {name}")])
        }
        TablespaceAction::Drop => {
            check_empty(session, name)?;
            put(session, Some(name), None)
        }
        TablespaceAction::Rename(to) => rename(session, &def, to),
        TablespaceAction::AddFile => {
            error(ErrorCode::AlterFilegroupFailed, &[&format!("TABLESPACE {name}")])
        }
        TablespaceAction::DropFile(file) if def.file == *file => {
            error(ErrorCode::AlterFilegroupFailed, &[&format!("TABLESPACE {name}")])
        }
        TablespaceAction::DropFile(file) => error(ErrorCode::MissingTablespaceFile, &[name, file]),
        TablespaceAction::SetActive(active) => set_active(session, &def, *active),
        TablespaceAction::Options | TablespaceAction::Create { .. } => {
            change(session, &def, options)
        }
    }
}

/// Error 3119 of a name without characters.
fn check_named(name: &str) -> Result<(), SqlError> {
    match name {
        "" => error(ErrorCode::WrongTablespaceName, &[&name]),
        _ => Ok(()),
    }
}

/// Errors 1286 and 1478: general and undo tablespaces are InnoDB's.
fn check_engine(options: &TablespaceOptions, words: &str) -> Result<(), SqlError> {
    let Some(engine) = &options.engine else { return Ok(()) };
    match engine::known(engine) {
        Some(TRANSACTIONAL) => Ok(()),
        Some(other) => error(ErrorCode::IllegalHaCreateOption, &[&other, &words]),
        None => error(ErrorCode::UnknownStorageEngine, &[engine]),
    }
}

/// Error 3119 of names that InnoDB keeps for itself.
fn check_free_name(name: &str, undo: bool) -> Result<(), SqlError> {
    const RESERVED: [&str; 4] = [SYSTEM_SPACE, TEMPORARY_SPACE, FILE_PER_TABLE, DICTIONARY_SPACE];
    let code = ErrorCode::WrongTablespaceName;
    if !undo && RESERVED.contains(&name) {
        return worded(code, format!("InnoDB: `{name}` is a reserved tablespace name."));
    }
    if name.starts_with("innodb_") {
        let text = "InnoDB: Tablespace names starting with `innodb_` are reserved.";
        return worded(code, text.to_owned());
    }
    check_slash(name)
}

fn check_slash(name: &str) -> Result<(), SqlError> {
    if !name.contains('/') {
        return Ok(());
    }
    let text = "InnoDB: A general tablespace name cannot contain '/'.";
    worded(ErrorCode::WrongTablespaceName, text.to_owned())
}

fn created(
    session: &SessionContext,
    undo: bool,
    (name, file): (&str, Option<&str>),
    options: &TablespaceOptions,
) -> Result<TablespaceDef, SqlError> {
    let catalog = session.db.catalog();
    let attribute = engine_attribute(options)?;
    check_free_name(name, undo)?;
    if catalog.tablespace(name).is_some() || name == DICTIONARY_SPACE {
        return error(ErrorCode::TablespaceExists, &[&name]);
    }
    match options.encryption.as_deref().map(str::to_ascii_uppercase).as_deref() {
        None | Some("N") => {}
        Some("Y") => return error(ErrorCode::CannotFindKeyInKeyring, &[]),
        Some(_) => return error(ErrorCode::InvalidEncryptionOption, &[]),
    }
    check_autoextend(options.autoextend)?;
    check_block_size(options.block_size.unwrap_or(0))?;
    let made = || format!("{}.ibd", inia_expr::new_uuid(inia_query::clock::clock_micros()));
    let file = file.map_or_else(made, str::to_owned);
    check_file(&file, undo)?;
    let plain = |file: &str| file.trim_start_matches("./").to_owned();
    if catalog.tablespaces().iter().any(|def| plain(&def.file) == plain(&file)) {
        return error(ErrorCode::TablespaceDupFilename, &[&name]);
    }
    Ok(TablespaceDef {
        id: catalog.new_tablespace_id(undo),
        block_size: options.block_size.unwrap_or(0),
        autoextend: options.autoextend.unwrap_or(0),
        engine_attribute: attribute,
        ..TablespaceDef::new(name, &file, undo)
    })
}

/// ENGINE_ATTRIBUTE as JSON writes it; error 3980.
fn engine_attribute(options: &TablespaceOptions) -> Result<Option<String>, SqlError> {
    let text = options.engine_attribute.as_deref().filter(|text| !text.is_empty());
    text.map(json_attribute).transpose()
}

/// An attribute as JSON writes it; error 3980.
pub(super) fn json_attribute(text: &str) -> Result<String, SqlError> {
    match inia_expr::json::parse(text) {
        Ok(json) => Ok(json.carried()),
        Err(wrong) => {
            let rest = text.get(wrong.position..).unwrap_or_default();
            error(ErrorCode::InvalidJsonAttribute, &[&wrong.text, &wrong.position, &rest])
        }
    }
}

/// Errors 4025 and 4023.
pub(super) fn check_autoextend(size: Option<u64>) -> Result<(), SqlError> {
    match size {
        None | Some(0) => Ok(()),
        Some(size) if !(AUTOEXTEND_STEP..=MAX_AUTOEXTEND).contains(&size) => {
            error(ErrorCode::AutoextendSizeOutOfRange, &[&"4M", &"4096M"])
        }
        Some(size) if size % AUTOEXTEND_STEP != 0 => {
            error(ErrorCode::InvalidAutoextendSize, &[&"4M"])
        }
        Some(_) => Ok(()),
    }
}

fn check_block_size(size: u64) -> Result<(), SqlError> {
    let code = ErrorCode::IllegalHaCreateOption;
    match size {
        0 | 1024 | 2048 | 4096 | 8192 | PAGE => Ok(()),
        32_768 | 65_536 => worded(
            code,
            format!(
                "InnoDB: Cannot create a tablespace with FILE_BLOCK_SIZE={size} because \
                 INNODB_PAGE_SIZE={PAGE}."
            ),
        ),
        _ => worded(code, format!("InnoDB does not support FILE_BLOCK_SIZE={size}")),
    }
}

/// Error 3121.
fn check_file(file: &str, undo: bool) -> Result<(), SqlError> {
    let wrong = |text: String| worded(ErrorCode::WrongFileName, text);
    let (folder, name) = match file.rsplit_once('/') {
        Some((folder, name)) => (Some(folder), name),
        None => (None, file),
    };
    let suffix = if undo { ".ibu" } else { ".ibd" };
    let Some((stem, _)) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) else {
        return wrong("The ADD DATAFILE filepath does not have a proper filename.".to_owned());
    };
    if name != format!("{stem}{suffix}") {
        return wrong(format!("The ADD DATAFILE filepath must end with '{suffix}'."));
    }
    match folder {
        None => Ok(()),
        Some(folder) if undo && !folder.is_empty() && !folder.starts_with('/') => wrong(
            "The ADD DATAFILE filepath for an UNDO TABLESPACE cannot be a relative path."
                .to_owned(),
        ),
        Some(".") => Ok(()),
        Some(_) if undo => {
            wrong("The UNDO DATAFILE location must be in a known directory.".to_owned())
        }
        Some(folder) if folder == ".." || Path::new(folder).is_dir() => {
            wrong("The DATAFILE location must be in a known directory.".to_owned())
        }
        Some(_) => wrong("The directory does not exist or is incorrect.".to_owned()),
    }
}

/// The tablespace that a statement changes; errors 3119, 3510 and 3642.
fn existing(
    session: &mut SessionContext,
    statement: &TablespaceStatement,
) -> Result<Arc<TablespaceDef>, SqlError> {
    let TablespaceStatement { undo, name, action, options } = statement;
    let words = statement.words();
    let code = ErrorCode::WrongTablespaceName;
    let found = session.db.catalog().tablespace(name);
    if *undo && (name == DICTIONARY_SPACE || found.as_ref().is_some_and(|def| !def.undo)) {
        let instead = words.replace("UNDO ", "");
        return worded(
            code,
            format!(
                "Cannot {words} `{name}` because it is a general tablespace.  Please use {instead}."
            ),
        );
    }
    let keeps = matches!(action, TablespaceAction::SetActive(_));
    if !keeps && (name == DICTIONARY_SPACE || name.starts_with("innodb_")) {
        check_free_name(name, *undo)?;
    }
    let Some(def) = found else { return error(ErrorCode::TablespaceMissing, &[name]) };
    if def.undo && !undo {
        let instead = words.replace("TABLESPACE", "UNDO TABLESPACE");
        return worded(
            code,
            format!(
                "Cannot {words} `{name}` because it is an undo tablespace.  Please use {instead}."
            ),
        );
    }
    if let Some(engine) = &options.engine {
        if !engine.eq_ignore_ascii_case(TRANSACTIONAL) {
            let args: [&dyn std::fmt::Display; 3] = [engine, &TRANSACTIONAL, name];
            return error(ErrorCode::TablespaceEngineMismatch, &args);
        }
        if !undo {
            let code = ErrorCode::WarnDeprecatedSyntaxNoReplacement;
            session.warn(code, &[&"ENGINE tablespace option"]);
        }
    }
    Ok(def)
}

/// Error 3120. Tables of other engines only name a tablespace, those of MEMORY included.
fn check_empty(session: &SessionContext, name: &str) -> Result<(), SqlError> {
    let tables = session.db.catalog().tables_in(name);
    match tables.iter().any(|table| table.def.engine == TRANSACTIONAL) {
        true => error(ErrorCode::TablespaceIsNotEmpty, &[&name]),
        false => Ok(()),
    }
}

/// Writes and shows a change of tablespaces.
fn put(session: &mut SessionContext, gone: Option<&str>, def: Option<TablespaceDef>) -> Done {
    in_transaction(session, |session, _| {
        let txn = session.txn.get_mut();
        session.db.catalog().write_tablespace(txn, gone, def.as_ref()).sql()
    })?;
    session.db.catalog().publish_tablespace(gone, def);
    Ok(StatementOutcome::default())
}

/// RENAME TO: the tables follow.
fn rename(session: &mut SessionContext, def: &TablespaceDef, to: &str) -> Done {
    check_free_name(to, false)?;
    let db = session.db.clone();
    let catalog = db.catalog();
    if catalog.tablespace(to).is_some() {
        return error(ErrorCode::TablespaceExists, &[&to]);
    }
    let name = |table: &Arc<Table>| (table.def.schema.clone(), table.def.name.clone());
    let names: Vec<FullName> = catalog.tables_in(&def.name).iter().map(name).collect();
    let _locks = lock_beside(session, &names, &[])?;
    let new = TablespaceDef { name: to.to_owned(), ..def.clone() };
    in_transaction(session, |session, changes| {
        for table in catalog.tables_in(&def.name) {
            let mut moved = TableDef::clone(&table.def);
            let named = moved.options.iter_mut().find(|(name, _)| name == TABLESPACE);
            if let Some((_, value)) = named {
                to.clone_into(value);
            }
            changes.push(Change::PutTable(moved));
        }
        let txn = session.txn.get_mut();
        catalog.write_tablespace(txn, Some(&def.name), Some(&new)).sql()
    })?;
    catalog.publish_tablespace(Some(&def.name), Some(new));
    Ok(StatementOutcome::default())
}

/// Error 3655: two undo tablespaces stay active.
fn set_active(session: &mut SessionContext, def: &TablespaceDef, active: bool) -> Done {
    let all = session.db.catalog().tablespaces();
    let others = all.iter().filter(|other| other.undo && other.active && other.id != def.id);
    if !active && others.count() < MIN_ACTIVE {
        return worded(
            ErrorCode::DisallowedOperation,
            format!(
                "Cannot set {} inactive since there would be less than {MIN_ACTIVE} undo \
                 tablespaces left active.",
                def.name
            ),
        );
    }
    put(session, None, Some(TablespaceDef { active, ..def.clone() }))
}

/// ALTER TABLESPACE with options.
fn change(session: &mut SessionContext, def: &TablespaceDef, options: &TablespaceOptions) -> Done {
    if options.encryption.is_some() {
        return error(ErrorCode::CannotFindKeyInKeyring, &[]);
    }
    check_autoextend(options.autoextend)?;
    let mut new = def.clone();
    if options.engine_attribute.is_some() {
        new.engine_attribute = engine_attribute(options)?;
    }
    new.autoextend = options.autoextend.unwrap_or(def.autoextend);
    put(session, None, Some(new))
}
