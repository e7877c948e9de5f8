//! A view that a statement uses, and on whose behalf.
//!
//! What a view names is read with the privileges of its definer, or with those of its user
//! (SQL SECURITY INVOKER); inside a view that acts for its definer, that user is this definer.
//!
//! Example: the definer of `v` is `a`; `w` is SQL SECURITY INVOKER, defined by `b`, and `SELECT *
//! FROM v`. A session of `c` that reads `w` needs SELECT on `w` and on `v`, and `a` needs it on the
//! tables of `v`. Would `v` read `w` instead, `a` would need SELECT on `w` and on its tables.

use crate::account::{AccountName, Privileges};
use crate::catalog::View;
use inia_parser::ast::ObjectName;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One view of a statement.
#[derive(Debug)]
pub struct ViewUse {
    /// The view.
    pub view: Arc<View>,
    /// Whose privileges count for its tables; `None` for the session's.
    pub(crate) acts_for: Option<AccountName>,
    /// What a change through the view needs on tables that it names, in place of SELECT.
    pub(crate) changes: Vec<(ObjectName, Privileges)>,
    /// The version of the accounts, plus one, that the privileges of `acts_for` sufficed under.
    sufficed: AtomicU64,
}

impl Clone for ViewUse {
    fn clone(&self) -> ViewUse {
        let changes = self.changes.clone();
        ViewUse { changes, ..ViewUse::new(self.view.clone(), self.acts_for.clone()) }
    }
}

impl ViewUse {
    /// A view that is read.
    pub(crate) fn new(view: Arc<View>, acts_for: Option<AccountName>) -> ViewUse {
        ViewUse { view, acts_for, changes: Vec::new(), sufficed: AtomicU64::new(0) }
    }

    /// Whether this is the same view, read on the same behalf.
    pub(crate) fn is(&self, view: &Arc<View>, acts_for: Option<&AccountName>) -> bool {
        Arc::ptr_eq(&self.view, view) && self.acts_for.as_ref() == acts_for
    }

    /// What is needed on a table that the view names.
    pub(crate) fn wanted(&self, table: &ObjectName) -> Privileges {
        let change = self.changes.iter().find(|(changed, _)| changed == table);
        change.map_or(Privileges::SELECT, |(_, wanted)| *wanted)
    }

    /// Whether the privileges are known to suffice under this version of the accounts.
    pub(crate) fn suffices(&self, version: u64) -> bool {
        self.sufficed.load(Ordering::Relaxed) == version + 1
    }

    /// Notes that they do.
    pub(crate) fn note(&self, version: u64) {
        self.sufficed.store(version + 1, Ordering::Relaxed);
    }
}
