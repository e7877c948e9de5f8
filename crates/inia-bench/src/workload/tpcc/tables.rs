//! TPC-C's nine tables and their first rows.
//!
//! The rows of one number draw from equal generators in every table, so that an order and its
//! lines agree on how many lines there are by drawing that first.

use super::draw::{data, filled, known_last_name, last_name, letters};
use super::{DISTRICTS, Size};
use crate::random::Rng;
use crate::target::Dialect;
use crate::workload::php::place;
use crate::workload::{Rows, Table};

/// When everything that is there at first was entered.
const BEGINNING: &str = "2005-03-01 08:00:00";

const WAREHOUSE: &str = "w_id INTEGER NOT NULL, w_name VARCHAR(10) NOT NULL, \
    w_street_1 VARCHAR(20) NOT NULL, w_street_2 VARCHAR(20) NOT NULL, w_city VARCHAR(20) NOT NULL, \
    w_state CHAR(2) NOT NULL, w_zip CHAR(9) NOT NULL, w_tax DECIMAL(4,4) NOT NULL, \
    w_ytd DECIMAL(12,2) NOT NULL, PRIMARY KEY (w_id)";
const DISTRICT: &str = "d_id INTEGER NOT NULL, d_w_id INTEGER NOT NULL, \
    d_name VARCHAR(10) NOT NULL, d_street_1 VARCHAR(20) NOT NULL, d_street_2 VARCHAR(20) NOT NULL, \
    d_city VARCHAR(20) NOT NULL, d_state CHAR(2) NOT NULL, d_zip CHAR(9) NOT NULL, \
    d_tax DECIMAL(4,4) NOT NULL, d_ytd DECIMAL(12,2) NOT NULL, d_next_o_id INTEGER NOT NULL, \
    PRIMARY KEY (d_w_id, d_id)";
const CUSTOMER: &str = "c_id INTEGER NOT NULL, c_d_id INTEGER NOT NULL, c_w_id INTEGER NOT NULL, \
    c_first VARCHAR(16) NOT NULL, c_middle CHAR(2) NOT NULL, c_last VARCHAR(16) NOT NULL, \
    c_street_1 VARCHAR(20) NOT NULL, c_street_2 VARCHAR(20) NOT NULL, c_city VARCHAR(20) NOT NULL, \
    c_state CHAR(2) NOT NULL, c_zip CHAR(9) NOT NULL, c_phone CHAR(16) NOT NULL, \
    c_since DATETIME NOT NULL, c_credit CHAR(2) NOT NULL, c_credit_lim DECIMAL(12,2) NOT NULL, \
    c_discount DECIMAL(4,4) NOT NULL, c_balance DECIMAL(12,2) NOT NULL, \
    c_ytd_payment DECIMAL(12,2) NOT NULL, c_payment_cnt INTEGER NOT NULL, \
    c_delivery_cnt INTEGER NOT NULL, c_data VARCHAR(500) NOT NULL, \
    PRIMARY KEY (c_w_id, c_d_id, c_id)";
const HISTORY: &str = "h_c_id INTEGER NOT NULL, h_c_d_id INTEGER NOT NULL, \
    h_c_w_id INTEGER NOT NULL, h_d_id INTEGER NOT NULL, h_w_id INTEGER NOT NULL, \
    h_date DATETIME NOT NULL, h_amount DECIMAL(6,2) NOT NULL, h_data VARCHAR(24) NOT NULL";
const NEW_ORDER: &str = "no_o_id INTEGER NOT NULL, no_d_id INTEGER NOT NULL, \
    no_w_id INTEGER NOT NULL, PRIMARY KEY (no_w_id, no_d_id, no_o_id)";
const ORDERS: &str = "o_id INTEGER NOT NULL, o_d_id INTEGER NOT NULL, o_w_id INTEGER NOT NULL, \
    o_c_id INTEGER NOT NULL, o_entry_d DATETIME NOT NULL, o_carrier_id INTEGER, \
    o_ol_cnt INTEGER NOT NULL, o_all_local INTEGER NOT NULL, PRIMARY KEY (o_w_id, o_d_id, o_id)";
const ORDER_LINE: &str = "ol_o_id INTEGER NOT NULL, ol_d_id INTEGER NOT NULL, \
    ol_w_id INTEGER NOT NULL, ol_number INTEGER NOT NULL, ol_i_id INTEGER NOT NULL, \
    ol_supply_w_id INTEGER NOT NULL, ol_delivery_d DATETIME, ol_quantity INTEGER NOT NULL, \
    ol_amount DECIMAL(6,2) NOT NULL, ol_dist_info CHAR(24) NOT NULL, \
    PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)";
const ITEM: &str = "i_id INTEGER NOT NULL, i_im_id INTEGER NOT NULL, i_name VARCHAR(24) NOT NULL, \
    i_price DECIMAL(5,2) NOT NULL, i_data VARCHAR(50) NOT NULL, PRIMARY KEY (i_id)";
const STOCK: &str = "s_i_id INTEGER NOT NULL, s_w_id INTEGER NOT NULL, \
    s_quantity INTEGER NOT NULL, s_dist_01 CHAR(24) NOT NULL, s_dist_02 CHAR(24) NOT NULL, \
    s_dist_03 CHAR(24) NOT NULL, s_dist_04 CHAR(24) NOT NULL, s_dist_05 CHAR(24) NOT NULL, \
    s_dist_06 CHAR(24) NOT NULL, s_dist_07 CHAR(24) NOT NULL, s_dist_08 CHAR(24) NOT NULL, \
    s_dist_09 CHAR(24) NOT NULL, s_dist_10 CHAR(24) NOT NULL, s_ytd INTEGER NOT NULL, \
    s_order_cnt INTEGER NOT NULL, s_remote_cnt INTEGER NOT NULL, s_data VARCHAR(50) NOT NULL, \
    PRIMARY KEY (s_w_id, s_i_id)";

/// All nine, in the order they are loaded.
pub(super) fn all(size: Size, dialect: Dialect) -> Vec<Table> {
    let districts = size.warehouses * DISTRICTS;
    let people = districts * size.customers;
    let mut tables = vec![
        Table::filled("item", ITEM, "i_id, i_im_id, i_name, i_price, i_data", size.items, item),
        Table::filled(
            "warehouse",
            WAREHOUSE,
            "w_id, w_name, w_street_1, w_street_2, w_city, w_state, w_zip, w_tax, w_ytd",
            size.warehouses,
            move |row, rng, out| {
                out.put(row as i64 + 1);
                place_and_tax(rng, out);
                out.put(&money(size.customers * DISTRICTS * 1_000)).end();
            },
        ),
        Table::filled(
            "district",
            DISTRICT,
            "d_w_id, d_id, d_name, d_street_1, d_street_2, d_city, d_state, d_zip, d_tax, d_ytd, \
             d_next_o_id",
            districts,
            move |row, rng, out| {
                out.put((row / DISTRICTS) as i64 + 1).put((row % DISTRICTS) as i64 + 1);
                place_and_tax(rng, out);
                out.put(&money(size.customers * 1_000)).put(size.customers as i64 + 1).end();
            },
        ),
        Table::filled(
            "stock",
            STOCK,
            "s_w_id, s_i_id, s_quantity, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, \
             s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10, s_ytd, s_order_cnt, \
             s_remote_cnt, s_data",
            size.warehouses * size.items,
            move |row, rng, out| stock(size, row, rng, out),
        ),
        Table::filled(
            "customer",
            CUSTOMER,
            "c_w_id, c_d_id, c_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, \
             c_state, c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance, \
             c_ytd_payment, c_payment_cnt, c_delivery_cnt, c_data",
            people,
            move |row, rng, out| customer(size, row, rng, out),
        ),
    ];
    tables.extend(past(size));
    for table in &mut tables {
        table.create =
            table.create.replace("DATETIME", dialect.datetime()) + dialect.table_options();
        let index = match table.name.as_str() {
            "customer" => "customer_name ON customer (c_w_id, c_d_id, c_last, c_first)",
            "orders" => "orders_customer ON orders (o_w_id, o_d_id, o_c_id, o_id)",
            _ => continue,
        };
        table.indexes.push(format!("CREATE INDEX {index}"));
    }
    tables
}

/// What happened before the first day: payments, orders, their lines.
fn past(size: Size) -> Vec<Table> {
    let districts = size.warehouses * DISTRICTS;
    let people = districts * size.customers;
    vec![
        Table::filled(
            "history",
            HISTORY,
            "h_c_w_id, h_c_d_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data",
            people,
            move |row, rng, out| {
                let (w, d, c) = split(row, size.customers);
                out.put(w).put(d).put(c).put(d).put(w).put(BEGINNING).put("10.00");
                out.put(&letters(rng, 12, 24)).end();
            },
        ),
        Table::filled(
            "orders",
            ORDERS,
            "o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local",
            people,
            move |row, rng, out| order(size, row, rng, out),
        ),
        Table::filled(
            "order_line",
            ORDER_LINE,
            "ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, \
             ol_quantity, ol_amount, ol_dist_info",
            people,
            move |row, rng, out| order_lines(size, row, rng, out),
        ),
        Table::filled(
            "new_order",
            NEW_ORDER,
            "no_w_id, no_d_id, no_o_id",
            districts * size.undelivered(),
            move |row, _, out| {
                let (w, d, n) = split(row, size.undelivered());
                out.put(w).put(d).put(size.delivered() as i64 + n).end();
            },
        ),
    ]
}

/// Warehouse, district and number within the district, all from 1.
fn split(row: u64, each: u64) -> (i64, i64, i64) {
    let district = row / each;
    let (w, d) = (district / DISTRICTS, district % DISTRICTS);
    (w as i64 + 1, d as i64 + 1, (row % each) as i64 + 1)
}

/// Cents as a decimal number.
fn money(cents: u64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

fn address(rng: &mut Rng, out: &mut Rows) {
    for _ in 0..3 {
        out.put(&letters(rng, 10, 20));
    }
    out.put(&filled(rng, "@@")).put(&filled(rng, "####11111"));
}

fn place_and_tax(rng: &mut Rng, out: &mut Rows) {
    out.put(&letters(rng, 6, 10));
    address(rng, out);
    out.put(&format!("0.{:04}", rng.between(0, 2_000)));
}

fn item(row: u64, rng: &mut Rng, out: &mut Rows) {
    out.put(row as i64 + 1).put(rng.between(1, 10_000)).put(&letters(rng, 14, 24));
    out.put(&money(rng.between(100, 10_000) as u64)).put(&data(rng)).end();
}

fn stock(size: Size, row: u64, rng: &mut Rng, out: &mut Rows) {
    out.put((row / size.items) as i64 + 1).put((row % size.items) as i64 + 1);
    out.put(rng.between(10, 100));
    for _ in 0..DISTRICTS {
        out.put(&letters(rng, 24, 24));
    }
    out.put(0).put(0).put(0).put(&data(rng)).end();
}

fn customer(size: Size, row: u64, rng: &mut Rng, out: &mut Rows) {
    let (w, d, c) = split(row, size.customers);
    let last = match c {
        1..=1_000 => last_name(c as u64 - 1),
        _ => known_last_name(rng, size.customers),
    };
    out.put(w).put(d).put(c).put(&letters(rng, 8, 16)).put("OE").put(&last);
    address(rng, out);
    out.put(&filled(rng, "################")).put(BEGINNING);
    out.put(if rng.chance(0.1) { "BC" } else { "GC" }).put("50000.00");
    out.put(&format!("0.{:04}", rng.between(0, 5_000))).put("-10.00").put("10.00");
    out.put(1).put(0).put(&letters(rng, 300, 500)).end();
}

/// Drawn first, by the order and by its lines.
fn line_count(rng: &mut Rng) -> i64 {
    rng.between(5, 15)
}

fn delivered(size: Size, order: i64) -> bool {
    order as u64 <= size.delivered()
}

fn order(size: Size, row: u64, rng: &mut Rng, out: &mut Rows) {
    let (w, d, o) = split(row, size.customers);
    let lines = line_count(rng);
    let customer = place(o as u64, size.customers) as i64 + 1;
    out.put(w).put(d).put(o).put(customer).put(BEGINNING);
    if delivered(size, o) {
        out.put(rng.between(1, 10));
    } else {
        out.null();
    }
    out.put(lines).put(1).end();
}

fn order_lines(size: Size, row: u64, rng: &mut Rng, out: &mut Rows) {
    let (w, d, o) = split(row, size.customers);
    for number in 1..=line_count(rng) {
        out.put(w).put(d).put(o).put(number).put(rng.between(1, size.items as i64)).put(w);
        if delivered(size, o) {
            out.put(BEGINNING).put(5).put("0.00");
        } else {
            out.null().put(5).put(&money(rng.between(1, 999_999) as u64));
        }
        out.put(&letters(rng, 24, 24)).end();
    }
}
