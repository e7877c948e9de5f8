//! The SHOW statements that sessions cannot do without.

use crate::ddl::quoting::Quoting;
use crate::ddl::{show_create_view, view_columns};
use inia_base::collation::Collation;
use inia_base::column::{ResultColumn, RowSink};
use inia_base::datatype::{DataType, IntWidth};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::sql_mode::SqlMode;
use inia_expr::{ExprType, Level};
use inia_parser::ast::{self, ShowKind};
use inia_query::account::{Privileges, show as account};
use inia_query::catalog::sequence::show_create_sequence;
use inia_query::catalog::{
    CatalogVersion, TableDef, ViewDef, quoted, show_create_schema, show_create_table,
};
use inia_query::context::SessionContext;
use inia_query::context::StatementOutcome;
use inia_query::context::full_name;
use inia_query::dml::auto_increment;
use inia_query::information_schema;
use std::sync::Arc;

/// Sends rows of texts.
pub(super) fn send(
    sink: &mut dyn RowSink,
    names: &[&str],
    rows: &[Vec<String>],
) -> Result<StatementOutcome, SqlError> {
    let column = |(at, name): (usize, &&str)| {
        let longest = rows.iter().map(|row| row[at].len()).max().unwrap_or(0);
        let chars = crate::show::of_text(name, longest);
        ExprType::text(chars, Collation::DEFAULT, false).result_column(name)
    };
    let columns: Vec<ResultColumn> = names.iter().enumerate().map(column).collect();
    sink.columns(&columns)?;
    for row in rows {
        sink.begin_row();
        row.iter().for_each(|cell| sink.bytes(cell.as_bytes()));
        sink.end_row()?;
    }
    Ok(StatementOutcome { rows: Some(rows.len() as u64), ..StatementOutcome::default() })
}

/// Sends rows of texts and NULLs under columns of any type.
pub(super) fn send_columns(
    sink: &mut dyn RowSink,
    columns: &[ResultColumn],
    rows: &[Vec<Option<String>>],
) -> Result<StatementOutcome, SqlError> {
    sink.columns(columns)?;
    for row in rows {
        sink.begin_row();
        for (cell, column) in row.iter().zip(columns) {
            let number = matches!(column.data_type, DataType::Int { .. });
            match cell {
                Some(text) if number => sink.uint(text.parse().unwrap_or_default()),
                Some(text) => sink.bytes(text.as_bytes()),
                None => sink.null(),
            }
        }
        sink.end_row()?;
    }
    Ok(StatementOutcome { rows: Some(rows.len() as u64), ..StatementOutcome::default() })
}

/// SHOW.
pub(super) fn show(
    session: &mut SessionContext,
    show: &ast::Show,
    sink: &mut dyn RowSink,
) -> Result<StatementOutcome, SqlError> {
    // Arms that show an object check its privileges by themselves; `computed` does for the others.
    match &show.kind {
        ShowKind::Warnings { count, limit } => {
            conditions(session, sink, false, *count, limit.as_ref())
        }
        ShowKind::Errors { count, limit } => {
            conditions(session, sink, true, *count, limit.as_ref())
        }
        ShowKind::CreateTable(name) => create_table(session, name, sink),
        ShowKind::CreateDatabase { name, if_not_exists } => {
            create_database(session, name, *if_not_exists, sink)
        }
        ShowKind::Grants { account, using } => {
            let listing =
                session.as_actor(|actor| account::show_grants(actor, account.as_ref(), using))?;
            send_listing(session, sink, listing)
        }
        ShowKind::CreateUser(name) => {
            let listing = session.as_actor(|actor| account::show_create_user(actor, name))?;
            send_listing(session, sink, listing)
        }
        ShowKind::CreateView(name) => {
            let name = full_name(session, name)?;
            if !session.access().on_table(&name.0, &name.1).has(Privileges::SELECT) {
                return denied(session, "SELECT", &name.1);
            }
            if let Some(view) = session.db.catalog().view(&name.0, &name.1) {
                return create_view(session, (&view.def, true), sink);
            }
            session.open_table(Some(&name.0), &name.1)?;
            Err(SqlError::new(ErrorCode::WrongObject, &[&name.0, &name.1, &"VIEW"]))
        }
        ShowKind::CreateSequence(name) => {
            let name = full_name(session, name)?;
            if !session.access().on_table(&name.0, &name.1).has(Privileges::SELECT) {
                return denied(session, "SELECT", &name.1);
            }
            let sequence = session.host.sequence(&name.0, &name.1)?;
            let row = vec![sequence.def.name.clone(), show_create_sequence(&sequence.def)];
            send(sink, &["Table", "Create Table"], &[row])
        }
        ShowKind::CreateRoutine(kind, name) => {
            super::program::show::show_create(session, *kind, name, sink)
        }
        // Only debug builds of MySQL show instructions.
        ShowKind::RoutineCode(..) => {
            let what = "SHOW PROCEDURE|FUNCTION CODE";
            Err(SqlError::new(ErrorCode::FeatureDisabled, &[&what, &"--with-debug"]))
        }
        _ => computed(session, show, sink),
    }
}

/// SHOW CREATE TABLE.
fn create_table(
    session: &mut SessionContext,
    name: &ast::ObjectName,
    sink: &mut dyn RowSink,
) -> Result<StatementOutcome, SqlError> {
    let name = full_name(session, name)?;
    if session.temporary.get(&name.0, &name.1).is_none() {
        let computed = inia_query::computed::schema(&name.0);
        let open = computed == Some("information_schema");
        let some = Privileges::all_on_table() | Privileges::GRANT;
        if !open && !session.access().on_table(&name.0, &name.1).has_any(some) {
            return denied(session, "SHOW", &name.1);
        }
        inia_query::computed::check_dictionary(&name.0, &name.1)?;
        if let Some(schema) = computed
            && inia_query::computed::is_computed(schema, &name.1)
        {
            let missing = || {
                let name = if open { name.1.to_uppercase() } else { name.1.clone() };
                SqlError::new(ErrorCode::NoSuchTable, &[&schema, &name])
            };
            let table = information_schema::find(schema, &name.1).ok_or_else(missing)?;
            let def = table.definition();
            let text = show_create_table(&def, 0);
            return send(sink, &["Table", "Create Table"], &[vec![def.name.clone(), text]]);
        }
        if let Some(view) = session.db.catalog().view(&name.0, &name.1) {
            return create_view(session, (&view.def, false), sink);
        }
    }
    let idle = !session.state.open;
    let table = session.open_definition(&name.0, &name.1);
    if idle {
        session.mdl.release_all();
    }
    let table = table?;
    table.check_children()?;
    let next = auto_increment::current(&table)?;
    let mut text = match session.flag("show_create_table_verbosity") {
        true => show_create_table(&with_row_format(&table.def), next),
        false => show_create_table(&table.def, next),
    };
    if session.env.sql_mode.has(SqlMode::ANSI) {
        text = standard(&text);
    }
    let text = Quoting::of(session).definition(text);
    send(sink, &["Table", "Create Table"], &[vec![name.1, text]])
}

/// The text of SHOW CREATE TABLE without what only MySQL knows: options of the table, and kinds and
/// comments of indexes.
fn standard(text: &str) -> String {
    let mut lines = Vec::new();
    let mut listed = true;
    for line in text.split('\n') {
        if !listed {
            // Engines of partitions.
            lines.push(line.replace(" ENGINE = InnoDB", ""));
        } else if line.starts_with(')') {
            listed = false;
            lines.push(String::from(")"));
        } else {
            let is_key = line.trim_start().split(' ').take(2).any(|word| word == "KEY");
            let end = [") USING ", ") COMMENT '"].iter().filter_map(|end| line.find(end)).min();
            match end.filter(|_| is_key) {
                Some(end) if line.ends_with(',') => lines.push(format!("{}),", &line[..end])),
                Some(end) => lines.push(format!("{})", &line[..end])),
                None => lines.push(line.to_owned()),
            }
        }
    }
    lines.join("\n")
}

/// The definition with the row format that it has, where none was written.
fn with_row_format(def: &TableDef) -> TableDef {
    const FORMAT: &str = "ROW_FORMAT";
    let mut def = def.clone();
    if def.option(FORMAT).is_none() {
        let format = information_schema::row_format(&def).to_ascii_uppercase();
        let later = |(name, _): &(String, String)| {
            ["KEY_BLOCK_SIZE", "COMPRESSION"].contains(&name.as_str())
        };
        let at = def.options.iter().position(later).unwrap_or(def.options.len());
        def.options.insert(at, (FORMAT.to_owned(), format));
    }
    def
}

/// SHOW CREATE DATABASE.
fn create_database(
    session: &SessionContext,
    name: &str,
    if_not_exists: bool,
    sink: &mut dyn RowSink,
) -> Result<StatementOutcome, SqlError> {
    let access = session.access();
    if !access.sees_database(name) {
        let (user, host) = (&access.account.user, &access.client);
        return Err(SqlError::new(ErrorCode::DbAccessDenied, &[user, host, &name]));
    }
    let unknown = || SqlError::new(ErrorCode::UnknownDatabase, &[&name]);
    let schema = session.db.catalog().schema(name).ok_or_else(unknown)?;
    let text = show_create_schema(&schema.def, if_not_exists);
    let text = Quoting::of(session).definition(text);
    send(sink, &["Database", "Create Database"], &[vec![name.to_owned(), text]])
}

/// SHOW CREATE VIEW, which warns where the view cannot be used, and SHOW CREATE TABLE of a view.
fn create_view(
    session: &mut SessionContext,
    (def, warns): (&ViewDef, bool),
    sink: &mut dyn RowSink,
) -> Result<StatementOutcome, SqlError> {
    if !session.access().on_table(&def.schema, &def.name).has(Privileges::SHOW_VIEW) {
        return denied(session, "SHOW VIEW", &def.name);
    }
    match unusable(session, def) {
        Some(error) if error.code == ErrorCode::NoSuchUser => session.note_error(&error),
        Some(error) if warns => session.push_warning(&error),
        Some(_) | None => {}
    }
    let mode = session.env.sql_mode;
    let text = show_create_view(def, session.env.database.as_deref(), mode.has(SqlMode::ANSI));
    let text = Quoting::of(session).all(text);
    let row =
        vec![def.name.clone(), text, def.charset_client.clone(), def.collation_connection.clone()];
    let names = ["View", "Create View", "character_set_client", "collation_connection"];
    send(sink, &names, &[row])
}

/// Error 1142.
fn denied<T>(session: &SessionContext, command: &str, table: &str) -> Result<T, SqlError> {
    Err(session.access().no_table(command, table))
}

/// The session's catalog, in which a view that is named has the columns that its tables give it
/// now. Error 1356 where the view cannot be used.
fn catalog_with_view(
    session: &mut SessionContext,
    name: &ast::ObjectName,
) -> Result<Arc<CatalogVersion>, SqlError> {
    let name = full_name(session, name)?;
    let catalog = session.catalog_view();
    if session.temporary.get(&name.0, &name.1).is_some() {
        return Ok(catalog);
    }
    let Some(view) = session.db.catalog().view(&name.0, &name.1) else { return Ok(catalog) };
    if let Some(error) = unusable(session, &view.def)
        && error.code == ErrorCode::ViewInvalid
    {
        return Err(error);
    }
    let Ok(columns) = in_statement(session, |session| view_columns(session, &view.def)) else {
        return Ok(catalog);
    };
    Ok(Arc::new(catalog.with_view_columns(&view, columns)))
}

/// Runs what plans a query and drops the plan, with the metadata locks that it takes.
fn in_statement<T>(
    session: &mut SessionContext,
    plan: impl FnOnce(&mut SessionContext) -> Result<T, SqlError>,
) -> Result<T, SqlError> {
    session.enter();
    let start = session.txn.get_mut().savepoint();
    let planned = plan(session);
    session.leave(start, planned.as_ref().err())?;
    planned
}

/// Why a view cannot be used.
fn unusable(session: &mut SessionContext, def: &ViewDef) -> Option<SqlError> {
    let text = format!("SELECT 1 FROM {}.{}", quoted(&def.schema), quoted(&def.name));
    let query = inia_query::catalog::view::parse(&text)?;
    in_statement(session, |session| super::plan::plan_to_explain(session, &query)).err()
}

fn send_listing(
    session: &SessionContext,
    sink: &mut dyn RowSink,
    listing: account::Listing,
) -> Result<StatementOutcome, SqlError> {
    let (title, lines) = listing;
    let quoting = Quoting::of(session);
    let rows: Vec<Vec<String>> = lines.into_iter().map(|line| vec![quoting.all(line)]).collect();
    send(sink, &[&title], &rows)
}

/// SHOW statements that are queries over computed tables, or fixed.
fn computed(
    session: &mut SessionContext,
    show: &ast::Show,
    sink: &mut dyn RowSink,
) -> Result<StatementOutcome, SqlError> {
    super::admin::visible(session, &show.kind)?;
    match &show.kind {
        ShowKind::Profiles => return super::profile::show_all(session, sink),
        ShowKind::Profile(show) => return super::profile::show_one(session, show, sink),
        _ => {}
    }
    if let Some(fixed) = crate::show::fixed(&show.kind, &session.db) {
        if let Some((old, new)) = crate::show::deprecated(&show.kind) {
            session.warn(ErrorCode::WarnDeprecatedSyntax, &[&old, &new]);
        }
        let crate::show::Fixed { columns, rows } = fixed?;
        let column = |name: &&str| crate::show::column(&show.kind, name);
        let columns: Vec<ResultColumn> = columns.iter().map(column).collect();
        let cells = |row: Vec<String>| row.into_iter().map(Some).collect();
        let rows: Vec<Vec<Option<String>>> = rows.into_iter().map(cells).collect();
        return send_columns(sink, &columns, &rows);
    }
    const DICTIONARY: &str = "information_schema";
    let schema = |written: Option<&str>| match written {
        Some(name) if name.eq_ignore_ascii_case(DICTIONARY) => Ok(DICTIONARY.to_owned()),
        Some(name) => Ok(name.to_owned()),
        None => session.database().map(str::to_owned),
    };
    let Some(rewritten) = crate::show::rewrite(show, &schema)? else {
        return Err(SqlError::new(ErrorCode::NotSupportedYet, &[&"this SHOW statement"]));
    };
    match &show.kind {
        ShowKind::Columns { table, .. } => {
            let catalog = catalog_with_view(session, table)?;
            session.host.shown.replace(Some(catalog));
        }
        ShowKind::Index { .. } => {
            session.host.shown.replace(Some(session.catalog_view()));
        }
        _ => {}
    }
    session.host.focus.replace(rewritten.focus);
    let statement = ast::Statement::Select(Box::new(rewritten.query));
    let outcome = super::plan::execute(session, &statement, "", &[], sink);
    session.host.focus.take();
    session.host.shown.take();
    outcome
}

fn conditions(
    session: &mut SessionContext,
    sink: &mut dyn RowSink,
    errors: bool,
    count: bool,
    limit: Option<&ast::Limit>,
) -> Result<StatementOutcome, SqlError> {
    let wanted = |level: Level| !errors || level == Level::Error;
    let list = session.diagnostics.list.iter().filter(|warning| wanted(warning.level));
    if count {
        let name = if errors { "@@session.error_count" } else { "@@session.warning_count" };
        // Warnings are counted beyond `max_error_count`, which limits only their list.
        let number = if errors { list.count() as u64 } else { session.diagnostics.count };
        sink.columns(&[ExprType::uint(21, true).result_column(name)])?;
        sink.begin_row();
        sink.uint(number);
        sink.end_row()?;
        return Ok(StatementOutcome { rows: Some(1), ..StatementOutcome::default() });
    }
    let literal = |expr: &ast::Expr| match expr {
        ast::Expr::Literal(ast::Literal::Int(number)) => *number as usize,
        _ => 0,
    };
    let skip = limit.and_then(|limit| limit.offset.as_ref()).map_or(0, literal);
    let take = limit.map_or(usize::MAX, |limit| literal(&limit.count));
    let text = |chars| ExprType::text(chars, Collation::DEFAULT, false);
    let code = DataType::Int { width: IntWidth::Int, unsigned: true };
    sink.columns(&[
        text(7).result_column("Level"),
        ExprType { length: 5, ..ExprType::of_column(code, false) }.result_column("Code"),
        text(512).result_column("Message"),
    ])?;
    let mut rows = 0;
    for warning in list.skip(skip).take(take) {
        let level = match warning.level {
            Level::Note => "Note",
            Level::Warning => "Warning",
            Level::Error => "Error",
        };
        sink.begin_row();
        sink.bytes(level.as_bytes());
        sink.uint(u64::from(warning.number()));
        sink.bytes(warning.message.as_bytes());
        sink.end_row()?;
        rows += 1;
    }
    Ok(StatementOutcome { rows: Some(rows), ..StatementOutcome::default() })
}
