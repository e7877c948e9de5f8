//! Tables of which a key finds one row at most: the row is read, and its columns are values.

use super::condition::{all_of, binary, each_column, has_query, internal, truth};
use super::equal::Equal;
use super::joins::{Joined, Member, key_of, table_of};
use super::order::Key;
use super::{FoundValue, Rewriter};
use crate::catalog::{IndexKind, same_name};
use crate::exec::Runner;
use crate::planner::plan_query;
use inia_base::value::Value;
use inia_expr::convert::to_text;
use inia_parser::ast::*;

/// The tables that were read, with their rows.
#[derive(Default)]
pub(super) struct ConstantTables {
    rows: Vec<(Key, Vec<(String, Expr)>)>,
    /// Conditions on their keys.
    found_by: Vec<Expr>,
    tables: Vec<TableRef>,
    /// A key found nothing.
    pub(super) empty: bool,
}

impl ConstantTables {
    /// Whether no row was read.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The values of the rows that were read.
    pub(super) fn values(&self) -> Vec<FoundValue> {
        let mut values = Vec::new();
        for ((_, table), columns) in &self.rows {
            for (column, value) in columns {
                let value = match value {
                    Expr::Literal(Literal::String { value, .. }) => Some(value.clone()),
                    _ => None,
                };
                values.push(FoundValue { table: table.clone(), column: column.clone(), value });
            }
        }
        values
    }

    /// Whether a table's row was read.
    pub(super) fn reads(&self, table: &Key) -> bool {
        self.rows.iter().any(|(key, _)| key == table)
    }

    fn column(&self, name: &ColumnName) -> Option<&Expr> {
        let key = table_of(name);
        let (_, columns) = self.rows.iter().find(|(own, _)| *own == key)?;
        columns.iter().find(|(own, _)| same_name(own, &name.name)).map(|(_, value)| value)
    }

    /// Puts the values of the tables' columns into an expression.
    pub(super) fn put(&self, expr: &mut Expr) {
        if self.rows.is_empty() {
            return;
        }
        match expr {
            Expr::Column(name) => {
                if let Some(value) = self.column(name) {
                    *expr = value.clone();
                }
            }
            Expr::Subquery(query)
            | Expr::Exists(query)
            | Expr::InSubquery { query, .. }
            | Expr::Quantified { query, .. } => {
                each_expr_of(query, &mut |inside| self.put(inside));
                expr.for_each_child_mut(&mut |child| self.put(child));
            }
            other => other.for_each_child_mut(&mut |child| self.put(child)),
        }
    }

    /// Whether all that a condition names are columns of these tables.
    fn decides(&self, condition: &Expr) -> bool {
        let (mut named, mut own) = (false, true);
        each_column(condition, &mut |column| {
            named = true;
            own &= self.reads(&table_of(column));
        });
        named && own && !has_query(condition)
    }
}

/// Calls `visit` with each expression of a query's SELECTs.
pub(super) fn each_expr_of(query: &mut Query, visit: &mut dyn FnMut(&mut Expr)) {
    fn body(one: &mut QueryBody, visit: &mut dyn FnMut(&mut Expr)) {
        match one {
            QueryBody::Select(select) => {
                for item in &mut select.items {
                    if let SelectItem::Expr { expr, .. } = item {
                        visit(expr);
                    }
                }
                let Select { where_, group_by, having, .. } = &mut **select;
                where_.iter_mut().chain(group_by).chain(having).for_each(visit);
            }
            QueryBody::Nested(query) => each_expr_of(query, visit),
            QueryBody::SetOperation { first, rest } => {
                body(first, visit);
                rest.iter_mut().for_each(|term| body(&mut term.body, visit));
            }
            QueryBody::Values(_) | QueryBody::Table(_) => {}
        }
    }
    body(&mut query.body, visit);
}

impl Rewriter<'_> {
    /// Reads the tables of a list that keys and constants find one row of, and those that are found
    /// by what was read. Their columns become constants of the sets of equal columns.
    pub(super) fn constant_tables(
        &self,
        list: &[Joined],
        equal: &mut [Equal],
        rest: &[Expr],
    ) -> ConstantTables {
        let mut found = ConstantTables::default();
        let straight = list.iter().any(|joined| joined.kind == JoinKind::Straight);
        loop {
            let before = found.rows.len();
            for joined in list {
                let Member::One(table @ TableRef::Table(factor)) = &joined.member else { continue };
                let key = key_of(table);
                let inner = matches!(joined.kind, JoinKind::Inner | JoinKind::Straight);
                if !inner || straight || found.reads(&key) || !factor.partitions.is_empty() {
                    continue;
                }
                let Some(conditions) = self.key_of_one(&key, equal, rest) else { continue };
                found.tables.push(table.clone());
                found.found_by.extend(conditions);
                match self.row_of(&found, &key) {
                    Some(Some(row)) => found.rows.push((key.clone(), row)),
                    Some(None) => {
                        let nulls = self.types.table(&key.0, &key.1).map_or(Vec::new(), |table| {
                            let columns = table.def.columns.iter();
                            columns.map(|column| (column.name.clone(), Expr::null())).collect()
                        });
                        found.rows.push((key, nulls));
                        found.empty = true;
                        return found;
                    }
                    None => {
                        found.tables.pop();
                        continue;
                    }
                }
                for set in equal.iter_mut().filter(|set| set.constant.is_none()) {
                    let value = set.columns.iter().find_map(|column| found.column(column));
                    set.constant = value.map(|value| self.typed(value, &set.columns));
                }
            }
            if found.rows.len() == before {
                return found;
            }
        }
    }

    /// The value of a row as a constant beside columns.
    fn typed(&self, value: &Expr, columns: &[ColumnName]) -> Expr {
        let Expr::Literal(Literal::String { value: text, .. }) = value else {
            return value.clone();
        };
        let number = columns.iter().any(|column| {
            self.types.column(column).is_some_and(|column| {
                super::types::kind(&column.data_type) == super::types::Kind::Number
            })
        });
        match (number, text.parse::<u64>()) {
            (true, Ok(number)) => Expr::int(number),
            _ => value.clone(),
        }
    }

    /// Conditions on all parts of a unique key, where sets of equal columns have constants for
    /// them.
    fn key_of_one(&self, key: &Key, equal: &[Equal], rest: &[Expr]) -> Option<Vec<Expr>> {
        let table = self.types.table(&key.0, &key.1)?;
        table.def.indexes.iter().find_map(|index| {
            let fits = index.unique() && index.kind != IndexKind::Spatial;
            if !fits || index.parts.iter().any(|part| part.prefix.is_some()) {
                return None;
            }
            let part = |part: &crate::catalog::IndexPart| {
                let column = &table.def.columns[part.column];
                let is = |name: &ColumnName| {
                    table_of(name) == *key && same_name(&name.name, &column.name)
                };
                // A number of another kind than the column's stands beside it alone.
                let beside = rest.iter().find(|condition| match condition {
                    Expr::Binary { op: BinaryOp::Eq, left, right } => {
                        let number = matches!(**right, Expr::Literal(Literal::Int(_)));
                        number && matches!(&**left, Expr::Column(name) if is(name))
                    }
                    _ => false,
                });
                if let Some(condition) = beside {
                    return Some(condition.clone());
                }
                let set = equal.iter().find(|set| set.columns.iter().any(is))?;
                let name = set.columns.iter().find(|name| is(name))?;
                let constant = set.constant.clone()?;
                Some(binary(Expr::Column(name.clone()), BinaryOp::Eq, constant))
            };
            index.parts.iter().map(part).collect()
        })
    }

    /// Reads the row of a table: `Some(None)` where there is none, `None` where it cannot be read.
    fn row_of(&self, found: &ConstantTables, key: &Key) -> Option<Option<Vec<(String, Expr)>>> {
        let table = self.types.table(&key.0, &key.1)?;
        let columns: Vec<&String> = table.def.columns.iter().map(|column| &column.name).collect();
        let item = |column: &&String| SelectItem::Expr {
            expr: Expr::Column(ColumnName {
                db: None,
                table: Some(key.1.clone()),
                name: (*column).clone(),
            }),
            alias: None,
            text: String::new(),
        };
        let row = self.first_row(found, columns.iter().map(item).collect(), None)?;
        let named = |row: Vec<Expr>| columns.into_iter().cloned().zip(row).collect();
        Some(row.map(named))
    }

    /// The first row of a query over the tables that were found.
    fn first_row(
        &self,
        found: &ConstantTables,
        items: Vec<SelectItem>,
        condition: Option<Expr>,
    ) -> Option<Option<Vec<Expr>>> {
        let mut conditions = found.found_by.clone();
        conditions.extend(condition);
        conditions.iter_mut().for_each(without_databases);
        let from = found.tables.clone();
        let where_ = all_of(conditions);
        let select = Select { items, from, where_, ..Select::default() };
        let query = Query::new(QueryBody::Select(Box::new(select)));
        let plan = plan_query(self.session, &query, None).ok()?;
        let runner = Runner::new(&plan, self.session.exec_context());
        let mut context = self.session.context(&[], &runner);
        let mut first = None;
        let types: Vec<_> = plan.root.columns.iter().map(|column| column.ty.clone()).collect();
        let read = runner.run(&mut context, &mut |_, row| {
            let values = row.iter().zip(&types).map(|(value, ty)| match value {
                Value::Null => Expr::null(),
                value => Expr::string(to_text(value, ty)),
            });
            first = Some(values.collect());
            Ok(false)
        });
        read.ok()?;
        Some(first)
    }

    /// Takes the conditions out that rows which were read decide. `Err` has what is left of all of
    /// them where one is false.
    pub(super) fn decided_by(
        &self,
        found: &ConstantTables,
        conditions: Vec<Expr>,
    ) -> Result<Vec<Expr>, Expr> {
        let (decided, open): (Vec<Expr>, Vec<Expr>) =
            conditions.into_iter().partition(|condition| found.decides(condition));
        let one = SelectItem::Expr { expr: Expr::int(1), alias: None, text: String::new() };
        for condition in &decided {
            let row = self.first_row(found, vec![one.clone()], Some(condition.clone()));
            if row != Some(None) {
                continue;
            }
            let mut left: Vec<Expr> = decided.iter().chain(&open).cloned().collect();
            left.iter_mut().for_each(|condition| found.put(condition));
            return Err(Expr::And(left));
        }
        Ok(open)
    }

    /// Whether a column of a row that was read has another value than the constant it equals.
    pub(super) fn contradicts(&self, found: &ConstantTables, equal: &[Equal]) -> bool {
        let one = SelectItem::Expr { expr: Expr::int(1), alias: None, text: String::new() };
        equal.iter().any(|set| {
            let Some(constant) = &set.constant else { return false };
            let own = set.columns.iter().filter(|column| found.column(column).is_some());
            let mut conditions = own
                .map(|column| binary(Expr::Column(column.clone()), BinaryOp::Eq, constant.clone()));
            conditions.any(|condition| {
                self.first_row(found, vec![one.clone()], Some(condition)) == Some(None)
            })
        })
    }

    /// What is shown where a key finds no row: the conditions, and what would have been equal.
    pub(super) fn of_no_row(&self, equal: Vec<Equal>, rest: Vec<Expr>) -> Expr {
        let set = |set: Equal| {
            let columns = set.columns.into_iter().map(Expr::Column);
            internal(inia_parser::MULTIPLE_EQUAL, set.constant.into_iter().chain(columns).collect())
        };
        let mut all = rest;
        all.extend(equal.into_iter().map(set));
        all_of(all).unwrap_or_else(|| truth(false))
    }
}

/// Names columns by their tables' aliases alone.
fn without_databases(expr: &mut Expr) {
    if let Expr::Column(name) = expr {
        name.db = None;
    }
    expr.for_each_child_mut(&mut without_databases);
}
