//! The lab's workloads at a tiny scale against a real server: each loads, runs with two clients,
//! and must find its own answers and its tables right.

use crate::process::{DataDir, Process};
use inia_base::value::Value;
use inia_bench::random::{Distribution, Rng};
use inia_bench::session::Session;
use inia_bench::target::{
    Answer, BulkFormat, Class, Connection, Dialect, Durability, Facts, Failure, Param, Prepared,
    Product, Result, Target,
};
use inia_bench::workload::{self, Parameters, Rows, Setting, Tally, Workload};
use inia_wire::client::{Client, ClientError, LoginOptions, ResultSet};
use std::collections::BTreeMap;
use std::net::TcpStream;
use std::sync::Arc;

const DATABASE: &str = "lab_workloads";

/// A server by its address, through the shell's own client.
struct Server {
    address: String,
}

impl Server {
    fn log_in(&self, database: Option<&str>) -> Result<Client<TcpStream>> {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_nodelay(true).unwrap();
        let database = database.map(str::to_owned);
        let capabilities =
            inia_wire::caps::Capabilities::CLIENT.with(inia_wire::caps::Capabilities::FOUND_ROWS);
        let options = LoginOptions { database, capabilities, ..LoginOptions::default() };
        Client::connect(stream, &options).map_err(failure)
    }
}

impl Target for Server {
    fn label(&self) -> &str {
        "server"
    }

    fn dialect(&self) -> Dialect {
        Dialect::MySql
    }

    fn connect(&self) -> Result<Box<dyn Connection>> {
        let client = self.log_in(Some(DATABASE))?;
        Ok(Box::new(Wire { client, statements: Vec::new() }))
    }

    fn create_database(&self) -> Result<()> {
        let mut client = self.log_in(None)?;
        client.query(&format!("CREATE DATABASE IF NOT EXISTS {DATABASE}")).map_err(failure)?;
        Ok(())
    }

    fn facts(&self) -> Result<Facts> {
        Ok(Facts {
            product: Product::Inia,
            version: String::new(),
            settings: BTreeMap::new(),
            durability: Durability::Unknown,
            max_clients: None,
            pid: None,
            data_dir: None,
        })
    }
}

struct Wire {
    client: Client<TcpStream>,
    statements: Vec<u32>,
}

fn failure(error: ClientError) -> Failure {
    let class = match error.code() {
        Some(1213 | 1205) => Class::Retry,
        Some(1062) => Class::Duplicate,
        Some(_) => Class::Statement,
        None => Class::Lost,
    };
    Failure::new(class, error.to_string())
}

fn copy(result: &ResultSet, answer: &mut Answer) {
    answer.clear();
    answer.set_columns(result.columns.len());
    answer.set_affected(result.completion.affected_rows, result.completion.last_insert_id);
    for value in result.rows.iter().flatten() {
        match value {
            Value::Null => answer.push_null(),
            Value::Int(value) => answer.push_int(*value),
            Value::UInt(value) => answer.push_int(*value as i64),
            Value::Double(value) => answer.push_double(*value),
            Value::Text(text) | Value::Json(text) => answer.push_text(text.as_bytes()),
            Value::Bytes(bytes) => answer.push_text(bytes),
            Value::Decimal(value) => answer.push_text(value.to_string().as_bytes()),
            Value::Date(value) => answer.push_text(value.to_string().as_bytes()),
            Value::Time(value) => answer.push_text(value.to_string().as_bytes()),
            Value::DateTime(value) => answer.push_text(value.to_string().as_bytes()),
        }
    }
}

impl Connection for Wire {
    fn query(&mut self, sql: &str, answer: &mut Answer) -> Result<()> {
        let results = self.client.query(sql).map_err(|error| {
            let head: String = sql.chars().take(200).collect();
            failure(error).during(&head)
        })?;
        copy(results.last().unwrap(), answer);
        Ok(())
    }

    fn prepare(&mut self, sql: &str) -> Result<Prepared> {
        let prepared = self.client.prepare(sql).map_err(failure)?;
        self.statements.push(prepared.id);
        Ok(Prepared(prepared.id))
    }

    fn execute(&mut self, id: Prepared, params: &[Param<'_>], answer: &mut Answer) -> Result<()> {
        let values: Vec<Value> = params
            .iter()
            .map(|param| match *param {
                Param::Null => Value::Null,
                Param::Int(value) => Value::Int(value),
                Param::Double(value) => Value::Double(value),
                Param::Text(text) => Value::Text(text.to_owned()),
            })
            .collect();
        copy(&self.client.execute(id.0, &values).map_err(failure)?, answer);
        Ok(())
    }
}

/// Loads in the simplest way: one connection, 500 calls of `fill` a statement.
fn load(workload: &dyn Workload, parameters: &Parameters, session: &mut Session) -> Result<()> {
    let set = workload.data(parameters, session.dialect())?;
    for text in &set.prelude {
        session.query(text)?;
    }
    for table in &set.tables {
        session.query(&format!("DROP TABLE IF EXISTS {}", table.name))?;
        session.query(&table.create)?;
        let mut rows = Rows::new(Dialect::MySql, BulkFormat::Values);
        for row in 0..table.rows {
            (table.fill)(row, &mut Rng::stream(set.seed, row), &mut rows);
            if rows.count() >= 500 || row + 1 == table.rows {
                let (connection, answer) = session.raw()?;
                connection.bulk(&table.name, table.columns, rows.text(), answer)?;
                rows.clear();
            }
        }
        for index in &table.indexes {
            session.query(index)?;
        }
    }
    for text in &set.finish {
        session.query(text)?;
    }
    Ok(())
}

/// Runs a workload; the transactions of each client, or the program's length.
fn run(target: Arc<dyn Target>, workload: &dyn Workload, p: &Parameters, n: u64) -> Result<()> {
    let mut session = Session::new(target.clone(), false);
    load(workload, p, &mut session)?;
    let length = workload.length(p);
    let clients = if workload.figure() == workload::Figure::Time { 1 } else { 2 };
    let setting =
        Setting { target: target.clone(), facts: target.facts()?, parameters: p.clone(), clients };
    let stage = workload.stage(&setting, &mut session)?;
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
                        script.before(&mut session)?;
                        while let Err(failure) = script.transaction(&mut session, &mut rng) {
                            if failure.class != Class::Retry {
                                return Err(failure);
                            }
                            session.rollback()?;
                        }
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

fn tiny(workload: &dyn Workload, prepared: bool) -> Parameters {
    let (rows, scale) = match workload.family() {
        "sysbench OLTP" => (500, 2),
        "TPC" => (40, 2),
        "PHPTestSuite" => (6_000, 1),
        "InnoDB's page" => (2_000, 1),
        _ => (300, 1),
    };
    let distribution = Distribution::Uniform;
    let mut options = workload.defaults().options;
    if workload.name() == "tpcc" {
        options.insert("items".to_owned(), "200".to_owned());
    }
    Parameters { rows, scale, distribution, prepared, seed: 7, options }
}

/// Runs the workloads of a family, prepared and as text, and tells all that fail.
fn all_of(family: &str) {
    let folder = DataDir::new();
    let process = Process::start(&folder.path(), &[]);
    let address = std::env::var("INIA_LAB_SERVER").unwrap_or_else(|_| process.address());
    let target: Arc<dyn Target> = Arc::new(Server { address });
    target.create_database().unwrap();
    let mut failures = Vec::new();
    for prepared in [true, false] {
        for workload in workload::all().filter(|workload| workload.family() == family) {
            let outcome = run(target.clone(), workload, &tiny(workload, prepared), 40);
            if let Err(failure) = outcome {
                failures.push(format!("{} (prepared: {prepared}): {failure}", workload.name()));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn sysbench_scripts_leave_as_many_rows_as_they_counted() {
    all_of("sysbench OLTP");
}

#[test]
fn super_smack_finds_each_member_once() {
    all_of("Super Smack");
}

#[test]
fn the_thirteen_reads_have_answers_of_the_size_the_generator_gives() {
    all_of("PHPTestSuite");
}

#[test]
fn the_tests_of_innodbs_page_copy_join_and_delete_all_rows() {
    all_of("InnoDB's page");
}

#[test]
fn the_banks_of_tpc_keep_their_books() {
    all_of("TPC");
}

#[test]
fn orders_and_work_orders_account_for_all_goods_and_parts() {
    all_of("Order and inventory");
}

#[test]
fn the_bookstore_sells_what_leaves_its_shelves() {
    all_of("Nile bookstore");
}
