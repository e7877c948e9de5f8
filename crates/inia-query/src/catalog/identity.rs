//! `@@server_uuid`: the name of a data directory among all servers.
//!
//! It is made at the first start and is a record of the catalog tree, `'i'`.

use super::{Catalog, IDENTITY};
use crate::clock::clock_micros;
use inia_storage::{Isolation, StorageError};

impl Catalog {
    /// The UUID of the data directory; makes it where there is none.
    pub(crate) fn server_uuid(&self) -> Result<String, StorageError> {
        let mut kept = self.server.uuid.lock();
        if let Some(uuid) = &*kept {
            return Ok(uuid.clone());
        }
        let uuid = inia_expr::new_uuid(clock_micros());
        let mut txn = self.engine.attach();
        txn.begin(Isolation::RepeatableRead);
        self.put(&mut txn, &[IDENTITY], uuid.as_bytes())?;
        txn.commit()?;
        *kept = Some(uuid.clone());
        Ok(uuid)
    }
}
