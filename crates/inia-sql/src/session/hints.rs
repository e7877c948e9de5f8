//! Optimizer hints that concern a whole statement: SET_VAR, MAX_EXECUTION_TIME and RESOURCE_GROUP.
//!
//! Invariant: what [`SessionContext::take_hints`] changes is as before after
//! [`SessionContext::undo_hints`]. The count of settings, too, is as if only the statement itself
//! had changed some; so no plan that was made in between may be kept.

use super::resource_group;
use super::set::effect::{assign, take_effect};
use super::set::permitted::check_restricted;
use super::set::value::checked;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_parser::{HintValue, Hints};
use inia_query::clock::clock_micros;
use inia_query::context::SessionContext;
use inia_query::sysvar::{self, Home};

/// The variables that SET_VAR may set.
const HINTABLE: [&str; 52] = [
    "auto_increment_increment",
    "auto_increment_offset",
    "big_tables",
    "bulk_insert_buffer_size",
    "cte_max_recursion_depth",
    "default_table_encryption",
    "default_tmp_storage_engine",
    "div_precision_increment",
    "end_markers_in_json",
    "eq_range_index_dive_limit",
    "foreign_key_checks",
    "group_concat_max_len",
    "insert_id",
    "internal_tmp_mem_storage_engine",
    "join_buffer_size",
    "lock_wait_timeout",
    "max_error_count",
    "max_execution_time",
    "max_heap_table_size",
    "max_join_size",
    "max_length_for_sort_data",
    "max_points_in_geometry",
    "max_seeks_for_key",
    "max_sort_length",
    "optimizer_max_subgraph_pairs",
    "optimizer_prune_level",
    "optimizer_search_depth",
    "optimizer_switch",
    "range_alloc_block_size",
    "range_optimizer_max_mem_size",
    "read_buffer_size",
    "read_rnd_buffer_size",
    "secondary_engine_cost_threshold",
    "select_into_buffer_size",
    "select_into_disk_sync",
    "select_into_disk_sync_delay",
    "sort_buffer_size",
    "sql_auto_is_null",
    "sql_big_selects",
    "sql_buffer_result",
    "sql_mode",
    "sql_require_primary_key",
    "sql_safe_updates",
    "sql_select_limit",
    "time_zone",
    "timestamp",
    "tmp_table_size",
    "unique_checks",
    "updatable_views_with_limit",
    "use_secondary_engine",
    "windowing_use_high_precision",
    "xa_detach_on_prepare",
];

/// What a statement's hints have changed.
pub(super) struct Changed {
    /// The count of settings before and after.
    settings: (u64, u64),
    /// The session's values before, in the order of the changes.
    values: Vec<(&'static str, Option<String>)>,
}

/// Leaves out, with warnings, what no execution could set: unknown variables (3128), those that
/// are not for hints (3637), and those that came before (3126).
pub(super) fn resolve_hints(session: &mut SessionContext, mut hints: Hints) -> Hints {
    let mut known: Vec<&'static str> = Vec::new();
    hints.variables.retain(|(name, value)| {
        if *value == HintValue::ResourceGroup {
            return true;
        }
        let Ok(def) = sysvar::find(name) else {
            let name = format!("'{name}'");
            session.warn(ErrorCode::UnresolvedHintName, &[&name, &"SET_VAR"]);
            return false;
        };
        if !HINTABLE.contains(&def.name) {
            let name = format!("'{}'", def.name);
            session.warn(ErrorCode::NotHintUpdatableVariable, &[&name]);
            return false;
        }
        if known.contains(&def.name) {
            let hint = format!("SET_VAR({}={}) ", def.name, shown(value));
            session.warn(ErrorCode::WarnConflictingHint, &[&hint]);
            return false;
        }
        known.push(def.name);
        true
    });
    hints
}

/// Lets resolved hints take effect; a value that does not fit is a warning.
pub(super) fn take_hints(session: &mut SessionContext, hints: &Hints) -> Changed {
    let mut changed = Changed { settings: (session.settings, 0), values: Vec::new() };
    session.hinted_time = hints.max_execution_time;
    for (name, value) in &hints.variables {
        if *value == HintValue::ResourceGroup {
            resource_group::take_hint(session, name);
        } else if let Err(error) = take_hint(session, name, value, &mut changed) {
            session.push_warning(&error);
        }
    }
    changed.settings.1 = session.settings;
    changed
}

/// A value as messages and EXPLAIN show it.
fn shown(value: &HintValue) -> String {
    match value {
        HintValue::Int(value) => value.to_string(),
        HintValue::Real(value) => value.clone(),
        HintValue::Text(text) | HintValue::Word(text) => format!("'{text}'"),
        HintValue::ResourceGroup => String::new(),
    }
}

fn take_hint(
    session: &mut SessionContext,
    name: &str,
    value: &HintValue,
    changed: &mut Changed,
) -> Result<(), SqlError> {
    let def = sysvar::find(name)?;
    if !matches!(def.home, Home::Both | Home::Session) {
        return Err(SqlError::new(ErrorCode::GlobalVariable, &[&def.name]));
    }
    check_restricted(session, def.name)?;
    let given = match value {
        HintValue::Int(value) => Value::UInt(*value),
        HintValue::Real(text) => Value::Double(text.parse().unwrap_or_default()),
        HintValue::Text(text) | HintValue::Word(text) => Value::Text(text.clone()),
        HintValue::ResourceGroup => return Ok(()),
    };
    let text = checked(session, (def, def.name), false, &given)?;
    let before = session.host.vars.borrow().values.get(def.name).cloned();
    assign(session, false, def.name, &text)?;
    changed.values.push((def.name, before));
    session.hinted_values.push(format!("SET_VAR({}={})", def.name, shown(value)));
    if def.name == "timestamp" {
        session.env.now_micros = session.host.fixed_now().unwrap_or_else(clock_micros);
    }
    Ok(())
}

/// Gives the session back what it had before the hints.
pub(super) fn undo_hints(session: &mut SessionContext, changed: Changed) {
    if !changed.values.is_empty() {
        session.hinted_values.clear();
    }
    for (name, before) in changed.values.into_iter().rev() {
        let text = before.clone().unwrap_or_else(|| inherited(session, name));
        // It was in effect before.
        let _ = take_effect(session, name, &text);
        let mut vars = session.host.vars.borrow_mut();
        match before {
            Some(text) => drop(vars.values.insert(name, text)),
            None => drop(vars.values.remove(name)),
        }
    }
    let (before, after) = changed.settings;
    session.settings = before + (session.settings - after);
}

/// The value that the session began with.
fn inherited(session: &SessionContext, name: &str) -> String {
    let begun = session.host.vars.borrow().inherited.get(name).cloned();
    begun.unwrap_or_else(|| sysvar::find(name).map_or("", |def| def.default).to_owned())
}
