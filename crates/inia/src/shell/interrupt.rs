//! Ctrl-C: it ends the running statement in the server, over a connection of its own.

use super::target::Target;
use parking_lot::Mutex;
use signal_hook::consts::SIGINT;
use signal_hook::iterator::Signals;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

/// The exit code of a program that SIGINT ends.
const INTERRUPTED: i32 = 130;

/// Whether a statement runs, and whether Ctrl-C has interrupted it.
#[derive(Clone, Default)]
pub(super) struct Interrupts {
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// A statement runs; held while it is being killed, so that a kill never meets the next one.
    running: Mutex<bool>,
    /// The running statement has been interrupted.
    interrupted: AtomicBool,
    /// The connection that runs it.
    connection: AtomicU32,
}

impl Interrupts {
    /// Watches for SIGINT by a thread: it kills what the shell's connection runs. Between the
    /// statements of a program whose input is not typed, it ends the program.
    pub(super) fn watch(target: &Arc<Target>, typed: bool) -> Result<Interrupts, String> {
        let interrupts = Interrupts::default();
        let target = Arc::downgrade(target);
        let mut signals = Signals::new([SIGINT]).map_err(|error| format!("no signals: {error}"))?;
        let own = interrupts.clone();
        let watcher = move || {
            for _ in signals.forever() {
                if let Some(target) = target.upgrade() {
                    own.interrupt(&target, typed);
                }
            }
        };
        let spawned = thread::Builder::new().name("interrupts".to_owned()).spawn(watcher);
        spawned.map_err(|error| format!("cannot start a thread: {error}"))?;
        Ok(interrupts)
    }

    fn interrupt(&self, target: &Target, typed: bool) {
        let running = self.state.running.lock();
        if !*running {
            if !typed {
                std::process::exit(INTERRUPTED);
            }
            return;
        }
        let id = self.state.connection.load(Ordering::Relaxed);
        eprintln!("Ctrl-C: ending the statement by KILL QUERY {id}");
        self.kill(target);
    }

    /// Ends what the shell's connection runs.
    pub(super) fn kill(&self, target: &Target) {
        self.state.interrupted.store(true, Ordering::Relaxed);
        let id = self.state.connection.load(Ordering::Relaxed);
        let killed = target.connect().and_then(|mut connection| {
            connection.query(&format!("KILL QUERY {id}")).map_err(|error| error.to_string())
        });
        if let Err(error) = killed {
            eprintln!("the statement goes on: {error}");
        }
    }

    /// Statements run on this connection from now on.
    pub(super) fn set_connection(&self, id: u32) {
        self.state.connection.store(id, Ordering::Relaxed);
    }

    /// A statement begins.
    pub(super) fn begin(&self) {
        self.state.interrupted.store(false, Ordering::Relaxed);
        *self.state.running.lock() = true;
    }

    /// The statement has ended; whether it was interrupted.
    pub(super) fn end(&self) -> bool {
        *self.state.running.lock() = false;
        self.is_interrupted()
    }

    /// Whether the running statement has been interrupted.
    pub(super) fn is_interrupted(&self) -> bool {
        self.state.interrupted.load(Ordering::Relaxed)
    }
}
