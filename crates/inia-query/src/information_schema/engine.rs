//! What MySQL's storage engine counts, and the costs that its optimizer reckons with.

use super::status::values;
use super::{Information, Rows, row};
use crate::account::Privileges;
use inia_base::value::Value;
use inia_expr::VarScope;
use std::collections::HashMap;

/// Bytes of a page.
const PAGE: u64 = 16 << 10;
/// Sizes of compressed pages.
const SIZES: [i64; 5] = [1024, 2048, 4096, 8192, 16_384];

/// INNODB_CMP: no page is compressed.
pub(super) fn compression(info: &Information<'_>, rows: &mut Rows) {
    if info.access.global.has(Privileges::PROCESS) {
        rows.extend(SIZES.map(|size| row![size, 0i64, 0i64, 0i64, 0i64, 0i64]));
    }
}

pub(super) fn buffer_pool_stats(info: &Information<'_>, rows: &mut Rows) {
    if !info.access.global.has(Privileges::PROCESS) {
        return;
    }
    let pool = info.db.engine.pool_stats();
    let counted: HashMap<String, String> =
        values(info.db, info.counters, VarScope::Global).into_iter().collect();
    let count = |name: &str| -> u64 {
        counted.get(name).and_then(|value| value.parse().ok()).unwrap_or_default()
    };
    let mut row = row![0u64, pool.total, pool.total - pool.data.min(pool.total), pool.data];
    row.extend(row![0u64, pool.dirty, 0u64, 0u64, 0u64, 0u64, 0u64, 0u64, 0.0f64, 0.0f64]);
    row.extend(row![
        count("Innodb_pages_read"),
        count("Innodb_pages_created"),
        count("Innodb_pages_written"),
        0.0f64,
        0.0f64,
        0.0f64,
        count("Innodb_buffer_pool_read_requests"),
    ]);
    row.extend(row![0u64, 0u64, 0u64, 0u64, 0u64, 0.0f64, 0.0f64, 0u64, 0u64, 0u64, 0u64]);
    rows.push(row);
}

/// The status counter that a counter of INNODB_METRICS is.
fn status_of(metric: &str) -> Option<String> {
    if let Some(rest) = metric.strip_prefix("lock_row_lock_") {
        return Some(format!("Innodb_row_lock_{rest}"));
    }
    if metric.starts_with("buffer_pool_") {
        return Some(format!("Innodb_{metric}"));
    }
    let rest = metric.strip_prefix("dml_")?;
    let kind = ["inserts", "updates", "deletes", "reads"].iter().position(|kind| *kind == rest)?;
    let names = ["inserted", "updated", "deleted", "read"];
    Some(format!("Innodb_rows_{}", names[kind]))
}

/// The names of all counters.
pub fn metric_names() -> impl Iterator<Item = &'static str> {
    let lines = include_str!("metrics.txt").lines();
    lines.filter_map(|line| line.split('\t').next()).filter(|name| !name.is_empty())
}

/// INNODB_METRICS: all counters, those that have a status counter with its value.
pub(super) fn metrics(info: &Information<'_>, rows: &mut Rows) {
    if !info.access.global.has(Privileges::PROCESS) {
        return;
    }
    let counted: HashMap<String, String> =
        values(info.db, info.counters, VarScope::Global).into_iter().collect();
    let started = info.moment(info.db.started());
    for line in include_str!("metrics.txt").lines() {
        let mut words = line.split('\t');
        let mut word = || words.next().unwrap_or_default();
        let (name, subsystem, enabled, kind, comment) = (word(), word(), word(), word(), word());
        if comment.is_empty() {
            continue;
        }
        let on = enabled == "+";
        let value = status_of(name).and_then(|status| counted.get(&status)?.parse::<i64>().ok());
        let count = match name {
            "buffer_pool_size" => (info.db.engine.pool_stats().total * PAGE) as i64,
            _ => value.filter(|_| on).unwrap_or_default(),
        };
        let none = || Value::Null;
        let most = if on { Value::Int(count) } else { Value::Null };
        let mut row = row![name, subsystem, count, most.clone(), none(), none(), count, most];
        row.extend(row![none(), none()]);
        row.push(if on { started.clone() } else { Value::Null });
        row.extend(row![none(), none(), none()]);
        row.extend(row![if on { "enabled" } else { "disabled" }, kind, comment]);
        rows.push(row);
    }
}

pub(super) fn server_cost(info: &Information<'_>, rows: &mut Rows) {
    const COSTS: [(&str, f64); 6] = [
        ("disk_temptable_create_cost", 20.0),
        ("disk_temptable_row_cost", 0.5),
        ("key_compare_cost", 0.05),
        ("memory_temptable_create_cost", 1.0),
        ("memory_temptable_row_cost", 0.1),
        ("row_evaluate_cost", 0.1),
    ];
    let since = info.moment(info.db.started());
    for (name, cost) in COSTS {
        rows.push(row![name, Value::Null, since.clone(), Value::Null, cost]);
    }
}

pub(super) fn engine_cost(info: &Information<'_>, rows: &mut Rows) {
    let since = info.moment(info.db.started());
    for (name, cost) in [("io_block_read_cost", 1.0), ("memory_block_read_cost", 0.25)] {
        let mut row = row!["default", 0i64, name, Value::Null, since.clone()];
        row.extend(row![Value::Null, cost]);
        rows.push(row);
    }
}
