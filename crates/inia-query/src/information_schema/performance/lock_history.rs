//! The table `inia_lock_history`: a row for each session that stood in the way of a failed wait.

use super::locks::{awaited_data, place};
use crate::account::Privileges;
use crate::information_schema::logs::moment;
use crate::information_schema::{Information, Rows, or_null, row};
use crate::lock_history::LockParty;
use inia_base::value::Value;
use inia_storage::LockMode;

pub(in super::super) fn lock_history(info: &Information<'_>, rows: &mut Rows) {
    if !info.access.global.has(Privileges::PROCESS) {
        return;
    }
    for failed in info.db.lock_history.list() {
        // The table may be gone.
        let place = place(info, &failed.wait);
        let table = place.as_ref().map(|place| &place.table.def);
        let mode = match failed.wait.mode {
            Some(LockMode::Exclusive) => "X",
            Some(LockMode::Shared) => "S",
            None => "X,INSERT_INTENTION",
        };
        let nobody = [None];
        let several: Vec<Option<&LockParty>> = failed.blockers.iter().map(Some).collect();
        for blocker in if several.is_empty() { &nobody[..] } else { &several } {
            let blocking = |of: fn(&LockParty) -> u64| {
                blocker.map_or(Value::Null, |party| Value::UInt(of(party)))
            };
            rows.push(row![
                failed.number,
                moment(info, failed.at),
                if failed.is_deadlock { "DEADLOCK" } else { "TIMEOUT" },
                or_null(table.map(|def| def.schema.clone())),
                or_null(table.map(|def| def.name.clone())),
                or_null(place.as_ref().map(|place| place.index_name().to_owned())),
                mode,
                or_null(place.as_ref().map(|place| awaited_data(info, place, &failed.wait))),
                failed.waiter.connection,
                failed.waiter.txn,
                or_null(failed.waiter.statement.clone()),
                blocking(|party| party.connection),
                blocking(|party| party.txn),
                or_null(blocker.and_then(|party| party.statement.clone())),
            ]);
        }
    }
}
