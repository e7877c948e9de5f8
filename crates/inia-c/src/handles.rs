//! The four kinds of handles, and what each stands for.

use crate::slots::Slots;
use crate::statement::StatementState;
use inia::{Database, RunningServer, SharedConnection};
use parking_lot::Mutex;
use std::sync::Arc;

/// The number, SQLSTATE and text of an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LastError {
    pub(crate) code: u16,
    pub(crate) sqlstate: String,
    pub(crate) message: String,
}

impl From<&inia::Error> for LastError {
    fn from(error: &inia::Error) -> LastError {
        LastError {
            code: error.code(),
            sqlstate: error.sqlstate().to_owned(),
            message: error.message().to_owned(),
        }
    }
}

/// What is remembered of a connection's last call.
#[derive(Debug, Default)]
pub(crate) struct LastCall {
    pub(crate) error: Option<LastError>,
    pub(crate) affected_rows: u64,
    pub(crate) last_insert_id: u64,
    pub(crate) warnings: u16,
}

/// A connection, with what its last call left.
pub(crate) struct ConnectionState {
    pub(crate) connection: SharedConnection,
    pub(crate) last: Arc<Mutex<LastCall>>,
}

pub(crate) static DATABASES: Slots<Database> = Slots::new(1);
pub(crate) static CONNECTIONS: Slots<ConnectionState> = Slots::new(2);
pub(crate) static STATEMENTS: Slots<Mutex<StatementState>> = Slots::new(3);
pub(crate) static SERVERS: Slots<Mutex<Option<RunningServer>>> = Slots::new(4);
