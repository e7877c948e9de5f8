//! Two clients at work, and the tables that they may rely on.

use super::model::Tables;
use super::workload::{self, SessionStep, StepKind};
use super::{TestSession, session};
use inia_query::database::Database;
use inia_testkit::Random;
use std::sync::{Arc, Mutex};

/// What a client sees and what of it is committed.
#[derive(Clone, Default)]
pub(super) struct View {
    pub(super) prefix: &'static str,
    pub(super) committed: Tables,
    pub(super) seen: Tables,
    /// In a transaction, its savepoints.
    pub(super) open: Option<Vec<(String, Tables)>>,
}

impl View {
    /// What the client has after a step, and what is committed in the middle of it.
    pub(super) fn after(&self, step: &SessionStep, succeeded: bool) -> (View, Tables) {
        let mut next = self.clone();
        match &step.kind {
            StepKind::Rows if succeeded => {
                next.seen = step.after.clone();
                if next.open.is_none() {
                    next.committed = step.after.clone();
                }
            }
            StepKind::Rows | StepKind::Background => {}
            // A commit that is refused ends the transaction all the same.
            StepKind::Begin | StepKind::Commit if !succeeded => {
                next.seen = next.committed.clone();
                next.open = None;
            }
            StepKind::Definition | StepKind::Begin | StepKind::Commit => {
                next.committed = next.seen.clone();
                next.open = (step.kind == StepKind::Begin).then(Vec::new);
            }
            StepKind::Rollback => {
                next.seen = next.committed.clone();
                next.open = None;
            }
            StepKind::Savepoint(name) => {
                let seen = next.seen.clone();
                let open = next.open.get_or_insert_default();
                open.retain(|(other, _)| other != name);
                open.push((name.clone(), seen));
            }
            StepKind::RollbackTo(name) => {
                let open = next.open.get_or_insert_default();
                let at = open.iter().position(|(other, _)| other == name).unwrap();
                open.truncate(at + 1);
                next.seen = open[at].1.clone();
            }
        }
        let middle = next.committed.clone();
        if step.kind == StepKind::Definition && succeeded {
            next.seen = step.after.clone();
            next.committed = step.after.clone();
        }
        (next, middle)
    }
}

/// A statement whose answer is not the one that the model gives.
#[derive(Debug)]
pub(super) struct Unexpected {
    pub(super) client: usize,
    pub(super) step: SessionStep,
    pub(super) answer: String,
}

/// The tables that a stop of the machine may leave at this moment, and the statement under way.
pub(super) type Allowed = Arc<Mutex<(Vec<Tables>, String)>>;

/// Two clients at work on a database.
pub(super) struct Run {
    pub(super) db: Arc<Database>,
    pub(super) views: [View; 2],
    sessions: Vec<TestSession>,
    pub(super) random: Random,
    pub(super) allowed: Allowed,
}

impl Run {
    /// Clients of a database that holds `committed` for each of them.
    pub(super) fn new(db: &Arc<Database>, committed: [Tables; 2], random: Random) -> Run {
        let mut prefixes = ["a", "b"].into_iter();
        let views = committed.map(|tables| View {
            prefix: prefixes.next().unwrap(),
            committed: tables.clone(),
            seen: tables,
            open: None,
        });
        let sessions = (0..2).map(|_| session(db)).collect();
        Run { db: db.clone(), views, sessions, random, allowed: Allowed::default() }
    }

    /// Makes the database and both clients' tables.
    pub(super) fn set_up(&mut self) {
        self.sessions[0].ok("CREATE DATABASE test");
        for client in 0..2 {
            self.sessions[client].ok("USE test");
            for step in workload::setup(self.views[client].prefix) {
                self.take(client, step).unwrap();
            }
        }
    }

    /// The committed tables of both clients.
    pub(super) fn committed(&self) -> Tables {
        self.views[0].committed.and(&self.views[1].committed)
    }

    /// One step of one of the clients.
    pub(super) fn step(&mut self) -> Result<(), Unexpected> {
        let client = self.random.index(2);
        let view = &self.views[client];
        let savepoints: Option<Vec<String>> =
            view.open.as_ref().map(|open| open.iter().map(|(name, _)| name.clone()).collect());
        let prefix = view.prefix;
        let step = workload::next(&mut self.random, prefix, &view.seen, savepoints.as_deref());
        self.take(client, step)
    }

    /// What a stop of the machine during a step may leave.
    pub(super) fn possible(&self, client: usize, step: &SessionStep) -> Vec<Tables> {
        let (after, middle) = self.views[client].after(step, step.error.is_none());
        let other = &self.views[1 - client].committed;
        let mut possible: Vec<Tables> = Vec::new();
        for mine in [&self.views[client].committed, &middle, &after.committed] {
            let all = mine.and(other);
            if !possible.contains(&all) {
                possible.push(all);
            }
        }
        possible
    }

    fn take(&mut self, client: usize, step: SessionStep) -> Result<(), Unexpected> {
        *self.allowed.lock().unwrap() = (self.possible(client, &step), step.sql.clone());
        let answer = match step.kind {
            StepKind::Background => match self.db.engine.background_step() {
                Ok(_) => String::new(),
                Err(error) => format!("ERROR 0: {error}\n"),
            },
            _ => self.sessions[client].run(&step.sql),
        };
        let wanted = step.error.map_or(String::new(), |number| format!("ERROR {number}: "));
        let as_wanted = match step.error {
            Some(_) => answer.starts_with(&wanted),
            None => !answer.contains("ERROR "),
        };
        if !as_wanted {
            return Err(Unexpected { client, step, answer });
        }
        self.settle(client, &step, step.error.is_none());
        Ok(())
    }

    /// Takes note of a step that has ended.
    pub(super) fn settle(&mut self, client: usize, step: &SessionStep, succeeded: bool) {
        self.views[client] = self.views[client].after(step, succeeded).0;
        *self.allowed.lock().unwrap() = (vec![self.committed()], String::from("nothing"));
    }

    /// Takes note of a step that has failed on the disk. Where it could not be undone alone, the
    /// session has no transaction any more, and all that was done in it is gone. That is also so
    /// where a definition could not commit the transaction before it.
    pub(super) fn settle_failed(&mut self, client: usize, step: &SessionStep) {
        let view = self.views[client].clone();
        let gone = match step.kind {
            StepKind::Definition => self.difference(client, &view.seen).is_some(),
            _ => !self.sessions[client].is_in_transaction(),
        };
        if view.open.is_some() && gone {
            self.views[client] = View { seen: view.committed.clone(), open: None, ..view };
            *self.allowed.lock().unwrap() = (vec![self.committed()], String::from("nothing"));
            return;
        }
        self.settle(client, step, false);
    }

    /// What a client's session shows of its own tables must be what it has seen.
    pub(super) fn check_view(&mut self, client: usize, label: &str) {
        let seen = self.views[client].seen.clone();
        let difference = self.difference(client, &seen);
        assert!(difference.is_none(), "{label}: {}", difference.unwrap_or_default());
    }

    /// Where what a client's session shows is not `tables`.
    fn difference(&mut self, client: usize, tables: &Tables) -> Option<String> {
        let session = &mut self.sessions[client];
        tables.0.iter().filter(|(name, _)| !name.ends_with('.')).find_map(|(name, table)| {
            let shown = session.run(&format!("SELECT * FROM {name} ORDER BY id"));
            let text = table.text();
            let differs = shown.lines().zip(text.lines()).find(|(a, b)| a != b);
            (shown != text).then(|| format!("{name} differs: {differs:.200?}"))
        })
    }
}
