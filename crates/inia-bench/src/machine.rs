//! What the operating system knows: processes, their processor time and memory, CPU sets.
//!
//! Everything comes from `/proc`, so it works for servers on this machine only; for others the
//! figures are absent.

use crate::record::Machine;
use crate::target::url::Host;
use nix::errno::Errno;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::io::Read;
use std::net::{IpAddr, ToSocketAddrs};
use std::path::Path;
use std::sync::OnceLock;

/// Ticks of `/proc/*/stat` per second; Linux has promised 100 to programs since forever.
const TICKS: u64 = 100;
/// More than `/proc/*/stat` has bytes, so that one call reads it.
const SHORT_FILE: usize = 1024;

/// This machine, as it was when first asked for: this process may give up processors later.
pub fn describe() -> Machine {
    static MACHINE: OnceLock<Machine> = OnceLock::new();
    MACHINE.get_or_init(look).clone()
}

fn look() -> Machine {
    let line = |path: &str, key: &str| {
        let text = fs::read_to_string(path).unwrap_or_default();
        let found = text.lines().find(|line| line.starts_with(key));
        found.and_then(|line| Some(line.split_once(':')?.1.trim().to_owned())).unwrap_or_default()
    };
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let memory = line("/proc/meminfo", "MemTotal");
    let kib: u64 = memory.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0);
    Machine {
        os: format!("{} {}", std::env::consts::OS, kernel.trim()),
        cpu: line("/proc/cpuinfo", "model name"),
        cores: std::thread::available_parallelism().map_or(1, |n| n.get()),
        memory: kib * 1024,
        lab: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// Processor time of this process in nanoseconds.
pub fn own_cpu() -> u64 {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map_or(0, nanos)
}

fn nanos(time: nix::sys::time::TimeSpec) -> u64 {
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

/// A line of `/proc/*/stat` as far as it matters.
struct Stat {
    parent: u32,
    /// Of the process itself, in ticks.
    own: u64,
    /// Of children that have ended.
    reaped: u64,
    /// Ticks from the system's start to the process's.
    started: u64,
}

fn stat(pid: u32) -> Option<Stat> {
    let mut text = String::with_capacity(SHORT_FILE);
    // Without `take` its size, which it does not know, would be asked for.
    let file = File::open(format!("/proc/{pid}/stat")).ok()?;
    file.take(SHORT_FILE as u64 - 1).read_to_string(&mut text).ok()?;
    // The name in parentheses may hold anything.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |i: usize| fields.get(i)?.parse::<u64>().ok();
    Some(Stat {
        parent: number(1)? as u32,
        own: number(11)? + number(12)?,
        reaped: number(13)? + number(14)?,
        started: number(19)?,
    })
}

/// A process and its living descendants.
pub fn family(pid: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> =
        all_processes().filter_map(|child| Some((child, stat(child)?.parent))).collect();
    let (mut found, mut at) = (vec![pid], 0);
    while let Some(&parent) = found.get(at) {
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(child, _)| *child));
        at += 1;
    }
    found
}

fn all_processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// How often a family is counted anew because a child ended meanwhile.
const LOOKS: usize = 100;

/// Processor time of a process and its children, dead or alive, in nanoseconds.
///
/// A child that ends moves its time to its parent's sum of ended children. To count it neither
/// twice nor not at all, the family must be the same before and after its times were read.
pub fn server_cpu(pid: u32) -> Option<u64> {
    stat(pid)?;
    let mut members = family(pid);
    let mut most = 0;
    for _ in 0..LOOKS {
        let time = |&pid: &u32| stat(pid).map_or(0, |times| spent(pid, &times));
        most = most.max(members.iter().map(time).sum());
        let now = family(pid);
        if now == members {
            break;
        }
        members = now;
    }
    Some(most)
}

fn spent(pid: u32, times: &Stat) -> u64 {
    precise(pid, times) + times.reaped * 1_000_000_000 / TICKS
}

/// By the process's own clock where the system lets us read it, else by ticks.
fn precise(pid: u32, times: &Stat) -> u64 {
    let clock = ClockId::pid_cpu_clock_id(Pid::from_raw(pid as i32));
    clock.and_then(clock_gettime).map_or(times.own * 1_000_000_000 / TICKS, nanos)
}

/// Resident memory of a process and its children: what is shared counts once.
pub fn server_rss(pid: u32) -> Option<u64> {
    let rss = |pid: u32, key: &str| -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        line.trim_start_matches(':').split_whitespace().next()?.parse::<u64>().ok()
    };
    let shared = |pid| Some(rss(pid, "RssShmem")? + rss(pid, "RssFile")?);
    let processes = family(pid);
    let private: u64 = processes.iter().filter_map(|&pid| rss(pid, "RssAnon")).sum();
    let common = processes.iter().filter_map(|&pid| shared(pid)).max();
    rss(pid, "VmRSS")?;
    Some((private + common.unwrap_or(0)) * 1024)
}

/// Busy and idle time of all processors since boot, in nanoseconds. Interrupts are left out of
/// `busy`: the network's belong to those who talk.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemTimes {
    /// In processes.
    pub busy: u64,
    /// Idle, or waiting for a disk.
    pub idle: u64,
    /// Everything.
    pub total: u64,
}

/// The machine's times now.
pub fn system_times() -> SystemTimes {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let line = text.lines().next().unwrap_or_default();
    let ticks: Vec<u64> = line.split_whitespace().skip(1).flat_map(str::parse).collect();
    let tick = |i: usize| ticks.get(i).copied().unwrap_or(0) * (1_000_000_000 / TICKS);
    SystemTimes {
        busy: tick(0) + tick(1) + tick(2),
        idle: tick(3) + tick(4),
        total: (0..8).map(tick).sum(),
    }
}

/// The process that listens at this place, if it is on this machine.
pub fn listening_process(host: &Host) -> Option<u32> {
    let inodes = match host {
        Host::Unix(path) => unix_inodes(path),
        Host::Tcp(name, port) => {
            let local = (name.as_str(), *port).to_socket_addrs().ok()?.any(|a| is_local(a.ip()));
            if !local {
                return None;
            }
            tcp_inodes(*port)
        }
    };
    let owner = |pid: u32| {
        let held = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten();
        let mut links = held.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
        links.any(|link| {
            let name = link.to_string_lossy();
            inodes.iter().any(|inode| name == format!("socket:[{inode}]").as_str())
        })
    };
    if inodes.is_empty() {
        return None;
    }
    eldest(all_processes().filter(|&pid| owner(pid)).collect())
}

/// Of the processes that hold a server's socket, the one that the others come from. A server that
/// forks hands the socket on, and numbers of processes start anew when they have run out.
fn eldest(owners: Vec<u32>) -> Option<u32> {
    let times = owners.iter().filter_map(|&pid| Some((pid, stat(pid)?)));
    let parents = times.filter(|(_, times)| !owners.contains(&times.parent));
    parents.min_by_key(|(_, times)| times.started).map(|(pid, _)| pid)
}

fn is_local(address: IpAddr) -> bool {
    // Only an address of this machine can be bound.
    address.is_loopback() || std::net::UdpSocket::bind((address, 0)).is_ok()
}

fn tcp_inodes(port: u16) -> Vec<String> {
    let suffix = format!(":{port:04X}");
    let mut found = Vec::new();
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        for line in fs::read_to_string(table).unwrap_or_default().lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            // Local address, state 0A (listening), inode.
            if let [_, local, _, "0A", _, _, _, _, _, inode, ..] = fields.as_slice()
                && local.ends_with(&suffix)
            {
                found.push((*inode).to_owned());
            }
        }
    }
    found
}

fn unix_inodes(path: &str) -> Vec<String> {
    let text = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let lines = text.lines().filter(|line| line.ends_with(&format!(" {path}")));
    lines.filter_map(|line| line.split_whitespace().nth(6).map(str::to_owned)).collect()
}

/// Reads `0-3,6`.
pub fn parse_cpus(text: &str) -> Result<Vec<usize>, String> {
    let bad = || format!("'{text}' is not a list of processors such as 0-3,6");
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let low: usize = low.trim().parse().map_err(|_| bad())?;
        let high: usize = high.trim().parse().map_err(|_| bad())?;
        if low > high || high >= CpuSet::count() {
            return Err(bad());
        }
        cpus.extend(low..=high);
    }
    Ok(cpus)
}

/// The processors that this process may use.
pub fn processors() -> Vec<usize> {
    let set = sched_getaffinity(Pid::from_raw(0)).unwrap_or_else(|_| CpuSet::new());
    (0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap_or(false)).collect()
}

/// A process that has only some of its processors, until this is dropped.
#[derive(Debug)]
pub struct Bound {
    pid: u32,
    before: CpuSet,
}

/// Binds every thread of a process and of its children to these processors. Threads that start
/// later inherit it.
pub fn bind(pid: u32, cpus: &[usize]) -> Result<Bound, String> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        set.set(cpu).map_err(|error| format!("processor {cpu}: {error}"))?;
    }
    let before = sched_getaffinity(Pid::from_raw(pid as i32))
        .map_err(|error| format!("cannot ask for the processors of process {pid}: {error}"))?;
    set_family(pid, &set).map_err(|error| match error {
        Errno::EINVAL => format!("processors {cpus:?}: this machine has none of them"),
        error => format!("cannot bind process {pid} to processors {cpus:?}: {error}"),
    })?;
    Ok(Bound { pid, before })
}

impl Drop for Bound {
    fn drop(&mut self) {
        // It may have ended; it was ours to bind, so it is ours to set free.
        let _ = set_family(self.pid, &self.before);
    }
}

fn set_family(pid: u32, set: &CpuSet) -> nix::Result<()> {
    for process in family(pid) {
        let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten();
        let ids = tasks.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
        for id in ids {
            match sched_setaffinity(Pid::from_raw(id), set) {
                // The thread has ended meanwhile.
                Ok(()) | Err(Errno::ESRCH) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

/// Bytes free on the file system of a path, for us.
pub fn free_space(path: &Path) -> Option<u64> {
    let found = nix::sys::statvfs::statvfs(path).ok()?;
    Some(found.blocks_available() as u64 * found.fragment_size() as u64)
}

#[cfg(test)]
mod tests;
