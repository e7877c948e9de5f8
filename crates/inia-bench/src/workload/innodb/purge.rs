//! When deleted rows are gone: each server is asked in the way it allows.
//!
//! A length of the history list shows it on servers that take a transaction off the list when all
//! of its rows are purged. MySQL and MariaDB count transactions there, shorten the list now and
//! then only, and never to nothing; but they count the rows that purge has removed.

use crate::session::Session;
use crate::target::{Failure, Product, Result};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long purge may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// Between two questions.
const PAUSE: Duration = Duration::from_millis(2);

const COUNTER: &str = "purge_del_mark_records";

/// How a server shows that what was deleted is purged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purge {
    /// Its history list is empty.
    History,
    /// It counts rows; the count must be switched on.
    Counter {
        /// By the lab, which switches it off again.
        by_us: bool,
    },
    /// It purges on command, and gives the table's pages back.
    Vacuum,
    /// The statement itself removes the rows.
    AtOnce,
    /// It does not.
    Untold,
}

impl Purge {
    pub(super) fn of(product: Product, session: &mut Session) -> Purge {
        match product {
            Product::Inia | Product::Embedded => Purge::History,
            Product::Postgres => Purge::Vacuum,
            Product::Sqlite | Product::DuckDb => Purge::AtOnce,
            Product::MySql => Purge::count(session, "status = 'enabled'"),
            Product::MariaDb => Purge::count(session, "enabled = 1"),
            Product::Floor => Purge::Untold,
        }
    }

    /// `enabled` is true of a counter that counts.
    fn count(session: &mut Session, enabled: &str) -> Purge {
        let on = format!(
            "SELECT COUNT(*) FROM information_schema.innodb_metrics \
             WHERE name = '{COUNTER}' AND {enabled}"
        );
        // A server without this table, or an account that may not see it, reports nothing.
        let asked = |session: &mut Session| session.integer(&on).ok();
        if asked(session) == Some(1) {
            return Purge::Counter { by_us: false };
        }
        let _ = session.query(&format!("SET GLOBAL innodb_monitor_enable = '{COUNTER}'"));
        match asked(session) {
            Some(1) => Purge::Counter { by_us: true },
            _ => Purge::Untold,
        }
    }

    /// Whether there is something to wait for, and a way to know its end.
    pub(super) fn measurable(self) -> bool {
        !matches!(self, Purge::AtOnce | Purge::Untold)
    }

    /// Why there is no time of purge.
    pub(super) fn note(self) -> Option<String> {
        match self {
            Purge::AtOnce => Some("no purge: the statement itself removes the rows".to_owned()),
            Purge::Untold => Some(
                "no time of purge: this server does not show this account when it is done"
                    .to_owned(),
            ),
            _ => None,
        }
    }

    /// What the server's count is before a delete.
    pub(super) fn mark(self, session: &mut Session) -> Result<i64> {
        match self {
            Purge::Counter { .. } => purged_rows(session),
            _ => Ok(0),
        }
    }

    /// Waits until so many rows of `table`, deleted since the mark, are purged.
    pub(super) fn wait(
        self,
        session: &mut Session,
        table: &str,
        mark: i64,
        rows: i64,
    ) -> Result<()> {
        let begun = Instant::now();
        loop {
            let done = match self {
                Purge::AtOnce | Purge::Untold => true,
                Purge::Counter { .. } => purged_rows(session)? - mark >= rows,
                Purge::History => history(session)? == 0,
                Purge::Vacuum => {
                    session.query(&format!("VACUUM {table}"))?;
                    let size = format!("SELECT pg_relation_size('{}')", table.to_lowercase());
                    session.integer(&size)? == 0
                }
            };
            if done {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                let message = format!("{rows} deleted rows are not purged within {PATIENCE:?}");
                return Err(Failure::wrong(message));
            }
            sleep(PAUSE);
        }
    }

    /// Leaves the server as it was.
    pub(super) fn end(self, session: &mut Session) {
        if self == (Purge::Counter { by_us: true }) {
            // It was allowed to switch it on; a server that is gone needs no tidying.
            let _ = session.query(&format!("SET GLOBAL innodb_monitor_disable = '{COUNTER}'"));
        }
    }
}

fn purged_rows(session: &mut Session) -> Result<i64> {
    session.integer(&format!(
        "SELECT count FROM information_schema.innodb_metrics WHERE name = '{COUNTER}'"
    ))
}

fn history(session: &mut Session) -> Result<u64> {
    let status = session.query("SHOW ENGINE INNODB STATUS")?.text(0, 2).unwrap_or_default();
    history_length(&status).ok_or_else(|| Failure::wrong("a status without a history list"))
}

fn history_length(status: &str) -> Option<u64> {
    let (_, rest) = status.split_once("History list length ")?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests;
