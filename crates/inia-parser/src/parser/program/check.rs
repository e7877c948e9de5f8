//! Which statements stored programs may have.
//!
//! A procedure may have nearly all. Functions and triggers run inside another statement: they send
//! no rows, end no transaction, and have no dynamic SQL.

use super::{Parser, ProgramKind};
use crate::{
    ast::{RoutineKind, Statement},
    parser::PResult,
};

/// What a procedure may not have, as error 1314 names it.
fn bad_statement(statement: &Statement) -> Option<&'static str> {
    Some(match statement {
        Statement::LockTables(_) => "LOCK",
        Statement::UnlockTables => "UNLOCK",
        Statement::LoadData(_) => "LOAD DATA",
        Statement::Use(_) => "USE",
        Statement::Handler(_) => "HANDLER",
        Statement::CreateView(view) if view.alter => "ALTER VIEW",
        _ => return None,
    })
}

impl Parser<'_> {
    /// Errors 1314, 1336, 1357, 1415 and 1422.
    pub(super) fn check_allowed(&mut self, statement: &Statement) -> PResult<()> {
        if let Some(word) = bad_statement(statement) {
            let message = format!("{word} is not allowed in stored procedures");
            return Err(self.other(1314, "0A000", message));
        }
        match statement {
            Statement::DropRoutine(drop)
                if !matches!(drop.kind, RoutineKind::Trigger | RoutineKind::Event) =>
            {
                return self.no_change(drop.kind);
            }
            Statement::AlterRoutine(alter) => return self.no_change(alter.kind),
            _ => {}
        }
        let word = match self.scope().kind {
            ProgramKind::Procedure => return Ok(()),
            ProgramKind::Function => "function",
            ProgramKind::Trigger { .. } => "trigger",
        };
        if statement.commits() {
            let message = "Explicit or implicit commit is not allowed in stored function or \
                           trigger.";
            return Err(self.other(1422, "HY000", message.to_owned()));
        }
        if statement.sends_rows() {
            let message = format!("Not allowed to return a result set from a {word}");
            return Err(self.other(1415, "0A000", message));
        }
        let what = match statement {
            Statement::Prepare { .. } | Statement::Execute { .. } | Statement::Deallocate(_) => {
                "Dynamic SQL"
            }
            Statement::Flush(_) => "FLUSH",
            _ => return Ok(()),
        };
        let message = format!("{what} is not allowed in stored function or trigger");
        Err(self.other(1336, "0A000", message))
    }

    /// Error 1357.
    fn no_change(&self, kind: RoutineKind) -> PResult<()> {
        let kind = match kind {
            RoutineKind::Procedure => "PROCEDURE",
            RoutineKind::Function => "FUNCTION",
            RoutineKind::Trigger => "TRIGGER",
            RoutineKind::Event => "EVENT",
        };
        let message = format!("Can't drop or alter a {kind} from within another stored routine");
        Err(self.other(1357, "HY000", message))
    }
}
