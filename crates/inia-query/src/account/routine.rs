//! Privileges on routines that come and go with them (`automatic_sp_privileges`).

use super::def::RoutineName;
use super::privilege::Privileges;
use super::store::AccountChange;
use super::{AccountDef, Actor};
use crate::catalog::ProgramKind;
use inia_base::error::SqlError;

/// Gives the creator of a routine EXECUTE and ALTER ROUTINE on it, where it has not both already.
pub fn give_to_creator(
    actor: &Actor<'_>,
    (kind, schema, name): (ProgramKind, &str, &str),
) -> Result<(), SqlError> {
    let wanted = Privileges::all_on_routine();
    if actor.access.on_routine(kind, schema, name).has(wanted) {
        return Ok(());
    }
    actor.accounts.change(|current, changes| {
        if let Some(found) = current.get(&actor.access.account) {
            let mut def = AccountDef::clone(found);
            *def.routines.entry(RoutineName::new(kind, schema, name)).or_default() |= wanted;
            changes.push(AccountChange::Put(def));
        }
        Ok(())
    })
}

/// Takes everything away that was granted on some routines, which are about to be dropped.
pub fn forget_routines<'r>(
    actor: &Actor<'_>,
    routines: impl Iterator<Item = (ProgramKind, &'r str, &'r str)>,
) -> Result<(), SqlError> {
    let routines: Vec<RoutineName> =
        routines.map(|(kind, schema, name)| RoutineName::new(kind, schema, name)).collect();
    if routines.is_empty() {
        return Ok(());
    }
    actor.accounts.change(|current, changes| {
        for found in current.accounts.values() {
            if routines.iter().any(|routine| found.routines.contains_key(routine)) {
                let mut def = AccountDef::clone(found);
                def.routines.retain(|routine, _| !routines.contains(routine));
                changes.push(AccountChange::Put(def));
            }
        }
        Ok(())
    })
}
