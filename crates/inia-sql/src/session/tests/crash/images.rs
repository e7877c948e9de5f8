//! What crashes leave.

use super::model::{Index, Table, Tables};
use super::run::{Allowed, Run};
use super::{TestSession, open, seeds, session};
use crate::check::check_database;
use inia_query::catalog::IndexKind;
use inia_query::database::Database;
use inia_testkit::{Fault, Random, SimDisk, When};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

/// A disk as a crash left it, and what may be on it.
pub(super) struct Image {
    pub(super) disk: SimDisk,
    pub(super) allowed: Vec<Tables>,
    pub(super) label: String,
    pub(super) number: u64,
}

/// The tables there are, those of the clients' own databases under names with a dot, and these
/// databases themselves as tables without columns: their definitions from the catalog, their rows
/// by SELECT.
pub(super) fn found(db: &Arc<Database>) -> Tables {
    let catalog = db.catalog().current();
    let mut session = session(db);
    let mut tables = Tables::default();
    for (database, schema) in &catalog.schemas {
        let place = match database.as_str() {
            "test" => String::new(),
            "adb" | "bdb" => format!("{database}."),
            _ => continue,
        };
        if !place.is_empty() {
            tables.0.insert(place.clone(), Arc::default());
        }
        for (name, table) in &schema.tables {
            let name = format!("{place}{name}");
            let held = read(&mut session, &name, table);
            tables.0.insert(name, Arc::new(held));
        }
    }
    tables
}

/// What a table holds.
fn read(session: &mut TestSession, name: &str, table: &inia_query::catalog::Table) -> Table {
    let def = &table.def;
    let column = |at: usize| def.columns[at].name.clone();
    let mut indexes = BTreeMap::new();
    for index in def.indexes.iter().filter(|index| index.kind != IndexKind::Primary) {
        let columns = index.parts.iter().map(|part| column(part.column)).collect();
        let unique = index.kind == IndexKind::Unique;
        indexes.insert(index.name.clone(), Index { columns, unique });
    }
    let mut rows = BTreeMap::new();
    for line in session.ok(&format!("SELECT * FROM {name}")).lines() {
        let mut cells = line.split('|');
        let id: i64 = cells.next().unwrap().parse().unwrap();
        let cells = cells.map(|cell| (cell != "NULL").then(|| cell.into())).collect();
        assert!(rows.insert(id, cells).is_none(), "{name} has two rows {id}");
    }
    let columns = (1..def.columns.len()).map(column).collect();
    let primary = def.primary().is_some();
    Table { columns, primary, auto: None, indexes, rows }
}

/// The tables without what no catalog has.
fn plain(tables: &Tables) -> Tables {
    let mut plain = tables.clone();
    for table in plain.0.values_mut().filter(|table| table.auto.is_some()) {
        Arc::make_mut(table).auto = None;
    }
    plain
}

/// Checks a database, whose sessions are gone; which of the allowed states it is in.
#[track_caller]
pub(super) fn check(db: &Arc<Database>, allowed: &[Tables], label: &str) -> usize {
    while db.engine.background_step().unwrap() {}
    let problems = check_database(db).unwrap();
    assert_eq!(problems, Vec::<String>::new(), "{label}");
    let found = found(db);
    let differences: Vec<String> =
        allowed.iter().map_while(|tables| plain(tables).difference(&found)).collect();
    assert!(differences.len() < allowed.len(), "{label}: {differences:#?}");
    differences.len()
}

/// Work after a recovery: rows in every table, a table made, changed and dropped. False where the
/// tables are not made yet.
fn go_on(db: &Arc<Database>, tables: &Tables) -> bool {
    let mut session = session(db);
    if !tables.0.contains_key("aauto") {
        return false;
    }
    session.ok("BEGIN");
    session.ok("INSERT INTO aauto (s) VALUES ('later'), ('later')");
    session.ok("UPDATE aparent SET s = 'later'");
    session.ok("COMMIT");
    assert_eq!(session.ok("SELECT COUNT(*) FROM aauto WHERE s = 'later'"), "2\n");
    session.ok("CREATE TABLE later (id INT PRIMARY KEY, s VARCHAR(9000), KEY s (s(30)))");
    session.ok("INSERT INTO later VALUES (1, REPEAT('x', 9000)), (2, 'b'), (3, 'c')");
    session.ok("ALTER TABLE later ADD COLUMN n INT DEFAULT 5");
    session.ok("DELETE FROM later WHERE id = 2");
    assert_eq!(session.ok("SELECT id, n FROM later"), "1|5\n3|5\n");
    session.ok("DROP TABLE later");
    true
}

/// Opens an image, after recoveries that were stopped themselves, and checks it; whether work went
/// on in it.
fn examine(image: Image) -> bool {
    let Image { mut disk, allowed, label, number } = image;
    if number % 2 == 1 {
        disk.inject(When::Change(1 + number * 7 % 29), Fault::Crash);
        if let Ok(db) = open(&disk) {
            while db.engine.background_step().unwrap_or(false) {}
        }
        disk = disk.crash(number + 1);
    }
    let db = open(&disk).unwrap_or_else(|error| panic!("{label}: {error}"));
    let state = check(&db, &allowed, &label);
    let mut worked = false;
    if number.is_multiple_of(5) {
        worked = go_on(&db, &allowed[state]);
        while db.engine.background_step().unwrap() {}
        assert_eq!(check_database(&db).unwrap(), Vec::<String>::new(), "{label}");
        // What was acknowledged just now is there after another crash, and the rest as before.
        let copy = disk.crash(number);
        drop(db);
        let db = open(&copy).unwrap_or_else(|error| panic!("{label}, again: {error}"));
        let tables = &allowed[state];
        let again = found(&db);
        let untouched = |name: &&String| !name.ends_with("auto") && !name.ends_with("parent");
        for name in tables.0.keys().filter(untouched) {
            assert!(plain(tables).0[name] == again.0[name], "{label}, again: {name}");
        }
    }
    worked
}

/// Sends what a crash at every `stride`-th change would leave.
fn send_images(disk: &SimDisk, allowed: Allowed, seed: u64, stride: u64, to: SyncSender<Image>) {
    disk.set_tap(Some(Box::new(move |change, crash| {
        if !(change + seed).is_multiple_of(stride) {
            return;
        }
        let (allowed, sql) = allowed.lock().unwrap().clone();
        let number = change / stride + seed;
        let label = format!("seed {seed}, change {change}: {sql:.200}");
        // The examiners have gone only where one of them has failed.
        let _ = to.send(Image { disk: crash(number), allowed, label, number });
    })));
}

/// Runs a workload and examines what crashes in it would leave; how many of them, and in how many
/// work went on.
fn run(seed: u64, steps: usize, stride: u64) -> (u64, u64) {
    let disk = SimDisk::new();
    let db = open(&disk).unwrap();
    let mut run = Run::new(&db, Default::default(), Random::new(seed));
    let (examined, worked_on) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let (to, images) = sync_channel(8);
        let images = Arc::new(Mutex::new(images));
        for _ in 0..2 {
            let (images, examined, worked_on) = (images.clone(), &examined, &worked_on);
            scope.spawn(move || {
                loop {
                    let Ok(image) = images.lock().unwrap().recv() else { break };
                    worked_on.fetch_add(examine(image).into(), Ordering::Relaxed);
                    examined.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        drop(images);
        run.set_up();
        send_images(&disk, run.allowed.clone(), seed, stride, to);
        for number in 0..steps {
            let result = run.step();
            if let Err(failed) = result {
                let (sql, answer) = (failed.step.sql, failed.answer);
                panic!("seed {seed}, step {number}: {sql:.200}: {answer}");
            }
        }
        disk.set_tap(None);
    });
    let committed = run.committed();
    drop(run);
    check(&db, &[committed], "at the end");
    (examined.into_inner(), worked_on.into_inner())
}

#[test]
fn every_crash_leaves_what_was_acknowledged_and_nothing_by_half() {
    let (mut images, mut worked_on) = (0, 0);
    for seed in 1..=4 * seeds() {
        let (some, with_work) = run(seed, 300, 1);
        (images, worked_on) = (images + some, worked_on + with_work);
    }
    assert!(images >= 1500, "{images} crash points");
    assert!(worked_on * 6 >= images, "work went on in {worked_on} of {images}");
}
