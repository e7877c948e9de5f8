//! ALTER TABLE: the actions change a [`TableBuilder`], then the cheapest sufficient method brings
//! the table to the new definition: the catalog only, new index trees, or a copy of all rows.

use super::actions::{self, Wishes};
use super::algorithm::{Algorithm, Alteration, RequestedAlgorithm, needs_geometry};
use super::columns;
use super::engine;
use super::engine_options::{self, Definer};
use super::foreign::{self, Moved};
use super::fulltext;
use super::merged;
use super::partition;
use super::rebuild::{self, RebuildPlan};
use super::schema::hold_schema;
use super::spatial;
use super::table::rename_constraints;
use super::table_builder::{Finished, TableBuilder};
use super::tablespace;
use super::triggers;
use super::{
    DdlResult, FullName, existing, full_name, in_transaction, lock_beside, lock_renamed,
    unix_seconds,
};
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{self, AlterAction, PartitionAction};
use inia_query::catalog::mdl::MdlGuard;
use inia_query::catalog::{Change, Histogram, Table, TableDef, same_name};
use inia_query::context::SessionContext;
use inia_query::context::StatementOutcome;
use inia_query::dml::auto_increment;
use inia_query::error::StorageResult;
use inia_storage::{Direction, Isolation, KeyBound, ReadMode};
use std::sync::Arc;

fn error<T>(code: ErrorCode, args: &[&dyn std::fmt::Display]) -> Result<T, SqlError> {
    Err(SqlError::new(code, args))
}

/// ALTER TABLE.
pub(crate) fn alter_table(session: &mut SessionContext, alter: &ast::AlterTable) -> DdlResult {
    let name = full_name(session, &alter.name)?;
    let _locks = lock_for(session, &name, alter)?;
    let table = existing(session, &name)?;
    table.check_children()?;
    let own = alter.actions.iter().find_map(|action| match action {
        AlterAction::Partition(PartitionAction::By(_) | PartitionAction::Remove) => None,
        AlterAction::Partition(action) => Some(action),
        _ => None,
    });
    if let Some(action) = own {
        return partition::alter::run(session, &name, &table, action);
    }
    check_validation(&alter.actions)?;
    let mut builder = TableBuilder::from_table(&table.def);
    let mut wishes = Wishes::default();
    actions::apply_all(session, &mut builder, &mut wishes, &alter.actions)?;
    columns::finish_functional(session, &mut builder)?;
    divide(session, &table.def, &mut builder, &mut wishes, &alter.actions)?;
    wishes.wanted.check_words()?;
    if !wishes.changes && !table.def.temporary {
        wishes.wanted.check_rename()?;
    }
    let of_index = |action: &AlterAction| {
        matches!(action, AlterAction::AddIndex(_) | AlterAction::DropIndex(_))
            || matches!(action, AlterAction::Algorithm(_) | AlterAction::Lock(_))
    };
    wishes.beside_indexes = !alter.actions.iter().all(of_index);
    if builder.columns.is_empty() {
        return error(ErrorCode::CantRemoveAllFields, &[]);
    }
    foreign::check_child(session, &mut builder)?;
    foreign::check_children(session, &table.def, &builder)?;
    let mut finished = builder.finish()?;
    spatial::check_change(&table.def, &finished)?;
    if wishes.changes {
        finished.def.created = unix_seconds();
    }
    finished.def.histograms = kept_histograms(&table.def, &finished, &alter.actions);
    for warning in &finished.warnings {
        session.push_warning(warning);
    }
    check_engine(session, &table.def, &finished.def)?;
    carry_out(session, &name, &table, finished, &wishes)
}

/// Error 1221: WITH VALIDATION is about columns that are added or changed.
fn check_validation(actions: &[AlterAction]) -> Result<(), SqlError> {
    let validates = actions.iter().any(|action| matches!(action, AlterAction::Validation(_)));
    let of_column = |action: &AlterAction| {
        use AlterAction::{AddColumn, ChangeColumn, ModifyColumn};
        matches!(action, AddColumn { .. } | ChangeColumn { .. } | ModifyColumn { .. })
    };
    match validates && !actions.iter().any(of_column) {
        true => error(ErrorCode::WrongUsage, &[&"ALTER", &"WITH VALIDATION"]),
        false => Ok(()),
    }
}

/// PARTITION BY and REMOVE PARTITIONING; errors 3855, 1505 and 1506.
fn divide(
    session: &mut SessionContext,
    old: &TableDef,
    builder: &mut TableBuilder,
    wishes: &mut Wishes,
    actions: &[AlterAction],
) -> Result<(), SqlError> {
    for action in actions {
        match action {
            AlterAction::Partition(PartitionAction::By(by)) => {
                builder.partitioning = Some(partition::define(session, builder, by)?);
                let full = (old.schema.clone(), old.name.clone());
                if session.db.catalog().current().references.contains_key(&full) {
                    return error(ErrorCode::ForeignKeyOnPartitioned, &[]);
                }
            }
            AlterAction::Partition(PartitionAction::Remove) => {
                if builder.partitioning.take().is_none() {
                    return error(ErrorCode::PartitionMgmtOnNonpartitioned, &[]);
                }
            }
            _ => continue,
        }
        (wishes.copy, wishes.changes, wishes.wanted.copy) = (true, true, true);
    }
    partition::check_columns(session, old, builder)
}

/// Locks the table, its new name, the tables that refer to it where a name changes, and what new
/// foreign keys refer to.
fn lock_for(
    session: &SessionContext,
    name: &FullName,
    alter: &ast::AlterTable,
) -> Result<Vec<MdlGuard>, SqlError> {
    let mut names = vec![name.clone()];
    // The rows of a merged table stay as they are while they are copied.
    let mut parents = merged::with_children(session, name).split_off(1);
    let mut renames = false;
    for action in &alter.actions {
        match action {
            AlterAction::RenameColumn { .. } => renames = true,
            AlterAction::ChangeColumn { old, def, .. } => renames |= *old != def.name,
            AlterAction::RenameTo(to) => {
                let to = full_name(session, to)?;
                hold_schema(session, &to.0)?;
                names.push(to);
            }
            AlterAction::Partition(PartitionAction::Exchange { table, .. }) => {
                names.push(full_name(session, table)?);
            }
            AlterAction::AddForeignKey(key) => {
                let parent = &key.references.table;
                let schema = parent.db.clone().unwrap_or_else(|| name.0.clone());
                parents.push((schema, parent.name.clone()));
            }
            _ => {}
        }
    }
    match session.temporary.get(&name.0, &name.1) {
        Some(_) => Ok(Vec::new()),
        None if renames || names.len() > 1 => lock_renamed(session, &names, &parents),
        None => lock_beside(session, &names, &parents),
    }
}

fn carry_out(
    session: &mut SessionContext,
    name: &FullName,
    table: &Table,
    finished: Finished,
    wishes: &Wishes,
) -> DdlResult {
    let Finished { mut def, column_origins, index_origins, added_keys, .. } = finished;
    let (temporary, copied_always) = (table.def.temporary, !table.def.is_transactional());
    if let Some(to) = wishes.rename.as_ref().filter(|to| *to != name) {
        rename(session, &mut def, to)?;
    }
    tablespace::check_table(session, &def)?;
    let checked = new_checks(&table.def, &def);
    let references = session.flag("foreign_key_checks") && !added_keys.is_empty();
    let wanted = wishes.requested(session, checked, references);
    let wanted = RequestedAlgorithm { temporary, copied_always, ..wanted };
    let (old, new, beside_indexes) = (&table.def, &def, wishes.beside_indexes);
    let (columns, indexes) = (&column_origins[..], &index_origins[..]);
    let alteration = Alteration { old, new, columns, indexes, beside_indexes };
    // `way` is MySQL's algorithm, for refusals and row counts; `plan` is what is done here.
    let way = alteration.algorithm(&wanted);
    wanted.check(way, alteration.locked())?;
    let copied = matches!(way, Algorithm::Copy(_)) || wanted.asks("COPY");
    check_added(session, copied, table, (&def, columns, indexes))?;
    if copied && !temporary {
        foreign::check_copy(session, &alteration)?;
    }
    engine::check(session, &def)?;
    let definer = Definer::Alter { copies: copied, rebuilds: wanted.rebuild, old: &table.def };
    engine_options::check(session, &mut def, definer)?;
    foreign::check_bases(&def, copied)?;
    warn_of_order(session, wishes, &def, &name.1);
    let copy = wishes.copy || temporary || checked || wanted.asks("COPY");
    let plan = RebuildPlan::new(&table.def, &def, columns, indexes, copy);
    let plan = plan.sorted_by(order_of(&table.def, &wishes.order)?).by_copy(copied);
    if plan.copies() && wishes.auto_increment.is_none() {
        keep_numbers(table, &mut def)?;
    }
    let moved = Moved::between(&table.def, &def, &column_origins);
    let followed = triggers::moved(session, &def, (&moved.from, &moved.to))?;
    let rows = in_transaction(session, |session, changes| {
        let rows = rebuild::run(session, table, &mut def, &plan)?;
        foreign::check_rows(session, &def, &added_keys)?;
        let (schema, name) = name.clone();
        // The drop precedes the put: both use one key for a temporary table, that of its id.
        if moved.from != moved.to && temporary {
            changes.push(Change::DropTemporary { schema, name, id: def.id });
        } else if moved.from != moved.to {
            changes.push(Change::DropTable { schema, name });
        }
        if !temporary {
            changes.extend(foreign::retarget(session, &[moved]));
        }
        changes.push(Change::PutTable(def));
        changes.extend(followed);
        Ok(rows)
    })?;
    count_anew(table, plan.copies(), wishes)?;
    if !wishes.changes && !temporary {
        return Ok(StatementOutcome::default());
    }
    // MySQL reports the rows that its algorithm copies, even if none was copied here.
    let affected_rows = match copied {
        true if plan.copies() => rows,
        true => count_rows(table)?,
        false => 0,
    };
    reported(session, affected_rows)
}

impl Wishes {
    /// What decides about the algorithm: whether rows must be `checked` by a new condition, or have
    /// new `references`, counts with what the statement says.
    fn requested(
        &self,
        session: &SessionContext,
        checked: bool,
        references: bool,
    ) -> RequestedAlgorithm {
        let mut wanted = self.wanted.clone();
        wanted.references = references;
        wanted.copy |= checked || !self.order.is_empty();
        wanted.lenient = !session.env.sql_mode.is_strict();
        wanted
    }
}

/// What ALTER TABLE reports of so many rows that were copied.
fn reported(session: &SessionContext, affected_rows: u64) -> DdlResult {
    let warnings = session.warning_count();
    let info = format!("Records: {affected_rows}  Duplicates: 0  Warnings: {warnings}");
    Ok(StatementOutcome { affected_rows, info, ..StatementOutcome::default() })
}

/// The histograms that a table keeps: not those of columns that the statement names with a
/// definition or another name, nor of texts that it converts, nor of those that get a unique index.
fn kept_histograms(
    old: &TableDef,
    finished: &Finished,
    actions: &[AlterAction],
) -> Vec<Arc<Histogram>> {
    let is_named = |column: &str| {
        actions.iter().any(|action| match action {
            AlterAction::ModifyColumn { def, .. } => same_name(&def.name, column),
            AlterAction::ChangeColumn { old, .. } => same_name(old, column),
            AlterAction::RenameColumn { from, .. } => same_name(from, column),
            _ => false,
        })
    };
    let converted =
        actions.iter().any(|action| matches!(action, AlterAction::ConvertCharset { .. }));
    let is_kept = |histogram: &Arc<Histogram>| {
        let origin = old.column(&histogram.column);
        let moved = finished.column_origins.iter().position(|o| o.is_some() && *o == origin);
        let Some(column) = moved else { return false };
        let def = &finished.def;
        let text = matches!(
            def.columns[column].data_type,
            DataType::Char { .. } | DataType::VarChar { .. } | DataType::Text { .. }
        );
        let changed = is_named(&histogram.column) || (converted && text);
        !changed && !def.has_own_unique_index(column)
    };
    old.histograms.iter().filter(|histogram| is_kept(histogram)).cloned().collect()
}

/// Gives the table another name; error 1050.
fn rename(session: &SessionContext, def: &mut TableDef, to: &FullName) -> Result<(), SqlError> {
    let taken = match def.temporary {
        true => session.temporary.get(&to.0, &to.1).is_some(),
        false => session.db.catalog().has(&to.0, &to.1),
    };
    if taken {
        return error(ErrorCode::TableExists, &[&to.1]);
    }
    let from = (def.schema.clone(), def.name.clone());
    rename_constraints(def, &from.1, &to.1);
    foreign::follow_all(def, &[Moved::table(&from, to)]);
    (def.schema, def.name) = to.clone();
    Ok(())
}

/// Errors of columns and indexes that are added to rows which are there.
fn check_added(
    session: &mut SessionContext,
    copied: bool,
    table: &Table,
    (def, columns, indexes): (&TableDef, &[Option<usize>], &[Option<usize>]),
) -> Result<(), SqlError> {
    fulltext::check_added(session, copied, table, (def, indexes))?;
    refuse_empty_geometries(table, def, columns)
}

/// Error 1138: rows that are there have no geometry for a new column that is NOT NULL, not even
/// by its default.
fn refuse_empty_geometries(
    table: &Table,
    def: &TableDef,
    origins: &[Option<usize>],
) -> Result<(), SqlError> {
    let mut added = def.columns.iter().zip(origins).filter(|(_, origin)| origin.is_none());
    match added.any(|(column, _)| needs_geometry(column)) && count_rows(table)? > 0 {
        true => error(ErrorCode::InvalidUseOfNull, &[]),
        false => Ok(()),
    }
}

fn warn_of_order(session: &mut SessionContext, wishes: &Wishes, def: &TableDef, table: &str) {
    if wishes.order.is_empty() || def.clustered_index().is_none() {
        return;
    }
    let text = "ORDER BY ignored as there is a user-defined clustered index in the table";
    session.warn(ErrorCode::UnknownError, &[&format!("{text} '{table}'")]);
}

/// The columns of ORDER BY, which are those of the table before the statement, and whether each
/// descends; error 1054.
fn order_of(old: &TableDef, items: &[ast::OrderItem]) -> Result<Vec<(usize, bool)>, SqlError> {
    let column = |item: &ast::OrderItem| {
        let ast::Expr::Column(name) = &item.expr else { return None };
        let unknown = || SqlError::new(ErrorCode::UnknownColumn, &[&name.name, &"order clause"]);
        Some(old.column(&name.name).ok_or_else(unknown).map(|column| (column, item.desc)))
    };
    items.iter().filter_map(column).collect()
}

/// The copy of a table goes on from the table's AUTO_INCREMENT counter, if the column is kept.
fn keep_numbers(old: &Table, new: &mut TableDef) -> Result<(), SqlError> {
    let name = |column: usize| &old.def.columns[column].name;
    let there = |name: &String| new.columns.iter().any(|c| c.name.eq_ignore_ascii_case(name));
    if new.auto_increment_column().is_some() && old.numbered.map(name).is_some_and(there) {
        new.auto_increment = auto_increment::current(old)?;
    }
    Ok(())
}

/// Resets counters that their next use computes again: hidden row ids after a copy, AUTO_INCREMENT
/// where the statement set it.
fn count_anew(table: &Table, copied: bool, wishes: &Wishes) -> Result<(), SqlError> {
    if copied {
        table.shared.forget_row_ids();
    } else if wishes.auto_increment.is_some() {
        table.store.forget_counter(&table.clustered).sql()?;
    }
    Ok(())
}

/// Error 3776 where the child or the parent of a foreign key gets another engine.
fn check_engine(session: &SessionContext, old: &TableDef, new: &TableDef) -> Result<(), SqlError> {
    let catalog = session.db.catalog().current();
    let name = (old.schema.clone(), old.name.clone());
    let referring = !old.foreign_keys.is_empty() || catalog.references.contains_key(&name);
    match referring && !old.temporary && old.engine != new.engine {
        true => error(ErrorCode::FkCannotChangeEngine, &[]),
        false => Ok(()),
    }
}

/// Whether rows must be checked against a condition that was not enforced before.
fn new_checks(old: &TableDef, new: &TableDef) -> bool {
    let enforced = |def: &TableDef, expression: &str| {
        def.checks.iter().any(|check| check.enforced && check.expression == expression)
    };
    new.checks.iter().any(|check| check.enforced && !enforced(old, &check.expression))
}

pub(super) fn count_rows(table: &Table) -> Result<u64, SqlError> {
    let mut txn = table.store.attach();
    txn.begin(Isolation::RepeatableRead);
    let (low, high) = (KeyBound::Unbounded, KeyBound::Unbounded);
    let mut rows = 0;
    for stored in table.stored() {
        let tree = &stored.clustered;
        let mut cursor = txn.cursor(tree, low, high, Direction::Forward, ReadMode::Snapshot);
        while cursor.next(&mut txn).sql()?.is_some() {
            rows += 1;
        }
    }
    txn.commit().sql()?;
    Ok(rows)
}
