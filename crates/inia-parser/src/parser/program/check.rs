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

/// Whether the statement commits before it begins, error 1422.
fn commits(statement: &Statement) -> bool {
    match statement {
        Statement::CreateTable(create) => !create.temporary,
        Statement::DropTable(drop) => !drop.temporary,
        Statement::Begin(_)
        | Statement::Commit(_)
        | Statement::Rollback(_)
        | Statement::Truncate(_)
        | Statement::CreateDatabase(_)
        | Statement::AlterDatabase(_)
        | Statement::DropDatabase { .. }
        | Statement::AlterTable(_)
        | Statement::RenameTable(_)
        | Statement::CreateIndex(_)
        | Statement::DropIndex(_)
        | Statement::CreateView(_)
        | Statement::DropView(_)
        | Statement::CreateUser(_)
        | Statement::AlterUser(_)
        | Statement::DropUser { .. }
        | Statement::RenameUser(_)
        | Statement::CreateRole { .. }
        | Statement::DropRole { .. }
        | Statement::Grant(_)
        | Statement::Revoke(_)
        | Statement::SetPassword(_) => true,
        _ => false,
    }
}

/// Whether the statement sends rows to the client, error 1415.
fn sends_rows(statement: &Statement) -> bool {
    match statement {
        Statement::Select(query) => query.into.is_none(),
        Statement::Show(_)
        | Statement::Describe(_)
        | Statement::Explain(_)
        | Statement::Help(_)
        | Statement::TableMaintenance(_) => true,
        _ => false,
    }
}

impl Parser<'_> {
    /// Errors 1314, 1336, 1357, 1415 and 1422.
    pub(super) fn check_allowed(&mut self, statement: &Statement) -> PResult<()> {
        if let Some(word) = bad_statement(statement) {
            let message = format!("{word} is not allowed in stored procedures");
            return Err(self.other(1314, "0A000", message));
        }
        match statement {
            Statement::DropRoutine(drop) if drop.kind != RoutineKind::Trigger => {
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
        if commits(statement) {
            let message = "Explicit or implicit commit is not allowed in stored function or \
                           trigger.";
            return Err(self.other(1422, "HY000", message.to_owned()));
        }
        if sends_rows(statement) {
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
