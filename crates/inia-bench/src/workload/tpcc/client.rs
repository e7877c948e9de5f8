//! The five transactions of TPC-C.
//!
//! Amounts travel as whole cents and become decimals in the statement (`? * 0.01`), so that no
//! target computes with binary fractions where its columns are exact.

use super::draw::{customer, item, known_last_name};
use super::{DISTRICTS, Size};
use crate::random::Rng;
use crate::session::{Session, Statement};
use crate::target::{Answer, Failure, Param, Result};
use crate::workload::{Script, Tally};

/// Shares of new orders, payments, status, deliveries and stock levels, in per cent.
const MIX: [u64; 5] = [45, 43, 4, 4, 4];

/// The kind of new orders that are rolled back.
const GIVEN_UP: usize = 5;

/// Every statement, in the order of [`texts`].
#[derive(Clone, Copy)]
#[repr(usize)]
enum S {
    WarehouseTax,
    DistrictNext,
    DistrictCount,
    CustomerRates,
    NewOrder,
    Undelivered,
    Item,
    /// Followed by those of the other nine districts.
    Stock,
    StockTaken = 17,
    Line,
    WarehousePaid,
    WarehouseAddress,
    DistrictPaid,
    DistrictAddress,
    ByName,
    CustomerLocked,
    CustomerPaid,
    CustomerData,
    History,
    CustomerBalance,
    LastOrder,
    Lines,
    Oldest,
    OldestGone,
    OrderCustomer,
    Carrier,
    LinesDelivered,
    LinesTotal,
    CustomerDelivered,
    NextOrder,
    LowStock,
}

fn texts(lock: &str) -> Vec<String> {
    let person = "c_w_id = ? AND c_d_id = ? AND c_id = ?";
    let district = "d_w_id = ? AND d_id = ?";
    let mut all = vec![
        "SELECT w_tax FROM warehouse WHERE w_id = ?".to_owned(),
        format!("SELECT d_next_o_id, d_tax FROM district WHERE {district}{lock}"),
        format!("UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE {district}"),
        format!("SELECT c_discount, c_last, c_credit FROM customer WHERE {person}"),
        "INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) \
         VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)"
            .to_owned(),
        "INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (?, ?, ?)".to_owned(),
        "SELECT i_price, i_name, i_data FROM item WHERE i_id = ?".to_owned(),
    ];
    all.extend((1..=DISTRICTS).map(|d| {
        format!(
            "SELECT s_quantity, s_data, s_dist_{d:02} FROM stock \
             WHERE s_w_id = ? AND s_i_id = ?{lock}"
        )
    }));
    all.extend(line_texts());
    all.extend(payment_texts(lock));
    all.extend(other_texts(lock));
    all
}

fn line_texts() -> Vec<String> {
    vec![
        "UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, \
         s_remote_cnt = s_remote_cnt + ? WHERE s_w_id = ? AND s_i_id = ?"
            .to_owned(),
        "INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, \
         ol_quantity, ol_amount, ol_dist_info) VALUES (?, ?, ?, ?, ?, ?, ?, ? * 0.01, ?)"
            .to_owned(),
    ]
}

fn payment_texts(lock: &str) -> Vec<String> {
    let person = "c_w_id = ? AND c_d_id = ? AND c_id = ?";
    let district = "d_w_id = ? AND d_id = ?";
    vec![
        "UPDATE warehouse SET w_ytd = w_ytd + ? * 0.01 WHERE w_id = ?".to_owned(),
        "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse \
         WHERE w_id = ?"
            .to_owned(),
        format!("UPDATE district SET d_ytd = d_ytd + ? * 0.01 WHERE {district}"),
        format!(
            "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district \
             WHERE {district}"
        ),
        "SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? \
         ORDER BY c_first"
            .to_owned(),
        format!(
            "SELECT c_first, c_middle, c_last, c_street_1, c_city, c_state, c_zip, c_phone, \
             c_since, c_credit_lim, c_discount, c_balance, c_credit, c_data FROM customer \
             WHERE {person}{lock}"
        ),
        format!(
            "UPDATE customer SET c_balance = c_balance - ? * 0.01, \
             c_ytd_payment = c_ytd_payment + ? * 0.01, c_payment_cnt = c_payment_cnt + 1 \
             WHERE {person}"
        ),
        format!("UPDATE customer SET c_data = ? WHERE {person}"),
        "INSERT INTO history (h_c_w_id, h_c_d_id, h_c_id, h_w_id, h_d_id, h_date, h_amount, \
         h_data) VALUES (?, ?, ?, ?, ?, CURRENT_TIMESTAMP, ? * 0.01, ?)"
            .to_owned(),
    ]
}

fn other_texts(lock: &str) -> Vec<String> {
    let person = "c_w_id = ? AND c_d_id = ? AND c_id = ?";
    let district = "d_w_id = ? AND d_id = ?";
    let order = "o_w_id = ? AND o_d_id = ? AND o_id = ?";
    let lines = "ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?";
    vec![
        format!("SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE {person}"),
        "SELECT o_id, o_carrier_id, o_entry_d FROM orders WHERE o_w_id = ? AND o_d_id = ? \
         AND o_c_id = ? ORDER BY o_id DESC LIMIT 1"
            .to_owned(),
        format!(
            "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d \
             FROM order_line WHERE {lines}"
        ),
        format!(
            "SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? \
             ORDER BY no_o_id LIMIT 1{lock}"
        ),
        "DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?".to_owned(),
        format!("SELECT o_c_id, o_ol_cnt FROM orders WHERE {order}"),
        format!("UPDATE orders SET o_carrier_id = ? WHERE {order}"),
        format!("UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE {lines}"),
        format!("SELECT SUM(ol_amount) FROM order_line WHERE {lines}"),
        format!(
            "UPDATE customer SET c_balance = c_balance + ? * 0.01, \
             c_delivery_cnt = c_delivery_cnt + 1 WHERE {person}"
        ),
        format!("SELECT d_next_o_id FROM district WHERE {district}"),
        "SELECT COUNT(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id \
         AND s_i_id = ol_i_id WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id >= ? AND ol_o_id < ? \
         AND s_quantity < ?"
            .to_owned(),
    ]
}

pub(super) struct Client {
    size: Size,
    warehouse: i64,
    statements: Vec<Statement>,
    orders: i64,
    payments: i64,
}

/// One line of a new order.
struct Line {
    item: i64,
    supplier: i64,
    quantity: i64,
}

/// A cell in whole cents.
fn cents(answer: &Answer, row: usize, column: usize) -> Result<i64> {
    let value = answer.number(row, column).ok_or_else(|| Failure::wrong("an amount is NULL"))?;
    Ok((value * 100.0).round() as i64)
}

fn int(answer: &Answer, column: usize) -> Result<i64> {
    answer.int(0, column).ok_or_else(|| Failure::wrong("a number is missing"))
}

fn one(rows: u64, what: &str) -> Result<()> {
    if rows == 1 { Ok(()) } else { Err(Failure::wrong(format!("{what}: {rows} rows, not one"))) }
}

impl Client {
    pub(super) fn new(size: Size, warehouse: i64) -> Client {
        Client { size, warehouse, statements: Vec::new(), orders: 0, payments: 0 }
    }

    fn run<'s>(
        &self,
        session: &'s mut Session,
        statement: usize,
        params: &[Param<'_>],
    ) -> Result<&'s Answer> {
        session.run(self.statements[statement], params)
    }

    fn read<'s>(
        &self,
        session: &'s mut Session,
        statement: S,
        params: &[Param<'_>],
    ) -> Result<&'s Answer> {
        let answer = self.run(session, statement as usize, params)?;
        one(answer.rows() as u64, "select")?;
        Ok(answer)
    }

    fn write(&self, session: &mut Session, statement: S, params: &[Param<'_>]) -> Result<()> {
        let changed = self.run(session, statement as usize, params)?.affected();
        if changed == 1 {
            return Ok(());
        }
        let number = statement as usize;
        Err(Failure::wrong(format!("statement {number} {params:?} changed {changed} rows")))
    }

    /// Another warehouse than the client's own, if there is one.
    fn elsewhere(&self, rng: &mut Rng) -> i64 {
        let all = self.size.warehouses as i64;
        if all == 1 { 1 } else { (self.warehouse - 1 + rng.between(1, all - 1)) % all + 1 }
    }

    fn lines(&self, rng: &mut Rng) -> Vec<Line> {
        let count = rng.between(5, 15);
        let mut lines: Vec<Line> = (0..count)
            .map(|_| Line {
                item: item(rng, self.size.items),
                supplier: if rng.chance(0.01) { self.elsewhere(rng) } else { self.warehouse },
                quantity: rng.between(1, 10),
            })
            .collect();
        // All clients lock stock in one order.
        lines.sort_by_key(|line| (line.supplier, line.item));
        if rng.chance(0.01)
            && let Some(last) = lines.last_mut()
        {
            last.item = self.size.items as i64 + 1;
        }
        lines
    }

    /// One in a hundred names an item that does not exist, and is rolled back: false.
    fn new_order(&mut self, session: &mut Session, rng: &mut Rng) -> Result<bool> {
        let (w, d) = (self.warehouse, rng.between(1, DISTRICTS as i64));
        let (c, lines) = (customer(rng, self.size.customers), self.lines(rng));
        let local = lines.iter().all(|line| line.supplier == w);
        session.begin()?;
        self.read(session, S::WarehouseTax, &[w.into()])?;
        let o = int(self.read(session, S::DistrictNext, &[w.into(), d.into()])?, 0)?;
        self.write(session, S::DistrictCount, &[w.into(), d.into()])?;
        self.read(session, S::CustomerRates, &[w.into(), d.into(), c.into()])?;
        let count = lines.len() as i64;
        let order = [w.into(), d.into(), o.into(), c.into(), count.into(), i64::from(local).into()];
        self.write(session, S::NewOrder, &order)?;
        self.write(session, S::Undelivered, &[w.into(), d.into(), o.into()])?;
        for (n, line) in lines.iter().enumerate() {
            if !self.line(session, (d, o, n as i64 + 1), line)? {
                session.rollback()?;
                return Ok(false);
            }
        }
        session.commit()?;
        self.orders += 1;
        Ok(true)
    }

    /// Takes one item from its stock; false if there is no such item.
    fn line(&self, session: &mut Session, at: (i64, i64, i64), line: &Line) -> Result<bool> {
        let ((d, o, number), w, i, s) = (at, self.warehouse, line.item, line.supplier);
        let answer = self.run(session, S::Item as usize, &[i.into()])?;
        if answer.rows() == 0 && i > self.size.items as i64 {
            return Ok(false);
        }
        one(answer.rows() as u64, "item")?;
        let price = cents(answer, 0, 0)?;
        let answer =
            self.run(session, S::Stock as usize + d as usize - 1, &[s.into(), i.into()])?;
        one(answer.rows() as u64, "stock")?;
        let (held, info) = (int(answer, 0)?, answer.text(0, 2).unwrap_or_default());
        let left = held - line.quantity + if held >= line.quantity + 10 { 0 } else { 91 };
        let remote = i64::from(s != w);
        let taken = [left.into(), line.quantity.into(), remote.into(), s.into(), i.into()];
        self.write(session, S::StockTaken, &taken)?;
        let amount = line.quantity * price;
        let params = [
            w.into(),
            d.into(),
            o.into(),
            number.into(),
            i.into(),
            s.into(),
            line.quantity.into(),
            amount.into(),
            Param::Text(info.trim_end()),
        ];
        self.write(session, S::Line, &params)?;
        Ok(true)
    }

    /// A customer by number, or in six of ten cases the middle one of a last name.
    fn choose(&self, session: &mut Session, rng: &mut Rng, w: i64, d: i64) -> Result<i64> {
        if rng.chance(0.4) {
            return Ok(customer(rng, self.size.customers));
        }
        let name = known_last_name(rng, self.size.customers);
        let answer =
            self.run(session, S::ByName as usize, &[w.into(), d.into(), (&name).into()])?;
        let middle = answer.rows().div_ceil(2).saturating_sub(1);
        answer.int(middle, 0).ok_or_else(|| Failure::wrong(format!("no customer is named {name}")))
    }

    fn payment(&mut self, session: &mut Session, rng: &mut Rng) -> Result<()> {
        let (w, d) = (self.warehouse, rng.between(1, DISTRICTS as i64));
        let amount = rng.between(100, 500_000);
        let (cw, cd) = if rng.chance(0.85) || self.size.warehouses == 1 {
            (w, d)
        } else {
            (self.elsewhere(rng), rng.between(1, DISTRICTS as i64))
        };
        session.begin()?;
        self.write(session, S::WarehousePaid, &[amount.into(), w.into()])?;
        let answer = self.read(session, S::WarehouseAddress, &[w.into()])?;
        let mut note = answer.text(0, 0).unwrap_or_default();
        self.write(session, S::DistrictPaid, &[amount.into(), w.into(), d.into()])?;
        let answer = self.read(session, S::DistrictAddress, &[w.into(), d.into()])?;
        note.push_str("    ");
        note.push_str(&answer.text(0, 0).unwrap_or_default());
        let c = self.choose(session, rng, cw, cd)?;
        let person: [Param<'_>; 3] = [cw.into(), cd.into(), c.into()];
        let answer = self.read(session, S::CustomerLocked, &person)?;
        let bad = answer.text(0, 12).as_deref() == Some("BC");
        let past = answer.text(0, 13).unwrap_or_default();
        let params = [amount.into(), amount.into(), cw.into(), cd.into(), c.into()];
        self.write(session, S::CustomerPaid, &params)?;
        if bad {
            let mut data = format!("{c} {cd} {cw} {d} {w} {amount} {past}");
            data.truncate(500);
            let params = [(&data).into(), cw.into(), cd.into(), c.into()];
            self.write(session, S::CustomerData, &params)?;
        }
        let history =
            [cw.into(), cd.into(), c.into(), w.into(), d.into(), amount.into(), Param::Text(&note)];
        self.write(session, S::History, &history)?;
        session.commit()?;
        self.payments += 1;
        Ok(())
    }

    fn order_status(&self, session: &mut Session, rng: &mut Rng) -> Result<()> {
        let (w, d) = (self.warehouse, rng.between(1, DISTRICTS as i64));
        session.begin()?;
        let c = self.choose(session, rng, w, d)?;
        let person: [Param<'_>; 3] = [w.into(), d.into(), c.into()];
        self.read(session, S::CustomerBalance, &person)?;
        let o = int(self.read(session, S::LastOrder, &person)?, 0)?;
        let lines = self.run(session, S::Lines as usize, &[w.into(), d.into(), o.into()])?.rows();
        if !(5..=15).contains(&lines) {
            return Err(Failure::wrong(format!("order {o} of district {d} has {lines} lines")));
        }
        session.commit()
    }

    /// The oldest order of each district; districts without one are left out.
    fn delivery(&self, session: &mut Session, rng: &mut Rng) -> Result<()> {
        let (w, carrier) = (self.warehouse, rng.between(1, 10));
        session.begin()?;
        for d in 1..=DISTRICTS as i64 {
            let district: [Param<'_>; 2] = [w.into(), d.into()];
            let answer = self.run(session, S::Oldest as usize, &district)?;
            let Some(o) = answer.int(0, 0) else { continue };
            let order: [Param<'_>; 3] = [w.into(), d.into(), o.into()];
            self.write(session, S::OldestGone, &order)?;
            let answer = self.read(session, S::OrderCustomer, &order)?;
            let (c, count) = (int(answer, 0)?, int(answer, 1)?);
            self.write(session, S::Carrier, &[carrier.into(), w.into(), d.into(), o.into()])?;
            let lines = self.run(session, S::LinesDelivered as usize, &order)?.affected();
            if lines as i64 != count {
                return Err(Failure::wrong(format!("{lines} of {count} lines delivered")));
            }
            let total = cents(self.read(session, S::LinesTotal, &order)?, 0, 0)?;
            let params = [total.into(), w.into(), d.into(), c.into()];
            self.write(session, S::CustomerDelivered, &params)?;
        }
        session.commit()
    }

    fn stock_level(&self, session: &mut Session, rng: &mut Rng) -> Result<()> {
        let (w, d) = (self.warehouse, rng.between(1, DISTRICTS as i64));
        let level = rng.between(10, 20);
        session.begin()?;
        let next = int(self.read(session, S::NextOrder, &[w.into(), d.into()])?, 0)?;
        let params = [w.into(), d.into(), (next - 20).into(), next.into(), level.into()];
        self.read(session, S::LowStock, &params)?;
        session.commit()
    }
}

impl Script for Client {
    fn start(&mut self, session: &mut Session) -> Result<()> {
        for text in texts(session.dialect().for_update()) {
            self.statements.push(session.statement(&text)?);
        }
        Ok(())
    }

    fn transaction(&mut self, session: &mut Session, rng: &mut Rng) -> Result<usize> {
        let mut drawn = rng.below(100);
        let kind = MIX.iter().position(|&share| {
            let here = drawn < share;
            drawn = drawn.saturating_sub(share);
            here
        });
        let kind = kind.unwrap_or(0);
        match kind {
            0 if !self.new_order(session, rng)? => return Ok(GIVEN_UP),
            0 => {}
            1 => self.payment(session, rng)?,
            2 => self.order_status(session, rng)?,
            3 => self.delivery(session, rng)?,
            _ => self.stock_level(session, rng)?,
        }
        Ok(kind)
    }

    fn tally(&self, tally: &mut Tally) {
        *tally.entry("orders").or_default() += self.orders;
        *tally.entry("payments").or_default() += self.payments;
    }
}

#[cfg(test)]
mod tests;
