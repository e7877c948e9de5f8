//! FROM: its members get slots and names; joins get their conditions.

use super::described::as_stored;
use super::merge::Origin;
use super::namespace::{FromColumn, FromTable, Namespace};
use super::scope::Clause;
use super::{QueryBinder, QueryUse, Result};
use crate::catalog::{
    ColumnDefault, IndexDef, IndexKind, IndexPart, Table, TableDef, View, same_name,
};
use crate::optimize::{FromJoin, FromTree, Leaf, LeafKind, UNKNOWN_ROWS, expected_rows};
use crate::plan::{Body, JoinType, OutputColumn, QueryPlan};
use inia_base::column::flags;
use inia_base::datatype::{DataType, IntWidth};
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::bind::{Binder, EmptyScope};
use inia_expr::conjuncts;
use inia_expr::{CmpOp, Expr, ExprType, lob_bytes};
use inia_parser::ast::{self, JoinConstraint, JoinKind, TableRef};
use inia_storage::{LockMode, LockRequest, WaitPolicy};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A bound FROM.
#[derive(Clone)]
pub(super) struct BoundFrom {
    /// `None` where there is no FROM.
    pub(super) tree: Option<FromTree>,
    /// Slots of the row.
    pub(super) width: usize,
    /// Tables and parts that are joined.
    pub(super) tables: usize,
    /// Conditions of merged members, which belong to WHERE.
    pub(super) conditions: Vec<Expr>,
}

impl BoundFrom {
    /// Joins one more member to all others.
    pub(super) fn join(&mut self, kind: JoinType, leaf: Leaf, on: Vec<Expr>) {
        let right = FromTree::Leaf(leaf);
        self.tree = Some(match self.tree.take() {
            None => right,
            Some(left) => {
                FromTree::Join(Box::new(FromJoin { kind, straight: false, left, right, on }))
            }
        });
    }
}

/// A member or join with its names.
pub(super) struct BoundMember {
    pub(super) tree: FromTree,
    pub(super) names: Namespace,
    /// Conditions of members merged into it, not yet in a join.
    pub(super) conditions: Vec<Expr>,
}

impl BoundMember {
    pub(super) fn new(tree: FromTree, names: Namespace) -> BoundMember {
        BoundMember { tree, names, conditions: Vec::new() }
    }
}

/// Hands out slots, and knows the locking clauses.
pub(super) struct FromContext<'q> {
    pub(super) width: usize,
    /// Tables and parts so far.
    pub(super) tables: usize,
    pub(super) locking: &'q [ast::Locking],
    /// The lock of every member, where the members are a merged view's.
    pub(super) forced: Option<Option<LockRequest>>,
    /// On the inner side of an outer join.
    pub(super) nullable: bool,
}

impl QueryBinder<'_> {
    /// Binds FROM into the innermost level's namespace.
    pub(super) fn from(
        &mut self,
        from: &[TableRef],
        locking: &[ast::Locking],
    ) -> Result<BoundFrom> {
        let mut context =
            FromContext { width: 0, tables: 0, locking, forced: None, nullable: false };
        let mut tree: Option<FromTree> = None;
        let mut conditions = Vec::new();
        for member in from {
            let bound = self.table_ref(member, &mut context)?;
            self.names_mut().append(bound.names)?;
            conditions.extend(bound.conditions);
            tree = Some(match tree {
                None => bound.tree,
                Some(left) => inner(left, bound.tree),
            });
        }
        for name in locking.iter().flat_map(|clause| &clause.of) {
            let known = self.names_mut().tables.iter().any(|table| table.alias == name.name);
            if !known {
                let code = ErrorCode::UnresolvedTableLock;
                return Err(SqlError::new(code, &[&crate::catalog::quoted(&name.name)]));
            }
        }
        Ok(BoundFrom { tree, width: context.width, tables: context.tables, conditions })
    }

    pub(super) fn names_mut(&mut self) -> &mut Namespace {
        &mut self.levels.last_mut().expect("a SELECT is being bound").namespace
    }

    pub(super) fn table_ref(
        &mut self,
        table: &TableRef,
        context: &mut FromContext<'_>,
    ) -> Result<BoundMember> {
        match table {
            TableRef::Table(factor) => self.named_table(factor, context),
            TableRef::Derived(derived) => self.derived_table(derived, context),
            TableRef::Join(join) => self.join(join, context),
            TableRef::List(list) => {
                let (first, rest) = list
                    .split_first()
                    .ok_or_else(|| SqlError::new(ErrorCode::NoTablesUsed, &[]))?;
                let mut bound = self.table_ref(first, context)?;
                for member in rest {
                    let right = self.table_ref(member, context)?;
                    bound.names.append(right.names)?;
                    bound.conditions.extend(right.conditions);
                    bound.tree = inner(bound.tree, right.tree);
                }
                Ok(bound)
            }
            TableRef::JsonTable(table) => self.json_table(table, context),
        }
    }

    fn named_table(
        &mut self,
        factor: &ast::TableFactor,
        context: &mut FromContext<'_>,
    ) -> Result<BoundMember> {
        let alias = factor.alias.as_ref().unwrap_or(&factor.name.name);
        self.one_more_member()?;
        // A bare name is a common table expression first, the innermost of that name. One that does
        // not bind fails here, where it is read.
        if factor.name.db.is_none()
            && let Some(cte) = self.ctes.iter().rev().find(|cte| cte.name == factor.name.name)
        {
            let cte = cte.clone();
            if let Some(error) = &cte.wrong {
                return Err(error.clone());
            }
            self.reads_cte(&cte)?;
            self.recurs(&cte)?;
            let rows = self.subplan_rows(cte.subplan);
            let subplan = SubplanRef { id: cte.subplan, lateral: false, level: cte.level, rows };
            return Ok(subplan_member(subplan, alias, &cte.columns, context));
        }
        let schema = match (&factor.name.db, self.context.database) {
            (Some(db), _) => db.as_str(),
            (None, Some(db)) => db,
            (None, None) => return Err(SqlError::new(ErrorCode::NoDatabaseSelected, &[])),
        };
        if let Some(table) = self.context.virtuals.find(schema, &factor.name.name) {
            let columns: Vec<_> = table.columns().to_vec();
            let (slots, mut names) = member(alias, schema, &columns, context);
            for column in &mut names.tables[0].columns {
                column.result.org_table = table.name().to_owned();
            }
            context.tables += 1;
            let leaf = Leaf { slots, alias: alias.clone(), kind: LeafKind::Virtual(table) };
            return Ok(BoundMember::new(FromTree::Leaf(leaf), names));
        }
        if let Some(view) = self.view(schema, &factor.name.name) {
            return self.view_member(&view, alias, context);
        }
        let table = self.table(schema, &factor.name.name)?;
        self.read_once(&table, alias)?;
        let allowed = allowed_indexes(&table.def, &factor.hints)?;
        let lock = self.lock_of(alias, context);
        let base = context.width;
        context.tables += 1;
        context.width += table.def.columns.len();
        let mut columns: Vec<FromColumn> = (0..table.def.columns.len())
            .map(|index| table_column(&table.def, index, alias, base + index))
            .collect();
        let named = |clause: &ast::Locking| clause.of.iter().any(|name| name.name == *alias);
        // A joined UPDATE or DELETE locks its targets by name. It finds the rows of a table without
        // a primary key by this hidden column.
        if table.def.primary().is_none() && context.locking.iter().any(named) {
            columns.push(row_id_column(alias, context.width));
            context.width += 1;
        }
        let names = Namespace::of(FromTable {
            schema: schema.to_owned(),
            alias: alias.clone(),
            columns,
            stored: true,
        });
        let slots = base..context.width;
        let kind = LeafKind::Table { table, lock, allowed };
        let tree = FromTree::Leaf(Leaf { slots, alias: alias.clone(), kind });
        Ok(BoundMember::new(tree, names))
    }

    /// The view of that name.
    pub(super) fn view(&self, schema: &str, name: &str) -> Option<Arc<View>> {
        self.catalog().schemas.get(schema)?.views.get(name).cloned()
    }

    /// Finds a stored table and notes that the statement reads it.
    fn table(&mut self, schema: &str, name: &str) -> Result<Arc<Table>> {
        let Some(database) = self.catalog().schemas.get(schema) else {
            if schema.eq_ignore_ascii_case("information_schema") {
                let (name, code) = (name.to_uppercase(), ErrorCode::UnknownTableInClause);
                return Err(SqlError::new(code, &[&name, &"information_schema"]));
            }
            if crate::computed::schema(schema).is_some() {
                return Err(SqlError::new(ErrorCode::NoSuchTable, &[&schema, &name]));
            }
            return Err(SqlError::new(ErrorCode::UnknownDatabase, &[&schema]));
        };
        let Some(table) = database.tables.get(name) else {
            return Err(SqlError::new(ErrorCode::NoSuchTable, &[&schema, &name]));
        };
        if !table.shared.estimate_known.swap(true, Ordering::Relaxed)
            && let Ok(rows) = table.store.estimate_rows(&table.clustered)
        {
            let rows = i64::try_from(rows).unwrap_or(i64::MAX);
            table.shared.row_estimate.store(rows, Ordering::Relaxed);
        }
        if !self.tables.iter().any(|known| Arc::ptr_eq(known, table)) {
            self.tables.push(table.clone());
        }
        Ok(table.clone())
    }

    /// Error 1137: a temporary table is open only once.
    fn read_once(&mut self, table: &Arc<Table>, alias: &str) -> Result<()> {
        if !table.def.temporary {
            return Ok(());
        }
        if let Some((_, first)) = self.temporary.iter().find(|(t, _)| Arc::ptr_eq(t, table)) {
            return Err(SqlError::new(ErrorCode::CantReopenTable, &[first]));
        }
        self.temporary.push((table.clone(), alias.to_owned()));
        Ok(())
    }

    /// The lock that reading the member called `alias` takes.
    pub(super) fn lock_of(&self, alias: &str, context: &FromContext<'_>) -> Option<LockRequest> {
        if let Some(forced) = context.forced {
            return forced;
        }
        let clause = context
            .locking
            .iter()
            .find(|clause| clause.of.is_empty() || clause.of.iter().any(|name| name.name == alias));
        let Some(clause) = clause else { return self.context.plain_lock };
        Some(LockRequest {
            mode: match clause.strength {
                ast::LockStrength::Update => LockMode::Exclusive,
                ast::LockStrength::Share => LockMode::Shared,
            },
            wait: match clause.wait {
                ast::LockWait::Wait => WaitPolicy::Wait,
                ast::LockWait::NoWait => WaitPolicy::NoWait,
                ast::LockWait::SkipLocked => WaitPolicy::SkipLocked,
            },
        })
    }

    fn derived_table(
        &mut self,
        derived: &ast::DerivedTable,
        context: &mut FromContext<'_>,
    ) -> Result<BoundMember> {
        if !derived.lateral
            && let Some(select) = self.mergeable(&derived.query, context.nullable)
            && self.fits(select, context.tables)
        {
            let (alias, names) = (derived.alias.as_str(), derived.columns.as_slice());
            let lock = self.context.plain_lock;
            let origin = Origin { alias, view: None, names, lock };
            if let Some(bound) = self.inside(|binder| binder.merge(select, &origin, context))? {
                return Ok(bound);
            }
        }
        let level = self.levels.len() - 1;
        self.levels[level].open = derived.lateral;
        let subplan = self.inside(|binder| binder.subplan(&derived.query, QueryUse::default()));
        self.levels[level].open = true;
        let (id, correlated) = subplan?;
        let columns = self.derived_columns(id, &derived.columns)?;
        let lateral = derived.lateral && correlated;
        let rows = self.subplan_rows(id);
        let subplan = SubplanRef { id, lateral, level: self.levels.len(), rows };
        Ok(subplan_member(subplan, &derived.alias, &columns, context))
    }

    /// Rows that a subplan is expected to have; that of a recursive common table expression is not
    /// known while its step is being bound.
    pub(super) fn subplan_rows(&self, id: usize) -> f64 {
        self.subplans[id].as_ref().map_or(UNKNOWN_ROWS, |subplan| expected_rows(&subplan.query))
    }

    /// The columns of a derived table, view or common table expression, by the names that it gives
    /// them where it gives names. Errors 1353 and 1060.
    pub(super) fn derived_columns(
        &self,
        id: usize,
        names: &[String],
    ) -> Result<Vec<(String, ExprType)>> {
        let query = &self.subplans[id].as_ref().expect("the subplan was bound").query;
        if !names.is_empty() && names.len() != query.columns.len() {
            return Err(SqlError::new(ErrorCode::ViewWrongList, &[]));
        }
        let mut columns: Vec<(String, ExprType)> = Vec::with_capacity(query.columns.len());
        for (index, column) in query.columns.iter().enumerate() {
            let name = names.get(index).unwrap_or(&column.result.name);
            if columns.iter().any(|(other, _)| same_name(other, name)) {
                return Err(SqlError::new(ErrorCode::DupFieldname, &[name]));
            }
            columns.push((name.clone(), derived_type(query, column)));
        }
        Ok(columns)
    }

    fn join(&mut self, join: &ast::Join, context: &mut FromContext<'_>) -> Result<BoundMember> {
        let nullable = context.nullable;
        context.nullable = nullable || join.kind == JoinKind::Right;
        let left = self.table_ref(&join.left, context);
        context.nullable = nullable;
        let left = left?;
        let open = self.names_mut().clone();
        if lateral(&join.right) && join.kind != JoinKind::Right {
            self.names_mut().append(left.names.clone())?;
        }
        context.nullable = nullable || join.kind == JoinKind::Left;
        let right = self.table_ref(&join.right, context);
        context.nullable = nullable;
        *self.names_mut() = open;
        let right = right?;
        let (mut first, mut second) = match join.kind {
            JoinKind::Right => (right, left),
            _ => (left, right),
        };
        let outer = matches!(join.kind, JoinKind::Left | JoinKind::Right);
        let shared = self.shared_columns(join, &first.names, &second.names)?;
        let mut on = Vec::new();
        for name in &shared {
            on.push(self.shared_equality(name, &first.names, &second.names)?);
        }
        let left_tables = first.names.tables.len();
        let visible = visible_after(&shared, &first.names, &second.names, left_tables);
        let second_range = left_tables..left_tables + second.names.tables.len();
        first.names.append(std::mem::take(&mut second.names))?;
        if let Some(visible) = visible {
            first.names.visible = visible;
        } else if join.kind == JoinKind::Right {
            first.names.visible.sort_by_key(|&(t, _)| t < left_tables);
        }
        if let JoinConstraint::On(condition) = &join.constraint {
            let condition = self
                .with_names(&first.names, |binder| binder.expression(condition, Clause::On, &[]))?;
            conjuncts(condition, &mut on);
        }
        // Conditions of a merged inner side are checked before an outer join makes NULLs.
        let mut conditions = first.conditions;
        if outer {
            first.names.make_nullable(second_range);
            on.extend(second.conditions);
        } else {
            conditions.extend(second.conditions);
        }
        let straight = join.kind == JoinKind::Straight;
        let kind = if outer { JoinType::Left } else { JoinType::Inner };
        let tree = FromJoin { kind, straight, left: first.tree, right: second.tree, on };
        Ok(BoundMember { tree: FromTree::Join(Box::new(tree)), names: first.names, conditions })
    }

    /// Runs `f` while the innermost level also knows `names`.
    fn with_names<R>(
        &mut self,
        names: &Namespace,
        f: impl FnOnce(&mut Self) -> Result<R>,
    ) -> Result<R> {
        let saved = std::mem::replace(self.names_mut(), names.clone());
        let result = f(self);
        *self.names_mut() = saved;
        result
    }

    /// The columns that USING names or NATURAL finds.
    fn shared_columns(
        &self,
        join: &ast::Join,
        left: &Namespace,
        right: &Namespace,
    ) -> Result<Vec<String>> {
        if let JoinConstraint::Using(columns) = &join.constraint {
            return Ok(columns.clone());
        }
        if !join.natural {
            return Ok(Vec::new());
        }
        let mut shared = Vec::new();
        for &at in &left.visible {
            let name = &left.column(at).result.name;
            if right.find_shared(name, Clause::On.name())?.is_some() {
                shared.push(name.clone());
            }
        }
        Ok(shared)
    }

    fn shared_equality(&self, name: &str, left: &Namespace, right: &Namespace) -> Result<Expr> {
        let side = |names: &Namespace| -> Result<Expr> {
            match names.find_shared(name, "from clause")? {
                Some(at) => Ok(names.column(at).expr()),
                None => Err(SqlError::new(ErrorCode::UnknownColumn, &[&name, &"from clause"])),
            }
        };
        let (env, host) = (self.context.env, self.context.host);
        let mut binder = Binder { scope: &mut EmptyScope, env, host };
        let mut equality = binder.comparison(CmpOp::Eq, side(left)?, side(right)?)?;
        self.prepare(&mut equality, false);
        Ok(equality)
    }
}

/// What `*` shows after a join with shared columns: those once, then the rest of the side whose
/// rows are all kept (the right one of a RIGHT JOIN), then the rest of the other. `None` where
/// nothing is shared.
pub(crate) fn visible_after(
    shared: &[String],
    first: &Namespace,
    second: &Namespace,
    offset: usize,
) -> Option<Vec<(usize, usize)>> {
    if shared.is_empty() {
        return None;
    }
    let is_shared = |names: &Namespace, at: (usize, usize)| {
        shared.iter().any(|name| same_name(name, &names.column(at).result.name))
    };
    let (mut common, mut a, mut b) = (Vec::new(), Vec::new(), Vec::new());
    for &at in &first.visible {
        if is_shared(first, at) { common.push(at) } else { a.push(at) }
    }
    for &(t, c) in &second.visible {
        if !is_shared(second, (t, c)) {
            b.push((t + offset, c));
        }
    }
    Some(common.into_iter().chain(a).chain(b).collect())
}

pub(super) fn inner(left: FromTree, right: FromTree) -> FromTree {
    let (kind, on) = (JoinType::Inner, Vec::new());
    let join = FromJoin { kind, straight: false, left, right, on };
    FromTree::Join(Box::new(join))
}

/// Whether a member reads the members before it.
fn lateral(table: &TableRef) -> bool {
    match table {
        TableRef::Derived(derived) => derived.lateral,
        TableRef::Join(join) => lateral(&join.left) || lateral(&join.right),
        TableRef::List(list) => list.iter().any(lateral),
        TableRef::JsonTable(_) => true,
        TableRef::Table(_) => false,
    }
}

/// Which subplan a member is, and which rows it sees.
pub(super) struct SubplanRef {
    pub(super) id: usize,
    pub(super) lateral: bool,
    pub(super) level: usize,
    /// Rows that it is expected to have.
    pub(super) rows: f64,
}

/// A derived table, view or common table expression as a member.
pub(super) fn subplan_member(
    subplan: SubplanRef,
    alias: &str,
    columns: &[(String, ExprType)],
    context: &mut FromContext<'_>,
) -> BoundMember {
    context.tables += 1;
    let (slots, names) = member(alias, "", columns, context);
    let SubplanRef { id, lateral, level, rows } = subplan;
    let kind = LeafKind::Subplan { id, lateral, level, rows };
    let leaf = Leaf { slots, alias: alias.to_owned(), kind };
    BoundMember::new(FromTree::Leaf(leaf), names)
}

/// Slots and names of a member that is no stored table.
pub(super) fn member(
    alias: &str,
    schema: &str,
    columns: &[(String, ExprType)],
    context: &mut FromContext<'_>,
) -> (std::ops::Range<usize>, Namespace) {
    let base = context.width;
    context.width += columns.len();
    let columns = columns
        .iter()
        .enumerate()
        .map(|(index, (name, ty))| {
            let mut result = ty.result_column(name);
            result.table = alias.to_owned();
            result.schema = schema.to_owned();
            result.org_name = name.clone();
            as_stored(&mut result, ty);
            if let DataType::Text { size, .. } = ty.data_type
                && ty.length == lob_bytes(size)
            {
                result.length = lob_bytes(size).saturating_mul(4);
            }
            FromColumn { slot: base + index, ty: ty.clone(), result, hidden: false, merged: None }
        })
        .collect();
    let table =
        FromTable { schema: schema.to_owned(), alias: alias.to_owned(), columns, stored: false };
    (base..context.width, Namespace::of(table))
}

/// A stored table's column as a member of FROM sees it.
pub(crate) fn table_column(def: &TableDef, index: usize, alias: &str, slot: usize) -> FromColumn {
    let column = &def.columns[index];
    let mut ty = ExprType::of_column(column.data_type.clone(), column.nullable);
    ty.zerofill = column.zerofill;
    if let Some(width) = column.display_width {
        ty.length = u32::from(width);
    }
    let mut result = ty.result_column(&column.name);
    result.schema = def.schema.clone();
    result.table = alias.to_owned();
    result.org_table = def.name.clone();
    result.org_name = column.name.clone();
    as_stored(&mut result, &ty);
    match &ty.data_type {
        DataType::Json => (result.decimals, result.length) = (0, u32::MAX),
        // Each byte counts as a character, and a character for four bytes.
        DataType::Text { size, .. } => result.length = lob_bytes(*size).saturating_mul(4),
        _ => {}
    }
    let stamped = matches!(ty.data_type, DataType::Timestamp { .. });
    let now = column.on_update_now || column.default == ColumnDefault::CurrentTimestamp;
    if stamped && !now {
        result.flags &= !flags::TIMESTAMP;
    }
    result.flags |= key_flags(def, index);
    if column.auto_increment {
        result.flags |= flags::AUTO_INCREMENT;
    }
    if column.on_update_now && stamped {
        result.flags |= flags::ON_UPDATE_NOW;
    }
    if !column.nullable && column.default == ColumnDefault::None && !column.auto_increment {
        result.flags |= flags::NO_DEFAULT_VALUE;
    }
    FromColumn { slot, ty, result, hidden: column.invisible, merged: None }
}

/// The name of the column that shows a row's clustered key, where a table without a primary key is
/// locked by its name; no client can write it.
pub(crate) const ROW_ID: &str = "\u{0}row";

fn row_id_column(alias: &str, slot: usize) -> FromColumn {
    let ty = ExprType::of_column(DataType::VarBinary(8), true);
    let mut result = ty.result_column(ROW_ID);
    result.table = alias.to_owned();
    FromColumn { slot, ty, result, hidden: true, merged: None }
}

/// Computed integers of fewer digits are INT in a temporary table.
const INT_DIGITS: u32 = 10;

/// The type of a query's computed column as a column of a derived table. The common type of a set
/// operation's operands or of the rows of VALUES stays as it is.
fn derived_type(query: &QueryPlan, column: &OutputColumn) -> ExprType {
    let mut ty = column.ty.clone().fitted_to_column();
    if !matches!(query.body, Body::Values(_) | Body::SetOperation(_))
        && ty.length < INT_DIGITS
        && column.result.org_name.is_empty()
        && let DataType::Int { width: width @ IntWidth::Big, .. } = &mut ty.data_type
    {
        *width = IntWidth::Int;
    }
    ty
}

/// The key flags of a column. Without a PRIMARY KEY the first unique index over whole columns that
/// are never NULL takes its place.
fn key_flags(def: &TableDef, column: usize) -> u16 {
    let never_null = |part: &IndexPart| part.prefix.is_none() && !def.columns[part.column].nullable;
    let replaces =
        |index: &&IndexDef| index.kind == IndexKind::Unique && index.parts.iter().all(never_null);
    let primary = def.indexes.iter().find(|index| index.kind == IndexKind::Primary);
    let primary = primary.or_else(|| def.indexes.iter().find(replaces));
    let mut bits = 0;
    for index in &def.indexes {
        let Some(place) = index.parts.iter().position(|part| part.column == column) else {
            continue;
        };
        bits |= flags::PART_KEY;
        bits |= match (place, index.kind) {
            _ if primary.is_some_and(|primary| std::ptr::eq(primary, index)) => flags::PRI_KEY,
            (0, IndexKind::Unique) if index.parts.len() == 1 => flags::UNIQUE_KEY,
            (0, _) => flags::MULTIPLE_KEY,
            _ => 0,
        };
    }
    bits
}

/// The indexes that hints leave, by position; `None` for all.
fn allowed_indexes(def: &TableDef, hints: &[ast::IndexHint]) -> Result<Option<Vec<usize>>> {
    if hints.is_empty() {
        return Ok(None);
    }
    let mut used: Option<Vec<usize>> = None;
    let mut ignored = Vec::new();
    for hint in hints {
        for name in &hint.indexes {
            let Some(index) = def.index(name) else {
                let code = ErrorCode::KeyDoesNotExist;
                return Err(SqlError::new(code, &[name, &def.name]));
            };
            match hint.kind {
                ast::IndexHintKind::Ignore => ignored.push(index),
                _ => used.get_or_insert_default().push(index),
            }
        }
        if hint.kind == ast::IndexHintKind::Use && hint.indexes.is_empty() {
            used.get_or_insert_default();
        }
    }
    let mut allowed = used.unwrap_or_else(|| (0..def.indexes.len()).collect());
    allowed.retain(|index| !ignored.contains(index));
    Ok(Some(allowed))
}
