//! What the scheduler of events does with the database.

use super::Database;
use crate::catalog::program::ProgramDef;
use crate::catalog::{Change, ProgramKind, StoredProgram, program_lock};
use crate::error::StorageResult;
use inia_base::error::SqlError;
use inia_base::process::ProcessEntry;
use inia_storage::Isolation;
use std::sync::Arc;
use std::time::Duration;

/// How long the scheduler waits for a statement that changes the event which it is about to run.
const LOCK_LIMIT: Duration = Duration::from_secs(50);

impl Database {
    /// The server's connections and the threads of events.
    pub fn process_list(&self) -> Vec<ProcessEntry> {
        let mut list = self.processes().map(|processes| processes.list()).unwrap_or_default();
        list.extend(self.events.list());
        list.sort_by_key(|entry| entry.id);
        list
    }

    /// Puts a new definition in the place of an event's, or drops it; false where the event has
    /// another definition by now.
    pub fn replace_event(
        &self,
        old: &Arc<StoredProgram>,
        new: Option<ProgramDef>,
    ) -> Result<bool, SqlError> {
        let (catalog, def) = (self.catalog(), &old.def);
        let locks = catalog.mdl().session(Arc::default());
        let (schema, name) = program_lock(ProgramKind::Event, &def.schema, &def.name);
        let _lock = locks.lock_exclusive(vec![catalog.mdl().name(&schema, &name)], LOCK_LIMIT)?;
        self.engine.wait_for_commits().sql()?;
        if old.is_stale() {
            return Ok(false);
        }
        let change = match new {
            Some(new) => Change::PutProgram(Box::new(new)),
            None => {
                let (kind, schema, name) = (def.kind, def.schema.clone(), def.name.clone());
                Change::DropProgram { kind, schema, name }
            }
        };
        let mut txn = self.engine.attach();
        txn.begin(Isolation::RepeatableRead);
        catalog.write(&mut txn, &change)?;
        txn.commit().sql()?;
        catalog.publish(vec![change]);
        Ok(true)
    }
}
