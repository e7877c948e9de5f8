//! VIEWS and VIEW_TABLE_USAGE, and what views add to TABLES and COLUMNS.

use super::{Information, Rows, row, yes_no};
use crate::account::Privileges;
use crate::catalog::{ProgramKind, View};
use crate::referenced::ReferencedObjects;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_parser::ast::FunctionCall;
use std::sync::Arc;

/// The views that the session may see.
pub(super) fn visible<'i>(info: &'i Information<'_>) -> impl Iterator<Item = &'i Arc<View>> {
    let views = info.catalog.schemas.values().flat_map(|schema| schema.views.values());
    views.filter(|view| info.shows(&view.def.schema, &view.def.name))
}

/// The tables and views that a view names.
fn reads(view: &View) -> Vec<(String, String)> {
    let mut reads = ReferencedObjects::default();
    view.query.iter().for_each(|query| reads.query(query));
    let mut names: Vec<_> = reads
        .tables
        .iter()
        .map(|name| (name.db.clone().unwrap_or_default(), name.name.clone()))
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Whether all tables that a view names, itself or through others, are there.
pub(super) fn is_whole(info: &Information<'_>, view: &View) -> bool {
    let mut waiting = reads(view);
    let mut seen = Vec::new();
    while let Some((schema, name)) = waiting.pop() {
        let own = info.catalog.schemas.get(&schema);
        if !own.is_some_and(|own| own.has(&name)) && super::find(&schema, &name).is_none() {
            return false;
        }
        let inner = own.and_then(|own| own.views.get(&name));
        if let Some(inner) = inner.filter(|_| !seen.contains(&(schema.clone(), name.clone()))) {
            seen.push((schema, name));
            waiting.extend(reads(inner));
        }
    }
    true
}

/// TABLE_COMMENT of a view.
pub(super) fn comment(info: &Information<'_>, view: &View) -> String {
    match is_whole(info, view) {
        true => String::from("VIEW"),
        false => {
            let (schema, name) = (&view.def.schema, &view.def.name);
            SqlError::new(ErrorCode::ViewInvalid, &[schema, name]).message
        }
    }
}

pub(super) fn views(info: &Information<'_>, rows: &mut Rows) {
    for view in visible(info) {
        let def = &view.def;
        let held = info.access.on_table(&def.schema, &def.name);
        let own = def.definer == info.access.account;
        let text = if own || held.has(Privileges::SHOW_VIEW) { def.query.as_str() } else { "" };
        rows.push(row![
            "def",
            def.schema.as_str(),
            def.name.as_str(),
            text,
            def.check.name(),
            yes_no(def.updatable),
            format!("{}@{}", def.definer.user, def.definer.host),
            if def.invoker { "INVOKER" } else { "DEFINER" },
            def.charset_client.as_str(),
            def.collation_connection.as_str(),
        ]);
    }
}

pub(super) fn table_usage(info: &Information<'_>, rows: &mut Rows) {
    for view in visible(info) {
        for (schema, name) in reads(view) {
            if !info.access.sees_table(&schema, &name) {
                continue;
            }
            let def = &view.def;
            rows.push(row!["def", def.schema.as_str(), def.name.as_str(), "def", schema, name]);
        }
    }
}

/// VIEW_ROUTINE_USAGE: the stored functions that views call.
pub(super) fn routine_usage(info: &Information<'_>, rows: &mut Rows) {
    for view in visible(info) {
        let mut reads = ReferencedObjects::default();
        view.query.iter().for_each(|query| reads.query(query));
        let def = &view.def;
        let own = |call: &&FunctionCall| {
            let schema = call.db.clone().unwrap_or_else(|| def.schema.clone());
            (schema, call.name.clone())
        };
        let mut called: Vec<(String, String)> = reads.routines.iter().map(own).collect();
        called.sort();
        called.dedup();
        let there = |(schema, name): &(String, String)| {
            let schema = info.catalog.schemas.get(schema);
            schema.is_some_and(|schema| schema.program(ProgramKind::Function, name).is_some())
        };
        for (schema, name) in called.into_iter().filter(there) {
            rows.push(row!["def", def.schema.as_str(), def.name.as_str(), "def", schema, name]);
        }
    }
}

/// The rows of PARTITIONS that views have.
pub(super) fn partitions(info: &Information<'_>, rows: &mut Rows) {
    for view in visible(info) {
        let def = &view.def;
        let mut row = row!["def", def.schema.as_str(), def.name.as_str()];
        row.extend(std::iter::repeat_n(Value::Null, 9));
        row.extend(std::iter::repeat_n(Value::UInt(0), 6));
        row.push(info.moment(def.created));
        row.extend(std::iter::repeat_n(Value::Null, 3));
        row.extend(row!["", "", Value::Null]);
        rows.push(row);
    }
}

/// The rows of TABLES that views have.
pub(super) fn tables(info: &Information<'_>, rows: &mut Rows) {
    for view in visible(info) {
        let def = &view.def;
        let mut row = row!["def", def.schema.as_str(), def.name.as_str(), "VIEW"];
        row.extend(std::iter::repeat_n(Value::Null, 10));
        row.push(info.moment(def.created));
        row.extend(std::iter::repeat_n(Value::Null, 5));
        row.push(comment(info, view).into());
        rows.push(row);
    }
}
