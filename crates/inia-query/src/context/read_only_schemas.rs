//! Databases that ALTER DATABASE … READ ONLY protects: what is stored there stays as it is. What
//! views and programs elsewhere change there is refused where their statements run.

use super::SessionContext;
use crate::referenced::{ReferencedObjects, named_tables};
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{AlterDatabase, DeleteTarget, ObjectName, Statement, Update};

impl SessionContext {
    /// Error 3989 where a statement changes something in a read-only database.
    #[inline]
    pub fn check_read_only_schemas(&self, statement: &Statement) -> Result<(), SqlError> {
        match self.db.catalog.has_read_only_schemas() {
            true => self.refuse_read_only_schemas(statement),
            false => Ok(()),
        }
    }

    #[cold]
    fn refuse_read_only_schemas(&self, statement: &Statement) -> Result<(), SqlError> {
        let own = self.env.database.as_deref();
        let catalog = self.db.catalog();
        let check = |schema: &str| match catalog.schema(schema) {
            Some(schema) if schema.def.read_only => {
                Err(SqlError::new(ErrorCode::SchemaReadOnly, &[&schema.def.name]))
            }
            _ => Ok(()),
        };
        match statement {
            Statement::DropDatabase { name, .. } => return check(name),
            Statement::AlterDatabase(AlterDatabase { name, options })
                if options.read_only.is_none() =>
            {
                return check(name.as_deref().or(own).unwrap_or_default());
            }
            _ => {}
        }
        changed(statement).into_iter().try_for_each(|name| {
            let schema = name.db.as_deref().or(own).unwrap_or_default();
            match self.temporary.get(schema, &name.name) {
                Some(_) => Ok(()),
                None => check(schema),
            }
        })
    }
}

/// The stored objects that a statement changes, by their names.
fn changed(statement: &Statement) -> Vec<&ObjectName> {
    match statement {
        Statement::Select(query) => {
            // FOR UPDATE counts as a change, as in MySQL; FOR SHARE does not.
            let mut reads = ReferencedObjects::default();
            reads.query(query);
            reads.locked
        }
        Statement::Insert(insert) => vec![&insert.table],
        Statement::LoadData(load) => vec![&load.table],
        Statement::Update(update) => updated(update),
        Statement::Delete(delete) => match &delete.target {
            DeleteTarget::Single(factor) => vec![&factor.name],
            DeleteTarget::Multi { targets, from } => {
                let factors = named_tables(from).into_iter();
                let is_target = |alias: &str| targets.iter().any(|it| same(&it.name, alias));
                let factors = factors.filter(|factor| {
                    is_target(factor.alias.as_deref().unwrap_or(&factor.name.name))
                });
                factors.map(|factor| &factor.name).collect()
            }
        },
        Statement::LockTables(locks) => {
            locks.iter().filter(|lock| lock.write).map(|lock| &lock.table).collect()
        }
        Statement::Truncate(name) => vec![name],
        Statement::CreateTable(create) if create.temporary => Vec::new(),
        Statement::CreateTable(create) => vec![&create.name],
        Statement::DropTable(drop) | Statement::DropView(drop) => drop.names.iter().collect(),
        Statement::AlterTable(alter) => vec![&alter.name],
        Statement::CreateIndex(create) => vec![&create.table],
        Statement::DropIndex(drop) => vec![&drop.table],
        Statement::RenameTable(pairs) => pairs.iter().flat_map(|(from, to)| [from, to]).collect(),
        Statement::CreateView(create) => vec![&create.name],
        Statement::Sequence(sequence) => sequence.names().iter().collect(),
        Statement::CreateRoutine(create) => vec![&create.name],
        Statement::AlterRoutine(alter) => vec![&alter.name],
        Statement::DropRoutine(drop) => vec![&drop.name],
        _ => Vec::new(),
    }
}

/// The tables that an UPDATE assigns to: of several those whose columns it names with their table,
/// all where it names one without.
fn updated(update: &Update) -> Vec<&ObjectName> {
    let factors = named_tables(&update.tables);
    let all = factors.len() < 2 || update.assignments.iter().any(|it| it.column.table.is_none());
    let assigned = |alias: &str| {
        let mut tables = update.assignments.iter().filter_map(|it| it.column.table.as_deref());
        tables.any(|table| same(table, alias))
    };
    let factors = factors.into_iter();
    let factors = factors
        .filter(|factor| all || assigned(factor.alias.as_deref().unwrap_or(&factor.name.name)));
    factors.map(|factor| &factor.name).collect()
}

fn same(left: &str, right: &str) -> bool {
    left.eq_ignore_ascii_case(right)
}
