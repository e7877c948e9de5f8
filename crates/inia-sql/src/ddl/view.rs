//! CREATE, ALTER and DROP VIEW.

mod show;

pub(crate) use show::show_create_view;

use super::create_select::column_def;
use super::schema::hold_schema;
use super::{DdlResult, FullName, columns, full_name, in_transaction, lock, unix_seconds};
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{self, SelectItem, TableRef};
use inia_parser::{unparse_query, unparse_query_explicit};
use inia_query::catalog::AccountName;
use inia_query::catalog::view::parse;
use inia_query::catalog::{Change, ColumnDef, ViewAlgorithm, ViewCheck, ViewDef, same_name};
use inia_query::context::SessionContext;
use inia_query::context::StatementOutcome;
use inia_query::plan::StatementPlan;
use inia_query::planner::plan_source;
use inia_query::referenced::ReferencedObjects;
use inia_query::view::{Resolver, has_outer_join, list_reads_itself, reads_itself, simple_select};

fn error<T>(code: ErrorCode, args: &[&dyn std::fmt::Display]) -> Result<T, SqlError> {
    Err(SqlError::new(code, args))
}

const MAX_COLUMNS: usize = 4096;

/// CREATE VIEW and ALTER VIEW.
pub(crate) fn create_view(session: &mut SessionContext, create: &ast::CreateView) -> DdlResult {
    let name = full_name(session, &create.name)?;
    hold_schema(session, &name.0)?;
    let _lock = lock(session, std::slice::from_ref(&name))?;
    check_taken(session, &name, create)?;
    let clauses = clauses(session, &name, create)?;
    if create.query.into.is_some() {
        return error(ErrorCode::ViewSelectClause, &[&"INTO"]);
    }
    if let ast::QueryBody::Select(select) = &create.query.body
        && select.items.len() > MAX_COLUMNS
    {
        return error(ErrorCode::TooManyFields, &[]);
    }
    // The stored text has all names resolved: it does not depend on the current database.
    let mut query = ast::Query::clone(&create.query);
    let catalog = session.catalog_view();
    let mut resolver = Resolver::new(&catalog, session.env.database.as_deref());
    resolver.unique = create.columns.is_empty();
    resolver.query(&mut query, true);
    if resolver.variable {
        return error(ErrorCode::ViewSelectVariable, &[]);
    }
    // ALTER and OR REPLACE could make a cycle of views, whose expansion would not end.
    refuse_recursion(session, &name, &create.query)?;
    let merges = clauses.algorithm == ViewAlgorithm::Merge;
    let def = in_transaction(session, |session, changes| {
        // The query is planned as it was written, so that errors show the user's names.
        let written = plan_source(session, &create.query)?;
        if written.root.columns.len() > MAX_COLUMNS {
            return error(ErrorCode::TooManyFields, &[]);
        }
        refuse_temporary(&written)?;
        let mut def = define(session, &name, create, &clauses, &query, &written)?;
        // A view that takes another's place keeps its time.
        if let Some(replaced) = session.db.catalog().view(&name.0, &name.1) {
            def.created = replaced.def.created;
        }
        changes.push(Change::PutView(Box::new(def.clone())));
        Ok(def)
    })?;
    note_definer(session, &def);
    if merges && def.algorithm != ViewAlgorithm::Merge {
        session.warn(ErrorCode::WarnViewMerge, &[]);
    }
    Ok(StatementOutcome::default())
}

/// Errors 1050, 1146 and 1347.
fn check_taken(
    session: &SessionContext,
    name: &FullName,
    create: &ast::CreateView,
) -> Result<(), SqlError> {
    let catalog = session.db.catalog();
    let view = catalog.view(&name.0, &name.1).is_some();
    let table =
        catalog.table(&name.0, &name.1).is_some() || catalog.sequence(&name.0, &name.1).is_some();
    let replaces = create.alter || create.or_replace;
    match (view, table) {
        (_, true) if replaces => error(ErrorCode::WrongObject, &[&name.0, &name.1, &"VIEW"]),
        (false, false) if create.alter => error(ErrorCode::NoSuchTable, &[&name.0, &name.1]),
        (true, _) | (_, true) if !replaces => error(ErrorCode::TableExists, &[&name.1]),
        _ => Ok(()),
    }
}

/// What stands before the word VIEW.
struct Clauses {
    algorithm: ViewAlgorithm,
    definer: AccountName,
    invoker: bool,
}

/// The clauses of a statement. ALTER VIEW keeps those of the view that it does not write, and the
/// view's algorithm where it writes UNDEFINED.
fn clauses(
    session: &SessionContext,
    name: &FullName,
    create: &ast::CreateView,
) -> Result<Clauses, SqlError> {
    let catalog = session.db.catalog();
    let altered = catalog.view(&name.0, &name.1).filter(|_| create.alter);
    let altered = altered.as_ref().map(|view| &view.def);
    let kept = altered.map_or(ViewAlgorithm::Undefined, |view| view.algorithm);
    let algorithm = match create.algorithm.as_deref() {
        Some("TEMPTABLE") => ViewAlgorithm::TempTable,
        Some("MERGE") => ViewAlgorithm::Merge,
        _ => kept,
    };
    let invoker = create.security_invoker.or(altered.map(|view| view.invoker)).unwrap_or(false);
    let definer = definer(session, create, altered.map(|view| &view.definer))?;
    Ok(Clauses { algorithm, definer, invoker })
}

/// The view's definer, `kept` without DEFINER; error 1227 where the session may not name another
/// account.
fn definer(
    session: &SessionContext,
    create: &ast::CreateView,
    kept: Option<&AccountName>,
) -> Result<AccountName, SqlError> {
    let access = session.access();
    let named = match &create.definer {
        None if let Some(kept) = kept => kept.clone(),
        None | Some(ast::Account::Current) => return Ok(access.account.clone()),
        Some(ast::Account::Name { user, host }) => {
            AccountName::new(user, host.as_deref().unwrap_or("%"))
        }
    };
    if named != access.account && !access.has_dynamic("SET_USER_ID") {
        return error(ErrorCode::SpecificAccessDenied, &[&"SUPER or SET_USER_ID"]);
    }
    if let Some(def) = session.db.accounts.current().get(&named)
        && named != access.account
    {
        session.as_actor(|actor| actor.protect(def))?;
    }
    Ok(named)
}

fn note_definer(session: &mut SessionContext, def: &ViewDef) {
    if session.db.accounts.current().get(&def.definer).is_none() {
        let AccountName { user, host } = &def.definer;
        session.note(ErrorCode::NoSuchUser, &[user, host]);
    }
}

/// Error 1146: the view would read itself, perhaps through others.
fn refuse_recursion(
    session: &SessionContext,
    name: &FullName,
    query: &ast::Query,
) -> Result<(), SqlError> {
    let catalog = session.db.catalog().current();
    let mut reads = ReferencedObjects::default();
    reads.query(query);
    let database = session.env.database.clone().unwrap_or_default();
    let full = |name: &ast::ObjectName| {
        (name.db.clone().unwrap_or_else(|| database.clone()), name.name.clone())
    };
    let mut waiting: Vec<FullName> = reads.tables.iter().map(|name| full(name)).collect();
    let mut seen: Vec<FullName> = Vec::new();
    while let Some(read) = waiting.pop() {
        if read == *name {
            return error(ErrorCode::NoSuchTable, &[&name.0, &name.1]);
        }
        if seen.contains(&read) {
            continue;
        }
        let view = catalog.schemas.get(&read.0).and_then(|schema| schema.views.get(&read.1));
        if let Some(query) = view.and_then(|view| view.query.as_ref()) {
            let mut reads = ReferencedObjects::default();
            reads.query(query);
            waiting.extend(reads.tables.iter().map(|name| full(name)));
        }
        seen.push(read);
    }
    Ok(())
}

/// Error 1352.
fn refuse_temporary(plan: &StatementPlan) -> Result<(), SqlError> {
    match plan.tables.iter().find(|table| table.def.temporary) {
        Some(table) => error(ErrorCode::ViewSelectTmptable, &[&table.def.name]),
        None => Ok(()),
    }
}

/// The definition of a view whose query is valid.
fn define(
    session: &SessionContext,
    name: &FullName,
    create: &ast::CreateView,
    clauses: &Clauses,
    query: &ast::Query,
    written: &StatementPlan,
) -> Result<ViewDef, SqlError> {
    if !create.columns.is_empty() && create.columns.len() != written.root.columns.len() {
        return error(ErrorCode::ViewWrongList, &[]);
    }
    let not_printable = || {
        let what = "this kind of query in a view";
        SqlError::new(ErrorCode::NotSupportedYet, &[&what])
    };
    let text = unparse_query(query, false).ok_or_else(not_printable)?;
    let parsed = parse(&text).ok_or_else(not_printable)?;
    let explicit = unparse_query_explicit(query).and_then(|explicit| parse(&explicit));
    let explicit = explicit.ok_or_else(not_printable)?;
    // A text that reads back as another tree would give the view another meaning.
    if unparse_query_explicit(&parsed) != unparse_query_explicit(&explicit) {
        let what = "a view's query does not read back as it was written";
        return error(ErrorCode::InternalError, &[&what]);
    }
    // The columns are described from the stored text, which is what later uses of the view read.
    let resolved = plan_source(session, &parsed)?;
    let mut columns: Vec<ColumnDef> = Vec::with_capacity(resolved.root.columns.len());
    for (at, column) in resolved.root.columns.iter().enumerate() {
        let mut def = column_def(session, column, true);
        if let Some(name) = create.columns.get(at) {
            def.name.clone_from(name);
        }
        if columns.iter().any(|other| same_name(&other.name, &def.name)) {
            return error(ErrorCode::DupFieldname, &[&def.name]);
        }
        columns::check_column_name(&def.name)?;
        columns.push(def);
    }
    let check = match create.check_option {
        None => ViewCheck::None,
        Some(ast::CheckOption::Local) => ViewCheck::Local,
        Some(ast::CheckOption::Cascaded) => ViewCheck::Cascaded,
    };
    let mergeable = simple_select(&parsed).is_some();
    // MERGE of a query that cannot be merged is stored as UNDEFINED, with the caller's warning.
    let algorithm = match clauses.algorithm {
        ViewAlgorithm::Merge if !mergeable => ViewAlgorithm::Undefined,
        algorithm => algorithm,
    };
    let updatable = algorithm != ViewAlgorithm::TempTable && is_updatable(session, &parsed);
    if check != ViewCheck::None && !updatable {
        return error(ErrorCode::ViewNonupdCheck, &[&name.0, &name.1]);
    }
    Ok(ViewDef {
        schema: name.0.clone(),
        name: name.1.clone(),
        columns,
        named: !create.columns.is_empty(),
        query: text,
        algorithm,
        definer: clauses.definer.clone(),
        invoker: clauses.invoker,
        check,
        updatable,
        charset_client: session.var("character_set_client").unwrap_or_default(),
        collation_connection: session.var("collation_connection").unwrap_or_default(),
        created: unix_seconds(),
    })
}

/// The columns of a view as its tables define them now. Errors of its query.
pub(crate) fn view_columns(
    session: &SessionContext,
    def: &ViewDef,
) -> Result<Vec<ColumnDef>, SqlError> {
    let Some(query) = parse(&def.query) else { return Ok(def.columns.clone()) };
    let resolved = plan_source(session, &query)?;
    let columns = resolved.root.columns.iter().zip(&def.columns).map(|(column, made)| ColumnDef {
        name: made.name.clone(),
        ..column_def(session, column, true)
    });
    Ok(columns.collect())
}

/// Whether rows can be changed through a view with this query.
fn is_updatable(session: &SessionContext, query: &ast::Query) -> bool {
    let Some(select) = simple_select(query) else { return false };
    let column =
        |item: &SelectItem| matches!(item, SelectItem::Expr { expr: ast::Expr::Column(_), .. });
    fn any_target(session: &SessionContext, table: &TableRef) -> bool {
        let catalog = session.db.catalog();
        match table {
            TableRef::Table(factor) => {
                let schema = factor.name.db.as_deref().unwrap_or_default();
                let view = catalog.view(schema, &factor.name.name);
                view.map_or(catalog.table(schema, &factor.name.name).is_some(), |view| {
                    view.def.updatable
                })
            }
            TableRef::Join(join) => {
                any_target(session, &join.left) || any_target(session, &join.right)
            }
            TableRef::List(list) => list.iter().any(|table| any_target(session, table)),
            TableRef::Derived(_) | TableRef::JsonTable(_) => false,
        }
    }
    select.items.iter().any(column)
        && !has_outer_join(&select.from)
        && select.from.iter().any(|table| any_target(session, table))
        && !(matches!(select.from.as_slice(), [TableRef::Table(_)])
            && (reads_itself(session, select) || list_reads_itself(session, select, false)))
}

/// DROP VIEW: all of them or none.
pub(crate) fn drop_views(session: &mut SessionContext, drop: &ast::DropTables) -> DdlResult {
    let mut names: Vec<FullName> = Vec::new();
    for name in &drop.names {
        let name = full_name(session, name)?;
        if names.contains(&name) {
            return error(ErrorCode::NonUniqueTable, &[&name.1]);
        }
        names.push(name);
    }
    let _lock = lock(session, &names)?;
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for (schema, name) in &names {
        let catalog = session.db.catalog();
        if catalog.view(schema, name).is_some() {
            found.push((schema.clone(), name.clone()));
        } else if catalog.table(schema, name).is_some() {
            return error(ErrorCode::WrongObject, &[schema, name, &"VIEW"]);
        } else {
            missing.push(format!("{schema}.{name}"));
        }
    }
    if !missing.is_empty() {
        if !drop.if_exists {
            return error(ErrorCode::UnknownTable, &[&missing.join(",")]);
        }
        missing.iter().for_each(|name| session.note(ErrorCode::UnknownTable, &[name]));
    }
    if found.is_empty() {
        return Ok(StatementOutcome::default());
    }
    in_transaction(session, |_, changes| {
        let gone = found.into_iter().map(|(schema, name)| Change::DropView { schema, name });
        changes.extend(gone);
        Ok(StatementOutcome::default())
    })
}
