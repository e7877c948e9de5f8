//! One measured round: clients in threads, a window of time, and what happened in it.
//!
//! ```text
//! connect, prepare      warm-up          measured          check
//! |---------------------|----------------|-----------------|------|
//!                       go               from              to
//! ```
//! A transaction counts where it ends. A closed loop starts the next transaction when the last
//! has ended; an open loop starts the n-th one at `go + n / rate` whatever happened to the others,
//! and its latency counts from then, so that a stall is seen by all who wait behind it.

use crate::histogram::Histogram;
use crate::machine::{self, SystemTimes};
use crate::random::Rng;
use crate::record::{Cpu, Extra, Latency, Outcome, Second, TransactionKind};
use crate::session::Session;
use crate::target::{Class, Failure, Product, Result};
use crate::workload::{Script, Setting, Stage, Tally, Workload};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

const STACK: usize = 512 << 10;
/// How long clients may take to end after the time is up.
const GRACE: Duration = Duration::from_secs(60);
/// How often the round looks at the clock, and the progress is shown.
const LOOK: Duration = Duration::from_millis(100);

/// How long, and how fast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Measured time.
    pub duration: Duration,
    /// Time before.
    pub warm_up: Duration,
    /// Transactions per second of an open loop.
    pub rate: Option<f64>,
}

/// A client's times.
#[derive(Clone, Copy)]
struct Window {
    go: Instant,
    from: Instant,
    to: Instant,
}

/// What the clients of a round share.
struct Shared {
    pace: Pace,
    /// Transactions after which a client is done.
    length: Option<u64>,
    kinds: usize,
    seed: u64,
    /// The server's process.
    pid: Option<u32>,
    window: OnceLock<Window>,
    ready: Barrier,
    stop: AtomicBool,
    /// Next transaction of an open loop.
    ticket: AtomicU64,
    /// Transactions of an open loop that were begun.
    begun: AtomicU64,
    /// Latencies by second of the measured time.
    series: Mutex<Vec<Histogram>>,
    failure: Mutex<Option<Failure>>,
}

impl Shared {
    fn fail(&self, failure: Failure) {
        self.stop.store(true, Ordering::Relaxed);
        self.failure.lock().expect("no client panics").get_or_insert(failure);
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn flush(&self, second: usize, seen: &mut Histogram) {
        if seen.count() > 0 {
            let mut series = self.series.lock().expect("no client panics");
            if series.len() <= second {
                series.resize(second + 1, Histogram::default());
            }
            series[second].merge(seen);
            seen.clear();
        }
    }
}

/// What one client brings back.
#[derive(Default)]
struct Counts {
    kinds: Vec<Histogram>,
    requests: u64,
    retries: u64,
    /// What [`Script::before`] took.
    aside: Spent,
    tally: Tally,
    /// Stays open until the server's times were read: what ends a connection is not measured, and
    /// a process per connection is still there to be asked.
    session: Option<Session>,
}

/// Runs one round. `progress` gets the share of the time that has passed.
pub fn run(
    workload: &dyn Workload,
    setting: &Setting,
    pace: Pace,
    interrupted: &AtomicBool,
    progress: &dyn Fn(f64),
) -> Result<Outcome> {
    let mut session = setting.session();
    let stage = workload.stage(setting, &mut session)?;
    let length = workload.length(&setting.parameters);
    let warm_up = if length.is_some() { Duration::ZERO } else { pace.warm_up };
    let shared = Arc::new(Shared {
        pace: Pace { warm_up, ..pace },
        length,
        kinds: workload.kinds().len(),
        seed: setting.parameters.seed,
        pid: setting.facts.pid,
        window: OnceLock::new(),
        ready: Barrier::new(setting.clients + 1),
        stop: AtomicBool::new(false),
        ticket: AtomicU64::new(0),
        begun: AtomicU64::new(0),
        series: Mutex::new(Vec::new()),
        failure: Mutex::new(None),
    });
    let results = start_clients(setting, &stage, &shared)?;
    let mut measured = measure(setting, &shared, &results, interrupted, progress);
    let early = std::mem::take(&mut measured.early);
    let counts = collect(setting.clients, &results, early);
    if let Some(failure) = shared.failure.lock().expect("no client panics").take() {
        return Err(failure);
    }
    let counts = counts?;
    if setting.facts.product != Product::Floor {
        let mut tally = Tally::new();
        for client in &counts {
            client.tally.iter().for_each(|(name, sum)| *tally.entry(name).or_insert(0) += sum);
        }
        stage.check(&mut session, &tally).map_err(|failure| failure.during("check"))?;
    }
    let mut outcome = summarize(workload, &shared, &counts, measured);
    outcome.extras = extras(stage.as_ref(), &outcome);
    outcome.notes = stage.notes();
    Ok(outcome)
}

fn extras(stage: &dyn Stage, outcome: &Outcome) -> Vec<Extra> {
    let extra = |(name, unit, value): (String, &str, f64)| Extra { name, unit: unit.into(), value };
    stage.extras(outcome).into_iter().map(extra).collect()
}

/// Starts the client threads. Each sends its counts when it ends.
fn start_clients(
    setting: &Setting,
    stage: &Arc<dyn Stage>,
    shared: &Arc<Shared>,
) -> Result<mpsc::Receiver<Counts>> {
    let (send, results) = mpsc::channel();
    for client in 0..setting.clients {
        let (send, shared) = (send.clone(), shared.clone());
        let (mut session, mut script) = (setting.session(), stage.script(client));
        let spawned = thread::Builder::new().stack_size(STACK).spawn(move || {
            let mut counts = client_thread(client, &mut session, script.as_mut(), &shared);
            counts.session = Some(session);
            // The round may have given up on this client.
            let _ = send.send(counts);
        });
        if let Err(error) = spawned {
            let message = format!("cannot start client {}: {error}", client + 1);
            return Err(Failure::new(Class::Usage, message));
        }
    }
    Ok(results)
}

fn client_thread(
    client: usize,
    session: &mut Session,
    script: &mut dyn Script,
    shared: &Shared,
) -> Counts {
    if let Err(failure) = script.start(session) {
        shared.fail(failure);
    }
    shared.ready.wait();
    shared.ready.wait();
    let mut counts =
        Counts { kinds: vec![Histogram::default(); shared.kinds], ..Counts::default() };
    if let Some(&window) = shared.window.get() {
        let rng = Rng::stream(shared.seed, client as u64 + 1);
        if let Err(failure) = client_loop(session, script, shared, window, rng, &mut counts) {
            shared.fail(failure);
            // The session stays open; others must not wait for what it has locked.
            let _ = session.rollback();
        }
    }
    script.tally(&mut counts.tally);
    counts
}

fn client_loop(
    session: &mut Session,
    script: &mut dyn Script,
    shared: &Shared,
    window: Window,
    mut rng: Rng,
    counts: &mut Counts,
) -> Result<()> {
    let (mut second, mut seen) = (0, Histogram::default());
    let mut left = shared.length.unwrap_or(u64::MAX);
    while left > 0 && !shared.stopped() {
        counts.aside += prepare(session, script, shared.pid)?;
        let Some(begun) = next_start(shared, window) else { break };
        let requests = session.requests();
        let over = || shared.length.is_none() && Instant::now() >= window.to;
        let give_up = || shared.stopped() || over();
        let (kind, retries) = repeat(session, script, &mut rng, give_up)?;
        let ended = Instant::now();
        left -= 1;
        if ended < window.from {
            continue;
        }
        counts.retries += retries;
        let Some(kind) = kind else { break };
        if ended >= window.to && shared.length.is_none() {
            continue;
        }
        let at = ended.duration_since(window.from).as_secs() as usize;
        if at != second {
            shared.flush(second, &mut seen);
            second = at;
        }
        let nanos = ended.saturating_duration_since(begun).as_nanos() as u64;
        seen.add(nanos);
        if let Some(histogram) = counts.kinds.get_mut(kind) {
            histogram.add(nanos);
        }
        counts.requests += session.requests() - requests;
    }
    shared.flush(second, &mut seen);
    Ok(())
}

/// Does what must be in place before the next transaction, and returns what it took.
fn prepare(session: &mut Session, script: &mut dyn Script, pid: Option<u32>) -> Result<Spent> {
    if !script.prepares() {
        return Ok(Spent::default());
    }
    let begin = Sample::own_first(pid);
    script.before(session)?;
    Ok(Sample::own_last(pid).since(&begin))
}

/// Runs one transaction, again and with the same choices after each failure of class
/// [`Class::Retry`], until it is through or `give_up` says so. Returns its kind, and how often it
/// was run again.
pub fn repeat(
    session: &mut Session,
    script: &mut dyn Script,
    rng: &mut Rng,
    give_up: impl Fn() -> bool,
) -> Result<(Option<usize>, u64)> {
    let (before, mut retries) = (rng.clone(), 0);
    loop {
        match script.transaction(session, rng) {
            Ok(kind) => return Ok((Some(kind), retries + script.repeated())),
            Err(failure) if failure.class == Class::Retry => {
                retries += 1;
                // Where the server has rolled back already there is nothing left to do.
                let _ = session.rollback();
                if give_up() {
                    return Ok((None, retries));
                }
                *rng = before.clone();
            }
            Err(failure) => return Err(failure),
        }
    }
}

/// Waits for the next transaction's start; none when the time is up.
fn next_start(shared: &Shared, window: Window) -> Option<Instant> {
    let Some(rate) = shared.pace.rate else {
        let now = Instant::now();
        return (shared.length.is_some() || now < window.to).then_some(now);
    };
    let number = shared.ticket.fetch_add(1, Ordering::Relaxed);
    // A rate so low that its next moment has no number comes after the end, too.
    let wait = Duration::try_from_secs_f64(number as f64 / rate).ok()?;
    let due = window.go.checked_add(wait).filter(|due| *due < window.to)?;
    loop {
        let wait = due.saturating_duration_since(Instant::now());
        if wait.is_zero() {
            break;
        }
        if shared.stopped() {
            return None;
        }
        thread::sleep(wait.min(LOOK));
    }
    if Instant::now() >= window.to {
        return None;
    }
    shared.begun.fetch_add(1, Ordering::Relaxed);
    Some(due)
}

/// What the round saw from outside.
struct Measured {
    seconds: f64,
    spent: Spent,
    /// By how much the time spent stands for that of all the round.
    whole: Option<f64>,
    rss: Option<u64>,
    /// The user ended it.
    interrupted: bool,
    /// Results that came while measuring.
    early: Vec<Counts>,
}

/// What clocks show. Looking at other processes takes this one milliseconds, which are no client's
/// work: a measured span begins with [`Sample::own_last`] and ends with [`Sample::own_first`], one
/// that is left out the other way round.
struct Sample {
    at: Instant,
    client: u64,
    server: Option<u64>,
    system: SystemTimes,
}

impl Sample {
    /// This process's clocks first, then the others'.
    fn own_first(pid: Option<u32>) -> Sample {
        let (at, client) = (Instant::now(), machine::own_cpu());
        let system = machine::system_times();
        Sample { at, client, server: pid.and_then(machine::server_cpu), system }
    }

    /// The others' clocks first, then this process's.
    fn own_last(pid: Option<u32>) -> Sample {
        let server = pid.and_then(machine::server_cpu);
        let system = machine::system_times();
        Sample { client: machine::own_cpu(), at: Instant::now(), server, system }
    }

    fn since(&self, first: &Sample) -> Spent {
        let seconds = |last: u64, first: u64| last.saturating_sub(first) as f64 / 1e9;
        let server = match (first.server, self.server) {
            (Some(first), Some(last)) => Some(seconds(last, first)),
            _ => None,
        };
        Spent {
            seconds: self.at.saturating_duration_since(first.at).as_secs_f64(),
            client: seconds(self.client, first.client),
            server,
            busy: seconds(self.system.busy, first.system.busy),
            idle: seconds(self.system.idle, first.system.idle),
            total: seconds(self.system.total, first.system.total),
        }
    }
}

/// Time by the clock and of processors, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Spent {
    seconds: f64,
    client: f64,
    server: Option<f64>,
    busy: f64,
    idle: f64,
    total: f64,
}

impl std::ops::AddAssign for Spent {
    fn add_assign(&mut self, more: Spent) {
        self.seconds += more.seconds;
        self.client += more.client;
        self.server = match (self.server, more.server) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        self.busy += more.busy;
        self.idle += more.idle;
        self.total += more.total;
    }
}

impl Spent {
    fn less(&self, aside: &Spent) -> Spent {
        let less = |all: f64, part: f64| (all - part).max(0.0);
        Spent {
            seconds: less(self.seconds, aside.seconds),
            client: less(self.client, aside.client),
            server: self.server.map(|all| less(all, aside.server.unwrap_or(0.0))),
            busy: less(self.busy, aside.busy),
            idle: less(self.idle, aside.idle),
            total: less(self.total, aside.total),
        }
    }
}

fn measure(
    setting: &Setting,
    shared: &Shared,
    results: &mpsc::Receiver<Counts>,
    interrupted: &AtomicBool,
    progress: &dyn Fn(f64),
) -> Measured {
    shared.ready.wait();
    let pid = setting.facts.pid;
    let begin = Sample::own_last(pid);
    let go = Instant::now();
    let from = go + shared.pace.warm_up;
    let to = from + shared.pace.duration;
    let failed = shared.stopped();
    if !failed {
        shared.window.set(Window { go, from, to }).unwrap_or_else(|_| unreachable!("set once"));
    }
    shared.ready.wait();
    let total = (to - go).as_secs_f64();
    let (mut early, mut cut) = (Vec::new(), false);
    let mut look = |until: Option<Instant>| {
        while until.is_none_or(|until| Instant::now() < until) {
            if interrupted.load(Ordering::Relaxed) && early.len() < setting.clients {
                cut = true;
                shared.stop.store(true, Ordering::Relaxed);
            }
            if shared.stopped() || early.len() == setting.clients {
                break;
            }
            let rest = until.map_or(LOOK, |until| until.saturating_duration_since(Instant::now()));
            early.extend(results.recv_timeout(rest.min(LOOK)).ok());
            progress((go.elapsed().as_secs_f64() / total).min(1.0));
        }
    };
    look(Some(from));
    let first = if shared.pace.warm_up.is_zero() { begin } else { Sample::own_last(pid) };
    look(if shared.length.is_some() { None } else { Some(to) });
    let ended = Instant::now();
    let last = Sample::own_first(pid);
    // What counts ended between `from` and `to`, however late this thread looked; programs of
    // fixed length take the time they take, and an interrupted round ends early.
    let end = if shared.length.is_some() { ended } else { ended.min(to) };
    Measured {
        seconds: end.saturating_duration_since(from).as_secs_f64(),
        spent: last.since(&first),
        whole: whole(from, first.at, end),
        interrupted: cut,
        rss: pid.and_then(machine::server_rss),
        early,
    }
}

/// By how much the processor time since the first sample stands for that of all the time. On a
/// busy machine this thread may take its sample late, while clients count from the begin on.
fn whole(from: Instant, first: Instant, end: Instant) -> Option<f64> {
    let all = end.saturating_duration_since(from).as_secs_f64();
    let seen = end.saturating_duration_since(first.max(from)).as_secs_f64();
    (seen > all / 10.0).then(|| all / seen)
}

/// The processor times of a round, of so many transactions.
fn cpu(pid: Option<u32>, spent: &Spent, whole: Option<f64>, transactions: u64) -> Cpu {
    let in_process = pid == Some(std::process::id());
    let counted = |seconds: f64| whole.map(|whole| seconds * whole);
    let total = spent.total.max(1e-9);
    let ours = if in_process { spent.client } else { spent.client + spent.server.unwrap_or(0.0) };
    let server_seconds = if in_process { Some(spent.client) } else { spent.server };
    let server_seconds = server_seconds.and_then(counted);
    let client_seconds = if in_process { None } else { counted(spent.client) };
    let each = |seconds: Option<f64>| {
        seconds.filter(|_| transactions > 0).map(|s| s * 1e6 / transactions as f64)
    };
    Cpu {
        in_process,
        server: each(server_seconds),
        client: each(client_seconds),
        server_seconds,
        client_seconds,
        others: ((spent.busy - ours) / total).max(0.0),
        idle: spent.idle / total,
    }
}

/// Waits for the clients that have not ended yet.
fn collect(
    clients: usize,
    results: &mpsc::Receiver<Counts>,
    mut counts: Vec<Counts>,
) -> Result<Vec<Counts>> {
    let end = Instant::now() + GRACE;
    while counts.len() < clients {
        match results.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(one) => counts.push(one),
            Err(_) => {
                let late = clients - counts.len();
                let message = format!("{late} of {clients} clients did not end in time");
                return Err(Failure::new(Class::Lost, message));
            }
        }
    }
    Ok(counts)
}

fn summarize(
    workload: &dyn Workload,
    shared: &Shared,
    counts: &[Counts],
    measured: Measured,
) -> Outcome {
    let mut kinds = vec![Histogram::default(); shared.kinds];
    for client in counts {
        kinds.iter_mut().zip(&client.kinds).for_each(|(sum, one)| sum.merge(one));
    }
    let mut all = Histogram::default();
    kinds.iter().for_each(|kind| all.merge(kind));
    let kind = |(name, histogram): (&&str, &Histogram)| TransactionKind {
        name: (*name).to_owned(),
        transactions: histogram.count(),
        latency: Latency::of(histogram),
    };
    let names = workload.kinds();
    let several = if names.len() > 1 { names } else { &[] };
    let series = shared.series.lock().expect("no client panics");
    let mut aside = Spent::default();
    counts.iter().for_each(|client| aside += client.aside);
    let seconds = (measured.seconds - aside.seconds).max(1e-9);
    // The n-th is due at n / rate, from 0.
    let time = shared.pace.warm_up.as_secs_f64() + seconds;
    let due = shared.pace.rate.map_or(0, |rate| (rate * time - 1e-6).ceil() as u64);
    Outcome {
        transactions: all.count(),
        seconds,
        rate: all.count() as f64 / seconds,
        requests: counts.iter().map(|client| client.requests).sum(),
        retries: counts.iter().map(|client| client.retries).sum(),
        unserved: due.saturating_sub(shared.begun.load(Ordering::Relaxed)),
        latency: Latency::of(&all),
        histogram: micros(all.buckets()),
        kinds: several.iter().zip(&kinds).map(kind).collect(),
        series: series.iter().enumerate().map(second).collect(),
        cpu: cpu(shared.pid, &measured.spent.less(&aside), measured.whole, all.count()),
        rss: measured.rss,
        load_seconds: None,
        interrupted: measured.interrupted,
        notes: Vec::new(),
        extras: Vec::new(),
    }
}

fn micros(buckets: impl IntoIterator<Item = (u64, u32)>) -> Vec<(f64, u32)> {
    buckets.into_iter().map(|(nanos, count)| (nanos as f64 / 1000.0, count)).collect()
}

fn second((number, histogram): (usize, &Histogram)) -> Second {
    let latency = Latency::of(histogram);
    Second {
        second: number as u64,
        transactions: histogram.count(),
        p50: latency.p50,
        p95: latency.p95,
        p99: latency.p99,
        max: latency.max,
        histogram: micros(histogram.coarse_buckets()),
    }
}

#[cfg(test)]
mod tests;
