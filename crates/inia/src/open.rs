//! Opening a database by its settings: how much memory it takes, and what its variables show.

use crate::config::{Config, MIN_WORK_MEMORY};
use crate::data_dir::DataDir;
use inia_sql::{Database, DatabaseOptions};
use std::path::Path;
use std::sync::Arc;

/// The least memory for pages that is taken unless asked otherwise.
const MIN_POOL: u64 = 64 << 20;
/// With less than this no database works.
const SMALLEST_POOL: u64 = 5 << 20;

/// Opens the database in a directory.
pub(crate) fn open(
    data: &DataDir,
    config: &Config,
    background: bool,
) -> Result<Arc<Database>, String> {
    let dir = data.path();
    let buffer_pool_size = pool_size(config.buffer_pool_size, machine_memory())?;
    let options = DatabaseOptions { buffer_pool_size, background };
    let database = Database::open(data.disk(), options)
        .map_err(|error| format!("cannot open the database in {}: {error}", dir.display()))?;
    let memory = config.work_memory.or_else(|| machine_memory().map(|memory| memory / 4));
    database.memory().set_limit(memory.unwrap_or(0).max(MIN_WORK_MEMORY));
    let place = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    let log_error = config.log_error.as_deref();
    let log_error = log_error.map_or("stderr".into(), |path| path.display().to_string());
    let socket = config.socket.as_deref().map(|path| path.display().to_string());
    database.announce(&[
        ("log_error", log_error),
        ("innodb_buffer_pool_size", buffer_pool_size.to_string()),
        ("pid_file", format!("{}/inia.pid", place.display())),
        ("max_connections", config.max_connections.to_string()),
        ("max_allowed_packet", config.max_allowed_packet.to_string()),
        ("connect_timeout", config.connect_timeout.to_string()),
        ("wait_timeout", config.wait_timeout.to_string()),
        ("secure_file_priv", config.secure_file_priv.clone().unwrap_or_else(|| "NULL".into())),
        ("socket", socket.unwrap_or_default()),
        ("datadir", format!("{}/", place.display())),
        ("general_log_file", format!("{}/localhost.log", place.display())),
        ("slow_query_log_file", format!("{}/localhost-slow.log", place.display())),
    ]);
    Ok(database)
}

/// The pool's size: what is asked for, or a quarter of the machine's memory, in bytes, where that
/// is known. An error says when what is asked for is too little, or more than there is.
fn pool_size(asked: Option<u64>, memory: Option<u64>) -> Result<u64, String> {
    match (asked, memory) {
        (Some(asked), _) if asked < SMALLEST_POOL => Err(format!(
            "a buffer pool of {asked} bytes is too small; --buffer-pool-size takes {} MB or more",
            SMALLEST_POOL >> 20
        )),
        (Some(asked), Some(memory)) if asked > memory => Err(format!(
            "a buffer pool of {} MB does not fit into this machine's memory of {} MB; \
             give a smaller --buffer-pool-size, or none for a quarter of the memory",
            asked >> 20,
            memory >> 20
        )),
        (Some(asked), _) => Ok(asked),
        (None, memory) => Ok((memory.unwrap_or(0) / 4).max(MIN_POOL)),
    }
}

/// Bytes of memory that this process may have: the machine's, or less where its control group is
/// limited.
fn machine_memory() -> Option<u64> {
    [physical_memory(), group_memory()].into_iter().flatten().min()
}

/// The least limit of the process's control group and those above it.
fn group_memory() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    groups.lines().filter_map(least_limit).min()
}

/// The limit by one line of `/proc/self/cgroup`: number, controllers and path, between colons. The
/// second version has no controllers.
fn least_limit(line: &str) -> Option<u64> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?);
    let (root, file) = match controllers {
        "" => ("/sys/fs/cgroup", "memory.max"),
        "memory" => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        _ => return None,
    };
    let inner = Path::new(path.trim_start_matches('/'));
    let limits = inner.ancestors().filter_map(|group| {
        let text = std::fs::read_to_string(Path::new(root).join(group).join(file)).ok()?;
        text.trim().parse::<u64>().ok()
    });
    limits.min()
}

fn physical_memory() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = info
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kib.map(|kib| kib * 1024)
}

#[cfg(test)]
mod tests;
