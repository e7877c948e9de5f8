//! Plays a script against a server: a thread per session, and an observer that knows who waits.
//!
//! After each step the player waits until nothing moves any more: every session has answered, or
//! waits for a lock that only another session's next step can give. The observer asks the server
//! who waits, twice in a row, so no session can move between its questions unseen.

use super::script::{Line, Script};
use inia_base::value::Value;
use inia_wire::client::{Client, ClientError, LoginOptions, ResultSet};
use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpStream;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

type Connection = Client<TcpStream>;

/// How long everything may move after one step.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time to listen for an answer before looking again who waits.
const TURN: Duration = Duration::from_millis(1);
const DATABASE: &str = "isolation";

/// Who waits for a row, or for a table's definition.
const WAITING: [&str; 2] = [
    "SELECT trx_mysql_thread_id FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'",
    "SELECT id FROM information_schema.processlist WHERE state LIKE 'Waiting for %lock'",
];

/// Where scripts are played.
pub(super) struct Stage {
    pub(super) address: String,
    /// How long the server's list of waiting transactions stays as it is after a question. MySQL
    /// makes it anew for the first question that comes over 0.1 s after the last one.
    pub(super) kept: Option<Duration>,
}

struct Session {
    id: u64,
    /// The statement under way has no answer yet.
    pending: bool,
    statements: Option<Sender<String>>,
    answers: Receiver<Vec<String>>,
    /// An answer that was listened for.
    heard: Option<Vec<String>>,
    thread: Option<JoinHandle<()>>,
}

impl Stage {
    fn connect(&self) -> Connection {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Client::connect(stream, &LoginOptions::default()).unwrap()
    }

    /// The script with the outcomes that this server gives.
    pub(super) fn play(&self, script: &Script) -> Script {
        let mut observer = self.connect();
        for sql in
            [format!("DROP DATABASE IF EXISTS {DATABASE}"), format!("CREATE DATABASE {DATABASE}")]
        {
            observer.query(&sql).unwrap();
        }
        let mut player =
            Player { stage: self, observer, sessions: BTreeMap::new(), answers: Vec::new() };
        let mut lines = Vec::new();
        for (line, _) in &script.lines {
            let outcomes = match line {
                Line::Text(_) => Vec::new(),
                Line::Step { session, statement } => player.step(session, statement),
                Line::Until(session) => player.until(session),
            };
            lines.push((line.clone(), outcomes));
        }
        if let Some((_, last)) = lines.last_mut() {
            last.extend(player.end());
        }
        Script { lines }
    }
}

struct Player<'s> {
    stage: &'s Stage,
    observer: Connection,
    sessions: BTreeMap<String, Session>,
    /// Answers not printed yet.
    answers: Vec<(String, Vec<String>)>,
}

impl Player<'_> {
    fn step(&mut self, name: &str, statement: &str) -> Vec<String> {
        let mut statement = statement.to_owned();
        for (other, session) in &self.sessions {
            statement = statement.replace(&format!("{{{other}}}"), &session.id.to_string());
        }
        if !self.sessions.contains_key(name) {
            let session = Session::start(self.stage.connect());
            self.sessions.insert(name.to_owned(), session);
        }
        let session = self.sessions.get_mut(name).unwrap();
        if session.pending {
            return vec!["not sent: it still waits".to_owned()];
        }
        session.send(statement);
        self.settle(None);
        let mut outcomes = self.take(name);
        if self.sessions[name].pending {
            outcomes.push("waits".to_owned());
        }
        outcomes.extend(self.take_all());
        outcomes
    }

    fn until(&mut self, name: &str) -> Vec<String> {
        self.settle(Some(name));
        self.take_all()
    }

    /// Waits until every session has answered or waits for a lock, and `ends` has answered.
    fn settle(&mut self, ends: Option<&str>) {
        let began = Instant::now();
        let mut quiet = 0;
        while quiet < 2 {
            self.collect();
            let pending: BTreeSet<u64> =
                self.sessions.values().filter(|s| s.pending).map(|s| s.id).collect();
            if pending.is_empty() {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "sessions {pending:?} neither answer nor wait");
            let ending = ends.is_some_and(|name| self.sessions[name].pending);
            let waiting = self.waiting();
            match !ending && pending.is_subset(&waiting) {
                true => quiet += 1,
                false => quiet = 0,
            }
            self.listen(&waiting);
        }
    }

    fn waiting(&mut self) -> BTreeSet<u64> {
        if let Some(kept) = self.stage.kept {
            std::thread::sleep(kept);
        }
        let mut ids = BTreeSet::new();
        for sql in WAITING {
            for row in self.observer.rows(sql).unwrap() {
                let Some(Value::Text(id)) = row.first() else { continue };
                ids.extend(id.parse::<u64>());
            }
        }
        ids
    }

    /// Gives a session that moves the time to answer; returns at once when it does.
    fn listen(&mut self, waiting: &BTreeSet<u64>) {
        let moves = |s: &&mut Session| s.pending && !waiting.contains(&s.id);
        if let Some(session) = self.sessions.values_mut().find(moves) {
            session.listen(TURN);
        }
    }

    /// Takes the answers that have come.
    fn collect(&mut self) {
        for (name, session) in &mut self.sessions {
            if let Some(answer) = session.answer() {
                self.answers.push((name.clone(), answer));
            }
        }
    }

    fn take(&mut self, name: &str) -> Vec<String> {
        let at = self.answers.iter().position(|(other, _)| other == name);
        at.map(|at| self.answers.remove(at).1).unwrap_or_default()
    }

    /// All other answers, by session.
    fn take_all(&mut self) -> Vec<String> {
        self.answers.sort();
        let mut outcomes = Vec::new();
        for (name, mut answer) in self.answers.drain(..) {
            if answer.is_empty() {
                answer.push("ok".to_owned());
            }
            outcomes.extend(answer.into_iter().map(|line| format!("{name}: {line}")));
        }
        outcomes
    }

    /// Ends all sessions. A script leaves nobody waiting.
    fn end(mut self) -> Vec<String> {
        let mut outcomes = Vec::new();
        for (name, session) in &mut self.sessions {
            if session.pending {
                outcomes.push(format!("{name}: still waits at the end"));
                let _ = self.observer.query(&format!("KILL {}", session.id));
            }
            session.statements = None;
        }
        for session in self.sessions.into_values() {
            session.thread.unwrap().join().unwrap();
        }
        outcomes
    }
}

impl Session {
    fn start(mut connection: Connection) -> Session {
        let ids = connection.rows("SELECT CONNECTION_ID()").unwrap();
        let Value::Text(id) = &ids[0][0] else { panic!("a connection has a number") };
        let id = id.parse().unwrap();
        connection.query(&format!("USE {DATABASE}")).unwrap();
        let (statements, inbox) = mpsc::channel::<String>();
        let (outbox, answers) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            for statement in inbox {
                if outbox.send(answer(&mut connection, &statement)).is_err() {
                    return;
                }
            }
            // The stream ends when the server has ended the session, locks and all.
            if connection.quit().is_ok() {
                let _ = connection.read_payload();
            }
        });
        let statements = Some(statements);
        Session { id, pending: false, statements, answers, heard: None, thread: Some(thread) }
    }

    fn send(&mut self, statement: String) {
        self.statements.as_ref().unwrap().send(statement).unwrap();
        self.pending = true;
    }

    fn answer(&mut self) -> Option<Vec<String>> {
        let answer = self.heard.take().or_else(|| self.answers.try_recv().ok())?;
        self.pending = false;
        Some(answer)
    }

    fn listen(&mut self, limit: Duration) {
        match self.answers.recv_timeout(limit) {
            Ok(answer) => self.heard = Some(answer),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => panic!("a session's thread has ended"),
        }
    }
}

/// What a statement answers, a line for each row. Nothing when it succeeds and changes nothing.
fn answer(connection: &mut Connection, statement: &str) -> Vec<String> {
    match connection.query(statement) {
        Ok(results) => results.iter().flat_map(describe).collect(),
        Err(ClientError::Server(error)) => {
            vec![format!("error {} ({}): {}", error.code, error.state, error.message)]
        }
        Err(other) => vec![other.to_string()],
    }
}

fn describe(result: &ResultSet) -> Vec<String> {
    match result.completion.affected_rows {
        _ if !result.columns.is_empty() && result.rows.is_empty() => vec!["no rows".to_owned()],
        _ if !result.columns.is_empty() => result.rows.iter().map(|row| cells(row)).collect(),
        0 => Vec::new(),
        1 => vec!["1 row changed".to_owned()],
        n => vec![format!("{n} rows changed")],
    }
}

fn cells(row: &[Value]) -> String {
    let cell = |value: &Value| match value {
        Value::Null => "NULL".to_owned(),
        Value::Text(text) => text.clone(),
        other => format!("{other:?}"),
    };
    row.iter().map(cell).collect::<Vec<_>>().join(" | ")
}
