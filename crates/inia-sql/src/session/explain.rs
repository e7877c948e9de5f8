//! EXPLAIN of queries.

mod changes;
mod connection;

use crate::ddl::quoting::Quoting;
use inia_base::collation::Collation;
use inia_base::column::{ResultColumn, RowSink};
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::value::Value;
use inia_expr::{ExprType, Level, Warning};
use inia_parser::ast::{self, ExplainFormat, ExplainTarget, Statement};
use inia_query::context::SessionContext;
use inia_query::context::StatementOutcome;
use inia_query::exec::Runner;
use inia_query::explain::{Line, count_found, describe, print_json, print_json_lines, print_tree};
use inia_query::note::{FoundValue, Notes, notes_of};
use inia_query::plan::StatementPlan;
use inia_query::plan::trace::Trace;
use std::borrow::Cow;

/// The columns of the table format.
const COLUMNS: [&str; 12] = [
    "id",
    "select_type",
    "table",
    "partitions",
    "type",
    "possible_keys",
    "key",
    "key_len",
    "ref",
    "rows",
    "filtered",
    "Extra",
];

/// EXPLAIN.
pub(super) fn explain(
    session: &mut SessionContext,
    explain: &ast::Explain,
    params: &[Value],
    sink: &mut dyn RowSink,
) -> Result<StatementOutcome, SqlError> {
    match explain.target {
        ExplainTarget::Connection(id) => connection::of_connection(session, explain, id, sink),
        ExplainTarget::Statement(_) => explained(session, explain, (params, true), sink),
    }
}

/// EXPLAIN of a statement, which leaves notes where it is `noted`.
fn explained(
    session: &mut SessionContext,
    explain: &ast::Explain,
    (params, noted): (&[Value], bool),
    sink: &mut dyn RowSink,
) -> Result<StatementOutcome, SqlError> {
    let ExplainTarget::Statement(statement) = &explain.target else {
        return Err(SqlError::new(ErrorCode::ExplainNotSupported, &[]));
    };
    let Statement::Select(query) = &**statement else {
        return explain_change(session, (explain, statement), (params, noted), sink);
    };
    session.enter();
    let start = session.txn.get_mut().savepoint();
    let trace = Trace::default();
    let result = super::plan::plan_to_explain(session, query).and_then(|plan| {
        // The trace knows the plan's nodes by their addresses.
        let plan = Box::new(plan);
        session.check_explains(&plan.views)?;
        if explain.analyze {
            session.lock_read(&plan)?;
            analyze(session, &plan, params, &trace)?;
            return Ok((plan, Notes::default()));
        }
        let notes =
            if noted { notes_of(session, statement, &[&plan], params) } else { Notes::default() };
        Ok((plan, notes))
    });
    session.leave(start, result.as_ref().err())?;
    let (plan, mut notes) = result?;
    let no_rows = notes.no_rows;
    let found = std::mem::take(&mut notes.found);
    if !explain.analyze && noted {
        let warnings = plan.said.warnings.iter().cloned();
        warnings.for_each(|warning| session.raise(warning));
        leave_notes(session, explain.format, notes);
    }
    match explain.format {
        ExplainFormat::Json => one_text(&print_json(&plan, &session.env, &session.host), sink),
        _ if explain.analyze => one_text(&print_tree(&plan, Some(&trace)), sink),
        ExplainFormat::Tree => one_text(&print_tree(&plan, None), sink),
        ExplainFormat::Default | ExplainFormat::Traditional => {
            let mut lines = describe(&plan, &session.env, &session.host);
            let value = |table: &str, column: &str| {
                let is_it = |one: &&FoundValue| one.table == table && one.column == column;
                found.iter().find(is_it).map(|one| &one.value)
            };
            count_found(&plan, &mut lines, &value, (&session.env, &session.host));
            if let ast::QueryBody::Select(select) = &query.body
                && select.options.buffer_result
            {
                changes::buffered(&mut lines);
            }
            if let Some(reason) = no_rows
                && lines.iter().all(|line| line.select_type == "SIMPLE")
            {
                let first =
                    Line { id: Some(1), select_type: "SIMPLE".to_owned(), ..Line::default() };
                lines = vec![Line { extra: vec![reason], ..first }];
            }
            table(&lines, sink)
        }
    }
}

/// Leaves the notes of a statement that is explained: the tree has no note 1003.
fn leave_notes(session: &mut SessionContext, format: ExplainFormat, mut notes: Notes) {
    if format == ExplainFormat::Tree {
        notes.text = None;
    }
    if notes.windows && matches!(format, ExplainFormat::Default | ExplainFormat::Traditional) {
        let error = SqlError::new(ErrorCode::WindowExplainJson, &[]);
        notes.before.push(Warning::of(Level::Note, error));
    }
    let quoting = Quoting::of(session);
    notes.text = notes.text.map(|text| quoting.all(text));
    let kept = session.flag("sql_notes");
    let left = notes.warnings().filter(|warning| kept || warning.level != Level::Note);
    left.for_each(|warning| session.raise(warning));
}

/// Runs the plan for what the trace sees of it; the rows are dropped.
fn analyze(
    session: &mut SessionContext,
    plan: &StatementPlan,
    params: &[Value],
    trace: &Trace,
) -> Result<(), SqlError> {
    let (result, warnings) = {
        let shared: &SessionContext = session;
        let runner = Runner::traced(plan, shared.exec_context(), trace);
        let mut ctx = shared.context(params, &runner);
        plan.warn(&mut ctx);
        let result = runner.run(&mut ctx, &mut |_, _| Ok(true));
        (result, std::mem::take(&mut ctx.warnings))
    };
    session.take_warnings(warnings);
    result
}

/// EXPLAIN of a statement that changes rows; the tree format knows those of INSERT … SELECT only.
fn explain_change(
    session: &mut SessionContext,
    (explain, statement): (&ast::Explain, &Statement),
    (params, noted): (&[Value], bool),
    sink: &mut dyn RowSink,
) -> Result<StatementOutcome, SqlError> {
    session.enter();
    let start = session.txn.get_mut().savepoint();
    let mut statement = Cow::Borrowed(statement);
    let result = changes::lines(session, &mut statement);
    let result = result.map(|(lines, plan)| {
        let plans: Vec<&StatementPlan> = plan.iter().collect();
        let notes = noted.then(|| notes_of(session, &statement, &plans, params));
        let tree = match (&*statement, &plan) {
            (Statement::Insert(insert), Some(plan)) => insert_tree(insert, plan),
            _ => None,
        };
        (lines, tree, notes.unwrap_or_default())
    });
    session.leave(start, result.as_ref().err())?;
    let (lines, tree, mut notes) = result?;
    if let Some(error) = notes.wrong.take() {
        return Err(error);
    }
    let untold = explain.analyze || explain.format == ExplainFormat::Tree;
    leave_notes(session, if untold { ExplainFormat::Tree } else { explain.format }, notes);
    match explain.format {
        ExplainFormat::Json => one_text(&print_json_lines(&lines), sink),
        ExplainFormat::Tree if !explain.analyze && tree.is_some() => {
            one_text(&tree.unwrap_or_default(), sink)
        }
        _ if explain.analyze || explain.format == ExplainFormat::Tree => {
            one_text("<not executable by iterator executor>\n", sink)
        }
        _ => table(&lines, sink),
    }
}

/// The tree of INSERT … SELECT; other statements that change rows have none.
fn insert_tree(insert: &ast::Insert, plan: &StatementPlan) -> Option<String> {
    let ast::InsertSource::Query(query) = &insert.source else { return None };
    let word = if insert.replace { "Replace" } else { "Insert" };
    let mut above = vec![format!("{word} into {}", insert.table.name)];
    if let ast::QueryBody::Select(select) = &query.body
        && select.options.buffer_result
    {
        above.extend(["Table scan on <temporary>", "Temporary table"].map(str::to_owned));
    }
    let mut tree = String::new();
    for (depth, node) in above.iter().enumerate() {
        tree.push_str(&format!("{:indent$}-> {node}\n", "", indent = depth * 4));
    }
    for line in print_tree(plan, None).lines() {
        tree.push_str(&format!("{:indent$}{line}\n", "", indent = above.len() * 4));
    }
    Some(tree)
}

fn one_text(text: &str, sink: &mut dyn RowSink) -> Result<StatementOutcome, SqlError> {
    // MySQL's length, whatever the text is.
    let ty = ExprType::text(78, Collation::DEFAULT, false);
    sink.columns(&[ty.result_column("EXPLAIN")])?;
    sink.begin_row();
    sink.bytes(text.as_bytes());
    sink.end_row()?;
    Ok(StatementOutcome { rows: Some(1), ..StatementOutcome::default() })
}

fn table(lines: &[Line], sink: &mut dyn RowSink) -> Result<StatementOutcome, SqlError> {
    let column = |name: &&str| -> ResultColumn {
        let text = |chars| ExprType::text(chars, Collation::DEFAULT, true);
        let percent = DataType::Double { decimals: Some(2), unsigned: false };
        let ty = match *name {
            "id" => ExprType::uint(4, false),
            "rows" => ExprType::uint(11, true),
            "filtered" => ExprType { length: 4, ..ExprType::of_column(percent, true) },
            "partitions" => text(1_579_008),
            "select_type" => text(19).with_nullable(false),
            "table" | "key" => text(64),
            "type" => text(10),
            "possible_keys" | "key_len" => text(4096),
            "ref" => text(1024),
            _ => text(255).with_nullable(false),
        };
        ty.result_column(name)
    };
    let columns: Vec<ResultColumn> = COLUMNS.iter().map(column).collect();
    sink.columns(&columns)?;
    for line in lines {
        sink.begin_row();
        number(line.id.map(|id| id as u64), sink);
        sink.bytes(line.select_type.as_bytes());
        text(line.table.as_deref(), sink);
        text(line.partitions.as_deref(), sink);
        text(line.access, sink);
        for cell in [&line.possible_keys, &line.key, &line.key_len, &line.reference] {
            text(cell.as_deref(), sink);
        }
        number(line.rows, sink);
        match line.filtered {
            Some(filtered) => sink.double(filtered),
            None => sink.null(),
        }
        text(line.extra_text().as_deref(), sink);
        sink.end_row()?;
    }
    Ok(StatementOutcome { rows: Some(lines.len() as u64), ..StatementOutcome::default() })
}

fn text(value: Option<&str>, sink: &mut dyn RowSink) {
    match value {
        Some(value) => sink.bytes(value.as_bytes()),
        None => sink.null(),
    }
}

fn number(value: Option<u64>, sink: &mut dyn RowSink) {
    match value {
        Some(value) => sink.uint(value),
        None => sink.null(),
    }
}
