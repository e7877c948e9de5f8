//! Names of select items, as GROUP BY, HAVING and ORDER BY find them.
//!
//! An item goes by its alias. One that is a column goes by the column's own name too, where no
//! alias is that name.

use super::namespace::full_name;
use super::scope::ScopeItem;
use super::{Namespace, Result};
use crate::catalog::same_name;
use inia_base::error::{ErrorCode, SqlError};
use inia_parser::ast::{self, ColumnName};

/// What an item of ORDER BY or GROUP BY refers to.
pub(super) enum Reference {
    /// The select item at this position.
    Item(usize),
    /// An expression of its own.
    Expression,
}

/// A select item that a name stands for.
pub(super) struct OrderTarget {
    /// Its position.
    pub(super) index: usize,
    /// It is found by the name of its column, and has another alias.
    pub(super) behind_alias: bool,
}

/// A position as ORDER BY and GROUP BY count, as an index; error 1054 where there is none.
pub(super) fn position(position: u64, columns: usize) -> Result<usize> {
    match usize::try_from(position) {
        Ok(position) if (1..=columns).contains(&position) => Ok(position - 1),
        _ => Err(SqlError::new(ErrorCode::UnknownColumn, &[&position, &"order clause"])),
    }
}

/// Resolves an item of ORDER BY: a position, or the name of a select item.
pub(super) fn reference(
    expr: &ast::Expr,
    items: &[ScopeItem],
    names: &Namespace,
) -> Result<Reference> {
    match expr {
        ast::Expr::Literal(ast::Literal::Int(number)) => {
            Ok(Reference::Item(position(*number, items.len())?))
        }
        ast::Expr::Column(name) => {
            let clause = "order clause";
            let Some(found) = find_item(name, items, names, clause)? else {
                return Ok(Reference::Expression);
            };
            if found.behind_alias {
                names.find(name, clause)?;
            }
            Ok(Reference::Item(found.index))
        }
        _ => Ok(Reference::Expression),
    }
}

/// The select item that a name stands for; error 1052 where different columns go by it. Items that
/// are no columns are never ambiguous: the first one counts.
pub(super) fn find_item(
    name: &ColumnName,
    items: &[ScopeItem],
    names: &Namespace,
    clause: &str,
) -> Result<Option<OrderTarget>> {
    let ambiguous = || SqlError::new(ErrorCode::NonUniqueColumn, &[&full_name(name), &clause]);
    let differs = |first: usize, second: usize| !items[first].is_same_column(&items[second]);
    // An alias wins over the name of a column behind another alias. That different columns go by
    // that name is an error only where no alias is found.
    let (mut by_alias, mut by_column, mut columns_differ) = (None, None, false);
    for (index, item) in items.iter().enumerate() {
        // A qualified name is never an alias.
        let aliased = name.table.is_none() && same_name(&item.name, &name.name);
        let Some(at) = item.column else {
            if aliased {
                return Ok(Some(OrderTarget { index, behind_alias: false }));
            }
            continue;
        };
        if aliased {
            match by_alias {
                Some(first) if differs(first, index) => return Err(ambiguous()),
                Some(_) => {}
                None => by_alias = Some(index),
            }
        } else if names.goes_by(at, name) {
            match by_column {
                Some(first) if differs(first, index) => columns_differ = true,
                Some(_) => {}
                None => by_column = Some(index),
            }
        }
    }
    let found = by_alias.map(|index| OrderTarget { index, behind_alias: false });
    if found.is_some() {
        return Ok(found);
    }
    if columns_differ {
        return Err(ambiguous());
    }
    let behind_alias = name.table.is_none();
    Ok(by_column.map(|index| OrderTarget { index, behind_alias }))
}
