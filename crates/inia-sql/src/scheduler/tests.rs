//! The scheduler on a clock that the tests move. They wait for runs, not for time.

use super::*;
use crate::session::tests::TestDb;
use inia_base::temporal::{DateRules, DateTime};
use std::sync::atomic::AtomicI64;

/// A clock that stands still until it is moved.
struct MovedClock(AtomicI64);

impl MovedClock {
    fn at(text: &str) -> Arc<MovedClock> {
        Arc::new(MovedClock(AtomicI64::new(seconds(text))))
    }

    fn move_to(&self, db: &Database, text: &str) {
        self.0.store(seconds(text), Ordering::SeqCst);
        db.events.notify();
    }
}

impl EventClock for MovedClock {
    fn now(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    fn wait(&self, watch: &EventWatch, seen: u64, until: Option<i64>) {
        if until.is_none_or(|until| until > self.now()) {
            watch.wait(seen, None);
        }
    }
}

fn seconds(text: &str) -> i64 {
    DateTime::parse(text, DateRules::STRICT).unwrap().value.to_unix()
}

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn note_line(level: Level, text: Arguments<'_>) {
    LINES.lock().push(format!("{level:?} {text}"));
}

/// Lines of the error log about an event.
fn lines_of(name: &str) -> Vec<String> {
    let all = LINES.lock();
    all.iter().filter(|line| line.contains(&format!(".{name}]"))).cloned().collect()
}

fn start(db: &TestDb, clock: &Arc<MovedClock>) -> EventScheduler {
    let scheduler = EventScheduler::start(db.database(), clock.clone(), note_line).unwrap();
    // It shows itself when it has looked at all events.
    while db.database().events.list().is_empty() {
        std::thread::yield_now();
    }
    scheduler
}

/// A database with a table for what events note, as seen at a moment.
fn prepared(now: &str) -> TestDb {
    let db = TestDb::new();
    let mut session = db.session();
    session.ok("CREATE TABLE noted (n INT)");
    session.ok("SET time_zone = '+00:00'");
    session.ok(&format!("SET timestamp = {}", seconds(now)));
    drop(session);
    db
}

/// Runs statements as they would be at a moment.
fn at(db: &TestDb, now: &str, statements: &[&str]) {
    let mut session = db.session();
    session.ok("SET time_zone = '+00:00'");
    session.ok(&format!("SET timestamp = {}", seconds(now)));
    statements.iter().for_each(|sql| drop(session.ok(sql)));
}

fn noted(db: &TestDb) -> String {
    db.session().run("SELECT n FROM noted ORDER BY n").trim_end().to_owned()
}

fn events(db: &TestDb) -> String {
    let sql = "SELECT EVENT_NAME, STATUS, LAST_EXECUTED FROM information_schema.EVENTS ORDER BY 1";
    db.session().run(sql).trim_end().to_owned()
}

const START: &str = "2030-01-01 00:00:00";

#[test]
fn an_event_at_a_moment_runs_once_and_goes() {
    let db = prepared(START);
    at(
        &db,
        START,
        &["CREATE EVENT once ON SCHEDULE AT '2030-01-01 01:00:00' DO INSERT INTO noted VALUES (1)"],
    );
    let clock = MovedClock::at(START);
    let scheduler = start(&db, &clock);
    clock.move_to(db.database(), "2030-01-01 00:59:59");
    assert_eq!(noted(&db), "");
    clock.move_to(db.database(), "2030-01-01 01:00:00");
    db.database().events.wait_for_runs(1);
    assert_eq!(noted(&db), "1");
    assert_eq!(events(&db), "");
    drop(scheduler);
}

#[test]
fn an_event_of_every_hour_runs_each_hour_until_its_end() {
    let db = prepared(START);
    at(
        &db,
        START,
        &["CREATE EVENT hourly ON SCHEDULE EVERY 1 HOUR STARTS '2030-01-01 01:00:00' \
         ENDS '2030-01-01 03:30:00' ON COMPLETION PRESERVE DO INSERT INTO noted VALUES (1)"],
    );
    let clock = MovedClock::at(START);
    let scheduler = start(&db, &clock);
    for (run, hour) in [(1, "01:00:00"), (2, "02:00:00")] {
        clock.move_to(db.database(), &format!("2030-01-01 {hour}"));
        db.database().events.wait_for_runs(run);
        assert_eq!(events(&db), format!("hourly|ENABLED|2030-01-01 {hour}"));
    }
    // A run that was missed is not made up for.
    clock.move_to(db.database(), "2030-01-01 03:10:00");
    db.database().events.wait_for_runs(3);
    assert_eq!(noted(&db), "1\n1\n1");
    assert_eq!(events(&db), "hourly|DISABLED|2030-01-01 03:10:00");
    drop(scheduler);
}

#[test]
fn what_changes_an_event_wakes_the_scheduler() {
    let db = prepared(START);
    let clock = MovedClock::at("2030-06-01 00:00:00");
    let scheduler = start(&db, &clock);
    let now = "2030-06-01 00:00:00";
    at(
        &db,
        now,
        &["CREATE EVENT e ON SCHEDULE EVERY 1 DAY STARTS '2030-06-01 00:00:00' DISABLE DO \
             INSERT INTO noted VALUES (7)"],
    );
    at(&db, now, &["ALTER EVENT e ENABLE"]);
    db.database().events.wait_for_runs(1);
    assert_eq!(noted(&db), "7");
    at(
        &db,
        now,
        &[
            "SET GLOBAL event_scheduler = OFF",
            "CREATE EVENT f ON SCHEDULE AT '2030-06-01 00:00:01' DO INSERT INTO noted VALUES (8)",
        ],
    );
    clock.move_to(db.database(), "2030-06-01 12:00:00");
    assert!(!db.database().events.list().iter().any(|entry| entry.command == "Connect"));
    at(&db, now, &["SET GLOBAL event_scheduler = ON"]);
    db.database().events.wait_for_runs(2);
    assert_eq!(noted(&db), "7\n8");
    at(&db, now, &["DROP EVENT e"]);
    clock.move_to(db.database(), "2030-07-01 00:00:00");
    assert_eq!(events(&db), "");
    drop(scheduler);
    assert!(db.database().events.list().is_empty());
}

#[test]
fn a_restart_runs_what_was_due_once_and_drops_what_had_its_last_run() {
    let db = prepared(START);
    at(
        &db,
        START,
        &[
            "CREATE EVENT late ON SCHEDULE AT '2030-01-01 05:00:00' DO INSERT INTO noted VALUES \
             (5)",
            "CREATE EVENT kept ON SCHEDULE AT '2030-01-01 06:00:00' ON COMPLETION PRESERVE DO \
             INSERT INTO noted VALUES (6)",
            "CREATE EVENT past ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01' ENDS '2030-01-05' DO \
             INSERT INTO noted VALUES (9)",
            "CREATE EVENT daily ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01' DO INSERT INTO \
             noted VALUES (1)",
        ],
    );
    // The scheduler was off for ten days.
    let clock = MovedClock::at("2030-01-11 12:00:00");
    let scheduler = start(&db, &clock);
    db.database().events.wait_for_runs(2);
    assert_eq!(noted(&db), "5\n6");
    clock.move_to(db.database(), "2030-01-12 00:00:00");
    db.database().events.wait_for_runs(3);
    assert_eq!(noted(&db), "1\n5\n6");
    let left = "daily|ENABLED|2030-01-12 00:00:00\nkept|DISABLED|2030-01-11 12:00:00";
    assert_eq!(events(&db), left);
    drop(scheduler);
    // What was on its last run when the server stopped is not run again.
    let again = start(&db, &clock);
    clock.move_to(db.database(), "2030-01-13 00:00:00");
    db.database().events.wait_for_runs(4);
    assert_eq!(noted(&db), "1\n1\n5\n6");
    drop(again);
}

/// A crash came after the last run had begun, and before the drop.
#[test]
fn an_event_that_had_its_last_run_is_not_run_again() {
    let db = prepared(START);
    at(
        &db,
        START,
        &["CREATE EVENT e ON SCHEDULE AT '2030-01-01 01:00:00' DO INSERT INTO noted VALUES (1)"],
    );
    let event = db.database().catalog().program(ProgramKind::Event, "test", "e").unwrap();
    let mut def = event.def.clone();
    def.event.as_mut().unwrap().last_executed = Some(seconds("2030-01-01 01:00:00"));
    assert!(db.database().replace_event(&event, Some(def)).unwrap());
    assert!(!db.database().replace_event(&event, None).unwrap(), "it has another definition");
    let scheduler = start(&db, &MovedClock::at("2030-01-01 02:00:00"));
    assert_eq!((noted(&db), events(&db)), (String::new(), String::new()));
    drop(scheduler);
}

#[test]
fn errors_and_warnings_go_to_the_error_log() {
    let db = prepared(START);
    at(
        &db,
        START,
        &[
            "CREATE EVENT wrong ON SCHEDULE AT '2030-01-01 01:00:00' DO INSERT INTO nothing \
             VALUES (1)",
            "CREATE EVENT warns ON SCHEDULE AT '2030-01-01 01:00:00' DO BEGIN SELECT 1; DROP \
             TABLE IF EXISTS nothing; END",
            "CREATE USER poor",
            "CREATE DEFINER = poor EVENT denied ON SCHEDULE AT '2030-01-01 01:00:00' DO INSERT \
             INTO noted VALUES (2)",
            "CREATE DEFINER = nobody EVENT orphan ON SCHEDULE AT '2030-01-01 01:00:00' DO \
             INSERT INTO noted VALUES (3)",
        ],
    );
    let clock = MovedClock::at("2030-01-01 01:00:00");
    let scheduler = start(&db, &clock);
    db.database().events.wait_for_runs(4);
    assert_eq!(noted(&db), "");
    assert!(lines_of("wrong")[0].contains("doesn't exist"), "{:?}", lines_of("wrong"));
    assert!(lines_of("wrong")[1].ends_with("event execution failed."));
    assert!(lines_of("warns")[0].starts_with("Note"), "{:?}", lines_of("warns"));
    assert!(lines_of("denied")[0].contains("Access denied"), "{:?}", lines_of("denied"));
    assert!(lines_of("orphan")[0].contains("does not exist"), "{:?}", lines_of("orphan"));
    drop(scheduler);
}

#[test]
fn an_event_runs_with_the_settings_of_its_creation() {
    let db = prepared(START);
    at(
        &db,
        START,
        &[
            "CREATE TABLE texts (t VARCHAR(100))",
            "SET sql_mode = 'PIPES_AS_CONCAT'",
            "SET time_zone = '+05:00'",
            "CREATE EVENT e ON SCHEDULE AT '2030-01-01 06:00:00' DO INSERT INTO texts VALUES \
             (CURRENT_USER() || '|' || @@time_zone || '|' || DATABASE())",
        ],
    );
    let clock = MovedClock::at("2030-01-01 01:00:00");
    let scheduler = start(&db, &clock);
    db.database().events.wait_for_runs(1);
    let found = db.session().run("SELECT t FROM texts");
    assert!(found.starts_with("root@localhost|+05:00|"), "{found}");
    drop(scheduler);
}
