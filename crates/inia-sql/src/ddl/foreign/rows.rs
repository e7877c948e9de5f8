//! Rows of a table that gets a foreign key must have their parents already.

use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast;
use inia_query::catalog::{
    CatalogVersion, ForeignKeyDef, Table, TableDef, foreign_key_text, quoted,
};
use inia_query::context::SessionContext;
use inia_query::exec::Runner;
use inia_query::planner::plan_over;
use std::sync::Arc;

/// Error 1452 (1216 for those who may not know the parent) where a row of a table, as the open
/// transaction has written it, lacks a parent by one of these foreign keys. Temporary tables are
/// never parents.
pub(in crate::ddl) fn check_rows(
    session: &SessionContext,
    def: &TableDef,
    keys: &[usize],
) -> Result<(), SqlError> {
    if keys.is_empty() || !session.flag("foreign_key_checks") {
        return Ok(());
    }
    let catalog = session.db.catalog();
    let (mdl, shared) = (catalog.mdl().name(&def.schema, &def.name), catalog.shared(def.id));
    let store = catalog.store(def);
    let table = Arc::new(Table::new(Arc::new(def.clone()), store, mdl, shared));
    let mut version = CatalogVersion::clone(&catalog.current());
    if let Some(schema) = version.schemas.get_mut(&def.schema) {
        Arc::make_mut(schema).tables.insert(def.name.clone(), table);
    }
    keys.iter().try_for_each(|key| check_key(session, &version, def, &def.foreign_keys[*key]))
}

fn check_key(
    session: &SessionContext,
    catalog: &CatalogVersion,
    def: &TableDef,
    key: &ForeignKeyDef,
) -> Result<(), SqlError> {
    let names: Vec<&str> = key.columns.iter().map(|at| def.columns[*at].name.as_str()).collect();
    let mut conditions: Vec<String> =
        names.iter().map(|name| format!("c.{} IS NOT NULL", quoted(name))).collect();
    let equal =
        |(child, parent): (&&str, &String)| format!("p.{} = c.{}", quoted(parent), quoted(child));
    let matches: Vec<String> = names.iter().zip(&key.ref_columns).map(equal).collect();
    conditions.push(format!(
        "NOT EXISTS (SELECT 1 FROM {}.{} p WHERE {})",
        quoted(&key.ref_schema),
        quoted(&key.ref_table),
        matches.join(" AND ")
    ));
    let text = format!(
        "SELECT 1 FROM {}.{} c WHERE {} LIMIT 1",
        quoted(&def.schema),
        quoted(&def.name),
        conditions.join(" AND ")
    );
    let there = catalog.schemas.get(&key.ref_schema);
    if there.is_some_and(|schema| schema.tables.contains_key(&key.ref_table))
        && !has_row(session, catalog, &text)?
    {
        return Ok(());
    }
    if !session.access().knows(&key.ref_schema, &key.ref_table) {
        return Err(SqlError::new(ErrorCode::NoReferencedRow, &[]));
    }
    let what =
        format!("{}.{}, {}", quoted(&def.schema), quoted(&def.name), foreign_key_text(def, key));
    Err(SqlError::new(ErrorCode::NoReferencedRow2, &[&what]))
}

/// Whether a query over these tables, which the caller has locked, has a row in the open
/// transaction.
fn has_row(
    session: &SessionContext,
    catalog: &CatalogVersion,
    text: &str,
) -> Result<bool, SqlError> {
    let parsed = inia_parser::parse(text, inia_parser::SqlMode::empty());
    let ast::Statement::Select(query) = parsed.map_err(inia_query::error::parse_error)? else {
        return Ok(false);
    };
    let plan = plan_over(session, catalog, &query)?;
    let runner = Runner::new(&plan, session.exec_context());
    let mut ctx = session.context(&[], &runner);
    let mut found = false;
    runner.run(&mut ctx, &mut |_, _| {
        found = true;
        Ok(false)
    })?;
    Ok(found)
}
