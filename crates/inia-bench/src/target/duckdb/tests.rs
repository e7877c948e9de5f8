//! A file of DuckDB, and the warehouse's workloads on it.

use super::*;
use crate::load;
use crate::round::{self, Pace};
use crate::session::Session;
use crate::workload::{self, Parameters, Setting};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// Files that are removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("inia-duckdb-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn duckdb(&self) -> Arc<dyn Target> {
        let path = self.0.join("lab.duckdb").display().to_string();
        Arc::new(DuckDbTarget::new("duckdb".to_owned(), path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn values_of_every_type_that_workloads_use() {
    let folder = Folder::new();
    let mut connection = folder.duckdb().connect().unwrap();
    let mut answer = Answer::new();
    let columns = "i INTEGER PRIMARY KEY, n DECIMAL(15,2), f DOUBLE, d DATE, t VARCHAR(20)";
    connection.query(&format!("CREATE TABLE x ({columns})"), &mut answer).unwrap();
    let rows = "1\t-0.05\t1.5\t2024-02-29\ta\\tb\\\\\n2\t\\N\t\\N\t\\N\t\n";
    connection.bulk("x", "i, n, f, d, t", rows, &mut answer).unwrap();
    assert_eq!(answer.affected(), 2);
    connection.query("SELECT *, i > 1, SUM(i) OVER () FROM x ORDER BY i", &mut answer).unwrap();
    let first: Vec<_> = (0..7).map(|column| answer.text(0, column).unwrap()).collect();
    assert_eq!(first, ["1", "-0.05", "1.5", "2024-02-29", "a\tb\\", "0", "3"]);
    assert!(answer.is_null(1, 1) && answer.text(1, 4).unwrap().is_empty());
    let again = connection.bulk("x", "i", "2\n", &mut answer).unwrap_err();
    assert_eq!(again.class, Class::Duplicate, "{again}");
    let update = connection.prepare("UPDATE x SET n = CAST(? AS DECIMAL(15,2)) WHERE i = ?");
    let params = [Param::Text("7.25"), Param::Int(2)];
    connection.execute(update.unwrap(), &params, &mut answer).unwrap();
    assert_eq!(answer.affected(), 1);
    let select = connection.prepare("SELECT n FROM x WHERE i = ?").unwrap();
    connection.execute(select, &[Param::Int(2)], &mut answer).unwrap();
    assert_eq!(answer.text(0, 0).as_deref(), Some("7.25"));
}

#[test]
fn of_two_writers_the_later_one_tries_again() {
    let folder = Folder::new();
    let target = folder.duckdb();
    let (mut one, mut other) = (target.connect().unwrap(), target.connect().unwrap());
    let mut answer = Answer::new();
    one.query("CREATE TABLE x (i INTEGER)", &mut answer).unwrap();
    one.query("INSERT INTO x VALUES (1)", &mut answer).unwrap();
    one.begin(&mut answer).unwrap();
    other.begin(&mut answer).unwrap();
    one.query("UPDATE x SET i = 2", &mut answer).unwrap();
    let refused = other.query("UPDATE x SET i = 3", &mut answer).unwrap_err();
    assert_eq!(refused.class, Class::Retry, "{refused}");
}

#[test]
fn a_statement_is_stopped() {
    let folder = Folder::new();
    let mut connection = folder.duckdb().connect().unwrap();
    let stopper = connection.stopper().unwrap().unwrap();
    let long =
        "SELECT COUNT(*) FROM range(1000000) a, range(1000000) b WHERE (a.range * b.range) % 7 = 3";
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| connection.query(long, &mut Answer::new()));
        while !asked.is_finished() {
            stopper.stop().unwrap();
            std::thread::yield_now();
        }
        assert!(asked.join().unwrap().is_err());
    });
}

/// SQLite shares no code with DuckDB, and answers the same.
#[cfg(feature = "sqlite")]
#[test]
fn the_warehouse_answers_as_sqlite_does() {
    use crate::target::sqlite::SqliteTarget;
    let folder = Folder::new();
    let file = folder.0.join("lab.db").display().to_string();
    let sqlite: Arc<dyn Target> = Arc::new(SqliteTarget::new("sqlite".to_owned(), file));
    let answers = Arc::default();
    for name in ["tpch", "benchw", "osdb", "osdb_ir", "osdb_mixed_oltp", "htap"] {
        let workload = workload::find(name).unwrap();
        for target in [sqlite.clone(), folder.duckdb()] {
            let at = format!("{name} on {}", target.label());
            let defaults = workload.defaults();
            let parameters = Parameters { rows: 1_500, seed: 7, ..defaults };
            let data = workload.data(&parameters, target.dialect()).unwrap();
            let facts = target.facts().unwrap();
            let mut session = Session::new(target.clone(), false);
            // There may be no such table yet.
            let _ = load::forget(&mut session, &data);
            let stop = AtomicBool::new(false);
            load::ensure(&target, &facts, &data, &stop, &|_| {})
                .unwrap_or_else(|failure| panic!("{at}: {failure}"));
            drop(session);
            let clients = if workload.length(&parameters).is_some() { 1 } else { 2 };
            let answers = Arc::clone(&answers);
            let setting = Setting { target, facts, parameters, clients, values: 1, answers };
            let pace =
                Pace { duration: Duration::from_secs(1), warm_up: Duration::ZERO, rate: None };
            let done = round::run(workload, &setting, pace, &stop, &|_| {});
            let outcome = done.unwrap_or_else(|failure| panic!("{at}: {failure}"));
            assert!(outcome.notes.is_empty(), "{at}: {:?}", outcome.notes);
        }
    }
}
