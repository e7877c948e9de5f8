//! ORDER BY of a SELECT: positions, names of select items, or expressions of their own.

use super::Result;
use super::scope::Item;
use crate::catalog::same_name;
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast;

/// What an item of ORDER BY or GROUP BY refers to.
pub(super) enum Reference {
    /// The select item at this position.
    Item(usize),
    /// An expression of its own.
    Expression,
}

/// A position as ORDER BY and GROUP BY count, as an index; error 1054 where there is none.
pub(super) fn position(position: u64, columns: usize) -> Result<usize> {
    match usize::try_from(position) {
        Ok(position) if (1..=columns).contains(&position) => Ok(position - 1),
        _ => Err(SqlError::new(ErrorCode::UnknownColumn, &[&position, &"order clause"])),
    }
}

/// Resolves an item of ORDER BY: a position, or the name of a select item (an alias, or the column
/// it selects); error 1052 where a name stands for several different items.
pub(super) fn reference(expr: &ast::Expr, items: &[Item]) -> Result<Reference> {
    match expr {
        ast::Expr::Literal(ast::Literal::Int(number)) => {
            Ok(Reference::Item(position(*number, items.len())?))
        }
        ast::Expr::Column(name) if name.table.is_none() => {
            let mut found: Option<usize> = None;
            for (index, item) in items.iter().enumerate() {
                if !same_name(&item.name, &name.name) {
                    continue;
                }
                match found {
                    Some(first) if !items[first].expr.same(&item.expr) => {
                        let code = ErrorCode::NonUniqueColumn;
                        return Err(SqlError::new(code, &[&name.name, &"order clause"]));
                    }
                    Some(_) => {}
                    None => found = Some(index),
                }
            }
            Ok(found.map_or(Reference::Expression, Reference::Item))
        }
        _ => Ok(Reference::Expression),
    }
}
