//! `read_only` and `super_read_only`: a server whose data only some accounts may change, or none.
//! Temporary tables belong to a session and are not protected.

use super::SessionContext;
use crate::account::changes_accounts;
use crate::referenced::{ReferencedObjects, named_tables};
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{DeleteTarget, MaintenanceKind, ObjectName, Statement};
use std::sync::atomic::Ordering;

/// What `Database::read_only` says.
const READ_ONLY: u8 = 1;
const SUPER_READ_ONLY: u8 = 2;

impl SessionContext {
    /// Error 1290 where the server is read-only for this session.
    #[inline]
    pub fn check_read_only(&self, statement: &Statement) -> Result<(), SqlError> {
        self.refuse_read_only(|| self.changes_data(statement))
    }

    /// Whether `read_only` or `super_read_only` is set, for any account.
    pub fn is_read_only(&self) -> bool {
        self.db.read_only.load(Ordering::Relaxed) != 0
    }

    /// Error 1290 where the server is read-only for this session, and something `changes`.
    pub(crate) fn refuse_read_only(&self, changes: impl Fn() -> bool) -> Result<(), SqlError> {
        let option = match self.db.read_only.load(Ordering::Relaxed) {
            0 => return Ok(()),
            READ_ONLY if self.access().has_dynamic("CONNECTION_ADMIN") => return Ok(()),
            READ_ONLY => "--read-only",
            _ => "--super-read-only",
        };
        match changes() {
            true => Err(SqlError::new(ErrorCode::OptionPreventsStatement, &[&option])),
            false => Ok(()),
        }
    }

    /// Takes over the values of `read_only` and `super_read_only`.
    pub fn look_at_read_only(&self) {
        let on = |name: &str| self.db.globals.is_on(name);
        let level = match (on("super_read_only"), on("read_only")) {
            (true, _) => SUPER_READ_ONLY,
            (_, true) => READ_ONLY,
            _ => 0,
        };
        self.db.read_only.store(level, Ordering::Relaxed);
    }

    /// Whether a statement changes anything but temporary tables.
    fn changes_data(&self, statement: &Statement) -> bool {
        let stored = |name: &ObjectName| {
            // A temporary table hides the stored one of its name, and only the latter is protected.
            let schema = name.db.as_deref().or(self.env.database.as_deref()).unwrap_or_default();
            self.temporary.get(schema, &name.name).is_none()
        };
        match statement {
            Statement::Select(query) => {
                // FOR UPDATE counts as a change, as in MySQL; FOR SHARE does not.
                let mut reads = ReferencedObjects::default();
                reads.query(query);
                reads.locked.into_iter().any(stored)
            }
            Statement::Insert(insert) => stored(&insert.table),
            Statement::LoadData(load) => stored(&load.table),
            Statement::Update(update) => {
                named_tables(&update.tables).into_iter().any(|factor| stored(&factor.name))
            }
            Statement::Delete(delete) => match &delete.target {
                DeleteTarget::Single(factor) => stored(&factor.name),
                DeleteTarget::Multi { from, .. } => {
                    named_tables(from).into_iter().any(|factor| stored(&factor.name))
                }
            },
            Statement::LockTables(locks) => locks.iter().any(|l| l.write && stored(&l.table)),
            Statement::Truncate(name) => stored(name),
            Statement::CreateTable(create) => !create.temporary,
            Statement::DropTable(drop) => !drop.temporary && drop.names.iter().any(stored),
            Statement::AlterTable(alter) => stored(&alter.name),
            Statement::CreateIndex(create) => stored(&create.table),
            Statement::DropIndex(drop) => stored(&drop.table),
            Statement::TableMaintenance(work) => {
                // Statements about histograms report the server's mode in their result.
                !matches!(work.kind, MaintenanceKind::Check | MaintenanceKind::Checksum)
                    && work.histogram.is_none()
                    && work.tables.iter().any(stored)
            }
            // None of these can concern a temporary table.
            Statement::CreateDatabase(_)
            | Statement::AlterDatabase(_)
            | Statement::DropDatabase { .. }
            | Statement::RenameTable(_)
            | Statement::CreateView(_)
            | Statement::DropView(_)
            | Statement::Sequence(_)
            | Statement::CreateRoutine(_)
            | Statement::AlterRoutine(_)
            | Statement::DropRoutine(_) => true,
            Statement::Server(statement) => statement.defines_server(),
            _ => changes_accounts(statement),
        }
    }
}
