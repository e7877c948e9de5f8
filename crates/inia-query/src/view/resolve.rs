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

use crate::bind::{FromColumn, FromTable, Namespace, item_name, visible_after};
use crate::catalog::MAX_NAME;
use crate::catalog::{CatalogVersion, same_name};
use crate::information_schema;
use inia_expr::ExprType;
use inia_parser::ast::*;
use std::cell::RefCell;

/// How a member of FROM is written before its columns.
type Qualifier = (Option<String>, String);

/// A stored table or view: its database and its own name.
type Origin = (String, String);

/// A column of a stored table or view that a query names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedColumn {
    /// The schema of the table or view.
    pub schema: String,
    /// The table or view.
    pub table: String,
    /// As it was written.
    pub column: String,
    /// It is one of all columns: `*` stood for it.
    pub star: bool,
}

/// Members of FROM with the way to write each.
#[derive(Clone, Default)]
struct Names {
    names: Namespace,
    qualifiers: Vec<Qualifier>,
    /// What each member is, where it is stored.
    origins: Vec<Option<Origin>>,
}

impl Names {
    fn of(qualifier: Qualifier, schema: &str, columns: Vec<(String, bool)>) -> Names {
        let ty = ExprType::int(1, true);
        let column = |(name, hidden): (String, bool)| FromColumn {
            slot: 0,
            result: ty.result_column(&name),
            ty: ty.clone(),
            hidden,
            merged: None,
        };
        let columns = columns.into_iter().map(column).collect();
        let (schema, alias) = (schema.to_owned(), qualifier.1.clone());
        let names = Namespace::of(FromTable { schema, alias, columns, stored: false });
        Names { names, qualifiers: vec![qualifier], origins: vec![None] }
    }

    fn append(&mut self, other: Names) {
        // The names were found not to clash when the query was bound.
        if self.names.append(other.names).is_ok() {
            self.qualifiers.extend(other.qualifiers);
            self.origins.extend(other.origins);
        }
    }

    fn written(&self, at: (usize, usize)) -> ColumnName {
        let (db, table) = self.qualifiers[at.0].clone();
        let name = self.names.column(at).result.name.clone();
        ColumnName { db, table: Some(table), name }
    }

    fn find(&self, name: &ColumnName, used: &Used) -> Option<ColumnName> {
        let at = self.names.find(name, "").ok().flatten()?;
        self.note(at, &name.name, false, used);
        Some(self.written(at))
    }

    /// Notes a column that `*` stood for.
    fn note_shown(&self, at: (usize, usize), used: &Used) {
        self.note(at, &self.names.column(at).result.name, true, used);
    }

    fn note(&self, at: (usize, usize), column: &str, star: bool, used: &Used) {
        if let Some((schema, table)) = &self.origins[at.0] {
            let (schema, table, column) = (schema.clone(), table.clone(), column.to_owned());
            used.borrow_mut().push(UsedColumn { schema, table, column, star });
        }
    }
}

/// The columns that were met so far.
type Used = RefCell<Vec<UsedColumn>>;

/// One SELECT that is being resolved.
#[derive(Default)]
struct Level {
    names: Names,
    /// Names of its items and what they are, once known.
    items: Vec<(String, Expr)>,
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
            if alias.is_none() && !usable {
                name = format!("Name_exp_{}", at + 1);
            }
            self.expr(expr);
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
        match item {
            Expr::Column(_) => Some(item.clone()),
            _ if keep_names => Some(Expr::column(name.clone())),
            item => Some(item.clone()),
        }
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
            Expr::UserVar(_) | Expr::SysVar(_) | Expr::Param(_) | Expr::AssignVar { .. } => {
                self.variable = true;
            }
            _ => {}
        }
        expr.for_each_child_mut(&mut |child| self.expr(child));
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

    fn table_ref(&mut self, table: &mut TableRef) -> Names {
        match table {
            TableRef::Table(factor) => self.table(factor),
            TableRef::Derived(derived) => {
                let hidden = match derived.lateral {
                    true => None,
                    false => Some(std::mem::take(&mut self.level().names)),
                };
                let names = self.query(&mut derived.query, true);
                if let Some(hidden) = hidden {
                    self.level().names = hidden;
                }
                plain((None, derived.alias.clone()), or_own(&derived.columns, names))
            }
            TableRef::List(list) => {
                let mut all = Names::default();
                for member in list {
                    let names = self.table_ref(member);
                    all.append(names);
                }
                all
            }
            TableRef::Join(join) => self.join(join),
            TableRef::JsonTable(table) => {
                self.expr(&mut table.doc);
                let mut names = Vec::new();
                table.for_each_name(&mut |name| names.push(name.to_owned()));
                plain((None, table.alias.clone()), names)
            }
        }
    }

    fn table(&mut self, factor: &mut TableFactor) -> Names {
        let TableFactor { name, alias, .. } = factor;
        if alias.as_ref() == Some(&name.name) {
            *alias = None;
        }
        if name.db.is_none()
            && let Some((_, columns)) = self.ctes.iter().rev().find(|(cte, _)| *cte == name.name)
        {
            let alias = alias.clone().unwrap_or_else(|| name.name.clone());
            return plain((None, alias), columns.clone());
        }
        let Some(schema) = name.db.clone().or_else(|| self.database.map(str::to_owned)) else {
            return Names::default();
        };
        name.db = Some(schema.clone());
        let qualifier = match alias {
            Some(alias) => (None, alias.clone()),
            None => (Some(schema.clone()), name.name.clone()),
        };
        let mut names = Names::of(qualifier, &schema, self.columns(&schema, &name.name));
        names.origins = vec![Some((schema, name.name.clone()))];
        names
    }

    /// A table's or view's columns, each with whether `*` leaves it out.
    fn columns(&self, schema: &str, name: &str) -> Vec<(String, bool)> {
        let own = self.catalog.schemas.get(schema);
        if let Some(table) = own.and_then(|schema| schema.tables.get(name)) {
            return table.def.columns.iter().map(|c| (c.name.clone(), c.invisible)).collect();
        }
        if let Some(view) = own.and_then(|schema| schema.views.get(name)) {
            return view.def.columns.iter().map(|c| (c.name.clone(), false)).collect();
        }
        let computed = information_schema::find(schema, name);
        computed.map_or_else(Vec::new, |table| table.column_names())
    }

    fn join(&mut self, join: &mut Join) -> Names {
        let left = self.table_ref(&mut join.left);
        // A lateral member on the right may read the left side, whose names are known meanwhile.
        let saved = self.level().names.clone();
        self.level().names.append(left.clone());
        let right = self.table_ref(&mut join.right);
        self.level().names = saved;
        let shared = shared_columns(join, &left, &right);
        // Shared columns come from the side whose rows are all kept, in RIGHT JOIN the right one.
        let (mut first, second) = match join.kind {
            JoinKind::Right => (right, left),
            _ => (left, right),
        };
        let offset = first.names.tables.len();
        let visible = visible_after(&shared, &first.names, &second.names, offset);
        let used = &self.used;
        let mut equalities = shared.iter().filter_map(|name| {
            let bare = ColumnName::bare(name.clone());
            let pair = match join.kind {
                JoinKind::Right => (second.find(&bare, used)?, first.find(&bare, used)?),
                _ => (first.find(&bare, used)?, second.find(&bare, used)?),
            };
            Some(Expr::Binary {
                op: BinaryOp::Eq,
                left: Box::new(Expr::Column(pair.0)),
                right: Box::new(Expr::Column(pair.1)),
            })
        });
        let condition = match shared.len() {
            0 => None,
            1 => equalities.next(),
            _ => Some(Expr::And(equalities.collect())),
        };
        first.append(second);
        if let Some(visible) = visible {
            first.names.visible = visible;
        } else if join.kind == JoinKind::Right {
            // Without shared columns `*` follows the text, where the left side comes first.
            first.names.visible.sort_by_key(|&(table, _)| table < offset);
        }
        match (&mut join.constraint, condition) {
            (JoinConstraint::On(on), _) => {
                // ON sees the two sides, but no other member of FROM.
                let outer = std::mem::replace(&mut self.level().names, first.clone());
                self.expr(on);
                self.level().names = outer;
            }
            (constraint, Some(condition)) => *constraint = JoinConstraint::On(condition),
            (constraint, None) => *constraint = JoinConstraint::None,
        }
        join.natural = false;
        first
    }
}

/// The names that were written, or a query's own.
fn or_own(written: &[String], own: Vec<String>) -> Vec<String> {
    if written.is_empty() { own } else { written.to_vec() }
}

/// A member that is no stored table.
fn plain(qualifier: Qualifier, columns: Vec<String>) -> Names {
    Names::of(qualifier, "", columns.into_iter().map(|name| (name, false)).collect())
}

/// The columns that USING names or NATURAL finds.
fn shared_columns(join: &Join, left: &Names, right: &Names) -> Vec<String> {
    if let JoinConstraint::Using(columns) = &join.constraint {
        return columns.clone();
    }
    if !join.natural {
        return Vec::new();
    }
    let names = left.names.visible.iter().map(|at| &left.names.column(*at).result.name);
    let both = names.filter(|name| right.names.find_shared(name, "").ok().flatten().is_some());
    both.cloned().collect()
}

/// Gives names of their own to `computed` items that are called as another one: the second of two
/// `a + 1` becomes `Name_exp_a + 1`, a third one `Name_exp_1_a + 1`.
fn give_distinct_names(items: &mut [SelectItem], computed: &[bool]) {
    fn slot(item: &mut SelectItem) -> Option<&mut String> {
        match item {
            SelectItem::Expr { alias, .. } => alias.as_mut(),
            _ => None,
        }
    }
    let mut names: Vec<String> =
        items.iter_mut().map(|item| slot(item).cloned().unwrap_or_default()).collect();
    let first = names.clone();
    for at in 1..names.len() {
        for before in 0..at {
            if !same_name(&names[at], &names[before]) {
                continue;
            }
            let Some(target) = [at, before].into_iter().find(|item| computed[*item]) else {
                continue;
            };
            let base = &first[target];
            let tries = (0..).map(|attempt| match attempt {
                0 => format!("Name_exp_{base}"),
                _ => format!("Name_exp_{attempt}_{base}"),
            });
            let mut tries = tries.map(|name| name.chars().take(MAX_NAME).collect::<String>());
            let free = |name: &String| !names[..=at].iter().any(|other| same_name(other, name));
            names[target] = tries.find(free).unwrap_or_default();
        }
    }
    for (item, name) in items.iter_mut().zip(names) {
        if let Some(slot) = slot(item) {
            *slot = name;
        }
    }
}
