//! One line at a terminal that says what is being done and how long it will still take.

use crate::compare::Watcher;
use crate::record::Record;
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Cells of the bar.
const BAR: usize = 20;
/// Letters of the line, so that it stays one.
const LINE: usize = 79;
/// How often the line changes.
const OFTEN: Duration = Duration::from_millis(200);

/// Shows a line of progress with the time left, and keeps each record as it comes. Says nothing
/// where nobody looks.
pub struct Progress {
    begun: Instant,
    shown: bool,
    state: Mutex<State>,
}

struct State {
    last: Option<Instant>,
    left: TimeLeft,
    file: Option<File>,
    failed: Option<String>,
}

/// The time left, from the time that the work has taken so far. Time in which the share does not
/// grow (loading, checking) is left out: nobody knows how much of it there will be.
#[derive(Default)]
struct TimeLeft {
    /// When the share was reported last, and what it was.
    reported: Option<(Duration, f64)>,
    /// Time in which it grew, and by how much.
    grown: (Duration, f64),
}

impl TimeLeft {
    /// Takes in the share that is done at a time; returns the time left once it can be estimated.
    fn update(&mut self, now: Duration, share: f64) -> Option<Duration> {
        if let Some((before, last)) = self.reported
            && share > last
        {
            self.grown.0 += now.saturating_sub(before);
            self.grown.1 += share - last;
        }
        self.reported = Some((now, share));
        let (time, gained) = self.grown;
        (gained > 0.0).then(|| time.mul_f64(((1.0 - share) / gained).max(0.0)))
    }
}

impl Progress {
    /// Progress on standard error if that is a terminal; records go to the file, if any.
    pub fn new(file: Option<File>) -> Progress {
        let state = State { last: None, left: TimeLeft::default(), file, failed: None };
        let shown = std::io::stderr().is_terminal();
        Progress { begun: Instant::now(), shown, state: Mutex::new(state) }
    }

    /// Removes the line; the error is of a record that could not be kept.
    pub fn end(&self) -> Result<(), String> {
        self.erase();
        self.state.lock().expect("no watcher panics").failed.take().map_or(Ok(()), Err)
    }

    /// Removes the line, before something else is printed.
    pub fn erase(&self) {
        if self.shown {
            eprint!("\r\x1b[K");
        }
    }

    /// Prints something that does not end the run.
    pub fn note(&self, message: &str) {
        self.erase();
        eprintln!("{message}");
    }
}

impl Watcher for Progress {
    fn progress(&self, what: &str, share: f64) {
        let mut state = self.state.lock().expect("no watcher panics");
        if !self.shown || state.last.is_some_and(|last| last.elapsed() < OFTEN) {
            return;
        }
        state.last = Some(Instant::now());
        let now = self.begun.elapsed();
        let left = state.left.update(now, share);
        eprint!("\r\x1b[K{}", line(what, share, left));
        // A terminal that is gone needs no progress.
        let _ = std::io::stderr().flush();
    }

    fn finished(&self, record: &Record) {
        let mut state = self.state.lock().expect("no watcher panics");
        if let Some(file) = &mut state.file
            && let Err(error) = writeln!(file, "{}", record.line())
        {
            state.failed = Some(format!("cannot write the results: {error}"));
        }
    }
}

fn line(what: &str, share: f64, left: Option<Duration>) -> String {
    let share = share.clamp(0.0, 1.0);
    let filled = (share * BAR as f64) as usize;
    let bar = format!("[{}{}]", "#".repeat(filled), ".".repeat(BAR - filled));
    let left = left.map_or(String::new(), |left| format!(", {} left", duration(left)));
    let head = format!("{bar} {:3.0} % ", share * 100.0);
    let room = LINE.saturating_sub(head.chars().count() + left.chars().count());
    format!("{head}{}{left}", clip(what, room))
}

/// The text in at most so many letters.
pub(crate) fn clip(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut kept: String = text.chars().take(most.saturating_sub(1)).collect();
    kept.push('…');
    kept
}

fn duration(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests;
