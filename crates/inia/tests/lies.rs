//! A server that lies once: the lab must notice. For every workload, each kind of statement in
//! turn is answered wrongly one time: a write is acknowledged and not kept, or a read loses a row.

use crate::process::{DataDir, Process};
use crate::workloads::{load, target, tiny};
use inia_bench::random::Rng;
use inia_bench::round;
use inia_bench::session::Session;
use inia_bench::target::{
    Answer, BulkFormat, Connection, Dialect, Facts, Param, Prepared, Result, Target,
};
use inia_bench::workload::{self, Setting, Tally, Workload};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

/// Transactions of each run.
const TRANSACTIONS: u64 = 50;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Lie {
    /// A write is answered as it should, and is not there.
    Lost,
    /// The last row of an answer is missing.
    Short,
}

/// What the liar knows.
#[derive(Default)]
struct State {
    /// Only what clients ask is noted and lied about, not the lab's checks.
    listens: bool,
    /// Statements without their values, and how often each could have been lied about.
    heard: BTreeMap<String, usize>,
    /// The statement, which of its answers, and the lie.
    plan: Option<(String, usize, Lie)>,
    /// Whether the planned lie has been sent.
    lied: bool,
}

struct Liar {
    inner: Arc<dyn Target>,
    state: Arc<Mutex<State>>,
}

impl Liar {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl Target for Liar {
    fn label(&self) -> &str {
        self.inner.label()
    }

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }

    fn connect(&self) -> Result<Box<dyn Connection>> {
        let (inner, state) = (self.inner.connect()?, self.state.clone());
        Ok(Box::new(Lying { inner, state, texts: HashMap::new(), open: false }))
    }

    fn create_database(&self) -> Result<()> {
        self.inner.create_database()
    }

    fn facts(&self) -> Result<Facts> {
        self.inner.facts()
    }
}

struct Lying {
    inner: Box<dyn Connection>,
    state: Arc<Mutex<State>>,
    texts: HashMap<u32, String>,
    /// In a transaction.
    open: bool,
}

/// A statement with every number and quoted text as one sign.
fn shape(sql: &str) -> String {
    let mut out = String::new();
    let mut quoted = false;
    for letter in sql.chars() {
        match letter {
            '\'' => {
                quoted = !quoted;
                out.push_str(if quoted { "'" } else { "…'" });
            }
            _ if quoted => {}
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' if !out.ends_with(|c: char| c.is_ascii_alphanumeric()) => out.push('#'),
            other => out.push(other),
        }
    }
    out.chars().take(150).collect()
}

fn is_read(sql: &str) -> bool {
    sql.to_ascii_uppercase().starts_with("SELECT")
}

fn is_write(sql: &str) -> bool {
    let upper = sql.to_ascii_uppercase();
    ["INSERT", "UPDATE", "DELETE"].iter().any(|verb| upper.starts_with(verb))
}

/// The answer again, without its last row.
fn shorten(answer: &mut Answer) {
    let old = std::mem::replace(answer, Answer::new());
    answer.set_columns(old.columns());
    answer.set_affected(old.affected(), old.last_id());
    let rows = old.rows() - 1;
    for (row, column) in (0..rows).flat_map(|row| (0..old.columns()).map(move |c| (row, c))) {
        match (old.int(row, column), old.text(row, column)) {
            (Some(number), _) => answer.push_int(number),
            (None, Some(text)) => answer.push_text(text.as_bytes()),
            (None, None) => answer.push_null(),
        }
    }
}

impl Lying {
    /// Runs a statement, or lies about it.
    fn say(
        &mut self,
        sql: &str,
        answer: &mut Answer,
        run: impl Fn(&mut dyn Connection, &mut Answer) -> Result<()>,
    ) -> Result<()> {
        match sql.to_ascii_uppercase().as_str() {
            "BEGIN" => self.open = true,
            "COMMIT" | "ROLLBACK" => self.open = false,
            _ => {}
        }
        let state = self.state.clone();
        let mut state = state.lock().unwrap();
        if !state.listens || !(is_read(sql) || is_write(sql)) {
            drop(state);
            return run(self.inner.as_mut(), answer);
        }
        let shape = shape(sql);
        let planned = state.plan.as_ref().filter(|(of, _, _)| *of == shape);
        let planned = planned.map(|&(_, number, lie)| (number, lie));
        let number = state.heard.get(&shape).copied().unwrap_or(0) + 1;
        let lie = planned.filter(|&(planned, _)| planned == number).map(|(_, lie)| lie);
        if lie == Some(Lie::Lost) && !state.lied {
            let ends = if self.open {
                ["SAVEPOINT lie", "ROLLBACK TO SAVEPOINT lie"]
            } else {
                ["BEGIN", "ROLLBACK"]
            };
            let mut aside = Answer::new();
            self.inner.query(ends[0], &mut aside)?;
            run(self.inner.as_mut(), answer)?;
            self.inner.query(ends[1], &mut aside)?;
            state.lied = answer.affected() > 0;
        } else {
            run(self.inner.as_mut(), answer)?;
        }
        let effect = if is_read(sql) { answer.rows() > 0 } else { answer.affected() > 0 };
        if !effect {
            return Ok(());
        }
        if lie == Some(Lie::Short) {
            shorten(answer);
            state.lied = true;
        }
        state.heard.insert(shape, number);
        Ok(())
    }
}

impl Connection for Lying {
    fn query(&mut self, sql: &str, answer: &mut Answer) -> Result<()> {
        self.say(sql, answer, |inner, answer| inner.query(sql, answer))
    }

    fn prepare(&mut self, sql: &str) -> Result<Prepared> {
        let prepared = self.inner.prepare(sql)?;
        self.texts.insert(prepared.0, sql.to_owned());
        Ok(prepared)
    }

    fn execute(&mut self, id: Prepared, params: &[Param<'_>], answer: &mut Answer) -> Result<()> {
        let sql = self.texts[&id.0].clone();
        self.say(&sql, answer, |inner, answer| inner.execute(id, params, answer))
    }

    fn bulk_format(&mut self) -> BulkFormat {
        self.inner.bulk_format()
    }

    fn bulk(&mut self, table: &str, columns: &str, rows: &str, answer: &mut Answer) -> Result<()> {
        self.inner.bulk(table, columns, rows, answer)
    }
}

/// One client's run, and the checks before and after it.
fn run(liar: &Arc<Liar>, workload: &dyn Workload) -> Result<()> {
    let target: Arc<dyn Target> = liar.clone();
    let parameters = tiny(workload, true);
    let facts = target.facts()?;
    let setting = Setting {
        target: target.clone(),
        facts,
        parameters,
        clients: 1,
        values: 1,
        answers: Arc::default(),
    };
    let mut asking = Session::new(target, false);
    let stage = workload.stage(&setting, &mut asking)?;
    let mut session = setting.session();
    session.connect()?;
    let mut script = stage.script(0);
    script.start(&mut session)?;
    let mut rng = Rng::stream(setting.parameters.seed, 1);
    let length = workload.length(&setting.parameters).unwrap_or(TRANSACTIONS);
    for _ in 0..length {
        if script.prepares() {
            script.before(&mut session)?;
        }
        liar.state().listens = true;
        let done = round::repeat(&mut session, script.as_mut(), &mut rng, || true);
        liar.state().listens = false;
        done?;
    }
    let mut tally = Tally::new();
    script.tally(&mut tally);
    stage.check(&mut asking, &tally)
}

/// The lies that a workload does not notice.
fn believed(server: &Arc<dyn Target>, workload: &dyn Workload) -> Vec<String> {
    // What a run leaves will do for a read that fails at once, unless a write was lost.
    let (mut dirty, mut broken) = (true, true);
    let mut with = |plan: Option<(String, usize, Lie)>| {
        let short = plan.as_ref().is_some_and(|(_, _, lie)| *lie == Lie::Short);
        if broken || !workload.keeps_data() || (dirty && !short) {
            load(server, workload, &tiny(workload, true)).unwrap();
        }
        broken = plan.as_ref().is_some_and(|(_, _, lie)| *lie == Lie::Lost);
        let state = Arc::new(Mutex::new(State { plan, ..State::default() }));
        let liar = Arc::new(Liar { inner: server.clone(), state });
        let done = run(&liar, workload);
        dirty = liar.state().heard.keys().any(|shape| is_write(shape));
        (done, liar)
    };
    let (honest, liar) = with(None);
    assert_eq!(honest, Ok(()), "{} without a lie", workload.name());
    let heard = liar.state().heard.clone();
    let mut believed = Vec::new();
    for (shape, count) in heard {
        // Behind the last write of its kind nothing comes that could hide it.
        let (number, lie) = if is_write(&shape) { (count, Lie::Lost) } else { (1, Lie::Short) };
        let (done, liar) = with(Some((shape.clone(), number, lie)));
        assert!(liar.state().lied, "{}: {lie:?} was not sent: {shape}", workload.name());
        if done.is_ok() {
            believed.push(format!("{}: {lie:?}: {shape}", workload.name()));
        }
    }
    believed
}

/// What no rule of the workloads ties to anything: the bookstore's lists of any length, a cart that
/// is made again with the next book, the text that a customer with a bad credit collects, an order
/// fewer to deliver or a line fewer of one, which may be so, and sysbench's k where rows are
/// replaced whose k nobody has read.
const FREE: [&str; 9] = [
    "INSERT INTO carts",
    "FROM books a JOIN books b",
    "FROM books WHERE title >= ?",
    "SELECT COUNT(*) FROM nile_orders",
    "UPDATE customer SET c_data",
    "FROM new_order",
    "SELECT ol_i_id",
    "oltp_read_write: Lost: UPDATE sbtest# SET k",
    "oltp_write_only: Lost: UPDATE sbtest# SET k",
];

fn family_notices(family: &str) {
    let folder = DataDir::new();
    let process = Process::start(&folder.path(), &[]);
    let server = target(&format!("mysql://root@{}/lies", process.address()));
    let of = workload::all().filter(|workload| workload.family() == family);
    let mut missed: Vec<String> = of.flat_map(|workload| believed(&server, workload)).collect();
    let any_table = |lie: &str| lie.replace("sbtest1", "sbtest#").replace("sbtest2", "sbtest#");
    missed.retain(|lie| !FREE.iter().any(|free| any_table(lie).contains(free)));
    assert!(missed.is_empty(), "believed:\n{}", missed.join("\n"));
}

#[test]
fn sysbench_notices_lost_writes_and_wrong_reads() {
    family_notices("sysbench OLTP");
}

#[test]
fn super_smack_notices_lost_writes_and_wrong_reads() {
    family_notices("Super Smack");
}

#[test]
fn the_thirteen_reads_notice_wrong_reads() {
    family_notices("PHPTestSuite");
}

#[test]
fn innodbs_page_notices_lost_writes_and_wrong_reads() {
    family_notices("InnoDB's page");
}

#[test]
fn the_bookstore_notices_lost_writes_and_wrong_reads() {
    family_notices("Nile bookstore");
}

#[test]
fn order_and_inventory_notice_lost_writes_and_wrong_reads() {
    family_notices("Order and inventory");
}

#[test]
fn the_banks_of_tpc_notice_lost_writes_and_wrong_reads() {
    family_notices("TPC");
}
