//! Statements about the server as a whole: foreign servers, replication, libraries, key caches.
//!
//! A server of Inia is no replica, has no binary log and loads no libraries: these statements
//! answer as those of a MySQL server that is none, has none and finds none.

use super::unsupported::unsupported;
use super::{admin, resource_group, show, spatial_reference};
use crate::ddl::{self, engine};
use inia_base::column::RowSink;
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{
    self, ForeignServerOptions, InstanceAction, KeyCacheStatement, ResetTarget, ServerStatement,
    Statement,
};
use inia_query::catalog::{ForeignServerDef, MAX_NAME, TRANSACTIONAL, Table, same_name};
use inia_query::context::{SessionContext, StatementOutcome};
use inia_query::information_schema::is_plugin;
use std::sync::Arc;

/// Characters of a foreign server's host.
const MAX_HOST: usize = 255;

type Done = Result<StatementOutcome, SqlError>;

fn error<T>(code: ErrorCode, args: &[&dyn std::fmt::Display]) -> Result<T, SqlError> {
    Err(SqlError::new(code, args))
}

/// Carries out a [`ServerStatement`].
pub(super) fn execute(
    session: &mut SessionContext,
    statement: &Statement,
    sink: &mut dyn RowSink,
) -> Done {
    let Statement::Server(server) = statement else { return Err(unsupported(statement)) };
    match &**server {
        ServerStatement::CreateServer { name, wrapper, options } => {
            let mut def = ForeignServerDef {
                name: cut(name, MAX_NAME),
                wrapper: cut(wrapper, MAX_NAME),
                ..ForeignServerDef::default()
            };
            take_options(&mut def, options);
            define(session, name, |session| session.db.catalog().create_foreign_server(def))
                .and_then(|free| match free {
                    true => Ok(()),
                    false => error(ErrorCode::ForeignServerExists, &[name]),
                })?;
            Ok(StatementOutcome { affected_rows: 1, ..StatementOutcome::default() })
        }
        ServerStatement::AlterServer { name, options } => {
            let found = define(session, name, |session| {
                let change = |def: &mut ForeignServerDef| take_options(def, options);
                session.db.catalog().alter_foreign_server(name, change)
            });
            found_server(name, found?)
        }
        ServerStatement::DropServer { if_exists, name } => {
            let found =
                define(session, name, |session| session.db.catalog().drop_foreign_server(name));
            found_server(name, found? || *if_exists)
        }
        ServerStatement::CreateSpatialReference { or_replace, if_not_exists, system } => {
            spatial_reference::create(session, *or_replace, *if_not_exists, system)
        }
        ServerStatement::DropSpatialReference { if_exists, srid } => {
            spatial_reference::drop(session, *if_exists, *srid)
        }
        ServerStatement::Tablespace(statement) => ddl::change_tablespace(session, statement),
        ServerStatement::AlterInstance(action) => match action {
            InstanceAction::RotateInnodb => error(ErrorCode::CannotFindKeyInKeyring, &[]),
            InstanceAction::RotateBinlog => error(ErrorCode::BinlogMasterKeyRotation, &[]),
            InstanceAction::ReloadKeyring => error(ErrorCode::KeyringReloadFailed, &[]),
            InstanceAction::RedoLog => session.commit().map(|()| StatementOutcome::default()),
        },
        ServerStatement::ResourceGroup(statement) => resource_group::execute(session, statement),
        ServerStatement::LogfileGroup { engine } => logfile_group(engine.as_deref()),
        ServerStatement::ReplicationSource(source) => change_source(source),
        ServerStatement::ReplicationFilter { channel } => {
            check_group_channel("CHANGE REPLICATION FILTER", channel.as_deref())?;
            error(ErrorCode::SlaveConfiguration, &[])
        }
        ServerStatement::StartReplica { channel } => {
            check_channel(channel.as_deref())?;
            error(ErrorCode::BadSlave, &[])
        }
        ServerStatement::StopReplica { channel } => {
            check_channel(channel.as_deref())?;
            session.commit()?;
            session.note(ErrorCode::SlaveChannelWasNotRunning, &[&""]);
            Ok(StatementOutcome::default())
        }
        ServerStatement::GroupReplication => error(ErrorCode::GroupReplicationConfiguration, &[]),
        ServerStatement::Clone { .. } => error(ErrorCode::PluginIsNotLoaded, &[&"clone"]),
        ServerStatement::ImportTable(_) => import_table(session),
        ServerStatement::KeyCache(statement) => key_cache(session, statement, sink),
    }
}

/// At most so many characters of a text.
fn cut(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

fn take_options(def: &mut ForeignServerDef, options: &ForeignServerOptions) {
    let take = |place: &mut String, given: &Option<String>, chars| {
        if let Some(given) = given {
            *place = cut(given, chars);
        }
    };
    take(&mut def.host, &options.host, MAX_HOST);
    take(&mut def.database, &options.database, MAX_NAME);
    take(&mut def.user, &options.user, MAX_NAME);
    take(&mut def.password, &options.password, MAX_NAME);
    take(&mut def.socket, &options.socket, MAX_NAME);
    take(&mut def.owner, &options.owner, MAX_NAME);
    if let Some(port) = options.port {
        def.port = port.min(i32::MAX as u64);
    }
}

/// Commits what is open and changes the table of foreign servers.
fn define<T>(
    session: &mut SessionContext,
    name: &str,
    change: impl FnOnce(&SessionContext) -> Result<T, SqlError>,
) -> Result<T, SqlError> {
    session.commit()?;
    session.check_writable()?;
    session.begin_change()?;
    if name.is_empty() {
        return error(ErrorCode::WrongValue, &[&"server name", &name]);
    }
    change(session)
}

fn found_server(name: &str, found: bool) -> Done {
    match found {
        true => Ok(StatementOutcome { affected_rows: 1, ..StatementOutcome::default() }),
        false => error(ErrorCode::ForeignServerDoesntExist, &[&name]),
    }
}

/// CREATE, ALTER and DROP LOGFILE GROUP: of NDB only.
fn logfile_group(engine: Option<&str>) -> Done {
    let Some(written) = engine else {
        return error(ErrorCode::FeatureUnsupported, &[&"LOGFILE GROUP", &"by InnoDB"]);
    };
    match engine::known(written) {
        None => error(ErrorCode::UnknownStorageEngine, &[&written]),
        Some(TRANSACTIONAL) => logfile_group(None),
        Some(other) => {
            let words = "CREATE/ALTER/DROP LOGFILE GROUP";
            error(ErrorCode::IllegalHaCreateOption, &[&other, &words])
        }
    }
}

/// CHANGE REPLICATION SOURCE: nothing is kept of a source, as on a server without a number.
fn change_source(source: &ast::ReplicationSource) -> Done {
    let words = "CHANGE MASTER with the given parameters";
    check_group_channel(words, source.channel.as_deref())?;
    if source.auto_position {
        return error(ErrorCode::AutoPositionRequiresGtidModeNotOff, &[]);
    }
    if source.empty_host {
        return error(ErrorCode::WrongArguments, &[&"MASTER_HOST"]);
    }
    error(ErrorCode::SlaveConfiguration, &[])
}

/// Error 3139: the channels of group replication are its own.
fn check_group_channel(words: &str, channel: Option<&str>) -> Result<(), SqlError> {
    match channel {
        Some(name @ ("group_replication_applier" | "group_replication_recovery")) => {
            error(ErrorCode::SlaveChannelOperationNotAllowed, &[&words, &name])
        }
        _ => Ok(()),
    }
}

/// Error 3074: there is no channel but the default one.
pub(super) fn check_channel(channel: Option<&str>) -> Result<(), SqlError> {
    match channel {
        Some(channel) if !channel.is_empty() => {
            error(ErrorCode::SlaveChannelDoesNotExist, &[&channel])
        }
        _ => Ok(()),
    }
}

/// RESET MASTER and REPLICA: there is nothing to forget.
pub(super) fn reset(session: &mut SessionContext, targets: &[ResetTarget]) -> Done {
    for target in targets {
        if let ResetTarget::Replica { channel } = target {
            check_channel(channel.as_deref())?;
        }
    }
    session.commit().map(|()| StatementOutcome::default())
}

/// IMPORT TABLE: files of tables that MySQL has written cannot be read.
fn import_table(session: &SessionContext) -> Done {
    session.database()?;
    let directory = session.var("secure_file_priv").unwrap_or_default();
    let option = format!("--secure-file-priv='{directory}'");
    match directory.as_str() {
        "" | "NULL" => error(ErrorCode::OptionPreventsStatement, &[&"--secure-file-priv='NULL'"]),
        _ => error(ErrorCode::OptionPreventsStatement, &[&option]),
    }
}

/// BINLOG: an event can only be applied behind the description of its format, and that is never
/// taken.
pub(super) fn binlog(text: &str) -> Done {
    /// The bytes of an event's header, and where its type stands in them.
    const HEADER: usize = 19;
    const TYPE: usize = 4;
    const DESCRIPTION: u8 = 15;
    let Some(bytes) = inia_expr::from_base64(text.as_bytes()) else {
        return error(ErrorCode::Base64DecodeError, &[]);
    };
    match bytes.get(TYPE) {
        _ if bytes.len() < HEADER => error(ErrorCode::SyntaxError, &[]),
        Some(&DESCRIPTION) => error(ErrorCode::NotSupportedYet, &[&"BINLOG"]),
        _ => error(ErrorCode::NoFormatDescriptionEvent, &[&"Unknown"]),
    }
}

/// INSTALL and UNINSTALL of plugins and components: no library can be loaded.
pub(super) fn library(session: &mut SessionContext, statement: &Statement) -> Done {
    match statement {
        Statement::InstallPlugin { name, soname } => {
            if soname.contains('/') {
                return error(ErrorCode::NoPathsForLibrary, &[]);
            }
            if is_plugin(name) {
                return error(ErrorCode::UdfExists, &[name]);
            }
            Err(no_library(session, soname))
        }
        Statement::UninstallPlugin(name) if is_plugin(name) => {
            error(ErrorCode::PluginDeleteBuiltin, &[])
        }
        Statement::UninstallPlugin(name) => error(ErrorCode::SpDoesNotExist, &[&"PLUGIN", name]),
        Statement::InstallComponent(urns) => {
            let urn = urns.first().map_or("", String::as_str);
            let Some((_, file)) = urn.split_once("://") else {
                return error(ErrorCode::ComponentNoScheme, &[&urn]);
            };
            Err(no_library(session, &format!("{file}.so")))
        }
        Statement::UninstallComponent(urns) => {
            let urn = urns.first().map_or("", String::as_str);
            session.warn(ErrorCode::ComponentNotLoadedByLoader, &[&urn]);
            error(ErrorCode::ComponentNotLoaded, &[&urn])
        }
        _ => Err(unsupported(statement)),
    }
}

/// Error 1126.
fn no_library(session: &SessionContext, file: &str) -> SqlError {
    let path = format!("{}{file}", session.var("plugin_dir").unwrap_or_default());
    let why = format!("{path}: cannot open shared object file: No such file or directory");
    SqlError::new(ErrorCode::CantOpenLibrary, &[&path, &0, &why])
}

/// CACHE INDEX and LOAD INDEX INTO CACHE: what is read stays in the buffer pool, whatever key cache
/// an index is assigned to. The rows report what MySQL could not have done.
fn key_cache(
    session: &mut SessionContext,
    statement: &KeyCacheStatement,
    sink: &mut dyn RowSink,
) -> Done {
    let tables: Vec<ast::ObjectName> =
        statement.tables.iter().map(|keys| keys.table.clone()).collect();
    admin::check_unique(session, &tables)?;
    if let Some(cache) = &statement.cache
        && !cache.eq_ignore_ascii_case("default")
        && !session.db.globals.key_caches.contains(cache)
    {
        return error(ErrorCode::UnknownKeyCache, &[cache]);
    }
    session.commit()?;
    let op = if statement.cache.is_some() { "assign_to_keycache" } else { "preload_keys" };
    let mut rows = Vec::new();
    for keys in &statement.tables {
        let schema = match &keys.table.db {
            Some(db) => db.clone(),
            None => session.database()?.to_owned(),
        };
        let full = format!("{schema}.{}", keys.table.name);
        for (kind, message) in cached(session, &schema, keys, op) {
            let cells = [full.as_str(), op, kind, message.as_str()];
            rows.push(cells.map(|cell| Some(cell.to_owned())).to_vec());
        }
    }
    session.mdl.release_all();
    show::send_columns(sink, &admin::messages_columns(), &rows)
}

/// The messages about the keys of one table, as kinds and texts.
fn cached(
    session: &mut SessionContext,
    schema: &str,
    keys: &ast::CachedKeys,
    op: &str,
) -> Vec<(&'static str, String)> {
    let name = &keys.table.name;
    let found = match session.is_view(schema, name) {
        true => error(ErrorCode::WrongObject, &[&schema, name, &"BASE TABLE"]),
        false => session.open_table(Some(schema), name),
    };
    let checked = found.and_then(|table| check_keys(&table, keys).map(|()| table));
    match checked {
        Ok(table) if table.def.engine == "MyISAM" => vec![("status", String::from("OK"))],
        Ok(_) => vec![("note", format!("The storage engine for the table doesn't support {op}"))],
        Err(error) => {
            let end = match error.code {
                ErrorCode::UnknownDatabase => ("error", String::from("Corrupt")),
                _ => ("status", String::from("Operation failed")),
            };
            vec![("Error", error.message), end]
        }
    }
}

/// Errors 1176 and 1505.
fn check_keys(table: &Arc<Table>, keys: &ast::CachedKeys) -> Result<(), SqlError> {
    if keys.partitions.is_some() && table.def.partitioning.is_none() {
        return error(ErrorCode::PartitionMgmtOnNonpartitioned, &[]);
    }
    // An engine without key caches does not look at the names.
    if table.def.engine != "MyISAM" {
        return Ok(());
    }
    let is_there = |name: &&String| table.def.indexes.iter().any(|i| same_name(&i.name, name));
    match keys.keys.iter().find(|name| !is_there(name)) {
        Some(missing) => error(ErrorCode::KeyDoesNotExist, &[missing, &table.def.name]),
        None => Ok(()),
    }
}
