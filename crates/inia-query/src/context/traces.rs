//! What the optimizer decided about the session's statements (`optimizer_trace`).

use crate::database::Database;
use crate::information::TracedStatement;
use std::collections::VecDeque;
use std::sync::Arc;

/// The traces of a session; the observer knows of it while tracing is on.
#[derive(Default)]
pub struct OptimizerTraces {
    /// Those that are kept, oldest first.
    pub list: VecDeque<TracedStatement>,
    /// Statements since tracing was set up.
    pub seen: usize,
    on: Option<Arc<Database>>,
}

impl OptimizerTraces {
    /// Drops what is kept: the settings say anew what is to be.
    pub fn forget(&mut self) {
        self.list.clear();
        self.seen = 0;
    }

    /// Takes over `optimizer_trace`.
    pub fn set_up(&mut self, db: &Arc<Database>, on: bool) {
        if on == self.on.is_some() {
            return;
        }
        db.observer.trace(on);
        self.on = on.then(|| db.clone());
    }
}

impl Drop for OptimizerTraces {
    fn drop(&mut self) {
        if let Some(db) = &self.on {
            db.observer.trace(false);
        }
    }
}
