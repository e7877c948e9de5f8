//! A disk whose calls fail: each statement succeeds or is undone with an error that clients know,
//! and nothing that was acknowledged is lost.
//!
//! One database lives through all faults. Where a fault leaves open what is on the disk (a failed
//! write or sync of the log or of pages) writing ends for good: the database is opened again, after
//! the end of the program or of the machine, and holds the tables from before or after the one
//! statement that failed with its error. After any other fault the same sessions go on.

use super::images::check;
use super::model::Tables;
use super::run::{Run, Unexpected};
use super::workload::StepKind;
use super::{open, seeds};
use inia_testkit::{Fault, Random, SimDisk, When};

/// Errors of statements on a failing disk: a full table or disk, the engine's errors by number, a
/// temporary file that cannot be written or read.
const KNOWN: [&str; 8] = [
    "ERROR 1114: The table ",
    "ERROR 1030: Got error 28 - 'No space left on device' from storage engine",
    "ERROR 1180: Got error 28 - 'No space left on device' during COMMIT",
    "ERROR 1030: Got error 168 - ",
    "ERROR 3: Error writing file ",
    "ERROR 2: Error reading file ",
    "ERROR 1878: Temporary file write failure.",
    "ERROR 0: ",
];

/// A database, its disk, and how often what happened.
struct World {
    disk: SimDisk,
    run: Option<Run>,
    random: Random,
    seed: u64,
    stops: u64,
    undone: u64,
    /// How often statements came after a stop, and how often one of them failed with its error.
    followed: u64,
    reported: u64,
}

impl World {
    fn new(seed: u64) -> World {
        let disk = SimDisk::new();
        let db = open(&disk).unwrap();
        let mut run = Run::new(&db, Default::default(), Random::new(seed));
        run.set_up();
        let random = Random::new(seed + 100);
        World { disk, run: Some(run), random, seed, stops: 0, undone: 0, followed: 0, reported: 0 }
    }

    /// Steps until something fails; what, or nothing after so many steps.
    fn steps(&mut self, most: u64) -> Option<Unexpected> {
        let run = self.run.as_mut().unwrap();
        (0..most).find_map(|_| run.step().err())
    }

    /// Deals with a failed statement: it was undone, or writing has stopped.
    fn settle(&mut self, failed: &Unexpected) {
        let World { run, seed, .. } = self;
        let run = run.as_mut().unwrap();
        let (answer, sql) = (&failed.answer, &failed.step.sql);
        // A rollback that waits for space keeps its locks.
        let locked = run.db.engine.stats().unfinished > 0 && answer.contains("ERROR 1205: ");
        let known = KNOWN.iter().any(|known| answer.contains(known));
        assert!(known || locked, "seed {seed}: {sql:.200}: {answer}");
        if run.db.engine.failure().is_some() {
            return self.restart(&[failed]);
        }
        self.disk.clear_faults();
        // What a rollback could not take back is locked until the background has.
        for _ in 0..100 {
            if run.db.engine.stats().unfinished > 0 {
                let _ = run.db.engine.background_step();
            }
        }
        // Work without a client can have met the stop.
        if run.db.engine.failure().is_some() {
            return self.restart(&[failed]);
        }
        self.undone += 1;
        run.settle_failed(failed.client, &failed.step);
        run.check_view(failed.client, &format!("seed {seed}, after {sql:.200}: {answer}"));
    }

    /// Ends the program or the machine, opens the database again and goes on with what is there.
    fn restart(&mut self, failed: &[&Unexpected]) {
        self.stops += 1;
        let mut run = self.run.take().unwrap();
        let (allowed, sql) = match failed {
            [one, ..] => (run.possible(one.client, &one.step), one.step.sql.clone()),
            [] => (vec![run.committed()], String::new()),
        };
        let halves = |state: &Tables| {
            ["a", "b"].map(|prefix| {
                let mut half = state.clone();
                half.0.retain(|name, _| name.starts_with(prefix));
                half
            })
        };
        let random = run.random.clone();
        self.disk.clear_faults();
        if run.db.engine.failure().is_some() {
            self.followed += 1;
            self.reported += u64::from(self.reports_the_stop(&mut run));
        }
        let kind = self.random.below(4);
        self.disk.set_capacity(None);
        let next =
            if kind < 2 { self.disk.kill() } else { self.disk.crash(self.random.next_u64()) };
        drop(run);
        let label = format!("seed {}, stop {}: {sql:.200}", self.seed, self.stops);
        let db = open(&next).unwrap_or_else(|error| panic!("{label}: {error}"));
        let mut at = check(&db, &allowed, &label);
        self.disk = next;
        if kind.is_multiple_of(2) {
            // What is shown after the start of the program stays, whatever the machine does then.
            let next = self.disk.crash(self.random.next_u64());
            drop(db);
            let label = format!("{label}, again");
            let db = open(&next).unwrap_or_else(|error| panic!("{label}: {error}"));
            check(&db, &allowed[at..=at], &label);
            at = at.min(allowed.len() - 1);
            self.disk = next;
            self.run = Some(Run::new(&db, halves(&allowed[at]), random));
            return;
        }
        self.run = Some(Run::new(&db, halves(&allowed[at]), random));
    }

    /// Goes on where nothing can be written any more. Statements that write nothing succeed;
    /// whether one failed with the stop's error. None fails with any other error, but for those
    /// that wait for the locks of a transaction that cannot be rolled back any more, or ask for its
    /// savepoints.
    fn reports_the_stop(&self, run: &mut Run) -> bool {
        for _ in 0..20 {
            let Err(later) = run.step() else { continue };
            if later.step.kind != StepKind::Background {
                let answer = &later.answer;
                if ["ERROR 1205: ", "ERROR 1305: "].iter().any(|known| answer.contains(known)) {
                    continue;
                }
                assert!(answer.contains("no writes until"), "seed {}: {answer}", self.seed);
                return true;
            }
        }
        false
    }

    /// Ends the last run; all is as it should be.
    fn finish(mut self) -> (u64, u64) {
        self.restart(&[]);
        let World { followed, reported, .. } = self;
        assert!(reported * 10 >= followed * 9, "{reported} of {followed} stops were reported");
        (self.stops, self.undone)
    }
}

#[test]
fn a_failed_call_undoes_a_statement_or_stops_all_writing_until_the_next_start() {
    let (mut stops, mut undone) = (0, 0);
    for seed in 1..=2 * seeds() {
        let mut world = World::new(seed);
        for _ in 0..120 {
            let fault = *world.random.pick(&[Fault::Io, Fault::NoSpace, Fault::ShortWrite]);
            let n = 1 + world.random.below(40);
            let when = match world.random.below(4) {
                0 | 1 => When::Change(n),
                2 => When::Sync(1 + n / 4),
                _ => When::Read(n),
            };
            world.disk.inject(when, fault);
            if let Some(failed) = world.steps(12) {
                world.settle(&failed);
            }
        }
        let (some, more) = world.finish();
        (stops, undone) = (stops + some, undone + more);
    }
    assert!(stops > 50 && undone > 10, "{stops} stops, {undone} undone");
}

#[test]
fn a_full_disk_undoes_statements_until_there_is_space_again() {
    let (mut full, mut stops) = (0, 0);
    for seed in 11..=12 * seeds() {
        let mut world = World::new(seed);
        for _ in 0..40 {
            let len = |name: &str| world.disk.file_len(name).unwrap_or(0);
            let names = inia_base::io::Disk::list(&world.disk).unwrap();
            let used: u64 = names.iter().map(|name| len(name)).sum();
            let more = world.random.below(256 << 10);
            world.disk.set_capacity(Some(used + more));
            for _ in 0..15 {
                if let Some(failed) = world.steps(1) {
                    world.settle(&failed);
                    full += 1;
                }
            }
            world.disk.set_capacity(None);
            // Space is found by the background's next step at the latest.
            let run = world.run.as_ref().unwrap();
            while run.db.engine.failure().is_none() && run.db.engine.background_step().unwrap() {}
            // Work without a client can have met the stop.
            if run.db.engine.failure().is_some() {
                world.restart(&[]);
            }
            if let Some(failed) = world.steps(10) {
                panic!("seed {seed}: {:.200}: {}", failed.step.sql, failed.answer);
            }
        }
        stops += world.finish().0;
    }
    assert!(full > 20 && stops < full / 2, "{full}, {stops} stops");
}
