//! LOCK TABLES: a list of tables, and nothing else may be touched until UNLOCK TABLES.
//!
//! Towards others the tables are locked by metadata locks: WRITE is an exclusive one, READ one that
//! keeps out who would change the table. READ LOCAL lets others put rows into a MyISAM table, which
//! this session does not see before UNLOCK TABLES. Within the session each name that a statement
//! mentions must be on the list under that alias, each entry once a statement (error 1100), and
//! what it changes must be there for WRITE (error 1099).
//!
//! A view on the list brings what it reads with it, under the names that those have.
//!
//! Example: after `LOCK TABLES t READ, u AS x WRITE`, `SELECT * FROM t` and `INSERT INTO u …` run,
//! `SELECT * FROM u` is error 1100 for `u`, `SELECT * FROM t a, t b` error 1100 for `a`.

use super::StatementOutcome;
use super::{Inside, SessionContext};
use super::{existing, full_name};
use crate::catalog::FullName;
use crate::catalog::mdl::{MdlGuard, MdlKind};
use crate::catalog::{ReferentialAction, Table, TableId};
use crate::referenced::{ReferencedObjects, values_set};
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{
    self, DeleteTarget, FlushTarget, ObjectName, ServerStatement, ShowKind, Statement,
};
use inia_storage::{Isolation, Txn};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One entry of LOCK TABLES.
#[derive(Clone)]
struct LockedTable {
    schema: String,
    name: String,
    alias: String,
    write: bool,
    view: bool,
    /// It is there for a merged table that it is a child of: its definition must stay.
    child: bool,
}

/// What LOCK TABLES has locked; nothing outside of it.
#[derive(Default)]
pub(crate) struct TableLocks {
    list: Vec<LockedTable>,
    local: Option<Local>,
    /// Held as long as the list is.
    #[expect(dead_code, reason = "it holds the locks")]
    guards: Vec<MdlGuard>,
}

/// What is read of tables locked with READ LOCAL: the rows of that moment.
struct Local {
    tables: Vec<TableId>,
    txn: RefCell<Txn>,
}

impl Local {
    /// Takes the snapshot; `None` where no other session can insert into the tables.
    fn new(session: &SessionContext, tables: &[Arc<Table>]) -> Option<Local> {
        let added = tables.iter().filter(|table| !table.def.is_volatile());
        let tables: Vec<TableId> = added.map(|table| table.def.id).collect();
        if tables.is_empty() {
            return None;
        }
        let mut txn = session.db.engine.attach();
        txn.begin(Isolation::RepeatableRead);
        txn.take_snapshot();
        Some(Local { tables, txn: RefCell::new(txn) })
    }
}

impl TableLocks {
    /// The transaction in which a table is read that is locked with READ LOCAL.
    pub(crate) fn local(&self, table: &Table) -> Option<&RefCell<Txn>> {
        let local = self.local.as_ref()?;
        local.tables.contains(&table.def.id).then_some(&local.txn)
    }
}

fn error<T>(code: ErrorCode, name: &str) -> Result<T, SqlError> {
    Err(SqlError::new(code, &[&name]))
}

/// What LOCK TABLES asks for, as the catalog is now.
#[derive(Default)]
struct Wanted {
    list: Vec<LockedTable>,
    /// Stored tables and views.
    names: BTreeMap<FullName, Strength>,
}

/// What others may not do with a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    /// Change existing rows; only tables without transactions can be locked so.
    Local,
    /// Change anything.
    #[default]
    Read,
    /// Even read it.
    Write,
}

/// The strength of the lock that LOCK TABLES asks for.
fn strength(session: &SessionContext, name: &FullName, lock: &ast::TableLock) -> Strength {
    let table = session.db.catalog().table(&name.0, &name.1);
    match () {
        () if lock.write => Strength::Write,
        () if lock.local && table.is_some_and(|table| !table.def.is_transactional()) => {
            Strength::Local
        }
        () => Strength::Read,
    }
}

impl Wanted {
    fn new(session: &SessionContext, locks: &[ast::TableLock]) -> Result<Wanted, SqlError> {
        let mut wanted = Wanted::default();
        for lock in locks {
            let (schema, name) = full_name(session, &lock.table)?;
            if crate::computed::schema(&schema) == Some("information_schema") {
                let access = session.access();
                let args: [&dyn std::fmt::Display; 3] =
                    [&access.account.user, &access.client, &"information_schema"];
                return Err(SqlError::new(ErrorCode::DbAccessDenied, &args));
            }
            let alias = lock.alias.clone().unwrap_or_else(|| name.clone());
            if wanted.list.iter().any(|other| other.alias == alias && other.schema == schema) {
                return error(ErrorCode::NonUniqueTable, &alias);
            }
            let view = session.is_view(&schema, &name);
            let (write, child) = (lock.write, false);
            wanted.list.push(LockedTable { schema, name, alias, write, view, child });
        }
        for (at, lock) in locks.iter().enumerate() {
            let LockedTable { schema, name, .. } = &wanted.list[at];
            let top = (schema.clone(), name.clone());
            if session.temporary.get(&top.0, &top.1).is_none() {
                wanted.reach(session, &top, &top, strength(session, &top, lock))?;
            }
        }
        wanted.add_foreign_keys(session);
        Ok(wanted)
    }

    /// A name on the list, or below the view `top` that is on it: it can be used, too. Error 1356
    /// where the view needs what is not there.
    fn reach(
        &mut self,
        session: &SessionContext,
        top: &FullName,
        name: &FullName,
        strength: Strength,
    ) -> Result<(), SqlError> {
        let write = strength == Strength::Write;
        if self.names.get(name).is_some_and(|known| *known >= strength) {
            return Ok(());
        }
        let view = session.db.catalog().view(&name.0, &name.1);
        let computed = crate::computed::is_computed(&name.0, &name.1);
        if name != top && !computed {
            let (schema, name) = name.clone();
            let alias = name.clone();
            let (view, child) = (view.is_some(), false);
            self.list.push(LockedTable { schema, name, alias, write, view, child });
        }
        let Some(view) = view else {
            match existing(session, name) {
                _ if computed => return Ok(()),
                Err(_) if name != top => {
                    return Err(SqlError::new(ErrorCode::ViewInvalid, &[&top.0, &top.1]));
                }
                found => self.reach_children(&*found?, strength)?,
            }
            self.add(name, strength);
            return Ok(());
        };
        self.add(name, strength);
        let mut reads = ReferencedObjects::default();
        view.query.iter().for_each(|query| reads.query(query));
        for below in reads.tables {
            let schema = below.db.clone().unwrap_or_else(|| name.0.clone());
            self.reach(session, top, &(schema, below.name.clone()), strength)?;
        }
        Ok(())
    }

    /// The children of a merged table: the session can use them by their names, too. Error 1168
    /// where one does not fit.
    fn reach_children(&mut self, table: &Table, strength: Strength) -> Result<(), SqlError> {
        table.check_children()?;
        for child in table.children() {
            let (schema, name) = (child.def.schema.clone(), child.def.name.clone());
            if !child.def.temporary {
                self.add(&(schema.clone(), name.clone()), strength);
            }
            let (alias, write) = (name.clone(), strength == Strength::Write);
            let (view, child) = (false, true);
            self.list.push(LockedTable { schema, name, alias, write, view, child });
        }
        Ok(())
    }

    fn add(&mut self, name: &FullName, strength: Strength) {
        let known = self.names.entry(name.clone()).or_insert(strength);
        *known = strength.max(*known);
    }

    /// Adds the tables that foreign keys lead to from tables locked for WRITE: parents for
    /// READ, children as the keys' actions need it. This session cannot use them by name.
    fn add_foreign_keys(&mut self, session: &SessionContext) {
        let catalog = session.db.catalog().current();
        let written = self.names.iter().filter(|(_, strength)| **strength == Strength::Write);
        let mut changed: Vec<FullName> = written.map(|(name, _)| name.clone()).collect();
        while let Some(name) = changed.pop() {
            let Some(table) = session.db.catalog().table(&name.0, &name.1) else { continue };
            for key in &table.def.foreign_keys {
                let parent = (key.ref_schema.clone(), key.ref_table.clone());
                self.names.entry(parent).or_default();
            }
            for child in catalog.references.get(&name).into_iter().flatten() {
                let Some(table) = session.db.catalog().table(&child.0, &child.1) else { continue };
                let carries = table.def.foreign_keys.iter().any(|key| {
                    (&key.ref_schema, &key.ref_table) == (&name.0, &name.1)
                        && [key.on_delete, key.on_update].iter().any(|action| {
                            matches!(
                                action,
                                ReferentialAction::Cascade | ReferentialAction::SetNull
                            )
                        })
                });
                let known = self.names.entry(child.clone()).or_default();
                if carries && std::mem::replace(known, Strength::Write) != Strength::Write {
                    changed.push(child.clone());
                }
            }
        }
    }
}

/// LOCK TABLES: ends the transaction and releases earlier locks. All sessions take locks in one
/// order, so that two of them cannot wait for each other. A session that had to wait may find
/// that the names stand for something else by then, and asks again.
pub fn lock(
    session: &mut SessionContext,
    locks: &[ast::TableLock],
) -> Result<StatementOutcome, SqlError> {
    if session.mdl.reads_everything() && locks.iter().any(|lock| lock.write) {
        return Err(SqlError::new(ErrorCode::CantUpdateWithReadlock, &[]));
    }
    // Earlier locks are released first: no session waits for them while this one waits.
    session.commit()?;
    session.table_locks = TableLocks::default();
    let limit = session.mdl_limit();
    let mut wanted = Wanted::new(session, locks)?;
    loop {
        let mut guards = Vec::new();
        // WRITE keeps FLUSH TABLES WITH READ LOCK waiting until UNLOCK TABLES.
        if wanted.names.values().any(|strength| *strength == Strength::Write) {
            guards.push(session.mdl.hold_changes(limit)?);
        }
        for ((schema, name), strength) in &wanted.names {
            let kind = match strength {
                Strength::Local => MdlKind::Read,
                Strength::Read => MdlKind::ReadOnly,
                Strength::Write => MdlKind::WriteLock,
            };
            let mdl = session.db.catalog().mdl().name(schema, name);
            guards.push(session.mdl.lock_strong(&mdl, kind, limit)?);
        }
        // The metadata lock of READ LOCAL admits all changes of rows; the lock on the table's rows
        // then keeps out all but inserts.
        let mut tables = Vec::new();
        for ((schema, name), strength) in &wanted.names {
            let table = session.db.catalog().table(schema, name);
            if let Some(table) = table.filter(|_| *strength == Strength::Local) {
                guards.push(session.mdl.lock_strong(
                    &table.shared.rows_lock,
                    MdlKind::Read,
                    limit,
                )?);
                tables.push(table);
            }
        }
        let now = Wanted::new(session, locks)?;
        if now.names == wanted.names {
            // Snapshots taken under the locks must show what earlier holders have committed.
            session.wait_for_commits()?;
            let local = Local::new(session, &tables);
            session.table_locks = TableLocks { list: now.list, local, guards };
            return Ok(StatementOutcome::default());
        }
        wanted = now;
    }
}

/// FLUSH TABLES … WITH READ LOCK and FOR EXPORT: of tables, as LOCK TABLES … READ does; of all,
/// nothing changes until UNLOCK TABLES, and what other sessions have changed is not committed.
pub fn flush_and_lock(
    session: &mut SessionContext,
    names: &[ObjectName],
) -> Result<StatementOutcome, SqlError> {
    if !session.table_locks.list.is_empty() {
        return Err(SqlError::new(ErrorCode::LockOrActiveTransaction, &[]));
    }
    if !names.is_empty() {
        let read = |table: &ObjectName| {
            let (table, alias) = (table.clone(), None);
            ast::TableLock { table, alias, write: false, local: false }
        };
        return lock(session, &names.iter().map(read).collect::<Vec<_>>());
    }
    session.commit()?;
    session.mdl.end_change();
    session.read_lock = Some(session.mdl.read_everything(session.mdl_limit())?);
    session.wait_for_commits()?;
    Ok(StatementOutcome::default())
}

/// UNLOCK TABLES.
pub fn unlock_all(session: &mut SessionContext) -> Result<StatementOutcome, SqlError> {
    session.read_lock = None;
    unlock(session)
}

/// Gives up what LOCK TABLES has locked.
pub fn unlock(session: &mut SessionContext) -> Result<StatementOutcome, SqlError> {
    if !session.table_locks.list.is_empty() {
        session.commit()?;
        session.table_locks = TableLocks::default();
    }
    Ok(StatementOutcome::default())
}

/// Notes the names that a statement reads and changes rows of; false where it is of another kind.
fn names_of<'s>(statement: &'s Statement, reads: &mut ReferencedObjects<'s>) -> bool {
    // Expressions are walked for the tables of their subqueries. Statements that are not listed
    // are checked by `SessionContext::check_defined`.
    match statement {
        Statement::Select(query) => reads.query(query),
        Statement::Explain(explain) => match &explain.target {
            ast::ExplainTarget::Statement(statement) => return names_of(statement, reads),
            ast::ExplainTarget::Connection(_) => {}
        },
        Statement::Do(items) => reads.exprs(ast::item_exprs(items)),
        Statement::Set(items) => reads.exprs(values_set(items)),
        Statement::Insert(insert) => {
            reads.table(&insert.table, None);
            match &insert.source {
                ast::InsertSource::Query(query) => reads.query(query),
                written => reads.exprs(written.exprs()),
            }
            reads.exprs(insert.on_duplicate.iter().map(|assignment| &assignment.value));
            reads.exprs(ast::item_exprs(&insert.returning));
        }
        Statement::Update(update) => {
            reads.with(update.with.as_ref());
            update.tables.iter().for_each(|table| reads.table_ref(table));
            reads.exprs(update.assignments.iter().map(|assignment| &assignment.value));
            reads.exprs(&update.where_);
            reads.exprs(ast::item_exprs(&update.returning));
        }
        Statement::Delete(delete) => {
            reads.with(delete.with.as_ref());
            match &delete.target {
                DeleteTarget::Single(table) => {
                    reads.table(&table.name, table.alias.as_deref());
                }
                DeleteTarget::Multi { from, .. } => {
                    from.iter().for_each(|table| reads.table_ref(table));
                }
            }
            reads.exprs(&delete.where_);
            reads.exprs(ast::item_exprs(&delete.returning));
        }
        Statement::Show(show) => {
            if let ShowKind::CreateTable(name) = &show.kind {
                reads.table(name, None);
            }
            if let Some(ast::ShowFilter::Where(condition)) = &show.filter {
                reads.expr(condition);
            }
        }
        Statement::CreateTable(create) if create.temporary => {
            // The new table is the session's own and needs no lock; only its source is checked.
            create.select.iter().for_each(|select| reads.query(&select.query));
        }
        _ => return false,
    }
    true
}

impl SessionContext {
    /// Whether the session is in a transaction or holds tables by LOCK TABLES.
    pub fn is_engaged(&self) -> bool {
        let state = &self.state;
        let begun = state.explicit || (state.open && !state.autocommit);
        begun || self.has_locked_tables()
    }

    /// Makes the context of a stored function know what LOCK TABLES holds: it may use no other
    /// tables. Those of triggers are held with their tables.
    pub(super) fn hold_tables_of(&mut self, outer: &SessionContext) {
        if self.inside == Inside::Function {
            self.table_locks.list.clone_from(&outer.table_locks.list);
        }
    }

    /// The end of what [`SessionContext::hold_tables_of`] says.
    pub(super) fn forget_held_tables(&mut self) {
        self.table_locks.list.clear();
    }

    /// Whether the session holds tables by LOCK TABLES.
    pub fn has_locked_tables(&self) -> bool {
        !self.table_locks.list.is_empty()
    }

    /// Errors 1100, 1099 and 1192 of statements under LOCK TABLES that their syntax shows.
    #[inline]
    pub fn check_locked(&self, statement: &Statement) -> Result<(), SqlError> {
        if self.table_locks.list.is_empty() {
            return Ok(());
        }
        let mut reads = ReferencedObjects::default();
        match names_of(statement, &mut reads) {
            true => self.check_read(&reads),
            false => self.check_defined(statement),
        }
    }

    /// Each name must be on the list, each entry once.
    fn check_read(&self, reads: &ReferencedObjects<'_>) -> Result<(), SqlError> {
        let mut used = vec![false; self.table_locks.list.len()];
        for (name, alias) in reads.tables.iter().zip(&reads.aliases) {
            let alias = alias.unwrap_or(&name.name);
            let Some(schema) = self.locked_schema(name) else { continue };
            let fits = |at: &usize| {
                let entry = &self.table_locks.list[*at];
                let same = entry.schema == schema && entry.name == name.name;
                same && (entry.view || (!used[*at] && entry.alias == alias))
            };
            match (0..used.len()).find(fits) {
                Some(at) => used[at] = true,
                None => return error(ErrorCode::TableNotLocked, alias),
            }
        }
        Ok(())
    }

    /// The database of a name that the list is asked for; `None` for temporary tables and those
    /// that the server computes.
    fn locked_schema<'n>(&'n self, name: &'n ObjectName) -> Option<&'n str> {
        let schema = name.db.as_deref().or(self.env.database.as_deref())?;
        let computed = crate::computed::is_computed(schema, &name.name);
        let own = self.temporary.get(schema, &name.name).is_some();
        (!computed && !own).then_some(schema)
    }

    /// Statements that define something need their tables locked for WRITE.
    fn check_defined(&self, statement: &Statement) -> Result<(), SqlError> {
        let names: Vec<&ObjectName> = match statement {
            Statement::CreateDatabase(_)
            | Statement::AlterDatabase(_)
            | Statement::DropDatabase { .. } => {
                return Err(SqlError::new(ErrorCode::LockOrActiveTransaction, &[]));
            }
            Statement::CreateTable(create) if !create.temporary => vec![&create.name],
            Statement::AlterTable(alter) => vec![&alter.name],
            Statement::DropTable(drop) if !drop.temporary => drop.names.iter().collect(),
            Statement::RenameTable(pairs) => pairs.iter().map(|(from, _)| from).collect(),
            Statement::CreateIndex(create) => vec![&create.table],
            Statement::DropIndex(drop) => vec![&drop.table],
            Statement::Truncate(name) => vec![name],
            Statement::CreateView(_) | Statement::DropView(_) | Statement::Sequence(_) => {
                return Err(SqlError::new(ErrorCode::LockOrActiveTransaction, &[]));
            }
            Statement::Server(server) if matches!(**server, ServerStatement::Tablespace(_)) => {
                return Err(SqlError::new(ErrorCode::LockOrActiveTransaction, &[]));
            }
            Statement::Flush(flush) => return self.check_flushed(flush),
            _ if crate::account::changes_accounts(statement) => {
                return error(ErrorCode::TableNotLocked, "user");
            }
            _ => return Ok(()),
        };
        if let Statement::AlterTable(alter) = statement {
            let unites = |action: &ast::AlterAction| {
                matches!(action, ast::AlterAction::Option(ast::TableOption::Union(_)))
            };
            if alter.actions.iter().any(unites) {
                return Err(SqlError::new(ErrorCode::LockOrActiveTransaction, &[]));
            }
        }
        for name in names {
            let Some(schema) = self.locked_schema(name) else { continue };
            self.check_write(schema, &name.name)?;
            self.check_itself(schema, &name.name)?;
        }
        Ok(())
    }

    /// Error 1099 of a table that is locked as a child of a merged table, not by its name.
    fn check_itself(&self, schema: &str, name: &str) -> Result<(), SqlError> {
        let mut entries =
            self.table_locks.list.iter().filter(|e| e.schema == schema && e.name == name);
        match entries.all(|entry| entry.child || !entry.write) {
            true => error(ErrorCode::TableNotLockedForWrite, name),
            false => Ok(()),
        }
    }

    /// Dropped tables leave the list; with the last one LOCK TABLES is over.
    pub fn forget_locks(&mut self, names: &[ObjectName]) {
        let database = self.env.database.as_deref();
        self.table_locks.list.retain(|entry| {
            !names.iter().any(|name| {
                let schema = name.db.as_deref().or(database);
                entry.name == name.name && schema == Some(entry.schema.as_str())
            })
        });
        if self.table_locks.list.is_empty() {
            self.table_locks = TableLocks::default();
        }
    }

    /// FLUSH TABLES needs its tables for WRITE, and FLUSH PRIVILEGES the table of accounts.
    fn check_flushed(&self, flush: &ast::Flush) -> Result<(), SqlError> {
        for target in &flush.targets {
            match target {
                FlushTarget::Privileges => return error(ErrorCode::TableNotLocked, "user"),
                FlushTarget::Tables { names, read_lock: false, export: false } => {
                    for name in names {
                        let Some(schema) = self.locked_schema(name) else { continue };
                        self.check_write(schema, &name.name)?;
                    }
                    let read = self.table_locks.list.iter().find(|entry| !entry.write);
                    if let Some(entry) = read.filter(|_| names.is_empty()) {
                        return error(ErrorCode::TableNotLockedForWrite, &entry.name);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Errors 1100 and 1099 of a table that ANALYZE, CHECK, OPTIMIZE or REPAIR is to work on.
    pub fn check_maintained(&self, name: &ObjectName, write: bool) -> Result<(), SqlError> {
        let list = &self.table_locks.list;
        let Some(schema) = self.locked_schema(name).filter(|_| !list.is_empty()) else {
            return Ok(());
        };
        match write || !list.iter().any(|e| e.schema == schema && e.name == name.name) {
            true => self.check_write(schema, &name.name),
            false => Ok(()),
        }
    }

    fn check_write(&self, schema: &str, name: &str) -> Result<(), SqlError> {
        let list = &self.table_locks.list;
        let mut entries = list.iter().filter(|e| e.schema == schema && e.name == name).peekable();
        if entries.peek().is_none() {
            return error(ErrorCode::TableNotLocked, name);
        }
        match entries.any(|entry| entry.write) {
            true => Ok(()),
            false => error(ErrorCode::TableNotLockedForWrite, name),
        }
    }

    /// Makes sure that the transaction may change a table's rows: waits for others' LOCK TABLES …
    /// READ; error 1099 where this session has locked it so.
    pub fn hold_to_write(&self, table: &Table) -> Result<(), SqlError> {
        if table.def.temporary {
            return Ok(());
        }
        if !self.table_locks.list.is_empty() {
            self.check_write(&table.def.schema, &table.def.name)?;
        }
        self.begin_change()?;
        self.mdl.lock_write(&table.mdl, self.mdl_limit())
    }

    /// As [`SessionContext::hold_to_write`], for a table that a foreign key's action reaches.
    pub(crate) fn hold_to_cascade(&self, table: &Table) -> Result<(), SqlError> {
        self.mdl.lock_shared(&table.mdl, self.mdl_limit())?;
        self.mdl.lock_write(&table.mdl, self.mdl_limit())
    }
}
