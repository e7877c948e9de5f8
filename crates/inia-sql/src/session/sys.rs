//! The schema `sys`: views and routines over `performance_schema` and `information_schema`.
//!
//! The program makes it anew at each start of a server, in memory: nothing of it is stored, so it
//! always is that of the program. Where the directory has a schema of that name, that one stays.

use super::{Session, define};
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::Parser;
use inia_query::account::{Access, AccountName};
use inia_query::catalog::BUILTIN;
use inia_query::database::{ClientInfo, Database};
use inia_query::error::parse_error;
use std::collections::BTreeSet;
use std::sync::Arc;

const VIEWS: &str = include_str!("../sys/views.sql");
const ROUTINES: &str = include_str!("../sys/functions.sql");

/// Makes the schema `sys`, unless there is one.
pub fn make_sys(db: &Arc<Database>) -> Result<(), SqlError> {
    if db.catalog().schema(BUILTIN).is_some() {
        return Ok(());
    }
    // The account of this session becomes the definer.
    let name = || (String::from("mysql.sys"), String::from("localhost"));
    let ((user, host), (account_user, account_host)) = (name(), name());
    let client = ClientInfo { user, host, account_user, account_host, ..ClientInfo::default() };
    let account = AccountName::new(&client.account_user, &client.account_host);
    let mut session = Session::new(db, client);
    let access = Access::of_program(&db.accounts.current(), account);
    session.context.host.act_as(Arc::new(access), BTreeSet::new());
    db.catalog().make_builtin(true);
    let made = statements().iter().try_for_each(|text| run(&mut session, text));
    db.catalog().make_builtin(false);
    drop(session);
    db.begin_counts();
    made
}

fn run(session: &mut Session, text: &str) -> Result<(), SqlError> {
    let context = &mut session.context;
    let parsed = Parser::new(text, context.parser_mode()).next_statement();
    let parsed = parsed.map_err(parse_error)?;
    let (statement, _) = parsed.ok_or_else(|| SqlError::new(ErrorCode::EmptyQuery, &[]))?;
    context.begin_statement();
    context.diagnostics.clear();
    let done = define::define(context, &statement, &[]).map_or(Ok(()), |done| done.map(drop));
    context.mdl.end_change();
    done
}

/// The statements that make the schema, each after those that it needs.
fn statements() -> Vec<String> {
    let mut all = vec![format!("CREATE DATABASE {BUILTIN}")];
    let views: Vec<(String, String)> = blocks(VIEWS).flat_map(|block| views_of(&block)).collect();
    let (settings, others): (Vec<_>, Vec<_>) =
        views.into_iter().partition(|(name, _)| name == "sys_config");
    let create = |(name, query): (String, String)| {
        format!("CREATE SQL SECURITY INVOKER VIEW {BUILTIN}.`{name}` AS {query}")
    };
    // Functions read the settings, and views call functions.
    all.extend(settings.into_iter().map(create));
    all.extend(blocks(ROUTINES));
    all.extend(others.into_iter().map(create));
    all
}

/// What stands between empty lines, without comments.
fn blocks(text: &str) -> impl Iterator<Item = String> {
    let without_comments = |block: &str| {
        let lines = block.lines().filter(|line| !line.starts_with("--"));
        lines.collect::<Vec<_>>().join("\n")
    };
    text.split("\n\n").map(without_comments).filter(|block| !block.trim().is_empty())
}

/// The views of a block with their queries: one, or one with plain numbers and one with units.
fn views_of(block: &str) -> Vec<(String, String)> {
    let (head, query) = block.split_once('\n').unwrap_or((block, ""));
    match head.split_once(' ') {
        Some(("both", name)) => {
            let plain = query.replace("/*x", "").replace("x*/", "");
            let plain = ["pico(", "size(", "brief(", "path("]
                .iter()
                .fold(plain, |text, mark| text.replace(mark, "("));
            let shown = query
                .replace("pico(", "FORMAT_PICO_TIME(")
                .replace("size(", "FORMAT_BYTES(")
                .replace("brief(", "sys.format_statement(")
                .replace("path(", "sys.format_path(");
            vec![(format!("x${name}"), plain), (name.to_owned(), shown)]
        }
        Some((_, name)) => vec![(name.to_owned(), query.to_owned())],
        None => Vec::new(),
    }
}
