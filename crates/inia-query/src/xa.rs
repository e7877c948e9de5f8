//! Branches of distributed transactions: which names are taken, and what is prepared under them.
//!
//! A branch belongs to the session that began it, until that session ends or, where
//! `xa_detach_on_prepare` is ON, until the branch is prepared. What is prepared and belongs to no
//! session may be decided on by any session, and is there again after a restart:
//!
//! ```text
//!   XA START ──▶ owned ──PREPARE──▶ prepared, owned ──its session ends──▶ prepared, free
//!                  │                                                          │    ▲
//!                  └─ its session ends: the name is free            COMMIT or │    │ it failed
//!                                                                   ROLLBACK  ▼    │
//!                                                                          being decided
//! ```
//!
//! Invariants:
//! - a name, whatever its format number, stands for one branch at a time;
//! - one session at a time decides on a branch: it takes the branch out before it begins;
//! - a prepared branch that has changed rows keeps metadata locks on their tables.

use crate::catalog::Catalog;
use crate::catalog::mdl::{MdlKind, MdlSession};
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::Xid;
use inia_storage::{Engine, PreparedTxn, StorageError};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Longest part of a name in bytes.
const MAX_PART: usize = 64;

/// All branches that sessions work on, or that are prepared.
#[derive(Default)]
pub struct XaBranches {
    known: Mutex<HashMap<Xid, KnownBranch>>,
}

/// What is known of a name.
#[derive(Default)]
struct KnownBranch {
    /// It belongs to a session, or one is deciding on it.
    owned: bool,
    prepared: Option<PreparedBranch>,
}

/// A prepared branch.
pub(crate) struct PreparedBranch {
    /// Its transaction; nothing where it has changed nothing.
    txn: Option<PreparedTxn>,
    /// Its metadata locks.
    #[expect(dead_code, reason = "it gives the locks back when it is dropped")]
    locks: MdlSession,
}

/// A session's claim on a name. When it is dropped, what is prepared stays.
pub(crate) struct XaClaim {
    branches: Arc<XaBranches>,
    xid: Xid,
}

/// A branch that a session decides on. Dropped undecided, it stays prepared.
pub(crate) struct XaDecision {
    claim: XaClaim,
    branch: Option<PreparedBranch>,
}

impl XaBranches {
    /// Claims a name for a session; error 1440 where it is taken.
    pub(crate) fn claim(self: &Arc<XaBranches>, xid: &Xid) -> Result<XaClaim, SqlError> {
        let mut known = self.known.lock();
        // MySQL, too, leaves the format out where it looks for the name.
        let same = |other: &Xid| other.gtrid == xid.gtrid && other.bqual == xid.bqual;
        if known.keys().any(same) {
            return Err(SqlError::new(ErrorCode::XaerDupid, &[]));
        }
        known.insert(xid.clone(), KnownBranch { owned: true, prepared: None });
        Ok(XaClaim { branches: self.clone(), xid: xid.clone() })
    }

    /// Takes a prepared branch that belongs to no session; error 1397 where there is none.
    pub(crate) fn decide(self: &Arc<XaBranches>, xid: &Xid) -> Result<XaDecision, SqlError> {
        let mut known = self.known.lock();
        let unknown = || SqlError::new(ErrorCode::XaerNota, &[]);
        let free = |branch: &&mut KnownBranch| !branch.owned && branch.prepared.is_some();
        let branch = known.get_mut(xid).filter(free).ok_or_else(unknown)?;
        branch.owned = true;
        let taken = branch.prepared.take();
        drop(known);
        let claim = XaClaim { branches: self.clone(), xid: xid.clone() };
        Ok(XaDecision { claim, branch: taken })
    }

    /// The names of the prepared branches, in order.
    pub fn prepared(&self) -> Vec<Xid> {
        let known = self.known.lock();
        let prepared = known.iter().filter(|(_, branch)| branch.prepared.is_some());
        let mut names: Vec<Xid> = prepared.map(|(xid, _)| xid.clone()).collect();
        names.sort_by(|a, b| {
            (&a.gtrid, &a.bqual, a.format_id).cmp(&(&b.gtrid, &b.bqual, b.format_id))
        });
        names
    }

    /// What was prepared when the last run ended, with metadata locks on the tables that it has
    /// changed.
    pub(crate) fn load(engine: &Engine, catalog: &Catalog) -> XaBranches {
        let branches = XaBranches::default();
        for txn in engine.take_prepared() {
            let (xid, tables) = decode(txn.name());
            let locks = catalog.mdl().session(Arc::default());
            for (schema, table) in tables {
                let name = catalog.mdl().name(&schema, &table);
                let granted = locks.lock_write(&name, Duration::ZERO);
                debug_assert!(granted.is_ok(), "nobody else uses the database yet");
            }
            let prepared = Some(PreparedBranch { txn: Some(txn), locks });
            branches.known.lock().insert(xid, KnownBranch { owned: false, prepared });
        }
        branches
    }
}

impl XaClaim {
    pub(crate) fn xid(&self) -> &Xid {
        &self.xid
    }

    /// The branch is prepared; it goes on to belong to the session.
    pub(crate) fn prepare(&self, txn: Option<PreparedTxn>, locks: MdlSession) {
        let mut known = self.branches.known.lock();
        let branch = known.entry(self.xid.clone()).or_default();
        debug_assert!(branch.owned && branch.prepared.is_none(), "a branch is prepared once");
        branch.prepared = Some(PreparedBranch { txn, locks });
    }

    /// Begins to decide on the claimed branch, which is prepared.
    pub(crate) fn decide(self) -> XaDecision {
        let branch = match self.branches.known.lock().get_mut(&self.xid) {
            Some(branch) => branch.prepared.take(),
            None => None,
        };
        XaDecision { claim: self, branch }
    }
}

impl Drop for XaClaim {
    fn drop(&mut self) {
        let mut known = self.branches.known.lock();
        if let Some(branch) = known.get_mut(&self.xid) {
            debug_assert!(branch.owned, "a claim is there once");
            branch.owned = false;
            if branch.prepared.is_none() {
                known.remove(&self.xid);
            }
        }
    }
}

impl XaDecision {
    /// Whether there are changes to decide on.
    pub(crate) fn has_changes(&self) -> bool {
        self.branch.as_ref().is_some_and(|branch| branch.txn.is_some())
    }

    /// Commits or rolls back. What fails with nothing done stays prepared.
    pub(crate) fn carry_out(mut self, commits: bool) -> Result<(), StorageError> {
        let Some(branch) = &mut self.branch else { return Ok(()) };
        let done = match (&mut branch.txn, commits) {
            (Some(txn), true) => txn.commit(),
            (Some(txn), false) => txn.rollback(),
            (None, _) => Ok(()),
        };
        if branch.txn.as_ref().is_none_or(|txn| !txn.is_open()) {
            self.branch = None;
        }
        done
    }
}

impl Drop for XaDecision {
    fn drop(&mut self) {
        let Some(branch) = self.branch.take() else { return };
        let mut known = self.claim.branches.known.lock();
        known.entry(self.claim.xid.clone()).or_default().prepared = Some(branch);
    }
}

/// What the storage engine keeps with a prepared transaction: its name, and the tables whose
/// definitions it holds still. The form is `format u64 | length u8 | gtrid | length u8 | bqual`,
/// and for each table `length u16 | schema | length u16 | name`.
pub(crate) fn encode(xid: &Xid, locks: &MdlSession) -> Vec<u8> {
    let mut out = xid.format_id.to_le_bytes().to_vec();
    for part in [&xid.gtrid, &xid.bqual] {
        debug_assert!(part.len() <= MAX_PART, "the parser limits the parts");
        out.push(part.len() as u8);
        out.extend_from_slice(part);
    }
    locks.for_each_held(&mut |schema, table, kind| {
        if kind == MdlKind::Write {
            for text in [schema, table] {
                out.extend_from_slice(&(text.len() as u16).to_le_bytes());
                out.extend_from_slice(text.as_bytes());
            }
        }
    });
    out
}

/// Reads what [`encode`] wrote. Where that is damaged, the name is what can be read of it: nobody
/// but who started the branch can say what becomes of it.
fn decode(bytes: &[u8]) -> (Xid, Vec<(String, String)>) {
    fn take<'b>(from: &mut &'b [u8], length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = from.split_at_checked(length)?;
        *from = rest;
        Some(taken)
    }
    fn text(from: &mut &[u8]) -> Option<String> {
        let length = u16::from_le_bytes(take(from, 2)?.try_into().ok()?);
        String::from_utf8(take(from, usize::from(length))?.to_vec()).ok()
    }
    fn whole(mut from: &[u8]) -> Option<(Xid, Vec<(String, String)>)> {
        let from = &mut from;
        let format_id = u64::from_le_bytes(take(from, 8)?.try_into().ok()?);
        let mut part = || {
            let length = usize::from(*take(from, 1)?.first()?);
            take(from, length).map(<[u8]>::to_vec)
        };
        let (gtrid, bqual) = (part()?, part()?);
        let mut tables = Vec::new();
        while !from.is_empty() {
            tables.push((text(from)?, text(from)?));
        }
        Some((Xid { gtrid, bqual, format_id }, tables))
    }
    whole(bytes).unwrap_or_else(|| {
        let gtrid = bytes[..bytes.len().min(MAX_PART)].to_vec();
        (Xid { gtrid, bqual: Vec::new(), format_id: 0 }, Vec::new())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::mdl::MdlManager;

    fn xid(gtrid: &str) -> Xid {
        Xid { gtrid: gtrid.into(), bqual: b"b".to_vec(), format_id: 7 }
    }

    fn locks() -> MdlSession {
        Arc::<MdlManager>::default().session(Arc::default())
    }

    #[test]
    fn a_name_stands_for_one_branch_at_a_time() {
        let all = Arc::<XaBranches>::default();
        let claim = all.claim(&xid("a")).unwrap();
        assert_eq!(all.claim(&xid("a")).err().unwrap().code, ErrorCode::XaerDupid);
        assert_eq!(all.decide(&xid("a")).err().unwrap().code, ErrorCode::XaerNota);
        drop(claim);
        let claim = all.claim(&xid("a")).unwrap();
        claim.prepare(None, locks());
        assert_eq!(all.prepared(), [xid("a")]);
        assert_eq!(all.decide(&xid("a")).err().unwrap().code, ErrorCode::XaerNota);
        drop(claim);
        let decision = all.decide(&xid("a")).unwrap();
        assert!(all.claim(&xid("a")).is_err() && all.decide(&xid("a")).is_err());
        drop(decision);
        assert_eq!(all.prepared(), [xid("a")]);
        all.decide(&xid("a")).unwrap().carry_out(true).unwrap();
        assert!(all.prepared().is_empty() && all.claim(&xid("a")).is_ok());
    }

    #[test]
    fn names_and_tables_are_read_back() {
        let manager = Arc::<MdlManager>::default();
        let locks = manager.session(Arc::default());
        locks.lock_write(&manager.name("s", "t"), Duration::ZERO).unwrap();
        locks.lock_shared(&manager.name("s", "read"), Duration::ZERO).unwrap();
        locks.lock_write(&manager.name("ß", "'"), Duration::ZERO).unwrap();
        let bytes = encode(&xid("\0\u{ff}"), &locks);
        let tables = [("s", "t"), ("ß", "'")].map(|(s, t)| (s.to_owned(), t.to_owned()));
        assert_eq!(decode(&bytes), (xid("\0\u{ff}"), tables.to_vec()));
        for end in 0..bytes.len() {
            assert!(decode(&bytes[..end]).0.gtrid.len() <= MAX_PART);
        }
    }
}
