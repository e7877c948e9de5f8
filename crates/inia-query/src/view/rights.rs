//! What views may do: the privileges of whom they act for.

use crate::account::{Access, AccountName, Privileges};
use crate::context::SessionContext;
use crate::plan::ViewUse;
use crate::referenced::ReferencedObjects;
use crate::view::Resolver;
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::ObjectName;

impl SessionContext {
    /// Errors 1356, and 1449 or 1045, where whom a view acts for is gone, or may not do this to
    /// the view's tables.
    pub fn check_view_rights(&self, views: &[ViewUse]) -> Result<(), SqlError> {
        let version = self.db.accounts.version();
        for used in views {
            let access = match &used.acts_for {
                None => self.access(),
                Some(_) if used.suffices(version) => continue,
                Some(name) => match self.db.accounts.access_of(name) {
                    Some(access) => access,
                    None => return Err(self.no_definer(name)),
                },
            };
            let mut reads = ReferencedObjects::default();
            if !access.is_root() {
                used.view.query.iter().for_each(|query| reads.query(query));
            }
            let lacks = |name: &&&ObjectName| {
                let schema = name.db.as_deref().unwrap_or_default();
                !access.on_table(schema, &name.name).has(used.wanted(name))
            };
            let may = |name: &&ObjectName| {
                used.wanted(name) == Privileges::SELECT && self.reads_columns(&access, used, name)
            };
            if !reads.tables.iter().filter(lacks).all(may) {
                let def = &used.view.def;
                return Err(SqlError::new(ErrorCode::ViewInvalid, &[&def.schema, &def.name]));
            }
            used.note(version);
        }
        Ok(())
    }

    /// Whether SELECT is held on all columns that the view names of a table, and on one at least.
    fn reads_columns(&self, access: &Access, used: &ViewUse, table: &ObjectName) -> bool {
        let schema = table.db.as_deref().unwrap_or_default();
        let Some(query) = &used.view.query else { return false };
        if !access.on_some_column(schema, &table.name).has(Privileges::SELECT) {
            return false;
        }
        let catalog = self.catalog_view();
        let mut resolver = Resolver::new(&catalog, None);
        resolver.query(&mut query.clone(), false);
        let named = resolver.used();
        let mut own = named.iter().filter(|one| one.schema == schema && one.table == table.name);
        own.all(|one| access.on_column(schema, &one.table, &one.column).has(Privileges::SELECT))
    }

    /// Only an account with SUPER sees which account is missing.
    fn no_definer(&self, definer: &AccountName) -> SqlError {
        if self.access().global.has(Privileges::SUPER) {
            return SqlError::new(ErrorCode::NoSuchUser, &[&definer.user, &definer.host]);
        }
        self.access().denied()
    }

    /// Error 1345: who asks how views are read must be allowed to look into them.
    pub fn check_explains(&self, views: &[ViewUse]) -> Result<(), SqlError> {
        let access = self.access();
        if access.is_root() {
            return Ok(());
        }
        for used in views {
            let def = &used.view.def;
            let mut reads = ReferencedObjects::default();
            used.view.query.iter().for_each(|query| reads.query(query));
            let reads_it = |name: &&ObjectName| {
                let schema = name.db.as_deref().unwrap_or_default();
                access.on_table(schema, &name.name).has(Privileges::SELECT)
            };
            if !access.on_table(&def.schema, &def.name).has(Privileges::SHOW_VIEW)
                || !reads.tables.iter().all(reads_it)
            {
                return Err(SqlError::new(ErrorCode::ViewNoExplain, &[]));
            }
        }
        Ok(())
    }
}
