//! SET PERSIST: global variables that keep their values over restarts.
//!
//! Each is a record of the catalog tree, `'p' name`, that holds the value's text.

use super::{Catalog, PERSISTED};
use crate::error::StorageResult;
use inia_base::error::SqlError;
use inia_storage::Isolation;

fn key(name: &str) -> Vec<u8> {
    let mut key = vec![PERSISTED];
    key.extend_from_slice(name.as_bytes());
    key
}

impl Catalog {
    /// The variables that are kept, with their values.
    pub(crate) fn persisted(&self) -> Vec<(String, String)> {
        let kept = self.server.persisted.lock();
        kept.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Whether a variable is kept.
    pub fn is_persisted(&self, name: &str) -> bool {
        self.server.persisted.lock().contains_key(name)
    }

    /// Keeps a variable's value.
    pub fn persist(&self, name: &str, value: &str) -> Result<(), SqlError> {
        let mut kept = self.server.persisted.lock();
        let mut txn = self.engine.attach();
        txn.begin(Isolation::RepeatableRead);
        self.put(&mut txn, &key(name), value.as_bytes()).sql()?;
        txn.commit().sql()?;
        kept.insert(name.to_owned(), value.to_owned());
        Ok(())
    }

    /// Keeps a variable, or all, no longer; whether there was one.
    pub fn forget_persisted(&self, name: Option<&str>) -> Result<bool, SqlError> {
        let mut kept = self.server.persisted.lock();
        let names: Vec<String> = match name {
            Some(name) => kept.keys().filter(|known| *known == name).cloned().collect(),
            None => kept.keys().cloned().collect(),
        };
        let mut txn = self.engine.attach();
        txn.begin(Isolation::RepeatableRead);
        for name in &names {
            txn.delete(&self.tree, &key(name)).sql()?;
        }
        txn.commit().sql()?;
        kept.retain(|name, _| !names.contains(name));
        Ok(!names.is_empty())
    }
}
