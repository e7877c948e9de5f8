//! A large table goes while others work: a dropped table's pages are freed in steps, so that nobody
//! waits for all of them.
//!
//! ```text
//!   updates    ......|.................................................|   each is timed
//!   main             | DROP │ CREATE │ INSERT until there is a checkpoint |
//!   then             | DROP of another one, SHUTDOWN at once, start again |
//! ```
//!
//! `INIA_DROP_MIB=2048 INIA_SERVER=target/release/inia cargo test -p inia --test main drop_large --
//! --nocapture` prints how long each took, with tables of 2 GiB. The usual run has small ones, and
//! no checkpoint: the log is too short for it. Nothing is asserted of times.

use crate::process::{DataDir, Process};
use inia_wire::client::Client;
use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

type Connection = Client<TcpStream>;

/// Bytes of a row's filling; a MiB is a thousand rows.
const FILLING: u64 = 1000;
/// Rows that one statement inserts.
const ROWS: u64 = 16_000;
/// Tables of this size and more are followed by so much log that a checkpoint comes.
const MIN_FOR_CHECKPOINT: u64 = 256;
/// MiB of rows whose log brings a checkpoint: it comes after 32.
const LOG_MIB: u64 = 64;
/// Rows that are updated, by key.
const POINTS: u64 = 1000;
/// Updates before the drop, to compare with, and at least as many beside it.
const UPDATES: usize = 2000;

fn mib() -> u64 {
    std::env::var("INIA_DROP_MIB").ok().and_then(|text| text.parse().ok()).unwrap_or(8)
}

fn run(client: &mut Connection, sql: &str) {
    client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// Runs a statement; how long it took.
fn time(client: &mut Connection, sql: &str) -> Duration {
    let began = Instant::now();
    run(client, sql);
    began.elapsed()
}

fn connect(server: &Process) -> Connection {
    let mut client = server.client();
    run(&mut client, "CREATE DATABASE IF NOT EXISTS large");
    run(&mut client, "USE large");
    run(&mut client, "SET cte_max_recursion_depth = 1000000");
    client
}

/// Adds rows of so many MiB to a table that has those before `from`.
fn fill(client: &mut Connection, table: &str, from: u64, mib: u64) {
    let end = from + mib * 1000;
    for start in (from..end).step_by(ROWS as usize) {
        let last = (start + ROWS).min(end) - 1;
        run(
            client,
            &format!(
                "INSERT INTO {table} WITH RECURSIVE n AS (SELECT {start} AS i UNION ALL \
                 SELECT i + 1 FROM n WHERE i < {last}) SELECT i, i, REPEAT('x', {FILLING}) FROM n"
            ),
        );
    }
}

fn create(client: &mut Connection, table: &str) -> Duration {
    let columns = format!("id BIGINT PRIMARY KEY, k BIGINT, c VARCHAR({FILLING}), KEY (k)");
    time(client, &format!("CREATE TABLE {table} ({columns})"))
}

/// Updates one row after the other until `ends`, which is given their number; the times.
fn update(client: &mut Connection, ends: impl Fn(usize) -> bool) -> Vec<Duration> {
    let mut times = Vec::new();
    while !ends(times.len()) {
        let id = times.len() as u64 * 7919 % POINTS;
        times.push(time(client, &format!("UPDATE points SET k = k + 1 WHERE id = {id}")));
    }
    times
}

fn describe(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |thousandths: usize| times[(times.len() - 1) * thousandths / 1000];
    println!(
        "{what}: {} updates, median {:?}, 99 % {:?}, 99.9 % {:?}, longest {:?}",
        times.len(),
        at(500),
        at(990),
        at(999),
        at(1000)
    );
}

fn last_checkpoint(data: &Path) -> SystemTime {
    fs::metadata(data.join("inia.control")).unwrap().modified().unwrap()
}

/// Drops the table, makes another one, and fills that until there is a checkpoint.
fn drop_and_go_on(client: &mut Connection, data: &Path, mib: u64) {
    println!("DROP TABLE of {mib} MiB: {:?}", time(client, "DROP TABLE big"));
    let dropped = Instant::now();
    println!("CREATE TABLE right after: {:?}", create(client, "other"));
    if mib < MIN_FOR_CHECKPOINT {
        return fill(client, "other", 0, 1);
    }
    let before = last_checkpoint(data);
    let mut filled = 0;
    while last_checkpoint(data) == before {
        fill(client, "other", filled, 1);
        filled += 1000;
        assert!(filled <= LOG_MIB * 1000, "so much log, and no checkpoint");
    }
    let took = dropped.elapsed();
    println!("a checkpoint {took:?} after the drop, and {} MiB of rows", filled / 1000);
}

#[test]
fn others_go_on_while_a_large_table_goes() {
    let (folder, mib) = (DataDir::new(), mib());
    let server = Process::start(&folder.path(), &[]);
    let mut client = connect(&server);
    create(&mut client, "points");
    fill(&mut client, "points", 0, POINTS / 1000);
    create(&mut client, "big");
    fill(&mut client, "big", 0, mib);
    let mut updater = connect(&server);
    let least = if mib < MIN_FOR_CHECKPOINT { UPDATES } else { 10 * UPDATES };
    describe("before", update(&mut updater, |count| count == least));

    let over = AtomicBool::new(false);
    let times = thread::scope(|scope| {
        let updates = scope
            .spawn(|| update(&mut updater, |count| count >= least && over.load(Ordering::Relaxed)));
        drop_and_go_on(&mut client, &folder.path(), mib);
        over.store(true, Ordering::Relaxed);
        updates.join().unwrap()
    });
    describe("beside the drop", times);

    create(&mut client, "big");
    fill(&mut client, "big", 0, mib);
    run(&mut client, "DROP TABLE big");
    let began = Instant::now();
    run(&mut client, "SHUTDOWN");
    assert_eq!(server.wait(), Some(0), "the server closes cleanly");
    println!("SHUTDOWN right after a drop: {:?}", began.elapsed());

    let began = Instant::now();
    let server = Process::start(&folder.path(), &[]);
    let mut client = connect(&server);
    println!("start: {:?}", began.elapsed());
    let checks = client.rows("CHECK TABLE points, other EXTENDED").unwrap();
    assert!(checks.iter().all(|row| format!("{:?}", row[3]).contains("OK")), "{checks:?}");
    println!("CREATE TABLE after the start: {:?}", create(&mut client, "big"));
}
