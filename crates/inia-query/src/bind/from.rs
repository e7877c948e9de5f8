//! FROM: its members get slots and names; joins get their conditions.

mod columns;
mod join;

pub(crate) use columns::{ROW_ID, table_column};
pub(crate) use join::visible_after;

use super::described::{self, as_stored};
use super::dictionary;
use super::hints::{hints_of, leaf_hints};
use super::merge::Origin;
use super::namespace::{FromColumn, FromTable, Namespace};
use super::{CteBinding, QueryBinder, QueryUse, Result};
use crate::access::{EvalSettings, HintedIndexes, is_switched_on};
use crate::catalog::{Table, View, same_name};
use crate::optimize::{
    FromJoin, FromTree, Leaf, LeafKind, NestRules, UNKNOWN_ROWS, derived_rows, recursive_rows,
};
use crate::plan::JoinType;
use crate::plan::Subplan;
use columns::{derived_type, row_id_column};
use inia_base::datatype::DataType;
use inia_base::error::{ErrorCode, SqlError};
use inia_base::sql_mode::SqlMode;
use inia_expr::{Expr, ExprType, TypeClass, lob_bytes};
use inia_parser::ast::{self, TableRef};
use inia_storage::{LockMode, LockRequest, WaitPolicy};
use std::sync::Arc;

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
                let nest = NestRules::default();
                let join = FromJoin { kind, straight: false, left, right, on, nest };
                FromTree::Join(Box::new(join))
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
    /// The optimizer hints of the members' query block.
    pub(super) hints: Option<&'q ast::BlockHints>,
}

impl QueryBinder<'_> {
    /// Binds FROM into the innermost level's namespace.
    pub(super) fn from(
        &mut self,
        select: &ast::Select,
        locking: &[ast::Locking],
    ) -> Result<BoundFrom> {
        let (hints, forced, nullable) = (hints_of(select), None, false);
        let mut context = FromContext { width: 0, tables: 0, locking, forced, nullable, hints };
        let mut tree: Option<FromTree> = None;
        let mut conditions = Vec::new();
        for member in &select.from {
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
        self.check_hints(hints);
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

    /// A common table expression as a member.
    fn named_query(
        &mut self,
        cte: &CteBinding,
        alias: &str,
        context: &mut FromContext<'_>,
    ) -> Result<BoundMember> {
        if let Some(error) = &cte.wrong {
            return Err(error.clone());
        }
        self.reads_cte(cte)?;
        self.recurs(cte)?;
        let rows = self.subplan_rows(cte.subplan);
        let subplan = SubplanRef { id: cte.subplan, lateral: false, level: cte.level, rows };
        let mut member = subplan_member(subplan, alias, &cte.columns, context);
        // MySQL merges most of these.
        member.names.tables[0].materialized = false;
        Ok(member)
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
            return self.named_query(&cte, alias, context);
        }
        let schema = match (&factor.name.db, self.context.database) {
            (Some(db), _) => db.as_str(),
            (None, Some(db)) => db,
            (None, None) => return Err(SqlError::new(ErrorCode::NoDatabaseSelected, &[])),
        };
        self.check_selects(schema, factor)?;
        let computed = self.context.virtuals.find(schema, &factor.name.name);
        if let Some(table) = computed.filter(|_| !self.is_temporary(schema, &factor.name.name)) {
            let columns: Vec<_> = table.columns().to_vec();
            let (slots, mut names) = member(alias, schema, &columns, context);
            let columns = names.tables[0].columns.iter_mut();
            columns.for_each(|column| dictionary::as_of_view(table.name(), column));
            context.tables += 1;
            let tree = leaf(slots, alias, LeafKind::Virtual(table), context);
            return Ok(BoundMember::new(tree, names));
        }
        if let Some(view) = self.view(schema, &factor.name.name) {
            return self.view_member(&view, alias, context);
        }
        let table = self.table(schema, &factor.name.name)?.selecting(&factor.partitions)?;
        self.read_once(&table, alias)?;
        let hints = context.hints.and_then(|hints| hints.table(alias));
        let settings = EvalSettings { env: self.context.env, host: self.context.host };
        let invisible = || is_switched_on(settings, "use_invisible_indexes");
        let hinted = HintedIndexes::of(&table.def, &factor.hints, hints, invisible)?.map(Arc::new);
        let lock = self.lock_of(alias, context);
        let base = context.width;
        context.tables += 1;
        context.width += table.def.columns.len();
        let mut columns: Vec<FromColumn> = (0..table.def.columns.len())
            .map(|index| table_column(&table.def, index, alias, base + index))
            .collect();
        if self.context.env.sql_mode.has(SqlMode::PAD_CHAR_TO_FULL_LENGTH) {
            columns.iter_mut().for_each(FromColumn::fill);
        }
        let named = |clause: &ast::Locking| clause.of.iter().any(|name| name.name == *alias);
        // A joined UPDATE or DELETE locks its targets by name. It finds the rows of a table without
        // a primary key by this hidden column.
        if table.def.clustered_index().is_none() && context.locking.iter().any(named) {
            columns.push(row_id_column(alias, context.width));
            context.width += 1;
        }
        let names = Namespace::of(FromTable {
            schema: schema.to_owned(),
            alias: alias.clone(),
            columns,
            stored: true,
            materialized: false,
        });
        let slots = base..context.width;
        self.level().stored.push((slots.clone(), table.clone()));
        let kind = LeafKind::Table { table, lock, hinted };
        Ok(BoundMember::new(leaf(slots, alias, kind, context), names))
    }

    /// Whether a session's temporary table has the name of one that the server computes.
    fn is_temporary(&self, schema: &str, name: &str) -> bool {
        let stored = self.catalog().schemas.get(schema);
        stored.is_some_and(|schema| schema.tables.contains_key(name))
    }

    /// Error 1747: only stored tables have partitions.
    fn check_selects(&self, schema: &str, factor: &ast::TableFactor) -> Result<()> {
        let stored = self.catalog().schemas.get(schema);
        let stored = stored.is_some_and(|s| s.tables.contains_key(&factor.name.name));
        match factor.partitions.is_empty() || stored {
            true => Ok(()),
            false => Err(SqlError::new(ErrorCode::PartitionClauseOnNonpartitioned, &[])),
        }
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
            crate::computed::check_dictionary(schema, name)?;
            return Err(SqlError::new(ErrorCode::NoSuchTable, &[&schema, &name]));
        };
        table.check_children()?;
        table.know_rows();
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
        if let Some(child) = self.temporary.iter().find_map(|(t, _)| t.shared_temporary(table)) {
            return Err(SqlError::new(ErrorCode::CantReopenTable, &[&child]));
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
            && self.may_merge(context.hints, &derived.alias)
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
        let subplan = self.inside(|binder| binder.subplan(&derived.query, QueryUse::derived()));
        self.levels[level].open = true;
        let (id, correlated) = subplan?;
        self.keep_block_of(id);
        let merges = self.mergeable(&derived.query, false).is_some()
            && self.may_merge(context.hints, &derived.alias);
        self.keep_determined_of(id, merges);
        let columns = self.derived_columns(id, &derived.columns)?;
        let lateral = derived.lateral && correlated;
        let rows = self.subplan_rows(id);
        let subplan = SubplanRef { id, lateral, level: self.levels.len(), rows };
        let mut member = subplan_member(subplan, &derived.alias, &columns, context);
        let inner = self.subplan_columns(id);
        for (column, inner) in member.names.tables[0].columns.iter_mut().zip(inner) {
            described::as_derived(&mut column.result, &inner.result);
            dictionary::as_derived(column, &inner.result);
        }
        Ok(member)
    }

    /// Rows that a subplan is expected to have; that of a recursive common table expression is not
    /// known while its step is being bound.
    pub(super) fn subplan_rows(&self, id: usize) -> f64 {
        let rows = |subplan: &Subplan| match &subplan.recursive {
            Some(recursive) => recursive_rows(&subplan.query, &recursive.step),
            None => derived_rows(&subplan.query),
        };
        self.subplans[id].as_ref().map_or(UNKNOWN_ROWS, rows)
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
}

pub(super) fn inner(left: FromTree, right: FromTree) -> FromTree {
    let (kind, on) = (JoinType::Inner, Vec::new());
    let nest = NestRules::default();
    let join = FromJoin { kind, straight: false, left, right, on, nest };
    FromTree::Join(Box::new(join))
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
    let kind = LeafKind::Subplan { id, lateral, level, rows, unnested: false };
    BoundMember::new(leaf(slots, alias, kind, context), names)
}

/// A single member with what hints say of it.
pub(super) fn leaf(
    slots: std::ops::Range<usize>,
    alias: &str,
    kind: LeafKind,
    context: &FromContext<'_>,
) -> FromTree {
    let hints = leaf_hints(context.hints, alias);
    FromTree::Leaf(Leaf { slots, alias: alias.to_owned(), kind, hints })
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
                result.length = lob_bytes(size);
            }
            // A temporary table's numbers print as those of a column do.
            let real = ty.class() == TypeClass::Real;
            let ty = ExprType { stored: ty.stored || real, ..ty.clone() };
            FromColumn { slot: base + index, ty, result, hidden: false, merged: None }
        })
        .collect();
    let table = FromTable {
        schema: schema.to_owned(),
        alias: alias.to_owned(),
        columns,
        stored: false,
        materialized: true,
    };
    (base..context.width, Namespace::of(table))
}
