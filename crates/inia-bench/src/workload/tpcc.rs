//! The wholesaler of TPC-C, as DBT-2 measures it: all five transactions in the standard's mix,
//! without keying and thinking times.
//!
//! `scale` counts warehouses, `rows` the customers (and first orders) of each district, and the
//! option `items` the goods. Client n belongs to warehouse n modulo the warehouses.

mod client;
mod consistency;
mod draw;
mod tables;

use super::{DataSet, Parameters, Script, Setting, Stage, Tally, Workload};
use crate::record::Outcome;
use crate::session::Session;
use crate::target::{Class, Dialect, Failure, Result};
use std::sync::Arc;

pub(super) const WORKLOADS: &[&dyn Workload] = &[&TpcC];

/// Districts of each warehouse.
const DISTRICTS: u64 = 10;

/// How large the company is.
#[derive(Clone, Copy, Debug)]
struct Size {
    warehouses: u64,
    /// Of each district.
    customers: u64,
    items: u64,
}

impl Size {
    fn of(parameters: &Parameters) -> Result<Size> {
        let items = parameters.number("items", 100_000.0)? as u64;
        if parameters.rows == 0 || parameters.scale == 0 || items < 20 {
            let message = "tpcc needs a warehouse, a customer in each district and 20 items";
            return Err(Failure::new(Class::Usage, message));
        }
        Ok(Size { warehouses: parameters.scale, customers: parameters.rows, items })
    }

    /// Orders of each district that are not delivered at first: 900 of 3,000.
    fn undelivered(self) -> u64 {
        (self.customers * 3 / 10).max(1)
    }

    /// Orders of each district that are delivered at first.
    fn delivered(self) -> u64 {
        self.customers - self.undelivered()
    }
}

struct TpcC;

impl Workload for TpcC {
    fn name(&self) -> &'static str {
        "tpcc"
    }

    fn about(&self) -> &'static str {
        "TPC-C-like: new orders, payments, status, deliveries and stock levels"
    }

    fn family(&self) -> &'static str {
        "TPC"
    }

    fn defaults(&self) -> Parameters {
        Parameters { rows: 3_000, scale: 1, ..Parameters::default() }
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        &[("items", "goods in each warehouse (100000)")]
    }

    fn kinds(&self) -> &'static [&'static str] {
        &["new order", "payment", "order status", "delivery", "stock level", "new order, given up"]
    }

    /// The standard says which rows are likelier.
    fn draws(&self) -> bool {
        false
    }

    fn data(&self, parameters: &Parameters, dialect: Dialect) -> Result<DataSet> {
        let size = Size::of(parameters)?;
        let set = DataSet::new("tpcc", parameters.seed, tables::all(size, dialect));
        Ok(DataSet { displaces: &["tpch"], ..set })
    }

    fn stage(&self, setting: &Setting, session: &mut Session) -> Result<Arc<dyn Stage>> {
        let size = Size::of(&setting.parameters)?;
        consistency::check(session, size.delivered())?;
        let orders = session.integer("SELECT COUNT(*) FROM orders")?;
        let payments = session.integer("SELECT COUNT(*) FROM history")?;
        let stock = [session.integer(TAKEN)?, session.integer(COUNTED)?];
        Ok(Arc::new(Company { size, orders, payments, stock }))
    }
}

/// What the stock records of goods taken and of orders, beside what the lines of orders have: no
/// condition of the standard's holds the two together.
const TAKEN: &str =
    "SELECT (SELECT SUM(s_ytd) FROM stock) - (SELECT SUM(ol_quantity) FROM order_line)";
const COUNTED: &str =
    "SELECT (SELECT SUM(s_order_cnt) FROM stock) - (SELECT COUNT(*) FROM order_line)";

/// The company, its orders and payments before the run.
struct Company {
    size: Size,
    orders: i64,
    payments: i64,
    /// The answers to [`TAKEN`] and [`COUNTED`].
    stock: [i64; 2],
}

impl Stage for Company {
    fn script(&self, client: usize) -> Box<dyn Script> {
        let warehouse = client as u64 % self.size.warehouses + 1;
        Box::new(client::Client::new(self.size, warehouse as i64))
    }

    fn check(&self, session: &mut Session, tally: &Tally) -> Result<()> {
        let done = |name| tally.get(name).copied().unwrap_or(0);
        session.expect(&[
            ("SELECT COUNT(*) FROM orders", self.orders + done("orders")),
            ("SELECT COUNT(*) FROM history", self.payments + done("payments")),
            (TAKEN, self.stock[0]),
            (COUNTED, self.stock[1]),
        ])?;
        consistency::check(session, self.size.delivered())
    }

    /// New orders that were committed, per minute.
    fn extras(&self, outcome: &Outcome) -> Vec<(String, &'static str, f64)> {
        let new = outcome.kinds.first().map_or(0, |kind| kind.transactions);
        let minutes = outcome.seconds / 60.0;
        vec![("new orders".to_owned(), "per minute", new as f64 / minutes.max(1e-9))]
    }
}

#[cfg(test)]
mod tests;
