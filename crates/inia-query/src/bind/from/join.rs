//! Joins: the names of both sides, the columns that they share, and the conditions.

use super::{BoundMember, FromContext};
use crate::bind::scope::Clause;
use crate::bind::{Namespace, QueryBinder, Result};
use crate::catalog::same_name;
use crate::optimize::{FromJoin, FromTree, NestRules};
use crate::plan::JoinType;
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::bind::{Binder, EmptyScope};
use inia_expr::{CmpOp, Expr, conjuncts};
use inia_parser::ast::{self, JoinConstraint, JoinKind, TableRef};

impl QueryBinder<'_> {
    pub(super) fn join(
        &mut self,
        join: &ast::Join,
        context: &mut FromContext<'_>,
    ) -> Result<BoundMember> {
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
        let (left, right, nest) = (first.tree, second.tree, NestRules::default());
        let tree = FromJoin { kind, straight, left, right, on, nest };
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
