//! A connection that several owners hold: handles of other languages, which keep no borrows.
//!
//! Calls of several threads wait for each other. While a result streams, the connection belongs to
//! it, and other calls are errors: to wait could be to wait for oneself.

use super::connection::{Connection, Source, out_of_sync};
use super::error::{Error, ErrorKind, Result};
use super::params::Params;
use super::results::{BATCH, Event, Events, Results};
use inia_base::value::Value;
use inia_sql::KillHandle;
use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// So many batches lie between the engine and a program.
const CHANNEL: usize = 2;

/// A connection with several owners. Clones are the same connection.
#[derive(Clone)]
pub struct SharedConnection {
    inner: Arc<Inner>,
}

struct Inner {
    /// None once it is closed.
    connection: Mutex<Option<Connection>>,
    /// A result streams: the lock is its own.
    streams: AtomicBool,
    /// Statements that were dropped and are to be closed.
    dropped: Mutex<Vec<u32>>,
    kill: Mutex<KillHandle>,
    id: u32,
}

/// How a result comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fetch {
    /// It is read whole before the call returns.
    #[default]
    Held,
    /// It is read while the program takes it; the connection takes no other call meanwhile.
    Streamed,
}

/// The connection, while a call works with it.
struct Locked<'c>(MutexGuard<'c, Option<Connection>>);

impl Deref for Locked<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.0.as_ref().expect("`lock` found the connection open")
    }
}

impl Inner {
    fn lock(&self) -> Result<Locked<'_>> {
        if self.streams.load(Ordering::Acquire) {
            return Err(out_of_sync());
        }
        let guard = self.connection.lock();
        if self.streams.load(Ordering::Acquire) {
            // It began while this call waited.
            return Err(out_of_sync());
        }
        let Some(connection) = guard.as_ref() else {
            return Err(Error::new(ErrorKind::Connection, "the connection is closed"));
        };
        let dropped = std::mem::take(&mut *self.dropped.lock());
        dropped.into_iter().for_each(|id| connection.close_statement(id));
        Ok(Locked(guard))
    }
}

impl SharedConnection {
    /// Takes a connection.
    pub fn new(connection: Connection) -> SharedConnection {
        let inner = Inner {
            id: connection.id(),
            kill: Mutex::new(connection.kill_handle()),
            connection: Mutex::new(Some(connection)),
            streams: AtomicBool::new(false),
            dropped: Mutex::default(),
        };
        SharedConnection { inner: Arc::new(inner) }
    }

    /// Runs statements that are separated by semicolons.
    pub fn query(&self, sql: &str) -> Result<Results> {
        self.run(sql, (), Fetch::Held)
    }

    /// Runs a statement with parameters, or statements without.
    pub fn run(&self, sql: &str, params: impl Params, fetch: Fetch) -> Result<Results> {
        if fetch == Fetch::Streamed {
            let mut values = Vec::new();
            params.append(&mut values);
            let sql = sql.to_owned();
            return self.stream(move |connection, batch, send| {
                connection.collect(Source::Text(&sql), &values, batch, send)
            });
        }
        let connection = self.inner.lock()?;
        held(|send| connection.collect(Source::Text(sql), &params, usize::MAX, send))
    }

    /// Prepares a statement.
    pub fn prepare(&self, sql: &str) -> Result<SharedStatement> {
        let connection = self.inner.lock()?;
        let (id, params) = connection.prepare(sql)?.into_parts();
        Ok(SharedStatement { connection: self.clone(), id, params })
    }

    /// Works with the connection.
    pub fn with<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        work(&*self.inner.lock()?)
    }

    /// Ends the statement that runs, with error 1317. Any thread may call it, at any time.
    pub fn interrupt(&self) {
        self.inner.kill.lock().kill_query();
    }

    /// Returns to the state of a new connection, as [`Connection::reset`] does.
    pub fn reset(&self) -> Result<()> {
        let connection = self.inner.lock()?;
        connection.reset()?;
        *self.inner.kill.lock() = connection.kill_handle();
        Ok(())
    }

    /// The number that CONNECTION_ID() gives.
    pub fn id(&self) -> u32 {
        self.inner.id
    }

    /// Ends the connection: an open transaction rolls back, and calls that come later are errors.
    /// Error while a result streams.
    pub fn close(&self) -> Result<()> {
        if self.inner.streams.load(Ordering::Acquire) {
            return Err(out_of_sync());
        }
        drop(self.inner.connection.lock().take());
        Ok(())
    }

    /// Runs `work` on a thread of its own, which sends events as the program takes them.
    fn stream(
        &self,
        work: impl FnOnce(&Connection, usize, Send) -> Result<()> + std::marker::Send + 'static,
    ) -> Result<Results> {
        let inner = self.inner.clone();
        // The lock is left and taken again by the thread; until then nobody else passes the flag.
        let guard = self.inner.lock()?;
        self.inner.streams.store(true, Ordering::Release);
        drop(guard);
        let (sender, receiver) = sync_channel(CHANNEL);
        let run = move || run_stream(&inner, &sender, work);
        let thread = std::thread::Builder::new().name("inia-stream".to_owned()).spawn(run);
        let thread = thread.map_err(|error| {
            self.inner.streams.store(false, Ordering::Release);
            Error::new(ErrorKind::Connection, format!("no thread for a result: {error}"))
        })?;
        let connection = self.clone();
        let streaming = Streaming { receiver: Some(receiver), thread: Some(thread), connection };
        Results::begin(Events::Streamed(streaming))
    }
}

impl fmt::Debug for SharedConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedConnection").field("id", &self.id()).finish_non_exhaustive()
    }
}

/// Takes the events of a call.
type Send<'s> = &'s mut dyn FnMut(Event) -> Result<()>;

/// Collects all events of a call. An error of its first statement is the call's; one of a later
/// statement comes when the program is there.
fn held(work: impl FnOnce(Send<'_>) -> Result<()>) -> Result<Results> {
    let mut events = VecDeque::new();
    let mut ended = false;
    let done = work(&mut |event| {
        ended |= matches!(event, Event::Done(..));
        events.push_back(event);
        Ok(())
    });
    match done {
        Err(error) if ended => events.push_back(Event::Failed(error)),
        done => done?,
    }
    Results::begin(Events::Held(events))
}

/// The thread of a result that streams.
fn run_stream(
    inner: &Inner,
    sender: &SyncSender<Event>,
    work: impl FnOnce(&Connection, usize, Send<'_>) -> Result<()>,
) {
    let guard = inner.connection.lock();
    let Some(connection) = guard.as_ref() else { return };
    let gone = || Error::new(ErrorKind::Connection, "no more rows are wanted");
    let done = work(connection, BATCH, &mut |event| sender.send(event).map_err(|_| gone()));
    if let Err(error) = done {
        // Nobody takes the error of a result that nobody wants.
        let _ = sender.send(Event::Failed(error));
    }
}

/// A result whose statement runs on a thread of its own. Dropped, it ends the statement.
pub(super) struct Streaming {
    /// None once the statement has ended.
    receiver: Option<Receiver<Event>>,
    thread: Option<JoinHandle<()>>,
    connection: SharedConnection,
}

impl Streaming {
    pub(super) fn next(&mut self) -> Option<Event> {
        match self.receiver.as_ref()?.recv() {
            Ok(event) => {
                if matches!(event, Event::Done(_, false) | Event::Failed(_)) {
                    self.end();
                }
                Some(event)
            }
            Err(_) => {
                let panicked = self.end();
                let text = "an internal error has ended the statement";
                panicked.then(|| Event::Failed(Error::new(ErrorKind::Connection, text)))
            }
        }
    }

    /// Waits for the thread, and gives the connection back. True where it has panicked.
    fn end(&mut self) -> bool {
        self.receiver = None;
        let panicked = self.thread.take().is_some_and(|thread| thread.join().is_err());
        self.connection.inner.streams.store(false, Ordering::Release);
        panicked
    }
}

impl Drop for Streaming {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.receiver = None;
            // The statement may wait for a lock, and not for this receiver.
            self.connection.interrupt();
            self.end();
        }
    }
}

/// A prepared statement of a [`SharedConnection`]; it is closed after it is dropped.
pub struct SharedStatement {
    connection: SharedConnection,
    id: u32,
    params: usize,
}

impl SharedStatement {
    /// How many parameters it has.
    pub fn param_count(&self) -> usize {
        self.params
    }

    /// Runs it.
    pub fn run(&self, params: &[Value], fetch: Fetch) -> Result<Results> {
        let source = Source::Prepared(self.id);
        if fetch == Fetch::Streamed {
            let values = params.to_vec();
            return self.connection.stream(move |connection, batch, send| {
                connection.collect(source, &values, batch, send)
            });
        }
        let connection = self.connection.inner.lock()?;
        held(|send| connection.collect(source, &params, usize::MAX, send))
    }
}

impl Drop for SharedStatement {
    fn drop(&mut self) {
        self.connection.inner.dropped.lock().push(self.id);
    }
}

impl fmt::Debug for SharedStatement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedStatement").field("id", &self.id).finish_non_exhaustive()
    }
}
