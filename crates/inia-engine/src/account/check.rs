//! Which privileges a statement needs.
//!
//! Account statements, SET and SHOW check for themselves what they need: that depends on more than
//! the statement's form.

use super::access::Access;
use super::def::AccountName;
use super::privilege::Privileges;
use crate::reads::Reads;
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::*;

type Result<T> = std::result::Result<T, SqlError>;

/// Checks one statement of a session.
pub(crate) fn check(
    statement: &Statement,
    access: &Access,
    database: Option<&str>,
    temporary: &dyn Fn(&str, &str) -> bool,
) -> Result<()> {
    let checker = Checker { access, database, temporary };
    checker.no_computed_target(statement)?;
    if access.is_root() {
        return Ok(());
    }
    checker.statement(statement)
}

struct Checker<'c> {
    access: &'c Access,
    database: Option<&'c str>,
    /// Whether the session has a temporary table of that name, which is all its own.
    temporary: &'c dyn Fn(&str, &str) -> bool,
}

fn error<T>(code: ErrorCode, args: &[&dyn std::fmt::Display]) -> Result<T> {
    Err(SqlError::new(code, args))
}

/// Whether the server computes all tables of that database.
fn is_computed(schema: &str) -> bool {
    ["information_schema", "performance_schema", "mysql"]
        .iter()
        .any(|name| name.eq_ignore_ascii_case(schema))
}

impl Checker<'_> {
    fn schema_of<'n>(&'n self, name: &'n ObjectName) -> &'n str {
        name.db.as_deref().or(self.database).unwrap_or_default()
    }

    /// Nobody changes tables that the server computes.
    fn no_computed_target(&self, statement: &Statement) -> Result<()> {
        let name = |name: &ObjectName, command: &'static str| {
            let schema = self.schema_of(name);
            if !is_computed(schema) {
                return Ok(());
            }
            if schema.eq_ignore_ascii_case("information_schema") {
                return self.no_database(schema);
            }
            self.no_table(command, &name.name)
        };
        match statement {
            Statement::Select(_) => Ok(()),
            Statement::Insert(insert) => name(&insert.table, "INSERT"),
            Statement::Update(update) => {
                let tables: Vec<_> = targets(&update.tables);
                tables.iter().try_for_each(|factor| match update.tables.len() {
                    1 if tables.len() == 1 => name(&factor.name, "UPDATE"),
                    _ => Ok(()),
                })
            }
            Statement::Delete(delete) => match &delete.target {
                DeleteTarget::Single(factor) => name(&factor.name, "DELETE"),
                DeleteTarget::Multi { .. } => Ok(()),
            },
            Statement::LoadData(load) => name(&load.table, "INSERT"),
            Statement::Truncate(table) => name(table, "DROP"),
            Statement::CreateTable(create) => name(&create.name, "CREATE"),
            Statement::CreateView(create) => name(&create.name, "CREATE VIEW"),
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
        let AccountName { user, host } = &self.access.account;
        error(ErrorCode::DbAccessDenied, &[user, host, &schema])
    }

    fn no_table<T>(&self, command: &str, table: &str) -> Result<T> {
        let AccountName { user, host } = &self.access.account;
        error(ErrorCode::TableAccessDenied, &[&command, user, host, &table])
    }

    /// Privileges on a database; error 1044.
    fn database(&self, schema: Option<&str>, wanted: Privileges) -> Result<()> {
        let Some(schema) = schema.or(self.database) else { return Ok(()) };
        if self.access.on_database(schema).has(wanted) {
            return Ok(());
        }
        self.no_database(schema)
    }

    /// Privileges on a table; error 1142 names the first that is missing.
    fn table(&self, name: &ObjectName, wanted: Privileges) -> Result<()> {
        let schema = self.schema_of(name);
        if schema.is_empty() || (self.temporary)(schema, &name.name) {
            return Ok(());
        }
        let held = self.access.on_table(schema, &name.name);
        match (wanted & !held).members().next() {
            None => Ok(()),
            Some(missing) => self.no_table(missing.name, &name.name),
        }
    }

    /// Error 1227.
    fn global(&self, wanted: Privileges, names: &str) -> Result<()> {
        if self.access.global.has_any(wanted) {
            return Ok(());
        }
        error(ErrorCode::SpecificAccessDenied, &[&names])
    }

    fn dynamic(&self, wanted: Privileges, dynamic: &str, names: &str) -> Result<()> {
        if self.access.has_dynamic(dynamic) {
            return Ok(());
        }
        self.global(wanted, names)
    }

    /// SELECT on all tables that were found.
    fn reads(&self, reads: &Reads<'_>) -> Result<()> {
        reads.tables.iter().try_for_each(|table| self.table(table, Privileges::SELECT))
    }

    fn query(&self, query: &Query) -> Result<()> {
        if matches!(query.into, Some(SelectInto::Outfile { .. } | SelectInto::Dumpfile(_))) {
            self.file()?;
        }
        let mut reads = Reads::default();
        reads.query(query);
        self.reads(&reads)
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
            Statement::Do(exprs) => {
                let mut reads = Reads::default();
                reads.exprs(exprs);
                self.reads(&reads)
            }
            Statement::Set(items) => {
                let mut reads = Reads::default();
                reads.exprs(items.iter().filter_map(|item| match item {
                    SetItem::UserVar { value, .. } => Some(value),
                    SetItem::SysVar { value, .. } => value.as_ref(),
                    _ => None,
                }));
                self.reads(&reads)
            }
            Statement::Explain(explain) => match &explain.target {
                ExplainTarget::Statement(statement) => self.statement(statement),
                ExplainTarget::Connection(_) => Ok(()),
            },
            Statement::Describe(describe) => self.sees(&describe.table),
            Statement::Use(name) => match self.access.sees_database(name) {
                true => Ok(()),
                false => self.no_database(name),
            },
            Statement::LoadData(load) => {
                if !load.local {
                    self.file()?;
                }
                let wanted = match load.on_duplicate {
                    LoadDuplicate::Replace => Privileges::INSERT | Privileges::DELETE,
                    LoadDuplicate::Default | LoadDuplicate::Ignore => Privileges::INSERT,
                };
                self.table(&load.table, wanted)
            }
            Statement::Handler(handler) => self.table(&handler.table, Privileges::SELECT),
            Statement::LockTables(locks) => locks.iter().try_for_each(|lock| {
                self.database(lock.table.db.as_deref(), Privileges::LOCK_TABLES)?;
                self.table(&lock.table, Privileges::SELECT)
            }),
            Statement::Call(call) => self.execute(&call.name),
            _ => self.definition(statement),
        }
    }

    /// What SHOW COLUMNS and its kin need: any privilege on the table.
    fn sees(&self, name: &ObjectName) -> Result<()> {
        let schema = self.schema_of(name);
        if schema.is_empty() || self.access.sees_table(schema, &name.name) {
            return Ok(());
        }
        self.no_table("SELECT", &name.name)
    }

    fn execute(&self, name: &ObjectName) -> Result<()> {
        if self.access.on_database(self.schema_of(name)).has(Privileges::EXECUTE) {
            return Ok(());
        }
        let AccountName { user, host } = &self.access.account;
        let routine = format!("{}.{}", self.schema_of(name), name.name);
        error(ErrorCode::ProcAccessDenied, &[&"execute", user, host, &routine])
    }

    fn insert(&self, insert: &Insert) -> Result<()> {
        let mut wanted = Privileges::INSERT;
        if insert.replace {
            wanted |= Privileges::DELETE;
        }
        if !insert.on_duplicate.is_empty() {
            wanted |= Privileges::UPDATE;
        }
        self.table(&insert.table, wanted)?;
        let mut reads = Reads::default();
        match &insert.source {
            InsertSource::Values(rows) => reads.exprs(rows.iter().flatten()),
            InsertSource::Query(query) => reads.query(query),
        }
        reads.exprs(insert.on_duplicate.iter().map(|assignment| &assignment.value));
        self.reads(&reads)
    }

    fn update(&self, update: &Update) -> Result<()> {
        let mut reads = Reads::default();
        reads.with(update.with.as_ref());
        let tables = targets(&update.tables);
        for factor in &tables {
            if assigns(update, factor, tables.len()) {
                self.table(&factor.name, Privileges::UPDATE)?;
            }
        }
        if tables.len() > 1 {
            update.tables.iter().for_each(|table| reads.table_ref(table));
        }
        reads.exprs(&update.where_);
        reads.exprs(update.assignments.iter().map(|assignment| &assignment.value));
        reads.exprs(update.order_by.iter().map(|item| &item.expr));
        if let [factor] = tables[..] {
            self.columns_of(factor, &reads)?;
        }
        self.reads(&reads)
    }

    /// Reading columns of a table that is only written: error 1143.
    fn columns_of(&self, factor: &TableFactor, reads: &Reads<'_>) -> Result<()> {
        let Some(column) = reads.columns.first() else { return Ok(()) };
        let table = &factor.name;
        if self.access.on_table(self.schema_of(table), &table.name).has(Privileges::SELECT) {
            return Ok(());
        }
        let AccountName { user, host } = &self.access.account;
        let args: [&dyn std::fmt::Display; 5] = [&"SELECT", user, host, &column.name, &table.name];
        error(ErrorCode::ColumnAccessDenied, &args)
    }

    fn delete(&self, delete: &Delete) -> Result<()> {
        let mut reads = Reads::default();
        reads.with(delete.with.as_ref());
        reads.exprs(&delete.where_);
        reads.exprs(delete.order_by.iter().map(|item| &item.expr));
        match &delete.target {
            DeleteTarget::Single(factor) => {
                self.table(&factor.name, Privileges::DELETE)?;
                self.columns_of(factor, &reads)?;
            }
            DeleteTarget::Multi { targets: names, from } => {
                let members = targets(from);
                for target in names {
                    let named = members.iter().find(|factor| {
                        factor.alias.as_ref().unwrap_or(&factor.name.name) == &target.name
                    });
                    let table = named.map_or(target, |factor| &factor.name);
                    self.table(table, Privileges::DELETE)?;
                }
                from.iter().for_each(|table| reads.table_ref(table));
            }
        }
        self.reads(&reads)
    }

    fn definition(&self, statement: &Statement) -> Result<()> {
        use Privileges as P;
        match statement {
            Statement::Truncate(table) => self.table(table, P::DROP),
            Statement::CreateDatabase(create) => self.database(Some(&create.name), P::CREATE),
            Statement::AlterDatabase(alter) => self.database(alter.name.as_deref(), P::ALTER),
            Statement::DropDatabase { name, .. } => self.database(Some(name), P::DROP),
            Statement::CreateTable(create) => self.create_table(create),
            Statement::AlterTable(alter) => self.alter_table(alter),
            Statement::DropTable(drop) if drop.temporary => Ok(()),
            Statement::DropTable(drop) | Statement::DropView(drop) => {
                drop.names.iter().try_for_each(|name| self.table(name, P::DROP))
            }
            Statement::RenameTable(pairs) => pairs.iter().try_for_each(|(from, to)| {
                self.table(from, P::ALTER | P::DROP)?;
                self.table(to, P::CREATE | P::INSERT)
            }),
            Statement::CreateIndex(create) => self.table(&create.table, P::INDEX),
            Statement::DropIndex(drop) => self.table(&drop.table, P::INDEX),
            Statement::CreateView(create) => {
                self.table(&create.name, P::CREATE_VIEW)?;
                if create.or_replace || create.alter {
                    self.table(&create.name, P::DROP)?;
                }
                self.query(&create.query)
            }
            Statement::CreateRoutine(create) => {
                self.database(create.name.db.as_deref(), P::CREATE_ROUTINE)
            }
            Statement::AlterRoutine(_) | Statement::DropRoutine(_) => {
                self.database(None, P::ALTER_ROUTINE)
            }
            Statement::TableMaintenance(work) => {
                let wanted = match work.kind {
                    MaintenanceKind::Check | MaintenanceKind::Checksum => P::SELECT,
                    _ => P::SELECT | P::INSERT,
                };
                work.tables.iter().try_for_each(|table| self.table(table, wanted))
            }
            _ => self.administration(statement),
        }
    }

    fn create_table(&self, create: &CreateTable) -> Result<()> {
        if create.temporary {
            let schema = create.name.db.as_deref();
            self.database(schema, Privileges::CREATE_TEMPORARY_TABLES)?;
        } else {
            self.table(&create.name, Privileges::CREATE)?;
        }
        if let Some(like) = &create.like {
            self.table(like, Privileges::SELECT)?;
        }
        for element in &create.elements {
            if let TableElement::ForeignKey(key) = element {
                self.table(&key.references.table, Privileges::REFERENCES)?;
            }
        }
        let Some(select) = &create.select else { return Ok(()) };
        if !create.temporary {
            self.table(&create.name, Privileges::INSERT)?;
        }
        self.query(&select.query)
    }

    fn alter_table(&self, alter: &AlterTable) -> Result<()> {
        let mut wanted = Privileges::ALTER;
        for action in &alter.actions {
            match action {
                AlterAction::RenameTo(to) => {
                    wanted |= Privileges::DROP;
                    self.table(to, Privileges::CREATE | Privileges::INSERT)?;
                }
                AlterAction::AddForeignKey(key) => {
                    self.table(&key.references.table, Privileges::REFERENCES)?;
                }
                _ => {}
            }
        }
        self.table(&alter.name, wanted)
    }

    fn administration(&self, statement: &Statement) -> Result<()> {
        use Privileges as P;
        match statement {
            Statement::Flush(flush) => flush.targets.iter().try_for_each(|target| match target {
                FlushTarget::Tables { .. } => {
                    self.dynamic(P::RELOAD, "FLUSH_TABLES", "RELOAD or FLUSH_TABLES")
                }
                FlushTarget::Status => {
                    self.dynamic(P::RELOAD, "FLUSH_STATUS", "RELOAD or FLUSH_STATUS")
                }
                FlushTarget::UserResources => {
                    let names = "RELOAD or FLUSH_USER_RESOURCES";
                    self.dynamic(P::RELOAD, "FLUSH_USER_RESOURCES", names)
                }
                _ => self.global(P::RELOAD, "RELOAD"),
            }),
            Statement::Reset(_) => self.global(P::RELOAD, "RELOAD"),
            Statement::ResetPersist { .. } => {
                self.dynamic(P::SUPER, "SYSTEM_VARIABLES_ADMIN", "SUPER or SYSTEM_VARIABLES_ADMIN")
            }
            Statement::PurgeLogs(_) | Statement::Binlog(_) => {
                self.dynamic(P::SUPER, "BINLOG_ADMIN", "SUPER or BINLOG_ADMIN")
            }
            Statement::LockInstance | Statement::UnlockInstance => {
                self.dynamic(P::NONE, "BACKUP_ADMIN", "BACKUP_ADMIN")
            }
            Statement::Shutdown | Statement::Restart => self.global(P::SHUTDOWN, "SHUTDOWN"),
            Statement::InstallPlugin { .. } | Statement::InstallComponent(_) => {
                self.no_table("INSERT", "plugin")
            }
            Statement::UninstallPlugin(_) | Statement::UninstallComponent(_) => {
                self.no_table("DELETE", "plugin")
            }
            _ => Ok(()),
        }
    }
}

/// The named tables of FROM, joins included.
fn targets(tables: &[TableRef]) -> Vec<&TableFactor> {
    let mut found = Vec::new();
    let mut waiting: Vec<&TableRef> = tables.iter().rev().collect();
    while let Some(table) = waiting.pop() {
        match table {
            TableRef::Table(factor) => found.push(factor.as_ref()),
            TableRef::Join(join) => waiting.extend([&join.right, &join.left]),
            TableRef::List(list) => waiting.extend(list.iter().rev()),
            TableRef::Derived(_) | TableRef::JsonTable(_) => {}
        }
    }
    found
}

/// Whether an UPDATE of `tables` tables may assign to this one.
fn assigns(update: &Update, factor: &TableFactor, tables: usize) -> bool {
    let alias = factor.alias.as_ref().unwrap_or(&factor.name.name);
    tables == 1
        || update
            .assignments
            .iter()
            .any(|assignment| assignment.column.table.as_ref().is_none_or(|table| table == alias))
}
