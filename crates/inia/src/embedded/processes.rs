//! What SHOW PROCESSLIST, KILL and the choice of threads know of a program's connections, and of
//! the clients of a server that the program has started.
//!
//! Ids of the program's connections begin far above those of clients, which are numbered by the
//! server.

use inia_base::process::{KillTarget, ProcessEntry, Processes, ServerCounts};
use inia_sql::KillHandle;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// The first id of a program's connections.
const FIRST_ID: u32 = 1 << 30;
/// What a connection runs: nothing.
const IDLE: u64 = 0;
/// A text; prepared statements are this and their id.
const TEXT: u64 = 1 << 32;
const PREPARED: u64 = 1 << 33;

/// A connection as other threads see it.
pub(super) struct Entry {
    id: u32,
    /// What runs.
    running: AtomicU64,
    details: Mutex<Details>,
    kill: Mutex<KillHandle>,
    list: Arc<ProcessList>,
}

#[derive(Default)]
struct Details {
    database: Option<String>,
    text: String,
    prepared: HashMap<u32, Arc<str>>,
}

impl Entry {
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    pub(super) fn kill_handle(&self) -> KillHandle {
        self.kill.lock().clone()
    }

    pub(super) fn set_kill_handle(&self, handle: KillHandle) {
        *self.kill.lock() = handle;
    }

    pub(super) fn set_database(&self, name: Option<&str>) {
        let mut details = self.details.lock();
        if details.database.as_deref() != name {
            details.database = name.map(str::to_owned);
        }
    }

    pub(super) fn keep_text(&self, id: u32, sql: &str) {
        self.details.lock().prepared.insert(id, sql.into());
    }

    pub(super) fn forget_text(&self, id: u32) {
        self.details.lock().prepared.remove(&id);
    }

    pub(super) fn begin_text(&self, sql: &str) {
        let mut details = self.details.lock();
        details.text.clear();
        details.text.push_str(sql);
        self.running.store(TEXT, Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn begin_statement(&self, id: u32) {
        self.running.store(PREPARED | u64::from(id), Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn end(&self) {
        self.running.store(IDLE, Ordering::Relaxed);
    }

    fn shown(&self) -> ProcessEntry {
        let running = self.running.load(Ordering::Relaxed);
        let details = self.details.lock();
        let (command, info) = match running {
            IDLE => ("Sleep", None),
            TEXT => ("Query", Some(details.text.clone())),
            id => ("Execute", details.prepared.get(&(id as u32)).map(|text| text.to_string())),
        };
        let waits_for = self.kill.lock().waits_for();
        ProcessEntry {
            id: u64::from(self.id),
            user: "root".to_owned(),
            account: Some(("root".to_owned(), "localhost".to_owned())),
            host: "localhost".to_owned(),
            db: details.database.clone(),
            command,
            time: 0,
            state: if running == IDLE { "" } else { waits_for.unwrap_or("executing") },
            info,
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.list.entries.lock().remove(&self.id);
    }
}

/// All connections.
pub(super) struct ProcessList {
    entries: Mutex<BTreeMap<u32, Weak<Entry>>>,
    next: AtomicU32,
    server: Mutex<Option<Arc<dyn Processes>>>,
}

impl ProcessList {
    pub(super) fn new() -> ProcessList {
        ProcessList {
            entries: Mutex::default(),
            next: AtomicU32::new(FIRST_ID),
            server: Mutex::new(None),
        }
    }

    /// The id of a connection to come.
    pub(super) fn next_id(&self) -> u32 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// A connection begins.
    pub(super) fn add(self: &Arc<ProcessList>, id: u32, kill: KillHandle) -> Arc<Entry> {
        let entry = Arc::new(Entry {
            id,
            running: AtomicU64::new(IDLE),
            details: Mutex::default(),
            kill: Mutex::new(kill),
            list: self.clone(),
        });
        self.entries.lock().insert(id, Arc::downgrade(&entry));
        entry
    }

    /// The clients of a server that starts, or of none; false where there is one already.
    #[cfg(feature = "server")]
    pub(super) fn set_server(&self, server: Option<Arc<dyn Processes>>) -> bool {
        let mut present = self.server.lock();
        if present.is_some() && server.is_some() {
            return false;
        }
        *present = server;
        true
    }

    fn server(&self) -> Option<Arc<dyn Processes>> {
        self.server.lock().clone()
    }

    fn own(&self) -> Vec<Arc<Entry>> {
        self.entries.lock().values().filter_map(Weak::upgrade).collect()
    }
}

impl Processes for ProcessList {
    fn list(&self) -> Vec<ProcessEntry> {
        let mut list = self.server().map_or_else(Vec::new, |server| server.list());
        list.extend(self.own().iter().map(|entry| entry.shown()));
        list
    }

    fn running(&self) -> usize {
        let clients = self.server().map_or(0, |server| server.running());
        let runs = |entry: &&Arc<Entry>| entry.running.load(Ordering::Relaxed) != IDLE;
        clients + self.own().iter().filter(runs).count()
    }

    fn kill(&self, id: u64, target: KillTarget) -> bool {
        let own = self.own().into_iter().find(|entry| u64::from(entry.id) == id);
        let Some(entry) = own else {
            return self.server().is_some_and(|server| server.kill(id, target));
        };
        // A program's connection cannot be cut: it loses its statement.
        entry.kill_handle().kill_query();
        true
    }

    fn counts(&self) -> ServerCounts {
        self.server().map_or_else(ServerCounts::default, |server| server.counts())
    }

    fn traffic(&self, id: u64) -> (u64, u64) {
        self.server().map_or((0, 0), |server| server.traffic(id))
    }

    fn shut_down(&self) -> bool {
        self.server().is_some_and(|server| server.shut_down())
    }

    fn reload_tls(&self) -> Result<(), String> {
        self.server().map_or(Ok(()), |server| server.reload_tls())
    }
}
