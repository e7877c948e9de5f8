//! Which privileges a statement needs.
//!
//! Account statements, SET and SHOW check for themselves what they need: that depends on more than
//! the statement's form. What changes of rows need is in [`rows`], what is needed of tables whose
//! privileges are on columns in [`columns`].
//!
//! A temporary table is all its session's own: where a statement means it, nothing is checked.
//! Statements that never mean temporary tables (views, RENAME, CREATE) are checked as if there
//! were none.

mod columns;
mod rows;
#[cfg(test)]
mod tests;

use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::*;
use inia_query::account::{Access, AccountName, Privileges};
use inia_query::catalog::{CatalogVersion, ProgramKind, SYSTEM_SCHEMA};
use inia_query::computed::{self, check_dictionary};
use inia_query::observe::{can_be_emptied, is_setup_table};
use inia_query::referenced::{ReferencedObjects, named_tables, values_set};
use std::sync::Arc;

type Result<T> = std::result::Result<T, SqlError>;

/// What names mean to a session.
pub(crate) trait Surroundings {
    /// The current database.
    fn database(&self) -> Option<&str>;
    /// Whether the session has a temporary table of that name, which is all its own.
    fn is_temporary(&self, schema: &str, name: &str) -> bool;
    /// The catalog with the session's temporary tables.
    fn catalog(&self) -> Arc<CatalogVersion>;
}

/// Checks one statement of a session.
pub(crate) fn check(
    statement: &Statement,
    access: &Access,
    around: &dyn Surroundings,
) -> Result<()> {
    let checker = Checker { access, database: around.database(), around };
    checker.no_computed_target(statement)?;
    if access.is_root() {
        return Ok(());
    }
    checker.statement(statement)
}

struct Checker<'c> {
    access: &'c Access,
    database: Option<&'c str>,
    around: &'c dyn Surroundings,
}

fn error<T>(code: ErrorCode, args: &[&dyn std::fmt::Display]) -> Result<T> {
    Err(SqlError::new(code, args))
}

/// Whether the server computes all tables of that database.
fn is_computed(schema: &str) -> bool {
    ["information_schema", "performance_schema"]
        .iter()
        .any(|name| name.eq_ignore_ascii_case(schema))
}

/// The computed tables that only PROCESS opens.
fn shows_the_server(schema: &str, table: &str) -> bool {
    // These are views of the data dictionary.
    const OPEN: [&str; 5] = [
        "INNODB_DATAFILES",
        "INNODB_FIELDS",
        "INNODB_FOREIGN",
        "INNODB_FOREIGN_COLS",
        "INNODB_TABLESPACES_BRIEF",
    ];
    schema.eq_ignore_ascii_case("information_schema")
        && !OPEN.iter().any(|open| table.eq_ignore_ascii_case(open))
        && (table.eq_ignore_ascii_case("FILES")
            || table.get(..7).is_some_and(|head| head.eq_ignore_ascii_case("INNODB_")))
}

impl Checker<'_> {
    fn schema_of<'n>(&'n self, name: &'n ObjectName) -> &'n str {
        name.db.as_deref().or(self.database).unwrap_or_default()
    }

    /// No account may change a table that the server computes, or use its name for another.
    fn not_computed(&self, name: &ObjectName, command: &'static str) -> Result<()> {
        let schema = self.schema_of(name);
        if self.is_temporary(name) {
            return Ok(());
        }
        check_dictionary(schema, &name.name)?;
        if !computed::is_computed(schema, &name.name) {
            return Ok(());
        }
        if schema.eq_ignore_ascii_case("information_schema") {
            return self.no_database(schema);
        }
        let views = self.access.on_table(schema, &name.name).has(Privileges::CREATE_VIEW);
        if command == "CREATE VIEW" && schema == SYSTEM_SCHEMA && views {
            return error(ErrorCode::TableExists, &[&name.name]);
        }
        // Settings can be changed, and rows put in and taken out where the table has them.
        let setup = schema.eq_ignore_ascii_case("performance_schema");
        let setup = is_setup_table(&name.name).filter(|_| setup);
        match (setup, command) {
            (Some(_), "UPDATE") => return Ok(()),
            (Some("setup_actors" | "setup_objects"), "INSERT" | "DELETE") => return Ok(()),
            _ => {}
        }
        self.no_table(command, &name.name)
    }

    /// No account may change tables that the server computes.
    fn no_computed_target(&self, statement: &Statement) -> Result<()> {
        let name = |name: &ObjectName, command| self.not_computed(name, command);
        match statement {
            Statement::Select(_) => Ok(()),
            Statement::Insert(insert) => name(&insert.table, "INSERT"),
            Statement::Update(update) => match &update.tables[..] {
                [TableRef::Table(only)] => name(&only.name, "UPDATE"),
                [_] => match &named_tables(&update.tables)[..] {
                    [only] => name(&only.name, "UPDATE"),
                    _ => Ok(()),
                },
                _ => Ok(()),
            },
            Statement::Delete(delete) => match &delete.target {
                DeleteTarget::Single(factor) => name(&factor.name, "DELETE"),
                DeleteTarget::Multi { .. } => Ok(()),
            },
            Statement::LoadData(load) => name(&load.table, "INSERT"),
            Statement::Truncate(table) if can_be_emptied(self.schema_of(table), &table.name) => {
                Ok(())
            }
            Statement::Truncate(table) => name(table, "DROP"),
            Statement::CreateTable(create) if create.temporary => {
                // It may have the name of a system table.
                match self.schema_of(&create.name) {
                    SYSTEM_SCHEMA => check_dictionary(SYSTEM_SCHEMA, &create.name.name),
                    _ => name(&create.name, "CREATE"),
                }
            }
            Statement::CreateTable(create) => name(&create.name, "CREATE"),
            Statement::CreateView(create) => name(&create.name, "CREATE VIEW"),
            Statement::Sequence(sequence) => {
                sequence.names().iter().try_for_each(|sequence| name(sequence, "CREATE"))
            }
            Statement::AlterTable(alter) => name(&alter.name, "ALTER"),
            Statement::CreateIndex(create) => name(&create.table, "INDEX"),
            Statement::DropIndex(drop) => name(&drop.table, "INDEX"),
            Statement::DropTable(drop) | Statement::DropView(drop) => {
                drop.names.iter().try_for_each(|table| name(table, "DROP"))
            }
            Statement::RenameTable(pairs) => pairs.iter().try_for_each(|(from, to)| {
                name(from, "DROP")?;
                name(to, "CREATE")
            }),
            Statement::CreateDatabase(CreateDatabase { name, .. })
            | Statement::DropDatabase { name, .. }
                if is_computed(name) =>
            {
                self.no_database(name)
            }
            Statement::AlterDatabase(alter) => match alter.name.as_deref().or(self.database) {
                Some(name) if is_computed(name) => self.no_database(name),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn no_database<T>(&self, schema: &str) -> Result<T> {
        Err(self.access.no_database(schema))
    }

    fn no_table<T>(&self, command: &str, table: &str) -> Result<T> {
        Err(self.access.no_table(command, table))
    }

    /// Privileges on a database; error 1044.
    fn database(&self, schema: Option<&str>, wanted: Privileges) -> Result<()> {
        let Some(schema) = schema.or(self.database) else { return Ok(()) };
        if self.access.on_database(schema).has(wanted) {
            return Ok(());
        }
        self.no_database(schema)
    }

    /// Privileges on a table, which may be a temporary one.
    fn table(&self, name: &ObjectName, wanted: Privileges) -> Result<()> {
        if self.is_temporary(name) { Ok(()) } else { self.stored(name, wanted) }
    }

    fn is_temporary(&self, name: &ObjectName) -> bool {
        self.around.is_temporary(self.schema_of(name), &name.name)
    }

    /// Privileges on a stored table or view; error 1142 names those that are missing.
    fn stored(&self, name: &ObjectName, wanted: Privileges) -> Result<()> {
        let schema = self.schema_of(name);
        if schema.is_empty() {
            return Ok(());
        }
        if wanted == Privileges::SELECT && shows_the_server(schema, &name.name) {
            self.global(Privileges::PROCESS, "PROCESS")?;
        }
        let held = self.access.on_table(schema, &name.name);
        let missing: Vec<_> = (wanted & !held).members().map(|missing| missing.name).collect();
        match missing.is_empty() {
            true => Ok(()),
            false => self.no_table(&missing.join(", "), &name.name),
        }
    }

    /// Error 1227.
    fn global(&self, wanted: Privileges, names: &str) -> Result<()> {
        if self.access.global.has_any(wanted) {
            return Ok(());
        }
        Err(self.access.lacks(names))
    }

    fn dynamic(&self, wanted: Privileges, dynamic: &str, names: &str) -> Result<()> {
        if self.access.has_dynamic(dynamic) {
            return Ok(());
        }
        self.global(wanted, names)
    }

    /// SELECT on all tables that were found, or on some of their columns, and more on those that
    /// are locked.
    fn reads(&self, reads: &ReferencedObjects<'_>) -> Result<()> {
        reads.tables.iter().try_for_each(|table| self.some(table, Privileges::SELECT))?;
        reads.locked.iter().try_for_each(|table| self.locks(table))
    }

    /// FOR UPDATE.
    fn locks(&self, table: &ObjectName) -> Result<()> {
        let schema = self.schema_of(table);
        let held = self.access.on_table(schema, &table.name)
            | self.access.on_some_column(schema, &table.name);
        let some = Privileges::UPDATE | Privileges::DELETE | Privileges::LOCK_TABLES;
        match schema.is_empty() || self.is_temporary(table) || held.has_any(some) {
            true => Ok(()),
            false => self.no_table("SELECT with locking clause", &table.name),
        }
    }

    /// LOCK TABLES.
    fn read_lock(&self, table: &ObjectName) -> Result<()> {
        if self.is_temporary(table) {
            return Ok(());
        }
        self.database(table.db.as_deref(), Privileges::LOCK_TABLES)?;
        self.some(table, Privileges::SELECT)
    }

    fn query(&self, query: &Query) -> Result<()> {
        if matches!(query.into, Some(SelectInto::Outfile { .. } | SelectInto::Dumpfile(_))) {
            self.file()?;
        }
        let mut reads = ReferencedObjects::default();
        reads.query(query);
        self.reads(&reads)?;
        if self.reads_whole(&reads) { Ok(()) } else { self.reads_columns(query.clone()) }
    }

    /// SELECT on what expressions read.
    fn exprs<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>) -> Result<()> {
        let exprs: Vec<&Expr> = exprs.into_iter().collect();
        let mut reads = ReferencedObjects::default();
        reads.exprs(exprs.iter().copied());
        self.reads(&reads)?;
        if self.reads_whole(&reads) {
            return Ok(());
        }
        self.reads_columns(columns::reading(None, &[], exprs))
    }

    fn file(&self) -> Result<()> {
        self.global(Privileges::FILE, "FILE")
    }

    fn statement(&self, statement: &Statement) -> Result<()> {
        match statement {
            Statement::Select(query) => self.query(query),
            Statement::Insert(insert) => self.insert(insert),
            Statement::Update(update) => self.update(update),
            Statement::Delete(delete) => self.delete(delete),
            Statement::Do(items) => self.exprs(item_exprs(items)),
            Statement::Set(items) => self.exprs(values_set(items)),
            Statement::Show(show) => match &show.filter {
                Some(ShowFilter::Where(condition)) => self.exprs([condition]),
                _ => Ok(()),
            },
            Statement::Explain(explain) => match &explain.target {
                ExplainTarget::Statement(statement) => self.statement(statement),
                ExplainTarget::Connection(_) => Ok(()),
            },
            Statement::Use(name) => match self.access.sees_database(name) {
                true => Ok(()),
                false => self.no_database(name),
            },
            Statement::LoadData(load) => {
                if !load.local && !self.access.global.has(Privileges::FILE) {
                    return Err(self.access.denied());
                }
                self.load(load)
            }
            Statement::Handler(handler) => match &handler.action {
                HandlerAction::Open(_) => self.table(&handler.table, Privileges::SELECT),
                // READ is asked for as the query that it is.
                HandlerAction::Read { .. } | HandlerAction::Close => Ok(()),
            },
            Statement::LockTables(locks) => {
                locks.iter().try_for_each(|lock| self.read_lock(&lock.table))
            }
            Statement::Call(call) => {
                let kind = ProgramKind::Procedure;
                self.routine(kind, &call.name, Privileges::EXECUTE, "execute")?;
                self.exprs(&call.args)
            }
            _ => self.definition(statement),
        }
    }

    /// Error 1370.
    fn routine(
        &self,
        kind: ProgramKind,
        name: &ObjectName,
        wanted: Privileges,
        command: &str,
    ) -> Result<()> {
        let schema = self.schema_of(name);
        if self.access.on_routine(kind, schema, &name.name).has(wanted) {
            return Ok(());
        }
        Err(self.access.no_routine(command, &format!("{schema}.{}", name.name)))
    }

    fn definition(&self, statement: &Statement) -> Result<()> {
        use Privileges as P;
        // `table` and `some` pass over a name that means a temporary table. `stored` does not:
        // RENAME and views never mean one.
        match statement {
            // The rights to tables of these schemas never include DROP.
            Statement::Truncate(table)
                if can_be_emptied(self.schema_of(table), &table.name)
                    && !self.is_temporary(table) =>
            {
                match self.access.global.has(P::DROP) {
                    true => Ok(()),
                    false => self.no_table("DROP", &table.name),
                }
            }
            Statement::Truncate(table) => self.table(table, P::DROP),
            Statement::CreateDatabase(create) => self.database(Some(&create.name), P::CREATE),
            Statement::AlterDatabase(alter) => self.database(alter.name.as_deref(), P::ALTER),
            Statement::DropDatabase { name, .. } => self.database(Some(name), P::DROP),
            Statement::CreateTable(create) => self.create_table(create),
            Statement::AlterTable(alter) => self.alter_table(alter),
            Statement::DropTable(drop) if drop.temporary => Ok(()),
            Statement::DropTable(drop) => {
                drop.names.iter().try_for_each(|name| self.table(name, P::DROP))
            }
            Statement::DropView(drop) => {
                drop.names.iter().try_for_each(|name| self.stored(name, P::DROP))
            }
            Statement::Sequence(sequence) => self.sequence(sequence),
            Statement::RenameTable(pairs) => pairs.iter().try_for_each(|(from, to)| {
                self.stored(from, P::ALTER | P::DROP)?;
                self.stored(to, P::CREATE | P::INSERT)
            }),
            Statement::CreateIndex(create) => self.table(&create.table, P::INDEX),
            Statement::DropIndex(drop) => self.table(&drop.table, P::INDEX),
            Statement::CreateView(create) => self.create_view(create),
            Statement::CreateRoutine(create) => {
                let schema = create.name.db.as_deref();
                match &create.detail {
                    RoutineDetail::Trigger { table, .. } => self.table(table, P::TRIGGER),
                    RoutineDetail::Event { .. } => self.database(schema, P::EVENT),
                    _ => self.database(schema, P::CREATE_ROUTINE),
                }
            }
            Statement::AlterRoutine(alter) => self.changes_routine(alter.kind, &alter.name),
            Statement::DropRoutine(drop) => self.changes_routine(drop.kind, &drop.name),
            Statement::TableMaintenance(work) => {
                let wanted = match work.kind {
                    MaintenanceKind::Check | MaintenanceKind::Checksum => P::SELECT,
                    _ => P::SELECT | P::INSERT,
                };
                work.tables.iter().try_for_each(|table| self.some(table, wanted))
            }
            _ => self.administration(statement),
        }
    }

    /// ALTER and DROP of stored programs. DROP TRIGGER needs nothing: there are no triggers.
    fn changes_routine(&self, kind: RoutineKind, name: &ObjectName) -> Result<()> {
        match kind {
            RoutineKind::Event => self.database(name.db.as_deref(), Privileges::EVENT),
            RoutineKind::Trigger => Ok(()),
            RoutineKind::Procedure | RoutineKind::Function => {
                let kind = match kind {
                    RoutineKind::Function => ProgramKind::Function,
                    _ => ProgramKind::Procedure,
                };
                self.routine(kind, name, Privileges::ALTER_ROUTINE, "alter routine")
            }
        }
    }

    /// CREATE and ALTER VIEW. The creator of a view needs some privilege on what it reads; whether
    /// it may read is asked when the view is used.
    fn sequence(&self, statement: &SequenceStatement) -> Result<()> {
        use Privileges as P;
        let wanted = match statement {
            SequenceStatement::Create { or_replace: true, .. } => P::CREATE | P::DROP,
            SequenceStatement::Create { .. } => P::CREATE,
            SequenceStatement::Alter { .. } => P::ALTER,
            SequenceStatement::Drop { .. } => P::DROP,
        };
        statement.names().iter().try_for_each(|name| self.stored(name, wanted))
    }

    fn create_view(&self, create: &CreateView) -> Result<()> {
        self.stored(&create.name, Privileges::CREATE_VIEW)?;
        if create.or_replace || create.alter {
            self.stored(&create.name, Privileges::DROP)?;
        }
        let mut reads = ReferencedObjects::default();
        reads.query(&create.query);
        let some =
            Privileges::SELECT | Privileges::INSERT | Privileges::UPDATE | Privileges::DELETE;
        for table in &reads.tables {
            let schema = self.schema_of(table);
            let held = self.access.on_table(schema, &table.name)
                | self.access.on_some_column(schema, &table.name);
            if !schema.is_empty() && !held.has_any(some) {
                let AccountName { user, host } = &self.access.account;
                return error(ErrorCode::TableAccessDenied, &[&"ANY", user, host, &table.name]);
            }
        }
        Ok(())
    }

    fn create_table(&self, create: &CreateTable) -> Result<()> {
        if create.temporary {
            let schema = create.name.db.as_deref();
            self.database(schema, Privileges::CREATE_TEMPORARY_TABLES)?;
        } else if create.select.is_some() {
            self.stored(&create.name, Privileges::CREATE | Privileges::INSERT)?;
        } else {
            self.stored(&create.name, Privileges::CREATE)?;
        }
        if let Some(like) = &create.like {
            self.some(like, Privileges::SELECT)?;
        }
        for element in &create.elements {
            if let TableElement::ForeignKey(key) = element {
                self.refers(&create.name, key)?;
            }
        }
        create.options.iter().try_for_each(|option| self.unites(option))?;
        match &create.select {
            Some(select) => self.query(&select.query),
            None => Ok(()),
        }
    }

    /// SELECT, UPDATE and DELETE on the tables that a merged table is to unite, also on temporary
    /// ones.
    fn unites(&self, option: &TableOption) -> Result<()> {
        let TableOption::Union(tables) = option else { return Ok(()) };
        let wanted = Privileges::SELECT | Privileges::UPDATE | Privileges::DELETE;
        tables.iter().try_for_each(|table| self.stored(table, wanted))
    }

    /// REFERENCES on the table that a foreign key points at, which is looked for beside its own.
    fn refers(&self, own: &ObjectName, key: &ForeignKeyDef) -> Result<()> {
        let parent = &key.references.table;
        let schema = parent.db.as_deref().unwrap_or_else(|| self.schema_of(own));
        let held = self.access.on_table(schema, &parent.name);
        match schema.is_empty() || held.has(Privileges::REFERENCES) {
            true => Ok(()),
            false => self.no_table("REFERENCES", &format!("{schema}.{}", parent.name)),
        }
    }

    fn alter_table(&self, alter: &AlterTable) -> Result<()> {
        let new_name = alter.actions.iter().find_map(|action| match action {
            AlterAction::RenameTo(to) => Some(to),
            _ => None,
        });
        let dropped = new_name.map_or(Privileges::NONE, |_| Privileges::DROP);
        for action in &alter.actions {
            use inia_parser::ast::PartitionAction as A;
            let AlterAction::Partition(action) = action else { continue };
            let exchanges =
                Privileges::ALTER | Privileges::DROP | Privileges::INSERT | Privileges::CREATE;
            match action {
                A::Drop(_) => self.table(&alter.name, Privileges::ALTER | Privileges::DROP)?,
                A::Truncate(_) => return self.table(&alter.name, Privileges::DROP),
                A::Exchange { table, .. } => {
                    self.table(&alter.name, exchanges)?;
                    self.table(table, exchanges)?;
                }
                A::Analyze(_) | A::Check(_) | A::Optimize(_) | A::Repair(_) => {
                    return self.table(&alter.name, Privileges::SELECT | Privileges::INSERT);
                }
                _ => {}
            }
        }
        self.table(&alter.name, Privileges::ALTER | dropped)?;
        if let Some(to) = new_name {
            self.stored(to, Privileges::CREATE | Privileges::INSERT)?;
        }
        alter.actions.iter().try_for_each(|action| match action {
            AlterAction::AddForeignKey(key) => self.refers(&alter.name, key),
            AlterAction::Option(option) => self.unites(option),
            _ => Ok(()),
        })
    }

    fn server_statement(&self, statement: &ServerStatement) -> Result<()> {
        use Privileges as P;
        use ServerStatement as S;
        match statement {
            S::CreateServer { .. } | S::AlterServer { .. } | S::DropServer { .. } => {
                self.global(P::SUPER, "SUPER")
            }
            S::CreateSpatialReference { .. } | S::DropSpatialReference { .. } => {
                match self.access.global.has_any(P::SUPER) {
                    true => Ok(()),
                    false => error(ErrorCode::CmdNeedSuper, &[&statement.words()]),
                }
            }
            S::ResourceGroup(ResourceGroupStatement {
                action: ResourceGroupAction::Set { .. },
                ..
            }) if self.access.has_dynamic("RESOURCE_GROUP_USER") => Ok(()),
            S::ResourceGroup(group) => {
                let names = match group.action {
                    ResourceGroupAction::Set { .. } => {
                        "RESOURCE_GROUP_ADMIN OR RESOURCE_GROUP_USER"
                    }
                    _ => "RESOURCE_GROUP_ADMIN",
                };
                self.dynamic(P::NONE, "RESOURCE_GROUP_ADMIN", names)
            }
            S::AlterInstance(InstanceAction::RedoLog) => {
                let name = "INNODB_REDO_LOG_ENABLE";
                self.dynamic(P::NONE, name, name)
            }
            S::AlterInstance(_) => {
                let names = "SUPER or ENCRYPTION_KEY_ADMIN";
                self.dynamic(P::SUPER, "ENCRYPTION_KEY_ADMIN", names)
            }
            S::LogfileGroup { .. } | S::Tablespace(_) => {
                self.global(P::CREATE_TABLESPACE, "CREATE TABLESPACE")
            }
            S::ReplicationSource(_)
            | S::ReplicationFilter { .. }
            | S::StartReplica { .. }
            | S::StopReplica { .. } => {
                let names = "SUPER or REPLICATION_SLAVE_ADMIN";
                self.dynamic(P::SUPER, "REPLICATION_SLAVE_ADMIN", names)
            }
            S::GroupReplication => {
                let names = "SUPER or GROUP_REPLICATION_ADMIN";
                self.dynamic(P::SUPER, "GROUP_REPLICATION_ADMIN", names)
            }
            S::Clone { local: true } => self.dynamic(P::NONE, "BACKUP_ADMIN", "BACKUP_ADMIN"),
            S::Clone { local: false } => self.dynamic(P::NONE, "CLONE_ADMIN", "CLONE_ADMIN"),
            S::ImportTable(_) if self.database.is_none() => Ok(()),
            S::ImportTable(_) => self.global(P::FILE, "FILE"),
            S::KeyCache(statement) => {
                statement.tables.iter().try_for_each(|keys| self.table(&keys.table, P::INDEX))
            }
        }
    }

    fn administration(&self, statement: &Statement) -> Result<()> {
        use Privileges as P;
        // `dynamic` asks for either of two privileges, as error 1227 names them. With NONE there
        // is only the dynamic one.
        match statement {
            Statement::Flush(flush) => flush.targets.iter().try_for_each(|target| match target {
                FlushTarget::Tables { names, read_lock, export } => {
                    self.dynamic(P::RELOAD, "FLUSH_TABLES", "RELOAD or FLUSH_TABLES")?;
                    let locks = *read_lock || *export;
                    names.iter().filter(|_| locks).try_for_each(|table| self.read_lock(table))
                }
                FlushTarget::Status => {
                    self.dynamic(P::RELOAD, "FLUSH_STATUS", "RELOAD or FLUSH_STATUS")
                }
                FlushTarget::UserResources => {
                    let names = "RELOAD or FLUSH_USER_RESOURCES";
                    self.dynamic(P::RELOAD, "FLUSH_USER_RESOURCES", names)
                }
                FlushTarget::OptimizerCosts => {
                    let names = "RELOAD or FLUSH_OPTIMIZER_COSTS";
                    self.dynamic(P::RELOAD, "FLUSH_OPTIMIZER_COSTS", names)
                }
                _ => self.global(P::RELOAD, "RELOAD"),
            }),
            Statement::Reset(_) => self.global(P::RELOAD, "RELOAD"),
            Statement::ResetPersist { .. } => {
                self.dynamic(P::SUPER, "SYSTEM_VARIABLES_ADMIN", "SUPER or SYSTEM_VARIABLES_ADMIN")
            }
            Statement::PurgeLogs(_) => {
                self.dynamic(P::SUPER, "BINLOG_ADMIN", "SUPER or BINLOG_ADMIN")
            }
            Statement::Binlog(_) if self.access.has_dynamic("BINLOG_ADMIN") => Ok(()),
            Statement::Binlog(_) => {
                let names = "SUPER, BINLOG_ADMIN or REPLICATION_APPLIER";
                self.dynamic(P::SUPER, "REPLICATION_APPLIER", names)
            }
            Statement::Server(statement) => self.server_statement(statement),
            Statement::LockInstance | Statement::UnlockInstance => {
                self.dynamic(P::NONE, "BACKUP_ADMIN", "BACKUP_ADMIN")
            }
            Statement::ReloadTls => self.dynamic(P::NONE, "CONNECTION_ADMIN", "CONNECTION_ADMIN"),
            Statement::Shutdown | Statement::Restart => self.global(P::SHUTDOWN, "SHUTDOWN"),
            // MySQL checks these as changes of tables in `mysql`, which no account may change here.
            Statement::InstallPlugin { .. } => self.no_table("INSERT", "plugin"),
            Statement::InstallComponent(_) => self.no_table("INSERT", "component"),
            Statement::UninstallPlugin(_) => self.no_table("DELETE", "plugin"),
            Statement::UninstallComponent(_) => self.no_table("DELETE", "component"),
            _ => Ok(()),
        }
    }
}
