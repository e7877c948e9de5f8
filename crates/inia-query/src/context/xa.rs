//! A session's part in a distributed transaction.
//!
//! ```text
//!             START            END              PREPARE
//!   none ───────────▶ active ───────▶ idle ───────────────▶ prepared ──COMMIT, ROLLBACK──▶ none
//!                        ▲              │ RESUME, COMMIT ONE PHASE, ROLLBACK
//!                        └──────────────┘
//!   active ──a deadlock undoes the transaction──▶ rollback only ──COMMIT, ROLLBACK──▶ none
//! ```
//!
//! With `xa_detach_on_prepare` a session is at `none` as soon as the branch is prepared.
//!
//! Invariants:
//! - between START and the end of the branch no other statement commits, or begins a transaction;
//! - tables are used in the stage `active` only, and temporary ones in no stage: a prepared branch
//!   outlives its session.

use super::SessionContext;
use super::session::TxnState;
use crate::error::StorageResult;
use crate::xa::{XaClaim, XaDecision, encode};
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{ObjectName, ShowKind, Statement, Xid};

/// How far a session's branch has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum XaStage {
    /// There is none.
    #[default]
    None,
    /// Statements work in it.
    Active,
    /// XA END has ended them.
    Idle,
    /// Its transaction was undone; only its end is left.
    RollbackOnly,
    /// It is prepared, and stays with the session.
    Prepared,
}

impl XaStage {
    /// As errors name it.
    pub fn name(self) -> &'static str {
        match self {
            XaStage::None => "NON-EXISTING",
            XaStage::Active => "ACTIVE",
            XaStage::Idle => "IDLE",
            XaStage::RollbackOnly => "ROLLBACK ONLY",
            XaStage::Prepared => "PREPARED",
        }
    }
}

/// A session's branch.
///
/// Invariant: there is a claim in every stage but `None`. (A context that works inside a statement
/// has the stage of the session that lends it the transaction, and no claim.)
#[derive(Default)]
pub struct SessionBranch {
    pub(super) stage: XaStage,
    /// Why it can only be rolled back.
    pub(super) failure: Option<ErrorCode>,
    claim: Option<XaClaim>,
}

impl SessionBranch {
    /// The stage.
    #[inline]
    pub fn stage(&self) -> XaStage {
        self.stage
    }

    /// The name under which the session has claimed it.
    pub fn xid(&self) -> Option<&Xid> {
        self.claim.as_ref().map(XaClaim::xid)
    }

    fn is(&self, xid: &Xid) -> bool {
        self.claim.as_ref().is_some_and(|claim| claim.xid() == xid)
    }

    /// Error 1399: what is asked for does not go in this stage.
    fn wrong_stage(&self) -> SqlError {
        SqlError::new(ErrorCode::XaerRmfail, &[&self.stage.name()])
    }

    /// Why it was rolled back: errors 1402 and 1614.
    fn rolled_back(&self) -> SqlError {
        SqlError::new(self.failure.unwrap_or(ErrorCode::XaRbrollback), &[])
    }

    /// Error 1399 where it is not claimed under this name in one of these stages, 1397 where the
    /// name is another.
    fn check(&self, xid: &Xid, stages: &[XaStage]) -> Result<(), SqlError> {
        match stages.contains(&self.stage) {
            false => Err(self.wrong_stage()),
            true if !self.is(xid) => Err(SqlError::new(ErrorCode::XaerNota, &[])),
            true => Ok(()),
        }
    }
}

/// Whether a statement ends the open transaction, or begins one.
fn ends_transaction(statement: &Statement) -> bool {
    match statement {
        Statement::TableMaintenance(_)
        | Statement::CreateRoutine(_)
        | Statement::AlterRoutine(_)
        | Statement::LockTables(_)
        | Statement::Flush(_)
        | Statement::Reset(_)
        | Statement::SetDefaultRole { .. }
        | Statement::Server(_)
        | Statement::InstallPlugin { .. }
        | Statement::UninstallPlugin(_)
        | Statement::InstallComponent(_)
        | Statement::UninstallComponent(_) => true,
        _ => statement.commits(),
    }
}

/// Whether SHOW reads tables of the server.
fn shows_tables(kind: &ShowKind) -> bool {
    !matches!(
        kind,
        ShowKind::Warnings { .. }
            | ShowKind::Errors { .. }
            | ShowKind::Processlist { .. }
            | ShowKind::Grants { .. }
    )
}

impl TxnState {
    /// Whether a transaction goes on beyond the statement.
    fn goes_on(&self, used: bool) -> bool {
        self.explicit || (self.open && !self.autocommit && used)
    }
}

impl SessionContext {
    /// Errors of a statement that a branch forbids: 1399, 1614 and 4091.
    #[inline]
    pub fn check_branch(&self, statement: &Statement) -> Result<(), SqlError> {
        match self.state.branch.stage {
            XaStage::None => Ok(()),
            _ => self.check_in_branch(statement),
        }
    }

    #[cold]
    fn check_in_branch(&self, statement: &Statement) -> Result<(), SqlError> {
        let branch = &self.state.branch;
        let is_temporary = |name: &ObjectName| {
            let schema = name.db.as_deref().or(self.env.database.as_deref()).unwrap_or_default();
            self.temporary.get(schema, &name.name).is_some()
        };
        match statement {
            _ if ends_transaction(statement) => Err(branch.wrong_stage()),
            Statement::CreateTable(_) => Err(temporary_table()),
            Statement::DropTable(drop) if drop.names.iter().any(is_temporary) => {
                Err(temporary_table())
            }
            Statement::Savepoint(_) if branch.stage != XaStage::Active => Err(branch.wrong_stage()),
            Statement::Show(show) if shows_tables(&show.kind) => self.check_branch_table(false),
            Statement::Describe(_) | Statement::Handler(_) => self.check_branch_table(false),
            _ => Ok(()),
        }
    }

    /// Error 1399 where there is a branch.
    pub fn refuse_in_branch(&self) -> Result<(), SqlError> {
        match self.state.branch.stage {
            XaStage::None => Ok(()),
            _ => Err(self.state.branch.wrong_stage()),
        }
    }

    /// Error 1399 where a branch does not take statements like ROLLBACK TO any more.
    pub fn check_branch_active(&self) -> Result<(), SqlError> {
        match self.state.branch.stage {
            XaStage::None | XaStage::Active => Ok(()),
            _ => Err(self.state.branch.wrong_stage()),
        }
    }

    /// Error 1399 or 1614 where a branch does not use tables any more, 4091 of a temporary table.
    #[inline]
    pub(crate) fn check_branch_table(&self, temporary: bool) -> Result<(), SqlError> {
        match self.state.branch.stage {
            XaStage::None => Ok(()),
            XaStage::Active if temporary => Err(temporary_table()),
            XaStage::Active => Ok(()),
            XaStage::RollbackOnly => Err(self.state.branch.rolled_back()),
            _ => Err(self.state.branch.wrong_stage()),
        }
    }

    /// XA START.
    pub fn xa_start(&mut self, xid: &Xid, joins: bool, resumes: bool) -> Result<(), SqlError> {
        let branch = &mut self.state.branch;
        if branch.stage == XaStage::Idle && resumes {
            branch.check(xid, &[XaStage::Idle])?;
            branch.stage = XaStage::Active;
            return Ok(());
        }
        if joins || resumes {
            return Err(SqlError::new(ErrorCode::XaerInval, &[]));
        }
        if branch.stage != XaStage::None {
            return Err(branch.wrong_stage());
        }
        if self.state.goes_on(self.txn.get_mut().was_used()) || self.has_locked_tables() {
            return Err(SqlError::new(ErrorCode::XaerOutside, &[]));
        }
        let claim = self.db.xa.claim(xid)?;
        if self.state.open {
            // It has used nothing.
            self.commit()?;
        }
        self.enter();
        self.state.explicit = true;
        let stage = XaStage::Active;
        self.state.branch = SessionBranch { stage, failure: None, claim: Some(claim) };
        Ok(())
    }

    /// XA END.
    pub fn xa_end(&mut self, xid: &Xid, suspends: bool) -> Result<(), SqlError> {
        if suspends {
            return Err(SqlError::new(ErrorCode::XaerInval, &[]));
        }
        let branch = &mut self.state.branch;
        branch.check(xid, &[XaStage::Active, XaStage::RollbackOnly])?;
        if branch.stage == XaStage::RollbackOnly {
            return Err(branch.rolled_back());
        }
        branch.stage = XaStage::Idle;
        Ok(())
    }

    /// XA PREPARE: the branch is durable when it succeeds. After an error it is as before, or
    /// undone where the log has stopped.
    pub fn xa_prepare(&mut self, xid: &Xid) -> Result<(), SqlError> {
        self.state.branch.check(xid, &[XaStage::Idle])?;
        self.wait_to_commit()?;
        self.end_statement_txns(false)?;
        let name = encode(xid, &self.mdl);
        let txn = self.txn.get_mut();
        let prepared = match txn.is_open() {
            true => txn.prepare(&name).sql(),
            false => Ok(None),
        };
        self.mdl.end_commit();
        let prepared = prepared?;
        let locks = self.mdl.hand_over();
        self.ended();
        let branch = &mut self.state.branch;
        if let Some(claim) = &branch.claim {
            claim.prepare(prepared, locks);
        }
        branch.stage = XaStage::Prepared;
        if self.flag("xa_detach_on_prepare") {
            self.state.branch = SessionBranch::default();
        }
        Ok(())
    }

    /// XA COMMIT, of this session's branch or of a prepared one that is nobody's.
    pub fn xa_commit(&mut self, xid: &Xid, one_phase: bool) -> Result<(), SqlError> {
        if !self.state.branch.is(xid) {
            return self.xa_decide(xid, true);
        }
        match (self.state.branch.stage, one_phase) {
            (XaStage::RollbackOnly, _) => {
                let why = self.state.branch.rolled_back();
                self.leave_branch()?;
                Err(why)
            }
            (XaStage::Idle, true) => {
                let branch = std::mem::take(&mut self.state.branch);
                let done = self.commit();
                drop(branch);
                done
            }
            (XaStage::Prepared, false) => self.xa_decide_own(true),
            _ => Err(self.state.branch.wrong_stage()),
        }
    }

    /// XA ROLLBACK, of this session's branch or of a prepared one that is nobody's.
    pub fn xa_rollback(&mut self, xid: &Xid) -> Result<(), SqlError> {
        if !self.state.branch.is(xid) {
            return self.xa_decide(xid, false);
        }
        match self.state.branch.stage {
            XaStage::Idle | XaStage::RollbackOnly => self.leave_branch(),
            XaStage::Prepared => self.xa_decide_own(false),
            _ => Err(self.state.branch.wrong_stage()),
        }
    }

    /// Decides on a branch that is nobody's; error 1399 inside any transaction.
    fn xa_decide(&mut self, xid: &Xid, commits: bool) -> Result<(), SqlError> {
        let used = self.txn.get_mut().was_used();
        if self.state.branch.stage != XaStage::None || self.state.goes_on(used) {
            return Err(self.state.branch.wrong_stage());
        }
        let decision = self.db.xa.decide(xid)?;
        self.carry_out(decision, commits)
    }

    fn xa_decide_own(&mut self, commits: bool) -> Result<(), SqlError> {
        let branch = std::mem::take(&mut self.state.branch);
        match branch.claim {
            Some(claim) => self.carry_out(claim.decide(), commits),
            None => Ok(()),
        }
    }

    /// Commits or rolls back what is prepared. Where it must not, the branch stays, and is free.
    fn carry_out(&mut self, decision: XaDecision, commits: bool) -> Result<(), SqlError> {
        let changes = decision.has_changes();
        if commits && changes {
            self.refuse_read_only(|| true)?;
            if !self.mdl.reads_everything() {
                self.mdl.begin_commit(self.mdl_limit())?;
            }
        }
        let done = decision.carry_out(commits);
        self.mdl.end_commit();
        done.sql()
    }

    /// The session gives its branch up: what is not prepared is undone.
    pub fn leave_branch(&mut self) -> Result<(), SqlError> {
        let branch = std::mem::take(&mut self.state.branch);
        let done = self.rollback();
        // The name is free when nothing is left of the branch.
        drop(branch);
        done
    }

    /// The transaction was undone as a whole: so was its branch, for this reason.
    pub(super) fn fail_branch(&mut self, why: ErrorCode) {
        let branch = &mut self.state.branch;
        if matches!(branch.stage, XaStage::Active | XaStage::Idle) {
            branch.stage = XaStage::RollbackOnly;
            branch.failure = Some(match why {
                ErrorCode::Deadlock => ErrorCode::XaRbdeadlock,
                ErrorCode::LockWaitTimeout => ErrorCode::XaRbtimeout,
                _ => ErrorCode::XaRbrollback,
            });
            self.state.explicit = true;
        }
    }
}

/// Error 4091.
fn temporary_table() -> SqlError {
    SqlError::new(ErrorCode::XaTempTable, &[])
}
