//! Transactions, savepoints, locks and XA.

use super::{PResult, Parser};
use crate::{
    ast::{
        BeginTransaction, Completion, IsolationLevel, SetTransaction, Statement, TableLock,
        VarScope, Xa, Xid,
    },
    keyword::Kw,
    lexer::Tok,
};

impl Parser<'_> {
    /// A statement of this family, `None` where the words begin another.
    pub(super) fn transaction_statement(&mut self) -> PResult<Option<Statement>> {
        let statement = match self.kw() {
            Kw::BEGIN => {
                self.bump();
                self.accept_kw(Kw::WORK);
                Statement::Begin(BeginTransaction::default())
            }
            // START REPLICA is an administrative statement.
            Kw::START if self.peek_is_kw(Kw::TRANSACTION) => {
                self.bump();
                self.bump();
                Statement::Begin(self.begin_options()?)
            }
            Kw::COMMIT => {
                self.bump();
                self.accept_kw(Kw::WORK);
                Statement::Commit(self.completion()?)
            }
            Kw::ROLLBACK => {
                self.bump();
                self.accept_kw(Kw::WORK);
                if self.accept_kw(Kw::TO) {
                    self.accept_kw(Kw::SAVEPOINT);
                    Statement::RollbackTo(self.ident()?)
                } else {
                    Statement::Rollback(self.completion()?)
                }
            }
            Kw::SAVEPOINT => {
                self.bump();
                Statement::Savepoint(self.ident()?)
            }
            Kw::RELEASE => {
                self.bump();
                self.expect_kw(Kw::SAVEPOINT)?;
                Statement::ReleaseSavepoint(self.ident()?)
            }
            Kw::LOCK => self.lock()?,
            Kw::UNLOCK => {
                self.bump();
                match self.expect_any(&[Kw::TABLE, Kw::TABLES, Kw::INSTANCE])? {
                    Kw::INSTANCE => Statement::UnlockInstance,
                    _ => Statement::UnlockTables,
                }
            }
            Kw::XA => self.xa()?,
            _ => return Ok(None),
        };
        Ok(Some(statement))
    }

    fn begin_options(&mut self) -> PResult<BeginTransaction> {
        let mut begin = BeginTransaction::default();
        if matches!(self.tok.kw, Kw::WITH | Kw::READ) {
            loop {
                if self.accept_kw(Kw::WITH) {
                    self.expect_kw(Kw::CONSISTENT)?;
                    self.expect_kw(Kw::SNAPSHOT)?;
                    begin.consistent_snapshot = true;
                } else {
                    self.expect_kw(Kw::READ)?;
                    let only = self.expect_any(&[Kw::ONLY, Kw::WRITE])? == Kw::ONLY;
                    if begin.read_only.is_some() {
                        return Err(self.error());
                    }
                    begin.read_only = Some(only);
                }
                if !self.accept(Tok::Comma) {
                    break;
                }
            }
        }
        Ok(begin)
    }

    fn completion(&mut self) -> PResult<Completion> {
        let mut completion = Completion::default();
        if self.accept_kw(Kw::AND) {
            completion.chain = Some(!self.accept_kw(Kw::NO));
            self.expect_kw(Kw::CHAIN)?;
        }
        if self.is_kw(Kw::NO) {
            self.bump();
            self.expect_kw(Kw::RELEASE)?;
            completion.release = Some(false);
        } else if completion.chain != Some(true) && self.accept_kw(Kw::RELEASE) {
            completion.release = Some(true);
        }
        Ok(completion)
    }

    /// The characteristics of SET TRANSACTION; TRANSACTION has been passed.
    pub(super) fn set_transaction(&mut self, scope: Option<VarScope>) -> PResult<Statement> {
        let mut set = SetTransaction { scope, isolation: None, read_only: None };
        loop {
            let again = match self.kw() {
                Kw::ISOLATION => set.isolation.is_some(),
                Kw::READ => set.read_only.is_some(),
                _ => true,
            };
            if again {
                return Err(self.error());
            }
            match self.bump().kw {
                Kw::ISOLATION => {
                    self.expect_kw(Kw::LEVEL)?;
                    set.isolation = Some(self.isolation_level()?);
                }
                _ => {
                    let kw = self.expect_any(&[Kw::ONLY, Kw::WRITE])?;
                    set.read_only = Some(kw == Kw::ONLY);
                }
            }
            let both = set.isolation.is_some() && set.read_only.is_some();
            if both || !self.accept(Tok::Comma) {
                return Ok(Statement::SetTransaction(set));
            }
        }
    }

    fn isolation_level(&mut self) -> PResult<IsolationLevel> {
        Ok(match self.expect_any(&[Kw::READ, Kw::REPEATABLE, Kw::SERIALIZABLE])? {
            Kw::READ => match self.expect_any(&[Kw::COMMITTED, Kw::UNCOMMITTED])? {
                Kw::COMMITTED => IsolationLevel::ReadCommitted,
                _ => IsolationLevel::ReadUncommitted,
            },
            Kw::REPEATABLE => {
                self.expect_kw(Kw::READ)?;
                IsolationLevel::RepeatableRead
            }
            _ => IsolationLevel::Serializable,
        })
    }

    fn lock(&mut self) -> PResult<Statement> {
        self.bump();
        if self.accept_kw(Kw::INSTANCE) {
            self.expect_kw(Kw::FOR)?;
            self.expect_kw(Kw::BACKUP)?;
            return Ok(Statement::LockInstance);
        }
        self.expect_any(&[Kw::TABLE, Kw::TABLES])?;
        let locks = self.list(|p| {
            let table = p.object_name()?;
            let alias = p.alias(false)?;
            let mut lock = TableLock { table, alias, write: true, local: false };
            if p.accept_kw(Kw::READ) {
                lock.write = false;
                lock.local = p.accept_kw(Kw::LOCAL);
            } else {
                let low = p.accept_kw(Kw::LOW_PRIORITY);
                p.expect_kw(Kw::WRITE)?;
                if low {
                    p.remark(
                        1287,
                        "'LOW_PRIORITY WRITE' is deprecated and will be removed in a future \
                         release. Please use WRITE instead",
                    );
                }
            }
            Ok(lock)
        })?;
        Ok(Statement::LockTables(locks))
    }

    fn xa(&mut self) -> PResult<Statement> {
        self.bump();
        let verbs =
            [Kw::START, Kw::BEGIN, Kw::END, Kw::PREPARE, Kw::COMMIT, Kw::ROLLBACK, Kw::RECOVER];
        let xa = match self.expect_any(&verbs)? {
            Kw::START | Kw::BEGIN => {
                let xid = self.xid()?;
                let word = self.accept_any(&[Kw::JOIN, Kw::RESUME]);
                Xa::Start { xid, join: word == Some(Kw::JOIN), resume: word == Some(Kw::RESUME) }
            }
            Kw::END => {
                let xid = self.xid()?;
                let suspend = self.accept_kw(Kw::SUSPEND);
                if suspend && self.accept_kw(Kw::FOR) {
                    self.expect_kw(Kw::MIGRATE)?;
                }
                Xa::End { xid, suspend }
            }
            Kw::PREPARE => Xa::Prepare(self.xid()?),
            Kw::COMMIT => {
                let xid = self.xid()?;
                let one_phase = self.accept_kw(Kw::ONE);
                if one_phase {
                    self.expect_kw(Kw::PHASE)?;
                }
                Xa::Commit { xid, one_phase }
            }
            Kw::ROLLBACK => Xa::Rollback(self.xid()?),
            _ => {
                let convert = self.accept_kw(Kw::CONVERT);
                if convert {
                    self.expect_kw(Kw::XID)?;
                }
                Xa::Recover { convert }
            }
        };
        Ok(Statement::Xa(xa))
    }

    fn xid(&mut self) -> PResult<Xid> {
        let gtrid = self.xid_part()?;
        let mut xid = Xid { gtrid, bqual: Vec::new(), format_id: 1 };
        if self.accept(Tok::Comma) {
            xid.bqual = self.xid_part()?;
            if self.accept(Tok::Comma) {
                let wrong = self.error();
                xid.format_id = match self.tok.tok {
                    Tok::Hex => self.uint()?,
                    _ => self.whole_number()?,
                };
                if xid.format_id > i64::MAX as u64 {
                    return Err(wrong);
                }
            }
        }
        Ok(xid)
    }

    /// At most 64 bytes.
    fn xid_part(&mut self) -> PResult<Vec<u8>> {
        let part = match self.tok.tok {
            Tok::Bit => {
                let token = self.bump();
                self.bit_bytes(token)
            }
            _ => self.string_or_hex()?,
        };
        if part.len() > 64 { Err(self.error()) } else { Ok(part) }
    }
}
