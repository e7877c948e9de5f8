//! The Nile bookstore: a shop's pages, made by a real HTTP application from the target's tables.
//!
//! Each client is a shopper with a kept-alive connection to the application, walking through six
//! sequences of pages: browse, search, register, fill a cart, buy, look at one's orders. The
//! application ([`shop`]) is part of this process and holds a pool of sessions on the target, as
//! application servers do. A transaction is one page; its kind is the sequence it belongs to.
//!
//! `rows` counts books, `scale` customers in thousands. The pool's size is the option `pool`.

mod http;
mod shop;
mod shopper;
mod tables;

use super::{DataSet, Parameters, Script, Setting, Stage, Tally, Workload};
use crate::random::Picker;
use crate::session::Session;
use crate::target::{Dialect, Failure, Result};
use std::sync::Arc;

pub(super) const WORKLOADS: &[&dyn Workload] = &[&Nile];

/// Sequences and how often of 100 each is walked.
const SEQUENCES: [(&str, u64); 6] =
    [("browse", 35), ("search", 25), ("register", 5), ("cart", 15), ("buy", 10), ("orders", 10)];

struct Nile;

impl Workload for Nile {
    fn name(&self) -> &'static str {
        "nile"
    }

    fn about(&self) -> &'static str {
        "a bookstore's six user sequences through an HTTP application"
    }

    fn family(&self) -> &'static str {
        "Nile bookstore"
    }

    fn unit(&self) -> &'static str {
        "pages"
    }

    fn defaults(&self) -> Parameters {
        Parameters { rows: 50_000, scale: 10, ..Parameters::default() }
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        &[("pool", "sessions of the application on the target (32)")]
    }

    fn kinds(&self) -> &'static [&'static str] {
        &["browse", "search", "register", "cart", "buy", "orders"]
    }

    fn data(&self, parameters: &Parameters, dialect: Dialect) -> Result<DataSet> {
        let tables = tables::all(parameters.rows, parameters.scale * 1_000, dialect);
        Ok(DataSet::new("nile", parameters.seed, tables))
    }

    /// Names of new customers start anew with each run.
    fn keeps_data(&self) -> bool {
        false
    }

    fn stage(&self, setting: &Setting, session: &mut Session) -> Result<Arc<dyn Stage>> {
        let books = session.integer("SELECT COUNT(*) FROM books")?;
        let customers = session.integer("SELECT COUNT(*) FROM customers")?;
        if books as u64 != setting.parameters.rows {
            return Err(Failure::wrong(format!("books has {books} rows")));
        }
        let pool = setting.parameters.number("pool", 32.0)? as usize;
        let sessions = pool.clamp(1, setting.clients.max(1));
        let next = session.integer("SELECT MAX(cust_id) FROM customers")? + 1;
        let stock = session.integer("SELECT SUM(stock) FROM books")?;
        let shop = shop::Shop::open(setting, sessions, next)?;
        let picker = |n: i64| setting.parameters.distribution.picker(n as u64);
        let (shelf, visitors) = (picker(books), picker(customers));
        Ok(Arc::new(Street { shop, shelf, visitors, customers, stock }))
    }
}

/// The shop, and what it held in the morning.
struct Street {
    shop: shop::Shop,
    /// Chooses books.
    shelf: Picker,
    /// Chooses customers.
    visitors: Picker,
    customers: i64,
    stock: i64,
}

impl Stage for Street {
    fn script(&self, client: usize) -> Box<dyn Script> {
        let address = self.shop.address();
        let (shelf, visitors) = (self.shelf.clone(), self.visitors.clone());
        Box::new(shopper::Shopper::new(address, client, shelf, visitors))
    }

    /// Books sold and money taken are the same in every table.
    fn check(&self, session: &mut Session, tally: &Tally) -> Result<()> {
        let done = |name| tally.get(name).copied().unwrap_or(0);
        session.expect(&[
            ("SELECT COUNT(*) FROM nile_orders", done("bought")),
            ("SELECT COUNT(*) FROM customers", self.customers + done("registered")),
            ("SELECT COUNT(*) FROM carts", done("carts") - done("bought")),
            (
                "SELECT (SELECT COALESCE(SUM(quantity), 0) FROM cart_lines) \
                 + (SELECT COALESCE(SUM(quantity), 0) FROM order_lines)",
                done("added"),
            ),
            (
                "SELECT (SELECT SUM(stock) FROM books) \
                 + (SELECT COALESCE(SUM(quantity), 0) FROM order_lines)",
                self.stock,
            ),
            (
                "SELECT (SELECT SUM(sold) FROM books) \
                 - (SELECT COALESCE(SUM(quantity), 0) FROM order_lines)",
                0,
            ),
            (
                "SELECT COUNT(*) FROM nile_orders JOIN (SELECT order_id AS paid, \
                 SUM(price * quantity) AS sum_paid FROM order_lines GROUP BY order_id) s \
                 ON paid = order_id WHERE total <> sum_paid",
                0,
            ),
        ])
    }
}

#[cfg(test)]
mod tests;
