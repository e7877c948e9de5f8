//! Finds the tables that queries and expressions read.

use inia_parser::ast::*;

/// The tables and columns that were found. Names of common table expressions are no tables.
#[derive(Default)]
pub struct ReferencedObjects<'q> {
    /// The tables, in the order of the text.
    pub tables: Vec<&'q ObjectName>,
    /// For each table its alias, where it has one.
    pub(crate) aliases: Vec<Option<&'q str>>,
    /// The columns, in the order of the text.
    pub columns: Vec<&'q ColumnName>,
    /// Columns whose defaults are asked for, or what is inserted into them.
    pub(crate) defaults: Vec<&'q ColumnName>,
    /// Calls of functions that may be stored ones.
    pub(crate) routines: Vec<&'q FunctionCall>,
    /// Tables whose rows FOR UPDATE locks.
    pub locked: Vec<&'q ObjectName>,
    /// A query has FROM, whatever is in it.
    pub has_from: bool,
    passes_over_derived: bool,
    ctes: Vec<&'q str>,
}

impl<'q> ReferencedObjects<'q> {
    /// Collects only what is read row by row: queries in FROM and WITH, which give their rows to a
    /// temporary table first, are passed over.
    pub(crate) fn passing_over_derived() -> ReferencedObjects<'q> {
        ReferencedObjects { passes_over_derived: true, ..ReferencedObjects::default() }
    }

    /// A query with everything in it.
    pub fn query(&mut self, query: &'q Query) {
        let outer = self.ctes.len();
        self.with(query.with.as_ref());
        self.body(&query.body);
        query.order_by.iter().for_each(|item| self.expr(&item.expr));
        if let QueryBody::Select(select) = &query.body {
            self.locking(&query.locking, &select.from);
        }
        self.ctes.truncate(outer);
    }

    /// WITH; its names stay known. Each name is known to those after it, and where WITH is
    /// RECURSIVE to itself.
    pub fn with(&mut self, with: Option<&'q With>) {
        let Some(with) = with else { return };
        for cte in &with.ctes {
            let known = self.ctes.len();
            if with.recursive {
                self.ctes.push(&cte.name);
            }
            if !self.passes_over_derived {
                self.query(&cte.query);
            }
            self.ctes.truncate(known);
            self.ctes.push(&cte.name);
        }
    }

    /// The tables of FROM that FOR UPDATE is about.
    fn locking(&mut self, clauses: &[Locking], from: &'q [TableRef]) {
        let updates = |lock: &&Locking| lock.strength == LockStrength::Update;
        let of: Vec<&Locking> = clauses.iter().filter(updates).collect();
        if of.is_empty() {
            return;
        }
        for factor in named_tables(from) {
            let alias = factor.alias.as_ref().unwrap_or(&factor.name.name);
            let named = |lock: &&Locking| {
                lock.of.is_empty() || lock.of.iter().any(|name| name.name == *alias)
            };
            if of.iter().any(named) && !self.is_cte(&factor.name) {
                self.locked.push(&factor.name);
            }
        }
    }

    /// Whether the name is one of WITH's.
    pub fn is_cte(&self, name: &ObjectName) -> bool {
        name.db.is_none() && self.ctes.contains(&name.name.as_str())
    }

    /// What a query selects, with everything in it.
    pub(crate) fn body(&mut self, body: &'q QueryBody) {
        match body {
            QueryBody::Select(select) => self.select(select),
            QueryBody::Values(rows) => self.exprs(rows.iter().flatten()),
            QueryBody::Table(name) => {
                self.has_from = true;
                self.table(name, None);
            }
            QueryBody::Nested(query) => self.query(query),
            QueryBody::SetOperation { first, rest } => {
                self.body(first);
                rest.iter().for_each(|term| self.body(&term.body));
            }
        }
    }

    fn select(&mut self, select: &'q Select) {
        for item in &select.items {
            if let SelectItem::Expr { expr, .. } = item {
                self.expr(expr);
            }
        }
        self.has_from |= !select.from.is_empty();
        select.from.iter().for_each(|table| self.table_ref(table));
        self.exprs(select.where_.iter().chain(&select.group_by).chain(&select.having));
        for (_, window) in &select.windows {
            window.for_each_expr(&mut |expr| self.expr(expr));
        }
    }

    /// A table by its name.
    pub(crate) fn table(&mut self, name: &'q ObjectName, alias: Option<&'q str>) {
        if !self.is_cte(name) {
            self.tables.push(name);
            self.aliases.push(alias);
        }
    }

    /// A member of FROM.
    pub fn table_ref(&mut self, table: &'q TableRef) {
        match table {
            TableRef::Table(factor) => self.table(&factor.name, factor.alias.as_deref()),
            TableRef::Derived(_) if self.passes_over_derived => {}
            TableRef::Derived(derived) => self.query(&derived.query),
            TableRef::List(list) => list.iter().for_each(|table| self.table_ref(table)),
            TableRef::JsonTable(table) => self.expr(&table.doc),
            TableRef::Join(join) => {
                self.table_ref(&join.left);
                self.table_ref(&join.right);
                if let JoinConstraint::On(on) = &join.constraint {
                    self.expr(on);
                }
            }
        }
    }

    /// Several expressions.
    pub fn exprs(&mut self, exprs: impl IntoIterator<Item = &'q Expr>) {
        exprs.into_iter().for_each(|expr| self.expr(expr));
    }

    /// An expression with everything in it.
    pub(crate) fn expr(&mut self, expr: &'q Expr) {
        match expr {
            Expr::Column(name) => self.columns.push(name),
            Expr::JsonExtract { column, .. } => self.columns.push(column),
            Expr::DefaultOf(column) | Expr::InsertValue(column) => self.defaults.push(column),
            Expr::Match { columns, against, .. } => {
                self.columns.extend(columns);
                self.expr(against);
            }
            Expr::Subquery(query) | Expr::Exists(query) => self.query(query),
            Expr::InSubquery { expr, query, .. } | Expr::Quantified { left: expr, query, .. } => {
                self.expr(expr);
                self.query(query);
            }
            _ => {
                if let Expr::Function(call) = expr
                    && (call.db.is_some() || call.written.apart)
                {
                    self.routines.push(call);
                }
                expr.for_each_child(&mut |child| self.expr(child));
            }
        }
    }
}

/// The values that SET gives variables.
pub fn values_set(items: &[SetItem]) -> impl Iterator<Item = &Expr> + Clone {
    items.iter().filter_map(|item| match item {
        SetItem::UserVar { value, .. } => Some(value),
        SetItem::SysVar { value, .. } => value.as_ref(),
        _ => None,
    })
}

/// The named tables of FROM, joins included.
pub fn named_tables(tables: &[TableRef]) -> Vec<&TableFactor> {
    let mut found = Vec::new();
    let mut waiting: Vec<&TableRef> = tables.iter().rev().collect();
    while let Some(table) = waiting.pop() {
        match table {
            TableRef::Table(factor) => found.push(factor.as_ref()),
            TableRef::Join(join) => waiting.extend([&join.right, &join.left]),
            TableRef::List(list) => waiting.extend(list.iter().rev()),
            TableRef::Derived(_) | TableRef::JsonTable(_) => {}
        }
    }
    found
}

/// The names of the columns that an expression reads.
pub fn columns_read(expr: &Expr) -> Vec<&str> {
    let mut reads = ReferencedObjects::default();
    reads.expr(expr);
    reads.columns.iter().map(|column| column.name.as_str()).collect()
}

/// The names of the columns whose values or defaults a stored expression needs; none where the text
/// is damaged.
pub fn columns_of_text(text: &str) -> Vec<String> {
    let Ok(parsed) = inia_parser::parse_expr(text, inia_parser::SqlMode::empty()) else {
        return Vec::new();
    };
    let mut reads = ReferencedObjects::default();
    reads.expr(&parsed);
    let names = reads.columns.iter().chain(&reads.defaults);
    names.map(|column| column.name.clone()).collect()
}
