//! Statements that end in time, that heed being stopped, and that do not.

use super::*;
use crate::target::Result;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Passes on its calls, and stops nothing itself.
struct Recorded(Sender<&'static str>);

impl Stopper for Recorded {
    fn stop(&self) -> Result<()> {
        let _ = self.0.send("stop");
        Ok(())
    }

    fn sever(&self) {
        let _ = self.0.send("sever");
    }
}

fn watched() -> (Watch, Receiver<&'static str>) {
    let (calls, heard) = channel();
    (Watch::with(Box::new(Recorded(calls)), Duration::ZERO), heard)
}

#[test]
fn a_statement_that_ends_in_time_is_not_stopped() {
    let (watch, heard) = watched();
    let done = watch.run(Duration::from_secs(3600), || 7);
    assert_eq!(done, (7, Ending::InTime));
    drop(watch);
    assert!(heard.recv().is_err());
}

#[test]
fn a_statement_that_does_not_end_is_stopped_and_then_loses_its_connection() {
    let (watch, heard) = watched();
    let (_, ending) = watch.run(Duration::ZERO, || {
        assert_eq!(heard.recv(), Ok("stop"));
        assert_eq!(heard.recv(), Ok("sever"));
    });
    assert_eq!(ending, Ending::Severed);
}

#[test]
fn a_statement_that_heeds_it_keeps_its_connection() {
    let (calls, heard) = channel();
    let watch = Watch::with(Box::new(Recorded(calls)), Duration::from_secs(3600));
    let (stopped, ending) = watch.run(Duration::ZERO, || heard.recv());
    assert_eq!((stopped, ending), (Ok("stop"), Ending::Stopped));
    let (_, ending) = watch.run(Duration::from_secs(3600), || ());
    assert_eq!(ending, Ending::InTime, "the next statement has its own limit");
}
