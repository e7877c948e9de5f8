//! Expressions that an index holds are read from its hidden column, so that the index finds rows.
//!
//! Example: with `KEY fx ((a + 1))` the condition `a + 1 = 5` becomes a condition on the hidden
//! column, whose values are those of `a + 1`, and that column leads to the index.

use super::Result;
use crate::bind::arrays::Array;
use crate::catalog::{ColumnDef, TableDef};
use crate::optimize::{FromTree, LeafKind};
use crate::plan::JoinType;
use inia_base::error::{ErrorCode, SqlError};
use inia_expr::json::ElementType;
use inia_expr::{Environment, Expr, ExprKind, ExprType, Scope, SessionHost};
use inia_parser::ast;

/// The columns of a table whose row begins at a slot.
struct Slots<'d> {
    def: &'d TableDef,
    base: usize,
    /// The index whose key part is bound.
    index: Option<&'d str>,
}

impl Slots<'_> {
    fn column_at(&self, index: usize) -> Expr {
        let ColumnDef { data_type, nullable, name, .. } = &self.def.columns[index];
        let ty = ExprType::of_column(data_type.clone(), *nullable);
        Expr::column(self.base + index, ty, format!("`{name}`"))
    }
}

impl Scope for Slots<'_> {
    fn array_index(&mut self) -> Option<String> {
        self.index.take().map(str::to_owned)
    }

    fn column(&mut self, name: &ast::ColumnName) -> Result<Expr> {
        match self.def.column(&name.name) {
            Some(index) => Ok(self.column_at(index)),
            None => Err(SqlError::new(ErrorCode::UnknownColumn, &[&name.name, &"field list"])),
        }
    }
}

/// Makes conditions read a table's hidden columns in place of what those hold. `base` is the slot
/// of the table's first column.
pub(crate) fn read_hidden_columns(
    def: &TableDef,
    base: usize,
    conditions: &mut [Expr],
    env: &Environment,
    host: &dyn SessionHost,
) {
    for (at, column) in def.columns.iter().enumerate().filter(|(_, c)| c.is_hidden()) {
        let Some(generated) = &column.generated else { continue };
        let mode = inia_parser::SqlMode::empty();
        let Ok(parsed) = inia_parser::parse_expr(&generated.expression, mode) else { continue };
        let name = def.array_index_of(at);
        let mut slots = Slots { def, base, index: name };
        let Ok(bound) = inia_expr::bind(&parsed, &mut slots, env, host) else { continue };
        // Plans show what it holds, not its name.
        let shown = generated.expression.as_str();
        let hidden = Expr::column(base + at, slots.column_at(at).ty, shown);
        if let (Some((document, data_type)), Some(index)) = (bound.as_array_cast(), name) {
            // As in MySQL nothing is compared with what an invisible index holds.
            if !def.index(index).is_some_and(|index| def.indexes[index].visible) {
                continue;
            }
            let element = ElementType { data_type, index };
            let array = Array { document, element, hidden: &hidden, settings: (env, host) };
            conditions.iter_mut().for_each(|condition| array.read(condition));
            continue;
        }
        for condition in &mut *conditions {
            condition.walk_mut(&mut |node| {
                let plain = matches!(node.kind, ExprKind::Column { .. } | ExprKind::Literal(_));
                if !plain && node.same(&bound) {
                    *node = hidden.clone();
                }
            });
        }
    }
}

/// Makes keys of ORDER BY or GROUP BY read the hidden columns of the tables of a FROM, where every
/// key is a column then: only such keys follow an index. The keys come back where they changed.
///
/// Example: with `KEY fx ((a + b), c)` the keys of `ORDER BY a + b, c` are two columns, and those
/// of `ORDER BY -(a + b)` are left as they are.
pub(super) fn hidden_keys(
    tree: &FromTree,
    keys: &[&Expr],
    env: &Environment,
    host: &dyn SessionHost,
) -> Option<Vec<Expr>> {
    let is_column = |key: &Expr| matches!(key.kind, ExprKind::Column { .. });
    let mut read: Vec<Expr> = keys.iter().map(|key| (*key).clone()).collect();
    if read.iter().all(is_column) {
        return None;
    }
    read_hidden_of(tree, &mut read, env, host);
    read.iter().all(is_column).then_some(read)
}

/// The same for every table of a FROM whose rows no outer join replaces by NULL.
pub(super) fn read_hidden_of(
    tree: &FromTree,
    conditions: &mut [Expr],
    env: &Environment,
    host: &dyn SessionHost,
) {
    match tree {
        FromTree::Leaf(leaf) => {
            if let LeafKind::Table { table, .. } = &leaf.kind {
                read_hidden_columns(&table.def, leaf.slots.start, conditions, env, host);
            }
        }
        FromTree::Join(join) => {
            read_hidden_of(&join.left, conditions, env, host);
            if join.kind != JoinType::Left {
                read_hidden_of(&join.right, conditions, env, host);
            }
        }
    }
}
