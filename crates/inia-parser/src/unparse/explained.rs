//! What EXPLAIN shows of a rewritten statement.
//!
//! SELECTs stand with their numbers, and FROM is a list of joins. What is no SQL is a call of a
//! function whose name no statement can call without quotes: `<cache>`, whose value is computed
//! once, or `multiple equal`, what is equal in all rows. For example ``/* select#1 */ select
//! `d`.`t`.`a` AS `a` from `d`.`t` where (`d`.`t`.`b` > <cache>((1 + 2)))``.

use super::{Printer, quote_name};
use crate::ast::{
    Assignment, Delete, DeleteTarget, Expr, FunctionCall, HintedBlock, Insert, InsertSource, Limit,
    Literal, OrderItem, Priority, QueryBody, Select, Statement, TableRef, Update,
};

/// The name of the call whose operands are all equal.
pub const MULTIPLE_EQUAL: &str = "multiple equal";

/// Where the printed part of an alias ends: behind it is what distinguishes tables of one name,
/// which come from different views or derived tables.
pub const TWIN: char = '\0';

/// The text that EXPLAIN shows of a query or a change of rows that has been rewritten. `None`
/// where it holds what has no text. `hints` are those that the session took.
pub fn unparse_explained(statement: &Statement, hints: Vec<String>) -> Option<String> {
    let hints = Some(hints);
    printed(statement, Printer { explained: true, hints, ..Printer::new(Some(false), false) })
}

/// What is before the mark that distinguishes tables of one name.
pub(super) fn shown_name(name: &str) -> &str {
    name.split(TWIN).next().unwrap_or(name)
}

/// The same without names of databases, as the optimizer's trace shows it.
pub fn unparse_traced(statement: &Statement) -> Option<String> {
    let hints = Some(Vec::new());
    printed(statement, Printer { explained: true, hints, ..Printer::new(Some(true), false) })
}

/// A condition as the optimizer's trace shows it.
pub fn unparse_traced_condition(condition: &Expr) -> Option<String> {
    let mut printer = Printer { explained: true, ..Printer::new(Some(true), false) };
    printer.condition(condition);
    printer.possible.then_some(printer.out)
}

fn printed(statement: &Statement, mut printer: Printer) -> Option<String> {
    match statement {
        Statement::Select(query) => printer.query(query),
        Statement::Insert(insert) => printer.insert(insert),
        Statement::Update(update) => printer.update(update),
        Statement::Delete(delete) => printer.delete(delete),
        _ => return None,
    }
    printer.possible.then_some(printer.out)
}

fn first_select(body: &QueryBody) -> Option<&Select> {
    match body {
        QueryBody::Select(select) => Some(select),
        QueryBody::SetOperation { first, .. } => first_select(first),
        QueryBody::Nested(query) => first_select(&query.body),
        QueryBody::Values(_) | QueryBody::Table(_) => None,
    }
}

/// Whether a function's name is one of what is no SQL.
pub(super) fn is_internal(name: &str) -> bool {
    name == MULTIPLE_EQUAL || name.starts_with('<')
}

impl Printer {
    pub(super) fn internal(&mut self, call: &FunctionCall) {
        match (call.name.as_str(), call.args.as_slice()) {
            (MULTIPLE_EQUAL, args) => {
                self.put("multiple equal(");
                self.list(args, ", ");
                self.put(")");
            }
            ("<if>", [condition]) => {
                self.put("<if>(outer_field_is_not_null, ");
                self.expr(condition);
                self.put(", true)");
            }
            // A single query brings its parentheses.
            (name @ ("<exists>" | "<max>" | "<min>"), [query @ Expr::Subquery(_)]) => {
                self.put(name);
                self.expr(query);
            }
            ("<materialize>", [left, Expr::Subquery(query), column]) => {
                self.expr(left);
                self.put(" in ( <materialize> (");
                self.query(query);
                self.put(" ), <primary_index_lookup>(");
                self.expr(left);
                self.put(" in <temporary table> on <auto_distinct_key> where ((");
                self.expr(left);
                self.put(" = `<materialized_subquery>`.");
                if let Expr::Literal(Literal::String { value, .. }) = column {
                    self.put(&quote_name(value));
                }
                self.put("))))");
            }
            (
                name @ ("<index_lookup>" | "<primary_index_lookup>"),
                [
                    left,
                    Expr::Literal(Literal::String { value: table, .. }),
                    Expr::Literal(Literal::String { value: index, .. }),
                    condition @ ..,
                ],
            ) => {
                self.put(name);
                self.put("(<cache>(");
                self.expr(left);
                self.put(&format!(") in {table} on {index}"));
                for condition in condition {
                    self.put(" where ");
                    self.expr(condition);
                }
                self.put(")");
            }
            (name, args) => {
                self.put(name);
                self.put("(");
                self.list(args, ",");
                self.put(")");
            }
        }
    }

    fn priority(&mut self, priority: Priority, ignore: bool) {
        self.put(match priority {
            Priority::Low => "low_priority ",
            Priority::High => "high_priority ",
            Priority::Normal | Priority::Delayed | Priority::Concurrent => "",
        });
        self.put(if ignore { "ignore " } else { "" });
    }

    fn assignments(&mut self, assignments: &[Assignment]) {
        self.separated(assignments, ",", |printer, assignment| {
            printer.column(&assignment.column);
            printer.put(" = ");
            printer.expr(&assignment.value);
        });
    }

    fn insert(&mut self, insert: &Insert) {
        if let InsertSource::Query(query) = &insert.source {
            self.with(query.with.as_ref());
        }
        self.put(if insert.replace { "replace " } else { "insert " });
        let hints = match &insert.source {
            InsertSource::Query(query) => first_select(&query.body).and_then(|s| s.hints.clone()),
            _ => None,
        };
        self.statement_hints(hints.map(HintedBlock::elsewhere).as_ref());
        self.priority(insert.priority, insert.ignore);
        self.put("into ");
        self.object(&insert.table);
        self.put(" ");
        if !insert.columns.is_empty() {
            self.put("(");
            self.separated(&insert.columns, ",", Self::column);
            self.put(") ");
        }
        match &insert.source {
            InsertSource::Values(rows) => {
                self.put("values ");
                self.separated(rows, ",", |printer, row| {
                    printer.put("(");
                    printer.list(row, ",");
                    printer.put(")");
                });
            }
            InsertSource::Query(query) => self.after_with(query),
            InsertSource::Rows(_) => self.possible = false,
        }
        if !insert.on_duplicate.is_empty() {
            self.put(" on duplicate key update ");
            self.assignments(&insert.on_duplicate);
        }
    }

    /// Tables that are changed; what stands for a view is in parentheses.
    fn changed(&mut self, tables: &[TableRef]) {
        match tables {
            [TableRef::List(list)] => {
                self.put("(");
                self.table_list(list);
                self.put(")");
            }
            tables => self.table_list(tables),
        }
    }

    fn found(&mut self, condition: Option<&Expr>, order: &[OrderItem], limit: Option<&Limit>) {
        if let Some(condition) = condition {
            self.put(" where ");
            self.condition(condition);
        }
        if !order.is_empty() {
            self.put(" order by ");
            self.separated(order, ",", Self::order_item);
        }
        limit.into_iter().for_each(|limit| self.limit(limit));
    }

    fn update(&mut self, update: &Update) {
        self.with(update.with.as_ref());
        self.put("update ");
        self.statement_hints(update.hints.as_ref());
        self.priority(update.priority, update.ignore);
        self.changed(&update.tables);
        self.put(" set ");
        self.assignments(&update.assignments);
        self.found(update.where_.as_ref(), &update.order_by, update.limit.as_ref());
    }

    fn delete(&mut self, delete: &Delete) {
        self.with(delete.with.as_ref());
        self.put("delete ");
        self.statement_hints(delete.hints.as_ref());
        self.priority(delete.priority, false);
        self.put(if delete.quick { "quick " } else { "" });
        self.put(if delete.ignore { "ignore " } else { "" });
        match &delete.target {
            DeleteTarget::Single(factor) => {
                self.put("from ");
                self.table_list(&[TableRef::Table(factor.clone())]);
            }
            DeleteTarget::Multi { targets, from } => {
                self.separated(targets, ", ", Self::object);
                self.put(if targets.is_empty() { "from " } else { " from " });
                self.changed(from);
            }
        }
        self.found(delete.where_.as_ref(), &delete.order_by, delete.limit.as_ref());
    }
}
