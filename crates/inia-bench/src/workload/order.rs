//! Order and inventory, the domain of SPECjAppServer2002: customers order goods, a factory makes
//! them from parts by work orders, and suppliers send the parts.
//!
//! `rows` counts customers, `scale` multiplies the goods (100 each). The mix of operations is half
//! new orders, then changes, status and customer status, and as many work orders as orders are
//! large. The option `price` (of the whole system) gives the price per operation and second.
//! Amounts are whole cents.

use super::{DataSet, Parameters, Rows, Script, Setting, Stage, Table, Tally, Workload};
use crate::random::{Picker, Rng};
use crate::record::Outcome;
use crate::session::{Session, Statement};
use crate::target::{Dialect, Failure, Param, Result};
use std::sync::Arc;

pub(super) const WORKLOADS: &[&dyn Workload] = &[&Orders];

/// Kinds of goods for each unit of scale; every one is made of three parts.
const GOODS: u64 = 100;
const PARTS: i64 = 3;
/// Goods and parts in stock at first.
const FIRST_STOCK: i64 = 10_000;
/// Below this many parts, a purchase order is sent for as many again.
const LOW_STOCK: i64 = 5_000;

struct Orders;

impl Workload for Orders {
    fn name(&self) -> &'static str {
        "order_inventory"
    }

    fn about(&self) -> &'static str {
        "orders, manufacturing and supply, in SPECjAppServer2002's domain"
    }

    fn family(&self) -> &'static str {
        "Order and inventory"
    }

    fn unit(&self) -> &'static str {
        "operations"
    }

    fn defaults(&self) -> Parameters {
        Parameters { rows: 7_500, scale: 10, ..Parameters::default() }
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        &[("price", "what the system costs, for the price per operation and second")]
    }

    fn kinds(&self) -> &'static [&'static str] {
        &["new order", "change order", "order status", "customer status", "work order"]
    }

    fn data(&self, parameters: &Parameters, dialect: Dialect) -> Result<DataSet> {
        let goods = parameters.scale * GOODS;
        let mut tables = vec![
            table(
                "o_customer",
                "c_id INTEGER NOT NULL PRIMARY KEY, c_name VARCHAR(32) NOT NULL, \
                 c_credit INTEGER NOT NULL, c_spent BIGINT NOT NULL",
                "c_id, c_name, c_credit, c_spent",
                parameters.rows,
                dialect,
                |row, rng, out| {
                    let mut name = String::new();
                    rng.fill("@@@@@@@@ @@@@@@@@@@", &mut name);
                    out.put(row as i64 + 1).put(&name).put(rng.between(1, 9)).put(0).end();
                },
            ),
            table(
                "o_item",
                "i_id INTEGER NOT NULL PRIMARY KEY, i_name VARCHAR(32) NOT NULL, \
                 i_price INTEGER NOT NULL, i_stock BIGINT NOT NULL",
                "i_id, i_name, i_price, i_stock",
                goods,
                dialect,
                |row, rng, out| {
                    let mut name = String::new();
                    rng.fill("@@@@@@@@@@@@", &mut name);
                    let price = rng.between(100, 99_999);
                    out.put(row as i64 + 1).put(&name).put(price).put(FIRST_STOCK).end();
                },
            ),
            table(
                "o_part",
                "p_id INTEGER NOT NULL PRIMARY KEY, p_item INTEGER NOT NULL, \
                 p_supplier INTEGER NOT NULL, p_cost INTEGER NOT NULL, p_stock BIGINT NOT NULL",
                "p_id, p_item, p_supplier, p_cost, p_stock",
                goods * PARTS as u64,
                dialect,
                |row, rng, out| {
                    let (id, item) = (row as i64 + 1, row as i64 / PARTS + 1);
                    let (supplier, cost) = (rng.between(1, 100), rng.between(10, 999));
                    out.put(id).put(item).put(supplier).put(cost).put(FIRST_STOCK).end();
                },
            ),
        ];
        tables.extend(trade(dialect));
        Ok(DataSet::new("order_inventory", parameters.seed, tables))
    }

    /// Numbers of orders start anew with each run.
    fn keeps_data(&self) -> bool {
        false
    }

    fn stage(&self, setting: &Setting, session: &mut Session) -> Result<Arc<dyn Stage>> {
        let parameters = &setting.parameters;
        let price = parameters.number("price", 0.0)?;
        let customers = session.integer("SELECT COUNT(*) FROM o_customer")?;
        if customers as u64 != parameters.rows {
            return Err(Failure::wrong(format!("o_customer has {customers} rows")));
        }
        let goods = (parameters.scale * GOODS) as i64;
        let picker = |n: i64| parameters.distribution.picker(n as u64);
        Ok(Arc::new(Company { customers: picker(customers), items: picker(goods), goods, price }))
    }
}

/// What starts empty: orders, work orders and purchases.
fn trade(dialect: Dialect) -> Vec<Table> {
    vec![
        empty(
            "o_order",
            "o_id BIGINT NOT NULL PRIMARY KEY, o_customer INTEGER NOT NULL, \
                 o_total BIGINT NOT NULL, o_lines INTEGER NOT NULL, o_state INTEGER NOT NULL",
            &["o_customer"],
            dialect,
        ),
        empty(
            "o_line",
            "l_order BIGINT NOT NULL, l_number INTEGER NOT NULL, l_item INTEGER NOT NULL, \
                 l_quantity INTEGER NOT NULL, l_amount BIGINT NOT NULL, \
                 PRIMARY KEY (l_order, l_number)",
            &[],
            dialect,
        ),
        empty(
            "o_work",
            "w_id BIGINT NOT NULL PRIMARY KEY, w_item INTEGER NOT NULL, \
                 w_quantity INTEGER NOT NULL, w_stage INTEGER NOT NULL",
            &[],
            dialect,
        ),
        empty(
            "o_purchase",
            "u_id BIGINT NOT NULL PRIMARY KEY, u_part INTEGER NOT NULL, \
                 u_supplier INTEGER NOT NULL, u_quantity INTEGER NOT NULL, u_cost BIGINT NOT NULL",
            &[],
            dialect,
        ),
    ]
}

fn table(
    name: &str,
    columns: &str,
    given: &'static str,
    rows: u64,
    dialect: Dialect,
    fill: impl Fn(u64, &mut Rng, &mut Rows) + Send + Sync + 'static,
) -> Table {
    let create = format!("CREATE TABLE {name} ({columns}){}", dialect.table_options());
    Table { create, ..Table::filled(name, columns, given, rows, fill) }
}

fn empty(name: &str, columns: &str, indexes: &[&str], dialect: Dialect) -> Table {
    let create = format!("CREATE TABLE {name} ({columns}){}", dialect.table_options());
    let mut table = Table::empty(name, create);
    table.indexes = indexes
        .iter()
        .map(|column| format!("CREATE INDEX {name}_by_{column} ON {name} ({column})"))
        .collect();
    table
}

struct Company {
    customers: Picker,
    items: Picker,
    goods: i64,
    price: f64,
}

impl Stage for Company {
    fn script(&self, client: usize) -> Box<dyn Script> {
        Box::new(Client {
            customers: self.customers.clone(),
            items: self.items.clone(),
            first: (client as i64 + 1) << 32,
            statements: Vec::new(),
            orders: 0,
            works: 0,
            purchases: 0,
        })
    }

    /// Nothing is made, sold or paid that the tables do not account for.
    fn check(&self, session: &mut Session, tally: &Tally) -> Result<()> {
        let done = |name| tally.get(name).copied().unwrap_or(0);
        let stock = self.goods * FIRST_STOCK;
        session.expect(&[
            ("SELECT COUNT(*) FROM o_order", done("orders")),
            ("SELECT COUNT(*) FROM o_work WHERE w_stage = 3", done("works")),
            ("SELECT COUNT(*) FROM o_purchase", done("purchases")),
            (
                "SELECT COUNT(*) FROM o_order JOIN (SELECT l_order, SUM(l_amount) AS total, \
                 COUNT(*) AS n FROM o_line GROUP BY l_order) s ON l_order = o_id \
                 WHERE o_total <> total OR o_lines <> n",
                0,
            ),
            (
                "SELECT (SELECT SUM(c_spent) FROM o_customer) \
                 - (SELECT COALESCE(SUM(o_total), 0) FROM o_order)",
                0,
            ),
            (
                "SELECT (SELECT SUM(i_stock) FROM o_item) \
                 + (SELECT COALESCE(SUM(l_quantity), 0) FROM o_line) \
                 - (SELECT COALESCE(SUM(w_quantity), 0) FROM o_work)",
                stock,
            ),
            (
                "SELECT (SELECT SUM(p_stock) FROM o_part) \
                 + 3 * (SELECT COALESCE(SUM(w_quantity), 0) FROM o_work) \
                 - (SELECT COALESCE(SUM(u_quantity), 0) FROM o_purchase)",
                stock * PARTS,
            ),
        ])
    }

    fn extras(&self, outcome: &Outcome) -> Vec<(String, &'static str, f64)> {
        let rate = outcome.rate;
        if self.price <= 0.0 || rate <= 0.0 {
            return Vec::new();
        }
        vec![("price".to_owned(), "per operation and second", self.price / rate)]
    }
}

/// The statements, in the order of [`S`].
const TEXTS: [&str; 16] = [
    "SELECT c_credit FROM o_customer WHERE c_id = ?",
    "SELECT i_price FROM o_item WHERE i_id = ?",
    "UPDATE o_item SET i_stock = i_stock - ? WHERE i_id = ?",
    "INSERT INTO o_line (l_order, l_number, l_item, l_quantity, l_amount) VALUES (?, ?, ?, ?, ?)",
    "INSERT INTO o_order (o_id, o_customer, o_total, o_lines, o_state) VALUES (?, ?, ?, ?, 1)",
    "UPDATE o_customer SET c_spent = c_spent + ? WHERE c_id = ?",
    "SELECT l_item, l_quantity, l_amount FROM o_line WHERE l_order = ? AND l_number = 1",
    "UPDATE o_line SET l_quantity = ?, l_amount = ? WHERE l_order = ? AND l_number = 1",
    "UPDATE o_order SET o_total = o_total + ?, o_state = 2 WHERE o_id = ?",
    "SELECT o_customer, o_total, o_lines, l_number, l_item, l_quantity, i_name FROM o_order \
     JOIN o_line ON l_order = o_id JOIN o_item ON i_id = l_item WHERE o_id = ?",
    "SELECT o_id, o_total, o_state FROM o_order WHERE o_customer = ? ORDER BY o_id DESC LIMIT 20",
    "INSERT INTO o_work (w_id, w_item, w_quantity, w_stage) VALUES (?, ?, ?, 1)",
    "UPDATE o_work SET w_stage = w_stage + 1 WHERE w_id = ?",
    "SELECT p_id, p_supplier, p_cost, p_stock FROM o_part WHERE p_id = ?",
    "UPDATE o_part SET p_stock = p_stock + ? WHERE p_id = ?",
    "INSERT INTO o_purchase (u_id, u_part, u_supplier, u_quantity, u_cost) VALUES (?, ?, ?, ?, ?)",
];

#[derive(Clone, Copy)]
#[repr(usize)]
enum S {
    Credit,
    Price,
    TakeItem,
    AddLine,
    AddOrder,
    Spend,
    FirstLine,
    ChangeLine,
    ChangeOrder,
    Order,
    OrdersOf,
    AddWork,
    NextStage,
    Part,
    TakePart,
    Purchase,
}

struct Client {
    customers: Picker,
    items: Picker,
    /// Where its numbers of orders start.
    first: i64,
    statements: Vec<Statement>,
    orders: i64,
    works: i64,
    purchases: i64,
}

impl Client {
    fn write(&self, session: &mut Session, statement: S, params: &[Param<'_>]) -> Result<()> {
        let changed = session.run(self.statements[statement as usize], params)?.affected();
        if changed == 1 {
            return Ok(());
        }
        let text = TEXTS[statement as usize];
        Err(Failure::wrong(format!("{text}: {changed} rows, not one")))
    }

    /// The integers of the one row that is found.
    fn read(&self, session: &mut Session, statement: S, key: i64) -> Result<Vec<i64>> {
        let answer = session.run(self.statements[statement as usize], &[key.into()])?;
        let row: Option<Vec<i64>> =
            (0..answer.columns()).map(|column| answer.int(0, column)).collect();
        match row {
            Some(row) if answer.rows() == 1 => Ok(row),
            _ => Err(Failure::wrong(format!("{} finds no row {key}", TEXTS[statement as usize]))),
        }
    }

    fn new_order(&mut self, session: &mut Session, rng: &mut Rng) -> Result<()> {
        let (id, customer) = (self.first + self.orders, self.customers.pick(rng));
        // Items in one order, so that no two clients wait for each other.
        let mut items: Vec<i64> = (0..rng.between(1, 5)).map(|_| self.items.pick(rng)).collect();
        items.sort_unstable();
        session.begin()?;
        let off = self.read(session, S::Credit, customer)?[0];
        let mut total = 0;
        for (n, item) in items.iter().enumerate() {
            let quantity = rng.between(1, 10);
            let amount = self.read(session, S::Price, *item)?[0] * quantity * (100 - off) / 100;
            self.write(session, S::TakeItem, &[quantity.into(), (*item).into()])?;
            let number = n as i64 + 1;
            let line = [id.into(), number.into(), (*item).into(), quantity.into(), amount.into()];
            self.write(session, S::AddLine, &line)?;
            total += amount;
        }
        let count = items.len() as i64;
        let order = [id.into(), customer.into(), total.into(), count.into()];
        self.write(session, S::AddOrder, &order)?;
        self.write(session, S::Spend, &[total.into(), customer.into()])?;
        session.commit()?;
        self.orders += 1;
        Ok(())
    }

    /// One of the orders this client made, if there is one.
    fn some_order(&self, rng: &mut Rng) -> Option<i64> {
        (self.orders > 0).then(|| self.first + rng.below(self.orders as u64) as i64)
    }

    /// Doubles or halves the first line.
    fn change_order(&self, session: &mut Session, id: i64) -> Result<()> {
        session.begin()?;
        let line = self.read(session, S::FirstLine, id)?;
        let [item, quantity, amount] = line[..] else {
            return Err(Failure::wrong("a line of an order has lost its columns"));
        };
        let (changed, price) = if quantity <= 5 {
            (quantity * 2, amount * 2)
        } else {
            (quantity - quantity / 2, amount - amount / 2)
        };
        self.write(session, S::TakeItem, &[(changed - quantity).into(), item.into()])?;
        self.write(session, S::ChangeLine, &[changed.into(), price.into(), id.into()])?;
        self.write(session, S::ChangeOrder, &[(price - amount).into(), id.into()])?;
        let customer = session.run(self.statements[S::Order as usize], &[id.into()])?.int(0, 0);
        let customer = customer.ok_or_else(|| Failure::wrong("an order without a customer"))?;
        self.write(session, S::Spend, &[(price - amount).into(), customer.into()])?;
        session.commit()
    }

    fn order_status(&self, session: &mut Session, id: i64) -> Result<()> {
        let answer = session.run(self.statements[S::Order as usize], &[id.into()])?;
        if answer.int(0, 2) == Some(answer.rows() as i64) {
            return Ok(());
        }
        Err(Failure::wrong(format!("order {id} has {} lines", answer.rows())))
    }

    fn customer_status(&self, session: &mut Session, rng: &mut Rng) -> Result<()> {
        let customer = self.customers.pick(rng);
        self.read(session, S::Credit, customer)?;
        session.run(self.statements[S::OrdersOf as usize], &[customer.into()])?;
        Ok(())
    }

    /// Schedules, makes and completes goods; parts that run low are bought again.
    fn work_order(&mut self, session: &mut Session, rng: &mut Rng) -> Result<()> {
        let (item, quantity) = (self.items.pick(rng), rng.between(10, 100));
        let (id, mut bought) = (self.first + self.works, 0);
        session.begin()?;
        self.write(session, S::AddWork, &[id.into(), item.into(), quantity.into()])?;
        self.write(session, S::TakeItem, &[(-quantity).into(), item.into()])?;
        for n in 1..=PARTS {
            let part = (item - 1) * PARTS + n;
            self.write(session, S::TakePart, &[(-quantity).into(), part.into()])?;
            let row = self.read(session, S::Part, part)?;
            let [_, supplier, cost, stock] = row[..] else {
                return Err(Failure::wrong("a part has lost its columns"));
            };
            if stock < LOW_STOCK {
                let number = self.first + self.purchases + bought;
                let price = cost * LOW_STOCK;
                let order =
                    [number.into(), part.into(), supplier.into(), LOW_STOCK.into(), price.into()];
                self.write(session, S::Purchase, &order)?;
                self.write(session, S::TakePart, &[LOW_STOCK.into(), part.into()])?;
                bought += 1;
            }
        }
        self.write(session, S::NextStage, &[id.into()])?;
        self.write(session, S::NextStage, &[id.into()])?;
        session.commit()?;
        self.works += 1;
        self.purchases += bought;
        Ok(())
    }
}

impl Script for Client {
    fn start(&mut self, session: &mut Session) -> Result<()> {
        for text in TEXTS {
            self.statements.push(session.statement(text)?);
        }
        Ok(())
    }

    /// Of 100 operations 40 are new orders, 16 changes, 16 and 8 status, and 20 work orders.
    fn transaction(&mut self, session: &mut Session, rng: &mut Rng) -> Result<usize> {
        let (drawn, order) = (rng.below(100), self.some_order(rng));
        match (drawn, order) {
            (40..56, Some(id)) => self.change_order(session, id).map(|()| 1),
            (56..72, Some(id)) => self.order_status(session, id).map(|()| 2),
            (72..80, _) => self.customer_status(session, rng).map(|()| 3),
            (80.., _) => self.work_order(session, rng).map(|()| 4),
            _ => self.new_order(session, rng).map(|()| 0),
        }
    }

    fn tally(&self, tally: &mut Tally) {
        *tally.entry("orders").or_default() += self.orders;
        *tally.entry("works").or_default() += self.works;
        *tally.entry("purchases").or_default() += self.purchases;
    }
}
