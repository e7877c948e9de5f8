//! The server is killed in the middle of bulk statements of several clients, and nothing is there
//! by half.
//!
//! Tables hold pairs: rows `(id, 0)` and `(id, 1)` whose balances add up to nothing. Every
//! statement keeps that so, also those on whole tables:
//!
//! ```text
//!   INSERT of many pairs       UPDATE: + 5 on one side, - 5 on the other      DELETE of all pairs
//! ```
//!
//! One such table is everybody's, another each client's own. A transaction changes some of them,
//! with savepoints and rollbacks to them, takes AUTO_INCREMENT numbers, and notes in a ledger what
//! the client's own table is at the end. Others define indexes and columns, or read at every
//! isolation level. In some rounds files may hardly grow, and statements fail for want of space.
//! Then the server is killed, perhaps once more during recovery, and afterwards:
//!
//! - the ledger has what was acknowledged, and at most one transaction more of each client;
//! - each client's own table is what its last entry says, by every index;
//! - pairs are pairs, numbers belong to entries, children have parents;
//! - no acknowledged number is given out again, and acknowledged definitions are there;
//! - CHECK TABLE ... EXTENDED finds nothing.
//!
//! `INIA_ROUNDS=100` kills a hundred times instead of twice, `INIA_SEED` makes another run of it,
//! and `INIA_SERVER` names the program to be killed.

mod verify;
mod work;

use crate::process::{DataDir, Process, program};
use inia_base::value::Value;
use inia_testkit::Random;
use inia_wire::client::{Client, ClientError};
use std::collections::BTreeMap;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

const CLIENTS: usize = 5;
/// What a pair is, but for its key.
const PAIRS: &str = "id INT NOT NULL, side INT NOT NULL, code VARCHAR(40) NOT NULL, \
                     balance BIGINT NOT NULL, note VARCHAR(12000) NOT NULL";

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Why a statement has no answer.
#[derive(Debug)]
enum Stop {
    /// Others, or what is there, stood in its way.
    Refused(u16),
    /// There is no room on the disk.
    Full,
    /// The server is gone.
    Gone,
}

/// Lock waits, deadlocks, duplicates, foreign keys, a table that was defined anew.
const REFUSALS: [u16; 6] = [1205, 1213, 1062, 1451, 1452, 1412];
/// What is said where there is no room: of tables, commits and temporary files.
const FULL: [u16; 5] = [1114, 1030, 1180, 3, 1878];

struct Connection {
    client: Client<TcpStream>,
    /// The server's disk may be full.
    limited: bool,
}

impl Connection {
    fn new(server: &Process, limited: bool) -> Connection {
        let mut connection = Connection { client: server.client(), limited };
        for sql in [
            "SET SESSION innodb_lock_wait_timeout = 1, lock_wait_timeout = 1",
            "CREATE DATABASE IF NOT EXISTS bulk",
            "USE bulk",
        ] {
            connection.client.query(sql).unwrap();
        }
        connection
    }

    /// The rows as text, cells with spaces between them and rows with lines.
    fn ask(&mut self, sql: &str) -> Result<String, Stop> {
        let rows = match self.client.rows(sql) {
            Ok(rows) => rows,
            Err(ClientError::Server(error)) => {
                if REFUSALS.contains(&error.code) {
                    return Err(Stop::Refused(error.code));
                }
                // Where a file could not be written at all nothing is until the next start.
                let full = [" 28 ", "no space left"].map(|text| error.message.contains(text));
                let other = full == [false; 2] && matches!(error.code, 1030 | 1180);
                let full = FULL.contains(&error.code) && !other;
                assert!(full && self.limited, "{sql:.300}: {} {}", error.code, error.message);
                return Err(Stop::Full);
            }
            Err(_) => return Err(Stop::Gone),
        };
        let cell = |value: &Value| match value {
            Value::Text(text) => text.clone(),
            Value::Null => "NULL".to_owned(),
            other => format!("{other:?}"),
        };
        let row = |row: &Vec<Value>| row.iter().map(cell).collect::<Vec<_>>().join(" ");
        Ok(rows.iter().map(row).collect::<Vec<_>>().join("\n"))
    }

    /// As [`Connection::ask`], where nothing is in the way.
    fn sure(&mut self, sql: &str) -> String {
        self.ask(sql).unwrap_or_else(|stop| panic!("{sql:.300}: {stop:?}"))
    }

    fn number(&mut self, sql: &str) -> u64 {
        let text = self.sure(sql);
        text.parse().unwrap_or_else(|_| panic!("{sql:.300}: {text}"))
    }
}

/// Number of rows and a checksum of all there is in them.
fn checksum(table: &str) -> String {
    format!(
        "SELECT COUNT(*), COALESCE(SUM(CRC32(CONCAT_WS(',', id, side, code, balance, note))), 0) \
         FROM {table}"
    )
}

/// What was acknowledged.
#[derive(Default)]
struct Acknowledged {
    /// The last transaction of each client.
    transactions: [AtomicU64; CLIENTS],
    /// The greatest AUTO_INCREMENT number.
    number: AtomicU64,
    /// Whether a table has its extra index or column. Nothing is known while that is changed.
    defined: Mutex<BTreeMap<(String, &'static str), bool>>,
    /// How many transactions and definitions have found no space.
    full: AtomicU64,
}

fn set_up(server: &Process) {
    let mut connection = Connection::new(server, false);
    let mut pairs = vec!["pairs".to_owned()];
    pairs.extend((0..CLIENTS).map(|client| format!("pairs{client}")));
    for table in pairs {
        connection.sure(&format!(
            "CREATE TABLE {table} ({PAIRS}, PRIMARY KEY (id, side), UNIQUE KEY code (code), \
             KEY balance (balance, note(30)))"
        ));
    }
    for sql in [
        "CREATE TABLE digits (d INT PRIMARY KEY)",
        "INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)",
        "CREATE TABLE numbers (id BIGINT AUTO_INCREMENT PRIMARY KEY, client INT NOT NULL, \
         n BIGINT NOT NULL, part INT NOT NULL, UNIQUE KEY entry (client, n, part))",
        "CREATE TABLE ledger (client INT, n BIGINT, parts INT, first BIGINT, pairs BIGINT, \
         checksum DECIMAL(40), PRIMARY KEY (client, n))",
        "CREATE TABLE ballast (id INT AUTO_INCREMENT PRIMARY KEY, filler LONGTEXT)",
        "CREATE TABLE parents (id INT PRIMARY KEY, v INT NOT NULL, KEY v (v))",
        "CREATE TABLE children (id BIGINT AUTO_INCREMENT PRIMARY KEY, parent INT NOT NULL, \
         v INT NOT NULL, KEY parent (parent), FOREIGN KEY (parent) REFERENCES parents (id) \
         ON DELETE CASCADE ON UPDATE CASCADE)",
    ] {
        connection.sure(sql);
    }
}

/// Takes the space that files have in advance.
fn fill(server: &Process) {
    let mut connection = Connection::new(server, true);
    let more = "INSERT INTO ballast (filler) SELECT REPEAT('x', 9000) FROM digits a, digits b";
    while connection.ask(more).is_ok() {}
}

/// The program, its data, and what it has acknowledged.
struct World {
    folder: DataDir,
    /// Where LOAD DATA finds its files.
    files: PathBuf,
    acknowledged: Acknowledged,
    random: Random,
}

impl World {
    fn new(seed: u64) -> World {
        let folder = DataDir::new();
        let files = folder.path().with_file_name("files");
        std::fs::create_dir_all(&files).unwrap();
        let (acknowledged, random) = (Acknowledged::default(), Random::new(seed));
        World { folder, files, acknowledged, random }
    }

    /// Starts the server; files may become larger than they are by so many bytes only.
    fn start(&mut self, room: Option<u64>) -> Process {
        let pool = *self.random.pick(&["5M", "8M", "128M"]);
        let (data, files) = (self.folder.path(), self.files.to_str().unwrap());
        let options = ["--buffer-pool-size", pool, "--secure-file-priv", files];
        let Some(room) = room else { return Process::start(&data, &options) };
        // Segments of the log are made whole, and may be larger than the data.
        let files = std::fs::read_dir(&data).unwrap().map(|file| file.unwrap().metadata().unwrap());
        let largest = files.map(|file| file.len()).max().unwrap();
        // The first ones, and the doublewrite file, take less than this.
        Process::start_limited((largest.max(4 << 20) + room) / 512, &data, &options)
    }

    /// Lets clients work until they have committed so many transactions, or got so many errors that
    /// the disk is full, then kills the server.
    fn work_and_kill(&mut self, server: Process, limited: bool, commits: u64) {
        let (done, over) = (AtomicU64::new(0), AtomicBool::new(false));
        let mut seed = || self.random.next_u64();
        let seeds: [u64; CLIENTS + 4] = std::array::from_fn(|_| seed());
        let (acknowledged, files, done, over) = (&self.acknowledged, &self.files, &done, &over);
        thread::scope(|scope| {
            let mut threads = Vec::new();
            for (who, seed) in seeds.into_iter().enumerate() {
                let connection = Connection::new(&server, limited);
                threads.push(scope.spawn(move || {
                    let random = Random::new(seed);
                    let mut worker = work::Worker { who, connection, random, files, acknowledged };
                    match who {
                        0..CLIENTS => worker.transactions(who, done),
                        CLIENTS => worker.definitions(),
                        _ => worker.read_on(),
                    }
                    assert!(over.load(Ordering::SeqCst), "the server ended before it was killed");
                }));
            }
            let alive = |threads: &[thread::ScopedJoinHandle<'_, ()>]| {
                threads.iter().all(|thread| !thread.is_finished())
            };
            while done.load(Ordering::SeqCst) < commits && alive(&threads) {
                thread::yield_now();
            }
            over.store(true, Ordering::SeqCst);
            server.kill();
        });
    }

    /// What `inia check` says of the data.
    fn check(&self) {
        let checked = Command::new(program()).arg("check").arg(self.folder.path()).output();
        let checked = checked.unwrap();
        let said = String::from_utf8_lossy(&checked.stdout);
        assert!(checked.status.success(), "inia check: {said}");
    }
}

#[test]
fn bulk_statements_of_several_clients_survive_sigkill() {
    let seed = setting("INIA_SEED", 1);
    let mut world = World::new(seed);
    let mut server = world.start(None);
    set_up(&server);
    for round in 0..setting("INIA_ROUNDS", 2) {
        let commits = 10 + world.random.below(100);
        let limited = world.random.chance(1, 4);
        if limited {
            server.kill();
            let room = world.random.below(128 << 10);
            server = world.start(Some(room));
            fill(&server);
        }
        world.work_and_kill(server, limited, commits);
        // Killed again while it recovers, or just after; or recovered by `inia check`.
        match world.random.below(4) {
            0 => world.start(None).kill(),
            1 => world.check(),
            _ => {}
        }
        server = world.start(None);
        let trims = world.random.chance(1, 2);
        verify::all_is_whole(&mut Connection::new(&server, false), &world.acknowledged, trims);
        let last = world.acknowledged.transactions.each_ref().map(|n| n.load(Ordering::SeqCst));
        let full = world.acknowledged.full.load(Ordering::SeqCst);
        println!(
            "seed {seed}, round {round}: good after {last:?} transactions, {full} without room"
        );
    }
    server.kill();
    world.check();
}
