//! The SHOW statements that sessions cannot do without.

use super::Outcome;
use super::core::Core;
use crate::catalog::{show_create_schema, show_create_table};
use crate::ddl::full_name;
use crate::dml::auto_increment;
use crate::expr::{ExprType, Level};
use inia_base::collation::Collation;
use inia_base::column::{ResultColumn, RowSink};
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{self, ShowKind};

/// Sends rows of texts.
fn send(sink: &mut dyn RowSink, names: &[&str], rows: &[Vec<String>]) -> Result<Outcome, SqlError> {
    let ty = ExprType::text(1024, Collation::DEFAULT, false);
    let columns: Vec<ResultColumn> = names.iter().map(|name| ty.result_column(name)).collect();
    sink.columns(&columns)?;
    for row in rows {
        sink.begin_row();
        row.iter().for_each(|cell| sink.bytes(cell.as_bytes()));
        sink.end_row()?;
    }
    Ok(Outcome { rows: Some(rows.len() as u64), ..Outcome::default() })
}

/// SHOW.
pub(super) fn show(
    core: &mut Core,
    show: &ast::Show,
    sink: &mut dyn RowSink,
) -> Result<Outcome, SqlError> {
    match &show.kind {
        ShowKind::Warnings { count, limit } => {
            conditions(core, sink, false, *count, limit.as_ref())
        }
        ShowKind::Errors { count, limit } => conditions(core, sink, true, *count, limit.as_ref()),
        ShowKind::CreateTable(name) => {
            let name = full_name(core, name)?;
            let idle = !core.state.open;
            let table = core.open_table(Some(&name.0), &name.1);
            if idle {
                core.mdl.release_all();
            }
            let table = table?;
            let next = auto_increment::current(&core.db, &table)?;
            let text = show_create_table(&table.def, next);
            send(sink, &["Table", "Create Table"], &[vec![name.1, text]])
        }
        ShowKind::CreateDatabase { name, if_not_exists } => {
            let unknown = || SqlError::new(ErrorCode::UnknownDatabase, &[name]);
            let schema = core.db.catalog().schema(name).ok_or_else(unknown)?;
            let text = show_create_schema(&schema.def, *if_not_exists);
            send(sink, &["Database", "Create Database"], &[vec![name.clone(), text]])
        }
        ShowKind::Databases if show.filter.is_none() => {
            let catalog = core.db.catalog().current();
            let rows: Vec<_> = catalog.schemas.keys().map(|name| vec![name.clone()]).collect();
            send(sink, &["Database"], &rows)
        }
        ShowKind::Tables { full: false, db, .. } if show.filter.is_none() => {
            let schema = match db {
                Some(db) => db.clone(),
                None => core.database()?.to_owned(),
            };
            let unknown = || SqlError::new(ErrorCode::UnknownDatabase, &[&schema]);
            let found = core.db.catalog().schema(&schema).ok_or_else(unknown)?;
            let rows: Vec<_> = found.tables.keys().map(|name| vec![name.clone()]).collect();
            send(sink, &[&format!("Tables_in_{schema}")], &rows)
        }
        _ => Err(SqlError::new(ErrorCode::NotSupportedYet, &[&"this SHOW statement"])),
    }
}

fn conditions(
    core: &mut Core,
    sink: &mut dyn RowSink,
    errors: bool,
    count: bool,
    limit: Option<&ast::Limit>,
) -> Result<Outcome, SqlError> {
    let wanted = |level: Level| !errors || level == Level::Error;
    let list = core.diagnostics.list.iter().filter(|warning| wanted(warning.level));
    if count {
        let name = if errors { "@@session.error_count" } else { "@@session.warning_count" };
        let number = if errors { list.count() as u64 } else { core.diagnostics.count };
        sink.columns(&[ExprType::uint(21, false).result_column(name)])?;
        sink.begin_row();
        sink.uint(number);
        sink.end_row()?;
        return Ok(Outcome { rows: Some(1), ..Outcome::default() });
    }
    let literal = |expr: &ast::Expr| match expr {
        ast::Expr::Literal(ast::Literal::Int(number)) => *number as usize,
        _ => 0,
    };
    let skip = limit.and_then(|limit| limit.offset.as_ref()).map_or(0, literal);
    let take = limit.map_or(usize::MAX, |limit| literal(&limit.count));
    let text = |chars| ExprType::text(chars, Collation::DEFAULT, false);
    sink.columns(&[
        text(7).result_column("Level"),
        ExprType::uint(4, false).result_column("Code"),
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
        sink.uint(u64::from(warning.code.number()));
        sink.bytes(warning.message.as_bytes());
        sink.end_row()?;
        rows += 1;
    }
    Ok(Outcome { rows: Some(rows), ..Outcome::default() })
}
