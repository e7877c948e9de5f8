//! Which tables may be in a tablespace.

use super::{PAGE, check_free_name, error, worded};
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::TableOption;
use inia_query::catalog::{
    DICTIONARY_SPACE, FILE_PER_TABLE, SYSTEM_SPACE, TABLESPACE, TEMPORARY_SPACE, TRANSACTIONAL,
    TableDef, tablespace_of,
};
use inia_query::context::SessionContext;

/// Error 1478 of partitions in a tablespace with other tables.
const DIVIDED: &str = "InnoDB : A partitioned table is not allowed in a shared tablespace.";

/// Errors 3825 and 1478 of options that no table in a shared tablespace has.
pub(in crate::ddl) fn check_options(options: &[TableOption]) -> Result<(), SqlError> {
    let value = |wanted: &str| {
        options.iter().rev().find_map(|option| match option {
            TableOption::Other { name, value } if name == wanted => Some(value.as_str()),
            _ => None,
        })
    };
    let of_innodb = |option: &TableOption| match option {
        TableOption::Engine(name) => name.eq_ignore_ascii_case(TRANSACTIONAL),
        _ => true,
    };
    if value(TABLESPACE).is_none_or(|name| name == FILE_PER_TABLE) || !options.iter().all(of_innodb)
    {
        return Ok(());
    }
    if value("ENCRYPTION").is_some_and(|word| word.eq_ignore_ascii_case("Y")) {
        return error(ErrorCode::TablespaceEncryptionMismatch, &[&"encrypted", &"unencrypted"]);
    }
    if value("DATA DIRECTORY").is_some() {
        let text = "InnoDB: DATA DIRECTORY cannot be used with a TABLESPACE assignment.";
        return worded(ErrorCode::IllegalHaCreateOption, text.to_owned());
    }
    Ok(())
}

/// Whether a table may be in the tablespace that it names; keeps the tablespace from being dropped.
pub(in crate::ddl) fn check_table(
    session: &mut SessionContext,
    def: &TableDef,
) -> Result<(), SqlError> {
    if def.engine != TRANSACTIONAL {
        return Ok(());
    }
    let divided = def.partitioning.is_some();
    let Some(name) = tablespace_of(def) else { return Ok(()) };
    let option = |text: String| worded(ErrorCode::IllegalHaCreateOption, text);
    if def.temporary {
        return check_temporary(session, def, name);
    }
    if name == FILE_PER_TABLE {
        return Ok(());
    }
    let locked = session.db.catalog().mdl().name("", name);
    session.mdl.lock_shared(&locked, session.mdl_limit())?;
    let (mut block, general) = (PAGE, name != SYSTEM_SPACE);
    if general {
        block = general_block(session, &def.name, name)?;
    }
    if divided {
        return worded(ErrorCode::IllegalHaCreateOption, DIVIDED.to_owned());
    }
    let physical = physical_page(def);
    if physical != PAGE && block == PAGE {
        return option(format!("InnoDB: Tablespace `{name}` cannot contain a COMPRESSED table"));
    }
    if physical != block {
        return option(format!(
            "InnoDB: Tablespace `{name}` uses block size {block} and cannot contain a table with \
             physical page size {physical}"
        ));
    }
    Ok(())
}

/// Errors of the tablespace that a partition names: each has a file of its own.
pub(in crate::ddl) fn check_partition(
    session: &SessionContext,
    table: &str,
    name: &str,
) -> Result<(), SqlError> {
    match name {
        FILE_PER_TABLE => return Ok(()),
        SYSTEM_SPACE => {}
        _ => drop(general_block(session, table, name)?),
    }
    worded(ErrorCode::IllegalHaCreateOption, DIVIDED.to_owned())
}

/// The size of blocks of a general tablespace; errors 3119, 3510, 3723 and 1478.
fn general_block(session: &SessionContext, table: &str, name: &str) -> Result<u64, SqlError> {
    if name == DICTIONARY_SPACE {
        return error(ErrorCode::ReservedTablespaceName, &[&table, &name]);
    }
    if name == TEMPORARY_SPACE {
        let text = format!("InnoDB: Tablespace `{name}` can only contain TEMPORARY tables.");
        return worded(ErrorCode::IllegalHaCreateOption, text);
    }
    check_free_name(name, true)?;
    let Some(space) = session.db.catalog().tablespace(name) else {
        return error(ErrorCode::TablespaceMissing, &[&name]);
    };
    if space.undo {
        let text = "InnoDB: An undo tablespace cannot contain tables.";
        return worded(ErrorCode::WrongTablespaceName, text.to_owned());
    }
    Ok(if space.block_size == 0 { PAGE } else { space.block_size })
}

/// The bytes of a page in the file that InnoDB would write.
fn physical_page(def: &TableDef) -> u64 {
    if def.engine_row_format() != "COMPRESSED" {
        return PAGE;
    }
    let kilobytes = def.option("KEY_BLOCK_SIZE").and_then(|size| size.parse::<u64>().ok());
    kilobytes.map_or(PAGE / 2, |kilobytes| kilobytes << 10)
}

/// Temporary tables are in tablespaces of their sessions only.
fn check_temporary(
    session: &mut SessionContext,
    def: &TableDef,
    name: &str,
) -> Result<(), SqlError> {
    let code = ErrorCode::IllegalHaCreateOption;
    let end = "This option is deprecated and will be removed in a future release";
    let strict = session.flag("innodb_strict_mode");
    match name {
        FILE_PER_TABLE if strict => worded(
            code,
            format!(
                "InnoDB: TABLESPACE={name} option is disallowed for temporary tables with \
                 INNODB_STRICT_MODE=ON. {end}"
            ),
        ),
        TEMPORARY_SPACE | FILE_PER_TABLE => {
            let message = format!(
                "InnoDB: TABLESPACE={name} option is ignored. All temporary tables are created in \
                 a session temporary tablespace. {end}."
            );
            session.push_warning(&SqlError::with_message(code, message));
            Ok(())
        }
        SYSTEM_SPACE => {
            worded(code, format!("InnoDB: Tablespace `{name}` cannot contain TEMPORARY tables."))
        }
        _ => match general_block(session, &def.name, name) {
            Ok(_) => worded(
                code,
                format!("InnoDB: Tablespace `{name}` cannot contain TEMPORARY tables."),
            ),
            Err(wrong) if wrong.code == ErrorCode::TablespaceMissing => {
                error(ErrorCode::TablespaceNotFound, &[&name])
            }
            Err(wrong) => Err(wrong),
        },
    }
}
