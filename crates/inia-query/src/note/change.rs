//! INSERT, REPLACE, UPDATE and DELETE.

use super::Rewriter;
use super::condition::{normal, truth};
use super::joins::{each_table, from_of, list_of};
use super::unfold::Unfolder;
use inia_parser::ast::*;

impl Rewriter<'_> {
    pub(super) fn change(&mut self, statement: &Statement) -> Option<Statement> {
        match statement {
            Statement::Insert(insert) => self.insert(insert),
            Statement::Update(update) => self.update(update),
            Statement::Delete(delete) => self.delete(delete),
            _ => None,
        }
    }

    fn insert(&mut self, insert: &Insert) -> Option<Statement> {
        let mut insert = insert.clone();
        insert.table.db = insert.table.db.or_else(|| self.session.env.database.clone());
        let (schema, name) = (insert.table.db.clone()?, insert.table.name.clone());
        let full = |column: &ColumnName| ColumnName {
            db: Some(schema.clone()),
            table: Some(name.clone()),
            name: column.name.clone(),
        };
        insert.columns = insert.columns.iter().map(full).collect();
        let factor = TableFactor {
            name: insert.table.clone(),
            partitions: Vec::new(),
            alias: None,
            hints: Vec::new(),
        };
        let target = TableRef::Table(Box::new(factor));
        let source = std::mem::replace(&mut insert.source, InsertSource::Values(Vec::new()));
        insert.source = match source {
            InsertSource::Query(query) => match query.body {
                QueryBody::Values(rows) if query.order_by.is_empty() => InsertSource::Values(rows),
                _ => InsertSource::Query(Box::new(self.whole_query(*query))),
            },
            InsertSource::Rows(rows) => InsertSource::Values(rows.to_exprs()),
            other => other,
        };
        if let InsertSource::Values(rows) = &mut insert.source {
            for value in rows.iter_mut().flatten() {
                self.value_of(&target, value, false);
            }
        }
        for assignment in &mut insert.on_duplicate {
            self.said.values_function(&assignment.value);
            self.assign(&insert.row_alias, &target, assignment);
        }
        Some(Statement::Insert(Box::new(insert)))
    }

    /// One assignment of ON DUPLICATE KEY UPDATE.
    fn assign(&mut self, row: &Option<RowAlias>, target: &TableRef, assignment: &mut Assignment) {
        let mut column = Expr::Column(assignment.column.clone());
        self.value_of(target, &mut column, true);
        if let Expr::Column(name) = column {
            assignment.column = name;
        }
        if let Some(row) = row {
            of_row(row, &mut assignment.value);
        }
        self.value_of(target, &mut assignment.value, true);
    }

    /// Resolves a value; it may name columns of the target where it is `beside` it.
    fn value_of(&mut self, target: &TableRef, value: &mut Expr, beside: bool) {
        let item = SelectItem::Expr { expr: value.clone(), alias: None, text: String::new() };
        let from = if beside { vec![target.clone()] } else { Vec::new() };
        let select = Select { items: vec![item], from, ..Select::default() };
        let mut query = Query::new(QueryBody::Select(Box::new(select)));
        let mut unfolder = Unfolder::new(self.session, self.catalog, &self.order, self.params);
        unfolder.query(&mut query, 0);
        self.said.append(unfolder.said);
        self.resolver().query(&mut query, false);
        if let QueryBody::Select(select) = query.body
            && let Some(SelectItem::Expr { expr, .. }) = select.items.into_iter().next()
        {
            *value = expr;
            self.subqueries(value, false);
        }
    }

    /// Resolves tables, condition, order and assigned columns and values of a change.
    fn resolved(
        &mut self,
        with: Option<&With>,
        from: Vec<TableRef>,
        (condition, order_by): (Option<Expr>, Vec<OrderItem>),
        assignments: &[Assignment],
    ) -> (Box<Select>, Vec<OrderItem>) {
        let sides = assignments.iter().flat_map(|assignment| {
            [Expr::Column(assignment.column.clone()), assignment.value.clone()]
        });
        let item = |expr| SelectItem::Expr { expr, alias: None, text: String::new() };
        let items = sides.map(item).collect();
        let select = Select { items, from, where_: condition, ..Select::default() };
        let mut query = Query::new(QueryBody::Select(Box::new(select)));
        query.order_by = order_by;
        query.with = with.cloned();
        let mut unfolder = Unfolder::new(self.session, self.catalog, &self.order, self.params);
        unfolder.query(&mut query, 0);
        self.said.append(unfolder.said);
        self.resolver().query(&mut query, false);
        self.outer_references(&query);
        match query.body {
            QueryBody::Select(select) => (select, query.order_by),
            _ => (Box::default(), Vec::new()),
        }
    }

    /// Rewrites what was resolved; returns FROM, WHERE and the other expressions.
    fn rewritten(
        &mut self,
        select: Box<Select>,
        order_by: &mut [OrderItem],
        joined: bool,
    ) -> (Vec<TableRef>, Option<Expr>, Vec<Expr>) {
        let mut select = *select;
        let views = select.from.iter().any(|table| matches!(table, TableRef::Derived(_)));
        let single = matches!(select.from[..], [TableRef::Table(_)]);
        let mut merged = Vec::new();
        self.merge_from(&mut select, &mut merged);
        super::merge::substitute_select(&mut select, &merged);
        for merged in merged.iter().rev() {
            order_by.iter_mut().for_each(|i| super::merge::substitute(&mut i.expr, merged));
        }
        let written = select.from.clone();
        let list = list_of(std::mem::take(&mut select.from));
        let before = list.len();
        let (from, condition) = if joined {
            let (list, condition, _) = self.found(list, select.where_.take());
            (from_of(list), condition)
        } else {
            self.add_tables(&list);
            let condition = select.where_.take().map(|condition| self.decided(normal(condition)));
            let condition = condition.filter(|condition| *condition != truth(true));
            if let Some(condition) = &condition {
                self.note_unusable(condition, &super::constant::ConstantTables::default(), false);
            }
            let condition = condition.map(|condition| {
                let mut folded = self.decided(self.folded(condition));
                self.subqueries(&mut folded, true);
                super::fold::cached(folded)
            });
            (from_of(list), condition)
        };
        let mut count = 0;
        each_table(&list_of(from.clone()), &mut |_| count += 1);
        // What subqueries became is not shown among the tables of a single-table statement.
        let shown = match (single && count > before) || (views && before == 1) {
            true => written,
            false => from,
        };
        let mut exprs: Vec<Expr> = Vec::new();
        for item in select.items {
            if let SelectItem::Expr { mut expr, .. } = item {
                self.subqueries(&mut expr, false);
                exprs.push(expr);
            }
        }
        (shown, condition, exprs)
    }

    fn update(&mut self, update: &Update) -> Option<Statement> {
        let mut update = update.clone();
        let order_by = std::mem::take(&mut update.order_by);
        let clauses = (update.where_.take(), order_by);
        let with = update.with.take();
        let tables = std::mem::take(&mut update.tables);
        let single = matches!(tables[..], [TableRef::Table(_)]);
        let (select, mut order_by) =
            self.resolved(with.as_ref(), tables, clauses, &update.assignments);
        let joined = !single || has_unnestable(select.where_.as_ref());
        let around = std::mem::take(&mut self.printed);
        let (from, condition, exprs) = self.rewritten(select, &mut order_by, joined);
        let inside = std::mem::replace(&mut self.printed, around);
        update.with = self.with_of(with, inside);
        (update.tables, update.where_, update.order_by) = (from, condition, order_by);
        let mut exprs = exprs.into_iter();
        for assignment in &mut update.assignments {
            if let (Some(Expr::Column(column)), Some(value)) = (exprs.next(), exprs.next()) {
                assignment.column = column;
                assignment.value = value;
            }
        }
        Some(Statement::Update(Box::new(update)))
    }

    fn delete(&mut self, delete: &Delete) -> Option<Statement> {
        let mut delete = delete.clone();
        let order_by = std::mem::take(&mut delete.order_by);
        let clauses = (delete.where_.take(), order_by);
        let with = delete.with.take();
        let (targets, tables) = match &delete.target {
            DeleteTarget::Single(factor) => (Vec::new(), vec![TableRef::Table(factor.clone())]),
            DeleteTarget::Multi { targets, from } => (targets.clone(), from.clone()),
        };
        let targets = targets.into_iter().map(|name| self.target(&tables, name)).collect();
        let single = matches!(delete.target, DeleteTarget::Single(_));
        let (select, mut order_by) = self.resolved(with.as_ref(), tables, clauses, &[]);
        let joined = !single || has_unnestable(select.where_.as_ref());
        let around = std::mem::take(&mut self.printed);
        let (from, condition, _) = self.rewritten(select, &mut order_by, joined);
        let inside = std::mem::replace(&mut self.printed, around);
        delete.with = self.with_of(with, inside);
        delete.target = DeleteTarget::Multi { targets, from };
        (delete.where_, delete.order_by) = (condition, order_by);
        Some(Statement::Delete(Box::new(delete)))
    }

    /// The table that a target of DELETE names.
    fn target(&self, tables: &[TableRef], name: ObjectName) -> ObjectName {
        let mut found = None;
        each_table(&list_of(tables.to_vec()), &mut |table| {
            if let TableRef::Table(factor) = table {
                let alias = factor.alias.as_ref().unwrap_or(&factor.name.name);
                if *alias == name.name {
                    found = Some(factor.name.clone());
                }
            }
        });
        let mut found = found.unwrap_or(name);
        found.db = found.db.or_else(|| self.session.env.database.clone());
        found
    }
}

/// Names the row that INSERT tried to insert as VALUES does.
fn of_row(row: &RowAlias, value: &mut Expr) {
    if let Expr::Column(name) = value {
        if name.table.as_ref() == Some(&row.name) {
            *value = Expr::InsertValue(ColumnName::bare(name.name.clone()));
        }
        return;
    }
    value.for_each_child_mut(&mut |child| of_row(row, child));
}

/// Whether a condition has a subquery that may become a join.
fn has_unnestable(condition: Option<&Expr>) -> bool {
    let Some(condition) = condition else { return false };
    let conditions = super::condition::conjuncts(normal(condition.clone()));
    conditions.iter().any(|one| match one {
        Expr::InSubquery { .. } | Expr::Exists(_) => true,
        Expr::Unary { op: UnaryOp::Not, expr } => matches!(**expr, Expr::Exists(_)),
        _ => false,
    })
}
