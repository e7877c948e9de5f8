//! How long the session's statements took (`profiling`).

use crate::database::Database;
use crate::information::Profile;
use std::collections::VecDeque;
use std::sync::Arc;

/// The profiles of a session; the observer knows of it while profiling is on.
#[derive(Default)]
pub struct Profiles {
    /// Those that are kept, oldest first.
    pub list: VecDeque<Profile>,
    /// Statements that were profiled.
    seen: u64,
    on: Option<Arc<Database>>,
}

impl Profiles {
    /// Whether statements are profiled.
    pub fn is_on(&self) -> bool {
        self.on.is_some()
    }

    /// Takes over `profiling`.
    pub fn set_up(&mut self, db: &Arc<Database>, on: bool) {
        if on == self.on.is_some() {
            return;
        }
        db.observer.profile(on);
        self.on = on.then(|| db.clone());
    }

    /// Keeps the newest profiles only.
    pub fn shrink(&mut self, limit: usize) {
        let excess = self.list.len().saturating_sub(limit);
        self.list.drain(..excess);
    }

    /// Keeps a profile, among the newest.
    pub fn keep(&mut self, text: String, stages: Vec<(&'static str, u64)>, limit: usize) {
        self.seen += 1;
        self.list.push_back(Profile { id: self.seen, text, stages });
        self.shrink(limit);
    }
}

impl Drop for Profiles {
    fn drop(&mut self) {
        if let Some(db) = &self.on {
            db.observer.profile(false);
        }
    }
}
