//! A view's query with every name resolved, so that it means the same wherever it is used.
//!
//! `*` becomes a list of columns, columns get their tables, tables their databases, USING and
//! NATURAL become conditions, positions in ORDER BY and GROUP BY what they point at, and select
//! items get names. Example: in the database `d` with `t(a, b)` and `u(a)`,
//!
//! ```text
//! SELECT *, b + 1 FROM t JOIN u USING (a) ORDER BY 2
//! SELECT d.t.a AS a, d.t.b AS b, (d.t.b + 1) AS `b + 1`
//!   FROM d.t JOIN d.u ON d.t.a = d.u.a ORDER BY d.t.b
//! ```
//!
//! The query has been bound before, so it has no errors; a name that is not found here is left as
//! it is.

mod distinct_names;
mod from;
mod names;

pub use names::UsedColumn;

use crate::bind::{FromTable, item_name};
use crate::catalog::{CatalogVersion, same_name};
use crate::catalog::{MAX_NAME, Schema};
use distinct_names::give_distinct_names;
use inia_expr::sequence_of;
use inia_parser::ast::*;
use names::{FromNames, Used, or_own, plain};

/// One SELECT that is being resolved.
#[derive(Default)]
struct Level {
    names: FromNames,
    /// FromNames of its items and what they are, once known.
    items: Vec<(String, Expr)>,
    /// Which of them have an alias.
    aliased: Vec<bool>,
    grouped: bool,
}

/// Resolves the names of one query.
pub struct Resolver<'r> {
    catalog: &'r CatalogVersion,
    database: Option<&'r str>,
    levels: Vec<Level>,
    ctes: Vec<(String, Vec<String>)>,
    /// A variable or parameter was met.
    pub variable: bool,
    /// The next SELECT gives its items names that are all different.
    pub unique: bool,
    /// The text is for EXPLAIN: tables keep their databases beside an alias, and what names a
    /// select item by its alias stays.
    pub explained: bool,
    used: Used,
}

impl<'r> Resolver<'r> {
    /// Resolves names in this catalog, with a default database.
    pub fn new(catalog: &'r CatalogVersion, database: Option<&'r str>) -> Resolver<'r> {
        Resolver {
            catalog,
            database,
            levels: Vec::new(),
            ctes: Vec::new(),
            variable: false,
            unique: false,
            explained: false,
            used: Used::default(),
        }
    }

    /// The columns of stored tables and views that the names met so far stand for.
    pub fn used(self) -> Vec<UsedColumn> {
        self.used.into_inner()
    }

    /// Makes the names of a statement's WITH known.
    pub(crate) fn with(&mut self, with: Option<&With>) {
        let Some(with) = with else { return };
        with.ctes.iter().for_each(|cte| self.cte(&mut cte.clone(), with.recursive));
    }

    /// Resolves an expression that reads one table of these columns; they get its `alias`.
    pub(crate) fn over(&mut self, alias: &str, columns: &[String], expr: &mut Expr) {
        let names = plain((None, alias.to_owned()), columns.to_vec());
        self.levels.push(Level { names, ..Level::default() });
        self.expr(expr);
        self.levels.pop();
    }

    /// Resolves a query expression; `named` gives its columns names of their own. Returns them.
    pub fn query(&mut self, query: &mut Query, named: bool) -> Vec<String> {
        let ctes = self.ctes.len();
        if let Some(with) = &mut query.with {
            let recursive = with.recursive;
            with.ctes.iter_mut().for_each(|cte| self.cte(cte, recursive));
        }
        query.locking.clear();
        let names = match &mut query.body {
            QueryBody::Select(select) => self.select(select, &mut query.order_by, named),
            body => {
                let names = self.body(body, named);
                for item in &mut query.order_by {
                    if let Expr::Literal(Literal::Int(at)) = item.expr
                        && let Some(name) = names.get((at as usize).wrapping_sub(1))
                    {
                        item.expr = Expr::column(name.clone());
                    } else if !matches!(item.expr, Expr::Column(_)) {
                        self.expr(&mut item.expr);
                    }
                }
                names
            }
        };
        self.ctes.truncate(ctes);
        names
    }

    fn cte(&mut self, cte: &mut Cte, recursive: bool) {
        if recursive && let QueryBody::SetOperation { first, rest } = &mut cte.query.body {
            let names = self.body(first, true);
            self.ctes.push((cte.name.clone(), or_own(&cte.columns, names)));
            for term in rest {
                self.body(&mut term.body, true);
            }
            return;
        }
        let names = self.query(&mut cte.query, true);
        self.ctes.push((cte.name.clone(), or_own(&cte.columns, names)));
    }

    fn body(&mut self, body: &mut QueryBody, named: bool) -> Vec<String> {
        match body {
            QueryBody::Select(select) => self.select(select, &mut [], named),
            QueryBody::Nested(query) => self.query(query, named),
            QueryBody::Table(name) => {
                let factor = TableFactor {
                    name: name.clone(),
                    partitions: Vec::new(),
                    alias: None,
                    hints: Vec::new(),
                };
                let mut select = Select {
                    items: vec![SelectItem::Wildcard],
                    from: vec![TableRef::Table(Box::new(factor))],
                    ..Select::default()
                };
                let names = self.select(&mut select, &mut [], named);
                *body = QueryBody::Select(Box::new(select));
                names
            }
            QueryBody::Values(rows) => {
                rows.iter_mut().flatten().for_each(|expr| self.expr(expr));
                let width = rows.first().map_or(0, Vec::len);
                (0..width).map(|at| format!("column_{at}")).collect()
            }
            QueryBody::SetOperation { first, rest } => {
                let names = self.body(first, named);
                for term in rest {
                    self.body(&mut term.body, named);
                }
                names
            }
        }
    }

    fn select(
        &mut self,
        select: &mut Select,
        order_by: &mut [OrderItem],
        named: bool,
    ) -> Vec<String> {
        // The flag is for this SELECT only: those inside it find it cleared.
        let unique = std::mem::take(&mut self.unique);
        self.levels.push(Level::default());
        // FROM comes first, since every other clause names its columns.
        for member in &mut select.from {
            let names = self.table_ref(member);
            self.level().names.append(names);
        }
        let items = std::mem::take(&mut select.items);
        select.items = items.into_iter().flat_map(|item| self.items(item)).collect();
        self.level().grouped = !select.group_by.is_empty();
        // The items come next, since GROUP BY, HAVING and ORDER BY may name them.
        let mut names = Vec::new();
        let mut computed = Vec::new();
        for (at, item) in select.items.iter_mut().enumerate() {
            let SelectItem::Expr { expr, alias, text } = item else { continue };
            computed.push(alias.is_none() && !matches!(expr, Expr::Column(_)));
            let mut name = item_name(expr, alias.as_ref(), text);
            let usable =
                !name.is_empty() && !name.ends_with(' ') && name.chars().count() <= MAX_NAME;
            if alias.is_none() && !usable && !self.explained {
                name = format!("Name_exp_{}", at + 1);
            }
            self.expr(expr);
            let aliased = alias.is_some();
            self.level().aliased.push(aliased);
            if named {
                *alias = Some(name.clone());
            }
            self.level().items.push((name.clone(), expr.clone()));
            names.push(name);
        }
        if unique {
            give_distinct_names(&mut select.items, &computed);
        }
        select.where_.iter_mut().for_each(|expr| self.expr(expr));
        select.group_by.iter_mut().for_each(|expr| self.group_item(expr));
        select.having.iter_mut().for_each(|expr| self.having(expr));
        for (_, window) in &mut select.windows {
            window.for_each_expr_mut(&mut |expr| self.expr(expr));
        }
        order_by.iter_mut().for_each(|item| self.order_item(&mut item.expr));
        self.levels.pop();
        names
    }

    fn level(&mut self) -> &mut Level {
        self.levels.last_mut().expect("a SELECT is being resolved")
    }

    /// A select item; `*` becomes several.
    fn items(&mut self, item: SelectItem) -> Vec<SelectItem> {
        let Resolver { levels, used, .. } = self;
        let names = &levels.last().expect("a SELECT is being resolved").names;
        let column = |name: ColumnName| SelectItem::Expr {
            expr: Expr::Column(name),
            alias: None,
            text: String::new(),
        };
        match item {
            SelectItem::Wildcard => {
                let shown = names.names.visible.iter();
                shown
                    .inspect(|at| names.note_shown(**at, used))
                    .map(|at| column(names.written(*at)))
                    .collect()
            }
            SelectItem::TableWildcard(table) => {
                let is = |member: &FromTable| {
                    let schema = table.db.as_ref().is_none_or(|db| *db == member.schema);
                    schema && member.alias == table.name
                };
                let Some(at) = names.names.tables.iter().position(is) else { return Vec::new() };
                let columns = names.names.tables[at].columns.iter().enumerate();
                let shown = columns.filter(|(_, column)| !column.hidden);
                let shown = shown.map(|(c, _)| (at, c));
                shown
                    .inspect(|at| names.note_shown(*at, used))
                    .map(|at| column(names.written(at)))
                    .collect()
            }
            item => vec![item],
        }
    }

    /// The item that a bare name or a position stands for.
    fn item(&self, expr: &Expr) -> Option<&(String, Expr)> {
        let level = self.levels.last()?;
        match expr {
            Expr::Literal(Literal::Int(at)) => level.items.get((*at as usize).wrapping_sub(1)),
            Expr::Column(ColumnName { table: None, name, .. }) => {
                level.items.iter().find(|(item, _)| same_name(item, name))
            }
            _ => None,
        }
    }

    /// An item in the place of its name; names of expressions stay where rows are grouped.
    fn named_item(&self, expr: &Expr, keep_names: bool) -> Option<Expr> {
        let (name, item) = self.item(expr)?;
        if self.explained {
            let by_alias = matches!(expr, Expr::Column(_)) && self.is_aliased(name);
            return Some(if by_alias { Expr::column(name.clone()) } else { item.clone() });
        }
        match item {
            Expr::Column(_) => Some(item.clone()),
            _ if keep_names => Some(Expr::column(name.clone())),
            item => Some(item.clone()),
        }
    }

    /// Whether the item of this name has it by an alias.
    fn is_aliased(&self, name: &str) -> bool {
        let Some(level) = self.levels.last() else { return false };
        let mut items = level.items.iter().zip(&level.aliased);
        items.any(|((item, _), aliased)| *aliased && item == name)
    }

    fn group_item(&mut self, expr: &mut Expr) {
        if let Expr::Column(name) = expr
            && let Some(found) = self.found_here(name)
        {
            *name = found;
            return;
        }
        match self.named_item(expr, true) {
            Some(item) => *expr = item,
            None => self.expr(expr),
        }
    }

    fn order_item(&mut self, expr: &mut Expr) {
        let grouped = self.level().grouped;
        match self.named_item(expr, grouped) {
            Some(item) => *expr = item,
            None => self.expr(expr),
        }
    }

    fn having(&mut self, expr: &mut Expr) {
        if let Expr::Column(_) = expr
            && let Some(item) = self.named_item(expr, true)
        {
            *expr = item;
            return;
        }
        match expr {
            Expr::Aggregate(_) | Expr::Subquery(_) | Expr::Exists(_) => return self.expr(expr),
            Expr::InSubquery { query, .. } | Expr::Quantified { query, .. } => {
                self.query(query, false);
            }
            _ => {}
        }
        self.own_names(expr);
        expr.for_each_child_mut(&mut |child| self.having(child));
    }

    /// Resolves an expression with everything in it.
    fn expr(&mut self, expr: &mut Expr) {
        self.own_names(expr);
        if let Expr::Function(call) = expr
            && self.qualify_sequence(call)
        {
            return call.args.iter_mut().skip(1).for_each(|arg| self.expr(arg));
        }
        match expr {
            Expr::Exists(query) => {
                let all = |select: &Select| matches!(select.items[..], [SelectItem::Wildcard]);
                if let QueryBody::Select(select) = &mut query.body
                    && all(select)
                    && select.group_by.is_empty()
                {
                    let (expr, text) = (Expr::int(1), String::new());
                    select.items = vec![SelectItem::Expr { expr, alias: None, text }];
                }
                self.query(query, false);
            }
            Expr::Subquery(query)
            | Expr::InSubquery { query, .. }
            | Expr::Quantified { query, .. } => {
                self.query(query, false);
            }
            // The name of a stored function is quoted, and means one of the view's own database.
            Expr::Function(call)
                if call.db.is_none()
                    && call.name != "grouping"
                    && !inia_expr::is_native_function(&call.name) =>
            {
                call.written.apart = true;
            }
            Expr::UserVar(_) | Expr::SysVar(_) | Expr::Param(_) | Expr::AssignVar { .. } => {
                self.variable = true;
            }
            _ => {}
        }
        expr.for_each_child_mut(&mut |child| self.expr(child));
    }

    /// Writes the database before a sequence; whether the call is one for a sequence.
    fn qualify_sequence(&self, call: &mut FunctionCall) -> bool {
        let Some((name, _)) = sequence_of(call) else { return false };
        let Some(schema) = name.table.clone().or_else(|| self.database.map(str::to_owned)) else {
            return false;
        };
        let sequence = |schema: &Schema| schema.sequences.contains_key(&name.name);
        if !self.catalog.schemas.get(&schema).is_some_and(|schema| sequence(schema)) {
            return false;
        }
        if let Some(Expr::Column(name)) = call.args.first_mut() {
            name.table = Some(schema);
        }
        true
    }

    /// The column names that belong to this node itself.
    fn own_names(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Column(name)
            | Expr::JsonExtract { column: name, .. }
            | Expr::DefaultOf(name)
            | Expr::InsertValue(name) => self.column(name),
            Expr::Match { columns, .. } => columns.iter_mut().for_each(|name| self.column(name)),
            _ => {}
        }
    }

    /// A column of the SELECT that is being resolved.
    fn found_here(&self, name: &ColumnName) -> Option<ColumnName> {
        self.levels.last()?.names.find(name, &self.used)
    }

    fn column(&self, name: &mut ColumnName) {
        // What is not found names a select item, and stays.
        let mut levels = self.levels.iter().rev();
        if let Some(found) = levels.find_map(|level| level.names.find(name, &self.used)) {
            *name = found;
        }
    }
}
