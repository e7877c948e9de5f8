//! Settings of the server: defaults, then the options file, then the command line.
//!
//! The options file has lines `name = value` with the names of the command line's options. It may
//! be MySQL's `my.cnf`, too:
//!
//! ```text
//! # inia.conf                         # my.cnf
//! data = "/var/lib/inia"              [mysqld]
//! port = 3306                         datadir = /var/lib/inia
//! buffer-pool-size = 4G               innodb_buffer_pool_size = 4G
//!                                     sql_mode = ANSI
//! ```
//!
//! Any other option that has the name of a system variable is kept for when the database is open.

use std::ops::RangeInclusive;
use std::path::PathBuf;

/// With less memory for statements than this the server is of no use.
pub(crate) const MIN_WORK_MEMORY: u64 = 32 << 20;
/// How long the longest packet may be, in bytes.
const PACKET_SIZES: RangeInclusive<usize> = 1 << 10..=1 << 30;

/// Every option of `inia serve`.
///
/// Wide: one field for each option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Data directory.
    pub data: PathBuf,
    /// The database is in memory and ends with the server; there is no directory.
    pub in_memory: bool,
    /// Address to listen on.
    pub host: String,
    /// TCP port; 0 lets the system choose.
    pub port: u16,
    /// Path of a Unix socket to listen on, too.
    pub socket: Option<PathBuf>,
    /// Bytes of page frames; `None` is a quarter of the machine's memory.
    pub buffer_pool_size: Option<u64>,
    /// Bytes that statements may hold; `None` is a quarter of the machine's memory.
    pub work_memory: Option<u64>,
    /// The directory that LOAD DATA reads from and INTO OUTFILE writes to; empty for any.
    pub secure_file_priv: Option<String>,
    /// Connections at once.
    pub max_connections: usize,
    /// Longest packet a client may send.
    pub max_allowed_packet: usize,
    /// Seconds that a login may take.
    pub connect_timeout: u64,
    /// Seconds that a connection may be idle.
    pub wait_timeout: u64,
    /// The file of the error log; `None` for standard error.
    pub log_error: Option<PathBuf>,
    /// System variables to begin with, in the order in which they were given.
    pub variables: Vec<Variable>,
}

/// A system variable that the server begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name, with `-` or `_`.
    pub name: String,
    /// Its value, `None` where only the name was given.
    pub value: Option<String>,
    /// Where it was given, for messages.
    pub place: String,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            data: PathBuf::from("inia-data"),
            in_memory: false,
            host: "127.0.0.1".to_owned(),
            port: 3306,
            socket: None,
            buffer_pool_size: None,
            work_memory: None,
            secure_file_priv: None,
            max_connections: 10_000,
            max_allowed_packet: 64 << 20,
            connect_timeout: 10,
            wait_timeout: 28_800,
            log_error: None,
            variables: Vec::new(),
        }
    }
}

/// An option: its name, what stands for its value in the help, and its description.
pub struct OptionInfo {
    /// Name on the command line (after `--`) and in the options file.
    pub name: &'static str,
    /// Placeholder of the value.
    pub value: &'static str,
    /// One line of help.
    pub help: &'static str,
}

const fn option(name: &'static str, value: &'static str, help: &'static str) -> OptionInfo {
    OptionInfo { name, value, help }
}

/// Every option that has the same name in the file and on the command line.
pub const OPTIONS: &[OptionInfo] = &[
    option("data", "DIR", "Data directory [default: ./inia-data]"),
    option("host", "ADDRESS", "Address to listen on [default: 127.0.0.1]"),
    option("port", "PORT", "TCP port, 0 for any free one [default: 3306]"),
    option("socket", "PATH", "Also listen on this Unix socket"),
    option("buffer-pool-size", "N[K|M|G]", "Memory for pages [default: a quarter of all memory]"),
    option("work-memory", "N[K|M|G]", "Memory for statements [default: a quarter of all memory]"),
    option("max-connections", "N", "Connections at once [default: 10000]"),
    option("max-allowed-packet", "N[K|M|G]", "Longest packet from a client [default: 64M]"),
    option("connect-timeout", "SECONDS", "Time a login may take [default: 10]"),
    option("secure-file-priv", "DIR", "Where LOAD DATA and INTO OUTFILE may go [default: nowhere]"),
    option("wait-timeout", "SECONDS", "Time a connection may be idle [default: 28800]"),
    option("log-error", "FILE", "Where the error log goes [default: standard error]"),
];

/// MySQL's names of options, and the names here.
#[cfg(feature = "program")]
const MYSQL_NAMES: [(&str, &str); 11] = [
    ("datadir", "data"),
    ("bind-address", "host"),
    ("port", "port"),
    ("socket", "socket"),
    ("innodb-buffer-pool-size", "buffer-pool-size"),
    ("secure-file-priv", "secure-file-priv"),
    ("max-connections", "max-connections"),
    ("max-allowed-packet", "max-allowed-packet"),
    ("connect-timeout", "connect-timeout"),
    ("wait-timeout", "wait-timeout"),
    ("log-error", "log-error"),
];

impl Config {
    /// Sets one option by its name.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "data" => self.data = PathBuf::from(value),
            "host" => self.host = value.to_owned(),
            "port" => self.port = number(name, value, u64::from(u16::MAX))? as u16,
            "socket" => self.socket = Some(PathBuf::from(value)),
            "buffer-pool-size" => self.buffer_pool_size = Some(size(name, value)?),
            "work-memory" => self.work_memory = Some(size(name, value)?),
            "secure-file-priv" => self.secure_file_priv = Some(value.to_owned()),
            "max-connections" => {
                self.max_connections = positive(name, value, 100_000)? as usize;
            }
            "max-allowed-packet" => {
                self.max_allowed_packet = size(name, value)? as usize;
            }
            "connect-timeout" => self.connect_timeout = positive(name, value, 31_536_000)?,
            "wait-timeout" => self.wait_timeout = positive(name, value, 31_536_000)?,
            "log-error" => self.log_error = Some(PathBuf::from(value)),
            unknown => {
                let names = OPTIONS.iter().map(|option| option.name);
                return Err(match nearest(unknown, names) {
                    Some(name) => format!("unknown option '{unknown}'; did you mean '{name}'?"),
                    None => format!("unknown option '{unknown}'"),
                });
            }
        }
        Ok(())
    }

    /// Whether the settings can be used: an error names the first that cannot.
    pub fn validate(&self) -> Result<(), String> {
        if !PACKET_SIZES.contains(&self.max_allowed_packet) {
            return Err(format!(
                "max-allowed-packet is {} bytes, but must be from 1K to 1G",
                self.max_allowed_packet
            ));
        }
        if self.work_memory.is_some_and(|size| size < MIN_WORK_MEMORY) {
            return Err(format!("work-memory must be {} MB or more", MIN_WORK_MEMORY >> 20));
        }
        let dir = self.secure_file_priv.as_deref().filter(|dir| !is_no_place(dir));
        match dir.map(|dir| (dir, std::fs::read_dir(dir))) {
            Some((dir, Err(error))) => {
                Err(format!("cannot use {dir} for secure-file-priv: {error}"))
            }
            _ => Ok(()),
        }
    }

    /// Takes the settings of an options file: those before any group and of `[inia]`, which must be
    /// known, by either name, and of `[mysqld]` and `[server]`, by MySQL's names. Unknown ones of
    /// the latter are returned. System variables are known in each.
    #[cfg(feature = "program")]
    pub(crate) fn read_file(&mut self, path: &std::path::Path) -> Result<Vec<String>, String> {
        let mut unknown = Vec::new();
        for option in crate::options_file::read(path)? {
            let at_place = |error: String| format!("{}: {error}", option.place);
            let value = option.value.as_deref();
            let strict = match option.group.as_str() {
                "" | "inia" => true,
                "mysqld" | "server" => false,
                _ => continue,
            };
            let name = option.name.strip_prefix("loose-").unwrap_or(&option.name);
            let own = match strict {
                true => own_name(name),
                false => MYSQL_NAMES.iter().find(|(theirs, _)| *theirs == name).map(|own| own.1),
            };
            match (own, value) {
                (Some(own), Some(value)) => self.set(own, value).map_err(at_place)?,
                (None, _) if inia_sql::is_start_variable(name) => self.variables.push(Variable {
                    name: name.to_owned(),
                    value: option.value,
                    place: option.place,
                }),
                (_, None) if strict => {
                    return Err(at_place(format!("'{name}' is not of the form name = value")));
                }
                (_, Some(value)) if strict => self.set(name, value).map_err(at_place)?,
                _ => unknown.push(option.name),
            }
        }
        Ok(unknown)
    }
}

/// The name here of an option that has this name here or in MySQL, with `-`.
#[cfg(feature = "program")]
pub(crate) fn own_name(name: &str) -> Option<&'static str> {
    let own = OPTIONS.iter().map(|option| option.name).find(|own| *own == name);
    own.or_else(|| MYSQL_NAMES.iter().find(|(theirs, _)| *theirs == name).map(|(_, own)| *own))
}

fn number(name: &str, value: &str, max: u64) -> Result<u64, String> {
    match value.parse::<u64>() {
        Ok(n) if n <= max => Ok(n),
        _ => Err(format!("'{value}' is not a number from 0 to {max} for option '{name}'")),
    }
}

fn positive(name: &str, value: &str, max: u64) -> Result<u64, String> {
    match number(name, value, max) {
        Ok(n) if n > 0 => Ok(n),
        _ => Err(format!("'{value}' is not a number from 1 to {max} for option '{name}'")),
    }
}

/// Whether a value of `secure-file-priv` names no directory: any place, or none.
fn is_no_place(dir: &str) -> bool {
    dir.is_empty() || dir.eq_ignore_ascii_case("NULL")
}

fn size(name: &str, value: &str) -> Result<u64, String> {
    let upper = value.to_ascii_uppercase();
    let upper = upper.strip_suffix('B').unwrap_or(&upper);
    let (digits, shift) = match upper.as_bytes().last() {
        Some(b'K') => (&upper[..upper.len() - 1], 10),
        Some(b'M') => (&upper[..upper.len() - 1], 20),
        Some(b'G') => (&upper[..upper.len() - 1], 30),
        _ => (upper, 0),
    };
    digits
        .trim()
        .parse::<u64>()
        .ok()
        .and_then(|n| n.checked_mul(1 << shift))
        .ok_or_else(|| format!("'{value}' is not a size such as 512M for option '{name}'"))
}

/// The name that differs least from `wanted`, if any is near.
fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = wanted.replace('_', "-").to_ascii_lowercase();
    names
        .map(|name| (distance(&wanted, name), name))
        .filter(|&(distance, name)| distance <= 1 + name.len() / 3)
        .min()
        .map(|(_, name)| name)
}

/// How many letters must be changed, added or left out.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &to) in b.iter().enumerate() {
            let changed = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
#[cfg(feature = "program")]
mod tests;
