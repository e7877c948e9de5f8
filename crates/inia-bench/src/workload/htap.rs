//! Point transactions beside reports on the same rows.
//!
//! A shop's customers: clients look one up, or sell to one of them (a sale is inserted and the
//! customer's total raised, in one transaction). The last client runs reports over all sales
//! meanwhile; the option `reports` lets more of them do so, and one always stays with the points.
//! One of the reports compares two sums that every committed state holds equal: what the customers
//! have spent, and what the sales brought in.
//!
//! The points' rate and 99th percentile stand among the further figures. `htap_points` is the
//! same without reports, to compare with.

use super::{DataSet, Figure, Parameters, Rows, Script, Setting, Stage, Table, Tally, Workload};
use crate::random::{Picker, Rng};
use crate::record::{Outcome, TransactionKind};
use crate::session::{Session, Statement};
use crate::target::{Dialect, Failure, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) const WORKLOADS: &[&dyn Workload] = &[&Htap { reports: true }, &Htap { reports: false }];

const KINDS: [&str; 3] = ["lookup", "sale", "report"];
const REPORT: usize = 2;
/// Sales of each customer before the first day.
const SALES: u64 = 10;
/// Of 100 points so many are sales.
const SELLING: f64 = 0.2;
const REGIONS: u64 = 20;

struct Htap {
    reports: bool,
}

impl Htap {
    fn reporters(&self, parameters: &Parameters) -> Result<usize> {
        let number = parameters.number("reports", 1.0)?;
        Ok(if self.reports { number as usize } else { 0 })
    }
}

impl Workload for Htap {
    fn name(&self) -> &'static str {
        if self.reports { "htap" } else { "htap_points" }
    }

    fn about(&self) -> &'static str {
        match self.reports {
            true => "lookups and sales beside a client that runs reports over all sales",
            false => "the same lookups and sales without reports",
        }
    }

    fn family(&self) -> &'static str {
        "Warehouse"
    }

    /// `rows` is the number of customers.
    fn defaults(&self) -> Parameters {
        Parameters { rows: 100_000, ..Parameters::default() }
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        if self.reports {
            &[("reports", "how many of the clients run reports, one being left over [default: 1]")]
        } else {
            &[]
        }
    }

    fn kinds(&self) -> &'static [&'static str] {
        &KINDS
    }

    fn figure(&self) -> Figure {
        Figure::Rate
    }

    fn data(&self, parameters: &Parameters, dialect: Dialect) -> Result<DataSet> {
        Ok(DataSet::new("htap", parameters.seed, tables(parameters.rows, dialect)))
    }

    /// Sales are added in each run.
    fn keeps_data(&self) -> bool {
        false
    }

    fn stage(&self, setting: &Setting, session: &mut Session) -> Result<Arc<dyn Stage>> {
        let parameters = &setting.parameters;
        let reporters = self.reporters(parameters)?.min(setting.clients.saturating_sub(1));
        let loaded = session.integer("SELECT COUNT(*) FROM htap_sale")?;
        Ok(Arc::new(Shop {
            picker: parameters.distribution.picker(parameters.rows),
            points: setting.clients - reporters,
            next: Arc::new(AtomicU64::new(loaded as u64 + 1)),
        }))
    }
}

fn tables(customers: u64, dialect: Dialect) -> Vec<Table> {
    let mut customer = Table::filled(
        "htap_customer",
        "id INTEGER NOT NULL, region INTEGER NOT NULL, name VARCHAR(40) NOT NULL, \
         spent DECIMAL(15,2) NOT NULL, PRIMARY KEY (id)",
        "id, region, name, spent",
        customers,
        |row, _, out| {
            let id = row as i64 + 1;
            out.put(id).put(region(id)).show(format_args!("customer {id}"));
            // The sum of the customer's sales below.
            let spent: u64 = (0..SALES).map(|sale| cents(row * SALES + sale)).sum();
            out.show(money(spent)).end();
        },
    );
    let mut sale = Table::filled(
        "htap_sale",
        "id BIGINT NOT NULL, customer INTEGER NOT NULL, day INTEGER NOT NULL, \
         amount DECIMAL(15,2) NOT NULL, PRIMARY KEY (id)",
        "id, customer, day, amount",
        customers * SALES,
        |row, rng, out: &mut Rows| {
            out.put(row as i64 + 1).put((row / SALES) as i64 + 1).put(rng.below(DAYS) as i64);
            out.show(money(cents(row))).end();
        },
    );
    sale.indexes = vec!["CREATE INDEX htap_sale_customer ON htap_sale (customer)".to_owned()];
    for table in [&mut customer, &mut sale] {
        table.create += dialect.table_options();
    }
    vec![customer, sale]
}

const DAYS: u64 = 365;

fn region(customer: i64) -> i64 {
    customer % REGIONS as i64
}

/// The price of a sale that was loaded.
fn cents(sale: u64) -> u64 {
    100 + sale % 9_973
}

fn money(cents: u64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

struct Shop {
    picker: Picker,
    /// Clients with a lower number run points, the others reports.
    points: usize,
    /// The key of the next sale.
    next: Arc<AtomicU64>,
}

impl Stage for Shop {
    fn script(&self, client: usize) -> Box<dyn Script> {
        let (picker, next) = (self.picker.clone(), self.next.clone());
        let reports = client >= self.points;
        Box::new(Client { picker, next, reports, reported: 0, sold: 0, statements: Vec::new() })
    }

    fn check(&self, session: &mut Session, tally: &Tally) -> Result<()> {
        let sold = tally.get("sold").copied().unwrap_or(0);
        let loaded = session.integer("SELECT COUNT(*) * 10 FROM htap_customer")?;
        session.expect(&[("SELECT COUNT(*) FROM htap_sale", loaded + sold)])?;
        let answer = session.query(TOTALS)?;
        balanced(answer.number(0, 0), answer.number(0, 1))
    }

    fn extras(&self, outcome: &Outcome) -> Vec<(String, &'static str, f64)> {
        let of = |name: &str| outcome.kinds.iter().find(|kind| kind.name == name);
        let rate = |kind: &TransactionKind| kind.transactions as f64 / outcome.seconds.max(1e-9);
        let mut extras = Vec::new();
        for name in KINDS {
            let Some(kind) = of(name).filter(|kind| kind.transactions > 0) else { continue };
            extras.push((format!("{name} rate"), "per s", rate(kind)));
            extras.push((format!("{name} p99"), "µs", kind.latency.p99));
        }
        extras
    }
}

/// What each committed state holds equal.
const TOTALS: &str = "SELECT c.spent, s.amount FROM \
                      (SELECT SUM(spent) AS spent FROM htap_customer) c, \
                      (SELECT SUM(amount) AS amount FROM htap_sale) s";

/// The reports: the totals, sales by region, and the days of one region.
const REPORTS: [&str; 3] = [
    TOTALS,
    "SELECT c.region, COUNT(*), SUM(s.amount) FROM htap_sale s, htap_customer c \
     WHERE s.customer = c.id GROUP BY c.region ORDER BY c.region",
    "SELECT s.day, SUM(s.amount) FROM htap_sale s, htap_customer c \
     WHERE s.customer = c.id AND c.region = 7 GROUP BY s.day ORDER BY 2 DESC, 1 LIMIT 10",
];

/// Sums that must be one.
fn balanced(spent: Option<f64>, sold: Option<f64>) -> Result<()> {
    match (spent, sold) {
        // SQLite's decimals are floating-point numbers.
        (Some(spent), Some(sold)) if (spent - sold).abs() < 0.005 => Ok(()),
        _ => Err(Failure::wrong(format!("customers have spent {spent:?}, sales are {sold:?}"))),
    }
}

struct Client {
    picker: Picker,
    next: Arc<AtomicU64>,
    /// Whether this client runs reports.
    reports: bool,
    reported: usize,
    sold: i64,
    statements: Vec<Statement>,
}

impl Client {
    fn report(&mut self, session: &mut Session) -> Result<usize> {
        let number = self.reported % REPORTS.len();
        let answer = session.run(self.statements[number], &[])?;
        match number {
            0 => balanced(answer.number(0, 0), answer.number(0, 1))?,
            1 if answer.rows() != REGIONS as usize => {
                return Err(Failure::wrong(format!("{} regions, not {REGIONS}", answer.rows())));
            }
            2 if answer.rows() != 10 => {
                return Err(Failure::wrong(format!("{} days, not 10", answer.rows())));
            }
            _ => {}
        }
        self.reported += 1;
        Ok(REPORT)
    }

    fn lookup(&self, session: &mut Session, customer: i64) -> Result<usize> {
        let answer = session.run(self.statements[0], &[customer.into()])?;
        if answer.rows() != 1 || answer.int(0, 0) != Some(region(customer)) {
            return Err(Failure::wrong(format!("customer {customer} is not found, or another")));
        }
        Ok(0)
    }

    fn sell(&mut self, session: &mut Session, customer: i64, rng: &mut Rng) -> Result<usize> {
        let id = self.next.fetch_add(1, Ordering::Relaxed) as i64;
        let amount = money(100 + rng.below(10_000));
        let day = rng.below(DAYS) as i64;
        session.begin()?;
        let row = [id.into(), customer.into(), day.into(), (&amount).into()];
        let mut changed = session.run(self.statements[1], &row)?.affected();
        let raise = [(&amount).into(), customer.into()];
        changed += session.run(self.statements[2], &raise)?.affected();
        session.commit()?;
        if changed != 2 {
            return Err(Failure::wrong(format!("a sale changed {changed} rows, not 2")));
        }
        self.sold += 1;
        Ok(1)
    }
}

impl Script for Client {
    fn start(&mut self, session: &mut Session) -> Result<()> {
        let points = [
            "SELECT region, name, spent FROM htap_customer WHERE id = ?",
            "INSERT INTO htap_sale (id, customer, day, amount) VALUES (?, ?, ?, ?)",
            "UPDATE htap_customer SET spent = spent + CAST(? AS DECIMAL(15,2)) WHERE id = ?",
        ];
        for text in if self.reports { REPORTS } else { points } {
            self.statements.push(session.statement(text)?);
        }
        Ok(())
    }

    fn transaction(&mut self, session: &mut Session, rng: &mut Rng) -> Result<usize> {
        if self.reports {
            return self.report(session);
        }
        let customer = self.picker.pick(rng);
        if rng.chance(SELLING) {
            self.sell(session, customer, rng)
        } else {
            self.lookup(session, customer)
        }
    }

    fn tally(&self, tally: &mut Tally) {
        *tally.entry("sold").or_default() += self.sold;
    }
}
