//! Rounds on a workload that needs no server: what is counted, and from when.

use super::{Pace, Spent, run, whole};
use crate::random::Rng;
use crate::record::Outcome;
use crate::session::Session;
use crate::target::{Class, Connection, Dialect, Facts, Failure, Result, Target};
use crate::testing::unknown_server;
use crate::workload::{DataSet, Parameters, Script, Setting, Stage, Tally, Workload};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// A target that nobody connects to.
struct Nowhere;

impl Target for Nowhere {
    fn label(&self) -> &str {
        "nowhere"
    }

    fn dialect(&self) -> Dialect {
        Dialect::MySql
    }

    fn connect(&self) -> Result<Box<dyn Connection>> {
        Err(Failure::new(Class::Unreachable, "nowhere"))
    }

    fn create_database(&self) -> Result<()> {
        Ok(())
    }

    fn facts(&self) -> Result<Facts> {
        Ok(unknown_server())
    }
}

/// Does nothing so many times; the first time takes as long as `stall`.
#[derive(Clone, Copy)]
struct Idler {
    length: Option<u64>,
    stall: Duration,
    /// Transactions that are run again once.
    clumsy: bool,
    /// Time that must pass before each transaction.
    aside: Duration,
}

impl Workload for Idler {
    fn name(&self) -> &'static str {
        "idler"
    }

    fn about(&self) -> &'static str {
        ""
    }

    fn family(&self) -> &'static str {
        ""
    }

    fn length(&self, _parameters: &Parameters) -> Option<u64> {
        self.length
    }

    fn data(&self, _parameters: &Parameters, _dialect: Dialect) -> Result<DataSet> {
        Ok(DataSet::new("nothing", 1, Vec::new()))
    }

    fn stage(&self, _setting: &Setting, _session: &mut Session) -> Result<Arc<dyn Stage>> {
        Ok(Arc::new(*self))
    }
}

impl Stage for Idler {
    fn script(&self, _client: usize) -> Box<dyn Script> {
        Box::new(Idle { idler: *self, done: 0, stumbled: None })
    }

    fn check(&self, _session: &mut Session, tally: &Tally) -> Result<()> {
        match self.length {
            Some(length) if tally["done"] != length as i64 => Err(Failure::wrong("not all done")),
            _ => Ok(()),
        }
    }
}

struct Idle {
    idler: Idler,
    done: i64,
    /// What was drawn when the transaction failed.
    stumbled: Option<u64>,
}

impl Script for Idle {
    fn start(&mut self, _session: &mut Session) -> Result<()> {
        Ok(())
    }

    fn prepares(&self) -> bool {
        !self.idler.aside.is_zero()
    }

    fn before(&mut self, _session: &mut Session) -> Result<()> {
        let begun = Instant::now();
        while begun.elapsed() < self.idler.aside {
            std::hint::spin_loop();
        }
        Ok(())
    }

    fn transaction(&mut self, _session: &mut Session, rng: &mut Rng) -> Result<usize> {
        let drawn = rng.below(u64::MAX);
        if self.idler.clumsy && self.stumbled.is_none() {
            self.stumbled = Some(drawn);
            return Err(Failure::new(Class::Retry, "deadlock"));
        }
        if self.stumbled.take().is_some_and(|first| first != drawn) {
            return Err(Failure::wrong("another transaction than the one that failed"));
        }
        let begun = Instant::now();
        while self.done == 0 && begun.elapsed() < self.idler.stall {
            std::thread::yield_now();
        }
        self.done += 1;
        Ok(0)
    }

    fn tally(&self, tally: &mut Tally) {
        *tally.entry("done").or_default() += self.done;
    }
}

const LONG: Duration = Duration::from_secs(600);

fn round(idler: Idler, duration: Duration, rate: Option<f64>, stop: &AtomicBool) -> Outcome {
    let target = Arc::new(Nowhere);
    let facts = target.facts().unwrap();
    let setting = Setting {
        target,
        facts,
        parameters: Parameters::default(),
        clients: 1,
        values: 1,
        answers: Arc::default(),
    };
    let pace = Pace { duration, warm_up: Duration::ZERO, rate };
    run(&idler, &setting, pace, stop, &|_| {}).unwrap()
}

fn idler(length: Option<u64>, stall_ms: u64) -> Idler {
    Idler { length, stall: Duration::from_millis(stall_ms), clumsy: false, aside: Duration::ZERO }
}

#[test]
fn in_a_closed_loop_only_the_stalled_transaction_is_late() {
    let outcome = round(idler(Some(30), 50), LONG, None, &AtomicBool::new(false));
    let late = outcome.histogram.iter().filter(|(micros, _)| *micros >= 50_000.0);
    assert_eq!(late.map(|(_, count)| *count).sum::<u32>(), 1);
    assert_eq!(outcome.transactions, 30);
}

/// Of 30 transactions due at 0, 1, 2 … ms, the one of millisecond n waits 50 - n behind the first.
#[test]
fn in_an_open_loop_a_stall_makes_all_late_that_were_due_meanwhile() {
    let stop = AtomicBool::new(false);
    let outcome = round(idler(Some(30), 50), LONG, Some(1000.0), &stop);
    assert_eq!(outcome.transactions, 30);
    for (micros, due) in [(50_000.0, 1), (40_000.0, 11), (21_000.0, 30)] {
        let late = outcome.histogram.iter().filter(|(latency, _)| *latency >= micros);
        let late: u32 = late.map(|(_, count)| *count).sum();
        assert!(late >= due, "{late} of {due} transactions are later than {micros} us");
    }
}

#[test]
fn a_rate_that_cannot_be_reached_leaves_transactions_that_were_never_begun() {
    let stop = AtomicBool::new(false);
    let outcome = round(idler(None, 60), Duration::from_millis(50), Some(1000.0), &stop);
    // The first one takes longer than all the time there is.
    assert_eq!((outcome.transactions, outcome.unserved), (0, 49));
}

#[test]
fn the_lowest_rate_starts_one_transaction() {
    let stop = AtomicBool::new(false);
    let lowest = Some(f64::MIN_POSITIVE);
    let outcome = round(idler(None, 0), Duration::from_millis(20), lowest, &stop);
    assert_eq!((outcome.transactions, outcome.unserved), (1, 0));
}

#[test]
fn a_rate_counts_what_ended_in_the_time_that_was_asked_for() {
    let stop = AtomicBool::new(false);
    let outcome = round(idler(None, 0), Duration::from_millis(20), None, &stop);
    assert_eq!(outcome.seconds, 0.02);
    assert_eq!(outcome.rate, outcome.transactions as f64 / 0.02);
    assert_eq!(outcome.series.iter().map(|s| s.transactions).sum::<u64>(), outcome.transactions);
}

#[test]
fn an_interrupted_round_is_as_long_as_it_was_and_says_so() {
    let outcome = round(idler(None, 0), LONG, None, &AtomicBool::new(true));
    assert!(outcome.seconds < LONG.as_secs_f64());
    assert!(outcome.interrupted);
    let whole = round(idler(Some(1), 0), LONG, None, &AtomicBool::new(false));
    assert!(!whole.interrupted);
}

/// Twenty times 5 ms of preparation, and nothing to measure.
#[test]
fn what_must_be_in_place_before_is_not_measured() {
    let slow = Idler { aside: Duration::from_millis(5), ..idler(Some(20), 0) };
    let begun = Instant::now();
    let outcome = round(slow, LONG, None, &AtomicBool::new(false));
    let all = begun.elapsed().as_secs_f64();
    assert!(all >= 0.1);
    assert!(outcome.seconds <= all - 0.1 + 1e-6, "{} of {all}", outcome.seconds);
    assert!(outcome.rate >= 20.0 / (all - 0.1), "{}", outcome.rate);
}

#[test]
fn preparation_leaves_every_sum_it_is_taken_from() {
    let spent = |n: f64| Spent {
        seconds: n,
        client: 2.0 * n,
        server: Some(3.0 * n),
        busy: 4.0 * n,
        idle: 5.0 * n,
        total: 6.0 * n,
    };
    let mut aside = spent(1.0);
    aside += spent(1.0);
    assert_eq!(spent(5.0).less(&aside), spent(3.0));
}

#[test]
fn a_transaction_that_is_run_again_counts_once() {
    let clumsy = Idler { clumsy: true, ..idler(Some(10), 0) };
    let outcome = round(clumsy, LONG, None, &AtomicBool::new(false));
    assert_eq!((outcome.transactions, outcome.retries), (10, 10));
}

/// Ten seconds, of which the processor time of the last eight was seen.
#[test]
fn processor_time_that_was_seen_late_stands_for_all_of_it() {
    let from = Instant::now();
    let at = |seconds: f64| from + Duration::from_secs_f64(seconds);
    assert_eq!(whole(from, at(2.0), at(10.0)), Some(1.25));
    assert_eq!(whole(at(1.0), from, at(10.0)), Some(1.0), "what came before is idle time");
    assert_eq!(whole(from, at(9.5), at(10.0)), None, "too little to measure");
}
