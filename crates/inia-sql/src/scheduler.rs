//! The scheduler of events: a thread that waits for the next run, and a thread for each run.
//!
//! ```text
//!   catalog ──enabled events──▶ queue: (event, next run)      a run, in a thread of its own:
//!      ▲                          │ the first is due            1  a session of the definer
//!      └──last run, or disabled───┴──────────────────────▶      2  the body, rows are dropped
//!                                                               3  errors and warnings: error log
//!                                                               4  drop, after the last run
//! ```
//!
//! An event's next run is computed when the scheduler sees a definition for the first time, and
//! after each run (`inia_query::catalog::event`). The time comes from an [`EventClock`], so that
//! tests move it.
//!
//! Invariants:
//! - the definition says that a run was begun before the run begins: no crash repeats it;
//! - after the last run an event is disabled or dropped, the latter when the run has ended;
//! - a run's session is the definer's, and has what the definer may do.

use crate::session::{KillHandle, Session};
use inia_base::process::ProcessEntry;
use inia_expr::Level;
use inia_parser::ast::EventStatus;
use inia_query::catalog::{ProgramKind, StoredProgram};
use inia_query::database::{ClientInfo, Database};
use inia_query::events::EventWatch;
use parking_lot::Mutex;
use std::fmt::Arguments;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Takes lines for the error log.
pub type EventLog = fn(Level, Arguments<'_>);

/// Where the scheduler has the time from.
pub trait EventClock: Send + Sync {
    /// Seconds since 1970.
    fn now(&self) -> i64;
    /// Waits until that moment, or until `watch` has seen more changes than `seen`.
    fn wait(&self, watch: &EventWatch, seen: u64, until: Option<i64>);
}

/// The system's clock.
pub struct SystemEventClock;

impl EventClock for SystemEventClock {
    fn now(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0, |since| since.as_secs() as i64)
    }

    fn wait(&self, watch: &EventWatch, seen: u64, until: Option<i64>) {
        let limit = until.map(|until| {
            let moment = UNIX_EPOCH + Duration::from_secs(until.max(0) as u64);
            moment.duration_since(SystemTime::now()).unwrap_or_default()
        });
        watch.wait(seen, limit);
    }
}

/// A running scheduler. It ends when it is dropped.
pub struct EventScheduler {
    shared: Arc<SchedulerShared>,
    thread: Option<JoinHandle<()>>,
}

struct SchedulerShared {
    db: Arc<Database>,
    clock: Arc<dyn EventClock>,
    log: EventLog,
    stopping: AtomicBool,
    runs: Mutex<Vec<(JoinHandle<()>, KillHandle)>>,
    /// Events that are on their last run, and go when it ends.
    ending: Mutex<Vec<Arc<StoredProgram>>>,
}

/// An enabled event and when it runs next.
struct QueuedEvent {
    event: Arc<StoredProgram>,
    next: i64,
}

impl EventScheduler {
    /// Starts the scheduler of a database.
    pub fn start(
        db: &Arc<Database>,
        clock: Arc<dyn EventClock>,
        log: EventLog,
    ) -> std::io::Result<EventScheduler> {
        let (db, stopping) = (db.clone(), AtomicBool::new(false));
        let (runs, ending) = (Mutex::default(), Mutex::default());
        let shared = Arc::new(SchedulerShared { db, clock, log, stopping, runs, ending });
        let own = shared.clone();
        let thread = std::thread::Builder::new()
            .name("event-scheduler".to_owned())
            .spawn(move || own.schedule())?;
        Ok(EventScheduler { shared, thread: Some(thread) })
    }
}

impl Drop for EventScheduler {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        self.shared.db.events.notify();
        if let Some(thread) = self.thread.take() {
            // A scheduler that panicked has nothing more to say.
            let _ = thread.join();
        }
        let runs = std::mem::take(&mut *self.shared.runs.lock());
        runs.iter().for_each(|(_, kill)| kill.kill_connection());
        for (thread, _) in runs {
            let _ = thread.join();
        }
    }
}

impl SchedulerShared {
    /// The next number of a connection.
    fn new_id(&self) -> u64 {
        match self.db.processes() {
            Some(processes) => processes.new_id(),
            None => self.db.events.new_id(),
        }
    }

    fn schedule(self: &Arc<SchedulerShared>) {
        let watch = &self.db.events;
        let mut queue: Vec<QueuedEvent> = Vec::new();
        let mut id = None;
        loop {
            let seen = watch.changes();
            if self.stopping.load(Ordering::SeqCst) {
                break;
            }
            if self.db.global_number("event_scheduler") == 0 {
                queue.clear();
                if let Some(id) = id.take() {
                    watch.hide(id);
                }
                self.clock.wait(watch, seen, None);
                continue;
            }
            let id = *id.get_or_insert_with(|| self.new_id());
            let now = self.clock.now();
            self.fill(&mut queue, now);
            self.run_due(&mut queue, now);
            let next = queue.iter().map(|queued| queued.next).min();
            let state = match next {
                Some(_) => "Waiting for next activation",
                None => "Waiting on empty queue",
            };
            watch.show(shown(id, "event_scheduler", "localhost", "Daemon", state), None);
            self.clock.wait(watch, seen, next);
        }
        if let Some(id) = id {
            watch.hide(id);
        }
    }

    /// Brings the queue up to date with the catalog.
    fn fill(&self, queue: &mut Vec<QueuedEvent>, now: i64) {
        let catalog = self.db.catalog().current();
        let mut found = Vec::new();
        for event in catalog.schemas.values().flat_map(|schema| schema.programs.values()) {
            let Some(head) = &event.def.event else { continue };
            let ends = || self.ending.lock().iter().any(|ending| Arc::ptr_eq(ending, event));
            if head.status != EventStatus::Enabled || ends() {
                continue;
            }
            let known = queue.iter().find(|queued| Arc::ptr_eq(&queued.event, event));
            match known.map(|queued| queued.next).or_else(|| head.next_run(now)) {
                Some(next) => found.push(QueuedEvent { event: event.clone(), next }),
                // It had its last run when the server stopped.
                None => self.retire(event),
            }
        }
        *queue = found;
    }

    /// Runs what is due.
    fn run_due(self: &Arc<SchedulerShared>, queue: &mut Vec<QueuedEvent>, now: i64) {
        self.runs.lock().retain(|(thread, _)| !thread.is_finished());
        let (due, later) = std::mem::take(queue).into_iter().partition(|one| one.next <= now);
        *queue = later;
        let due: Vec<QueuedEvent> = due;
        let again = !due.is_empty();
        for QueuedEvent { event, .. } in due {
            self.run(&event, now);
        }
        if again {
            self.fill(queue, now);
        }
    }

    /// Notes that a run begins, and begins it.
    fn run(self: &Arc<SchedulerShared>, event: &Arc<StoredProgram>, now: i64) {
        let mut def = event.def.clone();
        let Some(head) = &mut def.event else { return };
        head.last_executed = Some(now);
        let last = head.next_run(now).is_none();
        let drops = last && !head.preserve;
        if last && !drops {
            head.status = EventStatus::Disabled;
        }
        let noted = match self.db.replace_event(event, Some(def.clone())) {
            Ok(true) => self.db.catalog().program(ProgramKind::Event, &def.schema, &def.name),
            // Its definition has changed: it is looked at anew.
            Ok(false) => return,
            Err(error) => return self.report(event, Level::Error, &error.message),
        };
        let Some(noted) = noted else { return };
        if drops {
            self.ending.lock().push(noted.clone());
        }
        let id = self.new_id();
        let mut session = Session::new(&self.db, definers(event, id));
        let kill = session.kill_handle();
        let ends = kill.clone();
        let AccountText(user, host) = account_of(event);
        let mut entry = shown(id, &user, &host, "Connect", "executing");
        (entry.db, entry.info) = (Some(def.schema.clone()), Some(def.body.clone()));
        let end = move |whole: bool| if whole { ends.kill_connection() } else { ends.kill_query() };
        self.db.events.show(entry, Some(Arc::new(end)));
        let own = self.clone();
        let thread = std::thread::Builder::new().name(format!("event-{id}")).spawn(move || {
            let _ends = EndOfRun(&own.db.events, id);
            own.carry_out(&mut session, &noted);
            drop(session);
            if drops {
                own.retire(&noted);
                own.ending.lock().retain(|event| !Arc::ptr_eq(event, &noted));
            }
        });
        match thread {
            Ok(thread) => self.runs.lock().push((thread, kill)),
            Err(error) => {
                self.db.events.finish(id);
                self.report(event, Level::Error, &format!("cannot start a thread: {error}"));
            }
        }
    }

    /// Runs an event's body, and writes what it says to the error log.
    fn carry_out(&self, session: &mut Session, event: &Arc<StoredProgram>) {
        let (done, conditions) = inia_query::stack::on_deep_stack(|| session.run_event(event));
        for condition in &conditions {
            self.report(event, condition.level, &condition.message);
        }
        if let Err(error) = done {
            if !conditions.iter().any(|condition| condition.message == error.message) {
                self.report(event, Level::Error, &error.message);
            }
            let AccountText(user, host) = account_of(event);
            let (schema, name) = (&event.def.schema, &event.def.name);
            (self.log)(
                Level::Note,
                format_args!(
                    "Event Scheduler: [{user}@{host}].[{schema}.{name}] event execution failed."
                ),
            );
        }
    }

    /// Disables or drops an event that has had its last run.
    fn retire(&self, event: &Arc<StoredProgram>) {
        let mut def = event.def.clone();
        let Some(head) = &mut def.event else { return };
        head.status = EventStatus::Disabled;
        let new = head.preserve.then_some(def);
        if let Err(error) = self.db.replace_event(event, new) {
            self.report(event, Level::Error, &error.message);
        }
    }

    fn report(&self, event: &StoredProgram, level: Level, message: &str) {
        let AccountText(user, host) = account_of(event);
        let (schema, name) = (&event.def.schema, &event.def.name);
        let line = format_args!("Event Scheduler: [{user}@{host}][{schema}.{name}] {message}");
        (self.log)(level, line);
    }
}

/// Notes the end of a run, however it ends.
struct EndOfRun<'w>(&'w EventWatch, u64);

impl Drop for EndOfRun<'_> {
    fn drop(&mut self) {
        self.0.finish(self.1);
    }
}

struct AccountText(String, String);

fn account_of(event: &StoredProgram) -> AccountText {
    AccountText(event.def.definer.user.clone(), event.def.definer.host.clone())
}

/// The session of an event's definer.
fn definers(event: &StoredProgram, id: u64) -> ClientInfo {
    let AccountText(user, host) = account_of(event);
    ClientInfo {
        connection_id: u32::try_from(id).unwrap_or_default(),
        user: user.clone(),
        host: host.clone(),
        account_user: user,
        account_host: host,
        ..ClientInfo::default()
    }
}

/// A line of the process list.
fn shown(
    id: u64,
    user: &str,
    host: &str,
    command: &'static str,
    state: &'static str,
) -> ProcessEntry {
    ProcessEntry {
        id,
        user: user.to_owned(),
        account: Some((user.to_owned(), host.to_owned())),
        host: host.to_owned(),
        db: None,
        command,
        time: 0,
        state,
        info: None,
    }
}

#[cfg(test)]
mod tests;
