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
use crate::record::{Cpu, Extra, Kind, Latency, Outcome, Second};
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
    tally: Tally,
    /// Stays open until the server's times were read: what ends a connection is not measured, and
    /// a process per connection is still there to be asked.
    session: Option<Session>,
}

/// Runs one round. `progress` is told the share of the time that has passed.
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
    let counts = collect(setting.clients, &results, early)?;
    if let Some(failure) = shared.failure.lock().expect("no client panics").take() {
        return Err(failure);
    }
    if setting.facts.product != Product::Floor {
        let mut tally = Tally::new();
        for client in &counts {
            client.tally.iter().for_each(|(name, sum)| *tally.entry(name).or_insert(0) += sum);
        }
        stage.check(&mut session, &tally).map_err(|failure| failure.during("check"))?;
    }
    let mut outcome = summarize(workload, &shared, &counts, measured);
    outcome.extras = extras(stage.as_ref(), outcome.rate);
    Ok(outcome)
}

fn extras(stage: &dyn Stage, rate: f64) -> Vec<Extra> {
    let extra = |(name, unit, value): (String, &str, f64)| Extra { name, unit: unit.into(), value };
    stage.extras(rate).into_iter().map(extra).collect()
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
        script.before(session)?;
        let Some(begun) = next_start(shared, window) else { break };
        let requests = session.requests();
        let mut retries = 0;
        let kind = loop {
            match script.transaction(session, &mut rng) {
                Ok(kind) => break Some(kind),
                Err(failure) if failure.class == Class::Retry => {
                    retries += 1;
                    // Where the server has rolled back already there is nothing left to do.
                    let _ = session.rollback();
                    if shared.stopped() || (shared.length.is_none() && Instant::now() >= window.to)
                    {
                        break None;
                    }
                }
                Err(failure) => return Err(failure),
            }
        };
        let ended = Instant::now();
        left -= 1;
        let Some(kind) = kind else { break };
        if ended < window.from || (ended >= window.to && shared.length.is_none()) {
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
        counts.retries += retries;
    }
    shared.flush(second, &mut seen);
    Ok(())
}

/// Waits for the next transaction's start; none when the time is up.
fn next_start(shared: &Shared, window: Window) -> Option<Instant> {
    let Some(rate) = shared.pace.rate else {
        let now = Instant::now();
        return (shared.length.is_some() || now < window.to).then_some(now);
    };
    let number = shared.ticket.fetch_add(1, Ordering::Relaxed);
    let due = window.go + Duration::from_secs_f64(number as f64 / rate);
    if due >= window.to {
        return None;
    }
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
    cpu: Cpu,
    rss: Option<u64>,
    /// Results that came while measuring.
    early: Vec<Counts>,
}

struct Sample {
    at: Instant,
    client: u64,
    server: Option<u64>,
    system: SystemTimes,
}

impl Sample {
    fn now(setting: &Setting) -> Sample {
        let server = setting.facts.pid.and_then(machine::server_cpu);
        let (client, system) = (machine::own_cpu(), machine::system_times());
        Sample { at: Instant::now(), client, server, system }
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
    let begin = Sample::now(setting);
    let go = Instant::now();
    let from = go + shared.pace.warm_up;
    let to = from + shared.pace.duration;
    let failed = shared.stopped();
    if !failed {
        shared.window.set(Window { go, from, to }).unwrap_or_else(|_| unreachable!("set once"));
    }
    shared.ready.wait();
    let total = (to - go).as_secs_f64();
    let mut early = Vec::new();
    let mut look = |until: Option<Instant>| {
        while until.is_none_or(|until| Instant::now() < until) {
            if interrupted.load(Ordering::Relaxed) {
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
    let first = if shared.pace.warm_up.is_zero() { begin } else { Sample::now(setting) };
    look(if shared.length.is_some() { None } else { Some(to) });
    let ended = Instant::now();
    let last = Sample::now(setting);
    // What counts ended between `from` and `to`, however late this thread looked; programs of
    // fixed length take the time they take, and an interrupted round ends early.
    let end = if shared.length.is_some() { ended } else { ended.min(to) };
    Measured {
        seconds: end.saturating_duration_since(from).as_secs_f64(),
        cpu: cpu(setting, &first, &last, whole(from, first.at, end)),
        rss: setting.facts.pid.and_then(machine::server_rss),
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

fn cpu(setting: &Setting, first: &Sample, last: &Sample, whole: Option<f64>) -> Cpu {
    let in_process = setting.facts.pid == Some(std::process::id());
    let seconds = |nanos: u64| nanos as f64 / 1e9;
    let client = seconds(last.client - first.client);
    let server = match (first.server, last.server) {
        (Some(first), Some(last)) => Some(seconds(last.saturating_sub(first))),
        _ => None,
    };
    let counted = |seconds: f64| whole.map(|whole| seconds * whole);
    let total = seconds(last.system.total - first.system.total).max(1e-9);
    let busy = seconds(last.system.busy - first.system.busy);
    let ours = if in_process { client } else { client + server.unwrap_or(0.0) };
    Cpu {
        in_process,
        server: None,
        client: None,
        server_seconds: if in_process { Some(client) } else { server }.and_then(counted),
        client_seconds: if in_process { None } else { counted(client) },
        others: ((busy - ours) / total).max(0.0),
        idle: seconds(last.system.idle - first.system.idle) / total,
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
    let kind = |(name, histogram): (&&str, &Histogram)| Kind {
        name: (*name).to_owned(),
        transactions: histogram.count(),
        latency: Latency::of(histogram),
    };
    let names = workload.kinds();
    let several = if names.len() > 1 { names } else { &[] };
    let series = shared.series.lock().expect("no client panics");
    let seconds = measured.seconds.max(1e-9);
    let per_transaction = |time: Option<f64>| time.map(|s| s * 1e6 / all.count().max(1) as f64);
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
        cpu: Cpu {
            server: per_transaction(measured.cpu.server_seconds),
            client: per_transaction(measured.cpu.client_seconds),
            ..measured.cpu
        },
        rss: measured.rss,
        load_seconds: None,
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
