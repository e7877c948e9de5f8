//! Statements about accounts, connections and the server.

mod checksum;
mod partition_care;

use super::unsupported::unsupported;
use super::{Session, histograms, run, server, show};
use crate::authorize::{Surroundings, check};
use crate::check::problems_of;
use crate::ddl;
use crate::files::outfile;
use inia_base::collation::Collation;
use inia_base::column::{ResultColumn, RowSink};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::process::{KillTarget, ProcessEntry};
use inia_base::value::Value;
use inia_expr::{ExprType, Level, SessionHost, UserVar, VarScope};
use inia_parser::ast::{
    self, FlushTarget, MaintenanceKind, SelectInto, ShowFilter, ShowKind, Statement,
};
use inia_query::account::changes_accounts;
use inia_query::account::random_password::{self, MadePassword};
use inia_query::account::user::{self, Notes};
use inia_query::account::{Access, AccountName, Privileges, SYSTEM_USER, grant};
use inia_query::catalog::{CatalogVersion, MERGED, ProgramKind, Table};
use inia_query::context::SessionContext;
use inia_query::context::StatementOutcome;
use inia_query::context::table_locks;
use inia_query::error::StorageResult;
use inia_query::exec::Runner;
use inia_query::information_schema::search;
use inia_query::planner::plan_query;
use inia_query::referenced::ReferencedObjects;
use std::sync::Arc;
use std::time::SystemTime;

/// Characters of a random password where the variable is not known.
const DEFAULT_RANDOM_LENGTH: usize = 20;

type Done = Result<StatementOutcome, SqlError>;

fn error<T>(code: ErrorCode, args: &[&dyn std::fmt::Display]) -> Result<T, SqlError> {
    Err(SqlError::new(code, args))
}

/// Checks that the session may carry out a statement.
pub(super) fn authorize(session: &SessionContext, statement: &Statement) -> Result<(), SqlError> {
    if session.client.expired {
        check_expired(session, statement)?;
    }
    session.check_branch(statement)?;
    session.check_read_only(statement)?;
    session.check_read_only_schemas(statement)?;
    authorize_later(session, statement)
}

/// The same for a statement that is only prepared.
pub(super) fn authorize_later(
    session: &SessionContext,
    statement: &Statement,
) -> Result<(), SqlError> {
    check(statement, &session.access(), session)?;
    session.check_locked(statement)
}

/// Error 1820: an expired password allows only statements that change it.
fn check_expired(session: &SessionContext, statement: &Statement) -> Result<(), SqlError> {
    let own = |account: &ast::Account| {
        session.as_actor(|actor| actor.name(account) == actor.access.account)
    };
    let changes = match statement {
        Statement::AlterUser(alter) => alter.default_roles.is_none(),
        Statement::SetPassword(set) => set.account.as_ref().is_none_or(own),
        _ => false,
    };
    if changes { Ok(()) } else { error(ErrorCode::MustChangePassword, &[]) }
}

/// Notes that the session changed its own password, or let it expire. Changes by other sessions
/// count at the next login.
fn look_at_password(session: &mut SessionContext, statement: &Statement) {
    let own = |account: &ast::Account| {
        session.as_actor(|actor| actor.name(account) == actor.access.account)
    };
    let touched = match statement {
        Statement::SetPassword(set) => set.account.as_ref().is_none_or(own),
        Statement::AlterUser(alter) => {
            let expires = alter.options.expire == Some(ast::PasswordExpire::Now);
            let users = &mut alter.users.iter();
            users.any(|spec| (expires || spec.auth.is_some()) && own(&spec.account))
        }
        _ => false,
    };
    if !touched {
        return;
    }
    let name = AccountName::new(&session.client.account_user, &session.client.account_host);
    let accounts = session.db.accounts.current();
    session.client.expired = accounts.get(&name).is_some_and(|def| def.expired);
}

/// Counts a statement against the account's limits; error 1226.
#[inline]
pub(super) fn spend(session: &SessionContext, statement: &Statement) -> Result<(), SqlError> {
    match &session.meter {
        Some(meter) => meter.statement(statement, SystemTime::now()),
        None => Ok(()),
    }
}

impl Surroundings for SessionContext {
    fn database(&self) -> Option<&str> {
        self.env.database.as_deref()
    }

    fn is_temporary(&self, schema: &str, name: &str) -> bool {
        self.temporary.get(schema, name).is_some()
    }

    fn catalog(&self) -> Arc<CatalogVersion> {
        self.catalog_view()
    }
}

/// Carries out an administrative statement.
pub(super) fn execute(
    session: &mut SessionContext,
    statement: &Statement,
    params: &[Value],
    sink: &mut dyn RowSink,
) -> Done {
    let random = with_random_passwords(session, statement)?;
    if let Some((filled, made)) = random {
        let done = account(session, &filled);
        return done.unwrap_or_else(|| Ok(StatementOutcome::default())).and_then(|_| {
            let rows: Vec<_> = made.into_iter().map(shown_password).collect();
            show::send_columns(sink, &password_columns(), &rows)
        });
    }
    if let Some(done) = account(session, statement) {
        return done;
    }
    match statement {
        Statement::Describe(describe) => {
            let kind =
                ShowKind::Columns { full: false, extended: false, table: describe.table.clone() };
            let filter = describe.column.clone().map(ShowFilter::Like);
            show::show(session, &ast::Show { kind, filter }, sink)
        }
        Statement::Kill { query, id } => kill(session, *query, id, params),
        Statement::ResetPersist { if_exists, name } => {
            super::set::reset_persist(session, name.as_deref(), *if_exists)
        }
        // FLUSH that locks ends the transaction itself, after it has checked other locks.
        Statement::Flush(flush) => match tables_to_lock(flush) {
            Some(tables) => {
                check_exported(session, flush)?;
                table_locks::flush_and_lock(session, tables)
            }
            None => {
                for target in &flush.targets {
                    if let FlushTarget::RelayLogs(channel) = target {
                        server::check_channel(Some(channel))?;
                    }
                }
                session.commit().map(|()| forget_counts(session, flush))
            }
        },
        Statement::Reset(targets) => server::reset(session, targets),
        Statement::LockTables(locks) => table_locks::lock(session, locks),
        Statement::UnlockTables => table_locks::unlock_all(session),
        Statement::LockInstance | Statement::UnlockInstance => Ok(StatementOutcome::default()),
        // There is no binary log, and so nothing to purge: MySQL says no more when its own is off.
        Statement::PurgeLogs(_) => Ok(StatementOutcome::default()),
        Statement::TableMaintenance(work) => maintain(session, work, sink),
        Statement::AlterTable(_) => partition_care::maintain(session, statement, sink),
        Statement::Server(_) => server::execute(session, statement, sink),
        Statement::Binlog(text) => server::binlog(text),
        Statement::InstallPlugin { .. }
        | Statement::UninstallPlugin(_)
        | Statement::InstallComponent(_)
        | Statement::UninstallComponent(_) => server::library(session, statement),
        Statement::ReloadTls => reload_tls(session),
        Statement::Shutdown => shut_down(session),
        Statement::Restart => {
            error(ErrorCode::RestartServerFailed, &[&"mysqld is not managed by supervisor process"])
        }
        Statement::Help(_) => help(sink),
        other => Err(unsupported(other)),
    }
}

/// HELP knows no topics: the answer is a list of topics and categories without rows.
fn help(sink: &mut dyn RowSink) -> Done {
    let column =
        |name, length| ExprType::text(length, Collation::DEFAULT, false).result_column(name);
    sink.columns(&[column("name", 64), column("is_it_category", 1)])?;
    Ok(StatementOutcome { rows: Some(0), ..StatementOutcome::default() })
}

/// SHUTDOWN: the client gets OK, and loses its connection like all others. A database without
/// a server refuses it.
fn shut_down(session: &SessionContext) -> Done {
    match session.db.processes().is_some_and(|processes| processes.shut_down()) {
        true => Ok(StatementOutcome::default()),
        false => Err(unsupported(&Statement::Shutdown)),
    }
}

/// ALTER INSTANCE RELOAD TLS: the certificate stays as it is where the new one cannot be used.
fn reload_tls(session: &SessionContext) -> Done {
    match session.db.processes().map_or(Ok(()), |processes| processes.reload_tls()) {
        Ok(()) => Ok(StatementOutcome::default()),
        Err(why) => error(ErrorCode::SslLibraryError, &[&why]),
    }
}

/// Accounts begin to count anew after FLUSH USER_RESOURCES and FLUSH PRIVILEGES, the session after
/// FLUSH STATUS; HANDLER begins to read anew after FLUSH TABLES.
fn forget_counts(session: &mut SessionContext, flush: &ast::Flush) -> StatementOutcome {
    let db = session.db.clone();
    let accounts = &db.accounts;
    for target in &flush.targets {
        match target {
            FlushTarget::Tables { .. } => session.handlers.rewind(),
            FlushTarget::Status => db.flush_status(&session.host.counters),
            FlushTarget::UserResources => accounts.meters.flush(),
            FlushTarget::Privileges => {
                accounts.meters.flush();
                accounts.tries.forgive_all();
            }
            FlushTarget::Logs(kind) => reopen_logs(session, kind.as_deref()),
            FlushTarget::Hosts => {
                let instead = "TRUNCATE TABLE performance_schema.host_cache";
                session.warn(ErrorCode::WarnDeprecatedSyntax, &[&"FLUSH HOSTS", &instead]);
            }
            _ => {}
        }
    }
    StatementOutcome::default()
}

/// FLUSH LOGS, of one kind or of all.
fn reopen_logs(session: &SessionContext, kind: Option<&str>) {
    let is = |name: &str| kind.is_none_or(|kind| kind == name);
    if let Err(error) = session.db.observer.reopen(is("GENERAL"), is("SLOW")) {
        inia_storage::report_error(format_args!("a log file cannot be opened again: {error}"));
    }
    if is("ERROR")
        && let Some(processes) = session.db.processes()
    {
        processes.reopen_error_log();
    }
}

impl Session {
    /// COM_REFRESH: what FLUSH does, by the bits of its parts. It is deprecated: warning 1287.
    pub fn refresh(&mut self, parts: u8) -> Result<u16, SqlError> {
        const GRANTS: u8 = 1;
        self.context.begin_statement();
        let mut flush = ast::Flush { local: false, targets: vec![FlushTarget::Privileges] };
        let statement = Statement::Flush(flush.clone());
        if let Err(error) = authorize(&self.context, &statement) {
            return Err(run::failed(&mut self.context, error));
        }
        flush.targets.retain(|_| parts & GRANTS != 0);
        forget_counts(&mut self.context, &flush);
        let old: [&dyn std::fmt::Display; 2] = [&"COM_REFRESH", &"FLUSH statement"];
        self.context.warn(ErrorCode::WarnDeprecatedSyntax, &old);
        Ok(self.context.warning_count())
    }
}

/// Errors 1347 and 1031 of FLUSH TABLES … FOR EXPORT.
fn check_exported(session: &mut SessionContext, flush: &ast::Flush) -> Result<(), SqlError> {
    for target in &flush.targets {
        let FlushTarget::Tables { names, export: true, .. } = target else { continue };
        for name in names {
            let schema = match &name.db {
                Some(db) => db.clone(),
                None => session.database()?.to_owned(),
            };
            if session.is_view(&schema, &name.name) {
                return error(ErrorCode::WrongObject, &[&schema, &name.name, &"BASE TABLE"]);
            }
            let table = session.db.catalog().table(&schema, &name.name);
            if table.is_some_and(|table| !table.def.is_transactional()) {
                return error(ErrorCode::IllegalHa, &[&name.name]);
            }
        }
    }
    Ok(())
}

/// The tables that FLUSH locks, none for all of them; `None` where it locks nothing.
fn tables_to_lock(flush: &ast::Flush) -> Option<&[ast::ObjectName]> {
    flush.targets.iter().find_map(|target| match target {
        FlushTarget::Tables { names, read_lock, export } if *read_lock || *export => {
            Some(&names[..])
        }
        _ => None,
    })
}

/// A statement that asks for random passwords, with such, and what they are.
fn with_random_passwords(
    session: &SessionContext,
    statement: &Statement,
) -> Result<Option<(Statement, Vec<MadePassword>)>, SqlError> {
    let length = || match session.host.sysvar(VarScope::Session, "generated_random_password_length")
    {
        Ok((Value::Int(length), _)) => usize::try_from(length).unwrap_or_default(),
        Ok((Value::UInt(length), _)) => usize::try_from(length).unwrap_or_default(),
        _ => DEFAULT_RANDOM_LENGTH,
    };
    if !changes_accounts(statement) {
        return Ok(None);
    }
    session.as_actor(|actor| random_password::with_passwords(actor, statement, length()))
}

fn password_columns() -> [ResultColumn; 4] {
    let text = ExprType::text(255, Collation::DEFAULT, false);
    let [user, host, password] =
        ["user", "host", "generated password"].map(|name| text.result_column(name));
    [user, host, password, ExprType::int(1, false).result_column("auth_factor")]
}

fn shown_password(made: MadePassword) -> Vec<Option<String>> {
    let MadePassword { account, password } = made;
    vec![Some(account.user), Some(account.host), Some(password), Some("1".to_owned())]
}

/// Statements that change accounts: each first commits what is open.
fn account(session: &mut SessionContext, statement: &Statement) -> Option<Done> {
    if let Statement::SetRole(choice) = statement {
        return Some(set_role(session, choice));
    }
    if !changes_accounts(statement) {
        return None;
    }
    // A READ ONLY transaction ends here: what counts is the session's own mode.
    let ready = session.commit().and_then(|()| session.check_writable());
    if let Err(error) = ready.and_then(|()| session.begin_change()) {
        return Some(Err(error));
    }
    let done: Result<Notes, SqlError> = session.as_actor(|actor| match statement {
        Statement::CreateUser(create) => user::create_user(actor, create),
        Statement::AlterUser(alter) => user::alter_user(actor, alter),
        Statement::DropUser { if_exists, users } => {
            user::drop_user(actor, users, *if_exists, false)
        }
        Statement::DropRole { if_exists, roles } => user::drop_user(actor, roles, *if_exists, true),
        Statement::RenameUser(pairs) => user::rename_user(actor, pairs),
        Statement::CreateRole { if_not_exists, roles } => {
            user::create_role(actor, roles, *if_not_exists)
        }
        Statement::Grant(statement) => grant::grant(actor, statement),
        Statement::Revoke(statement) => grant::revoke(actor, statement),
        Statement::SetPassword(set) => user::set_password(actor, set),
        Statement::SetDefaultRole { roles, users } => user::set_default_role(actor, roles, users),
        _ => Ok(Notes::new()),
    });
    if done.is_ok() {
        look_at_password(session, statement);
    }
    Some(done.map(|notes| {
        for note in &notes {
            match note.code {
                ErrorCode::UserReferencedAsDefiner | ErrorCode::WarnDeprecatedSyntax => {
                    session.push_warning(note);
                }
                _ if matches!(statement, Statement::Revoke(_)) => session.push_warning(note),
                _ => session.note_error(note),
            }
        }
        StatementOutcome::default()
    }))
}

/// SET ROLE.
fn set_role(session: &mut SessionContext, choice: &ast::RoleChoice) -> Done {
    let account = session.access().account.clone();
    let roles = session.as_actor(|actor| {
        let current = actor.accounts.current();
        match current.get(&account) {
            Some(def) => user::chosen_roles(actor, def, choice),
            None => Ok(Default::default()),
        }
    })?;
    session.host.set_roles(roles);
    Ok(StatementOutcome::default())
}

/// KILL: one's own connections, or with CONNECTION_ADMIN any; those of accounts with SYSTEM_USER
/// only by such an account.
fn kill(session: &mut SessionContext, query: bool, id: &ast::Expr, params: &[Value]) -> Done {
    let mut reads = ReferencedObjects::default();
    reads.exprs([id]);
    if reads.has_from || super::evaluate::calls_stored(session, id) {
        let what = "Usage of subqueries or stored function calls as part of this statement";
        return error(ErrorCode::NotSupportedYet, &[&what]);
    }
    let value = super::evaluate::value_of(session, id, params)?.value;
    let id = match value {
        // The server's numbers of connections have 32 bits.
        Value::Int(id) => u64::from(id as u32),
        Value::UInt(id) => u64::from(id as u32),
        Value::Decimal(number) => rounded(&number.to_string()),
        Value::Double(number) => rounded(&number.to_string()),
        Value::Text(text) => leading_number(session, &text),
        _ => 0,
    };
    let unknown = || SqlError::new(ErrorCode::NoSuchThread, &[&id]);
    let processes = session.db.processes().ok_or_else(unknown)?.clone();
    let list = session.db.process_list();
    let target = list.iter().find(|entry| entry.id == id).ok_or_else(unknown)?;
    let access = session.access();
    let own = target.user == session.client.user;
    let protected = !access.has_dynamic(SYSTEM_USER) && is_system_user(session, target);
    if protected || (!own && !access.has_dynamic("CONNECTION_ADMIN")) {
        return error(ErrorCode::KillDenied, &[&id]);
    }
    let itself = id == session.env.connection_id;
    let kind = match query {
        true => KillTarget::Query,
        false if itself => KillTarget::ConnectionAfterReply,
        false => KillTarget::Connection,
    };
    if !session.db.events.kill(id, query) && !processes.kill(id, kind) {
        return Err(unknown());
    }
    if itself {
        return error(ErrorCode::QueryInterrupted, &[]);
    }
    Ok(StatementOutcome::default())
}

/// The connection that is nearest to a number with a fraction.
fn rounded(text: &str) -> u64 {
    text.parse().map_or(0, |number: f64| number.round() as i64 as u32).into()
}

/// The connection whose number begins a text; warning 1292 where more follows.
fn leading_number(session: &mut SessionContext, text: &str) -> u64 {
    let number = text.trim();
    let digits = number.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits < number.len() {
        session.warn(ErrorCode::TruncatedWrongValue, &[&"INTEGER", &text]);
    }
    number[..digits].parse().unwrap_or(0)
}

/// Whether a connection belongs to an account that has SYSTEM_USER, itself or by a default role.
fn is_system_user(session: &SessionContext, target: &ProcessEntry) -> bool {
    let Some((user, host)) = &target.account else { return false };
    let accounts = session.db.accounts.current();
    let account = AccountName::new(user, host);
    let roles = accounts.get(&account).map(|def| def.default_roles.clone()).unwrap_or_default();
    Access::new(&accounts, &account, &roles).has_dynamic(SYSTEM_USER)
}

/// ANALYZE, CHECK, OPTIMIZE, REPAIR and CHECKSUM TABLE.
fn maintain(
    session: &mut SessionContext,
    work: &ast::TableMaintenance,
    sink: &mut dyn RowSink,
) -> Done {
    check_unique(session, &work.tables)?;
    // MySQL commits before table maintenance, whatever becomes of the tables.
    session.commit()?;
    if let Some(histogram) = &work.histogram {
        return change_histograms(session, work, histogram, sink);
    }
    let mut rows = Vec::new();
    for table in &work.tables {
        let schema = match &table.db {
            Some(db) => db.clone(),
            None => session.database()?.to_owned(),
        };
        let full = format!("{schema}.{}", table.name);
        let write = matches!(work.kind, MaintenanceKind::Optimize | MaintenanceKind::Repair);
        let locked = session.check_maintained(table, write);
        // Views have nothing stored that could be damaged: they fit their tables or not.
        if work.kind == MaintenanceKind::Check && session.is_view(&schema, &table.name) {
            for (kind, message) in check_view(session, &schema, &table.name) {
                let cells = [full.as_str(), "check", kind, message.as_str()];
                rows.push(cells.map(|cell| Some(cell.to_owned())).to_vec());
            }
            continue;
        }
        if inia_query::information_schema::find(&schema, &table.name).is_some() {
            check_computed(session, work.kind, &schema)?;
            rows.extend(computed_is_fine(&full, work.kind));
            continue;
        }
        // The error of one table becomes part of the result: the other tables still get theirs.
        let found = locked.and_then(|()| session.open_table(Some(&schema), &table.name));
        if work.kind == MaintenanceKind::Checksum {
            let sum = sum_of(session, work, found);
            rows.push(vec![Some(full), sum.map(|sum| sum.to_string())]);
            continue;
        }
        let op = match work.kind {
            MaintenanceKind::Analyze => "analyze",
            MaintenanceKind::Optimize => "optimize",
            MaintenanceKind::Repair => "repair",
            _ => "check",
        };
        for (kind, message) in maintain_one(session, work.kind, table, found) {
            let cells = [full.as_str(), op, kind, message.as_str()];
            rows.push(cells.map(|cell| Some(cell.to_owned())).to_vec());
        }
    }
    // No transaction is open whose end would release these metadata locks.
    session.mdl.release_all();
    let columns = match work.kind {
        MaintenanceKind::Checksum => {
            vec![
                ExprType::text(384, Collation::DEFAULT, true).result_column("Table"),
                ExprType::int(22, true).result_column("Checksum"),
            ]
        }
        _ => messages_columns(),
    };
    show::send_columns(sink, &columns, &rows)
}

/// The number of CHECKSUM TABLE; `None` after an error, which is noted, and where QUICK asks for a
/// number that is kept: no table keeps one.
fn sum_of(
    session: &mut SessionContext,
    work: &ast::TableMaintenance,
    found: Result<Arc<Table>, SqlError>,
) -> Option<u32> {
    let quick = work.options.iter().any(|option| option == "QUICK");
    let sum = match found {
        Ok(_) if quick => return None,
        found => found.and_then(|table| checksum::checksum(session, &table)),
    };
    if let Err(error) = &sum {
        session.add(Level::Error, error);
    }
    sum.ok()
}

/// ANALYZE TABLE … UPDATE HISTOGRAM and DROP HISTOGRAM.
fn change_histograms(
    session: &mut SessionContext,
    work: &ast::TableMaintenance,
    histogram: &ast::Histogram,
    sink: &mut dyn RowSink,
) -> Done {
    let done = histograms::execute(session, &work.tables, histogram);
    session.mdl.release_all();
    let (table, messages) = done?;
    let row = |(kind, message): (&'static str, String)| {
        let cells = [table.as_str(), "histogram", kind, message.as_str()];
        cells.map(|cell| Some(cell.to_owned())).to_vec()
    };
    let rows: Vec<_> = messages.into_iter().map(row).collect();
    show::send_columns(sink, &messages_columns(), &rows)
}

/// The columns of messages about tables.
pub(super) fn messages_columns() -> Vec<ResultColumn> {
    let text = |chars| ExprType::text(chars, Collation::DEFAULT, true);
    vec![
        text(128).result_column("Table"),
        text(10).result_column("Op"),
        text(10).result_column("Msg_type"),
        text(98_304).result_column("Msg_text"),
    ]
}

/// Error 1066 where a table is named twice.
pub(super) fn check_unique(
    session: &SessionContext,
    tables: &[ast::ObjectName],
) -> Result<(), SqlError> {
    let schema = |table: &ast::ObjectName| table.db.clone().or(session.env.database.clone());
    for (at, table) in tables.iter().enumerate() {
        let same = |o: &ast::ObjectName| o.name == table.name && schema(o) == schema(table);
        if tables[..at].iter().any(same) {
            return error(ErrorCode::NonUniqueTable, &[&table.name]);
        }
    }
    Ok(())
}

/// Error 1044 of what would change a table of information_schema.
fn check_computed(
    session: &SessionContext,
    kind: MaintenanceKind,
    schema: &str,
) -> Result<(), SqlError> {
    use MaintenanceKind::{Analyze, Optimize, Repair};
    let changes = matches!(kind, Analyze | Optimize | Repair);
    if !changes || !schema.eq_ignore_ascii_case("information_schema") {
        return Ok(());
    }
    let access = session.access();
    let account = &access.account;
    error(ErrorCode::DbAccessDenied, &[&account.user, &account.host, &schema])
}

/// The messages about a view, as kinds and texts.
fn check_view(session: &SessionContext, schema: &str, name: &str) -> Vec<(&'static str, String)> {
    let own = ast::ObjectName { db: Some(schema.to_owned()), name: name.to_owned() };
    let query = ast::Query::new(ast::QueryBody::Table(own));
    let Err(error) = plan_query(session, &query, None) else {
        return vec![("status", String::from("OK"))];
    };
    let last = match session.db.catalog().view(schema, name) {
        Some(view) if view.query.as_ref().is_some_and(|query| lacks_function(session, query)) => {
            ("status", String::from("Operation failed"))
        }
        _ => ("error", String::from("Corrupt")),
    };
    let mut messages = Vec::new();
    if error.code == ErrorCode::WrongMrgTable {
        messages.extend(misfit_below(session, schema, name).as_deref().map(misfit));
    }
    messages.extend([("Error", error.message), last]);
    messages
}

/// The child that does not fit, of a merged table that a view reads.
fn misfit_below(session: &SessionContext, schema: &str, name: &str) -> Option<String> {
    let Some(view) = session.db.catalog().view(schema, name) else {
        return session.table(schema, name)?.misfit().map(str::to_owned);
    };
    let mut reads = ReferencedObjects::default();
    reads.query(view.query.as_ref()?);
    let schema_of = |name: &'_ ast::ObjectName| name.db.clone().unwrap_or(schema.to_owned());
    reads.tables.iter().find_map(|name| misfit_below(session, &schema_of(name), &name.name))
}

/// The message about a child of a merged table.
fn misfit(child: &str) -> (&'static str, String) {
    let what = "is differently defined or of non-MyISAM type or doesn't exist";
    ("Error", format!("Table '{child}' {what}"))
}

/// Whether a view's query calls a stored function that is not there.
fn lacks_function(session: &SessionContext, query: &ast::Query) -> bool {
    let mut lacks = false;
    query.clone().for_each_expr_mut(&mut |expr| lacks |= calls_missing(session, expr));
    lacks
}

fn calls_missing(session: &SessionContext, expr: &ast::Expr) -> bool {
    let mut missing = match expr {
        ast::Expr::Function(call) => call.db.as_ref().is_some_and(|schema| {
            let kind = ProgramKind::Function;
            session.db.catalog().program(kind, schema, &call.name).is_none()
        }),
        ast::Expr::Subquery(query) | ast::Expr::Exists(query) => lacks_function(session, query),
        _ => false,
    };
    expr.for_each_child(&mut |child| missing = missing || calls_missing(session, child));
    missing
}

/// The result of a computed table, which has nothing that could be damaged.
fn computed_is_fine(full: &str, kind: MaintenanceKind) -> Option<Vec<Option<String>>> {
    let op = match kind {
        MaintenanceKind::Checksum => return Some(vec![Some(full.to_owned()), None]),
        MaintenanceKind::Analyze => "analyze",
        MaintenanceKind::Optimize => "optimize",
        MaintenanceKind::Repair => "repair",
        MaintenanceKind::Check => "check",
    };
    Some([full, op, "status", "OK"].map(|cell| Some(cell.to_owned())).to_vec())
}

/// The messages about one table, as kinds and texts.
fn maintain_one(
    session: &mut SessionContext,
    kind: MaintenanceKind,
    name: &ast::ObjectName,
    found: Result<Arc<Table>, SqlError>,
) -> Vec<(&'static str, String)> {
    let ok = || ("status", String::from("OK"));
    let failed = |error: SqlError| {
        vec![("Error", error.message), ("status", String::from("Operation failed"))]
    };
    let table = match found {
        Ok(table) => table,
        Err(error) if error.code == ErrorCode::WrongMrgTable => {
            return misfits(session, kind, name, error);
        }
        Err(error) => return failed(error),
    };
    let transactional = table.def.engine == "InnoDB";
    if let Some(op) = lacking(kind, &table.def.engine) {
        return vec![("note", format!("The storage engine for the table doesn't support {op}"))];
    }
    match kind {
        MaintenanceKind::Optimize if session.mdl.reads_everything() => {
            let refused = SqlError::new(ErrorCode::CantUpdateWithReadlock, &[]);
            vec![("Error", refused.message), ("error", String::from("Corrupt"))]
        }
        MaintenanceKind::Optimize
            if transactional && session.flag("innodb_optimize_fulltext_only") =>
        {
            search::note_written(&table);
            vec![ok()]
        }
        MaintenanceKind::Optimize => {
            search::note_rewritten(&table);
            drop(table);
            let text = "Table does not support optimize, doing recreate + analyze instead";
            let note = transactional.then(|| ("note", text.to_owned()));
            let done = optimize(session, name).map_or_else(failed, |()| vec![ok()]);
            note.into_iter().chain(done).collect()
        }
        MaintenanceKind::Analyze => {
            table.refresh_statistics().sql().map_or_else(failed, |()| vec![ok()])
        }
        // Every row against its definition, every index against the rows.
        MaintenanceKind::Check => {
            let problems = problems_of(&table);
            if problems.is_empty() {
                return vec![ok()];
            }
            let warnings = problems.into_iter().map(|problem| ("Warning", problem));
            warnings.chain([("error", String::from("Corrupt"))]).collect()
        }
        _ => vec![ok()],
    }
}

/// The messages about a merged table with a child that does not fit, or about a view of one.
fn misfits(
    session: &SessionContext,
    kind: MaintenanceKind,
    name: &ast::ObjectName,
    error: SqlError,
) -> Vec<(&'static str, String)> {
    let mut messages = Vec::new();
    let schema = name.db.as_deref().or(session.env.database.as_deref()).unwrap_or_default();
    let table = session.table(schema, &name.name);
    if matches!(kind, MaintenanceKind::Check | MaintenanceKind::Repair)
        && let Some(child) = table.as_ref().and_then(|table| table.misfit())
    {
        messages.push(misfit(child));
    }
    messages.push(("Error", error.message));
    messages.push(("error", String::from("Corrupt")));
    messages
}

/// The operation, where tables of the engine do not have it.
fn lacking(kind: MaintenanceKind, engine: &str) -> Option<&'static str> {
    use MaintenanceKind as K;
    match (engine, kind) {
        ("InnoDB" | "MEMORY" | "BLACKHOLE" | MERGED, K::Repair) => Some("repair"),
        ("MEMORY" | "CSV" | "BLACKHOLE" | MERGED, K::Optimize) => Some("optimize"),
        ("MEMORY" | "CSV" | "ARCHIVE" | "BLACKHOLE" | MERGED, K::Analyze) => Some("analyze"),
        ("MEMORY" | "BLACKHOLE", K::Check) => Some("check"),
        _ => None,
    }
}

/// OPTIMIZE TABLE: the rows and indexes are written anew.
fn optimize(session: &mut SessionContext, name: &ast::ObjectName) -> Result<(), SqlError> {
    session.mdl.release_all();
    session.begin_change()?;
    let actions = vec![ast::AlterAction::Force];
    let done = ddl::alter_table(session, &ast::AlterTable { name: name.clone(), actions });
    session.mdl.release_all();
    done.map(drop)
}

/// SELECT … INTO @a, @b: the only row's values; a warning where there is none, error 1172 where
/// there are several.
pub(super) fn select_into(
    session: &mut SessionContext,
    query: &ast::Query,
    params: &[Value],
) -> Done {
    session.begin_query();
    session.enter();
    let start = session.txn.get_mut().savepoint();
    let (result, variables) = match &query.into {
        Some(SelectInto::Vars(targets)) => (into_variables(session, query, targets, params), true),
        Some(into) => {
            let lock = session.plain_lock();
            let plan = inia_query::planner::plan_query(session, query, lock);
            let locked = plan.and_then(|plan| session.lock_read(&plan).map(|()| plan));
            (locked.and_then(|plan| outfile::into_file(session, &plan, into, params)), false)
        }
        None => (Ok(0), false),
    };
    let result = session.timed(result);
    session.leave(start, result.as_ref().err())?;
    let rows = result?;
    if variables && rows == 0 {
        session.warn(ErrorCode::SpFetchNoData, &[]);
    }
    Ok(StatementOutcome { affected_rows: rows, ..StatementOutcome::default() })
}

fn into_variables(
    session: &mut SessionContext,
    query: &ast::Query,
    targets: &[ast::IntoTarget],
    params: &[Value],
) -> Result<u64, SqlError> {
    let plan = inia_query::planner::plan_query(session, query, session.plain_lock())?;
    session.lock_read(&plan)?;
    if plan.root.columns.len() != targets.len() {
        return error(ErrorCode::WrongNumberOfColumnsInSelect, &[]);
    }
    // Variables change after the query has ended: it may read them, and error 1172 changes none.
    let mut found: Option<Vec<Value>> = None;
    let before = session.use_tables(plan.tables.iter());
    let (result, warnings) = {
        let shared: &SessionContext = session;
        let runner = Runner::new(&plan, shared.exec_context());
        let mut ctx = shared.context(params, &runner);
        let result = runner.run(&mut ctx, &mut |_, tuple| {
            if found.is_some() {
                return error(ErrorCode::TooManyRows, &[]);
            }
            found = Some(tuple.to_vec());
            Ok(true)
        });
        (result, std::mem::take(&mut ctx.warnings))
    };
    session.used.truncate(before);
    // A failed query keeps its warnings, too.
    session.take_warnings(warnings);
    result?;
    let Some(values) = found else { return Ok(0) };
    for ((target, value), column) in targets.iter().zip(values).zip(&plan.root.columns) {
        let name = match target {
            ast::IntoTarget::UserVar(name) => name,
            ast::IntoTarget::Local(name) => {
                return error(ErrorCode::SpUndeclaredVar, &[name]);
            }
            // A program's own statements store their rows themselves.
            ast::IntoTarget::Slot(_) => continue,
        };
        let var = UserVar { value, ty: column.ty.clone() };
        session.host.keep_user_var(name.to_lowercase(), var)?;
    }
    Ok(1)
}

/// What SHOW needs of a database or table before it looks: errors 1049, 1044, 1146, 1142.
pub(super) fn visible(session: &SessionContext, kind: &ShowKind) -> Result<(), SqlError> {
    let access = session.access();
    let schema_of = |db: Option<&String>| match db {
        Some(db) => Ok(db.clone()),
        None => session.database().map(str::to_owned),
    };
    let schema = match kind {
        ShowKind::Tables { db, .. } | ShowKind::TableStatus(db) | ShowKind::Triggers(db) => {
            schema_of(db.as_ref())?
        }
        ShowKind::Events(db) => {
            let schema = schema_of(db.as_ref())?;
            if !access.on_database(&schema).has(Privileges::EVENT) {
                return Err(access.no_database(&schema));
            }
            return Ok(());
        }
        ShowKind::Columns { table, .. } | ShowKind::Index { table, .. } => {
            return describable(session, &access, table);
        }
        _ => {
            let (wanted, names) = needed_of_server(kind);
            let may = wanted == Privileges::NONE || access.global.has_any(wanted);
            return if may { Ok(()) } else { Err(access.lacks(names)) };
        }
    };
    let computed = inia_query::computed::schema(&schema).is_some();
    if !access.sees_database(&schema) {
        return Err(access.no_database(&schema));
    }
    if !computed && session.db.catalog().schema(&schema).is_none() {
        return error(ErrorCode::UnknownDatabase, &[&schema]);
    }
    Ok(())
}

/// The privileges of which one is needed to see how the server is doing.
fn needed_of_server(kind: &ShowKind) -> (Privileges, &'static str) {
    let (client, replica) = (Privileges::REPLICATION_CLIENT, Privileges::REPLICATION_SLAVE);
    match kind {
        ShowKind::Engine { .. } => (Privileges::PROCESS, "PROCESS"),
        ShowKind::BinaryLogs | ShowKind::BinaryLogStatus | ShowKind::ReplicaStatus { .. } => {
            (Privileges::SUPER | client, "SUPER, REPLICATION CLIENT")
        }
        ShowKind::Replicas { .. } | ShowKind::BinlogEvents { .. } => (replica, "REPLICATION SLAVE"),
        _ => (Privileges::NONE, ""),
    }
}

/// What SHOW COLUMNS and SHOW INDEX need of their table: errors 1142, 1049 and 1146.
fn describable(
    session: &SessionContext,
    access: &Access,
    table: &ast::ObjectName,
) -> Result<(), SqlError> {
    let schema = match &table.db {
        Some(db) => db.as_str(),
        None => session.database()?,
    };
    let name = &table.name;
    if session.temporary.get(schema, name).is_some() {
        return Ok(());
    }
    let denied = !access.describes(schema, name);
    let there = session.db.catalog().has(schema, name)
        || inia_query::information_schema::find(schema, name).is_some();
    // An account that may see the database gets the error for a missing table.
    if denied && (there || !access.sees_database(schema)) {
        return Err(access.no_table("SELECT", name));
    }
    if inia_query::computed::schema(schema).is_none()
        && session.db.catalog().schema(schema).is_none()
    {
        return error(ErrorCode::UnknownDatabase, &[&schema]);
    }
    inia_query::computed::check_dictionary(schema, name)?;
    if there { Ok(()) } else { error(ErrorCode::NoSuchTable, &[&schema, name]) }
}
