//! The lab's workloads at a tiny scale against a real server: each loads, runs with two clients,
//! and must find its own answers and its tables right. With one client every answer is the same
//! on all targets.
//!
//! `INIA_LAB_SERVER` names rivals to run all of it on too: the lab's URLs, separated by commas.

use crate::process::{DataDir, Process};
use inia_bench::cli::open_target;
use inia_bench::load;
use inia_bench::random::{Distribution, Rng};
use inia_bench::round;
use inia_bench::session::Session;
use inia_bench::target::{
    Answer, BulkFormat, Class, Connection, Dialect, Facts, Failure, Param, Prepared, Result, Target,
};
use inia_bench::workload::{self, Figure, Parameters, Setting, Tally, Workload};
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) fn target(url: &str) -> Arc<dyn Target> {
    let embedded =
        |_: &str, _: &str, _: Option<&str>| Err(Failure::new(Class::Unsupported, "a server"));
    let target = open_target(url, None, embedded).unwrap();
    target.create_database().unwrap();
    target
}

/// Inia's own server first, then the rivals.
fn targets(own: &Process) -> Vec<Arc<dyn Target>> {
    let rivals = std::env::var("INIA_LAB_SERVER").unwrap_or_default();
    let rivals = rivals.split(',').filter(|url| !url.is_empty()).map(target);
    let url = format!("inia=mysql://root@{}/lab_workloads", own.address());
    std::iter::once(target(&url)).chain(rivals).collect()
}

/// Loads what is not there; all of it anew if workloads of this family change it.
pub(crate) fn load(
    target: &Arc<dyn Target>,
    workload: &dyn Workload,
    p: &Parameters,
) -> Result<()> {
    let data = workload.data(p, target.dialect())?;
    if workload.family() != "PHPTestSuite" && workload.name() != "tpch" {
        let mut session = Session::new(target.clone(), false);
        // There may be no such table yet.
        let _ = load::forget(&mut session, &data);
    }
    load::ensure(target, &target.facts()?, &data, &AtomicBool::new(false), &|_| {}).map(drop)
}

/// Runs a workload; the transactions of each client, or the program's length.
fn run(
    target: Arc<dyn Target>,
    workload: &dyn Workload,
    p: &Parameters,
    clients: usize,
    n: u64,
    values: u64,
) -> Result<()> {
    let facts = target.facts()?;
    let setting = Setting {
        target: target.clone(),
        facts,
        parameters: p.clone(),
        clients,
        values,
        answers: Arc::default(),
    };
    let mut session = Session::new(target, false);
    let stage = workload.stage(&setting, &mut session)?;
    let length = workload.length(p);
    let outcomes: Vec<Result<Tally>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients)
            .map(|client| {
                let (stage, setting) = (&stage, &setting);
                scope.spawn(move || {
                    let mut session = setting.session();
                    session.connect()?;
                    let mut script = stage.script(client);
                    script.start(&mut session)?;
                    let mut rng = Rng::stream(setting.parameters.seed, client as u64);
                    for _ in 0..length.unwrap_or(n) {
                        if script.prepares() {
                            script.before(&mut session)?;
                        }
                        let (kind, _) =
                            round::repeat(&mut session, script.as_mut(), &mut rng, || false)?;
                        assert!(kind.is_some_and(|kind| kind < workload.kinds().len()));
                    }
                    let mut tally = Tally::new();
                    script.tally(&mut tally);
                    Ok(tally)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut tally = Tally::new();
    for outcome in outcomes {
        for (name, value) in outcome? {
            *tally.entry(name).or_default() += value;
        }
    }
    stage.check(&mut session, &tally)
}

pub(crate) fn tiny(workload: &dyn Workload, prepared: bool) -> Parameters {
    let (rows, scale) = match workload.family() {
        "sysbench OLTP" => (500, 2),
        "TPC" => (40, 2),
        "PHPTestSuite" => (6_000, 1),
        "InnoDB's page" => (1_000, 1),
        "Warehouse" => (1_500, 1),
        _ => (300, 1),
    };
    let distribution = Distribution::Uniform;
    let mut options = workload.defaults().options;
    if workload.name() == "tpcc" {
        options.insert("items".to_owned(), "200".to_owned());
    }
    Parameters { rows, scale, distribution, prepared, seed: 7, options }
}

/// What a target answered, statement by statement.
type Log = Arc<Mutex<Vec<(String, Vec<String>)>>>;

/// A target that writes down what it is asked and answers.
struct Recorder {
    inner: Arc<dyn Target>,
    log: Log,
}

impl Target for Recorder {
    fn label(&self) -> &str {
        self.inner.label()
    }

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }

    fn connect(&self) -> Result<Box<dyn Connection>> {
        let (inner, log) = (self.inner.connect()?, self.log.clone());
        Ok(Box::new(Recording { inner, log, texts: HashMap::new() }))
    }

    fn create_database(&self) -> Result<()> {
        self.inner.create_database()
    }

    fn facts(&self) -> Result<Facts> {
        self.inner.facts()
    }
}

struct Recording {
    inner: Box<dyn Connection>,
    log: Log,
    texts: HashMap<u32, String>,
}

/// A number without the zeros that only fill its decimals, and without what SQLite, whose decimals
/// are floating point numbers, has after the sixth; other texts as they are.
fn plain(text: &str) -> String {
    let number =
        text.split_once('.').and_then(|(_, decimals)| Some((decimals, text.parse::<f64>().ok()?)));
    match number {
        Some((decimals, number)) if !decimals.is_empty() => {
            let text = if decimals.len() > 6 { format!("{number:.6}") } else { text.to_owned() };
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => text.to_owned(),
    }
}

/// Rows in an order of their own, where the statement asks for none; changes as their number.
fn digest(sql: &str, answer: &Answer) -> Option<Vec<String>> {
    let upper = sql.to_ascii_uppercase();
    if !upper.starts_with("SELECT") {
        let changes = ["INSERT", "UPDATE", "DELETE"].iter().any(|verb| upper.starts_with(verb));
        // SQLite has no TRUNCATE, which reports no number of rows.
        let empties = upper.starts_with("DELETE") && !upper.contains("WHERE");
        return (changes && !empties).then(|| vec![answer.affected().to_string()]);
    }
    // How a server is asked whether it has purged is its own.
    if upper.contains("INNODB_METRICS") || upper.contains("PG_RELATION_SIZE") {
        return None;
    }
    // Of groups that are equally large any will do.
    if upper.contains("ORDER BY 2 DESC LIMIT") {
        return Some((0..answer.rows()).filter_map(|row| answer.text(row, 1)).collect());
    }
    // Any five rows will do, and the clocks of targets differ.
    let limited = upper.contains("LIMIT") && !upper.contains("ORDER BY");
    if limited || upper.contains("O_ENTRY_D") || upper.contains("OL_DELIVERY_D") {
        return Some(vec![format!("{} rows", answer.rows())]);
    }
    // Fixed columns come with the spaces that fill them, decimals with their zeros, or without.
    let cell = |row, column| answer.text(row, column).map(|text| plain(text.trim_end()));
    let line = |row| (0..answer.columns()).map(|c| format!("{:?}", cell(row, c))).collect();
    let mut rows: Vec<String> = (0..answer.rows()).map(line).collect();
    if !upper.contains("ORDER BY") {
        rows.sort();
    }
    Some(rows)
}

impl Recording {
    fn note(&self, sql: &str, answer: &Answer) {
        if let Some(digest) = digest(sql, answer) {
            self.log.lock().unwrap().push((sql.to_owned(), digest));
        }
    }
}

impl Connection for Recording {
    fn query(&mut self, sql: &str, answer: &mut Answer) -> Result<()> {
        self.inner.query(sql, answer)?;
        self.note(sql, answer);
        Ok(())
    }

    fn prepare(&mut self, sql: &str) -> Result<Prepared> {
        let prepared = self.inner.prepare(sql)?;
        self.texts.insert(prepared.0, sql.to_owned());
        Ok(prepared)
    }

    fn execute(&mut self, id: Prepared, params: &[Param<'_>], answer: &mut Answer) -> Result<()> {
        self.inner.execute(id, params, answer)?;
        self.note(&self.texts[&id.0], answer);
        Ok(())
    }

    fn bulk_format(&mut self) -> BulkFormat {
        self.inner.bulk_format()
    }

    fn bulk(&mut self, table: &str, columns: &str, rows: &str, answer: &mut Answer) -> Result<()> {
        self.inner.bulk(table, columns, rows, answer)
    }
}

/// What a target answers to one client's 40 transactions.
fn answers(
    target: &Arc<dyn Target>,
    workload: &dyn Workload,
    prepared: bool,
) -> Result<Vec<(String, Vec<String>)>> {
    let parameters = tiny(workload, prepared);
    load(target, workload, &parameters)?;
    let log = Log::default();
    let recorder = Arc::new(Recorder { inner: target.clone(), log: log.clone() });
    run(recorder, workload, &parameters, 1, 40, 1)?;
    Ok(std::mem::take(&mut log.lock().unwrap()))
}

/// The first statement that was answered differently.
fn difference(a: &[(String, Vec<String>)], b: &[(String, Vec<String>)]) -> Option<String> {
    let found = a.iter().zip(b).find(|((_, a), (_, b))| a != b);
    found
        .map(|((sql, a), (_, b))| format!("{sql}:\n  {a:?}\n  {b:?}"))
        .or_else(|| (a.len() != b.len()).then(|| format!("{} statements and {}", a.len(), b.len())))
}

/// Runs the workloads of a family, prepared and as text, on all targets, and lists all that fail.
fn all_of(family: &str) {
    let folder = DataDir::new();
    let process = Process::start(&folder.path(), &[]);
    let (mut failures, mut run_of_them) = (Vec::new(), 0);
    for workload in workload::all().filter(|workload| workload.family() == family) {
        run_of_them += 1;
        let clients = if workload.figure() == Figure::Time { 1 } else { 2 };
        let mut first = None;
        for target in targets(&process) {
            for prepared in [true, false] {
                let at =
                    format!("{} on {} (prepared: {prepared})", workload.name(), target.label());
                match answers(&target, workload, prepared) {
                    Err(failure) => failures.push(format!("{at}: {failure}")),
                    // What has no purge to wait for deletes more often meanwhile.
                    Ok(_) if workload.name() == "innodb_delete_all" => {}
                    Ok(log) => {
                        let different = difference(first.get_or_insert(log.clone()), &log);
                        failures.extend(different.map(|what| format!("{at}: {what}")));
                    }
                }
            }
            let parameters = tiny(workload, true);
            let loaded = load(&target, workload, &parameters);
            let done =
                loaded.and_then(|()| run(target.clone(), workload, &parameters, clients, 40, 1));
            let at = format!("{} on {}, {clients} clients", workload.name(), target.label());
            failures.extend(done.err().map(|failure| format!("{at}: {failure}")));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(run_of_them > 0, "no workload is of the family {family}");
}

/// Each family has a test below.
const FAMILIES: [&str; 9] = [
    "sysbench OLTP",
    "Super Smack",
    "PHPTestSuite",
    "InnoDB's page",
    "Nile bookstore",
    "Order and inventory",
    "TPC",
    "Warehouse",
    "sql-bench",
];

#[test]
fn no_family_of_workloads_is_without_a_test() {
    let mut all: Vec<&str> = workload::all().map(|workload| workload.family()).collect();
    all.dedup();
    all.sort_unstable();
    let mut tested = FAMILIES;
    tested.sort_unstable();
    assert_eq!(all, tested);
}

#[test]
fn sysbench_scripts_leave_as_many_rows_as_they_counted() {
    all_of(FAMILIES[0]);
}

#[test]
fn super_smack_finds_each_member_once() {
    all_of(FAMILIES[1]);
}

/// With the same seed a round chooses the rows of the last one; with other values it changes them
/// all.
#[test]
fn rows_get_other_values_in_the_next_round() {
    let folder = DataDir::new();
    let process = Process::start(&folder.path(), &[]);
    let target = target(&format!("mysql://root@{}/lab_workloads", process.address()));
    let mut session = Session::new(target.clone(), false);
    for (name, cells) in [
        ("oltp_update_non_index", "id, c FROM sbtest1"),
        ("oltp_write_only", "id, c FROM sbtest1"),
        ("oltp_read_write", "id, c FROM sbtest1"),
        ("smack_update", "aid, bill FROM Member"),
        ("smack_oltp", "aid, bill FROM Member"),
    ] {
        let workload = workload::find(name).unwrap();
        let parameters = tiny(workload, true);
        load(&target, workload, &parameters).unwrap();
        let mut rows = |values: Option<u64>| {
            if let Some(values) = values {
                run(target.clone(), workload, &parameters, 1, 40, values).unwrap();
            }
            let answer = session.query(&format!("SELECT {cells} ORDER BY 1")).unwrap();
            (0..answer.rows()).map(|row| answer.text(row, 1)).collect::<Vec<_>>()
        };
        let (loaded, first, second) = (rows(None), rows(Some(1)), rows(Some(2)));
        let changed: Vec<usize> = (0..loaded.len()).filter(|&n| loaded[n] != first[n]).collect();
        assert!(changed.len() > 20, "{name}");
        assert!(changed.into_iter().all(|n| first[n] != second[n]), "{name}");
    }
}

#[test]
fn the_thirteen_reads_have_answers_of_the_size_the_generator_gives() {
    all_of(FAMILIES[2]);
}

#[test]
fn the_tests_of_innodbs_page_copy_join_and_delete_all_rows() {
    all_of(FAMILIES[3]);
}

#[test]
fn the_banks_of_tpc_keep_their_books() {
    all_of(FAMILIES[6]);
}

#[test]
fn orders_and_work_orders_account_for_all_goods_and_parts() {
    all_of(FAMILIES[5]);
}

#[test]
fn the_bookstore_sells_what_leaves_its_shelves() {
    all_of(FAMILIES[4]);
}

#[test]
fn the_warehouse_gives_the_same_answers_to_texts_and_prepared_queries() {
    all_of(FAMILIES[7]);
}

#[test]
fn definitions_are_changed_and_tables_made_and_dropped() {
    all_of(FAMILIES[8]);
}

/// SQLite, which shares no code with Inia, says what the answers are.
#[cfg(feature = "sqlite")]
#[test]
fn the_warehouse_answers_as_another_database_does() {
    let folder = DataDir::new();
    let process = Process::start(&folder.path(), &[]);
    let file = format!("sqlite:{}", folder.path().join("other.db").display());
    let answers = Arc::default();
    for target in [target(&file), targets(&process).remove(0)] {
        for workload in workload::all().filter(|workload| workload.family() == "Warehouse") {
            let parameters = tiny(workload, false);
            load(&target, workload, &parameters).unwrap();
            let facts = target.facts().unwrap();
            let setting = Setting {
                target: target.clone(),
                facts,
                parameters,
                clients: 1,
                values: 1,
                answers: Arc::clone(&answers),
            };
            let pace = round::Pace {
                duration: Duration::from_secs(1),
                warm_up: Duration::ZERO,
                rate: None,
            };
            let done = round::run(workload, &setting, pace, &AtomicBool::new(false), &|_| {});
            let notes = done.map(|outcome| outcome.notes);
            assert_eq!(notes, Ok(Vec::new()), "{} on {}", workload.name(), target.label());
        }
    }
}

/// Every condition, with a change that breaks it alone of those before it, and one that mends it.
const BREAKS: [(u32, &str, &str); 12] = [
    (1, "UPDATE warehouse SET w_ytd = w_ytd + 1", "UPDATE warehouse SET w_ytd = w_ytd - 1"),
    (
        2,
        "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = 3",
        "UPDATE district SET d_next_o_id = d_next_o_id - 1 WHERE d_id = 3",
    ),
    (
        3,
        "DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 1 AND no_o_id = 39",
        "INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (1, 1, 39)",
    ),
    (
        4,
        "UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_d_id = 1 AND o_id = 1",
        "UPDATE orders SET o_ol_cnt = o_ol_cnt - 1 WHERE o_d_id = 1 AND o_id = 1",
    ),
    (
        5,
        "UPDATE orders SET o_carrier_id = NULL WHERE o_d_id = 1 AND o_id = 1",
        "UPDATE orders SET o_carrier_id = 5 WHERE o_d_id = 1 AND o_id = 1",
    ),
    (
        6,
        "UPDATE orders SET o_ol_cnt = o_ol_cnt + o_id * 2 - 3 WHERE o_d_id = 1 AND o_id IN (1, 2)",
        "UPDATE orders SET o_ol_cnt = o_ol_cnt - o_id * 2 + 3 WHERE o_d_id = 1 AND o_id IN (1, 2)",
    ),
    (
        7,
        "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_o_id = 1 AND ol_number = 1",
        "UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE ol_o_id = 1",
    ),
    (
        8,
        "UPDATE history SET h_amount = h_amount + 1 WHERE h_c_id = 1",
        "UPDATE history SET h_amount = h_amount - 1 WHERE h_c_id = 1",
    ),
    (
        9,
        "UPDATE history SET h_d_id = 2 WHERE h_c_d_id = 1 AND h_c_id = 1",
        "UPDATE history SET h_d_id = 1 WHERE h_c_d_id = 1 AND h_c_id = 1",
    ),
    (
        10,
        "UPDATE customer SET c_balance = c_balance + 1, c_ytd_payment = c_ytd_payment - 1",
        "UPDATE customer SET c_balance = c_balance - 1, c_ytd_payment = c_ytd_payment + 1",
    ),
    (
        11,
        "UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 1 WHERE c_id = 1",
        "UPDATE customer SET c_delivery_cnt = c_delivery_cnt - 1 WHERE c_id = 1",
    ),
    (
        12,
        "UPDATE customer SET c_ytd_payment = c_ytd_payment + 1 WHERE c_id = 1",
        "UPDATE customer SET c_ytd_payment = c_ytd_payment - 1 WHERE c_id = 1",
    ),
];

#[test]
fn each_of_tpccs_twelve_conditions_finds_what_breaks_it() {
    let folder = DataDir::new();
    let process = Process::start(&folder.path(), &[]);
    let tpcc = workload::find("tpcc").unwrap();
    let parameters = tiny(tpcc, false);
    for target in targets(&process) {
        load(&target, tpcc, &parameters).unwrap();
        let mut session = Session::new(target.clone(), false);
        let facts = target.facts().unwrap();
        let setting = Setting {
            target,
            facts,
            parameters: parameters.clone(),
            clients: 1,
            values: 1,
            answers: Arc::default(),
        };
        for (number, breaks, mends) in BREAKS {
            session.query(breaks).unwrap();
            let failure = tpcc.stage(&setting, &mut session).err().map(|failure| failure.message);
            let expected = format!("TPC-C consistency condition {number}: ");
            assert!(
                failure.as_ref().is_some_and(|f| f.starts_with(&expected)),
                "{number}: {failure:?}"
            );
            session.query(mends).unwrap();
            assert!(tpcc.stage(&setting, &mut session).is_ok(), "{number} is not mended");
        }
    }
}

#[test]
fn a_server_that_allows_it_is_loaded_by_load_data() {
    let folder = DataDir::new();
    let process = Process::start(&folder.path(), &[]);
    let target = target(&format!("mysql://root@{}/lab_workloads", process.address()));
    let mut answer = Answer::new();
    let mut before = target.connect().unwrap();
    assert_eq!(before.bulk_format(), BulkFormat::Values);
    before.query("SET GLOBAL local_infile = 1", &mut answer).unwrap();
    let mut connection = target.connect().unwrap();
    assert_eq!(connection.bulk_format(), BulkFormat::Copy);
    connection.query("CREATE TABLE bulk (a INT PRIMARY KEY, b VARCHAR(20))", &mut answer).unwrap();
    let rows = "1\tx\\ty\\\\\\n\n2\t\\N\n";
    connection.bulk("bulk", "a, b", rows, &mut answer).unwrap();
    assert_eq!(answer.affected(), 2);
    connection.query("SELECT b FROM bulk ORDER BY a", &mut answer).unwrap();
    assert_eq!((answer.text(0, 0).as_deref(), answer.is_null(1, 0)), (Some("x\ty\\\n"), true));
    let twice = connection.bulk("bulk", "a, b", "3\tc\n1\td\n", &mut answer).unwrap_err();
    assert_eq!(twice.class, Class::Duplicate, "{twice}");
    // More than one packet of a file.
    let many = (10..60_000).fold(String::new(), |rows, a| rows + &format!("{a}\trow {a}\n"));
    connection.bulk("bulk", "a, b", &many, &mut answer).unwrap();
    assert_eq!(answer.affected(), 59_990);
}
