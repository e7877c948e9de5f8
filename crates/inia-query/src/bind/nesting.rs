//! Limits of a statement: the depth of nested SELECTs, the tables of a join, the members of views.
//!
//! *Depth* is counted downwards: how many SELECTs are around the one being bound, those of merged
//! views and derived tables included. A common table expression is bound before anything reads it,
//! so its *height* is kept: how deep SELECTs nest inside it. The limit holds for the depth of the
//! reader plus the height.
//!
//! A view that reads another one twice doubles its members. A view that would exceed the limit of a
//! join becomes a subplan. A statement whose views have thousands of members is refused.

use super::{CteBinding, QueryBinder, Result};
use crate::catalog::{View, ViewAlgorithm};
use crate::stack::on_more_stack;
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{self, TableRef};
use std::collections::HashMap;
use std::sync::Arc;

/// How many SELECTs may be in one another.
const MAX_LEVELS: usize = 64;
/// How many tables one SELECT may join.
pub(super) const MAX_TABLES: usize = 61;
/// How many members of FROM the views of one statement may have.
const MAX_VIEW_MEMBERS: usize = 4_000;

/// What has been counted.
#[derive(Default)]
pub(super) struct Nesting {
    /// SELECTs that are being bound.
    depth: usize,
    /// SELECTs in one another inside the one that is being bound.
    height: usize,
    /// Members of FROM inside views.
    view_members: usize,
    /// How many tables merging a view would bring.
    widths: HashMap<*const View, usize>,
}

/// Error 1116.
pub(super) fn too_many_tables() -> SqlError {
    SqlError::new(ErrorCode::TooManyTables, &[&MAX_TABLES])
}

fn too_deep() -> SqlError {
    SqlError::new(ErrorCode::TooHighLevelOfNestingForSelect, &[])
}

impl QueryBinder<'_> {
    /// Binds one SELECT by `work`; error 1473.
    pub(super) fn one_deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.nesting.depth += 1;
        let around = std::mem::take(&mut self.nesting.height);
        let bound = match self.nesting.depth > MAX_LEVELS {
            true => Err(too_deep()),
            false => on_more_stack(|| work(self)),
        };
        self.nesting.depth -= 1;
        self.nesting.height = around.max(self.nesting.height + 1);
        bound
    }

    /// The height of a common table expression's query that `work` binds.
    pub(super) fn height_of<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<(T, usize)> {
        let around = std::mem::take(&mut self.nesting.height);
        let bound = work(self);
        let height = std::mem::replace(&mut self.nesting.height, around);
        Ok((bound?, height))
    }

    /// Notes that the SELECT being bound reads a common table expression; error 1473.
    pub(super) fn reads_cte(&mut self, cte: &CteBinding) -> Result<()> {
        if self.nesting.depth + cte.height > MAX_LEVELS {
            return Err(too_deep());
        }
        self.nesting.height = self.nesting.height.max(cte.height);
        Ok(())
    }

    /// Notes one more member of FROM; error 1116 where views have brought in too many.
    pub(super) fn one_more_member(&mut self) -> Result<()> {
        self.nesting.view_members += usize::from(!self.open_views.is_empty());
        match self.nesting.view_members > MAX_VIEW_MEMBERS {
            true => Err(too_many_tables()),
            false => Ok(()),
        }
    }

    /// Whether the tables of a SELECT fit beside those that the join has already.
    pub(super) fn fits(&mut self, select: &ast::Select, present: usize) -> bool {
        present + self.width(&select.from, 0) <= MAX_TABLES
    }

    /// How many tables a FROM has when all is merged that can be.
    fn width(&mut self, from: &[TableRef], depth: usize) -> usize {
        from.iter().map(|table| self.width_of(table, depth)).fold(0, usize::saturating_add)
    }

    fn width_of(&mut self, table: &TableRef, depth: usize) -> usize {
        match table {
            TableRef::Table(factor) => {
                let schema = factor.name.db.as_deref().or(self.context.database);
                match schema.and_then(|schema| self.view(schema, &factor.name.name)) {
                    Some(view) if depth < MAX_LEVELS => self.width_of_view(&view, depth),
                    _ => 1,
                }
            }
            TableRef::Derived(derived) => match self.mergeable(&derived.query, false) {
                Some(select) => self.width(&select.from, depth),
                None => 1,
            },
            TableRef::Join(join) => {
                self.width_of(&join.left, depth).saturating_add(self.width_of(&join.right, depth))
            }
            TableRef::List(list) => self.width(list, depth),
            TableRef::JsonTable(_) => 1,
        }
    }

    fn width_of_view(&mut self, view: &Arc<View>, depth: usize) -> usize {
        if let Some(known) = self.nesting.widths.get(&Arc::as_ptr(view)) {
            return *known;
        }
        let merged = view.query.as_ref().filter(|_| view.def.algorithm != ViewAlgorithm::TempTable);
        let width = match merged.and_then(|query| self.mergeable(query, false)) {
            Some(select) => match self.width(&select.from, depth + 1) {
                // It becomes a subplan.
                width if width > MAX_TABLES => 1,
                width => width,
            },
            None => 1,
        };
        self.nesting.widths.insert(Arc::as_ptr(view), width);
        width
    }
}
