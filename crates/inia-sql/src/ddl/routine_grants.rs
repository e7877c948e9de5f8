//! Privileges on procedures and functions, which come and go with them where
//! `automatic_sp_privileges` is ON.

use inia_base::error::SqlError;
use inia_query::account::routine::{forget_routines, give_to_creator};
use inia_query::catalog::{ProgramDef, ProgramKind};
use inia_query::context::SessionContext;

fn are_automatic(session: &SessionContext) -> bool {
    session.db.global_number("automatic_sp_privileges") == 1
}

/// Gives the creator of a routine what it takes to execute, alter and drop it.
pub(crate) fn give(
    session: &SessionContext,
    routine: (ProgramKind, &str, &str),
) -> Result<(), SqlError> {
    match are_automatic(session) {
        true => session.as_actor(|actor| give_to_creator(actor, routine)),
        false => Ok(()),
    }
}

/// Takes away what was granted on programs that are about to be dropped: should a crash come in
/// between, nobody may execute what is left.
pub(crate) fn forget<'p>(
    session: &SessionContext,
    programs: impl Iterator<Item = &'p ProgramDef>,
) -> Result<(), SqlError> {
    let names = programs.map(|def| (def.kind, def.schema.as_str(), def.name.as_str()));
    match are_automatic(session) {
        true => session.as_actor(|actor| forget_routines(actor, names)),
        false => Ok(()),
    }
}
