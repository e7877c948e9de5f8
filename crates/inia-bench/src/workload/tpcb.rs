//! The bank of TPC-B: branches, their tellers and accounts; each transaction moves money on one of
//! each and writes it down. `scale` counts branches, `rows` the accounts of each.

use super::{DataSet, Parameters, Rows, Script, Setting, Stage, Table, Tally, Workload};
use crate::random::{Picker, Rng};
use crate::session::{Session, Statement};
use crate::target::{Dialect, Failure, Result};
use std::sync::Arc;

pub(super) const WORKLOADS: &[&dyn Workload] = &[&TpcB];

/// Tellers of each branch.
const TELLERS: u64 = 10;

struct TpcB;

impl Workload for TpcB {
    fn name(&self) -> &'static str {
        "tpcb"
    }

    fn about(&self) -> &'static str {
        "TPC-B-like: account, teller, branch and history in a transaction"
    }

    fn family(&self) -> &'static str {
        "TPC"
    }

    fn defaults(&self) -> Parameters {
        Parameters { rows: 100_000, scale: 10, ..Parameters::default() }
    }

    fn data(&self, parameters: &Parameters, dialect: Dialect) -> Result<DataSet> {
        let branches = parameters.scale;
        let tables = vec![
            balances("branches", ("bid", "bbalance", ""), 88, (branches, 1), dialect),
            balances(
                "tellers",
                ("tid", "tbalance", "bid"),
                84,
                (branches * TELLERS, TELLERS),
                dialect,
            ),
            balances(
                "accounts",
                ("aid", "abalance", "bid"),
                84,
                (branches * parameters.rows, parameters.rows),
                dialect,
            ),
            Table::empty(
                "tpcb_history",
                format!(
                    "CREATE TABLE tpcb_history (tid INTEGER NOT NULL, bid INTEGER NOT NULL, \
                     aid INTEGER NOT NULL, delta INTEGER NOT NULL, mtime {} NOT NULL, \
                     filler CHAR(22)){}",
                    dialect.datetime(),
                    dialect.table_options()
                ),
            ),
        ];
        Ok(DataSet::new("tpcb", parameters.seed, tables))
    }

    fn stage(&self, setting: &Setting, session: &mut Session) -> Result<Arc<dyn Stage>> {
        let (branches, accounts) = (setting.parameters.scale, setting.parameters.rows);
        let held = session.integer("SELECT COUNT(*) FROM accounts")?;
        if held as u64 != branches * accounts {
            return Err(Failure::wrong(format!("accounts has {held} rows")));
        }
        let history = session.integer("SELECT COUNT(*) FROM tpcb_history")?;
        let sum = session.integer("SELECT COALESCE(SUM(abalance), 0) FROM accounts")?;
        let picker = setting.parameters.distribution.picker(accounts);
        Ok(Arc::new(Bank { branches, accounts, picker, history, sum }))
    }
}

/// A table of balances, all zero; `parent` names the column of the branch.
fn balances(
    name: &str,
    (key, balance, parent): (&str, &str, &str),
    filler: usize,
    (rows, each): (u64, u64),
    dialect: Dialect,
) -> Table {
    let branch = if parent.is_empty() { "" } else { "bid INTEGER NOT NULL, " };
    let create = format!(
        "CREATE TABLE {name} ({key} INTEGER NOT NULL PRIMARY KEY, {branch}\
         {balance} INTEGER NOT NULL, filler CHAR({filler}) NOT NULL){}",
        dialect.table_options()
    );
    let child = !parent.is_empty();
    let pad = " ".repeat(filler / 2);
    let fill = move |row: u64, _: &mut Rng, out: &mut Rows| {
        out.put(row as i64 + 1);
        if child {
            out.put((row / each) as i64 + 1);
        }
        out.put(0).put(&pad).end();
    };
    let columns = match name {
        "branches" => "bid, bbalance, filler",
        "tellers" => "tid, bid, tbalance, filler",
        _ => "aid, bid, abalance, filler",
    };
    Table {
        name: name.to_owned(),
        create,
        columns,
        rows,
        rows_per_call: 1,
        fill: Arc::new(fill),
        indexes: Vec::new(),
    }
}

/// Rows of `history` and the sum of all balances before the run.
struct Bank {
    branches: u64,
    accounts: u64,
    picker: Picker,
    history: i64,
    sum: i64,
}

impl Stage for Bank {
    fn script(&self, _client: usize) -> Box<dyn Script> {
        Box::new(Client {
            branches: self.branches,
            accounts: self.accounts,
            picker: self.picker.clone(),
            statements: Vec::new(),
            transactions: 0,
            moved: 0,
        })
    }

    /// Accounts, tellers, branches and history must hold the same money.
    fn check(&self, session: &mut Session, tally: &Tally) -> Result<()> {
        let done = |name| tally.get(name).copied().unwrap_or(0);
        let rows = self.history + done("transactions");
        let sum = self.sum + done("moved");
        session.expect(&[
            ("SELECT COUNT(*) FROM tpcb_history", rows),
            ("SELECT COALESCE(SUM(delta), 0) FROM tpcb_history", sum),
            ("SELECT COALESCE(SUM(abalance), 0) FROM accounts", sum),
            ("SELECT COALESCE(SUM(tbalance), 0) FROM tellers", sum),
            ("SELECT COALESCE(SUM(bbalance), 0) FROM branches", sum),
        ])
    }
}

struct Client {
    branches: u64,
    accounts: u64,
    /// Chooses among the accounts of a branch.
    picker: Picker,
    statements: Vec<Statement>,
    transactions: i64,
    moved: i64,
}

impl Script for Client {
    fn start(&mut self, session: &mut Session) -> Result<()> {
        for text in [
            "UPDATE accounts SET abalance = abalance + ? WHERE aid = ?",
            "SELECT abalance FROM accounts WHERE aid = ?",
            "UPDATE tellers SET tbalance = tbalance + ? WHERE tid = ?",
            "UPDATE branches SET bbalance = bbalance + ? WHERE bid = ?",
            "INSERT INTO tpcb_history (tid, bid, aid, delta, mtime) \
             VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP)",
        ] {
            self.statements.push(session.statement(text)?);
        }
        Ok(())
    }

    /// 85 of 100 accounts are of the teller's own branch.
    fn transaction(&mut self, session: &mut Session, rng: &mut Rng) -> Result<usize> {
        let [account, balance, teller, branch, history] = self.statements[..] else {
            return Err(Failure::wrong("a client that was not started"));
        };
        let tid = rng.between(1, (self.branches * TELLERS) as i64);
        let bid = (tid - 1) / TELLERS as i64 + 1;
        let home = if self.branches == 1 || rng.chance(0.85) {
            bid
        } else {
            (bid - 1 + rng.between(1, self.branches as i64 - 1)) % self.branches as i64 + 1
        };
        let aid = (home - 1) * self.accounts as i64 + self.picker.pick(rng);
        let delta = rng.between(-999_999, 999_999);
        session.begin()?;
        let mut found = session.run(account, &[delta.into(), aid.into()])?.affected();
        let read = session.run(balance, &[aid.into()])?.rows();
        found += session.run(teller, &[delta.into(), tid.into()])?.affected();
        found += session.run(branch, &[delta.into(), bid.into()])?.affected();
        let row = [tid.into(), bid.into(), aid.into(), delta.into()];
        found += session.run(history, &row)?.affected();
        session.commit()?;
        if found != 4 || read != 1 {
            let message = format!("account {aid}, teller {tid}: {found} of 4 rows changed");
            return Err(Failure::wrong(message));
        }
        self.transactions += 1;
        self.moved += delta;
        Ok(0)
    }

    fn tally(&self, tally: &mut Tally) {
        *tally.entry("transactions").or_default() += self.transactions;
        *tally.entry("moved").or_default() += self.moved;
    }
}
