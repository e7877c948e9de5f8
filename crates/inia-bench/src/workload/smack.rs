//! Super Smack's tables Member, Record and Result, and the three loads of the FreeBSD and Linux
//! comparison: a select by key, an update by key, and a transaction of six statements.
//!
//! The option `requests` gives a client's number of requests, as the report had it (1,000 selects
//! or updates, 100 transactions); without it the run's duration counts.

use super::written::{Notes, Written};
use super::{DataSet, Parameters, Rows, Script, Setting, Stage, Table, Tally, Workload};
use crate::load;
use crate::random::{Picker, Rng};
use crate::session::{Session, Statement};
use crate::target::{Class, Dialect, Failure, Result};
use std::sync::Arc;

pub(super) const WORKLOADS: &[&dyn Workload] = &[&SELECT, &UPDATE, &OLTP];

static SELECT: Smack =
    Smack { name: "smack_select", about: "Super Smack: one member by key", load: Load::Select };
static UPDATE: Smack =
    Smack { name: "smack_update", about: "Super Smack: one member's bill", load: Load::Update };
static OLTP: Smack = Smack {
    name: "smack_oltp",
    about: "Super Smack: six statements on three tables in a transaction",
    load: Load::Oltp,
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Load {
    Select,
    Update,
    Oltp,
}

struct Smack {
    name: &'static str,
    about: &'static str,
    load: Load,
}

/// Rows of `Record`: a tenth of the members, as the report has it (1 M to 10 M).
fn records(parameters: &Parameters) -> u64 {
    (parameters.rows / 10).max(1)
}

impl Workload for Smack {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn family(&self) -> &'static str {
        "Super Smack"
    }

    fn defaults(&self) -> Parameters {
        Parameters { rows: 1_000_000, prepared: false, ..Parameters::default() }
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        &[("requests", "requests of each client, whatever the time")]
    }

    fn length(&self, parameters: &Parameters) -> Option<u64> {
        parameters.options.get("requests")?.parse().ok()
    }

    fn data(&self, parameters: &Parameters, dialect: Dialect) -> Result<DataSet> {
        let records = records(parameters);
        let tables =
            vec![member(parameters.rows, dialect), record(records, dialect), result(dialect)];
        let mut set = DataSet::new("super_smack", parameters.seed, tables);
        if dialect == Dialect::MySql {
            // Lets the zero dates in.
            set.prelude.push("SET SESSION sql_mode = ''".to_owned());
        }
        Ok(set)
    }

    fn stage(&self, setting: &Setting, session: &mut Session) -> Result<Arc<dyn Stage>> {
        if let Some(text) = setting.parameters.options.get("requests")
            && text.parse::<u64>().is_err()
        {
            let message = format!("option requests: '{text}' is not a number");
            return Err(Failure::new(Class::Usage, message));
        }
        let (members, held) = (setting.parameters.rows, records(&setting.parameters));
        if self.load == Load::Oltp {
            // Each round finds all records there, and no results of the round before.
            let data = self.data(&setting.parameters, setting.dialect())?;
            load::refill(&setting.target, &data, &["Record", "Result"])?;
            session.expect(&[("SELECT COUNT(*) FROM Record", held as i64), (RESULTS, 0)])?;
        }
        session.expect(&[(MEMBERS, members as i64)])?;
        let changed = session.integer(CHANGED)?;
        Ok(Arc::new(Shared {
            setting: setting.clone(),
            load: self.load,
            members: setting.parameters.distribution.picker(setting.parameters.rows),
            records: setting.parameters.distribution.picker(held),
            changed,
            written: Written::new(members),
        }))
    }
}

/// The tables as the report gives them, in MySQL's words and in the others' nearest.
fn member(rows: u64, dialect: Dialect) -> Table {
    let create = match dialect {
        Dialect::MySql => "CREATE TABLE `Member` (`aid` int(11) NOT NULL auto_increment, \
             `name` char(20) NOT NULL default '', `passwd` char(16) NOT NULL default '', \
             `count` int(11) NOT NULL default '0', `line` int(11) NOT NULL default '0', \
             `bill` int(11) NOT NULL default '2', PRIMARY KEY (`aid`), \
             UNIQUE KEY `name` (`name`), KEY `count` (`count`), KEY `line` (`line`)) ENGINE=InnoDB"
            .to_owned(),
        Dialect::Postgres | Dialect::Sqlite | Dialect::DuckDb => format!(
            "CREATE TABLE Member ({}, name char(20) NOT NULL default '' UNIQUE, \
             passwd char(16) NOT NULL default '', count integer NOT NULL default 0, \
             line integer NOT NULL default 0, bill integer NOT NULL default 2)",
            dialect.counting_key("aid")
        ),
    };
    let fill = |row: u64, rng: &mut Rng, out: &mut Rows| {
        let mut passwd = String::with_capacity(16);
        rng.letters(12, &mut passwd);
        let (count, line) = (rng.between(0, 999_999), rng.between(0, 9_999));
        let name = format!("user{row:010}");
        out.put(row as i64 + 1).put(&name).put(&passwd).put(count).put(line).end();
    };
    let columns = "aid, name, passwd, count, line";
    let indexes = keys(dialect, "Member", &[("member_count", "count"), ("member_line", "line")]);
    let (name, fill) = ("Member".into(), Arc::new(fill));
    Table { name, create, columns, rows, rows_per_call: 1, fill, indexes }
}

/// Indexes made after the rows where CREATE TABLE cannot name them.
fn keys(dialect: Dialect, table: &str, list: &[(&str, &str)]) -> Vec<String> {
    if dialect == Dialect::MySql {
        return Vec::new();
    }
    let one =
        |(name, columns): &(&str, &str)| format!("CREATE INDEX {name} ON {table} ({columns})");
    list.iter().map(one).collect()
}

fn record(rows: u64, dialect: Dialect) -> Table {
    let create = match dialect {
        Dialect::MySql => {
            "CREATE TABLE `Record` (`num` int(11) default NULL, \
             `host` int(11) NOT NULL default '0', `aid` int(11) NOT NULL default '0', \
             `uid` int(11) NOT NULL default '0', `sn` int(11) default NULL, \
             `count` int(10) unsigned default NULL, `grp` int(11) default NULL, \
             `id` int(10) unsigned default NULL, KEY `gr` (`grp`,`num`), \
             KEY `d` (`id`,`uid`)) ENGINE=InnoDB"
        }
        Dialect::Postgres | Dialect::Sqlite | Dialect::DuckDb => {
            "CREATE TABLE Record (num integer, host integer NOT NULL default 0, \
             aid integer NOT NULL default 0, uid integer NOT NULL default 0, sn integer, \
             count integer, grp integer, id integer)"
        }
    };
    let fill = |row: u64, rng: &mut Rng, out: &mut Rows| {
        let number = row as i64 + 1;
        out.put(number).put(rng.between(1, 255)).put(rng.between(1, 1_000_000));
        out.put(rng.between(1, 1_000_000)).put(number).put(rng.between(0, 99));
        out.put(number % 100).put(number).end();
    };
    Table {
        name: "Record".into(),
        create: create.to_owned(),
        columns: "num, host, aid, uid, sn, count, grp, id",
        rows,
        rows_per_call: 1,
        fill: Arc::new(fill),
        indexes: keys(dialect, "Record", &[("record_gr", "grp, num"), ("record_d", "id, uid")]),
    }
}

fn result(dialect: Dialect) -> Table {
    let create = match dialect {
        Dialect::MySql => "CREATE TABLE `Result` (`id` int(11) NOT NULL auto_increment, \
             `uid` int(11) NOT NULL default '0', `aid` int(11) NOT NULL default '0', \
             `count` int(11) NOT NULL default '0', \
             `time1` datetime NOT NULL default '0000-00-00 00:00:00', \
             `time2` datetime NOT NULL default '0000-00-00 00:00:00', \
             `total` int(11) default '0', `countnum` int(11) default '0', \
             `num` int(10) unsigned NOT NULL default '0', `times` int(11) default '0', \
             `point` int(11) default '0', `ret` int(11) default '0', PRIMARY KEY (`id`), \
             KEY `aid` (`aid`), KEY `sid` (`ret`,`uid`)) ENGINE=InnoDB"
            .to_owned(),
        Dialect::Postgres | Dialect::Sqlite | Dialect::DuckDb => {
            let (id, time) = (dialect.counting_key("id"), dialect.datetime());
            format!(
                "CREATE TABLE Result ({id}, uid integer NOT NULL default 0, \
                 aid integer NOT NULL default 0, count integer NOT NULL default 0, \
                 time1 {time} NOT NULL default '0001-01-01 00:00:00', \
                 time2 {time} NOT NULL default '0001-01-01 00:00:00', total integer default 0, \
                 countnum integer default 0, num integer NOT NULL default 0, \
                 times integer default 0, point integer default 0, ret integer default 0)"
            )
        }
    };
    let mut table = Table::empty("Result", create);
    table.indexes = keys(dialect, "Result", &[("result_aid", "aid"), ("result_sid", "ret, uid")]);
    table
}

struct Shared {
    setting: Setting,
    load: Load,
    members: Picker,
    records: Picker,
    /// Members whose bill is not the first any more.
    changed: i64,
    written: Arc<Written>,
}

impl Stage for Shared {
    fn script(&self, client: usize) -> Box<dyn Script> {
        Box::new(Client {
            load: self.load,
            members: self.members.clone(),
            records: self.records.clone(),
            bills: self.setting.values_of(client),
            statements: Vec::new(),
            transactions: 0,
            deleted: 0,
            notes: self.written.notes(),
        })
    }

    fn check(&self, session: &mut Session, tally: &Tally) -> Result<()> {
        let sum = |name| tally.get(name).copied().unwrap_or(0);
        session.expect(&[(MEMBERS, self.members.rows() as i64), (MISPLACED, 0)])?;
        let updates = if self.load == Load::Select { 0 } else { sum("transactions") };
        let (changed, most) = (session.integer(CHANGED)?, self.changed + updates);
        if changed < i64::from(updates > 0) || changed < self.changed || changed > most {
            let message = format!("{CHANGED}: {changed} after {} and {updates}", self.changed);
            return Err(Failure::wrong(message));
        }
        self.written.check(session, |_, aids| {
            format!("SELECT aid, bill FROM Member WHERE aid IN ({aids})")
        })?;
        if self.load == Load::Oltp {
            let records = self.records.rows() as i64 - sum("deleted");
            session.expect(&[
                ("SELECT COUNT(*) FROM Record", records),
                (RESULTS, sum("transactions")),
                ("SELECT COALESCE(SUM(ret), 0) FROM Result", 11 * sum("transactions")),
            ])?;
        }
        Ok(())
    }
}

const MEMBERS: &str = "SELECT COUNT(*) FROM Member";
const RESULTS: &str = "SELECT COUNT(*) FROM Result";
const CHANGED: &str = "SELECT COUNT(*) FROM Member WHERE bill <> 2";
/// Bills that were drawn for another member.
const MISPLACED: &str = "SELECT COUNT(*) FROM Member WHERE bill <> 2 AND bill % 997 <> aid % 997";

/// A member's next bill: another one than before, but for one time in a million. The report sets
/// 1 each time, which after the first round changes nothing, and servers differ in what they
/// save then. The bill's remainder says whose it is.
fn bill(rng: &mut Rng, aid: i64) -> i64 {
    rng.below(1_000_000) as i64 * 997 + aid % 997
}

struct Client {
    load: Load,
    members: Picker,
    records: Picker,
    /// What is written.
    bills: Rng,
    statements: Vec<Statement>,
    transactions: i64,
    deleted: i64,
    notes: Notes,
}

impl Client {
    fn note(&mut self, member: i64, bill: i64) {
        self.notes.begin();
        self.notes.write(0, member, &bill.to_string());
        self.notes.commit();
    }

    fn oltp(&mut self, session: &mut Session, rng: &mut Rng) -> Result<()> {
        let [select, update, insert, delete] = self.statements[..] else {
            return Err(Failure::wrong("a client that was not started"));
        };
        let (word, member) = (self.records.pick(rng), self.members.pick(rng));
        let bill = bill(&mut self.bills, member);
        session.begin()?;
        let answer = session.run(select, &[word.into()])?;
        let locked = answer.rows() as u64;
        if locked == 1 && (answer.int(0, 0), answer.int(0, 7)) != (Some(word), Some(word)) {
            return Err(Failure::wrong(format!("record {word} is another one")));
        }
        let updated = session.run(update, &[bill.into(), member.into()])?.affected();
        let inserted = session.run(insert, &[])?.affected();
        let deleted = session.run(delete, &[word.into()])?.affected();
        session.commit()?;
        if locked > 1 || updated != 1 || inserted != 1 || deleted != locked {
            let message = format!(
                "record {word}: {locked} locked, {deleted} deleted; member {member}: {updated} \
                 updated; {inserted} inserted"
            );
            return Err(Failure::wrong(message));
        }
        self.note(member, bill);
        self.transactions += 1;
        self.deleted += deleted as i64;
        Ok(())
    }
}

impl Script for Client {
    fn start(&mut self, session: &mut Session) -> Result<()> {
        let lock = session.dialect().for_update();
        let locking = format!("select * from Record where id=?{lock}");
        let texts: &[&str] = match self.load {
            Load::Select => &["select * from Member where aid=?"],
            Load::Update => &["update Member set bill=? where aid=?"],
            Load::Oltp => &[
                &locking,
                "update Member set bill = ? where aid=?",
                "insert into Result(uid,aid,count,time1,time2,total,countnum,num,times,point,ret) \
                 values(1,2,3,'2005-09-09 09:09:09','2005-10-10 10:10:10',6,7,8,9,10,11)",
                "delete from Record where id=?",
            ],
        };
        for text in texts {
            self.statements.push(session.statement(text)?);
        }
        Ok(())
    }

    fn transaction(&mut self, session: &mut Session, rng: &mut Rng) -> Result<usize> {
        if self.load == Load::Oltp {
            return self.oltp(session, rng).map(|()| 0);
        }
        let aid = self.members.pick(rng);
        let right = match self.load {
            Load::Select => {
                let answer = session.run(self.statements[0], &[aid.into()])?;
                answer.rows() == 1 && answer.int(0, 0) == Some(aid)
            }
            _ => {
                let bill = bill(&mut self.bills, aid);
                let params = [bill.into(), aid.into()];
                let changed = session.run(self.statements[0], &params)?.affected();
                self.note(aid, bill);
                changed == 1
            }
        };
        self.transactions += 1;
        if right { Ok(0) } else { Err(Failure::wrong(format!("member {aid} is not found once"))) }
    }

    fn tally(&self, tally: &mut Tally) {
        self.notes.hand_over();
        *tally.entry("transactions").or_default() += self.transactions;
        *tally.entry("deleted").or_default() += self.deleted;
    }
}
