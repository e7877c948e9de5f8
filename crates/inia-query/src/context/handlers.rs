//! The tables that HANDLER … OPEN has opened in a session, and where each READ has stopped.

use crate::catalog::Table;
use inia_base::error::{ErrorCode, SqlError};
use std::collections::HashMap;
use std::sync::Arc;

/// Where the next READ goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum HandlerPlace {
    /// Nothing was read: NEXT and PREV begin at the ends.
    #[default]
    Unread,
    /// Before the first record of an index.
    Before(Option<usize>),
    /// At a key of an index; `None` is the order of the rows themselves.
    At(Option<usize>, Vec<u8>),
    /// Behind the last record of an index.
    Behind(Option<usize>),
}

/// One table that is open.
#[derive(Clone, Debug)]
pub struct OpenHandler {
    /// The table.
    pub table: Arc<Table>,
    /// Its name in READ, as it was given.
    pub alias: String,
    /// Where reading has stopped.
    pub place: HandlerPlace,
}

/// The open tables of a session by their names in lower case.
#[derive(Debug, Default)]
pub struct Handlers {
    open: HashMap<String, OpenHandler>,
}

impl Handlers {
    /// Opens a table; error 1066 where the name is taken.
    pub fn open(&mut self, table: Arc<Table>, alias: &str) -> Result<(), SqlError> {
        self.close_stale();
        let name = alias.to_lowercase();
        if self.open.contains_key(&name) {
            return Err(SqlError::new(ErrorCode::NonUniqueTable, &[&alias]));
        }
        let alias = alias.to_owned();
        self.open.insert(name, OpenHandler { table, alias, place: HandlerPlace::Unread });
        Ok(())
    }

    /// Takes a table out, to be read or closed; error 1109 where none goes by that name.
    pub fn take(&mut self, alias: &str) -> Result<OpenHandler, SqlError> {
        self.close_stale();
        let missing = || SqlError::new(ErrorCode::UnknownTableInClause, &[&alias, &"HANDLER"]);
        self.open.remove(&alias.to_lowercase()).ok_or_else(missing)
    }

    /// Puts a table back that was read.
    pub fn put_back(&mut self, handler: OpenHandler) {
        let before = self.open.insert(handler.alias.to_lowercase(), handler);
        debug_assert!(before.is_none(), "one table goes by a name");
    }

    /// FLUSH TABLES: reading begins anew.
    pub fn rewind(&mut self) {
        self.open.values_mut().for_each(|handler| handler.place = HandlerPlace::Unread);
    }

    /// Data definition closes the tables that it changes.
    fn close_stale(&mut self) {
        self.open.retain(|_, handler| !handler.table.is_stale());
    }
}
