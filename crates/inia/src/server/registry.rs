//! All connections: the process list, KILL, limits, and counters.
//!
//! Each connection owns a [`Slot`]. Its thread writes the slot with plain stores and one mutex
//! that no other thread holds except for the moment of a SHOW PROCESSLIST; other threads only read,
//! or set the kill mark and interrupt. A ticking thread moves the clock once a second, so that no
//! request asks for the time, and ends connections that log in too slowly or idle too long.
//!
//! Invariants: a slot is in the map from its connection's admission to the end of its thread; a
//! kill mark never goes down.

use super::backend::Interrupt;
use super::statistics::Statistics;
use super::stream::Socket;
use super::tls::{Certificate, PasswordKeys};
use inia_base::process::{KillTarget, ProcessEntry, Processes, ServerCounts};
use inia_sql::LoginAccount;
use inia_wire::command::{code, name_of};
use inia_wire::error::ServerError;
use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The process list keeps at most so much of a statement.
const MAX_INFO: usize = 64 * 1024;
const SLEEP: u8 = 0;

/// Why a connection must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum KillReason {
    /// It need not.
    None = 0,
    /// Idle for too long.
    Idle = 1,
    /// The login took too long.
    SlowLogin = 2,
    /// KILL CONNECTION.
    Killed = 3,
    /// The server stops.
    Shutdown = 4,
}

impl KillReason {
    fn from_u8(n: u8) -> KillReason {
        match n {
            0 => KillReason::None,
            1 => KillReason::Idle,
            2 => KillReason::SlowLogin,
            3 => KillReason::Killed,
            _ => KillReason::Shutdown,
        }
    }
}

#[derive(Default)]
struct Identity {
    user: String,
    host: String,
    db: Option<String>,
    /// Name and host pattern of the account.
    account: Option<(String, String)>,
}

#[derive(Default)]
struct Info {
    text: String,
    prepared: Option<Arc<str>>,
}

/// One connection as other threads see it.
pub struct Slot {
    id: u32,
    socket: Arc<Socket>,
    clock: Arc<AtomicU64>,
    identity: Mutex<Identity>,
    interrupt: Mutex<Option<Arc<dyn Interrupt>>>,
    info: Mutex<Info>,
    command: AtomicU8,
    /// Clock at the last change of `command`.
    since: AtomicU64,
    kill: AtomicU8,
    /// Seconds of idleness allowed.
    wait_timeout: AtomicU64,
    questions: AtomicU64,
}

impl Slot {
    /// The connection's id.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// A command begins.
    #[inline]
    pub fn begin(&self, command: u8) {
        self.questions.store(self.questions.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        self.since.store(self.clock.load(Ordering::Relaxed), Ordering::Relaxed);
        self.command.store(command, Ordering::Relaxed);
    }

    /// The command's statement, as text.
    #[inline]
    pub fn set_text(&self, sql: &[u8]) {
        let shown = &sql[..sql.len().min(MAX_INFO)];
        let mut info = self.info.lock();
        info.prepared = None;
        info.text.clear();
        match std::str::from_utf8(shown) {
            Ok(text) => info.text.push_str(text),
            // Only the cut is in the midst of a character.
            Err(error) if error.error_len().is_none() && shown.len() < sql.len() => {
                info.text.push_str(&String::from_utf8_lossy(&shown[..error.valid_up_to()]));
            }
            Err(_) => info.text.push_str(&String::from_utf8_lossy(shown)),
        }
    }

    /// The command's statement, prepared.
    #[inline]
    pub fn set_prepared(&self, sql: &Arc<str>) {
        self.info.lock().prepared = Some(sql.clone());
    }

    /// The command has ended.
    #[inline]
    pub fn end(&self) {
        self.since.store(self.clock.load(Ordering::Relaxed), Ordering::Relaxed);
        self.command.store(SLEEP, Ordering::Relaxed);
    }

    /// Who the connection belongs to now.
    pub fn set_identity(&self, user: &str, host: &str) {
        let mut identity = self.identity.lock();
        user.clone_into(&mut identity.user);
        host.clone_into(&mut identity.host);
    }

    /// The default database.
    pub fn set_database(&self, db: Option<&str>) {
        self.identity.lock().db = db.map(str::to_owned);
    }

    /// How to interrupt the session.
    pub fn set_interrupt(&self, interrupt: Arc<dyn Interrupt>) {
        *self.interrupt.lock() = Some(interrupt);
    }

    /// Seconds that the connection may be idle.
    pub fn set_wait_timeout(&self, seconds: u64) {
        self.wait_timeout.store(seconds, Ordering::Relaxed);
    }

    /// Why the connection must end, if it must.
    #[inline]
    pub fn kill_reason(&self) -> KillReason {
        KillReason::from_u8(self.kill.load(Ordering::Acquire))
    }

    /// Ends the connection: its statement is interrupted, its read returns.
    fn end_connection(&self, reason: KillReason) {
        self.mark(reason);
        self.interrupt_session();
        self.socket.stop_reading();
    }

    /// KILL CONNECTION: the client loses the connection at once and without an answer, whatever its
    /// statement comes to.
    fn cut_off(&self) {
        self.mark(KillReason::Killed);
        self.socket.stop();
        self.interrupt_session();
    }

    fn mark(&self, reason: KillReason) {
        self.kill.fetch_max(reason as u8, Ordering::AcqRel);
    }

    fn interrupt_session(&self) {
        if let Some(interrupt) = self.interrupt.lock().clone() {
            interrupt.interrupt(true);
        }
    }

    fn entry(&self, now: u64) -> ProcessEntry {
        let command = self.command.load(Ordering::Relaxed);
        let identity = self.identity.lock();
        let info = match command {
            code::QUERY | code::STMT_PREPARE => Some(self.info.lock().text.clone()),
            code::STMT_EXECUTE => self.info.lock().prepared.as_deref().map(str::to_owned),
            _ => None,
        };
        let login = command == code::CONNECT;
        let interrupt = self.interrupt.lock().clone();
        let waits_for = interrupt.and_then(|interrupt| interrupt.waits_for());
        ProcessEntry {
            id: u64::from(self.id),
            user: if login { "unauthenticated user".to_owned() } else { identity.user.clone() },
            host: identity.host.clone(),
            account: identity.account.clone(),
            db: identity.db.clone(),
            command: name_of(command),
            time: now.saturating_sub(self.since.load(Ordering::Relaxed)),
            state: match command {
                SLEEP => "",
                code::CONNECT => "login",
                _ => waits_for.unwrap_or("executing"),
            },
            info,
        }
    }
}

/// Server-wide counts, as COM_STATISTICS and SHOW STATUS report them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Seconds since the start.
    pub uptime: u64,
    /// Open connections.
    pub threads: usize,
    /// Commands received.
    pub questions: u64,
    /// Connections accepted.
    pub connections: u64,
}

/// How many connections there may be.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    /// `max_connections`; without it the number that the registry was made with.
    pub(super) connections: Option<u64>,
    /// `max_user_connections`; 0 for no limit.
    pub(super) user_connections: u64,
}

/// All connections.
///
/// Wide: one counter for each status variable beside the list.
pub struct Registry {
    slots: Mutex<BTreeMap<u32, Arc<Slot>>>,
    all_gone: Condvar,
    next_id: AtomicU32,
    /// How many ids threads got that are no connections.
    other_ids: AtomicU64,
    max_connections: usize,
    /// Seconds since the start, moved by the ticking thread.
    clock: Arc<AtomicU64>,
    started: Instant,
    stopping: AtomicBool,
    /// Woken to end the ticking thread.
    tick: Mutex<()>,
    tick_end: Condvar,
    connect_timeout: u64,
    wait_timeout: u64,
    /// Commands of connections that are gone.
    old_questions: AtomicU64,
    statistics: Statistics,
    tls: OnceLock<Arc<Certificate>>,
    password_keys: OnceLock<Arc<PasswordKeys>>,
    on_shutdown: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

impl Registry {
    /// An empty registry with its limits.
    pub fn new(max_connections: usize, connect_timeout: u64, wait_timeout: u64) -> Registry {
        Registry {
            slots: Mutex::new(BTreeMap::new()),
            all_gone: Condvar::new(),
            next_id: AtomicU32::new(1),
            other_ids: AtomicU64::new(0),
            max_connections,
            clock: Arc::default(),
            started: Instant::now(),
            stopping: AtomicBool::new(false),
            tick: Mutex::new(()),
            tick_end: Condvar::new(),
            connect_timeout,
            wait_timeout,
            old_questions: AtomicU64::new(0),
            statistics: Statistics::default(),
            tls: OnceLock::new(),
            password_keys: OnceLock::new(),
            on_shutdown: OnceLock::new(),
        }
    }

    /// Says, once, what SHUTDOWN does: it makes the owner of the server stop it, soon.
    pub fn on_shutdown(&self, begin: impl Fn() + Send + Sync + 'static) {
        let _ = self.on_shutdown.set(Box::new(begin));
    }

    /// Says, once, which certificate and which keys for passwords the server has.
    pub(super) fn set_keys(&self, certificate: Arc<Certificate>, passwords: Arc<PasswordKeys>) {
        let _ = self.tls.set(certificate);
        let _ = self.password_keys.set(passwords);
    }

    /// Admits a connection; `None` when there are too many or the server stops. One more than
    /// `most` may come in: it is refused after its login, unless an administrator
    /// logs in ([`Registry::take_place`]).
    pub(super) fn admit(&self, socket: Arc<Socket>, most: Option<u64>) -> Option<Arc<Slot>> {
        let mut slots = self.slots.lock();
        if slots.len() > self.most(most) || self.is_stopping() {
            return None;
        }
        let mut id = self.next_id.fetch_add(1, Ordering::Relaxed);
        while id == 0 || slots.contains_key(&id) {
            id = self.next_id.fetch_add(1, Ordering::Relaxed);
        }
        let slot = Arc::new(Slot {
            id,
            socket,
            clock: self.clock.clone(),
            identity: Mutex::default(),
            interrupt: Mutex::new(None),
            info: Mutex::default(),
            command: AtomicU8::new(code::CONNECT),
            since: AtomicU64::new(self.clock.load(Ordering::Relaxed)),
            kill: AtomicU8::new(KillReason::None as u8),
            wait_timeout: AtomicU64::new(self.wait_timeout),
            questions: AtomicU64::new(0),
        });
        slots.insert(id, slot.clone());
        self.statistics.note_connections(slots.len());
        Some(slot)
    }

    fn most(&self, setting: Option<u64>) -> usize {
        setting.map_or(self.max_connections, |most| usize::try_from(most).unwrap_or(usize::MAX))
    }

    /// The connection belongs to an account from now on. Errors 1040 where all connections were
    /// taken, 1203 and 1226 where the account has too many.
    pub(super) fn take_place(
        &self,
        slot: &Slot,
        account: &LoginAccount,
        limits: Limits,
    ) -> Result<(), ServerError> {
        let name = (account.user.clone(), account.host.clone());
        // The lock is held from counting to taking.
        let slots = self.slots.lock();
        if slots.len() > self.most(limits.connections) && !account.administers {
            return Err(ServerError::new(1040, "08004", "Too many connections"));
        }
        let others = slots.values().filter(|other| {
            other.id != slot.id && other.identity.lock().account.as_ref() == Some(&name)
        });
        let taken = others.count() as u64 + 1;
        let (own, user) = (account.max_connections, &account.user);
        if own == 0 && limits.user_connections > 0 && taken > limits.user_connections {
            let text = format!(
                "User {user} already has more than 'max_user_connections' active connections"
            );
            return Err(ServerError::new(1203, "42000", text));
        }
        if own > 0 && taken > own {
            let text = format!(
                "User '{user}' has exceeded the 'max_user_connections' resource (current value: \
                 {own})"
            );
            return Err(ServerError::new(1226, "42000", text));
        }
        slot.identity.lock().account = Some(name);
        Ok(())
    }

    /// A connection's thread ends.
    pub fn remove(&self, id: u32) {
        let mut slots = self.slots.lock();
        if let Some(slot) = slots.remove(&id) {
            let questions = slot.questions.load(Ordering::Relaxed);
            self.old_questions.fetch_add(questions, Ordering::Relaxed);
            self.statistics.note_traffic(slot.socket.traffic());
        }
        if slots.is_empty() {
            self.all_gone.notify_all();
        }
    }

    /// What is counted of connections.
    pub(super) fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Whether the server stops.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Refuses new connections, ends all others and waits for them, up to `limit`. Returns how
    /// many are left.
    pub fn stop(&self, limit: Duration) -> usize {
        self.stopping.store(true, Ordering::Release);
        let mut slots = self.slots.lock();
        slots.values().for_each(|slot| slot.end_connection(KillReason::Shutdown));
        let deadline = Instant::now() + limit;
        while !slots.is_empty() {
            if self.all_gone.wait_until(&mut slots, deadline).timed_out() {
                break;
            }
        }
        let left = slots.len();
        drop(slots);
        let _ticking = self.tick.lock();
        self.tick_end.notify_all();
        left
    }

    /// Moves the clock and enforces time limits until the server stops.
    pub fn tick_until_stopped(&self) {
        let mut ticking = self.tick.lock();
        while !self.is_stopping() {
            self.tick_end.wait_for(&mut ticking, Duration::from_secs(1));
            let now = self.started.elapsed().as_secs();
            self.clock.store(now, Ordering::Relaxed);
            self.end_late(now);
        }
    }

    fn end_late(&self, now: u64) {
        for slot in self.slots.lock().values() {
            let idle = now.saturating_sub(slot.since.load(Ordering::Relaxed));
            match slot.command.load(Ordering::Relaxed) {
                SLEEP if idle > slot.wait_timeout.load(Ordering::Relaxed) => {
                    slot.end_connection(KillReason::Idle);
                }
                code::CONNECT if idle > self.connect_timeout => {
                    slot.end_connection(KillReason::SlowLogin);
                }
                _ => {}
            }
        }
    }

    /// How many connections were accepted.
    fn accepted(&self) -> u64 {
        let given = u64::from(self.next_id.load(Ordering::Relaxed)) - 1;
        given.saturating_sub(self.other_ids.load(Ordering::Relaxed))
    }

    /// Server-wide counts.
    pub fn counts(&self) -> Counts {
        let slots = self.slots.lock();
        let current: u64 = slots.values().map(|slot| slot.questions.load(Ordering::Relaxed)).sum();
        Counts {
            uptime: self.started.elapsed().as_secs(),
            threads: slots.len(),
            questions: current + self.old_questions.load(Ordering::Relaxed),
            connections: self.accepted(),
        }
    }
}

impl Processes for Registry {
    fn list(&self) -> Vec<ProcessEntry> {
        let now = self.started.elapsed().as_secs();
        self.slots.lock().values().map(|slot| slot.entry(now)).collect()
    }

    fn new_id(&self) -> u64 {
        self.other_ids.fetch_add(1, Ordering::Relaxed);
        u64::from(self.next_id.fetch_add(1, Ordering::Relaxed))
    }

    fn running(&self) -> usize {
        let runs = |slot: &&Arc<Slot>| slot.command.load(Ordering::Relaxed) != SLEEP;
        self.slots.lock().values().filter(runs).count()
    }

    fn counts(&self) -> ServerCounts {
        let slots = self.slots.lock();
        let live = slots.values().map(|slot| slot.socket.traffic());
        let live = live.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        self.statistics.counts(self.accepted(), live)
    }

    fn traffic(&self, id: u64) -> (u64, u64) {
        let id = u32::try_from(id).unwrap_or_default();
        self.slots.lock().get(&id).map_or((0, 0), |slot| slot.socket.traffic())
    }

    fn shut_down(&self) -> bool {
        let begin = self.on_shutdown.get();
        begin.inspect(|begin| begin()).is_some()
    }

    fn reopen_error_log(&self) {
        if let Err(error) = crate::log::reopen() {
            crate::log::error(format_args!("the error log cannot be opened again: {error}"));
        }
    }

    fn reload_tls(&self) -> Result<(), String> {
        self.tls.get().map_or(Ok(()), |certificate| certificate.reload())
    }

    fn password_key(&self) -> Option<String> {
        self.password_keys.get()?.made().map(|pair| pair.public_pem().to_owned())
    }

    fn kill(&self, id: u64, target: KillTarget) -> bool {
        let Ok(id) = u32::try_from(id) else { return false };
        let Some(slot) = self.slots.lock().get(&id).cloned() else { return false };
        match target {
            KillTarget::Connection => slot.cut_off(),
            KillTarget::ConnectionAfterReply => slot.mark(KillReason::Killed),
            KillTarget::Query => {
                let interrupt = slot.interrupt.lock().clone();
                if let Some(interrupt) = interrupt {
                    interrupt.interrupt(false);
                }
            }
        }
        true
    }
}
