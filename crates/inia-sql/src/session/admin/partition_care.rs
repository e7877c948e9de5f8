//! ALTER TABLE … ANALYZE, CHECK, OPTIMIZE and REPAIR PARTITION.

use super::{Done, maintain_one, messages_columns, show};
use crate::session::define::partition_care;
use inia_base::column::RowSink;
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{self, MaintenanceKind, PartitionNames, Statement};
use inia_query::context::{SessionContext, StatementOutcome};

/// Carries it out, and sends what there is to say.
pub(super) fn maintain(
    session: &mut SessionContext,
    statement: &Statement,
    sink: &mut dyn RowSink,
) -> Done {
    let Some((alter, kind, names)) = partition_care(statement) else {
        return Ok(StatementOutcome::default());
    };
    session.commit()?;
    let schema = match &alter.name.db {
        Some(db) => db.clone(),
        None => session.database()?.to_owned(),
    };
    let full = format!("{schema}.{}", alter.name.name);
    let messages = messages(session, alter, kind, names, (&schema, &full));
    session.mdl.release_all();
    let op = match kind {
        MaintenanceKind::Analyze => "analyze",
        MaintenanceKind::Optimize => "optimize",
        MaintenanceKind::Repair => "repair",
        _ => "check",
    };
    let row = |(kind, message): (&'static str, String)| {
        let cells = [full.as_str(), op, kind, message.as_str()];
        cells.map(|cell| Some(cell.to_owned())).to_vec()
    };
    let rows: Vec<_> = messages?.into_iter().map(row).collect();
    show::send_columns(sink, &messages_columns(), &rows)
}

fn messages(
    session: &mut SessionContext,
    alter: &ast::AlterTable,
    kind: MaintenanceKind,
    names: &PartitionNames,
    (schema, full): (&str, &str),
) -> Result<Vec<(&'static str, String)>, SqlError> {
    let write = matches!(kind, MaintenanceKind::Optimize | MaintenanceKind::Repair);
    session.check_maintained(&alter.name, write)?;
    let table = session.open_table(Some(schema), &alter.name.name)?;
    let Some(by) = &table.def.partitioning else {
        let error = SqlError::new(ErrorCode::PartitionMgmtOnNonpartitioned, &[]);
        return Ok(failed(error.message));
    };
    if crate::ddl::partitions_named(by, names).is_err() {
        let text = format!("Error in list of partitions to {full}");
        return Ok(failed(text));
    }
    if kind == MaintenanceKind::Repair {
        return Ok(vec![("status", String::from("OK"))]);
    }
    if kind != MaintenanceKind::Optimize {
        return Ok(maintain_one(session, kind, &alter.name, Ok(table)));
    }
    drop(table);
    session.mdl.release_all();
    session.begin_change()?;
    let done = crate::ddl::alter_table(session, alter);
    session.mdl.release_all();
    done?;
    let text = "Table does not support optimize on partitions. All partitions will be rebuilt and \
                analyzed.";
    Ok(vec![("note", text.to_owned()), ("status", String::from("OK"))])
}

fn failed(message: String) -> Vec<(&'static str, String)> {
    vec![("Error", message), ("status", String::from("Operation failed"))]
}
