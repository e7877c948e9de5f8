//! Expressions that need columns which ALTER TABLE drops or gives other names.
//!
//! An expression whose column goes, or is defined anew in the same statement, needs nothing. RENAME
//! COLUMN counts even where only the case of letters changes; CHANGE does not.

use super::table_builder::TableBuilder;
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::AlterAction;
use inia_query::catalog::{CheckDef, ColumnDefault, same_name};
use inia_query::referenced::columns_of_text;

/// Whether the stored expression reads the column or its default.
fn uses(expression: &str, column: &str) -> bool {
    columns_of_text(expression).iter().any(|name| same_name(name, column))
}

/// Whether a condition reads this column and no other, so that it goes with it.
pub(super) fn reads_only(check: &CheckDef, column: &str) -> bool {
    let read = columns_of_text(&check.expression);
    !read.is_empty() && read.iter().all(|name| same_name(name, column))
}

/// Error 3959 for a column that a condition reads.
pub(super) fn check_conditions(builder: &TableBuilder, name: &str) -> Result<(), SqlError> {
    match builder.checks.iter().find(|check| uses(&check.expression, name)) {
        Some(check) => {
            Err(SqlError::new(ErrorCode::DependentByCheckConstraint, &[&check.name, &name]))
        }
        None => Ok(()),
    }
}

/// Errors 3766, 3108 and 3837 for columns that a default, a generated column or an index's
/// expression reads. `builder` is what the actions have made of `old`.
pub(super) fn check_expressions(
    old: &TableBuilder,
    builder: &TableBuilder,
    actions: &[AlterAction],
) -> Result<(), SqlError> {
    let renamed = |name: &str| {
        actions.iter().any(|action| match action {
            AlterAction::RenameColumn { from, .. } => same_name(from, name),
            AlterAction::ChangeColumn { old, def, .. } => {
                same_name(old, name) && !same_name(old, &def.name)
            }
            _ => false,
        })
    };
    for (at, column) in old.columns.iter().enumerate() {
        let gone = !builder.columns.iter().any(|c| c.origin == Some(at));
        if !column.def.is_hidden() && (gone || renamed(&column.def.name)) {
            check_readers(old, builder, actions, &column.def.name)?;
        }
    }
    Ok(())
}

/// As [`check_expressions`], of one column.
fn check_readers(
    old: &TableBuilder,
    builder: &TableBuilder,
    actions: &[AlterAction],
    name: &str,
) -> Result<(), SqlError> {
    let defined_anew = |column: &str| {
        actions.iter().any(|action| match action {
            AlterAction::ModifyColumn { def, .. } => same_name(&def.name, column),
            AlterAction::ChangeColumn { old, .. } => same_name(old, column),
            _ => false,
        })
    };
    let default_anew = |column: &str| {
        actions.iter().any(|action| match action {
            AlterAction::SetDefault { column: of, .. } | AlterAction::DropDefault(of) => {
                same_name(of, column)
            }
            _ => false,
        })
    };
    let indexed = |hidden: &str| {
        builder.indexes.iter().flat_map(|index| &index.parts).any(|part| part.column == hidden)
    };
    for (at, reader) in old.columns.iter().enumerate() {
        let def = &reader.def;
        // A reader that goes or is defined again no longer needs the column. A hidden column goes
        // with the last index that uses it.
        let stays = builder.columns.iter().any(|column| column.origin == Some(at));
        if !stays || defined_anew(&def.name) || (def.is_hidden() && !indexed(&def.name)) {
            continue;
        }
        let computed = def.generated.as_ref().is_some_and(|g| uses(&g.expression, name));
        // A hidden column holds an index's expression: its user knows only the index.
        if computed && def.is_hidden() {
            return Err(SqlError::new(ErrorCode::DependentByFunctionalIndex, &[&name]));
        }
        if computed {
            return Err(SqlError::new(ErrorCode::DependentByGeneratedColumn, &[&name]));
        }
        let by_default =
            matches!(&def.default, ColumnDefault::Expression(text) if uses(text, name));
        if by_default && !default_anew(&def.name) {
            let args: [&dyn std::fmt::Display; 2] = [&name, &builder.name];
            return Err(SqlError::new(ErrorCode::DependentByDefaultGeneratedValue, &args));
        }
    }
    Ok(())
}
