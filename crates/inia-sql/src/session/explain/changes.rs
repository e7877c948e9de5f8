//! EXPLAIN of INSERT, REPLACE, UPDATE and DELETE: how their rows are found.
//!
//! The rows of an UPDATE or DELETE are found as those of a query over the same tables; the lines of
//! its targets say so. Example: `EXPLAIN UPDATE t SET b = 1 WHERE a = 2` describes `SELECT * FROM t
//! WHERE a = 2`, and its line says UPDATE in place of SIMPLE.

use crate::session::plan;
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{self, DeleteTarget, InsertSource, QueryBody, Statement, TableRef};
use inia_query::context::SessionContext;
use inia_query::dml;
use inia_query::explain::{Line, describe};
use inia_query::plan::StatementPlan;
use inia_query::planner::plan_source;
use std::borrow::Cow;

/// Lines, and the plan of the query that finds the rows.
type Lines = Result<(Vec<Line>, Option<StatementPlan>), SqlError>;

/// The lines of a statement that changes rows. Its errors are those that it would meet itself.
/// Where rows are kept before any of them goes into the table, the statement says SQL_BUFFER_RESULT
/// then.
pub(super) fn lines(session: &SessionContext, statement: &mut Cow<'_, Statement>) -> Lines {
    match &**statement {
        Statement::Insert(insert) => {
            let lines = of_insert(session, insert)?;
            if lines.1.as_ref().is_some_and(|plan| reads_target(session, insert, plan))
                && let Statement::Insert(insert) = statement.to_mut()
                && let InsertSource::Query(query) = &mut insert.source
                && let QueryBody::Select(select) = &mut query.body
            {
                select.options.buffer_result = true;
            }
            Ok(lines)
        }
        Statement::Update(update) => {
            plan::plan(session, statement)?;
            let (update, guard) = dml::update_through(session, update)?;
            session.check_view_rights(&guard.views)?;
            session.check_explains(&guard.views)?;
            let mut lines = of_update(session, &update)?;
            if let (true, [TableRef::Table(factor)]) =
                (guard.is_through(), update.tables.as_slice())
            {
                name_base(&mut lines.0, factor);
            }
            Ok(lines)
        }
        Statement::Delete(delete) => {
            plan::plan(session, statement)?;
            let (delete, guard) = dml::delete_through(session, delete)?;
            session.check_view_rights(&guard.views)?;
            session.check_explains(&guard.views)?;
            let mut lines = of_delete(session, &delete)?;
            if let (true, DeleteTarget::Single(factor)) = (guard.is_through(), &delete.target) {
                name_base(&mut lines.0, factor);
            }
            Ok(lines)
        }
        _ => Err(SqlError::new(ErrorCode::NotSupportedYet, &[&"EXPLAIN of this statement"])),
    }
}

/// The line of a table that is changed through a view has the table's own name.
fn name_base(lines: &mut [Line], factor: &ast::TableFactor) {
    for line in lines.iter_mut().filter(|line| line.table.as_deref() == Some(alias(factor))) {
        line.table = Some(factor.name.name.clone());
    }
}

fn of_insert(session: &SessionContext, insert: &ast::Insert) -> Lines {
    let (insert, guard) = dml::insert_through(session, insert)?;
    session.check_view_rights(&guard.views)?;
    session.check_explains(&guard.views)?;
    let plan = dml::plan_insert(session, &insert, guard)?;
    let mut lines = vec![Line {
        id: Some(1),
        select_type: if insert.replace { "REPLACE" } else { "INSERT" }.to_owned(),
        table: Some(insert.table.name.clone()),
        access: Some("ALL"),
        ..Line::default()
    }];
    if let (InsertSource::Query(_), Some(source)) = (&insert.source, plan.source()) {
        session.check_explains(&source.views)?;
        let mut found = describe(source, &session.env, &session.host);
        if reads_target(session, &insert, source) {
            buffered(&mut found);
        }
        match found.as_mut_slice() {
            // No row is read.
            [line] if line.table.is_none() => {
                if line.extra != ["No tables used"] {
                    line.select_type.clone_from(&lines[0].select_type);
                    lines = found;
                }
            }
            _ => lines.extend(found),
        }
    }
    Ok((lines, plan.into_source()))
}

/// Whether INSERT … SELECT reads the table that it inserts into, so that its rows are kept first.
fn reads_target(session: &SessionContext, insert: &ast::Insert, source: &StatementPlan) -> bool {
    let is_select = match &insert.source {
        InsertSource::Query(query) => matches!(query.body, QueryBody::Select(_)),
        _ => false,
    };
    let target = dml::insert_through(session, insert).ok().and_then(|(insert, _)| {
        let schema = insert.table.db.clone().or_else(|| session.env.database.clone())?;
        session.table(&schema, &insert.table.name)
    });
    let is_target = |id| target.as_ref().is_some_and(|target| target.def.id == id);
    is_select && source.tables.iter().any(|table| is_target(table.def.id))
}

/// The lines of a query whose rows are kept before any is sent.
pub(super) fn buffered(lines: &mut [Line]) {
    let is_own = |line: &&mut Line| {
        matches!(line.select_type.as_str(), "SIMPLE" | "PRIMARY")
            && line.access.is_some_and(|access| !matches!(access, "const" | "system"))
    };
    if let Some(line) = lines.iter_mut().find(is_own)
        && !line.extra.contains(&"Using temporary")
    {
        let sorts = line.extra.iter().position(|extra| *extra == "Using filesort");
        line.extra.insert(sorts.unwrap_or(line.extra.len()), "Using temporary");
    }
}

/// What is read of tables that are changed: all columns, and of others what is stored.
fn read_of(
    from: &[TableRef],
    is_target: &dyn Fn(&str) -> Option<&'static str>,
    values: &[ast::Assignment],
) -> Vec<ast::SelectItem> {
    let (mut names, mut plain) = (Vec::new(), true);
    from.iter().for_each(|table| collect_names(table, (&mut names, &mut plain)));
    let targets = names.iter().filter(|name| is_target(name).is_some());
    let whole = |name: &String| {
        ast::SelectItem::TableWildcard(ast::ObjectName { db: None, name: name.clone() })
    };
    let mut items: Vec<ast::SelectItem> = targets.map(whole).collect();
    if !plain || names.len() < 2 || items.is_empty() {
        return vec![ast::SelectItem::Wildcard];
    }
    let values = values.iter().map(|assignment| &assignment.value);
    let is_default =
        |value: &ast::Expr| matches!(value, ast::Expr::Default | ast::Expr::DefaultOf(_));
    let values = values.filter(|value| !is_default(value));
    items.extend(values.map(|value| ast::SelectItem::Expr {
        expr: value.clone(),
        alias: None,
        text: String::new(),
    }));
    items
}

/// Adds the names that tables go by; `plain` becomes false where there are others than named ones
/// of the current database.
fn collect_names(table: &TableRef, (names, plain): (&mut Vec<String>, &mut bool)) {
    match table {
        TableRef::Table(factor) => {
            *plain &= factor.alias.is_some() || factor.name.db.is_none();
            names.push(alias(factor).to_owned());
        }
        TableRef::Join(join) => {
            collect_names(&join.left, (names, plain));
            collect_names(&join.right, (names, plain));
        }
        TableRef::List(list) => list.iter().for_each(|one| collect_names(one, (names, plain))),
        TableRef::Derived(_) | TableRef::JsonTable(_) => *plain = false,
    }
}

/// The lines of a SELECT of `items` with those of the targets marked.
fn found(
    session: &SessionContext,
    (from, values): (&[TableRef], &[ast::Assignment]),
    (with, condition): (Option<&ast::With>, Option<&ast::Expr>),
    order: (&[ast::OrderItem], Option<&ast::Limit>),
    is_target: &dyn Fn(&str) -> Option<&'static str>,
) -> Lines {
    let select = ast::Select {
        items: read_of(from, is_target, values),
        from: from.to_vec(),
        where_: condition.cloned(),
        ..ast::Select::default()
    };
    let mut query = ast::Query::new(ast::QueryBody::Select(Box::new(select)));
    query.with = with.cloned();
    query.order_by = order.0.to_vec();
    query.limit = order.1.cloned();
    let plan = plan_source(session, &query)?;
    session.check_explains(&plan.views)?;
    let mut lines = describe(&plan, &session.env, &session.host);
    let single = matches!(from, [TableRef::Table(_)]);
    // A change that finds nothing is shown as what it is.
    if let ([TableRef::Table(factor)], [line]) = (from, lines.as_mut_slice())
        && line.table.is_none()
        && let Some(word) = is_target(alias(factor))
    {
        line.select_type = word.to_owned();
    }
    if let ([line], Some(limit)) = (lines.as_mut_slice(), order.1)
        && condition.is_none()
        && order.0.is_empty()
        && let ast::Expr::Literal(ast::Literal::Int(count)) = &limit.count
    {
        line.rows = line.rows.map(|rows| rows.min(*count));
    }
    for line in &mut lines {
        let target = line.table.as_deref().and_then(is_target);
        let Some(word) = target.filter(|_| line.id == Some(1)) else { continue };
        line.select_type = word.to_owned();
        if single {
            as_changed(line, condition.is_some());
        }
    }
    Ok((lines, Some(plan)))
}

/// A single table's rows are always found by ranges, and always checked.
fn as_changed(line: &mut Line, conditional: bool) {
    if matches!(line.access, Some("const" | "ref" | "eq_ref" | "system")) {
        line.access = Some("range");
    }
    if line.access == Some("range") {
        line.reference = Some(vec!["const"; line.key_parts.len().max(1)].join(","));
    }
    line.filtered = Some(100.0);
    if let Some(keys) = line.possible_keys.take() {
        let keys = keys.split(',').filter(|key| !line.converted.iter().any(|c| c == key));
        let keys = keys.collect::<Vec<_>>().join(",");
        line.possible_keys = Some(keys).filter(|keys| !keys.is_empty());
    }
    line.extra.retain(|extra| *extra != "Using index condition" && *extra != "Using index");
    if conditional && !line.extra.contains(&"Using where") {
        line.extra.insert(0, "Using where");
    }
}

/// UPDATE of a whole table reads it by its clustered index.
fn show_order_of_rows(session: &SessionContext, name: &ast::ObjectName, line: &mut Line) {
    let schema = name.db.as_deref().or(session.env.database.as_deref());
    let table = schema.and_then(|schema| session.table(schema, &name.name));
    if line.access != Some("ALL") || line.key.is_some() {
        return;
    }
    if let Some(def) = table.as_ref().map(|table| &table.def)
        && let Some(index) = def.clustered_index()
    {
        line.access = Some("index");
        line.key = Some(index.name.clone());
        line.key_len = Some(def.key_length(index, index.parts.len()).to_string());
    }
}

fn alias(factor: &ast::TableFactor) -> &str {
    factor.alias.as_deref().unwrap_or(&factor.name.name)
}

fn of_update(session: &SessionContext, update: &ast::Update) -> Lines {
    let sole = match update.tables.as_slice() {
        [TableRef::Table(factor)] => Some(alias(factor)),
        _ => None,
    };
    let assigned = |table: &str| {
        let named = |assignment: &ast::Assignment| match &assignment.column.table {
            Some(of) => of == table,
            None => sole.is_some_and(|sole| sole == table),
        };
        update.assignments.iter().any(named).then_some("UPDATE")
    };
    let conditions = (update.with.as_ref(), update.where_.as_ref());
    let order = (update.order_by.as_slice(), update.limit.as_ref());
    let sole_target = |table: &str| (sole == Some(table)).then_some("UPDATE");
    let is_target = |table: &str| sole_target(table).or_else(|| assigned(table));
    let mut found =
        found(session, (&update.tables, &update.assignments), conditions, order, &is_target)?;
    if let ([TableRef::Table(factor)], [line]) = (update.tables.as_slice(), found.0.as_mut_slice())
    {
        show_order_of_rows(session, &factor.name, line);
    }
    // Rows that move in the index that is read are collected before any is changed, and so are
    // those that come in an order.
    if let (Some(_), [line]) = (sole, found.0.as_mut_slice())
        && matches!(line.access, Some("range" | "index_merge" | "index"))
        && !line.extra.contains(&"Using filesort")
    {
        let moves = update.assignments.iter().any(|set| line.key_parts.contains(&set.column.name));
        let by_index = line.access != Some("index");
        if moves && by_index || !update.order_by.is_empty() {
            line.extra.push("Using temporary");
        }
    }
    Ok(found)
}

fn of_delete(session: &SessionContext, delete: &ast::Delete) -> Lines {
    let conditions = (delete.with.as_ref(), delete.where_.as_ref());
    let order = (delete.order_by.as_slice(), delete.limit.as_ref());
    match &delete.target {
        DeleteTarget::Single(factor) => {
            let own = alias(factor);
            let is_target = |table: &str| (table == own).then_some("DELETE");
            let from = [TableRef::Table(factor.clone())];
            let (mut lines, plan) = found(session, (&from, &[]), conditions, order, &is_target)?;
            if let [line] = lines.as_mut_slice()
                && delete.where_.is_none()
                && delete.limit.is_none()
            {
                (line.access, line.key, line.key_len) = (Some("ALL"), None, None);
                line.extra = vec!["Deleting all rows"];
            }
            Ok((lines, plan))
        }
        DeleteTarget::Multi { targets, from } => {
            let is_target =
                |table: &str| targets.iter().any(|target| target.name == table).then_some("DELETE");
            found(session, (from, &[]), conditions, order, &is_target)
        }
    }
}
