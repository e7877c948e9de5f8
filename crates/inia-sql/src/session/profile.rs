//! `profiling`: how long the statements of a session took, and SHOW PROFILE and PROFILES.
//!
//! A statement's time is that of its main stage. The other stages are those that MySQL has for such
//! a statement, and take none.

use super::observe::Noted;
use inia_base::collation::Collation;
use inia_base::column::RowSink;
use inia_base::datatype::{DataType, IntWidth};
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::ExprType;
use inia_parser::ast::{ProfileLimit, ShowKind, ShowProfile, Statement};
use inia_query::context::{SessionContext, StatementOutcome};
use inia_query::information::Profile;

/// Bytes of a text that are kept.
const MAX_TEXT: usize = 300;

const PLAIN: &[&str] = &["starting", "query end", "closing tables", "freeing items", "cleaning up"];
const QUERY: &[&str] = &[
    "starting",
    "checking permissions",
    "Opening tables",
    "init",
    "System lock",
    "optimizing",
    "statistics",
    "preparing",
    "executing",
    "end",
    "query end",
    "waiting for handler commit",
    "closing tables",
    "freeing items",
    "cleaning up",
];
const CHANGE: &[&str] = &[
    "starting",
    "checking permissions",
    "Opening tables",
    "init",
    "System lock",
    "updating",
    "end",
    "query end",
    "waiting for handler commit",
    "closing tables",
    "freeing items",
    "cleaning up",
];

/// The stages of a statement, and its main one.
pub(super) fn stages(statement: &Statement) -> (&'static [&'static str], &'static str) {
    match statement {
        Statement::Select(_) => (QUERY, "executing"),
        Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) => (CHANGE, "updating"),
        _ => (PLAIN, "starting"),
    }
}

/// Whether the session profiles a statement.
pub(super) fn is_on(session: &SessionContext, statement: &Statement) -> bool {
    let shows = match statement {
        Statement::Show(show) => matches!(show.kind, ShowKind::Profile(_) | ShowKind::Profiles),
        _ => false,
    };
    !shows && session.host.profiles.borrow().as_ref().is_some_and(|profiles| profiles.is_on())
}

/// Takes over a setting of profiling. Profiles stay to be read once it is off.
pub(super) fn set_up(session: &SessionContext, name: &str, text: &str) {
    let mut profiles = session.host.profiles.borrow_mut();
    if name == "profiling_history_size" {
        let limit = text.parse().unwrap_or(0);
        profiles.iter_mut().for_each(|profiles| profiles.shrink(limit));
        return;
    }
    let on = text == "ON";
    if on || profiles.is_some() {
        profiles.get_or_insert_default().set_up(&session.db, on);
    }
}

/// Keeps the profile of a statement that has ended.
pub(super) fn keep(session: &SessionContext, noted: &Noted) {
    let Some((names, main)) = noted.stages else { return };
    let nanos = u64::try_from(noted.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let size = session.var("profiling_history_size").and_then(|size| size.parse().ok());
    let text = &noted.text[..noted.text.floor_char_boundary(MAX_TEXT)];
    let timed = |name: &&'static str| (*name, if *name == main { nanos } else { 0 });
    if let Some(profiles) = session.host.profiles.borrow_mut().as_mut().filter(|it| it.is_on()) {
        profiles.keep(text.to_owned(), names.iter().map(timed).collect(), size.unwrap_or(0));
    }
}

type Done = Result<StatementOutcome, SqlError>;

/// SHOW PROFILES.
pub(super) fn show_all(session: &mut SessionContext, sink: &mut dyn RowSink) -> Done {
    warn_of(session, &ShowKind::Profiles);
    let rows = session.host.profiles().into_iter().map(|profile| {
        let seconds = format!("{:.8}", profile.total() as f64 / 1e9);
        vec![Some(profile.id.to_string()), Some(seconds), Some(profile.text)]
    });
    let columns = ["Query_ID", "Duration", "Query"];
    let columns = columns.map(|name| crate::show::column(&ShowKind::Profiles, name));
    super::show::send_columns(sink, &columns, &rows.collect::<Vec<_>>())
}

/// SHOW PROFILE.
pub(super) fn show_one(
    session: &mut SessionContext,
    show: &ShowProfile,
    sink: &mut dyn RowSink,
) -> Done {
    let all = session.host.profiles();
    let wanted = |profile: &&Profile| match show.query {
        0 => true,
        id => profile.id == id,
    };
    let found = all.iter().rev().find(wanted);
    let kind = ShowKind::Profile(show.clone());
    warn_of(session, &kind);
    let mut columns =
        vec![crate::show::column(&kind, "Status"), crate::show::column(&kind, "Duration")];
    for name in show.columns() {
        let ty = match name {
            "CPU_user" | "CPU_system" => ExprType::decimal(9, 6, false, true),
            "Source_function" => ExprType::text(30, Collation::DEFAULT, true),
            "Source_file" => ExprType::text(20, Collation::DEFAULT, true),
            _ => {
                let width = IntWidth::Int;
                ExprType::of_column(DataType::Int { width, unsigned: false }, true)
            }
        };
        columns.push(ty.result_column(name));
    }
    let unknown = show.columns().len();
    let ProfileLimit { offset, count } = show.limit;
    let stages = found.map_or(&[][..], |profile| &profile.stages);
    let rows = stages.iter().skip(offset).take(count).map(|(stage, nanos)| {
        let mut row = vec![Some((*stage).to_owned()), Some(Profile::seconds(*nanos))];
        row.extend((0..unknown).map(|_| None));
        row
    });
    super::show::send_columns(sink, &columns, &rows.collect::<Vec<_>>())
}

/// Warning 1287: both statements are deprecated.
fn warn_of(session: &mut SessionContext, kind: &ShowKind) {
    if let Some((old, new)) = crate::show::deprecated(kind) {
        session.warn(ErrorCode::WarnDeprecatedSyntax, &[&old, &new]);
    }
}
